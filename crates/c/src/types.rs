//! The types of C, their sizes and how they convert into each other, as on x86-64 Linux.

use mazurka_model::Sync;
use std::fmt;
use std::rc::Rc;

/// An integer type, in the order of rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::enum_variant_names, reason = "`int` is what C calls it")]
pub(crate) enum Int {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
}

impl Int {
    /// How wide it is in memory.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::Bool | Self::Char | Self::SignedChar | Self::UnsignedChar => 8,
            Self::Short | Self::UnsignedShort => 16,
            Self::Int | Self::UnsignedInt => 32,
            Self::Long | Self::UnsignedLong | Self::LongLong | Self::UnsignedLongLong => 64,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        use Int as I;
        matches!(self, I::Char | I::SignedChar | I::Short | I::Int | I::Long | I::LongLong)
    }

    /// The unsigned type of the same rank.
    fn unsigned(self) -> Self {
        match self {
            Self::Int => Self::UnsignedInt,
            Self::Long => Self::UnsignedLong,
            Self::LongLong => Self::UnsignedLongLong,
            other => other,
        }
    }

    /// The place in the order of conversion ranks; signed and unsigned share it.
    fn rank(self) -> u8 {
        match self {
            Self::Bool => 0,
            Self::Char | Self::SignedChar | Self::UnsignedChar => 1,
            Self::Short | Self::UnsignedShort => 2,
            Self::Int | Self::UnsignedInt => 3,
            Self::Long | Self::UnsignedLong => 4,
            Self::LongLong | Self::UnsignedLongLong => 5,
        }
    }

    /// What arithmetic makes of it (C11 6.3.1.1, 2).
    pub(crate) fn promoted(self) -> Self {
        if self.rank() < Self::Int.rank() { Self::Int } else { self }
    }

    /// What both are converted to (C11 6.3.1.8).
    pub(crate) fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        if a == b {
            return a;
        }
        let (high, low) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
        if high.is_signed() == low.is_signed() || !high.is_signed() {
            // Of two with one rank and different signs, the unsigned one.
            return if high.rank() == low.rank() { high.unsigned() } else { high };
        }
        // `high` is signed and `low` unsigned.
        if high.bits() > low.bits() { high } else { high.unsigned() }
    }

    /// The value that is left of `value` in this type, as 64 bits that are extended by its sign.
    pub(crate) fn wrap(self, value: i128) -> i64 {
        match self {
            Self::Bool => i64::from(value != 0),
            _ => {
                let unused = 128 - u32::from(self.bits());
                match self.is_signed() {
                    true => (value << unused >> unused) as i64,
                    false => ((value as u128) << unused >> unused) as i64,
                }
            }
        }
    }

    /// A stored value as the number that it stands for.
    pub(crate) fn number(self, value: i64) -> i128 {
        if self.is_signed() { i128::from(value) } else { i128::from(value as u64) }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "_Bool",
            Self::Char => "char",
            Self::SignedChar => "signed char",
            Self::UnsignedChar => "unsigned char",
            Self::Short => "short",
            Self::UnsignedShort => "unsigned short",
            Self::Int => "int",
            Self::UnsignedInt => "unsigned int",
            Self::Long => "long",
            Self::UnsignedLong => "unsigned long",
            Self::LongLong => "long long",
            Self::UnsignedLongLong => "unsigned long long",
        }
    }
}

/// A type without its qualifiers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Void,
    Int(Int),
    Float,
    Double,
    Pointer(Rc<Qualified>),
    /// `None`: the length is not known (yet).
    Array(Rc<Qualified>, Option<u64>),
    Function(Rc<Signature>),
    Record(RecordId),
    /// One that programs may name and not use: `long double`, `__int128`, vectors.
    Foreign(&'static str, u64),
}

/// A type with the qualifiers that matter. `const` matters for a selection by type and for objects
/// that nothing writes; types that differ in it alone are equal.
#[derive(Clone, Debug)]
pub(crate) struct Qualified {
    pub(crate) ty: Type,
    /// Every access is a step of its own, and ordered: `_Atomic`.
    pub(crate) is_atomic: bool,
    /// Every access is a step of its own: `volatile`.
    pub(crate) is_volatile: bool,
    pub(crate) is_const: bool,
}

impl PartialEq for Qualified {
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty
            && (self.is_atomic, self.is_volatile) == (other.is_atomic, other.is_volatile)
    }
}

impl Qualified {
    pub(crate) fn plain(ty: Type) -> Self {
        Self { ty, is_atomic: false, is_volatile: false, is_const: false }
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub(crate) result: Type,
    pub(crate) parameters: Vec<Type>,
    pub(crate) is_variadic: bool,
    /// `int f()`, or a call of what was not declared: nothing is known of the parameters.
    pub(crate) is_unspecified: bool,
}

/// A struct or union type, as a number in [`Records`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordId(pub(crate) usize);

/// A struct or union.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) is_union: bool,
    /// What threads synchronise on with it.
    pub(crate) sync: Option<Sync>,
    /// `None`: declared, and not defined (yet).
    pub(crate) layout: Option<Layout>,
}

