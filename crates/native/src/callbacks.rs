//! The callbacks of the instrumentation for plain and volatile accesses.
//!
//! gcc calls `memcpy` and its like directly. A program that is linked with `--wrap` for them calls
//! the functions here instead; without, what they access is not watched.

use crate::after_write;
use crate::coroutine;
use crate::emulate::Kind;
use crate::invalid;
use crate::library::{self, Function, callers};
use crate::machine;
use crate::plain_values;
use crate::spin::{self, Arrival, watched, wiped};
use mazurka_core::Operation;
use std::ffi::c_void;

/// A plain access: watched unless it is to the thread's own stack, and there to a word that no
/// other thread ever touches. Not a scheduling point.
#[inline]
pub(crate) fn plain(address: usize, len: usize, write: bool) {
    if len == 0 || !coroutine::in_program() {
        return;
    }
    if !coroutine::is_own_stack(address) {
        invalid::check(address, len, write);
    } else if coroutine::is_beyond_own(address) {
        invalid::overflows();
    }
    machine::with(|machine| {
        if !machine.is_shared
            || machine.threads[coroutine::running()].is_quiet
            || machine.is_own(address, len)
        {
            return;
        }
        // Where races are not looked for, what a loop reads may change unseen.
        if machine.are_races_allowed {
            spin::spoil();
        } else if write {
            spin::spoil_plainly();
            machine.note_plain_write(address, len);
        }
        if machine.is_concurrent() {
            machine.watch.access(address, len, write);
        }
    });
}

/// A volatile write is a scheduling point, and orders nothing: it is a race with plain accesses
/// alone.
fn volatile_write(address: usize, len: usize) {
    if coroutine::in_program() {
        if machine::visible_write(address, len) {
            order_nothing(address, len, true);
            plain_values::note_volatile(address, len, true);
        }
        spin::spoil();
    }
}

/// A volatile read, for which the same holds.
fn volatile_read(address: usize, len: u8) {
    if coroutine::in_program() {
        let arrival = Arrival::noted(Kind::Load, [0; 2]);
        let arrival = Arrival { kind: None, ..arrival };
        if machine::visible_read(&arrival, address, len, Operation::Load) {
            order_nothing(address, usize::from(len), false);
            plain_values::note_volatile(address, len.into(), false);
        }
        machine::note_read(&arrival, address, len);
    }
}

/// The operation that the running thread has just taken is a volatile access.
fn order_nothing(address: usize, len: usize, write: bool) {
    machine::order_nothing();
    machine::with(|machine| {
        machine.watch.operate(address, len, write);
        if !coroutine::is_own_stack(address) {
            machine.weak_accesses.note_volatile(address);
        }
    });
}

macro_rules! accesses {
    ($($name:ident($len:literal, $write:literal);)*) => {
        mod accesses {
            $(pub(super) extern "C" fn $name(address: *mut std::ffi::c_void) {
                super::plain(address as usize, $len, $write);
                if $write {
                    super::after_write::go_on();
                }
            })*
        }

        wiped! { $($name => accesses::$name;)* }

        /// Whether a callback for reads is at an address. For handlers of signals, too.
        pub(crate) fn is_read(address: usize) -> bool {
            let is_it = |callback: unsafe extern "C" fn()| callback as usize == address;
            $(!$write && is_it($name))||*
        }
    };
}

accesses! {
    __tsan_read1(1, false);
    __tsan_read2(2, false);
    __tsan_read4(4, false);
    __tsan_read8(8, false);
    __tsan_read16(16, false);
    __tsan_write1(1, true);
    __tsan_write2(2, true);
    __tsan_write4(4, true);
    __tsan_write8(8, true);
    __tsan_write16(16, true);
    __tsan_unaligned_read2(2, false);
    __tsan_unaligned_read4(4, false);
    __tsan_unaligned_read8(8, false);
    __tsan_unaligned_read16(16, false);
    __tsan_unaligned_write2(2, true);
    __tsan_unaligned_write4(4, true);
    __tsan_unaligned_write8(8, true);
    __tsan_unaligned_write16(16, true);
    __tsan_read_write1(1, true);
    __tsan_read_write2(2, true);
    __tsan_read_write4(4, true);
    __tsan_read_write8(8, true);
    __tsan_read_write16(16, true);
    __tsan_unaligned_read_write2(2, true);
    __tsan_unaligned_read_write4(4, true);
    __tsan_unaligned_read_write8(8, true);
    __tsan_unaligned_read_write16(16, true);
    __tsan_vptr_read(8, false);
    __tsan_vptr_update(8, true);
}

