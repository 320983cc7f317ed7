//! The objects of operations: which address has which number, and what state each is in.
//!
//! An object is known by its address and by how often it was initialised there in this
//! execution. Addresses are the same in every execution, and so are the numbers.
//!
//! Atomic accesses may overlap without beginning at the same address: a byte of a word. All that
//! overlap, directly or by way of others, are about one object, that of the *region* they make up.
//! Where an access turns out to connect what were objects of their own, the search begins again.

use crate::plain_accesses::CUT;
use crate::robust::Robustness;
use crate::weak_memory;
use mazurka_core::{Effect, ObjectId, Operation, ThreadId, ThreadSet};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

const N_CACHED: usize = 64;
/// Of what precompiled code has accessed, so many bytes are not told apart.
const GRANULE: usize = 8;
/// Stands for a generation: a futex has a queue beside its word.
const QUEUE: u32 = u32::MAX;
/// Added to the generation of a barrier for the object of every other round.
const OTHER_ROUND: u32 = 1 << 31;

/// All objects of all executions.
#[derive(Default)]
pub(crate) struct Objects {
    numbers: FxHashMap<(usize, u32), ObjectId>,
    /// How often something was initialised at an address, in this execution.
    generations: FxHashMap<usize, u32>,
    states: Vec<State>,
    /// States as they were, in the order in which they were changed, each at most once between
    /// two saves; and the generations before each change.
    journal: Vec<(ObjectId, State)>,
    generations_journal: Vec<(usize, u32)>,
    /// Counts the times that something was saved or put back.
    epoch: u64,
    /// The objects that a thread has held as a lock in any execution, and which of all objects they
    /// are.
    locks: Vec<ObjectId>,
    is_lock: Vec<bool>,
    /// Where each region of atomic accesses begins and ends.
    regions: BTreeMap<usize, usize>,
    /// Futexes whose queue is that of another one, see [`Objects::joined_queue`].
    joined: FxHashMap<usize, usize>,
    /// Regions that trusted calls have not been asked about yet.
    new_regions: Vec<(usize, usize)>,
    /// Where precompiled code has accessed what was no object's then.
    passed: FxHashSet<usize>,
    /// How often a region was made or has grown.
    n_changes: u64,
    /// Objects that were asked for lately.
    cache: Vec<Cached>,
}

/// An object, its address, and how long atomic accesses to it may be: 0 if that is not known.
#[derive(Clone, Copy)]
struct Cached {
    address: usize,
    len: usize,
    object: ObjectId,
}

/// The states of all objects at some time: how long the journals were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SavedObjects {
    n_states: usize,
    n_generations: usize,
}

/// What an object is like: of each kind of object only a part is used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// When it was last written to the journal.
    epoch: u64,
    pub(crate) address: usize,
    /// Who holds the mutex, or has the lock for writing.
    pub(crate) owner: Option<ThreadId>,
    /// How often the owner took a recursive mutex beyond the first time.
    pub(crate) depth: u32,
    /// Who has the lock for reading, once for each time.
    pub(crate) readers: Vec<ThreadId>,
    /// Who sleeps on the condition variable or in the queue of the futex.
    pub(crate) sleepers: ThreadSet,
    /// What the semaphore was created with, and what it has now.
    pub(crate) permits: u32,
    pub(crate) count: u32,
    /// How many make a round of the barrier, and how many have come so far.
    pub(crate) parties: u32,
    pub(crate) arrived: u32,
    /// Whether what is to be done once is done.
    pub(crate) done: bool,
    /// Whether a semaphore or a spin lock was initialised.
    pub(crate) is_initialised: bool,
    /// Whether it outlives who holds it, and what became of it.
    pub(crate) robustness: Robustness,
}

impl Objects {
    /// A new execution begins: all objects are unused.
    pub(crate) fn reset(&mut self) {
        self.restore(SavedObjects::default());
    }

    /// How much is known of objects.
    pub(crate) fn known(&self) -> u64 {
        let Self { numbers, joined, passed, n_changes, .. } = self;
        let sizes = [numbers.len(), joined.len(), passed.len()];
        sizes.iter().fold(*n_changes, |all, &size| all << 16 ^ all >> 48 ^ size as u64)
    }

