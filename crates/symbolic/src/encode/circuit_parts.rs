//! A program as a circuit: what its parts are.

use super::interference::Touches;
use super::meaning::Meaning;
use super::memory::Touch;
use super::operate::{Effects, Gate};
use super::temporal::Temporal;
use crate::{Circuit, Lit, Word};

/// Which alternative of a step of the machine a step of the circuit is.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// There is one.
    None,
    /// The one of this number.
    Number(Word),
    /// The thread that is woken, of those that sleep.
    Woken { sleepers: Vec<Lit>, woken: Vec<Lit> },
    /// There is one, and these threads may be started by it.
    Started(Vec<(Lit, usize)>),
}

/// A program as a circuit, and what its parts mean.
#[derive(Debug)]
pub struct Encoding {
    /// The circuit. Its bad states are those of [`meanings`](Self::meanings).
    pub circuit: Circuit,
    /// What each bad state means.
    pub meanings: Vec<Meaning>,
    /// What each justice property means.
    pub loops: Vec<Meaning>,
    pub(crate) temporal: Option<Temporal>,
    pub(crate) threads: Vec<ThreadPart>,
    /// What each thread touches, station by station, and where it may go on.
    pub(crate) touches: Vec<Touches>,
    /// The mutexes that are known by where they are.
    pub(crate) locks: Vec<Lock>,
    /// Whether a data race is an access of the step that is taken, with one that was watched. Else
    /// it is two threads that are about to make accesses.
    pub(crate) is_watched: bool,
}

/// A mutex that is known by where it is.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The number of the thread that has it, from 1.
    pub(crate) owner: Word,
}

/// What is known of a thread in each frame.
#[derive(Debug)]
pub(crate) struct ThreadPart {
    /// Whether it takes the step of the frame.
    pub(crate) executes: Lit,
    /// Whether it could.
    pub(crate) is_enabled: Lit,
    /// Where it can stand.
    pub(crate) stops: Vec<StopPart>,
}

/// What is known of a thread at a stop.
#[derive(Debug)]
pub(crate) struct StopPart {
    /// Whether it stands there.
    pub(crate) is_here: Lit,
    pub(crate) gate: Gate,
    /// The stops that the step goes past, in this order.
    pub(crate) passes: Vec<Pass>,
    /// What its step touches, up to the first of these.
    pub(crate) touches: Vec<Touch>,
    /// The stops that the step may lead to.
    pub(crate) next: Vec<usize>,
    /// What it does to mutexes and threads.
    pub(crate) effects: Effects,
    /// Whether no other thread moves while it is there.
    pub(crate) is_alone: bool,
    /// Whether it is the thread's beginning.
    pub(crate) is_first: bool,
}

/// A stop that a step may go past, since no other thread could disturb it.
#[derive(Debug)]
pub(crate) struct Pass {
    /// When it does.
    pub(crate) taken: Lit,
    pub(crate) gate: Gate,
}

impl StopPart {
    /// It is unreachable.
    pub(super) fn nowhere() -> Self {
        Self {
            is_here: Lit::FALSE,
            gate: Gate { is_open: Lit::FALSE, ..Gate::OPEN },
            passes: Vec::new(),
            touches: Vec::new(),
            next: Vec::new(),
            effects: Effects::default(),
            is_alone: false,
            is_first: false,
        }
    }
}
