//! Words: numbers of a fixed width as literals, and circuits that compute with them.
//!
//! Every operator is total, and means what [`mazurka_model::binary`] says: sums wrap around,
//! division by zero is zero, and shifting by the width or more leaves nothing, or the sign.

use crate::{Aig, Lit};

/// A number: its bits, the least significant first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word(Vec<Lit>);

impl From<Vec<Lit>> for Word {
    fn from(bits: Vec<Lit>) -> Self {
        Self(bits)
    }
}

impl From<Lit> for Word {
    fn from(bit: Lit) -> Self {
        Self(vec![bit])
    }
}

impl Word {
    /// The lowest `width` bits of a number.
    pub fn constant(width: usize, value: u64) -> Self {
        let bit = |idx: usize| idx < 64 && value >> idx & 1 == 1;
        Self((0..width).map(|idx| bit(idx).into()).collect())
    }

    /// How many bits it has.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// Its bits, the least significant first.
    pub fn bits(&self) -> &[Lit] {
        &self.0
    }

    /// The number, if it is the same under all inputs. Only for words of up to 64 bits.
    pub fn value(&self) -> Option<u64> {
        let bits = self.0.iter().enumerate();
        { bits }.try_fold(0, |value, (idx, bit)| Some(value | u64::from(bit.constant()?) << idx))
    }

    /// The most significant bit; false if there are none.
    pub fn sign(&self) -> Lit {
        self.0.last().copied().unwrap_or(Lit::FALSE)
    }

    /// The lowest `width` bits.
    #[must_use]
    pub fn truncate(&self, width: usize) -> Self {
        Self(self.0[..width].to_vec())
    }

    /// Cut off at `width`, or extended by its sign or by zeros.
    #[must_use]
    pub fn resize(&self, width: usize, signed: bool) -> Self {
        let fill = if signed { self.sign() } else { Lit::FALSE };
        let mut bits = self.0.clone();
        bits.resize(width, fill);
        Self(bits)
    }

    /// `n_bits` bits from bit `low` on.
    #[must_use]
    pub fn slice(&self, low: usize, n_bits: usize) -> Self {
        Self(self.0[low..low + n_bits].to_vec())
    }

    /// The bits of this word, and then those of a more significant one.
    #[must_use]
    pub fn concat(&self, high: &Self) -> Self {
        Self(self.0.iter().chain(&high.0).copied().collect())
    }

    /// Every bit flipped.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self(self.0.iter().map(|&bit| !bit).collect())
    }
}

/// Computing with words. Operands of one operator have the same width, unless it says otherwise.
impl Aig {
    /// A function of two bits, for each pair of them.
    pub fn bitwise(
        &mut self,
        left: &Word,
        right: &Word,
        mut bit: impl FnMut(&mut Self, Lit, Lit) -> Lit,
    ) -> Word {
        debug_assert_eq!(left.width(), right.width());
        Word(left.0.iter().zip(&right.0).map(|(&l, &r)| bit(self, l, r)).collect())
    }

    /// `yes` where `condition` is true, else `no`.
    pub fn mux(&mut self, condition: Lit, yes: &Word, no: &Word) -> Word {
        self.bitwise(yes, no, |aig, yes, no| aig.ite(condition, yes, no))
    }

    /// The word, or zero where `condition` is false.
    pub fn gate(&mut self, condition: Lit, word: &Word) -> Word {
        Word(word.0.iter().map(|&bit| self.and(condition, bit)).collect())
    }

    /// The word whose condition is true; zero if none is. No two may be true at once.
    pub fn one_hot(&mut self, width: usize, choices: &[(Lit, Word)]) -> Word {
        let gated: Vec<_> = choices.iter().map(|(lit, word)| self.gate(*lit, word)).collect();
        let bit = |idx: usize| gated.iter().map(move |word| word.0[idx]);
        Word((0..width).map(|idx| self.any(bit(idx))).collect())
    }

