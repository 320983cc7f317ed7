//! C files as a graph of states: `--engine statespace`.

use crate::arguments::{Build, Modelling, Output, RacesAre, Search, Storing, Temporal};
use crate::{Done, Failure, interrupt, memory, names, show, style, tell, vm};
use mazurka_core::{
    Counterexample, Execution, Schedule, Step, System as _, ThreadId, Verdict, ViolationKind,
    possible,
};
use mazurka_explore::{by_birth, replay};
use mazurka_model::Races;
use mazurka_report::{Report, text};
use mazurka_statespace::{Options, Threads, search as search_states};
use std::path::{Path, PathBuf};
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
    let is_json_alone = output.json.as_deref() == Some(Path::new("-"));
    let mut options = search.stored(storing, modelling.jobs)?;
    temporal.add_to(&mut options);
    let conduct = &search.conduct;
    let program = vm::translate(files, build, modelling, conduct.has_overflow())?;
    if !is_json_alone && !output.quiet {
        show(&text::checking(&name, 0, &style()));
    }
    options.stop = Some(interrupt::flag());
    let races = match modelling.races {
        RacesAre::Error if conduct.has_races() => Races::Error,
        _ => Races::Allow,
    };
    let sources = program.files.clone();
    let threads = Threads::new(program, races).map_err(|errors| vm::not_run(&sources, errors))?;
    let threads = if conduct.has_leaks() { threads.finding_leaks() } else { threads };
    let start = Instant::now();
    let mut outcome = search_states(&threads, &options).map_err(|errors| {
        errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
    })?;
    if let Verdict::Violated(found) = &mut outcome.verdict {
        retell(&threads, found)?;
    }
    let replay =
        format!("{} --schedule", vm::replay_command(files, build, modelling, "statespace"));
    let mut report =
        Report::new(&name, "statespace", &outcome.verdict, &outcome.statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.peak_memory = memory::peak();
    report.options = in_force(&options);
    report.options.push(("races".to_owned(), vm::races_name(modelling.races).into()));
    if let Verdict::Holds(_) = outcome.verdict {
        let (states, steps) = (outcome.statistics.states, outcome.statistics.transitions);
        let bytes = outcome.store_bytes / states.max(1);
        // With a few states, that would be the size of an empty table.
        let each =
            if states < 10_000 { String::new() } else { format!(", {bytes} bytes for each") };
        report.notes.push(format!("{states} states and {steps} steps between them{each}"));
    }
    tell(&report, output)
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
    let again = replay(&mut vm, &schedule).map_err(|error| differs(&error))?;
    if found.violation.kind == ViolationKind::Deadlock
        && let Some(deadlock) = again.deadlock(&vm)
    {
        found.violation = deadlock;
        found.waits = again.waits(&vm);
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
