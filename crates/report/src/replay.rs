//! The command that follows a schedule, as lines to be copied.

use crate::style::columns;
use crate::{Page, Report, Style, grouped};
use mazurka_core::Schedule;

/// The command that follows a schedule, and takes `@` with a file for one.
const REPLAY: &str = "mazurka replay ";

/// A schedule with more characters is not shown by a command that can keep it in a file.
const LONGEST: usize = 4_000;

/// The command for a violation. A schedule is one word, so it is never broken; if it is too long
/// for the line, it stands on one of its own, and if it is too long to copy, the text says how to
/// do without.
pub(crate) fn push_command(
    page: &mut Page,
    report: &Report<'_>,
    schedule: &Schedule,
    style: &Style,
) {
    let text = schedule.to_string();
    match report.replay_with.map(|words| style.clean_line(words)) {
        // It is too long to copy, and no system starts a command with such a word.
        Some(words) if text.len() > LONGEST && words.starts_with(REPLAY) => {
            let steps = grouped(schedule.len() as u64);
            page.line(&format!("Replay, after `--json FILE` has kept its {steps} steps:"));
            page.line(&format!("{words} @FILE"));
        }
        words => push_words(page, "", words, &text, style),
    }
}

/// The command for one of several executions, behind a margin.
pub(crate) fn push_indented(
    page: &mut Page,
    margin: &str,
    report: &Report<'_>,
    schedule: &Schedule,
    style: &Style,
) {
    let text = schedule.to_string();
    let words = report.replay_with.map(|words| style.clean_line(words));
    match text.len() > LONGEST {
        true => {
            let steps = grouped(schedule.len() as u64);
            page.line(&format!("{margin}Replay: the schedule of its {steps} steps is in what"));
            page.line(&format!("{margin}`--json FILE` writes"));
        }
        false => push_words(page, margin, words, &text, style),
    }
}

fn push_words(page: &mut Page, margin: &str, words: Option<String>, schedule: &str, style: &Style) {
    let command = match words {
        Some(words) => format!("{words} {schedule}"),
        None => schedule.to_owned(),
    };
    let line = format!("{margin}Replay: {command}");
    match columns(&line) <= style.columns() {
        true => page.line(&line),
        false => {
            page.line(&format!("{margin}Replay:"));
            page.line(&command);
        }
    }
}
