//! The judge of every reduction: plain enumeration of all interleavings, written apart from the
//! explorer, and what a search has to agree with it on.

#![allow(dead_code, reason = "every test uses a part of it")]

pub(crate) mod bounded;
pub(crate) mod boxed;
pub(crate) mod programs;
pub(crate) mod random;

use mazurka_core::{
    Decision, Execution, Next, Position, Schedule, Step, System, ThreadId, Trace, Verdict,
};
use mazurka_explore::{Ended, Explorer, Options, Order, Outcome, Priority, Reduction};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The program of a text that a test has.
pub(crate) fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// What enumeration has found: all there is to be found.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// The maximal traces, by their hashes, which `core/tests/core/traces.rs` holds to the traces.
    pub(crate) traces: BTreeMap<u64, Class>,
    /// How many interleavings there are.
    pub(crate) executions: usize,
}

/// A maximal trace, and what every execution of it has in common.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) trace: Trace,
    /// Hashes of its local states, in ascending order.
    pub(crate) local_states: Vec<u64>,
    /// The whole state at its end.
    pub(crate) state: Vec<i64>,
    /// All that goes wrong in it.
    pub(crate) violations: BTreeSet<String>,
}

impl Judge {
    /// The states at the ends of executions.
    pub(crate) fn terminal_states(&self) -> BTreeSet<&[i64]> {
        self.traces.values().map(|class| class.state.as_slice()).collect()
    }

    /// Whether a thread gives back a lock that it has not got. It does so in every order, and what
    /// the other orders are does not matter then: co-enabledness presumes that none does.
    pub(crate) fn misuses_locks(&self) -> bool {
        let is_misuse = |violation: &String| violation.ends_with("which has not got it");
        self.traces.values().any(|class| class.violations.iter().any(is_misuse))
    }

    /// Whether something goes wrong somewhere.
    pub(crate) fn is_violated(&self) -> bool {
        self.traces.values().any(|class| !class.violations.is_empty())
    }
}

/// Every interleaving, by recursion; `None` if there are more than `max`.
pub(crate) fn enumerate(script: &Script, max: usize) -> Option<Judge> {
    let mut enumeration = Enumeration {
        script: script.clone(),
        execution: Execution::default(),
        schedule: Schedule::new(),
        violations: Vec::new(),
        judge: Judge::default(),
        max,
    };
    enumeration.script.reset();
    enumeration.go().then_some(enumeration.judge)
}

struct Enumeration {
    script: Script,
    execution: Execution,
    schedule: Schedule,
    violations: Vec<String>,
    judge: Judge,
    max: usize,
}

impl Enumeration {
    /// All that can follow; false if it is too much.
    fn go(&mut self) -> bool {
        let depth = self.schedule.len();
        let mut has_ended = true;
        for idx in 0..self.script.n_threads() {
            let thread = ThreadId::new(idx);
            let Next::Enabled { operation, choices } = self.script.next(thread) else { continue };
            has_ended = false;
            for choice in 0..choices {
                let n_violations = self.violations.len();
                let decision = Decision { thread, choice };
                let effect = self.script.step(decision).unwrap_or_else(|failure| {
                    self.violations.push(shown(&failure.violation));
                    failure.effect
                });
                self.execution.push(Step { decision, operation, effect }, self.script.parts());
                self.schedule.push(decision);
                let is_within = self.go();
                self.script.rewind(&self.schedule, depth).expect("scripts repeat");
                self.execution.truncate(depth);
                self.schedule.truncate(depth);
                self.violations.truncate(n_violations);
                if !is_within {
                    return false;
                }
            }
        }
        if has_ended {
            self.end();
        }
        self.judge.executions <= self.max
    }

    fn end(&mut self) {
        let mut local_states = self.execution.local_states();
        local_states.sort_unstable();
        let mut violations: BTreeSet<_> = self.violations.iter().cloned().collect();
        let threads = (0..self.script.n_threads()).map(ThreadId::new);
        if threads
            .map(|thread| self.script.next(thread))
            .any(|next| matches!(next, Next::Blocked(_)))
        {
            violations.insert("deadlock: deadlock".to_owned());
        }
        let trace = Trace::of(&self.execution);
        let hash = trace.hash();
        let class = Class { trace, local_states, state: self.script.state(), violations };
        match self.judge.traces.get(&hash) {
            Some(known) => assert_eq!(*known, class, "{}: not one trace", self.script),
            None => drop(self.judge.traces.insert(hash, class)),
        }
        self.judge.executions += 1;
    }
}

