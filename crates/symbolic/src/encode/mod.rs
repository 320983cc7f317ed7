//! Programs as circuits: threads that take steps, one in every frame.
//!
//! Implements sections 4.1 and 4.2 of Kahlon, Gupta and Sinha, *Symbolic Model Checking of Concurrent
//! Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006).
//!
//! | paper                                         | here                                       |
//! |-----------------------------------------------|--------------------------------------------|
//! | `pc` of thread i, ⌈log N⌉ latches             | [`Encoder::pcs`]                           |
//! | `execute_i`                                   | [`ThreadPart::executes`]                   |
//! | next-state function of a shared variable      | [`Encoder::connect`]                       |
//! | range analysis                                | [`constants`]: bits that never change      |
//!
//! Differs: a step is a visible action and the invisible ones behind it, as in `model::Vm`, so that
//! executions of the circuit are schedules of the machine. Plain accesses are always steps; where a
//! data race is a violation, two threads that are both about to make conflicting ones are one. That
//! finds the same programs as the order of happens-before does: of two accesses that nothing orders, the
//! first execution in which they occur can be changed so that they come next to each other, and what
//! is before them stays the same. An execution ends where nobody can move: no frame after that
//! counts, so that executions of all lengths being safe is known once there are no longer ones.

mod constants;
mod graph;
mod memory;
mod operate;
mod state;
mod value;
mod walk;

use crate::{Circuit, Lit, Word};
use graph::{ContextId, ENDED, Known, STUCK, StopKind, Thread, UNBORN};
use mazurka_model::analysis::{Abstract, PointsTo};
use mazurka_model::{
    Access, Action, LocationId, Program, RegisterId, RoutineId, Span, ViolationKind,
};
use memory::{Blocks, Object, ObjectId, Site};
pub(crate) use memory::{Cell, Touch};
use operate::Gate;
use state::{State, VarId, Variables};
use std::collections::{BTreeMap, BTreeSet};

/// How a program is to be made a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encode {
    /// Whether a data race is a violation.
    pub races: bool,
    /// Whether the machine takes plain accesses for steps, for the schedules that it is given.
    pub plain_steps: bool,
    /// Whether it is a violation if nobody can move and somebody waits.
    pub deadlock: bool,
    /// What there is at most of what a circuit has a fixed number of.
    pub bounds: Bounds,
}

impl Default for Encode {
    fn default() -> Self {
        Self { races: true, plain_steps: false, deadlock: true, bounds: Bounds::default() }
    }
}

/// What there is at most of what a circuit has a fixed number of. A program that needs more is no
/// error: it is reported when a bound is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many calls of itself a function may be in; if that is 0, one that calls itself is refused.
    pub recursion: u32,
    /// How many threads a thread may start.
    pub threads: u32,
    /// How many blocks one place may allocate, where that is in a loop.
    pub blocks: u32,
    /// How many bytes a block has whose size is not known before the program runs.
    pub block_bytes: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { recursion: 0, threads: 1, blocks: 1, block_bytes: 32 }
    }
}

impl Bounds {
    /// Threads have numbers of a byte in locks, and 24 of them fit into a reader-writer lock.
    const MAX_THREADS: usize = 30;
    /// Where a thread can be in all, and what a circuit may consist of: more would take too long.
    const MAX_POINTS: usize = 200_000;
    const MAX_NODES: usize = 5_000_000;

    fn n_children(&self, _thread: &Thread) -> u32 {
        self.threads.min(30)
    }
}

/// Something in a program that a circuit has not got.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is nothing that a circuit has; `--engine vm` takes it")]
pub struct Refusal {
    /// What it is.
    pub what: String,
    /// Where it stands in the source.
    pub span: Span,
}

impl Refusal {
    fn new(what: &str, span: Span) -> Self {
        Self { what: what.to_owned(), span }
    }
}

/// What a bad state of the circuit is to the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Something goes wrong in the step that is taken.
    Violation(Fault),
    /// Nobody can move, and somebody waits.
    Deadlock,
    /// Two threads are about to make accesses that conflict, at least one of them plain.
    Race,
    /// A bound is reached: nothing is wrong, and nothing is known of what comes then.
    Bound(Limit),
}

/// What goes wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Which property this is, by its name.
    pub kind: &'static str,
    /// What is wrong.
    pub message: String,
    /// The line and the column of the source, and the file.
    at: (u32, u32, u32),
}

