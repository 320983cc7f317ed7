//! Tree compression: a state is a pair of halves, each half is a pair of quarters, and every pair that
//! has been seen is kept once and has a number.
//!
//! Implements Laarman, van de Pol and Weber, *Parallel Recursive State Compression for Free* (SPIN
//! 2011).
//!
//! | paper                           | here                                        |
//! |---------------------------------|---------------------------------------------|
//! | tree table                      | [`Pairs`], one for inner nodes, one for roots |
//! | incremental insertion           | [`TreeSession::level`]: what did not change since the last state is not looked up |
//! | lookup, find-or-put             | [`PairsReader::number`]                     |
//!
//! Differs from the paper: the tables grow, so that a number is not a place in a table. States may have
//! different lengths; a root then knows the length. Roots are numbered in the order of discovery, and
//! other tables of a search go by these numbers. It is exact: nothing is ever taken for something else.

use super::index::Full;
use super::pairs::{Pairs, PairsReader};
use super::{Seen, Session, Store};
use std::ops::Range;

/// The states of a search, compressed.
pub(crate) struct Tree {
    inner: Pairs,
    roots: Pairs,
    /// Whether all states have the same number of bytes; if not, the roots know theirs.
    is_fixed: bool,
}

impl Tree {
    /// A store for states of so many bytes, or of any number of them.
    pub(crate) fn new(width: Option<usize>) -> Self {
        Self { inner: Pairs::new(), roots: Pairs::new(), is_fixed: width.is_some() }
    }
}

impl Tree {
    /// Writes the bytes of the state with this number, `width` of them if all have as many.
    pub(crate) fn get(&self, number: u32, width: Option<usize>, state: &mut Vec<u8>) {
        let (pair, mark) = self.roots.get(number);
        let len = width.unwrap_or(mark as usize);
        let mut sizes = vec![len.div_ceil(4).max(2)];
        while let Some(&size) = sizes.last().filter(|&&size| size > 2) {
            sizes.push(size.div_ceil(2));
        }
        let mut level = vec![(pair >> 32) as u32, pair as u32];
        for &size in sizes.iter().rev().skip(1) {
            let mut below = Vec::with_capacity(size);
            for (idx, &node) in level.iter().enumerate() {
                if 2 * idx + 1 == size {
                    below.push(node);
                } else {
                    let (pair, _) = self.inner.get(node);
                    below.extend([(pair >> 32) as u32, pair as u32]);
                }
            }
            level = below;
        }
        state.clear();
        state.extend(level.iter().flat_map(|word| word.to_le_bytes()));
        state.truncate(len);
    }
}

impl Store for Tree {
    type Session<'a> = TreeSession<'a>;

    fn session(&self) -> TreeSession<'_> {
        let mut session = TreeSession {
            inner: self.inner.reader(),
            roots: self.roots.reader(),
            is_fixed: self.is_fixed,
            levels: Vec::new(),
            len: None,
        };
        session.open();
        session
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes() + self.roots.bytes()
    }
}

/// One worker's access to the states.
pub(crate) struct TreeSession<'a> {
    inner: PairsReader<'a>,
    roots: PairsReader<'a>,
    is_fixed: bool,
    /// The tree of the state before: its words, their pairs, the pairs of these, down to two numbers.
    levels: Vec<Vec<u32>>,
    /// The bytes that it had, if all of its tree is there.
    len: Option<usize>,
}

impl Session for TreeSession<'_> {
    fn try_insert(&mut self, state: &[u8]) -> Result<Seen, Full> {
        self.shape(state.len())?;
        let mut changed = self.leaves(state);
        // Until all levels are done, the tree is neither the last one nor this one.
        let len = self.len.take();
        for level in 1..self.levels.len() {
            changed = self.level(level, changed)?;
        }
        self.len = len;
        let top = self.levels.last().expect("there is a level");
        let pair = u64::from(top[0]) << 32 | u64::from(top[1]);
        let len = if self.is_fixed { 0 } else { state.len() as u32 };
        self.roots.number(pair, len)
    }

    fn open(&mut self) {
        self.inner.open();
        self.roots.open();
    }

    fn close(&mut self) {
        self.inner.close();
        self.roots.close();
    }

    fn grow(&mut self) {
        self.inner.grow();
        self.roots.grow();
    }
}

impl TreeSession<'_> {
    /// Makes room for the tree of a state of `len` bytes. Nothing of the last tree is of use if its
    /// shape was another one.
    fn shape(&mut self, len: usize) -> Result<(), Full> {
        if self.len == Some(len) {
            return Ok(());
        }
        self.levels.clear();
        let mut nodes = len.div_ceil(4).max(2);
        self.levels.push(vec![0; nodes]);
        while nodes > 2 {
            nodes = nodes.div_ceil(2);
            self.levels.push(vec![0; nodes]);
        }
        // A tree of zeroes, with its real numbers.
        self.len = None;
        for level in 1..self.levels.len() {
            self.look_up(level, 0..self.levels[level].len())?;
        }
        self.len = Some(len);
        Ok(())
    }

    /// Writes the words of a state, and returns which of them are others than before.
    fn leaves(&mut self, state: &[u8]) -> Range<usize> {
        let leaves = &mut self.levels[0];
        let (mut first, mut end) = (usize::MAX, 0);
        for (idx, bytes) in state.chunks(4).enumerate() {
            let word = match bytes.try_into() {
                Ok(bytes) => u32::from_le_bytes(bytes),
                Err(_) => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
            };
            if leaves[idx] != word {
                leaves[idx] = word;
                first = first.min(idx);
                end = idx + 1;
            }
        }
        first.min(end)..end
    }

    /// Finds the numbers of the pairs of one level where something below them has changed, and returns
    /// which of them did.
    fn level(&mut self, level: usize, below: Range<usize>) -> Result<Range<usize>, Full> {
        if below.is_empty() {
            return Ok(0..0);
        }
        let nodes = below.start / 2..(below.end - 1) / 2 + 1;
        self.look_up(level, nodes.clone())?;
        Ok(nodes)
    }

    fn look_up(&mut self, level: usize, nodes: Range<usize>) -> Result<(), Full> {
        let (below, above) = self.levels.split_at_mut(level);
        let below = &below[level - 1];
        for node in nodes {
            above[0][node] = match below[2 * node..] {
                [left, right, ..] => {
                    self.inner.number(u64::from(left) << 32 | u64::from(right), 0)?.number()
                }
                // Without a partner it goes up as it is.
                [left] => left,
                [] => unreachable!("a node has something below it"),
            };
        }
        Ok(())
    }
}
