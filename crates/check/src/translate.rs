//! Models of files: what C and Promela become before an engine sees them.

use crate::fault::of_source;
use crate::native::compiler::{Language, words_of};
use crate::options::Property;
use crate::{Fault, Faults, Options};
use mazurka_core::Location;
use mazurka_model::{Expr, Program, Span, VmError};
use mazurka_promela::{ExtraProperties, Model};
use mazurka_statespace::{Machine, MachineError};
use std::path::{Path, PathBuf};

/// A program of C files, as a model. Signed overflow is looked for in it if the options say so.
pub fn c(files: &[PathBuf], options: &Options) -> Result<Program, Faults> {
    let options = mazurka_c::Options {
        compiler: words_of(Language::C)?,
        flags: options.flags.clone(),
        externs: options.externs.clone(),
        spurious_wakeups: options.spurious_wakeups,
        overflow: options.looks_for(Property::Overflow),
        nondet: options.nondet,
    };
    // Translations that were killed have left folders, as runs have.
    crate::native::remove_left_behind();
    mazurka_c::translate(files, &options).map_err(of_source)
}

/// A Promela model, with what is asked of it.
pub fn promela(file: &Path, options: &Options, asked: ExtraProperties) -> Result<Model, Faults> {
    let options = mazurka_promela::Options { flags: options.flags.clone(), asked };
    mazurka_promela::translate(file, &options).map_err(of_source)
}

/// A machine that runs a Promela model, and can tell whether propositions hold.
pub fn machine(program: &Program, propositions: &[Expr]) -> Result<Machine, Faults> {
    let fault = |MachineError { what, span }: MachineError| {
        Fault::input(format!("{}: {what} cannot be stored", place(&program.files, span)))
    };
    let machine = Machine::watching(program, propositions);
    machine.map_err(|errors| errors.into_iter().map(fault).collect())
}

/// What the machine does not run, with its places in `files`.
pub(crate) fn not_run(files: &[String], errors: Vec<VmError>) -> Faults {
    let fault = |VmError { what, span }: VmError| {
        Fault::input(format!("{}: the machine does not run {what}", place(files, span)))
            .help("`--nondet LOW..HIGH` says which values to try")
    };
    errors.into_iter().map(fault).collect()
}

/// A place in the source, as messages have it.
pub(crate) fn place(files: &[String], span: Span) -> String {
    location(files, span).to_string()
}

/// A place in the source.
pub(crate) fn location(files: &[String], span: Span) -> Location {
    Location {
        file: files.get(span.file.0 as usize).cloned().unwrap_or_default(),
        line: span.line,
        column: span.column,
        function: None,
        within: None,
        is_library: false,
    }
}
