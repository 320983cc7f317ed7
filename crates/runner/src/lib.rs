//! The runner of tests: builds the tests of a cargo project, and explores every schedule of each.
//!
//! A [`Build`] has cargo build what a [`Selection`] means, [`Built::find`] asks the programs for
//! their tests, and a [`Run`] explores those that are wanted, several at a time, each as a [`Task`]
//! of its own by an [`Engine`] of `mazurka-check`. Whatever happens goes to a [`Listener`] as an
//! [`Event`]; what came of all tests is a [`Summary`], with texts for people and with the
//! [reports](Checked::report) that `mazurka-report` turns into JSON, JUnit, SARIF and pages. A run
//! may be saved and go on later ([`Finished::resume`]).
//!
//! ```no_run
//! use mazurka_check::native::Toolchain;
//! use mazurka_check::{Fault, Task, engine};
//! use mazurka_runner::{Build, Event, Filter, Listener, Run, RunOptions, Selection};
//! use std::time::{Duration, Instant};
//!
//! struct Lines;
//!
//! impl Listener for Lines {
//!     fn event(&self, event: &Event<'_>) {
//!         if let Event::Slow { name, elapsed, .. } = event {
//!             println!("{name} is slow: {elapsed:?}");
//!         }
//!     }
//! }
//!
//! // The tests of the package `queue` whose names contain `push`.
//! let filter = Filter { names: vec!["push".to_owned()], ..Filter::default() };
//! let selection = Selection { filter, package: vec!["queue".to_owned()], ..Selection::default() };
//! assert_eq!(selection.words(), ["--package", "queue", "--tests"]);
//!
//! let library = || Ok("libmazurka_native.so".into());
//! let toolchain = Toolchain { library, command: None };
//! let begun = Instant::now();
//! let build = Build {
//!     selection: &selection,
//!     toolchain: &toolchain,
//!     stop: None,
//!     is_quiet: true,
//!     is_coloured: false,
//! };
//! let built = build.run(&Lines)?;
//! let found = built.find(&build, &Lines)?;
//! let options = RunOptions { total_time: Some(Duration::from_secs(300)), ..RunOptions::default() };
//! let run = Run {
//!     begun,
//!     options: &options,
//!     task: &Task::program(Vec::new()),
//!     engine: engine("native").expect("there is one"),
//!     selection: &selection,
//!     built: &built,
//!     found: &found,
//! };
//! let finished = run.run(&Lines)?;
//! println!("{}", finished.summary.sentence());
//! # Ok::<(), Vec<Fault>>(())
//! ```
//!
//! [`doctor`] tries what can be checked on a machine. Absent from here: arguments, terminals and
//! printing. `mazurka-cli` has those.

mod cargo;
pub mod doctor;
mod find;
mod harness;
mod listing;
mod manifest;
mod outcome_report;
mod pages;
mod run;
mod saved_run;
mod selection;
mod side_by_side;
mod summary;
mod watch;

pub use cargo::{Build, Built, LeftOut, TestProgram};
pub use find::{Found, Wanted};
pub use outcome_report::{printed, report, status_of};
pub use pages::write_pages;
pub use run::{Checked, End, Finished, Run, RunOptions, Stopped, TestResult};
pub use selection::{Filter, Selection};
pub use summary::{Summary, details, line};

use mazurka_check::{Engine, Task};
use std::time::Duration;

/// What happens while tests are built and explored.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// What cargo says of the project, as it is worded there.
    Cargo(&'a str),
    /// A warning or an error of the compiler, as it is worded there: each once.
    Diagnostic(&'a str),
    /// A name was asked for, and no test has it.
    UnknownName(&'a str),
    /// So many tests that a saved run had begun are explored from their beginning: what was saved
    /// is of another program.
    ExploredAnew(usize),
    /// A test goes on for long. It is told again when it has taken twice the time.
    Slow {
        /// The test.
        name: &'a str,
        /// How long it has taken.
        elapsed: Duration,
        /// Whether no other test runs beside it.
        is_alone: bool,
    },
    /// The search of a test has come to its verdict; in any order.
    Checked(&'a Checked),
    /// A test is over, and all before it are; in the order of the tests.
    Ended(&'a TestResult),
}

/// Hears what happens in a run. Tests run beside each other, and so do the calls.
pub trait Listener: Sync {
    /// Something happens.
    fn event(&self, event: &Event<'_>);

    /// Who hears the search of one test, which may be the only one that runs.
    fn search<'a>(
        &'a self,
        task: &Task,
        engine: &'static dyn Engine,
        is_alone: bool,
    ) -> Box<dyn mazurka_check::Listener + 'a> {
        let _ = (task, engine, is_alone);
        Box::new(())
    }
}

/// Hears nothing.
impl Listener for () {
    fn event(&self, _: &Event<'_>) {}
}
