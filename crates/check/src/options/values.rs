//! Values of options: names, ranges, sizes, times.

use mazurka_c::Extern;
use std::time::Duration;

/// The value that lets the command choose.
pub(super) const AUTO: &str = "auto";

/// The one with this name, or the names that there are.
pub(super) fn named<T: Copy>(
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let known = all.iter().copied().find(|&it| name(it) == text);
    known.ok_or_else(|| format!("there is {}", listed(all.iter().map(|&it| name(it)))))
}

/// The same where `auto` is a value, too.
pub(super) fn named_or_auto<T: Copy>(
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let known = all.iter().copied().find(|&it| name(it) == text);
    let names = std::iter::once(AUTO).chain(all.iter().map(|&it| name(it)));
    known.ok_or_else(|| format!("there is {}", listed(names)))
}

/// Names in a sentence.
pub(crate) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.into_iter().map(|it| it.as_ref().to_owned()).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".to_owned(),
    }
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err("it is on or off".to_owned()),
    }
}

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let wrong = || match text.strip_prefix('-') {
        Some(rest) if is_digits(rest) => "the number is negative",
        _ if is_digits(text) => "the number is too large",
        _ => "a number is expected",
    };
    text.parse().map_err(|_| wrong().to_owned())
}

/// A number above 0.
pub(super) fn positive<T: std::str::FromStr + PartialEq + Default>(
    text: &str,
) -> Result<T, String> {
    let number: T = number(text)?;
    if number == T::default() { Err("a number above 0 is expected".to_owned()) } else { Ok(number) }
}

pub(super) fn external(text: &str) -> Result<(String, Extern), String> {
    match text.split_once('=') {
        Some((name, "nondet")) => Ok((name.to_owned(), Extern::Nondet)),
        Some((name, "skip")) => Ok((name.to_owned(), Extern::Skip)),
        _ => Err("a function and what it does: `next_ticket=nondet` or `log=skip`".to_owned()),
    }
}

pub(super) fn external_text((name, meaning): &(String, Extern)) -> String {
    match meaning {
        Extern::Nondet => format!("{name}=nondet"),
        Extern::Skip => format!("{name}=skip"),
    }
}

pub(super) fn range(text: &str) -> Result<(i64, i64), String> {
    let wrong = || "a range is two numbers, the smaller one first: -1..3".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<i64>().map_err(|_| wrong());
    let (low, high) = (number(low)?, number(high)?);
    if low <= high { Ok((low, high)) } else { Err(wrong()) }
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

/// The shortest form of a size that is read as the same number.
pub(super) fn size_text(bytes: u64) -> String {
    let units = [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)];
    let unit = units.into_iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    match unit {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{}k", bytes as f64 / 1e3),
    }
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

pub(super) fn duration_text(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    }
}

/// A path that means the same in every folder: programs run in folders of their own.
pub(super) fn whole(text: &str) -> Result<std::path::PathBuf, String> {
    std::path::absolute(text).map_err(|error| error.to_string())
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
        for bytes in [1_000, 1_500_000_000, 8_000_000_000, 1_234_567, 2_000_000_000_000] {
            assert_eq!(size(&size_text(bytes)), Ok(bytes), "{}", size_text(bytes));
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
        for time in [1, 999, 1000, 90_500].map(Duration::from_millis) {
            assert_eq!(duration(&duration_text(time)), Ok(time));
        }
    }
}
