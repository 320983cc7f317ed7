//! Every bounded search reaches what plain bounded enumeration reaches, within every limit.

use crate::support::bounded::{
    self, Way, bpor_ways, check_random, check_random_fair, reach, search, ways,
};
use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::{Event, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Bound, BoundKind, BporOpt, Explorer, Options, Reduction, Saved};
use mazurka_script::{Shape, generate};
use std::sync::Mutex;

const TOTAL: [BoundKind; 4] =
    [BoundKind::Depth, BoundKind::Context, BoundKind::Preemption, BoundKind::Delta];
const LOCAL: [BoundKind; 2] = [BoundKind::LocalDepth, BoundKind::LocalContext];

/// Locks, branches, spawning and joining, yields.
fn threads() -> Shape {
    Shape { spawn_join: true, yields: true, ..Shape::locks() }
}

#[test]
fn depth_on_random_programs() {
    let n = check_random(&[BoundKind::Depth], &threads(), seeds(0..900), 150);
    assert!(n > share(500), "only {n} programs were small enough");
}

#[test]
fn context_on_random_programs() {
    let n = check_random(&[BoundKind::Context], &threads(), seeds(0..1_500), 300);
    assert!(n > share(1_000), "only {n} programs were small enough");
}

#[test]
fn preemption_on_random_programs() {
    let n = check_random(&[BoundKind::Preemption], &threads(), seeds(0..2_500), 300);
    assert!(n > share(1_700), "only {n} programs were small enough");
}

#[test]
fn delta_on_random_programs() {
    let n = check_random(&[BoundKind::Delta], &threads(), seeds(0..1_500), 300);
    assert!(n > share(1_000), "only {n} programs were small enough");
}

#[test]
fn local_bounds_on_random_programs() {
    let n = check_random(&LOCAL, &threads(), seeds(0..1_500), 300);
    assert!(n > share(1_000), "only {n} programs were small enough");
}

#[test]
fn all_bounds_on_every_kind_of_operation() {
    let kinds = [&TOTAL[1..], &LOCAL].concat();
    let n = check_random(&kinds, &Shape::everything(), seeds(0..1_000), 200);
    assert!(n > share(700), "only {n} programs were small enough");
}

#[test]
fn a_fair_bound_and_each_of_the_others_on_programs_that_wait_in_loops() {
    let kinds = [&TOTAL[..], &LOCAL].concat();
    let shape = Shape { max_total: 7, ..threads() };
    let n = check_random_fair(&kinds, &shape, seeds(0..500), 150);
    assert!(n > share(200), "only {n} programs were small enough");
}

/// Searches in every way there is for a bound of this kind: all subsets of the optimisations.
#[track_caller]
fn check(kind: BoundKind, program: &str) {
    let program = script(program);
    let reach = reach(&program, None, 10_000).expect("it is small");
    let ways = (0..1 << BporOpt::ALL.len()).flat_map(|subset| ways(kind, subset));
    let wrong = ways.into_iter().find_map(|way| way.wrong(&program, &reach));
    assert_eq!(wrong, None, "{program}");
}

#[track_caller]
fn check_fair(fair: u32, kinds: &[BoundKind], program: &str) {
    let program = script(program);
    let reach = reach(&program, Some(fair), 10_000).expect("it is small");
    for subset in 0..1 << BporOpt::ALL.len() {
        let alone = bounded::fair_alone(&program, fair, &reach, subset);
        assert_eq!(alone, None, "{program}");
        for &kind in kinds {
            let way = Way { fair: Some(fair), ..Way::new(Reduction::Dpor, kind) };
            let mut ways = bpor_ways(way, subset).into_iter();
            assert_eq!(ways.find_map(|way| way.wrong(&program, &reach)), None, "{program}");
        }
    }
}

#[test]
fn f1_a_thread_that_is_asked_for_sleeps() {
    for kind in BoundKind::ALL.into_iter().filter(|&kind| kind != BoundKind::Fair) {
        check(kind, "x=1 | y=1; r=x | r=x");
    }
}

#[test]
fn f2_a_threads_own_read_hides_nobody_elses() {
    for kind in BoundKind::ALL.into_iter().filter(|&kind| kind != BoundKind::Fair) {
        check(kind, "r=x | r=x; x=1");
    }
}

#[test]
fn f3_an_alternative_for_a_lock_that_was_given_back() {
    for kind in TOTAL {
        check(kind, "acq(0); r=x; rel(0) | y=1; acq(0); rel(0)");
    }
}

