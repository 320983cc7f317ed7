//! The states of a program with the steps between them, each expanded once.
//!
//! Implements the choice of ample sets of Peled, *Combining Partial Order Reductions with On-the-fly
//! Model-Checking* (CAV 1994), conditions C1, C2' and C3'.
//!
//! | paper                                  | here                                               |
//! |----------------------------------------|----------------------------------------------------|
//! | C1                                     | `Group::safety`, as the program tells              |
//! | C2': no successor is on the stack      | `State::on_path`                                   |
//! | C3': all of them are invisible         | `Group::visible`, as the program tells             |
//!
//! Differs from the paper: an ample set belongs to a state of the program, whatever the automaton does,
//! and is chosen when the state is first come to. The paper's belongs to a node of the product, and
//! with automata that are not deterministic that loses executions (Siegel, *What's Wrong with
//! On-the-Fly Partial Order Reduction*, CAV 2019). Under fairness, only what neither enables nor
//! disables anything else is left alone.

use super::fairness::Processes;
use crate::inner::{Inner, TRANSIENT};
use crate::options::{Fairness, Options, Reduction};
use crate::store::{Seen, Session, Store, Tree, TreeSession};
use crate::transitions::{Group, Moves, Safety, Successor, Transitions};
use crate::watch::Path;
use std::ops::Range;

/// What the letters of a word say of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Which propositions hold.
    Propositions,
    /// Whether there is no progress.
    NoProgress,
    /// Whether there is a label that accepts.
    Accept,
}

/// A step to another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) to: u32,
    /// Who takes it; nobody, if the program has ended and stays where it is.
    pub(super) process: Option<u32>,
    pub(super) partner: Option<u32>,
}

/// A program as a graph, as far as it was looked at.
pub(super) struct Graph<'a, T> {
    program: T,
    letters: Letters,
    store: &'a Tree,
    session: TreeSession<'a>,
    reduces: bool,
    /// What a process has to be to stand for all others.
    least: Safety,
    is_fair: bool,
    states: Vec<State>,
    arrows: Vec<Arrow>,
    /// By number of a state, who can move there; if that is of interest.
    enabled: Vec<Processes>,
    moves: Moves,
    inner: Inner,
    bytes: Vec<u8>,
    /// Whether an indivisible sequence was so long that the search gave up.
    pub(super) is_cut: bool,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    letter: u64,
    /// Its arrows, once it was expanded.
    arrows: Option<(u32, u32)>,
    /// How many nodes of the path have this state.
    on_path: u32,
}

impl<'a, T: Transitions> Graph<'a, T> {
    pub(super) fn new(
        program: T,
        letters: Letters,
        store: &'a Tree,
        reduction: Reduction,
        options: &Options,
    ) -> Self {
        let is_fair = options.fairness != Fairness::None;
        Self {
            program,
            letters,
            store,
            session: store.session(),
            reduces: reduction != Reduction::None,
            least: if is_fair { Safety::Independent } else { Safety::Commutes },
            is_fair,
            states: Vec::new(),
            arrows: Vec::new(),
            enabled: Vec::new(),
            moves: Moves::new(),
            inner: Inner::default(),
            bytes: Vec::new(),
            is_cut: false,
        }
    }

    /// The program, to ask it about states.
    pub(super) fn program(&mut self) -> &mut T {
        &mut self.program
    }

    /// The number of the initial state.
    pub(super) fn initial(&mut self) -> u32 {
        let mut state = Vec::new();
        self.program.initial(&mut state);
        self.intern(&state)
    }

    /// What the automaton reads in a state.
    pub(super) fn letter(&self, state: u32) -> u64 {
        self.states[state as usize].letter
    }

    /// Who can move in a state.
    pub(super) fn enabled(&self, state: u32) -> Processes {
        self.enabled[state as usize]
    }

    /// The steps that are taken from a state, by their numbers.
    pub(super) fn arrows(&mut self, state: u32) -> Range<usize> {
        let (start, end) = match self.states[state as usize].arrows {
            Some(known) => known,
            None => self.expand(state),
        };
        start as usize..end as usize
    }

    /// A step, by its number.
    pub(super) fn arrow(&self, number: usize) -> Arrow {
        self.arrows[number]
    }

    /// The path of the search comes to a state.
    pub(super) fn enter(&mut self, state: u32) {
        self.states[state as usize].on_path += 1;
    }

    /// The path goes back from a state.
    pub(super) fn leave(&mut self, state: u32) {
        self.states[state as usize].on_path -= 1;
    }

