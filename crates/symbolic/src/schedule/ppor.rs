//! Peephole reduction: of two steps that follow each other and are independent, the smaller
//! thread's comes first.
//!
//! Implements Wang, Yang, Kahlon and Gupta, *Peephole Partial Order Reduction* (TACAS 2008), as
//! Kahlon, Wang and Gupta (CAV 2009), section 1, tell it.
//!
//! | paper                                           | here                              |
//! |-------------------------------------------------|-----------------------------------|
//! | *tr'* is executed immediately before *tr*       | `last`, the step of the frame before |
//! | *tid(tr) < tid(tr')*                            | `was_greater`                     |
//! | *tr* and *tr'* are independent                  | [`Footprint::conflicts`]          |
//!
//! Each trace has at least one execution that is left, and with two threads exactly one.
//!
//! Differs: nothing.

use super::Scheduler;
use super::moves::{Footprint, Move, allow};
use crate::{Circuit, Encoding, Lit};

/// The peephole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ppor;

impl Scheduler for Ppor {
    fn name(&self) -> &'static str {
        "ppor"
    }

    fn constrain(&self, encoding: &mut Encoding) {
        let moves = Move::of_threads(encoding);
        peephole(&mut encoding.circuit, &moves);
    }
}

/// Leaves out executions with two steps in the wrong order.
pub fn peephole(circuit: &mut Circuit, moves: &[Move]) {
    let aig = &mut circuit.aig;
    let footprints = Footprint::of(aig, moves);
    let taken = Footprint::taken(aig, moves, &footprints);
    let last = taken.remembered(circuit, "schedule.last", Lit::TRUE);
    let mut may = Vec::new();
    for (number, footprint) in footprints.iter().enumerate() {
        let greater: Vec<_> = moves[number + 1..].iter().map(|it| it.executes).collect();
        let is_greater = circuit.aig.any(greater);
        let was_greater = circuit.latch(format!("schedule.greater.{number}"), Some(false));
        circuit.set_next(was_greater, is_greater);
        let conflicts = last.conflicts(footprint, &mut circuit.aig);
        may.push(circuit.aig.implies(was_greater, conflicts));
    }
    allow(circuit, moves, &may);
}
