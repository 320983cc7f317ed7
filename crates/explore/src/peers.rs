//! Peers: other processes that share a search, where threads of one process cannot.
//!
//! A program that explores itself has one memory and one machine, so its workers are processes.
//! Units of [`Optimal`](crate::Reduction::Optimal) are self-contained: they go from one process to
//! another as bytes, and what each process has done comes back as a [`Part`]. How bytes travel and
//! which peer waits for which is decided by the implementation of [`Peers`]; the search gives units
//! when a peer is hungry, takes one when it has nothing left, and adds up the parts.
//!
//! All peers number threads in the same way, since the tree of `optimal` goes by these numbers.
//! Numbers of objects are a process's own, so units leave operations out.

use crate::explorer::ExploreError;
use crate::options::Options;
use crate::pool::{Reason, Report};
use crate::unit::{OptimalUnit, Unit};
use mazurka_core::{Divergence, Limit, Statistics};
use serde::{Deserialize, Serialize};

/// The other processes of a search.
pub trait Peers: Sync {
    /// A search begins, with these options and without a helper so far. Only the process that began
    /// the search says so.
    fn begin(&self, options: &Options);

    /// Whether a peer waits for work. It is asked after every execution.
    fn is_hungry(&self) -> bool;

    /// Gives a unit of work to a peer that waits.
    fn give(&self, unit: Vec<u8>);

    /// Waits for a unit of work. `None` once nothing is left anywhere, or a peer has ended the
    /// search.
    fn take(&self) -> Option<Vec<u8>>;

    /// Whether a peer has ended the search.
    fn is_stopped(&self) -> bool;

    /// Ends the search of all.
    fn stop(&self);

    /// Adds executions to those of all, and tells how many there are.
    fn count(&self, executions: u64) -> u64;

    /// What the others have counted so far, for people.
    fn others(&self) -> Statistics;

    /// Waits for the end of the others. Only the process that began the search asks.
    fn collect(&self) -> Collected;
}

/// What the others have left.
#[derive(Debug, Default)]
pub struct Collected {
    /// What each of them has done.
    pub parts: Vec<Part>,
    /// Units that were given and not taken.
    pub units: Vec<Vec<u8>>,
}

/// What one process has done of a search.
#[derive(Debug, Serialize, Deserialize)]
pub struct Part {
    pub(crate) report: Report,
    units: Vec<OptimalUnit>,
    end: End,
    pub(crate) is_abandoned: bool,
}

/// Why a process stopped.
#[derive(Debug, Serialize, Deserialize)]
enum End {
    NothingLeft,
    Violated,
    Learnt,
    Limit(Limit),
    Nondeterministic { step: usize, expected: String, found: String },
    TooManyThreads(usize),
}

impl Part {
    pub(crate) fn new(
        report: Report,
        units: &[Unit],
        reason: Option<Reason>,
        is_abandoned: bool,
    ) -> Self {
        let end = match reason {
            None | Some(Reason::Peer) => End::NothingLeft,
            Some(Reason::Violated) => End::Violated,
            Some(Reason::Learnt) => End::Learnt,
            Some(Reason::Limit(limit)) => End::Limit(limit),
            Some(Reason::Error(ExploreError::Nondeterministic(how))) => {
                let Divergence { step, expected, found } = how;
                End::Nondeterministic { step, expected, found }
            }
            Some(Reason::Error(ExploreError::TooManyThreads(n))) => End::TooManyThreads(n),
            Some(Reason::Error(error @ (ExploreError::Options(_) | ExploreError::Saved(_)))) => {
                panic!("it was looked at before the search was shared: {error}")
            }
        };
        let units = units.iter().map(|unit| without_operations(optimal(unit))).collect();
        Self { report, units, end, is_abandoned }
    }

    /// Whether it was stopped by a limit, and by which.
    pub fn limit(&self) -> Option<&Limit> {
        match &self.end {
            End::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.report.statistics
    }

    /// Its compact binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("everything in it can be written")
    }

    /// Reads the compact binary form.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    pub(crate) fn into_pieces(self) -> (Report, Vec<Unit>, Option<Reason>) {
        let reason = match self.end {
            End::NothingLeft => None,
            End::Violated => Some(Reason::Violated),
            End::Learnt => Some(Reason::Learnt),
            End::Limit(limit) => Some(Reason::Limit(limit)),
            End::Nondeterministic { step, expected, found } => {
                let how = Divergence { step, expected, found };
                Some(Reason::Error(ExploreError::Nondeterministic(how)))
            }
            End::TooManyThreads(n) => Some(Reason::Error(ExploreError::TooManyThreads(n))),
        };
        (self.report, self.units.into_iter().map(Unit::Optimal).collect(), reason)
    }
}

/// A unit as bytes.
pub(crate) fn to_bytes(unit: &Unit) -> Vec<u8> {
    postcard::to_stdvec(&without_operations(optimal(unit)))
        .expect("everything in it can be written")
}

/// A unit that a peer has given.
pub(crate) fn from_bytes(bytes: &[u8]) -> Unit {
    let unit = postcard::from_bytes(bytes).expect("a peer is this very program");
    Unit::Optimal(unit)
}

fn optimal(unit: &Unit) -> &OptimalUnit {
    let Unit::Optimal(unit) = unit else { panic!("only `optimal` is shared between processes") };
    unit
}

/// The unit without the numbers of objects, which are those of one process. Steps are then held to
/// whether they are possible.
pub(crate) fn without_operations(unit: &OptimalUnit) -> OptimalUnit {
    let mut unit = unit.clone();
    unit.steps.iter_mut().for_each(|step| step.operation = None);
    unit
}
