//! Preemptions: switches away from a thread that could have gone on.
//!
//! An execution does not tell who was enabled. But what a thread does next does not change while
//! others move, so its next step, or what it waits for in the end, is what it would have done; and
//! locks, semaphores, channels and ends of threads can be followed from the start. Where that does
//! not settle it (a condition that is awaited, a barrier, a thread that does not move again), it
//! is not called a preemption.

use mazurka_core::{
    Effect, Execution, ObjectId, Operation, Step, ThreadId, ThreadSet, Wait, may_disable,
    may_enable,
};
use std::collections::BTreeMap;

/// For each step, whether the switch before it is known to be a preemption.
pub(crate) fn preemptions(execution: &Execution, waits: &[Wait]) -> Vec<bool> {
    let steps = &execution.steps;
    let mut state = State::default();
    let mut preempted = vec![false; steps.len()];
    // The next step of each thread, seen from each step: filled from the end.
    let mut following = vec![None; steps.len()];
    let mut next: BTreeMap<ThreadId, usize> = BTreeMap::new();
    for (idx, step) in steps.iter().enumerate().rev() {
        following[idx] = next.insert(step.decision.thread, idx);
    }
    for (idx, step) in steps.iter().enumerate() {
        state.take(step);
        let Some(after) = steps.get(idx + 1) else { break };
        let thread = step.decision.thread;
        if after.decision.thread == thread || step.operation == Operation::Yield {
            continue;
        }
        // A thread that joins in a later step of another one has waited until then.
        let until = following[idx].unwrap_or(steps.len());
        let waits_for_end = execution.joins.iter().any(|join| {
            let at = join.at as usize;
            join.thread == thread && at > idx + 1 && at <= until
        });
        if waits_for_end {
            continue;
        }
        preempted[idx + 1] = match following[idx] {
            Some(next) => {
                let operation = steps[next].operation;
                let between = &steps[idx + 1..next];
                !between.iter().any(|step| may_enable(step.operation, operation))
                    || state.allows(thread, operation, between)
            }
            None => waits.iter().find(|wait| wait.thread == thread).is_some_and(|wait| {
                let between = &steps[idx + 1..];
                between.iter().any(|step| may_disable(step.operation, wait.operation))
                    && state.allows(thread, wait.operation, between)
            }),
        };
    }
    preempted
}

/// Who has what, as far as the steps tell.
#[derive(Default)]
struct State {
    /// Locks that are held by one thread alone.
    taken: BTreeMap<ObjectId, usize>,
    /// How many readers a lock has.
    read: BTreeMap<ObjectId, usize>,
    /// Permits or messages, put in less taken out.
    stock: BTreeMap<ObjectId, i64>,
    /// Who has been woken and has not gone on.
    woken: ThreadSet,
}

impl State {
    fn take(&mut self, step: &Step) {
        use Operation as O;
        let thread = step.decision.thread;
        if let Effect::Woke(threads) = step.effect {
            self.woken |= threads;
        }
        if step.effect == Effect::Failed {
            return;
        }
        match step.operation {
            O::Acquire(lock)
            | O::TryAcquire(lock)
            | O::WriteAcquire(lock)
            | O::TryWriteAcquire(lock) => *self.taken.entry(lock).or_default() += 1,
            O::Reacquire { mutex, .. } => {
                self.woken.remove(thread);
                *self.taken.entry(mutex).or_default() += 1;
            }
            O::FutexResume(_) => self.woken.remove(thread),
            O::Release(lock) | O::WriteRelease(lock) | O::Wait { mutex: lock, .. } => {
                give_back(&mut self.taken, lock);
            }
            O::ReadAcquire(lock) | O::TryReadAcquire(lock) => {
                *self.read.entry(lock).or_default() += 1;
            }
            O::ReadRelease(lock) => give_back(&mut self.read, lock),
            O::SemaphoreRelease(o) | O::Send { channel: o, .. } | O::TrySend { channel: o, .. } => {
                *self.stock.entry(o).or_default() += 1;
            }
            O::SemaphoreAcquire { semaphore: o, .. }
            | O::SemaphoreTryAcquire { semaphore: o, .. }
            | O::Receive(o)
            | O::TryReceive(o)
            | O::TimedReceive(o) => *self.stock.entry(o).or_default() -= 1,
            _ => {}
        }
    }

    /// Whether an operation is known to be possible now. `between` are the steps of others before
    /// it was taken or, if it never was, before the end.
    fn allows(&self, thread: ThreadId, operation: Operation, between: &[Step]) -> bool {
        use Operation as O;
        let is_free = |lock| self.taken.get(&lock).is_none_or(|&n| n == 0);
        let has_readers = |lock| self.read.get(&lock).is_some_and(|&n| n > 0);
        let stock = |o| self.stock.get(&o).copied().unwrap_or(0);
        match operation {
            O::Acquire(lock) | O::ReadAcquire(lock) => is_free(lock),
            O::WriteAcquire(lock) => is_free(lock) && !has_readers(lock),
            O::Reacquire { mutex, .. } => self.woken.contains(thread) && is_free(mutex),
            O::FutexResume(_) => self.woken.contains(thread),
            O::SemaphoreAcquire { semaphore, permits } => i64::from(permits) + stock(semaphore) > 0,
            O::Receive(channel) => stock(channel) > 0,
            O::Send { channel, capacity } => stock(channel) < i64::from(capacity),
            // It was taken later, so the other thread has ended by its last step.
            O::Join(other) => !between
                .iter()
                .any(|step| step.decision.thread == other || step.operation == O::Spawn(other)),
            _ => false,
        }
    }
}

