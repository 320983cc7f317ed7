//! Inductive certificates: why no bad state is reachable, checked by one call of a solver.

use crate::solver::{Start, Unrolling};
use crate::{Aig, Answer, Circuit, Formula, Limits, Lit, Node, ProofError, Wanted};

/// Why nothing bad happens in any execution.
#[derive(Clone, Debug)]
pub enum Certificate {
    /// A set of states with all that are reachable and none that is bad: clauses over latches, each
    /// a disjunction of literals of the circuit that was asked about.
    Clauses(Vec<Vec<Lit>>),
    /// Such a set as a function of its own.
    Set {
        /// The function.
        aig: Aig,
        /// True for the states of the set.
        member: Lit,
        /// For each input of the graph, the number of the latch that it stands for.
        latches: Vec<usize>,
    },
    /// Nothing bad happens in the first `k` frames, nor after any `k` frames in a row without it.
    Induction {
        /// How many frames.
        k: usize,
        /// The frames in a row have different states.
        simple_paths: bool,
    },
    /// No execution has more frames than this, and in none of them happens anything bad.
    Finite {
        /// How many.
        n_frames: usize,
    },
    /// For [the translation](Circuit::cycles) of executions without end.
    Cycles(Box<Certificate>),
}

impl Certificate {
    /// A formula without a model, if the certificate is right for this circuit.
    pub fn formula(&self, circuit: &Circuit) -> Formula {
        match self {
            Self::Clauses(clauses) => invariant(circuit, |unrolling, frame| {
                let clause = |clause: &Vec<Lit>| {
                    let lits: Vec<_> =
                        clause.iter().map(|&lit| unrolling.lit(frame, lit)).collect();
                    unrolling.aig.any(lits)
                };
                let clauses: Vec<_> = clauses.iter().map(clause).collect();
                unrolling.aig.all(clauses)
            }),
            Self::Set { aig, member, latches } => invariant(circuit, |unrolling, frame| {
                copy(aig, *member, unrolling, frame, |input_idx| {
                    circuit.latches[latches[input_idx]].lit
                })
            }),
            Self::Induction { k, simple_paths } => induction(circuit, *k, *simple_paths),
            Self::Cycles(certificate) => certificate.formula(&circuit.cycles().circuit),
            Self::Finite { n_frames } => bounded(circuit, *n_frames, true),
        }
    }

    /// Whether it is a set of states. Others are what a solver has said already.
    pub(crate) fn is_set(&self) -> bool {
        match self {
            Self::Clauses(_) | Self::Set { .. } => true,
            Self::Induction { .. } | Self::Finite { .. } => false,
            Self::Cycles(certificate) => certificate.is_set(),
        }
    }

    /// Checks it with a solver that knows nothing of how it was found.
    pub fn check(&self, circuit: &Circuit, limits: &Limits) -> Result<(), ProofError> {
        self.formula(circuit).refute(limits, None)
    }
}

impl Answer {
    /// A formula without a model if and only if the answer is right; `None` unless it says that
    /// something is safe.
    pub fn formula(&self, circuit: &Circuit) -> Option<Formula> {
        match self {
            Self::Safe(certificate) => Some(certificate.formula(circuit)),
            Self::SafeTo { depth } | Self::Unknown { depth: Some(depth), .. } => {
                Some(bounded(circuit, depth + 1, false))
            }
            Self::Unsafe(_) | Self::Unknown { depth: None, .. } => None,
        }
    }
}

