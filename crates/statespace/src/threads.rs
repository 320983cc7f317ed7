//! Threads that share memory, as a graph of states: programs that [`Vm`] runs.
//!
//! A move is a step of the machine: one operation, and what no other thread can see behind it. How
//! data races are found depends on the program.
//!
//! - Where a thread finds out what others did only if that happens before it, every access to
//!   shared memory is an operation, also a plain one, and two that are possible at once are a data
//!   race: of an execution in which nothing orders two accesses, what happens before them is an
//!   execution, too, and behind that both are possible.
//! - Elsewhere ([`Program::has_unordered_news`]: a relaxed load may tell, or a lock that is not
//!   free), plain accesses are no operations, and one of them is tracked: see `tracked_access.rs`.
//!   This is for finding data races only. Without them, and for properties of executions, accesses
//!   are operations.

use crate::saved::fingerprint;
use crate::tracked_access::{self, Race, Taken, Tracked, waiting_with};
use crate::transitions::{Moves, Safety, Step, Stuck, Successor, Transitions};
use mazurka_core::{
    Assumption, Decision, Ending, LineCoverage, Next, ObjectId, Operation, Property, Schedule,
    System, ThreadId, ThreadSet, Told, Violation, ViolationKind,
};
use mazurka_model::{Action, Conflict, Expr, Program, Races, Routine, Vm, VmError};

/// A program of threads.
#[derive(Clone, Debug)]
pub struct Threads {
    vm: Vm,
    detection: Detection,
    finds_leaks: bool,
    propositions: Vec<Expr>,
}

/// How data races are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// They are not.
    None,
    /// By two accesses that are possible at once.
    Adjacent,
    /// By an access that is tracked.
    Tracked,
}

/// What the numbers of faults mean.
mod fault {
    /// The step says what.
    pub(super) const STEP: u32 = 0;
    /// The state has a data race.
    pub(super) const RACE: u32 = 1;
}

impl Threads {
    /// The states of `program`, or everything in it that the machine does not run.
    pub fn new(program: Program, races: Races) -> Result<Self, Vec<VmError>> {
        if races == Races::Allow || !program.has_unordered_news() {
            return Self::stepping(program, races);
        }
        let channels = channels_of(&program);
        if !channels.is_empty() {
            return Err(channels);
        }
        let vm = Vm::new(program, Races::Error)?.excusing_rounds();
        let detection = Detection::Tracked;
        Ok(Self { vm, detection, finds_leaks: false, propositions: Vec::new() })
    }

    /// The states of `program` with every access a step of its own. Of the data races in it, only
    /// those are found of which both accesses are possible at once: all of them, unless there are
    /// [news without order](Program::has_unordered_news).
    pub fn stepping(program: Program, races: Races) -> Result<Self, Vec<VmError>> {
        let vm = Vm::new(program, Races::Allow)?;
        let detection = match races {
            Races::Error => Detection::Adjacent,
            Races::Allow => Detection::None,
        };
        Ok(Self { vm, detection, finds_leaks: false, propositions: Vec::new() })
    }

    /// Makes it a violation if the program ends while there are blocks that nothing leads to.
    pub fn finding_leaks(self) -> Self {
        Self { vm: self.vm.finding_leaks(), finds_leaks: true, ..self }
    }

    /// Notes which lines executions come to.
    pub fn noting_lines(self) -> Self {
        Self { vm: self.vm.noting_lines(), ..self }
    }

    /// The lines that there is code for, and whether any execution came there, if that is noted.
    pub fn lines(&self) -> Option<LineCoverage> {
        self.vm.lines()
    }

    /// Whether an access is tracked: the steps are then those of the machine for [`Races::Error`],
    /// and not those of the same program that is [watched](Self::watching).
    pub fn tracks_accesses(&self) -> bool {
        self.detection == Detection::Tracked
    }

