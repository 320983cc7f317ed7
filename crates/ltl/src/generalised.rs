//! Generalised Büchi automata, which accept by transitions, and degeneralisation.
//!
//! Implements Gastin and Oddoux, *Fast LTL to Büchi Automata Translation* (CAV 2001), sections 4
//! and 5.
//!
//! | paper                                  | here                           |
//! |----------------------------------------|--------------------------------|
//! | states 2^Q                             | [`Generalised::states`]        |
//! | 𝒯_f, the transitions that fulfil f     | the bits of [`Transition::met`] |
//! | t' ≼ t                                 | [`Transition::is_better`]      |
//! | 𝒢 to ℬ, with a counter                 | [`Generalised::degeneralise`]  |
//!
//! Differs from the paper: there is one initial state, the formula itself. And the counter is put
//! back to its beginning wherever a run enters another strongly connected component or is in one
//! where it cannot accept, since what was counted before does not matter there.

use crate::alternating::{Alternating, Set, Way, is_subset};
use crate::automaton::components;
use crate::normal::{Node, NodeId, Pool};
use crate::{Atoms, Automaton, Cube, Edge, State, TooLarge};
use rustc_hash::FxHashMap;

const MAX_UNTILS: usize = 128;
const MAX_STATES: usize = 20_000;

/// An automaton that accepts if for every `until` the transitions that meet it are taken for ever.
pub(crate) struct Generalised {
    states: Vec<Vec<Transition>>,
    n_untils: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Transition {
    guard: Cube,
    target: usize,
    to: Set,
    /// The untils that it does not put off, as bits.
    met: u128,
}

impl Transition {
    /// Whether it makes `other` superfluous.
    fn is_better(&self, other: &Self) -> bool {
        other.guard.is_within(self.guard)
            && is_subset(&self.to, &other.to)
            && other.met & !self.met == 0
    }
}

impl Generalised {
    /// From transitions that are known: for each state the guard, the target, and the sets that
    /// the transition is in, as bits. It begins in state 0.
    pub(crate) fn from_transitions(states: Vec<Vec<(Cube, usize, u128)>>, n_sets: usize) -> Self {
        let transition = |(guard, target, met)| Transition { guard, target, to: Set::new(), met };
        let states =
            states.into_iter().map(|state| state.into_iter().map(transition).collect()).collect();
        Self { states, n_untils: n_sets }
    }

    pub(crate) fn of(pool: &Pool, formula: NodeId) -> Result<Self, TooLarge> {
        let mut build = Build {
            pool,
            alternating: Alternating::new(pool),
            untils: Vec::new(),
            numbers: FxHashMap::default(),
            sets: Vec::new(),
        };
        build.find_untils(formula)?;
        build.number(Set::from_slice(&[formula]));
        let mut states = Vec::new();
        while let Some(set) = build.sets.get(states.len()).cloned() {
            if build.sets.len() > MAX_STATES {
                return Err(TooLarge { limit: MAX_STATES, what: "states" });
            }
            states.push(build.transitions(&set));
        }
        let mut generalised = Self { states, n_untils: build.untils.len() };
        generalised.merge();
        Ok(generalised)
    }

    /// Makes states with the same ways out one, until there are no more such. What no edge leads to
    /// any more stays, without a way out.
    fn merge(&mut self) {
        let mut is_used = vec![true; self.states.len()];
        loop {
            let mut first: FxHashMap<Vec<(Cube, usize, u128)>, usize> = FxHashMap::default();
            let mut instead: Vec<usize> = (0..self.states.len()).collect();
            for idx in (0..self.states.len()).filter(|&idx| is_used[idx]) {
                let ways_out = self.states[idx].iter().map(|it| (it.guard, it.target, it.met));
                let mut key: Vec<_> = ways_out.collect();
                key.sort_unstable();
                key.dedup();
                instead[idx] = *first.entry(key).or_insert(idx);
            }
            let mut is_done = true;
            for idx in (0..self.states.len()).filter(|&idx| instead[idx] != idx) {
                is_used[idx] = false;
                self.states[idx].clear();
                is_done = false;
            }
            if is_done {
                return;
            }
            for transition in self.states.iter_mut().flatten() {
                transition.target = instead[transition.target];
            }
        }
    }