    /// The element of this number; where there is none, any element.
    pub fn select(&mut self, index: &Word, elements: &[Word]) -> Word {
        let mut layer = elements.to_vec();
        for &bit in index.bits() {
            if layer.len() <= 1 {
                break;
            }
            let pairs = layer.chunks(2);
            layer = pairs
                .map(|pair| match pair {
                    [even, odd] => self.mux(bit, odd, even),
                    _ => pair[0].clone(),
                })
                .collect();
        }
        layer.swap_remove(0)
    }

    /// For every number below `n`, whether the word is that number.
    pub fn decode(&mut self, word: &Word, n: usize) -> Vec<Lit> {
        (0..n).map(|number| self.equals_number(word, number as u64)).collect()
    }

    /// Whether a word is this number.
    pub fn equals_number(&mut self, word: &Word, number: u64) -> Lit {
        let fits = word.width() >= 64 || number >> word.width() == 0;
        let constant = Word::constant(word.width(), number);
        let equal = self.equal(word, &constant);
        if fits { equal } else { Lit::FALSE }
    }

    /// Whether all bits are the same.
    pub fn equal(&mut self, left: &Word, right: &Word) -> Lit {
        let same = self.bitwise(left, right, Self::iff);
        self.all(same.0)
    }

    /// Whether it is not zero.
    pub fn is_nonzero(&mut self, word: &Word) -> Lit {
        self.any(word.0.iter().copied())
    }

    /// Whether the left number is smaller.
    pub fn less(&mut self, left: &Word, right: &Word, signed: bool) -> Lit {
        debug_assert_eq!(left.width(), right.width());
        let mut less = Lit::FALSE;
        let top = left.width().wrapping_sub(1);
        for (idx, (&l, &r)) in left.0.iter().zip(&right.0).enumerate() {
            // With signs, the top bit counts the other way round.
            let (l, r) = if signed && idx == top { (r, l) } else { (l, r) };
            let differs = self.xor(l, r);
            less = self.ite(differs, r, less);
        }
        less
    }

    /// The sum.
    pub fn add(&mut self, left: &Word, right: &Word) -> Word {
        self.add_carry(left, right, Lit::FALSE).0
    }

    /// The difference.
    pub fn subtract(&mut self, left: &Word, right: &Word) -> Word {
        self.add_carry(left, &right.complement(), Lit::TRUE).0
    }

    /// Minus.
    pub fn negate(&mut self, word: &Word) -> Word {
        self.subtract(&Word::constant(word.width(), 0), word)
    }

    /// The product, as wide as its operands.
    pub fn multiply(&mut self, left: &Word, right: &Word) -> Word {
        let width = left.width();
        // Bits that are known to be zero cost nothing.
        let zeros = |word: &Word| word.0.iter().filter(|&&bit| bit == Lit::FALSE).count();
        let (left, right) = if zeros(left) > zeros(right) { (right, left) } else { (left, right) };
        let mut product = Word::constant(width, 0);
        for (shift, &bit) in right.0.iter().enumerate() {
            let row = self.gate(bit, &left.truncate(width - shift));
            let high = product.slice(shift, width - shift);
            let high = self.add(&high, &row);
            product = product.truncate(shift).concat(&high);
        }
        product
    }

    /// Quotient and remainder, both zero if the divisor is.
    pub fn divide(&mut self, left: &Word, right: &Word, signed: bool) -> (Word, Word) {
        if !signed {
            return self.divide_unsigned(left, right);
        }
        let (left_sign, right_sign) = (left.sign(), right.sign());
        let left_size = self.negate_if(left_sign, left);
        let right_size = self.negate_if(right_sign, right);
        let (quotient, remainder) = self.divide_unsigned(&left_size, &right_size);
        let quotient_sign = self.xor(left_sign, right_sign);
        (self.negate_if(quotient_sign, &quotient), self.negate_if(left_sign, &remainder))
    }

    /// Shifted up by any number, of any width; nothing is left if that is the width or more.
    pub fn shift_left(&mut self, word: &Word, by: &Word) -> Word {
        let reversed = Word(word.0.iter().rev().copied().collect());
        let shifted = self.shift_right(&reversed, by, false);
        Word(shifted.0.into_iter().rev().collect())
    }

