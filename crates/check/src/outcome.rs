//! Outcomes: what came of a task.

use crate::engine::Engine;
use crate::memory_model::NOT_UNDER_SC;
use crate::options::row;
use crate::{Task, memory};
use mazurka_core::{
    Coverage, Limit, LineCoverage, MemoryModel, PassingExecution, Rung, Sample, Shortest, Solving,
    StateCoverage, Statistics, Told, Verdict, Violation,
};
use mazurka_explore::{self as explore, Bound};
use mazurka_protocol::AtomicSite;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What came of a task: the verdict, and everything that may be told beside it. A run of several
/// tasks that is saved keeps those of the ones that are over.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Who decided it.
    #[serde(with = "by_name")]
    pub engine: &'static dyn Engine,
    /// What is wrong, or exactly what was proved.
    pub verdict: Verdict,
    /// What was counted on the way.
    pub statistics: Statistics,
    /// What a solver did, if one was asked.
    pub solving: Option<Solving>,
    /// How long it took.
    pub elapsed: Duration,
    /// The most memory that was in use, in bytes, if that is known.
    pub peak_memory: Option<u64>,
    /// How many threads the program has; 0 if that is not known.
    pub n_threads: usize,
    /// How many traces were visited, if that is known.
    pub traces: Option<u64>,
    /// How many states were visited, if they were counted.
    pub state_coverage: Option<StateCoverage>,
    /// What was proved before a limit stopped the search.
    pub proved: Option<Coverage>,
    /// The bounded searches that have come to their end before that.
    pub rungs: Vec<Rung>,
    /// The executions that were drawn at random, if some were.
    pub sample: Option<Sample>,
    /// How short the counterexample is, if that is known.
    pub shortest: Option<Shortest>,
    /// Whether a bound cut something, if that is known and the verdict does not tell.
    pub bound_exceeded: Option<bool>,
    /// Of a violation that goes on for ever: the step, from 1, that follows the last one again.
    pub loop_start: Option<usize>,
    /// Sentences about how it was done.
    pub notes: Vec<String>,
    /// What to try next.
    pub tips: Vec<String>,
    /// What may not have been expected.
    pub warnings: Vec<String>,
    /// What the program prints in a violation, if it runs itself.
    pub printed: Option<String>,
    /// Who can follow the schedule of a violation.
    #[serde(with = "by_name")]
    pub replays: &'static dyn Engine,
    /// Where the rest of a search that was stopped is saved.
    pub saved: Option<PathBuf>,
    /// What was to be written beside the output and could not be, and why.
    #[serde(default)]
    pub unwritten: Vec<String>,
    /// The memory model that it is about, where the task left that to the program and it is not
    /// sequential consistency.
    pub memory: Option<MemoryModel>,
    /// The atomic accesses that were met, if that was asked for.
    pub atomics: Vec<AtomicSite>,
    /// The first executions, of different traces, if that was asked for and nothing goes wrong.
    #[serde(default)]
    pub shown: Vec<PassingExecution>,
    /// Which lines were reached, if that was asked for and is known.
    #[serde(default)]
    pub lines: Option<LineCoverage>,
}

/// An engine is written as its name.
mod by_name {
    use crate::engine::{Engine, engine};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(
        engine: &&'static dyn Engine,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(engine.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static dyn Engine, D::Error> {
        let name = String::deserialize(from)?;
        engine(&name).ok_or_else(|| D::Error::custom(format!("there is no engine `{name}`")))
    }
}

impl Outcome {
    /// What every outcome has, of a task that was begun then. The rest is unknown or empty.
    pub(crate) fn new(
        engine: &'static dyn Engine,
        verdict: Verdict,
        statistics: Statistics,
        begun: Instant,
    ) -> Self {
        Self {
            engine,
            verdict,
            statistics,
            solving: None,
            elapsed: begun.elapsed(),
            peak_memory: memory::peak(),
            n_threads: 0,
            traces: None,
            state_coverage: None,
            proved: None,
            rungs: Vec::new(),
            sample: None,
            shortest: None,
            bound_exceeded: None,
            loop_start: None,
            notes: Vec::new(),
            tips: Vec::new(),
            warnings: Vec::new(),
            printed: None,
            replays: engine,
            saved: None,
            unwritten: Vec::new(),
            memory: None,
            atomics: Vec::new(),
            shown: Vec::new(),
            lines: None,
        }
    }

    /// Says how many traces a stateless search has visited, if it has taken each of them once, and
    /// whether a bound kept it from others.
    pub(crate) fn count_traces(&mut self, options: &explore::Options) {
        let takes_once = options.reduction.takes_traces_once();
        let has_all = matches!(self.verdict, Verdict::Holds(_)) && takes_once;
        let is_cut = self.statistics.bound_exceeded;
        let traces = self.statistics.executions;
        self.traces = (has_all && !is_cut && !options.iterate).then_some(traces);
        self.bound_exceeded = (!options.bounds.is_empty()).then_some(is_cut);
    }

