//! `getopt` and its like: made anew, since the C library keeps where it is in a place that is not
//! put back.
//!
//! Follows `posix/getopt.c` of the GNU C library. What is read of the arguments, of the options and
//! of `opterr`, and what is written to `optind`, `optarg` and `optopt` and changed in the order of
//! the arguments, is told as accesses of the program.

use super::extent::text;
use super::{Call, State, kept};
use std::ffi::{CStr, c_char, c_int};

/// Where the next call goes on.
#[repr(C)]
pub(super) struct Position {
    is_begun: bool,
    order: Order,
    /// The rest of an argument with several options; or null.
    next: *const c_char,
    /// The arguments from the first of these to before the other were passed over.
    first_other: c_int,
    last_other: c_int,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Order {
    /// Options come first, by a change of the order of arguments.
    Permute = 0,
    /// The first other argument ends the options.
    Require,
    /// Other arguments count as those of an option with the number 1.
    Return,
}

/// As in `getopt.h`.
#[repr(C)]
struct Long {
    name: *const c_char,
    has_argument: c_int,
    flag: *mut c_int,
    value: c_int,
}

/// The two words of a long option that follow its name.
const NO_ARGUMENT: c_int = 0;
const NEEDS_ARGUMENT: c_int = 1;

unsafe extern "C" {
    static mut optind: c_int;
    static mut opterr: c_int;
    static mut optopt: c_int;
    static mut optarg: *mut c_char;
}

/// The variables of the program: address and length.
pub(super) fn variables() -> [(usize, usize); 4] {
    let number = size_of::<c_int>();
    [
        (&raw const optind as usize, number),
        (&raw const opterr as usize, number),
        (&raw const optopt as usize, number),
        (&raw const optarg as usize, size_of::<usize>()),
    ]
}

/// `getopt`.
pub(super) fn short(call: &Call<'_>) -> usize {
    Search::new(call, 0, false).answer(false)
}

/// The same with the rules of POSIX.
pub(super) fn posix(call: &Call<'_>) -> usize {
    Search::new(call, 0, false).answer(true)
}

pub(super) fn long(call: &Call<'_>) -> usize {
    Search::new(call, call.word(3), false).answer(false)
}

pub(super) fn long_only(call: &Call<'_>) -> usize {
    Search::new(call, call.word(3), true).answer(false)
}

/// One call. The numbers are those of the variables.
struct Search<'a> {
    call: &'a Call<'a>,
    n_arguments: c_int,
    arguments: *mut *mut c_char,
    options: &'static [u8],
    long_options: *const Long,
    is_long_only: bool,
    at: &'static mut Position,
    index: c_int,
    argument: *mut c_char,
    option: c_int,
    says_errors: bool,
}

impl<'a> Search<'a> {
    fn new(call: &'a Call<'a>, long_options: usize, is_long_only: bool) -> Self {
        call.touch(State::Options, true);
        let [index, errors, option, _] = variables();
        for (address, len) in [index, errors, option] {
            call.read(address, len);
        }
        call.read(call.word(2), text(call.word(2)));
        // SAFETY: the program gives a string, and one thread uses the variables and the position.
        unsafe {
            Self {
                call,
                n_arguments: call.word(0) as c_int,
                arguments: call.word(1) as *mut *mut c_char,
                options: CStr::from_ptr(call.word(2) as *const c_char).to_bytes(),
                long_options: long_options as *const Long,
                is_long_only,
                at: &mut *kept::options(),
                index: optind,
                argument: std::ptr::null_mut(),
                option: optopt,
                says_errors: opterr != 0,
            }
        }
    }

    /// Makes the call.
    fn answer(mut self, is_posix: bool) -> usize {
        if self.n_arguments < 1 {
            return -1_isize as usize;
        }
        let answer = self.find(is_posix);
        let [index, _, option, argument] = variables();
        for (address, len) in [index, option, argument] {
            self.call.write(address, len);
        }
        // SAFETY: one thread uses them.
        unsafe {
            optind = self.index;
            optopt = self.option;
            optarg = self.argument;
        }
        answer as isize as usize
    }

    fn find(&mut self, is_posix: bool) -> c_int {
        if self.index == 0 || !self.at.is_begun {
            self.begin(is_posix);
        }
        if let [b'-' | b'+', rest @ ..] = self.options {
            self.options = rest;
        }
        let is_told = self.options.first() == Some(&b':');
        self.says_errors &= !is_told;
        if (self.at.next.is_null() || byte(self.at.next) == 0)
            && let Some(answer) = self.next_argument()
        {
            return answer;
        }
        self.short_option()
    }

    fn begin(&mut self, is_posix: bool) {
        self.index = self.index.max(1);
        let order = match self.options.first() {
            Some(b'-') => Order::Return,
            Some(b'+') => Order::Require,
            _ if is_posix || kept::has_variable(self.call, b"POSIXLY_CORRECT") => Order::Require,
            _ => Order::Permute,
        };
        let (first_other, last_other) = (self.index, self.index);
        let next = std::ptr::null();
        *self.at = Position { is_begun: true, order, next, first_other, last_other };
    }

