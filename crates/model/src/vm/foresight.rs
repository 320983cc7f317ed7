//! Which operations a thread may still take: what `--reduction persistent` asks.
//!
//! Implements *touch-now-later* and the lock patterns of Kahlon, Gupta and Sinha, *Symbolic Model
//! Checking of Concurrent Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006),
//! section 4.
//!
//! | paper                                         | here                                     |
//! |-----------------------------------------------|------------------------------------------|
//! | operations reachable from a local state       | [`Futures`]                              |
//! | paths end at a lock that the other holds      | [`Futures::cuts`]                        |
//!
//! Differs from the paper: it is asked for each pair of threads what one may do before the other
//! moves, so only the locks of the other cut a path, and they are those that it holds now, not
//! those that it holds on all paths. Paths are cut at locks that are known beforehand; of an array
//! of locks it is not known which one is taken. For those, what is used under a lock only is left
//! out while another thread has that lock ([`Machine::is_out_of_reach`]). Neither of the two covers
//! the other, and both are used.

use super::code::{Address, AddressBase, Code, Instruction, Kind, Pc, Source, Target};
use super::machine::{Machine, control};
use super::run::SAVED;
use crate::analysis::{Abstract, Guard};
use Instruction as I;
use mazurka_core::{ObjectId, Operation, ThreadId};

/// For each instruction, the operations that may come from it on.
#[derive(Debug, Default)]
pub(super) struct Futures {
    /// All different operations of the program; bit `i` of a set is the `i`-th.
    patterns: Vec<Pattern>,
    /// The sets, `n_words` words for each instruction.
    sets: Vec<u64>,
    n_words: usize,
    /// All that threads that are spawned may ever do.
    spawned: Vec<u64>,
    /// The same for those who may not take a lock.
    cuts: Vec<Cut>,
}

/// What may come from each instruction on as long as another thread has a mutex.
#[derive(Debug)]
struct Cut {
    /// Where the mutex is.
    address: u32,
    sets: Vec<u64>,
}

/// For so many locks at the most it is worked out what is behind them.
const MAX_CUTS: usize = 32;

/// Operations on any unit of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pattern {
    /// One on the first unit.
    first: Operation,
    len: u32,
    /// On any object that is made on the way, instead.
    is_made: bool,
    /// Starts any thread that its thread has not started yet, instead.
    is_spawn: bool,
    /// The object that the units are of, and what guards it.
    guard: Option<(u32, Guard)>,
}

impl Futures {
    pub(super) fn of(code: &Code, reach: &[Vec<Abstract>], guards: &[Option<Guard>]) -> Self {
        let mut futures = Self::default();
        let n = code.instructions.len();
        let own: Vec<Vec<usize>> =
            (0..n).map(|pc| futures.own(code, pc, &reach[pc], guards)).collect();
        futures.n_words = futures.patterns.len().div_ceil(64).max(1);
        futures.sets = vec![0; futures.n_words * n];
        for (pc, patterns) in own.into_iter().enumerate() {
            for idx in patterns {
                futures.sets[pc * futures.n_words + idx / 64] |= 1 << (idx % 64);
            }
        }
        let own = futures.sets.clone();
        futures.spread(code, |_| true);
        for address in locks(code) {
            let whole = std::mem::replace(&mut futures.sets, own.clone());
            futures.spread(code, |pc| lock_of(code, pc) != Some(address));
            let sets = std::mem::replace(&mut futures.sets, whole);
            futures.cuts.push(Cut { address, sets });
        }
        futures.spawned = vec![0; futures.n_words];
        for instruction in &code.instructions {
            let I::Spawn { target, .. } = *instruction else { continue };
            for routine in targets(code, target) {
                let start = code.routines[routine].begin as usize * futures.n_words;
                for word in 0..futures.n_words {
                    futures.spawned[word] |= futures.sets[start + word];
                }
            }
        }
        futures
    }

