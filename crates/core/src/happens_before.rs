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
//! slot for all readers is masked by the thread's own read); an operation may touch two objects;
//! what a queue, a join, a barrier or a notification enables is ordered after what enabled it, and
//! after nothing else. Each table entry remembers what it replaced, so taking back a step costs as
//! much as taking it. A step costs O(threads), amortised: a write looks at each unseen read once
//! and later writes see them through it.

mod joins;
mod queues;
mod races;

use crate::fold::mix;
use crate::operation::{End, Place, Touch};
use crate::{Decision, Effect, ObjectId, Operation, ThreadId};
use joins::{Join, JoinNumber};
use queues::{Queue, Queued};
use std::hash::{Hash, Hasher};

/// The index of a step in the execution, from 1; 0 stands for "none".
pub type Position = u32;

/// Clocks are made of these: joining two is joining a few whole ones.
type Lane = [Position; LANE];
const LANE: usize = 4;

/// The happens-before order of one execution, grown and shrunk at its end.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    /// Threads there is room for: the length of a clock.
    stride: usize,
    events: Vec<Event>,
    /// One clock per event, `stride` entries each. The first is that of no event and knows nothing;
    /// what is beyond the last event is left from others.
    clocks: Vec<Lane>,
    threads: Vec<Thread>,
    /// Two per object: its front and its back.
    places: Vec<Tails>,
    /// `stride` per object: the last reading touch of its front by each thread.
    reads: Vec<Position>,
    /// The same for additions; shorter, as long as no thread adds.
    additions: Vec<Position>,
    /// One per object.
    queues: Vec<Queue>,
    /// Notification, sleeper, and the sleeper's waker before.
    woken: Vec<(Position, ThreadId, Position)>,
    /// The steps in which time has passed.
    elapsed: Vec<Position>,
    /// The joins that were no steps of their own, and what their threads know since: a clock each.
    joins: Vec<Join>,
    join_clocks: Vec<Lane>,
    /// What was known of threads whose numbers were used again, by the step that did so.
    reborn: Vec<(Position, ThreadId, Position, JoinNumber)>,
    hashing: bool,
    /// Members of a group, while a step is ordered after them.
    unseen: Vec<Position>,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
struct Event {
    operation: Operation,
    decision: Decision,
    /// What this step's touches replaced in the tables. For a member of a [`Group`], `chain` is the
    /// last one of the same thread.
    replaced: [Tails; 2],
    /// In which place of its queue it stands, if it has one.
    rank: u32,
    queued: Queued,
    /// What its thread had joined since its step before.
    joined: JoinNumber,
    hash: u64,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    steps: Vec<Position>,
    /// The step that spawned it; the last one, if its number was used before.
    born: Position,
    /// The notification that woke it last.
    waker: Position,
    /// What it has joined since its last step: the newest.
    joined: JoinNumber,
}

/// The last touches of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Tails {
    /// The last `Write` or `Enter`.
    chain: Position,
    /// The last `Write`.
    write: Position,
    /// The last member of each [`Group`], of any thread.
    newest: [Position; 2],
}

impl HappensBefore {
    /// The order of the empty execution. With `hashing`, steps get their
    /// [`hash_at`](Self::hash_at).
    pub fn new(hashing: bool) -> Self {
        Self {
            stride: LANE,
            events: Vec::new(),
            clocks: vec![[0; LANE]],
            threads: Vec::new(),
            places: Vec::new(),
            reads: Vec::new(),
            additions: Vec::new(),
            queues: Vec::new(),
            woken: Vec::new(),
            elapsed: Vec::new(),
            joins: Vec::new(),
            join_clocks: Vec::new(),
            reborn: Vec::new(),
            hashing,
            unseen: Vec::new(),
        }
    }

    /// How many steps there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What was decided at a step.
    #[inline]
    pub fn decision(&self, at: Position) -> Decision {
        self.event(at).decision
    }

