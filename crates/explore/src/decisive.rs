//! The racing pair that decides: two steps of a counterexample that race, such that the execution
//! with the two the other way round does not go wrong.
//!
//! The races of the execution are those that dynamic partial-order reduction would reverse
//! (Flanagan and Godefroid, POPL 2005): dependent steps of different threads, with nothing between
//! them in happens-before. Each is reversed as there: the steps before the first, those between the
//! two that do not happen after the first, then the second. From there the threads go on in the
//! order of the counterexample as far as they can, and then one after the other. A pair is told
//! only if that execution was seen to come to its end without a violation.

use crate::deadline::Deadline;
use crate::replay::{Follower, by_birth};
use mazurka_core::{
    Counterexample, Decision, DecisivePair, Ending, Execution, Next, Operation, Position, System,
    ThreadId, ViolationKind,
};

/// How many pairs are reversed at the most.
const MAX_PAIRS: usize = 48;
/// An execution of so many steps more than the counterexample is given up.
const MORE_STEPS: usize = 2_000;
/// How many steps are taken in all.
const MAX_STEPS: usize = 100_000;

/// The pair that decides, if one is found.
pub(crate) fn find<S: System>(
    system: &mut S,
    found: &Counterexample,
    watch_races: bool,
    deadline: Deadline<'_>,
) -> Option<DecisivePair> {
    let depends_on_order = !matches!(
        found.violation.kind,
        ViolationKind::Race
            | ViolationKind::Ltl
            | ViolationKind::Livelock
            | ViolationKind::Unsupported
    );
    let n_steps = found.execution.steps.len();
    if !depends_on_order || n_steps > MAX_STEPS / 4 {
        return None;
    }
    let mut left = MAX_STEPS;
    for pair in pairs(found).into_iter().take(MAX_PAIRS) {
        if !deadline.has_time_to_tell() {
            return None;
        }
        let guide = reversed(&found.execution, pair);
        let limit = (n_steps + MORE_STEPS).min(left);
        let mut follower = Follower::new(system, watch_races, deadline);
        follower.is_quiet = true;
        let taken = follow(&mut follower, &guide, limit);
        left = left.saturating_sub(follower.n_steps());
        let Some(decisions) = taken.filter(|_| is_over(follower)) else { continue };
        return tell(system, pair, &decisions, watch_races, deadline);
    }
    None
}

/// Two steps, from 1.
type Pair = (Position, Position);

/// The pairs that race: those of the program's own first, and of these the last.
fn pairs(found: &Counterexample) -> Vec<Pair> {
    let mut pairs = found.execution.racing_pairs();
    let last = found.failed.as_ref().map_or(usize::MAX, |site| site.step);
    pairs.retain(|&(_, second)| second as usize <= last);
    let is_inner = |at: Position| {
        let place = found.story.get(at as usize - 1).and_then(|told| told.location.as_ref());
        place.is_some_and(|place| place.is_library)
    };
    pairs.sort_by_key(|&(first, second)| {
        (is_inner(first) || is_inner(second), std::cmp::Reverse((second, first)))
    });
    pairs
}

/// The decisions with a pair the other way round, and how many of them have to be possible.
struct Guide {
    decisions: Vec<Decision>,
    n_needed: usize,
}

fn reversed(execution: &Execution, (first, second): Pair) -> Guide {
    let order = execution.happens_before();
    let at = |position: Position| execution.steps[position as usize - 1].decision;
    let last = execution.steps.len() as Position;
    let (after, free): (Vec<_>, Vec<_>) =
        (first + 1..second).partition(|&between| order.ordered(first, between));
    let mut decisions: Vec<Decision> = (1..first).chain(free).map(at).collect();
    decisions.push(at(second));
    decisions.push(at(first));
    let n_needed = decisions.len();
    decisions.extend(after.into_iter().chain(second + 1..=last).map(at));
    Guide { decisions, n_needed }
}

/// Takes the steps of a guide, and then others until no thread can move. The decisions, unless a
/// step that is needed is not possible, something goes wrong or it takes too long.
fn follow<S: System>(
    follower: &mut Follower<'_, S>,
    guide: &Guide,
    limit: usize,
) -> Option<Vec<Decision>> {
    let mut taken: Vec<Decision> = Vec::new();
    for (idx, &wanted) in guide.decisions.iter().enumerate() {
        let next = possible(follower.system, wanted);
        if next.is_none() && idx < guide.n_needed {
            return None;
        }
        let Some((decision, operation)) = next else { continue };
        follower.take(decision, operation);
        taken.push(decision);
        if follower.has_failed() {
            return None;
        }
    }
    let mut thread = taken.last().map(|decision| decision.thread);
    loop {
        let all = (0..follower.system.n_threads()).map(ThreadId::new);
        let next = thread
            .into_iter()
            .chain(all)
            .find_map(|it| possible(follower.system, Decision::of(it)));
        let Some((decision, operation)) = next else { return Some(taken) };
        if taken.len() >= limit {
            return None;
        }
        follower.take(decision, operation);
        taken.push(decision);
        thread = Some(decision.thread);
        if follower.has_failed() {
            return None;
        }
    }
}

/// The step of a thread, if it can take one: with the alternative that is wanted, if there is that.
pub(crate) fn possible<S: System>(system: &S, wanted: Decision) -> Option<(Decision, Operation)> {
    let is_known = wanted.thread.index() < system.n_threads();
    match is_known.then(|| system.next(wanted.thread))? {
        Next::Enabled { operation, choices } => {
            let choice = if wanted.choice < choices { wanted.choice } else { 0 };
            Some((Decision { thread: wanted.thread, choice }, operation))
        }
        _ => None,
    }
}

/// Whether an execution that no thread can continue has come to a good end.
fn is_over<S: System>(follower: Follower<'_, S>) -> bool {
    let ending = follower.system.ending();
    let replay = follower
        .end_and(|system, replay| (replay.violation.is_none(), replay.waits(system).is_empty()));
    matches!(ending, Ending::Final | Ending::Exited) && replay == (true, true)
}

/// Takes the steps of the other execution once more, with names, and says what they are.
fn tell<S: System>(
    system: &mut S,
    (first, second): Pair,
    decisions: &[Decision],
    watch_races: bool,
    deadline: Deadline<'_>,
) -> Option<DecisivePair> {
    let mut follower = Follower::new(system, watch_races, deadline);
    let initial = follower.initial;
    for &decision in decisions {
        let (decision, operation) = possible(follower.system, decision)?;
        follower.take(decision, operation);
    }
    if follower.has_failed() {
        return None;
    }
    let replay = follower.end();
    Some(DecisivePair {
        first: first as usize,
        second: second as usize,
        schedule: by_birth(&replay.execution, initial),
        execution: replay.execution,
        story: replay.story,
    })
}
