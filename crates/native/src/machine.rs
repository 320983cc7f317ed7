//! The program as the explorer sees it: threads, what each would do next, and whether it can.
//!
//! A thread announces an operation ([`visible`]) and is suspended. The explorer decides who goes
//! on; the operation is applied to the [`Objects`] and the thread runs to its next one. A thread
//! that is started runs to its first operation at the end of the step that has started it
//! ([`Machine::newborn`]): its plain accesses count as its own, and what goes wrong there goes
//! wrong in that step. No thread starts `main`, whose first operation is a `Begin`.
//!
//! Neither is a join a step of its own ([`wait_for_end`]). A thread that waits for the end of
//! another goes on in the step in which that ends ([`Machine::joiner`]); who comes to wait for one
//! that has ended goes on at once. Nothing is lost by that. A join that is possible stays possible,
//! since no thread begins to live again, and no other may join the same thread; it changes nothing
//! that others could see. So it commutes with all that others do meanwhile, and so does what its
//! thread does up to its next operation. In both cases that comes after the last step of the thread
//! that has ended and after the last one of its own, which is what the explorer is told
//! (`System::parts`).
//!
//! When all threads but one were joined, directly or by one that was, the last one knows of all
//! that was ever done, and no other thread can do anything beside it. Until it starts another
//! thread, its accesses to memory are no steps either ([`Machine::is_concurrent`]).

use crate::after_write;
use crate::awaits::Loops;
use crate::before_wait;
use crate::cancel;
use crate::checkpoint::Checkpoints;
use crate::clock::Clock;
use crate::coroutine::{self, Coroutine, FloatEnvironment, Resumption};
use crate::counted_waits::CountedWaits;
use crate::disciplines::Disciplines;
use crate::exit;
use crate::heap::Heap;
use crate::invalid;
use crate::io::{self, Files, Refusal};
use crate::library::{self, kept};
use crate::lifecycle;
use crate::locals::{self, Locals};
use crate::meetings::Meetings;
use crate::memory::{self, Part, Saved};
use crate::named::{self, NamedSemaphore};
use crate::names::{self, Frame};
use crate::numbers::Names;
use crate::objects::Objects;
use crate::operators;
use crate::plain_accesses::Watch;
use crate::plain_values::Held;
use crate::process::{self, Handler, Start};
use crate::process_barrier;
use crate::rust_mutex::RustMutexes;
use crate::signals::{self, Crash};
use crate::site_orders::SiteOrders;
use crate::sites::{self, Sites};
use crate::spin::{self, Arrival, CountingLoops, Reads};
use crate::std_locks;
use crate::thread::{Comparison, Destructor, Status, Thread};
use crate::time::Times;
use crate::tls::Lender;
use crate::trusted::{self, Predicate, Trusted};
use crate::try_join;
use crate::weak_accesses::WeakAccesses;
use crate::weak_memory::{self, WeakMemory};
use mazurka_core::{
    Addition, Decision, Effect, Ending, Failure, Injection, Limit, Location, MemoryOrder, Next,
    ObjectId, Operation, Passage, ThreadId, ThreadSet, Violation, ViolationKind,
};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

const STACKS_WISH: usize = 0x2f00_0000_0000;
/// So many reads of the only thread that is left are not looked at in a step: a loop that never
/// ends goes on for longer.
const N_UNSEEN_READS: u32 = 100;
/// How often a thread fails in vain by default.
pub(crate) const RETRIES: u32 = 2;

