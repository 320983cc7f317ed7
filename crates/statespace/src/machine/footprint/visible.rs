//! Visible steps: those that a property may see.

use super::Analysis;
use super::parts::{Part, constant, is_global, parts, range, visit};
use crate::machine::code::{Code, Node, NodeId, Place, Step};

/// Whether a local step of a process may change a proposition, and whether others may.
pub(in crate::machine) fn who_changes(
    code: &Code,
    proposition: NodeId,
    process: u32,
) -> (bool, bool) {
    let (mut changes, mut by_others) = (false, false);
    visit(code, proposition, &mut |node| {
        let (own, others) = match *node {
            Node::At { process: asked, .. }
            | Node::Remote { process: asked, .. }
            | Node::RemoteAt { process: asked, .. } => {
                match asked.and_then(|id| constant(code, id)) {
                    Some(number) => (number == i64::from(process), number != i64::from(process)),
                    None => (true, true),
                }
            }
            Node::Global { .. }
            | Node::GlobalAt { .. }
            | Node::Length(_)
            | Node::Full(_)
            | Node::Empty(_)
            | Node::Poll(_) => (false, true),
            Node::Processes
            | Node::Last
            | Node::Timeout
            | Node::NonProgress
            | Node::Enabled(_)
            | Node::Location(_)
            | Node::Priority(_) => (true, true),
            _ => (false, false),
        };
        changes |= own;
        by_others |= others;
    });
    (changes, by_others)
}

/// A channel that cannot be told. It is the number of none.
const ANY: i64 = 0;

