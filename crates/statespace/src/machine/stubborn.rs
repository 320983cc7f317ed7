//! Stubborn sets: some processes that can be looked at as if the others were not there, for a
//! while.
//!
//! Implements Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS
//! 1032, 1996), chapter 4: stubborn sets, with sets of processes as in the algorithm of Overman
//! there.
//!
//! | book                                               | here                                 |
//! |----------------------------------------------------|--------------------------------------|
//! | operations a process may execute next              | [`Sets::next_of`]                    |
//! | operations it may come to execute                  | [`Sets::future_of`]                  |
//! | might be the first to interfere with               | [`Uses::interferes`]                 |
//! | necessary enabling set of a transition             | the rest of [`Next::needs`]          |
//! | the closure                                        | [`closure`]                          |
//!
//! Differs from the book: a set is one of processes, and all their steps belong to it. Two steps
//! depend on each other in a state, not everywhere.
//!
//! # Why it is right
//!
//! Let `S` be a set of processes that needs none outside, in a state `s` in which some process of
//! `S` can move, and `w` any sequence of steps of processes outside `S` from `s`. What follows is
//! shown by induction on the length of `w`: every edge of a process in `S` that is possible in `s`
//! is possible after `w`, and leads to the same state before and after it; every other one stays
//! impossible; and what goes wrong is the same. That is what ample sets ask for (C1 of `ample.rs`,
//! and [`Safety::Commutes`]), of finite executions and of infinite ones. An edge is one of these:
//!
//! - **Its guard is false.** Then one conjunct is, and those before it that may go wrong do not.
//!   [`Next::avoids`] has all that could change these ([`Sets::conjunct`]), and no process outside
//!   ever does that: it is in no future. `footprint/guards.rs` says why one conjunct is enough.
//! - **Its guard is true, or goes wrong.** Then all that is read for it stays what it is, and what
//!   it writes is neither read nor written by `w`.
//! - **It looks at a channel** (in a guard, or elsewhere). A look is changed by sends or by
//!   receives, and by which of them depends on what it finds: what is empty stays so until a
//!   message is sent, and what is full until one is received; a message that fits stays the first
//!   one until it is received.
//! - **It sends where there is room, or receives what is there.** No process outside sends, or
//!   receives, on this channel. What the others do to it at the other end commutes: a channel is a
//!   queue, and if messages are sorted into some, both ends depend on each other everywhere
//!   (`Code::sorts`). They may look at it as long as they find the same afterwards: [`Kind::More`]
//!   if it sends, [`Kind::Less`] if it receives. It is no matter that they may find something that
//!   they did not find before: that comes after the step, and does not undo it.
//! - **It sends where there is no room, or receives what is not there.** The other end is in `S`,
//!   too.
//! - **It begins an atomic sequence.** All of that belongs to the edge, and others must leave alone
//!   whatever it uses. A message of the sequence that is possible whenever the edge is
//!   ([`Head::sure`]) counts as one that is possible now: what others do meanwhile makes room, or
//!   adds messages.
//!
//! A step that is possible only where nothing else is (`timeout`) is not possible as long as `S`
//! can move.

use super::code::{Code, Message, Node, NodeId, Step};
use super::footprint::{
    COUNTED, Conjunct, Footprint, Head, Kind, N_KINDS, STARTED, UNKNOWN, waits_for_all,
};
use super::view::{ChannelPlace, Tables, View};
use crate::options::Reduction;
use crate::transitions::{Moves, Safety};
use std::cell;

/// Some of up to 256 processes, or channels.
pub(super) type Set = [u64; 4];

pub(super) const NONE: Set = [0; 4];
const ALL: Set = [u64::MAX; 4];

pub(super) fn insert(set: &mut Set, idx: usize) {
    set[idx / 64] |= 1 << (idx % 64);
}

pub(super) fn remove(set: &mut Set, idx: usize) {
    set[idx / 64] &= !(1 << (idx % 64));
}

pub(super) fn contains(set: &Set, idx: usize) -> bool {
    set[idx / 64] & 1 << (idx % 64) != 0
}

fn overlap(left: &Set, right: &Set) -> bool {
    left.iter().zip(right).any(|(left, right)| left & right != 0)
}