impl Fault {
    fn new(kind: ViolationKind, message: &str) -> Self {
        Self { kind: kind.name(), message: message.to_owned(), at: (0, 0, 0) }
    }
}

/// A bound that a program reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A function is in too many calls of itself.
    Recursion(RoutineId, Span),
    /// More threads than these are started.
    Threads(u32, Span),
    /// More blocks than these are allocated.
    Blocks(u32, Span),
    /// A block is to have more bytes than these.
    BlockBytes(u32, Span),
}

impl Limit {
    fn key(&self) -> (u8, u32, u32, u32) {
        let (kind, span) = match self {
            Self::Recursion(_, span) => (0, span),
            Self::Threads(_, span) => (1, span),
            Self::Blocks(_, span) => (2, span),
            Self::BlockBytes(_, span) => (3, span),
        };
        (kind, span.file.0, span.line, span.column)
    }
}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recursion(..) => write!(f, "a function calls itself more often than the bound"),
            Self::Threads(n, _) => write!(f, "a thread starts more than {n} others"),
            Self::Blocks(n, _) => write!(f, "more than {n} blocks are allocated in one place"),
            Self::BlockBytes(n, _) => write!(f, "a block has more than {n} bytes"),
        }
    }
}

/// Which alternative of a step of the machine a step of the circuit is.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// There is one.
    None,
    /// The one of this number.
    Number(Word),
    /// The thread that is woken, of those that sleep.
    Woken { sleepers: Vec<Lit>, woken: Vec<Lit> },
    /// There is one, and these threads may be started by it.
    Started(Vec<(Lit, usize)>),
}

/// A program as a circuit, and what its parts mean.
#[derive(Debug)]
pub struct Encoding {
    /// The circuit. Its bad states are those of [`meanings`](Self::meanings).
    pub circuit: Circuit,
    /// What each bad state means.
    pub meanings: Vec<Meaning>,
    pub(crate) threads: Vec<ThreadPart>,
    /// The mutexes that are known by where they are.
    pub(crate) locks: Vec<Lock>,
}

/// A mutex that is known by where it is.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The number of the thread that has it, from 1.
    pub(crate) owner: Word,
}

/// What is known of a thread in each frame.
#[derive(Debug)]
pub(crate) struct ThreadPart {
    /// Whether it takes the step of the frame.
    pub(crate) executes: Lit,
    /// Whether it could.
    pub(crate) is_enabled: Lit,
    /// Where it can stand.
    pub(crate) stops: Vec<StopPart>,
}

/// What is known of a thread at a stop.
#[derive(Debug)]
pub(crate) struct StopPart {
    /// Whether it stands there.
    pub(crate) is_here: Lit,
    pub(crate) gate: Gate,
    /// What its step touches.
    pub(crate) touches: Vec<Touch>,
    /// The stops that the step may lead to.
    pub(crate) next: Vec<usize>,
    /// The mutex that the step takes, and without which there is no step.
    pub(crate) acquires: Option<usize>,
    /// Whether nobody else moves while it is there.
    pub(crate) is_alone: bool,
}

/// Makes a program a circuit, or tells all in it that a circuit has not got.
///
/// The circuit lets any thread that can take the next step, until `schedule` says otherwise.
pub fn encode(
    program: &Program,
    options: &Encode,
    schedule: &dyn crate::schedule::Scheduler,
) -> Result<Encoding, Vec<Refusal>> {
    let points_to = PointsTo::of(program);
    let known = Known { program, points_to: &points_to, bounds: &options.bounds };
    let threads = graph::threads(&known)?;
    let mut sizes = BTreeMap::new();
    let mut constants = None;
    let mut n_latches = usize::MAX;
    loop {
        let mut encoder = Encoder::new(known, &threads, options, sizes, constants);
        encoder.build();
        if !encoder.refusals.is_empty() {
            return Err(encoder.refusals);
        }
        if encoder.wanted_sizes != encoder.sizes {
            sizes = encoder.wanted_sizes;
            constants = None;
            continue;
        }
        let is_smaller = encoder.circuit.latches.len() < n_latches;
        n_latches = encoder.circuit.latches.len();
        if !is_smaller {
            return Ok(encoder.finish(schedule));
        }
        encoder.connect();
        constants = Some(encoder.constants());
        sizes = encoder.sizes;
    }
}

