//! Atomic operations on 16 bytes and on objects of any size.
//!
//! gcc calls the library `libatomic` for them, clang has callbacks for 16 bytes, and both call that
//! library for what is larger. One thread runs at a time, so copying is atomic, as in `atomics`.

use crate::atomics::Orders;
use crate::callbacks;
use crate::coroutine;
use crate::invalid;
use crate::machine::{self, Value};
use crate::real::replace;
use crate::thread::Comparison;
use mazurka_core::{MemoryOrder, ObjectId, Operation};
use std::arch::x86_64::cmpxchg16b;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

type Announce = fn(ObjectId) -> Operation;

/// Announces an access, if there is a second thread. Whether it was.
fn announce(address: usize, len: usize, operation: Announce) -> bool {
    let object = machine::with(|machine| {
        machine.note_sharing(address, len);
        machine.is_concurrent().then(|| machine.objects.atomic(address, len))
    });
    object.is_some_and(|object| {
        machine::visible(operation(object));
        true
    })
}

/// The access that was announced has been made, with this order.
fn note_access(address: usize, len: usize, order: MemoryOrder, write: bool) {
    machine::with(|machine| {
        machine.order = order;
        machine.weak_accesses.note_anywhere(address, order);
        machine.watch.operate(address, len, write);
    });
}

/// Ends the running thread if the object is not all in valid memory.
fn check(address: usize, len: usize, write: bool) {
    if len > 0 && coroutine::in_program() && !coroutine::is_own_stack(address) {
        invalid::check(address, len, write);
    }
}

/// Reads 16 bytes and, if `change` says so, writes others, in one step. What was there before.
fn update(
    address: *mut u128,
    orders: Orders,
    operation: Announce,
    change: impl Fn(u128) -> Option<u128>,
) -> u128 {
    if !coroutine::in_program() {
        return update_for_real(address, change);
    }
    let is_load = matches!(operation(ObjectId::new(0)), Operation::Load(_));
    check(address as usize, size_of::<u128>(), !is_load);
    let is_seen = announce(address as usize, size_of::<u128>(), operation);
    // SAFETY: the program has an atomic there, and no other thread runs.
    let old = unsafe { address.read_volatile() };
    let new = change(old);
    let value = match new {
        None => {
            note_failure(is_seen, operation);
            Value::Read(size_of::<u128>(), old)
        }
        Some(new) => {
            // SAFETY: as above.
            unsafe { address.write_volatile(new) };
            Value::Changed(size_of::<u128>(), old, new)
        }
    };
    if is_seen {
        let order = orders.of(new.is_some());
        note_access(address as usize, size_of::<u128>(), order, new.is_some());
        machine::with(|machine| machine.value = value);
    }
    old
}

/// The same among real threads.
fn update_for_real(address: *mut u128, change: impl Fn(u128) -> Option<u128>) -> u128 {
    let mut old = 0;
    loop {
        let new = change(old).unwrap_or(old);
        // SAFETY: the program has an atomic there, which is aligned, and whoever compiles such
        // operations has a processor with the instruction.
        let found = unsafe { cmpxchg16b(address, old, new, Ordering::SeqCst, Ordering::SeqCst) };
        if found == old {
            return old;
        }
        old = found;
    }
}

/// A compare-and-swap that failed has only loaded.
fn note_failure(is_seen: bool, operation: Announce) {
    let is_load = matches!(operation(ObjectId::new(0)), Operation::Load(_));
    if is_seen && !is_load {
        machine::fail_try();
    }
}

/// What was there before: `new` is there now if that was as expected.
fn compare_exchange(address: *mut u128, orders: Orders, expected: u128, new: u128) -> u128 {
    let change = |old| (old == expected).then_some(new);
    if !coroutine::in_program() {
        return update_for_real(address, change);
    }
    let comparison =
        Comparison { address: address as usize, len: size_of::<u128>() as u8, expected };
    machine::compare(comparison, || update(address, orders, Operation::ReadModifyWrite, change))
}

