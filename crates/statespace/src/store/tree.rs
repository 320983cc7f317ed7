//! Tree compression: a state is pieces of 16 bytes, every piece that has been seen is kept once and has a
//! number, up to four numbers are a piece again, and in the end a state is a pair of numbers.
//!
//! Implements Laarman, van de Pol and Weber, *Parallel Recursive State Compression for Free* (SPIN
//! 2011).
//!
//! | paper                           | here                                        |
//! |---------------------------------|---------------------------------------------|
//! | tree table                      | [`Numbers`] for inner nodes, [`Roots`] for roots |
//! | incremental insertion           | [`TreeSession::key`]: only what is different from a state nearby is looked up |
//! | lookup, find-or-put             | [`Nodes::number`], [`RootsReader::number`] |
//!
//! Differs from the paper: a node has up to four children, which makes the tree half as high. The tables
//! grow, so that a number is not a place in a table. States may have different lengths, and a root knows
//! the length of its state; behind the last byte there are zeroes up to a full piece. Roots are numbered in the order of discovery, and other tables of a search go by these numbers. It is
//! exact: nothing is ever taken for something else.

use super::chunked::Chunked;
use super::numbers::{Numbers, NumbersReader, hash};
use super::roots::{Roots, RootsReader};
use super::table::Full;
use super::{Seen, Session, Store};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The words of a piece. With more of them there are fewer pieces to look up, which is as fast, but they
/// are less often the same, which takes more memory.
const WORDS: usize = 2;

/// The bytes of a piece.
const PIECE: usize = 8 * WORDS;

/// What a node has below it: some bytes of a state, or the numbers of nodes.
type Piece = [u64; WORDS];

/// The states of a search, compressed.
pub(crate) struct Tree {
    nodes: Numbers<WORDS>,
    roots: Roots,
    by_number: Option<ByNumber>,
}

/// What the roots are, by their numbers: for those who want states back.
struct ByNumber {
    pairs: Chunked<AtomicU64>,
    lens: Chunked<AtomicU32>,
}

impl Tree {
    /// A store that tells whether a state is there.
    pub(crate) fn new() -> Self {
        Self { nodes: Numbers::new(), roots: Roots::new(), by_number: None }
    }

    /// A store that gives states back.
    pub(crate) fn by_number() -> Self {
        let by_number = ByNumber { pairs: Chunked::new(), lens: Chunked::new() };
        Self { by_number: Some(by_number), ..Self::new() }
    }

    /// Writes the bytes of the state with this number.
    pub(crate) fn get(&self, number: u32, state: &mut Vec<u8>) {
        let by_number = self.by_number.as_ref().expect("this store was made to give states back");
        let pair = by_number.pairs.at(number as usize).load(Ordering::Relaxed);
        let len = by_number.lens.at(number as usize).load(Ordering::Relaxed) as usize;
        let mut sizes = vec![n_pieces(len)];
        while let Some(&size) = sizes.last().filter(|&&size| size > 2) {
            sizes.push(size.div_ceil(arity(size)));
        }
        let mut level = vec![(pair >> 32) as u32, pair as u32];
        for &size in sizes.iter().rev().skip(1) {
            let mut below = Vec::with_capacity(size + arity(size));
            for &node in &level {
                below.extend(children(self.nodes.get(node)).take(arity(size)));
            }
            below.truncate(size);
            level = below;
        }
        level.truncate(n_pieces(len));
        state.clear();
        for &piece in &level {
            state.extend(self.nodes.get(piece).iter().flat_map(|word| word.to_le_bytes()));
        }
        state.truncate(len);
    }

    fn note(&self, number: u32, pair: u64, len: u32) {
        if let Some(by_number) = &self.by_number {
            by_number.pairs.make(number as usize).store(pair, Ordering::Relaxed);
            by_number.lens.make(number as usize).store(len, Ordering::Relaxed);
        }
    }
}

impl Store for Tree {
    type Session<'a> = TreeSession<'a>;

