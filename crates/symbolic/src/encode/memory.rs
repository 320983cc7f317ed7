//! Memory: every object as bytes, and accesses as choices between the places they may be to.
//!
//! Implements the memory of section 4.1 of Kahlon, Gupta and Sinha (CAV 2006).
//!
//! | paper                                            | here                             |
//! |--------------------------------------------------|----------------------------------|
//! | arrays and structs flattened into scalars        | [`Object::bytes`]                |
//! | `*(p+i)` as `(p+i)==&a ? a : …` by points-to     | [`Encoder::targets`]             |
//! | the heap as a finite array                       | [`ObjectKind::Heap`]: blocks for each place that allocates |
//!
//! Differs: a local of a function is the same object in every call from one place, so a pointer to
//! one that is gone is good again once the function is called from there once more. Large arrays
//! are not cut off. The heap is no array: blocks are never used again, so that a pointer to one
//! that was freed is known for ever, and a bound on their number is reported when it is reached.

use super::graph::{ContextId, Point};
use super::state::{State, VarId};
use super::{Encoder, Fault};
use crate::{Lit, Word};
use mazurka_model::analysis::Abstract;
use mazurka_model::{
    Action, Base, InitValue, LocationId, ObjectIdx, Place, Pointer, RoutineId, Storage,
    ViolationKind,
};

/// An object of the circuit, by its number.
pub(crate) type ObjectId = usize;

/// A piece of memory.
#[derive(Debug)]
pub(crate) struct Object {
    /// What people call it.
    pub(crate) name: String,
    pub(crate) kind: ObjectKind,
    /// What stands for it in a pointer.
    pub(crate) number: u32,
    /// Its bytes.
    pub(crate) bytes: Vec<VarId>,
    /// Whether it is there; always, if there is no such variable.
    pub(crate) is_live: Option<VarId>,
    /// How many of the bytes it has, where that is not always all of them.
    pub(crate) size: Option<VarId>,
    /// Whether a second thread may come to it.
    pub(crate) is_shared: bool,
}

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Static,
    Constant,
    Own,
    Frame,
    Heap,
}

/// A place where something is allocated, in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    pub(crate) thread: usize,
    pub(crate) context: ContextId,
    pub(crate) location: LocationId,
    pub(crate) edge: usize,
}

/// The blocks of a [`Site`].
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) objects: Vec<ObjectId>,
    /// How many of them were made; there is only one if nothing counts them.
    pub(crate) n_made: Option<VarId>,
}

/// Where an access may go.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) object: ObjectId,
    /// Whether it goes there.
    pub(crate) is_it: Lit,
    /// How many bytes from the beginning.
    pub(crate) offset: Word,
    /// How many bytes it is about.
    pub(crate) size: u32,
}

const OBJECT_BITS: usize = 32;

