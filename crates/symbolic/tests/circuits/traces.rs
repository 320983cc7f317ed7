//! Random programs, every execution of their circuits: steps that are independent commute, and of
//! each trace `ppor` leaves an execution and `mpor` one.
//!
//! The judge knows of a step which cells it touches, and of a trace in which order steps that touch
//! the same one come. That these are all cells that matter is what the first part is about:
//! dependence that leaves out a lock, a condition variable, a birth or an index would pass the
//! second.

use crate::{kit, translate};
use mazurka_script::{Script, Shape, generate};
use mazurka_symbolic::{Bounds, Circuit, Encode, Encoding, Move, Schedule, encode};
use std::collections::{BTreeMap, BTreeSet};

/// Programs with more executions of some length are left out.
const MOST_EXECUTIONS: usize = 400;

/// A step: whose, which of that thread's steps, what it touched and whether it wrote that, and the
/// latches that it changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    thread: usize,
    number: usize,
    touches: BTreeMap<usize, bool>,
    changes: Vec<usize>,
}

impl Event {
    fn depends_on(&self, other: &Self) -> bool {
        let meets = |(cell, writes): (&usize, &bool)| {
            other.touches.get(cell).is_some_and(|others| *writes || *others)
        };
        self.thread == other.thread || self.touches.iter().any(meets)
    }
}

/// An execution.
#[derive(Clone)]
struct Execution {
    events: Vec<Event>,
    state: Vec<bool>,
    /// Whether the scheduler allows it.
    is_left: bool,
}

/// A program as a circuit with a scheduler that can be ignored.
struct Model {
    circuit: Circuit,
    moves: Vec<Move>,
    /// How many latches are the program's own.
    n_own: usize,
}

impl Model {
    fn new(script: &Script, schedule: Schedule) -> Self {
        let program = translate::translate(script).program;
        let bounds = Bounds { threads: 4, ..Bounds::default() };
        let options = Encode { bounds, ..Encode::default() };
        let plain = encode(&program, &options, Schedule::Interleaving.scheduler());
        let n_own = plain.expect("scripts are simple").circuit.latches.len();
        let mut encoding =
            encode(&program, &options, schedule.scheduler()).expect("scripts are simple");
        let moves = Move::of_threads(&mut encoding);
        let Encoding { circuit, .. } = encoding;
        Self { circuit, moves, n_own }
    }

    fn first(&self) -> Execution {
        let latches = self.circuit.latches.iter();
        let state = latches.map(|latch| latch.init.expect("programs begin somewhere")).collect();
        Execution { events: Vec::new(), state, is_left: true }
    }

    /// All executions with one step more.
    fn longer(&self, execution: &Execution) -> Vec<Execution> {
        let circuit = &self.circuit;
        let n_inputs = circuit.inputs.len();
        assert!(n_inputs <= 8, "all inputs are tried");
        let mut longer: BTreeMap<(Event, Vec<bool>), bool> = BTreeMap::new();
        for input in 0..1_usize << n_inputs {
            let frame = kit::frame_with(circuit, &execution.state, |idx| input >> idx & 1 == 1);
            let holds = |lit: &mazurka_symbolic::Lit| frame.value(*lit);
            let required = circuit.constraints.iter().filter(|lit| !circuit.optional.contains(lit));
            let Some(thread) = self.moves.iter().position(|it| holds(&it.executes)) else {
                continue;
            };
            if !{ required }.all(holds) {
                continue;
            }
            let state: Vec<bool> =
                circuit.latches.iter().map(|latch| frame.value(latch.next())).collect();
            let mut touches = BTreeMap::new();
            for touch in self.moves[thread].touches.iter().filter(|it| holds(&it.when)) {
                *touches.entry(touch.cell).or_default() |= touch.is_write;
            }
            let changes = (0..self.n_own).filter(|&idx| state[idx] != execution.state[idx]);
            let changes = changes.collect();
            let number = execution.events.iter().filter(|event| event.thread == thread).count();
            let is_left = execution.is_left && self.is_allowed(&state);
            longer.insert((Event { thread, number, touches, changes }, state), is_left);
        }
        let longer = longer.into_iter().map(|((event, state), is_left)| {
            let events = execution.events.iter().cloned().chain([event]).collect();
            Execution { events, state, is_left }
        });
        longer.collect()
    }

