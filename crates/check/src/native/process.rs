//! Runs a program under the library, looks at it meanwhile, and reads what came of it.
//!
//! The library looks at the time limit and at interrupts itself, and tells what it has learnt. It
//! cannot do so if the program has destroyed it, or holds it up where it must not be left. So a
//! thread waits a little longer than the limit, and no more than that after the program was asked
//! to stop; then the program is ended, and what was told last is all that is known.

use super::{compiler, os};
use crate::engine::Listener;
use crate::memory::resident;
use crate::{Fault, Task};
use mazurka_core::{Event, Limit, Verdict};
use mazurka_protocol::{
    Failed, PARENT, Progress, ProtocolError, REPORT, REQUEST, Replayed, Reply, Report, Request,
    progress_path,
};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The status with which the loader says that it does not find a library.
const NOT_LOADED: i32 = 127;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const TELL_EVERY: Duration = Duration::from_millis(250);
/// How long the program has to write its report.
const GRACE: Duration = Duration::from_millis(850);

/// A program that is to be run for a task.
pub(crate) struct Process<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [OsString],
    /// What its user calls it.
    pub(crate) name: &'a str,
    /// Where it runs, if not here.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) task: &'a Task,
}

impl Process<'_> {
    /// Explores its schedules.
    pub(crate) fn explore(
        &self,
        request: &Request,
        listener: &dyn Listener,
    ) -> Result<Report, Fault> {
        match self.ask(request, listener, None)? {
            Reply::Explored(report) => Ok(*report),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Lets it follow the schedule of a request.
    pub(crate) fn replay(&self, request: &Request) -> Result<Replayed, Fault> {
        // Who asks for the accesses does not ask for what is printed.
        let quiet = request.run.tells_atomics.then(|| tempfile::tempfile().ok()).flatten();
        match self.ask(request, &(), quiet.as_ref())? {
            Reply::Replayed(replayed) => Ok(replayed),
            // It was ended.
            Reply::Explored(_) if self.task.is_stopped() => Err(interrupted(self.name)),
            other => Err(self.unexpected(&other)),
        }
    }

    /// What it prints while it follows a schedule, if that can be found out.
    pub(crate) fn printed(&self, request: &Request) -> Option<String> {
        let mut file = tempfile::tempfile().ok()?;
        let output = file.try_clone().ok()?;
        self.ask(request, &(), Some(&output)).ok()?;
        let mut text = Vec::new();
        file.rewind().ok()?;
        file.read_to_end(&mut text).ok()?;
        Some(escaped(&String::from_utf8_lossy(&text)))
    }

    fn unexpected(&self, reply: &Reply) -> Fault {
        let name = self.name;
        Fault::defect(format!("`{name}` has answered something else than it was asked: {reply:?}"))
    }

    /// Runs it. It has no standard input: the second execution would not read what the first one
    /// has read.
    fn ask(
        &self,
        request: &Request,
        listener: &dyn Listener,
        output: Option<&File>,
    ) -> Result<Reply, Fault> {
        let name = self.name;
        if self.task.is_stopped() {
            return Err(interrupted(name));
        }
        let folder = folder()?;
        let (path, asked) = (folder.path().join("report.json"), folder.path().join("request.json"));
        mazurka_protocol::write(&asked, request).map_err(|error| {
            Fault::input(format!("`{}` cannot be written: {error}", asked.display()))
        })?;
        let (first, arguments) = self.words.split_first().expect("a program has a name");
        let mut command = Command::new(first);
        command.args(arguments).stdin(Stdio::null());
        command.env(REPORT, &path).env(REQUEST, &asked);
        command.env(PARENT, std::process::id().to_string());
        if let Some(folder) = self.folder {
            // The story is told by us, and a panic that looks up its own takes its time.
            command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
            // Otherwise the harness reads in every execution what that terminal can do.
            command.env("RUST_BACKTRACE", "0").env_remove("TERM");
        }
        if let Some(file) = output {
            let copy = || file.try_clone().map_or(Stdio::null(), Stdio::from);
            command.stdout(copy()).stderr(copy());
        }
        // An interrupt at the terminal is for this command, which passes it on.
        os::in_own_group(&mut command);
        let cannot = |error| Fault::input(format!("`{name}` cannot be started: {error}"));
        let mut child = command.spawn().map_err(cannot)?;
        let begun = Instant::now();
        let time_limit = request.options.time_limit;
        let watch = Watch { process: child.id(), task: self.task, time_limit, report: &path };
        let (end, is_over) = channel::<()>();
        let (status, seen) = std::thread::scope(|scope| {
            let watching = scope.spawn(move || watch.run(&is_over, listener));
            let status = child.wait();
            drop(end);
            (status, watching.join().expect("the watch does not panic"))
        });
        let status = status.map_err(cannot)?;
        let mut reply = match mazurka_protocol::read(&path) {
            Ok(reply) => reply,
            Err(ProtocolError::Unreadable { .. }) => {
                if let Some(limit) = seen.memory {
                    return Err(out_of_memory(&format!("`{name}`"), limit));
                }
                if let Some(limit) = seen.late {
                    return Ok(ended(limit, &path, begun.elapsed()));
                }
                if self.task.is_stopped() {
                    return Err(interrupted(name));
                }
                return Err(without_report(first.as_ref(), name, status));
            }
            Err(error @ ProtocolError::OtherVersion(_)) => return Err(other_version(name, &error)),
            Err(error) => return Err(Fault::defect(format!("the report of `{name}`: {error}"))),
        };
        if let (Some(limit), Reply::Explored(report)) = (seen.memory, &mut reply)
            && report.verdict == Verdict::Inconclusive(Limit::Interrupted)
        {
            report.verdict = Verdict::Inconclusive(Limit::Memory(limit));
        }
        match reply {
            Reply::Failed(Failed::Defect(error)) => Err(Fault::defect(error)),
            Reply::Failed(Failed::Void) => Err(Fault::void()),
            // A schedule that was left in the middle is none that could be followed.
            Reply::Failed(Failed::WrongInput(_)) if self.task.is_stopped() => {
                Err(interrupted(name))
            }
            Reply::Failed(Failed::WrongInput(error)) => Err(Fault::input(shortened(&error))),
            reply => Ok(reply),
        }
    }
}

/// What looks at a program while it runs.
struct Watch<'a> {
    process: u32,
    task: &'a Task,
    time_limit: Option<Duration>,
    /// Where the report will be.
    report: &'a Path,
}

