//! Evaluation: where everything is in a state, and the values of expressions there.

use super::code::{Cell, Code, Field, Message, Node, NodeId, Place, Step, fault};
use super::touched::Touched;
use mazurka_model::{Binary, binary, canonical, compare, convert, unary};
use std::cell;
use std::ops::Range;

/// Where the processes and the channels of a state are.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    /// Where the part of each process begins.
    pub(super) processes: Vec<u32>,
    /// What each of them is. Everything else follows from it.
    pub(super) routines: Vec<u8>,
    /// All channels, those of the program first.
    pub(super) channels: Vec<ChannelPlace>,
    /// What is looked at and written, if that is of interest.
    pub(super) touched: Touched,
}

/// Where a channel is, and what.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct ChannelPlace {
    pub(super) at: u32,
    pub(super) kind: u32,
}

impl Tables {
    /// Finds everything in a state.
    pub(super) fn scan(&mut self, code: &Code, state: &[u8]) {
        if self.fits(code, state) {
            self.touched.stay(state.len(), &self.processes, &self.routines);
            return;
        }
        self.touched.move_away();
        self.processes.clear();
        self.routines.clear();
        self.channels.clear();
        let place = |at: u32, kind: u16| ChannelPlace { at, kind: u32::from(kind) };
        self.channels.extend(code.channels.iter().map(|&(at, kind)| place(at, kind)));
        let mut at = code.globals.len() as u32;
        for _ in 0..state[0] {
            self.processes.push(at);
            self.routines.push(state[at as usize]);
            let routine = &code.routines[state[at as usize] as usize];
            let own = routine.channels.iter().map(|&(offset, kind)| place(at + offset, kind));
            self.channels.extend(own);
            at += routine.size;
        }
    }

    /// Notes that bytes of a state are looked at or written. Of which routines processes are
    /// belongs together with how many there are.
    #[inline]
    pub(super) fn touch(&self, bytes: Range<usize>) {
        if self.touched.is_on() {
            self.touched.note(bytes, &self.processes, &self.routines);
        }
    }

    /// Whether everything is where it was in the state before, as it nearly always is.
    fn fits(&self, code: &Code, state: &[u8]) -> bool {
        let mut processes = self.processes.iter().zip(&self.routines);
        usize::from(state[0]) == self.routines.len()
            && self.channels.len() >= code.channels.len()
            && processes.all(|(&at, &routine)| state.get(at as usize) == Some(&routine))
    }
}

/// A state, as a process sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) code: &'a Code,
    pub(super) state: &'a [u8],
    pub(super) tables: &'a Tables,
    /// Whether a `timeout` is true.
    pub(super) timeout: bool,
    /// What went wrong first in an expression.
    pub(super) fault: &'a cell::Cell<Option<u32>>,
    /// How many processes ask, one because of the other, whether another one can move.
    pub(super) n_asking: u32,
    /// Whether an expression is that of a property, and of no process.
    pub(super) is_of_property: bool,
}

/// What stands in the way of an edge, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Possible {
    No,
    Yes,
    /// If another process takes the message that is sent, in the same step.
    WithPartner,
    /// The message in this place of the channel is received.
    Receives(u32),
}

impl<'a> View<'a> {
    pub(super) fn new(
        code: &'a Code,
        state: &'a [u8],
        tables: &'a Tables,
        timeout: bool,
        fault: &'a cell::Cell<Option<u32>>,
    ) -> Self {
        Self { code, state, tables, timeout, fault, n_asking: 0, is_of_property: false }
    }

    /// Whether a proposition holds.
    pub(super) fn holds(self, proposition: NodeId) -> bool {
        Self { is_of_property: true, ..self }.is_true(proposition, 0)
    }

    pub(super) fn n_processes(self) -> u32 {
        self.tables.touch(0..1);
        u32::from(self.state[0])
    }

    /// Where the part of a process begins.
    pub(super) fn record(self, process: u32) -> usize {
        self.tables.processes[process as usize] as usize
    }

    pub(super) fn routine_of(self, process: u32) -> u8 {
        self.state[self.record(process)]
    }

    pub(super) fn location_of(self, process: u32) -> u16 {
        let at = self.record(process) + 1;
        self.tables.touch(at..at + 2);
        u16::from_le_bytes([self.state[at], self.state[at + 1]])
    }

