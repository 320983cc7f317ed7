//! A run: every test is a search of its own, several at a time (`side_by_side.rs`).
//!
//! Whatever ends it early, an interrupt, the time for the whole run or the first failure, stops the
//! searches that run, and they tell what they have learnt; tests that were not begun are counted.
//! `saved_run.rs` keeps what is over and where the others were.

use crate::cargo::{Built, TestProgram};
use crate::find::{Found, Wanted};
use crate::harness;
use crate::outcome_report::report;
use crate::saved_run::{SavedRun, fingerprint};
use crate::side_by_side::side_by_side;
use crate::summary::Summary;
use crate::watch::Watch;
use crate::{Event, Listener, Selection};
use mazurka_check::options::row;
use mazurka_check::{Engine, Fault, FaultKind, Options, Outcome, Task, quoted};
use mazurka_core::{Limit, Verdict};
use mazurka_protocol::Saving;
use mazurka_report::Report;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How a run of several tests goes.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// After a test that is violated or cannot be explored, begin no other, and stop those that
    /// run.
    pub fail_fast: bool,
    /// Stop the whole run after so long.
    pub total_time: Option<Duration>,
    /// Mark tests that take longer than this.
    pub slow_after: Duration,
    /// Where a run is saved that is interrupted, if the task says nothing of it.
    pub default_save: Option<PathBuf>,
}

impl Default for RunOptions {
    fn default() -> Self {
        let slow_after = Duration::from_secs(10);
        Self { fail_fast: false, total_time: None, slow_after, default_save: None }
    }
}

impl RunOptions {
    /// The words that say the same of a run which goes on with another one.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.fail_fast {
            words.push("--fail-fast".to_owned());
        }
        if let Some(limit) = self.total_time {
            let mut options = Options::default();
            options.time_limit = Some(limit);
            let text = (row("time-limit").expect("the table has it").get)(&options).concat();
            words.extend(["--total-time".to_owned(), text]);
        }
        words
    }
}

/// What came of one test.
#[derive(Debug)]
pub struct TestResult {
    /// The program and the test.
    pub name: String,
    /// How it ended.
    pub end: End,
}

/// How a test ended.
#[derive(Debug)]
pub enum End {
    /// There is a verdict.
    Checked(Box<Checked>),
    /// It could not be explored.
    Failed(Vec<Fault>),
    /// It was not begun, or stopped before it could tell anything.
    NotRun,
}

/// A test with a verdict.
#[derive(Debug)]
pub struct Checked {
    /// What the search came to.
    pub outcome: Outcome,
    task: Task,
    name: String,
    /// Its name in its program.
    test: String,
    /// The command that replays a schedule of it, without the schedule.
    pub(crate) replay: String,
    /// Whether a run that was saved has had it.
    pub is_kept: bool,
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

    /// All that is to be told of it.
    pub fn report(&self) -> Report<'_> {
        report(&self.outcome, &self.name, &self.replay, &self.task)
    }

    /// What the test itself prints in its violation.
    pub fn printed(&self) -> String {
        let printed = self.outcome.printed.as_deref().unwrap_or_default();
        harness::by_the_test(printed, &self.test)
    }
}

/// Why tests are not begun any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The user wants an end of it.
    Interrupted,
    /// The time for the whole run is over.
    TotalTime,
    /// A test has failed, and none is to be begun behind it.
    Failed,
}

/// A run of the tests that were found.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// When it began: building counts.
    pub begun: Instant,
    /// How it goes.
    pub options: &'a RunOptions,
    /// What every test is checked with; its program is not looked at.
    pub task: &'a Task,
    /// What explores.
    pub engine: &'static dyn Engine,
    /// What was asked to be built.
    pub selection: &'a Selection,
    /// What was built.
    pub built: &'a Built,
    /// What was found in it.
    pub found: &'a Found<'a>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Finished {
    /// All tests.
    pub summary: Summary,
    /// The command that goes on with it, if it is not at its end and was saved; or why it could not
    /// be saved.
    pub resume: Result<Option<String>, Fault>,
}