/// Where the members are.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) fields: Vec<Field>,
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A member.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// `None` for the members without a name whose own members belong to the outside, too.
    pub(crate) name: Option<String>,
    pub(crate) ty: Qualified,
    pub(crate) offset: u64,
    pub(crate) bits: Option<Bits>,
}

/// Where in an integer a bit-field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The bytes that are read and written for it: the offset is that of the field.
    pub(crate) unit: Int,
    /// The lowest bit within them.
    pub(crate) shift: u8,
    pub(crate) width: u8,
    /// Whether the unit has bytes of other members in it that are no bit-fields.
    pub(crate) is_shared: bool,
}

/// All structs and unions of a program.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Vec<Record>);

impl std::ops::Index<RecordId> for Records {
    type Output = Record;
    fn index(&self, id: RecordId) -> &Record {
        &self.0[id.0]
    }
}

impl Type {
    pub(crate) const INT: Self = Self::Int(Int::Int);
    pub(crate) const SIZE: Self = Self::Int(Int::UnsignedLong);

    /// Whether a selection by type takes one for the other: they are equal in `const`, too, wherever
    /// they point.
    pub(crate) fn is_selected_by(&self, other: &Self) -> bool {
        let is_same = |one: &Qualified, other: &Qualified| {
            one.is_const == other.is_const && one.ty.is_selected_by(&other.ty)
        };
        self == other
            && match (self, other) {
                (Self::Pointer(one), Self::Pointer(other))
                | (Self::Array(one, _), Self::Array(other, _)) => is_same(one, other),
                _ => true,
            }
    }

    pub(crate) fn pointer_to(ty: Type) -> Self {
        Self::Pointer(Rc::new(Qualified::plain(ty)))
    }

    pub(crate) fn as_int(&self) -> Option<Int> {
        if let Self::Int(int) = self { Some(*int) } else { None }
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    pub(crate) fn is_arithmetic(&self) -> bool {
        self.is_float() || self.as_int().is_some()
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self, Self::Pointer(_))
    }

    /// Whether a register can hold it.
    pub(crate) fn is_scalar(&self) -> bool {
        self.is_arithmetic() || self.is_pointer()
    }

    /// What a pointer points to.
    pub(crate) fn target(&self) -> Option<&Rc<Qualified>> {
        if let Self::Pointer(target) = self { Some(target) } else { None }
    }

    /// The function that is called through it, if it is one or a pointer to one.
    pub(crate) fn signature(&self) -> Option<Rc<Signature>> {
        match self {
            Self::Function(signature) => Some(Rc::clone(signature)),
            Self::Pointer(target) => match &target.ty {
                Self::Function(signature) => Some(Rc::clone(signature)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Records {
    /// In bytes; `None` if the type is not complete.
    pub(crate) fn size(&self, ty: &Type) -> Option<u64> {
        match ty {
            // As gcc has it.
            Type::Void | Type::Function(_) => Some(1),
            Type::Int(int) => Some(u64::from(int.bits()) / 8),
            Type::Float => Some(4),
            Type::Double | Type::Pointer(_) => Some(8),
            Type::Array(element, length) => self.size(&element.ty)?.checked_mul((*length)?),
            Type::Record(id) => self[*id].layout.as_ref().map(|layout| layout.size),
            Type::Foreign(_, size) => Some(*size),
        }
    }

    /// In bytes.
    pub(crate) fn align(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, _) => self.align(&element.ty),
            Type::Record(id) => self[*id].layout.as_ref().map_or(1, |layout| layout.align),
            other => self.size(other).unwrap_or(1).max(1),
        }
    }

    /// The member with a name, with those that members without a name contribute.
    pub(crate) fn field(&self, id: RecordId, name: &str) -> Option<Field> {
        let layout = self[id].layout.as_ref()?;
        layout.fields.iter().find_map(|field| match (&field.name, &field.ty.ty) {
            (Some(own), _) => (own == name).then(|| field.clone()),
            (None, Type::Record(inner)) => self
                .field(*inner, name)
                .map(|found| Field { offset: field.offset + found.offset, ..found }),
            (None, _) => None,
        })
    }

    /// As people write it.
    pub(crate) fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".to_owned(),
            Type::Int(int) => int.name().to_owned(),
            Type::Float => "float".to_owned(),
            Type::Double => "double".to_owned(),
            Type::Pointer(target) => format!("{} *", self.show(&target.ty)),
            Type::Array(element, Some(length)) => format!("{}[{length}]", self.show(&element.ty)),
            Type::Array(element, None) => format!("{}[]", self.show(&element.ty)),
            Type::Function(signature) => format!("{} ()", self.show(&signature.result)),
            Type::Record(id) => {
                let record = &self[*id];
                format!("{} {}", if record.is_union { "union" } else { "struct" }, record.name)
            }
            Type::Foreign(name, _) => (*name).to_owned(),
        }
    }
}

/// Lays members out one after another, or all at the start.
#[derive(Debug)]
pub(crate) struct Builder {
    is_union: bool,
    is_packed: bool,
    fields: Vec<Field>,
    /// The first bit that is free.
    bits: u64,
    size: u64,
    align: u64,
}

impl Builder {
    pub(crate) fn new(is_union: bool, is_packed: bool) -> Self {
        Self { is_union, is_packed, fields: Vec::new(), bits: 0, size: 0, align: 1 }
    }

