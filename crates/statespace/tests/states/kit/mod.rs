//! Random small programs as [`Transitions`].
//!
//! A program is processes with a few locations and edges. An edge has a guard and an action on
//! numbers and on channels that only count. What concerns no other process is told as such: that is
//! worked out from who uses what, as a front end would.

use mazurka_core::fold::mix;
use mazurka_core::{Told, Violation, ViolationKind};
use mazurka_statespace::{Labels, Moves, Safety, Sight, Step, Stuck, Successor, Transitions};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(0xabcd, seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = mix(self.0, 0x1234_5678);
        (self.0 >> 20) as usize % bound
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A random formula over what `proposition` tells.
pub(crate) fn formula(
    random: &mut Random,
    depth: usize,
    proposition: &impl Fn(&mut Random) -> String,
) -> String {
    if depth == 0 {
        return proposition(random);
    }
    let mut part = || formula(random, depth - 1, proposition);
    let (left, right) = (part(), part());
    match random.below(12) {
        0 => format!("([] {left})"),
        1 => format!("(<> {left})"),
        2 => format!("({left} U {right})"),
        3 => format!("({left} V {right})"),
        4 => format!("({left} W {right})"),
        5 => format!("({left} && {right})"),
        6 => format!("({left} || {right})"),
        7 => format!("({left} -> {right})"),
        8 => format!("([] <> {left})"),
        9 => format!("([] ({left} -> <> {right}))"),
        10 if random.one_in(3) => format!("(X {left})"),
        _ => format!("(<> [] {left})"),
    }
}

/// What an edge does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Nothing,
    /// `variable = value`
    Set(usize, u8),
    /// `variable = (variable + 1) % 3`
    Bump(usize),
    /// Goes wrong if `variable == value`, and goes on all the same.
    Assert(usize, u8),
    /// Goes wrong if `variable == value`, and that is the end of it.
    Die(usize, u8),
    /// Waits for room, and counts up.
    Send(usize),
    /// Waits for something, and counts down.
    Receive(usize),
}

/// A way on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// Only if a variable has a value.
    pub(crate) guard: Option<(usize, u8)>,
    pub(crate) act: Act,
    pub(crate) to: usize,
}

/// A place where a process stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) edges: Vec<Edge>,
    /// Others do not move while the process is here and can move.
    pub(crate) atomic: bool,
    pub(crate) end: bool,
    pub(crate) progress: bool,
    pub(crate) accept: bool,
}

/// Where channels are full.
const ROOM: u8 = 2;

/// A program of [`Place`]s.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) processes: Vec<Vec<Place>>,
    pub(crate) n_variables: usize,
    pub(crate) n_channels: usize,
    /// `variable == value`
    pub(crate) propositions: Vec<(usize, u8)>,
    /// Whether labels are what the property looks at, and not the propositions.
    pub(crate) watches_labels: bool,
    /// What was asked about: edges that went wrong, and ends.
    pub(crate) log: Arc<Mutex<Log>>,
}

/// What a search has come across.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) faults: BTreeSet<(u32, u32)>,
    pub(crate) ends: BTreeSet<Vec<u8>>,
}

impl Table {
    /// A random program.
    pub(crate) fn random(random: &mut Random) -> Self {
        let n_processes = 2 + random.below(2);
        let n_variables = 2 + random.below(3);
        let n_channels = random.below(3);
        // Most variables belong to one process.
        let owners: Vec<_> = (0..n_variables).map(|_| random.below(n_processes + 1)).collect();
        let ends: Vec<_> = (0..n_channels)
            .map(|_| (random.below(n_processes), random.below(n_processes)))
            .collect();
        let mut processes = Vec::new();
        for process in 0..n_processes {
            let mine = (0..n_variables)
                .filter(|&idx| owners[idx] == process || owners[idx] == n_processes)
                .collect::<Vec<_>>();
            let n_places = 2 + random.below(4);
            let places = (0..n_places).map(|_| {
                let n_edges = [0, 1, 1, 1, 2, 2][random.below(6)];
                let edge = |_| Self::edge(random, process, &mine, &ends, n_places);
                let edges = (0..n_edges).map(edge).collect();
                Place {
                    edges,
                    atomic: random.one_in(6),
                    end: random.one_in(3),
                    progress: random.one_in(4),
                    accept: random.one_in(4),
                }
            });
            processes.push(places.collect());
        }
        let proposition = |_| (random.below(n_variables), random.below(2) as u8);
        let propositions = (0..2).map(proposition).collect();
        let log = Arc::default();
        Self { processes, n_variables, n_channels, propositions, watches_labels: false, log }
    }

