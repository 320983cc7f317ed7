//! Best-first search: of all executions that are known and not taken yet, the most promising next.
//!
//! Implements Coons' thesis, algorithm 4, on the execution tree of 3.3.
//!
//! | thesis                   | here                              |
//! |--------------------------|-----------------------------------|
//! | *fringe.Next()*          | [`Fringe::pop`]                   |
//! | *Execute(node)*          | [`BestFirst::choose`]             |
//! | *DoBacktrack*            | a [`Policy`]                      |
//! | *CreateSuccessor*        | [`Branches::want`]                |
//! | *GetPriority*            | [`Ranking::rank`]                 |
//! | *node.Detach()*          | [`Tree::settle`]                  |
//!
//! The execution at hand is on a [`Stack`], as in depth-first search, so that any [`Policy`] works
//! as it does there. At its end, what is new goes into the tree and the fringe
//! ([`BestFirst::remember`]). The way to the next one is found by the default behaviour and the
//! decisions in the tree; sets and sleep sets of the states on it are made again from the tree
//! ([`BestFirst::revisit`]).
//!
//! **Why nothing is lost.** A race adds to the set of its state no matter when that is found, and
//! what was added is taken sooner or later, so that in the end all sets are closed as they are
//! after a depth-first search. A thread sleeps beside those that were taken from its state *after*
//! it, whether or not all below it has been explored by then; it will be. So what a branch has
//! taken is a sequence, and depth-first search in the order of these sequences visits the same
//! executions. All alternatives of a step have one place in it.
//!
//! Differs from the thesis: sleep sets as for [`sleep`]; a state is recognised by a mark when it is
//! visited again, and a program that is elsewhere by then is told to be nondeterministic.

use super::fringe::{Fringe, Item};
use super::priority::{Candidate, Priority, Ranking};
use super::tree::{Branch, Branches, NodeIdx, Tree, TreeSize};
use crate::bound::Exceeded;
use crate::options::Options;
use crate::reduction::sleep::Sleeping;
use crate::reduction::stack::{Claim, Policy, Stack};
use crate::reduction::{Choice, End, Reduce, dpor, sleep};
use crate::unit::Unit;
use crate::view::View;
use mazurka_core::fold::{Fold, mix};
use mazurka_core::{
    Decision, HappensBefore, Next, Operation, Position, Schedule, ThreadId, ThreadSet,
};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// A search that takes the best execution next.
#[derive(Debug)]
pub(crate) struct BestFirst<P> {
    /// The states of the execution at hand.
    stack: Stack<P>,
    /// What priorities need to know of each.
    trail: Vec<Waypoint>,
    /// For each of these states, and each priority that looks at the program: who is favoured.
    favoured: Vec<ThreadSet>,
    tree: Tree,
    fringe: Fringe,
    ranking: Ranking,
    /// The nodes whose executions the one at hand is made of, the first execution first.
    path: Vec<NodeIdx>,
    /// Up to this depth, the execution at hand is that of the last node of `path`.
    follows_until: usize,
    /// Where the next execution begins, until the search is there.
    target: Option<Item>,
    /// The branches on the way there.
    way: Branches,
    /// What it takes on the way there that is not by default, last one first.
    turns: Vec<(usize, Decision)>,
    races: Vec<Position>,
    room: usize,
    peak: TreeSize,
}

/// A state of the execution at hand.
#[derive(Clone, Copy, Debug)]
struct Waypoint {
    /// The preemptions on the way here.
    preemptions: u32,
    /// By which the state is recognised.
    mark: u16,
    /// The threads that a race has asked for here; kept if a priority goes by it.
    asked: ThreadSet,
    /// The threads that would sleep here; kept if a priority goes by it.
    asleep: ThreadSet,
    /// The threads that were taken from here before the one that is explored now.
    before: ThreadSet,
}

/// What is left at a state.
#[derive(Clone, Copy, Debug)]
struct Left {
    depth: usize,
    /// Threads to explore, known to the tree or not.
    open: ThreadSet,
    /// The alternatives of a step: the thread, the first one that is left, and how many there are.
    choices: Option<(ThreadId, u32, u32)>,
}

/// What is left of a search, and what it knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TreeUnit {
    tree: Tree,
    fringe: Fringe,
    seed: u64,
}

