//! Semantics of operators: the one definition, for machines, constant folding and tests.

use crate::{Binary, Compare, Overflow, Type, Unary};
use std::cmp::Ordering;

/// The bits of a value of type `ty`: an integer is cut off at its width, then extended by its sign
/// or by zeros.
#[inline]
pub fn canonical(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::Int { bits: 64, .. } | Type::Float64 | Type::Pointer => bits,
        Type::Int { bits: width, signed } => {
            let unused = 64 - u32::from(width);
            match signed {
                true => ((bits << unused) as i64 >> unused) as u64,
                false => bits << unused >> unused,
            }
        }
        Type::Float32 => bits & 0xffff_ffff,
    }
}

/// `op operand`, both of type `ty`.
pub fn unary(op: Unary, ty: Type, operand: u64) -> u64 {
    match (op, ty) {
        (Unary::Negate, Type::Float32 | Type::Float64) => from_float(ty, -to_float(ty, operand)),
        (Unary::Negate, _) => canonical(ty, operand.wrapping_neg()),
        (Unary::Not, _) => canonical(ty, !operand),
    }
}

/// `left op right`, all of type `ty` (but for the right side of a shift, of type `shift`).
#[inline]
pub fn binary(op: Binary, ty: Type, left: u64, right: u64, shift: Type) -> u64 {
    if ty.is_float() {
        return float_binary(op, ty, left, right);
    }
    let signed = ty.is_signed();
    let bits = match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => 0,
        Binary::Divide if signed => (left as i64).wrapping_div(right as i64) as u64,
        Binary::Divide => left / right,
        Binary::Remainder if signed => (left as i64).wrapping_rem(right as i64) as u64,
        Binary::Remainder => left % right,
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft | Binary::ShiftRight => {
            let by = shift_amount(ty, right, shift);
            match (op, by) {
                (Binary::ShiftLeft, Some(by)) => left << by,
                (Binary::ShiftLeft, None) => 0,
                (_, by) if signed => ((left as i64) >> by.unwrap_or(63)) as u64,
                (_, Some(by)) => left >> by,
                (_, None) => 0,
            }
        }
        Binary::Apply(_) => 0,
    };
    canonical(ty, bits)
}

/// By how many bits to shift a `ty`; none if that is not less than its width.
fn shift_amount(ty: Type, right: u64, shift: Type) -> Option<u32> {
    let negative = shift.is_signed() && (right as i64) < 0;
    (!negative && right < u64::from(ty.bits())).then_some(right as u32)
}

/// Floats have the first five operators and functions; the others are zero.
fn float_binary(op: Binary, ty: Type, left: u64, right: u64) -> u64 {
    if ty == Type::Float32 {
        let (l, r) = (f32::from_bits(left as u32), f32::from_bits(right as u32));
        let value = match op {
            Binary::Add => l + r,
            Binary::Subtract => l - r,
            Binary::Multiply => l * r,
            Binary::Divide => l / r,
            Binary::Remainder => l % r,
            Binary::Apply(function) => function.of_f32(l, r),
            _ => 0.0,
        };
        return u64::from(value.to_bits());
    }
    let (l, r) = (f64::from_bits(left), f64::from_bits(right));
    let value = match op {
        Binary::Add => l + r,
        Binary::Subtract => l - r,
        Binary::Multiply => l * r,
        Binary::Divide => l / r,
        Binary::Remainder => l % r,
        Binary::Apply(function) => function.of_f64(l, r),
        _ => 0.0,
    };
    value.to_bits()
}

