//! A script and its translation do the same: step by step under random schedules, and trace by
//! trace under every reduction.

use crate::random::Random;
use crate::translate::{Translated, translate};
use mazurka_core::{
    Decision, Effect, Next, ObjectId, Operation, PlainAccess, Schedule, System, ThreadId,
    ThreadSet, Verdict,
};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_model::{Races, Type, Vm};
use mazurka_script::{Script, Shape, generate};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Numbers of one system that stand for numbers of the other.
#[derive(Default)]
struct Pairs(BTreeMap<usize, usize>, BTreeMap<usize, usize>);

impl Pairs {
    /// Whether the two stand for each other; they do from now on if they are both new.
    fn agree(&mut self, a: usize, b: usize) -> bool {
        *self.0.entry(a).or_insert(b) == b && *self.1.entry(b).or_insert(a) == a
    }
}

/// A script and its translation, in the same state.
struct Twins {
    script: Script,
    vm: Vm,
    translated: Translated,
    /// Of the script, then of the machine.
    threads: Pairs,
    objects: Pairs,
    memory: Pairs,
    /// The decisions of both; a leading yield of one of them alone is in one of them alone.
    schedules: (Schedule, Schedule),
    /// How long both schedules were before each common step.
    marks: Vec<(usize, usize)>,
}

impl Twins {
    fn new(script: Script) -> Self {
        let translated = translate(&script);
        let vm = Vm::new(translated.program.clone(), Races::Error).expect("scripts are simple");
        let mut threads = Pairs::default();
        for (number, &thread) in translated.first_threads.iter().enumerate() {
            assert!(threads.agree(thread, number));
        }
        let (objects, memory) = (Pairs::default(), Pairs::default());
        Self {
            script,
            vm,
            translated,
            threads,
            objects,
            memory,
            schedules: Default::default(),
            marks: Vec::new(),
        }
    }

    /// The number of a script's thread in the machine.
    fn number(&self, thread: usize) -> Option<ThreadId> {
        self.threads.0.get(&thread).map(|&number| ThreadId::new(number))
    }

    /// Lets a thread that yields in one system only, since it is about to begin, do so.
    fn level(&mut self) {
        for thread in 0..self.script.n_threads() {
            let Some(number) = self.number(thread) else { continue };
            let script = self.script.next(ThreadId::new(thread)).operation();
            let vm = self.vm.next(number).operation();
            match (script == Some(Operation::Yield), vm == Some(Operation::Yield)) {
                (true, false) => {
                    let decision = Decision::of(ThreadId::new(thread));
                    self.schedules.0.push(decision);
                    self.script.step(decision).expect("nothing was wrong before the yield");
                }
                (false, true) => {
                    let decision = Decision::of(number);
                    self.schedules.1.push(decision);
                    self.vm.step(decision).expect("nothing was wrong before the yield");
                }
                _ => {}
            }
        }
    }

    fn check_next(&mut self) {
        for thread in 0..self.script.n_threads() {
            let script = self.script.next(ThreadId::new(thread));
            let vm = self.number(thread).map_or(Next::Unborn, |number| self.vm.next(number));
            assert!(self.same_next(script, vm), "T{thread}: {script:?} but {vm:?}");
        }
    }

    fn same_next(&mut self, a: Next, b: Next) -> bool {
        match (a, b) {
            (Next::Unborn, Next::Unborn) | (Next::Finished, Next::Finished) => true,
            (Next::Blocked(a), Next::Blocked(b)) => self.same_operation(a, b),
            (
                Next::Enabled { operation: a, choices: n },
                Next::Enabled { operation: b, choices: m },
            ) => n == m && self.same_operation(a, b),
            _ => false,
        }
    }

    fn same_operation(&mut self, a: Operation, b: Operation) -> bool {
        use Operation as O;
        let parameters = |operation: Operation| match operation {
            O::SemaphoreAcquire { permits, .. } | O::SemaphoreTryAcquire { permits, .. } => permits,
            O::Leave { parties, .. } => parties,
            O::Spawn(_) | O::Join(_) => 1,
            _ => 0,
        };
        let mut agree = |a: ObjectId, b: ObjectId| self.objects.agree(a.index(), b.index());
        let same_object = match (a, b) {
            (O::Spawn(a), O::Spawn(b)) | (O::Join(a), O::Join(b)) => {
                self.threads.agree(a.index(), b.index())
            }
            (O::Wait { condvar, mutex }, O::Wait { condvar: c, mutex: m })
            | (O::Reacquire { condvar, mutex }, O::Reacquire { condvar: c, mutex: m }) => {
                agree(condvar, c) && agree(mutex, m)
            }
            _ => match (a.object(), b.object()) {
                (Some(a), Some(b)) => agree(a, b),
                (a, b) => a == b,
            },
        };
        a.name() == b.name() && parameters(a) == parameters(b) && same_object
    }

