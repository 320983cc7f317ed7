//! The C++ runtime library (Itanium ABI): guards of local statics, destructors of thread-local
//! objects, and what is said when an exception is not caught.
//!
//! Exceptions themselves need nothing: each coroutine has a stack that can be unwound to its end,
//! and the exceptions in flight are in thread-local storage. The once-flag of a static variable is
//! both a mutex (the initialisation) and an atomic (the look before it, which compilers inline), so
//! it is one object, and the step that gives the mutex back is the one that sets the flag.

use crate::machine;
use crate::names;
use crate::process::{Handler, random_word};
use crate::real::replace;
use mazurka_core::{Operation as O, ViolationKind};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

type TypeInfo = *const *const usize;

/// What `std::terminate` was called for, if the running thread comes from there.
pub(crate) fn describe_termination() -> Option<String> {
    let stack = names::backtrace();
    let caller = stack.iter().find_map(|&address| names::library_of(address))?;
    if !caller.starts_with("libstdc++") && !caller.starts_with("libc++") {
        return None;
    }
    let why = match current_exception() {
        Some((type_name, Some(what))) => {
            format!("`std::terminate` after an exception `{type_name}` that is not caught: {what}")
        }
        Some((type_name, None)) => {
            format!("`std::terminate` after an exception `{type_name}` that is not caught")
        }
        None => "`std::terminate` without an exception: is a thread neither joined nor detached?"
            .to_owned(),
    };
    Some(match names::location_of(&stack) {
        Some(location) => format!("{why}, at {location}"),
        None => why,
    })
}

/// The type of the exception in flight, and what it says if it is a `std::exception`.
fn current_exception() -> Option<(String, Option<String>)> {
    let type_of = symbol(c"__cxa_current_exception_type")?;
    // SAFETY: this is the type that the ABI of C++ gives the function.
    let thrown = unsafe { std::mem::transmute::<usize, extern "C" fn() -> TypeInfo>(type_of)() };
    if thrown.is_null() {
        return None;
    }
    // SAFETY: a type has its name behind the pointer to its virtual functions; a star before it
    // says that the name is not unique.
    let name = unsafe { CStr::from_ptr((*thrown.add(1)).cast::<c_char>()) }.to_string_lossy();
    let name = name.trim_start_matches('*');
    let full = addr2line::demangle_auto(format!("_ZTS{name}").into(), None);
    let name = full.strip_prefix("typeinfo name for ").unwrap_or(name).to_owned();
    Some((name, what(thrown)))
}

/// What the exception in flight says, if its type is derived from `std::exception`.
fn what(thrown: TypeInfo) -> Option<String> {
    type Current = extern "C" fn(*mut *mut c_void) -> *mut c_void;
    type DoCatch = extern "C" fn(TypeInfo, TypeInfo, *mut *mut c_void, c_uint) -> bool;
    type What = extern "C" fn(*const *const usize) -> *const c_char;
    /// Where these are among the virtual functions of a type and of an exception.
    const DO_CATCH: usize = 4;
    const WHAT: usize = 2;
    let (current, base) = (symbol(c"_ZSt17current_exceptionv")?, symbol(c"_ZTISt9exception")?);
    let base = base as TypeInfo;
    let mut object = std::ptr::null_mut();
    // SAFETY: these are the types that the ABI of C++ gives the functions, and the object is of the
    // type that was thrown; it is adjusted to its base before it is used as one.
    unsafe {
        std::mem::transmute::<usize, Current>(current)(&raw mut object);
        let do_catch = std::mem::transmute::<usize, DoCatch>(*(*base).add(DO_CATCH));
        if object.is_null() || !do_catch(base, thrown, &raw mut object, 1) {
            return None;
        }
        let exception = object.cast::<*const usize>().cast_const();
        let what = std::mem::transmute::<usize, What>(*(*exception).add(WHAT));
        let text = what(exception);
        Some(CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// A symbol of the library of C++, which C programs do not have.
fn symbol(name: &CStr) -> Option<usize> {
    // SAFETY: the name is a string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

fn is_initialised(guard: *mut u8) -> bool {
    // SAFETY: the program gives the flag of a static variable, whose first byte says so.
    unsafe { guard.read_volatile() != 0 }
}

replace! {
    fn __cxa_guard_acquire(guard: *mut u8) -> c_int {
        let (me, it) = machine::with(|machine| (machine::current(), machine.objects.at(guard as usize)));
        if machine::with(|machine| machine.objects.state(it).owner == Some(me)) {
            let name = machine::name_of(guard as usize);
            let message = format!("`{name}` is needed by its own initialisation");
            machine::fail(ViolationKind::Panic, message)
        }
        machine::visible(O::Acquire(it));
        if !is_initialised(guard) {
            return 1;
        }
        machine::visible(O::Release(it));
        0
    }

    fn __cxa_guard_release(guard: *mut u8) {
        machine::visible(O::Release(machine::with(|machine| machine.objects.at(guard as usize))));
        // SAFETY: the program gives the flag of a static variable.
        unsafe { guard.write_volatile(1) };
    }

    fn __cxa_guard_abort(guard: *mut u8) {
        machine::visible(O::Release(machine::with(|machine| machine.objects.at(guard as usize))));
    }

    fn __cxa_thread_atexit(
        function: unsafe extern "C-unwind" fn(*mut c_void),
        argument: *mut c_void,
        _module: *mut c_void,
    ) -> c_int {
        at_thread_exit(Handler::Plain(function, argument))
    }

    fn __cxa_thread_atexit_impl(
        function: unsafe extern "C-unwind" fn(*mut c_void),
        argument: *mut c_void,
        _module: *mut c_void,
    ) -> c_int {
        at_thread_exit(Handler::Plain(function, argument))
    }

    /// A failed check inside the library of C++.
    fn _ZSt21__glibcxx_assert_failPKciS0_S0_(
        file: *const c_char,
        line: c_int,
        function: *const c_char,
        condition: *const c_char,
    ) {
        let line = c_uint::try_from(line).unwrap_or(0);
        crate::process::assertion_failed(condition, file, line, function)
    }

    /// `std::random_device` would ask the processor.
    fn _ZNSt13random_device9_M_getvalEv(_device: *mut c_void) -> c_uint {
        random_word() as c_uint
    }
}

fn at_thread_exit(handler: Handler) -> c_int {
    let me = machine::current().index();
    machine::with(|machine| machine.threads[me].handlers.push(handler));
    0
}

/// Marks for the sanitizer's own runtime: what they say is seen in the operations themselves.
macro_rules! marks {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $type),*) {}
    )*};
}

marks! {
    __tsan_acquire(address: *mut c_void);
    __tsan_release(address: *mut c_void);
    __tsan_mutex_create(address: *mut c_void, flags: c_uint);
    __tsan_mutex_destroy(address: *mut c_void, flags: c_uint);
    __tsan_mutex_pre_lock(address: *mut c_void, flags: c_uint);
    __tsan_mutex_post_lock(address: *mut c_void, flags: c_uint, recursion: c_int);
    __tsan_mutex_post_unlock(address: *mut c_void, flags: c_uint);
    __tsan_mutex_pre_signal(address: *mut c_void, flags: c_uint);
    __tsan_mutex_post_signal(address: *mut c_void, flags: c_uint);
    __tsan_mutex_pre_divert(address: *mut c_void, flags: c_uint);
    __tsan_mutex_post_divert(address: *mut c_void, flags: c_uint);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_mutex_pre_unlock(_: *mut c_void, _: c_uint) -> c_int {
    0
}
