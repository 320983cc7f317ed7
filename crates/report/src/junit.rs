//! Verdicts as JUnit XML, in the shape that nextest writes and CI systems read.
//!
//! A violation is a `failure`; a search that was stopped is `skipped` with the limit, since it is
//! neither passed nor failed.

use crate::Report;
use crate::text;
use crate::{ExitStatus, Style};
use mazurka_core::Verdict;
use std::fmt::Write as _;
use std::time::Duration;

/// The document for the tests of one program, in their order.
pub fn render(suite: &str, reports: &[Report<'_>]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| {
        reports.iter().filter(|report| wanted(report.verdict)).count()
    };
    let failures = count(|verdict| matches!(verdict, Verdict::Violated(_)));
    let skipped = count(|verdict| matches!(verdict, Verdict::Inconclusive(_)));
    let time: Duration = reports.iter().map(|report| report.elapsed).sum();
    let (tests, time) = (reports.len(), seconds(time));
    let counts = format!(
        "tests=\"{tests}\" skipped=\"{skipped}\" errors=\"0\" failures=\"{failures}\" time=\"{time}\""
    );
    let suite = attribute(suite);
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{time}\"");
    let _ = writeln!(xml, "<testsuites name=\"mazurka\" {all}>");
    let _ = writeln!(xml, "  <testsuite name=\"{suite}\" {counts}>");
    for report in reports {
        case(report, &suite, &mut xml);
    }
    xml += "  </testsuite>\n</testsuites>\n";
    xml
}

fn case(report: &Report<'_>, suite: &str, xml: &mut String) {
    let (name, time) = (attribute(report.name), seconds(report.elapsed));
    let _ = write!(xml, "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{time}\"");
    let told = || content(&text::render(report, &Style::new()));
    match report.verdict {
        Verdict::Violated(found) => {
            let kind = attribute(found.violation.kind.title());
            let message = attribute(&found.violation.message);
            let _ = writeln!(
                xml,
                ">\n      <failure type=\"{kind}\" message=\"{message}\">{}</failure>\n    </testcase>",
                told()
            );
        }
        Verdict::Inconclusive(limit) => {
            let message = attribute(&limit.to_string());
            let _ = writeln!(xml, ">\n      <skipped message=\"{message}\"/>\n    </testcase>");
        }
        verdict => {
            debug_assert_eq!(ExitStatus::from(verdict).code(), 0);
            let _ = writeln!(xml, ">\n      <system-out>{}</system-out>\n    </testcase>", told());
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// The value of an attribute.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;")
}

/// Text between tags, without characters that XML does not have.
fn content(text: &str) -> String {
    let is_allowed = |char: &char| matches!(char, '\t' | '\n' | ' '..) && *char != '\u{7f}';
    let allowed: String = text.chars().filter(is_allowed).collect();
    allowed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use mazurka_core::Limit;

    #[test]
    fn failures_are_told_in_full_and_stopped_searches_are_skipped() {
        let (wrong, stopped) =
            (samples::deadlock(), samples::Sample::of(Verdict::Inconclusive(Limit::Executions(9))));
        let xml = render("bank \"<&>\"", &[wrong.report(), stopped.report()]);
        assert!(xml.contains(
            "<testsuite name=\"bank &quot;&lt;&amp;&gt;&quot;\" tests=\"2\" skipped=\"1\" \
             errors=\"0\" failures=\"1\" time=\"0.020\">"
        ));
        assert!(xml.contains("<failure type=\"Deadlock\" message=\"2 threads wait"));
        assert!(xml.contains("<skipped message=\"execution limit, 9\"/>"));
        assert_eq!(content("a\u{1b}[31mb"), "a[31mb");
    }
}
