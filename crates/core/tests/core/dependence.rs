//! The dependence relation against what programs do: independent steps commute, and no more
//! operations are kept apart or together than the relations say.
//!
//! With a wrong relation the comparison of reductions still passes, since judge and reduction
//! share the error; it is caught here. Tried, one at a time, and caught by the test named:
//!
//! | mutation                                                 | caught by                       |
//! |----------------------------------------------------------|---------------------------------|
//! | load and store are independent; stores touch as reads do | `independent_steps_commute`     |
//! | an await or a read-release touches nothing               | `independent_steps_commute`     |
//! | a wait leaves out its mutex, or its condition variable   | `adjacent_steps_…_swapped`      |
//! | a `Try…` operation touches one end of its queue only     | `independent_steps_commute`     |
//! | two notifications, receives or arrivals commute          | `independent_steps_commute`     |
//! | `all` for `any` in `dependent`                           | `independent_steps_commute`     |
//! | a join, a reacquire, a leave, the send that needs room   | `adjacent_steps_…_swapped`      |
//! |   or the receive that needs a message follows nothing    |                                 |
//! | two read-releases are never enabled together             | `what_is_enabled_together_…`    |
//! | `may_be_coenabled` looks at one direction only           | `what_is_enabled_together_…`    |
//! | a wait enables no acquire, a receive no send             | `what_a_step_changes_…`         |
//! | a try-receive disables nothing; a receive never waits    | `what_a_step_changes_…`         |
//!
//! Not caught, since it is sound: two read-acquires commute (the relation keeps them in order).

use crate::support::{Random, Seen, any_decision, check, take, threads};
use expect_test::expect;
use mazurka_core::{
    Decision, Effect, Execution, Failure, Next, Operation, Step, System, ThreadId, Trace,
    dependent, may_be_coenabled, may_disable, may_enable,
};
use mazurka_script::Script;
use std::collections::BTreeSet;

/// Alternatives of one operation that are tried.
const MAX_CHOICES: u32 = 3;

type Outcome = Result<Effect, Failure>;

#[test]
fn independent_steps_commute() {
    let seen = check(1_500, |script, seed, seen| {
        let mut script = script.clone();
        let mut random = Random::new(seed);
        loop {
            pairs_commute(&script, seen)?;
            let Some(decision) = any_decision(&script, &mut random) else { return Ok(()) };
            take(&mut script, decision);
        }
    });
    let n_pairs: usize = seen.values().sum();
    assert!(n_pairs > 100_000 && seen.len() > 250, "{n_pairs} of {} kinds", seen.len());
}

/// Every two steps that are possible now and independent lead to the same state in both orders.
fn pairs_commute(script: &Script, seen: &mut Seen) -> Result<(), String> {
    let nexts = nexts(script);
    for a in threads(script) {
        let Next::Enabled { operation: of_a, choices: n_a } = nexts[a.index()] else { continue };
        for b in threads(script).skip(a.index() + 1) {
            let Next::Enabled { operation: of_b, choices: n_b } = nexts[b.index()] else {
                continue;
            };
            if dependent(of_a, of_b) {
                continue;
            }
            *seen.entry(format!("{} {}", of_a.name(), of_b.name())).or_default() += 1;
            for choice_a in 0..n_a.min(MAX_CHOICES) {
                for choice_b in 0..n_b.min(MAX_CHOICES) {
                    let a = Decision { thread: a, choice: choice_a };
                    let b = Decision { thread: b, choice: choice_b };
                    let (did_a, did_b, state) = one_after_the_other(script, a, b)?;
                    let (did_b_first, did_a_then, other) = one_after_the_other(script, b, a)?;
                    let same = (&did_a, &did_b, &state) == (&did_a_then, &did_b_first, &other);
                    if !same {
                        return Err(format!("{of_a} and {of_b} do not commute"));
                    }
                }
            }
        }
    }
    Ok(())
}

/// What two steps do, and the state behind them. The first must not meddle with the second.
fn one_after_the_other(
    script: &Script,
    first: Decision,
    second: Decision,
) -> Result<(Outcome, Outcome, Vec<i64>), String> {
    let before = script.next(second.thread);
    let mut script = script.clone();
    let did_first = script.step(first);
    let after = script.next(second.thread);
    if after != before {
        return Err(format!("a step of {} made {after:?} of {before:?}", first.thread));
    }
    let did_second = script.step(second);
    Ok((did_first, did_second, script.state()))
}

