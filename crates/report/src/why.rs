//! Why a counterexample goes wrong, in sentences: the racing pair that decides, wake-ups that no
//! thread waited for, the synchronisation that a data race misses, and what threads of a loop wait
//! for.

use crate::Report;
use crate::interleaving::Interleaving;
use crate::select::Line;
use mazurka_core::{
    Access, Counterexample, Effect, Location, MemoryOrder, ObjectId, Operation, Step, Told,
    ViolationKind, Wait,
};
use std::collections::BTreeMap;

/// Why a counterexample goes wrong, as far as that was seen.
pub(crate) fn why_of(report: &Report<'_>, found: &Counterexample) -> Vec<String> {
    let shown = Interleaving { is_full: report.is_full, ..Interleaving::from(found) };
    why(&shown.lines(), found, report.loop_start)
}

/// The same, where these rows are shown and the step `loop_start`, from 1, follows the last one.
pub(crate) fn why(
    lines: &[Line],
    found: &Counterexample,
    loop_start: Option<usize>,
) -> Vec<String> {
    let mut why = Vec::new();
    why.extend(decisive(lines, found));
    why.extend(lost_wakeups(found));
    why.extend(missing_order(found));
    why.extend(loop_start.and_then(|start| around(found, start)));
    why
}

/// The pair of steps that decides.
fn decisive(lines: &[Line], found: &Counterexample) -> Option<String> {
    // The number of the row that stands for a step, both from 1.
    let row_of = |step: usize| {
        let idx = step.checked_sub(1)?;
        lines.iter().find(|line| line.steps.contains(&idx)).and_then(|line| line.number)
    };
    let pair = found.decisive.as_ref()?;
    let (first, second) = (row_of(pair.first)?, row_of(pair.second)?);
    let object = found.story.get(pair.first - 1).and_then(|told| told.object.as_deref());
    let on = object.map_or(String::new(), |object| format!(" on {object}"));
    let end = match found.violation.kind {
        ViolationKind::Deadlock => "no thread waits for ever",
        _ => "nothing goes wrong",
    };
    (first != second).then(|| {
        format!(
            "steps {first} and {second} race{on}. In the same execution with step {second} before \
             step {first}, {end}."
        )
    })
}

/// Notifications that found no thread waiting, of what a thread sleeps on in the end.
fn lost_wakeups(found: &Counterexample) -> Vec<String> {
    let steps = &found.execution.steps;
    let lost = |wait: &Wait| {
        let (Operation::Reacquire { condvar: queue, .. } | Operation::FutexResume(queue)) =
            wait.operation
        else {
            return None;
        };
        let began = steps.iter().rposition(|step| step.decision.thread == wait.thread)?;
        let is_lost = |step: &Step| {
            let is_notice = matches!(step.operation,
                Operation::NotifyOne(it) | Operation::NotifyAll(it) if it == queue);
            is_notice && matches!(step.effect, Effect::Woke(woken) if woken.is_empty())
        };
        let notified = steps[..began].iter().rposition(is_lost)?;
        let (name, thread) = (wait.object.as_deref()?, &found.story.get(began)?.thread);
        Some(format!(
            "{name} was notified at step {}, when no thread waited for it; {thread} began to wait \
             at step {}.",
            notified + 1,
            began + 1
        ))
    };
    found.waits.iter().filter_map(lost).collect()
}

/// What would order the two accesses of a data race and does not, since it is too weak: an atomic
/// that the first thread wrote behind its access and the second one read before its own.
fn missing_order(found: &Counterexample) -> Option<String> {
    let [first, second] = found.accesses.as_slice() else { return None };
    if found.violation.kind != ViolationKind::Race {
        return None;
    }
    let steps = found.execution.steps.iter().zip(&found.story).enumerate();
    let of = |access: &Access, step: &Step| access.by == Some(step.decision.thread);
    // An access stands behind the operation of its step.
    let sent = steps.clone().filter(|(idx, (step, _))| *idx >= first.step && of(first, step));
    let received = steps.filter(|(idx, (step, _))| *idx < second.step && of(second, step));
    let received: Vec<_> = received.collect();
    let mut is_strong = false;
    for (at, (write, stored)) in sent {
        let Some(object) = written(write.operation) else { continue };
        let is_read = |(idx, (step, _)): &&(usize, (&Step, &Told))| {
            *idx > at && read(step.operation) == Some(object)
        };
        let Some((_, (_, loaded))) = received.iter().find(is_read) else { continue };
        let strong = MemoryOrder::SequentiallyConsistent;
        let too_weak = [
            (stored, "written", "release", stored.order.unwrap_or(strong).releases()),
            (loaded, "read", "acquire", loaded.order.unwrap_or(strong).acquires()),
        ];
        let weak: Vec<String> = too_weak
            .iter()
            .filter(|(.., is_enough)| !is_enough)
            .map(|(told, how, wanted, _)| {
                let order = told.order.map_or("relaxed", MemoryOrder::name);
                let at = place(told).map_or(String::new(), |it| format!(" at {it}"));
                format!("{how} {order}{at}, and not {wanted}")
            })
            .collect();
        if weak.is_empty() {
            is_strong = true;
            continue;
        }
        let name = stored.object.as_deref().unwrap_or("it");
        return Some(format!(
            "`{name}` is {}: no happens-before leads from {} to {}.",
            weak.join("; "),
            first.thread,
            second.thread
        ));
    }
    (!is_strong).then(|| {
        let mut text = format!(
            "no lock, atomic, join or start of a thread leads from the access of {} to that of {}.",
            first.thread, second.thread
        );
        if let Some(locks) = locks(found, first, second) {
            text += &format!(" {locks}");
        }
        text
    })
}

