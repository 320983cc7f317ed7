//! Local context bound: how many switches between threads the causal past of a step has.
//!
//! Implements Coons' thesis, Definition 7.9, *Lc*. Every step has a clock, with a count for each
//! thread: how often that thread had to be left, as far as the step can know. It is the maximum
//! over the thread's own step before, and, for each step of another thread that it follows at once,
//! that step's clock with one more for its thread. The value of a step is the sum of its clock; the
//! value of an execution, the largest over its steps.
//!
//! Monotonic, stable and extensible: the steps that a step follows at once are the same in every
//! linearisation.
//!
//! It is never more than the number of context switches of the execution, and may be less: within
//! the same limit this bound reaches all that [`Context`](super::context::Context) reaches, and
//! more (`x=1; y=0 | r=x; r=y | y=1; x=1`, limit 2).
//!
//! Differs from the thesis: there the value depends on the order of two reads (*Ox* is lost when
//! another thread reads), so it is not stable: `r=x; x=1 | x=1; r=x`. Here a write follows all
//! reads since the last write with their whole clocks, and a read follows the last write,
//! whichever threads read in between. The first step has the value 0, not 1.

use super::{Before, Measure};
use mazurka_core::{Position, ThreadId};

/// Counts the switches that a step knows of, thread by thread.
#[derive(Default)]
pub(crate) struct LocalContext {
    /// Threads there is room for: the length of a clock.
    stride: usize,
    /// One clock for each step.
    clocks: Vec<u32>,
    /// The clock that was asked for last, and the steps it follows; kept to be used again.
    clock: Vec<u32>,
    found: Vec<Position>,
}

impl LocalContext {
    /// The clock that the next step of `thread` would have.
    fn look(&mut self, before: &Before<'_>, thread: ThreadId) {
        self.make_room(before.next.len());
        let Self { stride, clocks, clock, found } = self;
        let row = |at: Position| &clocks[(at as usize - 1) * *stride..at as usize * *stride];
        clock.clear();
        match before.order.steps_of(thread).last() {
            Some(&own) => clock.extend_from_slice(row(own)),
            None => clock.resize(*stride, 0),
        }
        before.order.predecessors(thread, before.operation(thread), found);
        for &at in &*found {
            let owner = before.order.thread(at).index();
            for (idx, (mine, &theirs)) in clock.iter_mut().zip(row(at)).enumerate() {
                *mine = (*mine).max(theirs + u32::from(idx == owner));
            }
        }
    }

    fn make_room(&mut self, n_threads: usize) {
        if n_threads <= self.stride {
            return;
        }
        let stride = n_threads.next_power_of_two();
        let mut clocks = Vec::with_capacity(self.clocks.len() / self.stride.max(1) * stride);
        for row in self.clocks.chunks(self.stride.max(1)) {
            clocks.extend_from_slice(row);
            clocks.resize(clocks.len() + stride - row.len(), 0);
        }
        self.clocks = clocks;
        self.stride = stride;
    }
}

impl Measure for LocalContext {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        self.look(before, thread);
        so_far.max(self.clock.iter().sum())
    }

    fn push(&mut self, before: &Before<'_>, thread: ThreadId) {
        self.look(before, thread);
        self.clocks.extend_from_slice(&self.clock);
    }

    fn pop(&mut self) {
        self.clocks.truncate(self.clocks.len() - self.stride);
    }
}
