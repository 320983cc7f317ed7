//! Executions that never end: is there one that an automaton accepts?
//!
//! The search goes through the product of program and automaton on the fly. A letter is what holds in
//! a stored state; states between, inside of an indivisible sequence, are not seen. A program that has
//! ended stays where it is for ever.

mod components;
mod fairness;
mod graph;
mod lasso;
mod nested;

use crate::options::{CycleSearch, Fairness, Options, OptionsError, Reduction};
use crate::search::Outcome;
use crate::store::{Pairs, Storage, Store, Tree};
use crate::transitions::Transitions;
use crate::watch::{Ended, Watch};
use graph::{Graph, Letters};
use lasso::{Lasso, confirm};
use mazurka_core::{Coverage, Limit, Statistics, Verdict, Violation, ViolationKind};
use mazurka_ltl::{Automaton, Cube, Edge, State, Stuttering};

/// What an execution must not do for ever.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Cycles<'a> {
    /// Anything that an automaton accepts.
    Accepted {
        /// The automaton. Its atoms are the program's propositions, in their order.
        automaton: &'a Automaton,
        /// Whether it matters to it how often a state is repeated: `mazurka_ltl::stuttering`, or known
        /// from where it comes. If it may matter, there is no reduction.
        stuttering: &'a Stuttering,
    },
    /// Go without progress.
    NonProgress,
    /// Come by labels that accept.
    Acceptance,
}

impl Cycles<'_> {
    fn letters(self) -> Letters {
        match self {
            Self::Accepted { .. } => Letters::Propositions,
            Self::NonProgress => Letters::NoProgress,
            Self::Acceptance => Letters::Accept,
        }
    }

    /// What accepts executions that are wrong.
    fn automaton(self) -> Automaton {
        let edge = |holds, target| Edge { guard: Cube::literal(0, holds), target };
        let (atom, states) = match self {
            Self::Accepted { automaton, .. } => return automaton.clone(),
            // From some point on, never any progress.
            Self::NonProgress => (
                "no progress",
                vec![
                    State {
                        is_accepting: false,
                        edges: vec![Edge { guard: Cube::TRUE, target: 0 }, edge(true, 1)],
                    },
                    State { is_accepting: true, edges: vec![edge(true, 1)] },
                ],
            ),
            // Again and again.
            Self::Acceptance => {
                let edges = vec![edge(true, 1), edge(false, 0)];
                let state = |is_accepting| State { is_accepting, edges: edges.clone() };
                ("accept", vec![state(false), state(true)])
            }
        };
        Automaton { atoms: vec![atom.to_owned()], states }
    }

    fn violation(self, stays: bool) -> Violation {
        let (kind, what) = match self {
            Self::Accepted { .. } => (ViolationKind::Ltl, "the property fails"),
            Self::NonProgress => (ViolationKind::Livelock, "there is no progress"),
            Self::Acceptance => (ViolationKind::Ltl, "it accepts again and again"),
        };
        let how = if stays { "it stops there for ever" } else { "this goes on for ever" };
        Violation { kind, message: format!("{what}: {how}") }
    }

    /// What is excluded, as in "no … in any execution".
    fn name(self) -> &'static str {
        match self {
            Self::Accepted { .. } => "violation of the property",
            Self::NonProgress => "non-progress cycle",
            Self::Acceptance => "acceptance cycle",
        }
    }
}

/// Searches for an execution that never ends and is wrong.
///
/// Only executions count that are fair, in the sense of [`Options::fairness`]. Steps that go wrong are
/// not looked at: an execution ends there.
pub fn search_cycles<T: Transitions>(
    program: &T,
    cycles: Cycles<'_>,
    options: &Options,
) -> Result<Outcome, Vec<OptionsError>> {
    let mut errors = options.errors();
    let is_plain = options.storage == Storage::Tree && options.jobs == 1 && !options.shorten;
    if !is_plain || options.order != crate::Order::DepthFirst || options.depth.is_some() {
        errors.push(OptionsError::Cycles);
    }
    if options.fairness != Fairness::None && options.cycle_search == CycleSearch::Nested {
        errors.push(OptionsError::NestedFairness);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut automaton = cycles.automaton();
    let (reduction, note) = reduction(cycles, options.reduction);
    // A search that stops because the automaton does not go on would leave out what the reduction
    // counts on.
    automaton.complete();
    let (states, nodes) = (Tree::new(program.width()), Pairs::new());
    let mut graph = Graph::new(program.clone(), cycles.letters(), &states, reduction, options);
    let watch = Watch::new(options);
    let (ended, found, counted) = match options.cycle_search {
        CycleSearch::Components => components::search(&mut graph, &automaton, &nodes, &watch),
        CycleSearch::Nested => nested::search(&mut graph, &automaton, &nodes, &watch),
    };
    let verdict = |found: Option<Lasso>| match (found, ended) {
        (Some(lasso), _) => {
            let told = confirm(&mut graph, &automaton, options.fairness, &lasso, |stays| {
                cycles.violation(stays)
            });
            (Verdict::Violated(Box::new(told.counterexample)), told.loop_start)
        }
        (None, Ended::Limit(limit)) => (Verdict::Inconclusive(limit), None),
        (None, Ended::Cut(depth)) => (Verdict::Inconclusive(Limit::Depth(depth)), None),
        (None, Ended::Done) => (Verdict::Holds(coverage(program, cycles, options.fairness)), None),
    };
    let (verdict, loop_start) = verdict(found);
    Ok(Outcome {
        verdict,
        statistics: counted,
        stuck: Vec::new(),
        violations: u64::from(loop_start.is_some()),
        unreached: Vec::new(),
        store_bytes: states.bytes() + nodes.bytes(),
        loop_start,
        notes: note.into_iter().collect(),
    })
}

/// The reduction that goes with a property, and what there is to say about it.
fn reduction(cycles: Cycles<'_>, wished: Reduction) -> (Reduction, Option<String>) {
    let Cycles::Accepted { stuttering, .. } = cycles else { return (wished, None) };
    if wished == Reduction::None {
        return (wished, None);
    }
    let why = match stuttering {
        Stuttering::Invariant => return (wished, None),
        Stuttering::Sensitive(_) => "it matters to the property how often a state is repeated",
        Stuttering::Unknown => "the property is too large to tell whether repetition matters to it",
    };
    (Reduction::None, Some(format!("without reduction: {why}")))
}

fn coverage(program: &impl Transitions, cycles: Cycles<'_>, fairness: Fairness) -> Coverage {
    let coverage = Coverage::of([cycles.name()]);
    let coverage = match fairness {
        Fairness::None => coverage,
        Fairness::Weak => coverage.within("that is weakly fair to every process"),
        Fairness::Strong => coverage.within("that is strongly fair to every process"),
    };
    program.assumptions().into_iter().fold(coverage, Coverage::assuming)
}

/// What is told of a search through a product.
fn statistics(n_nodes: u64, matched: u64, max_depth: u64) -> Statistics {
    let mut statistics = Statistics::default();
    statistics.states = n_nodes;
    statistics.states_matched = matched;
    statistics.transitions = n_nodes + matched - 1;
    statistics.max_depth = max_depth;
    statistics
}
