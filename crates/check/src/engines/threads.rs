//! `--engine statespace` of C files: the graph of the states of a program of threads.

use super::statespace::{self, concluded};
use super::vm::{follow_schedule, violation_in};
use super::{Series, shortest};
use crate::engine::Listener;
use crate::options::Property;
use crate::results::Results;
use crate::temporal::{self, Wanted};
use crate::{Ending, Fault, Faults, Outcome, Replay, Task, translate, walk};
use mazurka_core::{
    Counterexample, Decision, Event, Execution, Gauge, Next, Phase, Schedule, Step, System as _,
    ThreadId, Verdict, Violation, ViolationKind, possible,
};
use mazurka_explore::{by_birth, replay as follow};
use mazurka_model::{Expr, Program, Races, split_choices};
use mazurka_statespace::Threads;
use std::sync::Arc;
use std::time::Instant;

/// Searches all states of a program of threads.
pub(super) fn check(
    task: &Task,
    gauge: Arc<Gauge>,
    listener: &dyn Listener,
) -> Result<Outcome, Faults> {
    let options = statespace::gauged_options(task, gauge);
    listener.event(&Event::Phase(Phase::Translating));
    let (threads, wanted) = translated(task, |_| {})?;
    let threads = if task.options.show_lines { threads.noting_lines() } else { threads };
    listener.event(&Event::Phase(Phase::Searching));
    let begun = Instant::now();
    let series = Series::new(task, wanted.len())?;
    let mut results = Results::default();
    if wanted.is_empty() || threads.tracks_accesses() {
        // Beside temporal properties, this is for data races that these cannot be searched for
        // with.
        let mut options = options.clone();
        options.ends &= wanted.is_empty();
        let searched =
            series.search(None, |saving| shortest::search(&threads, &options, saving))?;
        results.add_states(searched);
    }
    let has_states = results.is_violated();
    let make = |propositions: &[Expr]| Ok(threads.clone().watching(propositions.to_vec()));
    let all: Vec<&Wanted> = wanted.iter().collect();
    let alone = || {
        let mut alone = temporal::one_job(&options);
        alone.time = task.time_left(begun.elapsed());
        alone
    };
    let checked = temporal::check(make, &all, alone, options.jobs, (&series, None));
    for (wanted, outcome) in wanted.iter().zip(checked) {
        results.add(&wanted.name, statespace::told(task, outcome?));
    }
    let lines = threads.lines();
    let mut conclusion = results.conclude(task.options.threads());
    if let Verdict::Violated(found) = &mut conclusion.verdict {
        let watched = || threads.clone().watching(Vec::new());
        let searched = if has_states { threads } else { watched() };
        retell(&searched, found)?;
    }
    let mut outcome = concluded(task, conclusion, &options, begun);
    outcome.lines = lines;
    outcome.saved = series.finish(&outcome.verdict);
    Ok(outcome)
}

/// The states of a program of threads, and what is asked of those of its executions that never end.
fn translated(task: &Task, prepare: fn(&mut Program)) -> Result<(Threads, Vec<Wanted>), Faults> {
    let options = &task.options;
    let mut program = translate::c(task.input.files(), options)?;
    let wanted = temporal::wanted_of_threads(&program, options)?;
    temporal::add_stops_for(&mut program, &wanted);
    prepare(&mut program);
    let races = match options.races {
        Races::Error if options.looks_for(Property::Race) => Races::Error,
        _ => Races::Allow,
    };
    let sources = program.files.clone();
    let threads =
        Threads::new(program, races).map_err(|errors| translate::not_run(&sources, errors))?;
    let threads = if options.names(Property::Leak) { threads.finding_leaks() } else { threads };
    Ok((threads, wanted))
}

