//! Parts of a search: what is left of one, dealt out to processes that know nothing of each other,
//! and put together again with exact totals.
//!
//! The units of [`optimal`](crate::reduction::optimal) contain all that they need, and no trace is
//! in two of them, so each may be explored anywhere, once. The other reductions add to the sets of
//! states that several units have in common, so their searches cannot be split.

use super::{Saved, SavedUnit};
use crate::bound::Exceeded;
use mazurka_core::{Schedule, Statistics};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

/// Which part it is of a search that was split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitPart {
    /// The same for all parts of one search, and for no other.
    pub search: u64,
    /// Which one it is, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// The words of the command that goes on with it, for those who find its file.
    pub command: Vec<String>,
}

impl SplitPart {
    /// What is claimed of it alone.
    pub(crate) fn claim(&self) -> mazurka_core::Bound {
        mazurka_core::Bound::Part { number: self.number, of: self.of }
    }
}

/// Why parts are not put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// One is the whole of a search.
    #[error("it is no part of a search that was split")]
    NoPart(usize),
    /// One belongs to another search than the first.
    #[error("it is a part of another search than the first file")]
    OtherSearch(usize),
    /// One is there already.
    #[error("it is part {number}, which another file is, too")]
    Twice {
        /// Which of them.
        idx: usize,
        /// Its number, from 1.
        number: u32,
    },
    /// One knows something of the program that another one did not know when it was explored.
    #[error(
        "the program does something in this part of the search, or in the first one, that was not \
         known when it was split, and that may change what the other parts have to explore: split \
         the search again, after more executions"
    )]
    Learnt(usize),
}

impl MergeError {
    /// Which of the parts it is about, from 0.
    pub fn idx(&self) -> usize {
        match *self {
            Self::NoPart(idx)
            | Self::OtherSearch(idx)
            | Self::Twice { idx, .. }
            | Self::Learnt(idx) => idx,
        }
    }
}

/// Parts that were put together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// What all of them have explored, and what they have left; nothing if there was no part.
    pub whole: Option<Saved>,
    /// The numbers of the parts that were not among them.
    pub missing: Vec<u32>,
    /// Which of them, from 0, have something left to explore.
    pub open: Vec<usize>,
}

impl SavedUnit {
    /// Which part of the whole search it is, as far as one can guess.
    fn mass(&self) -> f64 {
        match self {
            Self::Optimal(unit) => unit.mass,
            Self::Root | Self::Graph(_) | Self::Tree(_) | Self::Stack { .. } => 1.0,
        }
    }
}

impl Saved {
    /// Which part it is, if it is one.
    pub fn part(&self) -> Option<&SplitPart> {
        self.part.as_ref()
    }

    pub(crate) fn set_part(&mut self, part: Option<SplitPart>) {
        self.part = part;
    }

    /// Whether something goes wrong in what was explored.
    pub fn has_violation(&self) -> bool {
        self.found.is_some()
    }

    /// Whether its units can be explored apart from each other.
    pub fn can_be_split(&self) -> bool {
        let is_alone = |unit: &SavedUnit| matches!(unit, SavedUnit::Optimal(_) | SavedUnit::Root);
        self.may_travel() && self.units.iter().all(is_alone)
    }

    /// The unit that seems to have most below it, and which share of all that is left it seems to
    /// be.
    pub fn heaviest(&self) -> Option<(usize, f64)> {
        let total: f64 = self.units.iter().map(SavedUnit::mass).sum();
        let masses = self.units.iter().map(SavedUnit::mass).enumerate();
        let (idx, mass) = masses.max_by(|left, right| left.1.total_cmp(&right.1))?;
        Some((idx, if total > 0.0 { mass / total } else { 0.0 }))
    }

    /// Takes one unit out, as a part that has counted nothing yet.
    ///
    /// # Panics
    ///
    /// If there is no such unit.
    pub fn take_unit(&mut self, idx: usize) -> Self {
        let unit = self.units.swap_remove(idx);
        let part = SplitPart { search: 0, number: 1, of: 2, command: Vec::new() };
        Self { units: vec![unit], part: Some(part), ..self.without_results() }
    }

    /// Puts back what is left of a unit that was [taken out](Self::take_unit), with its results.
    pub fn put_back(&mut self, part: Self) {
        self.add(part);
    }