    fn session(&self) -> TreeSession<'_> {
        let mut session = TreeSession {
            tree: self,
            nodes: Nodes::new(self.nodes.reader()),
            roots: self.roots.reader(),
            pieces: Vec::new(),
            levels: Vec::new(),
            changed: Vec::new(),
            undo: Vec::new(),
        };
        session.open();
        session
    }

    fn bytes(&self) -> u64 {
        let by_number = self.by_number.as_ref().map(|it| it.pairs.bytes() + it.lens.bytes());
        self.nodes.bytes() + self.roots.bytes() + by_number.unwrap_or(0)
    }
}

/// One worker's access to the states.
pub(crate) struct TreeSession<'a> {
    tree: &'a Tree,
    nodes: Nodes<'a>,
    roots: RootsReader<'a>,
    /// The state nearby, in pieces; none if there is no such state.
    pieces: Vec<Piece>,
    /// Its tree: the numbers of the pieces, of groups of these, up to one number or two.
    levels: Vec<Vec<u32>>,
    /// The nodes of a level that are not those of the state nearby.
    changed: Vec<u32>,
    /// Nodes of its tree that are others for the moment: the level, the node, and what it was.
    undo: Vec<(u32, u32, u32)>,
}

/// What a tree finds a state by: the root, and how many bytes it has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Key {
    pair: u64,
    len: u32,
}

impl Session for TreeSession<'_> {
    type Key = Key;

    fn near(&mut self, state: &[u8]) -> Result<(), Full> {
        let is_other = self.shape(state.len());
        self.changed.clear();
        for (idx, old) in self.pieces.iter_mut().enumerate() {
            let new = piece(state, idx);
            if is_other || *old != new {
                *old = new;
                self.changed.push(idx as u32);
            }
        }
        self.undo.clear();
        let done = self.leaves(state).and_then(|()| self.climb());
        if done.is_err() {
            self.pieces.clear();
        }
        done
    }

    #[inline]
    fn key(&mut self, state: &[u8]) -> Result<Key, Full> {
        if self.pieces.len() != n_pieces(state.len()) {
            self.near(state)?;
            return Ok(self.root(state.len()));
        }
        self.changed.clear();
        for (idx, old) in self.pieces.iter().enumerate() {
            if *old != piece(state, idx) {
                self.changed.push(idx as u32);
            }
        }
        self.undo.clear();
        let done = self.leaves(state).and_then(|()| self.climb());
        let key = self.root(state.len());
        for &(level, node, old) in &self.undo {
            self.levels[level as usize][node as usize] = old;
        }
        done.map(|()| key)
    }

    #[inline]
    fn touch(&self, key: Key) {
        self.roots.touch(key.pair, key.len);
    }

    #[inline]
    fn find(&self, key: Key, _state: &[u8]) -> Option<u32> {
        self.roots.find(key.pair, key.len)
    }

    #[inline]
    fn try_insert(&mut self, Key { pair, len }: Key, _state: &[u8]) -> Result<Seen, Full> {
        self.roots.number(pair, len, |number| self.tree.note(number, pair, len))
    }

    fn open(&mut self) {
        self.nodes.reader.open();
        self.roots.open();
    }

    fn close(&mut self) {
        self.nodes.reader.close();
        self.roots.close();
    }

    fn grow(&mut self) {
        self.nodes.reader.grow();
        self.roots.grow();
    }
}

