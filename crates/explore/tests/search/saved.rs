//! A search that is stopped, written down, read back and resumed, again and again, comes to what
//! it would have come to in one go.

use crate::support::programs::{fib, lastzero, nwriters};
use crate::support::{
    Judge, Visits, Watcher, all_options, best_first_options, differs, explore, for_random_programs,
    name, script,
};
use expect_test::{Expect, expect};
use mazurka_core::{Limit, Statistics, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{
    Ended, ExploreError, Explorer, Options, Outcome, Reduction, Saved, SavedError,
};
use mazurka_script::{Script, Shape};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Runs a search in stretches of `length` executions, each from the bytes of the one before.
fn in_stretches(script: &Script, options: &Options, length: u64) -> (Visits, Outcome) {
    let watcher = Watcher::default();
    let watch = |ended: Ended<'_, Script>| watcher.see(&ended);
    let mut options = options.clone().stop_at_first(false);
    options.max_executions = Some(length);
    let mut saved = None;
    loop {
        let mut explorer = Explorer::new(options.clone()).observe(&watch);
        if let Some(saved) = saved.take() {
            explorer = explorer.resume(again(&saved));
        }
        let outcome = explorer.run(|| script.clone()).expect("it can go on");
        assert_ne!(outcome.verdict.name(), if outcome.saved.is_some() { "holds" } else { "" });
        match outcome.saved.clone() {
            Some(left) => saved = Some(left),
            None => return (watcher.visits(), outcome),
        }
    }
}

/// Runs a search that is left in the middle of its executions again and again: its time is over
/// after a few microseconds, and after twice as many if that was too short for one execution. How
/// often it was left.
fn in_moments(script: &Script, options: &Options) -> (Visits, Outcome, u64) {
    let watcher = Watcher::default();
    let watch = |ended: Ended<'_, Script>| watcher.see(&ended);
    let mut options = options.clone().stop_at_first(false);
    let (mut time, mut n_left, mut n_before) = (1, 0, 0);
    let mut saved = None;
    loop {
        options.time_limit = Some(Duration::from_micros(time));
        let mut explorer = Explorer::new(options.clone()).observe(&watch).strict_about_time();
        if let Some(saved) = saved.take() {
            explorer = explorer.resume(again(&saved));
        }
        let outcome = explorer.run(|| script.clone()).expect("it can go on");
        let n_now = outcome.statistics.executions + outcome.statistics.blocked_executions;
        time = if n_now > n_before { 1 } else { 2 * time };
        n_before = n_now;
        match outcome.saved.clone() {
            Some(left) => saved = Some(left),
            None => return (watcher.visits(), outcome, n_left),
        }
        n_left += 1;
    }
}

/// A search that is left in the middle of executions takes each of them once, from its beginning.
#[test]
fn executions_that_were_left_are_begun_again() {
    let n_left = AtomicU64::new(0);
    let with_room = |room: usize| {
        let mut options = Options::new().reduction(Reduction::Optimal);
        options.room = room;
        options
    };
    // With little room branches are set aside.
    let all = [with_room(1 << 18), with_room(2), with_room(0)];
    for_random_programs(&Shape::everything(), seeds(0..60), 2_000, |script, judge| {
        all.iter().find_map(|options| {
            let (whole, one) = explore(script, options.clone());
            let (visits, last, n) = in_moments(script, options);
            n_left.fetch_add(n, Ordering::Relaxed);
            let [one, last] = [&one, &last].map(|outcome| comparable(outcome.statistics));
            let what = differs(judge, &visits, options);
            let what = what.or_else(|| {
                (!visits.is_like(&whole)).then(|| "other executions than in one go".to_owned())
            });
            let what = what.or_else(|| (one != last).then(|| format!("{one:?} became {last:?}")));
            what.map(|what| format!("room {}: {what}", options.room))
        })
    });
    let n_left = n_left.into_inner();
    assert!(n_left > share(500), "left {n_left} times only");
}

/// What is written down and read back is the same.
fn again(saved: &Saved) -> Saved {
    let bytes = saved.to_bytes();
    let read = Saved::from_bytes(&bytes).expect("it was written down just now");
    assert_eq!(read.to_bytes().len(), bytes.len());
    assert_eq!((read.n_units(), read.statistics()), (saved.n_units(), saved.statistics()));
    read
}

/// What interruptions change about a search with one worker, if anything.
fn wrong(script: &Script, judge: &Judge, options: &Options) -> Option<String> {
    let (whole, outcome) = explore(script, options.clone());
    [1, 2, 7].into_iter().find_map(|length| {
        let (visits, last) = in_stretches(script, options, length);
        let what = differs(judge, &visits, options).or_else(|| {
            if visits.executions != last.statistics.executions {
                return Some("executions were lost in the books".to_owned());
            }
            if options.jobs > 1 {
                return None;
            }
            if !visits.is_like(&whole) {
                return Some("other executions than in one go".to_owned());
            }
            let [one, other] = [&outcome, &last].map(|outcome| comparable(outcome.statistics));
            (one != other).then(|| format!("{one:?} became {other:?}"))
        });
        let what = what.or_else(|| {
            let verdicts = (outcome.verdict.name(), last.verdict.name());
            (verdicts.0 != verdicts.1).then(|| format!("the verdicts are {verdicts:?}"))
        });
        what.map(|what| format!("{} in stretches of {length}: {what}", name(options)))
    })
}

/// Steps that lead back to where a stretch begins are replayed once more, and `optimal` takes
/// the last of them as new ones.
fn comparable(statistics: Statistics) -> Statistics {
    let mut comparable = Statistics::default();
    comparable.executions = statistics.executions;
    comparable.blocked_executions = statistics.blocked_executions;
    comparable.refused_reversals = statistics.refused_reversals;
    comparable.max_depth = statistics.max_depth;
    comparable
}

fn check_shape(shape: &Shape) {
    let all: Vec<_> =
        all_options().into_iter().filter(|options| options.room == Options::new().room).collect();
    let n = for_random_programs(shape, seeds(0..150), 150, |script, judge| {
        all.iter().find_map(|options| wrong(script, judge, options))
    });
    assert!(n > share(40), "only {n} programs were small enough");
}

#[test]
fn on_variables() {
    check_shape(&Shape::variables());
}

#[test]
fn on_locks() {
    check_shape(&Shape::locks());
}

#[test]
fn on_everything() {
    check_shape(&Shape::everything());
}

#[test]
fn best_first_on_everything() {
    let all = best_first_options();
    let n = for_random_programs(&Shape::everything(), seeds(0..100), 100, |script, judge| {
        all.iter().find_map(|options| wrong(script, judge, options))
    });
    assert!(n > share(30), "only {n} programs were small enough");
}

#[test]
fn on_everything_with_little_room() {
    let n = for_random_programs(&Shape::everything(), seeds(0..150), 150, |script, judge| {
        [0, 7].into_iter().find_map(|room| {
            let mut options = Options::new();
            options.room = room;
            wrong(script, judge, &options)
        })
    });
    assert!(n > share(40), "only {n} programs were small enough");
}

#[test]
fn with_two_workers() {
    let n = for_random_programs(&Shape::everything(), seeds(0..100), 100, |script, judge| {
        Reduction::ALL.into_iter().find_map(|reduction| {
            wrong(script, judge, &Options::new().reduction(reduction).jobs(2))
        })
    });
    assert!(n > share(20), "only {n} programs were small enough");
}

#[test]
fn on_larger_programs() {
    for script in [fib(3), nwriters(5), lastzero(5)] {
        for reduction in [Reduction::Dpor, Reduction::Source, Reduction::Optimal] {
            for jobs in [1, 2] {
                let options = Options::new().reduction(reduction).jobs(jobs);
                let (whole, _) = explore(&script, options.clone());
                let (visits, last) = in_stretches(&script, &options, 50);
                let same = visits.traces.keys().eq(whole.traces.keys());
                assert!(same, "{}: {script}", name(&options));
                assert_eq!(visits.executions, last.statistics.executions);
                if reduction == Reduction::Optimal {
                    assert!(visits.is_like(&whole), "{}: {script}", name(&options));
                }
            }
        }
    }
}

#[test]
fn with_stored_states() {
    let mut all = Vec::new();
    for reduction in [Reduction::None, Reduction::Persistent, Reduction::Transactions] {
        for sleep in [false, true] {
            all.push(Options::new().reduction(reduction).sleep(sleep).stateful(true));
        }
    }
    let n = for_random_programs(&Shape::everything(), seeds(0..200), 200, |script, judge| {
        all.iter().find_map(|options| {
            let (_, outcome) = explore(script, options.clone());
            [1, 3].into_iter().find_map(|length| {
                let (visits, last) = in_stretches(script, options, length);
                let [one, other] = [&outcome, &last].map(|outcome| {
                    (
                        outcome.verdict.name(),
                        outcome.statistics.executions,
                        outcome.statistics.states,
                    )
                });
                let what = if visits.terminal_states() != judge.terminal_states() {
                    Some("other terminal states".to_owned())
                } else if options.sleep || options.reduction != Reduction::None {
                    // What sleeps where, and which states are on the stack, depends on which visit
                    // of a state is the first.
                    (one.0 != other.0).then(|| "another verdict".to_owned())
                } else {
                    (one != other).then(|| format!("{one:?} became {other:?}"))
                };
                what.map(|what| format!("{} in stretches of {length}: {what}", name(options)))
            })
        })
    });
    assert!(n > share(60), "only {n} programs were small enough");
}

#[test]
fn a_flag_stops_it_in_between() {
    for reduction in Reduction::ALL {
        for jobs in [1, 2] {
            let script = fib(2);
            let options = Options::new().reduction(reduction).jobs(jobs);
            let (whole, _) = explore(&script, options.clone());
            let watcher = Watcher::default();
            let flag = AtomicBool::new(false);
            let n_seen = AtomicU64::new(0);
            let watch = |ended: Ended<'_, Script>| {
                watcher.see(&ended);
                if n_seen.fetch_add(1, Ordering::Relaxed) == 4 {
                    flag.store(true, Ordering::Relaxed);
                }
            };
            let explorer = Explorer::new(options.clone()).observe(&watch).stop_when(&flag);
            let first = explorer.run(|| script.clone()).expect("it is a program");
            assert_eq!(first.verdict, Verdict::Inconclusive(Limit::Interrupted), "{reduction}");
            let left = again(&first.saved.expect("there is more to do"));
            assert_eq!(left.statistics(), first.statistics);
            if jobs == 1 {
                assert_eq!(first.statistics.executions, 5, "{reduction}");
            }
            let explorer = Explorer::new(options).observe(&watch).resume(left);
            let last = explorer.run(|| script.clone()).expect("it can go on");
            assert_eq!(last.verdict.name(), "holds", "{reduction}");
            let visits = watcher.visits();
            assert_eq!(visits.executions, last.statistics.executions, "{reduction}");
            assert!(visits.traces.keys().eq(whole.traces.keys()), "{reduction}");
            if reduction.takes_traces_once() {
                assert!(!visits.has_repetitions());
            }
        }
    }
}

