//! What a thread would do next, and whether it can.
//!
//! Engines ask this of every thread at every step, so the answer is prepared for each place a
//! thread can stand at: one look at a [`Point`], and at most three cells.

use super::code::{Cell, Code, HALT, Instruction, Operand, Queue, Update, Variable};
use super::machine::Machine;
use Instruction as I;
use mazurka_core::{Next, ObjectId, Operation, ThreadId};

/// A place that a thread can stand at: what is next there if it is possible, and when it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    next: Next,
    gate: Gate,
}

/// When an operation is possible.
#[derive(Clone, Copy, Debug)]
enum Gate {
    /// Always.
    Open,
    /// An element of an array, which only the state can tell.
    Element,
    /// When the variable is as wished.
    Await,
    /// Always; as what, the value of the variable decides.
    Comparison,
    /// When the cell is zero.
    Free(Cell),
    /// When the cell and the next one are zero.
    BothFree(Cell),
    /// When the mutex is free and the thread does not sleep.
    Awake {
        condvar: Cell,
        mutex: Cell,
    },
    Positive(Cell),
    /// When as many have arrived as make the round complete.
    RoundEnd {
        arrived: Cell,
        round_end: Cell,
    },
    Room {
        head: Cell,
        capacity: u32,
    },
    Message {
        head: Cell,
    },
    Ended(ThreadId),
    Woken(Cell),
    /// Always, once for each sleeper.
    Sleepers(Cell),
}

impl Point {
    pub(super) fn of(instruction: &Instruction) -> Self {
        let gate = match *instruction {
            I::Update { update: Update::CompareAndSwap { .. }, .. } => Gate::Comparison,
            I::Load { from: on, .. }
            | I::Branch { on, .. }
            | I::Store { to: on, .. }
            | I::Update { on, .. }
            | I::Sleep { on, .. } => match on.index {
                Operand::Constant(_) => Gate::Open,
                _ => Gate::Element,
            },
            I::Await { .. } => Gate::Await,
            I::Acquire(site) | I::ReadAcquire(site) => Gate::Free(site.cell),
            I::WriteAcquire(site) => Gate::BothFree(site.cell),
            I::Reacquire { condvar, mutex } => {
                Gate::Awake { condvar: condvar.cell, mutex: mutex.cell }
            }
            I::Resume(condvar) => Gate::Woken(condvar.cell),
            I::NotifyOne(site) => Gate::Sleepers(site.cell),
            I::Down { semaphore, .. } => Gate::Positive(semaphore.cell),
            I::Leave { barrier, round_end, .. } => {
                Gate::RoundEnd { arrived: barrier.cell, round_end }
            }
            I::Send { queue, .. } if queue.capacity != u32::MAX => {
                Gate::Room { head: queue.head, capacity: queue.capacity }
            }
            I::Receive { queue, .. } => Gate::Message { head: queue.head },
            I::Join(target) => Gate::Ended(target),
            _ => Gate::Open,
        };
        let next = match (instruction, instruction.operation()) {
            (I::Unborn, _) => Next::Unborn,
            (I::Choose { alternatives, .. }, Some(operation)) => {
                Next::Enabled { operation, choices: *alternatives }
            }
            (_, Some(operation)) => Next::enabled(operation),
            // No thread stands before an invisible instruction.
            (_, None) => Next::Finished,
        };
        Self { next, gate }
    }
}

impl Machine {
    pub(crate) fn next(&self, code: &Code, thread: ThreadId) -> Next {
        let thread_idx = thread.index();
        let pc = self.pc(thread_idx) as usize;
        let Point { next, gate } = &code.points[pc];
        let is_possible = match *gate {
            Gate::Open => return *next,
            Gate::Free(cell) => self.get(cell) == 0,
            Gate::BothFree(cell) => self.get(cell) == 0 && self.get(cell + 1) == 0,
            Gate::Awake { condvar, mutex } => {
                self.get(mutex) == 0 && self.sleepers(condvar) >> thread_idx & 1 == 0
            }
            Gate::Woken(condvar) => self.sleepers(condvar) >> thread_idx & 1 == 0,
            Gate::Positive(cell) => self.get(cell) > 0,
            Gate::RoundEnd { arrived, round_end } => self.get(arrived) >= self.get(round_end),
            Gate::Room { head, capacity } => self.len(head) < i64::from(capacity),
            Gate::Message { head } => self.len(head) > 0,
            Gate::Ended(target) => self.pc(target.index()) == HALT,
            Gate::Sleepers(cell) => {
                let n_sleepers = self.sleepers(cell).count_ones();
                return match *next {
                    Next::Enabled { operation, .. } => {
                        Next::Enabled { operation, choices: n_sleepers.max(1) }
                    }
                    other => other,
                };
            }
            Gate::Element | Gate::Await | Gate::Comparison => return self.next_access(code, pc),
        };
        match next.operation() {
            Some(operation) if !is_possible => Next::Blocked(operation),
            _ => *next,
        }
    }

    /// Whether a thread is at a compare-and-swap.
    pub(crate) fn compares(&self, code: &Code, thread: ThreadId) -> bool {
        matches!(code.points[self.pc(thread.index()) as usize].gate, Gate::Comparison)
    }

