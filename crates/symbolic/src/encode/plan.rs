//! Refinement of the encoding: what is known of a circuit before it is made, and what making it has
//! taught.

use super::StepId;
use super::graph::Thread;
use super::interference::Touches;
use super::memory::{ObjectId, Site};
use super::monitor::Watch;
use super::state::VarId;
use super::station::Stations;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a circuit before it is made, from having made it before.
pub(super) struct Plan {
    /// How many bytes the blocks of a place have.
    pub(super) sizes: BTreeMap<Site, u32>,
    /// For each variable, the bits that never change.
    pub(super) constants: Option<Constants>,
    /// For each variable, the thread that alone changes it.
    pub(super) owners: BTreeMap<VarId, usize>,
    /// How many bits the program counter of each thread has.
    pub(super) pc_bits: Vec<usize>,
    /// Which stops are passed, if any are.
    pub(super) merging: Option<Merging>,
    /// What is watched for data races, if neighbours are not enough.
    pub(super) watch: Option<Watch>,
    /// What was believed and was wrong: bits that do change, and variables that others change, too.
    pub(super) refuted: (BTreeSet<(VarId, usize)>, BTreeSet<VarId>),
}

/// What is known once every stop was one, for a circuit in which some are passed.
pub(super) struct Merging {
    pub(super) stations: Stations,
    pub(super) locks: Vec<(ObjectId, usize)>,
    pub(super) touches: Vec<Touches>,
    /// The stations at which no thread stops that could as well go on.
    pub(super) passable: BTreeSet<StepId>,
}

impl Plan {
    /// Nothing is known.
    pub(super) fn new(threads: &[Thread]) -> Self {
        const FIRST_BITS: usize = 12;
        Self {
            sizes: BTreeMap::new(),
            constants: None,
            owners: BTreeMap::new(),
            pc_bits: vec![FIRST_BITS; threads.len()],
            merging: None,
            watch: None,
            refuted: Default::default(),
        }
    }

    /// What is known after a circuit that was made according to this.
    pub(super) fn with(self, learnt: Learnt) -> Self {
        let mut constants = learnt.constants;
        let (bits, variables) = &self.refuted;
        for &(variable, bit) in bits {
            // A monitor that was there before may be gone.
            if let Some(known) = constants.get_mut(variable).and_then(|it| it.get_mut(bit)) {
                *known = None;
            }
        }
        // A thread that had a variable for itself keeps it when none is left to change it.
        let mut owners = self.owners;
        owners.extend(learnt.owners);
        owners.retain(|variable, _| !variables.contains(variable));
        Self { constants: Some(constants), owners, pc_bits: learnt.pc_bits, ..self }
    }

    /// The same without what is not so. What follows from it is found again.
    pub(super) fn without(self, learnt: Learnt) -> Self {
        let mut refuted = self.refuted;
        refuted.0.extend(learnt.changing);
        refuted.1.extend(learnt.disowned);
        let (sizes, pc_bits) = (self.sizes, self.pc_bits);
        let (constants, owners, merging, watch) = (None, BTreeMap::new(), None, None);
        Self { sizes, pc_bits, refuted, constants, owners, merging, watch }
    }
}

/// What is known of a circuit once it is made.
pub(super) struct Learnt {
    pub(super) constants: Constants,
    pub(super) owners: BTreeMap<VarId, usize>,
    pub(super) pc_bits: Vec<usize>,
    /// The bits that change, and were believed not to.
    pub(super) changing: Vec<(VarId, usize)>,
    /// The variables that others change, too, and were believed to have an owner.
    pub(super) disowned: Vec<VarId>,
}

impl Learnt {
    pub(super) fn refutes_plan(&self) -> bool {
        !self.changing.is_empty() || !self.disowned.is_empty()
    }
}

/// For each variable, those of its bits that never change.
pub(super) type Constants = Vec<Vec<Option<bool>>>;
