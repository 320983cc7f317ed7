//! Numbers for pairs of numbers.

use super::Seen;
use super::chunked::Chunked;
use super::index::{Full, Index, Reader, seen};
use mazurka_core::fold::mix;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers for pairs of numbers, in the order in which the pairs were first seen.
pub(crate) struct Pairs {
    index: Index,
    pairs: Chunked<AtomicU64>,
    /// What else belongs to a pair, as long as it is not 0 for all of them.
    marks: Chunked<AtomicU32>,
    next: AtomicU32,
}

/// One worker's access to them.
pub(crate) struct PairsReader<'a> {
    index: Reader<'a>,
    pairs: &'a Pairs,
    /// A number that was taken for a pair when another worker was faster.
    spare: Option<u32>,
}

impl Pairs {
    pub(crate) fn new() -> Self {
        Self {
            index: Index::new(),
            pairs: Chunked::new(),
            marks: Chunked::new(),
            next: AtomicU32::new(0),
        }
    }

    /// Access for one worker; not open yet.
    pub(crate) fn reader(&self) -> PairsReader<'_> {
        PairsReader { index: self.index.reader(), pairs: self, spare: None }
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.index.bytes() + self.pairs.bytes() + self.marks.bytes()
    }

    /// The pair with this number, and its mark.
    pub(crate) fn get(&self, number: u32) -> (u64, u32) {
        let mark = self.marks.get(number as usize);
        let pair = self.pairs.at(number as usize).load(Ordering::Relaxed);
        (pair, mark.map_or(0, |mark| mark.load(Ordering::Relaxed)))
    }

    fn is(&self, number: u32, pair: u64, mark: u32) -> bool {
        let number = number as usize;
        self.pairs.at(number).load(Ordering::Relaxed) == pair
            && (mark == 0 || self.marks.at(number).load(Ordering::Relaxed) == mark)
    }

    fn set(&self, number: u32, pair: u64, mark: u32) {
        let number = number as usize;
        self.pairs.make(number).store(pair, Ordering::Relaxed);
        if mark != 0 {
            self.marks.make(number).store(mark, Ordering::Relaxed);
        }
    }

    fn fresh(&self) -> u32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        assert!(number < u32::MAX - 1, "more than 4 billion states");
        number
    }
}

impl PairsReader<'_> {
    pub(crate) fn open(&mut self) {
        self.index.open();
    }

    pub(crate) fn close(&mut self) {
        self.index.close();
    }

    pub(crate) fn grow(&mut self) {
        self.index.grow();
    }

    /// The number of a pair with a mark.
    #[inline]
    pub(crate) fn number(&mut self, pair: u64, mark: u32) -> Result<Seen, Full> {
        let (pairs, spare) = (self.pairs, &mut self.spare);
        let mut offered = None;
        let hash = mix(u64::from(mark), pair);
        let found = self.index.find_or_insert(
            hash,
            |number| pairs.is(number, pair, mark),
            || {
                let number = spare.take().unwrap_or_else(|| pairs.fresh());
                pairs.set(number, pair, mark);
                offered = Some(number);
                number
            },
        )?;
        Ok(seen(found, offered, spare))
    }
}
