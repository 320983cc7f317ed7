//! What can be said on the command line.

use crate::Failure;
use crate::automaton::Format as AutomatonFormat;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mazurka_c::Extern;
use mazurka_core::Schedule;
use mazurka_explore::{Bound, BporOpt, OptionError, Options, Order, Reduction};
use mazurka_report::ExitStatus;
use mazurka_statespace::{
    self as stored, Construction, CycleSearch, Fairness, Options as Stored, Storage,
};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

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
        /// Run the program itself (native), or a model of it (vm, statespace), or decide a circuit of
        /// it (bmc, induction, ic3, bdd, portfolio) [default: auto, which is native]
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
    /// Each `#[test]` is a process of its own. Examples in documentation, benchmarks and tests with a
    /// harness of their own are not run.
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
        /// With --replay: print the command that does so under gdb, up to where something goes wrong
        #[arg(long, requires = "replay")]
        debugger: bool,
    },
    /// Print a formula of linear temporal logic as a Büchi automaton
    ///
    /// The syntax is SPIN's: `[]`, `<>`, `U`, `V`, `W`, `X`, `!`, `&&`, `||`, `->`, `<->`, or the words
    /// `always`, `eventually`, `until`, `release`, `weakuntil`, `next`, `implies`, `equivalent`.
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
    /// `--schedule`, or last.
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

/// Words of a shell.
#[derive(Clone, Debug)]
pub(crate) struct Flags(pub(crate) Vec<String>);

impl Build {
    /// The flags that the user gave.
    pub(crate) fn flags(&self) -> Vec<String> {
        let defines = self.define.iter().map(|define| format!("-D{define}"));
        defines.chain(self.cflags.iter().flat_map(|flags| flags.0.clone())).collect()
    }
}

/// How an execution of a model is chosen.
#[derive(Debug, Args)]
pub(crate) struct Simulation {
    /// Draws the steps: the same seed, the same execution
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Ask which step comes next
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Stop after so many steps
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) steps: usize,
}

/// Which tests of a cargo project, named as cargo does.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Only tests with a name that contains one of these; may also stand behind `--`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[arg(last = true, hide = true)]
    more_names: Vec<String>,
    /// The names are those of tests, in full
    #[arg(long)]
    exact: bool,
    /// Tests that are marked to be ignored, too
    #[arg(long)]
    pub(crate) include_ignored: bool,
    /// Only this package
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Only the tests of the library
    #[arg(long)]
    lib: bool,
    /// Only this file of tests
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// All files of tests
    #[arg(long)]
    tests: bool,
    /// Only the tests of this binary
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// Features to build with
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<String>,
    /// Build with all features
    #[arg(long)]
    all_features: bool,
    /// Build without the default features
    #[arg(long)]
    no_default_features: bool,
    /// Build with optimisations
    #[arg(short, long)]
    release: bool,
    /// The project
    #[arg(long, value_name = "Cargo.toml")]
    manifest_path: Option<String>,
    /// Without the network
    #[arg(long)]
    offline: bool,
    /// With the versions of `Cargo.lock`
    #[arg(long)]
    locked: bool,
}

impl Selection {
    /// What cargo is told.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.manifest_words();
        let lists = [
            ("--package", &self.package),
            ("--test", &self.test),
            ("--bin", &self.bin),
            ("--features", &self.features),
        ];
        for (flag, values) in lists {
            words.extend(values.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        let switches = [
            ("--workspace", self.workspace),
            ("--lib", self.lib),
            ("--tests", self.tests),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
        ];
        words.extend(
            switches.iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| (*flag).to_owned()),
        );
        words
    }

    /// What every command of cargo is told.
    pub(crate) fn manifest_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(path) = &self.manifest_path {
            words.extend(["--manifest-path".to_owned(), path.clone()]);
        }
        let switches = [("--offline", self.offline), ("--locked", self.locked)];
        words.extend(
            switches.iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| (*flag).to_owned()),
        );
        words
    }

    /// Whether a test was asked for.
    pub(crate) fn wants(&self, test: &str) -> bool {
        let mut names = self.names.iter().chain(&self.more_names).peekable();
        let is_one = |name: &String| if self.exact { test == name } else { test.contains(name) };
        names.peek().is_none() || names.any(is_one)
    }

    /// The command that builds the same tests again and takes one of them.
    pub(crate) fn again(&self, test: &str) -> String {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        words.extend(self.words());
        words.extend(["--exact".to_owned(), test.to_owned()]);
        crate::quoted(words.iter().map(Into::into))
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

/// How a circuit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CircuitFormat {
    Aag,
    Aig,
    Btor2,
}