#[test]
fn adjacent_steps_that_nothing_orders_can_be_swapped() {
    let seen = check(1_000, |script, seed, seen| {
        let mut script = script.clone();
        let execution = any_execution(&mut script, &mut Random::new(seed));
        let state = script.state();
        let trace = Trace::of(&execution);
        let order = execution.happens_before();
        for idx in 1..execution.steps.len() {
            let [first, second] = [idx - 1, idx].map(|idx| execution.steps[idx]);
            if first.decision.thread == second.decision.thread {
                continue;
            }
            let name = format!("step {idx}, {}, and {}", first.operation, second.operation);
            let mut steps = execution.steps.clone();
            steps.swap(idx - 1, idx);
            let decisions = steps.iter().map(|step| step.decision);
            let swapped = replay(&mut script, decisions).filter(|again| again.steps == steps);
            if order.ordered(idx as u32, idx as u32 + 1) {
                let apart = dependent(first.operation, second.operation)
                    || !is_possible(&mut script, &execution.steps[..idx - 1], second);
                if !apart {
                    return Err(format!("{name} are ordered for no reason"));
                }
                *seen.entry("ordered".to_owned()).or_default() += 1;
                continue;
            }
            let Some(swapped) = swapped else {
                return Err(format!("{name} cannot be swapped"));
            };
            *seen.entry("swapped".to_owned()).or_default() += 1;
            if script.state() != state {
                return Err(format!("{name}, swapped, lead to another state"));
            }
            let other = Trace::of(&swapped);
            if other != trace || swapped.happens_before().trace_hash() != trace.hash() {
                return Err(format!("{name}, swapped, make another trace"));
            }
        }
        Ok(())
    });
    assert!(seen["swapped"] > 10_000 && seen["ordered"] > 10_000, "{seen:?}");
}

/// Whether the step can be taken after these.
fn is_possible(script: &mut Script, before: &[Step], step: Step) -> bool {
    replay(script, before.iter().map(|step| step.decision)).is_some()
        && matches!(script.next(step.decision.thread),
            Next::Enabled { choices, .. } if step.decision.choice < choices)
}

#[test]
fn what_is_enabled_together_may_be() {
    let seen = check(1_500, |script, seed, seen| {
        let mut script = script.clone();
        let mut random = Random::new(seed);
        let mut together = BTreeSet::new();
        loop {
            for (a, b) in pairs(&script) {
                let [of_a, of_b] = [a, b].map(|next| next.operation().expect("it has one"));
                for relation in [dependent, may_be_coenabled] {
                    if relation(of_a, of_b) != relation(of_b, of_a) {
                        return Err(format!("{of_a} and {of_b}: a relation has a direction"));
                    }
                }
                if [a, b].iter().all(|next| matches!(next, Next::Enabled { .. })) {
                    *seen.entry(format!("{} {}", of_a.name(), of_b.name())).or_default() += 1;
                    if !may_be_coenabled(of_a, of_b) {
                        together.insert(format!("{of_a} and {of_b} are both enabled"));
                    }
                }
            }
            let Some(decision) = any_decision(&script, &mut random) else { break };
            let (_, violation) = take(&mut script, decision);
            // A thread that gives back what it has not got is enabled where none should be.
            if violation.is_some_and(|violation| violation.message.contains("has not got it")) {
                return Ok(());
            }
        }
        together.into_iter().next().map_or(Ok(()), Err)
    });
    assert!(seen.len() > 300, "only {} kinds of pairs", seen.len());
}

/// What every two threads would do next, possible or not.
fn pairs(script: &Script) -> Vec<(Next, Next)> {
    let mut nexts = nexts(script);
    nexts.retain(|next| next.operation().is_some());
    let mut pairs = Vec::new();
    for (idx, &a) in nexts.iter().enumerate() {
        pairs.extend(nexts[idx + 1..].iter().map(|&b| (a, b)));
    }
    pairs
}

