//! What a thread would do next, and whether it can.
//!
//! Engines ask this of every thread at every step. What does not depend on the others, the
//! operation and where its object is, is worked out once, when the thread gets there.

use super::code::{Code, Instruction, Kind, Operand, Pc, UNBORN};
use super::machine::{Frame, Machine, Spot, control, memory};
use super::run::uninitialised_barrier;
use super::spin::TRIED;
use super::step::{assertion, updated};
use crate::{Sync, Type, Update};
use Instruction as I;
use mazurka_core::{Next, ObjectId, Operation, ThreadId, Violation};

/// What a thread would do next if it is possible, and when it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pending {
    pub(super) next: Next,
    gate: Gate,
}

/// When an operation is possible. Numbers are addresses of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gate {
    /// Always.
    Open,
    /// When the variable is as wished.
    Await {
        address: u32,
        ty: Type,
        until: Operand,
    },
    /// When a round of the loop that reads the variable would lead out of it, or the variable is
    /// gone.
    Round {
        address: u32,
        ty: Type,
        until: Operand,
        /// The byte that says whether it is there still; 0 for what always is.
        life: u32,
    },
    /// When a round of the loop that modifies the variable would change it or lead out.
    RoundOfModify {
        address: u32,
        ty: Type,
        update: Update,
        value: Operand,
        until: Operand,
        /// As above.
        life: u32,
    },
    /// Always; as a load where the variable is not as expected.
    Comparison {
        address: u32,
        ty: Type,
        expected: Operand,
    },
    /// When no thread has the mutex.
    Free(u32),
    /// When no thread writes.
    NoWriter(u32),
    /// When no thread reads or writes.
    Unused(u32),
    /// When the mutex is free and the thread does not sleep.
    Awake {
        condvar: u32,
        mutex: u32,
    },
    Positive(u32),
    /// When as many have arrived as make the round complete.
    RoundEnd {
        arrived: u32,
        round_end: u32,
    },
    Room {
        len: u32,
        capacity: u32,
    },
    Message {
        len: u32,
    },
    Ended(u32),
    /// Always, once for each sleeper.
    Sleepers(u32),
    /// Never: the owner of a mutex takes it again.
    Never,
}

impl Pending {
    pub(super) const UNBORN: Self = Self { next: Next::Unborn, gate: Gate::Open };
    pub(super) const FINISHED: Self = Self { next: Next::Finished, gate: Gate::Open };

    pub(super) const YIELD: Self =
        Self { next: Next::Enabled { operation: Operation::Yield, choices: 1 }, gate: Gate::Open };

    fn open(operation: Operation) -> Self {
        Self { next: Next::enabled(operation), gate: Gate::Open }
    }

    fn when(operation: Operation, gate: Gate) -> Self {
        Self { next: Next::enabled(operation), gate }
    }
}

