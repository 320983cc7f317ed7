//! Interrupts: the first one asks the search to end and tell what it has covered, the second one
//! ends the command. A program under test does not outlive it.
//!
//! `timeout` sends its signal twice, to the command and to its group: what comes at once behind the
//! first one is not a second wish.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So soon nobody wants a second thing.
const AT_ONCE: Duration = Duration::from_millis(300);

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is heard.
pub(crate) fn catch() {
    // Without it an interrupt ends us at once, and nothing is lost but the summary.
    let _ = ctrlc::set_handler(|| {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        let first = *FIRST.get_or_init(Instant::now);
        if IS_INTERRUPTED.swap(true, Ordering::Relaxed) && first.elapsed() >= AT_ONCE {
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
