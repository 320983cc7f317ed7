//! Runs a program under the library, and reads what came of it.

use crate::interrupt::{self, Interruptible};
use crate::memory::{Guard, Stop};
use crate::watch::{self, Watch};
use crate::watchdog::Watchdog;
use crate::{Failure, compiler, os};
use mazurka_core::{Limit, Progress, StateCoverage, Statistics, Verdict};
use mazurka_report::Style;
use serde::Deserialize;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The status with which the library says that it is wrong, and not the program.
const DEFECT: i32 = 101;

/// The status with which the loader says that it does not find a library.
const NOT_LOADED: i32 = 127;

/// What the library writes.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) statistics: Statistics,
    pub(crate) message: Option<String>,
    /// What a search that raises its bound has proved before it was stopped.
    pub(crate) proved: Option<String>,
    pub(crate) warnings: Vec<String>,
    error: Option<String>,
    pub(crate) time_s: f64,
    pub(crate) coverage: Option<StateCoverage>,
    pub(crate) used: Used,
}

impl Answer {
    /// That of a program which was ended before it could tell anything but how far it was.
    fn ended(limit: Limit, progress: Option<Progress>, time: Duration) -> Self {
        Self {
            verdict: Some(Verdict::Inconclusive(limit)),
            statistics: progress.map(|it| it.statistics).unwrap_or_default(),
            message: None,
            proved: None,
            warnings: Vec::new(),
            error: None,
            time_s: time.as_secs_f64(),
            coverage: None,
            used: Used::default(),
        }
    }
}

/// What the program has used of the machine, all executions together.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Used {
    pub(crate) threads: usize,
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// Where a program runs, if not here, where what it prints goes, and how much memory it may take.
#[derive(Debug, Default)]
pub(crate) struct Surroundings<'a> {
    pub(crate) folder: Option<&'a Path>,
    pub(crate) output: Option<File>,
    pub(crate) memory_limit: Option<u64>,
}

/// Runs a program and its arguments with options for the library; `name` is what its user calls it.
///
/// It has no standard input: the second execution would not read what the first one has read. How
/// far the search is, is shown in the style of `watch`, if there is one; what is proved on the way
/// is printed if it says so.
pub(crate) fn run_in(
    program: &[OsString],
    name: &str,
    options: &Value,
    watch: Option<(Style, Option<String>)>,
    surroundings: &Surroundings<'_>,
) -> Result<Answer, Failure> {
    if interrupt::is_interrupted() {
        return Err(interrupted(name));
    }
    let folder = folder()?;
    let path = folder.path().join("report.json");
    let (first, arguments) = program.split_first().expect("a program has a name");
    let mut command = Command::new(first);
    command.args(arguments).stdin(Stdio::null());
    command.env("MAZURKA_REPORT", &path).env("MAZURKA_OPTIONS", options.to_string());
    command.env("MAZURKA_PARENT", std::process::id().to_string());
    if let Some(folder) = surroundings.folder {
        // The story is told by us, and a panic that looks up its own takes its time.
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("RUST_BACKTRACE", "0");
        // Otherwise the harness reads in every execution what that terminal can do.
        command.env_remove("TERM");
    }
    if let Some(file) = &surroundings.output {
        let copy = || file.try_clone().map_or(Stdio::null(), Stdio::from);
        command.stdout(copy()).stderr(copy());
    }
    // An interrupt at the terminal is for this command, which passes it on.
    os::in_own_group(&mut command);
    let cannot = |error| Failure::input(format!("`{name}` cannot be started: {error}"));
    let child = Interruptible::start(&mut command).map_err(cannot)?;
    let watch = watch.map(|(style, before)| Watch::start(&path, style, before));
    let memory = surroundings.memory_limit.map(|limit| {
        let stop = Stop { ask: interrupt::ask, force: |_| interrupt::end() };
        (Guard::start(child.id(), limit, stop), limit)
    });
    let begun = Instant::now();
    let limit = options["time_limit_ms"].as_u64().map(Duration::from_millis);
    let watchdog = Watchdog::start(limit);
    let status = child.wait();
    let late = watchdog.stop();
    let status = status.map_err(cannot)?;
    drop(watch);
    let reached = memory.and_then(|(guard, limit)| guard.is_reached().then_some(limit));
    let Ok(text) = std::fs::read(&path) else {
        if let Some(limit) = reached {
            return Err(out_of_memory(&format!("`{name}`"), limit));
        }
        if let Some(limit) = late {
            let progress: Option<Progress> = watch::read(&path.with_extension("json.progress"));
            return Ok(Answer::ended(limit, progress, begun.elapsed()));
        }
        if interrupt::is_interrupted() {
            return Err(interrupted(name));
        }
        return Err(without_report(first.as_ref(), name, status));
    };
    let mut answer: Answer = serde_json::from_slice(&text).map_err(|error| {
        let text = format!("the report of `{name}` cannot be read: {error}");
        Failure::defect(text).help("was it built by another version of `mazurka cc`?")
    })?;
    if let (Some(limit), Some(verdict)) = (reached, &mut answer.verdict) {
        say_memory(verdict, limit);
    }
    match answer.error {
        None => Ok(answer),
        Some(error) if status.code() == Some(DEFECT) => Err(Failure::defect(error)),
        Some(error) => Err(Failure::input(shortened(&error))),
    }
}

