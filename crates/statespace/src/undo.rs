//! Undo stack: a path of states, of which only the last one is there in full; of the others, the
//! differences.

use crate::saved::{Form, Reader, Writer};
use std::io;

/// The states of a path. It begins with none, and with the state without bytes as the one before
/// the first.
#[derive(Default)]
pub(crate) struct Undo {
    /// The last state.
    state: Vec<u8>,
    /// Pieces of the states before it, as they were before the next move; and which pieces they
    /// are.
    pieces: Vec<([u8; PIECE], u32)>,
    /// For every state but the last one, its length and how many of the pieces are its.
    marks: Vec<(u32, u32)>,
}

/// The bytes of a piece.
const PIECE: usize = 8;

impl Form for Undo {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.text(&self.state)?;
        out.all(&self.pieces, |(piece, idx), out| {
            out.bytes(piece)?;
            out.word(u64::from(*idx))
        })?;
        out.all(&self.marks, |&(len, n), out| out.word(u64::from(len) << 32 | u64::from(n)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self {
            state: from.text()?,
            pieces: from.all(|from| {
                let mut piece = [0; PIECE];
                from.bytes(&mut piece)?;
                Ok((piece, from.word()? as u32))
            })?,
            marks: from.all(|from| from.word().map(|word| ((word >> 32) as u32, word as u32)))?,
        })
    }
}

impl Undo {
    /// The last state.
    pub(crate) fn state(&self) -> &[u8] {
        &self.state
    }

    /// Goes on to another state.
    pub(crate) fn push(&mut self, next: &[u8]) {
        let before = self.pieces.len();
        let old_len = self.state.len();
        let whole = old_len.min(next.len()) / PIECE;
        let (olds, rest) = self.state.as_chunks_mut::<PIECE>();
        for (idx, (old, new)) in olds.iter_mut().zip(next.as_chunks().0).enumerate() {
            if old != new {
                self.pieces.push((*old, idx as u32));
                *old = *new;
            }
        }
        // What is not a whole piece of both.
        let olds = olds[whole..].iter().map(|old| &old[..]).chain([&*rest]);
        for (idx, old) in (whole..).zip(olds) {
            let start = idx * PIECE;
            if next.get(start..start + old.len()) != Some(old) {
                let mut piece = [0; PIECE];
                piece[..old.len()].copy_from_slice(old);
                self.pieces.push((piece, idx as u32));
            }
        }
        self.state.truncate(whole * PIECE);
        self.state.extend_from_slice(&next[whole * PIECE..]);
        self.marks.push((old_len as u32, (self.pieces.len() - before) as u32));
    }

    /// Back to the state before.
    pub(crate) fn pop(&mut self) {
        let (len, n_pieces) = self.marks.pop().expect("there is a state before");
        self.state.resize(len as usize, 0);
        let first = self.pieces.len() - n_pieces as usize;
        for (piece, idx) in self.pieces.drain(first..) {
            let start = idx as usize * PIECE;
            let end = self.state.len().min(start + PIECE);
            self.state[start..end].copy_from_slice(&piece[..end - start]);
        }
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val::<[([u8; PIECE], u32)]>(&self.pieces)
            + size_of_val::<[(u32, u32)]>(&self.marks)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mazurka_core::fold::mix;

    #[test]
    fn every_state_comes_back() {
        let mut seed = 1;
        let mut next = |bound: u64| {
            seed = mix(seed, 77);
            seed % bound
        };
        let mut state: Vec<u8> = vec![3; 20];
        let (mut undo, mut all) = (Undo::default(), vec![state.clone()]);
        undo.push(&state);
        for _ in 0..20_000 {
            if next(2) == 0 && all.len() > 1 {
                undo.pop();
                all.pop();
                state.clone_from(all.last().unwrap());
            } else {
                if next(3) == 0 {
                    state.resize(next(40) as usize, next(256) as u8);
                }
                for _ in 0..next(4) {
                    if !state.is_empty() {
                        let at = next(state.len() as u64) as usize;
                        state[at] = next(4) as u8;
                    }
                }
                undo.push(&state);
                all.push(state.clone());
            }
            assert_eq!(undo.state(), state);
        }
    }
}
