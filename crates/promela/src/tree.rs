//! The syntax tree of a model, with inline calls already replaced by what they stand for.

use mazurka_source::Span;

/// A name, where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// What stands on the outermost level.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    Declaration(Declaration),
    /// `typedef NAME { … }`
    Struct {
        name: Name,
        fields: Vec<Declaration>,
    },
    /// `mtype = { … }`, perhaps of a subtype.
    Symbols {
        subtype: Option<Name>,
        names: Vec<Name>,
    },
    Proctype(Box<Proctype>),
    Never {
        name: Option<Name>,
        body: Sequence,
        span: Span,
    },
    Trace {
        is_forbidden: bool,
        body: Sequence,
        span: Span,
    },
    /// The formula as it is written.
    Formula {
        name: Option<Name>,
        text: String,
        span: Span,
    },
    /// A proposition about the program that a property names.
    Proposition {
        text: String,
        span: Span,
    },
}

/// A type of processes; `init` is one, too.
#[derive(Clone, Debug)]
pub(crate) struct Proctype {
    pub(crate) name: Name,
    /// How many run from the beginning.
    pub(crate) active: Option<Expression>,
    pub(crate) parameters: Vec<Declaration>,
    pub(crate) priority: Option<i32>,
    pub(crate) provided: Option<Expression>,
    pub(crate) body: Sequence,
}

/// Variables of one type.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) is_hidden: bool,
    pub(crate) ty: TypeName,
    pub(crate) variables: Vec<Variable>,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    /// Of an `unsigned`: how many bits.
    pub(crate) width: Option<i32>,
    /// Of an array: how many elements.
    pub(crate) count: Option<Expression>,
    pub(crate) first: Option<First>,
}

/// What a variable holds in the beginning.
#[derive(Clone, Debug)]
pub(crate) enum First {
    Value(Expression),
    Values(Vec<Expression>),
    Channel { capacity: Expression, fields: Vec<TypeName> },
}

#[derive(Clone, Debug)]
pub(crate) struct TypeName {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeKind {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Mtype(Option<String>),
    Chan,
    Struct(String),
}

/// Statements, one behind the other.
pub(crate) type Sequence = Vec<Statement>;

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) labels: Vec<Name>,
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Declaration(Declaration),
    /// `xr` or `xs`.
    Exclusive {
        sends: bool,
        channels: Vec<Reference>,
    },
    Condition(Expression),
    Assign(Reference, Expression),
    Send {
        channel: Reference,
        fields: Vec<Expression>,
        sorted: bool,
    },
    Receive {
        channel: Reference,
        fields: Vec<Pattern>,
        anywhere: bool,
        keep: bool,
    },
    Assert(Expression),
    Print {
        text: String,
        arguments: Vec<Expression>,
    },
    PrintSymbol(Expression),
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    Break,
    Goto(Name),
    Else,
    Atomic(Sequence),
    DStep(Sequence),
    Block(Sequence),
    For {
        index: Reference,
        low: Expression,
        high: Expression,
        body: Sequence,
    },
    ForIn {
        index: Reference,
        within: Reference,
        body: Sequence,
    },
    /// `is_unrolled`: a choice between assignments, which is what short ranges of numbers are.
    Select {
        index: Reference,
        low: Expression,
        high: Expression,
        is_unrolled: bool,
    },
    Unless {
        main: Box<Statement>,
        escape: Box<Statement>,
    },
    SetPriority {
        process: Expression,
        priority: Expression,
    },
    /// A `c_code`: all of it in one step, which is always possible.
    Embedded(Sequence),
}

/// A field of a message that is received.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Variable(Reference),
    Value(Expression),
}

/// A variable, an element of an array, a field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) name: Name,
    pub(crate) index: Option<Box<Expression>>,
    pub(crate) field: Option<Box<Reference>>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Number(i32),
    Variable(Reference),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<[Expression; 2]>),
    /// `(a -> b : c)`
    If(Box<[Expression; 3]>),
    Run {
        name: Name,
        arguments: Vec<Expression>,
        priority: Option<i32>,
    },
    Probe(Probe, Reference),
    Poll {
        channel: Reference,
        fields: Vec<Pattern>,
        anywhere: bool,
    },
    Timeout,
    NonProgress,
    Enabled(Box<Expression>),
    Location(Box<Expression>),
    Priority(Box<Expression>),
    /// `P[i]@label`
    AtLabel {
        proctype: Name,
        process: Option<Box<Expression>>,
        label: Name,
    },
    /// `P[i]:x`
    Remote {
        proctype: Name,
        process: Option<Box<Expression>>,
        variable: Reference,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Complement,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitXor,
    BitOr,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
}

/// What may be asked of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    Length,
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

impl Statement {
    /// Whether it only lets time pass: `skip`, or output.
    pub(crate) fn is_skip(&self) -> bool {
        match &self.kind {
            StatementKind::Print { .. } | StatementKind::PrintSymbol(_) => true,
            StatementKind::Condition(condition) => {
                matches!(condition.kind, ExpressionKind::Number(1))
            }
            _ => false,
        }
    }

    /// Whether it prints.
    pub(crate) fn is_output(&self) -> bool {
        matches!(self.kind, StatementKind::Print { .. } | StatementKind::PrintSymbol(_))
    }
}