    /// The next access to a variable, where the state decides which one or whether.
    fn next_access(&self, code: &Code, pc: usize) -> Next {
        let object = |variable: &Variable| {
            ObjectId::new(variable.object as usize + self.value(code, variable.index) as usize)
        };
        match &code.instructions[pc] {
            I::Load { from: on, .. } | I::Branch { on, .. } => {
                Next::enabled(Operation::Load(object(on)))
            }
            I::Store { to, .. } => Next::enabled(Operation::Store(object(to))),
            I::Update { on, update: Update::CompareAndSwap { expected, .. }, .. } => {
                match self.get(self.cell(code, on)) == self.value(code, *expected) {
                    true => Next::enabled(Operation::ReadModifyWrite(object(on))),
                    false => Next::enabled(Operation::Load(object(on))),
                }
            }
            I::Update { on, addition, .. } => {
                Next::enabled(addition.unwrap_or(Operation::ReadModifyWrite)(object(on)))
            }
            I::Sleep { condvar, on, .. } => {
                Next::enabled(Operation::FutexWait { word: object(on), queue: condvar.object })
            }
            I::Await { on, relation, value, new } => {
                let operation = match new {
                    Some(_) => Operation::AwaitModify(object(on)),
                    None => Operation::Await(object(on)),
                };
                let seen = self.get(self.cell(code, on));
                match relation.holds(seen, self.value(code, *value)) {
                    true => Next::enabled(operation),
                    false => Next::Blocked(operation),
                }
            }
            other => unreachable!("{other:?} is about no variable"),
        }
    }

    /// How many messages are in the channel whose cells begin at `head`.
    pub(super) fn len(&self, head: Cell) -> i64 {
        self.get(head + 1) - self.get(head)
    }

    pub(super) fn has_room(&self, queue: &Queue) -> bool {
        queue.capacity == u32::MAX || self.len(queue.head) < i64::from(queue.capacity)
    }
}

impl Instruction {
    /// The operation of a visible instruction. Of an element whose index is not known, the one on
    /// the first element.
    pub(super) fn operation(&self) -> Option<Operation> {
        use Operation as O;
        Some(match *self {
            I::Load { from: on, .. } | I::Branch { on, .. } => O::Load(on.object()),
            I::Store { to, .. } => O::Store(to.object()),
            I::Update { on, addition, .. } => addition.unwrap_or(O::ReadModifyWrite)(on.object()),
            I::Await { on, new: Some(_), .. } => O::AwaitModify(on.object()),
            I::Await { on, new: None, .. } => O::Await(on.object()),
            I::Acquire(site) => O::Acquire(site.object),
            I::TryAcquire(site, _) => O::TryAcquire(site.object),
            I::Release(site) => O::Release(site.object),
            I::ReadAcquire(site) => O::ReadAcquire(site.object),
            I::TryReadAcquire(site, _) => O::TryReadAcquire(site.object),
            I::ReadRelease(site) => O::ReadRelease(site.object),
            I::WriteAcquire(site) => O::WriteAcquire(site.object),
            I::TryWriteAcquire(site, _) => O::TryWriteAcquire(site.object),
            I::WriteRelease(site) => O::WriteRelease(site.object),
            I::Wait { condvar, mutex } => O::Wait { condvar: condvar.object, mutex: mutex.object },
            I::Reacquire { condvar, mutex } => {
                O::Reacquire { condvar: condvar.object, mutex: mutex.object }
            }
            I::Sleep { condvar, on, .. } => {
                O::FutexWait { word: on.object(), queue: condvar.object }
            }
            I::Resume(condvar) => O::FutexResume(condvar.object),
            I::Expire(condvar, _) => O::Expire(condvar.object),
            I::NotifyOne(site) => O::NotifyOne(site.object),
            I::NotifyAll(site) => O::NotifyAll(site.object),
            I::Down { semaphore, permits } => {
                O::SemaphoreAcquire { semaphore: semaphore.object, permits }
            }
            I::TryDown { semaphore, permits, .. } => {
                O::SemaphoreTryAcquire { semaphore: semaphore.object, permits }
            }
            I::Up(site) => O::SemaphoreRelease(site.object),
            I::Arrive { barrier, .. } => O::Arrive(barrier.object),
            I::Leave { barrier, parties, .. } => O::Leave { barrier: barrier.object, parties },
            I::Send { queue, .. } => O::Send { channel: queue.object, capacity: queue.capacity },
            I::TrySend { queue, .. } => {
                O::TrySend { channel: queue.object, capacity: queue.capacity }
            }
            I::Receive { queue, .. } => O::Receive(queue.object),
            I::TryReceive { queue, .. } => O::TryReceive(queue.object),
            I::Spawn(target) => O::Spawn(target),
            I::Join(target) => O::Join(target),
            I::Yield => O::Yield,
            I::Choose { .. } => O::Choose,
            I::Unborn
            | I::Halt
            | I::Set { .. }
            | I::PlainLoad { .. }
            | I::PlainStore { .. }
            | I::Fence(_)
            | I::Jump(_)
            | I::JumpUnless { .. }
            | I::Assert { .. }
            | I::Check { .. } => return None,
        })
    }
}