/// Everything about the program that is not in its own memory.
pub(crate) struct Machine {
    pub(crate) heap: Heap,
    pub(crate) watch: Watch,
    pub(crate) objects: Objects,
    pub(crate) threads: Vec<Thread>,
    pub(crate) thread_names: Names,
    /// The times that objects pass on; and whether a thread of any execution has looked at a clock
    /// while others were there: see `time`.
    pub(crate) times: Times,
    pub(crate) has_clocks: bool,
    /// The variables of the program, what objects allocated that were made before it is explored,
    /// and what all of them held when it began.
    pub(crate) variables: Vec<Part>,
    /// How many of them are variables.
    pub(crate) n_variables: usize,
    pub(crate) first: Vec<Saved>,
    pub(crate) checkpoints: Checkpoints,
    /// How many steps were taken.
    pub(crate) depth: usize,
    /// What the step in progress did. The thread may correct it: a compare-and-swap that failed.
    pub(crate) effect: Effect,
    pub(crate) value: Value,
    /// The memory order of its operation, where the program has asked for one.
    pub(crate) order: MemoryOrder,
    /// What a call has done with the messages of a queue.
    pub(crate) passage: Passage,
    /// Whether an atomic operation of precompiled code was ever taken: see `precompiled`.
    pub(crate) has_precompiled: bool,
    /// From where the first access of assembly was made: see `assembly`.
    pub(crate) first_assembly: Option<Vec<usize>>,
    pub(crate) weak_accesses: WeakAccesses,
    /// Which of the ways to take its operation was chosen.
    pub(crate) choice: u32,
    /// How many it has let sleep elsewhere.
    pub(crate) n_moved: usize,
    /// What it added to a counter.
    pub(crate) addition: Option<Addition>,
    pub(crate) disciplines: Disciplines,
    pub(crate) rust_mutexes: RustMutexes,
    pub(crate) trusted: Trusted,
    /// Atomic words of the bookkeeping of threads, ascending: see `trusted`.
    pub(crate) unseen_words: Vec<usize>,
    pub(crate) clock: Clock,
    /// What the step in progress came to.
    pub(crate) violation: Option<Violation>,
    /// Why the search cannot go on.
    pub(crate) refusal: Option<Refusal>,
    pub(crate) weak_memory: WeakMemory,
    /// Orders by place.
    pub(crate) site_orders: SiteOrders,
    /// Who has come to no operation.
    pub(crate) stuck: Option<Limit>,
    pub(crate) files: Files,
    /// Who was started in the step in progress and has not run yet.
    pub(crate) newborn: Option<usize>,
    /// Who has waited for the thread that has just ended, and goes on now.
    pub(crate) joiner: Option<usize>,
    pub(crate) sites: Sites,
    /// Whether a second thread was ever announced in this execution.
    pub(crate) is_shared: bool,
    /// How many threads were announced in this execution, less those that were joined.
    pub(crate) n_unjoined: usize,
    /// How many reads the only thread that was left has made in the step in progress.
    pub(crate) n_lonely_reads: u32,
    /// Whether the program has exited in this execution.
    pub(crate) has_exited: bool,
    /// Who has used the list of handlers last while others ran: see `exit`.
    pub(crate) handlers_user: Option<usize>,
    /// How often a thread may fail in vain: see `timed`.
    pub(crate) retries: u32,
    /// Whether a thread that ends while it holds a lock is a violation.
    pub(crate) looks_for_leaks: bool,
    /// After how many failures a thread of any execution was patient: the fewest of them.
    pub(crate) patience: Option<u32>,
    /// Whether the program is the test harness of Rust, told to run one test.
    pub(crate) is_test: bool,
    /// Whether that was refused a thread for the test in this execution.
    pub(crate) has_refused: bool,
    pub(crate) named_semaphores: Vec<NamedSemaphore>,
    /// Whether a thread of any execution has looked whether another one had ended: see `try_join`.
    pub(crate) are_ends_seen: bool,
    /// Whether two threads of any execution have used the handlers of the exit beside each other:
    /// see `exit`.
    pub(crate) are_exits_seen: bool,
    /// Which locks of the standard library are steps: see `std_locks`.
    pub(crate) std_locks: std_locks::Met,
    /// Whether a thread of any execution has registered such a handler or called one.
    pub(crate) has_handlers: bool,
    /// Whether a thread of any execution was asked to end: see `cancel`.
    pub(crate) has_cancellation: bool,
    /// Whether data races are no violation.
    pub(crate) are_races_allowed: bool,
    /// Whether a thread of any execution came to the same read twice and changed nothing between.
    pub(crate) has_loops: bool,
    /// Whether the first round of a loop is not compared with the second.
    pub(crate) doubts_first_rounds: bool,
    pub(crate) counting_loops: CountingLoops,
    pub(crate) counted_waits: CountedWaits,
    pub(crate) meetings: Meetings,
    pub(crate) loops: Loops,
    /// The destructors of the keys of thread-specific values.
    pub(crate) keys: Vec<Option<Destructor>>,
    /// What is called when the program exits, the last one first.
    pub(crate) exit_handlers: Vec<Handler>,
    /// The same for `quick_exit`.
    pub(crate) quick_handlers: Vec<Handler>,
    /// Those of [`Machine::exit_handlers`] that were there before `main`.
    pub(crate) early_handlers: Vec<Handler>,
    /// The stack of a thread, once the host has asked for it.
    pub(crate) backtrace: Option<Vec<Frame>>,
    pub(crate) is_backtrace_wanted: bool,
    /// What was on top of its stack before.
    pub(crate) before_backtrace: Resumption,
    pub(crate) locals: Locals,
    /// The decisions of an execution that is repeated, and how many of them were followed.
    pub(crate) script: Vec<Decision>,
    pub(crate) n_followed: usize,
}

/// What an atomic operation of so many bytes read or wrote, for people.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    None,
    Read(usize, u128),
    Wrote(usize, u128),
    Changed(usize, u128, u128),
    /// What it wrote is not there yet.
    Held(Held),
}

impl Value {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Read(len, _) | Self::Wrote(len, _) | Self::Changed(len, ..) => Some(*len),
            Self::None | Self::Held(_) => None,
        }
    }
}

unsafe extern "C" {
    static mut __libc_single_threaded: std::ffi::c_char;
}

/// In its place from the beginning, so that its users need not look up where it is: that is
/// done dozens of times in a step.
struct Global(UnsafeCell<MaybeUninit<Machine>>);

// SAFETY: only the OS thread that explores uses it.
unsafe impl Sync for Global {}

static MACHINE: Global = Global(UnsafeCell::new(MaybeUninit::uninit()));
static IS_SET_UP: AtomicBool = AtomicBool::new(false);

/// Whether there is a machine.
pub(crate) fn is_set_up() -> bool {
    IS_SET_UP.load(Ordering::Relaxed)
}

/// Gives the one machine to `use_it`, which must neither suspend the thread nor ask for the
/// machine again. There has to be one: a thread of the program runs, or the search has begun.
#[inline(always)]
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Machine) -> R) -> R {
    debug_assert!(is_set_up(), "a program is explored");
    // SAFETY: the caller is a thread of the program or the search, and both begin once it
    // is set up; one OS thread explores, and no use of the machine is within another.
    use_it(unsafe { (*MACHINE.0.get()).assume_init_mut() })
}

