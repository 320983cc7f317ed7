//! How a run of several tests goes.

use crate::saving;
use clap::Args;
use mazurka_check::Options;
use mazurka_check::options::row;
use mazurka_runner::RunOptions;
use std::time::Duration;

/// How a run of several tests goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "The run")]
pub(crate) struct RunArguments {
    /// Print the names of the tests, and run none; `--json` has them as an object
    #[arg(long)]
    pub(crate) list: bool,
    /// After a test that is violated or cannot be explored, begin no other, and stop those that run
    #[arg(long, overrides_with = "no_fail_fast")]
    fail_fast: bool,
    /// Explore all tests, whatever comes of them: the default
    #[arg(long, overrides_with = "fail_fast")]
    no_fail_fast: bool,
    /// Stop the whole run after so long: 5m; tests that were not begun are counted
    #[arg(long, value_name = "TIME", value_parser = time)]
    total_time: Option<Duration>,
    /// Mark tests that take longer than this [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(default_value = "10s", hide_default_value = true)]
    slow_after: Duration,
}

impl RunArguments {
    /// The same without words.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            fail_fast: self.fail_fast,
            total_time: self.total_time,
            slow_after: self.slow_after,
            default_save: saving::run_by_default(),
        }
    }
}

/// A time, written as that of `--time-limit`.
fn time(text: &str) -> Result<Duration, String> {
    let row = row("time-limit").expect("the table has it");
    let mut options = Options::default();
    (row.set)(&mut options, text)?;
    Ok(options.time_limit.expect("the row sets it"))
}
