//! Threads of the program as coroutines: each on a stack of its own, all on one OS thread.
//!
//! The explorer runs on the host stack, that of the process's first thread. [`resume`] goes from
//! there to a coroutine and comes back when it [`suspend`]s, or when a signal handler sends it
//! back by going to [`land`] with [`host_stack`].

use mazurka_core::ThreadId;
use std::arch::{asm, naked_asm};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much address space a stack has. A power of two, so that the owner of an address is a shift
/// away. Its lower part is a guard: a stack has the size that the system gives, or that the program
/// asks for.
pub(crate) const STACK_LEN: usize = 1 << STACK_SHIFT;
const STACK_SHIFT: usize = 26;
/// So much of a stack is for what this library does on it, beside the program.
const OWN_LEN: usize = 256 << 10;
/// The largest size that a program may ask for.
pub(crate) const MAX_SIZE: usize = STACK_LEN - OWN_LEN - 4096;
const PAGE_LEN: usize = 4096;
const NOBODY: usize = usize::MAX;

/// What is on the stack of a coroutine that has not begun.
#[repr(C)]
struct First {
    begin: unsafe extern "C" fn(),
    floats: FloatEnvironment,
    entry: extern "C-unwind" fn() -> !,
    end: usize,
}

/// What a coroutine that is suspended goes on with, innermost on its stack: where, its environment
/// and two registers.
pub(crate) type Resumption = [usize; 4];

/// The coroutine that runs, or [`NOBODY`]. Only one OS thread ever writes it.
pub(crate) static CURRENT: AtomicUsize = AtomicUsize::new(NOBODY);
/// The stack pointer of the host while a coroutine runs.
static HOST: AtomicUsize = AtomicUsize::new(0);
/// Whose stack something runs on that is not the program's, see [`as_host`]; or [`NOBODY`].
static GUEST: AtomicUsize = AtomicUsize::new(NOBODY);
/// Where the stacks are.
static STACKS: AtomicUsize = AtomicUsize::new(0);

/// A coroutine that does not run: where its stack ends, and its thread pointer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coroutine {
    pub(crate) stack_pointer: usize,
    pub(crate) thread_pointer: usize,
}

/// The floating-point environment of a thread: rounding, exceptions that are masked, and those that
/// were raised (`fenv.h`), for the vector unit and for the x87.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct FloatEnvironment {
    vector: u32,
    x87_control: u16,
    x87_status: u16,
}

impl Default for FloatEnvironment {
    /// That of a new process.
    fn default() -> Self {
        Self { vector: 0x1f80, x87_control: 0x037f, x87_status: 0 }
    }
}

impl FloatEnvironment {
    /// That of the code that runs.
    pub(crate) fn now() -> Self {
        let mut it = Self::default();
        // SAFETY: each is stored where there is room for it.
        unsafe {
            asm!(
                "stmxcsr [{it}]",
                "fnstcw [{it} + 4]",
                "fnstsw [{it} + 6]",
                it = in(reg) &raw mut it,
                options(nostack, preserves_flags),
            );
        }
        it
    }

    /// That of the process when it is asked for first, with no exception raised.
    pub(crate) fn first() -> Self {
        const RAISED: u32 = 0x3f;
        static FIRST: OnceLock<FloatEnvironment> = OnceLock::new();
        *FIRST.get_or_init(|| {
            let now = Self::now();
            Self { vector: now.vector & !RAISED, x87_status: 0, ..now }
        })
    }
}

/// Whether a coroutine runs, and not the host or another thread of the system.
#[inline]
pub(crate) fn in_program() -> bool {
    CURRENT.load(Ordering::Relaxed) != NOBODY
}

/// The index of the coroutine that runs, if one does.
#[inline]
pub(crate) fn current() -> Option<usize> {
    Some(CURRENT.load(Ordering::Relaxed)).filter(|&idx| idx != NOBODY)
}

/// The same; if none does, an index that no coroutine has.
#[inline(always)]
pub(crate) fn running() -> usize {
    CURRENT.load(Ordering::Relaxed)
}

/// Whether an address is on the stack of the coroutine that runs.
#[inline]
pub(crate) fn is_own_stack(address: usize) -> bool {
    stack_of(address) == CURRENT.load(Ordering::Relaxed)
}

/// The index of the stack that an address is on; far too large if it is on none.
#[inline]
pub(crate) fn stack_of(address: usize) -> usize {
    address.wrapping_sub(STACKS.load(Ordering::Relaxed)) >> STACK_SHIFT
}

/// Where the stack of a coroutine begins: it grows downwards from here.
pub(crate) fn top(idx: usize) -> usize {
    STACKS.load(Ordering::Relaxed) + (idx + 1) * STACK_LEN
}