    /// Which operation a step took.
    #[inline]
    pub fn operation(&self, at: Position) -> Operation {
        self.event(at).operation
    }

    /// Whose step it was.
    #[inline]
    pub fn thread(&self, at: Position) -> ThreadId {
        self.event(at).decision.thread
    }

    /// The steps of a thread, ascending.
    pub fn steps_of(&self, thread: ThreadId) -> &[Position] {
        self.threads.get(thread.index()).map_or(&[], |thread| &thread.steps)
    }

    /// The clock of a step: for each thread, its last step that happens before this one, or is it.
    #[inline]
    pub fn clock_at(&self, at: Position) -> &[Position] {
        debug_assert!(at as usize <= self.events.len());
        let width = self.stride / LANE;
        let start = at as usize * width;
        self.clocks[start..start + width].as_flattened()
    }

    /// The clock of a thread: what its last step knows, or what its birth knew; and what it has
    /// joined since.
    #[inline]
    pub fn clock(&self, thread: ThreadId) -> &[Position] {
        match self.threads.get(thread.index()) {
            None => self.clock_at(0),
            Some(thread) if thread.joined == 0 => self.clock_at(thread.origin()),
            Some(thread) => self.clock_of_join(thread.joined),
        }
    }

    /// Whether the step `at` is in a past that this clock describes.
    #[inline]
    pub fn knows(&self, clock: &[Position], at: Position) -> bool {
        at <= clock[self.thread(at).index()]
    }

    /// Whether `earlier` happens before `later`, or is it.
    #[inline]
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
    #[inline]
    pub fn push(&mut self, decision: Decision, operation: Operation, effect: Effect) -> Position {
        match operation {
            Operation::Load(object) => {
                let operation = Operation::Load(object);
                self.push_touching(decision, operation, effect, &[read(object)])
            }
            Operation::Store(object) => {
                let operation = Operation::Store(object);
                self.push_touching(decision, operation, effect, &[write(object)])
            }
            Operation::ReadModifyWrite(object) => {
                let operation = Operation::ReadModifyWrite(object);
                self.push_touching(decision, operation, effect, &[write(object)])
            }
            _ => self.push_touching(decision, operation, effect, operation.touches().as_slice()),
        }
    }

    /// Adds a step that touches these places. Nothing is done more often than reading and writing,
    /// so there is code for each alone; the same goes for [`Self::pop`] and
    /// [`Self::race_candidates`].
    #[inline(always)]
    fn push_touching(
        &mut self,
        decision: Decision,
        operation: Operation,
        effect: Effect,
        touches: &[(Place, Touch)],
    ) -> Position {
        let thread = decision.thread;
        self.make_room(thread, operation, touches);
        let at = self.events.len() as Position + 1;
        let origin = self.threads[thread.index()].origin();
        let mut hash = match self.hashing {
            true => self.hash_of(decision, operation, origin),
            false => 0,
        };
        let first = touches.first().map_or(0, |&(place, touch)| self.tail(place, touch));
        self.begin_clock(at, origin, first);
        let joined = std::mem::take(&mut self.threads[thread.index()].joined);
        if joined != 0 {
            self.follow_join(at, joined);
        }
        let mut replaced = [Tails::default(); 2];
        for (idx, &(place, touch)) in touches.iter().enumerate() {
            if idx > 0 {
                self.follow(at, self.tail(place, touch));
            }
            for &group in groups_before(place, touch) {
                let last = self.tail(place, touch);
                if self.has_unseen(group, place, last) {
                    self.follow_all(at, group, place, last);
                }
            }
            replaced[idx] = self.enter(at, thread, place, touch);
        }
        let (enabler, rank, queued) = match operation.is_access() {
            true => (0, 0, Queued::No),
            false => self.enqueue(at, decision, operation, effect),
        };
        if enabler != 0 {
            self.follow(at, enabler);
            hash = mix(hash, self.hash_at(enabler));
        }
        let own = at as usize * (self.stride / LANE) + thread.index() / LANE;
        self.clocks[own][thread.index() % LANE] = at;
        self.threads[thread.index()].steps.push(at);
        self.events.push(Event { operation, decision, replaced, rank, queued, joined, hash });
        at
    }

