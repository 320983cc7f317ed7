//! Concurrent programs as circuits, and the engines that decide them.
//!
//! A [`Circuit`] is an and-inverter graph ([`Aig`]) with latches that begin somewhere and have a next
//! value, constraints that executions must meet, and bad states to look for. An [`Engine`] takes it to
//! an [`Answer`]: safe, with a certificate that [can be checked](Certificate); safe to a depth; or
//! unsafe, with a [`Witness`] that [can be run](Circuit::simulate).

mod aig;
mod answer;
mod circuit;
mod cone;
mod limits;
mod witness;

pub use aig::{Aig, Lit, Node, Patterns};
pub use answer::{Answer, Certificate, Depth, Engine, Outcome, Progress, Statistics};
pub use circuit::{Bad, Circuit, Input, Latch};
pub use cone::{Cone, Wanted};
pub use limits::Limits;
pub use witness::{Property, Simulation, Witness, WitnessError};
