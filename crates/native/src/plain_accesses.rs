//! Plain accesses: which memory a step read and wrote, to the byte; and what operations access,
//! where there are plain accesses to the same.
//!
//! Memory is divided into *pieces*, each watched as a whole. A piece begins as what was accessed
//! first, usually a variable. An access that covers only a part of one cuts it, in all executions
//! to come; since earlier steps of this one were recorded with the larger piece, the search then
//! has to begin again ([`CUT`]).

use crate::after_write::{self, Target};
use crate::library;
use crate::machine;
use crate::names::{self, Frame};
use crate::plain_values::Held;
use mazurka_core::{Assumption, Fence, MemoryOrder, ObjectId, Part, PlainAccess, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a long range is watched: each piece of it is one more access for the search to look
/// at.
const WATCHED_OF_A_RANGE: usize = 64 << 10;
const GRANULE: usize = 8;
const N_CACHED: usize = 1024;

/// So many accesses of a step are noted where they are looked at: each is a look at the stack.
const MOST_SIGHTINGS: usize = 1 << 12;

/// Set when a piece was cut.
pub(crate) static CUT: AtomicBool = AtomicBool::new(false);

/// How a piece is accessed. What one of them has not seen yet need not be told.
const PLAIN: u8 = 1;
const ATOMIC: u8 = 2;

/// The accesses of the step in progress, and the names of memory.
pub(crate) struct Watch {
    pub(crate) accesses: Vec<PlainAccess>,
    /// The fences among them.
    pub(crate) fences: Vec<Fence>,
    /// Who has gone on in the step beside its thread.
    pub(crate) parts: Vec<Part>,
    /// Whether a range of any execution was longer than what is watched of it.
    has_long_ranges: bool,
    /// Not while an execution is repeated: its accesses were seen before.
    pub(crate) is_on: bool,
    /// Whether only uses and ends of blocks are told, as reads and writes: data races are not
    /// looked for.
    pub(crate) accesses_are_lifetimes: bool,
    granules: FxHashMap<usize, Vec<Piece>>,
    /// The pieces, by their numbers.
    memories: Vec<Memory>,
    /// What the operation of the step accessed, as far as there are plain accesses to it, too.
    atomic: Vec<PlainAccess>,
    /// How often a piece was accessed in a new way.
    n_ways: u64,
    step: u64,
    /// What is looked at, ascending, and from where it was accessed in this step.
    looked_at: Vec<ObjectId>,
    pub(crate) sightings: Vec<Seen>,
    /// Whether what is told now is the end of a block.
    is_ending: bool,
    /// Pieces that were accessed as a whole: the address, the length, and which.
    cache: Box<[(usize, usize, ObjectId); N_CACHED]>,
}

/// An access to what is looked at.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) memory: ObjectId,
    pub(crate) thread: ThreadId,
    pub(crate) write: bool,
    /// Whether it is an operation.
    pub(crate) is_atomic: bool,
    /// The frames of the thread.
    pub(crate) frames: Vec<Frame>,
    /// The function of the C library that made it.
    pub(crate) function: Option<&'static str>,
    /// What memory held.
    pub(crate) held: Option<Held>,
}

