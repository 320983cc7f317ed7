//! Barriers: waiting at one, and where the order of arrivals does not matter.
//!
//! Arrivals commute if no more threads use a barrier than make a round, and none of them looks at
//! what `pthread_barrier_wait` returns, which tells the last one. Then every thread takes part in
//! every round, a thread comes to the next round only after all have come to this one, and the
//! state after a round is the same whichever came last. So an arrival is an
//! [`Operation::Meet`], of which any two commute, and a departure comes after all of its round.
//!
//! Rounds that follow each other have objects of their own ([`Objects::other_round`]): a fast
//! thread may come to the next round before a slow one has left this one, and nothing orders the
//! two. Two rounds later all have left.
//!
//! Both conditions are learnt over all executions. If one turns out to be false, the search begins
//! again with arrivals in order.
//!
//! [`Objects::other_round`]: crate::objects::Objects::other_round

use crate::coroutine;
use crate::emulate::Kind;
use crate::lifecycle;
use crate::machine::{self, Machine};
use crate::pthread;
use crate::real;
use crate::results;
use crate::spin::{self, Arrival, watched};
use crate::weak_memory;
use libc::c_int;
use mazurka_core::{ObjectId, Operation, ThreadId, ThreadSet};
use rustc_hash::FxHashMap;

/// What `pthread_barrier_wait` returns to the last thread of a round.
const SERIAL_THREAD: c_int = -1;

/// What is known, over all executions, of barriers.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    barriers: FxHashMap<ObjectId, Users>,
}

#[derive(Debug, Default)]
struct Users {
    threads: ThreadSet,
    /// Whether arrivals are kept in order.
    are_ordered: bool,
}

impl Meetings {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let of_barrier = |it: &Users| 2 * it.threads.len() as u64 + u64::from(it.are_ordered);
        self.barriers.values().map(of_barrier).sum()
    }
}

impl Machine {
    /// A thread comes to a barrier for so many. The object of the round, if arrivals commute.
    fn meeting(
        &mut self,
        idx: usize,
        barrier: ObjectId,
        parties: u32,
        is_told: bool,
    ) -> Option<ObjectId> {
        if weak_memory::is_on() {
            return None;
        }
        let users = self.meetings.barriers.entry(barrier).or_default();
        users.threads.insert(ThreadId::new(idx));
        let were_ordered = users.are_ordered;
        users.are_ordered |= is_told || users.threads.len() > parties as usize;
        if users.are_ordered {
            if !were_ordered {
                self.learn();
            }
            return None;
        }
        let address = self.objects.address(barrier);
        let other = self.objects.other_round(address);
        let n_arrivals = self.objects.state(barrier).arrived + self.objects.state(other).arrived;
        let is_other = (n_arrivals / parties) % 2 == 1;
        Some(if is_other { other } else { barrier })
    }

    /// The second object of a barrier, unless arrivals are known to be in order.
    pub(crate) fn other_meeting(&mut self, barrier: ObjectId) -> Option<ObjectId> {
        let are_ordered = self.meetings.barriers.get(&barrier).is_some_and(|it| it.are_ordered);
        let address = self.objects.address(barrier);
        (!are_ordered && !weak_memory::is_on()).then(|| self.objects.other_round(address))
    }
}

/// Waits at a barrier.
unsafe extern "C-unwind" fn barrier_wait(pointer: *mut libc::pthread_barrier_t) -> c_int {
    if !coroutine::in_program() {
        let real = real::original!(pthread_barrier_wait(*mut libc::pthread_barrier_t) -> c_int);
        // SAFETY: the caller wanted to call just this.
        return unsafe { real(pointer) };
    }
    let way = Arrival::noted(Kind::Update, [0; 2]).way(c_int::BITS as u8);
    spin::spoil();
    let barrier = pthread::barrier(pointer);
    let idx = machine::current().index();
    let is_told = results::tests(way).is_none_or(|tests| !tests.is_empty());
    let (parties, meeting) = machine::with(|machine| {
        let parties = machine.objects.state(barrier).parties.max(1);
        (parties, machine.meeting(idx, barrier, parties, is_told))
    });
    machine::visible(meeting.map_or(Operation::Arrive(barrier), Operation::Meet));
    // Others may have destroyed it while the thread was on its way.
    lifecycle::check(pointer as usize);
    let is_last = machine::with(|machine| {
        let arrived = machine.objects.state(meeting.unwrap_or(barrier)).arrived;
        machine.threads[idx].round_end = arrived.next_multiple_of(parties);
        arrived.is_multiple_of(parties)
    });
    machine::visible(match meeting {
        Some(barrier) => Operation::Part { barrier, parties },
        None => Operation::Leave { barrier, parties },
    });
    if is_last { SERIAL_THREAD } else { 0 }
}

watched! {
    pthread_barrier_wait => barrier_wait;
}
