//! Tree compression: a state is pieces of 16 bytes, every piece that has been seen is kept once and
//! has a number, up to four numbers are a piece again, and in the end a state is four numbers.
//!
//! Implements Laarman, van de Pol and Weber, *Parallel Recursive State Compression for Free* (SPIN
//! 2011).
//!
//! | paper                           | here                                        |
//! |---------------------------------|---------------------------------------------|
//! | tree table                      | [`Nodes`], and [`Roots`] for roots          |
//! | incremental insertion           | [`Session::keys`]: only what is different from a state nearby is looked up, and once if the search goes on there |
//! | lookup, find-or-put             | [`NodesReader::number`], [`RootsReader::insert`] |
//!
//! Differs from the paper: a node has up to four children, and so has the root, which makes the
//! tree half as high: what is nearest to the root is the least often the same. The tables grow, so
//! that a number is not a place in a table. It is exact: nothing is ever taken for something else.
//! For states of different lengths, that is so because a root says all: behind the last byte of a
//! state there is one more, and zeroes up to a full piece; a number tells whether it is that of
//! bytes or of numbers; and no number is 0. The states that one state leads to are looked up
//! together, level by level: what is looked at in a level is known before the first look, so that
//! memory answers many questions at once.

use super::chunked::Chunked;
use super::nodes::{EMPTY, Kind, Nodes, NodesReader, Piece, hash};
use super::roots::{Label, Roots, RootsReader};
use super::table::Full;
use super::{Seen, Session, Store};
use crate::saved::{Form, Reader, Writer};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The bytes of a piece.
const PIECE: usize = 16;

/// The numbers in a piece.
const ARITY: usize = 4;

/// The byte behind a state.
const END: u8 = 1;

/// The states of a search, compressed; with numbers, or without.
pub(crate) struct Tree<L = AtomicU32> {
    leaves: Nodes,
    inner: Nodes,
    roots: Roots<L>,
    /// What the roots are, by their numbers: for those who want states back.
    by_number: Option<Chunked<[AtomicU64; 2]>>,
}

impl<L: Label> Tree<L> {
    /// A store that tells whether a state is there.
    pub(crate) fn new() -> Self {
        let (leaves, inner) = (Nodes::new(Kind::Leaf), Nodes::new(Kind::Inner));
        Self { leaves, inner, roots: Roots::new(), by_number: None }
    }

    pub(crate) fn load(from: &mut Reader) -> io::Result<Self> {
        let (leaves, inner) = (Nodes::load(Kind::Leaf, from)?, Nodes::load(Kind::Inner, from)?);
        Ok(Self { leaves, inner, roots: Roots::load(from)?, by_number: None })
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
        let (leaves, inner) = (Nodes::by_number(Kind::Leaf), Nodes::by_number(Kind::Inner));
        Self { leaves, inner, roots: Roots::new(), by_number: Some(Chunked::new()) }
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
        for node in numbers(nodes).into_iter().filter(|&node| node != EMPTY) {
            match Kind::of(node) {
                Kind::Leaf => {
                    let words = self.leaves.get(node);
                    state.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                }
                Kind::Inner => self.append(self.inner.get(node), state),
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
            leaves: self.leaves.reader(),
            inner: self.inner.reader(),
            roots: self.roots.reader(),
            near: Near::default(),
            other: Near::default(),
            found: Vec::new(),
            changes: Vec::new(),
            next: Vec::new(),
        };
        session.open();
        session
    }

    fn bytes(&self) -> u64 {
        let by_number = self.by_number.as_ref().map_or(0, Chunked::bytes);
        self.leaves.bytes() + self.inner.bytes() + self.roots.bytes() + by_number
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.leaves.save(out)?;
        self.inner.save(out)?;
        self.roots.save(out)
    }
}

/// One worker's access to the states.
pub(crate) struct TreeSession<'a, L = AtomicU32> {
    tree: &'a Tree<L>,
    leaves: NodesReader<'a>,
    inner: NodesReader<'a>,
    roots: RootsReader<'a, L>,
    near: Near,
    /// The last state that had another number of pieces: whoever comes next and has so many, too,
    /// is likely to differ little from it.
    other: Near,
    /// The groups of the states that were looked up last, where they are not those of the state
    /// nearby: who goes on with one of these states need not look for its nodes again.
    found: Vec<Found>,
    /// The nodes of a level that are not those of the state nearby, and those of the level above.
    changes: Vec<Change>,
    next: Vec<Change>,
}

