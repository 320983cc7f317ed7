//! Plain accesses to memory that several threads access, with their values: what a counterexample
//! tells of data that locks and other steps protect.
//!
//! A system tells places and values only of memory that it [looks at](System::look_at). So the
//! execution is followed once to find the memory, and once more for each piece of it.

use crate::deadline::Deadline;
use mazurka_core::{Access, Counterexample, Decision, ObjectId, Sighting, System, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// So many pieces of memory are looked at, those that are accessed first.
const MOST_PIECES: usize = 8;
/// Longer executions are not followed again.
const MOST_STEPS: usize = 2_000;
/// So many accesses are told of one piece.
const MOST_ACCESSES: usize = 100;

/// Who accesses a piece of memory, and when.
#[derive(Default)]
struct Users {
    threads: BTreeSet<ThreadId>,
    is_written: bool,
    /// The steps, and where among the accesses of each the piece comes.
    places: BTreeMap<usize, usize>,
}

/// The accesses to all memory that several threads access and one writes, in order; none of those
/// that are told as a data race.
pub(crate) fn find<S: System>(
    system: &mut S,
    found: &Counterexample,
    deadline: Deadline<'_>,
) -> Vec<Access> {
    let steps = &found.execution.steps;
    let decisions: Vec<Decision> = steps.iter().map(|step| step.decision).collect();
    if decisions.len() > MOST_STEPS {
        return Vec::new();
    }
    let mut shared: Vec<(ObjectId, Users)> = users(system, &decisions)
        .into_iter()
        .filter(|(_, users)| users.threads.len() > 1 && users.is_written)
        .collect();
    shared
        .sort_by_key(|(_, users)| users.places.first_key_value().map(|(at, place)| (*at, *place)));
    let mut all: Vec<((usize, usize), Access)> = Vec::new();
    for (memory, users) in shared.into_iter().take(MOST_PIECES) {
        if !deadline.has_time_to_tell() {
            return Vec::new();
        }
        for access in accesses(system, memory, &decisions) {
            let place = users.places.get(&access.step).copied().unwrap_or(usize::MAX);
            all.push(((access.step, place), access));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    let is_told = |access: &Access| {
        found.accesses.iter().any(|it| {
            (it.step, it.by, it.write) == (access.step, access.by, access.write)
                && it.stack.first() == access.stack.first()
        })
    };
    all.into_iter().map(|(_, access)| access).filter(|access| !is_told(access)).collect()
}

/// Who accesses which memory plainly.
fn users<S: System>(system: &mut S, decisions: &[Decision]) -> BTreeMap<ObjectId, Users> {
    let mut users: BTreeMap<ObjectId, Users> = BTreeMap::new();
    system.reset();
    for (idx, &decision) in decisions.iter().enumerate() {
        // What goes wrong on the way was told before.
        let _ = system.step(decision);
        for (place, access) in system.accesses().iter().enumerate() {
            let part = system.parts().iter().rfind(|part| part.n_before <= place);
            let user = users.entry(access.object).or_default();
            user.threads.insert(part.map_or(decision.thread, |part| part.thread));
            user.is_written |= access.write;
            user.places.entry(idx + 1).or_insert(place);
        }
    }
    users
}

/// The accesses to a piece of memory. Of those of one thread in one step that stand on one line and
/// change nothing in between, one is told: the write, if there is one.
fn accesses<S: System>(system: &mut S, memory: ObjectId, decisions: &[Decision]) -> Vec<Access> {
    system.look_at(Some(memory));
    system.reset();
    let mut all: Vec<Access> = Vec::new();
    for (idx, &decision) in decisions.iter().enumerate() {
        // From then on the system knows what memory is called.
        let _ = system.location(decision.thread);
        let _ = system.step(decision);
        for Sighting { thread, write, value, stack } in system.sightings() {
            let access = Access {
                thread: system.thread_name(thread).into_owned(),
                by: Some(thread),
                write,
                step: idx + 1,
                memory: Some(system.memory_name(memory).into_owned()),
                value,
                stack,
            };
            match all.last_mut() {
                Some(last) if is_one(last, &access) => {
                    if access.write {
                        *last = access;
                    }
                }
                _ => all.push(access),
            }
        }
    }
    system.look_at(None);
    all.truncate(MOST_ACCESSES);
    all
}

/// Whether the second of two accesses tells all that the first one does, or nothing that it does
/// not.
fn is_one(first: &Access, second: &Access) -> bool {
    let line = |access: &Access| access.stack.first().map(|at| (at.file.clone(), at.line));
    (first.step, first.by) == (second.step, second.by)
        && line(first) == line(second)
        && !first.write
}