    /// Some orders in which the untils can be counted.
    pub(crate) fn orders(&self) -> Vec<Vec<usize>> {
        let first: Vec<usize> = (0..self.n_untils).collect();
        let is_large = self.states.len() > 200;
        let mut orders = vec![first.clone()];
        match self.n_untils {
            0 | 1 => {}
            _ if is_large => {}
            2 => orders.push(vec![1, 0]),
            3 => orders
                .extend([[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(Vec::from)),
            n => {
                let turned = |by: usize| (0..n).map(|idx| (idx + by) % n).collect::<Vec<_>>();
                let mut back = first;
                back.reverse();
                orders.extend([back, turned(1), turned(n / 2)]);
            }
        }
        orders
    }

    /// A plain automaton for the same words, which counts the untils in this order.
    pub(crate) fn degeneralise(&self, untils: &[usize], atoms: Atoms) -> Automaton {
        let all = if self.n_untils == MAX_UNTILS { u128::MAX } else { (1 << self.n_untils) - 1 };
        let successors: Vec<Vec<usize>> = self
            .states
            .iter()
            .map(|transitions| transitions.iter().map(|it| it.target).collect())
            .collect();
        let (component, has_cycle) = components(&successors);
        let mut met_in = vec![0u128; has_cycle.len()];
        for (idx, transitions) in self.states.iter().enumerate() {
            for transition in transitions {
                if component[transition.target] == component[idx] {
                    met_in[component[idx]] |= transition.met;
                }
            }
        }
        let can_accept = |idx: usize| has_cycle[component[idx]] && met_in[component[idx]] == all;
        let mut numbers: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut order = vec![(0, 0)];
        numbers.insert((0, 0), 0);
        let mut states = Vec::new();
        while let Some(&(idx, level)) = order.get(states.len()) {
            let is_accepting = level == self.n_untils && can_accept(idx);
            let mut edges = Vec::new();
            for transition in &self.states[idx] {
                let target = transition.target;
                let mut next = if level == self.n_untils { 0 } else { level };
                if component[target] != component[idx] || !can_accept(target) {
                    next = 0;
                } else {
                    while next < self.n_untils && transition.met >> untils[next] & 1 == 1 {
                        next += 1;
                    }
                }
                let number = *numbers.entry((target, next)).or_insert_with(|| {
                    order.push((target, next));
                    order.len() - 1
                });
                edges.push(Edge { guard: transition.guard, target: number });
            }
            edges.sort_unstable();
            edges.dedup();
            states.push(State { is_accepting, edges });
        }
        Automaton { atoms, states }
    }
}

/// A generalised automaton in the making.
struct Build<'a> {
    pool: &'a Pool,
    alternating: Alternating<'a>,
    untils: Vec<NodeId>,
    numbers: FxHashMap<Set, usize>,
    sets: Vec<Set>,
}

impl Build<'_> {
    fn find_untils(&mut self, id: NodeId) -> Result<(), TooLarge> {
        match self.pool.node(id) {
            Node::True | Node::False | Node::Literal { .. } => {}
            Node::And(parts) | Node::Or(parts) => {
                for &part in parts {
                    self.find_untils(part)?;
                }
            }
            Node::Next(operand) => self.find_untils(*operand)?,
            &Node::Until(left, right) | &Node::Release(left, right) => {
                let is_new = !self.untils.contains(&id);
                if matches!(self.pool.node(id), Node::Until(..)) && is_new {
                    if self.untils.len() == MAX_UNTILS {
                        return Err(TooLarge { limit: MAX_UNTILS, what: "untils" });
                    }
                    self.untils.push(id);
                }
                self.find_untils(left)?;
                self.find_untils(right)?;
            }
        }
        Ok(())
    }

    fn number(&mut self, set: Set) -> usize {
        let sets = &mut self.sets;
        *self.numbers.entry(set.clone()).or_insert_with(|| {
            sets.push(set);
            sets.len() - 1
        })
    }

    /// The ways to meet all of a set, without those that another one makes superfluous.
    fn transitions(&mut self, set: &Set) -> Vec<Transition> {
        // Not `both`: of two ways one may take less, have more left to do, and yet meet an until
        // that the other one puts off.
        let mut ways = vec![Way { guard: Cube::TRUE, to: Set::new() }];
        for &id in set {
            let more = self.alternating.ways(id);
            let pairs = ways.iter().flat_map(|way| more.iter().map(move |other| way.and(other)));
            ways = pairs.flatten().collect();
            ways.sort_unstable();
            ways.dedup();
        }
        let mut kept: Vec<Transition> = Vec::new();
        for Way { guard, to } in ways {
            let met = self.met(guard, &to);
            let one = Transition { guard, target: 0, to, met };
            if !kept.iter().any(|other| other.is_better(&one)) {
                kept.retain(|other| !one.is_better(other));
                kept.push(one);
            }
        }
        for transition in &mut kept {
            transition.target = self.number(transition.to.clone());
        }
        kept
    }

    /// The untils that a transition does not put off.
    fn met(&mut self, guard: Cube, to: &Set) -> u128 {
        let mut met = 0;
        for (idx, &until) in self.untils.iter().enumerate() {
            let is_met = to.binary_search(&until).is_err()
                || self.alternating.ways(until).iter().any(|way| {
                    guard.is_within(way.guard)
                        && way.to.binary_search(&until).is_err()
                        && is_subset(&way.to, to)
                });
            met |= u128::from(is_met) << idx;
        }
        met
    }
}
