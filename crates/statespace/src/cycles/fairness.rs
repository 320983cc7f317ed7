//! Sets of processes, and what fairness asks of a cycle.

use crate::options::Fairness;

/// A set of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Processes([u64; 4]);

impl Processes {
    /// The empty set.
    pub(super) const NONE: Self = Self([0; 4]);

    /// The most that the number of a process can be, and one more.
    const MAX: u32 = 256;

    pub(super) fn insert(&mut self, process: u32) {
        assert!(process < Self::MAX, "fairness is for up to {} processes", Self::MAX);
        self.0[process as usize / 64] |= 1 << (process % 64);
    }

    pub(super) fn contains(&self, process: u32) -> bool {
        self.0[process as usize / 64] >> (process % 64) & 1 == 1
    }

    /// All that are not in it.
    pub(super) fn others(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|idx| self.0[idx] | other.0[idx]))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|idx| self.0[idx] & other.0[idx]))
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    pub(super) fn is_all(self) -> bool {
        self.others().is_empty()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..Self::MAX).filter(move |&process| self.contains(process))
    }
}

impl FromIterator<u32> for Processes {
    fn from_iter<I: IntoIterator<Item = u32>>(processes: I) -> Self {
        let mut set = Self::NONE;
        processes.into_iter().for_each(|process| set.insert(process));
        set
    }
}

/// Who must move in a cycle, or else be unable to at least once, so that it is fair: what is left
/// unsatisfied if in its states these `enabled` can move, and `moved` take steps.
pub(super) fn neglected(
    fairness: Fairness,
    enabled: impl Iterator<Item = Processes>,
    moved: Processes,
) -> Processes {
    let due = match fairness {
        Fairness::None => Processes::NONE,
        Fairness::Weak => enabled.fold(Processes::NONE.others(), Processes::and),
        Fairness::Strong => enabled.fold(Processes::NONE, Processes::or),
    };
    due.and(moved.others())
}
