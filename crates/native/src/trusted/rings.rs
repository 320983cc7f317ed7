//! Messages of a bounded channel, by the words of its ring: which one a call puts in or takes out.
//!
//! The two ends of the ring are counters: below a power of two the index of a slot, above it the
//! number of the lap. A message has the same number when it is put in and when it is taken out, and
//! its slot is free once the message of the lap before was taken out. The bit between says, at the
//! tail, that the channel is closed.
//!
//! What a call passes on is what std's and crossbeam's code do: with the message, with the room that
//! it leaves, and along each end of the ring. A call that finds nothing, no room or a closed channel
//! has only looked, and one that slept comes after who woke it.

use super::{Bracket, Kind, TAIL, read};
use crate::machine;
use mazurka_core::{MemoryOrder, Passage};

/// Where the fields behind the two ends are: words, in one of which the capacity is, followed by the
/// length of a lap and the bit that says that the channel is closed.
const FIELDS: usize = 0x100;
const N_FIELDS: usize = 32;

struct Ring {
    /// By how much numbers of messages in one slot differ.
    one_lap: usize,
    closed: usize,
}

impl Ring {
    /// The ring of the channel at an address; nothing if its fields are not recognised.
    fn of(address: usize) -> Option<Self> {
        (0..N_FIELDS - 2).find_map(|idx| {
            let field = |idx: usize| read(address + FIELDS + idx * size_of::<usize>());
            let (capacity, one_lap, closed) = (field(idx), field(idx + 1), field(idx + 2));
            let is_it = closed.is_power_of_two()
                && capacity.checked_add(1).and_then(usize::checked_next_power_of_two)
                    == Some(closed)
                && Some(one_lap) == closed.checked_mul(2)
                && capacity > 0;
            is_it.then_some(Self { one_lap, closed })
        })
    }
}

/// What a call of a channel at an address passes on that is about to look at it; `order` is what it
/// acquires besides.
pub(super) fn note_passage(bracket: &Bracket, address: usize, order: MemoryOrder) {
    let Some(Ring { one_lap, closed }) = Ring::of(address) else { return };
    let (head, tail) = (read(address), read(address + TAIL));
    let passage = match bracket.kind {
        Kind::ArraySend if tail & closed == 0 && head.wrapping_add(one_lap) != tail => {
            let room_of = tail.checked_sub(one_lap).map(|it| it as u64);
            Passage::Put { message: tail as u64, room_of }
        }
        Kind::ArrayReceive if head != tail & !closed => Passage::Took { message: head as u64 },
        _ => Passage::InOrder,
    };
    machine::with(|machine| {
        machine.passage = passage;
        machine.order = order;
    });
}
