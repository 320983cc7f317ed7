//! Data races by happens-before in a search that stores states: the state tells who knows of one
//! earlier access.
//!
//! A data race is two accesses to one memory by two threads, one of them a write and not both
//! atomic, neither of which happens before the other. The vector clocks that tell (`data_race.rs`
//! in the crate `explore`) grow with the execution and have no place in a state. One column of them
//! has: of one access
//! *e*, a bit for each clock that says whether the clock contains *e*. Which *e* is guessed:
//! whenever a thread accesses memory while nothing is tracked, the search goes on both with
//! tracking this access and without. As in Savage et al. and most detectors since, the later access
//! of a pair completes the race; guessing the earlier one is what automata do that recognise it.
//!
//! **It finds every race.** If *e* and a later *f* race in some execution, then the search follows
//! this execution without tracking anything up to *e*, tracks *e*, and follows it up to *f*; the
//! bits are the column of *e* in the clocks, since every rule for clocks is a join or an
//! assignment, column by column.
//! **It finds nothing else**, for the same reason.
//!
//! | clocks (`data_race.rs`)               | bits                                                   |
//! |---------------------------------------|--------------------------------------------------------|
//! | `Clock`, `Fenced`, `Pending`          | [`Tracked::clock`], [`fenced`](Tracked::fenced), [`pending`](Tracked::pending): a bit for each thread |
//! | `Released`, `ReadReleased`            | [`Tracked::released`], [`Tracked::read_released`]: the objects whose bit is set |
//! | a snapshot of each arrival            | none: who waits at a barrier learns nothing, so its clock is the snapshot |
//! | all accesses of one moment            | [`Tracked::accesses`]: they are known together or not at all |
//!
//! **What is left out.** Nothing but a race with *e* is looked for while *e* is tracked: everything
//! else is found without. So a state in which every thread that can still move knows of *e* leads
//! nowhere, and is no state: a thread that is spawned later knows what its parent knows.
//!
//! **Reduction.** The bits that a step reads and changes are those of its own thread and of the
//! object of its operation; the clock of a thread is read by others only where they wait for it (a
//! join) or it for them (a barrier), which is no step that a reduction takes for independent. A
//! step with an access in it is [`Dependent`](crate::Safety::Dependent), so beginning to track
//! never is a part of a reduced set.

use mazurka_core::{
    Effect, Fence, MemoryOrder, Next, ObjectId, Operation, PlainAccess, System, ThreadId, ThreadSet,
};

/// The accesses of one thread at one moment, and who knows of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    /// Whose they are.
    thread: ThreadId,
    /// What they are: each memory once.
    accesses: Vec<Kinds>,
    /// Whether the thread waits at a barrier, and made them behind its arrival there: the others of
    /// the round do not learn of them.
    is_behind_arrival: bool,
    /// The threads that know of them.
    clock: ThreadSet,
    /// The threads whose last release fence came behind them, so that all their writes release
    /// them.
    fenced: ThreadSet,
    /// The threads whose next acquire fence learns of them.
    pending: ThreadSet,
    /// The objects that let those know of them who acquire, in order.
    released: Vec<ObjectId>,
    /// The locks of which only writers learn of them, in order.
    read_released: Vec<ObjectId>,
}

/// What was done to one piece of memory at one moment, as far as more is wrong because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds {
    memory: ObjectId,
    kinds: u8,
}

const PLAIN_READ: u8 = 1;
const PLAIN_WRITE: u8 = 2;
const ATOMIC_READ: u8 = 4;
const ATOMIC_WRITE: u8 = 8;

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// What both accessed.
    pub(crate) memory: ObjectId,
    /// Who accessed it, the earlier access first, and whether to write.
    pub(crate) sides: [(ThreadId, bool); 2],
}

/// A step that was taken.
pub(crate) struct Taken<'a> {
    thread: ThreadId,
    operation: Operation,
    effect: Effect,
    order: MemoryOrder,
    /// What the operation accessed itself, and what was accessed behind it.
    atomic: &'a [PlainAccess],
    accesses: &'a [PlainAccess],
    fences: &'a [Fence],
    /// If it is the last arrival of a round at a barrier: all who arrived in the round.
    round: ThreadSet,
}

impl<'a> Taken<'a> {
    /// The last step of a system. `waiting` are those who [waited with](waiting_with) its thread
    /// before.
    pub(crate) fn of<S: System>(
        system: &'a S,
        thread: ThreadId,
        operation: Operation,
        effect: Effect,
        waiting: ThreadSet,
    ) -> Self {
        let is_complete = matches!(operation, Operation::Arrive(_))
            && matches!(system.next(thread), Next::Enabled { .. });
        let round = waiting | ThreadSet::one(thread);
        Self {
            thread,
            operation,
            effect,
            order: system.order(),
            atomic: system.atomic_accesses(),
            accesses: system.accesses(),
            fences: system.fences(),
            round: if is_complete { round } else { ThreadSet::EMPTY },
        }
    }

