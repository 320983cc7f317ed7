//! Optimal reduction: exactly one execution of every Mazurkiewicz trace, none cut short, in
//! memory polynomial in the depth.
//!
//! Implements a reverse search over the maximal traces, in the spirit of Abdulla, Atig, Das,
//! Jonsson and Sagonas, *Parsimonious Optimal Dynamic Partial Order Reduction* (CAV 2024), and of
//! Kokologiannakis, Marmanis, Gladstein and Vafeiadis, *Truly Stateless, Optimal Dynamic Partial
//! Order Reduction* (POPL 2022); proved and tested here for operations that block.
//!
//! **The tree.** A fixed rule names a *free* step at every state (here: stay with the thread).
//! Let *T* be a trace that extends the execution *E*, and *e* the free step after *E*. If *e* can
//! come first in the rest of *T*, the representative of *T* goes on with *e*. If not, some step
//! of *T* that depends on *e* comes before it. Let *x* be the first of those (of several
//! unordered ones, that of the smallest thread) and ⟨x⟩ its past after *E*: the representative
//! goes on with the *block* ⟨x⟩, whose last step *x* is its *head*, and then with *e* if *e* is
//! still enabled. So each trace has one representative, and a trace that is cut into blocks with
//! heads can be recognised as one.
//!
//! **Reversals.** A block ⟨x⟩ in place of *e* after *E* is found where *x* is met as a race with
//! the free step *e*: in any execution that goes on *E.e* and has ⟨x⟩, without *e*, in it. Exactly
//! one of them has no head after *e* that is outside ⟨x⟩: since every head answers a step of ⟨x⟩
//! that could not have been there otherwise, it is the one that the rule reaches by going for ⟨x⟩
//! alone. Only there the reversal is made. So every block is found once, no set of what was done is
//! kept (no sleep sets, no wake-up trees), and a reversal can be explored anywhere, by anybody.
//!
//! Three cases need care:
//! - A step *x* that *e* can disable (two acquires of one mutex) is not taken right after *e*. For
//!   an operation that may block, ⟨x⟩ is what its thread knows, what woke it, and the readers that
//!   had to leave; every competitor *e* that the thread does not know of is reversed, from the one
//!   execution whose heads after *e* are all in ⟨x⟩, whether *x* was taken there or waits for ever.
//! - A read-modify-write *x* that waits ([`Operation::AwaitModify`]) can be disabled by the writes
//!   that it competes with, and never by a read. So its writes are reversed like those of any other
//!   step that may wait, and its reads where it is taken, like those of any other write, head or
//!   not: if *x* can be taken in place of a read *e*, it can be taken right after *e*, and is, from
//!   the execution that goes for ⟨x⟩ alone, before the next write or in place of it.
//! - Several unordered reads before one write *e*: they become heads in turn, each displacing the
//!   same *e*, and only in the order of their threads ([`Optimal::in_turn`]). That *e* follows at
//!   once is what makes each of these executions a trace of its own.
//! - A step with alternatives: any but the first is a head of its own.
//! - A compare-and-swap *x* that writes where it would succeed and only reads where it would fail.
//!   A step that it races with may decide which: what *x* is in place of *e* is known there and not
//!   where the race is met. Only the turn of reads depends on it, so a reversal is kept if either
//!   would be in turn, and refused at the head if what it is there is not. The rest does not: in
//!   place of *e* it follows no access to the same object that comes after *e*, whatever it is.
//!
//! **Within a local bound** ([`BoundKind::is_local`](crate::BoundKind::is_local)) the same tree has
//! the maximal traces within the bound for leaves. A step over the bound stays over it, whatever
//! else happens, and is never free. If *e* is free and *T* is such a trace, then *e* is in *T* or
//! some step of *T* depends on *e*, or *T* would not be maximal: so every trace has its one
//! representative. What changes:
//! - A step that is over the bound because of what it follows may be within it where it comes
//!   earlier. Its races are reversed from the end of the execution, as those of a step that waits;
//!   and a head that is still over the bound is looked at for its own races, and then refused.
//! - The head may put *e* over the bound. Then *e* does not follow at once, and of several
//!   unordered steps before *e* those of smaller threads belong to another representative
//!   ([`Optimal::sleeps`]).
//!
//! No execution leaves the bound, and none is taken twice. The price are refused reversals, and
//! executions that end where only such sleepers are left.
//!
//! **Memory.** The reversals that were found wait at the state where they begin; they are taken
//! deepest first, which shares prefixes. If too many wait, the search turns eager: it puts what
//! waits aside and explores the reversals of the execution at hand first ([`Aside`]). Each time
//! that nests, at least one more step belongs to a block, so it nests at most as deep as an
//! execution is long.
//!
//! | literature                         | here                                      |
//! |------------------------------------|-------------------------------------------|
//! | schedule of a reversal             | a block: [`Branches::push`]               |
//! | parsimonious, "fresh"              | [`Optimal::reverse_one`]                  |
//! | eager race reversal                | [`Aside`]                                 |
//! | maximal extension (TruSt)          | the same condition on heads               |
//!
//! Differs from both papers: neither treats operations that disable each other; no sleep
//! sequences; reversals wait as long as there is room.

