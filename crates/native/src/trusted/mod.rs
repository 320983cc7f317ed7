//! Calls of trusted libraries as single operations: what a listed function does inside is not
//! explored.
//!
//! Implements the reduction by atomicity of Lipton, *Reduction: A Method of Proving Properties of
//! Parallel Programs* (CACM 18(12), 1975), for objects that are linearizable in the sense of
//! Herlihy and Wing (TOPLAS 12(3), 1990): in every execution a call of such an object takes effect
//! at one point. All its steps can be moved there; no thread can tell, for only calls of the same
//! object look at what they touch. So a call is one operation ([`Kind`] says which), enabled when
//! it would not block, and its inside runs to its end with no scheduling point.
//!
//! **Brackets.** The entry and the exit of a listed function are seen (`entry`), by a return and by
//! a panic. Between them the thread is *quiet*: its accesses are neither announced nor looked at.
//! Where code of the user begins inside, as the closure of `call_once`, a row of kind
//! [`Kind::Open`] ends that until it returns. Brackets are a list on the stack of their thread
//! ([`Bracket`]), so a checkpoint restores them.
//!
//! **Objects** come from arguments, or are the word that the function accesses first in a way that
//! the row names ([`Bracket::is_pending`]): it is then announced before that access.
//!
//! **Blocking.** What a call waits for is read from the object's memory ([`Predicate`]), so nothing
//! has to be known of calls that were made while there was one thread. Calls whose wait is not that
//! simple (barriers, bounded channels) run into the library's own futex: there the thread sleeps,
//! and going on is another call, once it was woken.
//!
//! **Happens-before** is that of the operation: a call releases and acquires its object, or does one
//! of the two (to park acquires, to unpark releases); a message carries the clock of its sender, and
//! room in a bounded channel that of who made it; that a channel is closed carries nothing; the end
//! of a scope follows the ends of its threads.
//!
//! **What is not recognised** is explored. A word that some thread accesses quietly and another one
//! with an operation of its own would be no word of the object alone: then the rows of that family
//! ([`Family`]) are given up, and the search begins again.
//!
//! Differs from the papers: a call that blocks inside is two atomic parts, one on each side of its
//! wait.

mod crossbeam_channel;
pub(crate) mod entry;
mod flume;
mod kinds;
mod lists;
mod mutexes;
mod parking_lot;
mod readers_writers;
mod rings;
mod sleep;
mod std;

pub(crate) use kinds::Row;
pub(crate) use lists::{row_of, trust};
pub(crate) use sleep::{futex_wait, futex_wake};

use crate::clock;
use crate::coroutine;
use crate::heap;
use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use crate::process;
use crate::timed;
use ::std::sync::atomic::Ordering;
use kinds::{Family, Group, Kind, Library};
use mazurka_core::{
    Assumption, Effect, MemoryOrder, ObjectId, Operation as O, ThreadId, ThreadSet,
};
use readers_writers::Users;
use rustc_hash::{FxHashMap, FxHashSet};

/// A call of a listed function, on the stack of its thread.
#[derive(Debug)]
pub(crate) struct Bracket {
    /// The call around it.
    outer: *mut Bracket,
    kind: Kind,
    library: Library,
    /// The path of the function.
    path: &'static str,
    /// Whether it decides what its inside is: not within another one that is quiet.
    is_active: bool,
    /// Whether its operation is announced with an access inside.
    is_pending: bool,
    /// Whether its thread was quiet before.
    was_quiet: bool,
    /// Whether code of the user ran in it, which is then known to be seen.
    has_opened: bool,
    /// Whether what is to be done once was still to be done when it began, or whether a channel was
    /// open.
    was_incomplete: bool,
    /// Whether it drops no message, so that no code of the user runs where it would.
    drops_nothing: bool,
    object: Option<ObjectId>,
    /// Whether it is to return because its time is up.
    has_expired: bool,
    /// Until when it may wait, on the virtual clock.
    deadline: Option<u64>,
    /// Of the life of a thread: the token that its end has put for the end of its scope.
    token: usize,
    /// How many steps there were before.
    depth: usize,
    /// Of a scope: the last block that was allocated before the code of the user, which holds what
    /// is known of its threads.
    block: usize,
}

/// What the object of an operation must be like for it to be enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Predicate {
    /// As the operation says.
    #[default]
    Usual,
    /// Always.
    Now,
    /// No thread runs what is to be done once.
    OnceIdle(usize),
    /// It was done, or has failed.
    OnceOver(usize),
    /// Readers may come in.
    Readable(usize),
    /// The lock is free.
    Writable(usize),
    /// It is free, or writers that wait for it have been told to try again.
    NoWriterWaits(usize),
    /// The token is there.
    Token(usize),
    /// The same two for locks of parking_lot.
    ParkingLotReadable(usize),
    ParkingLotWritable(usize),
    /// The mutex is free.
    Unlocked(usize),
    /// The same, and the thread was notified.
    Reacquirable(usize),
    /// There is a message, or there will never be one.
    Message(usize),
    /// The thread was woken.
    Woken,
    /// An operation would be possible.
    Allowed(O),
}

