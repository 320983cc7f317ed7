//! Writes reply and progress for the command that started the program.

use crate::coroutine;
use crate::syscall;
use mazurka_core::{Coverage, Statistics, Verdict};
use mazurka_protocol::{Failed, Progress, Reply, Used, progress_path};
use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What this process has used until now, of a program with so many threads.
pub(crate) fn used_so_far(threads: usize) -> Used {
    // SAFETY: the kernel fills in what is zero before.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        let micros = time.tv_sec * 1_000_000 + time.tv_usec;
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    };
    let (user, system) = (time(usage.ru_utime), time(usage.ru_stime));
    Used { threads, peak_memory: peak_memory(), user, system }
}

/// From `/proc`: what `getrusage` says includes the process that started this one.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

static PATH: OnceLock<PathBuf> = OnceLock::new();
static PROGRESS: LazyLock<Mutex<Progress>> = LazyLock::new(Mutex::default);
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Says where the reply goes.
pub(crate) fn set_path(path: OsString) {
    PATH.get_or_init(|| path.into());
}

/// Writes the reply, all of it or nothing.
pub(crate) fn write(reply: &Reply) -> std::io::Result<()> {
    let Some(path) = PATH.get() else { return Ok(()) };
    mazurka_protocol::write(path, reply)?;
    IS_WRITTEN.store(true, Ordering::Relaxed);
    Ok(())
}

/// The exit status of a process that has replied so.
pub(crate) fn status(reply: &Reply) -> i32 {
    match reply {
        Reply::Explored(report) => match report.verdict {
            Verdict::Holds(_) => 0,
            Verdict::Violated(_) => 1,
            _ => 3,
        },
        Reply::Replayed(replayed) => i32::from(replayed.violation.is_some()),
        Reply::Failed(Failed::WrongInput(_) | Failed::Void) => 2,
        Reply::Failed(Failed::Defect(_)) => 101,
    }
}

/// The numbers that were told last.
pub(crate) fn last_numbers() -> Statistics {
    let progress = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
    progress.search.as_ref().map(|search| search.statistics).unwrap_or_default()
}

/// Writes how far the search is, beside where the reply will be. Nobody may be looking.
pub(crate) fn write_progress(search: &mazurka_core::Progress) {
    change_progress(|progress| {
        progress.search = Some(search.clone());
        true
    });
}

/// Adds what is proved so far to that. A search that begins again proves it again, and that is no
/// news.
pub(crate) fn write_proved(coverage: &Coverage) {
    change_progress(|progress| {
        let is_new = !progress.proved.contains(coverage);
        if is_new {
            progress.proved.push(coverage.clone());
        }
        is_new
    });
}

/// Writes the progress if `change` says that there is something new.
fn change_progress(change: impl FnOnce(&mut Progress) -> bool) {
    let mut progress = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
    if let (true, Some(path)) = (change(&mut progress), PATH.get()) {
        let _ = mazurka_protocol::write(&progress_path(path), &*progress);
    }
}

/// Ends the process because of a defect of our own; the report says which.
pub(crate) fn die(error: &str) -> ! {
    end(Failed::Defect(error.to_owned()))
}

/// Ends the process because of something that the program does; the report says what.
pub(crate) fn end_without_verdict(error: &str) -> ! {
    end(Failed::WrongInput(error.to_owned()))
}

fn end(failed: Failed) -> ! {
    let reply = Reply::Failed(failed.clone());
    let status = status(&reply);
    if !IS_WRITTEN.swap(true, Ordering::Relaxed) {
        let mut written = Ok(());
        // A thread of the program may not write files.
        coroutine::as_host(|| written = write(&reply));
        if written.is_err() {
            let text = CString::new(format!("mazurka: {failed}\n")).unwrap_or_default();
            // SAFETY: writes a text.
            unsafe { libc::write(2, text.as_ptr().cast(), text.as_bytes().len()) };
        }
    }
    // SAFETY: ends the process at once: nothing in it can be relied on.
    unsafe { syscall::kernel(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    unreachable!("the process has ended")
}
