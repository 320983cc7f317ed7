//! Büchi emptiness: is there an infinite execution that an automaton accepts?
//!
//! The search goes through the product of program and automaton on the fly. A letter is what holds
//! in a stored state; states between, inside of an indivisible sequence, are not seen. A program
//! that has ended stays where it is for ever; this is an infinite execution for every question but
//! that for progress.
//!
//! A bad prefix is a violation wherever it is found: an execution that no continuation can make
//! right. If every violation has one (the automaton is terminal, which is so for safety formulae)
//! nothing else is looked for, breadth first (`prefix.rs`). That holds under every fairness, since
//! every finite execution is the beginning of a fair one: let the process move next that can and
//! has waited longest. There are finitely many processes, so a process that can move again and
//! again does, and that is strong fairness, which implies the others.

mod claim;
mod components;
mod fairness;
mod graph;
mod lasso;
mod nested;
mod prefix;
mod product;
mod property;
mod saved;
mod shortest;
mod states;

pub use claim::{Claim, ClaimError, ClaimMoves, claim};
pub use property::Property;

use crate::confirm;
use crate::inner::TRANSIENT;
use crate::machine::{ByParts, Lost};
use crate::options::{
    Construction, CycleSearch, Fairness, Optimisations, Options, OptionsError, Reduction,
};
use crate::saved::{Checkpoints, Header, Reader, SavedError, Saving, load_learnt, open};
use crate::search::{Outcome, Save, SearchError, fingerprint, unreadable};
use crate::search_limits::{Ended, Watch};
use crate::store::{Numbers, Storage};
use crate::transitions::Transitions;
use graph::{Graph, Letters, Proviso};
use lasso::{Confirmed, Found};
use mazurka_core::{
    Assumption, Coverage, Limit, LineCoverage, Property as Sought, Statistics, Verdict, Violation,
    ViolationKind,
};
use mazurka_ltl::{Automaton, Cube, Edge, State, Stuttering};
use product::{Bad, Product};
use saved::{Keeper, Stage, drive};
use shortest::Shortest;
use std::io;

/// What an execution must not do for ever.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Cycles<'a> {
    /// Anything that violates a property.
    Accepted(&'a Property),
    /// Go without progress.
    NonProgress,
    /// Come by labels that accept.
    Acceptance,
}

impl<'a> Cycles<'a> {
    fn letters(self) -> Letters {
        match self {
            Self::Accepted(property) if property.has_labels => Letters::PropositionsAndAccept,
            Self::Accepted(_) => Letters::Propositions,
            Self::NonProgress => Letters::NoProgress,
            Self::Acceptance => Letters::Accept,
        }
    }

    /// What accepts executions that are wrong.
    fn automaton(self) -> Automaton {
        let edge = |holds, target| Edge { guard: Cube::literal(0, holds), target };
        let (atom, states) = match self {
            Self::Accepted(property) => return property.automaton(),
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

    /// The atoms of each part of the property.
    fn parts(self) -> &'a [u64] {
        match self {
            Self::Accepted(property) => &property.parts,
            Self::NonProgress | Self::Acceptance => &[u64::MAX],
        }
    }

    fn violation(self, how: &str) -> Violation {
        let (kind, what) = match self {
            Self::Accepted(property) => (ViolationKind::Ltl, format!("{} fails", property.name)),
            Self::NonProgress => (ViolationKind::Livelock, "there is no progress".to_owned()),
            Self::Acceptance => (ViolationKind::Ltl, "it accepts again and again".to_owned()),
        };
        Violation::new(kind, format!("{what}: {how}"))
    }

    /// What is asked.
    fn subject(self) -> &'a str {
        match self {
            Self::Accepted(property) => &property.name,
            Self::NonProgress => "progress",
            Self::Acceptance => "the accept labels",
        }
    }

    /// What is looked for.
    fn sought(self) -> Sought {
        match self {
            Self::Accepted(property) => Sought::Temporal(property.name.clone()),
            Self::NonProgress => Sought::Progress,
            Self::Acceptance => Sought::Acceptance,
        }
    }
}

/// What is said of an execution that violates a property, however it goes on.
pub const BAD_PREFIX: &str = "however it goes on from here";

