//! Which atomics the program accesses with an order weaker than sequential consistency, and which
//! volatile variables, and where.
//!
//! Every weak access comes here, so what is known already must cost next to nothing: a small table
//! ([`WeakAccesses::recent`]) is looked at first. An access is told from others by where it was
//! called from, in the [`N_CALLERS`] innermost functions: without optimisation, each access goes
//! through a function or two of the language's library, and all of them through the same. Where the
//! stack has the addresses to return to is the same for each call from one place, so the stack is
//! unwound only when a place is new.
//!
//! A volatile access orders nothing, and C and C++ say nothing of what another thread sees of it: it
//! is noted as one without an order, one place for each object.

use crate::coroutine;
use crate::machine;
use crate::names::{self, Frame};
use mazurka_core::{MemoryOrder, ThreadId, WeakAccess};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many functions around the one that accesses are told apart.
const N_CALLERS: usize = 2;
/// No more accesses are noted of one place and order: a list of nodes has as many atomics as nodes.
const MAX_PER_PLACE: usize = 64;
const N_RECENT: usize = 256;
const WORD: usize = size_of::<usize>();

/// An access, as it is told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    address: usize,
    /// None of a volatile access.
    order: Option<MemoryOrder>,
    /// Where the access was called from, and where its caller was.
    callers: [usize; N_CALLERS + 1],
}

/// An access that was noted last, and how far above the stack pointer its callers are found.
#[derive(Clone, Copy, Debug)]
struct Recent {
    key: Key,
    offsets: [usize; N_CALLERS],
}

#[derive(Debug)]
struct Noted {
    address: usize,
    order: Option<MemoryOrder>,
    stack: Vec<usize>,
    /// Of what is on a stack, while it is known.
    name: Option<String>,
}

/// All such accesses, over all executions.
#[derive(Debug, Default)]
pub(crate) struct WeakAccesses {
    recent: Vec<Option<Recent>>,
    known: FxHashSet<Key>,
    /// How far above the stack pointer the address is to which the function returns that contains a
    /// place, given the places within, innermost first and 0 for the rest.
    offsets: FxHashMap<[usize; N_CALLERS], usize>,
    n_noted: FxHashMap<(usize, Option<MemoryOrder>), usize>,
    noted: Vec<Noted>,
    /// Whether something on a stack was noted that has no name yet.
    has_unnamed: bool,
}