    /// Goes to the next argument that has options. An answer, if there is none, or if it is a long
    /// one.
    fn next_argument(&mut self) -> Option<c_int> {
        let n_arguments = self.n_arguments;
        self.at.last_other = self.at.last_other.min(self.index);
        self.at.first_other = self.at.first_other.min(self.index);
        if self.at.order == Order::Permute {
            if self.at.first_other != self.at.last_other && self.at.last_other != self.index {
                self.exchange();
            } else if self.at.last_other != self.index {
                self.at.first_other = self.index;
            }
            while self.index < n_arguments && self.is_other(self.index) {
                self.index += 1;
            }
            self.at.last_other = self.index;
            // The next call exchanges them.
            if self.index < n_arguments && self.at.first_other != self.at.last_other {
                let (start, end) = (self.at.first_other as usize, self.index as usize);
                let place = self.arguments.wrapping_add(start);
                self.call.write(place as usize, (end + 1 - start) * size_of::<usize>());
            }
        }
        if self.index != n_arguments && self.text(self.index) == b"--" {
            self.index += 1;
            if self.at.first_other != self.at.last_other && self.at.last_other != self.index {
                self.exchange();
            } else if self.at.first_other == self.at.last_other {
                self.at.first_other = self.index;
            }
            self.at.last_other = n_arguments;
            self.index = n_arguments;
        }
        if self.index == n_arguments {
            if self.at.first_other != self.at.last_other {
                self.index = self.at.first_other;
            }
            return Some(-1);
        }
        let start = self.get(self.index);
        if self.is_other(self.index) {
            if self.at.order == Order::Require {
                return Some(-1);
            }
            self.argument = start;
            self.index += 1;
            return Some(1);
        }
        let word = self.text(self.index);
        self.at.next = start.wrapping_add(1);
        if self.long_options.is_null() {
            return None;
        }
        if word[1] == b'-' {
            self.at.next = start.wrapping_add(2);
            return self.long_option("--", self.is_long_only).or(Some(i32::from(b'?')));
        }
        if self.is_long_only && (word.len() > 2 || !self.options.contains(&word[1])) {
            return self.long_option("-", true);
        }
        None
    }

    /// The answer to a long option; nothing, if it may be a short one.
    fn long_option(&mut self, prefix: &str, is_long_only: bool) -> Option<c_int> {
        const ERROR: Option<c_int> = Some(b'?' as c_int);
        let whole = self.rest();
        let name = whole.split(|&it| it == b'=').next().unwrap_or(whole);
        let given = name.len() < whole.len();
        let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut found: Option<(usize, &Long)> = None;
        let mut others: Vec<usize> = Vec::new();
        for (idx, (option, its_name)) in self.long_options().enumerate() {
            if !its_name.starts_with(name) {
                continue;
            }
            if its_name.len() == name.len() {
                found = Some((idx, option));
                others.clear();
                break;
            }
            let Some((_, first)) = found else {
                found = Some((idx, option));
                continue;
            };
            let is_same = (first.has_argument, first.flag, first.value)
                == (option.has_argument, option.flag, option.value);
            if is_long_only || !is_same {
                others.push(idx);
            }
        }
        if let Some((first, _)) = found.filter(|_| !others.is_empty()) {
            let names: Vec<&[u8]> = self.long_options().map(|(_, name)| name).collect();
            let all = [first].into_iter().chain(others);
            let all: String = all.map(|idx| format!(" '{prefix}{}'", show(names[idx]))).collect();
            let word = show(whole);
            self.say(&format!("option '{prefix}{word}' is ambiguous; possibilities:{all}"));
            self.at.next = self.at.next.wrapping_add(whole.len());
            self.index += 1;
            self.option = 0;
            return ERROR;
        }
        let Some((idx, option)) = found else {
            let is_short = is_long_only
                && self.text(self.index)[1] != b'-'
                && whole.first().is_some_and(|first| self.options.contains(first));
            if is_short {
                return None;
            }
            self.say(&format!("unrecognized option '{prefix}{}'", show(whole)));
            self.at.next = std::ptr::null();
            self.index += 1;
            self.option = 0;
            return ERROR;
        };
        let start = self.at.next;
        self.index += 1;
        self.at.next = std::ptr::null();
        // SAFETY: the name of an option is a string.
        let its_name = unsafe { CStr::from_ptr(option.name) }.to_string_lossy().into_owned();
        if given {
            if option.has_argument == NO_ARGUMENT {
                self.say(&format!("option '{prefix}{its_name}' doesn't allow an argument"));
                self.option = option.value;
                return ERROR;
            }
            self.argument = start.wrapping_add(name.len() + 1).cast_mut();
        } else if option.has_argument == NEEDS_ARGUMENT {
            if self.index >= self.n_arguments {
                self.say(&format!("option '{prefix}{its_name}' requires an argument"));
                self.option = option.value;
                return Some(self.missing());
            }
            self.argument = self.get(self.index);
            self.index += 1;
        }
        let to = self.call.word(4) as *mut c_int;
        if !to.is_null() {
            self.call.write(to as usize, size_of::<c_int>());
            // SAFETY: the program wants the number there.
            unsafe { *to = idx as c_int };
        }
        if option.flag.is_null() {
            return Some(option.value);
        }
        self.call.write(option.flag as usize, size_of::<c_int>());
        // SAFETY: the program wants the value there.
        unsafe { *option.flag = option.value };
        Some(0)
    }

