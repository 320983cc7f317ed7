//! Checks random programs for as long as you like: `cargo run --release --example fuzz -- [SHAPE] [FROM] [TO]`.
//!
//! SHAPE is `variables`, `locks` or `everything`; FROM and TO are seeds. A program on which a
//! search and plain enumeration disagree is shrunk and shown, and the exit status is 101.
//! With SHAPE `large`, programs of everything that are too large for enumeration: `optimal` and
//! `source` must visit the same traces, `optimal` each once.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

#[path = "../tests/support/mod.rs"]
mod support;

use mazurka_explore::{Options, Reduction};
use mazurka_script::Shape;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "everything".to_owned());
    let shape = match name.as_str() {
        "variables" => Shape::variables(),
        "locks" => Shape::locks(),
        "everything" => Shape::everything(),
        "large" => large(),
        other => {
            eprintln!("unknown shape `{other}`: there are variables, locks, everything and large");
            return ExitCode::from(2);
        }
    };
    let mut seed = |default: u64| args.next().map_or(Some(default), |text| text.parse().ok());
    let (Some(from), Some(to)) = (seed(0), seed(100_000)) else {
        eprintln!("FROM and TO are numbers");
        return ExitCode::from(2);
    };
    let mut n_programs = 0;
    for start in (from..to).step_by(1_000) {
        let seeds = start..to.min(start + 1_000);
        n_programs += match name.as_str() {
            "large" => seeds.map(|seed| usize::from(agree(seed, &shape))).sum(),
            _ => support::check_random(&shape, seeds, 20_000),
        };
        println!("{name}: seeds {from} to {}, {n_programs} programs agree", to.min(start + 1_000));
    }
    ExitCode::SUCCESS
}

fn large() -> Shape {
    Shape { max_per_thread: 7, max_total: 18, ..Shape::everything() }
}

/// Whether the program is small enough to be compared.
///
/// # Panics
///
/// If the reductions disagree on it.
fn agree(seed: u64, shape: &Shape) -> bool {
    let script = mazurka_script::generate(seed, shape);
    let options = |reduction| {
        let mut options = Options::new().reduction(reduction);
        options.max_executions = Some(20_000);
        options
    };
    let [source, optimal] = [Reduction::Source, Reduction::Optimal]
        .map(|reduction| support::explore(&script, options(reduction)));
    if [&source, &optimal].iter().any(|(_, outcome)| outcome.saved.is_some()) {
        return false;
    }
    let [source, optimal] = [source.0, optimal.0];
    assert!(!optimal.has_repetitions(), "seed {seed}: a trace twice\n{script}");
    let same = source.traces.keys().eq(optimal.traces.keys());
    assert!(same, "seed {seed}: {} and {}\n{script}", source.traces.len(), optimal.traces.len());
    true
}
