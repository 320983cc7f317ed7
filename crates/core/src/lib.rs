//! The shared words of Mazurka.
//!
//! A [`System`] is a concurrent program that is run one [`Operation`] at a time. Two operations
//! are [`dependent`] or they commute; executions that differ only in the order of independent
//! steps are one [`Trace`]. A [`Schedule`] is the list of decisions that replays an execution,
//! and a [`Verdict`] says what was found or exactly what was proved.

mod clock;
mod counter;
mod event;
pub mod fold;
mod happens_before;
mod ids;
mod memory_order;
mod operation;
mod schedule;
mod state_coverage;
mod system;
mod trace;
mod verdict;

pub use clock::VectorClock;
pub use counter::{Addition, Discipline, Tests, Turn};
pub use event::{Estimate, Event, Progress};
pub use happens_before::{HappensBefore, Position};
pub use ids::{ObjectId, ThreadId, ThreadSet};
pub use memory_order::{Fence, MemoryOrder, WeakAccess};
pub use operation::{
    End, Operation, Place, Touch, Touches, dependent, may_be_coenabled, may_disable, may_enable,
    waits_alike,
};
pub use schedule::{Schedule, ScheduleError};
pub use state_coverage::{CoverageSample, StateCoverage, Visits};
pub use system::{
    Decision, Divergence, Effect, Ending, Failure, Foresight, Next, Part, PlainAccess, Sighting,
    Spin, System, Violation, ViolationKind, possible, replay_to,
};
pub use trace::{Execution, PassedJoin, Step, Trace};
pub use verdict::{
    Access, Counterexample, Coverage, Limit, Location, Statistics, Told, Verdict, Wait,
};
