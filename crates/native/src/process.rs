//! How threads begin and end, and the functions that end the program or look outside of it.

use crate::coroutine;
use crate::machine::{self, Status};
use crate::real::replace;
use mazurka_core::{Operation, ViolationKind};
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};

/// The type of `main`.
pub(crate) type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// What a thread begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// Not said yet.
    Nothing,
    /// The program.
    Main(Main, c_int, *mut *mut c_char, *mut *mut c_char),
    /// A function and its argument.
    Function(extern "C" fn(*mut c_void) -> *mut c_void, *mut c_void),
    /// The same for C11 threads.
    C11(extern "C" fn(*mut c_void) -> c_int, *mut c_void),
}

/// Where every coroutine begins.
pub(crate) extern "C" fn enter() -> ! {
    let start = machine::with(|machine| {
        let idx = coroutine::current().expect("a thread begins");
        machine.threads[idx].start
    });
    match start {
        Start::Nothing => unreachable!("a thread is born with something to do"),
        Start::Main(main, argc, argv, envp) => {
            // SAFETY: the C library wanted to call just this.
            let status = unsafe { main(argc, argv, envp) };
            leave_program(status)
        }
        Start::Function(function, argument) => end_thread(function(argument) as usize),
        Start::C11(function, argument) => end_thread(function(argument) as usize),
    }
}

/// Ends the running thread: its values of keys are given to their destructors first.
pub(crate) fn end_thread(result: usize) -> ! {
    const ROUNDS: usize = 4;
    let idx = machine::current().index();
    for _ in 0..ROUNDS {
        let due = machine::with(|machine| {
            let mut due = Vec::new();
            for (key, &destructor) in machine.keys.iter().enumerate() {
                let value = machine.threads[idx].values.get_mut(key).map(std::mem::take);
                if let (Some(destructor), Some(value)) = (destructor, value.filter(|&it| it != 0)) {
                    due.push((destructor, value));
                }
            }
            due
        });
        if due.is_empty() {
            break;
        }
        for (destructor, value) in due {
            // SAFETY: the program wanted this called with its value.
            unsafe { destructor(value as *mut c_void) };
        }
    }
    machine::finish(result)
}

/// Ends the program: whoever waits by then has ended.
fn leave_program(status: c_int) -> ! {
    machine::with(|machine| machine.has_exited = true);
    if status != 0 && machine::with(|machine| machine.is_test) {
        machine::fail(ViolationKind::Panic, "the test failed".to_owned());
    }
    machine::finish(0)
}

/// The number of ticks of the running thread so far, which is all the time there is.
fn tick() -> u64 {
    machine::with(|machine| {
        let thread = &mut machine.threads[machine::current().index()];
        debug_assert!(thread.status == Status::Running, "it is running");
        thread.ticks += 1;
        thread.ticks
    })
}

/// A random number that depends on the thread and on how many it has had.
pub(crate) fn draw() -> c_long {
    machine::with(|machine| {
        let state = &mut machine.threads[machine::current().index()].random;
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as c_long
    })
}

fn seed(seed: c_uint) {
    let idx = machine::current().index();
    machine::with(|machine| machine.threads[idx].random = u64::from(seed) + 1);
}

/// Text from the program.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "?".to_owned();
    }
    // SAFETY: the program gives a string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A time of day that only ever moves when somebody looks.
const EPOCH: i64 = 1_700_000_000;

replace! {
    fn __assert_fail(
        assertion: *const c_char,
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
    ) {
        let (file, assertion, function) = (text(file), text(assertion), text(function));
        machine::fail(
            ViolationKind::Assertion,
            format!("{file}:{line}: assertion `{assertion}` failed in {function}"),
        )
    }

    fn abort() {
        machine::fail(ViolationKind::Panic, "the program aborted".to_owned())
    }

    fn exit(status: c_int) {
        leave_program(status)
    }

    fn _exit(status: c_int) {
        leave_program(status)
    }

    fn _Exit(status: c_int) {
        leave_program(status)
    }

    fn quick_exit(status: c_int) {
        leave_program(status)
    }

    fn sched_yield() -> c_int {
        machine::visible(Operation::Yield);
        0
    }

    fn usleep(_time: c_uint) -> c_int {
        machine::visible(Operation::Yield);
        0
    }

    fn sleep(_time: c_uint) -> c_uint {
        machine::visible(Operation::Yield);
        0
    }

    fn nanosleep(_time: *const libc::timespec, _rest: *mut libc::timespec) -> c_int {
        machine::visible(Operation::Yield);
        0
    }

    fn thrd_yield() {
        machine::visible(Operation::Yield);
    }

    fn thrd_sleep(_time: *const libc::timespec, _rest: *mut libc::timespec) -> c_int {
        machine::visible(Operation::Yield);
        0
    }

    fn rand() -> c_int {
        draw() as c_int
    }

    fn srand(number: c_uint) {
        seed(number);
    }

    fn random() -> c_long {
        draw()
    }

    fn srandom(number: c_uint) {
        seed(number);
    }

    fn time(to: *mut libc::time_t) -> libc::time_t {
        if !to.is_null() {
            // SAFETY: the program wants it there.
            unsafe { *to = EPOCH };
        }
        EPOCH
    }

    fn clock_gettime(_clock: c_int, to: *mut libc::timespec) -> c_int {
        let now = libc::timespec { tv_sec: EPOCH, tv_nsec: (tick() % 1_000_000_000) as c_long };
        // SAFETY: the program wants it there.
        unsafe { *to = now };
        0
    }

    fn gettimeofday(to: *mut libc::timeval, _zone: *mut c_void) -> c_int {
        let now = libc::timeval { tv_sec: EPOCH, tv_usec: (tick() % 1_000_000) as c_long };
        // SAFETY: the program wants it there.
        unsafe { *to = now };
        0
    }
}
