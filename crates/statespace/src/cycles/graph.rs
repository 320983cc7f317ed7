//! The states of a program with the steps between them, each expanded once.
//!
//! Implements the choice of ample sets of Peled, *Combining Partial Order Reductions with On-the-fly
//! Model-Checking* (CAV 1994), conditions C1, C2' and C3'.
//!
//! | paper                                  | here                                               |
//! |----------------------------------------|----------------------------------------------------|
//! | C1                                     | `Group::safety`, as the program tells              |
//! | C2, C2': no successor is on the stack  | `State::on_path`                                   |
//! | C3': all of them are invisible         | `Group::visible`, as the program tells             |
//! | C3: visible ones keep their order      | [`Graph::is_separate`]                             |
//! | algorithm A1, with R1 or R2            | [`Graph::build`]                                   |
//!
//! Differs from the paper: an ample set belongs to a state of the program, whatever the automaton does,
//! and is chosen when the state is first come to. The paper's belongs to a node of the product, and
//! with automata that are not deterministic that loses executions (Siegel, *What's Wrong with
//! On-the-Fly Partial Order Reduction*, CAV 2019). Under fairness, only what neither enables nor
//! disables anything else is left alone.

use super::fairness::{Able, Moved};
use crate::inner::{Inner, TRANSIENT};
use crate::options::{Fairness, Options, Reduction};
use crate::store::{Seen, Session, Store, Tree, TreeSession};
use crate::transitions::{Group, Move, Moves, Safety, Step, Successor, Transitions};
use crate::watch::{Ended, PATIENCE, Path, Watch};
use mazurka_core::ViolationKind;
use std::ops::Range;

/// What the letters of a word say of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Which propositions hold.
    Propositions,
    /// The same, and behind them whether there is a label that accepts.
    PropositionsAndAccept,
    /// Whether there is no progress.
    NoProgress,
    /// Whether there is a label that accepts.
    Accept,
}

/// A step to another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) to: u32,
    /// Who takes it, with a [mark](DEPENDENT); [`NOBODY`], if the program has ended and stays where it is.
    process: u16,
    /// Who takes the other half, if somebody does.
    partner: u16,
}

const NOBODY: u16 = 0x7fff;
/// Marks steps that are not independent of all that others may do.
const DEPENDENT: u16 = 0x8000;

impl Arrow {
    fn new(to: u32, step: Step, safety: Safety) -> Self {
        let number = |process: u32| {
            assert!(process < u32::from(NOBODY), "there are fewer processes than that");
            process as u16
        };
        let mark = if safety == Safety::Independent { 0 } else { DEPENDENT };
        let partner = step.partner.map_or(NOBODY, number);
        Self { to, process: number(step.process) | mark, partner }
    }

    /// The program has ended in this state.
    fn stays(to: u32) -> Self {
        Self { to, process: NOBODY, partner: NOBODY }
    }

    /// Who takes it, if anybody does.
    pub(super) fn process(self) -> Option<u32> {
        let number = self.process & !DEPENDENT;
        (number != NOBODY).then_some(u32::from(number))
    }

    /// In a rendezvous: who takes the other half.
    pub(super) fn partner(self) -> Option<u32> {
        (self.partner != NOBODY).then_some(u32::from(self.partner))
    }

    /// Whether it may depend on what others do.
    pub(super) fn is_dependent(self) -> bool {
        self.process & DEPENDENT != 0
    }

    pub(super) fn moved(self) -> Moved {
        let processes = self.process().into_iter().chain(self.partner()).collect();
        Moved { processes, dependent: self.is_dependent() }
    }
}

