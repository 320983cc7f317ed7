//! Stubborn sets: some processes that can be looked at as if the others were not there, for a while.
//!
//! Implements Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032,
//! 1996), chapter 4: stubborn sets, with sets of processes as in the algorithm of Overman there.
//!
//! | book                                               | here                                 |
//! |----------------------------------------------------|--------------------------------------|
//! | operations a process may execute next              | [`Sets::next_of`]                    |
//! | operations it may come to execute                  | [`Sets::future_of`]                  |
//! | might be the first to interfere with               | [`Uses::interferes`]                 |
//! | necessary enabling set of a transition             | the rest of [`Next::needs`]          |
//! | the closure                                        | [`Sets::closure`]                    |
//!
//! Differs from the book: a set is one of processes, and all their steps belong to it. Two steps depend on
//! each other in a state: to send where there is room, and to receive what is there, commute, and what an
//! end of a channel waits for is the other end.

use super::code::{Code, Message, Node, NodeId, Step};
use super::footprint::{COUNTED, Footprint, Kind, N_KINDS, STARTED, UNKNOWN, waits_for_all};
use super::view::{ChannelPlace, Tables, View};
use crate::options::Reduction;
use crate::transitions::{Group, Moves, Safety};
use std::cell;

/// Some of up to 256 processes, or channels.
type Set = [u64; 4];

const NONE: Set = [0; 4];
const ALL: Set = [u64::MAX; 4];

fn insert(set: &mut Set, idx: usize) {
    set[idx / 64] |= 1 << (idx % 64);
}

fn contains(set: &Set, idx: usize) -> bool {
    set[idx / 64] & 1 << (idx % 64) != 0
}

fn overlap(left: &Set, right: &Set) -> bool {
    left.iter().zip(right).any(|(left, right)| left & right != 0)
}

/// What is used in a state, with channels that have numbers.
#[derive(Clone, Copy, Debug)]
struct Uses {
    reads: u128,
    writes: u128,
    /// By [`Kind`].
    channels: [Set; N_KINDS],
}

impl Uses {
    fn of(footprint: Footprint) -> Self {
        let Footprint { reads, writes, .. } = footprint;
        Self { reads, writes, channels: [NONE; N_KINDS] }
    }

    fn channel(&mut self, kind: Kind, idx: usize) {
        insert(&mut self.channels[kind as usize], idx);
    }

    /// Everything that can be done to a channel.
    fn all_of(&mut self, idx: usize) {
        self.channels.iter_mut().for_each(|set| insert(set, idx));
    }

    /// Everything that can be done to any channel.
    fn any_channel(&mut self) {
        self.reads |= Footprint::PROCESSES.reads;
        self.writes |= Footprint::PROCESSES.writes;
        self.channels = [ALL; N_KINDS];
    }

    /// Whether somebody with this future may be in the way. Of channels, `self` has what others must not
    /// do.
    fn interferes(&self, future: &Self) -> bool {
        self.writes & (future.reads | future.writes) != 0
            || self.reads & future.writes != 0
            || self.channels.iter().zip(&future.channels).any(|(mine, its)| overlap(mine, its))
    }
}

/// The steps of a process that are next.
#[derive(Clone, Copy, Debug)]
struct Next {
    /// What others must leave alone.
    avoids: Uses,
    /// Who has to be in the set, too.
    needs: Set,
}

/// Whether it is next for a process to die.
fn dies(view: View<'_>, process: u32) -> bool {
    let mut edges = view.place_of(process).edges.clone();
    edges.any(|number| matches!(view.code.edges[number as usize].step, Step::Die))
}

/// What was worked out about a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    /// What some process may come to write.
    writes: u128,
    /// The channels that the trace is about.
    traced: Set,
    futures: Vec<Option<Uses>>,
    needs: Vec<Option<Set>>,
    /// By number of a channel, the process that has it.
    owners: Vec<u32>,
    members: Vec<usize>,
}

