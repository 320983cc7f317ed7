//! What can be said on the command line.

mod chosen;
mod flags;
mod run_options;
mod selection;
mod values;

pub(crate) use chosen::{
    Chosen, Given, OfCheck, OfCircuits, OfModels, OfPrograms, OfSchedules, shows_all,
};
pub(crate) use run_options::RunArguments;
pub(crate) use selection::SelectionArguments;
pub(crate) use values::{Choice, IN_FILE, schedule};

use crate::Failure;
use crate::automaton::Format as AutomatonFormat;
use crate::doctor::Told;
use crate::output::Output;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use mazurka_core::Schedule;
use mazurka_report::ExitStatus;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use values::{AUTO, choice};

/// What `--help` says of the exit status.
fn exit_status() -> String {
    let lines = ExitStatus::ALL.map(|it| format!("\n  {:<3}  {}", it.code(), it.meaning()));
    format!("Exit status:{}", lines.concat())
}

/// The same, and where the other options are.
fn exit_status_and_more() -> String {
    format!("`--help-all` has all options.\n\n{}", exit_status())
}

/// The same for several tests.
fn exit_status_of_tests() -> String {
    let worst = "The exit status of several tests is that of the worst: 101, then 1, 2, 3, and 0 if \
                 all hold. Tests that were not run because something stopped the run count as 3; \
                 that there are none to run is 2.";
    format!("{}\n\n{worst}", exit_status_and_more())
}

/// The word that asks for all of `--help`.
const HELP_ALL: &str = "--help-all";

/// Checks concurrent programs under every schedule.
#[derive(Debug, Parser)]
#[command(name = "mazurka", version, after_help = exit_status())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// What was said on the command line. Where that is no command, or asks for help, this is the
    /// end.
    pub(crate) fn read() -> Result<Self, Vec<Failure>> {
        Self::of(std::env::args_os().collect())
    }

    /// The same of these words, the first of which is the name of the command.
    pub(crate) fn of(mut words: Vec<OsString>) -> Result<Self, Vec<Failure>> {
        let behind = words.iter().position(|word| word == "--").unwrap_or(words.len());
        if words.get(1).is_some_and(|word| word == "completions" || word == "man") {
            chosen::show_all();
        }
        for word in words[..behind].iter_mut().filter(|word| *word == HELP_ALL) {
            chosen::show_all();
            *word = "--help".into();
        }
        let known = Self::command();
        let flags = match words.get(1).and_then(|name| known.find_subcommand(name)) {
            Some(command) if COMPILING.contains(&command.get_name()) => {
                let (ours, flags) = flags::split(command, words.split_off(2));
                words.extend(ours);
                flags
            }
            _ => Vec::new(),
        };
        let given = known.get_matches_from(words);
        let mut arguments = Self::from_arg_matches(&given).unwrap_or_else(|it| it.exit());
        if let Some(options) = arguments.command.options_mut() {
            options.flags.extend(flags);
        }
        Ok(arguments)
    }

    /// What makes a shell complete the words of this command.
    pub(crate) fn completions(shell: clap_complete::Shell) -> String {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Self::command(), "mazurka", &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Writes the manual pages of all commands into a folder.
    pub(crate) fn write_manual(folder: &Path) -> Result<(), Failure> {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Self::command(), folder));
        written.map_err(|error| {
            Failure::input(format!("`{}` cannot be written to: {error}", folder.display()))
        })
    }
}

/// The commands that take flags of the compiler.
const COMPILING: [&str; 7] = ["check", "split", "replay", "model", "circuit", "simulate", "orders"];

