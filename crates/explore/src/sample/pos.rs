//! Partial order sampling: every pending step has a random priority, and those that race with the
//! step that was taken draw a new one.
//!
//! Implements Yuan, Yang and Gu, *Partial Order Aware Concurrency Sampling* (CAV 2018), the
//! algorithm POS of section 4.
//!
//! | paper                                              | here                        |
//! |----------------------------------------------------|-----------------------------|
//! | *pri*, drawn from U(0, 1) for each event           | [`Pos::priorities`]         |
//! | the enabled event of highest priority is executed  | [`Pos::pick`]               |
//! | events that race with it get a new priority        | [`Pos::draw_again`]         |
//!
//! Differs: nothing. The paper bounds the probability of each partial order from below by numbers
//! that no search knows before it has seen them all; the verdict states none.

use super::Pick;
use crate::view::View;
use fastrand::Rng;
use mazurka_core::{Position, ThreadId, dependent};

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Pos {
    /// For each thread by its number, the priority of its next step.
    priorities: Vec<u64>,
}

impl Pos {
    /// Draws priorities for the step that comes after the last one in its thread, and for all that
    /// race with the last one.
    fn draw_again(&mut self, view: &View<'_>, rng: &mut Rng) {
        let Some(last) = view.last() else { return };
        let taken = view.order.operation(view.depth() as Position);
        for (thread, operation) in view.operations() {
            if thread == last || dependent(operation, taken) {
                self.priorities[thread.index()] = rng.u64(..);
            }
        }
    }
}

impl Pick for Pos {
    fn begin(&mut self, _rng: &mut Rng) {
        self.priorities.clear();
    }

    fn pick(&mut self, view: &View<'_>, rng: &mut Rng) -> ThreadId {
        while self.priorities.len() < view.next.len() {
            self.priorities.push(rng.u64(..));
        }
        self.draw_again(view, rng);
        let highest = view.enabled.iter().max_by_key(|thread| self.priorities[thread.index()]);
        highest.expect("some thread is enabled")
    }
}
