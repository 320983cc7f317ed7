//! Bitstate hashing: of every state a few bits in a table of fixed size.
//!
//! Implements Holzmann, *An Analysis of Bitstate Hashing* (Formal Methods in System Design 13,
//! 1998).
//!
//! Differs from the paper: several workers share the table. Two that come to a state at the same
//! moment may each set one of its bits, and then both take it for new: it is counted and expanded
//! twice.

use super::table::Full;
use super::{Seen, Session, Store, hashes};
use crate::saved::{Reader, Writer};
use mazurka_core::Assumption;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many bits a state has.
const BITS: u64 = 3;

/// A table of bits.
pub(crate) struct Bitstate {
    words: Box<[AtomicU64]>,
    n_states: AtomicU32,
}

impl Bitstate {
    /// A table of 2 to this power bits.
    pub(crate) fn new(power: u32) -> Self {
        let words = 1usize << power.max(6) >> 6;
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect(), n_states: AtomicU32::new(0) }
    }

    pub(crate) fn load(power: u32, from: &mut Reader) -> io::Result<Self> {
        let mut new = Self::new(power);
        for _ in 0..from.len()? {
            let (at, word) = (from.len()?, from.word()?);
            *new.words[at].get_mut() = word;
        }
        *new.n_states.get_mut() = from.word()? as u32;
        Ok(new)
    }
}

impl Store for Bitstate {
    type Session<'a> = &'a Self;

    fn session(&self) -> &Self {
        self
    }

    fn bytes(&self) -> u64 {
        size_of_val::<[AtomicU64]>(&self.words) as u64
    }

    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed)).enumerate();
        let used = || words.clone().filter(|&(_, word)| word != 0);
        out.len(used().count())?;
        for (at, word) in used() {
            out.len(at)?;
            out.word(word)?;
        }
        out.word(u64::from(self.n_states.load(Ordering::Relaxed)))
    }

    fn assumption(&self, n_states: u64) -> Option<Assumption> {
        let filled = 1.0 - (-((BITS * n_states) as f64) / (self.words.len() * 64) as f64).exp();
        let odds = filled.powi(BITS as i32);
        Some(Assumption::Bitstate { bits: BITS as u32, odds })
    }
}

impl Session for &Bitstate {
    /// Its hashes.
    type Key = [u64; 2];

    fn key(&mut self, state: &[u8]) -> Result<[u64; 2], Full> {
        Ok(hashes(state))
    }

    fn try_insert(&mut self, [first, second]: [u64; 2], _state: &[u8]) -> Result<Seen, Full> {
        let mut is_new = false;
        for idx in 0..BITS {
            let hash = first.wrapping_add(idx.wrapping_mul(second | 1));
            let bit = hash as usize % (self.words.len() * 64);
            let mask = 1 << (bit % 64);
            let word = &self.words[bit / 64];
            if word.load(Ordering::Relaxed) & mask == 0 {
                is_new |= word.fetch_or(mask, Ordering::Relaxed) & mask == 0;
            }
        }
        Ok(match is_new {
            true => Seen::New(self.n_states.fetch_add(1, Ordering::Relaxed)),
            false => Seen::Old(None),
        })
    }

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn grow(&mut self) {}
}
