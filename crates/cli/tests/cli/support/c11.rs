//! Data races by the letter of ISO/IEC 14882:2020, 6.9.2.2 (happens-before, release sequences) and
//! 33.5.11 (fences), which is that of ISO/IEC 9899:2018, too. Nothing here knows of clocks.

use mazurka_core::MemoryOrder as Order;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: usize,
    pub(crate) what: What,
    pub(crate) order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Fence,
    /// The one mutex is taken, and given back.
    Lock,
    Unlock,
    /// A thread is started, and waited for.
    Spawn(usize),
    Join(usize),
    /// An access: to which bytes, from the first to behind the last, whether it reads and writes,
    /// and whether it is atomic.
    Access {
        bytes: (u32, u32),
        reads: bool,
        writes: bool,
        is_atomic: bool,
    },
}

impl Event {
    fn reads_atomic(&self) -> Option<u32> {
        match self.what {
            What::Access { bytes, reads: true, is_atomic: true, .. } => Some(bytes.0),
            _ => None,
        }
    }

    fn writes_atomic(&self) -> Option<u32> {
        match self.what {
            What::Access { bytes, writes: true, is_atomic: true, .. } => Some(bytes.0),
            _ => None,
        }
    }
}

/// Whether two conflicting events, not both atomic, are unordered by happens-before.
pub(crate) fn is_racy(events: &[Event]) -> bool {
    // Bit `n` of entry `m`: event `n` happens before event `m`.
    let mut pasts: Vec<u64> = Vec::new();
    for (later, to) in events.iter().enumerate() {
        let mut past = 0;
        for (earlier, from) in events[..later].iter().enumerate() {
            let is_ordered = match (from.what, to.what) {
                (What::Unlock, What::Lock) => true,
                (What::Spawn(child), _) if child == to.thread => true,
                (_, What::Join(child)) if child == from.thread => true,
                _ => from.thread == to.thread || synchronises(events, earlier, later),
            };
            if is_ordered {
                past |= pasts[earlier] | 1 << earlier;
            }
        }
        let conflicts = |from: &Event| match (from.what, to.what) {
            (
                What::Access { bytes, writes, is_atomic, .. },
                What::Access { bytes: others, writes: also, is_atomic: both, .. },
            ) => {
                let do_meet = bytes.0 < others.1 && others.0 < bytes.1;
                do_meet && (writes || also) && !(is_atomic && both)
            }
            _ => false,
        };
        let is_unordered = |(earlier, from): (usize, &Event)| {
            from.thread != to.thread && conflicts(from) && past >> earlier & 1 == 0
        };
        if events[..later].iter().enumerate().any(is_unordered) {
            return true;
        }
        pasts.push(past);
    }
    false
}

/// Whether an event synchronises with a later one.
fn synchronises(events: &[Event], from: usize, to: usize) -> bool {
    // An acquire fence stands for the atomic reads before it.
    let reads: Vec<usize> = match events[to].what {
        _ if !events[to].order.acquires() => return false,
        What::Fence => (0..to).filter(|&it| events[it].thread == events[to].thread).collect(),
        _ => vec![to],
    };
    // A release fence stands for the atomic writes behind it.
    let is_head = |head: usize| match events[from].what {
        _ if !events[from].order.releases() => false,
        What::Fence => head > from && events[head].thread == events[from].thread,
        _ => head == from,
    };
    reads.into_iter().any(|read| {
        let Some(object) = events[read].reads_atomic() else { return false };
        // From the write that is read back through read-modify-writes: each may head a release
        // sequence that the write belongs to, and so may the first that is none.
        let mut writes = (0..read).rev().filter(|&it| events[it].writes_atomic() == Some(object));
        let mut goes_on = true;
        std::iter::from_fn(|| {
            let write = if goes_on { writes.next() } else { None }?;
            goes_on = events[write].reads_atomic().is_some();
            Some(write)
        })
        .any(is_head)
    })
}

/// A memory order in C.
pub(crate) fn c_order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcquireRelease => "__ATOMIC_ACQ_REL",
        Order::SequentiallyConsistent => "__ATOMIC_SEQ_CST",
    }
}
