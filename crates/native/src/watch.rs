//! Plain accesses: which memory a step read and wrote, to the byte.
//!
//! Memory is divided into *pieces*, each watched as a whole. A piece begins as what was accessed
//! first, usually a variable. An access that covers only a part of one cuts it, in all executions
//! to come; since earlier steps of this one were recorded with the larger piece, the search then
//! has to begin again ([`CUT`]).

use crate::machine;
use crate::names;
use mazurka_core::{ObjectId, PlainAccess, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a long range is watched.
const WATCHED_OF_A_RANGE: usize = 4096;
/// How much of a block is watched when it is freed.
pub(crate) const WATCHED_OF_A_BLOCK: usize = 64;
const GRANULE: usize = 8;
const N_CACHED: usize = 1024;

/// Set when a piece was cut.
pub(crate) static CUT: AtomicBool = AtomicBool::new(false);

/// The accesses of the step in progress, and the names of memory.
pub(crate) struct Watch {
    accesses: Vec<PlainAccess>,
    /// How many of them are of the thread of the step, if not all: then the others are of the
    /// thread that it has started.
    n_own: Option<usize>,
    /// Not while an execution is repeated: its accesses were seen before.
    pub(crate) is_on: bool,
    granules: FxHashMap<usize, Vec<Piece>>,
    /// Where each piece begins.
    addresses: Vec<usize>,
    /// The step that last accessed each piece, twice, and one more if it wrote.
    stamps: Vec<u64>,
    step: u64,
    /// What is looked at, and from where it was accessed in this step: by whom, whether written, and
    /// the stack.
    looked_at: Option<ObjectId>,
    pub(crate) sightings: Vec<(ThreadId, bool, Vec<usize>)>,
    /// Pieces that were accessed as a whole: the address, the length, and which.
    cache: Vec<(usize, usize, ObjectId)>,
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
            n_own: None,
            is_on: true,
            granules: FxHashMap::default(),
            addresses: Vec::new(),
            stamps: Vec::new(),
            step: 1,
            looked_at: None,
            sightings: Vec::new(),
            cache: vec![(0, 0, ObjectId::new(0)); N_CACHED],
        }
    }

    /// A new step begins.
    pub(crate) fn begin_step(&mut self) {
        self.accesses.clear();
        self.n_own = None;
        self.sightings.clear();
        self.step += 1;
    }

    /// In the same step, the thread begins that it has started.
    pub(crate) fn begin_newborn(&mut self) {
        self.n_own = Some(self.accesses.len());
        self.step += 1;
    }

    /// The accesses of the step, of its thread and of the one that it has started.
    pub(crate) fn by_thread(&self) -> (&[PlainAccess], &[PlainAccess]) {
        self.accesses.split_at(self.n_own.unwrap_or(self.accesses.len()))
    }

    /// From now on, notes from where a piece of memory is accessed.
    pub(crate) fn look_at(&mut self, object: Option<ObjectId>) {
        self.looked_at = object;
    }

    /// Where a piece of memory is.
    pub(crate) fn address(&self, object: ObjectId) -> usize {
        self.addresses[object.index()]
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
            self.access_slowly(address, len.min(WATCHED_OF_A_RANGE), write);
        }
    }

    /// What was accessed as a whole there, or would be; nothing if parts of it were.
    pub(crate) fn whole(&mut self, address: usize, len: usize) -> Option<ObjectId> {
        let slot = slot(address);
        let (cached, cached_len, object) = self.cache[slot];
        if cached == address && cached_len == len {
            return Some(object);
        }
        let (granule, from) = (address - address % GRANULE, address % GRANULE);
        let to = Some(from + len).filter(|&to| to <= GRANULE)?;
        if self.divide(granule, from as u8, to as u8) {
            CUT.store(true, Ordering::Relaxed);
            self.cache.fill((0, 0, ObjectId::new(0)));
        }
        let is_it =
            |piece: &&Piece| usize::from(piece.start) == from && usize::from(piece.end) == to;
        let object = self.granules[&granule].iter().find(is_it)?.object;
        self.cache[slot] = (address, len, object);
        Some(object)
    }

    /// The running thread has added to a counter.
    pub(crate) fn note_addition(&mut self, memory: ObjectId) {
        if self.looked_at == Some(memory) {
            self.sightings.push((machine::current(), true, names::backtrace()));
        }
    }

    fn record(&mut self, object: ObjectId, write: bool) {
        if self.looked_at == Some(object) {
            self.sightings.push((machine::current(), write, names::backtrace()));
        }
        let stamp = self.step * 2 + u64::from(write);
        let last = &mut self.stamps[object.index()];
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
                let object =
                    new_piece(&mut self.addresses, &mut self.stamps, granule + usize::from(edge));
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
            let object = new_piece(&mut self.addresses, &mut self.stamps, address);
            pieces.push(Piece { start: at, end, object });
            at = end;
        }
        is_cut
    }
}

fn slot(address: usize) -> usize {
    (address ^ (address >> 10)) / 4 % N_CACHED
}

fn new_piece(addresses: &mut Vec<usize>, stamps: &mut Vec<u64>, address: usize) -> ObjectId {
    addresses.push(address);
    stamps.push(0);
    ObjectId::new(addresses.len() - 1)
}
