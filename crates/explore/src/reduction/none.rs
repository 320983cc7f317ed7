//! No reduction: every enabled thread, at every state. The judge of all others.
//!
//! Implements the search of Godefroid (LNCS 1032, 1996), Fig. 4.1; with sleep sets beside it,
//! Fig. 5.1.
//!
//! Differs: nothing.

use super::stack::{Policy, Stack};
use crate::view::View;
use mazurka_core::ThreadSet;

/// Takes every enabled step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct None;

impl Policy for None {
    fn initial(&self, view: &View<'_>, _awake: ThreadSet) -> ThreadSet {
        view.enabled
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: mazurka_core::ThreadId) {}
    fn at_state(_stack: &mut Stack<Self>, _view: &View<'_>) {}
    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}
