//! Symbolic model checking: concurrent programs as circuits, decided by bounded model checking,
//! k-induction, IC3 and decision diagrams.
//!
//! A [`Circuit`] is an and-inverter graph ([`Aig`]) with latches that begin somewhere and have a
//! next value, constraints that executions must meet, and bad states to look for. An [`Engine`]
//! takes it to an [`Answer`]: safe, with a certificate that [can be checked](Certificate); safe to
//! a depth; or unsafe, with a [`Witness`] that [can be run](Circuit::simulate). [`encode()`] makes
//! a circuit of a program, and a [`Scheduler`] leaves out interleavings in it: stubborn sets,
//! transactions, peephole and monotonic partial-order reduction, or one of your own
//! (`examples/scheduler.rs`).
//!
//! ```
//! use mazurka_symbolic::{Answer, Circuit, Engine, Limits};
//!
//! // Two bits that count 0, 1, 2 and then begin again: 3 is never reached.
//! let mut circuit = Circuit::new();
//! let low = circuit.latch("low", Some(false));
//! let high = circuit.latch("high", Some(false));
//! let is_zero = circuit.aig.and(!low, !high);
//! circuit.set_next(low, is_zero);
//! circuit.set_next(high, low);
//! let is_three = circuit.aig.and(low, high);
//! circuit.bad(is_three, "three");
//!
//! for engine in [Engine::Induction, Engine::Ic3, Engine::Bdd] {
//!     let outcome = engine.decide(&circuit, &Limits::default(), &mut |_| {});
//!     assert!(matches!(outcome.answer, Answer::Safe(_)), "{}", engine.name());
//! }
//!
//! // 2 is reached, after two steps.
//! circuit.bad(high, "two");
//! let outcome = Engine::Bounded.decide(&circuit, &Limits::default(), &mut |_| {});
//! let Answer::Unsafe(witness) = outcome.answer else { panic!("it is reached") };
//! assert!(circuit.simulate(&witness).is_ok());
//! ```

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