    /// Takes a step of a thread of the script in both systems.
    fn step(&mut self, thread: usize, choice: u32) {
        self.marks.push((self.schedules.0.len(), self.schedules.1.len()));
        let number = self.number(thread).expect("it is enabled in both");
        let (a, b) = (
            Decision { thread: ThreadId::new(thread), choice },
            Decision { thread: number, choice },
        );
        self.schedules.0.push(a);
        self.schedules.1.push(b);
        match (self.script.step(a), self.vm.step(b)) {
            (Ok(a), Ok(b)) => assert_eq!(self.renumbered(a), b),
            (Err(a), Err(b)) => assert_eq!(
                a.violation.kind, b.violation.kind,
                "{} but {}",
                a.violation.message, b.violation.message
            ),
            (Ok(_), Err(early)) if early.violation.message.ends_with("has not got it") => {
                // The machine notices before the release what the script notices in it.
                let decision = Decision::of(ThreadId::new(thread));
                self.schedules.0.push(decision);
                self.script.step(decision).expect_err("the script notices, too");
            }
            (a, b) => panic!("{a:?} but {b:?}"),
        }
        let accesses = (self.script.accesses().to_vec(), self.vm.accesses().to_vec());
        assert_eq!(accesses.0.len(), accesses.1.len());
        for (a, b) in accesses.0.into_iter().zip(accesses.1) {
            let PlainAccess { object, write, .. } = b;
            assert!(self.memory.agree(a.object.index(), object.index()));
            assert_eq!(a.write, write);
        }
    }

    fn renumbered(&self, effect: Effect) -> Effect {
        match effect {
            Effect::Woke(threads) => {
                let set: ThreadSet =
                    threads.iter().filter_map(|thread| self.number(thread.index())).collect();
                Effect::Woke(set)
            }
            other => other,
        }
    }

    fn rewind(&mut self, depth: usize) {
        let Some(&(script, vm)) = self.marks.get(depth) else { return };
        self.script.rewind(&self.schedules.0, script).expect("it can undo");
        self.vm.rewind(&self.schedules.1, vm).expect("it can undo");
        self.schedules.0.truncate(script);
        self.schedules.1.truncate(vm);
        self.marks.truncate(depth);
    }

    fn check_variables(&self) {
        let names: Vec<String> = (0..self.script.n_objects())
            .map(|idx| self.script.object_name(ObjectId::new(idx)).into_owned())
            .filter(|name| !name.contains('('))
            .collect();
        for (name, expected) in names.iter().zip(self.script.outcome()) {
            let (base, index) = match name.split_once('[') {
                Some((base, rest)) => (base, rest.trim_end_matches(']').parse().expect("an index")),
                None => (name.as_str(), 0),
            };
            let (object, _) = self.translated.variables[base];
            assert_eq!(self.vm.peek(object, 8 * index, Type::I64) as i64, expected, "{name}");
        }
    }
}

/// What random scripts consist of: all but futexes, which programs have not.
fn everything() -> Shape {
    Shape { futexes: false, ..Shape::everything() }
}

/// A random program. The machine keeps all additions in order; so does a script, if there is a
/// place for their results.
fn program(seed: u64, shape: &Shape) -> Script {
    let text = generate(seed, shape).to_string();
    let text = text.replace("add(", "r9=add(").replace("=r9=", "=");
    Script::parse(&text).expect("a result may be kept")
}

