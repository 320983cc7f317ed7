//! Is there a word that two automata both accept?
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

/// A word that both automata accept, if there is one. The bits of their guards mean the same.
pub fn common_word(left: &Automaton, right: &Automaton) -> Option<Lasso> {
    let product = Product::of(left, right);
    let successors: Vec<Vec<usize>> =
        product.edges.iter().map(|edges| edges.iter().map(|&(_, to)| to).collect()).collect();
    let (component, has_cycle) = components(&successors);
    let accepting = |number: usize, side: fn(&(usize, usize)) -> usize, automaton: &Automaton| {
        (0..product.pairs.len()).find(|&idx| {
            component[idx] == number && automaton.states[side(&product.pairs[idx])].is_accepting
        })
    };
    for number in (0..has_cycle.len()).filter(|&number| has_cycle[number]) {
        let (Some(one), Some(two)) =
            (accepting(number, |pair| pair.0, left), accepting(number, |pair| pair.1, right))
        else {
            continue;
        };
        let inside = |idx: usize| component[idx] == number;
        let stem = product.path(0, one, true, &|_| true);
        let mut around = product.path(one, two, true, &inside);
        around.extend(product.path(two, one, false, &inside));
        let loop_start = stem.len();
        let letters = stem.into_iter().chain(around).map(|cube| cube.holds).collect();
        return Some(Lasso { letters, loop_start });
    }
    None
}

/// Whether an automaton accepts a word.
pub fn accepts(automaton: &Automaton, word: &Lasso) -> bool {
    let states = word.letters.iter().enumerate().map(|(idx, &letter)| {
        let next = if idx + 1 < word.letters.len() { idx + 1 } else { word.loop_start };
        let guard = Cube { holds: letter, fails: !letter };
        State { is_accepting: true, edges: vec![Edge { guard, target: next }] }
    });
    let word = Automaton { atoms: automaton.atoms.clone(), states: states.collect() };
    common_word(automaton, &word).is_some()
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

    /// The guards on a shortest way. Unless it `may_be_empty`, it has an edge.
    fn path(
        &self,
        from: usize,
        to: usize,
        may_be_empty: bool,
        allowed: &dyn Fn(usize) -> bool,
    ) -> Vec<Cube> {
        if may_be_empty && from == to {
            return Vec::new();
        }
        let mut came_by: FxHashMap<usize, (usize, Cube)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &(guard, next) in &self.edges[node] {
                if !allowed(next) || came_by.contains_key(&next) {
                    continue;
                }
                came_by.insert(next, (node, guard));
                if next == to {
                    return walk_back(&came_by, from, to);
                }
                queue.push_back(next);
            }
        }
        unreachable!("a component is connected, and all of it was reached")
    }
}

fn walk_back(came_by: &FxHashMap<usize, (usize, Cube)>, from: usize, to: usize) -> Vec<Cube> {
    let mut guards = Vec::new();
    let mut node = to;
    loop {
        let (before, guard) = came_by[&node];
        guards.push(guard);
        node = before;
        if node == from {
            guards.reverse();
            return guards;
        }
    }
}
