//! Deadlocks: who waits, for whom, and the circle among them.
//!
//! The search notices that no thread can move; this is for the people who read about it. Locks have
//! holders, so threads that wait for locks or join each other form a graph. A circle in it is the
//! reason for the deadlock, everybody else only stands behind it.

use mazurka_core::{
    Effect, Ending, Execution, Next, ObjectId, Operation, Step, System, ThreadId, ThreadSet, Wait,
};

/// Who waits, and for whom, after an execution that no thread can continue. `next` has one entry
/// per thread. The members of a circle come first, in its order; then those that wait for no thread
/// in particular, or for a thread that has ended; then the rest. None waits where the program has
/// exited, or where a thread is only held in a loop that it could leave.
pub(crate) fn waits(execution: &Execution, next: &[Next], system: &dyn System) -> Vec<Wait> {
    if matches!(system.ending(), Ending::Exited | Ending::Redundant) {
        return Vec::new();
    }
    let held = held(execution);
    let blocked = next.iter().enumerate().filter_map(|(idx, next)| {
        let thread = ThreadId::new(idx);
        match *next {
            Next::Blocked(operation) => Some((thread, operation)),
            Next::Finished => Some((thread, Operation::Await(system.spin(thread)?.object))),
            Next::Unborn | Next::Enabled { .. } => None,
        }
    });
    let waits: Vec<Wait> = blocked
        .map(|(thread, operation)| Wait {
            thread,
            operation,
            holders: holders(execution, &held, thread, operation),
            holds: held.iter().filter(|held| held.by == thread).map(|held| held.step).collect(),
            location: None,
            object: None,
        })
        .collect();
    in_telling_order(waits)
}

/// The deadlock in one sentence.
pub(crate) fn describe(waits: &[Wait], system: &dyn System) -> String {
    let in_circle = circle(waits).len();
    let others = waits.len() - in_circle;
    let told: Vec<String> = waits.iter().map(|wait| tell(wait, waits, system)).collect();
    let told = told.join("; ");
    match (in_circle, others) {
        (0, 1) if waits.iter().any(is_asleep) => told,
        (0, 1) => format!("1 thread waits for ever: {told}"),
        (0, _) => format!("{others} threads wait for ever: {told}"),
        (1, 0) => format!("1 thread waits for itself: {told}"),
        (_, 0) => format!("{in_circle} threads wait for each other: {told}"),
        (1, _) => format!("1 thread waits for itself and {others} more for ever: {told}"),
        _ => format!("{in_circle} threads wait for each other and {others} more for ever: {told}"),
    }
}

/// What an operation that waits is about to do, in words that follow "waits to".
pub(crate) fn wish<S: System + ?Sized>(operation: Operation, system: &S) -> String {
    use Operation as O;
    match operation {
        O::Await(o) | O::AwaitModify(o) => format!("see {} change", system.object_name(o)),
        O::Reacquire { condvar: o, .. } | O::FutexResume(o) => {
            format!("end its wait on {}", system.object_name(o))
        }
        O::SemaphoreAcquire { semaphore: o, .. } => {
            format!("take a permit of {}", system.object_name(o))
        }
        O::Send { channel, .. } => format!("send to {}", system.object_name(channel)),
        O::Receive(o) => format!("receive from {}", system.object_name(o)),
        O::Spawn(thread) | O::Join(thread) => {
            format!("{} {}", operation.name(), system.thread_name(thread))
        }
        _ => match operation.object() {
            Some(object) => format!("{} {}", operation.name(), system.object_name(object)),
            None => operation.name().to_owned(),
        },
    }
}

/// A lock that a thread has.
#[derive(Clone, Copy, Debug)]
struct Held {
    lock: ObjectId,
    by: ThreadId,
    /// The step that took it, from 1.
    step: usize,
}