/// Whether `left op right`, both of type `ty`.
#[inline]
pub fn compare(op: Compare, ty: Type, left: u64, right: u64) -> bool {
    let order = match ty {
        Type::Int { signed: true, .. } => Some((left as i64).cmp(&(right as i64))),
        Type::Int { signed: false, .. } | Type::Pointer => Some(left.cmp(&right)),
        Type::Float32 | Type::Float64 => to_float(ty, left).partial_cmp(&to_float(ty, right)),
    };
    match op {
        Compare::Equal => order == Some(Ordering::Equal),
        Compare::NotEqual => order != Some(Ordering::Equal),
        Compare::Less => order == Some(Ordering::Less),
        Compare::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::Greater => order == Some(Ordering::Greater),
        Compare::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Whether the operation on two integers of type `ty` has a result outside of it.
pub fn overflows(op: Overflow, ty: Type, left: u64, right: u64) -> bool {
    let wide = |bits: u64| match ty.is_signed() {
        true => i128::from(bits as i64),
        false => i128::from(bits),
    };
    let (l, r) = (wide(left), wide(right));
    let result = match op {
        Overflow::Add => l + r,
        Overflow::Subtract => l - r,
        Overflow::Multiply => match l.checked_mul(r) {
            Some(product) => product,
            None => return true,
        },
        Overflow::Divide => return ty.is_signed() && r == -1 && l == wide(smallest(ty)),
        Overflow::ShiftLeft => {
            if !(0..i128::from(ty.bits())).contains(&r) || l < 0 {
                return true;
            }
            l << r
        }
    };
    // Numbers of 64 bits and their shifts are far from the ends of 128.
    result != wide(canonical(ty, result as u64))
}

fn smallest(ty: Type) -> u64 {
    canonical(ty, 1 << (ty.bits() - 1))
}

/// The value of type `from` as a `to`.
#[inline]
pub fn convert(to: Type, from: Type, bits: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (false, false) => canonical(to, bits),
        (true, true) => from_float(to, to_float(from, bits)),
        (false, true) => match (from.is_signed(), to) {
            (true, Type::Float32) => u64::from((bits as i64 as f32).to_bits()),
            (true, _) => (bits as i64 as f64).to_bits(),
            (false, Type::Float32) => u64::from((bits as f32).to_bits()),
            (false, _) => (bits as f64).to_bits(),
        },
        // Towards zero; what does not fit ends at the nearest that does, and no number is zero.
        (true, false) => {
            let value = to_float(from, bits);
            match to.is_signed() {
                true => canonical(to, value as i64 as u64),
                false => canonical(to, value as u64),
            }
        }
    }
}

fn to_float(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::Float32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn from_float(ty: Type, value: f64) -> u64 {
    match ty {
        Type::Float32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_at_their_width() {
        let i8 = Type::signed(8);
        let add =
            |left: i64, right: i64| binary(Binary::Add, i8, left as u64, right as u64, i8) as i64;
        assert_eq!(add(127, 1), -128);
        assert!(overflows(Overflow::Add, i8, 127, 1));
        assert!(!overflows(Overflow::Add, i8, 126, 1));
        assert_eq!(binary(Binary::Add, Type::U8, 255, 1, Type::U8), 0);
    }

    #[test]
    fn division_is_total() {
        let smallest = i64::from(i32::MIN) as u64;
        let minus_one = -1i64 as u64;
        assert_eq!(binary(Binary::Divide, Type::I32, smallest, minus_one, Type::I32), smallest);
        assert!(overflows(Overflow::Divide, Type::I32, smallest, minus_one));
        assert_eq!(binary(Binary::Divide, Type::I32, 7, 0, Type::I32), 0);
        assert_eq!(binary(Binary::Remainder, Type::U64, 7, 0, Type::U64), 0);
        assert_eq!(
            binary(Binary::Divide, Type::I64, i64::MIN as u64, minus_one, Type::I64),
            i64::MIN as u64
        );
    }

    #[test]
    fn shifts_are_total() {
        let shift = |op, left: i64, right: i64| {
            binary(op, Type::I32, left as u64, right as u64, Type::I32) as i64
        };
        assert_eq!(shift(Binary::ShiftLeft, 1, 31), i64::from(i32::MIN));
        assert_eq!(shift(Binary::ShiftLeft, 1, 32), 0);
        assert_eq!(shift(Binary::ShiftRight, -8, 1), -4);
        assert_eq!(shift(Binary::ShiftRight, -8, 40), -1);
        assert_eq!(shift(Binary::ShiftRight, 8, -1), 0);
        assert!(overflows(Overflow::ShiftLeft, Type::I32, 1, 31));
        assert!(!overflows(Overflow::ShiftLeft, Type::U32, 1, 31));
    }

    #[test]
    fn floats_are_rounded_to_their_type() {
        let third = binary(
            Binary::Divide,
            Type::Float32,
            u64::from(1f32.to_bits()),
            u64::from(3f32.to_bits()),
            Type::Float32,
        );
        assert_eq!(f32::from_bits(third as u32), 1.0 / 3.0);
        assert_eq!(convert(Type::I32, Type::Float64, (-2.9f64).to_bits()) as i64, -2);
        assert!(!compare(Compare::Equal, Type::Float64, f64::NAN.to_bits(), f64::NAN.to_bits()));
    }
}
