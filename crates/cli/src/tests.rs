//! `mazurka test`: the tests of a Rust project, each under every schedule.

use crate::arguments::Selection;
use crate::cargo::{self, TestProgram};
use crate::output::Output;
use crate::simulate::tell_replay;
use crate::tell::{Screen, report, show, status_of, style, told};
use crate::{Done, Failure};
use mazurka_check::native::debugger_command;
use mazurka_check::{Engine, Input, Outcome, Task, quoted};
use mazurka_core::{Schedule, Verdict, ViolationKind};
use mazurka_report::{Colour, ExitStatus, Page, Report, Style, counted, grouped, text};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
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
pub(crate) fn run(
    selection: &Selection,
    task: &Task,
    engine: &'static dyn Engine,
    output: &Output,
) -> Done {
    let begun = Instant::now();
    if task.options.save.is_some() || task.options.resume.is_some() {
        let text = "`--save` and `--resume` are for one program, not for several tests";
        return Err(Failure::input(text).into());
    }
    let programs = cargo::build(selection)?;
    let mut summary = Summary::default();
    let mut checked = Vec::new();
    let mut details = String::new();
    let style = style();
    let mut wanted = Vec::new();
    for program in &programs {
        let tests = cargo::list(program)?.into_iter().filter(|test| selection.wants(&test.name));
        for test in tests {
            match test.is_ignored && !selection.include_ignored {
                true => summary.ignored += 1,
                false => wanted.push((program, test.name)),
            }
        }
    }
    let explore = |idx: usize, jobs: usize, is_alone: bool| {
        let (program, test) = &wanted[idx];
        let mut task = of_test(task, program, test);
        // Each test is a search of its own, and what is saved is one.
        task.saving = None;
        if task.options.explored().may_be_shared() {
            task.options.jobs = Some(jobs);
        }
        explore(program, test, selection, (task, engine), output, is_alone)
    };
    side_by_side(wanted.len(), task.options.processes(), &explore, |idx, told: Told| {
        let (program, test) = &wanted[idx];
        summary.count(&told, name(program, test));
        checked.extend(told.checked);
        details.push_str(&told.details);
        if !output.is_json_alone() {
            show(&told.line);
        }
    });
    if !output.is_json_alone() {
        if !output.quiet {
            show(&details);
            show(&summary.coverage(style));
        }
        show(&summary.text(begun.elapsed(), style));
    }
    output.write(&checked.iter().map(Checked::report).collect::<Vec<_>>())?;
    if summary.n_tests() == 0 {
        let text = "no test was run: none has such a name".to_owned();
        return Err(Failure::input(text)
            .help("`--list` of `cargo test -- --list` shows all")
            .into());
    }
    Ok(summary.status())
}

/// Does so many things, several at a time if there are several jobs, and hands over what came of each
/// in their order. Whatever there is one of has all jobs.
fn side_by_side<T: Send>(
    n: usize,
    jobs: usize,
    work: &(impl Fn(usize, usize, bool) -> T + Sync),
    mut tell: impl FnMut(usize, T),
) {
    let n_at_a_time = n.min(jobs);
    if n_at_a_time < 2 {
        (0..n).for_each(|idx| tell(idx, work(idx, jobs, true)));
        return;
    }
    let next = AtomicUsize::new(0);
    let (done, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..n_at_a_time {
            let (done, next) = (done.clone(), &next);
            scope.spawn(move || {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody listens any more if whoever tells has panicked.
                    if idx >= n || done.send((idx, work(idx, jobs / n_at_a_time, false))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut n_told = 0;
        for (idx, result) in results {
            waiting.insert(idx, result);
            while let Some(result) = waiting.remove(&n_told) {
                tell(n_told, result);
                n_told += 1;
            }
        }
    });
}

/// Follows one schedule of one test, with what it prints.
pub(crate) fn replay(
    selection: &Selection,
    task: &Task,
    engine: &'static dyn Engine,
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
            let task = of_test(task, program, test);
            if is_debugged {
                show(&format!("{}\n", debugger_command(&task, schedule)?));
                return Ok(ExitStatus::Holds);
            }
            let output = Output::default();
            let replay = task.replay_by(engine, schedule, &Screen::new(&task, engine, &output))?;
            Ok(tell_replay(&replay))
        }
        [] => Err(Failure::input("there is no such test").into()),
        _ => {
            let text = format!("{} tests have such names, and a schedule is of one", found.len());
            Err(Failure::input(text).help("name one in full, with `--exact`").into())
        }
    }
}

/// The task to check one test.
pub(crate) fn of_test(task: &Task, program: &TestProgram, test: &str) -> Task {
    let (words, folder) = (words(program, test), Some(program.folder.clone()));
    let input = Input::Program { words, name: name(program, test), folder, is_test: true };
    let mut task = task.clone();
    task.input = input;
    task
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
    checked: Option<Checked>,
}

/// What came of one test.
struct Checked {
    outcome: Outcome,
    task: Task,
    name: String,
    replay: String,
}

impl Checked {
    fn report(&self) -> Report<'_> {
        report(&self.outcome, &self.name, &self.replay, &self.task)
    }
}

