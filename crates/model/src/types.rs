//! The types of values, and how memory is laid out.

use crate::SymbolSet;
use std::fmt;

/// The type of a value: at most 64 bits and how to read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// An integer of 1 to 64 bits. Held in 64 bits, extended by its sign or by zeros.
    Int {
        /// The width.
        bits: u8,
        /// Whether it is in two's complement.
        signed: bool,
    },
    /// IEEE 754 single precision. Held as its 32 bits. Only the `Vm` computes with it.
    Float32,
    /// IEEE 754 double precision. Only the `Vm` computes with it.
    Float64,
    /// An object and an offset, see [`Pointer`]; a function, or null.
    Pointer,
}

impl Type {
    /// The truth values: what comparisons and guards are.
    pub const BOOL: Self = Self::unsigned(1);
    /// A signed integer of 32 bits.
    pub const I32: Self = Self::signed(32);
    /// A signed integer of 64 bits: the type of offsets.
    pub const I64: Self = Self::signed(64);
    /// An unsigned byte.
    pub const U8: Self = Self::unsigned(8);
    /// An unsigned integer of 32 bits.
    pub const U32: Self = Self::unsigned(32);
    /// An unsigned integer of 64 bits: the type of sizes.
    pub const U64: Self = Self::unsigned(64);

    /// The signed integer of so many bits.
    pub const fn signed(bits: u8) -> Self {
        Self::Int { bits, signed: true }
    }

    /// The unsigned integer of so many bits.
    pub const fn unsigned(bits: u8) -> Self {
        Self::Int { bits, signed: false }
    }

    /// Its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } => u32::from(bits),
            Self::Float32 => 32,
            Self::Float64 | Self::Pointer => 64,
        }
    }

    /// How many bytes of memory it takes: a power of two.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8).next_power_of_two()
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int { signed: true, .. })
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        matches!(self, Self::Int { .. })
    }

    /// Whether it has a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { bits, signed: true } => write!(f, "i{bits}"),
            Self::Int { bits, signed: false } => write!(f, "u{bits}"),
            Self::Float32 => f.write_str("f32"),
            Self::Float64 => f.write_str("f64"),
            Self::Pointer => f.write_str("ptr"),
        }
    }
}

/// A pointer taken apart. As a value it has the object in the upper 32 bits; the lower ones are the
/// offset, counted from the [start](Pointer::start) of the object. [`null`](Pointer::NULL) is 0.
///
/// So a pointer is a number that programs may compute with, as they do with addresses: to a byte
/// further on is 1 more, the beginning of an object is a multiple of [`Pointer::ALIGNMENT`], and
/// its lower 32 bits alone are not 0 and those of another object are others, as long as there are
/// few.
///
/// | object                        | is                                                         |
/// |-------------------------------|------------------------------------------------------------|
/// | 0                             | nothing: null, and integers turned into pointers           |
/// | 1 and up                      | [`Program::objects`](crate::Program::objects)`[object - 1]` |
/// | bit 29, then 29 bits          | the routine of that number                                 |
/// | bit 30, 7 bits, 23 bits       | the object that thread made after so many others           |
/// | bit 31                        | nothing: integers below 0 turned into pointers             |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// Which object.
    pub object: u32,
    /// How many bytes from its beginning.
    pub offset: u32,
}

impl Pointer {
    /// The pointer to nothing.
    pub const NULL: Self = Self { object: 0, offset: 0 };

    /// Every object begins at a multiple of so many bytes.
    pub const ALIGNMENT: u32 = 1 << 12;

    /// How many objects a thread can make.
    pub const MAX_MADE: u32 = 1 << 23;

    const ROUTINE: u32 = 1 << 29;
    const MADE: u32 = 1 << 30;
    const NEGATIVE: u32 = 1 << 31;

