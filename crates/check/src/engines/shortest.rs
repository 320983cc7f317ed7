//! Shortest counterexamples of searches that store states: breadth first, as Gastin, Moro and
//! Zeitoun, *Minimization of Counterexamples in SPIN* (SPIN 2004), section 2, recommend for safety.
//!
//! Depth-first search finds *a* way to a violation, and often a long one. Once there is one, the
//! states are searched again, breadth first, by one job, without reduction and without merged
//! steps: all states within a distance come before those behind it, and so the first violation
//! that is met is at the least distance. It may be another assertion that fails. If the search ends
//! before it meets one, or meets one of another kind, nothing is claimed and nothing changes.
//!
//! The work is limited by a count ([`MOST_STATES`]), so that two runs show the same execution.
//! Infinite executions have a search of their own (`statespace/src/cycles/shortest.rs`).

use mazurka_core::{Counterexample, Verdict};
use mazurka_statespace::{
    Options, Order, Outcome, Reduction, Saving, SearchError, Storage, Transitions, search_saving,
};

/// So many states are stored at the most.
const MOST_STATES: usize = 1 << 18;

/// A search that may be saved, whose counterexample is a shortest one.
pub(super) fn search<T: Transitions>(
    program: &T,
    options: &Options,
    saving: &Saving,
) -> Result<Outcome, SearchError> {
    let mut outcome = search_saving(program, options, saving)?;
    shorten(program, options, &mut outcome);
    Ok(outcome)
}

/// Puts a shortest counterexample in the place of the one that was found, if there is time to find
/// it, and says what was established.
fn shorten<T: Transitions>(program: &T, options: &Options, outcome: &mut Outcome) {
    let Verdict::Violated(found) = &outcome.verdict else { return };
    // What goes on for ever is not asked about here, and who counts violations wants all of them.
    if outcome.loop_start.is_some() || options.all_violations {
        return;
    }
    let mut nearest = options.clone();
    nearest.order = Order::BreadthFirst;
    nearest.storage = Storage::Tree;
    nearest.reduction = Reduction::None;
    nearest.optimisations.merging = false;
    (nearest.jobs, nearest.shorten, nearest.depth) = (1, false, None);
    nearest.states = Some(options.states.map_or(MOST_STATES, |limit| limit.min(MOST_STATES)));
    nearest.gauge = None;
    let Ok(again) = search_saving(program, &nearest, &Saving::default()) else { return };
    let Verdict::Violated(shortest) = &again.verdict else { return };
    if shortest.violation.kind != found.violation.kind || n_steps(shortest) > n_steps(found) {
        return;
    }
    outcome.notes.insert(0, claim(n_steps(shortest)));
    outcome.stuck.clone_from(&again.stuck);
    outcome.verdict = again.verdict;
}

fn n_steps(found: &Counterexample) -> usize {
    found.schedule.len()
}

fn claim(n_steps: usize) -> String {
    match n_steps {
        0 => "shortest: the state that it begins with goes wrong".to_owned(),
        1 => "shortest: 1 step; no execution that goes wrong has fewer".to_owned(),
        n => format!("shortest: {n} steps; no execution that goes wrong has fewer"),
    }
}
