//! What a circuit has not got, and what its bad states and its loops are to the program.

use mazurka_model::{RoutineId, Span, ViolationKind};

/// Something in a program that a circuit has not got.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is nothing that a circuit has")]
pub struct Refusal {
    /// What it is.
    pub what: String,
    /// Where it stands in the source.
    pub span: Span,
    /// Whether it is a function that calls itself, and no bound on recursion was given.
    pub recurses: bool,
}

impl Refusal {
    pub(super) fn new(what: &str, span: Span) -> Self {
        Self { what: what.to_owned(), span, recurses: false }
    }

    /// The same of a function that calls itself without a bound.
    pub(super) fn of_recursion(self) -> Self {
        Self { recurses: true, ..self }
    }
}

/// What a bad state of the circuit, or a loop of it, is to the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Something goes wrong in the step that is taken.
    Violation(Fault),
    /// No thread can move, and one waits.
    Deadlock,
    /// Two accesses conflict, at least one of them is plain, and nothing orders them: two threads
    /// are about to make them, or one was made and watched, and the other one is made now.
    Race,
    /// No thread can move, and to stay there for ever violates the temporal property.
    Stays,
    /// What was done violates the temporal property, however it goes on.
    BadPrefix,
    /// To go on like this for ever violates the temporal property.
    GoesOn,
    /// A thread goes round for ever in a loop in which nothing is visible.
    Spins,
    /// A bound is reached: nothing is wrong, and nothing is known of what comes then.
    Bound(Limit),
}

/// What goes wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Which property this is, by its name.
    pub kind: &'static str,
    /// What is wrong.
    pub message: String,
    /// The line and the column of the source, and the file.
    pub(super) at: (u32, u32, u32),
}

impl Fault {
    pub(super) fn new(kind: ViolationKind, message: &str) -> Self {
        Self { kind: kind.name(), message: message.to_owned(), at: (0, 0, 0) }
    }
}

/// A bound that a program reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A function is in too many calls of itself.
    Recursion(RoutineId, Span),
    /// More threads than these are started.
    Threads(u32, Span),
    /// More blocks than these are allocated.
    Blocks(u32, Span),
    /// A block is to have more bytes than these.
    BlockBytes(u32, Span),
}

impl Limit {
    fn key(&self) -> (u8, u32, u32, u32) {
        let (kind, span) = match self {
            Self::Recursion(_, span) => (0, span),
            Self::Threads(_, span) => (1, span),
            Self::Blocks(_, span) => (2, span),
            Self::BlockBytes(_, span) => (3, span),
        };
        (kind, span.file.0, span.line, span.column)
    }
}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Limit {
    /// Which executions do not reach it.
    pub fn claim(&self) -> mazurka_core::Bound {
        match *self {
            Self::Recursion(..) => mazurka_core::Bound::Recursion,
            Self::Threads(n, _) => mazurka_core::Bound::Threads(n),
            Self::Blocks(n, _) => mazurka_core::Bound::Blocks(n),
            Self::BlockBytes(n, _) => mazurka_core::Bound::BlockBytes(n),
        }
    }
}

impl Meaning {
    /// What people call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Violation(fault) => {
                format!("{} {}:{} {}", fault.kind, fault.at.1, fault.at.2, fault.message)
            }
            Self::Deadlock => "deadlock".to_owned(),
            Self::Race => "race".to_owned(),
            Self::Stays => "violated by staying".to_owned(),
            Self::BadPrefix => "violated already".to_owned(),
            Self::GoesOn => "violated by going on".to_owned(),
            Self::Spins => "endless loop".to_owned(),
            Self::Bound(limit) => format!("bound: {}", limit.claim()),
        }
    }
}
