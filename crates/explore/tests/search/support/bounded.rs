//! The judge of every bounded search: plain bounded enumeration (Coons' thesis, Algorithm 3), with
//! the values of all bounds computed from their definitions, apart from the explorer.

use super::script;
use mazurka_core::{
    Decision, HappensBefore, Next, Operation, Position, Schedule, System, ThreadId, Verdict,
    dependent,
};
use mazurka_explore::{BoundKind, BporOpt, Ended, Explorer, Options, Outcome, Reduction};
use mazurka_script::{Script, Shape, generate, shrink};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The values of an execution, in the order of [`BoundKind::ALL`].
pub(crate) type Values = [u32; 7];

/// The least values with which something can be reached.
pub(crate) type Least = BTreeMap<u64, Values>;

/// All that can be reached, and for how much.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// Local states (Definition 2.1).
    pub(crate) local: Least,
    /// Whole traces at whose end no thread can move.
    pub(crate) terminal: Least,
    /// How many executions there are.
    pub(crate) executions: usize,
    /// Some thread gives back a lock that it has not got; see `Judge::misuses_locks`.
    pub(crate) misuses: bool,
    /// A trace whose executions differ in a value that is to be stable.
    pub(crate) unstable: Option<BoundKind>,
    /// A bound to which independent steps add up, although it is to be extensible.
    pub(crate) not_extensible: Option<BoundKind>,
    /// An execution whose local context is more than its context.
    pub(crate) more_local: bool,
}

/// What is reached within a limit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    pub(crate) local: BTreeSet<u64>,
    pub(crate) terminal: BTreeSet<u64>,
}

impl Reach {
    /// What is reached within this limit.
    pub(crate) fn within(&self, kind: BoundKind, limit: u32) -> States {
        let idx = index(kind);
        let within = |least: &Least| {
            let found = least.iter().filter(|(_, values)| values[idx] <= limit);
            found.map(|(&hash, _)| hash).collect()
        };
        States { local: within(&self.local), terminal: within(&self.terminal) }
    }

    /// The least limit within which all is reached.
    pub(crate) fn saturation(&self, kind: BoundKind) -> u32 {
        let values = self.local.values().chain(self.terminal.values());
        values.map(|values| values[index(kind)]).max().unwrap_or(0)
    }
}

fn index(kind: BoundKind) -> usize {
    BoundKind::ALL.iter().position(|&it| it == kind).expect("it is one of all")
}

/// Every interleaving, by recursion, or every one that is fair within a limit. `None` if there are
/// more than `max` of them, or one that is too long.
pub(crate) fn reach(script: &Script, fair: Option<u32>, max: usize) -> Option<Reach> {
    let mut enumeration = Enumeration {
        script: script.clone(),
        order: HappensBefore::new(true),
        schedule: Schedule::new(),
        contexts: Vec::new(),
        fair,
        reach: Reach::default(),
        stable: BTreeMap::new(),
        taken: BTreeMap::new(),
        max,
    };
    enumeration.script.reset();
    let is_all = enumeration.go([0; 7]);
    enumeration.check_extensible();
    is_all.then_some(enumeration.reach)
}

struct Enumeration {
    script: Script,
    order: HappensBefore,
    schedule: Schedule,
    /// The local context clock of each step.
    contexts: Vec<Vec<u32>>,
    fair: Option<u32>,
    reach: Reach,
    stable: BTreeMap<u64, [u32; 3]>,
    /// What a step led to: by the state that it was taken in, and who took it.
    taken: BTreeMap<(u64, Choice), Taken>,
    max: usize,
}

/// Who took a step, and which alternative.
type Choice = (usize, u32);

struct Taken {
    operation: Operation,
    /// The state after it.
    hash: u64,
    values: Values,
}

const MAX_DEPTH: usize = 40;

