//! The shared words of Mazurka: operations and their dependence, happens-before, schedules, claims
//! and verdicts.
//!
//! A [`System`] is a concurrent program that is run one [`Operation`] at a time. Two operations are
//! [`dependent`] or they commute; executions that differ only in the order of independent steps are
//! one Mazurkiewicz [`Trace`]. A [`Schedule`] is the list of decisions that replays an execution,
//! and a [`Verdict`] says what was found or exactly what was proved: it cannot say *holds* without
//! a [`Coverage`].
//!
//! | to | see |
//! |---|---|
//! | have a program of one's own explored | [`System`], and `mazurka-explore` |
//! | know which operations commute | [`dependent`], [`may_be_coenabled`], [`may_enable`] |
//! | order the steps of an execution | [`HappensBefore`] |
//! | say what was proved | [`Coverage`], [`Property`], [`Bound`], [`Assumption`] |
//! | follow a search on its way | [`Event`] |
//!
//! ```
//! use mazurka_core::{Assumption, Bound, Coverage, Property};
//! use mazurka_core::{ObjectId, Operation, Schedule, dependent};
//!
//! // Two loads of one object commute; a load and a store do not.
//! let x = ObjectId::new(0);
//! assert!(!dependent(Operation::Load(x), Operation::Load(x)));
//! assert!(dependent(Operation::Load(x), Operation::Store(x)));
//!
//! // A schedule has a printed form: thread 0 takes three steps, then thread 1 one.
//! let schedule: Schedule = "mzk1:0x3.1".parse().unwrap();
//! assert_eq!(schedule.len(), 4);
//! assert_eq!(schedule.to_string(), "mzk1:0x3.1");
//!
//! // A claim names its properties, bounds and assumptions, and writes its own sentence.
//! let claim = Coverage::of([Property::Assertion, Property::Deadlock])
//!     .within(Bound::Preemption(2))
//!     .assuming(Assumption::NoRace);
//! let text = claim.to_string();
//! assert!(text.starts_with("no assertion failure or deadlock in any execution with at most"));
//! assert!(text.ends_with("preemptions, assuming no data race"));
//! ```

mod claim;
mod clock;
mod counter;
mod effort;
mod event;
pub mod fold;
mod gauge;
mod happens_before;
mod ids;
mod lines;
mod memory_model;
mod memory_order;
mod operation;
mod sample;
mod schedule;
mod short_names;
mod state_coverage;
mod system;
mod thread_set;
mod trace;
mod verdict;

pub use claim::{Assumption, Bound, Coverage, Fairness, Property};
pub use clock::VectorClock;
pub use counter::{AddId, Addition, Discipline, Tests};
pub use effort::{Cost, Rung, Shortest};
pub use event::{Estimate, Event, Phase, Progress};
pub use gauge::{Gauge, Reading};
pub use happens_before::{HappensBefore, Position};
pub use ids::{ObjectId, ThreadId};
pub use lines::{LineCoverage, LineRange};
pub use memory_model::{MemoryModel, UnknownMemoryModel};
pub use memory_order::{Fence, MemoryOrder, WeakAccess};
pub use operation::{
    End, Operation, Place, Touch, Touches, dependent, may_be_coenabled, may_disable, may_enable,
    waits_alike,
};
pub use sample::{Guarantee, Sample, SampleMethod};
pub use schedule::{Schedule, ScheduleError};
pub use state_coverage::{CoverageSample, StateCoverage, Visits};
pub use system::{
    Accessed, Decision, Detail, Divergence, Effect, Ending, Failure, Foresight, Injection, Next,
    Part, Passage, PlainAccess, Sighting, Spin, System, Violation, ViolationKind, possible,
    replay_to,
};
pub use thread_set::ThreadSet;
pub use trace::{Execution, PassedJoin, Step, Trace};
pub use verdict::{
    Access, Counterexample, DecisivePair, FailureSite, Limit, Location, PassingExecution, Solving,
    Source, Statistics, Told, Verdict, Wait,
};
