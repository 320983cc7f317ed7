//! The callbacks of the instrumentation for atomic operations.
//!
//! Only one thread runs at a time, so what is done between two scheduling points is atomic, and all
//! threads see one memory: sequentially consistent. The orders that the program asks for are told
//! to the explorer, which finds data races by them, and kept for the verdict (`weak_accesses`). A
//! fence is no scheduling point: it stands among the plain accesses of a step. Atomics of 16 bytes
//! are in `wide_atomics`.
//!
//! Both gcc and clang give each callback the order as the program computes it, constant or not;
//! clang tells constants apart before the call. `__sync_lock_test_and_set` acquires with gcc, and
//! with clang releases, too; `__sync_lock_release` releases, and all other `__sync_` functions do
//! both.

use crate::coroutine;
use crate::disciplines::{Adding, signed};
use crate::emulate::Kind;
use crate::machine::{self, Value};
use crate::rust_mutex::{self, Access, Place};
use crate::site_orders;
use crate::spin::{self, Arrival, watched, wiped};
use crate::thread::Comparison;
use crate::trusted;
use crate::weak_memory;
use mazurka_core::{Accessed, MemoryOrder, ObjectId, Operation};
use mazurka_protocol::AtomicAccess;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// The orders of an access: when it writes, and when it only reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders {
    pub(crate) write: MemoryOrder,
    pub(crate) read: MemoryOrder,
}

impl Orders {
    /// As the compiler numbers them. One that does not exist is taken for the strongest.
    #[inline]
    pub(crate) fn new(write: c_int, read: c_int) -> Self {
        let order = |number| MemoryOrder::from_c(i64::from(number)).unwrap_or_default();
        Self { write: order(write), read: order(read) }
    }

    /// The same order in both cases.
    #[inline]
    pub(crate) fn one(order: c_int) -> Self {
        Self::new(order, order)
    }

    /// Of an access that was made.
    #[inline]
    pub(crate) fn of(self, has_written: bool) -> MemoryOrder {
        if has_written { self.write } else { self.read }
    }
}

/// Takes an access that may change its atomic, when its turn has come: `change` gives the new
/// value, if there is to be one. The value before, and whether others could see the access.
///
/// # Safety
///
/// The program accesses an atomic there.
#[inline]
unsafe fn modify<T: Copy + Eq>(
    address: *mut T,
    orders: Orders,
    operation: fn(ObjectId) -> Operation,
    operand: T,
    show: fn(T) -> u128,
    change: impl FnOnce(T) -> Option<T>,
) -> (T, bool) {
    let is_load = matches!(operation(ObjectId::new(0)), Operation::Load(_));
    if trusted::is_quiet() {
        let is_store = matches!(operation(ObjectId::new(0)), Operation::Store(_));
        let access = match (is_load, is_store) {
            (true, _) => trusted::Access::Load,
            (_, true) => trusted::Access::Store,
            _ => trusted::Access::Update,
        };
        // SAFETY: as the caller promises.
        return unsafe { modify_quietly(address, access, change) };
    }
    let kind = if is_load { Kind::Load } else { Kind::Update };
    let arrival = Arrival::noted(kind, [show(operand), 0]);
    let access = match operation(ObjectId::new(0)) {
        Operation::Load(_) => AtomicAccess::Load,
        Operation::Store(_) => AtomicAccess::Store,
        _ => AtomicAccess::Update,
    };
    let orders = site_orders::of_access(orders, access);
    rust_mutex::role(address as usize, size_of::<T>(), Access::Other, Place::default());
    // SAFETY: as the caller promises.
    unsafe {
        modify_from(
            (arrival, access == AtomicAccess::Store),
            address,
            orders,
            operation,
            show,
            change,
        )
    }
}

