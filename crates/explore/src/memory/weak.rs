//! A system behind a weak memory: a read can return any write of its object, and a write can be
//! older than others that came before it.
//!
//! [`WeakMemory`] does what a schedule says. Which schedules a model allows is the business of the
//! search ([`Graphs`](crate::reduction::graphs::Graphs)). The alternative of an access to memory
//! names a step of the same execution:
//!
//! | [`Decision::choice`] | a read takes                 | a write comes behind          |
//! |----------------------|------------------------------|-------------------------------|
//! | 0                    | what is last                 | all others                    |
//! | 1                    | the initial value            | the initial value             |
//! | n + 1                | what step n wrote            | what step n wrote             |
//!
//! A read-modify-write takes its place right behind what it reads. So a schedule is all there is to
//! know of an execution, and whatever follows schedules (replay, confirmation, minimising) needs no
//! memory model.
//!
//! The memory of the system itself always has the last write of each object: plain accesses find
//! that, and as long as there are no data races, they may not find anything else.

use super::{chain, rules};
use mazurka_core::{
    Accessed, AddId, Addition, Assumption, Decision, Divergence, Effect, Ending, Failure,
    FailureSite, Fence, Foresight, Injection, Location, MemoryModel, MemoryOrder, Next, ObjectId,
    Operation, Part, PlainAccess, Position, Property, Schedule, Sighting, Spin, System, ThreadId,
    Violation, ViolationKind,
};
use std::borrow::Cow;

/// A system whose accesses to memory are given alternatives.
#[derive(Clone, Debug)]
pub struct WeakMemory<S> {
    system: S,
    model: MemoryModel,
    /// By object.
    objects: Vec<Object>,
    steps: Vec<Step>,
    /// The decisions of the system itself, whose accesses have no alternatives, and what it was
    /// told.
    schedule: Schedule,
    injections: Vec<Injection>,
}

/// The writes of an object, in modification order.
#[derive(Clone, Debug, Default)]
struct Object {
    /// How it was ever used.
    used: Option<Use>,
    /// What it held before the first write; known from then on.
    initial: u128,
    writes: Vec<Write>,
}

/// What an object is used as, in all executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Memory,
    /// Memory whose accesses are in one order; it may be slept on.
    Ordered,
    /// A condition variable.
    Condvar,
    /// A condition variable, or memory that is slept on.
    Notified,
    /// What stands for those who sleep on memory, and is nothing by itself.
    Queue,
    Other,
    /// A mutex that is tried to take.
    Tried,
    /// A mutex that is given back by a wait. Both at once are refused, see
    /// [`Graphs`](crate::reduction::graphs::Graphs).
    WaitedWith,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    step: Position,
    value: u128,
}

/// What a step did to memory.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// What it accessed, and the step that it read from or came behind.
    access: Option<(ObjectId, Position)>,
    wrote: bool,
    /// Whether what it has read was not the last.
    is_stale: bool,
    /// What was taken for the last value before, where plain accesses had changed that.
    outdated: Option<u128>,
}

impl<S: System> WeakMemory<S> {
    /// The system, in its initial state. It has to [take injections](System::takes_injections).
    pub fn new(system: S, model: MemoryModel) -> Self {
        Self {
            system,
            model,
            objects: Vec::new(),
            steps: Vec::new(),
            schedule: Schedule::new(),
            injections: Vec::new(),
        }
    }

    /// The system itself.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The system itself.
    pub fn into_system(self) -> S {
        self.system
    }

    /// The place of what a choice names among the writes of an object: how many are before it, with
    /// the initial value as the first.
    fn place(&self, object: ObjectId, choice: u32) -> Option<usize> {
        let writes = self.objects.get(object.index()).map_or(&[][..], |object| &object.writes);
        match choice {
            0 => Some(writes.len()),
            1 => Some(0),
            step => {
                let place = writes.iter().position(|write| write.step == step - 1)?;
                Some(place + 1)
            }
        }
    }