const ONCE_MASK: u32 = 3;
const ONCE_RUNNING: u32 = 1;
const ONCE_INCOMPLETE: u32 = 3;
const PARKING_LOT_LOCKS: Group =
    Group { library: Library::ParkingLot, family: Family::ReadersWriters };
const TOKEN: u32 = 1;
const NO_TOKEN: u32 = 0;
/// Where an unbounded channel has the indices of its ends; the lowest bit of the second is whether
/// it is closed.
const TAIL: usize = 0x80;
const CACHE_LINE: usize = 0x80;

/// What is known of trusted calls, over all executions.
#[derive(Debug, Default)]
pub(crate) struct Trusted {
    /// The groups that were given up before this execution, a bit each, and by now. What was found
    /// out in the middle of an execution voids it; calls whose inside is explored beside others
    /// whose inside is not could wait for each other for ever.
    given_up: u64,
    to_give_up: u64,
    /// The words that are accessed quietly, and by which of them.
    quiet_words: FxHashMap<usize, Group>,
    /// The objects of calls, some of which threads of Rust may forget to give back. Other
    /// operations on them are in order with calls that wait, see [`Trusted::in_order`].
    objects: FxHashSet<ObjectId>,
    /// Those among them that no other operation may be about: where one is, they are explored.
    exclusive: FxHashMap<ObjectId, Group>,
    /// By the address of a lock.
    readers_writers: FxHashMap<usize, Users>,
    /// Threads that have opened a scope, that have received from a channel, and that have parked.
    /// To wait inside the first two is to park, which a program may see that parks itself: see
    /// [`note_token`].
    scoping: ThreadSet,
    receiving: ThreadSet,
    parking: ThreadSet,
    /// Whose token is at an address, of threads that have parked.
    tokens: FxHashMap<usize, ThreadId>,
    /// The libraries of which any call was taken for an operation, a bit each.
    used: u32,
}

impl Trusted {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let Self {
            given_up: _,
            to_give_up,
            quiet_words,
            objects,
            exclusive,
            readers_writers,
            scoping,
            receiving,
            parking,
            tokens: _,
            used,
        } = self;
        let users = readers_writers.values().map(Users::known);
        // The order of the table does not matter to a sum.
        let threads = [scoping, receiving, parking].map(|threads| threads.len());
        let sizes = [quiet_words.len(), objects.len(), exclusive.len()].into_iter().chain(threads);
        let sizes = sizes.fold(0, |sum: u64, len| sum.rotate_left(12) ^ len as u64);
        sizes ^ to_give_up.rotate_left(40) ^ u64::from(*used) ^ users.sum::<u64>() << 40
    }
}

/// A listed function could not be redirected. If code of the user begins in it, what is around it
/// cannot be quiet.
pub(crate) fn note_unhooked(row: Option<&'static Row>) {
    let Some(&Row { kind, library, .. }) = row else { return };
    if kind.is_open() || kind == Kind::Select {
        machine::with(|machine| {
            for family in [Family::Threads, Family::Once, Family::Channels] {
                machine.trusted.give_up(Group { library, family });
            }
            machine.trusted.begin_execution();
        });
        CUT.store(false, Ordering::Relaxed);
    }
}

/// Whether the running thread is within a call that is one operation.
#[inline]
pub(crate) fn is_quiet() -> bool {
    let me = coroutine::running();
    machine::with(|machine| machine.threads[me].is_quiet)
}

/// How a thread accesses a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    Update,
}

/// A quiet thread is about to access a word.
pub(crate) fn access(address: usize, len: usize, access: Access) {
    let me = coroutine::running();
    let active = machine::with(|machine| active(machine.threads[me].bracket));
    let Some(bracket) = active else { return };
    if bracket.is_pending && len == 4 && is_expected(bracket.kind, access) {
        bracket.is_pending = false;
        begin(bracket, address);
        return;
    }
    let group = bracket.group();
    machine::with(|machine| {
        if group.family == Family::Threads {
            if access == Access::Update && len == 8 {
                machine.note_unseen(address);
            }
            let is_token = access == Access::Update && len == 4;
            if is_token && bracket.kind == Kind::ThreadStart && read_word(address) == NO_TOKEN {
                bracket.token = address;
            }
            return;
        }
        let is_own = bracket.object.is_some_and(|it| machine.objects.address(it) == address);
        if !is_own && machine.is_concurrent() {
            machine.trusted.quiet_words.insert(address, group);
            if machine.objects.is_known(address) {
                machine.trusted.give_up(group);
            }
        }
    });
}

