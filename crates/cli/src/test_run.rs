//! `mazurka test`: the tests of a Rust project, each under every schedule.
//!
//! Cargo builds them ([`cargo`]), the programs list them, and each is a search of its own, several
//! at a time (`side_by_side.rs`). Whatever ends the run early, an interrupt, `--total-time` or the
//! first failure with `--fail-fast`, stops the searches that run, and they tell what they have
//! learnt; tests that were not begun are counted. [`saved_run`] keeps what is over and where the
//! others were, and
//! [`summary`] has what is told.

mod cargo;
mod harness;
mod listing;
mod manifest;
mod pages;
mod saved_run;
mod side_by_side;
mod summary;

use crate::arguments::{Filter, RunOptions, Selection};
use crate::output::Output;
use crate::saving::AFTER;
use crate::simulate::tell_replay;
use crate::tell::{Screen, annotate, report, say, show, style};
use crate::{Done, Failure, interrupt};
use cargo::{Built, TestProgram};
use mazurka_check::native::debugger_command;
use mazurka_check::{Engine, FaultKind, Input, Outcome, Task, quoted};
use mazurka_core::{Limit, Schedule, Verdict};
use mazurka_report::{Colour, ExitStatus, Report, counted};
use saved_run::{SavedRun, fingerprint};
use side_by_side::side_by_side;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use summary::Summary;

/// A test that is to be explored.
struct Wanted<'a> {
    program: &'a TestProgram,
    test: String,
    /// Whether it is marked to be ignored.
    is_ignored: bool,
}

/// Tests of the programs that were built.
struct Found<'a> {
    wanted: Vec<Wanted<'a>>,
    /// Those with a wanted name that are ignored.
    ignored: Vec<Wanted<'a>>,
    /// How many there are in all.
    n_tests: usize,
}

impl Wanted<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.program.name, self.test)
    }
}

/// What came of one test.
struct TestResult {
    /// The program and the test.
    name: String,
    end: End,
}

/// How a test ended.
enum End {
    /// There is a verdict.
    Checked(Box<Checked>),
    /// It could not be explored.
    Failed(Vec<Failure>),
    /// It was not begun, or stopped before it could tell anything.
    NotRun,
}

/// A test with a verdict.
struct Checked {
    outcome: Outcome,
    task: Task,
    name: String,
    /// Its name in its program.
    test: String,
    /// The command that replays a schedule of it, without the schedule.
    replay: String,
    /// Whether a run that was saved has had it.
    is_kept: bool,
}

impl Checked {
    fn new(
        wanted: &Wanted<'_>,
        outcome: Outcome,
        task: Task,
        mut again: Vec<String>,
        is_kept: bool,
    ) -> Self {
        let task = task.decided(&outcome);
        again.extend(task.options.words(|row| row.is_of_schedules));
        let replay = format!("{} --replay", quoted(again));
        let (name, test) = (wanted.name(), wanted.test.clone());
        Self { outcome, task, name, test, replay, is_kept }
    }

    fn report(&self) -> Report<'_> {
        report(&self.outcome, &self.name, &self.replay, &self.task)
    }
}

/// Why tests are not begun any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Interrupted,
    TotalTime,
    Failed,
}