/// How a circuit is decided.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --engine bmc, induction, ic3, bdd and portfolio")]
pub(crate) struct Solving {
    /// Who may move: interleaving, stubborn, transactions, ppor or mpor
    ///
    /// All of them find the same violations. `transactions` leaves out more than `stubborn`, and
    /// `mpor`, which takes each trace once, more than `ppor`.
    #[arg(long, value_name = "NAME", default_value = "transactions")]
    pub(crate) schedule: mazurka_symbolic::Schedule,
    /// Look at executions of up to so many steps
    #[arg(long, value_name = "K")]
    pub(crate) depth: Option<usize>,
    /// Let a function call itself up to so many times; without it, one that does is refused
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) recursion: u32,
}

/// How a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Dot,
}

/// How a model is made of C files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --engine vm and --engine statespace")]
pub(crate) struct Modelling {
    /// What a function without a body does: return any value, or return 0
    #[arg(long = "extern", value_name = "NAME=nondet|skip", value_parser = external)]
    pub(crate) externs: Vec<(String, Extern)>,
    /// Whether a data race is an error, or every access to shared memory a step of its own
    #[arg(long, value_name = "error|allow", default_value = "error", hide_possible_values = true)]
    pub(crate) races: RacesAre,
    /// Let waits on condition variables end for no reason
    #[arg(long)]
    pub(crate) spurious_wakeups: bool,
    /// What `__VERIFIER_nondet_int` and its like may return [default: all values of the type]
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) nondet: Option<(i64, i64)>,
    /// Store states, and end an execution where it meets one
    #[arg(long)]
    pub(crate) stateful: bool,
    /// How many threads share the search
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: usize,
}

/// How states are stored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --engine statespace")]
pub(crate) struct Storing {
    /// How states are stored: exact, tree, compact or bitstate
    ///
    /// `tree` takes the least memory of those that never take one state for another.
    #[arg(long, value_name = "NAME", default_value = "tree", value_parser = storage)]
    storage: Storage,
    /// After a violation, go on for shorter ways to one; `--order bfs` finds a shortest way at once
    #[arg(long)]
    shorten: bool,
    /// Write a violation of a Promela model as a trail, for `spin -t -k` and `mazurka replay --trail`
    #[arg(long, value_name = "FILE")]
    pub(crate) trail: Option<PathBuf>,
}

/// What executions that never end are held against, and which ones count.
#[derive(Debug, Default, Args)]
#[command(
    next_help_heading = "Temporal properties, of Promela models and with --engine statespace"
)]
pub(crate) struct Temporal {
    /// Check a formula of linear temporal logic, in SPIN's syntax; may be given several times
    ///
    /// With this, `--ltl-name` or `--automaton`, these properties and failed assertions are looked for.
    /// Without any of them, whatever a model says: its assertions, its ends, all its `ltl` blocks, and
    /// its never claim or accept labels.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub(crate) ltl: Vec<String>,
    /// Check an `ltl` block of the model; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) ltl_name: Vec<String>,
    /// Check that no execution is accepted by the automaton of a file: HOA, or a never claim
    #[arg(long, value_name = "FILE")]
    pub(crate) automaton: Option<PathBuf>,
    /// Which executions that never end count: none asks for nothing, weak and strong for fairness to
    /// every process, trace for no step that nothing depends on to be left out
    #[arg(long, value_name = "NAME", value_parser = fairness)]
    pub(crate) fairness: Option<Fairness>,
    /// How accepting cycles are looked for: components or nested (without fairness)
    #[arg(long, value_name = "NAME", value_parser = cycle_search, hide_default_value = true)]
    pub(crate) cycles: Option<CycleSearch>,
    /// When the states of the program are found: on-the-fly or off-line
    #[arg(long, value_name = "NAME", value_parser = construction)]
    pub(crate) construction: Option<Construction>,
}

