//! Complementation: an automaton for exactly the words that another one does not accept.
//!
//! Implements Kupferman and Vardi, *Weak Alternating Automata Are Not That Weak* (TOCL 2001): level
//! rankings, with the set of those that owe an odd rank.
//!
//! | paper                          | here                 |
//! |--------------------------------|----------------------|
//! | level ranking g                | [`Level::ranks`]     |
//! | the set O                      | [`Level::owing`]     |
//! | rank at most 2(n − \|F\|)      | `highest`            |
//!
//! Differs from the paper: deterministic automata are complemented by guessing when the last
//! accepting state was visited. And there is a limit to the size.

use crate::stutter::letters;
use crate::{Automaton, Edge, State};
use rustc_hash::FxHashMap;

const MAX_STATES: usize = 4000;
const MAX_SUPPORT: u32 = 6;

/// An automaton for the words that `automaton` does not accept; nothing if it would be too large.
pub fn complement(automaton: &Automaton) -> Option<Automaton> {
    let mut automaton = automaton.clone();
    automaton.complete();
    let complement = match automaton.is_deterministic() {
        true => of_deterministic(&automaton),
        false => by_ranks(&automaton)?,
    };
    Some(crate::simplify::simplify(complement))
}

/// First as the automaton itself; then, from any moment on, only where nothing accepts.
fn of_deterministic(automaton: &Automaton) -> Automaton {
    let n_states = automaton.states.len();
    let mut states = Vec::new();
    for state in &automaton.states {
        let mut edges = state.edges.clone();
        let last = state.edges.iter().map(|edge| Edge { target: edge.target + n_states, ..*edge });
        edges.extend(last);
        states.push(State { is_accepting: false, edges });
    }
    for state in &automaton.states {
        let edges = state.edges.iter().map(|edge| Edge { target: edge.target + n_states, ..*edge });
        // What accepts must not be visited any more.
        let edges = if state.is_accepting { Vec::new() } else { edges.collect() };
        states.push(State { is_accepting: !state.is_accepting, edges });
    }
    Automaton { atoms: automaton.atoms.clone(), states }
}

/// A state of the complement: for each state that a run may be in, how far it is from never
/// accepting again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Level {
    ranks: Vec<Option<u8>>,
    owing: Vec<bool>,
}

fn by_ranks(automaton: &Automaton) -> Option<Automaton> {
    let n_states = automaton.states.len();
    let n_accepting = automaton.states.iter().filter(|state| state.is_accepting).count();
    let highest = u8::try_from(2 * (n_states - n_accepting)).ok()?;
    let support = automaton.support();
    if support.count_ones() > MAX_SUPPORT {
        return None;
    }
    let mut start = Level { ranks: vec![None; n_states], owing: vec![false; n_states] };
    start.ranks[0] = Some(highest);
    let mut numbers = FxHashMap::default();
    numbers.insert(start.clone(), 0);
    let mut levels = vec![start];
    let mut states = Vec::new();
    while let Some(level) = levels.get(states.len()).cloned() {
        let mut edges = Vec::new();
        for guard in letters(support) {
            let mut bounds: Vec<Option<u8>> = vec![None; n_states];
            let mut owed = vec![false; n_states];
            for (idx, rank) in level.ranks.iter().enumerate() {
                let Some(rank) = *rank else { continue };
                let taken = automaton.states[idx].edges.iter();
                for edge in taken.filter(|edge| guard.is_within(edge.guard)) {
                    let bound = &mut bounds[edge.target];
                    *bound = Some(bound.map_or(rank, |bound| bound.min(rank)));
                    owed[edge.target] |= level.owing[idx];
                }
            }
            let is_settled = !level.owing.contains(&true);
            for ranks in rankings(automaton, &bounds) {
                let is_even = |rank: &Option<u8>| rank.is_some_and(|rank| rank % 2 == 0);
                let owing = ranks
                    .iter()
                    .zip(&owed)
                    .map(|(rank, owed)| is_even(rank) && (is_settled || *owed));
                let next = Level { owing: owing.collect(), ranks };
                if levels.len() > MAX_STATES {
                    return None;
                }
                let target = *numbers.entry(next.clone()).or_insert_with(|| {
                    levels.push(next);
                    levels.len() - 1
                });
                edges.push(Edge { guard, target });
            }
        }
        states.push(State { is_accepting: !level.owing.contains(&true), edges });
    }
    Some(Automaton { atoms: automaton.atoms.clone(), states })
}

/// All rankings within bounds: even for states that accept.
fn rankings(automaton: &Automaton, bounds: &[Option<u8>]) -> Vec<Vec<Option<u8>>> {
    let mut all = vec![Vec::new()];
    for (state, bound) in automaton.states.iter().zip(bounds) {
        let choices: Vec<Option<u8>> = match bound {
            None => vec![None],
            Some(bound) => {
                (0..=*bound).filter(|rank| !state.is_accepting || rank % 2 == 0).map(Some).collect()
            }
        };
        all = all
            .into_iter()
            .flat_map(|ranks: Vec<Option<u8>>| {
                choices.iter().map(move |&rank| {
                    let mut ranks = ranks.clone();
                    ranks.push(rank);
                    ranks
                })
            })
            .collect();
        if all.len() > MAX_STATES {
            // The caller will find that there are too many.
            break;
        }
    }
    all
}
