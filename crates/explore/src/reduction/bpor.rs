//! Bounded partial-order reduction: what `dpor` asks for, and what the bound asks for beside it.
//!
//! Implements Coons, *Fast Error Detection with Coverage Guarantees for Concurrent Software* (PhD
//! thesis), chapter 5: Algorithm 8 with the procedures of Algorithms 9 to 13; and chapter 6,
//! Algorithms 14 to 19.
//!
//! A bound makes independent steps depend on each other: which of them comes first decides what can
//! still be paid for. So more has to be explored than races ask for. What exactly is the
//! [`Rule`] of each bound, in two parts: the threads to begin with at a new state, and those
//! that a race adds to an earlier one.
//!
//! | thesis                                        | here                                     |
//! |-----------------------------------------------|------------------------------------------|
//! | Alg. 8, line 5-10, most recent step of each v | [`Bpor::races`]                          |
//! | *Initialize(S)*                               | [`Bpor::beginning`]                      |
//! | *Backtrack(S, i, u)*                          | [`Bpor::backtrack`]                      |
//! | Alg. 11, *j*                                  | [`run_start`]                            |
//! | 6.1, *i* ↛ *u*                                | [`BporOpt::Transitive`]                  |
//! | 6.2, *E(S, i, u)*                             | [`Bpor::instead`]                        |
//! | 6.3, *GetAcquire*                             | only steps that may be co-enabled        |
//! | 6.4, *pending(s)*, *boundExceeded*            | [`Node::pending`], [`Node::wanted`]      |
//! | 6.5, sleep sets                               | [`Sleeping::WhenComplete`](super::sleep::Sleeping) |
//! | 6.6, fair and another                         | [`Rule::FairAnd`]                        |
//! | *Post(S, k, u)*                               | [`Bpor::unmet`], in debug builds         |
//!
//! Differs from the thesis:
//! - Algorithm 18 visits `pending` in a loop of its own and misses what is added meanwhile; here
//!   there is one loop over both. What goes into `backtrack` is what [`dpor`] asks
//!   for, to the letter, so a bound that cuts nothing costs what `dpor` costs.
//! - Algorithm 11 takes *j ≤ i*, as Algorithm 16 does.
//! - Algorithm 13 begins with a thread that has yielded least; any other within the bound is not
//!   enough (`yield; yield; y=1 | yield; y=0 | yield`, limit 1).
//! - 6.3 is not used with the preemption bound, see [`BporOpt::refuses`].
//! - 6.5: what was explored sleeps only if nothing was cut behind it; or, with the context and the
//!   preemption bound, if it is the last thread that goes on, which is cheaper than all others.
//!   Where such a thread is left out because it sleeps, the bound counts as met.
//! - 6.6 adds too little for preemption and delta. Here a fair bound beside another has one rule,
//!   whatever the other is: the last thread alone if it can go on with a step that neither yields
//!   nor may block nor lets others move, and else everybody; and everybody wherever there is a
//!   race.
//! - Where it matters who can move, two steps at one object depend on each other also if one can
//!   only enable the other. There is no step with which a thread begins or ends: its last step is
//!   what a join depends on, and may let others move; which one that is turns out after it was
//!   taken.

use super::dpor;
use super::stack::{Node, Policy, Stack};
use crate::bound::{BoundKind, ahead_of};
use crate::options::{BporOpt, Options};
use crate::view::View;
use mazurka_core::{
    Next, ObjectId, Operation, Position, ThreadId, ThreadSet, Touch, dependent, may_be_coenabled,
};

/// What a bound asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Everybody, everywhere (Algorithm 9).
    Depth,
    /// The last thread alone, or everybody (Algorithms 10, 14 and 17).
    Context,
    /// A thread where it races, and where the racing thread began to run (11, 15 and 16).
    Preemption,
    /// A thread and all that come before it in turn (12).
    Delta,
    /// A thread; everybody beside a step that lets others move (13).
    Fair,
    /// The last thread alone if it cannot be in anybody's way, or everybody.
    FairAnd,
}

/// Takes the steps that some race or the bound asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bpor {
    rule: Rule,
    transitive: bool,
    alternative: bool,
    release: bool,
    bound: bool,
}

