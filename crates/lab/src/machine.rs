//! What the machine says of this process: CPU time and resident memory, from `/proc`.

use std::fs;
use std::time::Duration;

/// The CPU time of all threads of this process, user and system, so far.
///
/// `None` where there is no `/proc`.
pub fn cpu_time() -> Option<Duration> {
    Some(stat(11)? + stat(12)?)
}

/// The CPU time, user alone, of all programs that this process has started and that have ended.
pub fn user_time_of_children() -> Option<Duration> {
    stat(13)
}

/// A time of this process, by its place behind the name of the program.
fn stat(field: usize) -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may contain anything.
    let ticks: u64 = text.rsplit_once(')')?.1.split_whitespace().nth(field)?.parse().ok()?;
    // A tick of this file is a hundredth of a second on every Linux there is.
    Some(Duration::from_millis(ticks * 10))
}

/// The largest resident set of this process so far, in bytes.
pub fn peak_memory() -> Option<u64> {
    status("VmHWM:")
}

/// The resident set of this process, in bytes.
pub fn memory() -> Option<u64> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
