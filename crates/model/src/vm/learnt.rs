//! What all clones of a machine have learnt together, as words: for searches that store states and
//! go on in another process.
//!
//! The bytes of a state have numbers of threads and, where an engine adds them, of objects; these
//! are given out as executions come to them (`names.rs`). A machine that has learnt the same
//! numbers reads the same states. What became of assumptions (`survivors.rs`) is a fact about all
//! executions so far, and ends up in the verdict, so it goes on as well.

use super::Vm;
use super::flat::{KINDS, kind_number};
use crate::Program;
use std::fmt::Debug;

impl Vm {
    /// What tells the program and the way it is run from all others, for a hash of its text. The
    /// folders in the list of its files are no part of it: headers of ours are in another one each
    /// time.
    pub fn identity(&self) -> impl Debug + '_ {
        let spins = &self.machine.spins;
        let how = (spins.is_on, spins.reads_memory, spins.excuses_rounds);
        let how = (self.races, self.machine.finds_leaks, how);
        let mut program = Program::clone(&self.program);
        for file in &mut program.files {
            *file = file.rsplit('/').next().unwrap_or_default().to_owned();
        }
        // They follow from the rest, and name places by their files.
        program.assumptions.clear();
        (program, &*self.code, how)
    }

    /// All numbers that were given out so far, in their order, and what became of assumptions: of
    /// this machine and all its clones.
    pub fn learnt(&self) -> Vec<u32> {
        let mut words = Vec::new();
        self.names().save(|word| words.push(word), kind_number);
        self.machine.survivors.save(|word| words.push(word));
        words
    }

    /// Learns what a machine of the same program has [learnt](Self::learnt). Whether it can be:
    /// these are such words, and the numbers that this machine has given out before are the first
    /// of them.
    pub fn learn(&self, words: &[u32]) -> bool {
        let mut words = words.iter().copied();
        let kind = |number: u32| KINDS.get(number as usize).copied();
        let names = self.names().load(&self.code, &mut words, kind);
        names.is_some()
            && self.machine.survivors.load(&mut words).is_some()
            && words.next().is_none()
    }
}
