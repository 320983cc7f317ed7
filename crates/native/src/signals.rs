//! Crashes of the program: caught on a stack of their own, and turned into a way back to the host.
//! And the wish of the user that the search end.

use crate::coroutine;
use crate::precompiled;
use crate::report;
use crate::watch::CUT;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];
const STACK_LEN: usize = 64 << 10;
/// A step may take two seconds of the processor.
const TICK_US: i64 = 500_000;
const MAX_TICKS: usize = 4;

/// A signal that ended a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash {
    pub(crate) signal: c_int,
    /// The address that could not be accessed.
    pub(crate) address: usize,
    /// The instruction that did it.
    pub(crate) instruction: usize,
    /// Whether the address is just beyond the end of the thread's stack.
    pub(crate) is_overflow: bool,
}

static N_STEPS: AtomicUsize = AtomicUsize::new(0);
static SEEN_STEP: AtomicUsize = AtomicUsize::new(0);
static N_TICKS: AtomicUsize = AtomicUsize::new(0);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
static HAPPENED: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicUsize = AtomicUsize::new(0);
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static INSTRUCTION: AtomicUsize = AtomicUsize::new(0);
static STACK_POINTER: AtomicUsize = AtomicUsize::new(0);

/// From now on a crash of a thread comes back to the host.
pub(crate) fn catch() {
    let stack = Box::leak(vec![0u8; STACK_LEN].into_boxed_slice());
    // SAFETY: the stack is never freed, and the handler has the type that the flags ask for.
    unsafe {
        let stack =
            libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_LEN };
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        for signal in SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// From now on an interrupt ends the search after the execution in progress.
pub(crate) fn catch_interrupt() {
    // SAFETY: the handler only sets flags, and interrupts no system call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = interrupt as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn interrupt(_signal: c_int) {
    IS_INTERRUPTED.store(true, Ordering::Relaxed);
    // The search looks at one flag only.
    CUT.store(true, Ordering::Relaxed);
}

/// Whether the user wants the search to end.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// A step begins.
#[inline]
pub(crate) fn begin_step() {
    N_STEPS.store(N_STEPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// From now on a step that takes too much time of the processor is ended.
pub(crate) fn watch_time() {
    let every = libc::timeval { tv_sec: 0, tv_usec: TICK_US };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the handler has the type that the flags ask for, and interrupts no system call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = tick as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGVTALRM, &raw const action, std::ptr::null_mut());
        libc::syscall(
            libc::SYS_setitimer,
            libc::ITIMER_VIRTUAL,
            &raw const timer,
            std::ptr::null_mut::<libc::itimerval>(),
        );
    }
}

/// The crash that ended the last step, if one did.
pub(crate) fn take_crash() -> Option<Crash> {
    if !HAPPENED.load(Ordering::Relaxed) {
        return None;
    }
    HAPPENED.store(false, Ordering::Relaxed);
    let address = ADDRESS.load(Ordering::Relaxed);
    let stack_pointer = STACK_POINTER.load(Ordering::Relaxed);
    Some(Crash {
        signal: SIGNAL.load(Ordering::Relaxed) as c_int,
        address,
        instruction: INSTRUCTION.load(Ordering::Relaxed),
        is_overflow: address.abs_diff(stack_pointer) < 4 * 4096
            && coroutine::stack_of(address) < mazurka_core::ThreadId::MAX
            && address % coroutine::STACK_LEN < 4096,
    })
}

/// Looks whether the step in progress is still the one of several ticks before.
unsafe extern "C" fn tick(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let step = N_STEPS.load(Ordering::Relaxed);
    let is_new = SEEN_STEP.swap(step, Ordering::Relaxed) != step;
    if is_new || !coroutine::in_program() {
        N_TICKS.store(0, Ordering::Relaxed);
    } else if N_TICKS.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_TICKS {
        N_TICKS.store(0, Ordering::Relaxed);
        // SAFETY: the kernel gives them.
        unsafe { handle(signal, info, context) };
    }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives both; only the registers of the interrupted thread are changed.
    let (address, registers) = unsafe {
        ((*info).si_addr() as usize, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs)
    };
    let instruction = registers[libc::REG_RIP as usize] as usize;
    // A short trap has been passed when it is told.
    let trap = if signal == libc::SIGTRAP { instruction.wrapping_sub(1) } else { instruction };
    if [libc::SIGILL, libc::SIGTRAP].contains(&signal)
        && let Some(way) = precompiled::way(trap)
    {
        registers[libc::REG_RIP as usize] = way as i64;
        return;
    }
    if !coroutine::in_program() {
        report::die(&format!("Mazurka itself got signal {signal} at {instruction:#x}"));
    }
    SIGNAL.store(signal as usize, Ordering::Relaxed);
    ADDRESS.store(address, Ordering::Relaxed);
    INSTRUCTION.store(instruction, Ordering::Relaxed);
    STACK_POINTER.store(registers[libc::REG_RSP as usize] as usize, Ordering::Relaxed);
    HAPPENED.store(true, Ordering::Relaxed);
    // The return from this handler goes to where the host waits for the thread.
    registers[libc::REG_RSP as usize] = coroutine::host_stack() as i64;
    registers[libc::REG_RIP as usize] = coroutine::land as *const () as usize as i64;
}
