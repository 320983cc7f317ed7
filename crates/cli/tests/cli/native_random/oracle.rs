//! All executions of a program, one statement at a time, with memory byte by byte.
//!
//! A call of the library is one step: where another thread could come between, the two race.

use super::program::{Program, Statement as S};
use crate::support::c11::{Event, What, is_racy};
use mazurka_core::MemoryOrder as Order;
use std::collections::BTreeSet;

/// What can be wrong with an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Race,
    Assertion,
    Memory,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "race" => Some(Self::Race),
            "assertion" | "panic" => Some(Self::Assertion),
            "memory" => Some(Self::Memory),
            _ => None,
        }
    }
}

/// More interleavings than these are not gone through.
const MOST_EXECUTIONS: u32 = 60_000;

/// Where things are: `a`, `b`, `x`, `y`, four bytes each; the string; the pointer; blocks.
const STRING: u32 = 16;
const POINTER: u32 = 24;
const HEAP: u32 = 32;
const N_BLOCKS: usize = 6;
const BLOCK: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Unborn,
    Running,
    Ended,
}

#[derive(Clone)]
struct State {
    at: Vec<usize>,
    status: Vec<Status>,
    number: Vec<i32>,
    block: Vec<Option<usize>>,
    memory: [u8; HEAP as usize + N_BLOCKS * BLOCK as usize],
    shared: Option<usize>,
    is_freed: [bool; N_BLOCKS],
    n_blocks: usize,
    holder: Option<usize>,
}

/// What a step comes to.
enum Outcome {
    Goes,
    Waits,
    /// The process ends.
    Exits,
    Wrong(Kind),
}

pub(crate) struct Oracle<'p> {
    threads: &'p [Vec<S>],
    events: Vec<Event>,
    found: BTreeSet<Kind>,
    n_left: u32,
}