/// Takes the program as it is now, with `start` as the way into it.
pub(crate) fn set_up(start: Start) -> Result<(), &'static str> {
    // Otherwise the library of C++ would count references as if there were one thread.
    // SAFETY: the C library lets programs see it, and sets it so itself for a second thread.
    unsafe { __libc_single_threaded = 0 };
    let heap = Heap::new().ok_or("no address space for the heaps of the program")?;
    let stacks = memory::reserve(STACKS_WISH, coroutine::STACK_LEN * ThreadId::MAX);
    coroutine::set_stacks(stacks.ok_or("no address space for the stacks of the program")?);
    let mut main = Thread::new(0);
    main.lender = Some(Box::new(Lender::main()));
    main.start = start;
    main.stack_size = coroutine::default_sizes().0;
    let machine = Machine {
        heap,
        watch: Watch::new(),
        objects: Objects::default(),
        threads: vec![main],
        thread_names: Names::new(),
        times: Times::default(),
        has_clocks: false,
        variables: Vec::new(),
        n_variables: 0,
        first: Vec::new(),
        checkpoints: Checkpoints::default(),
        depth: 0,
        effect: Effect::Done,
        value: Value::None,
        order: MemoryOrder::default(),
        passage: Passage::InOrder,
        has_precompiled: false,
        first_assembly: None,
        weak_accesses: WeakAccesses::default(),
        choice: 0,
        n_moved: 0,
        addition: None,
        disciplines: Disciplines::default(),
        rust_mutexes: RustMutexes::default(),
        trusted: Trusted::default(),
        unseen_words: Vec::new(),
        clock: Clock::default(),
        violation: None,
        refusal: None,
        weak_memory: WeakMemory::default(),
        site_orders: SiteOrders::default(),
        stuck: None,
        files: Files::default(),
        newborn: None,
        joiner: None,
        sites: Sites::default(),
        is_shared: false,
        n_unjoined: 0,
        n_lonely_reads: 0,
        has_exited: false,
        handlers_user: None,
        retries: RETRIES,
        looks_for_leaks: true,
        patience: None,
        is_test: false,
        has_refused: false,
        named_semaphores: Vec::new(),
        are_ends_seen: false,
        are_exits_seen: false,
        std_locks: std_locks::Met::default(),
        has_handlers: false,
        has_cancellation: false,
        are_races_allowed: false,
        has_loops: false,
        doubts_first_rounds: false,
        counting_loops: CountingLoops::default(),
        counted_waits: CountedWaits::default(),
        meetings: Meetings::default(),
        loops: Loops::new(),
        keys: Vec::new(),
        exit_handlers: Vec::new(),
        quick_handlers: Vec::new(),
        early_handlers: process::early_handlers(),
        backtrace: None,
        is_backtrace_wanted: false,
        before_backtrace: Resumption::default(),
        locals: Locals::default(),
        script: Vec::new(),
        n_followed: 0,
    };
    // SAFETY: it is not in use yet.
    unsafe { (*MACHINE.0.get()).write(machine) };
    IS_SET_UP.store(true, Ordering::Relaxed);
    with(|machine| {
        machine.variables = memory::variables();
        machine.n_variables = machine.variables.len();
        machine.variables.extend(operators::early_parts());
        machine.first.resize_with(machine.variables.len(), Saved::default);
        for (part, saved) in machine.variables.iter_mut().zip(&mut machine.first) {
            part.save(saved);
        }
    });
    Ok(())
}

/// The thread that runs.
#[inline]
pub(crate) fn current() -> ThreadId {
    ThreadId::new(current_idx())
}

/// Its index. If none runs, it is one that no thread has.
#[inline(always)]
fn current_idx() -> usize {
    coroutine::running()
}

/// Announces what the running thread does next, and returns once it has been let do it. Whether
/// that succeeded: only what is tried can fail.
pub(crate) fn visible(operation: Operation) -> bool {
    let idx = current_idx();
    let is_seen = with(|machine| {
        let is_yield = operation == Operation::Yield;
        if is_yield && machine.threads[idx].is_quiet {
            return false;
        }
        let reads = &mut machine.threads[idx].reads;
        reads.come(is_yield);
        if is_yield {
            reads.note_wait();
        }
        !is_yield || !machine.counting_loops.is_unseen()
    });
    if !is_seen {
        return true;
    }
    let is_done = announce(idx, operation);
    if let Some(object) = used(operation) {
        // Others may have freed or destroyed it while the thread was on its way to it.
        let address = with(|machine| machine.objects.address(object));
        invalid::check(address, 1, true);
        lifecycle::check(address);
    }
    is_done
}

/// The same for an operation that is a call of a trusted object: what it uses is not looked at.
pub(crate) fn visible_call(operation: Operation) {
    let idx = current_idx();
    with(|machine| machine.threads[idx].reads.come(false));
    announce(idx, operation);
}

/// The object whose memory is used when an operation is taken. Who was woken may find it gone, and
/// so may who wakes whom a futex lets sleep.
fn used(operation: Operation) -> Option<ObjectId> {
    use Operation as O;
    match operation {
        O::Acquire(object)
        | O::TryAcquire(object)
        | O::Release(object)
        | O::ReadAcquire(object)
        | O::TryReadAcquire(object)
        | O::ReadRelease(object)
        | O::WriteAcquire(object)
        | O::TryWriteAcquire(object)
        | O::WriteRelease(object)
        | O::SemaphoreRelease(object)
        | O::SemaphoreAcquire { semaphore: object, .. }
        | O::SemaphoreTryAcquire { semaphore: object, .. } => Some(object),
        _ => None,
    }
}

#[inline(always)]
fn announce(idx: usize, operation: Operation) -> bool {
    debug_assert!(!before_wait::is_pending(), "{operation} came before a wait");
    with(|machine| {
        machine.threads[idx].operation = operation;
        machine.check_new_regions();
    });
    go_on(idx);
    while with(|machine| machine.is_backtrace_wanted) {
        tell_backtrace();
        leave(idx);
    }
    spin::end_operation(idx);
    with(|machine| machine.effect != Effect::Failed)
}

/// Lets the thread whose turn it is go on, and returns when it is that of the running thread.
#[inline(always)]
fn go_on(idx: usize) {
    match with(Machine::follow) {
        Some(next) if next == idx => {}
        Some(next) => hand_over(idx, next),
        None => leave(idx),
    }
}

