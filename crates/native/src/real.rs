//! Symbols of the C library behind the replacements that this library exports.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function of the C library, looked up when it is first needed.
pub(crate) struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Loads a library with the function: linkers leave those out that do not seem to be needed,
    /// since this one has the function, too.
    #[cold]
    fn load(&self) -> usize {
        const LIBRARIES: [&CStr; 3] = [c"libm.so.6", c"libcrypt.so.1", c"libstdc++.so.6"];
        let mut found = 0;
        crate::coroutine::as_host(|| {
            let addresses = LIBRARIES.iter().map(|library| {
                // SAFETY: both names are strings, and the libraries begin with nothing that
                // matters.
                unsafe {
                    let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
                    match library.is_null() {
                        true => 0,
                        false => libc::dlsym(library, self.name.as_ptr()) as usize,
                    }
                }
            });
            found = addresses.into_iter().find(|&address| address != 0).unwrap_or(0);
        });
        found
    }

    pub(crate) fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: the name is a string.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        let found = if next == 0 { self.load() } else { next };
        assert!(found != 0, "the C library has no {}", self.name.to_string_lossy());
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Defines functions that replace those of the C library while a thread of the program is being
/// explored, and call the originals otherwise. Exceptions of the program may pass through them.
macro_rules! replace {
    ($($(#[$attribute:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            if !$crate::coroutine::in_program() {
                const STARTS_THREAD: bool = $crate::real::starts_thread(stringify!($name));
                if STARTS_THREAD && !$crate::machine::is_set_up() {
                    $crate::constructors::note_thread();
                }
                let real = $crate::real::original!($name($($type),*) $(-> $ret)?);
                // SAFETY: the caller wanted to call just this.
                return unsafe { real($($arg),*) };
            }
            const ONLY_TAKES_TIME: bool = $crate::spin::only_takes_time(stringify!($name));
            if !ONLY_TAKES_TIME {
                $crate::spin::spoil();
            }
            $body
        }
    )*};
}

/// Whether a function starts a thread.
pub(crate) const fn starts_thread(name: &str) -> bool {
    matches!(name.as_bytes(), b"pthread_create" | b"thrd_create")
}

/// The original of a replaced function.
macro_rules! original {
    ($name:ident($($type:ty),* $(,)?) $(-> $ret:ty)?) => {{
        const NAME: &std::ffi::CStr =
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a function has a name"),
            };
        static REAL: $crate::real::Real = $crate::real::Real::new(NAME);
        // SAFETY: this is the type that the C library gives the function of this name.
        unsafe {
            std::mem::transmute::<usize, unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?>(
                REAL.address(),
            )
        }
    }};
}

pub(crate) use {original, replace};

/// Starts a real thread with a small stack.
pub(crate) fn pthread_create(
    handle: &mut libc::pthread_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    type Start = extern "C" fn(*mut c_void) -> *mut c_void;
    let real = original!(
        pthread_create(
            *mut libc::pthread_t,
            *const libc::pthread_attr_t,
            Start,
            *mut c_void,
        ) -> c_int
    );
    // SAFETY: the attributes are initialised before they are used, and the caller answers for
    // the argument.
    unsafe {
        let mut attributes = std::mem::zeroed();
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setstacksize(&raw mut attributes, 256 << 10);
        let error = real(handle, &raw const attributes, start, argument);
        libc::pthread_attr_destroy(&raw mut attributes);
        error
    }
}
