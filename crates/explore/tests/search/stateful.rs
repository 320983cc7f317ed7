//! Searches that store states reach every terminal state and every violation, and come to an end
//! where executions do not.

use crate::support::boxed::search;
use crate::support::programs::CYCLIC;
use crate::support::{explore, for_random_programs, name, script};
use expect_test::{Expect, expect};
use mazurka_core::{Limit, Next, System, ThreadId, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{ExploreError, Explorer, Options, Outcome, Reduction};
use mazurka_script::{Script, Shape, shrink};
use std::collections::{BTreeSet, VecDeque};

/// The reductions that states can be stored beside, with sleep sets and without.
fn all_stateful() -> Vec<Options> {
    let mut all = Vec::new();
    for reduction in [Reduction::None, Reduction::Persistent, Reduction::Transactions] {
        for sleep in [false, true] {
            all.push(Options::new().reduction(reduction).sleep(sleep).stateful(true));
        }
    }
    all
}

fn check_shape(shape: &Shape, n_seeds: u64) {
    let all = all_stateful();
    let n = for_random_programs(shape, seeds(0..n_seeds), 2_000, |script, judge| {
        all.iter().find_map(|options| {
            let (visits, outcome) = explore(script, options.clone());
            let what = if visits.terminal_states() != judge.terminal_states() {
                let (found, all) = (visits.terminal_states().len(), judge.terminal_states().len());
                Some(format!("{found} of {all} terminal states"))
            } else {
                let is_violated = outcome.verdict.name() == "violated";
                (is_violated != judge.is_violated()).then(|| outcome.verdict.name().to_owned())
            };
            // Where to stop must not change what is found.
            let what = what.or_else(|| {
                let stopped = run(script, options.clone());
                (stopped.verdict.name() != outcome.verdict.name())
                    .then(|| format!("{}, if it stops at the first", stopped.verdict.name()))
            });
            what.map(|what| format!("{}: {what}", name(options)))
        })
    });
    assert!(n > share(n_seeds as usize / 2), "only {n} programs were small enough");
}

fn run(script: &Script, options: Options) -> Outcome {
    Explorer::new(options).run(|| script.clone()).expect("it is a program")
}

#[test]
fn on_variables() {
    check_shape(&Shape::variables(), 1_500);
}

#[test]
fn on_locks() {
    check_shape(&Shape::locks(), 1_500);
}

#[test]
fn on_everything() {
    check_shape(&Shape::everything(), 3_000);
}

#[test]
fn a_violation_before_a_state_that_is_known_is_not_lost() {
    // The thread that failed has ended, as if it had not failed: the state is an old one.
    let script = script("if x==1 { assert(tid == 5) } | x=1; x=0");
    for options in all_stateful() {
        for stop in [false, true] {
            let outcome = run(&script, options.clone().stop_at_first(stop));
            assert_eq!(outcome.verdict.name(), "violated", "{}", name(&options));
        }
    }
}

/// The states of a program, and whether one of its steps goes wrong: breadth first, by hand.
fn reachable(script: &Script) -> (BTreeSet<Vec<i64>>, bool) {
    let mut script = script.clone();
    script.reset();
    let mut states = BTreeSet::from([script.state()]);
    let mut queue = VecDeque::from([script]);
    let mut is_violated = false;
    while let Some(script) = queue.pop_front() {
        for idx in 0..script.n_threads() {
            let thread = ThreadId::new(idx);
            let Next::Enabled { choices, .. } = script.next(thread) else { continue };
            for choice in 0..choices {
                let mut next = script.clone();
                is_violated |= next.step(mazurka_core::Decision { thread, choice }).is_err();
                if states.insert(next.state()) {
                    queue.push_back(next);
                }
            }
        }
    }
    (states, is_violated)
}

#[test]
fn programs_that_go_round_in_circles_come_to_an_end() {
    for (text, is_wrong) in CYCLIC {
        let script = script(text);
        let (states, is_violated) = reachable(&script);
        assert_eq!(is_violated, is_wrong, "{text}");
        for options in all_stateful() {
            for stop in [false, true] {
                let outcome = run(&script, options.clone().stop_at_first(stop));
                let expected = if is_wrong { "violated" } else { "holds" };
                assert_eq!(outcome.verdict.name(), expected, "{}: {text}", name(&options));
                let n_states = outcome.statistics.states as usize;
                assert!(
                    n_states <= states.len(),
                    "{}: {n_states} states of {text}",
                    name(&options)
                );
            }
        }
    }
}

#[test]
fn random_loops_hide_nothing() {
    let mut n_violated = 0;
    for seed in seeds(0..3_000) {
        let script = loops(seed);
        let wrong = |script: &Script| {
            let (_, is_violated) = reachable(script);
            all_stateful().into_iter().find_map(|mut options| {
                options.deadlock = false;
                let outcome = run(script, options.clone());
                let is_wrong = (outcome.verdict.name() == "violated") != is_violated;
                is_wrong.then(|| format!("{}: {}", name(&options), outcome.verdict.name()))
            })
        };
        n_violated += usize::from(reachable(&script).1);
        if let Some(what) = wrong(&script) {
            let small = shrink(&script, |smaller| wrong(smaller).is_some());
            panic!("seed {seed}: {what}\n  {script}\nshrunk: {:?}\n  {small}", wrong(&small));
        }
    }
    assert!(n_violated > share(500), "only {n_violated} programs are wrong");
}

/// A program with finitely many states of which some threads may go round in circles.
fn loops(mut seed: u64) -> Script {
    let mut below = |end: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % end
    };
    for _ in 0..3 {
        below(2);
    }
    let mut threads = Vec::new();
    for _ in 0..2 + below(2) {
        let mut body = Vec::new();
        for _ in 0..1 + below(3) {
            let (x, bit) = (["x", "y", "z"][below(3)], below(2));
            body.push(match below(7) {
                0 | 1 => format!("{x}={bit}"),
                2 => format!("r={x}"),
                3 => format!("await({x} == {bit})"),
                4 => "yield".to_owned(),
                5 => format!("acq(0); {x}={bit}; rel(0)"),
                _ => format!("if {x} == {bit} {{ {}={} }}", ["x", "y", "z"][below(3)], below(2)),
            });
        }
        let mut thread = body.join("; ");
        if below(100) < 60 {
            thread =
                format!("while {} == {} {{ {thread} }}", ["x", "y", "z", "w"][below(4)], below(2));
        }
        if below(3) == 0 {
            thread =
                format!("{thread}; r={}; assert(r == {})", ["x", "y", "z"][below(3)], below(2));
        }
        threads.push(thread);
    }
    script(&threads.join(" | "))
}