/// Whether an access is the one that names the object of a call.
fn is_expected(kind: Kind, access: Access) -> bool {
    match kind {
        Kind::Once => access == Access::Load,
        _ => access == Access::Update,
    }
}

impl Bracket {
    fn group(&self) -> Group {
        Group { library: self.library, family: self.kind.family() }
    }
}

/// The innermost call that decides.
fn active(mut bracket: *mut Bracket) -> Option<&'static mut Bracket> {
    // SAFETY: brackets are on the stack of a thread, whose calls have not returned.
    while let Some(this) = unsafe { bracket.as_mut() } {
        if this.is_active {
            return Some(this);
        }
        bracket = this.outer;
    }
    None
}

/// The path of the listed function that a thread is in, if it is in one and in no code of the
/// user's that this has called.
pub(crate) fn path_of(idx: usize) -> Option<&'static str> {
    let bracket = machine::with(|machine| machine.threads[idx].bracket);
    active(bracket).filter(|bracket| !bracket.kind.is_open()).map(|bracket| bracket.path)
}

/// A listed function was called.
extern "C-unwind" fn bracket(frame: &mut entry::Frame) {
    let Row { kind, library, path } = *frame.row();
    let here = ::std::ptr::from_ref(frame) as usize;
    if !coroutine::is_own_stack(here)
        || machine::with(|machine| machine.trusted.is_given_up(frame.row().group()))
    {
        return frame.call();
    }
    let me = machine::current().index();
    let (outer, was_quiet) = machine::with(|machine| {
        let thread = &machine.threads[me];
        (thread.bracket, thread.is_quiet)
    });
    let (kind, object) = match kind {
        // Where nothing is dropped, no code of the user runs.
        Kind::ListDiscard | Kind::ArrayDiscard if is_empty(kind, frame.argument(0)) => {
            if let Some(outer) = active(outer) {
                outer.drops_nothing = true;
            }
            (Kind::HiddenOfChannels, channel_at(frame.argument(0)))
        }
        kind => (kind, None),
    };
    let is_active = kind.is_open() || !was_quiet;
    let bracket = Bracket {
        outer,
        kind,
        library,
        path,
        is_active,
        is_pending: false,
        was_quiet,
        has_opened: false,
        was_incomplete: false,
        drops_nothing: false,
        object,
        has_expired: false,
        deadline: None,
        block: 0,
        token: 0,
        depth: machine::with(|machine| machine.depth),
    };
    let mut bracket = Leaving(bracket);
    machine::with(|machine| {
        let thread = &mut machine.threads[me];
        thread.bracket = &raw mut bracket.0;
        thread.is_quiet = !kind.is_open() && kind != Kind::Select;
    });
    enter(&mut bracket.0, frame);
    if !bracket.0.is_active || !stand_in(&mut bracket.0, frame) {
        frame.call();
    }
}

/// Does what a call does, if it is not made.
fn stand_in(bracket: &mut Bracket, frame: &mut entry::Frame) -> bool {
    match bracket.kind {
        Kind::CondvarWait => mutexes::wait(bracket, frame),
        Kind::NotifyOne | Kind::NotifyAll => {
            mutexes::notify(bracket, frame);
            true
        }
        _ => false,
    }
}

/// Sees a call to its end, by a return or by a panic.
struct Leaving(Bracket);

impl Drop for Leaving {
    fn drop(&mut self) {
        leave(&mut self.0);
        let me = machine::current().index();
        machine::with(|machine| {
            machine.threads[me].bracket = self.0.outer;
            machine.threads[me].is_quiet = self.0.was_quiet;
        });
    }
}