    /// Deals all units out to so many parts of about the same weight, the heaviest first. What was
    /// counted before belongs to the first part.
    pub fn split(self, n_parts: u32, search: u64, command: &[String]) -> Vec<Self> {
        let part = |number| SplitPart { search, number, of: n_parts, command: command.to_vec() };
        let empty = self.without_results();
        let mut parts: Vec<Self> =
            (1..=n_parts).map(|it| Self { part: Some(part(it)), ..empty.clone() }).collect();
        let mut units = self.units.clone();
        if let Some(first) = parts.first_mut() {
            first.add(Self { units: Vec::new(), ..self });
        }
        units.sort_by(|left, right| right.mass().total_cmp(&left.mass()));
        // The lightest part is next. Masses are not negative, so their bits are in their order.
        let mut lightest: BinaryHeap<_> = (0..parts.len()).map(|idx| Reverse((0, idx))).collect();
        for unit in units {
            let Some(Reverse((bits, idx))) = lightest.pop() else { break };
            let mass = f64::from_bits(bits) + unit.mass().max(0.0);
            parts[idx].units.push(unit);
            lightest.push(Reverse((mass.to_bits(), idx)));
        }
        parts
    }

    /// What was explored and what is left, apart: the results without units; and the units, dealt
    /// out to at most so many parts of about the same weight. These parts have counted nothing, and
    /// have nothing of what the [system](Self::system) has to know.
    pub fn deal(self, n_parts: u32) -> (Self, Vec<Self>) {
        let left = Self { units: self.units.clone(), system: Vec::new(), ..self.without_results() };
        let mut parts = left.split(n_parts.max(1), 0, &[]);
        parts.retain(|part| !part.units.is_empty());
        (Self { units: Vec::new(), ..self }, parts)
    }

    /// The same search at its start, with all that the system knows by now.
    #[must_use]
    pub fn begun_again(&self) -> Self {
        Self { part: None, units: vec![SavedUnit::Root], ..self.without_results() }
    }

    /// Whether it is a search at its start: what matters is what the system knows.
    pub fn is_at_start(&self) -> bool {
        matches!(self.units[..], [SavedUnit::Root]) && self.part.is_none()
    }

    /// The schedule of what goes wrong, if something does.
    pub fn found_schedule(&self) -> Option<&Schedule> {
        self.found.as_ref().map(|found| &found.schedule)
    }

    /// Where a part that is [void](super::SavedError::Void) leaves the search at its start, with
    /// what it has learnt; the part itself is in `path`.
    pub fn lesson_path(path: &Path) -> PathBuf {
        let mut lesson = path.as_os_str().to_owned();
        lesson.push(".learnt");
        lesson.into()
    }

    /// Puts parts of one search together. All that is wrong with them, if they are not that.
    pub fn merge(parts: Vec<Self>) -> Result<Merged, Vec<MergeError>> {
        let mut errors = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        let search = parts.iter().find_map(Self::part).map(|part| part.search);
        for (idx, saved) in parts.iter().enumerate() {
            match saved.part() {
                None => errors.push(MergeError::NoPart(idx)),
                Some(part) if Some(part.search) != search => {
                    errors.push(MergeError::OtherSearch(idx));
                }
                Some(part) if numbers.contains(&part.number) => {
                    errors.push(MergeError::Twice { idx, number: part.number });
                }
                Some(part) => numbers.push(part.number),
            }
        }
        // A violation stands by itself: it is followed once more.
        let differs = |part: &Self| part.system != parts[0].system;
        if errors.is_empty() && parts.iter().all(|part| part.found.is_none()) {
            errors.extend(parts.iter().position(differs).map(MergeError::Learnt));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let of = parts.first().and_then(Self::part).map_or(0, |part| part.of);
        let missing = (1..=of).filter(|number| !numbers.contains(number)).collect();
        let is_open = |part: &Self| !part.units.is_empty() && part.found.is_none();
        let open = (0..parts.len()).filter(|&idx| is_open(&parts[idx])).collect();
        let whole = parts.into_iter().reduce(|mut sum, part| {
            sum.add(part);
            sum
        });
        Ok(Merged { whole: whole.map(|whole| Self { part: None, ..whole }), missing, open })
    }

    /// The same without units, and without what was counted and found.
    fn without_results(&self) -> Self {
        Self {
            statistics: Statistics::default(),
            explored: 0.0,
            found: None,
            cut: false,
            exceeded: Exceeded::default(),
            units: Vec::new(),
            ..self.clone()
        }
    }

    /// Adds what another part of the same search has explored, and what it has left.
    fn add(&mut self, other: Self) {
        self.statistics.add(&other.statistics);
        self.explored += other.explored;
        self.cut |= other.cut;
        self.exceeded.add(other.exceeded);
        self.found = self.found.take().or(other.found);
        self.units.extend(other.units);
    }
}
