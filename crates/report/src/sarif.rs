//! Verdicts as SARIF 2.1.0, which code scanning reads: a result for each violation, with the
//! execution as thread flows.
//!
//! See the OASIS standard, *Static Analysis Results Interchange Format*, sections 3.27 (results)
//! and 3.36 to 3.38 (code flows).

use crate::Report;
use crate::diagram::Diagram;
use mazurka_core::{Counterexample, Location, Verdict, ViolationKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The document for these checks.
pub fn render(reports: &[Report<'_>]) -> String {
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    let mut results = Vec::new();
    for report in reports {
        if let Verdict::Violated(found) = report.verdict {
            let kind = found.violation.kind;
            rules.insert(kind.name(), rule(kind));
            results.push(result(report, found));
        }
    }
    let driver = json!({
        "name": "Mazurka",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules.into_values().collect::<Vec<_>>(),
    });
    let run = json!({
        "tool": { "driver": driver },
        "columnKind": "utf16CodeUnits",
        "results": results,
    });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    serde_json::to_string_pretty(&document).expect("all keys are strings") + "\n"
}

fn rule(kind: ViolationKind) -> Value {
    json!({
        "id": kind.name(),
        "shortDescription": { "text": kind.title() },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(report: &Report<'_>, found: &Counterexample) -> Value {
    let kind = found.violation.kind;
    let text = format!("{}: {}", found.violation.title(), found.violation.summary());
    let mut result = json!({
        "ruleId": kind.name(),
        "level": "error",
        "message": { "text": text },
        "partialFingerprints": { "schedule/v1": found.schedule.to_string() },
    });
    if let Some(place) = place(found) {
        result["locations"] = json!([location(place, None)]);
    }
    if let Some(diagram) = Diagram::of(report) {
        result["codeFlows"] = json!([{ "threadFlows": flows(&diagram) }]);
    }
    if let Some(command) = report.replay_with {
        result["properties"] = json!({ "replay": format!("{command} {}", found.schedule) });
    }
    result
}

/// One flow for each thread; `executionOrder` says how they interleave.
fn flows(diagram: &Diagram) -> Vec<Value> {
    let of_thread = |thread: usize| {
        let rows = diagram.rows.iter().enumerate().filter(move |(_, row)| row.thread == thread);
        let steps = rows.map(|(idx, row)| {
            let mut step = json!({ "executionOrder": idx + 1 });
            step["location"] = match &row.location {
                Some(place) => location(place, Some(&row.text)),
                None => json!({ "message": { "text": row.text } }),
            };
            step
        });
        steps.collect::<Vec<_>>()
    };
    let flow = |(thread, name): (usize, &String)| {
        let steps = of_thread(thread);
        // The standard wants a flow to have a location.
        (!steps.is_empty()).then(|| {
            json!({ "id": name, "message": { "text": format!("thread {name}") }, "locations": steps })
        })
    };
    diagram.threads.iter().enumerate().filter_map(flow).collect()
}

fn location(place: &Location, text: Option<&str>) -> Value {
    let mut region = json!({ "startLine": place.line.max(1) });
    if place.column > 0 {
        region["startColumn"] = json!(place.column);
    }
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file) },
            "region": region,
        },
    });
    if let Some(text) = text {
        location["message"] = json!({ "text": text });
    }
    location
}

/// A path as a reference that has no character which a reference may not have.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    match path.starts_with('/') {
        true => format!("file://{uri}"),
        false => uri,
    }
}

/// Where something goes wrong: the second access of a data race, where a thread fails, where the
/// first one waits for ever, else the last step that has a place.
pub(crate) fn place(found: &Counterexample) -> Option<&Location> {
    let accesses = found.accesses.iter().rev().find_map(|access| access.stack.first());
    let failed = || found.failed.as_ref().and_then(|site| site.location.as_ref());
    let waits = || found.waits.iter().find_map(|wait| wait.location.as_ref());
    let last = || found.story.iter().rev().find_map(|told| told.location.as_ref());
    accesses.or_else(failed).or_else(waits).or_else(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_violation_is_a_result_with_a_flow_for_each_thread() {
        let sample = samples::lost_update();
        let document: Value =
            serde_json::from_str(&render(&[sample.report()])).expect("it is JSON");
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "assertion");
        let result = &run["results"][0];
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "tests/counter.rs");
        assert_eq!(place["region"], json!({ "startLine": 25, "startColumn": 9 }));
        let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("there are flows");
        let ids: Vec<_> = flows.iter().map(|flow| &flow["id"]).collect();
        assert_eq!(ids, ["main", "worker-1", "worker-2"]);
        let orders = flows[1]["locations"].as_array().expect("it has steps").iter();
        let orders: Vec<_> = orders.map(|step| step["executionOrder"].clone()).collect();
        assert_eq!(orders, [3, 6]);
    }

    #[test]
    fn a_result_is_where_a_thread_fails_and_not_at_the_last_step_before() {
        let mut sample = samples::lost_update();
        let mazurka_core::Verdict::Violated(found) = &mut sample.verdict else { unreachable!() };
        let before = place(found).cloned().expect("there is one");
        let location = Some(Location { line: 99, ..before });
        let thread = mazurka_core::ThreadId::new(0);
        found.failed = Some(mazurka_core::FailureSite { thread, step: 9, location });
        assert_eq!(place(found).map(|it| it.line), Some(99));
    }

    #[test]
    fn a_proof_has_no_results_and_paths_are_references() {
        let document: Value = serde_json::from_str(&render(&[])).expect("it is JSON");
        assert_eq!(document["runs"][0]["results"], json!([]));
        assert_eq!(uri("a b/ü.c"), "a%20b/%C3%BC.c");
        assert_eq!(uri("/usr/x.c"), "file:///usr/x.c");
    }
}