/// Which locks the two threads of a data race hold at their accesses, if any thread takes one and
/// the two have none in common.
fn locks(found: &Counterexample, first: &Access, second: &Access) -> Option<String> {
    let is_any = found.execution.steps.iter().any(|step| taken(step).is_some());
    let held = [held(found, first), held(found, second)];
    let is_common = held[0].keys().any(|lock| held[1].contains_key(lock));
    if !is_any || is_common {
        return None;
    }
    let names = held.each_ref().map(|all| all.values().copied().collect::<Vec<_>>().join(", "));
    Some(match (names[0].as_str(), names[1].as_str()) {
        ("", "") => "Neither holds a lock.".to_owned(),
        (one, "") => format!("{} holds {one}, {} no lock.", first.thread, second.thread),
        ("", other) => format!("{} holds no lock, {} {other}.", first.thread, second.thread),
        (one, other) => {
            format!("{} holds {one} and {} {other}: none in common.", first.thread, second.thread)
        }
    })
}

/// The locks that a thread holds at an access, by what people call them.
fn held<'a>(found: &'a Counterexample, access: &Access) -> BTreeMap<ObjectId, &'a str> {
    let mut held = BTreeMap::new();
    let steps = || found.execution.steps.iter().zip(&found.story).take(access.step);
    // Who wakes up names the condition variable, and has named the lock before.
    let name = |lock: ObjectId| {
        let mut told = steps().filter(|(step, _)| step.operation.object() == Some(lock));
        told.find_map(|(_, told)| told.object.as_deref()).unwrap_or("a lock")
    };
    for (step, _) in steps().filter(|(step, _)| access.by == Some(step.decision.thread)) {
        if let Some(lock) = taken(step) {
            held.insert(lock, name(lock));
        }
        match step.operation {
            Operation::Release(lock)
            | Operation::ReadRelease(lock)
            | Operation::WriteRelease(lock)
            | Operation::Wait { mutex: lock, .. } => {
                held.remove(&lock);
            }
            _ => {}
        }
    }
    held
}

/// The lock that a step takes.
fn taken(step: &Step) -> Option<ObjectId> {
    use Operation as O;
    match step.operation {
        O::TryAcquire(_) | O::TryReadAcquire(_) | O::TryWriteAcquire(_)
            if step.effect == Effect::Failed =>
        {
            None
        }
        O::Acquire(lock)
        | O::TryAcquire(lock)
        | O::ReadAcquire(lock)
        | O::TryReadAcquire(lock)
        | O::WriteAcquire(lock)
        | O::TryWriteAcquire(lock)
        | O::Reacquire { mutex: lock, .. } => Some(lock),
        _ => None,
    }
}

fn written(operation: Operation) -> Option<ObjectId> {
    match operation {
        Operation::Store(it)
        | Operation::ReadModifyWrite(it)
        | Operation::AwaitModify(it)
        | Operation::Add(it)
        | Operation::AddAndTest(it) => Some(it),
        _ => None,
    }
}

fn read(operation: Operation) -> Option<ObjectId> {
    match operation {
        Operation::Load(it)
        | Operation::Await(it)
        | Operation::AwaitModify(it)
        | Operation::ReadModifyWrite(it)
        | Operation::Add(it)
        | Operation::AddAndTest(it) => Some(it),
        _ => None,
    }
}

fn place(told: &Told) -> Option<String> {
    let place = told.location.clone()?;
    Some(Location { within: None, ..place }.to_string())
}

