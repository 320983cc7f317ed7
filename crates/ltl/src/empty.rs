//! Emptiness of an intersection: is there a word that two automata both accept?
//!
//! By strongly connected components of the product: a word is one that leads to a component with an
//! accepting state of each, and around in it.

use crate::automaton::components;
use crate::{Automaton, Cube, Edge, State};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// An infinite word: letters, of which those from `loop_start` on are repeated for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The letters, each the set of atoms that hold, as bits.
    pub letters: Vec<u64>,
    /// Where the part that is repeated begins.
    pub loop_start: usize,
}

/// How an automaton reads an infinite word: steps, of which those from `loop_start` on are repeated
/// for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The steps.
    pub steps: Vec<RunStep>,
    /// Where the part that is repeated begins.
    pub loop_start: usize,
}

/// How one letter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The place of the letter in its word.
    pub letter: usize,
    /// The state of the automaton in front of it.
    pub from: usize,
    /// And the one behind it.
    pub to: usize,
}

/// A word that both automata accept, if there is one. The bits of their guards mean the same.
pub fn common_word(left: &Automaton, right: &Automaton) -> Option<Lasso> {
    let product = Product::of(left, right);
    let (ways, loop_start) = product.accepting(left, right)?;
    Some(Lasso { letters: ways.iter().map(|way| way.guard.holds).collect(), loop_start })
}

/// A run of an automaton over a word that accepts it, if there is one.
pub fn accepting_run(automaton: &Automaton, word: &Lasso) -> Option<Run> {
    let states = word.letters.iter().enumerate().map(|(idx, &letter)| {
        let next = if idx + 1 < word.letters.len() { idx + 1 } else { word.loop_start };
        let guard = Cube { holds: letter, fails: !letter };
        State { is_accepting: true, edges: vec![Edge { guard, target: next }] }
    });
    let word = Automaton { atoms: automaton.atoms.clone(), states: states.collect() };
    let product = Product::of(automaton, &word);
    let (ways, loop_start) = product.accepting(automaton, &word)?;
    let step = |way: &Way| {
        let ((from, letter), (to, _)) = (product.pairs[way.from], product.pairs[way.to]);
        RunStep { letter, from, to }
    };
    Some(Run { steps: ways.iter().map(step).collect(), loop_start })
}

/// Whether an automaton accepts a word.
pub fn accepts(automaton: &Automaton, word: &Lasso) -> bool {
    accepting_run(automaton, word).is_some()
}

/// A step between two pairs.
#[derive(Clone, Copy)]
struct Way {
    from: usize,
    guard: Cube,
    to: usize,
}

/// The pairs of states that a word can lead two automata to.
struct Product {
    pairs: Vec<(usize, usize)>,
    edges: Vec<Vec<(Cube, usize)>>,
}

impl Product {
    fn of(left: &Automaton, right: &Automaton) -> Self {
        let mut numbers: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut product = Self { pairs: vec![(0, 0)], edges: Vec::new() };
        numbers.insert((0, 0), 0);
        while let Some(&(one, two)) = product.pairs.get(product.edges.len()) {
            let mut edges = Vec::new();
            for first in &left.states[one].edges {
                for second in &right.states[two].edges {
                    let Some(guard) = first.guard.and(second.guard) else { continue };
                    let pair = (first.target, second.target);
                    let number = *numbers.entry(pair).or_insert_with(|| {
                        product.pairs.push(pair);
                        product.pairs.len() - 1
                    });
                    edges.push((guard, number));
                }
            }
            product.edges.push(edges);
        }
        product
    }

    /// A way into a loop that both automata accept, and where in it the loop begins.
    fn accepting(&self, left: &Automaton, right: &Automaton) -> Option<(Vec<Way>, usize)> {
        let targets = |edges: &Vec<(Cube, usize)>| edges.iter().map(|&(_, to)| to).collect();
        let successors: Vec<Vec<usize>> = self.edges.iter().map(targets).collect();
        let (component, has_cycle) = components(&successors);
        // The first pair of each component at which an automaton accepts.
        let mut found = vec![[None; 2]; has_cycle.len()];
        for (idx, &(one, two)) in self.pairs.iter().enumerate().rev() {
            let accept = [left.states[one].is_accepting, right.states[two].is_accepting];
            for (found, _) in found[component[idx]].iter_mut().zip(accept).filter(|it| it.1) {
                *found = Some(idx);
            }
        }
        let is_it =
            |number: &usize| has_cycle[*number] && found[*number].iter().all(Option::is_some);
        let number = (0..has_cycle.len()).find(is_it)?;
        let [one, two] = found[number].map(|it| it.expect("it was looked at"));
        let inside = |idx: usize| component[idx] == number;
        let mut ways = self.path(0, one, true, &|_| true);
        let loop_start = ways.len();
        ways.extend(self.path(one, two, true, &inside));
        ways.extend(self.path(two, one, false, &inside));
        Some((ways, loop_start))
    }

    /// A shortest way. Unless it `may_be_empty`, it has a step.
    fn path(
        &self,
        from: usize,
        to: usize,
        may_be_empty: bool,
        allowed: &dyn Fn(usize) -> bool,
    ) -> Vec<Way> {
        if may_be_empty && from == to {
            return Vec::new();
        }
        let mut came_by: FxHashMap<usize, Way> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &(guard, next) in &self.edges[node] {
                if !allowed(next) || came_by.contains_key(&next) {
                    continue;
                }
                came_by.insert(next, Way { from: node, guard, to: next });
                if next == to {
                    return walk_back(&came_by, from, to);
                }
                queue.push_back(next);
            }
        }
        unreachable!("a component is connected, and all of it was reached")
    }
}

fn walk_back(came_by: &FxHashMap<usize, Way>, from: usize, to: usize) -> Vec<Way> {
    let mut ways = Vec::new();
    let mut node = to;
    loop {
        let way = came_by[&node];
        ways.push(way);
        node = way.from;
        if node == from {
            ways.reverse();
            return ways;
        }
    }
}