/// Builds the tests, explores each and tells what came of it.
pub(crate) fn run(
    selection: &Selection,
    options: &RunOptions,
    task: &Task,
    engine: &'static dyn Engine,
    output: &Output,
) -> Done {
    let begun = Instant::now();
    let filter = selection.filter()?;
    let is_list = options.list || filter.lists;
    let mut built = cargo::build(selection, output.quiet || is_list)?;
    let _kept = built.keep()?;
    let found = find(&built, &filter)?;
    if is_list {
        listing::tell(&found, &built, output)?;
        return Ok(ExitStatus::Holds);
    }
    if found.wanted.is_empty() && found.ignored.is_empty() {
        return Err(nothing_to_run(&found, &built).into());
    }
    let mut summary = Summary {
        n_ignored: found.ignored.len(),
        left_out: built.left_out.clone(),
        slow_after: options.slow_after,
        ..Summary::default()
    };
    let (style, wanted) = (style(), &found.wanted);
    let saved = SavedRun::of(task)?;
    let fingerprints = fingerprints(&built)?;
    tell_changes(wanted, saved.as_ref(), &fingerprints);
    let watch = Watch::new(begun, options, !output.is_told());
    let explore = |idx: usize, jobs: usize, is_alone: bool| {
        let wanted = &wanted[idx];
        let (name, program) = (wanted.name(), fingerprints[&wanted.program.program].as_str());
        let package = built.has_packages.then_some(wanted.program.package.as_str());
        let again = selection.again(package, &wanted.program.target, &wanted.test);
        let mut task = of_test(task, wanted);
        if let Some(outcome) = saved.as_ref().and_then(|saved| saved.kept(&name, program)) {
            let checked = Checked::new(wanted, outcome, task, again, true);
            return TestResult { name, end: End::Checked(Box::new(checked)) };
        }
        if watch.stopped().is_some() {
            return TestResult { name, end: End::NotRun };
        }
        // Each test is a search of its own.
        (task.saving, task.options.save, task.options.resume) = (None, None, None);
        saved.iter().for_each(|saved| saved.begin_test(&mut task, &name, program));
        task.stop = Some(watch.stop);
        if task.options.explored().may_be_shared() {
            task.options.jobs = Some(jobs);
        }
        let is_cut = watch.limit(&mut task);
        watch.begin(idx, &name, is_alone);
        let end = explored(wanted, (task, engine), again, output, (is_alone, is_cut));
        watch.end(idx, &end);
        if let (End::Checked(checked), Some(saved)) = (&end, &saved) {
            saved.end_test(&name, program, &checked.outcome);
        }
        TestResult { name, end }
    };
    let mut details = String::new();
    std::thread::scope(|scope| {
        let (end, is_over) = channel();
        let watch = &watch;
        scope.spawn(move || watch.run(&is_over));
        side_by_side(wanted.len(), task.options.processes(), &explore, |_, result| {
            if !output.is_json_alone() {
                show(&summary::line(&result, options.slow_after, style));
            }
            details.push_str(&summary::details(&result, style));
            summary.results.push(result);
        });
        drop(end);
    });
    summary.stopped = watch.stopped();
    tell(&summary, &details, begun, output, &built.folder)?;
    // Short runs are sooner repeated.
    let was_interrupted = interrupt::is_interrupted() && begun.elapsed() >= AFTER;
    let left = saved.map(|saved| saved.finish(summary.is_done(), was_interrupted)).transpose()?;
    if let Some(path) = left.flatten().filter(|_| !output.is_json_alone()) {
        let mut words = selection.all_again(&filter);
        words.extend(options.words());
        words.extend(task.options.words(|row| !matches!(row.name, "save" | "resume")));
        words.extend(["--resume".to_owned(), path.to_string_lossy().into_owned()]);
        // The last line, to be copied.
        show(&format!(" Resume: {}\n", quoted(words)));
    }
    Ok(summary.status())
}

/// What tells the programs from others, by their paths.
fn fingerprints(built: &Built) -> Result<BTreeMap<PathBuf, String>, Failure> {
    let of = |program: &TestProgram| Ok((program.program.clone(), fingerprint(&program.program)?));
    built.programs.iter().map(of).collect()
}

