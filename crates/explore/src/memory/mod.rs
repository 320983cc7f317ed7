//! Memory models: which writes a read may read from, and where in the modification order of its
//! object a write may go. One file each.
//!
//! An execution graph ([`graph`]) has the steps of an execution as events. `po` is the order of
//! each thread, `rf` leads from a write to those who read it, `mo` is the order of the writes of
//! each object, and `rb` leads from a read to the writes behind the one that it reads. A model says
//! which graphs are consistent. What all models here have in common, and what the search over
//! graphs ([`Graphs`](crate::reduction::graphs::Graphs)) needs:
//!
//! - po ∪ rf has no cycle, so an execution of the program, one step after the other, visits the
//!   graph.
//! - What is left of a consistent graph when events at the ends of po ∪ rf are taken away is
//!   consistent.
//! - A graph stays consistent if a thread goes on with a read from the write that is last in mo,
//!   or with a write that becomes the last one. So only other events need to be checked.

pub(crate) mod chain;
pub(crate) mod graph;
pub(crate) mod ra;
pub(crate) mod rc11;
pub(crate) mod sc;
pub(crate) mod scratch;
pub(crate) mod tso;
pub(crate) mod weak;

use graph::{EventId, Graph};
use mazurka_core::{MemoryModel, MemoryOrder};
use scratch::Scratch;

/// The rules of a memory model.
pub(crate) fn rules(model: MemoryModel) -> &'static dyn Model {
    match model {
        MemoryModel::Sc => &sc::Sc,
        MemoryModel::Tso => &tso::Tso,
        MemoryModel::Ra => &ra::Ra,
        MemoryModel::Rc11 => &rc11::Rc11,
    }
}

/// What a read or write of an object may not come before, in the modification order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// What happens before it, by synchronisation.
    HappensBefore,
    /// What po ∪ rf leads to it from.
    Porf,
}

/// The rules of a memory model.
pub(crate) trait Model: Sync {
    /// How strong an access or a fence is that the program gives this order.
    fn order(&self, order: MemoryOrder) -> MemoryOrder {
        order
    }

    /// A read may not read from a write that is older than one that it knows of in this sense, or
    /// than one that such a read has read from; and a write may not be older either.
    fn past(&self) -> Past;

    /// Whether the graph is consistent, if it was before this last event and the event is not older
    /// than its [past](Self::past) allows.
    fn is_consistent(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool;
}
