//! Stubborn sets: only threads of a set move that no thread outside can interfere with.
//!
//! Implements section 4.2 of Kahlon, Gupta and Sinha, *Symbolic Model Checking of Concurrent
//! Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006): conditional stubborn
//! sets, computed by the circuit itself in every frame.
//!
//! | paper                        | here                                                |
//! |------------------------------|-----------------------------------------------------|
//! | touch-now(T, x)              | [`now`]                                             |
//! | touch-now-later(T, x)        | [`later`]                                           |
//! | conflict_i(j)                | [`conflicts`]                                       |
//! | the closures J_i             | [`closures`]                                        |
//! | the smallest J, cstub        | [`restrict`]                                        |
//! | sticky                       | [`sticky`]: a stop on every cycle of a thread       |
//!
//! Differs: the smallest closure is taken among those of threads that can move. Over all of them,
//! as it is written, the smallest one may contain no such thread, and states are lost. Reads do not
//! conflict with reads. A variable is a byte, and an element of an array is touched now only where
//! its index says so. What could let a thread move that waits is touched by that thread: the lock,
//! the end of the thread that it joins, or its own birth.

use super::Scheduler;
use crate::depth_first::DepthFirst;
use crate::encode::{Byte, ThreadPart, Touches};
use crate::{Aig, Encoding, Lit, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Stubborn sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stubborn;

impl Scheduler for Stubborn {
    fn name(&self) -> &'static str {
        "stubborn"
    }

    fn constrain(&self, encoding: &mut Encoding) {
        let Encoding { circuit, threads, touches, .. } = encoding;
        let conflicts = conflicts(&mut circuit.aig, threads, |aig, i, j| {
            let now = now(aig, &threads[i]);
            let later = later(aig, &touches[j], &threads[j], |_| true);
            meet(aig, &now, &later)
        });
        restrict(encoding, conflicts);
    }
}

/// For each byte, whether it is read and whether it is written.
pub(super) type Bytes = BTreeMap<Byte, [Lit; 2]>;

/// What a thread would touch in the step that is next.
pub(super) fn now(aig: &mut Aig, thread: &ThreadPart) -> Bytes {
    let mut now: BTreeMap<Byte, [Vec<Lit>; 2]> = BTreeMap::new();
    for stop in &thread.stops {
        for touch in &stop.touches {
            let when = aig.and(stop.is_here, touch.when);
            if when == Lit::FALSE {
                continue;
            }
            for byte in touch.bytes.clone() {
                let entry = now.entry((touch.cell, byte)).or_default();
                entry[usize::from(touch.is_write)].push(when);
            }
        }
    }
    now.into_iter().map(|(byte, lits)| (byte, lits.map(|lits| aig.any(lits)))).collect()
}

/// What a thread may touch from where it is on, on ways that lead through these stations alone.
pub(super) fn later(
    aig: &mut Aig,
    touches: &Touches,
    thread: &ThreadPart,
    is_passable: impl Fn(usize) -> bool,
) -> Bytes {
    let mut later: BTreeMap<Byte, [Vec<Lit>; 2]> = BTreeMap::new();
    for (stop, future) in thread.stops.iter().zip(touches.futures(is_passable)) {
        for (kind, bytes) in future.into_iter().enumerate() {
            for byte in bytes {
                later.entry(byte).or_default()[kind].push(stop.is_here);
            }
        }
    }
    later.into_iter().map(|(byte, lits)| (byte, lits.map(|lits| aig.any(lits)))).collect()
}

/// Whether something is written on one side and touched on the other.
pub(super) fn meet(aig: &mut Aig, now: &Bytes, later: &Bytes) -> Lit {
    let mut pairs = BTreeSet::new();
    for (byte, &[reads, writes]) in now {
        let Some(&[later_reads, later_writes]) = later.get(byte) else { continue };
        let touched = aig.or(later_reads, later_writes);
        pairs.insert(aig.and(writes, touched));
        pairs.insert(aig.and(reads, later_writes));
    }
    aig.any(pairs)
}

/// For each two threads, whether the second may interfere with what the first does next.
pub(super) fn conflicts(
    aig: &mut Aig,
    threads: &[ThreadPart],
    mut conflict: impl FnMut(&mut Aig, usize, usize) -> Lit,
) -> Vec<Vec<Lit>> {
    let n = threads.len();
    let mut all = vec![vec![Lit::TRUE; n]; n];
    for (i, row) in all.iter_mut().enumerate() {
        let sticky = sticky(&threads[i]);
        let is_sticky = aig.any(sticky.iter().map(|&stop| threads[i].stops[stop].is_here));
        for (j, it) in row.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let conflict = conflict(aig, i, j);
            *it = aig.or(is_sticky, conflict);
        }
    }
    all
}

/// Stops such that every cycle of the thread goes through one; and where it keeps others from
/// moving.
fn sticky(thread: &ThreadPart) -> BTreeSet<usize> {
    let next: Vec<_> = thread.stops.iter().map(|stop| &stop.next[..]).collect();
    let alone = (0..thread.stops.len()).filter(|&stop| thread.stops[stop].is_alone);
    DepthFirst::of(&next).heads.into_iter().chain(alone).collect()
}

/// The reflexive and transitive closure of the conflicts.
fn closures(aig: &mut Aig, mut conflicts: Vec<Vec<Lit>>) -> Vec<Vec<Lit>> {
    let n = conflicts.len();
    for over in 0..n {
        for from in 0..n {
            for to in 0..n {
                let around = aig.and(conflicts[from][over], conflicts[over][to]);
                conflicts[from][to] = aig.or(conflicts[from][to], around);
            }
        }
    }
    conflicts
}

/// Lets only threads of a smallest set move: of those sets that are closed under conflicts and
/// contain a thread that can move, one in which the fewest can.
pub(super) fn restrict(encoding: &mut Encoding, conflicts: Vec<Vec<Lit>>) {
    let aig = &mut encoding.circuit.aig;
    let sets = closures(aig, conflicts);
    let enabled: Vec<Lit> = encoding.threads.iter().map(|thread| thread.is_enabled).collect();
    let n = enabled.len();
    // Wide enough for a number that is greater than any count.
    let width = (usize::BITS - n.leading_zeros()) as usize + 1;
    let mut best = Word::constant(width, (1 << width) - 1);
    let mut members = vec![Lit::FALSE; n];
    for (seed, set) in sets.iter().enumerate() {
        let movers: Vec<Lit> = set.iter().zip(&enabled).map(|(&a, &b)| aig.and(a, b)).collect();
        let mut count = Word::constant(width, 0);
        for &mover in &movers {
            let one = Word::from(mover).resize(width, false);
            count = aig.add(&count, &one);
        }
        let is_less = aig.less(&count, &best, false);
        let is_better = aig.and(enabled[seed], is_less);
        best = aig.mux(is_better, &count, &best);
        for (member, &mover) in members.iter_mut().zip(&movers) {
            *member = aig.ite(is_better, mover, *member);
        }
    }
    for (thread, member) in encoding.threads.iter().zip(members) {
        let is_allowed = encoding.circuit.aig.implies(thread.executes, member);
        encoding.circuit.constrain(is_allowed);
    }
}