#[cold]
fn tell_backtrace() {
    let frames = names::frames();
    with(|machine| {
        machine.is_backtrace_wanted = false;
        machine.backtrace = Some(frames);
    });
}

/// Announces a write to an address, where that is not known to change nothing. Whether it was
/// announced.
pub(crate) fn visible_write(address: usize, len: usize) -> bool {
    if with(|machine| machine.threads[current_idx()].is_quiet) {
        return false;
    }
    invalid::check_pointer(address, len, true);
    let object = with(|machine| {
        machine.note_sharing(address, len);
        machine.is_concurrent().then(|| machine.objects.atomic(address, len))
    });
    if let Some(object) = object {
        visible(Operation::Store(object));
    }
    invalid::check(address, len, true);
    object.is_some()
}

/// Announces an access to the atomic at an address that may turn out to change nothing. Whether
/// it was: where there is no second thread, no thread needs to know, unless the only one is held.
///
/// Atomics on the own stack are announced, too, even if no other thread has ever seen them. That is
/// known only from other executions, and a printed schedule has to be good without them.
#[inline(always)]
pub(crate) fn visible_read(
    arrival: &Arrival,
    address: usize,
    len: u8,
    operation: impl FnOnce(ObjectId) -> Operation,
) -> bool {
    let idx = current_idx();
    invalid::check_pointer(address, usize::from(len), false);
    let object = with(|machine| {
        if !machine.is_concurrent() {
            machine.n_lonely_reads = machine.n_lonely_reads.saturating_add(1);
        }
        if !machine.looks_at_reads() || machine.is_unseen_word(address) {
            return None;
        }
        machine.note_sharing(address, usize::from(len));
        let is_seen = machine.come_to_read(idx, arrival, address)
            && (machine.is_concurrent() || machine.threads[idx].reads.is_held());
        is_seen.then(|| machine.objects.atomic(address, usize::from(len)))
    });
    if object.is_none() {
        with(|machine| machine.note_unseen_access(idx, address, len));
    }
    let is_announced = object.is_some_and(|object| {
        let operation = operation(object);
        let waits = with(|machine| {
            machine.trusted.in_order(operation) == operation
                && machine.begin_wait(idx, arrival, address, len, operation)
        });
        match (waits, operation) {
            (true, Operation::Load(_)) => announce_await(idx, Operation::Await(object)),
            (true, _) => announce_await(idx, Operation::AwaitModify(object)),
            (false, _) => announce_access(idx, operation),
        }
    });
    invalid::check(address, usize::from(len), false);
    is_announced
}

/// Announces an access to an atomic that only reads or adds, as what it is to be in order with.
/// Whether it did not fail.
#[inline(always)]
fn announce_access(idx: usize, operation: Operation) -> bool {
    let in_order = with(|machine| machine.trusted.in_order(operation));
    let is_done = announce(idx, in_order);
    if in_order != operation && matches!(operation, Operation::Load(_)) {
        // It has only loaded.
        fail_try();
    }
    is_done
}

/// Announces an access that waits for a value from which the thread goes on: see `awaits`.
fn announce_await(idx: usize, operation: Operation) -> bool {
    let is_done = announce(idx, operation);
    with(|machine| machine.threads[idx].waiting = None);
    is_done
}

/// The access that came to [`visible_read`] has changed nothing.
#[inline]
pub(crate) fn note_read(arrival: &Arrival, address: usize, len: u8) {
    let idx = current_idx();
    with(|machine| {
        if machine.looks_at_reads() {
            machine.note_read(idx, arrival, address, len);
        }
    });
    spin::end_operation(idx);
}

/// Announces a compare-and-swap by `announce`. Where it would fail, it is a load.
#[inline]
pub(crate) fn compare<R>(comparison: Comparison, announce: impl FnOnce() -> R) -> R {
    let idx = current_idx();
    with(|machine| machine.threads[idx].comparison = Some(comparison));
    let result = announce();
    with(|machine| machine.threads[idx].comparison = None);
    result
}

/// A compare-and-swap that failed has only loaded.
#[inline]
pub(crate) fn fail_try() {
    with(|machine| machine.effect = Effect::Failed);
}

/// What the running thread has just taken orders this and no more.
pub(crate) fn set_order(order: MemoryOrder) {
    with(|machine| machine.order = order);
}

/// What the running thread has just taken orders nothing. A call of the futex is one of the system
/// for C11, and what it compares or changes is no atomic access of the program; and neither is a
/// volatile one.
pub(crate) fn order_nothing() {
    set_order(MemoryOrder::Relaxed);
}

/// Waits until a thread has ended, which no other thread sees.
#[inline(always)]
pub(crate) fn wait_for_end(child: ThreadId) {
    let idx = current_idx();
    let has_ended = with(|machine| {
        machine.threads[idx].reads.come(false);
        machine.threads[child.index()].joiner = Some(idx);
        machine.threads[child.index()].has_ended()
    });
    if !has_ended {
        announce(idx, Operation::Join(child));
    }
    sites::note_join();
    with(|machine| {
        machine.n_unjoined -= 1;
        machine.pass_time();
        machine.learn_time(ThreadId::new(idx), machine.threads[child.index()].ticks);
        machine.threads[child.index()].is_joined = true;
        machine.threads[idx].n_joined += 1;
        machine.begin_part(idx, Some(child));
    });
}

/// Ends the running thread.
pub(crate) fn finish(result: usize) -> ! {
    let idx = current_idx();
    with(|machine| {
        machine.threads[idx].result = result;
        machine.end(idx);
    });
    go_on(idx);
    unreachable!("a thread that has ended is not resumed")
}

/// Ends the running thread together with the process: no join of it returns.
pub(crate) fn stop() -> ! {
    let idx = current_idx();
    with(|machine| machine.stop(idx));
    go_on(idx);
    unreachable!("no thread of a process that has ended is resumed")
}

