//! Options of a check: one value for every engine, and one table that describes it.
//!
//! [`Options`] has a field for every option, with what a check does by default.
//! [`TABLE`] has a [`Row`] for every field: how it is written and read, which engines
//! use it, and what people are told of it. Arguments, `--help`, the manual, refusals, the command
//! that replays a violation and the JSON form of the options are all made of these rows.

mod environment;
mod row;
mod table;
mod values;

pub use environment::misspelt;
pub use row::{Group, Names, Row, Takes};
pub use table::{TABLE, row};
pub(crate) use values::listed;

use mazurka_c::Extern;
use mazurka_core::{self as core, MemoryModel};
use mazurka_explore::{self as explore, Bound, BporOpt, Sampling};
use mazurka_model::Races;
use mazurka_protocol::{Action, Request, RunOptions, Saving};
use mazurka_statespace::{self as stored, Construction, CycleSearch, Fairness, Storage};
use mazurka_symbolic::Schedule;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::engine::Feature;
use crate::{Fault, Faults};

/// What can be asked of a check. The default is to look for everything, in all executions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Flags for the compiler, the linker and the preprocessor.
    pub flags: Vec<String>,
    /// What functions without a body do.
    pub externs: Vec<(String, Extern)>,
    /// Whether a data race is an error, or every access to shared memory a step of its own.
    pub races: Races,
    /// Whether waits on condition variables may end for no reason.
    pub spurious_wakeups: bool,
    /// What a program that asks for any number may get.
    pub nondet: Option<(i64, i64)>,
    /// What is done about calls that cannot be repeated: `skip=NAME` or `real=NAME`.
    pub allow: Vec<String>,
    /// Libraries and functions that touch nothing which threads share, and lists of calls that are
    /// single steps. The list `std` is among them unless [`TRUST_NONE`] is.
    pub trust: Vec<String>,
    /// Whether a verdict may rest on what a library without the instrumentation does.
    pub strict: bool,
    /// How often a thread may time out or try for a lock in vain in one execution.
    pub retries: Option<u32>,
    /// When time passes.
    pub time: Time,
    /// The memory model; nothing if the program decides it, see
    /// [`memory_model`](crate::memory_model).
    pub memory: Option<MemoryModel>,
    /// What is looked for; everything if it is empty.
    pub property: Vec<Property>,
    /// Formulae of linear temporal logic.
    pub ltl: Vec<String>,
    /// Formulae of the model, by their names.
    pub ltl_name: Vec<String>,
    /// An automaton that must accept no execution.
    pub automaton: Option<PathBuf>,
    /// Which infinite executions count.
    pub fairness: Option<Fairness>,
    /// How accepting cycles are looked for.
    pub cycles: Option<CycleSearch>,
    /// When the states that a temporal property is held against are found.
    pub construction: Option<Construction>,
    /// Partial-order reduction; the engine's own choice if there is none.
    pub reduction: Option<Reduction>,
    /// Bounds on executions.
    pub bound: Vec<Bound>,
    /// Whether the bound is raised until it cuts nothing.
    pub iterate: bool,
    /// Optimisations of bounded reduction; all that go with the bound if there are none.
    pub bpor_opt: Option<Vec<BporOpt>>,
    /// Sleep sets beside the reduction.
    pub sleep: bool,
    /// Which execution or state comes next.
    pub order: Order,
    /// Draws executions at random instead of searching all.
    pub sample: Option<Sampling>,
    /// Whether a search of all executions is preceded by what few preemptions suffice for.
    pub ladder: bool,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Whether the states that executions visit are counted.
    pub coverage: bool,
    /// Whether executions end where they meet a state again.
    pub stateful: bool,
    /// How many workers share a search; as many as the engine likes if nothing is said.
    pub jobs: Option<usize>,
    /// The broker whose workers share a search.
    pub workers: Option<String>,
    /// The private key that workers know the asker by.
    pub sign_key: Option<PathBuf>,
    /// How long a worker explores a unit before the rest of it is dealt out again.
    pub slice: Option<Duration>,
    /// How states are stored.
    pub storage: Storage,
    /// Whether shorter ways to a violation are looked for.
    pub shorten: bool,
    /// Whether all steps of a violation are shown, and not only those that matter.
    pub full_trace: bool,
    /// How many executions of a check that holds are shown.
    pub show_executions: Option<usize>,
    /// Whether it is told which lines executions have reached.
    pub show_lines: bool,
    /// Whether dead variables are kept, and a state is stored behind every step.
    pub no_optimise: bool,
    /// Where a violation is written as a trail for SPIN.
    pub trail: Option<PathBuf>,
    /// Scheduling constraint of the encoding as a circuit.
    pub schedule: Schedule,
    /// How many steps executions of a circuit may have.
    pub depth: Option<usize>,
    /// How often a function may call itself in a circuit.
    pub recursion: u32,
    /// Where a proof is written.
    pub proof: Option<PathBuf>,
    /// How many executions are taken at the most.
    pub max_executions: Option<u64>,
    /// How many steps an execution may have.
    pub max_depth: Option<usize>,
    /// How long it may take.
    pub time_limit: Option<Duration>,
    /// How much memory may be in use, in bytes.
    pub memory_limit: Option<u64>,
    /// Where a search is saved that is stopped.
    pub save: Option<PathBuf>,
    /// A saved search to go on with.
    pub resume: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            flags: Vec::new(),
            externs: Vec::new(),
            races: Races::Error,
            spurious_wakeups: false,
            nondet: None,
            allow: Vec::new(),
            trust: Vec::new(),
            strict: false,
            retries: None,
            time: Time::default(),
            memory: None,
            property: Vec::new(),
            ltl: Vec::new(),
            ltl_name: Vec::new(),
            automaton: None,
            fairness: None,
            cycles: None,
            construction: None,
            reduction: None,
            bound: Vec::new(),
            iterate: false,
            bpor_opt: None,
            sleep: true,
            order: Order::default(),
            sample: None,
            ladder: true,
            seed: 0,
            coverage: false,
            stateful: false,
            jobs: None,
            workers: None,
            sign_key: None,
            slice: None,
            storage: Storage::default(),
            shorten: false,
            full_trace: false,
            show_executions: None,
            show_lines: false,
            no_optimise: false,
            trail: None,
            schedule: Schedule::Transactions,
            depth: None,
            recursion: 0,
            proof: None,
            max_executions: None,
            max_depth: None,
            time_limit: None,
            memory_limit: None,
            save: None,
            resume: None,
        }
    }
}

