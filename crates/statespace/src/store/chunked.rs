//! An array that grows while others read it: chunks that never move, eight of a size, and then
//! eight of twice that size.

use crate::saved::{Form, Reader, Writer};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The size of the first eight chunks together, as a power of two.
const FIRST: u32 = 10;

/// A growing array, all of it `T::default()` in the beginning. There is no length: the user of it
/// knows which part of it is in use.
pub(crate) struct Chunked<T> {
    chunks: [OnceLock<Box<[T]>>; 320],
}

impl<T: Default> Chunked<T> {
    pub(crate) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; 320] }
    }

    /// The element at `idx`, which was [made](Self::make).
    #[inline]
    pub(crate) fn at(&self, idx: usize) -> &T {
        let (chunk, offset) = place(idx);
        &self.chunks[chunk].get().expect("what is read was made before")[offset]
    }

    /// The element at `idx`, if it or one near it was made.
    pub(crate) fn get(&self, idx: usize) -> Option<&T> {
        let (chunk, offset) = place(idx);
        self.chunks[chunk].get().map(|chunk| &chunk[offset])
    }

    /// The element at `idx`, and memory for it.
    #[inline]
    pub(crate) fn make(&self, idx: usize) -> &T {
        let (chunk, offset) = place(idx);
        let size = 1usize << (chunk as u32 / 8 + FIRST - 3);
        &self.chunks[chunk].get_or_init(|| (0..size).map(|_| T::default()).collect())[offset]
    }

    /// All elements that are made are below this.
    fn end(&self) -> usize {
        let made = self.chunks.iter().rposition(|chunk| chunk.get().is_some());
        made.map_or(0, |chunk| {
            let level = FIRST + chunk as u32 / 8;
            (1 << level) - (1 << FIRST) + ((chunk % 8 + 1) << (level - 3))
        })
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let chunks = self.chunks.iter().filter_map(OnceLock::get);
        chunks.map(|chunk| size_of_val::<[T]>(chunk) as u64).sum()
    }
}

impl Form for Chunked<AtomicU64> {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let get = |idx| self.get(idx).map_or(0, |it| it.load(Ordering::Relaxed));
        out.len(self.end())?;
        (0..self.end()).try_for_each(|idx| out.word(get(idx)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let new = Self::new();
        for idx in 0..from.len()? {
            new.make(idx).store(from.word()?, Ordering::Relaxed);
        }
        Ok(new)
    }
}

/// Those that are zero are not written.
impl Form for Chunked<AtomicU32> {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let get = |idx| self.get(idx).map_or(0, |it| it.load(Ordering::Relaxed));
        let used = || (0..self.end()).filter(|&idx| get(idx) != 0);
        out.len(used().count())?;
        used().try_for_each(|idx| out.word((idx as u64) << 32 | u64::from(get(idx))))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let new = Self::new();
        for _ in 0..from.len()? {
            let word = from.word()?;
            new.make((word >> 32) as usize).store(word as u32, Ordering::Relaxed);
        }
        Ok(new)
    }
}

/// Which chunk an element is in, and where.
#[inline]
fn place(idx: usize) -> (usize, usize) {
    let shifted = idx + (1 << FIRST);
    let level = usize::BITS - 1 - shifted.leading_zeros();
    let part = level - 3;
    let chunk = 8 * (level - FIRST) as usize + (shifted >> part & 7);
    (chunk, shifted & ((1 << part) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let all: Vec<_> = (0..10_000).map(place).collect();
        assert_eq!(all[0], (0, 0));
        assert_eq!(all[127], (0, 127));
        assert_eq!(all[128], (1, 0));
        assert_eq!(all[1023], (7, 127));
        assert_eq!(all[1024], (8, 0));
        assert_eq!(all[1024 + 2047], (15, 255));
        assert_eq!(all[1024 + 2048], (16, 0));
        let mut sorted = all.clone();
        sorted.dedup();
        assert_eq!(sorted, all);
    }

    #[test]
    fn the_end_is_behind_what_is_made() {
        for idx in [0, 127, 128, 1023, 1024, 3071, 3072, 99_999] {
            let array = Chunked::<AtomicU32>::new();
            array.make(idx);
            assert!(array.get(array.end() - 1).is_some() && array.get(array.end()).is_none());
            assert!(array.end() > idx);
        }
    }
}
