//! The graphs that the search finds, rebuilt from its schedules.

use crate::oracle::{Event, Graph, Object, expired, objects, result};
use crate::program::{Op, Program, variable};
use mazurka_core::{
    Accessed, Decision, Divergence, Effect, Failure, Fence, Injection, MemoryOrder, Next, ObjectId,
    Operation, Part, Schedule, System, ThreadId,
};
use mazurka_explore::{Ended, Explorer, MemoryModel, Options, Outcome};
use mazurka_script::Script;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// What a search came to: the graphs at the ends of its executions, in order, and all else.
pub(crate) struct Found {
    pub(crate) graphs: Vec<Graph>,
    pub(crate) outcome: Outcome,
}

pub(crate) fn options(model: MemoryModel) -> Options {
    let mut options = Options::new().memory(model);
    options.stop_at_first = false;
    options.race = false;
    options
}

/// A script, one of whose variables cannot be told what is read.
#[derive(Clone)]
struct Half {
    script: Script,
    strong: Option<ObjectId>,
    /// The condition variable that stands for those who sleep on it.
    queue: Option<ObjectId>,
}

impl Half {
    /// The operation with the word for those who sleep on it.
    fn joined(&self, operation: Operation) -> Operation {
        let (Some(strong), Some(queue)) = (self.strong, self.queue) else { return operation };
        match operation {
            Operation::FutexResume(it) if it == queue => Operation::FutexResume(strong),
            Operation::Expire(it) if it == queue => Operation::Expire(strong),
            Operation::NotifyOne(it) if it == queue => Operation::NotifyOne(strong),
            Operation::NotifyAll(it) if it == queue => Operation::NotifyAll(strong),
            other => other,
        }
    }
}

impl System for Half {
    fn reset(&mut self) {
        self.script.reset();
    }

    fn n_threads(&self) -> usize {
        self.script.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        match self.script.next(thread) {
            Next::Enabled { operation, choices } => {
                Next::Enabled { operation: self.joined(operation), choices }
            }
            Next::Blocked(operation) => Next::Blocked(self.joined(operation)),
            other => other,
        }
    }

    fn compares(&self, thread: ThreadId) -> bool {
        self.script.compares(thread)
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        self.script.step(decision)
    }

    fn takes_injections(&self) -> bool {
        true
    }

    fn is_weak(&self, object: ObjectId) -> bool {
        Some(object) != self.strong
    }

    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        self.script.step_with(decision, injection)
    }

    fn accessed(&self) -> Option<Accessed> {
        self.script.accessed()
    }

    fn rewind_with(
        &mut self,
        schedule: &Schedule,
        injections: &[Injection],
        depth: usize,
    ) -> Result<(), Divergence> {
        self.script.rewind_with(schedule, injections, depth)
    }

    fn parts(&self) -> &[Part] {
        self.script.parts()
    }

    fn order(&self) -> MemoryOrder {
        self.script.order()
    }

    fn fences(&self) -> &[Fence] {
        self.script.fences()
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        self.script.object_name(object)
    }
}

/// Searches a program, and rebuilds what it finds.
pub(crate) fn search(program: &Program, options: Options) -> Found {
    let script: Script = program.script().parse().expect("the script is right");
    let name = program.strong.map(|strong| variable(strong).to_string());
    let named = |name: Option<&str>| {
        let mut objects = (0..script.n_objects()).map(ObjectId::new);
        objects.find(|&object| Some(&*script.object_name(object)) == name)
    };
    let (strong, queue) = (named(name.as_deref()), named(Some("condvar(0)")));
    let system = Half { script: script.clone(), strong, queue };
    let graphs = Mutex::new(Vec::new());
    let outcome = Explorer::new(options)
        .observe(&|ended: Ended<'_, Half>| {
            let graph = rebuild(program, ended.schedule, &ended.system.script);
            graphs.lock().expect("the lock is not poisoned").push(graph);
        })
        .run(|| system.clone())
        .expect("the search comes to its end");
    Found { graphs: graphs.into_inner().expect("the lock is not poisoned"), outcome }
}