/// A state, and its tree.
#[derive(Default)]
struct Near {
    /// The state in pieces; none if there is no such state.
    pieces: Vec<Piece>,
    shape: Shape,
    /// Its tree, in groups of four numbers. The first one is the root.
    nodes: Vec<Piece>,
}

/// A node that belongs into a tree.
#[derive(Clone, Copy)]
struct Change {
    piece: Piece,
    hash: u64,
    /// Where its number goes.
    place: u32,
    /// Of which state, by how many there were before.
    state: u32,
}

/// A group of numbers in the tree of a state.
#[derive(Clone, Copy)]
struct Found {
    nodes: Piece,
    group: u32,
    /// Which state, by how many there were before.
    state: u32,
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

impl Near {
    /// The root of its tree.
    #[inline]
    fn root(&self) -> Piece {
        self.nodes[0]
    }

    /// Whether a state has as many pieces.
    #[inline]
    fn fits(&self, state: &[u8]) -> bool {
        self.pieces.len() == n_pieces(state.len())
    }

    /// Makes it a tree without nodes.
    fn clear(&mut self, n_pieces: usize) {
        self.shape = Shape::new(n_pieces);
        self.pieces.clear();
        self.pieces.resize(n_pieces, [0; 2]);
        self.nodes.clear();
        self.nodes.resize(self.shape.groups.len(), [0; 2]);
    }
}

impl<L: Label> Session for TreeSession<'_, L> {
    /// Its root.
    type Key = Piece;

    fn near(&mut self, state: &[u8]) -> Result<(), Full> {
        self.found.clear();
        if !self.near.fits(state) {
            std::mem::swap(&mut self.near, &mut self.other);
        }
        self.plant(state)
    }

    #[inline]
    fn near_found(&mut self, state: &[u8], root: Piece) -> Result<(), Full> {
        let is_root = |it: &&Found| it.group == 0 && it.nodes == root;
        match self.found.iter().find(is_root) {
            Some(&Found { state: number, .. }) if self.near.fits(state) => {
                self.adopt(state, number);
                Ok(())
            }
            _ => self.near(state),
        }
    }

    fn key(&mut self, state: &[u8]) -> Result<Piece, Full> {
        if !self.near.fits(state) {
            return self.key_of_other(state);
        }
        let mut key = [self.near.root()];
        self.found.clear();
        self.changes.clear();
        self.compare(state, 0);
        self.climb(&mut key, false)?;
        Ok(key[0])
    }

    #[inline]
    fn keys<'s>(
        &mut self,
        states: impl Iterator<Item = &'s [u8]> + Clone,
        keys: &mut Vec<Piece>,
    ) -> Result<(), Full> {
        keys.clear();
        self.found.clear();
        self.changes.clear();
        let mut is_mixed = false;
        for state in states.clone() {
            if self.near.fits(state) {
                self.compare(state, keys.len());
                keys.push(self.near.root());
            } else {
                is_mixed = true;
                keys.push(Piece::default());
            }
        }
        self.climb(keys, false)?;
        if is_mixed {
            for (key, state) in keys.iter_mut().zip(states) {
                if !self.near.fits(state) {
                    *key = self.key_of_other(state)?;
                }
            }
        }
        Ok(())
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
        self.leaves.slots.open();
        self.inner.slots.open();
        self.roots.open();
    }

    fn close(&mut self) {
        self.leaves.slots.close();
        self.inner.slots.close();
        self.roots.close();
    }

    fn settle(&mut self) {
        self.leaves.slots.settle();
        self.inner.slots.settle();
        self.roots.settle();
    }

    fn grow(&mut self) {
        self.leaves.slots.grow();
        self.inner.slots.grow();
        self.roots.grow();
    }
}

