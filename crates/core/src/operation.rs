//! Operations: what a thread would do next; dependence, which two of them do not commute.
//!
//! Implements Flanagan and Godefroid, *Dynamic Partial-Order Reduction for Model Checking
//! Software* (POPL 2005), section 2.2 (Definition 1) and the co-enabledness of section 3.
//!
//! | paper                                   | here                 |
//! |-----------------------------------------|----------------------|
//! | visible operation                       | [`Operation`]        |
//! | *t1* and *t2* are dependent             | [`dependent`]        |
//! | *t1* may be co-enabled with *t2*        | [`may_be_coenabled`] |
//! | *t1* may enable *t2* (Definition 1, 1)  | [`may_enable`]       |
//! | *t1* may disable *t2* (Definition 1, 1) | [`may_disable`]      |
//!
//! Differs from the paper: Definition 1 calls two operations dependent already when one may
//! enable the other. For the queues (channels, semaphores, barriers, condition variables, joins)
//! the two questions are kept apart. There, [`dependent`] asks whether two *enabled* operations
//! commute, and what enables a particular waiter is an edge of the happens-before order
//! ([`HappensBefore`](crate::HappensBefore)): the third receive follows the third send, not every
//! send. That is the relaxed independence of send and receive on a buffered channel. It is sound
//! as long as no thread asks how full the channel is, so the `Try…` operations depend on both ends.