impl TreeSession<'_> {
    /// Makes room for the tree of a state of `len` bytes. Returns whether its shape is another one than
    /// before: then nothing of the last tree is of use.
    fn shape(&mut self, len: usize) -> bool {
        let mut nodes = n_pieces(len);
        if self.pieces.len() == nodes {
            return false;
        }
        self.pieces.resize(nodes, [0; WORDS]);
        self.levels.clear();
        self.levels.push(vec![0; nodes]);
        while nodes > 2 {
            nodes = nodes.div_ceil(arity(nodes));
            self.levels.push(vec![0; nodes]);
        }
        true
    }

    /// Finds the numbers of the pieces that have changed.
    #[inline]
    fn leaves(&mut self, state: &[u8]) -> Result<(), Full> {
        for &idx in &self.changed {
            let number = self.nodes.number(piece(state, idx as usize))?;
            let node = &mut self.levels[0][idx as usize];
            self.undo.push((0, idx, std::mem::replace(node, number)));
        }
        Ok(())
    }

    /// Finds the numbers of all nodes above those that have changed.
    #[inline]
    fn climb(&mut self) -> Result<(), Full> {
        for level in 1..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(level);
            let below = &below[level - 1];
            let arity = arity(below.len());
            self.changed.iter_mut().for_each(|node| *node /= arity as u32);
            self.changed.dedup();
            for &parent in &self.changed {
                let first = parent as usize * arity;
                let group = &below[first..below.len().min(first + arity)];
                let number = self.nodes.number(node(group))?;
                let place = &mut above[0][parent as usize];
                self.undo.push((level as u32, parent, std::mem::replace(place, number)));
            }
        }
        Ok(())
    }

    /// What the tree as it is comes to, for a state of `len` bytes.
    fn root(&self, len: usize) -> Key {
        let pair = match self.levels.last().map(Vec::as_slice) {
            Some(&[left, right]) => u64::from(left) << 32 | u64::from(right),
            Some(&[only]) => u64::from(only) << 32,
            _ => unreachable!("a tree ends in one node or two"),
        };
        Key { pair, len: len as u32 }
    }
}

/// Access to nodes, with a memory of its own for those that come again and again.
struct Nodes<'a> {
    reader: NumbersReader<'a, WORDS>,
    /// Some nodes, by their hashes.
    recent: Box<[Recent]>,
}

/// A node and its number; or nothing, which has none.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Recent {
    piece: Piece,
    number: u32,
}

/// How many nodes are remembered: few enough to be near at hand.
const RECENT: usize = 1 << 15;

impl<'a> Nodes<'a> {
    fn new(reader: NumbersReader<'a, WORDS>) -> Self {
        let recent = vec![Recent { piece: [0; WORDS], number: u32::MAX }; RECENT].into();
        Self { reader, recent }
    }

    /// The number of a node.
    #[inline]
    fn number(&mut self, piece: Piece) -> Result<u32, Full> {
        let hash = hash(piece);
        let recent = &mut self.recent[hash as usize % RECENT];
        if recent.piece != piece || recent.number == u32::MAX {
            let number = self.reader.number_with(piece, hash)?.number();
            *recent = Recent { piece, number };
        }
        Ok(recent.number)
    }
}

/// How many children a node has above a level of so many nodes. The last one may have fewer.
#[inline]
fn arity(nodes: usize) -> usize {
    if nodes <= 4 * WORDS { nodes.div_ceil(2) } else { 2 * WORDS }
}

/// Some numbers as a piece.
#[inline]
fn node(numbers: &[u32]) -> Piece {
    let at = |idx: usize| numbers.get(idx).map_or(0, |&number| u64::from(number));
    std::array::from_fn(|word| at(2 * word) << 32 | at(2 * word + 1))
}

/// The numbers of a piece.
fn children(piece: Piece) -> impl Iterator<Item = u32> {
    piece.into_iter().flat_map(|word| [(word >> 32) as u32, word as u32])
}

/// How many pieces the bytes of a state make; one at least.
#[inline]
fn n_pieces(len: usize) -> usize {
    len.div_ceil(PIECE).max(1)
}

/// A piece of a state.
#[inline]
fn piece(state: &[u8], idx: usize) -> Piece {
    let rest = &state[idx * PIECE..];
    let bytes: [u8; PIECE] = match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            let mut bytes = [0; PIECE];
            bytes[..rest.len()].copy_from_slice(rest);
            bytes
        }
    };
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
}