    fn short_option(&mut self) -> c_int {
        self.call.read(self.at.next as usize, 2);
        let letter = byte(self.at.next);
        self.at.next = self.at.next.wrapping_add(1);
        let is_last = byte(self.at.next) == 0;
        if is_last {
            self.index += 1;
        }
        let place = self.options.iter().position(|&it| it == letter);
        let Some(place) = place.filter(|_| !matches!(letter, b':' | b';')) else {
            self.say(&format!("invalid option -- '{}'", char::from(letter)));
            self.option = letter.into();
            return b'?'.into();
        };
        let rules = &self.options[place + 1..];
        let is_long = letter == b'W' && rules.first() == Some(&b';');
        if is_long && !self.long_options.is_null() {
            if is_last {
                if self.index == self.n_arguments {
                    return self.lacks_argument(letter);
                }
                self.at.next = self.get(self.index);
            }
            return self.long_option("-W ", false).unwrap_or(b'?'.into());
        }
        match rules {
            [b':', b':', ..] => {
                if !is_last {
                    self.argument = self.at.next.cast_mut();
                    self.index += 1;
                }
                self.at.next = std::ptr::null();
            }
            [b':', ..] => {
                let start = std::mem::replace(&mut self.at.next, std::ptr::null());
                if !is_last {
                    self.argument = start.cast_mut();
                    self.index += 1;
                } else if self.index == self.n_arguments {
                    return self.lacks_argument(letter);
                } else {
                    self.argument = self.get(self.index);
                    self.index += 1;
                }
            }
            _ => {}
        }
        letter.into()
    }

    fn lacks_argument(&mut self, letter: u8) -> c_int {
        self.say(&format!("option requires an argument -- '{}'", char::from(letter)));
        self.option = letter.into();
        self.missing()
    }

    /// The answer where an argument is missing.
    fn missing(&self) -> c_int {
        if self.options.first() == Some(&b':') { b':'.into() } else { b'?'.into() }
    }

    /// Moves the options behind other arguments in front of them.
    fn exchange(&mut self) {
        let (first, last) = (self.at.first_other, self.at.last_other);
        let start = self.arguments.wrapping_add(first as usize);
        let len = (self.index - first) as usize;
        self.call.write(start as usize, len * size_of::<usize>());
        // SAFETY: the program gives so many arguments.
        let both = unsafe { std::slice::from_raw_parts_mut(start, len) };
        both.rotate_left((last - first) as usize);
        self.at.first_other += self.index - last;
        self.at.last_other = self.index;
    }

    fn get(&self, idx: c_int) -> *mut c_char {
        let place = self.arguments.wrapping_add(idx as usize);
        self.call.read(place as usize, size_of::<usize>());
        // SAFETY: the program gives so many arguments.
        unsafe { *place }
    }

    fn text(&self, idx: c_int) -> &'static [u8] {
        let start = self.get(idx);
        self.call.read(start as usize, text(start as usize));
        // SAFETY: an argument is a string.
        unsafe { CStr::from_ptr(start) }.to_bytes()
    }

    /// What is left of the argument.
    fn rest(&self) -> &'static [u8] {
        self.call.read(self.at.next as usize, text(self.at.next as usize));
        // SAFETY: it is the end of a string.
        unsafe { CStr::from_ptr(self.at.next) }.to_bytes()
    }

    /// Whether an argument has no options.
    fn is_other(&self, idx: c_int) -> bool {
        !matches!(self.text(idx), [b'-', _, ..])
    }

    /// The long options with their names.
    fn long_options(&self) -> impl Iterator<Item = (&'static Long, &'static [u8])> + use<'a> {
        let (call, first) = (self.call, self.long_options);
        (0..).map_while(move |idx| {
            let place = first.wrapping_add(idx);
            call.read(place as usize, size_of::<Long>());
            // SAFETY: the program gives options, and one without a name behind them.
            unsafe {
                let option = &*place;
                if option.name.is_null() {
                    return None;
                }
                call.read(option.name as usize, text(option.name as usize));
                Some((option, CStr::from_ptr(option.name).to_bytes()))
            }
        })
    }

    /// Tells the user what is wrong.
    fn say(&self, what: &str) {
        if self.says_errors {
            let name = String::from_utf8_lossy(self.text(0)).into_owned();
            let line = format!("{name}: {what}\n");
            // SAFETY: the bytes are there.
            unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
        }
    }
}

fn byte(at: *const c_char) -> u8 {
    // SAFETY: it is within a string, or at its end.
    unsafe { *at as u8 }
}
