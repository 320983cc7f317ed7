//! Executions that are shown of a search in which nothing goes wrong: each of another trace, as
//! many as were asked for, and the same however the search is done.

use crate::support::{Judge, all_options, best_first_options, for_random_programs, name, script};
use mazurka_core::{MemoryModel, PassingExecution, SampleMethod, Trace, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{BoundKind, Explorer, Options, Outcome, Reduction, Sampling, replay};
use mazurka_script::{Script, Shape};
use std::collections::BTreeSet;

fn run(script: &Script, options: Options) -> Outcome {
    let outcome = Explorer::new(options).run(|| script.clone());
    outcome.unwrap_or_else(|error| panic!("{script}\n{error}"))
}

/// The schedules in their printed form.
fn printed(shown: &[PassingExecution]) -> Vec<String> {
    shown.iter().map(|it| it.schedule.to_string()).collect()
}

/// What is wrong with the executions that a search shows: they are followed again, and held against
/// the traces that there are.
fn wrong(script: &Script, judge: &Judge, options: &Options, n_shown: usize) -> Option<String> {
    let mut options = options.clone();
    options.n_shown = n_shown;
    let outcome = run(script, options.clone());
    if judge.is_violated() {
        return (!outcome.shown.is_empty()).then(|| format!("{}: shown", name(&options)));
    }
    let mut hashes = BTreeSet::new();
    for it in &outcome.shown {
        let again = replay(&mut script.clone(), &it.schedule);
        let again = again.unwrap_or_else(|error| panic!("{script} {}: {error}", it.schedule));
        if (&again.execution, &again.story) != (&it.execution, &it.story) {
            return Some(format!("{}: {} is another execution", name(&options), it.schedule));
        }
        if again.violation.is_some() {
            return Some(format!("{}: {} goes wrong", name(&options), it.schedule));
        }
        hashes.insert(Trace::of(&it.execution).hash());
    }
    let expected = judge.traces.len().min(n_shown);
    let is_right = outcome.shown.len() == expected
        && hashes.len() == expected
        && hashes.iter().all(|hash| judge.traces.contains_key(hash));
    (!is_right).then(|| {
        let n = outcome.shown.len();
        format!("{}: {n} shown of {n_shown}, {} traces", name(&options), judge.traces.len())
    })
}

fn check(shape: &Shape) {
    let all: Vec<Options> = all_options().into_iter().chain(best_first_options()).collect();
    let n = for_random_programs(shape, seeds(0..200), 500, |script, judge| {
        let of = |n_shown| all.iter().find_map(|it| wrong(script, judge, it, n_shown));
        of(1).or_else(|| of(3)).or_else(|| of(1_000))
    });
    assert!(n > share(60), "only {n} programs were small enough");
}

#[test]
fn each_is_of_another_trace() {
    check(&Shape::variables());
    check(&Shape::everything());
}

/// Workers, a ladder, sleep sets and the reduction change nothing about what is shown.
#[test]
fn they_are_the_same_however_the_search_is_done() {
    let program = script("x=1; y=1; r=x | y=2; x=2 | r=x; x=r+1");
    let shown = |mut options: Options| {
        options.n_shown = 4;
        printed(&run(&program, options).shown)
    };
    let alone = shown(Options::new());
    assert_eq!(alone.len(), 4);
    for mut options in all_options() {
        assert_eq!(shown(options.clone()), alone, "{}", name(&options));
        options.jobs = 3;
        assert_eq!(shown(options.clone()), alone, "{}", name(&options));
    }
    let mut climbing = Options::new();
    climbing.ladder = true;
    assert_eq!(shown(climbing), alone);
}

/// Within a bound, executions are those within it, and a search that raises its bound shows the
/// executions of its last round once.
#[test]
fn bounds_say_which_executions_there_are() {
    let program = script("x=1; r=x | x=2; r=x");
    let shown = |mut options: Options| {
        options.n_shown = 100;
        let outcome = run(&program, options);
        let hashes: BTreeSet<u64> =
            outcome.shown.iter().map(|it| Trace::of(&it.execution).hash()).collect();
        assert_eq!(hashes.len(), outcome.shown.len(), "no trace is there twice");
        hashes
    };
    let all = shown(Options::new());
    let bounded =
        |limit: u32| Options::new().reduction(Reduction::Dpor).bound(BoundKind::Preemption, limit);
    let few = shown(bounded(0));
    assert!(few.len() < all.len() && few.is_subset(&all), "{} of {}", few.len(), all.len());
    assert_eq!(shown(bounded(0).iterate(true)), all);
}

#[test]
fn a_search_that_was_stopped_shows_what_it_would_have_begun_with() {
    let program = script("x=1; r=x | x=2; r=x | x=3");
    let shown = |max: Option<u64>, time: Option<u64>| {
        let mut options = Options::new();
        options.n_shown = 3;
        options.max_executions = max;
        options.time_limit = time.map(std::time::Duration::from_secs);
        run(&program, options)
    };
    let whole = shown(None, None);
    let stopped = shown(Some(2), None);
    assert!(matches!(stopped.verdict, Verdict::Inconclusive(_)));
    assert_eq!(printed(&stopped.shown), printed(&whole.shown));
    assert_eq!(whole.shown.len(), 3);
    let out_of_time = shown(None, Some(0));
    assert!(out_of_time.shown.is_empty(), "there is no time left");
}

/// Executions that are drawn at random are shown once each.
#[test]
fn of_a_sample() {
    let program = script("x=1 | x=2");
    let mut options = Options::new();
    options.sample = Some(Sampling::by(SampleMethod::Pos));
    options.max_executions = Some(64);
    options.n_shown = 10;
    assert_eq!(run(&program, options).shown.len(), 2);
}

/// Under a memory model each execution graph is shown once, with what reads have read.
#[test]
fn of_a_memory_model() {
    let program = script("x=1; r=y | y=1; r=x");
    let mut options = Options::new().memory(MemoryModel::Tso);
    options.n_shown = 10;
    let outcome = run(&program, options);
    assert_eq!(outcome.shown.len() as u64, outcome.statistics.executions);
    assert_eq!(outcome.shown.len(), 3, "sequentially consistent stores are not buffered");
    for it in &outcome.shown {
        let objects: Vec<_> =
            it.execution.steps.iter().map(|step| step.operation.object()).collect();
        for (at, source) in it.sources.iter().enumerate() {
            let source = source.expect("all of them access memory");
            let is_store = it.story[at].operation == "store";
            assert_eq!(source.wrote, is_store);
            let read = source.step.checked_sub(1).map(|from| (objects[from], it.sources[from]));
            assert!(read.is_none_or(|(object, from)| {
                object == objects[at] && from.is_some_and(|from| from.wrote)
            }));
        }
    }
    let different: BTreeSet<String> = printed(&outcome.shown).into_iter().collect();
    assert_eq!(different.len(), outcome.shown.len());
}