use super::{Choice, End, Reduce};
use crate::bound::Exceeded;
use crate::unit::{OptimalUnit, Unit};
use crate::view::View;
use mazurka_core::{
    Decision, HappensBefore, Operation, Position, Schedule, ThreadId, ThreadSet, dependent,
    may_be_coenabled,
};
use serde::{Deserialize, Serialize};

/// How a step of the execution came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mark {
    /// By the rule: it may be displaced.
    Free,
    /// As part of a block.
    Block,
    /// As the last step of a block, or as another alternative.
    Head {
        /// Whose free step it displaced.
        displaced: Option<ThreadId>,
        /// Where its block begins: the depth of the state that the displaced step was taken in.
        start: u32,
    },
}

/// A step of the execution that is a head.
#[derive(Clone, Copy, Debug)]
struct Head {
    at: Position,
    /// The largest of the threads whose heads displaced the same step in turn, up to this one.
    largest: ThreadId,
}

/// A step that is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forced {
    pub(crate) decision: Decision,
    pub(crate) mark: Mark,
    /// What the thread did in the execution that the step is from, if that is known. It must do the
    /// same again: a block has all that it depends on.
    pub(crate) operation: Option<Operation>,
}

/// The search for one execution of every trace.
#[derive(Debug)]
pub(crate) struct Optimal {
    /// One for each step of the execution.
    marks: Vec<Mark>,
    heads: Vec<Head>,
    /// The steps that are to be taken next, last one first.
    forced: Vec<Forced>,
    branches: Branches,
    /// How many steps may wait in branches before the search turns eager.
    room: usize,
    /// The branches of this run for which there was no room.
    surplus: Vec<OptimalUnit>,
    aside: Vec<Aside>,
    /// The steps that wait in `aside`.
    n_aside: usize,
    /// A unit that is to be run from its first step.
    restart: Option<OptimalUnit>,
    /// How many steps of the run in progress were taken before, from the start on.
    n_again: usize,
    /// How many steps of the run in progress were given, and how many of those were taken before:
    /// with these it can be begun again.
    given: Given,
    /// What the branches of this run have to share: its part of the whole.
    mass: f64,
    explored: f64,
    races: Vec<Position>,
    block: Vec<Forced>,
    past: Vec<Position>,
    /// Which bound was met so far.
    exceeded: Exceeded,
    /// The execution ends here because what is left belongs to another one.
    is_asleep: bool,
    /// Whether the step whose races are looked at is a compare-and-swap.
    compares: bool,
}

/// With what a run began.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    n_steps: usize,
    n_taken: usize,
}

/// What waits while the reversals of one execution are explored eagerly.
#[derive(Debug)]
struct Aside {
    /// The execution that the branches belong to, as far as they need it.
    path: Vec<Forced>,
    branches: Branches,
    surplus: Vec<OptimalUnit>,
}

