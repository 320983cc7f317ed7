//! C files as a model: `--engine vm`, and `mazurka model`.

use crate::arguments::{Build, Conduct, Format, Modelling, Output, RacesAre, Search};
use crate::deadline::Deadline;
use crate::memory::{self, Guard, Stop};
use crate::watch::Display;
use crate::{
    Done, Failure, add_search, announce, compiler, interrupt, names, program, say, show, style,
    tell,
};
use mazurka_core::{Event, Schedule};
use mazurka_explore::{ExploreError, Explorer, Options, Outcome, Replay, replay as follow};
use mazurka_model::{Program, Races, Vm, VmError, split_choices};
use mazurka_report::{Colour, ExitStatus, Report};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// Explores every schedule of a model.
pub(crate) fn check(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    search: &Search,
    output: &Output,
) -> Done {
    let name = names(files);
    let conduct = &search.conduct;
    let program = announced(files, build, modelling, conduct, output)?;
    let vm = machine(program, modelling, conduct)?;
    let mut options = search.options()?;
    options.stateful = modelling.stateful;
    options.jobs = modelling.jobs;
    if modelling.races == RacesAre::Allow {
        // Whether something ends while others may use it is looked for in the same way.
        options.race = !options.stateful;
    }
    let start = Instant::now();
    let _deadline = Deadline::start(&name, "vm", options.time_limit, output);
    let outcome = explore(&vm, &options, output, search.memory_limit)?;
    for warning in &outcome.warnings {
        eprintln!("warning: {warning}");
    }
    let proved = outcome.proved.as_ref().map(ToString::to_string);
    let replay = conduct.told_to(replay_command(files, build, modelling, "vm"));
    let replay = format!("{replay} --schedule");
    let mut report =
        Report::new(&name, "vm", &outcome.verdict, &outcome.statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.peak_memory = memory::peak();
    report.n_threads = vm.n_names();
    report.proved = proved.as_deref();
    report.options = vec![
        ("stateful".to_owned(), options.stateful.into()),
        ("jobs".to_owned(), options.jobs.into()),
        ("races".to_owned(), races_name(modelling.races).into()),
        ("overflow".to_owned(), conduct.has_overflow().into()),
        ("leak".to_owned(), conduct.has_leaks().into()),
        ("memory_limit".to_owned(), search.memory_limit.into()),
    ];
    add_search(&mut report, &options);
    report.state_coverage = outcome.coverage.as_ref();
    tell(&report, output)
}

/// Searches a model, tells on the way how far that is, and heeds the limit of memory.
fn explore(
    vm: &Vm,
    options: &Options,
    output: &Output,
    memory_limit: Option<u64>,
) -> Result<Outcome, Failure> {
    let is_told = output.json.as_deref() != Some(Path::new("-")) && !output.quiet;
    let display = (!output.quiet).then(|| Mutex::new(Display::new(style())));
    let listen = |event: &Event| {
        let Some(Ok(mut display)) = display.as_ref().map(Mutex::lock) else { return };
        match event {
            Event::Progress(now) => display.progress(now),
            Event::Proved(coverage) if is_told => display.proved("", &coverage.to_string()),
            _ => {}
        }
    };
    let memory = memory_limit.map(|limit| {
        let stop = Stop { ask: interrupt::ask, force: give_up };
        (Guard::start(std::process::id(), limit, stop), limit)
    });
    let explorer = Explorer::new(options.clone()).abandon_when(interrupt::flag()).on_event(&listen);
    let mut outcome = explorer.run(|| vm.clone()).map_err(|error| match error {
        ExploreError::Nondeterministic(_) => Failure::defect(error.to_string()),
        error => Failure::input(error.to_string()),
    })?;
    if let Some((_, limit)) = memory.filter(|(guard, _)| guard.is_reached()) {
        program::say_memory(&mut outcome.verdict, limit);
    }
    Ok(outcome)
}

/// Ends the command: an execution takes more memory than is allowed.
fn give_up(limit: u64) {
    let failure = program::out_of_memory("the search", limit);
    eprintln!("error: {}", failure.message);
    std::process::exit(failure.status.code().into());
}

/// Follows one schedule of a model.
pub(crate) fn replay(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    conduct: &Conduct,
    schedule: &Schedule,
) -> Done {
    let name = names(files);
    let mut program = translate(files, build, modelling, conduct.has_overflow())?;
    // A solver may have chosen among more numbers than a search would try.
    split_choices(&mut program);
    say(Colour::Doing, "Replaying", &name);
    let mut vm = machine(program, modelling, conduct)?;
    let replay = follow_schedule(&mut vm, schedule)?;
    Ok(violation_in(&replay, &vm).map_or_else(is_fine, |message| is_violated(&message)))
}

/// Runs the execution of a schedule.
pub(crate) fn follow_schedule(vm: &mut Vm, schedule: &Schedule) -> Result<Replay, Failure> {
    follow(vm, schedule)
        .map_err(|error| Failure::input(format!("the schedule cannot be followed: {error}")))
}

/// What goes wrong in an execution that a machine has followed.
pub(crate) fn violation_in(replay: &Replay, vm: &Vm) -> Option<String> {
    match &replay.violation {
        Some((step, violation)) => Some(format!("step {step}: {}", violation.message)),
        None => replay.deadlock(vm).map(|violation| violation.message),
    }
}

/// Says what goes wrong in an execution.
pub(crate) fn is_violated(message: &str) -> ExitStatus {
    say(Colour::Bad, "Violated", message);
    ExitStatus::Violated
}

/// Says that nothing goes wrong in an execution.
pub(crate) fn is_fine() -> ExitStatus {
    say(Colour::Open, "Followed", "nothing goes wrong in this execution");
    ExitStatus::Holds
}

/// Shows a model.
pub(crate) fn model(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    format: Format,
) -> Done {
    let program = translate(files, build, modelling, true)?;
    show(&match format {
        Format::Text => mazurka_model::text(&program),
        Format::Dot => mazurka_model::dot(&program),
    });
    Ok(ExitStatus::Holds)
}

/// Translates the files of a program that is to be checked, and says that it is.
pub(crate) fn announced(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    conduct: &Conduct,
    output: &Output,
) -> Result<Program, Vec<Failure>> {
    let program = translate(files, build, modelling, conduct.has_overflow())?;
    announce(&names(files), output);
    Ok(program)
}

pub(crate) fn translate(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    overflow: bool,
) -> Result<Program, Vec<Failure>> {
    let compiler = compiler::compiler()?;
    let words = std::iter::once(compiler.get_program()).chain(compiler.get_args());
    let options = mazurka_c::Options {
        compiler: words.map(|word| word.to_string_lossy().into_owned()).collect(),
        flags: build.flags(),
        externs: modelling.externs.clone(),
        spurious_wakeups: modelling.spurious_wakeups,
        overflow,
        nondet: modelling.nondet,
    };
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    mazurka_c::translate(files, &options).map_err(|faults| {
        let shown = faults.iter().map(|fault| Failure {
            is_rendered: true,
            ..Failure::input(format!("{}\n", fault.render(is_coloured)))
        });
        shown.collect()
    })
}

fn machine(program: Program, modelling: &Modelling, conduct: &Conduct) -> Result<Vm, Vec<Failure>> {
    let races = match modelling.races {
        RacesAre::Error => Races::Error,
        RacesAre::Allow => Races::Allow,
    };
    let files = program.files.clone();
    let vm = Vm::new(program, races).map_err(|errors| not_run(&files, errors))?;
    // Stored states end loops by themselves.
    let vm = if modelling.stateful { vm } else { vm.holding_spins() };
    Ok(if conduct.has_leaks() { vm.finding_leaks() } else { vm })
}

/// What the machine does not run, with its places in `files`.
pub(crate) fn not_run(files: &[String], errors: Vec<VmError>) -> Vec<Failure> {
    let place = |VmError { what, span }: VmError| {
        let file = files.get(span.file.0 as usize).map_or("", String::as_str);
        let help = "`--nondet LOW..HIGH` says which values to try";
        Failure::input(format!(
            "{file}:{}:{}: the machine does not run {what}",
            span.line, span.column
        ))
        .help(help)
    };
    errors.into_iter().map(place).collect()
}

pub(crate) fn races_name(races: RacesAre) -> &'static str {
    match races {
        RacesAre::Error => "error",
        RacesAre::Allow => "allow",
    }
}

/// The command that makes the same model again.
pub(crate) fn replay_command(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    engine: &str,
) -> String {
    let mut words = vec![crate::replay_command(files, build), format!("--engine {engine}")];
    if modelling.races == RacesAre::Allow {
        words.push("--races allow".to_owned());
    }
    if modelling.spurious_wakeups {
        words.push("--spurious-wakeups".to_owned());
    }
    if modelling.stateful {
        words.push("--stateful".to_owned());
    }
    if let Some((low, high)) = modelling.nondet {
        words.push(format!("--nondet {low}..{high}"));
    }
    for (name, meaning) in &modelling.externs {
        let meaning = match meaning {
            mazurka_c::Extern::Nondet => "nondet",
            mazurka_c::Extern::Skip => "skip",
        };
        words.push(format!("--extern {name}={meaning}"));
    }
    words.join(" ")
}