    /// The patterns of one instruction. `reach` is what its pointers may point to.
    fn own(
        &mut self,
        code: &Code,
        pc: usize,
        reach: &[Abstract],
        guards: &[Option<Guard>],
    ) -> Vec<usize> {
        let mut found = Vec::new();
        for (operation, address) in operations(code, &code.instructions[pc]) {
            let is_spawn = matches!(code.instructions[pc], I::Spawn { .. });
            let plain = Pattern { first: operation, len: 1, is_made: false, is_spawn, guard: None };
            let Some(address) = address else {
                found.push(self.number(plain));
                continue;
            };
            if is_memory(operation)
                && let Some(unit) = code.atomic_unit
            {
                let first = about(operation, ObjectId::new(unit as usize));
                found.push(self.number(Pattern { first, ..plain }));
                continue;
            }
            let made = Pattern { is_made: true, ..plain };
            match address.base {
                AddressBase::Static(object) => {
                    let offset = constant_offset(code, address);
                    found.push(self.number(on_object(code, plain, object, offset, guards)));
                }
                AddressBase::PerThread(_) | AddressBase::Frame(_) => found.push(self.number(made)),
                AddressBase::Pointer(_) => {
                    for target in reach {
                        let pattern = match target {
                            Abstract::Object(object) => {
                                on_object(code, plain, object.0, None, guards)
                            }
                            Abstract::Frame(..) | Abstract::Block(_) => made,
                            Abstract::Routine(_) => continue,
                        };
                        found.push(self.number(pattern));
                    }
                }
            }
        }
        found
    }

    fn number(&mut self, pattern: Pattern) -> usize {
        let known = self.patterns.iter().position(|other| *other == pattern);
        known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        })
    }

    /// Adds the sets of all that may come next, where an instruction can be passed.
    fn spread(&mut self, code: &Code, can_pass: impl Fn(usize) -> bool) {
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for pc in (0..code.instructions.len()).rev().filter(|&pc| can_pass(pc)) {
                for next in successors(code, pc as Pc) {
                    for word in 0..self.n_words {
                        let more = self.sets[next as usize * self.n_words + word];
                        let word = &mut self.sets[pc * self.n_words + word];
                        has_changed |= more & !*word != 0;
                        *word |= more;
                    }
                }
            }
        }
    }
}

/// Where the mutex is that an instruction takes, if that is known beforehand.
fn lock_of(code: &Code, pc: usize) -> Option<u32> {
    let (I::Lock { mutex, .. } | I::Reacquire { mutex, .. }) = &code.instructions[pc] else {
        return None;
    };
    let AddressBase::Static(object) = mutex.base else { return None };
    let info = code.objects[object as usize];
    let offset = constant_offset(code, mutex)?;
    let is_inside = info.kind == Kind::Static && offset < u64::from(info.size);
    is_inside.then(|| info.address + offset as u32)
}

/// The mutexes that some instruction is known to take, each once.
fn locks(code: &Code) -> Vec<u32> {
    let mut all: Vec<u32> =
        (0..code.instructions.len()).filter_map(|pc| lock_of(code, pc)).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_CUTS);
    all
}

impl Machine {
    /// Calls `visit` with every operation that a thread may still take; if there is a `holder`,
    /// before that moves.
    pub(super) fn future(
        &self,
        code: &Code,
        thread: usize,
        holder: Option<usize>,
        visit: &mut dyn FnMut(Operation),
    ) {
        use super::code::{HALT, STUCK, UNBORN};
        let futures = &code.futures;
        let set = match self.pc(thread) {
            HALT | STUCK => return,
            UNBORN => futures.spawned.clone(),
            _ => {
                let mut set = self.set_of(futures.n_words, &futures.sets, thread);
                for cut in self.cuts_of(code, holder) {
                    let part = self.set_of(futures.n_words, &cut.sets, thread);
                    set.iter_mut().zip(part).for_each(|(word, part)| *word &= part);
                }
                set
            }
        };
        for (idx, pattern) in futures.patterns.iter().enumerate() {
            if set[idx / 64] >> (idx % 64) & 1 == 1 {
                self.visit_pattern(code, thread, pattern, visit);
            }
        }
    }

