//! Executions of a circuit as schedules of the machine.
//!
//! A step of the circuit is one of the machine, or none: beginning a thread, going round a loop in
//! which nothing is visible, and, where plain accesses are invisible to the machine, those. The
//! machine is followed on the way, since it numbers threads by what happens, and the circuit before
//! anything does.
//!
//! An execution that violates a temporal property is held against the automaton and the fairness
//! once more, as the machine has it.

use crate::encode::{Choice, Gate, StopPart};
use crate::{Encoding, Fairness, Meaning, Property, Simulation, Temporal, Witness, WitnessError};
use mazurka_core::{Decision, Next, Operation, Schedule, System as _, ThreadId};
use mazurka_ltl::{Lasso, accepts};
use mazurka_model::{PIECE_BITS, Vm};
use std::collections::BTreeSet;

/// How often the machine goes round a loop of the circuit to come to a state again.
const MOST_ROUNDS: usize = 8;

/// An execution of a circuit as the machine takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// The schedule, with threads numbered by birth.
    pub schedule: Schedule,
    /// What the execution shows.
    pub meaning: Meaning,
    /// Whether the machine could take every step. If it could not, something was wrong before:
    /// where there are data races, the two need not do the same.
    pub is_whole: bool,
    /// What goes on for ever, if it shows that a temporal property is violated.
    pub round: Option<Round>,
}

/// What goes on for ever in an execution, as the machine has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The number of the first step that is repeated; none if no thread can move any more.
    pub start: Option<usize>,
    /// Whether the machine comes back to the same state, if need be after some rounds of the
    /// circuit. Else it comes to one with the same future.
    pub returns: bool,
    /// Who moves in it.
    pub movers: Vec<ThreadId>,
    /// Who could always move in it and never does.
    pub always: Vec<ThreadId>,
    /// Who could move in it again and again, not always, and never does.
    pub often: Vec<ThreadId>,
}

impl Encoding {
    /// The schedule under which a machine does what a witness shows. The machine has to be a new
    /// one, for the program that was encoded.
    pub fn lift(&self, witness: &Witness, vm: &mut Vm) -> Result<Lifted, WitnessError> {
        let simulation = self.circuit.simulate(witness)?;
        let meaning = match witness.property {
            Property::Bad(idx) => self.meanings[idx].clone(),
            Property::Justice { idx, .. } => self.loops[idx].clone(),
        };
        vm.reset();
        let mut follower = Follower::new(self, vm, &simulation);
        let n_frames = simulation.n_frames();
        let mut round = None;
        let is_whole = match (&meaning, witness.property) {
            (Meaning::GoesOn, Property::Justice { loop_start, .. }) => {
                round = follower.go_round(loop_start);
                round.is_some()
            }
            (Meaning::Stays, _) => {
                let is_there = follower.follow_all(0..n_frames - 1);
                follower.begin_all();
                round = follower.stay().filter(|_| is_there);
                round.is_some()
            }
            (Meaning::BadPrefix, _) => {
                let is_there = follower.follow_all(0..n_frames - 1);
                follower.begin_before(n_frames - 1);
                is_there && follower.has_bad_prefix()
            }
            // A thread that is about to make the second access makes it.
            (Meaning::Race, _) if self.is_watched => {
                let is_there = follower.follow_all(0..n_frames);
                follower.begin_all();
                is_there
            }
            // What is wrong with a state is wrong before its step.
            (Meaning::Deadlock | Meaning::Race, _) => {
                let is_there = follower.follow_all(0..n_frames - 1);
                follower.begin_all();
                // Where plain accesses are steps, two that are about to be taken are a race.
                if meaning == Meaning::Race && follower.vm.has_plain_accesses() {
                    follower.access_all(n_frames - 1);
                }
                is_there
            }
            _ => follower.follow_all(0..n_frames),
        };
        Ok(Lifted { schedule: follower.schedule, meaning, is_whole, round })
    }

    /// The same with a machine that holds threads that spin, as searches have it, if that can take
    /// every step; else with one that holds none. Tells which it was, too.
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
    simulation: &'a Simulation,
    schedule: Schedule,
    /// For each thread of the circuit, the machine's.
    threads: Vec<Option<ThreadId>>,
    /// The machine's threads in the order of their births.
    births: Vec<ThreadId>,
    has_failed: bool,
    /// What was there before each step, if there is a temporal property.
    sights: Vec<Sight>,
}

/// A state of the machine as a temporal property sees it, and who moves there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sight {
    letter: u64,
    able: BTreeSet<ThreadId>,
    moves: Option<ThreadId>,
}

impl<'a> Follower<'a> {
    fn new(encoding: &'a Encoding, vm: &'a mut Vm, simulation: &'a Simulation) -> Self {
        let n_first = vm.program().processes.len();
        let births: Vec<ThreadId> = (0..n_first).map(ThreadId::new).collect();
        let mut threads: Vec<Option<ThreadId>> = births.iter().copied().map(Some).collect();
        threads.resize(encoding.threads.len(), None);
        Self {
            encoding,
            vm,
            simulation,
            schedule: Schedule::new(),
            threads,
            births,
            has_failed: false,
            sights: Vec::new(),
        }
    }

