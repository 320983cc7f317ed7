//! A 128-bit hash of a sequence of numbers: two streams of folded multiplications.

/// A hash that takes numbers in one by one.
pub(super) struct Fingerprint {
    low: u64,
    high: u64,
}

impl Fingerprint {
    pub(super) fn new() -> Self {
        Self { low: 0x243f_6a88_85a3_08d3, high: 0x1319_8a2e_0370_7344 }
    }

    pub(super) fn add(&mut self, number: i64) {
        let number = number as u64;
        self.low = fold(self.low ^ number, 0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        self.high = fold(self.high.wrapping_add(number), 0xd6e8_feb8_6659_fd93).rotate_left(23)
            ^ 0xa409_3822_299f_31d0;
    }

    pub(super) fn finish(mut self) -> u128 {
        self.add(0x082e_fa98_ec4e_6c89);
        u128::from(fold(self.high ^ 0x4528_21e6_38d0_1377, 0xbf58_476d_1ce4_e5b9)) << 64
            | u128::from(fold(self.low ^ 0xbe54_66cf_34e9_0c6c, 0x94d0_49bb_1331_11eb))
    }
}

/// The two halves of the product, one laid over the other.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