/// Says which tests are explored again, though a run was saved that had begun them.
fn tell_changes(
    wanted: &[Wanted<'_>],
    saved: Option<&SavedRun>,
    fingerprints: &BTreeMap<PathBuf, String>,
) {
    let Some(saved) = saved else { return };
    let has_changed =
        |it: &&Wanted<'_>| saved.has_changed(&it.name(), &fingerprints[&it.program.program]);
    match wanted.iter().filter(has_changed).count() {
        0 => {}
        n => {
            let tests = counted(n as u64, "test");
            eprintln!("note: {tests} explored anew: what was saved is of another program");
        }
    }
}

/// Tells all that is not told test by test.
fn tell(
    summary: &Summary,
    details: &str,
    begun: Instant,
    output: &Output,
    folder: &Path,
) -> Result<(), Failure> {
    let style = style();
    let checked: Vec<&Checked> = summary
        .results
        .iter()
        .filter_map(|result| match &result.end {
            End::Checked(checked) => Some(&**checked),
            End::Failed(_) | End::NotRun => None,
        })
        .collect();
    let reports: Vec<Report<'_>> = checked.iter().map(|it| it.report()).collect();
    if !output.is_json_alone() {
        if !output.quiet {
            show(details);
            show(&summary.coverage(style));
            summary.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
        }
        show(&summary.text(begun.elapsed(), style, output.quiet));
        reports.iter().for_each(|report| annotate(report, output));
    }
    let others = summary.others();
    if let Err(error) = pages::write(folder, &summary.sentence(), &reports, &others) {
        eprintln!("warning: the pages in `{}` cannot be written: {error}", folder.display());
    }
    output.write(&reports, &others)
}

/// A task for each test that is wanted, for `mazurka orders`.
pub(crate) fn tasks(selection: &Selection, task: &Task) -> Result<Vec<Task>, Vec<Failure>> {
    let built = cargo::build(selection, true)?;
    let found = find(&built, &selection.filter()?)?;
    match found.wanted.is_empty() {
        true => Err(nothing_to_run(&found, &built).into()),
        false => Ok(found.wanted.iter().map(|wanted| of_test(task, wanted)).collect()),
    }
}

/// The tests of all programs that are wanted.
fn find<'a>(built: &'a Built, filter: &Filter) -> Result<Found<'a>, Vec<Failure>> {
    let (mut wanted, mut ignored, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = Vec::new();
    for program in &built.programs {
        match cargo::list(program) {
            Ok(tests) => {
                for test in tests {
                    names.push(test.name.clone());
                    let runs = filter.runs(test.is_ignored).filter(|_| filter.wants(&test.name));
                    let cargo::Test { name: test, is_ignored } = test;
                    let found = Wanted { program, test, is_ignored };
                    match runs {
                        Some(true) => wanted.push(found),
                        Some(false) => ignored.push(found),
                        None => {}
                    }
                }
            }
            Err(failure) => failures.push(failure),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if !wanted.is_empty() || !ignored.is_empty() {
        for name in filter.meaningless(&names) {
            eprintln!("warning: no test has the name `{name}`");
        }
    }
    Ok(Found { wanted, ignored, n_tests: names.len() })
}

/// Why no test is run.
fn nothing_to_run(found: &Found<'_>, built: &Built) -> Failure {
    let left_out: Vec<String> =
        built.left_out.iter().map(|it| format!("`{}`", it.name())).collect();
    let not_run = match left_out.is_empty() {
        true => String::new(),
        false => format!(" beside what is not run here: {}", left_out.join(", ")),
    };
    match found.n_tests {
        0 => Failure::input(format!("no test was run: there are none{not_run}")),
        n => Failure::input(format!("no test was run: none of {n} has such a name"))
            .help("`mazurka test --list` shows all"),
    }
}

/// Follows one schedule of one test, with what it prints.
pub(crate) fn replay(
    selection: &Selection,
    task: &Task,
    engine: &'static dyn Engine,
    schedule: &Schedule,
    is_debugged: bool,
) -> Done {
    let filter = selection.filter()?;
    let built = cargo::build(selection, false)?;
    let found = find(&built, &filter)?;
    let all: Vec<&Wanted<'_>> = found.wanted.iter().chain(&found.ignored).collect();
    match &all[..] {
        [wanted] => {
            let task = of_test(task, wanted);
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
            let text = format!("{} tests have such names, and a schedule is of one", all.len());
            Err(Failure::input(text).help("name one in full, with `--exact`").into())
        }
    }
}

/// The task to check one test.
fn of_test(task: &Task, wanted: &Wanted<'_>) -> Task {
    let words = harness::words(wanted.program, &wanted.test);
    let folder = Some(wanted.program.folder.clone());
    let mut task = task.clone();
    task.input = Input::Program { words, name: wanted.name(), folder, is_test: true };
    task
}

/// Explores one test. `again` are the words that select it; it may be alone, and its time may be
/// cut by the limit of the run.
fn explored(
    wanted: &Wanted<'_>,
    (task, engine): (Task, &'static dyn Engine),
    again: Vec<String>,
    output: &Output,
    (is_alone, is_cut): (bool, bool),
) -> End {
    // What is written for machines is not mixed with how far a test is.
    let shown = output.on_screen();
    let screen = Screen::new(&task, engine, &shown).among_others(is_alone);
    let outcome = task.check_by(engine, &screen);
    drop(screen);
    let is_interrupted = |it: &Failure| it.kind == FaultKind::Limit(Limit::Interrupted);
    let mut outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failures) if failures.iter().all(is_interrupted) => return End::NotRun,
        Err(failures) => return End::Failed(failures),
    };
    harness::name_panic(&mut outcome);
    if is_cut && matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_))) {
        outcome.tips = vec!["a longer `--total-time` sees more".to_owned()];
    }
    let checked = Box::new(Checked::new(wanted, outcome, task, again, false));
    output.verdict(&checked.report());
    End::Checked(checked)
}

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks at a run: when its tests are to stop, and which of them are slow.
struct Watch<'a> {
    begun: Instant,
    options: &'a RunOptions,
    is_silent: bool,
    /// Makes the searches that run stop.
    stop: &'static AtomicBool,
    has_failed: AtomicBool,
    running: Mutex<BTreeMap<usize, Running>>,
}

