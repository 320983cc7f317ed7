//! The states that a search has seen: where they are kept, and what that guarantees.
//!
//! All stores are shared by all workers, and no worker waits for another one but while a table
//! grows.

mod bitstate;
mod chunked;
mod compact;
mod exact;
mod index;
mod nodes;
mod numbers;
mod packed;
mod prefetch;
mod roots;
mod table;
mod tree;

pub(crate) use bitstate::Bitstate;
pub(crate) use chunked::Chunked;
pub(crate) use compact::Compact;
pub(crate) use exact::Exact;
pub(crate) use numbers::{Numbers, NumbersReader};
pub(crate) use packed::Packed;
pub(crate) use prefetch::prefetch;
pub(crate) use roots::Label;
pub(crate) use table::Full;
pub(crate) use tree::{Tree, TreeSession};

use crate::saved::{Reader, Writer};
use mazurka_core::Assumption;
use std::hash::Hash;
use std::io;

/// How states are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Storage {
    /// Every state as it is.
    Exact,
    /// Every state, compressed to a few bytes. Nothing is lost.
    #[default]
    Tree,
    /// A hash of every state. Two states with the same hash are taken for one.
    Compact,
    /// A few bits for every state, in a table of 2 to this power bits that never grows. States are
    /// taken for others, more often the fuller it gets.
    Bitstate(u32),
}

impl Storage {
    /// The bits of a table for [`Storage::Bitstate`] by default: 128 MiB.
    pub const BITS: u32 = 30;

    /// One of each kind.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Tree, Self::Compact, Self::Bitstate(Self::BITS)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Tree => "tree",
            Self::Compact => "compact",
            Self::Bitstate(_) => "bitstate",
        }
    }

    /// Whether no state is ever taken for another one.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::Tree)
    }
}

/// What a store says of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is there now, and was not before. This is its number; numbers are dense, but for a few
    /// that workers have in reserve.
    New(u32),
    /// It was there before, with this number, if the store can tell.
    Old(Option<u32>),
}

impl Seen {
    /// The number, from a store that knows all numbers.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::New(number) | Self::Old(Some(number)) => number,
            Self::Old(None) => unreachable!("this store knows its numbers"),
        }
    }
}

/// A set of states, shared by workers.
pub(crate) trait Store: Sync {
    /// What one worker has of it.
    type Session<'a>: Session
    where
        Self: 'a;

    /// Access for one worker.
    fn session(&self) -> Self::Session<'_>;

    /// The memory that it takes.
    fn bytes(&self) -> u64;

    /// Writes all states, while no worker has it open. What is read again finds states by the same
    /// keys and has the same numbers for them.
    fn save(&self, out: &mut Writer) -> io::Result<()>;

    /// What has to be assumed if `n_states` were stored: that no state was taken for another one,
    /// and how likely it is that one was.
    fn assumption(&self, _n_states: u64) -> Option<Assumption> {
        None
    }
}

/// What a state is found by in a store.
pub(crate) type Key<'a, S> = <<S as Store>::Session<'a> as Session>::Key;

/// One worker's access to the states.
pub(crate) trait Session {
    /// What a state is found by: equal for equal states. It stays the same for as long as the store
    /// is there.
    type Key: Copy + Default + Eq + Hash + Words;

    /// Gets ready for states that differ little from this one.
    fn near(&mut self, _state: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    /// The same for a state that is known to be found by this.
    fn near_found(&mut self, state: &[u8], _key: Self::Key) -> Result<(), Full> {
        self.near(state)
    }

    /// What a state is found by.
    fn key(&mut self, state: &[u8]) -> Result<Self::Key, Full>;

    /// What some states that are going to be looked up soon are found by, all of them differing
    /// little from the one nearby. The memory where they may be is under way then.
    fn keys<'s>(
        &mut self,
        states: impl Iterator<Item = &'s [u8]> + Clone,
        keys: &mut Vec<Self::Key>,
    ) -> Result<(), Full> {
        keys.clear();
        for state in states {
            keys.push(self.key(state)?);
        }
        Ok(())
    }

    /// What there is to say of a state that is there, if the store can tell.
    fn find(&self, _key: Self::Key, _state: &[u8]) -> Option<Seen> {
        None
    }

    /// Adds a state, if it can be done without making tables larger.
    fn try_insert(&mut self, key: Self::Key, state: &[u8]) -> Result<Seen, Full>;

    /// Begins to use the tables.
    fn open(&mut self);

    /// Lets others make the tables larger: to be called before the worker waits for anything.
    fn close(&mut self);

    /// The same when it may be for good: what it has in reserve is given back.
    fn settle(&mut self) {
        self.close();
    }

    /// Makes the tables larger that are full.
    fn grow(&mut self);

    /// Does something that needs room, and makes it if there is none.
    #[inline]
    fn growing<T>(&mut self, mut step: impl FnMut(&mut Self) -> Result<T, Full>) -> T {
        loop {
            match step(self) {
                Ok(done) => return done,
                Err(Full) => {
                    self.close();
                    self.grow();
                    self.open();
                }
            }
        }
    }

    /// Adds a state, and gets ready for others that differ little from it.
    fn insert(&mut self, state: &[u8]) -> Seen {
        self.growing(|session| {
            session.near(state)?;
            let key = session.key(state)?;
            session.try_insert(key, state)
        })
    }
}

/// What a state is found by, and what is known of it, as words of a file.
pub(crate) trait Words: Sized {
    fn save(self, out: &mut Writer) -> io::Result<()>;
    fn load(from: &mut Reader) -> io::Result<Self>;
}

impl Words for u64 {
    fn save(self, out: &mut Writer) -> io::Result<()> {
        out.word(self)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        from.word()
    }
}

impl Words for [u64; 2] {
    fn save(self, out: &mut Writer) -> io::Result<()> {
        self.into_iter().try_for_each(|word| out.word(word))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok([from.word()?, from.word()?])
    }
}

/// Two hashes of some bytes that have little to do with each other.
fn hashes(state: &[u8]) -> [u64; 2] {
    use mazurka_core::fold::mix;
    let mut first = mix(0x243f_6a88_85a3_08d3, state.len() as u64);
    let mut second = mix(0x1319_8a2e_0370_7344, !(state.len() as u64));
    let mut words = state.chunks_exact(8);
    for bytes in &mut words {
        let word = u64::from_le_bytes(bytes.try_into().expect("it has eight bytes"));
        first = mix(first, word);
        second = mix(second, word.rotate_left(32));
    }
    let rest = words.remainder().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    [mix(first, rest), mix(second, rest.rotate_left(32))]
}

#[cfg(test)]
mod tests;
