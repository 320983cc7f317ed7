//! Loops that write while they wait: the search is fair to others, ends, and says within which
//! bound.

use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::{Limit, Verdict};
use mazurka_explore::{Explorer, Options, Reduction};
use std::time::Duration;

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds(coverage) => coverage.to_string(),
        Verdict::Violated(it) => {
            format!("{}: {}", it.violation.kind.name(), it.violation.message)
        }
        Verdict::Inconclusive(limit) => format!("inconclusive: {limit}"),
        other => other.name().to_owned(),
    }
}

fn check(program: &str, expect: Expect) {
    for reduction in [Reduction::Optimal, Reduction::None] {
        let options = Options::new().reduction(reduction).max_depth(200);
        let outcome = Explorer::new(options).run(|| script(program)).expect("it can be searched");
        expect.assert_eq(&verdict(&outcome.verdict));
    }
}

#[test]
fn a_loop_that_counts_its_rounds_lets_others_move() {
    check(
        "while x==0 { add(n,1) } | x=1",
        expect![
            "no assertion failure, deadlock, data race or livelock in any execution in which a loop that waits lets others move after 2 rounds in vain"
        ],
    );
    check(
        "while x==0 { r=add(n,1); yield }; assert(r==7) | x=1",
        expect!["assertion: assertion `r == 7` failed: left is 0"],
    );
    check(
        "while x==0 { n=1; n=0 } | while x==0 { m=1; m=0 } | x=1",
        expect![
            "no assertion failure, deadlock, data race or livelock in any execution in which a loop that waits lets others move after 2 rounds in vain"
        ],
    );
}

#[test]
fn a_loop_that_nobody_ends_is_a_livelock() {
    check(
        "while x==0 { add(n,1) } | y=1",
        expect![
            "livelock: an execution never ends that lets every thread move: from step 8 on the same is done over and over, for 194 steps so far"
        ],
    );
}

/// The second thread waits for the first to go round five times.
#[test]
fn a_loop_that_others_wait_for_goes_round_as_often_as_that_takes() {
    check(
        "while x==0 { add(n,1) } | while n<5 { yield }; x=1",
        expect![
            "no assertion failure, deadlock, data race or livelock in any execution in which a loop that waits lets others move after 4 rounds in vain"
        ],
    );
}

#[test]
fn what_takes_long_is_no_livelock() {
    check("while r<300 { r=add(n,1) } | x=1", expect!["inconclusive: depth limit, 200 steps"]);
}

#[test]
fn who_asks_for_no_fairness_gets_none() {
    let mut options = Options::new().max_depth(40);
    options.fair = false;
    let run = || script("while x==0 { add(n,1) } | x=1");
    let outcome = Explorer::new(options).run(run).expect("it can be searched");
    expect!["inconclusive: depth limit, 40 steps"].assert_eq(&verdict(&outcome.verdict));
}

/// The first execution reaches the depth limit, and the search has to begin again: what it has left
/// by then is not what is left to do.
#[test]
fn a_limit_that_comes_when_something_is_learnt_proves_nothing() {
    for reduction in [Reduction::Optimal, Reduction::None] {
        let mut options = Options::new().reduction(reduction).max_depth(200);
        options.time_limit = Some(Duration::from_nanos(1));
        let run = || script("while x==0 { add(n,1) } | x=1");
        let outcome = Explorer::new(options).run(run).expect("it can be searched");
        let is_time_up = matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_)));
        assert!(is_time_up, "{}", verdict(&outcome.verdict));
    }
}
