//! Branches that were found and are not explored yet, in memory polynomial in the depth: for
//! searches that keep no sets.
//!
//! Implements the eager race reversal of Abdulla, Atig, Das, Jonsson and Sagonas, *Parsimonious
//! Optimal Dynamic Partial Order Reduction* (CAV 2024), as far as memory is concerned.
//!
//! A branch is a block of steps that is taken at a state of the execution in progress. Branches
//! wait at the states where they begin, and are taken deepest first, which shares prefixes. If too
//! many wait, the search turns eager: it puts what waits aside and explores the branches of the
//! execution at hand first ([`Aside`]).
//!
//! Differs from the paper: branches wait as long as there is room.
//! [`Optimal`](super::optimal::Optimal) does the same with steps of its own.

use serde::{Deserialize, Serialize};

/// A branch, and the execution up to where it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Branch<T> {
    pub(crate) steps: Vec<T>,
    /// Which part of the whole this is, as far as one can guess.
    pub(crate) mass: f64,
}

/// All branches that are left to explore.
#[derive(Debug)]
pub(crate) struct Frontier<T> {
    branches: Branches<T>,
    /// How many steps may wait in branches before the search turns eager.
    room: usize,
    /// The branches of this run for which there was no room.
    surplus: Vec<Branch<T>>,
    aside: Vec<Aside<T>>,
    /// The steps that wait in `aside`.
    n_aside: usize,
    /// A branch that is to be run from its first step.
    restart: Option<Branch<T>>,
    /// What the branches of this run have to share: its part of the whole.
    mass: f64,
    explored: f64,
}

/// What waits while the branches of one execution are explored eagerly.
#[derive(Debug)]
struct Aside<T> {
    /// The execution that the branches belong to, as far as they need it.
    path: Vec<T>,
    branches: Branches<T>,
    surplus: Vec<Branch<T>>,
}

/// Blocks that wait at the states where they begin.
#[derive(Debug)]
struct Branches<T> {
    /// By depth.
    waiting: Vec<Waiting<T>>,
    /// No block waits at this depth or below it. The vectors stay, to be filled again.
    end: usize,
    n_blocks: usize,
    n_steps: usize,
    /// Depth and index of the blocks that were found in this run.
    fresh: Vec<(u32, u32)>,
}

/// The blocks that wait at one depth, one after the other.
#[derive(Debug)]
struct Waiting<T> {
    steps: Vec<T>,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    len: u32,
    mass: f64,
}

impl<T: Copy> Frontier<T> {
    /// With room for so many waiting steps.
    pub(crate) fn with_room(room: usize) -> Self {
        Self {
            branches: Branches::new(),
            room,
            surplus: Vec::new(),
            aside: Vec::new(),
            n_aside: 0,
            restart: None,
            mass: 1.0,
            explored: 0.0,
        }
    }

    /// The whole search is to be done.
    pub(crate) fn begin(&mut self) {
        self.mass = 1.0;
    }

    /// This branch is to be run next, from its first step.
    pub(crate) fn adopt(&mut self, branch: Branch<T>) {
        self.restart = Some(branch);
    }

    /// Keeps a block that begins at `depth`, where `path` has the steps before it.
    pub(crate) fn keep(&mut self, depth: usize, block: &[T], path: impl Fn(usize) -> Vec<T>) {
        if self.branches.n_steps + self.n_aside + block.len() <= self.room {
            self.branches.push(depth, block);
        } else {
            let mut steps = path(depth);
            steps.extend_from_slice(block);
            self.surplus.push(Branch { steps, mass: 0.0 });
        }
    }

    /// A run has ended: what was found in it gets its share. `path` has the steps of the run.
    pub(crate) fn finish(&mut self, path: impl Fn(usize) -> Vec<T>) {
        let n_found = self.branches.fresh.len() + self.surplus.len();
        let share = self.mass / (n_found + 1) as f64;
        self.explored += share;
        self.branches.settle(share);
        self.surplus.iter_mut().for_each(|branch| branch.mass = share);
        if !self.surplus.is_empty() {
            let deepest = self.branches.deepest().unwrap_or(0);
            self.n_aside += self.branches.n_steps;
            self.aside.push(Aside {
                path: path(deepest),
                branches: std::mem::replace(&mut self.branches, Branches::new()),
                surplus: std::mem::take(&mut self.surplus),
            });
        }
    }

    /// The branch to explore next: how many steps of the execution to keep, and then those in
    /// `forced`, last one first. Nothing if nothing is left.
    pub(crate) fn backtrack(&mut self, forced: &mut Vec<T>) -> Option<usize> {
        if let Some(branch) = self.restart.take() {
            return Some(self.run(&branch, forced));
        }
        loop {
            if let Some(depth) = self.branches.deepest() {
                self.mass = self.branches.pop(depth, forced);
                return Some(depth);
            }
            let aside = self.aside.last_mut()?;
            if let Some(branch) = aside.surplus.pop() {
                return Some(self.run(&branch, forced));
            }
            let aside = self.aside.pop().expect("it is there");
            self.branches = aside.branches;
            self.n_aside -= self.branches.n_steps;
            if let Some(depth) = self.branches.deepest() {
                // Back to where the deepest of them begins, and on with it.
                self.mass = self.branches.pop(depth, forced);
                forced.extend(aside.path[..depth].iter().rev());
                return Some(0);
            }
        }
    }