/// Blocks that wait at the states where they begin.
#[derive(Debug, Default)]
struct Branches {
    /// By depth.
    waiting: Vec<Waiting>,
    /// No block waits at this depth or below it. The vectors stay, to be filled again.
    end: usize,
    n_blocks: usize,
    n_steps: usize,
    /// Depth and index of the blocks that were found in this run.
    fresh: Vec<(u32, u32)>,
}

/// The blocks that wait at one depth, one after the other.
#[derive(Debug, Default)]
struct Waiting {
    steps: Vec<Forced>,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    len: u32,
    mass: f64,
}

/// How many steps may wait in branches: a few megabytes, whatever the program.
pub(crate) const ROOM: usize = 1 << 18;

impl Optimal {
    /// With room for so many waiting steps.
    pub(crate) fn with_room(room: usize) -> Self {
        Self {
            marks: Vec::new(),
            heads: Vec::new(),
            forced: Vec::new(),
            branches: Branches::default(),
            room,
            surplus: Vec::new(),
            aside: Vec::new(),
            n_aside: 0,
            restart: None,
            n_again: 0,
            given: Given::default(),
            mass: 1.0,
            explored: 0.0,
            races: Vec::new(),
            block: Vec::new(),
            past: Vec::new(),
            exceeded: Exceeded::default(),
            is_asleep: false,
            compares: false,
        }
    }

    /// Finds what the step of `thread` that is about to be taken, as a free step or a head,
    /// reverses.
    fn reverse(&mut self, view: &View<'_>, thread: ThreadId, operation: Operation, is_head: bool) {
        if operation.may_block() {
            // A head that may block was found with all its competitors, from another execution.
            if !is_head {
                self.reverse_rivals(view.order, thread, operation);
            }
            if !matches!(operation, Operation::AwaitModify(_)) {
                return;
            }
        }
        let order = view.order;
        self.compares = view.system.compares(thread);
        order.race_candidates(thread, operation, &mut self.races);
        if operation.may_block() {
            let write = order.rivals(thread, operation).next();
            self.races.retain(|&race| Some(race) != write);
        }
        match self.races[..] {
            [] => {}
            [race] => {
                if may_be_coenabled(order.operation(race), operation) {
                    self.reverse_one(order, race, order.clock(thread), thread, operation);
                }
            }
            _ => {
                let mut races = std::mem::take(&mut self.races);
                let is_free = |&race: &Position| self.marks[race as usize - 1] == Mark::Free;
                if races.iter().any(is_free) {
                    order.keep_immediate(operation, &mut races);
                    self.reverse_all(order, &races, thread, operation);
                }
                self.races = races;
            }
        }
    }

    /// Finds which of the steps that the next step of `thread` races with it is to displace.
    fn reverse_all(
        &mut self,
        order: &HappensBefore,
        races: &[Position],
        thread: ThreadId,
        operation: Operation,
    ) {
        let own = order.clock(thread);
        if let [race] = *races {
            return self.reverse_one(order, race, own, thread, operation);
        }
        let mut past = std::mem::take(&mut self.past);
        for &race in races {
            if self.marks[race as usize - 1] != Mark::Free {
                continue;
            }
            past.clear();
            past.extend_from_slice(own);
            for &other in races.iter().filter(|&&other| other != race) {
                join(&mut past, order.clock_at(other));
            }
            self.reverse_one(order, race, &past, thread, operation);
        }
        self.past = past;
    }

    /// Finds whether the next step of `thread`, whose block is `past`, is to displace a step that
    /// it races with.
    fn reverse_one(
        &mut self,
        order: &HappensBefore,
        race: Position,
        past: &[Position],
        thread: ThreadId,
        operation: Operation,
    ) {
        let is_outside = |head: &Head| !order.knows(past, head.at);
        let is_reversed_here = self.marks[race as usize - 1] == Mark::Free
            && !self.heads.iter().rev().take_while(|head| head.at > race).any(is_outside)
            && self.may_be_in_turn(order, race, past, thread, operation);
        if is_reversed_here {
            self.branch(order, race, past, thread);
        }
    }

