//! How soon planted bugs are found: `cargo run --profile dist -p mazurka-lab --bin thesis`, after
//! `cargo build --profile dist -p mazurka-cli`.
//!
//! Prints, as comma-separated values, what each search says of each program in `corpus/c/thesis`:
//! Coons' thesis, Fig. 3.4 and table 8.2. With arguments, only programs whose names contain one of
//! them. A search takes at most [`MOST`] executions; `MAZURKA` may name another command to measure.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::thesis::programs;
use std::process::ExitCode;

const MOST: u64 = 20_000;

/// What is compared, by its name in the table.
const SEARCHES: [(&str, &[&str]); 7] = [
    ("dpor", &["--reduction", "dpor"]),
    ("source", &["--reduction", "source"]),
    ("optimal", &["--reduction", "optimal"]),
    ("dpor preemptions", &["--reduction", "dpor", "--order", "best-first:preemptions"]),
    ("source preemptions", &["--reduction", "source", "--order", "best-first:preemptions"]),
    ("dpor random", &["--reduction", "dpor", "--order", "best-first:random", "--seed", "1"]),
    (
        "none backtrack,preemptions",
        &["--reduction", "none", "--order", "best-first:backtrack,preemptions"],
    ),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match table(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(wanted: &[String]) -> Result<(), String> {
    println!("program,search,verdict,kind,executions,given up,steps,local states,seconds");
    for program in programs(wanted)? {
        for (search, options) in SEARCHES {
            let said = program.check("", options, MOST)?;
            let kind = said["violation"]["kind"].as_str().unwrap_or("");
            let stats = &said["stats"];
            println!(
                "{},\"{search}\",{},{kind},{},{},{},{},{}",
                program.name,
                said["verdict"].as_str().unwrap_or(""),
                stats["executions"],
                stats["blocked_executions"],
                stats["transitions"],
                stats["unique_local_states"],
                stats["time_s"],
            );
        }
    }
    Ok(())
}
