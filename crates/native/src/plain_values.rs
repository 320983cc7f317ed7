//! Values of plain and volatile accesses, for people: what memory held before and after them.
//!
//! The instrumentation calls before an access: what it reads is there by then, what it writes is
//! found out by `after_write`. All of this is done only where accesses are looked at or places are
//! asked for: in the replay of a violation that is shown.

use crate::after_write::{self, Target};
use crate::coroutine;
use crate::machine::{self, Machine, Value};
use crate::names;

/// An access to so many bytes of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    address: usize,
    len: usize,
    write: bool,
    /// What was there before, unless it is told only afterwards.
    before: Option<u64>,
    /// What it has written, if that is known by now.
    pub(crate) after: Option<u64>,
}

impl Held {
    /// An access that is about to be made; none if memory cannot be read, or has no size that
    /// numbers have.
    pub(crate) fn new(address: usize, len: usize, write: bool) -> Option<Self> {
        let there = read(address, len)?;
        let (before, after) = match write && after_write::is_behind() {
            true => (None, Some(there)),
            false => (Some(there), None),
        };
        Some(Self { address, len, write, before, after })
    }

    /// What it read or wrote.
    pub(crate) fn value(&self) -> Value {
        match (self.write, self.before, self.after) {
            (false, Some(before), _) => Value::Read(self.len, before.into()),
            (true, Some(before), Some(after)) => {
                Value::Changed(self.len, before.into(), after.into())
            }
            (true, None, Some(after)) => Value::Wrote(self.len, after.into()),
            (false, None, _) | (true, _, None) => Value::None,
        }
    }
}

/// A volatile access of the running thread is about to be made, in the step of its own.
pub(crate) fn note_volatile(address: usize, len: usize, write: bool) {
    if !machine::with(|machine| machine.sites.is_told()) {
        return;
    }
    let Some(held) = Held::new(address, len, write) else { return };
    machine::with(|machine| machine.value = Value::Held(held));
    // A look at the frames of a stack that is being destroyed would end the thread too early.
    if write && !coroutine::is_own_stack(address) {
        after_write::note(Target::Operation, address, len, &names::frames());
        after_write::go_on();
    }
}

impl Machine {
    /// What the operation of the last step read or wrote, and where, if that is known.
    pub(crate) fn told_value(&self) -> (Value, Option<usize>) {
        match self.value {
            Value::Held(held) => (held.value(), Some(held.address)),
            value => (value, self.sites.asked()),
        }
    }
}

/// Whether there is memory at an address.
pub(crate) fn is_mapped(address: usize) -> bool {
    read(address, 1).is_some()
}

/// What memory holds: nothing if it is not there, which a program may find out for itself.
pub(crate) fn read(address: usize, len: usize) -> Option<u64> {
    if !matches!(len, 1 | 2 | 4 | 8) {
        return None;
    }
    let mut bytes = [0u8; 8];
    let to = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let from = libc::iovec { iov_base: address as *mut _, iov_len: len };
    // SAFETY: the bytes have room for so many, and the kernel looks whether the others are there.
    let n_read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
    (n_read == len as isize).then(|| u64::from_le_bytes(bytes))
}
