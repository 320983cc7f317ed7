//! Signal handlers: a crash of the program is caught on an alternate stack and leads back to the
//! host. And the wish of the user that the search end, and threads that never come to an operation.
//!
//! A crash is the program's if it happens on the stack of one of its threads, whatever runs there:
//! our own code may follow pointers that the program has destroyed.
//!
//! A thread that comes to no operation is left where it is ([`Crash::is_stuck`]): at once if it is
//! in a loop of jumps alone, which is a livelock; when the time limit is over or the user wants an
//! end; and after [`PATIENCE`] in any case. That ends the search. It is left only in code that
//! holds no lock of ours: in the program, or in the kernel.

use crate::after_write;
use crate::coroutine;
use crate::lines;
use crate::precompiled;
use crate::report;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];
const STACK_LEN: usize = 64 << 10;
/// How long a step may take without a word.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How often the processor's clock is looked at, and after how many looks a loop is looked at.
const TICK_US: i64 = 100_000;
const TICKS_OF_A_LOOP: usize = 2;
/// How often it is tried to leave a thread once its time is over.
const RETRY_US: i64 = 5_000;
/// How long a step that began in time may go on.
const GRACE: Duration = Duration::from_millis(100);
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// A signal that ended a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash {
    pub(crate) signal: c_int,
    /// The address that could not be accessed.
    pub(crate) address: usize,
    /// The instruction that did it.
    pub(crate) instruction: usize,
    pub(crate) stack_pointer: usize,
    /// Whether the address is beyond the end of a thread's stack.
    pub(crate) is_overflow: bool,
    /// Whether the thread has destroyed its stack, as was found out by following its
    /// frames.
    pub(crate) is_destroyed: bool,
}

impl Crash {
    /// Whether the thread is fine, and was left because it came to no operation.
    pub(crate) fn is_stuck(&self) -> bool {
        self.signal == libc::SIGALRM
    }
}

static N_STEPS: AtomicUsize = AtomicUsize::new(0);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Set when the search is to stop at once, in the middle of an execution.
pub(crate) static IS_OVER: AtomicBool = AtomicBool::new(false);
static HAPPENED: AtomicBool = AtomicBool::new(false);
/// Whether it was code of ours that could not go on, on the stack of a thread.
static IS_INSIDE: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicUsize = AtomicUsize::new(0);
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static INSTRUCTION: AtomicUsize = AtomicUsize::new(0);
static STACK_POINTER: AtomicUsize = AtomicUsize::new(0);

/// The step that a clock has seen last, and since when or for how many ticks.
struct Seen {
    step: AtomicUsize,
    since: AtomicU64,
}

static BY_PROCESSOR: Seen = Seen::new();
static BY_CLOCK: Seen = Seen::new();
/// When the time is over, in nanoseconds of the clock.
static END: AtomicU64 = AtomicU64::new(u64::MAX);
/// Where code is that must not be left in the middle: this library, and that of C.
static FRAGILE: [(AtomicUsize, AtomicUsize); 3] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 3];

impl Seen {
    const fn new() -> Self {
        Self { step: AtomicUsize::new(usize::MAX), since: AtomicU64::new(0) }
    }

    /// What was noted when the step in progress was first seen; nothing if that is now.
    fn look(&self, now: u64) -> Option<u64> {
        let step = N_STEPS.load(Ordering::Relaxed);
        if self.step.swap(step, Ordering::Relaxed) == step && coroutine::in_program() {
            return Some(self.since.load(Ordering::Relaxed));
        }
        self.since.store(now, Ordering::Relaxed);
        None
    }
}

/// From now on a crash of a thread comes back to the host.
pub(crate) fn catch() {
    let stack = Box::leak(vec![0u8; STACK_LEN].into_boxed_slice());
    // SAFETY: the stack is never freed, and the handler has the type that the flags ask for.
    unsafe {
        let stack =
            libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_LEN };
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
    }
    let on_stack = libc::SA_SIGINFO | libc::SA_ONSTACK;
    for signal in SIGNALS {
        set_handler(signal, handle as *const () as usize, on_stack);
    }
}

