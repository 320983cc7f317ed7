//! Actions: what an edge does, one small step of a process.

use crate::{Expr, LayoutId, LocationId, Place, RegisterId, RoutineId, SymbolSet, Sync, Type};
use mazurka_core::{MemoryOrder, ViolationKind};

/// One small step. Whatever it computes is total; what can go wrong is a violation that the action
/// names itself ([`Action::Check`]), or that every use of memory may have (kind `memory`).
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Nothing: a guard, or a jump.
    Skip,
    /// A register gets a value.
    Assign {
        /// Which.
        to: RegisterId,
        /// What.
        value: Expr,
    },

    /// A register gets what memory holds.
    Load {
        /// The register.
        to: RegisterId,
        /// Where it is read.
        from: Place,
        /// The type it is read as.
        ty: Type,
        /// Whether others may have a say in between.
        access: Access,
    },
    /// Memory gets a value, of the value's type.
    Store {
        /// Where.
        to: Place,
        /// What.
        value: Expr,
        /// Whether others may have a say in between.
        access: Access,
    },
    /// Changes memory in one step.
    Modify {
        /// Gets what was there before.
        old: Option<RegisterId>,
        /// Where.
        on: Place,
        /// How.
        update: Update,
        /// With what; its type is that of the access.
        value: Expr,
        /// What it orders.
        order: MemoryOrder,
    },
    /// Puts a value where another one is expected, in one step. What is found there instead is
    /// left.
    CompareExchange {
        /// Gets whether it was as expected, a [`Type::BOOL`].
        success: Option<RegisterId>,
        /// Gets what was there before.
        old: Option<RegisterId>,
        /// Where.
        on: Place,
        /// What is expected; its type is that of the access.
        expected: Expr,
        /// What is put there.
        new: Expr,
        /// What it orders if it was as expected.
        order: MemoryOrder,
        /// What it orders if not, as a load.
        failure: MemoryOrder,
    },
    /// Orders accesses of its process, with others by atomic accesses around it.
    Fence(MemoryOrder),
    /// Reads memory once `until` is true, and waits before that. In `until`, the register `to` has
    /// the value that would be read.
    Await {
        /// Gets what was read.
        to: RegisterId,
        /// Where.
        from: Place,
        /// The type it is read as.
        ty: Type,
        /// What is waited for.
        until: Expr,
    },
    /// Copies bytes, as if through a buffer. Plain accesses.
    Copy {
        /// Where they go.
        to: Place,
        /// Where they come from.
        from: Place,
        /// How many, of any integer type.
        size: Expr,
    },
    /// Fills memory with one byte. Plain accesses.
    Fill {
        /// Where.
        to: Place,
        /// With what, of any integer type.
        byte: Expr,
        /// How many times, of any integer type.
        size: Expr,
    },

    /// Makes an object of so many bytes. They are zero.
    Allocate {
        /// Gets the pointer to it.
        to: RegisterId,
        /// How many bytes, of any integer type.
        size: Expr,
        /// What it is made of: this layout, again and again. `Layout::Bytes` if that is not known.
        element: LayoutId,
    },
    /// Ends an object that [`Action::Allocate`] made. Null is fine, anything else is a violation.
    Free {
        /// The pointer to its beginning.
        pointer: Expr,
    },
    /// A register gets the size of the allocated object whose beginning a pointer points to; of
    /// null, 0.
    SizeOf {
        /// The register.
        to: RegisterId,
        /// The pointer.
        pointer: Expr,
    },

    /// Runs a routine in a new frame.
    Call {
        /// Which.
        callee: Callee,
        /// Its first registers.
        arguments: Vec<Expr>,
        /// Gets what it returns.
        to: Option<RegisterId>,
    },
    /// Ends the frame. The edge leads to [`Routine::end`](crate::Routine::end).
    Return {
        /// What the caller gets; of the first frame of a process, those who join it.
        value: Option<Expr>,
    },

    /// Goes wrong unless the condition holds.
    Check {
        /// A [`Type::BOOL`].
        condition: Expr,
        /// Which property this is.
        kind: ViolationKind,
        /// What is wrong if not: a lower-case fragment without a full stop.
        message: String,
    },
    /// An execution in which the condition does not hold does not count: the process stays here for
    /// ever, and it is no deadlock.
    Assume {
        /// A [`Type::BOOL`].
        condition: Expr,
    },
    /// Others do not run from here on until the process is at as many [`Action::AtomicEnd`]s.
    AtomicBegin,
    /// See [`Action::AtomicBegin`].
    AtomicEnd,

    /// Takes edges of the routine, one behind the other, in one step that no other process can look
    /// into: at each location the first that is possible. The whole is possible if an edge of the
    /// first location is. Having to wait later is a violation of the kind `deadlock`.
    Indivisible {
        /// Where it begins.
        start: LocationId,
        /// Where it ends, and where no edge leads away from. The process is then where the edge
        /// leads.
        end: LocationId,
    },
    /// Shows a text in a simulation, with the arguments in the place of `%d` and its
    /// like.
    Print {
        /// The text, with escapes as in C.
        text: String,
        /// What is filled in.
        arguments: Vec<Expr>,
        /// Which names the values of each argument have, for `%e`.
        symbols: Vec<SymbolSet>,
    },

    /// A register gets any number from `low` to `high`. The `Vm` tries them all and refuses
    /// programs where these are more than `u32::MAX`.
    Choose {
        /// The register, an integer.
        to: RegisterId,
        /// The smallest.
        low: i64,
        /// The greatest.
        high: i64,
    },
    /// Begins or ends a wait that is excused: one with a timeout, which other executions end. While
    /// there is one, no process that waits is in a deadlock.
    Excuse {
        /// Whether it begins.
        begins: bool,
    },
    /// Lets others go first.
    Yield,

    /// Starts a process.
    Spawn {
        /// What it runs.
        routine: Callee,
        /// Its first registers.
        arguments: Vec<Expr>,
        /// Gets its number, a [`Type::U32`].
        to: Option<RegisterId>,
    },
    /// Gives a process another priority.
    SetPriority {
        /// Its number, of any integer type.
        process: Expr,
        /// The priority, of any integer type.
        priority: Expr,
    },
    /// Waits until a process has ended. Joining it twice, or one that was detached, is a violation.
    Join {
        /// Its number, a [`Type::U32`].
        process: Expr,
        /// Gets what it returned.
        to: Option<RegisterId>,
    },
    /// The process is not going to be joined.
    Detach {
        /// Its number, a [`Type::U32`].
        process: Expr,
    },
    /// Ends the process, whatever frames it has, as if the first one returned.
    ExitProcess {
        /// What those who join it get.
        value: Option<Expr>,
    },
    /// Ends the program. A process that waits then is no deadlock.
    ExitProgram,

    /// Makes a mutex free, and says which kind it is: 0 for one whose owner waits for itself for
    /// ever; 1 for one that its owner may take several times; 2 for one that tells its owner.
    MutexInit {
        /// The mutex.
        mutex: Place,
        /// The kind.
        kind: Expr,
    },
    /// Takes a mutex, waiting for it.
    Lock {
        /// The mutex.
        mutex: Place,
        /// Gets 0, or 1 if the mutex is of kind 2 and the process has it already.
        to: Option<RegisterId>,
    },
    /// Takes a mutex if that is possible at once.
    TryLock {
        /// The mutex.
        mutex: Place,
        /// Gets whether it was, a [`Type::BOOL`].
        to: Option<RegisterId>,
    },
    /// Gives a mutex back. One that the process has not got: a violation, but for a mutex of kind
    /// 2.
    Unlock {
        /// The mutex.
        mutex: Place,
        /// Gets 0, or 1 if the mutex is of kind 2 and the process has not got it.
        to: Option<RegisterId>,
    },

    /// Takes a reader-writer lock for reading, waiting for it.
    ReadLock(Place),
    /// Takes a reader-writer lock for writing, waiting for it.
    WriteLock(Place),
    /// Takes a reader-writer lock for reading if that is possible at once; the register gets
    /// whether it was.
    TryReadLock(Place, Option<RegisterId>),
    /// Takes a reader-writer lock for writing if that is possible at once; the register gets
    /// whether it was.
    TryWriteLock(Place, Option<RegisterId>),
    /// Gives back a reader-writer lock, whichever way the process has it; a violation if it has
    /// not.
    ReadWriteUnlock(Place),

    /// Gives a mutex back and sleeps until it is notified; then takes the mutex again.
    Wait {
        /// The condition variable.
        condvar: Place,
        /// The mutex; a violation if the process has not got it.
        mutex: Place,
    },
    /// Wakes one that sleeps, any of them.
    NotifyOne(Place),
    /// Wakes all that sleep.
    NotifyAll(Place),

    /// Gives a semaphore its first permits.
    SemaphoreInit {
        /// The semaphore.
        semaphore: Place,
        /// How many, of any integer type.
        permits: Expr,
    },
    /// Takes a permit, waiting for one.
    SemaphoreAcquire(Place),
    /// Takes a permit if there is one; the register gets whether there was.
    SemaphoreTryAcquire(Place, Option<RegisterId>),
    /// Gives a permit.
    SemaphoreRelease(Place),
    /// The register gets the number of permits.
    SemaphoreValue(Place, RegisterId),

    /// Says how many make a round at a barrier.
    BarrierInit {
        /// The barrier.
        barrier: Place,
        /// How many, of any integer type; a violation if that is 0.
        parties: Expr,
    },
    /// Waits until a round is complete; the register gets whether the process was the last.
    BarrierWait(Place, Option<RegisterId>),

    /// Puts something to synchronise on, but a barrier, into its first state.
    Reset(Sync, Place),
    /// Ends something to synchronise on; a violation if a process has it or waits for it. Using it
    /// from then on is a violation, too, until it is made again.
    Destroy(Sync, Place),

    /// Puts a message into a channel, waiting for room; into one for a rendezvous, waiting for a
    /// process that takes it in the same step.
    Send(Message),
    /// Puts a message into a channel if there is room; the register gets whether there was.
    TrySend(Message, Option<RegisterId>),
    /// Takes a message out of a channel, waiting for one that fits.
    Receive(Message),
    /// Takes a message out of a channel if there is one that fits; the register gets whether there
    /// was.
    TryReceive(Message, Option<RegisterId>),
}