/// A set of states is no invariant: an initial state is not in it, a step leads out of it, or a
/// state in it is bad. States in which no inputs meet the constraints do not count.
fn invariant(
    circuit: &Circuit,
    mut is_member: impl FnMut(&mut Unrolling<'_>, usize) -> Lit,
) -> Formula {
    let mut unrolling = Unrolling::new(circuit, Start::Anywhere);
    unrolling.extend();
    let [now, next] = [0, 1].map(|frame| is_member(&mut unrolling, frame));
    let [counts, next_counts] = [0, 1].map(|frame| unrolling.constraint(frame));
    let (initial, bad) = (unrolling.initial(), unrolling.bad(0));
    let aig = &mut unrolling.aig;
    let begins_outside = aig.and(initial, !now);
    let leads_out = aig.all([now, next_counts, !next]);
    let is_bad = aig.and(now, bad);
    let fails = aig.any([begins_outside, leads_out, is_bad]);
    let fails = aig.and(counts, fails);
    Formula::of(&unrolling.aig, fails)
}

/// Something bad happens in the first `k` frames, or for the first time after `k` others.
fn induction(circuit: &Circuit, k: usize, simple_paths: bool) -> Formula {
    // Frames that only differ in what does not matter are the same.
    let cone = circuit.cone_of(|wanted| matches!(wanted, Wanted::Bad(_)));
    let mut unrolling = Unrolling::new(&cone.circuit, Start::Anywhere);
    let mut counts = Lit::TRUE;
    let mut first_bad = Vec::new();
    for frame in 0..=k {
        if frame > 0 {
            unrolling.extend();
        }
        let constraint = unrolling.constraint(frame);
        counts = unrolling.aig.and(counts, constraint);
        let bad = unrolling.bad(frame);
        first_bad.push(unrolling.aig.and(counts, bad));
    }
    let initial = unrolling.initial();
    let last = first_bad.pop().expect("there is a frame");
    let earlier = unrolling.aig.any(first_bad);
    let begins = unrolling.aig.and(initial, earlier);
    let different = if simple_paths { all_differ(&mut unrolling) } else { Lit::TRUE };
    let goes_on = unrolling.aig.all([last, !earlier, different]);
    let fails = unrolling.aig.or(begins, goes_on);
    Formula::of(&unrolling.aig, fails)
}

fn all_differ(unrolling: &mut Unrolling<'_>) -> Lit {
    let frames = 0..unrolling.n_frames();
    let pairs = frames.flat_map(|frame| (0..frame).map(move |earlier| (frame, earlier)));
    let differ: Vec<_> = pairs.map(|(frame, earlier)| unrolling.differ(frame, earlier)).collect();
    unrolling.aig.all(differ)
}

/// Something bad happens in so many frames, or, if asked for, there are executions with more.
fn bounded(circuit: &Circuit, n_frames: usize, is_finite: bool) -> Formula {
    let mut unrolling = Unrolling::new(circuit, Start::Initial);
    let mut counts = Lit::TRUE;
    let mut fails = Vec::new();
    for frame in 0..n_frames + usize::from(is_finite) {
        if frame > 0 {
            unrolling.extend();
        }
        let constraint = unrolling.constraint(frame);
        counts = unrolling.aig.and(counts, constraint);
        let wrong = if frame < n_frames { unrolling.bad(frame) } else { Lit::TRUE };
        fails.push(unrolling.aig.and(counts, wrong));
    }
    let fails = unrolling.aig.any(fails);
    Formula::of(&unrolling.aig, fails)
}

/// A function of inputs, with latches in a frame in their place.
fn copy(
    from: &Aig,
    root: Lit,
    unrolling: &mut Unrolling<'_>,
    frame: usize,
    latch: impl Fn(usize) -> Lit,
) -> Lit {
    let mut copied: Vec<Lit> = Vec::with_capacity(from.n_nodes());
    let mut input_idx = 0;
    for node in from.nodes() {
        let of = |lit: Lit| copied[lit.node()].negated_if(lit.is_negated());
        let lit = match node {
            Node::False => Lit::FALSE,
            Node::Input | Node::Latch => {
                input_idx += 1;
                unrolling.lit(frame, latch(input_idx - 1))
            }
            Node::And(left, right) => unrolling.aig.and(of(left), of(right)),
        };
        copied.push(lit);
    }
    copied[root.node()].negated_if(root.is_negated())
}
