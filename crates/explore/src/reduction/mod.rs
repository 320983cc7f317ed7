//! Reductions: which steps are worth taking. One file each.

pub(crate) mod bpor;
pub(crate) mod cheaper;
pub(crate) mod dpor;
pub(crate) mod frontier;
pub(crate) mod graphs;
pub(crate) mod monotonic;
pub(crate) mod none;
pub(crate) mod optimal;
pub(crate) mod persistent;
pub(crate) mod sleep;
pub(crate) mod source;
pub(crate) mod stack;

use crate::bound::Exceeded;
use crate::order::TreeSize;
use crate::unit::Unit;
use crate::view::View;
use crate::visited::Visited;
use mazurka_core::{Decision, Effect, Operation, Sample, Schedule, System};

/// What to do at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Take this step.
    Step(Decision),
    /// Take this step again, on the way to where something new begins.
    Again(Decision),
    /// Nothing: every enabled thread sleeps.
    Asleep,
    /// Nothing: the state was visited before.
    Visited,
    /// Nothing: the race that led here cannot be reversed. Its second step waits, or is another one
    /// here and belongs to another execution.
    Refused,
    /// Nothing: every enabled thread that does not sleep is over the bound.
    OverBound,
    /// Nothing: another worker has taken what was left here.
    Taken,
    /// This step was possible here before, as this operation if that is known, and now it is not.
    Diverged(Decision, Option<Operation>),
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No thread can move.
    Terminal,
    /// It was cut at the depth limit.
    Cut,
    /// No thread can move within the bound.
    OverBound,
    /// The reduction did not want to go on.
    GivenUp,
}

/// Decides which steps are worth taking.
///
/// The loop asks [`choose`](Self::choose) at every state and takes the step; at the end of the
/// execution it says so ([`finish`](Self::finish)) and asks where to go on
/// ([`backtrack`](Self::backtrack)). Every reduction visits at least one execution of each
/// Mazurkiewicz trace; `tests/search/reductions_agree.rs` holds it to that.
pub(crate) trait Reduce: Send {
    /// The next step from this state, where some thread is enabled.
    fn choose(&mut self, view: &View<'_>) -> Choice;

    /// The step that was chosen has been taken, and did this; whether the execution is one of the
    /// program. If not, it ends here, and whatever went wrong in the step did not happen.
    #[inline]
    fn took(&mut self, _system: &dyn System, _operation: Operation, _effect: Effect) -> bool {
        true
    }

    /// The execution has ended here.
    fn finish(&mut self, view: &View<'_>, end: End);

    /// How many steps of the execution to keep before choosing again; `None` when all is done.
    fn backtrack(&mut self) -> Option<usize>;

    /// Branches that are known and not explored yet.
    fn frontier(&self) -> u64;

    /// Which part of the whole is explored, between 0 and 1: a guess.
    fn explored(&self) -> f64;

    /// Gives away a part of the work that is far from where this search is now.
    fn share(&mut self, schedule: &Schedule) -> Option<Unit>;

    /// Takes on a unit of work. The execution in progress is the unit's schedule.
    fn adopt(&mut self, unit: Unit);

    /// Gives away all the work.
    fn dissolve(&mut self, schedule: &Schedule) -> Vec<Unit>;

    /// Gives away all the work in the middle of an execution, which is begun again from where it
    /// began: what was found in it so far is forgotten. Nothing if that cannot be done.
    fn abandon(&mut self, schedule: &Schedule) -> Option<Vec<Unit>> {
        let _ = schedule;
        None
    }

    /// Which bound was met so far, behind states that were left.
    fn exceeded(&self) -> Exceeded;

    /// Whether its units are self-contained, so that another process can work on them.
    fn travels(&self) -> bool {
        false
    }

    /// Gives away the states that it stored, if it stores any.
    fn take_visited(&mut self) -> Option<Visited> {
        None
    }

    /// How much memory its execution tree took, if it has one.
    fn tree_size(&self) -> Option<TreeSize> {
        None
    }

    /// The executions that it has drawn at random, if it draws them.
    fn sample(&self) -> Option<Sample> {
        None
    }
}
