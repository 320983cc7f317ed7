//! The race monitor: one access is watched, and the circuit knows who knows of it.
//!
//! Where every atomic access acquires and releases, two conflicting accesses that happens-before
//! does not order can be made neighbours, and [`Encoder::races`] looks for those. Weaker accesses
//! let a thread see what another one has written without an order between the two, and so do a
//! `trylock` that fails, the value of a semaphore, and a signal: such a race is never a pair of
//! neighbours, and happens-before itself is needed.
//!
//! Implements the vector clocks of Flanagan and Freund, *FastTrack: Efficient and Precise Dynamic
//! Race Detection* (PLDI 2009), as `explore::DataRaces` has them for C11, projected onto one
//! access: a clock is one bit, which says whether it contains that access. Which access it is, is
//! guessed when it is made, by [`Monitor::choice`], at most once in an execution. A conflicting
//! access by a thread whose clock does not contain it is a race; its own thread's clock always
//! does.
//!
//! | `explore::DataRaces`              | here                                                  |
//! |-----------------------------------|-------------------------------------------------------|
//! | a moment, and its memory          | [`Monitor::watched`]: what the number of it says      |
//! | `Table::Clock`                    | [`Monitor::clocks`]                                   |
//! | `Table::Fenced`, `Table::Pending` | [`Monitor::fenced`], [`Monitor::pending`]             |
//! | `Table::Released`, `ReadReleased` | [`Monitor::released`], [`Monitor::read_released`]     |
//! | the snapshots of a barrier        | [`Round`]: given to all of a round when it is complete |
//!
//! Nothing is lost: of two accesses that race, the earlier one can be the guess. Nothing is
//! invented: each bit is what the vector clocks say. All bits are 0 before the access, so a program
//! has as many states more as there are accesses to watch, and no state more before them.
//!
//! Bytes that no two threads can race for are not watched: those that are only read, that only
//! atomic operations access, or whose accesses locks, starts and joins keep apart
//! ([`undisturbed`]). Bytes that are always accessed together are watched as one.

use super::interference::{Touches, undisturbed};
use super::memory::{Cell, ObjectId, ObjectKind, Target};
use super::state::{State, VarId};
use super::{Encoder, StepId, bits_for};
use crate::{Lit, Word};
use mazurka_core::MemoryOrder;
use mazurka_model::Access;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Something in memory that threads synchronise by: where it begins.
type Spot = (ObjectId, usize);

/// How memory is accessed: whether it is written, and whether by an atomic operation or within an
/// atomic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_write: bool,
    is_atomic: bool,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self { is_write: false, is_atomic: false },
        Self { is_write: true, is_atomic: false },
        Self { is_write: false, is_atomic: true },
        Self { is_write: true, is_atomic: true },
    ];

    fn idx(self) -> usize {
        2 * usize::from(self.is_atomic) + usize::from(self.is_write)
    }

    /// Whether accesses of both kinds race if nothing orders them.
    fn conflicts(self, other: Self) -> bool {
        (self.is_write || other.is_write) && !(self.is_atomic && other.is_atomic)
    }
}

/// An access that a step may make.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Noted {
    step: StepId,
    bytes: (usize, usize),
    kind: Kind,
}

/// What a circuit does that matters to data races, found by making it.
#[derive(Debug, Default)]
pub(super) struct Sights {
    accesses: BTreeMap<ObjectId, BTreeSet<Noted>>,
    /// The steps with an access that orders less than an acquire and a release.
    weak: BTreeSet<StepId>,
    released: BTreeSet<Spot>,
    read_released: BTreeSet<Spot>,
    barriers: BTreeSet<Spot>,
    /// The threads with an acquire fence.
    fences: BTreeSet<usize>,
}

/// What is to be watched.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// For each byte and each kind of access, the number of that in [`Monitor::watched`]; 0 if it
    /// is not watched.
    numbers: BTreeMap<(ObjectId, usize), [u64; 4]>,
    n_numbers: usize,
    released: BTreeSet<Spot>,
    read_released: BTreeSet<Spot>,
    barriers: BTreeSet<Spot>,
    fences: BTreeSet<usize>,
}

