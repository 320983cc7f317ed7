//! `mazurka test`: the tests of a Rust project, each under every schedule.

use crate::arguments::{self, Asked, Conduct, Output, Selection};
use crate::cargo::{self, TestProgram};
use crate::native::{self, report_of, rest_of, shorten, told};
use crate::program::{self, Answer, Surroundings};
use crate::{Done, Failure, show, style};
use mazurka_core::{Schedule, Verdict, ViolationKind};
use mazurka_report::{Colour, ExitStatus, Page, Style, counted, grouped, json, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// What came of all tests.
#[derive(Default)]
struct Summary {
    hold: usize,
    violated: usize,
    unverified: usize,
    failed: usize,
    ignored: usize,
    statuses: Vec<ExitStatus>,
    /// What was proved, and of which tests.
    covered: BTreeMap<String, Vec<String>>,
}

/// Builds the tests, explores each and tells what came of it.
pub(crate) fn run(selection: &Selection, asked: &Asked, output: &Output) -> Done {
    let begun = Instant::now();
    let programs = cargo::build(selection)?;
    let mut summary = Summary::default();
    let mut lines = Vec::new();
    let mut details = String::new();
    let style = style();
    for program in &programs {
        for test in cargo::list(program)? {
            if !selection.wants(&test.name) {
                continue;
            }
            if test.is_ignored && !selection.include_ignored {
                summary.ignored += 1;
                continue;
            }
            let tells = output.is_told();
            let told = explore(program, &test.name, selection, asked, style, tells);
            summary.count(&told, name(program, &test.name));
            lines.extend(told.json);
            details.push_str(&told.details);
            if !output.is_json_alone() {
                show(&told.line);
            }
        }
    }
    if !output.is_json_alone() {
        if !output.quiet {
            show(&details);
            show(&summary.coverage(style));
        }
        show(&summary.text(begun.elapsed(), style));
    }
    if let Some(path) = &output.json {
        write_json(path, &lines, output.is_json_alone())?;
    }
    if summary.n_tests() == 0 {
        let text = "no test was run: none has such a name".to_owned();
        return Err(Failure::input(text)
            .help("`--list` of `cargo test -- --list` shows all")
            .into());
    }
    Ok(summary.status())
}

/// Follows one schedule of one test, with what it prints.
pub(crate) fn replay(
    selection: &Selection,
    conduct: &Conduct,
    schedule: &Schedule,
    is_debugged: bool,
) -> Done {
    let programs = cargo::build(selection)?;
    let mut found = Vec::new();
    for program in &programs {
        let tests = cargo::list(program)?;
        let wanted = tests.into_iter().filter(|test| selection.wants(&test.name));
        found.extend(wanted.map(|test| (program, test.name)));
    }
    match &found[..] {
        [(program, test)] => {
            let surroundings = Surroundings { folder: Some(&program.folder), ..Default::default() };
            let wishes = replaying(conduct, schedule);
            if is_debugged {
                return native::debug(&words(program, test), &wishes, Some(&program.folder));
            }
            native::follow(&words(program, test), &name(program, test), &wishes, &surroundings)
        }
        [] => Err(Failure::input("there is no such test").into()),
        _ => {
            let text = format!("{} tests have such names, and a schedule is of one", found.len());
            Err(Failure::input(text).help("name one in full, with `--exact`").into())
        }
    }
}

/// What the library is given to follow a schedule of a test.
fn replaying(conduct: &Conduct, schedule: &Schedule) -> Value {
    let mut wishes = conduct.replaying(schedule);
    wishes["test"] = true.into();
    wishes
}

fn name(program: &TestProgram, test: &str) -> String {
    format!("{} {test}", program.name)
}

/// The harness, told to run one test on its first thread.
fn words(program: &TestProgram, test: &str) -> Vec<OsString> {
    let mut words = vec![program.program.clone().into_os_string(), test.into()];
    words.extend(
        ["--exact", "--include-ignored", "--test-threads=1", "--nocapture"].map(OsString::from),
    );
    words
}

/// What is to be told of one test.
struct Told {
    status: ExitStatus,
    verdict: Option<Verdict>,
    line: String,
    details: String,
    json: Option<Value>,
}

fn explore(
    program: &TestProgram,
    test: &str,
    selection: &Selection,
    asked: &Asked,
    style: Style,
    tells: bool,
) -> Told {
    let name = name(program, test);
    let mut wishes = arguments::wishes(asked);
    wishes["test"] = true.into();
    let words = words(program, test);
    let memory_limit = asked.memory_limit;
    let surroundings = Surroundings { folder: Some(&program.folder), output: None, memory_limit };
    let line = |colour, word, aside: &str| {
        let mut page = Page::new(style);
        page.headline(colour, word, &name, aside);
        page.into_text()
    };
    let watch = tells.then(|| (style, Some(format!("{name}: "))));
    let answer = program::run_in(&words, &name, &wishes, watch, &surroundings);
    let mut answer = match answer {
        Ok(answer) if answer.verdict.is_some() => answer,
        failed => {
            let (status, message) = match failed {
                Err(failure) => (failure.status, failure.message),
                Ok(_) => (ExitStatus::Defect, "there is no verdict".to_owned()),
            };
            let details = format!("\n{}error: {message}\n", line(Colour::Bad, "Error", ""));
            let line = line(Colour::Bad, "Error", "");
            return Told { status, verdict: None, line, details, json: None };
        }
    };
    let printed = explain(&mut answer, program, test, asked);
    let replay =
        format!("{} --replay", asked.conduct.told_to(selection.again(&program.target, test)));
    let report = report_of(&answer, &name, asked, &replay).expect("it has a verdict");
    let time = format!("{:.2} s", answer.time_s);
    let aside = format!("{}, {time}", counted(answer.statistics.executions, "execution"));
    let verdict = answer.verdict.clone();
    let (colour, word) = match &verdict {
        Some(Verdict::Holds(_)) => (Colour::Good, "Holds"),
        Some(Verdict::Violated(_)) => (Colour::Bad, "Violated"),
        _ => (Colour::Open, "Unverified"),
    };
    let mut details = String::new();
    if !matches!(verdict, Some(Verdict::Holds(_))) {
        details =
            format!("\n{}{}", text::checking(&name, 0, &style), text::verdict(&report, &style));
        details.push_str(&told(&by_the_test(&printed, test)));
    }
    let status = verdict.as_ref().map_or(ExitStatus::Defect, ExitStatus::from);
    let json = Some(json::value(&report));
    Told { status, line: line(colour, word, &aside), details, json, verdict }
}

/// Follows the execution of a violation once more for what the test prints, and takes the message
/// of a panic from it.
fn explain(answer: &mut Answer, program: &TestProgram, test: &str, asked: &Asked) -> String {
    answer.verdict.iter_mut().for_each(shorten);
    let rest = asked.options.time_limit.map(|limit| rest_of(limit, answer));
    let Some(Verdict::Violated(found)) = &mut answer.verdict else { return String::new() };
    let mut wishes = replaying(&asked.conduct, &found.schedule);
    rest.into_iter().for_each(|rest| wishes["time_limit_ms"] = rest);
    let printed = program::printed(&words(program, test), test, &wishes, Some(&program.folder));
    let printed = printed.unwrap_or_default();
    if found.violation.kind == ViolationKind::Panic
        && let Some(message) = panics(&printed)
    {
        found.violation.message = message;
    }
    printed
}

/// What a test has printed, without the words of the harness around it.
fn by_the_test(printed: &str, test: &str) -> String {
    let begun = printed.split_once(&format!("\ntest {test}")).and_then(|(_, line)| {
        // Between the name and the dots may be what the test is expected to do.
        line.split_once(" ... ").filter(|(words, _)| !words.contains('\n'))
    });
    let text = begun.map_or(printed, |(_, behind)| behind);
    let ended = ["FAILED\n\nfailures:\n", "ok\n\ntest result: ok."].map(|words| text.rfind(words));
    let text = ended.into_iter().flatten().max().map_or(text, |at| &text[..at]);
    match text.trim_matches('\n') {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}

/// The panics that a harness has printed, as the standard library words them, in one sentence.
fn panics(printed: &str) -> Option<String> {
    let mut lines = printed.lines().peekable();
    let mut panics = Vec::new();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once("thread '") else { continue };
        let Some((thread, place)) = rest.split_once("panicked at ") else { continue };
        let thread = thread.rsplit_once('\'').map_or(thread, |(name, _)| name);
        let mut message = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.is_empty() && !line.starts_with("note: "))
        {
            message.push(line.trim());
        }
        let place = place.trim_end_matches(':');
        panics.push(format!("`{thread}` panicked at {place}: {}", message.join(" ")));
    }
    (!panics.is_empty()).then(|| panics.join("; then "))
}

