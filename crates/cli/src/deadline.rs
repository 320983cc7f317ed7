//! A deadline for engines that run in this process: one that does not come back in time is not
//! waited for.
//!
//! Every engine looks at its limits and at interrupts itself. Some of what they do is long and not
//! divided, such as making a large circuit. So a thread waits a little longer than the limit, and
//! no more than that after an interrupt; then it tells that the limit was reached, and ends the
//! command. Who begins to tell first tells alone.

use crate::arguments::Output;
use crate::{interrupt, tell_now};
use mazurka_core::{Limit, Statistics, Verdict};
use mazurka_report::Report;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long an engine has to come back.
const GRACE: Duration = Duration::from_millis(800);

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
            let mut interrupted = None;
            while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if interrupt::is_interrupted() {
                    interrupted.get_or_insert_with(Instant::now);
                }
                let is_late = |limit: &Duration| begun.elapsed() >= limit.saturating_add(GRACE);
                let has_waited = |since: Instant| since.elapsed() >= GRACE;
                let reached = limit
                    .filter(is_late)
                    .map(Limit::Time)
                    .or_else(|| interrupted.is_some_and(has_waited).then_some(Limit::Interrupted));
                if let Some(limit) = reached {
                    give_up(&name, engine, limit, begun.elapsed(), &output);
                    return;
                }
            }
        });
        Self { _end: end }
    }
}

/// The time for so many searches, each of which has so much.
pub(crate) fn for_all(limit: Option<Duration>, n_searches: usize) -> Option<Duration> {
    limit.map(|limit| limit.saturating_mul(u32::try_from(n_searches).unwrap_or(u32::MAX)))
}

/// Says that the verdict of an engine is about to be told. If its deadline does so already, the
/// command ends, and this does not return.
pub(crate) fn begin_to_tell() {
    while !claim(Teller::Engine) {
        std::thread::park();
    }
}

/// Whether nobody else has begun to tell.
fn claim(teller: Teller) -> bool {
    let mut now = TELLER.lock().unwrap_or_else(PoisonError::into_inner);
    let is_free = *now == Teller::Nobody || *now == teller;
    if is_free {
        *now = teller;
    }
    is_free
}

/// Tells that a limit was reached, and ends the command, unless its verdict is being told.
fn give_up(name: &str, engine: &'static str, limit: Limit, elapsed: Duration, output: &Output) {
    if !claim(Teller::Deadline) {
        return;
    }
    let (verdict, statistics) = (Verdict::Inconclusive(limit), Statistics::default());
    let mut report = Report::new(name, engine, &verdict, &statistics, elapsed);
    report.notes.push("the engine was ended before it could tell how far it was".to_owned());
    let status = tell_now(&report, output).unwrap_or(mazurka_report::ExitStatus::WrongInput);
    std::process::exit(status.code().into());
}
