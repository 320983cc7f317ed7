//! k-induction: no bad state within `k` steps, and none after `k` steps without one.
//!
//! Implements Sheeran, Singh and Stålmarck, *Checking Safety Properties Using Induction and a
//! SAT-Solver* (FMCAD 2000), in the incremental form of Eén and Sörensson, *Temporal Induction by
//! Incremental SAT Solving* (BMC 2003).
//!
//! | papers                                    | here                       |
//! |-------------------------------------------|----------------------------|
//! | base case                                 | [`Frames`]                 |
//! | step                                      | [`Step::is_inductive`]     |
//! | simple paths, added where they are needed | [`Step::separate`]         |
//!
//! Differs: nothing.

use super::bounded::{Found, Frames};
use super::{Answer, Certificate, Job, Outcome, Statistics, Watch};
use crate::solver::{Clauses, Encoder, Solver, Start, Unrolling};
use crate::{Circuit, Lit};
use mazurka_core::Limit;

pub(super) fn decide(job: &mut Job<'_>) -> Outcome {
    let mut frames = Frames::watched(job.circuit, job.watch);
    let mut step = Step::new(job.circuit, job.watch);
    loop {
        let k = frames.depth();
        let answer = match step.is_inductive() {
            Ok(true) => {
                let simple_paths = step.is_separated;
                Ok(Some(Answer::Safe(Certificate::Induction { k, simple_paths })))
            }
            Ok(false) => search(&mut frames, job.watch.depth()),
            Err(why) => Err(why),
        };
        let statistics = sum(&frames, &step);
        match answer {
            Ok(Some(answer)) => return job.outcome(answer, statistics),
            Ok(None) => {
                job.passed(k, &statistics);
                frames.deepen();
                step.extend();
            }
            Err(why) => {
                let answer = Answer::Unknown { depth: k.checked_sub(1), why };
                return job.outcome(answer, statistics);
            }
        }
    }
}

/// The base case at one depth; no answer if one has to go on.
fn search(frames: &mut Frames<'_>, most: usize) -> Result<Option<Answer>, Limit> {
    let depth = frames.depth();
    Ok(match frames.search()? {
        Found::Bad(witness) => Some(Answer::Unsafe(witness)),
        Found::End => Some(Answer::Safe(Certificate::Finite { n_frames: depth })),
        Found::Nothing => (depth >= most).then_some(Answer::SafeTo { depth }),
    })
}

fn sum(frames: &Frames<'_>, step: &Step<'_>) -> Statistics {
    let mut statistics = frames.statistics();
    statistics.add(&step.solver.statistics());
    statistics
}

/// Frames from anywhere, bad in the last one at most.
struct Step<'a> {
    circuit: &'a Circuit,
    unrolling: Unrolling<'a>,
    encoder: Encoder,
    solver: Solver,
    /// Whether some frames are told apart.
    is_separated: bool,
}

impl<'a> Step<'a> {
    fn new(circuit: &'a Circuit, watch: &Watch) -> Self {
        let mut step = Self {
            circuit,
            unrolling: Unrolling::new(circuit, Start::Anywhere),
            encoder: Encoder::default(),
            solver: Solver::new(watch),
            is_separated: false,
        };
        step.constrain();
        step
    }

    /// Whether nothing bad can happen in the last frame.
    fn is_inductive(&mut self) -> Result<bool, Limit> {
        let bad = self.unrolling.bad(self.last());
        let bad = self.encoder.lit(&self.unrolling.aig, bad, &mut self.solver);
        while self.solver.solve(&[bad])? {
            if !self.separate() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One more frame. Nothing bad happens in those before it.
    fn extend(&mut self) {
        let good = !self.unrolling.bad(self.last());
        let good = self.encoder.lit(&self.unrolling.aig, good, &mut self.solver);
        self.solver.clause(&[good]);
        self.unrolling.extend();
        self.constrain();
    }

    fn last(&self) -> usize {
        self.unrolling.n_frames() - 1
    }

    fn constrain(&mut self) {
        let constraint = self.unrolling.constraint(self.last());
        let lit = self.encoder.lit(&self.unrolling.aig, constraint, &mut self.solver);
        self.solver.clause(&[lit]);
    }

    /// Makes frames differ that are the same in the sequence that was found; false if there are
    /// none.
    fn separate(&mut self) -> bool {
        let states = self.states();
        let pairs = (0..states.len()).flat_map(|frame| (0..frame).map(move |other| (frame, other)));
        let same: Vec<_> = pairs.filter(|&(l, r)| states[l] == states[r]).collect();
        for &(frame, other) in &same {
            let differ = self.unrolling.differ(frame, other);
            let differ = self.encoder.lit(&self.unrolling.aig, differ, &mut self.solver);
            self.solver.clause(&[differ]);
        }
        self.is_separated |= !same.is_empty();
        !same.is_empty()
    }

    /// The latches in all frames of the sequence that was found. They are computed: the solver need
    /// not know all of them.
    fn states(&self) -> Vec<Vec<bool>> {
        let value = |frame: usize, lit: Lit| {
            let lit = self.encoder.known(self.unrolling.lit(frame, lit));
            lit.is_some_and(|lit| self.solver.value(lit))
        };
        let mut state: Vec<_> =
            self.circuit.latches.iter().map(|latch| value(0, latch.lit)).collect();
        let mut states = Vec::new();
        for frame in 0..self.unrolling.n_frames() {
            let inputs: Vec<_> =
                self.circuit.inputs.iter().map(|input| value(frame, input.lit)).collect();
            let values = self.circuit.frame(&state, &inputs);
            let next = self.circuit.latches.iter().map(|latch| values.value(latch.next()));
            states.push(std::mem::replace(&mut state, next.collect()));
        }
        states
    }
}
