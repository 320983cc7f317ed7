//! How a model or a circuit is made of files, stored, decided and shown.

use clap::{Args, ValueEnum};
use mazurka_c::Extern;
use mazurka_statespace::{Construction, CycleSearch, Fairness, Options as Stored, Storage};
use std::path::PathBuf;

/// How a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Dot,
}

/// How a model is made of C files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of engines other than native")]
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

/// How states are stored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --engine statespace, and for Promela models")]
pub(crate) struct Storing {
    /// How states are stored: exact, tree, compact or bitstate
    ///
    /// `tree` takes the least memory of those that never take one state for another.
    #[arg(long, value_name = "NAME", default_value = "tree", value_parser = storage)]
    pub(super) storage: Storage,
    /// After a violation, go on for shorter ways to one; `--order bfs` finds a shortest way at once
    #[arg(long)]
    pub(super) shorten: bool,
    /// Write a violation of a Promela model as a trail, for `spin -t -k` and `mazurka replay --trail`
    #[arg(long, value_name = "FILE")]
    pub(crate) trail: Option<PathBuf>,
}

fn storage(text: &str) -> Result<Storage, String> {
    let known = Storage::ALL.into_iter().find(|storage| storage.name() == text);
    known.ok_or_else(|| "there are exact, tree, compact and bitstate".to_owned())
}

/// What executions that never end are held against, and which ones count.
#[derive(Debug, Default, Args)]
#[command(
    next_help_heading = "Temporal properties, of Promela models and with engines other than native and vm"
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
    /// How accepting cycles are looked for: components, or nested (under fairness, components all the same)
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
    /// Write a proof of what holds, in the format LRAT, and its formula beside it, in FILE.cnf
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
}
