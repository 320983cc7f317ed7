//! Stubborn sets of states that are packed: what processes need is remembered, as their moves are.
//!
//! What a process does next, and what others must leave alone for that ([`Next`]), depends on the
//! parts of a state that are looked at to find it out. These are added to those that its moves
//! depend on, and it is remembered with them. What a process may come to do depends on its own
//! part, on the channels of which it has promised something, and on who there is. There are few of
//! both, so each has a number, and whether one is in the way of the other is found out once. A
//! state is not unpacked for that, and no expression is computed. Most of who needs whom is as it
//! was in the state before: of a process that does the same next, only those are asked for who have
//! another future now.
//!
//! Channels that are told by what others may write ([`has_fixed_uses`]) are left to [`Sets`].

use super::super::code::Code;
use super::super::stubborn::{
    NONE, Next, Processes, Set, Sets, Uses, contains, has_fixed_uses, insert, local_of, remove,
};
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
    /// By process and number of its value, what its future was last.
    of_values: Vec<Vec<Later>>,
    /// By number of what is next and of a future, whether that is in the way; as far as it was
    /// asked for.
    interferes: Vec<Vec<Option<bool>>>,
    /// Of the state at hand, by process: the number of what it does next, and of its future.
    pub(super) now: Vec<u32>,
    later: Vec<u32>,
    /// By process, who has to be in a set with it, as far as that was asked for: of the state at
    /// hand, and mostly of the one before, too.
    rows: Vec<Row>,
    /// The state that the futures are of.
    last: Option<Word>,
}

/// What a process may come to do, and what that depends on beside the value of the process.
#[derive(Clone, Copy, Debug, Default)]
struct Later {
    /// Who there is, by a number from 1 on: a state without processes is not asked about.
    control: u32,
    /// Of which channels it has promised something.
    promised: Word,
    /// The number of its future.
    future: u32,
}

/// Who has to be in a set with a process.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// What the process does next, by its number; [`UNKNOWN`] if that was not asked for.
    next: u32,
    needs: Set,
}

/// The number of nothing that is next.
const UNKNOWN: u32 = u32::MAX;

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
            rows: Vec::new(),
            last: None,
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
    fn n_processes(&self) -> u32 {
        self.later.len() as u32
    }

    #[inline]
    fn local(&mut self, process: u32) -> Option<Safety> {
        self.nexts.all[self.now[process as usize] as usize].1
    }

    #[inline]
    fn needs(&mut self, process: u32) -> Set {
        let (process, next) = (process as usize, self.now[process as usize]);
        let Row { next: known, needs } = self.rows[process];
        if known == next {
            return needs;
        }
        let mut needs = self.nexts.all[next as usize].0.needs;
        for other in (0..self.later.len()).filter(|&other| other != process) {
            if self.is_in_the_way(next, self.later[other]) {
                insert(&mut needs, other);
            }
        }
        self.rows[process] = Row { next, needs };
        needs
    }
}

impl Remembered {
    /// Numbers have other bits from now on.
    pub(super) fn forget(&mut self) {
        self.last = None;
        self.rows.clear();
        self.of_values.clear();
    }

    /// A process has another future than in the state before.
    fn change(&mut self, process: usize, future: u32) {
        self.later[process] = future;
        for other in (0..self.rows.len()).filter(|&other| other != process) {
            let Row { next, mut needs } = self.rows[other];
            // Only what is next still, and was asked for, is of use.
            if next != UNKNOWN && next == self.now[other] {
                remove(&mut needs, process);
                let is_needed = contains(&self.nexts.all[next as usize].0.needs, process);
                if is_needed || self.is_in_the_way(next, future) {
                    insert(&mut needs, process);
                }
                self.rows[other].needs = needs;
            } else {
                self.rows[other].next = UNKNOWN;
            }
        }
    }
}

impl ByParts {
    /// Gets ready for the sets of a state of which it is known what its processes do next.
    #[inline]
    pub(super) fn begin_sets(&mut self, word: Word, n_processes: u32) {
        let control = self.bits[CONTROL].get(word);
        let changed = self.remembered.last.replace(word).map_or(Word::MAX, |last| last ^ word);
        let is_same = changed & self.bits[CONTROL].mask == 0;
        if !is_same {
            let none = Row { next: UNKNOWN, needs: NONE };
            self.remembered.rows.clear();
            self.remembered.rows.resize(n_processes as usize, none);
            self.remembered.later.resize(n_processes as usize, UNKNOWN);
        }
        for process in 0..n_processes as usize {
            let bits = self.bits[self.cut.process(process)];
            let is_other = changed & bits.mask != 0 || self.promised(changed, process) != 0;
            if is_same && !is_other {
                continue;
            }
            let (number, promised) = (bits.get(word) as usize, self.promised(word, process));
            let known = self.remembered.of_values.get(process).and_then(|known| known.get(number));
            let future = match known {
                Some(it) if it.control == control + 1 && it.promised == promised => it.future,
                _ => self.find_future(word, process, number),
            };
            match is_same && future == self.remembered.later[process] {
                true => {}
                false => self.remembered.change(process, future),
            }
        }
    }

    /// The bits of a word that say of which channels a process has promised something.
    #[inline]
    fn promised(&self, word: Word, process: usize) -> Word {
        let first = self.cut.process(process);
        let bits = self.cut.promised.iter().filter_map(|part| self.bits.get(first + part));
        bits.fold(0, |promised, bits| promised | word & bits.mask)
    }

    /// Finds out what a process may come to do.
    #[cold]
    fn find_future(&mut self, word: Word, process: usize, number: usize) -> u32 {
        let state = self.bytes_of(word);
        let control = self.bits[CONTROL].get(word);
        let tables = &mut self.machine.tables;
        tables.scan(&self.machine.code, &state);
        let fault = cell::Cell::new(None);
        let view = View::new(&self.machine.code, &state, tables, false, &fault);
        let uses = Sets::future_of(view, process as u32, 0);
        self.state = state;
        let future = self.remembered.futures.number(uses);
        let later = Later { control: control + 1, promised: self.promised(word, process), future };
        *super::find::at(&mut self.remembered.of_values, process, number) = later;
        future
    }
}
