//! Stutter invariance: does it matter how often a letter is repeated before the next one comes?
//!
//! Implements Michaud and Duret-Lutz, *Practical Stutter-Invariance Checks for ω-Regular Languages*
//! (SPIN 2015), section 4: the language of φ is stutter-invariant if no word has repetitions both
//! of a word in it and of one in its complement, that is, sl(A_φ) and sl(A_¬φ) have no word in
//! common.
//!
//! Differs from the paper: automata accept by states, so the states that wait while a letter is
//! repeated never accept; the state they wait for does. Before an automaton is complemented, which
//! may take long or be too much, it is asked whether it simulates what repeats letters and what
//! takes repetitions out: if it does, that settles it.

use crate::complement::complement;
use crate::empty::{Lasso, common_word};
use crate::simplify::{simplify, simulation};
use crate::{Automaton, Cube, Edge, State};

/// Beyond it there are too many letters to try.
const MAX_SUPPORT: u32 = 10;

/// Whether it matters how often a letter is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuttering {
    /// It does not.
    Invariant,
    /// It does: this word is accepted with some of its letters taken out, and not with others.
    Sensitive(Lasso),
    /// Unknown: the automaton is too large to tell.
    Unknown,
}

/// Whether it matters to an automaton, given one that accepts exactly the other words.
pub fn is_stutter_invariant(automaton: &Automaton, negation: &Automaton) -> Stuttering {
    let support = automaton.support() | negation.support();
    if support.count_ones() > MAX_SUPPORT {
        return Stuttering::Unknown;
    }
    let letters = letters(support);
    match common_word(&stuttered(automaton, &letters), &stuttered(negation, &letters)) {
        None => Stuttering::Invariant,
        Some(word) => Stuttering::Sensitive(word),
    }
}

/// Whether it matters to an automaton of which nothing else is known.
pub fn stuttering(automaton: &Automaton) -> Stuttering {
    // What is complemented should be small, since the complement may be exponentially larger.
    let automaton = simplify(automaton.clone());
    if is_closed(&automaton) {
        return Stuttering::Invariant;
    }
    match complement(&automaton) {
        Some(negation) => is_stutter_invariant(&automaton, &negation),
        None => Stuttering::Unknown,
    }
}

/// Beyond it, simulation takes longer than the complement.
const MAX_COMPARED: usize = 400;

/// Whether an automaton simulates the one that accepts its words with letters repeated, and the one
/// that accepts them with repetitions taken out. If not, nothing is known.
fn is_closed(automaton: &Automaton) -> bool {
    let n_states = automaton.states.len();
    let support = automaton.support();
    if support.count_ones() > MAX_SUPPORT || n_states << support.count_ones() > MAX_COMPARED {
        return false;
    }
    let letters = letters(support);
    [stuttered(automaton, &letters), contracted(automaton, &letters)].iter().all(|other| {
        let mut both = automaton.clone();
        let moved = |state: &State| {
            let edge = |edge: &Edge| Edge { target: edge.target + n_states, ..*edge };
            State { edges: state.edges.iter().map(edge).collect(), ..*state }
        };
        both.states.extend(other.states.iter().map(moved));
        simulation(&both)[n_states][0]
    })
}

/// Accepts every word of an automaton with repetitions of letters taken out: a step may stand for
/// several that read the same letter, and accepts if it comes by a state that does.
fn contracted(automaton: &Automaton, letters: &[Cube]) -> Automaton {
    let number = |state: usize, accepts: bool| 2 * state + usize::from(accepts);
    let mut states = Vec::new();
    for state in 0..automaton.states.len() {
        let mut edges = Vec::new();
        for &guard in letters {
            let mut seen = vec![false; 2 * automaton.states.len()];
            let mut todo = vec![(state, false)];
            while let Some((at, accepts)) = todo.pop() {
                let ways = automaton.states[at].edges.iter();
                for edge in ways.filter(|edge| guard.is_within(edge.guard)) {
                    let accepts = accepts || automaton.states[edge.target].is_accepting;
                    let target = number(edge.target, accepts);
                    if !std::mem::replace(&mut seen[target], true) {
                        edges.push(Edge { guard, target });
                        todo.push((edge.target, accepts));
                    }
                }
            }
        }
        states
            .extend([false, true].map(|is_accepting| State { is_accepting, edges: edges.clone() }));
    }
    Automaton { atoms: automaton.atoms.clone(), states }
}

/// All letters over some atoms.
pub(crate) fn letters(support: u64) -> Vec<Cube> {
    let mut letters = Vec::new();
    let mut holds = 0u64;
    loop {
        letters.push(Cube { holds, fails: support & !holds });
        // The next subset, counting in the bits of the support alone.
        holds = holds.wrapping_sub(support) & support;
        if holds == 0 {
            return letters;
        }
    }
}

/// Accepts every word of an automaton with any of its letters repeated.
fn stuttered(automaton: &Automaton, letters: &[Cube]) -> Automaton {
    let n_states = automaton.states.len();
    // Behind the old states: for each of them and each letter one that waits.
    let waits = |target: usize, letter: usize| n_states + target * letters.len() + letter;
    let mut states: Vec<State> = Vec::new();
    for state in &automaton.states {
        let mut edges = Vec::new();
        for (number, &guard) in letters.iter().enumerate() {
            for edge in state.edges.iter().filter(|edge| guard.is_within(edge.guard)) {
                let targets = [edge.target, waits(edge.target, number)];
                edges.extend(targets.map(|target| Edge { guard, target }));
            }
        }
        states.push(State { is_accepting: state.is_accepting, edges });
    }
    for target in 0..n_states {
        for (number, &guard) in letters.iter().enumerate() {
            let edges = [target, waits(target, number)].map(|target| Edge { guard, target });
            states.push(State { is_accepting: false, edges: edges.to_vec() });
        }
    }
    Automaton { atoms: automaton.atoms.clone(), states }
}
