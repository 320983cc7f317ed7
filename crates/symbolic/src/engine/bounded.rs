//! Bounded model checking: executions of 0 steps, then of 1, and so on, in one incremental solver.
//!
//! Implements Biere, Cimatti, Clarke and Zhu, *Symbolic Model Checking without BDDs* (TACAS 1999),
//! the part about safety, with assumptions as in Eén and Sörensson, *Temporal Induction by
//! Incremental SAT Solving* (BMC 2003).
//!
//! | papers                              | here                   |
//! |-------------------------------------|------------------------|
//! | I(s0) and T(s0, s1) and … , unrolled | [`Unrolling`]          |
//! | the property at the last frame only | an assumption          |
//! | learnt clauses stay                 | one [`Solver`]         |
//!
//! Differs: once the constraints allow no execution of some length, nothing is left to search, and
//! the answer is about all executions. Where constraints are optional there are two searches that
//! take turns, with them and without, and where a depth takes long, later ones are looked at.

use super::constraint_choice::{PLAIN, REDUCED, Turns};
use super::lookahead::{Ahead, Seen};
use super::{Answer, Certificate, Depth, Job, Limits, Outcome, Statistics, Watch};
use crate::solver::{Clauses, Encoder, Solver, Start, Unrolling};
use crate::{Circuit, Cone, Lit, Witness};
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

    /// Leaves out all executions in which each of these literals of the circuit is true in its
    /// frame.
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
        self.search_within(u64::MAX).map(|found| found.expect("there is no limit to conflicts"))
    }

    /// The same with so many conflicts at most; `None` if they are not enough.
    pub(super) fn search_within(&mut self, conflicts: u64) -> Result<Option<Found>, Limit> {
        // Nothing below need call the solver, which would look at the limits.
        self.watch.look()?;
        let bad = self.bad();
        if bad == Lit::FALSE {
            return self.is_reached().map(|is| Some(if is { Found::Nothing } else { Found::End }));
        }
        let assumption = self.encoder.lit(&self.unrolling.aig, bad, &mut self.solver);
        let answer = match conflicts {
            u64::MAX => Some(self.solver.solve(&[assumption])?),
            _ => self.solver.solve_within(&[assumption], conflicts)?,
        };
        match answer {
            None => return Ok(None),
            Some(true) => return Ok(Some(Found::Bad(self.witness()))),
            Some(false) if self.solver.core().is_empty() => return Ok(Some(Found::End)),
            Some(false) => {}
        }
        // What is known by now helps with what comes later.
        self.solver.clause(&[!assumption]);
        // The solver need not notice by itself that nothing else is possible, either.
        match self.depth().is_multiple_of(ASK_EVERY) && !self.is_reached()? {
            true => Ok(Some(Found::End)),
            false => Ok(Some(Found::Nothing)),
        }
    }

    /// Goes on to this depth, if it is not there: another engine knows that nothing bad happens
    /// before.
    pub(super) fn skip_to(&mut self, depth: usize) {
        while self.depth() < depth {
            let good = !self.bad();
            let good = self.encoder.lit(&self.unrolling.aig, good, &mut self.solver);
            self.solver.clause(&[good]);
            self.deepen();
        }
    }

    /// Any bad state that is looked for, at this depth.
    fn bad(&mut self) -> Lit {
        let wanted = self.circuit.bads.iter().zip(&self.is_wanted);
        let wanted = wanted.filter(|(_, is_wanted)| **is_wanted);
        let bads: Vec<_> =
            wanted.map(|(bad, _)| self.unrolling.lit(self.depth(), bad.lit)).collect();
        self.unrolling.aig.any(bads)
    }

    /// How often the solver came to a contradiction.
    fn n_conflicts(&self) -> u64 {
        self.solver.statistics().conflicts
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
        let value = |lit| self.encoder.known(lit).is_some_and(|lit| self.solver.value(lit));
        self.unrolling.witness(self.depth() + 1, |idx| self.is_wanted[idx], value)
    }
}

