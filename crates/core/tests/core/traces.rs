//! Traces, local states and happens-before against their definitions: swapping adjacent
//! independent steps, until nothing new comes.
//!
//! The judge here is brute force: all interleavings of a small program, and a line between two of
//! them that differ by one swap. What hangs together is one trace.
//!
//! Tried, one at a time, and caught: a hash or a form without the choices; a form that is not the
//! smallest; a join, a reacquire, a leave, a receive or a send that follows nothing, or the wrong
//! step; a write that does not follow the reads of one thread; a step taken back that leaves a
//! birth, a waker, a read or a taken message behind.

use crate::support::{Random, Seen, any_decision, check, take, threads};
use mazurka_core::{
    Decision, Execution, HappensBefore, Next, Position, System, ThreadId, Trace, dependent,
};
use mazurka_script::Script;
use std::collections::{BTreeMap, BTreeSet};

/// A thread and an alternative: a decision that can be compared.
type Taken = (usize, u32);

fn taken(decision: Decision) -> Taken {
    (decision.thread.index(), decision.choice)
}

fn decisions(execution: &Execution) -> Vec<Taken> {
    execution.steps.iter().map(|step| taken(step.decision)).collect()
}

/// Every interleaving; `None` if there are more than `max`.
fn enumerate(script: &Script, max: usize) -> Option<Vec<Execution>> {
    let mut script = script.clone();
    script.reset();
    let mut executions = Vec::new();
    go(&mut script, &mut Execution::default(), &mut executions, max).then_some(executions)
}

fn go(
    script: &mut Script,
    execution: &mut Execution,
    executions: &mut Vec<Execution>,
    max: usize,
) -> bool {
    let depth = execution.steps.len();
    let mut has_ended = true;
    for thread in threads(script) {
        let Next::Enabled { choices, .. } = script.next(thread) else { continue };
        has_ended = false;
        for choice in 0..choices {
            execution.steps.push(take(script, Decision { thread, choice }).0);
            let is_within = go(script, execution, executions, max);
            execution.steps.pop();
            script.rewind(&execution.schedule(), depth).expect("scripts repeat");
            if !is_within {
                return false;
            }
        }
    }
    if has_ended {
        executions.push(execution.clone());
    }
    executions.len() <= max
}

/// The executions that can be made of each other by swaps, as sets of indices.
fn classes(executions: &[Execution]) -> BTreeSet<Vec<usize>> {
    let idxs: BTreeMap<Vec<Taken>, usize> =
        executions.iter().enumerate().map(|(idx, execution)| (decisions(execution), idx)).collect();
    let mut leader: Vec<usize> = (0..executions.len()).collect();
    fn find(leader: &mut [usize], mut idx: usize) -> usize {
        while leader[idx] != idx {
            leader[idx] = leader[leader[idx]];
            idx = leader[idx];
        }
        idx
    }
    for (idx, execution) in executions.iter().enumerate() {
        let mut swapped = decisions(execution);
        for at in 1..swapped.len() {
            let [first, second] = [at - 1, at].map(|at| execution.steps[at]);
            if swapped[at - 1].0 == swapped[at].0 || dependent(first.operation, second.operation) {
                continue;
            }
            swapped.swap(at - 1, at);
            // Where one lets the other go on, the other order is not an execution.
            if let Some(&other) = idxs.get(&swapped) {
                let (one, other) = (find(&mut leader, idx), find(&mut leader, other));
                leader[one] = other;
            }
            swapped.swap(at - 1, at);
        }
    }
    partition(executions.len(), |idx| find(&mut leader, idx))
}

/// The indices that have the same name, together.
fn partition<K: Ord>(len: usize, mut name: impl FnMut(usize) -> K) -> BTreeSet<Vec<usize>> {
    let mut classes: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for idx in 0..len {
        classes.entry(name(idx)).or_default().push(idx);
    }
    classes.into_values().collect()
}

#[test]
fn a_trace_is_what_swaps_can_reach() {
    let seen = check(250, |script, _, seen| {
        let Some(executions) = enumerate(script, 300) else { return Ok(()) };
        let classes = classes(&executions);
        *seen.entry("programs".to_owned()).or_default() += 1;
        *seen.entry("traces".to_owned()).or_default() += classes.len();
        *seen.entry("executions".to_owned()).or_default() += executions.len();
        let traces: Vec<Trace> = executions.iter().map(Trace::of).collect();
        if partition(traces.len(), |idx| traces[idx].clone()) != classes {
            return Err("traces are not what swaps can reach".to_owned());
        }
        if partition(traces.len(), |idx| traces[idx].hash()) != classes {
            return Err("hashes of traces are not what swaps can reach".to_owned());
        }
        let local_states = |idx: usize| {
            let mut states = executions[idx].local_states();
            states.sort_unstable();
            states
        };
        if partition(traces.len(), local_states) != classes {
            return Err("local states are not what swaps can reach".to_owned());
        }
        classes.iter().try_for_each(|class| {
            let smallest = class.iter().map(|&idx| decisions(&executions[idx])).min();
            let schedule = traces[class[0]].schedule();
            if smallest != Some(schedule.decisions().iter().copied().map(taken).collect()) {
                return Err(format!("{schedule} is not the smallest of its trace"));
            }
            let class: Vec<&Execution> = class.iter().map(|&idx| &executions[idx]).collect();
            happens_before_is_what_all_agree_on(&class)
        })
    });
    assert!(seen["programs"] > 1_500, "{seen:?}");
    assert!(seen["traces"] > 10_000 && seen["executions"] > 3 * seen["traces"], "{seen:?}");
}

