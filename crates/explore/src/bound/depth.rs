//! Depth bound: how many steps an execution takes.
//!
//! Implements Coons' thesis, Definition 2.7, *Df*.
//!
//! Monotonic and stable, since all executions of a trace are of one length. Not extensible: an
//! independent step makes it longer. So a reduction saves nothing before the bound is met, and
//! [`LocalDepth`](super::local_depth::LocalDepth) is the bound to take.
//!
//! Differs from the thesis: nothing.

use super::{Before, Measure};
use mazurka_core::ThreadId;

/// Counts every step.
pub(crate) struct Depth;

impl Measure for Depth {
    fn after(&mut self, _before: &Before<'_>, so_far: u32, _thread: ThreadId) -> u32 {
        so_far + 1
    }
}