    /// Keeps the states of now.
    pub(crate) fn save(&mut self) -> SavedObjects {
        self.epoch += 1;
        let n_generations = self.generations_journal.len();
        SavedObjects { n_states: self.journal.len(), n_generations }
    }

    /// Back to states that were kept, from somewhere after them.
    pub(crate) fn restore(&mut self, saved: SavedObjects) {
        self.epoch += 1;
        for (object, state) in self.journal.drain(saved.n_states..).rev() {
            self.states[object.index()] = state;
        }
        if self.generations_journal.len() > saved.n_generations {
            for (address, generation) in self.generations_journal.drain(saved.n_generations..).rev()
            {
                self.generations.insert(address, generation);
            }
            self.forget();
        }
    }

    /// All states, to be compared.
    pub(crate) fn states(&self) -> Vec<State> {
        let states = self.states.iter().cloned();
        states.map(|state| State { epoch: 0, ..state }).collect()
    }

    /// The object at an address.
    #[inline]
    pub(crate) fn at(&mut self, address: usize) -> ObjectId {
        match self.cache.get(address / 4 % N_CACHED) {
            Some(cached) if cached.address == address => cached.object,
            _ => self.find(address, 0),
        }
    }

    /// The object of an atomic access.
    #[inline]
    pub(crate) fn atomic(&mut self, address: usize, len: usize) -> ObjectId {
        match self.cache.get(address / 4 % N_CACHED) {
            Some(cached) if cached.address == address && cached.len >= len => cached.object,
            _ => {
                let start = self.region(address, len);
                self.find(start, self.regions[&start] - start)
            }
        }
    }

    /// Where the region of an atomic access begins.
    fn region(&mut self, address: usize, len: usize) -> usize {
        let end = address + len;
        let near = self.regions.range(..=address).next_back();
        if let Some((&first, _)) = near.filter(|&(_, &last)| end <= last) {
            return first;
        }
        let met: Vec<(usize, usize)> = self.overlapping(address, end).collect();
        let first = met.iter().map(|&(start, _)| start).fold(address, usize::min);
        let last = met.iter().map(|&(_, end)| end).fold(end, usize::max);
        let is_divided = met.iter().any(|&(start, _)| start != first);
        if is_divided || granules(first, last).any(|granule| self.passed.contains(&granule)) {
            CUT.store(true, Ordering::Relaxed);
        }
        self.new_regions.push((first, last));
        for (start, _) in met {
            self.regions.remove(&start);
        }
        self.regions.insert(first, last);
        self.n_changes += 1;
        self.forget();
        first
    }

    fn find(&mut self, address: usize, len: usize) -> ObjectId {
        let generation = match self.generations.is_empty() {
            true => 0,
            false => self.generations.get(&address).copied().unwrap_or(0),
        };
        let object = self.numbered(address, generation);
        self.cache[address / 4 % N_CACHED] = Cached { address, len, object };
        object
    }

    /// The queue of those who sleep on the futex at an address. Under a memory model, it is the
    /// word itself: a graph has one order of all that is done to a futex.
    pub(crate) fn queue(&mut self, address: usize) -> ObjectId {
        match weak_memory::is_on() {
            true => self.atomic(address, size_of::<u32>()),
            false => self.own_queue(address),
        }
    }

    /// The same as an object of its own.
    pub(crate) fn own_queue(&mut self, address: usize) -> ObjectId {
        self.numbered(self.first_joined(address), QUEUE)
    }

    /// The second object of a barrier at an address: that of every other round.
    pub(crate) fn other_round(&mut self, address: usize) -> ObjectId {
        let generation = self.generations.get(&address).copied().unwrap_or(0);
        self.numbered(address, generation | OTHER_ROUND)
    }

