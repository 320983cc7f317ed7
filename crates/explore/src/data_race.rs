//! Data races: two plain accesses to one memory, one of them a write, that no synchronisation
//! orders.
//!
//! Implements Flanagan and Freund, *FastTrack: Efficient and Precise Dynamic Race Detection*
//! (PLDI 2009), section 3.
//!
//! | paper                          | here                                                     |
//! |--------------------------------|----------------------------------------------------------|
//! | *C*, the clock of a thread     | [`Table::Clock`]                                         |
//! | *L*, the clock of a lock       | [`Table::Released`], [`Table::ReadReleased`]             |
//! | *W*, the epoch *c@t*           | [`Table::Write`]: the [`Moment`], whose thread is known   |
//! | *R*, as a clock                | [`Table::Read`]                                          |
//! | *E(t)*, the thread's own entry | the last [`Moment`] with accesses, so nothing is counted  |
//! | *e ≤ C*                        | [`DataRaces::knows`]                                     |
//!
//! Happens-before is that of C11 and Rust, with the release sequences of C++20 (ISO/IEC 14882:2020,
//! 6.9.2.2): a write with release order, or behind a release fence, synchronises with the read that
//! takes its value from it or from a chain of read-modify-writes that it heads, if that read has
//! acquire order or comes before an acquire fence. A relaxed access orders nothing by itself.
//!
//! | C++20                                            | here                |
//! |--------------------------------------------------|---------------------|
//! | what a write and its release sequence release    | [`Table::Released`] |
//! | what writes behind a release fence release       | [`Table::Fenced`]   |
//! | what an acquire fence gets from the reads before | [`Table::Pending`]  |
//!
//! Where a memory model decides what a read reads from ([`System::reads_from`]), each write has a
//! clock of its own, [`Table::Written`], in place of one for each object.
//!
//! Differs from the paper: reads are always a clock, never an epoch, and a write does not clear
//! them, since both would have to be taken back. A write therefore costs O(threads). There is more
//! to synchronise with than locks: a store replaces the clock of its variable and a
//! read-modify-write extends it, as far as their orders release; every semaphore has one clock, the
//! message of a channel carries the clock of its sender, and the room in a bounded one that of the
//! receiver who made it. A call of an object is in order with the others as far as its memory order
//! says; where it puts a message in a queue, or takes one out, that carries the clock. A notification of a condition variable orders nothing, the mutex does. A
//! call of the futex orders something only if the system says so, and then the thread that is woken
//! comes after the one that woke it. Operations on memory, and parts of atomic blocks, race with
//! plain accesses to it and not with each other. All state can be undone: see
//! [`DataRaces::truncate`].
//!
//! This order has fewer pairs than [`HappensBefore`], in which a load
//! precedes a later store: the two do not commute, but a load publishes nothing.

use mazurka_core::{
    Access, Decision, Effect, Fence, HappensBefore, MemoryOrder, ObjectId, Operation, Part,
    Passage, PlainAccess, Position, Sighting, System, ThreadId, Violation, ViolationKind,
};
use std::ops::Range;

/// When something was accessed: moments are numbered from 1, and 0 stands for "never".
///
/// A step consists of its operation, of what its thread does then, and of its [`Part`]s: each is a
/// moment if anything is accessed in it. What an operation releases covers what it has accessed
/// itself, and nothing after that.
type Moment = Position;

/// Two plain accesses that nothing orders, at least one of them a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataRace {
    /// What both accessed.
    pub(crate) memory: ObjectId,
    /// The step of the earlier access, from 1.
    pub(crate) first: Position,
    /// Whether the earlier one wrote.
    pub(crate) first_write: bool,
    /// Whose access it was.
    pub(crate) first_thread: ThreadId,
    /// The step of the later access, from 1.
    pub(crate) second: Position,
    /// Whether the later one wrote.
    pub(crate) second_write: bool,
    /// Whose access it was.
    pub(crate) second_thread: ThreadId,
}

