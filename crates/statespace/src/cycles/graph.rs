//! The states of a program with the steps between them, each expanded once.
//!
//! Implements the choice of ample sets of Peled, *Combining Partial Order Reductions with
//! On-the-fly Model-Checking* (CAV 1994), conditions C1, C2' and C3'.
//!
//! | paper                                  | here                                               |
//! |----------------------------------------|----------------------------------------------------|
//! | C1                                     | `Group::safety`, as the program tells              |
//! | C2, C2': no successor is on the stack  | `State::on_path`                                   |
//! | C3': all of them are invisible         | `Group::visible`, as the program tells             |
//! | C3: visible ones keep their order      | [`Graph::is_separate`]                             |
//! | algorithm A1, with R1 or R2            | [`Graph::build`]                                   |
//!
//! Where only finite executions count, C2 is that of Bošnački and Holzmann, *Improving Spin's
//! Partial-Order Reduction for Breadth-First Search* (SPIN 2005): [`Proviso::Ahead`].
//!
//! Differs from the papers: an ample set belongs to a state of the program, whatever the automaton
//! does, and is chosen when the state is first come to. The paper's belongs to a node of the
//! product, and with automata that are not deterministic that loses executions (Siegel, *What's
//! Wrong with On-the-Fly Partial Order Reduction*, CAV 2019). Under fairness, only what neither
//! enables nor disables anything else is left alone. A program that has ended stays where it is,
//! but not where progress is asked for: that is about infinite executions.

mod saved;

use super::fairness::{Able, Moved};
use super::states::{Key, States};
use crate::inner::{Inner, TRANSIENT};
use crate::options::{Fairness, Options, Reduction};
use crate::search_limits::{Ended, PATIENCE, Path, Watch};
use crate::store::Seen;
use crate::transitions::{Group, Move, Moves, Safety, Step, Successor, Transitions};
use mazurka_core::{Violation, ViolationKind};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
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
    /// Who takes it, with a [mark](DEPENDENT); [`NOBODY`], if the program has ended and stays where
    /// it is.
    process: u16,
    /// The process that takes the other half, if there is one.
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
    numbers: States<'a>,
    reduction: Reduction,
    proviso: Proviso,
    fairness: Fairness,
    /// Whether all steps are looked at in the end, whatever the automaton does.
    all_steps: bool,
    /// The atoms of each part of the property.
    parts: &'a [u64],
    /// Kinds of violation that are not looked for.
    ignored: &'a [ViolationKind],
    states: Vec<State>,
    /// By number of a state, the propositions that cannot be computed there, where there are any.
    undefined: FxHashMap<u32, u64>,
    arrows: Vec<Arrow>,
    /// By number of a state, who can move there; if that is of interest.
    able: Vec<Able>,
    inner: Inner,
    bytes: Vec<u8>,
    groups: Vec<u32>,
    keys: Vec<Key>,
    recent: Recent,
    /// The state that was expanded last.
    expanding: u32,
    /// A state, and moves from there to a step that goes wrong.
    fault: Option<(u32, Path)>,
    /// Whether an indivisible sequence was so long that the search gave up.
    pub(super) is_cut: bool,
    /// How many states, and steps from them, no node of the product was needed for.
    pub(super) beside: [u64; 2],
    /// A walk that a limit has stopped.
    walking: Option<Walk>,
}

/// A walk through states, whatever an automaton says of them.
#[derive(Debug)]
struct Walk {
    /// The states of its path, with the arrows that are left.
    path: Vec<(u32, Range<usize>)>,
    follow: Follow,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct State {
    letter: u64,
    /// Its arrows, by number; [`UNKNOWN`] before it was expanded.
    start: u32,
    end: u32,
    /// How many nodes of the path have this state.
    on_path: u32,
    /// Whether its arrows are those of an ample set alone.
    is_reduced: bool,
    /// Whether they must not be.
    takes_all: bool,
}

/// The first arrow of a state that was not expanded.
const UNKNOWN: u32 = u32::MAX;

/// The bytes of states that were found not long ago. Most states are expanded soon, and it takes
/// longer to get them from the store.
#[derive(Default)]
struct Recent {
    /// By the last digits of its number: a state, and its number.
    states: Vec<(u32, Vec<u8>)>,
}

impl Recent {
    /// How many are kept.
    const SIZE: usize = 1 << 10;

