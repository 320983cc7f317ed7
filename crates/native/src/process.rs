//! Begin and end of threads, clocks, random numbers.

use crate::callbacks;
use crate::cancel;
use crate::clock;
use crate::constructors;
use crate::coroutine;
use crate::cxx;
use crate::exit;
use crate::library::{self, State, kept, wrote};
use crate::machine;
use crate::names;
use crate::real::replace;
use crate::robust;
use crate::rust_runtime;
use crate::spin::watched;
use crate::syscall::fail_with;
use crate::thread::{Destructor, Status};
use crate::time;
use crate::try_join;
use mazurka_core::{Detail, ObjectId, Operation, Violation, ViolationKind};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};

/// The type of `main`.
pub(crate) type Main =
    unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
/// What a POSIX thread runs.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// What a C11 thread runs.
pub(crate) type C11Function = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a thread that was cancelled ends with.
pub(crate) const CANCELLED: usize = usize::MAX;

/// What a thread begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// Not said yet.
    Nothing,
    /// The program.
    Main(Main, c_int, *mut *mut c_char, *mut *mut c_char),
    /// A function and its argument.
    Function(Function, *mut c_void),
    /// The same for C11 threads.
    C11(C11Function, *mut c_void),
}

/// What is called at the end of a thread or of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    Plain(unsafe extern "C-unwind" fn(*mut c_void), *mut c_void),
    WithStatus(unsafe extern "C-unwind" fn(c_int, *mut c_void), *mut c_void),
    WithNothing(unsafe extern "C-unwind" fn()),
}

impl Handler {
    pub(crate) fn call(self, status: c_int) {
        // SAFETY: the program wanted just this called.
        unsafe {
            match self {
                Self::Plain(function, argument) => function(argument),
                Self::WithStatus(function, argument) => function(status, argument),
                Self::WithNothing(function) => function(),
            }
        }
    }

    fn address(self) -> usize {
        match self {
            Self::Plain(function, _) => function as usize,
            Self::WithStatus(function, _) => function as usize,
            Self::WithNothing(function) => function as usize,
        }
    }
}

/// What was registered before `main`: by the constructors of static objects.
struct Early(UnsafeCell<Vec<Handler>>);

// SAFETY: constructors run one after the other, before there is a second thread; then it is read.
unsafe impl Sync for Early {}

static EARLY: Early = Early(UnsafeCell::new(Vec::new()));

fn register_early(handler: Handler) {
    if !machine::is_set_up() {
        // SAFETY: only one thread runs before `main`.
        unsafe { (*EARLY.0.get()).push(handler) };
    }
}

/// What the program itself registered before `main` for its end, the last one last.
pub(crate) fn early_handlers() -> Vec<Handler> {
    // SAFETY: `main` is about to begin: nobody registers any more.
    let all = unsafe { &*EARLY.0.get() };
    let own = all.iter().copied().filter(|handler| names::is_program(handler.address()));
    constructors::destructors().into_iter().chain(own).collect()
}

/// Where every coroutine begins. An exception that is not caught finds the end of the stack here.
pub(crate) extern "C-unwind" fn enter() -> ! {
    let start = machine::with(|machine| {
        let idx = coroutine::current().expect("a thread begins");
        machine.threads[idx].start
    });
    match start {
        Start::Nothing => unreachable!("a thread is born with something to do"),
        Start::Main(main, argc, argv, envp) => {
            rust_runtime::initialise();
            constructors::run(argc, argv, envp);
            // SAFETY: the C library wanted to call just this.
            let status = unsafe { main(argc, argv, envp) };
            check_locks();
            exit::exit_program(status)
        }
        // SAFETY: the program wanted to call just this.
        Start::Function(function, argument) => end_thread(unsafe { function(argument) } as usize),
        // SAFETY: as above.
        Start::C11(function, argument) => end_thread(unsafe { function(argument) } as usize),
    }
}

/// Ends the running thread: its thread-local objects and its values of keys are given to their
/// destructors first.
pub(crate) fn end_thread(result: usize) -> ! {
    const ROUNDS: usize = 4;
    run_thread_handlers();
    for _ in 0..ROUNDS {
        // One after the other: a thread that is suspended owns nothing outside of its stack.
        let mut key = 0;
        while let Some((at, destructor, value)) = next_destructor(key) {
            key = at + 1;
            // SAFETY: the program wanted this called with its value.
            unsafe { destructor(value as *mut c_void) };
        }
        if key == 0 {
            break;
        }
    }
    robust::abandon_all();
    check_locks();
    try_join::announce();
    if machine::current().index() == 0 {
        exit::await_all()
    }
    machine::finish(result)
}

