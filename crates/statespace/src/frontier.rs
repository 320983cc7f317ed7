//! Breadth-first and parallel search: workers that share the store and the frontier.
//!
//! What is left to do is batches of states. A worker takes one, makes all moves from its states,
//! and gives away what was not known before. Breadth first, no worker begins with the next level
//! before all are done with this one.
//!
//! Of every state it is kept who discovered it, so that there is a way to what is wrong.

use crate::ample::Plan;
use crate::inner::{Inner, TRANSIENT, arrival};
use crate::options::{Options, Order, Reduction};
use crate::saved::{Form, Reader, Writer};
use crate::search_limits::{Counted, Ended, Path, Watch};
use crate::store::{Chunked, Key, Seen, Session, Store};
use crate::transitions::{Successor, Transitions};
use crate::witness::Witnesses;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// How many states there are in a batch.
const BATCH: usize = 256;

/// How many, while a worker waits for one.
const HANDFUL: usize = 16;

/// How often a worker without work looks whether there is some before it falls asleep. That takes
/// some ten microseconds, and so does waking a worker.
const LOOKS: u32 = 1000;

/// What the workers share.
pub(crate) struct Frontier<'a, S> {
    options: &'a Options,
    store: &'a S,
    watch: Watch<'a>,
    todo: Mutex<Todo>,
    /// Something is there to do, or nothing will be any more.
    changed: Condvar,
    /// How often that has changed.
    n_changes: AtomicU64,
    /// By number of a state, the number of its discoverer and the move that led to it.
    origins: Chunked<AtomicU64>,
    /// Which of the states that this move leads to it is, where there are states between that are
    /// not stored.
    ordinals: Chunked<AtomicU32>,
    /// Why it is right to leave out moves of a state, if any are left out.
    witnesses: Option<Witnesses>,
    n_states: AtomicU64,
    n_waiting: AtomicU32,
    is_over: AtomicBool,
    /// What all workers together have counted before this run.
    counted: Option<Counted>,
}

/// What is left to do.
#[derive(Default)]
struct Todo {
    batches: Vec<Batch>,
    /// Those of the next level.
    next: Vec<Batch>,
    /// How many levels were finished.
    level: u64,
    /// How many workers are busy.
    n_busy: usize,
    /// What is wrong and nearest, as far as it is known.
    found: Option<Wrong>,
    ended: Option<Ended>,
}

/// Something that is wrong.
struct Wrong {
    /// How many stored states away it is.
    len: u64,
    /// The last stored state on the way.
    number: u32,
    /// The moves after that.
    rest: Path,
}

/// Some states, with their numbers.
#[derive(Default)]
struct Batch {
    numbers: Vec<u32>,
    /// Where each ends.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Form for Wrong {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(self.len)?;
        out.word(u64::from(self.number))?;
        self.rest.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { len: from.word()?, number: from.word()? as u32, rest: Path::load(from)? })
    }
}

impl Form for Batch {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.numbers.save(out)?;
        out.all(&self.ends, |&end, out| out.len(end))?;
        out.text(&self.bytes)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { numbers: Path::load(from)?, ends: from.all(Reader::len)?, bytes: from.text()? })
    }
}

impl Batch {
    /// The states from one on.
    fn rest(&self, first: usize) -> Self {
        let mut rest = Self::default();
        for idx in first..self.len() {
            let (number, state) = self.get(idx);
            rest.push(number, state);
        }
        rest
    }

    fn push(&mut self, number: u32, state: &[u8]) {
        self.numbers.push(number);
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, idx: usize) -> (u32, &[u8]) {
        let start = if idx == 0 { 0 } else { self.ends[idx - 1] };
        (self.numbers[idx], &self.bytes[start..self.ends[idx]])
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.bytes.clear();
    }
}

/// What a search by many came to.
pub(crate) struct Searched {
    pub(crate) counted: Counted,
    pub(crate) found: Option<Path>,
    pub(crate) ended: Ended,
}

impl<'a, S: Store> Frontier<'a, S> {
    /// A search whose store is empty; `watch` is what it is to stop for.
    pub(crate) fn new(options: &'a Options, store: &'a S, watch: Watch<'a>) -> Self {
        Self {
            options,
            store,
            watch,
            todo: Mutex::default(),
            changed: Condvar::new(),
            n_changes: AtomicU64::new(0),
            origins: Chunked::new(),
            ordinals: Chunked::new(),
            witnesses: (options.reduction != Reduction::None).then(Witnesses::new),
            n_states: AtomicU64::new(0),
            n_waiting: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
            counted: None,
        }
    }

