//! Units of work: a place in the search with all that belongs to it, ready to be sent or saved.

use crate::order::best_first::TreeUnit;
use crate::reduction::graphs::GraphUnit;
use crate::reduction::optimal::Forced;
use crate::reduction::stack::StackUnit;
use mazurka_core::Decision;
use serde::{Deserialize, Serialize};

/// A part of the search that can be explored by anybody.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    /// The whole search.
    Root,
    /// A stack of states with the sets that belong to them.
    Stack(StackUnit),
    /// A block, and the execution up to where it begins.
    Optimal(OptimalUnit),
    /// The same in a search of graphs.
    Graph(GraphUnit),
    /// A tree of executions, and those that are left.
    Tree(Box<TreeUnit>),
    /// Random executions without end, drawn from this seed.
    Samples(u64),
}

/// A branch of [`Optimal`](crate::reduction::optimal::Optimal): the last step is new, the others
/// were taken before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OptimalUnit {
    pub(crate) steps: Vec<Forced>,
    /// How many of them were taken before, in this order and from the start on.
    pub(crate) n_taken: u32,
    /// Which part of the whole this is, as far as one can guess.
    pub(crate) mass: f64,
}

impl Unit {
    /// The execution that leads to where the unit begins, to be replayed first.
    pub(crate) fn prefix(&self) -> Vec<Decision> {
        match self {
            Self::Stack(unit) => unit.prefix.clone(),
            // The reduction itself takes the steps of the others.
            Self::Root | Self::Optimal(_) | Self::Graph(_) => Vec::new(),
            Self::Tree(_) | Self::Samples(_) => Vec::new(),
        }
    }
}