/// A thread that ends must not hold a lock: no other thread can give it back.
fn check_locks() {
    let me = machine::current();
    let held = machine::with(|machine| {
        // A guard of Rust may be forgotten.
        let may_be_held =
            |&it: &ObjectId| !machine.rust_mutexes.contains(it) && !machine.trusted.has_object(it);
        let held = machine.objects.held_by(me).find(may_be_held)?;
        machine.looks_for_leaks.then(|| machine.objects.address(held))
    });
    if let Some(address) = held {
        let (name, thread) = (machine::name_of(address), names::current_thread());
        let message = format!("{thread} ends while it holds `{name}`");
        machine::fail(ViolationKind::InvalidEnd, message)
    }
}

/// The first key from `from` on of which the running thread has a value to be destroyed. It is
/// taken away.
fn next_destructor(from: usize) -> Option<(usize, Destructor, usize)> {
    let idx = machine::current().index();
    machine::with(|machine| {
        (from..machine.keys.len()).find_map(|key| {
            let destructor = machine.keys[key]?;
            let value = machine.threads[idx].values.get_mut(key).map(std::mem::take);
            value.filter(|&value| value != 0).map(|value| (key, destructor, value))
        })
    })
}

/// Destroys the thread-local objects of the running thread, the last one first.
pub(crate) fn run_thread_handlers() {
    let idx = machine::current().index();
    while let Some(handler) = machine::with(|machine| machine.threads[idx].handlers.pop()) {
        handler.call(0);
    }
}

/// Nanoseconds since [`EPOCH`]: those of the virtual clock or, if there is none, of the running
/// thread: then time only ever moves when a thread looks or waits, and for each thread by itself.
pub(crate) fn tick() -> u64 {
    if clock::is_virtual() {
        return clock::look();
    }
    pass(1)
}

fn pass(nanoseconds: u64) -> u64 {
    time::look();
    machine::with(|machine| {
        let thread = &mut machine.threads[machine::current().index()];
        debug_assert!(thread.status == Status::Running, "it is running");
        thread.ticks = thread.ticks.saturating_add(nanoseconds);
        thread.ticks
    })
}

fn nanoseconds(time: *const libc::timespec) -> u64 {
    if time.is_null() {
        return 0;
    }
    if coroutine::in_program() {
        callbacks::plain(time as usize, size_of::<libc::timespec>(), false);
    }
    // SAFETY: the program gives a time.
    let time = unsafe { *time };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0).saturating_mul(NANO);
    seconds.saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// A point in time, on the virtual clock.
pub(crate) fn deadline(time: *const libc::timespec) -> u64 {
    nanoseconds(time).saturating_sub(EPOCH as u64 * NANO)
}

/// The point in time after so long.
pub(crate) fn deadline_after(time: *const libc::timespec) -> u64 {
    clock::after(nanoseconds(time))
}

/// An `Option<Instant>` of Rust, on the virtual clock.
pub(crate) fn deadline_of(seconds: usize, nanoseconds: usize) -> Option<u64> {
    let nanoseconds = Some(nanoseconds as u32).filter(|&it| u64::from(it) < NANO)?;
    let seconds = (seconds as i64).saturating_sub(EPOCH).max(0) as u64;
    Some(seconds.saturating_mul(NANO).saturating_add(nanoseconds.into()))
}

/// The running thread has waited until a point in time.
pub(crate) fn wait_until(time: *const libc::timespec) {
    let target = nanoseconds(time).saturating_sub(EPOCH as u64 * NANO);
    time::look();
    machine::with(|machine| {
        let ticks = &mut machine.threads[machine::current().index()].ticks;
        *ticks = target.max(*ticks);
    });
}

/// The running thread has waited for so long.
pub(crate) fn wait_for(time: *const libc::timespec) {
    pass(nanoseconds(time));
}

/// The running thread lets others go first, for so long.
pub(crate) fn sleep_for(nanoseconds: u64) -> c_int {
    if clock::is_virtual() && nanoseconds > 0 {
        clock::sleep_until(clock::after(nanoseconds));
    } else {
        pass(nanoseconds);
        machine::visible(Operation::Yield);
    }
    cancel::point();
    0
}

