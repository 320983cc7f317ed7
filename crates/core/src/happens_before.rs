//! Happens-before of the execution in progress: clocks and last-access tables, with undo.
//!
//! Implements Flanagan and Godefroid (POPL 2005), section 4: clock vectors (4.1, Fig. 4) and the
//! per-object tables that avoid stack traversals (4.2, Fig. 5).
//!
//! | paper                            | here                                               |
//! |----------------------------------|----------------------------------------------------|
//! | index *i* into *S*, from 1       | [`Position`]; 0 is "none"                          |
//! | *C(p)*                           | [`HappensBefore::clock`]                           |
//! | *C(i)*                           | [`HappensBefore::clock_at`]                        |
//! | *i* →S *p*: *i ≤ C(p)(proc(Si))* | [`HappensBefore::knows`]                           |
//! | *L(o)*, a lock's last acquire    | first of [`HappensBefore::rivals`]                 |
//! | *L(o)*, any other object         | last of [`HappensBefore::immediate_races`]         |
//!
//! Differs from the paper: reads and writes are apart, with the last read of *every* thread (one
//! slot for all readers is masked by the thread's own read, SEMANTICS F2); an operation may touch
//! two objects; what a queue, a join, a barrier or a notification enables is ordered after what
//! enabled it, and after nothing else. Each table entry remembers what it replaced, so taking back a step
//! costs as much as taking it. A step costs O(threads), amortised: a write looks at each unseen
//! read once and later writes see them through it.

use crate::fold::mix;
use crate::operation::{End, Place, Touch, Touches};
use crate::{Decision, Effect, Operation, ThreadId, may_be_coenabled};
use std::hash::{Hash, Hasher};

/// The index of a step in the execution, from 1; 0 stands for "none".
pub type Position = u32;

/// The happens-before order of one execution, grown and shrunk at its end.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    /// Threads there is room for: the length of a clock.
    stride: usize,
    events: Vec<Event>,
    /// One clock per event, `stride` entries each.
    clocks: Vec<Position>,
    zero: Vec<Position>,
    threads: Vec<Thread>,
    /// Two per object: its front and its back.
    places: Vec<Tails>,
    /// `stride` per object: the last reading touch of its front by each thread.
    reads: Vec<Position>,
    /// The same for additions; shorter, as long as nobody adds.
    additions: Vec<Position>,
    /// Per object: the steps that put something in and took something out.
    queues: Vec<Queue>,
    /// Notification, sleeper, and the sleeper's waker before.
    woken: Vec<(Position, ThreadId, Position)>,
    hashing: bool,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
struct Event {
    operation: Operation,
    decision: Decision,
    /// What this step's touches replaced in the tables.
    replaced: [Tails; 2],
    /// In which place of its queue it stands, if it has one.
    rank: u32,
    queued: Queued,
    hash: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queued {
    No,
    In,
    Out,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    steps: Vec<Position>,
    /// The step that spawned it.
    born: Position,
    /// The notification that woke it last.
    waker: Position,
}

/// The last touches of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Tails {
    /// The last `Write` or `Enter`.
    chain: Position,
    /// The last `Write`.
    write: Position,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    put: Vec<Position>,
    taken: Vec<Position>,
}