/// What a program prints, if it can be found out.
pub(crate) fn printed(
    program: &[OsString],
    name: &str,
    options: &Value,
    folder: Option<&Path>,
) -> Option<String> {
    let mut file = tempfile::tempfile().ok()?;
    let output = Some(file.try_clone().ok()?);
    let surroundings = Surroundings { folder, output, memory_limit: None };
    run_in(program, name, options, None, &surroundings).ok()?;
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut text).ok()?;
    Some(escaped(&String::from_utf8_lossy(&text)))
}

/// A text in which a terminal sees nothing but text: control characters are shown as Rust writes
/// them.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            _ if letter.is_control() => shown.extend(letter.escape_default()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A search that was asked to stop because of its memory was stopped by that, and not by its user.
pub(crate) fn say_memory(verdict: &mut Verdict, limit: u64) {
    if matches!(verdict, Verdict::Inconclusive(Limit::Interrupted)) && !interrupt::is_interrupted()
    {
        *verdict = Verdict::Inconclusive(Limit::Memory(limit));
    }
}

/// One execution takes more memory than is allowed.
pub(crate) fn out_of_memory(name: &str, limit: u64) -> Failure {
    let limit = Limit::Memory(limit);
    Failure {
        status: mazurka_report::ExitStatus::Inconclusive,
        message: format!("{limit}: reached before {name} could tell what it has explored"),
        help: Some("a larger `--memory-limit` sees more"),
        is_rendered: false,
    }
}

/// The user was faster than the program.
fn interrupted(name: &str) -> Failure {
    Failure {
        status: mazurka_report::ExitStatus::Inconclusive,
        message: format!("interrupted before `{name}` could tell what it has explored"),
        help: None,
        is_rendered: false,
    }
}

/// Names of files below the current folder are those seen from there.
fn shortened(text: &str) -> String {
    match std::env::current_dir() {
        Ok(here) => text.replace(&format!("{}/", here.display()), ""),
        Err(_) => text.to_owned(),
    }
}

const PREFIX: &str = "mazurka-run-";

/// A folder that goes away with its value, and that nobody else can look into. Those of commands
/// that were killed go away, too.
pub(crate) fn folder() -> Result<tempfile::TempDir, Failure> {
    static REMOVED: Once = Once::new();
    REMOVED.call_once(remove_left_behind);
    made(&format!("{PREFIX}{}-", std::process::id()))
}

/// A folder that stays when this command ends.
pub(crate) fn lasting_folder() -> Result<PathBuf, Failure> {
    made("mazurka-debug-").map(tempfile::TempDir::keep)
}

fn made(prefix: &str) -> Result<tempfile::TempDir, Failure> {
    let made = os::make_private(tempfile::Builder::new().prefix(prefix));
    made.map_err(|error| Failure::input(format!("no temporary folder can be made: {error}")))
}

/// Removes folders of commands that no longer run: they were killed, or the machine was.
fn remove_left_behind() {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.split_once('-'));
        let process = number.and_then(|(number, _)| number.parse().ok());
        let is_mine = entry.metadata().is_ok_and(|it| it.is_dir() && os::is_mine(&it));
        if is_mine && process.is_some_and(os::has_ended) {
            // Another command may be faster.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn without_report(program: &Path, name: &str, status: ExitStatus) -> Failure {
    let end = match (status.code(), os::signal_of(status)) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    if compiler::is_linked(program) && status.code() == Some(NOT_LOADED) {
        let text = format!("`{name}` cannot load the library that it was built with");
        return Failure::input(text).help("build it again by `mazurka cc` of this version");
    }
    if compiler::is_linked(program) {
        return Failure::defect(format!("`{name}` {end} and left no report"));
    }
    if compiler::is_static(program) {
        let text = format!("`{name}` is statically linked, so nothing was explored: it {end}");
        return Failure::input(text).help("link it without `-static`, by `mazurka cc`");
    }
    let text = format!("`{name}` was not built by `mazurka cc`, so nothing was explored: it {end}");
    Failure::input(text)
        .help("compile and link it by `mazurka cc`, for instance by `make CC=\"mazurka cc\"`")
}
