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
//! | *W*, the epoch *c@t*           | [`Table::Write`]: the step; its thread is in its [`Mark`] |
//! | *R*, as a clock                | [`Table::Read`]                                          |
//! | *E(t)*, the thread's own entry | the last [`Moment`] with accesses, so nothing is counted  |
//! | *e ≤ C*                        | [`DataRaces::knows`]                                     |
//!
//! Differs from the paper: reads are always a clock, never an epoch, and a write does not clear
//! them, since both would have to be taken back. A write therefore costs O(threads). There is more
//! to synchronise with than locks: a store replaces the clock of its variable and a
//! read-modify-write extends it (a release sequence), every semaphore has one clock, the message
//! of a channel carries the clock of its sender, and the room in a bounded one that of the receiver
//! who made it. A notification of a condition variable orders nothing, the mutex does; one who is
//! woken from a futex has learnt from whoever woke sleepers there, since what a library does to the
//! word itself may not be seen. All state can be undone: see
//! [`DataRaces::truncate`].
//!
//! This order has fewer pairs than [`HappensBefore`](mazurka_core::HappensBefore), in which a load
//! precedes a later store: the two do not commute, but a load lets nobody know anything.

use mazurka_core::{
    Access, Decision, Effect, ObjectId, Operation, PlainAccess, Position, Sighting, System,
    ThreadId,
};

/// When something was accessed: twice the step, and one more if it was not its thread that did it
/// but the one that it has started. 0 stands for "never".
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
    /// The message of the violation, for people.
    pub(crate) fn describe<S: System + ?Sized>(&self, system: &S) -> String {
        let side = |write: bool, thread: ThreadId, step: Position| {
            let what = if write { "writes" } else { "reads" };
            format!("{} {what} it at step {step}", system.thread_name(thread))
        };
        format!(
            "data race on `{}`: {} and {}, and nothing orders the two",
            system.memory_name(self.memory),
            side(self.first_write, self.first_thread, self.first),
            side(self.second_write, self.second_thread, self.second),
        )
    }

    /// The two accesses with their places, seen by taking the steps of the execution once more.
    /// Nothing if the system does not tell both.
    pub(crate) fn locate<S: System + ?Sized>(
        &self,
        system: &mut S,
        steps: &[Decision],
    ) -> Vec<Access> {
        system.look_at(Some(self.memory));
        system.reset();
        let mut accesses = Vec::new();
        for (idx, &decision) in steps.iter().enumerate() {
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
                let thread = system.thread_name(thread).into_owned();
                accesses.extend(seen.map(|seen| Access { thread, write, step, stack: seen.stack }));
            }
        }
        system.look_at(None);
        if accesses.len() == 2 { accesses } else { Vec::new() }
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
    /// Per object: the snapshots of those who put something in and took something out.
    queues: Vec<Queue>,
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
    /// Per memory: when it was last written.
    Write,
    /// Per thread: how many arrivals there were at its last barrier, up to its own.
    Arrived,
}

const N_TABLES: usize = 7;

/// One row of a table.
type Row = (Table, usize);

/// Rows of [`Table::Snapshot`].
#[derive(Clone, Debug, Default)]
struct Queue {
    put: Vec<u32>,
    taken: Vec<u32>,
}

/// How to take one change back.
#[derive(Clone, Copy, Debug)]
enum Undo {
    Cell { table: Table, column: u8, row: u32, old: Position },
    Put(ObjectId),
    Taken(ObjectId),
}