    /// Shifted down by any number, of any width; the sign is kept if asked for.
    pub fn shift_right(&mut self, word: &Word, by: &Word, signed: bool) -> Word {
        let width = word.width();
        let fill = if signed { word.sign() } else { Lit::FALSE };
        let mut shifted = word.clone();
        let mut is_far = Vec::new();
        for (idx, &bit) in by.0.iter().enumerate() {
            match 1usize.checked_shl(idx as u32).filter(|&distance| distance < width) {
                Some(distance) => {
                    let moved = shifted.0[distance..].iter().copied();
                    let moved = moved.chain(std::iter::repeat_n(fill, distance)).collect();
                    shifted = self.mux(bit, &Word(moved), &shifted);
                }
                None => is_far.push(bit),
            }
        }
        let is_far = self.any(is_far);
        let nothing = Word(vec![fill; width]);
        self.mux(is_far, &nothing, &shifted)
    }

    /// The sum of two words and a bit, and what is carried out of it.
    fn add_carry(&mut self, left: &Word, right: &Word, carry: Lit) -> (Word, Lit) {
        let mut carry = carry;
        let sum = self.bitwise(left, right, |aig, l, r| {
            let differs = aig.xor(l, r);
            let sum = aig.xor(differs, carry);
            carry = aig.ite(differs, carry, l);
            sum
        });
        (sum, carry)
    }

    fn negate_if(&mut self, condition: Lit, word: &Word) -> Word {
        let flipped = Word(word.0.iter().map(|&bit| self.xor(bit, condition)).collect());
        self.add_carry(&flipped, &Word::constant(word.width(), 0), condition).0
    }

    /// Long division, a bit at a time.
    fn divide_unsigned(&mut self, left: &Word, right: &Word) -> (Word, Word) {
        let width = left.width();
        let divisor = right.resize(width + 1, false);
        let mut remainder = Word::constant(width, 0);
        let mut quotient = Vec::new();
        for &bit in left.0.iter().rev() {
            let grown = Word::from(bit).concat(&remainder);
            let (difference, fits) = self.add_carry(&grown, &divisor.complement(), Lit::TRUE);
            remainder = self.mux(fits, &difference, &grown).truncate(width);
            quotient.push(fits);
        }
        quotient.reverse();
        let is_defined = self.is_nonzero(right);
        (self.gate(is_defined, &Word(quotient)), self.gate(is_defined, &remainder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(aig: &Aig, word: &Word, leaves: &[u64]) -> u64 {
        let patterns = aig.simulate(|node| leaves[node - 1]);
        let bit = |(idx, &bit): (usize, &Lit)| u64::from(patterns.value(bit)) << idx;
        word.bits().iter().enumerate().map(bit).sum()
    }

    #[test]
    fn elements_are_found_by_their_numbers() {
        for n in 1..10 {
            let mut aig = Aig::new();
            let index = Word::from([(); 4].map(|()| aig.input()).to_vec());
            let elements: Vec<_> = (0..n).map(|i| Word::constant(8, 100 + i)).collect();
            let selected = aig.select(&index, &elements);
            let decoded = aig.decode(&index, n as usize);
            let choices: Vec<_> = decoded.into_iter().zip(elements).collect();
            let chosen = aig.one_hot(8, &choices);
            for i in 0..16u64 {
                let leaves: Vec<_> = (0..4).map(|bit| i >> bit & 1).collect();
                let expected = if i < n { 100 + i } else { 0 };
                assert_eq!(value(&aig, &chosen, &leaves), expected);
                let selected = value(&aig, &selected, &leaves);
                assert!(if i < n {
                    selected == expected
                } else {
                    (100..100 + n).contains(&selected)
                });
            }
        }
    }

    #[test]
    fn constants_are_computed_at_once() {
        let mut aig = Aig::new();
        let [a, b] = [200, 7].map(|value| Word::constant(9, value));
        let product = aig.multiply(&a, &b);
        assert_eq!(product.value(), Some(1400 % 512));
        let (quotient, remainder) = aig.divide(&a, &b, false);
        assert_eq!((quotient.value(), remainder.value()), (Some(28), Some(4)));
        assert_eq!(aig.n_nodes(), 1);
        assert_eq!(aig.equals_number(&a, 200 + 512), Lit::FALSE);
    }
}
