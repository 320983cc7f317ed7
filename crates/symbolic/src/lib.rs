//! Concurrent programs as circuits, and the engines that decide them.
//!
//! A [`Circuit`] is an and-inverter graph ([`Aig`]) with latches that begin somewhere and have a next
//! value, constraints that executions must meet, and bad states to look for. An [`Engine`] takes it to
//! an [`Answer`]: safe, with a certificate that [can be checked](Certificate); safe to a depth; or
//! unsafe, with a [`Witness`] that [can be run](Circuit::simulate).

mod check;
mod circuit;
mod depth_first;
mod encode;
mod engine;
mod format;
mod lift;
mod schedule;
mod solver;

pub use check::{Finding, Question, Reply, check, sized};
pub use circuit::{
    Aig, Bad, Circuit, Cone, Cycles, Input, Latch, Lit, Node, Patterns, Property, Simulation,
    Wanted, Witness, WitnessError, Word,
};
pub use encode::{
    Bounds, Encode, Encoding, Fairness, Fault, Limit as BoundReached, Meaning, Refusal, Temporal,
    encode,
};
pub use engine::{
    Answer, Certificate, Depth, Engine, Found, Frames, Limits, Outcome, Progress, Statistics,
};
pub use format::AigerError;
pub use lift::{Lifted, Round};
pub use schedule::{CellTouch, Move, Schedule, Scheduler, peephole, quasi_monotonic};
pub use solver::{Formula, ProofError};