    /// Whether memory is accessed in it.
    pub(crate) fn has_accesses(&self) -> bool {
        !self.atomic.is_empty() || !self.accesses.is_empty()
    }

    /// The pieces of the step behind its operation, each with the fence at its end.
    fn pieces(&self) -> impl Iterator<Item = (&'a [PlainAccess], Option<MemoryOrder>)> {
        let (accesses, fences) = (self.accesses, self.fences);
        let starts = std::iter::once(0).chain(fences.iter().map(|fence| fence.n_accesses));
        let ends = fences.iter().map(|fence| (fence.n_accesses, Some(fence.order)));
        let ends = ends.chain(std::iter::once((accesses.len(), None)));
        starts.zip(ends).map(move |(start, (end, fence))| (&accesses[start..end], fence))
    }

    /// How many moments it has at which memory is accessed: any of them may be tracked.
    pub(crate) fn n_moments(&self) -> u32 {
        let behind = self.pieces().filter(|(accesses, _)| !accesses.is_empty()).count();
        behind as u32 + u32::from(!self.atomic.is_empty())
    }

    /// What is tracked after the step, if `tracked` was before it, and the race that it completes.
    /// If nothing was tracked, what is accessed at the `begin`-th moment is from then on, counted
    /// from
    /// 1.
    pub(crate) fn follow(&self, tracked: &mut Option<Tracked>, begin: u32) -> Option<Race> {
        let mut moment = 0;
        let mut access = |tracked: &mut Option<Tracked>, accesses: &[PlainAccess]| {
            moment += u32::from(!accesses.is_empty());
            match tracked {
                Some(tracked) => return tracked.race(self.thread, accesses),
                None if !accesses.is_empty() && moment == begin => {
                    *tracked = Some(Tracked::new(self.thread, accesses));
                }
                None => {}
            }
            None
        };
        if let Some(tracked) = tracked {
            tracked.is_behind_arrival &= tracked.thread != self.thread;
            tracked.acquire_first(self);
        }
        if let Some(race) = access(tracked, self.atomic) {
            return Some(race);
        }
        let was_tracked = tracked.is_some();
        if let Some(tracked) = tracked {
            tracked.synchronise(self);
        }
        for (accesses, fence) in self.pieces() {
            if let Some(race) = access(tracked, accesses) {
                return Some(race);
            }
            if let (Some(tracked), Some(order)) = (&mut *tracked, fence) {
                tracked.fence(self.thread, order);
            }
        }
        if let Some(tracked) = tracked
            && !was_tracked
        {
            tracked.is_behind_arrival = matches!(self.operation, Operation::Arrive(_));
        }
        None
    }
}

/// Who waits at the barrier that a thread is about to arrive at, in a round that is not complete.
pub(crate) fn waiting_with<S: System>(system: &S, operation: Operation) -> ThreadSet {
    let Operation::Arrive(arrived_at) = operation else { return ThreadSet::EMPTY };
    let waits = |thread: &ThreadId| match system.next(*thread) {
        Next::Blocked(Operation::Leave { barrier, .. }) => barrier == arrived_at,
        _ => false,
    };
    (0..system.n_threads()).map(ThreadId::new).filter(waits).collect()
}

impl Tracked {
    fn new(thread: ThreadId, accesses: &[PlainAccess]) -> Self {
        let mut all: Vec<Kinds> = Vec::new();
        for access in accesses {
            let memory = access.object;
            let at = all.binary_search_by_key(&memory, |it| it.memory).unwrap_or_else(|at| {
                all.insert(at, Kinds { memory, kinds: 0 });
                at
            });
            all[at].kinds |= kind(access);
        }
        all.iter_mut().for_each(Kinds::simplify);
        Self {
            thread,
            accesses: all,
            is_behind_arrival: false,
            clock: ThreadSet::one(thread),
            fenced: ThreadSet::EMPTY,
            pending: ThreadSet::EMPTY,
            released: Vec::new(),
            read_released: Vec::new(),
        }
    }

    /// The race of an access of a thread with what is tracked.
    fn race(&self, thread: ThreadId, accesses: &[PlainAccess]) -> Option<Race> {
        if self.clock.contains(thread) {
            return None;
        }
        accesses.iter().find_map(|access| {
            let at = self.accesses.binary_search_by_key(&access.object, |it| it.memory).ok()?;
            let wrong = self.accesses[at].kinds & conflicting(kind(access));
            let is_write = wrong & (PLAIN_WRITE | ATOMIC_WRITE) != 0;
            let sides = [(self.thread, is_write), (thread, access.write)];
            (wrong != 0).then_some(Race { memory: access.object, sides })
        })
    }

