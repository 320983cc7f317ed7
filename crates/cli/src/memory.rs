//! `--memory-limit`: looks at how much memory a process has in use, and asks it to stop.
//!
//! The resident set counts, not the address space: the native library reserves much more than it uses.
//! A search that is asked to stop ends its execution first. One that takes a quarter more than it may
//! before that has come to an end is not waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A thread that looks at a process.
pub(crate) struct Guard {
    is_reached: Arc<AtomicBool>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How the process is asked to stop, and how it is stopped.
pub(crate) struct Stop {
    pub(crate) ask: fn(),
    pub(crate) force: fn(limit: u64),
}

impl Guard {
    /// Looks at the process with this number until the value goes away.
    pub(crate) fn start(process: u32, limit: u64, stop: Stop) -> Self {
        let is_reached = Arc::new(AtomicBool::new(false));
        let (end, is_over) = channel();
        let reached = is_reached.clone();
        let thread = std::thread::spawn(move || {
            while is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let used = resident(process).unwrap_or(0);
                if used >= limit && !reached.swap(true, Ordering::Relaxed) {
                    (stop.ask)();
                }
                if used >= limit.saturating_add(limit / 4) {
                    (stop.force)(limit);
                }
            }
        });
        Self { is_reached, end: Some(end), thread: Some(thread) }
    }

    /// Whether the limit was reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

/// The bytes of a process that are in memory now.
fn resident(process: u32) -> Option<u64> {
    field(process, "VmRSS:")
}

/// Whether this system tells how much memory a process has in use.
pub(crate) fn is_measured() -> bool {
    resident(std::process::id()).is_some()
}

/// The most that this process has had in memory.
pub(crate) fn peak() -> Option<u64> {
    field(std::process::id(), "VmHWM:")
}

fn field(process: u32, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
