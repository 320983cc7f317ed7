//! Exact totals: which records count, what they add up to, and which units are open.
//!
//! The ledger begins with one unit, the root. The first record of a unit that it knows counts, and
//! names children, which it knows from then on. Whatever else it is shown, in whatever order, is
//! kept until its unit is named, or forgotten: records that come again, and records of units that
//! only a record names which came second.

use crate::record::{Commit, UnitId};
use mazurka_core::Statistics;
use mazurka_explore::{Saved, SavedError};
use std::collections::{BTreeMap, BTreeSet};

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It counts.
    First,
    /// Its unit has one already.
    Again,
    /// No record that counts names its unit, so far.
    Unknown,
}

/// The records of one job.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The results of all records that count, together.
    whole: Option<Saved>,
    /// Units that were named and have no record: whose child each is, the how many-th, and itself.
    open: BTreeMap<UnitId, (UnitId, u32, Vec<u8>)>,
    done: BTreeSet<UnitId>,
    /// Records of units that were not named yet.
    early: BTreeMap<UnitId, Commit>,
}

impl Ledger {
    /// That of a job of which nothing is recorded.
    pub fn new(root: UnitId) -> Self {
        let open = BTreeMap::from([(root, (root, 0, Vec::new()))]);
        Self { whole: None, open, done: BTreeSet::new(), early: BTreeMap::new() }
    }

    /// Takes the record of a unit. An error is one of the bytes in it.
    pub fn record(&mut self, unit: UnitId, commit: Commit) -> Result<Recorded, SavedError> {
        if self.done.contains(&unit) {
            return Ok(Recorded::Again);
        }
        if !self.open.contains_key(&unit) {
            self.early.entry(unit).or_insert(commit);
            return Ok(Recorded::Unknown);
        }
        let mut waiting = vec![(unit, commit)];
        while let Some((unit, commit)) = waiting.pop() {
            let results = Saved::from_bytes(&commit.results)?;
            self.open.remove(&unit);
            self.done.insert(unit);
            match &mut self.whole {
                Some(whole) => whole.put_back(results),
                None => self.whole = Some(results),
            }
            for (idx, child) in (0..).zip(commit.children) {
                let id = unit.child(idx, &child);
                self.open.insert(id, (unit, idx, child));
                waiting.extend(self.early.remove(&id).map(|commit| (id, commit)));
            }
        }
        Ok(Recorded::First)
    }

    /// Whether every unit has its record.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The units that have no record: name, whose child, the how many-th, and the unit.
    pub fn open(&self) -> impl Iterator<Item = (UnitId, UnitId, u32, &[u8])> {
        self.open.iter().map(|(id, (parent, idx, unit))| (*id, *parent, *idx, &unit[..]))
    }

    /// How many units have no record.
    pub fn n_open(&self) -> usize {
        self.open.len()
    }

    /// How many records count.
    pub fn n_recorded(&self) -> usize {
        self.done.len()
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.whole.as_ref().map(Saved::statistics).unwrap_or_default()
    }

    /// Whether something goes wrong in what was explored.
    pub fn has_violation(&self) -> bool {
        self.whole.as_ref().is_some_and(Saved::has_violation)
    }

    /// All that was explored, without what is left. Nothing before the first record.
    pub fn results(&self) -> Option<Saved> {
        self.whole.clone()
    }

    /// All that was explored and all that is left, as one search. Nothing before the first record.
    pub fn whole(&self) -> Result<Option<Saved>, SavedError> {
        let Some(mut whole) = self.whole.clone() else { return Ok(None) };
        for (.., unit) in self.open() {
            whole.put_back(Saved::from_bytes(unit)?);
        }
        Ok(Some(whole))
    }
}
