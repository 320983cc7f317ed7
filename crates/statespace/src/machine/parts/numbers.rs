//! The numbers of the values that parts have had, shared by all workers.
//!
//! Who meets a value for the first time waits for a lock; everybody else has it in a cache by then.

use super::cut::Cut;
use super::fields::{Bits, Need, assign};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The value of a part.
pub(super) type Value = Arc<[u8]>;

/// The values of all parts.
#[derive(Debug)]
pub(super) struct Numbers {
    parts: Mutex<Vec<Values>>,
    /// Why packed states are of no use any more.
    lost: AtomicU8,
    /// The memory that all this takes, and what workers remember.
    bytes: AtomicU64,
}

/// The values of a part, by their numbers. A process that is not there is nothing, and has the
/// number 0. What tells which processes there are is who goes on alone, from 1 on, and the routines
/// of all.
#[derive(Debug, Default)]
pub(super) struct Values {
    numbers: FxHashMap<Value, u32>,
    values: Vec<Value>,
    /// More bits than this no number needs.
    most: u32,
}

/// Why packed states are of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Some number does not fit: bits have to be given anew.
    Full = 1,
    /// Hardly any moves are the same as those of other states.
    Pointless,
}

impl Numbers {
    /// For states that are cut like this, with the initial values of what all share.
    pub(super) fn new(cut: &Cut, globals: &[u8]) -> Self {
        let mut parts = vec![Values { most: u32::BITS, ..Values::default() }];
        for (range, is_written) in cut.shared.iter().zip(&cut.is_written) {
            let most = if *is_written { 8 * range.len() as u32 } else { 0 };
            let mut values = Values { most, ..Values::default() };
            values.number(&globals[range.clone()]);
            parts.push(values);
        }
        Self { parts: Mutex::new(parts), lost: AtomicU8::new(0), bytes: AtomicU64::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Values>> {
        self.parts.lock().expect("the lock is not poisoned")
    }

    /// Which bits the numbers of parts get, as far as their values are known; `None` if there are
    /// too few.
    pub(super) fn assign(&self) -> Option<Vec<Bits>> {
        let parts = self.lock();
        let need = |part: &Values| Need { values: part.values.len(), most: part.most };
        let needs: Vec<Need> = parts.iter().map(need).collect();
        assign(&needs)
    }

    pub(super) fn lose(&self, why: Lost) {
        // The first reason counts: what comes after it may follow from it.
        let _ = self.lost.compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn lost(&self) -> Option<Lost> {
        match self.lost.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Lost::Full),
            _ => Some(Lost::Pointless),
        }
    }

    /// Begins anew; what was met is remembered.
    pub(super) fn begin(&self) {
        self.lost.store(0, Ordering::Relaxed);
    }

    /// Counts memory.
    pub(super) fn take(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Values {
    /// Those of a process.
    pub(super) fn of_process() -> Self {
        let mut values = Self { most: u32::BITS, ..Self::default() };
        values.number(&[]);
        values
    }

    /// The number of a value, and the memory that it takes if it is new.
    pub(super) fn number(&mut self, value: &[u8]) -> (u32, usize) {
        if let Some(&number) = self.numbers.get(value) {
            return (number, 0);
        }
        let number = self.values.len() as u32;
        let shared = Value::from(value);
        self.values.push(shared.clone());
        self.numbers.insert(shared, number);
        // A value, what counts who has it, and its places in the map and in the list.
        (number, value.len() + 16 + 2 * 24 + 16)
    }

    /// The values from a number on.
    pub(super) fn from(&self, number: usize) -> &[Value] {
        &self.values[number..]
    }
}