/// Whether an access to memory is an operation of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Always: an atomic access of this order. Or one that the source language defines to be, such
    /// as all those of Promela.
    Atomic(MemoryOrder),
    /// Always, and as if it were atomic and relaxed, which its language does not promise: it is
    /// seen in the order of the program, races with plain accesses, and orders nothing.
    Volatile,
    /// As asked for: watched for data races, or an operation like an atomic one.
    Plain,
    /// Never, and races are not looked for. For memory of which the front end knows that one
    /// process at a time can use it.
    Private,
}

impl Access {
    /// An atomic access that is sequentially consistent.
    pub const ATOMIC: Self = Self::Atomic(MemoryOrder::SequentiallyConsistent);

    /// What it orders, if it is an operation whatever is asked for.
    pub fn order(self) -> Option<MemoryOrder> {
        match self {
            Self::Atomic(order) => Some(order),
            Self::Volatile => Some(MemoryOrder::Relaxed),
            Self::Plain | Self::Private => None,
        }
    }
}

/// How [`Action::Modify`] changes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// The value takes the place of the old one.
    Exchange,
    /// The sum, wrapped around.
    Add,
    /// The difference, wrapped around.
    Subtract,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise and, every bit flipped.
    Nand,
    /// The smaller one.
    Minimum,
    /// The greater one.
    Maximum,
}