    /// The lower 32 bits of a pointer to the beginning of an object: from 2^27 to 2^30, so that no
    /// offset within an object leaves them; 0 for no object, so that an integer is its own pointer.
    #[inline]
    pub fn start(object: u32) -> u32 {
        let slot = match object {
            0 => 0,
            negative if negative & Self::NEGATIVE != 0 => 0,
            made if made & Self::MADE != 0 => 1 << 17 | (made >> 23 & 0x7f) << 10 | made & 0x3ff,
            routine if routine & Self::ROUTINE != 0 => 1 << 16 | routine & 0xffff,
            number => 1 << 15 | number & 0x7fff,
        };
        slot * Self::ALIGNMENT
    }

    /// The beginning of the object of this index.
    pub fn to_object(object: crate::ObjectIdx) -> Self {
        Self { object: object.0 + 1, offset: 0 }
    }

    /// A routine.
    pub fn to_routine(routine: crate::RoutineId) -> Self {
        Self { object: Self::ROUTINE | routine.0, offset: 0 }
    }

    /// The beginning of the object that `thread` made after `n_before` others.
    pub fn to_made(thread: u32, n_before: u32) -> Self {
        debug_assert!(thread < 128 && n_before < Self::MAX_MADE);
        Self { object: Self::MADE | thread << 23 | n_before, offset: 0 }
    }

    /// The pointer that a value is.
    pub fn from_bits(bits: u64) -> Self {
        let object = (bits >> 32) as u32;
        Self { object, offset: (bits as u32).wrapping_sub(Self::start(object)) }
    }

    /// The value that it is.
    pub fn bits(self) -> u64 {
        let address = self.offset.wrapping_add(Self::start(self.object));
        u64::from(self.object) << 32 | u64::from(address)
    }

    /// The same object, so many bytes on. The object never changes, the offset wraps around.
    pub fn plus(self, bytes: i64) -> Self {
        Self { offset: self.offset.wrapping_add(bytes as u32), ..self }
    }

    /// The object of the program that it is about, if it is about one.
    pub fn static_object(self) -> Option<crate::ObjectIdx> {
        match self.object {
            0 => None,
            object if object < Self::ROUTINE => Some(crate::ObjectIdx(object - 1)),
            _ => None,
        }
    }

    /// The routine that it is, if it is one.
    pub fn routine(self) -> Option<crate::RoutineId> {
        let is_routine = (Self::ROUTINE..Self::MADE).contains(&self.object);
        is_routine.then_some(crate::RoutineId(self.object & !Self::ROUTINE))
    }

    /// Who made the object, and after how many others, if it was made while the program ran.
    pub fn made(self) -> Option<(u32, u32)> {
        let was_made = (Self::MADE..Self::NEGATIVE).contains(&self.object);
        was_made.then_some((self.object >> 23 & 0x7f, self.object & (Self::MAX_MADE - 1)))
    }
}

/// A layout, by its number in [`Program::layouts`](crate::Program::layouts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayoutId(pub u32);

/// What the bytes of an object are.
///
/// Accesses may disagree (that is what unions and casts are for). A layout says how an object is
/// packed into a stored state, which parts of it are shared objects of their own, and what people
/// call them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One value. An integer of a width that is no number of bytes is kept extended.
    Scalar(Type),
    /// So many of the same, one behind the other.
    Array {
        /// What each is.
        element: LayoutId,
        /// How many there are.
        count: u32,
    },
    /// Named parts, in ascending order, perhaps with gaps.
    Struct {
        /// What people call it.
        name: String,
        /// The parts.
        fields: Vec<Field>,
        /// All bytes, with gaps at the end.
        size: u32,
    },
    /// Named parts that lie over each other: one shared object.
    Union {
        /// What people call it.
        name: String,
        /// The parts.
        fields: Vec<Field>,
        /// All bytes.
        size: u32,
    },
    /// Bytes of which nothing is known: one shared object.
    Bytes(u32),
    /// Something to synchronise on: one shared object.
    Sync {
        /// Which kind.
        kind: Sync,
        /// All bytes: at least [`Sync::bytes`].
        size: u32,
    },
    /// A queue of messages: one shared object. The first 4 bytes are its length, then come the
    /// messages, oldest first, each with its fields packed at their [`Type::bytes`].
    Channel {
        /// How many messages it has room for; 0 for a rendezvous.
        capacity: u32,
        /// The types of the fields of a message.
        fields: Vec<Type>,
        /// Which names the values of each field have, if they have any; none for those that are
        /// not told.
        symbols: Vec<Option<SymbolSet>>,
    },
}

