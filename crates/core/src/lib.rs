//! The shared words of Mazurka.
//!
//! A [`System`] is a concurrent program that is run one [`Operation`] at a time. Two operations
//! are [`dependent`] or they commute; executions that differ only in the order of independent
//! steps are one [`Trace`]. A [`Schedule`] is the list of decisions that replays an execution,
//! and a [`Verdict`] says what was found or exactly what was proved.

mod claim;
mod clock;
mod counter;
mod effort;
mod event;
pub mod fold;
mod gauge;
mod happens_before;
mod ids;
mod memory_model;
mod memory_order;
mod operation;
mod sample;
mod schedule;
mod state_coverage;
mod system;
mod thread_set;
mod trace;
mod verdict;

pub use claim::{Assumption, Bound, Coverage, Fairness, Property};
pub use clock::VectorClock;
pub use counter::{Addition, Discipline, Tests, Turn};
pub use effort::{Cost, Rung, Shortest};
pub use event::{Estimate, Event, Phase, Progress};
pub use gauge::{Gauge, Reading};
pub use happens_before::{HappensBefore, Position};
pub use ids::{ObjectId, ThreadId};
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
    Accessed, Decision, Divergence, Effect, Ending, Failure, Foresight, Injection, Next, Part,
    PlainAccess, Sighting, Spin, System, Violation, ViolationKind, possible, replay_to,
};
pub use thread_set::ThreadSet;
pub use trace::{Execution, PassedJoin, Step, Trace};
pub use verdict::{
    Access, Counterexample, DecisivePair, FailureSite, Limit, Location, Solving, Statistics, Told,
    Verdict, Wait,
};
