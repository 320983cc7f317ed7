//! Numbers that look random.

/// A linear congruence, of which the upper half is used.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}
