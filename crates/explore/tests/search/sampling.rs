//! Random executions: the measured frequencies against what each method states.
//!
//! Frequencies are drawn from fixed seeds, and compared with four standard deviations to spare: a
//! method that is right fails by chance once in thousands of seeds, and then always for that seed.

use mazurka_core::{Decision, SampleMethod, Schedule, ThreadId, Verdict};
use mazurka_explore::{Ended, Explorer, OptionError, Options, Outcome, Reduction, Sampling};
use mazurka_script::Script;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Threads of so many steps each, on one object.
fn straight(lengths: &[usize]) -> Script {
    let thread = |&n: &usize| vec!["x=1"; n].join("; ");
    let text: Vec<String> = lengths.iter().map(thread).collect();
    text.join(" | ").parse().expect("it is a program")
}

fn options(sampling: Sampling, seed: u64, executions: u64) -> Options {
    let mut options = Options::new();
    options.sample = Some(sampling);
    options.seed = seed;
    options.max_executions = Some(executions);
    options
}

/// How often each schedule was drawn.
fn draw(program: &Script, options: Options) -> (Outcome, BTreeMap<Vec<usize>, u64>) {
    let drawn = Mutex::new(BTreeMap::new());
    let observe = |ended: Ended<'_, Script>| {
        let threads = ended.schedule.decisions().iter().map(|it| it.thread.index()).collect();
        *drawn.lock().expect("nothing panics with it").entry(threads).or_default() += 1;
    };
    let outcome = Explorer::new(options).observe(&observe).run(|| program.clone());
    let drawn = drawn.into_inner().expect("nothing panics with it");
    (outcome.expect("the options go together"), drawn)
}

/// Whether a frequency is what is expected, up to four standard deviations.
fn deviates(count: u64, executions: u64, probability: f64) -> bool {
    let expected = executions as f64 * probability;
    let deviation = (executions as f64 * probability * (1.0 - probability)).sqrt();
    (count as f64 - expected).abs() > 4.0 * deviation + 1.0
}

/// The place of the n-th step of a thread in an execution.
fn place(schedule: &[usize], (thread, nth): (usize, usize)) -> usize {
    let steps = (0..schedule.len()).filter(|&idx| schedule[idx] == thread);
    steps.clone().nth(nth).expect("the thread has so many steps")
}

/// PCT's theorem: whichever d ordering constraints are asked for, an execution has them with
/// probability at least 1/(n·k^(d−1)).
#[test]
fn pct_meets_every_set_of_constraints_as_often_as_its_theorem_says() {
    const EXECUTIONS: u64 = 4_000;
    let mut n_sets = 0;
    for lengths in [&[3, 3][..], &[2, 2, 2], &[1, 3, 2], &[4, 2]] {
        let program = straight(lengths);
        let steps: Vec<(usize, usize)> =
            lengths.iter().enumerate().flat_map(|(t, &n)| (0..n).map(move |i| (t, i))).collect();
        let pairs = || {
            let steps = &steps;
            steps.iter().flat_map(move |&a| steps.iter().map(move |&b| (a, b)))
        };
        let pairs: Vec<_> = pairs().filter(|(a, b)| a.0 != b.0).collect();
        for depth in 1..=3u32 {
            let sampling = Sampling { method: SampleMethod::Pct, depth };
            let (outcome, drawn) = draw(&program, options(sampling, 7, EXECUTIONS));
            let sample = outcome.sample.expect("executions were drawn");
            let guarantee = sample.guarantee.expect("the theorem applies");
            assert!(guarantee.steps as usize >= steps.len(), "{guarantee:?}");
            assert_eq!(guarantee.threads as usize, lengths.len());
            // All sets of one and two constraints, and some of three.
            let sets: Vec<Vec<_>> = match depth {
                1 => pairs.iter().map(|&pair| vec![pair]).collect(),
                2 => pairs.iter().flat_map(|&a| pairs.iter().map(move |&b| vec![a, b])).collect(),
                _ => (0..200)
                    .map(|i| [7, 11, 13].map(|step| pairs[i * step % pairs.len()]).to_vec())
                    .collect(),
            };
            for set in sets {
                let meets = |schedule: &[usize]| {
                    set.iter().all(|&(a, b)| place(schedule, a) < place(schedule, b))
                };
                let all = draw_all(&program);
                if !all.iter().any(|schedule| meets(schedule)) {
                    continue;
                }
                n_sets += 1;
                let count: u64 =
                    drawn.iter().filter(|(schedule, _)| meets(schedule)).map(|(_, n)| n).sum();
                let hit = guarantee.hit();
                let least =
                    EXECUTIONS as f64 * hit - 4.0 * (EXECUTIONS as f64 * hit * (1.0 - hit)).sqrt();
                assert!(count as f64 >= least, "{program} {set:?}: {count} < {least}");
            }
        }
    }
    assert!(n_sets > 1_000, "{n_sets}");
}

