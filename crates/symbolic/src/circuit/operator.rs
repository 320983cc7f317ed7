//! The operators of programs on [`Word`]s: what [`mazurka_model::binary`] and its like compute, as
//! circuits.
//!
//! Absent: floating point.

use crate::{Aig, Lit, Word};
use mazurka_model::{Binary, Compare, Overflow, Type, Unary};

/// Integers and pointers, each as wide as its type.
impl Aig {
    /// `op operand`, both of one type.
    pub fn unary(&mut self, op: Unary, operand: &Word) -> Word {
        match op {
            Unary::Negate => self.negate(operand),
            Unary::Not => operand.complement(),
        }
    }

    /// `left op right`, all of type `ty` (but for the right side of a shift, of type `shift`).
    pub fn binary(&mut self, op: Binary, ty: Type, left: &Word, right: &Word, shift: Type) -> Word {
        debug_assert!(!ty.is_float());
        let signed = ty.is_signed();
        match op {
            Binary::Add => self.add(left, right),
            Binary::Subtract => self.subtract(left, right),
            Binary::Multiply => self.multiply(left, right),
            Binary::Divide => self.divide(left, right, signed).0,
            Binary::Remainder => self.divide(left, right, signed).1,
            Binary::And => self.bitwise(left, right, Self::and),
            Binary::Or => self.bitwise(left, right, Self::or),
            Binary::Xor => self.bitwise(left, right, Self::xor),
            // A negative distance has its top bit set, and is a large one.
            Binary::ShiftLeft => self.shift_left(left, &distance(left, right, shift)),
            Binary::ShiftRight => self.shift_right(left, &distance(left, right, shift), signed),
            Binary::Apply(_) => unreachable!("it is refused where floats are"),
        }
    }

    /// Whether `left op right`, both of type `ty`.
    pub fn compare(&mut self, op: Compare, ty: Type, left: &Word, right: &Word) -> Lit {
        debug_assert!(!ty.is_float());
        let signed = ty.is_signed();
        match op {
            Compare::Equal => self.equal(left, right),
            Compare::NotEqual => !self.equal(left, right),
            Compare::Less => self.less(left, right, signed),
            Compare::LessOrEqual => !self.less(right, left, signed),
            Compare::Greater => self.less(right, left, signed),
            Compare::GreaterOrEqual => !self.less(left, right, signed),
        }
    }

    /// Whether the operation on two integers of type `ty` has a result outside of it.
    pub fn overflows(&mut self, op: Overflow, ty: Type, left: &Word, right: &Word) -> Lit {
        let (width, signed) = (left.width(), ty.is_signed());
        let wider = |by: usize| [left, right].map(|word| word.resize(width + by, signed));
        match op {
            Overflow::Add => {
                let [left, right] = wider(1);
                let sum = self.add(&left, &right);
                self.is_outside(&sum, width, signed)
            }
            Overflow::Subtract => {
                let [left, right] = wider(1);
                let difference = self.subtract(&left, &right);
                self.is_outside(&difference, width, signed)
            }
            Overflow::Multiply => {
                let [left, right] = wider(width);
                let product = self.multiply(&left, &right);
                self.is_outside(&product, width, signed)
            }
            Overflow::Divide => {
                let by_minus_one = self.all(right.bits().iter().copied());
                let low = left.bits()[..width - 1].iter().map(|&bit| !bit);
                let is_smallest = self.all(low.chain([left.sign(), signed.into()]));
                self.and(by_minus_one, is_smallest)
            }
            Overflow::ShiftLeft => {
                let shifted = self.shift_left(&left.resize(2 * width, false), right);
                let is_outside = self.is_outside(&shifted, width, signed);
                let limit = Word::constant(width + 8, width as u64);
                let is_near = self.less(&right.resize(width + 8, false), &limit, false);
                let is_negative = self.and(signed.into(), left.sign());
                self.any([is_outside, !is_near, is_negative])
            }
        }
    }

    /// The value of an integer or pointer type as another one.
    pub fn convert(&mut self, to: Type, from: Type, word: &Word) -> Word {
        debug_assert!(!to.is_float() && !from.is_float());
        word.resize(to.bits() as usize, from.is_signed())
    }

    /// Whether a wider number needs more bits than `width`.
    fn is_outside(&mut self, wide: &Word, width: usize, signed: bool) -> Lit {
        let expected = wide.truncate(width).resize(wide.width(), signed);
        !self.equal(wide, &expected)
    }
}

