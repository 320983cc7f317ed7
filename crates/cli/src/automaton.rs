//! `mazurka automaton`: a formula as an automaton.

use crate::{Done, Failure, show};
use clap::ValueEnum;
use mazurka_ltl::{Formula, ParseError, Pool, hoa, print, translate};
use mazurka_report::ExitStatus;
use std::ops::Range;

/// How an automaton is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A graph for Graphviz
    Dot,
    /// The Hanoi Omega-Automata format
    Hoa,
    /// A never claim of Promela
    Never,
}

/// Prints the automaton of a formula, or of its negation.
pub(crate) fn automaton(text: &str, negate: bool, format: Format) -> Done {
    let mut atoms = Vec::new();
    let formula = Formula::parse(text, &mut atoms).map_err(|error| wrong(text, &error))?;
    let mut pool = Pool::new();
    let mut normal = pool.add(&formula);
    if negate {
        normal = pool.not(normal);
    }
    let automaton =
        translate(&mut pool, normal, &atoms).map_err(|error| Failure::input(error.to_string()))?;
    let title = if negate { format!("!({text})") } else { text.to_owned() };
    show(&match format {
        Format::Dot => print::dot(&automaton, &title),
        Format::Hoa => hoa::write(&automaton, &title),
        Format::Never => print::never(&automaton, &title),
    });
    Ok(ExitStatus::Holds)
}

/// What is wrong with a formula, and where.
pub(crate) fn wrong(text: &str, error: &ParseError) -> Failure {
    let ParseError { expected, found, offset, len, help } = error;
    let help = help.as_ref().map_or(String::new(), |it| format!("; `{it}` is what may be meant"));
    marked(text, *offset..offset + len, &format!("expected {expected}, found {found}{help}"))
}

/// What is wrong with a part of a text: the caret is under it.
pub(crate) fn marked(text: &str, part: Range<usize>, message: &str) -> Failure {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = text[..part.start].chars().count();
    let len = text.get(part).map_or(1, |it| it.chars().count());
    let (space, carets) = (" ".repeat(before), "^".repeat(len.max(1)));
    Failure::input(format!("{message}\n  | {line}\n  | {space}{carets}"))
}
