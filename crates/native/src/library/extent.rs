//! How far a function of the C library reads or writes from where an argument points.

use super::Call;
use crate::real::original;
use libc::wchar_t;
use std::ffi::{c_char, c_int, c_void};

/// So many bytes. Arguments are named by their numbers.
#[derive(Clone, Copy)]
pub(crate) enum Extent {
    Bytes(u32),
    /// As many bytes as an argument says.
    Count(u8),
    /// As many units of this length as an argument says.
    Units(u8, u32),
    /// The product of two arguments.
    Product(u8, u8),
    /// As many units of this length as what another argument points to says.
    CountAt(u8, u32),
    /// A string and its end.
    Text,
    /// The same, or no more than an argument says.
    TextUpTo(u8),
    /// As long as the string that another argument points to.
    TextOf(u8),
    /// The same for wide characters; limits are in characters.
    Wide,
    WideUpTo(u8),
    WideOf(u8),
    /// After a call: as many bytes as it returns, if that is positive.
    Result,
    /// As many units as it returns, of the length that an argument says.
    ResultUnits(u8),
    /// As many as it returns, and the end of a string, if that is positive.
    ResultAndEnd,
    /// The same for wide characters.
    WideResultAndEnd,
    /// So many bytes if it returns 0, or if it returns anything else.
    IfZero(u32),
    IfSo(u32),
    /// A string, if it returns 0, or if it returns anything else.
    TextIfZero,
    TextIfSo,
    WideIfSo,
    /// Up to the character that it returns a pointer to, and that, or the whole string.
    ToResult,
}

pub(crate) const WIDE_LEN: usize = size_of::<wchar_t>();

impl Extent {
    /// How many bytes, from `address` on. `result` is what the call returns, after it.
    pub(super) fn len(self, call: &Call<'_>, address: usize, result: usize) -> usize {
        let units = |n: usize, len: u32| n.saturating_mul(len as usize);
        let positive = usize::try_from(result as isize).unwrap_or(0);
        let if_it = |is_so: bool, len: usize| if is_so { len } else { 0 };
        // Functions that return an `int` leave the upper half of the register undefined.
        let is_zero = result as c_int == 0;
        match self {
            Self::Bytes(len) => len as usize,
            Self::Count(idx) => call.word(idx),
            Self::Units(idx, len) => units(call.word(idx), len),
            Self::Product(one, other) => call.word(one).saturating_mul(call.word(other)),
            Self::CountAt(idx, len) => units(u32_at(call.word(idx)), len),
            Self::Text => text(address),
            Self::TextUpTo(idx) => text_up_to(address, call.word(idx)),
            Self::TextOf(idx) => text(call.word(idx)),
            Self::Wide => wide(address),
            Self::WideUpTo(idx) => wide_up_to(address, call.word(idx)),
            Self::WideOf(idx) => wide(call.word(idx)),
            Self::Result => positive,
            Self::ResultUnits(idx) => result.saturating_mul(call.word(idx)),
            Self::ResultAndEnd => if_it(positive > 0, positive + 1),
            Self::WideResultAndEnd => if_it(positive > 0, (positive + 1) * WIDE_LEN),
            Self::IfZero(len) => if_it(is_zero, len as usize),
            Self::IfSo(len) => if_it(!is_zero, len as usize),
            Self::TextIfZero if is_zero => text(address),
            Self::TextIfSo if result != 0 => text(address),
            Self::WideIfSo if result != 0 => wide(address),
            Self::TextIfZero | Self::TextIfSo | Self::WideIfSo => 0,
            Self::ToResult if result != 0 => result.wrapping_sub(address).saturating_add(1),
            Self::ToResult => text(address),
        }
    }
}

fn u32_at(address: usize) -> usize {
    if address == 0 {
        return 0;
    }
    // SAFETY: the program gives a pointer to a number.
    unsafe { *(address as *const u32) as usize }
}

/// How long a string is, with its end. A null pointer is none.
pub(crate) fn text(address: usize) -> usize {
    if address == 0 {
        return 0;
    }
    // SAFETY: the program gives a string.
    unsafe { libc::strlen(address as *const c_char) + 1 }
}

/// The same, or no more than `limit`.
pub(crate) fn text_up_to(address: usize, limit: usize) -> usize {
    // SAFETY: the program gives a string, or so many characters.
    let end = unsafe { libc::memchr(address as *const c_void, 0, limit) } as usize;
    if end == 0 { limit } else { end - address + 1 }
}

/// How many bytes a wide string has, with its end. A null pointer is none.
pub(crate) fn wide(address: usize) -> usize {
    wide_up_to(address, usize::MAX)
}

/// The same, or no more than `limit` characters.
pub(crate) fn wide_up_to(address: usize, limit: usize) -> usize {
    if address == 0 {
        return 0;
    }
    // SAFETY: the program gives a string, or so many characters.
    let character = |idx: usize| unsafe { *(address as *const wchar_t).add(idx) };
    let mut len = 0;
    while len < limit && character(len) != 0 {
        len += 1;
    }
    (len + usize::from(len < limit)) * WIDE_LEN
}

/// Up to a character and that, or as far as the string, or `limit`, goes.
pub(crate) fn to_character(address: usize, character: usize, limit: usize) -> usize {
    // SAFETY: the program gives a string, or so many characters.
    let byte = |idx: usize| unsafe { *(address as *const u8).add(idx) };
    let mut len = 0;
    while len < limit {
        len += 1;
        if byte(len - 1) == character as u8 || byte(len - 1) == 0 {
            break;
        }
    }
    len
}

/// As far as two strings are alike, and one character more, but no more than `limit`.
pub(crate) fn to_difference(
    one: usize,
    other: usize,
    limit: usize,
    fold: impl Fn(u8) -> u8,
) -> usize {
    // SAFETY: the program gives two strings, or so many characters.
    let bytes = |idx: usize| unsafe {
        (fold(*(one as *const u8).add(idx)), fold(*(other as *const u8).add(idx)))
    };
    let mut len = 0;
    while len < limit {
        let (first, second) = bytes(len);
        len += 1;
        if first != second || first == 0 {
            break;
        }
    }
    len
}

/// How far a whole number goes, and the character behind it.
pub(crate) fn whole_number(address: usize, base: c_int) -> usize {
    let real = original!(strtoull(*const c_char, *mut *mut c_char, c_int) -> u64);
    without_error(|| {
        let mut end = std::ptr::null_mut();
        // SAFETY: the program gives a string.
        unsafe { real(address as *const c_char, &raw mut end, base) };
        end as usize - address + 1
    })
}

/// How far a fraction goes, and the character behind it.
pub(crate) fn fraction(address: usize) -> usize {
    let real = original!(strtod(*const c_char, *mut *mut c_char) -> f64);
    without_error(|| {
        let mut end = std::ptr::null_mut();
        // SAFETY: the program gives a string.
        unsafe { real(address as *const c_char, &raw mut end) };
        end as usize - address + 1
    })
}

/// What it does leaves no error number behind.
pub(crate) fn without_error<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: every thread has an error number.
    unsafe {
        let error = *libc::__errno_location();
        let result = work();
        *libc::__errno_location() = error;
        result
    }
}
