//! Every interleaving: every enabled thread may move.

use super::Scheduler;
use crate::Encoding;

/// No constraint at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interleaving;

impl Scheduler for Interleaving {
    fn name(&self) -> &'static str {
        "interleaving"
    }

    fn constrain(&self, _encoding: &mut Encoding) {}
}