#[test]
fn f4_what_is_added_while_pending_threads_are_explored() {
    check(BoundKind::Preemption, "y=1; r=x | x=1 | x=1; r=y; r=y | r=x");
}

#[test]
fn f5_a_loop_that_waits_ends() {
    check_fair(0, &TOTAL, "while x!=1 { yield } | x=1");
    check_fair(1, &TOTAL, "while x!=1 { yield } | x=1");
}

#[test]
fn f6_fair_begins_with_whoever_has_yielded_least() {
    check_fair(1, &[], "yield; yield; y=1 | yield; y=0 | yield");
}

#[test]
fn f7_sleep_only_what_was_explored_to_its_end() {
    check(BoundKind::Context, "r=x; x=1 | r=x; x=0");
    check(BoundKind::Preemption, "r=x; x=1 | r=x; x=1");
    check(BoundKind::Preemption, "x=1; acq(0); x=1; rel(0) | acq(0); x=1; rel(0); x=1");
}

#[test]
fn who_goes_on_sleeps_until_somebody_waits_for_it() {
    // After `down; down` of the second thread, leaving it is free only as long as the first has not
    // given a permit back.
    check(BoundKind::Preemption, "sem(0)=2 || down(0); up(0); down(0) | down(0); down(0)");
    check(BoundKind::Context, "sem(0)=2 || down(0); up(0); down(0) | down(0); down(0)");
}

#[test]
fn f8_fair_beside_another() {
    check_fair(0, &TOTAL, "yield; r=x | yield; x=1");
    check_fair(0, &TOTAL, "r=y; r=y | x=1; yield; x=1 | while x!=1 { yield }");
    check_fair(0, &TOTAL, "yield; x=1 | yield; x=1 | yield; x=1");
}

#[test]
fn f9_those_who_wait_or_are_over_the_bound_race_too() {
    for kind in BoundKind::ALL.into_iter().filter(|&kind| kind != BoundKind::Fair) {
        check(kind, "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)");
    }
}

#[test]
fn f10_a_reader_passes_on_all_it_knows() {
    check(BoundKind::LocalDepth, "x=0 | y=1 | x=1; r=y");
}

#[test]
fn f11_the_order_of_two_reads_costs_nothing() {
    check(BoundKind::LocalContext, "r=x; x=1 | x=1; r=x");
}

#[test]
fn f12_local_context_reaches_more_than_context() {
    let program = script("x=1; y=0 | r=x; r=y | y=1; x=1");
    let reach = reach(&program, None, 10_000).expect("it is small");
    let (local, context) = (reach.within(LOCAL[1], 2), reach.within(BoundKind::Context, 2));
    assert!(local.local.is_superset(&context.local) && local.local != context.local);
    check(BoundKind::LocalContext, "x=1; y=0 | r=x; r=y | y=1; x=1");
}

#[test]
fn f13_a_switch_before_a_release_spares_a_preemption() {
    check(BoundKind::Preemption, "acq(0); x=0; rel(0); r=x | x=1; acq(0); x=1; rel(0)");
    let options = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, 1);
    let errors = options.bpor_opt(&[BporOpt::Release]).errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn local_depth_reaches_the_local_states_of_depth() {
    for seed in seeds(0..200) {
        let Some(reach) = reach(&generate(seed, &threads()), None, 300) else { continue };
        for limit in 0..=reach.saturation(BoundKind::Depth) {
            let [local, depth] = [BoundKind::LocalDepth, BoundKind::Depth]
                .map(|kind| reach.within(kind, limit).local);
            assert_eq!(local, depth, "seed {seed}, limit {limit}");
        }
    }
}

#[test]
fn local_bounds_never_take_more_executions_than_no_bound() {
    for seed in seeds(0..600) {
        let program = generate(seed, &threads());
        for reduction in [Reduction::Dpor, Reduction::Optimal] {
            let mut free = Options::new().reduction(reduction);
            free.max_executions = Some(2_000);
            let free = search(&program, free);
            if free.outcome.saved.is_some() {
                continue;
            }
            for (kind, limit) in LOCAL.into_iter().flat_map(|kind| (0..8).map(move |n| (kind, n))) {
                let bounded = search(&program, Way::new(reduction, kind).options(limit));
                let (n, most) = match reduction {
                    Reduction::Dpor => (bounded.runs(), free.runs()),
                    // Each trace once; the others were given up early.
                    _ => (bounded.traces.values().sum::<usize>() as u64, free.runs()),
                };
                assert!(
                    n <= most,
                    "seed {seed}, {reduction} {kind}={limit}: {n} > {most}\n{program}"
                );
            }
        }
    }
}

