//! Liveness to safety: an infinite execution that is bad, as one that reaches a bad state.
//!
//! Implements Biere, Artho and Schuppan, *Liveness Checking as Safety Checking* (FMICS 2002).
//!
//! | paper                                    | here                     |
//! |------------------------------------------|--------------------------|
//! | the oracle that saves a state            | the input `loop here`    |
//! | the copy of the state variables          | latches that never change |
//! | a fair state was seen since then         | [`Translation::seen()`]  |
//! | the loop is closed                       | [`Translation::close`]   |
//!
//! Differs: the copy has its value from the beginning, and the oracle can only save the state that
//! is equal to it. So an unrolling has one copy and compares it with every frame: the lasso
//! encoding of bounded search that is linear in the depth.

use crate::{Circuit, Cone, Lit, Property, Witness};
use rustc_hash::FxHashMap;

/// A circuit with a bad state for every justice property of another one, behind its bad states.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// The circuit to search.
    pub circuit: Circuit,
    cone: Cone,
    save_idx: usize,
}

impl Circuit {
    /// A circuit in which bad states are reachable if and only if they are in this one, or
    /// executions without end break its justice properties.
    pub fn cycles(&self) -> Cycles {
        let cone = self.cone();
        let mut circuit = cone.circuit.clone();
        let save_idx = circuit.inputs.len();
        let mut translation = Translation::new(&mut circuit);
        let is_closed = translation.close();
        let fair: Vec<_> = cone.circuit.fairness.iter().map(|&lit| translation.seen(lit)).collect();
        for (idx, justice) in cone.circuit.justice.iter().enumerate() {
            let mut all: Vec<_> = justice.iter().map(|&lit| translation.seen(lit)).collect();
            all.extend(&fair);
            all.push(is_closed);
            let bad = translation.circuit.aig.all(all);
            translation.circuit.bad(bad, format!("cycle {idx}"));
        }
        // What is left out of executions that end says nothing about those that do not.
        circuit.optional.clear();
        circuit.justice.clear();
        circuit.fairness.clear();
        Cycles { circuit, cone, save_idx }
    }
}

impl Cycles {
    /// An execution that ends in a bad state or closes its loop as one of the circuit that was
    /// asked about.
    pub fn lift(&self, witness: &Witness) -> Witness {
        let Property::Bad(bad_idx) = witness.property else {
            panic!("cycles are closed by a bad state")
        };
        let mut n_frames = witness.inputs.len();
        let property = match bad_idx.checked_sub(self.cone.circuit.bads.len()) {
            None => witness.property,
            Some(idx) => {
                // The last frame is the first of the loop again.
                n_frames -= 1;
                let saved = witness.inputs.iter().position(|frame| frame[self.save_idx]);
                let loop_start = saved.expect("a loop is closed where it began");
                Property::Justice { idx, loop_start }
            }
        };
        let frames = &witness.inputs[..n_frames];
        let original = Witness {
            latches: witness.latches[..self.cone.circuit.latches.len()].to_vec(),
            inputs: frames.iter().map(|frame| frame[..self.save_idx].to_vec()).collect(),
            property,
        };
        self.cone.lift(&original)
    }
}

/// A circuit that is being translated.
struct Translation<'a> {
    circuit: &'a mut Circuit,
    /// Whether a state was saved before this frame.
    is_saved: Lit,
    /// Whether this frame belongs to the loop.
    in_loop: Lit,
    /// Whether all latches are equal to their copies.
    is_same: Lit,
    seen: FxHashMap<Lit, Lit>,
}

impl<'a> Translation<'a> {
    fn new(circuit: &'a mut Circuit) -> Self {
        let latches: Vec<_> = circuit.latches.iter().map(|l| (l.lit, l.name.clone())).collect();
        let save = circuit.input("loop here");
        let is_saved = circuit.latch("in loop", Some(false));
        let in_loop = circuit.aig.or(is_saved, save);
        circuit.set_next(is_saved, in_loop);
        let mut same = Vec::new();
        for (latch, name) in latches {
            let copy = circuit.latch(format!("{name} at loop"), None);
            circuit.set_next(copy, copy);
            same.push(circuit.aig.iff(latch, copy));
        }
        let is_same = circuit.aig.all(same);
        let saves = circuit.aig.and(save, !is_saved);
        let saves_copy = circuit.aig.implies(saves, is_same);
        circuit.constrain(saves_copy);
        Self { circuit, is_saved, in_loop, is_same, seen: FxHashMap::default() }
    }

    /// Whether the state is the saved one again.
    fn close(&mut self) -> Lit {
        self.circuit.aig.and(self.is_saved, self.is_same)
    }

    /// Whether a literal was true in a frame of the loop before this one.
    fn seen(&mut self, lit: Lit) -> Lit {
        if let Some(&seen) = self.seen.get(&lit) {
            return seen;
        }
        let seen = self.circuit.latch(format!("seen {lit:?}"), Some(false));
        let now = self.circuit.aig.and(self.in_loop, lit);
        let next = self.circuit.aig.or(seen, now);
        self.circuit.set_next(seen, next);
        self.seen.insert(lit, seen);
        seen
    }
}