    pub(super) fn place_of(self, process: u32) -> &'a Place {
        self.code.place(self.routine_of(process), self.location_of(process))
    }

    pub(super) fn priority_of(self, process: u32) -> u8 {
        match self.code.has_priorities {
            true => self.state[self.record(process) + 3],
            false => 1,
        }
    }

    /// Remembers what went wrong, and goes on with a harmless value.
    fn wrong(self, fault: u32) -> i64 {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
        0
    }

    pub(super) fn is_true(self, id: NodeId, process: u32) -> bool {
        self.value(id, process) != 0
    }

    /// What an expression is worth to a process.
    pub(super) fn value(self, id: NodeId, process: u32) -> i64 {
        let value = |id: NodeId| self.value(id, process);
        let of = |condition: bool| i64::from(condition);
        match self.code.nodes[id.0 as usize] {
            Node::Const(constant) => constant,
            Node::Global { at, cell } => self.cell(cell, at as usize),
            Node::GlobalAt { at, offset, size, cell } => {
                self.load(at as usize, value(offset), size, cell)
            }
            Node::Local { at, cell } => self.cell(cell, self.record(process) + at as usize),
            Node::LocalAt { at, offset, size, cell } => {
                self.load(self.record(process) + at as usize, value(offset), size, cell)
            }
            Node::Unary(op, ty, operand) => unary(op, ty, value(operand) as u64) as i64,
            Node::Binary(op, ty, left, right) => {
                let (left, right) = (value(left), value(right));
                if right == 0 && matches!(op, Binary::Divide | Binary::Remainder) {
                    return self.wrong(fault::DIVISION);
                }
                binary(op, ty, left as u64, right as u64, ty) as i64
            }
            Node::Add(left, right) => {
                i64::from((value(left) as i32).wrapping_add(value(right) as i32))
            }
            Node::Subtract(left, right) => {
                i64::from((value(left) as i32).wrapping_sub(value(right) as i32))
            }
            Node::Compare(op, ty, left, right) => {
                of(compare(op, ty, value(left) as u64, value(right) as u64))
            }
            Node::Equal(left, right) => of(value(left) == value(right)),
            Node::Less(left, right) => of(value(left) < value(right)),
            Node::Not(operand) => of(value(operand) == 0),
            Node::Convert(ty, operand) => convert(ty, ty, value(operand) as u64) as i64,
            Node::If(condition, then, otherwise) => match value(condition) {
                0 => value(otherwise),
                _ => value(then),
            },
            Node::Index(index, count) => {
                let index = value(index);
                match (0..i64::from(count)).contains(&index) {
                    true => index,
                    false => self.wrong(fault::INDEX),
                }
            }
            Node::Thread => i64::from(process),
            Node::Length(channel) => match self.channel(value(channel)) {
                Some((at, kind)) => i64::from(self.length(at, kind)),
                None => 0,
            },
            Node::Full(channel) => match self.channel(value(channel)) {
                Some((at, kind)) => of(self.length(at, kind) == self.code.kinds[kind].full()),
                None => 0,
            },
            Node::Empty(channel) => match self.channel(value(channel)) {
                Some((at, kind)) => of(self.length(at, kind) == 0),
                None => 0,
            },
            Node::Poll(message) => {
                let message = &self.code.messages[message as usize];
                of(!self.is_rendezvous(message, process)
                    && self.receivable(message, process).is_some())
            }
            Node::OwnChannel(number) => i64::from(self.own_channels(process) + number + 1),
            Node::Processes => i64::from(self.n_processes()),
            Node::Last => self.code.last.map_or(0, |at| self.cell(Cell::U8, at as usize)),
            Node::Timeout => of(self.timeout),
            Node::NonProgress => {
                of((0..self.n_processes()).all(|it| !self.place_of(it).is_progress))
            }
            Node::Enabled(other) => {
                self.of_process(value(other), |it| of(self.is_enabled(it, process)))
            }
            Node::Location(other) => {
                self.of_process(value(other), |it| i64::from(self.location_of(it)))
            }
            Node::Priority(other) => {
                self.of_process(value(other), |it| i64::from(self.priority_of(it)))
            }
            Node::At { process: other, routine, location } => {
                let other = self.find(other, process, routine);
                of(other.is_some_and(|it| self.location_of(it) == location))
            }
            Node::Remote { process: other, routine, at, cell } => {
                let other = self.find(other, process, routine);
                other.map_or(0, |it| self.cell(cell, self.record(it) + at as usize))
            }
            Node::RemoteAt { process: other, routine, at, offset, size, cell } => {
                let offset = value(offset);
                match self.find(other, process, routine) {
                    Some(it) => self.load(self.record(it) + at as usize, offset, size, cell),
                    None => 0,
                }
            }
        }
    }

    fn load(self, at: usize, offset: i64, size: u32, cell: Cell) -> i64 {
        match offset >= 0 && offset + i64::from(cell.bytes()) <= i64::from(size) {
            true => self.cell(cell, at + offset as usize),
            false => self.wrong(fault::INDEX),
        }
    }

    /// What is stored at a byte of the state.
    fn cell(self, cell: Cell, at: usize) -> i64 {
        self.tables.touch(at..at + cell.bytes() as usize);
        cell.load(self.state, at)
    }

    fn of_process(self, number: i64, ask: impl Fn(u32) -> i64) -> i64 {
        match (0..i64::from(self.n_processes())).contains(&number) {
            true => ask(number as u32),
            false => 0,
        }
    }

    /// The process of a routine with this number; the first one if no number is given.
    fn find(self, number: Option<NodeId>, process: u32, routine: u8) -> Option<u32> {
        match number {
            Some(number) => {
                let number = self.value(number, process);
                let exists = (0..i64::from(self.n_processes())).contains(&number);
                let number = number as u32;
                (exists && self.routine_of(number) == routine).then_some(number)
            }
            None => (0..self.n_processes()).find(|it| self.routine_of(*it) == routine),
        }
    }

    /// How many channels there are before those of a process.
    fn own_channels(self, process: u32) -> u32 {
        self.tables.touch(0..1);
        let before = (0..process).map(|it| {
            let routine = self.routine_of(it);
            self.code.routines[routine as usize].channels.len() as u32
        });
        self.code.channels.len() as u32 + before.sum::<u32>()
    }

    /// Where the channel of a number is, and what it is.
    pub(super) fn channel(self, number: i64) -> Option<(usize, usize)> {
        let idx = usize::try_from(number - 1).ok();
        match idx.and_then(|idx| self.tables.channels.get(idx)) {
            Some(place) => Some((place.at as usize, place.kind as usize)),
            None => {
                self.wrong(fault::CHANNEL);
                None
            }
        }
    }

    /// Where the channel with a number is, if there is one.
    pub(super) fn channel_place(self, number: i64) -> Option<usize> {
        let idx = usize::try_from(number - 1).ok()?;
        self.tables.channels.get(idx).map(|place| place.at as usize)
    }

    pub(super) fn length(self, at: usize, kind: usize) -> u32 {
        match self.code.kinds[kind].capacity {
            0 => 0,
            _ => self.cell(Cell::U8, at) as u32,
        }
    }

    /// A field of the message in a place of a channel.
    pub(super) fn field(self, at: usize, kind: usize, place: u32, field: usize) -> i64 {
        let kind = &self.code.kinds[kind];
        let (offset, ty) = kind.fields[field];
        self.cell(Cell::of(ty), at + 1 + (place * kind.message + offset) as usize)
    }

    /// The place of the message that fits, if there is one. It may have more fields than are looked
    /// at.
    pub(super) fn receivable(self, message: &Message, process: u32) -> Option<u32> {
        let (at, kind) = self.channel(self.value(message.channel, process))?;
        let length = self.length(at, kind);
        let n_places = if message.anywhere { length } else { length.min(1) };
        (0..n_places).find(|&place| {
            let n_fields = self.code.kinds[kind].fields.len();
            message.fields.iter().take(n_fields).enumerate().all(|(idx, field)| match field {
                Field::Value(value) => {
                    self.field(at, kind, place, idx) == self.value(*value, process)
                }
                Field::Ignore | Field::To(_) => true,
            })
        })
    }

    /// Whether what looks at a message, and leaves it where it is, looks into a channel that never
    /// has any: that is wrong.
    fn is_rendezvous(self, message: &Message, process: u32) -> bool {
        let channel = self.channel(self.value(message.channel, process));
        let is_wrong = channel.is_some_and(|(_, kind)| self.code.kinds[kind].capacity == 0);
        if is_wrong {
            self.wrong(fault::POLLS);
        }
        is_wrong
    }

    /// Whether a message that is sent or received has as many fields as the channel's.
    fn has_fields(self, message: &Message, kind: usize) -> bool {
        let fits = message.fields.len() == self.code.kinds[kind].fields.len();
        if !fits {
            self.wrong(fault::FIELDS);
        }
        fits
    }

    /// Whether a process would receive, by one of its edges, a message that another one sends in
    /// the same step.
    pub(super) fn would_take(
        self,
        message: &Message,
        process: u32,
        channel: i64,
        values: &[i64],
    ) -> bool {
        if self.value(message.channel, process) != channel || message.keep {
            return false;
        }
        let Some((_, kind)) = self.channel(channel) else { return false };
        message.fields.iter().zip(values).all(|(field, sent)| match field {
            Field::Value(value) => *sent == self.value(*value, process),
            Field::Ignore | Field::To(_) => true,
        }) && self.has_fields(message, kind)
    }

    /// The values of a message that is sent, as the channel keeps them.
    pub(super) fn sent(self, message: &Message, process: u32, kind: usize, values: &mut Vec<i64>) {
        let fields = &self.code.kinds[kind].fields;
        values.clear();
        self.has_fields(message, kind);
        values.extend(fields.iter().enumerate().map(
            |(idx, (_, ty))| match message.fields.get(idx) {
                Some(Field::Value(value)) => {
                    canonical(*ty, self.value(*value, process) as u64) as i64
                }
                _ => 0,
            },
        ));
    }

    /// Whether a process may move at all, whatever it would do.
    pub(super) fn is_provided(self, process: u32) -> bool {
        let routine = &self.code.routines[self.routine_of(process) as usize];
        routine.provided.is_none_or(|condition| self.is_true(condition, process))
    }

    /// Whether a process may move, and none of higher priority can.
    pub(super) fn is_allowed(self, process: u32) -> bool {
        let is_higher = |other: u32| {
            other != process
                && self.priority_of(other) > self.priority_of(process)
                && self.can_move(other)
        };
        self.is_provided(process)
            && (!self.code.has_priorities || !(0..self.n_processes()).any(is_higher))
    }

    /// Whether the trace, if there is one, may end here.
    pub(super) fn is_trace_complete(self) -> bool {
        self.code.trace.as_ref().is_none_or(|trace| {
            let at = trace.at as usize;
            let location = u16::from_le_bytes([self.state[at], self.state[at + 1]]);
            self.code.place(trace.routine, location).is_end
        })
    }

    /// Whether a step is possible as far as its guard and its action are concerned.
    pub(super) fn possible(self, guard: Option<NodeId>, step: &Step, process: u32) -> Possible {
        if guard.is_some_and(|guard| !self.is_true(guard, process)) {
            return Possible::No;
        }
        match step {
            Step::Send(message) => {
                let message = &self.code.messages[*message as usize];
                let channel = self.value(message.channel, process);
                let Some((at, kind)) = self.channel(channel) else { return Possible::No };
                match self.code.kinds[kind].capacity {
                    0 => Possible::WithPartner,
                    capacity if self.length(at, kind) < capacity => Possible::Yes,
                    _ => Possible::No,
                }
            }
            Step::Receive(message) => {
                let message = &self.code.messages[*message as usize];
                if message.keep && self.is_rendezvous(message, process) {
                    return Possible::No;
                }
                let Some(place) = self.receivable(message, process) else { return Possible::No };
                let channel = self.channel(self.value(message.channel, process));
                match channel.is_some_and(|(_, kind)| self.has_fields(message, kind)) {
                    true => Possible::Receives(place),
                    false => Possible::No,
                }
            }
            Step::Die if process + 1 != self.n_processes() => Possible::No,
            Step::Indivisible { start, .. } => match self.first_within(process, *start) {
                Some(_) => Possible::Yes,
                None => Possible::No,
            },
            _ => Possible::Yes,
        }
    }

    /// The first possible edge of a location within an indivisible step.
    pub(super) fn first_within(self, process: u32, location: u16) -> Option<(u32, Possible)> {
        let place = self.code.place(self.routine_of(process), location);
        for number in place.edges.clone() {
            let edge = &self.code.edges[number as usize];
            // What is otherwise comes last: nothing else was possible.
            match self.possible(edge.guard, &edge.step, process) {
                Possible::No | Possible::WithPartner => {}
                possible => return Some((number, possible)),
            }
            if self.fault.get().is_some() {
                return Some((number, Possible::Yes));
            }
        }
        None
    }

    /// Whether a process can take a step now.
    pub(super) fn can_move(self, process: u32) -> bool {
        if !self.is_provided(process) {
            return false;
        }
        self.place_of(process).edges.clone().any(|number| {
            let edge = &self.code.edges[number as usize];
            if edge.otherwise {
                return true;
            }
            match self.possible(edge.guard, &edge.step, process) {
                Possible::No => self.fault.get().is_some(),
                Possible::Yes | Possible::Receives(_) => true,
                Possible::WithPartner => self.has_partner(&edge.step, process),
            }
        })
    }

    /// Whether `other` can move, which `process` asks. No process may ask that of itself, nor of
    /// others who would have to know it first.
    fn is_enabled(self, other: u32, process: u32) -> bool {
        let is_own = other == process && !self.is_of_property;
        if is_own || self.n_asking > self.n_processes() {
            self.wrong(fault::ENABLED);
            return false;
        }
        Self { n_asking: self.n_asking + 1, is_of_property: false, ..self }.can_move(other)
    }

    /// Whether another process would take what this one sends.
    fn has_partner(self, step: &Step, process: u32) -> bool {
        let Step::Send(message) = step else { return false };
        let message = &self.code.messages[*message as usize];
        let channel = self.value(message.channel, process);
        let Some((_, kind)) = self.channel(channel) else { return false };
        let mut values = Vec::new();
        self.sent(message, process, kind, &mut values);
        (0..self.n_processes()).filter(|&other| other != process).any(|other| {
            self.is_provided(other)
                && self
                    .place_of(other)
                    .edges
                    .clone()
                    .any(|number| self.takes(number, other, channel, &values).is_some())
        })
    }

    /// The channels by which a process may take what others send, as far as only the place where it
    /// stands is concerned; `None` if guards are looked at first, which may go wrong whatever the
    /// channel.
    pub(super) fn listens(self, process: u32) -> Option<impl Iterator<Item = i64> + use<'a>> {
        let (code, routine) = (self.code, self.routine_of(process));
        let edges = self.place_of(process).edges.clone();
        let is_guarded = |number: u32| {
            let edge = &code.edges[number as usize];
            edge.step.may_receive() && edge.guard.is_some()
        };
        if edges.clone().any(is_guarded) {
            return None;
        }
        let messages = edges.flat_map(move |number| {
            let within = match code.edges[number as usize].step {
                Step::Indivisible { start, .. } => code.place(routine, start).edges.clone(),
                _ => number..number + 1,
            };
            within.filter_map(|number| match code.edges[number as usize].step {
                Step::Receive(message) => Some(message),
                _ => None,
            })
        });
        let channel = move |message: u32| code.messages[message as usize].channel;
        Some(messages.map(move |message| self.value(channel(message), process)))
    }

    /// The message by which an edge of a process takes what is sent, if it does; and the edge
    /// within it, where the edge is an indivisible step that begins with receiving.
    pub(super) fn takes(
        self,
        number: u32,
        process: u32,
        channel: i64,
        values: &[i64],
    ) -> Option<(u32, Option<u32>)> {
        let edge = &self.code.edges[number as usize];
        // As in SPIN, no guard is evaluated meanwhile that no receive is behind.
        let takes = edge.step.may_receive() && !edge.otherwise;
        if !takes || edge.guard.is_some_and(|guard| !self.is_true(guard, process)) {
            return None;
        }
        let would = |message: u32| {
            self.would_take(&self.code.messages[message as usize], process, channel, values)
        };
        match edge.step {
            Step::Receive(message) => would(message).then_some((message, None)),
            Step::Indivisible { start, .. } => {
                let place = self.code.place(self.routine_of(process), start);
                place.edges.clone().find_map(|inner| match self.code.edges[inner as usize].step {
                    Step::Receive(message) if would(message) => Some((message, Some(inner))),
                    _ => None,
                })
            }
            _ => None,
        }
    }
}
