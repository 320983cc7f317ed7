//! Visible actions: what each does to memory, and when it is enabled.
//!
//! The meaning is that of `model::Vm`, to the bytes of everything that threads synchronise on, but
//! for barriers: those count rounds, so that no division is needed.

use super::graph::{Point, StopId, StopKind};
use super::interference::Release;
use super::memory::{Target, TouchKind};
use super::state::State;
use super::{Choice, Encoder, Fault};
use crate::{Lit, Word};
use mazurka_model::{
    Access, Action, Binary, Compare, Edge, Expr, Place, RegisterId, Sync, Type, Update,
    ViolationKind,
};

/// When a step is possible, and whether the machine has it, too.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// When it is possible.
    pub(crate) is_open: Lit,
    /// When the machine takes it as a step of its own.
    pub(crate) counts: Lit,
    /// Which alternative of the machine's step it is.
    pub(crate) choice: Choice,
}

impl Gate {
    pub(super) fn new(is_open: Lit) -> Self {
        Self { is_open, counts: Lit::TRUE, choice: Choice::None }
    }

    /// The threads that may be started.
    pub(crate) fn started(&self) -> impl Iterator<Item = usize> + '_ {
        let started = match &self.choice {
            Choice::Started(started) => &started[..],
            _ => &[],
        };
        started.iter().filter(|(is_it, _)| *is_it != Lit::FALSE).map(|&(_, child)| child)
    }

    pub(super) const OPEN: Self =
        Self { is_open: Lit::TRUE, counts: Lit::TRUE, choice: Choice::None };
}

/// Where an action leads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination {
    Point(Point),
    Stop(StopId),
}

/// What a step does to mutexes and threads for certain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effects {
    /// The mutex that it takes, and without which there is no step.
    pub(crate) acquires: Option<usize>,
    pub(crate) releases: Release,
    /// The thread without whose end there is no step.
    pub(crate) joins: Option<usize>,
}

/// The parts of a mutex.
struct Mutex {
    at: Vec<Target>,
    is_free: Lit,
    is_mine: Lit,
    kind: Word,
    count: Word,
}

