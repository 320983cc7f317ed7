//! The roots of trees: two words each, and all that is to be known of a root in its slot. A look at
//! one that is there goes to one place in memory.
//!
//! An empty slot is taken by compare-and-swap of its first word. A worker that comes across it
//! then, at the same moment, waits for the second one.

use super::Seen;
use super::nodes::{Piece, hash};
use super::prefetch::prefetch;
use super::table::{Full, Reader, Slot, Table};
use crate::saved::{Reader as From, Writer};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A table of roots.
pub(crate) type Roots<L> = Table<Root<L>>;

/// One worker's access to it.
pub(crate) type RootsReader<'a, L> = Reader<'a, Root<L>>;

/// What a slot has beside the root: its number, or nothing.
pub(crate) trait Label: Default + Send + Sync {
    fn set(&self, number: u32);

    /// The number, if it is known.
    fn get(&self) -> Option<u32>;
}

impl Label for () {
    fn set(&self, _number: u32) {}

    #[inline]
    fn get(&self) -> Option<u32> {
        None
    }
}

impl Label for AtomicU32 {
    fn set(&self, number: u32) {
        self.store(number, Ordering::Relaxed);
    }

    #[inline]
    fn get(&self) -> Option<u32> {
        Some(self.load(Ordering::Relaxed))
    }
}

/// A root, whose first word is not zero and whose second one is not all ones.
#[derive(Default)]
pub(crate) struct Root<L> {
    first: AtomicU64,
    /// All its bits turned. It is written last.
    second: AtomicU64,
    label: L,
}

impl<L: Label> Slot for Root<L> {
    fn hash(&self) -> Option<u64> {
        let first = self.first.load(Ordering::Relaxed);
        (first != 0).then(|| hash([first, !self.second.load(Ordering::Relaxed)]))
    }

    fn copy(&self, entry: &Self) {
        self.first.store(entry.first.load(Ordering::Relaxed), Ordering::Relaxed);
        self.second.store(entry.second.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some(number) = entry.label.get() {
            self.label.set(number);
        }
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(self.first.load(Ordering::Relaxed))?;
        out.word(self.second.load(Ordering::Relaxed))?;
        self.label.get().map_or(Ok(()), |number| out.word(u64::from(number)))
    }

    fn load(&self, from: &mut From) -> io::Result<()> {
        self.first.store(from.word()?, Ordering::Relaxed);
        self.second.store(from.word()?, Ordering::Relaxed);
        if self.label.get().is_some() {
            self.label.set(from.word()? as u32);
        }
        Ok(())
    }
}

impl<L: Label> Root<L> {
    /// What is known of a root, if this slot has it. The first word of the slot is known.
    #[inline]
    fn is(&self, first: u64, root: Piece) -> Option<Seen> {
        if first != root[0] {
            return None;
        }
        loop {
            let second = self.second.load(Ordering::Acquire);
            if second != 0 {
                return (!second == root[1]).then(|| Seen::Old(self.label.get()));
            }
            std::hint::spin_loop();
        }
    }
}

impl<L: Label> RootsReader<'_, L> {
    /// Gets the first slot where a root may be under way.
    #[inline]
    pub(crate) fn touch(&self, root: Piece) {
        self.probe(hash(root)).next().into_iter().for_each(prefetch);
    }

    /// What is known of a root that is there.
    #[inline]
    pub(crate) fn find(&self, root: Piece) -> Option<Seen> {
        for slot in self.probe(hash(root)) {
            let first = slot.first.load(Ordering::Acquire);
            if first == 0 {
                return None;
            }
            if let Some(seen) = slot.is(first, root) {
                return Some(seen);
            }
        }
        unreachable!("a table is never full")
    }

    /// Adds a root, if it is not there. `note` is told the number of a new one before anybody else
    /// can know it.
    #[inline]
    pub(crate) fn insert(&self, root: Piece, note: impl FnOnce(u32)) -> Result<Seen, Full> {
        self.has_room()?;
        for slot in self.probe(hash(root)) {
            let mut first = slot.first.load(Ordering::Acquire);
            if first == 0 {
                let taken =
                    slot.first.compare_exchange(0, root[0], Ordering::AcqRel, Ordering::Acquire);
                match taken {
                    Ok(_) => {
                        let number = self.count();
                        assert!(number < u32::MAX as usize - 1, "more than 4 billion states");
                        note(number as u32);
                        slot.label.set(number as u32);
                        slot.second.store(!root[1], Ordering::Release);
                        return Ok(Seen::New(number as u32));
                    }
                    Err(other) => first = other,
                }
            }
            if let Some(seen) = slot.is(first, root) {
                return Ok(seen);
            }
        }
        unreachable!("a table is never full")
    }
}
