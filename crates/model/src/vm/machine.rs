//! The state of a running program: memory and stacks, and a log of what they held before.

use super::code::{
    Address, AddressBase, CONTROL, Code, HALT, Kind, Node, ObjectInfo, Op, Operand, Origin, Pc,
    Source,
};
use super::flat::About;
use super::meetings::Meetings;
use super::names::Names;
use super::next::Pending;
use super::reached::Reached;
use super::spin::Spins;
use super::survivors::Survivors;
use crate::{Compare, Pointer, Type, evaluate};
use mazurka_core::{
    Accessed, Detail, Fence, Injection, MemoryOrder, ObjectId, PlainAccess, Violation,
    ViolationKind,
};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

/// The words at the beginning of every stack: what is known of the thread.
pub(super) mod control {
    /// The next instruction.
    pub(in super::super) const PC: usize = 0;
    /// Where the registers of the frame begin.
    pub(in super::super) const BASE: usize = 1;
    /// Where the stack ends.
    pub(in super::super) const TOP: usize = 2;
    /// How many objects the thread has made.
    pub(in super::super) const MADE: usize = 3;
    /// How many threads it has spawned with a number of their own, also under an earlier life of
    /// its number; and from bit 32 on, how many with a number that was used before: see
    /// `numbers.rs`.
    pub(in super::super) const CHILDREN: usize = 4;
    /// How many atomic blocks it is in.
    pub(in super::super) const ATOMIC: usize = 5;
    /// How many must have arrived at the barrier that it waits at.
    pub(in super::super) const ROUND_END: usize = 6;
    /// What it has returned.
    pub(in super::super) const RESULT: usize = 7;
    /// 1 if it was joined, 2 if it will not be; and from bit 8 on, by which thread.
    pub(in super::super) const STATUS: usize = 8;
    /// The number of the first object that the frame has made.
    pub(in super::super) const LOCALS: usize = 9;
    /// How far it is with a copy that others may interrupt: twice the bytes done, and one more
    /// between reading and writing.
    pub(in super::super) const COPIED: usize = 10;
    /// What the copy has read and not yet written.
    pub(in super::super) const IN_HAND: usize = 11;
    /// The last note of what it came to and saw, and the one where the round began that it is held
    /// in: see `spin.rs`.
    pub(in super::super) const NOTES: usize = 12;
    pub(in super::super) const HELD: usize = 13;
    /// A hash of the memory that only this thread can come to.
    pub(in super::super) const PRIVATE: usize = 14;
}

/// The word of memory that says where free memory begins, in bytes.
pub(super) const FREE: usize = 0;

/// The word of memory that says whether waiting for ever is excused: an assumption failed, or the
/// program has exited.
pub(super) const EXCUSED: usize = 1;

/// A state, and the way back to every earlier one.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The bytes of all objects, those that were made on the way behind the others.
    pub(super) memory: Vec<u64>,
    pub(super) threads: Vec<Thread>,
    /// What each changed word held before, oldest change first.
    pub(super) log: Vec<Change>,
    /// What each thread would do next, as far as that does not depend on the others.
    pub(super) pending: Vec<Pending>,
    /// What threads would have done next before that changed, oldest change first.
    pub(super) pending_log: Vec<(u32, Pending)>,
    /// How long the two logs were before each step, and the notes.
    pub(super) marks: Vec<(usize, usize, usize)>,
    pub(super) accesses: Vec<PlainAccess>,
    /// What the operation of the last step has accessed itself, where plain accesses may meet it.
    pub(super) atomic_accesses: Vec<PlainAccess>,
    /// The fences in the last step.
    pub(super) fences: Vec<Fence>,
    /// The memory order of the last step's operation.
    pub(super) order: MemoryOrder,
    /// How the operation of the step in progress accesses memory.
    pub(super) injection: Injection,
    /// What the operation of the last step accessed, and where in its object, with its size.
    pub(super) accessed: Option<Accessed>,
    pub(super) accessed_at: (u32, u32),
    pub(super) last: Last,
    /// The thread that is running, and at which instruction.
    pub(super) here: (usize, Pc),
    /// The plain memory whose accesses are told, and where the last step made any.
    pub(super) looked_at: Vec<ObjectId>,
    pub(super) seen: Vec<Seen>,
    /// Whether a leak is a violation: see `leak.rs`.
    pub(super) finds_leaks: bool,
    pub(super) spins: Spins,
    /// The numbers of what is made on the way: the same for all clones.
    pub(super) names: Arc<Mutex<Names>>,
    /// What is accessed in an atomic block, if that is asked.
    pub(super) block: Option<Vec<About>>,
    /// What becomes of executions at assumptions: the same for all clones.
    pub(super) survivors: Arc<Survivors>,
    /// The instructions that any execution came to, if that is noted: the same for all clones.
    pub(super) reached: Option<Arc<Reached>>,
    /// Who has come to which barrier, where arrivals commute: the same for all clones.
    pub(super) meetings: Option<Arc<Meetings>>,
    /// Those that this machine has asked for before.
    pub(super) known: FxHashMap<(u32, u32, u32, u32), (u32, u32)>,
}