    /// The last step at a place that one which touches it so does not commute with, reads aside.
    #[inline]
    fn tail(&self, place: Place, touch: Touch) -> Position {
        self.places[slot(place)].last_before(touch)
    }

    /// The last touches of a place that may not have been touched yet.
    #[inline]
    fn tails(&self, place: Place) -> Tails {
        self.places.get(slot(place)).copied().unwrap_or_default()
    }

    /// Makes a step the last one at a place, and tells what it replaces.
    #[inline(always)]
    fn enter(&mut self, at: Position, thread: ThreadId, place: Place, touch: Touch) -> Tails {
        let tails = &mut self.places[slot(place)];
        let replaced = *tails;
        let group = match touch {
            Touch::Enter => {
                tails.chain = at;
                return replaced;
            }
            Touch::Write => {
                (tails.chain, tails.write) = (at, at);
                return replaced;
            }
            Touch::Read => Group::Reads,
            Touch::Add => Group::Additions,
        };
        tails.newest[group as usize] = at;
        let cell = place.0.index() * self.stride + thread.index();
        Tails { chain: std::mem::replace(self.cell(group, cell), at), ..replaced }
    }

    /// Where the last member of a group is kept, of one thread.
    #[inline]
    fn cell(&mut self, group: Group, cell: usize) -> &mut Position {
        match group {
            Group::Reads => &mut self.reads[cell],
            Group::Additions => {
                if cell >= self.additions.len() {
                    self.additions.resize(self.reads.len(), 0);
                }
                &mut self.additions[cell]
            }
        }
    }

    /// What a step is known by in all linearisations, but for what enables it: its label, and the
    /// hashes of the steps that it follows.
    #[cold]
    fn hash_of(&self, decision: Decision, operation: Operation, origin: Position) -> u64 {
        let mut label = crate::fold::Fold::default();
        operation.hash(&mut label);
        label.write_u32(decision.choice);
        let thread = decision.thread.index() as u64;
        let mut hash = mix(label.finish(), mix(self.hash_at(origin), thread));
        let joined = self.threads[decision.thread.index()].joined;
        if joined != 0 {
            hash = mix(hash, self.hash_of_join(joined));
        }
        for &(place, touch) in operation.touches().as_slice() {
            let tail = self.tail(place, touch);
            if tail != 0 {
                hash = mix(hash, self.hash_at(tail));
            }
            for &group in groups_before(place, touch) {
                let unseen = self.unseen(group, place, tail);
                let hashes = unseen.map(|(_, member)| mix(self.hash_at(member), 1));
                hash = mix(hash, hashes.fold(0, u64::wrapping_add));
            }
        }
        hash
    }