/// Ends the running thread, which is `main`, and returns when all others have ended.
pub(crate) fn await_all() {
    let idx = current_idx();
    let other = with(|machine| {
        machine.threads[idx].has_left = true;
        machine.threads[idx].reads.come(false);
        machine.joiner = machine.threads[idx].joiner;
        machine.last_of_others()
    });
    if let Some(other) = other {
        announce(idx, Operation::Join(other));
    }
    with(|machine| {
        machine.n_unjoined = 0;
        for other in 1..machine.threads.len() {
            if machine.threads[other].status == Status::Finished {
                machine.learn_time(ThreadId::new(idx), machine.threads[other].ticks);
                machine.begin_part(idx, Some(ThreadId::new(other)));
            }
        }
    });
}

/// Ends the running thread because something is wrong.
pub(crate) fn fail(kind: ViolationKind, message: String) -> ! {
    fail_with(Violation::new(kind, message))
}

/// The same with more that is known.
pub(crate) fn fail_with(violation: Violation) -> ! {
    library::leave();
    sites::note_failure();
    with(|machine| {
        machine.violation.get_or_insert(violation);
    });
    mazurka_violation();
    stop()
}

/// Where a debugger stops when something goes wrong: on the stack of the thread that did it.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn mazurka_violation() {
    // Otherwise all calls of it would be left out.
    std::hint::black_box(());
}

/// Back to the host.
#[inline(always)]
fn leave(idx: usize) {
    let save = with(|machine| &raw mut machine.threads[idx].coroutine.stack_pointer);
    // SAFETY: a coroutine runs, and `save` is written before anything else happens.
    unsafe { coroutine::suspend(save) };
}

/// From one thread to another, without the host.
#[inline(always)]
fn hand_over(from: usize, to: usize) {
    let (save, coroutine) = with(|machine| {
        let coroutine = machine.coroutine(to);
        (&raw mut machine.threads[from].coroutine.stack_pointer, coroutine)
    });
    // SAFETY: a coroutine runs, the other one is prepared or suspended, and nobody holds the
    // machine.
    unsafe { coroutine::transfer(save, to, coroutine) };
}

/// Lets a thread run until it announces its next operation or ends, and whomever it hands over to.
#[inline(always)]
pub(crate) fn run(idx: usize) {
    let coroutine = with(|machine| machine.coroutine(idx));
    // SAFETY: the thread is prepared or suspended, and nobody holds the machine.
    let last = unsafe { coroutine::resume(idx, coroutine) };
    if let Some(crash) = signals::take_crash() {
        note_crash(last, crash);
    }
}

#[cold]
fn note_crash(idx: usize, crash: Crash) {
    if with(|machine| machine.is_backtrace_wanted) {
        // The stack is destroyed, and so its frames cannot be told. The thread may go on.
        with(|machine| machine.restore_after_backtrace(idx));
    } else if crash.is_stuck() {
        let place = names::interrupted_at(&crash);
        with(|machine| machine.note_stuck(idx, place));
    } else {
        with(|machine| machine.note_crash(idx, crash));
    }
}

impl Machine {
    /// The next child of a thread, announced but not born; or why there can be none.
    pub(crate) fn announce_child(
        &mut self,
        parent: ThreadId,
        start: Start,
    ) -> Result<ThreadId, String> {
        let child = self.number_for_child(parent).ok_or_else(|| {
            format!("a program has at most {} threads that were not joined", ThreadId::MAX)
        })?;
        let thread = &mut self.threads[child.index()];
        if thread.lender.is_none() {
            coroutine::as_host(|| thread.lender = Lender::new());
            if thread.lender.is_none() {
                return Err("the system has no thread more to lend it storage".to_owned());
            }
        }
        thread.start = start;
        self.is_shared = true;
        self.n_unjoined += 1;
        Ok(child)
    }

    /// Whether to refuse a thread that is about to be announced. Rust's test harness wants one for
    /// each test; where there is none, it runs the test on its own thread, as it says.
    pub(crate) fn refuses_thread(&mut self) -> bool {
        self.is_test && !std::mem::replace(&mut self.has_refused, true)
    }

    /// A thread begins its life.
    fn bear(&mut self, thread: ThreadId) {
        let idx = thread.index();
        if self.has_cancellation && self.threads[idx].is_joined {
            cancel::forget_request(self, thread);
        }
        let thread = &mut self.threads[idx];
        let lender = thread.lender.as_ref().expect("it was lent storage when it was announced");
        lender.reset();
        let thread_pointer = lender.thread_pointer;
        coroutine::set_size(idx, thread.stack_size);
        thread.begin(idx);
        thread.coroutine.thread_pointer = thread_pointer;
        if self.threads[0].has_left {
            self.note_end();
        }
    }

    /// Whether reads can be steps, or those of a loop.
    #[inline]
    fn looks_at_reads(&self) -> bool {
        self.is_concurrent() || self.is_shared && self.n_lonely_reads > N_UNSEEN_READS
    }

    /// A thread has ended: one that waits for that goes on.
    fn end(&mut self, idx: usize) {
        self.threads[idx].status = Status::Finished;
        self.joiner = self.threads[idx].joiner;
        if self.threads[0].has_left {
            self.note_end();
        }
        // Where steps are told, so are all joins.
        if !self.is_concurrent() && !self.sites.is_told() {
            self.watch.end_parts(ThreadId::new(idx));
        }
    }

    /// A thread has ended the process, or something went wrong in it: no thread goes on because of
    /// that.
    fn stop(&mut self, idx: usize) {
        self.threads[idx].status = Status::Exited;
        // Where steps are told, so are all joins.
        if !self.is_concurrent() && !self.sites.is_told() {
            self.watch.end_parts(ThreadId::new(idx));
        }
    }