/// One thread of the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// What is known of it, then its frames.
    pub(super) stack: Vec<u64>,
    /// The objects it has made, by number; those that [`control::MADE`] does not count are left
    /// from other executions.
    pub(super) made: Vec<ObjectInfo>,
    /// The threads it has spawned, by number, in any execution.
    pub(super) children: Vec<u32>,
    /// What it runs, or ran when it was last there: for its name.
    pub(super) routine: Option<u32>,
}

/// What a word held before it changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// 0 for memory, else the thread of the stack, from 1.
    area: u32,
    index: u32,
    old: u64,
}

/// What the last step read or wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Last {
    Nothing,
    Read(Type, u64),
    Wrote(Type, u64, u64),
    Chose(i64),
}

/// A plain access to the memory that is looked at.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) memory: ObjectId,
    pub(super) write: bool,
    /// Whether it is an atomic operation.
    pub(super) is_atomic: bool,
    /// What it read or wrote, if that is one number.
    pub(super) value: Last,
    /// The instruction, then the calls that led to it.
    pub(super) stack: Vec<Pc>,
}

/// Who computes: the thread, and where its registers are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) thread: usize,
    pub(super) base: usize,
    /// What an await would read.
    pub(super) seen: u64,
}

/// A place in memory that was found to be good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) object: ObjectInfo,
    pub(super) offset: u32,
}

impl Spot {
    #[inline]
    pub(super) fn address(&self) -> u32 {
        self.object.address + self.offset
    }
}

impl Machine {
    pub(super) fn new(code: &Code, names: Arc<Mutex<Names>>) -> Self {
        Self {
            memory: code.memory.clone(),
            threads: Vec::new(),
            log: Vec::new(),
            pending: Vec::new(),
            pending_log: Vec::new(),
            marks: Vec::new(),
            accesses: Vec::new(),
            atomic_accesses: Vec::new(),
            fences: Vec::new(),
            order: MemoryOrder::SequentiallyConsistent,
            injection: Injection::default(),
            accessed: None,
            accessed_at: (0, 0),
            last: Last::Nothing,
            here: (0, HALT),
            looked_at: Vec::new(),
            seen: Vec::new(),
            finds_leaks: false,
            spins: Spins::default(),
            names,
            block: None,
            survivors: Arc::new(Survivors::new(code)),
            reached: None,
            meetings: None,
            known: FxHashMap::default(),
        }
    }

    /// Undoes all steps from `depth` on; there are as many.
    pub(super) fn undo(&mut self, depth: usize) {
        self.accesses.clear();
        self.fences.clear();
        let Some(&(changes, pending, notes)) = self.marks.get(depth) else { return };
        self.marks.truncate(depth);
        self.spins.notes.truncate(notes);
        while self.spins.snapshots.pop_if(|it| it.note as usize > notes).is_some() {}
        self.undo_changes(changes);
        for &(thread, before) in self.pending_log[pending..].iter().rev() {
            self.pending[thread as usize] = before;
        }
        self.pending_log.truncate(pending);
    }

    /// Takes back all changes from `mark` on.
    pub(super) fn undo_changes(&mut self, mark: usize) {
        for change in self.log[mark..].iter().rev() {
            match change.area {
                0 => self.memory[change.index as usize] = change.old,
                area => self.threads[area as usize - 1].stack[change.index as usize] = change.old,
            }
        }
        self.log.truncate(mark);
    }

