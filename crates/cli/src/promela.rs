//! Promela files: what they are as models, and what is wrong with them.

use crate::arguments::{Build, Format, Output, Search, Storing};
use crate::{Done, Failure, interrupt, show, statespace, style, tell};
use mazurka_core::{Told, Verdict};
use mazurka_model::{Expr, Program};
use mazurka_promela::{Model, Options};
use mazurka_report::{ExitStatus, Report, text};
use mazurka_statespace::{Described, Machine, MachineError, Outcome, search as search_states};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More unreached statements than people want to read.
const MOST_UNREACHED: usize = 12;

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

/// Searches all states of a model for failed assertions and wrong ends.
pub(crate) fn check(
    file: &Path,
    build: &Build,
    jobs: usize,
    storing: &Storing,
    search: &Search,
    output: &Output,
) -> Done {
    let name = file.to_string_lossy();
    let is_json_alone = output.json.as_deref() == Some(Path::new("-"));
    let mut options = search.stored(storing, jobs)?;
    let model = translate(file, build)?;
    let machine = machine(&model.program, &[])?;
    if !is_json_alone && !output.quiet {
        show(&text::checking(&name, 0, &style()));
    }
    options.stop = Some(interrupt::flag());
    let start = Instant::now();
    let outcome = search_states(&machine, &options).map_err(|errors| {
        errors.iter().map(|error| Failure::input(error.to_string())).collect::<Vec<_>>()
    })?;
    let mut report =
        Report::new(&name, "statespace", &outcome.verdict, &outcome.statistics, start.elapsed());
    let replay = format!("{} --schedule", crate::replay_command(&[file.to_owned()], build));
    report.replay_with = Some(&replay);
    report.options = statespace::in_force(&options);
    report.notes = notes(&model, &outcome);
    tell(&report, output)
}

/// What is to be told beside the verdict.
fn notes(model: &Model, outcome: &Outcome) -> Vec<String> {
    let mut notes = outcome.notes.clone();
    let (states, steps) = (outcome.statistics.states, outcome.statistics.transitions);
    notes.push(format!("{states} states and {steps} steps between them"));
    notes.extend(outcome.stuck.iter().map(waiting));
    if let Verdict::Holds(_) = outcome.verdict {
        notes.extend(unreached(&outcome.unreached));
    }
    let mut unchecked: Vec<String> =
        model.formulas.iter().map(|formula| format!("`ltl {}`", formula.name)).collect();
    unchecked.extend(model.program.claim.map(|_| "the never claim".to_owned()));
    if !unchecked.is_empty() {
        notes
            .push(format!("this is about assertions and ends, not about {}", unchecked.join(", ")));
    }
    notes
}

/// Who waits in the end, and for what.
fn waiting(told: &Told) -> String {
    let place = told.location.as_ref().map_or(String::new(), |place| format!(" ({place})"));
    format!("{} waits for `{}`{place}", told.thread, told.operation)
}

/// The statements that no execution comes to.
fn unreached(edges: &[Described]) -> Vec<String> {
    let mut lines: Vec<String> = edges
        .iter()
        .map(|edge| {
            let place = edge.location.as_ref().map_or(String::new(), |it| format!("{it}: "));
            format!("never reached: {place}{}", edge.text)
        })
        .collect();
    lines.dedup();
    let n_more = lines.len().saturating_sub(MOST_UNREACHED);
    lines.truncate(MOST_UNREACHED);
    if n_more > 0 {
        lines.push(format!("and {n_more} more that are never reached"));
    }
    lines
}

/// Shows a model.
pub(crate) fn model(file: &Path, build: &Build, format: Format) -> Done {
    let model = translate(file, build)?;
    show(&match format {
        Format::Text => mazurka_model::text(&model.program),
        Format::Dot => mazurka_model::dot(&model.program),
    });
    Ok(ExitStatus::Holds)
}

/// The model that a file is.
pub(crate) fn translate(file: &Path, build: &Build) -> Result<Model, Vec<Failure>> {
    let options = Options { flags: build.flags(), ..Options::default() };
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