/// Whose step it is, whom it has started, and how much there was before it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    thread: ThreadId,
    newborn: Option<ThreadId>,
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
            queues: Vec::new(),
            undo: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// One step more, and the plain accesses that its thread made after its operation; and those
    /// of the thread that it has started, if it has. The first race that it completes, if any.
    ///
    /// Until there is a race, none is missed; after one, some may be.
    pub(crate) fn step(
        &mut self,
        decision: Decision,
        operation: Operation,
        effect: Effect,
        accesses: &[PlainAccess],
        of_newborn: &[PlainAccess],
    ) -> Option<DataRace> {
        let thread = decision.thread;
        let newborn = match operation {
            Operation::Spawn(child) => Some(child),
            _ => None,
        };
        self.make_room(thread, operation);
        self.marks.push(Mark {
            thread,
            newborn,
            n_undo: self.undo.len(),
            n_snapshots: self.tables[Table::Snapshot as usize].len() / self.stride,
        });
        self.synchronise(thread, operation, effect);
        // Only now, for what the operation has released does not cover what follows it.
        let at = 2 * self.marks.len() as Moment;
        let race = self.access_all(thread, at, accesses);
        let late = newborn.and_then(|child| self.access_all(child, at + 1, of_newborn));
        race.or(late)
    }

    /// The accesses of a thread at some moment. The first race that they complete, if any.
    fn access_all(
        &mut self,
        thread: ThreadId,
        at: Moment,
        accesses: &[PlainAccess],
    ) -> Option<DataRace> {
        if accesses.is_empty() {
            return None;
        }
        self.set((Table::Clock, thread.index()), thread.index(), at);
        let mut race = None;
        for &access in accesses {
            let found = self.access(thread, at, access);
            race = race.or(found);
        }
        race
    }

    /// Takes back all steps after `depth`.
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
            }
        }
        self.tables[Table::Snapshot as usize].truncate(mark.n_snapshots * self.stride);
        self.marks.truncate(depth);
    }

    /// Passes clocks on, as the operation says.
    fn synchronise(&mut self, thread: ThreadId, operation: Operation, effect: Effect) {
        use Operation as O;
        let mine = (Table::Clock, thread.index());
        let released = |object: ObjectId| (Table::Released, object.index());
        let read_released = |object: ObjectId| (Table::ReadReleased, object.index());
        let succeeded = effect != Effect::Failed;
        let has_woken = matches!(effect, Effect::Woke(woken) if !woken.is_empty());
        match operation {
            O::Load(o) | O::Await(o) | O::FutexWait { word: o, .. } => {
                self.join(released(o), mine);
            }
            O::Store(o) => self.copy(mine, released(o)),
            O::ReadModifyWrite(o) => {
                self.join(released(o), mine);
                // A compare-and-swap that is known to have failed has only loaded.
                if succeeded {
                    self.copy(mine, released(o));
                }
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

            O::Arrive(o) => self.arrive(thread, o),
            O::Leave { barrier, parties } => self.leave(thread, barrier, parties),

            O::Send { channel, capacity } => self.send(thread, channel, capacity),
            O::TrySend { channel, capacity } if succeeded => self.send(thread, channel, capacity),
            O::Receive(o) => self.receive(thread, o),
            O::TryReceive(o) if succeeded => self.receive(thread, o),

            O::Spawn(child) => self.join(mine, (Table::Clock, child.index())),
            O::Join(child) => self.join((Table::Clock, child.index()), mine),

            O::NotifyOne(o) | O::NotifyAll(o) if has_woken => self.join(mine, released(o)),
            O::FutexResume(o) => self.join(released(o), mine),

            // Yields and choices, and notifications that reach nobody; and whatever is tried in vain.
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

    fn send(&mut self, thread: ThreadId, channel: ObjectId, capacity: u32) {
        let queue = self.queue(channel);
        let made_room = queue.put.len().checked_sub(capacity as usize);
        if let Some(&snapshot) = made_room.and_then(|rank| queue.taken.get(rank)) {
            self.join((Table::Snapshot, snapshot as usize), (Table::Clock, thread.index()));
        }
        let snapshot = self.snapshot(thread);
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
        if access.write {
            first = first.or_else(|| self.unknown_read(thread, read).map(|at| (at, false)));
            self.set(written, 0, at);
        } else {
            self.set(read, thread.index(), at);
        }
        let (first, first_write) = first?;
        Some(DataRace {
            memory: access.object,
            first: first / 2,
            first_write,
            first_thread: self.thread(first),
            second: at / 2,
            second_write: access.write,
            second_thread: thread,
        })
    }

    /// Whether the accesses of an earlier moment happen before what the thread does now.
    fn knows(&self, thread: ThreadId, at: Moment) -> bool {
        let clock = (Table::Clock, thread.index());
        at == 0 || at <= self.get(clock, self.thread(at).index())
    }

    /// The newest read that the thread does not know of.
    fn unknown_read(&self, thread: ThreadId, read: Row) -> Option<Moment> {
        let clock = (Table::Clock, thread.index());
        (0..self.n_threads)
            .map(|reader| (self.get(read, reader), self.get(clock, reader)))
            .filter(|(at, known)| at > known)
            .map(|(at, _)| at)
            .max()
    }

    fn thread(&self, at: Moment) -> ThreadId {
        let mark = &self.marks[at as usize / 2 - 1];
        mark.newborn.filter(|_| !at.is_multiple_of(2)).unwrap_or(mark.thread)
    }

    fn queue(&mut self, object: ObjectId) -> &mut Queue {
        if object.index() >= self.queues.len() {
            self.queues.resize(object.index() + 1, Queue::default());
        }
        &mut self.queues[object.index()]
    }

    /// Keeps the clock of a thread as it is now.
    fn snapshot(&mut self, thread: ThreadId) -> u32 {
        let row = self.tables[Table::Snapshot as usize].len() / self.stride;
        for column in 0..self.stride {
            let known = self.get((Table::Clock, thread.index()), column);
            self.tables[Table::Snapshot as usize].push(known);
        }
        row as u32
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
        self.undo.push(Undo::Cell { table, column: column as u8, row: row as u32, old });
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
        for table in
            [Table::Clock, Table::Released, Table::ReadReleased, Table::Snapshot, Table::Read]
        {
            let cells = &mut self.tables[table as usize];
            *cells = cells.chunks(self.stride).flat_map(|row| [row, &padding].concat()).collect();
        }
        self.stride = stride;
    }
}

/// The length of a row.
#[inline]
fn width(table: Table, stride: usize) -> usize {
    match table {
        Table::Write | Table::Arrived => 1,
        Table::Clock | Table::Released | Table::ReadReleased | Table::Snapshot | Table::Read => {
            stride
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::ThreadSet;

    /// One step: thread, operation, effect, its accesses and those of the thread it has started.
    type Taken = (ThreadId, Operation, Effect, [Vec<PlainAccess>; 2]);

    fn object(index: usize) -> ObjectId {
        ObjectId::new(index)
    }

    /// `"rw/r"`: reads memory 0, then writes it; the thread that it has started reads it.
    fn taken(thread: usize, operation: Operation, accesses: &str) -> Taken {
        let access = |how| PlainAccess { object: object(0), write: how == 'w' };
        let (own, newborn) = accesses.split_once('/').unwrap_or((accesses, ""));
        let accesses = [own, newborn].map(|all| all.chars().map(access).collect());
        (ThreadId::new(thread), operation, Effect::Done, accesses)
    }

    fn failed(thread: usize, operation: Operation) -> Taken {
        (ThreadId::new(thread), operation, Effect::Failed, [Vec::new(), Vec::new()])
    }

    fn take(
        races: &mut DataRaces,
        (thread, operation, effect, [own, newborn]): &Taken,
    ) -> Option<DataRace> {
        races.step(Decision::of(*thread), *operation, *effect, own, newborn)
    }

    fn run(steps: &[Taken]) -> Vec<Option<DataRace>> {
        let mut races = DataRaces::new();
        steps.iter().map(|step| take(&mut races, step)).collect()
    }

    fn check(steps: &[Taken], expect: Expect) {
        let how = |write| if write { "writes" } else { "reads" };
        let shown: Vec<String> = run(steps)
            .into_iter()
            .flatten()
            .map(|race| {
                format!(
                    "{} {} {} at {}, {} {} it at {}",
                    race.first_thread,
                    how(race.first_write),
                    race.memory,
                    race.first,
                    race.second_thread,
                    how(race.second_write),
                    race.second,
                )
            })
            .collect();
        expect.assert_eq(&shown.join("; "));
    }

    #[test]
    fn what_nothing_orders_is_a_race_unless_both_read() {
        check(
            &[taken(0, O::Yield, "w"), taken(1, O::Yield, "w")],
            expect!["T0 writes o0 at 1, T1 writes it at 2"],
        );
        let late = [taken(1, O::Yield, ""), taken(0, O::Yield, "rw"), taken(1, O::Yield, "r")];
        check(&late, expect!["T0 writes o0 at 2, T1 reads it at 3"]);
        check(
            &[taken(0, O::Yield, "r"), taken(1, O::Yield, "w")],
            expect!["T0 reads o0 at 1, T1 writes it at 2"],
        );
        check(&[taken(0, O::Yield, "r"), taken(1, O::Yield, "r")], expect![""]);
        check(&[taken(0, O::Yield, "w"), taken(0, O::Yield, "rw")], expect![""]);
    }

    #[test]
    fn a_load_learns_from_the_store_it_sees() {
        let x = object(0);
        let store = [taken(0, O::Yield, "w"), taken(0, O::Store(x), "")];
        for see in [O::Load(x), O::Await(x), O::ReadModifyWrite(x)] {
            let steps = [&store[..], &[taken(1, see, "rw")]].concat();
            check(&steps, expect![""]);
        }
        // What comes after the operation of a step is not covered by it.
        check(
            &[taken(0, O::Store(x), "w"), taken(1, O::Load(x), "r")],
            expect!["T0 writes o0 at 1, T1 reads it at 2"],
        );
        // Another store hides the first one.
        let hidden = [&store[..], &[taken(2, O::Store(x), ""), taken(1, O::Load(x), "r")]].concat();
        check(&hidden, expect!["T0 writes o0 at 1, T1 reads it at 4"]);
        // A read-modify-write does not, and a failed one releases nothing of its own.
        let rmw = O::ReadModifyWrite(x);
        let chain = [&store[..], &[taken(2, rmw, ""), taken(1, O::Load(x), "r")]].concat();
        check(&chain, expect![""]);
        let swap = [taken(0, O::Yield, "w"), failed(0, rmw), taken(1, O::Load(x), "r")];
        check(&swap, expect!["T0 writes o0 at 1, T1 reads it at 3"]);
    }

    #[test]
    fn a_load_before_a_store_orders_nothing() {
        let x = object(0);
        let steps = [
            taken(0, O::Yield, "w"),
            taken(0, O::Load(x), ""),
            taken(1, O::Store(x), ""),
            taken(1, O::Yield, "w"),
        ];
        check(&steps, expect!["T0 writes o0 at 1, T1 writes it at 4"]);
    }

    #[test]
    fn locks_order_their_critical_sections() {
        let (m, condvar) = (object(0), object(1));
        let wait = O::Wait { condvar, mutex: m };
        let reacquire = O::Reacquire { condvar, mutex: m };
        for release in [O::Release(m), wait] {
            for acquire in [O::Acquire(m), O::TryAcquire(m), reacquire] {
                let first = [taken(0, O::Acquire(m), "w"), taken(0, release, "")];
                check(&[&first[..], &[taken(1, acquire, "rw")]].concat(), expect![""]);
            }
        }
        let tried = [
            taken(0, O::Acquire(m), "w"),
            taken(0, O::Release(m), ""),
            failed(1, O::TryAcquire(m)),
            taken(1, O::Yield, "w"),
        ];
        check(&tried, expect!["T0 writes o0 at 1, T1 writes it at 4"]);
        let notified = [
            taken(0, O::Yield, "w"),
            taken(0, O::NotifyAll(condvar), ""),
            taken(1, reacquire, "r"),
        ];
        check(&notified, expect!["T0 writes o0 at 1, T1 reads it at 3"]);
    }

    #[test]
    fn readers_are_ordered_with_writers_only() {
        let lock = object(0);
        let reader = |thread, accesses| {
            [taken(thread, O::ReadAcquire(lock), accesses), taken(thread, O::ReadRelease(lock), "")]
        };
        let writer = [taken(2, O::WriteAcquire(lock), "w"), taken(2, O::WriteRelease(lock), "")];
        let all = [&reader(0, "r")[..], &reader(1, "r"), &writer, &reader(0, "r")].concat();
        check(&all, expect![""]);
        check(
            &[reader(0, "w"), reader(1, "w")].concat(),
            expect!["T0 writes o0 at 1, T1 writes it at 3"],
        );
    }

    #[test]
    fn spawning_and_joining_order() {
        let child = ThreadId::new(7);
        let steps = [
            taken(0, O::Yield, "w"),
            taken(0, O::Spawn(child), ""),
            taken(7, O::Yield, "rw"),
            taken(0, O::Join(child), "w"),
        ];
        check(&steps, expect![""]);
        let early =
            [taken(0, O::Spawn(child), "w"), taken(7, O::Yield, "r"), taken(0, O::Yield, "r")];
        check(&early, expect!["T0 writes o0 at 1, T7 reads it at 2"]);
    }

    #[test]
    fn what_a_newborn_does_at_once_is_its_own() {
        let spawn = O::Spawn(ThreadId::new(1));
        check(&[taken(0, spawn, "w/r")], expect!["T0 writes o0 at 1, T1 reads it at 1"]);
        check(&[taken(0, O::Yield, "w"), taken(0, spawn, "/w")], expect![""]);
        check(
            &[taken(0, spawn, "/w"), taken(0, O::Yield, "r")],
            expect!["T1 writes o0 at 1, T0 reads it at 2"],
        );
        let joined = [taken(0, spawn, "/w"), taken(0, O::Join(ThreadId::new(1)), "w")];
        check(&joined, expect![""]);
    }

    #[test]
    fn a_message_carries_its_senders_clock_and_room_its_makers() {
        let send = O::Send { channel: object(0), capacity: 1 };
        let receive = O::Receive(object(0));
        check(&[taken(0, O::Yield, "w"), taken(0, send, ""), taken(1, receive, "w")], expect![""]);
        let full = [
            taken(0, send, ""),
            taken(1, O::Yield, "w"),
            taken(1, receive, ""),
            taken(0, send, "w"),
        ];
        check(&full, expect![""]);
        let unbounded = O::Send { channel: object(0), capacity: u32::MAX };
        let other = [
            taken(0, unbounded, ""),
            taken(2, O::Yield, "w"),
            taken(2, unbounded, ""),
            taken(1, receive, "r"),
        ];
        check(&other, expect!["T2 writes o0 at 2, T1 reads it at 4"]);
    }

    #[test]
    fn a_barrier_orders_the_threads_of_one_round() {
        let (arrive, leave) = (O::Arrive(object(0)), O::Leave { barrier: object(0), parties: 2 });
        let steps = [
            taken(0, O::Yield, "w"),
            taken(0, arrive, ""),
            taken(1, arrive, ""),
            taken(2, arrive, ""),
            taken(1, leave, "r"),
            taken(3, arrive, ""),
            taken(3, leave, "r"),
        ];
        check(&steps, expect!["T0 writes o0 at 1, T3 reads it at 7"]);
    }

    #[test]
    fn a_semaphore_passes_everything_on() {
        let acquire = O::SemaphoreAcquire { semaphore: object(0), permits: 0 };
        let steps = [
            taken(0, O::Yield, "w"),
            taken(0, O::SemaphoreRelease(object(0)), ""),
            taken(1, acquire, "r"),
        ];
        check(&steps, expect![""]);
    }

    /// An xorshift generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % n as u64) as usize
        }

        /// A step that need not make sense as part of a program, of one of `n_threads`.
        fn step(&mut self, n_threads: usize) -> Taken {
            let thread = ThreadId::new(self.below(n_threads));
            let other = ThreadId::new(self.below(n_threads));
            let [x, y, m, lock, semaphore, barrier, channel, condvar] = std::array::from_fn(object);
            let operations = [
                O::Load(x),
                O::Store(x),
                O::ReadModifyWrite(x),
                O::Load(y),
                O::Await(y),
                O::Store(y),
                O::Acquire(m),
                O::TryAcquire(m),
                O::Release(m),
                O::Wait { condvar, mutex: m },
                O::Reacquire { condvar, mutex: m },
                O::NotifyOne(condvar),
                O::FutexWait { word: x, queue: condvar },
                O::FutexResume(condvar),
                O::ReadAcquire(lock),
                O::TryReadAcquire(lock),
                O::ReadRelease(lock),
                O::WriteAcquire(lock),
                O::TryWriteAcquire(lock),
                O::WriteRelease(lock),
                O::SemaphoreAcquire { semaphore, permits: 1 },
                O::SemaphoreTryAcquire { semaphore, permits: 1 },
                O::SemaphoreRelease(semaphore),
                O::Arrive(barrier),
                O::Leave { barrier, parties: 2 },
                O::Send { channel, capacity: 2 },
                O::TrySend { channel, capacity: 2 },
                O::Receive(channel),
                O::TryReceive(channel),
                O::Spawn(other),
                O::Join(other),
                O::Yield,
            ];
            let operation = operations[self.below(operations.len())];
            let may_fail = operation.name().starts_with("try")
                || matches!(operation, O::SemaphoreTryAcquire { .. } | O::ReadModifyWrite(_));
            let effect = match operation {
                O::NotifyOne(_) if self.below(3) > 0 => Effect::Woke(ThreadSet::one(other)),
                _ if may_fail && self.below(3) == 0 => Effect::Failed,
                _ => Effect::Done,
            };
            // Few accesses, or the first race comes before anything could order it.
            let n_accesses = if self.below(5) == 0 { 1 + self.below(2) } else { 0 };
            let n_of_newborn = match operation {
                O::Spawn(_) => self.below(3),
                _ => 0,
            };
            let accesses = [n_accesses, n_of_newborn].map(|n| self.accesses(n));
            (thread, operation, effect, accesses)
        }

        fn accesses(&mut self, n: usize) -> Vec<PlainAccess> {
            let access =
                |_| PlainAccess { object: object(self.below(3)), write: self.below(3) == 0 };
            (0..n).map(access).collect()
        }
    }

    #[test]
    fn taking_steps_back_leaves_nothing_behind() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut races = DataRaces::new();
        let (mut steps, mut found) = (Vec::new(), Vec::new());
        for round in 0..4000 {
            // The rows grow on the way, with steps to take back in the log.
            let n_threads = 2 + round * 16 / 4000;
            for _ in 0..random.below(30) {
                steps.push(random.step(n_threads));
                found.push(take(&mut races, &steps[steps.len() - 1]));
            }
            assert_eq!(found, run(&steps), "round {round}: {steps:?}");
            let depth = random.below(steps.len() + 1);
            races.truncate(depth);
            steps.truncate(depth);
            found.truncate(depth);
        }
        races.truncate(0);
        assert!(races.undo.is_empty() && races.tables.iter().flatten().all(|&cell| cell == 0));
        assert!(races.tables[Table::Snapshot as usize].is_empty());
    }

    /// Which accesses happen before which operations, by brute force: of step `i`, the operation
    /// is node `2 i` and the accesses are node `2 i + 1`. Bit `n` of entry `m`: `n` leads to `m`.
    fn pasts(steps: &[Taken]) -> Vec<u128> {
        let mut pasts: Vec<u128> = Vec::new();
        for later in 0..steps.len() {
            let mut past = 1 << (2 * later);
            for (node, &before) in pasts.iter().enumerate() {
                if leads_to(steps, node, later) {
                    past |= before;
                }
            }
            pasts.push(past);
            pasts.push(past | 1 << (2 * later + 1));
        }
        pasts
    }

    /// Whether something goes directly from a node to the operation of a later step.
    fn leads_to(steps: &[Taken], node: usize, later: usize) -> bool {
        let (from, to) = (&steps[node / 2], &steps[later]);
        if from.0 == to.0 {
            return true;
        }
        if node % 2 == 1 {
            return to.1 == O::Join(from.0);
        }
        let succeeded = |step: &Taken| step.2 != Effect::Failed;
        let between = || &steps[node / 2 + 1..later];
        match (from.1, to.1) {
            (
                O::Store(x),
                O::Load(y) | O::Await(y) | O::ReadModifyWrite(y) | O::FutexWait { word: y, .. },
            ) => x == y && !between().iter().any(|step| step.1 == O::Store(x)),
            (
                O::ReadModifyWrite(x),
                O::Load(y) | O::Await(y) | O::ReadModifyWrite(y) | O::FutexWait { word: y, .. },
            ) => {
                let hidden = between().iter().any(|step| step.1 == O::Store(x));
                x == y && succeeded(from) && !hidden
            }
            (O::Release(_) | O::Wait { .. }, O::Acquire(_) | O::Reacquire { .. }) => true,
            (O::Release(_) | O::Wait { .. }, O::TryAcquire(_)) => succeeded(to),
            (O::NotifyOne(_) | O::NotifyAll(_), O::FutexResume(_)) => {
                matches!(from.2, Effect::Woke(woken) if !woken.is_empty())
            }
            (O::WriteRelease(_), O::ReadAcquire(_) | O::WriteAcquire(_)) => true,
            (O::WriteRelease(_), O::TryReadAcquire(_)) => succeeded(to),
            (O::WriteRelease(_) | O::ReadRelease(_), O::TryWriteAcquire(_)) => succeeded(to),
            (O::ReadRelease(_), O::WriteAcquire(_)) => true,
            (O::SemaphoreRelease(_), O::SemaphoreAcquire { .. }) => true,
            (O::SemaphoreRelease(_), O::SemaphoreTryAcquire { .. }) => succeeded(to),
            (O::Spawn(child), _) if child == to.0 => true,
            (O::Spawn(child), O::Join(joined)) => child == joined,
            (O::Arrive(_), O::Leave { parties, .. }) => {
                let rank = |at: usize| {
                    let earlier = steps[..at].iter().filter(|step| matches!(step.1, O::Arrive(_)));
                    earlier.count() as u32 / parties
                };
                let own = steps[..later]
                    .iter()
                    .rposition(|step| step.0 == to.0 && matches!(step.1, O::Arrive(_)));
                own.is_some_and(|own| rank(own) == rank(node / 2))
            }
            (O::Send { .. } | O::TrySend { .. }, O::Receive(_) | O::TryReceive(_)) => {
                succeeded(from) && succeeded(to) && sent(steps, node / 2) == received(steps, later)
            }
            (O::Receive(_) | O::TryReceive(_), O::Send { .. } | O::TrySend { .. }) => {
                let filled = received(steps, node / 2) + 2 == sent(steps, later);
                succeeded(from) && succeeded(to) && filled
            }
            _ => false,
        }
    }

    fn sent(steps: &[Taken], before: usize) -> usize {
        let send = |step: &&Taken| matches!(step.1, O::Send { .. } | O::TrySend { .. });
        steps[..before].iter().filter(send).filter(|step| step.2 != Effect::Failed).count()
    }

    fn received(steps: &[Taken], before: usize) -> usize {
        let receive = |step: &&Taken| matches!(step.1, O::Receive(_) | O::TryReceive(_));
        steps[..before].iter().filter(receive).filter(|step| step.2 != Effect::Failed).count()
    }

    /// The same execution, with a step of their own for what newborns do at once; and for each
    /// step, which one it is of those that were given.
    fn unfolded(steps: &[Taken]) -> (Vec<Taken>, Vec<Position>) {
        let (mut all, mut origins) = (Vec::new(), Vec::new());
        for (idx, (thread, operation, effect, [own, newborn])) in steps.iter().enumerate() {
            all.push((*thread, *operation, *effect, [own.clone(), Vec::new()]));
            origins.push(idx as Position + 1);
            if let O::Spawn(child) = *operation
                && !newborn.is_empty()
            {
                all.push((child, O::Yield, Effect::Done, [newborn.clone(), Vec::new()]));
                origins.push(idx as Position + 1);
            }
        }
        (all, origins)
    }

    /// All pairs of racing steps of one execution, with their memory and whether they write.
    fn all_races(steps: &[Taken]) -> Vec<(usize, PlainAccess, usize, PlainAccess)> {
        let pasts = pasts(steps);
        let mut races = Vec::new();
        for (later, second) in steps.iter().enumerate() {
            for (earlier, first) in steps[..later].iter().enumerate() {
                let ordered = pasts[2 * later] >> (2 * earlier + 1) & 1 == 1;
                for (&a, &b) in
                    first.3[0].iter().flat_map(|a| second.3[0].iter().map(move |b| (a, b)))
                {
                    if !ordered && a.object == b.object && (a.write || b.write) {
                        races.push((earlier, a, later, b));
                    }
                }
            }
        }
        races
    }

    #[test]
    fn the_first_race_is_what_brute_force_finds_first() {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut n_races = 0;
        for round in 0..4000 {
            let n_threads = 2 + random.below(4);
            let folded: Vec<Taken> = (0..40).map(|_| random.step(n_threads)).collect();
            let (steps, origins) = unfolded(&folded);
            let expected = all_races(&steps);
            let found = run(&steps).into_iter().flatten().next();
            let at = |step: Position| origins[step as usize - 1];
            let same =
                found.map(|it| DataRace { first: at(it.first), second: at(it.second), ..it });
            let found_at_once = run(&folded).into_iter().flatten().next();
            assert_eq!(found_at_once, same, "round {round}: {folded:?}");
            let first = expected.iter().map(|race| race.2).min();
            let second = found.map(|race| race.second as usize - 1);
            assert_eq!(second, first, "round {round}: {steps:?}");
            if let Some(race) = found {
                n_races += 1;
                let access = |write| PlainAccess { object: race.memory, write };
                let (earlier, later) = (race.first as usize - 1, race.second as usize - 1);
                let pair = (earlier, access(race.first_write), later, access(race.second_write));
                assert!(expected.contains(&pair), "round {round}: {race:?} in {steps:?}");
            }
        }
        assert!(n_races > 1000, "only {n_races} of the executions have a race");
    }
}
