//! Serialisation: a state as bytes, and back, for engines that store states.
//!
//! The bytes do not depend on how the state was reached. Objects that were made on the way are
//! written thread by thread in the order of their numbers, and get new addresses when they are read
//! back; pointers do not contain addresses. What a thread would do next is not written: it follows.

use super::Vm;
use super::code::{Code, HALT, Instruction as I, Kind, ObjectInfo, Origin, Pc, STUCK, UNBORN};
use super::machine::{FREE, Frame, Last, Machine, Spot, control};
use super::next::Pending;
use mazurka_core::{Next, ObjectId, ThreadId};

/// Two threads that are about to access the same memory, at least one of them plainly and at least
/// one of them to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The two of them, the smaller number first.
    pub threads: [ThreadId; 2],
    /// What the first one is about to access, as in its operation.
    pub object: ObjectId,
}

impl Vm {
    /// Appends the state as bytes: equal bytes, equal states.
    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.machine.save(&self.code, &mut |word| bytes.extend_from_slice(&word.to_le_bytes()));
    }

    /// Goes to a state that this machine or a clone of it has [saved](Self::save). There is no way
    /// back to what was before.
    ///
    /// # Panics
    ///
    /// If these bytes are no such state.
    pub fn restore(&mut self, bytes: &[u8]) {
        let (words, []) = bytes.as_chunks() else { panic!("a state is whole words") };
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        self.machine.restore(&self.code, &mut words);
        assert_eq!(words.next(), None, "a state ends with its last thread");
    }

    /// Two threads that a data race is about, now. In a machine for [`Races::Allow`](super::Races),
    /// where every access is a step, a program has a data race if and only if there is such a
    /// state.
    pub fn conflict(&self) -> Option<Conflict> {
        let (machine, code) = (&self.machine, &self.code);
        let threads = 0..machine.threads.len();
        let mut accesses: Vec<_> =
            threads.clone().filter_map(|it| machine.about_to(code, it)).collect();
        let is_met = |thread| accesses.iter().any(|it| it.is_plain && it.thread != thread);
        let blocks = threads.filter(|&it| machine.is_before_block(code, it) && is_met(it));
        let in_blocks: Vec<_> = blocks.flat_map(|it| machine.accesses_in_block(code, it)).collect();
        accesses.extend(in_blocks);
        for (idx, first) in accesses.iter().enumerate() {
            for second in &accesses[idx + 1..] {
                if first.conflicts_with(second) {
                    let mut threads = [first.thread, second.thread];
                    threads.sort_unstable();
                    let object = self.machine.pending[threads[0]].next.operation()?.object()?;
                    let threads = threads.map(ThreadId::new);
                    return Some(Conflict { threads, object });
                }
            }
        }
        None
    }
}

/// What a thread is about to access.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    thread: usize,
    address: u32,
    size: u32,
    is_write: bool,
    is_plain: bool,
}

impl About {
    fn conflicts_with(&self, other: &Self) -> bool {
        (self.is_plain || other.is_plain)
            && (self.is_write || other.is_write)
            && self.address < other.address + other.size
            && other.address < self.address + self.size
    }
}

impl Machine {
    fn save(&self, code: &Code, write: &mut dyn FnMut(u64)) {
        self.memory[1..code.memory.len()].iter().for_each(|&word| write(word));
        let is_born = |thread: &usize| self.pc(*thread) != UNBORN;
        let n_threads = (0..self.threads.len()).rfind(is_born).map_or(0, |last| last + 1);
        write(n_threads as u64);
        for idx in 0..n_threads {
            if !is_born(&idx) {
                write(0);
                continue;
            }
            let thread = &self.threads[idx];
            let top = self.control(idx, control::TOP) as usize;
            write(top as u64);
            thread.stack[..top].iter().for_each(|&word| write(word));
            for object in &thread.made[..self.control(idx, control::MADE) as usize] {
                let is_live = self.is_live(object);
                write(
                    u64::from(object.size) << 32
                        | u64::from(object.units) << 4
                        | u64::from(kind_number(object.kind)) << 1
                        | u64::from(is_live),
                );
                if is_live {
                    let start = object.address as usize / 8;
                    let words = (object.size as usize).div_ceil(8);
                    self.memory[start..start + words].iter().for_each(|&word| write(word));
                }
            }
        }
    }

    fn restore(&mut self, code: &Code, words: &mut dyn Iterator<Item = u64>) {
        self.log.clear();
        self.pending_log.clear();
        self.marks.clear();
        self.accesses.clear();
        self.fences.clear();
        self.last = Last::Nothing;
        let mut next = || words.next().expect("a state has all its words");
        self.memory[1..code.memory.len()].fill_with(&mut next);
        self.memory[FREE] = code.memory[FREE];
        let n_threads = next() as usize;
        self.grow(n_threads);
        for thread in 0..self.threads.len() {
            let top = if thread < n_threads { next() as usize } else { 0 };
            if top == 0 {
                self.threads[thread].stack[control::PC] = u64::from(UNBORN);
                continue;
            }
            self.reserve(thread, top).expect("it had this stack before");
            self.threads[thread].stack[..top].fill_with(&mut next);
            self.threads[thread].made.clear();
            for number in 0..self.control(thread, control::MADE) as u32 {
                self.remake(code, thread, number, &mut next);
            }
        }
        for thread in 0..self.threads.len() {
            self.pending[thread] = self.pending_in(code, thread);
        }
    }

