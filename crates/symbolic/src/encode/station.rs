//! Stations: stops of a thread, told apart by what is known there.
//!
//! A thread that comes to a stop knows some of its variables: the counter of a loop, the arguments
//! of a function, which lock it holds. What no other thread changes is the same whenever the thread
//! is there, so each set of such values is a station of its own, with a number of its own in the
//! program counter. The step from there is made for these values: an index is a number, and so is
//! the element it leads to.
//!
//! A stop with many stations keeps only what they have in common.

use super::graph::StopId;
use super::state::VarId;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Variables with known values.
pub(crate) type Facts = BTreeMap<VarId, u64>;

/// A station of a thread, by its number: the value of its program counter.
pub(crate) type StationId = usize;

/// A stop with this many stations gets only such that know less.
const MOST: usize = 16;

/// A stop, and what is known there.
#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub(crate) stop: StopId,
    pub(crate) facts: Rc<Facts>,
}

/// The stations of all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stations {
    threads: Vec<Vec<Station>>,
    of_stop: BTreeMap<(usize, StopId), Vec<StationId>>,
}

impl Stations {
    /// For so many threads, each with the first stops, about which nothing is known.
    pub(crate) fn new(n_threads: usize, first: &[StopId]) -> Self {
        let mut stations = Self { threads: vec![Vec::new(); n_threads], of_stop: BTreeMap::new() };
        for thread in 0..n_threads {
            for &stop in first {
                stations.add(thread, stop, Facts::new());
            }
        }
        stations
    }

    /// How many a thread has.
    pub(crate) fn count(&self, thread: usize) -> usize {
        self.threads[thread].len()
    }

    pub(crate) fn get(&self, thread: usize, station: StationId) -> &Station {
        &self.threads[thread][station]
    }

    /// The station of a thread that comes to a stop and knows this.
    pub(crate) fn enter(&mut self, thread: usize, stop: StopId, facts: Facts) -> StationId {
        let others = self.of_stop.get(&(thread, stop)).map_or(&[][..], |all| &all[..]);
        let same = others.iter().copied().find(|&it| *self.threads[thread][it].facts == facts);
        if let Some(same) = same {
            return same;
        }
        if others.len() < MOST {
            return self.add(thread, stop, facts);
        }
        if let Some(known) = self.find(thread, stop, &facts) {
            return known;
        }
        let mut common = facts;
        for &other in others {
            let other = &self.threads[thread][other].facts;
            common.retain(|variable, value| other.get(variable) == Some(value));
        }
        self.add(thread, stop, common)
    }

    /// The station that knows the most of what is true.
    pub(crate) fn find(&self, thread: usize, stop: StopId, facts: &Facts) -> Option<StationId> {
        let all = self.of_stop.get(&(thread, stop))?.iter().copied();
        let are_true = |it: &StationId| {
            let own = &self.threads[thread][*it].facts;
            own.iter().all(|(variable, value)| facts.get(variable) == Some(value))
        };
        all.filter(are_true).max_by_key(|&it| self.threads[thread][it].facts.len())
    }

    fn add(&mut self, thread: usize, stop: StopId, facts: Facts) -> StationId {
        let number = self.threads[thread].len();
        self.threads[thread].push(Station { stop, facts: Rc::new(facts) });
        self.of_stop.entry((thread, stop)).or_default().push(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(values: &[(VarId, u64)]) -> Facts {
        values.iter().copied().collect()
    }

    #[test]
    fn a_stop_with_many_stations_keeps_what_they_have_in_common() {
        let mut stations = Stations::new(1, &[0]);
        for count in 0..MOST {
            stations.enter(0, 7, facts(&[(1, count as u64), (2, 5)]));
        }
        assert_eq!(stations.count(0), MOST + 1);
        let general = stations.enter(0, 7, facts(&[(1, 99), (2, 5)]));
        assert_eq!(*stations.get(0, general).facts, facts(&[(2, 5)]));
        assert_eq!(stations.enter(0, 7, facts(&[(1, 100), (2, 5)])), general);
        // One that was there before is still the better one.
        assert_eq!(stations.enter(0, 7, facts(&[(1, 3), (2, 5)])), 4);
        let nothing = stations.enter(0, 7, facts(&[(1, 3), (2, 6)]));
        assert!(stations.get(0, nothing).facts.is_empty());
    }
}
