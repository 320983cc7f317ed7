//! Room for the checks of a model, kept between them.

use super::graph::EventId;
use super::rc11::Mode;

/// What a check has visited and still has to, so that it allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) visited: Vec<bool>,
    pub(crate) stack: Vec<EventId>,
    /// By event, in which [modes](Mode) a check has come to it, as bits.
    pub(crate) modes: Vec<u8>,
    pub(crate) ways: Vec<(EventId, Mode)>,
}
