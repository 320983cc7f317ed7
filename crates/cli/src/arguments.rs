//! What can be said on the command line.

mod heed;
mod model;
mod search;
mod selection;
mod values;

pub(crate) use model::{
    CircuitFormat, Format, Modelling, RacesAre, Simulation, Solving, Storing, Temporal,
};
pub(crate) use search::{Asked, Conduct, Search, in_force, wishes};
pub(crate) use selection::Selection;
pub(crate) use values::{IN_FILE, schedule};

use crate::automaton::Format as AutomatonFormat;
use crate::{Failure, memory, promela, runtime};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use mazurka_core::Schedule;
use mazurka_report::ExitStatus;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use values::{Flags, flags};

/// What `--help` says of the exit status.
fn exit_status() -> String {
    let lines = ExitStatus::ALL.map(|it| format!("\n  {:<3}  {}", it.code(), it.meaning()));
    format!("Exit status:{}", lines.concat())
}

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
        let mut known = Self::command();
        let given = known.get_matches_mut();
        let mut arguments = Self::from_arg_matches(&given).unwrap_or_else(|it| it.exit());
        if let Command::Check { engine, files, output, .. } = &mut arguments.command
            && *engine == Engine::Auto
            && !promela::is_among(files)
            && !runtime::is_here()
        {
            *engine = Engine::Vm;
            if !output.quiet {
                let why = runtime::NOWHERE_ELSE;
                eprintln!("note: a model is explored (`--engine vm`): programs run natively {why}");
            }
        }
        if arguments.command.memory_limit().is_some() && !memory::is_measured() {
            let text = "`--memory-limit` is not supported here: the system does not tell how much is in use";
            return Err(Failure::input(text).into());
        }
        let check = known.find_subcommand("check").zip(given.subcommand_matches("check"));
        if let (Command::Check { engine, files, .. }, Some((check, given))) =
            (&arguments.command, check)
        {
            let unheeded = heed::unheeded(check, given, *engine, promela::is_among(files));
            if !unheeded.is_empty() {
                return Err(unheeded);
            }
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile C and C++ files and explore every schedule of the program they make
    ///
    /// The compilers are `gcc` and `g++`, or what the variables `CC` and `CXX` name.
    #[command(after_help = exit_status())]
    Check {
        /// The C and C++ files of one program, or one Promela model (`.pml`)
        #[arg(value_name = "FILE.c", required = true)]
        files: Vec<PathBuf>,
        /// Run the program itself (native), or a model of it (vm, statespace), or decide a circuit
        /// of it (bmc, induction, ic3, bdd, portfolio) [default: auto, which is native]
        #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true)]
        engine: Engine,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        modelling: Modelling,
        #[command(flatten)]
        storing: Storing,
        #[command(flatten)]
        temporal: Temporal,
        #[command(flatten)]
        solving: Solving,
        #[command(flatten)]
        search: Search,
        #[command(flatten)]
        output: Output,
    },
    /// Run one execution of a Promela model, and show its steps
    ///
    /// The exit status is 1 if something goes wrong in it, 3 if it was stopped, and else 0.
    Simulate {
        /// The model
        #[arg(value_name = "FILE.pml")]
        file: PathBuf,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        simulation: Simulation,
    },
    /// Show C files, or a Promela model, as the control-flow graphs that are searched
    Model {
        /// The C files of one program, or one Promela file
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        modelling: Modelling,
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
        build: Build,
        #[command(flatten)]
        modelling: Modelling,
        #[command(flatten)]
        solving: Solving,
        #[command(flatten)]
        temporal: Temporal,
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
    #[command(after_help = exit_status())]
    Run {
        #[command(flatten)]
        search: Search,
        #[command(flatten)]
        output: Output,
        /// The program and its arguments; it reads nothing from standard input
        #[arg(last = true, required = true)]
        program: Vec<OsString>,
    },
    /// Build the tests of a cargo project and explore every schedule of each
    ///
    /// Each `#[test]` is a process of its own. Examples in documentation, benchmarks and tests with
    /// a harness of their own are not run.
    #[command(after_help = exit_status())]
    Test {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        search: Search,
        #[command(flatten)]
        output: Output,
        /// Instead of exploring: follow this schedule of one test, with what it prints
        #[arg(long, value_name = "mzk1:…", value_parser = schedule)]
        replay: Option<Schedule>,
        /// With --replay: print the command that does so under gdb, up to where something goes
        /// wrong
        #[arg(long, requires = "replay")]
        debugger: bool,
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
        output: Output,
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
        #[arg(value_name = "FILE.c")]
        files: Vec<PathBuf>,
        /// The engine that found it [default: auto, which is native]
        #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true)]
        engine: Engine,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        modelling: Modelling,
        #[command(flatten)]
        temporal: Temporal,
        /// The schedule
        #[arg(long, value_name = "mzk1:…", value_parser = schedule)]
        schedule: Option<Schedule>,
        /// Instead of a schedule: a trail of a Promela model, ours or SPIN's
        #[arg(long, value_name = "FILE", conflicts_with = "schedule")]
        trail: Option<PathBuf>,
        #[command(flatten)]
        conduct: Conduct,
        /// Print the command that follows the schedule under gdb, up to where something goes wrong
        #[arg(long)]
        debugger: bool,
        /// Instead of files: a program that was built by `mazurka cc`, and its arguments
        #[arg(last = true)]
        program: Vec<OsString>,
    },
}

impl Command {
    /// How much memory a search may take.
    fn memory_limit(&self) -> Option<u64> {
        match self {
            Self::Check { search, .. } | Self::Run { search, .. } | Self::Test { search, .. } => {
                search.memory_limit
            }
            _ => None,
        }
    }
}

/// How C files are compiled.
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,
    /// More flags for the compiler and the linker, as in a shell
    #[arg(long, value_name = "FLAGS", value_parser = flags, allow_hyphen_values = true)]
    pub(crate) cflags: Option<Flags>,
}

impl Build {
    /// The flags that the user gave.
    pub(crate) fn flags(&self) -> Vec<String> {
        let defines = self.define.iter().map(|define| format!("-D{define}"));
        defines.chain(self.cflags.iter().flat_map(|flags| flags.0.clone())).collect()
    }
}

/// What runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Auto,
    Native,
    Vm,
    Statespace,
    Bmc,
    Induction,
    Ic3,
    Bdd,
    Portfolio,
}

impl Engine {
    /// Whether it decides a circuit.
    pub(crate) fn is_symbolic(self) -> bool {
        matches!(self, Self::Bmc | Self::Induction | Self::Ic3 | Self::Bdd | Self::Portfolio)
    }

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Vm => "vm",
            Self::Statespace => "statespace",
            Self::Bmc => "bmc",
            Self::Induction => "induction",
            Self::Ic3 => "ic3",
            Self::Bdd => "bdd",
            Self::Portfolio => "portfolio",
        }
    }
}

/// Where the result goes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Output {
    /// Write the result as JSON; to `-`, and nothing else is printed on standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Print the verdict on one line
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl Output {
    /// Whether nothing but JSON goes to standard output.
    pub(crate) fn is_json_alone(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// Whether everything is told to people.
    pub(crate) fn is_told(&self) -> bool {
        !self.is_json_alone() && !self.quiet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
