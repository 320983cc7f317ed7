//! Values of options: schedules, flags, sizes, times.

use mazurka_core::Schedule;
use std::time::Duration;

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

/// Words of a shell.
#[derive(Clone, Debug)]
pub(crate) struct Flags(pub(crate) Vec<String>);

pub(super) fn flags(text: &str) -> Result<Flags, String> {
    shlex::split(text).map(Flags).ok_or_else(|| "a quote is not closed".to_owned())
}

pub(super) fn allowance(text: &str) -> Result<String, String> {
    let is_right =
        matches!(text.split_once('='), Some(("skip" | "real", names)) if !names.is_empty());
    let wrong = || "write `skip=` or `real=` and the name of a function".to_owned();
    is_right.then(|| text.to_owned()).ok_or_else(wrong)
}

/// A number of bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "a size is a number above 0 with a unit: 500M, 8G".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "k" | "K" | "kB" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number * unit;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a time is a number above 0 with a unit: 500ms, 60s, 5m, 1h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
    if time < Duration::from_millis(1) { Err(wrong()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("500M"), Ok(500_000_000));
        assert_eq!(size("1.5G"), Ok(1_500_000_000));
        for wrong in ["", "8", "G", "0G", "-1M", "1e30G", "nanG", "1 M", "é"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        let ms = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(ms("60s"), Ok(60_000));
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("1.5m"), Ok(90_000));
        assert_eq!(ms("2"), Ok(2000));
        for wrong in ["", "s", "0s", "-1s", "1 parsec", "infs", "1e99h", "é"] {
            assert!(ms(wrong).is_err(), "{wrong}");
        }
    }
}
