//! Numbers for pairs of numbers and lengths, with all that is to be known of a pair in its slot: a look at one that
//! is there goes to one place in memory.
//!
//! An empty slot is taken by compare-and-swap of its first word, which is the pair. Whoever comes
//! across it then, at the same moment, waits for the second one.

use super::Seen;
use super::prefetch::prefetch;
use super::table::{Full, Reader, Slot, Table};
use mazurka_core::fold::mix;
use std::sync::atomic::{AtomicU64, Ordering};

/// A table from pairs and lengths to numbers.
pub(crate) type Roots = Table<Root>;

/// One worker's access to it.
pub(crate) type RootsReader<'a> = Reader<'a, Root>;

/// A pair of numbers. There are two numbers that nothing has, so that no pair is all ones.
#[derive(Default)]
#[repr(align(16))]
pub(crate) struct Root {
    /// The pair, all its bits turned.
    pair: AtomicU64,
    /// The length, and its number plus one.
    rest: AtomicU64,
}

impl Slot for Root {
    fn hash(&self) -> Option<u64> {
        let pair = self.pair.load(Ordering::Relaxed);
        (pair != 0).then(|| hash(!pair, (self.rest.load(Ordering::Relaxed) >> 32) as u32))
    }

    fn copy(&self, entry: &Self) {
        self.pair.store(entry.pair.load(Ordering::Relaxed), Ordering::Relaxed);
        self.rest.store(entry.rest.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Root {
    /// Its number, if its length is this one.
    #[inline]
    fn number(&self, len: u32) -> Option<u32> {
        loop {
            let rest = self.rest.load(Ordering::Acquire);
            if rest != 0 {
                return (rest >> 32 == u64::from(len)).then_some(rest as u32 - 1);
            }
            std::hint::spin_loop();
        }
    }
}

impl RootsReader<'_> {
    /// Gets the first slot where a pair may be under way.
    #[inline]
    pub(crate) fn touch(&self, pair: u64, len: u32) {
        self.probe(hash(pair, len)).next().into_iter().for_each(prefetch);
    }

    /// The number of a pair, if it has one.
    #[inline]
    pub(crate) fn find(&self, pair: u64, len: u32) -> Option<u32> {
        for slot in self.probe(hash(pair, len)) {
            let there = slot.pair.load(Ordering::Acquire);
            if there == 0 {
                return None;
            }
            if let Some(number) = (there == !pair).then(|| slot.number(len)).flatten() {
                return Some(number);
            }
        }
        unreachable!("a table is never full")
    }

    /// The number of a pair, which it gets if it has none. `note` is told a new one before anybody else
    /// can know it.
    #[inline]
    pub(crate) fn number(&self, pair: u64, len: u32, note: impl FnOnce(u32)) -> Result<Seen, Full> {
        self.has_room()?;
        for slot in self.probe(hash(pair, len)) {
            let mut there = slot.pair.load(Ordering::Acquire);
            if there == 0 {
                let taken =
                    slot.pair.compare_exchange(0, !pair, Ordering::AcqRel, Ordering::Acquire);
                match taken {
                    Ok(_) => {
                        let number = self.count();
                        assert!(number < u32::MAX as usize - 1, "more than 4 billion states");
                        note(number as u32);
                        let rest = u64::from(len) << 32 | (number as u64 + 1);
                        slot.rest.store(rest, Ordering::Release);
                        return Ok(Seen::New(number as u32));
                    }
                    Err(other) => there = other,
                }
            }
            if let Some(number) = (there == !pair).then(|| slot.number(len)).flatten() {
                return Ok(Seen::Old(Some(number)));
            }
        }
        unreachable!("a table is never full")
    }
}

#[inline]
fn hash(pair: u64, len: u32) -> u64 {
    mix(u64::from(len), pair)
}
