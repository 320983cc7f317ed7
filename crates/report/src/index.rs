//! A run of several checks as a page: a line for each, with a link to the page of its violation.

use crate::html::escaped;
use crate::{NotChecked, Report, counted};
use mazurka_core::Verdict;
use std::fmt::Write as _;

const STYLE: &str = include_str!("html/index.css");

/// The page. `summary` is the sentence at its top, `link` the page of a check, if there is one;
/// what has no verdict comes last.
pub fn render(
    summary: &str,
    reports: &[Report<'_>],
    others: &[NotChecked],
    link: &dyn Fn(&Report<'_>) -> Option<String>,
) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Mazurka: {summary}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>{summary}</h1>\n<table>\n<thead><tr><th>Verdict</th><th>Test</th><th>Executions</th>\
         <th>Time</th></tr></thead>\n<tbody>\n",
        summary = escaped(summary)
    );
    for report in reports {
        let (class, word, told) = match report.verdict {
            Verdict::Holds(coverage) => ("good", "Holds", coverage.to_string()),
            Verdict::Violated(found) => ("bad", "Violated", found.violation.message.clone()),
            Verdict::Inconclusive(limit) => ("open", "Unverified", limit.to_string()),
            other => ("open", "Unverified", other.name().to_owned()),
        };
        let name = escaped(report.name);
        let name = match link(report) {
            Some(link) => format!("<a href=\"{}\">{name}</a>", escaped(&link)),
            None => name,
        };
        let executions = counted(report.statistics.executions, "execution");
        let seconds = report.elapsed.as_secs_f64();
        let _ = writeln!(
            page,
            "<tr><td class=\"{class}\">{word}</td><td>{name}<br><small>{}</small></td>\
             <td>{executions}</td><td>{seconds:.2} s</td></tr>",
            escaped(&told)
        );
    }
    for other in others {
        let (class, word) = if other.is_error { ("bad", "Error") } else { ("open", "Not run") };
        let _ = writeln!(
            page,
            "<tr><td class=\"{class}\">{word}</td><td>{}<br><small>{}</small></td><td></td>\
             <td></td></tr>",
            escaped(&other.name),
            escaped(&other.reason)
        );
    }
    page += "</tbody>\n</table>\n</body>\n</html>\n";
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_check_has_a_line_and_names_are_text() {
        let sample = samples::deadlock();
        let mut report = sample.report();
        report.name = "<b>";
        let other = NotChecked {
            name: "socket".to_owned(),
            is_error: true,
            reason: "`socket` & more".to_owned(),
        };
        let page = render("2 tests", &[report], &[other], &|_| Some("pages/1.html".to_owned()));
        for words in [
            "<td class=\"bad\">Violated</td><td><a href=\"pages/1.html\">&lt;b&gt;</a>",
            "2 threads wait for each other",
            "<td class=\"bad\">Error</td><td>socket<br><small>`socket` &amp; more</small>",
        ] {
            assert!(page.contains(words), "no `{words}` in:\n{page}");
        }
        assert!(!page.contains("<b>"));
    }
}
