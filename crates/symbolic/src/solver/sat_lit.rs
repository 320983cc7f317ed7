//! Literals of the solver: variables and their negations.

use std::ops::Not;

/// A variable of a solver, or its negation.
///
/// Ordered by variables, a variable before its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SatLit(u32);

impl SatLit {
    /// A variable, counted from 0, or its negation.
    pub(crate) fn new(variable: u32, is_negated: bool) -> Self {
        debug_assert!(variable < i32::MAX as u32, "CaDiCaL numbers variables by positive `int`s");
        Self(variable << 1 | u32::from(is_negated))
    }

    /// A variable.
    pub(crate) fn positive(variable: u32) -> Self {
        Self::new(variable, false)
    }

    /// Its variable, counted from 0.
    pub(crate) fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is a negation.
    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// As in the DIMACS format and for CaDiCaL: variables from 1 on, negations below zero.
    pub(crate) fn to_dimacs(self) -> i32 {
        let variable = self.variable() as i32 + 1;
        if self.is_negated() { -variable } else { variable }
    }
}

impl Not for SatLit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_numbered_as_in_dimacs_and_ordered_by_variable() {
        let x = SatLit::positive(0);
        let y = SatLit::new(41, true);
        assert_eq!([x, !x, y, !y].map(SatLit::to_dimacs), [1, -1, -42, 42]);
        assert_eq!(!!y, y);
        assert_eq!((y.variable(), y.is_negated(), (!y).is_negated()), (41, true, false));
        assert!(x < !x && !x < !y && !y < y);
    }
}
