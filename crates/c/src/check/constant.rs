//! Constant expressions: those whose value is known before the program runs.

use crate::tree::{Base, Binary, Constant, Expression, GlobalId, Kind, Place, Unary};
use crate::types::{Int, Type};

/// The value of an expression, if nothing has to run for it.
pub(crate) fn fold(expression: &Expression) -> Option<Constant> {
    match &expression.kind {
        Kind::Int(value) => Some(Constant::Int(*value)),
        Kind::Float(value) => Some(Constant::Float(*value)),
        Kind::Function(id) => Some(Constant::Function(*id)),
        Kind::Address(place) => address(place),
        Kind::Convert(inner) => convert(fold(inner)?, &inner.ty, &expression.ty),
        Kind::Unary(operator, inner) => unary(*operator, fold(inner)?, &inner.ty, &expression.ty),
        Kind::Binary(operator, left, right) => {
            binary(*operator, fold(left)?, fold(right)?, &left.ty, &expression.ty)
        }
        Kind::Advance(pointer, index, size) => {
            let Constant::Int(index) = fold(index)? else { return None };
            let bytes = index.wrapping_mul(i64::try_from(*size).ok()?);
            match fold(pointer)? {
                Constant::Address(id, offset) => {
                    Some(Constant::Address(id, offset.wrapping_add(bytes)))
                }
                Constant::Int(value) => Some(Constant::Int(value.wrapping_add(bytes))),
                _ => None,
            }
        }
        Kind::Index(index, limit) => match fold(index)? {
            Constant::Int(index) if u64::try_from(index).is_ok_and(|it| it < *limit) => {
                Some(Constant::Int(index))
            }
            _ => None,
        },
        Kind::Distance(left, right, size) => match (fold(left)?, fold(right)?) {
            (Constant::Address(a, x), Constant::Address(b, y)) if a == b => {
                Some(Constant::Int((x - y) / i64::try_from(*size).ok()?))
            }
            _ => None,
        },
        Kind::And(left, right) => match truth(&fold(left)?)? {
            false => Some(Constant::Int(0)),
            true => Some(Constant::Int(i64::from(truth(&fold(right)?)?))),
        },
        Kind::Or(left, right) => match truth(&fold(left)?)? {
            true => Some(Constant::Int(1)),
            false => Some(Constant::Int(i64::from(truth(&fold(right)?)?))),
        },
        Kind::Conditional(condition, then, otherwise) => {
            fold(if truth(&fold(condition)?)? { then } else { otherwise })
        }
        Kind::Elvis(value, otherwise) => {
            let value = fold(value)?;
            if truth(&value)? { Some(value) } else { fold(otherwise) }
        }
        _ => None,
    }
}

/// Whether it counts as true.
pub(super) fn truth(value: &Constant) -> Option<bool> {
    match value {
        Constant::Int(value) => Some(*value != 0),
        Constant::Float(value) => Some(*value != 0.0),
        Constant::Address(..) | Constant::Function(_) => Some(true),
    }
}

fn address(place: &Place) -> Option<Constant> {
    let offset = i64::try_from(place.offset).ok()?;
    match &place.base {
        Base::Global(id) => Some(Constant::Address(*id, offset)),
        Base::Pointer(pointer) => match fold(pointer)? {
            Constant::Address(id, start) => Some(Constant::Address(id, start + offset)),
            // `&((struct s *) 0)->m`, the old way to say `offsetof`.
            Constant::Int(value) => Some(Constant::Int(value.wrapping_add(offset))),
            _ => None,
        },
        Base::Local(_) | Base::Value(_) => None,
    }
}

/// A value in another type.
pub(crate) fn convert(value: Constant, from: &Type, to: &Type) -> Option<Constant> {
    Some(match (value, to) {
        (Constant::Int(value), Type::Int(int)) => {
            let from = from.as_int().unwrap_or(Int::UnsignedLong);
            Constant::Int(int.wrap(from.number(value)))
        }
        (Constant::Int(value), Type::Pointer(_)) => Constant::Int(value),
        (Constant::Int(value), Type::Double) => {
            Constant::Float(from.as_int()?.number(value) as f64)
        }
        (Constant::Int(value), Type::Float) => {
            Constant::Float(f64::from(from.as_int()?.number(value) as f32))
        }
        (Constant::Float(value), Type::Int(Int::Bool)) => Constant::Int(i64::from(value != 0.0)),
        (Constant::Float(value), Type::Int(int)) => Constant::Int(int.wrap(value as i128)),
        (Constant::Float(value), Type::Float) => Constant::Float(f64::from(value as f32)),
        (Constant::Float(value), Type::Double) => Constant::Float(value),
        (value @ (Constant::Address(..) | Constant::Function(_)), Type::Pointer(_)) => value,
        (Constant::Address(..) | Constant::Function(_), Type::Int(Int::Bool)) => Constant::Int(1),
        (value @ (Constant::Address(..) | Constant::Function(_)), Type::Int(int))
            if int.bits() == 64 =>
        {
            value
        }
        (value, Type::Void) => value,
        _ => return None,
    })
}

