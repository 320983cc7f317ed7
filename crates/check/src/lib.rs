//! The seam between what is checked and what checks it: one way to ask every engine.
//!
//! A [`Task`] is a program and [`Options`]. An [`Engine`] takes it to an [`Outcome`], and tells a
//! [`Listener`] on the way what it does. [`ENGINES`] has all engines; what each of them takes is in
//! its [`Support`], from which [`Task::faults_for`] derives every refusal.
//!
//! ```no_run
//! use mazurka_check::{Task, engine};
//!
//! let mut task = Task::files(["peterson.c"]);
//! task.options.set("time-limit", "60s").unwrap();
//! let ic3 = engine("ic3").unwrap();
//! match task.check_by(ic3, &()) {
//!     Ok(outcome) => println!("{}", outcome.verdict.name()),
//!     Err(faults) => faults.iter().for_each(|fault| eprintln!("{fault}")),
//! }
//! ```

pub mod auto;
mod engine;
mod engines;
mod fault;
mod fix;
pub mod memory;
mod memory_model;
pub mod native;
pub mod options;
pub mod orders;
mod outcome;
pub mod parts;
mod results;
mod sites;
mod task;
mod temporal;
mod ticker;
pub mod translate;
pub mod walk;

pub use auto::choose;
pub use engine::{Accepts, ENGINES, Engine, Feature, Language, Listener, Support, engine};
pub use engines::circuit;
pub use fault::{Fault, FaultKind, Faults};
pub use options::Options;
pub use outcome::{Ending, Outcome, Replay, Shown};
pub use task::{Input, Task, language_of, quoted};

pub(crate) use options::listed;