/// The same for an access that may take a mutex or give it back: one that is `Access::Take` or
/// `Access::Swap`. One whose order would not make it a mutex does neither.
///
/// # Safety
///
/// The program accesses an atomic there.
#[inline]
unsafe fn modify_mutex<T: Copy + Eq>(
    access: Access,
    arrival: Arrival,
    address: *mut T,
    orders: Orders,
    show: fn(T) -> u128,
    change: impl FnOnce(T) -> Option<T>,
) -> (T, bool) {
    if trusted::is_quiet() {
        // SAFETY: as the caller promises.
        return unsafe { modify_quietly(address, trusted::Access::Update, change) };
    }
    let orders = site_orders::of_access(orders, AtomicAccess::Update);
    let access = match access {
        Access::Take if !orders.write.acquires() => Access::Other,
        Access::Swap(_) if !orders.write.releases() => Access::Other,
        access => access,
    };
    let role = rust_mutex::role(address as usize, size_of::<T>(), access, arrival.behind());
    let operation = |object| match role {
        Some(role) => role.operation(object),
        None => Operation::ReadModifyWrite(object),
    };
    let mut has_changed = true;
    let change = |old| {
        let new = change(old);
        has_changed = new.is_some();
        new
    };
    // SAFETY: as the caller promises.
    let (old, is_announced) =
        unsafe { modify_from((arrival, false), address, orders, operation, show, change) };
    match role {
        Some(role) => rust_mutex::conclude(role, address as usize, has_changed, is_announced),
        None if is_announced && !has_changed => {
            machine::fail_try();
            machine::with(|machine| machine.note_failure(&arrival, address as usize));
        }
        None => {}
    }
    (old, is_announced)
}

/// The same within a trusted call: no other thread looks.
///
/// # Safety
///
/// The program accesses an atomic there.
#[cold]
unsafe fn modify_quietly<T: Copy + Eq>(
    address: *mut T,
    access: trusted::Access,
    change: impl FnOnce(T) -> Option<T>,
) -> (T, bool) {
    trusted::access(address as usize, size_of::<T>(), access);
    // SAFETY: as the caller promises, and no other thread runs.
    let old = unsafe { std::ptr::read_volatile(address) };
    if let Some(new) = change(old) {
        // SAFETY: as above.
        unsafe { std::ptr::write_volatile(address, new) };
    }
    (old, false)
}

/// The same for a thread that has come to it so.
///
/// # Safety
///
/// The program accesses an atomic there.
#[inline]
unsafe fn modify_from<T: Copy + Eq>(
    (arrival, is_store): (Arrival, bool),
    address: *mut T,
    orders: Orders,
    operation: impl FnOnce(ObjectId) -> Operation,
    show: fn(T) -> u128,
    change: impl FnOnce(T) -> Option<T>,
) -> (T, bool) {
    let len = size_of::<T>() as u8;
    let acquires = orders.of(arrival.is_exchange).acquires();
    let arrival = Arrival { acquires, ..arrival };
    let is_announced = machine::visible_read(&arrival, address as usize, len, operation);
    // SAFETY: as the caller promises, and no other thread runs.
    let held = unsafe { std::ptr::read_volatile(address) };
    let is_told = is_announced && weak_memory::is_on();
    let (old, is_seen) = match is_told {
        // SAFETY: all that calls this is about unsigned numbers.
        true => unsafe { weak_memory::read(held) },
        false => (held, true),
    };
    let new = change(old);
    if let Some(new) = new.filter(|_| is_seen) {
        // SAFETY: as above.
        unsafe { std::ptr::write_volatile(address, new) };
    }
    if is_told {
        machine::with(|machine| {
            let accessed = Accessed { before: show(held), wrote: new.map(show) };
            let object = machine.objects.atomic(address as usize, usize::from(len));
            machine.weak_memory.note(object, (address as usize, len), accessed);
            machine.weak_memory.read = Some(show(old));
        });
    }
    let order = orders.of(new.is_some());
    if is_announced {
        machine::with(|machine| machine.order = order);
    }
    // An update that writes what it has read is one that others need not see: a thread that reads
    // from it could have read from what it has read, and would know no more. A store may hide a
    // release.
    if new.is_some_and(|new| new != old || is_told && is_store) {
        spin::spoil();
    } else {
        machine::note_read(&arrival, address as usize, len);
    }
    if is_announced {
        machine::with(|machine| {
            if order.is_weak() {
                let stack_pointer = arrival.stack_pointer();
                machine.weak_accesses.note(stack_pointer, address as usize, order);
            }
            machine.value = match new {
                Some(new) => Value::Changed(size_of::<T>(), show(old), show(new)),
                None => Value::Read(size_of::<T>(), show(old)),
            };
            machine.watch.operate(address as usize, usize::from(len), new.is_some());
        });
    } else if order.acquires() {
        // In a loop that goes round unseen.
        machine::with(|machine| {
            machine.is_concurrent() && machine.acquires_again(address as usize, usize::from(len))
        });
    }
    (old, is_announced)
}

