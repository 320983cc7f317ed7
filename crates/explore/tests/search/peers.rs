//! Processes that share a search, played by threads that share nothing but bytes: together they do
//! what one does alone, step by step.

use crate::support::programs::{fib, lastzero, nwriters, readers};
use crate::support::script;
use mazurka_core::{Statistics, Verdict};
use mazurka_effort::seeds;
use mazurka_explore::{Collected, Explorer, Options, Outcome, Part, Peers};
use mazurka_script::{Script, Shape, generate};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// A peer of a search.
struct Team {
    n: usize,
    state: Mutex<State>,
    changed: Condvar,
    is_stopped: AtomicBool,
    executions: AtomicU64,
    n_given: AtomicU64,
}

#[derive(Default)]
struct State {
    units: VecDeque<Vec<u8>>,
    n_waiting: usize,
    is_done: bool,
    parts: Vec<Vec<u8>>,
}

impl Team {
    fn new(n: usize) -> Self {
        Self {
            n,
            state: Mutex::default(),
            changed: Condvar::new(),
            is_stopped: AtomicBool::new(false),
            executions: AtomicU64::new(0),
            n_given: AtomicU64::new(0),
        }
    }

    fn hand_in(&self, part: &Part) {
        self.state.lock().expect("the lock is not poisoned").parts.push(part.to_bytes());
        self.changed.notify_all();
    }
}

impl Peers for Team {
    fn begin(&self, _: &Options) {}

    fn is_hungry(&self) -> bool {
        let state = self.state.lock().expect("the lock is not poisoned");
        state.n_waiting > state.units.len()
    }

    fn give(&self, unit: Vec<u8>) {
        self.n_given.fetch_add(1, Ordering::Relaxed);
        self.state.lock().expect("the lock is not poisoned").units.push_back(unit);
        self.changed.notify_all();
    }

    fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state.lock().expect("the lock is not poisoned");
        state.n_waiting += 1;
        loop {
            if state.is_done || self.is_stopped() {
                return None;
            }
            if let Some(unit) = state.units.pop_front() {
                state.n_waiting -= 1;
                return Some(unit);
            }
            if state.n_waiting == self.n {
                state.is_done = true;
                self.changed.notify_all();
                return None;
            }
            state = self.changed.wait(state).expect("the lock is not poisoned");
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn count(&self, executions: u64) -> u64 {
        self.executions.fetch_add(executions, Ordering::Relaxed) + executions
    }

    fn others(&self) -> Statistics {
        Statistics::default()
    }

    fn collect(&self) -> Collected {
        let mut state = self.state.lock().expect("the lock is not poisoned");
        while state.parts.len() + 1 < self.n {
            state = self.changed.wait(state).expect("the lock is not poisoned");
        }
        let parts = state.parts.drain(..);
        let parts = parts.map(|bytes| Part::from_bytes(&bytes).expect("it is one")).collect();
        Collected { parts, units: state.units.drain(..).collect() }
    }
}

/// What so many come to, and how many units went from one to another.
fn together(script: &Script, options: &Options, n: usize) -> (Outcome, u64) {
    let team = Team::new(n);
    let outcome = std::thread::scope(|scope| {
        for _ in 1..n {
            scope.spawn(|| {
                let explorer = Explorer::new(options.clone()).share_with(&team);
                team.hand_in(&explorer.help(|| script.clone()));
            });
        }
        Explorer::new(options.clone()).share_with(&team).run(|| script.clone())
    });
    (outcome.expect("it is a program"), team.n_given.load(Ordering::Relaxed))
}

fn alone(script: &Script, options: &Options) -> Outcome {
    Explorer::new(options.clone()).run(|| script.clone()).expect("it is a program")
}

/// Everything that is counted, but for steps that are taken again to get to where a unit begins.
fn counted(outcome: &Outcome) -> Statistics {
    let mut statistics = outcome.statistics;
    statistics.replayed = 0;
    statistics
}

fn check(script: &Script, options: &Options) -> u64 {
    let whole = alone(script, options);
    let mut n_given = 0;
    for n in [2, 3] {
        let (outcome, given) = together(script, options, n);
        n_given += given;
        match (&whole.verdict, &outcome.verdict) {
            (Verdict::Violated(one), Verdict::Violated(other)) => {
                assert_eq!(one.violation.kind, other.violation.kind, "{script}");
                if options.stop_at_first {
                    continue;
                }
            }
            (one, other) => assert_eq!(one, other, "{script}"),
        }
        assert_eq!(counted(&outcome), counted(&whole), "{n} of {script}");
    }
    n_given
}

fn tight(room: usize) -> Options {
    let mut options = Options::new().stop_at_first(false);
    options.room = room;
    options
}

#[test]
fn large_programs_are_counted_the_same() {
    let philosophers = script(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(2); rel(2); rel(1) \
         | acq(2); acq(3); rel(3); rel(2) | acq(3); acq(0); rel(0); rel(3)",
    );
    let mut n_given = 0;
    for script in [fib(4), nwriters(6), lastzero(6), readers(9), philosophers] {
        for options in [Options::new(), tight(Options::new().room), tight(0), tight(7)] {
            n_given += check(&script, &options);
        }
    }
    // How many depends on who is hungry when.
    assert!(n_given > 0, "only {n_given} units were shared");
}

#[test]
fn random_programs_are_counted_the_same() {
    for shape in [Shape::variables(), Shape::locks(), Shape::everything()] {
        for seed in seeds(0..100) {
            let script = generate(seed, &shape);
            let mut first = tight(Options::new().room);
            first.max_executions = Some(2_000);
            if alone(&script, &first).saved.is_none() {
                check(&script, &tight(Options::new().room));
                check(&script, &tight(3));
            }
        }
    }
}

/// A search that several share is stopped by a limit again and again, saved and resumed: nothing is
/// lost with the units that were on their way.
#[test]
fn nothing_is_lost_when_all_are_stopped() {
    for script in [fib(3), nwriters(5), lastzero(5), readers(7)] {
        let whole = alone(&script, &Options::new());
        for length in [1, 3, 10, 50] {
            let mut options = Options::new();
            options.max_executions = Some(length);
            let mut saved = None;
            let last = loop {
                let team = Team::new(3);
                let outcome = std::thread::scope(|scope| {
                    for _ in 1..3 {
                        scope.spawn(|| {
                            let explorer = Explorer::new(options.clone()).share_with(&team);
                            team.hand_in(&explorer.help(|| script.clone()));
                        });
                    }
                    let mut explorer = Explorer::new(options.clone()).share_with(&team);
                    if let Some(saved) = saved.take() {
                        explorer = explorer.resume(saved);
                    }
                    explorer.run(|| script.clone()).expect("it is a program")
                });
                match &outcome.saved {
                    Some(left) => saved = Some(left.clone()),
                    None => break outcome,
                }
            };
            assert_eq!(last.verdict, whole.verdict, "{script}");
            assert_eq!(counted(&last), counted(&whole), "{length} at a time of {script}");
        }
    }
}
