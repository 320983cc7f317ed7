//! Monotonic reduction: of all orders of a trace, the quasi-monotonic one.
//!
//! Implements Kahlon, Wang and Gupta, *Monotonic Partial Order Reduction: An Optimal Symbolic
//! Partial Order Reduction Technique* (CAV 2009), section 4.2.
//!
//! | paper                                      | here                              |
//! |--------------------------------------------|-----------------------------------|
//! | *pWV_i*, *pRV_i*                           | [`Footprint::remembered`]         |
//! | *DEP_ji(k)*                                | [`Chains::depends`]               |
//! | *DC_jl(k-1)* is not *1* for any *l* but *j* | [`Chains::open`] of *j*          |
//! | *S_i(k)*                                   | [`Chains::may_move`]              |
//!
//! Differs: a bit for each thread says from which last steps no chain leads on, where the paper
//! keeps for each pair of threads whether a chain leads from one to the other. That is enough. Let
//! *w* be any sequence and *a* a step of *i* that may come next. A last step in *w* is *open* if no
//! later one depends on it. Then *a* keeps Definition 3 if and only if it depends on each open step
//! of a thread greater than *i*. If it keeps it, a chain leads from such a step to *a* or to a
//! smaller thread in *w*, and all that can come after an open step is *a* itself. Conversely, from
//! any step of a greater thread, follow a chain as far as it goes in *w*: to an open step, of some
//! *l*. If *l* is greater than *i*, then *a* depends on it; if it is *i*, then *a* comes after it;
//! and if it is smaller, this is case (ii) of the definition.
//!
//! A footprint is a bit for each cell that two threads may be in conflict about, where the paper
//! has a number for a variable: threads that have no cell in common cost nothing.

use super::Scheduler;
use super::moves::{Footprint, Move, allow};
use crate::{Aig, Circuit, Encoding, Lit};

/// Quasi-monotonic executions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mpor;

impl Scheduler for Mpor {
    fn name(&self) -> &'static str {
        "mpor"
    }

    fn constrain(&self, encoding: &mut Encoding) {
        let moves = Move::of_threads(encoding);
        quasi_monotonic(&mut encoding.circuit, &moves);
    }
}

/// Leaves out executions that are not quasi-monotonic.
pub fn quasi_monotonic(circuit: &mut Circuit, moves: &[Move]) {
    let chains = Chains::new(circuit, moves);
    chains.connect(circuit, moves);
    let may: Vec<_> =
        (0..moves.len()).map(|thread| chains.may_move(&mut circuit.aig, thread)).collect();
    allow(circuit, moves, &may);
}

/// What the last steps of all threads lead to.
struct Chains {
    /// Whether the last step of a thread is one that no later step depends on.
    open: Vec<Lit>,
    /// Whether, in the row of a thread, the next step of another one depends on its last step.
    depends: Vec<Vec<Lit>>,
}

impl Chains {
    fn new(circuit: &mut Circuit, moves: &[Move]) -> Self {
        let footprints = Footprint::of(&mut circuit.aig, moves);
        let threads = moves.iter().zip(&footprints).enumerate();
        let (mut open, mut depends) = (Vec::new(), Vec::new());
        for (thread, (it, footprint)) in threads {
            open.push(circuit.latch(format!("schedule.open.{thread}"), Some(false)));
            let last = format!("schedule.last.{thread}");
            let last = footprint.remembered(circuit, &last, it.executes);
            let row = footprints.iter().map(|next| last.conflicts(next, &mut circuit.aig));
            depends.push(row.collect());
        }
        Self { open, depends }
    }

    /// What becomes of open steps.
    fn connect(&self, circuit: &mut Circuit, moves: &[Move]) {
        let aig = &mut circuit.aig;
        let mut next = Vec::new();
        for (thread, it) in moves.iter().enumerate() {
            // A smaller thread moves only if its step depends on this one.
            let smaller = moves[..thread].iter().map(|it| it.executes);
            let greater = moves.iter().zip(&self.depends[thread]).skip(thread + 1);
            let greater = greater.map(|(it, &depends)| aig.and(it.executes, depends));
            let closes: Vec<_> = smaller.chain(greater).collect();
            let closes = aig.any(closes);
            let is_left = aig.and(self.open[thread], !closes);
            next.push(aig.or(it.executes, is_left));
        }
        for (&open, next) in self.open.iter().zip(next) {
            circuit.set_next(open, next);
        }
    }

    /// Whether a thread may be next: its step depends on all open ones of greater threads.
    fn may_move(&self, aig: &mut Aig, thread: usize) -> Lit {
        let greater = self.open.iter().zip(&self.depends).skip(thread + 1);
        let follows = greater.map(|(&open, row)| aig.implies(open, row[thread]));
        let follows: Vec<_> = follows.collect();
        aig.all(follows)
    }
}
