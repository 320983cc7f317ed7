//! A violation of a C program as a witness of SV-COMP, which validators of others read.
//!
//! The format is that of Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl and Strejček, *Software
//! Verification Witnesses 2.0* (SPIN 2024), with what its version 2.2 adds for programs with threads:
//! a waypoint names its thread, `0` for `main` and `k` for the thread that the k-th `function_enter`
//! has started; and the two accesses of a data race are two targets of one segment.
//!
//! | format | here |
//! | --- | --- |
//! | `function_enter` | a thread is started; the place is the right bracket of the call |
//! | `assumption` with the constraint `1` | a thread comes to a statement |
//! | `target` | what goes wrong |
//!
//! A witness stands for all executions that pass its waypoints in their order, and is right if one
//! of them goes wrong. Ours does: it passes each waypoint, since a statement of a thread is named
//! once, before its first operation, and what the thread does between two operations commutes with
//! the others. Lines that do not begin a statement are left out, and so are values.
//!
//! There is no waypoint for a value that was chosen, so validators choose themselves.

use crate::Report;
use crate::sarif::place;
use mazurka_core::{Counterexample, Location, Operation, ThreadId, Verdict, ViolationKind};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// The witness as YAML, made at this time. Of what no property of SV-COMP is about, and of what is
/// no C program, an empty list.
pub fn render(report: &Report<'_>, now: SystemTime) -> String {
    let Verdict::Violated(found) = report.verdict else { return "[]\n".to_owned() };
    let (Some(specification), Some(target)) = (specification(found), place(found)) else {
        return "[]\n".to_owned();
    };
    if !is_c(&target.file) {
        return "[]\n".to_owned();
    }
    let files = files(found);
    let text = |file: &String| report.sources.text(file);
    let hashes: serde_json::Map<String, Value> = files
        .iter()
        .filter_map(|file| {
            Some((file.clone(), hex(&Sha256::digest(text(file)?.as_bytes())).into()))
        })
        .collect();
    let content = content(report, found);
    let identity = Sha256::digest(format!("{content}{hashes:?}{}", time(now)));
    let entry = json!({
        "entry_type": "violation_sequence",
        "metadata": {
            "format_version": "2.2",
            "uuid": uuid(&identity),
            "creation_time": time(now),
            "producer": { "name": "mazurka", "version": env!("CARGO_PKG_VERSION") },
            "task": {
                "input_files": files,
                "input_file_hashes": hashes,
                "specification": specification,
                "data_model": "LP64",
                "language": "C",
            },
        },
        "content": content,
    });
    let mut yaml = String::new();
    write_yaml(&json!([entry]), 0, &mut yaml);
    yaml
}

/// The property of SV-COMP that is violated.
fn specification(found: &Counterexample) -> Option<&'static str> {
    Some(match (found.violation.kind, found.violation.title()) {
        (_, "Misuse") => return None,
        (_, "Double free") => "G valid-free",
        (ViolationKind::Assertion, _) => "G ! call(reach_error())",
        (ViolationKind::Race, _) => "G ! data-race",
        (ViolationKind::Memory, _) => "G valid-deref",
        (ViolationKind::Overflow, _) => "G ! overflow",
        (ViolationKind::Leak, _) => "G valid-memtrack",
        _ => return None,
    })
}

fn is_c(file: &str) -> bool {
    [".c", ".i", ".h"].iter().any(|ending| file.ends_with(ending))
}

/// The files of the program that something happens in.
fn files(found: &Counterexample) -> BTreeSet<String> {
    let steps = found.story.iter().filter_map(|told| told.location.as_ref());
    let accesses = found.accesses.iter().flat_map(|access| &access.stack);
    let places = steps.chain(accesses).chain(place(found));
    places.filter(|it| !it.is_library && is_c(&it.file)).map(|it| it.file.clone()).collect()
}

/// The segments, in order.
fn content(report: &Report<'_>, found: &Counterexample) -> Value {
    let mut numbers: BTreeMap<ThreadId, usize> = BTreeMap::from([(ThreadId::new(0), 0)]);
    let mut n_started = 0;
    let mut known: BTreeSet<(usize, String, u32)> = BTreeSet::new();
    let mut segments: Vec<Value> = Vec::new();
    let failed = found.failed.as_ref().map_or(usize::MAX, |site| site.step);
    for (step, told) in found.execution.steps.iter().zip(&found.story).take(failed) {
        let thread = numbers.get(&step.decision.thread).copied().unwrap_or(0);
        let place = told.location.as_ref().filter(|it| !it.is_library && is_c(&it.file));
        if let Operation::Spawn(child) = step.operation {
            n_started += 1;
            numbers.insert(child, n_started);
            let Some(place) = place else { continue };
            let at = end_of_call(report, place);
            segments.push(segment(vec![waypoint("function_enter", thread, &at, None)]));
            continue;
        }
        let Some(place) = place else { continue };
        let is_new = known.insert((thread, place.file.clone(), place.line));
        if is_new && begins_statement(report, place) {
            let start = Location { column: 0, ..place.clone() };
            segments.push(segment(vec![waypoint("assumption", thread, &start, Some("1"))]));
        }
    }
    let target = |by: Option<ThreadId>, place: &Location| {
        let thread = by.and_then(|it| numbers.get(&it).copied()).unwrap_or(0);
        waypoint("target", thread, place, None)
    };
    let last = || found.execution.steps.last().map(|step| step.decision.thread);
    let targets: Vec<Value> = match found.accesses.as_slice() {
        [] => {
            let by = found.failed.as_ref().map(|site| site.thread).or_else(last);
            place(found).map(|at| target(by, at)).into_iter().collect()
        }
        accesses => {
            let of = |access: &mazurka_core::Access| {
                access.stack.first().map(|place| target(access.by, place))
            };
            accesses.iter().filter_map(of).collect()
        }
    };
    segments.push(segment(targets));
    Value::Array(segments)
}