impl HappensBefore {
    /// The order of the empty execution. With `hashing`, steps get their [`hash_at`](Self::hash_at).
    pub fn new(hashing: bool) -> Self {
        Self {
            stride: 4,
            events: Vec::new(),
            clocks: Vec::new(),
            zero: vec![0; 4],
            threads: Vec::new(),
            places: Vec::new(),
            reads: Vec::new(),
            additions: Vec::new(),
            queues: Vec::new(),
            woken: Vec::new(),
            hashing,
        }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What was decided at a step.
    pub fn decision(&self, at: Position) -> Decision {
        self.event(at).decision
    }

    /// Which operation a step took.
    pub fn operation(&self, at: Position) -> Operation {
        self.event(at).operation
    }

    /// Whose step it was.
    pub fn thread(&self, at: Position) -> ThreadId {
        self.event(at).decision.thread
    }

    /// The steps of a thread, ascending.
    pub fn steps_of(&self, thread: ThreadId) -> &[Position] {
        self.threads.get(thread.index()).map_or(&[], |thread| &thread.steps)
    }

    /// The clock of a step: for each thread, its last step that happens before this one, or is it.
    pub fn clock_at(&self, at: Position) -> &[Position] {
        match at {
            0 => &self.zero,
            at => {
                let start = (at as usize - 1) * self.stride;
                &self.clocks[start..start + self.stride]
            }
        }
    }

    /// The clock of a thread: what its last step knows, or what its birth knew.
    pub fn clock(&self, thread: ThreadId) -> &[Position] {
        let origin = self
            .threads
            .get(thread.index())
            .map_or(0, |thread| thread.steps.last().copied().unwrap_or(thread.born));
        self.clock_at(origin)
    }

    /// Whether the step `at` is in a past that this clock describes.
    pub fn knows(&self, clock: &[Position], at: Position) -> bool {
        at <= clock[self.thread(at).index()]
    }

    /// Whether `earlier` happens before `later`, or is it.
    pub fn ordered(&self, earlier: Position, later: Position) -> bool {
        self.knows(self.clock_at(later), earlier)
    }

    /// A hash of everything that happens before a step, and the step itself: the local state of
    /// its thread (Coons' thesis, Definition 2.1), the same in every linearisation.
    pub fn hash_at(&self, at: Position) -> u64 {
        match at {
            0 => 0,
            at => self.event(at).hash,
        }
    }

    /// A hash of the whole trace, the same in every linearisation (thesis, 8.3).
    pub fn trace_hash(&self) -> u64 {
        self.threads.iter().enumerate().fold(0, |hash, (idx, thread)| match thread.steps.last() {
            Some(&last) => hash.wrapping_add(mix(self.event(last).hash, idx as u64)),
            None => hash,
        })
    }

    /// Adds a step at the end.
    pub fn push(&mut self, decision: Decision, operation: Operation, effect: Effect) -> Position {
        let thread = decision.thread;
        let touches = operation.touches();
        self.make_room(thread, operation, touches);
        let at = self.events.len() as Position + 1;
        let previous = self.threads[thread.index()].steps.last().copied().unwrap_or(0);
        let origin = if previous == 0 { self.threads[thread.index()].born } else { previous };
        let start = self.clocks.len();
        match origin {
            0 => self.clocks.extend_from_slice(&self.zero),
            from => {
                let row = (from as usize - 1) * self.stride;
                self.clocks.extend_from_within(row..row + self.stride);
            }
        }
        let mut hash = 0;
        if self.hashing {
            let mut label = crate::fold::Fold::default();
            operation.hash(&mut label);
            label.write_u32(decision.choice);
            hash = mix(label.finish(), mix(self.hash_at(origin), thread.index() as u64));
        }

        let mut replaced = [Tails::default(); 2];
        for (idx, &(place, touch)) in touches.as_slice().iter().enumerate() {
            let tails = self.places[slot(place)];
            match touch {
                Touch::Read => {
                    self.follow(start, tails.write, &mut hash);
                    self.follow_all(start, Group::Additions, place, tails.write, &mut hash);
                    let cell = place.0.index() * self.stride + thread.index();
                    replaced[idx].chain = std::mem::replace(&mut self.reads[cell], at);
                }
                Touch::Add => {
                    self.follow(start, tails.chain, &mut hash);
                    self.follow_all(start, Group::Reads, place, tails.chain, &mut hash);
                    let cell = place.0.index() * self.stride + thread.index();
                    if cell >= self.additions.len() {
                        self.additions.resize(self.reads.len(), 0);
                    }
                    replaced[idx].chain = std::mem::replace(&mut self.additions[cell], at);
                }
                Touch::Enter => {
                    self.follow(start, tails.chain, &mut hash);
                    replaced[idx] = tails;
                    self.places[slot(place)].chain = at;
                }
                Touch::Write => {
                    self.follow(start, tails.chain, &mut hash);
                    if place.1 == End::Front {
                        self.follow_all(start, Group::Reads, place, tails.chain, &mut hash);
                        self.follow_all(start, Group::Additions, place, tails.chain, &mut hash);
                    }
                    replaced[idx] = tails;
                    self.places[slot(place)] = Tails { chain: at, write: at };
                }
            }
        }
        let (rank, queued) = self.follow_enabler(start, at, decision, operation, effect, &mut hash);
        self.clocks[start + thread.index()] = at;
        self.threads[thread.index()].steps.push(at);
        self.events.push(Event { operation, decision, replaced, rank, queued, hash });
        at
    }

    /// Takes the last step back.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pop(&mut self) {
        let event = self.events.pop().expect("a step to take back");
        let at = self.events.len() as Position + 1;
        let thread = event.decision.thread;
        self.clocks.truncate(self.clocks.len() - self.stride);
        self.threads[thread.index()].steps.pop();
        // Two touches of one operation never meet in one place, so their order does not matter.
        for (idx, &(place, touch)) in event.operation.touches().as_slice().iter().enumerate() {
            match touch {
                Touch::Read => {
                    let cell = place.0.index() * self.stride + thread.index();
                    self.reads[cell] = event.replaced[idx].chain;
                }
                Touch::Add => {
                    let cell = place.0.index() * self.stride + thread.index();
                    self.additions[cell] = event.replaced[idx].chain;
                }
                Touch::Enter | Touch::Write => self.places[slot(place)] = event.replaced[idx],
            }
        }
        if event.queued != Queued::No {
            let object = event.operation.object().expect("a queue is an object");
            let queue = &mut self.queues[object.index()];
            match event.queued {
                Queued::In => queue.put.pop(),
                Queued::Out => queue.taken.pop(),
                Queued::No => None,
            };
        }
        if let Operation::Spawn(child) = event.operation {
            self.threads[child.index()].born = 0;
        }
        while let Some((_, sleeper, before)) = self.woken.pop_if(|&mut (by, _, _)| by == at) {
            self.threads[sleeper.index()].waker = before;
        }
    }

