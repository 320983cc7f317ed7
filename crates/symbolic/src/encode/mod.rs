//! Programs as circuits: threads that take steps, one in every frame.
//!
//! Implements sections 4.1 and 4.2 of Kahlon, Gupta and Sinha, *Symbolic Model Checking of
//! Concurrent Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006).
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
//! finds the same programs as the order of happens-before does: of two accesses that nothing
//! orders, the first execution in which they occur can be changed so that they come next to each
//! other, and what is before them stays the same. Where atomic accesses order less than what they
//! read from and what they overwrite, that is not so, and [`monitor`] tells who knows of an access.
//! An execution ends where no thread can move: no frame after that counts, so that executions of
//! all lengths being safe is known once there are no longer ones.

mod circuit_parts;
mod connect;
mod constants;
mod declare;
mod graph;
mod interference;
mod meaning;
mod memory;
mod monitor;
mod operate;
mod options;
mod plan;
mod properties;
mod spawn;
mod state;
mod station;
mod station_facts;
mod temporal;
mod value;
mod walk;

use crate::{Circuit, Lit, Word};
pub use circuit_parts::Encoding;
pub(crate) use circuit_parts::{Choice, Lock, Pass, StopPart, ThreadPart};
use graph::{ContextId, ENDED, Known, STUCK, StopKind, Thread, UNBORN};
pub(crate) use interference::{Byte, Touches};
use mazurka_model::analysis::{Abstract, PointsTo};
use mazurka_model::{Access, Action, LocationId, Program, RegisterId, RoutineId, Span};
pub use meaning::{Fault, Limit, Meaning, Refusal};
use memory::{Blocks, Object, ObjectId, Site};
pub(crate) use memory::{Cell, Touch, TouchKind};
use monitor::{Monitor, Sights};
use operate::Effects;
pub(crate) use operate::Gate;
pub use options::{Bounds, Encode};
use plan::{Constants, Plan};
use state::{State, VarId, Variables};
use station::{Facts, StationId, Stations};
use std::collections::{BTreeMap, BTreeSet};
pub use temporal::{Fairness, Temporal};
use walk::Pace;

/// Makes a program a circuit, or tells all in it that a circuit has not got.
///
/// The circuit lets any thread that can take the next step, until `schedule` says otherwise.
pub fn encode(
    program: &Program,
    options: &Encode,
    schedule: &dyn crate::schedule::Scheduler,
) -> Result<Encoding, Vec<Refusal>> {
    encode_as_planned(program, options, schedule)
}

/// What a program is refused for before its steps are made, and with a bound on recursion what they
/// would be refused for, so that all of it is told at once.
fn with_all_others(
    mut refusals: Vec<Refusal>,
    known: &Known<'_>,
    options: &Encode,
) -> Vec<Refusal> {
    let bounds = Bounds { recursion: 1, ..known.bounds.clone() };
    let known = Known { bounds: &bounds, ..*known };
    let is_unbounded = options.bounds.recursion == 0;
    if let Some(threads) = is_unbounded.then(|| graph::threads(&known).ok()).flatten() {
        let mut encoder = Encoder::new(known, &threads, options, Plan::new(&threads));
        encoder.build();
        // One that has become too large by the bound was not too large before.
        let others = encoder.refusals.into_iter().filter(|it| it.what != TOO_LARGE);
        refusals.extend(others);
    }
    refusals
}

/// Why a program is refused that would take too long.
const TOO_LARGE: &str = "a program of this size";

/// Builds the circuit until what it was planned with is what comes out.
fn encode_as_planned(
    program: &Program,
    options: &Encode,
    schedule: &dyn crate::schedule::Scheduler,
) -> Result<Encoding, Vec<Refusal>> {
    let points_to = PointsTo::of(program);
    let watched = options.temporal.as_ref().map(Temporal::registers).unwrap_or_default();
    let known =
        Known { program, points_to: &points_to, bounds: &options.bounds, watched: &watched };
    let threads =
        graph::threads(&known).map_err(|refusals| with_all_others(refusals, &known, options))?;
    if let Some(temporal) = &options.temporal {
        temporal.check(&threads)?;
    }
    let mut plan = Plan::new(&threads);
    let mut n_latches = usize::MAX;
    loop {
        let mut encoder = Encoder::new(known, &threads, options, plan);
        encoder.build();
        if !encoder.refusals.is_empty() {
            return Err(encoder.refusals);
        }
        if encoder.wanted_sizes != encoder.plan.sizes {
            plan = Plan { sizes: encoder.wanted_sizes, ..Plan::new(&threads) };
            continue;
        }
        if !encoder.failing.is_empty() {
            plan = encoder.without_failing();
            continue;
        }
        if encoder.has_outgrown_counters() {
            plan = Plan { pc_bits: encoder.pc_bits(), ..encoder.plan };
            continue;
        }
        let learnt = encoder.learn();
        if learnt.refutes_plan() {
            plan = encoder.plan.without(learnt);
            n_latches = usize::MAX;
            continue;
        }
        let is_smaller = encoder.circuit.latches.len() < n_latches;
        n_latches = encoder.circuit.latches.len();
        if !is_smaller
            && encoder.plan.merging.is_none()
            && encoder.plan.watch.is_none()
            && let Some(watch) = encoder.to_watch()
        {
            plan = Plan { watch: Some(watch), ..encoder.plan };
            n_latches = usize::MAX;
            continue;
        }
        if !is_smaller && schedule.merges() && encoder.plan.merging.is_none() {
            plan = encoder.merged();
            n_latches = usize::MAX;
            continue;
        }
        if !is_smaller {
            return Ok(encoder.finish(schedule));
        }
        plan = encoder.plan.with(learnt);
    }
}