/// Says where the stacks are.
pub(crate) fn set_stacks(base: usize) {
    STACKS.store(base, Ordering::Relaxed);
}

/// The sizes of the stacks, without what is ours; 0 for one that was not used before.
static SIZES: [AtomicUsize; ThreadId::MAX] = [const { AtomicUsize::new(0) }; ThreadId::MAX];

/// How large a stack is for the program.
pub(crate) fn size(idx: usize) -> usize {
    SIZES[idx].load(Ordering::Relaxed)
}

/// Gives a stack that is not in use a size: all below it is a guard.
pub(crate) fn set_size(idx: usize, size: usize) {
    let size = size.clamp(PAGE_LEN, MAX_SIZE).next_multiple_of(PAGE_LEN);
    if SIZES[idx].swap(size, Ordering::Relaxed) == size {
        return;
    }
    let bottom = top(idx) - STACK_LEN;
    let guard_len = STACK_LEN - OWN_LEN - size;
    // SAFETY: the memory belongs to the stack, and it is not in use.
    unsafe {
        libc::mprotect(bottom as *mut _, guard_len, libc::PROT_NONE);
        let rest = (bottom + guard_len) as *mut _;
        libc::mprotect(rest, STACK_LEN - guard_len, libc::PROT_READ | libc::PROT_WRITE);
    }
}

/// Whether an address is beyond the end of the stack that it belongs to.
pub(crate) fn is_guard(address: usize) -> bool {
    let idx = stack_of(address);
    idx < ThreadId::MAX && address < top(idx) - size(idx) - OWN_LEN
}

/// Whether an address of the stack of the coroutine that runs is beyond what the program has of it,
/// where this library has its own part. The first frames are ours, too, and do not count.
#[inline]
pub(crate) fn is_beyond_own(address: usize) -> bool {
    let idx = running();
    address < top(idx) - size(idx) - PAGE_LEN
}

/// How large the system makes stacks: that of `main`, and those of threads.
pub(crate) fn default_sizes() -> (usize, usize) {
    const UNLIMITED: usize = 2 << 20;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel fills it in.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    match limit.rlim_cur {
        libc::RLIM_INFINITY => (MAX_SIZE, UNLIMITED),
        limit => (limit as usize, limit as usize),
    }
}

/// Where the host goes on.
pub(crate) fn host_stack() -> usize {
    HOST.load(Ordering::Relaxed)
}

/// The stack pointer of a coroutine that will begin with `entry`, in this environment.
///
/// # Safety
///
/// Nothing on the stack of `idx` is used any more, and `entry` does not return.
pub(crate) unsafe fn prepare(
    idx: usize,
    entry: extern "C-unwind" fn() -> !,
    floats: FloatEnvironment,
) -> usize {
    // Where to go on, what that needs, and what would be the address to return to.
    let words = First { begin, floats, entry, end: 0 };
    let stack_pointer = top(idx) - size_of_val(&words);
    // SAFETY: the stack is writable and it is not in use.
    unsafe { std::ptr::write(stack_pointer as *mut _, words) };
    stack_pointer
}

/// The stack of a coroutine that is suspended, from an address on: that of its innermost frame or
/// one below it.
pub(crate) fn frames(idx: usize, start: usize) -> &'static [u8] {
    let len = top(idx) - start;
    // SAFETY: the stack is mapped, and grows no further as long as the coroutine is suspended.
    unsafe { std::slice::from_raw_parts(start as *const u8, len) }
}

/// Puts the stack of a coroutine back from the beginning of `bytes`; the rest of them.
///
/// # Safety
///
/// They begin with its [`frames`] from `start` on.
pub(crate) unsafe fn put_back(idx: usize, start: usize, bytes: &[u8]) -> &[u8] {
    let (mine, rest) = bytes.split_at(top(idx) - start);
    // SAFETY: the stack is that long, and whatever was on it is not gone on with.
    unsafe {
        std::ptr::copy_nonoverlapping(mine.as_ptr(), start as *mut u8, mine.len());
    }
    rest
}

/// Runs a coroutine, and those it goes on to, until one suspends; gives back the index of that.
///
/// # Safety
///
/// Both parts of the coroutine are those of a prepared or suspended one, and no reference to
/// what it may change is held.
#[inline(always)]
pub(crate) unsafe fn resume(idx: usize, coroutine: Coroutine) -> usize {
    let host = thread_pointer();
    CURRENT.store(idx, Ordering::Relaxed);
    // SAFETY: the stack is one that `switch` left or `prepare` made.
    unsafe {
        set_thread_pointer(coroutine.thread_pointer);
        switch(HOST.as_ptr(), coroutine.stack_pointer);
        set_thread_pointer(host);
    }
    let last = CURRENT.load(Ordering::Relaxed);
    CURRENT.store(NOBODY, Ordering::Relaxed);
    last
}