    /// Takes the steps of frames; says whether that was possible.
    fn follow_all(&mut self, frames: std::ops::Range<usize>) -> bool {
        let simulation = self.simulation;
        // A step in which something else goes wrong does nothing to others: they do the same
        // without it.
        let encoding = self.encoding;
        let is_wrong = |frame: usize| {
            let bads = encoding.circuit.bads.iter().zip(&encoding.meanings);
            let mut faults = bads.filter(|(_, it)| matches!(it, Meaning::Violation(_)));
            faults.any(|(bad, _)| simulation.value(frame, bad.lit))
        };
        let is_last = |frame: usize| frame + 1 == simulation.n_frames();
        let mut frames = frames.filter(|&frame| is_last(frame) || !is_wrong(frame));
        frames.all(|frame| self.follow(frame))
    }

    /// Takes all steps, of which those from a frame on are a loop; the round that this is, if the
    /// machine goes round, too, and violates the temporal property.
    fn go_round(&mut self, loop_start: usize) -> Option<Round> {
        let n_frames = self.simulation.n_frames();
        let mut goes_on = self.follow_all(0..loop_start);
        self.begin_before(loop_start);
        let mut starts = vec![(self.sights.len(), self.vm.fingerprint())];
        let mut once = None;
        while goes_on && starts.len() <= MOST_ROUNDS {
            goes_on = self.follow_all(loop_start..n_frames) && !self.has_failed;
            let (start, now) = (starts[starts.len() - 1].0, self.vm.fingerprint());
            goes_on &= start < self.sights.len() && self.violation(start).is_some();
            if let Some(&(start, _)) = starts.iter().find(|(_, before)| *before == now) {
                return self.violation(start).filter(|_| goes_on);
            }
            once = once.or_else(|| Some((self.schedule.clone(), self.sights.len())));
            starts.push((self.sights.len(), now));
        }
        // What differs from round to round has no effect on what comes.
        let (schedule, end) = once?;
        self.schedule = schedule;
        self.sights.truncate(end);
        let round = self.violation(starts[0].0).filter(|_| goes_on)?;
        Some(Round { returns: false, ..round })
    }

    /// The round that it is to stay here, if that violates the temporal property.
    fn stay(&mut self) -> Option<Round> {
        let start = self.sights.len();
        let sight = self.sight(None);
        self.sights.extend(sight);
        let is_over = !self.has_failed && self.sights.last()?.able.is_empty();
        self.violation(start).filter(|_| is_over).map(|round| Round { start: None, ..round })
    }

    /// Whether all that was done violates the temporal property, however it goes on.
    fn has_bad_prefix(&self) -> bool {
        let Some((temporal, now)) = self.encoding.temporal.as_ref().zip(self.sight(None)) else {
            return false;
        };
        let letters = self.sights.iter().chain([&now]).map(|it| it.letter);
        let letters: Vec<u64> = letters.collect();
        let universal = temporal.automaton.universal();
        !self.has_failed && temporal.automaton.is_bad_prefix(&universal, &letters)
    }

    /// What goes on from a step on, if that violates the temporal property.
    fn violation(&self, start: usize) -> Option<Round> {
        let temporal = self.encoding.temporal.as_ref()?;
        let letters = self.sights.iter().map(|it| it.letter).collect();
        let word = Lasso { letters, loop_start: start };
        let (movers, always, often) = movers_and_neglected(&self.sights[start..]);
        let is_fair = match temporal.fairness {
            Fairness::None | Fairness::Trace => true,
            Fairness::Weak => always.is_empty(),
            Fairness::Strong => always.is_empty() && often.is_empty(),
        };
        let round = Round { start: Some(start), returns: true, movers, always, often };
        (is_fair && accepts(&temporal.automaton, &word)).then_some(round)
    }

    fn sight(&self, moves: Option<ThreadId>) -> Option<Sight> {
        let Temporal { propositions, .. } = self.encoding.temporal.as_ref()?;
        let holds = propositions.iter().map(|it| u64::from(self.vm.value_of(it) != 0));
        let letter = holds.enumerate().fold(0, |letter, (idx, bit)| letter | bit << idx);
        let is_able = |thread: &ThreadId| matches!(self.vm.next(*thread), Next::Enabled { .. });
        let able = self.births.iter().copied().filter(is_able).collect();
        Some(Sight { letter, able, moves })
    }

    /// Lets threads begin that the circuit has beyond their beginning in a frame.
    fn begin_before(&mut self, frame: usize) {
        let simulation = self.simulation;
        for (part, thread) in self.encoding.threads.iter().zip(self.threads.clone()) {
            let is_first = |stop: &StopPart| stop.is_first && simulation.value(frame, stop.is_here);
            if let Some(thread) = thread.filter(|_| !part.stops.iter().any(is_first))
                && self.vm.is_to_begin(thread)
            {
                self.take(thread, Operation::Yield, 0);
            }
        }
    }

