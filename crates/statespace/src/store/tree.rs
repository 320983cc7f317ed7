//! Tree compression: a state is pieces of 16 bytes, every piece that has been seen is kept once and has a
//! number, up to four numbers are a piece again, and in the end a state is four numbers.
//!
//! Implements Laarman, van de Pol and Weber, *Parallel Recursive State Compression for Free* (SPIN
//! 2011).
//!
//! | paper                           | here                                        |
//! |---------------------------------|---------------------------------------------|
//! | tree table                      | [`Numbers`] for nodes, [`Roots`] for roots  |
//! | incremental insertion           | [`TreeSession::key`]: only what is different from a state nearby is looked up |
//! | lookup, find-or-put             | [`Nodes::number`], [`RootsReader::insert`]  |
//!
//! Differs from the paper: a node has up to four children, and so has the root, which makes the tree half
//! as high: what is nearest to the root is the least often the same. The tables grow, so that a number is
//! not a place in a table. It is exact: nothing is ever taken for something else. For states of different
//! lengths, that is so because a root says all: behind the last byte of a state there is one more, and
//! zeroes up to a full piece; a number tells whether it is that of bytes or of numbers; and no number is 0.

use super::chunked::Chunked;
use super::numbers::{Numbers, NumbersReader};
use super::roots::{Label, Roots, RootsReader};
use super::table::Full;
use super::{Seen, Session, Store};
use mazurka_core::fold::mix;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The words of a piece. With more of them there are fewer pieces to look up, which is as fast, but they
/// are less often the same, which takes more memory.
const WORDS: usize = 2;

/// The bytes of a piece.
const PIECE: usize = 8 * WORDS;

/// The numbers in a piece.
const ARITY: usize = 2 * WORDS;

/// What a node has below it: some bytes of a state, or the numbers of nodes.
type Piece = [u64; WORDS];

/// The byte behind a state.
const END: u8 = 1;

/// The states of a search, compressed; with numbers, or without.
pub(crate) struct Tree<L = AtomicU32> {
    leaves: Numbers<WORDS>,
    inner: Numbers<WORDS>,
    roots: Roots<L>,
    /// What the roots are, by their numbers: for those who want states back.
    by_number: Option<Chunked<[AtomicU64; WORDS]>>,
}

impl<L: Label> Tree<L> {
    /// A store that tells whether a state is there.
    pub(crate) fn new() -> Self {
        let (leaves, inner) = (Numbers::new(), Numbers::new());
        Self { leaves, inner, roots: Roots::new(), by_number: None }
    }

    fn note(&self, number: u32, root: Piece) {
        if let Some(by_number) = &self.by_number {
            let words = by_number.make(number as usize);
            words.iter().zip(root).for_each(|(word, new)| word.store(new, Ordering::Relaxed));
        }
    }
}

impl Tree<AtomicU32> {
    /// A store that gives states back.
    pub(crate) fn by_number() -> Self {
        Self { by_number: Some(Chunked::new()), ..Self::new() }
    }

    /// Writes the bytes of the state with this number.
    pub(crate) fn get(&self, number: u32, state: &mut Vec<u8>) {
        let by_number = self.by_number.as_ref().expect("this store was made to give states back");
        let root = by_number.at(number as usize).each_ref();
        state.clear();
        self.append(root.map(|word| word.load(Ordering::Relaxed)), state);
        while state.pop() == Some(0) {}
    }

    /// Adds the bytes below some nodes.
    fn append(&self, nodes: Piece, state: &mut Vec<u8>) {
        for node in numbers(nodes).into_iter().filter(|&node| node != 0) {
            let below = node / 2 - 1;
            match node % 2 {
                LEAF => {
                    let words = self.leaves.get(below);
                    state.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                }
                _ => self.append(self.inner.get(below), state),
            }
        }
    }
}

impl<L: Label> Store for Tree<L> {
    type Session<'a>
        = TreeSession<'a, L>
    where
        L: 'a;

    fn session(&self) -> TreeSession<'_, L> {
        let mut session = TreeSession {
            tree: self,
            leaves: Nodes::new(self.leaves.reader(), LEAF),
            inner: Nodes::new(self.inner.reader(), INNER),
            roots: self.roots.reader(),
            pieces: Vec::new(),
            shape: Shape::default(),
            nodes: Vec::new(),
            changed: Vec::new(),
            undo: Vec::new(),
        };
        session.open();
        session
    }

    fn bytes(&self) -> u64 {
        let by_number = self.by_number.as_ref().map_or(0, Chunked::bytes);
        self.leaves.bytes() + self.inner.bytes() + self.roots.bytes() + by_number
    }
}

