//! A fixed, fast hash: folded multiplication. Runs must repeat, so nothing is seeded.

use std::hash::Hasher;

/// Mixes one word into a hash.
#[inline]
pub fn mix(hash: u64, word: u64) -> u64 {
    let wide = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(u128::from(word ^ 0xd1b5_4a32_d192_ed03) | 1);
    (wide as u64) ^ ((wide >> 64) as u64).rotate_left(23) ^ word.wrapping_mul(0xa24b_aed4_963e_e407)
}

/// [`mix`] as a `Hasher`, for types that derive `Hash`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
