//! Footprints: what the steps of a process access, and what they may ever access, by static
//! analysis.
//!
//! Implements the static part of the ample-set conditions as Holzmann and Peled, *An Improvement in
//! Formal Verification* (FORTE 1994), have it, and the part of stubborn sets that Godefroid,
//! *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032, 1996), chapter 4,
//! asks of a program: which operations a process may still execute.
//!
//! Differs: a location is not called safe or unsafe. It is told what its steps touch, what the
//! process may touch from there on (with the processes that it may start), and a state says who
//! else may touch that (`stubborn.rs`). So no promise of the user is needed to see that a process
//! is alone at an end of a channel.
//!
//! A channel is known by an expression. If nothing in that ever changes, such as a parameter that
//! is never assigned to, any state tells which channel it will always be.

mod guards;
mod parts;
mod starts;
mod visible;

pub(super) use guards::{Conjunct, Head};
pub(super) use parts::{Part, parts, pieces, range, visit, waits_for_all};
pub(super) use visible::who_changes;

use super::code::{Code, Edge, Node, NodeId, Place, Step};
use guards::Known;
use parts::{collect_looks, edges_of, is_global, is_same};

/// What is read, written, and done to channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    /// One bit for each piece of memory, and some for other things.
    pub(super) reads: u128,
    pub(super) writes: u128,
    /// One bit for each of `Routine::uses`, or [`UNKNOWN`].
    pub(super) uses: u64,
}

/// Which processes there are: a process that starts one writes this, and one that dies reads it.
pub(super) const STARTED: u128 = 1 << 127;
/// The same: a process that asks writes this, and one that dies reads it. Two that die do not
/// depend on each other, since they die in a fixed order.
pub(super) const COUNTED: u128 = 1 << 124;
/// Where processes stand, and their variables, where others ask for them.
const INSIDE: u128 = 1 << 125;
/// How many pieces of memory are told apart.
const MOST_PIECES: usize = 120;

/// A channel that cannot be told, in any way.
pub(super) const UNKNOWN: u64 = 1 << 63;

/// What is done to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Send,
    Receive,
    /// Its length, or what is in it.
    Look,
    /// A look at it that finds the same if more messages are in it, see `guards.rs`.
    More,
    /// A look at it that finds the same if fewer messages are in it.
    Less,
    /// A process starts that promises to be the only one that sends.
    ClaimSend,
    ClaimReceive,
}

/// How many kinds there are.
pub(super) const N_KINDS: usize = 7;

/// Something that is done to a channel. It is always the same one, as long as no process writes
/// what `reads` says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) kind: Kind,
    pub(super) channel: NodeId,
    pub(super) reads: u128,
}

impl Footprint {
    /// Which processes there are makes a difference.
    pub(super) const PROCESSES: Self = Self { reads: STARTED, writes: COUNTED, uses: 0 };

    fn add(&mut self, other: Self) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.uses |= other.uses;
    }
}

/// Works out what all places use.
pub(super) fn footprints(code: &mut Code) {
    code.reduces = false;
    code.heads = vec![Head::default(); code.edges.len()];
    let sends = |edge: &Edge| match edge.step {
        Step::Send(number) => code.messages[number as usize].anywhere,
        _ => false,
    };
    code.sorts = code.edges.iter().any(sends);
    code.routines.iter_mut().for_each(|routine| routine.uses.clear());
    let routines = live(code);
    if code.has_priorities || is_watched(code, &routines) {
        return;
    }
    let mut analysis = Analysis::new(code, routines);
    let has_provided =
        analysis.routines.iter().any(|&it| analysis.code.routines[it].provided.is_some());
    if !analysis.has_stable_promises() || has_provided && analysis.has_missed_rendezvous {
        return;
    }
    analysis.run();
    code.reduces = true;
}

/// The routines that processes run.
fn live(code: &Code) -> Vec<usize> {
    let mut found = Vec::new();
    let mut todo: Vec<usize> = code.processes.iter().map(|(it, _)| *it as usize).collect();
    while let Some(routine) = todo.pop() {
        if found.contains(&routine) {
            continue;
        }
        found.push(routine);
        for edge in edges_of(code, routine) {
            if let Step::Spawn { routine, .. } = code.edges[edge as usize].step {
                todo.push(routine as usize);
            }
        }
    }
    found
}