use crate::{ObjectId, ThreadId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a thread would do next to a shared object. Known before it runs, enabled or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Operation {
    /// Reads a variable.
    Load(ObjectId),
    /// Writes a variable.
    Store(ObjectId),
    /// Reads and writes a variable in one step. A compare-and-swap is one where it would succeed;
    /// where it would fail, it is a `Load`.
    ReadModifyWrite(ObjectId),
    /// Adds to a variable, and no thread learns what it was before; or lets its thread know no more
    /// than what every order of such additions would tell, see [`Addition`](crate::Addition).
    /// Such a variable is not awaited: additions that can keep another thread waiting have to be in
    /// order.
    Add(ObjectId),
    /// The same, where the order of those additions matters whose threads learn something.
    AddAndTest(ObjectId),
    /// Reads a variable once it has the value that is waited for.
    Await(ObjectId),
    /// The same, and writes it in the same step: a read-modify-write that is taken only where it
    /// leads on, as that of a spin lock does where the lock is free.
    AwaitModify(ObjectId),

    /// Takes a mutex, waiting for it.
    Acquire(ObjectId),
    /// Takes a mutex if it is free.
    TryAcquire(ObjectId),
    /// Gives a mutex back.
    Release(ObjectId),

    /// Takes a reader-writer lock for reading, waiting for it.
    ReadAcquire(ObjectId),
    /// Takes a reader-writer lock for reading if no writer has it.
    TryReadAcquire(ObjectId),
    /// Gives back a reader-writer lock that was taken for reading.
    ReadRelease(ObjectId),
    /// Takes a reader-writer lock for writing, waiting for it.
    WriteAcquire(ObjectId),
    /// Takes a reader-writer lock for writing if it is free.
    TryWriteAcquire(ObjectId),
    /// Gives back a reader-writer lock that was taken for writing.
    WriteRelease(ObjectId),

    /// Gives `mutex` back and goes to sleep on `condvar`, in one step.
    Wait {
        /// What is slept on.
        condvar: ObjectId,
        /// What is given back.
        mutex: ObjectId,
    },
    /// The second half of a wait: once woken, takes `mutex` again.
    Reacquire {
        /// What was slept on.
        condvar: ObjectId,
        /// What is taken again.
        mutex: ObjectId,
    },
    /// Goes to sleep on `queue` if `word` still has the value that the thread saw, in one step; if
    /// not, fails. The first half of Linux's futex wait.
    FutexWait {
        /// What is read.
        word: ObjectId,
        /// What is slept on: what is notified.
        queue: ObjectId,
    },
    /// The second half: going on once woken.
    FutexResume(ObjectId),
    /// Wakes sleepers of `queue` and has others sleep elsewhere in it, unless `word` has changed,
    /// in one step; which ones is a choice. Linux's futex requeue.
    FutexRequeue {
        /// What is read.
        word: ObjectId,
        /// What is slept on, before and after.
        queue: ObjectId,
    },
    /// Changes `word` and wakes sleepers of `queue`, more or fewer by what the word was, in one
    /// step; which ones is a choice. Linux's futex wake-op.
    FutexWakeOp {
        /// What is read and written.
        word: ObjectId,
        /// What is slept on.
        queue: ObjectId,
    },
    /// Stops sleeping because time is up; fails if the thread was woken before.
    Expire(ObjectId),
    /// Wakes one sleeper; which one is a choice.
    NotifyOne(ObjectId),
    /// Wakes all sleepers.
    NotifyAll(ObjectId),

    /// Takes a permit, waiting for one.
    SemaphoreAcquire {
        /// The semaphore.
        semaphore: ObjectId,
        /// The permits it was created with.
        permits: u32,
    },
    /// Takes a permit if there is one.
    SemaphoreTryAcquire {
        /// The semaphore.
        semaphore: ObjectId,
        /// The permits it was created with.
        permits: u32,
    },
    /// Gives a permit.
    SemaphoreRelease(ObjectId),

    /// The first half of waiting at a barrier: being counted.
    Arrive(ObjectId),
    /// The second half: going on once all `parties` of the thread's round have arrived.
    Leave {
        /// The barrier.
        barrier: ObjectId,
        /// How many make a round.
        parties: u32,
    },
    /// As [`Arrive`](Self::Arrive), where arrivals commute: no more threads use the barrier than
    /// make a round, and none learns whether it was the last. All arrivals of a round are before
    /// all departures, so rounds that follow each other must be different objects.
    Meet(ObjectId),
    /// The second half of that: going on once all `parties` of the round have arrived.
    Part {
        /// The barrier, as in [`Meet`](Self::Meet).
        barrier: ObjectId,
        /// How many make a round.
        parties: u32,
    },

    /// Puts a message into a channel, waiting for room.
    Send {
        /// The channel.
        channel: ObjectId,
        /// The messages it has room for; `u32::MAX` if there is always room.
        capacity: u32,
    },
    /// Puts a message into a channel if there is room.
    TrySend {
        /// The channel.
        channel: ObjectId,
        /// The messages it has room for; `u32::MAX` if there is always room.
        capacity: u32,
    },
    /// Takes the oldest message, waiting for one.
    Receive(ObjectId),
    /// Takes the oldest message if there is one.
    TryReceive(ObjectId),
    /// Takes the oldest message, waiting for one until a deadline.
    TimedReceive(ObjectId),

    /// A call of a trusted library object that is one step: it reads and changes the object, and
    /// may have to wait for its state.
    Call(ObjectId),
    /// Goes on once woken from `queue`, or once the virtual clock has come to a deadline; fails if
    /// the thread was woken.
    Timeout(ObjectId),
    /// Goes on once the virtual clock has come to a deadline. Touches nothing.
    Elapse,

    /// Comes to the first operation of a thread that no other has started. Touches nothing.
    Begin,
    /// Starts a thread, which comes to its first operation in the same step.
    Spawn(ThreadId),
    /// Waits until a thread has ended.
    Join(ThreadId),
    /// Lets others go first. Touches nothing.
    Yield,
    /// Picks one of several alternatives. Touches nothing.
    Choose,
}

/// What an operation does to one object, as far as order is concerned.
///
/// Two operations are dependent exactly if they touch a common [`Place`] and the two ways of
/// touching it do not commute ([`Touch::commutes`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Ordered with every other touch.
    Write,
    /// Ordered with writes only.
    Read,
    /// Ordered with writes and with its own kind, not with reads: a reader that takes a
    /// reader-writer lock. Two of them would commute, too; they are kept in order because both may
    /// keep one writer waiting, and `optimal` needs the operations that can disable another one
    /// to form a chain.
    Enter,
    /// Ordered with everything but its own kind: an addition.
    Add,
}

impl Touch {
    /// Whether the two may be swapped.
    #[inline]
    pub fn commutes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read, Self::Read | Self::Enter) | (Self::Enter, Self::Read) => true,
            (Self::Add, Self::Add) => true,
            (Self::Write, _) | (_, Self::Write) | (Self::Enter, Self::Enter) => false,
            (Self::Add, _) | (_, Self::Add) => false,
        }
    }
}

/// The two ends of a queue are places of their own; everything else has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The object itself, or the sending end of a queue.
    Front,
    /// The receiving end of a queue.
    Back,
}

/// Where order is kept: an object, or one end of it.
pub type Place = (ObjectId, End);

/// The places that one operation touches, and how.
#[derive(Clone, Copy, Debug)]
pub struct Touches {
    places: [(Place, Touch); 2],
    len: u8,
}

impl Touches {
    fn one(object: ObjectId, end: End, touch: Touch) -> Self {
        Self { places: [((object, end), touch); 2], len: 1 }
    }

    /// They, as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[(Place, Touch)] {
        &self.places[..usize::from(self.len)]
    }
}