/// An order is what all its linear extensions agree on.
fn happens_before_is_what_all_agree_on(class: &[&Execution]) -> Result<(), String> {
    // A step is known by its thread and how many came before it.
    let places = |execution: &Execution| {
        let mut n_steps: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (idx, step) in execution.steps.iter().enumerate() {
            let n = n_steps.entry(step.decision.thread).or_default();
            places.insert((step.decision.thread, *n), idx as Position + 1);
            *n += 1;
        }
        places
    };
    let all: Vec<_> = class.iter().map(|execution| places(execution)).collect();
    let order = class[0].happens_before();
    for (one, &at) in &all[0] {
        for (other, &then) in all[0].iter().filter(|&(other, _)| other != one) {
            let always = all.iter().all(|places| places[one] < places[other]);
            if order.ordered(at, then) != always {
                let [one, other] = [at, then].map(|at| order.operation(at));
                return Err(format!("steps {at}, {one}, and {then}, {other}: always is {always}"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_local_state_is_the_past_of_a_step() {
    let seen = check(120, |script, _, seen| {
        let Some(executions) = enumerate(script, 100) else { return Ok(()) };
        let mut pasts: BTreeMap<u64, (ThreadId, Trace)> = BTreeMap::new();
        let mut hashes: BTreeMap<(ThreadId, Trace), u64> = BTreeMap::new();
        for execution in &executions {
            let order = execution.happens_before();
            for (idx, hash) in execution.local_states().into_iter().enumerate() {
                let at = idx as Position + 1;
                let past = execution.steps.iter().zip(1..).filter_map(|(&step, before)| {
                    (before <= at && order.ordered(before, at)).then_some(step)
                });
                let past = Execution { steps: past.collect(), ..Execution::default() };
                let state = (order.thread(at), Trace::of(&past));
                if *pasts.entry(hash).or_insert(state.clone()) != state
                    || *hashes.entry(state).or_insert(hash) != hash
                {
                    return Err(format!(
                        "the local state of step {at} in {}",
                        execution.schedule()
                    ));
                }
            }
        }
        *seen.entry("local states".to_owned()).or_default() += pasts.len();
        Ok(())
    });
    assert!(seen["local states"] > 10_000, "{seen:?}");
}

#[test]
fn what_is_taken_back_leaves_no_mark() {
    check(200, |script, seed, _: &mut Seen| {
        let mut script = script.clone();
        let mut random = Random::new(seed);
        let mut execution = Execution::default();
        let mut order = HappensBefore::new(true);
        for _ in 0..40 {
            match any_decision(&script, &mut random) {
                Some(decision) if random.below(6) > 0 => {
                    let (step, _) = take(&mut script, decision);
                    order.push(step.decision, step.operation, step.effect);
                    execution.steps.push(step);
                }
                _ => {
                    let depth = random.below(execution.steps.len() + 1);
                    script.rewind(&execution.schedule(), depth).expect("scripts repeat");
                    order.truncate(depth);
                    execution.steps.truncate(depth);
                }
            }
            let fresh = execution.happens_before();
            let (worn, new) = (shown(&order, &script), shown(&fresh, &script));
            if worn != new {
                return Err(format!("{}: {worn:?} was {new:?}", execution.schedule()));
            }
        }
        Ok(())
    });
}

/// Everything that an order tells, of the steps there are and of those that could be next.
fn shown(order: &HappensBefore, script: &Script) -> Vec<Vec<u64>> {
    let trimmed = |clock: &[Position]| -> Vec<u64> {
        let known = clock.iter().rposition(|&at| at != 0).map_or(0, |last| last + 1);
        clock[..known].iter().map(|&at| u64::from(at)).collect()
    };
    let mut shown = vec![vec![order.len() as u64, order.trace_hash()]];
    for at in 1..=order.len() as Position {
        shown.push(trimmed(order.clock_at(at)));
        shown.push(vec![order.hash_at(at), taken(order.decision(at)).0 as u64]);
    }
    let mut races = Vec::new();
    for thread in threads(script) {
        shown.push(trimmed(order.clock(thread)));
        shown.push(order.steps_of(thread).iter().map(|&at| u64::from(at)).collect());
        let Some(operation) = script.next(thread).operation() else { continue };
        order.immediate_races(thread, operation, &mut races);
        shown.push(races.iter().map(|&at| u64::from(at)).collect());
        // Only a thread that is there can wait.
        if operation.may_block() && !order.steps_of(thread).is_empty() {
            shown.push(order.rivals(thread, operation).map(u64::from).collect());
            shown.push(vec![u64::from(order.waker(thread, operation).unwrap_or(0))]);
            for rival in order.rivals(thread, operation) {
                shown.push(order.departures(operation, rival).map(u64::from).collect());
            }
        }
        for depth in 0..=order.len() {
            shown.push(vec![u64::from(order.enabler(operation, depth))]);
        }
    }
    shown
}