/// Whether some process asks what every step of every other one may change.
fn is_watched(code: &Code, routines: &[usize]) -> bool {
    let mut is_watched = code.last.is_some();
    let mut look = |node: &Node| {
        is_watched |= matches!(
            node,
            Node::Enabled(_)
                | Node::Location(_)
                | Node::NonProgress
                | Node::Last
                | Node::Priority(_)
        );
    };
    let mut has_timeout = false;
    let mut look_out = |node: &Node| has_timeout |= matches!(node, Node::Timeout);
    for &routine in routines {
        if let Some(node) = code.routines[routine].provided {
            visit(code, node, &mut look);
            visit(code, node, &mut look_out);
        }
        for edge in edges_of(code, routine).map(|number| &code.edges[number as usize]) {
            parts(code, edge, |part| {
                if let Part::Read(node) = part {
                    visit(code, node, &mut look);
                    if !waits_for_all(code, edge) {
                        visit(code, node, &mut look_out);
                    }
                }
            });
        }
    }
    is_watched || has_timeout
}

struct Analysis<'a> {
    code: &'a mut Code,
    routines: Vec<usize>,
    /// Pieces of the program's memory that are written, in their order.
    pieces: Vec<(u32, u32)>,
    /// By routine, the pieces of its own memory that are written after its start.
    changing: Vec<Vec<(u32, u32)>>,
    /// By routine, whether others ask where its processes stand.
    is_seen_inside: Vec<bool>,
    /// By number of an edge, whether it makes a difference that it is *not* possible: there is an
    /// `else` beside it, or it would keep or lose control.
    is_missed: Vec<bool>,
    /// By routine, what is known at its places within atomic sequences.
    known: Vec<Known>,
    /// Whether that may depend on where others stand, since nothing is in between.
    has_missed_rendezvous: bool,
    /// Whether anybody can tell that a process has died.
    has_deaths: bool,
    /// What the trace looks at when a message is sent or received.
    trace: Footprint,
    /// The channels by which two meet so that a property may see it, see
    /// `Analysis::find_met_in_sight`.
    met_in_sight: Vec<i64>,
    /// By number of an edge, what it uses, once that was asked for.
    edges: Vec<Option<Footprint>>,
    /// By routine and place, what a process may come to use.
    future: Vec<Vec<Footprint>>,
}

impl<'a> Analysis<'a> {
    fn new(code: &'a mut Code, routines: Vec<usize>) -> Self {
        let n_routines = code.routines.len();
        let mut written = Vec::new();
        let mut touched = Vec::new();
        let mut changing = vec![Vec::new(); n_routines];
        let mut is_seen_inside = vec![false; n_routines];
        let mut look = |node: &Node| match *node {
            Node::Global { at, cell } => touched.push((at, at + cell.bytes())),
            Node::GlobalAt { at, size, .. } => touched.push((at, at + size)),
            Node::At { routine, .. }
            | Node::Remote { routine, .. }
            | Node::RemoteAt { routine, .. } => is_seen_inside[routine as usize] = true,
            _ => {}
        };
        for &routine in &routines {
            let provided = code.routines[routine].provided;
            provided.into_iter().for_each(|node| visit(code, node, &mut look));
            for number in edges_of(code, routine) {
                parts(code, &code.edges[number as usize], |part| match part {
                    Part::Read(node) => visit(code, node, &mut look),
                    Part::Write(target) if is_global(target) => written.push(range(target)),
                    Part::Write(target) => changing[routine].push(range(target)),
                    Part::Uses(..) => {}
                });
            }
        }
        let trace = code.trace.as_ref().map(|trace| trace.routine as usize);
        for number in trace.into_iter().flat_map(|routine| edges_of(code, routine)) {
            parts(code, &code.edges[number as usize], |part| {
                if let Part::Read(node) = part {
                    visit(code, node, &mut look);
                }
            });
        }
        for &proposition in &code.propositions {
            visit(code, proposition, &mut |node| match *node {
                Node::Global { at, cell } => touched.push((at, at + cell.bytes())),
                Node::GlobalAt { at, size, .. } => touched.push((at, at + size)),
                _ => {}
            });
        }
        let pieces = pieces(touched, written);
        let future = code.routines.iter().map(|it| vec![Footprint::default(); it.places.len()]);
        let future = future.collect();
        let edges = vec![None; code.edges.len()];
        let mut analysis = Self {
            code,
            routines,
            pieces,
            changing,
            is_seen_inside,
            is_missed: Vec::new(),
            known: Vec::new(),
            has_missed_rendezvous: false,
            has_deaths: true,
            trace: Footprint::default(),
            met_in_sight: Vec::new(),
            edges,
            future,
        };
        analysis.known = (0..n_routines).map(|routine| analysis.known(routine)).collect();
        analysis.find_missed();
        analysis.has_deaths = analysis.sees_deaths();
        if let Some(routine) = trace {
            analysis.trace = analysis.trace_of(routine);
        }
        analysis
    }