    fn undo(&mut self, depth: usize) {
        while self.steps.len() > depth {
            let at = self.steps.len() as Position;
            let Some(Step { access, wrote, outdated, .. }) = self.steps.pop() else { return };
            let Some((object, _)) = access else { continue };
            let writes = &mut self.objects[object.index()].writes;
            if wrote {
                let place = writes.iter().rposition(|write| write.step == at);
                writes.remove(place.expect("a step that wrote is among the writes"));
            }
            if let (Some(last), Some(value)) = (writes.last_mut(), outdated) {
                last.value = value;
            }
        }
        self.schedule.truncate(depth);
        self.injections.truncate(depth);
    }

    /// Takes a step whose operation accesses memory.
    fn access(
        &mut self,
        decision: Decision,
        operation: Operation,
        object: ObjectId,
    ) -> Result<Effect, Failure> {
        let Some(place) = self.place(object, decision.choice) else {
            return self.refuse(decision, "the schedule names a write that is not there".into());
        };
        if self.objects.len() <= object.index() {
            self.objects.resize_with(object.index() + 1, Object::default);
        }
        let Object { initial, writes, .. } = &self.objects[object.index()];
        let n_writes = writes.len();
        let is_last = place == n_writes;
        let (source, value) = match place.checked_sub(1) {
            Some(place) => (writes[place].step, writes[place].value),
            None => (0, *initial),
        };
        let reads = !matches!(operation, Operation::Store(_));
        let read = (reads && !is_last).then_some(value);
        let injection = Injection { read, is_hidden: !is_last };
        let own = Decision::of(decision.thread);
        let result = self.system.step_with(own, injection);
        self.schedule.push(own);
        self.injections.push(injection);
        let at = self.schedule.len() as Position;
        let accessed = self.system.accessed();
        let wrote = accessed.and_then(|accessed| accessed.wrote);
        self.steps.push(Step {
            access: Some((object, source)),
            wrote: wrote.is_some(),
            is_stale: reads && !is_last,
            outdated: None,
        });
        let Some(Accessed { before, .. }) = accessed else {
            // It went wrong before that, or the system has learnt that it cannot be told.
            if result.is_err() || !self.system.is_weak(object) {
                return result;
            }
            let message = format!(
                "{} tells no value, and a weak memory model needs it",
                self.system.object_name(object)
            );
            return Err(unsupported(message));
        };
        let object = &mut self.objects[object.index()];
        if n_writes == 0 {
            object.initial = before;
        } else if object.writes[n_writes - 1].value != before {
            // Plain accesses have changed it, while no other thread was there to read. So those who
            // come later read that, if they read the last write.
            let value = std::mem::replace(&mut object.writes[n_writes - 1].value, before);
            if let Some(step) = self.steps.last_mut() {
                step.outdated = Some(value);
            }
        }
        if let Some(value) = wrote {
            object.writes.insert(place, Write { step: at, value });
        }
        result
    }

    /// A step that cannot be taken under a weak model.
    fn refuse(&mut self, decision: Decision, message: String) -> Result<Effect, Failure> {
        // The step is taken all the same, so that there is one to undo.
        let own = Decision::of(decision.thread);
        let _ = self.system.step_with(own, Injection::default());
        self.schedule.push(own);
        self.injections.push(Injection::default());
        self.steps.push(Step::default());
        Err(unsupported(message))
    }