/// One worker's access to the states.
pub(crate) struct TreeSession<'a, L = AtomicU32> {
    tree: &'a Tree<L>,
    leaves: Nodes<'a>,
    inner: Nodes<'a>,
    roots: RootsReader<'a, L>,
    /// The state nearby, in pieces; none if there is no such state.
    pieces: Vec<Piece>,
    shape: Shape,
    /// Its tree, in groups of four numbers. The first one is the root.
    nodes: Vec<[u32; ARITY]>,
    /// The groups that are not those of the state nearby.
    changed: Vec<u32>,
    /// Numbers of its tree that are others for the moment: the place, and what was there.
    undo: Vec<(u32, u32)>,
}

/// Where everything is in a tree, by the places of its groups one behind the other.
#[derive(Default)]
struct Shape {
    /// The places of the pieces of a state.
    leaves: Vec<u32>,
    /// The place of the number of each group. The first one has none.
    groups: Vec<u32>,
}

impl Shape {
    fn new(n_leaves: usize) -> Self {
        let mut sizes = vec![n_leaves];
        while let Some(&size) = sizes.last().filter(|&&size| size > ARITY) {
            sizes.push(size.div_ceil(arity(size)));
        }
        let top = sizes.last().map_or(0, |&size| size as u32);
        let mut shape = Self { leaves: (0..top).collect(), groups: vec![0] };
        for &size in sizes.iter().rev().skip(1) {
            let first = shape.groups.len();
            let place = |idx| (ARITY * (first + idx / arity(size)) + idx % arity(size)) as u32;
            shape.groups.append(&mut shape.leaves);
            shape.leaves.extend((0..size).map(place));
        }
        shape
    }
}

/// How many of so many nodes belong together. The last group may have fewer.
fn arity(nodes: usize) -> usize {
    nodes.div_ceil(ARITY).min(ARITY)
}

impl<L: Label> Session for TreeSession<'_, L> {
    /// Its root.
    type Key = Piece;

    fn near(&mut self, state: &[u8]) -> Result<(), Full> {
        let n_pieces = n_pieces(state.len());
        let done = match self.pieces.len() == n_pieces {
            true => self.update(state, true),
            false => self.plant(state, n_pieces),
        };
        if done.is_err() {
            self.pieces.clear();
        }
        done
    }

    #[inline]
    fn key(&mut self, state: &[u8]) -> Result<Piece, Full> {
        if self.pieces.len() != n_pieces(state.len()) {
            self.near(state)?;
            return Ok(words(self.nodes[0]));
        }
        let done = self.update(state, false);
        let root = words(self.nodes[0]);
        for &(place, old) in &self.undo {
            *at(&mut self.nodes, place) = old;
        }
        done.map(|()| root)
    }

    #[inline]
    fn touch(&self, root: Piece) {
        self.roots.touch(root);
    }

    #[inline]
    fn find(&self, root: Piece, _state: &[u8]) -> Option<Seen> {
        self.roots.find(root)
    }

    #[inline]
    fn try_insert(&mut self, root: Piece, _state: &[u8]) -> Result<Seen, Full> {
        self.roots.insert(root, |number| self.tree.note(number, root))
    }

    fn open(&mut self) {
        self.leaves.reader.open();
        self.inner.reader.open();
        self.roots.open();
    }

    fn close(&mut self) {
        self.leaves.reader.close();
        self.inner.reader.close();
        self.roots.close();
    }

    fn grow(&mut self) {
        self.leaves.reader.grow();
        self.inner.reader.grow();
        self.roots.grow();
    }
}

