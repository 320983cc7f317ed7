//! Intermediate states: all that a move leads to while the states between are not stored.

use crate::search_limits::Path;
use crate::transitions::{Moves, Successor, Transitions};

/// How many moves in a row may lead to states that are not stored. A program that goes on for
/// longer may well do so for ever.
pub(crate) const TRANSIENT: usize = 1 << 20;

/// Goes through all that one move leads to before the next stored states.
#[derive(Default)]
pub(crate) struct Inner {
    /// The moves of the stored state, and of those after it; and which one is looked at.
    pub(crate) levels: Vec<(Moves, usize)>,
    pub(crate) depth: usize,
}

impl Inner {
    /// Asks for the moves of a stored state.
    pub(crate) fn expand(&mut self, program: &mut impl Transitions, state: &[u8]) {
        if self.levels.is_empty() {
            self.levels.push((Moves::new(), 0));
        }
        let moves = &mut self.levels[0].0;
        moves.clear();
        program.expand(state, moves);
    }

    /// The same for one set, see [`Transitions::expand_set`]; returns how many there are.
    pub(crate) fn expand_set(
        &mut self,
        program: &mut impl Transitions,
        state: &[u8],
        set: u32,
    ) -> u32 {
        if self.levels.is_empty() {
            self.levels.push((Moves::new(), 0));
        }
        let moves = &mut self.levels[0].0;
        moves.clear();
        program.expand_set(state, set, moves)
    }

    /// The number of the move that was begun with, among all moves of the stored state.
    pub(crate) fn first(&self) -> u32 {
        let (moves, idx) = &self.levels[0];
        moves.number_of(*idx)
    }

    /// The moves of the stored state.
    pub(crate) fn moves(&self) -> &Moves {
        &self.levels[0].0
    }

    /// Begins with one of them.
    pub(crate) fn begin(&mut self, first: usize) {
        self.levels[0].1 = first;
        self.depth = 0;
    }

    /// The move that is looked at.
    pub(crate) fn here(&self) -> (&Moves, usize) {
        let (moves, idx) = &self.levels[self.depth];
        (moves, *idx)
    }

    /// The moves up to this one.
    pub(crate) fn extend(&self, path: &mut Path) {
        path.push(self.first());
        path.extend(self.levels[1..=self.depth].iter().map(|(_, idx)| *idx as u32));
    }

    /// Looks at the next one; false if there is none that the first one leads to.
    pub(crate) fn go_on(&mut self, program: &mut impl Transitions) -> bool {
        let (moves, idx) = self.here();
        if moves[idx].successor == Successor::Transient && self.depth < TRANSIENT {
            if self.depth + 1 == self.levels.len() {
                self.levels.push((Moves::new(), 0));
            }
            let (before, after) = self.levels.split_at_mut(self.depth + 1);
            let ((moves, idx), (next, first)) = (&before[self.depth], &mut after[0]);
            next.clear();
            *first = 0;
            program.expand(moves.state(*idx), next);
            if program.is_lost() {
                return false;
            }
            assert!(!next.is_empty(), "in a transient state its process can move");
            self.depth += 1;
            return true;
        }
        while self.depth > 0 {
            let (moves, idx) = &mut self.levels[self.depth];
            *idx += 1;
            if *idx < moves.len() {
                return true;
            }
            self.depth -= 1;
        }
        false
    }
}

/// The state that the move `first` leads to, after as many others, with the moves that lead there.
pub(crate) fn arrival(
    program: &mut impl Transitions,
    state: Vec<u8>,
    first: u32,
    ordinal: u32,
    path: &mut Path,
) -> Vec<u8> {
    let mut inner = Inner::default();
    inner.expand(program, &state);
    inner.begin(first as usize);
    let mut seen = 0;
    loop {
        let (moves, idx) = inner.here();
        match moves[idx].successor {
            Successor::Stored if seen == ordinal => {
                inner.extend(path);
                return inner.here().0.state(idx).to_vec();
            }
            Successor::Stored => seen += 1,
            Successor::Transient | Successor::None => {}
        }
        let is_left = inner.go_on(program);
        assert!(is_left, "a state has the successors that it had before");
    }
}