#[test]
fn what_was_found_before_is_not_forgotten() {
    let script = script("x=1; y=1 | r=x; assert(r == 0) | y=2; x=0");
    for options in all_options() {
        let (_, outcome) = explore(&script, options.clone());
        assert_eq!(outcome.verdict.name(), "violated", "{}", name(&options));
        let (_, last) = in_stretches(&script, &options, 1);
        let Verdict::Violated(counterexample) = last.verdict else {
            panic!("{}: {:?}", name(&options), last.verdict);
        };
        expect!["assertion `r == 0` failed: left is 1"]
            .assert_eq(&counterexample.violation.message);
    }
}

#[test]
fn what_was_cut_before_is_not_claimed_later() {
    // The first execution is too long, the others are not.
    let script = script("if x == 0 { y=1; y=2; y=3; y=4 } | x=1");
    for mut options in all_options() {
        options.livelock = false;
        options.max_depth = 5;
        let (_, last) = in_stretches(&script, &options, 1);
        let expected = Verdict::Inconclusive(Limit::Depth(5));
        assert_eq!(last.verdict, expected, "{}", name(&options));
    }
}

/// A search of a small program with these options, stopped after one execution.
fn stopped(text: &str, options: &Options) -> Saved {
    let script = script(text);
    let mut options = options.clone();
    options.max_executions = Some(1);
    let outcome = Explorer::new(options).run(|| script.clone()).expect("it is a program");
    outcome.saved.expect("one execution is not all")
}