/// The variables of the race monitor.
#[derive(Debug)]
pub(super) struct Monitor {
    numbers: BTreeMap<(ObjectId, usize), [u64; 4]>,
    /// The number of the access to watch, if that is made in this step. An input.
    choice: Word,
    /// The number of the access that is watched; 0 before it.
    watched: VarId,
    /// For each thread, whether it knows of the access.
    clocks: Vec<VarId>,
    /// For each thread, whether it knew of the access at its last release fence.
    fenced: Vec<VarId>,
    /// For each thread that has an acquire fence, whether its next one learns of the access.
    pending: BTreeMap<usize, VarId>,
    /// For each thread at a barrier, whether it learns of the access when it leaves.
    due: Vec<VarId>,
    /// Whether an acquire there learns of the access.
    released: BTreeMap<Spot, VarId>,
    /// Whether a writer learns of it from the readers before.
    read_released: BTreeMap<Spot, VarId>,
    rounds: BTreeMap<Spot, Round>,
    /// Whether an atomic block learns of it.
    blocks: VarId,
}

/// The round of a barrier that is not complete.
#[derive(Clone, Debug)]
struct Round {
    /// Whether one that has arrived knows of the access.
    known: VarId,
    /// For each thread, whether it has arrived.
    members: Vec<VarId>,
}