impl DataRace {
    /// The violation that it is.
    pub(crate) fn violation<S: System + ?Sized>(&self, system: &S) -> Violation {
        let is_life = system.accesses_are_lifetimes();
        let [write, read] = if is_life { ["ends", "uses"] } else { ["writes", "reads"] };
        let side = |is_write: bool, thread: ThreadId, step: Position| {
            let what = if is_write { write } else { read };
            format!("{} {what} it at step {step}", system.thread_name(thread))
        };
        let sides = format!(
            "{} and {}, and nothing orders the two",
            side(self.first_write, self.first_thread, self.first),
            side(self.second_write, self.second_thread, self.second),
        );
        let name = system.memory_name(self.memory);
        match is_life {
            false => Violation::new(ViolationKind::Race, format!("data race on `{name}`: {sides}")),
            true => Violation::new(
                ViolationKind::Memory,
                format!("`{name}` may be gone when it is used: {sides}"),
            ),
        }
    }

    /// The two accesses with their places, seen by taking the steps of the execution once more.
    /// Nothing if the system does not tell both.
    pub(crate) fn locate<S: System + ?Sized>(
        &self,
        system: &mut S,
        steps: &[Decision],
    ) -> Vec<Access> {
        system.look_at(&[self.memory]);
        system.reset();
        let mut accesses = Vec::new();
        for (idx, &decision) in steps.iter().enumerate() {
            // From then on the system knows what memory is called, which is to be in the values.
            let _ = system.location(decision.thread);
            // What goes wrong on the way was told before.
            let _ = system.step(decision);
            let step = idx + 1;
            let sides = [
                (self.first, self.first_write, self.first_thread),
                (self.second, self.second_write, self.second_thread),
            ];
            for (at, write, thread) in sides {
                let sightings = if at as usize == step { system.sightings() } else { Vec::new() };
                let is_it = |seen: &Sighting| (seen.thread, seen.write) == (thread, write);
                let seen = sightings.into_iter().find(is_it);
                let (by, thread) = (Some(thread), system.thread_name(thread).into_owned());
                let access = |Sighting { name, value, stack, .. }: Sighting| Access {
                    thread,
                    by,
                    write,
                    step,
                    memory: Some(name),
                    value,
                    stack,
                };
                accesses.extend(seen.map(access));
            }
        }
        system.look_at(&[]);
        if accesses.len() == 2 { accesses } else { Vec::new() }
    }
}

/// The operation, from which a thread learns what it does in every linearisation: an addition that
/// comes after all others is as good as a read-modify-write, and otherwise lets no thread know
/// anything.
pub(crate) fn synchronising(order: &HappensBefore, operation: Operation) -> Operation {
    match operation {
        Operation::Add(object) | Operation::AddAndTest(object)
            if order.is_after_all_additions() =>
        {
            Operation::ReadModifyWrite(object)
        }
        other => other,
    }
}

/// What a step did to memory, as its system tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done<'a> {
    /// The memory order of its operation, if that is an atomic access.
    pub(crate) order: MemoryOrder,
    /// What the operation accessed itself.
    pub(crate) atomic: &'a [PlainAccess],
    /// The plain accesses behind it, by its thread and in its parts.
    pub(crate) accesses: &'a [PlainAccess],
    /// The fences among them.
    pub(crate) fences: &'a [Fence],
    /// Which threads went on in it.
    pub(crate) parts: &'a [Part],
    /// The step that its operation read from, where a memory model decides that.
    pub(crate) reads_from: Option<Position>,
    /// What its operation has done with the messages of a queue, if it was a call.
    pub(crate) passage: Passage,
}

impl<'a> Done<'a> {
    /// What was done in the last step of a system.
    #[inline]
    pub(crate) fn by<S: System + ?Sized>(system: &'a S) -> Self {
        Self {
            order: system.order(),
            atomic: system.atomic_accesses(),
            accesses: system.accesses(),
            fences: system.fences(),
            parts: system.parts(),
            reads_from: system.reads_from(),
            passage: system.passage(),
        }
    }
}

/// Watches the plain accesses of one execution, which grows and shrinks at its end.
#[derive(Clone, Debug)]
pub(crate) struct DataRaces {
    n_threads: usize,
    /// Threads there is room for: the length of a clock.
    stride: usize,
    /// One flat vector for each [`Table`]; what is beyond its end is 0.
    tables: [Vec<Position>; N_TABLES],
    /// How many rows of [`Table::Snapshot`] there are.
    n_snapshots: usize,
    /// Per object: the snapshots of those who put something in and took something out.
    queues: Vec<Queue>,
    /// Whose each moment is, and in which step.
    moments: Vec<(ThreadId, Position)>,
    /// What to do, last first, to get back to an earlier step.
    undo: Vec<Undo>,
    /// One per step.
    marks: Vec<Mark>,
}