const SMALL: &str = "x=1; r=y | y=1; r=x";

#[test]
fn damaged_bytes_are_refused() {
    for options in all_options().into_iter().chain([stateful()]) {
        let bytes = stopped(SMALL, &options).to_bytes();
        for len in 0..bytes.len() {
            let error = Saved::from_bytes(&bytes[..len]).expect_err("something is missing");
            let is_known = matches!(
                error,
                SavedError::NotSaved | SavedError::OtherVersion | SavedError::Damaged(_)
            );
            assert!(is_known, "{error}");
        }
        let longer = [bytes.as_slice(), b"x"].concat();
        assert!(Saved::from_bytes(&longer).is_err(), "something was added");
        for at in 0..bytes.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                assert!(Saved::from_bytes(&damaged).is_err(), "byte {at} was changed by {flip}");
            }
        }
    }
    check_error(b"", expect!["not a saved search"]);
    check_error(
        b"mzk-search-1\nsomething",
        expect!["the search was saved by another version of Mazurka"],
    );
    check_error(b"mzk-search-6\n", expect!["the saved search is damaged: it ends too early"]);
    check_error(
        b"mzk-search-6\n12345678",
        expect!["the saved search is damaged: its contents do not match their checksum"],
    );
}

fn check_error(bytes: &[u8], expect: Expect) {
    expect.assert_eq(&Saved::from_bytes(bytes).expect_err("it is no search").to_string());
}

