//! Promela files: what they are as models, and what is wrong with them.

use crate::arguments::{Build, Format};
use crate::{Done, Failure, show};
use mazurka_model::{Expr, Program};
use mazurka_promela::{Model, Options};
use mazurka_report::ExitStatus;
use mazurka_statespace::{Machine, MachineError};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// The one Promela file among these; nothing if there is none.
pub(crate) fn file(files: &[PathBuf]) -> Result<Option<&Path>, Failure> {
    let is_promela = |file: &&PathBuf| {
        file.extension().is_some_and(|it| it == "pml" || it == "prom" || it == "promela")
    };
    match (files.iter().find(is_promela), files.len()) {
        (None, _) => Ok(None),
        (Some(file), 1) => Ok(Some(file)),
        (Some(file), _) => {
            let text = format!("`{}` is a model, and a model is one file", file.display());
            Err(Failure::input(text).help("`#include` the others in it"))
        }
    }
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