fn change_mask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
    let known = [libc::SIG_BLOCK, libc::SIG_UNBLOCK, libc::SIG_SETMASK];
    if !set.is_null() && !known.contains(&how) {
        return libc::EINVAL;
    }
    let mut wanted = 0;
    if !set.is_null() {
        library::touched!(pthread_sigmask, set, size_of::<libc::sigset_t>(), false);
        for signal in 1..=N_SIGNALS {
            // SAFETY: the program gives a set.
            let is_in = unsafe { libc::sigismember(set, signal) } == 1;
            wanted |= u64::from(is_in) << (signal - 1);
        }
    }
    if !old.is_null() {
        library::touched!(pthread_sigmask, old, size_of::<libc::sigset_t>(), true);
    }
    let before = machine::with(|machine| {
        let blocked = &mut machine.threads[machine::current().index()].blocked;
        let before = *blocked;
        if !set.is_null() {
            *blocked = match how {
                libc::SIG_BLOCK => before | wanted,
                libc::SIG_UNBLOCK => before & !wanted,
                _ => wanted,
            } & !NEVER_BLOCKED;
        }
        before
    });
    if !old.is_null() {
        // SAFETY: the program wants it there.
        unsafe {
            libc::sigemptyset(old);
            for signal in (1..=N_SIGNALS).filter(|signal| before >> (signal - 1) & 1 == 1) {
                libc::sigaddset(old, signal);
            }
        }
    }
    0
}

const N_SIGNALS: c_int = 64;
/// Those that no thread can do without, as bits, and the two that the C library keeps for itself.
const NEVER_BLOCKED: u64 =
    1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1) | 1 << (32 - 1) | 1 << (33 - 1);

/// What stands for `poll` without files, and for those like it: the running thread sleeps.
pub(crate) extern "C-unwind" fn poll_nothing(_: usize, _: usize, milliseconds: c_int) -> c_int {
    sleep_for(u64::try_from(milliseconds).unwrap_or(0) * 1_000_000)
}

pub(crate) extern "C-unwind" fn ppoll_nothing(
    _: usize,
    _: usize,
    time: *const libc::timespec,
) -> c_int {
    sleep_for(nanoseconds(time))
}

pub(crate) extern "C-unwind" fn select_nothing(
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    time: *const libc::timeval,
) -> c_int {
    // SAFETY: the program gives a time.
    let libc::timeval { tv_sec, tv_usec } = unsafe { *time };
    let seconds = u64::try_from(tv_sec).unwrap_or(0).saturating_mul(NANO);
    sleep_for(seconds.saturating_add(u64::try_from(tv_usec).unwrap_or(0) * 1000))
}

pub(crate) extern "C-unwind" fn pselect_nothing(
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    time: *const libc::timespec,
) -> c_int {
    sleep_for(nanoseconds(time))
}

/// A random number of 32 bits that depends on the thread and on how many it has had.
pub(crate) fn random_word() -> u32 {
    machine::with(|machine| {
        let state = &mut machine.threads[machine::current().index()].random;
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 32) as u32
    })
}

fn fill_randomly(to: *mut c_void, len: usize) {
    callbacks::plain(to as usize, len, true);
    for idx in 0..len {
        // SAFETY: the program wants so many bytes there.
        unsafe { to.cast::<u8>().add(idx).write((random_word() >> 24) as u8) };
    }
}

/// `drand48` and its like take numbers from one stream, and it is not locked.
fn touch_rand48() {
    callbacks::plain(State::Rand48.address(), 1, true);
}

/// Text from the program.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "?".to_owned();
    }
    // SAFETY: the program gives a string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The time of day at which every execution begins, in seconds.
const EPOCH: i64 = 1_700_000_000;
const NANO: u64 = 1_000_000_000;

fn now() -> libc::timespec {
    let ticks = tick();
    let (seconds, rest) = (ticks / NANO, ticks % NANO);
    libc::timespec { tv_sec: EPOCH.saturating_add_unsigned(seconds), tv_nsec: rest as c_long }
}

/// Ends the running thread because an assertion of the program failed.
pub(crate) fn assertion_failed(
    assertion: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    let (file, assertion, function) = (text(file), text(assertion), text(function));
    let message = format!("{file}:{line}: assertion `{assertion}` failed in {function}");
    let detail = Detail::Assertion(format!("`{assertion}` in {function} at {file}:{line}"));
    machine::fail_with(Violation::new(ViolationKind::Assertion, message).with(detail))
}

/// Also called by constructors of static objects, before there is anything to explore.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_atexit(
    function: unsafe extern "C-unwind" fn(*mut c_void),
    argument: *mut c_void,
    module: *mut c_void,
) -> c_int {
    let handler = Handler::Plain(function, argument);
    if coroutine::in_program() {
        exit::register(handler);
        return 0;
    }
    register_early(handler);
    let real = crate::real::original!(
        __cxa_atexit(unsafe extern "C-unwind" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int
    );
    // SAFETY: the caller wanted to call just this.
    unsafe { real(function, argument, module) }
}

/// A destructor of the compiler's asks for the handlers of its module. In an execution they have
/// run by then.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_finalize(module: *mut c_void) {
    if !coroutine::in_program() {
        let real = crate::real::original!(__cxa_finalize(*mut c_void));
        // SAFETY: the caller wanted to call just this.
        unsafe { real(module) };
    }
}