    /// Tells `main`, which waits for all others, that one has ended or was born.
    #[cold]
    fn note_end(&mut self) {
        match self.last_of_others() {
            Some(other) => self.threads[0].operation = Operation::Join(other),
            None => self.joiner = self.joiner.or(Some(0)),
        }
    }

    /// In a step of another thread, or of its own, a thread goes on without an operation.
    fn begin_part(&mut self, idx: usize, joined: Option<ThreadId>) {
        self.watch.begin_part(ThreadId::new(idx), joined);
        spin::begin_step();
        self.counting_loops.begin_step();
    }

    /// Whether others may do something beside the thread that runs, or have done something that it
    /// does not know of.
    #[inline]
    pub(crate) fn is_concurrent(&self) -> bool {
        self.n_unjoined > 0
    }

    /// How to go on with a thread.
    #[inline]
    fn coroutine(&mut self, idx: usize) -> Coroutine {
        if self.threads[idx].status == Status::New {
            self.prepare(idx);
        }
        self.threads[idx].coroutine
    }

    /// Makes a thread that was just born one that can be gone on with.
    fn prepare(&mut self, idx: usize) {
        self.poison(idx);
        let thread = &mut self.threads[idx];
        thread.status = Status::Running;
        // SAFETY: the thread has just been born, so its stack is not in use.
        thread.coroutine.stack_pointer =
            unsafe { coroutine::prepare(idx, crate::process::enter, thread.floats) };
    }

    /// Whose turn it is without asking the host: that of a thread whose wait has just ended, or
    /// that was just started; or, while an execution is repeated, of the next decision, which is
    /// applied.
    #[inline]
    pub(crate) fn follow(&mut self) -> Option<usize> {
        let is_over = self.newborn.is_none() && self.joiner.is_none();
        if is_over && self.n_followed >= self.script.len() {
            return None;
        }
        self.follow_on()
    }

    fn follow_on(&mut self) -> Option<usize> {
        if let Some(joiner) = self.joiner.take() {
            return Some(joiner);
        }
        if let Some(child) = self.newborn.take() {
            self.begin_part(child, None);
            return Some(child);
        }
        let &decision = self.script.get(self.n_followed)?;
        let idx = decision.thread.index();
        if idx >= self.threads.len() || !self.is_enabled(idx) {
            // The host will see that not all decisions were followed.
            self.script.truncate(self.n_followed);
            return None;
        }
        self.n_followed += 1;
        self.apply(decision);
        if weak_memory::is_on() {
            let injection = self.weak_memory.injections.get(self.depth - 1);
            self.weak_memory.begin_step(injection.copied().unwrap_or_default());
        }
        Some(idx)
    }

    /// Whether an address is one of a variable, static or on a stack.
    pub(crate) fn is_variable(&self, address: usize) -> bool {
        let is_static = |part: &Part| (part.start..part.start + part.len).contains(&address);
        coroutine::stack_of(address) < ThreadId::MAX
            || self.variables[..self.n_variables].iter().any(is_static)
    }

    /// Whether the operation that the running thread has just taken was about an atomic.
    pub(crate) fn touches(&mut self, address: usize, len: usize) -> bool {
        let object = self.objects.atomic(address, len);
        let operation = self.threads[current().index()].operation;
        operation.touches().as_slice().iter().any(|&((touched, _), _)| touched == object)
    }

    /// Whether the running thread loads what the operation was about that it has just taken. Then
    /// that operation acquires, too.
    pub(crate) fn acquires_again(&mut self, address: usize, len: usize) -> bool {
        let is_same = self.touches(address, len);
        if is_same {
            self.order = self.order.and_acquire();
        }
        is_same
    }

    /// The thread that the program calls so.
    pub(crate) fn thread_of(&self, handle: libc::pthread_t) -> Option<ThreadId> {
        self.threads.iter().position(|thread| thread.handle() == handle).map(ThreadId::new)
    }

    /// Whether a thread can take its next operation.
    pub(crate) fn is_enabled(&self, idx: usize) -> bool {
        self.is_ready(idx) || self.has_come(idx)
    }

    /// The same without waiting for time to pass.
    pub(crate) fn is_ready(&self, idx: usize) -> bool {
        let thread = &self.threads[idx];
        match (thread.status, thread.operation) {
            (Status::Unborn | Status::Finished | Status::Exited, _) => false,
            (Status::New, _) => true,
            (Status::Running, _) if thread.reads.is_held() => false,
            (Status::Running, operation) if operation.is_access() => true,
            (Status::Running, _) if thread.waiting.is_some() => self.may_leave(idx),
            // It goes on when the other one ends, without being asked.
            (Status::Running, Operation::Join(_)) => false,
            (Status::Running, _) if thread.predicate != Predicate::Usual => {
                self.holds(idx, thread.predicate)
            }
            (Status::Running, Operation::Elapse) => false,
            (Status::Running, operation) => {
                let can_be_taken = self.can_be_taken(operation);
                can_be_taken.unwrap_or_else(|| {
                    self.objects.allows(ThreadId::new(idx), operation, thread.round_end)
                })
            }
        }
    }

    pub(crate) fn reset(&mut self) {
        self.checkpoints.clear();
        self.trusted.begin_execution();
        self.files.close();
        self.sites.reset();
        self.depth = 0;
        for (part, saved) in self.variables.iter_mut().zip(&self.first) {
            part.restore(saved);
        }
        self.heap.reset();
        self.objects.reset();
        self.times.clear();
        self.watch.begin_step();
        self.keys.clear();
        self.exit_handlers.clone_from(&self.early_handlers);
        self.quick_handlers.clear();
        self.newborn = None;
        self.joiner = None;
        self.is_shared = false;
        self.n_unjoined = 0;
        self.has_exited = false;
        self.handlers_user = None;
        self.has_refused = false;
        self.named_semaphores.clear();
        self.unseen_words.clear();
        self.clock.now = 0;
        self.violation = None;
        self.value = Value::None;
        self.threads.iter_mut().for_each(Thread::forget);
        self.threads[0].n_joined = 0;
        self.threads[0].blocked = 0;
        self.threads[0].floats = FloatEnvironment::first();
        self.bear(ThreadId::new(0));
    }