    /// Finds what an operation that may block reverses, taken or waiting.
    fn reverse_rivals(&mut self, order: &HappensBefore, thread: ThreadId, operation: Operation) {
        self.compares = false;
        if operation.touches().as_slice().is_empty() {
            return; // No step competes for the end of a thread.
        }
        let mut past = std::mem::take(&mut self.past);
        past.clear();
        past.extend_from_slice(order.clock(thread));
        if let Some(waker) = order.waker(thread, operation) {
            join(&mut past, order.clock_at(waker));
        }
        let is_writer = matches!(operation, Operation::WriteAcquire(_));
        for rival in order.rivals(thread, operation) {
            if is_writer {
                // Which readers have to leave first depends on the rival.
                past.clear();
                past.extend_from_slice(order.clock(thread));
                for departure in order.departures(operation, rival) {
                    join(&mut past, order.clock_at(departure));
                }
            }
            if rival < self.last_head_outside(order, &past) {
                if is_writer {
                    continue;
                }
                // Older rivals are before that head, too.
                break;
            }
            if self.marks[rival as usize - 1] == Mark::Free
                && self.may_be_in_turn(order, rival, &past, thread, operation)
            {
                self.branch(order, rival, &past, thread);
            }
        }
        self.past = past;
    }

    /// The last head that is not in `past`; 0 if all are.
    fn last_head_outside(&self, order: &HappensBefore, past: &[Position]) -> Position {
        let outside = self.heads.iter().rev().find(|head| !order.knows(past, head.at));
        outside.map_or(0, |head| head.at)
    }

    /// The same as [`Self::in_turn`], where a compare-and-swap may turn out to be another
    /// operation.
    fn may_be_in_turn(
        &self,
        order: &HappensBefore,
        displaced: Position,
        past: &[Position],
        thread: ThreadId,
        operation: Operation,
    ) -> bool {
        let owner = order.thread(displaced);
        let end = displaced;
        let in_turn = |as_what| self.in_turn(order, displaced, end, owner, past, thread, as_what);
        in_turn(operation)
            || self.compares
                && operation.object().is_some_and(|it| in_turn(Operation::ReadModifyWrite(it)))
    }

    /// Whether a compare-and-swap that is about to be taken as a head is in turn as what it is
    /// here.
    fn is_out_of_turn(&self, view: &View<'_>, step: Forced) -> bool {
        let Mark::Head { displaced: Some(owner), start } = step.mark else { return false };
        let (order, thread) = (view.order, step.decision.thread);
        view.system.compares(thread) && {
            let operation = view.operation(thread).expect("a compare-and-swap is enabled");
            let (displaced, end) = (start + 1, order.len() as Position + 1);
            !self.in_turn(order, displaced, end, owner, order.clock(thread), thread, operation)
        }
    }

    /// Whether a step may become the next head that displaces the step `displaced` of `owner`:
    /// after heads that displaced the same step before and that it would not follow, only if its
    /// thread is larger. What it depends on is in its `past` or before `end`.
    #[expect(clippy::too_many_arguments, reason = "they are what a reversal is")]
    fn in_turn(
        &self,
        order: &HappensBefore,
        displaced: Position,
        end: Position,
        owner: ThreadId,
        past: &[Position],
        thread: ThreadId,
        operation: Operation,
    ) -> bool {
        let is_enabled_after = |head: Position| {
            let enabler = order.enabler(operation, displaced as usize - 1);
            enabler != 0 && order.ordered(head, enabler)
        };
        let mut last = displaced - 1;
        let before = self.heads.iter().rev().skip_while(|head| head.at > displaced);
        for &Head { at: head, largest } in before {
            let Mark::Head { displaced: Some(other), start } = self.marks[head as usize - 1] else {
                return true;
            };
            // Larger than all that are left, it is in turn whether or not it follows one of them.
            if head != last || other != owner || largest <= thread {
                return true;
            }
            let follows = order.knows(past, head)
                || is_enabled_after(head)
                || (head..end)
                    .any(|at| order.ordered(head, at) && dependent(order.operation(at), operation));
            if follows {
                return true;
            }
            if thread < order.thread(head) {
                return false;
            }
            last = start;
        }
        true
    }

