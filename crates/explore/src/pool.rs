//! Work that several workers share: an idle worker takes a unit, and one that has too much
//! gives one when another waits.

use crate::bound::{Exceeded, Waits};
use crate::explorer::ExploreError;
use crate::order::TreeSize;
use crate::peers::{self, Peers};
use crate::reduction::stack::StackNote;
use crate::search::Found;
use crate::unit::Unit;
use mazurka_core::{Limit, Sample, Statistics};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the workers of one search have in common.
pub(crate) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// How many workers wait for work.
    n_hungry: AtomicUsize,
    stopped: AtomicBool,
    /// Whether an execution was left in the middle.
    abandoned: AtomicBool,
    pub(crate) executions: AtomicU64,
}

struct State {
    /// Units that no worker has.
    units: Vec<Unit>,
    /// Units that a worker has, and others can help with.
    notes: Vec<StackNote>,
    n_busy: usize,
    reason: Option<Reason>,
    reports: Vec<Report>,
}

/// Why a search stopped before it was done.
#[derive(Debug)]
pub(crate) enum Reason {
    Violated,
    /// The search has to begin again.
    Learnt,
    Limit(Limit),
    Error(ExploreError),
    /// Another process has a reason.
    Peer,
}

/// What one worker has to say.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) statistics: Statistics,
    pub(crate) found: Option<Found>,
    pub(crate) cut: bool,
    /// What was learnt of loops that wait.
    pub(crate) learnt: Option<Waits>,
    pub(crate) exceeded: Exceeded,
    /// Some thread has yielded.
    pub(crate) yields: bool,
    pub(crate) frontier: u64,
    pub(crate) explored: f64,
    pub(crate) tree: Option<TreeSize>,
    pub(crate) sample: Option<Sample>,
}

impl Pool {
    pub(crate) fn new(units: Vec<Unit>, n_workers: usize) -> Self {
        let reports = vec![Report::default(); n_workers];
        let state = State { units, notes: Vec::new(), n_busy: 0, reason: None, reports };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            n_hungry: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            executions: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the search because of a limit, in the middle of an execution.
    pub(crate) fn abandon(&self, limit: Limit) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.stop(Reason::Limit(limit));
    }

    /// Whether an execution was left in the middle.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// A unit to work on; waits while others may still find some, other processes among them.
    /// `None` when all is done, or the search was stopped.
    pub(crate) fn take(&self, peers: Option<&dyn Peers>) -> Option<Unit> {
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
                drop(state);
                let unit = peers.and_then(Peers::take)?;
                self.lock().n_busy += 1;
                return Some(peers::from_bytes(&unit));
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

    /// Ends the search; the first reason counts, but that what was explored is void.
    pub(crate) fn stop(&self, reason: Reason) {
        let mut state = self.lock();
        // A limit says what is left, and that is void.
        if matches!(reason, Reason::Learnt) {
            state.reason.take_if(|it| matches!(it, Reason::Limit(_) | Reason::Peer));
        }
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

    /// What is left in the end: units that no worker took, why it stopped, and the reports.
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
        while let Some(unit) = self.units.pop() {
            if let Unit::Stack(stack) = &unit {
                if !stack.has_work() {
                    continue;
                }
                self.notes.push(stack.note());
            }
            return Some(unit);
        }
        let mut found = None;
        self.notes.retain(|note| match note.unit() {
            Some(unit) => {
                if found.is_none() && unit.has_work() {
                    found = Some(unit);
                }
                true
            }
            None => false,
        });
        found.map(Unit::Stack)
    }
}
