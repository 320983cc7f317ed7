//! Vacuous proofs: of programs whose executions all end at failed assumptions, everything holds.
//!
//! A machine notes what becomes of its executions ([`Vm::vacuous`](crate::Vm::vacuous)). Engines
//! that run nothing ask whether a [`Goal`] can be reached: it is a failed assertion in a program
//! that has no other.

use crate::{Action, Edge, Expr, Location, LocationId, Program, Span, ViolationKind};
use std::collections::BTreeSet;

/// Something that executions may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The assumption at this place is come to.
    Before(Span),
    /// The assumption at this place holds.
    Behind(Span),
    /// The program exits.
    Exit,
    /// The program exits, or would if all assumptions held.
    ExitWithoutAssumptions,
}

/// The places of all assumptions, in the order of the source.
pub fn assumptions_in(program: &Program) -> Vec<Span> {
    let edges = program.routines.iter().flat_map(|routine| routine.edges());
    let assumptions = edges.filter(|(_, edge)| matches!(edge.action, Action::Assume { .. }));
    let places = assumptions.map(|(_, edge)| (edge.span.file.0, edge.span.line, edge.span.column));
    let places: BTreeSet<_> = places.collect();
    let span = |(file, line, column)| Span { file: crate::FileId(file), line, column };
    places.into_iter().map(span).collect()
}

/// The program with an assertion that fails where a goal is reached, and with no other one.
pub fn with_goal(program: &Program, goal: Goal) -> Program {
    let reached = || Action::Check {
        condition: Expr::bool(false),
        kind: ViolationKind::Assertion,
        message: "it is reached".to_owned(),
    };
    let mut program = program.clone();
    for routine in &mut program.routines {
        let mut n_locations = routine.locations.len() as u32;
        let mut behind: Vec<Location> = Vec::new();
        let edges = routine.locations.iter_mut().flat_map(|location| &mut location.edges);
        for edge in edges {
            match (&edge.action, goal) {
                (Action::Check { .. }, _)
                | (Action::Assume { .. }, Goal::ExitWithoutAssumptions) => {
                    edge.action = Action::Skip;
                }
                (Action::Assume { .. }, Goal::Before(span)) if edge.span == span => {
                    edge.action = reached();
                }
                (Action::Assume { .. }, Goal::Behind(span)) if edge.span == span => {
                    let goes_on = Edge::new(reached(), edge.to, edge.span);
                    behind.push(Location { edges: vec![goes_on], ..Location::default() });
                    edge.to = LocationId(n_locations);
                    n_locations += 1;
                }
                (Action::ExitProgram, Goal::Exit | Goal::ExitWithoutAssumptions) => {
                    edge.action = reached();
                }
                _ => {}
            }
        }
        routine.locations.extend(behind);
    }
    program
}
