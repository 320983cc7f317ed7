//! How to search, and for what.

use super::Storing;
use super::values::{allowance, duration, size};
use crate::Failure;
use clap::{Args, ValueEnum};
use mazurka_core::Schedule;
use mazurka_explore::{Bound, BporOpt, OptionError, Options, Order, Reduction};
use mazurka_statespace::{self as stored, Options as Stored};
use serde_json::{Map, Value, json};
use std::str::FromStr;
use std::time::Duration;

/// How to search, and for what.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What is left out: none, persistent, transactions, dpor, source, monotonic or optimal
    ///
    /// By default `optimal`; `dpor` within a bound that `optimal` has no use for, and `source` with
    /// `--order best-first`. With `--engine statespace` and for models: none, ample or stubborn, by
    /// default `stubborn`.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Optimisations of bounded reduction.
#[derive(Clone, Debug)]
struct BporOpts(Vec<BporOpt>);

fn bpor_opt(text: &str) -> Result<BporOpts, OptionError> {
    BporOpt::parse_list(text).map(BporOpts)
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

/// What the program may do, in a search and wherever an execution of it is repeated.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Conduct {
    /// What to look for; failed assertions, crashes and invalid accesses to memory are always found
    /// [default: all]
    ///
    /// `overflow` is for models of C programs, and in a Promela model, where it has to be named, a
    /// value that its variable has no room for. `livelock` has to be named if a circuit is to be
    /// decided. `leak` is a lock that is left held; with `--engine vm` it is a block that is never
    /// freed and that nothing leads to, and has to be named.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    property: Vec<Property>,
    /// What to do about calls that cannot be repeated: `skip=NAME` lets them fail, `real=NAME`
    /// makes them every time
    ///
    /// Without it, a call of `socket`, `fork`, `signal` and the like ends the search with an error.
    #[arg(long, value_name = "skip|real=NAME,…", value_parser = allowance)]
    allow: Vec<String>,
    /// Libraries or functions that touch nothing which threads share, though they were compiled
    /// without the instrumentation: `--trust libz`
    ///
    /// Without it, the verdict names what the program calls of such libraries.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    trust: Vec<String>,
    /// Accept no verdict that assumes what a library without the instrumentation does
    ///
    /// The functions that no `--trust` names are listed, and the exit status is 2.
    #[arg(long)]
    strict: bool,
    /// How often a thread may time out or try for a lock in vain in one execution [default: 2]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Property {
    Assert,
    Deadlock,
    Race,
    Livelock,
    /// Invalid accesses, which are found in any case.
    Memory,
    /// Signed overflow and shifts too far, or values of a model that are cut off.
    Overflow,
    Leak,
    /// What a Promela model says of executions that never end.
    Ltl,
}

impl Conduct {
    fn looks_for(&self, property: Property) -> bool {
        self.property.is_empty() || self.property.contains(&property)
    }

    /// Whether signed overflow is looked for.
    pub(crate) fn has_overflow(&self) -> bool {
        self.looks_for(Property::Overflow)
    }

    /// Whether it is wrong that a variable of a model has no room for a value. SPIN's verifier cuts
    /// values off, so that has to be said.
    pub(crate) fn asks_for_truncation(&self) -> bool {
        self.property.contains(&Property::Overflow)
    }

    /// Whether executions that never end are to be looked for where that has to be said: those of a
    /// model that come by no progress label, and those of a circuit.
    pub(crate) fn asks_for_livelock(&self) -> bool {
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

    /// Whether blocks that are never freed are looked for. Many programs leave them to their end,
    /// so that has to be said.
    pub(crate) fn has_leaks(&self) -> bool {
        self.property.contains(&Property::Leak)
    }

    /// Adds it to what the library is given.
    fn add_to(&self, wishes: &mut Value) {
        wishes["leak"] = self.looks_for(Property::Leak).into();
        wishes["allow"] = self.allow.clone().into();
        wishes["trust"] = self.trust.clone().into();
        wishes["strict"] = self.strict.into();
        if let Some(retries) = self.retries {
            wishes["retries"] = retries.into();
        }
    }

    /// The same as the JSON output has it.
    pub(crate) fn in_force(&self) -> Vec<(String, Value)> {
        vec![
            ("leak".to_owned(), self.looks_for(Property::Leak).into()),
            ("allow".to_owned(), self.allow.clone().into()),
            ("trust".to_owned(), self.trust.clone().into()),
            ("strict".to_owned(), self.strict.into()),
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

/// What a search is to be like.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) options: Options,
    pub(crate) conduct: Conduct,
    pub(crate) memory_limit: Option<u64>,
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
