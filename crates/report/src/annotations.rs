//! Annotations of GitHub Actions: a line that marks the place in a pull request.
//!
//! See GitHub's documentation, *Workflow commands*: `::error file=…,line=…,title=…::message`.

use crate::Report;
use mazurka_core::{Location, Verdict};

/// The command, on one line without its end; none if nothing goes wrong.
pub fn render(report: &Report<'_>) -> Option<String> {
    let Verdict::Violated(found) = report.verdict else { return None };
    let mut place = String::new();
    if let Some(Location { file, line, column, .. }) = crate::sarif::place(found) {
        place = format!("file={},line={line}", property(file));
        if *column > 0 {
            place += &format!(",col={column}");
        }
        place += ",";
    }
    let title = property(&format!("{}: {}", report.name, found.violation.title()));
    let mut message = found.violation.message.clone();
    if let Some(command) = report.replay_with {
        message += &format!("\nReplay: {command} {}", found.schedule);
    }
    Some(format!("::error {place}title={title}::{}", data(&message)))
}

/// A message, in which only ends of lines and the escape itself mean something.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_violation_is_marked_at_its_last_place_in_the_source() {
        let sample = samples::lost_update();
        assert_eq!(
            render(&sample.report()).expect("something goes wrong"),
            "::error file=tests/counter.rs,line=25,col=9,title=counter.rs%3A Assertion failed::\
             assertion `counter == 2` failed: left is 1"
        );
        assert_eq!(data("50 %\nof"), "50 %25%0Aof");
    }
}