/// A thread at one of its stations.
type StepId = (usize, StationId);

/// What is needed while a circuit is made.
struct Encoder<'a> {
    known: Known<'a>,
    threads: &'a [Thread],
    options: &'a Encode,
    circuit: Circuit,
    variables: Variables,
    plan: Plan,
    stations: Stations,
    /// The stations whose steps are to be made, and those of which they were or will be.
    to_make: BTreeSet<StepId>,
    reached: BTreeSet<StepId>,
    /// For each thread, the variables that no other thread changes, but for its registers.
    owned: Vec<Vec<VarId>>,
    /// The variables that a step gives their first values, for a thread that begins.
    births: BTreeSet<(StepId, VarId)>,
    objects: Vec<Object>,
    instances: BTreeMap<Abstract, Vec<ObjectId>>,
    own: BTreeMap<(usize, u32), ObjectId>,
    frames: BTreeMap<(usize, ContextId, u32), ObjectId>,
    blocks: BTreeMap<Site, Blocks>,
    block_numbers: BTreeMap<(RoutineId, LocationId, usize), u32>,
    /// How many bytes the blocks of a place should have.
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
    /// Who knows of the access that is watched for data races, if neighbours are not enough.
    monitor: Option<Monitor>,
    /// What matters to data races.
    sights: Sights,
    refusals: Vec<Refusal>,
    parts: Vec<ThreadPart>,
    /// For each variable, the steps that change it, and to what.
    changes: BTreeMap<VarId, Vec<(StepId, Word)>>,
    /// What goes wrong in which steps, and when.
    faulty: Vec<(Meaning, StepId, Lit)>,
    /// When a thread that is at a station races, whether it takes its step or not.
    racing: Vec<(StepId, Lit)>,
    bads: BTreeMap<Meaning, Vec<Lit>>,

    // The step that is being made.
    thread: usize,
    station: StationId,
    context: ContextId,
    span: Span,
    seen: Option<(RegisterId, Word)>,
    /// Whether what is evaluated is a proposition, which sees the whole state.
    is_asking: bool,
    /// Whether what is carried out is within an atomic block.
    is_within: bool,
    pending: BTreeMap<(Pace, usize), State>,
    /// How the walk goes on from where it is, in the order of ways of all kinds.
    pace: Pace,
    at: usize,
    passes: Vec<Pass>,
    ends: Vec<(usize, State)>,
    faults: Vec<(Fault, Lit)>,
    limits: Vec<(Limit, Lit)>,
    /// When an access of the step races with the one that is watched; and when one does that is
    /// made by coming to where the step begins.
    raced: Vec<Lit>,
    raced_here: Vec<Lit>,
    touches: Vec<Touch>,
    effects: Effects,
    /// How many of the bits that come in are used.
    n_free: usize,
    /// The passes in which something goes wrong, so that they must be steps of their own.
    failing: BTreeSet<(usize, Option<StationId>)>,
    /// The mutexes that are known by where they are: the bytes with their owners.
    locks: Vec<(ObjectId, usize)>,
    /// For each thread, where it is once it was started.
    born_at: Vec<BTreeSet<usize>>,
}

