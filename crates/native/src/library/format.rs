//! Formats of `printf` and `scanf`: which of the arguments are read and written.
//!
//! Of what is printed, strings are read, and `%n` writes. What is scanned is written, as far as the
//! result says that something was found.

use super::Call;
use super::extent::{WIDE_LEN, text, text_up_to, wide, wide_up_to};
use super::va_list::VaList;
use crate::exit;
use crate::real::original;
use std::ffi::{c_char, c_int, c_void};

/// Of what characters a format consists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    Narrow,
    Wide,
}

/// One conversion of a format.
#[derive(Clone, Copy)]
struct Conversion {
    /// Which argument it is about, from 1; the next one, if the format does not say.
    position: Option<usize>,
    width: Count,
    precision: Count,
    size: Size,
    /// Whether what is found is left out, or memory for it is allocated.
    is_left_out: bool,
    is_allocated: bool,
    letter: u8,
}

#[derive(Clone, Copy)]
enum Count {
    None,
    Number(usize),
    /// It is an argument, perhaps with its position.
    Argument(Option<usize>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Char,
    Short,
    Int,
    Long,
    LongDouble,
}

/// How an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    Word,
    Float,
    LongDouble,
}

/// As many as a format may name by their positions; POSIX has nine.
const MAX_POSITION: usize = 64;

/// A format that is being read.
struct Format {
    address: usize,
    rules: Rules,
    at: usize,
}

impl Format {
    fn new(address: usize, rules: Rules) -> Self {
        Self { address, rules, at: 0 }
    }

    /// The character there; what is no letter of a format is as good as any other.
    fn peek(&self) -> u8 {
        // SAFETY: the program gives a string, and nobody reads beyond its end.
        unsafe {
            match self.rules {
                Rules::Narrow => *(self.address as *const u8).add(self.at),
                Rules::Wide => {
                    let character = *(self.address as *const u32).add(self.at);
                    u8::try_from(character).unwrap_or(u8::MAX)
                }
            }
        }
    }

    fn take(&mut self, wanted: &[u8]) -> Option<u8> {
        let found = self.peek();
        if found == 0 || !wanted.contains(&found) {
            return None;
        }
        self.at += 1;
        Some(found)
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None::<usize>;
        while let Some(digit) = self.take(b"0123456789") {
            let tens = number.unwrap_or(0).saturating_mul(10);
            number = Some(tens.saturating_add(usize::from(digit - b'0')));
        }
        number
    }

    /// A number with a dollar sign behind it.
    fn position(&mut self) -> Option<usize> {
        let start = self.at;
        let number = self.number();
        match (number, self.take(b"$")) {
            (Some(number), Some(_)) => Some(number.clamp(1, MAX_POSITION)),
            _ => {
                self.at = start;
                None
            }
        }
    }

    fn count(&mut self) -> Count {
        match self.take(b"*") {
            Some(_) => Count::Argument(self.position()),
            None => self.number().map_or(Count::None, Count::Number),
        }
    }

    fn size(&mut self) -> Size {
        let mut size = Size::Int;
        while let Some(letter) = self.take(b"hlqLjzZt") {
            size = match (letter, size) {
                (b'h', Size::Short) => Size::Char,
                (b'h', _) => Size::Short,
                (b'L', _) => Size::LongDouble,
                _ => Size::Long,
            };
        }
        size
    }

    /// The next conversion of what is printed.
    fn next_printed(&mut self) -> Option<Conversion> {
        self.skip_to_conversion()?;
        let position = self.position();
        while self.take(b"-+ #0'I").is_some() {}
        let width = self.count();
        let precision = match self.take(b".") {
            // A point alone is a precision of 0.
            Some(_) => match self.count() {
                Count::None => Count::Number(0),
                count => count,
            },
            None => Count::None,
        };
        let size = self.size();
        let (is_left_out, is_allocated) = (false, false);
        let letter = self.letter()?;
        Some(Conversion { position, width, precision, size, is_left_out, is_allocated, letter })
    }