    /// Takes the last step back.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn pop(&mut self) {
        let at = self.events.len() as Position;
        self.take_back_joins();
        let &event = self.events.last().expect("a step to take back");
        self.events.truncate(at as usize - 1);
        let thread = event.decision.thread;
        self.threads[thread.index()].steps.pop();
        self.threads[thread.index()].joined = event.joined;
        match event.operation {
            Operation::Load(object) => self.leave(&event, &[read(object)]),
            Operation::Store(object) | Operation::ReadModifyWrite(object) => {
                self.leave(&event, &[write(object)]);
            }
            operation => {
                self.leave(&event, operation.touches().as_slice());
                self.dequeue(at, &event);
            }
        }
    }

    /// Puts back into the tables what a step has replaced there.
    #[inline(always)]
    fn leave(&mut self, event: &Event, touches: &[(Place, Touch)]) {
        // Two touches of one operation never meet in one place, so their order does not matter.
        for (idx, &(place, touch)) in touches.iter().enumerate() {
            let replaced = event.replaced[idx];
            let group = match touch {
                Touch::Enter | Touch::Write => {
                    self.places[slot(place)] = replaced;
                    continue;
                }
                Touch::Read => Group::Reads,
                Touch::Add => Group::Additions,
            };
            self.places[slot(place)].newest = replaced.newest;
            *self.cell(group, place.0.index() * self.stride + event.decision.thread.index()) =
                replaced.chain;
        }
    }

    /// Takes back all steps after `depth`.
    #[inline]
    pub fn truncate(&mut self, depth: usize) {
        while self.events.len() > depth {
            self.pop();
        }
    }

    /// How many steps a past that this clock describes has.
    pub fn size(&self, clock: &[Position]) -> usize {
        let of_thread = |(steps, &at): (&Thread, &Position)| match at {
            0 => 0,
            at => steps.steps.partition_point(|&step| step <= at),
        };
        self.threads.iter().zip(clock).map(of_thread).sum()
    }

    #[inline]
    fn event(&self, at: Position) -> &Event {
        &self.events[at as usize - 1]
    }

    /// The last members of a group, one for each thread that has any.
    #[inline]
    fn members(
        &self,
        group: Group,
        place: Place,
    ) -> impl Iterator<Item = (ThreadId, Position)> + '_ {
        let start = place.0.index() * self.stride;
        let cells = match group {
            Group::Reads => &self.reads,
            Group::Additions => &self.additions,
        };
        let cells = cells.get(start..start + self.threads.len()).unwrap_or(&[]);
        cells
            .iter()
            .enumerate()
            .filter(|&(_, &at)| at != 0)
            .map(|(idx, &at)| (ThreadId::new(idx), at))
    }

    /// Whether the step `last` of the chain at a place does not know of some member of a group.
    #[inline]
    fn has_unseen(&self, group: Group, place: Place, last: Position) -> bool {
        let Tails { write, newest, .. } = self.places[slot(place)];
        // A write knows of all members before it, and so does every step after it.
        newest[group as usize] > write
            && (last == write || self.unseen(group, place, last).next().is_some())
    }

    /// The last members of a group, one for each thread, that the step `last` does not know of.
    #[inline]
    fn unseen(
        &self,
        group: Group,
        place: Place,
        last: Position,
    ) -> impl Iterator<Item = (ThreadId, Position)> + '_ {
        let seen = self.clock_at(last);
        self.members(group, place).filter(|&(thread, at)| at > seen[thread.index()])
    }

    /// Begins the clock of a step: what its thread knew, and what another step knows.
    #[inline(always)]
    fn begin_clock(&mut self, at: Position, origin: Position, other: Position) {
        let width = self.stride / LANE;
        let [start, origin, other] = [at, origin, other].map(|it| it as usize * width);
        if self.clocks.len() < start + width {
            self.clocks.resize(2 * (start + width), [0; LANE]);
        }
        let (old, new) = self.clocks.split_at_mut(start);
        let (mine, theirs) = (&old[origin..origin + width], &old[other..other + width]);
        for ((new, mine), theirs) in new.iter_mut().zip(mine).zip(theirs) {
            *new = joined(mine, theirs);
        }
    }

    /// Orders the step `at`, whose clock has begun, after the step `before`.
    #[inline]
    fn follow(&mut self, at: Position, before: Position) {
        let width = self.stride / LANE;
        let [start, before] = [at, before].map(|it| it as usize * width);
        let (old, new) = self.clocks.split_at_mut(start);
        for (mine, theirs) in new.iter_mut().zip(&old[before..before + width]) {
            *mine = joined(mine, theirs);
        }
    }

    /// Orders the step after all members of a group that the step `last` of the chain does not know
    /// of.
    fn follow_all(&mut self, at: Position, group: Group, place: Place, last: Position) {
        let mut unseen = std::mem::take(&mut self.unseen);
        unseen.extend(self.unseen(group, place, last).map(|(_, member)| member));
        unseen.drain(..).for_each(|member| self.follow(at, member));
        self.unseen = unseen;
    }

    /// Grows the tables so that `thread` and whatever `operation` names have their entries.
    #[inline]
    fn make_room(&mut self, thread: ThreadId, operation: Operation, touches: &[(Place, Touch)]) {
        let mut n_threads = thread.index() + 1;
        if let Operation::Spawn(child) | Operation::Join(child) = operation {
            n_threads = n_threads.max(child.index() + 1);
        }
        if n_threads > self.threads.len() {
            self.grow_threads(n_threads);
        }
        for &(place, _) in touches {
            self.make_room_for(place.0.index());
        }
        if let Operation::Leave { barrier, .. } = operation {
            self.make_room_for(barrier.index());
        }
    }

    #[inline]
    fn make_room_for(&mut self, object: usize) {
        if object >= self.queues.len() {
            self.grow_objects(object + 1);
        }
    }

    #[cold]
    fn grow_objects(&mut self, n_objects: usize) {
        self.places.resize(2 * n_objects, Tails::default());
        self.reads.resize(n_objects * self.stride, 0);
        self.queues.resize(n_objects, Queue::default());
    }

    #[cold]
    fn grow_threads(&mut self, n_threads: usize) {
        self.threads.resize(n_threads, Thread::default());
        let stride = n_threads.next_multiple_of(LANE).max(self.stride);
        if stride > self.stride {
            let widened = |row: &[Position]| [row, &vec![0; stride - row.len()]].concat();
            for cells in [&mut self.reads, &mut self.additions] {
                *cells = cells.chunks(self.stride).flat_map(widened).collect();
            }
            for clocks in [&mut self.clocks, &mut self.join_clocks] {
                let rows = clocks.chunks(self.stride / LANE);
                let lanes = rows.map(|row| widened(row.as_flattened()));
                *clocks = lanes.flat_map(|row| row.as_chunks().0.to_vec()).collect();
            }
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
#[inline]
fn groups_before((_, end): Place, touch: Touch) -> &'static [Group] {
    match touch {
        _ if end == End::Back => &[],
        Touch::Read => &[Group::Additions],
        Touch::Add => &[Group::Reads],
        Touch::Write => &[Group::Reads, Group::Additions],
        Touch::Enter => &[],
    }
}

impl Tails {
    /// The last of the chain that does not commute with a touch.
    #[inline]
    fn last_before(&self, touch: Touch) -> Position {
        if touch == Touch::Read { self.write } else { self.chain }
    }
}

impl Thread {
    /// Where it knows from what it knows: its last step, or its birth. The steps before its birth
    /// are those of a thread that had its number before.
    #[inline]
    fn origin(&self) -> Position {
        self.steps.last().map_or(self.born, |&last| last.max(self.born))
    }

    /// Whether it was born, or there from the start, and has not moved since.
    #[inline]
    fn is_unmoved(&self) -> bool {
        self.steps.last().is_none_or(|&last| last < self.born)
    }
}

/// The greater ones of two lanes. Positions are far from the end of their type, and numbers with a
/// sign are what most machines compare.
#[inline]
fn joined(a: &Lane, b: &Lane) -> Lane {
    std::array::from_fn(|idx| (a[idx] as i32).max(b[idx] as i32) as Position)
}

/// What a load touches.
#[inline]
fn read(object: ObjectId) -> (Place, Touch) {
    ((object, End::Front), Touch::Read)
}

/// What a store and a read-modify-write touch.
#[inline]
fn write(object: ObjectId) -> (Place, Touch) {
    ((object, End::Front), Touch::Write)
}

#[inline]
fn slot(place: Place) -> usize {
    2 * place.0.index() + usize::from(place.1 == End::Back)
}
