//! The callbacks of the instrumentation for atomic operations.
//!
//! Only one thread runs at a time, so what is done between two scheduling points is atomic. The
//! orders that the program asks for are not looked at: memory is sequentially consistent. Atomics
//! of 16 bytes go through the compiler's library and are not seen.

use crate::coroutine;
use crate::machine::{self, Value};
use mazurka_core::{Effect, Operation};
use std::ffi::c_int;
use std::ptr::{read_volatile, write_volatile};
use std::sync::atomic::{Ordering, fence};

/// Waits for the turn of an access.
#[inline]
fn turn(address: usize, operation: fn(mazurka_core::ObjectId) -> Operation) {
    if coroutine::in_program() {
        machine::visible_access(address, operation);
    }
}

/// Says what an access did.
#[inline]
fn tell(value: Value) {
    if coroutine::in_program() {
        machine::with(|machine| machine.value = value);
    }
}

/// A compare-and-swap that failed has only loaded.
#[inline]
fn tell_failure() {
    if coroutine::in_program() {
        machine::with(|machine| {
            if machine.is_shared {
                machine.effect = Effect::Failed;
            }
        });
    }
}

// Outside of an exploration the program runs with real threads and takes the real operations.
macro_rules! atomics {
    ($type:ty, $atomic:ty, $load:ident, $store:ident, $exchange:ident, $strong:ident, $weak:ident, $val:ident,
     $($fetch:ident($method:ident, $old:ident, $operand:ident) $new:expr;)*) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(address: *const $type, _: c_int) -> $type {
            if !coroutine::in_program() {
                // SAFETY: the program accesses an atomic there.
                return unsafe { &*address.cast::<$atomic>() }.load(Ordering::SeqCst);
            }
            turn(address as usize, Operation::Load);
            // SAFETY: the program accesses an atomic there, and no other thread runs.
            let value = unsafe { read_volatile(address) };
            tell(Value::Read(value as u128));
            value
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(address: *mut $type, value: $type, _: c_int) {
            if !coroutine::in_program() {
                // SAFETY: the program accesses an atomic there.
                return unsafe { &*address.cast::<$atomic>() }.store(value, Ordering::SeqCst);
            }
            turn(address as usize, Operation::Store);
            // SAFETY: the program accesses an atomic there, and no other thread runs.
            unsafe { write_volatile(address, value) };
            tell(Value::Wrote(value as u128));
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $exchange(address: *mut $type, new: $type, _: c_int) -> $type {
            if !coroutine::in_program() {
                // SAFETY: the program accesses an atomic there.
                return unsafe { &*address.cast::<$atomic>() }.swap(new, Ordering::SeqCst);
            }
            turn(address as usize, Operation::ReadModifyWrite);
            // SAFETY: the program accesses an atomic there, and no other thread runs.
            let old = unsafe { std::ptr::replace(address, new) };
            tell(Value::Changed(old as u128, new as u128));
            old
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $val(
            address: *mut $type, expected: $type, new: $type, _: c_int, _: c_int,
        ) -> $type {
            if !coroutine::in_program() {
                // SAFETY: the program accesses an atomic there.
                let atomic = unsafe { &*address.cast::<$atomic>() };
                let (Ok(old) | Err(old)) =
                    atomic.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                return old;
            }
            turn(address as usize, Operation::ReadModifyWrite);
            // SAFETY: the program accesses an atomic there, and no other thread runs.
            let old = unsafe { read_volatile(address) };
            if old == expected {
                // SAFETY: as above.
                unsafe { write_volatile(address, new) };
                tell(Value::Changed(old as u128, new as u128));
            } else {
                tell(Value::Read(old as u128));
                tell_failure();
            }
            old
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $strong(
            address: *mut $type, expected: *mut $type, new: $type, order: c_int, other: c_int,
        ) -> c_int {
            // SAFETY: the program gives both; what was expected is the caller's own.
            unsafe {
                let wanted = *expected;
                let old = $val(address, wanted, new, order, other);
                *expected = old;
                c_int::from(old == wanted)
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $weak(
            address: *mut $type, expected: *mut $type, new: $type, order: c_int, other: c_int,
        ) -> c_int {
            // SAFETY: as the strong one. It never fails without a reason here.
            unsafe { $strong(address, expected, new, order, other) }
        }

        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $fetch(address: *mut $type, $operand: $type, _: c_int) -> $type {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    let atomic = unsafe { &*address.cast::<$atomic>() };
                    return atomic.$method($operand, Ordering::SeqCst);
                }
                turn(address as usize, Operation::ReadModifyWrite);
                // SAFETY: the program accesses an atomic there, and no other thread runs.
                let $old = unsafe { read_volatile(address) };
                let new: $type = $new;
                // SAFETY: as above.
                unsafe { write_volatile(address, new) };
                tell(Value::Changed($old as u128, new as u128));
                $old
            }
        )*
    };
}

macro_rules! fetches {
    ($type:ty, $atomic:ty, $load:ident, $store:ident, $exchange:ident, $strong:ident, $weak:ident, $val:ident,
     $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident, $nand:ident) => {
        atomics! {
            $type, $atomic, $load, $store, $exchange, $strong, $weak, $val,
            $add(fetch_add, old, operand) old.wrapping_add(operand);
            $sub(fetch_sub, old, operand) old.wrapping_sub(operand);
            $and(fetch_and, old, operand) old & operand;
            $or(fetch_or, old, operand) old | operand;
            $xor(fetch_xor, old, operand) old ^ operand;
            $nand(fetch_nand, old, operand) !(old & operand);
        }
    };
}

fetches! {
    u8, std::sync::atomic::AtomicU8,
    __tsan_atomic8_load, __tsan_atomic8_store,
    __tsan_atomic8_exchange, __tsan_atomic8_compare_exchange_strong,
    __tsan_atomic8_compare_exchange_weak, __tsan_atomic8_compare_exchange_val,
    __tsan_atomic8_fetch_add, __tsan_atomic8_fetch_sub,
    __tsan_atomic8_fetch_and, __tsan_atomic8_fetch_or,
    __tsan_atomic8_fetch_xor, __tsan_atomic8_fetch_nand
}

fetches! {
    u16, std::sync::atomic::AtomicU16,
    __tsan_atomic16_load, __tsan_atomic16_store,
    __tsan_atomic16_exchange, __tsan_atomic16_compare_exchange_strong,
    __tsan_atomic16_compare_exchange_weak, __tsan_atomic16_compare_exchange_val,
    __tsan_atomic16_fetch_add, __tsan_atomic16_fetch_sub,
    __tsan_atomic16_fetch_and, __tsan_atomic16_fetch_or,
    __tsan_atomic16_fetch_xor, __tsan_atomic16_fetch_nand
}

fetches! {
    u32, std::sync::atomic::AtomicU32,
    __tsan_atomic32_load, __tsan_atomic32_store,
    __tsan_atomic32_exchange, __tsan_atomic32_compare_exchange_strong,
    __tsan_atomic32_compare_exchange_weak, __tsan_atomic32_compare_exchange_val,
    __tsan_atomic32_fetch_add, __tsan_atomic32_fetch_sub,
    __tsan_atomic32_fetch_and, __tsan_atomic32_fetch_or,
    __tsan_atomic32_fetch_xor, __tsan_atomic32_fetch_nand
}

fetches! {
    u64, std::sync::atomic::AtomicU64,
    __tsan_atomic64_load, __tsan_atomic64_store,
    __tsan_atomic64_exchange, __tsan_atomic64_compare_exchange_strong,
    __tsan_atomic64_compare_exchange_weak, __tsan_atomic64_compare_exchange_val,
    __tsan_atomic64_fetch_add, __tsan_atomic64_fetch_sub,
    __tsan_atomic64_fetch_and, __tsan_atomic64_fetch_or,
    __tsan_atomic64_fetch_xor, __tsan_atomic64_fetch_nand
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_: c_int) {
    fence(Ordering::SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {}