/// A thread at one of its stops.
type StepId = (usize, usize);

/// What is needed while a circuit is made.
struct Encoder<'a> {
    known: Known<'a>,
    threads: &'a [Thread],
    options: &'a Encode,
    circuit: Circuit,
    variables: Variables,
    /// For each variable, the bits that never change.
    constant: Option<Vec<Vec<Option<bool>>>>,
    objects: Vec<Object>,
    instances: BTreeMap<Abstract, Vec<ObjectId>>,
    own: BTreeMap<(usize, u32), ObjectId>,
    frames: BTreeMap<(usize, ContextId, u32), ObjectId>,
    blocks: BTreeMap<Site, Blocks>,
    block_numbers: BTreeMap<(RoutineId, LocationId, usize), u32>,
    /// How many bytes the blocks of a place have, and how many they should have.
    sizes: BTreeMap<Site, u32>,
    wanted_sizes: BTreeMap<Site, u32>,
    n_made: u32,
    /// For each thread: its program counter, its first register, how many threads it has started,
    /// whether it was joined, what it has left, and which round of a barrier it is in.
    pcs: Vec<VarId>,
    registers: Vec<VarId>,
    n_started: Vec<VarId>,
    statuses: Vec<VarId>,
    results: Vec<VarId>,
    rounds: Vec<VarId>,
    /// Whether waiting is excused for ever, and by how many waits it is for now.
    excused: VarId,
    n_excused: VarId,
    schedule: Vec<Lit>,
    free: Vec<Lit>,
    refusals: Vec<Refusal>,
    parts: Vec<ThreadPart>,
    /// For each variable, the steps that change it, and to what.
    changes: BTreeMap<VarId, Vec<(StepId, Word)>>,
    /// What goes wrong in which steps, and when.
    faulty: Vec<(Meaning, StepId, Lit)>,
    bads: BTreeMap<Meaning, Vec<Lit>>,

    // The step that is being made.
    thread: usize,
    context: ContextId,
    span: Span,
    seen: Option<(RegisterId, Word)>,
    pending: BTreeMap<usize, State>,
    ends: Vec<(usize, State)>,
    faults: Vec<(Fault, Lit)>,
    limits: Vec<(Limit, Lit)>,
    touches: Vec<Touch>,
    acquired: Option<usize>,
    /// The mutexes that are known by where they are: the bytes with their owners.
    locks: Vec<VarId>,
    /// For each thread, where it is once it was started.
    born_at: Vec<BTreeSet<usize>>,
}

impl<'a> Encoder<'a> {
    fn new(
        known: Known<'a>,
        threads: &'a [Thread],
        options: &'a Encode,
        sizes: BTreeMap<Site, u32>,
        constant: Option<Vec<Vec<Option<bool>>>>,
    ) -> Self {
        let mut encoder = Self {
            known,
            threads,
            options,
            circuit: Circuit::new(),
            variables: Variables::default(),
            constant,
            objects: Vec::new(),
            instances: BTreeMap::new(),
            own: BTreeMap::new(),
            frames: BTreeMap::new(),
            blocks: BTreeMap::new(),
            block_numbers: BTreeMap::new(),
            sizes,
            wanted_sizes: BTreeMap::new(),
            n_made: 0,
            pcs: Vec::new(),
            registers: Vec::new(),
            n_started: Vec::new(),
            statuses: Vec::new(),
            results: Vec::new(),
            rounds: Vec::new(),
            excused: 0,
            n_excused: 0,
            schedule: Vec::new(),
            free: Vec::new(),
            refusals: Vec::new(),
            parts: Vec::new(),
            changes: BTreeMap::new(),
            faulty: Vec::new(),
            bads: BTreeMap::new(),
            thread: 0,
            context: 0,
            span: Span::NONE,
            seen: None,
            pending: BTreeMap::new(),
            ends: Vec::new(),
            faults: Vec::new(),
            limits: Vec::new(),
            touches: Vec::new(),
            acquired: None,
            locks: Vec::new(),
            born_at: vec![BTreeSet::new(); threads.len()],
        };
        encoder.declare();
        encoder
    }