/// A call begins.
fn enter(bracket: &mut Bracket, frame: &entry::Frame) {
    if bracket.kind == Kind::ScopedSpawn {
        let me = machine::current().index();
        machine::with(|machine| machine.threads[me].next_scope = frame.argument(0));
    }
    if !bracket.is_active {
        return;
    }
    note_token(bracket);
    match bracket.kind {
        Kind::Open | Kind::OpenResult | Kind::ListDiscard | Kind::ArrayDiscard => {
            if let Some(outer) = active(bracket.outer) {
                outer.has_opened = true;
            }
        }
        Kind::Hidden
        | Kind::HiddenOfChannels
        | Kind::ScopedSpawn
        | Kind::ThreadStart
        | Kind::Scope => {}
        Kind::IsFinished | Kind::Select => {
            machine::with(|machine| machine.trusted.give_up(bracket.group()));
        }
        Kind::CondvarWait | Kind::NotifyOne | Kind::NotifyAll => {}
        Kind::MutexLock | Kind::MutexTryLock | Kind::MutexUnlock => {
            begin(bracket, frame.argument(0))
        }
        _ if bracket.group() == PARKING_LOT_LOCKS => begin(bracket, frame.argument(0)),
        Kind::Once
        | Kind::ReadUnlock
        | Kind::WriteUnlock
        | Kind::Downgrade
        | Kind::Park
        | Kind::Unpark => bracket.is_pending = true,
        Kind::ParkTimeout => {
            bracket.is_pending = true;
            let seconds = frame.argument(0) as u64;
            let nanoseconds = seconds.saturating_mul(1_000_000_000);
            let nanoseconds = nanoseconds.saturating_add(frame.argument(1) as u32 as u64);
            bracket.deadline = Some(clock::after(nanoseconds));
        }
        Kind::OnceCall | Kind::OnceWait | Kind::BarrierWait => begin(bracket, frame.argument(0)),
        Kind::Read | Kind::Write | Kind::TryRead | Kind::TryWrite => {
            begin(bracket, frame.argument(1));
        }
        Kind::ListSend
        | Kind::ListReceive
        | Kind::ListTryReceive
        | Kind::ListClose
        | Kind::ListDrop
        | Kind::ArraySend
        | Kind::ArrayReceive
        | Kind::ArrayClose
        | Kind::ArrayCall
        | Kind::ArrayDrop
        | Kind::ZeroCall
        | Kind::SharedCall
        | Kind::MessageCall
        | Kind::ListDropAll => {
            let idx = self_idx(bracket.kind, frame);
            if matches!(bracket.kind, Kind::ListReceive | Kind::MessageCall) {
                bracket.deadline =
                    process::deadline_of(frame.argument(idx + 1), frame.argument(idx + 2));
            }
            begin(bracket, frame.argument(idx));
        }
    }
}

/// A thread that opens scopes and parks itself can tell that the end of a scope has put its token,
/// or that it was taken by waiting for that end. Then scopes are explored. So are channels where a
/// thread receives and parks itself: to wait for a message takes a token that was meant for it.
fn note_token(bracket: &Bracket) {
    let me = machine::current();
    machine::with(|machine| {
        let trusted = &mut machine.trusted;
        match bracket.kind {
            Kind::Scope => trusted.scoping.insert(me),
            Kind::ListReceive | Kind::MessageCall => trusted.receiving.insert(me),
            Kind::Park | Kind::ParkTimeout => trusted.parking.insert(me),
            _ => return,
        };
        if !trusted.parking.contains(me) {
            return;
        }
        if trusted.scoping.contains(me) {
            trusted.give_up(Group { library: Library::Std, family: Family::Threads });
        }
        if trusted.receiving.contains(me) {
            for library in [Library::Std, Library::CrossbeamChannel, Library::Flume] {
                trusted.give_up(Group { library, family: Family::Channels });
            }
        }
    });
}

/// Which argument is the channel: the second, if the result goes to where the first one points to,
/// which is on the stack. Channels are on the heap.
fn self_idx(kind: Kind, frame: &entry::Frame) -> usize {
    let is_channel = |address: usize| {
        !coroutine::is_own_stack(address)
            && (matches!(kind, Kind::ZeroCall | Kind::SharedCall)
                || address.is_multiple_of(CACHE_LINE))
    };
    usize::from(!is_channel(frame.argument(0)))
}

/// Announces a call that orders what comes before it or behind it, and no more.
fn announce_as(order: MemoryOrder, object: ObjectId, possible: Predicate) {
    if announce(O::Call(object), possible) {
        machine::set_order(order);
    }
}

