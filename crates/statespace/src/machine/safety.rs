//! What a reduction may conclude of the steps of a process, known before anything runs.
//!
//! Implements the static part of the ample-set conditions as Holzmann and Peled, *An Improvement in
//! Formal Verification* (FORTE 1994), have it: each location is classified once.
//!
//! Differs: a location is safe if all its edges use nothing but registers and the frame of their process.
//! What is sent and received is never safe here, also where the user promises that one process alone uses
//! an end of a channel.

use super::code::{Code, Edge, Node, NodeId, Place, Step, Target};
use crate::transitions::Safety;

/// Classifies all locations.
pub(super) fn classify(code: &mut Code) {
    // Whoever may ask where another process stands, or who moved, sees every step.
    let is_watched = code.nodes.iter().any(|node| {
        matches!(
            node,
            Node::At { .. }
                | Node::Remote { .. }
                | Node::RemoteAt { .. }
                | Node::Location(_)
                | Node::Enabled(_)
                | Node::NonProgress
                | Node::Last
                | Node::Priority(_)
        )
    });
    if is_watched || code.has_priorities {
        return;
    }
    for idx in 0..code.routines.len() {
        if code.routines[idx].provided.is_some() {
            continue;
        }
        let places = &code.routines[idx].places;
        let classified: Vec<_> = places.iter().map(|place| class(code, places, place)).collect();
        for (place, (safety, is_visible)) in code.routines[idx].places.iter_mut().zip(classified) {
            place.safety = safety;
            place.is_visible = is_visible;
        }
    }
}

fn class(code: &Code, places: &[Place], place: &Place) -> (Safety, bool) {
    let edges = || place.edges.clone().map(|number| &code.edges[number as usize]);
    if place.edges.is_empty() || !edges().all(|edge| is_private(code, places, edge)) {
        return (Safety::Dependent, true);
    }
    let labels = |place: &Place| (place.is_progress, place.is_accept);
    let is_visible = edges().any(|edge| labels(&places[edge.to as usize]) != labels(place));
    // A step that can be taken keeps a timeout from being one.
    match code.uses_timeout {
        true => (Safety::Commutes, is_visible),
        false => (Safety::Independent, is_visible),
    }
}

/// Whether nobody but its process can tell that an edge is taken.
fn is_private(code: &Code, places: &[Place], edge: &Edge) -> bool {
    if edge.atomic || edge.guard.is_some_and(|guard| !is_own(code, guard)) {
        return false;
    }
    match &edge.step {
        Step::Skip | Step::Print { .. } => true,
        Step::Check { condition, .. } => is_own(code, *condition),
        Step::Store { to, value } => is_own_target(code, *to) && is_own(code, *value),
        Step::Indivisible { start, end } => is_private_within(code, places, *start, *end),
        Step::Send(_)
        | Step::Receive(_)
        | Step::Spawn { .. }
        | Step::SetPriority { .. }
        | Step::Die => false,
    }
}

/// The same for everything in an indivisible step.
fn is_private_within(code: &Code, places: &[Place], start: u16, end: u16) -> bool {
    let mut seen = vec![false; places.len()];
    let mut to_do = vec![start];
    while let Some(location) = to_do.pop() {
        if location == end || std::mem::replace(&mut seen[location as usize], true) {
            continue;
        }
        for number in places[location as usize].edges.clone() {
            let edge = &code.edges[number as usize];
            let is_nested = matches!(edge.step, Step::Indivisible { .. });
            if is_nested || !is_private(code, places, edge) {
                return false;
            }
            to_do.push(edge.to);
        }
    }
    true
}

fn is_own_target(code: &Code, target: Target) -> bool {
    match target {
        Target::Local { .. } => true,
        Target::LocalAt { offset, .. } => is_own(code, offset),
        Target::Global { .. } | Target::GlobalAt { .. } => false,
    }
}

/// Whether an expression is about nothing but the process itself.
fn is_own(code: &Code, id: NodeId) -> bool {
    let own = |id: NodeId| is_own(code, id);
    match code.nodes[id.0 as usize] {
        Node::Const(_) | Node::Local { .. } | Node::Thread => true,
        Node::LocalAt { offset: inner, .. }
        | Node::Unary(_, _, inner)
        | Node::Not(inner)
        | Node::Convert(_, inner)
        | Node::Index(inner, _) => own(inner),
        Node::Binary(_, _, left, right)
        | Node::Compare(_, _, left, right)
        | Node::Add(left, right)
        | Node::Subtract(left, right)
        | Node::Equal(left, right)
        | Node::Less(left, right) => own(left) && own(right),
        Node::If(condition, then, otherwise) => own(condition) && own(then) && own(otherwise),
        _ => false,
    }
}