impl Enumeration {
    fn go(&mut self, values: Values) -> bool {
        let depth = self.schedule.len();
        let threads = (0..self.script.n_threads()).map(ThreadId::new);
        let next: Vec<Next> = threads.map(|thread| self.script.next(thread)).collect();
        let can_move = |next: &Next| matches!(next, Next::Enabled { .. });
        let enabled: Vec<usize> = (0..next.len()).filter(|&idx| can_move(&next[idx])).collect();
        if enabled.is_empty() {
            self.reach.executions += 1;
            note(&mut self.reach.terminal, self.order.trace_hash(), values);
            return self.reach.executions <= self.max;
        }
        if depth == MAX_DEPTH {
            return false;
        }
        let unfairness = |idx: usize| {
            let mine = self.yields(idx);
            enabled.iter().map(|&other| mine.saturating_sub(self.yields(other))).max().unwrap_or(0)
        };
        let unfair: Vec<u32> = (0..next.len()).map(unfairness).collect();
        let is_fair = |&idx: &usize| self.fair.is_none_or(|limit| unfair[idx] <= limit);
        let fair: Vec<usize> = enabled.iter().copied().filter(is_fair).collect();
        for &idx in &fair {
            let Next::Enabled { operation, choices } = next[idx] else { unreachable!() };
            for choice in 0..choices {
                let decision = Decision { thread: ThreadId::new(idx), choice };
                let after = self.prices(&fair, idx, unfair[idx], values);
                let effect = self.script.step(decision).unwrap_or_else(|failure| {
                    let message = failure.violation.message;
                    self.reach.misuses |= message.ends_with("which has not got it");
                    failure.effect
                });
                let from = self.order.trace_hash();
                let at = self.order.push(decision, operation, effect);
                for part in self.script.parts() {
                    part.joined.into_iter().for_each(|ended| self.order.join(part.thread, ended));
                }
                self.schedule.push(decision);
                let after = self.local_values(at, after);
                note(&mut self.reach.local, self.order.hash_at(at), after);
                self.check_stable(after);
                let taken = Taken { operation, hash: self.order.trace_hash(), values: after };
                self.taken.insert((from, (idx, choice)), taken);
                let is_within = self.go(after);
                self.script.rewind(&self.schedule, depth).expect("scripts repeat");
                self.order.pop();
                self.schedule.truncate(depth);
                self.contexts.truncate(depth);
                if !is_within {
                    return false;
                }
            }
        }
        true
    }

    fn yields(&self, idx: usize) -> u32 {
        let steps = self.order.steps_of(ThreadId::new(idx)).iter();
        steps.filter(|&&at| self.order.operation(at) == Operation::Yield).count() as u32
    }

    /// The values after a step of thread `idx`, but for the local ones.
    fn prices(&self, enabled: &[usize], idx: usize, unfair: u32, before: Values) -> Values {
        let last = match self.order.len() as Position {
            0 => None,
            at => Some(self.order.thread(at).index()),
        };
        let [depth, context, preemption, delta, fair, ..] = before;
        let is_switch = last.is_some_and(|last| last != idx);
        let is_preemption = is_switch && last.is_some_and(|last| enabled.contains(&last));
        let n_threads = self.script.n_threads();
        let turns = (0..n_threads).map(|turn| (last.unwrap_or(0) + turn) % n_threads);
        let passed = turns.take_while(|&turn| turn != idx).filter(|turn| enabled.contains(turn));
        [
            depth + 1,
            context + u32::from(is_switch),
            preemption + u32::from(is_preemption),
            delta + passed.count() as u32,
            fair.max(unfair),
            before[5],
            before[6],
        ]
    }