impl Oracle<'_> {
    /// What can be wrong with executions of a program; none if there are too many.
    pub(crate) fn ask(program: &Program) -> Option<BTreeSet<Kind>> {
        let n = program.threads.len();
        let mut memory = [0; HEAP as usize + N_BLOCKS * BLOCK as usize];
        memory[STRING as usize..][..3].copy_from_slice(b"abc");
        let mut status = vec![Status::Unborn; n];
        status[0] = Status::Running;
        let state = State {
            at: vec![0; n],
            status,
            number: vec![0; n],
            block: vec![None; n],
            memory,
            shared: None,
            is_freed: [false; N_BLOCKS],
            n_blocks: 0,
            holder: None,
        };
        let mut oracle = Oracle {
            threads: &program.threads,
            events: Vec::new(),
            found: BTreeSet::new(),
            n_left: MOST_EXECUTIONS,
        };
        oracle.go_on(&state);
        (oracle.n_left > 0).then_some(oracle.found)
    }

    fn go_on(&mut self, state: &State) {
        for thread in 0..self.threads.len() {
            if state.status[thread] != Status::Running || self.n_left == 0 {
                continue;
            }
            let mut next = state.clone();
            let n_events = self.events.len();
            match self.step(&mut next, thread) {
                Outcome::Goes => self.go_on(&next),
                Outcome::Waits => {}
                Outcome::Exits => self.end(None),
                Outcome::Wrong(kind) => self.end(Some(kind)),
            }
            self.events.truncate(n_events);
        }
    }

    fn end(&mut self, wrong: Option<Kind>) {
        self.n_left -= 1;
        self.found.extend(wrong);
        if !self.found.contains(&Kind::Race) && is_racy(&self.events) {
            self.found.insert(Kind::Race);
        }
    }

    fn note(&mut self, thread: usize, what: What, order: Order) {
        self.events.push(Event { thread, what, order });
    }

    fn access(&mut self, thread: usize, bytes: (u32, u32), is_write: bool) {
        let what = What::Access { bytes, reads: !is_write, writes: is_write, is_atomic: false };
        self.note(thread, what, Order::Relaxed);
    }

    /// An atomic access to a number or to the pointer.
    fn operate(&mut self, thread: usize, at: u32, reads: bool, writes: bool, order: Order) {
        let what = What::Access { bytes: (at, at + 4), reads, writes, is_atomic: true };
        self.note(thread, what, order);
    }

    /// Takes the next step of a thread.
    fn step(&mut self, state: &mut State, thread: usize) -> Outcome {
        let strong = Order::SequentiallyConsistent;
        let statement = loop {
            match self.threads[thread].get(state.at[thread]) {
                Some(S::Unless(value, n)) => {
                    let is_left_out = state.number[thread] != *value;
                    state.at[thread] += 1 + if is_left_out { *n } else { 0 };
                }
                Some(S::Assert(value)) if state.number[thread] == *value => {
                    return Outcome::Wrong(Kind::Assertion);
                }
                Some(S::Assert(_)) => state.at[thread] += 1,
                Some(statement) => break statement.clone(),
                None if thread == 0 => return Outcome::Exits,
                None => {
                    state.status[thread] = Status::Ended;
                    return Outcome::Goes;
                }
            }
        };
        state.at[thread] += 1;
        match statement {
            S::Load(object, order) => {
                state.number[thread] = state.int(object);
                self.operate(thread, place(object), true, false, order);
            }
            S::Store(object, value, order) => {
                state.set_int(object, value);
                self.operate(thread, place(object), false, true, order);
            }
            S::Add(object, order) => {
                state.number[thread] = state.int(object);
                state.set_int(object, state.int(object) + 1);
                self.operate(thread, place(object), true, true, order);
            }
            S::Fence(order) => self.note(thread, What::Fence, order),
            S::Read(object) => {
                state.number[thread] = state.int(object);
                self.access(thread, (place(object), place(object) + 4), false);
            }
            S::Write(object, value) => {
                state.set_int(object, value);
                self.access(thread, (place(object), place(object) + 4), true);
            }
            S::Length => {
                let n = state.length(STRING);
                state.number[thread] = n as i32;
                self.access(thread, (STRING, STRING + n + 1), false);
            }
            S::CopyString(text) => {
                let bytes: Vec<u8> = text.bytes().chain([0]).collect();
                self.write(state, thread, STRING, &bytes);
            }
            S::Fill { from, n, with } => {
                self.write(state, thread, STRING + from, &vec![with; n as usize]);
            }
            S::Compare(text) => {
                let is_equal = state.memory[STRING as usize..][..3] == *text.as_bytes();
                state.number[thread] = i32::from(is_equal);
                self.access(thread, (STRING, STRING + 3), false);
            }
            S::Print(value) => {
                let bytes: Vec<u8> = value.to_string().bytes().chain([0]).collect();
                self.write(state, thread, STRING, &bytes);
            }
            S::Scan(object) => {
                state.set_int(object, 7);
                self.access(thread, (place(object), place(object) + 4), true);
            }
            S::Move => {
                let bytes: Vec<u8> = state.memory[STRING as usize..][..3].to_vec();
                self.access(thread, (STRING, STRING + 3), false);
                self.write(state, thread, STRING + 1, &bytes);
            }
            S::CopyOut => {
                state.number[thread] = i32::from(state.memory[STRING as usize] as i8);
                self.access(thread, (STRING, STRING + 4), false);
            }
            S::New if state.n_blocks < N_BLOCKS => {
                state.block[thread] = Some(state.n_blocks);
                state.n_blocks += 1;
            }
            S::New => {
                // More than there are here: such a program is not asked about.
                self.n_left = 0;
            }
            S::Publish => {
                state.shared = state.block[thread];
                self.operate(thread, POINTER, false, true, strong);
            }
            S::Take => {
                state.block[thread] = state.shared;
                self.operate(thread, POINTER, true, false, strong);
            }
            S::Steal => {
                state.block[thread] = state.shared.take();
                self.operate(thread, POINTER, true, true, strong);
            }
            S::WriteHeap(_) | S::ReadHeap | S::HeapLength => {
                if let Some(block) = state.block[thread] {
                    return self.use_block(state, thread, block, &statement);
                }
            }
            S::Free => {
                if let Some(block) = state.block[thread] {
                    let first = HEAP + block as u32 * BLOCK;
                    self.access(thread, (first, first + BLOCK), true);
                    if std::mem::replace(&mut state.is_freed[block], true) {
                        return Outcome::Wrong(Kind::Memory);
                    }
                }
            }
            S::Lock if state.holder.is_some() => return Outcome::Waits,
            S::Lock => {
                state.holder = Some(thread);
                self.note(thread, What::Lock, strong);
            }
            S::Unlock => {
                state.holder = None;
                self.note(thread, What::Unlock, strong);
            }
            S::Spawn(child) => {
                state.status[child] = Status::Running;
                self.note(thread, What::Spawn(child), strong);
            }
            S::Join(child) if state.status[child] != Status::Ended => return Outcome::Waits,
            S::Join(child) => self.note(thread, What::Join(child), strong),
            S::Exit => return Outcome::Exits,
            S::Assert(_) | S::Unless(..) => unreachable!("it was passed"),
        }
        Outcome::Goes
    }

    fn use_block(&mut self, state: &mut State, thread: usize, block: usize, by: &S) -> Outcome {
        let first = HEAP + block as u32 * BLOCK;
        let n = if matches!(by, S::HeapLength) { state.length(first) + 1 } else { 1 };
        self.access(thread, (first, first + n), matches!(by, S::WriteHeap(_)));
        if state.is_freed[block] {
            return Outcome::Wrong(Kind::Memory);
        }
        match by {
            S::WriteHeap(value) => state.memory[first as usize] = *value,
            S::ReadHeap => state.number[thread] = i32::from(state.memory[first as usize] as i8),
            _ => state.number[thread] = n as i32 - 1,
        }
        Outcome::Goes
    }

    fn write(&mut self, state: &mut State, thread: usize, at: u32, bytes: &[u8]) {
        state.memory[at as usize..][..bytes.len()].copy_from_slice(bytes);
        self.access(thread, (at, at + bytes.len() as u32), true);
    }
}

fn place(object: char) -> u32 {
    4 * "abxy".find(object).expect("it is a variable") as u32
}

impl State {
    fn int(&self, object: char) -> i32 {
        let bytes = &self.memory[place(object) as usize..][..4];
        i32::from_le_bytes(bytes.try_into().expect("there are four"))
    }

    fn set_int(&mut self, object: char, value: i32) {
        self.memory[place(object) as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }

    fn length(&self, at: u32) -> u32 {
        let bytes = self.memory[at as usize..].iter();
        bytes.take_while(|byte| **byte != 0).count() as u32
    }
}