impl<L: Label> TreeSession<'_, L> {
    /// What a state is found by that has another number of pieces than the one nearby.
    fn key_of_other(&mut self, state: &[u8]) -> Result<Piece, Full> {
        std::mem::swap(&mut self.near, &mut self.other);
        let done = self.plant(state);
        let root = done.map(|()| self.near.root());
        std::mem::swap(&mut self.near, &mut self.other);
        root
    }

    /// Makes a state the one nearby.
    fn plant(&mut self, state: &[u8]) -> Result<(), Full> {
        self.changes.clear();
        let is_empty = !self.near.fits(state);
        if is_empty {
            self.near.clear(n_pieces(state.len()));
        }
        for (idx, new) in pieces(state).enumerate() {
            if is_empty || self.near.pieces[idx] != new {
                self.near.pieces[idx] = new;
                self.change(idx, new, 0);
            }
        }
        let done = self.climb(&mut [], true);
        if done.is_err() {
            self.near.pieces.clear();
        }
        done
    }

    /// Makes a state the one nearby, which was the one of this number among those that were looked
    /// up last.
    #[inline]
    fn adopt(&mut self, state: &[u8], number: u32) {
        for found in self.found.iter().filter(|it| it.state == number) {
            self.near.nodes[found.group as usize] = found.nodes;
        }
        self.near.pieces.iter_mut().zip(pieces(state)).for_each(|(piece, new)| *piece = new);
        self.found.clear();
    }

    /// Notes the pieces of a state that are not those of the one nearby.
    #[inline]
    fn compare(&mut self, state: &[u8], number: usize) {
        pieces(state).enumerate().for_each(|(idx, new)| {
            if self.near.pieces[idx] != new {
                self.change(idx, new, number);
            }
        });
    }

    #[inline]
    fn change(&mut self, idx: usize, piece: Piece, state: usize) {
        let (hash, place) = (hash(piece), self.near.shape.leaves[idx]);
        self.leaves.touch(hash);
        self.changes.push(Change { piece, hash, place, state: state as u32 });
    }

    /// Goes from the pieces that have changed up to the roots, which become `keys`; or, if it
    /// `stays`, the tree of the state nearby becomes that of the one state that is looked at. All
    /// places of a level come one behind the other, and those of a group, too.
    #[inline]
    fn climb(&mut self, keys: &mut [Piece], stays: bool) -> Result<(), Full> {
        let Self { leaves, inner, roots, near, found, changes, next, .. } = self;
        let mut table = &*leaves;
        while !changes.is_empty() {
            next.clear();
            for siblings in changes.chunk_by(Change::are_siblings) {
                let Change { state, place, .. } = siblings[0];
                let group = place as usize / ARITY;
                let mut piece = near.nodes[group];
                for change in siblings {
                    let number = table.number(change.piece, change.hash)?;
                    piece = with_number(piece, change.place as usize % ARITY, number);
                }
                if stays {
                    near.nodes[group] = piece;
                } else {
                    found.push(Found { nodes: piece, group: group as u32, state });
                }
                if group > 0 {
                    let hash = hash(piece);
                    inner.touch(hash);
                    next.push(Change { piece, hash, place: near.shape.groups[group], state });
                } else if let Some(key) = keys.get_mut(state as usize) {
                    roots.touch(piece);
                    *key = piece;
                }
            }
            std::mem::swap(changes, next);
            table = inner;
        }
        Ok(())
    }
}

impl Change {
    /// Whether two nodes belong to the same state and the same group.
    #[inline]
    fn are_siblings(&self, other: &Self) -> bool {
        self.state == other.state && self.place / ARITY as u32 == other.place / ARITY as u32
    }
}

/// A piece with another number in a place. Words are never written as parts: to read them as a
/// whole would have to wait for that.
#[inline]
fn with_number([low, high]: Piece, place: usize, number: u32) -> Piece {
    let shift = 32 * (place % 2);
    let set = |word: u64| word & !(u64::from(u32::MAX) << shift) | u64::from(number) << shift;
    if place < 2 { [set(low), high] } else { [low, set(high)] }
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
