//! Random walk: at each state, any thread that can move, all with the same probability.
//!
//! An execution of k steps among n threads has probability at least n^(−k); no useful bound on
//! missing a bug follows, so none is stated.

use super::Pick;
use crate::view::View;
use fastrand::Rng;
use mazurka_core::ThreadId;

/// See the [module](self).
pub(crate) struct Walk;

impl Pick for Walk {
    fn begin(&mut self, _rng: &mut Rng) {}

    fn pick(&mut self, view: &View<'_>, rng: &mut Rng) -> ThreadId {
        let n = rng.usize(..view.enabled.len());
        view.enabled.iter().nth(n).expect("there are more than that")
    }
}
