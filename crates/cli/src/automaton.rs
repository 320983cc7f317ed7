//! `mazurka automaton`: a formula as an automaton.

use crate::tell::show;
use crate::{Done, Failure};
use clap::ValueEnum;
use mazurka_ltl::{Formula, Pool, hoa, print, translate};
use mazurka_report::ExitStatus;

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
    let formula =
        Formula::parse(text, &mut atoms).map_err(|error| Failure::formula(text, &error))?;
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
