//! The typed syntax tree: names resolved, types computed, conversions written out.
//!
//! What is left of C here is small: loops, `break` and `continue` are labels and jumps, `a[i]` and
//! `p->m` are places, `&&` and `||` are what they are because they are control flow.

use crate::types::{Bits, Qualified, Records, Signature, Type};
use mazurka_model::{Function as MathFunction, MemoryOrder, Sync};
use mazurka_source::Span;
use std::rc::Rc;

/// A whole program.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) records: Records,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<Function>,
}

/// A number of a variable that is there all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GlobalId(pub(crate) usize);

/// A number of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FunctionId(pub(crate) usize);

/// A number of a variable of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalId(pub(crate) usize);

/// A number of a label of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LabelId(pub(crate) usize);

/// A variable outside functions, a `static` one inside, a string.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) ty: Qualified,
    pub(crate) is_thread_local: bool,
    /// Whether some file defines it.
    pub(crate) is_defined: bool,
    pub(crate) initial: Vec<Initial>,
    pub(crate) span: Span,
}

/// A part of what is in memory at the start. What no part covers is 0.
#[derive(Clone, Debug)]
pub(crate) struct Initial {
    pub(crate) offset: u64,
    pub(crate) size: u8,
    pub(crate) value: Constant,
}

/// A value that is known before the program runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    Int(i64),
    Float(f64),
    Address(GlobalId, i64),
    Function(FunctionId),
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) signature: Rc<Signature>,
    pub(crate) span: Span,
    /// Whether it is ours: it then becomes a part of its callers.
    pub(crate) is_library: bool,
    /// `None`: it is not defined, or not called.
    pub(crate) body: Option<Body>,
}

impl Function {
    /// Whether a call of it is an error, whatever its body does: a rule of SV-COMP.
    pub(crate) fn is_error(name: &str) -> bool {
        matches!(name, "reach_error" | "__VERIFIER_error")
    }

    /// What is said of such a call.
    pub(crate) fn error_message(name: &str) -> String {
        format!("`{name}` was called")
    }

    /// Whether a name is that of a function that begins or ends an atomic block, whatever its body
    /// does.
    pub(crate) fn is_atomic_bracket(name: &str) -> bool {
        matches!(name, "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end")
    }

    /// Whether it runs atomically: a rule of SV-COMP for names.
    pub(crate) fn is_atomic(&self) -> bool {
        let has_prefix = self.name.starts_with("__VERIFIER_atomic_");
        has_prefix && !Self::is_atomic_bracket(&self.name)
    }
}

/// What a function does.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The parameters come first.
    pub(crate) locals: Vec<Local>,
    /// How many of them are parameters. A prototype elsewhere may have more: `int main() { … }`.
    pub(crate) n_parameters: usize,
    /// The names of the labels; empty for those that are not in the source.
    pub(crate) labels: Vec<String>,
    pub(crate) statements: Vec<Statement>,
    /// Where it ends.
    pub(crate) end: Span,
}

/// A variable of a function.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: Qualified,
    /// Whether it has to be in memory.
    pub(crate) has_address: bool,
    pub(crate) span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Expression(Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    Switch(Expression, Vec<Case>, LabelId),
    Label(LabelId),
    Goto(LabelId),
    Return(Option<Expression>, Span),
    /// A variable begins to live, with all bytes 0 if the flag is set.
    Declare(LocalId, bool),
}

/// Where a `switch` goes for the values from `low` to `high`.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) label: LabelId,
}