/// A test that runs.
struct Running {
    name: String,
    begun: Instant,
    /// When it is told next that it is slow.
    told_at: Duration,
}

impl<'a> Watch<'a> {
    fn new(begun: Instant, options: &'a RunOptions, is_silent: bool) -> Self {
        Self {
            begun,
            options,
            is_silent,
            // One for each run of the process, of which there is one.
            stop: Box::leak(Box::default()),
            has_failed: AtomicBool::new(false),
            running: Mutex::default(),
        }
    }

    /// What is left of the time for all tests, if that has a limit.
    fn time_left(&self) -> Option<Duration> {
        self.options.total_time.map(|limit| limit.saturating_sub(self.begun.elapsed()))
    }

    /// Why no test is to be begun any more, if so.
    fn stopped(&self) -> Option<Stopped> {
        if interrupt::is_interrupted() {
            Some(Stopped::Interrupted)
        } else if self.options.fail_fast && self.has_failed.load(Ordering::Relaxed) {
            Some(Stopped::Failed)
        } else if self.time_left().is_some_and(|left| left.is_zero()) {
            Some(Stopped::TotalTime)
        } else {
            None
        }
    }

    /// Lets a test take no longer than the run may. Whether that is less than it had.
    fn limit(&self, task: &mut Task) -> bool {
        let Some(left) = self.time_left() else { return false };
        // The verdict names it, and nobody reads nanoseconds.
        let left = Duration::from_millis(left.as_millis().try_into().unwrap_or(u64::MAX));
        let limit = &mut task.options.time_limit;
        let is_cut = limit.is_none_or(|limit| left < limit);
        if is_cut {
            *limit = Some(left);
        }
        is_cut
    }

    fn begin(&self, idx: usize, name: &str, is_alone: bool) {
        // A test that is alone on a terminal shows how far it is.
        let is_shown = is_alone && std::io::stderr().is_terminal();
        if !self.is_silent && !is_shown {
            let (name, told_at) = (name.to_owned(), self.options.slow_after);
            let running = Running { name, begun: Instant::now(), told_at };
            self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(idx, running);
        }
    }

    fn end(&self, idx: usize, end: &End) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&idx);
        let is_failed = match end {
            End::Checked(checked) => matches!(checked.outcome.verdict, Verdict::Violated(_)),
            End::Failed(_) => true,
            End::NotRun => false,
        };
        if is_failed {
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Passes on that the run is to stop, and tells which tests are slow, until it is over. A test
    /// whose time is over ends by itself.
    fn run(&self, is_over: &Receiver<()>) {
        while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if matches!(self.stopped(), Some(Stopped::Interrupted | Stopped::Failed)) {
                self.stop.store(true, Ordering::Relaxed);
            }
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            for test in running.values_mut() {
                let elapsed = test.begun.elapsed();
                if elapsed >= test.told_at {
                    let text =
                        format!("{}: {:.0} s, and goes on", test.name, elapsed.as_secs_f64());
                    say(Colour::Open, "Slow", &text);
                    test.told_at = elapsed.saturating_mul(2).max(Duration::from_secs(1));
                }
            }
        }
    }
}
