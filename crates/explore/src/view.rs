//! Views: the state at the end of the execution in progress, as a reduction sees it.

use crate::bound::Over;
use mazurka_core::{HappensBefore, Next, Operation, Position, System, ThreadId, ThreadSet};

/// The execution so far, and what every thread would do next.
pub(crate) struct View<'a> {
    /// The steps taken, and their order.
    pub(crate) order: &'a HappensBefore,
    /// What each thread would do next.
    pub(crate) next: &'a [Next],
    /// The threads that can move.
    pub(crate) enabled: ThreadSet,
    /// The enabled threads whose next step would exceed a bound.
    pub(crate) over: &'a Over,
    /// The program, for those that ask it more.
    pub(crate) system: &'a dyn System,
}

impl View<'_> {
    /// How many steps were taken.
    pub(crate) fn depth(&self) -> usize {
        self.order.len()
    }

    /// What `thread` would do next, enabled or not.
    pub(crate) fn operation(&self, thread: ThreadId) -> Option<Operation> {
        self.next[thread.index()].operation()
    }

    /// In how many ways `thread` can take its next step.
    pub(crate) fn choices(&self, thread: ThreadId) -> u32 {
        match self.next[thread.index()] {
            Next::Enabled { choices, .. } => choices,
            _ => 0,
        }
    }

    /// Every thread that would do something, enabled or not, with what it would do.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (ThreadId, Operation)> + '_ {
        self.next
            .iter()
            .enumerate()
            .filter_map(|(idx, next)| Some((ThreadId::new(idx), next.operation()?)))
    }

    /// Who moved last.
    pub(crate) fn last(&self) -> Option<ThreadId> {
        let last = self.order.len() as Position;
        (last > 0).then(|| self.order.thread(last))
    }

    /// The thread that moved last, or the next one in turn.
    pub(crate) fn staying(&self, among: ThreadSet) -> Option<ThreadId> {
        match self.last() {
            Some(last) if among.contains(last) => Some(last),
            Some(last) => among.next_after(last),
            None => among.first(),
        }
    }

    /// The thread to try first: the one that moved last, so that there are few switches; after a
    /// yield, the next one, so that a loop that waits does not starve what it waits for.
    #[inline]
    pub(crate) fn preferred(&self, among: ThreadSet) -> Option<ThreadId> {
        let last = self.order.len() as Position;
        if last == 0 {
            return among.first();
        }
        let thread = self.order.thread(last);
        if among.contains(thread) && !matches!(self.order.operation(last), Operation::Yield) {
            return Some(thread);
        }
        among.next_after(thread)
    }
}