    /// Takes back all steps after `depth`.
    pub fn truncate(&mut self, depth: usize) {
        while self.events.len() > depth {
            self.pop();
        }
    }

    /// The steps that race with `operation` as the next step of `thread`: dependent, may be
    /// co-enabled, concurrent, and nothing happens between the two. Newest first.
    pub fn immediate_races(
        &self,
        thread: ThreadId,
        operation: Operation,
        races: &mut Vec<Position>,
    ) {
        races.clear();
        let base = self.clock(thread);
        for &(place, touch) in operation.touches().as_slice() {
            let tails = self.places.get(slot(place)).copied().unwrap_or_default();
            let last = if touch == Touch::Read { tails.write } else { tails.chain };
            if last != 0 && !self.knows(base, last) {
                races.push(last);
            }
            for &group in groups_before(place, touch) {
                if !self.has_unseen(group, place, last) {
                    continue;
                }
                let seen = self.clock_at(last);
                races.extend(
                    self.members(group, place)
                        .filter(|&(other, at)| {
                            other != thread && at > base[other.index()] && at > seen[other.index()]
                        })
                        .map(|(_, at)| at),
                );
            }
        }
        if races.len() > 1 {
            races.sort_unstable_by(|a, b| b.cmp(a));
            races.dedup();
            // A step that happens before a newer candidate is reached through it.
            let mut idx = 1;
            while idx < races.len() {
                if races[..idx].iter().any(|&newer| self.ordered(races[idx], newer)) {
                    races.remove(idx);
                } else {
                    idx += 1;
                }
            }
        }
        races.retain(|&race| may_be_coenabled(self.operation(race), operation));
    }

