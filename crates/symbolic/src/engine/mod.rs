//! Engines: each takes a circuit to an answer.

mod answer;
mod limits;

pub use answer::{Answer, Certificate, Depth, Engine, Outcome, Progress, Statistics};
pub use limits::Limits;
