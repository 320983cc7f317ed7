//! Verdicts as JUnit XML, in the shape that nextest writes and CI systems read.
//!
//! A violation is a `failure`; a search that was stopped is `skipped` with the limit, since it is
//! neither passed nor failed. So is a check that was not begun, and one that could not be made is
//! an `error`.

use crate::text;
use crate::{ExitStatus, Style};
use crate::{NotChecked, Report};
use mazurka_core::Verdict;
use std::fmt::Write as _;
use std::time::Duration;

/// The document for the tests of one program, in their order.
pub fn render(suite: &str, reports: &[Report<'_>]) -> String {
    render_run(suite, reports, &[])
}

/// The same with those that have no verdict.
pub fn render_run(suite: &str, reports: &[Report<'_>], others: &[NotChecked]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| {
        reports.iter().filter(|report| wanted(report.verdict)).count()
    };
    let failures = count(|verdict| matches!(verdict, Verdict::Violated(_)));
    let skipped = count(|verdict| matches!(verdict, Verdict::Inconclusive(_)));
    let errors = others.iter().filter(|other| other.is_error).count();
    let skipped = skipped + others.len() - errors;
    let time: Duration = reports.iter().map(|report| report.elapsed).sum();
    let (tests, time) = (reports.len() + others.len(), seconds(time));
    let counts = format!(
        "tests=\"{tests}\" skipped=\"{skipped}\" errors=\"{errors}\" failures=\"{failures}\" time=\"{time}\""
    );
    let suite = attribute(suite);
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\"");
    let _ = writeln!(xml, "<testsuites name=\"mazurka\" {all}>");
    let _ = writeln!(xml, "  <testsuite name=\"{suite}\" {counts}>");
    for report in reports {
        case(report, &suite, &mut xml);
    }
    for NotChecked { name, is_error, reason } in others {
        let (name, message) = (attribute(name), attribute(reason));
        let tag = if *is_error { "error" } else { "skipped" };
        let _ = writeln!(
            xml,
            "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"0.000\">\n      \
             <{tag} message=\"{message}\"/>\n    </testcase>"
        );
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
            let kind = attribute(found.violation.title());
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
        let other = |name: &str, is_error| NotChecked {
            name: name.to_owned(),
            is_error,
            reason: "\"no\"".to_owned(),
        };
        let xml = render_run("bank", &[wrong.report()], &[other("a", true), other("b", false)]);
        assert!(xml.contains("tests=\"3\" skipped=\"1\" errors=\"1\" failures=\"1\""), "{xml}");
        assert!(xml.contains("<error message=\"&quot;no&quot;\"/>"), "{xml}");
        assert!(xml.contains("<skipped message=\"&quot;no&quot;\"/>"), "{xml}");
    }
}
