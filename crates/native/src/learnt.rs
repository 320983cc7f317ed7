//! What is known of the program by now, over all executions: whether it has grown, and which
//! executions have taught it.
//!
//! What matters to steps that were taken before voids the search
//! ([`CUT`](crate::plain_accesses::CUT)), and it begins again. The rest is known from then on. A
//! process that shares the search learns it alone, so its executions that have taught something are
//! followed once more by the process that began the search: what two of them have learnt may
//! together be what voids it.
//!
//! [`Machine::known`] is the one place that says what there is to know. A change that adds a table
//! that outlives an execution adds it there, and the compiler asks.

use crate::io;
use crate::machine::{self, Machine};
use mazurka_core::Schedule;
use std::sync::{Mutex, PoisonError};

/// The executions that have taught something since they were last taken.
static TEACHERS: Mutex<Teachers> = Mutex::new(Teachers { known: 0, schedules: Vec::new() });

struct Teachers {
    /// How much was known after the last execution.
    known: u64,
    schedules: Vec<Schedule>,
}

/// From now on, executions that teach are kept.
pub(crate) fn begin() {
    *teachers() = Teachers { known: machine::with(|it| it.known()), schedules: Vec::new() };
}

/// An execution has ended.
pub(crate) fn note(schedule: &Schedule) {
    let known = machine::with(|machine| machine.known());
    let mut teachers = teachers();
    if teachers.known != known {
        teachers.known = known;
        teachers.schedules.push(schedule.clone());
    }
}

/// How much is known after the last execution, and the executions that have taught it.
pub(crate) fn all() -> (u64, Vec<Schedule>) {
    let teachers = teachers();
    (teachers.known, teachers.schedules.clone())
}

/// An execution that has taught something before is taken again.
pub(crate) fn keep(schedule: &Schedule) {
    let known = machine::with(|machine| machine.known());
    let mut teachers = teachers();
    teachers.known = known;
    teachers.schedules.push(schedule.clone());
}

/// The executions that have taught something.
pub(crate) fn take() -> Vec<Schedule> {
    std::mem::take(&mut teachers().schedules)
}

fn teachers() -> std::sync::MutexGuard<'static, Teachers> {
    TEACHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Machine {
    /// A number that changes whenever something more is known.
    pub(crate) fn known(&self) -> u64 {
        let Self {
            watch,
            objects,
            threads,
            has_precompiled,
            first_assembly,
            weak_accesses,
            disciplines,
            rust_mutexes,
            patience,
            are_ends_seen,
            are_exits_seen,
            std_locks,
            has_handlers,
            has_cancellation,
            has_loops,
            doubts_first_rounds,
            counting_loops,
            counted_waits,
            meetings,
            loops,
            thread_names,
            has_clocks,
            trusted,
            clock,
            // The state of an execution, what only its last step needs, and what was asked for.
            heap: _,
            variables: _,
            first: _,
            checkpoints: _,
            depth: _,
            effect: _,
            value: _,
            order: _,
            passage: _,
            choice: _,
            n_moved: _,
            addition: _,
            violation: _,
            refusal: _,
            stuck: _,
            files: _,
            newborn: _,
            joiner: _,
            sites: _,
            is_shared: _,
            n_unjoined: _,
            n_lonely_reads: _,
            has_exited: _,
            handlers_user: _,
            retries: _,
            looks_for_leaks: _,
            is_test: _,
            has_refused: _,
            named_semaphores: _,
            are_races_allowed: _,
            keys: _,
            exit_handlers: _,
            quick_handlers: _,
            early_handlers: _,
            backtrace: _,
            is_backtrace_wanted: _,
            before_backtrace: _,
            locals: _,
            times: _,
            n_variables: _,
            weak_memory: _,
            site_orders: _,
            unseen_words: _,
            script: _,
            n_followed: _,
        } = self;
        let flags = [
            *has_precompiled,
            first_assembly.is_some(),
            *are_ends_seen,
            *are_exits_seen,
            *has_handlers,
            *has_cancellation,
            *has_loops,
            *doubts_first_rounds,
            *has_clocks,
            clock.is_used,
        ];
        let flags = flags.into_iter().fold(0, |all, is_set| all << 1 | u64::from(is_set));
        let numbers = [
            flags,
            patience.map_or(0, |n| u64::from(n) + 1),
            watch.known(),
            objects.known(),
            threads.len() as u64,
            thread_names.len() as u64,
            weak_accesses.known(),
            disciplines.known(),
            rust_mutexes.known(),
            trusted.known(),
            std_locks.known(),
            counting_loops.known(),
            counted_waits.known(),
            meetings.known(),
            loops.known(),
            io::n_used(),
        ];
        let of_threads = threads.iter().map(|it| it.lowest as u64 ^ (it.shared.len() as u64) << 48);
        numbers.into_iter().chain(of_threads).fold(0, mixed)
    }
}

/// Two numbers as one, in this order.
fn mixed(all: u64, next: u64) -> u64 {
    (all.rotate_left(5) ^ next).wrapping_mul(0x517c_c1b7_2722_0a95)
}
