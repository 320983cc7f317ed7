//! Fair bound: how much more often a thread may yield than one that could have moved instead.
//!
//! Implements Coons' thesis, Definition 2.11, *Fb* (after Musuvathi and Qadeer, PLDI 2008). A
//! thread that waits in a loop yields in every round of it; the bound says how many rounds the
//! others may be kept from moving.
//!
//! Monotonic. Neither stable nor extensible: it looks at who is enabled. The thread that has
//! yielded least is always within the bound, so no execution ends because of it. It cuts only what
//! yields.
//!
//! Differs from the thesis: there the difference has the wrong sign, and a loop that waits never
//! ends (`while x!=1 { yield } | x=1`). Here the value of a step of *t* is the largest *Yc(t) -
//! Yc(u)* over all enabled *u*, with the counts before the step.

use super::{Before, Measure};
use mazurka_core::{Operation, ThreadId};

/// Counts yields, thread by thread.
#[derive(Default)]
pub(crate) struct Fair {
    /// Per thread.
    yields: Vec<u32>,
    /// Who yielded, for each step.
    steps: Vec<Option<ThreadId>>,
}

impl Fair {
    fn yields(&self, thread: ThreadId) -> u32 {
        self.yields.get(thread.index()).copied().unwrap_or(0)
    }
}

impl Measure for Fair {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        let least = before.enabled.iter().map(|other| self.yields(other)).min().unwrap_or(0);
        so_far.max(self.yields(thread).saturating_sub(least))
    }

    fn push(&mut self, before: &Before<'_>, thread: ThreadId) {
        let yields = before.operation(thread) == Operation::Yield;
        if yields {
            if self.yields.len() <= thread.index() {
                self.yields.resize(thread.index() + 1, 0);
            }
            self.yields[thread.index()] += 1;
        }
        self.steps.push(yields.then_some(thread));
    }

    fn pop(&mut self) {
        if let Some(thread) = self.steps.pop().flatten() {
            self.yields[thread.index()] -= 1;
        }
    }
}