#[test]
fn a_bound_that_cuts_nothing_costs_what_dpor_costs() {
    for kind in TOTAL {
        let (mut bounded, mut free) = (0, 0);
        for seed in seeds(0..400) {
            let program = generate(seed, &Shape::locks());
            let without = search(&program, Options::new().reduction(Reduction::Dpor));
            let within = search(&program, Way::new(Reduction::Dpor, kind).options(1_000));
            assert!(!within.outcome.statistics.bound_exceeded);
            bounded += within.runs();
            free += without.runs();
        }
        assert!(bounded * 10 <= free * 11, "{kind}: {bounded} and {free} executions");
    }
}

#[test]
fn many_workers_reach_what_one_reaches() {
    for seed in seeds(0..200) {
        let program = generate(seed, &threads());
        let Some(reach) = reach(&program, None, 300) else { continue };
        for kind in BoundKind::ALL.into_iter().filter(|&kind| kind != BoundKind::Fair) {
            let mut reductions = vec![Reduction::None, Reduction::Dpor];
            reductions.extend(kind.is_local().then_some(Reduction::Optimal));
            for reduction in reductions {
                let way = Way { jobs: 3, ..Way::new(reduction, kind) };
                assert_eq!(way.wrong(&program, &reach), None, "seed {seed}\n{program}");
            }
        }
    }
}

#[test]
fn a_search_that_is_stopped_and_resumed_misses_nothing() {
    for seed in seeds(0..80) {
        let program = generate(seed, &threads());
        let Some(reach) = reach(&program, None, 200) else { continue };
        for kind in [BoundKind::Preemption, BoundKind::Context, BoundKind::LocalContext] {
            let mut options = Way::new(Reduction::Dpor, kind).options(1).stop_at_first(false);
            options.max_executions = Some(2);
            let seen = Mutex::new(std::collections::BTreeSet::new());
            let watch = |ended: mazurka_explore::Ended<'_, mazurka_script::Script>| {
                let order = ended.order;
                let states = (1..=order.len() as u32).map(|at| order.hash_at(at));
                seen.lock().expect("the lock is not poisoned").extend(states);
            };
            let mut saved: Option<Saved> = None;
            loop {
                let mut explorer = Explorer::new(options.clone()).observe(&watch);
                if let Some(saved) = saved {
                    let bytes = saved.to_bytes();
                    explorer = explorer.resume(Saved::from_bytes(&bytes).expect("just written"));
                }
                let outcome = explorer.run(|| program.clone()).expect("it repeats");
                saved = outcome.saved;
                if saved.is_none() {
                    break;
                }
            }
            let seen = seen.into_inner().expect("the lock is not poisoned");
            assert_eq!(seen, reach.within(kind, 1).local, "seed {seed} {kind}\n{program}");
        }
    }
}

/// What a search that raises its bound says, round by round.
fn rounds(options: Options, program: &str) -> String {
    let program = script(program);
    let told = Mutex::new(String::new());
    let listen = |event: &Event| {
        if let Event::Proved(coverage) = event {
            told.lock().expect("the lock is not poisoned").push_str(&format!("{coverage}\n"));
        }
    };
    let explorer = Explorer::new(options.iterate(true)).on_event(&listen);
    let outcome = explorer.run(|| program.clone()).expect("the options go together");
    let mut told = told.into_inner().expect("the lock is not poisoned");
    let verdict = match &outcome.verdict {
        Verdict::Violated(found) => found.violation.message.clone(),
        Verdict::Inconclusive(limit) => limit.to_string(),
        other => other.name().to_owned(),
    };
    told.push_str(&format!("{verdict}, {} executions", outcome.statistics.executions));
    if let Some(proved) = outcome.proved {
        told.push_str(&format!("; proved: {proved}"));
    }
    told + "\n"
}

#[track_caller]
fn check_rounds(options: Options, program: &str, expect: Expect) {
    expect.assert_eq(&rounds(options, program));
}