/// What is called or started.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// This routine.
    Routine(RoutineId),
    /// The routine that a pointer points to. Anything else is a violation of the kind `memory`.
    Pointer(Expr),
}

/// One message, sent or received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The channel: an object, or a part of one, with a
    /// [`Layout::Channel`](crate::Layout::Channel).
    pub channel: Place,
    /// Its layout, if that is known before the program runs.
    pub layout: Option<LayoutId>,
    /// Its fields, as many as the channel has.
    pub fields: Vec<MessageField>,
    /// Sent: not to the end of the queue, but before the first message that is greater. Received:
    /// not the oldest message, but the oldest that fits.
    pub anywhere: bool,
    /// Received: leave it in the channel.
    pub keep: bool,
}

/// A field of a message, sent or received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageField {
    /// Sent: this value. Received: only a message with this value fits.
    Value(Expr),
    /// Received: goes nowhere.
    Ignore,
    /// Received: goes into a register.
    Register(RegisterId),
    /// Received: goes into memory, as a value of this type.
    Place(Place, Type),
}

impl Action {
    /// Whether it is an operation of its own, given whether plain accesses are.
    pub fn is_visible(&self, plain_accesses_are: bool) -> bool {
        match self {
            Self::Skip
            | Self::Assign { .. }
            | Self::Allocate { .. }
            | Self::Free { .. }
            | Self::SizeOf { .. }
            | Self::Call { .. }
            | Self::Return { .. }
            | Self::Check { .. }
            | Self::Assume { .. }
            | Self::AtomicEnd
            | Self::Fence(_)
            | Self::Detach { .. }
            | Self::ExitProcess { .. }
            | Self::ExitProgram
            | Self::Excuse { .. }
            | Self::Print { .. }
            | Self::MutexInit { .. }
            | Self::Reset(..)
            | Self::Destroy(..)
            | Self::SemaphoreInit { .. }
            | Self::BarrierInit { .. } => false,
            Self::Load { access, .. } | Self::Store { access, .. } => match access {
                Access::Atomic(_) | Access::Volatile => true,
                Access::Plain => plain_accesses_are,
                Access::Private => false,
            },
            Self::Copy { .. } | Self::Fill { .. } => plain_accesses_are,
            _ => true,
        }
    }