    /// The values after the step `at`, which was just taken.
    fn local_values(&mut self, at: Position, mut values: Values) -> Values {
        let order = &self.order;
        let past = (1..=at).filter(|&earlier| order.ordered(earlier, at));
        values[5] = values[5].max(past.clone().count() as u32);
        let mut clock = vec![0; self.script.n_threads()];
        for earlier in past.filter(|&earlier| earlier != at) {
            let owner = order.thread(earlier);
            let is_other = owner != order.thread(at);
            for (idx, count) in self.contexts[earlier as usize - 1].iter().enumerate() {
                let left = u32::from(is_other && idx == owner.index());
                clock[idx] = clock[idx].max(count + left);
            }
        }
        values[6] = values[6].max(clock.iter().sum());
        self.contexts.push(clock);
        values
    }

    /// Of two independent steps, the second adds nothing to the first but its own value
    /// (Definition 4.5, for sequences of one step).
    fn check_extensible(&mut self) {
        for (&(from, first), one) in &self.taken {
            let others = self.taken.range((from, (0, 0))..=(from, (usize::MAX, u32::MAX)));
            for (&(_, second), other) in others.filter(|((_, second), _)| second.0 != first.0) {
                if dependent(one.operation, other.operation) {
                    continue;
                }
                let Some(both) = self.taken.get(&(one.hash, second)) else { continue };
                for kind in [BoundKind::LocalDepth, BoundKind::LocalContext] {
                    let idx = index(kind);
                    if both.values[idx] != one.values[idx].max(other.values[idx]) {
                        self.reach.not_extensible = Some(kind);
                    }
                }
            }
        }
    }

    /// Every linearisation of what was taken so far must have the same stable values.
    fn check_stable(&mut self, values: Values) {
        let stable = [values[0], values[5], values[6]];
        let known = *self.stable.entry(self.order.trace_hash()).or_insert(stable);
        let kinds = [BoundKind::Depth, BoundKind::LocalDepth, BoundKind::LocalContext];
        for ((kind, one), other) in kinds.into_iter().zip(known).zip(stable) {
            if one != other {
                self.reach.unstable = Some(kind);
            }
        }
        self.reach.more_local |= values[6] > values[1];
    }
}

fn note(least: &mut Least, hash: u64, values: Values) {
    let known = least.entry(hash).or_insert(values);
    known.iter_mut().zip(values).for_each(|(known, value)| *known = value.min(*known));
}

/// What a search has visited.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) states: States,
    /// How often each trace was come to, to its end or to the bound.
    pub(crate) traces: BTreeMap<u64, usize>,
    pub(crate) outcome: Outcome,
}

impl Search {
    /// All executions, whether they came to their end or were cut.
    pub(crate) fn runs(&self) -> u64 {
        self.outcome.statistics.executions + self.outcome.statistics.blocked_executions
    }
}

/// The search with these options, going on after violations.
pub(crate) fn search(script: &Script, options: Options) -> Search {
    let seen = Mutex::new((States::default(), BTreeMap::new()));
    let watch = |ended: Ended<'_, Script>| {
        let mut seen = seen.lock().expect("the lock is not poisoned");
        let order = ended.order;
        seen.0.local.extend((1..=order.len() as Position).map(|at| order.hash_at(at)));
        *seen.1.entry(order.trace_hash()).or_insert(0) += 1;
        if !ended.is_cut {
            seen.0.terminal.insert(order.trace_hash());
        }
    };
    let explorer = Explorer::new(options.stop_at_first(false)).observe(&watch);
    let outcome = explorer.run(|| script.clone());
    let outcome = outcome.unwrap_or_else(|error| panic!("{script}\n{error}"));
    let (states, traces) = seen.into_inner().expect("the lock is not poisoned");
    Search { states, traces, outcome }
}

/// A way to search, apart from the limit.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) reduction: Reduction,
    pub(crate) sleep: bool,
    pub(crate) kind: BoundKind,
    pub(crate) fair: Option<u32>,
    pub(crate) opts: Option<Vec<BporOpt>>,
    pub(crate) jobs: usize,
}

impl Way {
    pub(crate) fn new(reduction: Reduction, kind: BoundKind) -> Self {
        Self { reduction, sleep: true, kind, fair: None, opts: None, jobs: 1 }
    }