    /// Finds the edges of which it makes a difference that they are not possible.
    fn find_missed(&mut self) {
        let mut is_missed = vec![false; self.code.edges.len()];
        for &routine in &self.routines {
            let places = &self.code.routines[routine].places;
            let mut keeps_control = vec![false; places.len()];
            for number in edges_of(self.code, routine) {
                let edge = &self.code.edges[number as usize];
                keeps_control[edge.to as usize] |= edge.atomic;
                if let Step::Indivisible { start, end } = edge.step {
                    for within in self.within(routine, start, end) {
                        is_missed[within as usize] = true;
                    }
                }
            }
            for (idx, place) in places.iter().enumerate() {
                let is_ranked = |edge: &Edge| edge.otherwise || edge.escape.is_some();
                let is_kept = keeps_control[idx] && !self.known[routine].is_sure[idx];
                if is_kept || self.heads(place).any(is_ranked) {
                    place.edges.clone().for_each(|number| is_missed[number as usize] = true);
                }
            }
        }
        let uses_channel = |number: usize| {
            matches!(self.code.edges[number].step, Step::Send(_) | Step::Receive(_))
        };
        self.has_missed_rendezvous = self.code.kinds.iter().any(|kind| kind.capacity == 0)
            && (0..is_missed.len()).any(|number| is_missed[number] && uses_channel(number));
        self.is_missed = is_missed;
    }

    fn trace_of(&mut self, routine: usize) -> Footprint {
        let mut all = Footprint::default();
        for number in edges_of(self.code, routine).collect::<Vec<_>>() {
            all.reads |= self.edge(routine, number).reads;
        }
        all
    }

    fn run(&mut self) {
        let routines = self.routines.clone();
        for &routine in &routines {
            self.begin_future(routine);
        }
        // What processes may start may start others.
        while routines.iter().filter(|&&routine| self.spread_future(routine)).count() > 0 {}
        self.find_met_in_sight();
        for &routine in &routines {
            for idx in 0..self.code.routines[routine].places.len() {
                self.tell(routine, idx);
            }
        }
    }

    /// Writes down what is known of a place.
    fn tell(&mut self, routine: usize, idx: usize) {
        let next = self.next(routine, idx);
        let mut all = next;
        for number in self.code.routines[routine].places[idx].edges.clone() {
            let head = self.head(routine, number);
            all.add(head.rest);
            head.conjuncts.iter().for_each(|conjunct| all.add(conjunct.memory));
            self.code.heads[number as usize] = head;
        }
        let is_visible = self.is_visible(routine, idx);
        let future = self.future[routine][idx];
        let place = &self.code.routines[routine].places[idx];
        let is_local = !self.has_looks(place)
            && all == Footprint::default()
            && self.code.routines[routine].provided.is_none()
            && !place.edges.is_empty()
            && self.heads(place).all(|edge| self.is_local_step(edge));
        let place = &mut self.code.routines[routine].places[idx];
        (place.next, place.future) = (next, future);
        (place.is_local, place.is_visible) = (is_local, is_visible);
    }

