//! Effects: what steps do to a state.

use super::code::{Cell, Code, Field, Message, Node, NodeId, Step, Target, fault};
use super::view::{Possible, Tables, View};
use mazurka_model::{Type, canonical};
use std::cell;

/// More steps within one than any model has reason to take.
const MOST_WITHIN: u32 = 1_000_000;

/// The most processes, and the most channels, there can be.
const MOST_PROCESSES: u8 = 255;
const MOST_CHANNELS: usize = 255;

/// A state that is being changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub(super) state: Vec<u8>,
    pub(super) tables: Tables,
    /// The edges within an indivisible step that were taken.
    pub(super) passed: Vec<u32>,
    /// Whether a process was started.
    pub(super) has_started: bool,
    /// The first value that was cut off, if that is of interest.
    pub(super) truncated: Option<Truncated>,
    values: Vec<i64>,
}

/// A value that there was no room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truncated {
    pub(super) value: i64,
    /// What is left of it.
    pub(super) stored: i64,
    /// In so many bits.
    pub(super) bits: u32,
}

impl Work {
    /// Begins with a state.
    pub(super) fn begin(&mut self, state: &[u8], tables: &Tables) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.tables.processes.clone_from(&tables.processes);
        self.tables.routines.clone_from(&tables.routines);
        self.tables.channels.clone_from(&tables.channels);
        self.tables.touched.follow(&tables.touched);
        self.passed.clear();
        self.has_started = false;
        self.truncated = None;
    }

    pub(super) fn view<'a>(
        &'a self,
        code: &'a Code,
        fault: &'a cell::Cell<Option<u32>>,
    ) -> View<'a> {
        View::new(code, &self.state, &self.tables, false, fault)
    }

    pub(super) fn go_to(&mut self, process: u32, location: u16) {
        let at = self.tables.processes[process as usize] as usize + 1;
        self.state[at..at + 2].copy_from_slice(&location.to_le_bytes());
    }

    /// Does what a step does. Where the process stands is not changed. `Err` if the state is of no
    /// use.
    pub(super) fn act(
        &mut self,
        code: &Code,
        step: &Step,
        process: u32,
        possible: Possible,
    ) -> Result<Option<u32>, u32> {
        match step {
            Step::Skip | Step::Print { .. } => {}
            Step::Store { to, value } => {
                let value = self.cut_off(code, *value, process)?;
                self.store(code, *to, value, process)?;
            }
            Step::Check { condition, fault } => {
                if self.value(code, *condition, process)? == 0 {
                    return Ok(Some(*fault));
                }
            }
            Step::Send(message) => return self.send(code, *message, process),
            Step::Receive(message) => {
                let Possible::Receives(place) = possible else {
                    unreachable!("what is received was looked for")
                };
                return self.receive(code, *message, process, place);
            }
            Step::Spawn { routine, arguments, to } => {
                let number = self.spawn(code, *routine, arguments, process)?;
                if let Some(to) = to {
                    self.store(code, *to, number, process)?;
                }
            }
            Step::SetPriority { process: other, priority } => {
                let (other, priority) =
                    (self.value(code, *other, process)?, self.value(code, *priority, process)?);
                if (0..i64::from(self.state[0])).contains(&other) {
                    let at = self.tables.processes[other as usize] as usize + 3;
                    self.state[at] = priority as u8;
                }
            }
            Step::Indivisible { start, end } => {
                return self.all_at_once(code, process, *start, *end);
            }
            Step::Die => self.die(process),
        }
        Ok(None)
    }

    fn value(&self, code: &Code, node: NodeId, process: u32) -> Result<i64, u32> {
        let fault = cell::Cell::new(None);
        let value = self.view(code, &fault).value(node, process);
        fault.get().map_or(Ok(value), Err)
    }

    /// A value, as it is stored.
    fn cut_off(&mut self, code: &Code, node: NodeId, process: u32) -> Result<i64, u32> {
        let stored = self.value(code, node, process)?;
        if let (true, Node::Convert(ty, whole)) =
            (code.finds_truncation, code.nodes[node.0 as usize])
        {
            let value = self.value(code, whole, process)?;
            self.note(ty, value, stored);
        }
        Ok(stored)
    }

    /// Notes a value that is not what is stored of it.
    fn note(&mut self, ty: Type, value: i64, stored: i64) {
        if value != stored {
            self.truncated.get_or_insert(Truncated { value, stored, bits: ty.bits() });
        }
    }

    /// Notes which fields of a message are not what is sent of them.
    pub(super) fn note_sent(
        &mut self,
        code: &Code,
        message: &Message,
        kind: usize,
        sent: &[i64],
        process: u32,
    ) -> Result<(), u32> {
        let fields = message.fields.iter().zip(&code.kinds[kind].fields).zip(sent);
        for ((field, (_, ty)), &stored) in fields {
            if let Field::Value(node) = field {
                let value = self.value(code, *node, process)?;
                self.note(*ty, value, stored);
            }
        }
        Ok(())
    }

    fn store(&mut self, code: &Code, to: Target, value: i64, process: u32) -> Result<(), u32> {
        let record = |work: &Self| work.tables.processes[process as usize];
        let (at, ty) = match to {
            Target::Global { at, ty } => (at, ty),
            Target::Local { at, ty } => (record(self) + at, ty),
            Target::GlobalAt { at, offset, size, ty } => {
                (at + self.offset(code, offset, size, ty, process)?, ty)
            }
            Target::LocalAt { at, offset, size, ty } => {
                (record(self) + at + self.offset(code, offset, size, ty, process)?, ty)
            }
        };
        let stored = canonical(ty, value as u64) as i64;
        if code.finds_truncation {
            self.note(ty, value, stored);
        }
        let (cell, at) = (Cell::of(ty), at as usize);
        self.tables.touch(at..at + cell.bytes() as usize);
        cell.store(&mut self.state, at, stored);
        Ok(())
    }

    fn offset(
        &self,
        code: &Code,
        offset: NodeId,
        size: u32,
        ty: Type,
        process: u32,
    ) -> Result<u32, u32> {
        let offset = self.value(code, offset, process)?;
        match offset >= 0 && offset + i64::from(ty.bytes()) <= i64::from(size) {
            true => Ok(offset as u32),
            false => Err(fault::INDEX),
        }
    }

    fn send(&mut self, code: &Code, message: u32, process: u32) -> Result<Option<u32>, u32> {
        let message = &code.messages[message as usize];
        let mut values = std::mem::take(&mut self.values);
        let fault = cell::Cell::new(None);
        let view = self.view(code, &fault);
        let number = view.value(message.channel, process);
        let Some((at, kind)) = view.channel(number) else { return Err(fault::CHANNEL) };
        view.sent(message, process, kind, &mut values);
        let length = view.length(at, kind);
        let place = match message.anywhere {
            true => (0..length).find(|&place| {
                let there = (0..values.len()).map(|idx| view.field(at, kind, place, idx));
                there.cmp(values.iter().copied()).is_gt()
            }),
            false => None,
        };
        let place = place.unwrap_or(length);
        if let Some(fault) = fault.get() {
            return Err(fault);
        }
        if code.finds_truncation {
            self.note_sent(code, message, kind, &values, process)?;
        }
        let kind = &code.kinds[kind];
        let (size, first) = (kind.message as usize, at + 1);
        let start = first + place as usize * size;
        self.state.copy_within(start..first + length as usize * size, start + size);
        for ((offset, ty), value) in kind.fields.iter().zip(&values) {
            Cell::of(*ty).store(&mut self.state, start + *offset as usize, *value);
        }
        self.state[at] += 1;
        let failed = self.event(code, true, number, &values);
        self.values = values;
        Ok(failed)
    }

    fn receive(
        &mut self,
        code: &Code,
        message: u32,
        process: u32,
        place: u32,
    ) -> Result<Option<u32>, u32> {
        let message = &code.messages[message as usize];
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        let fault = cell::Cell::new(None);
        let view = self.view(code, &fault);
        let number = view.value(message.channel, process);
        let Some((at, kind)) = view.channel(number) else { return Err(fault::CHANNEL) };
        let length = view.length(at, kind);
        values.extend((0..message.fields.len()).map(|idx| view.field(at, kind, place, idx)));
        let mut failed = None;
        if !message.keep {
            failed = self.event(code, false, number, &values);
            let size = code.kinds[kind].message as usize;
            let (start, end) = (at + 1 + place as usize * size, at + 1 + length as usize * size);
            self.state.copy_within(start + size..end, start);
            self.state[end - size..end].fill(0);
            self.state[at] -= 1;
        }
        let done = self.deliver(code, &message.fields, &values, process);
        self.values = values;
        done.map(|()| failed)
    }

    /// Lets the trace see a message that is sent or received; tells what is wrong with it.
    pub(super) fn event(
        &mut self,
        code: &Code,
        sends: bool,
        channel: i64,
        values: &[i64],
    ) -> Option<u32> {
        let trace = code.trace.as_ref()?;
        let places = &code.routines[trace.routine as usize].places;
        let fault = cell::Cell::new(None);
        let view = self.view(code, &fault);
        let is_about = |number: u32| match code.edges[number as usize].step {
            Step::Send(message) if sends => Some(&code.messages[message as usize]),
            Step::Receive(message) if !sends => Some(&code.messages[message as usize]),
            _ => None,
        };
        // The trace has no variables of its own, so any process may compute for it.
        let on_channel =
            |number: u32| is_about(number).filter(|it| view.value(it.channel, 0) == channel);
        let mut edges = places.iter().flat_map(|place| place.edges.clone());
        if !edges.any(|number| on_channel(number).is_some()) {
            return None;
        }
        let at = trace.at as usize;
        let location = u16::from_le_bytes([self.state[at], self.state[at + 1]]);
        let fits = |number: &u32| {
            on_channel(*number).is_some_and(|message| {
                message.fields.iter().zip(values).all(|(field, value)| match field {
                    Field::Value(wanted) => view.value(*wanted, 0) == *value,
                    Field::Ignore | Field::To(_) => true,
                })
            })
        };
        let found = places[location as usize].edges.clone().find(fits);
        let (to, failed) = match (found, trace.is_forbidden) {
            (Some(number), is_forbidden) => {
                let to = code.edges[number as usize].to;
                let is_last = is_forbidden && to == trace.end;
                (to, is_last.then_some(fault::NO_TRACE))
            }
            (None, true) => (trace.end, None),
            (None, false) => (location, Some(fault::TRACE)),
        };
        self.state[at..at + 2].copy_from_slice(&to.to_le_bytes());
        failed
    }

    /// Puts the fields of a message where they go.
    pub(super) fn deliver(
        &mut self,
        code: &Code,
        fields: &[Field],
        values: &[i64],
        process: u32,
    ) -> Result<(), u32> {
        for (field, value) in fields.iter().zip(values) {
            if let Field::To(to) = field {
                self.store(code, *to, *value, process)?;
            }
        }
        Ok(())
    }

    /// Starts a process, and tells its number.
    pub(super) fn spawn(
        &mut self,
        code: &Code,
        routine: u8,
        arguments: &[NodeId],
        process: u32,
    ) -> Result<i64, u32> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.cut_off(code, *argument, process)?);
        }
        self.start(code, routine, &values)
    }

    pub(super) fn start(
        &mut self,
        code: &Code,
        routine: u8,
        arguments: &[i64],
    ) -> Result<i64, u32> {
        let number = self.state[0];
        if number == MOST_PROCESSES {
            return Err(fault::PROCESSES);
        }
        let kind = &code.routines[routine as usize];
        if self.tables.channels.len() + kind.channels.len() > MOST_CHANNELS {
            return Err(fault::CHANNELS);
        }
        let at = self.state.len();
        self.state.resize(at + kind.size as usize, 0);
        self.has_started = true;
        self.state[0] += 1;
        self.state[at] = routine;
        self.state[at + 1..at + 3].copy_from_slice(&kind.start.to_le_bytes());
        if code.has_priorities {
            self.state[at + 3] = 1;
        }
        for ((offset, cell), value) in kind.parameters.iter().zip(arguments) {
            cell.store(&mut self.state, at + *offset as usize, *value);
        }
        self.tables.scan(code, &self.state);
        for (to, value) in &kind.prologue {
            let value = self.value(code, *value, u32::from(number))?;
            self.store(code, *to, value, u32::from(number))?;
        }
        Ok(i64::from(number))
    }

    fn die(&mut self, process: u32) {
        debug_assert_eq!(process + 1, u32::from(self.state[0]), "only the youngest can die");
        self.state.truncate(self.tables.processes[process as usize] as usize);
        self.state[0] -= 1;
        self.tables.processes.pop();
        // The channels are still those of everybody, so the next look is at everything.
        self.tables.routines.clear();
    }

    /// Runs from one location to another in one step.
    fn all_at_once(
        &mut self,
        code: &Code,
        process: u32,
        start: u16,
        end: u16,
    ) -> Result<Option<u32>, u32> {
        let mut location = start;
        let mut failed = None;
        for _ in 0..MOST_WITHIN {
            if location == end {
                return Ok(failed);
            }
            let fault = cell::Cell::new(None);
            let first = self.view(code, &fault).first_within(process, location);
            if let Some(fault) = fault.get() {
                return Err(fault);
            }
            let Some((number, possible)) = first else { return Err(fault::BLOCKED) };
            let edge = &code.edges[number as usize];
            self.passed.push(number);
            failed = failed.or(self.act(code, &edge.step, process, possible)?);
            location = edge.to;
        }
        Err(fault::ENDLESS)
    }

    /// The rest of an indivisible step, behind its first edge.
    pub(super) fn rest_at_once(
        &mut self,
        code: &Code,
        process: u32,
        first: u32,
        end: u16,
    ) -> Result<Option<u32>, u32> {
        self.passed.push(first);
        self.all_at_once(code, process, code.edges[first as usize].to, end)
    }
}