/// Goes from the coroutine that runs to another one; returns when somebody goes on with what is
/// then in `save`.
///
/// # Safety
///
/// As for [`resume`] and [`suspend`].
#[inline(always)]
pub(crate) unsafe fn transfer(save: *mut usize, idx: usize, coroutine: Coroutine) {
    CURRENT.store(idx, Ordering::Relaxed);
    // SAFETY: the stack is one that `switch` left or `prepare` made.
    unsafe {
        set_thread_pointer(coroutine.thread_pointer);
        switch(save, coroutine.stack_pointer);
    }
}

/// Goes back to the host; returns when the host resumes what is then in `save`.
///
/// # Safety
///
/// A coroutine runs, and `save` stays valid until it goes on.
#[inline(always)]
pub(crate) unsafe fn suspend(save: *mut usize) {
    // SAFETY: the host waits in `resume`.
    unsafe { switch(save, host_stack()) }
}

/// Runs something that is not the program's on the stack of a coroutine.
pub(crate) fn as_host(work: impl FnOnce()) {
    let idx = CURRENT.swap(NOBODY, Ordering::Relaxed);
    let guest = GUEST.swap(idx, Ordering::Relaxed);
    work();
    GUEST.store(guest, Ordering::Relaxed);
    CURRENT.store(idx, Ordering::Relaxed);
}

/// What ran as if it were the host did so on the stack of a coroutine, with this stack pointer, and
/// cannot go on: that coroutine runs again. Whether there is one.
pub(crate) fn return_to(stack_pointer: usize) -> bool {
    let guest = GUEST.swap(NOBODY, Ordering::Relaxed);
    let is_its = guest != NOBODY && stack_of(stack_pointer) == guest;
    if is_its {
        CURRENT.store(guest, Ordering::Relaxed);
    }
    is_its
}

/// The thread pointer of this OS thread.
#[inline]
pub(crate) fn thread_pointer() -> usize {
    let base: usize;
    // SAFETY: reads a register; the start checked that the processor can.
    unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

/// # Safety
///
/// `base` is the thread pointer of a thread that does not run.
#[inline]
unsafe fn set_thread_pointer(base: usize) {
    // Reading it is much quicker than writing it.
    if thread_pointer() != base {
        // SAFETY: as the caller promises.
        unsafe { asm!("wrfsbase {}", in(reg) base, options(nostack, preserves_flags)) };
    }
}

/// Keeps where this code is, and goes on elsewhere.
///
/// It is no function, and neither should be who uses it, as far as that is possible: the processor
/// takes every return for one to the last call, and there is none on this stack.
///
/// # Safety
///
/// `to` is what was saved by a switch, or prepared.
#[inline(always)]
unsafe fn switch(save: *mut usize, to: usize) {
    // SAFETY: what the compiler does not let us name is saved here; all else it saves itself. What
    // is where in the middle is a `FloatEnvironment`. It is hardly ever another one, and reading it
    // is much quicker than writing it.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "fnstsw [rsp + 6]",
            "mov rdx, [rsp]",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "cmp rdx, [rsp]",
            "je 3f",
            "call {enter}",
            "3:",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            enter = sym enter_environment,
            inout("rdi") save => _,
            inout("rsi") to => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// Makes the [`FloatEnvironment`] behind the address to return to that of the code that runs, which
/// is in `rdx`.
#[unsafe(naked)]
unsafe extern "C" fn enter_environment() {
    naked_asm!(
        "ldmxcsr [rsp + 8]",
        "shr rdx, 32",
        "cmp edx, [rsp + 12]",
        "je 2f",
        // The one way to give the x87 its exceptions back.
        "sub rsp, 40",
        "fnstenv [rsp]",
        "mov ax, [rsp + 52]",
        "mov [rsp], ax",
        "mov ax, [rsp + 54]",
        "mov [rsp + 4], ax",
        "fldenv [rsp]",
        "add rsp, 40",
        "2:",
        "ret",
    )
}

/// Where a coroutine begins: in its environment.
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    naked_asm!("call {enter}", "add rsp, 8", "pop rax", "jmp rax", enter = sym enter_environment)
}

/// The second half of a switch: where a stack pointer that was saved is gone on with.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn land() {
    // What the environment is here is not known, and 0 is none.
    naked_asm!("xor edx, edx", "pop rax", "jmp rax")
}