#[test]
fn every_state_is_stored_where_nothing_is_left_out() {
    for (text, _) in CYCLIC {
        let script = script(text);
        let (states, _) = reachable(&script);
        let plain = Options::new().reduction(Reduction::None).sleep(false).stateful(true);
        let outcome = run(&script, plain.stop_at_first(false));
        // A state in which no thread can move is an end, and is not stored.
        let n_ends = states.len() - outcome.statistics.states as usize;
        let bound = outcome.statistics.executions as usize;
        assert!(n_ends <= bound, "{text}: {n_ends} states are missing, {bound} executions ended");
    }
}

fn check_errors(options: Options, expect: Expect) {
    let script = script("x=1 | x=2");
    let error = Explorer::new(options).run(|| script.clone()).expect_err("they do not go together");
    expect.assert_eq(&error.to_string());
}

#[test]
fn what_does_not_go_together_is_said() {
    for (reduction, expect) in [
        (
            Reduction::Dpor,
            expect![
                "`stateful` cannot be combined with `--reduction dpor`: a stored state hides the races behind it (POPL 2005, section 5); use `none`, `persistent` or `transactions`"
            ],
        ),
        (
            Reduction::Source,
            expect![
                "`stateful` cannot be combined with `--reduction source`: a stored state hides the races behind it (POPL 2005, section 5); use `none`, `persistent` or `transactions`"
            ],
        ),
        (
            Reduction::Monotonic,
            expect![
                "`stateful` cannot be combined with `--reduction monotonic`: which steps are taken from a state depends on the steps that led to it; use `none`, `persistent` or `transactions`"
            ],
        ),
        (
            Reduction::Optimal,
            expect![
                "`stateful` cannot be combined with `--reduction optimal`: a stored state hides the races behind it (POPL 2005, section 5); use `none`, `persistent` or `transactions`"
            ],
        ),
    ] {
        check_errors(Options::new().reduction(reduction).stateful(true), expect);
    }
    let full = Options::new().reduction(Reduction::None).stateful(true);
    check_errors(
        full.clone().jobs(2),
        expect!["`stateful` cannot be combined with `--jobs 2`; use one job"],
    );
    // All that is wrong is said at once.
    check_errors(
        Options::new().stateful(true).jobs(2).max_depth(0),
        expect![
            "`stateful` cannot be combined with `--reduction optimal`: a stored state hides the races behind it (POPL 2005, section 5); use `none`, `persistent` or `transactions`; `stateful` cannot be combined with `--jobs 2`; use one job; a depth limit of 0 would search nothing; use at least 1"
        ],
    );
    check_errors(
        Options::new().jobs(0),
        expect!["`--jobs 0` would search nothing; use at least 1"],
    );
    check_errors(
        Options::new().jobs(1_000_000),
        expect!["`--jobs 1000000` is too many; use at most 1024"],
    );
    check_errors(
        Options::new().max_depth(0),
        expect!["a depth limit of 0 would search nothing; use at least 1"],
    );
}

