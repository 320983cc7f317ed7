//! The page of a counterexample in headless Chromium: the document as it is after the script.

use mazurka_core::{
    Counterexample, Decision, Effect, Execution, Location, ObjectId, Operation, Step, ThreadId,
    Told, Verdict, Violation, ViolationKind,
};
use mazurka_report::{Report, Sources, html};
use std::process::Command;
use std::time::Duration;

/// A counterexample of so many rounds: two threads load and store in turns.
fn violated(rounds: usize, run: usize) -> Verdict {
    let (mut execution, mut story) = (Execution::default(), Vec::new());
    let mut take = |thread: usize, operation: Operation, value: String| {
        let decision = Decision::of(ThreadId::new(thread));
        execution.steps.push(Step { decision, operation, effect: Effect::Done });
        story.push(Told {
            thread: ["main", "worker"][thread].to_owned(),
            operation: operation.name().to_owned(),
            object: operation.object().map(|object| ["counter", "own"][object.index()].to_owned()),
            value: Some(value),
            raw: None,
            order: None,
            location: Some(Location {
                file: "src/lib.rs".to_owned(),
                line: 10 + thread as u32,
                column: 5,
                function: None,
                within: None,
                is_library: false,
            }),
        });
    };
    let (counter, own) = (ObjectId::new(0), ObjectId::new(1));
    for round in 0..rounds {
        let thread = round % 2;
        take(thread, Operation::Load(counter), format!("= {round}"));
        for _ in 0..run {
            // Only the first thread has it, so that nothing follows it elsewhere.
            if thread == 0 {
                take(0, Operation::Load(own), "= 7".to_owned());
            }
        }
        take(thread, Operation::Store(counter), format!("{round} → {}", round + 1));
    }
    let message = "left is 1 <b>& right</b> is 2".to_owned();
    Verdict::Violated(Box::new(Counterexample {
        end: Vec::new(),
        violation: Violation::new(ViolationKind::Assertion, message),
        schedule: execution.schedule(),
        execution,
        story,
        waits: Vec::new(),
        accesses: Vec::new(),
        shared: Vec::new(),
        joins: Vec::new(),
        failed: None,
        decisive: None,
    }))
}

/// The document as Chromium has it after the script.
fn shown(verdict: &Verdict, fragment: &str) -> Option<String> {
    if !mazurka_effort::has_tool("chromium") {
        return None;
    }
    let statistics = Default::default();
    let time = Duration::from_millis(10);
    let mut report = Report::new("counter_counts", "native", verdict, &statistics, time);
    report.replay_with = Some("mazurka replay counter.rs");
    report.is_full = true;
    let source = |_: &str| Some((1..=40).map(|line| format!("line {line};\n")).collect());
    report.sources = Sources::new(source);
    let folder = tempfile::tempdir().expect("there is room");
    let page = folder.path().join("page.html");
    std::fs::write(&page, html::render(&report)).expect("there is room");
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
    chromium.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    chromium.args(["--disable-component-update", "--virtual-time-budget=5000", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    chromium.arg(format!("file://{}{fragment}", page.display()));
    let output = chromium.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("a page is text"))
}

#[test]
fn an_address_names_a_step_and_its_values_and_source_are_shown() {
    let Some(page) = shown(&violated(3, 0), "#step=4") else { return };
    assert!(page.contains("<tr id=\"s4\" class=\"t1 now\""), "{page}");
    assert!(page.contains("worker: store counter 1 → 2"));
    assert!(page.contains("<tr class=\"changed\"><td>counter</td><td>1 → 2</td></tr>"));
    assert!(page.contains("<mark>   11  line 11;</mark>"));
    assert!(page.contains("left is 1 &lt;b&gt;&amp; right&lt;/b&gt; is 2"));
    assert!(page.contains("class=\"race lit\""), "the arrows of the step are marked");
}

#[test]
fn without_an_address_the_last_step_is_shown() {
    let Some(page) = shown(&violated(2, 0), "") else { return };
    assert!(page.contains("<output>4</output>"), "{page}");
}

#[test]
fn long_runs_of_one_thread_are_folded() {
    let Some(page) = shown(&violated(40, 250), "#step=1") else { return };
    // The first one is open, since the step that is shown is in it.
    assert_eq!(page.matches("250 steps of main").count(), 19);
    let folded = page.matches("hidden=\"\"").count();
    assert!(folded >= 19 * 250, "{folded} rows are hidden");
}