fn unary(operator: Unary, value: Constant, from: &Type, ty: &Type) -> Option<Constant> {
    match (operator, value) {
        (Unary::Not, value) => Some(Constant::Int(i64::from(!truth(&value)?))),
        (Unary::Minus, Constant::Float(value)) => Some(Constant::Float(-value)),
        (Unary::Minus, Constant::Int(value)) => {
            Some(Constant::Int(ty.as_int()?.wrap(-from.as_int()?.number(value))))
        }
        (Unary::Complement, Constant::Int(value)) => {
            Some(Constant::Int(ty.as_int()?.wrap(!i128::from(value))))
        }
        _ => None,
    }
}

fn binary(
    operator: Binary,
    left: Constant,
    right: Constant,
    operands: &Type,
    ty: &Type,
) -> Option<Constant> {
    let compare = |order: Option<std::cmp::Ordering>| {
        Some(Constant::Int(i64::from(match operator {
            Binary::Equal => order.is_some_and(|it| it.is_eq()),
            Binary::NotEqual => !order.is_some_and(|it| it.is_eq()),
            Binary::Less => order.is_some_and(|it| it.is_lt()),
            Binary::LessOrEqual => order.is_some_and(|it| it.is_le()),
            Binary::Greater => order.is_some_and(|it| it.is_gt()),
            Binary::GreaterOrEqual => order.is_some_and(|it| it.is_ge()),
            _ => return None,
        })))
    };
    match (left, right) {
        (Constant::Int(left), Constant::Int(right)) => {
            let int = operands.as_int().unwrap_or(Int::UnsignedLong);
            let (left, right) = (int.number(left), int.number(right));
            if let Some(value) = compare(Some(left.cmp(&right))) {
                return Some(value);
            }
            let bits = i128::from(int.bits());
            let value = match operator {
                Binary::Add => left + right,
                Binary::Subtract => left - right,
                Binary::Multiply => left.wrapping_mul(right),
                Binary::Divide => left.checked_div(right)?,
                Binary::Remainder => left.checked_rem(right)?,
                Binary::ShiftLeft if (0..bits).contains(&right) => left << right,
                Binary::ShiftRight if (0..bits).contains(&right) => left >> right,
                Binary::And => left & right,
                Binary::Or => left | right,
                Binary::Xor => left ^ right,
                _ => return None,
            };
            let ty = ty.as_int()?;
            // What overflows is left to run, and to be noticed there.
            let fits = !ty.is_signed() || ty.number(ty.wrap(value)) == value;
            fits.then(|| Constant::Int(ty.wrap(value)))
        }
        (Constant::Float(left), Constant::Float(right)) => {
            if let Some(value) = compare(left.partial_cmp(&right)) {
                return Some(value);
            }
            let value = match operator {
                Binary::Add => left + right,
                Binary::Subtract => left - right,
                Binary::Multiply => left * right,
                Binary::Divide => left / right,
                _ => return None,
            };
            Some(Constant::Float(if *ty == Type::Float { f64::from(value as f32) } else { value }))
        }
        (Constant::Address(of, at), Constant::Int(by)) if operator == Binary::Add => {
            moved(of, at, by, ty)
        }
        (Constant::Int(by), Constant::Address(of, at)) if operator == Binary::Add => {
            moved(of, at, by, ty)
        }
        (Constant::Address(of, at), Constant::Int(by)) if operator == Binary::Subtract => {
            moved(of, at, by.wrapping_neg(), ty)
        }
        (Constant::Address(of, at), Constant::Address(other, to))
            if of == other && operator == Binary::Subtract =>
        {
            Some(Constant::Int(at.wrapping_sub(to)))
        }
        (left, right) => match operator {
            Binary::Equal if left == right => Some(Constant::Int(1)),
            Binary::NotEqual if left == right => Some(Constant::Int(0)),
            _ => None,
        },
    }
}

/// An address as an integer, and so many bytes more.
fn moved(of: GlobalId, at: i64, by: i64, ty: &Type) -> Option<Constant> {
    let is_wide = ty.as_int().is_some_and(|int| int.bits() == 64);
    is_wide.then(|| Constant::Address(of, at.wrapping_add(by)))
}
