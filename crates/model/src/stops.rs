//! Stops for threads, so that a property can look at what is theirs alone.
//!
//! What no other thread can see runs together with the step before it, and no state is between.
//! Where a proposition is about a local or a label of a thread, the thread stops behind everything
//! that may change the local, and at the label: it yields, which changes nothing. Within an atomic
//! block no other thread looks, and to yield is nothing; so it stops behind the block, too. And it
//! stops where it begins, so that there is a state in which it has begun and done nothing, whatever
//! it does first.

use crate::analysis::PointsTo;
use crate::{
    Action, Base, Branching, Callee, Edge, Expr, Location, LocationId, Program, Query, RegisterId,
    Routine, RoutineId,
};

/// Adds the stops that the propositions need. Locations keep their numbers.
pub fn add_stops(program: &mut Program, propositions: &[Expr]) {
    let mut queries = Vec::new();
    for proposition in propositions {
        proposition.visit(&mut |part| {
            if let Expr::Query(query) = part {
                queries.push(&**query);
            }
        });
    }
    let ends = ending_blocks(program);
    let ends_block = |action: &Action| is_ending(&ends, action);
    if !queries.is_empty() {
        for routine in beginnings(program) {
            let routine = &mut program.routines[routine.0 as usize];
            stop_at(routine, routine.start);
        }
    }
    for query in queries {
        match query {
            Query::At { routine, location, .. } => {
                stop_at(&mut program.routines[routine.0 as usize], *location);
            }
            Query::Register { routine, register, .. } => {
                stop_behind(&mut program.routines[routine.0 as usize], |action| {
                    action.targets().contains(register) || ends_block(action)
                });
                stop_in_the_beginning(&mut program.routines[routine.0 as usize], *register);
            }
            Query::Frame { routine, from, .. } => {
                stop_behind(&mut program.routines[routine.0 as usize], |action| {
                    let mut has_it = ends_block(action);
                    action.visit_places(&mut |place| has_it |= is_within(&place.base, &from.base));
                    has_it
                });
            }
            _ => {}
        }
    }
}

/// Makes every thread begin with a step of its own that changes nothing. Else it depends on what a
/// thread does first whether it needs one, and a property that counts steps would see that.
pub fn add_first_steps(program: &mut Program) {
    let mut routines = beginnings(program);
    routines.sort();
    routines.dedup();
    for routine in routines {
        let routine = &mut program.routines[routine.0 as usize];
        if is_stop(routine.location(routine.start)) {
            continue;
        }
        let first = LocationId(routine.locations.len() as u32);
        let edges = vec![Edge::new(Action::Yield, routine.start, routine.span)];
        routine.locations.push(Location { edges, ..Location::default() });
        routine.start = first;
    }
}

/// By number of a routine, whether an atomic block may end in it, or in what it calls.
fn ending_blocks(program: &Program) -> Vec<bool> {
    let mut ends = vec![false; program.routines.len()];
    loop {
        let n_before = ends.iter().filter(|it| **it).count();
        for (idx, routine) in program.routines.iter().enumerate() {
            let mut edges = routine.locations.iter().flat_map(|location| &location.edges);
            ends[idx] |= edges.any(|edge| is_ending(&ends, &edge.action));
        }
        if ends.iter().filter(|it| **it).count() == n_before {
            return ends;
        }
    }
}

/// Whether an atomic block may end in an action, by what is known of routines.
fn is_ending(ends: &[bool], action: &Action) -> bool {
    match action {
        Action::AtomicEnd => true,
        Action::Call { callee: Callee::Routine(routine), .. } => ends[routine.0 as usize],
        Action::Call { callee: Callee::Pointer(_), .. } => ends.contains(&true),
        _ => false,
    }
}

/// The routines that threads may begin with.
fn beginnings(program: &Program) -> Vec<RoutineId> {
    let mut routines: Vec<RoutineId> = program.processes.iter().map(|it| it.routine).collect();
    let points_to = PointsTo::of(program);
    for (idx, routine) in program.routines.iter().enumerate() {
        for (_, edge) in routine.edges() {
            if let Action::Spawn { routine: callee, .. } = &edge.action {
                routines.extend(points_to.callees(RoutineId(idx as u32), callee));
            }
        }
    }
    routines
}

/// Whether two places are in the same local.
fn is_within(place: &Base, local: &Base) -> bool {
    matches!((place, local), (Base::Frame(one), Base::Frame(other)) if one == other)
}

/// Parameters have their values from the beginning.
fn stop_in_the_beginning(routine: &mut Routine, register: RegisterId) {
    if register.0 < routine.n_parameters {
        stop_at(routine, routine.start);
    }
}

/// Whether a thread stops there and changes nothing.
fn is_stop(location: &Location) -> bool {
    matches!(location.edges.as_slice(), [edge] if edge.action == Action::Yield)
}

/// Makes a thread stop wherever it comes to a location.
fn stop_at(routine: &mut Routine, location: LocationId) {
    if location == routine.end || is_stop(routine.location(location)) {
        return;
    }
    let behind = LocationId(routine.locations.len() as u32);
    let here = &mut routine.locations[location.0 as usize];
    let span = here.edges.first().map_or(routine.span, |edge| edge.span);
    let edges = std::mem::replace(&mut here.edges, vec![Edge::new(Action::Yield, behind, span)]);
    let branching = std::mem::replace(&mut here.branching, Branching::Ordered);
    routine.locations.push(Location { edges, branching, ..Location::default() });
}

/// Makes a thread stop behind what such actions do.
fn stop_behind(routine: &mut Routine, is_such: impl Fn(&Action) -> bool) {
    let known: Vec<bool> = routine.locations.iter().map(is_stop).collect();
    let mut n_locations = routine.locations.len() as u32;
    let mut stops = Vec::new();
    for edge in routine.locations.iter_mut().flat_map(|location| &mut location.edges) {
        if is_such(&edge.action) && !known[edge.to.0 as usize] {
            let stop = Edge::new(Action::Yield, edge.to, edge.span);
            edge.to = LocationId(n_locations);
            n_locations += 1;
            stops.push(Location { edges: vec![stop], ..Location::default() });
        }
    }
    routine.locations.extend(stops);
}