fn stateful() -> Options {
    Options::new().reduction(Reduction::Persistent).stateful(true)
}

/// Why a stopped search of [`SMALL`] does not go on with other options or another program.
fn refused(saved: Saved, options: Options, text: &str) -> String {
    let script = script(text);
    let outcome = Explorer::new(options).resume(saved).run(|| script.clone());
    match outcome {
        Err(ExploreError::Saved(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_options_are_refused() {
    let saved = stopped(SMALL, &Options::new());
    let mut deadlock = Options::new();
    deadlock.deadlock = false;
    for (options, expect) in [
        (
            Options::new().reduction(Reduction::Source),
            expect![
                "the search was saved with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 100000, and cannot go on with --reduction source --sleep on --property deadlock,race,livelock and a depth of 100000"
            ],
        ),
        (
            Options::new().sleep(false),
            expect![
                "the search was saved with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 100000, and cannot go on with --reduction optimal --sleep off --property deadlock,race,livelock and a depth of 100000"
            ],
        ),
        (
            stateful(),
            expect![
                "the search was saved with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 100000, and cannot go on with --reduction persistent --sleep on --stateful --property deadlock,race,livelock and a depth of 100000"
            ],
        ),
        (
            Options::new().max_depth(7),
            expect![
                "the search was saved with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 100000, and cannot go on with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 7"
            ],
        ),
        (
            deadlock,
            expect![
                "the search was saved with --reduction optimal --sleep on --property deadlock,race,livelock and a depth of 100000, and cannot go on with --reduction optimal --sleep on --property race,livelock and a depth of 100000"
            ],
        ),
    ] {
        expect.assert_eq(&refused(saved.clone(), options, SMALL));
    }
    // How many work on it, and for how long, may change.
    let script = script(SMALL);
    let mut options = Options::new().jobs(2);
    options.room = 0;
    options.max_executions = Some(100);
    let outcome = Explorer::new(options).resume(saved).run(|| script.clone());
    assert_eq!(outcome.expect("it can go on").verdict.name(), "holds");
}

#[test]
fn another_program_is_refused() {
    for text in ["x=1; r=y", "r=x; r=y | y=1; r=x", "x=1; r=y | y=1; r=x | r=x", "x=1 | x=1"] {
        let saved = stopped(SMALL, &Options::new());
        assert_eq!(refused(saved, Options::new(), text), SavedError::OtherProgram.to_string());
    }
}

// Only what threads do first is remembered of a program. Another one that begins the same and has
// all the steps that are left to take cannot be told apart.
#[test]
fn the_mirror_image_of_a_program_is_another_program() {
    for options in all_options() {
        let saved = stopped("x=1; r=y | y=1; r=x", &options);
        let other = script("y=1; r=x | x=1; r=y; r=y");
        let outcome = Explorer::new(options.clone()).resume(saved).run(|| other.clone());
        let is_refused = matches!(outcome, Err(ExploreError::Saved(SavedError::OtherProgram)));
        assert!(is_refused, "{}: {outcome:?}", name(&options));
    }
}

#[test]
fn another_program_that_begins_the_same_is_found_out_on_the_way() {
    for options in all_options().into_iter().chain([stateful()]) {
        // The schedule that is left asks for steps that this program does not have.
        let saved = stopped("x=1; x=2; x=3 | x=4; x=5; x=6", &options);
        let other = script("x=1 | x=4");
        let outcome = Explorer::new(options.clone()).resume(saved).run(|| other.clone());
        let is_refused = matches!(
            outcome,
            Err(ExploreError::Nondeterministic(_) | ExploreError::Saved(SavedError::OtherProgram))
        );
        assert!(is_refused, "{}: {outcome:?}", name(&options));
    }
}
