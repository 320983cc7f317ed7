//! Plain accesses to memory that several threads access, with their values: what a counterexample
//! tells of data that locks and other steps protect.
//!
//! A system tells places and values only of memory that it [looks at](System::look_at). So the
//! execution is followed once to find the memory, and once more with a look at it.

use crate::deadline::Deadline;
use crate::decisive::possible;
use mazurka_core::{Access, Counterexample, Decision, ObjectId, Sighting, System, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// So many pieces of memory are looked at, those that are accessed first.
const MOST_PIECES: usize = 64;
/// Longer executions are not followed again.
const MOST_STEPS: usize = 2_000;
/// So many accesses are told, the last ones.
const MOST_ACCESSES: usize = 500;
/// If there are more, none is: each costs a look at the stack.
const MOST_SIGHTINGS: usize = 1 << 14;

/// Who accesses a piece of memory.
#[derive(Default)]
struct Users {
    threads: BTreeSet<ThreadId>,
    is_written: bool,
    /// The how many-th piece it was.
    number: usize,
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
    if decisions.len() > MOST_STEPS || !deadline.has_time_to_tell() {
        return Vec::new();
    }
    let mut shared: Vec<(ObjectId, usize)> = users(system, &decisions)
        .into_iter()
        .filter(|(_, users)| users.threads.len() > 1 && users.is_written)
        .map(|(memory, users)| (memory, users.number))
        .collect();
    shared.sort_by_key(|(_, number)| *number);
    shared.truncate(MOST_PIECES);
    if shared.is_empty() || !deadline.has_time_to_tell() {
        return Vec::new();
    }
    let memory: Vec<ObjectId> = shared.into_iter().map(|(memory, _)| memory).collect();
    let mut all = accesses(system, &memory, &decisions);
    let is_told = |access: &Access| {
        found.accesses.iter().any(|it| {
            (it.step, it.by, it.write) == (access.step, access.by, access.write)
                && it.stack.first() == access.stack.first()
        })
    };
    all.retain(|access| !is_told(access));
    all.drain(..all.len().saturating_sub(MOST_ACCESSES));
    all
}

/// Who accesses which memory plainly.
fn users<S: System>(system: &mut S, decisions: &[Decision]) -> BTreeMap<ObjectId, Users> {
    let mut users: BTreeMap<ObjectId, Users> = BTreeMap::new();
    system.reset();
    for &decision in decisions {
        // As the steps were told: a system may take others where no places are asked for.
        let _ = system.location(decision.thread);
        if possible(system, decision).is_none() {
            break;
        }
        // What goes wrong is told elsewhere, and nothing comes behind it.
        let is_over = system.step(decision).is_err();
        for (place, access) in system.accesses().iter().enumerate() {
            let part = system.parts().iter().rfind(|part| part.n_before <= place);
            let number = users.len();
            let user =
                users.entry(access.object).or_insert_with(|| Users { number, ..Users::default() });
            user.threads.insert(part.map_or(decision.thread, |part| part.thread));
            user.is_written |= access.write;
        }
        if is_over {
            break;
        }
    }
    users
}

/// The accesses to some memory, in order. Of those of one thread in one step that stand on one line
/// and change nothing in between, one is told: the write, if there is one.
fn accesses<S: System>(system: &mut S, memory: &[ObjectId], decisions: &[Decision]) -> Vec<Access> {
    system.look_at(memory);
    system.reset();
    let mut all: Vec<(ObjectId, Access)> = Vec::new();
    let mut n_seen = 0;
    for (idx, &decision) in decisions.iter().enumerate() {
        // From then on the system knows what memory is called.
        let _ = system.location(decision.thread);
        if possible(system, decision).is_none() {
            break;
        }
        let is_over = system.step(decision).is_err();
        let sightings = system.sightings();
        n_seen += sightings.len();
        if n_seen > MOST_SIGHTINGS {
            all.clear();
            break;
        }
        // What operations access has rows of its own.
        for sighting in sightings.into_iter().filter(|sighting| !sighting.is_atomic) {
            let Sighting { memory, name, thread, write, value, stack, .. } = sighting;
            let access = Access {
                thread: system.thread_name(thread).into_owned(),
                by: Some(thread),
                write,
                step: idx + 1,
                memory: Some(name),
                value,
                stack,
            };
            let is_same_part = |last: &Access| (last.step, &last.by) == (access.step, &access.by);
            let last = all
                .iter()
                .rposition(|(of, last)| *of == memory || !is_same_part(last))
                .filter(|&at| all[at].0 == memory && is_one(&all[at].1, &access));
            match last {
                Some(_) if !access.write => continue,
                Some(at) => drop(all.remove(at)),
                None => {}
            }
            all.push((memory, access));
        }
        if is_over {
            break;
        }
    }
    system.look_at(&[]);
    all.into_iter().map(|(_, access)| access).collect()
}

/// Whether the second of two accesses to the same memory tells all that the first one does, or
/// nothing that it does not.
fn is_one(first: &Access, second: &Access) -> bool {
    let line = |access: &Access| access.stack.first().map(|at| (at.file.clone(), at.line));
    (first.step, first.by) == (second.step, second.by)
        && line(first) == line(second)
        && !first.write
}