impl Run<'_> {
    /// Explores all tests. Each is told as soon as all before it are over.
    pub fn run(&self, listener: &dyn Listener) -> Result<Finished, Vec<Fault>> {
        let &Self { begun, options, task, built, found, .. } = self;
        let wanted = &found.wanted;
        let mut summary = Summary {
            n_ignored: found.ignored.len(),
            left_out: built.left_out.clone(),
            slow_after: options.slow_after,
            ..Summary::default()
        };
        let saved = SavedRun::of(task, options.default_save.as_deref())?;
        let fingerprints = fingerprints(built)?;
        tell_changes(wanted, saved.as_ref(), &fingerprints, listener);
        let watch = Watch::new(begun, options, task);
        let explore = |idx: usize, jobs: usize, is_alone: bool| {
            let wanted = &wanted[idx];
            let (name, program) = (wanted.name(), fingerprints[&wanted.program.program].as_str());
            let again = self.again(wanted);
            let mut task = wanted.task(task);
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
            let end = self.explored(wanted, task, again, listener, (is_alone, is_cut));
            watch.end(idx, &end);
            if let (End::Checked(checked), Some(saved)) = (&end, &saved) {
                saved.end_test(&name, program, &checked.outcome);
            }
            TestResult { name, end }
        };
        std::thread::scope(|scope| {
            let (end, is_over) = channel();
            let watch = &watch;
            scope.spawn(move || watch.run(&is_over, listener));
            side_by_side(wanted.len(), task.options.processes(), &explore, |_, result| {
                listener.event(&Event::Ended(&result));
                summary.results.push(result);
            });
            drop(end);
        });
        summary.stopped = watch.stopped();
        // Short runs are sooner repeated.
        let was_interrupted = watch.is_interrupted() && begun.elapsed() >= Saving::AFTER;
        let left = saved.map(|saved| saved.finish(summary.is_done(), was_interrupted)).transpose();
        let resume = left.map(|left| left.flatten().map(|path| self.resume_command(path)));
        Ok(Finished { summary, resume })
    }

    /// The words that select one test.
    fn again(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let TestProgram { package, target, .. } = wanted.program;
        let package = self.built.has_packages.then_some(package.as_str());
        self.selection.again(package, target, &wanted.test)
    }

    fn resume_command(&self, path: PathBuf) -> String {
        let mut words = self.selection.all_again();
        words.extend(self.options.words());
        words.extend(self.task.options.words(|row| !matches!(row.name, "save" | "resume")));
        words.extend(["--resume".to_owned(), path.to_string_lossy().into_owned()]);
        quoted(words)
    }

    /// Explores one test. `again` are the words that select it; it may be alone, and its time may
    /// be cut by the limit of the run.
    fn explored(
        &self,
        wanted: &Wanted<'_>,
        task: Task,
        again: Vec<String>,
        listener: &dyn Listener,
        (is_alone, is_cut): (bool, bool),
    ) -> End {
        let search = listener.search(&task, self.engine, is_alone);
        let outcome = task.check_by(self.engine, &*search);
        drop(search);
        let is_interrupted = |it: &Fault| it.kind == FaultKind::Limit(Limit::Interrupted);
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
        listener.event(&Event::Checked(&checked));
        End::Checked(checked)
    }
}

/// What tells the programs from others, by their paths.
fn fingerprints(built: &Built) -> Result<BTreeMap<PathBuf, String>, Fault> {
    let of = |program: &TestProgram| Ok((program.program.clone(), fingerprint(&program.program)?));
    built.programs.iter().map(of).collect()
}

/// Says how many tests are explored again, though a run was saved that had begun them.
fn tell_changes(
    wanted: &[Wanted<'_>],
    saved: Option<&SavedRun>,
    fingerprints: &BTreeMap<PathBuf, String>,
    listener: &dyn Listener,
) {
    let Some(saved) = saved else { return };
    let has_changed =
        |it: &&Wanted<'_>| saved.has_changed(&it.name(), &fingerprints[&it.program.program]);
    match wanted.iter().filter(has_changed).count() {
        0 => {}
        n => listener.event(&Event::ExploredAnew(n)),
    }
}
