//! Every state as it is: its bytes in one long array of words, found by an index.

use super::chunked::Chunked;
use super::index::{Index, IndexReader, seen};
use super::table::Full;
use super::{Seen, Session, Store, hashes};
use crate::saved::{Form, Reader, Writer};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many words a worker takes at a time.
const BLOCK: u64 = 1 << 10;

/// The states of a search, uncompressed.
pub(crate) struct Exact {
    index: Index,
    /// For every state its length in bytes, and then these.
    words: Chunked<AtomicU64>,
    /// Where each begins.
    starts: Chunked<AtomicU64>,
    n_states: AtomicU32,
    n_words: AtomicU64,
}

impl Exact {
    pub(crate) fn new() -> Self {
        Self {
            index: Index::new(),
            words: Chunked::new(),
            starts: Chunked::new(),
            n_states: AtomicU32::new(0),
            n_words: AtomicU64::new(0),
        }
    }

    pub(crate) fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self {
            index: Index::load(from)?,
            words: Chunked::load(from)?,
            starts: Chunked::load(from)?,
            n_states: AtomicU32::new(from.word()? as u32),
            n_words: AtomicU64::new(from.word()?),
        })
    }

    fn is(&self, number: u32, state: &[u8]) -> bool {
        let start = self.starts.at(number as usize).load(Ordering::Relaxed) as usize;
        let word = |idx: usize| self.words.at(start + idx).load(Ordering::Relaxed);
        word(0) == state.len() as u64
            && state.chunks(8).enumerate().all(|(idx, bytes)| word(idx + 1) == as_word(bytes))
    }

    fn set(&self, start: u64, state: &[u8]) {
        let set = |idx: usize, word| {
            self.words.make(start as usize + idx).store(word, Ordering::Relaxed);
        };
        set(0, state.len() as u64);
        state.chunks(8).enumerate().for_each(|(idx, bytes)| set(idx + 1, as_word(bytes)));
    }
}

impl Store for Exact {
    type Session<'a> = ExactSession<'a>;

    fn session(&self) -> ExactSession<'_> {
        let mut index = self.index.reader();
        index.open();
        ExactSession { store: self, index, spare: None, room: 0..0 }
    }

    fn bytes(&self) -> u64 {
        self.index.bytes() + self.words.bytes() + self.starts.bytes()
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let (n_states, n_words) =
            (self.n_states.load(Ordering::Relaxed), self.n_words.load(Ordering::Relaxed));
        self.index.save(out)?;
        self.words.save(out)?;
        self.starts.save(out)?;
        out.word(u64::from(n_states))?;
        out.word(n_words)
    }
}

/// One worker's access to the states.
pub(crate) struct ExactSession<'a> {
    store: &'a Exact,
    index: IndexReader<'a>,
    /// A number that was taken for a state when another worker was faster.
    spare: Option<u32>,
    /// Words that were taken and not used yet.
    room: std::ops::Range<u64>,
}

impl Session for ExactSession<'_> {
    /// Its hash.
    type Key = u64;

    fn key(&mut self, state: &[u8]) -> Result<u64, Full> {
        Ok(hashes(state)[0])
    }

    fn find(&self, hash: u64, state: &[u8]) -> Option<Seen> {
        let number = self.index.find(hash, |number| self.store.is(number, state));
        number.map(|number| Seen::Old(Some(number)))
    }

    fn try_insert(&mut self, hash: u64, state: &[u8]) -> Result<Seen, Full> {
        let (store, spare, room) = (self.store, &mut self.spare, &mut self.room);
        let mut offered = None;
        let found = self.index.find_or_insert(
            hash,
            |number| store.is(number, state),
            || {
                let number =
                    spare.take().unwrap_or_else(|| store.n_states.fetch_add(1, Ordering::Relaxed));
                assert!(number < u32::MAX - 1, "more than 4 billion states");
                let len = 1 + state.len().div_ceil(8) as u64;
                if room.end - room.start < len {
                    let taken = len.max(BLOCK);
                    room.start = store.n_words.fetch_add(taken, Ordering::Relaxed);
                    room.end = room.start + taken;
                }
                store.set(room.start, state);
                store.starts.make(number as usize).store(room.start, Ordering::Relaxed);
                room.start += len;
                offered = Some(number);
                number
            },
        )?;
        Ok(seen(found, offered, spare))
    }

    fn open(&mut self) {
        self.index.open();
    }

    fn close(&mut self) {
        self.index.close();
    }

    fn grow(&mut self) {
        self.index.grow();
    }
}

/// Up to eight bytes as a word.
#[inline]
fn as_word(bytes: &[u8]) -> u64 {
    match bytes.try_into() {
        Ok(bytes) => u64::from_le_bytes(bytes),
        Err(_) => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}