impl Temporal {
    /// Whether certain properties are asked for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.ltl.is_empty() || !self.ltl_name.is_empty() || self.automaton.is_some()
    }

    /// Whether anything is said.
    pub(crate) fn is_given(&self) -> bool {
        let how = self.fairness.is_some() || self.cycles.is_some() || self.construction.is_some();
        self.is_asked() || how
    }

    /// Adds it to the options of a search.
    pub(crate) fn add_to(&self, options: &mut Stored) {
        options.fairness = self.fairness.unwrap_or_default();
        options.cycle_search = self.cycles.unwrap_or_default();
        options.construction = self.construction.unwrap_or_default();
    }
}

fn fairness(text: &str) -> Result<Fairness, String> {
    let known = Fairness::ALL.into_iter().find(|it| it.name() == text);
    known.ok_or_else(|| "there are none, weak, strong and trace".to_owned())
}

fn cycle_search(text: &str) -> Result<CycleSearch, String> {
    let known = CycleSearch::ALL.into_iter().find(|it| it.name() == text);
    known.ok_or_else(|| "there are components and nested".to_owned())
}

fn construction(text: &str) -> Result<Construction, String> {
    let known = Construction::ALL.into_iter().find(|it| it.name() == text);
    known.ok_or_else(|| "there are on-the-fly and off-line".to_owned())
}

fn storage(text: &str) -> Result<Storage, String> {
    let known = Storage::ALL.into_iter().find(|storage| storage.name() == text);
    known.ok_or_else(|| "there are exact, tree, compact and bitstate".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RacesAre {
    Error,
    Allow,
}

fn external(text: &str) -> Result<(String, Extern), String> {
    match text.split_once('=') {
        Some((name, "nondet")) => Ok((name.to_owned(), Extern::Nondet)),
        Some((name, "skip")) => Ok((name.to_owned(), Extern::Skip)),
        _ => Err("a function and what it does: `next_ticket=nondet` or `log=skip`".to_owned()),
    }
}

fn range(text: &str) -> Result<(i64, i64), String> {
    let wrong = || "a range is two numbers, the smaller one first: -1..3".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<i64>().map_err(|_| wrong());
    let (low, high) = (number(low)?, number(high)?);
    if low <= high { Ok((low, high)) } else { Err(wrong()) }
}

/// How to search, and for what.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What is left out: none, persistent, dpor, source, monotonic or optimal
    ///
    /// By default `optimal`; `dpor` within a bound that `optimal` has no use for, and `source` with
    /// `--order best-first`. With `--engine statespace` and for models: none, ample or stubborn, by default
    /// `stubborn`.
    #[arg(long, value_name = "NAME")]
    reduction: Option<Left>,
    /// How far executions may stray: depth, context, preemption, delta, fair, local-depth or
    /// local-context, each with a limit
    ///
    /// `fair` may stand beside one of the others.
    #[arg(long, value_name = "KIND=N")]
    bound: Vec<Bound>,
    /// Raise the bound one by one until it cuts nothing, and tell what is proved on the way
    #[arg(long)]
    iterate: bool,
    /// Which optimisations of bounded reduction are on: transitive, alternative, release, bound,
    /// sleep, or none [default: all that go with the bound]
    #[arg(long, value_name = "NAME,…", value_parser = bpor_opt)]
    bpor_opt: Option<BporOpts>,
    /// Sleep sets beside the reduction
    #[arg(long, value_name = "on|off", default_value = "on", hide_possible_values = true)]
    sleep: Switch,
    /// Which execution comes next: dfs or best-first; with `--engine statespace`, dfs or bfs
    ///
    /// Best-first takes a hierarchy of priorities, the first of them first:
    /// `best-first:function=push,preemptions`. There are preemptions, backtrack, sleep, random,
    /// function=NAME and variable=NAME.
    #[arg(long, value_name = "ORDER", default_value = "dfs")]
    order: Ordered,
    /// What chance is drawn from, for `--order best-first:random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count the states that are visited; it takes memory for each of them
    #[arg(long)]
    coverage: bool,
    /// Stop after so many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_executions: Option<u64>,
    /// Cut executions after so many steps
    ///
    /// Unless `--property` has `livelock`, what was cut is left unverified. Without this option, an
    /// execution of 100 000 steps counts as a livelock.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_depth: Option<u64>,
    /// Stop after so long: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
    /// Stop when so much memory is in use: 500M, 8G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) conduct: Conduct,
}

/// What the program may do, in a search and wherever an execution of it is repeated.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Conduct {
    /// What to look for; failed assertions, crashes and invalid accesses to memory are always found
    /// [default: all]
    ///
    /// `overflow` is for `--engine vm` alone. `leak` is a lock that is left held; with `--engine vm` it
    /// is a block that is never freed and that nothing leads to, and has to be named.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    property: Vec<Property>,
    /// What to do about calls that cannot be repeated: `skip=NAME` lets them fail, `real=NAME` makes
    /// them every time
    ///
    /// Without it, a call of `socket`, `fork`, `signal` and the like ends the search with an error.
    #[arg(long, value_name = "skip|real=NAME,…", value_parser = allowance)]
    allow: Vec<String>,
    /// How often a thread may time out or try for a lock in vain in one execution [default: 2]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
}

