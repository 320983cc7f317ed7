//! Several workers visit together what one visits alone, and `optimal` still nothing twice.

use crate::support::boxed::search;
use crate::support::programs::{fib, lastzero, nwriters, readers};
use crate::support::{all_options, disagreement, explore, for_random_programs, name, script};
use mazurka_core::{Decision, Effect, Failure, Next, System, ThreadId, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Options, Reduction};
use mazurka_script::{Script, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn check_shape(shape: &Shape) {
    let mut all = Vec::new();
    for jobs in [2, 3] {
        let alone = all_options().into_iter().filter(|options| options.room == Options::new().room);
        all.extend(alone.map(|options| options.jobs(jobs)));
    }
    check_random(shape, &all);
}

fn check_random(shape: &Shape, all: &[Options]) {
    let n = for_random_programs(shape, seeds(0..300), 1_000, |script, judge| {
        all.iter().find_map(|options| disagreement(script, judge, options))
    });
    assert!(n > share(120), "only {n} programs were small enough");
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

/// Options under which `optimal` puts branches aside, and others may take them from there.
fn tight(room: usize, jobs: usize) -> Options {
    let mut options = Options::new().jobs(jobs);
    options.room = room;
    options
}

#[test]
fn on_everything_with_little_room() {
    check_random(&Shape::everything(), &[tight(0, 2), tight(7, 2), tight(7, 3)]);
}

/// Programs on which there is something to share.
fn large() -> Vec<Script> {
    let philosophers = script(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(2); rel(2); rel(1) \
         | acq(2); acq(3); rel(3); rel(2) | acq(3); acq(4); rel(4); rel(3) \
         | acq(4); acq(0); rel(0); rel(4)",
    );
    vec![fib(4), nwriters(6), lastzero(6), readers(9), philosophers]
}

#[test]
fn on_large_programs_with_optimal() {
    check_large(&[Options::new().jobs(2), Options::new().jobs(3)]);
}

#[test]
fn on_large_programs_with_little_room() {
    check_large(&[tight(0, 2), tight(7, 2), tight(100, 2), tight(100, 3)]);
}

fn check_large(all: &[Options]) {
    for script in large() {
        for options in all {
            let (alone, outcome) = explore(&script, options.clone().jobs(1));
            let (together, outcome_together) = explore(&script, options.clone());
            let what = format!("{}: {script}", name(options));
            assert!(together.is_like(&alone), "{what}");
            let [one, all] = [&outcome, &outcome_together].map(|outcome| outcome.statistics);
            assert_eq!(all.executions, one.executions, "{what}");
            assert_eq!(all.blocked_executions, 0, "{what}");
            assert_eq!(all.refused_reversals, one.refused_reversals, "{what}");
            assert_eq!(all.max_depth, one.max_depth, "{what}");
            assert!(same_verdict(&outcome.verdict, &outcome_together.verdict), "{what}");
        }
    }
}

/// Which violation is found first is a matter of luck, whether there is one is not.
fn same_verdict(one: &Verdict, other: &Verdict) -> bool {
    match (one, other) {
        (Verdict::Violated(one), Verdict::Violated(other)) => {
            one.violation.kind == other.violation.kind
        }
        _ => one == other,
    }
}

#[test]
fn on_large_programs_with_sets() {
    for script in large() {
        for reduction in [Reduction::Dpor, Reduction::Source] {
            let options = Options::new().reduction(reduction);
            let (alone, outcome) = explore(&script, options.clone());
            let (together, outcome_together) = explore(&script, options.jobs(2));
            assert!(alone.traces.keys().eq(together.traces.keys()), "{reduction}: {script}");
            assert_eq!(alone.terminal_states(), together.terminal_states());
            let same = same_verdict(&outcome.verdict, &outcome_together.verdict);
            assert!(same, "{reduction}: {script}");
        }
    }
}

#[test]
fn the_whole_tree_is_counted_the_same() {
    // Without sleep sets, who takes what does not change how many there are to take.
    for script in [fib(2), nwriters(5), lastzero(2)] {
        let options = Options::new().reduction(Reduction::None).sleep(false);
        let (alone, outcome) = explore(&script, options.clone());
        for jobs in [2, 3] {
            let (together, outcome_together) = explore(&script, options.clone().jobs(jobs));
            assert!(together.is_like(&alone), "{script}");
            let [one, all] = [&outcome, &outcome_together].map(|outcome| outcome.statistics);
            assert_eq!(all.executions, one.executions, "{script}");
            assert_eq!(all.transitions, one.transitions, "{script}");
            assert_eq!(all.max_depth, one.max_depth, "{script}");
        }
    }
}

/// A program that breaks down in the middle of the search.
struct Broken {
    script: Script,
    steps_left: Arc<AtomicUsize>,
}

impl System for Broken {
    fn reset(&mut self) {
        self.script.reset();
    }

    fn n_threads(&self) -> usize {
        self.script.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        self.script.next(thread)
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        let left = self.steps_left.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "the program breaks down");
        self.script.step(decision)
    }
}

#[test]
fn a_worker_that_panics_takes_the_others_with_it() {
    for reduction in [Reduction::Source, Reduction::Optimal] {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let steps_left = Arc::new(AtomicUsize::new(200));
            let make = || Broken { script: nwriters(6), steps_left: steps_left.clone() };
            let search = || search(Options::new().reduction(reduction).jobs(2), make);
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(search)).is_err();
            tell.send(panicked)
        });
        // Not a measurement: a search that waits for a dead worker waits for ever.
        let panicked = told.recv_timeout(Duration::from_secs(20));
        assert_eq!(panicked, Ok(true), "{reduction}");
    }
}
