//! RC11: the memory model of C11, C++20 and Rust, repaired, and without load buffering.
//!
//! Implements Lahav, Vafeiadis, Kang, Hur and Dreyer, *Repairing Sequential Consistency in C/C++11*
//! (PLDI 2017), section 4 and Figure 1.
//!
//! | paper                                | here                                             |
//! |--------------------------------------|--------------------------------------------------|
//! | COHERENCE: *hb ; eco?* irreflexive   | [`Past::HappensBefore`], with [`Graph::floor`]   |
//! | ATOMICITY                            | an update is placed right behind its source, see [`Graph::rival`] |
//! | SC: *psc* acyclic                    | [`is_psc_acyclic`]                               |
//! | NO-THIN-AIR: *sb ∪ rf* acyclic       | the order of execution                           |
//!
//! COHERENCE needs no more than the floor. The new event is at the end of hb, so a cycle enters it
//! by hb and leaves it by eco: to a write behind the one that it reads or is placed behind, or to
//! one who reads such a write, and that one is in the past of the event.
//!
//! Differs from the paper: release sequences are those of C++20. The creation and the end of
//! threads are part of sb. Mutexes and other objects that are no memory add to hb, and not to eco.

use super::graph::{Clock, EventId, Graph, INITIAL, Kind};
use super::relation::{Relation, Scratch};
use super::{Model, Past};

pub(crate) struct Rc11;

impl Model for Rc11 {
    fn past(&self) -> Past {
        Past::HappensBefore
    }

    fn is_consistent(&self, graph: &Graph, _event: EventId, scratch: &mut Scratch) -> bool {
        // One event alone is in no cycle: coherence rules that out.
        graph.n_sc() < 2 || is_psc_acyclic(graph, scratch)
    }
}

/// Whether the partial order of sequentially consistent events has no cycle:
/// psc_base = ([E^sc] ∪ [F^sc] ; hb?) ; scb ; ([E^sc] ∪ hb? ; [F^sc]) and
/// psc_F = [F^sc] ; (hb ∪ hb ; eco ; hb) ; [F^sc].
fn is_psc_acyclic(graph: &Graph, scratch: &mut Scratch) -> bool {
    let n = graph.events.len();
    let [hb, eco, scb, far, via, left, right, psc] = &mut scratch.relations;
    for relation in [&mut *hb, eco, scb, far, left, right, psc] {
        relation.clear(n);
    }
    // scb = sb ∪ sb≠loc ; hb ; sb≠loc ∪ hb=loc ∪ mo ∪ rb. Here, `far` is sb≠loc.
    for to in 0..n as EventId {
        let (in_sb, in_hb) = (graph.clock(Clock::Sb, to), graph.clock(Clock::Hb, to));
        let object = graph.event(to).object();
        for from in 0..n as EventId {
            if from == to || !graph.knows(in_hb, from) {
                continue;
            }
            hb.add(from, to);
            let is_same = object.is_some() && graph.event(from).object() == object;
            if is_same {
                scb.add(from, to);
            }
            if graph.knows(in_sb, from) {
                scb.add(from, to);
                if !is_same {
                    far.add(from, to);
                }
            }
        }
    }
    for at in 0..n as EventId {
        let event = graph.event(at);
        let Some(object) = event.object().filter(|_| event.kind != Kind::Chain) else { continue };
        if event.reads() && event.source != INITIAL {
            eco.add(event.source, at);
        }
        let write = if event.writes() { at } else { event.source };
        let start = if write == INITIAL { 0 } else { graph.place(write) + 1 };
        for &later in &graph.mo(object)[start..] {
            scb.add(at, later);
            eco.add(at, later);
        }
    }
    via.compose(far, hb);
    psc.compose(via, far);
    scb.union(psc);
    eco.close();
    // left = [E^sc] ∪ [F^sc] ; hb?, right = [E^sc] ∪ hb? ; [F^sc].
    far.clear(n);
    for at in (0..n as EventId).filter(|&at| graph.event(at).is_sc()) {
        left.add(at, at);
        right.add(at, at);
        if graph.event(at).kind == Kind::Fence {
            far.add(at, at);
        }
    }
    add_composed(left, far, hb, via);
    add_composed(right, hb, far, via);
    via.compose(left, scb);
    psc.compose(via, right);
    // psc_F; `left` and `right` are free again.
    via.compose(hb, eco);
    left.compose(via, hb);
    left.union(hb);
    right.compose(far, left);
    via.compose(right, far);
    psc.union(via);
    psc.close();
    !psc.is_reflexive_somewhere()
}

/// Adds `first ; second` to a relation.
fn add_composed(into: &mut Relation, first: &Relation, second: &Relation, via: &mut Relation) {
    via.compose(first, second);
    into.union(via);
}