impl Conduct {
    fn looks_for(&self, property: Property) -> bool {
        self.property.is_empty() || self.property.contains(&property)
    }

    /// Whether signed overflow is looked for.
    pub(crate) fn has_overflow(&self) -> bool {
        self.looks_for(Property::Overflow)
    }

    /// Whether executions that never end, and come by no progress label, are to be looked for.
    pub(crate) fn asks_for_progress(&self) -> bool {
        self.property.contains(&Property::Livelock)
    }

    /// Whether what a model says of executions that never end is looked for.
    pub(crate) fn has_ltl(&self) -> bool {
        self.looks_for(Property::Ltl)
    }

    /// Whether deadlocks are looked for.
    pub(crate) fn has_deadlock(&self) -> bool {
        self.looks_for(Property::Deadlock)
    }

    /// Whether data races are looked for.
    pub(crate) fn has_races(&self) -> bool {
        self.looks_for(Property::Race)
    }

    /// Whether blocks that are never freed are looked for. Many programs leave them to their end, so
    /// that has to be said.
    pub(crate) fn has_leaks(&self) -> bool {
        self.property.contains(&Property::Leak)
    }

    /// Adds it to what the library is given.
    fn add_to(&self, wishes: &mut Value) {
        wishes["leak"] = self.looks_for(Property::Leak).into();
        wishes["allow"] = self.allow.clone().into();
        if let Some(retries) = self.retries {
            wishes["retries"] = retries.into();
        }
    }

    /// The same as the JSON output has it.
    pub(crate) fn in_force(&self) -> Vec<(String, Value)> {
        vec![
            ("leak".to_owned(), self.looks_for(Property::Leak).into()),
            ("allow".to_owned(), self.allow.clone().into()),
            ("retries".to_owned(), self.retries.into()),
        ]
    }

    /// What the library is given to follow a schedule.
    pub(crate) fn replaying(&self, schedule: &Schedule) -> Value {
        let mut wishes = json!({ "replay": schedule.to_string() });
        self.add_to(&mut wishes);
        wishes
    }

    /// A command with the arguments that say the same.
    pub(crate) fn told_to(&self, command: String) -> String {
        let mut words = Vec::new();
        if !self.property.is_empty() {
            let names = self.property.iter().filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|it| it.get_name().to_owned()).collect();
            words.extend(["--property".to_owned(), names.join(",")]);
        }
        words.extend(self.allow.iter().flat_map(|it| ["--allow".to_owned(), it.clone()]));
        if let Some(retries) = self.retries {
            words.extend(["--retries".to_owned(), retries.to_string()]);
        }
        match words.is_empty() {
            true => command,
            false => format!("{command} {}", crate::quoted(words.iter().map(Into::into))),
        }
    }
}

/// Which execution or state comes next.
#[derive(Clone, Debug)]
enum Ordered {
    Executions(Order),
    BreadthFirst,
}

impl FromStr for Ordered {
    type Err = <Order as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "bfs" => Ok(Self::BreadthFirst),
            _ => text.parse().map(Self::Executions),
        }
    }
}

/// What is left out of a search.
#[derive(Clone, Copy, Debug)]
enum Left {
    Executions(Reduction),
    States(stored::Reduction),
}