    /// The steps that `operation`, as the next step of `thread` and one that may wait, competes
    /// with: all that touch what it touches, may be co-enabled with it, and that the thread does
    /// not know of. Newest first.
    pub fn rivals(
        &self,
        thread: ThreadId,
        operation: Operation,
    ) -> impl Iterator<Item = Position> + '_ {
        let base = self.clock(thread);
        let waker = self.waker(thread, operation);
        let woken = self.clock_at(waker.unwrap_or(0));
        let asleep = matches!(operation, Operation::Reacquire { .. }) && waker.is_none();
        let touch = operation.touches().as_slice().first().copied().filter(|_| !asleep);
        let mut at = touch.map_or(0, |(place, touch)| {
            let tails = self.places.get(slot(place)).copied().unwrap_or_default();
            if touch == Touch::Read { tails.write } else { tails.chain }
        });
        std::iter::from_fn(move || {
            let (place, touch) = touch?;
            loop {
                // The chain is ordered: whatever is before a known step is known.
                if at == 0 || self.knows(base, at) || self.knows(woken, at) {
                    return None;
                }
                let here = at;
                let event = self.event(here);
                let idx = event
                    .operation
                    .touches()
                    .as_slice()
                    .iter()
                    .position(|&(other, _)| other == place);
                let before = event.replaced[idx.expect("it is in the chain of this place")];
                at = if touch == Touch::Read { before.write } else { before.chain };
                if may_be_coenabled(event.operation, operation) {
                    return Some(here);
                }
            }
        })
    }

    /// The steps of other threads that `operation`, as the next step of `thread`, would follow
    /// at once: at each place the last ones that it does not commute with, and what makes it
    /// possible. Every linearisation of a trace gives the same ones.
    pub fn predecessors(&self, thread: ThreadId, operation: Operation, found: &mut Vec<Position>) {
        found.clear();
        for &(place, touch) in operation.touches().as_slice() {
            let tails = self.places.get(slot(place)).copied().unwrap_or_default();
            found.push(if touch == Touch::Read { tails.write } else { tails.chain });
            for &group in groups_before(place, touch) {
                let members = self.members(group, place).map(|(_, at)| at);
                found.extend(members.filter(|&at| at > tails.write));
            }
        }
        let known = self.threads.get(thread.index());
        if known.is_some_and(|thread| thread.steps.is_empty()) {
            found.extend(known.map(|thread| thread.born));
        }
        found.push(self.what_enables(thread, operation));
        found.retain(|&at| at != 0 && self.thread(at) != thread);
    }

    /// The step that lets `operation`, as the next step of `thread`, be taken; 0 if it needs none.
    fn what_enables(&self, thread: ThreadId, operation: Operation) -> Position {
        use Operation as O;
        match operation {
            O::Join(child) => self
                .threads
                .get(child.index())
                .map_or(0, |child| child.steps.last().copied().unwrap_or(child.born)),
            O::Reacquire { .. } | O::FutexResume(_) => self.waker(thread, operation).unwrap_or(0),
            O::Leave { barrier, parties } => {
                let arrived = self.steps_of(thread).last().copied();
                let rank = self.event(arrived.expect("arriving comes before leaving")).rank;
                let full = (rank / parties + 1) * parties - 1;
                let queue = self.queues.get(barrier.index());
                queue.and_then(|queue| queue.put.get(full as usize).copied()).unwrap_or(0)
            }
            _ => self.enabler(operation, self.len()),
        }
    }

    /// The last steps of any thread at the objects of `operation`, whichever end they touched:
    /// those that close a chain, and the reads after the last write. Reads do not meet reads.
    pub fn last_at_objects(&self, operation: Operation, found: &mut Vec<Position>) {
        found.clear();
        let touches = operation.touches();
        let objects = touches.as_slice().iter().map(|&((object, _), touch)| (object, Some(touch)));
        let named = operation.object().map(|object| (object, None));
        for (object, touch) in objects.chain(named) {
            for end in [End::Front, End::Back] {
                let tails = self.places.get(slot((object, end))).copied().unwrap_or_default();
                match touch {
                    Some(Touch::Read) => found.push(tails.write),
                    _ => found.push(tails.chain),
                }
                let place = (object, end);
                for &group in touch.map_or(&[][..], |touch| groups_before(place, touch)) {
                    let members = self.members(group, place).map(|(_, at)| at);
                    found.extend(members.filter(|&at| at > tails.write));
                }
            }
        }
        found.retain(|&at| at != 0);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
    }

    /// Whether the last step, an addition, comes after all earlier ones to its object in every
    /// linearisation.
    pub fn is_after_all_additions(&self) -> bool {
        let at = self.len() as Position;
        let place = self.operation(at).touches().as_slice().first().map(|&(place, _)| place);
        place.is_some_and(|place| !self.has_unseen(Group::Additions, place, at))
    }

    /// How many steps a past that this clock describes has.
    pub fn size(&self, clock: &[Position]) -> usize {
        let of_thread = |(steps, &at): (&Thread, &Position)| match at {
            0 => 0,
            at => steps.steps.partition_point(|&step| step <= at),
        };
        self.threads.iter().zip(clock).map(of_thread).sum()
    }

    /// The notification that lets a `Reacquire` or a `FutexResume` go on.
    pub fn waker(&self, thread: ThreadId, operation: Operation) -> Option<Position> {
        match operation {
            Operation::Reacquire { .. } | Operation::FutexResume(_) => {
                let thread = &self.threads[thread.index()];
                // A waker from before the wait woke the thread from another sleep.
                Some(thread.waker).filter(|&at| at > thread.steps.last().copied().unwrap_or(0))
            }
            _ => None,
        }
    }

    /// The step that a queue operation would have to follow if it were taken after `depth` steps:
    /// who put what it takes, or who made the room it needs. 0 if there is none.
    pub fn enabler(&self, operation: Operation, depth: usize) -> Position {
        use Operation as O;
        let before = |steps: &[Position]| steps.partition_point(|&at| at as usize <= depth);
        let queue = operation.object().and_then(|object| self.queues.get(object.index()));
        let Some(queue) = queue else { return 0 };
        let rank_after = |rank: usize, free: u32| rank.checked_sub(free as usize);
        let enabler = match operation {
            O::Receive(_) => {
                rank_after(before(&queue.taken), 0).and_then(|rank| queue.put.get(rank))
            }
            O::SemaphoreAcquire { permits, .. } => {
                rank_after(before(&queue.taken), permits).and_then(|rank| queue.put.get(rank))
            }
            O::Send { capacity, .. } => {
                rank_after(before(&queue.put), capacity).and_then(|rank| queue.taken.get(rank))
            }
            _ => None,
        };
        enabler.copied().filter(|&at| at as usize <= depth).unwrap_or(0)
    }

    /// The reading touches of the places of `operation` that do not happen after `barrier`: for
    /// each thread, the newest. For a writer, these are the readers that have to leave first.
    pub fn departures(
        &self,
        operation: Operation,
        barrier: Position,
    ) -> impl Iterator<Item = Position> + '_ {
        let first = operation.touches().as_slice().first().copied();
        first
            .filter(|&((_, end), touch)| touch == Touch::Write && end == End::Front)
            .into_iter()
            .flat_map(move |(place, _)| self.members(Group::Reads, place))
            .filter_map(move |(_, mut read)| {
                while read != 0 && self.ordered(barrier, read) {
                    read = self.event(read).replaced[0].chain;
                }
                Some(read).filter(|&read| read != 0)
            })
    }

    fn event(&self, at: Position) -> &Event {
        &self.events[at as usize - 1]
    }

    /// The last members of a group, one for each thread that has any.
    fn members(
        &self,
        group: Group,
        place: Place,
    ) -> impl Iterator<Item = (ThreadId, Position)> + '_ {
        let start = place.0.index() * self.stride;
        let cells = self.cells(group).get(start..start + self.threads.len()).unwrap_or(&[]);
        cells
            .iter()
            .enumerate()
            .filter(|&(_, &at)| at != 0)
            .map(|(idx, &at)| (ThreadId::new(idx), at))
    }

    fn cells(&self, group: Group) -> &[Position] {
        match group {
            Group::Reads => &self.reads,
            Group::Additions => &self.additions,
        }
    }

    /// Whether the step `last` does not know of some member of a group.
    #[inline]
    fn has_unseen(&self, group: Group, place: Place, last: Position) -> bool {
        let start = place.0.index() * self.stride;
        let cells = self.cells(group).get(start..start + self.stride).unwrap_or(&[]);
        // All of them are looked at: most often there is none to stop at.
        cells.iter().zip(self.clock_at(last)).fold(false, |any, (at, seen)| any | (at > seen))
    }

    /// Orders the step whose clock begins at `start` after the step `before`.
    #[inline]
    fn follow(&mut self, start: usize, before: Position, hash: &mut u64) {
        if before == 0 {
            return;
        }
        let (old, new) = self.clocks.split_at_mut(start);
        let row = (before as usize - 1) * self.stride;
        let event = &self.events[before as usize - 1];
        if new[event.decision.thread.index()] < before {
            for (mine, &theirs) in new.iter_mut().zip(&old[row..row + self.stride]) {
                *mine = (*mine).max(theirs);
            }
        }
        *hash = mix(*hash, event.hash);
    }

    /// Orders the step after all members of a group that the step `last` does not know of.
    #[inline]
    fn follow_all(
        &mut self,
        start: usize,
        group: Group,
        place: Place,
        last: Position,
        hash: &mut u64,
    ) {
        let row = place.0.index() * self.stride;
        let mut sum = 0u64;
        if self.has_unseen(group, place, last) {
            for idx in 0..self.threads.len() {
                let at = self.cells(group)[row + idx];
                if at > self.clock_at(last)[idx] {
                    sum = sum.wrapping_add(mix(self.hash_at(at), 1));
                    self.follow(start, at, &mut 0);
                }
            }
        }
        *hash = mix(*hash, sum);
    }

    /// Orders the step after what made it possible, and enters it into its queue.
    fn follow_enabler(
        &mut self,
        start: usize,
        at: Position,
        decision: Decision,
        operation: Operation,
        effect: Effect,
        hash: &mut u64,
    ) -> (u32, Queued) {
        use Operation as O;
        let succeeded = effect != Effect::Failed;
        match operation {
            O::Spawn(child) => self.threads[child.index()].born = at,
            O::Join(child) => {
                let thread = &self.threads[child.index()];
                let last = thread.steps.last().copied().unwrap_or(thread.born);
                self.follow(start, last, hash);
            }
            O::Reacquire { .. } | O::FutexResume(_) => {
                let waker = self.threads[decision.thread.index()].waker;
                self.follow(start, waker, hash);
            }
            O::NotifyOne(_) | O::NotifyAll(_) => {
                if let Effect::Woke(sleepers) = effect {
                    for sleeper in sleepers.iter() {
                        let waker = &mut self.threads[sleeper.index()].waker;
                        let before = std::mem::replace(waker, at);
                        self.woken.push((at, sleeper, before));
                    }
                }
            }
            O::Arrive(object) | O::SemaphoreRelease(object) => {
                let put = &mut self.queues[object.index()].put;
                put.push(at);
                return (put.len() as u32 - 1, Queued::In);
            }
            O::Leave { barrier, parties } => {
                let arrived = self.threads[decision.thread.index()].steps.last().copied();
                let rank = self.event(arrived.expect("arriving comes before leaving")).rank;
                let full = (rank / parties + 1) * parties - 1;
                let last = self.queues[barrier.index()].put.get(full as usize).copied();
                self.follow(start, last.unwrap_or(0), hash);
            }
            O::Send { channel, capacity } | O::TrySend { channel, capacity } if succeeded => {
                let queue = &mut self.queues[channel.index()];
                let rank = queue.put.len() as u32;
                queue.put.push(at);
                if rank >= capacity {
                    let room = queue.taken.get((rank - capacity) as usize).copied();
                    self.follow(start, room.unwrap_or(0), hash);
                }
                return (rank, Queued::In);
            }
            O::Receive(object) | O::TryReceive(object) if succeeded => {
                return self.follow_put(start, at, object, 0, hash);
            }
            O::SemaphoreAcquire { semaphore, permits }
            | O::SemaphoreTryAcquire { semaphore, permits }
                if succeeded =>
            {
                return self.follow_put(start, at, semaphore, permits, hash);
            }
            _ => {}
        }
        (0, Queued::No)
    }

    /// Orders a taking step after the putting step it takes from; the first `free` need none.
    fn follow_put(
        &mut self,
        start: usize,
        at: Position,
        object: crate::ObjectId,
        free: u32,
        hash: &mut u64,
    ) -> (u32, Queued) {
        let queue = &mut self.queues[object.index()];
        let rank = queue.taken.len() as u32;
        queue.taken.push(at);
        if rank >= free {
            let put = queue.put.get((rank - free) as usize).copied();
            self.follow(start, put.unwrap_or(0), hash);
        }
        (rank, Queued::Out)
    }

    /// Grows the tables so that `thread` and whatever `operation` names have their entries.
    #[inline]
    fn make_room(&mut self, thread: ThreadId, operation: Operation, touches: Touches) {
        let mut n_threads = thread.index() + 1;
        if let Operation::Spawn(child) | Operation::Join(child) = operation {
            n_threads = n_threads.max(child.index() + 1);
        }
        if n_threads > self.threads.len() {
            self.grow_threads(n_threads);
        }
        for &(place, _) in touches.as_slice() {
            self.make_room_for(place.0.index());
        }
        if let Operation::Leave { barrier, .. } = operation {
            self.make_room_for(barrier.index());
        }
    }

    #[inline]
    fn make_room_for(&mut self, object: usize) {
        if object >= self.queues.len() {
            self.places.resize(2 * object + 2, Tails::default());
            self.reads.resize((object + 1) * self.stride, 0);
            self.queues.resize(object + 1, Queue::default());
        }
    }

    #[cold]
    fn grow_threads(&mut self, n_threads: usize) {
        self.threads.resize(n_threads, Thread::default());
        let stride = n_threads.next_power_of_two().max(self.stride);
        if stride > self.stride {
            let widen = |rows: &[Position]| -> Vec<Position> {
                let padding = vec![0; stride - self.stride];
                rows.chunks(self.stride).flat_map(|row| [row, &padding].concat()).collect()
            };
            self.clocks = widen(&self.clocks);
            self.reads = widen(&self.reads);
            self.additions = widen(&self.additions);
            self.zero = vec![0; stride];
            self.stride = stride;
        }
    }
}

/// Touches of one front that commute with each other: the last one of each thread is kept.
#[derive(Clone, Copy, Debug)]
enum Group {
    Reads,
    Additions,
}

/// The groups whose members are ordered with a touch, beside the last of the chain.
fn groups_before((_, end): Place, touch: Touch) -> &'static [Group] {
    match touch {
        _ if end == End::Back => &[],
        Touch::Read => &[Group::Additions],
        Touch::Add => &[Group::Reads],
        Touch::Write => &[Group::Reads, Group::Additions],
        Touch::Enter => &[],
    }
}

fn slot(place: Place) -> usize {
    2 * place.0.index() + usize::from(place.1 == End::Back)
}
