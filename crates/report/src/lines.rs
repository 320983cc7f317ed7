//! Which lines executions have reached, for people: how many, and the places that none has.

use crate::{Report, counted, grouped};
use mazurka_core::{LineCoverage, Verdict};

/// So many places are shown.
const MOST: usize = 8;

/// The sentence; nothing of a violation, behind which nothing was looked at.
pub fn sentence(report: &Report<'_>) -> Option<String> {
    let lines = report.lines?;
    match report.verdict {
        Verdict::Violated(_) => None,
        Verdict::Holds(coverage) if coverage.is_unbounded() => {
            Some(of(lines, "no execution reached"))
        }
        _ => Some(of(lines, "no execution that was explored reached")),
    }
}

/// The sentence about the lines of several checks.
pub fn of(lines: &LineCoverage, none_reached: &str) -> String {
    if lines.n_lines() == 0 {
        return "no line is known: there is no debug information of the program's own source"
            .to_owned();
    }
    let total = counted(lines.n_lines() as u64, "line");
    let unreached = lines.unreached();
    if unreached.is_empty() {
        return format!("all {total}");
    }
    let mut places: Vec<String> = unreached.iter().take(MOST).map(ToString::to_string).collect();
    if unreached.len() > MOST {
        let more = counted((unreached.len() - MOST) as u64, "place");
        places.push(format!("and {more} more, in what `--lcov FILE` writes"));
    }
    let reached = grouped(lines.n_reached() as u64);
    format!("{reached} of {total}; {none_reached} {}", places.join(", "))
}
