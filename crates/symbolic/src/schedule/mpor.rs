//! Monotonic reduction: of all orders of a trace, the quasi-monotonic one.
//!
//! Implements Kahlon, Wang and Gupta, *Monotonic Partial Order Reduction: An Optimal Symbolic
//! Partial Order Reduction Technique* (CAV 2009), section 4.2.
//!
//! | paper                                 | here                                     |
//! |---------------------------------------|------------------------------------------|
//! | *pWV_i*, *pRV_i*                      | [`Footprint::remembered`]                |
//! | *DEP_li(k)*                           | [`Footprint::conflicts`]                 |
//! | *DC_ji(k-1) = 1*                      | [`Chains::last`]                         |
//! | *DC_ji(k)*, as if *i* ran now         | [`Chains::next`]                         |
//! | *DC_jj = 0*: *j* has not moved        | [`Chains::last`] of *j* and *j* is false |
//! | *S_i(k)*                              | [`Chains::may_move`]                     |
//!
//! Differs: a chain is one bit, since *0* and *-1* say different things about *DC_jj* alone. Chains from
//! the first thread are not kept, as nobody asks for them. A footprint is a bit for each cell that two
//! threads may be in conflict about, where the paper has a number for a variable: threads that have no cell in common
//! cost nothing.

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
    let footprints = Footprint::of(&mut circuit.aig, moves);
    let chains = Chains::new(circuit, moves, &footprints);
    chains.connect(circuit, moves);
    let may: Vec<_> =
        (0..moves.len()).map(|thread| chains.may_move(&mut circuit.aig, thread)).collect();
    allow(circuit, moves, &may);
}

/// Which steps follow from which: a row for each thread, a column for each thread.
struct Chains {
    /// Whether a chain leads from the last step of a thread to the last one of another; for a thread
    /// and itself, whether it has moved.
    last: Vec<Vec<Lit>>,
    /// Whether a chain leads from the last step of a thread to the next one of another.
    next: Vec<Vec<Lit>>,
}

impl Chains {
    fn new(circuit: &mut Circuit, moves: &[Move], footprints: &[Footprint]) -> Self {
        let n = moves.len();
        let last: Vec<Vec<_>> = (0..n)
            .map(|from| {
                let name = |to| format!("schedule.chain.{from}.{to}");
                let mut latch = |to| circuit.latch(name(to), Some(false));
                (0..n).map(|to| if from == 0 { Lit::FALSE } else { latch(to) }).collect()
            })
            .collect();
        let remembered: Vec<_> = (0..n)
            .map(|thread| {
                let name = format!("schedule.last.{thread}");
                footprints[thread].remembered(circuit, &name, moves[thread].executes)
            })
            .collect();
        let aig = &mut circuit.aig;
        let mut conflicts = vec![vec![Lit::TRUE; n]; n];
        for (via, to) in pairs(n) {
            conflicts[via][to] = remembered[via].conflicts(&footprints[to], aig);
        }
        let mut next = vec![vec![Lit::FALSE; n]; n];
        for (from, to) in pairs(n).filter(|&(from, _)| from > 0) {
            let links = (0..n).map(|via| aig.and(last[from][via], conflicts[via][to]));
            let links: Vec<_> = links.collect();
            next[from][to] = aig.any(links);
        }
        Self { last, next }
    }

    /// What the chains become.
    fn connect(&self, circuit: &mut Circuit, moves: &[Move]) {
        let n = moves.len();
        for (from, it) in moves.iter().enumerate().skip(1) {
            let moved = self.last[from][from];
            let next = circuit.aig.or(moved, it.executes);
            circuit.set_next(moved, next);
        }
        for (from, to) in pairs(n).filter(|&(from, _)| from > 0) {
            let (last, next) = (self.last[from][to], self.next[from][to]);
            // A chain from the last step begins anew with every step.
            let kept = circuit.aig.and(!moves[from].executes, last);
            let next = circuit.aig.ite(moves[to].executes, next, kept);
            circuit.set_next(last, next);
        }
    }

    /// Whether a thread may be next: each greater one that has moved had to move before it, or before
    /// a smaller one.
    fn may_move(&self, aig: &mut Aig, thread: usize) -> Lit {
        let n = self.last.len();
        let rows: Vec<_> = (thread + 1..n)
            .map(|from| {
                let informed = aig.any(self.last[from][..thread].iter().copied());
                aig.any([!self.last[from][from], self.next[from][thread], informed])
            })
            .collect();
        aig.all(rows)
    }
}

/// All pairs of two threads.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |one| (0..n).map(move |other| (one, other))).filter(|(a, b)| a != b)
}
