//! Which numbers have a given hash: open addressing, in one table that all workers share.
//!
//! A slot is one word, half of a hash and the number of an entry. Nobody locks it: an empty slot is
//! taken by compare-and-swap, and a full one never changes. The place of an entry follows from the half
//! of its hash that is kept, in the same order, so that growing is one pass through the old table and
//! one through the new.

use super::Seen;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

/// How full a table gets before it grows, of 16.
const FULL: usize = 12;

/// Slots in the beginning.
const FIRST: usize = 1 << 12;

/// A table from hashes to numbers.
pub(crate) struct Index {
    slots: RwLock<Box<[AtomicU64]>>,
    used: AtomicUsize,
}

/// The table while it does not grow.
type Slots<'a> = RwLockReadGuard<'a, Box<[AtomicU64]>>;

/// One worker's access to the table, which does not grow while another worker is
/// [open](Reader::open) to it. Whoever wants it to grow must not have any table open: of two
/// workers with two tables, each could wait for the other one.
pub(crate) struct Reader<'a> {
    index: &'a Index,
    slots: Option<Slots<'a>>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { slots: RwLock::new(empty(FIRST)), used: AtomicUsize::new(0) }
    }

    /// Access to it; not open yet.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { index: self, slots: None }
    }

    /// Makes it larger, if it has to be.
    pub(crate) fn grow(&self) {
        let mut slots = self.slots.write().expect("nobody panics while the table grows");
        if !self.is_full(slots.len()) {
            return;
        }
        let larger = empty(slots.len() / 8 * 13);
        for slot in slots.iter() {
            let entry = slot.load(Ordering::Relaxed);
            if entry != 0 {
                let mut at = home(larger.len(), entry);
                while larger[at].load(Ordering::Relaxed) != 0 {
                    at = after(larger.len(), at);
                }
                larger[at].store(entry, Ordering::Relaxed);
            }
        }
        *slots = larger;
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val::<[AtomicU64]>(&self.read()) as u64
    }

    fn read(&self) -> Slots<'_> {
        self.slots.read().expect("nobody panics while the table grows")
    }

    fn is_full(&self, slots: usize) -> bool {
        self.used.load(Ordering::Relaxed) >= slots / 16 * FULL
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

/// The table has to grow before anything can be added.
pub(crate) struct Full;

impl Reader<'_> {
    /// Begins to use the table.
    pub(crate) fn open(&mut self) {
        self.slots = Some(self.index.read());
    }

    /// Lets others make it grow.
    pub(crate) fn close(&mut self) {
        self.slots = None;
    }

    /// Makes it grow, if it has to.
    pub(crate) fn grow(&self) {
        self.index.grow();
    }

    /// The number of the entry with this hash for which `is_same` is true; or else `offer()` becomes
    /// it. What belongs to the offered number must be readable by others before `offer` returns. It is
    /// called once at the most, and the answer may be `Old` even then: another worker was faster.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        is_same: impl Fn(u32) -> bool,
        mut offer: impl FnMut() -> u32,
    ) -> Result<Found, Full> {
        let slots = self.slots.as_deref().expect("a reader is open while it is used");
        if self.index.is_full(slots.len()) {
            return Err(Full);
        }
        let key = hash & KEY;
        let mut offered = None;
        let mut at = home(slots.len(), key);
        loop {
            let mut entry = slots[at].load(Ordering::Acquire);
            if entry == 0 {
                let number = *offered.get_or_insert_with(&mut offer);
                let new = key | (u64::from(number) + 1);
                let taken = slots[at].compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
                match taken {
                    Ok(_) => {
                        self.index.used.fetch_add(1, Ordering::Relaxed);
                        return Ok(Found::New);
                    }
                    Err(other) => entry = other,
                }
            }
            let number = (entry & !KEY) as u32 - 1;
            if entry & KEY == key && is_same(number) {
                return Ok(Found::Old(number));
            }
            at = after(slots.len(), at);
        }
    }
}

/// The half of a hash that a slot keeps.
const KEY: u64 = !0 << 32;

/// Where an entry would stand if it were alone.
#[inline]
fn home(slots: usize, entry: u64) -> usize {
    (((entry >> 32) * slots as u64) >> 32) as usize
}

#[inline]
fn after(slots: usize, at: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

fn empty(slots: usize) -> Box<[AtomicU64]> {
    (0..slots).map(|_| AtomicU64::new(0)).collect()
}

/// What became of a number that was offered for a new entry: it is the entry's, or kept for another.
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
