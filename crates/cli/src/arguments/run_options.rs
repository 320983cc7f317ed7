//! How a run of several tests goes.

use clap::Args;
use mazurka_check::Options;
use mazurka_check::options::row;
use std::time::Duration;

/// How a run of several tests goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "The run")]
pub(crate) struct RunOptions {
    /// Print the names of the tests, and run none; `--json` has them as an object
    #[arg(long)]
    pub(crate) list: bool,
    /// After a test that is violated or cannot be explored, begin no other, and stop those that run
    #[arg(long, overrides_with = "no_fail_fast")]
    pub(crate) fail_fast: bool,
    /// Explore all tests, whatever comes of them: the default
    #[arg(long, overrides_with = "fail_fast")]
    no_fail_fast: bool,
    /// Stop the whole run after so long: 5m; tests that were not begun are counted
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) total_time: Option<Duration>,
    /// Mark tests that take longer than this [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(default_value = "10s", hide_default_value = true)]
    pub(crate) slow_after: Duration,
}

impl RunOptions {
    /// The words that say the same of a run which goes on with another one.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.fail_fast {
            words.push("--fail-fast".to_owned());
        }
        if let Some(limit) = self.total_time {
            words.extend(["--total-time".to_owned(), time_text(limit)]);
        }
        words
    }
}

/// A time, as `time` reads it.
fn time_text(time: Duration) -> String {
    let mut options = Options::default();
    options.time_limit = Some(time);
    (row("time-limit").expect("the table has it").get)(&options).concat()
}

/// A time, written as that of `--time-limit`.
fn time(text: &str) -> Result<Duration, String> {
    let row = row("time-limit").expect("the table has it");
    let mut options = Options::default();
    (row.set)(&mut options, text)?;
    Ok(options.time_limit.expect("the row sets it"))
}
