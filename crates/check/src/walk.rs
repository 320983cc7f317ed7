//! One execution of a program whose states are known as a whole: step by step, and as an automaton
//! reads it.

use crate::Faults;
use crate::temporal::Wanted;
use mazurka_core::{Decision, Schedule, Told, Violation, ViolationKind};
use mazurka_model::Expr;
use mazurka_statespace::{
    BAD_PREFIX, Fairness, Group, Moves, Optimisations, Reduction, Stuck, Successor, Transitions,
};

/// Which property is violated however an execution goes on, or if it goes on as it has come, from
/// the state where it is to the same one again; in words. `make` makes the program that knows about
/// propositions.
pub(crate) fn violated_for_ever<T: Transitions>(
    make: impl Fn(&[Expr]) -> Result<T, Faults>,
    wanted: &[Wanted],
    schedule: &Schedule,
) -> Result<Option<String>, Faults> {
    for property in wanted {
        let program = make(&property.propositions)?;
        let (letters, _) = letters(&program, schedule);
        if property.has_bad_prefix(&letters) {
            return Ok(Some(format!("{} fails: {BAD_PREFIX}", property.name)));
        }
        if let Some(violation) = undefined(program, schedule) {
            return Ok(Some(format!("{}, in {}", violation.message, property.name)));
        }
        let words = words(&make(&property.propositions)?, schedule);
        if let Some(it) = words.iter().find(|it| property.is_violated_by(&it.word) == Some(true)) {
            let how = if it.ends { "it stops there" } else { "this goes on" };
            return Ok(Some(format!("{} fails: {how} for ever", property.name)));
        }
    }
    Ok(None)
}

/// Whether an execution comes to a state again in the end, and can go on like that for ever.
pub(crate) fn goes_on<T: Transitions>(program: &T, schedule: &Schedule) -> bool {
    let (states, ends) = states_of(program.clone(), schedule);
    states
        .split_last()
        .is_some_and(|((last, _), before)| !ends && before.iter().any(|(state, _)| state == last))
}

/// An execution that goes on for ever, as an automaton reads it.
pub(crate) struct Read {
    pub(crate) word: mazurka_ltl::Lasso,
    /// For each letter, the decision that comes next.
    pub(crate) starts: Vec<usize>,
    /// Whether nothing happens any more.
    ends: bool,
}

/// What goes wrong when the propositions of a program are computed at the end of an execution.
fn undefined<T: Transitions>(mut program: T, schedule: &Schedule) -> Option<Violation> {
    program.reduce_watched(Reduction::None, Optimisations::NONE, Fairness::None);
    let (states, _) = states_of(program.clone(), schedule);
    let (last, _) = states.last()?;
    (0..program.n_propositions()).find_map(|idx| program.undefined(idx, last))
}

/// What an automaton reads in an execution as far as it has come, and for each letter the decision
/// that comes next.
pub(crate) fn letters<T: Transitions>(program: &T, schedule: &Schedule) -> (Vec<u64>, Vec<usize>) {
    let mut program = program.clone();
    program.reduce_watched(Reduction::None, Optimisations::NONE, Fairness::None);
    let (states, _) = states_of(program.clone(), schedule);
    states.iter().map(|(state, start)| (program.letter(state), *start)).unzip()
}

/// What an execution is if it goes on as it has come, from the state where it is to the same one
/// again. There may be several such states.
pub(crate) fn words<T: Transitions>(program: &T, schedule: &Schedule) -> Vec<Read> {
    let mut words = Vec::new();
    // With optimisations, states that differ in what is not read any more are one.
    for optimisations in [Optimisations::NONE, Optimisations::default()] {
        let mut program = program.clone();
        program.reduce_watched(Reduction::None, optimisations, Fairness::None);
        let (states, ends) = states_of(program.clone(), schedule);
        let Some(((last, _), before)) = states.split_last() else { continue };
        // Who has ended stays where it is.
        let around = if ends { &states[..] } else { before };
        let letters: Vec<u64> = around.iter().map(|(state, _)| program.letter(state)).collect();
        let starts: Vec<usize> = around.iter().map(|&(_, start)| start).collect();
        for loop_start in (0..around.len()).filter(|&idx| around[idx].0 == *last) {
            let word = mazurka_ltl::Lasso { letters: letters.clone(), loop_start };
            words.push(Read { word, starts: starts.clone(), ends });
        }
    }
    words
}

