//! A watchdog for the program under test: one that does not end in time is ended.
//!
//! The library in the program looks at the time limit and at interrupts itself, and tells what it
//! has learnt. It cannot do so if the program has destroyed it, or holds it up where it must not be
//! left. So the command waits a little longer than the limit, and no more than that after an
//! interrupt. What was told last is then all that is known.

use crate::interrupt;
use mazurka_core::Limit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long the program has to write its report.
const GRACE: Duration = Duration::from_millis(850);

/// A thread that looks at the clock.
pub(crate) struct Watchdog {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<Option<Limit>>>,
}

impl Watchdog {
    /// Ends the program that runs now when its time is over.
    pub(crate) fn start(limit: Option<Duration>) -> Self {
        let (end, is_over) = channel();
        let begun = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut interrupted = None;
            while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if interrupt::is_stopped() {
                    interrupted.get_or_insert_with(Instant::now);
                }
                let is_late = |limit: &Duration| begun.elapsed() >= limit.saturating_add(GRACE);
                let reached = limit.filter(is_late).map(Limit::Time).or_else(|| {
                    let since = interrupted.filter(|since| since.elapsed() >= GRACE)?;
                    (since > begun).then_some(Limit::Interrupted)
                });
                if reached.is_some() {
                    interrupt::end();
                    return reached;
                }
            }
            None
        });
        Self { end: Some(end), thread: Some(thread) }
    }

    /// The limit because of which the program was ended, if it was. It has ended by now.
    pub(crate) fn stop(mut self) -> Option<Limit> {
        self.end = None;
        self.thread.take().and_then(|thread| thread.join().ok()).flatten()
    }
}