fn walk(seed: u64, shape: &Shape) {
    let script = program(seed, shape);
    let mut twins = Twins::new(script);
    let mut random = Random(seed);
    for _ in 0..60 {
        twins.level();
        twins.check_next();
        twins.check_variables();
        let enabled: Vec<(usize, u32)> = (0..twins.script.n_threads())
            .filter_map(|thread| match twins.script.next(ThreadId::new(thread)) {
                Next::Enabled { choices, .. } => Some((thread, choices)),
                _ => None,
            })
            .collect();
        if enabled.is_empty() || random.below(9) == 0 {
            if twins.marks.is_empty() {
                break;
            }
            let depth = random.below(twins.marks.len() as u64) as usize;
            twins.rewind(depth);
            continue;
        }
        let (thread, choices) = enabled[random.below(enabled.len() as u64) as usize];
        let choice = random.below(u64::from(choices)) as u32;
        twins.step(thread, choice);
    }
}

#[test]
fn the_same_steps_on_everything() {
    seeds(0..4_000).for_each(|seed| walk(seed, &everything()));
}

#[test]
fn the_same_steps_on_plain_memory() {
    let shape = Shape { plain: true, assertions: true, arrays: true, ..everything() };
    seeds(0..4_000).for_each(|seed| walk(seed, &shape));
}

/// What a search finds: the traces, whatever their objects are called, and what is wrong.
#[derive(Debug, PartialEq)]
struct Found {
    n_traces: usize,
    outcomes: BTreeSet<Vec<u64>>,
    verdict: &'static str,
}

fn search<S: System + Clone + Send + std::marker::Sync>(
    system: &S,
    options: &Options,
    outcome: impl Fn(&S) -> Vec<u64> + std::marker::Sync,
) -> Option<Found> {
    let seen = Mutex::new((BTreeSet::new(), BTreeSet::new()));
    let watch = |ended: mazurka_explore::Ended<'_, S>| {
        let mut seen = seen.lock().expect("the lock is not poisoned");
        seen.0.insert(ended.order.trace_hash());
        seen.1.insert(outcome(ended.system));
    };
    let mut options = options.clone();
    options.stop_at_first = false;
    options.max_executions = Some(3_000);
    let found = Explorer::new(options).observe(&watch).run(|| system.clone()).expect("it runs");
    let (traces, outcomes) = seen.into_inner().expect("the lock is not poisoned");
    if found.saved.is_some() {
        return None;
    }
    let verdict = match &found.verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        _ => return None,
    };
    Some(Found { n_traces: traces.len(), outcomes, verdict })
}

/// Every way to search, but for stored states, which do not see all traces.
fn all_options() -> Vec<Options> {
    Reduction::ALL
        .into_iter()
        .flat_map(|reduction| [true, false].map(|sleep| (reduction, sleep)))
        .map(|(reduction, sleep)| {
            let mut options = Options::new().reduction(reduction);
            options.sleep = sleep;
            options
        })
        .collect()
}

fn check_search(seed: u64, shape: &Shape) -> bool {
    let script = program(seed, shape);
    let variables = |vm: &Vm, translated: &Translated| {
        let places = translated.variables.values();
        places
            .flat_map(|&(object, len)| (0..len).map(move |idx| (object, 8 * idx)))
            .map(|(object, offset)| vm.peek(object, offset, Type::I64))
            .collect::<Vec<u64>>()
    };
    let translated = translate(&script);
    let vm = Vm::new(translated.program.clone(), Races::Error).expect("scripts are simple");
    let judge = search(&script, &Options::new().reduction(Reduction::Optimal), |_| Vec::new());
    let Some(judge) = judge else { return false };
    let exhaustive =
        search(&vm, &Options::new().reduction(Reduction::None), |vm| variables(vm, &translated));
    let Some(exhaustive) = exhaustive else { return false };
    assert_eq!(exhaustive.n_traces, judge.n_traces, "{script}");
    assert_eq!(exhaustive.verdict, judge.verdict, "{script}");
    for options in all_options() {
        let found = search(&vm, &options, |vm| variables(vm, &translated));
        // A search that takes too long for a test says nothing.
        if let Some(found) = found {
            assert_eq!(found, exhaustive, "seed {seed}: {script}\n{options:?}");
        }
    }
    true
}

#[test]
fn the_same_traces_under_every_reduction() {
    let n = seeds(0..900).filter(|&seed| check_search(seed, &everything())).count();
    assert!(n > share(600), "only {n} programs were small enough");
}

#[test]
fn the_same_traces_with_locks() {
    let n = seeds(0..600).filter(|&seed| check_search(seed, &Shape::locks())).count();
    assert!(n > share(300), "only {n} programs were small enough");
}
