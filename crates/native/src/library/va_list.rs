//! Lists of arguments, as the System V ABI for x86-64 lays them out (section 3.5.7).

use super::Frame;

/// A copy of a list: to go through it changes nothing for anybody else.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct VaList {
    /// How far into `saved` the next word, and the next fraction, is.
    words: u32,
    floats: u32,
    /// The next argument that is in no register.
    rest: usize,
    /// The registers, as they are in [`Frame`].
    saved: usize,
}

const WORDS_END: u32 = 48;
const FLOATS_END: u32 = 176;

impl VaList {
    /// Those behind the first `n_named` of a call.
    pub(super) fn of(frame: &Frame, n_named: u8) -> Self {
        Self {
            words: u32::from(n_named) * 8,
            floats: WORDS_END,
            rest: &raw const frame.rest as usize,
            saved: std::ptr::from_ref(frame) as usize,
        }
    }

    /// The list at an address.
    pub(crate) fn at(address: usize) -> Self {
        // SAFETY: the program gives a list, and no other thread uses it meanwhile.
        unsafe { *(address as *const Self) }
    }

    /// The next argument, a pointer or a whole number.
    pub(crate) fn word(&mut self) -> usize {
        if self.words < WORDS_END {
            self.words += 8;
            return load(self.saved + self.words as usize - 8);
        }
        self.rest += 8;
        load(self.rest - 8)
    }

    /// Leaves out a fraction.
    pub(crate) fn skip_float(&mut self) {
        if self.floats < FLOATS_END {
            self.floats += 16;
        } else {
            self.rest += 8;
        }
    }

    /// Leaves out a `long double`, which is never in a register.
    pub(crate) fn skip_long_double(&mut self) {
        self.rest = self.rest.next_multiple_of(16) + 16;
    }
}

fn load(address: usize) -> usize {
    // SAFETY: the arguments are there as long as the call is in progress.
    unsafe { *(address as *const usize) }
}
