//! Interrupts: the first one asks the search to end and tell what it has covered, the second one
//! ends the command. A program under test does not outlive it.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is heard.
pub(crate) fn catch() {
    // Without it an interrupt ends us at once, and nothing is lost but the summary.
    let _ = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// What is set once a search is to stop.
pub(crate) fn flag() -> &'static AtomicBool {
    &IS_INTERRUPTED
}

/// Whether the user wants an end of it.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}