impl FromStr for Left {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let of_states = stored::Reduction::ALL.into_iter().find(|it| it.name() == text);
        match of_states {
            // The name that both have is that of executions.
            Some(reduction) if reduction != stored::Reduction::None => Ok(Self::States(reduction)),
            _ => text.parse().map(Self::Executions),
        }
    }
}

/// What a search is to be like.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) options: Options,
    pub(crate) conduct: Conduct,
    pub(crate) memory_limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Property {
    Assert,
    Deadlock,
    Race,
    Livelock,
    /// Invalid accesses, which are found in any case.
    Memory,
    /// Signed overflow and shifts too far; `--engine vm` alone knows.
    Overflow,
    Leak,
    /// What a Promela model says of executions that never end.
    Ltl,
}

impl Search {
    /// How long it may take.
    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// The options, if they go together.
    pub(crate) fn asked(&self) -> Result<Asked, Vec<Failure>> {
        let conduct = self.conduct.clone();
        let memory_limit = self.memory_limit;
        self.options().map(|options| Asked { options, conduct, memory_limit })
    }

    /// The same for engines to which nothing else matters.
    pub(crate) fn options(&self) -> Result<Options, Vec<Failure>> {
        let has = |property| self.conduct.looks_for(property);
        let needs_states = |what: &str| {
            Err(vec![Failure::input(format!("`{what}` goes with `--engine statespace` alone"))])
        };
        let Ordered::Executions(order) = self.order.clone() else {
            return needs_states("--order bfs");
        };
        let mut options = Options::new();
        options.bounds.clone_from(&self.bound);
        options.reduction = match self.reduction {
            Some(Left::Executions(reduction)) => reduction,
            Some(Left::States(reduction)) => {
                return needs_states(&format!("--reduction {}", reduction.name()));
            }
            None if matches!(order, Order::BestFirst(_)) => Reduction::Source,
            None => Reduction::default_within(&self.bound),
        };
        options.iterate = self.iterate;
        options.bpor_opt = self.bpor_opt.as_ref().map(|opts| opts.0.clone());
        options.order = order;
        options.seed = self.seed;
        options.coverage = self.coverage;
        options.sleep = self.sleep == Switch::On;
        options.max_executions = self.max_executions;
        options.time_limit = self.time_limit;
        options.deadlock = has(Property::Deadlock);
        options.race = has(Property::Race);
        options.livelock = has(Property::Livelock);
        if let Some(depth) = self.max_depth {
            options.max_depth = usize::try_from(depth).unwrap_or(usize::MAX);
            options.livelock = self.conduct.property.contains(&Property::Livelock);
        }
        match options.errors() {
            errors if errors.is_empty() => Ok(options),
            errors => Err(errors.into_iter().map(Failure::from).collect()),
        }
    }
}

impl Search {
    /// The options for an engine that stores states, if that can do what is asked.
    pub(crate) fn stored(&self, storing: &Storing, jobs: usize) -> Result<Stored, Vec<Failure>> {
        let mut options = Stored::default();
        options.order = match &self.order {
            Ordered::BreadthFirst => stored::Order::BreadthFirst,
            Ordered::Executions(_) => stored::Order::DepthFirst,
        };
        options.reduction = match self.reduction {
            Some(Left::Executions(Reduction::None)) => stored::Reduction::None,
            Some(Left::States(reduction)) => reduction,
            _ => stored::Reduction::default(),
        };
        options.storage = storing.storage;
        options.shorten = storing.shorten;
        options.jobs = jobs;
        options.ends = self.conduct.looks_for(Property::Deadlock);
        options.depth = self.max_depth.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX));
        options.time = self.time_limit;
        options.memory = self.memory_limit;
        let refused = [
            (!self.bound.is_empty(), "--bound"),
            (self.iterate, "--iterate"),
            (self.coverage, "--coverage"),
            (self.max_executions.is_some(), "--max-executions"),
            (matches!(&self.order, Ordered::Executions(Order::BestFirst(_))), "--order best-first"),
            (
                matches!(self.reduction, Some(Left::Executions(it)) if it != Reduction::None),
                "--reduction, other than none, ample and stubborn,",
            ),
        ];
        let refused = refused.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, what)| {
            Failure::input(format!("{what} does not go with `--engine statespace`"))
        });
        let errors = options.errors().into_iter().map(|error| Failure::input(error.to_string()));
        let failures: Vec<Failure> = refused.chain(errors).collect();
        if failures.is_empty() { Ok(options) } else { Err(failures) }
    }
}

