//! What is written for whoever started the program.

use crate::coroutine;
use crate::syscall;
use mazurka_core::{Progress, StateCoverage, Statistics, Verdict};
use mazurka_explore::TreeSize;
use serde::Serialize;
use std::ffi::CString;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// The exit status of a defect of Mazurka.
const DEFECT: i32 = 101;
/// That of a program which cannot be explored.
const WRONG_INPUT: i32 = 2;

/// The answer, as it is written.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// What was found or proved; nothing if there is an error.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) statistics: Statistics,
    /// The coverage, the violation or the limit as a sentence.
    pub(crate) message: Option<String>,
    /// What a search that raises its bound has proved before it was stopped.
    pub(crate) proved: Option<String>,
    /// What whoever asked may not have expected.
    pub(crate) warnings: Vec<String>,
    /// Why there is no verdict.
    pub(crate) error: Option<String>,
    /// How long the search took.
    pub(crate) time_s: f64,
    /// How often the search began again because memory turned out to be divided otherwise.
    pub(crate) restarts: u32,
    /// How much memory the execution tree of best-first search took.
    pub(crate) tree: Option<TreeSize>,
    /// How many states were visited, if that was asked for.
    pub(crate) coverage: Option<StateCoverage>,
    /// What the process has used by now.
    pub(crate) used: Used,
}

/// What a process has used of the machine.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Used {
    /// Threads that the program had, over all executions.
    pub(crate) threads: usize,
    /// The largest resident set.
    peak_memory_bytes: Option<u64>,
    /// Time of the processor, in the program and in the system on its behalf.
    user_s: f64,
    system_s: f64,
}

impl Used {
    /// By this process, until now.
    pub(crate) fn so_far(threads: usize) -> Self {
        // SAFETY: the kernel fills in what is zero before.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Self {
            threads,
            peak_memory_bytes: peak_memory(),
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
        }
    }
}

/// From `/proc`: what `getrusage` says includes whoever started this process.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

static PATH: OnceLock<String> = OnceLock::new();
static PROVED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LAST: LazyLock<Mutex<Statistics>> = LazyLock::new(Mutex::default);
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Says where the report goes.
pub(crate) fn set_path(path: String) {
    PATH.get_or_init(|| path);
}

/// Writes the report, all of it or nothing.
pub(crate) fn write(report: &Report) -> std::io::Result<()> {
    let Some(path) = PATH.get() else { return Ok(()) };
    write_whole(Path::new(path), report)?;
    IS_WRITTEN.store(true, Ordering::Relaxed);
    Ok(())
}

/// The numbers that were told last.
pub(crate) fn last_numbers() -> Statistics {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes how far the search is, beside where the report will be. Nobody may be looking.
pub(crate) fn write_progress(progress: &Progress) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = progress.statistics;
    if let Some(path) = PATH.get() {
        let _ = write_whole(Path::new(&format!("{path}.progress")), progress);
    }
}

/// Writes what is proved so far, beside where the report will be, one sentence after the other. A
/// search that begins again proves it again, and that is no news.
pub(crate) fn write_proved(sentence: String) {
    let Some(path) = PATH.get() else { return };
    let mut proved = PROVED.lock().unwrap_or_else(PoisonError::into_inner);
    if !proved.contains(&sentence) {
        proved.push(sentence);
        let _ = write_whole(Path::new(&format!("{path}.proved")), &*proved);
    }
}

fn write_whole(path: &Path, value: &impl Serialize) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // An execution of many steps is many small pieces.
    let mut file = BufWriter::new(std::fs::File::create(&part)?);
    serde_json::to_writer(&mut file, value)?;
    file.flush()?;
    std::fs::rename(&part, path)
}

/// Ends the process because of a defect of our own; the report says which.
pub(crate) fn die(error: &str) -> ! {
    end(error, DEFECT)
}

/// Ends the process because of something that the program does; the report says what.
pub(crate) fn end_without_verdict(error: &str) -> ! {
    end(error, WRONG_INPUT)
}

fn end(error: &str, status: i32) -> ! {
    if !IS_WRITTEN.swap(true, Ordering::Relaxed) {
        let report = Report { error: Some(error.to_owned()), ..Report::default() };
        let mut written = Ok(());
        // A thread of the program may not write files.
        coroutine::as_host(|| written = write(&report));
        if written.is_err() {
            let text = CString::new(format!("mazurka: {error}\n")).unwrap_or_default();
            // SAFETY: writes a text.
            unsafe { libc::write(2, text.as_ptr().cast(), text.as_bytes().len()) };
        }
    }
    // SAFETY: ends the process at once: nothing in it can be relied on.
    unsafe { syscall::kernel(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    unreachable!("the process has ended")
}