/// A program as a graph, as far as it was looked at.
pub(super) struct Graph<'a, T> {
    program: T,
    letters: Letters,
    store: &'a Tree,
    session: TreeSession<'a>,
    reduction: Reduction,
    fairness: Fairness,
    /// The atoms of each part of the property.
    parts: &'a [u64],
    /// Kinds of violation that are not looked for.
    ignored: &'a [ViolationKind],
    states: Vec<State>,
    arrows: Vec<Arrow>,
    /// By number of a state, who can move there; if that is of interest.
    able: Vec<Able>,
    moves: Moves,
    inner: Inner,
    bytes: Vec<u8>,
    /// Moves from the state that was expanded last to a step that goes wrong.
    fault: Option<Path>,
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
        parts: &'a [u64],
        store: &'a Tree,
        reduction: Reduction,
        options: &'a Options,
    ) -> Self {
        Self {
            program,
            letters,
            store,
            session: store.session(),
            reduction,
            fairness: options.fairness,
            parts,
            ignored: &options.ignored,
            states: Vec::new(),
            arrows: Vec::new(),
            able: Vec::new(),
            moves: Moves::new(),
            inner: Inner::default(),
            bytes: Vec::new(),
            fault: None,
            is_cut: false,
        }
    }

    /// Expands all states, whatever an automaton says of them. If something goes wrong in a step, returns
    /// the way there.
    pub(super) fn build(&mut self, watch: &Watch<'_>) -> Result<Option<Path>, Ended> {
        let initial = self.initial();
        self.enter(initial);
        let mut path = vec![(initial, self.arrows(initial))];
        let mut patience = PATIENCE;
        while let Some((state, left)) = path.last_mut() {
            let state = *state;
            if let Some(fault) = self.take_fault() {
                let n_before = path.len() - 1;
                let steps: Vec<_> =
                    path[..n_before].iter().map(|(from, left)| (*from, left.start - 1)).collect();
                let steps = steps.into_iter().map(|(from, number)| (from, self.arrow(number)));
                let steps: Vec<_> = steps.collect();
                return Ok(Some(self.path(&steps, &fault)));
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.bytes();
                if let Some(limit) = watch.limit(self.states.len() as u64, bytes) {
                    return Err(Ended::Limit(limit));
                }
            }
            let Some(number) = left.next() else {
                self.leave(state);
                path.pop();
                continue;
            };
            let to = self.arrow(number).to;
            if self.states[to as usize].arrows.is_none() {
                self.enter(to);
                path.push((to, self.arrows(to)));
            }
        }
        Ok(None)
    }

    /// The moves from a step of the state that was expanded last that goes wrong, if there is one.
    pub(super) fn take_fault(&mut self) -> Option<Path> {
        self.fault.take()
    }

    /// The moves that make up steps, and some more behind them.
    pub(super) fn path(&mut self, steps: &[(u32, Arrow)], more: &[u32]) -> Path {
        let mut path = Path::new();
        steps.iter().for_each(|&(from, arrow)| path.extend(self.moves_of(from, arrow)));
        path.extend(more);
        path
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
    pub(super) fn able(&self, state: u32) -> Able {
        self.able[state as usize]
    }

    /// The same, of a state that may be known without it.
    pub(super) fn look(&mut self, state: u32) -> Able {
        let bytes = self.state(state);
        self.moves.clear();
        self.program.expand(&bytes, &mut self.moves);
        able(&self.moves)
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
            + self.able.len() * size_of::<Able>()) as u64
    }

    /// The bytes of a state.
    pub(super) fn state(&self, number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.get(number, &mut bytes);
        bytes
    }

    /// The moves that make up a step from a state.
    pub(super) fn moves_of(&mut self, from: u32, arrow: Arrow) -> Path {
        let (state, target) = (self.state(from), self.state(arrow.to));
        self.moves.clear();
        self.program.expand(&state, &mut self.moves);
        for first in 0..self.moves.len() {
            let step = self.moves[first].step;
            if Some(step.process) != arrow.process() || step.partner != arrow.partner() {
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
            Letters::Propositions => self.program.letter(state),
            Letters::PropositionsAndAccept => {
                let accept = u64::from(self.program.labels(state).accept);
                self.program.letter(state) | accept << self.program.n_propositions()
            }
            Letters::NoProgress => u64::from(!self.program.labels(state).progress),
            Letters::Accept => u64::from(self.program.labels(state).accept),
        }
    }

    /// Finds the steps that are to be taken from a state.
    fn expand(&mut self, number: u32) -> (u32, u32) {
        let mut state = std::mem::take(&mut self.bytes);
        self.store.get(number, &mut state);
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        self.program.expand(&state, &mut moves);
        if self.fairness != Fairness::None {
            let unknown = self.states.len().max(number as usize + 1);
            self.able.resize(unknown, Able::default());
            self.able[number as usize] = able(&moves);
        }
        let start = self.arrows.len();
        if !self.expand_ample(&state, &moves) {
            for group in 0..moves.groups().len() {
                self.follow_all(&state, &moves, group);
            }
        }
        if moves.is_empty() {
            self.arrows.push(Arrow::stays(number));
        }
        (self.bytes, self.moves) = (state, moves);
        let arrows = (start as u32, self.arrows.len() as u32);
        self.states[number as usize].arrows = Some(arrows);
        arrows
    }

    /// Takes the steps of one process or of some, if they may stand for those of all.
    fn expand_ample(&mut self, state: &[u8], moves: &Moves) -> bool {
        let n_sets = if moves.groups().len() < 2 { 0 } else { moves.n_sets(self.reduction) };
        for set in 0..n_sets {
            let n_before = moves.members(set).len();
            let members = &moves.members(set + 1)[n_before..];
            if !self.is_candidate(state, moves, members) {
                continue;
            }
            let start = self.arrows.len();
            members.iter().for_each(|&group| self.follow_all(state, moves, group as usize));
            let taken = &self.arrows[start..];
            let is_off_path = |arrow: &Arrow| self.states[arrow.to as usize].on_path == 0;
            if !taken.is_empty() && taken.iter().all(is_off_path) {
                return true;
            }
            self.arrows.truncate(start);
        }
        false
    }

    /// Whether a set of groups that satisfies C1 satisfies C3' or, under fairness, is that of a process whose
    /// steps are independent, and satisfies C3.
    fn is_candidate(&mut self, state: &[u8], moves: &Moves, members: &[u32]) -> bool {
        let group = |&member: &u32| &moves.groups()[member as usize];
        match (self.fairness, members) {
            (Fairness::None, _) => !members.iter().any(|member| group(member).visible),
            (_, [only]) => {
                let &Group { safety, visible, process, .. } = group(only);
                safety == Safety::Independent && (!visible || self.is_separate(state, process))
            }
            _ => false,
        }
    }

    /// Whether nobody else may change a part of the property that the next step of a process may change.
    fn is_separate(&mut self, state: &[u8], process: u32) -> bool {
        if self.letters != Letters::Propositions {
            return false;
        }
        let sight = self.program.sight(state, process);
        let is_shared = |part: &u64| sight.changes & part != 0 && sight.by_others & part != 0;
        !self.parts.iter().any(is_shared)
    }

    /// Adds the steps that begin with the moves of a group.
    fn follow_all(&mut self, state: &[u8], moves: &Moves, group: usize) {
        let safety = moves.groups()[group].safety;
        for idx in moves.of_group(group) {
            let made = moves[idx];
            if made.successor == Successor::Transient {
                self.follow(state, idx, safety);
                continue;
            }
            if made.fault.is_some() {
                self.note_fault(state, made, || vec![idx as u32]);
            }
            if made.successor == Successor::Stored {
                let to = self.intern(moves.state(idx));
                self.arrows.push(Arrow::new(to, made.step, safety));
            }
        }
    }

    /// Adds the steps that begin with a move into an indivisible sequence.
    fn follow(&mut self, state: &[u8], first: usize, safety: Safety) {
        let mut inner = std::mem::take(&mut self.inner);
        inner.begin(&mut self.program, state, first);
        let step = inner.here().0[first].step;
        loop {
            let (moves, idx) = inner.here();
            let made = moves[idx];
            if made.fault.is_some() {
                let from = match inner.depth.checked_sub(1) {
                    Some(before) => inner.levels[before].0.state(inner.levels[before].1),
                    None => state,
                };
                self.note_fault(from, made, || {
                    let mut path = Path::new();
                    inner.extend(&mut path);
                    path
                });
            }
            if made.successor == Successor::Stored {
                let to = self.intern(moves.state(idx));
                self.arrows.push(Arrow::new(to, step, safety));
            }
            self.is_cut |= inner.depth == TRANSIENT;
            if !inner.go_on(&mut self.program) {
                break;
            }
        }
        self.inner = inner;
    }

    /// Keeps the way to a move that goes wrong, if it is the first one from this state.
    fn note_fault(&mut self, from: &[u8], made: Move, path: impl FnOnce() -> Path) {
        let Some(fault) = made.fault.filter(|_| self.fault.is_none()) else { return };
        let kind = self.program.violation(from, made.step, fault).kind;
        if !self.ignored.contains(&kind) {
            self.fault = Some(path());
        }
    }
}

/// Who has these moves.
fn able(moves: &Moves) -> Able {
    let is_independent = |group: &&Group| group.safety == Safety::Independent;
    let groups = moves.groups();
    Able {
        all: groups.iter().map(|group| group.process).collect(),
        independent: groups.iter().filter(is_independent).map(|group| group.process).collect(),
    }
}
