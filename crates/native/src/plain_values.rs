//! Values of plain and volatile accesses, for people: what memory held before and after them.
//!
//! The instrumentation calls before an access, and so what it writes is not there yet. It is there
//! when the same memory is accessed again, or when the step is over. All of this is done only where
//! accesses are looked at or places are asked for: in the replay of a violation that is shown.

use crate::machine::{self, Machine, Value};
use mazurka_core::PlainAccess;

/// An access to so many bytes of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    address: usize,
    len: usize,
    write: bool,
    before: u64,
    /// What it has written, if that is known by now.
    after: Option<u64>,
}

impl Held {
    /// An access that is about to be made; none if memory cannot be read, or has no size that
    /// numbers have.
    pub(crate) fn new(address: usize, len: usize, write: bool) -> Option<Self> {
        Some(Self { address, len, write, before: read(address, len)?, after: None })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// What it was about to do is done, and nothing else to the same memory.
    pub(crate) fn settle(&mut self) {
        if self.write && self.after.is_none() {
            self.after = read(self.address, self.len);
        }
    }

    /// What it read or wrote.
    pub(crate) fn value(&self) -> Value {
        match (self.write, self.after) {
            (false, _) => Value::Read(self.len, self.before.into()),
            (true, Some(after)) => Value::Changed(self.len, self.before.into(), after.into()),
            (true, None) => Value::None,
        }
    }
}

/// A volatile access of the running thread is about to be made, in the step of its own.
pub(crate) fn note_volatile(address: usize, len: usize, write: bool) {
    machine::with(|machine| {
        if machine.sites.is_told() {
            let held = Held::new(address, len, write);
            machine.value = held.map_or(Value::None, Value::Held);
        }
    });
}

impl Machine {
    /// What the operation of the last step read or wrote, and where, if that is known.
    pub(crate) fn told_value(&self) -> (Value, Option<usize>) {
        let Value::Held(mut held) = self.value else {
            return (self.value, self.sites.asked());
        };
        // What the step has written there plainly behind it is another value.
        let range = held.address..held.address + held.len;
        let is_other = |access: &PlainAccess| {
            access.write && range.contains(&self.watch.address(access.object))
        };
        if !self.watch.accesses.iter().any(is_other) {
            held.settle();
        }
        (held.value(), Some(held.address))
    }
}

/// Whether there is memory at an address.
pub(crate) fn is_mapped(address: usize) -> bool {
    read(address, 1).is_some()
}

/// What memory holds: nothing if it is not there, which a program may find out for itself.
fn read(address: usize, len: usize) -> Option<u64> {
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