    /// Whether an edge that uses nothing concerns its process alone.
    fn is_local_step(&self, edge: &Edge) -> bool {
        let is_local = matches!(
            edge.step,
            Step::Skip
                | Step::Print { .. }
                | Step::Check { .. }
                | Step::Store { .. }
                | Step::Indivisible { .. }
                | Step::Die
        );
        is_local && !edge.atomic && !waits_for_all(self.code, edge)
    }

    fn heads(&self, place: &Place) -> impl Iterator<Item = &Edge> {
        let code = &*self.code;
        place.edges.clone().map(|number| &code.edges[number as usize])
    }

    /// The bit of a piece of memory; none if that is never written.
    fn bit(&self, at: u32) -> u128 {
        let idx = self.pieces.partition_point(|(_, end)| *end <= at);
        match self.pieces.get(idx) {
            Some((start, _)) if *start <= at => 1 << (idx % MOST_PIECES),
            _ => 0,
        }
    }

    /// What an expression reads, and of which channels.
    fn reads(&mut self, routine: usize, id: NodeId) -> Footprint {
        let mut all = Footprint::default();
        let mut channels = Vec::new();
        visit(self.code, id, &mut |node| match *node {
            Node::Global { at, .. } | Node::GlobalAt { at, .. } => all.reads |= self.bit(at),
            Node::Processes => all.add(Footprint::PROCESSES),
            Node::At { .. } | Node::Remote { .. } | Node::RemoteAt { .. } => {
                all.add(Footprint::PROCESSES);
                all.reads |= INSIDE;
            }
            Node::Length(channel) | Node::Full(channel) | Node::Empty(channel) => {
                channels.push(channel);
            }
            Node::Poll(number) => channels.push(self.code.messages[number as usize].channel),
            _ => {}
        });
        for channel in channels {
            all.uses |= self.intern(routine, Kind::Look, channel);
        }
        all
    }

    /// What an edge uses, with all that is within it.
    fn edge(&mut self, routine: usize, number: u32) -> Footprint {
        if let Some(known) = self.edges[number as usize] {
            return known;
        }
        let footprint = self.look_at_edge(routine, number);
        self.edges[number as usize] = Some(footprint);
        footprint
    }

    fn look_at_edge(&mut self, routine: usize, number: u32) -> Footprint {
        let mut all = Footprint::default();
        let mut found = Vec::new();
        let edge = &self.code.edges[number as usize];
        parts(self.code, edge, |part| found.push(part));
        let (is_death, is_start) =
            (matches!(edge.step, Step::Die), matches!(edge.step, Step::Spawn { .. }));
        let within = match edge.step {
            Step::Indivisible { start, end } => Some((start, end)),
            _ => None,
        };
        let guard = edge.guard.filter(|_| !self.is_missed[number as usize]);
        for part in found {
            match part {
                Part::Read(node) if guard == Some(node) => all.add(self.guard(routine, node)),
                Part::Read(node) => all.add(self.reads(routine, node)),
                Part::Write(target) if is_global(target) => {
                    all.writes |= self.bit(range(target).0);
                }
                Part::Write(_) => {}
                Part::Uses(kind, channel) => {
                    all.uses |= self.intern(routine, kind, channel);
                    if self.is_missed[number as usize] {
                        all.uses |= self.intern(routine, Kind::Look, channel);
                    }
                    all.add(self.trace);
                }
            }
        }
        if is_death && self.has_deaths {
            all.reads |= STARTED | COUNTED;
        }
        if is_start {
            all.writes |= STARTED;
            all.uses |= self.claims(routine, number);
        }
        if self.is_seen_inside[routine] {
            all.writes |= INSIDE;
        }
        if let Some((start, end)) = within {
            for inner in self.within(routine, start, end) {
                all.add(self.edge(routine, inner));
            }
        }
        all
    }

    /// The edges between two places.
    fn within(&self, routine: usize, start: u16, end: u16) -> Vec<u32> {
        self.reachable(routine, start, |to, _| to != end)
    }

