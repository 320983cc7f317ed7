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
use crate::operation::{End, Place, Touch};
use crate::{Decision, Effect, ObjectId, Operation, ThreadId, ThreadSet, may_be_coenabled};
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
    /// The same for additions; shorter, as long as nobody adds.
    additions: Vec<Position>,
    /// Per object: the steps that put something in and took something out.
    queues: Vec<Queue>,
    /// Notification, sleeper, and the sleeper's waker before.
    woken: Vec<(Position, ThreadId, Position)>,
    /// The joins that were no steps of their own, and what their threads know since: a clock each.
    joins: Vec<Join>,
    join_clocks: Vec<Lane>,
    hashing: bool,
    /// Members of a group, while a step is ordered after them.
    unseen: Vec<Position>,
}

/// Counts [`HappensBefore::joins`]: 0 stands for "none".
type JoinNumber = u32;

/// A join that was no step of its own.
#[derive(Clone, Copy, Debug)]
struct Join {
    /// The step in which it came about.
    at: Position,
    thread: ThreadId,
    /// What the thread has joined before that, since its last step.
    before: JoinNumber,
    /// The last step of the thread that has ended, and what that has joined since.
    end: Position,
    of_ended: JoinNumber,
    /// Of all that the thread knows since its last step.
    hash: u64,
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

#[derive(Clone, Debug, Default)]
struct Queue {
    put: Vec<Position>,
    taken: Vec<Position>,
}

impl HappensBefore {
    /// The order of the empty execution. With `hashing`, steps get their [`hash_at`](Self::hash_at).
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
            joins: Vec::new(),
            join_clocks: Vec::new(),
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