/// The locks that are held at the end of an execution, in the order in which they were taken.
fn held(execution: &Execution) -> Vec<Held> {
    use Operation as O;
    let mut held = Vec::new();
    for (idx, &Step { decision, operation, effect }) in execution.steps.iter().enumerate() {
        let by = decision.thread;
        match operation {
            O::TryAcquire(_) | O::TryReadAcquire(_) | O::TryWriteAcquire(_)
                if effect == Effect::Failed => {}
            O::Acquire(lock)
            | O::TryAcquire(lock)
            | O::Reacquire { mutex: lock, .. }
            | O::ReadAcquire(lock)
            | O::TryReadAcquire(lock)
            | O::WriteAcquire(lock)
            | O::TryWriteAcquire(lock) => held.push(Held { lock, by, step: idx + 1 }),
            O::Release(lock)
            | O::Wait { mutex: lock, .. }
            | O::ReadRelease(lock)
            | O::WriteRelease(lock) => give_back(&mut held, lock, by),
            _ => {}
        }
    }
    held
}

/// Takes out one hold of a lock: the thread's own or, where guards may move, that of another.
fn give_back(held: &mut Vec<Held>, lock: ObjectId, by: ThreadId) {
    let own = held.iter().rposition(|held| held.lock == lock && held.by == by);
    if let Some(idx) = own.or_else(|| held.iter().position(|held| held.lock == lock)) {
        held.remove(idx);
    }
}

/// The threads that have what a waiting thread wants; empty if no thread in particular has.
fn holders(
    execution: &Execution,
    held: &[Held],
    thread: ThreadId,
    operation: Operation,
) -> ThreadSet {
    use Operation as O;
    match operation {
        O::Join(joined) => ThreadSet::one(joined),
        O::Reacquire { .. } if !was_woken(execution, thread) => ThreadSet::EMPTY,
        O::Acquire(lock)
        | O::Reacquire { mutex: lock, .. }
        | O::ReadAcquire(lock)
        | O::WriteAcquire(lock) => {
            held.iter().filter(|held| held.lock == lock).map(|held| held.by).collect()
        }
        _ => ThreadSet::EMPTY,
    }
}

/// Whether a notification has reached a thread since it went to sleep, its last step.
fn was_woken(execution: &Execution, thread: ThreadId) -> bool {
    execution
        .steps
        .iter()
        .rev()
        .take_while(|step| step.decision.thread != thread)
        .any(|step| matches!(step.effect, Effect::Woke(woken) if woken.contains(thread)))
}

fn in_telling_order(waits: Vec<Wait>) -> Vec<Wait> {
    let circle = circle(&waits);
    let waiting: ThreadSet = waits.iter().map(|wait| wait.thread).collect();
    let mut order: Vec<usize> = (0..waits.len()).collect();
    order.sort_by_key(|&idx| {
        let in_circle = circle.iter().position(|&member| member == idx);
        (in_circle.unwrap_or(circle.len()), !(waits[idx].holders & waiting).is_empty())
    });
    order.into_iter().map(|idx| waits[idx].clone()).collect()
}

/// A shortest circle of threads each of which waits for the next, as places in `waits`.
fn circle(waits: &[Wait]) -> Vec<usize> {
    let circles = (0..waits.len()).filter_map(|start| circle_through(waits, start));
    circles.min_by_key(Vec::len).unwrap_or_default()
}

/// A shortest circle that begins at `start`, found breadth first.
fn circle_through(waits: &[Wait], start: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; waits.len()];
    let mut queue = vec![start];
    let mut done = 0;
    while let Some(&idx) = queue.get(done) {
        done += 1;
        if waits[idx].holders.contains(waits[start].thread) {
            let mut circle: Vec<usize> =
                std::iter::successors(Some(idx), |&member| before[member]).collect();
            circle.reverse();
            return Some(circle);
        }
        for (next, wait) in waits.iter().enumerate() {
            let unseen = next != start && before[next].is_none();
            if unseen && waits[idx].holders.contains(wait.thread) {
                before[next] = Some(idx);
                queue.push(next);
            }
        }
    }
    None
}

/// Whether the thread sleeps, and was not notified.
fn is_asleep(wait: &Wait) -> bool {
    matches!(wait.operation, Operation::Reacquire { .. } | Operation::FutexResume(_))
        && wait.holders.is_empty()
}