/// The states that an execution comes by, without those inside of indivisible sequences, each with
/// the number of the decision that comes next; and whether it ends there. None if the schedule
/// cannot be followed.
fn states_of<T: Transitions>(program: T, schedule: &Schedule) -> (Vec<(Vec<u8>, usize)>, bool) {
    let mut walk = Walk::new(program);
    let mut states = vec![(walk.state.clone(), 0)];
    for (idx, &decision) in schedule.decisions().iter().enumerate() {
        let next = idx + 1;
        let Some(idx) = walk.find(decision) else { return (Vec::new(), false) };
        let successor = walk.moves[idx].successor;
        walk.go(idx);
        if successor == Successor::Stored {
            states.push((walk.state.clone(), next));
        }
    }
    (states, walk.moves.is_empty())
}

/// An execution, as far as it has come.
#[derive(Debug)]
pub struct Walk<T> {
    program: T,
    state: Vec<u8>,
    /// What is possible now.
    moves: Moves,
    n_steps: usize,
}

/// What was seen of a step.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What it did, one for each process that took part.
    pub told: Vec<Told>,
    /// What went wrong. A value that is cut off is told as well.
    pub fault: Option<Violation>,
}

impl<T: Transitions> Walk<T> {
    /// At the beginning.
    pub fn new(mut program: T) -> Self {
        let (mut state, mut moves) = (Vec::new(), Moves::new());
        program.initial(&mut state);
        program.expand(&state, &mut moves);
        Self { program, state, moves, n_steps: 0 }
    }

    /// How many moves are possible.
    pub fn n_moves(&self) -> usize {
        self.moves.len()
    }

    /// How many steps were taken.
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// What one of the moves would do.
    pub fn told(&mut self, idx: usize) -> Vec<Told> {
        self.program.describe(&self.state, self.moves[idx].step)
    }

    /// The move that a decision is: of that process, the one with that number.
    pub fn find(&self, decision: Decision) -> Option<usize> {
        let is_theirs = |group: &Group| group.process as usize == decision.thread.index();
        let group = self.moves.groups().iter().position(is_theirs)?;
        let mut range = self.moves.of_group(group);
        range.nth(decision.choice as usize)
    }

    /// What variables and channels hold now: `x = 1`.
    pub fn variables(&mut self) -> Vec<String> {
        self.program.variables(&self.state)
    }

    /// Takes one of the moves.
    pub fn take(&mut self, idx: usize) -> Taken {
        let made = self.moves[idx];
        self.n_steps += 1;
        let told = self.program.describe_move(&self.state, &self.moves, idx);
        let fault = made.fault.map(|fault| self.program.violation(&self.state, made.step, fault));
        self.go(idx);
        Taken { told, fault }
    }

    /// Goes where a move leads, if it leads anywhere.
    fn go(&mut self, idx: usize) {
        if self.moves[idx].successor != Successor::None {
            self.state = self.moves.state(idx).to_vec();
            self.moves.clear();
            self.program.expand(&self.state, &mut self.moves);
        }
    }

    /// Who is stuck, at an end that is not a valid one.
    pub fn stuck(&mut self) -> Option<Stuck> {
        (!self.program.is_valid_end(&self.state)).then(|| self.program.stuck(&self.state))
    }
}

/// Whether this is a value that was cut off, which is wrong only if that is asked for.
pub fn is_truncation(violation: &Violation) -> bool {
    violation.kind == ViolationKind::Overflow
}
