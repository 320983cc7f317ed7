//! Locks of `std` around its output and its panic hook: steps of the program only where the
//! program can tell in which order threads have taken them.
//!
//! `println!` and the message of a panic take a lock and give it back within one call. Which line
//! comes first is not explored: such a lock is a part of the step in which it is taken
//! (`precompiled`). That is right while no thread does anything else under it. It is not where the
//! program calls `Stdout::lock` or `Stderr::lock`, and then has the lock over code of its own; not
//! where it prints a value whose `Display` takes steps; and not where it calls `panic::set_hook` or
//! `take_hook` beside other threads, whose panics find what it has left.
//!
//! So the instructions in question are redirected, too, and let pass ([`Part::is_met`]) until a
//! thread that is not alone comes to such a call, or gives a lock back in a later step than it has
//! taken it, or finds one taken. From then on all of that [`Group`] are met as the rest of `std`
//! is, and the search begins again: what was let pass was a part of steps that the search took for
//! independent of each other. Until then each lock was taken and given back within one step, and no
//! thread has seen it taken.
//!
//! A call of `Stdout::lock` by `std` itself is `println!` or its like, and is none of these. Its
//! caller is read from the frame, for all of `std` has frame pointers; a caller that is not found
//! counts as the program.

use crate::coroutine;
use crate::library::callers;
use crate::machine;
use crate::plain_accesses::CUT;
use std::sync::atomic::Ordering;

/// What is met, or let pass, together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// The locks of standard output and standard error.
    Output,
    /// The lock of the panic hook.
    Hook,
}

/// What a function of `std` is to these locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    group: Group,
    /// Whether the program calls it to have the lock, or to change what it guards.
    is_way_in: bool,
}

/// Parts of the names, as compilers write them, of functions that take the locks of output, and of
/// the test harness, which does so alone.
const OUTPUT: &str = "3std2io5stdio";
const HARNESS: &str = "_4test";
const LOCKS: [&str; 2] = ["6Stdout4lock", "6Stderr4lock"];
/// The same for the panic hook.
const PANICKING: &str = "3std9panicking";
const CHANGE_HOOK: [&str; 2] = ["8set_hook", "9take_hook"];
const CALL_HOOK: [&str; 2] = ["panic_with_hook", "rust_panic_with_hook"];

/// The part of a function, by its name.
pub(crate) fn part_of(name: &str) -> Option<Part> {
    let has_any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if name.contains(PANICKING) && (has_any(&CHANGE_HOOK) || has_any(&CALL_HOOK)) {
        return Some(Part { group: Group::Hook, is_way_in: has_any(&CHANGE_HOOK) });
    }
    let is_output = name.contains(OUTPUT) && !name.contains(HARNESS);
    is_output.then(|| Part { group: Group::Output, is_way_in: has_any(&LOCKS) })
}

/// What an instruction does to a lock, if it is about one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    Takes { is_free: bool },
    GivesBack,
    Other,
}

/// The groups that are met, over all executions.
#[derive(Debug, Default)]
pub(crate) struct Met {
    output: bool,
    hook: bool,
}

impl Met {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let Self { output, hook } = self;
        u64::from(*output) << 1 | u64::from(*hook)
    }

    fn of(&mut self, group: Group) -> &mut bool {
        match group {
            Group::Output => &mut self.output,
            Group::Hook => &mut self.hook,
        }
    }
}

impl Part {
    /// Whether only locked instructions take part: what is read of a lock before belongs to the
    /// running thread.
    pub(crate) fn is_locked_only(self) -> bool {
        self.group == Group::Output
    }

    /// Whether an instruction of the running thread is met, by what it does to a lock and where the
    /// frame of its function is.
    pub(crate) fn is_met(self, deed: Deed, frame: usize) -> bool {
        let me = machine::current().index();
        machine::with(|machine| {
            if *machine.std_locks.of(self.group) {
                return true;
            }
            if !machine.is_concurrent() {
                return false;
            }
            let depth = machine.depth;
            let has_locked_in = &mut machine.threads[me].has_locked_in;
            let is_shown = match deed {
                // Panics share the lock of their hook, and only a change of it keeps them out.
                _ if self.group == Group::Hook => false,
                Deed::Takes { is_free } => {
                    *has_locked_in = Some(depth);
                    !is_free
                }
                Deed::GivesBack => has_locked_in.take().is_some_and(|before| before != depth),
                Deed::Other => false,
            };
            if is_shown || self.is_way_in && is_called_by_program(frame) {
                *machine.std_locks.of(self.group) = true;
                CUT.store(true, Ordering::Relaxed);
            }
            false
        })
    }
}

/// Whether the function that has this frame was called by another one than of `std`.
fn is_called_by_program(frame: usize) -> bool {
    let returns_to = frame + size_of::<usize>();
    if !coroutine::is_own_stack(frame) || !coroutine::is_own_stack(returns_to) {
        return true;
    }
    // SAFETY: it is on the stack of the running thread, above its stack pointer.
    let caller = unsafe { std::ptr::read_volatile(returns_to as *const usize) };
    !callers::are_left_alone(caller)
}
