//! WDBA minimisation: the smallest deterministic automaton of an obligation property.
//!
//! Implements Dax, Eisinger and Klaedtke, *Mechanizing the Powerset Construction for Restricted
//! Classes of ω-Automata* (ATVA 2007), with the minimisation of Löding, *Efficient Minimization of
//! Deterministic Weak ω-Automata* (IPL 2001).
//!
//! | papers                                              | here                |
//! |-----------------------------------------------------|---------------------|
//! | powerset construction                               | [`Powerset::of`]    |
//! | a component accepts if a word that stays in it does | [`Powerset::settle`] |
//! | colouring, and classes of states                    | [`Powerset::smallest`] |
//! | is it an obligation: the languages are the same     | [`obligation`]      |
//!
//! A property is an obligation if it is a boolean combination of safety properties: then, and only
//! then, it has a deterministic automaton every component of which accepts as a whole or not at
//! all. Whether it is one is not asked before. The automaton is made as if it were, and compared.
//!
//! Differs from the papers: guards are cubes, and automata with many states or edges are given up.

use crate::safety::split;
use crate::{Automaton, Cube, Edge, State};
use crate::{Lasso, accepts, common_word};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Beyond it, the construction is given up.
const MAX_STATES: usize = 96;
const MAX_EDGES: usize = 2048;
const MAX_SUPPORT: u32 = 8;

/// The smallest deterministic automaton for the words that `automaton` accepts, without the state
/// that accepts nothing; `opposite` accepts all others. Nothing if it is no obligation, or would be
/// large.
pub(crate) fn obligation(automaton: &Automaton, opposite: &Automaton) -> Option<Automaton> {
    if automaton.support().count_ones() > MAX_SUPPORT {
        return None;
    }
    let mut powerset = Powerset::of(automaton)?;
    powerset.settle(automaton);
    let smallest = powerset.smallest();
    let mut flipped = smallest.clone();
    flipped.states.iter_mut().for_each(|state| state.is_accepting = !state.is_accepting);
    // A component accepts as a whole, so that a run that does not stay where it accepts stays where
    // it does not.
    let is_same =
        common_word(&smallest, opposite).is_none() && common_word(&flipped, automaton).is_none();
    is_same.then(|| without_sink(smallest))
}

/// A deterministic automaton that has a run for every word.
struct Powerset {
    automaton: Automaton,
}

impl Powerset {
    fn of(automaton: &Automaton) -> Option<Self> {
        let mut numbers: FxHashMap<BTreeSet<usize>, usize> = FxHashMap::default();
        let mut subsets = vec![BTreeSet::from([0])];
        numbers.insert(subsets[0].clone(), 0);
        let (mut states, mut n_edges) = (Vec::new(), 0);
        while let Some(subset) = subsets.get(states.len()).cloned() {
            let mut leaves = Vec::new();
            let ways: Vec<Edge> =
                subset.iter().flat_map(|&it| automaton.states[it].edges.clone()).collect();
            split(Cube::TRUE, &ways, &mut leaves)?;
            n_edges += leaves.len();
            let mut edges = Vec::new();
            for (guard, next) in leaves {
                let target = *numbers.entry(next.clone()).or_insert_with(|| {
                    subsets.push(next);
                    subsets.len() - 1
                });
                edges.push(Edge { guard, target });
            }
            states.push(State { is_accepting: false, edges });
            if subsets.len() > MAX_STATES || n_edges > MAX_EDGES {
                return None;
            }
        }
        Some(Self { automaton: Automaton { atoms: automaton.atoms.clone(), states } })
    }

    /// Has components accept where `original` accepts a word whose run stays in them.
    fn settle(&mut self, original: &Automaton) {
        let (component, has_cycle) = self.automaton.components();
        for number in (0..has_cycle.len()).filter(|&number| has_cycle[number]) {
            let inside = |idx: usize| component[idx] == number;
            let first = (0..component.len()).find(|&idx| inside(idx)).expect("it has a state");
            let mut letters = self.letters(0, first, true, &|_| true);
            let loop_start = letters.len();
            letters.extend(self.letters(first, first, false, &inside));
            if accepts(original, &Lasso { letters, loop_start }) {
                for (state, _) in self
                    .automaton
                    .states
                    .iter_mut()
                    .zip(&component)
                    .filter(|(_, it)| **it == number)
                {
                    state.is_accepting = true;
                }
            }
        }
    }

