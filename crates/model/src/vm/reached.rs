//! Coverage of instructions: which of them any execution has come to.

use super::code::{Code, Pc};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Facts about all executions so far, of all clones of a machine.
#[derive(Debug)]
pub(super) struct Reached(Box<[AtomicBool]>);

impl Reached {
    pub(super) fn new(code: &Code) -> Self {
        Self(code.instructions.iter().map(|_| AtomicBool::new(false)).collect())
    }

    /// A thread comes to an instruction.
    #[inline]
    pub(super) fn note(&self, pc: Pc) {
        let is_noted = &self.0[pc as usize];
        // Workers share it: what is known is not written again.
        if !is_noted.load(Relaxed) {
            is_noted.store(true, Relaxed);
        }
    }

    pub(super) fn is_noted(&self, pc: Pc) -> bool {
        self.0[pc as usize].load(Relaxed)
    }
}
