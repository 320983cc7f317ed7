//! Progress lines: how far a search is.
//!
//! The bar is drawn once the estimate has settled, that is, its spread is at most half of it. Until
//! then something turns: that it works is all that is known.

use crate::Style;
use crate::number::{clock, grouped, rough, time};
use crate::style::columns;
use mazurka_core::{Estimate, Progress, Reading};
use std::time::Duration;

/// Two lines to be shown in place, without line ends: a bar with the estimate, and what was
/// counted. What does not fit is left out from the end.
pub fn lines(progress: &Progress, style: &Style) -> [String; 2] {
    let [mut first, second] = [outlook(progress, style), counts(progress)];
    let head = match part(progress) {
        Some(part) => {
            let percent = first.remove(0);
            format!("{} {percent}", bar(part, style))
        }
        None => spinner(progress.elapsed, style),
    };
    first.insert(0, head);
    [first, second].map(|fields| fitted(&fields, style))
}

/// All of it on one line, for where there is no terminal.
pub fn line(progress: &Progress, style: &Style) -> String {
    let mut fields = outlook(progress, style);
    fields.extend(counts(progress));
    fields.join("   ")
}

/// How far a search is that takes no executions: a line to be shown in place, without its end.
pub fn gauged(now: &Reading, memory: Option<u64>, style: &Style) -> String {
    let mut fields = vec![spinner(now.elapsed, style)];
    fields.extend(readings(now, memory));
    fitted(&fields, style)
}

/// The same for where there is no terminal.
pub fn gauged_line(now: &Reading, memory: Option<u64>) -> String {
    readings(now, memory).join("   ")
}

fn readings(now: &Reading, memory: Option<u64>) -> Vec<String> {
    let mut fields = Vec::new();
    if now.states > 0 {
        fields.push(format!("states {}", grouped(now.states)));
    }
    if now.clauses > 0 || now.depth > 0 {
        fields.push(format!("depth {}", grouped(now.depth)));
        fields.push(format!("clauses {}", grouped(now.clauses)));
        fields.push(format!("conflicts {}", grouped(now.conflicts)));
    }
    if now.rate > 0.0 && now.rate.is_finite() {
        fields.push(format!("{} /s", rough(now.rate)));
    }
    fields.extend(memory.map(|bytes| format!("memory {} MB", grouped(bytes / 1_000_000))));
    fields.push(clock(now.elapsed));
    fields
}

/// The estimate, if it is a number and says more than its spread takes back.
fn estimate(progress: &Progress) -> Option<Estimate> {
    progress
        .estimate
        .filter(|guess| guess.executions.is_finite() && guess.spread <= guess.executions)
}

/// The part that is explored, once there is an estimate to trust.
fn part(progress: &Progress) -> Option<f64> {
    let estimate = estimate(progress)?;
    let settled = estimate.executions > 0.0 && estimate.spread <= estimate.executions / 2.0;
    let part = progress.statistics.executions as f64 / estimate.executions;
    // It is not over before it is over.
    settled.then_some(part.clamp(0.0, 0.99))
}

/// What is to be expected.
fn outlook(progress: &Progress, style: &Style) -> Vec<String> {
    let part = part(progress);
    let mut fields: Vec<String> =
        part.iter().map(|part| format!("{:.0} %", part * 100.0)).collect();
    if progress.rate.is_finite() {
        let rate = rough(progress.rate);
        let unit = if rate.contains(' ') { "/s" } else { " /s" };
        fields.push(format!("{rate}{unit}"));
    }
    if let Some(estimate) = estimate(progress) {
        let sign = style.sign("±", "+-");
        fields.push(format!(
            "est. {} {sign} {}",
            rough(estimate.executions),
            rough(estimate.spread)
        ));
        let left = (estimate.executions - progress.statistics.executions as f64).max(0.0);
        let left = Duration::try_from_secs_f64(left / progress.rate);
        if let (Some(_), Ok(left)) = (part, left) {
            fields.push(format!("~{} left", time(left.max(Duration::from_secs(1)))));
        }
    }
    fields
}

/// What was counted.
fn counts(progress: &Progress) -> Vec<String> {
    let statistics = &progress.statistics;
    let runs = statistics.executions + statistics.blocked_executions;
    let mut fields = vec![
        format!("explored {}", grouped(statistics.executions)),
        format!("planned {}", grouped(progress.frontier)),
    ];
    if statistics.blocked_executions > 0 {
        let redundant = 100.0 * statistics.blocked_executions as f64 / runs as f64;
        fields.push(format!("redundant {redundant:.0} %"));
    }
    if statistics.states > 0 {
        fields.push(format!("states {}", grouped(statistics.states)));
    }
    fields.push(format!("deepest {}", grouped(statistics.max_depth)));
    fields.push(clock(progress.elapsed));
    fields
}

/// As many fields as fit into a line, set off from the margin.
fn fitted(fields: &[String], style: &Style) -> String {
    const SEPARATOR: &str = "   ";
    let mut line = String::new();
    for field in fields {
        if columns(&line) + SEPARATOR.len() + columns(field) > style.columns() {
            break;
        }
        line.push_str(SEPARATOR);
        line.push_str(field);
    }
    line
}

