//! What a futex call that changes a word and wakes does to it.

/// What is done to a word, and what it is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    operation: u32,
    operand: u32,
    comparison: u32,
    compared: i32,
}

impl Change {
    /// As the last argument of the call says; `None` if there is no such operation.
    pub(crate) fn decode(encoded: u32) -> Option<Self> {
        const IS_SHIFT: u32 = 8;
        let signed = |bits: u32| ((bits << 20) as i32) >> 20;
        let (operation, comparison) = (encoded >> 28, encoded >> 24 & 15);
        let operand = signed(encoded >> 12 & 0xfff);
        let operand = match operation & IS_SHIFT {
            0 => operand as u32,
            _ => 1 << (operand as u32 & 31),
        };
        let operation = operation & !IS_SHIFT;
        let is_known = operation <= 4 && comparison <= 5;
        let compared = signed(encoded & 0xfff);
        is_known.then_some(Self { operation, operand, comparison, compared })
    }

    pub(crate) fn apply(&self, old: u32) -> u32 {
        match self.operation {
            0 => self.operand,
            1 => old.wrapping_add(self.operand),
            2 => old | self.operand,
            3 => old & !self.operand,
            _ => old ^ self.operand,
        }
    }

    pub(crate) fn compare(&self, old: u32) -> bool {
        let (old, compared) = (old as i32, self.compared);
        match self.comparison {
            0 => old == compared,
            1 => old != compared,
            2 => old < compared,
            3 => old <= compared,
            4 => old > compared,
            _ => old >= compared,
        }
    }
}
