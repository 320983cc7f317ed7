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
mod interference;
mod meaning;
mod memory;
mod operate;
mod options;
mod parts;
mod plan;
mod properties;
mod state;
mod station;
mod value;
mod walk;

use crate::{Circuit, Lit, Word};
use graph::{ContextId, ENDED, Known, STUCK, StopKind, Thread, UNBORN};
use interference::undisturbed;
pub(crate) use interference::{Byte, Touches};
use mazurka_model::analysis::{Abstract, PointsTo};
use mazurka_model::{Access, Action, LocationId, Program, RegisterId, RoutineId, Span};
pub use meaning::{Fault, Limit, Meaning, Refusal};
use memory::{Blocks, Object, ObjectId, Site};
pub(crate) use memory::{Cell, Touch, TouchKind};
use operate::Effects;
pub(crate) use operate::Gate;
pub use options::{Bounds, Encode};
pub use parts::Encoding;
pub(crate) use parts::{Choice, Lock, Pass, StopPart, ThreadPart};
use plan::{Constants, Learnt, Merging, Plan};
use state::{State, VarId, Variables};
use station::{Facts, StationId, Stations};
use std::collections::{BTreeMap, BTreeSet};
use walk::Pace;

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
    /// For each thread, the variables that nobody else changes, but for its registers.
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
    refusals: Vec<Refusal>,
    parts: Vec<ThreadPart>,
    /// For each variable, the steps that change it, and to what.
    changes: BTreeMap<VarId, Vec<(StepId, Word)>>,
    /// What goes wrong in which steps, and when.
    faulty: Vec<(Meaning, StepId, Lit)>,
    bads: BTreeMap<Meaning, Vec<Lit>>,

    // The step that is being made.
    thread: usize,
    station: StationId,
    context: ContextId,
    span: Span,
    seen: Option<(RegisterId, Word)>,
    pending: BTreeMap<(Pace, usize), State>,
    /// How the walk goes on from where it is, in the order of ways of all kinds.
    pace: Pace,
    at: usize,
    passes: Vec<Pass>,
    ends: Vec<(usize, State)>,
    faults: Vec<(Fault, Lit)>,
    limits: Vec<(Limit, Lit)>,
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
            refusals: Vec::new(),
            parts: Vec::new(),
            changes: BTreeMap::new(),
            faulty: Vec::new(),
            bads: BTreeMap::new(),
            thread: 0,
            station: 0,
            context: 0,
            span: Span::NONE,
            seen: None,
            pending: BTreeMap::new(),
            pace: Pace::Stopping,
            at: 0,
            passes: Vec::new(),
            ends: Vec::new(),
            faults: Vec::new(),
            limits: Vec::new(),
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

    /// Makes all variables.
    fn declare(&mut self) {
        let n_bits = bits_for(self.threads.len());
        self.schedule =
            (0..n_bits).map(|bit| self.circuit.input(format!("thread.{bit}"))).collect();
        self.excused = self.variable("excused".to_owned(), 1, 0);
        self.n_excused = self.variable("excuses".to_owned(), 8, 0);
        let threads = self.threads;
        for (number, thread) in threads.iter().enumerate() {
            // Those that are there from the beginning stand behind the stations that all have.
            let begin = if thread.parent.is_none() { STUCK + 1 } else { UNBORN };
            let width = self.plan.pc_bits[number];
            let pc = self.variable(format!("pc {number}"), width, begin as u64);
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

    /// Makes the registers of a thread. What they hold before the first step is known at its first
    /// station, and so they hold nothing.
    fn declare_registers(&mut self, number: usize, thread: &Thread) {
        let mut is_live = vec![false; thread.n_registers];
        for register in thread.stops.iter().flat_map(|stop| &stop.live) {
            is_live[*register] = true;
        }
        self.registers.push(self.variables.len());
        for (context, info) in thread.contexts.iter().enumerate() {
            let routine = self.known.program.routine(info.routine);
            for (idx, register) in routine.registers.iter().enumerate() {
                let name = format!("{number}.{context}.{}%{idx}", register.name);
                let width = register.ty.bits() as usize;
                match is_live[info.first_register + idx] {
                    true => self.variable(name, width, 0),
                    false => self.variables.add_constant(width, 0),
                };
            }
        }
    }

    fn variable(&mut self, name: String, width: usize, init: u64) -> VarId {
        let known = self.plan.constants.as_ref().map(|all| &all[self.variables.len()][..]);
        self.variables.add(&mut self.circuit, name, width, init, known)
    }

    /// Bits of what comes in, for whoever takes the step of the frame. They are used once in a step.
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

    /// Makes it a violation if a way is taken where something is not so; the way goes on where it is.
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
                *access == Access::Atomic || self.options.plain_steps
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
                self.refuse("a program of this size", self.span);
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

    /// The station of a thread that comes to a stop and knows this. Where stops are passed, there may
    /// be none: all were found without passing any.
    fn station(&mut self, thread: usize, stop: usize, facts: Facts) -> Option<StationId> {
        match self.plan.merging {
            Some(_) => self.stations.find(thread, stop, &facts),
            None => Some(self.stations.enter(thread, stop, facts)),
        }
    }

    /// Where a thread may be first.
    fn first_stations(&self, thread: usize) -> Vec<StationId> {
        match self.threads[thread].parent {
            Some(_) => self.born_at[thread].iter().copied().collect(),
            None => vec![STUCK + 1],
        }
    }

    /// The same circuit with every step that nobody could disturb as a part of the step before.
    fn merged(self) -> Plan {
        let touches: Vec<Touches> = self.parts.iter().map(Touches::of).collect();
        let passable = undisturbed(&self, &touches);
        let (stations, locks) = (self.stations, self.locks);
        Plan { merging: Some(Merging { stations, locks, touches, passable }), ..self.plan }
    }

    /// The same without passes in which something goes wrong.
    fn without_failing(self) -> Plan {
        let mut plan = self.plan;
        if let Some(merging) = &mut plan.merging {
            for (thread, station) in self.failing {
                match station {
                    Some(station) => drop(merging.passable.remove(&(thread, station))),
                    None => {
                        assert!(!merging.passable.is_empty(), "stations are found again");
                        merging.passable.clear();
                    }
                }
            }
        }
        plan
    }

    /// What a thread knows that is there from the beginning.
    fn first_facts(&self, number: usize, stop: usize) -> Facts {
        let first = self.registers[number];
        let arguments = &self.known.program.processes[number].arguments;
        let it = &self.threads[number];
        let given = |register: usize| arguments.get(register).copied().unwrap_or(0);
        // The registers of the root come first.
        let live = it.stops[stop].live.iter();
        let registers = live.map(|&register| {
            let width = self.variables.word(first + register).width();
            (first + register, given(register) & (u64::MAX >> (64 - width)))
        });
        let owned = self.owned[number].iter().map(|&it| (it, self.variables.init(it)));
        registers.chain(owned).collect()
    }

    fn reach(&mut self, thread: usize, station: StationId) {
        if self.reached.insert((thread, station)) {
            self.to_make.insert((thread, station));
        }
    }

    /// Whether a thread has more stations than its program counter has values.
    fn has_outgrown_counters(&self) -> bool {
        self.pc_bits().iter().zip(&self.plan.pc_bits).any(|(needed, has)| needed > has)
    }

    /// How many bits the program counters need.
    fn pc_bits(&self) -> Vec<usize> {
        (0..self.threads.len()).map(|it| bits_for(self.stations.count(it))).collect()
    }

    /// Gives latches their next values, and says what is known then.
    ///
    /// What the plan says holds if it holds before the first step and every step keeps it. That it was
    /// so in another circuit is no reason: there, other registers may have been known.
    fn learn(&mut self) -> Learnt {
        let writers = self.writers();
        let owners = &self.plan.owners;
        let is_disowned = |(variable, threads): (&VarId, &BTreeSet<usize>)| {
            let owner = owners.get(variable)?;
            threads.iter().any(|thread| thread != owner).then_some(*variable)
        };
        let disowned = writers.iter().filter_map(is_disowned).collect();
        let owner = |(variable, threads): (&VarId, &BTreeSet<usize>)| {
            let mut threads = threads.iter();
            let owner = threads.next()?;
            threads.next().is_none().then_some((*variable, *owner))
        };
        let owners = writers.iter().filter_map(owner).collect();
        let steady = self.connect();
        let (constants, changing) = self.constants(&steady);
        Learnt { constants, owners, pc_bits: self.pc_bits(), changing, disowned }
    }

    /// The threads that change a variable, apart from registers and program counters.
    fn writers(&self) -> BTreeMap<VarId, BTreeSet<usize>> {
        let mut writers: BTreeMap<VarId, BTreeSet<usize>> = BTreeMap::new();
        for (&variable, changes) in &self.changes {
            let is_register = |(number, &first): (usize, &VarId)| {
                (first..first + self.threads[number].n_registers).contains(&variable)
            };
            if self.pcs.contains(&variable) || self.registers.iter().enumerate().any(is_register) {
                continue;
            }
            let of_others =
                changes.iter().filter(|(it, _)| !self.births.contains(&(*it, variable)));
            writers.insert(variable, of_others.map(|((thread, _), _)| *thread).collect());
        }
        writers
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
        next
    }

    /// Whether a variable has a value at the station from which a step is made.
    fn is_there(&self, unchanged: &State, variable: VarId, word: &Word) -> bool {
        let first = self.registers[self.thread];
        let own = first..first + self.threads[self.thread].n_registers;
        if !own.contains(&variable) {
            return *word == unchanged.get(&self.variables, variable);
        }
        // Registers whose values are known or do not matter hold nothing.
        let stop = self.stations.get(self.thread, self.station).stop;
        let is_live = self.threads[self.thread].stops[stop].live.contains(&(variable - first));
        match is_live && unchanged.known(variable).is_none() {
            true => word == self.variables.word(variable),
            false => word.value() == Some(0),
        }
    }

    /// What nobody else changes is what it was in the beginning when a thread begins.
    fn know_first(&self, state: &mut State, number: usize) {
        for &variable in &self.owned[number] {
            let word = self.variables.word(variable);
            if state.get(&self.variables, variable) == *word {
                state.set(variable, Word::constant(word.width(), self.variables.init(variable)));
            }
        }
    }

    /// What a thread knows that comes to a stop.
    fn facts(&self, number: usize, stop: usize, state: &State) -> Facts {
        let first = self.registers[number];
        let live = self.threads[number].stops[stop].live.iter();
        let registers = live.filter_map(|&register| {
            let value = state.get(&self.variables, first + register).value()?;
            Some((first + register, value))
        });
        let owned = self.owned[number].iter().filter_map(|&variable| {
            Some((variable, state.get(&self.variables, variable).value()?))
        });
        registers.chain(owned).collect()
    }

    /// A state in which a thread has come to a stop, from a station or from nowhere, and the station it
    /// is at. Registers that do not matter there or are known are zero, so that states that differ in
    /// nothing else are one.
    fn at_stop(
        &mut self,
        number: usize,
        from: Option<StationId>,
        stop: usize,
        mut state: State,
    ) -> (StationId, State) {
        let facts = match stop {
            UNBORN | ENDED | STUCK => Facts::new(),
            _ => self.facts(number, stop, &state),
        };
        let station = self.station(number, stop, facts).unwrap_or_else(|| {
            self.failing.extend(state.passed.iter().map(|&passed| (self.thread, passed)));
            STUCK
        });
        self.reach(number, station);
        let facts = &self.stations.get(number, station).facts;
        let thread = &self.threads[number];
        let (pc, first) = (self.pcs[number], self.registers[number]);
        let live = &thread.stops[stop].live;
        let own = first..first + thread.n_registers;
        let changed = state.changed.range(own).map(|(&variable, _)| variable);
        let before = from.map(|from| self.stations.get(number, from).stop);
        let before = before.iter().flat_map(|&stop| &thread.stops[stop].live);
        let registers: BTreeSet<VarId> =
            changed.chain(before.map(|register| first + register)).collect();
        for variable in registers {
            let is_kept = self.variables.is_kept(variable);
            if live.contains(&(variable - first)) && !facts.contains_key(&variable) {
                // It may have been known before, and so have been nowhere.
                let word = state.get(&self.variables, variable);
                state.set(variable, word);
            } else if is_kept {
                let width = self.variables.word(variable).width();
                state.set(variable, Word::constant(width, 0));
            } else {
                state.changed.remove(&variable);
            }
        }
        state.set(pc, Word::constant(self.variables.word(pc).width(), station as u64));
        (station, state)
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

    /// Gives every latch its next value. The bits that are no latches, since they are believed never to
    /// change, come back with theirs.
    fn connect(&mut self) -> Vec<((VarId, usize), Lit)> {
        let mut steady = Vec::new();
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
            for (bit, (&latch, &new)) in word.bits().iter().zip(changed.bits()).enumerate() {
                let aig = &mut self.circuit.aig;
                let kept = aig.and(!is_changed, latch);
                let next = aig.or(kept, new);
                match latch.constant() {
                    Some(_) => steady.push(((variable, bit), next)),
                    None => self.circuit.set_next(latch, next),
                }
            }
        }
        steady
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
        let mut meanings = Vec::new();
        for (meaning, lits) in std::mem::take(&mut self.bads) {
            let is_bad = self.circuit.aig.any(lits);
            if is_bad == Lit::FALSE {
                continue;
            }
            self.circuit.bad(is_bad, meaning.name());
            meanings.push(meaning);
        }
        let owner = |&(object, byte): &(ObjectId, usize)| {
            let owner = self.objects[object].bytes[byte];
            Lock { owner: self.variables.word(owner).clone() }
        };
        let locks = self.locks.iter().map(owner).collect();
        let touches = match self.plan.merging {
            Some(merging) => merging.touches,
            None => self.parts.iter().map(Touches::of).collect(),
        };
        let (circuit, threads) = (self.circuit, self.parts);
        let mut encoding = Encoding { circuit, meanings, threads, touches, locks };
        schedule.constrain(&mut encoding);
        encoding.circuit.validate();
        encoding
    }
}

/// How many bits numbers below `n` take.
fn bits_for(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}
