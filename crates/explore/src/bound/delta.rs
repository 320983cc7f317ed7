//! Delta bound: how far an execution deviates from round-robin scheduling.
//!
//! Implements Coons' thesis, Definition 2.10, *De* (a form of the delay bound of Emmi, Qadeer and
//! Rakamarić, POPL 2011). The thread that moved last has the highest priority, those after it
//! follow in the order of their numbers and around; a step costs as much as there are enabled
//! threads of higher priority. Before the first step thread 0 has the highest.
//!
//! Monotonic. Neither stable nor extensible. In every state one step is free, and no two cost
//! the same.
//!
//! Differs from the thesis: beside a fair bound, threads that may not go on because of it are
//! passed over without cost.

use super::{Before, Measure};
use mazurka_core::{ThreadId, ThreadSet};

/// Charges one for each enabled thread that is passed over.
pub(crate) struct Delta;

impl Measure for Delta {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        let start = before.last().unwrap_or(ThreadId::new(0));
        so_far + ahead_of(thread, start, before.enabled).len() as u32
    }
}

/// Those of `enabled` that have a higher priority than `thread` when `start` has the highest.
pub(crate) fn ahead_of(thread: ThreadId, start: ThreadId, enabled: ThreadSet) -> ThreadSet {
    let turn = |other: ThreadId| (other < start, other);
    enabled.iter().filter(|&other| turn(other) < turn(thread)).collect()
}
