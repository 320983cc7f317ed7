//! Where the blocks of the heap were allocated, so that people can tell them apart; and where
//! threads panic, fail and join others.
//!
//! That costs a look at the stack for each of them, so it is noted only in an execution that
//! somebody follows step by step: from the first time on that a place is asked for.

use crate::block_types::{self, Content};
use crate::machine;
use crate::names;
use mazurka_core::{FailureSite, Location, ThreadId};
use std::collections::BTreeMap;

/// The blocks of the execution in progress.
#[derive(Default)]
pub(crate) struct Sites {
    is_told: bool,
    /// By the address of the block.
    sites: BTreeMap<usize, Site>,
    /// How many blocks of each place have a name.
    n_named: BTreeMap<String, usize>,
    /// Where threads have begun to panic, in order.
    panics: Vec<Place>,
    /// Where a thread has failed.
    failed: Option<Place>,
    /// Whether it failed by ending the process, so that a panic is the reason.
    has_exited: bool,
    /// From where the threads were joined that the last step has joined, in order.
    joins: Vec<Vec<usize>>,
}

/// Who was where.
#[derive(Clone, Debug)]
struct Place {
    thread: usize,
    /// In which step, from 1.
    step: usize,
    stack: Vec<usize>,
}

struct Site {
    len: usize,
    stack: Vec<usize>,
    /// From where it was freed.
    end: Option<Vec<usize>>,
    /// Once somebody has asked.
    name: Option<BlockName>,
}

/// What people call a block.
#[derive(Clone, Debug)]
enum BlockName {
    /// By where it was allocated.
    Place(String),
    /// By what it holds: of several the how many-th, and the variable that it was bound to.
    Content { content: Content, number: usize, variable: Option<String> },
}

impl BlockName {
    fn part(&self, offset: usize) -> String {
        match (self, offset) {
            (Self::Place(name), 0) => name.clone(),
            (Self::Place(name), offset) => format!("{name}+{offset:#x}"),
            (Self::Content { content, number, variable }, offset) => {
                content.part(variable.as_deref(), *number, offset as u64)
            }
        }
    }
}

impl Sites {
    /// An execution begins.
    pub(crate) fn reset(&mut self) {
        self.is_told = false;
        self.sites.clear();
        self.n_named.clear();
        self.panics.clear();
        self.failed = None;
        self.has_exited = false;
        self.joins.clear();
    }

    /// A step begins.
    #[inline]
    pub(crate) fn begin_step(&mut self) {
        self.joins.clear();
    }

    /// A thread has failed at an instruction.
    pub(crate) fn note_crash(&mut self, thread: usize, step: usize, instruction: usize) {
        if self.is_told {
            // As if it were a return address, which is behind its call.
            let place = Place { thread, step, stack: vec![instruction + 1] };
            self.failed.get_or_insert(place);
        }
    }

    /// A thread is about to fail because the process has ended badly.
    pub(crate) fn note_exit(&mut self) {
        self.has_exited = true;
    }

    /// Whether somebody wants to know places.
    #[inline]
    pub(crate) fn is_told(&self) -> bool {
        self.is_told
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
        let name = self.named(start)?;
        Some(name.part(address - start))
    }

    /// What people call the block that begins at an address.
    fn named(&mut self, start: usize) -> Option<BlockName> {
        let site = self.sites.get_mut(&start)?;
        if site.name.is_none() {
            let place = names::location_of(&site.stack)?;
            let mut count = |name: &str| {
                let number = self.n_named.entry(name.to_owned()).or_default();
                *number += 1;
                *number
            };
            let content = (!place.is_library).then(|| block_types::content(&site.stack)).flatten();
            site.name = Some(match content {
                Some(content) => {
                    let variable = block_types::variable_at(&place);
                    let number = count(content.group(variable.as_deref()));
                    BlockName::Content { content, number, variable }
                }
                None => {
                    let file = place.file.rsplit('/').next().unwrap_or_default();
                    let name = format!("heap({file}:{})", place.line);
                    let number = count(&name);
                    BlockName::Place(if number > 1 { format!("{name}#{number}") } else { name })
                }
            });
        }
        site.name.clone()
    }

    /// What people call the block that begins at an address, all of it.
    fn block_name(&mut self, start: usize) -> Option<String> {
        let name = self.named(start)?;
        Some(match &name {
            BlockName::Content { content, .. } => name.part(content.start()),
            BlockName::Place(_) => name.part(0),
        })
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

/// The running thread begins to panic, or throws an exception.
pub(crate) fn note_panic() {
    if let Some(place) = here() {
        machine::with(|machine| machine.sites.panics.push(place));
    }
}

/// The running thread fails.
pub(crate) fn note_failure() {
    if let Some(place) = here() {
        machine::with(|machine| {
            machine.sites.failed.get_or_insert(place);
        });
    }
}

/// The running thread has joined another one.
pub(crate) fn note_join() {
    if let Some(place) = here() {
        machine::with(|machine| machine.sites.joins.push(place.stack));
    }
}

/// Where the running thread is, if somebody wants to know places.
fn here() -> Option<Place> {
    machine::with(|machine| machine.sites.is_told).then(|| {
        let stack = names::backtrace();
        let step = machine::with(|machine| machine.depth);
        Place { thread: machine::current().index(), step, stack }
    })
}

/// Where the joins of the last step stand.
pub(crate) fn join_locations() -> Vec<Option<Location>> {
    let stacks = machine::with(|machine| machine.sites.joins.clone());
    stacks.iter().map(|stack| names::location_of(stack)).collect()
}

/// Who has failed, and where: if a panic has ended the process, where that began.
pub(crate) fn failure_site() -> Option<FailureSite> {
    let (failed, panics, has_exited) = machine::with(|machine| {
        let Sites { failed, panics, has_exited, .. } = &machine.sites;
        (failed.clone(), panics.clone(), *has_exited)
    });
    let place = if has_exited { reason(&panics).or(failed) } else { failed }?;
    let Place { thread, step, stack } = place;
    Some(FailureSite { thread: ThreadId::new(thread), step, location: names::location_of(&stack) })
}

/// The panic that is the reason for the last one: that of another thread, if the last one does no
/// more than say that the other thread has panicked.
fn reason(panics: &[Place]) -> Option<Place> {
    let (last, before) = panics.split_last()?;
    let functions = names::functions_of(&last.stack);
    let passes_on =
        |name: &String| name.contains("unwrap_failed") || name.contains("scoped::scope");
    let other = before.iter().rfind(|place| place.thread != last.thread);
    Some(other.filter(|_| functions.iter().any(passes_on)).unwrap_or(last).clone())
}
