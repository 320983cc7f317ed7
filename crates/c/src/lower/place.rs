//! Places: registers, memory, bit-fields, and structs that are copied part by part.

use super::statement::Variable;
use super::{Writer, value_type};
use crate::tree::{self, Base};
use crate::types::{self, Bits, Qualified};
use mazurka_model::{Access, Action, Binary, Expr, Place, RegisterId, Type};

/// Where a scalar is.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Register(RegisterId),
    /// What a library function was called with.
    Value(Expr),
    Memory(Memory),
}

/// A scalar in memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) place: Place,
    pub(super) access: Access,
    ty: types::Type,
    bits: Option<Bits>,
}

/// The most parts that a struct is copied in one by one.
const MOST_PARTS: usize = 64;

impl<'a> Writer<'_, 'a> {
    /// Computes where a place is.
    pub(super) fn target(&mut self, it: &'a tree::Place) -> Target {
        if let Base::Local(id) = it.base {
            match self.context.variables[id.0].clone() {
                Variable::Register(register) => return Target::Register(register),
                Variable::Value(value) => return Target::Value(value),
                Variable::Memory(_) => {}
            }
        }
        let (place, is_private) = self.memory(it);
        let access = access(&it.ty, is_private);
        Target::Memory(Memory { place, access, ty: it.ty.ty.clone(), bits: it.bits })
    }

    /// Where in memory a place is, and whether only this thread can get there.
    pub(super) fn memory(&mut self, it: &'a tree::Place) -> (Place, bool) {
        let (place, is_private) = match &it.base {
            Base::Local(id) => match self.context.variables[id.0].clone() {
                Variable::Memory(place) => (place, !self.context.escapes[id.0]),
                Variable::Register(_) | Variable::Value(_) => {
                    unreachable!("the address of a register is not taken")
                }
            },
            Base::Global(id) => {
                let global = &self.all.tree.globals[id.0];
                let is_ours = global.is_thread_local && self.call_place.is_some();
                (Place::object(self.all.object(*id)), is_ours)
            }
            Base::Pointer(pointer) => {
                let pointer = self.value(pointer);
                let place = place_of(pointer);
                let is_private = self.is_private(&place);
                (place, is_private)
            }
            Base::Value(value) => (self.record(value), true),
        };
        (place.plus(Expr::int(Type::I64, it.offset as i64)), is_private)
    }

    /// Whether a place is a local of the routine that does not get out of sight.
    pub(super) fn is_private(&self, place: &Place) -> bool {
        let mazurka_model::Base::Frame(frame) = &place.base else { return false };
        let is_it = |variable: &Variable| {
            matches!(variable, Variable::Memory(Place { base: mazurka_model::Base::Frame(it), .. })
                if it == frame)
        };
        let outermost = self.outer.as_deref().unwrap_or(&self.context);
        let local = outermost.variables.iter().position(is_it);
        local.is_some_and(|idx| !outermost.escapes[idx])
    }

    /// Reads a scalar.
    pub(super) fn read(&mut self, target: &Target) -> Expr {
        match target {
            Target::Register(register) => self.to.get(*register),
            Target::Value(value) => value.clone(),
            Target::Memory(memory) => {
                let Some(bits) = memory.bits else {
                    return self.load(&memory.place, value_type(&memory.ty), memory.access);
                };
                let unit = value_type(&types::Type::Int(bits.unit));
                let all = self.load(&memory.place, unit, memory.access);
                extracted(all, bits, &memory.ty)
            }
        }
    }

    /// Reads memory into a register.
    pub(super) fn load(&mut self, place: &Place, ty: Type, access: Access) -> Expr {
        let register = self.temporary(ty);
        self.to.load(register, place.clone(), access);
        self.to.get(register)
    }

    /// Writes a scalar; says what is there afterwards.
    pub(super) fn write(&mut self, target: &Target, value: Expr) -> Expr {
        match target {
            Target::Register(register) => {
                self.to.assign(*register, value);
                self.to.get(*register)
            }
            Target::Value(value) => value.clone(),
            Target::Memory(memory) => {
                let value = self.small(value);
                let Some(bits) = memory.bits else {
                    self.to.store(memory.place.clone(), value.clone(), memory.access);
                    return value;
                };
                let unit = value_type(&types::Type::Int(bits.unit));
                let old = self.load(&memory.place, unit, memory.access);
                let mask = if bits.width == 64 { -1 } else { (1i64 << bits.width) - 1 };
                let own = Expr::binary(
                    Binary::And,
                    value.convert(Type::I64).convert(unit),
                    Expr::int(unit, mask),
                );
                let own = shifted(Binary::ShiftLeft, own, bits.shift);
                let others = Expr::binary(
                    Binary::And,
                    old,
                    Expr::int(unit, !((mask as u64) << bits.shift) as i64),
                );
                let all = self.small(others.or(own));
                self.to.store(memory.place.clone(), all.clone(), memory.access);
                extracted(all, bits, &memory.ty)
            }
        }
    }

    /// Copies a struct, part by part. `to_local` is the local it goes to, if it is one.
    pub(super) fn copy_record(
        &mut self,
        ty: &types::Type,
        to: Place,
        from: Place,
        to_local: usize,
    ) {
        let mut parts = Vec::new();
        self.parts(ty, 0, &mut parts);
        let from_access = self.access_of(&from);
        let to_access = match self.context.escapes.get(to_local) {
            Some(false) => Access::Private,
            _ => self.access_of(&to),
        };
        if parts.len() > MOST_PARTS {
            let size = Expr::int(Type::I64, self.size(ty) as i64);
            self.to.then(Action::Copy { to, from, size });
            return;
        }
        // All is read before anything is written, as if through a buffer.
        let mut values = Vec::new();
        for (offset, ty) in &parts {
            let at = Expr::int(Type::I64, *offset as i64);
            values.push(self.load(&from.clone().plus(at), *ty, from_access));
        }
        for ((offset, _), value) in parts.iter().zip(values) {
            let at = Expr::int(Type::I64, *offset as i64);
            self.to.store(to.clone().plus(at), value, to_access);
        }
    }

    fn access_of(&self, place: &Place) -> Access {
        if self.is_private(place) { Access::Private } else { Access::Plain }
    }

    /// Makes all bytes of a local 0.
    pub(super) fn zero(&mut self, ty: &types::Type, place: Place, local_idx: usize) {
        let mut parts = Vec::new();
        self.parts(ty, 0, &mut parts);
        if parts.len() > MOST_PARTS {
            let size = Expr::int(Type::I64, self.size(ty) as i64);
            self.to.then(Action::Fill { to: place, byte: Expr::int(Type::U8, 0), size });
            return;
        }
        let access = match self.context.escapes[local_idx] {
            false => Access::Private,
            true => Access::Plain,
        };
        for (offset, ty) in parts {
            let place = place.clone().plus(Expr::int(Type::I64, offset as i64));
            self.to.store(place, Expr::Const { ty, bits: 0 }, access);
        }
    }

    fn size(&self, ty: &types::Type) -> u64 {
        self.all.tree.records.size(ty).unwrap_or(0)
    }

    /// The scalars that a type is made of, and where each is.
    fn parts(&self, ty: &types::Type, start: u64, to: &mut Vec<(u64, Type)>) {
        if to.len() > MOST_PARTS {
            return;
        }
        match ty {
            types::Type::Array(element, length) => {
                let size = self.size(&element.ty);
                for idx in 0..length.unwrap_or(0) {
                    self.parts(&element.ty, start + idx * size, to);
                    if to.len() > MOST_PARTS {
                        return;
                    }
                }
            }
            types::Type::Record(id) => {
                let record = &self.all.tree.records[*id];
                let Some(layout) = &record.layout else { return };
                if record.is_union || record.sync.is_some() {
                    words(start, layout.size, to);
                    return;
                }
                for field in &layout.fields {
                    let unit = field.bits.map(|bits| types::Type::Int(bits.unit));
                    let at = start + field.offset;
                    // Bit-fields of one unit are one part.
                    let is_new = !to.iter().any(|(offset, _)| *offset == at);
                    if field.bits.is_none() || is_new {
                        self.parts(unit.as_ref().unwrap_or(&field.ty.ty), at, to);
                    }
                }
            }
            scalar => to.push((start, value_type(scalar))),
        }
    }
}