impl Options {
    /// The options that a check has by default.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the compiler is told. Where lines are to be shown, each has code of its own, unless the
    /// user says otherwise.
    pub fn compiler_flags(&self) -> Vec<String> {
        let first = self.show_lines.then(|| "-O0".to_owned());
        first.into_iter().chain(self.flags.iter().cloned()).collect()
    }

    /// Whether this is looked for: it is among what was named, or nothing was.
    pub fn looks_for(&self, property: Property) -> bool {
        self.property.is_empty() || self.property.contains(&property)
    }

    /// Whether this was named. Some properties are looked for in certain programs only then.
    pub fn names(&self, property: Property) -> bool {
        self.property.contains(&property)
    }

    /// Whether certain temporal properties are asked for.
    pub fn asks_for_temporal(&self) -> bool {
        !self.ltl.is_empty() || !self.ltl_name.is_empty() || self.automaton.is_some()
    }

    /// Whether anything is said about temporal properties.
    pub fn is_temporal(&self) -> bool {
        let how = self.fairness.is_some() || self.cycles.is_some() || self.construction.is_some();
        self.asks_for_temporal() || how
    }

    /// The options of a stateless search. What does not go together is told by
    /// [`explore::Options::errors`].
    pub fn explored(&self) -> explore::Options {
        let mut options = explore::Options::new();
        let order = match &self.order {
            Order::Executions(order) => order.clone(),
            Order::BreadthFirst => explore::Order::default(),
        };
        options.bounds.clone_from(&self.bound);
        options.reduction = match self.reduction {
            Some(Reduction::Executions(reduction)) => reduction,
            _ if matches!(order, explore::Order::BestFirst(_)) => explore::Reduction::Source,
            _ => explore::Reduction::default_within(&self.bound),
        };
        options.iterate = self.iterate;
        options.bpor_opt.clone_from(&self.bpor_opt);
        options.order = order;
        options.sample = self.sample;
        options.ladder = self.ladder;
        options.shorten = true;
        options.memory = self.graphs_of();
        options.seed = self.seed;
        options.n_shown = self.show_executions.unwrap_or(0);
        options.coverage = self.coverage;
        options.sleep = self.sleep;
        options.max_executions = self.max_executions;
        options.time_limit = self.time_limit;
        options.deadlock = self.looks_for(Property::Deadlock);
        options.race = self.looks_for(Property::Race);
        options.livelock = self.looks_for(Property::Livelock);
        if let Some(depth) = self.max_depth {
            options.max_depth = depth;
            options.livelock = self.names(Property::Livelock);
            // Who names both asks for executions that are longer than that, whatever they do.
            options.fair = !options.livelock;
        }
        options
    }

    /// How many threads share the search of a model.
    pub fn threads(&self) -> usize {
        self.jobs.unwrap_or(1)
    }

