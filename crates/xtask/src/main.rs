//! What serves this repository: `cargo xtask lint`, `cargo xtask test`, `cargo xtask book`,
//! `cargo xtask dist`.
//!
//! `stage` has the stages that have to pass before a change is accepted, which `.ci/run` and the
//! workflow of GitHub both call; `tools` the programs of others that they need; `release` the
//! tarball; `book` the pages of the book, behind a feature; `command` how all of them start other programs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

#[cfg(feature = "book")]
mod book;
mod command;
mod release;
mod stage;
mod tools;

use clap::{Parser, Subcommand};
use stage::Stage;
use std::process::ExitCode;

/// Lints, tests and releases.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, clippy and documentation, without a warning
    Lint,
    /// The quick tests of all crates, or all tests
    Test {
        /// Everything: what has to pass before a change is accepted
        #[arg(long)]
        full: bool,
        /// Install nothing; leave out what needs a tool that is missing
        #[arg(long)]
        no_install: bool,
        /// More words for `cargo test`
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// The stages of continuous integration: `lint` and `full`, unless others are named
    Ci {
        /// Which, in this order
        #[arg(value_enum)]
        stages: Vec<Stage>,
    },
    /// The book as pages, with every link followed
    Book,
    /// A tarball with the command, completions and manual pages
    Dist,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Lint => Stage::Lint.run(true, &[]),
        Task::Test { full, no_install, words } => {
            let stage = if full { Stage::Full } else { Stage::Quick };
            stage.run(!no_install, &words)
        }
        Task::Ci { stages } => {
            let all = if stages.is_empty() { vec![Stage::Lint, Stage::Full] } else { stages };
            all.iter().try_for_each(|stage| stage.run(true, &[]))
        }
        Task::Book => stage::book(),
        Task::Dist => release::make(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