    /// Says what a thread would do next from now on.
    pub(super) fn set_pending(&mut self, thread: usize, pending: Pending) {
        let before = std::mem::replace(&mut self.pending[thread], pending);
        self.pending_log.push((thread as u32, before));
    }

    /// Whether memory was changed since `mark`.
    pub(super) fn has_touched_memory(&self, mark: usize) -> bool {
        self.log[mark..].iter().any(|change| change.area == 0)
    }

    /// Begins a step that can be undone.
    pub(super) fn mark(&mut self) {
        self.marks.push((self.log.len(), self.pending_log.len(), self.spins.notes.len()));
        self.spins.has_changed = false;
        self.spins.has_acted = false;
        self.accesses.clear();
        self.atomic_accesses.clear();
        self.fences.clear();
        self.order = MemoryOrder::SequentiallyConsistent;
        self.accessed = None;
        self.seen.clear();
        self.last = Last::Nothing;
    }

    #[inline]
    pub(super) fn control(&self, thread: usize, word: usize) -> u64 {
        self.threads[thread].stack[word]
    }

    #[inline]
    pub(super) fn pc(&self, thread: usize) -> Pc {
        self.threads[thread].stack[control::PC] as Pc
    }

    #[inline]
    pub(super) fn frame(&self, thread: usize) -> Frame {
        let base = self.control(thread, control::BASE) as usize;
        Frame { thread, base, seen: 0 }
    }

    /// Changes a word of a stack.
    #[inline]
    pub(super) fn set_stack(&mut self, thread: usize, index: usize, value: u64) {
        let word = &mut self.threads[thread].stack[index];
        let old = std::mem::replace(word, value);
        if old != value {
            self.log.push(Change { area: thread as u32 + 1, index: index as u32, old });
        }
    }

    /// Changes a register.
    #[inline]
    pub(super) fn set(&mut self, frame: Frame, register: u32, value: u64) {
        if register != super::code::NOWHERE {
            self.set_stack(frame.thread, frame.base + register as usize, value);
        }
    }

    /// Changes a word of memory.
    #[inline]
    pub(super) fn set_word(&mut self, index: usize, value: u64) {
        let old = std::mem::replace(&mut self.memory[index], value);
        if old != value {
            self.spins.has_changed = true;
            self.spins.has_acted = true;
            self.log.push(Change { area: 0, index: index as u32, old });
        }
    }

    /// The `size` bytes at `address`, 8 at most.
    #[inline]
    pub(super) fn get_bytes(&self, address: u32, size: u32) -> u64 {
        let (word, shift) = (address as usize / 8, address % 8 * 8);
        let mut bits = self.memory[word] >> shift;
        if shift + size * 8 > 64 {
            bits |= self.memory[word + 1] << (64 - shift);
        }
        bits & mask(size)
    }

    /// Changes the `size` bytes at `address`, 8 at most.
    #[inline]
    pub(super) fn set_bytes(&mut self, address: u32, size: u32, bits: u64) {
        let (word, shift) = (address as usize / 8, address % 8 * 8);
        let (mask, bits) = (mask(size), bits & mask(size));
        self.set_word(word, self.memory[word] & !(mask << shift) | bits << shift);
        if shift + size * 8 > 64 {
            let done = 64 - shift;
            self.set_word(word + 1, self.memory[word + 1] & !(mask >> done) | bits >> done);
        }
    }

    /// The value of type `ty` at `spot`.
    #[inline]
    pub(super) fn get(&self, spot: Spot, ty: Type) -> u64 {
        evaluate::canonical(ty, self.get_bytes(spot.address(), ty.bytes()))
    }

    #[inline]
    pub(super) fn value(&self, code: &Code, frame: Frame, operand: Operand) -> u64 {
        match operand.source() {
            Source::Register(register) => {
                self.threads[frame.thread].stack[frame.base + register as usize]
            }
            Source::Constant(number) => code.constants[number as usize],
            Source::Node(number) => self.node(code, frame, number as usize),
            Source::Seen => frame.seen,
        }
    }

