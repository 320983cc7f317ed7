//! Very weak alternating automata: a formula as a set of obligations, and how to meet each.
//!
//! Implements Gastin and Oddoux, *Fast LTL to Büchi Automata Translation* (CAV 2001), section 3.
//!
//! | paper                      | here                        |
//! |----------------------------|-----------------------------|
//! | transition function δ, Δ   | [`Alternating::ways`]       |
//! | ψ̄, a formula as a set of sets | [`Alternating::obligations`] |
//! | simplification             | [`minimal`]                 |
//!
//! Differs from the paper: nothing.

use crate::Cube;
use crate::normal::{Node, NodeId, Pool};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Formulae that all have to hold: sorted, each once.
pub(crate) type Set = SmallVec<[NodeId; 4]>;

/// A way to meet an obligation: the letter it takes, and what is left to do from the next one on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    pub(crate) guard: Cube,
    pub(crate) to: Set,
}

/// How to meet every formula that was asked for.
pub(crate) struct Alternating<'a> {
    pool: &'a Pool,
    known: FxHashMap<NodeId, Vec<Way>>,
}

impl<'a> Alternating<'a> {
    pub(crate) fn new(pool: &'a Pool) -> Self {
        Self { pool, known: FxHashMap::default() }
    }

    /// The ways to meet a formula, none of which another one makes superfluous.
    pub(crate) fn ways(&mut self, id: NodeId) -> Vec<Way> {
        if let Some(ways) = self.known.get(&id) {
            return ways.clone();
        }
        let now = |guard| vec![Way { guard, to: Set::new() }];
        let stay = vec![Way { guard: Cube::TRUE, to: Set::from_slice(&[id]) }];
        let ways = match self.pool.node(id) {
            Node::True => now(Cube::TRUE),
            Node::False => Vec::new(),
            Node::Literal { atom, positive } => now(Cube::literal(*atom, *positive)),
            Node::And(parts) => parts.iter().fold(now(Cube::TRUE), |ways, &part| {
                let more = self.ways(part);
                both(&ways, &more)
            }),
            Node::Or(parts) => parts.iter().flat_map(|&part| self.ways(part)).collect(),
            Node::Next(operand) => {
                let sets = self.obligations(*operand);
                sets.into_iter().map(|to| Way { guard: Cube::TRUE, to }).collect()
            }
            &Node::Until(left, right) => {
                let mut ways = both(&self.ways(left), &stay);
                ways.extend(self.ways(right));
                ways
            }
            &Node::Release(left, right) => {
                let mut released = self.ways(left);
                released.extend(stay);
                both(&self.ways(right), &released)
            }
        };
        let ways = minimal(ways);
        self.known.insert(id, ways.clone());
        ways
    }

    /// The sets of obligations one of which the formula is.
    fn obligations(&self, id: NodeId) -> Vec<Set> {
        match self.pool.node(id) {
            Node::True => vec![Set::new()],
            Node::False => Vec::new(),
            Node::Or(parts) => parts.iter().flat_map(|&part| self.obligations(part)).collect(),
            Node::And(parts) => parts.iter().fold(vec![Set::new()], |sets, &part| {
                let more = self.obligations(part);
                sets.iter()
                    .flat_map(|set| more.iter().map(move |other| union(set, other)))
                    .collect()
            }),
            _ => vec![Set::from_slice(&[id])],
        }
    }
}

impl Way {
    /// To take both at once, if some letter allows it.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        let guard = self.guard.and(other.guard)?;
        Some(Self { guard, to: union(&self.to, &other.to) })
    }
}

/// All that both can take.
fn both(left: &[Way], right: &[Way]) -> Vec<Way> {
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| one.and(other)));
    minimal(pairs.flatten().collect())
}

fn union(left: &Set, right: &Set) -> Set {
    let mut all: Set = left.iter().chain(right).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub(crate) fn is_subset(small: &Set, large: &Set) -> bool {
    small.iter().all(|id| large.binary_search(id).is_ok())
}

/// Drops every way that takes no more than another one and has as much left to do.
fn minimal(ways: Vec<Way>) -> Vec<Way> {
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        let is_better = |one: &Way, other: &Way| {
            other.guard.is_within(one.guard) && is_subset(&one.to, &other.to)
        };
        if !kept.iter().any(|other| is_better(other, &way)) {
            kept.retain(|other| !is_better(&way, other));
            kept.push(way);
        }
    }
    kept
}