impl Machine {
    #[inline]
    pub(super) fn next(&self, code: &Code, thread: usize) -> Next {
        let pending = &self.pending[thread];
        let next = pending.next;
        let is_possible = match pending.gate {
            Gate::Open => return next,
            Gate::Free(mutex) => self.get_bytes(mutex, 1) == 0,
            Gate::NoWriter(lock) => self.get_bytes(lock, 1) == 0,
            Gate::Unused(lock) => self.get_bytes(lock, 1) == 0 && self.get_bytes(lock + 4, 4) == 0,
            Gate::Awake { condvar, mutex } => {
                self.get_bytes(mutex, 1) == 0 && self.sleepers(condvar) >> thread & 1 == 0
            }
            Gate::Positive(semaphore) => self.get_bytes(semaphore, 4) > 0,
            Gate::RoundEnd { arrived, round_end } => {
                self.get_bytes(arrived, 4) >= u64::from(round_end)
            }
            Gate::Room { len, capacity } => self.get_bytes(len, 4) < u64::from(capacity),
            Gate::Message { len } => self.get_bytes(len, 4) > 0,
            Gate::Ended(target) => self.has_ended(target as usize),
            Gate::Sleepers(condvar) => {
                let n_sleepers = self.sleepers(condvar).count_ones();
                return match next {
                    Next::Enabled { operation, .. } => {
                        Next::Enabled { operation, choices: n_sleepers.max(1) }
                    }
                    other => other,
                };
            }
            Gate::Await { address, ty, until } => {
                let seen = crate::evaluate::canonical(ty, self.get_bytes(address, ty.bytes()));
                self.holds(code, Frame { seen, ..self.frame(thread) }, until)
            }
            Gate::Round { address, ty, until, life } => {
                let seen = crate::evaluate::canonical(ty, self.get_bytes(address, ty.bytes()));
                life != 0 && self.get_bytes(life, 8) != 1
                    || self.holds(code, Frame { seen, ..self.frame(thread) }, until)
            }
            Gate::RoundOfModify { address, ty, update, value, until, life } => {
                let seen = crate::evaluate::canonical(ty, self.get_bytes(address, ty.bytes()));
                let frame = self.frame(thread);
                life != 0 && self.get_bytes(life, 8) != 1
                    || updated(update, ty, seen, self.value(code, frame, value)) != seen
                    || self.holds(code, Frame { seen, ..frame }, until)
            }
            Gate::Comparison { address, ty, expected } => {
                let seen = crate::evaluate::canonical(ty, self.get_bytes(address, ty.bytes()));
                let is_expected = seen == self.value(code, self.frame(thread), expected);
                return match next {
                    Next::Enabled { operation: Operation::ReadModifyWrite(object), .. }
                        if !is_expected =>
                    {
                        Next::enabled(Operation::Load(object))
                    }
                    next => next,
                };
            }
            Gate::Never => false,
        };
        match next.operation() {
            Some(operation) if !is_possible => Next::Blocked(operation),
            _ => next,
        }
    }

    /// Whether a thread is at a compare-and-swap.
    #[inline]
    pub(super) fn compares(&self, thread: usize) -> bool {
        matches!(self.pending[thread].gate, Gate::Comparison { .. })
    }

    /// What the access at `pc` waits for, if it is a loop of a thread that may be held there.
    #[inline]
    fn awaited(&self, code: &Code, thread: usize, pc: Pc) -> Option<Operand> {
        let may_wait = self.spins.reads_memory && self.control(thread, control::ATOMIC) == 0;
        may_wait.then(|| code.awaits.get(&pc).copied()).flatten()
    }

    /// Whether a thread is at a load that is a loop, and would go round it in vain now.
    pub(super) fn awaits_in_loop(&self, code: &Code, thread: usize) -> bool {
        matches!(self.pending[thread].gate, Gate::Round { .. } | Gate::RoundOfModify { .. })
            && matches!(self.next(code, thread), Next::Blocked(_))
    }