/// The operation of a call, on the object at an address.
fn begin(bracket: &mut Bracket, address: usize) {
    let group = bracket.group();
    let len = match group.family {
        Family::Channels => 8,
        Family::Mutexes => 1,
        Family::ReadersWriters if group == PARKING_LOT_LOCKS => 8,
        _ => 4,
    };
    let is_exclusive = matches!(group.family, Family::ReadersWriters | Family::Mutexes);
    let object = machine::with(|machine| {
        machine.trusted.note_used(bracket.library);
        machine.note_sharing(address, len);
        let was_known = machine.objects.is_known(address);
        let object = machine.objects.atomic(address, len);
        // What was said of it before may have been a load.
        if machine.trusted.objects.insert(object) && was_known {
            CUT.store(true, Ordering::Relaxed);
        }
        if is_exclusive {
            machine.trusted.note_exclusive(object, group);
        }
        object
    });
    bracket.object = Some(object);
    match bracket.kind {
        Kind::Once | Kind::OnceCall => {
            announce(O::Acquire(object), Predicate::OnceIdle(address));
            bracket.was_incomplete = !Predicate::OnceOver(address).holds_in_memory();
        }
        Kind::OnceWait => {
            announce_as(MemoryOrder::Acquire, object, Predicate::OnceOver(address));
        }
        Kind::Read
        | Kind::TryRead
        | Kind::Write
        | Kind::TryWrite
        | Kind::Downgrade
        | Kind::ReadUnlock
        | Kind::WriteUnlock => readers_writers::begin(bracket, object, address),
        Kind::MutexLock | Kind::MutexTryLock | Kind::MutexUnlock => {
            mutexes::begin(bracket.kind, object, address);
        }
        Kind::Park | Kind::ParkTimeout => {
            let me = machine::current();
            machine::with(|machine| machine.trusted.tokens.insert(address, me));
            if announce_until(bracket, O::Call(object), Predicate::Token(address)) {
                // Who was told to go on by nobody has learnt nothing.
                let has_expired = bracket.has_expired;
                let order = if has_expired { MemoryOrder::Relaxed } else { MemoryOrder::Acquire };
                machine::set_order(order);
            }
        }
        Kind::Unpark | Kind::ArrayClose => {
            announce_as(MemoryOrder::Release, object, Predicate::Now);
        }
        Kind::ArraySend | Kind::ArrayReceive => {
            let is_announced = announce(O::Call(object), Predicate::Now);
            if is_announced {
                rings::note_passage(bracket, address, MemoryOrder::Relaxed);
            }
        }
        Kind::BarrierWait
        | Kind::ArrayCall
        | Kind::ArrayDrop
        | Kind::ZeroCall
        | Kind::SharedCall => {
            announce(O::Call(object), Predicate::Now);
        }
        Kind::ListSend | Kind::ListClose => {
            let is_closed = machine::with(|_| read(address + TAIL)) & 1 != 0;
            if announce(O::Send { channel: object, capacity: u32::MAX }, Predicate::Now) {
                let is_closed_now = read(address + TAIL) & 1 != 0;
                if is_closed || is_closed_now {
                    machine::fail_try();
                }
                // The library promises that a receiver learns of the end, and nothing more.
                if bracket.kind == Kind::ListClose {
                    machine::order_nothing();
                }
            }
        }
        Kind::MessageCall => {
            let is_announced =
                announce_until(bracket, O::Call(object), Predicate::Message(address));
            if is_announced && read(address) >> 1 == read(address + TAIL) >> 1 {
                machine::order_nothing();
            }
        }
        Kind::ListDropAll => {
            announce(O::Call(object), Predicate::Now);
            note_dropped(bracket, address);
        }
        Kind::ListReceive if bracket.deadline.is_some() => {
            // Where waits expire at any moment, it is always possible.
            let operation = match clock::is_virtual() {
                true => O::TimedReceive(object),
                false => O::TryReceive(object),
            };
            announce_until(bracket, operation, Predicate::Message(address));
        }
        Kind::ListReceive => {
            announce(O::Receive(object), Predicate::Message(address));
        }
        Kind::ListTryReceive | Kind::ListDrop => {
            if announce(O::TryReceive(object), Predicate::Now) {
                let takes = bracket.kind == Kind::ListTryReceive
                    && Predicate::Message(address).holds_in_memory();
                if !takes {
                    machine::fail_try();
                }
            }
            if bracket.kind == Kind::ListDrop {
                note_dropped(bracket, address);
            }
        }
        _ => {}
    }
}

/// The channel at an address, if calls were about it.
fn channel_at(address: usize) -> Option<ObjectId> {
    machine::with(|machine| machine.objects.is_known(address).then(|| machine.objects.at(address)))
}

/// Whether nothing is left in a channel that is closed, at an address.
fn is_empty(kind: Kind, address: usize) -> bool {
    let (head, tail) = (read(address), read(address + TAIL));
    match kind {
        Kind::ListDiscard => head >> 1 == tail >> 1,
        // The tail has one bit more than the head, which says that the channel is closed.
        _ => (head ^ tail).is_power_of_two(),
    }
}

/// The receivers of an unbounded channel go: what is dropped with them.
fn note_dropped(bracket: &mut Bracket, address: usize) {
    let (head, tail) = (read(address), read(address + TAIL));
    bracket.was_incomplete = tail & 1 == 0;
    bracket.drops_nothing = head >> 1 == tail >> 1;
}