    /// The queue of two futexes between which sleepers go to and fro. Where they had one each
    /// before, the search begins again.
    pub(crate) fn joined_queue(&mut self, one: usize, other: usize) -> ObjectId {
        let (one, other) = (self.first_joined(one), self.first_joined(other));
        let first = one.min(other);
        if one != other {
            self.joined.insert(one.max(other), first);
            CUT.store(true, Ordering::Relaxed);
        }
        self.numbered(first, QUEUE)
    }

    fn first_joined(&self, mut address: usize) -> usize {
        while let Some(&first) = self.joined.get(&address) {
            address = first;
        }
        address
    }

    /// The futexes that share the queue of this one, this one included.
    pub(crate) fn sharing_queue(&self, object: ObjectId) -> Vec<usize> {
        let first = self.address(object);
        let joined = self.joined.keys().copied().filter(|&it| self.first_joined(it) == first);
        let mut all: Vec<usize> = joined.chain([first]).collect();
        all.sort_unstable();
        all
    }

    fn numbered(&mut self, address: usize, generation: u32) -> ObjectId {
        let number = self.numbers.len();
        let object =
            *self.numbers.entry((address, generation)).or_insert_with(|| ObjectId::new(number));
        if object.index() == self.states.len() {
            if granules(address, address + 1).any(|granule| self.passed.contains(&granule)) {
                CUT.store(true, Ordering::Relaxed);
            }
            self.states.push(State { address, ..State::default() });
        }
        if self.cache.is_empty() {
            self.forget();
        }
        object
    }

    fn forget(&mut self) {
        self.cache.clear();
        self.cache.resize(N_CACHED, Cached { address: 0, len: 0, object: ObjectId::new(0) });
    }

    /// Whether there is something that operations are about where an access is, which is let pass
    /// otherwise.
    pub(crate) fn knows(&mut self, address: usize, len: usize) -> bool {
        let knows = self.numbers.contains_key(&(address, 0))
            || self.overlapping(address, address + len).next().is_some();
        if !knows {
            self.passed.extend(granules(address, address + len));
        }
        knows
    }

    /// Whether there are regions that trusted calls have not been asked about.
    #[inline]
    pub(crate) fn has_new_regions(&self) -> bool {
        !self.new_regions.is_empty()
    }