    /// The operation of the instruction at `pc`, which `thread` has come to; none if it is
    /// invisible for now. An error if it can never be carried out.
    pub(super) fn pending_at(
        &self,
        code: &Code,
        thread: usize,
        pc: Pc,
    ) -> Result<Option<Pending>, Violation> {
        use Operation as O;
        let frame = self.frame(thread);
        let spot = |address, size| self.spot(code, frame, address, size);
        let sync = |address, kind: Sync| -> Result<(ObjectId, u32), Violation> {
            let spot = self.spot(code, frame, address, kind.bytes())?;
            self.check_life(code, spot, kind)?;
            Ok((unit(code, spot), spot.address()))
        };
        // A thread that was woken, or belongs to a complete round, may come after the end.
        let former = |address, kind: Sync| -> Result<(ObjectId, u32), Violation> {
            let spot = self.spot(code, frame, address, kind.bytes())?;
            Ok((unit(code, spot), spot.address()))
        };
        let me = thread as u64 + 1;
        Ok(Some(match code.instructions[pc as usize] {
            I::Load { visible: true, from, ty, .. } => {
                let spot = spot(from, ty.bytes())?;
                let object = whole_unit(code, spot, ty.bytes())?;
                match self.awaited(code, thread, pc) {
                    Some(until) => {
                        let life = life(spot);
                        let gate = Gate::Round { address: spot.address(), ty, until, life };
                        Pending::when(O::Await(object), gate)
                    }
                    None => Pending::open(O::Load(object)),
                }
            }
            I::Store { visible: true, to, ty, .. } => {
                Pending::open(O::Store(whole_unit(code, spot(to, ty.bytes())?, ty.bytes())?))
            }
            I::Modify { on, ty, update, value, .. } => {
                let spot = spot(on, ty.bytes())?;
                let object = whole_unit(code, spot, ty.bytes())?;
                match self.awaited(code, thread, pc) {
                    Some(until) => {
                        let (address, life) = (spot.address(), life(spot));
                        let gate = Gate::RoundOfModify { address, ty, update, value, until, life };
                        Pending::when(O::AwaitModify(object), gate)
                    }
                    None => Pending::open(O::ReadModifyWrite(object)),
                }
            }
            I::CompareExchange { on, ty, expected, .. } => {
                let spot = spot(on, ty.bytes())?;
                let operation = O::ReadModifyWrite(whole_unit(code, spot, ty.bytes())?);
                let gate = Gate::Comparison { address: spot.address(), ty, expected };
                Pending::when(operation, gate)
            }
            I::Await { from, until, ty, .. } => {
                let spot = spot(from, ty.bytes())?;
                let operation = O::Await(whole_unit(code, spot, ty.bytes())?);
                Pending::when(operation, Gate::Await { address: spot.address(), ty, until })
            }
            I::Lock { mutex, .. } => {
                let (object, address) = sync(mutex, Sync::Mutex)?;
                let gate = match self.get_bytes(address, 1) == me {
                    false => Gate::Free(address),
                    true if self.get_bytes(address + 1, 1) == 0 => Gate::Never,
                    true => return Ok(None),
                };
                Pending::when(O::Acquire(object), gate)
            }
            I::TryLock { mutex, .. } => {
                let (object, address) = sync(mutex, Sync::Mutex)?;
                if self.get_bytes(address, 1) == me && self.get_bytes(address + 1, 1) == 1 {
                    return Ok(None);
                }
                Pending::open(O::TryAcquire(object))
            }
            I::Unlock { mutex, .. } => {
                let (object, address) = sync(mutex, Sync::Mutex)?;
                if self.get_bytes(address, 1) != me || self.get_bytes(address + 2, 2) & !TRIED > 1 {
                    return Ok(None);
                }
                Pending::open(O::Release(object))
            }
            I::ReadLock(lock) => {
                let (object, address) = sync(lock, Sync::RwLock)?;
                Pending::when(O::ReadAcquire(object), Gate::NoWriter(address))
            }
            I::WriteLock(lock) => {
                let (object, address) = sync(lock, Sync::RwLock)?;
                Pending::when(O::WriteAcquire(object), Gate::Unused(address))
            }
            I::TryReadLock(lock, _) => {
                Pending::open(O::TryReadAcquire(sync(lock, Sync::RwLock)?.0))
            }
            I::TryWriteLock(lock, _) => {
                Pending::open(O::TryWriteAcquire(sync(lock, Sync::RwLock)?.0))
            }
            I::ReadWriteUnlock(lock) => {
                let (object, address) = sync(lock, Sync::RwLock)?;
                if self.get_bytes(address, 1) == me {
                    Pending::open(O::WriteRelease(object))
                } else if self.n_reads(address, thread) > 0 {
                    Pending::open(O::ReadRelease(object))
                } else {
                    return Ok(None);
                }
            }
            I::Wait { condvar, mutex } => {
                let (mutex, address) = sync(mutex, Sync::Mutex)?;
                let condvar = sync(condvar, Sync::Condvar)?.0;
                if self.get_bytes(address, 1) != me {
                    return Ok(None);
                }
                Pending::open(O::Wait { condvar, mutex })
            }
            I::Reacquire { condvar, mutex } => {
                let (mutex, mutex_address) = sync(mutex, Sync::Mutex)?;
                let (condvar, address) = former(condvar, Sync::Condvar)?;
                let gate = Gate::Awake { condvar: address, mutex: mutex_address };
                Pending::when(O::Reacquire { condvar, mutex }, gate)
            }
            I::NotifyOne(condvar) => {
                let (object, address) = sync(condvar, Sync::Condvar)?;
                Pending::when(O::NotifyOne(object), Gate::Sleepers(address))
            }
            I::NotifyAll(condvar) => Pending::open(O::NotifyAll(sync(condvar, Sync::Condvar)?.0)),
            I::SemaphoreAcquire(semaphore) => {
                let (semaphore, address) = sync(semaphore, Sync::Semaphore)?;
                let permits = self.get_bytes(address + 4, 4) as u32;
                let operation = O::SemaphoreAcquire { semaphore, permits };
                Pending::when(operation, Gate::Positive(address))
            }
            I::SemaphoreTryAcquire(semaphore, _) | I::SemaphoreValue(semaphore, _) => {
                let (semaphore, address) = sync(semaphore, Sync::Semaphore)?;
                let permits = self.get_bytes(address + 4, 4) as u32;
                Pending::open(O::SemaphoreTryAcquire { semaphore, permits })
            }
            I::SemaphoreRelease(semaphore) => {
                Pending::open(O::SemaphoreRelease(sync(semaphore, Sync::Semaphore)?.0))
            }
            I::Arrive(barrier, _) => {
                let at = spot(barrier, Sync::Barrier.bytes())?;
                let (barrier, address) = sync(barrier, Sync::Barrier)?;
                let parties = self.get_bytes(address, 4) as u32;
                if parties == 0 {
                    return Err(uninitialised_barrier());
                }
                let meeting = self.meeting(code, thread, at, parties);
                Pending::open(meeting.map_or(O::Arrive(barrier), O::Meet))
            }
            I::Leave(barrier) => {
                let at = spot(barrier, Sync::Barrier.bytes())?;
                let (barrier, address) = former(barrier, Sync::Barrier)?;
                let parties = self.get_bytes(address, 4) as u32;
                let round_end = self.control(thread, control::ROUND_END) as u32;
                let gate = Gate::RoundEnd { arrived: address + 4, round_end };
                let operation = match self.parting(code, thread, at) {
                    Some(barrier) => O::Part { barrier, parties },
                    None => O::Leave { barrier, parties },
                };
                Pending::when(operation, gate)
            }
            I::Send(queue) | I::TrySend(queue, _) => {
                let queue = &code.queues[queue as usize];
                let spot = spot(queue.at, 4 + queue.capacity * queue.size)?;
                let (channel, capacity) = (unit(code, spot), queue.capacity);
                let gate = Gate::Room { len: spot.address(), capacity };
                match code.instructions[pc as usize] {
                    I::Send(_) => Pending::when(O::Send { channel, capacity }, gate),
                    _ => Pending::open(O::TrySend { channel, capacity }),
                }
            }
            I::Receive(queue) | I::TryReceive(queue, _) => {
                let queue = &code.queues[queue as usize];
                let spot = spot(queue.at, 4 + queue.capacity * queue.size)?;
                let channel = unit(code, spot);
                match code.instructions[pc as usize] {
                    I::Receive(_) => {
                        Pending::when(O::Receive(channel), Gate::Message { len: spot.address() })
                    }
                    _ => Pending::open(O::TryReceive(channel)),
                }
            }
            I::Copy { visible: true, .. } | I::Fill { visible: true, .. } => {
                let Some(piece) = self.copying(code, thread, pc)? else { return Ok(None) };
                let spot = piece.from.unwrap_or(piece.to);
                let object = whole_unit(code, spot, piece.size)?;
                Pending::open(match piece.from {
                    Some(_) => O::Load(object),
                    None => O::Store(object),
                })
            }
            I::Spawn { .. } => {
                let child = self.child(thread).expect("it was named on the way here");
                Pending::open(O::Spawn(ThreadId::new(child)))
            }
            I::Join { process, .. } => {
                let target = self.joinable(self.value(code, frame, process))?;
                let gate = Gate::Ended(target as u32);
                Pending::when(O::Join(ThreadId::new(target)), gate)
            }
            I::Yield => Pending::open(O::Yield),
            I::Choose { count, .. } => Pending {
                next: Next::Enabled { operation: O::Choose, choices: count },
                gate: Gate::Open,
            },
            I::ChooseEdge { edges, .. } => {
                let (start, end) = (edges.start as usize, (edges.start + edges.len) as usize);
                let guards = code.edges[start..end].iter();
                let choices = guards.filter(|(guard, _)| self.holds(code, frame, *guard)).count();
                if choices == 0 {
                    return Ok(None);
                }
                let next = Next::Enabled { operation: O::Choose, choices: choices as u32 };
                Pending { next, gate: Gate::Open }
            }
            I::AtomicBegin => {
                let unit = code.atomic_unit.expect("a program with atomic blocks has one");
                Pending::open(O::ReadModifyWrite(ObjectId::new(unit as usize)))
            }
            _ => return Ok(None),
        }))
    }