    /// Calls `visit` with all places that it uses.
    pub fn visit_places<'a>(&'a self, visit: &mut dyn FnMut(&'a Place)) {
        self.visit_parts(&mut |part| {
            if let Part::Place(place) = part {
                visit(place);
            }
        });
    }

    /// Calls `visit` with all expressions that it computes, outer ones first, those of its places
    /// too.
    pub fn visit_expressions<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        self.visit_parts(&mut |part| match part {
            Part::Place(place) => place.visit(visit),
            Part::Value(value) => value.visit(visit),
        });
    }

    /// The registers that it sets.
    pub fn targets(&self) -> Vec<RegisterId> {
        match self {
            Self::Assign { to, .. }
            | Self::Load { to, .. }
            | Self::Await { to, .. }
            | Self::Allocate { to, .. }
            | Self::SizeOf { to, .. }
            | Self::Choose { to, .. }
            | Self::SemaphoreValue(_, to) => vec![*to],
            Self::Modify { old, .. } => old.iter().copied().collect(),
            Self::CompareExchange { success, old, .. } => {
                success.iter().chain(old).copied().collect()
            }
            Self::Call { to, .. }
            | Self::Spawn { to, .. }
            | Self::Join { to, .. }
            | Self::Lock { to, .. }
            | Self::TryLock { to, .. }
            | Self::Unlock { to, .. }
            | Self::TryReadLock(_, to)
            | Self::TryWriteLock(_, to)
            | Self::SemaphoreTryAcquire(_, to)
            | Self::BarrierWait(_, to) => to.iter().copied().collect(),
            Self::TrySend(_, to) => to.iter().copied().collect(),
            Self::Receive(message) => message.targets().collect(),
            Self::TryReceive(message, to) => message.targets().chain(*to).collect(),
            _ => Vec::new(),
        }
    }

    fn visit_parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        use Part::{Place, Value};
        match self {
            Self::Skip
            | Self::Indivisible { .. }
            | Self::AtomicBegin
            | Self::Fence(_)
            | Self::AtomicEnd
            | Self::Choose { .. }
            | Self::Yield
            | Self::Excuse { .. }
            | Self::ExitProgram => {}
            Self::Assign { value, .. } => visit(Value(value)),
            Self::Load { from, .. } => visit(Place(from)),
            Self::Store { to, value, .. } => {
                visit(Place(to));
                visit(Value(value));
            }
            Self::Modify { on, value, .. } => {
                visit(Place(on));
                visit(Value(value));
            }
            Self::CompareExchange { on, expected, new, .. } => {
                visit(Place(on));
                visit(Value(expected));
                visit(Value(new));
            }
            Self::Await { from, until, .. } => {
                visit(Place(from));
                visit(Value(until));
            }
            Self::Copy { to, from, size } => {
                visit(Place(to));
                visit(Place(from));
                visit(Value(size));
            }
            Self::Fill { to, byte, size } => {
                visit(Place(to));
                visit(Value(byte));
                visit(Value(size));
            }
            Self::Allocate { size, .. } => visit(Value(size)),
            Self::Free { pointer } | Self::SizeOf { pointer, .. } => visit(Value(pointer)),
            Self::Call { callee, arguments, .. }
            | Self::Spawn { routine: callee, arguments, .. } => {
                if let Callee::Pointer(pointer) = callee {
                    visit(Value(pointer));
                }
                arguments.iter().for_each(|argument| visit(Value(argument)));
            }
            Self::Return { value } | Self::ExitProcess { value } => {
                value.iter().for_each(|value| visit(Value(value)));
            }
            Self::Check { condition, .. } | Self::Assume { condition } => visit(Value(condition)),
            Self::Print { arguments, .. } => {
                arguments.iter().for_each(|argument| visit(Value(argument)));
            }
            Self::SetPriority { process, priority } => {
                visit(Value(process));
                visit(Value(priority));
            }
            Self::Join { process, .. } | Self::Detach { process } => visit(Value(process)),
            Self::MutexInit { mutex, kind } => {
                visit(Place(mutex));
                visit(Value(kind));
            }
            Self::Lock { mutex, .. } | Self::TryLock { mutex, .. } | Self::Unlock { mutex, .. } => {
                visit(Place(mutex))
            }
            Self::ReadLock(place)
            | Self::WriteLock(place)
            | Self::TryReadLock(place, _)
            | Self::TryWriteLock(place, _)
            | Self::ReadWriteUnlock(place)
            | Self::Reset(_, place)
            | Self::Destroy(_, place)
            | Self::NotifyOne(place)
            | Self::NotifyAll(place)
            | Self::SemaphoreAcquire(place)
            | Self::SemaphoreTryAcquire(place, _)
            | Self::SemaphoreRelease(place)
            | Self::SemaphoreValue(place, _)
            | Self::BarrierWait(place, _) => visit(Place(place)),
            Self::Wait { condvar, mutex } => {
                visit(Place(condvar));
                visit(Place(mutex));
            }
            Self::SemaphoreInit { semaphore: place, permits: value }
            | Self::BarrierInit { barrier: place, parties: value } => {
                visit(Place(place));
                visit(Value(value));
            }
            Self::Send(message)
            | Self::TrySend(message, _)
            | Self::Receive(message)
            | Self::TryReceive(message, _) => message.visit_parts(visit),
        }
    }
}

impl Message {
    /// Calls `visit` with all expressions in it, outer ones first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        self.visit_parts(&mut |part| match part {
            Part::Place(place) => place.visit(visit),
            Part::Value(value) => value.visit(visit),
        });
    }

    fn visit_parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        visit(Part::Place(&self.channel));
        for field in &self.fields {
            match field {
                MessageField::Value(value) => visit(Part::Value(value)),
                MessageField::Place(place, _) => visit(Part::Place(place)),
                MessageField::Ignore | MessageField::Register(_) => {}
            }
        }
    }

    fn targets(&self) -> impl Iterator<Item = RegisterId> {
        self.fields.iter().filter_map(|field| match field {
            MessageField::Register(register) => Some(*register),
            _ => None,
        })
    }
}

/// Something that an action is made of.
enum Part<'a> {
    Place(&'a Place),
    Value(&'a Expr),
}
