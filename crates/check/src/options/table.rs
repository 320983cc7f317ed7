//! The table of options.
//!
//! To add an option: a field in [`Options`](super::Options) and a row here. `tests/options.rs`
//! holds every row to its own rules: what it reads it writes, what it does not know it refuses, its
//! words are there.

use super::values::{
    AUTO, allowance, duration, duration_text, external, external_text, named, named_or_auto,
    number, positive, range, size, size_text, switch, whole,
};
use super::{Group, Names, Row, Takes, Time};
use crate::engine::Feature::{
    Circuits, Executions, Fingerprints, Jobs, Models, Processes, States, Temporal,
};
use crate::engine::Language::{C, Promela};
use mazurka_core::MemoryModel;
use mazurka_explore::{self as explore, BporOpt};
use mazurka_model::Races;
use mazurka_statespace::{self as stored, Construction, CycleSearch, Fairness, Storage};
use mazurka_symbolic::Schedule;
use serde_json::{Map, Value};

/// The row of an option, by its name.
pub fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

fn text(value: Option<impl ToString>) -> Vec<String> {
    value.into_iter().map(|it| it.to_string()).collect()
}

/// A switch that is off by default, if it is on.
fn on(is_on: bool) -> Vec<String> {
    if is_on { vec!["on".to_owned()] } else { Vec::new() }
}

const RACES: [Races; 2] = [Races::Error, Races::Allow];

fn races_name(races: Races) -> &'static str {
    match races {
        Races::Error => "error",
        Races::Allow => "allow",
    }
}

fn trace_name(is_full: bool) -> &'static str {
    if is_full { "full" } else { "short" }
}

