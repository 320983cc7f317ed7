//! Values of arguments: schedules and engines.

use mazurka_check::{ENGINES, Engine};
use mazurka_core::Schedule;

/// What a schedule begins with that is in a file.
pub(crate) const IN_FILE: char = '@';

/// A printed schedule, or `@` and a file that has it: by itself, or in what `--json` wrote.
pub(crate) fn schedule(text: &str) -> Result<Schedule, String> {
    match text.strip_prefix(IN_FILE) {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            let found = serde_json::from_str::<serde_json::Value>(&text);
            let of_json = found.map(|report| match report["violation"]["schedule"].as_str() {
                Some(schedule) => Ok(schedule.to_owned()),
                None => Err(format!("{file} tells of no violation that has a schedule")),
            });
            written(of_json.unwrap_or(Ok(text))?.trim())
        }
        None => written(text),
    }
}

fn written(text: &str) -> Result<Schedule, String> {
    text.parse().map_err(|error: mazurka_core::ScheduleError| {
        format!("expected {}, found {}, in column {}", error.expected, error.found, error.column)
    })
}

/// Who is asked: an engine, or whichever is best.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Auto,
    Of(&'static dyn Engine),
}

/// What lets the command choose.
pub(super) const AUTO: &str = "auto";

pub(super) fn choice(text: &str) -> Result<Choice, String> {
    match mazurka_check::engine(text) {
        Some(engine) => Ok(Choice::Of(engine)),
        None if text == AUTO => Ok(Choice::Auto),
        None => Err(format!("there is {AUTO}, {}", names().join(", "))),
    }
}

/// The names of all engines.
pub(super) fn names() -> Vec<&'static str> {
    ENGINES.iter().map(|engine| engine.name()).collect()
}
