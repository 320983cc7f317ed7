//! Packing: how the numbers of parts share one word, and which bits each has.

use std::ops::Range;

/// The bits that numbers may take. The first bit of a word is always set and its last one never, so
/// that no word is taken for an empty slot of a table.
const BITS: Range<u32> = 1..127;

/// A state: the numbers of its parts.
pub(super) type Word = u128;

/// A word without any number.
pub(super) const BLANK: Word = 1;

/// Where the number of a part is in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    shift: u32,
    width: u32,
    /// All its bits, where they are.
    pub(super) mask: Word,
}

impl Bits {
    /// So many bits from one on.
    fn new(shift: u32, width: u32) -> Self {
        Self { shift, width, mask: ((1 << width) - 1) << shift }
    }

    /// Where they are, as one word of a file.
    pub(super) fn place(self) -> u64 {
        u64::from(self.shift) << 32 | u64::from(self.width)
    }

    /// Those of such a word.
    pub(super) fn at(place: u64) -> Self {
        Self::new((place >> 32) as u32, place as u32)
    }

    #[inline]
    pub(super) fn get(self, word: Word) -> u32 {
        ((word & self.mask) >> self.shift) as u32
    }

    /// Some bits of this part in a word, as those of another one.
    #[inline]
    pub(super) fn moved(self, word: Word, to: Self) -> Word {
        (word & self.mask) >> self.shift << to.shift
    }

    /// The bits of a number; `None` if it has more than there are.
    pub(super) fn of(self, number: u32) -> Option<Word> {
        let fits = u64::from(number) < 1 << self.width;
        fits.then(|| Word::from(number) << self.shift)
    }
}

/// What is known of a part that needs bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// How many values it has had so far.
    pub(super) values: usize,
    /// More bits than this are of no use.
    pub(super) most: u32,
}

impl Need {
    fn width(self) -> u32 {
        usize::BITS - (self.values - 1).leading_zeros()
    }
}

/// Gives every part its bits; `None` if there are too few. What is left goes to those that are
/// likely to need more: the more values a part has had, and the more there is in it, the more bits.
/// If one has too few, the search begins again.
pub(super) fn assign(needs: &[Need]) -> Option<Vec<Bits>> {
    let mut widths: Vec<u32> = needs.iter().map(|need| need.width()).collect();
    let mut left = (BITS.end - BITS.start).checked_sub(widths.iter().sum())?;
    let weights: Vec<u32> =
        needs.iter().map(|need| 1 + 2 * need.width() + (need.most + 1).ilog2()).collect();
    let mut more = vec![0_u32; needs.len()];
    while left > 0 {
        let has_use = |part: &usize| widths[*part] < needs[*part].most.min(u32::BITS);
        // The share that it would have, in fractions with one denominator.
        let share = |part: &usize| u64::from(more[*part] + 1) * 1000 / u64::from(weights[*part]);
        let Some(part) = (0..needs.len()).filter(has_use).min_by_key(share) else { break };
        widths[part] += 1;
        more[part] += 1;
        left -= 1;
    }
    let mut shift = BITS.start;
    let bits = widths.into_iter().map(|width| {
        let bits = Bits::new(shift, width);
        shift += width;
        bits
    });
    Some(bits.collect())
}

#[cfg(test)]
mod tests {
    use super::{BLANK, Need, assign};

    #[test]
    fn numbers_are_where_no_other_number_is() {
        let needs = [(1, 0), (300, 16), (2, 1), (1, 64), (5000, 40)];
        let needs = needs.map(|(values, most)| Need { values, most });
        let bits = assign(&needs).expect("there is room");
        let numbers = [0, 299, 1, 77, 4999];
        let word = bits.iter().zip(numbers).fold(BLANK, |word, (bits, number)| {
            let new = bits.of(number).expect("it fits");
            assert_eq!(word & new, 0, "two numbers share a bit");
            word | new
        });
        assert!(bits.iter().zip(numbers).all(|(bits, number)| bits.get(word) == number));
        assert_eq!(bits[0].of(1), None);
        assert_eq!(bits[2].of(2), None);
        assert_eq!(word >> 127, 0);
    }

    #[test]
    fn too_many_values_are_refused() {
        let needs = [Need { values: 1 << 20, most: 64 }; 7];
        assert!(assign(&needs).is_none());
        assert!(assign(&needs[..6]).is_some());
    }
}
