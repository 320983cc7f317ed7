//! The judge of every reduction: plain enumeration of all interleavings, written apart from the
//! explorer, and what a search has to agree with it on.

use mazurka_core::{
    Decision, Effect, Execution, HappensBefore, Next, Step, System, ThreadId, Trace, Verdict,
};
use mazurka_explore::{Explorer, Options, Outcome, Reduction};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// What a search has visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Maximal traces, and how often each was met.
    pub traces: BTreeMap<Trace, usize>,
    /// Hashes of local states.
    pub local_states: BTreeSet<u64>,
    /// Whole states at the ends of executions.
    pub terminal_states: BTreeSet<Vec<i64>>,
    /// Executions.
    pub executions: usize,
}

impl Visits {
    fn add(&mut self, order: &HappensBefore, script: &Script, execution: &Execution) {
        *self.traces.entry(Trace::of(execution)).or_default() += 1;
        self.local_states.extend((1..=order.len() as u32).map(|at| order.hash_at(at)));
        self.terminal_states.insert(script.state());
        self.executions += 1;
    }

    /// What a reduction must not change.
    pub fn covered(&self) -> (Vec<&Trace>, &BTreeSet<u64>, &BTreeSet<Vec<i64>>) {
        (self.traces.keys().collect(), &self.local_states, &self.terminal_states)
    }
}

/// Every interleaving, by recursion; `None` if there are more than `max`.
pub fn enumerate(script: &Script, max: usize) -> Option<Visits> {
    let mut visits = Visits::default();
    let mut script = script.clone();
    script.reset();
    go(&mut script, &mut Execution::default(), &mut visits, max).then_some(visits)
}

fn go(script: &mut Script, execution: &mut Execution, visits: &mut Visits, max: usize) -> bool {
    let depth = execution.steps.len();
    let mut ended = true;
    for idx in 0..script.n_threads() {
        let thread = ThreadId::new(idx);
        let Next::Enabled { operation, choices } = script.next(thread) else { continue };
        ended = false;
        for choice in 0..choices {
            let decision = Decision { thread, choice };
            let effect = script.step(decision).unwrap_or(Effect::Done);
            execution.steps.push(Step { decision, operation, effect });
            let within = go(script, execution, visits, max);
            execution.steps.pop();
            script.rewind(&execution.schedule(), depth).expect("scripts repeat");
            if !within {
                return false;
            }
        }
    }
    if ended {
        visits.add(&execution.happens_before(), script, execution);
    }
    visits.executions <= max
}

/// The search with these options, and what it visited.
pub fn explore(script: &Script, options: Options) -> (Visits, Outcome) {
    let visits = Mutex::new(Visits::default());
    let watch = |ended: mazurka_explore::Ended<'_, Script>| {
        // The steps again, with their effects: the order knows them, but does not tell.
        let mut fresh = ended.system.clone();
        fresh.reset();
        let mut execution = Execution::default();
        for &decision in ended.schedule.decisions() {
            let operation = fresh.next(decision.thread).operation().expect("it was taken");
            let effect = fresh.step(decision).unwrap_or(Effect::Done);
            execution.steps.push(Step { decision, operation, effect });
        }
        visits.lock().unwrap().add(ended.order, ended.system, &execution);
    };
    let outcome =
        Explorer::new(options.stop_at_first(false)).observe(&watch).run(|| script.clone());
    let outcome = outcome.unwrap_or_else(|error| panic!("{script}\n{error}"));
    let visits = visits.into_inner().unwrap();
    assert_eq!(visits.executions as u64, outcome.statistics.executions, "{script}");
    (visits, outcome)
}

/// Every reduction, with sleep sets and without.
pub fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for reduction in Reduction::ALL {
        for sleep in [false, true] {
            all.push(Options::new().reduction(reduction).sleep(sleep));
        }
    }
    // No room: everything is explored eagerly.
    let mut eager = Options::new();
    eager.room = 0;
    all.push(eager);
    let mut tight = Options::new();
    tight.room = 7;
    all.push(tight);
    all
}

/// What is wrong with how a search with `options` covers the program, if anything is.
pub fn disagreement(script: &Script, judge: &Visits, options: Options) -> Option<String> {
    let (visits, outcome) = explore(script, options.clone());
    let name = format!("{} sleep={} room={}", options.reduction, options.sleep, options.room);
    if visits.traces.keys().ne(judge.traces.keys()) {
        let missed: Vec<_> =
            judge.traces.keys().filter(|trace| !visits.traces.contains_key(trace)).collect();
        let extra: Vec<_> =
            visits.traces.keys().filter(|trace| !judge.traces.contains_key(trace)).collect();
        return Some(format!(
            "{name}: {} of {} traces; missed {}; extra {}",
            visits.traces.len(),
            judge.traces.len(),
            missed.first().map_or("none".into(), ToString::to_string),
            extra.first().map_or("none".into(), ToString::to_string),
        ));
    }
    if visits.covered() != judge.covered() {
        return Some(format!("{name}: other local or terminal states"));
    }
    if options.reduction == Reduction::Optimal {
        if let Some((trace, times)) = visits.traces.iter().find(|&(_, &times)| times > 1) {
            return Some(format!("{name}: {times} executions of {trace}"));
        }
        if outcome.statistics.blocked_executions > 0 {
            return Some(format!("{name}: executions were cut short"));
        }
    }
    if options.reduction == Reduction::None && !options.sleep {
        assert_eq!(visits.executions, judge.executions, "{script}");
    }
    let wrong = matches!(outcome.verdict, Verdict::Violated(_));
    let _ = wrong;
    None
}

/// Checks `n` random programs of a shape; a failing one is shrunk.
pub fn check_random(shape: &Shape, seeds: std::ops::Range<u64>, max: usize) -> usize {
    let all = all_options();
    let mut n_checked = 0;
    for seed in seeds {
        let script = generate(seed, shape);
        let Some(judge) = enumerate(&script, max) else { continue };
        n_checked += 1;
        for options in &all {
            if let Some(what) = disagreement(&script, &judge, options.clone()) {
                let small = shrink(&script, |smaller| {
                    enumerate(smaller, max).is_some_and(|judge| {
                        disagreement(smaller, &judge, options.clone()).is_some()
                    })
                });
                let judge = enumerate(&small, max).expect("it is smaller");
                let again = disagreement(&small, &judge, options.clone());
                panic!("seed {seed}: {what}\n  {script}\nshrunk: {again:?}\n  {small}");
            }
        }
    }
    n_checked
}
