//! Where the blocks of the heap were allocated, so that people can tell them apart; and where
//! threads panic, fail and join others.
//!
//! That costs a look at the stack for each of them, so it is noted only in an execution that
//! a replay follows step by step: from the first time on that a place is asked for.

use crate::block_types::{self, Content};
use crate::machine;
use crate::names;
use crate::scalars::Scalar;
use mazurka_core::{FailureSite, Location, ThreadId};
use std::collections::BTreeMap;

/// The blocks of the execution in progress.
#[derive(Default)]
pub(crate) struct Sites {
    is_told: bool,
    /// By the address of the block: of several at one address the last.
    sites: BTreeMap<usize, Site>,
    /// From where all blocks were allocated, in order: places in [`Sites::stacks`].
    allocations: Vec<usize>,
    /// The stacks with which blocks were allocated, in any execution, and what that tells, once
    /// places are asked for.
    stacks: Vec<Stack>,
    by_stack: BTreeMap<Vec<usize>, usize>,
    /// Where threads have begun to panic, in order.
    panics: Vec<Place>,
    /// Where a thread has failed.
    failed: Option<Place>,
    /// Whether it failed by ending the process, so that a panic is the reason.
    has_exited: bool,
    /// From where the threads were joined that the last step has joined, in order.
    joins: Vec<Vec<usize>>,
    /// What the step that was asked about last accesses.
    asked: Option<usize>,
}

/// Who was where.
#[derive(Clone, Debug)]
struct Place {
    thread: usize,
    /// In which step, from 1.
    step: usize,
    stack: Vec<usize>,
}

/// A stack with which blocks were allocated.
struct Stack {
    addresses: Vec<usize>,
    /// How long the first one was.
    len: usize,
    kind: Option<Kind>,
}

struct Site {
    len: usize,
    /// Its place in [`Sites::allocations`].
    serial: usize,
    /// From where it was freed.
    end: Option<Vec<usize>>,
}

/// What the place of an allocation tells of a block.
#[derive(Clone, Debug)]
enum Kind {
    /// Nothing.
    Unknown,
    /// No more than where that is.
    Place(String),
    /// What it holds, and the variable that it was bound to.
    Content { content: Content, variable: Option<String> },
}

impl Kind {
    /// What is known of a block of so many bytes that was allocated with this stack.
    fn of(stack: &[usize], len: usize) -> Self {
        let Some(place) = names::location_of(stack) else { return Self::Unknown };
        let content = || block_types::content(stack, &place, len as u64);
        match (!place.is_library).then(content).flatten() {
            Some(content) => Self::Content { content, variable: block_types::variable_at(&place) },
            None => {
                let file = place.file.rsplit('/').next().unwrap_or_default();
                let call = place.within.as_deref().and_then(|it| it.rsplit("::").next());
                let what = match call {
                    Some("channel" | "sync_channel" | "bounded" | "unbounded") => "channel",
                    _ => "heap",
                };
                Self::Place(format!("{what}({file}:{})", place.line))
            }
        }
    }

    /// What decides which blocks are numbered together.
    fn group(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::Place(name) => Some(name),
            Self::Content { content, variable } => Some(content.group(variable.as_deref())),
        }
    }
}

/// What people call a block: the how many-th it is of its kind, in the order of allocation.
struct BlockName {
    kind: Kind,
    number: usize,
    len: usize,
}

impl BlockName {
    /// A place in it.
    fn part(&self, offset: usize) -> String {
        match &self.kind {
            Kind::Content { content, variable } => {
                let block = content.called(variable.as_deref(), self.number);
                content.part(&block, offset as u64, self.len as u64)
            }
            kind => self.place(kind, offset),
        }
    }

    /// A place in it whose address is held.
    fn pointed(&self, offset: usize) -> String {
        match &self.kind {
            Kind::Content { content, variable } => {
                let block = content.called(variable.as_deref(), self.number);
                content.pointed(&block, offset as u64, self.len as u64)
            }
            kind => self.place(kind, offset),
        }
    }

