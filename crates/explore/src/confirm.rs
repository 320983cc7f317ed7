//! Confirmation: each violation is followed once more, in a system of its own.

use crate::deadline::Deadline;
use crate::deadlock;
use crate::explorer::ExploreError;
use crate::replay::{Follower, by_birth};
use crate::search::Found;
use mazurka_core::{
    Counterexample, Divergence, Ending, Next, Operation, System, Violation, ViolationKind, possible,
};

/// What people call that which an operation is about.
fn name_of<S: System>(operation: Operation, system: &S) -> Option<String> {
    match operation {
        Operation::Join(thread) => Some(system.thread_name(thread).into_owned()),
        other => other.object().map(|object| system.object_name(object).into_owned()),
    }
}

/// The counterexample for what was found, if it goes wrong in the same way again.
pub(crate) fn confirm<S: System>(
    system: &mut S,
    found: &Found,
    watch_races: bool,
    deadline: Deadline<'_>,
) -> Result<Counterexample, ExploreError> {
    let mut follower = Follower::new(system, watch_races, deadline);
    let initial = follower.initial;
    for (idx, &decision) in found.schedule.decisions().iter().enumerate() {
        let operation =
            possible(follower.system, idx + 1, decision).map_err(ExploreError::Nondeterministic)?;
        follower.take(decision, operation);
    }
    let replay = follower.end();
    let is_stuck = !replay.end.iter().any(|next| matches!(next, Next::Enabled { .. }));
    let is_quiet = replay.violation.is_none();
    let waits_for_ever = match found.violation.kind {
        ViolationKind::Deadlock => is_stuck,
        ViolationKind::Livelock => is_quiet && is_stuck && system.ending() == Ending::Spinning,
        _ => false,
    };
    let mut waits = Vec::new();
    let again = match found.violation.kind {
        _ if waits_for_ever => {
            waits = deadlock::waits(&replay.execution, &replay.end, system);
            for wait in &mut waits {
                wait.location = system.location(wait.thread);
                wait.object = name_of(wait.operation, system);
            }
            let message = deadlock::describe(&waits, system);
            (!waits.is_empty()).then(|| Violation { message, ..found.violation.clone() })
        }
        ViolationKind::Livelock if is_quiet && !is_stuck => Some(found.violation.clone()),
        // In other words, perhaps: here everything is told, and there are names for more.
        kind => {
            let last = found.schedule.decisions().len();
            let violation = replay.violation.as_ref();
            violation
                .filter(|(step, again)| (*step, again.kind) == (last, kind))
                .map(|it| it.1.clone())
        }
    };
    let Some(violation) = again else {
        return Err(ExploreError::Nondeterministic(Divergence {
            step: replay.execution.steps.len(),
            expected: format!("a violation ({})", found.violation.message),
            found: match replay.violation {
                Some((step, other)) => format!("another one, at step {step} ({})", other.message),
                None => "none".to_owned(),
            },
        }));
    };
    let race = replay.race.filter(|_| violation.kind == ViolationKind::Race);
    let accesses = race.map(|race| race.locate(system, found.schedule.decisions()));
    let accesses = accesses.unwrap_or_default();
    let schedule = by_birth(&replay.execution, initial);
    let failed = replay
        .failed
        .filter(|_| !matches!(violation.kind, ViolationKind::Deadlock | ViolationKind::Livelock));
    let (execution, story, joins) = (replay.execution, replay.story, replay.joins);
    let decisive = None;
    Ok(Counterexample {
        end: Vec::new(),
        violation,
        schedule,
        execution,
        story,
        waits,
        accesses,
        shared: Vec::new(),
        joins,
        failed,
        decisive,
    })
}