impl Analysis<'_> {
    /// Whether the steps that are next at a place may change what a property looks at, also where
    /// they are those of two: a rendezvous is a step of who sends.
    pub(super) fn is_visible(&mut self, routine: usize, idx: usize) -> bool {
        let begun = self.begun(routine, idx);
        let is_met = |channel: i64| {
            let is_same = |&other: &i64| channel == other || channel == ANY || other == ANY;
            self.met_in_sight.iter().any(is_same)
        };
        let mut sends =
            begun.iter().filter_map(|&(_, number)| match self.code.edges[number as usize].step {
                Step::Send(message) => self.rendezvous(message),
                _ => None,
            });
        sends.any(is_met) || self.has_seen(routine, &begun)
    }

    /// Finds the channels from which somebody may take what another one sends at that moment, and
    /// change what a property looks at.
    pub(super) fn find_met_in_sight(&mut self) {
        for routine in self.routines.clone() {
            for idx in 0..self.code.routines[routine].places.len() {
                let received = self.received(routine, idx);
                let begun = self.begun(routine, idx);
                if !received.is_empty() && self.has_seen(routine, &begun) {
                    self.met_in_sight.extend(received);
                }
            }
        }
    }

    /// The channels from which a process at a place may take what another one sends at that moment.
    fn received(&self, routine: usize, idx: usize) -> Vec<i64> {
        let places = &self.code.routines[routine].places;
        let step = |number: u32| &self.code.edges[number as usize].step;
        let mut first: Vec<&Step> = places[idx].edges.clone().map(step).collect();
        for step_of in places[idx].edges.clone().map(step) {
            if let Step::Indivisible { start, .. } = step_of {
                first.extend(places[*start as usize].edges.clone().map(step));
            }
        }
        let received = first.into_iter().filter_map(|step| match step {
            Step::Receive(message) => self.rendezvous(*message),
            _ => None,
        });
        received.collect()
    }

    /// The channel of a message, if it may be one that has no room; [`ANY`] if it cannot be told.
    fn rendezvous(&self, message: u32) -> Option<i64> {
        let code = &*self.code;
        let id = code.messages[message as usize].channel;
        let known = match code.nodes[id.0 as usize] {
            Node::Global { at, cell } if self.bit(at) == 0 => {
                Some(cell.load(&code.globals, at as usize))
            }
            _ => constant(code, id),
        };
        let has_room = |kind: u16| code.kinds[kind as usize].capacity > 0;
        let found = known.and_then(|number| code.channels.get(number.checked_sub(1)? as usize));
        match found {
            Some(&(_, kind)) => known.filter(|_| !has_room(kind)),
            None => code.kinds.iter().any(|kind| kind.capacity == 0).then_some(ANY),
        }
    }

    /// The edges that are next at a place, and those behind them that no other process moves
    /// before, each with the place that it leaves.
    fn begun(&self, routine: usize, idx: usize) -> Vec<(u16, u32)> {
        let mut numbers: Vec<(u16, u32)> = Vec::new();
        for number in self.code.routines[routine].places[idx].edges.clone() {
            numbers.push((idx as u16, number));
            let edge = &self.code.edges[number as usize];
            if edge.atomic {
                let later = self.reachable(routine, edge.to, |_, edge| edge.atomic);
                numbers
                    .extend(later.into_iter().map(|number| (self.source(routine, number), number)));
            }
        }
        numbers
    }

    fn has_seen(&mut self, routine: usize, begun: &[(u16, u32)]) -> bool {
        begun.iter().any(|&(from, number)| self.is_seen(routine, from, number))
    }

    fn source(&self, routine: usize, number: u32) -> u16 {
        let places = &self.code.routines[routine].places;
        let found = places.iter().position(|place| place.edges.contains(&number));
        found.expect("every edge leaves a place") as u16
    }

    fn is_seen(&mut self, routine: usize, from: u16, number: u32) -> bool {
        let places = &self.code.routines[routine].places;
        let labels = |place: &Place| (place.is_progress, place.is_accept);
        let edge = &self.code.edges[number as usize];
        let to = edge.to;
        if labels(&places[from as usize]) != labels(&places[to as usize]) {
            return true;
        }
        let mut numbers = vec![number];
        if let Step::Indivisible { start, end } = edge.step {
            numbers.extend(self.within(routine, start, end));
        }
        let mut locals = Vec::new();
        for &number in &numbers {
            parts(self.code, &self.code.edges[number as usize], |part| {
                if let Part::Write(target) = part
                    && !is_global(target)
                {
                    locals.push(range(target));
                }
            });
        }
        let own = self.edge(routine, number);
        let changes_channels = own.uses != 0;
        let changes_processes = numbers.iter().any(|&number| {
            let step = &self.code.edges[number as usize].step;
            matches!(step, Step::Spawn { .. } | Step::Die)
        });
        let code = &*self.code;
        let (mut is_seen, mut memory) = (false, 0);
        let is_written =
            |at: u32, end: u32| locals.iter().any(|(start, stop)| *start < end && at < *stop);
        for &proposition in &code.propositions {
            visit(code, proposition, &mut |node| match *node {
                Node::Global { at, .. } | Node::GlobalAt { at, .. } => memory |= self.bit(at),
                Node::Processes => is_seen |= changes_processes,
                Node::At { routine: theirs, location, .. } => {
                    is_seen |= changes_processes;
                    is_seen |= theirs as usize == routine && (from == location || to == location);
                }
                Node::Remote { routine: theirs, at, cell, .. } => {
                    is_seen |= changes_processes;
                    is_seen |= theirs as usize == routine && is_written(at, at + cell.bytes());
                }
                Node::RemoteAt { routine: theirs, at, size, .. } => {
                    is_seen |= changes_processes;
                    is_seen |= theirs as usize == routine && is_written(at, at + size);
                }
                Node::Length(_) | Node::Full(_) | Node::Empty(_) | Node::Poll(_) => {
                    is_seen |= changes_channels;
                }
                Node::Last
                | Node::Timeout
                | Node::NonProgress
                | Node::Enabled(_)
                | Node::Location(_)
                | Node::Priority(_) => is_seen = true,
                _ => {}
            });
        }
        is_seen || own.writes & memory != 0
    }
}
