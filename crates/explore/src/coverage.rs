//! Coverage: how many local and terminal states a search has visited, and how many were new.
//!
//! Implements Coons' thesis, 8.3 and 8.5: states are told apart by a hash of the partial order that
//! leads to them, after Musuvathi and Qadeer.
//!
//! | thesis                               | here                              |
//! |--------------------------------------|-----------------------------------|
//! | hash of a local state                | [`HappensBefore::hash_at`]        |
//! | hash of a deadlock state             | [`HappensBefore::trace_hash`]     |
//! | visited over unique visited states   | [`StateCoverage`]                 |
//! | coverage vs. time, Figs. 8.1 to 8.4  | [`Seen::sample`]                  |
//!
//! Differs from the thesis: one search has a whole curve, not one point for each bound. A state
//! that is gone through again on the way to a new one is not visited again.

use mazurka_core::{CoverageSample, HappensBefore, Position, StateCoverage};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The states that were visited.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    local: FxHashSet<u64>,
    terminal: FxHashSet<u64>,
    counted: StateCoverage,
    executions: u64,
    /// After how many executions there is a sample.
    stride: u64,
    /// Time that went by before the search was resumed.
    before: f64,
    /// When the search began, or was resumed.
    #[serde(skip)]
    begun: Option<Instant>,
}

impl Seen {
    const MAX_SAMPLES: usize = 128;

    /// The same states, at the beginning of a search that adds to them.
    pub(crate) fn resumed(self) -> Self {
        Self { begun: Some(Instant::now()), ..self }
    }

    /// An execution has come to its end, or was given up. Its steps after `known` are new.
    pub(crate) fn add(&mut self, order: &HappensBefore, known: usize, is_terminal: bool) {
        for at in known + 1..=order.len() {
            self.local.insert(order.hash_at(at as Position));
            self.counted.local_states.visited += 1;
        }
        if is_terminal {
            self.terminal.insert(order.trace_hash());
            self.counted.traces.visited += 1;
        }
        self.executions += 1;
        if self.executions.is_multiple_of(self.stride.max(1)) {
            let sample = self.sample();
            self.counted.over_time.push(sample);
        }
        if self.counted.over_time.len() >= Self::MAX_SAMPLES {
            self.stride = 2 * self.stride.max(1);
            let stride = self.stride;
            self.counted.over_time.retain(|sample| sample.executions.is_multiple_of(stride));
        }
    }

    fn sample(&self) -> CoverageSample {
        let elapsed = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        CoverageSample {
            executions: self.executions,
            time_s: self.before + elapsed.as_secs_f64(),
            local_states: self.local.len() as u64,
            traces: self.terminal.len() as u64,
        }
    }

    /// What there is to tell after a search.
    pub(crate) fn finish(mut self) -> (StateCoverage, Self) {
        self.counted.local_states.unique = self.local.len() as u64;
        self.counted.traces.unique = self.terminal.len() as u64;
        let last = self.sample();
        self.before = last.time_s;
        let mut counted = self.counted.clone();
        if counted.over_time.last().is_none_or(|sample| sample.executions < last.executions) {
            counted.over_time.push(last);
        }
        (counted, self)
    }
}