impl Operation {
    /// The places it touches and how: at most two.
    #[inline]
    pub fn touches(self) -> Touches {
        use End::{Back, Front};
        use Operation as O;
        use Touch::{Add, Enter, Read, Write};
        match self {
            O::Load(o) | O::Await(o) | O::ReadRelease(o) | O::Part { barrier: o, .. } => {
                Touches::one(o, Front, Read)
            }
            O::ReadAcquire(o) | O::TryReadAcquire(o) => Touches::one(o, Front, Enter),
            O::Add(o) | O::Meet(o) => Touches::one(o, Front, Add),
            O::AddAndTest(o) => Touches { places: [((o, Front), Add), ((o, Back), Write)], len: 2 },
            O::Store(o)
            | O::ReadModifyWrite(o)
            | O::AwaitModify(o)
            | O::Acquire(o)
            | O::TryAcquire(o)
            | O::Release(o)
            | O::WriteAcquire(o)
            | O::TryWriteAcquire(o)
            | O::WriteRelease(o)
            | O::Reacquire { mutex: o, .. }
            | O::Expire(o)
            | O::NotifyOne(o)
            | O::NotifyAll(o)
            | O::SemaphoreRelease(o)
            | O::Arrive(o)
            | O::Call(o)
            | O::Timeout(o)
            | O::Send { channel: o, .. } => Touches::one(o, Front, Write),
            O::SemaphoreAcquire { semaphore: o, .. } | O::Receive(o) => {
                Touches::one(o, Back, Write)
            }
            O::Wait { condvar, mutex } => {
                Touches { places: [((condvar, Front), Write), ((mutex, Front), Write)], len: 2 }
            }
            O::SemaphoreTryAcquire { semaphore: o, .. }
            | O::TrySend { channel: o, .. }
            | O::TryReceive(o)
            | O::TimedReceive(o) => {
                Touches { places: [((o, Front), Write), ((o, Back), Write)], len: 2 }
            }
            O::FutexWait { word, queue } => {
                Touches { places: [((word, Front), Read), ((queue, Front), Read)], len: 2 }
            }
            O::FutexRequeue { word, queue } => {
                Touches { places: [((word, Front), Read), ((queue, Front), Write)], len: 2 }
            }
            O::FutexWakeOp { word, queue } => {
                Touches { places: [((word, Front), Write), ((queue, Front), Write)], len: 2 }
            }
            O::FutexResume(_)
            | O::Leave { .. }
            | O::Elapse
            | O::Begin
            | O::Spawn(_)
            | O::Join(_)
            | O::Yield
            | O::Choose => Touches { len: 0, ..Touches::one(ObjectId::new(0), Front, Read) },
        }
    }

    /// The object it is about; of a wait, what is slept on.
    #[inline]
    pub fn object(self) -> Option<ObjectId> {
        use Operation as O;
        match self {
            O::Load(o)
            | O::Store(o)
            | O::ReadModifyWrite(o)
            | O::Add(o)
            | O::AddAndTest(o)
            | O::Await(o)
            | O::AwaitModify(o)
            | O::Acquire(o)
            | O::TryAcquire(o)
            | O::Release(o)
            | O::ReadAcquire(o)
            | O::TryReadAcquire(o)
            | O::ReadRelease(o)
            | O::WriteAcquire(o)
            | O::TryWriteAcquire(o)
            | O::WriteRelease(o)
            | O::FutexWait { queue: o, .. }
            | O::FutexRequeue { queue: o, .. }
            | O::FutexWakeOp { queue: o, .. }
            | O::FutexResume(o)
            | O::Expire(o)
            | O::NotifyOne(o)
            | O::NotifyAll(o)
            | O::SemaphoreRelease(o)
            | O::Arrive(o)
            | O::Meet(o)
            | O::Call(o)
            | O::Timeout(o)
            | O::Receive(o)
            | O::TryReceive(o)
            | O::TimedReceive(o) => Some(o),
            O::Wait { condvar, .. } | O::Reacquire { condvar, .. } => Some(condvar),
            O::SemaphoreAcquire { semaphore, .. } | O::SemaphoreTryAcquire { semaphore, .. } => {
                Some(semaphore)
            }
            O::Leave { barrier, .. } | O::Part { barrier, .. } => Some(barrier),
            O::Send { channel, .. } | O::TrySend { channel, .. } => Some(channel),
            O::Elapse | O::Begin | O::Spawn(_) | O::Join(_) | O::Yield | O::Choose => None,
        }
    }