    /// Makes all variables.
    fn declare(&mut self) {
        let n_bits = bits_for(self.threads.len());
        self.schedule =
            (0..n_bits).map(|bit| self.circuit.input(format!("thread.{bit}"))).collect();
        self.excused = self.variable("excused".to_owned(), 1, 0);
        self.n_excused = self.variable("excuses".to_owned(), 8, 0);
        let threads = self.threads;
        for (number, thread) in threads.iter().enumerate() {
            let begin = thread.stop_at(StopKind::Begin(0)).filter(|_| thread.parent.is_none());
            let width = bits_for(thread.stops.len());
            let pc = self.variable(format!("pc {number}"), width, begin.unwrap_or(UNBORN) as u64);
            self.pcs.push(pc);
            let n_children = self.known.bounds.n_children(thread) as usize;
            let width = bits_for(n_children + 1);
            let name = |what: &str| format!("{what} {number}");
            let n_started = self.variable(name("started by"), width, 0);
            self.n_started.push(n_started);
            let status = self.variable(name("status of"), 2, 0);
            self.statuses.push(status);
            let result = self.variable(name("result of"), 64, 0);
            self.results.push(result);
            let round = self.variable(name("round of"), 16, 0);
            self.rounds.push(round);
            self.declare_registers(number, thread);
        }
        self.number_blocks();
        self.lay_out();
    }

    fn declare_registers(&mut self, number: usize, thread: &Thread) {
        let mut is_live = vec![false; thread.n_registers];
        for register in thread.stops.iter().flat_map(|stop| &stop.live) {
            is_live[*register] = true;
        }
        self.registers.push(self.variables.len());
        for (context, info) in thread.contexts.iter().enumerate() {
            let process = self.known.program.processes.get(number);
            let is_first = info.caller.is_none() && thread.parent.is_none();
            let routine = self.known.program.routine(info.routine);
            for (idx, register) in routine.registers.iter().enumerate() {
                let name = format!("{number}.{context}.{}%{idx}", register.name);
                let width = register.ty.bits() as usize;
                let given = process.and_then(|process| process.arguments.get(idx));
                let init = given.copied().filter(|_| is_first).unwrap_or(0);
                match is_live[info.first_register + idx] {
                    true => self.variable(name, width, init),
                    false => self.variables.add_constant(width, 0),
                };
            }
        }
    }

    fn variable(&mut self, name: String, width: usize, init: u64) -> VarId {
        let known = self.constant.as_ref().map(|all| &all[self.variables.len()][..]);
        self.variables.add(&mut self.circuit, name, width, init, known)
    }

    /// The lowest bits of what comes in, for whoever takes the step of the frame.
    fn free_word(&mut self, width: usize) -> Word {
        while self.free.len() < width {
            let name = format!("choice.{}", self.free.len());
            self.free.push(self.circuit.input(name));
        }
        self.free[..width].to_vec().into()
    }

