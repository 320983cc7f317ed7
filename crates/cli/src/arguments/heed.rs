//! Which engine heeds which option of `mazurka check`.
//!
//! Whoever gives an option to an engine that does not know of it would believe that it was followed, so
//! that is refused: all such options at once, with the engines that take them.

use super::Engine;
use crate::Failure;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use std::ffi::OsStr;

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Native,
    Vm,
    /// States of C programs.
    Statespace,
    /// States of Promela models.
    Promela,
    Circuits,
}

use Who::{Circuits, Native, Promela, Statespace, Vm};

const EXECUTIONS: &[Who] = &[Native, Vm];
const STATES: &[Who] = &[Statespace, Promela];
const SEARCHES: &[Who] = &[Native, Vm, Statespace, Promela];
const MODELS_OF_C: &[Who] = &[Vm, Statespace, Circuits];
const TEMPORAL: &[Who] = &[Statespace, Promela, Circuits];

/// Options that are not for all, by the names of their fields.
const OPTIONS: &[(&str, &[Who])] = &[
    ("externs", MODELS_OF_C),
    ("races", MODELS_OF_C),
    ("spurious_wakeups", MODELS_OF_C),
    ("nondet", MODELS_OF_C),
    ("stateful", &[Vm]),
    ("jobs", &[Vm, Statespace, Promela]),
    ("storage", STATES),
    ("shorten", STATES),
    ("trail", &[Promela]),
    ("ltl", TEMPORAL),
    ("ltl_name", &[Promela]),
    ("automaton", TEMPORAL),
    ("fairness", TEMPORAL),
    ("cycles", STATES),
    ("construction", STATES),
    ("schedule", &[Circuits]),
    ("depth", &[Circuits]),
    ("recursion", &[Circuits]),
    ("proof", &[Circuits]),
    ("reduction", SEARCHES),
    ("bound", EXECUTIONS),
    ("iterate", EXECUTIONS),
    ("bpor_opt", EXECUTIONS),
    ("sleep", EXECUTIONS),
    ("order", SEARCHES),
    ("seed", EXECUTIONS),
    ("coverage", EXECUTIONS),
    ("max_executions", EXECUTIONS),
    ("max_depth", SEARCHES),
    ("allow", &[Native]),
    ("trust", &[Native]),
    ("strict", &[Native]),
    ("retries", &[Native]),
];

/// Properties that are not looked for by all; those that are not here are.
const PROPERTIES: &[(&str, &[Who])] = &[
    ("race", &[Native, Vm, Statespace, Circuits]),
    ("livelock", &[Native, Vm, Promela, Circuits]),
    ("overflow", &[Vm, Statespace, Promela, Circuits]),
    ("leak", &[Native, Vm, Statespace]),
    ("ltl", TEMPORAL),
];

impl Who {
    fn of(engine: Engine, is_model: bool) -> Self {
        match engine {
            _ if is_model => Promela,
            Engine::Auto | Engine::Native => Native,
            Engine::Vm => Vm,
            Engine::Statespace => Statespace,
            _ => Circuits,
        }
    }

    /// How to ask for it.
    fn asked(self) -> &'static str {
        match self {
            Native => "`--engine native`",
            Vm => "`--engine vm`",
            Statespace => "`--engine statespace`",
            Promela => "Promela models",
            Circuits => "engines that decide a circuit",
        }
    }
}

/// What was given to `mazurka check`, and is not for its engine.
pub(super) fn unheeded(
    check: &Command,
    given: &ArgMatches,
    engine: Engine,
    is_model: bool,
) -> Vec<Failure> {
    let who = Who::of(engine, is_model);
    let mut failures = Vec::new();
    if is_model && !matches!(engine, Engine::Auto | Engine::Statespace) {
        let text = format!("`--engine {}` is for C programs", engine.name());
        let help = "the states of a Promela model are searched: leave `--engine` out";
        failures.push(Failure::input(text).help(help));
    }
    for (id, heeding) in OPTIONS {
        let is_given = given.value_source(id) == Some(ValueSource::CommandLine);
        if is_given && !heeding.contains(&who) {
            let argument = check.get_arguments().find(|it| it.get_id() == id);
            let name = argument.and_then(|it| it.get_long()).unwrap_or(id);
            failures.push(refused(&format!("--{name}"), heeding));
        }
    }
    let properties = given.get_raw("property").into_iter().flatten().filter_map(OsStr::to_str);
    for name in properties.flat_map(|it| it.split(',')) {
        let known = PROPERTIES.iter().find(|(property, _)| *property == name);
        if let Some((_, looking)) = known.filter(|(_, looking)| !looking.contains(&who)) {
            failures.push(refused(&format!("--property {name}"), looking));
        }
    }
    failures
}

fn refused(what: &str, heeding: &[Who]) -> Failure {
    let names: Vec<&str> = heeding.iter().map(|who| who.asked()).collect();
    let names = match names.split_last() {
        Some((last, [])) => format!("{last} alone"),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => unreachable!("every option is for somebody"),
    };
    Failure::input(format!("`{what}` is for {names}"))
}
