//! Holds thousands of generated scripts to what every script promises.

use mazurka_core::{Decision, Next, Operation, Schedule, System, ThreadId};
use mazurka_effort::{seeds, share};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::BTreeMap;

/// Random numbers, from a seed that the failing assertion prints.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn shapes() -> [Shape; 4] {
    let plain = Shape { plain: true, ..Shape::everything() };
    [Shape::variables(), Shape::locks(), Shape::everything(), plain]
}

/// A shape whose scripts have long executions.
fn large() -> Shape {
    Shape { max_total: 60, max_per_thread: 30, ..Shape::everything() }
}

fn threads(script: &Script) -> impl Iterator<Item = ThreadId> + use<> {
    (0..script.n_threads()).map(ThreadId::new)
}

/// One of the decisions that are possible now.
fn any_decision(script: &Script, random: &mut Random) -> Option<Decision> {
    let possible: Vec<_> = threads(script)
        .filter_map(|thread| match script.next(thread) {
            Next::Enabled { choices, .. } => Some((thread, choices)),
            _ => None,
        })
        .collect();
    let (thread, choices) = *possible.get(random.below(possible.len().max(1)))?;
    Some(Decision { thread, choice: random.below(choices as usize) as u32 })
}

fn future(script: &Script, thread: ThreadId) -> Vec<Operation> {
    let mut operations = Vec::new();
    let foresight = script.foresight().expect("a script has foresight");
    foresight.future(thread, &mut |operation| operations.push(operation));
    operations
}

#[test]
fn rewinding_restores_every_earlier_state() {
    for seed in seeds(0..2_000) {
        let shape = if seed % 5 == 4 { large() } else { shapes()[seed as usize % 5].clone() };
        let mut script = generate(seed, &shape);
        let initial = script.state();
        let mut random = Random(seed);
        let mut schedule = Schedule::new();
        let mut states = vec![script.state()];
        let mut by_fingerprint: BTreeMap<u128, Vec<i64>> = BTreeMap::new();
        let mut by_state: BTreeMap<Vec<i64>, u128> = BTreeMap::new();
        for _ in 0..60 {
            let fingerprint = script.fingerprint().unwrap();
            let state = script.state();
            assert_eq!(
                *by_fingerprint.entry(fingerprint).or_insert(state.clone()),
                state,
                "{seed}"
            );
            assert_eq!(*by_state.entry(state).or_insert(fingerprint), fingerprint, "{seed}");
            match any_decision(&script, &mut random) {
                Some(decision) if random.below(6) > 0 => {
                    let _ = script.step(decision);
                    schedule.push(decision);
                    states.push(script.state());
                }
                _ => {
                    let depth = random.below(schedule.len() + 1);
                    script.rewind(&schedule, depth).unwrap();
                    schedule.truncate(depth);
                    states.truncate(depth + 1);
                    assert_eq!(script.n_steps(), depth);
                    assert_eq!(script.state(), states[depth], "{seed}: {script}");
                    let mut fresh = generate(seed, &shape);
                    fresh.rewind(&schedule, depth).unwrap();
                    assert_eq!(script.state(), fresh.state(), "{seed}: {script}");
                    assert_eq!(script.fingerprint(), fresh.fingerprint(), "{seed}: {script}");
                    for thread in threads(&script) {
                        assert_eq!(script.next(thread), fresh.next(thread), "{seed}: {script}");
                    }
                }
            }
        }
        script.rewind(&schedule, 0).unwrap();
        assert_eq!(script.state(), initial, "{seed}: {script}");
        script.reset();
        assert_eq!(script.state(), initial, "{seed}: {script}");
    }
}

#[test]
fn what_a_thread_does_was_foreseen_and_does_not_change_while_others_move() {
    for seed in seeds(0..2_000) {
        let shape = if seed % 5 == 4 { large() } else { shapes()[seed as usize % 5].clone() };
        let mut script = generate(seed, &shape);
        let mut random = Random(seed);
        let mut foreseen: Vec<Vec<Vec<Operation>>> = vec![Vec::new(); script.n_threads()];
        loop {
            for thread in threads(&script) {
                let future = future(&script, thread);
                if let Some(operation) = script.next(thread).operation() {
                    // A compare-and-swap is foreseen as what it is where it succeeds.
                    let operation = match operation {
                        Operation::Load(object) if script.compares(thread) => {
                            Operation::ReadModifyWrite(object)
                        }
                        operation => operation,
                    };
                    assert!(future.contains(&operation), "{seed}: {script}");
                    for earlier in &foreseen[thread.index()] {
                        assert!(earlier.contains(&operation), "{seed}: {script}");
                    }
                }
                foreseen[thread.index()].push(future);
            }
            let Some(decision) = any_decision(&script, &mut random) else { break };
            let before: Vec<_> = threads(&script).map(|thread| script.next(thread)).collect();
            let _ = script.step(decision);
            for thread in threads(&script).filter(|&thread| thread != decision.thread) {
                let before = before[thread.index()];
                let is_born = before == Next::Unborn && script.next(thread) != Next::Unborn;
                let is_same = before.operation() == script.next(thread).operation();
                assert!(is_same || is_born || script.compares(thread), "{seed}: {script}");
            }
        }
    }
}

