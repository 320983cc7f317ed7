//! A counterexample as a log that ShiViz reads: `host "event" {clock}` lines with vector clocks.
//!
//! The log is parsed by [`PARSER`], the expression to paste into ShiViz beside it.

use crate::Report;
use crate::diagram::Diagram;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The regular expression that takes the lines apart.
pub const PARSER: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

/// The log; empty if nothing goes wrong.
pub fn render(report: &Report<'_>) -> String {
    let mut log = String::new();
    let Some(diagram) = Diagram::of(report) else { return log };
    let host = |idx: usize| diagram.threads[idx].replace(char::is_whitespace, "_");
    let mut taken = vec![0usize; diagram.threads.len()];
    for row in &diagram.rows {
        taken[row.thread] += 1;
        let mut clock = Map::new();
        for (idx, &known) in row.clock.iter().enumerate().filter(|(_, known)| **known > 0) {
            clock.insert(host(idx), Value::from(known));
        }
        // A step that tells no order knows of its own thread alone.
        clock.entry(host(row.thread)).or_insert(Value::from(taken[row.thread]));
        let place = row.location.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        let event = format!("{}{place}", row.text).replace('\n', " ");
        let _ = writeln!(log, "{} {}\n{event}", host(row.thread), Value::Object(clock));
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use expect_test::expect;

    #[test]
    fn a_line_has_the_host_and_the_clock_and_the_next_one_the_event() {
        let log = render(&samples::deadlock().report());
        expect![[r#"
            alice {"alice":1}
            acquire accounts at bank.rs:14:9
            bob {"bob":1}
            acquire log at bank.rs:30:9
        "#]]
        .assert_eq(&log);
    }
}
