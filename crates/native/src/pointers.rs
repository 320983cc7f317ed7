//! Values as people read them: an address of the program is the name of what is there.
//!
//! A value is an address if it has as many bytes as one and lies in a block of the heap that was
//! allocated in this execution, freed or not, on the stack of a thread, or in a variable or
//! function of the program; else, if there is memory, it is no more than an address. Two words that
//! are compared and swapped together are shown as a pair if one of them is an address.

use crate::coroutine;
use crate::locals;
use crate::machine::{self, Value, with};
use crate::names::{self, Frame};
use crate::plain_values;
use crate::scalars::Scalar;
use crate::sites;
use mazurka_core::ThreadId;

const WORD: usize = size_of::<usize>();
/// Nothing is below this address.
const LEAST: usize = 1 << 16;

/// The frames of a thread, for the names of its variables.
#[derive(Clone, Copy)]
pub(crate) struct Frames<'a> {
    pub(crate) thread: usize,
    pub(crate) frames: &'a [Frame],
}

/// What was read or written, with names for addresses; numbers are of this kind. Variables of a
/// thread have the names that they had while its frames were these.
pub(crate) fn in_words(value: Value, scalar: Scalar, frames: Option<Frames<'_>>) -> Option<String> {
    if scalar == Scalar::Several {
        return None;
    }
    let number =
        |len: usize, value: u128| scalar.written(len, value).unwrap_or_else(|| value.to_string());
    if names_of(value, frames).iter().all(Option::is_none) {
        return written(value, number);
    }
    // Beside an address, 0 is none.
    let word = |len: usize, value: u128| match value {
        0 if len == WORD => "null".to_owned(),
        _ => name_in(len, value, frames).unwrap_or_else(|| number(len, value)),
    };
    written(value, word)
}

/// The same with numbers, if there are addresses in it.
pub(crate) fn in_numbers(value: Value, scalar: Scalar) -> Option<String> {
    let is_address = scalar == Scalar::Pointer || names_of(value, None).iter().any(Option::is_some);
    is_address.then(|| as_numbers(value))?
}

fn as_numbers(value: Value) -> Option<String> {
    written(value, |_, number| number.to_string())
}

fn written(value: Value, word: impl Fn(usize, u128) -> String) -> Option<String> {
    match value {
        Value::None | Value::Held(_) => None,
        Value::Read(len, value) => Some(format!("= {}", word(len, value))),
        Value::Wrote(len, value) => Some(format!("→{}", word(len, value))),
        Value::Changed(len, old, new) => Some(format!("{}→{}", word(len, old), word(len, new))),
    }
}

fn names_of(value: Value, frames: Option<Frames<'_>>) -> Vec<Option<String>> {
    let name = |len, value| name_in(len, value, frames);
    match value {
        Value::None | Value::Held(_) => Vec::new(),
        Value::Read(len, value) | Value::Wrote(len, value) => vec![name(len, value)],
        Value::Changed(len, old, new) => vec![name(len, old), name(len, new)],
    }
}

/// What people call a value of so many bytes, if it is an address, or a pair with one.
pub(crate) fn name(len: usize, value: u128) -> Option<String> {
    name_in(len, value, None)
}

fn name_in(len: usize, value: u128, frames: Option<Frames<'_>>) -> Option<String> {
    let pointed = |address| pointed(address, frames);
    if len == WORD {
        let address = usize::try_from(value).ok()?;
        // What has no name may be elsewhere the next time, and its number tells nothing.
        let is_address = || address >= LEAST && plain_values::is_mapped(address);
        return pointed(address).or_else(|| is_address().then(|| "an address".to_owned()));
    }
    if len != 2 * WORD {
        return None;
    }
    let halves = [value as usize, (value >> usize::BITS) as usize];
    let names = halves.map(pointed);
    if names.iter().all(Option::is_none) {
        return None;
    }
    let [low, high] =
        [0, 1].map(|idx| names[idx].clone().unwrap_or_else(|| halves[idx].to_string()));
    Some(format!("({low}, {high})"))
}

/// What people call the address of something: `&node#2`, `&head`, `&x (local of main)`.
fn pointed(address: usize, frames: Option<Frames<'_>>) -> Option<String> {
    let own = frames.filter(|it| coroutine::stack_of(address) == it.thread);
    if let Some(Frames { thread, frames }) = own {
        let name = locals::name_in(address, thread, frames);
        return Some(name.map_or_else(|| "an address".to_owned(), |name| format!("&{name}")));
    }
    let name = sites::pointed(address).or_else(|| {
        let is_stack = with(|machine| {
            let idx = coroutine::stack_of(address);
            idx < ThreadId::MAX && idx < machine.threads.len()
        });
        match is_stack {
            true => Some(machine::name_of(address)),
            false => names::pointed_symbol(address),
        }
    })?;
    Some(format!("&{name}"))
}
