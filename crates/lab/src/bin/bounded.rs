//! What bounds cost and what they cover: `cargo run --profile dist -p mazurka-lab --bin bounded
//! [PROGRAM]…`, after `cargo build --profile dist -p mazurka-cli`.
//!
//! Prints two tables of comma-separated values about the programs in `corpus/c/thesis`:
//!
//! - how many executions it takes to find the bug, as in Coons' thesis, table 8.2: `dpor` without a
//!   bound, and the preemption bound raised one by one, without and with reduction;
//! - what every bound visits in the programs without their bugs, as in Figs. 8.1 to 8.7: each value
//!   until it cuts nothing, with sleep sets alone, with BPOR as in chapter 5, and with the
//!   optimisations of chapter 6; the local bounds of chapter 7 with `dpor` and `optimal`. `visited`
//!   over `unique` is the work that is done again and again.
//!
//! A search takes at most [`MOST`] executions and [`LONGEST`].

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::thesis::{Program, programs};
use serde_json::Value;
use std::process::ExitCode;

const MOST: u64 = 100_000;
const LONGEST: &str = "20s";

/// Small enough for most bounds to be raised until they cut nothing.
const FIXED: &str = "-DFIXED -DROUNDS=1";

const RAISED: [&str; 3] = ["--bound", "preemption=0", "--iterate"];

/// A search, by its name in the table.
type Search = (&'static str, &'static [&'static str]);

const SEARCHES: [Search; 3] = [
    ("sleep sets", &["--reduction", "none"]),
    ("bpor", &["--reduction", "dpor", "--bpor-opt", "none"]),
    ("bpor, optimised", &["--reduction", "dpor"]),
];

/// Nothing has to be explored because of a local bound.
const LOCAL_SEARCHES: [Search; 3] = [
    ("sleep sets", &["--reduction", "none"]),
    ("dpor", &["--reduction", "dpor"]),
    ("optimal", &["--reduction", "optimal"]),
];

const BOUNDS: [(&str, [Search; 3]); 6] = [
    ("context", SEARCHES),
    ("preemption", SEARCHES),
    ("delta", SEARCHES),
    ("depth", SEARCHES),
    ("local-context", LOCAL_SEARCHES),
    ("local-depth", LOCAL_SEARCHES),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match tables(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn tables(wanted: &[String]) -> Result<(), String> {
    let programs = programs(wanted)?;
    println!("program,search,verdict,executions");
    programs.iter().try_for_each(to_the_bug)?;
    println!("\nprogram,bound,value,search,cut,executions,given up,visited,unique,traces");
    programs.iter().filter(|program| program.can_be_fixed).try_for_each(coverage)
}

/// How soon the bug is found.
fn to_the_bug(program: &Program) -> Result<(), String> {
    let searches: [Search; 3] = [
        ("dpor", &["--reduction", "dpor"]),
        (
            "none, preemptions",
            &["--reduction", "none", "--sleep", "off", RAISED[0], RAISED[1], RAISED[2]],
        ),
        ("bpor, preemptions", &["--reduction", "dpor", RAISED[0], RAISED[1], RAISED[2]]),
    ];
    for (search, options) in searches {
        let said = program.check("", options, MOST)?;
        let verdict = said["verdict"].as_str().unwrap_or("");
        println!("{},\"{search}\",{verdict},{}", program.name, said["stats"]["executions"]);
    }
    Ok(())
}

/// What is visited within each bound.
fn coverage(program: &Program) -> Result<(), String> {
    let all = program.check(FIXED, &["--reduction", "dpor"], MOST)?;
    print_coverage(program, "none", 0, "dpor", &all);
    for (bound, searches) in BOUNDS {
        for (search, options) in searches {
            for value in 0.. {
                let within = format!("{bound}={value}");
                let options = [options, &["--bound", &within, "--time-limit", LONGEST]].concat();
                let said = program.check(FIXED, &options, MOST)?;
                print_coverage(program, bound, value, search, &said);
                let cut = said["stats"]["bound_exceeded"] == true;
                if !cut || said["verdict"] != "holds" {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn print_coverage(program: &Program, bound: &str, value: u32, search: &str, said: &Value) {
    let stats = &said["stats"];
    println!(
        "{},{bound},{value},\"{search}\",{},{},{},{},{},{}",
        program.name,
        match said["verdict"].as_str() {
            Some("holds") if stats["bound_exceeded"] == true => "yes",
            Some("holds") => "no",
            _ => "given up",
        },
        stats["executions"],
        stats["blocked_executions"],
        stats["visited_local_states"],
        stats["unique_local_states"],
        stats["traces"],
    );
}
