//! The pair that decides: what is said of it was seen. On random programs, the other execution is
//! followed once more, has the two steps the other way round and ends without a violation.

use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::{Counterexample, DecisivePair, Execution, Step, Verdict};
use mazurka_effort::seeds;
use mazurka_explore::{Explorer, Options, replay};
use mazurka_script::{Script, Shape, generate};

fn found(script: &Script) -> Option<Box<Counterexample>> {
    let mut options = Options::new();
    options.max_executions = Some(500);
    let outcome = Explorer::new(options).run(|| script.clone()).expect("the options go together");
    match outcome.verdict {
        Verdict::Violated(found) => Some(found),
        _ => None,
    }
}

/// The place of a step in another execution: the how many-th of its thread.
fn place(execution: &Execution, step: usize, other: &Execution) -> Option<usize> {
    let Step { decision, operation, .. } = execution.steps[step - 1];
    let is_its = |it: &&Step| it.decision.thread == decision.thread;
    let nth = execution.steps[..step].iter().filter(is_its).count();
    let mut its = other.steps.iter().enumerate().filter(|(_, it)| is_its(it));
    let (at, it) = its.nth(nth - 1)?;
    assert_eq!(it.operation.object(), operation.object(), "a step before is another one");
    Some(at)
}

#[track_caller]
fn holds_to_what_it_says(script: &Script, found: &Counterexample, pair: &DecisivePair) {
    let again = replay(&mut script.clone(), &pair.schedule).expect("it can be followed");
    assert_eq!(again.execution, pair.execution, "{script}");
    assert_eq!(again.violation, None, "{script}");
    let mut end = script.clone();
    let followed = replay(&mut end, &pair.schedule).expect("it can be followed");
    assert_eq!(followed.deadlock(&end), None, "{script}");
    let first = place(&found.execution, pair.first, &pair.execution);
    let second = place(&found.execution, pair.second, &pair.execution);
    let (first, second) = (first.expect("it is taken"), second.expect("it is taken"));
    assert!(second < first, "{script}: {second} comes before {first}");
}

fn check(text: &str, expect: Expect) {
    let script = script(text);
    let found = found(&script).expect("something goes wrong");
    let told = match &found.decisive {
        Some(pair) => {
            holds_to_what_it_says(&script, &found, pair);
            format!("{} and {}; {}", pair.first, pair.second, pair.schedule)
        }
        None => "none".to_owned(),
    };
    expect.assert_eq(&told);
}

#[test]
fn a_lost_update() {
    check(
        "spawn(1); spawn(2); join(1); join(2); r=x; assert(r == 2) | r=x; x=r+1 | r=x; x=r+1",
        expect!["4 and 5; mzk1:0x2.1x2.2x2.0x3"],
    );
}

#[test]
fn two_locks_in_two_orders() {
    check("acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)", expect!["none"]);
}

#[test]
fn what_goes_wrong_in_every_order_has_none() {
    check("r=x; assert(r == 1) | r=x", expect![["none"]]);
}

#[test]
fn random_programs() {
    let (mut n_violated, mut n_decided) = (0, 0);
    for seed in seeds(0..2_000) {
        let script = generate(seed, &Shape::everything());
        let Some(found) = found(&script) else { continue };
        n_violated += 1;
        if let Some(pair) = &found.decisive {
            n_decided += 1;
            holds_to_what_it_says(&script, &found, pair);
        }
    }
    assert!(n_decided * 10 > n_violated, "{n_decided} of {n_violated}");
}