/// By how many bits to shift: wide enough for the sign of the distance to make it too large.
fn distance(word: &Word, by: &Word, ty: Type) -> Word {
    let width = by.width().max(word.width().ilog2() as usize + 2);
    by.resize(width, ty.is_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mazurka_model::canonical;

    const N_PATTERNS: usize = 64;

    /// 64 values of a type, those at its ends among them.
    fn values(ty: Type, random: &mut u64) -> [u64; N_PATTERNS] {
        std::array::from_fn(|idx| {
            *random ^= *random << 13;
            *random ^= *random >> 7;
            *random ^= *random << 17;
            let top = 1u64 << (ty.bits() - 1);
            let bits = match idx % 16 {
                0 => 0,
                1 => 1,
                2 => u64::MAX,
                3 => top,
                4 => top - 1,
                5 => u64::from(ty.bits()).wrapping_sub(*random % 3),
                6 | 7 => *random % 8,
                8 => (*random % 8).wrapping_neg(),
                9 => top >> (*random % 64).min(63),
                _ => *random,
            };
            canonical(ty, bits)
        })
    }

    struct Check {
        aig: Aig,
        leaves: Vec<u64>,
        ty: Type,
        left: [u64; N_PATTERNS],
        right: [u64; N_PATTERNS],
    }

    impl Check {
        fn new(ty: Type, right_ty: Type, random: &mut u64) -> (Self, Word, Word) {
            let left = values(ty, random);
            let right = {
                let mut values = values(right_ty, random);
                // Otherwise the ends would always meet each other.
                values.rotate_left((*random % 64) as usize);
                values
            };
            let mut check = Self { aig: Aig::new(), leaves: Vec::new(), ty, left, right };
            let l = check.word(ty, &left);
            let r = check.word(right_ty, &right);
            (check, l, r)
        }

        fn word(&mut self, ty: Type, values: &[u64; N_PATTERNS]) -> Word {
            let bits = (0..ty.bits()).map(|bit| {
                let column = |(idx, value): (usize, &u64)| (value >> bit & 1) << idx;
                self.leaves.push(values.iter().enumerate().map(column).sum());
                self.aig.input()
            });
            Word::from(bits.collect::<Vec<_>>())
        }

        fn agrees(&self, what: &str, result: &Word, ty: Type, expected: impl Fn(u64, u64) -> u64) {
            assert_eq!(result.width(), ty.bits() as usize, "{what} {:?}", self.ty);
            let patterns = self.aig.simulate(|node| self.leaves[node - 1]);
            for idx in 0..N_PATTERNS {
                let bit = |(bit, &lit): (usize, &Lit)| (patterns.word(lit) >> idx & 1) << bit;
                let bits: u64 = result.bits().iter().enumerate().map(bit).sum();
                let (left, right) = (self.left[idx], self.right[idx]);
                let expected = expected(left, right);
                assert_eq!(canonical(ty, bits), expected, "{left} {what} {right}, {:?}", self.ty);
            }
        }
    }

    fn types() -> impl Iterator<Item = Type> {
        (1..=64).flat_map(|bits| [true, false].map(|signed| Type::Int { bits, signed }))
    }

    const BINARY: [Binary; 10] = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::Remainder,
        Binary::And,
        Binary::Or,
        Binary::Xor,
        Binary::ShiftLeft,
        Binary::ShiftRight,
    ];
    const COMPARE: [Compare; 6] = [
        Compare::Equal,
        Compare::NotEqual,
        Compare::Less,
        Compare::LessOrEqual,
        Compare::Greater,
        Compare::GreaterOrEqual,
    ];
    const OVERFLOW: [Overflow; 5] = [
        Overflow::Add,
        Overflow::Subtract,
        Overflow::Multiply,
        Overflow::Divide,
        Overflow::ShiftLeft,
    ];

    #[test]
    fn binary_operators_compute_what_the_machine_computes() {
        let mut random = 1;
        for ty in types() {
            for op in BINARY {
                let (mut check, l, r) = Check::new(ty, ty, &mut random);
                let result = check.aig.binary(op, ty, &l, &r, ty);
                check.agrees(&format!("{op:?}"), &result, ty, |left, right| {
                    mazurka_model::binary(op, ty, left, right, ty)
                });
            }
        }
    }

    #[test]
    fn shifts_take_any_type_on_the_right() {
        let mut random = 2;
        for ty in types() {
            for shift in [Type::I32, Type::U8, Type::signed(3), Type::BOOL, Type::U64] {
                for op in [Binary::ShiftLeft, Binary::ShiftRight] {
                    let (mut check, l, r) = Check::new(ty, shift, &mut random);
                    let result = check.aig.binary(op, ty, &l, &r, shift);
                    check.agrees(&format!("{op:?} {shift:?}"), &result, ty, |left, right| {
                        mazurka_model::binary(op, ty, left, right, shift)
                    });
                }
            }
        }
    }

    #[test]
    fn comparisons_and_overflows_are_those_of_the_machine() {
        let mut random = 3;
        for ty in types().chain([Type::Pointer]) {
            for op in COMPARE {
                let (mut check, l, r) = Check::new(ty, ty, &mut random);
                let result = check.aig.compare(op, ty, &l, &r).into();
                check.agrees(&format!("{op:?}"), &result, Type::BOOL, |left, right| {
                    mazurka_model::compare(op, ty, left, right).into()
                });
            }
            for op in OVERFLOW.into_iter().filter(|_| ty != Type::Pointer) {
                let (mut check, l, r) = Check::new(ty, ty, &mut random);
                let result = check.aig.overflows(op, ty, &l, &r).into();
                check.agrees(&format!("{op:?}"), &result, Type::BOOL, |left, right| {
                    mazurka_model::overflows(op, ty, left, right).into()
                });
            }
        }
    }

    #[test]
    fn conversions_and_signs_are_those_of_the_machine() {
        let mut random = 4;
        for from in types() {
            for op in [Unary::Negate, Unary::Not] {
                let (mut check, l, _) = Check::new(from, from, &mut random);
                let result = check.aig.unary(op, &l);
                check.agrees(&format!("{op:?}"), &result, from, |left, _| {
                    mazurka_model::unary(op, from, left)
                });
            }
            for to in [Type::U8, Type::I32, Type::U64, Type::BOOL, Type::signed(17)] {
                let (mut check, l, _) = Check::new(from, from, &mut random);
                let result = check.aig.convert(to, from, &l);
                check.agrees(&format!("as {to:?}"), &result, to, |left, _| {
                    mazurka_model::convert(to, from, left)
                });
            }
        }
    }
}