    /// Keeps the block of `past` and then `thread`, to take the place of the step `displaced`.
    fn branch(
        &mut self,
        order: &HappensBefore,
        displaced: Position,
        past: &[Position],
        thread: ThreadId,
    ) {
        let depth = displaced as usize - 1;
        self.block.clear();
        let steps = (displaced + 1..=order.len() as Position).filter(|&at| order.knows(past, at));
        self.block.extend(steps.map(|at| Forced {
            decision: order.decision(at),
            mark: Mark::Block,
            operation: Some(order.operation(at)),
        }));
        let mark = Mark::Head { displaced: Some(order.thread(displaced)), start: depth as u32 };
        self.block.push(Forced { decision: Decision::of(thread), mark, operation: None });
        self.keep(order, depth);
    }

    /// Keeps `self.block` for later.
    fn keep(&mut self, order: &HappensBefore, depth: usize) {
        if self.branches.n_steps + self.n_aside + self.block.len() <= self.room {
            self.branches.push(depth, &self.block);
        } else {
            let mut steps = self.path(order, depth);
            steps.extend_from_slice(&self.block);
            self.surplus.push(OptimalUnit { steps, n_taken: depth as u32, mass: 0.0 });
        }
    }

    /// The first `depth` steps of the execution, with their marks.
    fn path(&self, order: &HappensBefore, depth: usize) -> Vec<Forced> {
        let step = |(idx, &mark): (usize, &Mark)| Forced {
            decision: order.decision(idx as Position + 1),
            mark,
            operation: Some(order.operation(idx as Position + 1)),
        };
        self.marks[..depth].iter().enumerate().map(step).collect()
    }

    /// Finds all branches that a free step or a head, about to be taken, gives rise to.
    #[inline]
    fn look_around(&mut self, view: &View<'_>, step: Forced) {
        let Forced { decision, mark, .. } = step;
        if decision.choice != 0 {
            return; // The first alternative has found them.
        }
        let operation = view.operation(decision.thread).expect("an enabled thread");
        self.reverse(view, decision.thread, operation, mark != Mark::Free);
        let start = view.depth() as u32;
        let other = match mark {
            Mark::Head { .. } => mark,
            _ => Mark::Head { displaced: None, start },
        };
        for choice in (1..view.choices(decision.thread)).rev() {
            self.block.clear();
            let decision = Decision { choice, ..decision };
            self.block.push(Forced { decision, mark: other, operation: None });
            self.keep(view.order, view.depth());
        }
    }

    /// Whether the next step of `thread` belongs to another execution.
    ///
    /// Of several unordered steps that come before the free step *e*, the one of the smallest
    /// thread is the head. Where *e* follows at once, that is so by [`Self::in_turn`]. Where the
    /// head has put *e* beyond the bound, the others may follow only if their threads are larger.
    fn sleeps(&mut self, view: &View<'_>, thread: ThreadId) -> bool {
        let order = view.order;
        let Some(operation) = view.operation(thread) else { return false };
        let mut follows = std::mem::take(&mut self.races);
        order.predecessors(thread, operation, &mut follows);
        let own = order.clock(thread);
        let is_after =
            |at| order.knows(own, at) || follows.iter().any(|&before| order.ordered(at, before));
        let sleeps = self.heads.iter().any(|&Head { at: head, .. }| {
            let Mark::Head { displaced: Some(owner), start } = self.marks[head as usize - 1] else {
                return false;
            };
            let waits = order.steps_of(owner).last().is_none_or(|&at| at <= start)
                && view.over.any().contains(owner);
            waits && thread < order.thread(head) && {
                let displaced = view.operation(owner).expect("it is enabled");
                dependent(displaced, operation)
                    && !(start + 1..=order.len() as Position)
                        .any(|at| dependent(order.operation(at), displaced) && is_after(at))
            }
        });
        self.races = follows;
        sleeps
    }

