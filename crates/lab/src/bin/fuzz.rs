//! Checks random programs for as long as you like: `cargo run --release -p mazurka-lab
//! --bin fuzz -- [SHAPE] [FROM] [TO] [BOUNDS]`.
//!
//! SHAPE is `variables`, `locks` or `everything`; FROM and TO are seeds. A program on which a
//! search and plain enumeration disagree is shrunk and shown, and the exit status is 101. BOUNDS
//! are bounds to search within instead, `preemption,delta` or `all`: every limit of each, up to
//! where it cuts nothing. With `fair` among them, threads wait in loops, and each of the others is
//! combined with it. With SHAPE `best-first`, programs of everything, and best-first search with
//! every priority. With SHAPE `large`, programs of everything that are too large for enumeration:
//! `optimal` and `source` must visit the same traces, `optimal` each once.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

#[path = "../../../explore/tests/search/support/mod.rs"]
mod support;

use mazurka_explore::{BoundKind, Options, Reduction};
use mazurka_script::Shape;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "everything".to_owned());
    let shape = match name.as_str() {
        "variables" => Shape::variables(),
        "locks" => Shape::locks(),
        "everything" | "best-first" => Shape::everything(),
        "large" => large(),
        other => {
            eprintln!(
                "unknown shape `{other}`: there are variables, locks, everything, best-first and \
                 large"
            );
            return ExitCode::from(2);
        }
    };
    let mut seed = |default: u64| args.next().map_or(Some(default), |text| text.parse().ok());
    let (Some(from), Some(to)) = (seed(0), seed(100_000)) else {
        eprintln!("FROM and TO are numbers");
        return ExitCode::from(2);
    };
    let bounds = args.next().map(|names| kinds(&names)).transpose();
    let bounds = match bounds {
        Ok(bounds) => bounds,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut n_programs = 0;
    for start in (from..to).step_by(1_000) {
        let seeds = start..to.min(start + 1_000);
        n_programs += match (name.as_str(), &bounds) {
            (_, Some(kinds)) => within(kinds, &shape, seeds),
            ("large", None) => seeds.map(|seed| usize::from(agree(seed, &shape))).sum(),
            ("best-first", None) => {
                support::check_with(&support::best_first_options(), &shape, seeds, 2_000)
            }
            (_, None) => support::check_random(&shape, seeds, 20_000),
        };
        println!("{name}: seeds {from} to {}, {n_programs} programs agree", to.min(start + 1_000));
    }
    ExitCode::SUCCESS
}

fn kinds(names: &str) -> Result<Vec<BoundKind>, mazurka_explore::OptionError> {
    match names {
        "all" => Ok(BoundKind::ALL.to_vec()),
        names => names.split(',').map(str::parse).collect(),
    }
}

/// How many programs agree within these bounds.
fn within(kinds: &[BoundKind], shape: &Shape, seeds: std::ops::Range<u64>) -> usize {
    let max = 400;
    match kinds.contains(&BoundKind::Fair) {
        true => {
            let shape = Shape { yields: true, max_total: shape.max_total.min(8), ..shape.clone() };
            support::bounded::check_random_fair(kinds, &shape, seeds, max)
        }
        false => support::bounded::check_random(kinds, shape, seeds, max),
    }
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
