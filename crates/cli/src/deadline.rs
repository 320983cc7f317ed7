//! A deadline for engines that run in this process: one that does not come back in time is not
//! waited for.
//!
//! Every engine looks at its limits and at interrupts itself. Some of what they do is long and not
//! divided, such as making a large circuit. So a thread waits a little longer than the limit, and
//! no more than that after an interrupt; then it tells that the limit was reached, and ends the
//! command. Who begins to tell first tells alone. States that are being saved are waited for.

use crate::interrupt;
use crate::output::Output;
use crate::tell::tell_limit;
use mazurka_core::Limit;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long an engine has to come back.
const GRACE: Duration = Duration::from_millis(800);

/// Waits until something is over, or longer than it may take: the limit that it has then reached by
/// more than `grace`.
fn reached(
    is_over: &Receiver<()>,
    limit: Option<Duration>,
    grace: Duration,
    is_stopped: impl Fn() -> bool,
) -> Option<Limit> {
    let begun = Instant::now();
    let mut stopped: Option<Instant> = None;
    while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        if is_stopped() {
            stopped.get_or_insert_with(Instant::now);
        }
        if mazurka_check::is_saving() {
            continue;
        }
        if let Some(limit) = limit.filter(|limit| begun.elapsed() >= limit.saturating_add(grace)) {
            return Some(Limit::Time(limit));
        }
        if stopped.is_some_and(|since| since.elapsed() >= grace) {
            return Some(Limit::Interrupted);
        }
    }
    None
}

/// Who tells the verdict.
static TELLER: Mutex<Teller> = Mutex::new(Teller::Nobody);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Teller {
    Nobody,
    Engine,
    Deadline,
}

/// A thread that looks at the clock until the value goes away.
#[must_use]
pub(crate) struct Deadline {
    _end: Sender<()>,
}

impl Deadline {
    /// From now on, so much time is left; `name` and `engine` are for the report.
    pub(crate) fn start(
        name: &str,
        engine: &'static str,
        limit: Option<Duration>,
        output: &Output,
    ) -> Self {
        let (end, is_over) = channel();
        let (name, output, begun) = (name.to_owned(), output.clone(), Instant::now());
        std::thread::spawn(move || {
            if let Some(limit) = reached(&is_over, limit, GRACE, interrupt::is_interrupted)
                && claim(Teller::Deadline)
            {
                tell_limit(&name, engine, limit, begun.elapsed(), &output);
            }
        });
        Self { _end: end }
    }
}

/// Says that the verdict of an engine is about to be told. If its deadline does so already, the
/// command ends, and this does not return.
pub(crate) fn begin_to_tell() {
    while !claim(Teller::Engine) {
        std::thread::park();
    }
}

/// Whether no other thread has begun to tell.
fn claim(teller: Teller) -> bool {
    let mut now = TELLER.lock().unwrap_or_else(PoisonError::into_inner);
    let is_free = *now == Teller::Nobody || *now == teller;
    if is_free {
        *now = teller;
    }
    is_free
}
