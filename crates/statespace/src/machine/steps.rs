//! The interpreter: which steps the processes of a state can take, and where they lead.

use super::code::{Code, Step as Do, fault};
use super::liveness;
use super::run::Work;
use super::view::{Possible, Tables, View};
use crate::transitions::{Moves, Step, Successor};
use std::cell;

/// What is needed to take a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) work: Work,
    values: Vec<i64>,
    pub(super) ending: Ending,
    pub(super) partners: Partners,
    /// What a process could have sent to another one that waits for it, where nobody's halves were
    /// looked for.
    pub(super) offers: Offers,
}

/// Whose halves of a rendezvous are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Partners {
    #[default]
    All,
    Nobody,
    /// Those of one process, and no steps but these.
    Only(u32),
}

/// What is sent, whoever may take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offers {
    /// The channels, as [bits](channel_bit).
    pub(super) channels: u64,
    /// Whether some of it cannot be computed.
    pub(super) is_wrong: bool,
}

/// A channel in a set of channels. Some share a bit.
pub(super) fn channel_bit(channel: i64) -> u64 {
    1 << (channel as u64 % 64)
}

/// What is done at the end of every step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    /// Whether steps that concern no other process are parts of the step before.
    pub(super) merges: bool,
    /// Whether what is not read any more is forgotten.
    pub(super) forgets: bool,
    /// Whether steps that a property may look at are never merged.
    pub(super) is_watched: bool,
}

/// What became of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// There is no move by it.
    No,
    Yes,
    /// It went wrong before anything was done.
    Wrong,
}

impl Steps {
    /// Tells the moves of one process.
    pub(super) fn moves_of(&mut self, view: View<'_>, process: u32, moves: &mut Moves) {
        if view.is_allowed(process) {
            self.edges_of(view, process, moves);
        }
    }

    fn edges_of(&mut self, view: View<'_>, process: u32, moves: &mut Moves) {
        let mut has_moved = false;
        let mut escape = None;
        for number in view.place_of(process).edges.clone() {
            let edge = &view.code.edges[number as usize];
            if escape.is_some() && edge.escape != escape {
                break;
            }
            if edge.otherwise && has_moved {
                continue;
            }
            match self.edge(view, process, number, moves) {
                Taken::No => {}
                Taken::Wrong => has_moved = true,
                Taken::Yes => {
                    has_moved = true;
                    escape = edge.escape;
                }
            }
        }
    }

    /// Tells the moves by one edge.
    pub(super) fn edge(
        &mut self,
        view: View<'_>,
        process: u32,
        number: u32,
        moves: &mut Moves,
    ) -> Taken {
        let edge = &view.code.edges[number as usize];
        let n_before = moves.len();
        let possible = view.possible(edge.guard, &edge.step, process);
        let is_alone = !matches!(self.partners, Partners::Only(_));
        if let Some(fault) = view.fault.take() {
            if is_alone {
                moves.fault(fault);
                moves.push(step(process, number), Successor::None, &[]);
            }
            return Taken::Wrong;
        }
        match possible {
            Possible::No => {}
            Possible::WithPartner => self.rendezvous(view, process, number, moves),
            _ if is_alone => self.single(view, process, number, possible, moves),
            _ => {}
        }
        if moves.len() > n_before { Taken::Yes } else { Taken::No }
    }

    /// A step of one process.
    fn single(
        &mut self,
        view: View<'_>,
        process: u32,
        number: u32,
        possible: Possible,
        moves: &mut Moves,
    ) {
        let edge = &view.code.edges[number as usize];
        self.work.begin(view.state, view.tables);
        let done = self.work.act(view.code, &edge.step, process, possible);
        let done = done.map(|failed| failed.or(Self::promised(view, process, number)));
        self.push(view.code, step(process, number), process, number, done, moves);
    }

