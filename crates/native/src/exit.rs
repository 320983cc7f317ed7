//! The end of the process: `exit` and its kin, the handlers that run then, and `pthread_exit` in
//! `main`.
//!
//! Ending the process changes no memory and wakes no thread. So the steps of other threads commute
//! with it: whatever they do after it, they also do in the execution in which it comes last, and
//! that one is real. Therefore the other threads go on, and one execution stands for all those in
//! which the process ends a little earlier. Two things tell them apart, and both are kept:
//!
//! - A thread that has ended the process has not ended itself ([`Status::Exited`]): no join of it
//!   returns. A thread that waits in the end waits in a process that is gone, which is no deadlock
//!   (`Ending::Exited`).
//! - The handlers of `atexit`, and the destructors of static objects, are a list that threads
//!   share. As long as one thread at a time uses it, its uses are no steps. Once two have used it
//!   beside each other in any execution, the search begins again ([`Machine::are_exits_seen`]),
//!   and from then on registering a handler and taking one off the list are steps. `exit` then
//!   takes a lock that is never given back: a second thread that calls it waits until the process
//!   is gone, as POSIX has it since 2024.
//!
//! `pthread_exit` in `main` ends that thread, and the process with the last thread. Which one comes
//! last is no matter of any step, so `main` runs the handlers: it waits for all others first
//! ([`await_all`]). To others it has ended by then
//! ([`Plain::has_left`](crate::thread::Plain::has_left)).

use crate::machine::{self, Machine};
use crate::names;
use crate::plain_accesses::CUT;
use crate::process::Handler;
use crate::real::replace;
use crate::thread::{Status, Thread};
use mazurka_core::{ObjectId, Operation as O, ThreadId, ViolationKind};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

/// Stand for the right to end the process and for the list of handlers, as addresses of operations.
static EXIT: [u8; 2] = [0; 2];
const LOCK: usize = 0;
const HANDLERS: usize = 1;

/// What stands at an address.
pub(crate) fn name_of(address: usize) -> Option<&'static str> {
    match address.checked_sub(&raw const EXIT as usize)? {
        LOCK => Some("the exit of the process"),
        HANDLERS => Some("the handlers of the exit"),
        _ => None,
    }
}

/// The running thread is about to use the list of handlers. What stands for it, if others may do
/// the same.
fn shared(what: usize) -> Option<ObjectId> {
    let me = machine::current().index();
    machine::with(|machine| {
        machine.has_handlers = true;
        if !machine.is_concurrent() {
            return None;
        }
        if machine.handlers_user.replace(me).is_some_and(|other| other != me)
            && !machine.are_exits_seen
        {
            machine.are_exits_seen = true;
            CUT.store(true, Ordering::Relaxed);
        }
        machine.are_exits_seen.then(|| machine.objects.at(&raw const EXIT[what] as usize))
    })
}

/// The list of handlers is used.
fn use_list() {
    if let Some(list) = shared(HANDLERS) {
        machine::visible(O::ReadModifyWrite(list));
    }
}

/// Registers what is called when the process exits.
pub(crate) fn register(handler: Handler) {
    use_list();
    machine::with(|machine| machine.exit_handlers.push(handler));
}

/// Takes the right to end the process. Who has it keeps it: a handler may call `exit` again.
fn lock() {
    let me = machine::current();
    if let Some(lock) = shared(LOCK)
        && machine::with(|machine| !machine.objects.held_by(me).any(|held| held == lock))
    {
        machine::visible(O::Acquire(lock));
    }
}

/// Calls handlers, the last one first.
fn run(status: c_int, list: impl Fn(&mut Machine) -> &mut Vec<Handler>) {
    // No execution so far had any.
    if machine::with(|machine| list(machine).is_empty() && !machine.has_handlers) {
        return;
    }
    lock();
    loop {
        use_list();
        let Some(handler) = machine::with(|machine| list(machine).pop()) else { break };
        handler.call(status);
    }
}

/// Ends the process in good order.
pub(crate) fn exit_program(status: c_int) -> ! {
    crate::process::run_thread_handlers();
    run(status, |machine| &mut machine.exit_handlers);
    leave_program(status)
}

/// Ends the process at once.
fn leave_program(status: c_int) -> ! {
    machine::with(|machine| machine.has_exited = true);
    if status != 0 && machine::with(|machine| machine.is_test) {
        machine::with(|machine| machine.sites.note_exit());
        machine::fail(ViolationKind::Panic, "the test failed".to_owned());
    }
    machine::stop()
}

/// `main` has ended by `pthread_exit`: the process ends when all other threads have.
pub(crate) fn await_all() -> ! {
    machine::await_all();
    exit_program(0)
}

/// Whether a thread waits for another one to end the process: Rust's `process::exit` lets the
/// second thread that comes to it call `pause` for ever.
pub(crate) fn is_awaited(stack: &[usize]) -> bool {
    let is_exit = |name: &String| name.contains("exit_guard") || name.contains("process::exit");
    names::functions_of(stack).iter().any(is_exit)
}

/// Stands for `pause` then.
pub(crate) extern "C-unwind" fn await_exit() -> c_int {
    machine::stop()
}

impl Machine {
    /// Whom `main` waits for after it has ended itself; none if all have ended.
    pub(crate) fn last_of_others(&self) -> Option<ThreadId> {
        let is_there = |thread: &Thread| thread.is_alive() || thread.status == Status::Exited;
        let others = self.threads.iter().skip(1);
        others.into_iter().position(is_there).map(|idx| ThreadId::new(idx + 1))
    }
}

replace! {
    fn exit(status: c_int) {
        exit_program(status)
    }

    fn on_exit(
        function: unsafe extern "C-unwind" fn(c_int, *mut c_void),
        argument: *mut c_void,
    ) -> c_int {
        register(Handler::WithStatus(function, argument));
        0
    }

    fn __cxa_at_quick_exit(
        function: unsafe extern "C-unwind" fn(),
        _module: *mut c_void,
    ) -> c_int {
        use_list();
        machine::with(|machine| machine.quick_handlers.push(Handler::WithNothing(function)));
        0
    }

    fn _exit(status: c_int) {
        leave_program(status)
    }

    fn _Exit(status: c_int) {
        leave_program(status)
    }

    fn quick_exit(status: c_int) {
        run(status, |machine| &mut machine.quick_handlers);
        leave_program(status)
    }
}