/// Every option of a check. The order is that of the words which replay a violation.
pub static TABLE: &[Row] = &[
    Row {
        name: "cflags",
        takes: Takes::Many("FLAGS"),
        is_free: true,
        group: Group::Program,
        is_of_schedules: true,
        help: "More flags for the compiler and the linker, as in a shell",
        more: "Flags that begin with one dash need no `--cflags`: `mazurka check x.c -DN=3 -lm`.",
        manual: "more flags for the compiler and the linker, as in a shell. Flags that begin with one dash pass through without it: `mazurka check x.c -DN=3 -Iinclude -lm`",
        set: |options, text| {
            let flags = shlex::split(text).ok_or_else(|| "a quote is not closed".to_owned())?;
            options.flags.extend(flags);
            Ok(())
        },
        // They are told as they are, behind the files.
        get: |_| Vec::new(),
        ..Row::NEW
    },
    Row {
        name: "races",
        takes: Takes::One("error|allow"),
        group: Group::Model,
        uses: &[Models],
        languages: &[C],
        is_of_schedules: true,
        help: "Whether a data race is an error, or every access to shared memory a step of its own",
        manual: "in a model: whether a data race is an error, or every shared access a step of its own",
        json: Some(("races", |options| races_name(options.races).into())),
        set: |options, text| named(text, &RACES, races_name).map(|it| options.races = it),
        get: |options| text((options.races == Races::Allow).then_some("allow")),
        ..Row::NEW
    },
    Row {
        name: "spurious-wakeups",
        group: Group::Model,
        uses: &[Models],
        languages: &[C],
        is_of_schedules: true,
        help: "Let waits on condition variables end for no reason",
        manual: "in a model: let waits on condition variables end for no reason",
        json: Some(("spurious_wakeups", |options| options.spurious_wakeups.into())),
        set: |options, text| switch(text).map(|it| options.spurious_wakeups = it),
        get: |options| on(options.spurious_wakeups),
        ..Row::NEW
    },
    Row {
        name: "stateful",
        group: Group::Search,
        uses: &[Fingerprints],
        is_of_schedules: true,
        help: "Store states, and end an execution where it meets one",
        manual: "in a model: store states, and end an execution where it meets one",
        json: Some(("stateful", |options| options.stateful.into())),
        set: |options, text| switch(text).map(|it| options.stateful = it),
        get: |options| on(options.stateful),
        ..Row::NEW
    },
    Row {
        name: "nondet",
        takes: Takes::One("LOW..HIGH"),
        is_free: true,
        group: Group::Model,
        uses: &[Models],
        languages: &[C],
        is_of_schedules: true,
        help: "What `__VERIFIER_nondet_int` and its like may return [default: all values of the type]",
        manual: "in a model: what `__VERIFIER_nondet_int` and its like may return",
        json: Some(("nondet", |options| {
            options.nondet.map(|(low, high)| format!("{low}..{high}")).into()
        })),
        set: |options, text| range(text).map(|it| options.nondet = Some(it)),
        get: |options| text(options.nondet.map(|(low, high)| format!("{low}..{high}"))),
        ..Row::NEW
    },
    Row {
        name: "extern",
        takes: Takes::Many("NAME=nondet|skip"),
        group: Group::Model,
        uses: &[Models],
        languages: &[C],
        is_of_schedules: true,
        help: "What a function without a body does: return any value, or return 0",
        manual: "in a model: what a function without a body does, return any value or 0",
        json: Some(("extern", |options| {
            options.externs.iter().map(external_text).collect::<Vec<_>>().into()
        })),
        set: |options, text| external(text).map(|it| options.externs.push(it)),
        get: |options| options.externs.iter().map(external_text).collect(),
        ..Row::NEW
    },
    Row {
        name: "property",
        takes: Takes::Many("NAME,…"),
        group: Group::Properties,
        is_common: true,
        is_of_schedules: true,
        help: "What to look for, beside failed assertions, crashes and invalid accesses to memory \
               [default: all]",
        more: "`assert`, `deadlock`, `race`, `livelock`, `memory`, `overflow`, `leak`, `ltl`. \
               `overflow` is for models of C programs, and in a Promela model, where it has to be \
               named, a value that its variable has no room for. `livelock` has to be named if a \
               circuit is to be decided. `leak` is a lock that is left held; with `--engine vm` it \
               is a block that is never freed and that nothing leads to, and has to be named.",
        manual: "what to look for: `assert`, `deadlock`, `race`, `livelock` (in a circuit only if it is named), `memory`, `ltl` (what a Promela model says of infinite executions), `overflow` (in a model of a C program; of a Promela model, and only if it is named, values that are cut off) and `leak`: a lock that is left held or, with `--engine vm` and only if it is named, a block that nothing leads to. All others, by default; failed assertions, crashes and invalid accesses always",
        set: |options, text| {
            for name in text.split(',') {
                options.property.push(name.parse()?);
            }
            Ok(())
        },
        get: |options| {
            let names: Vec<&str> = options.property.iter().map(|it| it.name()).collect();
            text((!names.is_empty()).then(|| names.join(",")))
        },
        ..Row::NEW
    },
    Row {
        name: "allow",
        takes: Takes::Many("skip|real=NAME,…"),
        group: Group::Program,
        uses: &[Processes],
        is_of_schedules: true,
        help: "What to do about calls that cannot be repeated: `skip=NAME` lets them fail, \
               `real=NAME` makes them every time",
        more: "Without it, a call of `socket`, `fork`, `signal` and the like ends the search with \
               an error.",
        manual: "what to do about a call that cannot be repeated, such as `socket` or `fork`: let it fail, or make it every time. Without it, the call ends the search with an error. The verdict names it",
        json: Some(("allow", |options| options.allow.clone().into())),
        set: |options, text| allowance(text).map(|it| options.allow.push(it)),
        get: |options| options.allow.clone(),
        ..Row::NEW
    },
    Row {
        name: "retries",
        takes: Takes::One("N"),
        group: Group::Program,
        uses: &[Processes],
        is_of_schedules: true,
        help: "How often a thread may time out or try for a lock in vain in one execution \
               [default: 2]",
        manual: "how often a thread may time out, or try for a lock in vain, in one execution: 2, unless it says otherwise. The verdict names it if it mattered",
        json: Some(("retries", |options| options.retries.into())),
        set: |options, text| number(text).map(|it| options.retries = Some(it)),
        get: |options| text(options.retries),
        ..Row::NEW
    },
    Row {
        name: "time",
        takes: Takes::One("virtual|any"),
        group: Group::Program,
        uses: &[Processes],
        is_of_schedules: true,
        help: "When time passes: when no thread can move, up to the next deadline, or at any moment \
               [default: virtual]",
        more: "With `any`, a wait with a time limit may expire at any moment, and every order of \
               expiries is explored.",
        manual: "when time passes. `virtual`, the default: when no thread can move, the clock goes on to the earliest deadline, and the verdict assumes that nothing takes longer than a timeout waits for. `any`: a wait with a time limit may expire at any moment, and every order is explored",
        json: Some(("time", |options| options.time.name().into())),
        set: |options, text| text.parse().map(|it| options.time = it),
        get: |options| text((options.time != Time::default()).then(|| options.time.name())),
        ..Row::NEW
    },
    Row {
        name: "trust",
        takes: Takes::Many("NAME,…"),
        group: Group::Program,
        uses: &[Processes],
        is_of_schedules: true,
        help: "What is taken for right: libraries or functions that touch nothing which threads share, \
               though they were compiled without the instrumentation (`libz`); and lists of calls that are \
               single steps: `std`, and with it `parking_lot`, `crossbeam-channel`, `flume`; `none` \
               explores their inside [default: std]",
        more: "The verdict names what the program calls of other libraries, and the lists that \
               mattered. Another list is trusted together with `std`.",
        manual: "what is taken for right. Libraries (`libz`) or functions (`deflate`) that were compiled without the instrumentation and touch nothing that threads share: otherwise the verdict names what the program calls of them. Lists of calls that are single steps which do what they promise, and the verdict says so: `std`, the default, of Rust's standard library (`Once` and its kin, `RwLock`, `Barrier`, channels, scopes, parking); and, each with `std`, `parking_lot` (`Mutex`, `RwLock`, `Condvar`), `crossbeam-channel` and `flume`. `none`: the inside of every call is explored",
        json: Some(("trust", |options| options.trust.clone().into())),
        set: |options, text| {
            options.trust.extend(text.split(',').map(str::to_owned));
            Ok(())
        },
        get: |options| text((!options.trust.is_empty()).then(|| options.trust.join(","))),
        ..Row::NEW
    },
    Row {
        name: "strict",
        group: Group::Program,
        uses: &[Processes],
        help: "Accept no verdict that assumes what a library without the instrumentation does",
        more: "The functions that no `--trust` names are listed, and the exit status is 2.",
        manual: "accept no verdict that assumes what such a library does: the functions that no `--trust` names are listed, and the exit status is 2",
        json: Some(("strict", |options| options.strict.into())),
        set: |options, text| switch(text).map(|it| options.strict = it),
        get: |options| on(options.strict),
        ..Row::NEW
    },
    Row {
        name: "memory",
        takes: Takes::One("auto|sc|tso|ra|rc11"),
        group: Group::Properties,
        is_of_schedules: true,
        names: &[
            Names(Executions, || {
                let models = MemoryModel::ALL.map(MemoryModel::name);
                [AUTO].into_iter().chain(models).collect()
            }),
            Names(States, || vec![AUTO, MemoryModel::Sc.name()]),
            Names(Circuits, || vec![AUTO, MemoryModel::Sc.name()]),
        ],
        help: "The memory model: sc, where a read sees the last write; rc11, what C11, C++20 and \
               Rust promise; tso, what x86 does; ra; or auto, rc11 if the program has atomics \
               weaker than seq_cst [default: auto]",
        manual: "the memory model: `sc`, sequential consistency, where a read sees the last write; `rc11`, what C11, C++20 and Rust promise, but for load buffering; `tso`, what x86 processors do; `ra`, where every atomic releases and acquires. Under all but `sc`, `native` and `vm` explore every execution graph once. `auto`, the default, explores interleavings and, if nothing goes wrong and the program has atomics that are weaker than `seq_cst`, then the graphs of `rc11`, as far as that can be done",
        json: Some(("memory", |options| options.memory.unwrap_or(MemoryModel::Sc).name().into())),
        set: |options, text| {
            options.memory = match text {
                AUTO => None,
                _ => Some(named_or_auto(text, &MemoryModel::ALL, MemoryModel::name)?),
            };
            Ok(())
        },
        get: |options| text(options.memory.map(MemoryModel::name)),
        ..Row::NEW
    },
    Row {
        name: "ltl",
        takes: Takes::Many("FORMULA"),
        is_free: true,
        group: Group::Temporal,
        is_common: true,
        uses: &[Temporal],
        is_of_schedules: true,
        help: "Check a formula of linear temporal logic, in SPIN's syntax; may be given several \
               times",
        more: "With this, `--ltl-name` or `--automaton`, these properties and failed assertions \
               are looked for. Without any of them, whatever a model says: its assertions, its \
               ends, all its `ltl` blocks, and its never claim or accept labels.",
        manual: "check this formula, and failed assertions; may be given several times",
        set: |options, text| {
            options.ltl.push(text.to_owned());
            Ok(())
        },
        get: |options| options.ltl.clone(),
        ..Row::NEW
    },
    Row {
        name: "ltl-name",
        takes: Takes::Many("NAME"),
        group: Group::Temporal,
        uses: &[Temporal],
        languages: &[Promela],
        is_of_schedules: true,
        help: "Check an `ltl` block of the model; may be given several times",
        manual: "check this `ltl` block of the model; may be given several times",
        set: |options, text| {
            options.ltl_name.push(text.to_owned());
            Ok(())
        },
        get: |options| options.ltl_name.clone(),
        ..Row::NEW
    },
    Row {
        name: "automaton",
        takes: Takes::One("FILE"),
        group: Group::Temporal,
        uses: &[Temporal],
        is_of_schedules: true,
        help: "Check that no execution is accepted by the automaton of a file: HOA, or a never \
               claim",
        manual: "check that no execution is accepted by an automaton in the HOA format, or by a never claim",
        set: |options, text| {
            options.automaton = Some(text.into());
            Ok(())
        },
        get: |options| text(options.automaton.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "fairness",
        takes: Takes::One("NAME"),
        group: Group::Temporal,
        uses: &[Temporal],
        help: "Which infinite executions count: none asks for nothing, weak and strong for \
               fairness to every process, trace for no step that nothing depends on to be left out",
        manual: "which executions count: `none` asks for nothing, `weak` and `strong` for fairness to every process, `trace` for no step that nothing depends on to be left out",
        json: Some(("fairness", |options| options.fairness.unwrap_or_default().name().into())),
        set: |options, text| {
            named(text, &Fairness::ALL, Fairness::name).map(|it| options.fairness = Some(it))
        },
        get: |options| text(options.fairness.map(Fairness::name)),
        ..Row::NEW
    },
    Row {
        name: "cycles",
        takes: Takes::One("NAME"),
        group: Group::Temporal,
        uses: &[States],
        help: "How accepting cycles are looked for: components, or nested (under fairness, \
               components all the same)",
        manual: "how loops are looked for: `components`, or `nested`, which under fairness is `components`, too",
        json: Some(("cycles", |options| options.cycles.unwrap_or_default().name().into())),
        set: |options, text| {
            named(text, &CycleSearch::ALL, CycleSearch::name).map(|it| options.cycles = Some(it))
        },
        get: |options| text(options.cycles.map(CycleSearch::name)),
        ..Row::NEW
    },
    Row {
        name: "construction",
        takes: Takes::One("NAME"),
        group: Group::Temporal,
        uses: &[States],
        help: "When the states of the program are found: on-the-fly or off-line",
        manual: "when the states of the program are found: `on-the-fly` or `off-line`",
        json: Some(("construction", |options| {
            options.construction.unwrap_or_default().name().into()
        })),
        set: |options, text| {
            named(text, &Construction::ALL, Construction::name)
                .map(|it| options.construction = Some(it))
        },
        get: |options| text(options.construction.map(Construction::name)),
        ..Row::NEW
    },
    Row {
        name: "bound",
        takes: Takes::Many("KIND=N"),
        group: Group::Bounds,
        is_common: true,
        uses: &[Executions],
        help: "Bound on executions: depth, context, preemption, delta, fair, local-depth or \
               local-context, each with a limit",
        more: "`fair` may stand beside one of the others.",
        manual: "bound on executions: `depth`, `context`, `preemption`, `delta`, `fair`, `local-depth` or `local-context`. The verdict names it. `fair` may stand beside one of the others",
        json: Some(("bounds", |options| {
            let bounds = options.bound.iter();
            let bounds = bounds.map(|it| (it.kind.name().to_owned(), Value::from(it.limit)));
            bounds.collect::<Map<_, _>>().into()
        })),
        set: |options, text| {
            text.parse()
                .map(|it| options.bound.push(it))
                .map_err(|error: explore::OptionError| error.to_string())
        },
        get: |options| options.bound.iter().map(ToString::to_string).collect(),
        ..Row::NEW
    },
    Row {
        name: "iterate",
        group: Group::Bounds,
        uses: &[Executions],
        help: "Raise the bound one by one until it cuts nothing, and tell what is proved on the way",
        manual: "raise the bound one by one until it cuts nothing; what is proved on the way is told",
        json: Some(("iterate", |options| options.iterate.into())),
        set: |options, text| switch(text).map(|it| options.iterate = it),
        get: |options| on(options.iterate),
        ..Row::NEW
    },
    Row {
        name: "bpor-opt",
        takes: Takes::One("NAME,…"),
        group: Group::Bounds,
        uses: &[Executions],
        help: "Which optimisations of bounded reduction are on: transitive, alternative, release, \
               bound, sleep, or none [default: all that go with the bound]",
        manual: "which optimisations of bounded reduction are on: `transitive`, `alternative`, `release`, `bound`, `sleep` or `none`",
        json: Some(("bpor_opt", |options| {
            let names = |opts: &Vec<BporOpt>| opts.iter().map(|it| it.name()).collect::<Vec<_>>();
            options.bpor_opt.as_ref().map(names).into()
        })),
        set: |options, text| {
            let opts = BporOpt::parse_list(text).map_err(|error| error.to_string())?;
            options.bpor_opt = Some(opts);
            Ok(())
        },
        get: |options| {
            text(options.bpor_opt.as_ref().map(|opts| match opts.is_empty() {
                true => "none".to_owned(),
                false => opts.iter().map(|it| it.name()).collect::<Vec<_>>().join(","),
            }))
        },
        ..Row::NEW
    },
    Row {
        name: "reduction",
        takes: Takes::One("NAME"),
        group: Group::Search,
        uses: &[Executions, States],
        names: &[
            Names(Executions, || explore::Reduction::ALL.map(explore::Reduction::name).to_vec()),
            Names(States, || stored::Reduction::ALL.map(stored::Reduction::name).to_vec()),
        ],
        help: "Partial-order reduction: none, persistent, transactions, dpor, source, monotonic or \
               optimal; of states, none, ample or stubborn",
        more: "By default `optimal`; `dpor` within a bound that `optimal` has no use for, and \
               `source` with `--order best-first`. With `--engine statespace` and for models: \
               none, ample or stubborn, by default `stubborn`.",
        manual: "partial-order reduction: `none`, `persistent`, `transactions`, `dpor`, `source`, `monotonic` or `optimal`. By default `optimal`; `dpor` within a bound that `optimal` has no use for, and `source` with `--order best-first`. For stored states (`--engine statespace`, Promela): `none`, `ample` or `stubborn`, by default `stubborn`",
        json: Some(("reduction", |options| {
            options.reduction.map_or(Value::Null, |it| it.name().into())
        })),
        set: |options, text| {
            let reduction = text.parse();
            let reduction = reduction.map_err(|error: explore::OptionError| error.to_string())?;
            options.reduction = Some(reduction);
            Ok(())
        },
        get: |options| text(options.reduction.map(super::Reduction::name)),
        ..Row::NEW
    },
    Row {
        name: "sleep",
        takes: Takes::One("on|off"),
        group: Group::Search,
        uses: &[Executions],
        help: "Sleep sets beside the reduction [default: on]",
        manual: "sleep sets beside the reduction; they are on",
        json: Some(("sleep", |options| options.sleep.into())),
        set: |options, text| switch(text).map(|it| options.sleep = it),
        get: |options| text((!options.sleep).then_some("off")),
        ..Row::NEW
    },
    Row {
        name: "order",
        takes: Takes::One("ORDER"),
        group: Group::Search,
        uses: &[Executions, States],
        names: &[
            Names(Executions, || vec![explore::Order::DEPTH_FIRST, explore::Order::BEST_FIRST]),
            Names(States, || stored::Order::ALL.map(stored::Order::name).to_vec()),
        ],
        help: "Which execution comes next: dfs or best-first; of states, dfs or bfs [default: dfs]",
        more: "Best-first takes a hierarchy of priorities, the first of them first: \
               `best-first:function=push,preemptions`. There are preemptions, backtrack, sleep, \
               random, function=NAME and variable=NAME.",
        manual: "which execution comes next: `dfs`, or `best-first:` and a hierarchy of `preemptions`, `backtrack`, `sleep`, `random`, `function=NAME`, `variable=NAME`; of stored states, `dfs` or `bfs`, which finds a shortest way to a violation",
        json: Some(("order", |options| options.order.to_string().into())),
        set: |options, text| {
            let order = text.parse();
            options.order = order.map_err(|error: explore::OptionError| error.to_string())?;
            Ok(())
        },
        get: |options| {
            let is_default = options.order == super::Order::default();
            text((!is_default).then(|| options.order.to_string()))
        },
        ..Row::NEW
    },
    Row {
        name: "sample",
        takes: Takes::One("pct[:D]|pos|surw|walk"),
        group: Group::Search,
        uses: &[Executions],
        help: "Draw executions at random instead of searching all, until `--max-executions` or \
               `--time-limit` ends it",
        more: "`pct` says with which probability a bug of depth D is missed; `pos`, `surw` and \
               `walk` state none. Nothing is proved, so the exit status is 3 if nothing goes wrong.",
        manual: "draw executions at random instead of searching all, until `--max-executions` or `--time-limit` ends it: `pct` (probabilistic concurrency testing; for bugs of depth D, 2 by default, it says with which probability one is missed), `pos` (partial order sampling), `surw` (selectively uniform random walk) or `walk` (random walk). What is drawn depends on `--seed` alone. Nothing is proved, so the exit status is 3 if nothing goes wrong",
        json: Some(("sample", |options| {
            options.sample.map(|sampling| sampling.to_string()).into()
        })),
        set: |options, text| {
            let sampling = text.parse().map_err(|error: explore::OptionError| error.to_string())?;
            options.sample = Some(sampling);
            Ok(())
        },
        get: |options| text(options.sample),
        ..Row::NEW
    },
    Row {
        name: "ladder",
        takes: Takes::One("on|off"),
        group: Group::Search,
        uses: &[Executions],
        help: "Share the time of the search with searches within 0, 1 and 2 preemptions, so that \
               one that is stopped has proved something [default: on]",
        manual: "share the time of a search of all executions with searches within 0, 1 and 2 preemptions (a fifth of it, or half where executions take long), so that a search that is stopped has proved something, and the first violation is one with few preemptions. If a time limit comes before the last of them has ended, the rest of the time goes to random executions",
        json: Some(("ladder", |options| options.ladder.into())),
        set: |options, text| switch(text).map(|it| options.ladder = it),
        get: |options| text((!options.ladder).then_some("off")),
        ..Row::NEW
    },
    Row {
        name: "seed",
        takes: Takes::One("N"),
        group: Group::Search,
        uses: &[Executions],
        help: "Seed of the random number generator, for `--sample` and `--order best-first:random` \
               [default: 0]",
        manual: "seed of the random number generator, for `--sample`, `best-first:random` and `simulate`",
        json: Some(("seed", |options| options.seed.into())),
        set: |options, text| number(text).map(|it| options.seed = it),
        get: |options| text((options.seed != 0).then_some(options.seed)),
        ..Row::NEW
    },
    Row {
        name: "coverage",
        group: Group::Search,
        uses: &[Executions],
        help: "Count the states that are visited; it takes memory for each of them",
        manual: "count the states that are visited; it takes memory for each of them",
        json: Some(("coverage", |options| options.coverage.into())),
        set: |options, text| switch(text).map(|it| options.coverage = it),
        get: |options| on(options.coverage),
        ..Row::NEW
    },
    Row {
        name: "jobs",
        takes: Takes::One("N"),
        group: Group::Search,
        is_common: true,
        uses: &[Jobs],
        help: "How many workers share the search [default: as many as there are cores; 1 for a model]",
        more: "Programs that run themselves are searched by processes, models by threads. With several \
               tests, `mazurka test` has so many of them at a time.",
        manual: "how many workers share the search: processes for a program that runs itself, by default as many as there are cores; threads for a model, by default 1. `mazurka test` has so many tests at a time if there are several",
        json: Some(("jobs", |options| options.jobs.into())),
        set: |options, text| number(text).map(|it| options.jobs = Some(it)),
        get: |options| text(options.jobs),
        ..Row::NEW
    },
    Row {
        name: "workers",
        takes: Takes::One("URL"),
        group: Group::Search,
        uses: &[Processes],
        help: "Have the workers of a broker explore: nats://HOST",
        more: "`mazurka worker nats://HOST` on any machine is one. The totals are those of one search, \
               whatever is killed or restarted on the way.",
        manual: "have the workers of a broker explore, `mazurka worker nats://HOST` on any machine; the totals are those of one search. The key of the asker is that of `--sign-key`",
        json: Some(("workers", |options| options.workers.clone().into())),
        set: |options, text| {
            options.workers = Some(text.to_owned());
            Ok(())
        },
        get: |options| text(options.workers.as_ref()),
        ..Row::NEW
    },
    Row {
        name: "sign-key",
        takes: Takes::One("FILE"),
        group: Group::Search,
        uses: &[Processes],
        help: "With --workers: the private key that workers know the asker by (`mazurka fleet keygen`)",
        manual: "with `--workers`: the private key that workers know the asker by, of `mazurka fleet keygen`",
        set: |options, text| {
            options.sign_key = Some(text.into());
            Ok(())
        },
        get: |options| text(options.sign_key.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "slice",
        takes: Takes::One("TIME"),
        group: Group::Search,
        uses: &[Processes],
        help: "With --workers: how long a unit is explored before the rest is dealt out again [default: 5s]",
        manual: "with `--workers`: how long a unit is explored before the rest of it is dealt out again, by default `5s`. A worker that is killed loses one slice, and its unit goes to another one after twice that time",
        set: |options, text| duration(text).map(|it| options.slice = Some(it)),
        get: |options| text(options.slice.map(duration_text)),
        ..Row::NEW
    },
    Row {
        name: "storage",
        takes: Takes::One("NAME"),
        group: Group::States,
        uses: &[States],
        help: "How states are stored: exact, tree, compact or bitstate [default: tree]",
        more: "`tree` takes the least memory of those that never take one state for another.",
        manual: "how states are kept: `tree`, `exact`, `compact` or `bitstate`",
        json: Some(("storage", |options| options.storage.name().into())),
        set: |options, text| {
            named(text, &Storage::ALL, Storage::name).map(|it| options.storage = it)
        },
        get: |options| {
            let is_default = options.storage == Storage::default();
            text((!is_default).then(|| options.storage.name()))
        },
        ..Row::NEW
    },
    Row {
        name: "shorten",
        group: Group::States,
        uses: &[States],
        help: "After a violation, go on for shorter ways to one; `--order bfs` finds a shortest \
               way at once",
        manual: "after a violation, go on for shorter ways to one",
        json: Some(("shorten", |options| options.shorten.into())),
        set: |options, text| switch(text).map(|it| options.shorten = it),
        get: |options| on(options.shorten),
        ..Row::NEW
    },
    Row {
        name: "no-optimise",
        group: Group::States,
        uses: &[States],
        help: "Keep dead variables and store a state behind every step, as SPIN does with `-o1 -o2 \
               -o3`",
        manual: "keep dead variables and store a state behind every step, as SPIN does with `-o1 -o2 -o3`",
        json: Some(("optimise", |options| (!options.no_optimise).into())),
        set: |options, text| switch(text).map(|it| options.no_optimise = it),
        get: |options| on(options.no_optimise),
        ..Row::NEW
    },
    Row {
        name: "trail",
        takes: Takes::One("FILE"),
        group: Group::States,
        uses: &[States],
        languages: &[Promela],
        help: "Write a violation of a Promela model as a trail, for `spin -t -k` and `mazurka \
               replay --trail`",
        manual: "of `check`: write a violation as a trail, which `spin -t -k FILE x.pml` follows; of `replay`: follow a trail, ours or SPIN's (`pan` built with `-DNOREDUCE` from `spin -o3 -a`)",
        set: |options, text| {
            options.trail = Some(text.into());
            Ok(())
        },
        get: |options| text(options.trail.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "schedule",
        takes: Takes::One("NAME"),
        group: Group::Circuits,
        uses: &[Circuits],
        help: "Scheduling constraint of the encoding: interleaving, stubborn, transactions, ppor \
               or mpor [default: transactions]",
        more: "All of them find the same violations. `transactions` leaves out more than \
               `stubborn`, and `mpor`, which takes each trace once, more than `ppor`.",
        manual: "of `check`, for a circuit: the scheduling constraint of the encoding, `interleaving`, `stubborn`, `transactions`, `ppor` or `mpor`; all find the same violations. `transactions` leaves out more than `stubborn`, and `mpor`, which takes each trace once, more than `ppor`. Of `replay`: the schedule, if it is not the last word, or `@FILE`: one that is in a file, by itself or in what `--json FILE` wrote",
        json: Some(("schedule", |options| options.schedule.name().into())),
        set: |options, text| {
            named(text, &Schedule::ALL, Schedule::name).map(|it| options.schedule = it)
        },
        get: |options| {
            let is_default = options.schedule == Schedule::Transactions;
            text((!is_default).then(|| options.schedule.name()))
        },
        ..Row::NEW
    },
    Row {
        name: "depth",
        takes: Takes::One("K"),
        group: Group::Circuits,
        uses: &[Circuits],
        help: "Look at executions of up to so many steps",
        manual: "in a circuit: look at executions of up to so many steps",
        json: Some(("depth", |options| options.depth.into())),
        set: |options, text| number(text).map(|it| options.depth = Some(it)),
        get: |options| text(options.depth),
        ..Row::NEW
    },
    Row {
        name: "recursion",
        takes: Takes::One("N"),
        group: Group::Circuits,
        uses: &[Circuits],
        help: "Let a function call itself up to so many times; without it, one that does is \
               refused",
        manual: "in a circuit: let a function call itself up to so many times; without it, one that does is refused",
        json: Some(("recursion", |options| options.recursion.into())),
        set: |options, text| number(text).map(|it| options.recursion = it),
        get: |options| text((options.recursion != 0).then_some(options.recursion)),
        ..Row::NEW
    },
    Row {
        name: "proof",
        takes: Takes::One("FILE"),
        group: Group::Circuits,
        uses: &[Circuits],
        help: "Write a proof of what holds, in the format LRAT, and its formula beside it, in \
               FILE.cnf",
        manual: "of a circuit: write a proof of what holds, in the format LRAT, and the formula that it refutes beside it, in `FILE.cnf`",
        set: |options, text| {
            options.proof = Some(text.into());
            Ok(())
        },
        get: |options| text(options.proof.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "time-limit",
        takes: Takes::One("TIME"),
        group: Group::Limits,
        is_common: true,
        help: "Stop after so long: 500ms, 60s, 5m, 1h",
        manual: "stop after so long: `500ms`, `60s`, `5m`, `1h`",
        json: Some(("time_limit_s", |options| {
            options.time_limit.map(|limit| limit.as_secs_f64()).into()
        })),
        set: |options, text| duration(text).map(|it| options.time_limit = Some(it)),
        get: |options| text(options.time_limit.map(duration_text)),
        ..Row::NEW
    },
    Row {
        name: "memory-limit",
        takes: Takes::One("SIZE"),
        group: Group::Limits,
        help: "Stop when so much memory is in use: 500M, 8G",
        manual: "stop when so much memory is in use: `500M`, `8G`",
        json: Some(("memory_limit", |options| options.memory_limit.into())),
        set: |options, text| size(text).map(|it| options.memory_limit = Some(it)),
        get: |options| text(options.memory_limit.map(size_text)),
        ..Row::NEW
    },
    Row {
        name: "save",
        takes: Takes::One("FILE"),
        group: Group::Limits,
        is_common: true,
        uses: &[Executions, States],
        help: "Save a search that is interrupted or comes to a limit, and one that lasts every minute",
        more: "Without it, a search that took 10 seconds or more is saved in a folder of the user. The \
               last line says how to go on with it.",
        manual: "save a search that is interrupted or comes to a limit, and one that lasts every minute; without it, a search that took 10 seconds or more is saved in the cache folder of the user. The last line of the output is the command that goes on. With `--engine statespace`, searches of C programs and Promela models are saved with all their states, those for infinite executions (`--ltl` and the like), too, unless the graph is built first (`--construction off-line`): the file is about as large as the states, and without `--save` nothing is saved of those that take more than a gigabyte. What is there and is no saved search is not replaced",
        set: |options, text| {
            options.save = Some(whole(text)?);
            Ok(())
        },
        get: |options| text(options.save.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "resume",
        takes: Takes::One("FILE"),
        group: Group::Limits,
        is_common: true,
        uses: &[Executions, States],
        help: "Go on with a search that was saved",
        manual: "go on with a search that was saved: of the same program, with the same options; limits and `--jobs` may be others, but a depth-first search of states by one job stays one, and one by several jobs goes on with several",
        set: |options, text| {
            options.resume = Some(whole(text)?);
            Ok(())
        },
        get: |options| text(options.resume.as_ref().map(|it| it.to_string_lossy())),
        ..Row::NEW
    },
    Row {
        name: "max-executions",
        takes: Takes::One("N"),
        group: Group::Limits,
        uses: &[Executions],
        help: "Stop after so many executions",
        manual: "stop after so many executions, and prove nothing",
        json: Some(("max_executions", |options| options.max_executions.into())),
        set: |options, text| positive(text).map(|it| options.max_executions = Some(it)),
        get: |options| text(options.max_executions),
        ..Row::NEW
    },
    Row {
        name: "max-depth",
        takes: Takes::One("N"),
        group: Group::Limits,
        uses: &[Executions, States],
        help: "Cut executions after so many steps",
        more: "Unless `--property` has `livelock`, what was cut is left unverified. Without this \
               option, executions are cut after 100 000 steps.",
        manual: "cut executions after so many steps; what was cut is unverified, unless `--property` has `livelock`",
        json: Some(("max_depth", |options| options.max_depth.into())),
        set: |options, text| positive(text).map(|it| options.max_depth = Some(it)),
        get: |options| text(options.max_depth),
        ..Row::NEW
    },
    Row {
        name: "trace",
        takes: Takes::One("short|full"),
        group: Group::Output,
        is_common: true,
        help: "Which steps of a violation are shown: those that matter, or all of them",
        more: "A step matters if it is in the causal past of the failure and about something that \
               two threads touch. What a library does in a call is one row.",
        manual: "which steps of a violation are shown. `short`, the default, has those in the causal past of the failure on objects that two threads touch, with what a library does folded into the call in the program's own source; `full` has all",
        set: |options, text| {
            named(text, &[false, true], trace_name).map(|it| options.full_trace = it)
        },
        get: |options| text(options.full_trace.then_some("full")),
        ..Row::NEW
    },
    Row {
        name: "show",
        takes: Takes::Many("executions=N|lines"),
        group: Group::Output,
        uses: &[Executions, States],
        names: &[
            Names(Executions, || vec![super::Show::EXECUTIONS, super::Show::LINES]),
            Names(States, || vec![super::Show::LINES]),
        ],
        help: "Show of a check that holds what distinguishes its first N executions, or which lines no \
               execution has reached; may be given several times",
        more: "Each execution is of another trace: shown are the racing pairs in the order in which \
               they happened, and values, as far as they are not the same in all of them; and the \
               command that replays it. Lines are those of the program's own source; `--lcov FILE` \
               writes all of them.",
        manual: "show more of a check that holds; may be given several times. `executions=N`: what distinguishes its first N executions, each of another trace: the racing pairs in the order in which they happened, and the values that steps have found, as far as they are not the same in all that are shown; with the command that replays each. `lines`: how many lines of the program's own source any execution has reached, and which none has; `--lcov FILE` writes all of them. Of a violation nothing more is shown",
        json: Some(("show", |options| (super::Show::words(options)).into())),
        set: |options, text| text.parse().map(|it: super::Show| it.add_to(options)),
        get: super::Show::words,
        ..Row::NEW
    },
];