/// What one thread has, as far as others want it, and what it waits for.
fn tell(wait: &Wait, waits: &[Wait], system: &dyn System) -> String {
    let name = system.thread_name(wait.thread);
    let wanted = tell_wanted(wait, waits, system);
    let mut locks: Vec<ObjectId> = waits
        .iter()
        .filter(|other| other.holders.contains(wait.thread))
        .filter_map(|other| lock_of(other.operation))
        .collect();
    locks.sort_unstable();
    locks.dedup();
    if locks.is_empty() {
        return format!("{name} {wanted}");
    }
    let locks = listed(locks.iter().map(|&lock| system.object_name(lock).into_owned()).collect());
    format!("{name} holds {locks} and {wanted}")
}

fn tell_wanted(wait: &Wait, waits: &[Wait], system: &dyn System) -> String {
    use Operation as O;
    if let Some(spin) = system.spin(wait.thread) {
        return spin.text;
    }
    if let Some(text) = system.waits_for(wait.thread) {
        return text.to_owned();
    }
    match wait.operation {
        O::Reacquire { condvar: o, .. } | O::FutexResume(o) if is_asleep(wait) => {
            format!("sleeps on {} and no thread is left that could wake it", system.object_name(o))
        }
        O::Acquire(lock) | O::Reacquire { mutex: lock, .. } => {
            format!("waits for {}{}", system.object_name(lock), tell_holders(wait, waits, system))
        }
        operation if lock_of(operation).is_some() => {
            format!("waits to {}{}", wish(operation, system), tell_holders(wait, waits, system))
        }
        O::Leave { barrier, parties } | O::Part { barrier, parties } => {
            let name = system.object_name(barrier);
            format!("waits at {name} until {parties} threads have arrived")
        }
        operation => format!("waits to {}", wish(operation, system)),
    }
}

fn tell_holders(wait: &Wait, waits: &[Wait], system: &dyn System) -> String {
    let tell = |holder| {
        if holder == wait.thread {
            "itself".to_owned()
        } else if waits.iter().any(|other| other.thread == holder) {
            system.thread_name(holder).into_owned()
        } else {
            // No thread is enabled, so one that does not wait has ended.
            format!("{}, which has ended", system.thread_name(holder))
        }
    };
    match wait.holders.is_empty() {
        true => String::new(),
        false => format!(", held by {}", listed(wait.holders.iter().map(tell).collect())),
    }
}

/// The lock that an operation waits for.
fn lock_of(operation: Operation) -> Option<ObjectId> {
    use Operation as O;
    match operation {
        O::Acquire(lock)
        | O::Reacquire { mutex: lock, .. }
        | O::ReadAcquire(lock)
        | O::WriteAcquire(lock) => Some(lock),
        _ => None,
    }
}