/// Follows one schedule. The execution may be one that goes on for ever and violates what is asked.
pub(super) fn replay(
    task: &Task,
    schedule: &Schedule,
    listener: &dyn Listener,
) -> Result<Replay, Faults> {
    // A solver may have chosen among more numbers than a search would try.
    let (threads, wanted) = translated(task, split_choices)?;
    listener.event(&Event::Phase(Phase::Replaying));
    // The schedule may be of a search that tracks an access, or of one where every access is a
    // step.
    if threads.tracks_accesses() {
        let mut vm = threads.vm();
        let again = follow_schedule(&mut vm, schedule).ok();
        if let Some(ending) = again.and_then(|again| violation_in(&again, &vm)) {
            return Ok(Replay::to(ending));
        }
    }
    let threads = threads.watching(Vec::new());
    let mut vm = threads.vm();
    let again = follow_schedule(&mut vm, schedule)?;
    if let Some((step, violation)) = adjacent_race(&threads, &again.execution.steps) {
        return Ok(Replay::to(Ending::Violated { step, violation, stuck: Vec::new() }));
    }
    if let Some(ending) = violation_in(&again, &vm) {
        return Ok(Replay::to(ending));
    }
    let mut taken = Schedule::new();
    again.execution.steps.iter().for_each(|step| taken.push(step.decision));
    let make = |propositions: &[Expr]| Ok(threads.clone().watching(propositions.to_vec()));
    let goes_on = task.options.names(Property::Livelock) && walk::goes_on(&threads, &taken);
    let message = match goes_on {
        true => Some("livelock: this goes on for ever".to_owned()),
        false => walk::violated_for_ever(make, &wanted, &taken)?,
    };
    let kind = if goes_on { ViolationKind::Livelock } else { ViolationKind::Ltl };
    Ok(Replay::to(message.map_or(Ending::Followed, |message| Ending::Violated {
        step: None,
        violation: Violation::new(kind, message),
        stuck: Vec::new(),
    })))
}

/// The first state of an execution in which two threads are about to race: the race, and the step
/// of the second of them, if it is taken at once.
fn adjacent_race(threads: &Threads, steps: &[Step]) -> Option<(Option<usize>, Violation)> {
    let mut vm = threads.vm();
    for n_before in 0..=steps.len() {
        if let Some((racing, violation)) = threads.adjacent_race(&vm) {
            let next: Vec<ThreadId> =
                steps[n_before..].iter().take(2).map(|step| step.decision.thread).collect();
            let both_follow = racing.iter().all(|thread| next.contains(thread));
            return Some((both_follow.then_some(n_before + 2), violation));
        }
        let step = steps.get(n_before)?;
        vm.step(step.decision).ok()?;
    }
    None
}

/// Tells a counterexample as the machine does that runs a schedule of it.
fn retell(threads: &Threads, found: &mut Counterexample) -> Result<(), Fault> {
    let differs = |error: &dyn std::fmt::Display| {
        Fault::defect(format!("the counterexample cannot be followed: {error}"))
    };
    let mut vm = threads.vm();
    let born = (0..vm.program().processes.len()).map(ThreadId::new).collect();
    let mut execution = Execution::default();
    for (idx, &decision) in found.schedule.decisions().iter().enumerate() {
        let last = idx + 1 == found.schedule.decisions().len();
        let racing = threads.adjacent_race(&vm).filter(|_| last);
        let operation = possible(&vm, idx + 1, decision).map_err(|error| differs(&error))?;
        let effect = vm.step(decision).unwrap_or_else(|failure| failure.effect);
        execution.steps.push(Step { decision, operation, effect });
        // The search tells a race before its second access; that one is a row as well.
        let other = racing.and_then(|(both, _)| both.into_iter().find(|&it| it != decision.thread));
        if let Some(thread) = other
            && let Next::Enabled { operation, .. } = vm.next(thread)
        {
            let decision = Decision { thread, choice: 0 };
            let effect = vm.step(decision).unwrap_or_else(|failure| failure.effect);
            execution.steps.push(Step { decision, operation, effect });
        }
    }
    let schedule: Schedule = by_birth(&execution, born);
    let again = follow(&mut vm, &schedule).map_err(|error| differs(&error))?;
    if found.violation.kind == ViolationKind::Deadlock
        && let Some(deadlock) = again.deadlock(&vm)
    {
        found.violation = deadlock;
        found.waits = again.waits(&vm);
    }
    if let (ViolationKind::Race, Some((_, again_violated))) =
        (found.violation.kind, &again.violation)
        && again_violated.kind == ViolationKind::Race
    {
        found.violation = again_violated.clone();
        found.accesses = again.accesses(&mut vm);
    }
    (found.schedule, found.execution, found.story) = (schedule, again.execution, again.story);
    Ok(())
}
