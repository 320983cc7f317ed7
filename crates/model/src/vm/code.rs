//! Bytecode: a flat vector of instructions over registers and memory.

use super::awaits::Awaits;
use super::foresight::Futures;
use super::liveness::Lives;
use super::units::Units;
use crate::{Binary, Compare, Overflow, Span, Sync, Type, Unary, Update};
use mazurka_core::{MemoryOrder, ViolationKind};

/// The number of an instruction.
pub(super) type Pc = u32;

/// Where a thread stands that has not been spawned.
pub(super) const UNBORN: Pc = 0;

/// Where a thread stands that has ended.
pub(super) const HALT: Pc = 1;

/// Where a thread stands whose assumption failed: it does not end, and does nothing.
pub(super) const STUCK: Pc = 2;

/// A compiled program. It does not change while it runs, so clones share it.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
    /// Where each instruction stands in the source, and in which routine.
    pub(super) origins: Vec<(Span, u32)>,
    pub(super) nodes: Vec<Node>,
    pub(super) constants: Vec<u64>,
    pub(super) routines: Vec<RoutineCode>,
    /// For calls: the arguments of one behind those of the other.
    pub(super) arguments: Vec<Operand>,
    pub(super) queues: Vec<Queue>,
    /// For locations with a choice: the guard of each edge, and where it goes on.
    pub(super) edges: Vec<(Operand, Pc)>,
    pub(super) texts: Vec<String>,
    /// The objects of the program; of those that every thread has its own of, the first values.
    pub(super) objects: Vec<ObjectInfo>,
    /// Which objects every thread has its own of, in the order in which it makes them.
    pub(super) per_thread: Vec<u32>,
    /// How the bytes of objects are numbered, for each layout that is used.
    pub(super) units: Vec<Units>,
    /// The bytes of all objects in the beginning, as words.
    pub(super) memory: Vec<u64>,
    /// How many numbers the units of static objects take, and their pieces.
    pub(super) n_units: u32,
    pub(super) n_pieces: u32,
    /// Of each object, the bytes of an element (of what is no array, all), and how many units that
    /// has.
    pub(super) element_sizes: Vec<u32>,
    pub(super) element_units: Vec<u32>,
    /// What may come from each instruction on.
    pub(super) futures: Futures,
    /// Which registers decide something before each instruction.
    pub(super) lives: Lives,
    /// Which reads may be taken again: see `reread.rs`.
    pub(super) retries: Vec<bool>,
    /// Which loads are loops that await something.
    pub(super) awaits: Awaits,
    /// Whether some action makes or ends things to synchronise on.
    pub(super) has_lifecycle: bool,
    /// Whether no thread looks at who was the last at a barrier, and there is one: see
    /// `meetings.rs`.
    pub(super) are_arrivals_alike: bool,
    /// Whether there is memory that plain accesses and atomic operations may both come to.
    pub(super) is_mixed: bool,
    /// The unit that stands for all that atomic blocks touch, if there are any.
    pub(super) atomic_unit: Option<u32>,
}

/// A compiled routine.
#[derive(Clone, Debug)]
pub(super) struct RoutineCode {
    /// A yield, and behind it the routine itself.
    pub(super) begin: Pc,
    pub(super) n_registers: u32,
    /// The types of the parameters: what a call through a pointer passes is converted.
    pub(super) parameters: Vec<Type>,
    /// Size and units of each local whose address is taken.
    pub(super) objects: Vec<(u32, u32)>,
    /// Where each location begins that anybody can come to.
    pub(super) locations: Vec<Option<Pc>>,
}

/// An object of the program, or one that was made on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ObjectInfo {
    /// The byte of memory where it begins: a multiple of 8.
    pub(super) address: u32,
    pub(super) size: u32,
    /// How its bytes are numbered.
    pub(super) units: u32,
    /// The number of its first unit, and that of its first piece.
    pub(super) first_unit: u32,
    pub(super) first_piece: u32,
    pub(super) kind: Kind,
    pub(super) origin: Origin,
}

/// What in the program has made an object, for its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is not known, or the object was there from the beginning.
    Unknown,
    /// The instruction that has allocated it.
    Allocated(Pc),
    /// It is this local of a routine.
    Local {
        /// The routine.
        routine: u32,
        /// Which of its locals whose addresses are taken.
        number: u32,
    },
    /// It is a thread's own copy of this object of the program.
    Own(u32),
}

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Static,
    Constant,
    Heap,
    Frame,
    PerThread,
}

/// Where a value comes from: 2 bits of kind, 30 bits of number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand(u32);

/// An [`Operand`] taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Register(u32),
    Constant(u32),
    Node(u32),
    /// The value that an await would read.
    Seen,
}

impl Operand {
    pub(super) fn new(source: Source) -> Self {
        let (kind, number) = match source {
            Source::Register(number) => (0, number),
            Source::Constant(number) => (1, number),
            Source::Node(number) => (2, number),
            Source::Seen => (3, 0),
        };
        assert!(number < 1 << 30, "a program has fewer than 2^30 of everything");
        Self(kind << 30 | number)
    }

    #[inline]
    pub(super) fn source(self) -> Source {
        let number = self.0 & 0x3fff_ffff;
        match self.0 >> 30 {
            0 => Source::Register(number),
            1 => Source::Constant(number),
            2 => Source::Node(number),
            _ => Source::Seen,
        }
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.source().fmt(f)
    }
}