/// The same for an addition, whose place among others may not matter.
///
/// # Safety
///
/// The program accesses an atomic there.
#[inline]
unsafe fn add<T: Copy + Eq>(
    address: *mut T,
    orders: Orders,
    added: i64,
    show: fn(T) -> u128,
    change: impl FnOnce(T) -> Option<T>,
) -> T {
    if trusted::is_quiet() {
        // SAFETY: as the caller promises.
        return unsafe { modify_quietly(address, trusted::Access::Update, change).0 };
    }
    // What is added, as `change` says it.
    let arrival = Arrival::noted(Kind::Update, [signed_bits(added, size_of::<T>()), 0]);
    let orders = site_orders::of_access(orders, AtomicAccess::Update);
    rust_mutex::role(address as usize, size_of::<T>(), Access::Other, Place::default());
    let adding = Adding::at(address as usize, added, arrival.way(8 * size_of::<T>() as u8));
    let operation = |object| machine::with(|machine| machine.disciplines.operation(object, adding));
    machine::with(|machine| machine.threads[machine::current().index()].adding = adding);
    // SAFETY: as the caller promises.
    let (old, is_announced) =
        unsafe { modify_from((arrival, false), address, orders, operation, show, change) };
    machine::with(|machine| {
        let idx = machine::current().index();
        machine.threads[idx].adding = None;
        if is_announced {
            let place = (address as usize, size_of::<T>() as u8);
            machine.note_addition(idx, &arrival, place, added, show(old));
        }
    });
    if is_announced && let Some(adding) = adding {
        adding.note(show(old));
    }
    old
}

/// A number as so many bytes, without its sign.
#[inline]
fn signed_bits(number: i64, len: usize) -> u128 {
    let unused = 64 - 8 * len as u32;
    u128::from((number as u64) << unused >> unused)
}

/// Where the operand of the compare-and-swap stands that is about to be made, if it is to be told
/// there what was found; else 0.
static EXPECTED_AT: AtomicUsize = AtomicUsize::new(0);

/// The same for a compare-and-swap: one that failed has only loaded.
///
/// # Safety
///
/// The program accesses an atomic there.
#[inline]
unsafe fn swap_if<T: Copy + Eq>(
    address: *mut T,
    orders: Orders,
    expected: T,
    new: T,
    show: fn(T) -> u128,
) -> T {
    let change = |old| (old == expected).then_some(new);
    let access = match (show(expected), show(new)) {
        (0, 1) => Access::Take,
        _ => Access::Other,
    };
    let len = size_of::<T>() as u8;
    let comparison = Comparison { address: address as usize, len, expected: show(expected) };
    let expected_at = EXPECTED_AT.swap(0, Ordering::Relaxed);
    let kind = if expected_at == 0 { Kind::Compare } else { Kind::CompareAt };
    let noted = Arrival::noted(kind, [show(expected), show(new)]);
    let arrival = Arrival { expected_at, ..noted };
    // SAFETY: as the caller promises.
    machine::compare(comparison, || unsafe {
        modify_mutex(access, arrival, address, orders, show, change).0
    })
}

