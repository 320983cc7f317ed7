//! Numbers and times as people read them.

use std::time::Duration;

/// A number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" ")
}

/// So many things, in words.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Two or three digits and the power of a thousand.
pub(crate) fn rough(n: f64) -> String {
    if !n.is_finite() {
        return "many".to_owned();
    }
    let n = n.max(0.0);
    if n < 999.5 {
        return format!("{n:.0}");
    }
    let mut n = n;
    let mut unit = "";
    for next in ["k", "M", "G", "T", "P", "E"] {
        (n, unit) = (n / 1000.0, next);
        if n < 999.5 {
            break;
        }
    }
    match n {
        _ if n < 9.95 => format!("{n:.1} {unit}"),
        _ if n < 999_999.5 => format!("{n:.0} {unit}"),
        _ => format!("{:.0e}", n * 1e18),
    }
}

/// A time, as exactly as it is of interest.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 0.995 => format!("{seconds:.2} s"),
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        _ if seconds < 119.5 => format!("{seconds:.0} s"),
        _ if seconds < 7170.0 => format!("{:.0} min", seconds / 60.0),
        _ if seconds < 47.5 * 3600.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

/// A limit of time as it was asked for: nothing is rounded away.
pub(crate) fn exact_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds, time.subsec_nanos()) {
        (0, 1..) => format!("{time:?}"),
        (_, 1..) => format!("{} s", time.as_secs_f64()),
        (3600.., _) if seconds.is_multiple_of(3600) => format!("{} h", grouped(seconds / 3600)),
        (120.., _) if seconds.is_multiple_of(60) => format!("{} min", grouped(seconds / 60)),
        _ => format!("{} s", grouped(seconds)),
    }
}

/// Hours, minutes and seconds, as a clock shows them.
pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn numbers_are_readable() {
        let all = [0, 7, 999, 1000, 211_004, 1_234_567, u64::MAX].map(grouped).join(", ");
        expect!["0, 7, 999, 1 000, 211 004, 1 234 567, 18 446 744 073 709 551 615"].assert_eq(&all);
        let all = [
            0.0,
            -1.0,
            0.4,
            999.4,
            999.6,
            7_234.0,
            12_345.0,
            999_600.0,
            2.9e6,
            1e15,
            1e30,
            f64::NAN,
        ];
        expect!["0, 0, 0, 999, 1.0 k, 7.2 k, 12 k, 1.0 M, 2.9 M, 1.0 P, 1e30, many"]
            .assert_eq(&all.map(rough).join(", "));
        expect!["1 trace, 0 traces"].assert_eq(&format!(
            "{}, {}",
            counted(1, "trace"),
            counted(0, "trace")
        ));
    }

    #[test]
    fn times_are_readable() {
        let all = [0.0, 0.04, 0.994, 0.996, 2.14, 60.0, 165.0, 7200.0, 200_000.0];
        expect!["0.00 s, 0.04 s, 0.99 s, 1.0 s, 2.1 s, 60 s, 3 min, 2 h, 2 days"]
            .assert_eq(&all.map(|s| time(Duration::from_secs_f64(s))).join(", "));
        let all = [0, 1, 1500, 60_000, 90_000, 120_000, 3_600_000, 5_400_000];
        expect!["0 s, 1ms, 1.5 s, 60 s, 90 s, 2 min, 1 h, 90 min"]
            .assert_eq(&all.map(|ms| exact_time(Duration::from_millis(ms))).join(", "));
        expect!["00:02:45"].assert_eq(&clock(Duration::from_secs(165)));
    }
}
