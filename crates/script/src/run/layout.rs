//! Numbers the objects of a script and gives each its cells.

use super::code::{Cell, Instruction, Operand, Queue, Site, Variable};
use crate::ast::{Declaration, Program, Shared, Side, Statement, Test, Verb};
use mazurka_core::{MemoryOrder, ObjectId};
use std::collections::BTreeMap;

/// What a script calls an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    /// A variable, or all elements of an array.
    Variable(&'a str),
    Mutex(u32),
    RwLock(u32),
    Condvar(u32),
    Semaphore(u32),
    Barrier(u32),
    Channel(u32),
}

/// Where an object is, and what its declaration says: initial value, permits, parties, capacity.
#[derive(Clone, Copy, Debug)]
struct Object {
    first: u32,
    cell: Cell,
    len: u32,
    parameter: i64,
    channel: u32,
}

/// All objects, numbered in the order of the text, and their initial cells.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    objects: BTreeMap<Key<'a>, Object>,
    memory: BTreeMap<&'a str, (ObjectId, Cell)>,
    pub(super) object_names: Vec<String>,
    pub(super) memory_names: Vec<String>,
    pub(super) cells: Vec<i64>,
    pub(super) outcome: Vec<Cell>,
    /// The first of the cells that say when the round of a waiting thread is complete.
    pub(super) round_ends: Cell,
    pub(super) n_channels: u32,
    n_threads: usize,
}

impl<'a> Layout<'a> {
    /// The layout of `program`. Its channels get their cells only from [`Layout::finish`].
    pub(super) fn of(program: &'a Program) -> Self {
        let n_threads = program.threads.len();
        let mut layout = Self {
            objects: BTreeMap::new(),
            memory: BTreeMap::new(),
            object_names: Vec::new(),
            memory_names: Vec::new(),
            cells: vec![0; n_threads],
            outcome: Vec::new(),
            round_ends: 0,
            n_channels: 0,
            n_threads,
        };
        for declaration in &program.declarations {
            layout.declare(declaration);
        }
        program.visit(&mut |statement| layout.mention(statement));
        if layout.objects.keys().any(|key| matches!(key, Key::Barrier(_))) {
            layout.round_ends = layout.cells.len() as Cell;
            layout.cells.resize(layout.cells.len() + n_threads, 0);
        }
        // Memory comes after the variables in the outcome, wherever its cells are.
        let mut memory: Vec<_> = layout.memory.values().copied().collect();
        memory.sort_unstable_by_key(|&(object, _)| object);
        layout.outcome.extend(memory.into_iter().map(|(_, cell)| cell));
        layout
    }

    /// One cell more, for a local.
    pub(super) fn local(&mut self) -> Cell {
        let cell = self.cells.len() as Cell;
        self.cells.push(0);
        self.outcome.push(cell);
        cell
    }

    /// Gives the channels their cells, behind all others, and tells the instructions. Returns
    /// where these cells begin.
    pub(super) fn finish(&mut self, instructions: &mut [Instruction]) -> usize {
        use Instruction as I;
        let n_canonical = self.cells.len();
        for instruction in instructions {
            if let I::Send { queue, .. }
            | I::TrySend { queue, .. }
            | I::Receive { queue, .. }
            | I::TryReceive { queue, .. } = instruction
            {
                queue.head = n_canonical as Cell + 2 * queue.channel;
            }
        }
        self.cells.resize(n_canonical + 2 * self.n_channels as usize, 0);
        n_canonical
    }

    pub(super) fn site(&self, key: Key<'a>) -> Site {
        let object = self.object(key);
        Site { object: ObjectId::new(object.first as usize), cell: object.cell }
    }

    /// What the declaration says, or the default.
    pub(super) fn parameter(&self, key: Key<'a>) -> u32 {
        self.object(key).parameter as u32
    }

    pub(super) fn queue(&self, number: u32) -> Queue {
        let object = self.object(Key::Channel(number));
        Queue {
            object: ObjectId::new(object.first as usize),
            head: 0,
            channel: object.channel,
            capacity: object.parameter as u32,
        }
    }

    pub(super) fn variable(&self, name: &'a str, index: Operand) -> Variable {
        let object = self.object(Key::Variable(name));
        Variable {
            object: object.first,
            cell: object.cell,
            index,
            len: object.len,
            order: MemoryOrder::default(),
        }
    }

    pub(super) fn memory(&self, name: &str) -> (ObjectId, Cell) {
        self.memory[name]
    }

    fn object(&self, key: Key<'a>) -> Object {
        self.objects[&key]
    }