/// What is used in a state, with channels that have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Uses {
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

    fn memory(&mut self, footprint: Footprint) {
        self.reads |= footprint.reads;
        self.writes |= footprint.writes;
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

    /// Whether a process with this future may be in the way. Of channels, `self` has what others
    /// must not do.
    pub(super) fn interferes(&self, future: &Self) -> bool {
        self.writes & (future.reads | future.writes) != 0
            || self.reads & future.writes != 0
            || self.channels.iter().zip(&future.channels).any(|(mine, its)| overlap(mine, its))
    }
}

/// The steps of a process that are next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Next {
    /// What others must leave alone.
    pub(super) avoids: Uses,
    /// Who has to be in the set, too.
    pub(super) needs: Set,
}

/// Whether the channels of all uses are always the same, whatever others may write: then what
/// processes do next, and may come to do, is a matter of the parts of a state that are looked at,
/// and not of all processes.
pub(super) fn has_fixed_uses(code: &Code) -> bool {
    code.routines.iter().flat_map(|routine| &routine.uses).all(|used| used.reads == 0)
}

/// Whether it is next for a process to die.
fn dies(view: View<'_>, process: u32) -> bool {
    let mut edges = view.place_of(process).edges.clone();
    edges.any(|number| matches!(view.code.edges[number as usize].step, Step::Die))
}

/// One who can move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    pub(super) process: u32,
    /// Whether a property may see its moves.
    pub(super) is_visible: bool,
}

/// Which of those who can move may stand for all others, by their places in the list of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Those who may, each by itself.
    pub(super) single: Vec<(u32, Safety)>,
    /// Some who may together; none if there is one of use alone.
    pub(super) several: Vec<u32>,
}

impl Found {
    /// Tells all of it.
    pub(super) fn tell(&self, moves: &mut Moves) {
        self.single.iter().for_each(|&(group, safety)| moves.allow(group as usize, safety));
        if !self.several.is_empty() {
            moves.prefer(&self.several);
        }
    }

    fn clear(&mut self) {
        self.single.clear();
        self.several.clear();
    }
}

/// What is known of the processes of a state.
pub(super) trait Processes {
    /// How many there are.
    fn n_processes(&self) -> u32;

    /// What a reduction may conclude from the steps of a process, if they concern no other process.
    fn local(&mut self, process: u32) -> Option<Safety>;

    /// Who has to be in a set with a process.
    fn needs(&mut self, process: u32) -> Set;
}

/// Finds who may stand for all others of those who can move, in a state in which everybody may. If
/// it `is_watched`, what a property may see is of no use for that.
pub(super) fn choose(
    known: &mut impl Processes,
    (reduction, is_watched): (Reduction, bool),
    movers: &[Mover],
    found: &mut Found,
) {
    found.clear();
    let mut has_single = false;
    for (group, mover) in movers.iter().enumerate() {
        let safety = known.local(mover.process);
        let safety =
            safety.or_else(|| (known.needs(mover.process) == NONE).then_some(Safety::Commutes));
        if let Some(safety) = safety {
            found.single.push((group as u32, safety));
            has_single |= !(is_watched && mover.is_visible);
        }
    }
    if !has_single && reduction == Reduction::Stubborn {
        choose_several(known, is_watched, movers, &mut found.several);
    }
}

/// The smallest set that is not that of all who can move, and is of use.
fn choose_several(
    known: &mut impl Processes,
    is_watched: bool,
    movers: &[Mover],
    several: &mut Vec<u32>,
) {
    let (mut can_move, mut is_seen) = (NONE, NONE);
    for mover in movers {
        insert(&mut can_move, mover.process as usize);
        if is_watched && mover.is_visible {
            insert(&mut is_seen, mover.process as usize);
        }
    }
    if known.n_processes() <= 64 {
        let few = (can_move[0], is_seen[0]);
        return choose_of_few(known, few, movers, several);
    }
    let mut best = (movers.len(), NONE);
    for mover in movers {
        if let Some((len, set)) = closure(known, mover.process, &can_move, &is_seen, best.0) {
            best = (len, set);
        }
    }
    if best.0 < movers.len() {
        let within =
            movers.iter().enumerate().filter(|(_, it)| contains(&best.1, it.process as usize));
        several.extend(within.map(|(group, _)| group as u32));
    }
}

