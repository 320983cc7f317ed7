//! Context bound: how often the execution goes on with another thread.
//!
//! Implements Coons' thesis, Definition 2.8, *Cs* (after Musuvathi and Qadeer, PLDI 2007).
//!
//! Monotonic. Neither stable nor extensible: which switches there are is a matter of the
//! linearisation.
//!
//! Differs from the thesis: nothing.

use super::{Before, Measure};
use mazurka_core::ThreadId;

/// Charges one for each switch.
pub(crate) struct Context;

impl Measure for Context {
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32 {
        so_far + u32::from(before.last().is_some_and(|last| last != thread))
    }
}
