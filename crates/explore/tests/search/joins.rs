//! Joins that are no steps of their own: every search reaches what enumeration reaches, and finds
//! the data races and violations that it finds where they are steps.

use crate::support::bounded::{reach, ways};
use crate::support::{all_options, best_first_options, disagreement, enumerate, name, script};
use mazurka_core::{System, ThreadId};
use mazurka_effort::{seeds, share};
use mazurka_explore::{BoundKind, Explorer, Options, Reduction};
use mazurka_script::{Script, Shape, generate, shrink};

/// Small programs in which threads start and join others.
fn threads() -> Shape {
    Shape { spawn_join: true, yields: true, ..Shape::locks() }
}

/// Complains of the first of these programs with a join with which something is wrong, and of the
/// smallest like it. How many there were.
fn check(
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    wrong: impl Fn(&Script) -> Option<String>,
) -> usize {
    let wrong = |script: &Script| wrong(&script.clone().joining_at_once());
    let mut n_checked = 0;
    for seed in seeds {
        let program = generate(seed, shape);
        if !program.to_string().contains("join") {
            continue;
        }
        n_checked += 1;
        if let Some(what) = wrong(&program) {
            let small = shrink(&program, |smaller| wrong(smaller).is_some());
            panic!("seed {seed}: {what}\n  {program}\nshrunk: {:?}\n  {small}", wrong(&small));
        }
    }
    n_checked
}

#[test]
fn every_reduction_on_random_programs() {
    let all = [all_options(), best_first_options()].concat();
    for shape in [threads(), Shape::everything()] {
        let n = check(&shape, seeds(0..1_500), |script| {
            let judge = enumerate(script, 200).filter(|judge| !judge.misuses_locks())?;
            all.iter().find_map(|options| disagreement(script, &judge, options))
        });
        assert!(n > share(100), "only {n} programs have a join");
    }
}

#[test]
fn every_bound_on_random_programs() {
    for shape in [threads(), Shape::everything()] {
        let n = check(&shape, seeds(0..1_200), |script| {
            let reach = reach(script, None, 100).filter(|reach| !reach.misuses)?;
            if reach.unstable.is_some() || reach.not_extensible.is_some() || reach.more_local {
                return Some("a bound is not what it is to be".to_owned());
            }
            let subset = reach.executions as u64;
            let kinds = BoundKind::ALL.into_iter().filter(|&kind| kind != BoundKind::Fair);
            let mut ways = kinds.flat_map(|kind| ways(kind, subset));
            ways.find_map(|way| way.wrong(script, &reach))
        });
        assert!(n > share(100), "only {n} programs have a join");
    }
}

/// As steps or not, joins lead to the same races and violations.
#[test]
fn verdicts_are_those_of_joins_that_are_steps() {
    let plain = Shape { plain: true, spawn_join: true, max_total: 7, ..Shape::variables() };
    let n = check(&plain, seeds(0..3_000), |at_once| {
        let as_steps = script(&at_once.to_string());
        let verdict = |program: &Script, options: &Options| {
            let outcome = Explorer::new(options.clone()).run(|| program.clone());
            outcome.map_or_else(|error| error.to_string(), |it| it.verdict.name().to_owned())
        };
        all_options().into_iter().find_map(|options| {
            let [one, other] = [&as_steps, at_once].map(|program| verdict(program, &options));
            (one != other).then(|| format!("{}: {one} or {other}", name(&options)))
        })
    });
    assert!(n > share(100), "only {n} programs have a join");
}

/// Three threads that share nothing, and one that waits for them.
#[test]
fn a_join_is_no_step() {
    let program = "join(1); join(2); join(3); x=1 | a=1 | b=1 | c=1; c=2";
    let program = script(program).joining_at_once();
    for reduction in Reduction::ALL {
        let outcome = Explorer::new(Options::new().reduction(reduction)).run(|| program.clone());
        let statistics = outcome.expect("it can be explored").statistics;
        assert_eq!(statistics.max_depth, 5, "{reduction}");
    }
    let mut program = program;
    program.reset();
    for thread in [3, 3, 2, 1] {
        assert_eq!(program.parts(), []);
        program.step(mazurka_core::Decision::of(ThreadId::new(thread))).expect("nothing is wrong");
    }
    let joined: Vec<_> = program.parts().iter().map(|part| (part.thread, part.joined)).collect();
    let main = ThreadId::new(0);
    assert_eq!(joined, [1, 2, 3].map(|ended| (main, Some(ThreadId::new(ended)))));
}
