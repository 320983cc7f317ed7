//! States that are two words each, in one table: nothing to compress.

use super::nodes::Piece;
use super::roots::{Label, Roots, RootsReader};
use super::table::Full;
use super::{Seen, Session, Store};
use crate::saved::{Form, Reader, Writer};
use std::io;

/// The states of a search, of which no first word is zero and no second one all ones.
pub(crate) struct Packed<L> {
    states: Roots<L>,
    /// The memory that is needed to know what the words mean.
    beside: Box<dyn Fn() -> u64 + Sync>,
}

impl<L: Label> Packed<L> {
    pub(crate) fn new(beside: impl Fn() -> u64 + Sync + 'static) -> Self {
        Self { states: Roots::new(), beside: Box::new(beside) }
    }

    pub(crate) fn load(
        beside: impl Fn() -> u64 + Sync + 'static,
        from: &mut Reader,
    ) -> io::Result<Self> {
        Ok(Self { states: Roots::load(from)?, beside: Box::new(beside) })
    }
}

impl<L: Label> Store for Packed<L> {
    type Session<'a>
        = PackedSession<'a, L>
    where
        L: 'a;

    fn session(&self) -> PackedSession<'_, L> {
        let mut states = self.states.reader();
        states.open();
        PackedSession(states)
    }

    fn bytes(&self) -> u64 {
        self.states.bytes() + (self.beside)()
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.states.save(out)
    }
}

/// One worker's access to the states.
pub(crate) struct PackedSession<'a, L>(RootsReader<'a, L>);

impl<L: Label> Session for PackedSession<'_, L> {
    /// The state itself.
    type Key = Piece;

    #[inline]
    fn key(&mut self, state: &[u8]) -> Result<Piece, Full> {
        let key = piece(state);
        self.0.touch(key);
        Ok(key)
    }

    #[inline]
    fn find(&self, key: Piece, _state: &[u8]) -> Option<Seen> {
        self.0.find(key)
    }

    #[inline]
    fn try_insert(&mut self, key: Piece, _state: &[u8]) -> Result<Seen, Full> {
        self.0.insert(key, |_| {})
    }

    fn open(&mut self) {
        self.0.open();
    }

    fn close(&mut self) {
        self.0.close();
    }

    fn settle(&mut self) {
        self.0.settle();
    }

    fn grow(&mut self) {
        self.0.grow();
    }
}

/// A state as two words.
#[inline]
fn piece(state: &[u8]) -> Piece {
    let state: &[u8; 16] = state.try_into().expect("a packed state has 16 bytes");
    let word = u128::from_le_bytes(*state);
    [word as u64, (word >> 64) as u64]
}
