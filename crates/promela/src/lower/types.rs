//! Types of variables, and where they are.

use mazurka_model::{LayoutId, ObjectIdx, RegisterId, SymbolSet, Type};

/// What a variable, or an element of an array, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar(Scalar),
    /// A `typedef`, by its number.
    Struct(usize),
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) ty: Type,
    pub(crate) is_channel: bool,
    /// The names that its values have, if it is an `mtype`.
    pub(crate) symbols: Option<SymbolSet>,
}

impl Scalar {
    /// A number without a name.
    pub(crate) fn number(ty: Type) -> Self {
        Self { ty, is_channel: false, symbols: None }
    }

    /// What it is in an array, or the only field of a message, where a bit takes a byte.
    pub(crate) fn widened(self) -> Self {
        match self.ty {
            Type::BOOL => Self { ty: Type::U8, ..self },
            _ => self,
        }
    }
}

/// A `typedef`.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) size: u32,
    pub(crate) layout: LayoutId,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) count: Option<u32>,
    pub(crate) offset: u32,
    /// What it holds in the beginning, where that is not zero.
    pub(crate) first: Option<FieldFirst>,
}

/// What a field of a `typedef` holds in the beginning.
#[derive(Clone, Debug)]
pub(crate) enum FieldFirst {
    Value(i32),
    Channel(LayoutId),
}

/// A variable that a name stands for.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) shape: Shape,
    /// Of an array: how many elements.
    pub(crate) count: Option<u32>,
    pub(crate) home: Home,
    /// Of a channel with a channel to begin with: the types of its fields, as they are written.
    pub(crate) message: Option<Vec<Shape>>,
    /// Of a channel like that: its capacity.
    pub(crate) capacity: u32,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Object(ObjectIdx),
    Register(RegisterId),
    Frame(u32),
}
