//! Schedulers: which of the threads that can move may take the step of a frame.
//!
//! A scheduler is constraints on a circuit that lets all of them ([`Scheduler::constrain`]), and it
//! may add latches. None may lose a violation that another one leaves reachable.

mod interleaving;
mod moves;
mod mpor;
mod ppor;
mod stubborn;
mod transactions;

pub use moves::{CellTouch, Move};
pub use mpor::quasi_monotonic;
pub use ppor::peephole;

use crate::Encoding;
use std::str::FromStr;

/// Says who may move.
pub trait Scheduler {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;

    /// Whether steps that no other thread could disturb are to be parts of the step before.
    fn merges(&self) -> bool {
        false
    }

    /// Adds its constraints to a circuit.
    fn constrain(&self, encoding: &mut Encoding);
}

/// The schedulers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Schedule {
    /// Every enabled thread may move.
    #[default]
    Interleaving,
    /// Only those of a set that no thread outside can interfere with.
    Stubborn,
    /// The same, and no thread interferes that would need a lock that is held.
    Transactions,
    /// Of two independent steps that follow each other, the smaller thread's first.
    Ppor,
    /// Of all orders of a trace, the quasi-monotonic one.
    Mpor,
}

impl Schedule {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Interleaving, Self::Stubborn, Self::Transactions, Self::Ppor, Self::Mpor];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        self.scheduler().name()
    }

    /// What does it.
    pub fn scheduler(self) -> &'static dyn Scheduler {
        match self {
            Self::Interleaving => &interleaving::Interleaving,
            Self::Stubborn => &stubborn::Stubborn,
            Self::Transactions => &transactions::Transactions,
            Self::Ppor => &ppor::Ppor,
            Self::Mpor => &mpor::Mpor,
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|schedule| schedule.name() == text);
        known.ok_or_else(|| format!("there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}
