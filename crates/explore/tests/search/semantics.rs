//! Programs that some published algorithm, taken to the letter, gets wrong, and programs whose
//! numbers of traces are known: each as a named test, under every reduction.
//!
//! Left out are those that spin (`while(x!=1) yield | x=1` and
//! `r=y; r=y | x=1; yield; x=1 | while(x!=1) yield`): they have infinitely many interleavings, so
//! without a bound there is nothing to compare with. `stateful.rs` has their states.

use crate::support::programs::{fib, lastzero, nwriters, parallel, readers};
use crate::support::{all_options, disagreement, enumerate, explore, script};
use expect_test::{Expect, expect};
use mazurka_core::Verdict;
use mazurka_explore::{Ended, Explorer, Options, Reduction};
use mazurka_script::Script;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Enumerates the program and holds every reduction to what there is.
fn check(text: &str, expect: Expect) {
    let script = script(text);
    let judge = enumerate(&script, 100_000).expect("it is small");
    for options in all_options() {
        assert_eq!(disagreement(&script, &judge, &options), None, "{text}");
    }
    expect.assert_eq(&format!(
        "{} interleavings, {} traces, {} terminal states",
        judge.executions,
        judge.traces.len(),
        judge.terminal_states().len(),
    ));
}

#[test]
fn f1_sleep_sets_beside_dynamic_reduction() {
    check("x=1 | y=1; r=x | r=x", expect!["12 interleavings, 4 traces, 4 terminal states"]);
}

#[test]
fn f2_the_last_read_of_every_thread() {
    check("r=x | r=x; x=1", expect!["3 interleavings, 2 traces, 2 terminal states"]);
    check("r=x | r=x | r=x; x=1", expect!["12 interleavings, 4 traces, 4 terminal states"]);
}

#[test]
fn f3_alternative_thread_with_release_optimisation() {
    check(
        "acq(0); r=x; rel(0) | y=1; acq(0); rel(0)",
        expect!["5 interleavings, 2 traces, 1 terminal states"],
    );
}

#[test]
fn f4_entries_of_backtrack_while_pending_is_explored() {
    check(
        "y=1; r=x | x=1 | x=1; r=y; r=y | r=x",
        expect!["420 interleavings, 36 traces, 6 terminal states"],
    );
}

#[test]
fn f6_a_minimum_yield_thread_first() {
    check(
        "yield; yield; y=1 | yield; y=0 | yield",
        expect!["60 interleavings, 2 traces, 2 terminal states"],
    );
}

#[test]
fn f7_sleep_sets_under_a_bound() {
    check("r=x; x=1 | r=x; x=0", expect!["6 interleavings, 4 traces, 3 terminal states"]);
    check("r=x; x=1 | r=x; x=1", expect!["6 interleavings, 4 traces, 3 terminal states"]);
    check(
        "x=1; acq(0); x=1; rel(0) | acq(0); x=1; rel(0); x=1",
        expect!["18 interleavings, 6 traces, 1 terminal states"],
    );
}

#[test]
fn f8_fairness_with_preemption_or_delta() {
    check("yield; r=x | yield; x=1", expect!["6 interleavings, 2 traces, 2 terminal states"]);
    check(
        "yield; x=1 | yield; x=1 | yield; x=1",
        expect!["90 interleavings, 6 traces, 1 terminal states"],
    );
}

#[test]
fn f9_threads_that_wait_take_part_in_races() {
    check(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)",
        expect!["6 interleavings, 3 traces, 2 terminal states"],
    );
    // The deadlocking run comes first if the first thread is the one that waits.
    check(
        "acq(1); acq(0); rel(0); rel(1) | acq(0); acq(1); rel(1); rel(0)",
        expect!["6 interleavings, 3 traces, 2 terminal states"],
    );
    check(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(2); rel(2); rel(1) | acq(2); acq(0); rel(0); rel(2)",
        expect!["168 interleavings, 7 traces, 2 terminal states"],
    );
}

#[test]
fn f9_awaits_can_disable_a_wake_up_sequence() {
    check("await(x==1); x=2 | x=1 | x=0", expect!["4 interleavings, 4 traces, 3 terminal states"]);
    check(
        "await(x==0); y=1 | x=1; r=y | await(y==1); x=0",
        expect!["11 interleavings, 4 traces, 4 terminal states"],
    );
}

#[test]
fn f10_local_depth() {
    check("x=0 | y=1 | x=1; r=y", expect!["12 interleavings, 4 traces, 4 terminal states"]);
}

#[test]
fn f11_the_order_of_two_reads() {
    check("r=x; x=1 | x=1; r=x", expect!["6 interleavings, 5 traces, 2 terminal states"]);
}

#[test]
fn f12_local_context_is_not_context() {
    check(
        "x=1; y=0 | r=x; r=y | y=1; x=1",
        expect!["90 interleavings, 22 traces, 4 terminal states"],
    );
}

#[test]
fn f13_release_optimisation_with_preemptions() {
    check(
        "acq(0); x=0; rel(0); r=x | x=1; acq(0); x=1; rel(0)",
        expect!["18 interleavings, 6 traces, 3 terminal states"],
    );
}

