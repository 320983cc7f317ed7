//! Transactions: stubborn sets in which no thread interferes that would need a lock that is held.
//!
//! Implements sections 3 and 4.2 of Kahlon, Gupta and Sinha, *Symbolic Model Checking of Concurrent
//! Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006): lock acquisition
//! patterns.
//!
//! | paper                                | here                                             |
//! |--------------------------------------|--------------------------------------------------|
//! | lockPred(π), AP                      | the stops that take a lock are no way            |
//! | CLP(T, s), who owns which locks      | [`Lock::owner`](crate::encode::Lock)             |
//! | touch-now-later-LS                   | [`later`], for each lock                         |
//!
//! Differs: for several locks that a thread holds, what another one can reach without each of them
//! is intersected. That may be more than what it can reach without all of them, and never less.
//! Locks are mutexes that are known by where they are; a thread that wakes up from a wait takes its
//! mutex, too. Where no position of the others could end a transaction, it is one step
//! ([`merges`](Scheduler::merges)). As in Algo3, only threads that can move are protected by what
//! they hold.

use super::Scheduler;
use super::stubborn::{Bytes, conflicts, later, meet, now, restrict};
use crate::{Encoding, Lit};

/// Stubborn sets with lock acquisition patterns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transactions;

impl Scheduler for Transactions {
    fn name(&self) -> &'static str {
        "transactions"
    }

    fn merges(&self) -> bool {
        true
    }

    fn constrain(&self, encoding: &mut Encoding) {
        let Encoding { circuit, threads, touches, locks, .. } = encoding;
        let aig = &mut circuit.aig;
        let all: Vec<Bytes> = touches
            .iter()
            .zip(&*threads)
            .map(|(touches, thread)| later(aig, touches, thread, |_| true))
            .collect();
        // For each thread and each lock, what it can reach without taking that.
        let without: Vec<Vec<Bytes>> = touches
            .iter()
            .zip(&*threads)
            .map(|(touches, thread)| {
                let of_lock = |lock: usize, aig: &mut crate::Aig| {
                    later(aig, touches, thread, |station| !touches.needs(station, lock))
                };
                (0..locks.len()).map(|lock| of_lock(lock, aig)).collect()
            })
            .collect();
        let conflicts = conflicts(aig, threads, |aig, i, j| {
            let now = now(aig, &threads[i]);
            let mut later = all[j].clone();
            for (lock, without) in locks.iter().zip(&without[j]) {
                let is_owner = aig.equals_number(&lock.owner, i as u64 + 1);
                let is_held = aig.and(is_owner, threads[i].is_enabled);
                for (byte, lits) in &mut later {
                    let only = without.get(byte).copied().unwrap_or([Lit::FALSE; 2]);
                    for (lit, only) in lits.iter_mut().zip(only) {
                        let is_possible = aig.implies(is_held, only);
                        *lit = aig.and(*lit, is_possible);
                    }
                }
            }
            meet(aig, &now, &later)
        });
        restrict(encoding, conflicts);
    }
}