    /// Whether it names an object in any way.
    #[inline]
    pub fn is_about(self, object: ObjectId) -> bool {
        let touches = self.touches();
        let is_touched = touches.as_slice().iter().any(|&((touched, _), _)| touched == object);
        is_touched || self.object() == Some(object)
    }

    /// Whether it reads or writes a variable and nothing else: it never waits, and there is one way
    /// to take it.
    #[inline]
    pub fn is_access(self) -> bool {
        matches!(self, Self::Load(_) | Self::Store(_) | Self::ReadModifyWrite(_))
    }

    /// Whether some state can make it wait.
    #[inline]
    pub fn may_block(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::Await(_)
                | O::AwaitModify(_)
                | O::Acquire(_)
                | O::ReadAcquire(_)
                | O::WriteAcquire(_)
                | O::Reacquire { .. }
                | O::FutexResume(_)
                | O::SemaphoreAcquire { .. }
                | O::Leave { .. }
                | O::Part { .. }
                | O::Call(_)
                | O::Timeout(_)
                | O::Elapse
                | O::Receive(_)
                | O::TimedReceive(_)
                | O::Join(_)
        ) || matches!(self, O::Send { capacity, .. } if capacity != u32::MAX)
    }

    /// Whether other threads' steps can change in how many ways it can be taken.
    #[inline]
    pub fn may_choose(self) -> bool {
        use Operation as O;
        matches!(self, O::NotifyOne(_) | O::FutexRequeue { .. } | O::FutexWakeOp { .. })
    }

    /// Its name, as the trace shows it.
    pub fn name(self) -> &'static str {
        use Operation as O;
        match self {
            O::Load(_) => "load",
            O::Store(_) => "store",
            O::ReadModifyWrite(_) | O::AwaitModify(_) => "read-modify-write",
            O::Add(_) => "add",
            O::AddAndTest(_) => "add-and-test",
            O::Await(_) => "await",
            O::Acquire(_) => "acquire",
            O::TryAcquire(_) => "try-acquire",
            O::Release(_) => "release",
            O::ReadAcquire(_) => "read-acquire",
            O::TryReadAcquire(_) => "try-read-acquire",
            O::ReadRelease(_) => "read-release",
            O::WriteAcquire(_) => "write-acquire",
            O::TryWriteAcquire(_) => "try-write-acquire",
            O::WriteRelease(_) => "write-release",
            O::Wait { .. } => "wait",
            O::Reacquire { .. } => "reacquire",
            O::FutexWait { .. } => "futex-wait",
            O::FutexResume(_) => "futex-resume",
            O::FutexRequeue { .. } => "futex-requeue",
            O::FutexWakeOp { .. } => "futex-wake-op",
            O::Expire(_) => "expire",
            O::NotifyOne(_) => "notify-one",
            O::NotifyAll(_) => "notify-all",
            O::SemaphoreAcquire { .. } => "semaphore-acquire",
            O::SemaphoreTryAcquire { .. } => "semaphore-try-acquire",
            O::SemaphoreRelease(_) => "semaphore-release",
            O::Arrive(_) | O::Meet(_) => "arrive",
            O::Leave { .. } | O::Part { .. } => "leave",
            O::Send { .. } => "send",
            O::TrySend { .. } => "try-send",
            O::Receive(_) => "receive",
            O::TryReceive(_) => "try-receive",
            O::TimedReceive(_) => "timed-receive",
            O::Call(_) => "call",
            O::Timeout(_) => "timeout",
            O::Elapse => "elapse",
            O::Begin => "begin",
            O::Spawn(_) => "spawn",
            O::Join(_) => "join",
            O::Yield => "yield",
            O::Choose => "choose",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            Self::Wait { condvar, mutex } | Self::Reacquire { condvar, mutex } => {
                write!(f, " {condvar} {mutex}")
            }
            Self::FutexWait { word, queue }
            | Self::FutexRequeue { word, queue }
            | Self::FutexWakeOp { word, queue } => write!(f, " {queue} {word}"),
            Self::Spawn(thread) | Self::Join(thread) => write!(f, " {thread}"),
            other => other.object().map_or(Ok(()), |object| write!(f, " {object}")),
        }
    }
}

/// Whether two enabled operations of different threads may fail to commute, or one of them may
/// disable the other.
#[inline]
pub fn dependent(a: Operation, b: Operation) -> bool {
    // The answer is known, and no pair is asked about more often.
    if let (Operation::Load(_), Operation::Load(_)) = (a, b) {
        return false;
    }
    let (a, b) = (a.touches(), b.touches());
    a.as_slice().iter().any(|&(place, touch)| {
        b.as_slice().iter().any(|&(other, how)| place == other && !touch.commutes(how))
    })
}