    /// Adds what a stateless search warns of. That a violation needs a weak memory model is no
    /// warning: it belongs to the violation.
    pub(crate) fn warn(&mut self, warnings: &[explore::Warning]) {
        for warning in warnings {
            match warning {
                explore::Warning::OnlyUnder(_) => self.notes.push(NOT_UNDER_SC.to_owned()),
                warning => self.warnings.push(warning.to_string()),
            }
        }
    }

    /// Adds what to try next, where a limit or a bound was reached: of the options that the engine
    /// has, those that help.
    pub(crate) fn add_tips(&mut self, task: &Task) {
        self.tips.extend(tips(task, self));
    }
}

/// What to try next. It names no option that the engine does not take.
fn tips(task: &Task, outcome: &Outcome) -> Vec<String> {
    let tip = match &outcome.verdict {
        Verdict::Inconclusive(Limit::Interrupted) => less(task, outcome.engine),
        Verdict::Inconclusive(limit) => longer(limit),
        Verdict::Holds(_) if outcome.bound_exceeded == Some(true) && !task.options.iterate => {
            task.options.explored().main_bound().map(|bound| {
                let more = Bound::new(bound.kind, bound.limit.saturating_add(1));
                let rest = "`--iterate` goes on until the bound cuts nothing";
                ("bound", format!("`--bound {more}` sees more; {rest}"))
            })
        }
        _ => None,
    };
    let features = outcome.engine.supports().features;
    let is_usable = |option: &str| {
        let language = task.input.language();
        let row = row(option).zip(language.ok());
        row.is_some_and(|(row, language)| row.is_for(features, language))
    };
    tip.into_iter().filter(|(option, _)| is_usable(option)).map(|(_, text)| text).collect()
}

/// The bound to search within where the whole takes too long for its user, if there is none and the
/// engine takes it beside the other options.
fn less(task: &Task, engine: &dyn Engine) -> Option<(&'static str, String)> {
    if task.options.explored().main_bound().is_some() {
        return None;
    }
    let mut bounded = task.clone();
    bounded.options.set("bound", "preemption=2").ok()?;
    let is_taken = bounded.faults_for(engine).is_empty();
    let text = "`--bound preemption=2` asks for less, and most mistakes need no more";
    is_taken.then(|| ("bound", text.to_owned()))
}

/// The option to change where a limit was reached, and what that gives.
fn longer(limit: &Limit) -> Option<(&'static str, String)> {
    let (option, text) = match limit {
        Limit::Executions(_) => ("max-executions", "a larger `--max-executions` sees more"),
        Limit::Time(_) => ("time-limit", "a longer `--time-limit` sees more"),
        Limit::Memory(_) => ("memory-limit", "a larger `--memory-limit` sees more"),
        Limit::Depth(_) => ("max-depth", "a larger `--max-depth` sees more of the rest"),
        Limit::Stuck { .. } => {
            ("time-limit", "a longer `--time-limit` lets it go on, if it is not for ever")
        }
        _ => return None,
    };
    Some((option, text.to_owned()))
}

/// What came of following a schedule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replay {
    /// The steps, where the engine tells them.
    pub steps: Vec<Shown>,
    /// How it ended.
    pub ending: Ending,
    /// The atomic accesses that were met or, of a model, that there are, if that was asked for.
    pub atomics: Vec<AtomicSite>,
}

/// A step that was followed.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its number, from 1.
    pub number: usize,
    /// What it did, one for each process that took part.
    pub told: Vec<Told>,
    /// What is remarkable about it.
    pub note: Option<String>,
}

impl Replay {
    /// One whose steps are not told.
    pub(crate) fn to(ending: Ending) -> Self {
        Self { steps: Vec::new(), ending, atomics: Vec::new() }
    }
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Something went wrong: at this step, if it was in one, and who waits for what then.
    Violated {
        /// The step, from 1.
        step: Option<usize>,
        /// What went wrong.
        violation: Violation,
        /// Who stands where, if it ends where it should not.
        stuck: Vec<Told>,
    },
    /// Nothing goes wrong in it, as far as the schedule goes.
    Followed,
    /// It has come to its end after so many steps, as it may.
    Ended(usize),
}

impl Ending {
    /// What goes wrong, in a sentence.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Violated { step: Some(step), violation, .. } => {
                Some(format!("step {step}: {}", violation.message))
            }
            Self::Violated { step: None, violation, .. } => Some(violation.message.clone()),
            Self::Followed | Self::Ended(_) => None,
        }
    }
}
