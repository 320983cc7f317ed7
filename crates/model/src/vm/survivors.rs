//! What becomes of executions at assumptions: which ever held, and whether an execution survived.

use super::code::{Code, Instruction, Pc};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Facts about all executions so far, of all clones of a machine.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// For each instruction, whether an assumption there has [`HELD`] and whether it has
    /// [`FAILED`]; empty if there are no assumptions.
    sites: Box<[AtomicU8]>,
    /// Whether an execution has come to its end.
    has_ended: AtomicBool,
}

const HELD: u8 = 1;
const FAILED: u8 = 2;

impl Survivors {
    pub(super) fn new(code: &Code) -> Self {
        let is_assumption = |it: &Instruction| matches!(it, Instruction::Assume { .. });
        let n_sites = match code.instructions.iter().any(is_assumption) {
            true => code.instructions.len(),
            false => 0,
        };
        let sites = (0..n_sites).map(|_| AtomicU8::new(0)).collect();
        Self { sites, has_ended: AtomicBool::new(false) }
    }

    /// An assumption holds or fails.
    pub(super) fn note(&self, pc: Pc, holds: bool) {
        let bit = if holds { HELD } else { FAILED };
        let site = &self.sites[pc as usize];
        if site.load(Relaxed) & bit == 0 {
            site.fetch_or(bit, Relaxed);
        }
    }

    /// An execution ends, and no assumption has ended it.
    pub(super) fn end(&self) {
        if !self.sites.is_empty() && !self.has_ended.load(Relaxed) {
            self.has_ended.store(true, Relaxed);
        }
    }

    /// Whether some execution has come to its end.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Relaxed)
    }

    /// Where assumptions failed, and whether they ever held; `place` says which of them are one.
    pub(super) fn failed<P: Ord>(&self, place: impl Fn(Pc) -> P) -> BTreeMap<P, bool> {
        let mut seen: BTreeMap<P, u8> = BTreeMap::new();
        for (pc, site) in self.sites.iter().enumerate() {
            let bits = site.load(Relaxed);
            if bits != 0 {
                *seen.entry(place(pc as Pc)).or_default() |= bits;
            }
        }
        let failed = seen.into_iter().filter(|(_, bits)| bits & FAILED != 0);
        failed.map(|(place, bits)| (place, bits & HELD != 0)).collect()
    }

    /// Writes all that is known.
    pub(super) fn save(&self, mut write: impl FnMut(u32)) {
        write(u32::from(self.has_ended()));
        write(self.sites.len() as u32);
        self.sites.iter().for_each(|site| write(site.load(Relaxed).into()));
    }

    /// Adds what was written. Nothing if that is of other code.
    pub(super) fn load(&self, words: &mut dyn Iterator<Item = u32>) -> Option<()> {
        self.has_ended.fetch_or(words.next()? != 0, Relaxed);
        if words.next()? as usize != self.sites.len() {
            return None;
        }
        for site in &self.sites {
            site.fetch_or(u8::try_from(words.next()?).ok()?, Relaxed);
        }
        Some(())
    }
}