    /// The locks that a thread has, of those that are known beforehand.
    fn cuts_of<'a>(&self, code: &'a Code, holder: Option<usize>) -> impl Iterator<Item = &'a Cut> {
        let owner = holder.map(|holder| holder as u64 + 1);
        let cuts = code.futures.cuts.iter();
        cuts.filter(move |cut| Some(self.get_bytes(cut.address, 1)) == owner)
    }

    /// Whether a thread has a lock of those that are known beforehand.
    pub(super) fn is_in_the_way(&self, code: &Code, thread: usize) -> bool {
        self.cuts_of(code, Some(thread)).next().is_some()
    }

    /// What a thread may do in the function where it is, and in those that it returns to.
    fn set_of(&self, n_words: usize, sets: &[u64], thread: usize) -> Vec<u64> {
        let of = |pc: Pc| &sets[pc as usize * n_words..][..n_words];
        let mut set = of(self.pc(thread)).to_vec();
        let mut base = self.control(thread, control::BASE) as usize;
        while base > 0 {
            let back = self.control(thread, base - SAVED) as Pc;
            if back != super::code::HALT {
                set.iter_mut().zip(of(back)).for_each(|(word, more)| *word |= more);
            }
            base = self.control(thread, base - SAVED + 1) as usize;
        }
        set
    }

    fn visit_pattern(
        &self,
        code: &Code,
        thread: usize,
        pattern: &Pattern,
        visit: &mut dyn FnMut(Operation),
    ) {
        if pattern.is_spawn {
            self.future_children(thread, &mut |child| {
                visit(Operation::Spawn(ThreadId::new(child)))
            });
            // There may be children of which nothing is known yet: what they do is in the set.
            visit(Operation::Yield);
        } else if pattern.is_made {
            for owner in &self.threads {
                let n_made = owner.stack[control::MADE] as usize;
                for object in owner.made.iter().take(n_made) {
                    let n_units = code.units[object.units as usize].units.count(object.size);
                    for idx in 0..n_units {
                        let object = ObjectId::new((object.first_unit + idx) as usize);
                        visit(about(pattern.first, object));
                    }
                }
            }
        } else if let Some(first) = pattern.first.object() {
            for idx in 0..pattern.len {
                let object = ObjectId::new(first.index() + idx as usize);
                let is_reachable = pattern.guard.is_none_or(|(of, guard)| {
                    !self.is_out_of_reach(code, thread, of, guard, object)
                });
                if is_reachable {
                    visit(about(pattern.first, object));
                }
            }
        } else {
            visit(pattern.first);
        }
    }

    /// Whether another thread has the mutex that guards a unit of an object.
    fn is_out_of_reach(
        &self,
        code: &Code,
        thread: usize,
        of: u32,
        guard: Guard,
        object: ObjectId,
    ) -> bool {
        let info = code.objects[of as usize];
        let (lock, index) = match guard {
            Guard::Fixed(lock, index) => (lock, index),
            Guard::SameIndex(lock) => {
                let n_units = code.element_units[of as usize];
                (lock, (object.index() as u32 - info.first_unit) / n_units.max(1))
            }
        };
        let lock_info = code.objects[lock.0 as usize];
        let offset = index * code.element_sizes[lock.0 as usize];
        if offset >= lock_info.size {
            return false;
        }
        let owner = self.get_bytes(lock_info.address + offset, 1);
        owner != 0 && owner != thread as u64 + 1
    }
}