    fn declare(&mut self, declaration: &'a Declaration) {
        match declaration {
            Declaration::Variable { name, value } => self.add(Key::Variable(name), None, *value),
            Declaration::Array { name, len, value } => {
                self.add(Key::Variable(name), Some(*len), *value);
            }
            Declaration::Plain { name, value } => self.add_memory(name, *value),
            Declaration::Semaphore { number, permits } => {
                self.add(Key::Semaphore(*number), None, i64::from(*permits));
            }
            Declaration::Channel { number, capacity } => {
                self.add(Key::Channel(*number), None, i64::from(*capacity));
            }
            Declaration::Barrier { number, parties } => {
                self.add(Key::Barrier(*number), None, i64::from(*parties));
            }
        }
    }

    /// Adds the objects that a statement is the first one to name.
    fn mention(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Load { from: shared, .. }
            | Statement::Store { to: shared, .. }
            | Statement::Update { on: shared, .. }
            | Statement::Await { on: shared, .. }
            | Statement::If { test: Test { left: Side::Shared(shared), .. }, .. }
            | Statement::While { test: Test { left: Side::Shared(shared), .. }, .. } => {
                let Shared { name, .. } = shared;
                self.add(Key::Variable(name), None, 0);
            }
            Statement::Call { verb, number, .. } => {
                let key = key_of(*verb, *number);
                let parameter = match key {
                    Key::Barrier(_) => 2,
                    Key::Channel(_) => i64::from(u32::MAX),
                    _ => 0,
                };
                self.add(key, None, parameter);
            }
            Statement::Send { channel, .. } | Statement::TrySend { channel, .. } => {
                self.add(Key::Channel(*channel), None, i64::from(u32::MAX));
            }
            Statement::Wait { condvar, mutex } => {
                self.add(Key::Condvar(*condvar), None, 0);
                self.add(Key::Mutex(*mutex), None, 0);
            }
            Statement::Sleep { condvar, on, .. } => {
                self.add(Key::Condvar(*condvar), None, 0);
                self.add(Key::Variable(&on.name), None, 0);
            }
            Statement::Timed { wait, .. } => self.mention(wait),
            Statement::PlainLoad { name, .. } | Statement::PlainStore { name, .. } => {
                self.add_memory(name, 0);
            }
            Statement::Assign { .. }
            | Statement::Spawn(_)
            | Statement::Join(_)
            | Statement::Yield
            | Statement::Choose { .. }
            | Statement::Assert { .. }
            | Statement::If { .. }
            | Statement::Fence(_)
            | Statement::While { .. } => {}
        }
    }

    fn add_memory(&mut self, name: &'a str, value: i64) {
        if !self.memory.contains_key(name) {
            let object = ObjectId::new(self.memory_names.len());
            self.memory.insert(name, (object, self.cells.len() as Cell));
            self.memory_names.push(name.to_owned());
            self.cells.push(value);
        }
    }

    /// Adds an object unless it is there; `len` is that of an array.
    fn add(&mut self, key: Key<'a>, len: Option<u32>, parameter: i64) {
        if self.objects.contains_key(&key) {
            return;
        }
        let cell = self.cells.len() as Cell;
        let mut object = Object {
            first: self.object_names.len() as u32,
            cell,
            len: len.unwrap_or(1),
            parameter,
            channel: 0,
        };
        let (name, cells) = match key {
            Key::Variable(name) => {
                self.outcome.extend(cell..cell + object.len);
                self.cells.resize(self.cells.len() + object.len as usize, parameter);
                (name.to_owned(), 0)
            }
            Key::Mutex(number) => (format!("mutex({number})"), 1),
            // The writer, the number of read locks, and each thread's share of them.
            Key::RwLock(number) => (format!("rwlock({number})"), 2 + self.n_threads),
            // The sleepers, as bits.
            Key::Condvar(number) => (format!("condvar({number})"), 2),
            Key::Semaphore(number) => {
                self.cells.push(parameter);
                (format!("semaphore({number})"), 0)
            }
            Key::Barrier(number) => (format!("barrier({number})"), 1),
            Key::Channel(number) => {
                object.channel = self.n_channels;
                self.n_channels += 1;
                (format!("channel({number})"), 0)
            }
        };
        self.cells.resize(self.cells.len() + cells, 0);
        match len {
            Some(len) => self.object_names.extend((0..len).map(|idx| format!("{name}[{idx}]"))),
            None => self.object_names.push(name),
        }
        self.objects.insert(key, object);
    }
}

/// What a verb is about.
pub(super) fn key_of(verb: Verb, number: u32) -> Key<'static> {
    match verb {
        Verb::Acquire | Verb::Release | Verb::TryAcquire => Key::Mutex(number),
        Verb::ReadAcquire
        | Verb::ReadRelease
        | Verb::WriteAcquire
        | Verb::WriteRelease
        | Verb::TryReadAcquire
        | Verb::TryWriteAcquire => Key::RwLock(number),
        Verb::Notify | Verb::NotifyAll => Key::Condvar(number),
        Verb::Down | Verb::Up | Verb::TryDown => Key::Semaphore(number),
        Verb::Barrier => Key::Barrier(number),
        Verb::Receive | Verb::TryReceive => Key::Channel(number),
    }
}
