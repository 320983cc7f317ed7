//! The virtual clock: time passes when no thread can move, and goes on to the earliest deadline.
//!
//! Implements the discrete-event time of simulation, as in Misra, *Distributed Discrete-Event
//! Simulation* (ACM Computing Surveys 18(1), 1986), section 1: the clock jumps to the time of the
//! next event.
//!
//! A thread that sleeps, or waits for something until a deadline, has the deadline in
//! [`Plain::deadline`](crate::thread::Plain). It goes on when what it waits for has come; when the clock is
//! there already; or when no thread can move and no other deadline is earlier: then the clock goes
//! on to it ([`Effect::Elapsed`](mazurka_core::Effect)), and that step comes after all steps before
//! it. So nothing that a program does takes longer than a timeout waits for, which the verdict
//! says.
//!
//! No timer ends early or to the nanosecond, so the clock goes on to just behind the deadline: who
//! asks how long it has waited is told more than it wanted to wait, and does not wait again for no
//! time at all, as `Condvar::wait_timeout_while` would for ever. What would be less than [`SLACK`]
//! later has come with it, so times that only differ by this are still the same.
//!
//! All threads see one clock, so times are monotonic across threads. A look at it is no operation:
//! every step after one in which time has passed is caused by it, so no thread can see two times in
//! two linearisations of one trace. A thread that only looks at the clock, waiting for it to go on,
//! sleeps a little at every [`PATIENT_LOOKS`]th look.
//!
//! Once the process has ended, no time passes: a thread that can end it does so before. Threads
//! that sleep in a loop for ever, as those that tests leave behind, go no further then (`exit`).
//!
//! Where many waits of one thread expire, it may poll for ever. From the [`MAX_EXPIRIES`]th on its
//! waits with a limit are waits without one, as `timed` has it, and the coverage says so. Only if
//! the thread waits for no time at all, some passes first: it may ask for how long it has waited.
//!
//! Differs from the paper: threads that run take no time, and events within [`SLACK`] are one.
//!
//! With `--time any` none of this is used, and a wait expires at any moment: see `timed`.

use crate::machine::{self, Machine};
use crate::thread::Status;
use crate::trusted::Predicate;
use mazurka_core::{ObjectId, Operation as O};

/// So many looks at a clock that stands still are for other reasons than to wait.
const PATIENT_LOOKS: u32 = 64;
/// How long a thread sleeps that looks more often, in nanoseconds.
const LITTLE: u64 = 1_000_000;
/// Deadlines that are no further apart, in nanoseconds, have come together. It is more than sums of
/// waits differ by, each of which ends one nanosecond behind its deadline.
const SLACK: u64 = 1_000;
/// How often the waits of one thread may expire in one execution.
pub(crate) const MAX_EXPIRIES: u32 = 100;

/// The clock of the process.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// In nanoseconds since the program began.
    pub(crate) now: u64,
    /// Whether it is virtual; else each thread has its own, and waits expire at any moment.
    pub(crate) is_virtual: bool,
    /// Whether any thread of any execution has waited with a limit, or slept.
    pub(crate) is_used: bool,
}

/// Whether time is virtual.
pub(crate) fn is_virtual() -> bool {
    machine::with(|machine| machine.clock.is_virtual)
}

/// The time at which so many nanoseconds will have passed.
pub(crate) fn after(nanoseconds: u64) -> u64 {
    machine::with(|machine| machine.clock.now.saturating_add(nanoseconds))
}

/// Sleeps until a time.
pub(crate) fn sleep_until(deadline: u64) {
    wait(O::Elapse, Predicate::Usual, deadline);
}

/// Waits for a wake from a queue until a time. Whether that came before the wake.
pub(crate) fn resume_until(queue: ObjectId, deadline: u64) -> bool {
    wait(O::Timeout(queue), Predicate::Usual, deadline)
}