impl Encoder<'_> {
    /// Makes all objects.
    pub(super) fn lay_out(&mut self) {
        let program = self.known.program;
        for (idx, object) in program.objects.iter().enumerate() {
            let id = Abstract::Object(ObjectIdx(idx as u32));
            let bytes = self.initial_bytes(idx);
            let number = idx as u32 + 1;
            match object.storage {
                Storage::Shared | Storage::Scratch => {
                    if object.storage == Storage::Scratch {
                        self.refuse("memory that forgets", object.span);
                    }
                    self.object(id, object.name.clone(), ObjectKind::Static, number, &bytes);
                }
                Storage::Constant => {
                    self.object(id, object.name.clone(), ObjectKind::Constant, number, &bytes);
                }
                Storage::PerThread => {
                    for thread in 0..self.threads.len() {
                        let name = format!("{} of {thread}", object.name);
                        let number = self.next_number();
                        let own = self.object(id, name, ObjectKind::Own, number, &bytes);
                        self.own.insert((thread, idx as u32), own);
                    }
                }
            }
        }
        for thread in 0..self.threads.len() {
            self.lay_out_thread(thread);
        }
    }

    fn lay_out_thread(&mut self, thread: usize) {
        let program = self.known.program;
        let threads = self.threads;
        let it = &threads[thread];
        for (context, info) in it.contexts.iter().enumerate() {
            for (number, object) in program.routine(info.routine).objects.iter().enumerate() {
                let id = Abstract::Frame(info.routine, number as u32);
                let name = format!("{} of {thread}.{context}", object.name);
                let size = program.size_of(object.layout) as usize;
                let pointer = self.next_number();
                let frame = self.object(id, name, ObjectKind::Frame, pointer, &vec![0; size]);
                let is_there = it.parent.is_none() && info.caller.is_none();
                let name = format!("{} is there", self.objects[frame].name);
                self.objects[frame].is_live = Some(self.variable(name, 1, u64::from(is_there)));
                self.frames.insert((thread, context, number as u32), frame);
            }
        }
        for point in it.points() {
            for (edge, action) in it.edges(program, point).iter().enumerate() {
                if let Action::Allocate { .. } = action.action {
                    self.lay_out_blocks(thread, point, edge);
                }
            }
        }
    }

    fn lay_out_blocks(&mut self, thread: usize, point: Point, edge: usize) {
        let it = &self.threads[thread];
        let site = Site { thread, context: point.context, location: point.location, edge };
        if self.blocks.contains_key(&site) {
            return;
        }
        let n_blocks = match it.is_on_cycle(&self.known, point) {
            true => self.known.bounds.blocks,
            false => 1,
        };
        let routine = it.contexts[point.context].routine;
        let number = self.block_numbers[&(routine, point.location, edge)];
        let size = self.plan.sizes.get(&site).copied().unwrap_or(0);
        let objects = (0..n_blocks).map(|count| {
            let name = format!("block {count} of {thread}.{}.{}", point.context, point.location.0);
            let pointer = self.next_number();
            let zeros = vec![0; size as usize];
            let id = Abstract::Block(number);
            let block = self.object(id, name.clone(), ObjectKind::Heap, pointer, &zeros);
            self.objects[block].is_live = Some(self.variable(format!("{name} is there"), 1, 0));
            self.objects[block].size = Some(self.variable(format!("{name} has"), 32, 0));
            block
        });
        let objects = objects.collect();
        let name = format!("made at {thread}.{}.{}", point.context, point.location.0);
        let n_made = it.is_on_cycle(&self.known, point).then(|| self.variable(name, 8, 0));
        self.blocks.insert(site, Blocks { objects, n_made });
    }

    /// The numbers of all places that allocate, as points-to analysis counts them.
    pub(super) fn number_blocks(&mut self) {
        let mut count = 0;
        for (idx, routine) in self.known.program.routines.iter().enumerate() {
            for (location, info) in routine.locations.iter().enumerate() {
                for (edge, it) in info.edges.iter().enumerate() {
                    if let Action::Allocate { .. } = it.action {
                        let location = LocationId(location as u32);
                        self.block_numbers.insert((RoutineId(idx as u32), location, edge), count);
                        count += 1;
                    }
                }
            }
        }
    }

    fn next_number(&mut self) -> u32 {
        self.n_made += 1;
        Pointer::to_made(0, self.n_made).object
    }

    fn object(
        &mut self,
        id: Abstract,
        name: String,
        kind: ObjectKind,
        number: u32,
        bytes: &[u8],
    ) -> ObjectId {
        let is_constant = kind == ObjectKind::Constant;
        let bytes = bytes.iter().enumerate().map(|(idx, &byte)| {
            let name = format!("{name}[{idx}]");
            match is_constant {
                true => self.variables.add_constant(8, byte.into()),
                false => self.variable(name, 8, byte.into()),
            }
        });
        let bytes = bytes.collect();
        let is_shared = self.known.points_to.is_shared(id);
        let object = Object { name, kind, number, bytes, is_live: None, size: None, is_shared };
        self.objects.push(object);
        let object = self.objects.len() - 1;
        self.instances.entry(id).or_default().push(object);
        object
    }

    /// What an object of the program holds in the beginning.
    fn initial_bytes(&self, idx: usize) -> Vec<u8> {
        let program = self.known.program;
        let object = &program.objects[idx];
        let mut bytes = vec![0; program.size_of(object.layout) as usize];
        for init in &object.init {
            let bits = |bits: u64, n: u32| bits.to_le_bytes()[..n as usize].to_vec();
            let first = match &init.value {
                InitValue::Bytes(bytes) => bytes.clone(),
                InitValue::Bits(ty, value) => bits(*value, ty.bytes()),
                InitValue::Object(object, offset) => {
                    bits(Pointer::to_object(*object).plus(*offset).bits(), 8)
                }
                InitValue::Routine(routine) => bits(Pointer::to_routine(*routine).bits(), 8),
            };
            let at = init.offset as usize;
            bytes[at..at + first.len()].copy_from_slice(&first);
        }
        bytes
    }

    /// Where an access to `size` bytes goes. The way on is where it goes somewhere: all else is a
    /// violation.
    pub(super) fn resolve(
        &mut self,
        state: &mut State,
        place: &Place,
        size: u32,
        is_write: bool,
    ) -> Vec<Target> {
        let targets = self.targets(state, place, size);
        let good: Vec<Lit> = targets
            .iter()
            .filter(|target| !is_write || self.objects[target.object].kind != ObjectKind::Constant)
            .map(|target| target.is_it)
            .collect();
        let is_good = self.circuit.aig.any(good);
        let message = "an access to memory that is not there";
        self.fault(state, is_good, Fault::new(ViolationKind::Memory, message));
        self.touch(state, &targets, is_write);
        targets
    }

    /// Where an access to `size` bytes may go, within what is there.
    pub(super) fn targets(&mut self, state: &State, place: &Place, size: u32) -> Vec<Target> {
        let offset = self.eval(state, &place.offset);
        let offset = offset.resize(64, place.offset.ty().is_signed());
        let (candidates, offset) = match &place.base {
            Base::Object(object) => {
                let own = self.own.get(&(self.thread, object.0)).copied();
                let id = Abstract::Object(*object);
                let object = own.unwrap_or_else(|| self.instances[&id][0]);
                (vec![(object, Lit::TRUE)], offset)
            }
            Base::Frame(number) => {
                let object = self.frames[&(self.thread, self.context, *number)];
                (vec![(object, Lit::TRUE)], offset)
            }
            Base::Pointer(pointer) => {
                let word = self.eval(state, pointer);
                let low = word.slice(0, 32);
                let low = self.circuit.aig.add(&low, &offset.truncate(32));
                (self.pointed_to(place, &word), low)
            }
            Base::Channel(_) => {
                self.refuse("a channel", self.span);
                return Vec::new();
            }
        };
        let mut targets = Vec::new();
        for (object, is_object) in candidates {
            let offset = match place.base {
                // A pointer counts from where its object begins.
                Base::Pointer(_) => {
                    let start = Pointer::start(self.objects[object].number);
                    self.circuit.aig.subtract(&offset, &Word::constant(32, start.into()))
                }
                _ => offset.clone(),
            };
            let is_within = self.is_within(state, object, &offset, size);
            let is_live = match self.objects[object].is_live {
                Some(is_live) => state.get(&self.variables, is_live).bits()[0],
                None => Lit::TRUE,
            };
            let is_it = self.circuit.aig.all([is_object, is_within, is_live]);
            if is_it != Lit::FALSE {
                targets.push(Target { object, is_it, offset, size });
            }
        }
        targets
    }

    /// The objects that a pointer may point to, and when it does.
    fn pointed_to(&mut self, place: &Place, pointer: &Word) -> Vec<(ObjectId, Lit)> {
        let routine = self.threads[self.thread].contexts[self.context].routine;
        let high = pointer.slice(32, OBJECT_BITS);
        let mut candidates = Vec::new();
        for id in self.known.points_to.targets(routine, place) {
            for object in self.instances.get(&id).cloned().unwrap_or_default() {
                let number = u64::from(self.objects[object].number);
                let is_it = self.circuit.aig.equals_number(&high, number);
                if is_it != Lit::FALSE {
                    candidates.push((object, is_it));
                }
            }
        }
        candidates
    }

    fn is_within(&mut self, state: &State, object: ObjectId, offset: &Word, size: u32) -> Lit {
        let width = offset.width();
        let Some(room) = (self.objects[object].bytes.len() as u64).checked_sub(size.into()) else {
            return Lit::FALSE;
        };
        let aig = &mut self.circuit.aig;
        let is_within = {
            let most = Word::constant(width, room);
            !aig.less(&most, offset, false)
        };
        match self.objects[object].size {
            None => is_within,
            Some(has) => {
                // Within the bytes there are, nothing wraps around.
                let has = state.get(&self.variables, has).resize(width, false);
                let end = aig.add(offset, &Word::constant(width, size.into()));
                let is_beyond = aig.less(&has, &end, false);
                aig.and(is_within, !is_beyond)
            }
        }
    }

    /// The offsets at which a target may be, and when it is.
    pub(super) fn places(&mut self, target: &Target) -> Vec<(usize, Lit)> {
        let room = self.objects[target.object].bytes.len() - target.size as usize;
        if let Some(offset) = target.offset.value() {
            return vec![(offset as usize, target.is_it)];
        }
        let n_bits = (usize::BITS - room.leading_zeros()) as usize;
        let low = target.offset.truncate(n_bits);
        let mut places = Vec::new();
        for offset in 0..=room {
            let is_here = self.circuit.aig.equals_number(&low, offset as u64);
            let is_it = self.circuit.aig.and(target.is_it, is_here);
            if is_it != Lit::FALSE {
                places.push((offset, is_it));
            }
        }
        places
    }

    /// `n_bytes` bytes, from the byte `at` of whatever was found on.
    pub(super) fn read(
        &mut self,
        state: &State,
        targets: &[Target],
        at: usize,
        n_bytes: usize,
    ) -> Word {
        let mut choices = Vec::new();
        for target in targets {
            for (offset, is_it) in self.places(target) {
                let bytes = &self.objects[target.object].bytes[offset + at..][..n_bytes];
                let bits =
                    bytes.iter().flat_map(|&byte| state.get(&self.variables, byte).bits().to_vec());
                choices.push((is_it, Word::from(bits.collect::<Vec<_>>())));
            }
        }
        match &choices[..] {
            // Where it goes nowhere, the step has failed.
            [(_, only)] => only.clone(),
            _ => self.circuit.aig.one_hot(n_bytes * 8, &choices),
        }
    }

    /// Changes the bytes from the byte `at` of whatever was found on.
    pub(super) fn write(&mut self, state: &mut State, targets: &[Target], at: usize, word: &Word) {
        let is_only = targets.len() == 1;
        for target in targets {
            let places = self.places(target);
            let is_certain = is_only && places.len() == 1;
            for (offset, is_it) in places {
                let condition = if is_certain { Lit::TRUE } else { is_it };
                for byte in 0..word.width() / 8 {
                    let variable = self.objects[target.object].bytes[offset + at + byte];
                    let new = word.slice(byte * 8, 8);
                    let aig = &mut self.circuit.aig;
                    state.set_if(aig, &self.variables, condition, variable, &new);
                }
            }
        }
    }

    /// Notes what a step touches.
    pub(super) fn touch(&mut self, state: &State, targets: &[Target], is_write: bool) {
        if !state.passed.contains(&None) {
            return;
        }
        for target in targets {
            if !self.objects[target.object].is_shared {
                continue;
            }
            for (offset, is_it) in self.places(target) {
                let is_it = self.circuit.aig.and(state.condition, is_it);
                let bytes = offset..offset + target.size as usize;
                let cell = Cell::Object(target.object);
                let kind = TouchKind::Use;
                self.touches.push(Touch { cell, bytes, when: is_it, is_write, kind });
            }
        }
    }
}

/// What two steps may have to do with each other by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    /// Memory.
    Object(ObjectId),
    /// Whether this thread was started.
    Born(usize),
    /// Whether this thread has ended, and whether it was joined.
    Ended(usize),
    /// The order of atomic blocks.
    Blocks,
}

/// What a step touches.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) cell: Cell,
    pub(crate) bytes: std::ops::Range<usize>,
    /// In which states.
    pub(crate) when: Lit,
    pub(crate) is_write: bool,
    pub(crate) kind: TouchKind,
}

/// Why a step touches something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TouchKind {
    /// It is read or written, waited for or freed.
    Use,
    /// It is a mutex that is taken or given back.
    Lock,
    /// It is a local whose function begins or ends.
    Frame,
}
