//! Where the blocks of the heap were allocated, so that people can tell them apart.
//!
//! That costs a look at the stack for each block, so it is noted only in an execution that somebody
//! follows step by step: from the first time on that a place is asked for.

use crate::machine;
use crate::names;
use mazurka_core::Location;
use std::collections::BTreeMap;

/// The blocks of the execution in progress.
#[derive(Default)]
pub(crate) struct Sites {
    is_told: bool,
    /// By the address of the block.
    sites: BTreeMap<usize, Site>,
    /// How many blocks of each place have a name.
    n_named: BTreeMap<String, usize>,
}

struct Site {
    len: usize,
    stack: Vec<usize>,
    /// From where it was freed.
    end: Option<Vec<usize>>,
    /// Once somebody has asked.
    name: Option<String>,
}

impl Sites {
    /// An execution begins.
    pub(crate) fn reset(&mut self) {
        self.is_told = false;
        self.sites.clear();
        self.n_named.clear();
    }

    /// Somebody wants to know places.
    pub(crate) fn tell(&mut self) {
        self.is_told = true;
    }

    /// What people call an address: where its block was allocated, as which one there, and how far
    /// into it.
    fn name(&mut self, address: usize) -> Option<String> {
        let (&start, site) = self.sites.range_mut(..=address).next_back()?;
        if address >= start + site.len {
            return None;
        }
        let name = self.block_name(start)?;
        Some(match address - start {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    }

    /// What people call the block that begins at an address.
    fn block_name(&mut self, start: usize) -> Option<String> {
        let site = self.sites.get_mut(&start)?;
        if site.name.is_none() {
            let place = names::location_of(&site.stack)?;
            let file = place.file.rsplit('/').next().unwrap_or_default();
            let name = format!("heap({file}:{})", place.line);
            let number = self.n_named.entry(name.clone()).or_default();
            *number += 1;
            site.name = Some(if *number > 1 { format!("{name}#{number}") } else { name });
        }
        site.name.clone()
    }
}

/// The running thread has allocated a block.
pub(crate) fn note(block: usize, len: usize) {
    if !machine::with(|machine| machine.sites.is_told) {
        return;
    }
    let stack = names::backtrace();
    machine::with(|machine| {
        machine.sites.sites.insert(block, Site { len: len.max(1), stack, end: None, name: None })
    });
}

/// What people call an address of the heap, if it was told where its block was allocated.
pub(crate) fn name_of(address: usize) -> Option<String> {
    machine::with(|machine| machine.sites.name(address))
}

/// The running thread frees a block.
pub(crate) fn note_end(block: usize) {
    if !machine::with(|machine| machine.sites.is_told) {
        return;
    }
    let stack = names::backtrace();
    machine::with(|machine| {
        if let Some(site) = machine.sites.sites.get_mut(&block) {
            site.end = Some(stack);
        }
    });
}

/// What people call the block that begins at an address, if it was told where it was allocated.
pub(crate) fn block_name(block: usize) -> Option<String> {
    machine::with(|machine| machine.sites.block_name(block))
}

/// Where a block was freed, if that was told.
pub(crate) fn end_of(block: usize) -> Option<Location> {
    let stack = machine::with(|machine| machine.sites.sites.get(&block)?.end.clone())?;
    names::location_of(&stack)
}