    /// The memory that it takes, without the store.
    pub(super) fn bytes(&self) -> u64 {
        (self.states.len() * size_of::<State>()
            + self.arrows.len() * size_of::<Arrow>()
            + self.enabled.len() * size_of::<Processes>()) as u64
    }

    /// The bytes of a state.
    pub(super) fn state(&self, number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.get(number, self.program.width(), &mut bytes);
        bytes
    }

    /// The moves that make up a step from a state.
    pub(super) fn moves_of(&mut self, from: u32, arrow: Arrow) -> Path {
        let (state, target) = (self.state(from), self.state(arrow.to));
        self.moves.clear();
        self.program.expand(&state, &mut self.moves);
        for first in 0..self.moves.len() {
            let step = self.moves[first].step;
            if Some(step.process) != arrow.process || step.partner != arrow.partner {
                continue;
            }
            let mut inner = Inner::new(&mut self.program, &state, first);
            loop {
                let (moves, idx) = inner.here();
                if moves[idx].successor == Successor::Stored && moves.state(idx) == target {
                    let mut path = Path::new();
                    inner.extend(&mut path);
                    return path;
                }
                if !inner.go_on(&mut self.program) {
                    break;
                }
            }
        }
        unreachable!("a step that was taken is possible");
    }

    fn intern(&mut self, state: &[u8]) -> u32 {
        let seen = self.session.insert(state);
        if let Seen::New(_) = seen {
            let letter = self.read(state);
            self.states.push(State { letter, ..State::default() });
        }
        seen.number()
    }

    fn read(&mut self, state: &[u8]) -> u64 {
        match self.letters {
            Letters::Propositions => (0..self.program.n_propositions())
                .filter(|&idx| self.program.holds(idx, state))
                .fold(0, |letter, idx| letter | 1 << idx),
            Letters::NoProgress => u64::from(!self.program.labels(state).progress),
            Letters::Accept => u64::from(self.program.labels(state).accept),
        }
    }

    /// Finds the steps that are to be taken from a state.
    fn expand(&mut self, number: u32) -> (u32, u32) {
        let mut state = std::mem::take(&mut self.bytes);
        self.store.get(number, self.program.width(), &mut state);
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        self.program.expand(&state, &mut moves);
        if self.is_fair {
            let unknown = self.states.len().max(number as usize + 1);
            self.enabled.resize(unknown, Processes::NONE);
            self.enabled[number as usize] = moves.groups().iter().map(|it| it.process).collect();
        }
        let start = self.arrows.len();
        if !self.expand_ample(&state, &moves) {
            for idx in 0..moves.len() {
                self.follow(&state, idx);
            }
        }
        if moves.is_empty() {
            self.arrows.push(Arrow { to: number, process: None, partner: None });
        }
        (self.bytes, self.moves) = (state, moves);
        let arrows = (start as u32, self.arrows.len() as u32);
        self.states[number as usize].arrows = Some(arrows);
        arrows
    }

    /// Takes the steps of one process, if they may stand for those of all.
    fn expand_ample(&mut self, state: &[u8], moves: &Moves) -> bool {
        if !self.reduces || moves.groups().len() < 2 {
            return false;
        }
        let is_candidate = |group: &Group| group.safety >= self.least && !group.visible;
        let candidates: Vec<usize> =
            (0..moves.groups().len()).filter(|&idx| is_candidate(&moves.groups()[idx])).collect();
        for candidate in candidates {
            let start = self.arrows.len();
            for idx in moves.of_group(candidate) {
                self.follow(state, idx);
            }
            let taken = &self.arrows[start..];
            let is_off_path = |arrow: &Arrow| self.states[arrow.to as usize].on_path == 0;
            if !taken.is_empty() && taken.iter().all(is_off_path) {
                return true;
            }
            self.arrows.truncate(start);
        }
        false
    }

    /// Adds the steps that begin with a move.
    fn follow(&mut self, state: &[u8], first: usize) {
        let mut inner = std::mem::take(&mut self.inner);
        inner.begin(&mut self.program, state, first);
        let step = inner.here().0[first].step;
        loop {
            let (moves, idx) = inner.here();
            if moves[idx].successor == Successor::Stored {
                let to = self.intern(moves.state(idx));
                let arrow = Arrow { to, process: Some(step.process), partner: step.partner };
                self.arrows.push(arrow);
            }
            self.is_cut |= inner.depth == TRANSIENT;
            if !inner.go_on(&mut self.program) {
                break;
            }
        }
        self.inner = inner;
    }
}
