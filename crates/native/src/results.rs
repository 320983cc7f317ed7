//! Who looks at the result of an addition: whether a thread learns no more of it than how it
//! compares with a few constants, found in the machine code behind the call.
//!
//! A thread that drops a reference asks whether it was the last one, and forgets what the count
//! was. Knowing that, the search need not keep such additions in order
//! ([`Addition`](mazurka_core::Addition)); so it has to be known, for a thread that learns more and
//! is not believed to would hide executions. The code is followed from the call on ([`follow`]), to
//! callers as well, until the result is forgotten on every way. Whatever is not understood counts
//! as looking: the addition is then a read-modify-write.
//!
//! The frames of the callers are on the stack when the operation is announced. What was found out
//! about a piece of code holds for all calls that come to it, so it is kept ([`Results`]).

mod follow;

use crate::coroutine;
use crate::image;
use mazurka_core::Tests;
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;

/// How many functions a result may be returned through.
const MAX_RETURNS: usize = 8;
/// A frame pointer is no farther from the stack pointer than this.
const MAX_FRAME: usize = 1 << 16;

/// Where the result of an addition is when it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// In the register for results, with something added to it.
    Returned(i64),
    /// In that register, but for its lowest byte.
    Covered,
    /// In some register, by its number.
    Register(u8),
    /// Nowhere but in the flags, which are those of the result and `added` compared with 0; or,
    /// `is_difference`, of the result compared with what was subtracted.
    Flags {
        /// What was added.
        added: i64,
        /// Whether a carry tells which is larger.
        is_difference: bool,
    },
}

/// Where a thread goes on after an addition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The next instruction.
    pub(crate) address: usize,
    pub(crate) stack_pointer: usize,
    pub(crate) frame_pointer: usize,
    pub(crate) origin: Origin,
    /// The size of the counter.
    pub(crate) bits: u8,
}

/// A piece of code from an addition, or a return, on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Piece {
    address: usize,
    origin: Origin,
    bits: u8,
    /// How far above the stack pointer the frame pointer is, if it is close.
    frame: Option<i64>,
}

/// What a piece of code does with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Use {
    tests: Tests,
    /// If it is returned, or left in the register for it: how.
    returned: Option<Returned>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Returned {
    /// Where, from the stack pointer at the beginning on, the address to return to is.
    at: i64,
    origin: Origin,
    /// Where the caller's frame pointer is.
    frame: Frame,
}

/// A frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Frame {
    /// As it was at the beginning.
    Initial,
    /// This far above the stack pointer at the beginning.
    At(i64),
    /// What is stored there.
    Stored(i64),
    Unknown,
}

#[derive(Default)]
struct Results {
    known: FxHashMap<Piece, Option<Use>>,
    /// What was asked for last: most often it is asked for again.
    last: Option<(Piece, Option<Use>)>,
}

struct Global(UnsafeCell<Option<Results>>);

// SAFETY: only the OS thread that explores uses it.
unsafe impl Sync for Global {}

static RESULTS: Global = Global(UnsafeCell::new(None));

/// What the running thread learns from the result of an addition; nothing if that is more than
/// comparisons.
#[inline]
pub(crate) fn tests(way: Way) -> Option<Tests> {
    // SAFETY: one OS thread explores, and no use of it is within another.
    let results = unsafe { &mut *RESULTS.0.get() }.get_or_insert_default();
    if let Some((last, None)) = &results.last
        && *last == Piece::behind(&way)
    {
        return None;
    }
    results.tests(way)
}

impl Piece {
    /// Where a thread goes on.
    #[inline]
    fn behind(way: &Way) -> Self {
        let &Way { address, stack_pointer, frame_pointer, origin, bits } = way;
        let frame = frame_pointer.checked_sub(stack_pointer).filter(|&far| far < MAX_FRAME);
        Self { address, origin, bits, frame: frame.map(|far| far as i64) }
    }
}

impl Results {
    fn tests(&mut self, mut way: Way) -> Option<Tests> {
        let mut tests = Tests::NONE;
        for _ in 0..MAX_RETURNS {
            let here = self.of(Piece::behind(&way))?;
            tests = here.tests.boundaries().iter().try_fold(tests, |all, &it| all.and_below(it))?;
            let Some(returned) = here.returned else { return Some(tests) };
            let Way { stack_pointer, frame_pointer, bits, .. } = way;
            let at = |offset: i64| stack_pointer.wrapping_add_signed(offset as isize);
            way = Way {
                // SAFETY: the frames of the callers are on the stack.
                address: unsafe { *(at(returned.at) as *const usize) },
                frame_pointer: match returned.frame {
                    Frame::Initial => frame_pointer,
                    Frame::At(offset) => at(offset),
                    // SAFETY: as above.
                    Frame::Stored(offset) => unsafe { *(at(offset) as *const usize) },
                    Frame::Unknown => 0,
                },
                stack_pointer: at(returned.at) + size_of::<usize>(),
                origin: returned.origin,
                bits,
            };
        }
        None
    }

    fn of(&mut self, piece: Piece) -> Option<Use> {
        if let Some((last, known)) = &self.last
            && *last == piece
        {
            return *known;
        }
        let found = self.look_up(piece);
        self.last = Some((piece, found));
        found
    }

    fn look_up(&mut self, piece: Piece) -> Option<Use> {
        if let Some(&known) = self.known.get(&piece) {
            return known;
        }
        let mut found = None;
        coroutine::as_host(|| {
            found = image::of(piece.address).and_then(|image| follow::follow(image, piece));
            self.known.insert(piece, found);
        });
        found
    }
}
