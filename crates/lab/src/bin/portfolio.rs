//! Which programs of `corpus/c` the portfolio decides: `cargo build --profile dist -p mazurka-cli
//! && cargo run --profile dist -p mazurka-lab --bin portfolio [SECONDS]`.
//!
//! Every program, compiled in each way for which its first lines expect a verdict, by `mazurka
//! check --engine portfolio` and in so many seconds, 60 unless it is said. Leaks are left out: no
//! circuit looks for them. A verdict that is not the expected one ends it. The table goes to
//! `results/portfolio.csv`, and how many were decided to standard output.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/c");
const CSV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/portfolio.csv");

/// What a verdict takes for granted that is about all ends but those of executions that never end.
const NO_SPINNING: &str = "spins for ever";

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
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mazurka = this.with_file_name("mazurka");
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
            let mut command = Command::new(&mazurka);
            command.args(["check", "--engine", "portfolio"]).arg(&path);
            command.arg(format!("--time-limit={seconds}s")).args(flags.split_whitespace());
            let start = Instant::now();
            let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
            let taken = start.elapsed().as_secs_f64();
            let said = String::from_utf8_lossy(&output.stdout);
            // Lines are broken anywhere.
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let verdict = match output.status.code() {
                Some(0) if said.contains(NO_SPINNING) => "holds unless somebody spins for ever",
                Some(0) => "holds",
                Some(1) => "violated",
                Some(2) => "refused",
                _ => "inconclusive",
            };
            let (expected, flags) = (expected.trim(), flags.trim());
            let is_decided = matches!(output.status.code(), Some(0 | 1));
            let counts = programs.entry(name.clone()).or_default();
            *counts = (counts.0 + 1, counts.1 + u32::from(is_decided));
            let _ = writeln!(csv, "{name},\"{flags}\",{expected},{verdict},{taken:.2}");
            let kind = |text: &str| text.split(' ').next().map(str::to_owned);
            let is_assumed = verdict.contains("spins");
            if is_decided && !is_assumed && kind(expected) != kind(verdict) {
                return Err(format!("{name} {flags}: {verdict}, where {expected} is expected"));
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
