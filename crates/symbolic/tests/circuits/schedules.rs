//! All executions that a scheduler leaves, found by the solver one by one, against all there are.
//!
//! Programs are random, with locks, guards, data and indices that data decides. The judge takes
//! every interleaving of them by itself and knows which belong to one trace.

use crate::random::Random;
use mazurka_effort::{seeds, share};
use mazurka_symbolic::{
    Aig, CellTouch, Circuit, Found, Frames, Limits, Lit, Move, Word, peephole, quasi_monotonic,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many bits of memory there are. The last one is a lock.
const N_CELLS: usize = 4;
const LOCK: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Reads a cell into the register.
    Load(usize),
    /// Writes the register, flipped or not, into a cell.
    Store(usize, bool),
    /// Writes 1 into this cell, or the one after it if the register is 1.
    StoreAt(usize),
    /// Waits until a cell is 1.
    Await(usize),
    /// Waits until the lock is 0, and makes it 1.
    Acquire,
    /// Makes the lock 0.
    Release,
}

type Program = Vec<Vec<Op>>;

/// The threads that move, in order.
type Sequence = Vec<usize>;

fn program(random: &mut Random) -> Program {
    let n_threads = 2 + random.below(3);
    let mut program = vec![Vec::new(); n_threads];
    for _ in 0..n_threads + random.below(8 - n_threads) {
        let cell = random.below(LOCK);
        program[random.below(n_threads)].push(match random.below(7) {
            0 | 1 => Op::Load(cell),
            2 => Op::Store(cell, random.below(2) == 1),
            3 => Op::StoreAt(random.below(LOCK - 1)),
            4 => Op::Await(cell),
            5 => Op::Acquire,
            _ => Op::Release,
        });
    }
    program
}

/// A state of a program, for the judge.
#[derive(Clone, Default)]
struct State {
    cells: [bool; N_CELLS],
    registers: Vec<bool>,
    pcs: Vec<usize>,
}

/// A step: whose, which of that thread's steps, the cell it touched, and whether it wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    thread: usize,
    number: usize,
    cell: usize,
    is_write: bool,
}

impl Event {
    fn depends_on(&self, other: &Self) -> bool {
        let conflicts = self.cell == other.cell && (self.is_write || other.is_write);
        self.thread == other.thread || conflicts
    }
}

impl State {
    fn step(&mut self, program: &Program, thread: usize) -> Option<Event> {
        let number = self.pcs[thread];
        let op = *program[thread].get(number)?;
        let register = self.registers[thread];
        let (cell, value) = match op {
            Op::Load(cell) | Op::Await(cell) => (cell, None),
            Op::Store(cell, flip) => (cell, Some(register ^ flip)),
            Op::StoreAt(cell) => (cell + usize::from(register), Some(true)),
            Op::Acquire => (LOCK, Some(true)),
            Op::Release => (LOCK, Some(false)),
        };
        match op {
            Op::Load(_) => self.registers[thread] = self.cells[cell],
            Op::Await(_) if !self.cells[cell] => return None,
            Op::Acquire if self.cells[cell] => return None,
            _ => {}
        }
        self.cells[cell] = value.unwrap_or(self.cells[cell]);
        self.pcs[thread] += 1;
        Some(Event { thread, number, cell, is_write: value.is_some() })
    }
}

/// All executions of each length.
fn executions(program: &Program) -> Vec<Vec<Vec<Event>>> {
    let (registers, pcs) = (vec![false; program.len()], vec![0; program.len()]);
    let mut last = vec![(State { registers, pcs, ..State::default() }, Vec::new())];
    let mut all = Vec::new();
    while !last.is_empty() {
        let mut longer = Vec::new();
        for (state, events) in &last {
            for thread in 0..program.len() {
                let mut state: State = state.clone();
                let Some(event) = state.step(program, thread) else { continue };
                let events: &Vec<Event> = events;
                longer.push((state, events.iter().copied().chain([event]).collect()));
            }
        }
        all.push(last.into_iter().map(|(_, events)| events).collect());
        last = longer;
    }
    all
}

fn sequence(events: &[Event]) -> Sequence {
    events.iter().map(|event| event.thread).collect()
}

/// Which steps come before which because they are dependent: the same for all executions of a
/// trace.
fn trace(events: &[Event]) -> BTreeSet<(Event, Event)> {
    let mut trace = BTreeSet::new();
    for (at, later) in events.iter().enumerate() {
        trace.insert((*later, *later));
        let before = events[..at].iter().filter(|earlier| later.depends_on(earlier));
        trace.extend(before.map(|earlier| (*earlier, *later)));
    }
    trace
}

