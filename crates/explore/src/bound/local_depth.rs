//! Local depth bound: how many steps the causal past of a step has, the step included.
//!
//! Implements Coons' thesis, Definition 7.7, *Ld*. The value of an execution is the largest over
//! its steps; a local state is within the bound exactly if some execution of at most so many
//! steps reaches it.
//!
//! Monotonic, stable and extensible (Theorems 41 and 42): the past of a step is the same in
//! every linearisation, and independent steps are not in it.
//!
//! Differs from the thesis: its clocks lose what a reader knew (`R'x[u] = Cu[u] + 1`), and count
//! too little in `x=0 | y=1 | x=1; r=y`. Here the past is taken from happens-before itself.

use super::{Before, Measure};
use mazurka_core::{Position, ThreadId};

/// Counts the past of the step that has the largest.
pub(crate) struct LocalDepth;

impl Measure for LocalDepth {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        let order = before.order;
        let mut found = Vec::new();
        order.predecessors(thread, before.operation(thread), &mut found);
        let own = order.clock(thread);
        let size = match found[..] {
            [] => order.size(own),
            [at] if order.knows(own, at) => order.size(own),
            _ => {
                let mut past: Vec<Position> = own.to_vec();
                for &at in &found {
                    let theirs = order.clock_at(at);
                    past.iter_mut()
                        .zip(theirs)
                        .for_each(|(mine, &other)| *mine = (*mine).max(other));
                }
                order.size(&past)
            }
        };
        so_far.max(size as u32 + 1)
    }
}
