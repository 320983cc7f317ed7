//! The trait `System`: a concurrent program that is run one operation at a time, the seam between
//! doors and engines.

use crate::{
    AddId, Addition, Assumption, FailureSite, Fence, Location, MemoryOrder, ObjectId, Operation,
    Position, Property, Schedule, ThreadId, ThreadSet,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One choice of an execution: which thread goes next, and which alternative it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// The thread that takes its next step.
    pub thread: ThreadId,
    /// Which alternative, counted from 0, of an operation that has several.
    pub choice: u32,
}

impl Decision {
    /// The first alternative of `thread`'s next operation.
    #[inline]
    pub fn of(thread: ThreadId) -> Self {
        Self { thread, choice: 0 }
    }
}

/// What a thread would do next, and whether it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// The thread has not been created yet.
    Unborn,
    /// The thread has ended.
    Finished,
    /// The thread waits until this operation becomes possible.
    Blocked(Operation),
    /// The thread can take this step.
    Enabled {
        /// What it would do.
        operation: Operation,
        /// In how many ways: 1 unless the operation chooses. Never 0.
        choices: u32,
    },
}

impl Next {
    /// An enabled operation that leaves no choice.
    pub fn enabled(operation: Operation) -> Self {
        Self::Enabled { operation, choices: 1 }
    }

    /// The operation, enabled or not.
    #[inline]
    pub fn operation(self) -> Option<Operation> {
        match self {
            Self::Unborn | Self::Finished => None,
            Self::Blocked(operation) | Self::Enabled { operation, .. } => Some(operation),
        }
    }
}

/// What a step did that its operation did not say beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// What it says.
    Done,
    /// A `Try…` operation found nothing to take, or no room.
    Failed,
    /// A notification woke these threads.
    Woke(ThreadSet),
    /// No thread could move, and the virtual clock went on to the deadline that this step waited
    /// for: it follows all steps before it.
    Elapsed,
}

/// What a [call](crate::Operation::Call) has done with the messages of a queue. What its thread
/// knows goes with them, and not with the order of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passage {
    /// Nothing, or it is not known: calls pass on what they know in their order, as far as
    /// [`System::order`] says.
    #[default]
    InOrder,
    /// It has put a message in.
    Put {
        /// The number of the message.
        message: u64,
        /// That of the one which was in its place before.
        room_of: Option<u64>,
    },
    /// It has taken a message out.
    Took {
        /// The number of the message.
        message: u64,
    },
}

/// What it means that no thread can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A deadlock: every thread that is left waits for ever.
    Final,
    /// The program has ended, and those who wait with it.
    Exited,
    /// Some thread goes round a loop that changes nothing and that no thread is left to end.
    Spinning,
    /// Some thread went round a loop that changed nothing, and was held there. By now it could
    /// leave it: the execution that goes round once less shows what it does then.
    Redundant,
}

/// A thread that is held in a loop, see [`Ending`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// What the loop reads; the first, if there are several.
    pub object: ObjectId,
    /// For people, to follow the name of the thread: "spins at a.c:12 until x changes from 0".
    pub text: String,
}

/// A plain (non-atomic) access that a step made on its way to the thread's next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlainAccess {
    /// The memory that was touched. Plain memory is numbered apart from the objects of operations.
    pub object: ObjectId,
    /// Whether it was written.
    pub write: bool,
    /// Whether it is a part of an atomic operation or block. Two such parts do not race.
    pub is_atomic: bool,
}

impl PlainAccess {
    /// An access outside of all that is atomic.
    #[inline]
    pub fn new(object: ObjectId, write: bool) -> Self {
        Self { object, write, is_atomic: false }
    }
}

/// A thread that goes on in a step without an operation of its own: because the step has started
/// it, or because it was to wait for the end of another thread, and that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Who goes on.
    pub thread: ThreadId,
    /// Whose end it was to wait for; none if it was started.
    pub joined: Option<ThreadId>,
    /// How many of the [accesses](System::accesses) of the step were made before that.
    pub n_before: usize,
}

/// How a step is to access memory where a memory model says so, and not the machine: see
/// [`System::step_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injection {
    /// What its operation reads; `None` for what memory holds.
    pub read: Option<u128>,
    /// Whether what it writes is older than what memory holds, and is not to be written there.
    pub is_hidden: bool,
}

