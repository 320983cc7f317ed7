//! Probabilistic concurrency testing: strict random priorities, lowered at a few random steps.
//!
//! Implements Burckhardt, Kothari, Musuvathi and Nagarakatte, *A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs* (ASPLOS 2010), section 2 and Figure 4.
//!
//! | paper                                             | here                                |
//! |---------------------------------------------------|-------------------------------------|
//! | n, the threads                                    | [`Pct::threads`]                    |
//! | k, the steps                                      | [`Pct::steps`]                      |
//! | initial priorities d, …, d+n−1, a permutation     | [`Pct::initial`]                    |
//! | priority change points k_1, …, k_(d−1)            | [`Pct::changes`]                    |
//! | the thread that executes step k_i gets priority i | [`Pct::lower`]                      |
//! | found with probability at least 1/(n·k^(d−1))     | [`Guarantee`]                       |
//!
//! Differs: the paper is given n and k. Here they are the largest that were met, k rounded up to a
//! power of two, and whenever one of them grows, the executions that were drawn before no longer
//! count for the guarantee. The theorem needs strict priorities, so it is withdrawn once a thread
//! has yielded, which makes its priority the lowest (a loop that waits would starve what it waits
//! for), and once a step had alternatives, which the paper does not have.

use super::Pick;
use crate::view::View;
use fastrand::Rng;
use mazurka_core::{Guarantee, Operation, Position, ThreadId};

/// See the [module](self).
pub(crate) struct Pct {
    /// The depth d of the bugs that are looked for.
    depth: u32,
    threads: usize,
    steps: usize,
    /// For each thread by its number, its initial priority.
    initial: Vec<i64>,
    /// For each thread by its number, its priority now.
    priorities: Vec<i64>,
    /// The steps after which the thread that took them is lowered; the i-th to priority i.
    changes: Vec<usize>,
    /// Below all others, for threads that yield: decreasing.
    lowest: i64,
    /// How many executions were drawn with these numbers.
    executions: u64,
    /// Whether the theorem's conditions were met so far.
    applies: bool,
}

impl Pct {
    pub(crate) fn new(depth: u32) -> Self {
        Self {
            depth,
            threads: 1,
            steps: 1,
            initial: Vec::new(),
            priorities: Vec::new(),
            changes: Vec::new(),
            lowest: 0,
            executions: 0,
            applies: true,
        }
    }

    /// Lowers the thread that took the last step, if that was a change point.
    fn lower(&mut self, view: &View<'_>) {
        let Some(last) = view.last() else { return };
        let step = view.depth();
        if let Some(idx) = self.changes.iter().rposition(|&change| change == step) {
            self.priorities[last.index()] = idx as i64 + 1;
        }
        if matches!(view.order.operation(step as Position), Operation::Yield) {
            self.applies = false;
            self.lowest -= 1;
            self.priorities[last.index()] = self.lowest;
        }
    }

    /// Makes room for threads that no execution had before, with priorities drawn like the others.
    fn welcome(&mut self, n_threads: usize, rng: &mut Rng) {
        let least = i64::from(self.depth);
        while self.priorities.len() < n_threads {
            let place = rng.usize(..=self.initial.len());
            let priority = least + place as i64;
            let raise = |it: &mut i64| *it += i64::from(*it >= priority);
            self.initial.iter_mut().for_each(raise);
            self.priorities.iter_mut().for_each(raise);
            self.initial.push(priority);
            self.priorities.push(priority);
        }
    }
}

impl Pick for Pct {
    fn begin(&mut self, rng: &mut Rng) {
        let least = i64::from(self.depth);
        self.initial.clear();
        self.initial.extend((0..self.threads as i64).map(|idx| least + idx));
        rng.shuffle(&mut self.initial);
        self.priorities.clone_from(&self.initial);
        self.changes.clear();
        let steps = self.steps;
        self.changes.extend((1..self.depth).map(|_| rng.usize(1..=steps)));
        self.lowest = 0;
    }

    fn pick(&mut self, view: &View<'_>, rng: &mut Rng) -> ThreadId {
        self.welcome(view.next.len(), rng);
        self.lower(view);
        let highest = view.enabled.iter().max_by_key(|thread| self.priorities[thread.index()]);
        let thread = highest.expect("some thread is enabled");
        self.applies &= view.choices(thread) == 1;
        thread
    }

    fn end(&mut self, view: &View<'_>) {
        self.executions += 1;
        let is_longer = view.depth() > self.steps;
        if is_longer || view.next.len() > self.threads {
            self.steps = if is_longer { view.depth().next_power_of_two() } else { self.steps };
            self.threads = self.threads.max(view.next.len());
            self.executions = 0;
        }
    }

    fn guarantee(&self) -> Option<Guarantee> {
        self.applies.then(|| Guarantee {
            depth: self.depth,
            threads: self.threads as u32,
            steps: u32::try_from(self.steps).unwrap_or(u32::MAX),
            executions: self.executions,
        })
    }
}
