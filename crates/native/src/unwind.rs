//! The end of a thread from within its functions: what they have left to clean up runs first.
//!
//! The unwinder goes through all frames of the program and calls the destructors of C++ objects and
//! what `pthread_cleanup_push` registered (the compilers make it a destructor when exceptions are
//! on, as the command compiles C). At the frame in which the thread began, it ends.

use crate::process::{end_thread, enter};
use crate::{coroutine, sites};
use std::ffi::{c_int, c_void};

/// What the unwinder passes through the frames. No language claims it as its own.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: usize,
    private: [usize; 2],
}

type Stop = unsafe extern "C-unwind" fn(
    c_int,
    c_int,
    u64,
    *mut Exception,
    *mut c_void,
    *mut c_void,
) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: Stop, argument: *mut c_void) -> c_int;
    fn _Unwind_GetRegionStart(context: *mut c_void) -> usize;
}

const END_OF_STACK: c_int = 16;

/// Unwinds the stack of the running thread, and ends the thread with a result.
pub(crate) fn end_with(result: usize) -> ! {
    // It is the program's memory, since the stack below the frames goes away.
    // SAFETY: the block is long enough, and aligned as all of them are.
    unsafe {
        let exception: *mut Exception = crate::heap::malloc(size_of::<Exception>()).cast();
        exception.write(Exception { class: 0, cleanup: 0, private: [0; 2] });
        _Unwind_ForcedUnwind(exception, stop, result as *mut c_void);
    }
    // A frame without a description, or one that must not be unwound: as it is, then.
    end_thread(result)
}

/// A panic or an exception begins: that is where something goes wrong, whatever destructors do
/// then.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _Unwind_RaiseException(exception: *mut c_void) -> c_int {
    if coroutine::in_program() {
        sites::note_panic();
    }
    let real = crate::real::original!(_Unwind_RaiseException(*mut c_void) -> c_int);
    // SAFETY: the caller wanted to call just this.
    unsafe { real(exception) }
}

/// Asked before each frame is unwound.
unsafe extern "C-unwind" fn stop(
    _: c_int,
    actions: c_int,
    _: u64,
    _: *mut Exception,
    context: *mut c_void,
    result: *mut c_void,
) -> c_int {
    // SAFETY: the context is that of the unwinder which calls.
    let begin = unsafe { _Unwind_GetRegionStart(context) };
    if actions & END_OF_STACK != 0 || begin == enter as *const () as usize {
        end_thread(result as usize);
    }
    0
}
