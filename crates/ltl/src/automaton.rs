//! Büchi automata: what accepts infinite words.

use crate::Atoms;

/// A nondeterministic Büchi automaton over sets of atoms. It begins in state 0; an infinite word is
/// accepted if a run over it visits an accepting state for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// What the bits of its guards stand for.
    pub atoms: Atoms,
    /// The states, the initial one first. There is at least one.
    pub states: Vec<State>,
}

/// A state of an automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Whether a word is accepted whose run visits it for ever.
    pub is_accepting: bool,
    /// The ways out.
    pub edges: Vec<Edge>,
}

/// A way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Which letters it takes.
    pub guard: Cube,
    /// Where it goes.
    pub target: usize,
}

/// A conjunction of literals: some atoms hold, and some do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The atoms that hold, as bits.
    pub holds: u64,
    /// The atoms that do not.
    pub fails: u64,
}

impl Cube {
    /// Takes every letter.
    pub const TRUE: Self = Self { holds: 0, fails: 0 };

    /// One atom, or its negation.
    pub fn literal(atom: usize, positive: bool) -> Self {
        let bit = 1 << atom;
        if positive { Self { holds: bit, fails: 0 } } else { Self { holds: 0, fails: bit } }
    }

    /// What both take, if there is anything.
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self { holds: self.holds | other.holds, fails: self.fails | other.fails };
        (both.holds & both.fails == 0).then_some(both)
    }

    /// Whether `other` takes every letter that this one takes.
    pub fn is_within(self, other: Self) -> bool {
        other.holds & !self.holds == 0 && other.fails & !self.fails == 0
    }

    /// Whether it takes a letter.
    pub fn takes(self, letter: u64) -> bool {
        self.holds & !letter == 0 && self.fails & letter == 0
    }
}

impl Automaton {
    /// The number of edges.
    pub fn n_edges(&self) -> usize {
        self.states.iter().map(|state| state.edges.len()).sum()
    }

    /// Whether no word has two runs.
    pub fn is_deterministic(&self) -> bool {
        self.states.iter().all(|state| {
            state.edges.iter().enumerate().all(|(idx, edge)| {
                let others = &state.edges[idx + 1..];
                others.iter().all(|other| edge.guard.and(other.guard).is_none())
            })
        })
    }

    /// Gives every word a run: what had none goes to a state of its own that never accepts.
    pub fn complete(&mut self) {
        let sink = self.states.len();
        let mut needs_sink = false;
        for state in &mut self.states {
            let taken: Vec<Cube> = state.edges.iter().map(|edge| edge.guard).collect();
            let rest = without(Cube::TRUE, &taken);
            needs_sink |= !rest.is_empty();
            state.edges.extend(rest.into_iter().map(|guard| Edge { guard, target: sink }));
        }
        if needs_sink {
            let stay = Edge { guard: Cube::TRUE, target: sink };
            self.states.push(State { is_accepting: false, edges: vec![stay] });
        }
    }

    /// The atoms that its guards look at, as bits.
    pub fn support(&self) -> u64 {
        let edges = self.states.iter().flat_map(|state| &state.edges);
        edges.fold(0, |support, edge| support | edge.guard.holds | edge.guard.fails)
    }

    /// Its strongly connected components: the number of each state's, and whether a run can stay
    /// in it. Successors have smaller numbers.
    pub(crate) fn components(&self) -> (Vec<usize>, Vec<bool>) {
        let successors: Vec<Vec<usize>> = self
            .states
            .iter()
            .map(|state| state.edges.iter().map(|edge| edge.target).collect())
            .collect();
        components(&successors)
    }
}

/// Disjoint cubes for the part of `cube` that none of `taken` takes.
pub(crate) fn without(cube: Cube, taken: &[Cube]) -> Vec<Cube> {
    let Some(first) = taken.iter().position(|other| cube.and(*other).is_some()) else {
        return vec![cube];
    };
    if cube.is_within(taken[first]) {
        return Vec::new();
    }
    let missing = (taken[first].holds & !cube.holds) | (taken[first].fails & !cube.fails);
    let atom = missing.trailing_zeros() as usize;
    let halves = [true, false].map(|positive| Cube::literal(atom, positive));
    let halves = halves.into_iter().filter_map(|half| cube.and(half));
    halves.flat_map(|half| without(half, &taken[first..])).collect()
}

/// Tarjan's strongly connected components, without recursion: the number of each node's, and
/// whether a component has an edge inside. Successors have smaller numbers.
pub(crate) fn components(successors: &[Vec<usize>]) -> (Vec<usize>, Vec<bool>) {
    const NONE: usize = usize::MAX;
    let n_nodes = successors.len();
    let (mut index, mut low) = (vec![NONE; n_nodes], vec![NONE; n_nodes]);
    let mut component = vec![NONE; n_nodes];
    let mut has_cycle = Vec::new();
    let (mut open, mut n_seen) = (Vec::new(), 0);
    for root in 0..n_nodes {
        if index[root] != NONE {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some(&mut (node, ref mut at)) = calls.last_mut() {
            if *at == 0 {
                index[node] = n_seen;
                low[node] = n_seen;
                n_seen += 1;
                open.push(node);
            }
            if let Some(&next) = successors[node].get(*at) {
                *at += 1;
                if index[next] == NONE {
                    calls.push((next, 0));
                } else if component[next] == NONE {
                    low[node] = low[node].min(index[next]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let number = has_cycle.len();
                let start = open.iter().rposition(|&it| it == node).expect("it is open");
                let members = open.split_off(start);
                for &member in &members {
                    component[member] = number;
                }
                let inside = |&member: &usize| {
                    successors[member].iter().any(|&next| component[next] == number)
                };
                has_cycle.push(members.iter().any(inside));
            }
        }
    }
    (component, has_cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completing_leaves_no_letter_out() {
        let edge = |holds, fails, target| Edge { guard: Cube { holds, fails }, target };
        let state =
            State { is_accepting: true, edges: vec![edge(0b01, 0b10, 0), edge(0b100, 0, 0)] };
        let mut automaton =
            Automaton { atoms: ["a", "b", "c"].map(str::to_owned).to_vec(), states: vec![state] };
        assert!(!automaton.is_deterministic());
        automaton.complete();
        assert_eq!(automaton.states.len(), 2);
        for letter in 0..8 {
            let takes = |edge: &&Edge| edge.guard.takes(letter);
            let n_old = automaton.states[0].edges[..2].iter().filter(takes).count();
            let n_new = automaton.states[0].edges[2..].iter().filter(takes).count();
            assert_eq!(n_new, usize::from(n_old == 0), "letter {letter:03b}");
        }
    }
}