fn shown(violation: &mazurka_core::Violation) -> String {
    format!("{}: {}", violation.kind.name(), violation.message)
}

/// What a search has visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    /// Maximal traces, by their hashes.
    pub(crate) traces: BTreeMap<u64, Visit>,
    /// Executions that came to their end.
    pub(crate) executions: u64,
}

/// What a search has seen of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// How often it was met.
    pub(crate) times: usize,
    local_states: Vec<u64>,
    state: Vec<i64>,
    violation: Option<String>,
}

impl Visits {
    /// The states at the ends of executions.
    pub(crate) fn terminal_states(&self) -> BTreeSet<&[i64]> {
        self.traces.values().map(|visit| visit.state.as_slice()).collect()
    }

    /// Whether another search has met the same traces, each as often and with the same states.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let seen = |visits: &Self| -> Vec<_> {
            let traces = visits.traces.iter();
            traces.map(|(&hash, visit)| (hash, visit.times, visit.state.clone())).collect()
        };
        seen(self) == seen(other)
    }

    /// Whether some trace was met twice.
    pub(crate) fn has_repetitions(&self) -> bool {
        self.traces.values().any(|visit| visit.times > 1)
    }
}

/// Writes down every execution of a search, or of several.
#[derive(Default)]
pub(crate) struct Watcher(Mutex<Visits>);

impl Watcher {
    /// An execution has ended.
    pub(crate) fn see(&self, ended: &Ended<'_, Script>) {
        if ended.is_cut {
            return;
        }
        let order = ended.order;
        let mut local_states: Vec<_> =
            (1..=order.len() as Position).map(|at| order.hash_at(at)).collect();
        local_states.sort_unstable();
        let visit = Visit {
            times: 1,
            local_states,
            state: ended.system.state(),
            violation: ended.violation.map(shown),
        };
        let mut visits = self.0.lock().expect("the lock is not poisoned");
        visits.executions += 1;
        let known = visits.traces.entry(order.trace_hash());
        known.and_modify(|known| known.times += 1).or_insert(visit);
    }

    /// All that was seen.
    pub(crate) fn visits(self) -> Visits {
        self.0.into_inner().expect("the lock is not poisoned")
    }
}

/// The search with these options, going on after violations, and what it visited.
pub(crate) fn explore(script: &Script, options: Options) -> (Visits, Outcome) {
    let watcher = Watcher::default();
    let watch = |ended: Ended<'_, Script>| watcher.see(&ended);
    let explorer = Explorer::new(options.stop_at_first(false)).observe(&watch);
    let outcome = explorer.run(|| script.clone());
    let outcome = outcome.unwrap_or_else(|error| panic!("{script}\n{error}"));
    let visits = watcher.visits();
    assert_eq!(visits.executions, outcome.statistics.executions, "{script}");
    (visits, outcome)
}

/// Every reduction, with sleep sets and without.
pub(crate) fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for reduction in Reduction::ALL {
        for sleep in [false, true] {
            all.push(Options::new().reduction(reduction).sleep(sleep));
        }
    }
    // No room: everything is explored eagerly.
    for room in [0, 7] {
        let mut options = Options::new();
        options.room = room;
        all.push(options);
    }
    all
}

/// Best-first search with every priority, beside every reduction that it decides something with,
/// with and without room for what it finds.
pub(crate) fn best_first_options() -> Vec<Options> {
    use Priority as P;
    use Reduction as R;
    let variable = || P::Variable("x".to_owned());
    let searches = [
        (R::None, true, vec![P::Preemptions]),
        (R::None, true, vec![P::Backtrack, P::Preemptions]),
        (R::None, false, vec![P::Backtrack, P::Sleep]),
        (R::Persistent, true, vec![P::Backtrack]),
        (R::Persistent, false, vec![P::Sleep, P::Random]),
        (R::Dpor, true, vec![P::Preemptions]),
        (R::Dpor, true, vec![P::Random]),
        (R::Dpor, true, vec![variable(), P::Preemptions]),
        (R::Dpor, false, vec![P::Sleep]),
        (R::Dpor, false, vec![P::Random]),
        (R::Source, true, vec![P::Preemptions]),
        (R::Source, true, vec![P::Random]),
        (R::Source, true, vec![variable(), P::Random]),
        (R::Source, false, vec![P::Sleep, P::Preemptions]),
        (R::Source, false, vec![P::Function("f".to_owned())]),
        (R::Monotonic, true, vec![P::Preemptions]),
        (R::Monotonic, false, vec![P::Backtrack, P::Random]),
    ];
    let mut all = Vec::new();
    for (reduction, sleep, priorities) in searches {
        for fringe in [0, 3, 1_000] {
            let order = Order::BestFirst(priorities.clone());
            let mut options = Options::new().reduction(reduction).sleep(sleep).order(order);
            options.fringe = fringe;
            all.push(options);
        }
    }
    all
}

