//! How fast C programs are explored natively: `cargo run --profile dist -p mazurka-lab --bin
//! native`.
//!
//! Prints a table of programs with their executions, all of which have to be there, the time of
//! the processor and the memory they took, and how many times the rate of GenMC that is. With the
//! name of a program as argument, only that one; with `flat`, one program for more and more
//! executions, which must not take more and more memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::native::{Case, Error, Measured};
use std::path::Path;
use std::process::ExitCode;

/// Sizes that are large enough to be measured, and where there is one, GenMC's rate for the size
/// that was published.
const CASES: [Case; 10] = [
    Case { name: "increments", size: 5, traces: 756_756, genmc: None },
    Case { name: "indexer", size: 15, traces: 4_096, genmc: Some(1_900.0) },
    Case { name: "indexer", size: 16, traces: 32_768, genmc: Some(1_900.0) },
    Case { name: "filesystem", size: 24, traces: 2_048, genmc: Some(700.0) },
    Case { name: "filesystem", size: 26, traces: 8_192, genmc: Some(700.0) },
    Case { name: "readers", size: 17, traces: 131_072, genmc: Some(29_000.0) },
    Case { name: "nwriters", size: 9, traces: 362_880, genmc: Some(69_000.0) },
    Case { name: "fib", size: 5, traces: 8_953, genmc: Some(9_000.0) },
    Case { name: "lastzero", size: 8, traces: 704, genmc: None },
    Case { name: "bigheap", size: 16, traces: 12_870, genmc: None },
];

/// A program with more executions than anybody waits for, and how many of them are made.
const LONG: Case = Case { name: "increments", size: 6, traces: 17_153_136, genmc: None };
const LIMITS: [u64; 3] = [100_000, 1_000_000, 10_000_000];
/// What a longer search may take more: pages that the system gave and took for its own reasons.
const SLACK: u64 = 1 << 20;

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1);
    let folder = std::env::temp_dir().join(format!("mazurka-lab-{}", std::process::id()));
    let is_wanted = |case: &&Case| wanted.as_ref().is_none_or(|name| name == case.name);
    let result = match std::fs::create_dir_all(&folder) {
        Err(error) => Err(error.to_string()),
        Ok(()) if wanted.as_deref() == Some("flat") => {
            measure_memory(&folder).map_err(|error| error.to_string())
        }
        Ok(()) => {
            measure(CASES.iter().filter(is_wanted), &folder).map_err(|error| error.to_string())
        }
    };
    // What cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all programs had the executions that they should have.
fn measure<'a>(cases: impl Iterator<Item = &'a Case>, folder: &Path) -> Result<bool, Error> {
    println!(
        "| program | executions | user s | system s | executions a second | peak MB | GenMC |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut is_right = true;
    for &case in cases {
        let measured = case.explore(folder)?;
        let Measured { executions, user_s, system_s, peak_memory } = measured;
        let ratio = case.genmc.map(|rate| format!("{:.0} times", measured.rate() / rate));
        println!(
            "| `{}({})` | {executions} | {user_s:.2} | {system_s:.2} | {:.0} | {:.1} | {} |",
            case.name,
            case.size,
            measured.rate(),
            peak_memory as f64 / 1e6,
            ratio.as_deref().unwrap_or("-"),
        );
        if executions != case.traces {
            eprintln!("error: {}({}) has {} traces", case.name, case.size, case.traces);
            is_right = false;
        }
    }
    Ok(is_right)
}

/// Whether a longer search takes no more memory than a shorter one.
fn measure_memory(folder: &Path) -> Result<bool, Error> {
    println!("| executions | user s | executions a second | peak MB |");
    println!("| --- | --- | --- | --- |");
    let mut peaks = Vec::new();
    for limit in LIMITS {
        let measured = LONG.explore_first(folder, limit)?;
        let Measured { executions, user_s, peak_memory, .. } = measured;
        let peak = peak_memory as f64 / 1e6;
        println!("| {executions} | {user_s:.2} | {:.0} | {peak:.2} |", measured.rate());
        peaks.push(peak_memory);
    }
    let is_flat = peaks.iter().all(|&peak| peak <= peaks[0] + SLACK);
    if !is_flat {
        eprintln!("error: a longer search takes more memory: {peaks:?} bytes");
    }
    Ok(is_flat)
}
