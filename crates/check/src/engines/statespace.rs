//! `--engine statespace`: every state once, of C files and of Promela models.

use super::{promela, threads};
use crate::engine::{Accepts, Engine, Feature, Language, Listener, Support};
use crate::options::{Property, faults};
use crate::results::Conclusion;
use crate::ticker::gauged;
use crate::{Faults, Outcome, Replay, Task};
use mazurka_core::{Gauge, Limit, Schedule, Verdict};
use mazurka_statespace::{self as stored, Options, Reduction};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The search that stores states.
pub(crate) struct Statespace;

impl Engine for Statespace {
    fn name(&self) -> &'static str {
        "statespace"
    }

    fn supports(&self) -> Support {
        use Feature::{Jobs, Models, States, Temporal};
        use Property::{Assert, Deadlock, Leak, Livelock, Ltl, Memory, Overflow, Race};
        Support {
            inputs: &[
                Accepts {
                    language: Language::C,
                    properties: &[Assert, Deadlock, Race, Memory, Overflow],
                    // What it is held against when it is replayed.
                    if_named: &[Leak, Ltl],
                },
                Accepts {
                    language: Language::Promela,
                    properties: &[Assert, Deadlock, Memory, Ltl],
                    if_named: &[Livelock, Overflow],
                },
            ],
            features: &[Jobs, Models, States, Temporal],
        }
    }

    fn conflicts(&self, task: &Task) -> Faults {
        faults(search_options(task).errors())
    }

    fn check(&self, task: &Task, listener: &dyn Listener) -> Result<Outcome, Faults> {
        let language = task.input.language()?;
        gauged(listener, |gauge| match language {
            Language::Promela => promela::check(task, gauge, listener),
            Language::C | Language::Cxx | Language::Program => {
                threads::check(task, gauge, listener)
            }
        })
    }

    fn replay(
        &self,
        task: &Task,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults> {
        match task.input.language()? {
            Language::Promela => promela::replay(task, schedule, listener),
            Language::C | Language::Cxx | Language::Program => {
                threads::replay(task, schedule, listener)
            }
        }
    }
}

fn search_options(task: &Task) -> Options {
    let mut options = task.options.stored();
    options.stop = task.stop;
    options
}

/// The options of a search that writes to a gauge.
pub(super) fn gauged_options(task: &Task, gauge: Arc<Gauge>) -> Options {
    let mut options = search_options(task);
    options.gauge = Some(gauge);
    options
}

/// Whether a search is being written to a file.
static IS_SAVING: AtomicBool = AtomicBool::new(false);

/// Whether a search that has come to a limit is being written to a file: that may take a while.
pub fn is_saving() -> bool {
    IS_SAVING.load(Ordering::Relaxed)
}

/// States that take more than this many bytes are saved only if that is asked for.
const MOST_UNASKED: u64 = 1 << 30;

/// Where and when the search of a task is saved, and what it goes on from.
pub(super) fn saving(task: &Task) -> stored::Saving {
    let mut saving = stored::Saving::default();
    saving.resume.clone_from(&task.options.resume);
    saving.is_writing = Some(&IS_SAVING);
    if let Some(asked) = task.saving() {
        saving.path = Some(asked.path);
        (saving.after, saving.every) = (asked.after, Some(asked.every));
        saving.is_required = asked.is_asked;
        saving.most = (!asked.is_asked).then_some(MOST_UNASKED);
    }
    saving
}

/// Whether a search leaves something to do.
pub(super) fn is_open(outcome: &stored::Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Inconclusive(_))
}

/// An outcome with the time limit that was asked for, not what was left of it.
pub(super) fn told(task: &Task, mut outcome: stored::Outcome) -> stored::Outcome {
    if let (Verdict::Inconclusive(Limit::Time(limit)), Some(time)) =
        (&mut outcome.verdict, task.options.time_limit)
    {
        *limit = time;
    }
    outcome
}

/// What came of all searches of a task.
pub(super) fn concluded(
    task: &Task,
    conclusion: Conclusion,
    options: &Options,
    begun: Instant,
) -> Outcome {
    let Conclusion { verdict, statistics, loop_start, notes, .. } = conclusion;
    let mut outcome = Outcome::new(&Statespace, verdict, statistics, begun);
    outcome.loop_start = loop_start;
    outcome.notes = notes;
    outcome.add_tips(task);
    outcome.tips = with_less(std::mem::take(&mut outcome.tips), &outcome.verdict, options);
    outcome
}

/// What to try where a limit has stopped the search: more of what there was too little of, or to
/// store less.
fn with_less(tips: Vec<String>, verdict: &Verdict, options: &Options) -> Vec<String> {
    let Verdict::Inconclusive(limit) = verdict else { return tips };
    if matches!(limit, Limit::Depth(_)) {
        return tips;
    }
    let less = if options.reduction == Reduction::None {
        "`--reduction stubborn` stores fewer states"
    } else if options.storage.is_exact() {
        "`--storage bitstate` needs a few bits for each state, at odds that the verdict tells"
    } else {
        "`-D` may make the program smaller"
    };
    match tips.is_empty() {
        true => vec![format!("a search that is not stopped sees more; {less}")],
        false => tips.into_iter().map(|tip| format!("{tip}; {less}")).collect(),
    }
}
