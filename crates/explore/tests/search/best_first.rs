//! Best-first search covers what plain enumeration covers, whatever comes first; and it keeps
//! within its memory and refuses as it says.

use crate::support::programs::{fib, lastzero, nwriters, parallel, readers};
use crate::support::{best_first_options, check_with, explore, script};
use expect_test::{Expect, expect};
use mazurka_core::Verdict;
use mazurka_effort::{seeds, share};
use mazurka_explore::{
    Bound, BoundKind, ExploreError, Explorer, Options, Order, Priority, Reduction,
};
use mazurka_script::Shape;

fn best_first(priority: Priority) -> Options {
    Options::new().reduction(Reduction::Dpor).order(Order::best_first(priority))
}

#[test]
fn on_variables() {
    let n = check_with(&best_first_options(), &Shape::variables(), seeds(0..700), 500);
    assert!(n > share(400), "only {n} programs were small enough");
}

#[test]
fn on_locks() {
    let n = check_with(&best_first_options(), &Shape::locks(), seeds(0..700), 500);
    assert!(n > share(400), "only {n} programs were small enough");
}

#[test]
fn on_everything() {
    let n = check_with(&best_first_options(), &Shape::everything(), seeds(0..1_500), 500);
    assert!(n > share(800), "only {n} programs were small enough");
}

#[test]
fn on_programs_of_known_size() {
    for (program, n_traces) in
        [(readers(9), 512), (nwriters(6), 720), (fib(3), 141), (lastzero(8), 704)]
    {
        for priority in [Priority::Preemptions, Priority::Random] {
            for reduction in [Reduction::Dpor, Reduction::Source] {
                let options = best_first(priority.clone()).reduction(reduction);
                let (visits, outcome) = explore(&program, options);
                assert_eq!(visits.traces.len(), n_traces, "{priority} {reduction}: {program}");
                assert_eq!(outcome.verdict.name(), "holds");
            }
        }
    }
}

#[test]
fn without_room_it_is_depth_first_search() {
    for program in [readers(8), nwriters(5), fib(3), lastzero(6)] {
        for reduction in [Reduction::None, Reduction::Dpor, Reduction::Source] {
            let options = Options::new().reduction(reduction);
            let (depth_first, _) = explore(&program, options.clone());
            let mut options = options.order(Order::best_first(Priority::Random));
            options.fringe = 0;
            let (best_first, outcome) = explore(&program, options);
            assert!(best_first.is_like(&depth_first), "{reduction}: {program}");
            let fringe = outcome.tree.expect("there is a tree").fringe;
            let most = outcome.statistics.max_depth * program_threads(&program);
            assert!(fringe <= most, "{fringe} known executions at once, {most} are possible");
        }
    }
}

fn program_threads(program: &mazurka_script::Script) -> u64 {
    mazurka_core::System::n_threads(program) as u64
}

#[test]
fn few_preemptions_come_first() {
    // The bug needs one preemption, early; depth-first search goes back to it last.
    let early = "x=1; x=0; a=1; b=1; c=1; d=1; e=1; f=1; g=1; h=1; i=1 | \
                 r=x; assert(r == 0); a=2; b=2; c=2; d=2; e=2; f=2; g=2; h=2; i=2";
    let count = |options: Options| {
        let outcome = Explorer::new(options).run(|| script(early)).expect("it can be searched");
        assert_eq!(outcome.verdict.name(), "violated");
        outcome.statistics.executions
    };
    let depth_first = count(Options::new().reduction(Reduction::Dpor));
    let best_first = count(best_first(Priority::Preemptions));
    assert!(best_first * 10 <= depth_first, "{best_first} of {depth_first}");
}

#[test]
fn a_variable_comes_first() {
    let program = "x=1; a=1; b=1; c=1 | a=2; b=2; c=2 | r=x; assert(r == 1)";
    let count = |priority: Priority| {
        let outcome = Explorer::new(best_first(priority))
            .run(|| script(program))
            .expect("it can be searched");
        assert_eq!(outcome.verdict.name(), "violated");
        outcome.statistics.executions
    };
    assert_eq!(count(Priority::Variable("x".to_owned())), 2);
    assert!(count(Priority::Variable("nothing".to_owned())) > 2);
}