impl Sets {
    /// Tells which moves may stand for all others. They belong to a state in which everybody may move. If it
    /// `is_watched`, what a property may see is of no use for that.
    pub(super) fn find(
        &mut self,
        code: &Code,
        tables: &Tables,
        state: &[u8],
        (reduction, is_watched): (Reduction, bool),
        moves: &mut Moves,
    ) {
        let fault = cell::Cell::new(None);
        let view = View::new(code, state, tables, false, &fault);
        self.begin(view);
        let n_groups = moves.groups().len();
        let mut has_single = false;
        for group in 0..n_groups {
            let Group { process, visible, .. } = moves.groups()[group];
            let is_of_use = !(is_watched && visible);
            if view.place_of(process).is_local {
                let is_free = !code.uses_timeout && !dies(view, process);
                let safety = if is_free { Safety::Independent } else { Safety::Commutes };
                moves.allow(group, safety);
                has_single |= is_of_use;
            } else if self.needs_of(view, process) == NONE {
                moves.allow(group, Safety::Commutes);
                has_single |= is_of_use;
            }
        }
        if !has_single && reduction == Reduction::Stubborn {
            self.find_smallest(view, is_watched, moves);
        }
    }

    /// Tells the smallest set that is not that of all who can move, and is of use.
    fn find_smallest(&mut self, view: View<'_>, is_watched: bool, moves: &mut Moves) {
        let n_groups = moves.groups().len();
        let mut best = n_groups;
        let mut members = std::mem::take(&mut self.members);
        for seed in 0..n_groups {
            let set = self.closure(view, moves.groups()[seed].process);
            let within = |group: &usize| contains(&set, moves.groups()[*group].process as usize);
            let n_within = (0..n_groups).filter(within).count();
            let is_seen = |group: usize| is_watched && moves.groups()[group].visible;
            if n_within < best && !(0..n_groups).filter(within).any(is_seen) {
                best = n_within;
                members.clear();
                members.extend((0..n_groups).filter(within));
            }
        }
        if best < n_groups {
            moves.prefer(&members);
        }
        self.members = members;
    }

    fn begin(&mut self, view: View<'_>) {
        let n_processes = view.n_processes() as usize;
        self.futures.clear();
        self.futures.resize(n_processes, None);
        self.needs.clear();
        self.needs.resize(n_processes, None);
        self.owners.clear();
        self.traced = traced(view);
        self.writes = 0;
        for process in 0..view.n_processes() {
            let routine = &view.code.routines[view.routine_of(process) as usize];
            self.owners.extend(routine.channels.iter().map(|_| process));
            self.writes |= view.place_of(process).future.writes;
        }
    }

    /// The smallest set with a process in it that needs nobody outside.
    fn closure(&mut self, view: View<'_>, seed: u32) -> Set {
        let mut set = NONE;
        insert(&mut set, seed as usize);
        let mut todo = vec![seed];
        while let Some(process) = todo.pop() {
            let needs = self.needs_of(view, process);
            for other in 0..view.n_processes() {
                if contains(&needs, other as usize) && !contains(&set, other as usize) {
                    insert(&mut set, other as usize);
                    todo.push(other);
                }
            }
        }
        set
    }

    /// Who has to be in a set with a process.
    fn needs_of(&mut self, view: View<'_>, process: u32) -> Set {
        if let Some(known) = self.needs[process as usize] {
            return known;
        }
        let Next { avoids, mut needs } = self.next_of(view, process);
        for other in (0..view.n_processes()).filter(|&other| other != process) {
            let future = *self.futures[other as usize]
                .get_or_insert_with(|| Self::future_of(view, other, self.writes));
            if avoids.interferes(&future) {
                insert(&mut needs, other as usize);
            }
        }
        self.needs[process as usize] = Some(needs);
        needs
    }

    /// What a process may come to use.
    fn future_of(view: View<'_>, process: u32, writes: u128) -> Uses {
        let footprint = view.place_of(process).future;
        let mut uses = Uses::of(footprint);
        Self::each_channel(view, process, footprint.uses, writes, |channel| match channel {
            Some((kind, idx)) => uses.channel(kind, idx),
            None => uses.any_channel(),
        });
        uses
    }