/// Searches for an infinite execution that is wrong, or for a step that goes wrong.
///
/// Only executions count that are fair, in the sense of [`Options::fairness`]. What no execution
/// does, no fair one does: so it is looked for first in all of them, which takes less.
pub fn search_cycles<T: Transitions>(
    program: &T,
    cycles: Cycles<'_>,
    options: &Options,
) -> Result<Outcome, Vec<OptionsError>> {
    let searched = search_cycles_saving(program, cycles, options, &Saving::default());
    searched.map_err(|error| match error {
        SearchError::Options(errors) => errors,
        SearchError::Saved(error) => unreachable!("nothing is saved: {error}"),
    })
}

/// The same, with a file that it is written to when it comes to a limit, and one that it goes on
/// from, as [`search_saving`](crate::search_saving).
pub fn search_cycles_saving<T: Transitions>(
    program: &T,
    cycles: Cycles<'_>,
    options: &Options,
    saving: &Saving,
) -> Result<Outcome, SearchError> {
    let errors = errors(options);
    if !errors.is_empty() {
        return Err(SearchError::Options(errors));
    }
    let fingerprint = fingerprint(program, saving)?;
    if fingerprint.is_some() && options.construction == Construction::OffLine {
        return Err(SavedError::BuiltFirst.into());
    }
    let words = saved::words(cycles, options);
    let mut file = match (&saving.resume, fingerprint) {
        (Some(path), Some(program)) => Some(open(path, program, &words)?),
        _ => None,
    };
    let mut stage = match options.fairness {
        Fairness::None => Stage::Asked,
        _ => Stage::Unfair,
    };
    if let Some((_, from)) = &mut file {
        if !program.learn(&load_learnt(from).map_err(unreadable)?) {
            return Err(SavedError::OtherProgram.into());
        }
        stage = Stage::load(from).map_err(unreadable)?;
    }
    let mut checkpoints = Checkpoints::new(saving, fingerprint, words);
    if stage == Stage::Unfair {
        let mut unfair = options.clone();
        unfair.fairness = Fairness::None;
        let kept = (&mut checkpoints, stage, file.take());
        let outcome = search_all(program, cycles, &unfair, Lassos::AnyLength, kept);
        let outcome = outcome.map_err(unreadable)?;
        // What goes wrong in a step, or stops somewhere, is fair.
        if outcome.loop_start.is_none() {
            return concluded(outcome, checkpoints, saving);
        }
    }
    let kept = (&mut checkpoints, Stage::Asked, file);
    let outcome = search_all(program, cycles, options, Lassos::Shortest, kept);
    concluded(outcome.map_err(unreadable)?, checkpoints, saving)
}

/// An outcome that says whether the rest of the search is in the file.
fn concluded(
    outcome: Outcome,
    checkpoints: Checkpoints<'_>,
    saving: &Saving,
) -> Result<Outcome, SearchError> {
    match checkpoints.error.filter(|_| saving.is_required) {
        Some(error) => Err(error.into()),
        None => Ok(Outcome { is_saved: checkpoints.is_saved, ..outcome }),
    }
}

/// How a search is saved, which one it is, and what it goes on from.
type Kept<'k, 's> = (&'k mut Checkpoints<'s>, Stage, Option<(Header, Reader)>);

/// Which lasso is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lassos {
    /// The first one.
    AnyLength,
    /// The shortest, as far as that is found soon.
    Shortest,
}

