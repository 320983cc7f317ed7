//! Which programs of `corpus/c` the portfolio decides: `cargo run --profile dist -p mazurka-lab
//! --bin portfolio [SECONDS]`.
//!
//! Every program, compiled in each way for which its first lines expect a verdict, as by `mazurka
//! check --engine portfolio` and in so many seconds, 60 unless it is said. Leaks are left out: no
//! circuit looks for them. A verdict that is not the expected one ends it. The table goes to
//! `results/portfolio.csv`, and how many were decided to standard output.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_check::{Task, engine};
use mazurka_core::{Assumption, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/c");
const CSV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/portfolio.csv");

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).unwrap_or_else(|| "60".to_owned());
    if seconds.parse::<u32>().is_err() {
        eprintln!("error: `{seconds}` is no number of seconds\nUsage: portfolio [SECONDS]");
        return ExitCode::from(2);
    }
    match run(&seconds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(seconds: &str) -> Result<(), String> {
    let portfolio = engine("portfolio").ok_or("there is no such engine")?;
    let mut csv = String::from("program,flags,expected,verdict,seconds\n");
    // By program, how many cases there are and how many were decided.
    let mut programs = BTreeMap::<String, (u32, u32)>::new();
    for path in programs_in(Path::new(CORPUS))? {
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let name = path.strip_prefix(CORPUS).unwrap_or(&path).display().to_string();
        for line in text.lines().filter_map(|line| line.strip_prefix("// expect")) {
            let (flags, expected) = line.split_once(':').ok_or("an expectation has a colon")?;
            if flags.contains("--property=leak") {
                continue;
            }
            let mut task = Task::files([&path]);
            task.options.flags = flags.split_whitespace().map(str::to_owned).collect();
            let limit = format!("{seconds}s");
            task.options.set("time-limit", &limit).map_err(|fault| fault.to_string())?;
            let start = Instant::now();
            let outcome = task.check_by(portfolio, &());
            let taken = start.elapsed().as_secs_f64();
            let verdict = outcome.as_ref().map(|outcome| &outcome.verdict);
            let is_assumed = matches!(verdict, Ok(Verdict::Holds(coverage))
                if coverage.assumptions().contains(&Assumption::NoSpinning));
            let said = match verdict {
                Ok(Verdict::Holds(_)) if is_assumed => "holds unless a thread spins for ever",
                Ok(verdict) => verdict.name(),
                Err(_) => "refused",
            };
            let (expected, flags) = (expected.trim(), flags.trim());
            let is_decided = matches!(verdict, Ok(Verdict::Holds(_) | Verdict::Violated(_)));
            let counts = programs.entry(name.clone()).or_default();
            *counts = (counts.0 + 1, counts.1 + u32::from(is_decided));
            let _ = writeln!(csv, "{name},\"{flags}\",{expected},{said},{taken:.2}");
            let kind = |text: &str| text.split(' ').next().map(str::to_owned);
            if is_decided && !is_assumed && kind(expected) != kind(said) {
                return Err(format!("{name} {flags}: {said}, where {expected} is expected"));
            }
        }
    }
    std::fs::write(CSV, csv).map_err(|error| format!("{CSV}: {error}"))?;
    let sum = |count: fn(&(u32, u32)) -> u32| programs.values().map(count).sum::<u32>();
    let whole = programs.values().filter(|(cases, decided)| cases == decided).count();
    println!(
        "{} of {} cases, and all cases of {whole} of {} programs, are decided",
        sum(|counts| counts.1),
        sum(|counts| counts.0),
        programs.len(),
    );
    Ok(())
}

/// The programs of a folder, and of those in it.
fn programs_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            found.extend(programs_in(&path)?);
        } else if path.extension().is_some_and(|it| it == "c") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
