//! Next-state functions: who can move, what each latch becomes, and what is known of that.

use super::interference::{Touches, undisturbed};
use super::memory::ObjectId;
use super::plan::{Learnt, Merging, Plan};
use super::state::VarId;
use super::{Encoder, Encoding, Lock, Meaning, StepId, bits_for};
use crate::{Lit, Word};
use std::collections::{BTreeMap, BTreeSet};

impl Encoder<'_> {
    /// The same circuit with every step that no other thread could disturb as a part of the step
    /// before.
    pub(super) fn merged(self) -> Plan {
        let touches: Vec<Touches> = self.parts.iter().map(Touches::of).collect();
        let passable = undisturbed(&self, &touches);
        let (stations, locks) = (self.stations, self.locks);
        Plan { merging: Some(Merging { stations, locks, touches, passable }), ..self.plan }
    }

    /// The same without passes in which something goes wrong.
    pub(super) fn without_failing(self) -> Plan {
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

    /// Whether a thread has more stations than its program counter has values.
    pub(super) fn has_outgrown_counters(&self) -> bool {
        self.pc_bits().iter().zip(&self.plan.pc_bits).any(|(needed, has)| needed > has)
    }

    /// How many bits the program counters need.
    pub(super) fn pc_bits(&self) -> Vec<usize> {
        (0..self.threads.len()).map(|it| bits_for(self.stations.count(it))).collect()
    }

    /// Gives latches their next values, and says what is known then.
    ///
    /// What the plan says holds if it holds before the first step and every step keeps it. That it
    /// was so in another circuit is no reason: there, other registers may have been known.
    pub(super) fn learn(&mut self) -> Learnt {
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

    /// Whether the step of the frame is this one.
    pub(super) fn is_taken(&mut self, (thread, stop): StepId) -> Lit {
        let part = &self.parts[thread];
        self.circuit.aig.and(part.executes, part.stops[stop].is_here)
    }

    /// Whether a thread was chosen for the step of the frame.
    fn is_chosen(&mut self, thread: usize) -> Lit {
        let chosen = Word::from(self.schedule.clone());
        self.circuit.aig.equals_number(&chosen, thread as u64)
    }

    /// Says which threads can move, and that only those do.
    pub(super) fn enable(&mut self) {
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

    /// Gives every latch its next value. The bits that are no latches, since they are believed
    /// never to change, come back with theirs.
    fn connect(&mut self) -> Vec<((VarId, usize), Lit)> {
        let mut steady = Vec::new();
        for (meaning, step, lit) in std::mem::take(&mut self.faulty) {
            let is_taken = self.is_taken(step);
            let is_bad = self.circuit.aig.and(is_taken, lit);
            self.bads.entry(meaning).or_default().push(is_bad);
        }
        for ((thread, station), lit) in std::mem::take(&mut self.racing) {
            let is_here = self.parts[thread].stops[station].is_here;
            let is_bad = self.circuit.aig.and(is_here, lit);
            self.bads.entry(Meaning::Race).or_default().push(is_bad);
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
    pub(super) fn finish(mut self, schedule: &dyn crate::schedule::Scheduler) -> Encoding {
        let is_deadlock = self.deadlock();
        let is_watched = self.plan.watch.is_some();
        if self.options.races && !is_watched {
            let races = self.races();
            self.bads.insert(Meaning::Race, races);
        }
        let moves: Vec<Lit> = self.parts.iter().map(|part| part.executes).collect();
        let moves = self.circuit.aig.any(moves);
        let mut counts = vec![moves];
        if self.options.deadlock {
            self.bads.insert(Meaning::Deadlock, vec![is_deadlock]);
            counts.push(is_deadlock);
        }
        let mut loops = Vec::new();
        if let Some(temporal) = &self.options.temporal
            && let Some(stays) = self.add_automaton(temporal, &mut loops)
        {
            self.bads.insert(Meaning::Stays, vec![stays]);
            counts.push(stays);
        }
        let counts = self.circuit.aig.any(counts);
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
        let temporal = self.options.temporal.clone();
        let mut encoding =
            Encoding { circuit, meanings, loops, temporal, threads, touches, locks, is_watched };
        schedule.constrain(&mut encoding);
        encoding.circuit.validate();
        encoding
    }
}
