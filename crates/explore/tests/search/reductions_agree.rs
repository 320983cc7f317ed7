//! Every reduction covers what plain enumeration covers; `optimal` and `monotonic` each trace once.

use crate::support::{
    all_options, check_random, disagreement, enumerate, for_random_programs, script,
};
use mazurka_core::System;
use mazurka_effort::{seeds, share};
use mazurka_script::Shape;

#[test]
fn on_variables() {
    let n = check_random(&Shape::variables(), seeds(0..1_500), 2_000);
    assert!(n > share(1_000), "only {n} programs were small enough");
}

#[test]
fn on_locks() {
    let n = check_random(&Shape::locks(), seeds(0..1_500), 2_000);
    assert!(n > share(1_000), "only {n} programs were small enough");
}

#[test]
fn on_everything() {
    let n = check_random(&Shape::everything(), seeds(0..3_000), 2_000);
    assert!(n > share(2_000), "only {n} programs were small enough");
}

/// Many threads on one variable: which of their compare-and-swaps succeed depends on all others.
#[test]
fn on_compare_and_swaps() {
    let shape = Shape { n_threads: 3..=4, n_variables: 1..=1, ..Shape::variables() };
    let n = check_random(&shape, seeds(0..1_500), 2_000);
    assert!(n > share(1_000), "only {n} programs were small enough");
    let shape = Shape { awaits: true, n_variables: 1..=2, ..shape };
    let n = check_random(&shape, seeds(0..500), 2_000);
    assert!(n > share(300), "only {n} programs were small enough");
}

/// Five and six threads with an operation or two: what was reversed is reversed once more.
#[test]
fn on_many_threads() {
    let shape = |base: Shape| Shape {
        n_threads: 5..=6,
        max_per_thread: 2,
        max_total: 7,
        n_variables: 1..=2,
        ..base
    };
    for base in [Shape::variables(), Shape::locks(), Shape::everything()] {
        let n = check_random(&shape(base), seeds(0..150), 6_000);
        assert!(n > share(40), "only {n} programs were small enough");
    }
}

#[test]
fn on_compare_and_swaps_that_fail() {
    let script = script("cas(x,1,2) | r=cas(x,1,3) | cas(x,2,1); r=x");
    let judge = enumerate(&script, 100).expect("it is small");
    assert_eq!(judge.traces.len(), 1, "they only load");
    for options in all_options() {
        assert_eq!(disagreement(&script, &judge, &options), None);
    }
}

/// A read-modify-write that waits is disabled by writes, and by no read.
#[test]
fn on_read_modify_writes_that_wait() {
    let shape = Shape { awaits: true, await_updates: true, n_threads: 3..=4, ..Shape::variables() };
    for n_variables in 1..=2 {
        let shape = Shape { n_variables: n_variables..=n_variables, ..shape.clone() };
        let n = check_random(&shape, seeds(0..1_000), 2_000);
        assert!(n > share(600), "only {n} programs were small enough");
    }
    let cases = [
        ("await(x==0,1); x=0 | await(x==0,1); x=0 | await(x==0,1); x=0", 6),
        ("r=x; await(x==r,r+1) | r=x; await(x==r,r+1) | r=x; await(x==r,r+1)", 21),
        ("await(x==0,1) | r=x | r=x", 4),
        ("await(x==0,1) | r=x; x=2 | r=x", 8),
    ];
    for (text, n_traces) in cases {
        let script = script(text);
        let judge = enumerate(&script, 10_000).expect("it is small");
        assert_eq!(judge.traces.len(), n_traces, "{text}");
        for options in all_options() {
            assert_eq!(disagreement(&script, &judge, &options), None);
        }
    }
    let everything = Shape { await_updates: true, ..Shape::everything() };
    check_random(&everything, seeds(0..600), 1_000);
}

#[test]
fn on_futexes() {
    let shape = Shape { futexes: true, n_variables: 1..=2, max_total: 11, ..Shape::variables() };
    let n = check_random(&shape, seeds(0..2_000), 2_000);
    assert!(n > share(1_000), "only {n} programs were small enough");
    let with_others = Shape { futexes: true, ..Shape::everything() };
    check_random(&with_others, seeds(0..500), 1_000);
}

#[test]
fn on_children_that_come_before_their_parents() {
    // Generated programs have parents first; their mirror images do not.
    let shape = Shape { spawn_join: true, locks: true, n_threads: 3..=4, ..Shape::variables() };
    let n = for_random_programs(&shape, seeds(0..600), 500, |script, _| {
        let mirror: Vec<usize> = (0..script.n_threads()).rev().collect();
        let script = script.rename_threads(&mirror);
        let judge = enumerate(&script, 500)?;
        all_options().iter().find_map(|options| disagreement(&script, &judge, options))
    });
    assert!(n > share(200), "only {n} programs were small enough");
}