    /// The channels that bits of a footprint stand for; `None` if that cannot be told.
    fn each_channel(
        view: View<'_>,
        process: u32,
        mut bits: u64,
        writes: u128,
        mut tell: impl FnMut(Option<(Kind, usize)>),
    ) {
        if bits & UNKNOWN != 0 {
            tell(None);
            return;
        }
        let uses = &view.code.routines[view.routine_of(process) as usize].uses;
        while bits != 0 {
            let used = uses[bits.trailing_zeros() as usize];
            bits &= bits - 1;
            let channel = match used.reads & writes {
                0 => Self::channel_of(view, process, used.channel),
                _ => None,
            };
            tell(channel.map(|idx| (used.kind, idx)));
        }
    }

    /// The index of a channel that exists.
    fn channel_of(view: View<'_>, process: u32, channel: NodeId) -> Option<usize> {
        let fault = cell::Cell::new(None);
        let view = View { fault: &fault, ..view };
        let number = view.value(channel, process);
        let exists = (1..=view.tables.channels.len() as i64).contains(&number);
        (exists && fault.get().is_none()).then(|| number as usize - 1)
    }

    /// What a process does next, and what must not happen before.
    fn next_of(&self, view: View<'_>, process: u32) -> Next {
        let place = view.place_of(process);
        let mut next = Next { avoids: Uses::of(place.next), needs: NONE };
        Self::each_channel(view, process, place.next.uses, self.writes, |channel| match channel {
            Some((kind, idx)) => {
                next.avoids.all_of(idx);
                self.depend_on_owner(view, process, idx, &mut next);
                self.depend_on_promises(view, process, kind, idx, &mut next);
                self.depend_on_trace(idx, &mut next);
            }
            None => next.avoids.any_channel(),
        });
        for &look in &place.looks {
            self.look(view, process, look, &mut next);
        }
        for number in place.edges.clone() {
            let edge = &view.code.edges[number as usize];
            let is_false = |guard: NodeId| {
                let fault = cell::Cell::new(None);
                let view = View { fault: &fault, ..view };
                !view.is_true(guard, process) && fault.get().is_none()
            };
            // What others must leave alone has the guard in it: it remains false.
            if waits_for_all(view.code, edge) || edge.guard.is_some_and(is_false) {
                continue;
            }
            match edge.step {
                Step::Send(number) | Step::Receive(number) => {
                    let sends = matches!(edge.step, Step::Send(_));
                    let message = &view.code.messages[number as usize];
                    self.message(view, process, message, sends, &mut next);
                }
                Step::Die => Self::death(view, process, &mut next),
                _ => {}
            }
        }
        next
    }

    fn look(&self, view: View<'_>, process: u32, look: NodeId, next: &mut Next) {
        let node = view.code.nodes[look.0 as usize];
        let channel = match node {
            Node::Length(channel) | Node::Full(channel) | Node::Empty(channel) => channel,
            Node::Poll(number) => view.code.messages[number as usize].channel,
            _ => unreachable!("only these look at channels"),
        };
        let Some(idx) = Self::channel_of(view, process, channel) else {
            return next.avoids.any_channel();
        };
        self.depend_on_owner(view, process, idx, next);
        // What is empty is so until somebody sends, and what is full until somebody receives.
        let is_true = view.is_true(look, process);
        let (sends, receives) = match node {
            Node::Empty(_) => (is_true, !is_true),
            Node::Full(_) => (!is_true, is_true),
            _ => (true, true),
        };
        if sends {
            next.avoids.channel(Kind::Send, idx);
        }
        if receives {
            next.avoids.channel(Kind::Receive, idx);
        }
    }