/// What is kept in rows of numbers, all 0 in the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    /// Per thread and thread: the last moment with accesses of the second that the first knows of.
    Clock,
    /// Per object: what an acquire learns.
    Released,
    /// Per reader-writer lock: what a writer learns from the readers before it.
    ReadReleased,
    /// Clocks as they were, for the queues. A stack: never changed, only grown and cut.
    Snapshot,
    /// Per memory and thread: when it was last read.
    Read,
    /// Per memory and thread: when it was last read by an operation or within an atomic block.
    AtomicRead,
    /// The same for writes.
    AtomicWrite,
    /// Per memory: when it was last written.
    Write,
    /// Per thread: how many arrivals there were at its last barrier, up to its own.
    Arrived,
    /// Per thread: what it knew at its last release fence, which its relaxed writes release.
    Fenced,
    /// Per thread: what its relaxed reads have read from, which its next acquire fence learns.
    Pending,
    /// Per step: what those learn who acquire what it wrote, where a memory model decides who does.
    Written,
}

const N_TABLES: usize = 12;

/// What a thread does behind an operation, see [`Done`].
#[derive(Clone, Copy)]
struct Behind<'a> {
    thread: ThreadId,
    accesses: &'a [PlainAccess],
    fences: &'a [Fence],
    /// How many parts of the step have begun.
    n_parts: usize,
}

/// One row of a table.
type Row = (Table, usize);

/// Rows of [`Table::Snapshot`].
#[derive(Clone, Debug, Default)]
struct Queue {
    put: Vec<u32>,
    taken: Vec<u32>,
    /// The same of calls, each with the number of its message.
    put_by_call: Vec<(u64, u32)>,
    taken_by_call: Vec<(u64, u32)>,
}

/// How to take one change back.
#[derive(Clone, Copy, Debug)]
enum Undo {
    Cell { table: Table, column: u16, row: u32, old: Position },
    Put(ObjectId),
    Taken(ObjectId),
    PutByCall(ObjectId),
    TakenByCall(ObjectId),
}

/// How much there was before a step.
#[derive(Clone, Copy, Debug)]
struct Mark {
    n_moments: usize,
    n_undo: usize,
    n_snapshots: usize,
}

