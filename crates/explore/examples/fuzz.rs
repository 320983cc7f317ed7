//! Checks random programs for as long as you like: `cargo run --release --example fuzz -- [SHAPE] [FROM] [TO]`.
//!
//! SHAPE is `variables`, `locks` or `everything`; FROM and TO are seeds. A program on which a
//! search and plain enumeration disagree is shrunk and shown, and the exit status is 101.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

#[path = "../tests/support/mod.rs"]
mod support;

use mazurka_script::Shape;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "everything".to_owned());
    let shape = match name.as_str() {
        "variables" => Shape::variables(),
        "locks" => Shape::locks(),
        "everything" => Shape::everything(),
        other => {
            eprintln!("unknown shape `{other}`: there are variables, locks and everything");
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
        n_programs += support::check_random(&shape, start..to.min(start + 1_000), 20_000);
        println!("{name}: seeds {from} to {}, {n_programs} programs agree", to.min(start + 1_000));
    }
    ExitCode::SUCCESS
}
