//! Bounded search: executions of 0 steps, then of 1, and so on, in one solver.
//!
//! Implements Biere, Cimatti, Clarke and Zhu, *Symbolic Model Checking without BDDs* (TACAS 1999), the
//! part about safety, with assumptions as in Eén and Sörensson, *Temporal Induction by Incremental
//! SAT Solving* (BMC 2003).
//!
//! | papers                              | here                   |
//! |-------------------------------------|------------------------|
//! | I(s0) and T(s0, s1) and … , unrolled | [`Unrolling`]          |
//! | the property at the last frame only | an assumption          |
//! | learnt clauses stay                 | one [`Solver`]         |
//!
//! Differs: once the constraints allow no execution of some length, nothing is left to search, and
//! the answer is about all executions.

use super::{Answer, Certificate, Depth, Job, Limits, Outcome, Statistics, Watch};
use crate::solver::{Clauses, Encoder, Solver, Start, Unrolling};
use crate::{Circuit, Lit, Property, Witness};
use mazurka_core::Limit;

/// Whether there are executions at all is asked at every so many depths.
const ASK_EVERY: usize = 4;

/// What there is at a depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An execution that ends in a bad state.
    Bad(Witness),
    /// No such execution.
    Nothing,
    /// No execution at all, nor any that is longer.
    End,
}

/// All executions of a length, for one length after the other.
///
/// ```
/// use mazurka_symbolic::{Circuit, Found, Frames, Limits};
///
/// let mut circuit = Circuit::new();
/// let x = circuit.latch("x", Some(false));
/// circuit.set_next(x, !x);
/// circuit.bad(x, "x");
/// let mut frames = Frames::new(&circuit, &Limits::default());
/// assert_eq!(frames.search(), Ok(Found::Nothing));
/// frames.deepen();
/// assert!(matches!(frames.search(), Ok(Found::Bad(witness)) if witness.depth() == 1));
/// ```
pub struct Frames<'a> {
    circuit: &'a Circuit,
    unrolling: Unrolling<'a>,
    encoder: Encoder,
    solver: Solver,
    watch: Watch,
    /// Which bad states are looked for.
    is_wanted: Vec<bool>,
    depths: Vec<Depth>,
}

impl<'a> Frames<'a> {
    /// Executions without a step. The limits count from now; the depth is up to the caller.
    pub fn new(circuit: &'a Circuit, limits: &Limits) -> Self {
        Self::watched(circuit, &Watch::new(limits))
    }

    pub(super) fn watched(circuit: &'a Circuit, watch: &Watch) -> Self {
        let mut frames = Self {
            circuit,
            unrolling: Unrolling::new(circuit, Start::Initial),
            encoder: Encoder::default(),
            solver: Solver::new(watch),
            watch: watch.clone(),
            is_wanted: vec![true; circuit.bads.len()],
            depths: Vec::new(),
        };
        frames.constrain();
        frames
    }

    /// How many steps the executions have.
    pub fn depth(&self) -> usize {
        self.unrolling.n_frames() - 1
    }

    /// Goes on to executions with one more step.
    pub fn deepen(&mut self) {
        self.depths.push(self.solver.statistics().depth());
        self.unrolling.extend();
        self.constrain();
    }

    /// No longer looks for one of the bad states.
    pub fn ignore(&mut self, bad_idx: usize) {
        self.is_wanted[bad_idx] = false;
    }

    /// Leaves out all executions in which each of these literals of the circuit is true in its frame.
    pub fn exclude(&mut self, frames: &[(usize, Lit)]) {
        let clause = frames.iter().map(|&(frame, lit)| {
            let lit = !self.unrolling.lit(frame, lit);
            self.encoder.lit(&self.unrolling.aig, lit, &mut self.solver)
        });
        let clause: Vec<_> = clause.collect();
        self.solver.clause(&clause);
    }

    /// Looks for an execution of this depth that ends in a bad state.
    pub fn search(&mut self) -> Result<Found, Limit> {
        // Nothing below need call the solver, which would look at the limits.
        self.watch.look()?;
        let depth = self.depth();
        let wanted = self.circuit.bads.iter().zip(&self.is_wanted);
        let wanted = wanted.filter(|(_, is_wanted)| **is_wanted);
        let bads: Vec<_> = wanted.map(|(bad, _)| self.unrolling.lit(depth, bad.lit)).collect();
        let bad = self.unrolling.aig.any(bads);
        if bad == Lit::FALSE {
            return self.is_reached().map(|is| if is { Found::Nothing } else { Found::End });
        }
        let assumption = self.encoder.lit(&self.unrolling.aig, bad, &mut self.solver);
        if self.solver.solve(&[assumption])? {
            return Ok(Found::Bad(self.witness()));
        }
        if self.solver.core().is_empty() {
            return Ok(Found::End);
        }
        // What is known by now helps with what comes later.
        self.solver.clause(&[!assumption]);
        // The solver need not notice by itself that nothing else is possible, either.
        match depth.is_multiple_of(ASK_EVERY) && !self.is_reached()? {
            true => Ok(Found::End),
            false => Ok(Found::Nothing),
        }
    }

    /// What it cost, depth by depth.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.solver.statistics();
        statistics.depths.clone_from(&self.depths);
        statistics.depths.push(statistics.depth());
        statistics
    }

    /// Whether there is any execution of this depth.
    fn is_reached(&mut self) -> Result<bool, Limit> {
        match self.circuit.constraints.is_empty() {
            true => Ok(true),
            false => self.solver.solve(&[]),
        }
    }

    /// Only executions that meet the constraints in the last frame count from now on.
    fn constrain(&mut self) {
        let constraint = self.unrolling.constraint(self.depth());
        let lit = self.encoder.lit(&self.unrolling.aig, constraint, &mut self.solver);
        self.solver.clause(&[lit]);
    }

    /// The execution that the solver has found.
    fn witness(&self) -> Witness {
        let value = |frame: usize, lit: Lit| {
            let lit = self.unrolling.lit(frame, lit);
            lit.constant().unwrap_or_else(|| {
                self.encoder.known(lit).is_some_and(|lit| self.solver.value(lit))
            })
        };
        let latches: Vec<_> =
            self.circuit.latches.iter().map(|latch| value(0, latch.lit)).collect();
        let inputs = |frame| self.circuit.inputs.iter().map(|i| value(frame, i.lit)).collect();
        let mut witness = Witness {
            latches,
            inputs: (0..self.unrolling.n_frames()).map(inputs).collect(),
            property: Property::Bad(0),
        };
        witness.settle(self.circuit, |idx| self.is_wanted[idx]);
        witness
    }
}

pub(super) fn decide(job: &mut Job<'_>) -> Outcome {
    let mut frames = Frames::watched(job.circuit, job.watch);
    loop {
        let depth = frames.depth();
        let answer = match frames.search() {
            Ok(Found::Bad(witness)) => Answer::Unsafe(witness),
            Ok(Found::End) => Answer::Safe(Certificate::Finite { n_frames: depth }),
            Ok(Found::Nothing) if depth >= job.watch.depth() => Answer::SafeTo { depth },
            Ok(Found::Nothing) => {
                job.passed(depth, &frames.statistics());
                frames.deepen();
                continue;
            }
            Err(why) => Answer::Unknown { depth: depth.checked_sub(1), why },
        };
        return job.outcome(answer, frames.statistics());
    }
}
