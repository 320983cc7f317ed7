//! Progress, and Knuth's estimate of the size of the whole.
//!
//! Implements the weighted estimate of Kilby, Slaney, Thiébaux and Walsh, *Estimating Search
//! Tree Size* (AAAI 2006): the executions so far over the part of the tree they make up, where
//! every branch of a state counts the same.
//!
//! | paper                          | here                              |
//! |--------------------------------|-----------------------------------|
//! | probability of a branch        | `explored` of a reduction         |
//! | weighted estimate              | [`Estimator::estimate`]           |
//!
//! Differs from the paper: reductions discover branches on the way, so the part that is explored is
//! itself a guess, and the estimate may grow for as long as branches turn up. Its spread is twice
//! the larger of the standard error over parts of the same weight, and of how far the estimate has
//! moved since a quarter of the executions. As long as the spread is more than half of it, the
//! estimate has not settled, and there is none.

use mazurka_core::Estimate;

/// Looks at a search from time to time and guesses its size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimator {
    /// Explored part and executions at each look where the part had grown; every other one is
    /// dropped when there are many.
    looks: Vec<(f64, u64)>,
    /// Executions and the estimate at each look, thinned in the same way.
    totals: Vec<(u64, f64)>,
    /// How many looks there were, and how many go by between two that are kept.
    n_looks: usize,
    stride: usize,
}

impl Estimator {
    const MAX_LOOKS: usize = 256;
    const MIN_LOOKS: usize = 16;
    const MAX_PARTS: usize = 16;
    /// Fewer executions are over before anybody has read a number.
    const MIN_EXECUTIONS: u64 = 64;

    /// So much is explored after so many executions.
    pub(crate) fn look(&mut self, explored: f64, executions: u64) {
        self.n_looks += 1;
        if explored <= 0.0 || !self.n_looks.is_multiple_of(self.stride.max(1)) {
            return;
        }
        self.totals.push((executions, executions as f64 / explored.min(1.0)));
        if self.looks.last().is_none_or(|&(before, _)| explored > before) {
            self.looks.push((explored, executions));
        }
        if self.totals.len() > Self::MAX_LOOKS {
            self.stride = self.stride.max(1) * 2;
            thin(&mut self.totals);
        }
        if self.looks.len() > Self::MAX_LOOKS {
            thin(&mut self.looks);
        }
    }

    /// The guess, once it has settled.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let &(executions, total) = self.totals.last()?;
        if self.looks.len() < Self::MIN_LOOKS || executions < Self::MIN_EXECUTIONS {
            return None;
        }
        let since = self.totals.partition_point(|&(before, _)| before < executions / 4);
        // What is not known of the time before is no sign that nothing has moved.
        let recent = self.totals.get(since.checked_sub(1)?..)?;
        let drift = recent.iter().map(|&(_, before)| (before - total).abs()).fold(0.0, f64::max);
        let spread = 2.0 * drift.max(self.standard_error()).max(total / 50.0);
        (spread <= total / 2.0).then_some(Estimate { executions: total, spread })
    }

    /// Batch means: what was explored, cut into parts of the same weight.
    fn standard_error(&self) -> f64 {
        let &(explored, executions) = self.looks.last().expect("there are some");
        let n_parts = self.looks.len().min(Self::MAX_PARTS);
        let total = executions as f64 / explored.min(1.0);
        let mut before = 0.0;
        let mut squares = 0.0;
        for part in 1..=n_parts {
            let after = self.executions_at(explored * part as f64 / n_parts as f64);
            let rate = (after - before) * n_parts as f64 / explored.min(1.0);
            squares += (rate - total).powi(2);
            before = after;
        }
        (squares / (n_parts * (n_parts - 1)) as f64).sqrt()
    }

    /// How many executions there were when so much was explored.
    fn executions_at(&self, explored: f64) -> f64 {
        let after = self.looks.partition_point(|&(part, _)| part < explored);
        let (from, n_from) = after.checked_sub(1).map_or((0.0, 0), |idx| self.looks[idx]);
        let Some(&(to, n_to)) = self.looks.get(after) else { return n_from as f64 };
        n_from as f64 + (n_to - n_from) as f64 * (explored - from) / (to - from)
    }
}

/// Keeps every other one, the last among them.
fn thin<T>(all: &mut Vec<T>) {
    let mut keep = all.len().is_multiple_of(2);
    all.retain(|_| {
        keep = !keep;
        keep
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_tree_is_estimated_once_there_was_enough_of_it() {
        let mut estimator = Estimator::default();
        for look in 1..=32u32 {
            estimator.look(f64::from(look) / 64.0, u64::from(look) * 10);
        }
        let estimate = estimator.estimate().unwrap();
        assert!((estimate.executions - 640.0).abs() < 1e-6, "{estimate:?}");
        assert!(estimate.spread < 640.0 / 20.0, "{estimate:?}");
    }

    #[test]
    fn an_uneven_tree_has_a_spread_that_covers_the_truth() {
        let mut estimator = Estimator::default();
        let (mut explored, mut executions) = (0.0, 0);
        for look in 0u64..200 {
            explored += 0.002;
            executions += look % 7 * 10;
            estimator.look(explored, executions);
        }
        // 30 on average in each of 500 stretches.
        let estimate = estimator.estimate().unwrap();
        assert!((estimate.executions - 15_000.0).abs() <= estimate.spread, "{estimate:?}");
    }

    /// Branches that turn up as fast as others are done leave the part where it is.
    #[test]
    fn what_does_not_settle_is_not_told() {
        let mut estimator = Estimator::default();
        for look in 1..=1_000u64 {
            let explored = (0.64 * look as f64 / 40.0).min(0.64);
            estimator.look(explored, look * 1_000);
            if look > 60 {
                assert_eq!(estimator.estimate(), None, "after {look} looks");
            }
        }
    }

    #[test]
    fn too_few_looks_are_no_basis() {
        let mut estimator = Estimator::default();
        estimator.look(0.5, 1);
        assert_eq!(estimator.estimate(), None);
    }
}