/// Announces the operation of a call, unless there is one thread and it can go on. Whether it was.
/// Messages are counted, so they always are.
fn announce(operation: O, predicate: Predicate) -> bool {
    let me = machine::current().index();
    let is_counted =
        matches!(operation, O::Send { .. } | O::Receive(_) | O::TryReceive(_) | O::TimedReceive(_));
    let is_seen = is_counted
        || machine::with(|machine| machine.is_concurrent() || !machine.holds(me, predicate));
    if is_seen {
        announce_always(operation, predicate);
    }
    is_seen
}

/// Announces the operation of a call. A thread that is alone does so, too, where it would sleep:
/// no thread is there to wake it.
fn announce_always(operation: O, predicate: Predicate) {
    let me = machine::current().index();
    machine::with(|machine| machine.threads[me].predicate = predicate);
    machine::visible_call(operation);
    machine::with(|machine| machine.threads[me].predicate = Predicate::Usual);
}

/// The same for an operation that may give up when its time is up.
fn announce_until(bracket: &mut Bracket, operation: O, predicate: Predicate) -> bool {
    let Some(deadline) = bracket.deadline else { return announce(operation, predicate) };
    let is_announced;
    bracket.has_expired = if clock::is_virtual() {
        is_announced = true;
        clock::wait(operation, predicate, deadline)
    } else if timed::may_fail() {
        is_announced = announce(operation, Predicate::Now);
        let has_expired = !predicate.holds_in_memory();
        timed::conclude(has_expired);
        has_expired
    } else {
        is_announced = announce(operation, predicate);
        timed::conclude(false);
        false
    };
    if bracket.has_expired && matches!(operation, O::TryReceive(_) | O::TimedReceive(_)) {
        machine::with(|machine| {
            if machine.effect == Effect::Done {
                machine.effect = Effect::Failed;
            }
        });
    }
    is_announced
}

/// A call ends.
fn leave(bracket: &mut Bracket) {
    if !bracket.is_active {
        return;
    }
    match bracket.kind {
        Kind::Open | Kind::OpenResult | Kind::ListDiscard | Kind::ArrayDiscard => {
            // Dropping the result was more than giving memory back: who does it matters.
            if bracket.kind == Kind::OpenResult {
                machine::with(|machine| {
                    if machine.depth != bracket.depth {
                        machine.trusted.give_up(bracket.group());
                    }
                });
            }
            let Some(outer) = active(bracket.outer) else { return };
            match (outer.kind, outer.object) {
                (Kind::Once | Kind::OnceCall, Some(object)) => {
                    announce(O::Release(object), Predicate::Now);
                }
                (Kind::Scope, _) => end_scope(outer.block + COUNTS_LEN),
                _ => {}
            }
        }
        Kind::Once | Kind::OnceCall => {
            let Some(object) = bracket.object else { return };
            machine::with(|machine| {
                machine.objects.state(object).owner = None;
                let is_over = Predicate::OnceOver(machine.objects.address(object));
                if bracket.was_incomplete && is_over.holds_in_memory() && !bracket.has_opened {
                    machine.trusted.give_up(bracket.group());
                }
            });
        }
        // What its senders have closed is not emptied here.
        Kind::ListDrop | Kind::ListDropAll if !bracket.was_incomplete => {}
        Kind::ListDrop | Kind::ListDropAll | Kind::ArrayDrop if bracket.drops_nothing => {}
        Kind::ListDrop | Kind::ListDropAll | Kind::ArrayDrop | Kind::Scope
            if !bracket.has_opened =>
        {
            machine::with(|machine| machine.trusted.give_up(bracket.group()));
        }
        Kind::ThreadStart => {
            if !bracket.has_opened {
                machine::with(|machine| machine.trusted.give_up(bracket.group()));
            }
            if bracket.token != 0 {
                // The thread that waits for the scope does so by other means, and finds no token
                // more. SAFETY: it is the word of a thread that lives, and no other thread runs.
                unsafe { ::std::ptr::write_volatile(bracket.token as *mut u32, NO_TOKEN) };
            }
            let me = machine::current().index();
            let is_scoped = machine::with(|machine| machine.threads[me].scope != 0);
            if is_scoped {
                let flag = end_of(me);
                machine::visible_call(O::SemaphoreRelease(flag));
            }
        }
        _ => {}
    }
}

/// What stands for the end of a thread of a scope: an address in its stack's guard that nothing
/// else has.
fn end_of(idx: usize) -> ObjectId {
    let address = coroutine::top(idx) - coroutine::STACK_LEN + SCOPE_OFFSET;
    machine::with(|machine| machine.objects.at(address))
}

const SCOPE_OFFSET: usize = 64;