/// Operations on all units of an object of the program, or on the one at `offset`.
fn on_object(
    code: &Code,
    plain: Pattern,
    object: u32,
    offset: Option<u64>,
    guards: &[Option<Guard>],
) -> Pattern {
    let info = code.objects[object as usize];
    if info.kind == Kind::PerThread {
        return Pattern { is_made: true, ..plain };
    }
    let units = &code.units[info.units as usize].units;
    let (first, len) = match offset {
        Some(offset) if offset < u64::from(info.size) => (units.number(offset as u32), 1),
        _ => (0, units.count(info.size)),
    };
    let guard = guards[object as usize].filter(|_| is_memory(plain.first));
    let first = about(plain.first, ObjectId::new((info.first_unit + first) as usize));
    Pattern { first, len, guard: guard.map(|guard| (object, guard)), ..plain }
}

/// The operations of an instruction, on no object in particular, and where those objects are. What
/// gives back a mutex and sleeps is two of them here, so that each is about one object.
fn operations<'a>(
    code: &'a Code,
    instruction: &'a Instruction,
) -> Vec<(Operation, Option<&'a Address>)> {
    use Operation as O;
    let none = ObjectId::new(0);
    let one = |operation, address| vec![(operation, Some(address))];
    match instruction {
        I::Load { visible: true, from, .. } => one(O::Load(none), from),
        I::Store { visible: true, to, .. } => one(O::Store(none), to),
        I::Modify { on, .. } | I::CompareExchange { on, .. } => one(O::ReadModifyWrite(none), on),
        I::Await { from, .. } => one(O::Await(none), from),
        I::Copy { visible: true, to, from, .. } => {
            vec![(O::Load(none), Some(from)), (O::Store(none), Some(to))]
        }
        I::Fill { visible: true, to, .. } => one(O::Store(none), to),
        I::Lock { mutex, .. } | I::Reacquire { mutex, .. } => one(O::Acquire(none), mutex),
        I::TryLock { mutex, .. } => one(O::TryAcquire(none), mutex),
        I::Unlock { mutex, .. } => one(O::Release(none), mutex),
        I::ReadLock(lock) => one(O::ReadAcquire(none), lock),
        I::WriteLock(lock) => one(O::WriteAcquire(none), lock),
        I::TryReadLock(lock, _) => one(O::TryReadAcquire(none), lock),
        I::TryWriteLock(lock, _) => one(O::TryWriteAcquire(none), lock),
        I::ReadWriteUnlock(lock) => {
            vec![(O::ReadRelease(none), Some(lock)), (O::WriteRelease(none), Some(lock))]
        }
        I::Wait { condvar, mutex } => {
            vec![(O::NotifyAll(none), Some(condvar)), (O::Release(none), Some(mutex))]
        }
        I::NotifyOne(condvar) => one(O::NotifyOne(none), condvar),
        I::NotifyAll(condvar) => one(O::NotifyAll(none), condvar),
        I::SemaphoreAcquire(semaphore) => {
            one(O::SemaphoreAcquire { semaphore: none, permits: 0 }, semaphore)
        }
        I::SemaphoreTryAcquire(semaphore, _) | I::SemaphoreValue(semaphore, _) => {
            one(O::SemaphoreTryAcquire { semaphore: none, permits: 0 }, semaphore)
        }
        I::SemaphoreRelease(semaphore) => one(O::SemaphoreRelease(none), semaphore),
        I::Arrive(barrier, _) => one(O::Arrive(none), barrier),
        I::Leave(barrier) => one(O::Leave { barrier: none, parties: 0 }, barrier),
        I::Send(queue) | I::TrySend(queue, _) => {
            let queue = &code.queues[*queue as usize];
            let capacity = queue.capacity;
            match instruction {
                I::Send(_) => one(O::Send { channel: none, capacity }, &queue.at),
                _ => one(O::TrySend { channel: none, capacity }, &queue.at),
            }
        }
        I::Receive(queue) => one(O::Receive(none), &code.queues[*queue as usize].at),
        I::TryReceive(queue, _) => one(O::TryReceive(none), &code.queues[*queue as usize].at),
        I::AtomicBegin => {
            let unit = code.atomic_unit.expect("a program with atomic blocks has one");
            vec![(O::ReadModifyWrite(ObjectId::new(unit as usize)), None)]
        }
        I::Spawn { .. } | I::Join { .. } | I::Yield => vec![(O::Yield, None)],
        I::Choose { .. } | I::ChooseEdge { .. } => vec![(O::Choose, None)],
        _ => Vec::new(),
    }
}

