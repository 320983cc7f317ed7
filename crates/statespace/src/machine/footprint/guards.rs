//! Guards, taken apart: what a process waits for, and who can only help it.
//!
//! A guard is a conjunction. Two things are known of its conjuncts before anything runs.
//!
//! **What messages do to them.** A conjunct is [`Kind::More`] if it stays true when a message is
//! sent, such as `nempty(c)`, `full(c)`, `len(c) > 2` and `c?[m]`, and [`Kind::Less`] if it stays
//! true when one is received, such as `empty(c)`, `nfull(c)` and `len(c) < 2`. All others are a
//! [`Kind::Look`]. Let `t` be a send that is possible, and `e` an edge of another process with a
//! conjunct of the kind `More`. If `e` can be taken before `t`, it can be taken after it: its guard
//! is true then, too. What `t` makes possible comes behind it. So `t` commutes with `e` as it does
//! with a receive, and the same is true of a receive and `Less`. It makes no difference for this
//! that `e` may be impossible, unless that is what matters of it: there is an `else` beside it, or
//! it decides who keeps control. These edges are [missed](super::Analysis::find_missed), and their
//! conjuncts are looks. A poll stays true only if messages are appended; where some are sorted in,
//! it is a look.
//!
//! A guard that goes wrong is a move, which must not vanish either. Conjuncts are computed in their
//! order, up to the first one that is false. If the guard goes wrong in a conjunct, all before it
//! are true, and those that a message helps stay true. So it goes wrong in the same way after `t`.
//! In a disjunction that would not be so, and its parts are not looked for.
//!
//! **What keeps them false.** As long as one conjunct is false, the guard is: a necessary enabling
//! set of the edge is the steps that may change this one (Godefroid, *Partial-Order Methods for the
//! Verification of Concurrent Systems*, LNCS 1032, 1996, section 4.3). That any will do leaves a
//! choice, and one that no other process can change is best. It has to be one that is computed
//! whatever the others are, or behind such as cannot go wrong ([`Conjunct::may_fail`]): else the
//! guard might go wrong before it comes to it.

use super::parts::{below, collect_looks, is_same, visit};
use super::{Analysis, Footprint, Kind};
use crate::machine::code::{ChannelKind, Code, Field, Node, NodeId, Step};
use mazurka_model::{Binary, Compare};

/// What an edge does first, as far as it is known before anything runs.
#[derive(Clone, Debug, Default)]
pub(in crate::machine) struct Head {
    /// What has to be true, in the order in which it is computed.
    pub(in crate::machine) conjuncts: Box<[Conjunct]>,
    /// What it uses beside that, with all that follows in an atomic sequence. A message that is
    /// sent or received first is left out, and so are channels that are looked at first: a state
    /// tells more of these.
    pub(in crate::machine) rest: Footprint,
    /// Where it looks at channels beside that.
    pub(in crate::machine) looks: Box<[NodeId]>,
    /// The messages that follow in an atomic sequence and are possible if the edge is: whether each
    /// is sent, and its number.
    pub(in crate::machine) sure: Box<[(bool, u32)]>,
}

/// A part of a guard that has to be true.
#[derive(Clone, Debug)]
pub(in crate::machine) struct Conjunct {
    pub(in crate::machine) node: NodeId,
    /// The memory that it reads.
    pub(in crate::machine) memory: Footprint,
    /// What messages do to it, and the channel, if that is known.
    pub(in crate::machine) monotone: Option<(Kind, NodeId)>,
    /// Where it looks at channels.
    pub(in crate::machine) looks: Box<[NodeId]>,
    /// Whether computing it may go wrong.
    pub(in crate::machine) may_fail: bool,
}

impl Conjunct {
    /// Whether it is a matter of its process alone.
    pub(in crate::machine) fn is_local(&self) -> bool {
        self.memory == Footprint::default() && self.looks.is_empty()
    }
}

/// The conjuncts of an expression, in their order.
pub(super) fn conjuncts_of(code: &Code, id: NodeId, found: &mut Vec<NodeId>) {
    match code.nodes[id.0 as usize] {
        Node::If(left, right, otherwise)
            if matches!(code.nodes[otherwise.0 as usize], Node::Const(0)) =>
        {
            conjuncts_of(code, left, found);
            conjuncts_of(code, right, found);
        }
        _ => found.push(id),
    }
}

