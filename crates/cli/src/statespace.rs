//! C files as a graph of states: `--engine statespace`.

use crate::arguments::{Build, Conduct, Modelling, Output, RacesAre, Search, Storing, Temporal};
use crate::deadline::{self, Deadline};
use crate::results::Results;
use crate::temporal::Wanted;
use crate::{Done, Failure, announce, interrupt, memory, names, say, simulate, tell, temporal, vm};
use mazurka_core::{
    Counterexample, Execution, Limit, Schedule, Step, System as _, ThreadId, Verdict,
    ViolationKind, possible,
};
use mazurka_explore::{by_birth, replay as follow};
use mazurka_model::{Expr, Program, Races, split_choices};
use mazurka_report::{Colour, Report};
use mazurka_statespace::{Options, Reduction, Threads, search as search_states};
use std::path::PathBuf;
use std::time::Instant;

/// Searches all states of a program of threads.
pub(crate) fn check(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    storing: &Storing,
    temporal: &Temporal,
    search: &Search,
    output: &Output,
) -> Done {
    let name = names(files);
    let mut options = search.stored(storing, modelling.jobs)?;
    temporal.add_to(&mut options);
    let conduct = &search.conduct;
    let (threads, wanted) = translate(files, build, modelling, temporal, conduct, |_| {})?;
    announce(&name, output);
    options.stop = Some(interrupt::flag());
    let start = Instant::now();
    let _deadline = Deadline::start(
        &name,
        "statespace",
        deadline::for_all(options.time, 1 + wanted.len()),
        output,
    );
    let mut results = Results::default();
    if wanted.is_empty() || threads.tracks_accesses() {
        // Beside temporal properties, this is for data races that these cannot be searched for
        // with.
        let mut options = options.clone();
        options.ends &= wanted.is_empty();
        results.add_states(search_states(&threads, &options).map_err(|errors| {
            errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
        })?);
    }
    let has_states = results.is_violated();
    let make = |propositions: &[Expr]| Ok(threads.clone().watching(propositions.to_vec()));
    let all: Vec<&Wanted> = wanted.iter().collect();
    let checked = temporal::check(make, &all, &temporal::one_job(&options), options.jobs);
    for (wanted, outcome) in wanted.iter().zip(checked) {
        results.add(&wanted.name, outcome?);
    }
    let mut outcome = results.conclude(modelling.jobs);
    if let Verdict::Violated(found) = &mut outcome.verdict {
        let watched = || threads.clone().watching(Vec::new());
        let searched = if has_states { threads } else { watched() };
        retell(&searched, found)?;
    }
    let replay = vm::replay_command(files, build, modelling, "statespace");
    let replay = format!("{} --schedule", temporal::again(temporal, replay));
    let mut report =
        Report::new(&name, "statespace", &outcome.verdict, &outcome.statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.peak_memory = memory::peak();
    report.options = in_force(&options);
    report.options.push(("races".to_owned(), vm::races_name(modelling.races).into()));
    report.loop_start = outcome.loop_start;
    report.notes = outcome.notes;
    report.tips.extend(tip(&outcome.verdict, &options));
    tell(&report, output)
}

/// What to try next where a limit has stopped a search that stores states.
pub(crate) fn tip(verdict: &Verdict, options: &Options) -> Option<String> {
    let Verdict::Inconclusive(limit) = verdict else { return None };
    let more = match limit {
        Limit::Time(_) => "a longer `--time-limit` sees more",
        Limit::Memory(_) => "a larger `--memory-limit` sees more",
        Limit::Depth(_) => return Some("a larger `--max-depth` sees more of the rest".to_owned()),
        _ => "a search that is not stopped sees more",
    };
    let less = if options.reduction == Reduction::None {
        "`--reduction stubborn` stores fewer states"
    } else if options.storage.is_exact() {
        "`--storage bitstate` needs a few bits for each state, at odds that the verdict tells"
    } else {
        "`-D` may make the program smaller"
    };
    Some(format!("{more}; {less}"))
}

/// The states of a program of threads, and what is asked of those of its executions that never end.
fn translate(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    temporal: &Temporal,
    conduct: &Conduct,
    prepare: fn(&mut Program),
) -> Result<(Threads, Vec<Wanted>), Vec<Failure>> {
    let mut program = vm::translate(files, build, modelling, conduct.has_overflow())?;
    let wanted = temporal::wanted_of_threads(&program, temporal)?;
    temporal::add_stops_for(&mut program, &wanted);
    prepare(&mut program);
    let races = match modelling.races {
        RacesAre::Error if conduct.has_races() => Races::Error,
        _ => Races::Allow,
    };
    let sources = program.files.clone();
    let threads = Threads::new(program, races).map_err(|errors| vm::not_run(&sources, errors))?;
    let threads = if conduct.has_leaks() { threads.finding_leaks() } else { threads };
    Ok((threads, wanted))
}

/// Follows one schedule. The execution may be one that goes on for ever and violates what is asked.
pub(crate) fn replay(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    temporal: &Temporal,
    conduct: &Conduct,
    schedule: &Schedule,
) -> Done {
    // A solver may have chosen among more numbers than a search would try.
    let (threads, wanted) = translate(files, build, modelling, temporal, conduct, split_choices)?;
    say(Colour::Doing, "Replaying", &names(files));
    // The schedule may be of a search that tracks an access, or of one where every access is a
    // step.
    if threads.tracks_accesses() {
        let mut vm = threads.vm();
        let again = vm::follow_schedule(&mut vm, schedule).ok();
        if let Some(message) = again.and_then(|again| vm::violation_in(&again, &vm)) {
            return Ok(vm::is_violated(&message));
        }
    }
    let threads = threads.watching(Vec::new());
    let mut vm = threads.vm();
    let again = vm::follow_schedule(&mut vm, schedule)?;
    if let Some(message) = vm::violation_in(&again, &vm) {
        return Ok(vm::is_violated(&message));
    }
    let mut taken = Schedule::new();
    again.execution.steps.iter().for_each(|step| taken.push(step.decision));
    let make = |propositions: &[Expr]| Ok(threads.clone().watching(propositions.to_vec()));
    if conduct.asks_for_livelock() && simulate::goes_on(&threads, &taken) {
        return Ok(vm::is_violated("livelock: this goes on for ever"));
    }
    match simulate::violated_for_ever(make, &wanted, &taken)? {
        Some(message) => Ok(vm::is_violated(&message)),
        None => Ok(vm::is_fine()),
    }
}

/// Tells a counterexample as the machine does that runs a schedule of it.
fn retell(threads: &Threads, found: &mut Counterexample) -> Result<(), Failure> {
    let differs = |error: &dyn std::fmt::Display| {
        Failure::defect(format!("the counterexample cannot be followed: {error}"))
    };
    let mut vm = threads.vm();
    let born = (0..vm.program().processes.len()).map(ThreadId::new).collect();
    let mut execution = Execution::default();
    for (idx, &decision) in found.schedule.decisions().iter().enumerate() {
        let operation = possible(&vm, idx + 1, decision).map_err(|error| differs(&error))?;
        let effect = vm.step(decision).unwrap_or_else(|failure| failure.effect);
        execution.steps.push(Step { decision, operation, effect });
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

/// Options as the JSON output has them.
pub(crate) fn in_force(options: &Options) -> Vec<(String, serde_json::Value)> {
    let time = options.time.map(|limit| limit.as_secs_f64());
    let all = [
        ("order", options.order.name().into()),
        ("storage", options.storage.name().into()),
        ("reduction", options.reduction.name().into()),
        ("jobs", options.jobs.into()),
        ("shorten", options.shorten.into()),
        ("fairness", options.fairness.name().into()),
        ("max_depth", options.depth.into()),
        ("time_limit_s", time.into()),
        ("memory_limit", options.memory.into()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}
