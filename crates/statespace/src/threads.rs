//! Threads that share memory, as a graph of states: programs that [`Vm`] runs.
//!
//! A move is a step of the machine: one operation, and what nobody else can see behind it. Every access
//! to shared memory is an operation here, also a plain one; two that are possible at once are a data
//! race.

use crate::transitions::{Moves, Safety, Step, Stuck, Successor, Transitions};
use mazurka_core::{
    Assumption, Decision, Ending, Next, ObjectId, Operation, Property, Schedule, System, ThreadId,
    Told, Violation, ViolationKind,
};
use mazurka_model::{Conflict, Expr, Program, Races, Vm, VmError};

/// A program of threads.
#[derive(Clone, Debug)]
pub struct Threads {
    vm: Vm,
    /// Whether a data race is wrong.
    finds_races: bool,
    propositions: Vec<Expr>,
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
        let vm = Vm::new(program, Races::Allow)?;
        Ok(Self { vm, finds_races: races == Races::Error, propositions: Vec::new() })
    }

    /// Makes it a violation if the program ends while there are blocks that nothing leads to.
    pub fn finding_leaks(self) -> Self {
        Self { vm: self.vm.finding_leaks(), ..self }
    }

    /// The same, for a property over these propositions: truth values about objects of the program.
    pub fn watching(self, propositions: Vec<Expr>) -> Self {
        Self { propositions, ..self }
    }

    /// The machine that runs it, at its beginning.
    pub fn vm(&self) -> Vm {
        let mut vm = self.vm.clone();
        vm.reset();
        vm
    }

    fn step(&mut self, step: Step) -> Result<(), Violation> {
        let thread = ThreadId::new(step.process as usize);
        let decision = Decision { thread, choice: step.choice };
        self.vm.step(decision).map(drop).map_err(|failure| failure.violation)
    }

    fn race(&self, Conflict { threads, object }: Conflict) -> Violation {
        let [first, second] = threads.map(|thread| self.vm.thread_name(thread).into_owned());
        let object = self.vm.object_name(object);
        let message = format!("{first} and {second} access {object}, and nothing orders them");
        Violation { kind: ViolationKind::Race, message }
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
            location: self.vm.location(thread),
        }
    }

    fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.vm.n_threads()).map(ThreadId::new)
    }
}

/// What a reduction may make of an operation without knowing what the others will do.
fn safety(operation: Operation) -> Safety {
    match operation {
        // Nobody else can see it; but the thread may end behind it, and somebody wait for that.
        Operation::Yield | Operation::Choose => Safety::Commutes,
        _ => Safety::Dependent,
    }
}

impl Transitions for Threads {
    fn initial(&mut self, state: &mut Vec<u8>) {
        self.vm.reset();
        self.vm.save(state);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        self.vm.restore(state);
        let race = self.vm.conflict().filter(|_| self.finds_races);
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
        self.vm.restore(state);
        let waits = |thread| matches!(self.vm.next(thread), Next::Blocked(_));
        self.vm.ending() != Ending::Final || !self.threads().any(waits)
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        self.vm.restore(state);
        let waits = |thread| match self.vm.next(thread) {
            Next::Blocked(operation) => Some(self.told(thread, operation)),
            _ => None,
        };
        let processes: Vec<_> = self.threads().filter_map(waits).collect();
        let message = match processes.len() {
            1 => "1 thread waits for ever".to_owned(),
            n => format!("{n} threads wait for ever"),
        };
        Stuck { violation: Violation { kind: ViolationKind::Deadlock, message }, processes }
    }

    fn violation(&mut self, state: &[u8], step: Step, fault: u32) -> Violation {
        self.vm.restore(state);
        if fault == fault::RACE {
            let conflict = self.vm.conflict().expect("a state has the race that it had before");
            return self.race(conflict);
        }
        self.step(step).expect_err("a step goes wrong again")
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.vm.restore(state);
        let thread = ThreadId::new(step.process as usize);
        let operation = self.vm.next(thread).operation().expect("a step is possible again");
        let mut told = self.told(thread, operation);
        // What goes wrong in it is told elsewhere.
        let _ = self.step(step);
        told.value = self.vm.value();
        vec![told]
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.vm.restore(state);
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
        let race = self.finds_races.then_some(Property::Race);
        let assertion = std::iter::once(Property::Assertion);
        assertion.chain(self.vm.properties()).chain(race).collect()
    }

    fn wrong_end(&self) -> Property {
        Property::Deadlock
    }

    fn assumptions(&self) -> Vec<Assumption> {
        // Whoever goes round for ever moves: to a search of states that is no end, and only a property
        // of executions that never end tells.
        let spins = self.propositions.is_empty().then_some(Assumption::NoSpinning);
        let races = (!self.finds_races).then_some(Assumption::RacesAllowed);
        let of_program = self.vm.program().assumptions.iter().cloned();
        of_program.chain(races).chain(spins).collect()
    }
}