    /// How many processes share the search of a program: as many as the machine has cores, unless
    /// something else is said, or the search is one that cannot be shared.
    pub fn processes(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.explored().may_be_shared() {
            true => self.jobs.unwrap_or_else(|| cores().min(explore::Options::MAX_JOBS)),
            false => 1,
        }
    }

    /// The memory model whose execution graphs are searched; nothing for interleavings, which are
    /// what is searched first where the program decides.
    pub fn graphs_of(&self) -> Option<MemoryModel> {
        self.memory.filter(|&model| model != MemoryModel::Sc)
    }

    /// The request to explore a program so.
    pub fn request(&self) -> Request {
        let mut options = self.explored();
        options.jobs = self.processes();
        let run = self.run_options();
        let (save, resume) = (self.saving(), self.resume.clone());
        Request { action: Action::Explore, options, run, save, resume }
    }

    /// Where and when a search is saved: where it is said, or where it was saved before.
    pub fn saving(&self) -> Option<Saving> {
        let path = self.save.as_ref().or(self.resume.as_ref())?;
        Some(Saving {
            path: path.clone(),
            after: Duration::ZERO,
            every: Saving::EVERY,
            is_asked: true,
        })
    }

    /// The request to follow a schedule of a program.
    pub fn replaying(&self, schedule: &core::Schedule) -> Request {
        let action = Action::Replay(schedule.clone());
        let mut options = explore::Options::new();
        options.memory = self.graphs_of();
        Request { action, options, run: self.run_options(), ..Request::default() }
    }

    /// What is trusted, the default included.
    fn trusted(&self) -> Vec<String> {
        let mut trusted = self.trust.clone();
        if !trusted.iter().any(|name| name == TRUST_NONE || name == TRUST_STD) {
            trusted.push(TRUST_STD.to_owned());
        }
        trusted
    }

    /// What a program may do.
    fn run_options(&self) -> RunOptions {
        RunOptions {
            leak: self.looks_for(Property::Leak),
            allow: self.allow.clone(),
            trust: self.trusted(),
            strict: self.strict,
            retries: self.retries,
            is_time_virtual: self.time == Time::Virtual,
            tells_lines: self.show_lines,
            ..RunOptions::default()
        }
    }

    /// The options of a search that stores states.
    pub fn stored(&self) -> stored::Options {
        let mut options = stored::Options::default();
        options.order = match &self.order {
            Order::BreadthFirst => stored::Order::BreadthFirst,
            Order::Executions(_) => stored::Order::DepthFirst,
        };
        options.reduction = match self.reduction {
            Some(Reduction::Executions(explore::Reduction::None)) => stored::Reduction::None,
            Some(Reduction::States(reduction)) => reduction,
            _ => stored::Reduction::default(),
        };
        options.storage = self.storage;
        options.shorten = self.shorten;
        if self.no_optimise {
            options.optimisations = stored::Optimisations::NONE;
        }
        options.jobs = self.threads();
        options.ends = self.looks_for(Property::Deadlock);
        options.depth = self.max_depth;
        options.time = self.time_limit;
        options.memory = self.memory_limit;
        options.fairness = self.fairness.unwrap_or_default();
        options.cycle_search = self.cycles.unwrap_or_default();
        options.construction = self.construction.unwrap_or_default();
        options
    }

    /// The same with what an engine with these features does where nothing is said.
    pub(crate) fn resolved(&self, features: &[Feature]) -> Self {
        let mut resolved = self.clone();
        if features.contains(&Feature::Executions) {
            let explored = self.explored();
            resolved.reduction = Some(Reduction::Executions(explored.reduction));
            resolved.max_depth = Some(explored.max_depth);
            if !features.contains(&Feature::Processes) {
                resolved.jobs = Some(self.threads());
            }
        } else if features.contains(&Feature::States) {
            resolved.jobs = Some(self.threads());
            resolved.reduction = Some(Reduction::States(self.stored().reduction));
        }
        resolved
    }

    /// Sets one option by its name, as on the command line without the dashes.
    ///
    /// ```
    /// let mut options = mazurka_check::Options::new();
    /// options.set("bound", "preemption=2").unwrap();
    /// options.set("time-limit", "60s").unwrap();
    /// assert!(options.set("bound", "preemption=few").is_err());
    /// ```
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        let Some(row) = row(name) else {
            return Err(Fault::input(format!("there is no option `--{name}`")));
        };
        let wrong = |error| Fault::input(format!("`--{name} {value}`: {error}"));
        (row.set)(self, value).map_err(wrong)
    }

    /// The words of a command line that say the same, of the rows that are wanted.
    pub fn words(&self, is_wanted: impl Fn(&Row) -> bool) -> Vec<String> {
        let mut words = Vec::new();
        for row in TABLE.iter().filter(|row| is_wanted(row)) {
            let values = (row.get)(self);
            match row.takes {
                Takes::Nothing => words.extend(values.iter().map(|_| format!("--{}", row.name))),
                _ => words.extend(
                    values.into_iter().flat_map(|value| [format!("--{}", row.name), value]),
                ),
            }
        }
        words
    }
}

