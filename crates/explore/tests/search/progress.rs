//! How far a search is: events that grow, and an estimate that comes near the truth.

use crate::support::programs::{fib, lastzero, nwriters, readers};
use crate::support::script;
use mazurka_core::{Event, Progress};
use mazurka_explore::{Explorer, Options, Outcome, Reduction};
use mazurka_script::Script;
use std::sync::Mutex;
use std::time::Duration;

/// The events of a search that is asked for them all the time.
fn events(script: &Script, mut options: Options) -> (Vec<Progress>, Outcome) {
    options.progress_every = Duration::from_micros(200);
    let events = Mutex::new(Vec::new());
    let listen = |event: &Event| match event {
        Event::Progress(progress) => {
            events.lock().expect("the lock is not poisoned").push(progress.clone())
        }
        other => panic!("{other:?} is new"),
    };
    let outcome = Explorer::new(options).on_event(&listen).run(|| script.clone());
    (events.into_inner().expect("the lock is not poisoned"), outcome.expect("it is a program"))
}

/// Checks the events of a search, and that its last estimates were within a factor of the truth.
fn check(script: &Script, options: Options, factor: f64) {
    let what = format!("{} sleep={}: {script}", options.reduction, options.sleep);
    let (events, outcome) = events(script, options);
    assert!(events.len() >= 3, "{what}: only {} events", events.len());
    for pair in events.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        assert!(before.statistics.executions <= after.statistics.executions, "{what}");
        assert!(before.statistics.transitions <= after.statistics.transitions, "{what}");
        assert!(before.elapsed <= after.elapsed, "{what}");
        assert!(after.rate.is_finite() && after.rate >= 0.0, "{what}: {}", after.rate);
    }
    let truth = outcome.statistics.executions as f64;
    let last = events.last().expect("there are some");
    assert!(last.statistics.executions <= outcome.statistics.executions, "{what}");
    let estimates: Vec<_> = events.iter().filter_map(|event| event.estimate).collect();
    // A search whose estimate has not settled tells none.
    let Some(estimate) = estimates.last() else { return };
    assert!(estimate.spread.is_finite() && estimate.spread >= 0.0, "{what}: {estimate:?}");
    let ratio = estimate.executions / truth;
    assert!((1.0 / factor..=factor).contains(&ratio), "{what}: {estimate:?} of {truth}");
}

#[test]
fn of_optimal() {
    check(&nwriters(8), Options::new(), 3.0);
    check(&readers(14), Options::new(), 3.0);
    check(&lastzero(10), Options::new(), 3.0);
    check(&fib(5), Options::new(), 3.0);
}

#[test]
fn of_optimal_with_little_room() {
    let mut options = Options::new();
    options.room = 100;
    check(&nwriters(8), options, 3.0);
}

#[test]
fn of_sets() {
    for reduction in [Reduction::Dpor, Reduction::Source] {
        check(&nwriters(8), Options::new().reduction(reduction), 3.0);
        check(&fib(5), Options::new().reduction(reduction), 3.0);
    }
}

#[test]
fn of_every_interleaving() {
    let options = Options::new().reduction(Reduction::None).sleep(false);
    check(&nwriters(8), options.clone(), 3.0);
    let locks = script(
        "acq(0); x=1; rel(0) | acq(0); x=2; rel(0) | acq(0); x=3; rel(0) | y=1; y=2; y=3; y=4",
    );
    check(&locks, options, 3.0);
}

#[test]
fn of_two_workers() {
    let (events, outcome) = events(&nwriters(8), Options::new().jobs(2));
    assert!(events.len() >= 2, "only {} events", events.len());
    for pair in events.windows(2) {
        assert!(pair[0].statistics.executions <= pair[1].statistics.executions);
    }
    assert_eq!(outcome.statistics.executions, 40_320);
}

#[test]
fn nothing_is_told_where_nothing_is_asked() {
    let outcome = Explorer::new(Options::new()).run(|| nwriters(6)).expect("it is a program");
    assert_eq!(outcome.statistics.executions, 720);
    // A search that is over before it is looked at tells nothing.
    let mut options = Options::new();
    options.progress_every = Duration::from_secs(3_600);
    let listen = |event: &Event| panic!("{event:?} comes too early");
    let outcome = Explorer::new(options).on_event(&listen).run(|| nwriters(6));
    assert_eq!(outcome.expect("it is a program").statistics.executions, 720);
}