pub(super) fn decide(job: &mut Job<'_>) -> Outcome {
    let circuit = job.circuit;
    let plain = (!circuit.optional.is_empty()).then(|| circuit.without_optional());
    let mut search = Search::new(circuit, plain.as_ref(), job.watch);
    let mut n_passed: usize = 0;
    let answer = loop {
        match search.go_on() {
            Ok(Some(answer)) => break answer,
            Ok(None) => {}
            Err(why) => break Answer::Unknown { depth: n_passed.checked_sub(1), why },
        }
        while n_passed < search.turns.reached() {
            job.passed(n_passed, &search.statistics());
            n_passed += 1;
        }
    };
    job.outcome(answer, search.statistics())
}

/// A search with all constraints and, if some are optional, one without these.
struct Search<'a> {
    searches: Vec<Frames<'a>>,
    turns: Turns,
    plain: Option<&'a Cone>,
    ahead: Ahead<'a>,
    watch: Watch,
}

impl<'a> Search<'a> {
    fn new(circuit: &'a Circuit, plain: Option<&'a Cone>, watch: &Watch) -> Self {
        let mut searches = vec![Frames::watched(circuit, watch)];
        searches.extend(plain.map(|cone| Frames::watched(&cone.circuit, watch)));
        let turns = Turns::new(searches.len());
        let ahead = Ahead::new(plain.map_or(circuit, |cone| &cone.circuit), watch);
        Self { searches, turns, plain, ahead, watch: watch.clone() }
    }

    /// Does what is next; the answer, if that is one.
    fn go_on(&mut self) -> Result<Option<Answer>, Limit> {
        let (turn, conflicts) = self.turns.next();
        let frames = &mut self.searches[turn];
        frames.skip_to(self.turns.start());
        let (depth, n_before) = (frames.depth(), frames.n_conflicts());
        let conflicts = conflicts.min(self.ahead.patience(self.turns.spent()));
        match frames.search_within(conflicts)? {
            Some(Found::Bad(witness)) => return Ok(Some(Answer::Unsafe(self.lift(turn, witness)))),
            Some(Found::End) => {
                return Ok(Some(Answer::Safe(Certificate::Finite { n_frames: depth })));
            }
            Some(Found::Nothing) if depth >= self.watch.depth() => {
                return Ok(Some(Answer::SafeTo { depth }));
            }
            Some(Found::Nothing) => frames.deepen(),
            None => {}
        }
        self.turns.note(frames.n_conflicts() - n_before, frames.depth());
        self.look_ahead()
    }

    /// Looks further if this depth takes long; the answer, if there is one.
    fn look_ahead(&mut self) -> Result<Option<Answer>, Limit> {
        if self.turns.spent() == 0 {
            self.ahead.calm_down();
        }
        if self.ahead.patience(self.turns.spent()) > 0 {
            return Ok(None);
        }
        let reached = self.turns.reached();
        match self.ahead.look(reached)? {
            Seen::Bad(witness) => Ok(Some(Answer::Unsafe(self.lift(PLAIN, witness)))),
            Seen::Nothing(last) if last >= self.watch.depth() => {
                Ok(Some(Answer::SafeTo { depth: self.watch.depth() }))
            }
            Seen::Nothing(last) => {
                self.turns.note(0, last + 1);
                Ok(None)
            }
            Seen::TooFar => Ok(None),
        }
    }

    /// An execution that one of the searches has found, as one of the circuit that was asked about.
    fn lift(&self, turn: usize, witness: Witness) -> Witness {
        self.plain.filter(|_| turn == PLAIN).map_or(witness.clone(), |cone| cone.lift(&witness))
    }

    fn statistics(&self) -> Statistics {
        let mut statistics = self.searches[REDUCED].statistics();
        if let Some(plain) = self.searches.get(PLAIN) {
            statistics.add(&plain.statistics());
        }
        statistics.add(&self.ahead.statistics);
        statistics
    }
}