/// What is wrong with how a search with `options` covers the program, if anything is.
pub(crate) fn disagreement(script: &Script, judge: &Judge, options: &Options) -> Option<String> {
    let (visits, outcome) = explore(script, options.clone());
    let what = differs(judge, &visits, options).or_else(|| {
        if options.reduction == Reduction::Optimal && outcome.statistics.blocked_executions > 0 {
            return Some("executions were cut short".to_owned());
        }
        let is_violated = matches!(outcome.verdict, Verdict::Violated(_));
        let is_wrong = is_violated != judge.is_violated();
        is_wrong.then(|| format!("the verdict is {}", outcome.verdict.name()))
    });
    what.map(|what| format!("{}: {what}", name(options)))
}

/// The options as a failing test shows them.
pub(crate) fn name(options: &Options) -> String {
    let Options { reduction, sleep, stateful, jobs, room, order, seed, fringe, .. } = options;
    let name = format!("{reduction} sleep={sleep} stateful={stateful} jobs={jobs} room={room}");
    format!("{name} order={order} seed={seed} fringe={fringe}")
}

/// What a search that has come to its end has missed, or visited more often than it should.
pub(crate) fn differs(judge: &Judge, visits: &Visits, options: &Options) -> Option<String> {
    if visits.traces.keys().ne(judge.traces.keys()) {
        let missed = judge.traces.iter().find(|(hash, _)| !visits.traces.contains_key(hash));
        let extra = visits.traces.keys().filter(|hash| !judge.traces.contains_key(hash)).count();
        return Some(format!(
            "{} of {} traces; missed {}; {extra} extra",
            visits.traces.len(),
            judge.traces.len(),
            missed.map_or("none".to_owned(), |(_, class)| class.trace.to_string()),
        ));
    }
    for (class, visit) in judge.traces.values().zip(visits.traces.values()) {
        let agrees = match &visit.violation {
            Some(violation) => class.violations.contains(violation),
            None => class.violations.is_empty(),
        };
        if !agrees {
            let violation = &visit.violation;
            return Some(format!("{violation:?} in {}, not {:?}", class.trace, class.violations));
        }
        if (&visit.local_states, &visit.state) != (&class.local_states, &class.state) {
            return Some(format!("other local or terminal states in {}", class.trace));
        }
        if options.reduction.takes_traces_once() && visit.times > 1 {
            return Some(format!("{} executions of {}", visit.times, class.trace));
        }
    }
    let is_plain = options.reduction == Reduction::None && !options.sleep && !options.stateful;
    if is_plain && visits.executions != judge.executions as u64 {
        return Some(format!("{} of {} executions", visits.executions, judge.executions));
    }
    None
}

/// Shows `wrong` random programs that have at most `max` interleavings, with all that is to be
/// known about them, and says how many there were; one with which something is wrong is shrunk.
pub(crate) fn for_random_programs(
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    max: usize,
    wrong: impl Fn(&Script, &Judge) -> Option<String>,
) -> usize {
    let mut n_checked = 0;
    for seed in seeds {
        let script = generate(seed, shape);
        let judge = |script: &Script| enumerate(script, max).filter(|judge| !judge.misuses_locks());
        let Some(known) = judge(&script) else { continue };
        n_checked += 1;
        if let Some(what) = wrong(&script, &known) {
            let again = |script: &Script| wrong(script, &judge(script)?);
            let small = shrink(&script, |smaller| again(smaller).is_some());
            let again = again(&small);
            panic!("seed {seed}: {what}\n  {script}\nshrunk: {again:?}\n  {small}");
        }
    }
    n_checked
}

/// Holds every reduction to enumeration on random programs of a shape.
pub(crate) fn check_random(shape: &Shape, seeds: std::ops::Range<u64>, max: usize) -> usize {
    check_with(&all_options(), shape, seeds, max)
}

/// Holds searches with these options to enumeration on random programs of a shape.
pub(crate) fn check_with(
    all: &[Options],
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    max: usize,
) -> usize {
    for_random_programs(shape, seeds, max, |script, judge| {
        all.iter().find_map(|options| {
            let mut options = options.clone();
            // Chance is another one for every program, and the same whenever it is tried.
            options.seed = judge.executions as u64;
            disagreement(script, judge, &options)
        })
    })
}
