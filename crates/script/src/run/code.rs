//! What a script is compiled to: a flat vector of instructions over a flat vector of cells.

use super::foresight::Futures;
use super::next::Point;
use crate::ast::{BinaryOp, Relation};
use mazurka_core::{MemoryOrder, ObjectId, Operation, Tests, ThreadId};

/// The number of a cell of the state. The first cells are the threads' program counters.
pub(super) type Cell = u32;

/// The number of an instruction.
pub(super) type Pc = u32;

/// Where a thread stands that has not been spawned.
pub(super) const UNBORN: Pc = 0;

/// Where a thread stands that has ended.
pub(super) const HALT: Pc = 1;

/// A compiled script. It does not change while it runs, so clones share it.
#[derive(Debug)]
pub(crate) struct Code {
    pub(super) instructions: Vec<Instruction>,
    /// For each instruction, what [`Machine::next`](super::Machine::next) needs of it.
    pub(super) points: Vec<Point>,
    pub(super) nodes: Vec<Node>,
    /// The state after [`reset`](mazurka_core::System::reset).
    pub(super) initial: Vec<i64>,
    /// The cells below are the state itself; those from here on say where the queues begin and
    /// end, and two equal states may differ in them.
    pub(super) n_canonical: usize,
    pub(super) n_channels: usize,
    /// Where each thread begins.
    pub(super) starts: Vec<Pc>,
    pub(crate) object_names: Vec<String>,
    pub(crate) memory_names: Vec<String>,
    /// The texts of assertions and the names of arrays, for messages.
    pub(super) texts: Vec<String>,
    /// The cells of all variables, then of plain memory, then of all locals.
    pub(super) outcome: Vec<Cell>,
    pub(super) futures: Futures,
}

impl Code {
    pub(crate) fn n_threads(&self) -> usize {
        self.starts.len()
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Constant(i64),
    Cell(Cell),
    Node(u32),
}

/// One operator of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) left: Operand,
    pub(super) op: BinaryOp,
    pub(super) right: Operand,
}

/// A variable, or the element `index` of the `len` that begin there.
///
/// A constant index is 0: the object is then the element itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub(super) object: u32,
    pub(super) cell: Cell,
    pub(super) index: Operand,
    pub(super) len: u32,
    pub(super) order: MemoryOrder,
}

impl Variable {
    /// The variable, or the first of the elements that it can be.
    pub(super) fn object(&self) -> ObjectId {
        ObjectId::new(self.object as usize)
    }
}

/// An object and the first of its cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) object: ObjectId,
    pub(super) cell: Cell,
}

/// A channel: how many messages were ever received is in the cell `head`, how many were ever
/// sent in the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) object: ObjectId,
    pub(super) head: Cell,
    pub(super) channel: u32,
    pub(super) capacity: u32,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    pub(super) left: Operand,
    pub(super) relation: Relation,
    pub(super) right: Operand,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Update {
    CompareAndSwap { expected: Operand, new: Operand },
    Add(Operand),
    Count { value: Operand, expected: i64 },
    Swap(Operand),
}

impl Update {
    /// What the thread learns of the variable, if it adds to it and has a place for the answer.
    pub(super) fn tests(&self, has_place: bool) -> Option<Tests> {
        match *self {
            Self::Add(_) if !has_place => Some(Tests::NONE),
            Self::Count { .. } if !has_place => Some(Tests::NONE),
            Self::Count { expected, .. } => Tests::NONE.and_equal(expected),
            _ => None,
        }
    }
}

/// One instruction. A thread always stands before a visible one, or at one of the first two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Unborn,
    Halt,

    Load {
        from: Variable,
        to: Cell,
    },
    Store {
        to: Variable,
        value: Operand,
    },
    Update {
        on: Variable,
        update: Update,
        to: Option<Cell>,
        /// What kind of operation it is, if not a read-modify-write.
        addition: Option<fn(ObjectId) -> Operation>,
    },
    Await {
        on: Variable,
        relation: Relation,
        value: Operand,
        /// What is written in the same step.
        new: Option<Operand>,
    },
    /// A load that jumps unless what it read is as wished.
    Branch {
        on: Variable,
        relation: Relation,
        value: Operand,
        otherwise: Pc,
    },

    Acquire(Site),
    TryAcquire(Site, Option<Cell>),
    Release(Site),
    ReadAcquire(Site),
    TryReadAcquire(Site, Option<Cell>),
    ReadRelease(Site),
    WriteAcquire(Site),
    TryWriteAcquire(Site, Option<Cell>),
    WriteRelease(Site),

    Wait {
        condvar: Site,
        mutex: Site,
    },
    Reacquire {
        condvar: Site,
        mutex: Site,
    },
    /// Goes to sleep, or jumps over the [`Resume`](Self::Resume) behind it.
    Sleep {
        condvar: Site,
        on: Variable,
        value: Operand,
    },
    Resume(Site),
    /// Sleeps no longer, if it was not woken before.
    Expire(Site, Option<Cell>),
    NotifyOne(Site),
    NotifyAll(Site),

    Down {
        semaphore: Site,
        permits: u32,
    },
    TryDown {
        semaphore: Site,
        permits: u32,
        to: Option<Cell>,
    },
    Up(Site),

    Arrive {
        barrier: Site,
        parties: u32,
        round_end: Cell,
    },
    Leave {
        barrier: Site,
        parties: u32,
        round_end: Cell,
    },

    Send {
        queue: Queue,
        value: Operand,
    },
    TrySend {
        queue: Queue,
        value: Operand,
        to: Option<Cell>,
    },
    Receive {
        queue: Queue,
        to: Option<Cell>,
    },
    TryReceive {
        queue: Queue,
        to: Option<Cell>,
    },

    Spawn(ThreadId),
    Join(ThreadId),
    Yield,
    Choose {
        alternatives: u32,
        to: Option<Cell>,
    },

    // The rest is invisible.
    Set {
        to: Cell,
        value: Operand,
    },
    PlainLoad {
        cell: Cell,
        memory: ObjectId,
        to: Cell,
    },
    PlainStore {
        cell: Cell,
        memory: ObjectId,
        value: Operand,
    },
    Fence(MemoryOrder),
    Jump(Pc),
    JumpUnless {
        condition: Condition,
        otherwise: Pc,
    },
    Assert {
        condition: Condition,
        text: u32,
    },
    /// Fails unless the index is one of the array.
    Check {
        index: Operand,
        len: u32,
        name: u32,
    },
}

impl Instruction {
    pub(super) fn is_invisible(&self) -> bool {
        matches!(
            self,
            Self::Set { .. }
                | Self::PlainLoad { .. }
                | Self::PlainStore { .. }
                | Self::Fence(_)
                | Self::Jump(_)
                | Self::JumpUnless { .. }
                | Self::Assert { .. }
                | Self::Check { .. }
        )
    }

    /// The instructions that may come after it, the one that stands at `pc`.
    pub(super) fn successors(&self, pc: Pc) -> [Option<Pc>; 2] {
        match *self {
            Self::Unborn | Self::Halt => [None, None],
            Self::Jump(target) => [Some(target), None],
            Self::JumpUnless { otherwise, .. } | Self::Branch { otherwise, .. } => {
                [Some(pc + 1), Some(otherwise)]
            }
            Self::Sleep { .. } => [Some(pc + 1), Some(pc + 2)],
            _ => [Some(pc + 1), None],
        }
    }
}
