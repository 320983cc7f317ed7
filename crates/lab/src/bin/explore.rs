//! How fast the explorer is: `cargo run --profile dist -p mazurka-lab --bin explore`.
//!
//! Prints a table of searches with executions, transitions, CPU time, rates and memory: the
//! resident set after the first tenth of a second, and its peak. With arguments `REDUCTION PROGRAM
//! [JOBS]`, only that search: `optimal long4x50/10 2`. A program whose name begins with `vm:` is
//! run by the machine of `mazurka-model`: `optimal vm:indexer15`. With the argument `peers`, the
//! programs on which GenMC was measured, and how many times as fast we are.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_core::{Event, System, Verdict};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_lab::{machine, models, programs};
use mazurka_model::{Program, Races, Vm};
use mazurka_script::Script;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program of a name such as `writers8`, `fib5`, `long4x50/10`.
fn program(name: &str) -> Option<String> {
    let split = name.find(|c: char| c.is_ascii_digit())?;
    let (kind, size) = name.split_at(split);
    if kind == "long" {
        let (threads, rest) = size.split_once('x')?;
        let (len, period) = rest.split_once('/')?;
        return Some(programs::long(
            threads.parse().ok()?,
            len.parse().ok()?,
            period.parse().ok()?,
        ));
    }
    if kind == "private" {
        let (threads, len) = size.split_once('x')?;
        return Some(programs::private(threads.parse().ok()?, len.parse().ok()?));
    }
    let n = size.parse().ok()?;
    Some(match kind {
        "readers" => programs::readers(n),
        "writers" => programs::writers(n),
        "fib" => programs::fib(n),
        "indexer" => programs::indexer(n),
        "filesystem" => programs::filesystem(n),
        _ => return None,
    })
}

/// The model of a name such as `indexer15`.
fn model(name: &str) -> Option<Program> {
    let (kind, n) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
    let n = n.parse().ok()?;
    Some(match kind {
        "readers" => models::readers(n),
        "writers" => models::writers(n),
        "fib" => models::fib(n),
        "lastzero" => models::lastzero(n),
        "indexer" => models::indexer(n),
        "filesystem" => models::filesystem(n),
        "increments" => models::increments(n),
        _ => return None,
    })
}

fn measure(reduction: Reduction, name: &str, jobs: usize) -> Result<(), String> {
    let unknown = || format!("unknown program `{name}`");
    if let Some(kind) = name.strip_prefix("vm:") {
        let program = model(kind).ok_or_else(unknown)?;
        let vm = Vm::new(program, Races::Allow).map_err(|errors| errors[0].to_string())?;
        return measure_system(reduction, name, jobs, &vm, false);
    }
    let text = program(name).ok_or_else(unknown)?;
    let script: Script = Script::parse(&text).map_err(|errors| format!("{name}: {}", errors[0]))?;
    measure_system(reduction, name, jobs, &script, true)
}

/// Programs, their traces, and how many executions a second GenMC 0.11 came to at sequential
/// consistency on a machine of the same kind.
const PEERS: [(&str, u64, f64); 5] = [
    ("indexer15", 4_096, 1_900.0),
    ("filesystem24", 2_048, 700.0),
    ("readers17", 131_072, 29_000.0),
    ("writers9", 362_880, 69_000.0),
    ("fib5", 8_953, 9_000.0),
];