/// What the operation of a step did to the memory that it accessed, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// What memory held before.
    pub before: u128,
    /// What was written, if anything; a compare-and-swap that fails writes nothing.
    pub wrote: Option<u128>,
}

/// A plain access and its place, see [`System::look_at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What was accessed.
    pub memory: ObjectId,
    /// What people called it then.
    pub name: String,
    /// Who accessed it.
    pub thread: ThreadId,
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was the operation of a step, and no plain access.
    pub is_atomic: bool,
    /// What it read or wrote, where the system tells: `= 0`, `0→1`.
    pub value: Option<String>,
    /// Where in the source: the access itself, then the calls that led to it.
    pub stack: Vec<Location>,
}

/// What went wrong, as the system itself noticed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Violation {
    /// Which kind of wrong.
    pub kind: ViolationKind,
    /// For people: a lower-case fragment without a full stop.
    pub message: String,
    /// What it is more exactly than its kind says, if that is known.
    #[serde(default)]
    pub detail: Option<Detail>,
}

/// What a violation is more exactly than its kind says. Titles are made of it and of the kind,
/// never of the words of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Detail {
    /// An assertion failed: what it says and where, to stand behind the title.
    Assertion(String),
    /// A library or the language is used against its rules.
    Misuse,
    /// Memory is used after it was freed.
    UseAfterFree,
    /// Memory is freed twice.
    DoubleFree,
    /// A thread of Rust has panicked.
    Panic,
}

impl Detail {
    /// The assertion that a message of a model is about: `` assertion `x == 1` failed `` of C,
    /// `assertion violated (x == 1)` of Promela.
    pub fn asserted(message: &str) -> Option<Self> {
        let of_c = message.strip_prefix("assertion `").and_then(|it| it.strip_suffix("` failed"));
        let of_promela =
            || message.strip_prefix("assertion violated (").and_then(|rest| rest.strip_suffix(')'));
        of_c.or_else(of_promela).map(|expression| Self::Assertion(format!("`{expression}`")))
    }
}

impl Violation {
    /// One of a kind of which no more is known.
    pub fn new(kind: ViolationKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None }
    }

    /// The same with what it is more exactly.
    pub fn with(self, detail: Detail) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// The words that people search for.
    pub fn title(&self) -> &'static str {
        match &self.detail {
            Some(Detail::Assertion(_)) => ViolationKind::Assertion.title(),
            Some(Detail::Misuse) => "Misuse",
            Some(Detail::UseAfterFree) => "Use after free",
            Some(Detail::DoubleFree) => "Double free",
            Some(Detail::Panic) => "Panic",
            None => self.kind.title(),
        }
    }

    /// What stands behind the title.
    pub fn summary(&self) -> &str {
        match &self.detail {
            Some(Detail::Assertion(text)) => text,
            _ => &self.message,
        }
    }

    /// What a thread does that goes wrong, for its row in a table.
    pub fn in_words(&self) -> &'static str {
        match (&self.detail, self.kind) {
            (Some(Detail::Misuse), _) => "misuse",
            (Some(Detail::UseAfterFree), _) => "uses freed memory",
            (Some(Detail::DoubleFree), _) => "frees it again",
            (Some(Detail::Assertion(_)), _) | (_, ViolationKind::Assertion) => "assertion fails",
            (Some(Detail::Panic), _) => "panics",
            (_, ViolationKind::Panic) => "crashes",
            (_, ViolationKind::Memory) => "invalid memory access",
            (_, ViolationKind::Race) => "data race",
            (_, ViolationKind::Overflow) => "overflows",
            (_, other) => other.name(),
        }
    }
}

/// The kinds of violation, named as in the JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// An assertion of the program failed.
    Assertion,
    /// Every thread that has not ended waits.
    Deadlock,
    /// The program panicked or aborted.
    Panic,
    /// Two unordered plain accesses, one of them a write.
    Race,
    /// An execution never ends although every thread that can move does.
    Livelock,
    /// A temporal property fails.
    Ltl,
    /// An invalid access to memory.
    Memory,
    /// A signed overflow.
    Overflow,
    /// A process ended where it should not.
    InvalidEnd,
    /// Memory that is never freed.
    Leak,
    /// The engine cannot go on here: a limit of ours, and nothing that is wrong with the program.
    /// It ends a search without a verdict.
    Unsupported,
}

