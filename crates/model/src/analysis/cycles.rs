//! Which locations of a routine lie on a cycle of its graph.

use crate::{LocationId, Routine};

/// For each location, whether a way leads from it back to it within the routine. A routine that
/// calls itself is on a cycle of another kind, which is not meant here.
pub fn on_cycles(routine: &Routine) -> Vec<bool> {
    let n = routine.locations.len();
    let successors = |idx: usize| {
        let edges = routine.location(LocationId(idx as u32)).edges.iter();
        edges.map(|edge| edge.to.0 as usize)
    };
    // Graphs are small, so a search from each location is simple enough.
    let is_on_cycle = |start: usize| {
        let mut seen = vec![false; n];
        let mut to_visit: Vec<usize> = successors(start).collect();
        while let Some(idx) = to_visit.pop() {
            if idx == start {
                return true;
            }
            if !std::mem::replace(&mut seen[idx], true) {
                to_visit.extend(successors(idx));
            }
        }
        false
    };
    (0..n).map(is_on_cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Expr, RoutineBuilder};

    #[test]
    fn a_loop_is_on_a_cycle_and_what_is_around_it_is_not() {
        let mut routine = RoutineBuilder::new("");
        routine.then(Action::Yield);
        let start = routine.here();
        let end = routine.branch(Expr::bool(true));
        routine.then(Action::Yield);
        routine.jump(start);
        routine.go_on_from(end);
        routine.then(Action::Yield);
        let routine = routine.finish();
        let cycles = on_cycles(&routine);
        assert!(!cycles[routine.start.0 as usize] && !cycles[routine.end.0 as usize]);
        assert_eq!(cycles.iter().filter(|&&on_cycle| on_cycle).count(), 3);
    }
}