    /// Takes the step.
    #[inline]
    fn take(&mut self, view: &View<'_>, step: Forced) -> Choice {
        let Forced { decision, mark, .. } = step;
        if let Mark::Head { displaced, start } = mark {
            let largest = self.largest_in_turn(displaced, start).max(Some(decision.thread));
            let largest = largest.expect("it is that thread at least");
            self.heads.push(Head { at: view.depth() as Position + 1, largest });
        }
        self.marks.push(mark);
        match view.depth() < self.n_again {
            true => Choice::Again(decision),
            false => Choice::Step(decision),
        }
    }

    /// The largest of the threads whose heads displaced the next step of `owner` in turn, up to the
    /// step at `start`; none if that is no such head.
    fn largest_in_turn(&self, owner: Option<ThreadId>, start: u32) -> Option<ThreadId> {
        let last = self.heads.last().filter(|head| head.at == start)?;
        match self.marks[start as usize - 1] {
            Mark::Head { displaced, .. } if displaced == owner => Some(last.largest),
            _ => None,
        }
    }

    /// Keeps only the first `depth` marks.
    fn truncate(&mut self, depth: usize) {
        self.marks.truncate(depth);
        while self.heads.pop_if(|head| head.at as usize > depth).is_some() {}
    }

    /// Makes `unit` the next to run, from its first step.
    fn begin(&mut self, unit: OptimalUnit) -> Option<usize> {
        self.truncate(0);
        self.mass = unit.mass;
        self.n_again = unit.n_taken as usize;
        self.forced.clear();
        self.forced.extend(unit.steps.iter().rev());
        self.given = Given { n_steps: unit.steps.len(), n_taken: self.n_again };
        Some(0)
    }
}

impl Reduce for Optimal {
    fn travels(&self) -> bool {
        true
    }

    #[inline]
    fn choose(&mut self, view: &View<'_>) -> Choice {
        debug_assert_eq!(self.marks.len(), view.depth());
        if let Some(step) = self.forced.pop() {
            let Decision { thread, choice } = step.decision;
            // Only the last step of a block is new here; all others were taken before.
            let is_new = self.forced.is_empty();
            let next = view.next.get(thread.index()).and_then(|next| next.operation());
            if step.operation.is_some() && step.operation != next {
                self.forced.clear();
                return Choice::Diverged(step.decision, step.operation);
            }
            if is_new && self.is_out_of_turn(view, step) {
                return Choice::Refused;
            }
            if is_new && view.over.any().contains(thread) {
                // Beyond the bound here, and perhaps not where it would come yet earlier.
                self.look_around(view, step);
                self.exceeded.add(Exceeded::by(ThreadSet::one(thread), *view.over));
                return Choice::Refused;
            }
            if is_new && !view.over.any().is_empty() && self.sleeps(view, thread) {
                return Choice::Refused;
            }
            if view.enabled.contains(thread) && choice < view.choices(thread) {
                if is_new {
                    self.look_around(view, step);
                }
                return self.take(view, step);
            }
            self.forced.clear();
            return match is_new && next.is_some() {
                true => Choice::Refused,
                false => Choice::Diverged(step.decision, step.operation),
            };
        }
        let displaced = match self.marks.last() {
            Some(&Mark::Head { displaced, .. }) => displaced,
            _ => None,
        };
        let within = view.enabled - view.over.any();
        let awake = match within == view.enabled {
            true => within,
            false => within.iter().filter(|&thread| !self.sleeps(view, thread)).collect(),
        };
        let thread =
            displaced.filter(|&thread| awake.contains(thread)).or_else(|| view.preferred(awake));
        let Some(thread) = thread else {
            self.exceeded.add(Exceeded::by(view.enabled, *view.over));
            self.is_asleep = !within.is_empty();
            return if self.is_asleep { Choice::Asleep } else { Choice::OverBound };
        };
        let decision = Decision::of(thread);
        let step = Forced { decision, mark: Mark::Free, operation: None };
        self.look_around(view, step);
        self.take(view, step)
    }

