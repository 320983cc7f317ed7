//! What a program under test is asked to do.

use crate::OrderChange;
use mazurka_core::Schedule;
use mazurka_explore::Options;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::path::PathBuf;
use std::time::Duration;

/// What the command asks of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What to do.
    pub action: Action,
    /// How to search, and for what. A program that follows a schedule learns by them what the
    /// search knew.
    pub options: Options,
    /// What the program may do, and how it is run.
    pub run: RunOptions,
    /// Where and when the search is saved.
    pub save: Option<Saving>,
    /// A search that was saved: goes on with it.
    pub resume: Option<PathBuf>,
}

/// Where and when a search is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saving {
    /// The file.
    pub path: PathBuf,
    /// A search that is stopped is saved if it took so long. Another one is sooner repeated.
    pub after: Duration,
    /// A search that goes on is saved so often.
    pub every: Duration,
    /// Whether the user has named the file: then it is an error if it cannot be written.
    pub is_asked: bool,
}

impl Saving {
    /// How often a search that goes on is saved.
    pub const EVERY: Duration = Duration::from_secs(60);

    /// What took less is sooner repeated, unless the user has asked for it.
    pub const AFTER: Duration = Duration::from_secs(10);
}

/// What a program is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Explore its schedules.
    #[default]
    Explore,
    /// Follow one schedule, and show what is printed on the way.
    Replay(#[serde(serialize_with = "to_text", deserialize_with = "of_text")] Schedule),
}

/// What the program may do, and how it is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// Whether a thread that ends while it holds a lock is a violation.
    pub leak: bool,
    /// What is done about calls that cannot be repeated, as on the command line: `skip=socket`.
    pub allow: Vec<String>,
    /// Libraries and functions that the user vouches for: `libz`.
    pub trust: Vec<String>,
    /// Whether to give no verdict that assumes what others do.
    pub strict: bool,
    /// How often a thread may fail in vain to get what it tries or waits a while for.
    pub retries: Option<u32>,
    /// Whether time passes only when no thread can move; if not, waits expire at any moment.
    pub is_time_virtual: bool,
    /// Whether the program is the test harness of Rust and runs one test.
    pub is_test: bool,
    /// Whether to go back to checkpoints; if not, executions are repeated from their start.
    pub checkpoints: bool,
    /// How many executions the first process takes before others share the search. Time may be up
    /// for that sooner.
    pub alone: u64,
    /// For tests: whether to compare what checkpoints lead to with what the start leads to.
    pub check_checkpoints: bool,
    /// Orders in the place of those that the program has.
    pub orders: Vec<OrderChange>,
    /// Whether to tell which atomic accesses were met.
    pub tells_atomics: bool,
    /// Whether to tell which lines of the program were reached.
    pub tells_lines: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            leak: true,
            allow: Vec::new(),
            trust: Vec::new(),
            strict: false,
            retries: None,
            is_time_virtual: false,
            is_test: false,
            checkpoints: true,
            alone: 256,
            check_checkpoints: false,
            orders: Vec::new(),
            tells_atomics: false,
            tells_lines: false,
        }
    }
}

/// The printed form: a schedule of many steps is a few words of it.
fn to_text<S: Serializer>(schedule: &Schedule, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(schedule)
}

fn of_text<'de, D: Deserializer<'de>>(from: D) -> Result<Schedule, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(D::Error::custom)
}