/// What messages do to a truth value about one channel, if they can change it in one direction
/// only.
pub(super) fn monotone(code: &Code, id: NodeId) -> Option<(Kind, NodeId)> {
    let flip = |kind: Kind| if kind == Kind::More { Kind::Less } else { Kind::More };
    let length = |id: NodeId| match code.nodes[id.0 as usize] {
        Node::Length(channel) => Some(channel),
        _ => None,
    };
    let number = |id: NodeId| match code.nodes[id.0 as usize] {
        Node::Const(number) => Some(number),
        _ => None,
    };
    match code.nodes[id.0 as usize] {
        Node::Empty(channel) => Some((Kind::Less, channel)),
        Node::Full(channel) => Some((Kind::More, channel)),
        Node::Not(inner) => {
            // Not seen is not the same as seen not to be there: a poll has two ways to be false.
            if matches!(code.nodes[inner.0 as usize], Node::Poll(_)) {
                return None;
            }
            monotone(code, inner).map(|(kind, channel)| (flip(kind), channel))
        }
        Node::Poll(message) if !code.sorts => {
            Some((Kind::More, code.messages[message as usize].channel))
        }
        Node::Equal(left, right) => match (length(left), number(right)) {
            (Some(channel), Some(0)) => Some((Kind::Less, channel)),
            _ => None,
        },
        Node::Less(left, right) => match (length(left), length(right)) {
            (Some(channel), None) => number(right).map(|_| (Kind::Less, channel)),
            (None, Some(channel)) => number(left).map(|_| (Kind::More, channel)),
            _ => None,
        },
        Node::Compare(compare, _, left, right) => {
            let (is_left, channel, number) = match (length(left), length(right)) {
                (Some(channel), None) => (true, channel, number(right)?),
                (None, Some(channel)) => (false, channel, number(left)?),
                _ => return None,
            };
            match compare {
                Compare::Less | Compare::LessOrEqual if is_left => Some((Kind::Less, channel)),
                Compare::Less | Compare::LessOrEqual => Some((Kind::More, channel)),
                Compare::Greater | Compare::GreaterOrEqual if is_left => {
                    Some((Kind::More, channel))
                }
                Compare::Greater | Compare::GreaterOrEqual => Some((Kind::Less, channel)),
                Compare::NotEqual if number == 0 => Some((Kind::More, channel)),
                Compare::Equal if number == 0 => Some((Kind::Less, channel)),
                Compare::Equal | Compare::NotEqual => None,
            }
        }
        _ => None,
    }
}

impl Analysis<'_> {
    /// Takes the guard of an edge apart.
    pub(super) fn conjuncts(&mut self, routine: usize, guard: Option<NodeId>) -> Box<[Conjunct]> {
        let mut nodes = Vec::new();
        guard.into_iter().for_each(|guard| conjuncts_of(self.code, guard, &mut nodes));
        let conjuncts = nodes.into_iter().map(|node| {
            let mut looks = Vec::new();
            collect_looks(self.code, node, &mut looks);
            Conjunct {
                node,
                memory: Footprint { uses: 0, ..self.reads(routine, node) },
                monotone: monotone(self.code, node),
                looks: looks.into(),
                may_fail: self.may_fail(node),
            }
        });
        conjuncts.collect()
    }

    /// What a guard reads, with what messages can only help told apart.
    pub(super) fn guard(&mut self, routine: usize, guard: NodeId) -> Footprint {
        let mut nodes = Vec::new();
        conjuncts_of(self.code, guard, &mut nodes);
        let mut all = Footprint::default();
        for node in nodes {
            let mut own = self.reads(routine, node);
            if let Some((kind, channel)) = monotone(self.code, node) {
                own.uses = self.reads(routine, channel).uses | self.intern(routine, kind, channel);
                own.uses |= self.values_polled(routine, node);
            }
            all.add(own);
        }
        all
    }

    /// What the values that a message is compared with look at.
    fn values_polled(&mut self, routine: usize, node: NodeId) -> u64 {
        let Node::Poll(message) = self.code.nodes[node.0 as usize] else { return 0 };
        let channel = self.code.messages[message as usize].channel;
        let values = below(self.code, node).into_iter().filter(|&it| it != channel);
        values.collect::<Vec<_>>().into_iter().fold(0, |all, it| all | self.reads(routine, it).uses)
    }

    /// Whether computing an expression may go wrong.
    fn may_fail(&self, id: NodeId) -> bool {
        let mut may_fail = false;
        let is_queue = |channel: NodeId| {
            self.kind_of(channel).is_some_and(|kind: &ChannelKind| kind.capacity > 0)
        };
        visit(self.code, id, &mut |node| {
            may_fail |= match *node {
                Node::Binary(Binary::Divide | Binary::Remainder, _, _, divisor) => {
                    !matches!(self.code.nodes[divisor.0 as usize], Node::Const(it) if it != 0)
                }
                Node::GlobalAt { .. }
                | Node::LocalAt { .. }
                | Node::RemoteAt { .. }
                | Node::Index(..)
                | Node::Enabled(_) => true,
                Node::Length(channel) | Node::Full(channel) | Node::Empty(channel) => {
                    self.kind_of(channel).is_none()
                }
                Node::Poll(message) => !is_queue(self.code.messages[message as usize].channel),
                _ => false,
            };
        });
        may_fail
    }

    /// The number of a channel that is always the same one.
    pub(super) fn always(&self, channel: NodeId) -> Option<i64> {
        match self.code.nodes[channel.0 as usize] {
            Node::Const(number) => Some(number),
            Node::Convert(_, inner) => self.always(inner),
            Node::Global { at, cell } if self.bit(at) == 0 => {
                Some(cell.load(&self.code.globals, at as usize))
            }
            _ => None,
        }
    }

    /// What a channel is that is always the same one.
    pub(super) fn kind_of(&self, channel: NodeId) -> Option<&ChannelKind> {
        let idx = usize::try_from(self.always(channel)? - 1).ok()?;
        let (_, kind) = self.code.channels.get(idx)?;
        Some(&self.code.kinds[*kind as usize])
    }
}

