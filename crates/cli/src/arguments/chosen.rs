//! The options of a command, made of the rows of the table that it takes.

use crate::Failure;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use mazurka_check::options::{Group, Options, Row, TABLE, Takes};
use mazurka_check::{ENGINES, Feature, Language};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which rows of the table a command takes.
pub(crate) trait Rows {
    fn has(row: &Row) -> bool;

    /// The letter that stands for an option. Commands that hand flags with one dash to the compiler
    /// have none.
    fn letter(row: &Row) -> Option<char> {
        let _ = row;
        None
    }
}

/// `mazurka check` takes them all.
#[derive(Clone, Debug)]
pub(crate) struct OfCheck;

impl Rows for OfCheck {
    fn has(_: &Row) -> bool {
        true
    }
}

/// `mazurka run` and `mazurka test`: those of engines that run programs which are built already.
#[derive(Clone, Debug)]
pub(crate) struct OfPrograms;

impl Rows for OfPrograms {
    fn has(row: &Row) -> bool {
        let takes = |support: mazurka_check::Support| support.of(Language::Program).is_some();
        let mut supports = ENGINES.iter().map(|engine| engine.supports()).filter(|it| takes(*it));
        let is_built = row.name == "cflags";
        !is_built && supports.any(|support| row.is_for(support.features, Language::Program))
    }

    fn letter(row: &Row) -> Option<char> {
        (row.name == "jobs").then_some('j')
    }
}

/// `mazurka replay`: those that change what a schedule means.
#[derive(Clone, Debug)]
pub(crate) struct OfSchedules;

impl Rows for OfSchedules {
    fn has(row: &Row) -> bool {
        row.is_of_schedules
    }
}

/// `mazurka model` and `mazurka simulate`: those that say what the program is.
#[derive(Clone, Debug)]
pub(crate) struct OfModels;

impl Rows for OfModels {
    fn has(row: &Row) -> bool {
        row.group == Group::Model || row.name == "cflags"
    }
}

/// `mazurka circuit`: those, and how it becomes a circuit.
#[derive(Clone, Debug)]
pub(crate) struct OfCircuits;

impl Rows for OfCircuits {
    fn has(row: &Row) -> bool {
        let is_used = row.is_for(&[Feature::Circuits, Feature::Temporal], Language::C);
        OfModels::has(row) || is_used && [Group::Circuits, Group::Temporal].contains(&row.group)
    }
}

/// Whether `--help` shows everything.
static SHOWS_ALL: AtomicBool = AtomicBool::new(false);

/// From now on everything is shown that a command takes.
pub(super) fn show_all() {
    SHOWS_ALL.store(true, Ordering::Relaxed);
}

/// Whether everything is shown.
pub(crate) fn shows_all() -> bool {
    SHOWS_ALL.load(Ordering::Relaxed)
}

/// The options that were chosen for a command.
#[derive(Clone, Debug)]
pub(crate) struct Chosen<R> {
    pub(crate) options: Options,
    /// Those that the command line has.
    pub(crate) given: Given,
    rows: PhantomData<R>,
}

/// What the command line has of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// The names of the options.
    pub(crate) names: Vec<&'static str>,
    /// Values that are wrong, all of them: they are told with what else is wrong.
    pub(crate) wrong: Vec<Failure>,
}

impl Given {
    /// Refuses values that are wrong.
    pub(crate) fn refuse(&self) -> Result<(), Vec<Failure>> {
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.clone()) }
    }
}

impl<R: Rows> Args for Chosen<R> {
    fn augment_args(command: Command) -> Command {
        let rows = |group| TABLE.iter().filter(move |row| row.group == group && R::has(row));
        let all = Group::ALL.into_iter().flat_map(rows);
        all.fold(command, |command, row| command.arg(argument(row).short(R::letter(row))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<R: Rows> FromArgMatches for Chosen<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut options, mut given) = (Options::default(), Given::default());
        for row in TABLE.iter().filter(|row| R::has(row)) {
            if matches.value_source(row.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            given.names.push(row.name);
            let mut set = |value: &str, written: String| {
                if let Err(error) = (row.set)(&mut options, value) {
                    given.wrong.push(Failure::input(format!("`{written}`: {error}")));
                }
            };
            match row.takes {
                Takes::Nothing => set("on", format!("--{}", row.name)),
                Takes::One(_) | Takes::Many(_) => {
                    for value in matches.get_many::<String>(row.name).into_iter().flatten() {
                        set(value, format!("--{} {value}", row.name));
                    }
                }
            }
        }
        Ok(Self { options, given, rows: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A row as `clap` has it.
fn argument(row: &'static Row) -> Arg {
    let long = match row.more {
        "" => row.help.to_owned(),
        more => format!("{}\n\n{more}", row.help),
    };
    let argument = Arg::new(row.name)
        .long(row.name)
        .help(row.help)
        .long_help(long)
        .help_heading(row.group.heading())
        .hide(!row.is_common && !shows_all());
    match row.takes {
        Takes::Nothing => argument.action(ArgAction::SetTrue),
        // A negative number is a value, though a wrong one for most.
        Takes::One(value) => {
            argument.value_name(value).allow_negative_numbers(true).allow_hyphen_values(row.is_free)
        }
        Takes::Many(value) => argument
            .value_name(value)
            .action(ArgAction::Append)
            .allow_negative_numbers(true)
            .allow_hyphen_values(row.is_free),
    }
}