/// A part of a [`Layout::Struct`] or a [`Layout::Union`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// What people call it.
    pub name: String,
    /// How many bytes from the beginning of the whole.
    pub offset: u32,
    /// What it is.
    pub layout: LayoutId,
}

/// The kinds of things to synchronise on. All bytes zero is the initial state of each but a
/// barrier, which needs its number of parties first.
///
/// Numbers are little-endian. A thread is stored as its number plus one, so 0 is none.
///
/// | kind      | bytes                                                                             |
/// |-----------|-----------------------------------------------------------------------------------|
/// | mutex     | 0: who has it; 1: kind, see [`Action::MutexInit`](crate::Action::MutexInit); 2-3: how often it was taken |
/// | rwlock    | 0: who writes; 4-7: how many times it is taken for reading; 8-55: three bits for each thread, how often that thread has it for reading |
/// | condvar   | 0-15: a bit for each thread that sleeps                                           |
/// | semaphore | 0-3: permits; 4-7: the permits it was created with                                |
/// | barrier   | 0-3: parties; 4-7: how many have arrived, ever                                    |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sync {
    /// A mutex, of the kind that its bytes say. A spin lock, too.
    Mutex,
    /// A reader-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A counting semaphore.
    Semaphore,
    /// A barrier for as many threads as its bytes say.
    Barrier,
}

impl Sync {
    /// The bytes that its state takes.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Mutex => 4,
            Self::RwLock => 56,
            Self::Condvar => 24,
            Self::Semaphore | Self::Barrier => 8,
        }
    }

    /// The byte that is [`Self::DESTROYED`] once it was destroyed, and never before: that of the
    /// kind of a mutex, the highest of the permits or parties, or one that has no other use.
    pub fn mark(self) -> u32 {
        match self {
            Self::Mutex | Self::RwLock => 1,
            Self::Condvar => 16,
            Self::Semaphore => 7,
            Self::Barrier => 3,
        }
    }

    /// What the [mark](Self::mark) is afterwards.
    pub const DESTROYED: u8 = 0xff;

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::RwLock => "rwlock",
            Self::Condvar => "condvar",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectIdx, RoutineId};

    #[test]
    fn pointers_are_numbers_like_addresses() {
        let objects = (0..100).map(|idx| Pointer::to_object(ObjectIdx(idx)));
        let routines = (0..100).map(|idx| Pointer::to_routine(RoutineId(idx)));
        let made = (0..1000).map(|idx| Pointer::to_made(idx / 100, idx % 100));
        let all: Vec<Pointer> = objects.chain(routines).chain(made).collect();
        let mut lows: Vec<u32> = Vec::new();
        for pointer in all {
            assert_eq!(Pointer::from_bits(pointer.bits()), pointer);
            assert!(pointer.bits() as i64 > 0, "{pointer:?}");
            assert_eq!(pointer.bits() % u64::from(Pointer::ALIGNMENT), 0, "{pointer:?}");
            for bytes in [1, 100, -1, -100] {
                let moved = pointer.bits().wrapping_add_signed(bytes);
                assert_eq!(moved, pointer.plus(bytes).bits(), "{pointer:?} and {bytes}");
            }
            lows.push(pointer.bits() as u32);
        }
        let n_all = lows.len();
        lows.sort_unstable();
        lows.dedup();
        assert_eq!(lows.len(), n_all, "the lower halves are different");
        assert!(lows.iter().all(|&low| 0 < low && low <= i32::MAX as u32));
        assert_eq!(Pointer::NULL.bits(), 0);
        for number in [0, 1, 42, u64::from(u32::MAX), u64::MAX, 1 << 62 | 5] {
            assert_eq!(Pointer::from_bits(number).bits(), number);
        }
    }
}