/// What `--engine` says of itself.
fn engines() -> String {
    let names = values::names().join(", ");
    format!("What decides: {names}; or {AUTO}, the one that suits the program [default: {AUTO}]")
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the program that C and C++ files make, or a Promela model, under every schedule
    ///
    /// Flags that begin with one dash go to the compiler: `mazurka check x.c -DN=3 -Iinclude -lm --
    /// ARGUMENTS`. The compilers are `gcc` and `g++`, or what the variables `CC` and `CXX` name.
    #[command(after_help = exit_status_and_more())]
    Check {
        /// The C and C++ files of one program, or one Promela model (`.pml`)
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[arg(long, value_name = "NAME", default_value = AUTO, hide_default_value = true)]
        #[arg(value_parser = choice, help = engines())]
        engine: Choice,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        chosen: Box<Chosen<OfCheck>>,
        /// What the program is given
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Begin a search, and split the rest into files for as many machines
    ///
    /// Each file is explored by `mazurka check … --resume FILE`, anywhere where the program is the
    /// same; `mazurka merge` tells what all of them have come to. The output has the commands. What
    /// the options say holds for all parts.
    #[command(after_help = exit_status_and_more())]
    Split {
        /// The C and C++ files of one program
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How many parts
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        into: u32,
        /// The folder of the parts: `01.mzs`, `02.mzs` and so on
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// What explores: native or vm; or auto, the one that suits the program
        #[arg(long, value_name = "NAME", default_value = AUTO, hide_default_value = true)]
        #[arg(value_parser = choice)]
        engine: Choice,
        #[command(flatten)]
        chosen: Box<Chosen<OfCheck>>,
        /// What the program is given; without files, a program that was built by `mazurka cc` and
        /// its arguments
        #[arg(last = true)]
        program: Vec<OsString>,
    },
    /// Tell what the parts of a search have come to, together
    ///
    /// The verdict and the numbers are those of one search, if all parts are there and at their
    /// end, or if something goes wrong in one of them. Else the exit status is 3, and the output
    /// says which parts are missing and how to go on with the others.
    #[command(after_help = exit_status())]
    Merge {
        /// The files of all parts: `DIR/*.mzs`
        #[arg(value_name = "FILE.mzs", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Explore units of searches that others ask for by `--workers`
    ///
    /// A worker runs the programs of others, those who hold the private keys of `--trust-key`: each
    /// slice in a fresh folder, with limits, and as user 65534 if the worker is root. It takes a
    /// unit of a search from the broker, explores it for a while and writes one record of it; it
    /// may be killed at any time. The variables `NATS_CREDS`, `NATS_CA`, `NATS_CERT` and `NATS_KEY`
    /// name the files that the broker asks for.
    Worker {
        /// The broker: nats://HOST or tls://HOST
        #[arg(value_name = "URL")]
        url: String,
        /// How many slices to explore at a time [default: as many as there are cores]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
        jobs: Option<u32>,
        /// The public keys of those whose programs to run, one a line (`mazurka fleet keygen`)
        #[arg(long, value_name = "FILE", required = true)]
        trust_key: Vec<PathBuf>,
        /// Memory that one slice may use
        #[arg(long, value_name = "SIZE", default_value = "4G")]
        slice_memory: String,
        /// What the worker is called [default: host and process]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Look at the searches of a broker, end them, and make keys
    Fleet {
        #[command(subcommand)]
        what: FleetCommand,
    },
    /// Explore one slice, in the current folder, for a worker
    #[command(hide = true)]
    Slice {
        /// The process that waits for it
        parent: u32,
    },
    /// Run one execution of a Promela model, and show its steps
    ///
    /// The exit status is 1 if something goes wrong in it, 3 if it was stopped, and else 0.
    Simulate {
        /// The model
        #[arg(value_name = "FILE.pml")]
        file: PathBuf,
        #[command(flatten)]
        chosen: Box<Chosen<OfModels>>,
        #[command(flatten)]
        simulation: Simulation,
    },
    /// Show C files, or a Promela model, as the control-flow graphs that are searched
    Model {
        /// The C files of one program, or one Promela file
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        chosen: Box<Chosen<OfModels>>,
        /// As text, or as a picture for `dot`
        #[arg(long, value_name = "text|dot", default_value = "text", hide_possible_values = true)]
        format: Format,
    },
    /// Write C files as the circuit that solvers decide, for other checkers
    Circuit {
        /// The C files of one program
        #[arg(value_name = "FILE.c", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        chosen: Box<Chosen<OfCircuits>>,
        /// As AIGER, in text or binary form, or as BTOR2
        #[arg(long, value_name = "aag|aig|btor2", default_value = "aag")]
        #[arg(hide_possible_values = true)]
        format: CircuitFormat,
    },
    /// Compile and link as the C compiler does, for `mazurka run`: `make CC="mazurka cc"`
    ///
    /// All arguments go to the compiler, which is `gcc` or what `CC` names.
    Cc {
        /// What the compiler is given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// The same for C++: `make CXX="mazurka c++"`
    ///
    /// All arguments go to the compiler, which is `g++` or what `CXX` names.
    #[command(name = "c++")]
    Cxx {
        /// What the compiler is given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Explore every schedule of a program that was built by `mazurka cc` or `mazurka c++`
    ///
    /// `mazurka run ./program arguments`, or behind `--` if an argument begins with a dash.
    #[command(after_help = exit_status_and_more())]
    Run {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        chosen: Box<Chosen<OfPrograms>>,
        /// The program and its arguments; it reads nothing from standard input
        #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true)]
        program: Vec<OsString>,
    },
    /// Build the tests of a cargo project and explore every schedule of each
    ///
    /// Each `#[test]` is a process of its own. Examples in documentation and targets with a harness
    /// of their own are not run, and named. Examples and benchmarks are not built unless they are
    /// asked for. The tests are built with the condition `mazurka`: `cfg!(mazurka)`.
    ///
    /// `target/mazurka/index.html` has the last run as a page. `cargo mazurka test` is the same.
    #[command(after_help = exit_status_of_tests())]
    Test {
        #[command(flatten)]
        selection: Box<SelectionArguments>,
        #[command(flatten)]
        run: RunArguments,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        chosen: Box<Chosen<OfPrograms>>,
        /// Instead of exploring: follow this schedule of one test, with what it prints
        #[arg(long, value_name = "mzk1:…", value_parser = schedule)]
        replay: Option<Schedule>,
        /// With --replay: print the command that does so under gdb, up to where something goes
        /// wrong
        #[arg(long, requires = "replay")]
        debugger: bool,
    },
    /// Say which memory orders are needed: weaken each atomic access, and check again
    ///
    /// Of C and C++ files, or of the tests of a cargo project: each place that accesses atomics or
    /// has a fence is given weaker orders, one place at a time, and everything is explored under
    /// `--memory rc11`. An order is needed if something goes wrong with a weaker one.
    /// `--time-limit` is for each search [default: 10s].
    ///
    /// The exit status is 3 if something was not decided, and else 0.
    Orders {
        #[command(flatten)]
        selection: Box<SelectionArguments>,
        #[arg(long, value_name = "NAME", default_value = AUTO, hide_default_value = true)]
        #[arg(value_parser = choice, help = "What explores: native, vm or auto")]
        engine: Choice,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
        /// Print a unified diff that makes all orders weaker which can be at once
        #[arg(long, conflicts_with = "json")]
        diff: bool,
        #[command(flatten)]
        chosen: Box<Chosen<OfPrograms>>,
    },
    /// Say what can be checked on this machine, by which compilers, and what is missing
    ///
    /// Small programs are built and checked by every compiler that is found. What is missing is
    /// told with the line that installs it.
    ///
    /// The exit status is 0 if C, C++, Rust, models of C and Promela can all be checked with the
    /// compilers that are taken by default, and else 1.
    Doctor {
        #[command(flatten)]
        output: Told,
    },
    /// Print what makes a shell complete the words of this command
    ///
    /// For instance `mazurka completions bash >
    /// ~/.local/share/bash-completion/completions/mazurka`.
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    #[command(hide = true)]
    Man {
        /// The folder
        folder: PathBuf,
    },
    /// Print a formula of linear temporal logic as a Büchi automaton
    ///
    /// The syntax is SPIN's: `[]`, `<>`, `U`, `V`, `W`, `X`, `!`, `&&`, `||`, `->`, `<->`, or the
    /// words `always`, `eventually`, `until`, `release`, `weakuntil`, `next`, `implies`,
    /// `equivalent`.
    Automaton {
        /// The formula
        #[arg(allow_hyphen_values = true)]
        formula: String,
        /// Take the negation: what accepts the executions that violate the formula
        #[arg(long)]
        negate: bool,
        /// How to write it
        #[arg(long, value_enum, default_value_t = AutomatonFormat::Dot)]
        format: AutomatonFormat,
    },
    /// Follow one schedule, with what the program prints
    ///
    /// The schedule is what the line `Replay:` of a violation ends with; it may stand behind
    /// `--schedule`, or last. `@FILE` is one that is in a file, by itself or in what `--json FILE`
    /// wrote.
    ///
    /// The exit status is 1 if something goes wrong in the execution, and else 0.
    Replay {
        /// The C and C++ files of one program
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The engine that found it
        #[arg(long, value_name = "NAME", default_value = AUTO, hide_default_value = true)]
        #[arg(value_parser = choice)]
        engine: Choice,
        /// The schedule
        #[arg(long, value_name = "mzk1:…", value_parser = schedule)]
        schedule: Option<Schedule>,
        /// Instead of a schedule: a trail of a Promela model, ours or SPIN's
        #[arg(long, value_name = "FILE", conflicts_with = "schedule")]
        trail: Option<PathBuf>,
        #[command(flatten)]
        chosen: Box<Chosen<OfSchedules>>,
        /// Print the command that follows the schedule under gdb, up to where something goes wrong
        #[arg(long)]
        debugger: bool,
        /// Instead of files: a program that was built by `mazurka cc`, and its arguments
        #[arg(last = true)]
        program: Vec<OsString>,
    },
}

impl Command {
    /// Has a command that explores write to somewhere else.
    pub(crate) fn set_output(&mut self, to: Output) {
        if let Self::Check { output, .. } | Self::Run { output, .. } = self {
            *output = to;
        }
    }

    /// The options of a command that takes flags of the compiler.
    fn options_mut(&mut self) -> Option<&mut mazurka_check::Options> {
        match self {
            Self::Check { chosen, .. } | Self::Split { chosen, .. } => Some(&mut chosen.options),
            Self::Simulate { chosen, .. } | Self::Model { chosen, .. } => Some(&mut chosen.options),
            Self::Circuit { chosen, .. } => Some(&mut chosen.options),
            Self::Replay { chosen, .. } => Some(&mut chosen.options),
            Self::Run { chosen, .. } | Self::Test { chosen, .. } | Self::Orders { chosen, .. } => {
                Some(&mut chosen.options)
            }
            Self::Cc { .. }
            | Self::Cxx { .. }
            | Self::Doctor { .. }
            | Self::Merge { .. }
            | Self::Worker { .. }
            | Self::Fleet { .. }
            | Self::Slice { .. }
            | Self::Completions { .. }
            | Self::Man { .. }
            | Self::Automaton { .. } => None,
        }
    }
}

/// What to do with the searches of a broker.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Tell how far the searches are, and who explores them
    Status {
        /// The broker: nats://HOST or tls://HOST
        #[arg(value_name = "URL")]
        url: String,
        /// As Prometheus reads it
        #[arg(long)]
        prometheus: bool,
    },
    /// End a search, or all of them
    Cancel {
        /// The broker: nats://HOST or tls://HOST
        #[arg(value_name = "URL")]
        url: String,
        /// The search, as `mazurka fleet status` names it; all of them without it
        #[arg(value_name = "JOB")]
        job: Option<String>,
    },
    /// Make a key: FILE for `--sign-key`, and FILE.pub for `--trust-key` of workers
    Keygen {
        /// The file of the private key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// How a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Dot,
}

/// How a circuit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CircuitFormat {
    Aag,
    Aig,
    Btor2,
}

/// How an execution of a model is chosen.
#[derive(Debug, Args)]
pub(crate) struct Simulation {
    /// Seed of the random number generator: the same seed, the same execution
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Ask which step comes next
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Stop after so many steps
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) steps: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