fn set_handler(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: the handlers of this file have the types that their flags ask for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// From now on an interrupt ends the search.
pub(crate) fn catch_interrupt() {
    let flags = libc::SA_ONSTACK | libc::SA_RESTART;
    set_handler(libc::SIGINT, interrupt as *const () as usize, flags);
}

extern "C" fn interrupt(_signal: c_int) {
    IS_INTERRUPTED.store(true, Ordering::Relaxed);
    IS_OVER.store(true, Ordering::Relaxed);
    END.store(0, Ordering::Relaxed);
    set_timer(libc::ITIMER_REAL, GRACE.as_micros() as i64, RETRY_US);
}

/// Whether the user wants the search to end.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// How much time is left, if it is limited.
pub(crate) fn time_left() -> Option<Duration> {
    let end = Some(END.load(Ordering::Relaxed)).filter(|&end| end != u64::MAX);
    end.map(|end| Duration::from_nanos(end.saturating_sub(now())))
}

/// A step begins.
#[inline]
pub(crate) fn begin_step() {
    N_STEPS.store(N_STEPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// From now on a step that is in a loop which cannot end is ended. While a debugger holds the
/// program, nothing is.
pub(crate) fn watch_loops() {
    let mut idx = 0usize;
    // SAFETY: `visit` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut idx).cast()) };
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    set_handler(libc::SIGVTALRM, tick as *const () as usize, flags);
    set_handler(libc::SIGALRM, alarm as *const () as usize, flags);
    set_timer(libc::ITIMER_VIRTUAL, TICK_US, TICK_US);
}

/// The same, and of a step that takes too much time, or that goes on when all the time is over.
pub(crate) fn watch_time(limit: Option<Duration>) {
    watch_loops();
    let half = PATIENCE / 2;
    let first = limit.map_or(half, |limit| limit.saturating_add(GRACE).min(half));
    if let Some(limit) = limit.and_then(|limit| u64::try_from(limit.as_nanos()).ok()) {
        END.store(now().saturating_add(limit), Ordering::Relaxed);
    }
    // A call that waits in the kernel is disturbed by it, and so it is rare until the time is over.
    set_timer(libc::ITIMER_REAL, first.as_micros().max(1) as i64, half.as_micros() as i64);
}

/// Notes where a library is that must not be left in the middle.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, idx: *mut c_void) -> c_int {
    // SAFETY: both come from `watch_loops`, through the loader, whose headers and names stay.
    let (base, headers, name, idx) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        (info.dlpi_addr as usize, headers, name, &mut *idx.cast::<usize>())
    };
    let file = name.rsplit(|&it| it == b'/').next().unwrap_or_default();
    let is_fragile = [&b"libmazurka_native"[..], b"libc.so", b"ld-linux"];
    if is_fragile.iter().any(|start| file.starts_with(start)) && *idx < FRAGILE.len() {
        let code = headers
            .iter()
            .filter(|it| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_X != 0)
            .map(|it| base + it.p_vaddr as usize..base + (it.p_vaddr + it.p_memsz) as usize);
        let start = code.clone().map(|it| it.start).min().unwrap_or(0);
        let end = code.map(|it| it.end).max().unwrap_or(0);
        FRAGILE[*idx].0.store(start, Ordering::Relaxed);
        FRAGILE[*idx].1.store(end, Ordering::Relaxed);
        *idx += 1;
    }
    0
}

fn set_timer(which: c_int, first_us: i64, every_us: i64) {
    let time = |us: i64| libc::timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 };
    let timer = libc::itimerval { it_interval: time(every_us), it_value: time(first_us) };
    // SAFETY: the kernel reads the timer.
    unsafe {
        libc::syscall(
            libc::SYS_setitimer,
            which,
            &raw const timer,
            std::ptr::null_mut::<libc::itimerval>(),
        );
    }
}

/// Nanoseconds of a clock that only goes forward.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills it in. The function of this name may be the program's clock.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The search is over: no other process is waited for any longer.
pub(crate) fn end_search() {
    IS_OVER.store(true, Ordering::Relaxed);
    END.store(0, Ordering::Relaxed);
    set_timer(libc::ITIMER_REAL, RETRY_US, RETRY_US);
}

/// How long the step in progress has taken by now, as far as the clock has seen it.
pub(crate) fn time_in_step() -> Duration {
    Duration::from_nanos(now().saturating_sub(BY_CLOCK.since.load(Ordering::Relaxed)))
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
        stack_pointer,
        // From above, it is the neighbour's.
        is_overflow: coroutine::is_guard(address)
            && coroutine::stack_of(address) == coroutine::stack_of(stack_pointer),
        is_destroyed: IS_INSIDE.load(Ordering::Relaxed),
    })
}

type Registers = [libc::greg_t; 23];

/// Comes by the processor's clock: looks whether the step in progress is in a loop that cannot end.
unsafe extern "C" fn tick(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let n_ticks = BY_PROCESSOR.look(0);
    if n_ticks.is_none() {
        BY_CLOCK.look(now());
        return;
    }
    let n_ticks = BY_PROCESSOR.since.fetch_add(1, Ordering::Relaxed) as usize + 1;
    // SAFETY: the kernel gives it.
    let instruction = unsafe { instruction_of(context) };
    if n_ticks >= TICKS_OF_A_LOOP && is_fragile(instruction).is_none() && is_endless(instruction) {
        // SAFETY: the kernel gives them.
        unsafe { handle(signal, info, context) };
    }
}

