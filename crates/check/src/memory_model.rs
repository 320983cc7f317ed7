//! `--memory auto`: the interleavings first, and then, where a program asks for less than
//! sequential consistency, what its language allows beyond them.
//!
//! A violation in an interleaving is one under every memory model, and interleavings are searched
//! faster than execution graphs: so they come first. If nothing goes wrong in them, and no thread
//! comes to an atomic access that is weaker than sequentially consistent, there is nothing more to
//! explore. Otherwise the graphs of RC11 are explored. If that cannot be done, because the program
//! has an operation that has no meaning there, or in the time there is, the verdict is that of the
//! interleavings: it names the accesses for which it assumes more than the language promises, and a
//! note says why.
//!
//! Implements the use of the theorem of data-race freedom, Lahav, Vafeiadis, Kang, Hur and Dreyer,
//! *Repairing Sequential Consistency in C/C++11* (PLDI 2017): if in all sequentially
//! consistent executions of a program only sequentially consistent atomics race, it has no others.
//!
//! Differs from the paper: mutexes and the like are part of the program. They synchronise, and add
//! nothing to what memory may do.

use crate::engine::{Feature, Listener};
use crate::{Fault, FaultKind, Faults, Outcome, Task, fix};
use mazurka_core::{Assumption, Bound, Limit, MemoryModel, Verdict, ViolationKind};
use mazurka_model::Races;
use std::time::{Duration, Instant};

/// The model of C11, C++20 and Rust.
const LANGUAGE: MemoryModel = MemoryModel::Rc11;

/// How long graphs are explored at the most where the task has no time limit of its own: this, or so
/// many times as long as the interleavings took. Where it has one, they may take what is left.
const AT_LEAST: Duration = Duration::from_secs(10);
const TIMES: u32 = 10;

/// That a violation needs a weak memory model.
pub(crate) const NOT_UNDER_SC: &str =
    "does not happen under sequential consistency: all interleavings were explored";

/// What came of a task whose interleavings are explored by `first`, under the memory model that it
/// has or, if it has none, that suits the program.
pub(crate) fn check(
    task: &Task,
    listener: &dyn Listener,
    first: impl FnOnce() -> Result<Outcome, Faults>,
) -> Result<Outcome, Faults> {
    let begun = Instant::now();
    let mut outcome = first()?;
    let is_weak = task.options.graphs_of().is_some();
    if is_weak || is_race(&outcome) && task.options.memory.is_none() {
        add_fix(task, &mut outcome, begun.elapsed());
        return Ok(outcome);
    }
    if task.options.memory.is_some() || !asks_for_less(&outcome) || task.is_stopped() {
        return Ok(outcome);
    }
    let weak = under(LANGUAGE, task, &outcome, begun.elapsed(), enough(task, begun.elapsed()));
    let Some(weak) = weak else { return Ok(outcome) };
    let why = match outcome.engine.check(&weak, listener) {
        Ok(mut found) => match why_not(&found) {
            None => {
                found.memory = Some(LANGUAGE);
                found.elapsed += outcome.elapsed;
                // What interleavings have reached is reached under the weaker model, too.
                if let (Some(lines), Some(before)) = (&mut found.lines, &outcome.lines) {
                    lines.merge(before);
                }
                if matches!(found.verdict, Verdict::Violated(_)) && is_complete(&outcome) {
                    found.notes.retain(|note| note != NOT_UNDER_SC);
                    found.notes.insert(0, NOT_UNDER_SC.to_owned());
                }
                add_fix(&weak, &mut found, begun.elapsed());
                return Ok(found);
            }
            Some(why) => why,
        },
        Err(faults) => {
            let is_defect = |fault: &&Fault| fault.kind == FaultKind::Defect;
            let defects = faults.iter().filter(is_defect);
            let told = |fault: &Fault| format!("`--memory {LANGUAGE}`: {}", fault.message);
            outcome.warnings.extend(defects.map(told));
            let messages: Vec<_> = faults.iter().map(|fault| fault.message.clone()).collect();
            messages.join("; ")
        }
    };
    outcome.elapsed = begun.elapsed().max(outcome.elapsed);
    outcome.notes.push(format!("`--memory {LANGUAGE}`, what C11 allows, was not decided: {why}"));
    Ok(outcome)
}

/// Adds which accesses to make stronger, of a violation.
fn add_fix(task: &Task, found: &mut Outcome, elapsed: Duration) {
    let is_violated = matches!(found.verdict, Verdict::Violated(_));
    let model = task.options.graphs_of().unwrap_or(LANGUAGE);
    let limit = usual_limit(elapsed);
    if let Some(weak) = under(model, task, found, elapsed, limit).filter(|_| is_violated) {
        found.notes.extend(fix::sentence(&weak, task, found));
    }
}

/// Whether a data race was found: orders may be what is missing.
fn is_race(outcome: &Outcome) -> bool {
    matches!(&outcome.verdict, Verdict::Violated(it) if it.violation.kind == ViolationKind::Race)
}

/// Whether nothing was found, and some atomic access is weaker than sequentially consistent.
fn asks_for_less(outcome: &Outcome) -> bool {
    let Verdict::Holds(coverage) = &outcome.verdict else { return false };
    // One part of a search that was split says nothing of the program.
    if coverage.bounds().iter().any(|bound| matches!(bound, Bound::Part { .. })) {
        return false;
    }
    coverage.assumptions().iter().any(|assumption| match assumption {
        Assumption::SequentialConsistency(accesses) => {
            accesses.iter().any(|access| access.order.is_some())
        }
        _ => false,
    })
}

/// Whether all interleavings were explored.
fn is_complete(outcome: &Outcome) -> bool {
    matches!(&outcome.verdict, Verdict::Holds(coverage) if coverage.is_unbounded())
}

/// How long graphs are explored that come after interleavings.
fn enough(task: &Task, elapsed: Duration) -> Duration {
    match task.options.time_limit {
        Some(limit) if !task.shares_time => limit,
        _ => usual_limit(elapsed),
    }
}

fn usual_limit(elapsed: Duration) -> Duration {
    AT_LEAST.max(elapsed * TIMES)
}

/// The same task under a memory model, in the time that is left; nothing if it has
/// options that are about interleavings. It takes no longer than is `enough`.
fn under(
    model: MemoryModel,
    task: &Task,
    outcome: &Outcome,
    elapsed: Duration,
    enough: Duration,
) -> Option<Task> {
    let features = outcome.engine.supports().features;
    if !features.contains(&Feature::Executions) || task.options.races == Races::Allow {
        return None;
    }
    let mut weak = task.clone();
    weak.saving = None;
    let options = &mut weak.options;
    options.memory = Some(model);
    (options.save, options.resume) = (None, None);
    if features.contains(&Feature::Processes) {
        // Processes do not share a search of graphs.
        options.jobs = None;
    }
    let limit = task.time_left(elapsed).map_or(enough, |left| left.min(enough));
    options.time_limit = Some(limit);
    (!limit.is_zero() && weak.faults_for(outcome.engine).is_empty()).then_some(weak)
}

/// Why there is no answer in what came of a search of graphs, if there is none.
fn why_not(found: &Outcome) -> Option<String> {
    match &found.verdict {
        Verdict::Violated(found) if found.violation.kind == ViolationKind::Unsupported => {
            Some(found.violation.message.clone())
        }
        Verdict::Inconclusive(Limit::Time(limit)) => {
            Some(format!("it has come to no end in {limit:.0?}; `--memory {LANGUAGE}` goes on"))
        }
        Verdict::Inconclusive(limit) => Some(limit.to_string()),
        _ => None,
    }
}