impl Bpor {
    /// For the bounds of these options, which have one that is not local.
    pub(crate) fn new(options: &Options) -> Self {
        let main = options.main_bound().map(|bound| bound.kind);
        let is_fair = options.fair_bound().is_some();
        let rule = match main {
            Some(BoundKind::Depth) => Rule::Depth,
            None => Rule::Fair,
            Some(_) if is_fair => Rule::FairAnd,
            Some(BoundKind::Context) => Rule::Context,
            Some(BoundKind::Preemption) => Rule::Preemption,
            Some(BoundKind::Delta) => Rule::Delta,
            Some(kind) => unreachable!("{kind} asks for nothing that dpor does not ask for"),
        };
        Self {
            rule,
            transitive: options.has(BporOpt::Transitive),
            alternative: options.has(BporOpt::Alternative),
            release: options.has(BporOpt::Release),
            bound: options.has(BporOpt::Bound),
        }
    }

    /// The threads to begin with, of those that are awake.
    fn beginning(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet {
        let one = |thread: Option<ThreadId>| thread.map_or(view.enabled, ThreadSet::one);
        let last = view.last().filter(|&last| awake.contains(last));
        let threads = match self.rule {
            Rule::Depth => view.enabled,
            Rule::Context => one(last),
            Rule::Preemption | Rule::Delta => one(view.staying(awake)),
            Rule::Fair => one((awake & view.over.fairest).first()),
            Rule::FairAnd => one(last.filter(|&last| {
                let operation = view.operation(last).expect("it is enabled");
                !view.over.fair.contains(last)
                    && operation != Operation::Yield
                    && !operation.may_block()
                    && !lets_others_move(operation)
            })),
        };
        self.closed(view, view.depth(), view.enabled, self.releases(view), threads)
    }

    /// All that has to be explored at the state at `depth` if `threads` are.
    fn closed(
        &self,
        view: &View<'_>,
        depth: usize,
        enabled: ThreadSet,
        releases: ThreadSet,
        threads: ThreadSet,
    ) -> ThreadSet {
        let last = (depth > 0).then(|| view.order.thread(depth as Position));
        let is_last = |thread| Some(thread) == last;
        match self.rule {
            Rule::Delta | Rule::Fair if !(threads & releases).is_empty() => enabled,
            Rule::Delta => {
                let start = last.unwrap_or(ThreadId::new(0));
                threads.iter().fold(threads, |all, it| all | ahead_of(it, start, enabled))
            }
            Rule::Context | Rule::FairAnd if !threads.iter().all(is_last) => enabled,
            _ => threads,
        }
    }

    /// Adds to a node what the bound asks for.
    fn add(&self, view: &View<'_>, depth: usize, node: &mut Node, threads: ThreadSet) {
        let all = self.closed(view, depth, node.enabled, node.releases, threads);
        match self.bound {
            true => node.pending |= all,
            false => node.todo |= all,
        }
    }

    /// Finds the races of what every thread would do next.
    fn detect(self, stack: &mut Stack<Self>, view: &View<'_>) {
        let last = view.depth() as Position;
        for (thread, operation) in view.operations() {
            let moved = last == 0
                || view.order.thread(last) == thread
                // The last step may have made it another operation.
                || view.system.compares(thread) && self.is_race(view, last, operation)
                || view.order.operation(last) == Operation::Spawn(thread)
                || view.order.joiners().any(|joiner| joiner == thread);
            let mut races = std::mem::take(&mut stack.races);
            if moved {
                self.races(view, thread, operation, &mut races);
            } else {
                // All others were dealt with at the state before.
                races.clear();
                races.extend(self.is_race(view, last, operation).then_some(last));
            }
            for &race in &races {
                self.backtrack(stack, view, race, thread);
            }
            stack.races = races;
        }
    }

    /// Whether the step `at` is dependent with `operation`, another thread's next.
    fn is_race(&self, view: &View<'_>, at: Position, operation: Operation) -> bool {
        let taken = view.order.operation(at);
        match operation {
            Operation::Join(child) => {
                !self.release
                    && view.order.thread(at) == child
                    && view.next[child.index()] == Next::Finished
                    && view.order.steps_of(child).last() == Some(&at)
            }
            _ if self.release => dependent(taken, operation) && may_be_coenabled(taken, operation),
            _ => meet(taken, operation),
        }
    }

    /// The most recent step of each thread that races with the next one of `thread`.
    fn races(
        &self,
        view: &View<'_>,
        thread: ThreadId,
        operation: Operation,
        found: &mut Vec<Position>,
    ) {
        let order = view.order;
        found.clear();
        if !self.transitive {
            let others = (0..view.next.len()).map(ThreadId::new).filter(|&other| other != thread);
            let newest = |other: ThreadId| {
                let mut steps = order.steps_of(other).iter().rev().copied();
                steps.find(|&at| self.is_race(view, at, operation))
            };
            found.extend(others.filter_map(newest));
            return;
        }
        match operation {
            Operation::Join(child) => {
                found.extend(order.steps_of(child).last());
            }
            _ if self.release && operation.may_block() => {
                found.extend(order.rivals(thread, operation).next());
                if let Operation::AwaitModify(_) = operation {
                    // A read that came before does not keep it waiting.
                    let mut reads = Vec::new();
                    order.race_candidates(thread, operation, &mut reads);
                    found.extend(reads);
                    found.sort_unstable_by(|a, b| b.cmp(a));
                    found.dedup();
                }
            }
            _ if self.release => order.immediate_races(thread, operation, found),
            _ => order.last_at_objects(operation, found),
        }
        found.retain(|&at| {
            order.thread(at) != thread
                && !order.knows(order.clock(thread), at)
                && self.is_race(view, at, operation)
        });
        // Newest first: what happens before another race is implied by it.
        let mut idx = 1;
        while idx < found.len() {
            match found[..idx].iter().any(|&newer| order.ordered(found[idx], newer)) {
                true => drop(found.remove(idx)),
                false => idx += 1,
            }
        }
    }

    /// What the bound asks for because the step `race` is dependent with the next one of `thread`.
    fn backtrack(self, stack: &mut Stack<Self>, view: &View<'_>, race: Position, thread: ThreadId) {
        let depth = race as usize - 1;
        match self.rule {
            Rule::Depth => {}
            Rule::FairAnd => {
                stack.with_node(depth, |node| self.add(view, depth, node, node.enabled));
            }
            Rule::Context | Rule::Delta | Rule::Fair => self.ask(stack, view, depth, thread),
            Rule::Preemption => {
                let instead = stack.with_node(depth, |node| self.instead(view, node, race, thread));
                self.ask(stack, view, depth, instead);
                let start = run_start(view, race) as usize - 1;
                if start != depth {
                    self.ask(stack, view, start, instead);
                }
            }
        }
    }

    /// Adds `thread` at a state, or everybody if it could not move there or sleeps.
    fn ask(self, stack: &mut Stack<Self>, view: &View<'_>, depth: usize, thread: ThreadId) {
        stack.with_node(depth, |node| {
            let is_possible = node.enabled.contains(thread) && !node.sleep.contains(thread);
            let threads = if is_possible { ThreadSet::one(thread) } else { node.enabled };
            self.add(view, depth, node, threads);
        });
    }

    /// The cheapest thread with which one can begin to bring the next step of `thread` before
    /// `race`: itself, or one that it has waited for since.
    fn instead(
        &self,
        view: &View<'_>,
        node: &mut Node,
        race: Position,
        thread: ThreadId,
    ) -> ThreadId {
        let order = view.order;
        if !self.alternative || order.knows(order.clock(thread), race) {
            return thread;
        }
        let possible = dpor::necessary(view, race, thread) & node.enabled;
        let last = race.checked_sub(1).filter(|&at| at > 0).map(|at| order.thread(at));
        let last = last.filter(|&last| possible.contains(last));
        last.or_else(|| (possible & node.wanted()).first())
            .or_else(|| (possible - node.sleep).first())
            .unwrap_or(thread)
    }

    /// The step before last turned out to be the last one of its thread: others that wait for its
    /// end can move now.
    fn note_end(self, stack: &mut Stack<Self>, view: &View<'_>) {
        let Some(last) = view.last() else { return };
        if matches!(self.rule, Rule::Delta | Rule::Fair)
            && view.next[last.index()] == Next::Finished
        {
            let depth = view.depth() - 1;
            stack.with_node(depth, |node| {
                node.releases.insert(last);
                self.add(view, depth, node, node.enabled);
            });
        }
    }

    /// Threads were joined in the last step. Who does that goes on after the last steps of those:
    /// as a join does, its next step depends on them, but there is no moment in which it does not
    /// know of them. So everybody is added who could have moved instead.
    fn note_joins(self, stack: &mut Stack<Self>, view: &View<'_>) {
        if self.release {
            return;
        }
        for end in view.order.joined_ends() {
            let depths = [end as usize - 1, run_start(view, end) as usize - 1];
            for depth in depths {
                stack.with_node(depth, |node| self.add(view, depth, node, node.enabled));
            }
        }
    }

    /// *Post(S, len(S), u)* for all threads *u*: the most recent step of every other thread that
    /// races with the next one of *u* has its points. Written from the definitions (5.4, 5.6,
    /// 5.8, 5.10 with 6.3, 6.4, 6.6 and 6.7), apart from what establishes it.
    ///
    /// Gives a race that has not.
    fn unmet(
        self,
        stack: &mut Stack<Self>,
        view: &View<'_>,
    ) -> Option<(Position, ThreadId, Operation)> {
        /// Longer executions would take too long, even in a debug build.
        const MAX_DEPTH: usize = 40;
        let order = view.order;
        if self.rule == Rule::Depth || view.depth() > MAX_DEPTH {
            return None;
        }
        let all = 1..=view.depth() as Position;
        let threads: ThreadSet = all.clone().map(|at| order.thread(at)).collect();
        for (thread, operation) in view.operations() {
            let races =
                |at: &Position| order.thread(*at) != thread && self.is_race(view, *at, operation);
            for other in threads.iter() {
                let mut steps = all.clone().rev().filter(|&at| order.thread(at) == other);
                let Some(race) = steps.find(races) else { continue };
                let is_implied = order.knows(order.clock(thread), race)
                    || (race + 1..=view.depth() as Position)
                        .any(|at| races(&at) && order.ordered(race, at));
                let is_met =
                    self.transitive && is_implied || self.has_points(stack, view, race, thread);
                if !is_met {
                    return Some((race, thread, operation));
                }
            }
        }
        None
    }

    /// Whether the points for one race are there.
    fn has_points(
        self,
        stack: &mut Stack<Self>,
        view: &View<'_>,
        race: Position,
        thread: ThreadId,
    ) -> bool {
        let has = |node: &Node, threads: ThreadSet| {
            let there = (node.todo | node.pending) & node.enabled;
            there == node.enabled || !(there & threads).is_empty()
        };
        let mut instead = ThreadSet::one(thread);
        if self.alternative {
            instead |= dpor::necessary(view, race, thread);
        }
        let depth = race as usize - 1;
        let last = (depth > 0).then(|| view.order.thread(depth as Position));
        let at_race = stack.with_node(depth, |node| {
            let there = node.todo | node.pending;
            match self.rule {
                Rule::Depth => true,
                Rule::FairAnd => there == node.enabled,
                Rule::Context => {
                    there == node.enabled || last == Some(thread) && has(node, instead)
                }
                Rule::Delta if there != node.enabled => {
                    let start = last.unwrap_or(ThreadId::new(0));
                    let ahead = ahead_of(thread, start, node.enabled);
                    has(node, instead) && (ahead - there).is_empty()
                }
                _ => has(node, instead & node.enabled),
            }
        });
        let mut start = race;
        while start > 1 && view.order.thread(start - 1) == view.order.thread(start) {
            start -= 1;
        }
        let is_preemption = self.rule == Rule::Preemption;
        at_race
            && (!is_preemption || stack.with_node(start as usize - 1, |node| has(node, instead)))
    }
}

impl Policy for Bpor {
    fn initial(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet {
        match self.bound {
            true => self.prefer(view, awake).map_or(ThreadSet::EMPTY, ThreadSet::one),
            false => self.beginning(view, awake),
        }
    }

    fn pending(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet {
        match self.bound {
            true => self.beginning(view, awake),
            false => ThreadSet::EMPTY,
        }
    }

    fn releases(&self, view: &View<'_>) -> ThreadSet {
        let lets = |&thread: &ThreadId| view.operation(thread).is_some_and(lets_others_move);
        view.enabled.iter().filter(lets).collect()
    }

    fn prefer(&self, view: &View<'_>, among: ThreadSet) -> Option<ThreadId> {
        let fairest = among & view.over.fairest;
        match self.rule {
            Rule::Fair if !fairest.is_empty() => view.staying(fairest),
            _ => view.staying(among),
        }
    }

    fn doze_beside(&self, view: &View<'_>, thread: ThreadId) -> ThreadSet {
        let last = view.last().filter(|&last| last != thread);
        match self.rule {
            // The thread that goes on is cheaper than one that comes instead.
            Rule::Context | Rule::Preemption => last.map_or(ThreadSet::EMPTY, ThreadSet::one),
            _ => ThreadSet::EMPTY,
        }
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: ThreadId) {}

    fn at_state(stack: &mut Stack<Self>, view: &View<'_>) {
        let policy = stack.policy();
        if policy.bound {
            dpor::detect(stack, view, |depth, node, threads| {
                node.todo |= threads;
                policy.add(view, depth, node, threads);
            });
        }
        if policy.rule != Rule::Depth {
            policy.note_end(stack, view);
            policy.note_joins(stack, view);
            policy.detect(stack, view);
        }
        debug_assert_eq!(policy.unmet(stack, view), None, "{policy:?} {:?}", view.order);
    }

    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}

/// Whether a step and another thread's next operation touch one object, and not just to read it.
/// Wider than [`dependent`]: what puts something in and what takes something out can enable each
/// other.
pub(super) fn meet(taken: Operation, next: Operation) -> bool {
    use Operation as O;
    let has_ends = |operation: Operation| {
        matches!(operation, O::SemaphoreAcquire { .. } | O::Send { .. } | O::Receive(_))
    };
    let is_enabled_apart = has_ends(taken)
        || has_ends(next)
        || matches!(
            next,
            O::Reacquire { .. } | O::FutexResume(_) | O::Leave { .. } | O::Part { .. }
        );
    let touches = next.touches();
    let mut objects = touches.as_slice().iter().map(|it| it.0.0).chain(next.object());
    let is_at = |object: ObjectId| {
        let touches = taken.touches();
        let mut touches = touches.as_slice().iter();
        touches.any(|&((other, _), touch)| other == object && touch != Touch::Read)
    };
    dependent(taken, next) || is_enabled_apart && objects.any(is_at)
}

/// Whether the step can be what another thread waits for.
fn lets_others_move(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Release(_)
            | O::ReadRelease(_)
            | O::WriteRelease(_)
            | O::Wait { .. }
            | O::NotifyOne(_)
            | O::NotifyAll(_)
            | O::FutexRequeue { .. }
            | O::FutexWakeOp { .. }
            | O::SemaphoreRelease(_)
            | O::Arrive(_)
            | O::Meet(_)
            | O::Send { .. }
            | O::TrySend { .. }
            | O::Receive(_)
            | O::TryReceive(_)
            | O::TimedReceive(_)
            | O::Spawn(_)
    )
}

/// The first of the steps up to `at` that one thread took in a row.
fn run_start(view: &View<'_>, at: Position) -> Position {
    let steps = view.order.steps_of(view.order.thread(at));
    let steps = &steps[..steps.partition_point(|&step| step <= at)];
    let len = steps.len() as Position;
    // The last ones of the thread, up to where its steps are no longer neighbours.
    let is_earlier = |&(idx, &step): &(usize, &Position)| step + (len - 1 - idx as Position) < at;
    let mut low = 0;
    let mut high = steps.len() - 1;
    while low < high {
        let middle = (low + high) / 2;
        match is_earlier(&(middle, &steps[middle])) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    steps[low]
}
