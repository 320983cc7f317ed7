//! Random walks through generated programs, for tests that hold a relation to what programs do.

use mazurka_core::{Decision, Failure, Next, Step, System, ThreadId, Violation};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::BTreeMap;

/// How often something was seen, so that a test can show that it is about something.
pub(crate) type Seen = BTreeMap<String, usize>;

/// Random numbers, from a seed that a failing test prints.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x5851_f42d_4c95_7f2d)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The presets, and for each kind of object one in which threads meet there more often.
pub(crate) fn shapes() -> Vec<Shape> {
    let base = || Shape { branches: false, cas: false, max_per_thread: 6, ..Shape::variables() };
    vec![
        Shape::variables(),
        Shape::locks(),
        Shape::everything(),
        Shape { max_total: 40, max_per_thread: 20, ..Shape::everything() },
        Shape { awaits: true, cas: true, ..base() },
        Shape { rwlocks: true, ..base() },
        Shape { condvars: true, n_threads: 3..=4, max_total: 14, ..base() },
        Shape { futexes: true, n_variables: 1..=2, max_total: 14, ..base() },
        Shape { semaphores: true, max_total: 12, ..base() },
        Shape { barriers: true, max_total: 12, ..base() },
        Shape { channels: true, max_total: 12, ..base() },
        Shape { spawn_join: true, channels: true, max_total: 12, ..base() },
    ]
}

/// Checks `n_programs` programs of every shape, each with a seed for its walks, and tells what
/// was seen; a failing program is shrunk.
pub(crate) fn check(
    n_programs: u64,
    property: impl Fn(&Script, u64, &mut Seen) -> Result<(), String>,
) -> Seen {
    let mut seen = Seen::new();
    for (idx, shape) in shapes().iter().enumerate() {
        for seed in 0..n_programs {
            let script = generate(seed, shape);
            let Err(what) = property(&script, seed, &mut seen) else { continue };
            let again = |script: &Script| {
                (0..50).find_map(|seed| property(script, seed, &mut Seen::new()).err())
            };
            let small = shrink(&script, |smaller| again(smaller).is_some());
            panic!(
                "shape {idx}, seed {seed}: {what}\n  {script}\nshrunk: {:?}\n  {small}",
                again(&small)
            );
        }
    }
    seen
}

pub(crate) fn threads(script: &Script) -> impl Iterator<Item = ThreadId> + use<> {
    (0..script.n_threads()).map(ThreadId::new)
}

/// One of the decisions that are possible now.
pub(crate) fn any_decision(script: &Script, random: &mut Random) -> Option<Decision> {
    let mut possible = Vec::new();
    for thread in threads(script) {
        if let Next::Enabled { choices, .. } = script.next(thread) {
            possible.push((thread, choices));
        }
    }
    let (thread, choices) = *possible.get(random.below(possible.len().max(1)))?;
    Some(Decision { thread, choice: random.below(choices as usize) as u32 })
}

/// Takes a step that is possible.
pub(crate) fn take(script: &mut Script, decision: Decision) -> (Step, Option<Violation>) {
    let operation = script.next(decision.thread).operation().expect("it is possible");
    match script.step(decision) {
        Ok(effect) => (Step { decision, operation, effect }, None),
        Err(Failure { effect, violation }) => {
            (Step { decision, operation, effect }, Some(violation))
        }
    }
}