/// An expression that has a value.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// What an expression is made of.
pub(crate) enum Part<'t> {
    Expression(&'t Expression),
    Place(&'t Place),
    Statements(&'t [Statement]),
}

impl Expression {
    /// Calls `visit` with what it is made of.
    pub(crate) fn parts<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        use Part::{Expression as E, Place as P, Statements as S};
        match &self.kind {
            Kind::Int(_) | Kind::Float(_) | Kind::Function(_) => {}
            Kind::Address(place) | Kind::Read(place) => visit(P(place)),
            Kind::Convert(a) | Kind::Unary(_, a) | Kind::Index(a, _) => visit(E(a)),
            Kind::Binary(_, a, b)
            | Kind::Advance(a, b, _)
            | Kind::Distance(a, b, _)
            | Kind::And(a, b)
            | Kind::Or(a, b)
            | Kind::Elvis(a, b) => {
                visit(E(a));
                visit(E(b));
            }
            Kind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|it| visit(E(it))),
            Kind::Comma(parts) | Kind::Intrinsic(_, parts) => {
                parts.iter().for_each(|it| visit(E(it)));
            }
            Kind::Assign(place, value) => {
                visit(P(place));
                visit(E(value));
            }
            Kind::Update(update) => {
                visit(P(&update.place));
                match &update.step {
                    Step::Binary(_, _, by) | Step::Advance(by, _) => visit(E(by)),
                }
            }
            Kind::Call(call) => {
                if let Callee::Pointer(pointer) = &call.callee {
                    visit(E(pointer));
                }
                call.arguments.iter().for_each(|it| visit(E(it)));
            }
            Kind::Statements(statements, last) => {
                visit(S(statements));
                last.iter().for_each(|it| visit(E(it)));
            }
        }
    }
}

/// What an expression does.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Int(i64),
    Float(f64),
    /// The address of a function.
    Function(FunctionId),
    /// The address of a place.
    Address(Box<Place>),
    /// What is at a place. Of a struct, the place itself.
    Read(Box<Place>),
    Convert(Box<Expression>),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// A pointer and so many elements of a size further.
    Advance(Box<Expression>, Box<Expression>, u64),
    /// An index that is at least 0 and less than a number.
    Index(Box<Expression>, u64),
    /// How many elements of a size are between two pointers.
    Distance(Box<Expression>, Box<Expression>, u64),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `a ?: b`.
    Elvis(Box<Expression>, Box<Expression>),
    Comma(Vec<Expression>),
    Assign(Box<Place>, Box<Expression>),
    Update(Box<Update>),
    Call(Box<Call>),
    Intrinsic(Intrinsic, Vec<Expression>),
    Statements(Vec<Statement>, Option<Box<Expression>>),
}

/// `+=` and its like, and `++`.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) place: Place,
    pub(crate) step: Step,
    /// Whether the value is the one before.
    pub(crate) is_post: bool,
}

/// How an update computes the new value.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The old value is converted to this type first.
    Binary(Binary, Type, Expression),
    /// A pointer moves by so many elements of a size.
    Advance(Expression, u64),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Expression>,
    /// Where a struct that comes back is put.
    pub(crate) result: Option<LocalId>,
}

/// Who is called.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(FunctionId),
    Pointer(Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Complement,
    /// 1 for 0, and 0 for everything else; an `int`.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Somewhere in memory, or a register.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) base: Base,
    pub(crate) offset: u64,
    pub(crate) ty: Qualified,
    pub(crate) bits: Option<Bits>,
    pub(crate) span: Span,
}

/// What a place is counted from.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    Local(LocalId),
    Global(GlobalId),
    Pointer(Box<Expression>),
    /// A struct that is a value: what a call returns.
    Value(Box<Expression>),
}

/// What has no body in C.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intrinsic {
    /// `*a`, in one step.
    AtomicLoad(MemoryOrder),
    /// `*a = b`, in one step.
    AtomicStore(MemoryOrder),
    /// `*a = b`, and what was there before.
    AtomicExchange(MemoryOrder),
    /// Whether `*a` was `*b`; if so it is `c` now, else `*b` is what was found. The orders of
    /// success and failure.
    CompareExchange(MemoryOrder, MemoryOrder),
    /// What `*a` was; it is `c` now if that was `b`.
    CompareAndSwap,
    /// Whether `*a` was `b`; it is `c` now if so.
    CompareAndSwapped,
    /// `*a op= b`, in one step; what was there before, or what is there now.
    AtomicUpdate(Change, bool, MemoryOrder),
    /// Whether `a op b` has no room in `*c`; what has is there now.
    Overflow(Change),
    /// A fence between threads.
    Fence(MemoryOrder),
    /// Something that compilers know, and executions do not.
    Nothing,
    /// `a` holds; if not, that is wrong in this way.
    Check(Wrong, String),
    /// Any value of its type.
    Nondet,
    /// A function of the library that the machine has.
    Primitive(Primitive),
}