    /// The thread of a number that may be joined.
    pub(super) fn joinable(&self, number: u64) -> Result<usize, Violation> {
        let thread = number as usize;
        if number >= self.threads.len() as u64 || self.pc(thread) == UNBORN {
            return Err(assertion(format!("{number} is joined, which is no thread")));
        }
        match self.control(thread, control::STATUS) & 0xff {
            0 => Ok(thread),
            1 => Err(assertion(format!("{} is joined twice", self.thread_text(thread)))),
            _ => {
                let thread = self.thread_text(thread);
                Err(assertion(format!("{thread} is joined and was detached")))
            }
        }
    }

    /// Whether a thread waits for a permit of the semaphore at `address`.
    pub(super) fn is_waited_for(&self, address: u32) -> bool {
        self.get_bytes(address, 4) == 0
            && self.pending.iter().any(|it| it.gate == Gate::Positive(address))
    }

    /// The threads that sleep on the condition variable at `address`.
    pub(super) fn sleepers(&self, address: u32) -> u128 {
        u128::from(self.get_bytes(address, 8)) | u128::from(self.get_bytes(address + 8, 8)) << 64
    }

    /// How often a thread has taken the lock at `address` for reading.
    pub(super) fn n_reads(&self, address: u32, thread: usize) -> u64 {
        let bit = 3 * thread as u32;
        self.get_bytes(address + 8 + bit / 8, read_bytes(thread)) >> (bit % 8) & 7
    }