fn segment(waypoints: Vec<Value>) -> Value {
    let waypoints: Vec<Value> =
        waypoints.into_iter().map(|waypoint| json!({ "waypoint": waypoint })).collect();
    json!({ "segment": waypoints })
}

fn waypoint(kind: &str, thread: usize, place: &Location, constraint: Option<&str>) -> Value {
    let mut location = json!({ "file_name": place.file, "line": place.line });
    if place.column > 0 {
        location["column"] = json!(place.column);
    }
    if let Some(function) = place.function.as_deref().filter(|it| is_identifier(it)) {
        location["function"] = json!(function);
    }
    let mut waypoint = json!({ "type": kind, "action": "follow", "thread_id": thread });
    if let Some(value) = constraint {
        waypoint["constraint"] = json!({ "value": value, "format": "c_expression" });
    }
    waypoint["location"] = location;
    waypoint
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

/// The right bracket of the call that begins at a place; without a column if it is not found.
fn end_of_call(report: &Report<'_>, call: &Location) -> Location {
    let found = || {
        let text = report.sources.text(&call.file)?;
        let line = (call.line as usize).checked_sub(1)?;
        let mut depth = 0usize;
        for (idx, line) in text.lines().enumerate().skip(line).take(8) {
            let from = if idx + 1 == call.line as usize { call.column as usize } else { 1 };
            for (at, character) in line.char_indices().skip_while(|(at, _)| at + 1 < from) {
                match character {
                    '(' => depth += 1,
                    ')' if depth == 1 => return Some((idx as u32 + 1, at as u32 + 1)),
                    ')' => depth = depth.checked_sub(1)?,
                    _ => {}
                }
            }
        }
        None
    };
    match found() {
        Some((line, column)) => Location { line, column, ..call.clone() },
        None => Location { column: 0, ..call.clone() },
    }
}

/// Whether a statement begins on the line of a place, as far as the text tells.
fn begins_statement(report: &Report<'_>, place: &Location) -> bool {
    let Some(text) = report.sources.text(&place.file) else { return false };
    let Some(idx) = (place.line as usize).checked_sub(1) else { return false };
    let lines: Vec<&str> = text.lines().map(str::trim).take(idx + 1).collect();
    let Some((line, before)) = lines.split_last().filter(|_| lines.len() == idx + 1) else {
        return false;
    };
    let is_ended = |line: &&str| {
        line.ends_with([';', '{', '}', ':', ')']) || line.ends_with("*/") || line.starts_with("//")
    };
    let is_begin =
        |it: char| it.is_alphanumeric() || matches!(it, '_' | '*' | '(' | '+' | '-' | '{');
    let before = before.iter().rfind(|line| !line.is_empty());
    line.starts_with(is_begin)
        && before.is_none_or(|it| is_ended(it) || it.starts_with('#') || *it == "else")
}

/// Seconds since 1970 as ISO 8601 has them.
fn time(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // A year begins in March, so that a leap day is its last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A name of 128 bits that is made of a hash: version 8 of RFC 9562.
fn uuid(hash: &[u8]) -> String {
    let mut bytes: Vec<u8> = hash.iter().copied().take(16).collect();
    bytes.resize(16, 0);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// A value in the block style of YAML, with texts as JSON has them, which YAML has, too.
fn write_yaml(value: &Value, depth: usize, yaml: &mut String) {
    let margin = "  ".repeat(depth);
    let write_inner = |inner: &Value, yaml: &mut String| match inner {
        Value::Object(fields) if !fields.is_empty() => {
            yaml.push('\n');
            write_yaml(inner, depth + 1, yaml);
        }
        Value::Array(items) if !items.is_empty() => {
            yaml.push('\n');
            write_yaml(inner, depth + 1, yaml);
        }
        inner => {
            let _ = writeln!(yaml, " {inner}");
        }
    };
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let name = match is_identifier(name) {
                    true => name.clone(),
                    false => Value::from(name.clone()).to_string(),
                };
                let _ = write!(yaml, "{margin}{name}:");
                write_inner(inner, yaml);
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut text = String::new();
                write_yaml(item, depth + 1, &mut text);
                let _ = write!(yaml, "{margin}- {}", text.trim_start());
            }
        }
        other => {
            let _ = writeln!(yaml, "{margin}{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Story, object, thread};
    use crate::{Sources, samples};
    use expect_test::expect;
    use std::time::Duration;

    const TEXT: &str = "int x;\nvoid *w(void *a) {\n    x = 1;\n}\nint main(void) {\n    \
                        pthread_create(&t, 0, w, f(0));\n    int y =\n        x;\n    assert(y);\n}\n";

    #[test]
    fn threads_have_numbers_and_statements_are_named_once() {
        let found = Story::new(&["main", "w"], &["x"])
            .file("x.c")
            .step(0, Operation::Spawn(thread(1)), "", 6)
            .step(1, Operation::Store(object(0)), "0→1", 3)
            .step(1, Operation::Store(object(0)), "1→1", 3)
            .step(0, Operation::Load(object(0)), "= 1", 8)
            .step(0, Operation::Load(object(0)), "= 1", 9)
            .counterexample(ViolationKind::Assertion, "no");
        let sample = samples::Sample::of(Verdict::Violated(Box::new(found)));
        let mut report = sample.report();
        report.sources = Sources::new(|_| Some(TEXT.to_owned()));
        let yaml = render(&report, UNIX_EPOCH + Duration::from_secs(951_782_400));
        let version = env!("CARGO_PKG_VERSION");
        expect![[r#"
            - content:
                - segment:
                    - waypoint:
                        action: "follow"
                        location:
                          column: 34
                          file_name: "x.c"
                          line: 6
                        thread_id: 0
                        type: "function_enter"
                - segment:
                    - waypoint:
                        action: "follow"
                        constraint:
                          format: "c_expression"
                          value: "1"
                        location:
                          file_name: "x.c"
                          line: 3
                        thread_id: 1
                        type: "assumption"
                - segment:
                    - waypoint:
                        action: "follow"
                        constraint:
                          format: "c_expression"
                          value: "1"
                        location:
                          file_name: "x.c"
                          line: 9
                        thread_id: 0
                        type: "assumption"
                - segment:
                    - waypoint:
                        action: "follow"
                        location:
                          column: 9
                          file_name: "x.c"
                          line: 9
                        thread_id: 0
                        type: "target"
              entry_type: "violation_sequence"
              metadata:
                creation_time: "2000-02-29T00:00:00Z"
                format_version: "2.2"
                producer:
                  name: "mazurka"
                  version: VERSION
                task:
                  data_model: "LP64"
                  input_file_hashes:
                    "x.c": "3e513402aef84a43bf5ed93f2b92bf4bef25909df2419de31b62645b54e0a501"
                  input_files:
                    - "x.c"
                  language: "C"
                  specification: "G ! call(reach_error())"
                uuid: "a4ac9f4c-69ad-8b70-970d-d87610edbb77"
        "#]]
        .assert_eq(&yaml.replace(&format!("\"{version}\""), "VERSION"));
    }

    #[test]
    fn the_two_accesses_of_a_race_are_the_targets_of_one_segment() {
        let found = Story::new(&["main", "w"], &["x"])
            .file("x.c")
            .step(0, Operation::Spawn(thread(1)), "", 6)
            .counterexample(ViolationKind::Race, "no");
        let place =
            |line| Location { line, ..found.story[0].location.clone().expect("it has one") };
        let access = |by: usize, line| mazurka_core::Access {
            thread: String::new(),
            by: Some(thread(by)),
            write: true,
            step: 1,
            memory: None,
            value: None,
            stack: vec![place(line)],
        };
        let accesses = vec![access(1, 3), access(0, 8)];
        let found = Counterexample { accesses, ..found };
        let sample = samples::Sample::of(Verdict::Violated(Box::new(found)));
        let yaml = render(&sample.report(), UNIX_EPOCH);
        assert!(yaml.contains("specification: \"G ! data-race\""), "{yaml}");
        let last = yaml.rsplit("- segment:").next().expect("there is one");
        assert_eq!(last.matches("type: \"target\"").count(), 2, "{yaml}");
        assert!(last.contains("thread_id: 1") && last.contains("thread_id: 0"), "{yaml}");
    }

    #[test]
    fn what_no_property_is_about_has_no_witness() {
        assert_eq!(render(&samples::deadlock().report(), UNIX_EPOCH), "[]\n");
        assert_eq!(render(&samples::lost_update().report(), UNIX_EPOCH), "[]\n", "it is Rust");
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let at = |seconds| time(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_800_000_000), "2027-01-15T08:00:00Z");
    }
}