    pub(crate) fn options(&self, limit: u32) -> Options {
        let mut options = Options::new().reduction(self.reduction).sleep(self.sleep);
        options = options.bound(self.kind, limit).jobs(self.jobs);
        if let Some(fair) = self.fair {
            options = options.bound(BoundKind::Fair, fair);
        }
        options.bpor_opt = self.opts.clone();
        options
    }

    /// What is wrong with how the program is covered within some limit, if anything is.
    pub(crate) fn wrong(&self, script: &Script, reach: &Reach) -> Option<String> {
        let mut before = 0;
        let saturation = reach.saturation(self.kind);
        for limit in 0..=saturation + 1 {
            let found = search(script, self.options(limit));
            let expected = reach.within(self.kind, limit);
            let complain = |what: &str| Some(format!("{self:?} limit {limit}: {what}"));
            if found.states != expected {
                let n = |states: &States| (states.local.len(), states.terminal.len());
                let (found, expected) = (n(&found.states), n(&expected));
                return complain(&format!("found {found:?}, not {expected:?}"));
            }
            if found.states.local.len() < before {
                return complain("a larger limit reaches less");
            }
            before = found.states.local.len();
            if limit > saturation && self.is_exact() && found.outcome.statistics.bound_exceeded {
                return complain("the limit is beyond all there is, and cut something");
            }
            let is_all = expected == reach.within(self.kind, saturation);
            if !is_all && !found.outcome.statistics.bound_exceeded {
                return complain("something was cut and that is not said");
            }
            if self.reduction == Reduction::Optimal && found.traces.values().any(|&n| n > 1) {
                return complain("a trace twice");
            }
            if let Verdict::Holds(coverage) = &found.outcome.verdict
                && !is_all
                && coverage.is_unbounded()
            {
                return complain("it claims to have seen everything");
            }
        }
        None
    }

    /// Whether every execution of a trace has the same value.
    fn is_exact(&self) -> bool {
        self.kind.is_local() && self.fair.is_none()
    }
}

/// Every way to search within a bound of one kind.
pub(crate) fn ways(kind: BoundKind, subset: u64) -> Vec<Way> {
    let mut ways = vec![
        Way::new(Reduction::None, kind),
        Way { sleep: false, ..Way::new(Reduction::None, kind) },
        Way::new(Reduction::Dpor, kind),
        Way { sleep: false, ..Way::new(Reduction::Dpor, kind) },
    ];
    if kind.is_local() {
        ways.push(Way::new(Reduction::Optimal, kind));
    } else {
        ways.extend(bpor_ways(Way::new(Reduction::Dpor, kind), subset));
    }
    ways
}

/// With no optimisation, and with a subset of those that are allowed.
pub(crate) fn bpor_ways(way: Way, subset: u64) -> Vec<Way> {
    let mut ways = Vec::new();
    for sleep in [false, true] {
        let way = Way { sleep, ..way.clone() };
        ways.push(Way { opts: Some(Vec::new()), ..way.clone() });
        let is_in = |(idx, opt): (usize, BporOpt)| (subset >> idx & 1 == 1).then_some(opt);
        let mut opts: Vec<BporOpt> =
            BporOpt::ALL.into_iter().enumerate().filter_map(is_in).collect();
        opts.retain(|&opt| {
            let options = Way { opts: Some(vec![opt]), ..way.clone() }.options(0);
            options.errors().is_empty()
        });
        ways.push(Way { opts: Some(opts), ..way });
    }
    ways
}