/// Whether some state may have both enabled, for two operations of different threads.
///
/// Only pairs that no state can have are excluded; saying "may" too often costs reduction,
/// never soundness.
#[inline]
pub fn may_be_coenabled(a: Operation, b: Operation) -> bool {
    !never_with(a, b) && !never_with(b, a)
}

/// `a` needs its lock held by its own thread, in a way that keeps `b` waiting.
#[inline]
fn never_with(a: Operation, b: Operation) -> bool {
    use Operation as O;
    match (a, b) {
        (
            O::Release(m) | O::Wait { mutex: m, .. },
            O::Acquire(o)
            | O::Release(o)
            | O::Wait { mutex: o, .. }
            | O::Reacquire { mutex: o, .. },
        ) => m == o,
        (O::WriteRelease(m), O::ReadAcquire(o) | O::WriteAcquire(o))
        | (O::WriteRelease(m), O::WriteRelease(o) | O::ReadRelease(o))
        | (O::ReadRelease(m), O::WriteAcquire(o)) => m == o,
        // A round is complete when the first of its threads leaves.
        (O::Meet(m), O::Part { barrier: o, .. }) => m == o,
        _ => false,
    }
}

/// Whether `a`, taken, may turn a waiting `b` of another thread into an enabled one.
pub fn may_enable(a: Operation, b: Operation) -> bool {
    use Operation as O;
    match (a, b) {
        (
            O::Store(x)
            | O::ReadModifyWrite(x)
            | O::AwaitModify(x)
            | O::FutexWakeOp { word: x, .. },
            O::Await(y) | O::AwaitModify(y),
        ) => x == y,
        // A lock or a semaphore that is awaited until a deadline.
        (
            O::Release(x) | O::WriteRelease(x) | O::ReadRelease(x) | O::SemaphoreRelease(x),
            O::Await(y),
        )
        | (O::Wait { mutex: x, .. }, O::Await(y)) => x == y,
        (O::Call(x) | O::Store(x) | O::ReadModifyWrite(x) | O::AwaitModify(x), O::Call(y)) => {
            x == y
        }
        // Time passes when no other thread can move, which any step may bring about.
        (_, O::Timeout(_) | O::Elapse) => true,
        (
            O::Release(x) | O::Wait { mutex: x, .. },
            O::Acquire(y) | O::Reacquire { mutex: y, .. },
        ) => x == y,
        (
            O::NotifyOne(x) | O::NotifyAll(x),
            O::Reacquire { condvar: y, .. } | O::FutexResume(y),
        )
        | (O::FutexRequeue { queue: x, .. } | O::FutexWakeOp { queue: x, .. }, O::FutexResume(y)) => {
            x == y
        }
        (O::WriteRelease(x), O::ReadAcquire(y) | O::WriteAcquire(y))
        | (O::ReadRelease(x), O::WriteAcquire(y)) => x == y,
        (O::SemaphoreRelease(x), O::SemaphoreAcquire { semaphore: y, .. }) => x == y,
        (O::Arrive(x), O::Leave { barrier: y, .. }) | (O::Meet(x), O::Part { barrier: y, .. }) => {
            x == y
        }
        (
            O::Send { channel: x, .. } | O::TrySend { channel: x, .. },
            O::Receive(y) | O::TimedReceive(y),
        )
        | (O::Receive(x) | O::TryReceive(x) | O::TimedReceive(x), O::Send { channel: y, .. }) => {
            x == y
        }
        // The step after which a thread has ended can be any of its steps.
        (_, O::Join(_)) => true,
        _ => false,
    }
}

/// Whether `a`, taken, may turn an enabled `b` of another thread into a waiting one.
pub fn may_disable(a: Operation, b: Operation) -> bool {
    b.may_block() && dependent(a, b)
}

/// Whether `b`, too, is possible wherever `a` is: both wait for the same thing.
pub fn waits_alike(a: Operation, b: Operation) -> bool {
    use Operation as O;
    match (a, b) {
        (
            O::Acquire(x) | O::Reacquire { mutex: x, .. },
            O::Acquire(y) | O::Reacquire { mutex: y, .. },
        ) => x == y,
        (O::WriteAcquire(x), O::WriteAcquire(y) | O::ReadAcquire(y))
        | (O::ReadAcquire(x), O::ReadAcquire(y))
        | (O::Receive(x), O::Receive(y)) => x == y,
        (O::Send { channel: x, .. }, O::Send { channel: y, .. }) => x == y,
        (O::SemaphoreAcquire { semaphore: x, .. }, O::SemaphoreAcquire { semaphore: y, .. }) => {
            x == y
        }
        _ => false,
    }
}
