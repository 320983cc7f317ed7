//! A script as a tree: what the parser reads, the generator writes and the shrinker cuts, and what
//! tests translate into other languages.

#![expect(missing_docs, reason = "the names are those of the language, which the crate explains")]

use mazurka_core::MemoryOrder;

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub declarations: Vec<Declaration>,
    pub threads: Vec<Block>,
}

/// Statements, one after the other.
pub type Block = Vec<Statement>;

/// What the header says about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declaration {
    Variable { name: String, value: i64 },
    Array { name: String, len: u32, value: i64 },
    Plain { name: String, value: i64 },
    Semaphore { number: u32, permits: u32 },
    Channel { number: u32, capacity: u32 },
    Barrier { number: u32, parties: u32 },
}

/// A variable of one thread's own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Local(pub String);

/// A shared variable, or one element of a shared array, and the order of the access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub name: String,
    pub index: Option<Expr>,
    pub order: MemoryOrder,
}

/// The word for a memory order.
pub fn order_name(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::Relaxed => "rlx",
        MemoryOrder::Acquire => "acq",
        MemoryOrder::Release => "rel",
        MemoryOrder::AcquireRelease => "ar",
        MemoryOrder::SequentiallyConsistent => "sc",
    }
}

/// A value computed from what a thread knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Number(i64),
    Local(Local),
    Tid,
    Binary(Box<Expr>, BinaryOp, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Remainder,
}

impl BinaryOp {
    /// Its value. Wraps around; the remainder by zero is zero.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        match self {
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::Multiply => left.wrapping_mul(right),
            Self::Remainder if right == 0 => 0,
            Self::Remainder => left.wrapping_rem(right),
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Remainder => "%",
        }
    }

    /// Whether it binds as tightly as a product.
    pub fn is_product(self) -> bool {
        matches!(self, Self::Multiply | Self::Remainder)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// The condition of a branch or a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub left: Side,
    pub relation: Relation,
    pub right: Expr,
}

/// The left side of a test: a shared one costs a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    Own(Expr),
    Shared(Shared),
}

/// How a read-modify-write changes its variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    CompareAndSwap {
        expected: Expr,
        new: Expr,
    },
    Add(Expr),
    /// Adds, and tells no more than whether the variable was `expected` before.
    Count {
        value: Expr,
        expected: i64,
    },
    Swap(Expr),
}

/// An operation on one numbered object that needs nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Acquire,
    Release,
    TryAcquire,
    ReadAcquire,
    ReadRelease,
    WriteAcquire,
    WriteRelease,
    TryReadAcquire,
    TryWriteAcquire,
    Notify,
    NotifyAll,
    Down,
    Up,
    TryDown,
    Barrier,
    Receive,
    TryReceive,
}

impl Verb {
    pub const ALL: [Self; 17] = [
        Self::Acquire,
        Self::Release,
        Self::TryAcquire,
        Self::ReadAcquire,
        Self::ReadRelease,
        Self::WriteAcquire,
        Self::WriteRelease,
        Self::TryReadAcquire,
        Self::TryWriteAcquire,
        Self::Notify,
        Self::NotifyAll,
        Self::Down,
        Self::Up,
        Self::TryDown,
        Self::Barrier,
        Self::Receive,
        Self::TryReceive,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acq",
            Self::Release => "rel",
            Self::TryAcquire => "tryacq",
            Self::ReadAcquire => "racq",
            Self::ReadRelease => "rrel",
            Self::WriteAcquire => "wacq",
            Self::WriteRelease => "wrel",
            Self::TryReadAcquire => "tryracq",
            Self::TryWriteAcquire => "trywacq",
            Self::Notify => "notify",
            Self::NotifyAll => "notifyall",
            Self::Down => "down",
            Self::Up => "up",
            Self::TryDown => "trydown",
            Self::Barrier => "bar",
            Self::Receive => "recv",
            Self::TryReceive => "tryrecv",
        }
    }

    /// Whether `r=` may stand before it.
    pub fn has_result(self) -> bool {
        matches!(
            self,
            Self::TryAcquire
                | Self::TryReadAcquire
                | Self::TryWriteAcquire
                | Self::TryDown
                | Self::Receive
                | Self::TryReceive
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Load { local: Local, from: Shared },
    Assign { local: Local, value: Expr },
    Store { to: Shared, value: Expr },
    Update { local: Option<Local>, on: Shared, update: Update },
    Await { on: Shared, relation: Relation, value: Expr, new: Option<Expr> },
    Call { local: Option<Local>, verb: Verb, number: u32 },
    Send { channel: u32, value: Expr },
    TrySend { local: Option<Local>, channel: u32, value: Expr },
    Wait { condvar: u32, mutex: u32 },
    Sleep { condvar: u32, on: Shared, value: Expr },
    Timed { local: Option<Local>, wait: Box<Statement> },
    Spawn(usize),
    Join(usize),
    Yield,
    Fence(MemoryOrder),
    Choose { local: Option<Local>, alternatives: u32 },
    PlainLoad { local: Local, name: String },
    PlainStore { name: String, value: Expr },
    Assert { left: Expr, relation: Relation, right: Expr },
    If { test: Test, then: Block, otherwise: Block },
    While { test: Test, body: Block },
}

impl Statement {
    /// Its blocks, in the order of the text.
    pub fn blocks(&self) -> [&[Statement]; 2] {
        match self {
            Self::If { then, otherwise, .. } => [then, otherwise],
            Self::While { body, .. } => [body, &[]],
            _ => [&[], &[]],
        }
    }
}

/// Calls `visit` with every statement of `block`, outer ones first.
pub fn visit<'a>(block: &'a [Statement], visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        visit(statement);
        for inner in statement.blocks() {
            self::visit(inner, visit);
        }
    }
}

/// Calls `change` with every statement of `block`, outer ones first.
pub fn visit_mut(block: &mut Block, change: &mut impl FnMut(&mut Statement)) {
    for statement in block {
        change(statement);
        match statement {
            Statement::If { then, otherwise, .. } => {
                visit_mut(then, change);
                visit_mut(otherwise, change);
            }
            Statement::While { body, .. } => visit_mut(body, change),
            _ => {}
        }
    }
}

impl Program {
    /// Calls `visit` with every statement, in the order of the text.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Statement)) {
        for thread in &self.threads {
            self::visit(thread, visit);
        }
    }

    /// The same program with thread `i` at place `permutation[i]`; spawns and joins follow.
    pub fn rename_threads(&self, permutation: &[usize]) -> Self {
        let mut threads = vec![Block::new(); self.threads.len()];
        for (thread_idx, thread) in self.threads.iter().enumerate() {
            let mut thread = thread.clone();
            visit_mut(&mut thread, &mut |statement| {
                if let Statement::Spawn(target) | Statement::Join(target) = statement {
                    *target = permutation[*target];
                }
            });
            threads[permutation[thread_idx]] = thread;
        }
        Self { declarations: self.declarations.clone(), threads }
    }
}
