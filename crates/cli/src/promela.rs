//! Promela files: what they are as models, and what is wrong with them.

use crate::arguments::{Build, Format, Output, Search, Storing, Temporal};
use crate::results::Results;
use crate::{Done, Failure, announce, interrupt, show, statespace, tell, temporal};
use mazurka_core::Verdict;
use mazurka_model::{Expr, Program};
use mazurka_promela::{Asked, Model, Options};
use mazurka_report::{ExitStatus, Report};
use mazurka_statespace::{Machine, MachineError, search as search_states};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Whether one of these files is a model.
pub(crate) fn is_among(files: &[PathBuf]) -> bool {
    files.iter().any(|file| is_model(file))
}

fn is_model(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "pml" || it == "prom" || it == "promela")
}

/// The model, which has to be alone.
pub(crate) fn file(files: &[PathBuf]) -> Result<&Path, Failure> {
    match files {
        [file] => Ok(file),
        _ => {
            let text = "a model is one file, and does not go with others";
            Err(Failure::input(text).help("`#include` the others in it"))
        }
    }
}

/// Searches all states of a model for failed assertions and wrong ends, and for executions that violate
/// what it says of those that never end; or for what is asked.
pub(crate) fn check(
    file: &Path,
    build: &Build,
    jobs: usize,
    storing: &Storing,
    temporal: &Temporal,
    search: &Search,
    output: &Output,
) -> Done {
    let name = file.to_string_lossy();
    let mut options = search.stored(storing, jobs)?;
    temporal.add_to(&mut options);
    let (asked, automaton) = temporal::asked(temporal)?;
    let model = translate(file, build, asked)?;
    let has_ltl = temporal.is_asked() || search.conduct.has_ltl();
    let wanted = temporal::wanted(&model, temporal, automaton)?;
    let mut wanted = if has_ltl { wanted } else { Vec::new() };
    if search.conduct.asks_for_livelock() {
        wanted.push(temporal::progress());
    }
    let mut machine = machine(&model.program, &[])?;
    if search.conduct.asks_for_truncation() {
        machine = machine.finding_truncation();
    }
    announce(&name, output);
    options.stop = Some(interrupt::flag());
    let start = Instant::now();
    let mut results = Results::default();
    if !temporal.is_asked() {
        let outcome = search_states(&machine, &options).map_err(|errors| {
            errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
        })?;
        results.add_states(outcome);
    }
    let cycle_options = match temporal.is_asked() {
        // Several jobs are for several properties.
        true => temporal::one_job(&options),
        false => temporal::plain(&options),
    };
    if results.is_open() {
        let make = |propositions: &[Expr]| self::machine(&model.program, propositions);
        let checked = temporal::check(make, &wanted, &cycle_options, options.jobs);
        for (wanted, outcome) in wanted.iter().zip(checked) {
            results.add(&wanted.name, outcome?);
        }
    } else {
        results.skipped = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    }
    let told = results.conclude(jobs);
    let mut report =
        Report::new(&name, "statespace", &told.verdict, &told.statistics, start.elapsed());
    let replay = crate::replay_command(&[file.to_owned()], build);
    let replay = format!("{} --schedule", temporal::again(temporal, replay));
    report.replay_with = Some(&replay);
    report.loop_start = told.loop_start;
    report.options = statespace::in_force(&options);
    report.notes = told.notes;
    report.tips.extend(statespace::tip(&told.verdict, &options));
    if let (Some(file), Verdict::Violated(found)) = (&storing.trail, &told.verdict) {
        let property = wanted.iter().find(|it| Some(&it.name) == told.property.as_ref());
        let trail = property.and_then(|it| it.trail(&model.program, &found.schedule));
        let plain = || machine.trail(&found.schedule, told.loop_start);
        write_trail(file, trail.or_else(plain))?;
        let told = format!("`{}` has it as a trail: `spin -t -k` follows it", file.display());
        report.notes.push(told);
    }
    tell(&report, output)
}

/// Writes an execution down.
fn write_trail(file: &Path, trail: Option<String>) -> Result<(), Failure> {
    let Some(trail) = trail else {
        let text = "SPIN has no number for one of the steps, so there is no trail of it";
        return Err(Failure::input(text));
    };
    std::fs::write(file, trail)
        .map_err(|error| Failure::input(format!("`{}` cannot be written: {error}", file.display())))
}

/// Shows a model.
pub(crate) fn model(file: &Path, build: &Build, format: Format) -> Done {
    let model = translate(file, build, Asked::default())?;
    show(&match format {
        Format::Text => mazurka_model::text(&model.program),
        Format::Dot => mazurka_model::dot(&model.program),
    });
    Ok(ExitStatus::Holds)
}

/// The model that a file is, with what is asked of it.
pub(crate) fn translate(file: &Path, build: &Build, asked: Asked) -> Result<Model, Vec<Failure>> {
    let options = Options { flags: build.flags(), asked };
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    mazurka_promela::translate(file, &options).map_err(|faults| {
        let shown = faults.iter().map(|fault| Failure {
            is_rendered: true,
            ..Failure::input(format!("{}\n", fault.render(is_coloured)))
        });
        shown.collect()
    })
}

/// A machine that runs a model, and can tell whether propositions hold.
pub(crate) fn machine(program: &Program, propositions: &[Expr]) -> Result<Machine, Vec<Failure>> {
    let place = |MachineError { what, span }: MachineError| {
        let file = program.files.get(span.file.0 as usize).map_or("", String::as_str);
        Failure::input(format!("{file}:{}:{}: {what} cannot be stored", span.line, span.column))
    };
    let machine = Machine::watching(program, propositions);
    machine.map_err(|errors| errors.into_iter().map(place).collect())
}