impl DataRaces {
    /// Before the first step.
    pub(crate) fn new() -> Self {
        Self {
            n_threads: 0,
            stride: 4,
            tables: Default::default(),
            n_snapshots: 0,
            queues: Vec::new(),
            moments: Vec::new(),
            undo: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// One step more, and what was done in it. The first race that it completes, if any.
    ///
    /// Until there is a race, none is missed; after one, some may be.
    #[inline]
    pub(crate) fn step(
        &mut self,
        decision: Decision,
        operation: Operation,
        effect: Effect,
        done: Done<'_>,
    ) -> Option<DataRace> {
        let Done { order, atomic, accesses, fences, parts, reads_from, passage } = done;
        let thread = decision.thread;
        self.make_room(thread, operation);
        self.marks.push(Mark {
            n_moments: self.moments.len(),
            n_undo: self.undo.len(),
            n_snapshots: self.n_snapshots,
        });
        let mut race = match atomic {
            [] => None,
            atomic => {
                let is_read = !matches!(operation, Operation::Store(_));
                let read = memory_of(operation).filter(|_| is_read);
                let source = read.map(|object| self.source(object, reads_from));
                self.operate(thread, source, order, atomic)
            }
        };
        // Before the first access there is nothing to publish.
        if !self.undo.is_empty() || is_queued(operation) || passage != Passage::InOrder {
            match (memory_of(operation), reads_from) {
                (Some(_), Some(source)) => {
                    self.access_memory(thread, operation, order, effect, source);
                }
                _ if matches!(operation, Operation::Call(_)) => {
                    self.call(thread, operation, order, passage);
                }
                _ => self.synchronise(thread, operation, order, effect),
            }
        }
        if accesses.is_empty() && self.undo.is_empty() {
            return race;
        }
        // Only now, for what the operation has released does not cover what follows it.
        let n_own = parts.first().map_or(accesses.len(), |part| part.n_before);
        let mut behind = Behind { thread, accesses, fences, n_parts: 0 };
        race = race.or(self.go_on(behind, 0..n_own));
        for (idx, &Part { thread, joined, n_before }) in parts.iter().enumerate() {
            if let Some(ended) = joined {
                self.make_room(thread, Operation::Join(ended));
                self.join((Table::Clock, ended.index()), (Table::Clock, thread.index()));
            }
            let end = parts.get(idx + 1).map_or(accesses.len(), |next| next.n_before);
            behind = Behind { thread, n_parts: idx + 1, ..behind };
            race = race.or(self.go_on(behind, n_before..end));
        }
        race
    }

    /// What an operation accesses itself, which it also releases. The race that it completes, if
    /// any.
    fn operate(
        &mut self,
        thread: ThreadId,
        source: Option<Row>,
        order: MemoryOrder,
        accesses: &[PlainAccess],
    ) -> Option<DataRace> {
        // A read that acquires comes after what it reads from.
        if let Some(source) = source.filter(|_| order.acquires()) {
            self.join(source, (Table::Clock, thread.index()));
        }
        self.access_all(thread, accesses)
    }

    /// What those learn who acquire what a read of this object reads.
    fn source(&self, object: ObjectId, reads_from: Option<Position>) -> Row {
        match reads_from {
            None => (Table::Released, object.index()),
            Some(step) => (Table::Written, step as usize),
        }
    }

    /// Passes clocks on between a write and those who read it, as a memory model has it: the last
    /// step reads from `source`, or is placed behind it.
    fn access_memory(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        order: MemoryOrder,
        effect: Effect,
        source: Position,
    ) {
        let source = (Table::Written, source as usize);
        let written = (Table::Written, self.marks.len());
        if !matches!(operation, Operation::Store(_)) {
            let into = if order.acquires() { Table::Clock } else { Table::Pending };
            self.join(source, (into, thread.index()));
        }
        let modifies =
            matches!(operation, Operation::ReadModifyWrite(_) | Operation::AwaitModify(_));
        if modifies && effect != Effect::Failed {
            self.join(source, written);
        }
        if !matches!(operation, Operation::Load(_) | Operation::Await(_))
            && effect != Effect::Failed
        {
            self.join(Self::releasing(thread, order), written);
        }
    }

    /// What a thread does behind an operation: these of its accesses, and the fences among them.
    /// The first race that they complete, if any.
    #[inline]
    fn go_on(&mut self, behind: Behind<'_>, own: Range<usize>) -> Option<DataRace> {
        let Behind { thread, accesses, fences, n_parts } = behind;
        if fences.is_empty() {
            return self.access_all(thread, &accesses[own]);
        }
        let mut race = None;
        let mut start = own.start;
        for fence in fences.iter().filter(|fence| fence.n_parts == n_parts) {
            let found = self.access_all(thread, &accesses[start..fence.n_accesses]);
            race = race.or(found);
            start = fence.n_accesses;
            self.fence(thread, fence.order);
        }
        let found = self.access_all(thread, &accesses[start..own.end]);
        race.or(found)
    }

    /// An acquire fence learns what the reads before it have read from; what is known at a release
    /// fence, the writes behind it release.
    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        let [mine, fenced, pending] =
            [Table::Clock, Table::Fenced, Table::Pending].map(|table| (table, thread.index()));
        if order.acquires() {
            self.join(pending, mine);
        }
        if order.releases() {
            self.copy(mine, fenced);
        }
    }

    /// A read of an atomic: it learns what its source released, now or at the next acquire fence.
    fn read(&mut self, thread: ThreadId, object: ObjectId, order: MemoryOrder) {
        let into = if order.acquires() { Table::Clock } else { Table::Pending };
        self.join((Table::Released, object.index()), (into, thread.index()));
    }

    /// What a write of this order releases.
    fn releasing(thread: ThreadId, order: MemoryOrder) -> Row {
        (if order.releases() { Table::Clock } else { Table::Fenced }, thread.index())
    }

    /// The accesses of a thread at the next moment. The first race that they complete, if any.
    #[inline]
    fn access_all(&mut self, thread: ThreadId, accesses: &[PlainAccess]) -> Option<DataRace> {
        if accesses.is_empty() {
            return None;
        }
        let at = self.begin_moment(thread);
        let mut race = None;
        for &access in accesses {
            let found = self.access(thread, at, access);
            race = race.or(found);
        }
        race
    }

    /// A moment of a thread, which it knows of.
    fn begin_moment(&mut self, thread: ThreadId) -> Moment {
        self.moments.push((thread, self.marks.len() as Position));
        let at = self.moments.len() as Moment;
        self.set((Table::Clock, thread.index()), thread.index(), at);
        at
    }

    /// Takes back all steps after `depth`.
    #[inline]
    pub(crate) fn truncate(&mut self, depth: usize) {
        let Some(&mark) = self.marks.get(depth) else { return };
        for undo in self.undo.drain(mark.n_undo..).rev() {
            match undo {
                Undo::Cell { table, column, row, old } => {
                    let start = row as usize * width(table, self.stride);
                    self.tables[table as usize][start + usize::from(column)] = old;
                }
                Undo::Put(object) => drop(self.queues[object.index()].put.pop()),
                Undo::Taken(object) => drop(self.queues[object.index()].taken.pop()),
                Undo::PutByCall(object) => {
                    self.queues[object.index()].put_by_call.pop();
                }
                Undo::TakenByCall(object) => {
                    self.queues[object.index()].taken_by_call.pop();
                }
            }
        }
        self.moments.truncate(mark.n_moments);
        self.n_snapshots = mark.n_snapshots;
        self.tables[Table::Snapshot as usize].truncate(mark.n_snapshots * self.stride);
        self.marks.truncate(depth);
    }

    /// Passes clocks on, as the operation says.
    fn synchronise(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        order: MemoryOrder,
        effect: Effect,
    ) {
        use Operation as O;
        let mine = (Table::Clock, thread.index());
        let released = |object: ObjectId| (Table::Released, object.index());
        let read_released = |object: ObjectId| (Table::ReadReleased, object.index());
        // An attempt that ends because its time is up has taken nothing.
        let succeeded = !matches!(effect, Effect::Failed | Effect::Elapsed);
        let has_woken = matches!(effect, Effect::Woke(woken) if !woken.is_empty());
        match operation {
            O::Load(o) | O::Await(o) => self.read(thread, o, order),
            O::FutexWait { word: o, .. } if order.acquires() => self.join(released(o), mine),
            O::Store(o) => self.copy(Self::releasing(thread, order), released(o)),
            O::ReadModifyWrite(o) | O::AwaitModify(o) => {
                self.read(thread, o, order);
                // A compare-and-swap that is known to have failed has only loaded. Any other is a
                // part of the release sequence that it reads from.
                if succeeded {
                    self.join(Self::releasing(thread, order), released(o));
                }
            }

            // An addition releases, and learns nothing of the additions before it.
            O::Add(o) | O::AddAndTest(o) => {
                self.join(Self::releasing(thread, order), released(o));
            }

            O::Acquire(o) | O::Reacquire { mutex: o, .. } | O::ReadAcquire(o) => {
                self.join(released(o), mine);
            }
            O::TryAcquire(o) | O::TryReadAcquire(o) if succeeded => self.join(released(o), mine),
            O::WriteAcquire(o) => self.become_writer(mine, o),
            O::TryWriteAcquire(o) if succeeded => self.become_writer(mine, o),
            O::Release(o) | O::Wait { mutex: o, .. } | O::WriteRelease(o) => {
                self.join(mine, released(o));
            }
            O::ReadRelease(o) => self.join(mine, read_released(o)),
            O::SemaphoreAcquire { semaphore: o, .. } => self.join(released(o), mine),
            O::SemaphoreTryAcquire { semaphore: o, .. } if succeeded => {
                self.join(released(o), mine);
            }
            O::SemaphoreRelease(o) => self.join(mine, released(o)),

            O::Arrive(o) | O::Meet(o) => self.arrive(thread, o),
            O::Leave { barrier, parties } | O::Part { barrier, parties } => {
                self.leave(thread, barrier, parties);
            }

            O::Send { channel, capacity } => self.send(thread, channel, capacity, order),
            O::TrySend { channel, capacity } if succeeded => {
                self.send(thread, channel, capacity, order);
            }
            O::Receive(o) => self.receive(thread, o),
            O::TryReceive(o) | O::TimedReceive(o) if succeeded => self.receive(thread, o),

            O::Spawn(child) => {
                self.join(mine, (Table::Clock, child.index()));
                // Fences of a thread that had its number before are not its own.
                self.clear((Table::Fenced, child.index()));
                self.clear((Table::Pending, child.index()));
            }
            O::Join(child) => self.join((Table::Clock, child.index()), mine),

            O::NotifyOne(o) | O::NotifyAll(o) if has_woken => self.join(mine, released(o)),
            O::FutexRequeue { word, queue } if order.acquires() => {
                self.join(released(word), mine);
                if has_woken {
                    self.join(mine, released(queue));
                }
            }
            O::FutexWakeOp { word, queue } if order.acquires() => {
                self.join(released(word), mine);
                self.copy(mine, released(word));
                if has_woken {
                    self.join(mine, released(queue));
                }
            }
            O::FutexResume(o) if order.acquires() => self.join(released(o), mine),

            // Yields and choices, notifications that wake no thread, and calls of the futex that
            // order nothing; and whatever is tried in vain.
            _ => {}
        }
    }

    /// A writer comes after all earlier holders, readers only after earlier writers.
    fn become_writer(&mut self, mine: Row, lock: ObjectId) {
        self.join((Table::Released, lock.index()), mine);
        self.join((Table::ReadReleased, lock.index()), mine);
    }

    fn arrive(&mut self, thread: ThreadId, barrier: ObjectId) {
        let snapshot = self.snapshot(thread);
        self.queue(barrier).put.push(snapshot);
        self.undo.push(Undo::Put(barrier));
        let n_arrivals = self.queue(barrier).put.len() as Position;
        self.set((Table::Arrived, thread.index()), 0, n_arrivals);
    }

    /// Learns from everybody in the round of the thread's own arrival. Only here is it known how
    /// many make a round, so this alone costs O(parties × threads).
    fn leave(&mut self, thread: ThreadId, barrier: ObjectId, parties: u32) {
        let Some(rank) = self.get((Table::Arrived, thread.index()), 0).checked_sub(1) else {
            return;
        };
        let first = rank - rank % parties.max(1);
        for arrival in first..first.saturating_add(parties) {
            let Some(&snapshot) = self.queue(barrier).put.get(arrival as usize) else { return };
            self.join((Table::Snapshot, snapshot as usize), (Table::Clock, thread.index()));
        }
    }

    fn send(&mut self, thread: ThreadId, channel: ObjectId, capacity: u32, order: MemoryOrder) {
        let queue = self.queue(channel);
        let made_room = queue.put.len().checked_sub(capacity as usize);
        if let Some(&snapshot) = made_room.and_then(|rank| queue.taken.get(rank)) {
            self.join((Table::Snapshot, snapshot as usize), (Table::Clock, thread.index()));
        }
        let snapshot = if order.releases() { self.snapshot(thread) } else { self.empty_snapshot() };
        self.queue(channel).put.push(snapshot);
        self.undo.push(Undo::Put(channel));
    }

    fn receive(&mut self, thread: ThreadId, channel: ObjectId) {
        let queue = self.queue(channel);
        if let Some(&snapshot) = queue.put.get(queue.taken.len()) {
            self.join((Table::Snapshot, snapshot as usize), (Table::Clock, thread.index()));
        }
        let snapshot = self.snapshot(thread);
        self.queue(channel).taken.push(snapshot);
        self.undo.push(Undo::Taken(channel));
    }

    /// A call of an object: as a read-modify-write of its order, or with the messages of a queue.
    /// There, who puts a message in comes after those who did so before and who made its room, and
    /// who takes one out after those who did so before and who put it in.
    fn call(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        order: MemoryOrder,
        passage: Passage,
    ) {
        let Operation::Call(object) = operation else { return };
        let mine = (Table::Clock, thread.index());
        let put_before = (Table::Released, object.index());
        let taken_before = (Table::ReadReleased, object.index());
        // What is relaxed orders nothing, with no fence of the caller either: those inside of the
        // call come before what it reads.
        let is_ordered = order != MemoryOrder::Relaxed;
        if is_ordered {
            self.read(thread, object, order);
        }
        if order.acquires() {
            self.join(taken_before, mine);
        }
        let snapshot_of = |all: &[(u64, u32)], message: u64| {
            all.iter().rev().find(|(it, _)| *it == message).map(|&(_, snapshot)| snapshot)
        };
        match passage {
            Passage::InOrder if is_ordered => {
                self.join(Self::releasing(thread, order), put_before);
            }
            Passage::InOrder => {}
            Passage::Put { message, room_of } => {
                let queue = self.queue(object);
                let room = room_of.and_then(|it| snapshot_of(&queue.taken_by_call, it));
                self.learn(thread, room);
                self.join(put_before, mine);
                self.join(mine, put_before);
                let snapshot = self.snapshot(thread);
                self.queue(object).put_by_call.push((message, snapshot));
                self.undo.push(Undo::PutByCall(object));
            }
            Passage::Took { message } => {
                let put = snapshot_of(&self.queue(object).put_by_call, message);
                self.learn(thread, put);
                self.join(taken_before, mine);
                self.join(mine, taken_before);
                let snapshot = self.snapshot(thread);
                self.queue(object).taken_by_call.push((message, snapshot));
                self.undo.push(Undo::TakenByCall(object));
            }
        }
    }

    /// A thread learns what is in a snapshot.
    fn learn(&mut self, thread: ThreadId, snapshot: Option<u32>) {
        if let Some(snapshot) = snapshot {
            self.join((Table::Snapshot, snapshot as usize), (Table::Clock, thread.index()));
        }
    }

    /// Checks an access against the earlier ones, and remembers it.
    fn access(&mut self, thread: ThreadId, at: Moment, access: PlainAccess) -> Option<DataRace> {
        let written = (Table::Write, access.object.index());
        let read = (Table::Read, access.object.index());
        let last = self.get(written, 0);
        if last == at {
            // Whatever races with this access races with that write, too.
            return None;
        }
        let mut first = Some((last, true)).filter(|_| !self.knows(thread, last));
        let atomic_write = (Table::AtomicWrite, access.object.index());
        let atomic_read = (Table::AtomicRead, access.object.index());
        let unknown = |this: &Self, row, write| this.unknown(thread, row).map(|at| (at, write));
        if !access.is_atomic {
            first = first.or_else(|| unknown(self, atomic_write, true));
        }
        if access.write {
            first = first.or_else(|| unknown(self, read, false));
        }
        match (access.is_atomic, access.write) {
            (false, true) => {
                first = first.or_else(|| unknown(self, atomic_read, false));
                self.set(written, 0, at);
            }
            (false, false) => self.set(read, thread.index(), at),
            (true, true) => self.set(atomic_write, thread.index(), at),
            (true, false) => self.set(atomic_read, thread.index(), at),
        }
        first.map(|first| self.race(access.object, first, (at, access.write), thread))
    }

    /// The race of an access with an earlier one: each with whether it writes.
    fn race(
        &self,
        memory: ObjectId,
        (first, first_write): (Moment, bool),
        (second, second_write): (Moment, bool),
        second_thread: ThreadId,
    ) -> DataRace {
        DataRace {
            memory,
            first: self.moments[first as usize - 1].1,
            first_write,
            first_thread: self.thread(first),
            second: self.moments[second as usize - 1].1,
            second_write,
            second_thread,
        }
    }

    /// Whether the accesses of an earlier moment happen before what the thread does now.
    fn knows(&self, thread: ThreadId, at: Moment) -> bool {
        let clock = (Table::Clock, thread.index());
        at == 0 || at <= self.get(clock, self.thread(at).index())
    }

    /// The newest access in a row that the thread does not know of.
    fn unknown(&self, thread: ThreadId, row: Row) -> Option<Moment> {
        let clock = (Table::Clock, thread.index());
        let row = self.row(row);
        (0..row.len())
            .map(|other| (row[other], self.get(clock, other)))
            .filter(|(at, known)| at > known)
            .map(|(at, _)| at)
            .max()
    }

    fn thread(&self, at: Moment) -> ThreadId {
        self.moments[at as usize - 1].0
    }

    fn queue(&mut self, object: ObjectId) -> &mut Queue {
        if object.index() >= self.queues.len() {
            self.queues.resize(object.index() + 1, Queue::default());
        }
        &mut self.queues[object.index()]
    }

    /// Keeps the clock of a thread as it is now.
    fn snapshot(&mut self, thread: ThreadId) -> u32 {
        for column in 0..self.stride {
            let known = self.get((Table::Clock, thread.index()), column);
            self.tables[Table::Snapshot as usize].push(known);
        }
        self.n_snapshots += 1;
        self.n_snapshots as u32 - 1
    }

    /// A clock that knows nothing.
    fn empty_snapshot(&mut self) -> u32 {
        let table = &mut self.tables[Table::Snapshot as usize];
        table.resize(table.len() + self.stride, 0);
        self.n_snapshots += 1;
        self.n_snapshots as u32 - 1
    }

    /// `into` learns what `from` knows. Mostly that is nothing new, so this is asked first.
    fn join(&mut self, from: Row, into: Row) {
        let (theirs, mine) = (self.row(from), self.row(into));
        if theirs.len() <= mine.len()
            && theirs.iter().zip(mine).all(|(theirs, mine)| theirs <= mine)
        {
            return;
        }
        for column in 0..self.n_threads {
            let theirs = self.get(from, column);
            if theirs > self.get(into, column) {
                self.set(into, column, theirs);
            }
        }
    }

    /// `into` knows what `from` knows, and nothing else.
    fn copy(&mut self, from: Row, into: Row) {
        if self.row(from) == self.row(into) {
            return;
        }
        for column in 0..self.n_threads {
            self.set(into, column, self.get(from, column));
        }
    }

    /// `into` knows nothing.
    #[inline]
    fn clear(&mut self, into: Row) {
        for column in 0..self.row(into).len() {
            self.set(into, column, 0);
        }
    }

    /// A row as it is, empty if nothing was ever set there.
    #[inline]
    fn row(&self, (table, row): Row) -> &[Position] {
        let start = row * width(table, self.stride);
        self.tables[table as usize].get(start..start + self.n_threads).unwrap_or(&[])
    }

    #[inline]
    fn get(&self, (table, row): Row, column: usize) -> Position {
        let start = row * width(table, self.stride);
        self.tables[table as usize].get(start + column).copied().unwrap_or(0)
    }

    /// The only way to change a table, so that every change can be taken back.
    #[inline]
    fn set(&mut self, (table, row): Row, column: usize, value: Position) {
        let old = self.get((table, row), column);
        if value == old {
            return;
        }
        let width = width(table, self.stride);
        let cells = &mut self.tables[table as usize];
        if cells.len() < (row + 1) * width {
            cells.resize((row + 1) * width, 0);
        }
        cells[row * width + column] = value;
        self.undo.push(Undo::Cell { table, column: column as u16, row: row as u32, old });
    }

    #[inline]
    fn make_room(&mut self, thread: ThreadId, operation: Operation) {
        let mut n_threads = thread.index() + 1;
        if let Operation::Spawn(child) | Operation::Join(child) = operation {
            n_threads = n_threads.max(child.index() + 1);
        }
        if n_threads > self.n_threads {
            self.n_threads = n_threads;
            if n_threads > self.stride {
                self.widen(n_threads.next_power_of_two());
            }
        }
    }

    /// Makes the rows longer. The undo log names rows and columns, so it stays as it is.
    #[cold]
    fn widen(&mut self, stride: usize) {
        let padding = vec![0; stride - self.stride];
        for table in [
            Table::Clock,
            Table::Released,
            Table::ReadReleased,
            Table::Snapshot,
            Table::Read,
            Table::AtomicRead,
            Table::AtomicWrite,
            Table::Fenced,
            Table::Pending,
            Table::Written,
        ] {
            let cells = &mut self.tables[table as usize];
            *cells = cells.chunks(self.stride).flat_map(|row| [row, &padding].concat()).collect();
        }
        self.stride = stride;
    }
}

/// What an operation reads or writes, if it is an access to memory.
#[inline]
fn memory_of(operation: Operation) -> Option<ObjectId> {
    use Operation as O;
    match operation {
        O::Load(o) | O::Await(o) | O::Store(o) | O::ReadModifyWrite(o) | O::AwaitModify(o) => {
            Some(o)
        }
        _ => None,
    }
}

/// Whether an operation counts what went before it at its object, with something to tell or not.
#[inline]
fn is_queued(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Arrive(_)
            | O::Meet(_)
            | O::Send { .. }
            | O::TrySend { .. }
            | O::Receive(_)
            | O::TryReceive(_)
            | O::TimedReceive(_)
    )
}

/// The length of a row.
#[inline]
fn width(table: Table, stride: usize) -> usize {
    match table {
        Table::Write | Table::Arrived => 1,
        Table::Clock
        | Table::Released
        | Table::ReadReleased
        | Table::Snapshot
        | Table::Read
        | Table::AtomicRead
        | Table::AtomicWrite
        | Table::Fenced
        | Table::Pending
        | Table::Written => stride,
    }
}

#[cfg(test)]
mod tests;