fn search_all<T: Transitions>(
    program: &T,
    cycles: Cycles<'_>,
    options: &Options,
    lassos: Lassos,
    (checkpoints, stage, file): Kept<'_, '_>,
) -> io::Result<Outcome> {
    let automaton = cycles.automaton();
    let (reduction, optimisations, note) = reduction(cycles, options);
    let mut reduced = program.clone();
    reduced.reduce_watched(reduction, optimisations, options.fairness);
    let note = note.into_iter().chain(cycle_search(options).1).collect();
    let watch = &Watch::new(options);
    let task = Task {
        original: program,
        reduced: &reduced,
        cycles,
        automaton: &automaton,
        how: (reduction, optimisations),
        options,
        lassos,
        watch,
        note,
    };
    let (header, mut file) = file.unzip();
    let was_packed = header.map(|header| header.is_packed);
    let mut packed = reduced.by_parts().filter(|_| was_packed != Some(false));
    while let Some(mut by_parts) = packed.take() {
        // A file is read once: what is lost later begins from the beginning.
        let mut file = file.take();
        file.as_mut().map_or(Ok(()), |file| by_parts.load(file))?;
        let memory = by_parts.memory();
        let save: Option<Save<ByParts>> = Some(ByParts::save);
        let mut keeper = Keeper { checkpoints: &mut *checkpoints, stage, file, save };
        let packed_states = states::Storage::packed();
        let (outcome, mut by_parts) = task.search(by_parts, packed_states, &mut keeper)?;
        if let Some(outcome) = outcome {
            let store_bytes = outcome.store_bytes + memory();
            return Ok(Outcome { is_packed: true, store_bytes, ..outcome });
        }
        let is_full = by_parts.lost() == Some(Lost::Full);
        packed = (is_full && by_parts.try_again()).then_some(by_parts);
    }
    let mut keeper = Keeper { checkpoints, stage, file, save: None };
    let (outcome, _) = task.search(reduced.clone(), states::Storage::tree(), &mut keeper)?;
    Ok(outcome.expect("states of any length are never lost"))
}

/// What is asked, whichever way states are kept.
struct Task<'a, T> {
    original: &'a T,
    /// The program with what is left out.
    reduced: &'a T,
    cycles: Cycles<'a>,
    automaton: &'a Automaton,
    how: (Reduction, Optimisations),
    options: &'a Options,
    lassos: Lassos,
    watch: &'a Watch<'a>,
    /// What there is to say about how it is done.
    note: Vec<String>,
}

impl<T: Transitions> Task<'_, T> {
    /// Searches a program that has the moves of the reduced one; nothing came of it if that was
    /// lost.
    fn search<P: Transitions>(
        &self,
        program: P,
        storage: states::Storage,
        keeper: &mut Keeper<'_, '_, P>,
    ) -> io::Result<(Option<Outcome>, P)> {
        let &Self { original, cycles, automaton, options, lassos, watch, .. } = self;
        let (reduction, optimisations) = self.how;
        let nodes = Numbers::new();
        let parts = cycles.parts();
        let is_terminal = automaton.is_terminal(&automaton.universal());
        let proviso = if is_terminal { Proviso::Ahead } else { Proviso::OffPath };
        let how = (reduction, proviso);
        let states = storage.states();
        let mut graph = Graph::new(program, cycles.letters(), parts, states, how, options);
        let searched = search(&mut graph, automaton, &nodes, watch, (options, keeper))?;
        let Searched { ended, found, counted, bytes } = searched;
        if graph.program().is_lost() {
            return Ok((None, graph.into_program()));
        }
        graph.program().settle();
        let mut notes = self.note.clone();
        let mut loop_start = None;
        let verdict = match (found, ended) {
            (Some(Found::Lasso(lasso)), _) => {
                let violation = |stays| {
                    let how =
                        if stays { "it stops there for ever" } else { "this goes on for ever" };
                    cycles.violation(how)
                };
                let mut told =
                    lasso::confirm(&mut graph, automaton, options.fairness, &lasso, violation);
                if lassos == Lassos::Shortest {
                    let n_steps = told.counterexample.schedule.len();
                    let limits = (n_steps, shortest::room(counted.states));
                    // What was found is told before the time is over.
                    let time = watch.time_left().map(|left| left / 2);
                    let options = Options { time, ..options.clone() };
                    let plain = (original, optimisations, &options);
                    let (shorter, is_minimum) =
                        shorten(plain, cycles, automaton, limits, violation);
                    told = shorter.unwrap_or(told);
                    notes.extend(if is_minimum { lengths(&told) } else { None });
                }
                let Confirmed { counterexample, loop_start: start, notes: more } = told;
                loop_start = start;
                notes.extend(more);
                Verdict::Violated(Box::new(counterexample))
            }
            (Some(Found::Prefix(prefix)), _) => {
                let told = lasso::confirm_prefix(&mut graph, automaton, &prefix, |bad| match bad {
                    Bad::Prefix => cycles.violation(BAD_PREFIX),
                    Bad::Undefined(violation) => {
                        let message = format!("{}, in {}", violation.message, cycles.subject());
                        Violation { message, ..violation.clone() }
                    }
                });
                Verdict::Violated(Box::new(told))
            }
            (Some(Found::Fault(path)), _) => {
                let told = confirm::confirm(self.reduced.clone(), &path);
                Verdict::Violated(Box::new(told.counterexample))
            }
            (None, Ended::Limit(limit)) => Verdict::Inconclusive(limit),
            (None, Ended::Cut(depth)) => Verdict::Inconclusive(Limit::Depth(depth)),
            (None, Ended::Paused) => unreachable!("a search that pauses goes on"),
            (None, Ended::Done) => Verdict::Holds(coverage(self.reduced, cycles, options)),
        };
        let violations = u64::from(matches!(verdict, Verdict::Violated(_)));
        let outcome = Outcome {
            verdict,
            statistics: counted,
            stuck: Vec::new(),
            violations,
            unreached: Vec::new(),
            lines: LineCoverage::default(),
            store_bytes: storage.bytes() + bytes,
            is_packed: false,
            loop_start,
            notes,
            is_saved: false,
        };
        Ok((Some(outcome), graph.into_program()))
    }
}