    /// An object that the operation accesses as memory and that others do not, or the other way
    /// round.
    fn mixed(&mut self, operation: Operation) -> Option<ObjectId> {
        let memory = memory_of(operation);
        if let Operation::FutexResume(object) = operation
            && self.objects.get(object.index()).and_then(|it| it.used) != Some(Use::Ordered)
        {
            return Some(object);
        }
        operation.touches().as_slice().iter().map(|&((object, _), _)| object).find(|&object| {
            let now = match operation {
                _ if memory == Some(object) && self.system.is_weak(object) => Use::Memory,
                _ if memory == Some(object) => Use::Ordered,
                Operation::FutexWait { word, .. } if word == object => Use::Ordered,
                Operation::FutexWait { .. } => Use::Queue,
                Operation::NotifyOne(_) | Operation::NotifyAll(_) | Operation::Expire(_) => {
                    Use::Notified
                }
                Operation::Wait { condvar, .. } if condvar == object => Use::Condvar,
                Operation::TryAcquire(_) => Use::Tried,
                Operation::Wait { mutex, .. } if mutex == object => Use::WaitedWith,
                _ => Use::Other,
            };
            if self.objects.len() <= object.index() {
                self.objects.resize_with(object.index() + 1, Object::default);
            }
            let before = &mut self.objects[object.index()].used;
            let before = before.get_or_insert(now);
            match (*before, now) {
                (Use::Other, Use::Tried | Use::WaitedWith)
                | (Use::Notified, Use::Condvar | Use::Ordered) => {
                    *before = now;
                    false
                }
                // The system has learnt that it cannot be told what is read.
                (Use::Memory, Use::Ordered | Use::Notified) if !self.system.is_weak(object) => {
                    *before = Use::Ordered;
                    false
                }
                (Use::Condvar | Use::Ordered, Use::Notified) => false,
                (Use::Tried | Use::WaitedWith, Use::Other) => false,
                (before, now) => before != now,
            }
        })
    }

    fn last(&self) -> Step {
        self.steps.last().copied().unwrap_or_default()
    }
}

fn unsupported(message: String) -> Failure {
    let violation = Violation::new(ViolationKind::Unsupported, message);
    Failure { effect: Effect::Done, violation }
}

/// That no graph has an operation.
fn meaningless(operation: Operation) -> String {
    let name = operation.name();
    let clock = match operation {
        Operation::Timeout(_) | Operation::TimedReceive(_) | Operation::Elapse => {
            ": execution graphs have no clock; with `--time any`, a wait with a time limit may end \
             at any moment, and that has a meaning"
        }
        _ => "",
    };
    format!("`{name}` has no meaning under a weak memory model so far{clock}")
}

/// The operation as a weak memory has it: additions have their place in the modification order.
fn in_order(operation: Operation) -> Operation {
    match operation {
        Operation::Add(object) | Operation::AddAndTest(object) => {
            Operation::ReadModifyWrite(object)
        }
        other => other,
    }
}

/// What an operation accesses, if it accesses memory and nothing else.
pub(crate) fn memory_of(operation: Operation) -> Option<ObjectId> {
    match operation {
        Operation::Load(object) | Operation::Store(object) | Operation::ReadModifyWrite(object) => {
            Some(object)
        }
        _ => None,
    }
}

impl<S: System> System for WeakMemory<S> {
    fn reset(&mut self) {
        self.system.reset();
        self.undo(0);
    }

    fn n_threads(&self) -> usize {
        self.system.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        match self.system.next(thread) {
            Next::Enabled { operation, choices } => {
                let operation = match operation {
                    // What it reads says whether it succeeds, and that is not known before.
                    Operation::Load(object)
                        if self.system.is_weak(object) && self.system.compares(thread) =>
                    {
                        Operation::ReadModifyWrite(object)
                    }
                    other => in_order(other),
                };
                match memory_of(operation).filter(|&object| self.system.is_weak(object)) {
                    // Which of them there are is not asked here.
                    Some(_) => Next::Enabled { operation, choices: u32::MAX },
                    None => Next::Enabled { operation, choices },
                }
            }
            Next::Blocked(operation) => Next::Blocked(in_order(operation)),
            other => other,
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        let operation = self.next(decision.thread).operation().expect("an enabled thread has one");
        if !chain::is_supported(operation) {
            return self.refuse(decision, meaningless(operation));
        }
        if let Some(object) = self.mixed(operation) {
            let message = format!(
                "`{}` is used in two ways that no weak memory model can combine so far: as memory and as \
                 a lock, or by an attempt to take it and by a wait",
                self.system.object_name(object)
            );
            return self.refuse(decision, message);
        }
        if let Some(object) = memory_of(operation)
            && self.system.is_weak(object)
        {
            return self.access(decision, operation, object);
        }
        let result = self.system.step_with(decision, Injection::default());
        self.schedule.push(decision);
        self.injections.push(Injection::default());
        self.steps.push(Step::default());
        result
    }

    fn rewind(&mut self, _schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        self.system.rewind_with(&self.schedule, &self.injections, depth)?;
        self.undo(depth);
        Ok(())
    }

    fn takes_injections(&self) -> bool {
        false
    }

    fn is_weak(&self, object: ObjectId) -> bool {
        self.system.is_weak(object)
    }

    fn accessed(&self) -> Option<Accessed> {
        self.system.accessed()
    }

    fn reads_from(&self) -> Option<Position> {
        self.last().access.map(|(_, source)| source)
    }

    fn compares(&self, thread: ThreadId) -> bool {
        let memory = self.system.next(thread).operation().and_then(memory_of);
        memory.is_some_and(|object| !self.system.is_weak(object)) && self.system.compares(thread)
    }

    fn undoes_steps(&self) -> bool {
        self.system.undoes_steps()
    }

    fn ending(&self) -> Ending {
        self.system.ending()
    }

    fn spin(&self, thread: ThreadId) -> Option<Spin> {
        self.system.spin(thread)
    }

    fn waits_for(&self, thread: ThreadId) -> Option<&'static str> {
        self.system.waits_for(thread)
    }