/// Comes by the clock: leaves a thread whose time is over.
unsafe extern "C" fn alarm(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let now = now();
    let end = END.load(Ordering::Relaxed);
    let since = BY_CLOCK.look(now);
    if now >= end {
        IS_OVER.store(true, Ordering::Relaxed);
        set_timer(libc::ITIMER_REAL, RETRY_US, RETRY_US);
    } else {
        let rest = Duration::from_nanos(end - now).saturating_add(GRACE).min(PATIENCE / 2);
        set_timer(libc::ITIMER_REAL, rest.as_micros() as i64 + 1, RETRY_US);
    }
    let patience = if now >= end { GRACE } else { PATIENCE };
    let Some(time) = since.map(|since| now.saturating_sub(since)) else { return };
    if u128::from(time) < patience.as_nanos() {
        return;
    }
    // SAFETY: the kernel gives it.
    let instruction = unsafe { instruction_of(context) };
    if is_fragile(instruction).is_none_or(|code| waits_in_kernel(code, instruction)) {
        // SAFETY: the kernel gives them.
        unsafe { handle(signal, info, context) };
    } else if now < end {
        set_timer(libc::ITIMER_REAL, RETRY_US, RETRY_US);
    }
}

/// # Safety
///
/// The kernel has given it to a handler.
unsafe fn instruction_of(context: *mut c_void) -> usize {
    // SAFETY: as the caller promises.
    unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    }
}

/// Where the code begins that must not be left in the middle, if an instruction is in such code.
fn is_fragile(instruction: usize) -> Option<usize> {
    FRAGILE.iter().find_map(|(start, end)| {
        let [start, end] = [start, end].map(|it| it.load(Ordering::Relaxed));
        (start..end).contains(&instruction).then_some(start)
    })
}

/// Whether this instruction is a call of the system, which would be made again, or comes after one.
fn waits_in_kernel(code: usize, instruction: usize) -> bool {
    // SAFETY: the code is there.
    let is_call = |at: usize| at >= code && unsafe { *(at as *const [u8; 2]) } == SYSCALL;
    is_call(instruction) || is_call(instruction - SYSCALL.len())
}

/// Whether the code here is a loop of jumps that does nothing else.
fn is_endless(instruction: usize) -> bool {
    const MAX_JUMPS: usize = 16;
    const LONGEST: usize = 15;
    let mut at = instruction;
    for _ in 0..MAX_JUMPS {
        // SAFETY: the program was about to run it. What comes after its end is not looked at.
        let code = unsafe { std::slice::from_raw_parts(at as *const u8, LONGEST) };
        let found = Decoder::with_ip(64, code, at as u64, DecoderOptions::NONE).decode();
        at = match (found.flow_control(), found.mnemonic()) {
            (FlowControl::UnconditionalBranch, _) => found.near_branch_target() as usize,
            (FlowControl::Next, Mnemonic::Nop | Mnemonic::Pause) => found.next_ip() as usize,
            _ => return false,
        };
        if at == instruction {
            return true;
        }
    }
    false
}

unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives both; only the registers of the interrupted thread are changed.
    let (address, registers): (usize, &mut Registers) = unsafe {
        ((*info).si_addr() as usize, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs)
    };
    // SAFETY: as above.
    if signal == libc::SIGTRAP && after_write::step(unsafe { (*info).si_code }, registers) {
        return;
    }
    let instruction = registers[libc::REG_RIP as usize] as usize;
    // A short trap has been passed when it is told.
    let trap = if signal == libc::SIGTRAP { instruction.wrapping_sub(1) } else { instruction };
    if signal == libc::SIGTRAP && lines::pass(trap) {
        registers[libc::REG_RIP as usize] = trap as i64;
        return;
    }
    if [libc::SIGILL, libc::SIGTRAP].contains(&signal)
        && let Some(way) = precompiled::way(trap)
    {
        registers[libc::REG_RIP as usize] = way as i64;
        return;
    }
    after_write::stop(registers);
    let stack_pointer = registers[libc::REG_RSP as usize] as usize;
    let is_inside = !coroutine::in_program();
    IS_INSIDE.store(is_inside, Ordering::Relaxed);
    if is_inside && !coroutine::return_to(stack_pointer) {
        report::die(&format!("Mazurka itself got signal {signal} at {instruction:#x}"));
    }
    SIGNAL.store(signal as usize, Ordering::Relaxed);
    ADDRESS.store(address, Ordering::Relaxed);
    INSTRUCTION.store(instruction, Ordering::Relaxed);
    STACK_POINTER.store(stack_pointer, Ordering::Relaxed);
    HAPPENED.store(true, Ordering::Relaxed);
    // The return from this handler goes to where the host waits for the thread.
    registers[libc::REG_RSP as usize] = coroutine::host_stack() as i64;
    registers[libc::REG_RIP as usize] = coroutine::land as *const () as usize as i64;
}
