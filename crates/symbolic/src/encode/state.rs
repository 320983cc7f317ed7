//! What a thread knows on its way through a step: the variables it has changed, as circuits.

use super::station::StationId;
use crate::{Aig, Circuit, Lit, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A variable of the program as a whole, by its number.
pub(crate) type VarId = usize;

/// Everything that is kept from one step to the next, as words of latches.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    all: Vec<Variable>,
}

#[derive(Debug)]
struct Variable {
    word: Word,
    /// Whether its bits are latches, but for those that are known.
    is_kept: bool,
    init: u64,
}

impl Variables {
    /// A variable of `width` bits; of those, some may be known to be always the same. Nothing is
    /// known of bits that it did not have before: program counters grow.
    pub(crate) fn add(
        &mut self,
        circuit: &mut Circuit,
        name: String,
        width: usize,
        init: u64,
        known: Option<&[Option<bool>]>,
    ) -> VarId {
        let known = |bit: usize| known.and_then(|known| known.get(bit).copied().flatten());
        let bits = (0..width).map(|bit| match known(bit) {
            Some(value) => value.into(),
            None => circuit.latch(format!("{name}.{bit}"), Some(init >> bit & 1 == 1)),
        });
        let word = Word::from(bits.collect::<Vec<_>>());
        self.all.push(Variable { word, is_kept: true, init });
        self.all.len() - 1
    }

    /// A variable that has this value before every step.
    pub(crate) fn add_constant(&mut self, width: usize, value: u64) -> VarId {
        let word = Word::constant(width, value);
        self.all.push(Variable { word, is_kept: false, init: value });
        self.all.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The value before the step.
    pub(crate) fn word(&self, variable: VarId) -> &Word {
        &self.all[variable].word
    }

    /// The value before the first step.
    pub(crate) fn init(&self, variable: VarId) -> u64 {
        self.all[variable].init
    }

    /// Whether it is kept at all.
    pub(crate) fn is_kept(&self, variable: VarId) -> bool {
        self.all[variable].is_kept
    }
}

/// The way a step may have taken, and what it has changed.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// When the step takes this way.
    pub(crate) condition: Lit,
    pub(crate) changed: BTreeMap<VarId, Word>,
    /// What is known of variables before the step.
    known: Rc<BTreeMap<VarId, Word>>,
    /// The stations that were passed last; none if it may still be the station that the step is
    /// from.
    pub(crate) passed: BTreeSet<Option<StationId>>,
}

impl State {
    /// Before a step where these variables have these values.
    pub(crate) fn new(variables: &Variables, facts: &BTreeMap<VarId, u64>) -> Self {
        let known = facts.iter().map(|(&variable, &value)| {
            (variable, Word::constant(variables.word(variable).width(), value))
        });
        let known = Rc::new(known.collect());
        let passed = BTreeSet::from([None]);
        Self { condition: Lit::TRUE, changed: BTreeMap::new(), known, passed }
    }

    pub(crate) fn get(&self, variables: &Variables, variable: VarId) -> Word {
        let word = self.changed.get(&variable).or_else(|| self.known.get(&variable));
        word.unwrap_or_else(|| variables.word(variable)).clone()
    }

    /// What is known of a variable before the step.
    pub(crate) fn known(&self, variable: VarId) -> Option<&Word> {
        self.known.get(&variable)
    }

    pub(crate) fn set(&mut self, variable: VarId, word: Word) {
        self.changed.insert(variable, word);
    }

    /// Changes a variable where a condition is true.
    pub(crate) fn set_if(
        &mut self,
        aig: &mut Aig,
        variables: &Variables,
        condition: Lit,
        variable: VarId,
        word: &Word,
    ) {
        let old = self.get(variables, variable);
        let new = aig.mux(condition, word, &old);
        self.set(variable, new);
    }

    /// The same way, seen from a station that it passes, or from where the step begins.
    pub(crate) fn seen_from(&self, station: Option<StationId>) -> Self {
        Self { passed: BTreeSet::from([station]), ..self.clone() }
    }

    /// The same way, where a condition is true.
    pub(crate) fn only_if(&self, aig: &mut Aig, condition: Lit) -> Self {
        let condition = aig.and(self.condition, condition);
        Self { condition, ..self.clone() }
    }

    /// Either this way or another one; never both.
    pub(crate) fn or(self, aig: &mut Aig, variables: &Variables, other: Self) -> Self {
        let mut changed = BTreeMap::new();
        let all = self.changed.keys().chain(other.changed.keys());
        for &variable in all {
            if changed.contains_key(&variable) {
                continue;
            }
            let (yes, no) = (self.get(variables, variable), other.get(variables, variable));
            changed.insert(variable, aig.mux(self.condition, &yes, &no));
        }
        let condition = aig.or(self.condition, other.condition);
        let passed = &self.passed | &other.passed;
        Self { condition, changed, known: self.known, passed }
    }
}
