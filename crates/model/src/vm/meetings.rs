//! Barriers whose arrivals commute: no thread learns their order.
//!
//! Arrivals at a barrier commute if no more threads use it than make a round, and none of them
//! looks at who was the last. Then every thread takes part in every round, it comes to the next
//! round only after all have come to this one, and the state after a round is the same whichever
//! thread came last. So an arrival is an [`Operation::Meet`], of which any two commute, and a
//! departure an [`Operation::Part`], which comes after all arrivals of its round. Rounds that follow
//! each other are two units of the barrier in turn, its two halves: a fast thread may come to the
//! next round before a slow one has left this one, and nothing orders the two. Two rounds later all
//! have left.
//!
//! **No thread looks** is decided from the code: what an arrival tells is in a register that is
//! dead behind it ([`are_alike`]).
//!
//! **The number of threads** is not known beforehand. It is counted over all executions, and the
//! search is void if there are too many ([`Meetings::must_be_ordered`]). That is right: take the
//! program *P* in which the *k*-th arrival of a thread belongs to round *k*. There any two arrivals
//! commute in every state, so a search of *P* is complete. As long as no more threads have come to
//! a barrier in an execution than make a round, *P* and the program do the same. So if the search
//! has seen no such execution, it was a search of *P*; *P* has none then, and neither has the
//! program, whose shortest one would be one of *P*.
//!
//! A barrier that is made anew after it was used begins with its first round again, while threads
//! may still be about to leave an old one; a barrier in memory without types is no unit of its own.
//! Both void the search as well.
//!
//! The same as `meetings.rs` of the native runtime, which reads the first condition from machine
//! code.
//!
//! [`Operation::Meet`]: mazurka_core::Operation::Meet
//! [`Operation::Part`]: mazurka_core::Operation::Part

use super::code::{Code, Instruction, NOWHERE, Pc};
use super::machine::{Machine, Spot, control};
use super::next::unit;
use crate::Sync;
use mazurka_core::{ObjectId, ThreadId, ThreadSet};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether no thread looks at what an arrival at any barrier tells, and there is one.
pub(super) fn are_alike(code: &Code) -> bool {
    let mut arrivals = code.instructions.iter().enumerate().filter_map(|(pc, it)| match it {
        Instruction::Arrive(_, to) => Some((pc as Pc, *to)),
        _ => None,
    });
    let is_dead = |(pc, to): (Pc, u32)| to == NOWHERE || !code.lives.contains(pc + 1, to);
    arrivals.clone().next().is_some() && arrivals.all(is_dead)
}

/// The threads that have come to barriers, in all executions of all clones of a machine.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    users: Mutex<FxHashMap<ObjectId, ThreadSet>>,
    /// Whether arrivals do not commute after all.
    must_be_ordered: AtomicBool,
}

impl Meetings {
    pub(super) fn must_be_ordered(&self) -> &AtomicBool {
        &self.must_be_ordered
    }

    fn give_up(&self) {
        self.must_be_ordered.store(true, Ordering::Relaxed);
    }

    fn note(&self, barrier: ObjectId, thread: ThreadId, parties: u32) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let users = users.entry(barrier).or_default();
        users.insert(thread);
        if users.len() > parties as usize {
            self.give_up();
        }
    }
}

/// A mark in [`control::ROUND_END`]: the round is one of every other.
const IS_OTHER: u64 = 1 << 32;

impl Machine {
    /// A thread comes to a barrier, where so many make a round. The unit of the round, if arrivals
    /// commute.
    pub(super) fn meeting(
        &self,
        code: &Code,
        thread: usize,
        barrier: Spot,
        parties: u32,
    ) -> Option<ObjectId> {
        let meetings = self.meetings.as_ref()?;
        let units = halves(code, barrier);
        meetings.note(units[0], ThreadId::new(thread), parties);
        if units[0] == units[1] {
            meetings.give_up();
        }
        Some(units[usize::from(self.is_other_round(barrier.address()))])
    }

    /// Whether the round of a barrier that is not complete is one of every other.
    fn is_other_round(&self, barrier: u32) -> bool {
        let (parties, arrived) = (self.get_bytes(barrier, 4), self.get_bytes(barrier + 4, 4));
        arrived / parties % 2 == 1
    }

    /// What a thread that arrives at a barrier keeps of its round, beside its end.
    pub(super) fn mark_of_round(&self, barrier: u32) -> u64 {
        match self.meetings.is_some() && self.is_other_round(barrier) {
            true => IS_OTHER,
            false => 0,
        }
    }

    /// The unit of the round that a thread waits to leave, if arrivals commute.
    pub(super) fn parting(&self, code: &Code, thread: usize, barrier: Spot) -> Option<ObjectId> {
        self.meetings.as_ref()?;
        let is_other = self.control(thread, control::ROUND_END) & IS_OTHER != 0;
        Some(halves(code, barrier)[usize::from(is_other)])
    }

    /// A barrier begins with its first round.
    pub(super) fn note_first_round(&self, barrier: u32) {
        if let Some(meetings) = &self.meetings
            && self.get_bytes(barrier + 4, 4) > 0
        {
            meetings.give_up();
        }
    }

    /// Threads that are at a barrier already say again what they would do.
    pub(super) fn announce_arrivals(&mut self, code: &Code) {
        for thread in 0..self.threads.len() {
            let pc = self.pc(thread);
            let instruction = &code.instructions[pc as usize];
            if matches!(instruction, Instruction::Arrive(..) | Instruction::Leave(_))
                && let Ok(Some(pending)) = self.pending_at(code, thread, pc)
            {
                self.pending[thread] = pending;
            }
        }
    }
}

/// The units of both halves of a barrier.
fn halves(code: &Code, barrier: Spot) -> [ObjectId; 2] {
    let half = Sync::Barrier.bytes() / 2;
    [0, half].map(|offset| unit(code, Spot { offset: barrier.offset + offset, ..barrier }))
}