impl ViolationKind {
    /// The name in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Deadlock => "deadlock",
            Self::Panic => "panic",
            Self::Race => "race",
            Self::Livelock => "livelock",
            Self::Ltl => "ltl",
            Self::Memory => "memory",
            Self::Overflow => "overflow",
            Self::InvalidEnd => "invalid-end",
            Self::Leak => "leak",
            Self::Unsupported => "unsupported",
        }
    }

    /// The words that people search for.
    pub fn title(self) -> &'static str {
        match self {
            Self::Assertion => "Assertion failed",
            Self::Deadlock => "Deadlock",
            Self::Panic => "Crash",
            Self::Race => "Data race",
            Self::Livelock => "Livelock",
            Self::Ltl => "Temporal property violated",
            Self::Memory => "Invalid memory access",
            Self::Overflow => "Overflow",
            Self::InvalidEnd => "Invalid end state",
            Self::Leak => "Memory leak",
            Self::Unsupported => "Not supported",
        }
    }
}

/// A step that went wrong, and what its operation did all the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// What the operation did: it is ordered with others whether or not the thread failed after it.
    pub effect: Effect,
    /// What went wrong.
    pub violation: Violation,
}

/// A system did not do again what it had done under the same schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step} was {expected} before and is {found} now")]
pub struct Divergence {
    /// The first step that differs, counted from 1.
    pub step: usize,
    /// What was done there before.
    pub expected: String,
    /// What happens there now.
    pub found: String,
}

/// A concurrent program that is run one operation at a time.
///
/// The contract: the state depends on the decisions taken since [`reset`](System::reset) and on
/// nothing else; a thread's next operation depends on what that thread has done and seen, so it
/// does not change while others move (whether it is *enabled* may, if it is one that can block or
/// has choices; a compare-and-swap may turn from a load into a read-modify-write and back, see
/// [`compares`](System::compares); and who waits for the end of another thread may go on when that
/// ends, see [`parts`](System::parts)); a thread is born by a `Spawn` or is there from the start;
/// numbers of threads and objects are stable, see [`ThreadId`]. A system that breaks it is
/// reported, not trusted: see [`Divergence`].
pub trait System {
    /// Back to the initial state.
    fn reset(&mut self);

    /// How many thread numbers are in use: every thread of every execution so far is below it.
    fn n_threads(&self) -> usize;

    /// What a thread would do next, and whether it can.
    fn next(&self, thread: ThreadId) -> Next;

    /// Whether a thread's next operation is a compare-and-swap: an [`Operation::ReadModifyWrite`]
    /// where it would succeed, and an [`Operation::Load`] of the same object where it would fail.
    /// Which of the two it is changes only with the value of that object.
    fn compares(&self, _thread: ThreadId) -> bool {
        false
    }

    /// Takes the next step of an enabled thread.
    ///
    /// After a violation the thread that failed counts as ended and the others can go on.
    fn step(&mut self, decision: Decision) -> Result<Effect, Failure>;