/// Looks for a lasso of fewer than so many steps, and among so many nodes, in the program without
/// reduction. Whether there is certainly none that is shorter than the one that is known then.
fn shorten<T: Transitions>(
    (program, optimisations, options): (&T, Optimisations, &Options),
    cycles: Cycles<'_>,
    automaton: &Automaton,
    limits: (usize, usize),
    violation: impl Fn(bool) -> Violation + Copy,
) -> (Option<Confirmed>, bool) {
    let mut program = program.clone();
    let optimisations = Optimisations { merging: false, ..optimisations };
    program.reduce_watched(Reduction::None, optimisations, options.fairness);
    let task = (cycles, automaton, options);
    let mut packed = program.by_parts();
    while let Some(by_parts) = packed.take() {
        let storage = states::Storage::packed();
        let (found, mut by_parts) = shorten_in(by_parts, &storage, task, limits, violation);
        if let Some(found) = found {
            return found;
        }
        let is_full = by_parts.lost() == Some(Lost::Full);
        packed = (is_full && by_parts.try_again()).then_some(by_parts);
    }
    let (found, _) = shorten_in(program, &states::Storage::tree(), task, limits, violation);
    found.expect("states of any length are never lost")
}

/// The same with states that are kept in one way; nothing came of it if the program was lost.
fn shorten_in<P: Transitions>(
    program: P,
    storage: &states::Storage,
    (cycles, automaton, options): (Cycles<'_>, &Automaton, &Options),
    limits: (usize, usize),
    violation: impl Fn(bool) -> Violation,
) -> (Option<(Option<Confirmed>, bool)>, P) {
    let nodes = Numbers::new();
    let (how, states) = ((Reduction::None, Proviso::OffPath), storage.states());
    let mut graph = Graph::new(program, cycles.letters(), cycles.parts(), states, how, options);
    let watch = Watch::new(options);
    let found = shortest::search(&mut graph, automaton, &nodes, limits, &watch);
    if graph.program().is_lost() {
        return (None, graph.into_program());
    }
    graph.program().settle();
    let Shortest { shorter, is_minimum } = found;
    let told = shorter
        .map(|lasso| lasso::confirm(&mut graph, automaton, options.fairness, &lasso, violation));
    (Some((told, is_minimum)), graph.into_program())
}

/// What is said of a lasso than which none is shorter. One that stops is as short as its stem.
fn lengths(told: &Confirmed) -> Option<String> {
    let stem = told.loop_start? - 1;
    let around = told.counterexample.story.len() - stem;
    let steps = |n: usize| if n == 1 { "1 step".to_owned() } else { format!("{n} steps") };
    let (to, around) = (steps(stem), steps(around));
    Some(format!("shortest: {to} to the loop and {around} around it; none that goes on has fewer"))
}

/// Searches the product, and what is beside it for steps that go wrong.
fn search<T: Transitions>(
    graph: &mut Graph<'_, T>,
    automaton: &Automaton,
    nodes: &Numbers<1>,
    watch: &Watch<'_>,
    (options, keeper): (&Options, &mut Keeper<'_, '_, T>),
) -> io::Result<Searched> {
    let nothing = |ended| Searched { ended, found: None, counted: Statistics::default(), bytes: 0 };
    let built = match options.construction {
        Construction::OnTheFly => Ok(()),
        Construction::OffLine => graph.build(watch),
    };
    // What was built is counted by the nodes that are made of it.
    graph.beside = [0; 2];
    let all_steps = options.all_steps;
    let mut searched = match (built, cycle_search(options).0) {
        (Err(ended), _) => nothing(ended),
        _ if graph.is_over() => nothing(Ended::Done),
        (Ok(()), _) if graph.proviso() == Proviso::Ahead => {
            let product = Product::new(graph, automaton, nodes);
            drive(prefix::Search::new(product), keeper, watch, all_steps)?
        }
        (Ok(()), CycleSearch::Components) => {
            let product = Product::new(graph, automaton, nodes);
            drive(components::Components::new(product, watch), keeper, watch, all_steps)?
        }
        (Ok(()), CycleSearch::Nested) => {
            let product = Product::new(graph, automaton, nodes);
            drive(nested::Search::new(product), keeper, watch, all_steps)?
        }
    };
    if searched.ended == Ended::Done && graph.is_cut {
        searched.ended = Ended::Cut(TRANSIENT);
    }
    searched.found = searched.found.or_else(|| graph.fault().map(Found::Fault));
    let [states, steps] = graph.beside;
    searched.counted.states += states;
    searched.counted.transitions += steps;
    searched.bytes = searched.bytes.max(graph.bytes());
    Ok(searched)
}

/// What came of a search of the product.
struct Searched {
    ended: Ended,
    found: Option<Found>,
    counted: Statistics,
    /// The memory it took, without the store of states.
    bytes: u64,
}

/// Everything that does not go together where it is about cycles.
fn errors(options: &Options) -> Vec<OptionsError> {
    let mut errors = options.errors();
    let is_plain = options.storage == Storage::Tree && options.jobs == 1 && !options.shorten;
    if !is_plain || options.order != crate::Order::DepthFirst || options.depth.is_some() {
        errors.push(OptionsError::Cycles);
    }
    errors
}

/// How cycles are looked for, and what there is to say if that is not what was asked for.
fn cycle_search(options: &Options) -> (CycleSearch, Option<String>) {
    let is_fair = options.fairness != Fairness::None;
    match options.cycle_search {
        CycleSearch::Nested if is_fair => {
            let note = "by components: nested search knows nothing of fairness";
            (CycleSearch::Components, Some(note.to_owned()))
        }
        asked => (asked, None),
    }
}

/// The reduction that goes with a property, and what there is to say about it. A step that is
/// merged with the one before it is a state less, which a property may count; a dead variable is
/// none that a property reads.
fn reduction(cycles: Cycles<'_>, options: &Options) -> (Reduction, Optimisations, Option<String>) {
    let (wished, optimisations) = (options.reduction, options.optimisations);
    let Cycles::Accepted(property) = cycles else { return (wished, optimisations, None) };
    if wished == Reduction::None && !optimisations.merging {
        return (wished, optimisations, None);
    }
    let why = match property.stuttering {
        Stuttering::Invariant => return (wished, optimisations, None),
        Stuttering::Sensitive(_) => "it matters to the property how often a state is repeated",
        Stuttering::Unknown => "the property is too large to tell whether repetition matters to it",
    };
    let note = (wished != Reduction::None).then(|| format!("without reduction: {why}"));
    (Reduction::None, Optimisations { merging: false, ..optimisations }, note)
}

fn coverage(program: &impl Transitions, cycles: Cycles<'_>, options: &Options) -> Coverage {
    let faults = program.faults().into_iter().filter(|_| options.all_steps);
    let coverage = Coverage::of(std::iter::once(cycles.sought()).chain(faults));
    let fairness = options.fairness.assumed().map(Assumption::Fair);
    coverage.assuming_all(fairness.into_iter().chain(program.assumptions()))
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
