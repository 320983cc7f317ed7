//! Release and acquire: every read acquires, every write releases.
//!
//! Implements the release-acquire fragment of C11, as in Lahav, Giannarakis and Vafeiadis, *Taming
//! Release-Acquire Consistency* (POPL 2016), by strengthening what the program says.
//!
//! Differs from the paper: sequentially consistent accesses and fences mean what they mean in
//! [RC11](super::rc11).

use super::graph::{EventId, Graph};
use super::rc11::Rc11;
use super::scratch::Scratch;
use super::{Model, Past};
use mazurka_core::MemoryOrder;

pub(crate) struct Ra;

impl Model for Ra {
    fn order(&self, order: MemoryOrder) -> MemoryOrder {
        order.max(MemoryOrder::AcquireRelease)
    }

    fn past(&self) -> Past {
        Past::HappensBefore
    }

    fn is_consistent(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
        Rc11.is_consistent(graph, event, scratch)
    }
}
