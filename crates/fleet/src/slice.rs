//! A slice: one unit, explored for a while by a process of its own.
//!
//! A worker runs programs of others. So each slice is a process in a fresh folder that no other
//! slice may look into, with limits, with an environment that is the same everywhere, and as an
//! unprivileged user where the worker is root. It ends with its worker. The asker explores in the
//! same way before anything is dealt out, so that the program finds the same there.
//!
//! What the process is to do, and what came of it, are files in its folder.

use crate::SLICE;
use crate::job::Job;
use crate::record::{Hash, of_bytes, to_bytes};
use mazurka_check::native::{LIBRARY, os};
use mazurka_check::{ENGINES, Engine, Fault, FaultKind, Faults, Feature};
use mazurka_core::{Event, Verdict};
use mazurka_explore::Saved;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ORDER: &str = "order";
const ANSWER: &str = "answer";
const PROGRESS: &str = "progress";
const UNIT: &str = "unit.mzs";
const LEFT: &str = "left.mzs";
/// The program in the folder of a slice.
const PROGRAM: &str = "./program";
/// The user without rights, where the worker is root.
const NOBODY: u32 = 65534;
/// How much longer than its time a slice may take.
const GRACE: Duration = Duration::from_secs(60);
/// How large a file may be that a slice writes.
const MAX_FILE: u64 = 1 << 30;
const MAX_FILES: u64 = 1024;
const MAX_PROCESSES: u64 = 4096;

/// What a slice may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sandbox {
    /// Whom it runs as, if not as its worker.
    pub user: Option<u32>,
    /// How much memory it may use, in bytes.
    pub memory: Option<u64>,
}

impl Sandbox {
    /// An unprivileged user if this process is root, and no other limit of memory than this.
    pub fn new(memory: Option<u64>) -> Self {
        Self { user: os::is_root().then_some(NOBODY), memory }
    }
}

/// What a slice is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Explore the unit that is in the folder; or all, if there is none.
    Explore { job: Box<Job>, time: Option<Duration>, executions: Option<u64>, memory: Option<u64> },
    /// Say which libraries the program loads.
    Libraries,
}

impl Order {
    fn time(&self) -> Duration {
        match self {
            Self::Explore { time, .. } => time.unwrap_or(Duration::from_secs(600)),
            Self::Libraries => Duration::ZERO,
        }
    }
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// What is left, and what was counted, is in the folder.
    Left,
    /// It is known what the search comes to: `Some` text is why there is no end of it.
    Decided,
    /// More was learnt than the job knew.
    Void,
    Failed {
        text: String,
        is_final: bool,
    },
    Libraries(Vec<(String, Hash)>),
}

/// What came of a slice.
#[derive(Debug)]
pub(crate) enum Done {
    /// What was counted, and what is left.
    Left(Box<Saved>),
    /// Nothing is left: the search is so small that anybody may repeat it.
    Decided,
    /// More was learnt than the job knew: the search at its start that knows it, if there is one.
    Void(Option<Box<Saved>>),
    Failed {
        text: String,
        /// Whether it would come to the same elsewhere.
        is_final: bool,
    },
    Libraries(Vec<(String, Hash)>),
}

/// The program of a job as a file, with the library that it is run by.
#[derive(Debug)]
pub(crate) struct Program {
    folder: TempDir,
}

fn unwritable(error: &dyn std::fmt::Display) -> Fault {
    Fault::input(format!("there is no folder for the program: {error}"))
}

impl Program {
    /// Writes it to a folder that only slices can read.
    pub(crate) fn new(sandbox: &Sandbox, program: &[u8], library: &Path) -> Result<Self, Fault> {
        // Those of workers that were killed are removed by the next one.
        let folder = mazurka_check::native::folder()?;
        let written = fs::write(folder.path().join(PROGRAM), program)
            .and_then(|()| fs::copy(library, folder.path().join(LIBRARY)).map(drop))
            .and_then(|()| permit(&folder.path().join(PROGRAM), 0o755))
            .and_then(|()| permit(&folder.path().join(LIBRARY), 0o644))
            .and_then(|()| match sandbox.user {
                // Of the group, to be read; and not of the user, who could write.
                Some(user) => {
                    own(folder.path(), None, user).and_then(|()| permit(folder.path(), 0o750))
                }
                None => Ok(()),
            });
        written.map_err(|error| unwritable(&error))?;
        Ok(Self { folder })
    }

    /// The libraries that it loads here, but for ours.
    pub(crate) fn libraries(&self, sandbox: &Sandbox) -> Result<Vec<(String, Hash)>, Fault> {
        match Slice::start(sandbox, self, Order::Libraries, None)?.wait()? {
            Done::Libraries(libraries) => Ok(libraries),
            Done::Failed { text, .. } => Err(Fault::input(text)),
            other => Err(Fault::defect(format!("a slice has answered something else: {other:?}"))),
        }
    }
}