fn explore(
    program: &TestProgram,
    test: &str,
    selection: &Selection,
    (task, engine): (Task, &'static dyn Engine),
    output: &Output,
    is_alone: bool,
) -> Told {
    let style = style();
    let name = task.input.name();
    let line = |colour, word, aside: &str| {
        let mut page = Page::new(style);
        page.headline(colour, word, &name, aside);
        page.into_text()
    };
    // What is written for machines is not mixed with how far a test is.
    let shown = output.on_screen();
    let screen = Screen::new(&task, engine, &shown).among_others(is_alone);
    let outcome = task.check_by(engine, &screen);
    drop(screen);
    let mut outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failures) => {
            let status = failures.iter().map(status_of).max().unwrap_or(ExitStatus::Defect);
            let messages: Vec<String> =
                failures.iter().map(|it| format!("error: {}\n", it.message)).collect();
            let messages = messages.concat();
            let details = format!("\n{}{messages}", line(Colour::Bad, "Error", ""));
            let line = line(Colour::Bad, "Error", "");
            return Told { status, verdict: None, line, details, checked: None };
        }
    };
    name_panic(&mut outcome);
    let task = task.decided(&outcome);
    let mut replay = selection.again(&program.target, test);
    replay.extend(task.options.words(|row| row.is_of_schedules));
    let replay = format!("{} --replay", quoted(replay));
    let checked = Checked { outcome, name: name.clone(), replay, task };
    let (report, outcome) = (checked.report(), &checked.outcome);
    output.verdict(&report);
    let time = format!("{:.2} s", outcome.elapsed.as_secs_f64());
    let aside = format!("{}, {time}", counted(outcome.statistics.executions, "execution"));
    let verdict = outcome.verdict.clone();
    let (colour, word) = match &verdict {
        Verdict::Holds(_) => (Colour::Good, "Holds"),
        Verdict::Violated(_) => (Colour::Bad, "Violated"),
        _ => (Colour::Open, "Unverified"),
    };
    let mut details = String::new();
    if !matches!(verdict, Verdict::Holds(_)) {
        details =
            format!("\n{}{}", text::checking(&name, 0, &style), text::verdict(&report, &style));
        let printed = outcome.printed.as_deref().unwrap_or_default();
        details.push_str(&told(&by_the_test(printed, test)));
    }
    let status = ExitStatus::from(&verdict);
    let line = line(colour, word, &aside);
    Told { status, line, details, verdict: Some(verdict), checked: Some(checked) }
}

/// Takes the message of a panic from what the test prints.
fn name_panic(outcome: &mut Outcome) {
    let printed = outcome.printed.as_deref().unwrap_or_default();
    if let Verdict::Violated(found) = &mut outcome.verdict
        && found.violation.kind == ViolationKind::Panic
        && let Some(message) = panics(printed)
    {
        found.violation.message = message;
    }
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