/// All interleavings.
fn draw_all(program: &Script) -> Vec<Vec<usize>> {
    let options = Options::new().reduction(Reduction::None).sleep(false);
    let (outcome, all) = draw(program, options);
    assert!(matches!(outcome.verdict, Verdict::Holds(_)));
    all.into_keys().collect()
}

/// A random walk draws a schedule with the product of 1/(threads that can move).
#[test]
fn a_walk_draws_each_schedule_as_often_as_its_steps_say() {
    const EXECUTIONS: u64 = 20_000;
    for text in ["x=1; x=2 | r=x | x=3", "acq(0); x=1; rel(0) | acq(0); r=x; rel(0)"] {
        let program: Script = text.parse().expect("it is a program");
        let sampling = Sampling::by(SampleMethod::Walk);
        let (outcome, drawn) = draw(&program, options(sampling, 3, EXECUTIONS));
        assert_eq!(outcome.sample.expect("executions were drawn").guarantee, None);
        for schedule in draw_all(&program) {
            let probability = probability_of_walk(&program, &schedule);
            let count = drawn.get(&schedule).copied().unwrap_or(0);
            assert!(!deviates(count, EXECUTIONS, probability), "{schedule:?}: {count}");
        }
    }
}

fn probability_of_walk(program: &Script, schedule: &[usize]) -> f64 {
    use mazurka_core::{Next, System as _};
    let mut system = program.clone();
    system.reset();
    let mut probability = 1.0;
    for &thread in schedule {
        let threads = (0..system.n_threads()).map(ThreadId::new);
        let can_move = |&it: &ThreadId| matches!(system.next(it), Next::Enabled { .. });
        probability /= threads.filter(can_move).count() as f64;
        system.step(Decision::of(ThreadId::new(thread))).expect("nothing goes wrong");
    }
    probability
}

/// SURW draws all orders of the steps on one object equally often: here, all interleavings.
#[test]
fn surw_draws_all_orders_of_one_object_equally_often() {
    const EXECUTIONS: u64 = 20_000;
    for lengths in [&[1, 4][..], &[3, 2], &[1, 2, 3], &[5, 1]] {
        let program = straight(lengths);
        let sampling = Sampling::by(SampleMethod::Surw);
        let (_, drawn) = draw(&program, options(sampling, 5, EXECUTIONS));
        let all = draw_all(&program);
        for schedule in &all {
            let count = drawn.get(schedule).copied().unwrap_or(0);
            let is_off = deviates(count, EXECUTIONS, 1.0 / all.len() as f64);
            assert!(!is_off, "{program} {schedule:?}: {count} of {}", all.len());
        }
    }
}

/// Steps on other objects do not change how the orders of the chosen one are distributed.
#[test]
fn surw_is_uniform_beside_steps_that_it_has_not_selected() {
    const EXECUTIONS: u64 = 20_000;
    let program: Script = "y=1; y=1; y=1; x=1 | x=1; x=1; z=1".parse().expect("it is a program");
    let sampling = Sampling::by(SampleMethod::Surw);
    let drawn = draw(&program, options(sampling, 5, EXECUTIONS)).1;
    let mut orders: BTreeMap<usize, u64> = BTreeMap::new();
    for (schedule, count) in drawn {
        let own = place(&schedule, (0, 3));
        let before = (0..2).filter(|&nth| place(&schedule, (1, nth)) < own).count();
        *orders.entry(before).or_default() += count;
    }
    assert_eq!(orders.len(), 3);
    // The first execution has no profile, so its order is that of a walk.
    assert!(orders.values().all(|&count| !deviates(count, EXECUTIONS, 1.0 / 3.0)), "{orders:?}");
}