/// A program that does not tell its state.
struct Silent(Script);

impl System for Silent {
    fn reset(&mut self) {
        self.0.reset();
    }

    fn n_threads(&self) -> usize {
        self.0.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        self.0.next(thread)
    }

    fn step(
        &mut self,
        decision: mazurka_core::Decision,
    ) -> Result<mazurka_core::Effect, mazurka_core::Failure> {
        self.0.step(decision)
    }
}

#[test]
fn a_program_that_does_not_tell_its_state_is_refused() {
    let options = Options::new().reduction(Reduction::None).stateful(true);
    let error: ExploreError =
        search(options, || Silent(script("x=1"))).expect_err("it cannot be stored");
    expect!["`stateful` needs a program that can hash its state, and this one cannot"]
        .assert_eq(&error.to_string());
    // Without foresight, persistent sets are all that is enabled.
    let options = Options::new().reduction(Reduction::Persistent).sleep(false);
    let outcome = search(options, || Silent(script("x=1 | y=1"))).expect("it can be run");
    assert_eq!(outcome.statistics.executions, 2);
}

#[test]
fn what_it_covers() {
    let shown = |options: Options| match run(&script("x=1 | x=2"), options).verdict {
        Verdict::Holds(coverage) => coverage.to_string(),
        other => panic!("{other:?}"),
    };
    let full = Options::new().reduction(Reduction::None).stateful(true);
    expect!["no assertion failure or deadlock in any execution, assuming no two states have the same hash of 128 bits (they do with a probability of 1.3e-38)"].assert_eq(&shown(full.clone()));
    let mut little = full;
    little.deadlock = false;
    expect!["no assertion failure in any execution, assuming no two states have the same hash of 128 bits (they do with a probability of 1.3e-38)"].assert_eq(&shown(little));
}

#[test]
fn a_limit_is_no_proof() {
    let (text, _) = CYCLIC[8];
    let mut options = Options::new().reduction(Reduction::None).stateful(true).max_depth(3);
    options.livelock = false;
    let outcome = run(&script(text), options);
    assert_eq!(outcome.verdict, Verdict::Inconclusive(Limit::Depth(3)));
}