    #[inline]
    pub(crate) fn next(&self, idx: usize) -> Next {
        let thread = &self.threads[idx];
        let operation = thread.operation;
        match thread.status {
            Status::Unborn => Next::Unborn,
            Status::Finished | Status::Exited => Next::Finished,
            Status::Running if thread.reads.is_held() => Next::Finished,
            // Most often, and nothing has to be looked up.
            Status::Running if operation.is_access() => {
                Next::enabled(match (operation, thread.comparison) {
                    (Operation::ReadModifyWrite(object), Some(it)) if !it.succeeds() => {
                        Operation::Load(object)
                    }
                    (operation, _) => operation,
                })
            }
            // It goes on when the other one ends, without being asked.
            Status::Running if matches!(operation, Operation::Join(_)) => Next::Blocked(operation),
            Status::Running if operation.may_block() && !self.is_enabled(idx) => {
                Next::Blocked(operation)
            }
            Status::New | Status::Running => {
                Next::Enabled { operation, choices: self.n_choices(idx, operation) }
            }
        }
    }

    /// In how many ways a thread can take an operation.
    #[inline]
    fn n_choices(&self, idx: usize, operation: Operation) -> u32 {
        match operation {
            Operation::NotifyOne(queue) => self.wakeable(idx, queue).len().max(1) as u32,
            Operation::FutexRequeue { .. } | Operation::FutexWakeOp { .. } => {
                self.n_regroupings(idx)
            }
            // What is waited for: see `cancel`.
            Operation::Choose => 2,
            _ => 1,
        }
    }

    /// Whom a thread can wake of those who sleep on something.
    fn wakeable(&self, idx: usize, queue: ObjectId) -> ThreadSet {
        match self.threads[idx].wakes_at {
            0 => self.objects.sleepers(queue),
            address => self.sleepers_at(address, self.threads[idx].wakes),
        }
    }

    /// Who sleeps at the futex of an address and hears one of these bits.
    pub(crate) fn sleepers_at(&self, address: usize, bits: u32) -> ThreadSet {
        let sleeps = |thread: &Thread| {
            thread.is_alive() && thread.sleeps_at == address && thread.woken_by & bits != 0
        };
        let sleepers = self.threads.iter().enumerate().filter(|(_, thread)| sleeps(thread));
        sleepers.map(|(idx, _)| ThreadId::new(idx)).collect()
    }

    /// Wakes some of those who sleep on something.
    pub(crate) fn wake(&mut self, queue: ObjectId, woken: ThreadSet) -> Effect {
        for sleeper in woken.iter() {
            // A thread is at one of them at most.
            let own = self.threads[sleeper.index()].operation.object().unwrap_or(queue);
            self.threads[sleeper.index()].sleeps_at = 0;
            self.objects.state(own).sleepers.remove(sleeper);
        }
        Effect::Woke(woken)
    }

    /// Applies the next operation of a thread.
    pub(crate) fn apply(&mut self, decision: Decision) {
        let idx = decision.thread.index();
        self.depth += 1;
        self.n_lonely_reads = 0;
        self.watch.begin_step();
        after_write::begin_step();
        self.sites.begin_step();
        if weak_memory::is_on() {
            self.weak_memory.begin_step(Injection::default());
        }
        signals::begin_step();
        spin::begin_step();
        self.counting_loops.begin_step();
        self.value = Value::None;
        self.order = MemoryOrder::default();
        self.passage = Passage::InOrder;
        self.choice = decision.choice;
        self.addition = None;
        let operation = self.threads[idx].operation;
        self.note_witness(idx, operation);
        let has_elapsed = self.threads[idx].deadline.is_some() && self.expire(idx);
        self.begin_time(idx, operation);
        if let Operation::Spawn(child) = operation {
            self.bear(child);
            self.threads[child.index()].ticks = self.threads[idx].ticks;
            self.newborn = Some(child.index());
        }
        self.effect = match operation {
            Operation::NotifyOne(queue) => {
                let woken = self.wakeable(idx, queue).iter().nth(decision.choice as usize);
                self.wake(queue, woken.map_or(ThreadSet::EMPTY, ThreadSet::one))
            }
            Operation::NotifyAll(queue) => self.wake(queue, self.wakeable(idx, queue)),
            Operation::FutexRequeue { queue, .. } | Operation::FutexWakeOp { queue, .. } => {
                self.regroup(idx, queue, decision.choice)
            }
            // What atomics hold is in the memory of the program.
            Operation::Load(_) | Operation::Store(_) | Operation::ReadModifyWrite(_) => {
                Effect::Done
            }
            Operation::Await(_) | Operation::AwaitModify(_)
                if self.threads[idx].waiting.is_some() =>
            {
                Effect::Done
            }
            _ => self.objects.apply(decision.thread, operation),
        };
        if has_elapsed {
            self.effect = Effect::Elapsed;
        }
    }

    /// A thread was ended by a signal.
    #[cold]
    pub(crate) fn note_crash(&mut self, idx: usize, crash: Crash) {
        self.sites.note_crash(idx, self.depth, crash.instruction);
        self.violation.get_or_insert_with(|| names::describe_crash(crash));
        self.stop(idx);
    }