    /// The letters of a shortest way between two states, which there is.
    fn letters(
        &self,
        from: usize,
        to: usize,
        may_be_empty: bool,
        allowed: &dyn Fn(usize) -> bool,
    ) -> Vec<u64> {
        if may_be_empty && from == to {
            return Vec::new();
        }
        let mut came_by: FxHashMap<usize, (usize, u64)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in &self.automaton.states[at].edges {
                if allowed(edge.target) && !came_by.contains_key(&edge.target) {
                    came_by.insert(edge.target, (at, edge.guard.holds));
                    queue.push_back(edge.target);
                }
            }
        }
        let mut letters = Vec::new();
        let mut at = to;
        loop {
            let (before, letter) = came_by[&at];
            letters.push(letter);
            at = before;
            if at == from {
                letters.reverse();
                return letters;
            }
        }
    }

    /// The automaton with the fewest states for the same words, each component of which accepts or
    /// does not.
    fn smallest(&self) -> Automaton {
        let states = &self.automaton.states;
        let (component, has_cycle) = self.automaton.components();
        // Colours: even where a component accepts, odd where it does not, as large as those that
        // follow or larger. Successors have smaller numbers.
        let mut colours = vec![0; has_cycle.len()];
        for number in 0..has_cycle.len() {
            let members = (0..states.len()).filter(|&idx| component[idx] == number);
            let (mut most, mut accepts) = (0, false);
            for idx in members {
                accepts |= states[idx].is_accepting;
                let targets = states[idx].edges.iter().map(|edge| component[edge.target]);
                most =
                    targets.filter(|&it| it != number).map(|it| colours[it]).fold(most, u32::max);
            }
            let fits = !has_cycle[number] || (most % 2 == 0) == accepts;
            colours[number] = if fits { most } else { most + 1 };
        }
        let is_accepting = |idx: usize| colours[component[idx]] % 2 == 0;
        let mut class: Vec<usize> =
            (0..states.len()).map(|idx| usize::from(is_accepting(idx))).collect();
        let mut n_classes = class.iter().collect::<BTreeSet<_>>().len();
        loop {
            let mut keys: BTreeMap<(usize, Vec<Edge>), usize> = BTreeMap::new();
            let next: Vec<usize> = (0..states.len())
                .map(|idx| {
                    let key = (class[idx], normal(&states[idx].edges, &class));
                    let number = keys.len();
                    *keys.entry(key).or_insert(number)
                })
                .collect();
            class = next;
            if keys.len() == n_classes {
                break;
            }
            n_classes = keys.len();
        }
        let mut made: Vec<Option<State>> = vec![None; n_classes];
        for idx in 0..states.len() {
            let is_accepting = is_accepting(idx);
            made[class[idx]].get_or_insert_with(|| State {
                is_accepting,
                edges: joined(&states[idx].edges, &class),
            });
        }
        // The first state has the first class.
        let states = made.into_iter().map(|state| state.expect("every class has a state"));
        Automaton { atoms: self.automaton.atoms.clone(), states: states.collect() }
    }
}

/// Where edges lead, in a form that is the same for all ways to write it: a decision tree over the
/// atoms in their order, with halves that are the same made one.
fn normal(edges: &[Edge], class: &[usize]) -> Vec<Edge> {
    fn walk(edges: &[Edge], class: &[usize], cube: Cube, support: u64) -> Vec<Edge> {
        let mut open = edges.iter().filter(|edge| edge.guard.and(cube).is_some());
        let targets: BTreeSet<usize> = open.clone().map(|edge| class[edge.target]).collect();
        let is_open = open.any(|edge| !cube.is_within(edge.guard));
        if targets.len() == 1 || !is_open || support == 0 {
            return targets.into_iter().map(|target| Edge { guard: cube, target }).collect();
        }
        let atom = support.trailing_zeros() as usize;
        let rest = support & (support - 1);
        let bit = 1 << atom;
        let [yes, no] = [true, false].map(|positive| {
            let half = cube.and(Cube::literal(atom, positive)).expect("the atom is not in it");
            walk(edges, class, half, rest)
        });
        let plain = |edges: &[Edge]| -> Vec<Edge> {
            let strip = |edge: &Edge| {
                let guard = Cube { holds: edge.guard.holds & !bit, fails: edge.guard.fails & !bit };
                Edge { guard, ..*edge }
            };
            edges.iter().map(strip).collect()
        };
        if plain(&yes) == plain(&no) { plain(&yes) } else { [yes, no].concat() }
    }
    let support = edges.iter().fold(0, |all, edge| all | edge.guard.holds | edge.guard.fails);
    let mut found = walk(edges, class, Cube::TRUE, support);
    found.sort_unstable();
    found
}

/// The same with few edges: cubes with one target that are one together are made one.
fn joined(edges: &[Edge], class: &[usize]) -> Vec<Edge> {
    let mut state = State { is_accepting: false, edges: normal(edges, class) };
    crate::simplify::join(&mut state);
    state.edges
}

/// Leaves out the state that accepts nothing, if the automaton does not begin there.
fn without_sink(mut automaton: Automaton) -> Automaton {
    let is_sink = |idx: usize, state: &State| {
        idx > 0 && !state.is_accepting && state.edges.iter().all(|edge| edge.target == idx)
    };
    let Some(sink) = automaton.states.iter().enumerate().position(|(idx, it)| is_sink(idx, it))
    else {
        return automaton;
    };
    automaton.states.remove(sink);
    for state in &mut automaton.states {
        state.edges.retain(|edge| edge.target != sink);
        for edge in state.edges.iter_mut().filter(|edge| edge.target > sink) {
            edge.target -= 1;
        }
    }
    automaton
}