    /// The steps in which others take what a process sends.
    fn rendezvous(&mut self, view: View<'_>, process: u32, number: u32, moves: &mut Moves) {
        let Do::Send(message) = view.code.edges[number as usize].step else { return };
        let message = &view.code.messages[message as usize];
        let channel = view.value(message.channel, process);
        let Some((_, kind)) = view.channel(channel) else { return };
        let mut values = std::mem::take(&mut self.values);
        view.sent(message, process, kind, &mut values);
        let is_wrong = view.fault.get().is_some();
        let partners = match self.partners {
            Partners::All => 0..view.n_processes(),
            Partners::Only(partner) => partner..partner + 1,
            Partners::Nobody => {
                view.fault.take();
                self.offers.channels |= channel_bit(channel);
                self.offers.is_wrong |= is_wrong;
                0..0
            }
        };
        for partner in partners.rev().filter(|&other| other != process) {
            if view.is_provided(partner) {
                self.taken_by(view, (process, number), partner, channel, &values, moves);
            }
        }
        self.values = values;
    }

    pub(super) fn taken_by(
        &mut self,
        view: View<'_>,
        (process, number): (u32, u32),
        partner: u32,
        channel: i64,
        values: &[i64],
        moves: &mut Moves,
    ) {
        let code = view.code;
        let mut escape = None;
        let edges = view.place_of(partner).edges.clone();
        for (choice, other) in edges.enumerate() {
            let theirs = &code.edges[other as usize];
            if escape.is_some() && theirs.escape != escape {
                break;
            }
            let taken = view.takes(other, partner, channel, values);
            if let Some(fault) = view.fault.take() {
                moves.fault(fault);
                let step =
                    Step { process, edge: number, choice: choice as u32, partner: Some(partner) };
                moves.push(step, Successor::None, &[]);
                continue;
            }
            let Some((message, within)) = taken else { continue };
            escape = theirs.escape;
            self.work.begin(view.state, view.tables);
            self.work.go_to(process, code.edges[number as usize].to);
            let fields = &code.messages[message as usize].fields;
            let sent = self.work.event(code, true, channel, values);
            let failed = sent.or(self.work.event(code, false, channel, values));
            let failed = failed.or(Self::promised(view, process, number));
            let failed = failed.or(Self::promised(view, partner, other));
            let noted = self.note_sent(view, (process, number), channel, values);
            let delivered = noted.and_then(|()| self.work.deliver(code, fields, values, partner));
            let mut done = delivered.map(|()| failed);
            if let (Ok(_), Some(first), Do::Indivisible { end, .. }) = (done, within, &theirs.step)
            {
                done = self.work.rest_at_once(code, partner, first, *end).map(|it| failed.or(it));
            }
            let step =
                Step { process, edge: number, choice: choice as u32, partner: Some(partner) };
            moves.pass(other);
            self.push(code, step, partner, other, done, moves);
        }
    }

    /// Notes which fields of a message are not what is handed over of them.
    fn note_sent(
        &mut self,
        view: View<'_>,
        (process, number): (u32, u32),
        channel: i64,
        values: &[i64],
    ) -> Result<(), u32> {
        match (&view.code.edges[number as usize].step, view.channel(channel)) {
            (Do::Send(message), Some((_, kind))) if view.code.finds_truncation => {
                let message = &view.code.messages[*message as usize];
                self.work.note_sent(view.code, message, kind, values, process)
            }
            _ => Ok(()),
        }
    }

    /// Adds the move that `work` is the successor of. `mover` is who may go on alone.
    fn push(
        &mut self,
        code: &Code,
        step: Step,
        mover: u32,
        number: u32,
        done: Result<Option<u32>, u32>,
        moves: &mut Moves,
    ) {
        self.work.passed.iter().for_each(|&edge| moves.pass(edge));
        let failed = match done {
            Err(fault) => {
                moves.fault(fault);
                moves.push(step, Successor::None, &[]);
                return;
            }
            Ok(failed) => failed.or(self.work.truncated.map(|_| fault::TRUNCATED)),
        };
        let edge = &code.edges[number as usize];
        if !matches!(edge.step, Do::Die) {
            self.work.go_to(mover, edge.to);
        }
        if let Some(at) = code.last {
            let at = at as usize;
            self.work.tables.touch(at..at + 1);
            self.work.state[at] = step.process as u8;
        }
        let (ending, Work { state, tables, has_started, .. }) = (self.ending, &mut self.work);
        let moved = &Moved { code, tables, step, mover, has_started: *has_started };
        ending.forget(moved, state);
        let goes_on = edge.atomic && can_go_on(code, tables, state, mover);
        let successor = ending.control(moved, state, goes_on);
        if let Some(fault) = failed {
            moves.fault(fault);
        }
        moves.push(step, successor, &self.work.state);
    }