    /// Adds a member that is no bit-field.
    pub(crate) fn field(&mut self, name: Option<String>, ty: Qualified, size: u64, align: u64) {
        let align = if self.is_packed { 1 } else { align };
        self.align = self.align.max(align);
        let offset = if self.is_union { 0 } else { self.bits.div_ceil(8).next_multiple_of(align) };
        self.bits = (offset + size) * 8;
        self.size = self.size.max(offset + size);
        self.fields.push(Field { name, ty, offset, bits: None });
    }

    /// Adds a bit-field; one of width 0 begins a new unit.
    pub(crate) fn bit_field(&mut self, name: Option<String>, int: Int, width: u8) {
        let unit = u64::from(int.bits());
        if width == 0 {
            self.bits = self.bits.next_multiple_of(unit);
            return;
        }
        let mut start = if self.is_union { 0 } else { self.bits };
        let last = start + u64::from(width) - 1;
        if start / unit != last / unit && !self.is_packed {
            start = start.next_multiple_of(unit);
        }
        let end = start + u64::from(width);
        self.bits = end;
        self.size = self.size.max(end.div_ceil(8));
        if name.is_some() && !self.is_packed {
            self.align = self.align.max(unit / 8);
        }
        let Some(name) = name else { return };
        let (unit, offset, shift) = smallest_unit(start, end);
        let bits = Some(Bits { unit, shift, width, is_shared: false });
        let ty = Qualified::plain(Type::Int(int));
        self.fields.push(Field { name: Some(name), ty, offset, bits });
    }

    pub(crate) fn finish(mut self) -> Layout {
        let plain: Vec<_> = self.fields.iter().filter(|it| it.bits.is_none()).collect();
        let starts: Vec<u64> = plain.iter().map(|field| field.offset).collect();
        let is_union = self.is_union;
        for field in self.fields.iter_mut() {
            let Some(bits) = &mut field.bits else { continue };
            let end = field.offset + u64::from(bits.unit.bits()) / 8;
            let holds = |start: &u64| field.offset <= *start && *start < end;
            bits.is_shared = !is_union && starts.iter().any(holds);
        }
        let size = self.size.next_multiple_of(self.align);
        Layout { fields: self.fields, size, align: self.align }
    }
}

/// The narrowest aligned integer around some bits, its offset, and where in it they begin.
fn smallest_unit(start: u64, end: u64) -> (Int, u64, u8) {
    let units = [Int::UnsignedChar, Int::UnsignedShort, Int::UnsignedInt, Int::UnsignedLong];
    let fits = |unit: &Int| start / u64::from(unit.bits()) == (end - 1) / u64::from(unit.bits());
    let unit = units.into_iter().find(fits).unwrap_or(Int::UnsignedLong);
    let bits = u64::from(unit.bits());
    (unit, start / bits * bits / 8, (start % bits) as u8)
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        use Int as I;
        for (a, b, common) in [
            (I::Char, I::UnsignedShort, I::Int),
            (I::Int, I::UnsignedInt, I::UnsignedInt),
            (I::UnsignedInt, I::Long, I::Long),
            (I::UnsignedLong, I::LongLong, I::UnsignedLongLong),
            (I::Long, I::UnsignedLong, I::UnsignedLong),
            (I::Long, I::LongLong, I::LongLong),
        ] {
            assert_eq!(a.common(b), common, "{a}, {b}");
            assert_eq!(b.common(a), common, "{b}, {a}");
        }
        assert_eq!(I::UnsignedChar.wrap(-1), 255);
        assert_eq!(I::SignedChar.wrap(200), -56);
        assert_eq!(I::Bool.wrap(256), 1);
        assert_eq!(I::UnsignedLong.number(I::UnsignedLong.wrap(-1)), i128::from(u64::MAX));
    }

    #[test]
    fn bit_fields_do_not_cross_their_type() {
        let mut builder = Builder::new(false, false);
        builder.bit_field(Some("a".into()), Int::UnsignedInt, 3);
        builder.bit_field(Some("b".into()), Int::UnsignedInt, 30);
        builder.field(Some("c".into()), Qualified::plain(Type::Int(Int::Char)), 1, 1);
        let layout = builder.finish();
        let at: Vec<_> =
            layout.fields.iter().map(|it| (it.offset, it.bits.map(|b| b.shift))).collect();
        assert_eq!(at, [(0, Some(0)), (4, Some(0)), (8, None)]);
        assert_eq!((layout.size, layout.align), (12, 4));
    }
}