/// The graph of an execution, by the meaning of its schedule, and whether the script has come to
/// the same end.
fn rebuild(program: &Program, schedule: &Schedule, system: &Script) -> Graph {
    let mut graph = Graph::new(program);
    // By step: the event in it that names it.
    let mut steps = Vec::new();
    let mut has_begun = vec![false; program.threads.len()];
    for &decision in schedule.decisions() {
        let thread = decision.thread.index();
        // A thread that begins with a fence has a step before it.
        let begins_with_fence = matches!(graph.next(program, thread), Some((_, Op::Fence(_))));
        if begins_with_fence && !std::mem::replace(&mut has_begun[thread], true) {
            steps.push((thread, usize::MAX));
            take_fences(program, &mut graph, thread);
            continue;
        }
        has_begun[thread] = true;
        let (number, op) = graph.next(program, thread).expect("the thread goes on");
        let id = (thread, graph.threads[thread].len());
        steps.push(id);
        let mut event =
            Event { number, op, read: 0, wrote: None, source: None, woken: BTreeSet::new() };
        let mut place = 0;
        if let Op::Read(x, _) | Op::Write(x, ..) | Op::Add(x, _) | Op::Swap12(x, _) = op {
            if program.strong == Some(x) {
                let last = graph.last_strong_write(x);
                event.source = last.filter(|_| !matches!(op, Op::Write(..)));
                (event.read, event.wrote) = result(op, graph.value(last));
                graph.orders.entry(Object::Strong(x)).or_default().push(id);
                graph.threads[thread].push(event);
                take_fences(program, &mut graph, thread);
                continue;
            }
            let writes = graph.order(Object::Memory(x));
            let named = match decision.choice {
                0 => writes.last().copied(),
                1 => None,
                step => Some(steps[step as usize - 2]),
            };
            place = named.map_or(0, |named| {
                1 + writes.iter().position(|&other| other == named).expect("it is a write")
            });
            if !matches!(op, Op::Write(..)) {
                event.source = named;
            }
        }
        let value = graph.value(event.source);
        match op {
            Op::Read(..) => event.read = value,
            Op::Write(_, value, _) => event.wrote = Some(value),
            Op::Add(..) => (event.read, event.wrote) = (value, Some(value + 1)),
            Op::Swap12(..) if value == 1 => (event.read, event.wrote) = (1, Some(2)),
            Op::TryAcquire(m) => event.read = i64::from(!graph.is_held(m)),
            Op::TryDown(s) => event.read = i64::from(graph.permits(s) > 0),
            Op::Expire(c, _) => event = expired(event, graph.sleepers(c), thread),
            Op::ExpireSleep(x) => event = expired(event, graph.futex_sleepers(x), thread),
            Op::Sleep(x, wanted) | Op::TimedSleep(x, wanted) => {
                event.read = i64::from(graph.value(graph.last_strong_write(x)) == wanted);
            }
            Op::TryReadAcquire(l) => event.read = i64::from(!graph.holders(l).1),
            Op::TryWriteAcquire(l) => event.read = i64::from(graph.holders(l) == (0, false)),
            Op::WakeAll(x) => event.woken = graph.futex_sleepers(x),
            Op::WakeOne(x) => {
                let sleepers = graph.futex_sleepers(x);
                event.woken.extend(sleepers.iter().nth(decision.choice as usize));
            }
            Op::NotifyAll(c) => event.woken = graph.sleepers(c),
            Op::NotifyOne(c) => {
                let sleepers = graph.sleepers(c);
                event.woken.extend(sleepers.iter().nth(decision.choice as usize));
            }
            _ => {}
        }
        if let (Op::Write(x, ..) | Op::Add(x, _) | Op::Swap12(x, _), Some(_)) = (op, event.wrote) {
            graph.orders.entry(Object::Memory(x)).or_default().insert(place, id);
        }
        for object in objects(op) {
            graph.orders.entry(object).or_default().push(id);
        }
        graph.threads[thread].push(event);
        take_fences(program, &mut graph, thread);
    }
    // The last write of each variable is what memory holds.
    let outcome = system.outcome();
    for thread in 0..program.threads.len() {
        let has_ended = graph.next(program, thread).is_none();
        let ended = outcome[outcome.len() - program.threads.len() + thread] == 1;
        assert_eq!(has_ended, ended, "{} {schedule} {:?}", program.script(), ThreadId::new(thread));
    }
    let _ = system.n_threads();
    graph
}

/// Fences are no steps: they are taken with the step before them.
fn take_fences(program: &Program, graph: &mut Graph, thread: usize) {
    while let Some((number, op @ Op::Fence(_))) = graph.next(program, thread) {
        let woken = BTreeSet::new();
        let event = Event { number, op, read: 0, wrote: None, source: None, woken };
        graph.threads[thread].push(event);
    }
}