/// Options as the library is given them.
pub(crate) fn wishes(asked: &Asked) -> Value {
    let options = &asked.options;
    let mut wishes = json!({
        "reduction": options.reduction.name(),
        "sleep": options.sleep,
        "max_depth": options.max_depth,
        "deadlock": options.deadlock,
        "race": options.race,
        "livelock": options.livelock,
        "bounds": options.bounds.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "iterate": options.iterate,
        "order": options.order.to_string(),
        "seed": options.seed,
        "coverage": options.coverage,
    });
    if let Some(opts) = &options.bpor_opt {
        let names: Vec<_> = opts.iter().map(|opt| opt.name()).collect();
        wishes["bpor_opt"] = names.join(",").into();
    }
    if let Some(most) = options.max_executions {
        wishes["max_executions"] = most.into();
    }
    if let Some(limit) = options.time_limit {
        wishes["time_limit_ms"] = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).into();
    }
    asked.conduct.add_to(&mut wishes);
    wishes
}

/// Options as the JSON output has them.
pub(crate) fn in_force(options: &Options) -> Vec<(String, Value)> {
    let looked_for = [
        ("assert", true),
        ("deadlock", options.deadlock),
        ("race", options.race),
        ("livelock", options.livelock),
    ];
    let properties: Vec<_> =
        looked_for.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let bounds: Map<_, _> =
        options.bounds.iter().map(|it| (it.kind.name().to_owned(), it.limit.into())).collect();
    let all: [(&str, Value); 11] = [
        ("reduction", options.reduction.name().into()),
        ("sleep", options.sleep.into()),
        ("bounds", bounds.into()),
        ("iterate", options.iterate.into()),
        ("property", properties.into()),
        ("order", options.order.to_string().into()),
        ("seed", options.seed.into()),
        ("coverage", options.coverage.into()),
        ("max_depth", options.max_depth.into()),
        ("max_executions", options.max_executions.into()),
        ("time_limit_s", options.time_limit.map(|limit| limit.as_secs_f64()).into()),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Write the result as JSON; to `-`, and nothing else is printed on standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Print the verdict on one line
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A printed schedule.
pub(crate) fn schedule(text: &str) -> Result<Schedule, String> {
    text.parse().map_err(|error: mazurka_core::ScheduleError| {
        format!("expected {}, found {}, in column {}", error.expected, error.found, error.column)
    })
}

/// Optimisations of bounded reduction.
#[derive(Clone, Debug)]
struct BporOpts(Vec<BporOpt>);

fn bpor_opt(text: &str) -> Result<BporOpts, OptionError> {
    BporOpt::parse_list(text).map(BporOpts)
}

fn allowance(text: &str) -> Result<String, String> {
    let is_right =
        matches!(text.split_once('='), Some(("skip" | "real", names)) if !names.is_empty());
    let wrong = || "write `skip=` or `real=` and the name of a function".to_owned();
    is_right.then(|| text.to_owned()).ok_or_else(wrong)
}

fn flags(text: &str) -> Result<Flags, String> {
    shlex::split(text).map(Flags).ok_or_else(|| "a quote is not closed".to_owned())
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "a size is a number above 0 with a unit: 500M, 8G".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "k" | "K" | "kB" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number * unit;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a time is a number above 0 with a unit: 500ms, 60s, 5m, 1h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
    if time < Duration::from_millis(1) { Err(wrong()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("500M"), Ok(500_000_000));
        assert_eq!(size("1.5G"), Ok(1_500_000_000));
        for wrong in ["", "8", "G", "0G", "-1M", "1e30G", "nanG", "1 M", "é"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        let ms = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(ms("60s"), Ok(60_000));
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("1.5m"), Ok(90_000));
        assert_eq!(ms("2"), Ok(2000));
        for wrong in ["", "s", "0s", "-1s", "1 parsec", "infs", "1e99h", "é"] {
            assert!(ms(wrong).is_err(), "{wrong}");
        }
    }
}