    #[inline]
    fn finish(&mut self, view: &View<'_>, end: End) {
        if end != End::GivenUp || self.is_asleep {
            self.is_asleep = false;
            for (thread, operation) in view.operations() {
                if view.over.any().contains(thread) {
                    self.reverse(view, thread, operation, false);
                } else if operation.may_block() && !view.enabled.contains(thread) {
                    self.reverse_rivals(view.order, thread, operation);
                }
            }
        }
        let n_found = self.branches.fresh.len() + self.surplus.len();
        let share = self.mass / (n_found + 1) as f64;
        self.explored += share;
        self.branches.settle(share);
        self.surplus.iter_mut().for_each(|unit| unit.mass = share);
        if !self.surplus.is_empty() {
            let deepest = self.branches.deepest().map_or(0, |depth| depth + 1);
            let path = self.path(view.order, deepest.saturating_sub(1));
            self.n_aside += self.branches.n_steps;
            self.aside.push(Aside {
                path,
                branches: std::mem::take(&mut self.branches),
                surplus: std::mem::take(&mut self.surplus),
            });
        }
    }

    #[inline]
    fn backtrack(&mut self) -> Option<usize> {
        if let Some(unit) = self.restart.take() {
            return self.begin(unit);
        }
        loop {
            if let Some(depth) = self.branches.deepest() {
                self.mass = self.branches.pop(depth, &mut self.forced);
                self.n_again = 0;
                self.given = Given { n_steps: depth + self.forced.len(), n_taken: depth };
                self.truncate(depth);
                return Some(depth);
            }
            let aside = self.aside.last_mut()?;
            if let Some(unit) = aside.surplus.pop() {
                return self.begin(unit);
            }
            let aside = self.aside.pop().expect("it is there");
            self.branches = aside.branches;
            self.n_aside -= self.branches.n_steps;
            if let Some(depth) = self.branches.deepest() {
                // Back to where the deepest of them begins, and on with it.
                let mass = self.branches.pop(depth, &mut self.forced);
                self.forced.extend(aside.path[..depth].iter().rev());
                self.truncate(0);
                self.mass = mass;
                self.n_again = depth;
                self.given = Given { n_steps: self.forced.len(), n_taken: depth };
                return Some(0);
            }
        }
    }

    fn frontier(&self) -> u64 {
        let aside = |aside: &Aside| aside.branches.n_blocks + aside.surplus.len();
        (self.branches.n_blocks + self.aside.iter().map(aside).sum::<usize>()) as u64
    }

    fn explored(&self) -> f64 {
        self.explored
    }

    fn share(&mut self, schedule: &Schedule) -> Option<Unit> {
        if let Some(aside) = self.aside.first_mut() {
            if let Some(unit) = aside.surplus.pop() {
                return Some(Unit::Optimal(unit));
            }
            let depth = aside.branches.shallowest()?;
            let steps = aside.path[..depth].to_vec();
            self.n_aside -= aside.branches.n_steps;
            let unit = aside.branches.give(depth, steps);
            self.n_aside += aside.branches.n_steps;
            return Some(Unit::Optimal(unit));
        }
        // The last one is kept: a worker that gives all away has to ask for work next.
        if self.branches.n_blocks < 2 {
            return None;
        }
        let depth = self.branches.shallowest()?;
        let steps = self.steps(schedule, depth);
        Some(Unit::Optimal(self.branches.give(depth, steps)))
    }

    fn adopt(&mut self, unit: Unit) {
        match unit {
            Unit::Root => {
                self.truncate(0);
                self.n_again = 0;
                self.given = Given::default();
                self.mass = 1.0;
            }
            Unit::Optimal(unit) => self.restart = Some(unit),
            Unit::Stack(_) | Unit::Graph(_) | Unit::Tree(_) | Unit::Samples(_) => {
                panic!("a unit of another search")
            }
        }
    }

    fn exceeded(&self) -> Exceeded {
        self.exceeded
    }

    fn dissolve(&mut self, schedule: &Schedule) -> Vec<Unit> {
        let mut units: Vec<OptimalUnit> = self.restart.take().into_iter().collect();
        if !self.forced.is_empty() {
            // The branch that was about to be taken.
            let steps = self.steps(schedule, usize::MAX);
            let n_taken = schedule.len().max(self.n_again) as u32;
            units.push(OptimalUnit { steps, n_taken, mass: self.mass });
        }
        self.give_branches(schedule, units)
    }

