//! Barriers for all threads of the process: `membarrier`, and `mprotect`, which programs use as
//! one.
//!
//! Memory is sequentially consistent here, so nothing is left to be ordered among other threads.
//! The call is a step, ordered with other such calls, and a fence of the thread that makes it.

use crate::machine;
use mazurka_core::{MemoryOrder, Operation};
use std::ffi::{c_int, c_long};

/// Stands for what such calls are about. Nothing is ever written there.
static ALL_MEMORY: u64 = 0;

const QUERY: c_int = 0;
/// The commands that make a barrier: global, global expedited, private expedited, private
/// expedited for the sake of code.
const BARRIERS: [c_int; 4] = [1 << 0, 1 << 1, 1 << 3, 1 << 5];
/// Those by which a process says that it will.
const REGISTRATIONS: [c_int; 3] = [1 << 2, 1 << 4, 1 << 6];

fn address() -> usize {
    &raw const ALL_MEMORY as usize
}

/// What people call the thing at an address, if it is what such calls are about.
pub(crate) fn name_of(address: usize) -> Option<String> {
    (address == self::address()).then(|| "the memory of the process".to_owned())
}

/// The running thread makes such a call.
pub(crate) fn take() {
    let object =
        machine::with(|machine| machine.is_concurrent().then(|| machine.objects.at(address())));
    if let Some(object) = object {
        machine::visible(Operation::ReadModifyWrite(object));
        machine::with(|machine| machine.watch.fence(MemoryOrder::default()));
    }
}

/// What `membarrier` answers; nothing if there is no such command.
pub(crate) fn membarrier(command: c_int) -> Option<c_long> {
    if command == QUERY {
        let all = BARRIERS.iter().chain(&REGISTRATIONS).fold(0, |all, one| all | one);
        return Some(all.into());
    }
    if BARRIERS.contains(&command) {
        take();
    } else if !REGISTRATIONS.contains(&command) {
        return None;
    }
    Some(0)
}