    /// Back to the state after `schedule[..depth]`, where the system is now somewhere after it.
    /// By default: reset and replay. A system that can undo or restore overrides it.
    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        replay_to(self, schedule, depth)
    }

    /// Whether a memory model can be put between this system and its memory: whether
    /// [`step_with`](System::step_with), [`accessed`](System::accessed) and
    /// [`rewind_with`](System::rewind_with) do what they say. If not, the system can be searched
    /// under sequential consistency alone.
    fn takes_injections(&self) -> bool {
        false
    }

    /// Takes the next step of an enabled thread, whose operation accesses memory as `injection`
    /// says.
    ///
    /// Memory itself always holds what is last in the modification order. That is also what plain
    /// accesses find: as long as there is no data race, each comes after all writes before it.
    fn step_with(&mut self, decision: Decision, injection: Injection) -> Result<Effect, Failure> {
        debug_assert_eq!(injection, Injection::default(), "this system has a memory of its own");
        self.step(decision)
    }

    /// Whether accesses to this memory can be told what to read. Those to other memory are in one
    /// order, whatever the memory model: each comes after the one before it.
    fn is_weak(&self, _object: ObjectId) -> bool {
        true
    }

    /// What the operation of the last step accessed, if it was an access to memory and the system
    /// [takes injections](System::takes_injections).
    fn accessed(&self) -> Option<Accessed> {
        None
    }

    /// [`rewind`](System::rewind), where the steps of the schedule were taken with these
    /// injections.
    fn rewind_with(
        &mut self,
        schedule: &Schedule,
        injections: &[Injection],
        depth: usize,
    ) -> Result<(), Divergence> {
        self.reset();
        let steps = schedule.decisions()[..depth].iter().zip(injections);
        for (idx, (&decision, &injection)) in steps.enumerate() {
            possible(self, idx + 1, decision)?;
            let _ = self.step_with(decision, injection);
        }
        Ok(())
    }

    /// The step that wrote what the last step has read from memory, 0 if no step did; `None` where
    /// no memory model decides it, and a read takes what was written last.
    fn reads_from(&self) -> Option<Position> {
        None
    }

    /// Whether [`rewind`](System::rewind) undoes steps one by one and repeats none, so that no
    /// thread needs to be asked whether it is where it was.
    fn undoes_steps(&self) -> bool {
        false
    }

    /// How an execution has ended that no thread can continue.
    ///
    /// A thread that has gone round a loop without changing anything may be held there and be
    /// [`Next::Finished`] from then on: whatever it does after one more round, it also does in
    /// executions that have one round less. What is left to see is whether it could ever leave.
    fn ending(&self) -> Ending {
        Ending::Final
    }

    /// The loop that a thread is held in.
    fn spin(&self, _thread: ThreadId) -> Option<Spin> {
        None
    }

    /// What a thread waits for that cannot move, in words that follow its name, where they say more
    /// than its operation does.
    fn waits_for(&self, _thread: ThreadId) -> Option<&'static str> {
        None
    }

    /// Whether there may be accesses that are no operations, and are only [told](Self::accesses):
    /// what a search says of a program with data races among them is no more than that it has some.
    fn has_plain_accesses(&self) -> bool {
        false
    }

    /// Whether what is [told](Self::accesses) is the life of things alone: who is about to use one,
    /// and who ends it. Two of these that nothing orders are no data race, but a use of what is
    /// gone.
    fn accesses_are_lifetimes(&self) -> bool {
        false
    }

    /// The plain accesses that were made in the last step, in order: first those of its thread,
    /// then those of its [parts](Self::parts).
    fn accesses(&self) -> &[PlainAccess] {
        &[]
    }

    /// Who went on in the last step without an operation of its own, in order.
    ///
    /// A join can be such a part, in place of a step. Once possible, it stays possible, and it
    /// commutes with whatever others do: nothing is lost by taking it at once. The thread then goes
    /// on in the step that ends the other one, or in the step of its own in which it comes to the
    /// join. Whatever it does next happens after both
    /// ([`HappensBefore::join`](crate::HappensBefore::join)).
    fn parts(&self) -> &[Part] {
        &[]
    }

    /// What the operation of the last step accessed itself, where plain accesses to that are told.
    fn atomic_accesses(&self) -> &[PlainAccess] {
        &[]
    }

    /// The memory order of the last step's operation, if that was an atomic access: of a
    /// compare-and-swap that failed, the order for failure. A call of the futex orders something
    /// only if this says so, and so does a call of an object. What is sent with less than a
    /// release carries nothing. Other operations order what they do whatever this says.
    fn order(&self) -> MemoryOrder {
        MemoryOrder::SequentiallyConsistent
    }

    /// What the last step has done with the messages of a queue, if it was a call.
    fn passage(&self) -> Passage {
        Passage::InOrder
    }

    /// The fences in the last step, in order.
    fn fences(&self) -> &[Fence] {
        &[]
    }

    /// From now on, notes where this plain memory is accessed, and no other.
    fn look_at(&mut self, _memory: &[ObjectId]) {}

    /// Where the last step accessed the memory that is [looked at](Self::look_at), in order.
    fn sightings(&self) -> Vec<Sighting> {
        Vec::new()
    }

    /// What the last step added, if it was an [`Operation::Add`] or an [`Operation::AddAndTest`] to
    /// something that anybody looks at when it adds.
    fn addition(&self) -> Option<Addition> {
        None
    }

    /// Some order of the additions to this object, one that they were not kept in, would have told
    /// a thread something else. The search is void: the next one is to have a stricter
    /// [`Discipline`](crate::Discipline), with these in order.
    fn add_does_not_commute(&mut self, _object: ObjectId, _turns: &[AddId]) {}

    /// Whether this addition, announced as an [`Operation::AddAndTest`], is to be in order. If not,
    /// the search takes it for an [`Operation::Add`].
    fn is_in_order(&self, _object: ObjectId, _turn: AddId) -> bool {
        true
    }

    /// A hash of the whole state, for systems that can tell: equal states, equal hashes.
    fn fingerprint(&self) -> Option<u128> {
        None
    }

    /// What is known of the future without running it, for systems that can tell.
    fn foresight(&self) -> Option<&dyn Foresight> {
        None
    }

    /// What it notices by itself when it takes a step, beside failed assertions.
    fn properties(&self) -> Vec<Property> {
        Vec::new()
    }

    /// What a verdict about this system takes for granted.
    fn assumptions(&self) -> Vec<Assumption> {
        Vec::new()
    }

    /// Where in the source the next operation of a thread stands, if that is known.
    fn location(&self, _thread: ThreadId) -> Option<Location> {
        None
    }

    /// Where in the source the [joins](Part::joined) of the last step stand, in the order of its
    /// parts; empty if that is not known.
    fn join_locations(&self) -> Vec<Option<Location>> {
        Vec::new()
    }

    /// Who has failed in the execution so far, and where. To be asked after a violation.
    fn failure_site(&self) -> Option<FailureSite> {
        None
    }

    /// The same with numbers for addresses, if [`value`](System::value) has names for some.
    fn raw_value(&self) -> Option<String> {
        None
    }

    /// A value of memory, for people: a name if it is an address of something.
    fn value_name(&self, value: u128) -> String {
        value.to_string()
    }

    /// What the last step read, wrote or chose, for people: `= 0`, `0→1`, `null→&node#2`.
    fn value(&self) -> Option<String> {
        None
    }

    /// What people call the thread.
    fn thread_name(&self, thread: ThreadId) -> Cow<'_, str> {
        Cow::Owned(thread.to_string())
    }

    /// What people call the object of an operation.
    fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Owned(object.to_string())
    }

    /// What people call the plain memory of a [`PlainAccess`].
    fn memory_name(&self, object: ObjectId) -> Cow<'_, str> {
        Cow::Owned(object.to_string())
    }
}