    fn edge(
        random: &mut Random,
        process: usize,
        mine: &[usize],
        channels: &[(usize, usize)],
        n_places: usize,
    ) -> Edge {
        let variable = |random: &mut Random| mine.get(random.below(mine.len().max(1))).copied();
        let value = random.below(3) as u8;
        let guard = variable(random).filter(|_| random.one_in(3)).map(|it| (it, value));
        let act = match (random.below(12), variable(random)) {
            (0..4, Some(it)) => Act::Set(it, random.below(3) as u8),
            (4..6, Some(it)) => Act::Bump(it),
            (6, Some(it)) => Act::Assert(it, random.below(3) as u8),
            (7, Some(it)) if random.one_in(3) => Act::Die(it, random.below(3) as u8),
            (8..11, _) if !channels.is_empty() => {
                let channel = random.below(channels.len());
                match channels[channel] {
                    (sender, _) if sender == process => Act::Send(channel),
                    (_, receiver) if receiver == process => Act::Receive(channel),
                    _ => Act::Nothing,
                }
            }
            _ => Act::Nothing,
        };
        Edge { guard, act, to: random.below(n_places) }
    }

    fn n_processes(&self) -> usize {
        self.processes.len()
    }

    fn variable(&self, state: &[u8], idx: usize) -> u8 {
        state[self.n_processes() + idx]
    }

    fn channel<'a>(&self, state: &'a [u8], idx: usize) -> &'a u8 {
        &state[self.n_processes() + self.n_variables + idx]
    }

    fn place(&self, state: &[u8], process: usize) -> &Place {
        &self.processes[process][state[process] as usize]
    }

    fn is_possible(&self, state: &[u8], edge: &Edge) -> bool {
        edge.guard.is_none_or(|(idx, value)| self.variable(state, idx) == value)
            && match edge.act {
                Act::Send(idx) => *self.channel(state, idx) < ROOM,
                Act::Receive(idx) => *self.channel(state, idx) > 0,
                _ => true,
            }
    }

    fn can_move(&self, state: &[u8], process: usize) -> bool {
        self.place(state, process).edges.iter().any(|edge| self.is_possible(state, edge))
    }

    /// The successor by an edge, and whether something goes wrong on the way.
    fn apply(&self, state: &[u8], process: usize, edge: &Edge) -> (Vec<u8>, bool, Successor) {
        let mut next = state.to_vec();
        next[process] = edge.to as u8;
        let (first, channels) = (self.n_processes(), self.n_processes() + self.n_variables);
        let mut wrong = false;
        let mut successor = Successor::Stored;
        match edge.act {
            Act::Nothing => {}
            Act::Set(idx, value) => next[first + idx] = value,
            Act::Bump(idx) => next[first + idx] = (next[first + idx] + 1) % 3,
            Act::Assert(idx, value) => wrong = next[first + idx] == value,
            Act::Die(idx, value) => wrong = next[first + idx] == value,
            Act::Send(idx) => next[channels + idx] += 1,
            Act::Receive(idx) => next[channels + idx] -= 1,
        }
        if wrong && matches!(edge.act, Act::Die(..)) {
            return (Vec::new(), true, Successor::None);
        }
        let token = next.len() - 1;
        next[token] = 0;
        if self.place(&next, process).atomic && self.can_move(&next, process) {
            next[token] = process as u8 + 1;
            successor = Successor::Transient;
        }
        (next, wrong, successor)
    }

    /// Whether another process uses a variable.
    fn is_shared(&self, process: usize, variable: usize) -> bool {
        let uses = |edge: &Edge| {
            let acts = match edge.act {
                Act::Set(idx, _) | Act::Bump(idx) | Act::Assert(idx, _) | Act::Die(idx, _) => {
                    idx == variable
                }
                _ => false,
            };
            acts || edge.guard.is_some_and(|(idx, _)| idx == variable)
        };
        let others = self.processes.iter().enumerate().filter(|(other, _)| *other != process);
        others.flat_map(|(_, places)| places).flat_map(|place| &place.edges).any(uses)
    }

    /// Whether the process is alone at its side of a channel.
    fn is_alone(&self, process: usize, act: Act) -> bool {
        let others = self.processes.iter().enumerate().filter(|(other, _)| *other != process);
        !others
            .flat_map(|(_, places)| places)
            .flat_map(|place| &place.edges)
            .any(|it| it.act == act)
    }

    fn edge_safety(&self, state: &[u8], process: usize, edge: &Edge) -> Safety {
        if edge.guard.is_some_and(|(idx, _)| self.is_shared(process, idx)) {
            return Safety::Dependent;
        }
        match edge.act {
            Act::Nothing => Safety::Independent,
            Act::Set(idx, _) | Act::Bump(idx) | Act::Assert(idx, _) | Act::Die(idx, _) => {
                match self.is_shared(process, idx) {
                    true => Safety::Dependent,
                    false => Safety::Independent,
                }
            }
            // A guard that no other process can change may rule it out; if not, it is possible for
            // good.
            Act::Send(_) | Act::Receive(_) => {
                let is_ruled_out =
                    edge.guard.is_some_and(|(idx, value)| self.variable(state, idx) != value);
                match self.is_alone(process, edge.act) {
                    _ if is_ruled_out => Safety::Independent,
                    true if self.is_possible(state, edge) => Safety::Commutes,
                    _ => Safety::Dependent,
                }
            }
        }
    }

    /// See [`Safety`]: all edges that leave the place, and those of the atomic places behind them.
    fn safety(&self, state: &[u8], process: usize) -> Safety {
        let places = &self.processes[process];
        let here = state[process] as usize;
        let first = places[here].edges.iter().map(|edge| self.edge_safety(state, process, edge));
        let first = first.min().unwrap_or(Safety::Dependent);
        let mut behind = BTreeSet::new();
        let mut todo: Vec<_> = places[here].edges.iter().map(|edge| edge.to).collect();
        while let Some(place) = todo.pop() {
            if places[place].atomic && behind.insert(place) {
                todo.extend(places[place].edges.iter().map(|edge| edge.to));
            }
        }
        let is_local = |edge: &Edge| {
            !matches!(edge.act, Act::Send(_) | Act::Receive(_))
                && self.edge_safety(state, process, edge) == Safety::Independent
        };
        let all_local = behind.iter().flat_map(|&place| &places[place].edges).all(is_local);
        if all_local { first } else { Safety::Dependent }
    }

    fn is_visible(&self, process: usize) -> bool {
        if self.watches_labels {
            return self.processes[process].iter().any(|place| place.progress || place.accept);
        }
        self.changes(process) != 0
    }

    /// The propositions that a process may change, as bits.
    fn changes(&self, process: usize) -> u64 {
        let edges = self.processes[process].iter().flat_map(|place| &place.edges);
        let written = edges.filter_map(|edge| match edge.act {
            Act::Set(idx, _) | Act::Bump(idx) => Some(idx),
            _ => None,
        });
        let written: BTreeSet<usize> = written.collect();
        let about = |(idx, (variable, _)): (usize, &(usize, u8))| {
            u64::from(written.contains(variable)) << idx
        };
        self.propositions.iter().enumerate().map(about).sum()
    }

    /// The number of an edge, over all processes and places.
    fn edge_number(&self, process: usize, place: usize, edge: usize) -> u32 {
        (process * 100 + place * 10 + edge) as u32
    }
}