/// The constant offset of an address into an object of the program.
fn constant_offset(code: &Code, address: &Address) -> Option<u64> {
    match (address.base, address.offset.source()) {
        (AddressBase::Static(_), Source::Constant(number)) => Some(code.constants[number as usize]),
        _ => None,
    }
}

/// The instructions that may come after one: those of what it calls or spawns, too.
fn successors(code: &Code, pc: Pc) -> Vec<Pc> {
    match code.instructions[pc as usize] {
        I::Unborn
        | I::Halt
        | I::Stuck
        | I::NoWay
        | I::Return { .. }
        | I::ExitProcess { .. }
        | I::ExitProgram => Vec::new(),
        I::Jump(target) => vec![target],
        I::JumpUnless { otherwise, .. } => vec![pc + 1, otherwise],
        I::ChooseEdge { edges, otherwise } => {
            let (start, end) = (edges.start as usize, (edges.start + edges.len) as usize);
            let targets = code.edges[start..end].iter().map(|&(_, target)| target);
            targets.chain([otherwise]).collect()
        }
        I::Call { target, .. } | I::Spawn { target, .. } => {
            let routines = targets(code, target).into_iter();
            routines.map(|routine| code.routines[routine].begin).chain([pc + 1]).collect()
        }
        _ => vec![pc + 1],
    }
}

/// The routines that may be called: through a pointer, all.
fn targets(code: &Code, target: Target) -> Vec<usize> {
    match target {
        Target::Routine(routine) => vec![routine as usize],
        Target::Pointer(_) => (0..code.routines.len()).collect(),
    }
}

fn is_memory(operation: Operation) -> bool {
    use Operation as O;
    operation.is_access() || matches!(operation, O::Await(_) | O::AwaitModify(_))
}

/// The same operation on another object.
fn about(operation: Operation, object: ObjectId) -> Operation {
    use Operation as O;
    match operation {
        O::Load(_) => O::Load(object),
        O::Store(_) => O::Store(object),
        O::ReadModifyWrite(_) => O::ReadModifyWrite(object),
        O::Await(_) => O::Await(object),
        O::AwaitModify(_) => O::AwaitModify(object),
        O::Acquire(_) => O::Acquire(object),
        O::TryAcquire(_) => O::TryAcquire(object),
        O::Release(_) => O::Release(object),
        O::ReadAcquire(_) => O::ReadAcquire(object),
        O::TryReadAcquire(_) => O::TryReadAcquire(object),
        O::ReadRelease(_) => O::ReadRelease(object),
        O::WriteAcquire(_) => O::WriteAcquire(object),
        O::TryWriteAcquire(_) => O::TryWriteAcquire(object),
        O::WriteRelease(_) => O::WriteRelease(object),
        O::NotifyOne(_) => O::NotifyOne(object),
        O::NotifyAll(_) => O::NotifyAll(object),
        O::SemaphoreAcquire { permits, .. } => O::SemaphoreAcquire { semaphore: object, permits },
        O::SemaphoreTryAcquire { permits, .. } => {
            O::SemaphoreTryAcquire { semaphore: object, permits }
        }
        O::SemaphoreRelease(_) => O::SemaphoreRelease(object),
        O::Arrive(_) => O::Arrive(object),
        O::Leave { parties, .. } => O::Leave { barrier: object, parties },
        O::Send { capacity, .. } => O::Send { channel: object, capacity },
        O::TrySend { capacity, .. } => O::TrySend { channel: object, capacity },
        O::Receive(_) => O::Receive(object),
        O::TryReceive(_) => O::TryReceive(object),
        other => other,
    }
}
