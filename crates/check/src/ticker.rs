//! Progress events of engines that only keep counters.

use crate::engine::Listener;
use mazurka_core::{Event, Gauge, Reading};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const TELL_EVERY: Duration = Duration::from_millis(200);

/// Runs a search that writes to a gauge, and tells now and then what it says; and once at the end.
pub(crate) fn gauged<T>(listener: &dyn Listener, search: impl FnOnce(Arc<Gauge>) -> T) -> T {
    let gauge = Arc::new(Gauge::default());
    let (read, begun) = (gauge.clone(), Instant::now());
    let (end, is_over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut last = read.read(Duration::ZERO);
            loop {
                let is_on = is_over.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout);
                let mut now = read.read(begun.elapsed());
                now.rate = rate(&last, &now);
                last = now;
                // Before the search has begun there is nothing to tell.
                if now.count() > 0 || now.depth > 0 {
                    listener.event(&Event::Gauged(now));
                }
                if !is_on {
                    break;
                }
            }
        });
        let result = search(gauge);
        drop(end);
        result
    })
}

fn rate(last: &Reading, now: &Reading) -> f64 {
    let seconds = now.elapsed.saturating_sub(last.elapsed).as_secs_f64();
    let more = now.count().saturating_sub(last.count());
    if seconds > 0.0 { more as f64 / seconds } else { 0.0 }
}