fn permit(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, PermissionsExt::from_mode(mode))
}

fn own(path: &Path, user: Option<u32>, group: u32) -> std::io::Result<()> {
    std::os::unix::fs::chown(path, user, Some(group))
}

/// A slice that is explored.
#[derive(Debug)]
pub(crate) struct Slice {
    child: Child,
    folder: TempDir,
    begun: Instant,
    time: Duration,
}

impl Slice {
    /// Starts one.
    pub(crate) fn start(
        sandbox: &Sandbox,
        program: &Program,
        order: Order,
        unit: Option<&Saved>,
    ) -> Result<Self, Fault> {
        let private = PermissionsExt::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix("slice-").permissions(private).tempdir_in(&program.folder);
        let folder = folder.map_err(|error| unwritable(&error))?;
        let (path, from) = (folder.path(), program.folder.path());
        let time = order.time();
        let written = fs::write(path.join(ORDER), to_bytes(&order))
            .and_then(|()| unit.map_or(Ok(()), |unit| unit.write(&path.join(UNIT))))
            .and_then(|()| os::link(&from.join(PROGRAM), &path.join(PROGRAM)))
            .and_then(|()| os::link(&from.join(LIBRARY), &path.join(LIBRARY)))
            .and_then(|()| match sandbox.user {
                Some(user) => own(path, Some(user), user),
                None => Ok(()),
            });
        written.map_err(|error| unwritable(&error))?;
        let mut command = Command::new(this_command());
        command.arg(SLICE).arg(std::process::id().to_string()).current_dir(path).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("LD_LIBRARY_PATH", ".").env("TMPDIR", path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        os::in_own_group(&mut command);
        if let Some(user) = sandbox.user {
            use std::os::unix::process::CommandExt as _;
            command.uid(user).gid(user);
        }
        let child = command
            .spawn()
            .map_err(|error| Fault::input(format!("a slice cannot be started: {error}")))?;
        Ok(Self { child, folder, begun: Instant::now(), time })
    }

    /// How many executions it has taken so far.
    pub(crate) fn executions(&self) -> u64 {
        let text = self.read(PROGRESS).unwrap_or_default();
        String::from_utf8_lossy(&text).trim().parse().unwrap_or(0)
    }

    /// What came of it, once it has ended.
    pub(crate) fn poll(&mut self) -> Result<Option<Done>, Fault> {
        match self.child.try_wait() {
            Ok(Some(status)) => self.done(status).map(Some),
            Ok(None) if self.begun.elapsed() >= self.time + GRACE => {
                let _ = self.child.kill();
                let text = format!("a slice of {:?} has not ended after {GRACE:?} more", self.time);
                Ok(Some(Done::Failed { text, is_final: false }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(Fault::defect(format!("a slice is lost: {error}"))),
        }
    }

    /// Waits for it.
    pub(crate) fn wait(mut self) -> Result<Done, Fault> {
        loop {
            if let Some(done) = self.poll()? {
                return Ok(done);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn done(&self, status: ExitStatus) -> Result<Done, Fault> {
        let failed = |text: String| Ok(Done::Failed { text, is_final: false });
        let Some(answer) = self.read(ANSWER).and_then(|bytes| of_bytes(&bytes)) else {
            return failed(format!("a slice has ended without an answer ({status})"));
        };
        let saved = |name: &Path| {
            let bytes = self.read(&name.to_string_lossy())?;
            Saved::from_bytes(&bytes).ok().map(Box::new)
        };
        Ok(match answer {
            Answer::Left => match saved(Path::new(LEFT)) {
                Some(saved) => Done::Left(saved),
                None => return failed("what a slice has left cannot be read".to_owned()),
            },
            Answer::Decided => Done::Decided,
            Answer::Void => Done::Void(saved(&Saved::lesson_path(Path::new(LEFT)))),
            Answer::Failed { text, is_final } => Done::Failed { text, is_final },
            Answer::Libraries(libraries) => Done::Libraries(libraries),
        })
    }

    /// Reads a file of the folder, and no other one that a program may have put a link to there.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.folder.path().join(name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        if is_file { fs::read(path).ok() } else { None }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This command, also where the user of a slice may not look into its folder.
fn this_command() -> PathBuf {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { own } else { std::env::current_exe().unwrap_or(own) }
}

/// Explores the slice in the current folder, for the worker that is process `parent`.
pub fn run_slice(parent: u32) -> Result<(), Fault> {
    limit(parent)?;
    let cannot = |name: &str, error: &dyn std::fmt::Display| {
        Fault::input(format!("`{name}` of a slice: {error}"))
    };
    let order = fs::read(ORDER).map_err(|error| cannot(ORDER, &error))?;
    let order = of_bytes(&order).ok_or_else(|| cannot(ORDER, &"it is of another version"))?;
    let answer = match order {
        Order::Explore { job, time, executions, memory } => explore(&job, time, executions, memory),
        Order::Libraries => libraries().map_or_else(
            |error| Answer::Failed { text: error, is_final: false },
            Answer::Libraries,
        ),
    };
    let part = format!("{ANSWER}.part");
    fs::write(&part, to_bytes(&answer))
        .and_then(|()| fs::rename(&part, ANSWER))
        .map_err(|error| cannot(ANSWER, &error))
}

/// The limits of this process and those that it starts.
fn limit(parent: u32) -> Result<(), Fault> {
    use rustix::process::{
        Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
    };
    let cannot = |error: rustix::io::Errno| Fault::input(format!("a slice has no limits: {error}"));
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(cannot)?;
    if getppid().map(|it| it.as_raw_nonzero().get().unsigned_abs()) != Some(parent) {
        return Err(Fault::input("the worker of this slice has ended"));
    }
    rustix::thread::set_no_new_privs(true).map_err(cannot)?;
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, MAX_FILE),
        (Resource::Nofile, MAX_FILES),
        (Resource::Nproc, MAX_PROCESSES),
    ];
    for (resource, most) in limits {
        let now = rustix::process::getrlimit(resource).maximum;
        let most = Some(now.map_or(most, |now| now.min(most)));
        setrlimit(resource, Rlimit { current: most, maximum: most }).map_err(cannot)?;
    }
    Ok(())
}

fn explore(
    job: &Job,
    time: Option<Duration>,
    executions: Option<u64>,
    memory: Option<u64>,
) -> Answer {
    let failed = |faults: Faults| {
        if faults.iter().any(|fault| fault.kind == FaultKind::Void) {
            return Answer::Void;
        }
        let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
        Answer::Failed { text: texts.join("; "), is_final: false }
    };
    let mut task = match job.task(Path::new(PROGRAM)) {
        Ok(task) => task,
        Err(fault) => return failed(fault.into()),
    };
    let is_resumed = Path::new(UNIT).exists();
    // A search at its start that knows something is no unit: it may come to its end at once.
    let is_unit = Saved::read(Path::new(UNIT)).is_ok_and(|saved| !saved.is_at_start());
    task.options.time_limit = time;
    task.options.max_executions = executions;
    task.options.memory_limit = memory;
    task.options.resume = is_resumed.then(|| absolute(UNIT));
    task.options.save = Some(absolute(LEFT));
    let listen = |event: &Event| {
        if let Event::Progress(now) = event {
            // The worker reads it now and then.
            let part = format!("{PROGRESS}.part");
            let text = now.statistics.executions.to_string();
            let _ = fs::write(&part, text).and_then(|()| fs::rename(&part, PROGRESS));
        }
    };
    let runs = |it: &&&dyn Engine| it.supports().features.contains(&Feature::Processes);
    let native = ENGINES.iter().find(runs).expect("an engine runs programs");
    let outcome = match native.check(&task, &listen) {
        Ok(outcome) => outcome,
        Err(faults) => return failed(faults),
    };
    match (Path::new(LEFT).exists(), &outcome.verdict) {
        (true, _) => Answer::Left,
        (false, Verdict::Holds(_) | Verdict::Violated(_)) if !is_unit => Answer::Decided,
        (false, verdict) => {
            let limit = match verdict {
                Verdict::Inconclusive(limit) => limit.to_string(),
                other => other.name().to_owned(),
            };
            let text = format!("a slice was left in the middle of an execution: {limit}");
            Answer::Failed { text, is_final: false }
        }
    }
}

/// Files are named so that they are found from wherever the program goes.
fn absolute(name: &str) -> PathBuf {
    std::env::current_dir().unwrap_or_default().join(name)
}

/// The libraries that the loader finds for the program, as `ldd` does.
fn libraries() -> Result<Vec<(String, Hash)>, String> {
    let output = Command::new(PROGRAM).env("LD_TRACE_LOADED_OBJECTS", "1").output();
    let output = output.map_err(|error| format!("the program cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut libraries = Vec::new();
    for line in text.lines() {
        // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, or a path alone for the loader.
        let line = line.trim();
        let (name, path) = line.split_once(" => ").unwrap_or((line, line));
        let path = path.rsplit_once(" (").map_or(path, |(path, _)| path);
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        if name.ends_with(LIBRARY) || !path.starts_with('/') && !path.contains("not found") {
            continue;
        }
        match fs::read(path) {
            Ok(bytes) => libraries.push((name.to_owned(), Hash::of(&bytes))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(format!("the program needs `{name}`, which is not here"));
            }
            Err(error) => return Err(format!("`{path}` cannot be read: {error}")),
        }
    }
    libraries.sort();
    Ok(libraries)
}