    /// The next conversion of what is scanned.
    fn next_scanned(&mut self) -> Option<Conversion> {
        self.skip_to_conversion()?;
        let position = self.position();
        let mut is_left_out = false;
        while let Some(flag) = self.take(b"*'I") {
            is_left_out |= flag == b'*';
        }
        let width = self.number().map_or(Count::None, Count::Number);
        let is_allocated = self.take(b"m").is_some();
        let size = self.size();
        let letter = self.letter()?;
        if letter == b'[' {
            self.skip_set();
        }
        let precision = Count::None;
        Some(Conversion { position, width, precision, size, is_left_out, is_allocated, letter })
    }

    fn skip_to_conversion(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                0 => return None,
                b'%' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    fn letter(&mut self) -> Option<u8> {
        let letter = self.peek();
        self.at += usize::from(letter != 0);
        (letter != 0).then_some(letter)
    }

    /// Goes on behind a set of characters, whose first may be the bracket that ends it.
    fn skip_set(&mut self) {
        self.take(b"^");
        self.take(b"]");
        while self.peek() != 0 && self.take(b"]").is_none() {
            self.at += 1;
        }
    }
}

impl Conversion {
    /// How its argument is passed, if it has one.
    fn passed(&self) -> Option<Passed> {
        match self.letter {
            b'%' | b'm' => None,
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => Some(match self.size {
                Size::LongDouble => Passed::LongDouble,
                _ => Passed::Float,
            }),
            _ => Some(Passed::Word),
        }
    }

    /// How many bytes a whole number of its size has.
    fn len(&self) -> usize {
        match self.size {
            Size::Char => 1,
            Size::Short => 2,
            Size::Int => 4,
            Size::Long | Size::LongDouble => 8,
        }
    }