    /// A read that acquires comes after what it reads from.
    fn acquire_first(&mut self, taken: &Taken<'_>) {
        use Operation as O;
        if let O::Load(object) | O::Await(object) | O::ReadModifyWrite(object) = taken.operation
            && !taken.atomic.is_empty()
            && taken.order.acquires()
        {
            self.learn(taken.thread, object);
        }
    }

    /// Passes on who knows, as the operation says. Line by line as `DataRaces::synchronise`.
    fn synchronise(&mut self, taken: &Taken<'_>) {
        use Operation as O;
        let &Taken { thread, operation, effect, order, .. } = taken;
        let succeeded = effect != Effect::Failed;
        match operation {
            O::Load(o) | O::Await(o) => self.read(thread, o, order),
            O::Store(o) => {
                let is_released = self.releases(thread, order);
                set(&mut self.released, o, is_released);
            }
            O::ReadModifyWrite(o) => {
                self.read(thread, o, order);
                if succeeded && self.releases(thread, order) {
                    set(&mut self.released, o, true);
                }
            }
            O::Add(o) | O::AddAndTest(o) if self.releases(thread, order) => {
                set(&mut self.released, o, true);
            }

            O::Acquire(o) | O::Reacquire { mutex: o, .. } | O::ReadAcquire(o) => {
                self.learn(thread, o);
            }
            O::TryAcquire(o) | O::TryReadAcquire(o) if succeeded => self.learn(thread, o),
            O::WriteAcquire(o) => self.become_writer(thread, o),
            O::TryWriteAcquire(o) if succeeded => self.become_writer(thread, o),
            O::Release(o) | O::Wait { mutex: o, .. } | O::WriteRelease(o) => self.tell(thread, o),
            O::ReadRelease(o) if self.clock.contains(thread) => {
                set(&mut self.read_released, o, true);
            }

            O::SemaphoreAcquire { semaphore: o, .. } => self.learn(thread, o),
            O::SemaphoreTryAcquire { semaphore: o, .. } if succeeded => self.learn(thread, o),
            O::SemaphoreRelease(o) => self.tell(thread, o),

            O::Arrive(_) => self.complete(taken.round),

            O::Spawn(child) => {
                // Another thread may have had its number before: it has fenced and read more.
                self.clock.set(child, self.clock.contains(thread));
                self.fenced.remove(child);
                self.pending.remove(child);
            }
            O::Join(child) if self.clock.contains(child) => self.clock.insert(thread),

            // A notification orders nothing, and who leaves a barrier has learnt before. Channels
            // are not for programs that are tracked.
            _ => {}
        }
    }

    /// A read of an atomic: it learns what its source released, now or at the next acquire fence.
    fn read(&mut self, thread: ThreadId, object: ObjectId, order: MemoryOrder) {
        match order.acquires() {
            true => self.learn(thread, object),
            false if is_in(&self.released, object) => self.pending.insert(thread),
            false => {}
        }
    }