/// Definition 3 of Kahlon, Wang and Gupta (CAV 2009).
fn is_quasi_monotonic(events: &[Event]) -> bool {
    let n = events.len();
    let mut chain = vec![vec![false; n]; n];
    for to in 0..n {
        chain[to][to] = true;
        for via in (0..to).filter(|&via| events[to].depends_on(&events[via])) {
            for row in &mut chain[..to] {
                row[to] |= row[via];
            }
        }
    }
    (0..n).all(|later| {
        let thread = events[later].thread;
        (0..later).filter(|&it| events[it].thread > thread).all(|earlier| {
            let mut between = (earlier..later).filter(|&it| events[it].thread < thread);
            chain[earlier][later] || between.any(|it| chain[earlier][it])
        })
    })
}

/// A program as a circuit, and the number of the thread that moves in a frame.
struct Model {
    circuit: Circuit,
    moves: Vec<Move>,
    chosen: Word,
}

fn latches(circuit: &mut Circuit, name: &str, width: usize) -> Word {
    let bit = |idx| circuit.latch(format!("{name}.{idx}"), Some(false));
    Word::from((0..width).map(bit).collect::<Vec<_>>())
}

fn connect(circuit: &mut Circuit, word: &Word, next: &[Lit]) {
    word.bits().iter().zip(next).for_each(|(&bit, &next)| circuit.set_next(bit, next));
}

/// What an operation does in a circuit: the cell it touches in which states, and the value it has
/// there then, if it writes.
fn places(aig: &mut Aig, op: Op, here: Lit, register: Lit) -> (Vec<(usize, Lit)>, Option<Lit>) {
    match op {
        Op::Load(cell) | Op::Await(cell) => (vec![(cell, here)], None),
        Op::Store(cell, flip) => (vec![(cell, here)], Some(register.negated_if(flip))),
        Op::StoreAt(cell) => {
            let near = aig.and(here, !register);
            let far = aig.and(here, register);
            (vec![(cell, near), (cell + 1, far)], Some(Lit::TRUE))
        }
        Op::Acquire => (vec![(LOCK, here)], Some(Lit::TRUE)),
        Op::Release => (vec![(LOCK, here)], Some(Lit::FALSE)),
    }
}

fn model(program: &Program) -> Model {
    let n = program.len();
    let mut circuit = Circuit::new();
    let chosen = (0..3).map(|idx| circuit.input(format!("chosen.{idx}"))).collect::<Vec<_>>();
    let chosen = Word::from(chosen);
    let cells = latches(&mut circuit, "cells", N_CELLS);
    let executes = circuit.aig.decode(&chosen, n + 1);
    let mut next_cells = cells.bits().to_vec();
    let (mut moves, mut enabled) = (Vec::new(), Vec::new());
    for (thread, ops) in program.iter().enumerate() {
        let pc = latches(&mut circuit, &format!("pc{thread}"), 3);
        let register = circuit.latch(format!("register{thread}"), Some(false));
        let aig = &mut circuit.aig;
        let (mut touches, mut can, mut loaded) = (Vec::new(), Vec::new(), register);
        for (number, &op) in ops.iter().enumerate() {
            let here = aig.equals_number(&pc, number as u64);
            let (places, value) = places(aig, op, here, register);
            for (cell, when) in places {
                touches.push(CellTouch { cell, when, is_write: value.is_some() });
                if let Some(value) = value {
                    let writes = aig.and(executes[thread], when);
                    next_cells[cell] = aig.ite(writes, value, next_cells[cell]);
                }
            }
            can.push(match op {
                Op::Await(cell) => aig.and(here, cells.bits()[cell]),
                Op::Acquire => aig.and(here, !cells.bits()[LOCK]),
                _ => here,
            });
            if let Op::Load(cell) = op {
                loaded = aig.ite(here, cells.bits()[cell], loaded);
            }
        }
        enabled.push(aig.any(can));
        let next_register = aig.ite(executes[thread], loaded, register);
        let later = aig.add(&pc, &Word::constant(3, 1));
        let next_pc = aig.mux(executes[thread], &later, &pc);
        circuit.set_next(register, next_register);
        connect(&mut circuit, &pc, next_pc.bits());
        moves.push(Move { executes: executes[thread], touches });
    }
    connect(&mut circuit, &cells, &next_cells);
    // A thread that is chosen can move; none is if none can.
    let aig = &mut circuit.aig;
    let can = executes.iter().zip(&enabled).map(|(&it, &enabled)| aig.and(it, enabled));
    let mut counts: Vec<_> = can.collect();
    let somebody = aig.any(enabled);
    counts.push(aig.and(executes[n], !somebody));
    let counts = aig.any(counts);
    circuit.constrain(counts);
    let has_ended = circuit.latch("has_ended", Some(false));
    let ends = circuit.aig.or(has_ended, executes[n]);
    circuit.set_next(has_ended, ends);
    circuit.bad(!has_ended, "any execution");
    Model { circuit, moves, chosen }
}