    fn refuse(&mut self, what: &str, span: Span) {
        let refusal = Refusal::new(what, span);
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Makes it a violation if a way is taken where something is not so; the way goes on where it is.
    fn fault(&mut self, state: &mut State, is_good: Lit, fault: Fault) {
        let is_bad = self.circuit.aig.and(state.condition, !is_good);
        if is_bad == Lit::FALSE {
            return;
        }
        let at = (self.span.file.0, self.span.line, self.span.column);
        self.faults.push((Fault { at, ..fault }, is_bad));
        state.condition = self.circuit.aig.and(state.condition, is_good);
    }

    /// Notes that a step touches all of an object.
    fn touch_all(&mut self, state: &State, object: ObjectId, is_it: Lit) {
        let when = self.circuit.aig.and(state.condition, is_it);
        let bytes = 0..self.objects[object].bytes.len();
        self.touches.push(Touch { cell: Cell::Object(object), bytes, when, is_write: true });
    }

    /// Notes that a step touches something that is no memory.
    fn touch_cell(&mut self, state: &State, cell: Cell, when: Lit, is_write: bool) {
        let when = self.circuit.aig.and(state.condition, when);
        self.touches.push(Touch { cell, bytes: 0..1, when, is_write });
    }

    /// Whether the machine takes an access for a step.
    fn is_step_of_machine(&self, action: &Action) -> bool {
        match action {
            Action::Load { access, .. } | Action::Store { access, .. } => {
                *access == Access::Atomic || self.options.plain_steps
            }
            Action::Copy { .. } | Action::Fill { .. } => self.options.plain_steps,
            _ => true,
        }
    }

    /// Makes the steps of all threads.
    fn build(&mut self) {
        let threads = self.threads;
        for (number, thread) in threads.iter().enumerate() {
            self.thread = number;
            let pc = self.variables.word(self.pcs[number]).clone();
            let mut stops = Vec::new();
            for stop in 0..thread.stops.len() {
                if self.circuit.aig.n_nodes() > Bounds::MAX_NODES {
                    self.refuse("a program of this size", self.span);
                    return;
                }
                let is_here = self.circuit.aig.equals_number(&pc, stop as u64);
                stops.push(self.stop(thread, stop, is_here));
            }
            let part = ThreadPart { executes: Lit::FALSE, is_enabled: Lit::FALSE, stops };
            self.parts.push(part);
        }
        for (part, born_at) in self.parts.iter_mut().zip(&self.born_at) {
            part.stops[UNBORN].next = born_at.iter().copied().collect();
        }
        self.enable();
    }

    /// Makes the step that begins at a stop.
    fn stop(&mut self, thread: &Thread, number: usize, is_here: Lit) -> StopPart {
        let program = self.known.program;
        let stop = &thread.stops[number];
        let mut gate = Gate { is_open: Lit::FALSE, ..Gate::OPEN };
        if is_here != Lit::FALSE {
            gate = match stop.kind {
                StopKind::Unborn => {
                    let state = State::new();
                    self.touch_cell(&state, Cell::Born(self.thread), Lit::TRUE, false);
                    gate
                }
                StopKind::Ended | StopKind::Stuck => gate,
                StopKind::Begin(root) => {
                    self.walk(thread.begin(program, root), State::new());
                    Gate { counts: Lit::FALSE, ..Gate::OPEN }
                }
                StopKind::Head(point) => {
                    self.walk(point, State::new());
                    Gate { counts: Lit::FALSE, ..Gate::OPEN }
                }
                StopKind::Edge { point, edge, is_second } => {
                    let it = &thread.edges(program, point)[edge];
                    self.operate(point, edge, it, is_second)
                }
            };
        }
        let next = self.settle(number);
        StopPart {
            is_here,
            gate,
            touches: std::mem::take(&mut self.touches),
            next,
            acquires: self.acquired.take(),
            is_alone: matches!(stop.kind, StopKind::Head(point) if point.n_atomic > 0),
        }
    }

    /// Puts all ends of a step together: what it changes, and what goes wrong in it.
    fn settle(&mut self, from: usize) -> Vec<usize> {
        // A step in which something goes wrong does nothing at all, so that all else that is found
        // can be found without it.
        let mut failed = State::new();
        failed.condition = self.circuit.aig.any(self.faults.iter().map(|(_, is_bad)| *is_bad));
        failed.set(self.excused, Word::constant(1, 1));
        self.end(STUCK, failed);
        let ends = std::mem::take(&mut self.ends);
        let mut next = Vec::new();
        let mut merged: Option<State> = None;
        for (stop, state) in ends {
            next.push(stop);
            let state = self.at_stop(self.thread, Some(from), stop, state);
            merged = Some(match merged {
                Some(all) => state.or(&mut self.circuit.aig, &self.variables, all),
                None => state,
            });
        }
        next.sort_unstable();
        next.dedup();
        let step = (self.thread, from);
        for (variable, word) in merged.map(|state| state.changed).unwrap_or_default() {
            if self.variables.is_kept(variable) && word != *self.variables.word(variable) {
                self.changes.entry(variable).or_default().push((step, word));
            }
        }
        for (fault, is_bad) in std::mem::take(&mut self.faults) {
            self.faulty.push((Meaning::Violation(fault), step, is_bad));
        }
        for (limit, is_reached) in std::mem::take(&mut self.limits) {
            self.faulty.push((Meaning::Bound(limit), step, is_reached));
        }
        next
    }

    /// A state in which a thread has come to a stop, from another one or from nowhere. What does not
    /// matter there is zero, so that states that differ in nothing else are one.
    fn at_stop(&self, number: usize, from: Option<usize>, stop: usize, mut state: State) -> State {
        let thread = &self.threads[number];
        let (pc, first) = (self.pcs[number], self.registers[number]);
        state.set(pc, Word::constant(self.variables.word(pc).width(), stop as u64));
        let live = &thread.stops[stop].live;
        let own = first..first + thread.n_registers;
        let changed = state.changed.range(own).map(|(&variable, _)| variable - first);
        let before = from.iter().flat_map(|&from| &thread.stops[from].live).copied();
        let dead: Vec<VarId> = changed
            .chain(before)
            .filter(|register| !live.contains(register))
            .map(|register| first + register)
            .collect();
        for variable in dead {
            match self.variables.is_kept(variable) {
                true => {
                    let width = self.variables.word(variable).width();
                    state.set(variable, Word::constant(width, 0));
                }
                false => {
                    state.changed.remove(&variable);
                }
            }
        }
        state
    }

    /// Whether the step of the frame is this one.
    fn is_taken(&mut self, (thread, stop): StepId) -> Lit {
        let part = &self.parts[thread];
        self.circuit.aig.and(part.executes, part.stops[stop].is_here)
    }

    /// Whether a thread was chosen for the step of the frame.
    fn is_chosen(&mut self, thread: usize) -> Lit {
        let chosen = Word::from(self.schedule.clone());
        self.circuit.aig.equals_number(&chosen, thread as u64)
    }

    /// Says which threads can move, and that only those do.
    fn enable(&mut self) {
        let threads = self.threads;
        let mut alone = Vec::new();
        for part in &self.parts {
            let within = part.stops.iter().filter(|stop| stop.is_alone);
            alone.push(self.circuit.aig.any(within.map(|stop| stop.is_here)));
        }
        for number in 0..threads.len() {
            let stops = self.parts[number].stops.iter();
            let gates: Vec<_> = stops.map(|stop| (stop.is_here, stop.gate.is_open)).collect();
            let aig = &mut self.circuit.aig;
            let open: Vec<_> =
                gates.into_iter().map(|(is_here, is_open)| aig.and(is_here, is_open)).collect();
            let is_open = aig.any(open);
            let others = (0..threads.len()).filter(|&other| other != number);
            let is_held = aig.any(others.map(|other| alone[other]));
            let is_enabled = aig.and(is_open, !is_held);
            self.parts[number].is_enabled = is_enabled;
            let chosen = self.is_chosen(number);
            self.parts[number].executes = self.circuit.aig.and(chosen, is_enabled);
        }
    }

    /// Gives every latch its next value.
    fn connect(&mut self) {
        for (meaning, step, lit) in std::mem::take(&mut self.faulty) {
            let is_taken = self.is_taken(step);
            let is_bad = self.circuit.aig.and(is_taken, lit);
            self.bads.entry(meaning).or_default().push(is_bad);
        }
        let mut changes = std::mem::take(&mut self.changes);
        for variable in 0..self.variables.len() {
            if !self.variables.is_kept(variable) {
                continue;
            }
            let word = self.variables.word(variable).clone();
            let choices = changes.remove(&variable).unwrap_or_default().into_iter();
            let choices: Vec<_> = choices.map(|(step, word)| (self.is_taken(step), word)).collect();
            let aig = &mut self.circuit.aig;
            let changed = aig.one_hot(word.width(), &choices);
            let is_changed = aig.any(choices.iter().map(|(fires, _)| *fires));
            for (&latch, &new) in word.bits().iter().zip(changed.bits()) {
                if latch.constant().is_some() {
                    continue;
                }
                let aig = &mut self.circuit.aig;
                let kept = aig.and(!is_changed, latch);
                let next = aig.or(kept, new);
                self.circuit.set_next(latch, next);
            }
        }
    }

    /// Adds the properties and the schedule, and hands it all over.
    fn finish(mut self, schedule: &dyn crate::schedule::Scheduler) -> Encoding {
        let is_deadlock = self.deadlock();
        if self.options.races {
            let races = self.races();
            self.bads.insert(Meaning::Race, races);
        }
        let moves: Vec<Lit> = self.parts.iter().map(|part| part.executes).collect();
        let moves = self.circuit.aig.any(moves);
        let counts = match self.options.deadlock {
            true => {
                self.bads.insert(Meaning::Deadlock, vec![is_deadlock]);
                self.circuit.aig.or(moves, is_deadlock)
            }
            false => moves,
        };
        self.circuit.constrain(counts);
        self.connect();
        let mut meanings = Vec::new();
        for (meaning, lits) in std::mem::take(&mut self.bads) {
            let is_bad = self.circuit.aig.any(lits);
            if is_bad == Lit::FALSE {
                continue;
            }
            self.circuit.bad(is_bad, meaning.name());
            meanings.push(meaning);
        }
        let owner = |lock: &VarId| Lock { owner: self.variables.word(*lock).clone() };
        let locks = self.locks.iter().map(owner).collect();
        let mut encoding = Encoding { circuit: self.circuit, meanings, threads: self.parts, locks };
        schedule.constrain(&mut encoding);
        encoding.circuit.validate();
        encoding
    }

    /// Nobody can move, and somebody waits who is not excused.
    fn deadlock(&mut self) -> Lit {
        let mut waits = Vec::new();
        let mut moves = Vec::new();
        for number in 0..self.threads.len() {
            let is_out: Vec<Lit> =
                [UNBORN, ENDED, STUCK].map(|stop| self.parts[number].stops[stop].is_here).to_vec();
            waits.push(!self.circuit.aig.any(is_out));
            moves.push(self.parts[number].is_enabled);
        }
        let excused = self.variables.word(self.excused).bits()[0];
        let n_excused = self.variables.word(self.n_excused).clone();
        let aig = &mut self.circuit.aig;
        let is_excused = aig.is_nonzero(&n_excused);
        let (waits, moves) = (aig.any(waits), aig.any(moves));
        aig.all([waits, !moves, !excused, !is_excused])
    }

    /// Two threads are about to access the same bytes, both plainly, and not both to read.
    fn races(&mut self) -> Vec<Lit> {
        let now: Vec<_> = (0..self.threads.len()).map(|it| self.plain_now(it)).collect();
        let mut races = Vec::new();
        for (first, of_first) in now.iter().enumerate() {
            for of_second in &now[first + 1..] {
                for (byte, [reads, writes]) in of_first {
                    let Some([other_reads, other_writes]) = of_second.get(byte) else { continue };
                    let aig = &mut self.circuit.aig;
                    let other = aig.or(*other_reads, *other_writes);
                    let both = aig.and(*writes, other);
                    let one = aig.and(*reads, *other_writes);
                    races.push(aig.or(both, one));
                }
            }
        }
        races.sort_unstable();
        races.dedup();
        races
    }

    /// For each byte, whether a thread is about to read it plainly, and whether to write it.
    fn plain_now(&mut self, thread: usize) -> BTreeMap<(ObjectId, usize), [Lit; 2]> {
        let mut now: BTreeMap<(ObjectId, usize), [Vec<Lit>; 2]> = BTreeMap::new();
        let program = self.known.program;
        let threads = self.threads;
        let it = &threads[thread];
        for (stop, info) in it.stops.iter().enumerate() {
            let StopKind::Edge { point, edge, .. } = info.kind else { continue };
            let is_plain = match &it.edges(program, point)[edge].action {
                Action::Load { access, .. } | Action::Store { access, .. } => {
                    *access == Access::Plain
                }
                Action::Copy { .. } | Action::Fill { .. } => true,
                _ => false,
            };
            if !is_plain {
                continue;
            }
            let part = &self.parts[thread].stops[stop];
            let (is_here, touches) = (part.is_here, part.touches.clone());
            for touch in touches {
                let when = self.circuit.aig.and(is_here, touch.when);
                let Cell::Object(object) = touch.cell else { continue };
                for byte in touch.bytes {
                    let entry = now.entry((object, byte)).or_default();
                    entry[usize::from(touch.is_write)].push(when);
                }
            }
        }
        let aig = &mut self.circuit.aig;
        now.into_iter().map(|(byte, lits)| (byte, lits.map(|lits| aig.any(lits)))).collect()
    }
}

impl Meaning {
    /// What people call it.
    fn name(&self) -> String {
        match self {
            Self::Violation(fault) => {
                format!("{} {}:{} {}", fault.kind, fault.at.1, fault.at.2, fault.message)
            }
            Self::Deadlock => "deadlock".to_owned(),
            Self::Race => "race".to_owned(),
            Self::Bound(limit) => format!("bound: {limit}"),
        }
    }
}

/// How many bits numbers below `n` take.
fn bits_for(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}
