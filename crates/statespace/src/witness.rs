//! The cycle proviso (ignoring prevention) for any order of search and any number of workers: a
//! forest of witnesses.
//!
//! This is condition C2 of `ample.rs` where there is no path to look at: breadth-first search, and
//! several workers. It is for finite executions, that is for faults and wrong ends.
//!
//! Differs from the literature: Bošnački and Holzmann, *Improving Spin's Partial-Order Reduction
//! for Breadth-First Search* (SPIN 2005), and LTSmin's closed-set proviso for several workers
//! (Laarman, Pater, van de Pol and Hansen, *Guard-Based Partial-Order Reduction*, STTT 2016), let a
//! set stand only if one of its successors was not known before. Where few states are left, that is
//! seldom so, and most of the reduction is lost: what everybody reaches is known already.
//!
//! # The rule
//!
//! Every state has a witness once it was visited, which happens once: it is *full*, all its moves
//! are taken, or its witness is a state that the moves of its set lead to. A state without witness
//! was not visited yet, or is being visited. From a state one comes by witnesses to its *root*: a
//! full state, or one without witness. A set of a state `s` stands if
//!
//! 1. one of its successors is new: that is the witness of `s` ([`Witnesses::discover`]); or
//! 2. some successor is old, and its root is not `s` itself ([`Witnesses::find`]): this successor
//!    is the witness.
//!
//! Otherwise it is the next set's turn, and in the end all moves are taken and `s` is full
//! ([`Witnesses::fill`]). So a state with moves left out always has a witness.
//!
//! # Why witnesses never lead round
//!
//! Rule 2 is applied by one worker at a time, with a lock, unless the root is full; and rule 1
//! before others can visit the new state: it is handed to the others afterwards. A witness whose
//! root is full is on no way round, whichever worker notes it when: all that it leads to was noted
//! before, for good. So suppose that others lead round, and look at the last one that was noted,
//! that of `s`.
//!
//! - If it was noted by rule 1, the witness `t` was new. It had no witness itself then, since it is
//!   visited only afterwards, so the one of `t` was noted later: a contradiction.
//! - If it was noted by rule 2, all others on the way round were there before, and the worker knew
//!   them, as follows from `s` backwards: a witness that was noted by rule 2 is known because of
//!   the lock; and one that was noted by rule 1 was noted before the state it leads to was handed
//!   over to be visited, and so before the witness of that state was noted, which is known (or is
//!   `s`, which this worker was handed). Hence the root that it found was `s`, and it did not note
//!   it.
//!
//! # Why that is enough
//!
//! When all states were visited, every root is full. So from every state one comes, by moves that
//! were taken, to a full one. Let `w` be a sequence of steps from a state `s` to something that
//! goes wrong. If a process of the set of `s` is in `w`, then the first of its steps in `w` can be
//! taken first, and the rest is shorter. If none is, the moves of the set commute with all of `w`:
//! behind the witness, `w` goes wrong in the same way. After finitely many witnesses comes a full
//! state, where the first step of `w` is taken. By induction on the length of `w`, it is found.
//! (For ends, no such condition is needed.) This is the weak form of Valmari's condition S,
//! *Stubborn Sets for Reduced State Space Generation* (LNCS 483, 1991).

use crate::saved::{Form, Reader, Writer};
use crate::store::Chunked;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The witnesses of all states, by the numbers of these.
pub(crate) struct Witnesses {
    /// [`NONE`], [`FULL`], or the number of a witness, or of one that it leads to, from [`FIRST`]
    /// on.
    of: Chunked<AtomicU32>,
    /// Held by who finds one among old states.
    finding: Mutex<()>,
}

/// Not visited yet, or being visited.
const NONE: u32 = 0;
/// All moves are taken.
const FULL: u32 = 1;
/// The first state.
const FIRST: u32 = 2;

/// Where witnesses lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Full,
    /// To a state without one.
    Open(u32),
}

impl Form for Witnesses {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        self.of.save(out)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(Self { of: Chunked::load(from)?, finding: Mutex::new(()) })
    }
}

impl Witnesses {
    pub(crate) fn new() -> Self {
        Self { of: Chunked::new(), finding: Mutex::new(()) }
    }

    /// All moves of a state are going to be taken, or it has none.
    pub(crate) fn fill(&self, state: u32) {
        self.of.make(state as usize).store(FULL, Ordering::Release);
    }

    /// A state that is being visited leads to one that was not known, and which no worker was
    /// handed yet.
    pub(crate) fn discover(&self, state: u32, new: u32) {
        let of = self.of.make(state as usize);
        if of.load(Ordering::Relaxed) == NONE {
            of.store(new + FIRST, Ordering::Release);
        }
    }

    /// Finds a witness of a state that is being visited, among old states that one set leads to;
    /// returns whether there is one.
    pub(crate) fn find(&self, state: u32, old: &[u32]) -> bool {
        let is_full = |it: &&u32| self.root(**it) == Root::Full;
        let is_other = |it: &&u32| self.root(**it) != Root::Open(state);
        let mut witness = old.iter().find(is_full);
        let guard = match witness {
            Some(_) => None,
            None => Some(self.finding.lock().expect("the lock is not poisoned")),
        };
        witness = witness.or_else(|| old.iter().find(is_other));
        if let Some(witness) = witness {
            self.of.make(state as usize).store(witness + FIRST, Ordering::Release);
        }
        drop(guard);
        witness.is_some()
    }

    /// Where witnesses lead from a state. On the way, each that is passed is led on further, to one
    /// that it leads to. Several workers may do that at once: what each writes was noted for good,
    /// and is further on the same way than the state that it is written for, whichever worker is
    /// last.
    fn root(&self, state: u32) -> Root {
        let mut at = state;
        loop {
            let of = self.of.make(at as usize);
            let next = match of.load(Ordering::Acquire) {
                NONE => return Root::Open(at),
                FULL => return Root::Full,
                next => next - FIRST,
            };
            match self.of.make(next as usize).load(Ordering::Acquire) {
                NONE => return Root::Open(next),
                FULL => return Root::Full,
                after => {
                    of.store(after, Ordering::Release);
                    at = after - FIRST;
                }
            }
        }
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.of.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn witnesses_do_not_lead_round() {
        let witnesses = Witnesses::new();
        for state in 0..99 {
            witnesses.discover(state, state + 1);
        }
        assert!(!witnesses.find(99, &[0, 50, 99]), "all of them lead to it");
        assert!(witnesses.find(200, &[10]), "they lead to another one that is open");
        assert!(!witnesses.find(99, &[200]));
        assert!(witnesses.find(99, &[7, 300]));
        assert!(!witnesses.find(300, &[0, 99]));
        witnesses.fill(300);
        assert_eq!(witnesses.root(0), Root::Full);
        assert!(witnesses.find(301, &[200]));
    }
}
