//! From a program to an answer: the circuit, who decides it, and what its bounds left out.
//!
//! A circuit has room for so many threads and blocks. That a program needs more is a bad state,
//! too. A short look says how many it needs in the beginning, and once nothing else is wrong it is
//! looked for in all executions: the bound is then raised, and it all begins again, up to a size
//! beyond which the verdict names the bound.

use crate::encode::{Bounds, Encode, Encoding, Limit as BoundReached, Meaning, Refusal, encode};
use crate::schedule::Schedule;
use crate::{
    Answer, Circuit, Engine, Formula, Limits, Outcome, Progress, ProofError, Property, Statistics,
    Witness,
};
use mazurka_core::Limit;
use mazurka_model::Program;
use std::time::Instant;

/// What is asked of a program.
#[derive(Clone, Debug)]
pub struct Question {
    /// How it becomes a circuit.
    pub encode: Encode,
    /// Who may move.
    pub schedule: Schedule,
    /// Who decides.
    pub engine: Engine,
    /// How much that may take.
    pub limits: Limits,
}

/// What is known of a program.
#[derive(Debug)]
pub struct Reply {
    /// The circuit that was decided last.
    pub encoding: Encoding,
    /// What there is.
    pub finding: Finding,
    /// What it cost, in the last circuit.
    pub statistics: Statistics,
    /// Who answered.
    pub engine: Engine,
    /// The bound that was reached, if nothing is known of what comes then.
    pub bound: Option<BoundReached>,
    /// What was answered of which circuit: of what may go wrong, then of bounds.
    claims: Vec<(Circuit, Answer)>,
}

impl Reply {
    /// Goes on to what is known of the same program by another question. What was answered before
    /// remains.
    pub fn add(&mut self, mut other: Self) {
        let before = std::mem::take(&mut self.claims);
        other.claims.splice(0..0, before);
        *self = other;
    }

    /// A formula without a model if and only if all that was answered is right; `None` if there is
    /// something that no formula shows.
    pub fn formula(&self) -> Option<Formula> {
        let mut formulas = self
            .claims
            .iter()
            .map(|(circuit, answer)| answer.formula(circuit))
            .collect::<Option<Vec<_>>>()?;
        let first = (!formulas.is_empty()).then(|| formulas.remove(0))?;
        Some(formulas.iter().fold(first, |all, it| all.or(it)))
    }
}

/// What there is.
#[derive(Clone, Debug)]
pub enum Finding {
    /// Nothing goes wrong in any execution.
    Safe,
    /// Nothing goes wrong in executions of so many steps, and no more was asked.
    SafeTo(usize),
    /// Something goes wrong.
    Unsafe(Witness),
    /// A limit was reached; nothing goes wrong before so many steps, if that is known.
    Unknown(Option<usize>, Limit),
}

/// How many steps the short look takes.
const LOOK: usize = 24;

/// Bounds are raised up to these.
const MOST: Bounds = Bounds { recursion: u32::MAX, threads: 16, blocks: 16, block_bytes: 512 };

/// Decides a program, or tells what in it a circuit has not got.
pub fn check(program: &Program, question: &Question) -> Result<Reply, Vec<Refusal>> {
    let start = Instant::now();
    let mut options = question.encode.clone();
    let left = || {
        let time = question.limits.time.map(|time| time.saturating_sub(start.elapsed()));
        Limits { time, ..question.limits.clone() }
    };
    let n_without_bound = size_up(program, &mut options, &left)?;
    loop {
        let encoding = encode(program, &options, question.schedule.scheduler())?;
        let decide = |circuit: &Circuit| {
            let mut tell = |progress: &Progress| {
                let Statistics { clauses, conflicts, .. } = progress.statistics;
                let gauge = question.limits.gauge.iter();
                gauge.for_each(|it| it.set_depth(progress.depth as u64, clauses, conflicts));
            };
            let outcome = match circuit.justice.is_empty() {
                true => question.engine.decide(circuit, &left(), &mut tell),
                false => question.engine.decide_cycles(circuit, &left(), &mut tell),
            };
            Outcome { answer: confirmed(circuit, outcome.answer, &left()), ..outcome }
        };
        let (first, numbers) = encoding.only(|meaning| !is_bound(meaning));
        let outcome = decide(&first);
        let (mut bound, mut claims) = (None, Vec::new());
        let finding = match outcome.answer {
            Answer::Unsafe(witness) => Finding::Unsafe(renumbered(witness, &numbers)),
            Answer::Unknown { depth, why } => {
                // Beyond these, what is behind a bound may go wrong.
                let known = depth.zip(n_without_bound).map(|(depth, most)| depth.min(most));
                Finding::Unknown(known, allowed(why, question))
            }
            answer @ (Answer::Safe(_) | Answer::SafeTo { .. }) => {
                let (circuit, numbers) = encoding.only(is_bound);
                let found = (!circuit.bads.is_empty()).then(|| decide(&circuit).answer);
                claims.push((claimed(first, &answer), answer.clone()));
                claims.extend(found.clone().map(|found| (circuit, found)));
                match found {
                    Some(Answer::Unsafe(witness)) => {
                        let reached = encoding.bound_of(&renumbered(witness, &numbers));
                        if raise(&mut options.bounds, reached) {
                            continue;
                        }
                        bound = Some(reached);
                        told(&answer)
                    }
                    Some(Answer::Unknown { depth, why }) => {
                        Finding::Unknown(depth, allowed(why, question))
                    }
                    Some(Answer::SafeTo { depth }) => Finding::SafeTo(depth),
                    Some(Answer::Safe(_)) | None => told(&answer),
                }
            }
        };
        let (statistics, engine) = (outcome.statistics, outcome.engine);
        return Ok(Reply { encoding, finding, statistics, engine, bound, claims });
    }
}

