//! Preemption bound: how often a thread is left that could have gone on.
//!
//! Implements Coons' thesis, Definition 2.9, *Pb* (after Musuvathi and Qadeer, PLDI 2007).
//!
//! Monotonic. Neither stable nor extensible: a switch costs or is free by what others have
//! enabled and disabled. There is always a free step, so no execution ends because of the bound.
//!
//! Differs from the thesis: beside a fair bound, a thread that may not go on because of it counts
//! as one that cannot, so that leaving it is free.

use super::{Before, Measure};
use mazurka_core::ThreadId;

/// Charges one for each switch away from a thread that could have gone on.
pub(crate) struct Preemption;

impl Measure for Preemption {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        let is_preempted = |last: ThreadId| last != thread && before.enabled.contains(last);
        so_far + u32::from(before.last().is_some_and(is_preempted))
    }
}