fn bar(part: f64, style: &Style) -> String {
    let cells = if style.columns() < 72 { 10 } else { 24 };
    let eighths = (part * cells as f64 * 8.0).round() as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    if style.sign("", "ascii") == "ascii" {
        return format!("[{:<cells$}]", "#".repeat(full));
    }
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest];
    format!("▐{:<cells$}▌", "█".repeat(full) + partial)
}

fn spinner(elapsed: Duration, style: &Style) -> String {
    let turn = (elapsed.as_millis() / 100) as usize;
    let frames = style.sign("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\");
    let frame = frames.chars().nth(turn % frames.chars().count()).unwrap_or(' ');
    format!("{frame} still growing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use mazurka_core::Statistics;

    fn progress(executions: u64, rate: f64, estimate: Option<(f64, f64)>) -> Progress {
        let mut statistics = Statistics::default();
        statistics.executions = executions;
        statistics.blocked_executions = executions / 33;
        statistics.max_depth = 214;
        let estimate = estimate.map(|(executions, spread)| Estimate { executions, spread });
        let elapsed = Duration::from_millis(165_300);
        Progress { statistics, elapsed, rate, frontier: 812, estimate }
    }

    fn check(progress: &Progress, style: Style, expect: Expect) {
        let [first, second] = lines(progress, &style);
        assert!(columns(&first) <= style.columns() && columns(&second) <= style.columns());
        expect.assert_eq(&format!("{first}\n{second}\n{}\n", line(progress, &style)));
    }

    #[test]
    fn a_settled_estimate_is_a_bar() {
        let settled = progress(1_190_233, 7_234.0, Some((2.9e6, 1.1e6)));
        check(
            &settled,
            Style::new(),
            expect![[r#"
               ▐█████████▉              ▌ 41 %   7.2 k/s   est. 2.9 M ± 1.1 M   ~4 min left
               explored 1 190 233   planned 812   redundant 3 %   deepest 214   00:02:45
            41 %   7.2 k/s   est. 2.9 M ± 1.1 M   ~4 min left   explored 1 190 233   planned 812   redundant 3 %   deepest 214   00:02:45
        "#]],
        );
        check(
            &settled,
            Style::new().ascii(true).width(60),
            expect![[r#"
               [####      ] 41 %   7.2 k/s   est. 2.9 M +- 1.1 M
               explored 1 190 233   planned 812   redundant 3 %
            41 %   7.2 k/s   est. 2.9 M +- 1.1 M   ~4 min left   explored 1 190 233   planned 812   redundant 3 %   deepest 214   00:02:45
        "#]],
        );
    }

    #[test]
    fn before_it_settles_something_turns() {
        check(
            &progress(12, 3.0, Some((2000.0, 1001.0))),
            Style::new(),
            expect![[r#"
               ⠸ still growing   3 /s   est. 2.0 k ± 1.0 k
               explored 12   planned 812   deepest 214   00:02:45
            3 /s   est. 2.0 k ± 1.0 k   explored 12   planned 812   deepest 214   00:02:45
        "#]],
        );
        check(
            &progress(831_000, 8.0e5, Some((831_000.0, 2.7e10))),
            Style::new(),
            expect![[r#"
               ⠸ still growing   800 k/s
               explored 831 000   planned 812   redundant 3 %   deepest 214   00:02:45
            800 k/s   explored 831 000   planned 812   redundant 3 %   deepest 214   00:02:45
        "#]],
        );
        check(
            &progress(0, 0.0, None),
            Style::new().ascii(true),
            expect![[r#"
               / still growing   0 /s
               explored 0   planned 812   deepest 214   00:02:45
            0 /s   explored 0   planned 812   deepest 214   00:02:45
        "#]],
        );
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        check(
            &progress(50, 0.0, Some((20.0, 1.0))),
            Style::new(),
            expect![[r#"
               ▐███████████████████████▊▌ 99 %   0 /s   est. 20 ± 1
               explored 50   planned 812   redundant 2 %   deepest 214   00:02:45
            99 %   0 /s   est. 20 ± 1   explored 50   planned 812   redundant 2 %   deepest 214   00:02:45
        "#]],
        );
        check(
            &progress(7, f64::NAN, Some((f64::NAN, f64::NAN))),
            Style::new(),
            expect![[r#"
                   ⠸ still growing
                   explored 7   planned 812   deepest 214   00:02:45
                explored 7   planned 812   deepest 214   00:02:45
            "#]],
        );
        check(
            &progress(u64::MAX / 2, f64::INFINITY, Some((f64::INFINITY, 0.0))),
            Style::new().width(40),
            expect![[r#"
                   ⠸ still growing
                   explored 9 223 372 036 854 775 807
                explored 9 223 372 036 854 775 807   planned 812   redundant 3 %   deepest 214   00:02:45
            "#]],
        );
    }
}
