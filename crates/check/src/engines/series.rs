//! The searches of one task, one after the other, in one file: what came of those that are over, and
//! the one that is not.
//!
//! A task goes through its searches in an order that depends on nothing but what comes of each. So
//! one that is resumed goes the same way: what is over is read, not searched, and the first search
//! that is not over goes on where it was.

use super::statespace::{self, is_open};
use crate::options::faults;
use crate::{Fault, Faults, Task};
use mazurka_core::{Limit, Verdict};
use mazurka_statespace::{Construction, Outcome, SavedError, Saving, SearchError, saved_log};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

/// The searches of a task.
pub(crate) struct Series {
    /// Where and when they are saved, and what they go on from.
    saving: Saving,
    /// What came of those that are over.
    over: RefCell<Vec<Outcome>>,
    /// So many of them are over in the file.
    n_read: usize,
    n_begun: Cell<usize>,
    /// Whether a limit has stopped one for good: those behind it have no file.
    is_stopped: Cell<bool>,
    is_saved: Cell<bool>,
}

impl Series {
    /// The searches of a task with so many temporal properties, or what is wrong with the file that
    /// they go on from.
    ///
    /// Where no file is asked for, there is none if several workers have a property each, or if a
    /// graph is built before it is searched: that cannot be saved.
    pub(crate) fn new(task: &Task, n_properties: usize) -> Result<Self, Faults> {
        let options = &task.options;
        let is_asked = options.save.is_some() || options.resume.is_some();
        let cannot = n_properties > 1 && options.threads() > 1
            || n_properties > 0 && options.stored().construction == Construction::OffLine;
        if !is_asked && cannot {
            return Ok(Self::with(Saving::default(), Vec::new()));
        }
        let saving = statespace::saving(task);
        let over: Vec<Outcome> = match &saving.resume {
            None => Vec::new(),
            Some(path) => {
                let log = saved_log(path).map_err(|error| wrong(&saving, &error))?;
                let damaged = |_| wrong(&saving, &SavedError::Damaged);
                if log.is_empty() {
                    Vec::new()
                } else {
                    serde_json::from_slice(&log).map_err(damaged)?
                }
            }
        };
        Ok(Self { n_read: over.len(), ..Self::with(saving, over) })
    }

    fn with(saving: Saving, over: Vec<Outcome>) -> Self {
        Self {
            saving,
            over: RefCell::new(over),
            n_read: 0,
            n_begun: Cell::new(0),
            is_stopped: Cell::new(false),
            is_saved: Cell::new(false),
        }
    }

    /// Whether they are saved, or go on from a file.
    pub(crate) fn is_on(&self) -> bool {
        self.saving.path.is_some() || self.saving.resume.is_some()
    }

    /// The next search, which may be over. A `round` is a limit of states that is there to begin
    /// again with a larger one.
    pub(crate) fn search(
        &self,
        round: Option<usize>,
        search: impl FnOnce(&Saving) -> Result<Outcome, SearchError>,
    ) -> Result<Outcome, Faults> {
        let idx = self.n_begun.replace(self.n_begun.get() + 1);
        if idx < self.n_read {
            return Ok(self.over.borrow()[idx].clone());
        }
        let mut saving = match self.is_stopped.get() {
            true => Saving::default(),
            false => self.saving.clone(),
        };
        saving.resume.take_if(|_| idx > self.n_read);
        saving.round = round;
        if self.is_on() && idx > 0 {
            let log = serde_json::to_vec(&*self.over.borrow());
            saving.log = log.expect("everything in it can be written");
        }
        let outcome = search(&saving).map_err(|error| match error {
            SearchError::Saved(error) => wrong(&self.saving, &error),
            SearchError::Options(errors) => faults(errors),
            other => Faults::from(Fault::defect(format!("{other:?}"))),
        })?;
        let is_cut = round.is_some_and(|round| {
            matches!(outcome.verdict, Verdict::Inconclusive(Limit::States(limit)) if limit == round)
        });
        if is_open(&outcome) && !is_cut {
            if !self.is_stopped.replace(true) {
                self.is_saved.set(outcome.is_saved);
            }
        } else if self.is_on() {
            self.over.borrow_mut().push(outcome.clone());
        }
        Ok(outcome)
    }

    /// The file that goes on with them. If there is nothing to go on with, it is removed.
    pub(crate) fn finish(self, verdict: &Verdict) -> Option<PathBuf> {
        let path = self.saving.path?;
        match (verdict, self.is_saved.get()) {
            (Verdict::Inconclusive(_), true) => Some(path),
            (Verdict::Inconclusive(_), false) => None,
            (Verdict::Holds(_) | Verdict::Violated(_), _) => {
                // There may be none.
                let _ = std::fs::remove_file(path);
                None
            }
            _ => None,
        }
    }
}

/// What is wrong with a file that searches are saved in, or go on from.
fn wrong(saving: &Saving, error: &SavedError) -> Faults {
    let path = saving.resume.as_ref().or(saving.path.as_ref());
    let name = path.map(|it| format!("`{}`: ", it.display())).unwrap_or_default();
    Fault::input(format!("{name}{error}")).into()
}