/// Why a program was asked to stop, or ended.
#[derive(Default)]
struct Seen {
    /// It took more memory than this, and nothing else had asked it to stop.
    memory: Option<u64>,
    /// It has not ended in time.
    late: Option<Limit>,
}

impl Watch<'_> {
    /// Looks until the program has ended.
    fn run(&self, is_over: &Receiver<()>, listener: &dyn Listener) -> Seen {
        let (begun, mut told) = (Instant::now(), Instant::now());
        let mut asked: Option<Instant> = None;
        let mut n_proved = 0;
        let mut seen = Seen::default();
        while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if asked.is_none() && self.task.is_stopped() {
                asked = Some(self.ask_to_stop());
            }
            if let Some(limit) = self.task.options.memory_limit {
                let used = resident(self.process).unwrap_or(0);
                if used >= limit && asked.is_none() {
                    (asked, seen.memory) = (Some(self.ask_to_stop()), Some(limit));
                }
                if used >= limit.saturating_add(limit / 4) {
                    os::send(self.process, os::Signal::Kill);
                }
            }
            let is_late = |limit: Duration| begun.elapsed() >= limit.saturating_add(GRACE);
            let is_slow = asked.is_some_and(|since| since.elapsed() >= GRACE);
            if let Some(limit) = self.time_limit.filter(|&limit| is_late(limit)) {
                seen.late = Some(Limit::Time(limit));
            } else if is_slow {
                seen.late = Some(Limit::Interrupted);
            }
            if seen.late.is_some() {
                os::send(self.process, os::Signal::Kill);
            }
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                self.tell(&mut n_proved, true, listener);
            }
        }
        self.tell(&mut n_proved, false, listener);
        seen
    }

    fn ask_to_stop(&self) -> Instant {
        os::send(self.process, os::Signal::Interrupt);
        Instant::now()
    }

    /// Tells what the program has written beside its report.
    fn tell(&self, n_proved: &mut usize, is_on: bool, listener: &dyn Listener) {
        let Ok(Progress { search, proved }) = mazurka_protocol::read(&progress_path(self.report))
        else {
            return;
        };
        for coverage in proved.iter().skip(*n_proved) {
            listener.event(&Event::Proved(coverage.clone()));
        }
        *n_proved = proved.len().max(*n_proved);
        if let Some(now) = search.filter(|_| is_on) {
            listener.event(&Event::Progress(now));
        }
    }
}