#[test]
fn what_a_step_changes_for_others_is_foreseen() {
    let seen = check(1_500, |script, seed, seen| {
        let mut script = script.clone();
        let mut random = Random::new(seed);
        while let Some(decision) = any_decision(&script, &mut random) {
            let before = nexts(&script);
            let (step, _) = take(&mut script, decision);
            let after = nexts(&script);
            for thread in threads(&script).filter(|&thread| thread != decision.thread) {
                let (before, after) = (before[thread.index()], after[thread.index()]);
                // A compare-and-swap turns from a load into a read-modify-write and back with the
                // value of its object, and with nothing else.
                let is_born = before == Next::Unborn;
                if before != after && !is_born && script.compares(thread) {
                    let objects =
                        [before, after].map(|it| it.operation().and_then(Operation::object));
                    let is_its_own = objects[0] == objects[1]
                        && step.operation.object() == objects[0]
                        && objects[0].is_some();
                    if !is_its_own {
                        return Err(format!("{step:?} turns {before:?} into {after:?}"));
                    }
                    *seen.entry("a write turns a compare-and-swap".to_owned()).or_default() += 1;
                    continue;
                }
                if before != after {
                    let how = change(step, thread, before, after)?;
                    *seen.entry(how).or_default() += 1;
                }
            }
        }
        Ok(())
    });
    let shown: Vec<_> = seen.into_keys().collect();
    expect![[r#"
        a write turns a compare-and-swap
        acquire disables acquire
        acquire disables reacquire
        arrive enables leave
        futex-wait gives other alternatives to notify-one
        notify-all enables futex-resume
        notify-all enables reacquire
        notify-one enables futex-resume
        notify-one enables reacquire
        notify-one gives other alternatives to notify-one
        reacquire disables acquire
        reacquire disables reacquire
        read-acquire disables write-acquire
        read-modify-write disables await
        read-modify-write enables await
        read-release enables write-acquire
        receive disables receive
        receive enables send
        release enables acquire
        release enables reacquire
        semaphore-acquire disables semaphore-acquire
        semaphore-release enables semaphore-acquire
        semaphore-try-acquire disables semaphore-acquire
        send disables send
        send enables receive
        spawn begins a thread
        store disables await
        store enables await
        the last step enables join
        try-acquire disables acquire
        try-read-acquire disables write-acquire
        try-receive disables receive
        try-receive enables send
        try-send disables send
        try-send enables receive
        try-write-acquire disables read-acquire
        try-write-acquire disables write-acquire
        wait enables acquire
        wait enables reacquire
        wait gives other alternatives to notify-one
        write-acquire disables read-acquire
        write-acquire disables write-acquire
        write-release enables read-acquire
        write-release enables write-acquire"#]]
    .assert_eq(&shown.join("\n"));
}

/// How a step has changed what another thread can do, if the relations allow it.
fn change(step: Step, thread: ThreadId, before: Next, after: Next) -> Result<String, String> {
    let by = step.operation;
    let (how, allowed) = match (before, after) {
        (Next::Unborn, _) => ("begins", by == Operation::Spawn(thread)),
        (Next::Blocked(was), Next::Enabled { operation, .. }) => {
            ("enables", was == operation && may_enable(by, was))
        }
        (Next::Enabled { operation: was, .. }, Next::Blocked(operation)) => {
            ("disables", was == operation && may_disable(by, was) && dependent(by, was))
        }
        (Next::Enabled { operation: was, .. }, Next::Enabled { operation, .. }) => {
            ("gives other alternatives to", was == operation && dependent(by, was))
        }
        _ => ("changes", false),
    };
    if !allowed {
        return Err(format!("{by} made {after:?} of {before:?}"));
    }
    Ok(match (how, after.operation()) {
        // Any step can be a thread's last, and any operation a thread's first.
        ("enables", Some(Operation::Join(_))) => "the last step enables join".to_owned(),
        ("enables" | "disables" | "gives other alternatives to", Some(operation)) => {
            format!("{} {how} {}", by.name(), operation.name())
        }
        _ => format!("{} {how} a thread", by.name()),
    })
}

/// What every thread would do next.
fn nexts(script: &Script) -> Vec<Next> {
    threads(script).map(|thread| script.next(thread)).collect()
}

/// A random execution from the initial state to its end.
fn any_execution(script: &mut Script, random: &mut Random) -> Execution {
    script.reset();
    let mut execution = Execution::default();
    while let Some(decision) = any_decision(script, random) {
        execution.steps.push(take(script, decision).0);
    }
    execution
}

/// The execution that takes the same decisions, if they are possible.
fn replay(script: &mut Script, decisions: impl IntoIterator<Item = Decision>) -> Option<Execution> {
    script.reset();
    let mut execution = Execution::default();
    for decision in decisions {
        let next = script.next(decision.thread);
        let Next::Enabled { choices, .. } = next else { return None };
        if decision.choice >= choices {
            return None;
        }
        execution.steps.push(take(script, decision).0);
    }
    Some(execution)
}
