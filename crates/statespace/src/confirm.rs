//! No violation leaves unchecked: its path is followed once more, in a program of its own, and
//! told.

use crate::search_limits::Path;
use crate::transitions::{Group, Moves, Stuck, Successor, Transitions};
use mazurka_core::{Counterexample, Decision, Execution, Schedule, ThreadId, Told};

/// A counterexample, and what a core's does not have.
pub(crate) struct Confirmed {
    pub(crate) counterexample: Counterexample,
    /// Who stands where in the end, if that is what is wrong.
    pub(crate) stuck: Vec<Told>,
}

/// Follows a path to what is wrong at its end.
///
/// # Panics
///
/// If nothing is: the program does not say the same of a state whenever it is asked.
pub(crate) fn confirm<T: Transitions>(mut program: T, path: &Path) -> Confirmed {
    let (mut state, mut moves) = (Vec::new(), Moves::new());
    let (mut schedule, mut story) = (Schedule::new(), Vec::new());
    let mut violation = None;
    program.initial(&mut state);
    for &idx in path {
        let idx = idx as usize;
        moves.clear();
        program.expand(&state, &mut moves);
        assert!(idx < moves.len(), "a move of a path is possible again");
        let made = moves[idx];
        schedule.push(program.decision(&moves, idx));
        story.extend(program.describe_move(&state, &moves, idx));
        violation = made.fault.map(|fault| program.violation(&state, made.step, fault));
        if made.successor != Successor::None {
            state.clear();
            state.extend_from_slice(moves.state(idx));
        }
    }
    let mut stuck = Vec::new();
    let violation = violation.unwrap_or_else(|| {
        moves.clear();
        program.expand(&state, &mut moves);
        assert!(moves.is_empty() && !program.is_valid_end(&state), "a wrong end is wrong again");
        let end: Stuck = program.stuck(&state);
        stuck = end.processes;
        end.violation
    });
    let counterexample = Counterexample {
        violation,
        schedule,
        execution: Execution::default(),
        story,
        waits: Vec::new(),
        accesses: Vec::new(),
        shared: Vec::new(),
        joins: Vec::new(),
        failed: None,
        decisive: None,
        end: program.variables(&state),
    };
    Confirmed { counterexample, stuck }
}

/// A move as a decision: the process, and which of its moves.
pub(crate) fn decision(moves: &Moves, idx: usize) -> Decision {
    let process = moves[idx].step.process;
    let is_its = |group: &Group| group.process == process;
    let group = moves.groups().iter().position(is_its).expect("a move is in a group");
    let choice = (idx - moves.of_group(group).start) as u32;
    Decision { thread: ThreadId::new(process as usize), choice }
}
