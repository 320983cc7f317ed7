//! The function `syscall`: the way to the kernel for what the C library has no function for.

use crate::callbacks;
use crate::coroutine;
use crate::futex;
use crate::io;
use crate::machine;
use crate::process;
use crate::process_barrier;
use crate::real::replace;
use mazurka_core::Operation;
use std::ffi::{c_int, c_long, c_uint, c_void};

/// Calls that change nothing and whose answer is the same in every execution.
const HARMLESS: [c_long; 9] = [
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_prctl,
    libc::SYS_statx,
    libc::SYS_readlinkat,
];

/// What a call that fails gives back.
pub(crate) fn fail_with(error: c_int) -> c_long {
    // SAFETY: every thread has one.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Fills memory with numbers that are the same in every execution.
fn fill(to: *mut c_void, len: usize) {
    callbacks::plain(to as usize, len, true);
    for idx in 0..len {
        // SAFETY: the program wants that many bytes there.
        unsafe { *to.cast::<u8>().add(idx) = process::random_word() as u8 };
    }
}

/// Asks the kernel itself, from any thread.
///
/// # Safety
///
/// As the kernel's manual says for the call of this number.
pub(crate) unsafe fn kernel(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel takes its arguments so and changes two more registers.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Asks the kernel, and answers as the C library does.
///
/// # Safety
///
/// As for [`kernel`].
unsafe fn pass_on(number: c_long, arguments: [usize; 6]) -> c_long {
    // SAFETY: as the caller promises.
    match unsafe { kernel(number, arguments) } {
        error @ -4095..=-1 => fail_with(-error as c_int),
        result => result as c_long,
    }
}

/// What a thread of the program gets.
///
/// # Safety
///
/// As for [`kernel`].
unsafe fn answer(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    match number {
        libc::SYS_futex => {
            let operation = b as c_int;
            let call = futex::Call {
                address: a,
                operation,
                value: c as u32,
                timeout: d,
                other: e,
                bits: f as u32,
            };
            futex::call(&call)
                .unwrap_or_else(|| refuse(&format!("operation {operation} of `futex`")))
        }
        libc::SYS_getrandom => {
            fill(a as *mut c_void, b);
            b as c_long
        }
        libc::SYS_sched_yield => {
            machine::visible(Operation::Yield);
            0
        }
        libc::SYS_gettid => machine::current().index() as c_long + 1,
        libc::SYS_membarrier => {
            process_barrier::membarrier(a as c_int).unwrap_or_else(|| fail_with(libc::EINVAL))
        }
        libc::SYS_getcpu => 0,
        // Threads have numbers of ours, and all run where this one does.
        // SAFETY: as the caller promises.
        libc::SYS_sched_getaffinity => unsafe { pass_on(number, [0, b, c, d, 0, f]) },
        // SAFETY: as the caller promises.
        _ if HARMLESS.contains(&number) => unsafe { pass_on(number, arguments) },
        // SAFETY: as the caller promises.
        _ if io::is_system_call_real(number) => unsafe { pass_on(number, arguments) },
        _ => fail_with(libc::ENOSYS),
    }
}

/// What a thread of the program gets that asks the kernel itself: an error is a negative number.
///
/// # Safety
///
/// As for [`kernel`].
pub(crate) unsafe fn raw(number: c_long, arguments: [usize; 6]) -> c_long {
    // SAFETY: every thread has one; and as the caller promises.
    unsafe {
        let kept = *libc::__errno_location();
        let result = match answer(number, arguments) {
            -1 => -c_long::from(*libc::__errno_location()),
            result => result,
        };
        *libc::__errno_location() = kept;
        result
    }
}

fn refuse(what: &str) -> ! {
    io::refuse(what.to_owned(), None)
}

// In C this takes any number of arguments; those that were not given are not looked at.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let arguments = [a, b, c, d, e, f];
    let here = arguments.as_ptr() as usize;
    // SAFETY: the caller wanted to call just this.
    unsafe {
        // Threads that are not the program's may come here at any time.
        match coroutine::is_own_stack(here) {
            true => answer(number, arguments),
            false => pass_on(number, arguments),
        }
    }
}

/// Where that function is, to recognise calls of it.
pub(crate) fn address() -> usize {
    syscall as *const () as usize
}

replace! {
    fn getrandom(to: *mut c_void, len: usize, _flags: c_uint) -> isize {
        fill(to, len);
        len as isize
    }

    fn getentropy(to: *mut c_void, len: usize) -> c_int {
        fill(to, len);
        0
    }
}