/// The place that a pointer points to, by its name where that is known.
pub(super) fn place_of(pointer: Expr) -> Place {
    match pointer {
        Expr::Address(place) => *place,
        Expr::Offset(base, bytes) => place_of(*base).plus(*bytes),
        other => Place::pointer(other),
    }
}

/// So many bytes as words, the last ones smaller.
fn words(start: u64, size: u64, to: &mut Vec<(u64, Type)>) {
    let mut at = 0;
    while at < size {
        let bytes = [8, 4, 2, 1].into_iter().find(|bytes| at + bytes <= size).unwrap_or(1);
        to.push((start + at, Type::unsigned(bytes as u8 * 8)));
        at += bytes;
    }
}

fn access(ty: &Qualified, is_private: bool) -> Access {
    match ty {
        _ if is_private => Access::Private,
        Qualified { is_atomic: true, .. } => Access::ATOMIC,
        Qualified { is_volatile: true, .. } => Access::Volatile,
        _ => Access::Plain,
    }
}

/// A bit-field, taken out of its unit.
fn extracted(all: Expr, bits: Bits, ty: &types::Type) -> Expr {
    let own = shifted(Binary::ShiftRight, all, bits.shift);
    let is_signed = ty.as_int().is_some_and(types::Int::is_signed);
    own.convert(Type::Int { bits: bits.width, signed: is_signed }).convert(value_type(ty))
}

fn shifted(operator: Binary, value: Expr, by: u8) -> Expr {
    if by == 0 { value } else { Expr::binary(operator, value, Expr::int(Type::U8, i64::from(by))) }
}
