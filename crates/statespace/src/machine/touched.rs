//! Read and write sets: what a process touches on its way to its moves, part by part of the state.
//!
//! It is noted by the interpreter alone, and only for [`parts`](super::parts): states that agree on
//! all that was touched has the same moves.

use super::parts::Cut;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most parts that a state can have.
pub(super) const MOST: usize = 256;

/// Some parts of a state, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts([u64; MOST / 64]);

impl Parts {
    pub(super) fn contains(self, part: usize) -> bool {
        self.0[part / 64] >> (part % 64) & 1 == 1
    }

    /// Adds one, unless there cannot be so many.
    pub(super) fn insert(&mut self, part: usize) {
        if let Some(bits) = self.0.get_mut(part / 64) {
            *bits |= 1 << (part % 64);
        }
    }

    /// All of them, the first one first.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let words = self.0.into_iter().enumerate();
        words.flat_map(|(idx, bits)| {
            let rest = |&bits: &u64| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
            let bits = std::iter::successors(Some(bits).filter(|&bits| bits != 0), rest);
            bits.map(move |bits| 64 * idx + bits.trailing_zeros() as usize)
        })
    }

    /// Those of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|idx| self.0[idx] | other.0[idx]))
    }
}

/// The parts that were touched. It is off unless it is turned on, and shared by nobody: the cells
/// are atomic because those who have it are.
#[derive(Debug, Default)]
pub(super) struct Touched {
    is_on: AtomicBool,
    bits: [AtomicU64; MOST / 64],
    /// Where the parts are.
    cut: Option<Arc<Cut>>,
    /// The same, byte by byte, in states with some processes; and whether that was looked for.
    bytes: Option<Arc<Bytes>>,
    is_laid_out: bool,
}

/// The parts of the bytes of states that have processes of the same routines.
#[derive(Debug)]
struct Bytes {
    routines: Vec<u8>,
    parts: Vec<u8>,
}

impl Clone for Touched {
    /// One that is off.
    fn clone(&self) -> Self {
        Self { cut: self.cut.clone(), bytes: self.bytes.clone(), ..Self::default() }
    }
}

impl Touched {
    /// Says where the parts are.
    pub(super) fn set(&mut self, cut: Arc<Cut>) {
        self.cut = Some(cut);
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Begins to note what is touched.
    pub(super) fn begin(&self) {
        self.bits.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Stops, and tells what was touched.
    pub(super) fn end(&self) -> Parts {
        self.is_on.store(false, Ordering::Relaxed);
        Parts(self.bits.each_ref().map(|bits| bits.load(Ordering::Relaxed)))
    }

    /// Takes over whether anything is noted, and where parts are; not what has been touched.
    pub(super) fn follow(&mut self, other: &Self) {
        let is_on = other.is_on();
        if is_on && self.cut.is_none() {
            self.cut.clone_from(&other.cut);
        }
        if is_on && self.bytes.as_ref().map(Arc::as_ptr) != other.bytes.as_ref().map(Arc::as_ptr) {
            self.bytes.clone_from(&other.bytes);
        }
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Everything is where it was in the state before, so that it is worth while to find out where
    /// that is.
    #[inline]
    pub(super) fn stay(&mut self, len: usize, processes: &[u32], routines: &[u8]) {
        if !self.is_laid_out && self.cut.is_some() {
            self.lay_out(len, processes, routines);
        }
    }

    /// Not everything is where it was.
    pub(super) fn move_away(&mut self) {
        self.bytes = None;
        self.is_laid_out = false;
    }

    /// States have processes of these routines that begin here, and so many bytes.
    #[cold]
    fn lay_out(&mut self, len: usize, processes: &[u32], routines: &[u8]) {
        self.is_laid_out = true;
        let Some(cut) = self.cut.as_deref() else { return };
        let part_of = |at: usize| {
            let mut parts = cut.parts_of(at, processes, routines);
            let part = parts.next().filter(|_| parts.is_empty())?;
            u8::try_from(part).ok()
        };
        // Without a part of its own for every byte, each is looked for when it is touched.
        let parts: Option<Vec<u8>> = (0..len).map(part_of).collect();
        let routines = routines.to_vec();
        self.bytes = parts.map(|parts| Arc::new(Bytes { routines, parts }));
    }

    fn insert(&self, part: usize) {
        // What is beyond has no number, and a lookup finds out.
        if let Some(bits) = self.bits.get(part / 64) {
            bits.store(bits.load(Ordering::Relaxed) | 1 << (part % 64), Ordering::Relaxed);
        }
    }

    /// Notes some bytes, in a state with processes of these routines that begin here.
    pub(super) fn note(&self, bytes: Range<usize>, processes: &[u32], routines: &[u8]) {
        match self.bytes.as_deref().filter(|known| known.routines == routines) {
            Some(known) => match known.parts.get(bytes.clone()) {
                Some(parts) => parts.iter().for_each(|&part| self.insert(usize::from(part))),
                None => self.look_for(bytes, processes, routines),
            },
            None => self.look_for(bytes, processes, routines),
        }
    }

    #[cold]
    fn look_for(&self, bytes: Range<usize>, processes: &[u32], routines: &[u8]) {
        let cut = self.cut.as_deref().expect("it is turned on with the parts known");
        let parts = bytes.flat_map(|at| cut.parts_of(at, processes, routines));
        parts.for_each(|part| self.insert(part));
    }
}