impl<P: Policy> BestFirst<P> {
    pub(crate) fn new(policy: P, sleeping: Sleeping, options: &Options) -> Self {
        Self {
            stack: Stack::new(policy, sleeping, None),
            trail: Vec::new(),
            favoured: Vec::new(),
            tree: Tree::default(),
            fringe: Fringe::new(options.fringe),
            ranking: Ranking::new(options.order.priorities(), options.seed),
            path: Vec::new(),
            follows_until: 0,
            target: None,
            way: Branches::default(),
            turns: Vec::new(),
            races: Vec::new(),
            room: options.fringe,
            peak: TreeSize::default(),
        }
    }

    /// A step of the way to where the next execution begins.
    fn go_on_to(&mut self, target: Item, view: &View<'_>) -> Choice {
        let depth = view.depth();
        let default = if depth == self.stack.len() { self.revisit(view) } else { None };
        let branch = self.way.get(depth);
        if depth == target.depth as usize {
            let branch = branch.expect("something was wanted here");
            if branch.mark != self.trail[depth].mark || !is_possible(view, target.decision) {
                return Choice::Diverged(target.decision, None);
            }
            self.target = None;
            return self.begin(target, view);
        }
        let turn = self.turns.pop_if(|(at, _)| *at == depth).map(|(_, decision)| decision);
        let decision = match (turn, branch, default) {
            (Some(decision), ..) => decision,
            (None, Some(branch), _) => Decision::of(branch.default_thread()),
            (None, None, Some(claim)) => claim.decision,
            (None, None, None) => return Choice::Diverged(target.decision, None),
        };
        if !is_possible(view, decision) {
            return Choice::Diverged(decision, None);
        }
        let before = branch.map_or(ThreadSet::EMPTY, |branch| branch.before(decision.thread));
        self.depart(depth, before);
        Choice::Again(decision)
    }

    /// Puts a state on the stack that was there before, and tells what was done there by default.
    fn revisit(&mut self, view: &View<'_>) -> Option<Claim> {
        let depth = view.depth();
        let mut node = self.stack.fresh_node(view);
        let default = self.stack.claim(&mut node, view);
        node.choices = None;
        if let Some(branch) = self.way.get(depth) {
            node.todo = branch.wanted();
            node.done = branch.taken();
        }
        self.arrive(view);
        self.stack.push(node);
        default
    }

    /// Takes the first step of a new execution.
    fn begin(&mut self, target: Item, view: &View<'_>) -> Choice {
        let Item { node, depth, decision } = target;
        let Decision { thread, choice } = decision;
        let before = self.tree.take(node, depth, thread);
        let choices = view.choices(thread);
        self.stack.with_node(depth as usize, |node| {
            node.done.insert(thread);
            if choice == 0 && choices > 1 {
                node.choices = Some((thread, 1, choices));
            }
        });
        self.path.push(self.tree.push(Some(node), depth + 1, decision));
        self.depart(depth as usize, before);
        if choice == 0 {
            P::before_step(&mut self.stack, view, thread);
        }
        Choice::Step(decision)
    }

    /// Notes that a step is taken at `depth`, after those of `before`.
    fn depart(&mut self, depth: usize, before: ThreadSet) {
        let slept = self.stack.with_node(depth, |node| node.sleep);
        self.stack.set_asleep(depth, sleep::asleep_after(slept, before));
        self.trail[depth].before = before;
    }

    /// Notes what priorities need to know of a state.
    fn arrive(&mut self, view: &View<'_>) {
        let depth = view.depth();
        let n_looks = self.ranking.n_looks();
        let waypoint = match self.trail.last().copied() {
            None => {
                self.favoured.resize(n_looks, ThreadSet::EMPTY);
                for (thread, _) in view.operations() {
                    self.look(view, thread);
                }
                let nobody = ThreadSet::EMPTY;
                let mark = mark(0, view, None);
                Waypoint { preemptions: 0, mark, asked: nobody, asleep: nobody, before: nobody }
            }
            Some(last) => {
                let at = depth as Position;
                let (decision, taken) = (view.order.decision(at), view.order.operation(at));
                self.favoured.extend_from_within((depth - 1) * n_looks..);
                self.look(view, decision.thread);
                if let Operation::Spawn(child) = taken {
                    self.look(view, child);
                }
                view.order.joiners().for_each(|joiner| self.look(view, joiner));
                let cost = self.preemption(view.order, depth - 1, decision.thread);
                let asleep = match self.ranking.has(&Priority::Sleep) {
                    true => sleep::inherit(last.asleep | last.before, taken, view) & view.enabled,
                    false => ThreadSet::EMPTY,
                };
                Waypoint {
                    preemptions: last.preemptions + cost,
                    mark: mark(last.mark, view, Some(decision)),
                    asked: ThreadSet::EMPTY,
                    asleep,
                    before: ThreadSet::EMPTY,
                }
            }
        };
        self.trail.push(waypoint);
    }