impl<L: Label> TreeSession<'_, L> {
    /// Makes the tree of a state with another number of pieces than the one nearby.
    fn plant(&mut self, state: &[u8], n_pieces: usize) -> Result<(), Full> {
        self.shape = Shape::new(n_pieces);
        self.nodes.clear();
        self.nodes.resize(self.shape.groups.len(), [0; ARITY]);
        self.pieces.clear();
        self.pieces.extend(pieces(state));
        for (piece, &place) in self.pieces.iter().zip(&self.shape.leaves) {
            *at(&mut self.nodes, place) = self.leaves.number(*piece)?;
        }
        // What is below a group comes behind it.
        for (group, &place) in self.shape.groups.iter().enumerate().skip(1).rev() {
            *at(&mut self.nodes, place) = self.inner.number(words(self.nodes[group]))?;
        }
        Ok(())
    }

    /// Makes the tree that of a state with as many pieces as the one nearby, which it takes the place of if
    /// it `stays`.
    #[inline]
    fn update(&mut self, state: &[u8], stays: bool) -> Result<(), Full> {
        self.undo.clear();
        self.changed.clear();
        for (idx, new) in pieces(state).enumerate() {
            if self.pieces[idx] != new {
                let number = self.leaves.number(new)?;
                if stays {
                    self.pieces[idx] = new;
                }
                self.set(self.shape.leaves[idx], number);
            }
        }
        let mut next = 0;
        while let Some(&group) = self.changed.get(next) {
            next += 1;
            let number = self.inner.number(words(self.nodes[group as usize]))?;
            self.set(self.shape.groups[group as usize], number);
        }
        Ok(())
    }

    /// Writes a number into the tree, and notes that its group has changed. All numbers of one level come
    /// one behind the other, and those of a group, too.
    #[inline]
    fn set(&mut self, place: u32, number: u32) {
        self.undo.push((place, std::mem::replace(at(&mut self.nodes, place), number)));
        let group = place / ARITY as u32;
        if group != 0 && self.changed.last() != Some(&group) {
            self.changed.push(group);
        }
    }
}

/// A place in a tree.
#[inline]
fn at(nodes: &mut [[u32; ARITY]], place: u32) -> &mut u32 {
    &mut nodes[place as usize / ARITY][place as usize % ARITY]
}

/// Numbers are twice their place among their kind, and one for inner nodes. None is 0.
const LEAF: u32 = 0;
const INNER: u32 = 1;

/// Access to nodes of a kind, with a memory of its own for those that come again and again.
struct Nodes<'a> {
    reader: NumbersReader<'a, WORDS>,
    kind: u32,
    /// Some nodes, by their hashes.
    recent: Box<[Recent; RECENT]>,
}

/// A node and its number; 0 if there is none.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Recent {
    piece: Piece,
    number: u32,
}

/// How many nodes are remembered: few enough to be near at hand.
const RECENT: usize = 1 << 13;

impl<'a> Nodes<'a> {
    fn new(reader: NumbersReader<'a, WORDS>, kind: u32) -> Self {
        let recent = vec![Recent::default(); RECENT].into_boxed_slice();
        let recent = recent.try_into().unwrap_or_else(|_| unreachable!("it has this length"));
        Self { reader, kind, recent }
    }

    /// The number of a node.
    #[inline]
    fn number(&mut self, piece: Piece) -> Result<u32, Full> {
        let [first, second] = piece;
        let hash = mix(first, second);
        let recent = &self.recent[hash as usize % RECENT];
        if recent.piece == piece && recent.number != 0 {
            return Ok(recent.number);
        }
        self.look_up(piece, hash)
    }

    #[inline(never)]
    fn look_up(&mut self, piece: Piece, hash: u64) -> Result<u32, Full> {
        let place = self.reader.number_with(piece, hash)?.number();
        assert!(place < u32::MAX / 2 - 1, "more than 2 billion of a kind");
        let number = 2 * (place + 1) + self.kind;
        self.recent[hash as usize % RECENT] = Recent { piece, number };
        Ok(number)
    }
}

/// Four numbers as a piece.
#[inline]
fn words(numbers: [u32; ARITY]) -> Piece {
    std::array::from_fn(|idx| u64::from(numbers[2 * idx]) | u64::from(numbers[2 * idx + 1]) << 32)
}

/// The numbers of a piece.
fn numbers(piece: Piece) -> [u32; ARITY] {
    std::array::from_fn(|idx| (piece[idx / 2] >> (32 * (idx % 2))) as u32)
}

/// How many pieces the bytes of a state make, with the one behind them.
#[inline]
fn n_pieces(len: usize) -> usize {
    len / PIECE + 1
}

/// The pieces of a state, with the byte behind it.
#[inline]
fn pieces(state: &[u8]) -> impl Iterator<Item = Piece> {
    let (whole, rest) = state.as_chunks();
    let whole = whole.iter().map(|bytes| u128::from_le_bytes(*bytes));
    let shift = 8 * rest.len() as u32;
    let rest = match state.last_chunk() {
        // What is in front of the rest goes.
        Some(bytes) if shift > 0 => u128::from_le_bytes(*bytes) >> (128 - shift),
        _ => rest.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte)),
    };
    let last = rest | u128::from(END) << shift;
    whole.chain([last]).map(|bytes| [bytes as u64, (bytes >> 64) as u64])
}