impl<'a> Encoder<'a> {
    fn new(known: Known<'a>, threads: &'a [Thread], options: &'a Encode, plan: Plan) -> Self {
        let mut owned = vec![Vec::new(); threads.len()];
        for (&variable, &owner) in &plan.owners {
            owned[owner].push(variable);
        }
        let (stations, locks) = match &plan.merging {
            Some(merging) => (merging.stations.clone(), merging.locks.clone()),
            None => (Stations::new(threads.len(), &[UNBORN, ENDED, STUCK]), Vec::new()),
        };
        let mut encoder = Self {
            known,
            threads,
            options,
            circuit: Circuit::new(),
            variables: Variables::default(),
            stations,
            plan,
            to_make: BTreeSet::new(),
            reached: BTreeSet::new(),
            owned,
            births: BTreeSet::new(),
            objects: Vec::new(),
            instances: BTreeMap::new(),
            own: BTreeMap::new(),
            frames: BTreeMap::new(),
            blocks: BTreeMap::new(),
            block_numbers: BTreeMap::new(),
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
            monitor: None,
            sights: Sights::default(),
            refusals: Vec::new(),
            parts: Vec::new(),
            changes: BTreeMap::new(),
            faulty: Vec::new(),
            racing: Vec::new(),
            bads: BTreeMap::new(),
            thread: 0,
            station: 0,
            context: 0,
            span: Span::NONE,
            seen: None,
            is_asking: false,
            is_within: false,
            pending: BTreeMap::new(),
            pace: Pace::Stopping,
            at: 0,
            passes: Vec::new(),
            ends: Vec::new(),
            faults: Vec::new(),
            limits: Vec::new(),
            raced: Vec::new(),
            raced_here: Vec::new(),
            touches: Vec::new(),
            effects: Effects::default(),
            n_free: 0,
            failing: BTreeSet::new(),
            locks,
            born_at: vec![BTreeSet::new(); threads.len()],
        };
        encoder.declare();
        encoder
    }

    /// Bits of what comes in, for the thread that takes the step of the frame. They are used once
    /// in a step.
    fn free_word(&mut self, width: usize) -> Word {
        let first = self.n_free;
        self.n_free += width;
        while self.free.len() < self.n_free {
            let name = format!("choice.{}", self.free.len());
            self.free.push(self.circuit.input(name));
        }
        self.free[first..self.n_free].to_vec().into()
    }

    /// How a walk begins.
    fn first_pace(&self) -> Pace {
        if self.plan.merging.is_some() { Pace::Passing } else { Pace::Stopping }
    }

    /// Something may go wrong on a way: there must be a step to blame for it.
    fn fails(&mut self, state: &State) {
        let passed = state.passed.iter().filter(|it| it.is_some());
        self.failing.extend(passed.map(|&station| (self.thread, station)));
    }

