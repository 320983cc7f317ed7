//! The ladder: the same verdicts as one search, at hardly more cost, and a claim when it is
//! stopped.

use mazurka_core::{Limit, Operation, Verdict};
use mazurka_explore::{Ended, Explorer, Options, Outcome};
use mazurka_script::Script;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// So many threads that each store to one variable so many times.
fn stores(threads: usize, times: usize) -> Script {
    let thread = vec!["x=tid"; times].join("; ");
    vec![thread; threads].join(" | ").parse().expect("it is a program")
}

fn ladder() -> Options {
    let mut options = Options::new();
    options.ladder = true;
    options
}

/// The outcome, and how many executions came to an end in all.
fn run(program: &Script, options: Options) -> (Outcome, u64) {
    let executions = AtomicU64::new(0);
    let observe = |_: Ended<'_, Script>| {
        executions.fetch_add(1, Ordering::Relaxed);
    };
    let outcome = Explorer::new(options).observe(&observe).run(|| program.clone());
    (outcome.expect("the options go together"), executions.into_inner())
}

#[test]
fn a_search_that_ends_soon_has_no_rungs_and_costs_the_same() {
    let program = stores(3, 2);
    let (alone, n_alone) = run(&program, Options::new());
    let (outcome, n_executions) = run(&program, ladder());
    assert_eq!(outcome.verdict, alone.verdict);
    assert_eq!((outcome.statistics.executions, n_executions), (90, n_alone));
    assert!(outcome.rungs.is_empty());
}

#[test]
fn a_search_that_ends_later_counts_every_trace_once_and_rungs_take_a_fifth() {
    // 34,650 traces; within 2 preemptions fewer.
    let program = stores(3, 4);
    let (alone, n_alone) = run(&program, Options::new());
    let (outcome, n_executions) = run(&program, ladder());
    assert_eq!(outcome.verdict, alone.verdict);
    assert_eq!(outcome.statistics.executions, 34_650);
    let rungs: Vec<u32> = outcome.rungs.iter().map(|rung| rung.preemptions).collect();
    assert_eq!(rungs, [0, 1, 2]);
    assert!(n_executions <= n_alone + n_alone / 5, "{n_executions} against {n_alone}");
}

#[test]
fn a_search_that_is_stopped_has_proved_its_highest_rung() {
    let program = stores(4, 4);
    let mut options = ladder();
    options.max_executions = Some(30_000);
    let (outcome, _) = run(&program, options);
    assert!(matches!(outcome.verdict, Verdict::Inconclusive(_)), "{:?}", outcome.verdict);
    let rung = outcome.rungs.last().expect("some rung has ended");
    let bounded = Options::new()
        .reduction(mazurka_explore::Reduction::Dpor)
        .bound(mazurka_explore::BoundKind::Preemption, rung.preemptions);
    let (bounded, _) = run(&program, bounded);
    let Verdict::Holds(coverage) = bounded.verdict else { panic!("{:?}", bounded.verdict) };
    assert_eq!(outcome.proved, Some(coverage));
    assert_eq!(rung.executions, bounded.statistics.executions);
}

/// Where executions take long, the rungs do not wait for a thousand of them.
#[test]
fn a_search_of_long_executions_has_rungs_and_a_sample() {
    // 34,650 traces, of which 6 have no preemption.
    let program = stores(3, 4);
    let mut options = ladder();
    options.time_limit = Some(Duration::from_secs(3));
    let observe = |_: Ended<'_, Script>| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(10) {
            std::hint::spin_loop();
        }
    };
    let outcome = Explorer::new(options).observe(&observe).run(|| program.clone());
    let outcome = outcome.expect("the options go together");
    assert!(matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_))));
    assert!(outcome.statistics.executions < 1_000, "{}", outcome.statistics.executions);
    let rung = outcome.rungs.first().expect("one has ended");
    assert_eq!((rung.preemptions, rung.executions), (0, 6));
    assert!(outcome.proved.is_some());
    assert!(outcome.sample.is_some() || outcome.rungs.len() == 3, "{:?}", outcome.rungs);
}

/// The violation that is shown needs as few preemptions as any.
#[test]
fn the_first_violation_has_the_fewest_preemptions() {
    let hidden = "r=x; x=r+1; r=x; x=r+1 | r=x; x=r+1; r=x; x=r+1 \
                  | await(x==2); y=1; y=2; y=3 | y=4; y=5; y=6; r=y; assert(r==6)";
    for text in [hidden, "x=1; assert(1==1); x=2 | r=x; if r==1 { assert(0==1) }"] {
        let program: Script = text.parse().expect("it is a program");
        let found = |options: Options| match run(&program, options).0.verdict {
            Verdict::Violated(found) => found,
            verdict => panic!("{text}: {verdict:?}"),
        };
        let climbed = found(ladder());
        let least = (0..).find(|&limit| {
            let options = Options::new()
                .reduction(mazurka_explore::Reduction::Dpor)
                .bound(mazurka_explore::BoundKind::Preemption, limit);
            matches!(run(&program, options).0.verdict, Verdict::Violated(_))
        });
        assert_eq!(Some(preemptions(&program, &climbed.schedule)), least, "{text}");
    }
}

/// How often a thread was left that could have gone on.
fn preemptions(program: &Script, schedule: &mazurka_core::Schedule) -> u32 {
    use mazurka_core::{Next, System as _};
    let mut system = program.clone();
    system.reset();
    let (mut last, mut count) = (None, 0);
    for &decision in schedule.decisions() {
        if let Some(before) = last.filter(|&before| before != decision.thread) {
            let could = matches!(system.next(before), Next::Enabled { .. });
            count += u32::from(could);
        }
        let is_yield = system.next(decision.thread).operation() == Some(Operation::Yield);
        last = (!is_yield).then_some(decision.thread);
        let _ = system.step(decision);
    }
    count
}

/// A bound that cuts nothing has proved everything; then the whole search need not end.
#[test]
fn verdicts_of_random_programs_do_not_depend_on_the_ladder() {
    for seed in mazurka_effort::seeds(0..400) {
        let program = mazurka_script::generate(seed, &mazurka_script::Shape::everything());
        let (alone, _) = run(&program, Options::new());
        let (outcome, _) = run(&program, ladder());
        match (&alone.verdict, &outcome.verdict) {
            (Verdict::Violated(_), Verdict::Violated(_)) => {}
            (one, other) => assert_eq!(one, other, "seed {seed}: {program}"),
        }
    }
}
