//! C files as a model: `--engine vm`, and `mazurka model`.

use crate::arguments::{Build, Format, Modelling, Output, RacesAre, Search};
use crate::{Done, Failure, add_search, compiler, interrupt, names, say, show, style, tell};
use mazurka_core::Schedule;
use mazurka_explore::{ExploreError, Explorer, replay as follow};
use mazurka_model::{Program, Races, Vm, VmError};
use mazurka_report::{Colour, ExitStatus, Report, text};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
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
    let is_json_alone = output.json.as_deref() == Some(Path::new("-"));
    let program = translate(files, build, modelling, search.has_overflow())?;
    if !is_json_alone && !output.quiet {
        show(&text::checking(&name, 0, &style()));
    }
    let vm = machine(program, modelling)?;
    let mut options = search.options()?;
    options.stateful = modelling.stateful;
    options.jobs = modelling.jobs;
    options.race &= modelling.races == RacesAre::Error;
    let start = Instant::now();
    let explorer = Explorer::new(options.clone()).stop_when(interrupt::flag());
    let outcome = explorer.run(|| vm.clone()).map_err(|error| match error {
        ExploreError::Nondeterministic(_) => Failure::defect(error.to_string()),
        error => Failure::input(error.to_string()),
    })?;
    let replay = format!("{} --schedule", replay_command(files, build, modelling));
    let mut report =
        Report::new(&name, "vm", &outcome.verdict, &outcome.statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.options = vec![
        ("stateful".to_owned(), options.stateful.into()),
        ("jobs".to_owned(), options.jobs.into()),
        ("races".to_owned(), races_name(modelling.races).into()),
    ];
    add_search(&mut report, &options);
    report.state_coverage = outcome.coverage.as_ref();
    tell(&report, output)
}

/// Follows one schedule of a model.
pub(crate) fn replay(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    schedule: &Schedule,
) -> Done {
    let name = names(files);
    let program = translate(files, build, modelling, true)?;
    say(Colour::Doing, "Replaying", &name);
    let mut vm = machine(program, modelling)?;
    let replay = follow(&mut vm, schedule)
        .map_err(|error| Failure::input(format!("the schedule cannot be followed: {error}")))?;
    let violation = match replay.violation.clone() {
        Some((step, violation)) => Some(format!("step {step}: {}", violation.message)),
        None => replay.deadlock(&vm).map(|violation| violation.message),
    };
    match violation {
        Some(message) => {
            say(Colour::Bad, "Violated", &message);
            Ok(ExitStatus::Violated)
        }
        None => {
            say(Colour::Open, "Followed", "nothing goes wrong in this execution");
            Ok(ExitStatus::Holds)
        }
    }
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

fn translate(
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

fn machine(program: Program, modelling: &Modelling) -> Result<Vm, Vec<Failure>> {
    let races = match modelling.races {
        RacesAre::Error => Races::Error,
        RacesAre::Allow => Races::Allow,
    };
    let files = program.files.clone();
    let place = |VmError { what, span }: VmError| {
        let file = files.get(span.file.0 as usize).map_or("", String::as_str);
        let help = "`--nondet LOW..HIGH` says which values to try";
        Failure::input(format!(
            "{file}:{}:{}: the machine does not run {what}",
            span.line, span.column
        ))
        .help(help)
    };
    Vm::new(program, races).map_err(|errors| errors.into_iter().map(place).collect())
}

fn races_name(races: RacesAre) -> &'static str {
    match races {
        RacesAre::Error => "error",
        RacesAre::Allow => "allow",
    }
}

/// The command that makes the same model again.
fn replay_command(files: &[PathBuf], build: &Build, modelling: &Modelling) -> String {
    let mut words = vec![crate::replay_command(files, build), "--engine vm".to_owned()];
    if modelling.races == RacesAre::Allow {
        words.push("--races allow".to_owned());
    }
    if modelling.spurious_wakeups {
        words.push("--spurious-wakeups".to_owned());
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