    fn place(&self, kind: &Kind, offset: usize) -> String {
        let mut name = kind.group().unwrap_or_default().to_owned();
        if self.number > 1 {
            name.push_str(&format!("#{}", self.number));
        }
        if offset > 0 {
            name.push_str(&format!("+{offset:#x}"));
        }
        name
    }
}

impl Sites {
    /// An execution begins.
    pub(crate) fn reset(&mut self) {
        self.is_told = false;
        self.sites.clear();
        self.allocations.clear();
        self.panics.clear();
        self.failed = None;
        self.has_exited = false;
        self.joins.clear();
        self.asked = None;
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

    /// Whether places are asked for.
    #[inline]
    pub(crate) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Places are asked for.
    pub(crate) fn tell(&mut self) {
        self.is_told = true;
    }

    /// The next step accesses this.
    pub(crate) fn ask(&mut self, address: Option<usize>) {
        self.asked = address;
    }

    /// What the last step has accessed, if that was asked.
    pub(crate) fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// What people call the block that an address is in, and how far into it that is.
    fn find(&mut self, address: usize) -> Option<(BlockName, usize)> {
        let (&start, site) = self.sites.range(..=address).next_back()?;
        if address >= start + site.len {
            return None;
        }
        Some((self.named(start)?, address - start))
    }

    /// What people call the block that begins at an address.
    fn named(&mut self, start: usize) -> Option<BlockName> {
        let Site { len, serial, .. } = *self.sites.get(&start)?;
        for stack in &self.allocations[..=serial] {
            let Stack { addresses, len, kind } = &mut self.stacks[*stack];
            kind.get_or_insert_with(|| Kind::of(addresses, *len));
        }
        let group = |stack: usize| self.stacks[stack].kind.as_ref().and_then(Kind::group);
        let (before, this) = (&self.allocations[..serial], self.allocations[serial]);
        let mine = group(this)?;
        let number = 1 + before.iter().filter(|&&stack| group(stack) == Some(mine)).count();
        Some(BlockName { kind: self.stacks[this].kind.clone()?, number, len })
    }

    fn note(&mut self, block: usize, len: usize, stack: Vec<usize>) {
        let number = self.stacks.len();
        let number = *self.by_stack.entry(stack.clone()).or_insert(number);
        if number == self.stacks.len() {
            self.stacks.push(Stack { addresses: stack, len, kind: None });
        }
        let serial = self.allocations.len();
        self.allocations.push(number);
        self.sites.insert(block, Site { len: len.max(1), serial, end: None });
    }
}

/// The running thread has allocated a block.
pub(crate) fn note(block: usize, len: usize) {
    if !machine::with(|machine| machine.sites.is_told) {
        return;
    }
    let stack = names::backtrace();
    machine::with(|machine| machine.sites.note(block, len, stack));
}

/// What people call an address of the heap, if it was told where its block was allocated.
pub(crate) fn name_of(address: usize) -> Option<String> {
    machine::with(|machine| machine.sites.find(address)).map(|(name, offset)| name.part(offset))
}

/// What people call an address of the heap that is held.
pub(crate) fn pointed(address: usize) -> Option<String> {
    machine::with(|machine| machine.sites.find(address)).map(|(name, offset)| name.pointed(offset))
}

/// What the `len` bytes at an address of the heap are, if that is told.
pub(crate) fn scalar_of(address: usize, len: usize) -> Option<Scalar> {
    let (name, offset) = machine::with(|machine| machine.sites.find(address))?;
    match &name.kind {
        Kind::Content { content, .. } => {
            Some(content.scalar(offset as u64, name.len as u64, len as u64))
        }
        Kind::Unknown | Kind::Place(_) => None,
    }
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
    machine::with(|machine| machine.sites.named(block)).map(|name| name.pointed(0))
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

/// Where the running thread is, if places are asked for.
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