/// Holds the ways to search within these bounds to enumeration, on random programs.
pub(crate) fn check_random(
    kinds: &[BoundKind],
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    max: usize,
) -> usize {
    let mut n_checked = 0;
    for seed in seeds {
        let program = generate(seed, shape);
        let wrong = |script: &Script| {
            let reach = reach(script, None, max)?;
            if reach.misuses {
                return None;
            }
            if let Some(kind) = reach.unstable {
                return Some(format!("{kind} is not stable"));
            }
            if let Some(kind) = reach.not_extensible {
                return Some(format!("{kind} is not extensible"));
            }
            if reach.more_local {
                return Some("more local than global switches".to_owned());
            }
            let ways = kinds.iter().flat_map(|&kind| ways(kind, seed / 7));
            ways.into_iter().find_map(|way| way.wrong(script, &reach))
        };
        if reach(&program, None, max).is_none() {
            continue;
        }
        n_checked += 1;
        complain(seed, &program, wrong);
    }
    n_checked
}

/// The same for programs that wait in loops, within a fair bound and another.
pub(crate) fn check_random_fair(
    kinds: &[BoundKind],
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    max: usize,
) -> usize {
    let mut n_checked = 0;
    for seed in seeds {
        let program = with_loop(seed, shape);
        let fair = (seed % 3) as u32;
        let wrong = |script: &Script| {
            let reach = reach(script, Some(fair), max)?;
            if reach.misuses {
                return None;
            }
            let ways = kinds.iter().flat_map(|&kind| match kind {
                BoundKind::Fair => vec![],
                _ => {
                    let way = Way { fair: Some(fair), ..Way::new(Reduction::Dpor, kind) };
                    let mut ways = bpor_ways(way.clone(), seed / 7);
                    ways.push(way.clone());
                    ways.push(Way { reduction: Reduction::None, ..way });
                    ways
                }
            });
            let mut ways = ways;
            let alone = fair_alone(script, fair, &reach, seed / 7);
            alone.or_else(|| ways.find_map(|way| way.wrong(script, &reach)))
        };
        if reach(&program, Some(fair), max).is_none() {
            continue;
        }
        n_checked += 1;
        complain(seed, &program, wrong);
    }
    n_checked
}

/// What is wrong with the fair bound alone.
pub(crate) fn fair_alone(script: &Script, fair: u32, reach: &Reach, subset: u64) -> Option<String> {
    let way = Way::new(Reduction::Dpor, BoundKind::Fair);
    let mut ways = bpor_ways(way.clone(), subset);
    ways.push(way.clone());
    ways.push(Way { reduction: Reduction::None, ..way });
    let everything = reach.within(BoundKind::Depth, u32::MAX);
    ways.into_iter().find_map(|way| {
        let found = search(script, way.options(fair)).states;
        let n = |states: &States| (states.local.len(), states.terminal.len());
        let (got, all) = (n(&found), n(&everything));
        (found != everything).then(|| format!("{way:?} fair {fair}: found {got:?}, not {all:?}"))
    })
}

/// A random program, some of whose threads wait in a loop for another.
fn with_loop(seed: u64, shape: &Shape) -> Script {
    let program = generate(seed, shape).to_string();
    let (header, threads) = match program.split_once(" || ") {
        Some((header, threads)) => (format!("{header} || "), threads.to_owned()),
        None => (String::new(), program),
    };
    let mut threads: Vec<String> = threads.split(" | ").map(str::to_owned).collect();
    let n = threads.len() as u64;
    let waits = "while x!=1 { yield }";
    let (waiter, writer) = ((seed % n) as usize, ((seed / n) % n) as usize);
    if waiter != writer {
        let thread = &threads[waiter];
        threads[waiter] = match seed % 2 {
            0 => format!("{waits}; {thread}"),
            _ => format!("{thread}; {waits}"),
        };
        threads[writer] = format!("{}; x=1", threads[writer]);
    }
    script(&format!("{header}{}", threads.join(" | ")))
}

fn complain(seed: u64, program: &Script, wrong: impl Fn(&Script) -> Option<String>) {
    if let Some(what) = wrong(program) {
        let small = shrink(program, |smaller| wrong(smaller).is_some());
        let again = wrong(&small);
        panic!("seed {seed}: {what}\n  {program}\nshrunk: {again:?}\n  {small}");
    }
}