#[test]
fn the_same_seed_takes_the_same_executions() {
    let count = |seed: u64| {
        let mut options = best_first(Priority::Random).stop_at_first(true);
        options.seed = seed;
        let text = format!("{} | r=x; assert(r != 3)", parallel(6, |idx| format!("x={}", idx + 2)));
        let outcome = Explorer::new(options).run(|| script(&text)).expect("it can be searched");
        outcome.statistics.executions
    };
    assert_eq!(count(1), count(1));
    let counts: Vec<_> = (0..8).map(count).collect();
    assert!(counts.iter().any(|&other| other != counts[0]), "{counts:?}");
}

/// Threads that each take many steps of their own between those where they meet.
fn long(n_threads: usize, n_meetings: usize, between: usize) -> String {
    parallel(n_threads, |idx| {
        let meeting = |at: usize| {
            let own: String = (0..between).map(|step| format!("v{idx}={step}; ")).collect();
            format!("{own}swap(s{at}, 1); ")
        };
        (0..n_meetings).map(meeting).collect()
    })
}

#[test]
fn the_tree_takes_a_tenth_of_an_uncompressed_one() {
    for (n_threads, n_meetings, between) in [(2, 6, 30), (3, 2, 40), (4, 1, 40)] {
        let text = long(n_threads, n_meetings, between);
        for priority in [Priority::Preemptions, Priority::Random] {
            let options = best_first(priority.clone()).stop_at_first(false);
            let outcome = Explorer::new(options).run(|| script(&text)).expect("it can be searched");
            assert!(matches!(outcome.verdict, Verdict::Holds(_)));
            let size = outcome.tree.expect("there is a tree");
            assert!(size.bytes * 10 <= size.uncompressed, "{priority}: {size:?}");
            assert!(size.bytes > 0 && size.fringe > 1, "{priority}: {size:?}");
        }
    }
}

/// What is said about options that do not go together.
fn check(options: Options, expect: Expect) {
    let error = Explorer::new(options).run(|| script("x=1 | x=2")).expect_err("it is refused");
    assert!(matches!(error, ExploreError::Options(_)));
    expect.assert_eq(&error.to_string());
}

#[test]
fn what_it_is_not_sound_with_is_refused() {
    let by = |priority| Options::new().order(Order::best_first(priority));
    check(
        by(Priority::Preemptions),
        expect![
            "`--order best-first` cannot be combined with `--reduction optimal`: it knows what it has done by the execution it is in; use `source` or `dpor`"
        ],
    );
    let source = by(Priority::Preemptions).reduction(Reduction::Source);
    check(
        source.jobs(2),
        expect![
            "`--order best-first` cannot be combined with `--jobs 2`: one worker has to know all executions that are left; use one job"
        ],
    );
    let none = by(Priority::Preemptions).reduction(Reduction::None);
    check(
        none.stateful(true),
        expect![
            "`--order best-first` cannot be combined with `stateful`: a state that is stored may not be explored yet"
        ],
    );
    let mut bounded = by(Priority::Preemptions).reduction(Reduction::Dpor);
    bounded.bounds = vec![Bound::new(BoundKind::Preemption, 2)];
    check(
        bounded,
        expect![
            "`--order best-first` cannot be combined with `--bound preemption`: what the bound cuts behind a state says what is explored there, and best-first search leaves it before that is known; the priority `preemptions` takes executions with few of them first"
        ],
    );
    check(
        by(Priority::Backtrack).reduction(Reduction::Dpor),
        expect![
            "the priority `backtrack` decides nothing with `--reduction dpor`, which explores nothing else; use `none`, `persistent` or `transactions`"
        ],
    );
    check(
        by(Priority::Sleep).reduction(Reduction::Dpor),
        expect![
            "the priority `sleep` decides nothing with `--sleep on`, which leaves out what sleeps; use `--sleep off`"
        ],
    );
}
