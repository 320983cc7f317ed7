//! What rows of the lists say: the kind of a function, and which rows are given up together.

/// One function that is listed.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its path, as the compiler writes it; a star stands for anything.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    pub(super) library: Library,
}

/// A library that has a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    Std,
    ParkingLot,
    CrossbeamChannel,
    Flume,
}

/// What a function is to the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Code of the user begins.
    Open,
    /// The same for the result of a thread that was not taken: who drops it depends on who is last.
    OpenResult,
    /// Nothing that it touches can be told apart: no operation.
    Hidden,
    /// The same for what channels keep: explored where they are.
    HiddenOfChannels,
    /// Acquires the word that it loads first, unless a thread runs what is to be done once; gives
    /// it back when that was done.
    Once,
    /// The same, and the word is the first argument.
    OnceCall,
    /// Waits until it is done; the word is the first argument.
    OnceWait,
    /// Takes the lock that is the second argument, for the first is where the result goes.
    Read,
    Write,
    TryRead,
    TryWrite,
    /// Give back the lock whose word they modify first.
    ReadUnlock,
    WriteUnlock,
    /// Makes a reader of the writer of such a lock.
    Downgrade,
    /// Takes the token whose word it modifies first, once that is there.
    Park,
    /// The same, or time is up.
    ParkTimeout,
    /// Puts it there.
    Unpark,
    /// A call of the first argument; who is not the last sleeps inside.
    BarrierWait,
    /// Calls of an unbounded channel: a message more, and one less.
    ListSend,
    ListReceive,
    ListTryReceive,
    /// Its last sender goes: the last message.
    ListClose,
    /// Its receiver goes.
    ListDrop,
    /// Calls of a bounded channel: what it puts in, what it takes out, the last sender goes,
    /// another, and its receiver goes.
    ArraySend,
    ArrayReceive,
    ArrayClose,
    ArrayCall,
    ArrayDrop,
    /// Calls of a channel without room.
    ZeroCall,
    /// Calls of a channel that may be anywhere on the heap.
    SharedCall,
    /// A call of an unbounded channel that waits for a message; what it does is in order with all
    /// other calls.
    MessageCall,
    /// The last receiver of an unbounded channel goes, in order with all other calls.
    ListDropAll,
    /// Drop what is left in an unbounded or a bounded channel that is closed. If nothing is left, no
    /// code of the user runs there, and no call of another thread can tell that it does.
    ListDiscard,
    ArrayDiscard,
    /// What channels do that are not waited for one at a time: they are explored then.
    Select,
    /// Take the mutex that is the first argument, and give it back.
    MutexLock,
    MutexTryLock,
    MutexUnlock,
    /// Waits for the condition variable that is the first argument; the second is the mutex.
    CondvarWait,
    NotifyOne,
    NotifyAll,
    /// Waits for the threads of the scope when its closure has returned.
    Scope,
    /// A thread of a scope is about to be started.
    ScopedSpawn,
    /// The whole life of a thread.
    ThreadStart,
    /// Looks at a count that is hidden otherwise.
    IsFinished,
}

/// Rows that are given up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Threads,
    Once,
    ReadersWriters,
    Parking,
    Barriers,
    Channels,
    Mutexes,
}

/// The rows of a family in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) library: Library,
    pub(super) family: Family,
}

impl Group {
    pub(super) fn bit(self) -> u64 {
        const N_FAMILIES: u32 = 8;
        1 << (self.library as u32 * N_FAMILIES + self.family as u32)
    }
}

impl Row {
    pub(super) fn group(&self) -> Group {
        Group { library: self.library, family: self.kind.family() }
    }
}

impl Kind {
    pub(super) fn family(self) -> Family {
        match self {
            Self::Open
            | Self::OpenResult
            | Self::Hidden
            | Self::Scope
            | Self::ScopedSpawn
            | Self::ThreadStart
            | Self::IsFinished => Family::Threads,
            Self::Once | Self::OnceCall | Self::OnceWait => Family::Once,
            Self::Read
            | Self::Write
            | Self::TryRead
            | Self::TryWrite
            | Self::ReadUnlock
            | Self::WriteUnlock
            | Self::Downgrade => Family::ReadersWriters,
            Self::Park | Self::ParkTimeout | Self::Unpark => Family::Parking,
            Self::BarrierWait => Family::Barriers,
            Self::ListSend
            | Self::ListReceive
            | Self::ListTryReceive
            | Self::ListClose
            | Self::ListDrop
            | Self::ArraySend
            | Self::ArrayReceive
            | Self::ArrayClose
            | Self::ArrayCall
            | Self::ArrayDrop
            | Self::ZeroCall
            | Self::SharedCall
            | Self::MessageCall
            | Self::ListDropAll
            | Self::HiddenOfChannels
            | Self::ListDiscard
            | Self::ArrayDiscard
            | Self::Select => Family::Channels,
            Self::MutexLock
            | Self::MutexTryLock
            | Self::MutexUnlock
            | Self::CondvarWait
            | Self::NotifyOne
            | Self::NotifyAll => Family::Mutexes,
        }
    }

    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::OpenResult | Self::ListDiscard | Self::ArrayDiscard)
    }
}