    /// Makes an object again.
    fn remake(&mut self, code: &Code, thread: usize, number: u32, next: &mut dyn FnMut() -> u64) {
        let word = next();
        let (size, units) = ((word >> 32) as u32, (word as u32) >> 4);
        let (kind, is_live) = (KINDS[(word >> 1 & 7) as usize], word & 1 == 1);
        let (first_unit, first_piece) = self.numbers(code, thread, number, size, units, kind);
        let start = self.memory[FREE] as usize / 8;
        let end = start + 1 + (size as usize).div_ceil(8);
        if self.memory.len() < end {
            self.memory.resize(end.next_power_of_two(), 0);
        }
        self.memory[start] = u64::from(is_live);
        if is_live {
            self.memory[start + 1..end].fill_with(next);
        }
        self.memory[FREE] = end as u64 * 8;
        let address = start as u32 * 8 + 8;
        let origin = Origin::Unknown;
        let object = ObjectInfo { address, size, units, first_unit, first_piece, kind, origin };
        self.threads[thread].made.push(object);
    }

    /// What a thread would do next, worked out from where it stands.
    fn pending_in(&mut self, code: &Code, thread: usize) -> Pending {
        let pc = self.pc(thread);
        match pc {
            UNBORN => return Pending::UNBORN,
            HALT | STUCK => return Pending::FINISHED,
            _ => {}
        }
        if let I::Spawn { .. } = code.instructions[pc as usize] {
            self.name_child(thread).expect("it was named before");
        }
        match self.pending_at(code, thread, pc) {
            Ok(Some(pending)) => pending,
            // What it stands before has gone wrong since: the step will say so.
            Ok(None) | Err(_) => Pending::YIELD,
        }
    }

    fn about_to(&self, code: &Code, thread: usize) -> Option<About> {
        if !matches!(self.next(code, thread), Next::Enabled { .. }) {
            return None;
        }
        self.about_at(code, thread, self.pc(thread))
    }

    /// What the instruction at `pc` would access, if it is an access.
    pub(super) fn about_at(&self, code: &Code, thread: usize, pc: Pc) -> Option<About> {
        let frame: Frame = self.frame(thread);
        let (spot, size, is_write, is_plain): (Spot, u32, bool, bool) =
            match code.instructions[pc as usize] {
                I::Load { watched, from, ty, .. } => {
                    (self.spot(code, frame, from, ty.bytes()).ok()?, ty.bytes(), false, watched)
                }
                I::Store { watched, to, ty, .. } => {
                    (self.spot(code, frame, to, ty.bytes()).ok()?, ty.bytes(), true, watched)
                }
                I::Modify { on, ty, .. } | I::CompareExchange { on, ty, .. } => {
                    (self.spot(code, frame, on, ty.bytes()).ok()?, ty.bytes(), true, false)
                }
                I::Await { from, ty, .. } => {
                    (self.spot(code, frame, from, ty.bytes()).ok()?, ty.bytes(), false, false)
                }
                I::Copy { .. } | I::Fill { .. } => {
                    let piece = self.copying(code, thread, pc).ok()??;
                    (piece.from.unwrap_or(piece.to), piece.size, piece.from.is_none(), true)
                }
                _ => return None,
            };
        Some(About { thread, address: spot.address(), size, is_write, is_plain })
    }

    /// Whether an atomic block is what a thread does next.
    fn is_before_block(&self, code: &Code, thread: usize) -> bool {
        let pc = self.pc(thread);
        !matches!(pc, UNBORN | HALT | STUCK)
            && matches!(code.instructions[pc as usize], I::AtomicBegin)
    }

    /// What a thread accesses in the atomic block that it is before.
    fn accesses_in_block(&self, code: &Code, thread: usize) -> Vec<About> {
        let mut machine = self.clone();
        machine.block = Some(Vec::new());
        machine.mark();
        if let Ok((_, next)) = machine.operate(code, thread, machine.pc(thread), 0) {
            // What goes wrong in it is told when the step is taken.
            let _ = machine.run(code, thread, next);
        }
        let accesses = machine.block.unwrap_or_default().into_iter();
        accesses.map(|about| About { is_plain: false, ..about }).collect()
    }
}

/// The kinds of what is made on the way.
pub(super) const KINDS: [Kind; 5] =
    [Kind::Static, Kind::Constant, Kind::Heap, Kind::Frame, Kind::PerThread];

pub(super) fn kind_number(kind: Kind) -> u32 {
    KINDS.iter().position(|&other| other == kind).expect("all kinds are there") as u32
}