/// An answer whose set of states, if it has one, was looked at by a solver that knows nothing of
/// how it was found.
///
/// # Panics
///
/// If an engine is wrong: something bad is in the set, or a step leads out of it.
fn confirmed(circuit: &Circuit, answer: Answer, limits: &Limits) -> Answer {
    let Answer::Safe(certificate) = &answer else { return answer };
    if !certificate.is_set() {
        return answer;
    }
    match certificate.check(circuit, limits) {
        Ok(()) => answer,
        Err(ProofError::Limit(why)) => Answer::Unknown { depth: None, why },
        Err(error) => panic!("an invariant is none: {error}"),
    }
}

/// The circuit that an answer is about: with executions without end, what they were made to.
fn claimed(circuit: Circuit, answer: &Answer) -> Circuit {
    match answer {
        Answer::SafeTo { .. } if !circuit.justice.is_empty() => circuit.cycles().circuit,
        _ => circuit,
    }
}

/// A program as a circuit with room for what a few steps of it need. That it needs more is a bad
/// state.
pub fn sized(
    program: &Program,
    options: &Encode,
    schedule: Schedule,
) -> Result<Encoding, Vec<Refusal>> {
    let mut options = options.clone();
    size_up(program, &mut options, &Limits::default)?;
    encode(program, &options, schedule.scheduler())
}

fn is_bound(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Bound(_))
}

/// Raises bounds by what a few steps of the program need, within the limits that are left. Says in
/// how many steps none is reached, if that is known.
fn size_up(
    program: &Program,
    options: &mut Encode,
    left: &dyn Fn() -> Limits,
) -> Result<Option<usize>, Vec<Refusal>> {
    loop {
        let encoding = encode(program, options, Schedule::Interleaving.scheduler())?;
        let (circuit, numbers) = encoding.only(is_bound);
        if circuit.bads.is_empty() {
            return Ok(Some(usize::MAX));
        }
        let limits = Limits { depth: Some(LOOK), ..left() };
        let outcome = Engine::Bounded.decide(&circuit, &limits, &mut |_| {});
        let witness = match outcome.answer {
            Answer::Safe(_) => return Ok(Some(usize::MAX)),
            Answer::SafeTo { depth } => return Ok(Some(depth)),
            Answer::Unknown { depth, .. } => return Ok(depth),
            Answer::Unsafe(witness) => witness,
        };
        let n_steps = witness.depth().checked_sub(1);
        let reached = encoding.bound_of(&renumbered(witness, &numbers));
        if !raise(&mut options.bounds, reached) {
            return Ok(n_steps);
        }
    }
}

/// An answer without anything bad.
fn told(answer: &Answer) -> Finding {
    match answer {
        Answer::SafeTo { depth } => Finding::SafeTo(*depth),
        _ => Finding::Safe,
    }
}

/// A limit as it was asked for, not what was left of it.
fn allowed(limit: Limit, question: &Question) -> Limit {
    match (limit, question.limits.time) {
        (Limit::Time(_), Some(time)) => Limit::Time(time),
        (other, _) => other,
    }
}

/// Raises the bound that was reached; says whether that is allowed.
fn raise(bounds: &mut Bounds, reached: BoundReached) -> bool {
    let (bound, most) = match reached {
        BoundReached::Recursion(..) => return false,
        BoundReached::Threads(..) => (&mut bounds.threads, MOST.threads),
        BoundReached::Blocks(..) => (&mut bounds.blocks, MOST.blocks),
        BoundReached::BlockBytes(..) => (&mut bounds.block_bytes, MOST.block_bytes),
    };
    let is_allowed = *bound < most;
    // Bytes come in all numbers, threads and blocks one by one.
    *bound = match reached {
        BoundReached::BlockBytes(..) => (*bound * 4).min(most),
        _ => (*bound + 1).min(most),
    };
    is_allowed
}

fn renumbered(witness: Witness, numbers: &[usize]) -> Witness {
    match witness.property {
        Property::Bad(idx) => Witness { property: Property::Bad(numbers[idx]), ..witness },
        Property::Justice { .. } => witness,
    }
}

impl Encoding {
    /// The bound that an execution reaches.
    fn bound_of(&self, witness: &Witness) -> BoundReached {
        match witness.property {
            Property::Bad(idx) => match self.meanings[idx] {
                Meaning::Bound(reached) => reached,
                _ => unreachable!("only bounds were asked for"),
            },
            Property::Justice { .. } => unreachable!("bounds are bad states"),
        }
    }

    /// The circuit with some of its bad states, and the numbers of these. Loops are there if all
    /// are wanted.
    pub fn only(&self, is_wanted: impl Fn(&Meaning) -> bool) -> (Circuit, Vec<usize>) {
        let numbers: Vec<usize> =
            (0..self.meanings.len()).filter(|&idx| is_wanted(&self.meanings[idx])).collect();
        let mut circuit = self.circuit.clone();
        circuit.bads = numbers.iter().map(|&idx| self.circuit.bads[idx].clone()).collect();
        if !self.loops.iter().all(is_wanted) {
            circuit.justice.clear();
        }
        (circuit, numbers)
    }
}
