//! Hash index: which numbers have a given hash.
//!
//! A slot is one word, half of a hash and the number of an entry. It is not locked: an empty slot
//! is taken by compare-and-swap, and a full one never changes.

use super::Seen;
use super::table::{Full, Reader, Slot, Table};
use crate::saved::{Reader as From, Writer};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// A table from hashes to numbers.
pub(crate) type Index = Table<Entry>;

/// One worker's access to it.
pub(crate) type IndexReader<'a> = Reader<'a, Entry>;

/// Half of a hash, and a number plus one.
#[derive(Default)]
pub(crate) struct Entry(AtomicU64);

impl Slot for Entry {
    fn hash(&self) -> Option<u64> {
        let entry = self.0.load(Ordering::Relaxed);
        (entry != 0).then_some(entry)
    }

    fn copy(&self, entry: &Self) {
        self.0.store(entry.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(self.0.load(Ordering::Relaxed))
    }

    fn load(&self, from: &mut From) -> io::Result<()> {
        self.0.store(from.word()?, Ordering::Relaxed);
        Ok(())
    }
}

/// What an [`Index`] knows of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is there, with this number.
    Old(u32),
    /// It was not, and now is, with the number that was offered.
    New,
}

/// The half of a hash that a slot keeps.
const KEY: u64 = !0 << 32;

impl IndexReader<'_> {
    /// The number of the entry with this hash for which `is_same` is true.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        for slot in self.probe(hash) {
            let entry = slot.0.load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            let number = (entry & !KEY) as u32 - 1;
            if entry & KEY == hash & KEY && is_same(number) {
                return Some(number);
            }
        }
        unreachable!("a table is never full")
    }

    /// The number of the entry with this hash for which `is_same` is true; or else `offer()`
    /// becomes it. What belongs to the offered number must be readable by others before `offer`
    /// returns. It is called once at the most, and the answer may be `Old` even then: another
    /// worker was faster.
    #[inline]
    pub(crate) fn find_or_insert(
        &self,
        hash: u64,
        is_same: impl Fn(u32) -> bool,
        mut offer: impl FnMut() -> u32,
    ) -> Result<Found, Full> {
        self.has_room()?;
        let key = hash & KEY;
        let mut offered = None;
        for slot in self.probe(hash) {
            let mut entry = slot.0.load(Ordering::Acquire);
            if entry == 0 {
                let number = *offered.get_or_insert_with(&mut offer);
                let new = key | (u64::from(number) + 1);
                let taken = slot.0.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
                match taken {
                    Ok(_) => {
                        self.count();
                        return Ok(Found::New);
                    }
                    Err(other) => entry = other,
                }
            }
            let number = (entry & !KEY) as u32 - 1;
            if entry & KEY == key && is_same(number) {
                return Ok(Found::Old(number));
            }
        }
        unreachable!("a table is never full")
    }
}

/// What became of a number that was offered for a new entry: it is the entry's, or kept for
/// another.
pub(crate) fn seen(found: Found, offered: Option<u32>, spare: &mut Option<u32>) -> Seen {
    match (found, offered) {
        (Found::New, Some(number)) => Seen::New(number),
        (Found::New, None) => unreachable!("a new entry has the number that was offered"),
        (Found::Old(number), unused) => {
            *spare = spare.or(unused);
            Seen::Old(Some(number))
        }
    }
}