    fn abandon(&mut self, schedule: &Schedule) -> Option<Vec<Unit>> {
        // What the run has found, it will find again.
        self.branches.forget_fresh();
        self.surplus.clear();
        self.is_asleep = false;
        let Given { n_steps, n_taken } = self.given;
        let steps = self.steps(schedule, n_steps);
        debug_assert_eq!(steps.len(), n_steps, "a run has all steps that were given");
        let run = OptimalUnit { steps, n_taken: n_taken as u32, mass: self.mass };
        Some(self.give_branches(schedule, vec![run]))
    }
}

impl Optimal {
    /// Gives away all branches that wait, behind these units.
    fn give_branches(&mut self, schedule: &Schedule, mut units: Vec<OptimalUnit>) -> Vec<Unit> {
        while let Some(depth) = self.branches.deepest() {
            let steps = self.steps(schedule, depth);
            units.push(self.branches.give(depth, steps));
        }
        for mut aside in self.aside.drain(..) {
            while let Some(depth) = aside.branches.deepest() {
                units.push(aside.branches.give(depth, aside.path[..depth].to_vec()));
            }
            units.append(&mut aside.surplus);
        }
        self.n_aside = 0;
        self.forced.clear();
        units.into_iter().map(Unit::Optimal).collect()
    }

    /// The first `depth` steps of the execution, with their marks: those taken, as the schedule
    /// has them, and those that are about to be taken.
    fn steps(&self, schedule: &Schedule, depth: usize) -> Vec<Forced> {
        let taken = schedule.decisions().iter().zip(&self.marks);
        let taken = taken.map(|(&decision, &mark)| Forced { decision, mark, operation: None });
        taken.chain(self.forced.iter().rev().copied()).take(depth).collect()
    }
}

impl Branches {
    fn push(&mut self, depth: usize, block: &[Forced]) {
        if self.waiting.len() <= depth {
            self.waiting.resize_with(depth + 1, Waiting::default);
        }
        self.end = self.end.max(depth + 1);
        let waiting = &mut self.waiting[depth];
        self.fresh.push((depth as u32, waiting.blocks.len() as u32));
        waiting.steps.extend_from_slice(block);
        waiting.blocks.push(Block { len: block.len() as u32, mass: 0.0 });
        self.n_blocks += 1;
        self.n_steps += block.len();
    }

    /// Removes the blocks that were found in this run: at each depth the newest ones.
    fn forget_fresh(&mut self) {
        while let Some((depth, idx)) = self.fresh.pop() {
            let waiting = &mut self.waiting[depth as usize];
            let block = waiting.blocks.pop().expect("it waits there");
            debug_assert_eq!(waiting.blocks.len(), idx as usize, "nothing came behind it");
            waiting.steps.truncate(waiting.steps.len() - block.len as usize);
            self.n_blocks -= 1;
            self.n_steps -= block.len as usize;
        }
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
    fn pop(&mut self, depth: usize, forced: &mut Vec<Forced>) -> f64 {
        let waiting = &mut self.waiting[depth];
        let block = waiting.blocks.pop().expect("a block waits there");
        let start = waiting.steps.len() - block.len as usize;
        forced.clear();
        forced.extend(waiting.steps.drain(start..).rev());
        self.n_blocks -= 1;
        self.n_steps -= block.len as usize;
        block.mass
    }

    /// Takes out the newest block at `depth`, as a unit that begins with `steps`.
    fn give(&mut self, depth: usize, mut steps: Vec<Forced>) -> OptimalUnit {
        let mut block = Vec::new();
        let mass = self.pop(depth, &mut block);
        let n_taken = steps.len() as u32;
        steps.extend(block.iter().rev());
        OptimalUnit { steps, n_taken, mass }
    }
}

fn join(past: &mut [Position], other: &[Position]) {
    for (mine, &theirs) in past.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}