#[test]
fn rounds_end_when_nothing_is_cut() {
    let options = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, 0);
    check_rounds(
        options.clone(),
        "r=x; x=1 | r=x; x=1",
        expect![[r#"
            no assertion failure, deadlock, data race or livelock in any execution with at most 0 preemptions
            no assertion failure, deadlock, data race or livelock in any execution with at most 1 preemption
            no assertion failure, deadlock, data race or livelock in any execution
            holds, 10 executions; proved: no assertion failure, deadlock, data race or livelock in any execution
        "#]],
    );
    let local = Options::new().bound(BoundKind::LocalContext, 0);
    check_rounds(
        local,
        "r=x; x=1 | r=x; x=1",
        expect![[r#"
        no assertion failure, deadlock, data race or livelock in any execution whose steps each know of at most 0 context switches
        no assertion failure, deadlock, data race or livelock in any execution whose steps each know of at most 1 context switch
        no assertion failure, deadlock, data race or livelock in any execution
        holds, 6 executions; proved: no assertion failure, deadlock, data race or livelock in any execution
    "#]],
    );
    check_rounds(
        options,
        "r=add(x,1); r1=x; assert(r1==1) | r=add(x,1)",
        expect![[r#"
            assertion `r1 == 1` failed: left is 2, 2 executions
        "#]],
    );
}

#[test]
fn rounds_beside_a_fair_bound_end_as_well() {
    let options = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, 0);
    check_rounds(
        options.bound(BoundKind::Fair, 1),
        "while x!=1 { yield } | y=1; x=1",
        expect![[r#"
            no assertion failure, deadlock, data race or livelock in any execution with at most 0 preemptions and in which no thread moves that is over 1 yield ahead of one that could
            no assertion failure, deadlock, data race or livelock in any execution with at most 1 preemption and in which no thread moves that is over 1 yield ahead of one that could
            no assertion failure, deadlock, data race or livelock in any execution with at most 2 preemptions and in which no thread moves that is over 1 yield ahead of one that could
            no assertion failure, deadlock, data race or livelock in any execution in which no thread moves that is over 1 yield ahead of one that could
            holds, 32 executions; proved: no assertion failure, deadlock, data race or livelock in any execution in which no thread moves that is over 1 yield ahead of one that could
        "#]],
    );
}

#[test]
fn a_round_that_is_stopped_loses_nothing() {
    let mut options = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, 0);
    options.max_executions = Some(6);
    check_rounds(
        options,
        "r=x; x=1 | r=x; x=1 | r=x; x=1",
        expect![[r#"
        no assertion failure, deadlock, data race or livelock in any execution with at most 0 preemptions
        execution limit, 6, 6 executions; proved: no assertion failure, deadlock, data race or livelock in any execution with at most 0 preemptions
    "#]],
    );
}

#[track_caller]
fn check_error(text: &str, expect: Expect) {
    let error = text.parse::<Bound>().expect_err("it is wrong");
    expect.assert_eq(&error.to_string());
}

#[test]
fn wrong_bounds_are_told_with_what_to_write() {
    check_error(
        "preemption=-1",
        expect![
            "`preemption=-1` has no limit that can be counted to: write `preemption=` and a number from 0 to 4294967295"
        ],
    );
    check_error(
        "preemption=",
        expect![
            "`preemption=` has no limit that can be counted to: write `preemption=` and a number from 0 to 4294967295"
        ],
    );
    check_error(
        "preemption",
        expect!["`preemption` needs a limit: write for example `preemption=2`"],
    );
    check_error(
        "preemption=99999999999",
        expect![
            "`preemption=99999999999` has no limit that can be counted to: write `preemption=` and a number from 0 to 4294967295"
        ],
    );
    check_error(
        "delay=2",
        expect![
            "unknown bound `delay`: there are depth, context, preemption, delta, fair, local-depth and local-context; write for example `preemption=2`"
        ],
    );
    assert_eq!("local-context=3".parse(), Ok(Bound::new(BoundKind::LocalContext, 3)));
}

#[track_caller]
fn check_options(options: Options, expect: Expect) {
    let errors: Vec<_> = options.errors().iter().map(|error| format!("{error}\n")).collect();
    expect.assert_eq(&errors.concat());
}

#[test]
fn options_that_do_not_go_together_are_told_with_the_reason() {
    let bounded = |kind| Options::new().reduction(Reduction::Dpor).bound(kind, 1);
    check_options(
        bounded(BoundKind::Preemption).bound(BoundKind::Preemption, 2),
        expect![[r#"
        `preemption` is bounded twice; give one limit
    "#]],
    );
    check_options(
        bounded(BoundKind::Preemption).bound(BoundKind::Depth, 2),
        expect![[r#"
        `preemption` and `depth` cannot be combined (no published algorithm); use one of them, alone or with `fair`
    "#]],
    );
    check_options(
        Options::new().bound(BoundKind::Preemption, 2),
        expect![[r#"
        `--reduction optimal` cannot be combined with `--bound preemption`: the value depends on the order of independent steps, and only `dpor` explores the orders that this takes; use `dpor`
    "#]],
    );
    check_options(
        Options::new().reduction(Reduction::Source).bound(BoundKind::LocalDepth, 2),
        expect![[r#"
            `--reduction source` cannot be combined with `--bound local-depth`: a thread may stand for another one that is cut sooner; use `dpor`
        "#]],
    );
    check_options(
        Options::new().reduction(Reduction::Persistent).bound(BoundKind::Context, 2),
        expect![[r#"
            `--reduction persistent` cannot be combined with `--bound context`: static information does not tell what a bound cuts; use `dpor`
        "#]],
    );
    check_options(
        Options::new().reduction(Reduction::None).stateful(true).bound(BoundKind::Context, 2),
        expect![[r#"
            `stateful` cannot be combined with a bound: a stored state may be reached again with more of the bound left
        "#]],
    );
    check_options(
        Options::new().iterate(true),
        expect![[r#"
        `--iterate` raises a bound: give one beside `fair`, for example `--bound preemption=0`
    "#]],
    );
    check_options(
        Options::new().bpor_opt(&[BporOpt::Bound]),
        expect![[r#"
        `--bpor-opt` is for `--reduction dpor` within a bound that is not local; leave it out
    "#]],
    );
    check_options(
        bounded(BoundKind::Preemption).bpor_opt(&[BporOpt::Release]),
        expect![[r#"
        `--bpor-opt release` cannot be combined with `--bound preemption`: a switch before a release can spare a preemption: `acq(0); x=0; rel(0); r=x | x=1; acq(0); x=1; rel(0)` loses an execution
    "#]],
    );
    check_options(
        bounded(BoundKind::Context).bpor_opt(&[BporOpt::Alternative]),
        expect![[r#"
        `--bpor-opt alternative` cannot be combined with `--bound context`: where a switch is needed, all threads have to be explored, so there is no alternative to choose (thesis, 6.2)
    "#]],
    );
    let error = BporOpt::parse_list("bound,magic").expect_err("it is unknown");
    expect!["unknown optimisation `magic`: there are transitive, alternative, release, bound and sleep; write for example `transitive,bound`, or `none`"].assert_eq(&error.to_string());
    assert_eq!(BporOpt::parse_list("none"), Ok(Vec::new()));
}

#[test]
fn a_fair_bound_without_yields_is_warned_of() {
    let options = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Fair, 1);
    let run = |program: &str| {
        let program = script(program);
        Explorer::new(options.clone()).run(|| program.clone()).expect("the options go together")
    };
    let warnings = run("x=1 | r=x").warnings;
    expect!["`--bound fair=1` cuts nothing: no thread was seen to yield after its first step, and a fair bound counts yields; a loop that waits without one is followed to the depth limit"].assert_eq(&warnings.iter().map(ToString::to_string).collect::<String>());
    assert_eq!(run("x=1 | r=x; yield; r=x").warnings, []);
}

#[test]
fn a_bound_that_was_met_is_in_the_sentence() {
    let coverage = |options: Options, program: &str| {
        let program = script(program);
        let outcome = Explorer::new(options).run(|| program.clone()).expect("they go together");
        let Verdict::Holds(coverage) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
        coverage.to_string()
    };
    for kind in BoundKind::ALL {
        let options = Options::new().reduction(Reduction::Dpor).bound(kind, 1);
        let program = match kind {
            BoundKind::Fair => "while x!=1 { yield } | x=1",
            _ => "r=x; x=1; r=x | r=x; x=1; r=x",
        };
        let sentence = coverage(options, program);
        assert!(sentence.ends_with(&Bound::new(kind, 1).claim().to_string()), "{sentence}");
    }
    let free = Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, 9);
    expect!["no assertion failure, deadlock, data race or livelock in any execution"]
        .assert_eq(&coverage(free, "r=x; x=1 | r=x; x=1"));
}