fn write_json(path: &Path, lines: &[Value], is_alone: bool) -> Result<(), Failure> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if is_alone {
        return crate::write(&text);
    }
    std::fs::write(path, text)
        .map_err(|error| Failure::input(format!("`{}` cannot be written: {error}", path.display())))
}

impl Summary {
    fn count(&mut self, told: &Told, name: String) {
        match &told.verdict {
            Some(Verdict::Holds(coverage)) => {
                self.hold += 1;
                self.covered.entry(coverage.to_string()).or_default().push(name);
            }
            Some(Verdict::Violated(_)) => self.violated += 1,
            Some(_) => self.unverified += 1,
            None => self.failed += 1,
        }
        self.statuses.push(told.status);
    }

    /// What was proved: once, if it is the same of all tests that hold.
    fn coverage(&self, style: Style) -> String {
        let mut page = Page::new(style);
        for (covered, names) in &self.covered {
            page.line("");
            page.paragraph("Covered:", covered);
            if self.covered.len() > 1 {
                page.paragraph("", &format!("by {}", names.join(", ")));
            }
        }
        page.into_text()
    }

    fn n_tests(&self) -> usize {
        self.hold + self.violated + self.unverified + self.failed + self.ignored
    }

    /// A violation is told first: nobody needs to be sure of the rest to know that.
    fn status(&self) -> ExitStatus {
        let rank = |status: &&ExitStatus| match status {
            ExitStatus::Holds => 0,
            ExitStatus::Inconclusive => 1,
            ExitStatus::WrongInput => 2,
            ExitStatus::Violated => 3,
            _ => 4,
        };
        self.statuses.iter().max_by_key(rank).copied().unwrap_or(ExitStatus::Holds)
    }