macro_rules! wide {
    ($load:ident, $store:ident, $exchange:ident, $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident, $nand:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(address: *const u128, order: c_int) -> u128 {
            update(address.cast_mut(), Orders::one(order), Operation::Load, |_| None)
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(address: *mut u128, value: u128, order: c_int) {
            update(address, Orders::one(order), Operation::Store, |_| Some(value));
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $exchange(address: *mut u128, value: u128, order: c_int) -> u128 {
            update(address, Orders::one(order), Operation::ReadModifyWrite, |_| Some(value))
        }

        fetches! {
            $add(old, operand) old.wrapping_add(operand);
            $sub(old, operand) old.wrapping_sub(operand);
            $and(old, operand) old & operand;
            $or(old, operand) old | operand;
            $xor(old, operand) old ^ operand;
            $nand(old, operand) !(old & operand);
        }
    };
}

macro_rules! fetches {
    ($($fetch:ident($old:ident, $operand:ident) $new:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fetch(address: *mut u128, $operand: u128, order: c_int) -> u128 {
            update(address, Orders::one(order), Operation::ReadModifyWrite, |$old| Some($new))
        }
    )*};
}

wide! {
    __atomic_load_16, __atomic_store_16, __atomic_exchange_16,
    __atomic_fetch_add_16, __atomic_fetch_sub_16, __atomic_fetch_and_16,
    __atomic_fetch_or_16, __atomic_fetch_xor_16, __atomic_fetch_nand_16
}

wide! {
    __tsan_atomic128_load, __tsan_atomic128_store, __tsan_atomic128_exchange,
    __tsan_atomic128_fetch_add, __tsan_atomic128_fetch_sub, __tsan_atomic128_fetch_and,
    __tsan_atomic128_fetch_or, __tsan_atomic128_fetch_xor, __tsan_atomic128_fetch_nand
}

macro_rules! compare_exchanges {
    ($($name:ident -> $ret:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            address: *mut u128, expected: *mut u128, new: u128, order: c_int, other: c_int,
        ) -> $ret {
            let len = size_of::<u128>();
            callbacks::plain(expected as usize, len, false);
            // SAFETY: the program gives both.
            unsafe {
                let wanted = expected.read_unaligned();
                let old = compare_exchange(address, Orders::new(order, other), wanted, new);
                if old != wanted {
                    callbacks::plain(expected as usize, len, true);
                    expected.write_unaligned(old);
                }
                <$ret>::from(old == wanted)
            }
        }
    )*};
}

compare_exchanges! {
    __atomic_compare_exchange_16 -> bool;
    __tsan_atomic128_compare_exchange_strong -> c_int;
    __tsan_atomic128_compare_exchange_weak -> c_int;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_val(
    address: *mut u128,
    expected: u128,
    new: u128,
    order: c_int,
    other: c_int,
) -> u128 {
    compare_exchange(address, Orders::new(order, other), expected, new)
}

/// Copies bytes of the program.
fn copy(from: *const c_void, to: *mut c_void, len: usize) {
    // SAFETY: the program gives both, of that length; they may be the same.
    unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len) };
}

// The caller's buffers are accessed plainly, and what is atomic at once.
replace! {
    fn __atomic_load(len: usize, address: *mut c_void, to: *mut c_void, order: c_int) {
        check(address as usize, len, false);
        if announce(address as usize, len, Operation::Load) {
            note_access(address as usize, len, Orders::one(order).read, false);
        }
        callbacks::plain(to as usize, len, true);
        copy(address, to, len);
    }

    fn __atomic_store(len: usize, address: *mut c_void, from: *mut c_void, order: c_int) {
        callbacks::plain(from as usize, len, false);
        check(address as usize, len, true);
        if announce(address as usize, len, Operation::Store) {
            note_access(address as usize, len, Orders::one(order).write, true);
        }
        copy(from, address, len);
    }

    fn __atomic_exchange(
        len: usize,
        address: *mut c_void,
        from: *mut c_void,
        to: *mut c_void,
        order: c_int,
    ) {
        callbacks::plain(from as usize, len, false);
        check(address as usize, len, true);
        if announce(address as usize, len, Operation::ReadModifyWrite) {
            note_access(address as usize, len, Orders::one(order).write, true);
        }
        // What is written may be in the place of what is read.
        let new = bytes(from, len);
        callbacks::plain(to as usize, len, true);
        copy(address, to, len);
        copy(new.as_ptr().cast(), address, len);
    }

    fn __atomic_compare_exchange(
        len: usize,
        address: *mut c_void,
        expected: *mut c_void,
        new: *mut c_void,
        success: c_int,
        failure: c_int,
    ) -> bool {
        callbacks::plain(expected as usize, len, false);
        callbacks::plain(new as usize, len, false);
        check(address as usize, len, true);
        let is_seen = announce(address as usize, len, Operation::ReadModifyWrite);
        let is_equal = bytes(address, len) == bytes(expected, len);
        if is_seen {
            let order = Orders::new(success, failure).of(is_equal);
            note_access(address as usize, len, order, is_equal);
        }
        if is_equal {
            copy(new, address, len);
        } else {
            callbacks::plain(expected as usize, len, true);
            copy(address, expected, len);
            note_failure(is_seen, Operation::ReadModifyWrite);
        }
        is_equal
    }
}

/// What so many bytes of the program hold now. Not to be kept while others go on: the search may go
/// back to then.
fn bytes(from: *const c_void, len: usize) -> Vec<u8> {
    let mut held = vec![0; len];
    copy(from, held.as_mut_ptr().cast(), len);
    held
}