    #[cold]
    fn clock_of_join(&self, join: JoinNumber) -> &[Position] {
        let width = self.stride / LANE;
        let end = join as usize * width;
        self.join_clocks[end - width..end].as_flattened()
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
                self.push_touching(decision, operation, effect, &[read(object)])
            }
            _ => self.push_touching(decision, operation, effect, operation.touches().as_slice()),
        }
    }

    /// Adds a step that touches these places. Nothing is done more often than reading, so there is code
    /// for that alone; the same goes for [`Self::pop`] and [`Self::race_candidates`].
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
        let (enabler, rank, queued) = self.enqueue(at, decision, operation, effect);
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

    /// In the last step, `thread` has joined `ended` and gone on: what it does next comes after all
    /// that the other one did.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        let n_threads = thread.index().max(ended.index()) + 1;
        if n_threads > self.threads.len() {
            self.grow_threads(n_threads);
        }
        for lane in 0..self.stride / LANE {
            let [mine, theirs] = [thread, ended].map(|it| self.clock(it).as_chunks().0[lane]);
            self.join_clocks.push(joined(&mine, &theirs));
        }
        let of_ended = self.threads[ended.index()].joined;
        let end = self.threads[ended.index()].origin();
        let before = self.threads[thread.index()].joined;
        let hash_of = |join: JoinNumber| match join {
            0 => 0,
            join => self.joins[join as usize - 1].hash,
        };
        let hash = mix(hash_of(before), mix(self.hash_at(end), hash_of(of_ended)));
        let at = self.events.len() as Position;
        self.joins.push(Join { at, thread, before, end, of_ended, hash });
        self.threads[thread.index()].joined = self.joins.len() as JoinNumber;
    }

    /// The threads that have [joined](Self::join) others in the last step, one for each time.
    #[inline]
    pub fn joiners(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.last_joins().map(|join| join.thread)
    }

    /// The last steps of the threads that were [joined](Self::join) in the last step.
    pub fn joined_ends(&self) -> impl Iterator<Item = Position> + '_ {
        self.last_joins().map(|join| join.end).filter(|&at| at != 0)
    }

    #[inline]
    fn last_joins(&self) -> impl Iterator<Item = &Join> + '_ {
        let at = self.events.len() as Position;
        self.joins.iter().rev().take_while(move |join| join.at == at)
    }

    /// The last step at a place that one which touches it so does not commute with, reads aside.
    #[inline]
    fn tail(&self, place: Place, touch: Touch) -> Position {
        let tails = self.places[slot(place)];
        if touch == Touch::Read { tails.write } else { tails.chain }
    }

    /// Makes a step the last one at a place, and tells what it replaces.
    #[inline]
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
            hash = mix(hash, self.joins[joined as usize - 1].hash);
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
        while let Some(join) = self.joins.pop_if(|join| join.at == at) {
            self.threads[join.thread.index()].joined = join.before;
            self.join_clocks.truncate(self.join_clocks.len() - self.stride / LANE);
        }
        let &event = self.events.last().expect("a step to take back");
        self.events.truncate(at as usize - 1);
        let thread = event.decision.thread;
        self.threads[thread.index()].steps.pop();
        self.threads[thread.index()].joined = event.joined;
        if let Operation::Load(object) = event.operation {
            return self.leave(&event, &[read(object)]);
        }
        self.leave(&event, event.operation.touches().as_slice());
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

    /// The steps that race with `operation` as the next step of `thread`: dependent, may be
    /// co-enabled, concurrent, and nothing happens between the two. Newest first.
    #[inline]
    pub fn immediate_races(
        &self,
        thread: ThreadId,
        operation: Operation,
        races: &mut Vec<Position>,
    ) {
        self.race_candidates(thread, operation, races);
        self.keep_immediate(operation, races);
    }

    /// The steps among which are all [immediate races](Self::immediate_races): dependent and
    /// concurrent. In no order.
    #[inline]
    pub fn race_candidates(
        &self,
        thread: ThreadId,
        operation: Operation,
        candidates: &mut Vec<Position>,
    ) {
        match operation {
            Operation::Load(object) => {
                self.candidates_touching(thread, &[read(object)], candidates);
            }
            _ => self.candidates_touching(thread, operation.touches().as_slice(), candidates),
        }
    }

    #[inline(always)]
    fn candidates_touching(
        &self,
        thread: ThreadId,
        touches: &[(Place, Touch)],
        candidates: &mut Vec<Position>,
    ) {
        candidates.clear();
        let base = self.clock(thread);
        for &(place, touch) in touches {
            if slot(place) >= self.places.len() {
                continue;
            }
            let last = self.tail(place, touch);
            if last != 0 && !self.knows(base, last) {
                candidates.push(last);
            }
            for &group in groups_before(place, touch) {
                if self.has_unseen(group, place, last) {
                    let unseen = self.unseen(group, place, last);
                    let is_race = |&(other, member): &(ThreadId, Position)| {
                        other != thread && member > base[other.index()]
                    };
                    candidates.extend(unseen.filter(is_race).map(|(_, member)| member));
                }
            }
        }
    }

    /// Leaves of the [candidates](Self::race_candidates) for a race with `operation` those that are
    /// immediate, newest first.
    #[inline]
    pub fn keep_immediate(&self, operation: Operation, candidates: &mut Vec<Position>) {
        if candidates.len() > 1 {
            self.keep_newest(candidates);
        }
        candidates.retain(|&race| may_be_coenabled(self.operation(race), operation));
    }

    /// Sorts candidates for a race, newest first, and leaves out what is reached through a newer one
    /// that it happens before.
    fn keep_newest(&self, races: &mut Vec<Position>) {
        races.sort_unstable_by(|a, b| b.cmp(a));
        races.dedup();
        let mut idx = 1;
        while idx < races.len() {
            if races[..idx].iter().any(|&newer| self.ordered(races[idx], newer)) {
                races.remove(idx);
            } else {
                idx += 1;
            }
        }
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
        self.ends_before(known.map_or(0, |thread| thread.joined), found);
        found.push(self.what_enables(thread, operation));
        found.retain(|&at| at != 0 && self.thread(at) != thread);
    }

    /// The last steps of all threads that were joined, directly or by one that was.
    fn ends_before(&self, mut join: JoinNumber, found: &mut Vec<Position>) {
        while join != 0 {
            let Join { end, of_ended, before, .. } = self.joins[join as usize - 1];
            found.push(end);
            self.ends_before(of_ended, found);
            join = before;
        }
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
        if !matches!(operation, O::Receive(_) | O::SemaphoreAcquire { .. } | O::Send { .. }) {
            return 0;
        }
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
        // A write knows of all members before it, and so does whoever follows it.
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

    /// Orders the step `at`, whose clock has begun, after all that a thread has joined.
    fn follow_join(&mut self, at: Position, join: JoinNumber) {
        let width = self.stride / LANE;
        let [start, end] = [at, join].map(|it| it as usize * width);
        let mine = &mut self.clocks[start..start + width];
        for (mine, theirs) in mine.iter_mut().zip(&self.join_clocks[end - width..end]) {
            *mine = joined(mine, theirs);
        }
    }

    /// Orders the step after all members of a group that the step `last` of the chain does not know of.
    fn follow_all(&mut self, at: Position, group: Group, place: Place, last: Position) {
        let mut unseen = std::mem::take(&mut self.unseen);
        unseen.extend(self.unseen(group, place, last).map(|(_, member)| member));
        unseen.drain(..).for_each(|member| self.follow(at, member));
        self.unseen = unseen;
    }

    /// Enters a step into its queue, and tells what made it possible: a step that it follows.
    #[inline]
    fn enqueue(
        &mut self,
        at: Position,
        decision: Decision,
        operation: Operation,
        effect: Effect,
    ) -> (Position, u32, Queued) {
        use Operation as O;
        let succeeded = effect != Effect::Failed;
        let enabler = match operation {
            O::Spawn(child) => {
                self.threads[child.index()].born = at;
                0
            }
            O::Join(child) => {
                let Thread { joined, .. } = self.threads[child.index()];
                if joined != 0 {
                    self.follow_join(at, joined);
                }
                self.threads[child.index()].origin()
            }
            O::Reacquire { .. } | O::FutexResume(_) => self.threads[decision.thread.index()].waker,
            O::NotifyOne(_) | O::NotifyAll(_) => {
                if let Effect::Woke(sleepers) = effect {
                    self.wake(at, sleepers);
                }
                0
            }
            O::Arrive(object) | O::SemaphoreRelease(object) => {
                let put = &mut self.queues[object.index()].put;
                put.push(at);
                return (0, put.len() as u32 - 1, Queued::In);
            }
            O::Leave { barrier, parties } => {
                let arrived = self.threads[decision.thread.index()].steps.last().copied();
                let rank = self.event(arrived.expect("arriving comes before leaving")).rank;
                let full = (rank / parties + 1) * parties - 1;
                self.queues[barrier.index()].put.get(full as usize).copied().unwrap_or(0)
            }
            O::Send { channel, capacity } | O::TrySend { channel, capacity } if succeeded => {
                let queue = &mut self.queues[channel.index()];
                let rank = queue.put.len() as u32;
                queue.put.push(at);
                let room = rank.checked_sub(capacity).and_then(|it| queue.taken.get(it as usize));
                return (room.copied().unwrap_or(0), rank, Queued::In);
            }
            O::Receive(object) | O::TryReceive(object) if succeeded => {
                return self.take(at, object, 0);
            }
            O::SemaphoreAcquire { semaphore, permits }
            | O::SemaphoreTryAcquire { semaphore, permits }
                if succeeded =>
            {
                return self.take(at, semaphore, permits);
            }
            _ => 0,
        };
        (enabler, 0, Queued::No)
    }

    /// Enters a taking step into its queue, and tells which step has put what it takes; the first
    /// `free` need none.
    fn take(&mut self, at: Position, object: ObjectId, free: u32) -> (Position, u32, Queued) {
        let queue = &mut self.queues[object.index()];
        let rank = queue.taken.len() as u32;
        queue.taken.push(at);
        let put = rank.checked_sub(free).and_then(|it| queue.put.get(it as usize));
        (put.copied().unwrap_or(0), rank, Queued::Out)
    }

    /// A notification wakes some threads.
    fn wake(&mut self, at: Position, sleepers: ThreadSet) {
        for sleeper in sleepers.iter() {
            let before = std::mem::replace(&mut self.threads[sleeper.index()].waker, at);
            self.woken.push((at, sleeper, before));
        }
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

impl Thread {
    /// Where it knows from what it knows: its last step, or its birth.
    #[inline]
    fn origin(&self) -> Position {
        self.steps.last().copied().unwrap_or(self.born)
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

#[inline]
fn slot(place: Place) -> usize {
    2 * place.0.index() + usize::from(place.1 == End::Back)
}
