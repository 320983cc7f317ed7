//! Limits of engines: time, memory, interrupts.

use mazurka_core::{Gauge, Limit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much an engine may take. By default, whatever it needs.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// So much time.
    pub time: Option<Duration>,
    /// So many bytes of memory, of the whole process.
    pub memory: Option<u64>,
    /// No executions with more steps than this are looked at. Engines that are not about depth
    /// ignore it.
    pub depth: Option<usize>,
    /// Bounded search looks at no depth before it is through with all smaller ones, however long
    /// that takes: what it finds has the fewest steps.
    pub in_order: bool,
    /// Makes it stop, once true.
    pub stop: Option<&'static AtomicBool>,
    /// Where the engine writes how far it is.
    pub gauge: Option<Arc<Gauge>>,
}

/// Limits that count from now.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    limits: Limits,
    start: Instant,
    /// Makes it stop, once true.
    cancel: Option<Arc<AtomicBool>>,
}

impl Watch {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), start: Instant::now(), cancel: None }
    }

    /// The same limits for an engine that also stops once the flag is true.
    pub(crate) fn until(&self, cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Some(cancel.clone()), ..self.clone() }
    }

    /// How many steps executions may have.
    pub(crate) fn depth(&self) -> usize {
        self.limits.depth.unwrap_or(usize::MAX)
    }

    /// Whether no depth may be looked at before all smaller ones.
    pub(crate) fn is_in_order(&self) -> bool {
        self.limits.in_order
    }

    /// How many bytes the process may take.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.limits.memory
    }

    /// Nothing, or the limit that is reached.
    pub(crate) fn look(&self) -> Result<(), Limit> {
        self.limit().map_or(Ok(()), Err)
    }

    /// The limit that is reached. Cheap enough to be asked often.
    pub(crate) fn limit(&self) -> Option<Limit> {
        let Limits { time, memory, stop, .. } = &self.limits;
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if stop.is_some_and(is_set) || self.cancel.as_deref().is_some_and(is_set) {
            return Some(Limit::Interrupted);
        }
        if let Some(limit) = time.filter(|&limit| self.start.elapsed() >= limit) {
            return Some(Limit::Time(limit));
        }
        memory.filter(|&limit| resident().is_some_and(|bytes| bytes > limit)).map(Limit::Memory)
    }
}

/// The bytes of this process that are in memory now.
fn resident() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}
