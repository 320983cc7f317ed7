//! A search from options to a verdict.

use crate::confirm::confirm;
use crate::depth_first::DepthFirst;
use crate::frontier::{Frontier, Searched};
use crate::machine::{ByParts, Lost};
use crate::options::{Options, OptionsError, Order};
use crate::store::{Bitstate, Compact, Exact, Label, Packed, Storage, Store, Tree};
use crate::transitions::{Described, Transitions};
use crate::watch::{Ended, Watch};
use mazurka_core::{Assumption, Coverage, Limit, Statistics, Told, Verdict};
use std::sync::atomic::AtomicU32;

/// What a search came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// What was found, or exactly what was proved.
    pub verdict: Verdict,
    /// What was counted. `transitions` has all moves; those that led to a state which is stored are
    /// `states + states_matched - 1`.
    pub statistics: Statistics,
    /// Who stands where at the end of the counterexample, if it ends where it should not.
    pub stuck: Vec<Told>,
    /// How many violations were met; more than one only if all of them were asked for.
    pub violations: u64,
    /// The edges that no move took. Of a search that has not seen everything, those it has not
    /// seen.
    pub unreached: Vec<Described>,
    /// The memory that the states took.
    pub store_bytes: u64,
    /// Whether each of them was one word, the numbers of its parts, and moves were found by part.
    pub is_packed: bool,
    /// Of a violation that goes on for ever: the entry of its story, from 1, that follows the last
    /// one again.
    pub loop_start: Option<usize>,
    /// What there is to say about how it was done.
    pub notes: Vec<String>,
}

/// Searches all states of a program for moves that go wrong and wrong ends.
pub fn search<T: Transitions>(
    program: &T,
    options: &Options,
) -> Result<Outcome, Vec<OptionsError>> {
    let errors = options.errors();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(match options.storage {
        Storage::Exact => search_in(program, options, &Exact::new()),
        Storage::Tree if options.needs_numbers() => {
            search_compressed::<T, AtomicU32>(program, options)
        }
        Storage::Tree => search_compressed::<T, ()>(program, options),
        Storage::Compact => search_in(program, options, &Compact::new()),
        Storage::Bitstate(bits) => search_in(program, options, &Bitstate::new(bits)),
    })
}

/// Searches packed states for as long as that is of use, and otherwise those that a tree
/// compresses.
fn search_compressed<T: Transitions, L: Label>(program: &T, options: &Options) -> Outcome {
    let watch = Watch::new(options);
    let program = &reduced(program, options);
    if let Some(mut packed) = program.by_parts() {
        loop {
            if !options.is_one_path() {
                packed = warmed_up(packed, options);
            }
            if packed.lost().is_none() {
                let store = Packed::<L>::new(packed.memory());
                let searched = match options.is_one_path() {
                    true => {
                        let mut search = DepthFirst::new(packed, options, &store);
                        let ended = search.run(&watch);
                        // What it remembers is of use if it has to begin again.
                        let (program, counted, found) = search.into_parts();
                        packed = program;
                        Searched { counted, found, ended }
                    }
                    false => run(&packed, options, &store, &watch),
                };
                if packed.lost().is_none() {
                    let outcome = outcome(program, options, &store, searched);
                    return Outcome { is_packed: true, ..outcome };
                }
            }
            if packed.lost() != Some(Lost::Full) || !packed.try_again() {
                break;
            }
        }
    }
    let store = Tree::<L>::new();
    let searched = run(program, options, &store, &watch);
    outcome(program, options, &store, searched)
}

/// How many states one worker looks at before several do.
const WARM: usize = 1 << 12;

/// Has one worker go ahead, depth first: it meets many values soon, and what it remembers is of use
/// to all.
fn warmed_up(packed: ByParts, options: &Options) -> ByParts {
    let mut options = options.clone();
    (options.jobs, options.order, options.all_violations) = (1, Order::DepthFirst, true);
    options.states = Some(WARM);
    let store = Packed::<()>::new(packed.memory());
    let mut search = DepthFirst::new(packed, &options, &store);
    search.run(&Watch::new(&options));
    search.into_program()
}

fn search_in<T: Transitions, S: Store>(program: &T, options: &Options, store: &S) -> Outcome {
    let watch = Watch::new(options);
    let program = &reduced(program, options);
    let searched = run(program, options, store, &watch);
    outcome(program, options, store, searched)
}

fn reduced<T: Transitions>(program: &T, options: &Options) -> T {
    let mut program = program.clone();
    program.reduce(options.reduction, options.optimisations);
    program
}

fn run<T: Transitions, S: Store>(
    program: &T,
    options: &Options,
    store: &S,
    watch: &Watch<'_>,
) -> Searched {
    match options.is_one_path() {
        true => {
            let mut search = DepthFirst::new(program.clone(), options, store);
            let ended = search.run(watch);
            Searched { counted: search.counted, found: search.found, ended }
        }
        false => Frontier::new(options, store, watch).run(program),
    }
}

fn outcome<T: Transitions, S: Store>(
    program: &T,
    options: &Options,
    store: &S,
    Searched { counted, found, ended }: Searched,
) -> Outcome {
    let confirmed = found.map(|path| confirm(program.clone(), &path));
    let (verdict, stuck) = match (confirmed, ended) {
        (Some(found), _) => (Verdict::Violated(Box::new(found.counterexample)), found.stuck),
        (None, Ended::Limit(limit)) => (Verdict::Inconclusive(limit), Vec::new()),
        (None, Ended::Cut(depth)) => (Verdict::Inconclusive(Limit::Depth(depth)), Vec::new()),
        (None, Ended::Done) => {
            let assumption = store.assumption(counted.states);
            (Verdict::Holds(coverage(program, options, assumption)), Vec::new())
        }
    };
    let unreached = counted.unreached().filter_map(|edge| program.edge(edge));
    Outcome {
        verdict,
        statistics: counted.statistics(),
        stuck,
        violations: counted.violations,
        unreached: unreached.collect(),
        store_bytes: store.bytes(),
        is_packed: false,
        loop_start: None,
        notes: Vec::new(),
    }
}

/// What a search that has seen everything has shown.
fn coverage(
    program: &impl Transitions,
    options: &Options,
    assumption: Option<Assumption>,
) -> Coverage {
    let ends = options.ends.then(|| program.wrong_end());
    let coverage = Coverage::of(program.faults().into_iter().chain(ends));
    coverage.assuming_all(program.assumptions().into_iter().chain(assumption))
}