/// One operator of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) left: Operand,
    pub(super) right: Operand,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// The most common ones, of signed integers that have 32 bits or all of them.
    AddI32,
    AddI64,
    MultiplyI64,
    Binary(Binary, Type, Type),
    Compare(Compare, Type),
    /// The same, of integers with a sign.
    CompareSigned(Compare),
    Overflows(Overflow, Type),
    Unary(Unary, Type),
    Convert {
        from: Type,
        to: Type,
    },
    /// The condition; the two values are left and right of the next node.
    If,
    /// Only the next node's parts, never computed itself.
    Parts,
    Offset,
    /// The pointer to an object of the thread, `right` bytes on.
    PerThread(u32),
    /// The pointer to a local, `right` bytes on.
    Frame(u32),
    Thread,
}

/// Where in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) base: AddressBase,
    pub(super) offset: Operand,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum AddressBase {
    Static(u32),
    PerThread(u32),
    Frame(u32),
    Pointer(Operand),
}

/// A range of [`Code::arguments`] or [`Code::edges`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Which routine is called: this one, or the one a pointer points to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Routine(u32),
    Pointer(Operand),
}

/// How many words of a stack are about the thread, before its first frame.
pub(super) const CONTROL: usize = 15;

/// No register.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A channel in use: where it is, and what is done with the fields of a message.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) at: Address,
    pub(super) capacity: u32,
    pub(super) fields: Vec<(QueueField, Type)>,
    /// The bytes of a message.
    pub(super) size: u32,
}

/// What is done with a field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum QueueField {
    Send(Operand),
    /// Goes into this register, or [`NOWHERE`].
    Receive(u32),
}

/// One instruction. A thread always stands before a visible one, or at one of the first three.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Unborn,
    Halt,
    Stuck,

    // What is visible; loads and stores only if they are said to be.
    Load {
        visible: bool,
        watched: bool,
        order: MemoryOrder,
        to: u32,
        from: Address,
        ty: Type,
    },
    Store {
        visible: bool,
        watched: bool,
        order: MemoryOrder,
        to: Address,
        value: Operand,
        ty: Type,
    },
    Modify {
        order: MemoryOrder,
        old: u32,
        on: Address,
        update: Update,
        value: Operand,
        ty: Type,
    },
    CompareExchange {
        /// In success and in failure.
        orders: [MemoryOrder; 2],
        success: u32,
        old: u32,
        on: Address,
        expected: Operand,
        new: Operand,
        ty: Type,
    },
    Await {
        to: u32,
        from: Address,
        until: Operand,
        ty: Type,
    },
    Lock {
        mutex: Address,
        to: u32,
    },
    TryLock {
        mutex: Address,
        to: u32,
    },
    Unlock {
        mutex: Address,
        to: u32,
    },
    ReadLock(Address),
    WriteLock(Address),
    TryReadLock(Address, u32),
    TryWriteLock(Address, u32),
    ReadWriteUnlock(Address),
    Wait {
        condvar: Address,
        mutex: Address,
    },
    Reacquire {
        condvar: Address,
        mutex: Address,
    },
    NotifyOne(Address),
    NotifyAll(Address),
    SemaphoreAcquire(Address),
    SemaphoreTryAcquire(Address, u32),
    SemaphoreRelease(Address),
    SemaphoreValue(Address, u32),
    Arrive(Address, u32),
    Leave(Address),
    Send(u32),
    TrySend(u32, u32),
    Receive(u32),
    TryReceive(u32, u32),
    Spawn {
        target: Target,
        arguments: Arguments,
        to: u32,
    },
    Join {
        process: Operand,
        to: u32,
    },
    Yield,
    Choose {
        to: u32,
        low: i64,
        count: u32,
    },
    /// Any of these [`Code::edges`] whose guards hold, or else `otherwise`.
    ChooseEdge {
        edges: Arguments,
        otherwise: Pc,
    },
    AtomicBegin,
    Fence(MemoryOrder),

    // The rest is invisible.
    AtomicEnd,
    Assign {
        to: u32,
        value: Operand,
    },
    Jump(Pc),
    JumpUnless {
        condition: Operand,
        otherwise: Pc,
    },
    /// The process cannot go on.
    NoWay,
    Check {
        condition: Operand,
        kind: ViolationKind,
        text: u32,
    },
    Assume {
        condition: Operand,
    },
    Copy {
        visible: bool,
        to: Address,
        from: Address,
        size: Operand,
    },
    Fill {
        visible: bool,
        to: Address,
        byte: Operand,
        size: Operand,
    },
    Allocate {
        to: u32,
        size: Operand,
        units: u32,
    },
    Free {
        pointer: Operand,
    },
    SizeOf {
        to: u32,
        pointer: Operand,
    },
    Call {
        target: Target,
        arguments: Arguments,
        to: u32,
    },
    Return {
        value: Option<Operand>,
    },
    ExitProcess {
        value: Option<Operand>,
    },
    ExitProgram,
    Excuse {
        begins: bool,
    },
    Detach {
        process: Operand,
    },
    MutexInit {
        mutex: Address,
        kind: Operand,
    },
    Reset(Sync, Address),
    Destroy(Sync, Address),
    SemaphoreInit {
        semaphore: Address,
        permits: Operand,
    },
    BarrierInit {
        barrier: Address,
        parties: Operand,
    },
}
