//! Hash compaction: of every state a hash of 64 bits, and nothing else.
//!
//! Implements Wolper and Leroy, *Reliable Hashing without Collision Detection* (CAV 1993), with the
//! bound for an omission that is theirs.
//!
//! Differs from the paper: the table grows.

use super::index::{Found, Index, IndexReader};
use super::table::Full;
use super::{Seen, Session, Store, hashes};
use crate::saved::{Form, Reader, Writer};
use mazurka_core::Assumption;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The hashes of the states of a search.
///
/// The index keeps the first half of a hash; the second half is what it takes for a number.
pub(crate) struct Compact {
    index: Index,
    n_states: AtomicU32,
}

impl Compact {
    pub(crate) fn new() -> Self {
        Self { index: Index::new(), n_states: AtomicU32::new(0) }
    }

    pub(crate) fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { index: Index::load(from)?, n_states: AtomicU32::new(from.word()? as u32) })
    }
}

impl Store for Compact {
    type Session<'a> = CompactSession<'a>;

    fn session(&self) -> CompactSession<'_> {
        let mut index = self.index.reader();
        index.open();
        CompactSession { index, n_states: &self.n_states }
    }

    fn bytes(&self) -> u64 {
        self.index.bytes()
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.index.save(out)?;
        out.word(u64::from(self.n_states.load(Ordering::Relaxed)))
    }

    fn assumption(&self, n_states: u64) -> Option<Assumption> {
        Some(Assumption::of_hashes(64, n_states))
    }
}

/// One worker's access to the hashes.
pub(crate) struct CompactSession<'a> {
    index: IndexReader<'a>,
    n_states: &'a AtomicU32,
}

impl Session for CompactSession<'_> {
    /// Its hash.
    type Key = u64;

    fn key(&mut self, state: &[u8]) -> Result<u64, Full> {
        Ok(hashes(state)[0])
    }

    fn try_insert(&mut self, hash: u64, _state: &[u8]) -> Result<Seen, Full> {
        // One less than there are, since a slot has no room for the last number.
        let half = (hash as u32).min(u32::MAX - 1);
        Ok(match self.index.find_or_insert(hash, |other| other == half, || half)? {
            Found::New => Seen::New(self.n_states.fetch_add(1, Ordering::Relaxed)),
            Found::Old(_) => Seen::Old(None),
        })
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
