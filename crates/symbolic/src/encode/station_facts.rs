//! Where threads come to, and what they know there.

use super::Encoder;
use super::graph::{ENDED, STUCK, UNBORN};
use super::state::{State, VarId};
use super::station::{Facts, StationId};
use crate::Word;
use std::collections::BTreeSet;

impl Encoder<'_> {
    /// A thread may come to a station, so its steps from there have to be made.
    pub(super) fn reach(&mut self, thread: usize, station: StationId) {
        if self.reached.insert((thread, station)) {
            self.to_make.insert((thread, station));
        }
    }

    /// The station of a thread that comes to a stop and knows this. Where stops are passed, there
    /// may be none: all were found without passing any.
    pub(super) fn station(
        &mut self,
        thread: usize,
        stop: usize,
        facts: Facts,
    ) -> Option<StationId> {
        match self.plan.merging {
            Some(_) => self.stations.find(thread, stop, &facts),
            None => Some(self.stations.enter(thread, stop, facts)),
        }
    }

    /// Where a thread may be first.
    pub(super) fn first_stations(&self, thread: usize) -> Vec<StationId> {
        match self.threads[thread].parent {
            Some(_) => self.born_at[thread].iter().copied().collect(),
            None => vec![STUCK + 1],
        }
    }

    /// What a thread knows that is there from the beginning.
    pub(super) fn first_facts(&self, number: usize, stop: usize) -> Facts {
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

    /// What no other thread changes is what it was in the beginning when a thread begins.
    pub(super) fn know_first(&self, state: &mut State, number: usize) {
        for &variable in &self.owned[number] {
            let word = self.variables.word(variable);
            if state.get(&self.variables, variable) == *word {
                state.set(variable, Word::constant(word.width(), self.variables.init(variable)));
            }
        }
    }

    /// What a thread knows that comes to a stop.
    pub(super) fn facts(&self, number: usize, stop: usize, state: &State) -> Facts {
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

    /// Whether a variable has a value at the station from which a step is made.
    pub(super) fn is_there(&self, unchanged: &State, variable: VarId, word: &Word) -> bool {
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

    /// A state in which a thread has come to a stop, from a station or from nowhere, and the
    /// station it is at. Registers that do not matter there or are known are zero, so that states
    /// that differ in nothing else are one.
    pub(super) fn at_stop(
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
}