/// The same if there are no more processes than a word has bits: all closures at once.
fn choose_of_few(
    known: &mut impl Processes,
    (can_move, is_seen): (u64, u64),
    movers: &[Mover],
    several: &mut Vec<u32>,
) {
    // Whom each needs, of those who are reached from movers.
    let mut rows = [0_u64; 64];
    let (mut reached, mut todo) = (can_move, can_move);
    while todo != 0 {
        let process = todo.trailing_zeros();
        todo &= todo - 1;
        let [needs, beyond @ ..] = known.needs(process);
        debug_assert_eq!(beyond, [0; 3], "there are no more processes");
        rows[process as usize] = needs | 1 << process;
        todo |= needs & !reached;
        reached |= needs;
    }
    // Warshall's algorithm: by way of one after the other.
    let mut by_way = reached;
    while by_way != 0 {
        let process = by_way.trailing_zeros() as usize;
        by_way &= by_way - 1;
        let mut left = reached;
        while left != 0 {
            let other = left.trailing_zeros() as usize;
            left &= left - 1;
            if rows[other] >> process & 1 == 1 {
                rows[other] |= rows[process];
            }
        }
    }
    let mut best = (movers.len() as u32, 0);
    for mover in movers {
        let set = rows[mover.process as usize];
        let n_within = (set & can_move).count_ones();
        if n_within < best.0 && set & is_seen == 0 {
            best = (n_within, set);
        }
    }
    if best.0 < movers.len() as u32 {
        let within = movers.iter().enumerate().filter(|(_, it)| best.1 >> it.process & 1 == 1);
        several.extend(within.map(|(group, _)| group as u32));
    }
}

/// The smallest set with a process in it that needs no process outside, if fewer than so many of
/// those in it can move, and they are invisible; with how many can.
fn closure(
    known: &mut impl Processes,
    seed: u32,
    can_move: &Set,
    is_seen: &Set,
    fewer_than: usize,
) -> Option<(usize, Set)> {
    let mut set = NONE;
    insert(&mut set, seed as usize);
    let mut todo = set;
    loop {
        let n_within: u32 =
            set.iter().zip(can_move).map(|(set, all)| (set & all).count_ones()).sum();
        if n_within as usize >= fewer_than || overlap(&set, is_seen) {
            return None;
        }
        let Some(word) = todo.iter().position(|word| *word != 0) else {
            return Some((n_within as usize, set));
        };
        let process = 64 * word as u32 + todo[word].trailing_zeros();
        todo[word] &= todo[word] - 1;
        let needs = known.needs(process);
        for ((needed, set), todo) in needs.iter().zip(&mut set).zip(&mut todo) {
            *todo |= needed & !*set;
            *set |= needed;
        }
    }
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
    found: Found,
}

/// A state in which sets are looked for.
struct InState<'a> {
    sets: &'a mut Sets,
    view: View<'a>,
}

impl Processes for InState<'_> {
    fn n_processes(&self) -> u32 {
        self.view.n_processes()
    }

    fn local(&mut self, process: u32) -> Option<Safety> {
        local_of(self.view, process)
    }

    fn needs(&mut self, process: u32) -> Set {
        self.sets.needs_of(self.view, process)
    }
}

/// What a reduction may conclude from the steps of a process where these concern no other process.
pub(super) fn local_of(view: View<'_>, process: u32) -> Option<Safety> {
    view.place_of(process).is_local.then(|| {
        let is_free = !view.code.uses_timeout && !dies(view, process);
        if is_free { Safety::Independent } else { Safety::Commutes }
    })
}

impl Sets {
    /// Finds which of those who can move may stand for all others, see [`choose`].
    pub(super) fn find(
        &mut self,
        code: &Code,
        tables: &Tables,
        state: &[u8],
        how: (Reduction, bool),
        movers: &[Mover],
    ) -> &Found {
        let fault = cell::Cell::new(None);
        let view = View::new(code, state, tables, false, &fault);
        self.begin(view);
        let mut found = std::mem::take(&mut self.found);
        choose(&mut InState { sets: self, view }, how, movers, &mut found);
        self.found = found;
        &self.found
    }