#[test]
fn a_disabled_thread_is_not_forgotten() {
    // CAV 2006, step 5 of section 4.2, and CAV 2009, guards: each loses states.
    check("await(x==1); x=1 | x=2; y=2", expect!["1 interleavings, 1 traces, 1 terminal states"]);
    check("add(x,1) | await(x==0)", expect!["2 interleavings, 2 traces, 2 terminal states"]);
    // Two quasi-monotonic sequences of one trace survive PPOR.
    check("x=1 | y=1 | x=2", expect!["6 interleavings, 2 traces, 2 terminal states"]);
}

#[test]
fn one_writer_two_readers() {
    check("x=1 | r=x | r=x", expect!["6 interleavings, 4 traces, 4 terminal states"]);
}

/// What the variables and locals can be in the end, whatever the reduction.
fn check_outcomes(text: &str, expect: Expect) {
    let script = script(text);
    let judge = enumerate(&script, 100_000).expect("it is small");
    let outcomes = |options: Options| {
        let outcomes = Mutex::new(BTreeSet::new());
        let watch = |ended: Ended<'_, Script>| {
            outcomes.lock().expect("the lock is not poisoned").insert(ended.system.outcome());
        };
        Explorer::new(options).observe(&watch).run(|| script.clone()).expect("it is a program");
        outcomes.into_inner().expect("the lock is not poisoned")
    };
    let all = outcomes(Options::new().reduction(Reduction::None).sleep(false));
    for options in all_options() {
        assert_eq!(disagreement(&script, &judge, &options), None, "{text}");
        assert_eq!(outcomes(options), all, "{text}");
    }
    let n_locals = text.matches("r").count();
    let locals = all.iter().map(|outcome| format!("{:?}", &outcome[2..2 + n_locals]));
    expect.assert_eq(&locals.collect::<Vec<_>>().join(" "));
}

#[test]
fn loom_166_a_redundant_load_hides_no_outcome() {
    check_outcomes("x=1; r=y | y=1; r=x", expect!["[0, 1] [1, 0] [1, 1]"]);
    check_outcomes("x=1; r=y; r1=y | y=1; r=x", expect!["[0, 0, 1] [0, 1, 1] [1, 1, 0] [1, 1, 1]"]);
    check_outcomes("x=1; r=x; r1=y | y=1; r=x", expect!["[1, 0, 1] [1, 1, 0] [1, 1, 1]"]);
    check_outcomes(
        "r=y; x=1; r1=y | y=1; r=x",
        expect!["[0, 0, 1] [0, 1, 0] [0, 1, 1] [1, 1, 0] [1, 1, 1]"],
    );
    check_outcomes("x=1; r=y | y=1; r=x; r1=x", expect!["[0, 1, 1] [1, 0, 0] [1, 0, 1] [1, 1, 1]"]);
}

/// Counts the traces of a program that has too many interleavings to enumerate them.
fn count(script: &Script) -> String {
    let (visits, outcome) = explore(script, Options::new());
    assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{script}: {:?}", outcome.verdict);
    assert!(!visits.has_repetitions(), "{script}");
    for reduction in [Reduction::Dpor, Reduction::Source] {
        let (others, _) = explore(script, Options::new().reduction(reduction));
        let same = others.traces.keys().eq(visits.traces.keys());
        assert!(same, "{script}: {reduction} has {}", others.traces.len());
        assert_eq!(others.terminal_states(), visits.terminal_states(), "{script}: {reduction}");
    }
    visits.traces.len().to_string()
}

fn check_counts(program: fn(usize) -> Script, sizes: &[usize], expect: Expect) {
    let counts = sizes.iter().map(|&size| format!("{size}: {}", count(&program(size))));
    expect.assert_eq(&counts.collect::<Vec<_>>().join(", "));
}

#[test]
fn readers_have_two_to_the_n_traces() {
    check_counts(
        readers,
        &[1, 2, 3, 4, 5, 6, 7, 8],
        expect!["1: 2, 2: 4, 3: 8, 4: 16, 5: 32, 6: 64, 7: 128, 8: 256"],
    );
}

#[test]
fn writers_have_n_factorial_traces() {
    check_counts(nwriters, &[1, 2, 3, 4, 5, 6], expect!["1: 1, 2: 2, 3: 6, 4: 24, 5: 120, 6: 720"]);
}

#[test]
fn lastzero_has_as_many_traces_as_elsewhere() {
    check_counts(lastzero, &[2, 4, 6, 8], expect!["2: 5, 4: 28, 6: 144, 8: 704"]);
}

#[test]
fn fib_has_as_many_traces_as_elsewhere() {
    check_counts(fib, &[1, 2, 3, 4], expect!["1: 3, 2: 19, 3: 141, 4: 1107"]);
}

#[test]
fn threads_that_only_spawn_and_join_have_one_trace() {
    let family = |n: usize| {
        let call = |name: &str| parallel(n, |idx| format!("{name}({})", idx + 1)).replace('|', ";");
        let children = parallel(n, |idx| format!("v{idx}=1; r=v{idx}"));
        script(&format!("{}; {} | {children}", call("spawn"), call("join")))
    };
    check_counts(family, &[1, 2, 3, 8], expect!["1: 1, 2: 1, 3: 1, 8: 1"]);
    let chain = |n: usize| {
        let link = |idx| match idx {
            idx if idx < n => format!("spawn({}); join({0})", idx + 1),
            _ => "x=1".to_owned(),
        };
        script(&parallel(n + 1, link))
    };
    check_counts(chain, &[1, 2, 8], expect!["1: 1, 2: 1, 8: 1"]);
}