/// All executions of a length that are left, found by the solver.
fn left(model: &Model, length: usize) -> Vec<Sequence> {
    let mut frames = Frames::new(&model.circuit, &Limits::default());
    (0..length).for_each(|_| frames.deepen());
    let mut all = Vec::new();
    while let Found::Bad(witness) = frames.search().expect("there is no limit") {
        let run = model.circuit.simulate(&witness).expect("an execution");
        let bits = |frame| model.chosen.bits().iter().map(move |&bit| (frame, bit));
        let number = |frame| {
            let bits = bits(frame).enumerate();
            bits.map(|(idx, (_, bit))| usize::from(run.value(frame, bit)) << idx).sum()
        };
        all.push((0..length).map(number).collect());
        let decisions = (0..length).flat_map(bits);
        let decisions = decisions.map(|(at, bit)| (at, bit.negated_if(!run.value(at, bit))));
        frames.exclude(&decisions.collect::<Vec<_>>());
    }
    all
}

#[test]
fn what_is_left_stands_for_all() {
    let (mut n_checked, mut n_repeated) = (0, 0);
    for seed in seeds(0..600) {
        let program = program(&mut Random::new(seed));
        let judged = executions(&program);
        if judged.iter().any(|all| all.len() > 150) {
            continue;
        }
        n_checked += 1;
        let [mut ppor, mut mpor] = [(); 2].map(|()| model(&program));
        peephole(&mut ppor.circuit, &ppor.moves);
        quasi_monotonic(&mut mpor.circuit, &mpor.moves);
        [&ppor, &mpor].into_iter().for_each(|model| model.circuit.validate());
        for (length, all) in judged.iter().enumerate() {
            let what = format!("seed {seed}, length {length}: {program:?}");
            let traces = all.iter().map(|events| (sequence(events), trace(events)));
            let traces: BTreeMap<_, _> = traces.collect();
            let n_traces = traces.values().collect::<BTreeSet<_>>().len();
            let covered = |found: &[Sequence]| {
                let known = |it| traces.get(it).unwrap_or_else(|| panic!("{what}: {it:?}"));
                found.iter().map(known).collect::<BTreeSet<_>>().len()
            };
            let found = left(&ppor, length);
            assert_eq!(covered(&found), n_traces, "the peephole loses a trace, {what}");
            n_repeated += found.len() - n_traces;
            if program.len() == 2 {
                assert_eq!(found.len(), n_traces, "the peephole takes a trace twice, {what}");
            }
            let found = left(&mpor, length);
            assert_eq!(covered(&found), n_traces, "a trace is lost, {what}");
            assert_eq!(found.len(), n_traces, "a trace is taken twice, {what}");
            let monotonic = all.iter().filter(|events| is_quasi_monotonic(events));
            let monotonic: BTreeSet<_> = monotonic.map(|events| sequence(events)).collect();
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), monotonic, "{what}");
        }
    }
    assert!(n_checked > share(400), "only {n_checked} programs were small enough");
    // With three threads or more, the peephole is not exact, and some program shows it.
    assert!(n_repeated > 0);
}

/// What each scheduler leaves of a program in which every thread takes one step.
fn left_of(cells: &[usize]) -> [Vec<Sequence>; 2] {
    let program: Program = cells.iter().map(|&cell| vec![Op::Store(cell, true)]).collect();
    [peephole, quasi_monotonic].map(|constrain| {
        let mut model = model(&program);
        constrain(&mut model.circuit, &model.moves);
        let mut all = left(&model, cells.len());
        all.sort_unstable();
        all
    })
}

#[test]
fn a_peephole_does_not_see_past_a_third_thread() {
    let [ppor, mpor] = left_of(&[0, 1, 0]);
    assert_eq!(ppor, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    assert_eq!(mpor, [[0, 1, 2], [2, 0, 1]]);
}

#[test]
fn groups_of_threads_in_opposite_orders_come_one_after_the_other() {
    // The example of section 3: the first and the last thread are dependent, and the two between.
    let [_, mpor] = left_of(&[0, 1, 1, 0]);
    assert_eq!(mpor, [[0, 1, 2, 3], [0, 2, 1, 3], [3, 0, 1, 2], [3, 0, 2, 1]]);
}