    /// Takes the step of a frame; says whether that was possible.
    fn follow(&mut self, frame: usize) -> bool {
        let simulation = self.simulation;
        let holds = |lit| simulation.value(frame, lit);
        let threads = &self.encoding.threads;
        let Some(number) = threads.iter().position(|thread| holds(thread.executes)) else {
            return true;
        };
        let stops = &threads[number].stops;
        let stop = stops.iter().find(|stop| holds(stop.is_here)).expect("a thread is somewhere");
        let passes = stop.passes.iter().filter(|pass| holds(pass.taken)).map(|pass| &pass.gate);
        let mut gates = std::iter::once(&stop.gate).chain(passes);
        gates.all(|gate| self.follow_gate(frame, number, gate))
    }

    /// Takes a step that is one of the machine, or a part of one of the circuit.
    fn follow_gate(&mut self, frame: usize, number: usize, gate: &Gate) -> bool {
        let simulation = self.simulation;
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
        let choice = self.choice(frame, gate);
        if let Choice::Number(word) = &gate.choice
            && word.width() >= 32
            && choices <= 1 << PIECE_BITS
        {
            return self.take_pieces(thread, choice, word.width().div_ceil(PIECE_BITS as usize));
        }
        match u32::try_from(choice) {
            Ok(choice) if choice < choices => {
                self.take(thread, operation, choice);
                true
            }
            _ => false,
        }
    }

    /// Makes a choice that the machine makes piece by piece.
    fn take_pieces(&mut self, thread: ThreadId, mut choice: u64, n_pieces: usize) -> bool {
        for _ in 0..n_pieces {
            let Next::Enabled { operation: Operation::Choose, choices } = self.vm.next(thread)
            else {
                return false;
            };
            self.take(thread, Operation::Choose, (choice % u64::from(choices)) as u32);
            choice /= u64::from(choices);
        }
        choice == 0
    }

    /// Lets threads begin that have done so in the circuit, by being started.
    fn begin_all(&mut self) {
        for thread in self.births.clone() {
            if !self.has_failed && self.vm.is_to_begin(thread) {
                self.take(thread, Operation::Yield, 0);
            }
        }
    }

    /// Lets every thread that is about to access something by an atomic operation do so. Plain
    /// accesses were made with the steps before them, and no other step can follow them yet. Who is
    /// about to make one in the circuit may have an atomic operation behind it, which others would
    /// learn of: so those come last.
    fn access_all(&mut self, frame: usize) {
        let simulation = self.simulation;
        let is_at_step = |number: &usize| {
            let stops = &self.encoding.threads[*number].stops;
            let here = stops.iter().find(|stop| simulation.value(frame, stop.is_here));
            here.is_some_and(|stop| simulation.value(frame, stop.gate.counts))
        };
        let (first, last): (Vec<usize>, Vec<usize>) =
            (0..self.encoding.threads.len()).partition(is_at_step);
        for number in first.into_iter().chain(last) {
            let Some(thread) = self.threads[number] else { continue };
            if let Next::Enabled { operation, choices: 1 } = self.vm.next(thread)
                && let Operation::Load(_)
                | Operation::Store(_)
                | Operation::ReadModifyWrite(_)
                | Operation::Await(_) = operation
                && !self.has_failed
            {
                self.take(thread, operation, 0);
            }
        }
    }

    fn take(&mut self, thread: ThreadId, operation: Operation, choice: u32) {
        let born = self.births.iter().position(|&born| born == thread);
        let number = born.expect("a thread that moves was born");
        self.schedule.push(Decision { thread: ThreadId::new(number), choice });
        let sight = self.sight(Some(thread));
        self.sights.extend(sight);
        self.has_failed = self.vm.step(Decision { thread, choice }).is_err();
        if let Operation::Spawn(child) = operation {
            self.births.push(child);
        }
    }

    /// Which alternative of the machine's step is taken.
    fn choice(&self, frame: usize, gate: &Gate) -> u64 {
        let holds = |lit| self.simulation.value(frame, lit);
        match &gate.choice {
            Choice::None | Choice::Started(_) => 0,
            Choice::Number(word) => {
                let bits = word.bits().iter().enumerate();
                bits.map(|(idx, &bit)| u64::from(holds(bit)) << idx).sum()
            }
            Choice::Woken { sleepers, woken } => {
                let woken = woken.iter().position(|&it| holds(it));
                let woken = woken.and_then(|number| self.threads[number]);
                let sleepers = sleepers.iter().enumerate().filter(|(_, it)| holds(**it));
                let before = sleepers.filter(|(number, _)| self.threads[*number] < woken);
                before.count() as u64
            }
        }
    }
}

/// Who moves where these are repeated for ever; who could always move there and never does; and who
/// could again and again.
fn movers_and_neglected(round: &[Sight]) -> (Vec<ThreadId>, Vec<ThreadId>, Vec<ThreadId>) {
    let movers: BTreeSet<ThreadId> = round.iter().filter_map(|it| it.moves).collect();
    let able: BTreeSet<ThreadId> = round.iter().flat_map(|it| it.able.iter().copied()).collect();
    let idle = able.difference(&movers).copied();
    let (always, often) = idle.partition(|thread| round.iter().all(|it| it.able.contains(thread)));
    (movers.into_iter().collect(), always, often)
}