/// The library in a program is older or newer than this command.
fn other_version(name: &str, error: &ProtocolError) -> Fault {
    Fault::input(format!("`{name}`: {error}"))
        .help("build the program again by `mazurka cc` of this version")
}

/// The reply of a program which was ended before it could tell anything but how far it was.
fn ended(limit: Limit, report: &Path, time: Duration) -> Reply {
    let progress: Option<Progress> = mazurka_protocol::read(&progress_path(report)).ok();
    let search = progress.and_then(|progress| progress.search);
    let statistics = search.map(|search| search.statistics).unwrap_or_default();
    Reply::Explored(Box::new(Report::new(Verdict::Inconclusive(limit), statistics, time)))
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

/// One execution takes more memory than is allowed.
pub fn out_of_memory(name: &str, limit: u64) -> Fault {
    let limit = Limit::Memory(limit);
    let text = format!("{limit}: reached before {name} could tell what it has explored");
    Fault::limit(limit, text).help("a larger `--memory-limit` sees more")
}

/// The user was faster than the program.
pub(crate) fn interrupted(name: &str) -> Fault {
    let text = format!("interrupted before `{name}` could tell what it has explored");
    Fault::limit(Limit::Interrupted, text)
}

/// Names of files below the current folder are those seen from there.
fn shortened(text: &str) -> String {
    match std::env::current_dir() {
        Ok(here) => text.replace(&format!("{}/", here.display()), ""),
        Err(_) => text.to_owned(),
    }
}

const PREFIX: &str = "mazurka-run-";

/// A folder that goes away with its value, and that no other user can look into. Those of commands
/// that were killed go away, too.
pub fn folder() -> Result<tempfile::TempDir, Fault> {
    remove_left_behind();
    made(&format!("{PREFIX}{}-", std::process::id()))
}

/// A folder that stays when this command ends.
pub fn lasting_folder() -> Result<PathBuf, Fault> {
    made("mazurka-debug-").map(tempfile::TempDir::keep)
}

fn made(prefix: &str) -> Result<tempfile::TempDir, Fault> {
    let made = os::make_private(tempfile::Builder::new().prefix(prefix));
    made.map_err(|error| Fault::input(format!("no temporary folder can be made: {error}")))
}

/// Removes folders of commands that no longer run: they were killed, or the machine was. Once is
/// enough.
pub(crate) fn remove_left_behind() {
    static REMOVED: Once = Once::new();
    REMOVED.call_once(remove_all_left_behind);
}

fn remove_all_left_behind() {
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

fn without_report(program: &Path, name: &str, status: ExitStatus) -> Fault {
    let end = match (status.code(), os::signal_of(status)) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    if compiler::is_linked(program) && status.code() == Some(NOT_LOADED) {
        let text = format!("`{name}` cannot load the library that it was built with");
        return Fault::input(text).help("build it again by `mazurka cc` of this version");
    }
    if compiler::is_linked(program) {
        return Fault::defect(format!("`{name}` {end} and left no report"));
    }
    if compiler::is_static(program) {
        let text = format!("`{name}` is statically linked, so nothing was explored: it {end}");
        return Fault::input(text).help("link it without `-static`, by `mazurka cc`");
    }
    let text = format!("`{name}` was not built by `mazurka cc`, so nothing was explored: it {end}");
    Fault::input(text)
        .help("compile and link it by `mazurka cc`, for instance by `make CC=\"mazurka cc\"`")
}