impl Encoder<'_> {
    /// Takes the step of a visible edge, and goes on behind it.
    pub(super) fn operate(
        &mut self,
        point: Point,
        number: usize,
        edge: &Edge,
        is_second: bool,
        mut state: State,
    ) -> Gate {
        self.at = self.threads[self.thread].passing_rank(point);
        self.pace = self.first_pace();
        let (gate, to) = self.act(point, number, edge, is_second, &mut state);
        self.come_to(to, state);
        self.walk_on();
        gate
    }

    /// Comes to where an action leads.
    pub(super) fn come_to(&mut self, to: Destination, state: State) {
        match to {
            Destination::Point(point) => self.go(point, state),
            Destination::Stop(stop) => self.end(stop, state),
        }
    }

    /// Carries out a visible action.
    pub(super) fn act(
        &mut self,
        point: Point,
        number: usize,
        edge: &Edge,
        is_second: bool,
        state: &mut State,
    ) -> (Gate, Destination) {
        self.context = point.context;
        self.is_within = false;
        self.span = edge.span;
        let mut goes_on = Point { location: edge.to, ..point };
        let it = &self.threads[self.thread];
        let second = it.stop_at(StopKind::Edge { point, edge: number, is_second: true });
        let gate = match &edge.action {
            Action::Spawn { routine, arguments, to } => self.spawn(state, routine, arguments, *to),
            Action::Join { process, to } => self.join(state, process, *to),
            Action::Wait { condvar, mutex } if !is_second => {
                let gate = self.wait(state, condvar, mutex);
                return (gate, Destination::Stop(second.expect("a wait has two steps")));
            }
            Action::Wait { condvar, mutex } => self.reacquire(state, condvar, mutex),
            Action::BarrierWait(barrier, to) if !is_second => {
                self.arrive(state, barrier, *to);
                let second = second.expect("a barrier has two steps");
                return (Gate::OPEN, Destination::Stop(second));
            }
            Action::BarrierWait(barrier, _) => self.leave(state, barrier),
            Action::AtomicBegin => {
                goes_on.n_atomic += 1;
                self.monitor_block(state);
                Gate::OPEN
            }
            Action::Choose { to, low, high } => self.choose(state, *to, *low, *high),
            Action::Yield => Gate::OPEN,
            Action::Load { .. }
            | Action::Store { .. }
            | Action::Modify { .. }
            | Action::CompareExchange { .. }
            | Action::Copy { .. }
            | Action::Fill { .. } => {
                let is_copy = matches!(edge.action, Action::Copy { .. } | Action::Fill { .. });
                if is_copy && self.options.plain_steps {
                    // With data races allowed, others may come in between.
                    self.refuse("copying what other threads may use, byte by byte", self.span);
                }
                self.access(state, &edge.action);
                let counts = self.is_step_of_machine(&edge.action);
                Gate { counts: counts.into(), ..Gate::OPEN }
            }
            Action::Await { to, from, ty, until } => self.wait_for(state, *to, from, *ty, until),
            action => self.synchronise(state, action),
        };
        (gate, Destination::Point(goes_on))
    }

    /// Carries out an access to memory.
    pub(super) fn access(&mut self, state: &mut State, action: &Action) {
        match action {
            Action::Load { to, from, ty, access } => {
                let at = self.resolve(state, from, ty.bytes(), false);
                self.monitor_load(state, &at, *access);
                let word = self.load(state, &at, *ty);
                self.assign(state, self.context, *to, &word, ty.is_signed());
            }
            Action::Store { to, value, access } => {
                let at = self.resolve(state, to, value.ty().bytes(), true);
                self.monitor_store(state, &at, *access);
                let word = self.eval(state, value);
                self.store(state, &at, value.ty(), &word);
            }
            Action::Modify { old, on, update, value, order } => {
                let ty = value.ty();
                let at = self.resolve(state, on, ty.bytes(), true);
                self.monitor_modify(state, &at, *order);
                let before = self.load(state, &at, ty);
                let operand = self.eval(state, value);
                let after = self.updated(*update, ty, &before, &operand);
                self.store(state, &at, ty, &after);
                self.assign_if_any(state, *old, &before, ty);
            }
            Action::CompareExchange { success, old, on, expected, new, order, failure } => {
                let ty = expected.ty();
                let at = self.resolve(state, on, ty.bytes(), true);
                let before = self.load(state, &at, ty);
                let (expected, new) = (self.eval(state, expected), self.eval(state, new));
                let is_expected = self.circuit.aig.equal(&before, &expected);
                self.monitor_compare_exchange(state, &at, is_expected, [*order, *failure]);
                let after = self.circuit.aig.mux(is_expected, &new, &before);
                self.store(state, &at, ty, &after);
                self.assign_if_any(state, *success, &is_expected.into(), Type::BOOL);
                self.assign_if_any(state, *old, &before, ty);
            }
            Action::Copy { to, from, size } => {
                let Some(size) = self.constant_size(state, size) else { return };
                let from = self.resolve(state, from, size, false);
                let to = self.resolve(state, to, size, true);
                self.monitor_plain(state, &from, false);
                self.monitor_plain(state, &to, true);
                if size > 0 {
                    let bytes = self.read(state, &from, 0, size as usize);
                    self.write(state, &to, 0, &bytes);
                }
            }
            Action::Fill { to, byte, size } => {
                let Some(size) = self.constant_size(state, size) else { return };
                let to = self.resolve(state, to, size, true);
                self.monitor_plain(state, &to, true);
                let byte = self.eval(state, byte).resize(8, false);
                let bytes = (1..size).fold(byte.clone(), |bytes, _| bytes.concat(&byte));
                if size > 0 {
                    self.write(state, &to, 0, &bytes);
                }
            }
            _ => {}
        }
    }

    fn constant_size(&mut self, state: &State, size: &Expr) -> Option<u32> {
        let size = self.eval(state, size).value().and_then(|size| u32::try_from(size).ok());
        if size.is_none() {
            self.refuse("copying as many bytes as are known only when it runs", self.span);
        }
        size
    }

    fn load(&mut self, state: &State, at: &[Target], ty: Type) -> Word {
        self.read(state, at, 0, ty.bytes() as usize).truncate(ty.bits() as usize)
    }

    fn store(&mut self, state: &mut State, at: &[Target], ty: Type, word: &Word) {
        let word = word.resize(ty.bytes() as usize * 8, ty.is_signed());
        self.write(state, at, 0, &word);
    }

    pub(super) fn assign_if_any(
        &mut self,
        state: &mut State,
        to: Option<RegisterId>,
        word: &Word,
        ty: Type,
    ) {
        if let Some(to) = to {
            self.assign(state, self.context, to, word, ty.is_signed());
        }
    }

    fn updated(&mut self, update: Update, ty: Type, old: &Word, value: &Word) -> Word {
        let aig = &mut self.circuit.aig;
        let op = match update {
            Update::Exchange => return value.clone(),
            Update::Add => Binary::Add,
            Update::Subtract => Binary::Subtract,
            Update::And | Update::Nand => Binary::And,
            Update::Or => Binary::Or,
            Update::Xor => Binary::Xor,
            Update::Minimum | Update::Maximum => {
                let op = if update == Update::Minimum { Compare::Less } else { Compare::Greater };
                let is_taken = aig.compare(op, ty, value, old);
                return aig.mux(is_taken, value, old);
            }
        };
        let word = aig.binary(op, ty, old, value, ty);
        if update == Update::Nand { word.complement() } else { word }
    }

    fn wait_for(
        &mut self,
        state: &mut State,
        to: RegisterId,
        from: &Place,
        ty: Type,
        until: &Expr,
    ) -> Gate {
        let at = self.resolve(state, from, ty.bytes(), false);
        let is_there = state.condition;
        self.monitor_load(state, &at, Access::ATOMIC);
        let word = self.load(state, &at, ty);
        self.seen = Some((to, word.clone()));
        let is_so = self.eval(state, until).bits()[0];
        self.seen = None;
        self.assign(state, self.context, to, &word, ty.is_signed());
        Gate::new(self.circuit.aig.or(is_so, !is_there))
    }

    fn choose(&mut self, state: &mut State, to: RegisterId, low: i64, high: i64) -> Gate {
        let range = high.wrapping_sub(low) as u64;
        let width = (u64::BITS - range.leading_zeros()) as usize;
        let wish = self.free_word(width);
        let most = Word::constant(width, range);
        let is_too_great = self.circuit.aig.less(&most, &wish, false);
        let choice = self.circuit.aig.gate(!is_too_great, &wish);
        let value = choice.resize(64, false);
        let value = self.circuit.aig.add(&value, &Word::constant(64, low as u64));
        self.assign(state, self.context, to, &value, false);
        Gate { choice: Choice::Number(choice), ..Gate::OPEN }
    }

    /// Everything that is about one thing to synchronise on.
    fn synchronise(&mut self, state: &mut State, action: &Action) -> Gate {
        match action {
            Action::Lock { mutex, to } => {
                let mutex = self.mutex(state, mutex);
                self.effects.acquires = self.lock_at(&mutex.at);
                let is_there = state.condition;
                let aig = &mut self.circuit.aig;
                let tells = aig.equals_number(&mutex.kind, 2);
                let is_plain = aig.equals_number(&mutex.kind, 0);
                let again = aig.and(mutex.is_mine, !is_plain);
                let is_open = aig.any([mutex.is_free, again, !is_there]);
                let answer = aig.and(mutex.is_mine, tells);
                let takes_again = aig.and(again, !tells);
                // A thread that gets past this has it.
                self.acquire(state, &mutex.at, Lit::TRUE);
                self.take(state, &mutex, takes_again, Lit::TRUE);
                self.assign_if_any(state, *to, &answer.into(), Type::BOOL);
                Gate { counts: !again, ..Gate::new(is_open) }
            }
            Action::TryLock { mutex, to } => {
                let mutex = self.mutex(state, mutex);
                let is_recursive = self.circuit.aig.equals_number(&mutex.kind, 1);
                let again = self.circuit.aig.and(mutex.is_mine, is_recursive);
                self.take(state, &mutex, again, mutex.is_free);
                self.acquire(state, &mutex.at, mutex.is_free);
                let is_taken = self.circuit.aig.or(again, mutex.is_free);
                self.assign_if_any(state, *to, &is_taken.into(), Type::BOOL);
                Gate { counts: !again, ..Gate::OPEN }
            }
            Action::Unlock { mutex, to } => {
                let mutex = self.mutex(state, mutex);
                self.effects.releases = self.release_at(&mutex.at);
                let me = self.me();
                let aig = &mut self.circuit.aig;
                let tells = aig.equals_number(&mutex.kind, 2);
                let is_good = aig.or(mutex.is_mine, tells);
                let one = Word::constant(16, 1);
                let is_taken_again = aig.less(&one, &mutex.count, false);
                let less = aig.subtract(&mutex.count, &one);
                let owner = aig.gate(is_taken_again, &me);
                let count = aig.gate(is_taken_again, &less);
                let counts = aig.and(mutex.is_mine, !is_taken_again);
                let fault =
                    Fault::new(ViolationKind::Assertion, "a mutex is released that is not held");
                self.fault(state, is_good, fault);
                self.release(state, &mutex.at, counts);
                self.write_mutex(state, &mutex, mutex.is_mine, &owner, &count);
                self.assign_if_any(state, *to, &(!mutex.is_mine).into(), Type::BOOL);
                Gate { counts, ..Gate::OPEN }
            }
            Action::ReadLock(lock) => {
                let (at, writer, readers) = self.rwlock(state, lock);
                let is_open = self.is_zero(&writer);
                let is_open = self.circuit.aig.or(is_open, !state.condition);
                self.read_lock(state, &at, &readers, Lit::TRUE);
                self.acquire(state, &at, Lit::TRUE);
                Gate::new(is_open)
            }
            Action::WriteLock(lock) => {
                let (at, writer, readers) = self.rwlock(state, lock);
                let is_open = self.is_zero(&writer.concat(&readers));
                let is_open = self.circuit.aig.or(is_open, !state.condition);
                self.write(state, &at, 0, &self.me());
                self.become_writer(state, &at, Lit::TRUE);
                Gate::new(is_open)
            }
            Action::TryReadLock(lock, to) => {
                let (at, writer, readers) = self.rwlock(state, lock);
                let is_free = self.is_zero(&writer);
                self.read_lock(state, &at, &readers, is_free);
                self.acquire(state, &at, is_free);
                self.assign_if_any(state, *to, &is_free.into(), Type::BOOL);
                Gate::OPEN
            }
            Action::TryWriteLock(lock, to) => {
                let (at, writer, readers) = self.rwlock(state, lock);
                let is_free = self.is_zero(&writer.concat(&readers));
                let me = self.me();
                let owner = self.circuit.aig.mux(is_free, &me, &writer);
                self.write(state, &at, 0, &owner);
                self.become_writer(state, &at, is_free);
                self.assign_if_any(state, *to, &is_free.into(), Type::BOOL);
                Gate::OPEN
            }
            Action::ReadWriteUnlock(lock) => self.read_write_unlock(state, lock),
            Action::NotifyOne(condvar) => self.notify_one(state, condvar),
            Action::NotifyAll(condvar) => {
                let at = self.condvar(state, condvar);
                let n_bytes = self.threads.len().div_ceil(8);
                self.write(state, &at, 0, &Word::constant(n_bytes * 8, 0));
                Gate::OPEN
            }
            Action::SemaphoreAcquire(semaphore) => {
                let (at, permits) = self.semaphore(state, semaphore);
                let is_open = !self.is_zero(&permits);
                let is_open = self.circuit.aig.or(is_open, !state.condition);
                let fewer = self.circuit.aig.subtract(&permits, &Word::constant(32, 1));
                self.write(state, &at, 0, &fewer);
                self.acquire(state, &at, Lit::TRUE);
                Gate::new(is_open)
            }
            Action::SemaphoreTryAcquire(semaphore, to) => {
                let (at, permits) = self.semaphore(state, semaphore);
                let is_free = !self.is_zero(&permits);
                let fewer = self.circuit.aig.subtract(&permits, &Word::constant(32, 1));
                let fewer = self.circuit.aig.mux(is_free, &fewer, &permits);
                self.write(state, &at, 0, &fewer);
                self.acquire(state, &at, is_free);
                self.assign_if_any(state, *to, &is_free.into(), Type::BOOL);
                Gate::OPEN
            }
            Action::SemaphoreRelease(semaphore) => {
                let (at, permits) = self.semaphore(state, semaphore);
                let more = self.circuit.aig.add(&permits, &Word::constant(32, 1));
                self.write(state, &at, 0, &more);
                self.release(state, &at, Lit::TRUE);
                Gate::OPEN
            }
            Action::SemaphoreValue(semaphore, to) => {
                let (_, permits) = self.semaphore(state, semaphore);
                self.assign(state, self.context, *to, &permits, false);
                Gate::OPEN
            }
            _ => {
                self.refuse("an action of a model", self.span);
                Gate::OPEN
            }
        }
    }

    /// The number of the thread in what it locks.
    fn me(&self) -> Word {
        Word::constant(8, self.thread as u64 + 1)
    }

    pub(super) fn is_zero(&mut self, word: &Word) -> Lit {
        !self.circuit.aig.is_nonzero(word)
    }

    fn mutex(&mut self, state: &mut State, place: &Place) -> Mutex {
        let n_touches = self.touches.len();
        let at = self.resolve(state, place, Sync::Mutex.bytes(), true);
        self.touches[n_touches..].iter_mut().for_each(|touch| touch.kind = TouchKind::Lock);
        self.check_life(state, &at, Sync::Mutex);
        self.monitor_use(state, &at);
        let owner = self.read(state, &at, 0, 1);
        let is_free = self.is_zero(&owner);
        let is_mine = self.circuit.aig.equal(&owner, &self.me());
        let (kind, count) = (self.read(state, &at, 1, 1), self.read(state, &at, 2, 2));
        Mutex { at, is_free, is_mine, kind, count }
    }

    /// The number of a mutex that can be nowhere else.
    fn lock_at(&mut self, at: &[Target]) -> Option<usize> {
        let [target] = at else { return None };
        let offset = target.offset.value()? as usize;
        let lock = (target.object, offset);
        let known = self.locks.iter().position(|&it| it == lock);
        Some(known.unwrap_or_else(|| {
            self.locks.push(lock);
            self.locks.len() - 1
        }))
    }

    /// The mutex that is given back there.
    fn release_at(&mut self, at: &[Target]) -> Release {
        self.lock_at(at).map_or(Release::Any, Release::One)
    }

    fn write_mutex(
        &mut self,
        state: &mut State,
        mutex: &Mutex,
        condition: Lit,
        owner: &Word,
        count: &Word,
    ) {
        let old = self.read(state, &mutex.at, 0, 1);
        let owner = self.circuit.aig.mux(condition, owner, &old);
        let count = self.circuit.aig.mux(condition, count, &mutex.count);
        self.write(state, &mutex.at, 0, &owner);
        self.write(state, &mutex.at, 2, &count);
    }

    /// Takes a mutex once more, or for the first time, or not at all.
    fn take(&mut self, state: &mut State, mutex: &Mutex, again: Lit, first: Lit) {
        let one = Word::constant(16, 1);
        let more = self.circuit.aig.add(&mutex.count, &one);
        let count = self.circuit.aig.mux(again, &more, &one);
        let is_taken = self.circuit.aig.or(again, first);
        self.write_mutex(state, mutex, is_taken, &self.me(), &count);
    }

    fn rwlock(&mut self, state: &mut State, place: &Place) -> (Vec<Target>, Word, Word) {
        let at = self.resolve(state, place, Sync::RwLock.bytes(), true);
        self.check_life(state, &at, Sync::RwLock);
        self.monitor_use(state, &at);
        let writer = self.read(state, &at, 0, 1);
        // Threads are few, and none reads more than seven times: a byte is enough.
        let readers = self.read(state, &at, 4, 1);
        (at, writer, readers)
    }

    /// The bytes with the three bits that say how often the thread reads, and where these are.
    fn own_reads(&self) -> (usize, usize, usize) {
        let bit = 3 * self.thread;
        let n_bytes = if bit % 8 > 5 { 2 } else { 1 };
        (8 + bit / 8, n_bytes, bit % 8)
    }

    /// A writer comes after all earlier holders, readers only after earlier writers.
    fn become_writer(&mut self, state: &mut State, at: &[Target], when: Lit) {
        self.acquire(state, at, when);
        self.acquire_from_readers(state, at, when);
    }

    fn read_lock(&mut self, state: &mut State, at: &[Target], readers: &Word, condition: Lit) {
        let (byte, n_bytes, bit) = self.own_reads();
        let word = self.read(state, at, byte, n_bytes);
        let own = word.slice(bit, 3);
        let is_full = self.circuit.aig.equals_number(&own, 7);
        let message = "a reader-writer lock is taken for reading more often than a thread may";
        let is_good = self.circuit.aig.implies(condition, !is_full);
        self.fault(state, is_good, Fault::new(ViolationKind::Assertion, message));
        let more = self.circuit.aig.add(&own, &Word::constant(3, 1));
        self.write_reads(state, at, (byte, bit, &word), &more, condition);
        let all = self.circuit.aig.add(readers, &Word::constant(8, 1));
        let all = self.circuit.aig.mux(condition, &all, readers);
        self.write(state, at, 4, &all);
    }

    fn write_reads(
        &mut self,
        state: &mut State,
        at: &[Target],
        (byte, bit, word): (usize, usize, &Word),
        own: &Word,
        condition: Lit,
    ) {
        let high = word.slice(bit + 3, word.width() - bit - 3);
        let new = word.truncate(bit).concat(own).concat(&high);
        let new = self.circuit.aig.mux(condition, &new, word);
        self.write(state, at, byte, &new);
    }

    fn read_write_unlock(&mut self, state: &mut State, lock: &Place) -> Gate {
        let (at, writer, readers) = self.rwlock(state, lock);
        let (byte, n_bytes, bit) = self.own_reads();
        let word = self.read(state, &at, byte, n_bytes);
        let own = word.slice(bit, 3);
        let is_writer = self.circuit.aig.equal(&writer, &self.me());
        let is_reader = self.circuit.aig.is_nonzero(&own);
        let is_held = self.circuit.aig.or(is_writer, is_reader);
        let message = "a reader-writer lock is released that is not held";
        self.fault(state, is_held, Fault::new(ViolationKind::Assertion, message));
        self.release(state, &at, is_writer);
        self.release_as_reader(state, &at, !is_writer);
        let writer = self.circuit.aig.gate(!is_writer, &writer);
        self.write(state, &at, 0, &writer);
        let fewer = self.circuit.aig.subtract(&own, &Word::constant(3, 1));
        self.write_reads(state, &at, (byte, bit, &word), &fewer, !is_writer);
        let all = self.circuit.aig.subtract(&readers, &Word::constant(8, 1));
        let all = self.circuit.aig.mux(is_writer, &readers, &all);
        self.write(state, &at, 4, &all);
        Gate { counts: is_held, ..Gate::OPEN }
    }

    fn semaphore(&mut self, state: &mut State, place: &Place) -> (Vec<Target>, Word) {
        let at = self.resolve(state, place, Sync::Semaphore.bytes(), true);
        self.check_life(state, &at, Sync::Semaphore);
        self.monitor_use(state, &at);
        let permits = self.read(state, &at, 0, 4);
        (at, permits)
    }

    fn condvar(&mut self, state: &mut State, place: &Place) -> Vec<Target> {
        let at = self.resolve(state, place, Sync::Condvar.bytes(), true);
        self.check_life(state, &at, Sync::Condvar);
        self.monitor_use(state, &at);
        at
    }

    /// The bit of every thread that sleeps.
    pub(super) fn sleepers(&mut self, state: &State, at: &[Target]) -> Word {
        self.read(state, at, 0, self.threads.len().div_ceil(8))
    }

    fn wait(&mut self, state: &mut State, condvar: &Place, mutex: &Place) -> Gate {
        let mutex = self.mutex(state, mutex);
        self.effects.releases = self.release_at(&mutex.at);
        let at = self.condvar(state, condvar);
        let fault = Fault::new(ViolationKind::Assertion, "a mutex is given to a wait, unheld");
        self.fault(state, mutex.is_mine, fault);
        self.release(state, &mutex.at, Lit::TRUE);
        let zero = Word::constant(16, 0);
        self.write_mutex(state, &mutex, Lit::TRUE, &Word::constant(8, 0), &zero);
        let mut bits = self.sleepers(state, &at).bits().to_vec();
        bits[self.thread] = Lit::TRUE;
        self.write(state, &at, 0, &bits.into());
        Gate { counts: mutex.is_mine, ..Gate::OPEN }
    }

    fn reacquire(&mut self, state: &mut State, condvar: &Place, mutex: &Place) -> Gate {
        let mutex = self.mutex(state, mutex);
        self.effects.acquires = self.lock_at(&mutex.at);
        let at = self.resolve(state, condvar, Sync::Condvar.bytes(), false);
        let is_there = state.condition;
        let sleeps = self.sleepers(state, &at).bits()[self.thread];
        self.take(state, &mutex, Lit::FALSE, Lit::TRUE);
        self.acquire(state, &mutex.at, Lit::TRUE);
        let is_open = self.circuit.aig.and(mutex.is_free, !sleeps);
        Gate::new(self.circuit.aig.or(is_open, !is_there))
    }

    fn notify_one(&mut self, state: &mut State, condvar: &Place) -> Gate {
        let at = self.condvar(state, condvar);
        let n_threads = self.threads.len();
        let word = self.sleepers(state, &at);
        let sleepers = word.bits()[..n_threads].to_vec();
        let wish = self.free_word((usize::BITS - n_threads.leading_zeros()) as usize);
        let wishes = self.circuit.aig.decode(&wish, n_threads);
        let aig = &mut self.circuit.aig;
        let granted: Vec<Lit> =
            wishes.iter().zip(&sleepers).map(|(&wish, &it)| aig.and(wish, it)).collect();
        let is_granted = aig.any(granted.iter().copied());
        // A wish for one that does not sleep is one for the first that does.
        let mut is_first = !is_granted;
        let woken: Vec<Lit> = sleepers
            .iter()
            .zip(granted)
            .map(|(&sleeper, granted)| {
                let first = aig.and(is_first, sleeper);
                is_first = aig.and(is_first, !sleeper);
                aig.or(granted, first)
            })
            .collect();
        let mut bits = word.bits().to_vec();
        for (bit, &woken) in bits.iter_mut().zip(&woken) {
            *bit = aig.and(*bit, !woken);
        }
        self.write(state, &at, 0, &bits.into());
        Gate { choice: Choice::Woken { sleepers, woken }, ..Gate::OPEN }
    }

    /// The parties of a barrier, how many of them have arrived, and which round it is.
    fn barrier(&mut self, state: &mut State, place: &Place) -> (Vec<Target>, Word, Word, Word) {
        let at = self.resolve(state, place, Sync::Barrier.bytes(), true);
        let parties = self.read(state, &at, 0, 4);
        let (arrived, round) = (self.read(state, &at, 4, 2), self.read(state, &at, 6, 2));
        (at, parties, arrived, round)
    }

    fn arrive(&mut self, state: &mut State, barrier: &Place, to: Option<RegisterId>) {
        let (at, parties, arrived, round) = self.barrier(state, barrier);
        self.check_life(state, &at, Sync::Barrier);
        self.monitor_use(state, &at);
        let is_some = self.circuit.aig.is_nonzero(&parties);
        let message = "a barrier is used that was never initialised";
        self.fault(state, is_some, Fault::new(ViolationKind::Memory, message));
        let one = Word::constant(16, 1);
        let aig = &mut self.circuit.aig;
        let now = aig.add(&arrived, &one);
        let is_last = aig.equal(&now.resize(32, false), &parties);
        let arrived = aig.gate(!is_last, &now);
        let next = aig.add(&round, &one);
        let next = aig.mux(is_last, &next, &round);
        state.set(self.rounds[self.thread], round);
        self.monitor_arrive(state, &at, is_last);
        self.write(state, &at, 4, &arrived);
        self.write(state, &at, 6, &next);
        self.assign_if_any(state, to, &is_last.into(), Type::BOOL);
    }

    fn leave(&mut self, state: &mut State, barrier: &Place) -> Gate {
        let (at, _, _, round) = self.barrier(state, barrier);
        self.monitor_use_of_mortal(state, &at);
        self.monitor_leave(state);
        let own = state.get(&self.variables, self.rounds[self.thread]);
        let is_same = self.circuit.aig.equal(&round, &own);
        state.set(self.rounds[self.thread], Word::constant(16, 0));
        Gate::new(self.circuit.aig.or(!is_same, !state.condition))
    }
}