    fn node(&self, code: &Code, frame: Frame, number: usize) -> u64 {
        let Node { op, left, right } = code.nodes[number];
        let left = self.value(code, frame, left);
        let right = || self.value(code, frame, right);
        match op {
            Op::AddI32 => (left as i32).wrapping_add(right() as i32) as i64 as u64,
            Op::AddI64 => left.wrapping_add(right()),
            Op::MultiplyI64 => left.wrapping_mul(right()),
            Op::Binary(op, ty, shift) => evaluate::binary(op, ty, left, right(), shift),
            Op::CompareSigned(op) => u64::from(holds(op, (left as i64).cmp(&(right() as i64)))),
            Op::Compare(op, ty) => u64::from(evaluate::compare(op, ty, left, right())),
            Op::Overflows(op, ty) => u64::from(evaluate::overflows(op, ty, left, right())),
            Op::Unary(op, ty) => evaluate::unary(op, ty, left),
            Op::Convert { from, to } => evaluate::convert(to, from, left),
            Op::If => {
                let parts = &code.nodes[number + 1];
                let part = if left != 0 { parts.left } else { parts.right };
                self.value(code, frame, part)
            }
            Op::Parts => unreachable!("it belongs to the node before it"),
            Op::Offset => Pointer::from_bits(left).plus(right() as i64).bits(),
            Op::PerThread(number) => self.made_pointer(frame.thread, number, left),
            Op::Frame(number) => {
                let first = self.control(frame.thread, control::LOCALS) as u32;
                self.made_pointer(frame.thread, first + number, left)
            }
            Op::Thread => frame.thread as u64,
        }
    }

    fn made_pointer(&self, thread: usize, number: u32, bytes: u64) -> u64 {
        Pointer::to_made(thread as u32, number).plus(bytes as i64).bits()
    }

    #[inline]
    pub(super) fn holds(&self, code: &Code, frame: Frame, condition: Operand) -> bool {
        self.value(code, frame, condition) != 0
    }

    /// Where `size` bytes are, or what is wrong with them.
    #[inline]
    pub(super) fn spot(
        &self,
        code: &Code,
        frame: Frame,
        address: Address,
        size: u32,
    ) -> Result<Spot, Violation> {
        let offset = self.value(code, frame, address.offset) as i64;
        let (object, offset) = match address.base {
            AddressBase::Static(number) => (code.objects[number as usize], offset),
            AddressBase::PerThread(number) => {
                (self.threads[frame.thread].made[number as usize], offset)
            }
            AddressBase::Frame(number) => {
                let first = self.control(frame.thread, control::LOCALS) as usize;
                (self.threads[frame.thread].made[first + number as usize], offset)
            }
            AddressBase::Pointer(pointer) => {
                let pointer = Pointer::from_bits(self.value(code, frame, pointer)).plus(offset);
                let object = self.object(code, pointer)?;
                (object, i64::from(pointer.offset as i32))
            }
        };
        if offset < 0 || offset + i64::from(size) > i64::from(object.size) {
            return Err(self.outside(code, &object, offset, size));
        }
        Ok(Spot { object, offset: offset as u32 })
    }

    /// The object that a pointer points into.
    pub(super) fn object(&self, code: &Code, pointer: Pointer) -> Result<ObjectInfo, Violation> {
        if let Some(object) = pointer.static_object()
            && let Some(info) = code.objects.get(object.0 as usize)
            && info.kind != Kind::PerThread
        {
            return Ok(*info);
        }
        let Some((thread, number)) = pointer.made() else {
            return Err(memory(match (pointer.object, pointer.offset) {
                (0, 0) => "a null pointer is followed".to_owned(),
                (0, offset) => format!("{offset:#x} is no pointer"),
                _ => match pointer.routine() {
                    Some(_) => "a function is used as an object".to_owned(),
                    None => "a number is used as a pointer".to_owned(),
                },
            }));
        };
        let thread = thread as usize;
        let exists = self.threads.get(thread).is_some_and(|thread| {
            !thread.stack.is_empty() && u64::from(number) < thread.stack[control::MADE]
        });
        if !exists {
            return Err(memory("a number is used as a pointer".to_owned()));
        }
        let object = self.threads[thread].made[number as usize];
        if !self.is_live(&object) {
            let name = self.object_text(code, &object);
            return Err(match object.kind {
                Kind::Heap => {
                    memory(format!("{name} is used after it was freed")).with(Detail::UseAfterFree)
                }
                _ => memory(format!("{name} is used after its function has returned")),
            });
        }
        Ok(object)
    }

