//! Bad prefixes: the letters after which a property is violated, whatever comes next.
//!
//! Implements the terminal automata of Bloem, Ravi and Somenzi, *Efficient Decision Procedures for
//! Model Checking of Linear Time Logic Properties* (CAV 1999), and for safety properties whose
//! automaton is not terminal the monitors of Bauer, Leucker and Schallhart, *Runtime Verification
//! for LTL and TLTL* (TOSEM 2011).
//!
//! | papers                                         | here                        |
//! |------------------------------------------------|-----------------------------|
//! | states from which every word is accepted       | [`Automaton::universal`]    |
//! | terminal automaton: only those accept          | [`Automaton::is_terminal`]  |
//! | monitor: subsets of the formula's automaton    | [`monitor`]                 |
//! | ⊥: the empty subset                            | the last state of a monitor |
//!
//! Which safety formulae are recognised: those whose negation has a terminal automaton after
//! simplification, which are all that are safety by their syntax (in negation normal form only `X`,
//! `V`, `W` and `[]`), and beyond them all small ones whose language is closed: no violation
//! without a bad prefix.
//!
//! Differs from the papers: a state is known to be universal if a run from there can always stay
//! among accepting states, or come to such states whatever the letters are. That may overlook some.
//! A monitor tells bad prefixes alone, and stops where there can be none any more.

use crate::automaton::without;
use crate::{Automaton, Cube, Edge, State, common_word};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Beyond it, monitors are given up.
const MAX_STATES: usize = 128;
const MAX_EDGES: usize = 2048;

/// Beyond it, it is not asked whether guards take all letters together: that takes exponential
/// time.
const MAX_SUPPORT: u32 = 12;

impl Automaton {
    /// The states from which every word is accepted, as far as that is easy to see.
    pub fn universal(&self) -> Vec<bool> {
        // Where a run can always go on to one that accepts.
        let mut universal: Vec<bool> = self.states.iter().map(|state| state.is_accepting).collect();
        while let Some(idx) =
            (0..universal.len()).find(|&idx| universal[idx] && !self.is_led(idx, &universal))
        {
            universal[idx] = false;
        }
        // And where it can come there.
        while universal.contains(&true)
            && let Some(idx) =
                (0..universal.len()).find(|&idx| !universal[idx] && self.is_led(idx, &universal))
        {
            universal[idx] = true;
        }
        universal
    }

    /// Whether every letter leads from a state to one of some states.
    fn is_led(&self, state: usize, to: &[bool]) -> bool {
        let edges = self.states[state].edges.iter().filter(|edge| to[edge.target]);
        let guards: Vec<Cube> = edges.map(|edge| edge.guard).collect();
        if guards.contains(&Cube::TRUE) {
            return true;
        }
        let support = guards.iter().fold(0, |all, guard| all | guard.holds | guard.fails);
        support.count_ones() <= MAX_SUPPORT && without(Cube::TRUE, &guards).is_empty()
    }

    /// Whether it accepts exactly the words that lead it to a universal state: what it accepts, it
    /// accepts because of a prefix.
    pub fn is_terminal(&self, universal: &[bool]) -> bool {
        let (component, has_cycle) = self.components();
        let mut states = self.states.iter().enumerate();
        states.all(|(idx, it)| !it.is_accepting || universal[idx] || !has_cycle[component[idx]])
    }

    /// Whether every infinite word is accepted that begins with these letters, as far as
    /// `universal` tells.
    pub fn is_bad_prefix(&self, universal: &[bool], letters: &[u64]) -> bool {
        let mut places = BTreeSet::from([0]);
        for &letter in letters {
            let edges = places.iter().flat_map(|&place: &usize| &self.states[place].edges);
            places = edges.filter(|it| it.guard.takes(letter)).map(|it| it.target).collect();
        }
        places.into_iter().any(|place| universal[place])
    }
}

/// A deterministic automaton for what violates a safety property, which comes to a universal state
/// with the shortest bad prefix. `positive` accepts what satisfies the property, and no state of it
/// accepts nothing; `negative` accepts the rest. Nothing if it is no safety property, or the
/// automaton would be large.
pub(crate) fn monitor(positive: &Automaton, negative: &Automaton) -> Option<Automaton> {
    let mut closure = positive.clone();
    closure.states.iter_mut().for_each(|state| state.is_accepting = true);
    if common_word(&closure, negative).is_some() {
        return None;
    }
    let fine = closure.universal();
    let mut numbers: FxHashMap<BTreeSet<usize>, usize> = FxHashMap::default();
    let mut subsets = vec![BTreeSet::from([0])];
    numbers.insert(subsets[0].clone(), 0);
    let (mut states, mut n_edges) = (Vec::new(), 0);
    while let Some(subset) = subsets.get(states.len()).cloned() {
        let mut leaves = Vec::new();
        let ways: Vec<Edge> =
            subset.iter().flat_map(|&it| closure.states[it].edges.clone()).collect();
        split(Cube::TRUE, &ways, &mut leaves)?;
        n_edges += leaves.len();
        let mut edges = Vec::new();
        for (guard, next) in leaves {
            if next.iter().any(|&it| fine[it]) {
                continue;
            }
            let target = *numbers.entry(next.clone()).or_insert_with(|| {
                subsets.push(next);
                subsets.len() - 1
            });
            edges.push(Edge { guard, target });
        }
        let is_accepting = subset.is_empty();
        states.push(State { is_accepting, edges });
        if subsets.len() > MAX_STATES || n_edges > MAX_EDGES {
            return None;
        }
    }
    Some(Automaton { atoms: positive.atoms.clone(), states })
}

/// Disjoint cubes that cover `cube`, each with where the edges that take its letters lead; nothing
/// if there are too many of them.
pub(crate) fn split(
    cube: Cube,
    edges: &[Edge],
    leaves: &mut Vec<(Cube, BTreeSet<usize>)>,
) -> Option<()> {
    let edges: Vec<Edge> =
        edges.iter().copied().filter(|edge| edge.guard.and(cube).is_some()).collect();
    let Some(open) = edges.iter().find(|edge| !cube.is_within(edge.guard)) else {
        leaves.push((cube, edges.iter().map(|edge| edge.target).collect()));
        return (leaves.len() <= MAX_EDGES).then_some(());
    };
    let missing = (open.guard.holds & !cube.holds) | (open.guard.fails & !cube.fails);
    let atom = missing.trailing_zeros() as usize;
    for positive in [true, false] {
        let half = cube.and(Cube::literal(atom, positive)).expect("the atom is not in the cube");
        split(half, &edges, leaves)?;
    }
    Some(())
}
