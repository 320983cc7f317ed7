//! The states that a search counts are those that enumeration finds, with every reduction and
//! order.

use crate::support::programs::{nwriters, readers};
use crate::support::{Judge, all_options, best_first_options, for_random_programs, name, script};
use mazurka_core::StateCoverage;
use mazurka_effort::{seeds, share};
use mazurka_explore::{Bound, BoundKind, Explorer, Options, Order, Priority, Reduction};
use mazurka_script::{Script, Shape};
use std::collections::BTreeSet;

fn count(script: &Script, options: &Options) -> StateCoverage {
    let mut options = options.clone().stop_at_first(false);
    options.coverage = true;
    let outcome = Explorer::new(options).run(|| script.clone()).expect("it can be searched");
    outcome.coverage.expect("it was asked for")
}

fn wrong(script: &Script, judge: &Judge, options: &Options) -> Option<String> {
    let counted = count(script, options);
    let local: BTreeSet<u64> =
        judge.traces.values().flat_map(|class| class.local_states.iter().copied()).collect();
    let found = (counted.local_states.unique, counted.traces.unique);
    let there = (local.len() as u64, judge.traces.len() as u64);
    if found != there {
        return Some(format!("{}: {found:?} states of {there:?}", name(options)));
    }
    let is_sane = counted.local_states.visited >= found.0 && counted.traces.visited >= found.1;
    let last = counted.over_time.last()?;
    let is_whole = (last.local_states, last.traces) == found;
    (!is_sane || !is_whole).then(|| format!("{}: {counted:?}", name(options)))
}

#[test]
fn all_states_are_counted_once() {
    let best_first = best_first_options().into_iter().filter(|options| options.fringe != 0);
    let all: Vec<_> = all_options().into_iter().chain(best_first).collect();
    let n = for_random_programs(&Shape::everything(), seeds(0..250), 200, |script, judge| {
        all.iter().find_map(|options| wrong(script, judge, options))
    });
    assert!(n > share(100), "only {n} programs were small enough");
}

#[test]
fn what_is_done_twice_counts_twice() {
    // Each order of two independent steps is one trace, and has both local states.
    let program = script("x=1 | y=1");
    let none = Options::new().reduction(Reduction::None).sleep(false);
    let counted = count(&program, &none);
    assert_eq!((counted.local_states.visited, counted.local_states.unique), (4, 2));
    assert_eq!((counted.traces.visited, counted.traces.unique), (2, 1));
    let optimal = count(&program, &Options::new());
    assert_eq!((optimal.local_states.ratio(), optimal.traces.ratio()), (1.0, 1.0));
}

#[test]
fn the_curve_is_short_and_rises() {
    let best_first = Options::new().reduction(Reduction::Source);
    let best_first = best_first.order(Order::best_first(Priority::Random));
    for options in [Options::new(), best_first] {
        for program in [nwriters(6), readers(10)] {
            let curve = count(&program, &options).over_time;
            assert!((32..=128).contains(&curve.len()), "{}", curve.len());
            let rises = |pair: &[mazurka_core::CoverageSample]| {
                pair[0].executions < pair[1].executions
                    && pair[0].local_states <= pair[1].local_states
                    && pair[0].traces <= pair[1].traces
                    && pair[0].time_s <= pair[1].time_s
            };
            assert!(curve.windows(2).all(rises), "{curve:?}");
        }
    }
}

#[test]
fn a_resumed_search_counts_on() {
    let program = nwriters(5);
    let mut options = Options::new().stop_at_first(false);
    options.coverage = true;
    let whole = count(&program, &options);
    options.max_executions = Some(17);
    let mut outcome = Explorer::new(options.clone()).run(|| program.clone()).expect("it runs");
    while let Some(saved) = outcome.saved {
        let explorer = Explorer::new(options.clone()).resume(saved);
        outcome = explorer.run(|| program.clone()).expect("it goes on");
    }
    let counted = outcome.coverage.expect("it was asked for");
    assert_eq!(counted.traces, whole.traces);
    assert_eq!(counted.local_states.unique, whole.local_states.unique);
}

#[test]
fn jobs_count_together() {
    let program = nwriters(6);
    let counted = count(&program, &Options::new().jobs(2));
    assert_eq!((counted.traces.visited, counted.traces.unique), (720, 720));
}

#[test]
fn a_search_that_raises_its_bound_counts_in_all_rounds() {
    let program = script("x=1; x=2 | x=3; x=4");
    let whole = count(&program, &Options::new());
    let mut options = Options::new().reduction(Reduction::Dpor);
    options.bounds = vec![Bound::new(BoundKind::Preemption, 0)];
    let first = count(&program, &options);
    options.iterate = true;
    let all = count(&program, &options);
    assert!(first.traces.unique < whole.traces.unique, "{first:?}");
    assert_eq!(all.local_states.unique, whole.local_states.unique);
    assert_eq!(all.traces.unique, whole.traces.unique);
    assert!(all.traces.visited > first.traces.visited + whole.traces.unique, "{all:?}");
    assert!(all.over_time.is_sorted_by_key(|sample| sample.time_s.to_bits()), "{all:?}");
}
