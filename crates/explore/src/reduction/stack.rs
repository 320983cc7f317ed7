//! The stack of states that every reduction but `optimal` searches with: at each state, a set of
//! threads to explore, and who has been.
//!
//! Implements the depth-first searches of Flanagan and Godefroid (POPL 2005, Fig. 3), with sleep
//! sets ([`sleep`]) and stored states ([`Visited`]) beside them.
//!
//! | paper                 | here              |
//! |-----------------------|-------------------|
//! | *backtrack(s)*        | [`Node::todo`]    |
//! | *done*                | [`Node::done`]    |
//! | *pre(S, i)*           | the node at *i-1* |
//!
//! Within a bound ([`Bounds`](crate::bound::Bounds)), a step that would exceed it is not taken, and
//! a state remembers whether anything behind it was cut ([`Node::exceeded`]).
//!
//! Differs from the paper: a state can be shared by several workers. They take threads from it in
//! turn, and a race that one of them finds adds to the one set they all see. So a search by many
//! finds what a search by one finds.

use super::sleep::{self, Sleeping};
use super::{Choice, End, Reduce};
use crate::bound::{Exceeded, Over};
use crate::unit::Unit;
use crate::view::View;
use crate::visited::Visited;
use mazurka_core::{Decision, Position, Schedule, ThreadId, ThreadSet};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Which threads a [`Stack`] puts into its sets.
pub(crate) trait Policy: Copy + Send + Sized {
    /// The threads to explore from a new state, given those that do not sleep.
    fn initial(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet;

    /// The threads to explore as well, once something was cut by the bound.
    fn pending(&self, _view: &View<'_>, _awake: ThreadSet) -> ThreadSet {
        ThreadSet::EMPTY
    }

    /// The threads whose next step may let others move, where that matters.
    fn releases(&self, _view: &View<'_>) -> ThreadSet {
        ThreadSet::EMPTY
    }

    /// The one to take first.
    fn prefer(&self, view: &View<'_>, among: ThreadSet) -> Option<ThreadId> {
        view.preferred(among)
    }

    /// The threads that may sleep while a step of `thread` is explored, although something was cut
    /// behind them: whatever begins with `thread` and goes on with one of these before anything
    /// that depends on it has happened, is explored the other way round and exceeds the bound no
    /// sooner.
    fn doze_beside(&self, _view: &View<'_>, _thread: ThreadId) -> ThreadSet {
        ThreadSet::EMPTY
    }

    /// A step of `thread` is about to be taken.
    fn before_step(stack: &mut Stack<Self>, view: &View<'_>, thread: ThreadId);

    /// A new state was reached, before anything is chosen there.
    fn at_state(stack: &mut Stack<Self>, view: &View<'_>);

    /// The execution has ended here.
    fn at_end(stack: &mut Stack<Self>, view: &View<'_>);
}

/// A state on the stack.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) enabled: ThreadSet,
    /// The threads that slept already when the state was reached.
    pub(crate) sleep: ThreadSet,
    /// Those of them behind which something was cut.
    dozing: ThreadSet,
    /// The threads to explore, explored or not.
    pub(crate) todo: ThreadSet,
    /// The threads to explore as well, if the bound was met behind this state.
    pub(crate) pending: ThreadSet,
    /// The threads whose next step may let others move.
    pub(crate) releases: ThreadSet,
    /// The enabled threads whose next step would exceed a bound.
    over: Over,
    /// Which bound was met in some execution through this state.
    exceeded: Exceeded,
    /// The threads that were taken from it.
    pub(crate) done: ThreadSet,
    /// Those of them behind which something was cut, or that others may still explore.
    incomplete: ThreadSet,
    /// Alternatives of a step that are left: thread, the next one, how many there are.
    pub(crate) choices: Option<(ThreadId, u32, u32)>,
    /// A step from here led back to a state on the stack.
    is_on_cycle: bool,
}

/// A step that was taken from a node, and what sleeps while it is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) decision: Decision,
    pub(crate) asleep: ThreadSet,
    /// Those of them behind which something was cut.
    dozing: ThreadSet,
}

impl Node {
    /// Nothing that sleeps was taken.
    fn is_consistent(&self) -> bool {
        (self.sleep & self.done).is_empty()
    }

    /// All that is to be explored, now or before.
    pub(crate) fn wanted(&self) -> ThreadSet {
        match self.exceeded().any() {
            true => (self.todo | self.pending) & self.enabled,
            false => self.todo & self.enabled,
        }
    }

    /// Which bound was met, here or behind this state.
    fn exceeded(&self) -> Exceeded {
        let mut exceeded = self.exceeded;
        exceeded.main |= !self.dozing.is_empty();
        exceeded.add(Exceeded::by(self.todo - self.sleep, self.over));
        if exceeded.any() {
            exceeded.add(Exceeded::by(self.pending - self.sleep, self.over));
        }
        exceeded
    }

    /// The threads to explore that were not taken yet.
    pub(crate) fn open(&self) -> ThreadSet {
        self.wanted() - self.over.any() - self.done - self.sleep
    }

    fn has_work(&self) -> bool {
        self.choices.is_some() || !self.open().is_empty()
    }

    /// A step of `thread`, and what sleeps while it is explored after those of `done`.
    fn beside(
        &self,
        done: ThreadSet,
        decision: Decision,
        view: &View<'_>,
        policy: &impl Policy,
        sleeping: Sleeping,
    ) -> Claim {
        let nobody = ThreadSet::EMPTY;
        let (slept, dozing) = match sleeping {
            Sleeping::Off => (nobody, nobody),
            _ if self.is_on_cycle => (nobody, nobody),
            Sleeping::On => (sleep::asleep_after(self.sleep, done), nobody),
            Sleeping::WhenComplete => {
                let dozing = done & self.incomplete & policy.doze_beside(view, decision.thread);
                let complete = done - self.incomplete;
                (sleep::asleep_after(self.sleep, complete | dozing), self.dozing | dozing)
            }
        };
        Claim { decision, asleep: slept, dozing }
    }

    /// Takes the next step that is worth exploring.
    fn claim(
        &mut self,
        view: &View<'_>,
        policy: &impl Policy,
        sleeping: Sleeping,
    ) -> Option<Claim> {
        if let Some((thread, choice, choices)) = self.choices.take() {
            if choice + 1 < choices {
                self.choices = Some((thread, choice + 1, choices));
            }
            let mut others = self.done;
            others.remove(thread);
            return Some(self.beside(others, Decision { thread, choice }, view, policy, sleeping));
        }
        let thread = policy.prefer(view, self.open())?;
        let claim = self.beside(self.done, Decision::of(thread), view, policy, sleeping);
        self.done.insert(thread);
        debug_assert!(self.is_consistent(), "{self:?}");
        let choices = view.choices(thread);
        if choices > 1 {
            self.choices = Some((thread, 1, choices));
        }
        Some(claim)
    }
}

/// A node, of this worker alone or of several.
#[derive(Clone, Debug)]
enum Place {
    Own(Node),
    Shared(SharedNode),
}

/// A node that several workers take from.
pub(crate) type SharedNode = Arc<Mutex<Node>>;

impl Place {
    fn with<T>(&mut self, use_it: impl FnOnce(&mut Node) -> T) -> T {
        match self {
            Self::Own(node) => use_it(node),
            // A worker that panics ends the whole search; its sets are still sets.
            Self::Shared(node) => use_it(&mut node.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn share(&mut self) -> SharedNode {
        if let Self::Own(node) = self {
            *self = Self::Shared(Arc::new(Mutex::new(*node)));
        }
        match self {
            Self::Shared(node) => node.clone(),
            Self::Own(_) => unreachable!("it was shared just now"),
        }
    }
}

/// A state on the stack of one worker.
#[derive(Clone, Debug)]
struct Entry {
    place: Place,
    /// What sleeps while the step that this worker took from it is explored.
    asleep: ThreadSet,
    /// Those of them behind which something was cut.
    dozing: ThreadSet,
    /// Whose step that was.
    taken: Option<ThreadId>,
    /// Under which number the state is stored, if it is.
    stored: Option<u128>,
}

impl Entry {
    fn new(node: Node, stored: Option<u128>) -> Self {
        let Node { sleep, dozing, .. } = node;
        Self { place: Place::Own(node), asleep: sleep, dozing, taken: None, stored }
    }

    /// Lets others take from it. They cannot know how far this worker is with what it has taken.
    fn share(&mut self) -> SharedNode {
        if let (Place::Own(node), Some(thread)) = (&mut self.place, self.taken) {
            node.incomplete.insert(thread);
        }
        self.place.share()
    }
}

/// A depth-first search with a set of threads at every state.
#[derive(Debug)]
pub(crate) struct Stack<P> {
    policy: P,
    entries: Vec<Entry>,
    sleeping: Sleeping,
    visited: Option<Visited>,
    /// Which bound was met so far.
    exceeded: Exceeded,
    /// Kept to be used again.
    pub(crate) races: Vec<Position>,
}

/// Nodes from the initial state on, shared or to be shared, and the steps between them.
#[derive(Clone, Debug)]
pub(crate) struct StackUnit {
    nodes: Vec<SharedNode>,
    /// Under which number each state is stored, if it is.
    stored: Vec<Option<u128>>,
    pub(crate) prefix: Vec<Decision>,
}

impl StackUnit {
    /// Whether a worker can take something from one of its nodes.
    pub(crate) fn has_work(&self) -> bool {
        self.nodes.iter().any(|node| lock(node).has_work())
    }

    /// A note of it, for those who come later.
    pub(crate) fn note(&self) -> StackNote {
        let nodes = self.nodes.iter().map(Arc::downgrade).collect();
        StackNote { nodes, prefix: self.prefix.clone() }
    }

    /// Its nodes, each with a name by which a node of two units is recognised.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, Node)> + '_ {
        self.nodes.iter().map(|node| (Arc::as_ptr(node).addr(), *lock(node)))
    }

    /// Under which number each state is stored.
    pub(crate) fn stored(&self) -> &[Option<u128>] {
        &self.stored
    }

    /// A unit of these nodes, as many as there are numbers, with the steps between them.
    pub(crate) fn new(
        nodes: Vec<SharedNode>,
        stored: Vec<Option<u128>>,
        prefix: Vec<Decision>,
    ) -> Self {
        Self { nodes, stored, prefix }
    }
}

/// A unit that a worker has. It does not keep its nodes: as long as there is work at a node,
/// or a worker below it that may find more, it is on the stack of a worker.
#[derive(Debug)]
pub(crate) struct StackNote {
    nodes: Vec<Weak<Mutex<Node>>>,
    prefix: Vec<Decision>,
}

impl StackNote {
    /// The unit, as far as its nodes are still on the stack of a worker; `None` if none is.
    pub(crate) fn unit(&self) -> Option<StackUnit> {
        let nodes: Vec<_> = self.nodes.iter().map_while(Weak::upgrade).collect();
        let len = nodes.len().checked_sub(1)?;
        Some(StackUnit::new(nodes, vec![None; len + 1], self.prefix[..len].to_vec()))
    }
}

fn lock(node: &SharedNode) -> std::sync::MutexGuard<'_, Node> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Policy> Stack<P> {
    pub(crate) fn new(policy: P, sleeping: Sleeping, visited: Option<Visited>) -> Self {
        let (entries, races) = (Vec::new(), Vec::new());
        Self { policy, entries, sleeping, visited, exceeded: Exceeded::default(), races }
    }

    /// What says which threads to explore.
    pub(crate) fn policy(&self) -> P {
        self.policy
    }

    /// Lets `change` see and change the node at `depth`.
    pub(crate) fn with_node<T>(&mut self, depth: usize, change: impl FnOnce(&mut Node) -> T) -> T {
        self.entries[depth].place.with(change)
    }

    /// How many states are on the stack.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Puts a node on the stack.
    pub(crate) fn push(&mut self, node: Node) {
        self.entries.push(Entry::new(node, None));
    }

    /// Forgets all states but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    /// Says what sleeps while the step that is taken at `depth` is explored.
    pub(crate) fn set_asleep(&mut self, depth: usize, asleep: ThreadSet) {
        self.entries[depth].asleep = match self.sleeping {
            Sleeping::Off => ThreadSet::EMPTY,
            Sleeping::On | Sleeping::WhenComplete => asleep,
        };
    }

    /// Takes the next step that is worth exploring from a node that is not on the stack yet.
    pub(crate) fn claim(&self, node: &mut Node, view: &View<'_>) -> Option<Claim> {
        node.claim(view, &self.policy, self.sleeping)
    }

    /// The node of a state that has not been looked at before.
    pub(crate) fn fresh_node(&self, view: &View<'_>) -> Node {
        let (asleep, dozing) = match self.entries.last() {
            Some(parent) if self.sleeping != Sleeping::Off => {
                let taken = view.order.operation(view.depth() as Position);
                let asleep = sleep::inherit(parent.asleep, taken, view);
                let roused = sleep::roused(asleep & parent.dozing, view);
                (asleep - roused, parent.dozing - roused)
            }
            _ => (ThreadSet::EMPTY, ThreadSet::EMPTY),
        };
        let asleep = asleep & view.enabled;
        let awake = view.enabled - asleep;
        let within = awake - view.over.any();
        let first = if within.is_empty() { awake } else { within };
        Node {
            enabled: view.enabled,
            sleep: asleep,
            dozing: dozing & asleep,
            todo: self.policy.initial(view, first),
            pending: self.policy.pending(view, first),
            releases: self.policy.releases(view),
            over: *view.over,
            exceeded: Exceeded::default(),
            done: ThreadSet::EMPTY,
            incomplete: ThreadSet::EMPTY,
            choices: None,
            is_on_cycle: false,
        }
    }

    /// A new state was reached: puts its node on the stack, unless it was visited before.
    fn enter(&mut self, view: &View<'_>) -> Result<(), Choice> {
        P::at_state(self, view);
        let mut node = self.fresh_node(view);
        let mut stored = None;
        if let Some(visited) = &mut self.visited
            && let Some(state) = view.system.fingerprint()
        {
            let seen = visited.enter(state, node.sleep);
            if seen.on_stack
                && let Some(parent) = self.entries.last_mut()
            {
                // A cycle closes: what the parent leaves out must not be left out for ever, and
                // what went round in it is not done, so that nothing may sleep because of it.
                parent.place.with(|parent| {
                    parent.todo = parent.enabled;
                    parent.sleep = ThreadSet::EMPTY;
                    parent.is_on_cycle = true;
                });
            }
            match seen.left_out {
                // What slept when the state was first visited and is awake now is new.
                Some(left_out) if left_out.is_empty() => return Err(Choice::Visited),
                Some(left_out) => {
                    node.todo = node.todo & left_out;
                    node.sleep = seen.asleep;
                }
                None => stored = Some(state),
            }
        }
        self.entries.push(Entry::new(node, stored));
        Ok(())
    }

    fn leave(&mut self) {
        let Some(mut entry) = self.entries.pop() else { return };
        let exceeded = entry.place.with(|node| node.exceeded());
        self.exceeded.add(exceeded);
        // What was never shared was explored by this worker alone, to its end.
        let is_complete = matches!(entry.place, Place::Own(_)) && !exceeded.any();
        if let Some(parent) = self.entries.last_mut()
            && !is_complete
        {
            let taken = parent.taken.map_or(ThreadSet::EMPTY, ThreadSet::one);
            parent.place.with(|parent| {
                parent.exceeded.add(exceeded);
                parent.incomplete |= taken;
            });
        }
        if let (Some(visited), Some(state)) = (&mut self.visited, entry.stored) {
            visited.leave(state);
        }
    }
}

impl<P: Policy> Reduce for Stack<P> {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let depth = view.depth();
        let is_new = depth == self.entries.len();
        if is_new && let Err(choice) = self.enter(view) {
            return choice;
        }
        let Self { policy, sleeping, .. } = *self;
        let entry = &mut self.entries[depth];
        let is_shared = matches!(entry.place, Place::Shared(_));
        let (claim, is_over) = entry.place.with(|node| {
            let claim = node.claim(view, &policy, sleeping);
            if let Some(claim) = claim
                && is_shared
            {
                // Others do not know when it is complete.
                node.incomplete.insert(claim.decision.thread);
            }
            (claim, node.exceeded().any())
        });
        match claim {
            Some(Claim { decision, asleep, dozing }) => {
                entry.asleep = asleep;
                entry.dozing = dozing;
                entry.taken = Some(decision.thread);
                if decision.choice == 0 {
                    P::before_step(self, view, decision.thread);
                }
                Choice::Step(decision)
            }
            None if is_new && is_over => Choice::OverBound,
            None if is_new => Choice::Asleep,
            None => Choice::Taken,
        }
    }

    fn finish(&mut self, view: &View<'_>, end: End) {
        if end != End::GivenUp && view.depth() == self.entries.len() {
            P::at_state(self, view);
        }
        P::at_end(self, view);
    }

    fn backtrack(&mut self) -> Option<usize> {
        while let Some(entry) = self.entries.last_mut() {
            if entry.place.with(|node| node.has_work()) {
                return Some(self.entries.len() - 1);
            }
            self.leave();
        }
        None
    }

    fn frontier(&self) -> u64 {
        let open = |entry: &Entry| {
            let mut place = entry.place.clone();
            place.with(|node| {
                let choices = node.choices.map_or(0, |(_, next, all)| all - next);
                node.open().len() as u64 + u64::from(choices)
            })
        };
        self.entries.iter().map(open).sum()
    }

    fn explored(&self) -> f64 {
        let (mut mass, mut explored) = (1.0, 0.0);
        for entry in &self.entries {
            let mut place = entry.place.clone();
            let (open, all) = place.with(|node| {
                let left = node
                    .choices
                    .map_or(0.0, |(_, next, all)| f64::from(all - next) / f64::from(all));
                let all = node.wanted() - node.sleep;
                (node.open().len() as f64 + left, all.len().max(1) as f64)
            });
            explored += mass * (all - open - 1.0).max(0.0) / all;
            mass /= all;
        }
        explored + mass
    }

    fn share(&mut self, schedule: &Schedule) -> Option<Unit> {
        if self.visited.is_some() {
            return None;
        }
        let own = self.entries.iter().position(|entry| matches!(entry.place, Place::Own(_)))?;
        let given = self.entries[own..]
            .iter_mut()
            .position(|entry| entry.place.with(|node| node.has_work()))?;
        let nodes = self.entries[..=own + given].iter_mut().map(Entry::share);
        let nodes: Vec<_> = nodes.collect();
        let prefix = schedule.decisions()[..nodes.len() - 1].to_vec();
        let stored = vec![None; nodes.len()];
        Some(Unit::Stack(StackUnit { nodes, stored, prefix }))
    }

    fn adopt(&mut self, unit: Unit) {
        self.entries.clear();
        match unit {
            Unit::Root => {}
            Unit::Stack(unit) => {
                let taken = unit.prefix.iter().map(|decision| Some(decision.thread));
                let taken = taken.chain(std::iter::once(None));
                let entry = |((node, stored), taken)| Entry {
                    place: Place::Shared(node),
                    asleep: ThreadSet::EMPTY,
                    dozing: ThreadSet::EMPTY,
                    taken,
                    stored,
                };
                let nodes = unit.nodes.into_iter().zip(unit.stored);
                self.entries.extend(nodes.zip(taken).map(entry));
            }
            Unit::Optimal(_) | Unit::Graph(_) | Unit::Tree(_) | Unit::Samples(_) => {
                panic!("a unit of another search")
            }
        }
    }

    fn dissolve(&mut self, schedule: &Schedule) -> Vec<Unit> {
        let nodes: Vec<_> = self.entries.iter_mut().map(Entry::share).collect();
        let stored = self.entries.drain(..).map(|entry| entry.stored).collect();
        match nodes.len() {
            0 => Vec::new(),
            len => {
                let prefix = schedule.decisions()[..len - 1].to_vec();
                vec![Unit::Stack(StackUnit { nodes, stored, prefix })]
            }
        }
    }

    fn take_visited(&mut self) -> Option<Visited> {
        self.visited.take()
    }

    fn exceeded(&self) -> Exceeded {
        self.exceeded
    }
}