    /// Whether the scheduler allows the step that has led here.
    fn is_allowed(&self, state: &[bool]) -> bool {
        let frame = kit::frame_with(&self.circuit, state, |_| false);
        self.circuit.optional.iter().all(|&lit| frame.value(lit))
    }
}

/// Which steps come before which because they are dependent: the same for all executions of a
/// trace.
fn trace(events: &[Event]) -> BTreeSet<(&Event, &Event)> {
    let mut trace = BTreeSet::new();
    for (at, later) in events.iter().enumerate() {
        trace.insert((later, later));
        let before = events[..at].iter().filter(|earlier| later.depends_on(earlier));
        trace.extend(before.map(|earlier| (earlier, later)));
    }
    trace
}

/// Whatever is next to each other and independent can be swapped. Returns how many pairs there
/// were.
fn commute(all: &[Execution], n_own: usize, what: &str) -> usize {
    let states: BTreeMap<&[Event], &[bool]> =
        all.iter().map(|it| (&it.events[..], &it.state[..n_own])).collect();
    assert_eq!(states.len(), all.len(), "a step has two ends, {what}");
    let mut n_swapped = 0;
    for execution in all {
        for at in 1..execution.events.len() {
            let mut events = execution.events.clone();
            if events[at].depends_on(&events[at - 1]) {
                continue;
            }
            events.swap(at - 1, at);
            let other = states.get(&events[..]);
            assert_eq!(
                other,
                Some(&&execution.state[..n_own]),
                "swapped at {at}: {events:?}, {what}"
            );
            n_swapped += 1;
        }
    }
    n_swapped
}

/// Looks at all executions of a program. Returns how many steps were swapped, and in how many
/// executions a trace was there that another one stands for; `None` if there are too many.
fn check(script: &Script, schedule: Schedule) -> Option<(usize, usize)> {
    let model = Model::new(script, schedule);
    let mut all = vec![model.first()];
    let (mut n_swapped, mut n_repeated) = (0, 0);
    while !all.is_empty() {
        if all.len() > MOST_EXECUTIONS {
            return None;
        }
        let length = all[0].events.len();
        let what = format!("{} of {script}, {length} steps", schedule.name());
        n_swapped += commute(&all, model.n_own, &what);
        let mut n_left: BTreeMap<_, usize> = BTreeMap::new();
        for execution in &all {
            *n_left.entry(trace(&execution.events)).or_default() += usize::from(execution.is_left);
        }
        for (trace, &n_left) in &n_left {
            assert!(n_left > 0, "a trace is lost: {trace:?}, {what}");
            let is_exact = schedule == Schedule::Mpor || model.moves.len() == 2;
            assert!(!is_exact || n_left == 1, "a trace is taken twice: {trace:?}, {what}");
            n_repeated += n_left - 1;
        }
        all = all.iter().flat_map(|execution| model.longer(execution)).collect();
    }
    Some((n_swapped, n_repeated))
}

/// Programs that end, with a few threads that meet often.
fn shapes() -> Vec<Shape> {
    let base = || Shape { max_total: 7, n_threads: 2..=3, ..Shape::variables() };
    vec![
        Shape { arrays: true, ..base() },
        Shape { locks: true, nested_locks: true, ..base() },
        Shape { condvars: true, branches: false, cas: false, ..base() },
        Shape { awaits: true, ..base() },
        Shape { spawn_join: true, ..base() },
        Shape { semaphores: true, rwlocks: true, barriers: true, ..base() },
        Shape {
            channels: false,
            futexes: false,
            plain: false,
            max_total: 7,
            n_threads: 2..=4,
            ..Shape::everything()
        },
    ]
}

#[test]
fn independent_steps_commute_and_one_execution_of_each_trace_is_left() {
    for (idx, shape) in shapes().iter().enumerate() {
        let (mut n_checked, mut n_swapped) = (0, 0);
        for seed in 0..40 {
            let script = generate(seed, shape);
            for schedule in [Schedule::Ppor, Schedule::Mpor] {
                let Some((swapped, _)) = check(&script, schedule) else { continue };
                n_checked += 1;
                n_swapped += swapped;
            }
        }
        assert!(n_checked > 30 && n_swapped > 1_000, "shape {idx}: {n_checked}, {n_swapped}");
    }
}