/// Lets others go first. It changes nothing, and threads spin with it.
unsafe extern "C" fn yield_to_others() -> c_int {
    if !coroutine::in_program() {
        let real = crate::real::original!(sched_yield() -> c_int);
        // SAFETY: the caller wanted to call just this.
        return unsafe { real() };
    }
    machine::visible(Operation::Yield);
    0
}

watched! {
    sched_yield => yield_to_others;
    thrd_yield => yield_to_others;
}

replace! {
    fn __assert_fail(
        assertion: *const c_char,
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
    ) {
        assertion_failed(assertion, file, line, function)
    }

    fn abort() {
        let message = cxx::describe_termination();
        let message = message.unwrap_or_else(|| "the program aborted".to_owned());
        machine::fail(ViolationKind::Panic, message)
    }

    /// No signal ever comes to a thread of the program, so it does not matter which it wants.
    fn pthread_sigmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
        change_mask(how, set, old)
    }

    fn sigprocmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
        match change_mask(how, set, old) {
            0 => 0,
            error => fail_with(error) as c_int,
        }
    }

    /// All threads of the program run on one of the system's.
    fn gettid() -> libc::pid_t {
        machine::current().index() as libc::pid_t + 1
    }

    fn usleep(time: c_uint) -> c_int {
        sleep_for(u64::from(time) * 1000)
    }

    fn sleep(time: c_uint) -> c_uint {
        sleep_for(u64::from(time) * NANO);
        0
    }

    fn nanosleep(time: *const libc::timespec, _rest: *mut libc::timespec) -> c_int {
        sleep_for(nanoseconds(time))
    }

    fn clock_nanosleep(
        _clock: c_int,
        flags: c_int,
        time: *const libc::timespec,
        _rest: *mut libc::timespec,
    ) -> c_int {
        if flags & libc::TIMER_ABSTIME == 0 {
            return sleep_for(nanoseconds(time));
        }
        if clock::is_virtual() {
            let left = deadline(time).saturating_sub(clock::after(0));
            return sleep_for(left);
        }
        wait_until(time);
        sleep_for(0)
    }

    fn thrd_sleep(time: *const libc::timespec, _rest: *mut libc::timespec) -> c_int {
        sleep_for(nanoseconds(time))
    }

    fn drand48() -> f64 {
        touch_rand48();
        kept::drand48()
    }

    fn lrand48() -> c_long {
        touch_rand48();
        kept::lrand48()
    }

    fn mrand48() -> c_long {
        touch_rand48();
        kept::mrand48()
    }

    fn srand48(number: c_long) {
        touch_rand48();
        kept::srand48(number);
    }

    fn seed48(words: *mut u16) -> *mut u16 {
        touch_rand48();
        callbacks::plain(words as usize, 6, false);
        kept::seed48(words)
    }

    fn lcong48(words: *mut u16) {
        touch_rand48();
        callbacks::plain(words as usize, 14, false);
        kept::lcong48(words);
    }

    fn arc4random() -> u32 {
        random_word()
    }

    fn arc4random_uniform(below: u32) -> u32 {
        random_word().checked_rem(below).unwrap_or(0)
    }

    fn arc4random_buf(to: *mut c_void, len: usize) {
        fill_randomly(to, len);
    }

    fn timespec_get(to: *mut libc::timespec, base: c_int) -> c_int {
        wrote!(timespec_get, to);
        // SAFETY: the program wants it there.
        unsafe { *to = now() };
        base
    }

    /// The processor time that was used, which is no more than the time that has passed.
    fn clock() -> c_long {
        (tick() / 1000) as c_long
    }

    fn time(to: *mut libc::time_t) -> libc::time_t {
        let seconds = now().tv_sec;
        if !to.is_null() {
            wrote!(time, to);
            // SAFETY: the program wants it there.
            unsafe { *to = seconds };
        }
        seconds
    }

    fn clock_gettime(_clock: c_int, to: *mut libc::timespec) -> c_int {
        wrote!(clock_gettime, to);
        // SAFETY: the program wants it there.
        unsafe { *to = now() };
        0
    }

    fn gettimeofday(to: *mut libc::timeval, _zone: *mut c_void) -> c_int {
        let now = now();
        let now = libc::timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
        wrote!(gettimeofday, to);
        // SAFETY: the program wants it there.
        unsafe { *to = now };
        0
    }
}