    /// The same, for a property over these propositions: truth values about objects of the program.
    /// Every access is a step then. If one [was tracked](Self::tracks_accesses), data races are not
    /// looked for, but left to a search without propositions.
    pub fn watching(self, propositions: Vec<Expr>) -> Self {
        if !self.tracks_accesses() {
            return Self { propositions, ..self };
        }
        let program = self.vm.program().clone();
        let stepping = Self::stepping(program, Races::Allow).expect("the machine ran it before");
        let stepping = if self.finds_leaks { stepping.finding_leaks() } else { stepping };
        Self { propositions, ..stepping }
    }

    /// The machine that runs it, at its beginning.
    pub fn vm(&self) -> Vm {
        let mut vm = self.vm.clone();
        vm.reset();
        vm
    }

    /// The two threads that are about to race in the state of `vm`, a machine of
    /// [these states](Self::vm), and the race. Where an access is
    /// [tracked](Self::tracks_accesses), the machine tells races itself.
    pub fn adjacent_race(&self, vm: &Vm) -> Option<([ThreadId; 2], Violation)> {
        let conflict = vm.conflict().filter(|_| self.detection == Detection::Adjacent)?;
        Some((conflict.threads, race(vm, conflict)))
    }

    fn step(&mut self, step: Step) -> Result<(), Violation> {
        let thread = ThreadId::new(step.process as usize);
        let decision = Decision { thread, choice: step.choice };
        self.vm.step(decision).map(drop).map_err(|failure| failure.violation)
    }

    fn tracked_race(&self, Race { memory, sides }: Race) -> Violation {
        let name = self.vm.memory_name(memory);
        let [first, second] = sides.map(|(thread, is_write)| {
            let what = if is_write { "writes" } else { "reads" };
            format!("{} {what} it", self.vm.thread_name(thread))
        });
        let message =
            format!("data race on `{name}`: {first} and {second}, and nothing orders the two");
        Violation::new(ViolationKind::Race, message)
    }

    /// Goes to a state; says what is tracked in it.
    fn restore(&mut self, state: &[u8]) -> Option<Tracked> {
        if !self.tracks_accesses() {
            self.vm.restore(state);
            return None;
        }
        let (state, tracked) = tracked_access::restore(state);
        self.vm.restore(state);
        tracked
    }

    /// The threads that can still move, now or later.
    fn alive(&self) -> ThreadSet {
        let lives = |thread: &ThreadId| {
            matches!(self.vm.next(*thread), Next::Enabled { .. } | Next::Blocked(_))
        };
        self.threads().filter(lives).collect()
    }

    /// Tells all steps of a state in which `before` is tracked, or nothing.
    fn expand_tracking(&mut self, before: Option<&Tracked>, moves: &mut Moves) {
        let mut successor = Vec::new();
        for thread in self.threads() {
            let Next::Enabled { operation, choices } = self.vm.next(thread) else { continue };
            let waiting = waiting_with(&self.vm, operation);
            let mut safety = safety(operation);
            for choice in 0..choices {
                let result = self.vm.step(Decision { thread, choice });
                let effect = result.as_ref().map_or_else(|failure| failure.effect, |it| *it);
                let taken = Taken::of(&self.vm, thread, operation, effect, waiting);
                if taken.has_accesses() {
                    safety = Safety::Dependent;
                }
                // Nothing comes after a step that goes wrong, and only one access is tracked.
                let n_begins =
                    if before.is_none() && result.is_ok() { taken.n_moments() } else { 0 };
                let alive = self.alive();
                successor.clear();
                self.vm.save(&mut successor);
                let len = successor.len();
                for edge in 0..=n_begins {
                    let step = Step { process: thread.index() as u32, edge, choice, partner: None };
                    let mut tracked = before.cloned();
                    let race = taken.follow(&mut tracked, edge);
                    let is_tracking = tracked.is_some();
                    if race.is_some() {
                        moves.fault(fault::RACE);
                        moves.push(step, Successor::None, &[]);
                    } else if result.is_err() {
                        // Where something is tracked, it was found without.
                        if !is_tracking {
                            moves.fault(fault::STEP);
                            moves.push(step, Successor::None, &[]);
                        }
                    } else if tracked.as_mut().is_none_or(|it| it.tidy(alive)) {
                        tracked_access::save(tracked.as_ref(), &mut successor);
                        moves.push(step, Successor::Stored, &successor);
                        successor.truncate(len);
                    }
                }
                self.vm.rewind(&Schedule::new(), 0).expect("a step can be undone");
            }
            moves.close(thread.index() as u32, safety, true);
        }
    }