    /// The edges that can be reached from a place by edges that lead on.
    fn reachable(
        &self,
        routine: usize,
        start: u16,
        leads_on: impl Fn(u16, &Edge) -> bool,
    ) -> Vec<u32> {
        let found = self.reachable_from(routine, start, leads_on);
        found.into_iter().map(|(_, number)| number).collect()
    }

    /// The same, each with the place that it leads away from.
    fn reachable_from(
        &self,
        routine: usize,
        start: u16,
        leads_on: impl Fn(u16, &Edge) -> bool,
    ) -> Vec<(usize, u32)> {
        let places = &self.code.routines[routine].places;
        let mut seen = vec![false; places.len()];
        let (mut todo, mut found) = (vec![start], Vec::new());
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            for number in places[at as usize].edges.clone() {
                let edge = &self.code.edges[number as usize];
                found.push((at as usize, number));
                if leads_on(edge.to, edge) {
                    todo.push(edge.to);
                }
            }
        }
        found
    }

    /// What matters at a place, whatever its process does there.
    fn next(&mut self, routine: usize, idx: usize) -> Footprint {
        let mut all = Footprint::default();
        if let Some(provided) = self.code.routines[routine].provided {
            all.add(self.reads(routine, provided));
        }
        for number in self.code.routines[routine].places[idx].edges.clone() {
            let edge = &self.code.edges[number as usize];
            let (to, is_atomic) = (edge.to, edge.atomic);
            if !self.has_missed_rendezvous || waits_for_all(self.code, edge) {
                continue;
            }
            all.uses |= self.offers(routine, idx) | self.offers(routine, to as usize);
            if is_atomic {
                for later in self.reachable(routine, to, |_, edge| edge.atomic) {
                    let to = self.code.edges[later as usize].to;
                    all.uses |= self.offers(routine, to as usize);
                }
            }
        }
        all
    }

    /// What an edge does first.
    fn head(&mut self, routine: usize, number: u32) -> Head {
        let edge = &self.code.edges[number as usize];
        if waits_for_all(self.code, edge) {
            return Head::default();
        }
        let (guard, to, is_atomic) = (edge.guard, edge.to, edge.atomic);
        let is_first = !matches!(edge.step, Step::Indivisible { .. } | Step::Spawn { .. });
        let (mut read, mut looks) = (Vec::new(), Vec::new());
        parts(self.code, edge, |part| {
            if let Part::Read(node) = part {
                read.push(node);
            }
        });
        let behind = read.iter().filter(|&&node| guard != Some(node));
        behind.for_each(|&node| collect_looks(self.code, node, &mut looks));
        let conjuncts = self.conjuncts(routine, guard);
        let mut rest = self.edge(routine, number);
        if is_first {
            rest.uses = 0;
        }
        let mut sure = Vec::new();
        if is_atomic {
            for (from, later) in self.reachable_from(routine, to, |_, edge| edge.atomic) {
                let mut own = self.edge(routine, later);
                if self.is_known(&self.known[routine], from, later) {
                    own.uses = self.looked_at(routine, later);
                    match self.code.edges[later as usize].step {
                        Step::Send(message) => sure.push((true, message)),
                        Step::Receive(message) => sure.push((false, message)),
                        _ => unreachable!("only messages are known to be possible"),
                    }
                }
                rest.add(own);
            }
        }
        Head { conjuncts, rest, looks: looks.into(), sure: sure.into() }
    }

    /// What an edge looks at.
    fn looked_at(&mut self, routine: usize, number: u32) -> u64 {
        let mut read = Vec::new();
        parts(self.code, &self.code.edges[number as usize], |part| {
            if let Part::Read(node) = part {
                read.push(node);
            }
        });
        read.into_iter().fold(0, |all, node| all | self.reads(routine, node).uses)
    }

    /// The channels that a process at a place is ready to send to or to receive from.
    fn offers(&mut self, routine: usize, idx: usize) -> u64 {
        let mut numbers: Vec<u32> = self.code.routines[routine].places[idx].edges.clone().collect();
        for number in numbers.clone() {
            if let Step::Indivisible { start, .. } = self.code.edges[number as usize].step {
                numbers.extend(self.code.routines[routine].places[start as usize].edges.clone());
            }
        }
        let mut found = Vec::new();
        for number in numbers {
            parts(self.code, &self.code.edges[number as usize], |part| {
                if let Part::Uses(kind, channel) = part {
                    found.push((kind, channel));
                }
            });
        }
        let found = found.into_iter().map(|(kind, channel)| self.intern(routine, kind, channel));
        found.fold(0, |all, it| all | it)
    }

    /// Whether channels are looked at by the edges of a place.
    fn has_looks(&self, place: &Place) -> bool {
        let mut found = Vec::new();
        for edge in self.heads(place) {
            parts(self.code, edge, |part| {
                if let Part::Read(node) = part {
                    collect_looks(self.code, node, &mut found);
                }
            });
        }
        !found.is_empty()
    }

    fn begin_future(&mut self, routine: usize) {
        let provided = self.code.routines[routine].provided;
        let provided = provided.map(|node| self.reads(routine, node)).unwrap_or_default();
        for idx in 0..self.code.routines[routine].places.len() {
            let mut all = provided;
            for number in self.code.routines[routine].places[idx].edges.clone() {
                all.add(self.edge(routine, number));
            }
            self.future[routine][idx] = all;
        }
    }

    /// Lets places know what those behind them know; returns whether anything is new.
    fn spread_future(&mut self, routine: usize) -> bool {
        let mut is_new = false;
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for idx in (0..self.code.routines[routine].places.len()).rev() {
                let mut all = self.future[routine][idx];
                for number in self.code.routines[routine].places[idx].edges.clone() {
                    all.add(self.future[routine][self.code.edges[number as usize].to as usize]);
                    all.add(self.started(routine, number));
                }
                if all != self.future[routine][idx] {
                    self.future[routine][idx] = all;
                    (is_new, goes_on) = (true, true);
                }
            }
        }
        is_new
    }

    /// The bit of something that is done to a channel.
    fn intern(&mut self, routine: usize, kind: Kind, channel: NodeId) -> u64 {
        if !self.is_stable(routine, channel) {
            return UNKNOWN;
        }
        let code = &*self.code;
        let is_known = |it: &Use| it.kind == kind && is_same(code, it.channel, channel);
        let uses = &code.routines[routine].uses;
        let idx = uses.iter().position(is_known).unwrap_or(uses.len());
        if idx == 63 {
            return UNKNOWN;
        }
        if idx == uses.len() {
            let mut reads = 0;
            visit(self.code, channel, &mut |node| {
                if let Node::Global { at, .. } | Node::GlobalAt { at, .. } = *node {
                    reads |= self.bit(at);
                }
            });
            self.code.routines[routine].uses.push(Use { kind, channel, reads });
        }
        1 << idx
    }

    /// Whether an expression is worth the same to a process as long as it lives, as far as its own
    /// memory is concerned.
    fn is_stable(&self, routine: usize, id: NodeId) -> bool {
        let mut is_stable = true;
        let changes = |pieces: &[(u32, u32)], at: u32, end: u32| {
            pieces.iter().any(|(start, stop)| *start < end && at < *stop)
        };
        visit(self.code, id, &mut |node| {
            is_stable &= match *node {
                Node::Local { at, cell } => {
                    !changes(&self.changing[routine], at, at + cell.bytes())
                }
                Node::LocalAt { at, size, .. } => !changes(&self.changing[routine], at, at + size),
                Node::Const(_)
                | Node::Global { .. }
                | Node::GlobalAt { .. }
                | Node::Thread
                | Node::OwnChannel(_)
                | Node::Unary(..)
                | Node::Binary(..)
                | Node::Add(..)
                | Node::Subtract(..)
                | Node::Compare(..)
                | Node::Equal(..)
                | Node::Less(..)
                | Node::Not(_)
                | Node::Convert(..)
                | Node::If(..)
                | Node::Index(..) => true,
                _ => false,
            };
        });
        is_stable
    }
}