macro_rules! volatile_reads {
    ($($inner:ident($len:literal);)*) => {$(
        extern "C" fn $inner(address: *mut c_void) {
            volatile_read(address as usize, $len);
        }
    )*};
}

volatile_reads! {
    volatile_read1(1);
    volatile_read2(2);
    volatile_read4(4);
    volatile_read8(8);
    volatile_read16(16);
}

macro_rules! volatile_writes {
    ($($name:ident($len:literal);)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(address: *mut c_void) {
            volatile_write(address as usize, $len);
        }
    )*};
}

volatile_writes! {
    __tsan_volatile_write1(1);
    __tsan_volatile_write2(2);
    __tsan_volatile_write4(4);
    __tsan_volatile_write8(8);
    __tsan_volatile_write16(16);
    __tsan_unaligned_volatile_write2(2);
    __tsan_unaligned_volatile_write4(4);
    __tsan_unaligned_volatile_write8(8);
    __tsan_unaligned_volatile_write16(16);
}

watched! {
    __tsan_volatile_read1 => volatile_read1;
    __tsan_volatile_read2 => volatile_read2;
    __tsan_volatile_read4 => volatile_read4;
    __tsan_volatile_read8 => volatile_read8;
    __tsan_volatile_read16 => volatile_read16;
    __tsan_unaligned_volatile_read2 => volatile_read2;
    __tsan_unaligned_volatile_read4 => volatile_read4;
    __tsan_unaligned_volatile_read8 => volatile_read8;
    __tsan_unaligned_volatile_read16 => volatile_read16;
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_read_range(address: *mut c_void, len: usize) {
    plain(address as usize, len, false);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_write_range(address: *mut c_void, len: usize) {
    plain(address as usize, len, true);
    after_write::go_on();
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_entry(_: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_exit() {}

/// Memory is copied.
fn copies(to: *mut c_void, from: *const c_void, len: usize) {
    plain(from as usize, len, false);
    plain(to as usize, len, true);
}

/// Memory is filled.
fn fills(to: *mut c_void, _: i32, len: usize) {
    plain(to as usize, len, true);
}

/// Defines functions that copy or fill memory, for calls of the program. Those that the linker puts
/// in the place of the C library's are called by other code, too, and learn by whom.
macro_rules! memory_functions {
    ($($name:ident $wrapped:ident $real:ident $inner:ident $tell:ident($second:ty);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(to: *mut c_void, second: $second, len: usize) -> *mut c_void {
            static FUNCTION: Function = Function::plain(stringify!($real));
            library::within(&FUNCTION, || $tell(to, second, len));
            // SAFETY: the program asks for just this.
            let result = unsafe { libc::$real(to, second, len) };
            after_write::settle();
            result
        }

        unsafe extern "C" fn $inner(
            to: *mut c_void,
            second: $second,
            len: usize,
            caller: usize,
        ) -> *mut c_void {
            if callers::are_left_alone(caller) {
                // SAFETY: the program asks for just this.
                return unsafe { libc::$real(to, second, len) };
            }
            // SAFETY: as above.
            unsafe { $name(to, second, len) }
        }

        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $wrapped() {
            std::arch::naked_asm!("mov rcx, [rsp]", "jmp {inner}", inner = sym $inner)
        }
    )*};
}

memory_functions! {
    __tsan_memcpy __wrap_memcpy memcpy copy_for copies(*const c_void);
    __tsan_memmove __wrap_memmove memmove move_for copies(*const c_void);
    __tsan_memset __wrap_memset memset fill_for fills(i32);
}