    /// Whether another process has the end of the channel that a process uses here.
    pub(super) fn promised(view: View<'_>, process: u32, number: u32) -> Option<u32> {
        let (sends, message, fault) = match view.code.edges[number as usize].step {
            Do::Send(message) => (true, message, fault::EXCLUSIVE_SEND),
            Do::Receive(message) => (false, message, fault::EXCLUSIVE_RECEIVE),
            _ => return None,
        };
        if !view.code.has_exclusive {
            return None;
        }
        let message = &view.code.messages[message as usize];
        let channel = view.value(message.channel, process);
        let is_theirs = |other: u32| {
            let routine = &view.code.routines[view.routine_of(other) as usize];
            let mut promises = routine.exclusive.iter();
            promises.any(|(theirs, node)| *theirs == sends && view.value(*node, other) == channel)
        };
        let others = (0..view.n_processes()).filter(|&other| other != process);
        others.into_iter().any(is_theirs).then_some(fault)
    }
}

/// A step whose successor is nearly done.
pub(super) struct Moved<'a> {
    pub(super) code: &'a Code,
    /// Where everything is in the successor.
    pub(super) tables: &'a Tables,
    pub(super) step: Step,
    /// Who may go on alone.
    pub(super) mover: u32,
    /// Whether the youngest process was started in it.
    pub(super) has_started: bool,
}

impl Moved<'_> {
    /// Those who are where they were not before: who may go on alone comes first.
    fn processes(&self, state: &[u8]) -> impl Iterator<Item = u32> + use<> {
        let n_processes = u32::from(state[0]);
        let youngest = self.has_started.then(|| n_processes - 1);
        let processes = [Some(self.mover), Some(self.step.process), youngest];
        processes.into_iter().flatten().filter(move |&process| process < n_processes)
    }
}

impl Ending {
    /// Forgets what is dead where those stand who have moved.
    #[inline]
    pub(super) fn forget(self, moved: &Moved<'_>, state: &mut [u8]) {
        if !self.forgets {
            return;
        }
        for process in moved.processes(state) {
            liveness::forget(moved.code, moved.tables, state, process);
        }
    }

    /// Writes who goes on alone, if anybody does: the one who moved, or somebody whose next step
    /// concerns no other process.
    #[inline]
    pub(super) fn control(self, moved: &Moved<'_>, state: &mut [u8], goes_on: bool) -> Successor {
        let alone = match goes_on {
            true => Some(moved.mover),
            false if self.merges => self.merged(moved, state),
            false => None,
        };
        let code = moved.code;
        state[1] = alone.map_or(0, |process| process as u8 + 1);
        if alone.is_some() {
            return Successor::Transient;
        }
        let idle = if self.forgets { &code.idle[..] } else { &[] };
        for range in code.scratch.iter().chain(idle) {
            moved.tables.touch(range.clone());
            state[range.clone()].copy_from_slice(&code.globals[range.clone()]);
        }
        Successor::Stored
    }

    /// Who goes on alone behind a step because that concerns no other process.
    fn merged(self, moved: &Moved<'_>, state: &[u8]) -> Option<u32> {
        let &Moved { code, tables, .. } = moved;
        let fault = cell::Cell::new(None);
        let view = View::new(code, state, tables, false, &fault);
        let is_merged = |&process: &u32| {
            view.place_of(process).is_merged
                && !(self.is_watched && view.place_of(process).is_visible)
                && can_go_on(code, tables, state, process)
        };
        moved.processes(state).find(is_merged)
    }
}

/// Whether a process keeps control in a state, if it may.
pub(super) fn can_go_on(code: &Code, tables: &Tables, state: &[u8], process: u32) -> bool {
    let fault = cell::Cell::new(None);
    let view = View::new(code, state, tables, false, &fault);
    view.is_allowed(process) && view.can_move(process)
}

fn step(process: u32, edge: u32) -> Step {
    Step { process, edge, choice: 0, partner: None }
}
