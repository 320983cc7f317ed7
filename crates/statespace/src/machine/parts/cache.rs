//! Local transition caching: the moves of processes, by what these have touched to find them.

use super::fields::{BLANK, Word};
use crate::store::prefetch;
use crate::transitions::{Move, Step, Successor};
use mazurka_core::fold::mix;
use std::ops::Range;

/// How many entries there is room for in the beginning.
const FIRST: usize = 1 << 10;

/// With room for more, a look at an entry has to wait for memory.
const LARGE: usize = 1 << 13;

/// The moves that were found.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    entries: Vec<Entry>,
    n_used: usize,
    moves: Vec<Kept>,
    /// The edges that moves pass, one behind the other.
    passed: Vec<u32>,
}

/// The moves of one process in all states that have these bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    word: Word,
    /// Who it is about, and when; 0 if nobody.
    who: u32,
    first: u32,
    len: u32,
    pub(super) seen: Seen,
}

/// What was found beside the moves of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Whether a property may see them.
    pub(super) is_visible: bool,
    /// The channels by which others may take what it sends, in moves that are not among these.
    pub(super) offers: u64,
    /// What the process does next, by its number; if that is of use.
    pub(super) next: u32,
}

/// An entry, and the bits that it was found by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    pub(super) mask: Word,
    pub(super) entry: Entry,
}

impl Recent {
    /// That of no state: the first bit of a word counts for no state.
    pub(super) const NONE: Self = {
        let seen = Seen { is_visible: false, offers: 0, next: 0 };
        Self { mask: 0, entry: Entry { word: BLANK, who: 0, first: 0, len: 0, seen } }
    };

    /// Whether a state has these bits.
    #[inline]
    pub(super) fn is_of(&self, word: Word) -> bool {
        word & self.mask == self.entry.word
    }
}

/// A move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The bits that it turns.
    pub(super) turns: Word,
    pub(super) step: Step,
    pub(super) successor: Successor,
    pub(super) fault: Option<u32>,
    first_passed: u32,
    n_passed: u32,
}

impl Kept {
    pub(super) fn new(made: &Move, turns: Word) -> Self {
        let &Move { step, successor, fault, .. } = made;
        Self { turns, step, successor, fault, first_passed: 0, n_passed: 0 }
    }
}

/// Whose moves these are, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) process: u32,
    /// If it is about what this process takes from the other one, and nothing else.
    pub(super) partner: Option<u32>,
    /// Whether no process can move otherwise.
    pub(super) timeout: bool,
}

impl Unit {
    /// A number other than 0.
    #[inline]
    fn number(self) -> u32 {
        let partner = self.partner.map_or(0, |partner| partner + 1);
        1 | u32::from(self.timeout) << 1 | self.process << 2 | partner << 10
    }
}

impl Cache {
    pub(super) fn new() -> Self {
        let entries = vec![Entry::default(); FIRST];
        Self { entries, n_used: 0, moves: Vec::new(), passed: Vec::new() }
    }

    /// What is known of a process, by the bits that count for it.
    #[inline]
    pub(super) fn find(&self, word: Word, unit: Unit) -> Option<Entry> {
        let who = unit.number();
        let entry = self.entries[self.place(word, who)];
        (entry.who == who).then_some(entry)
    }

    /// Gets the place where an entry may be under way.
    #[inline]
    pub(super) fn touch(&self, word: Word, unit: Unit) {
        prefetch(&self.entries[self.home(word, unit.number())]);
    }

    /// Whether it is more than is at hand anyway.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.entries.len() > LARGE
    }

    /// The place of an entry if it were alone.
    #[inline]
    fn home(&self, word: Word, who: u32) -> usize {
        let hash = mix(word as u64 ^ u64::from(who) << 48, (word >> 64) as u64);
        (hash >> 32) as usize & (self.entries.len() - 1)
    }

    /// The place of an entry, or the empty one where it would be.
    #[inline]
    fn place(&self, word: Word, who: u32) -> usize {
        let last = self.entries.len() - 1;
        let mut place = self.home(word, who);
        loop {
            let entry = &self.entries[place];
            if entry.who == 0 || entry.word == word && entry.who == who {
                return place;
            }
            place = (place + 1) & last;
        }
    }

    /// The moves of an entry, by their numbers.
    #[inline]
    pub(super) fn moves(&self, entry: Entry) -> Range<usize> {
        entry.first as usize..(entry.first + entry.len) as usize
    }

    /// A move.
    #[inline]
    pub(super) fn get(&self, number: usize) -> &Kept {
        &self.moves[number]
    }

    /// The edges that a move passes.
    #[inline]
    pub(super) fn passed(&self, kept: &Kept) -> &[u32] {
        &self.passed[kept.first_passed as usize..(kept.first_passed + kept.n_passed) as usize]
    }

    /// Adds a move of the entry that is added next.
    pub(super) fn push(&mut self, kept: Kept, passed: &[u32]) {
        let (first_passed, n_passed) = (self.passed.len() as u32, passed.len() as u32);
        self.passed.extend_from_slice(passed);
        self.moves.push(Kept { first_passed, n_passed, ..kept });
    }

    /// How many moves there are, to say which ones belong to an entry.
    pub(super) fn n_moves(&self) -> usize {
        self.moves.len()
    }

    /// Adds an entry, with the moves from one on.
    pub(super) fn insert(&mut self, word: Word, unit: Unit, first: usize, seen: Seen) {
        if 2 * (self.n_used + 1) > self.entries.len() {
            self.grow();
        }
        let (who, len) = (unit.number(), (self.moves.len() - first) as u32);
        let place = self.place(word, who);
        debug_assert_eq!(self.entries[place].who, 0, "it was not there");
        self.entries[place] = Entry { word, who, first: first as u32, len, seen };
        self.n_used += 1;
    }

    fn grow(&mut self) {
        let larger = vec![Entry::default(); 2 * self.entries.len()];
        let old = std::mem::replace(&mut self.entries, larger);
        for entry in old.into_iter().filter(|entry| entry.who != 0) {
            let place = self.place(entry.word, entry.who);
            self.entries[place] = entry;
        }
    }

    /// Says everything anew by words in which the same numbers have other bits.
    pub(super) fn translate(&mut self, translate: impl Fn(Word) -> Word) {
        for kept in &mut self.moves {
            kept.turns = translate(kept.turns);
        }
        let empty = vec![Entry::default(); self.entries.len()];
        let old = std::mem::replace(&mut self.entries, empty);
        for entry in old.into_iter().filter(|entry| entry.who != 0) {
            let word = translate(entry.word);
            let place = self.place(word, entry.who);
            self.entries[place] = Entry { word, ..entry };
        }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.n_used
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
            + self.moves.capacity() * size_of::<Kept>()
            + self.passed.capacity() * size_of::<u32>()
    }
}
