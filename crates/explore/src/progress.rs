//! How far a search is, and how large the whole may be.
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
//! Differs from the paper: reductions discover branches on the way, so the part that is
//! explored is itself a guess. The spread is the standard error over parts of the same weight.

use mazurka_core::Estimate;

/// Looks at a search from time to time and guesses its size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimator {
    /// Explored part and executions at each look; every other one is dropped when there are many.
    looks: Vec<(f64, u64)>,
}

impl Estimator {
    const MAX_LOOKS: usize = 128;
    const MIN_LOOKS: usize = 4;
    const MAX_PARTS: usize = 16;

    /// So much is explored after so many executions.
    pub(crate) fn look(&mut self, explored: f64, executions: u64) {
        if self.looks.last().is_some_and(|&(before, _)| explored <= before) {
            return;
        }
        self.looks.push((explored, executions));
        if self.looks.len() > Self::MAX_LOOKS {
            let mut keep = false;
            self.looks.retain(|_| {
                keep = !keep;
                !keep
            });
        }
    }

    /// The guess, once there is a basis for one.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let &(explored, executions) = self.looks.last()?;
        if self.looks.len() < Self::MIN_LOOKS {
            return None;
        }
        // Batch means: what was explored, cut into parts of the same weight.
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
        let spread = (squares / (n_parts * (n_parts - 1)) as f64).sqrt();
        Some(Estimate { executions: total, spread })
    }

    /// How many executions there were when so much was explored.
    fn executions_at(&self, explored: f64) -> f64 {
        let after = self.looks.partition_point(|&(part, _)| part < explored);
        let (from, n_from) = after.checked_sub(1).map_or((0.0, 0), |idx| self.looks[idx]);
        let Some(&(to, n_to)) = self.looks.get(after) else { return n_from as f64 };
        n_from as f64 + (n_to - n_from) as f64 * (explored - from) / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_tree_is_estimated_without_spread() {
        let mut estimator = Estimator::default();
        for look in 1..=8 {
            estimator.look(f64::from(look) / 16.0, look as u64 * 10);
        }
        let estimate = estimator.estimate().unwrap();
        assert!((estimate.executions - 160.0).abs() < 1e-6, "{estimate:?}");
        assert!(estimate.spread < 1e-6, "{estimate:?}");
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
        assert!((estimate.executions - 15_000.0).abs() < 3.0 * estimate.spread, "{estimate:?}");
        assert!(estimate.spread > 0.0 && estimate.spread < 5_000.0, "{estimate:?}");
    }

    #[test]
    fn too_few_looks_are_no_basis() {
        let mut estimator = Estimator::default();
        estimator.look(0.5, 1);
        assert_eq!(estimator.estimate(), None);
    }
}