// Outside of an exploration the program runs with real threads and takes the real operations.
macro_rules! atomics {
    ($inner:ident, $type:ty, $atomic:ty, $load:ident, $store:ident, $exchange:ident, $strong:ident,
     $weak:ident, $val:ident,
     $add:ident, $sub:ident,
     $($fetch:ident($method:ident, $old:ident, $operand:ident) $new:expr;)*) => {
        mod $inner {
            use super::*;

            fn show(value: $type) -> u128 {
                value.into()
            }

            pub(super) unsafe extern "C" fn load(address: *mut $type, order: c_int) -> $type {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    return unsafe { &*address.cast::<$atomic>() }.load(Ordering::SeqCst);
                }
                // SAFETY: as above.
                unsafe { modify(address, Orders::one(order), Operation::Load, 0, show, |_| None).0 }
            }

            pub(super) unsafe extern "C" fn store(address: *mut $type, new: $type, order: c_int) {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    return unsafe { &*address.cast::<$atomic>() }.store(new, Ordering::SeqCst);
                }
                // SAFETY: as above.
                let (_, is_announced) = unsafe {
                    modify(address, Orders::one(order), Operation::Store, new, show, |_| Some(new))
                };
                // What is overwritten may not be what is in memory.
                if is_announced && crate::weak_memory::is_on() {
                    let value = Value::Wrote(size_of::<$type>(), show(new));
                    machine::with(|machine| machine.value = value);
                }
            }

            pub(super) unsafe extern "C" fn exchange(
                address: *mut $type, new: $type, order: c_int,
            ) -> $type {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    return unsafe { &*address.cast::<$atomic>() }.swap(new, Ordering::SeqCst);
                }
                // SAFETY: as above.
                unsafe {
                    let (access, orders) = (Access::Swap(show(new)), Orders::one(order));
                    let arrival = Arrival {
                        is_exchange: true,
                        ..Arrival::noted(Kind::Update, [show(new), 0])
                    };
                    modify_mutex(access, arrival, address, orders, show, |_| Some(new)).0
                }
            }

            pub(super) unsafe extern "C" fn compare_exchange_val(
                address: *mut $type, expected: $type, new: $type, order: c_int, other: c_int,
            ) -> $type {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    let atomic = unsafe { &*address.cast::<$atomic>() };
                    let (Ok(old) | Err(old)) =
                        atomic.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                    return old;
                }
                // SAFETY: as above.
                unsafe { swap_if(address, Orders::new(order, other), expected, new, show) }
            }

            /// Never fails without a reason, so the weak one is the same.
            pub(super) unsafe extern "C" fn compare_exchange(
                address: *mut $type, expected: *mut $type, new: $type, order: c_int, other: c_int,
            ) -> c_int {
                // SAFETY: the program gives both.
                unsafe {
                    let wanted = *expected;
                    EXPECTED_AT.store(expected as usize, Ordering::Relaxed);
                    let old = compare_exchange_val(address, wanted, new, order, other);
                    EXPECTED_AT.store(0, Ordering::Relaxed);
                    if old != wanted {
                        if !coroutine::is_own_stack(expected as usize) {
                            spin::spoil();
                        }
                        *expected = old;
                    }
                    c_int::from(old == wanted)
                }
            }

            pub(super) unsafe extern "C" fn fetch_add(
                address: *mut $type, operand: $type, order: c_int,
            ) -> $type {
                if !coroutine::in_program() {
                    // SAFETY: the program accesses an atomic there.
                    let atomic = unsafe { &*address.cast::<$atomic>() };
                    return atomic.fetch_add(operand, Ordering::SeqCst);
                }
                let added = signed(show(operand), <$type>::BITS as u8);
                // SAFETY: as above.
                unsafe {
                    let orders = Orders::one(order);
                    add(address, orders, added, show, |old| Some(old.wrapping_add(operand)))
                }
            }

            pub(super) unsafe extern "C" fn fetch_sub(
                address: *mut $type, operand: $type, order: c_int,
            ) -> $type {
                // SAFETY: as the caller promises.
                unsafe { fetch_add(address, operand.wrapping_neg(), order) }
            }

            $(
                pub(super) unsafe extern "C" fn $method(
                    address: *mut $type, $operand: $type, order: c_int,
                ) -> $type {
                    if !coroutine::in_program() {
                        // SAFETY: the program accesses an atomic there.
                        let atomic = unsafe { &*address.cast::<$atomic>() };
                        return atomic.$method($operand, Ordering::SeqCst);
                    }
                    // SAFETY: as above.
                    unsafe {
                        let (orders, operation) = (Orders::one(order), Operation::ReadModifyWrite);
                        modify(address, orders, operation, $operand, show, |$old| Some($new)).0
                    }
                }
            )*
        }

        watched! {
            $load => $inner::load;
            $store => $inner::store;
            $exchange => $inner::exchange;
            $val => $inner::compare_exchange_val;
            $strong => $inner::compare_exchange;
            $weak => $inner::compare_exchange;
            $add => $inner::fetch_add;
            $sub => $inner::fetch_sub;
            $($fetch => $inner::$method;)*
        }
    };
}

