//! Counterexamples that go on for ever: a way there and a way around, checked before they are told.

use super::fairness::{Processes, neglected};
use super::graph::{Arrow, Graph};
use crate::confirm::decision;
use crate::options::Fairness;
use crate::transitions::{Moves, Transitions};
use mazurka_core::{Counterexample, Execution, Schedule, Violation};
use mazurka_ltl::{Automaton, Lasso as Word, accepts};

/// Steps from the initial state, of which those from `loop_start` on are repeated for ever.
#[derive(Clone, Debug)]
pub(super) struct Lasso {
    /// Each with the state that it leads away from.
    pub(super) steps: Vec<(u32, Arrow)>,
    pub(super) loop_start: usize,
}

/// A counterexample, and where its loop begins.
pub(super) struct Confirmed {
    pub(super) counterexample: Counterexample,
    /// The first entry of the story that is repeated, from 1; none if nothing happens any more.
    pub(super) loop_start: Option<usize>,
}

/// Follows a lasso, and tells it.
///
/// # Panics
///
/// If it is none, or the automaton does not accept it, or it is not fair.
pub(super) fn confirm<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    fairness: Fairness,
    lasso: &Lasso,
    violation: impl FnOnce(bool) -> Violation,
) -> Confirmed {
    let Lasso { steps, loop_start } = lasso;
    let letters = steps.iter().map(|&(from, _)| graph.letter(from)).collect();
    let word = Word { letters, loop_start: *loop_start };
    assert!(accepts(automaton, &word), "the automaton accepts what was found");
    assert!(is_fair(graph, fairness, &steps[*loop_start..]), "what was found is fair");

    let (mut state, mut moves) = (Vec::new(), Moves::new());
    graph.program().initial(&mut state);
    let (mut schedule, mut story) = (Schedule::new(), Vec::new());
    let (mut first, mut at_start) = (0, Vec::new());
    for (idx, &(from, arrow)) in steps.iter().enumerate() {
        assert_eq!(state, graph.state(from), "a step begins where the last one ended");
        if idx == *loop_start {
            (first, at_start) = (story.len(), state.clone());
        }
        if arrow.process.is_none() {
            continue;
        }
        for choice in graph.moves_of(from, arrow) {
            let choice = choice as usize;
            let program = graph.program();
            moves.clear();
            program.expand(&state, &mut moves);
            schedule.push(decision(&moves, choice));
            story.extend(program.describe(&state, moves[choice].step));
            state.clear();
            state.extend_from_slice(moves.state(choice));
        }
    }
    assert_eq!(state, at_start, "a loop ends where it began");
    let stays = first == story.len();
    let counterexample = Counterexample {
        violation: violation(stays),
        schedule,
        execution: Execution::default(),
        story,
        waits: Vec::new(),
        accesses: Vec::new(),
    };
    Confirmed { counterexample, loop_start: (!stays).then_some(first + 1) }
}

fn is_fair<T: Transitions>(
    graph: &Graph<'_, T>,
    fairness: Fairness,
    around: &[(u32, Arrow)],
) -> bool {
    if fairness == Fairness::None {
        return true;
    }
    let enabled = around.iter().map(|&(from, _)| graph.enabled(from));
    let moved = around.iter().flat_map(|(_, arrow)| arrow.process.into_iter().chain(arrow.partner));
    let moved: Processes = moved.collect();
    neglected(fairness, enabled, moved).is_empty()
}