    /// Asks the program about the next step of `thread`, in the state that is last in `favoured`.
    fn look(&mut self, view: &View<'_>, thread: ThreadId) {
        let start = self.favoured.len() - self.ranking.n_looks();
        for (set, is_favoured) in
            self.favoured[start..].iter_mut().zip(self.ranking.favours(view, thread))
        {
            match is_favoured {
                true => set.insert(thread),
                false => set.remove(thread),
            }
        }
    }

    /// 1 if a step of `thread` in the state at `depth` takes the turn of one that could go on.
    fn preemption(&mut self, order: &HappensBefore, depth: usize, thread: ThreadId) -> u32 {
        if depth == 0 {
            return 0;
        }
        let last = order.thread(depth as Position);
        let could_go_on = self.stack.with_node(depth, |node| node.enabled.contains(last))
            && order.operation(depth as Position) != Operation::Yield;
        u32::from(last != thread && could_go_on)
    }

    /// Notes which threads a race asks for, if a priority goes by that.
    fn note_races(&mut self, view: &View<'_>) {
        if self.ranking.has(&Priority::Backtrack) {
            dpor::for_each_race(view, &mut self.races, |depth, necessary| {
                self.trail[depth].asked |= necessary;
            });
        }
    }

    /// Puts what is left at the states of the execution into the tree and the fringe.
    fn remember(&mut self, order: &HappensBefore) {
        let starts = self.path.iter().map(|&node| self.tree.node(node).start as usize);
        let mut ends: Vec<_> = starts.skip(1).collect();
        ends.push(self.stack.len());
        let mut depth = 0;
        for (idx, end) in ends.into_iter().enumerate() {
            let left: Vec<_> = (depth..end).filter_map(|depth| self.left_at(depth)).collect();
            depth = end;
            if left.is_empty() {
                continue;
            }
            let node = self.path[idx];
            let mut tree = std::mem::take(&mut self.tree);
            tree.change(node, |branches| {
                left.into_iter().for_each(|left| self.insert(order, node, left, branches));
            });
            self.tree = tree;
        }
    }

    /// What is left at a state of the execution.
    fn left_at(&mut self, depth: usize) -> Option<Left> {
        let (open, choices) =
            self.stack.with_node(depth, |node| (node.open(), node.choices.take()));
        (!open.is_empty() || choices.is_some()).then_some(Left { depth, open, choices })
    }

    /// Puts what is left at a state into the branches of its node and into the fringe.
    fn insert(
        &mut self,
        order: &HappensBefore,
        node: NodeIdx,
        left: Left,
        branches: &mut Branches,
    ) {
        let Left { depth, open, choices } = left;
        let Waypoint { preemptions, mark, asked, asleep, .. } = self.trail[depth];
        let default = order.thread(depth as Position + 1);
        let known = branches.get(depth).map_or(ThreadSet::one(default), Branch::wanted);
        let threads = (open - known).iter().map(Decision::of).collect::<Vec<_>>();
        let (thread, alternatives) =
            choices.map_or((default, 0..0), |(it, from, to)| (it, from..to));
        let alternatives = alternatives.map(|choice| Decision { thread, choice });
        let n_looks = self.ranking.n_looks();
        for decision in threads.into_iter().chain(alternatives) {
            let thread = decision.thread;
            let preemptions = preemptions + self.preemption(order, depth, thread);
            let favoured = &self.favoured[depth * n_looks..(depth + 1) * n_looks];
            let rank =
                self.ranking.rank(&Candidate { thread, preemptions, asleep, asked, favoured });
            branches.want(depth, thread, default, mark);
            self.fringe.insert(rank, Item { node, depth: depth as u32, decision });
        }
    }

    /// Forgets the executions of `path` of which nothing is left.
    fn settle(&mut self) {
        let Some(&last) = self.path.last() else { return };
        self.peak = self.peak.max(self.size());
        self.follows_until = self.stack.len();
        self.tree.settle(last);
        while let Some(node) = self.path.pop_if(|node| !self.tree.is_live(*node)) {
            self.follows_until = (self.tree.node(node).start as usize).saturating_sub(1);
        }
    }

    fn size(&self) -> TreeSize {
        TreeSize { fringe: self.fringe.len() as u64, ..self.tree.size() }
    }

