//! The seam between what is checked and what checks it: one way to ask every engine.
//!
//! A [`Task`] is a program and [`Options`]. An [`Engine`] takes it to an [`Outcome`], and tells a
//! [`Listener`] on the way what it does. [`ENGINES`] has all engines; what each of them takes is in
//! its [`Support`], from which [`Task::faults_for`] derives every refusal.
//!
//! ```
//! use mazurka_check::{Task, engine};
//! use mazurka_core::Event;
//! use std::sync::Mutex;
//!
//! let file = tempfile::Builder::new().suffix(".pml").tempfile().unwrap();
//! std::fs::write(file.path(), "byte n; active [2] proctype p() { n++; assert(n < 2) }").unwrap();
//! let mut task = Task::files([file.path()]);
//! task.options.set("time-limit", "60s").unwrap();
//!
//! // A listener hears what an engine does.
//! let phases = Mutex::new(Vec::new());
//! let listener = |event: &Event| {
//!     if let Event::Phase(phase) = event {
//!         phases.lock().unwrap().push(phase.name());
//!     }
//! };
//! let statespace = engine("statespace").unwrap();
//! let outcome = task.check_by(statespace, &listener).unwrap();
//! assert_eq!(outcome.verdict.name(), "violated");
//! assert!(phases.lock().unwrap().contains(&"searching"));
//!
//! // What an engine does not take is refused, with all reasons at once and the engines that do.
//! let ic3 = engine("ic3").unwrap();
//! let faults = task.check_by(ic3, &()).unwrap_err();
//! assert!(faults.iter().any(|fault| fault.to_string().contains("ic3")));
//! ```
//!
//! `examples/engine.rs` has a C program checked by three engines.

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
mod results;
mod saved_file;
mod sites;
mod source_text;
pub mod split_merge;
mod task;
mod temporal;
mod ticker;
pub mod translate;
pub mod walk;

pub use auto::choose;
pub use engine::{Accepts, ENGINES, Engine, Feature, Language, Listener, Support, engine};
pub use engines::{circuit, is_saving};
pub use fault::{Fault, FaultKind, Faults};
pub use options::Options;
pub use outcome::{Ending, Outcome, Replay, Shown};
pub use source_text::SourceText;
pub use task::{Input, Task, language_of, quoted};

pub(crate) use options::listed;