    /// What it is to stop for.
    pub(crate) fn watch(&mut self) -> &mut Watch<'a> {
        &mut self.watch
    }

    /// Writes how far a search is that has come to a limit or pauses, without the states.
    pub(crate) fn save(&self, out: &mut Writer) -> io::Result<()> {
        let todo = self.lock();
        out.all(&todo.batches, Batch::save)?;
        out.all(&todo.next, Batch::save)?;
        out.word(todo.level)?;
        todo.found.save(out)?;
        self.origins.save(out)?;
        self.ordinals.save(out)?;
        self.witnesses.save(out)?;
        out.word(self.n_states.load(Ordering::Relaxed))?;
        self.counted.save(out)
    }

    /// Goes back to where a search was whose states are stored.
    pub(crate) fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        let todo = self.todo.get_mut().expect("the lock is not poisoned");
        todo.batches = from.all(Batch::load)?;
        todo.next = from.all(Batch::load)?;
        todo.level = from.word()?;
        todo.found = Option::<Wrong>::load(from)?;
        self.origins = Chunked::load(from)?;
        self.ordinals = Chunked::load(from)?;
        self.witnesses = Option::<Witnesses>::load(from)?;
        *self.n_states.get_mut() = from.word()?;
        self.counted = Option::<Counted>::load(from)?;
        Ok(())
    }

    /// Searches, from the beginning or from where it was; says how it has ended.
    pub(crate) fn run<T: Transitions>(&mut self, program: &T) -> Ended {
        let mut counted = self.counted.take().unwrap_or_else(|| {
            self.begin(program.clone());
            let mut counted = Counted::new(program.n_edges());
            counted.states += 1;
            counted
        });
        *self.is_over.get_mut() = false;
        std::thread::scope(|scope| {
            let frontier = &*self;
            let work = || Worker::new(program.clone(), frontier).run();
            // The first worker is this thread.
            let others: Vec<_> = (1..frontier.options.jobs).map(|_| scope.spawn(work)).collect();
            counted.add(&work());
            for other in others {
                counted.add(&other.join().expect("a worker does not panic"));
            }
        });
        self.counted = Some(counted);
        self.lock().ended.take().unwrap_or(Ended::Done)
    }

    /// What it has counted and found.
    pub(crate) fn into_searched(mut self, program: &impl Transitions, ended: Ended) -> Searched {
        let mut counted = self.counted.take().unwrap_or_default();
        let mut todo = self.lock();
        counted.max_depth = counted.max_depth.max(todo.level);
        let found = todo.found.take().filter(|_| !program.is_lost());
        drop(todo);
        let found = found.map(|Wrong { number, rest, .. }| {
            let mut path = self.way(&mut program.clone(), number);
            path.extend(rest);
            path
        });
        Searched { counted, found, ended }
    }

    fn begin(&self, mut program: impl Transitions) {
        let mut state = Vec::new();
        program.initial(&mut state);
        let Seen::New(number) = self.store.session().insert(&state) else {
            unreachable!("the first state is new");
        };
        self.origins.make(number as usize).store(u64::MAX, Ordering::Relaxed);
        self.n_states.store(1, Ordering::Relaxed);
        let mut batch = Batch::default();
        batch.push(number, &state);
        self.lock().batches.push(batch);
    }

    fn lock(&self) -> MutexGuard<'_, Todo> {
        self.todo.lock().expect("the lock is not poisoned")
    }

    /// Gives a batch away.
    fn give(&self, batch: Batch) {
        let mut todo = self.lock();
        match self.options.order {
            Order::BreadthFirst => todo.next.push(batch),
            Order::DepthFirst => {
                todo.batches.push(batch);
                self.n_changes.fetch_add(1, Ordering::Relaxed);
                // A worker that sleeps was counted under the lock that is held here.
                if self.n_waiting.load(Ordering::Relaxed) > 0 {
                    self.changed.notify_one();
                }
            }
        }
    }

    /// Takes a batch, or waits for one; `None` at the end of the search. The worker is not busy
    /// now.
    fn take(&self) -> Option<Batch> {
        let mut todo = self.lock();
        loop {
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(batch) = todo.batches.pop() {
                todo.n_busy += 1;
                return Some(batch);
            }
            if todo.n_busy == 0 {
                if todo.next.is_empty() || todo.found.is_some() && !self.options.all_violations {
                    self.finish();
                    return None;
                }
                todo.level += 1;
                todo.batches = std::mem::take(&mut todo.next);
                self.tell();
                continue;
            }
            self.n_waiting.fetch_add(1, Ordering::Relaxed);
            let n_changes = self.n_changes.load(Ordering::Relaxed);
            drop(todo);
            self.look_out(n_changes);
            todo = self.lock();
            if self.n_changes.load(Ordering::Relaxed) == n_changes {
                todo = self.changed.wait(todo).expect("the lock is not poisoned");
            }
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Waits for a change, for as long as it would take to fall asleep and to be woken.
    fn look_out(&self, n_changes: u64) {
        for _ in 0..LOOKS {
            if self.n_changes.load(Ordering::Relaxed) != n_changes {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// There is something to do for all, or nothing any more.
    fn tell(&self) {
        self.n_changes.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// A worker is done with what it took.
    fn rest(&self) {
        let mut todo = self.lock();
        todo.n_busy -= 1;
        if todo.n_busy == 0 {
            self.tell();
        }
    }

    fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.tell();
    }

    fn stop(&self, ended: Ended) {
        let mut todo = self.lock();
        // The first reason counts, unless something was left out for good.
        if todo.ended.is_none() || matches!(ended, Ended::Cut(_)) {
            todo.ended = Some(ended);
        }
        drop(todo);
        self.finish();
    }

    /// Takes back what a worker has not come to.
    fn take_back(&self, rest: Batch) {
        if rest.len() > 0 {
            self.lock().batches.push(rest);
        }
    }

    /// A state with a discoverer.
    fn discover(&self, number: u32, by: u32, first: u32, ordinal: u32) {
        let number = number as usize;
        self.origins.make(number).store(u64::from(by) << 32 | u64::from(first), Ordering::Relaxed);
        if ordinal > 0 {
            self.ordinals.make(number).store(ordinal, Ordering::Relaxed);
        }
    }

    /// How the states up to one with this number were discovered, the last one first.
    fn discoveries(&self, number: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut at = number as usize;
        std::iter::from_fn(move || {
            let origin = self.origins.at(at).load(Ordering::Relaxed);
            if origin == u64::MAX {
                return None;
            }
            let ordinal = self.ordinals.get(at).map_or(0, |it| it.load(Ordering::Relaxed));
            at = (origin >> 32) as usize;
            Some((origin as u32, ordinal))
        })
    }

    /// The way from the initial state to one with this number.
    fn way(&self, program: &mut impl Transitions, number: u32) -> Path {
        let mut discoveries: Vec<_> = self.discoveries(number).collect();
        discoveries.reverse();
        let mut state = Vec::new();
        program.initial(&mut state);
        let mut path = Path::new();
        for (first, ordinal) in discoveries {
            state = arrival(program, state, first, ordinal, &mut path);
        }
        path
    }
}

/// One of those who search.
struct Worker<'a, T, S: Store + 'a> {
    program: T,
    frontier: &'a Frontier<'a, S>,
    session: S::Session<'a>,
    /// Whether moves are told set by set.
    tells_sets: bool,
    here: Ahead<Key<'a, S>>,
    /// The same for the state after it: memory is under way while the one at hand is worked on.
    next: Ahead<Key<'a, S>>,
    /// What successors are found by, without those that are not stored.
    stored: Vec<Key<'a, S>>,
    /// The moves of the state at hand that are taken next.
    chosen: Vec<u32>,
    /// The states that these led to and that were known before, if their numbers are.
    old: Vec<u32>,
    /// States that were discovered and are not counted yet.
    n_new: u64,
    /// What is to be given away.
    out: Batch,
    /// A batch that is done, for its memory.
    spare: Option<Batch>,
    counted: Counted,
}

/// A state, as far as it is known before it is visited.
struct Ahead<K> {
    /// Its moves, or those of one set.
    inner: Inner,
    /// By the place of one of these moves, what its successor is found by.
    keys: Vec<Option<K>>,
    plan: Plan,
}

impl<K> Default for Ahead<K> {
    fn default() -> Self {
        Self { inner: Inner::default(), keys: Vec::new(), plan: Plan::all() }
    }
}

impl<'a, T: Transitions, S: Store> Worker<'a, T, S> {
    fn new(program: T, frontier: &'a Frontier<'a, S>) -> Self {
        let counted = Counted::new(program.n_edges());
        let mut session = frontier.store.session();
        session.close();
        let reduces = frontier.options.reduction != Reduction::None;
        Self {
            tells_sets: reduces && program.tells_sets(),
            program,
            frontier,
            session,
            here: Ahead::default(),
            next: Ahead::default(),
            stored: Vec::new(),
            chosen: Vec::new(),
            old: Vec::new(),
            n_new: 0,
            out: Batch::default(),
            spare: None,
            counted,
        }
    }

    fn run(mut self) -> Counted {
        while let Some(batch) = self.frontier.take() {
            self.session.open();
            self.look_ahead(batch.get(0).1);
            for idx in 0..batch.len() {
                std::mem::swap(&mut self.here, &mut self.next);
                if idx + 1 < batch.len() {
                    self.look_ahead(batch.get(idx + 1).1);
                }
                if self.program.is_lost() {
                    self.frontier.finish();
                }
                if self.frontier.is_over.load(Ordering::Relaxed) {
                    self.frontier.take_back(batch.rest(idx));
                    break;
                }
                let (number, state) = batch.get(idx);
                self.visit(number, state);
            }
            self.session.close();
            self.look_at_limits(batch.len());
            if self.out.len() > 0 {
                self.give();
            }
            self.spare = Some(batch);
            self.frontier.rest();
        }
        self.counted
    }

    fn look_at_limits(&mut self, visited: usize) {
        let frontier = self.frontier;
        debug_assert!(visited <= BATCH);
        let witnesses = || frontier.witnesses.as_ref().map_or(0, Witnesses::bytes);
        let bytes = || frontier.store.bytes() + frontier.origins.bytes() + witnesses();
        let n_new = std::mem::take(&mut self.n_new);
        let n_states = frontier.n_states.fetch_add(n_new, Ordering::Relaxed) + n_new;
        if let Some(ended) = frontier.watch.ended(n_states, bytes) {
            frontier.stop(ended);
        }
    }

    /// Makes the moves from the state at hand, which are known.
    fn visit(&mut self, number: u32, state: &[u8]) {
        if self.here.inner.moves().is_empty() {
            self.counted.ends += 1;
            self.fill(number);
            if self.frontier.options.ends && !self.program.is_valid_end(state) {
                self.wrong(number, Path::new());
            }
            return;
        }
        let mut plan = self.here.plan;
        let mut chosen = std::mem::take(&mut self.chosen);
        while !plan.is_done() {
            if self.tells_sets && plan.next_set() > 0 {
                self.look_again(state, plan.next_set());
            }
            if self.program.is_lost() {
                break;
            }
            let moves = self.here.inner.moves();
            match self.tells_sets {
                true => plan.choose_told(moves, &mut chosen),
                false => plan.choose(moves, &mut chosen),
            }
            if plan.is_done() {
                // Nothing is left out.
                self.fill(number);
            }
            self.old.clear();
            let mut is_new = false;
            for &first in &chosen {
                self.here.inner.begin(first as usize);
                is_new |= self.follow(number, state);
            }
            let is_left = !plan.is_done();
            if is_new || is_left && self.finds_witness(number) {
                plan.satisfy();
            }
        }
        self.chosen = chosen;
    }

    /// All moves of a state are taken.
    fn fill(&self, number: u32) {
        self.frontier.witnesses.iter().for_each(|it| it.fill(number));
    }

    /// Whether something that the last set led to stands for what it leaves out.
    fn finds_witness(&self, number: u32) -> bool {
        let witnesses = self.frontier.witnesses.as_ref();
        witnesses.is_some_and(|it| !self.old.is_empty() && it.find(number, &self.old))
    }

    /// Finds out what the successors of the next state are and what they are found by, and gets
    /// memory under way. If moves are told set by set, these are the successors by the first one.
    fn look_ahead(&mut self, state: &[u8]) {
        let Ahead { inner, plan, .. } = &mut self.next;
        *plan = match self.tells_sets {
            true => Plan::of_sets(inner.expand_set(&mut self.program, state, 0)),
            false => {
                inner.expand(&mut self.program, state);
                Plan::new(self.frontier.options.reduction, inner.moves())
            }
        };
        if !inner.moves().is_empty() && !self.program.is_lost() {
            find_keys(&mut self.session, state, &mut self.next, &mut self.stored);
        }
    }

    /// The same for another set of the state at hand.
    fn look_again(&mut self, state: &[u8], set: u32) {
        self.here.inner.expand_set(&mut self.program, state, set);
        if !self.program.is_lost() {
            find_keys(&mut self.session, state, &mut self.here, &mut self.stored);
        }
    }

    /// Makes one move and those that follow it without a state in between that is stored. Returns
    /// whether one of them led to a state that was not known.
    fn follow(&mut self, number: u32, state: &[u8]) -> bool {
        let mut ordinal = 0;
        let mut is_new = false;
        loop {
            let (moves, idx) = self.here.inner.here();
            self.counted.take(moves, idx);
            if moves[idx].fault.is_some() {
                self.fault(number, state);
            }
            let (moves, idx) = self.here.inner.here();
            match moves[idx].successor {
                Successor::Stored => {
                    is_new |= self.arrive(number, ordinal);
                    ordinal += 1;
                }
                Successor::Transient if self.here.inner.depth == TRANSIENT => {
                    self.frontier.stop(Ended::Cut(TRANSIENT));
                    return is_new;
                }
                Successor::Transient | Successor::None => {}
            }
            if !self.here.inner.go_on(&mut self.program) {
                return is_new;
            }
        }
    }

    /// Arrives at a state that is to be stored; returns whether it is new.
    fn arrive(&mut self, by: u32, ordinal: u32) -> bool {
        let (moves, idx) = self.here.inner.here();
        let state = moves.state(idx);
        let known = if self.here.inner.depth == 0 { self.here.keys[idx] } else { None };
        let seen = self.session.growing(|session| {
            let key = known.map_or_else(|| session.key(state), Ok)?;
            session.try_insert(key, state)
        });
        let number = match seen {
            Seen::New(number) => number,
            Seen::Old(number) => {
                self.counted.matched += 1;
                self.old.extend(number);
                return false;
            }
        };
        self.counted.states += 1;
        self.n_new += 1;
        self.frontier.discover(number, by, self.here.inner.first(), ordinal);
        self.frontier.witnesses.iter().for_each(|it| it.discover(by, number));
        self.out.push(number, state);
        let is_wanted = self.frontier.n_waiting.load(Ordering::Relaxed) > 0;
        if self.out.len() >= if is_wanted { HANDFUL } else { BATCH } {
            self.give();
        }
        true
    }

    /// Gives away what was discovered.
    fn give(&mut self) {
        let mut empty = self.spare.take().unwrap_or_default();
        empty.clear();
        self.frontier.give(std::mem::replace(&mut self.out, empty));
    }

    /// The move at hand has a fault.
    fn fault(&mut self, number: u32, state: &[u8]) {
        let (moves, idx) = self.here.inner.here();
        let made = moves[idx];
        let fault = made.fault.expect("that is why it is looked at");
        let before = match self.here.inner.depth {
            0 => state,
            depth => {
                let (moves, idx) = &self.here.inner.levels[depth - 1];
                moves.state(*idx)
            }
        };
        let kind = self.program.violation(before, made.step, fault).kind;
        if !self.frontier.options.ignored.contains(&kind) {
            let mut rest = Path::new();
            self.here.inner.extend(&mut rest);
            self.wrong(number, rest);
        }
    }

    /// Something is wrong after some moves from the state with this number.
    fn wrong(&mut self, number: u32, rest: Path) {
        self.counted.violations += 1;
        let (frontier, options) = (self.frontier, self.frontier.options);
        let len = frontier.discoveries(number).count() as u64 + u64::from(!rest.is_empty());
        let mut todo = frontier.lock();
        if todo.found.as_ref().is_none_or(|found| len < found.len) {
            todo.found = Some(Wrong { len, number, rest });
        }
        if options.order == Order::DepthFirst && !options.all_violations {
            frontier.finish();
        }
    }
}

/// Finds out what the successors of a state are found by.
fn find_keys<S: Session>(
    session: &mut S,
    state: &[u8],
    ahead: &mut Ahead<S::Key>,
    found: &mut Vec<S::Key>,
) {
    let moves = ahead.inner.moves();
    let stored = (0..moves.len()).filter(|&idx| moves[idx].successor == Successor::Stored);
    let states = stored.clone().map(|idx| moves.state(idx));
    session.growing(|session| {
        session.near(state)?;
        session.keys(states.clone(), found)
    });
    ahead.keys.clear();
    ahead.keys.resize(moves.len(), None);
    for (idx, &key) in stored.zip(&*found) {
        ahead.keys[idx] = Some(key);
    }
}