    /// Whether an object that was made on the way is still there.
    pub(super) fn is_live(&self, object: &ObjectInfo) -> bool {
        self.memory[object.address as usize / 8 - 1] == 1
    }

    #[cold]
    fn outside(&self, code: &Code, object: &ObjectInfo, offset: i64, size: u32) -> Violation {
        let name = self.object_text(code, object);
        memory(format!(
            "{size} bytes at offset {offset} are outside of {name}, which has {}",
            object.size
        ))
    }

    pub(super) fn object_text(&self, code: &Code, object: &ObjectInfo) -> String {
        let names = self.names.lock().expect("the lock is not poisoned");
        format!("`{}`", names.object(code, &self.threads, object))
    }

    /// What people call a thread.
    pub(super) fn thread_text(&self, thread: usize) -> String {
        let names = self.names.lock().expect("the lock is not poisoned");
        names.thread_text(&self.threads, thread)
    }

    /// Makes an object of zeros.
    pub(super) fn make(
        &mut self,
        code: &Code,
        thread: usize,
        size: u32,
        units: u32,
        kind: Kind,
        origin: Origin,
    ) -> Result<Pointer, Violation> {
        let number = self.control(thread, control::MADE) as u32;
        let start = self.memory[FREE];
        let end = start + 8 + u64::from(size).next_multiple_of(8);
        if number >= Pointer::MAX_MADE || end > 1 << 31 {
            return Err(memory("the program has no memory left".to_owned()));
        }
        let (first_unit, first_piece) = self.numbers(code, thread, number, size, units, kind);
        let address = start as u32 + 8;
        let object = ObjectInfo { address, size, units, first_unit, first_piece, kind, origin };
        let made = &mut self.threads[thread].made;
        made.truncate(number as usize);
        made.push(object);
        self.set_stack(thread, control::MADE, u64::from(number) + 1);
        let words = start as usize / 8..end as usize / 8;
        if self.memory.len() < words.end {
            self.memory.resize(words.end.next_power_of_two(), 0);
        }
        self.set_word(FREE, end);
        self.set_word(words.start, 1);
        (words.start + 1..words.end).for_each(|word| self.set_word(word, 0));
        Ok(Pointer::to_made(thread as u32, number))
    }

    /// The numbers of the units and the pieces of an object that is made.
    pub(super) fn numbers(
        &mut self,
        code: &Code,
        thread: usize,
        number: u32,
        size: u32,
        units: u32,
        kind: Kind,
    ) -> (u32, u32) {
        let key = (thread as u32, number, size, units);
        let names = &self.names;
        *self.known.entry(key).or_insert_with(|| {
            names.lock().expect("the lock is not poisoned").made(code, key, kind)
        })
    }

    /// Ends an object that was made, and counts that as a write to all of it.
    pub(super) fn unmake(&mut self, code: &Code, object: &ObjectInfo) {
        self.set_word(object.address as usize / 8 - 1, 0);
        let n_pieces = code.units[object.units as usize].pieces.count(object.size);
        for piece in 0..n_pieces {
            self.note_access(object.first_piece + piece, true);
        }
    }

    /// Notes a plain access.
    #[inline]
    pub(super) fn watch(&mut self, code: &Code, spot: Spot, size: u32, write: bool) {
        if size == 0 {
            return;
        }
        for piece in pieces(code, spot, size) {
            self.note_access(piece, write);
        }
    }

    #[inline]
    fn note_access(&mut self, piece: u32, write: bool) {
        let object = ObjectId::new(piece as usize);
        let is_atomic = self.control(self.here.0, control::ATOMIC) > 0;
        self.accesses.push(PlainAccess { object, write, is_atomic });
        self.note_sighting(object, write, false);
    }

    fn note_sighting(&mut self, object: ObjectId, write: bool, is_atomic: bool) {
        if self.looked_at.contains(&object) {
            let (thread, pc) = self.here;
            let stack = self.calls(thread, pc).map(|call| call.at()).collect();
            self.seen.push(Seen { memory: object, write, is_atomic, value: Last::Nothing, stack });
        }
    }