/// What is known of a piece.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Where it begins.
    address: usize,
    /// The step that last accessed it, twice, and one more if it wrote.
    stamp: u64,
    /// How it was ever accessed: [`PLAIN`], [`ATOMIC`].
    ways: u8,
    /// How long it is.
    len: u8,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Within the granule.
    start: u8,
    end: u8,
    object: ObjectId,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            accesses: Vec::new(),
            fences: Vec::new(),
            parts: Vec::new(),
            has_long_ranges: false,
            is_on: true,
            accesses_are_lifetimes: false,
            granules: FxHashMap::default(),
            memories: Vec::new(),
            atomic: Vec::new(),
            n_ways: 0,
            step: 1,
            looked_at: Vec::new(),
            sightings: Vec::new(),
            is_ending: false,
            cache: Box::new([(0, 0, ObjectId::new(0)); N_CACHED]),
        }
    }

    /// What a verdict takes for granted of long ranges.
    pub(crate) fn assumption(&self) -> Option<Assumption> {
        self.has_long_ranges.then_some(Assumption::LongAccesses(WATCHED_OF_A_RANGE as u64))
    }

    /// How much is known of memory.
    pub(crate) fn known(&self) -> u64 {
        (self.memories.len() as u64) << 32 ^ self.n_ways << 1 ^ u64::from(self.has_long_ranges)
    }

    /// A new step begins.
    pub(crate) fn begin_step(&mut self) {
        self.accesses.clear();
        self.fences.clear();
        self.atomic.clear();
        self.parts.clear();
        self.sightings.clear();
        self.step += 1;
    }

    /// In the same step, a thread goes on that was just started, or whose wait for another has
    /// ended.
    pub(crate) fn begin_part(&mut self, thread: ThreadId, joined: Option<ThreadId>) {
        self.parts.push(Part { thread, joined, n_before: self.accesses.len() });
        self.step += 1;
    }

    /// The running thread comes to a fence. What it accesses again behind it is told again.
    pub(crate) fn fence(&mut self, order: MemoryOrder) {
        if self.is_on && (order.acquires() || order.releases()) {
            let (n_accesses, n_parts) = (self.accesses.len(), self.parts.len());
            self.fences.push(Fence { order, n_accesses, n_parts });
            self.step += 1;
        }
    }

    /// The last thread of all has ended: what it knew in the end does not matter, unless it
    /// has accessed something by then. The parts of others are told, for they have ended, too.
    pub(crate) fn end_parts(&mut self, last: ThreadId) {
        let n_accesses = self.accesses.len();
        let is_idle = |part: &mut Part| part.thread == last && part.n_before == n_accesses;
        while self.parts.pop_if(is_idle).is_some() {}
    }

    /// From now on, notes from where these pieces of memory are accessed.
    pub(crate) fn look_at(&mut self, objects: &[ObjectId]) {
        self.looked_at = objects.to_vec();
        self.looked_at.sort_unstable();
    }

    /// Where a piece of memory is.
    pub(crate) fn address(&self, object: ObjectId) -> usize {
        self.memories[object.index()].address
    }

    /// The running thread accesses memory.
    #[inline]
    pub(crate) fn access(&mut self, address: usize, len: usize, write: bool) {
        if !self.is_on {
            return;
        }
        let (cached, cached_len, object) = self.cache[slot(address)];
        if cached == address && cached_len == len {
            self.record(object, write);
        } else {
            self.has_long_ranges |= len > WATCHED_OF_A_RANGE;
            self.access_slowly(address, len.min(WATCHED_OF_A_RANGE), write);
        }
    }

    /// What was accessed as a whole there, or would be; nothing if parts of it were.
    #[inline]
    pub(crate) fn whole(&mut self, address: usize, len: usize) -> Option<ObjectId> {
        let (cached, cached_len, object) = self.cache[slot(address)];
        if cached == address && cached_len == len {
            return Some(object);
        }
        self.find_whole(address, len)
    }

    #[cold]
    fn find_whole(&mut self, address: usize, len: usize) -> Option<ObjectId> {
        let (granule, from) = (address - address % GRANULE, address % GRANULE);
        let to = Some(from + len).filter(|&to| to <= GRANULE)?;
        if self.divide(granule, from as u8, to as u8) {
            CUT.store(true, Ordering::Relaxed);
            self.cache.fill((0, 0, ObjectId::new(0)));
        }
        let is_it =
            |piece: &&Piece| usize::from(piece.start) == from && usize::from(piece.end) == to;
        let object = self.granules[&granule].iter().find(is_it)?.object;
        self.cache[slot(address)] = (address, len, object);
        Some(object)
    }

    /// An operation of the running thread accesses memory.
    #[inline]
    pub(crate) fn operate(&mut self, address: usize, len: usize, write: bool) {
        if !self.is_on {
            return;
        }
        match self.whole(address, len) {
            Some(object) => self.operate_on(object, write),
            None => self.operate_on_parts(address, address + len, write),
        }
    }

    #[inline]
    fn operate_on(&mut self, object: ObjectId, write: bool) {
        self.come(object, write, ATOMIC);
        if self.memories[object.index()].ways & PLAIN != 0 {
            let write = write && !self.accesses_are_lifetimes;
            self.atomic.push(PlainAccess { object, write, is_atomic: true });
        }
    }

    /// An operation on more than a word, or on what is accessed in parts elsewhere.
    #[cold]
    fn operate_on_parts(&mut self, address: usize, end: usize, write: bool) {
        let mut at = address;
        while at < end {
            let granule = at - at % GRANULE;
            let stop = end.min(granule + GRANULE);
            for piece in self.pieces(granule, (at - granule) as u8, (stop - granule) as u8) {
                self.operate_on(piece.object, write);
            }
            at = stop;
        }
    }

    /// The pieces that together are exactly these bytes of a granule.
    fn pieces(&mut self, granule: usize, from: u8, to: u8) -> Vec<Piece> {
        if self.divide(granule, from, to) {
            CUT.store(true, Ordering::Relaxed);
            self.cache.fill((0, 0, ObjectId::new(0)));
        }
        let is_within = |piece: &&Piece| from <= piece.start && piece.end <= to;
        self.granules[&granule].iter().filter(is_within).copied().collect()
    }

    /// What the operation of the step accessed.
    #[inline]
    pub(crate) fn atomic(&self) -> &[PlainAccess] {
        &self.atomic
    }

    /// Notes how a piece is accessed. If that is new, and the other way was there before, the
    /// search has to begin again.
    #[inline]
    fn come(&mut self, object: ObjectId, write: bool, way: u8) {
        if !self.looked_at.is_empty() && self.looked_at.binary_search(&object).is_ok() {
            self.note_sighting(object, write, way);
        }
        let ways = &mut self.memories[object.index()].ways;
        if *ways & way == 0 {
            if *ways != 0 {
                CUT.store(true, Ordering::Relaxed);
            }
            *ways |= way;
            self.n_ways += 1;
        }
    }

    #[cold]
    fn note_sighting(&mut self, object: ObjectId, write: bool, way: u8) {
        if self.sightings.len() >= MOST_SIGHTINGS {
            return;
        }
        let Memory { address, len, .. } = self.memories[object.index()];
        // Lives end, and have no values.
        let held = (!self.accesses_are_lifetimes && !self.is_ending)
            .then(|| Held::new(address, usize::from(len), write))
            .flatten();
        let frames = names::frames();
        if write && way == PLAIN && held.is_some_and(|held| held.after.is_none()) {
            let target = Target::Sighting(self.sightings.len());
            after_write::note(target, address, usize::from(len), &frames);
        }
        self.sightings.push(Seen {
            memory: object,
            thread: machine::current(),
            write,
            is_atomic: way == ATOMIC,
            frames,
            function: library::inside(),
            held,
        });
    }

    /// A block of the heap ends. That is a write to whatever of it was accessed; who accesses it
    /// later in this execution uses what was freed.
    pub(crate) fn end(&mut self, address: usize, len: usize) {
        if !self.is_on {
            return;
        }
        // What ends has no value any more.
        self.is_ending = true;
        let granules = (address - address % GRANULE..address + len).step_by(GRANULE);
        if granules.len() <= self.granules.len() {
            granules.for_each(|granule| self.end_granule(granule));
        } else {
            let range = address..address + len;
            let within = self.granules.keys().copied().filter(|granule| range.contains(granule));
            let mut within: Vec<usize> = within.collect();
            within.sort_unstable();
            within.into_iter().for_each(|granule| self.end_granule(granule));
        }
        self.is_ending = false;
    }

    fn end_granule(&mut self, granule: usize) {
        let Some(pieces) = self.granules.get_mut(&granule) else { return };
        let pieces = std::mem::take(pieces);
        for piece in &pieces {
            self.tell(piece.object, true);
        }
        self.granules.insert(granule, pieces);
    }

    #[inline]
    fn record(&mut self, object: ObjectId, write: bool) {
        self.tell(object, write && !self.accesses_are_lifetimes);
    }

    #[inline]
    fn tell(&mut self, object: ObjectId, write: bool) {
        self.come(object, write, PLAIN);
        let stamp = self.step * 2 + u64::from(write);
        let last = &mut self.memories[object.index()].stamp;
        if *last < stamp {
            *last = stamp;
            self.accesses.push(PlainAccess::new(object, write));
        }
    }

    fn access_slowly(&mut self, address: usize, len: usize, write: bool) {
        let end = address + len;
        let mut at = address;
        while at < end {
            let granule = at - at % GRANULE;
            let stop = end.min(granule + GRANULE);
            let (from, to) = ((at - granule) as u8, (stop - granule) as u8);
            if self.divide(granule, from, to) {
                CUT.store(true, Ordering::Relaxed);
                self.cache.fill((0, 0, ObjectId::new(0)));
            }
            let pieces = std::mem::take(self.granules.entry(granule).or_default());
            for piece in pieces.iter().filter(|piece| from <= piece.start && piece.end <= to) {
                self.record(piece.object, write);
                if piece.start == from && piece.end == to && len == usize::from(to - from) {
                    self.cache[slot(address)] = (address, len, piece.object);
                }
            }
            self.granules.insert(granule, pieces);
            at = stop;
        }
    }

    /// Makes pieces that together are exactly these bytes of a granule. Whether one was cut.
    fn divide(&mut self, granule: usize, from: u8, to: u8) -> bool {
        let pieces = self.granules.entry(granule).or_default();
        let mut is_cut = false;
        for edge in [from, to] {
            let cut = pieces.iter().position(|piece| piece.start < edge && edge < piece.end);
            if let Some(idx) = cut {
                let whole = pieces[idx];
                let ways = self.memories[whole.object.index()].ways;
                let address = granule + usize::from(edge);
                let object = new_piece(&mut self.memories, address, whole.end - edge, ways);
                self.memories[whole.object.index()].len = edge - whole.start;
                pieces[idx].end = edge;
                pieces.push(Piece { start: edge, end: whole.end, object });
                is_cut = true;
            }
        }
        // What no piece covers yet becomes one.
        let mut at = from;
        while at < to {
            if let Some(piece) = pieces.iter().find(|piece| piece.start <= at && at < piece.end) {
                at = piece.end;
                continue;
            }
            let starts = pieces.iter().map(|piece| piece.start).filter(|&start| start > at);
            let end = starts.min().unwrap_or(to).min(to);
            let address = granule + usize::from(at);
            let object = new_piece(&mut self.memories, address, end - at, 0);
            pieces.push(Piece { start: at, end, object });
            at = end;
        }
        is_cut
    }
}

#[inline]
fn slot(address: usize) -> usize {
    (address ^ (address >> 10)) / 4 % N_CACHED
}

fn new_piece(memories: &mut Vec<Memory>, address: usize, len: u8, ways: u8) -> ObjectId {
    memories.push(Memory { address, stamp: 0, ways, len });
    ObjectId::new(memories.len() - 1)
}
