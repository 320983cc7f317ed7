//! The case study of CAV 2006, section 5, again: `cargo run --profile dist -p mazurka-lab --bin
//! daisy -- [SECONDS]`.
//!
//! The races of `corpus/c/daisy` by bounded search under the schedules of the paper: at which depth
//! each is found, how long that takes and how much memory. Each row is a process of its own, so
//! that its memory is, too, and ends after so many seconds, 600 unless it is said.

#![expect(clippy::print_stdout, reason = "it is a command")]

use mazurka_lab::machine;
use mazurka_symbolic::{Encode, Engine, Finding, Limits, Question, Schedule, check};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// What the paper calls a race, and the flags that make it.
const RACES: [(&str, &[&str]); 3] =
    [("WW1", &["-DWW1"]), ("WW2", &["-DWW2"]), ("seek/read", &["-DSEEK"])];

/// The columns of the paper's table.
const SCHEDULES: [Schedule; 3] =
    [Schedule::Interleaving, Schedule::Stubborn, Schedule::Transactions];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [race, schedule, seconds] => row(race, schedule, seconds),
        rest => table(rest.first().map_or("600", String::as_str)),
    }
}

/// Lets a process of its own make each row.
fn table(seconds: &str) -> ExitCode {
    println!("race,schedule,depth,cpu seconds,memory MB");
    let own = std::env::current_exe().expect("a program knows where it is");
    for (race, _) in RACES {
        for schedule in SCHEDULES {
            let words = [race, schedule.name(), seconds];
            let status = Command::new(&own).args(words).status().expect("it can be started again");
            if !status.success() {
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn row(race: &str, schedule: &str, seconds: &str) -> ExitCode {
    let Some((_, flags)) = RACES.iter().find(|(name, _)| *name == race) else {
        return ExitCode::FAILURE;
    };
    let (Ok(schedule), Ok(seconds)) = (schedule.parse::<Schedule>(), seconds.parse::<u64>()) else {
        return ExitCode::FAILURE;
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/daisy/daisy.c");
    let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
    let options = mazurka_c::Options { flags, ..Default::default() };
    let program = mazurka_c::translate(&[file], &options)
        .unwrap_or_else(|faults| panic!("the corpus compiles: {faults}"));
    let limits = Limits { time: Some(Duration::from_secs(seconds)), ..Limits::default() };
    let question =
        Question { encode: Encode::default(), schedule, engine: Engine::Bounded, limits };
    let reply = check(&program, &question).expect("a circuit has all of it");
    let depth = match &reply.finding {
        Finding::Unsafe(witness) => witness.depth().to_string(),
        Finding::Unknown(depth, _) => format!("none up to {}", depth.unwrap_or(0)),
        other => format!("{other:?}"),
    };
    let cpu = machine::cpu_time().unwrap_or_default().as_secs_f64();
    let memory = machine::peak_memory().unwrap_or(0) / 1_000_000;
    println!("{race},{},{depth},{cpu:.1},{memory}", schedule.name());
    ExitCode::SUCCESS
}