impl Encoder<'_> {
    /// What is to be watched, if neighbours are not enough. The circuit has every stop there is.
    pub(super) fn to_watch(&self) -> Option<Watch> {
        let tells = self.known.program.tells_without_order();
        if !self.options.races || self.sights.weak.is_empty() && !tells {
            return None;
        }
        let touches: Vec<Touches> = self.parts.iter().map(Touches::of).collect();
        let undisturbed = undisturbed(self, &touches);
        // What locks, starts and joins keep apart, they also order.
        if self.sights.weak.is_subset(&undisturbed) && !tells {
            return None;
        }
        let sights = &self.sights;
        let mut watch = Watch {
            released: sights.released.clone(),
            read_released: sights.read_released.clone(),
            barriers: sights.barriers.clone(),
            fences: sights.fences.clone(),
            ..Watch::default()
        };
        for (&object, accesses) in &sights.accesses {
            let mut known = BTreeSet::new();
            for byte in 0..self.objects[object].bytes.len() {
                let here = |it: &&Noted| {
                    (it.bytes.0..it.bytes.1).contains(&byte) && !undisturbed.contains(&it.step)
                };
                let here: Vec<&Noted> = accesses.iter().filter(here).collect();
                if known.insert(here.clone()) {
                    watch.add((object, byte), &here);
                }
            }
        }
        Some(watch)
    }

    /// Makes the variables of the monitor, behind all others.
    pub(super) fn declare_monitor(&mut self) {
        let Some(watch) = self.plan.watch.clone().filter(|watch| watch.n_numbers > 0) else {
            return;
        };
        let width = bits_for(watch.n_numbers + 1);
        let choice = (0..width).map(|bit| self.circuit.input(format!("race.choice.{bit}")));
        let choice = Word::from(choice.collect::<Vec<_>>());
        let watched = self.variable("race.watched".to_owned(), width, 0);
        let n_threads = self.threads.len();
        let mut of_thread =
            |what: &str, number: usize| self.variable(format!("race.{what} {number}"), 1, 0);
        let clocks = (0..n_threads).map(|it| of_thread("clock", it)).collect();
        let fenced = (0..n_threads).map(|it| of_thread("fenced", it)).collect();
        let due = (0..n_threads).map(|it| of_thread("due", it)).collect();
        let pending = watch.fences.iter().map(|&it| (it, of_thread("pending", it))).collect();
        let blocks = self.variable("race.blocks".to_owned(), 1, 0);
        let released = self.declare_spots("released", &watch.released);
        let read_released = self.declare_spots("read released", &watch.read_released);
        let mut rounds = self.declare_spots("round", &watch.barriers);
        let rounds = watch.barriers.iter().map(|spot| {
            let members = (0..n_threads).map(|it| {
                let name = format!("race.at {}[{}] {it}", self.objects[spot.0].name, spot.1);
                self.variable(name, 1, 0)
            });
            let members = members.collect();
            let known = rounds.remove(spot).expect("all were declared");
            (*spot, Round { known, members })
        });
        let rounds = rounds.collect();
        let numbers = watch.numbers;
        self.monitor = Some(Monitor {
            numbers,
            choice,
            watched,
            clocks,
            fenced,
            pending,
            due,
            released,
            read_released,
            rounds,
            blocks,
        });
    }

    fn declare_spots(&mut self, what: &str, spots: &BTreeSet<Spot>) -> BTreeMap<Spot, VarId> {
        let spots = spots.iter().map(|&(object, byte)| {
            let name = format!("race.{what} {}[{byte}]", self.objects[object].name);
            ((object, byte), self.variable(name, 1, 0))
        });
        spots.collect()
    }

    /// A load of memory.
    pub(super) fn monitor_load(&mut self, state: &mut State, at: &[Target], access: Access) {
        match access {
            Access::Private => {}
            Access::Plain => self.monitor_plain(state, at, false),
            Access::Atomic(_) | Access::Volatile => {
                let order = access.order().expect("it is an operation");
                self.note_weak(state, at, order.acquires());
                self.read_from(state, at, order.acquires().into());
                self.access_atomically(state, at, false, Lit::TRUE);
            }
        }
    }

    /// A store to memory.
    pub(super) fn monitor_store(&mut self, state: &mut State, at: &[Target], access: Access) {
        match access {
            Access::Private => {}
            Access::Plain => self.monitor_plain(state, at, true),
            Access::Atomic(_) | Access::Volatile => {
                let order = access.order().expect("it is an operation");
                self.note_weak(state, at, order.releases());
                self.access_atomically(state, at, true, Lit::TRUE);
                self.write_to(state, at, order, Lit::TRUE, false);
            }
        }
    }

    /// A read-modify-write.
    pub(super) fn monitor_modify(&mut self, state: &mut State, at: &[Target], order: MemoryOrder) {
        self.note_weak(state, at, order.acquires() && order.releases());
        self.read_from(state, at, order.acquires().into());
        self.access_atomically(state, at, true, Lit::TRUE);
        self.write_to(state, at, order, Lit::TRUE, true);
    }

    /// A compare-and-swap, which is a load where it fails.
    pub(super) fn monitor_compare_exchange(
        &mut self,
        state: &mut State,
        at: &[Target],
        succeeds: Lit,
        [order, failure]: [MemoryOrder; 2],
    ) {
        let is_strong = order.acquires() && order.releases() && failure.acquires();
        self.note_weak(state, at, is_strong);
        let acquires = match [order, failure].map(MemoryOrder::acquires) {
            [true, true] => Lit::TRUE,
            [true, false] => succeeds,
            [false, true] => !succeeds,
            [false, false] => Lit::FALSE,
        };
        self.read_from(state, at, acquires);
        self.access_atomically(state, at, true, succeeds);
        self.access_atomically(state, at, false, !succeeds);
        self.write_to(state, at, order, succeeds, true);
    }

    /// Plain accesses to all bytes that were found.
    pub(super) fn monitor_plain(&mut self, state: &mut State, at: &[Target], is_write: bool) {
        let kind = Kind { is_write, is_atomic: self.is_within };
        let accessed = self.accessed(at, None);
        let race = self.watch(state, accessed, kind);
        self.raced.push(race);
    }

    /// The end of an object is a write to all of it.
    pub(super) fn monitor_end(&mut self, state: &mut State, object: ObjectId, is_it: Lit) {
        if !self.objects[object].is_shared {
            return;
        }
        let kind = Kind { is_write: true, is_atomic: self.is_within };
        let bytes = 0..self.objects[object].bytes.len();
        let race = self.watch(state, vec![(object, bytes, is_it)], kind);
        self.raced.push(race);
    }

    /// What threads synchronise on is put into its first state, or destroyed: a write to its first
    /// byte.
    pub(super) fn monitor_reset(&mut self, state: &mut State, at: &[Target]) {
        let kind = Kind { is_write: true, is_atomic: self.is_within };
        let accessed = self.accessed(at, Some(1));
        let race = self.watch(state, accessed, kind);
        self.raced.push(race);
    }

    /// A thread has come to an operation on what threads synchronise on: a read of its first byte,
    /// whether the operation is possible or not.
    pub(super) fn monitor_use(&mut self, state: &mut State, at: &[Target]) {
        let kind = Kind { is_write: false, is_atomic: false };
        let accessed = self.accessed(at, Some(1));
        let race = self.watch(state, accessed, kind);
        self.raced_here.push(race);
    }

    /// The same where only memory matters that comes to an end.
    pub(super) fn monitor_use_of_mortal(&mut self, state: &mut State, at: &[Target]) {
        let is_mortal = |it: &&Target| {
            matches!(self.objects[it.object].kind, ObjectKind::Heap | ObjectKind::Frame)
        };
        let mortal: Vec<Target> = at.iter().filter(is_mortal).cloned().collect();
        self.monitor_use(state, &mortal);
    }

    /// A fence: an acquire learns what the reads before it have read from; what is known at a
    /// release, the writes behind it release.
    pub(super) fn monitor_fence(&mut self, state: &mut State, order: MemoryOrder) {
        if order.acquires() {
            self.sights.fences.insert(self.thread);
        }
        let Some(monitor) = &self.monitor else { return };
        let (fenced, pending) =
            (monitor.fenced[self.thread], monitor.pending.get(&self.thread).copied());
        if order.acquires()
            && let Some(pending) = pending
        {
            let pending = self.bit(state, pending);
            self.know_if(state, pending);
        }
        if order.releases() {
            let clock = self.clock(state);
            state.set(fenced, clock.into());
        }
    }

    /// Learns what was released, where a condition is true.
    pub(super) fn acquire(&mut self, state: &mut State, at: &[Target], when: Lit) {
        let spots = self.spots(at);
        self.sights.released.extend(spots.iter().map(|(spot, _)| *spot));
        let bit = self.released_at(state, &spots, |monitor| &monitor.released);
        let bit = self.circuit.aig.and(bit, when);
        self.know_if(state, bit);
    }

    /// Learns what readers of a reader-writer lock released, where a condition is true.
    pub(super) fn acquire_from_readers(&mut self, state: &mut State, at: &[Target], when: Lit) {
        let spots = self.spots(at);
        self.sights.read_released.extend(spots.iter().map(|(spot, _)| *spot));
        let bit = self.released_at(state, &spots, |monitor| &monitor.read_released);
        let bit = self.circuit.aig.and(bit, when);
        self.know_if(state, bit);
    }

    /// Releases what is known, where a condition is true.
    pub(super) fn release(&mut self, state: &mut State, at: &[Target], when: Lit) {
        self.write_to(state, at, MemoryOrder::Release, when, true);
    }

    /// Releases what is known to writers alone, where a condition is true.
    pub(super) fn release_as_reader(&mut self, state: &mut State, at: &[Target], when: Lit) {
        let spots = self.spots(at);
        self.sights.read_released.extend(spots.iter().map(|(spot, _)| *spot));
        if self.monitor.is_none() {
            return;
        }
        let clock = self.clock(state);
        for (spot, is_it) in spots {
            let monitor = self.monitor.as_ref().expect("it is there");
            let Some(&variable) = monitor.read_released.get(&spot) else { continue };
            let learnt = self.circuit.aig.all([clock, is_it, when]);
            self.set_bit_if(state, learnt, variable);
        }
    }

    /// An atomic block begins: it comes after those before it.
    pub(super) fn monitor_block(&mut self, state: &mut State) {
        let Some(blocks) = self.monitor.as_ref().map(|monitor| monitor.blocks) else { return };
        self.touch_cell(state, Cell::Blocks, Lit::TRUE, true);
        let known = self.bit(state, blocks);
        self.know_if(state, known);
        let clock = self.clock(state);
        self.set_bit_if(state, clock, blocks);
    }

    /// A thread that begins knows what the one that starts it does.
    pub(super) fn monitor_spawn(&mut self, state: &mut State, child: usize) {
        let Some(clock) = self.monitor.as_ref().map(|monitor| monitor.clocks[child]) else {
            return;
        };
        let mine = self.clock(state);
        self.set_bit_if(state, mine, clock);
    }

    /// One that joins a thread knows what that has known.
    pub(super) fn monitor_join(&mut self, state: &mut State, joined: usize, is_it: Lit) {
        let Some(clock) = self.monitor.as_ref().map(|monitor| monitor.clocks[joined]) else {
            return;
        };
        let theirs = self.bit(state, clock);
        let theirs = self.circuit.aig.and(theirs, is_it);
        self.know_if(state, theirs);
    }

    /// An arrival at a barrier; the last of a round lets all of it know what one of it knows.
    pub(super) fn monitor_arrive(&mut self, state: &mut State, at: &[Target], is_last: Lit) {
        let spots = self.spots(at);
        self.sights.barriers.extend(spots.iter().map(|(spot, _)| *spot));
        let Some(monitor) = &self.monitor else { return };
        let due = monitor.due.clone();
        let rounds = spots
            .iter()
            .filter_map(|(spot, is_it)| Some((monitor.rounds.get(spot)?.clone(), *is_it)));
        let rounds: Vec<(Round, Lit)> = rounds.collect();
        let clock = self.clock(state);
        for (Round { known, members }, is_it) in rounds {
            let before = self.bit(state, known);
            let all = self.circuit.aig.or(before, clock);
            for (number, (&member, &due)) in members.iter().zip(&due).enumerate() {
                let has_arrived = match number == self.thread {
                    true => Lit::TRUE,
                    false => self.bit(state, member),
                };
                let learns = self.circuit.aig.all([is_it, is_last, has_arrived, all]);
                self.set_bit_if(state, learns, due);
                let stays = self.circuit.aig.and(has_arrived, !is_last);
                let (aig, variables) = (&mut self.circuit.aig, &self.variables);
                state.set_if(aig, variables, is_it, member, &stays.into());
            }
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            let left = aig.and(all, !is_last);
            state.set_if(aig, variables, is_it, known, &left.into());
        }
    }

    /// A barrier is left: the thread learns what those of its round have known.
    pub(super) fn monitor_leave(&mut self, state: &mut State) {
        let Some(due) = self.monitor.as_ref().map(|monitor| monitor.due[self.thread]) else {
            return;
        };
        let learnt = self.bit(state, due);
        self.know_if(state, learnt);
        state.set(due, Word::constant(1, 0));
    }

    /// Notes an access that orders less than an acquire and a release.
    fn note_weak(&mut self, state: &State, at: &[Target], is_strong: bool) {
        let is_shared = at.iter().any(|it| self.objects[it.object].is_shared);
        if !is_strong && is_shared && !self.is_within && state.passed.contains(&None) {
            self.sights.weak.insert((self.thread, self.station));
        }
    }

    /// A read of an atomic: it learns what its source released, now or at the next acquire fence.
    fn read_from(&mut self, state: &mut State, at: &[Target], acquires: Lit) {
        // Within an atomic block it is an access among others.
        if self.is_within {
            return;
        }
        self.acquire(state, at, acquires);
        let pending = self.monitor.as_ref().and_then(|it| it.pending.get(&self.thread).copied());
        if let Some(pending) = pending {
            let spots = self.spots(at);
            let bit = self.released_at(state, &spots, |monitor| &monitor.released);
            let bit = self.circuit.aig.and(bit, !acquires);
            self.set_bit_if(state, bit, pending);
        }
    }

    /// A write of an atomic, where a condition is true. A store begins a new release sequence, and
    /// a read-modify-write goes on with the one that it reads from.
    fn write_to(
        &mut self,
        state: &mut State,
        at: &[Target],
        order: MemoryOrder,
        when: Lit,
        goes_on: bool,
    ) {
        if self.is_within {
            return;
        }
        let spots = self.spots(at);
        self.sights.released.extend(spots.iter().map(|(spot, _)| *spot));
        let Some(monitor) = &self.monitor else { return };
        let from = if order.releases() { &monitor.clocks } else { &monitor.fenced };
        let from = self.bit(state, from[self.thread]);
        for (spot, is_it) in spots {
            let monitor = self.monitor.as_ref().expect("it is there");
            let Some(&variable) = monitor.released.get(&spot) else { continue };
            let old = self.bit(state, variable);
            let (aig, variables) = (&mut self.circuit.aig, &self.variables);
            let new = if goes_on { aig.or(old, from) } else { from };
            let condition = aig.and(is_it, when);
            state.set_if(aig, variables, condition, variable, &new.into());
        }
    }

    fn access_atomically(&mut self, state: &mut State, at: &[Target], is_write: bool, when: Lit) {
        let kind = Kind { is_write, is_atomic: true };
        let mut accessed = self.accessed(at, None);
        for (_, _, is_it) in &mut accessed {
            *is_it = self.circuit.aig.and(*is_it, when);
        }
        let race = self.watch(state, accessed, kind);
        self.raced.push(race);
    }

    /// The bytes that are accessed, the first so many of each target or all of them; and when they
    /// are.
    fn accessed(
        &mut self,
        at: &[Target],
        n_bytes: Option<usize>,
    ) -> Vec<(ObjectId, Range<usize>, Lit)> {
        let mut accessed = Vec::new();
        for target in at.iter().filter(|_| self.options.races) {
            if !self.objects[target.object].is_shared {
                continue;
            }
            let n_bytes = n_bytes.unwrap_or(target.size as usize);
            for (offset, is_it) in self.places(target) {
                accessed.push((target.object, offset..offset + n_bytes, is_it));
            }
        }
        accessed
    }

    /// Where something is that threads synchronise by, and when it is there.
    fn spots(&mut self, at: &[Target]) -> Vec<(Spot, Lit)> {
        let all = self.accessed(at, Some(1)).into_iter();
        let mut spots: Vec<_> =
            all.map(|(object, bytes, is_it)| ((object, bytes.start), is_it)).collect();
        // Where it is nowhere, the step has failed.
        if let ([(_, is_it)], [_]) = (&mut spots[..], at) {
            *is_it = Lit::TRUE;
        }
        spots
    }

    /// Holds accesses against the one that is watched, and lets one of them be that. The race that
    /// they are, on the way of the state.
    fn watch(
        &mut self,
        state: &mut State,
        accessed: Vec<(ObjectId, Range<usize>, Lit)>,
        kind: Kind,
    ) -> Lit {
        // What is passed is what no other thread disturbs: it takes part in no race.
        if !self.options.races || !state.passed.contains(&None) {
            return Lit::FALSE;
        }
        let step = (self.thread, self.station);
        for (object, bytes, _) in &accessed {
            let noted = Noted { step, bytes: (bytes.start, bytes.end), kind };
            self.sights.accesses.entry(*object).or_default().insert(noted);
        }
        let Some(monitor) = &self.monitor else { return Lit::FALSE };
        let mut numbers = Vec::new();
        for (object, bytes, is_it) in accessed {
            let bytes = bytes.filter_map(|byte| monitor.numbers.get(&(object, byte)));
            numbers.extend(bytes.map(|numbers| (*numbers, is_it)));
        }
        if numbers.is_empty() {
            return Lit::FALSE;
        }
        let (choice, variable) = (monitor.choice.clone(), monitor.watched);
        let watched = state.get(&self.variables, variable);
        let clock = self.clock(state);
        let aig = &mut self.circuit.aig;
        let (mut meets, mut begins) = (Vec::new(), Vec::new());
        for (numbers, is_it) in numbers {
            for other in Kind::ALL.into_iter().filter(|other| kind.conflicts(*other)) {
                let number = numbers[other.idx()];
                if number > 0 {
                    let is_watched = aig.equals_number(&watched, number);
                    meets.push(aig.and(is_it, is_watched));
                }
            }
            let number = numbers[kind.idx()];
            if number > 0 {
                let is_chosen = aig.equals_number(&choice, number);
                begins.push(aig.and(is_it, is_chosen));
            }
        }
        let meets = aig.any(meets);
        let race = aig.all([state.condition, meets, !clock]);
        let is_another = aig.is_nonzero(&watched);
        let begins = aig.any(begins);
        let begins = aig.and(begins, !is_another);
        if begins != Lit::FALSE {
            let watched = aig.mux(begins, &choice, &watched);
            state.set(variable, watched);
            self.know_if(state, begins);
        }
        race
    }

    /// Whether one of these has released the access.
    fn released_at(
        &mut self,
        state: &State,
        spots: &[(Spot, Lit)],
        table: impl Fn(&Monitor) -> &BTreeMap<Spot, VarId>,
    ) -> Lit {
        let Some(table) = self.monitor.as_ref().map(table) else { return Lit::FALSE };
        let known = spots.iter().filter_map(|(spot, is_it)| Some((*table.get(spot)?, *is_it)));
        let known: Vec<(VarId, Lit)> = known.collect();
        let mut released = Vec::new();
        for (variable, is_it) in known {
            let bit = self.bit(state, variable);
            released.push(self.circuit.aig.and(bit, is_it));
        }
        self.circuit.aig.any(released)
    }

    /// Whether the thread knows of the access; not, without a monitor.
    fn clock(&self, state: &State) -> Lit {
        let monitor = self.monitor.as_ref();
        monitor.map_or(Lit::FALSE, |monitor| self.bit(state, monitor.clocks[self.thread]))
    }

    fn bit(&self, state: &State, variable: VarId) -> Lit {
        state.get(&self.variables, variable).bits()[0]
    }

    /// The thread knows of the access where a condition is true.
    fn know_if(&mut self, state: &mut State, learns: Lit) {
        let clock = self.monitor.as_ref().map(|monitor| monitor.clocks[self.thread]);
        if let Some(clock) = clock {
            self.set_bit_if(state, learns, clock);
        }
    }

    /// Sets a bit where a condition is true.
    fn set_bit_if(&mut self, state: &mut State, from: Lit, into: VarId) {
        if from != Lit::FALSE {
            let old = self.bit(state, into);
            state.set(into, self.circuit.aig.or(old, from).into());
        }
    }
}

impl Watch {
    /// Watches the accesses to a byte that another thread may race with.
    fn add(&mut self, byte: (ObjectId, usize), accesses: &[&Noted]) {
        let mut numbers = [0; 4];
        for kind in Kind::ALL {
            let may_race = |one: &&Noted| {
                one.kind == kind
                    && accesses
                        .iter()
                        .any(|other| other.step.0 != one.step.0 && kind.conflicts(other.kind))
            };
            if accesses.iter().copied().any(|one| may_race(&one)) {
                self.n_numbers += 1;
                numbers[kind.idx()] = self.n_numbers as u64;
            }
        }
        if numbers != [0; 4] {
            self.numbers.insert(byte, numbers);
        }
    }
}
