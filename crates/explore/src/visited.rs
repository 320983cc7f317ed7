//! Visited states, by their hash: for searches that store states.
//!
//! Implements the stateful search of Flanagan and Godefroid (POPL 2005, section 5), with sleep
//! sets after Godefroid (LNCS 1032, 1996), section 5.3.
//!
//! | book                                          | here                      |
//! |-----------------------------------------------|---------------------------|
//! | *H*, states with their sleep sets             | [`Visited`]               |
//! | explore again what slept then and not now     | [`Seen::left_out`]        |
//!
//! Differs from the book: states are 128-bit hashes, so that two states may be taken for one, with
//! odds of about n² / 2^129 for n states; the coverage says so. A state that is met again while it
//! is on the stack closes a cycle: its predecessor is then explored in full, and nothing sleeps
//! because of the step that went round (`while x==0 { yield } | y=0; r=x; assert(0==1)` with
//! persistent sets).

use mazurka_core::ThreadSet;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// The states that were visited, each with what slept whenever it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Visited {
    states: FxHashMap<u128, State>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct State {
    /// The threads that slept at every visit.
    asleep: ThreadSet,
    on_stack: bool,
}

/// What is known of a state that is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// It is on the stack.
    pub(crate) on_stack: bool,
    /// The threads that are awake now and were left out before; `None` if the state is new.
    pub(crate) left_out: Option<ThreadSet>,
    /// The threads that slept at every visit, this one included.
    pub(crate) asleep: ThreadSet,
}

impl Visited {
    /// A state is reached, in which these threads sleep.
    pub(crate) fn enter(&mut self, state: u128, asleep: ThreadSet) -> Seen {
        match self.states.entry(state) {
            Entry::Vacant(entry) => {
                entry.insert(State { asleep, on_stack: true });
                Seen { on_stack: false, left_out: None, asleep }
            }
            Entry::Occupied(mut entry) => {
                let state = entry.get_mut();
                let left_out = state.asleep - asleep;
                state.asleep = state.asleep & asleep;
                let State { asleep, on_stack } = *state;
                Seen { on_stack, left_out: Some(left_out), asleep }
            }
        }
    }

    /// The state leaves the stack.
    pub(crate) fn leave(&mut self, state: u128) {
        if let Some(state) = self.states.get_mut(&state) {
            state.on_stack = false;
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }
}
