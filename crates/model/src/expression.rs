//! Expressions over what a process knows: total, and typed by width.

use crate::{Function, ObjectIdx, Pointer, Query, RegisterId, RoutineId, Type, evaluate};

/// A value. Computing it has no effect and always succeeds; only [`Expr::Read`] and [`Expr::Query`]
/// look at the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// This number, in the [canonical](crate::canonical) form of its type.
    Const {
        /// Its type.
        ty: Type,
        /// Its bits.
        bits: u64,
    },
    /// What a register of the frame holds.
    Register {
        /// Which.
        register: RegisterId,
        /// Its type.
        ty: Type,
    },
    /// An operator with one operand; the result has the operand's type.
    Unary(Unary, Box<Expr>),
    /// An operator with two operands of one type, which the result has, too. Shifts take any
    /// integer on the right.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A comparison of two values of one type: a [`Type::BOOL`].
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// Whether an operation on two integers of one type has a result outside of it.
    Overflows(Overflow, Box<Expr>, Box<Expr>),
    /// The same value as another type: integers are cut off or extended, floats rounded.
    Convert(Type, Box<Expr>),
    /// The bits of a value as another type of the same width.
    Reinterpret(Type, Box<Expr>),
    /// The second if the first, a [`Type::BOOL`], is true, else the third.
    If(Box<[Expr; 3]>),
    /// A pointer moved by a number of bytes, of any integer type.
    Offset(Box<Expr>, Box<Expr>),
    /// The pointer to a place.
    Address(Box<Place>),
    /// The pointer to a routine.
    Routine(RoutineId),
    /// The number of the thread that asks: a [`Type::U32`].
    Thread,
    /// What memory holds. For guards and for actions that read several variables in one step:
    /// models for engines that know all of a state. The `Vm` refuses it; programs with threads use
    /// [`Action::Load`](crate::Action::Load) and [`Action::Await`](crate::Action::Await).
    Read {
        /// Where.
        from: Box<Place>,
        /// The type it is read as.
        ty: Type,
    },
    /// An index into so many elements, of any integer type, which the result has, too. One outside
    /// is a violation of the kind `memory` of the action or guard that computes it. The `Vm`
    /// refuses it.
    Index(Box<Expr>, u32),
    /// What only the whole state tells.
    Query(Box<Query>),
}

/// Where in memory: a number of bytes from the beginning of something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// From where.
    pub base: Base,
    /// How many bytes on, of any integer type.
    pub offset: Expr,
}

/// What a [`Place`] is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// An object of the program; of one that every thread has its own of, the thread's.
    Object(ObjectIdx),
    /// A local whose address is taken, by its number in
    /// [`Routine::objects`](crate::Routine::objects).
    Frame(u32),
    /// Wherever a pointer points to. Nothing, something freed or too small is a violation of the
    /// kind `memory` when the place is used.
    Pointer(Expr),
    /// The channel of this number, of any integer type. Channels are numbered from 1, those of the
    /// program first, then those of its processes, older processes first. None of that number is a
    /// violation of the kind `memory`. The `Vm` refuses it.
    Channel(Expr),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Minus. Wraps around.
    Negate,
    /// Every bit flipped; of a [`Type::BOOL`], the opposite.
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum. Wraps around.
    Add,
    /// Difference. Wraps around.
    Subtract,
    /// Product. Wraps around.
    Multiply,
    /// Quotient, towards zero. By zero: zero. The smallest by -1: itself.
    Divide,
    /// What is left of a division, with the sign of the left side. By zero: zero.
    Remainder,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shifted up; by the width or more, or by less than nothing: zero.
    ShiftLeft,
    /// Shifted down, the sign kept; by the width or more, or by less than nothing: zero, or -1 if
    /// the left side is negative.
    ShiftRight,
    /// A function of floats; of anything else, zero.
    Apply(Function),
}

/// Comparisons. Of pointers: the object first. A float that is no number is unequal to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// The same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Smaller.
    Less,
    /// Smaller or the same.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or the same.
    GreaterOrEqual,
}

/// Operations that can leave their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// A sum.
    Add,
    /// A difference; from zero, a negation.
    Subtract,
    /// A product.
    Multiply,
    /// A quotient or a remainder: the smallest by -1.
    Divide,
    /// A shift up that moves out a bit that counts, or is by more than the width allows.
    ShiftLeft,
}

impl Expr {
    /// The number `value` as a `ty`, wrapped around.
    pub fn int(ty: Type, value: i64) -> Self {
        Self::Const { ty, bits: evaluate::canonical(ty, value as u64) }
    }

    /// True or false.
    pub fn bool(value: bool) -> Self {
        Self::Const { ty: Type::BOOL, bits: u64::from(value) }
    }

    /// The pointer to nothing.
    pub fn null() -> Self {
        Self::Const { ty: Type::Pointer, bits: Pointer::NULL.bits() }
    }