/// Resets a system and takes the steps `schedule[..depth]`: how to rewind without undo.
pub fn replay_to<S: System + ?Sized>(
    system: &mut S,
    schedule: &Schedule,
    depth: usize,
) -> Result<(), Divergence> {
    system.reset();
    for (idx, &decision) in schedule.decisions()[..depth].iter().enumerate() {
        possible(system, idx + 1, decision)?;
        // A violation on the way was reported when it was first met.
        let _ = system.step(decision);
    }
    Ok(())
}

/// The operation that a decision takes in the current state, before step number `step`; a
/// divergence if it is not possible there.
pub fn possible<S: System + ?Sized>(
    system: &S,
    step: usize,
    decision: Decision,
) -> Result<Operation, Divergence> {
    let next = match decision.thread.index() < system.n_threads() {
        true => system.next(decision.thread),
        false => Next::Unborn,
    };
    match next {
        Next::Enabled { operation, choices } if decision.choice < choices => Ok(operation),
        other => Err(Divergence {
            step,
            expected: format!("a step of {}", decision.thread),
            found: format!("{other:?}"),
        }),
    }
}

/// Static information: which operations a thread may still take.
///
/// POPL 2005, section 2.2: "which operations on which communication objects each process might
/// execute in the future", usually from an analysis of the code.
pub trait Foresight {
    /// Calls `visit` with every operation that `thread` may take from the current state on, its
    /// next one included. May name too many, never too few. For a thread that is not born yet:
    /// all it may ever take.
    fn future(&self, thread: ThreadId, visit: &mut dyn FnMut(Operation));

    /// The same, as long as `holder` takes no step: less, where that has a lock on the way.
    fn future_without(
        &self,
        thread: ThreadId,
        _holder: ThreadId,
        visit: &mut dyn FnMut(Operation),
    ) {
        self.future(thread, visit);
    }

    /// Whether [`future_without`](Self::future_without) a thread may be less than the future.
    fn is_in_the_way(&self, _thread: ThreadId) -> bool {
        false
    }
}
