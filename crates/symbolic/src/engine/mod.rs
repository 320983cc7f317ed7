//! Engines: each takes a circuit to an answer.

mod answer;
mod bdd;
mod bounded;
mod certificate;
mod constraint_choice;
mod ic3;
mod induction;
mod limits;
mod lookahead;
mod portfolio;

pub use answer::{Answer, Depth, Outcome, Progress, Statistics};
pub use bounded::{Found, Frames};
pub use certificate::Certificate;
pub use limits::Limits;

pub(crate) use limits::Watch;

use crate::{Circuit, Cone, Wanted};

/// Who decides a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// All executions of 0 steps, then of 1, and so on.
    Bounded,
    /// As before, until nothing bad can come after so many steps without it.
    Induction,
    /// Looks for an invariant, clause by clause.
    Ic3,
    /// Collects the reachable states in a decision diagram.
    Bdd,
    /// All of the others side by side.
    Portfolio,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Bounded, Self::Induction, Self::Ic3, Self::Bdd, Self::Portfolio];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bounded => "bounded",
            Self::Induction => "induction",
            Self::Ic3 => "ic3",
            Self::Bdd => "bdd",
            Self::Portfolio => "portfolio",
        }
    }

    /// Whether anything bad can happen in a circuit, and how. Justice properties are not looked at.
    ///
    /// `progress` is called after every depth.
    ///
    /// # Panics
    ///
    /// If an engine is wrong: an execution that it found does not end in a bad state.
    pub fn decide(
        self,
        circuit: &Circuit,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        let cone = circuit.cone_of(|wanted| matches!(wanted, Wanted::Bad(_)));
        let watch = Watch::new(limits);
        let mut job = Job { engine: self, circuit: &cone.circuit, watch: &watch, progress };
        let mut outcome = self.run(&mut job);
        outcome.answer = lift(&cone, outcome.answer);
        if let Answer::Unsafe(witness) = &outcome.answer {
            let simulated = circuit.simulate(witness);
            simulated.unwrap_or_else(|error| panic!("{} found no execution: {error}", self.name()));
        }
        outcome
    }

    /// Whether anything bad can happen in a circuit or an execution without end can break one of
    /// its justice properties, and how.
    ///
    /// Depths are those of the translation: executions with so many frames before the loop is
    /// closed.
    ///
    /// # Panics
    ///
    /// If an engine is wrong: an execution that it found shows nothing of that.
    pub fn decide_cycles(
        self,
        circuit: &Circuit,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        let cycles = circuit.cycles();
        let mut outcome = self.decide(&cycles.circuit, limits, progress);
        outcome.answer = match outcome.answer {
            Answer::Safe(certificate) => Answer::Safe(Certificate::Cycles(Box::new(certificate))),
            Answer::Unsafe(witness) => Answer::Unsafe(cycles.lift(&witness)),
            other => other,
        };
        if let Answer::Unsafe(witness) = &outcome.answer {
            let simulated = circuit.simulate(witness);
            simulated.unwrap_or_else(|error| panic!("{} found no cycle: {error}", self.name()));
        }
        outcome
    }

    fn run(self, job: &mut Job<'_>) -> Outcome {
        match self {
            Self::Bounded => bounded::decide(job),
            Self::Induction => induction::decide(job),
            Self::Ic3 => ic3::decide(job),
            Self::Bdd => bdd::decide(job, bdd::MANY_NODES),
            Self::Portfolio => portfolio::decide(job),
        }
    }
}

/// What an engine has to do.
struct Job<'a> {
    engine: Engine,
    circuit: &'a Circuit,
    watch: &'a Watch,
    progress: &'a mut dyn FnMut(&Progress),
}

impl Job<'_> {
    /// Tells that a depth is done.
    fn passed(&mut self, depth: usize, statistics: &Statistics) {
        let statistics = statistics.clone();
        (self.progress)(&Progress { engine: self.engine, depth, statistics });
    }

    fn outcome(&self, answer: Answer, statistics: Statistics) -> Outcome {
        Outcome { answer, statistics, engine: self.engine }
    }
}

/// An answer about a cone as one about the whole circuit.
fn lift(cone: &Cone, answer: Answer) -> Answer {
    match answer {
        Answer::Safe(certificate) => Answer::Safe(match certificate {
            Certificate::Clauses(clauses) => {
                let lift = |clause: &Vec<_>| clause.iter().map(|&lit| cone.larger(lit)).collect();
                Certificate::Clauses(clauses.iter().map(lift).collect())
            }
            Certificate::Set { aig, member, latches } => {
                let latches = latches.into_iter().map(|idx| cone.larger_latch(idx)).collect();
                Certificate::Set { aig, member, latches }
            }
            other => other,
        }),
        Answer::Unsafe(witness) => Answer::Unsafe(cone.lift(&witness)),
        other => other,
    }
}
