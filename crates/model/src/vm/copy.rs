//! Copies and fills that others may interrupt: where plain accesses are operations, one unit at a
//! time, first read and then written.

use super::code::{Code, Instruction, Pc};
use super::machine::{Machine, Spot, control};
use super::run::size_of_range;
use Instruction as I;
use mazurka_core::Violation;

/// The next part of a copy or a fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where it is to be read, if that is next.
    pub(super) from: Option<Spot>,
    /// Where it is to be written.
    pub(super) to: Spot,
    /// How many bytes.
    pub(super) size: u32,
    /// Whether nothing is left afterwards.
    is_last: bool,
    /// What a fill writes; none for a copy.
    byte: Option<u64>,
}

impl Machine {
    /// The next part of the copy or fill at `pc`; none if there is nothing to do at all.
    pub(super) fn copying(
        &self,
        code: &Code,
        thread: usize,
        pc: Pc,
    ) -> Result<Option<Piece>, Violation> {
        let frame = self.frame(thread);
        let (from, to, size, byte) = match code.instructions[pc as usize] {
            I::Copy { to, from, size, .. } => (Some(from), to, size, None),
            I::Fill { to, byte, size, .. } => (None, to, size, Some(self.value(code, frame, byte))),
            other => unreachable!("{other:?} copies nothing"),
        };
        let size = size_of_range(self.value(code, frame, size))?;
        if size == 0 {
            return Ok(None);
        }
        let to = self.spot_to_write(code, frame, to, size)?;
        let from = from.map(|from| self.spot(code, frame, from, size)).transpose()?;
        let progress = self.control(thread, control::COPIED);
        let (done, has_read) = (progress as u32 / 2, progress % 2 == 1);
        // What lies over its own source is copied from the far end.
        let is_backwards = from.is_some_and(|from| {
            from.object.address == to.object.address && from.offset < to.offset
        });
        let fits = |at: u32, len: u32| {
            let one = |spot: Spot| {
                let units = &code.units[spot.object.units as usize].units;
                units.number(spot.offset + at) == units.number(spot.offset + at + len - 1)
            };
            one(to) && from.is_none_or(one)
        };
        let start = |len: u32| if is_backwards { size - done - len } else { done };
        let longest = (size - done).min(8);
        let len = (1..=longest).rev().find(|&len| fits(start(len), len)).unwrap_or(1);
        let at = |spot: Spot| Spot { offset: spot.offset + start(len), ..spot };
        Ok(Some(Piece {
            from: from.filter(|_| !has_read).map(at),
            to: at(to),
            size: len,
            is_last: done + len == size,
            byte,
        }))
    }

    /// Reads or writes the next part; says where to go on.
    pub(super) fn copy_piece(
        &mut self,
        code: &Code,
        thread: usize,
        pc: Pc,
    ) -> Result<Pc, Violation> {
        let piece = self.copying(code, thread, pc)?.expect("there is something to do");
        let progress = self.control(thread, control::COPIED);
        if let Some(from) = piece.from {
            self.watch_life(code, from, false);
            let bits = self.get_bytes(from.address(), piece.size);
            self.set_stack(thread, control::IN_HAND, bits);
            self.set_stack(thread, control::COPIED, progress + 1);
            return Ok(pc);
        }
        let bits = match piece.byte {
            Some(byte) => (byte & 0xff) * 0x0101_0101_0101_0101,
            None => self.control(thread, control::IN_HAND),
        };
        self.watch_life(code, piece.to, false);
        self.set_bytes(piece.to.address(), piece.size, bits);
        self.set_stack(thread, control::IN_HAND, 0);
        let done = progress / 2 + u64::from(piece.size);
        self.set_stack(thread, control::COPIED, if piece.is_last { 0 } else { 2 * done });
        Ok(if piece.is_last { pc + 1 } else { pc })
    }
}
