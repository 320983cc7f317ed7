//! Orders by place: the atomic accesses of a program, and other orders for some of them.

use mazurka_core::MemoryOrder;
use serde::{Deserialize, Serialize};

/// What an atomic access does, as far as its order is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicAccess {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in one.
    Update,
    /// Orders the accesses around it.
    Fence,
}

impl AtomicAccess {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Update => "read-modify-write",
            Self::Fence => "fence",
        }
    }

    /// The orders that it may have, weaker ones first. A relaxed fence is none at all.
    pub fn orders(self) -> &'static [MemoryOrder] {
        use MemoryOrder::{Acquire, Relaxed, Release, SequentiallyConsistent};
        match self {
            Self::Load => &[Relaxed, Acquire, SequentiallyConsistent],
            Self::Store => &[Relaxed, Release, SequentiallyConsistent],
            Self::Update | Self::Fence => &MemoryOrder::ALL,
        }
    }
}

/// A place where a program accesses atomics or has a fence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AtomicSite {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
    /// What is done there.
    pub access: AtomicAccess,
    /// With which order; that of success, if it may fail.
    pub order: MemoryOrder,
}

/// Another order for a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderChange {
    /// Which one.
    pub site: AtomicSite,
    /// Its order now.
    pub order: MemoryOrder,
}

impl OrderChange {
    /// Whether it is about this site.
    pub fn is_of(&self, site: &AtomicSite) -> bool {
        self.site == *site
    }
}

/// What an order means for a load: a compare-and-swap that fails is one.
pub fn of_load(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::Relaxed | MemoryOrder::Release => MemoryOrder::Relaxed,
        MemoryOrder::Acquire | MemoryOrder::AcquireRelease => MemoryOrder::Acquire,
        MemoryOrder::SequentiallyConsistent => order,
    }
}

/// Whether an order promises nothing that another one does not.
pub fn is_at_most(order: MemoryOrder, other: MemoryOrder) -> bool {
    let is_sc = |order| order == MemoryOrder::SequentiallyConsistent;
    (!order.acquires() || other.acquires())
        && (!order.releases() || other.releases())
        && (!is_sc(order) || is_sc(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_a_lattice() {
        use MemoryOrder::{Acquire, Relaxed, Release, SequentiallyConsistent};
        for order in MemoryOrder::ALL {
            assert!(is_at_most(Relaxed, order) && is_at_most(order, SequentiallyConsistent));
            assert!(is_at_most(of_load(order), order));
        }
        assert!(!is_at_most(Acquire, Release) && !is_at_most(Release, Acquire));
    }
}
