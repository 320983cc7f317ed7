//! Several things at a time, told in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Does so many things, several at a time if there are several jobs, and hands over what came of
/// each in their order. If there is one, it has all jobs. `work` is given the index, its share of
/// the jobs, and whether nothing else is done beside it.
pub(crate) fn side_by_side<T: Send>(
    n: usize,
    jobs: usize,
    work: &(impl Fn(usize, usize, bool) -> T + Sync),
    mut tell: impl FnMut(usize, T),
) {
    let n_at_a_time = n.min(jobs);
    if n_at_a_time < 2 {
        (0..n).for_each(|idx| tell(idx, work(idx, jobs, true)));
        return;
    }
    let next = AtomicUsize::new(0);
    let (done, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..n_at_a_time {
            let (done, next) = (done.clone(), &next);
            scope.spawn(move || {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver is gone if the thread that tells has panicked.
                    if idx >= n || done.send((idx, work(idx, jobs / n_at_a_time, false))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut n_told = 0;
        for (idx, result) in results {
            waiting.insert(idx, result);
            while let Some(result) = waiting.remove(&n_told) {
                tell(n_told, result);
                n_told += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_in_order_and_jobs_are_shared() {
        for (n, jobs, share) in [(0, 2, 0), (1, 4, 4), (5, 1, 1), (7, 2, 1), (2, 8, 4), (9, 4, 1)] {
            let work = |idx: usize, jobs: usize, is_alone: bool| {
                // The first ones take the longest.
                (idx..n).for_each(|_| std::thread::yield_now());
                (idx, jobs, is_alone)
            };
            let mut told = Vec::new();
            side_by_side(n, jobs, &work, |idx, result| told.push((idx, result)));
            let is_alone = n.min(jobs) < 2;
            let expected = (0..n).map(|idx| (idx, (idx, share, is_alone)));
            assert_eq!(told, expected.collect::<Vec<_>>(), "{n} with {jobs} jobs");
        }
    }
}
