//! Deadlines: when a search has to stop, looked at between executions and within them.

use mazurka_core::Limit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many steps are taken between two looks at the clock.
pub(crate) const LOOK_EVERY: u32 = 128;
/// An execution that is in progress when the time is over may go on for so long: what was done of
/// it so far is not done again then, and not every search can be resumed in the middle of one.
const GRACE: Duration = Duration::from_millis(100);
/// So much later than its limit, a search no longer looks up what things are called.
const TO_TELL: Duration = Duration::from_millis(100);

/// A point in time, and a flag that ends a search before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadline<'a> {
    flag: Option<&'a AtomicBool>,
    end: Option<(Instant, Duration)>,
    /// Whether an execution is left at once.
    is_strict: bool,
}

impl<'a> Deadline<'a> {
    /// So much time from `begun` on, unless the flag is set before.
    pub(crate) fn new(
        begun: Instant,
        limit: Option<Duration>,
        flag: Option<&'a AtomicBool>,
    ) -> Self {
        let end = limit.and_then(|limit| begun.checked_add(limit).map(|end| (end, limit)));
        Self { flag, end, is_strict: false }
    }

    /// The same, after which an execution is left at once, and which is looked at after every step.
    pub(crate) fn strict(self, is_strict: bool) -> Self {
        Self { is_strict, ..self }
    }

    /// How many steps are taken between two looks at it.
    pub(crate) fn look_every(&self) -> u32 {
        if self.is_strict { 1 } else { LOOK_EVERY }
    }

    /// How long an execution may go on after it.
    pub(crate) fn grace(&self) -> Duration {
        if self.is_strict { Duration::ZERO } else { GRACE }
    }

    /// The limit that is reached.
    pub(crate) fn limit(&self) -> Option<Limit> {
        let over = self.end.filter(|(end, _)| Instant::now() >= *end);
        let is_interrupted = || self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed));
        over.map(|(_, limit)| Limit::Time(limit))
            .or_else(|| is_interrupted().then_some(Limit::Interrupted))
    }

    /// Whether there is time to look up names and places.
    pub(crate) fn has_time_to_tell(&self) -> bool {
        !self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
            && self.end.is_none_or(|(end, _)| Instant::now() < end + TO_TELL)
    }
}
