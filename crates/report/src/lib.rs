//! A [`Verdict`] for people and machines.
//!
//! A [`Report`] is all that is to be told of one check. [`text`] makes what a terminal shows of it,
//! [`json`] the object that programs read, [`html`] a page with a space-time diagram, [`index`] one
//! of several checks, [`junit`], [`sarif`] and [`annotations`] what test and review systems read,
//! [`shiviz`], [`mermaid`] and [`graphviz`] what other tools draw, [`witness`] what validators read, [`executions`] what distinguishes executions
//! in which nothing goes wrong, [`lines`] and [`lcov`] which lines were reached, [`ExitStatus`] the
//! number that shells read; [`progress`] tells how far a search is, and [`events`] the same to
//! programs. Nothing here writes anywhere: everything is a string.
//!
//! ```
//! use mazurka_core::{Coverage, Property, Statistics, Verdict};
//! use mazurka_report::{ExitStatus, Report, Style, text};
//! use std::time::Duration;
//!
//! let verdict = Verdict::Holds(Coverage::of([Property::Assertion, Property::Deadlock]));
//! let statistics = Statistics::default();
//! let mut report =
//!     Report::new("counter.c", "vm", &verdict, &statistics, Duration::from_millis(40));
//! report.traces = Some(312);
//! report.n_threads = 3;
//! let shown = text::render(&report, &Style::new());
//! assert!(shown.contains("Holds in every interleaving"));
//! assert!(shown.contains("312 traces, 0.04 s"));
//! assert_eq!(ExitStatus::from(&verdict).code(), 0);
//! ```

pub mod annotations;
mod diagram;
pub mod events;
pub mod executions;
mod exit;
mod fold;
pub mod graphviz;
pub mod html;
pub mod index;
pub mod interleaving;
pub mod json;
pub mod junit;
mod layout;
pub mod lcov;
pub mod lines;
pub mod mermaid;
mod number;
mod places;
mod preemption;
pub mod progress;
mod replay;
#[cfg(test)]
mod samples;
pub mod sarif;
mod select;
pub mod shiviz;
mod sources;
mod style;
pub mod text;
mod why;
pub mod witness;

pub use exit::ExitStatus;
pub use number::{counted, grouped};
pub use sources::Sources;
pub use style::{Colour, Page, Style};

use mazurka_core::{
    Coverage, LineCoverage, ObjectId, PassingExecution, Rung, Sample, Shortest, Solving,
    StateCoverage, Statistics, Verdict,
};
use std::time::Duration;

/// One of several checks of which there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotChecked {
    /// What was to be checked, as its user calls it.
    pub name: String,
    /// Whether it could not be; else it was not begun.
    pub is_error: bool,
    /// Why.
    pub reason: String,
}

/// All that is to be told of one check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The file, test or program that was checked, as its user calls it.
    pub name: &'a str,
    /// The engine that did it, as on the command line.
    pub engine: &'a str,
    /// What it said.
    pub verdict: &'a Verdict,
    /// What it counted.
    pub statistics: &'a Statistics,
    /// What a solver did, if one was asked.
    pub solving: Option<&'a Solving>,
    /// How long it took.
    pub elapsed: Duration,
    /// The options that were in force, for the JSON form. Of two with one name the last counts.
    pub options: Vec<(String, serde_json::Value)>,
    /// The most memory that was in use, in bytes, if that is known.
    pub peak_memory: Option<u64>,
    /// How many threads the program has; 0 if that is not known.
    pub n_threads: usize,
    /// What people call the threads, by [`ThreadId`](mazurka_core::ThreadId). Where it ends or is
    /// empty, the names of the counterexample serve.
    pub thread_names: Vec<String>,
    /// What people call objects that no step names: what a thread waits for in the end, say.
    pub object_names: Vec<(ObjectId, String)>,
    /// How many traces were visited, if that is known.
    pub traces: Option<u64>,
    /// How many states were visited, if they were counted.
    pub state_coverage: Option<&'a StateCoverage>,
    /// What was proved before a limit stopped the search.
    pub proved: Option<&'a Coverage>,
    /// The bounded searches that have come to their end before that.
    pub rungs: &'a [Rung],
    /// The executions that were drawn at random, if some were.
    pub sample: Option<&'a Sample>,
    /// How short the counterexample is, if that is known.
    pub shortest: Option<&'a Shortest>,
    /// Whether a bound cut something, if that is known and the verdict does not tell.
    pub bound_exceeded: Option<bool>,
    /// Of a violation that goes on for ever: the step, from 1, that follows the last one again.
    pub loop_start: Option<usize>,
    /// Sentences to go below the coverage, such as how much work it was.
    pub notes: Vec<String>,
    /// What to try next.
    pub tips: Vec<String>,
    /// Whether all steps of a violation are shown, and not only those that matter.
    pub is_full: bool,
    /// The words that make a command of a schedule: `mazurka replay counter.c`.
    pub replay_with: Option<&'a str>,
    /// The source texts of the program.
    pub sources: Sources,
    /// Whether executions were to be shown if nothing goes wrong.
    pub shows_executions: bool,
    /// Those that are shown, of different traces.
    pub executions: &'a [PassingExecution],
    /// Which lines were reached, if that was asked for and is known.
    pub lines: Option<&'a LineCoverage>,
}

impl<'a> Report<'a> {
    /// What every report has; the rest is unknown or empty, and can be filled in.
    pub fn new(
        name: &'a str,
        engine: &'a str,
        verdict: &'a Verdict,
        statistics: &'a Statistics,
        elapsed: Duration,
    ) -> Self {
        Self {
            name,
            engine,
            verdict,
            statistics,
            solving: None,
            elapsed,
            options: Vec::new(),
            peak_memory: None,
            n_threads: 0,
            thread_names: Vec::new(),
            object_names: Vec::new(),
            traces: None,
            state_coverage: None,
            proved: None,
            rungs: &[],
            sample: None,
            shortest: None,
            bound_exceeded: None,
            loop_start: None,
            notes: Vec::new(),
            tips: Vec::new(),
            is_full: false,
            replay_with: None,
            sources: Sources::default(),
            shows_executions: false,
            executions: &[],
            lines: None,
        }
    }
}