impl WeakAccesses {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        self.noted.len() as u64
    }

    /// The running thread, whose stack pointer was this when it called one of our functions,
    /// accesses an atomic with a weak order.
    #[inline]
    pub(crate) fn note(&mut self, stack_pointer: usize, address: usize, order: MemoryOrder) {
        // SAFETY: the stack pointer of a function that was just called points to where it returns.
        let site = unsafe { *(stack_pointer as *const usize) };
        let slot = slot(site, address);
        if let Some(Some(Recent { key, offsets })) = self.recent.get(slot)
            && (key.callers[0], key.address, key.order) == (site, address, Some(order))
            && offsets.iter().zip(&key.callers[1..]).all(|(&offset, &caller)| {
                offset == 0 || word_at(stack_pointer + offset) == Some(caller)
            })
        {
            return;
        }
        self.note_slowly(stack_pointer, site, address, Some(order));
    }

    /// The running thread accesses something volatile that is not on its own stack.
    pub(crate) fn note_volatile(&mut self, address: usize) {
        let key = Key { address, order: None, callers: [0; N_CALLERS + 1] };
        if self.known.contains(&key) {
            return;
        }
        let n_noted = self.n_noted.entry((0, None)).or_default();
        if *n_noted < MAX_PER_PLACE {
            *n_noted += 1;
            self.known.insert(key);
            self.keep(key, &names::frames());
        }
    }

    #[cold]
    fn note_slowly(
        &mut self,
        stack_pointer: usize,
        site: usize,
        address: usize,
        order: Option<MemoryOrder>,
    ) {
        let mut key = Key { address, order, callers: [0; N_CALLERS + 1] };
        key.callers[0] = site;
        let offsets = self.find_callers(stack_pointer, &mut key.callers);
        if offsets.is_none_or(|_| !self.known.contains(&key)) {
            let n_noted = self.n_noted.entry((site, order)).or_default();
            if *n_noted >= MAX_PER_PLACE {
                return;
            }
            *n_noted += 1;
            self.note_stack(stack_pointer, key);
        }
        if let Some(offsets) = offsets {
            self.recent.resize(N_RECENT, None);
            self.recent[slot(site, address)] = Some(Recent { key, offsets });
        }
    }

    /// Completes the callers of an access by what is known of its place. Where they are on the
    /// stack, if all is known.
    fn find_callers(
        &self,
        stack_pointer: usize,
        callers: &mut [usize; N_CALLERS + 1],
    ) -> Option<[usize; N_CALLERS]> {
        let mut offsets = [0; N_CALLERS];
        for idx in 0..N_CALLERS {
            let mut within = [0; N_CALLERS];
            within[..=idx].copy_from_slice(&callers[..=idx]);
            offsets[idx] = *self.offsets.get(&within)?;
            if offsets[idx] != 0 {
                callers[idx + 1] = word_at(stack_pointer + offsets[idx])?;
            }
        }
        Some(offsets)
    }

    /// Unwinds the stack, in order to note an access and where its callers are found.
    fn note_stack(&mut self, stack_pointer: usize, mut key: Key) {
        let frames = names::frames();
        let own = frames.iter().position(|frame| frame.address == key.callers[0]);
        let outer = own.map_or(&[][..], |own| &frames[own + 1..]);
        let mut within = [0; N_CALLERS];
        for idx in 0..N_CALLERS {
            within[idx] = key.callers[idx];
            // The address to return to is below where the frame of the callee has ended.
            let found = outer.get(idx).and_then(|frame| {
                let place = frame.stack_pointer.checked_sub(WORD)?;
                (word_at(place) == Some(frame.address))
                    .then_some((place.checked_sub(stack_pointer)?, frame.address))
            });
            let (offset, caller) = found.unwrap_or_default();
            self.offsets.insert(within, offset);
            key.callers[idx + 1] = caller;
        }
        if self.known.insert(key) {
            self.keep(key, &frames);
        }
    }

    /// The same for a call of a function that notes no stack pointer: one place is told for each
    /// atomic and order.
    pub(crate) fn note_anywhere(&mut self, address: usize, order: MemoryOrder) {
        let key = Key { address, order: Some(order), callers: [0; N_CALLERS + 1] };
        if order.is_weak() && self.known.insert(key) {
            self.keep(key, &names::frames());
        }
    }

    fn keep(&mut self, Key { address, order, .. }: Key, frames: &[Frame]) {
        let stack = frames.iter().map(|frame| frame.address).collect();
        self.noted.push(Noted { address, order, stack, name: None });
        self.has_unnamed |= coroutine::stack_of(address) < ThreadId::MAX;
    }

    /// Whether there is something to name before its frame is gone.
    #[inline]
    pub(crate) fn has_unnamed(&self) -> bool {
        self.has_unnamed
    }
}

#[inline]
fn slot(site: usize, address: usize) -> usize {
    (site ^ address >> 2) % N_RECENT
}

/// A word of the running thread's stack.
#[inline]
fn word_at(place: usize) -> Option<usize> {
    let is_there = coroutine::is_own_stack(place) && coroutine::is_own_stack(place + WORD - 1);
    // SAFETY: it is on the stack of the thread that runs, above its stack pointer.
    is_there.then(|| unsafe { *(place as *const usize) })
}

/// Names what was noted on stacks, as long as their frames are there. To be called by the host.
#[cold]
pub(crate) fn name_locals() {
    let open: Vec<(usize, usize)> = machine::with(|machine| {
        let accesses = &mut machine.weak_accesses;
        accesses.has_unnamed = false;
        let is_open =
            |it: &Noted| it.name.is_none() && coroutine::stack_of(it.address) < ThreadId::MAX;
        let noted = accesses.noted.iter().enumerate().filter(|(_, it)| is_open(it));
        noted.map(|(idx, it)| (idx, it.address)).collect()
    });
    for (idx, address) in open {
        let name = machine::name_of(address);
        machine::with(|machine| machine.weak_accesses.noted[idx].name = Some(name));
    }
}

/// All of them, in the words of the source, in the order of the source.
pub(crate) fn all() -> Vec<WeakAccess> {
    let noted = machine::with(|machine| std::mem::take(&mut machine.weak_accesses.noted));
    let mut all: Vec<WeakAccess> = noted
        .iter()
        .map(|it| WeakAccess {
            object: it.name.clone().unwrap_or_else(|| machine::name_of(it.address)),
            order: it.order,
            location: names::location_of(&it.stack),
        })
        .collect();
    machine::with(|machine| machine.weak_accesses.noted = noted);
    all.sort_by(|one, other| (&one.location, one).cmp(&(&other.location, other)));
    all.dedup();
    all
}
