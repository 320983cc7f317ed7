//! What a compiler says, as faults.

use crate::{Fault, Spot};
use serde::Deserialize;
use std::fs;

/// What the compiler says, one at a time.
#[derive(Debug, Deserialize)]
struct Diagnostic {
    kind: String,
    message: String,
    locations: Vec<Range>,
}

#[derive(Debug, Deserialize)]
struct Range {
    caret: Point,
    finish: Option<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    file: String,
    line: u32,
    #[serde(rename = "byte-column")]
    column: u32,
}

/// What a compiler that was asked for JSON (`-fdiagnostics-format=json`) says is wrong.
pub fn diagnostics(text: &str, code: &'static str) -> Vec<Fault> {
    // One array a line; other lines may be from the driver.
    let arrays = text.lines().filter(|line| line.starts_with('['));
    let all =
        arrays.flat_map(|line| serde_json::from_str::<Vec<Diagnostic>>(line).unwrap_or_default());
    all.filter_map(|it| fault_of(&it, code)).collect()
}

fn fault_of(it: &Diagnostic, code: &'static str) -> Option<Fault> {
    if !matches!(it.kind.as_str(), "error" | "fatal error") {
        return None;
    }
    let mut fault = Fault::new(code, it.message.replace('\'', "`"));
    if let Some(Range { caret, finish }) = it.locations.first() {
        let is_one_line = finish.as_ref().is_some_and(|finish| finish.line == caret.line);
        let end = finish.as_ref().filter(|_| is_one_line).map_or(caret.column, |it| it.column);
        let len = (end + 1).saturating_sub(caret.column);
        let Point { file, line, column } = caret;
        fault.spot = Some(Spot { file: file.clone(), line: *line, column: *column, len });
        let text = fs::read_to_string(file).unwrap_or_default();
        fault.line = text.lines().nth(*line as usize - 1).map(str::to_owned);
    }
    Some(fault)
}