/// How an operation changes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Subtract,
    /// Never in one step.
    Multiply,
    And,
    Or,
    Xor,
    Nand,
}

/// Which property fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Assertion,
    Panic,
    Memory,
}

/// What the library is written with: `__mazurka_lock` is [`Primitive::Lock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primitive {
    Allocate,
    Free,
    SizeOf,
    Copy,
    Fill,
    Assume,
    AtomicBegin,
    AtomicEnd,
    Choose,
    Spurious,
    Yield,
    Spawn,
    Join,
    JoinInt,
    Detach,
    Thread,
    ExitThread,
    ExitProgram,
    MutexInit,
    Lock,
    TryLock,
    Unlock,
    Reset(Sync),
    Destroy(Sync),
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    ReadWriteUnlock,
    Wait,
    NotifyOne,
    NotifyAll,
    SemaphoreInit,
    SemaphoreAcquire,
    SemaphoreTryAcquire,
    SemaphoreRelease,
    SemaphoreValue,
    BarrierInit,
    BarrierWait,
    /// Begins or ends a wait that some other execution ends by a timeout.
    Excuse,
    /// Waits until a word has a value.
    Await,
    /// Whether the program has thread-specific data.
    HasKeys,
    /// Whether the program has something to do when it exits.
    HasHandlers,
    /// A word that no other thread looks at, though it may be in shared memory.
    Get,
    Set,
    /// A function of one or two numbers with a fraction.
    Apply(MathFunction),
}

impl Primitive {
    /// The one that a function of the library stands for.
    pub(crate) fn named(name: &str) -> Option<Self> {
        use Primitive as P;
        let name = name.strip_prefix("__mazurka_")?;
        Some(match name {
            "allocate" => P::Allocate,
            "free" => P::Free,
            "size_of" => P::SizeOf,
            "copy" => P::Copy,
            "fill" => P::Fill,
            "assume" => P::Assume,
            "atomic_begin" => P::AtomicBegin,
            "atomic_end" => P::AtomicEnd,
            "choose" => P::Choose,
            "spurious" => P::Spurious,
            "yield" => P::Yield,
            "spawn" => P::Spawn,
            "join" => P::Join,
            "join_int" => P::JoinInt,
            "detach" => P::Detach,
            "thread" => P::Thread,
            "exit_thread" => P::ExitThread,
            "exit_program" => P::ExitProgram,
            "mutex_init" => P::MutexInit,
            "lock" => P::Lock,
            "try_lock" => P::TryLock,
            "unlock" => P::Unlock,
            "mutex_destroy" => P::Destroy(Sync::Mutex),
            "read_lock" => P::ReadLock,
            "write_lock" => P::WriteLock,
            "try_read_lock" => P::TryReadLock,
            "try_write_lock" => P::TryWriteLock,
            "read_write_unlock" => P::ReadWriteUnlock,
            "rwlock_init" => P::Reset(Sync::RwLock),
            "rwlock_destroy" => P::Destroy(Sync::RwLock),
            "wait" => P::Wait,
            "notify_one" => P::NotifyOne,
            "notify_all" => P::NotifyAll,
            "condvar_init" => P::Reset(Sync::Condvar),
            "condvar_destroy" => P::Destroy(Sync::Condvar),
            "semaphore_init" => P::SemaphoreInit,
            "semaphore_destroy" => P::Destroy(Sync::Semaphore),
            "semaphore_acquire" => P::SemaphoreAcquire,
            "semaphore_try_acquire" => P::SemaphoreTryAcquire,
            "semaphore_release" => P::SemaphoreRelease,
            "semaphore_value" => P::SemaphoreValue,
            "barrier_init" => P::BarrierInit,
            "barrier_destroy" => P::Destroy(Sync::Barrier),
            "barrier_wait" => P::BarrierWait,
            "excuse" => P::Excuse,
            "await" => P::Await,
            "has_keys" => P::HasKeys,
            "has_handlers" => P::HasHandlers,
            "get" => P::Get,
            "set" => P::Set,
            // `sinf` is `sin` of a shorter number.
            _ => P::Apply(
                MathFunction::named(name)
                    .or_else(|| MathFunction::named(name.strip_suffix('f')?))?,
            ),
        })
    }
}
