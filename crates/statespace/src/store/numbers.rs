//! Interning: numbers for things of a few words.

use super::Seen;
use super::chunked::Chunked;
use super::index::{Index, IndexReader, seen};
use super::prefetch::prefetch;
use super::table::Full;
use mazurka_core::fold::mix;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers for things of so many words, in the order in which they were first seen.
pub(crate) struct Numbers<const WORDS: usize> {
    index: Index,
    things: Chunked<Thing<WORDS>>,
    next: AtomicU32,
}

/// One worker's access to them.
pub(crate) struct NumbersReader<'a, const WORDS: usize> {
    index: IndexReader<'a>,
    numbers: &'a Numbers<WORDS>,
    /// A number that was taken for a thing when another worker was faster.
    spare: Option<u32>,
}

struct Thing<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Default for Thing<WORDS> {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; WORDS])
    }
}

impl<const WORDS: usize> Numbers<WORDS> {
    pub(crate) fn new() -> Self {
        Self { index: Index::new(), things: Chunked::new(), next: AtomicU32::new(0) }
    }

    /// Access for one worker; not open yet.
    pub(crate) fn reader(&self) -> NumbersReader<'_, WORDS> {
        NumbersReader { index: self.index.reader(), numbers: self, spare: None }
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.index.bytes() + self.things.bytes()
    }

    /// How many things have a number, if no worker is about to give one.
    pub(crate) fn n_known(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    /// The thing with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> [u64; WORDS] {
        self.things.at(number as usize).0.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    fn set(&self, number: u32, thing: [u64; WORDS]) {
        let words = &self.things.make(number as usize).0;
        words.iter().zip(thing).for_each(|(word, new)| word.store(new, Ordering::Relaxed));
    }

    fn fresh(&self) -> u32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        assert!(number < u32::MAX - 1, "more than 4 billion of a kind");
        number
    }
}

impl<const WORDS: usize> NumbersReader<'_, WORDS> {
    pub(crate) fn open(&mut self) {
        self.index.open();
    }

    pub(crate) fn close(&mut self) {
        self.index.close();
    }

    pub(crate) fn grow(&mut self) {
        self.index.grow();
    }

    /// Gets the place where a thing may be under way.
    #[inline]
    pub(crate) fn touch(&self, thing: [u64; WORDS]) {
        self.index.probe(hash(thing)).next().into_iter().for_each(prefetch);
    }

    /// The number of a thing.
    pub(crate) fn number(&mut self, thing: [u64; WORDS]) -> Result<Seen, Full> {
        self.number_with(thing, hash(thing))
    }

    /// The number of a thing, if it has one.
    pub(crate) fn find(&self, thing: [u64; WORDS]) -> Option<u32> {
        self.find_with(thing, hash(thing))
    }

    fn find_with(&self, thing: [u64; WORDS], hash: u64) -> Option<u32> {
        self.index.find(hash, |number| self.numbers.get(number) == thing)
    }

    /// The number of a thing whose hash is known.
    pub(crate) fn number_with(&mut self, thing: [u64; WORDS], hash: u64) -> Result<Seen, Full> {
        // Most are there.
        if let Some(number) = self.find_with(thing, hash) {
            return Ok(Seen::Old(Some(number)));
        }
        let (numbers, spare) = (self.numbers, &mut self.spare);
        let mut offered = None;
        let found = self.index.find_or_insert(
            hash,
            |number| numbers.get(number) == thing,
            || {
                let number = spare.take().unwrap_or_else(|| numbers.fresh());
                numbers.set(number, thing);
                offered = Some(number);
                number
            },
        )?;
        Ok(seen(found, offered, spare))
    }
}

/// The hash of a thing.
#[inline]
fn hash<const WORDS: usize>(thing: [u64; WORDS]) -> u64 {
    thing.into_iter().fold(0, mix)
}
