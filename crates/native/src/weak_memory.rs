//! Memory models: what an atomic access is told to read, and what it tells.
//!
//! Under a memory model, the explorer says what a load returns, and whether a store is older than
//! what memory holds ([`Injection`]). The callbacks for atomics of 1 to 8 bytes do as they are
//! told. Memory itself always has the last write, so that plain accesses, which are not told
//! anything, find it.
//!
//! Other accesses cannot be told what they read: those of compiled code, which are instructions of
//! the program that run as they are, volatile ones, and atomics of 16 bytes. An object that any of
//! them accesses is *ordered*: all accesses to it, in whatever way, are one after the other, and
//! each reads from the one before. Which objects these are is learnt on the way, and the search
//! then begins again. The verdict names them. So is the word of a futex: the kernel compares what
//! memory holds.
//!
//! Refused: two accesses to one object that have different sizes or addresses. A value for the one
//! would be none for the other.

use crate::machine::{self, Machine};
use mazurka_core::{Accessed, Injection, ObjectId, Operation, Violation, ViolationKind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there is a memory model.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// What the accesses of a step are told, and what is known of objects.
#[derive(Debug, Default)]
pub(crate) struct WeakMemory {
    /// For the steps of an execution that is repeated.
    pub(crate) injections: Vec<Injection>,
    injection: Injection,
    accessed: Option<Accessed>,
    /// What the operation of this step has read, if it was told.
    pub(crate) read: Option<u128>,
    /// By object, over all executions: what is accessed there, if it is always the same.
    objects: Vec<Access>,
    /// What cannot be done under a memory model.
    refusal: Option<String>,
}

/// How an object is accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Access {
    #[default]
    Unknown,
    /// By callbacks, at this address and with this size.
    Told { address: usize, len: u8 },
    /// By something that cannot be told what to read.
    Ordered,
}

/// Switches it on.
pub(crate) fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Whether there is a memory model.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// What an access of the running thread, which was announced, reads where memory holds `held`; and
/// whether what it writes is to be written.
///
/// # Safety
///
/// `T` is an unsigned number.
pub(crate) unsafe fn read<T: Copy>(held: T) -> (T, bool) {
    let Injection { read, is_hidden } = machine::with(|machine| machine.weak_memory.injection);
    let value = match read {
        // SAFETY: the lowest bytes come first, and a number has no invalid ones.
        Some(value) => unsafe { std::ptr::from_ref(&value).cast::<T>().read_unaligned() },
        None => held,
    };
    (value, !is_hidden)
}

impl WeakMemory {
    /// A step begins.
    #[inline]
    pub(crate) fn begin_step(&mut self, injection: Injection) {
        self.injection = injection;
        self.accessed = None;
        self.read = None;
    }

    /// A callback has accessed an object.
    pub(crate) fn note(&mut self, object: ObjectId, place: (usize, u8), accessed: Accessed) {
        let (address, len) = place;
        self.accessed = Some(accessed);
        let known = self.access(object);
        match *known {
            Access::Unknown => *known = Access::Told { address, len },
            Access::Told { address: before, len: other } if (before, other) != place => {
                self.refusal.get_or_insert_with(|| {
                    format!(
                        "`{}` is accessed as {other} bytes and as {len} bytes at `{}`: atomics of \
                         different sizes have no meaning under a weak memory model so far",
                        machine::name_of(before),
                        machine::name_of(address),
                    )
                });
            }
            Access::Told { .. } | Access::Ordered => {}
        }
    }

    /// What the operation of the last step accessed, if a callback did.
    pub(crate) fn accessed(&self) -> Option<Accessed> {
        self.accessed
    }

    /// Whether accesses to an object can be told what to read, as far as is known.
    pub(crate) fn is_weak(&self, object: ObjectId) -> bool {
        self.objects.get(object.index()) != Some(&Access::Ordered)
    }

    /// The objects that are known to be ordered.
    pub(crate) fn ordered(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let is_ordered = |(_, access): &(usize, &Access)| **access == Access::Ordered;
        self.objects.iter().enumerate().filter(is_ordered).map(|(idx, _)| ObjectId::new(idx))
    }

    fn access(&mut self, object: ObjectId) -> &mut Access {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, Access::Unknown);
        }
        &mut self.objects[object.index()]
    }
}

impl Machine {
    /// The word at an address is slept on, or a thread is woken there: the kernel looks at what
    /// memory holds, so all accesses to it are in one order.
    pub(crate) fn order_futex(&mut self, address: usize) {
        if !is_on() {
            return;
        }
        let object = self.objects.atomic(address, size_of::<u32>());
        let known = self.weak_memory.access(object);
        match std::mem::replace(known, Access::Ordered) {
            Access::Told { .. } => self.learn(),
            Access::Unknown | Access::Ordered => {}
        }
    }

    /// A step has ended whose operation was this: if it accessed memory, and no callback has told
    /// how, the object is ordered. What cannot be done.
    pub(crate) fn conclude_access(&mut self, operation: Operation) -> Option<Violation> {
        let (Operation::Load(object)
        | Operation::Store(object)
        | Operation::ReadModifyWrite(object)
        | Operation::Add(object)
        | Operation::AddAndTest(object)) = operation
        else {
            return None;
        };
        if self.weak_memory.accessed.is_none() && self.weak_memory.is_weak(object) {
            *self.weak_memory.access(object) = Access::Ordered;
            self.learn();
        }
        let message = self.weak_memory.refusal.take()?;
        Some(Violation::new(ViolationKind::Unsupported, message))
    }
}
