//! Open addressing in one table that all workers share and that grows.
//!
//! Where an entry belongs follows from its hash, in the same order, so that growing is one pass
//! through the old table and one through the new.

use super::prefetch::huge_pages;
use crate::saved::{Form, Reader as From, Writer};
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

/// Slots in the beginning.
const FIRST: usize = 1 << 12;

/// Up to so many slots, a table becomes twice as large at a time.
const SMALL: usize = 1 << 16;

/// A place for an entry. Empty by default, and never empty again once it is not.
pub(crate) trait Slot: Default + Send + Sync {
    /// How full a table gets before it grows, of 16.
    const FULL: usize = 11;

    /// The hash of its entry, of which the upper half counts; `None` if it is empty.
    fn hash(&self) -> Option<u64>;

    /// Takes over an entry, while no worker looks.
    fn copy(&self, entry: &Self);

    /// Writes an entry.
    fn save(&self, out: &mut Writer) -> io::Result<()>;

    /// Reads an entry into an empty slot.
    fn load(&self, from: &mut From) -> io::Result<()>;
}

/// A table of slots.
pub(crate) struct Table<S> {
    slots: RwLock<Box<[S]>>,
    used: AtomicUsize,
}

/// One worker's access to a table, which does not grow while another worker is [open](Reader::open)
/// to it. A worker that makes it grow must not have any table open: of two workers with two tables,
/// each could wait for the other one.
pub(crate) struct Reader<'a, S> {
    table: &'a Table<S>,
    slots: Option<RwLockReadGuard<'a, Box<[S]>>>,
    /// Entries that were counted and are not there yet: the first one, and how many.
    reserve: Cell<(usize, usize)>,
}

/// How many entries a worker counts at once, so that workers seldom write to the same memory.
const RESERVE: usize = 32;

/// The table has to grow before anything can be added.
pub(crate) struct Full;

impl<S: Slot> Table<S> {
    pub(crate) fn new() -> Self {
        Self { slots: RwLock::new(empty(FIRST)), used: AtomicUsize::new(0) }
    }

    /// Access to it; not open yet.
    pub(crate) fn reader(&self) -> Reader<'_, S> {
        Reader { table: self, slots: None, reserve: Cell::default() }
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val::<[S]>(&self.read()) as u64
    }

    fn read(&self) -> RwLockReadGuard<'_, Box<[S]>> {
        self.slots.read().expect("the lock is not poisoned")
    }

    fn is_full(&self, slots: usize) -> bool {
        self.used.load(Ordering::Relaxed) >= slots / 16 * S::FULL
    }
}

/// As large as it was, with the same entries.
impl<S: Slot> Form for Table<S> {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let slots = self.read();
        let entries = || slots.iter().filter(|slot| slot.hash().is_some());
        out.len(slots.len())?;
        out.len(self.used.load(Ordering::Relaxed))?;
        out.len(entries().count())?;
        entries().try_for_each(|slot| slot.save(out))
    }

    fn load(from: &mut From) -> io::Result<Self> {
        let slots: Box<[S]> = empty(from.len()?);
        let used = AtomicUsize::new(from.len()?);
        for _ in 0..from.len()? {
            let entry = S::default();
            entry.load(from)?;
            let hash = entry.hash().expect("no empty slot is written");
            let is_free = |slot: &&S| slot.hash().is_none();
            probe(&slots, hash).find(is_free).expect("a table is never full").copy(&entry);
        }
        Ok(Self { slots: RwLock::new(slots), used })
    }
}

impl<S: Slot> Reader<'_, S> {
    /// Begins to use the table.
    pub(crate) fn open(&mut self) {
        self.slots = Some(self.table.read());
    }

    /// Lets others make it grow.
    pub(crate) fn close(&mut self) {
        self.slots = None;
    }

    /// Gives back the numbers in reserve if no others were taken since, so that a worker that is
    /// alone has numbers without gaps.
    pub(crate) fn settle(&mut self) {
        let (next, left) = self.reserve.take();
        let (order, used) = (Ordering::Relaxed, &self.table.used);
        // Others have taken numbers: these are a gap.
        let _ = used.compare_exchange(next + left, next, order, order);
        self.close();
    }

    /// Makes it larger, if it has to be.
    pub(crate) fn grow(&self) {
        let mut slots = self.table.slots.write().expect("the lock is not poisoned");
        if !self.table.is_full(slots.len()) {
            return;
        }
        // Neither small steps, each of which is time, nor large ones: what is not used is memory
        // all the same.
        let len = slots.len();
        let larger: Box<[S]> = empty(if len < SMALL { 2 * len } else { len / 2 * 3 });
        for slot in slots.iter() {
            if let Some(hash) = slot.hash() {
                let is_free = |slot: &&S| slot.hash().is_none();
                let free = probe(&larger, hash).find(is_free).expect("it is larger");
                free.copy(slot);
            }
        }
        *slots = larger;
    }

    /// The slots where an entry with this hash may be, from the first on; it ends at an empty one.
    #[inline]
    pub(crate) fn probe(&self, hash: u64) -> impl Iterator<Item = &S> {
        probe(self.slots.as_deref().expect("a reader is open while it is used"), hash)
    }

    /// Whether there is room for one more.
    #[inline]
    pub(crate) fn has_room(&self) -> Result<(), Full> {
        let slots = self.slots.as_deref().expect("a reader is open while it is used");
        if self.table.is_full(slots.len()) { Err(Full) } else { Ok(()) }
    }

    /// One more is used now. Returns its number: those of all workers together are dense, but for a
    /// few that they have in reserve.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        let (next, left) = match self.reserve.get() {
            (_, 0) => (self.table.used.fetch_add(RESERVE, Ordering::Relaxed), RESERVE),
            reserve => reserve,
        };
        self.reserve.set((next + 1, left - 1));
        next
    }
}

/// All slots, from the one where an entry would stand if it were alone.
#[inline]
fn probe<S>(slots: &[S], hash: u64) -> impl Iterator<Item = &S> {
    let home = (((hash >> 32) * slots.len() as u64) >> 32) as usize;
    let (before, after) = slots.split_at(home);
    after.iter().chain(before)
}

fn empty<S: Default>(slots: usize) -> Box<[S]> {
    let mut all = Vec::with_capacity(slots);
    huge_pages(all.spare_capacity_mut());
    all.extend((0..slots).map(|_| S::default()));
    all.into()
}