    /// A message that is sent or received first.
    fn message(
        &self,
        view: View<'_>,
        process: u32,
        message: &Message,
        sends: bool,
        next: &mut Next,
    ) {
        let Some(idx) = Self::channel_of(view, process, message.channel) else {
            return next.avoids.any_channel();
        };
        let (own, other) = match sends {
            true => (Kind::Send, Kind::Receive),
            false => (Kind::Receive, Kind::Send),
        };
        self.depend_on_owner(view, process, idx, next);
        self.depend_on_promises(view, process, own, idx, next);
        self.depend_on_trace(idx, next);
        let ChannelPlace { at, kind } = view.tables.channels[idx];
        let capacity = view.code.kinds[kind as usize].capacity;
        let length = view.length(at as usize, kind as usize);
        let is_possible = match sends {
            true => length < capacity,
            false => view.receivable(message, process).is_some(),
        };
        if is_possible {
            next.avoids.channel(own, idx);
            next.avoids.channel(Kind::Look, idx);
        }
        // A message that does not fit is in the way of those that come behind it.
        let is_blocked = !sends && !is_possible && length > 0;
        if is_blocked {
            next.avoids.channel(own, idx);
        }
        let waits = !is_possible && (!is_blocked || message.anywhere);
        if waits || view.code.sorts {
            next.avoids.channel(other, idx);
        }
    }

    /// A process dies when it is the youngest.
    fn death(view: View<'_>, process: u32, next: &mut Next) {
        let youngest = view.n_processes() - 1;
        if process != youngest {
            next.avoids.reads &= !(STARTED | COUNTED);
            insert(&mut next.needs, youngest as usize);
            return;
        }
        let routine = &view.code.routines[view.routine_of(process) as usize];
        let first = view.tables.channels.len() - routine.channels.len();
        (first..view.tables.channels.len()).for_each(|idx| next.avoids.all_of(idx));
        if view.code.has_exclusive {
            for (_, channel) in &routine.exclusive {
                match Self::channel_of(view, process, *channel) {
                    Some(idx) => next.avoids.all_of(idx),
                    None => next.avoids.any_channel(),
                }
            }
        }
    }

    /// A channel goes when its process dies, which an older one may see.
    fn depend_on_owner(&self, view: View<'_>, process: u32, idx: usize, next: &mut Next) {
        let Some(own) = idx.checked_sub(view.code.channels.len()) else { return };
        let owner = self.owners[own];
        if owner > process {
            insert(&mut next.needs, owner as usize);
        }
    }

    /// The trace has an opinion on the order of what is sent and received.
    fn depend_on_trace(&self, idx: usize, next: &mut Next) {
        if contains(&self.traced, idx) {
            for kind in [Kind::Send, Kind::Receive] {
                let avoided = &mut next.avoids.channels[kind as usize];
                avoided.iter_mut().zip(&self.traced).for_each(|(mine, traced)| *mine |= traced);
            }
        }
    }

    /// Whether it is wrong to use an end of a channel depends on who is there.
    fn depend_on_promises(
        &self,
        view: View<'_>,
        process: u32,
        kind: Kind,
        idx: usize,
        next: &mut Next,
    ) {
        if !view.code.has_exclusive {
            return;
        }
        let (sends, claim) = match kind {
            Kind::Send => (true, Kind::ClaimSend),
            Kind::Receive => (false, Kind::ClaimReceive),
            Kind::Look | Kind::ClaimSend | Kind::ClaimReceive => return,
        };
        next.avoids.channel(claim, idx);
        for other in (0..view.n_processes()).filter(|&other| other != process) {
            let routine = &view.code.routines[view.routine_of(other) as usize];
            let mut promises = routine.exclusive.iter().filter(|(theirs, _)| *theirs == sends);
            if promises.any(|(_, channel)| Self::channel_of(view, other, *channel) == Some(idx)) {
                insert(&mut next.needs, other as usize);
            }
        }
    }
}

/// The channels that the trace is about.
fn traced(view: View<'_>) -> Set {
    let Some(trace) = &view.code.trace else { return NONE };
    let places = &view.code.routines[trace.routine as usize].places;
    let mut set = NONE;
    for number in places.iter().flat_map(|place| place.edges.clone()) {
        if let Step::Send(message) | Step::Receive(message) = view.code.edges[number as usize].step
        {
            let channel = view.code.messages[message as usize].channel;
            match Sets::channel_of(view, 0, channel) {
                Some(idx) => insert(&mut set, idx),
                None => return ALL,
            }
        }
    }
    set
}