/// What is known of a channel within an atomic sequence, since its process looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    /// Whether there is room; otherwise there is a message.
    is_room: bool,
    channel: NodeId,
}

/// What is known at the places of a routine.
///
/// A process that comes to a place by an atomic edge goes on at once if it can. What it has found
/// out of a channel before, by a conjunct of a guard, is then still true, but for what it did
/// itself. So a place is *sure* if one of its edges can be taken whenever a process comes there in
/// control: it has no guard and nothing that could block, or it is an `else`, or it sends where
/// there is room, or receives where there is a message, whichever that is. A process keeps control
/// in a sure place, whatever others did before: that an edge is not possible there decides nothing.
/// What is known behind an edge is what was known at its place, if that is sure, and else nothing,
/// since others may have moved meanwhile; with what its guard tells, and without what its step may
/// change. At a place, it is what is known behind all edges that lead there, nothing if one of them
/// is not atomic. Who sends in a rendezvous is not in control afterwards, so nothing is known
/// behind what may be one. It is a greatest fixed point: everything is known in the beginning, and
/// less in every round.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// By place; `None` if no process comes there, as far as was seen.
    facts: Vec<Option<Vec<Fact>>>,
    pub(super) is_sure: Vec<bool>,
}

impl Analysis<'_> {
    /// Finds what is known at the places of a routine.
    pub(super) fn known(&self, routine: usize) -> Known {
        let kind = &self.code.routines[routine];
        let n_places = kind.places.len();
        let mut known = Known { facts: vec![None; n_places], is_sure: vec![false; n_places] };
        let has_control = kind.provided.is_none();
        known.facts[kind.start as usize] = Some(Vec::new());
        let edges = kind
            .places
            .iter()
            .enumerate()
            .flat_map(|(from, place)| place.edges.clone().map(move |number| (from, number)));
        let edges: Vec<(usize, u32)> = edges.collect();
        for &(_, number) in &edges {
            let edge = &self.code.edges[number as usize];
            if let Step::Indivisible { start, .. } = edge.step {
                known.facts[start as usize] = Some(Vec::new());
            }
            if !edge.atomic || !has_control {
                known.facts[edge.to as usize] = Some(Vec::new());
            }
        }
        loop {
            for place in 0..n_places {
                known.is_sure[place] = has_control && self.is_sure(routine, &known, place);
            }
            let mut next = known.facts.clone();
            for &(from, number) in &edges {
                let edge = &self.code.edges[number as usize];
                if !edge.atomic || known.facts[from].is_none() {
                    continue;
                }
                let behind = self.behind(routine, &known, from, number);
                match &mut next[edge.to as usize] {
                    Some(facts) => {
                        facts.retain(|fact| behind.iter().any(|it| self.is_one(*it, *fact)))
                    }
                    unseen => *unseen = Some(behind),
                }
            }
            if next == known.facts {
                return known;
            }
            known.facts = next;
        }
    }

    fn is_one(&self, left: Fact, right: Fact) -> bool {
        left.is_room == right.is_room && is_same(self.code, left.channel, right.channel)
    }

    /// What is known behind an atomic edge.
    fn behind(&self, routine: usize, known: &Known, from: usize, number: u32) -> Vec<Fact> {
        let edge = &self.code.edges[number as usize];
        let mut facts = match (known.is_sure[from], &known.facts[from]) {
            (true, Some(facts)) => facts.clone(),
            _ => Vec::new(),
        };
        let mut nodes = Vec::new();
        edge.guard.into_iter().for_each(|guard| conjuncts_of(self.code, guard, &mut nodes));
        facts.extend(nodes.into_iter().filter_map(|node| self.fact(routine, node)));
        let may_differ = |fact: &Fact, channel: NodeId| match self.always(fact.channel) {
            Some(number) => self.always(channel).is_some_and(|other| number != other),
            None => false,
        };
        match edge.step {
            Step::Skip
            | Step::Print { .. }
            | Step::Check { .. }
            | Step::Store { .. }
            | Step::Spawn { .. } => {}
            Step::Send(message) => {
                let channel = self.code.messages[message as usize].channel;
                let is_queue = self.kind_of(channel).is_some_and(|kind| kind.capacity > 0);
                facts.retain(|fact| is_queue && (!fact.is_room || may_differ(fact, channel)));
            }
            Step::Receive(message) => {
                let channel = self.code.messages[message as usize].channel;
                facts.retain(|fact| fact.is_room || may_differ(fact, channel));
            }
            Step::SetPriority { .. } | Step::Indivisible { .. } | Step::Die => facts.clear(),
        }
        facts
    }

    /// What a conjunct that is true tells of a channel that is always the same to its process.
    fn fact(&self, routine: usize, node: NodeId) -> Option<Fact> {
        let code = &*self.code;
        let (is_room, channel) = match code.nodes[node.0 as usize] {
            Node::Not(inner) => match code.nodes[inner.0 as usize] {
                Node::Full(channel) => (true, channel),
                Node::Empty(channel) => (false, channel),
                _ => return None,
            },
            Node::Empty(channel) => (true, channel),
            Node::Full(channel) => (false, channel),
            Node::Poll(message) => (false, code.messages[message as usize].channel),
            Node::Less(left, right) => {
                match (code.nodes[left.0 as usize], code.nodes[right.0 as usize]) {
                    (Node::Const(least), Node::Length(channel)) if least >= 0 => (false, channel),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let mut reads = 0;
        visit(code, channel, &mut |node| {
            if let Node::Global { at, .. } | Node::GlobalAt { at, .. } = *node {
                reads |= self.bit(at);
            }
        });
        // One for rendezvous is never full, and there is no room.
        let is_queue = match self.kind_of(channel) {
            Some(kind) => kind.capacity > 0,
            None => code.kinds.iter().all(|kind| kind.capacity > 0),
        };
        (reads == 0 && is_queue && self.is_stable(routine, channel))
            .then_some(Fact { is_room, channel })
    }

    /// Whether a process that comes to a place in control keeps it.
    fn is_sure(&self, routine: usize, known: &Known, place: usize) -> bool {
        let edges = self.code.routines[routine].places[place].edges.clone();
        edges.into_iter().any(|number| {
            let edge = &self.code.edges[number as usize];
            let is_free = matches!(
                edge.step,
                Step::Skip
                    | Step::Print { .. }
                    | Step::Check { .. }
                    | Step::Store { .. }
                    | Step::Spawn { .. }
            );
            edge.guard.is_none() && is_free || edge.otherwise || self.is_known(known, place, number)
        })
    }

    /// Whether it is known that a message can be sent or received whenever a process comes to a
    /// place in control.
    pub(super) fn is_known(&self, known: &Known, place: usize, number: u32) -> bool {
        let edge = &self.code.edges[number as usize];
        let (is_room, message) = match edge.step {
            Step::Send(message) => (true, &self.code.messages[message as usize]),
            Step::Receive(message) => (false, &self.code.messages[message as usize]),
            _ => return false,
        };
        let fits = is_room || !message.fields.iter().any(|field| matches!(field, Field::Value(_)));
        let wanted = Fact { is_room, channel: message.channel };
        let facts = known.facts[place].as_deref().unwrap_or_default();
        edge.guard.is_none() && fits && facts.iter().any(|fact| self.is_one(*fact, wanted))
    }
}
