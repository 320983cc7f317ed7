//! Executions of a circuit as schedules of the machine.
//!
//! A step of the circuit is one of the machine, or none: beginning a thread, going round a loop in
//! which nothing is visible, and, where plain accesses are invisible to the machine, those. The machine
//! is followed on the way, since it numbers threads by what happens, and the circuit before anything
//! does.

use crate::encode::{Choice, Gate};
use crate::{Encoding, Meaning, Property, Simulation, Witness, WitnessError};
use mazurka_core::{Decision, Next, Operation, Schedule, System as _, ThreadId};
use mazurka_model::Vm;

/// An execution of a circuit as the machine takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// The schedule, with threads numbered by birth.
    pub schedule: Schedule,
    /// What the execution shows.
    pub meaning: Meaning,
    /// Whether the machine could take every step. If it could not, something was wrong before: where
    /// there are data races, the two need not do the same.
    pub is_whole: bool,
}

impl Encoding {
    /// The schedule under which a machine does what a witness shows. The machine has to be a new one,
    /// for the program that was encoded.
    pub fn lift(&self, witness: &Witness, vm: &mut Vm) -> Result<Lifted, WitnessError> {
        let simulation = self.circuit.simulate(witness)?;
        let meaning = match witness.property {
            Property::Bad(idx) => self.meanings[idx].clone(),
            Property::Justice { .. } => return Err(WitnessError::Shape),
        };
        // What is wrong with a state is wrong before its step.
        let n_steps = match meaning {
            Meaning::Deadlock | Meaning::Race => simulation.n_frames() - 1,
            Meaning::Violation(_) | Meaning::Bound(_) => simulation.n_frames(),
        };
        vm.reset();
        let mut follower = Follower::new(self, vm);
        // A step in which something else goes wrong does nothing to others: they do the same without it.
        let is_wrong = |frame: usize| {
            let bads = self.circuit.bads.iter().zip(&self.meanings);
            let mut faults = bads.filter(|(_, it)| matches!(it, Meaning::Violation(_)));
            faults.any(|(bad, _)| simulation.value(frame, bad.lit))
        };
        let is_last = |frame: usize| frame + 1 == simulation.n_frames();
        let mut frames = (0..n_steps).filter(|&frame| is_last(frame) || !is_wrong(frame));
        let is_whole = frames.all(|frame| follower.follow(&simulation, frame));
        if n_steps < simulation.n_frames() {
            follower.begin_all();
        }
        Ok(Lifted { schedule: follower.schedule, meaning, is_whole })
    }

    /// The same with a machine that holds whoever spins, as searches have it, if that can take every step;
    /// else with one that holds nobody. Tells which it was, too.
    pub fn lift_by(
        &self,
        witness: &Witness,
        machine: impl Fn() -> Vm,
    ) -> Result<(Lifted, Vm), WitnessError> {
        let mut holding = machine().holding_spins();
        let lifted = self.lift(witness, &mut holding)?;
        if lifted.is_whole {
            return Ok((lifted, holding));
        }
        let mut vm = machine();
        Ok((self.lift(witness, &mut vm)?, vm))
    }
}

struct Follower<'a> {
    encoding: &'a Encoding,
    vm: &'a mut Vm,
    schedule: Schedule,
    /// For each thread of the circuit, the machine's.
    threads: Vec<Option<ThreadId>>,
    /// The machine's threads in the order of their births.
    births: Vec<ThreadId>,
    has_failed: bool,
}

impl<'a> Follower<'a> {
    fn new(encoding: &'a Encoding, vm: &'a mut Vm) -> Self {
        let n_first = vm.program().processes.len();
        let births: Vec<ThreadId> = (0..n_first).map(ThreadId::new).collect();
        let mut threads: Vec<Option<ThreadId>> = births.iter().copied().map(Some).collect();
        threads.resize(encoding.threads.len(), None);
        Self { encoding, vm, schedule: Schedule::new(), threads, births, has_failed: false }
    }

    /// Takes the step of a frame; says whether that was possible.
    fn follow(&mut self, simulation: &Simulation, frame: usize) -> bool {
        let holds = |lit| simulation.value(frame, lit);
        let threads = &self.encoding.threads;
        let Some(number) = threads.iter().position(|thread| holds(thread.executes)) else {
            return true;
        };
        let stops = &threads[number].stops;
        let stop = stops.iter().find(|stop| holds(stop.is_here)).expect("a thread is somewhere");
        let passes = stop.passes.iter().filter(|pass| holds(pass.taken)).map(|pass| &pass.gate);
        let mut gates = std::iter::once(&stop.gate).chain(passes);
        gates.all(|gate| self.follow_gate(simulation, frame, number, gate))
    }

    /// Takes a step that is one of the machine, or a part of one of the circuit.
    fn follow_gate(
        &mut self,
        simulation: &Simulation,
        frame: usize,
        number: usize,
        gate: &Gate,
    ) -> bool {
        let holds = |lit| simulation.value(frame, lit);
        let Some(thread) = self.threads[number].filter(|_| !self.has_failed) else {
            return self.has_failed;
        };
        // The machine may need a step to begin with where the circuit has none.
        if self.vm.is_to_begin(thread) {
            self.take(thread, Operation::Yield, 0);
        }
        if !holds(gate.counts) || self.has_failed {
            return true;
        }
        let Next::Enabled { operation, choices } = self.vm.next(thread) else { return false };
        if let (Operation::Spawn(child), Choice::Started(started)) = (operation, &gate.choice) {
            let started = started.iter().find(|(is_it, _)| holds(*is_it));
            if let Some(&(_, number)) = started {
                self.threads[number] = Some(child);
            }
        }
        let choice = self.choice(simulation, frame, gate);
        if choice >= choices {
            return false;
        }
        self.take(thread, operation, choice);
        true
    }

    /// Lets threads begin that have done so in the circuit, by being started.
    fn begin_all(&mut self) {
        for thread in self.births.clone() {
            if !self.has_failed && self.vm.is_to_begin(thread) {
                self.take(thread, Operation::Yield, 0);
            }
        }
    }

    fn take(&mut self, thread: ThreadId, operation: Operation, choice: u32) {
        let born = self.births.iter().position(|&born| born == thread);
        let number = born.expect("whoever moves was born");
        self.schedule.push(Decision { thread: ThreadId::new(number), choice });
        self.has_failed = self.vm.step(Decision { thread, choice }).is_err();
        if let Operation::Spawn(child) = operation {
            self.births.push(child);
        }
    }

    /// Which alternative of the machine's step is taken.
    fn choice(&self, simulation: &Simulation, frame: usize, gate: &Gate) -> u32 {
        let holds = |lit| simulation.value(frame, lit);
        match &gate.choice {
            Choice::None | Choice::Started(_) => 0,
            Choice::Number(word) => {
                let bits = word.bits().iter().enumerate();
                bits.map(|(idx, &bit)| u32::from(holds(bit)) << idx).sum()
            }
            Choice::Woken { sleepers, woken } => {
                let woken = woken.iter().position(|&it| holds(it));
                let woken = woken.and_then(|number| self.threads[number]);
                let sleepers = sleepers.iter().enumerate().filter(|(_, it)| holds(**it));
                let before = sleepers.filter(|(number, _)| self.threads[*number] < woken);
                before.count() as u32
            }
        }
    }
}
