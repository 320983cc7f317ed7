//! Memory orders: what an atomic access lets others know, and what it learns.
//!
//! Implements the orders of C11 (ISO/IEC 9899:2011, 7.17.3), C++20 and Rust. A release and the
//! acquire that reads from it synchronise; a relaxed access synchronises with nothing by itself,
//! but fences around it may.
//!
//! Differs from the standards: `memory_order_consume` is an acquire, as every compiler takes it.

use crate::Location;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How an atomic access or a fence orders what is around it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum MemoryOrder {
    /// It is atomic, and orders nothing.
    Relaxed,
    /// A load that learns what the release it reads from lets others know.
    Acquire,
    /// A store that lets others know what its thread has done and learnt.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and all such accesses are in one order that all threads agree on.
    #[default]
    SequentiallyConsistent,
}

impl MemoryOrder {
    /// All of them, weaker ones first.
    pub const ALL: [Self; 5] = [
        Self::Relaxed,
        Self::Acquire,
        Self::Release,
        Self::AcquireRelease,
        Self::SequentiallyConsistent,
    ];

    /// The order that a compiler means by this number: `__ATOMIC_RELAXED` is 0, `__ATOMIC_SEQ_CST`
    /// 5. Bits above the lowest 15 are hints for the processor.
    #[inline]
    pub fn from_c(number: i64) -> Option<Self> {
        Some(match number & 0x7fff {
            0 => Self::Relaxed,
            1 | 2 => Self::Acquire,
            3 => Self::Release,
            4 => Self::AcquireRelease,
            5 => Self::SequentiallyConsistent,
            _ => return None,
        })
    }

    /// Whether a read with this order learns from the release that it reads from.
    #[inline]
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::SequentiallyConsistent)
    }

    /// Whether a write with this order lets those who read it know what its thread knows.
    #[inline]
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::SequentiallyConsistent)
    }

    /// Whether memory may do more with it than run threads in turn.
    #[inline]
    pub fn is_weak(self) -> bool {
        self != Self::SequentiallyConsistent
    }

    /// This order, and an acquire: what a read is that is made twice in one step.
    #[inline]
    pub fn and_acquire(self) -> Self {
        match self {
            Self::Relaxed => Self::Acquire,
            Self::Release => Self::AcquireRelease,
            other => other,
        }
    }

    /// The word for people: `relaxed`, `acquire`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcquireRelease => "acquire-release",
            Self::SequentiallyConsistent => "sequentially consistent",
        }
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An access for which the language does not promise sequential consistency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WeakAccess {
    /// What is accessed, as people call it.
    pub object: String,
    /// With which order; `None` if it is not atomic, but volatile.
    pub order: Option<MemoryOrder>,
    /// Where.
    pub location: Option<Location>,
}

/// A fence that a thread came to on its way to its next operation.
///
/// A fence is no step: it touches no object, and only its own thread learns from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// What it orders.
    pub order: MemoryOrder,
    /// How many of the [accesses](crate::System::accesses) of the step were made before it.
    pub n_accesses: usize,
    /// How many of the [parts](crate::System::parts) of the step had begun: 0 where the thread of
    /// the step itself came to it, n where the thread of the n-th part did.
    pub n_parts: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_compilers_are_orders() {
        let all: Vec<_> =
            (0..6).map(|number| MemoryOrder::from_c(number).map(MemoryOrder::name)).collect();
        let names = [
            "relaxed",
            "acquire",
            "acquire",
            "release",
            "acquire-release",
            "sequentially consistent",
        ];
        assert_eq!(all, names.map(Some));
        assert_eq!(MemoryOrder::from_c(6), None);
        assert_eq!(
            MemoryOrder::from_c(1 << 16 | 2),
            Some(MemoryOrder::Acquire),
            "a hint is no order"
        );
    }

    #[test]
    fn an_order_acquires_releases_or_does_both() {
        let both: Vec<_> =
            MemoryOrder::ALL.iter().map(|it| (it.acquires(), it.releases())).collect();
        assert_eq!(
            both,
            [(false, false), (true, false), (false, true), (true, true), (true, true)]
        );
    }

    #[test]
    fn an_acquire_more() {
        for order in MemoryOrder::ALL {
            let both = order.and_acquire();
            assert!(both.acquires() && both.releases() == order.releases(), "{order}");
        }
    }
}
