//! When an engine has to stop.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How much an engine may take. By default, whatever it needs.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// So much time.
    pub time: Option<Duration>,
    /// So many bytes of memory, of the whole process.
    pub memory: Option<u64>,
    /// No executions with more steps than this are looked at. Engines that are not about depth ignore
    /// it.
    pub depth: Option<usize>,
    /// Makes it stop, once true.
    pub stop: Option<&'static AtomicBool>,
}