/// Searches each program until a second of CPU has gone by, so that small ones count, too.
fn peers() -> Result<(), String> {
    println!("program,traces,executions a second,GenMC,times");
    let mut options = Options::new();
    // Every access is an operation, so there is nothing to watch, and the command does not either.
    options.race = false;
    for (name, traces, genmc) in PEERS {
        let program = model(name).ok_or("it is a model")?;
        let vm = Vm::new(program, Races::Allow).map_err(|errors| errors[0].to_string())?;
        let begun = machine::cpu_time().ok_or("there is no /proc")?;
        let (mut n, mut cpu) = (0u64, Duration::ZERO);
        while cpu < Duration::from_secs(1) {
            let outcome = Explorer::new(options.clone()).run(|| vm.clone());
            let statistics = outcome.map_err(|error| error.to_string())?.statistics;
            if (statistics.executions, statistics.blocked_executions) != (traces, 0) {
                return Err(format!("{name} has {traces} traces: {statistics:?}"));
            }
            n += statistics.executions;
            cpu = machine::cpu_time().map_or(cpu, |now| now - begun);
        }
        let rate = n as f64 / cpu.as_secs_f64();
        println!("{name},{traces},{rate:.0},{genmc:.0},{:.1}", rate / genmc);
    }
    Ok(())
}

fn measure_system<S: System + Clone + Send + Sync>(
    reduction: Reduction,
    name: &str,
    jobs: usize,
    system: &S,
    race: bool,
) -> Result<(), String> {
    let mut options = Options::new().reduction(reduction).jobs(jobs);
    options.race = race;
    options.progress_every = Duration::from_millis(100);
    let (begun, cpu) = (Instant::now(), machine::cpu_time());
    let early = OnceLock::new();
    let watch = |_: &Event| {
        early.get_or_init(machine::memory);
    };
    let outcome = Explorer::new(options)
        .on_event(&watch)
        .run(|| system.clone())
        .map_err(|error| error.to_string())?;
    let wall = begun.elapsed().as_secs_f64();
    let cpu = machine::cpu_time().zip(cpu).map_or(wall, |(now, then)| (now - then).as_secs_f64());
    if !matches!(outcome.verdict, Verdict::Holds(_)) {
        return Err(format!("{name}: {:?}", outcome.verdict));
    }
    let s = outcome.statistics;
    println!(
        "{:<10} {name:<14} {jobs:>4} {:>10} {:>8} {:>11} {:>8.2} {:>8.2} {:>9.3} {:>9.3} {:>6.1} {:>7.1}",
        reduction.name(),
        s.executions,
        s.blocked_executions,
        s.transitions,
        cpu,
        wall,
        s.transitions as f64 / cpu / 1e6,
        s.executions as f64 / cpu / 1e6,
        megabytes(early.into_inner().flatten()),
        megabytes(machine::peak_memory()),
    );
    Ok(())
}

fn megabytes(bytes: Option<u64>) -> f64 {
    bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1e6)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.as_slice() {
        [all] if all == "peers" => peers(),
        args => rates(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn rates(args: &[String]) -> Result<(), String> {
    println!(
        "{:<10} {:<14} {:>4} {:>10} {:>8} {:>11} {:>8} {:>8} {:>9} {:>9} {:>6} {:>7}",
        "reduction",
        "program",
        "jobs",
        "execs",
        "blocked",
        "steps",
        "cpu s",
        "wall s",
        "Msteps/s",
        "Mexecs/s",
        "MB",
        "peak MB"
    );
    match args {
        [] => all(),
        [reduction, name, rest @ ..] => {
            let jobs = rest.first().map_or(Ok(1), |jobs| jobs.parse());
            match (reduction.parse(), jobs) {
                (Ok(reduction), Ok(jobs)) => measure(reduction, name, jobs),
                (Err(error), _) => Err(error.to_string()),
                (_, Err(error)) => Err(error.to_string()),
            }
        }
        [_] => Err("REDUCTION and PROGRAM come together".to_owned()),
    }
}

fn all() -> Result<(), String> {
    for reduction in [Reduction::Dpor, Reduction::Source, Reduction::Optimal] {
        for name in ["long4x50/10", "writers8", "readers16", "fib5", "indexer14", "filesystem20"] {
            measure(reduction, name, 1)?;
        }
    }
    measure(Reduction::Optimal, "writers10", 1)?;
    measure(Reduction::Optimal, "writers10", 2)?;
    measure(Reduction::Optimal, "readers23", 1)
}