    /// Notes what the plain access that was just noted reads or writes, if it is to the memory
    /// that is looked at and to nothing else.
    #[inline]
    pub(super) fn watch_value(&mut self, code: &Code, spot: Spot, ty: Type, new: Option<u64>) {
        if !self.looked_at.is_empty() {
            self.note_value(code, spot, ty, new);
        }
    }

    #[cold]
    fn note_value(&mut self, code: &Code, spot: Spot, ty: Type, new: Option<u64>) {
        let pieces = pieces(code, spot, ty.bytes());
        let object = ObjectId::new(*pieces.start() as usize);
        if pieces.start() == pieces.end() && self.looked_at.contains(&object) {
            let old = self.get(spot, ty);
            let new = new.map(|new| evaluate::canonical(ty, new));
            let value = new.map_or(Last::Read(ty, old), |new| Last::Wrote(ty, old, new));
            self.seen.last_mut().expect("it was just noted").value = value;
        }
    }

    /// Notes what an atomic operation accesses, if plain accesses may meet it.
    #[inline]
    pub(super) fn watch_atomic(&mut self, code: &Code, spot: Spot, size: u32, write: bool) {
        if code.is_mixed {
            self.note_atomic(code, spot, size, write);
        }
    }

    #[cold]
    fn note_atomic(&mut self, code: &Code, spot: Spot, size: u32, write: bool) {
        // Within an atomic block it is one access among others.
        if self.control(self.here.0, control::ATOMIC) > 0 {
            return self.watch(code, spot, size, write);
        }
        for piece in pieces(code, spot, size) {
            let object = ObjectId::new(piece as usize);
            self.atomic_accesses.push(PlainAccess { object, write, is_atomic: true });
            self.note_sighting(object, write, true);
        }
    }

    /// Notes that a thread has come to an operation on something that others may end: two such
    /// notes do not conflict, the end does.
    ///
    /// The note is made before the operation, so that what that releases covers it: the last user
    /// of a block that counts its users may free it.
    #[inline]
    pub(super) fn watch_life(&mut self, code: &Code, spot: Spot, is_sync: bool) {
        let has_end = matches!(spot.object.kind, Kind::Heap | Kind::Frame);
        if has_end || is_sync && code.has_lifecycle {
            self.watch(code, spot, 1, false);
        }
    }

    /// Grows a stack so that it has room for `len` words.
    pub(super) fn reserve(&mut self, thread: usize, len: usize) -> Result<(), Violation> {
        const MAX_STACK: usize = 1 << 22;
        if len > MAX_STACK {
            return Err(Violation::new(
                ViolationKind::Panic,
                "the stack has overflowed".to_owned(),
            ));
        }
        let stack = &mut self.threads[thread].stack;
        if stack.len() < len {
            stack.resize(len.next_power_of_two(), 0);
        }
        Ok(())
    }

    /// Adds threads up to the number `n_threads`, none of them born.
    pub(super) fn grow(&mut self, n_threads: usize) {
        while self.threads.len() < n_threads {
            self.threads.push(Thread { stack: vec![0; CONTROL], ..Thread::default() });
            self.pending.push(Pending::UNBORN);
        }
    }

    /// Whether a thread has ended.
    pub(super) fn has_ended(&self, thread: usize) -> bool {
        self.pc(thread) == HALT
    }
}

/// The pieces of memory that some bytes are in, at least one of them.
#[inline]
fn pieces(code: &Code, spot: Spot, size: u32) -> RangeInclusive<u32> {
    let pieces = &code.units[spot.object.units as usize].pieces;
    let number = |offset| spot.object.first_piece + pieces.number(offset);
    number(spot.offset)..=number(spot.offset + size - 1)
}

#[inline]
pub(super) fn mask(size: u32) -> u64 {
    u64::MAX >> (64 - size * 8)
}

#[inline]
fn holds(op: Compare, order: Ordering) -> bool {
    match op {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessOrEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterOrEqual => order.is_ge(),
    }
}

/// A violation of the kind `memory`.
#[cold]
pub(super) fn memory(message: String) -> Violation {
    Violation::new(ViolationKind::Memory, message)
}