    fn has_plain_accesses(&self) -> bool {
        self.system.has_plain_accesses()
    }

    fn accesses_are_lifetimes(&self) -> bool {
        self.system.accesses_are_lifetimes()
    }

    fn accesses(&self) -> &[PlainAccess] {
        self.system.accesses()
    }

    fn parts(&self) -> &[Part] {
        self.system.parts()
    }

    fn atomic_accesses(&self) -> &[PlainAccess] {
        self.system.atomic_accesses()
    }

    fn order(&self) -> MemoryOrder {
        rules(self.model).order(self.system.order())
    }

    fn fences(&self) -> &[Fence] {
        self.system.fences()
    }

    fn look_at(&mut self, memory: &[ObjectId]) {
        self.system.look_at(memory);
    }

    fn sightings(&self) -> Vec<Sighting> {
        self.system.sightings()
    }

    fn addition(&self) -> Option<Addition> {
        None
    }

    fn is_in_order(&self, _object: ObjectId, _turn: AddId) -> bool {
        true
    }

    fn fingerprint(&self) -> Option<u128> {
        None
    }

    fn foresight(&self) -> Option<&dyn Foresight> {
        None
    }

    fn properties(&self) -> Vec<Property> {
        self.system.properties()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.system.assumptions()
    }

    fn location(&self, thread: ThreadId) -> Option<Location> {
        self.system.location(thread)
    }

    fn join_locations(&self) -> Vec<Option<Location>> {
        self.system.join_locations()
    }

    fn failure_site(&self) -> Option<FailureSite> {
        self.system.failure_site()
    }

    fn raw_value(&self) -> Option<String> {
        self.system.raw_value()
    }

    fn value_name(&self, value: u128) -> String {
        self.system.value_name(value)
    }

    fn value(&self) -> Option<String> {
        let value = self.system.value();
        let Step { access: Some((object, source)), is_stale: true, .. } = self.last() else {
            return value;
        };
        let writes = &self.objects[object.index()].writes;
        let place =
            writes.iter().position(|write| write.step == source).map_or(0, |place| place + 1);
        // The first newer one that was there: the step itself may be among them.
        let newer = writes[place..].iter().find(|write| (write.step as usize) < self.steps.len());
        let stale = newer.map(|write| {
            format!("stale: {} since step {}", self.system.value_name(write.value), write.step)
        });
        match (value, stale) {
            (Some(value), Some(stale)) => Some(format!("{value} ({stale})")),
            (None, Some(stale)) => Some(format!("({stale})")),
            (value, None) => value,
        }
    }

    fn thread_name(&self, thread: ThreadId) -> Cow<'_, str> {
        self.system.thread_name(thread)
    }

    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        self.system.object_name(object)
    }

    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        self.system.memory_name(object)
    }
}