fn give_back(held: &mut BTreeMap<ObjectId, usize>, lock: ObjectId) {
    if let Some(n) = held.get_mut(&lock) {
        *n = n.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use mazurka_core::{Decision, Next, System};
    use mazurka_script::{Script, Shape, generate};

    /// Follows a program and tells, for each step, whether the one before it was preempted for it.
    fn follow(
        script: &mut Script,
        mut choose: impl FnMut(&[Decision]) -> Option<Decision>,
    ) -> (Execution, Vec<Wait>, Vec<bool>) {
        script.reset();
        let mut execution = Execution::default();
        let mut truth = Vec::new();
        loop {
            let all = || (0..script.n_threads()).map(ThreadId::new);
            let enabled: Vec<Decision> = all()
                .filter(|&thread| matches!(script.next(thread), Next::Enabled { .. }))
                .map(Decision::of)
                .collect();
            let Some(decision) = choose(&enabled) else {
                let blocked = all().filter_map(|thread| match script.next(thread) {
                    Next::Blocked(operation) => Some((thread, operation)),
                    _ => None,
                });
                let wait = |(thread, operation)| Wait {
                    thread,
                    operation,
                    holders: ThreadSet::EMPTY,
                    holds: Vec::new(),
                    location: None,
                    object: None,
                };
                // Only in a deadlock is it told who waits.
                let waits = if enabled.is_empty() { blocked.map(wait).collect() } else { vec![] };
                return (execution, waits, truth);
            };
            let last: Option<&Step> = execution.steps.last();
            truth.push(last.is_some_and(|last| {
                last.operation != Operation::Yield
                    && last.decision.thread != decision.thread
                    && enabled.contains(&Decision::of(last.decision.thread))
            }));
            let operation = script.next(decision.thread).operation().expect("it is enabled");
            let effect = script.step(decision).unwrap_or_else(|failure| failure.effect);
            execution.steps.push(Step { decision, operation, effect });
        }
    }

    /// Takes the threads in this order, and shows the steps with a bar where one was preempted.
    fn check(program: &str, order: &str, expect: Expect) {
        let mut order = order.bytes().map(|digit| usize::from(digit - b'0'));
        let mut script = Script::parse(program).expect("the test has a program");
        let (execution, waits, truth) =
            follow(&mut script, |_| order.next().map(|idx| Decision::of(ThreadId::new(idx))));
        let found = preemptions(&execution, &waits);
        let mut shown = String::new();
        for ((step, found), truth) in execution.steps.iter().zip(found).zip(truth) {
            assert!(truth || !found, "{program}: {step:?}");
            shown.push_str(match (found, truth) {
                (true, _) => "| ",
                (false, true) => "? ",
                (false, false) => "",
            });
            shown.push_str(&format!("{} ", step.decision.thread.index()));
        }
        expect.assert_eq(shown.trim_end());
    }

    #[test]
    fn a_thread_that_could_go_on_was_preempted() {
        check("x=1; x=2 | x=3", "010", expect!["0 | 1 0"]);
        check("x=1 | x=3", "01", expect!["0 1"]);
        check("yield; x=2 | x=3", "010", expect!["0 1 0"]);
    }

    #[test]
    fn a_thread_that_waits_was_not() {
        let locks = "x=1; acq(0); rel(0) | acq(0); rel(0)";
        check(locks, "01100", expect!["0 | 1 1 0 0"]);
        check(locks, "10100", expect!["1 | 0 1 0 0"]);
        check("spawn(1); join(1) | x=1; x=2", "0110", expect!["0 1 1 0"]);
        check("x=1; await(y==2); x=3 | y=2; y=3", "0100", expect!["0 1 ? 0 0"]);
    }

    #[test]
    fn in_a_deadlock_it_is_known_who_could_have_gone_on() {
        let locks = "acq(0); acq(1) | acq(1); acq(0)";
        check(locks, "01", expect!["0 | 1"]);
    }

    #[test]
    fn what_is_not_known_is_not_claimed() {
        // Thread 0 does not move again, so it is not known what it would have done.
        check("x=1; x=2 | x=3; x=4", "01", expect!["0 ? 1"]);
        // The value was there, went and came again.
        check("x=1; await(x==1) | x=2; x=1", "0110", expect!["0 ? 1 1 0"]);
    }

    #[test]
    fn random_programs_agree() {
        let (mut n_found, mut n_true) = (0, 0);
        for seed in 0..3000u64 {
            let mut script = generate(seed, &Shape::everything());
            let mut state = seed;
            let mut left = 200;
            let (execution, waits, truth) = follow(&mut script, |enabled| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                left -= 1;
                let idx = (state >> 33) as usize % enabled.len().max(1);
                enabled.get(idx).copied().filter(|_| left > 0)
            });
            let found = preemptions(&execution, &waits);
            for (idx, (&found, &truth)) in found.iter().zip(&truth).enumerate() {
                assert!(truth || !found, "seed {seed}, step {}: {script}", idx + 1);
                n_found += usize::from(found);
                n_true += usize::from(truth);
            }
        }
        assert!(n_found * 100 > n_true * 95, "{n_found} of {n_true} are found");
    }
}
