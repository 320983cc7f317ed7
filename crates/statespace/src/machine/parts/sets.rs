//! Stubborn sets of states that are packed: what processes need is remembered, as their moves are.
//!
//! What a process does next, and what others must leave alone for that ([`Next`]), depends on the
//! parts of a state that are looked at to find it out. These are added to those that its moves
//! depend on, and it is remembered with them. What a process may come to do depends on its own part
//! and on who there is. There are few of both, so each has a number, and whether one is in the way
//! of the other is found out once. A state is not unpacked for that, and no expression is computed.
//!
//! Channels that are told by what others may write ([`has_fixed_uses`]) are left to [`Sets`].

use super::super::code::Code;
use super::super::stubborn::{Next, Processes, Set, Sets, Uses, has_fixed_uses, insert, local_of};
use super::super::view::View;
use super::ByParts;
use super::cut::CONTROL;
use super::fields::Word;
use crate::transitions::Safety;
use rustc_hash::FxHashMap;
use std::cell;
use std::hash::Hash;

/// What processes do next, and what they may come to do.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// Whether it is of use.
    pub(super) is_on: bool,
    nexts: Numbered<(Next, Option<Safety>)>,
    futures: Numbered<Uses>,
    /// By process and number of its value, who there is, and the number of its future.
    of_values: Vec<Vec<(u32, u32)>>,
    /// By number of what is next and of a future, whether that is in the way; as far as it was
    /// asked for.
    interferes: Vec<Vec<Option<bool>>>,
    /// Of the state at hand, by process: the number of what it does next, and of its future.
    pub(super) now: Vec<u32>,
    later: Vec<u32>,
    /// Who has to be in a set with a process, once that was asked for.
    needs: Vec<Option<Set>>,
}

/// Values that have numbers.
#[derive(Clone, Debug)]
struct Numbered<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    fn new() -> Self {
        Self { all: Vec::new(), numbers: FxHashMap::default() }
    }

    fn number(&mut self, value: T) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry(value).or_insert_with(|| {
            all.push(value);
            all.len() as u32 - 1
        })
    }
}

impl Remembered {
    pub(super) fn new(code: &Code) -> Self {
        Self {
            is_on: code.reduces && has_fixed_uses(code),
            nexts: Numbered::new(),
            futures: Numbered::new(),
            of_values: Vec::new(),
            interferes: Vec::new(),
            now: Vec::new(),
            later: Vec::new(),
            needs: Vec::new(),
        }
    }

    /// What a process does next, by a number. What it looks at for that is noted.
    pub(super) fn next(&mut self, sets: &mut Sets, view: View<'_>, process: u32) -> u32 {
        sets.begin_next(view);
        self.nexts.number((sets.next_of(view, process), local_of(view, process)))
    }

    /// Whether something in a future is in the way of what is next.
    #[inline]
    fn is_in_the_way(&mut self, next: u32, future: u32) -> bool {
        let known = self.interferes.get(next as usize).and_then(|row| row.get(future as usize));
        match known {
            Some(Some(known)) => *known,
            _ => {
                let (next, future) = (next as usize, future as usize);
                let found = self.nexts.all[next].0.avoids.interferes(&self.futures.all[future]);
                *super::find::at(&mut self.interferes, next, future) = Some(found);
                found
            }
        }
    }
}

impl Processes for Remembered {
    #[inline]
    fn local(&mut self, process: u32) -> Option<Safety> {
        self.nexts.all[self.now[process as usize] as usize].1
    }

    #[inline]
    fn needs(&mut self, process: u32) -> Set {
        if let Some(known) = self.needs[process as usize] {
            return known;
        }
        let next = self.now[process as usize];
        let mut needs = self.nexts.all[next as usize].0.needs;
        for other in (0..self.later.len()).filter(|&other| other != process as usize) {
            if self.is_in_the_way(next, self.later[other]) {
                insert(&mut needs, other);
            }
        }
        self.needs[process as usize] = Some(needs);
        needs
    }
}

impl ByParts {
    /// Gets ready for the sets of a state of which it is known what its processes do next.
    #[inline]
    pub(super) fn begin_sets(&mut self, word: Word, n_processes: u32) {
        let control = self.bits[CONTROL].get(word);
        self.remembered.later.clear();
        for process in 0..n_processes as usize {
            let number = self.bits[self.cut.process(process)].get(word) as usize;
            let known = self.remembered.of_values.get(process).and_then(|known| known.get(number));
            let future = match known {
                // Nobody is asked about a state without processes.
                Some(&(who, future)) if who == control + 1 => future,
                _ => self.find_future(word, process, number),
            };
            self.remembered.later.push(future);
        }
        self.remembered.needs.clear();
        self.remembered.needs.resize(n_processes as usize, None);
    }

    /// Finds out what a process may come to do.
    #[cold]
    fn find_future(&mut self, word: Word, process: usize, number: usize) -> u32 {
        let mut state = std::mem::take(&mut self.state);
        self.unpack(word, &mut state);
        let control = self.bits[CONTROL].get(word);
        let tables = &mut self.machine.tables;
        tables.scan(&self.machine.code, &state);
        let fault = cell::Cell::new(None);
        let view = View::new(&self.machine.code, &state, tables, false, &fault);
        let uses = Sets::future_of(view, process as u32, 0);
        self.state = state;
        let future = self.remembered.futures.number(uses);
        *super::find::at(&mut self.remembered.of_values, process, number) = (control + 1, future);
        future
    }
}
