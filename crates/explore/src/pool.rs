//! Work that several workers share: whoever has nothing to do takes a unit, whoever has too much
//! gives one when somebody waits.

use crate::explorer::ExploreError;
use crate::search::Found;
use crate::unit::Unit;
use mazurka_core::{Limit, Statistics};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the workers of one search have in common.
pub(crate) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// How many workers wait for work.
    n_hungry: AtomicUsize,
    stopped: AtomicBool,
    pub(crate) executions: AtomicU64,
}

struct State {
    units: Vec<Unit>,
    n_busy: usize,
    reason: Option<Reason>,
    reports: Vec<Report>,
}

/// Why a search stopped before it was done.
#[derive(Debug)]
pub(crate) enum Reason {
    Violated,
    Limit(Limit),
    Error(ExploreError),
}

/// What one worker has to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) statistics: Statistics,
    pub(crate) found: Option<Found>,
    pub(crate) cut: bool,
    pub(crate) frontier: u64,
    pub(crate) explored: f64,
}

impl Pool {
    pub(crate) fn new(units: Vec<Unit>, n_workers: usize) -> Self {
        let reports = vec![Report::default(); n_workers];
        let state = State { units, n_busy: 0, reason: None, reports };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            n_hungry: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            executions: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A unit to work on; waits while others may still find some. `None` when all is done, or the
    /// search was stopped.
    pub(crate) fn take(&self) -> Option<Unit> {
        let mut state = self.lock();
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(unit) = state.next_unit() {
                state.n_busy += 1;
                return Some(unit);
            }
            if state.n_busy == 0 {
                self.changed.notify_all();
                return None;
            }
            self.n_hungry.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.n_hungry.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A worker has come to the end of its unit.
    pub(crate) fn done(&self) {
        self.lock().n_busy -= 1;
        self.changed.notify_all();
    }

    /// Puts units back, for others or for later.
    pub(crate) fn put(&self, units: impl IntoIterator<Item = Unit>) {
        self.lock().units.extend(units);
        self.changed.notify_one();
    }

    /// Whether some worker waits for work.
    pub(crate) fn is_hungry(&self) -> bool {
        self.n_hungry.load(Ordering::Relaxed) > 0
    }

    /// Ends the search; the first reason counts.
    pub(crate) fn stop(&self, reason: Reason) {
        let mut state = self.lock();
        state.reason.get_or_insert(reason);
        self.stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether the search was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Replaces what a worker has said, and tells what all have said.
    pub(crate) fn report(&self, worker: usize, report: Report) -> Vec<Report> {
        let mut state = self.lock();
        state.reports[worker] = report;
        state.reports.clone()
    }

    /// What is left in the end: units that nobody took, why it stopped, and the reports.
    pub(crate) fn close(self) -> (Vec<Unit>, Option<Reason>, Vec<Report>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.units, state.reason, state.reports)
    }
}

/// Ends the search when the worker that holds it panics, so that the others do not wait for it.
pub(crate) struct StopOnPanic<'a>(pub(crate) &'a Pool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Reason::Limit(Limit::Interrupted));
        }
    }
}

impl State {
    fn next_unit(&mut self) -> Option<Unit> {
        // Nodes that several workers share stay: races may add to them as long as one is below.
        self.units.retain(|unit| match unit {
            Unit::Stack(unit) => unit.is_in_use() || unit.has_work(),
            _ => true,
        });
        let idx = self.units.iter().position(|unit| match unit {
            Unit::Stack(unit) => unit.has_work(),
            _ => true,
        })?;
        Some(match &self.units[idx] {
            Unit::Stack(unit) => Unit::Stack(unit.clone()),
            _ => self.units.swap_remove(idx),
        })
    }
}