impl Transitions for Table {
    fn initial(&mut self, state: &mut Vec<u8>) {
        let len = self.n_processes() + self.n_variables + self.n_channels + 1;
        state.resize(state.len() + len, 0);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        let token = *state.last().expect("the token is there") as usize;
        for process in 0..self.n_processes() {
            if token != 0 && token != process + 1 {
                continue;
            }
            let place = self.place(state, process);
            for (idx, edge) in place.edges.iter().enumerate() {
                if !self.is_possible(state, edge) {
                    continue;
                }
                let (next, wrong, successor) = self.apply(state, process, edge);
                let number = self.edge_number(process, state[process] as usize, idx);
                if wrong {
                    moves.fault(number);
                }
                let process = process as u32;
                let step = Step { process, edge: number, choice: 0, partner: None };
                moves.push(step, successor, &next);
            }
            moves.close(process as u32, self.safety(state, process), self.is_visible(process));
        }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.log.lock().expect("the lock is not poisoned").ends.insert(state.to_vec());
        (0..self.n_processes()).all(|process| self.place(state, process).end)
    }

    fn stuck(&mut self, _state: &[u8]) -> Stuck {
        let violation = Violation::new(ViolationKind::InvalidEnd, "stuck".to_owned());
        Stuck { violation, processes: Vec::new() }
    }

    fn violation(&mut self, _state: &[u8], step: Step, fault: u32) -> Violation {
        self.log.lock().expect("the lock is not poisoned").faults.insert((step.process, fault));
        Violation::new(ViolationKind::Assertion, format!("edge {fault} is wrong"))
    }

    fn describe(&mut self, _state: &[u8], step: Step) -> Vec<Told> {
        vec![Told {
            thread: step.process.to_string(),
            operation: step.edge.to_string(),
            object: None,
            value: None,
            raw: None,
            order: None,
            location: None,
        }]
    }

    fn process_name(&mut self, _state: &[u8], process: u32) -> String {
        process.to_string()
    }

    fn labels(&mut self, state: &[u8]) -> Labels {
        let places = |is: fn(&Place) -> bool| {
            (0..self.n_processes()).any(|process| is(self.place(state, process)))
        };
        Labels { progress: places(|it| it.progress), accept: places(|it| it.accept) }
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn holds(&mut self, proposition: usize, state: &[u8]) -> bool {
        let (variable, value) = self.propositions[proposition];
        self.variable(state, variable) == value
    }

    fn sight(&mut self, _state: &[u8], process: u32) -> Sight {
        let process = process as usize;
        let others = (0..self.n_processes()).filter(|&other| other != process);
        let by_others = others.fold(0, |bits, other| bits | self.changes(other));
        Sight { changes: self.changes(process), by_others }
    }
}

/// Whether a process can go round without ever coming to a stored state.
pub(crate) fn spins_inside(table: &Table) -> bool {
    let goes_round = |places: &Vec<Place>| {
        let reach = |from: usize| {
            let mut seen = BTreeSet::new();
            let mut todo = vec![from];
            while let Some(at) = todo.pop() {
                for edge in &places[at].edges {
                    if places[edge.to].atomic && seen.insert(edge.to) {
                        todo.push(edge.to);
                    }
                }
            }
            seen
        };
        (0..places.len()).any(|at| places[at].atomic && reach(at).contains(&at))
    };
    table.processes.iter().any(goes_round)
}
