//! `--memory-limit`: looks at how much memory a process has in use, and asks it to stop.
//!
//! The resident set counts, not the address space: the native library reserves much more than it
//! uses. A search that is asked to stop ends its execution first. One that takes a quarter more
//! than it may before that has come to an end is not waited for: its listener is told.

use crate::engine::Listener;
use crate::task::Task;
use mazurka_core::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What came of a search that was watched.
pub(crate) struct Watched<T> {
    /// What the search says.
    pub(crate) result: T,
    /// The limit, if it was reached before anything else asked the search to stop.
    pub(crate) reached: Option<u64>,
}

/// Runs a search in this process that stops once the flag is set which it is given: when the task
/// is to stop, or takes more memory than it may.
pub(crate) fn watched<T>(
    task: &Task,
    listener: &dyn Listener,
    search: impl FnOnce(&AtomicBool) -> T,
) -> Watched<T> {
    let (stop, is_reached) = (AtomicBool::new(task.is_stopped()), AtomicBool::new(false));
    let (end, is_over) = channel::<()>();
    let (stop, is_reached_by, limit) = (&stop, &is_reached, task.options.memory_limit);
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut is_told = false;
            while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if task.is_stopped() {
                    stop.store(true, Ordering::Relaxed);
                }
                let Some(limit) = limit else { continue };
                let used = resident(std::process::id()).unwrap_or(0);
                if used >= limit && !stop.swap(true, Ordering::Relaxed) {
                    is_reached_by.store(true, Ordering::Relaxed);
                }
                if used >= limit.saturating_add(limit / 4) && !is_told {
                    is_told = true;
                    listener.event(&Event::OutOfMemory { limit });
                }
            }
        });
        let result = search(stop);
        drop(end);
        result
    });
    Watched { result, reached: limit.filter(|_| is_reached.load(Ordering::Relaxed)) }
}

/// The bytes of a process, and of those that it has started, that are in memory now. What they
/// share is counted for each.
pub fn resident(process: u32) -> Option<u64> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(path).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|it| it.parse().ok());
    let more: u64 = children.filter_map(|child| field(child, "VmRSS:")).sum();
    field(process, "VmRSS:").map(|own| own + more)
}

/// Whether this system tells how much memory a process has in use.
pub fn is_measured() -> bool {
    resident(std::process::id()).is_some()
}

/// The most that this process has had in memory.
pub fn peak() -> Option<u64> {
    field(std::process::id(), "VmHWM:")
}

fn field(process: u32, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