    /// Gets ready to be asked for what processes do next, and nothing else: what they may come to
    /// write is not looked at, so that no use may depend on it ([`has_fixed_uses`]).
    pub(super) fn begin_next(&mut self, view: View<'_>) {
        self.owners.clear();
        (self.traced, self.writes) = (traced(view), 0);
        for process in 0..view.n_processes() {
            let routine = &view.code.routines[view.routine_of(process) as usize];
            self.owners.extend(routine.channels.iter().map(|_| process));
        }
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
    pub(super) fn future_of(view: View<'_>, process: u32, writes: u128) -> Uses {
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
    pub(super) fn next_of(&self, view: View<'_>, process: u32) -> Next {
        let place = view.place_of(process);
        let mut next = Next { avoids: Uses::of(place.next), needs: NONE };
        self.all_of(view, process, place.next.uses, &mut next);
        for number in place.edges.clone() {
            let edge = &view.code.edges[number as usize];
            if waits_for_all(view.code, edge) {
                continue;
            }
            let head = &view.code.heads[number as usize];
            match false_conjunct(view, process, head) {
                // It remains false, and so does the guard.
                Some(at) => {
                    let before = head.conjuncts[..at].iter().filter(|it| it.may_fail);
                    before.for_each(|it| self.conjunct(view, process, it, &mut next));
                    self.conjunct(view, process, &head.conjuncts[at], &mut next);
                }
                None => {
                    let conjuncts = head.conjuncts.iter();
                    conjuncts.for_each(|it| self.conjunct(view, process, it, &mut next));
                    self.step(view, process, &edge.step, head, &mut next);
                }
            }
        }
        next
    }

    /// A conjunct stays what it is.
    fn conjunct(&self, view: View<'_>, process: u32, conjunct: &Conjunct, next: &mut Next) {
        next.avoids.memory(conjunct.memory);
        match conjunct.monotone {
            Some((kind, channel)) if !is_poll(view.code, conjunct.node) => {
                let fault = cell::Cell::new(None);
                let is_true = View { fault: &fault, ..view }.is_true(conjunct.node, process);
                // What stays true when more comes becomes false by a receive, and true by a send.
                let by_sends = is_true == (kind == Kind::Less);
                self.leave(view, process, channel, (by_sends, !by_sends), next);
                let within =
                    conjunct.looks.iter().filter(|&&look| !is_about(view.code, look, channel));
                within.for_each(|&look| self.look(view, process, look, next));
            }
            _ => conjunct.looks.iter().for_each(|&look| self.look(view, process, look, next)),
        }
    }

    /// What an edge does whose guard is true, or goes wrong.
    fn step(&self, view: View<'_>, process: u32, step: &Step, head: &Head, next: &mut Next) {
        next.avoids.memory(head.rest);
        self.all_of(view, process, head.rest.uses, next);
        head.looks.iter().for_each(|&look| self.look(view, process, look, next));
        for &(sends, message) in &head.sure {
            let message = &view.code.messages[message as usize];
            self.message(view, process, message, (sends, true), next);
        }
        match *step {
            Step::Send(number) | Step::Receive(number) => {
                let sends = matches!(step, Step::Send(_));
                let message = &view.code.messages[number as usize];
                self.message(view, process, message, (sends, false), next);
            }
            Step::Die => Self::death(view, process, next),
            _ => {}
        }
    }

    /// Others must do nothing to channels.
    fn all_of(&self, view: View<'_>, process: u32, uses: u64, next: &mut Next) {
        Self::each_channel(view, process, uses, self.writes, |channel| match channel {
            Some((kind, idx)) => {
                next.avoids.all_of(idx);
                self.depend_on_owner(view, process, idx, next);
                self.depend_on_promises(view, process, kind, idx, next);
                self.depend_on_trace(idx, next);
            }
            None => next.avoids.any_channel(),
        });
    }

    /// What is looked at stays what it is.
    fn look(&self, view: View<'_>, process: u32, look: NodeId, next: &mut Next) {
        let fault = cell::Cell::new(None);
        let view = View { fault: &fault, ..view };
        let node = view.code.nodes[look.0 as usize];
        let is_true = view.is_true(look, process);
        match node {
            // What is empty is so until a process sends, and what is full until one receives.
            Node::Empty(channel) => {
                self.leave(view, process, channel, (is_true, !is_true), next);
            }
            Node::Full(channel) => {
                self.leave(view, process, channel, (!is_true, is_true), next);
            }
            Node::Length(channel) => self.leave(view, process, channel, (true, true), next),
            Node::Poll(number) => {
                let message = &view.code.messages[number as usize];
                let channel = view.channel(view.value(message.channel, process));
                let is_empty = channel.is_none_or(|(at, kind)| view.length(at, kind) == 0);
                // A message that fits is there until a process receives it. One that does not is in
                // the way until then, unless it may be passed by; and where there is none, somebody
                // has to send it.
                let by_sends = !is_true && (is_empty || message.anywhere);
                let ways = if view.code.sorts { (true, true) } else { (by_sends, !by_sends) };
                self.leave(view, process, message.channel, ways, next);
            }
            _ => unreachable!("only these look at channels"),
        }
    }

    /// Others must not send to a channel, or not receive from it, or neither.
    fn leave(
        &self,
        view: View<'_>,
        process: u32,
        channel: NodeId,
        (sends, receives): (bool, bool),
        next: &mut Next,
    ) {
        let Some(idx) = Self::channel_of(view, process, channel) else {
            return next.avoids.any_channel();
        };
        self.depend_on_owner(view, process, idx, next);
        if sends {
            next.avoids.channel(Kind::Send, idx);
        }
        if receives {
            next.avoids.channel(Kind::Receive, idx);
        }
    }

    /// A message that is sent or received first, or behind that if it is sure to be possible.
    fn message(
        &self,
        view: View<'_>,
        process: u32,
        message: &Message,
        (sends, is_sure): (bool, bool),
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
            _ if is_sure => true,
            true => length < capacity,
            false => view.receivable(message, process).is_some(),
        };
        if is_possible {
            next.avoids.channel(own, idx);
            next.avoids.channel(Kind::Look, idx);
            // Looks that find the same afterwards do not mind.
            next.avoids.channel(if sends { Kind::Less } else { Kind::More }, idx);
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
            Kind::Look | Kind::More | Kind::Less | Kind::ClaimSend | Kind::ClaimReceive => return,
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

/// Of the conjuncts that keep a guard false, the one that the fewest others can change, as far as
/// that is known without a look at them; `None` if the guard is true or goes wrong.
fn false_conjunct(view: View<'_>, process: u32, head: &Head) -> Option<usize> {
    let fault = cell::Cell::new(None);
    let view = View { fault: &fault, ..view };
    let mut best: Option<(u32, usize)> = None;
    let mut cost = 0;
    let mut is_reached = true;
    for (at, conjunct) in head.conjuncts.iter().enumerate() {
        let is_true = view.is_true(conjunct.node, process);
        if fault.take().is_some() {
            // If it is computed, the guard goes wrong: what comes behind it does not count then.
            return if is_reached { None } else { best.map(|(_, at)| at) };
        }
        let own = match conjunct.is_local() {
            true => 0,
            false => {
                let memory =
                    conjunct.memory.reads.count_ones() + conjunct.memory.writes.count_ones();
                1 + 2 * memory + conjunct.looks.len() as u32
            }
        };
        if !is_true && best.is_none_or(|(least, _)| cost + own < least) {
            best = Some((cost + own, at));
        }
        // Nothing is better than that, and no more has to be looked at.
        if matches!(best, Some((0, _))) {
            break;
        }
        is_reached &= is_true;
        cost += if conjunct.may_fail { own } else { 0 };
    }
    best.map(|(_, at)| at)
}

fn is_poll(code: &Code, node: NodeId) -> bool {
    matches!(code.nodes[node.0 as usize], Node::Poll(_))
}

/// Whether a look is the one at this channel, and not at another that it takes to tell which
/// channel this is.
fn is_about(code: &Code, look: NodeId, channel: NodeId) -> bool {
    match code.nodes[look.0 as usize] {
        Node::Length(other) | Node::Full(other) | Node::Empty(other) => other == channel,
        _ => false,
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