    /// They, once.
    pub(crate) fn take_new_regions(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.new_regions)
    }

    /// The regions that have a byte in common with a range.
    fn overlapping(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let before = self.regions.range(..end).rev().map(|(&first, &last)| (first, last));
        before.take_while(move |&(_, last)| last > start)
    }

    /// A new object at an address.
    pub(crate) fn initialise(&mut self, address: usize) -> ObjectId {
        let generation = self.generations.entry(address).or_insert(0);
        self.generations_journal.push((address, *generation));
        *generation += 1;
        self.forget();
        self.at(address)
    }

    /// The state of an object, to be changed.
    #[inline]
    pub(crate) fn state(&mut self, object: ObjectId) -> &mut State {
        let state = &mut self.states[object.index()];
        if state.epoch != self.epoch {
            self.journal.push((object, state.clone()));
            state.epoch = self.epoch;
        }
        state
    }

    /// Where an object is.
    pub(crate) fn address(&self, object: ObjectId) -> usize {
        self.states[object.index()].address
    }

    /// Whether any operation was about what is at an address.
    pub(crate) fn is_known(&self, address: usize) -> bool {
        self.numbers.contains_key(&(address, 0))
    }

    /// How many permits the semaphore at an address has.
    pub(crate) fn count_at(&self, address: usize) -> u32 {
        let known = self.numbers.get(&(address, 0));
        known.map_or(0, |object| self.states[object.index()].count)
    }

    /// The locks that a thread holds.
    pub(crate) fn held_by(&self, thread: ThreadId) -> impl Iterator<Item = ObjectId> + '_ {
        let holds = move |lock: &ObjectId| {
            let State { owner, readers, .. } = &self.states[lock.index()];
            *owner == Some(thread) || readers.contains(&thread)
        };
        self.locks.iter().copied().filter(holds)
    }

    /// The state of an object that is about to be held.
    #[inline]
    fn lock(&mut self, object: ObjectId) -> &mut State {
        if !self.is_lock.get(object.index()).is_some_and(|&is_lock| is_lock) {
            self.is_lock.resize(self.states.len(), false);
            self.is_lock[object.index()] = true;
            self.locks.push(object);
        }
        self.state(object)
    }

    /// A mutex that a thread holds and that outlives it.
    pub(crate) fn robust_held_by(&self, thread: ThreadId) -> Option<ObjectId> {
        let holds = |lock: &&ObjectId| {
            let State { owner, robustness, .. } = &self.states[lock.index()];
            *owner == Some(thread) && *robustness != Robustness::None
        };
        self.locks.iter().find(holds).copied()
    }

    /// Who sleeps on a condition variable.
    pub(crate) fn sleepers(&self, condvar: ObjectId) -> ThreadSet {
        self.states[condvar.index()].sleepers
    }

    /// Whether a thread can take an operation on an object now. `round_end` is how many must
    /// have come to the barrier it waits at.
    pub(crate) fn allows(&self, thread: ThreadId, operation: Operation, round_end: u32) -> bool {
        use Operation as O;
        let state = |object: ObjectId| &self.states[object.index()];
        match operation {
            O::Acquire(o) | O::ReadAcquire(o) => state(o).owner.is_none(),
            O::WriteAcquire(o) => state(o).owner.is_none() && state(o).readers.is_empty(),
            O::Reacquire { condvar, mutex } => {
                state(mutex).owner.is_none() && !state(condvar).sleepers.contains(thread)
            }
            O::FutexResume(queue) | O::Timeout(queue) => !state(queue).sleepers.contains(thread),
            O::SemaphoreAcquire { semaphore, .. } => state(semaphore).count > 0,
            O::Leave { barrier, .. } | O::Part { barrier, .. } => {
                state(barrier).arrived >= round_end
            }
            _ => true,
        }
    }

    /// Takes an operation that is allowed and wakes no thread.
    pub(crate) fn apply(&mut self, thread: ThreadId, operation: Operation) -> Effect {
        use Operation as O;
        match operation {
            O::Acquire(o) | O::WriteAcquire(o) | O::Reacquire { mutex: o, .. } => {
                self.lock(o).owner = Some(thread);
            }
            O::TryAcquire(o) | O::TryWriteAcquire(o) => {
                let state = self.lock(o);
                if state.owner.is_some() || !state.readers.is_empty() {
                    return Effect::Failed;
                }
                state.owner = Some(thread);
            }
            O::Release(o) | O::WriteRelease(o) => self.state(o).owner = None,
            O::ReadAcquire(o) => self.lock(o).readers.push(thread),
            O::TryReadAcquire(o) => {
                let state = self.lock(o);
                if state.owner.is_some() {
                    return Effect::Failed;
                }
                state.readers.push(thread);
            }
            O::ReadRelease(o) => {
                let readers = &mut self.state(o).readers;
                if let Some(idx) = readers.iter().position(|&reader| reader == thread) {
                    readers.swap_remove(idx);
                }
            }
            O::Wait { condvar, mutex } => {
                self.state(mutex).owner = None;
                self.state(condvar).sleepers.insert(thread);
            }
            O::Expire(o) | O::Timeout(o) => {
                let sleepers = &mut self.state(o).sleepers;
                if !sleepers.contains(thread) {
                    return Effect::Failed;
                }
                sleepers.remove(thread);
            }
            O::SemaphoreAcquire { semaphore: o, .. } => self.state(o).count -= 1,
            O::SemaphoreTryAcquire { semaphore: o, .. } => match self.state(o).count {
                0 => return Effect::Failed,
                _ => self.state(o).count -= 1,
            },
            O::SemaphoreRelease(o) => self.state(o).count += 1,
            O::Arrive(o) | O::Meet(o) => self.state(o).arrived += 1,
            _ => {}
        }
        Effect::Done
    }
}

/// The granules that a range has a byte in.
fn granules(start: usize, end: usize) -> impl Iterator<Item = usize> {
    start / GRANULE..end.div_ceil(GRANULE)
}