    fn refuse(&mut self, what: &str, span: Span) {
        let refusal = Refusal::new(what, span);
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Makes it a violation if a way is taken where something is not so; the way goes on where it
    /// is.
    fn fault(&mut self, state: &mut State, is_good: Lit, fault: Fault) {
        let is_bad = self.circuit.aig.and(state.condition, !is_good);
        if is_bad == Lit::FALSE {
            return;
        }
        let at = (self.span.file.0, self.span.line, self.span.column);
        self.fails(state);
        self.faults.push((Fault { at, ..fault }, is_bad));
        state.condition = self.circuit.aig.and(state.condition, is_good);
    }

    /// Notes that a step touches all of an object.
    fn touch_all(&mut self, state: &State, object: ObjectId, is_it: Lit, kind: TouchKind) {
        if !state.passed.contains(&None) {
            return;
        }
        let when = self.circuit.aig.and(state.condition, is_it);
        let bytes = 0..self.objects[object].bytes.len();
        let cell = Cell::Object(object);
        self.touches.push(Touch { cell, bytes, when, is_write: true, kind });
    }

    /// Notes that a step touches something that is no memory.
    fn touch_cell(&mut self, state: &State, cell: Cell, when: Lit, is_write: bool) {
        if !state.passed.contains(&None) {
            return;
        }
        let when = self.circuit.aig.and(state.condition, when);
        let kind = TouchKind::Use;
        self.touches.push(Touch { cell, bytes: 0..1, when, is_write, kind });
    }

    /// Whether the machine takes an access for a step.
    fn is_step_of_machine(&self, action: &Action) -> bool {
        match action {
            Action::Load { access, .. } | Action::Store { access, .. } => {
                matches!(access, Access::Atomic(_) | Access::Volatile) || self.options.plain_steps
            }
            Action::Copy { .. } | Action::Fill { .. } => self.options.plain_steps,
            _ => true,
        }
    }

    /// Makes the steps of all threads.
    fn build(&mut self) {
        let threads = self.threads;
        let mut parts: Vec<BTreeMap<StationId, StopPart>> = Vec::new();
        parts.resize_with(threads.len(), BTreeMap::new);
        self.begin();
        while let Some((thread, station)) = self.to_make.pop_first() {
            if self.circuit.aig.n_nodes() > Bounds::MAX_NODES {
                self.refuse(TOO_LARGE, self.span);
                return;
            }
            (self.thread, self.station) = (thread, station);
            let part = self.stop(&threads[thread], station);
            parts[thread].insert(station, part);
        }
        for (thread, mut parts) in parts.into_iter().enumerate() {
            let all = 0..self.stations.count(thread);
            let stops = all.map(|it| parts.remove(&it).unwrap_or_else(StopPart::nowhere));
            let stops = stops.collect();
            self.parts.push(ThreadPart { executes: Lit::FALSE, is_enabled: Lit::FALSE, stops });
        }
        for (part, born_at) in self.parts.iter_mut().zip(&self.born_at) {
            part.stops[UNBORN].next = born_at.iter().copied().collect();
        }
        self.enable();
    }

    /// Puts all threads where they are before the first step.
    fn begin(&mut self) {
        let threads = self.threads;
        for (number, thread) in threads.iter().enumerate() {
            for station in [UNBORN, ENDED, STUCK] {
                self.reach(number, station);
            }
            if thread.parent.is_none() {
                let stop = thread.stop_at(StopKind::Begin(0)).expect("roots begin somewhere");
                let facts = self.first_facts(number, stop);
                let station = self.station(number, stop, facts).expect("it was there before");
                self.reach(number, station);
            }
        }
    }

    /// Makes the step that begins at a station.
    fn stop(&mut self, thread: &Thread, number: StationId) -> StopPart {
        let program = self.known.program;
        let pc = self.variables.word(self.pcs[self.thread]).clone();
        let is_here = self.circuit.aig.equals_number(&pc, number as u64);
        let station = self.stations.get(self.thread, number).clone();
        let stop = &thread.stops[station.stop];
        self.n_free = 0;
        let state = State::new(&self.variables, &station.facts);
        let mut gate = Gate { is_open: Lit::FALSE, ..Gate::OPEN };
        if is_here != Lit::FALSE {
            gate = match stop.kind {
                StopKind::Unborn => {
                    self.touch_cell(&state, Cell::Born(self.thread), Lit::TRUE, false);
                    gate
                }
                StopKind::Ended | StopKind::Stuck => gate,
                StopKind::Begin(root) => {
                    self.walk(thread.begin(program, root), state, self.first_pace());
                    Gate { counts: Lit::FALSE, ..Gate::OPEN }
                }
                StopKind::Head(point) => {
                    self.walk(point, state, self.first_pace());
                    Gate { counts: Lit::FALSE, ..Gate::OPEN }
                }
                StopKind::Edge { point, edge, is_second } => {
                    let it = &thread.edges(program, point)[edge];
                    self.operate(point, edge, it, is_second, state)
                }
            };
        }
        let next = self.settle(number);
        StopPart {
            is_here,
            gate,
            passes: std::mem::take(&mut self.passes),
            touches: std::mem::take(&mut self.touches),
            next,
            effects: std::mem::take(&mut self.effects),
            is_alone: matches!(stop.kind, StopKind::Head(point) if point.n_atomic > 0),
            is_first: matches!(stop.kind, StopKind::Begin(_)),
        }
    }

    /// Puts all ends of a step together: what it changes, and what goes wrong in it.
    fn settle(&mut self, from: usize) -> Vec<usize> {
        // A step in which something goes wrong does nothing at all, so that all else that is found
        // can be found without it.
        let facts = self.stations.get(self.thread, from).facts.clone();
        let mut failed = State::new(&self.variables, &facts);
        failed.condition = self.circuit.aig.any(self.faults.iter().map(|(_, is_bad)| *is_bad));
        failed.set(self.excused, Word::constant(1, 1));
        self.end(STUCK, failed);
        let ends = std::mem::take(&mut self.ends);
        let mut next = Vec::new();
        let mut merged: Option<State> = None;
        for (stop, state) in ends {
            let (station, state) = self.at_stop(self.thread, Some(from), stop, state);
            next.push(station);
            merged = Some(match merged {
                Some(all) => state.or(&mut self.circuit.aig, &self.variables, all),
                None => state,
            });
        }
        next.sort_unstable();
        next.dedup();
        let step = (self.thread, from);
        let unchanged = State::new(&self.variables, &facts);
        for (variable, word) in merged.map(|state| state.changed).unwrap_or_default() {
            if self.variables.is_kept(variable) && !self.is_there(&unchanged, variable, &word) {
                self.changes.entry(variable).or_default().push((step, word));
            }
        }
        for (fault, is_bad) in std::mem::take(&mut self.faults) {
            self.faulty.push((Meaning::Violation(fault), step, is_bad));
        }
        for (limit, is_reached) in std::mem::take(&mut self.limits) {
            self.faulty.push((Meaning::Bound(limit), step, is_reached));
        }
        let raced = std::mem::take(&mut self.raced).into_iter();
        let raced = raced.filter(|&race| race != Lit::FALSE);
        self.faulty.extend(raced.map(|race| (Meaning::Race, step, race)));
        let here = std::mem::take(&mut self.raced_here).into_iter();
        self.racing.extend(here.filter(|&race| race != Lit::FALSE).map(|race| (step, race)));
        next
    }
}

/// How many bits numbers below `n` take.
fn bits_for(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}