/// The thread whose end of a scope an address stands for.
pub(crate) fn scoped_thread_of(address: usize) -> Option<usize> {
    let idx = coroutine::stack_of(address);
    (idx < ThreadId::MAX && coroutine::top(idx) - coroutine::STACK_LEN + SCOPE_OFFSET == address)
        .then_some(idx)
}

/// The thread whose token is at an address, if it has parked.
pub(crate) fn token_of(address: usize) -> Option<usize> {
    machine::with(|machine| machine.trusted.tokens.get(&address).map(|thread| thread.index()))
}

/// What a thread waits for, in words that follow its name, where its operation is a call.
pub(crate) fn waits_for(predicate: Predicate) -> Option<&'static str> {
    match predicate {
        Predicate::Token(_) => Some("is parked, and no thread is left that could unpark it"),
        _ => None,
    }
}

/// Waits for the threads of the scope that the running thread is about to leave: for those that it
/// has started, in that order, and for those that they have started in it.
///
/// Nothing here is on the heap: a thread that is suspended owns nothing outside of its stack.
fn end_scope(scope: usize) {
    let mut awaited = ThreadSet::one(machine::current());
    while let Some(child) = machine::with(|machine| machine.next_of_scope(scope, awaited)) {
        let semaphore = end_of(child.index());
        machine::visible_call(O::SemaphoreAcquire { semaphore, permits: 0 });
        machine::with(|machine| machine.threads[child.index()].scope = 0);
        awaited.insert(child);
    }
}

/// How many bytes of a block the counts of references are.
const COUNTS_LEN: usize = 16;

fn read(address: usize) -> usize {
    // SAFETY: it is a word of an object that a thread is about to access.
    unsafe { ::std::ptr::read_volatile(address as *const usize) }
}

fn read_word(address: usize) -> u32 {
    // SAFETY: as above.
    unsafe { ::std::ptr::read_volatile(address as *const u32) }
}

impl Predicate {
    /// Whether the object is like that now, as far as its memory tells.
    fn holds_in_memory(self) -> bool {
        match self {
            Self::Usual | Self::Now | Self::Woken | Self::Allowed(_) => true,
            Self::ParkingLotReadable(at) => readers_writers::is_parking_lot_readable(read(at)),
            Self::ParkingLotWritable(at) => readers_writers::is_parking_lot_free(read(at)),
            Self::Unlocked(at) | Self::Reacquirable(at) => mutexes::is_free(at),
            Self::OnceIdle(at) => read_word(at) & ONCE_MASK != ONCE_RUNNING,
            Self::OnceOver(at) => {
                !matches!(read_word(at) & ONCE_MASK, ONCE_RUNNING | ONCE_INCOMPLETE)
            }
            Self::Readable(at) => readers_writers::is_readable(read_word(at)),
            Self::Writable(at) => readers_writers::is_free(read_word(at)),
            Self::NoWriterWaits(at) => !readers_writers::has_waiting_writer(read_word(at)),
            Self::Token(at) => read_word(at) == TOKEN,
            Self::Message(at) => {
                let (head, tail) = (read(at), read(at + TAIL));
                head >> 1 != tail >> 1 || tail & 1 != 0
            }
        }
    }
}

impl Machine {
    /// Whether what a thread's operation needs is there.
    pub(crate) fn holds(&self, idx: usize, predicate: Predicate) -> bool {
        match predicate {
            Predicate::Woken => {
                let operation = self.threads[idx].operation;
                let sleepers = operation.object().map(|object| self.objects.sleepers(object));
                sleepers.is_none_or(|sleepers| !sleepers.contains(ThreadId::new(idx)))
            }
            Predicate::Reacquirable(_) => {
                let condvar = self.threads[idx].operation.object();
                let sleepers = condvar.map(|condvar| self.objects.sleepers(condvar));
                let sleeps = sleepers.is_some_and(|it| it.contains(ThreadId::new(idx)));
                !sleeps && predicate.holds_in_memory()
            }
            Predicate::Allowed(operation) => {
                let me = ThreadId::new(idx);
                self.objects.allows(me, operation, self.threads[idx].round_end)
            }
            predicate => predicate.holds_in_memory(),
        }
    }

    /// An atomic word that only the bookkeeping of threads accesses, whatever the code. If it
    /// counts the references to a block, the count of weak ones behind it is one, too: who drops
    /// the last reference changes that, and who this is depends on words that are not seen.
    fn note_unseen(&mut self, address: usize) {
        self.note_unseen_word(address);
        if heap::block_len(address).is_some_and(|len| len >= COUNTS_LEN) {
            self.note_unseen_word(address + COUNTS_LEN / 2);
        }
    }

    fn note_unseen_word(&mut self, address: usize) {
        if let Err(at) = self.unseen_words.binary_search(&address) {
            self.unseen_words.insert(at, address);
        }
    }

