//! Promela, as [`Program`]s: control-flow graphs of guarded actions.
//!
//! [`translate`] takes a file to a model, or to everything that is wrong with it. The way there:
//! the preprocessor expands its macros (`preprocess`), the text becomes tokens (`lexer`) and a tree
//! (`parse`, `tree`) in which inline calls are replaced by what they stand for; names and types are
//! resolved and graphs are written (`lower`).
//!
//! ```
//! let model = mazurka_promela::translate_text(
//!     "turns.pml",
//!     "byte n; active proctype p() { do :: n = 1 - n od } ltl often { [] <> (n == 1) }",
//! ).unwrap();
//! assert_eq!(model.program.processes.len(), 1);
//! assert_eq!(model.formulas[0].name, "often");
//!
//! let wrong = "active proctype p() { m = 1 }";
//! let faults = mazurka_promela::translate_text("x.pml", wrong).unwrap_err();
//! assert_eq!(faults.iter().next().unwrap().place(), Some(("x.pml", 1, 23)));
//! ```
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
use preprocess::Preprocessor;
use std::path::{Path, PathBuf};
use tree::{Name, Unit};

/// The parser goes as deep as the model is nested.
const STACK_BYTES: usize = 256 << 20;

/// How to read Promela.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the preprocessor is told: `-DN=3`, `-Iinclude`.
    pub flags: Vec<String>,
    /// What is asked of the model beside what its file says.
    pub asked: ExtraProperties,
}

/// Properties from elsewhere. The macros of the model are expanded in them, too.
#[derive(Clone, Debug, Default)]
pub struct ExtraProperties {
    /// Formulae of temporal logic.
    pub formulas: Vec<String>,
    /// Propositions alone, such as those of an automaton.
    pub propositions: Vec<String>,
    /// A file with a never claim, in place of the model's own.
    pub claim: Option<PathBuf>,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Model {
    /// The processes.
    pub program: Program,
    /// What they should do, as far as it is written as formulae.
    pub formulas: Vec<NamedFormula>,
    /// The formulae that were asked for, in their order; they are named by their texts.
    pub asked: Vec<NamedFormula>,
    /// What the propositions that were asked for mean: truth values, computed without any process.
    pub propositions: Vec<Expr>,
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
        let mut preprocessor = Preprocessor::new(&options.flags)?;
        let text = preprocessor.file(file)?;
        let mut model = translate_here(&file.to_string_lossy(), text, |sources, units| {
            ask(&mut preprocessor, &options.asked, sources, units)
        })?;
        let n_own = model.formulas.len() - options.asked.formulas.len();
        model.asked = model.formulas.split_off(n_own);
        Ok(model)
    })
}

/// The text of a file with its macros expanded, with markers that say where its lines are from.
pub fn preprocess(file: &Path, flags: &[String]) -> Result<String, Faults> {
    let work = || Preprocessor::new(flags).and_then(|mut it| it.file(file));
    with_room(work)
}

/// The model that a text is, without comments and macros.
pub fn translate_text(name: &str, text: &str) -> Result<Model, Faults> {
    with_room(|| translate_here(name, text.to_owned(), |_, _| Ok(Vec::new())))
}

/// Does something with more room on the stack.
fn with_room<T: Send>(work: impl FnOnce() -> Result<T, Vec<Fault>> + Send) -> Result<T, Faults> {
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

/// The model that a text is, with the units that `ask` adds. That returns what is wrong with their
/// syntax.
fn translate_here(
    name: &str,
    text: String,
    ask: impl FnOnce(&mut Sources, &mut Vec<Unit>) -> Result<Vec<(Fault, Span)>, Vec<Fault>>,
) -> Result<Model, Vec<Fault>> {
    let (tokens, mut faults) = lexer::tokens(&text, 0);
    let (mut units, more) = parse::parse(&text, tokens, &[]);
    faults.extend(more);
    let mut sources = Sources::default();
    sources.texts.push(Text::new(name, text));
    faults.extend(ask(&mut sources, &mut units)?);
    let model = match faults.is_empty() {
        true => lower::lower(name, &sources, &units),
        false => Err(faults),
    };
    model.map_err(|faults| placed(&sources, faults))
}

/// Adds what is asked to what the model says. Returns what is wrong with its syntax.
fn ask(
    preprocessor: &mut Preprocessor,
    asked: &ExtraProperties,
    sources: &mut Sources,
    units: &mut Vec<Unit>,
) -> Result<Vec<(Fault, Span)>, Vec<Fault>> {
    let ExtraProperties { formulas, propositions, claim } = asked;
    let claim = match claim {
        Some(path) => Some((path.to_string_lossy(), preprocess::written(path)?)),
        None => None,
    };
    let written: Vec<String> = formulas
        .iter()
        .chain(propositions)
        .chain(claim.iter().map(|(_, text)| text))
        .cloned()
        .collect();
    let mut faults = Vec::new();
    for (idx, written) in written.iter().enumerate() {
        let name = match &claim {
            Some((name, _)) if idx + 1 == formulas.len() + propositions.len() + 1 => name.as_ref(),
            _ if idx < formulas.len() => "--ltl",
            _ => "a proposition",
        };
        // Each is a text of its own, and shown as one.
        let name = if idx == 0 { name.to_owned() } else { format!("{name} ({})", idx + 1) };
        let text = preprocessor.text(&name, written)?;
        let end = text.len() as u32;
        let text_idx = sources.add(&name, written, text.clone());
        let span = Span { text_idx, start: 0, end };
        if idx < formulas.len() {
            let name = Some(Name { text: written.clone(), span });
            units.push(Unit::Formula { name, text, span });
        } else if idx < formulas.len() + propositions.len() {
            units.push(Unit::Proposition { text, span });
        } else {
            faults.extend(replace_claim(&text, span, units));
        }
    }
    Ok(faults)
}

/// Puts the never claim of a text in place of the model's. Returns what is wrong with its syntax.
fn replace_claim(text: &str, span: Span, units: &mut Vec<Unit>) -> Vec<(Fault, Span)> {
    let (tokens, mut faults) = lexer::tokens(text, span.text_idx);
    let name = |unit: &Unit| match unit {
        Unit::Proctype(proctype) => Some(proctype.name.text.clone()),
        _ => None,
    };
    let proctypes: Vec<String> = units.iter().filter_map(name).collect();
    let (claims, more) = parse::parse(text, tokens, &proctypes);
    faults.extend(more);
    units.retain(|unit| !matches!(unit, Unit::Never { .. }));
    let is_claim = matches!(claims[..], [Unit::Never { .. }]);
    if !is_claim && faults.is_empty() {
        let fault = Fault::new(fault::code::FORMULA, "expected one never claim and nothing else");
        faults.push((
            fault.help("a file with `never { … }`, or an automaton in the HOA format"),
            span,
        ));
    }
    units.extend(claims);
    faults
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