    /// A thread came to no operation, and was left where it was: the search is over.
    fn note_stuck(&mut self, idx: usize, at: Option<Location>) {
        let thread = self.thread_name(idx);
        let time = signals::time_in_step();
        self.stuck.get_or_insert(Limit::Stuck { thread, at, time });
        self.stop(idx);
        self.script.truncate(self.n_followed);
        signals::end_search();
    }

    /// A thread was to tell its frames and could not: it is suspended again, where it was.
    fn restore_after_backtrace(&mut self, idx: usize) {
        self.is_backtrace_wanted = false;
        self.backtrace = Some(Vec::new());
        let stack_pointer = self.threads[idx].coroutine.stack_pointer;
        // SAFETY: the words were there when the thread was suspended, and it was run for nothing
        // else.
        unsafe { *(stack_pointer as *mut Resumption) = self.before_backtrace };
    }

    /// What became of the step.
    #[inline]
    pub(crate) fn conclude(&mut self) -> Result<Effect, Failure> {
        match self.violation.take() {
            None => Ok(self.effect),
            Some(violation) => {
                if let Some(refusal) = self.refusal.take() {
                    refusal.end_search();
                }
                Err(Failure { effect: self.effect, violation })
            }
        }
    }

    /// The thread that waits for a permit of a semaphore, if there is one.
    pub(crate) fn waits_for_permit(&self, it: ObjectId) -> Option<ThreadId> {
        let waits = |idx: &usize| {
            let thread = &self.threads[*idx];
            let is_for_it = matches!(thread.operation,
                Operation::SemaphoreAcquire { semaphore, .. } if semaphore == it);
            thread.status == Status::Running && is_for_it && !self.is_enabled(*idx)
        };
        (0..self.threads.len()).find(waits).map(ThreadId::new)
    }

    /// Whether a thread waits that could give up: see `timed`.
    pub(crate) fn is_patient(&self) -> bool {
        self.threads.iter().any(|it| it.status == Status::Running && it.is_patient)
    }

    /// Whether a thread waits for what does not come, in place of what would let it go on: see
    /// `cancel`.
    fn awaits_in_vain(&self) -> bool {
        let mut threads = self.threads.iter().enumerate();
        self.has_cancellation
            && threads.any(|(idx, thread)| {
                thread.status == Status::Running && cancel::is_elsewhere(&self.objects, idx, thread)
            })
    }

    pub(crate) fn ending(&self) -> Ending {
        let held = || {
            let running = self.threads.iter().filter(|it| it.status == Status::Running);
            running.map(|thread| &thread.reads).filter(|reads| reads.is_held())
        };
        let mut waiting = (0..self.threads.len()).filter(|&idx| {
            self.threads[idx].status == Status::Running && self.threads[idx].waiting.is_some()
        });
        if held().any(Reads::can_leave)
            || waiting.clone().any(|idx| self.would_leave_by_earlier_reads(idx))
            || self.awaits_in_vain()
        {
            Ending::Redundant
        } else if self.has_exited || self.is_patient() {
            Ending::Exited
        } else if held().next().is_some() || waiting.any(|idx| !self.may_leave(idx)) {
            Ending::Spinning
        } else {
            Ending::Final
        }
    }
}

/// What stands for something about a thread at an address, and whose it is.
fn thread_event(address: usize) -> Option<(&'static str, String)> {
    let ended = try_join::end_of(address).map(|idx| ("the end of", idx));
    let ended = ended.or_else(|| trusted::scoped_thread_of(address).map(|idx| ("the end of", idx)));
    let requested = || cancel::requested_of(address).map(|idx| ("the cancellation of", idx));
    let (what, idx) = ended.or_else(requested)?;
    with(|machine| (idx < machine.threads.len()).then(|| (what, machine.birth_name(idx))))
}

/// What people call the token that lets a thread go on which has parked.
fn token(address: usize) -> Option<(&'static str, String)> {
    let idx = trusted::token_of(address)?;
    with(|machine| (idx < machine.threads.len()).then(|| ("the token of", machine.birth_name(idx))))
}

/// What people call the thing at an address.
pub(crate) fn name_of(address: usize) -> String {
    if let Some(name) = named::name_of(address) {
        return name;
    }
    if let Some((what, name)) = token(address) {
        return format!("{what} {name}");
    }
    if let Some(name) = sites::name_of(address) {
        return name;
    }
    if let Some(name) = exit::name_of(address) {
        return name.to_owned();
    }
    let thread_name =
        |idx: usize| with(|machine| (idx < machine.threads.len()).then(|| machine.birth_name(idx)));
    if let Some((idx, offset)) = crate::heap::place(address)
        && let Some(name) = thread_name(idx)
    {
        return format!("{name}.heap+{offset:#x}");
    }
    if let Some((what, name)) = thread_event(address) {
        return format!("{what} {name}");
    }
    let idx = coroutine::stack_of(address);
    if idx < ThreadId::MAX
        && let Some(name) = thread_name(idx)
    {
        if let Some(name) = locals::name_of(address, idx) {
            return name;
        }
        return format!("{name}.stack-{:#x}", coroutine::top(idx) - address);
    }
    if let Some(name) = local_name(address) {
        return name;
    }
    let name = io::name_of(address)
        .or_else(|| kept::name_of(address))
        .or_else(|| process_barrier::name_of(address))
        .or_else(|| names::symbol(address));
    name.unwrap_or_else(|| format!("{address:#x}"))
}

/// The same for a thread-local variable: its name, and whose it is.
fn local_name(address: usize) -> Option<String> {
    with(|machine| {
        machine.threads.iter().enumerate().find_map(|(idx, thread)| {
            let name = thread.lender.as_ref()?.name_of(address)?;
            Some(format!("{name} of {}", machine.birth_name(idx)))
        })
    })
}