    pub(super) fn set_n_reads(&mut self, address: u32, thread: usize, count: u64) {
        let bit = 3 * thread as u32;
        let at = address + 8 + bit / 8;
        let bytes = read_bytes(thread);
        let old = self.get_bytes(at, bytes);
        self.set_bytes(at, bytes, old & !(7 << (bit % 8)) | count << (bit % 8));
    }
}

/// How many bytes the three bits of a thread are in; the last thread's are in the last byte.
fn read_bytes(thread: usize) -> u32 {
    if 3 * thread % 8 > 5 { 2 } else { 1 }
}

/// The byte that says whether an object is there still; 0 for what always is.
fn life(spot: Spot) -> u32 {
    match spot.object.kind {
        Kind::Heap | Kind::Frame => spot.object.address - 8,
        Kind::Static | Kind::Constant | Kind::PerThread => 0,
    }
}

/// The unit that begins at, or contains, a place.
#[inline]
pub(super) fn unit(code: &Code, spot: Spot) -> ObjectId {
    let number = code.units[spot.object.units as usize].units.number(spot.offset);
    ObjectId::new((spot.object.first_unit + number) as usize)
}

/// The unit that an access to `size` bytes is about; an error if these are several.
#[inline]
fn whole_unit(code: &Code, spot: Spot, size: u32) -> Result<ObjectId, Violation> {
    if let Some(unit) = code.atomic_unit {
        return Ok(ObjectId::new(unit as usize));
    }
    let units = &code.units[spot.object.units as usize].units;
    let first = units.number(spot.offset);
    if units.number(spot.offset + size - 1) != first {
        return Err(memory(format!(
            "an access to {size} bytes at offset {} is to several variables at once",
            spot.offset
        )));
    }
    Ok(ObjectId::new((spot.object.first_unit + first) as usize))
}
