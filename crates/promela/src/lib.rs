//! Promela, as [`Program`]s: control-flow graphs of guarded actions.
//!
//! [`translate`] takes a file to a model, or to everything that is wrong with it. The way there: the
//! preprocessor expands its macros (`preprocess`), the text becomes tokens (`lexer`) and a tree (`parse`,
//! `tree`) in which inline calls are replaced by what they stand for; names and types are resolved and
//! graphs are written (`lower`).
//!
//! # What a step is
//!
//! One statement is one edge, whatever it reads and writes. Which places of a process are states of
//! their own is what SPIN makes of it (`lower/graph.rs`), so that both count the same states.

mod fault;
mod lexer;
mod lower;
mod parse;
mod preprocess;
mod tree;

pub use mazurka_source::{Fault, Faults};

use mazurka_ltl::{Atoms, Formula};
use mazurka_model::{Expr, Program};
use mazurka_source::{Sources, Span, Text};
use std::path::Path;

/// The parser goes as deep as the model is nested.
const STACK_BYTES: usize = 256 << 20;

/// How to read Promela.
#[derive(Clone, Debug)]
pub struct Options {
    /// The preprocessor: a command and its first arguments.
    pub preprocessor: Vec<String>,
    /// More for the preprocessor: `-DN=3`, `-Iinclude`.
    pub flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { preprocessor: ["gcc", "-std=gnu99"].map(str::to_owned).to_vec(), flags: Vec::new() }
    }
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Model {
    /// The processes.
    pub program: Program,
    /// What they should do, as far as it is written as formulae.
    pub formulas: Vec<NamedFormula>,
}

/// A formula of temporal logic, with a name and a meaning for its atoms.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFormula {
    /// What people call it.
    pub name: String,
    /// The formula.
    pub formula: Formula,
    /// Its atoms, as they are written.
    pub atoms: Atoms,
    /// What each atom means: a truth value, computed without any process.
    pub propositions: Vec<Expr>,
}

/// The model that a file is.
pub fn translate(file: &Path, options: &Options) -> Result<Model, Faults> {
    with_room(|| {
        let text = preprocess::preprocess(file, &options.preprocessor, &options.flags)?;
        translate_here(&file.to_string_lossy(), text)
    })
}

/// The model that a text is, without comments and macros.
pub fn translate_text(name: &str, text: &str) -> Result<Model, Faults> {
    with_room(|| translate_here(name, text.to_owned()))
}

/// Does something with more room on the stack.
fn with_room(work: impl FnOnce() -> Result<Model, Vec<Fault>> + Send) -> Result<Model, Faults> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work).map(|it| it.join()) {
            Ok(Ok(done)) => done.map_err(Faults),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(Faults(vec![Fault::new(
                fault::code::FILE,
                format!("no thread can be started: {error}"),
            )])),
        }
    })
}

fn translate_here(name: &str, text: String) -> Result<Model, Vec<Fault>> {
    let (tokens, mut faults) = lexer::tokens(&text, 0);
    let (units, more) = parse::parse(&text, tokens);
    faults.extend(more);
    let mut sources = Sources::default();
    sources.texts.push(Text::new(name, text));
    let model = match faults.is_empty() {
        true => lower::lower(name, &sources, &units),
        false => Err(faults),
    };
    model.map_err(|faults| placed(&sources, faults))
}

/// Faults at their places, in the order of the text, each once.
fn placed(sources: &Sources, mut faults: Vec<(Fault, Span)>) -> Vec<Fault> {
    faults.sort_by_key(|(_, span)| *span);
    faults.dedup();
    let place = |(fault, span): (Fault, Span)| match span == Span::default() {
        true => fault,
        false => sources.place(fault, span),
    };
    faults.into_iter().map(place).collect()
}