/// Every method draws every trace of small programs with all kinds of operations sooner or later.
#[test]
fn every_method_draws_every_trace() {
    let programs = [
        "x=1; r=y | y=1; r=x",
        "acq(0); x=1; rel(0) | acq(0); x=2; rel(0) | acq(0); r=x; rel(0)",
        "r=choose(3); x=r | r=x",
        "spawn(1); x=1; join(1) | x=2; r=x",
        "down(0); x=1 | up(0); r=x",
    ];
    for text in programs {
        let program: Script = text.parse().expect("it is a program");
        let traces = |options: Options| {
            let traces = Mutex::new(BTreeMap::new());
            let observe = |ended: Ended<'_, Script>| {
                let hash = ended.order.trace_hash();
                *traces.lock().expect("nothing panics with it").entry(hash).or_insert(0) += 1;
            };
            Explorer::new(options).observe(&observe).run(|| program.clone()).expect("it runs");
            traces.into_inner().expect("nothing panics with it")
        };
        let all = traces(Options::new());
        for method in SampleMethod::ALL {
            let sampling = Sampling { method, depth: 3 };
            let drawn = traces(options(sampling, 11, 3_000));
            let missing = all.keys().filter(|trace| !drawn.contains_key(trace)).count();
            assert_eq!(missing, 0, "{method} on {text}: {missing} of {} traces", all.len());
            assert!(drawn.keys().all(|trace| all.contains_key(trace)), "{method} on {text}");
        }
    }
}

/// A bug is found, replayed, and the same for the same seed; several workers count together.
#[test]
fn a_bug_is_found_by_every_method_and_again_by_its_seed() {
    let text = "r=x; x=r+1; done=done+0 | r=x; x=r+1 | await(x==1); r=x; assert(r==2)";
    let text = text.replace("; done=done+0", "");
    let program: Script = text.parse().expect("it is a program");
    for method in SampleMethod::ALL {
        let found = |jobs: usize| {
            let options = options(Sampling::by(method), 1, 10_000).jobs(jobs);
            let outcome = Explorer::new(options).run(|| program.clone()).expect("it runs");
            let Verdict::Violated(found) = outcome.verdict else {
                panic!("{method} has not found it: {:?}", outcome.verdict)
            };
            found.schedule
        };
        let schedule: Schedule = found(1);
        assert_eq!(schedule, found(1), "{method}");
        found(2);
    }
}

/// Without a bug the verdict is inconclusive, never a proof.
#[test]
fn a_sample_is_no_proof_and_says_what_it_is_worth() {
    let program = straight(&[2, 2]);
    for jobs in [1, 2] {
        let options = options(Sampling::by(SampleMethod::Pct), 0, 1_000).jobs(jobs);
        let outcome = Explorer::new(options).run(|| program.clone()).expect("it runs");
        assert!(matches!(outcome.verdict, Verdict::Inconclusive(_)), "{:?}", outcome.verdict);
        let sample = outcome.sample.expect("executions were drawn");
        assert!(sample.executions >= 1_000, "{sample:?}");
        let guarantee = sample.guarantee.expect("the theorem applies");
        assert_eq!((guarantee.depth, guarantee.threads, guarantee.steps), (2, 2, 4));
        assert!(guarantee.miss() < 1e-9 && guarantee.executions <= sample.executions);
        assert!(outcome.saved.is_none());
    }
}

/// Where threads yield or steps have alternatives, the theorem of PCT says nothing.
#[test]
fn pct_states_nothing_where_its_theorem_does_not_apply() {
    for text in ["yield; x=1 | r=x", "r=choose(2); x=r | r=x"] {
        let program: Script = text.parse().expect("it is a program");
        let sampling = Sampling::by(SampleMethod::Pct);
        let outcome = draw(&program, options(sampling, 0, 500)).0;
        assert_eq!(outcome.sample.expect("executions were drawn").guarantee, None, "{text}");
    }
}

#[test]
fn samplings_have_names_and_what_does_not_go_with_them_is_refused() {
    for (text, shown) in [("pct", "pct:2"), ("pct:4", "pct:4"), ("pos", "pos"), ("surw", "surw")] {
        let sampling: Sampling = text.parse().expect("it is one");
        assert_eq!(sampling.to_string(), shown);
        assert_eq!(shown.parse(), Ok(sampling));
    }
    for text in ["", "pct:", "pct:0", "pct:101", "walk:2", "random"] {
        let error = text.parse::<Sampling>().expect_err(text);
        assert_eq!(error, OptionError::UnknownSampling(text.to_owned()));
    }
    let mut options = Options::new().bound(mazurka_explore::BoundKind::Preemption, 1);
    options.reduction = Reduction::Dpor;
    options.sample = Some(Sampling::by(SampleMethod::Pos));
    let wanted = [OptionError::SamplingWith("--bound"), OptionError::SamplingWithoutLimit];
    assert_eq!(options.errors(), wanted);
}