#[test]
fn generated_scripts_are_small_and_read_back() {
    let mut words = BTreeMap::new();
    for (idx, shape) in shapes().iter().enumerate() {
        for seed in seeds(0..1_000) {
            let mut script = generate(seed, shape);
            assert_eq!(script, generate(seed, shape), "the seed decides");
            let text = script.to_string();
            assert_eq!(Script::parse(&text).as_ref(), Ok(&script), "{text}");
            let mut random = Random(seed);
            while let Some(decision) = any_decision(&script, &mut random) {
                let operation = script.next(decision.thread).operation().unwrap();
                *words.entry(operation.name()).or_insert(0) += 1;
                let _ = script.step(decision);
            }
            // A yield is put before a plain access that would come first.
            let yields = if idx == 3 { script.n_threads() } else { 0 };
            assert!(script.n_steps() <= shape.max_total + yields, "{text}");
            assert!((2..=4).contains(&script.n_threads()), "{text}");
        }
    }
    assert_eq!(words.len(), 31, "every operation occurs: {words:?}");
}

#[test]
fn renaming_threads_renames_the_outcome() {
    let script = Script::parse("spawn(1); join(2) | x=1; join(0) | x=2").unwrap();
    let renamed = script.rename_threads(&[2, 0, 1]);
    assert_eq!(renamed.to_string(), "x=1; join(2) | x=2 | spawn(0); join(1)");
    assert_eq!(renamed.rename_threads(&[1, 2, 0]), script);
}

#[test]
fn a_divergence_is_reported_as_by_default() {
    let mut script = Script::parse("x=1 | acq(0); acq(0)").unwrap();
    let schedule: Schedule = "mzk1:1x2.0".parse().unwrap();
    let divergence = script.rewind(&schedule, 3).unwrap_err();
    assert_eq!(
        divergence.to_string(),
        "step 2 was a step of T1 before and is Blocked(Acquire(o1)) now",
    );
    let schedule: Schedule = "mzk1:7".parse().unwrap();
    script.reset();
    let divergence = script.rewind(&schedule, 1).unwrap_err();
    assert_eq!(divergence.to_string(), "step 1 was a step of T7 before and is Unborn now");
}

#[test]
fn a_clone_goes_its_own_way_on_any_thread() {
    fn can_be_shared<T: Send + Sync + Clone>(_: &T) {}
    let mut script = Script::parse("send(0,1); r=recv(0); send(0,2) | send(0,3); x=1").unwrap();
    can_be_shared(&script);
    let schedule: Schedule = "mzk1:0.1.0".parse().unwrap();
    script.rewind(&schedule, 3).unwrap();
    let mut clone = script.clone();
    let before = script.state();
    clone.rewind(&schedule, 1).unwrap();
    clone.step(Decision::of(ThreadId::new(0))).unwrap();
    clone.step(Decision::of(ThreadId::new(0))).unwrap();
    assert_eq!(script.state(), before);
    assert_ne!(clone.state(), before);
    script.rewind(&schedule, 0).unwrap();
    assert_eq!(script.outcome(), [0, 0, 0, 0]);
}

/// Whether some execution ends with a thread that waits.
fn deadlocks(script: &Script) -> bool {
    let is_stuck = |script: &Script| {
        threads(script).any(|thread| matches!(script.next(thread), Next::Blocked(_)))
    };
    (0..40).any(|seed| {
        let mut script = script.clone();
        let mut random = Random(seed);
        while let Some(decision) = any_decision(&script, &mut random) {
            let _ = script.step(decision);
        }
        is_stuck(&script)
    })
}

#[test]
fn what_is_shrunk_still_fails_and_cannot_be_cut_further() {
    let mut n_shrunk = 0;
    for seed in seeds(0..300) {
        let script = generate(seed, &large());
        if !deadlocks(&script) {
            continue;
        }
        n_shrunk += 1;
        let shrunk = shrink(&script, deadlocks);
        assert!(deadlocks(&shrunk), "{script}\n{shrunk}");
        assert!(shrunk.to_string().len() <= script.to_string().len());
        assert_eq!(Script::parse(&shrunk.to_string()), Ok(shrunk.clone()));
        assert_eq!(shrink(&shrunk, deadlocks), shrunk, "nothing is left to cut");
    }
    assert!(n_shrunk > share(50), "{n_shrunk}");
}

#[test]
fn shrinking_follows_the_predicate() {
    let script = Script::parse(
        "x=3, a[4], b[2]=1, sem(0)=7 || spawn(2); r=x; if r == 2 { x=r+5 } else { while y < 3 { acq(0); rel(0) } } \
         | a[r+1]=2*3 | join(1); b[0]=r; r=choose(9)",
    )
    .unwrap();
    let to = |needle: &'static str| {
        shrink(&script, |script| script.to_string().contains(needle)).to_string()
    };
    assert_eq!(to("acq"), "acq(0)");
    assert_eq!(to("while y"), "while y < 0 {}");
    assert_eq!(to("a[r+1]"), "a[1] || a[r+1]=0");
    assert_eq!(to("join"), "T0: | join(0)");
    assert_eq!(to("choose"), "r=choose(1)");
    assert_eq!(to("no such thing"), script.to_string());
    assert_eq!(to(""), "T0:");
}