/// The loop of an infinite execution: who goes round in it, and what each thread reads there that
/// never changes.
fn around(found: &Counterexample, start: usize) -> Option<String> {
    let last = found.story.len();
    let inside = found.story.get(start.checked_sub(1)?..).filter(|it| !it.is_empty())?;
    let steps = match start == last {
        true => format!("step {start} is repeated"),
        false => format!("steps {start} to {last} are repeated"),
    };
    // By thread, in the order of the loop: what it reads, and with which value.
    let mut threads: Vec<&str> = Vec::new();
    let mut reads: BTreeMap<(&str, &str), Option<&Told>> = BTreeMap::new();
    for told in inside {
        if !threads.contains(&told.thread.as_str()) {
            threads.push(&told.thread);
        }
        let (Some(object), Some(value)) = (told.object.as_deref(), told.value.as_deref()) else {
            continue;
        };
        if value.starts_with("= ") {
            let known = reads.entry((&told.thread, object)).or_insert(Some(told));
            // One that changes is not waited for.
            *known = known.filter(|before| before.value == told.value);
        }
    }
    if reads.values().all(Option::is_none) {
        return None;
    }
    let waits = threads.iter().map(|thread| {
        let mine = reads.iter().filter(|((of, _), told)| of == thread && told.is_some());
        let told: Vec<String> = mine
            .filter_map(|((_, object), told)| {
                let told = (*told)?;
                let at = place(told).map_or(String::new(), |it| format!(" at {it}"));
                Some(format!("{object} {}{at}", told.value.as_deref()?))
            })
            .collect();
        match told.is_empty() {
            true => format!("{thread} moves"),
            false => format!("{thread} reads {} each time", told.join(" and ")),
        }
    });
    Some(format!("{steps} for ever: {}.", waits.collect::<Vec<_>>().join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Story, object, thread};
    use expect_test::{Expect, expect};
    use mazurka_core::Told;

    fn check(found: &Counterexample, loop_start: Option<usize>, expect: Expect) {
        let lines = Interleaving::from(found).lines();
        expect.assert_eq(&why(&lines, found, loop_start).join("\n"));
    }

    /// A value that is written behind the first step of a thread and read behind the last one of
    /// another, with a flag between them that has these orders.
    fn message(write: Option<MemoryOrder>, read: Option<MemoryOrder>) -> Counterexample {
        use Operation as O;
        let ready = object(0);
        let mut found = Story::new(&["main", "producer"], &["ready"])
            .file("x.c")
            .step(0, O::Spawn(thread(1)), "", 3)
            .step(1, O::Begin, "", 0)
            .step(1, O::Store(ready), "0→1", 7)
            .step(0, O::Load(ready), "= 1", 12)
            .counterexample(ViolationKind::Race, "data race on `value`: no");
        let access = |idx: usize, name: &str, write, step| Access {
            thread: name.to_owned(),
            by: Some(thread(idx)),
            write,
            step,
            memory: None,
            value: None,
            stack: Vec::new(),
        };
        found.accesses = vec![access(1, "producer", true, 2), access(0, "main", false, 4)];
        let set = |told: &mut Told, order| told.order = order;
        set(&mut found.story[2], write);
        set(&mut found.story[3], read);
        found
    }

    #[test]
    fn the_order_that_a_data_race_misses() {
        use MemoryOrder as M;
        check(
            &message(Some(M::Relaxed), Some(M::Acquire)),
            None,
            expect![
                "`ready` is written relaxed at x.c:7:9, and not release: no happens-before leads from producer to main."
            ],
        );
        check(
            &message(Some(M::Release), Some(M::Relaxed)),
            None,
            expect![
                "`ready` is read relaxed at x.c:12:9, and not acquire: no happens-before leads from producer to main."
            ],
        );
        check(
            &message(Some(M::Relaxed), Some(M::Relaxed)),
            None,
            expect![
                "`ready` is written relaxed at x.c:7:9, and not release; read relaxed at x.c:12:9, and not acquire: no happens-before leads from producer to main."
            ],
        );
        // An atomic that is strong enough is not what is missing.
        check(&message(None, None), None, expect![""]);
        let mut found = message(None, None);
        found.accesses.swap(0, 1);
        check(
            &found,
            None,
            expect![[
                "no lock, atomic, join or start of a thread leads from the access of main to that of producer."
            ]],
        );
    }

    #[test]
    fn what_threads_of_a_loop_wait_for() {
        use Operation as O;
        let turn = object(0);
        let found = Story::new(&["main", "other"], &["turn", "n"])
            .file("polite.rs")
            .step(0, O::Store(turn), "0→1", 3)
            .step(0, O::Load(turn), "= 1", 5)
            .step(1, O::Load(object(1)), "= 1", 15)
            .step(1, O::Load(object(1)), "= 2", 15)
            .step(0, O::Load(turn), "= 1", 5)
            .counterexample(ViolationKind::Livelock, "no");
        check(
            &found,
            Some(2),
            expect![
                "steps 2 to 5 are repeated for ever: main reads turn = 1 at polite.rs:5:9 each time; other moves."
            ],
        );
        check(&found, None, expect![""]);
        check(&found, Some(9), expect![""]);
    }
}