    fn keep(&mut self, number: u32, state: &[u8]) {
        if self.states.is_empty() {
            self.states.resize(Self::SIZE, (UNKNOWN, Vec::new()));
        }
        let (kept, bytes) = &mut self.states[number as usize % Self::SIZE];
        *kept = number;
        bytes.clear();
        bytes.extend_from_slice(state);
    }

    /// Gives a state out, if it is there.
    fn get(&self, number: u32, state: &mut Vec<u8>) -> bool {
        let found = self.states.get(number as usize % Self::SIZE);
        let Some((_, bytes)) = found.filter(|(kept, _)| *kept == number) else { return false };
        state.clear();
        state.extend_from_slice(bytes);
        true
    }
}

/// What keeps a reduction from putting a step off for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proviso {
    /// No step of an ample set leads to the path, C2': on every cycle some state takes all its
    /// steps. For searches of cycles, depth first.
    OffPath,
    /// Some step of an ample set leads to a state that was not expanded before. What is left out is
    /// still possible there, and states are expanded one after the other: in the end all steps are
    /// taken. For finite executions, in any order of search.
    Ahead,
}

/// Which arrows a walk through the graph follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    All,
    /// Those of states that have an ample set.
    Ample,
}

impl<'a, T: Transitions> Graph<'a, T> {
    pub(super) fn new(
        program: T,
        letters: Letters,
        parts: &'a [u64],
        numbers: States<'a>,
        (reduction, proviso): (Reduction, Proviso),
        options: &'a Options,
    ) -> Self {
        Self {
            program,
            letters,
            numbers,
            reduction,
            proviso,
            fairness: options.fairness,
            all_steps: options.all_steps,
            parts,
            ignored: &options.ignored,
            states: Vec::new(),
            undefined: FxHashMap::default(),
            arrows: Vec::new(),
            able: Vec::new(),
            inner: Inner::default(),
            bytes: Vec::new(),
            groups: Vec::new(),
            keys: Vec::new(),
            recent: Recent::default(),
            expanding: UNKNOWN,
            fault: None,
            is_cut: false,
            beside: [0; 2],
            walking: None,
        }
    }