/// Waits until an operation on an object would be possible, or until a time. Whether that has come.
pub(crate) fn await_until(object: ObjectId, operation: O, deadline: u64) -> bool {
    wait(O::Await(object), Predicate::Allowed(operation), deadline)
}

/// Announces an operation that is possible by its predicate or at a time. Whether the time has
/// come.
pub(crate) fn wait(operation: O, predicate: Predicate, deadline: u64) -> bool {
    assert!(operation.may_block(), "{operation:?} is always possible, so it cannot wait");
    let me = machine::current().index();
    machine::with(|machine| {
        machine.clock.is_used = true;
        let is_sleep = operation == O::Elapse;
        let n_in_vain = machine.threads[me].n_in_vain;
        let is_late = !is_sleep && n_in_vain >= MAX_EXPIRIES;
        if is_late {
            machine.suppose_patience(MAX_EXPIRIES);
        }
        let is_poll = deadline <= machine.clock.now && n_in_vain < 2 * MAX_EXPIRIES;
        let is_patient = is_late && !is_poll;
        let deadline = deadline.max(if is_late { machine.clock.now + LITTLE } else { 0 });
        let thread = &mut machine.threads[me];
        thread.is_patient = is_patient;
        thread.deadline = Some(deadline).filter(|_| !is_patient);
        thread.has_expired = false;
        thread.predicate = predicate;
    });
    machine::visible_call(operation);
    machine::with(|machine| {
        let thread = &mut machine.threads[me];
        thread.deadline = None;
        thread.is_patient = false;
        thread.predicate = Predicate::Usual;
        thread.n_looks = 0;
        thread.n_in_vain += u32::from(thread.has_expired && operation != O::Elapse);
        thread.has_expired
    })
}

/// The running thread looks at the clock.
pub(crate) fn look() -> u64 {
    let me = machine::current().index();
    let is_impatient = machine::with(|machine| {
        let thread = &mut machine.threads[me];
        thread.n_looks += 1;
        thread.n_looks > PATIENT_LOOKS && !thread.is_quiet
    });
    if is_impatient {
        sleep_until(after(LITTLE));
    }
    machine::with(|machine| machine.clock.now)
}

impl Machine {
    /// Whether the time of a thread that waits until a deadline has come, or would pass now.
    #[cold]
    fn has_come_slowly(&self, idx: usize, deadline: u64) -> bool {
        if deadline <= self.clock.now {
            return true;
        }
        if self.threads.iter().any(|it| it.status == Status::Exited) {
            return false;
        }
        let key = |idx: usize| self.threads[idx].deadline.map(|deadline| (deadline, idx));
        let others = || (0..self.threads.len()).filter(|&other| other != idx);
        !others().any(|other| self.is_ready(other))
            && others().all(|other| {
                let is_waiting = self.threads[other].status == Status::Running;
                !is_waiting || key(other).is_none_or(|other| other > (deadline, idx))
            })
    }

    /// The same for any thread.
    #[inline]
    pub(crate) fn has_come(&self, idx: usize) -> bool {
        let thread = &self.threads[idx];
        thread.status == Status::Running
            && thread.deadline.is_some_and(|deadline| self.has_come_slowly(idx, deadline))
    }

    /// A thread that waits until a deadline goes on. Whether time has passed for that.
    #[cold]
    pub(crate) fn expire(&mut self, idx: usize) -> bool {
        let Some(deadline) = self.threads[idx].deadline else { return false };
        let is_ready = self.is_ready(idx);
        self.threads[idx].has_expired = !is_ready;
        let has_elapsed = !is_ready && deadline > self.clock.now;
        if has_elapsed {
            let waiting = self.threads.iter().filter(|it| it.status == Status::Running);
            let deadlines = waiting.filter_map(|it| it.deadline);
            let come = deadlines.filter(|it| it.saturating_sub(deadline) <= SLACK);
            self.clock.now = come.max().unwrap_or(deadline).saturating_add(1);
        }
        has_elapsed
    }
}