/// What can be looked for, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Property {
    /// Failed assertions, panics and crashes, which are found in any case.
    Assert,
    /// Threads that wait for each other.
    Deadlock,
    /// Data races.
    Race,
    /// Executions that go on for ever.
    Livelock,
    /// Invalid accesses, which are found in any case.
    Memory,
    /// Signed overflow and shifts too far, or values of a model that are cut off.
    Overflow,
    /// Locks that are left held, or blocks that are never freed and that nothing leads to.
    Leak,
    /// What a Promela model says of infinite executions.
    Ltl,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Assert,
        Self::Deadlock,
        Self::Race,
        Self::Livelock,
        Self::Memory,
        Self::Overflow,
        Self::Leak,
        Self::Ltl,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Deadlock => "deadlock",
            Self::Race => "race",
            Self::Livelock => "livelock",
            Self::Memory => "memory",
            Self::Overflow => "overflow",
            Self::Leak => "leak",
            Self::Ltl => "ltl",
        }
    }
}

/// Trusts no list of calls: their inside is explored.
pub const TRUST_NONE: &str = "none";
/// The list that is trusted by default.
const TRUST_STD: &str = "std";

/// When time passes in a native program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// When no thread can move, up to the next deadline.
    #[default]
    Virtual,
    /// At any moment.
    Any,
}

impl Time {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Any => "any",
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        values::named(text, &[Self::Virtual, Self::Any], Self::name)
    }
}

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        values::named(text, &Self::ALL, Self::name)
    }
}

/// What is shown of a check that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Show {
    /// What distinguishes the first executions, so many of them.
    Executions(usize),
    /// Which lines executions have reached.
    Lines,
}

impl Show {
    const EXECUTIONS: &str = "executions";
    const LINES: &str = "lines";

    /// Adds it to what options say.
    fn add_to(self, options: &mut Options) {
        match self {
            Self::Executions(n) => options.show_executions = Some(n),
            Self::Lines => options.show_lines = true,
        }
    }

    /// What options say of it, as on the command line.
    fn words(options: &Options) -> Vec<String> {
        let executions = options.show_executions.map(|n| format!("{}={n}", Self::EXECUTIONS));
        let lines = options.show_lines.then(|| Self::LINES.to_owned());
        executions.into_iter().chain(lines).collect()
    }
}

impl FromStr for Show {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, n) = text.split_once('=').unwrap_or((text, ""));
        match (word, n.parse()) {
            (Self::EXECUTIONS, Ok(0)) => {
                Err("no execution is none to show; 1 is the least".to_owned())
            }
            (Self::EXECUTIONS, Ok(n)) => Ok(Self::Executions(n)),
            (Self::EXECUTIONS, Err(_)) => Err("a number is expected: `executions=3`".to_owned()),
            _ if text == Self::LINES => Ok(Self::Lines),
            _ => Err("there is executions=N and lines".to_owned()),
        }
    }
}

/// Which steps are left out: of executions, or of a graph of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reduction {
    /// By a stateless search.
    Executions(explore::Reduction),
    /// By a search that stores states.
    States(stored::Reduction),
}

impl Reduction {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Executions(reduction) => reduction.name(),
            Self::States(reduction) => reduction.name(),
        }
    }
}

impl FromStr for Reduction {
    type Err = explore::OptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let of_states = stored::Reduction::ALL.into_iter().find(|it| it.name() == text);
        match of_states {
            // The name that both have is that of executions.
            Some(reduction) if reduction != stored::Reduction::None => Ok(Self::States(reduction)),
            _ => text.parse().map(Self::Executions),
        }
    }
}

/// Which execution or state comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Of executions, or of states depth first.
    Executions(explore::Order),
    /// Of states, the one that is nearest to the initial one.
    BreadthFirst,
}

impl Default for Order {
    fn default() -> Self {
        Self::Executions(explore::Order::default())
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Executions(order) => order.fmt(f),
            Self::BreadthFirst => f.write_str(stored::Order::BreadthFirst.name()),
        }
    }
}

impl FromStr for Order {
    type Err = explore::OptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text == stored::Order::BreadthFirst.name() {
            true => Ok(Self::BreadthFirst),
            false => text.parse().map(Self::Executions),
        }
    }
}

/// Errors of an engine's own options, as faults.
pub(crate) fn faults<E: Into<Fault>>(errors: Vec<E>) -> Faults {
    errors.into_iter().map(Into::into).collect()
}
