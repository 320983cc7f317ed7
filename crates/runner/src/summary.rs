//! What came of the tests of a run: a line for each, the details of those that do not hold, and the
//! summary with the command that replays each violation.

use crate::cargo::LeftOut;
use crate::outcome_report::{printed, status_of};
use crate::run::{End, Stopped, TestResult};
use mazurka_core::{LineCoverage, Verdict};
use mazurka_report::{
    Colour, ExitStatus, NotChecked, Page, Style, counted, executions, grouped, lines, text,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// A schedule with more characters is not repeated at the end.
const LONGEST: usize = 4_000;

/// What came of all tests.
#[derive(Debug, Default)]
pub struct Summary {
    /// In the order of the tests.
    pub results: Vec<TestResult>,
    /// How many were ignored.
    pub n_ignored: usize,
    /// What is never run.
    pub left_out: Vec<LeftOut>,
    /// What kept tests from being run, if something did.
    pub stopped: Option<Stopped>,
    /// What takes longer is slow.
    pub slow_after: Duration,
}

/// The line of one test.
pub fn line(result: &TestResult, slow_after: Duration, style: Style) -> String {
    let mut page = Page::new(style);
    let (colour, word, aside) = match &result.end {
        End::Checked(checked) => {
            let outcome = &checked.outcome;
            let seconds = outcome.elapsed.as_secs_f64();
            let time = match outcome.elapsed >= slow_after {
                true => format!("slow: {seconds:.0} s"),
                false => format!("{seconds:.2} s"),
            };
            let kept = if checked.is_kept { ", kept" } else { "" };
            let executions = counted(outcome.statistics.executions, "execution");
            let aside = format!("{executions}, {time}{kept}");
            let (colour, word) = match &outcome.verdict {
                Verdict::Holds(_) => (Colour::Good, "Holds"),
                Verdict::Violated(_) => (Colour::Bad, "Violated"),
                _ => (Colour::Open, "Unverified"),
            };
            (colour, word, aside)
        }
        End::Failed(_) => (Colour::Bad, "Error", String::new()),
        // They are counted, and one line for each would hide the others.
        End::NotRun => return String::new(),
    };
    page.headline(colour, word, &result.name, &aside);
    page.into_text()
}

/// All that there is to say of a test that does not hold, and the executions of one that does, if
/// they are to be shown.
pub fn details(result: &TestResult, style: Style) -> String {
    match &result.end {
        End::Checked(checked) if matches!(checked.outcome.verdict, Verdict::Holds(_)) => {
            match executions::render(&checked.report(), &style) {
                text if text.is_empty() => text,
                text => format!("\n{}{text}", text::checking(&result.name, 0, &style)),
            }
        }
        End::Checked(checked) => {
            let heading = text::checking(&result.name, 0, &style);
            let verdict = text::verdict(&checked.report(), &style);
            format!("\n{heading}{verdict}{}", printed(&checked.printed()))
        }
        End::Failed(failures) => {
            let mut text = format!("\n{}", line(result, Duration::MAX, style));
            for failure in failures {
                text += &format!("error: {}\n", failure.message);
                text.extend(failure.help.iter().map(|help| format!("help: {help}\n")));
            }
            text
        }
        End::NotRun => String::new(),
    }
}

impl Summary {
    fn count(&self, is_one: impl Fn(&End) -> bool) -> usize {
        self.results.iter().filter(|result| is_one(&result.end)).count()
    }

    fn count_verdicts(&self, is_one: impl Fn(&Verdict) -> bool) -> usize {
        self.count(|end| matches!(end, End::Checked(checked) if is_one(&checked.outcome.verdict)))
    }

    /// Whether there is nothing to go on with: every test has a verdict that does not change.
    pub fn is_done(&self) -> bool {
        self.results.iter().all(|result| match &result.end {
            End::Checked(checked) => {
                matches!(checked.outcome.verdict, Verdict::Holds(_) | Verdict::Violated(_))
            }
            End::Failed(_) => true,
            End::NotRun => false,
        })
    }

    /// What was proved: once, if it is the same of all tests that hold; and what else there is to
    /// say of it.
    pub fn coverage(&self, style: Style) -> String {
        let mut covered: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut n_hold = 0;
        for result in &self.results {
            if let End::Checked(checked) = &result.end
                && let Verdict::Holds(coverage) = &checked.outcome.verdict
            {
                covered.entry(coverage.to_string()).or_default().push(&result.name);
                n_hold += 1;
                for note in &checked.outcome.notes {
                    notes.entry(note).or_default().push(&result.name);
                }
            }
        }
        let mut page = Page::new(style);
        for (sentence, names) in &covered {
            page.line("");
            page.paragraph("Covered:", sentence);
            if covered.len() > 1 {
                page.paragraph("", &format!("by {}", names.join(", ")));
            }
        }
        for (note, names) in &notes {
            page.paragraph("", note);
            if names.len() < n_hold {
                page.paragraph("", &format!("in {}", names.join(", ")));
            }
        }
        page.into_text()
    }

    /// Which lines any test has reached, and which none has; empty if that was not asked for.
    pub fn lines(&self, style: Style) -> String {
        let mut all: Option<LineCoverage> = None;
        for result in &self.results {
            if let End::Checked(checked) = &result.end
                && let Some(lines) = &checked.outcome.lines
            {
                all.get_or_insert_default().merge(lines);
            }
        }
        let mut page = Page::new(style);
        if let Some(all) = all {
            page.paragraph("Reached:", &lines::of(&all, "no execution of these tests reached"));
        }
        page.into_text()
    }

    /// What may not have been expected, each with the tests that it is about.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for result in &self.results {
            if let End::Checked(checked) = &result.end {
                for warning in &checked.outcome.warnings {
                    warnings.entry(warning).or_default().push(&result.name);
                }
            }
        }
        let told = |(warning, names): (&str, Vec<&str>)| match &names[..] {
            [name] => format!("{name}: {warning}"),
            [name, others @ ..] => {
                format!("{name} and {}: {warning}", counted(others.len() as u64, "other test"))
            }
            [] => warning.to_owned(),
        };
        warnings.into_iter().map(told).collect()
    }

    /// The status of the worst: a violation before what is not known, since one need not be sure
    /// of the rest to know that.
    pub fn status(&self) -> ExitStatus {
        let rank = |status: &ExitStatus| match status {
            ExitStatus::Holds => 0,
            ExitStatus::Inconclusive => 1,
            ExitStatus::WrongInput => 2,
            ExitStatus::Violated => 3,
            _ => 4,
        };
        let statuses = self.results.iter().map(|result| match &result.end {
            End::Checked(checked) => ExitStatus::from(&checked.outcome.verdict),
            End::Failed(failures) => {
                failures.iter().map(status_of).max_by_key(rank).unwrap_or(ExitStatus::Defect)
            }
            End::NotRun => ExitStatus::Inconclusive,
        });
        statuses.max_by_key(rank).unwrap_or(ExitStatus::Holds)
    }

    /// How many there are of each kind.
    pub fn sentence(&self) -> String {
        let n_not_run = self.count(|end| matches!(end, End::NotRun));
        let n_slow = self.count(|end| {
            matches!(end, End::Checked(checked) if checked.outcome.elapsed >= self.slow_after)
        });
        let n_failed = self.count(|end| matches!(end, End::Failed(_)));
        let n_hold = self.count_verdicts(|it| matches!(it, Verdict::Holds(_)));
        let n_violated = self.count_verdicts(|it| matches!(it, Verdict::Violated(_)));
        let n_run = self.results.len() - n_not_run;
        let not_run = self.why_not_run();
        let parts = [
            (n_hold, "hold"),
            (n_violated, "violated"),
            (n_run - n_hold - n_violated - n_failed, "unverified"),
            (n_failed, "could not be explored"),
            (n_slow, "slow"),
            (self.n_ignored, "ignored"),
            (n_not_run, not_run),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0);
        let parts: Vec<String> =
            parts.map(|(n, what)| format!("{} {what}", grouped(*n as u64))).collect();
        let text = format!("{}: {}", counted(n_run as u64, "test"), parts.join(", "));
        text.trim_end_matches(": ").to_owned()
    }

    /// Why no test is begun any more.
    fn why_not_run(&self) -> &'static str {
        match self.stopped {
            Some(Stopped::Interrupted) => "not run: interrupted",
            Some(Stopped::TotalTime) => "not run: `--total-time` is over",
            Some(Stopped::Failed) => "not run: `--fail-fast`",
            None => "not run",
        }
    }

    /// What has no verdict: tests that could not be explored or were not begun, and what is never
    /// run.
    pub fn others(&self) -> Vec<NotChecked> {
        let mut all = Vec::new();
        for result in &self.results {
            let (is_error, reason) = match &result.end {
                End::Checked(_) => continue,
                End::Failed(failures) => {
                    let messages: Vec<&str> =
                        failures.iter().map(|it| it.message.as_str()).collect();
                    (true, messages.join("; "))
                }
                End::NotRun => (false, self.why_not_run().to_owned()),
            };
            all.push(NotChecked { name: result.name.clone(), is_error, reason });
        }
        all.extend(self.left_out.iter().map(|it| NotChecked {
            name: it.name(),
            is_error: false,
            reason: it.reason().to_owned(),
        }));
        all
    }

    /// The sentence; then the tests that have failed, and what was left out.
    pub fn text(&self, elapsed: Duration, style: Style, is_quiet: bool) -> String {
        let mut page = Page::new(style);
        let colour = match self.status() {
            ExitStatus::Holds => Colour::Good,
            ExitStatus::Inconclusive => Colour::Open,
            _ => Colour::Bad,
        };
        page.line("");
        page.headline(
            colour,
            "Summary",
            &self.sentence(),
            &format!("{:.1} s", elapsed.as_secs_f64()),
        );
        // Of a single test everything stands right above.
        if is_quiet || self.results.len() > 1 {
            self.results.iter().for_each(|result| failed(result, &mut page));
        }
        for left_out in &self.left_out {
            let text = format!("{}: {}", left_out.name(), left_out.reason());
            page.headline(Colour::Aside, "Not run", &text, "");
        }
        page.into_text()
    }
}

/// A test that is violated, with the command that replays it, or that could not be explored.
fn failed(result: &TestResult, page: &mut Page) {
    match &result.end {
        End::Checked(checked) => {
            let Verdict::Violated(found) = &checked.outcome.verdict else { return };
            let text = format!("{}: {}", result.name, found.violation.message);
            page.headline(Colour::Bad, "Failed", &text, "");
            let schedule = found.schedule.to_string();
            match schedule.len() > LONGEST {
                true => {
                    page.headline(Colour::Bad, "", "its schedule is in what `--json` writes", "")
                }
                // One line, to be copied.
                false => page.line(&format!("{:12}{} {schedule}", "", checked.replay)),
            }
        }
        End::Failed(failures) => {
            let messages: Vec<&str> = failures.iter().map(|it| it.message.as_str()).collect();
            let text = format!("{}: {}", result.name, messages.join("; "));
            page.headline(Colour::Bad, "Error", &text, "");
        }
        End::NotRun => {}
    }
}
