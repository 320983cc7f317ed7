//! The nodes of trees below the roots: two words each, which have a number, in one slot. A look at
//! one goes to one place in memory.
//!
//! An empty slot is taken by compare-and-swap of its number. A worker that comes across it then, at
//! the same moment, waits for the number.

use super::chunked::Chunked;
use super::prefetch::prefetch;
use super::table::{Full, Reader, Slot, Table};
use crate::saved::{Form, Reader as From, Writer};
use mazurka_core::fold::mix;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What a node has below it: some bytes of a state, or the numbers of nodes.
pub(crate) type Piece = [u64; 2];

/// A kind of nodes. Numbers are even for one and odd for the other, and none is [`EMPTY`] or
/// [`BUSY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They have bytes below them.
    Leaf,
    /// They have nodes below them.
    Inner,
}

impl Kind {
    /// The kind of the node with this number.
    pub(crate) fn of(number: u32) -> Self {
        if number.is_multiple_of(2) { Self::Leaf } else { Self::Inner }
    }
}

/// The number of no node.
pub(crate) const EMPTY: u32 = 0;

/// The number of a node that is being written.
const BUSY: u32 = 1;

/// The nodes of a kind.
pub(crate) struct Nodes {
    table: Table<Node>,
    kind: Kind,
    /// What they are, by how many there were before: for those who want states back.
    by_number: Option<Chunked<[AtomicU64; 2]>>,
}

#[derive(Default)]
pub(crate) struct Node {
    piece: [AtomicU64; 2],
    number: AtomicU32,
}

impl Slot for Node {
    // There are far fewer of them than roots.
    const FULL: usize = 8;

    fn hash(&self) -> Option<u64> {
        (self.number.load(Ordering::Relaxed) != EMPTY).then(|| hash(self.piece()))
    }

    fn copy(&self, entry: &Self) {
        self.set(entry.piece());
        self.number.store(entry.number.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.piece().into_iter().try_for_each(|word| out.word(word))?;
        out.word(u64::from(self.number.load(Ordering::Relaxed)))
    }

    fn load(&self, from: &mut From) -> io::Result<()> {
        self.set([from.word()?, from.word()?]);
        self.number.store(from.word()? as u32, Ordering::Relaxed);
        Ok(())
    }
}

impl Node {
    #[inline]
    fn piece(&self) -> Piece {
        self.piece.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    fn set(&self, piece: Piece) {
        write(&self.piece, piece);
    }
}

impl Nodes {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { table: Table::new(), kind, by_number: None }
    }

    /// Those who give their pieces back.
    pub(crate) fn by_number(kind: Kind) -> Self {
        Self { by_number: Some(Chunked::new()), ..Self::new(kind) }
    }

    /// The piece of the node with this number.
    pub(crate) fn get(&self, number: u32) -> Piece {
        let by_number = self.by_number.as_ref().expect("these nodes were made to be given back");
        let piece = by_number.at(number as usize / 2 - 1);
        piece.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes() + self.by_number.as_ref().map_or(0, Chunked::bytes)
    }

    /// Writes them.
    pub(crate) fn save(&self, out: &mut Writer) -> io::Result<()> {
        debug_assert!(self.by_number.is_none(), "these nodes are not made to be saved");
        self.table.save(out)
    }

    /// Reads those of a kind.
    pub(crate) fn load(kind: Kind, from: &mut From) -> io::Result<Self> {
        Ok(Self { table: Table::load(from)?, kind, by_number: None })
    }

    /// Access for one worker; not open yet.
    pub(crate) fn reader(&self) -> NodesReader<'_> {
        NodesReader { nodes: self, slots: self.table.reader() }
    }
}

/// One worker's access to nodes.
pub(crate) struct NodesReader<'a> {
    nodes: &'a Nodes,
    pub(crate) slots: Reader<'a, Node>,
}

impl NodesReader<'_> {
    /// Gets the first slot where a piece with this hash may be under way.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) {
        self.slots.probe(hash).next().into_iter().for_each(prefetch);
    }

    /// The number of the node that has this piece, whose hash is known.
    #[inline]
    pub(crate) fn number(&self, piece: Piece, hash: u64) -> Result<u32, Full> {
        for slot in self.slots.probe(hash) {
            let mut number = slot.number.load(Ordering::Acquire);
            if number == EMPTY {
                match self.take(slot, piece)? {
                    Ok(new) => return Ok(new),
                    Err(other) => number = other,
                }
            }
            while number == BUSY {
                std::hint::spin_loop();
                number = slot.number.load(Ordering::Acquire);
            }
            if slot.piece() == piece {
                return Ok(number);
            }
        }
        unreachable!("a table is never full")
    }

    /// Makes an empty slot that of a node, and returns its number; or the one that another worker
    /// has given it.
    #[inline(never)]
    fn take(&self, slot: &Node, piece: Piece) -> Result<Result<u32, u32>, Full> {
        self.slots.has_room()?;
        let taken = slot.number.compare_exchange(EMPTY, BUSY, Ordering::AcqRel, Ordering::Acquire);
        if let Err(other) = taken {
            return Ok(Err(other));
        }
        slot.set(piece);
        let place = self.slots.count();
        assert!(place < u32::MAX as usize / 2 - 1, "more than 2 billion of a kind");
        if let Some(by_number) = &self.nodes.by_number {
            write(by_number.make(place), piece);
        }
        let number = 2 * (place as u32 + 1) + u32::from(self.nodes.kind == Kind::Inner);
        slot.number.store(number, Ordering::Release);
        Ok(Ok(number))
    }
}

fn write(words: &[AtomicU64; 2], piece: Piece) {
    words.iter().zip(piece).for_each(|(word, new)| word.store(new, Ordering::Relaxed));
}

/// The hash of a piece.
#[inline]
pub(crate) fn hash(piece: Piece) -> u64 {
    mix(piece[0], piece[1])
}