    /// Expands all states, whatever an automaton says of them, until a step goes wrong.
    pub(super) fn build(&mut self, watch: &Watch<'_>) -> Result<(), Ended> {
        self.go_on_walking(watch)?;
        self.initial();
        let mut next = 0;
        while next < self.states.len() && !self.is_over() {
            if !self.is_expanded(next as u32) {
                self.walk(next as u32, Follow::All, watch)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// The path is at a state from which the automaton does not go on.
    ///
    /// On every cycle there has to be a state from which all steps are taken. That is so if what
    /// the steps of an ample set lead to is not on the path, and if they were followed: then the
    /// visit at which it was expanded ends before that of the state, and this can go round no
    /// cycle. It is as good if all steps are taken from there, should that ever be asked for.
    pub(super) fn stop_at(&mut self, state: u32, watch: &Watch<'_>) -> Result<(), Ended> {
        if !self.all_steps {
            self.states[state as usize].takes_all = true;
            return Ok(());
        }
        // What is behind will be looked at in any case, and is better known now. Whatever is behind
        // a state from which all steps are taken may be left alone.
        self.arrows(state);
        match self.states[state as usize].is_reduced {
            true => self.walk(state, Follow::Ample, watch),
            false => Ok(()),
        }
    }

    /// Goes depth first through states that were not expanded before, and through the first one.
    fn walk(&mut self, from: u32, follow: Follow, watch: &Watch<'_>) -> Result<(), Ended> {
        self.walk_on(Walk { path: Vec::new(), follow }, Some(from), watch)
    }

    /// Whether a walk was stopped on its way.
    pub(super) fn is_walking(&self) -> bool {
        self.walking.is_some()
    }

    /// Goes on with a walk that was stopped, if one was.
    pub(super) fn go_on_walking(&mut self, watch: &Watch<'_>) -> Result<(), Ended> {
        match self.walking.take() {
            Some(walk) => self.walk_on(walk, None, watch),
            None => Ok(()),
        }
    }

    /// Goes on with a walk: first to the state that is next, if there is one.
    fn walk_on(
        &mut self,
        walk: Walk,
        mut next: Option<u32>,
        watch: &Watch<'_>,
    ) -> Result<(), Ended> {
        let Walk { mut path, follow } = walk;
        let mut patience = PATIENCE;
        loop {
            if let Some(state) = next.take() {
                self.enter(state);
                let is_new = !self.is_expanded(state);
                let arrows = self.arrows(state);
                if is_new {
                    self.beside[0] += 1;
                    self.beside[1] += arrows.len() as u64;
                }
                let goes_on = follow == Follow::All || self.states[state as usize].is_reduced;
                path.push((state, if goes_on { arrows } else { 0..0 }));
            }
            let Some((state, left)) = path.last_mut() else { return Ok(()) };
            if self.is_over() {
                return Ok(());
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                let bytes = || self.bytes();
                if let Some(ended) = watch.ended(self.states.len() as u64, bytes) {
                    self.walking = Some(Walk { path, follow });
                    return Err(ended);
                }
            }
            let state = *state;
            match left.next() {
                Some(number) => {
                    next = Some(self.arrow(number).to).filter(|&to| !self.is_expanded(to));
                }
                None => {
                    self.leave(state);
                    path.pop();
                }
            }
        }
    }

    /// Whether a step was found that goes wrong, or nothing that the program says is of use any
    /// more: then there is nothing more to look for.
    pub(super) fn is_over(&self) -> bool {
        self.fault.is_some() || self.program.is_lost()
    }

    /// The program, with what it remembers.
    pub(super) fn into_program(self) -> T {
        self.program
    }

    /// The moves to a step that goes wrong, if one was found.
    pub(super) fn fault(&mut self) -> Option<Path> {
        let (state, moves) = self.fault.take()?;
        let mut path = Path::new();
        for (from, arrow) in self.way_to(state) {
            path.extend(self.moves_of(from, arrow));
        }
        path.extend(moves);
        Some(path)
    }

    /// A shortest way from the initial state to one that some arrow leads to.
    fn way_to(&mut self, state: u32) -> Vec<(u32, Arrow)> {
        let initial = self.initial();
        let mut before = vec![None; self.states.len()];
        let mut queue = VecDeque::from([initial]);
        while let Some(at) = queue.pop_front().filter(|&at| at != state) {
            for number in self.known_arrows(at) {
                let arrow = self.arrow(number);
                if arrow.to != initial && before[arrow.to as usize].is_none() {
                    before[arrow.to as usize] = Some((at, arrow));
                    queue.push_back(arrow.to);
                }
            }
        }
        let step = |at: u32| before[at as usize];
        let mut way: Vec<(u32, Arrow)> =
            std::iter::successors(step(state), |&(from, _)| step(from)).collect();
        way.reverse();
        way
    }

    /// Whether what is known of a state depends on when it is expanded, or is wanted at once.
    pub(super) fn is_reducing(&self) -> bool {
        self.reduction != Reduction::None || self.fairness != Fairness::None
    }

    /// Whether steps may be left out.
    pub(super) fn is_reduced(&self) -> bool {
        self.reduction != Reduction::None
    }

    /// What keeps a reduction from putting a step off for ever.
    pub(super) fn proviso(&self) -> Proviso {
        self.proviso
    }

    /// The program, to ask it about states.
    pub(super) fn program(&mut self) -> &mut T {
        &mut self.program
    }

    /// The same, without asking it.
    pub(super) fn program_ref(&self) -> &T {
        &self.program
    }

    /// The number of the initial state.
    pub(super) fn initial(&mut self) -> u32 {
        let mut state = Vec::new();
        self.program.initial(&mut state);
        let key = self.key(&state);
        self.arrive(key, &state, None)
    }

    /// What the automaton reads in a state.
    pub(super) fn letter(&self, state: u32) -> u64 {
        self.states[state as usize].letter
    }

    /// Who can move in a state that was expanded.
    pub(super) fn able(&self, state: u32) -> Able {
        self.able.get(state as usize).copied().unwrap_or_default()
    }

    /// The same, of a state that may be known without it.
    pub(super) fn look(&mut self, state: u32) -> Able {
        let bytes = self.state(state);
        self.inner.expand(&mut self.program, &bytes);
        able(self.inner.moves())
    }

    /// The steps that are taken from a state, by their numbers.
    pub(super) fn arrows(&mut self, state: u32) -> Range<usize> {
        if !self.is_expanded(state) {
            self.expand(state);
        }
        self.known_arrows(state)
    }

    /// The same, as far as they are known.
    fn known_arrows(&self, state: u32) -> Range<usize> {
        let State { start, end, .. } = self.states[state as usize];
        if start == UNKNOWN { 0..0 } else { start as usize..end as usize }
    }

    /// Whether it is known which steps are taken from a state.
    pub(super) fn is_expanded(&self, state: u32) -> bool {
        self.states[state as usize].start != UNKNOWN
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

    /// The memory that the store takes.
    pub(super) fn store_bytes(&self) -> u64 {
        self.numbers.bytes()
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
        self.numbers.get(number, &mut bytes);
        bytes
    }

    /// The moves that make up a step from a state.
    pub(super) fn moves_of(&mut self, from: u32, arrow: Arrow) -> Path {
        let (state, target) = (self.state(from), self.state(arrow.to));
        let mut inner = Inner::default();
        inner.expand(&mut self.program, &state);
        for first in 0..inner.moves().len() {
            let step = inner.moves()[first].step;
            if Some(step.process) != arrow.process() || step.partner != arrow.partner() {
                continue;
            }
            inner.begin(first);
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

    /// The number of a state. The letter of a new one is known if it is that of the state before.
    fn arrive(&mut self, key: Key, state: &[u8], letter: Option<u64>) -> u32 {
        let seen = self.numbers.insert(key, state);
        if let Seen::New(_) = seen {
            let (letter, undefined) = match letter {
                Some(letter) => {
                    let known = (letter, self.undefined(self.expanding));
                    debug_assert_eq!(known, self.read(state), "what changes a letter is visible");
                    known
                }
                None => self.read(state),
            };
            if undefined != 0 {
                self.undefined.insert(seen.number(), undefined);
            }
            self.states.push(State {
                letter,
                start: UNKNOWN,
                end: UNKNOWN,
                on_path: 0,
                is_reduced: false,
                takes_all: false,
            });
            if self.numbers.is_slow() {
                self.recent.keep(seen.number(), state);
            }
        }
        seen.number()
    }

    /// What a state is found by. It differs little from the one that is expanded.
    fn key(&mut self, state: &[u8]) -> Key {
        self.numbers.key(state)
    }

    /// What the automaton reads in a state, and which bits of it mean nothing.
    fn read(&mut self, state: &[u8]) -> (u64, u64) {
        match self.letters {
            Letters::Propositions => self.program.reading(state),
            Letters::PropositionsAndAccept => {
                let accept = u64::from(self.program.labels(state).accept);
                let (letter, undefined) = self.program.reading(state);
                (letter | accept << self.program.n_propositions(), undefined)
            }
            Letters::NoProgress => (u64::from(!self.program.labels(state).progress), 0),
            Letters::Accept => (u64::from(self.program.labels(state).accept), 0),
        }
    }

    /// The propositions that cannot be computed in a state, as bits.
    #[inline]
    pub(super) fn undefined(&self, state: u32) -> u64 {
        match self.undefined.is_empty() {
            true => 0,
            false => self.undefined.get(&state).copied().unwrap_or(0),
        }
    }

    /// What goes wrong when a proposition is computed in a state, unless that is not looked for.
    pub(super) fn violation_of(&mut self, proposition: u32, state: u32) -> Option<Violation> {
        let bytes = self.state(state);
        let violation = self.program.undefined(proposition as usize, &bytes)?;
        (!self.ignored.contains(&violation.kind)).then_some(violation)
    }

    /// Finds the steps that are to be taken from a state.
    fn expand(&mut self, number: u32) {
        let mut state = std::mem::take(&mut self.bytes);
        if !self.recent.get(number, &mut state) {
            self.numbers.get(number, &mut state);
        }
        let mut inner = std::mem::take(&mut self.inner);
        inner.expand(&mut self.program, &state);
        if self.program.is_lost() {
            // What it said means nothing.
            (self.bytes, self.inner) = (state, inner);
            let known = &mut self.states[number as usize];
            (known.start, known.end) = (0, 0);
            return;
        }
        if self.fairness != Fairness::None {
            let unknown = self.states.len().max(number as usize + 1);
            self.able.resize(unknown, Able::default());
            self.able[number as usize] = able(inner.moves());
        }
        self.numbers.near(&state);
        self.expanding = number;
        let start = self.arrows.len() as u32;
        let mut groups = std::mem::take(&mut self.groups);
        let is_reduced = !self.states[number as usize].takes_all
            && self.expand_ample(&state, &mut inner, &mut groups);
        if !is_reduced {
            groups.clear();
            groups.extend(0..inner.moves().groups().len() as u32);
            self.follow_all(&state, &mut inner, &groups);
        }
        if inner.moves().is_empty() && self.letters != Letters::NoProgress {
            self.arrows.push(Arrow::stays(number));
        }
        (self.bytes, self.inner, self.groups) = (state, inner, groups);
        let end = self.arrows.len() as u32;
        let known = &mut self.states[number as usize];
        *known = State { start, end, is_reduced, ..*known };
    }

    /// Takes the steps of one process or of some, if they may stand for those of all. `groups` is
    /// for what is tried on the way.
    fn expand_ample(&mut self, state: &[u8], inner: &mut Inner, groups: &mut Vec<u32>) -> bool {
        let moves = inner.moves();
        let n_sets = if moves.groups().len() < 2 { 0 } else { moves.n_sets(self.reduction) };
        for set in 0..n_sets {
            let moves = inner.moves();
            let n_before = moves.members(set).len();
            groups.clear();
            groups.extend_from_slice(&moves.members(set + 1)[n_before..]);
            if !self.is_candidate(state, moves, groups) {
                continue;
            }
            let start = self.arrows.len();
            self.follow_all(state, inner, groups);
            let taken = &self.arrows[start..];
            let is_off_path = |arrow: &Arrow| self.states[arrow.to as usize].on_path == 0;
            let is_ahead =
                |arrow: &Arrow| arrow.to != self.expanding && !self.is_expanded(arrow.to);
            let is_followed = match self.proviso {
                Proviso::OffPath => !taken.is_empty() && taken.iter().all(is_off_path),
                Proviso::Ahead => taken.iter().any(is_ahead),
            };
            if is_followed {
                return true;
            }
            self.arrows.truncate(start);
        }
        false
    }

    /// Whether a set of groups that satisfies C1 satisfies C3' or, under fairness, is that of a
    /// process whose steps are independent, and satisfies C3.
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

    /// Whether no other process may change a part of the property that the next step of a process
    /// may change.
    fn is_separate(&mut self, state: &[u8], process: u32) -> bool {
        if self.letters != Letters::Propositions {
            return false;
        }
        let sight = self.program.sight(state, process);
        let is_shared = |part: &u64| sight.changes & part != 0 && sight.by_others & part != 0;
        !self.parts.iter().any(is_shared)
    }

    /// Adds the steps that begin with the moves of some groups. Where these lead to is asked for
    /// before the first of them is looked up: memory answers several questions at once.
    fn follow_all(&mut self, state: &[u8], inner: &mut Inner, groups: &[u32]) {
        let mut keys = std::mem::take(&mut self.keys);
        let moves = inner.moves();
        let all = groups.iter().flat_map(|&group| moves.of_group(group as usize));
        let stored = all.filter(|&idx| moves[idx].successor == Successor::Stored);
        let states = stored.map(|idx| moves.state(idx));
        self.numbers.keys(states, &mut keys);
        let mut known = keys.iter();
        for &group in groups {
            let &Group { safety, visible, .. } = &inner.moves().groups()[group as usize];
            let letter = (!visible).then_some(self.states[self.expanding as usize].letter);
            for idx in inner.moves().of_group(group as usize) {
                let moves = inner.moves();
                let made = moves[idx];
                if made.successor == Successor::Transient {
                    self.follow(state, inner, idx, safety, letter);
                    continue;
                }
                if made.fault.is_some() {
                    self.note_fault(state, made, || vec![idx as u32]);
                }
                if made.successor == Successor::Stored {
                    let key = known.next().expect("its key was asked for");
                    let to = self.arrive(*key, moves.state(idx), letter);
                    self.arrows.push(Arrow::new(to, made.step, safety));
                }
            }
        }
        self.keys = keys;
    }

    /// Adds the steps that begin with a move into an indivisible sequence.
    fn follow(
        &mut self,
        state: &[u8],
        inner: &mut Inner,
        first: usize,
        safety: Safety,
        letter: Option<u64>,
    ) {
        inner.begin(first);
        let step = inner.moves()[first].step;
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
                let key = self.key(moves.state(idx));
                let to = self.arrive(key, moves.state(idx), letter);
                self.arrows.push(Arrow::new(to, step, safety));
            }
            self.is_cut |= inner.depth == TRANSIENT;
            if !inner.go_on(&mut self.program) {
                break;
            }
        }
    }

    /// Keeps the way to a move that goes wrong, if it is the first one.
    fn note_fault(&mut self, from: &[u8], made: Move, path: impl FnOnce() -> Path) {
        let Some(fault) = made.fault.filter(|_| self.fault.is_none()) else { return };
        let kind = self.program.violation(from, made.step, fault).kind;
        if !self.ignored.contains(&kind) {
            self.fault = Some((self.expanding, path()));
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