    fn text(&self, elapsed: Duration, style: Style) -> String {
        let n_run = self.n_tests() - self.ignored;
        let parts = [
            (self.hold, "hold"),
            (self.violated, "violated"),
            (self.unverified, "unverified"),
            (self.failed, "could not be explored"),
            (self.ignored, "ignored"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", grouped(*n as u64)))
            .collect();
        let mut page = Page::new(style);
        let text = format!("{}: {}", counted(n_run as u64, "test"), parts.join(", "));
        let colour = if self.status() == ExitStatus::Holds { Colour::Good } else { Colour::Bad };
        page.headline(colour, "Summary", &text, &format!("{:.1} s", elapsed.as_secs_f64()));
        format!("\n{}", page.into_text())
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn panics_are_found_in_what_is_printed() {
        let printed = "test a ... \nthread 'main' (77) panicked at src/lib.rs:3:9:\nassertion failed\n  \
                       left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n\nthread '<unnamed>' \
                       panicked at a.rs:1:1:\nno\n";
        assert_eq!(
            panics(printed).as_deref(),
            Some(
                "`main` panicked at src/lib.rs:3:9: assertion failed left: 1 right: 2; then \
                 `<unnamed>` panicked at a.rs:1:1: no"
            )
        );
        assert_eq!(panics("all is well"), None);
    }

    #[test]
    fn words_of_the_harness_are_left_out() {
        let check = |printed: &str, expected: &str| assert_eq!(by_the_test(printed, "a"), expected);
        let end =
            "\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed\n\n";
        check("\nrunning 1 test\ntest a ... ", "");
        check(&format!("\nrunning 1 test\ntest a ... FAILED{end}"), "");
        check(&format!("\nrunning 1 test\ntest a ... \nno\nFAILED{end}"), "no\n");
        check("\nrunning 1 test\ntest a - should panic ... one\ntwo ... \n", "one\ntwo ... \n");
        check("\nrunning 1 test\ntest a ... 7\nok\n\ntest result: ok. 1 passed\n\n", "7\n");
        check("something else", "something else\n");
    }
}