    /// Whether an access to an atomic is one that never matters.
    #[inline]
    pub(crate) fn is_unseen_word(&self, address: usize) -> bool {
        !self.unseen_words.is_empty() && self.unseen_words.binary_search(&address).is_ok()
    }

    /// Memory ends, and with it what is known of its words.
    pub(crate) fn forget_words(&mut self, address: usize, len: usize) {
        let range = address..address + len;
        if !self.unseen_words.is_empty() {
            self.unseen_words.retain(|word| !range.contains(word));
        }
        if !self.trusted.quiet_words.is_empty() {
            self.trusted.quiet_words.retain(|word, _| !range.contains(word));
        }
        if !self.trusted.tokens.is_empty() {
            self.trusted.tokens.retain(|word, _| !range.contains(word));
        }
    }

    /// Operations of their own are about some words: no thread may access those quietly.
    #[inline]
    pub(crate) fn check_new_regions(&mut self) {
        if self.objects.has_new_regions() {
            self.hold_new_regions_against_calls();
        }
    }

    #[cold]
    fn hold_new_regions_against_calls(&mut self) {
        for (start, end) in self.objects.take_new_regions() {
            for word in start..end {
                if let Some(&group) = self.trusted.quiet_words.get(&word) {
                    self.trusted.give_up(group);
                }
            }
        }
    }

    /// The first thread of a scope, by its number, that one of these threads has started and that
    /// was not waited for; if there is none, any.
    fn next_of_scope(&self, scope: usize, parents: ThreadSet) -> Option<ThreadId> {
        let is_its = |child: &ThreadId| self.threads[child.index()].scope == scope;
        let children = |parent: ThreadId| {
            let parent = &self.threads[parent.index()];
            parent.children[..parent.n_children].iter().copied()
        };
        let started = parents.iter().flat_map(children).filter(is_its).min();
        started.or_else(|| {
            (0..self.threads.len())
                .map(ThreadId::new)
                .find(|it| self.threads[it.index()].is_alive() && is_its(it))
        })
    }

    /// A thread has allocated a block.
    #[inline]
    pub(crate) fn note_block(&mut self, idx: usize, block: usize) {
        if self.threads[idx].is_quiet
            && let Some(bracket) = active(self.threads[idx].bracket)
            && bracket.kind == Kind::Scope
            && !bracket.has_opened
        {
            bracket.block = block;
        }
    }
}

impl Trusted {
    fn is_given_up(&self, group: Group) -> bool {
        self.given_up & group.bit() != 0
    }

    /// Rows turned out to be about words that are accessed elsewhere, too.
    fn give_up(&mut self, group: Group) {
        if self.to_give_up & group.bit() == 0 {
            self.to_give_up |= group.bit();
            CUT.store(true, Ordering::Relaxed);
        }
    }

    /// What was given up in the last execution is not trusted in the next one.
    pub(crate) fn begin_execution(&mut self) {
        self.given_up = self.to_give_up;
    }

    fn note_used(&mut self, library: Library) {
        self.used |= 1 << library as u32;
    }

    /// Only calls of this group may be about an object.
    fn note_exclusive(&mut self, object: ObjectId, group: Group) {
        self.exclusive.insert(object, group);
    }

    /// An operation of its own is about such an object.
    #[cold]
    fn note_other_access(&mut self, object: ObjectId) {
        if let Some(&group) = self.exclusive.get(&object) {
            self.give_up(group);
        }
    }

    /// What a verdict takes for granted of them.
    pub(crate) fn assumption(&self) -> Option<Assumption> {
        let all = [Library::Std, Library::ParkingLot, Library::CrossbeamChannel, Library::Flume];
        let used = all.into_iter().filter(|&library| self.used & 1 << library as u32 != 0);
        let names: Vec<String> = used.map(|library| lists::name(library).to_owned()).collect();
        (!names.is_empty()).then_some(Assumption::TrustedCalls(names))
    }

    /// Whether an object is one of calls, which may be a lock that is held at the end.
    #[inline]
    pub(crate) fn has_object(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }

    /// The operation as which an access to an object is announced. What waits competes with the
    /// operations that form the chain of its object, and a load or an addition would not be one of
    /// those.
    #[inline]
    pub(crate) fn in_order(&mut self, operation: O) -> O {
        if let Some(object) = operation.object().filter(|_| !self.exclusive.is_empty()) {
            self.note_other_access(object);
        }
        match operation {
            O::Load(object) | O::Add(object) | O::AddAndTest(object)
                if !self.objects.is_empty() && self.has_object(object) =>
            {
                O::ReadModifyWrite(object)
            }
            operation => operation,
        }
    }
}
