//! Lines that executions have reached, as a trace file of LCOV.
//!
//! The format is that of `geninfo`, which `genhtml`, editors and services for coverage read: a
//! record for each file with `SF`, a `DA` for each line with how often it was reached, and `LF` and
//! `LH`, how many lines there are and how many of them were reached. It is not counted how many
//! executions have reached a line: what was reached has a 1.

use crate::Report;
use mazurka_core::LineCoverage;
use std::fmt::Write as _;

/// The lines of all checks together; empty if none of them has told its lines.
pub fn render(reports: &[Report<'_>]) -> String {
    let mut all = LineCoverage::default();
    reports.iter().filter_map(|report| report.lines).for_each(|lines| all.merge(lines));
    let mut text = String::new();
    for (file, lines) in all.files() {
        let _ = writeln!(text, "TN:\nSF:{}", one_line(file));
        for (line, is_reached) in lines {
            let _ = writeln!(text, "DA:{line},{}", u32::from(*is_reached));
        }
        let n_reached = lines.values().filter(|it| **it).count();
        let _ = writeln!(text, "LF:{}\nLH:{n_reached}\nend_of_record", lines.len());
    }
    text
}

/// The name of a file as one line: no tool could read another one.
fn one_line(file: &str) -> String {
    file.replace(['\n', '\r'], "?")
}