    fn run(&mut self, branch: &Branch<T>, forced: &mut Vec<T>) -> usize {
        self.mass = branch.mass;
        forced.clear();
        forced.extend(branch.steps.iter().rev());
        0
    }

    /// How many branches wait.
    pub(crate) fn len(&self) -> u64 {
        let aside = |aside: &Aside<T>| aside.branches.n_blocks + aside.surplus.len();
        (self.branches.n_blocks + self.aside.iter().map(aside).sum::<usize>()) as u64
    }

    /// Which part of the whole is explored.
    pub(crate) fn explored(&self) -> f64 {
        self.explored
    }

    /// Gives away a branch far from here. `path` has the steps of the execution in progress.
    pub(crate) fn share(&mut self, path: impl Fn(usize) -> Vec<T>) -> Option<Branch<T>> {
        if let Some(aside) = self.aside.first_mut() {
            if let Some(branch) = aside.surplus.pop() {
                return Some(branch);
            }
            let depth = aside.branches.shallowest()?;
            let steps = aside.path[..depth].to_vec();
            self.n_aside -= aside.branches.n_steps;
            let branch = aside.branches.give(depth, steps);
            self.n_aside += aside.branches.n_steps;
            return Some(branch);
        }
        // The last one is kept: a worker that gives all away has to ask for work next.
        if self.branches.n_blocks < 2 {
            return None;
        }
        let depth = self.branches.shallowest()?;
        Some(self.branches.give(depth, path(depth)))
    }

    /// Gives away all branches, and the steps that were about to be taken.
    pub(crate) fn dissolve(
        &mut self,
        forced: &mut Vec<T>,
        path: impl Fn(usize) -> Vec<T>,
    ) -> Vec<Branch<T>> {
        let mut branches: Vec<_> = self.restart.take().into_iter().collect();
        if !forced.is_empty() {
            let mut steps = path(usize::MAX);
            steps.extend(forced.drain(..).rev());
            branches.push(Branch { steps, mass: self.mass });
        }
        while let Some(depth) = self.branches.deepest() {
            branches.push(self.branches.give(depth, path(depth)));
        }
        for mut aside in self.aside.drain(..) {
            while let Some(depth) = aside.branches.deepest() {
                branches.push(aside.branches.give(depth, aside.path[..depth].to_vec()));
            }
            branches.append(&mut aside.surplus);
        }
        self.n_aside = 0;
        branches
    }
}

impl<T: Copy> Branches<T> {
    fn new() -> Self {
        Self { waiting: Vec::new(), end: 0, n_blocks: 0, n_steps: 0, fresh: Vec::new() }
    }

    fn push(&mut self, depth: usize, block: &[T]) {
        while self.waiting.len() <= depth {
            self.waiting.push(Waiting { steps: Vec::new(), blocks: Vec::new() });
        }
        self.end = self.end.max(depth + 1);
        let waiting = &mut self.waiting[depth];
        self.fresh.push((depth as u32, waiting.blocks.len() as u32));
        waiting.steps.extend_from_slice(block);
        waiting.blocks.push(Block { len: block.len() as u32, mass: 0.0 });
        self.n_blocks += 1;
        self.n_steps += block.len();
    }

    /// Gives the blocks of the run that has ended their share.
    fn settle(&mut self, share: f64) {
        for (depth, idx) in self.fresh.drain(..) {
            self.waiting[depth as usize].blocks[idx as usize].mass = share;
        }
    }

    fn deepest(&mut self) -> Option<usize> {
        while self.end > 0 && self.waiting[self.end - 1].blocks.is_empty() {
            self.end -= 1;
        }
        self.end.checked_sub(1)
    }

    fn shallowest(&self) -> Option<usize> {
        self.waiting.iter().position(|waiting| !waiting.blocks.is_empty())
    }

    /// Moves the newest block at `depth` to `forced`, last step first, and tells its mass.
    fn pop(&mut self, depth: usize, forced: &mut Vec<T>) -> f64 {
        let waiting = &mut self.waiting[depth];
        let block = waiting.blocks.pop().expect("a block waits there");
        let start = waiting.steps.len() - block.len as usize;
        forced.clear();
        forced.extend(waiting.steps.drain(start..).rev());
        self.n_blocks -= 1;
        self.n_steps -= block.len as usize;
        block.mass
    }

    /// Takes out the newest block at `depth`, as a branch that begins with `steps`.
    fn give(&mut self, depth: usize, mut steps: Vec<T>) -> Branch<T> {
        let mut block = Vec::new();
        let mass = self.pop(depth, &mut block);
        steps.extend(block.iter().rev());
        Branch { steps, mass }
    }
}
