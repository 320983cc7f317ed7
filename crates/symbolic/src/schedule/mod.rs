//! Schedulers: which of the threads that can move may take the step of a frame.
//!
//! A scheduler is constraints on a circuit that lets all of them ([`Scheduler::constrain`]), and it
//! may add latches. None may lose a violation that another one leaves reachable.

mod interleaving;

use crate::Encoding;
pub use interleaving::Interleaving;

/// Says who may move.
pub trait Scheduler {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;

    /// Adds its constraints to a circuit.
    fn constrain(&self, encoding: &mut Encoding);
}
