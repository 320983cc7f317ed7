//! An outcome as `mazurka-report` tells it.

use mazurka_check::{Fault, FaultKind, Outcome, Task};
use mazurka_report::{ExitStatus, Report, Sources};

/// All that is to be told of what came of a task; `replay` is what comes before a schedule.
pub fn report<'a>(outcome: &'a Outcome, name: &'a str, replay: &'a str, task: &Task) -> Report<'a> {
    let Outcome { verdict, statistics, .. } = outcome;
    let mut report = Report::new(name, outcome.engine.name(), verdict, statistics, outcome.elapsed);
    report.solving = outcome.solving.as_ref();
    report.peak_memory = outcome.peak_memory;
    report.n_threads = outcome.n_threads;
    report.options = task.in_force(outcome.engine);
    report.traces = outcome.traces;
    report.state_coverage = outcome.state_coverage.as_ref();
    report.proved = outcome.proved.as_ref();
    report.rungs = &outcome.rungs;
    report.sample = outcome.sample.as_ref();
    report.shortest = outcome.shortest.as_ref();
    report.executions = &outcome.shown;
    report.lines = outcome.lines.as_ref();
    report.shows_executions = task.options.show_executions.is_some();
    report.bound_exceeded = outcome.bound_exceeded;
    report.loop_start = outcome.loop_start;
    report.notes.clone_from(&outcome.notes);
    report.tips.clone_from(&outcome.tips);
    report.replay_with = Some(replay);
    report.is_full = task.options.full_trace;
    let source_text = task.source_text();
    report.sources = Sources::new(move |file| source_text.read(file));
    report
}

/// What a program has printed, under a heading; nothing if that is nothing.
pub fn printed(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("\nWhat it prints:\n{text}"),
    }
}

/// The exit status that a fault leads to.
pub fn status_of(fault: &Fault) -> ExitStatus {
    match fault.kind {
        FaultKind::Input | FaultKind::Unlinkable | FaultKind::Void => ExitStatus::WrongInput,
        FaultKind::Limit(_) => ExitStatus::Inconclusive,
        _ => ExitStatus::Defect,
    }
}