    /// `left op right`.
    pub fn binary(op: Binary, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// `op operand`.
    pub fn unary(op: Unary, operand: Self) -> Self {
        Self::Unary(op, Box::new(operand))
    }

    /// Whether `left op right`.
    pub fn compare(op: Compare, left: Self, right: Self) -> Self {
        Self::Compare(op, Box::new(left), Box::new(right))
    }

    /// Whether the result of the operation is outside of the type.
    pub fn overflows(op: Overflow, left: Self, right: Self) -> Self {
        Self::Overflows(op, Box::new(left), Box::new(right))
    }

    /// The value as another type.
    pub fn convert(self, ty: Type) -> Self {
        match self.ty() == ty {
            true => self,
            false => Self::Convert(ty, Box::new(self)),
        }
    }

    /// The opposite of a truth value.
    pub fn negated(self) -> Self {
        debug_assert_eq!(self.ty(), Type::BOOL);
        Self::unary(Unary::Not, self)
    }

    /// Both.
    pub fn and(self, other: Self) -> Self {
        Self::binary(Binary::And, self, other)
    }

    /// Either.
    pub fn or(self, other: Self) -> Self {
        Self::binary(Binary::Or, self, other)
    }

    /// Whether a value is not zero.
    pub fn is_true(self) -> Self {
        let ty = self.ty();
        match ty {
            Type::BOOL => self,
            _ => Self::compare(Compare::NotEqual, self, Self::Const { ty, bits: 0 }),
        }
    }

    /// `condition ? then : otherwise`.
    pub fn choose(condition: Self, then: Self, otherwise: Self) -> Self {
        Self::If(Box::new([condition, then, otherwise]))
    }

    /// What memory holds.
    pub fn read(from: Place, ty: Type) -> Self {
        Self::Read { from: Box::new(from), ty }
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        match self {
            Self::Const { ty, .. }
            | Self::Register { ty, .. }
            | Self::Convert(ty, _)
            | Self::Reinterpret(ty, _)
            | Self::Read { ty, .. } => *ty,
            Self::Unary(_, operand) => operand.ty(),
            Self::Binary(_, left, _) => left.ty(),
            Self::Compare(..) | Self::Overflows(..) => Type::BOOL,
            Self::If(parts) => parts[1].ty(),
            Self::Offset(..) | Self::Address(_) | Self::Routine(_) => Type::Pointer,
            Self::Thread => Type::U32,
            Self::Index(index, _) => index.ty(),
            Self::Query(query) => query.ty(),
        }
    }

    /// Its value, if it is a constant.
    pub fn as_const(&self) -> Option<u64> {
        match self {
            Self::Const { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    /// Calls `visit` with it and all expressions in it, outer ones first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Const { .. } | Self::Register { .. } | Self::Routine(_) | Self::Thread => {}
            Self::Unary(_, operand)
            | Self::Convert(_, operand)
            | Self::Reinterpret(_, operand)
            | Self::Index(operand, _) => {
                operand.visit(visit);
            }
            Self::Binary(_, left, right)
            | Self::Compare(_, left, right)
            | Self::Overflows(_, left, right)
            | Self::Offset(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Self::If(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Self::Address(place) => place.visit(visit),
            Self::Read { from, .. } => from.visit(visit),
            Self::Query(query) => query.visit(visit),
        }
    }

    /// Asks the state.
    pub fn query(query: Query) -> Self {
        Self::Query(Box::new(query))
    }

    /// Whether it looks at memory.
    pub fn reads_memory(&self) -> bool {
        let mut reads = false;
        self.visit(&mut |part| reads |= matches!(part, Self::Read { .. } | Self::Query(_)));
        reads
    }
}

impl Place {
    /// The beginning of an object.
    pub fn object(object: ObjectIdx) -> Self {
        Self { base: Base::Object(object), offset: Expr::int(Type::I64, 0) }
    }

    /// The beginning of a local whose address is taken.
    pub fn frame(number: u32) -> Self {
        Self { base: Base::Frame(number), offset: Expr::int(Type::I64, 0) }
    }

    /// Where a pointer points to.
    pub fn pointer(pointer: Expr) -> Self {
        Self { base: Base::Pointer(pointer), offset: Expr::int(Type::I64, 0) }
    }

    /// The channel of a number.
    pub fn channel(number: Expr) -> Self {
        Self { base: Base::Channel(number), offset: Expr::int(Type::I64, 0) }
    }

    /// So many bytes on.
    pub fn plus(self, bytes: Expr) -> Self {
        let bytes = bytes.convert(Type::I64);
        let offset = match (self.offset.as_const(), bytes.as_const()) {
            (Some(0), _) => bytes,
            (Some(a), Some(b)) => Expr::int(Type::I64, a.wrapping_add(b) as i64),
            _ => Expr::binary(Binary::Add, self.offset, bytes),
        };
        Self { base: self.base, offset }
    }

    /// The element `index` of those of `size` bytes that begin here.
    pub fn element(self, index: Expr, size: u32) -> Self {
        let index = index.convert(Type::I64);
        let bytes = match index.as_const() {
            Some(index) => Expr::int(Type::I64, (index as i64).wrapping_mul(i64::from(size))),
            None => Expr::binary(Binary::Multiply, index, Expr::int(Type::I64, i64::from(size))),
        };
        self.plus(bytes)
    }

    /// Calls `visit` with all expressions in it, outer ones first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        if let Base::Pointer(base) | Base::Channel(base) = &self.base {
            base.visit(visit);
        }
        self.offset.visit(visit);
    }
}
