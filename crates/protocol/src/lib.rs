//! What the command and a program under test say to each other: typed, and with a version.
//!
//! The command writes a [`Request`] to a file and starts the program with two variables of the
//! environment: [`REQUEST`] names that file, [`REPORT`] the one that the answer goes to. The
//! library inside the program explores, or follows one schedule, and writes a [`Reply`]. How far
//! it is, it writes beside that ([`progress_path`]). Every file is written as a whole: under
//! another name, and renamed.
//!
//! ```
//! use mazurka_core::{Coverage, Property, Statistics, Verdict};
//! use mazurka_protocol::{Reply, Report, read, write};
//! use std::time::Duration;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("report.json");
//! let verdict = Verdict::Holds(Coverage::of([Property::Deadlock]));
//! let report = Report::new(verdict, Statistics::default(), Duration::from_millis(3));
//! write(&path, &Reply::Explored(Box::new(report))).unwrap();
//! let Reply::Explored(report) = read(&path).unwrap() else { panic!("it was explored") };
//! assert_eq!(report.verdict.name(), "holds");
//! ```
//!
//! Programs outlive the command that has built them, so each side looks at the [`VERSION`] of the
//! other before it reads anything else. A change of any type that travels, those of other crates
//! included, changes what `tests/form.rs` of this crate expects, and is a new version.

mod file;
mod orders;
mod reply;
mod request;

pub use file::{ProtocolError, progress_path, read, write};
pub use orders::{AtomicAccess, AtomicSite, OrderChange, is_at_most, of_load};
pub use reply::{Failed, Progress, Replayed, Reply, Report, Used};
pub use request::{Action, Request, RunOptions, Saving};

/// The version of everything that travels.
pub const VERSION: u32 = 4;

/// The variable of the environment that names the file with the request.
pub const REQUEST: &str = "MAZURKA_REQUEST";

/// The variable that names the file for the reply. A program without it runs as if it were not
/// under test.
pub const REPORT: &str = "MAZURKA_REPORT";

/// The variable with the number of the process that waits for the reply: the program does not
/// outlive it.
pub const PARENT: &str = "MAZURKA_PARENT";
