//! Early ends and slow tests of a run.

use crate::{End, Event, Listener, RunOptions, Stopped};
use mazurka_check::Task;
use mazurka_core::Verdict;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks at a run: when its tests are to stop, and which of them are slow.
pub(crate) struct Watch<'a> {
    begun: Instant,
    options: &'a RunOptions,
    /// What the user wants an end of it by.
    interrupt: Option<&'static AtomicBool>,
    /// Makes the searches that run stop.
    pub(crate) stop: &'static AtomicBool,
    has_failed: AtomicBool,
    running: Mutex<BTreeMap<usize, Running>>,
}

/// A test that runs.
struct Running {
    name: String,
    is_alone: bool,
    begun: Instant,
    /// When it is told next that it is slow.
    told_at: Duration,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(begun: Instant, options: &'a RunOptions, task: &Task) -> Self {
        Self {
            begun,
            options,
            interrupt: task.stop,
            // A task wants one that stays; a process has few runs.
            stop: Box::leak(Box::default()),
            has_failed: AtomicBool::new(false),
            running: Mutex::default(),
        }
    }

    /// Whether the user wants an end of it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|it| it.load(Ordering::Relaxed))
    }

    /// What is left of the time for all tests, if that has a limit.
    fn time_left(&self) -> Option<Duration> {
        self.options.total_time.map(|limit| limit.saturating_sub(self.begun.elapsed()))
    }

    /// Why no test is to be begun any more, if so.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        if self.is_interrupted() {
            Some(Stopped::Interrupted)
        } else if self.options.fail_fast && self.has_failed.load(Ordering::Relaxed) {
            Some(Stopped::Failed)
        } else if self.time_left().is_some_and(|left| left.is_zero()) {
            Some(Stopped::TotalTime)
        } else {
            None
        }
    }

    /// Lets a test take no longer than the run may. Whether that is less than it had.
    pub(crate) fn limit(&self, task: &mut Task) -> bool {
        let Some(left) = self.time_left() else { return false };
        // The verdict names it, and nanoseconds are of no use.
        let left = Duration::from_millis(left.as_millis().try_into().unwrap_or(u64::MAX));
        let limit = &mut task.options.time_limit;
        let is_cut = limit.is_none_or(|limit| left < limit);
        if is_cut {
            task.shares_time |= limit.is_none();
            *limit = Some(left);
        }
        is_cut
    }

    pub(crate) fn begin(&self, idx: usize, name: &str, is_alone: bool) {
        let (name, told_at) = (name.to_owned(), self.options.slow_after);
        let running = Running { name, is_alone, begun: Instant::now(), told_at };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(idx, running);
    }

    pub(crate) fn end(&self, idx: usize, end: &End) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&idx);
        let is_failed = match end {
            End::Checked(checked) => matches!(checked.outcome.verdict, Verdict::Violated(_)),
            End::Failed(_) => true,
            End::NotRun => false,
        };
        if is_failed {
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Passes on that the run is to stop, and tells which tests are slow, until it is over. A test
    /// whose time is over ends by itself.
    pub(crate) fn run(&self, is_over: &Receiver<()>, listener: &dyn Listener) {
        while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if matches!(self.stopped(), Some(Stopped::Interrupted | Stopped::Failed)) {
                self.stop.store(true, Ordering::Relaxed);
            }
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            for test in running.values_mut() {
                let elapsed = test.begun.elapsed();
                if elapsed >= test.told_at {
                    let Running { name, is_alone, .. } = test;
                    listener.event(&Event::Slow { name, elapsed, is_alone: *is_alone });
                    test.told_at = elapsed.saturating_mul(2).max(Duration::from_secs(1));
                }
            }
        }
    }
}