    fn name(&self, object: ObjectId) -> Option<String> {
        Some(self.vm.object_name(object).into_owned())
    }

    /// What a thread is about to do, for people.
    fn told(&self, thread: ThreadId, operation: Operation) -> Told {
        let object = match operation {
            Operation::Spawn(other) | Operation::Join(other) => {
                Some(self.vm.thread_name(other).into_owned())
            }
            _ => operation.object().and_then(|object| self.name(object)),
        };
        Told {
            thread: self.vm.thread_name(thread).into_owned(),
            operation: operation.name().to_owned(),
            object,
            value: None,
            raw: None,
            order: None,
            location: self.vm.location(thread),
        }
    }

    fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.vm.n_threads()).map(ThreadId::new)
    }
}

/// What a reduction may make of an operation without knowing what the others will do.
fn race(vm: &Vm, Conflict { threads, object }: Conflict) -> Violation {
    let [first, second] = threads.map(|thread| vm.thread_name(thread).into_owned());
    let object = vm.object_name(object);
    let message = format!("{first} and {second} access {object}, and nothing orders them");
    Violation::new(ViolationKind::Race, message)
}

fn safety(operation: Operation) -> Safety {
    match operation {
        // No other thread can see it; but this one may end behind it, and another one wait for
        // that.
        Operation::Yield | Operation::Choose => Safety::Commutes,
        _ => Safety::Dependent,
    }
}

/// The channels of a program, as what is not run: who learns what from a message is not tracked.
fn channels_of(program: &Program) -> Vec<VmError> {
    let edges = program.routines.iter().flat_map(Routine::edges);
    let is_queued = |action: &Action| {
        matches!(
            action,
            Action::Send(_) | Action::TrySend(..) | Action::Receive(_) | Action::TryReceive(..)
        )
    };
    let queued = edges.filter(|(_, edge)| is_queued(&edge.action));
    let what = "a channel in a program whose threads find out more than is ordered";
    queued.map(|(_, edge)| VmError { what: what.to_owned(), span: edge.span }).collect()
}

impl Transitions for Threads {
    fn initial(&mut self, state: &mut Vec<u8>) {
        self.vm.reset();
        self.vm.save(state);
        if self.tracks_accesses() {
            tracked_access::save(None, state);
        }
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        let tracked = self.restore(state);
        if self.tracks_accesses() {
            return self.expand_tracking(tracked.as_ref(), moves);
        }
        let race = self.vm.conflict().filter(|_| self.detection == Detection::Adjacent);
        let mut successor = Vec::with_capacity(state.len());
        for thread in self.threads() {
            let Next::Enabled { operation, choices } = self.vm.next(thread) else { continue };
            let process = thread.index() as u32;
            for choice in 0..choices {
                let step = Step { process, edge: 0, choice, partner: None };
                let result = self.step(step);
                successor.clear();
                self.vm.save(&mut successor);
                self.vm.rewind(&Schedule::new(), 0).expect("a step can be undone");
                match result {
                    _ if race.is_some_and(|race| race.threads[0] == thread) => {
                        moves.fault(fault::RACE);
                        moves.push(step, Successor::Stored, &successor);
                    }
                    Ok(()) => moves.push(step, Successor::Stored, &successor),
                    Err(_) => {
                        moves.fault(fault::STEP);
                        moves.push(step, Successor::None, &[]);
                    }
                }
            }
            moves.close(process, safety(operation), true);
        }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        // Where something is tracked, a wrong end is found without.
        if self.restore(state).is_some() {
            return true;
        }
        let waits = |thread| matches!(self.vm.next(thread), Next::Blocked(_));
        self.vm.ending() != Ending::Final || !self.threads().any(waits)
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        self.restore(state);
        let waits = |thread| match self.vm.next(thread) {
            Next::Blocked(operation) => Some(self.told(thread, operation)),
            _ => None,
        };
        let processes: Vec<_> = self.threads().filter_map(waits).collect();
        let message = match processes.len() {
            1 => "1 thread waits for ever".to_owned(),
            n => format!("{n} threads wait for ever"),
        };
        Stuck { violation: Violation::new(ViolationKind::Deadlock, message), processes }
    }