    fn is_wide(&self) -> bool {
        self.size == Size::Long || matches!(self.letter, b'S' | b'C')
    }
}

fn pass(list: &mut VaList, passed: Passed) -> usize {
    match passed {
        Passed::Word => list.word(),
        Passed::Float => {
            list.skip_float();
            0
        }
        Passed::LongDouble => {
            list.skip_long_double();
            0
        }
    }
}

/// Tells what is read, and written by `%n`, when this is printed.
pub(crate) fn prints(call: &Call<'_>, format: usize, list: VaList, rules: Rules) {
    if format == 0 {
        return;
    }
    let len = match rules {
        Rules::Narrow => text(format),
        Rules::Wide => wide(format),
    };
    call.read(format, len);
    if has_positions(Format::new(format, rules)) {
        return prints_by_position(call, format, list, rules);
    }
    let mut list = list;
    let mut reading = Format::new(format, rules);
    while let Some(conversion) = reading.next_printed() {
        let mut count = |count| match count {
            Count::None => None,
            Count::Number(number) => Some(number),
            Count::Argument(_) => usize::try_from(list.word() as c_int).ok(),
        };
        count(conversion.width);
        let precision = count(conversion.precision);
        if let Some(passed) = conversion.passed() {
            print_one(call, &conversion, precision, pass(&mut list, passed));
        }
    }
}

fn has_positions(mut reading: Format) -> bool {
    while let Some(conversion) = reading.next_printed() {
        if conversion.position.is_some() {
            return true;
        }
    }
    false
}

/// The same where conversions name their arguments: how each is passed has to be known first.
fn prints_by_position(call: &Call<'_>, format: usize, mut list: VaList, rules: Rules) {
    let mut passed = [Passed::Word; MAX_POSITION];
    let mut n_arguments = 0;
    let mut reading = Format::new(format, rules);
    while let Some(conversion) = reading.next_printed() {
        for count in [conversion.width, conversion.precision] {
            if let Count::Argument(Some(position)) = count {
                n_arguments = n_arguments.max(position);
            }
        }
        if let (Some(position), Some(how)) = (conversion.position, conversion.passed()) {
            passed[position - 1] = how;
            n_arguments = n_arguments.max(position);
        }
    }
    let mut values = [0; MAX_POSITION];
    for (value, how) in values.iter_mut().zip(passed).take(n_arguments) {
        *value = pass(&mut list, how);
    }
    let mut reading = Format::new(format, rules);
    while let Some(conversion) = reading.next_printed() {
        let precision = match conversion.precision {
            Count::Number(number) => Some(number),
            Count::Argument(Some(position)) => usize::try_from(values[position - 1] as c_int).ok(),
            Count::Argument(None) | Count::None => None,
        };
        if let Some(position) = conversion.position {
            print_one(call, &conversion, precision, values[position - 1]);
        }
    }
}

fn print_one(call: &Call<'_>, conversion: &Conversion, precision: Option<usize>, value: usize) {
    if value == 0 {
        return;
    }
    match (conversion.letter, precision) {
        (b'n', _) => call.write(value, conversion.len()),
        (b's' | b'S', None) if conversion.is_wide() => call.read(value, wide(value)),
        // Of wide characters, no more than so many bytes are printed.
        (b's' | b'S', Some(limit)) if conversion.is_wide() => {
            call.read(value, wide_up_to(value, limit));
        }
        (b's', None) => call.read(value, text(value)),
        (b's', Some(limit)) => call.read(value, text_up_to(value, limit)),
        _ => {}
    }
}

/// How many bytes are written when this is printed into memory, up to a limit.
pub(crate) fn printed(
    format: usize,
    mut list: VaList,
    limit: Option<usize>,
    rules: Rules,
) -> usize {
    assert!(rules == Rules::Narrow, "wide characters are printed first");
    if format == 0 || limit == Some(0) {
        return 0;
    }
    let real = original!(vsnprintf(*mut c_char, usize, *const c_char, *mut VaList) -> c_int);
    let len = super::extent::without_error(|| {
        // SAFETY: the program gives a format and what belongs to it; nothing is written but `%n`,
        // which the call will write again.
        unsafe { real(std::ptr::null_mut(), 0, format as *const c_char, &raw mut list) }
    });
    let len = usize::try_from(len).map_or(0, |len| len + 1);
    limit.map_or(len, |limit| len.min(limit))
}

/// Prints wide characters into memory.
pub(super) fn swprintf(call: &Call<'_>) -> usize {
    print_wide(call, 2, call.list(3))
}

pub(super) fn swprintf_chk(call: &Call<'_>) -> usize {
    print_wide(call, 4, call.list(5))
}

pub(super) fn vswprintf(call: &Call<'_>) -> usize {
    print_wide(call, 2, VaList::at(call.word(3)))
}

pub(super) fn vswprintf_chk(call: &Call<'_>) -> usize {
    print_wide(call, 4, VaList::at(call.word(5)))
}

fn print_wide(call: &Call<'_>, format: u8, list: VaList) -> usize {
    let real = original!(vswprintf(*mut c_void, usize, *const c_void, *mut VaList) -> c_int);
    let (to, limit, format) = (call.word(0), call.word(1), call.word(format));
    prints(call, format, list, Rules::Wide);
    let mut list = list;
    // SAFETY: the program wanted to call just this, one way or the other.
    let result = unsafe { real(to as *mut c_void, limit, format as *const c_void, &raw mut list) };
    let len = usize::try_from(result).map_or(limit, |len| len + 1);
    call.write(to, len * WIDE_LEN);
    result as usize
}

/// `err` and `errx`: print, and end the program.
pub(super) fn err(call: &Call<'_>, has_error: bool) -> usize {
    warn(call.word(1), call.list(2), has_error);
    exit::exit_program(call.word(0) as c_int)
}

pub(super) fn verr(call: &Call<'_>, has_error: bool) -> usize {
    warn(call.word(1), VaList::at(call.word(2)), has_error);
    exit::exit_program(call.word(0) as c_int)
}

/// `error`: prints, and ends the program unless its status is 0.
pub(super) fn error(call: &Call<'_>) -> usize {
    let (status, number) = (call.word(0) as c_int, call.word(1) as c_int);
    // SAFETY: every thread has an error number.
    unsafe { *libc::__errno_location() = number };
    warn(call.word(2), call.list(3), number != 0);
    match status {
        0 => 0,
        status => exit::exit_program(status),
    }
}

fn warn(format: usize, mut list: VaList, has_error: bool) {
    let with = original!(vwarn(*const c_char, *mut VaList));
    let without = original!(vwarnx(*const c_char, *mut VaList));
    let real = if has_error { with } else { without };
    // SAFETY: the program gives a format and what belongs to it.
    unsafe { real(format as *const c_char, &raw mut list) };
}

/// Tells what was written when something was scanned, with this result.
fn scanned(call: &Call<'_>, format: usize, mut list: VaList, rules: Rules, result: c_int) {
    let len = match rules {
        Rules::Narrow => text(format),
        Rules::Wide => wide(format),
    };
    call.read(format, len);
    let n_found = usize::try_from(result).unwrap_or(0);
    let mut n_assigned = 0;
    let mut values = [None; MAX_POSITION];
    let mut reading = Format::new(format, rules);
    while let Some(conversion) = reading.next_scanned() {
        if conversion.is_left_out || conversion.letter == b'%' {
            continue;
        }
        let value = match conversion.position {
            None => list.word(),
            // All of them are pointers, so they can be taken up to the one that is wanted.
            Some(position) => {
                for value in values.iter_mut().take(position) {
                    value.get_or_insert_with(|| list.word());
                }
                values[position - 1].unwrap_or(0)
            }
        };
        if conversion.letter == b'n' {
            if result >= 0 && n_assigned <= n_found {
                call.write(value, conversion.len());
            }
            continue;
        }
        if n_assigned < n_found {
            call.write(value, scanned_len(&conversion, value));
        }
        n_assigned += 1;
    }
}

fn scanned_len(conversion: &Conversion, value: usize) -> usize {
    let unit = if conversion.is_wide() { WIDE_LEN } else { 1 };
    match conversion.letter {
        _ if conversion.is_allocated => size_of::<usize>(),
        b'c' | b'C' => match conversion.width {
            Count::Number(width) => width * unit,
            Count::None | Count::Argument(_) => unit,
        },
        b's' | b'S' | b'[' if conversion.is_wide() => wide(value),
        b's' | b'[' => text(value),
        b'p' => size_of::<usize>(),
        _ if conversion.passed() == Some(Passed::LongDouble) => 16,
        _ => conversion.len(),
    }
}

/// Defines functions that scan by calling those that take a list.
macro_rules! scans {
    ($rules:ident: $($name:ident $with_list:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> usize {
            let real = original!($with_list(usize, usize, *mut VaList) -> c_int);
            let (from, format, list) = (call.word(0), call.word(1), call.list(2));
            let mut copy = list;
            // SAFETY: the program wanted to call just this, one way or the other.
            let result = unsafe { real(from, format, &raw mut copy) };
            scanned(call, format, list, Rules::$rules, result);
            result as usize
        }

        pub(super) fn $with_list(call: &Call<'_>) -> usize {
            let list = VaList::at(call.word(2));
            let result = call.make();
            scanned(call, call.word(1), list, Rules::$rules, result as c_int);
            result
        }
    )*};
    (@input $rules:ident: $($name:ident $with_list:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> usize {
            let real = original!($with_list(usize, *mut VaList) -> c_int);
            let (format, list) = (call.word(0), call.list(1));
            let mut copy = list;
            // SAFETY: as above.
            let result = unsafe { real(format, &raw mut copy) };
            scanned(call, format, list, Rules::$rules, result);
            result as usize
        }

        pub(super) fn $with_list(call: &Call<'_>) -> usize {
            let list = VaList::at(call.word(1));
            let result = call.make();
            scanned(call, call.word(0), list, Rules::$rules, result as c_int);
            result
        }
    )*};
}

scans! { Narrow:
    sscanf vsscanf;
    fscanf vfscanf;
    __isoc99_sscanf __isoc99_vsscanf;
    __isoc99_fscanf __isoc99_vfscanf;
    __isoc23_sscanf __isoc23_vsscanf;
    __isoc23_fscanf __isoc23_vfscanf;
}

scans! { Wide:
    swscanf vswscanf;
    fwscanf vfwscanf;
    __isoc99_swscanf __isoc99_vswscanf;
    __isoc99_fwscanf __isoc99_vfwscanf;
    __isoc23_swscanf __isoc23_vswscanf;
    __isoc23_fwscanf __isoc23_vfwscanf;
}

scans! { @input Narrow:
    scanf vscanf;
    __isoc99_scanf __isoc99_vscanf;
    __isoc23_scanf __isoc23_vscanf;
}

scans! { @input Wide:
    wscanf vwscanf;
    __isoc99_wscanf __isoc99_vwscanf;
    __isoc23_wscanf __isoc23_vwscanf;
}