macro_rules! fetches {
    ($inner:ident, $type:ty, $atomic:ty, $load:ident, $store:ident, $exchange:ident, $strong:ident, $weak:ident,
     $val:ident, $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident, $nand:ident) => {
        atomics! {
            $inner, $type, $atomic, $load, $store, $exchange, $strong, $weak, $val, $add, $sub,
            $and(fetch_and, old, operand) old & operand;
            $or(fetch_or, old, operand) old | operand;
            $xor(fetch_xor, old, operand) old ^ operand;
            $nand(fetch_nand, old, operand) !(old & operand);
        }
    };
}

fetches! {
    of_8, u8, std::sync::atomic::AtomicU8,
    __tsan_atomic8_load, __tsan_atomic8_store,
    __tsan_atomic8_exchange, __tsan_atomic8_compare_exchange_strong,
    __tsan_atomic8_compare_exchange_weak, __tsan_atomic8_compare_exchange_val,
    __tsan_atomic8_fetch_add, __tsan_atomic8_fetch_sub,
    __tsan_atomic8_fetch_and, __tsan_atomic8_fetch_or,
    __tsan_atomic8_fetch_xor, __tsan_atomic8_fetch_nand
}

fetches! {
    of_16, u16, std::sync::atomic::AtomicU16,
    __tsan_atomic16_load, __tsan_atomic16_store,
    __tsan_atomic16_exchange, __tsan_atomic16_compare_exchange_strong,
    __tsan_atomic16_compare_exchange_weak, __tsan_atomic16_compare_exchange_val,
    __tsan_atomic16_fetch_add, __tsan_atomic16_fetch_sub,
    __tsan_atomic16_fetch_and, __tsan_atomic16_fetch_or,
    __tsan_atomic16_fetch_xor, __tsan_atomic16_fetch_nand
}

fetches! {
    of_32, u32, std::sync::atomic::AtomicU32,
    __tsan_atomic32_load, __tsan_atomic32_store,
    __tsan_atomic32_exchange, __tsan_atomic32_compare_exchange_strong,
    __tsan_atomic32_compare_exchange_weak, __tsan_atomic32_compare_exchange_val,
    __tsan_atomic32_fetch_add, __tsan_atomic32_fetch_sub,
    __tsan_atomic32_fetch_and, __tsan_atomic32_fetch_or,
    __tsan_atomic32_fetch_xor, __tsan_atomic32_fetch_nand
}

fetches! {
    of_64, u64, std::sync::atomic::AtomicU64,
    __tsan_atomic64_load, __tsan_atomic64_store,
    __tsan_atomic64_exchange, __tsan_atomic64_compare_exchange_strong,
    __tsan_atomic64_compare_exchange_weak, __tsan_atomic64_compare_exchange_val,
    __tsan_atomic64_fetch_add, __tsan_atomic64_fetch_sub,
    __tsan_atomic64_fetch_and, __tsan_atomic64_fetch_or,
    __tsan_atomic64_fetch_xor, __tsan_atomic64_fetch_nand
}

extern "C" fn thread_fence(order: c_int) {
    if !coroutine::in_program() {
        return fence(Ordering::SeqCst);
    }
    let order = MemoryOrder::from_c(i64::from(order)).unwrap_or_default();
    let order = site_orders::of_fence(order);
    machine::with(|machine| machine.watch.fence(order));
}

wiped! { __tsan_atomic_thread_fence => thread_fence; }

/// Only a handler of a signal on the same thread would notice.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {}