    /// Sets out for `target`. Tells how many steps of the execution at hand lead there, too.
    fn set_out(&mut self, target: Item) -> usize {
        let chain = self.tree.chain(target.node);
        let common = self.path.iter().zip(&chain).take_while(|(a, b)| a == b).count();
        let leaves = |nodes: &[NodeIdx], otherwise: usize| match nodes.get(common) {
            Some(&node) => self.tree.node(node).start as usize - 1,
            None => otherwise,
        };
        let keep = match common {
            0 => 0,
            _ => leaves(&self.path, self.follows_until).min(leaves(&chain, target.depth as usize)),
        };
        let turn = |&node: &NodeIdx| {
            let node = self.tree.node(node);
            (node.start as usize - 1, node.decision)
        };
        self.turns = chain[common.max(1)..].iter().rev().map(turn).collect();
        let n_states = if common == 0 { 0 } else { keep + 1 };
        self.stack.truncate(n_states);
        self.trail.truncate(n_states);
        self.favoured.truncate(n_states * self.ranking.n_looks());
        self.way = self.tree.way(&chain);
        self.path = chain;
        self.target = Some(target);
        keep
    }
}

/// Whether a step can be taken.
fn is_possible(view: &View<'_>, decision: Decision) -> bool {
    decision.thread.index() < view.next.len() && decision.choice < view.choices(decision.thread)
}

/// A number by which a state is recognised: the one before it, what was done and what can be.
fn mark(before: u16, view: &View<'_>, decision: Option<Decision>) -> u16 {
    let mut hash = Fold::default();
    decision.hash(&mut hash);
    // A thread that is not born may be one that was not known when the state was first visited.
    let known = view.next.iter().enumerate().filter(|(_, next)| **next != Next::Unborn);
    known.for_each(|thread| thread.hash(&mut hash));
    (mix(hash.finish(), u64::from(before)) >> 48) as u16
}

impl<P: Policy> Reduce for BestFirst<P> {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        if let Some(target) = self.target {
            return self.go_on_to(target, view);
        }
        if self.path.is_empty() {
            // The first execution; what leads to its first state is never looked at.
            self.path.push(self.tree.push(None, 0, Decision::of(ThreadId::new(0))));
        }
        self.note_races(view);
        P::at_state(&mut self.stack, view);
        let mut node = self.stack.fresh_node(view);
        let claim = self.stack.claim(&mut node, view);
        self.arrive(view);
        self.stack.push(node);
        let Some(Claim { decision, .. }) = claim else { return Choice::Asleep };
        P::before_step(&mut self.stack, view, decision.thread);
        Choice::Step(decision)
    }

    fn finish(&mut self, view: &View<'_>, end: End) {
        if end != End::GivenUp {
            self.note_races(view);
        }
        self.stack.finish(view, end);
        self.remember(view.order);
    }

    fn backtrack(&mut self) -> Option<usize> {
        self.settle();
        let target = self.fringe.pop()?;
        Some(self.set_out(target))
    }

    fn frontier(&self) -> u64 {
        (self.fringe.len() + usize::from(self.target.is_some())) as u64
    }

    fn explored(&self) -> f64 {
        // What comes first is not like what comes later, so that there is no basis for a guess.
        0.0
    }

    fn share(&mut self, _schedule: &Schedule) -> Option<Unit> {
        None
    }

    fn adopt(&mut self, unit: Unit) {
        self.stack.truncate(0);
        self.trail.clear();
        self.favoured.clear();
        self.path.clear();
        self.target = None;
        match unit {
            Unit::Root => {
                self.tree = Tree::default();
                self.fringe = Fringe::new(self.room);
            }
            Unit::Tree(unit) => {
                self.tree = unit.tree;
                self.fringe = unit.fringe;
                self.ranking.seed = unit.seed;
            }
            Unit::Stack(_) | Unit::Optimal(_) | Unit::Graph(_) | Unit::Samples(_) => {
                panic!("a unit of another search")
            }
        }
    }

    fn dissolve(&mut self, _schedule: &Schedule) -> Vec<Unit> {
        if let Some(target) = self.target.take() {
            self.fringe.put_back(target);
        }
        if self.fringe.len() == 0 {
            return Vec::new();
        }
        let tree = std::mem::take(&mut self.tree);
        let fringe = std::mem::take(&mut self.fringe);
        vec![Unit::Tree(Box::new(TreeUnit { tree, fringe, seed: self.ranking.seed }))]
    }

    fn exceeded(&self) -> Exceeded {
        // There is no bound beside it.
        Exceeded::default()
    }

    fn tree_size(&self) -> Option<TreeSize> {
        Some(self.peak)
    }
}