/// "a", "a and b", "a, b and c".
fn listed(mut items: Vec<String>) -> String {
    match (items.pop(), items.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} and {last}", items.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::{Decision, Failure};
    use std::borrow::Cow;

    /// A system that has nothing but names.
    struct Names;

    impl System for Names {
        fn reset(&mut self) {}

        fn n_threads(&self) -> usize {
            0
        }

        fn next(&self, _thread: ThreadId) -> Next {
            Next::Unborn
        }

        fn step(&mut self, _decision: Decision) -> Result<Effect, Failure> {
            Ok(Effect::Done)
        }

        fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
            let kinds = ["mutex(0)", "mutex(1)", "mutex(2)", "lock(0)", "condvar(0)", "queue(0)"];
            Cow::Borrowed(kinds[object.index()])
        }
    }

    fn object(index: usize) -> ObjectId {
        ObjectId::new(index)
    }

    fn mutex(index: usize) -> ObjectId {
        object(index)
    }

    fn lock() -> ObjectId {
        object(3)
    }

    fn sleep() -> (Operation, Operation) {
        let (condvar, mutex) = (object(4), mutex(0));
        (O::Wait { condvar, mutex }, O::Reacquire { condvar, mutex })
    }

    fn step(thread: usize, operation: Operation) -> Step {
        let decision = Decision::of(ThreadId::new(thread));
        Step { decision, operation, effect: Effect::Done }
    }

    fn check(steps: &[Step], next: &[Next], expect: Expect) {
        let execution = Execution { steps: steps.to_vec(), ..Execution::default() };
        let waits = waits(&execution, next, &Names);
        let holds: Vec<String> =
            waits.iter().map(|wait| format!("{} {:?}", wait.thread, wait.holds)).collect();
        expect.assert_eq(&format!("{} | {}", describe(&waits, &Names), holds.join(" ")));
    }

    fn blocked(operation: Operation) -> Next {
        Next::Blocked(operation)
    }

    #[test]
    fn a_circle_is_told_first_and_in_its_order() {
        let two = [step(0, O::Acquire(mutex(0))), step(1, O::Acquire(mutex(1)))];
        let wants = |index| blocked(O::Acquire(mutex(index)));
        check(
            &two,
            &[wants(1), wants(0)],
            expect![
                "2 threads wait for each other: T0 holds mutex(0) and waits for mutex(1), held by T1; T1 holds mutex(1) and waits for mutex(0), held by T0 | T0 [1] T1 [2]"
            ],
        );
        check(
            &two,
            &[wants(1), wants(0), Next::Finished, blocked(O::Receive(object(5)))],
            expect![
                "2 threads wait for each other and 1 more for ever: T0 holds mutex(0) and waits for mutex(1), held by T1; T1 holds mutex(1) and waits for mutex(0), held by T0; T3 waits to receive from queue(0) | T0 [1] T1 [2] T3 []"
            ],
        );
        let three = [
            step(1, O::Acquire(mutex(0))),
            step(3, O::Acquire(mutex(1))),
            step(2, O::Acquire(mutex(2))),
        ];
        check(
            &three,
            &[wants(0), wants(1), wants(0), wants(2)],
            expect![
                "3 threads wait for each other and 1 more for ever: T1 holds mutex(0) and waits for mutex(1), held by T3; T3 holds mutex(1) and waits for mutex(2), held by T2; T2 holds mutex(2) and waits for mutex(0), held by T1; T0 waits for mutex(0), held by T1 | T1 [1] T3 [2] T2 [3] T0 []"
            ],
        );
    }

    #[test]
    fn a_thread_can_wait_for_itself() {
        let steps = [step(0, O::Acquire(mutex(0)))];
        check(
            &steps,
            &[blocked(O::Acquire(mutex(0)))],
            expect![
                "1 thread waits for itself: T0 holds mutex(0) and waits for mutex(0), held by itself | T0 [1]"
            ],
        );
        let behind = [blocked(O::Acquire(mutex(0))), blocked(O::Acquire(mutex(0)))];
        check(
            &steps,
            &behind,
            expect![
                "1 thread waits for itself and 1 more for ever: T0 holds mutex(0) and waits for mutex(0), held by itself; T1 waits for mutex(0), held by T0 | T0 [1] T1 []"
            ],
        );
    }

    #[test]
    fn a_join_closes_a_circle() {
        let steps = [step(0, O::Spawn(ThreadId::new(1))), step(0, O::Acquire(mutex(0)))];
        let next = [blocked(O::Join(ThreadId::new(1))), blocked(O::Acquire(mutex(0)))];
        check(
            &steps,
            &next,
            expect![
                "2 threads wait for each other: T0 holds mutex(0) and waits to join T1; T1 waits for mutex(0), held by T0 | T0 [2] T1 []"
            ],
        );
    }

    #[test]
    fn a_reader_that_wants_to_write_waits_for_itself() {
        let steps = [step(0, O::ReadAcquire(lock())), step(1, O::ReadAcquire(lock()))];
        let next = [blocked(O::WriteAcquire(lock())), blocked(O::WriteAcquire(lock()))];
        check(
            &steps,
            &next,
            expect![
                "1 thread waits for itself and 1 more for ever: T0 holds lock(0) and waits to write-acquire lock(0), held by itself and T1; T1 holds lock(0) and waits to write-acquire lock(0), held by T0 and itself | T0 [1] T1 [2]"
            ],
        );
        let left = [&steps[..], &[step(0, O::ReadRelease(lock()))]].concat();
        check(
            &left,
            &[blocked(O::WriteAcquire(lock())), Next::Finished],
            expect![
                "1 thread waits for ever: T0 waits to write-acquire lock(0), held by T1, which has ended | T0 []"
            ],
        );
    }

    #[test]
    fn without_a_circle_the_reason_is_told_first() {
        check(
            &[],
            &[Next::Finished, blocked(O::Receive(object(5)))],
            expect!["1 thread waits for ever: T1 waits to receive from queue(0) | T1 []"],
        );
        let next = [blocked(O::Join(ThreadId::new(1))), blocked(O::Receive(object(5)))];
        check(
            &[],
            &next,
            expect![
                "2 threads wait for ever: T1 waits to receive from queue(0); T0 waits to join T1 | T1 [] T0 []"
            ],
        );
        let kept = [step(0, O::Acquire(mutex(0)))];
        check(
            &kept,
            &[Next::Finished, blocked(O::Acquire(mutex(0)))],
            expect![
                "1 thread waits for ever: T1 waits for mutex(0), held by T0, which has ended | T1 []"
            ],
        );
    }

    #[test]
    fn what_waits_for_nobody_in_particular() {
        let channel = object(5);
        for (operation, expect) in [
            (
                O::Await(channel),
                expect!["1 thread waits for ever: T0 waits to see queue(0) change | T0 []"],
            ),
            (
                O::SemaphoreAcquire { semaphore: channel, permits: 0 },
                expect!["1 thread waits for ever: T0 waits to take a permit of queue(0) | T0 []"],
            ),
            (
                O::Leave { barrier: channel, parties: 2 },
                expect![
                    "1 thread waits for ever: T0 waits at queue(0) until 2 threads have arrived | T0 []"
                ],
            ),
            (
                O::Send { channel, capacity: 1 },
                expect!["1 thread waits for ever: T0 waits to send to queue(0) | T0 []"],
            ),
        ] {
            check(&[], &[blocked(operation)], expect);
        }
    }

    #[test]
    fn a_lost_wake_up() {
        let (wait, reacquire) = sleep();
        let steps = [step(1, O::Acquire(mutex(0))), step(1, wait)];
        check(
            &steps,
            &[Next::Finished, blocked(reacquire)],
            expect!["T1 sleeps on condvar(0) and no thread is left that could wake it | T1 []"],
        );
        let next = [blocked(O::Join(ThreadId::new(1))), blocked(reacquire)];
        check(
            &steps,
            &next,
            expect![
                "2 threads wait for ever: T1 sleeps on condvar(0) and no thread is left that could wake it; T0 waits to join T1 | T1 [] T0 []"
            ],
        );
    }

    #[test]
    fn a_sleeper_that_was_woken_wants_its_mutex() {
        let (wait, reacquire) = sleep();
        let mut notify = step(0, O::NotifyOne(object(4)));
        notify.effect = Effect::Woke(ThreadSet::one(ThreadId::new(1)));
        let steps =
            [step(1, O::Acquire(mutex(0))), step(1, wait), step(0, O::Acquire(mutex(0))), notify];
        let next = [blocked(O::Receive(object(5))), blocked(reacquire)];
        check(
            &steps,
            &next,
            expect![
                "2 threads wait for ever: T0 holds mutex(0) and waits to receive from queue(0); T1 waits for mutex(0), held by T0 | T0 [3] T1 []"
            ],
        );
        // A notification from before does not count, and who holds the mutex does not matter.
        let release = step(0, O::Release(mutex(0)));
        let again = [release, step(1, reacquire), step(1, wait), step(0, O::Acquire(mutex(0)))];
        let next = [blocked(O::Join(ThreadId::new(1))), blocked(reacquire)];
        check(
            &[&steps[..], &again].concat(),
            &next,
            expect![
                "2 threads wait for ever: T1 sleeps on condvar(0) and no thread is left that could wake it; T0 waits to join T1 | T1 [] T0 [8]"
            ],
        );
    }

    #[test]
    fn only_what_was_taken_and_not_given_back_is_held() {
        let mut failed = step(1, O::TryAcquire(mutex(1)));
        failed.effect = Effect::Failed;
        let steps = [
            step(1, O::TryAcquire(mutex(0))),
            step(0, O::Acquire(mutex(1))),
            failed,
            step(1, O::TryWriteAcquire(lock())),
            step(1, O::WriteRelease(lock())),
            step(1, O::TryReadAcquire(lock())),
        ];
        check(
            &steps,
            &[Next::Finished, blocked(O::Acquire(mutex(1)))],
            expect![
                "1 thread waits for ever: T1 waits for mutex(1), held by T0, which has ended | T1 [1, 6]"
            ],
        );
    }
}