    fn violation(&mut self, state: &[u8], step: Step, fault: u32) -> Violation {
        let mut tracked = self.restore(state);
        if fault == fault::RACE && self.tracks_accesses() {
            let thread = ThreadId::new(step.process as usize);
            let operation = self.vm.next(thread).operation().expect("a step is possible again");
            let waiting = waiting_with(&self.vm, operation);
            let result = self.vm.step(Decision { thread, choice: step.choice });
            let effect = result.unwrap_or_else(|failure| failure.effect);
            let taken = Taken::of(&self.vm, thread, operation, effect, waiting);
            let race = taken.follow(&mut tracked, step.edge);
            return self.tracked_race(race.expect("a step completes the race that it did before"));
        }
        if fault == fault::RACE {
            let conflict = self.vm.conflict().expect("a state has the race that it had before");
            return race(&self.vm, conflict);
        }
        self.step(step).expect_err("a step goes wrong again")
    }

    fn decision(&self, moves: &Moves, idx: usize) -> Decision {
        let Step { process, choice, .. } = moves[idx].step;
        Decision { thread: ThreadId::new(process as usize), choice }
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.restore(state);
        let thread = ThreadId::new(step.process as usize);
        let operation = self.vm.next(thread).operation().expect("a step is possible again");
        let mut told = self.told(thread, operation);
        // What goes wrong in it is told elsewhere.
        let _ = self.step(step);
        told.value = self.vm.value();
        vec![told]
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.restore(state);
        self.vm.thread_name(ThreadId::new(process as usize)).into_owned()
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn holds(&mut self, proposition: usize, state: &[u8]) -> bool {
        self.vm.restore(state);
        self.vm.value_of(&self.propositions[proposition]) != 0
    }

    fn letter(&mut self, state: &[u8]) -> u64 {
        self.vm.restore(state);
        let holds = self.propositions.iter().map(|it| u64::from(self.vm.value_of(it) != 0));
        holds.enumerate().fold(0, |letter, (idx, bit)| letter | bit << idx)
    }

    fn faults(&self) -> Vec<Property> {
        let race = (self.detection != Detection::None).then_some(Property::Race);
        let assertion = std::iter::once(Property::Assertion);
        assertion.chain(self.vm.properties()).chain(race).collect()
    }

    fn wrong_end(&self) -> Property {
        Property::Deadlock
    }

    fn assumptions(&self) -> Vec<Assumption> {
        // A thread that goes round for ever moves: to a search of states that is no end, and only a
        // property of executions that never end tells.
        let spins = self.propositions.is_empty().then_some(Assumption::NoSpinning);
        let races = (self.detection == Detection::None).then_some(Assumption::RacesAllowed);
        let of_program = self.vm.program().assumptions.iter().cloned();
        of_program.chain(races).chain(spins).chain(self.vm.vacuous()).collect()
    }

    fn fingerprint(&self) -> Option<u128> {
        // Another version may tell the moves of a state in another order.
        let version = env!("CARGO_PKG_VERSION");
        let how = (self.detection, self.finds_leaks, &self.propositions);
        Some(fingerprint(&(version, self.vm.identity(), how)))
    }

    fn learnt(&self) -> Vec<u32> {
        self.vm.learnt()
    }

    fn learn(&self, words: &[u32]) -> bool {
        self.vm.learn(words)
    }
}