    /// Whether a write of this order lets others know.
    fn releases(&self, thread: ThreadId, order: MemoryOrder) -> bool {
        let known = if order.releases() { self.clock } else { self.fenced };
        known.contains(thread)
    }

    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        if order.acquires() && self.pending.contains(thread) {
            self.clock.insert(thread);
        }
        if order.releases() {
            self.fenced.set(thread, self.clock.contains(thread));
        }
    }

    fn learn(&mut self, thread: ThreadId, object: ObjectId) {
        if is_in(&self.released, object) {
            self.clock.insert(thread);
        }
    }

    fn tell(&mut self, thread: ThreadId, object: ObjectId) {
        if self.clock.contains(thread) {
            set(&mut self.released, object, true);
        }
    }

    fn become_writer(&mut self, thread: ThreadId, lock: ObjectId) {
        self.learn(thread, lock);
        if is_in(&self.read_released, lock) {
            self.clock.insert(thread);
        }
    }

    /// All who arrived in a round learn what each of them knew when it arrived. Since then they
    /// have learnt nothing, and are going to do nothing before they leave.
    fn complete(&mut self, round: ThreadSet) {
        let mut knew = self.clock & round;
        if self.is_behind_arrival {
            knew.remove(self.thread);
        }
        if !knew.is_empty() {
            self.clock |= round;
        }
    }

    /// Forgets what makes no difference any more. Whether a thread that is `alive` can still come
    /// to race with it.
    pub(crate) fn tidy(&mut self, alive: ThreadSet) -> bool {
        self.fenced = self.fenced & alive;
        // Who knows of it has nothing more to learn.
        self.pending = self.pending & (alive - self.clock);
        !(alive - self.clock).is_empty()
    }

    /// Appends it as words.
    fn save(&self, write: &mut dyn FnMut(u64)) {
        let lists = [self.accesses.len(), self.released.len()];
        write(self.thread.index() as u64 | u64::from(self.is_behind_arrival) << 32);
        lists.iter().for_each(|&len| write(len as u64));
        for set in [self.clock, self.fenced, self.pending] {
            let bits = set.bits();
            [bits as u64, (bits >> 64) as u64].into_iter().for_each(&mut *write);
        }
        let accesses = self.accesses.iter();
        accesses.for_each(|it| write((it.memory.index() as u64) << 4 | u64::from(it.kinds)));
        let objects = self.released.iter().chain(&self.read_released);
        objects.for_each(|it| write(it.index() as u64));
    }

    fn restore(words: &[u64]) -> Self {
        let ([first, n_accesses, n_released, sets @ ..], lists) =
            words.split_first_chunk::<9>().expect("what is tracked has these words");
        let set = |idx: usize| {
            ThreadSet::of_bits(u128::from(sets[idx]) | u128::from(sets[idx + 1]) << 64)
        };
        let (accesses, objects) = lists.split_at(*n_accesses as usize);
        let (released, read_released) = objects.split_at(*n_released as usize);
        let kinds = |word: &u64| Kinds {
            memory: ObjectId::new((word >> 4) as usize),
            kinds: (word & 15) as u8,
        };
        let object = |word: &u64| ObjectId::new(*word as usize);
        Self {
            thread: ThreadId::new(*first as u32 as usize),
            accesses: accesses.iter().map(kinds).collect(),
            is_behind_arrival: first >> 32 == 1,
            clock: set(0),
            fenced: set(2),
            pending: set(4),
            released: released.iter().map(object).collect(),
            read_released: read_released.iter().map(object).collect(),
        }
    }
}

/// Appends what is tracked to the bytes of a state: its words and how many they are.
pub(crate) fn save(tracked: Option<&Tracked>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    if let Some(tracked) = tracked {
        tracked.save(&mut |word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
    let n_words = (bytes.len() - start) as u64 / 8;
    bytes.extend_from_slice(&n_words.to_le_bytes());
}

/// The bytes of a state without what is tracked in it, and that.
pub(crate) fn restore(bytes: &[u8]) -> (&[u8], Option<Tracked>) {
    let (rest, n_words) = bytes.split_last_chunk().expect("a state ends with a number");
    let n_bytes = 8 * u64::from_le_bytes(*n_words) as usize;
    let (state, words) = rest.split_at(rest.len() - n_bytes);
    if words.is_empty() {
        return (state, None);
    }
    let (words, _) = words.as_chunks();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    (state, Some(Tracked::restore(&words)))
}

impl Kinds {
    /// Leaves out what races with nothing that the rest does not race with.
    fn simplify(&mut self) {
        if self.kinds & PLAIN_WRITE != 0 {
            self.kinds = PLAIN_WRITE;
        }
        if self.kinds & (PLAIN_READ | ATOMIC_WRITE) != 0 {
            self.kinds &= !ATOMIC_READ;
        }
    }
}

fn kind(access: &PlainAccess) -> u8 {
    match (access.is_atomic, access.write) {
        (false, false) => PLAIN_READ,
        (false, true) => PLAIN_WRITE,
        (true, false) => ATOMIC_READ,
        (true, true) => ATOMIC_WRITE,
    }
}

/// What an access races with if nothing orders the two.
fn conflicting(kind: u8) -> u8 {
    match kind {
        PLAIN_READ => PLAIN_WRITE | ATOMIC_WRITE,
        PLAIN_WRITE => PLAIN_READ | PLAIN_WRITE | ATOMIC_READ | ATOMIC_WRITE,
        ATOMIC_READ => PLAIN_WRITE,
        _ => PLAIN_READ | PLAIN_WRITE,
    }
}

fn is_in(objects: &[ObjectId], object: ObjectId) -> bool {
    objects.binary_search(&object).is_ok()
}

/// Puts an object into a list in order, or takes it out.
fn set(objects: &mut Vec<ObjectId>, object: ObjectId, is_in: bool) {
    match (objects.binary_search(&object), is_in) {
        (Err(at), true) => objects.insert(at, object),
        (Ok(at), false) => drop(objects.remove(at)),
        _ => {}
    }
}
