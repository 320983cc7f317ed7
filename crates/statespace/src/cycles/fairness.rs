//! Sets of processes, and what fairness asks of a cycle.
//!
//! Implements process justice and process fairness as in Lichtenstein and Pnueli, *Checking That
//! Finite State Concurrent Programs Satisfy Their Linear Specification* (POPL 1985), and the
//! assumption F of Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking* (CAV
//! 1994).
//!
//! Differs from the papers: two steps depend on each other in the sense of F if one process takes
//! both, or if neither of them is [independent](crate::Safety::Independent) of all that others may
//! do.

use crate::options::Fairness;
use crate::saved::{Form, Reader, Writer};
use std::io;

/// A set of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Processes([u64; 4]);

impl Processes {
    /// The empty set.
    pub(super) const NONE: Self = Self([0; 4]);
    /// The set of all.
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

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

/// Who can move in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Able {
    pub(super) all: Processes,
    /// Those of them whose next step is independent of all that others may do.
    pub(super) independent: Processes,
}

impl Form for Processes {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.0.iter().try_for_each(|&word| out.word(word))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self([from.word()?, from.word()?, from.word()?, from.word()?]))
    }
}

impl Form for Able {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.all.save(out)?;
        self.independent.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { all: Processes::load(from)?, independent: Processes::load(from)? })
    }
}

/// What happens in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Moved {
    /// Who moves.
    pub(super) processes: Processes,
    /// Whether some step is not independent of what others may do.
    pub(super) dependent: bool,
}

impl Moved {
    pub(super) fn or(self, other: Self) -> Self {
        let processes = self.processes.or(other.processes);
        Self { processes, dependent: self.dependent || other.dependent }
    }
}

/// Whom it would be unfair to leave where they are in a state from which a cycle goes on like this,
/// unless the fairness is weak: that depends on all of its states.
pub(super) fn due_at(fairness: Fairness, able: Able, moved: Moved) -> Processes {
    match fairness {
        Fairness::None | Fairness::Weak => Processes::NONE,
        Fairness::Strong => able.all,
        Fairness::Trace if moved.dependent => able.independent,
        Fairness::Trace => able.all,
    }
}

/// Who must move in a cycle, or else be unable to at least once, so that it is fair: what is left
/// unsatisfied if in its states these are `able` to move, and that `moved`.
pub(super) fn neglected(
    fairness: Fairness,
    able: impl Iterator<Item = Able>,
    moved: Moved,
) -> Processes {
    let due = match fairness {
        Fairness::Weak => able.fold(Processes::ALL, |due, it| due.and(it.all)),
        _ => able.fold(Processes::NONE, |due, it| due.or(due_at(fairness, it, moved))),
    };
    due.and(moved.processes.others())
}
