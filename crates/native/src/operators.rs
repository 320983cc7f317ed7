//! The operators `new` and `delete` of C++: which of them a block is from, and whether the right
//! one frees it.
//!
//! Each passes on to that of the C++ library, which comes to `malloc` and `free`. A program that
//! defines any of them itself may do so in pairs that fit, and is not looked at.

use crate::coroutine;
use crate::heap::{self, Origin};
use crate::invalid;
use crate::machine;
use crate::memory::{Part, SMALL};
use crate::real::original;
use mazurka_core::ViolationKind;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The blocks that objects have asked for which were made before the program is explored, and that
/// were not freed by then.
static EARLY: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The memory of the [early](EARLY) blocks: it is put back between executions like variables are.
pub(crate) fn early_parts() -> Vec<Part> {
    let blocks = EARLY.lock().unwrap_or_else(PoisonError::into_inner);
    let parts = blocks.iter().flat_map(|&start| {
        // SAFETY: the block is from the C library, and was not freed.
        let end = start + unsafe { heap::malloc_usable_size(start as *mut c_void) };
        (start..end).step_by(SMALL).map(move |at| Part::new(at, SMALL.min(end - at)))
    });
    parts.collect()
}

/// Notes which operator a block is from.
fn note(block: *mut c_void, origin: Origin, is_aligned: bool) -> *mut c_void {
    if !machine::is_set_up() && !block.is_null() {
        EARLY.lock().unwrap_or_else(PoisonError::into_inner).push(block as usize);
    }
    if coroutine::in_program() && are_ours() {
        heap::set_origin(block as usize, origin, is_aligned);
    }
    block
}

/// Ends the running thread if a block is from another operator. What frees it from here on is
/// right.
fn look(block: *mut c_void, by: Origin, is_aligned: bool) {
    if !machine::is_set_up() {
        let mut early = EARLY.lock().unwrap_or_else(PoisonError::into_inner);
        early.retain(|&it| it != block as usize);
    }
    if !coroutine::in_program() || !are_ours() {
        return;
    }
    if let Some(origin) = heap::origin(block as usize) {
        if origin != by && origin != Origin::Any {
            invalid::freed_otherwise(block as usize, origin, by);
        }
        if origin == by && heap::is_aligned(block as usize) != is_aligned {
            let name = machine::name_of(block as usize);
            let [was, is] = [!is_aligned, is_aligned].map(|it| if it { "with" } else { "without" });
            let what = format!("`{name}` is from `new` {was} an alignment and is freed {is} one");
            machine::fail(ViolationKind::Memory, what);
        }
        heap::set_origin(block as usize, Origin::Any, false);
    }
}

/// Whether the program calls the operators here, and has none of its own.
fn are_ours() -> bool {
    static ARE_OURS: OnceLock<bool> = OnceLock::new();
    *ARE_OURS.get_or_init(|| {
        let is_ours = |name: &CStr, ours: usize| {
            // SAFETY: the name is a string.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize == ours }
        };
        is_ours(c"_Znwm", _Znwm as *const () as usize)
            && is_ours(c"_Znam", _Znam as *const () as usize)
            && is_ours(c"_ZdlPv", _ZdlPv as *const () as usize)
            && is_ours(c"_ZdaPv", _ZdaPv as *const () as usize)
    })
}

/// Whether an operator is given an alignment.
const fn is_aligned(symbol: &str) -> bool {
    const NAME: &[u8] = b"St11align_val_t";
    let mut rest = symbol.as_bytes();
    while let Some((start, _)) = rest.split_at_checked(NAME.len()) {
        let mut at = 0;
        while at < NAME.len() && start[at] == NAME[at] {
            at += 1;
        }
        if at == NAME.len() {
            return true;
        }
        (_, rest) = rest.split_at(1);
    }
    false
}

macro_rules! operators {
    (new { $($new:ident($($arg:ident: $type:ty),*) $of_new:ident;)* }
     delete {
         $($delete:ident($pointer:ident $(, $more:ident: $more_type:ty)*) $of_delete:ident;)*
     }) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $new($($arg: $type),*) -> *mut c_void {
                let real = original!($new($($type),*) -> *mut c_void);
                let is_aligned = const { is_aligned(stringify!($new)) };
                // SAFETY: the program asks for just this.
                note(unsafe { real($($arg),*) }, Origin::$of_new, is_aligned)
            }
        )*
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $delete($pointer: *mut c_void $(, $more: $more_type)*) {
                look($pointer, Origin::$of_delete, const { is_aligned(stringify!($delete)) });
                let real = original!($delete(*mut c_void $(, $more_type)*));
                // SAFETY: the program asks for just this.
                unsafe { real($pointer $(, $more)*) }
            }
        )*
    };
}

// `St11align_val_t` is an alignment, `RKSt9nothrow_t` says that nothing is to be thrown.
operators! {
    new {
    _Znwm(len: usize) New;
    _Znam(len: usize) NewArray;
    _ZnwmRKSt9nothrow_t(len: usize, tag: usize) New;
    _ZnamRKSt9nothrow_t(len: usize, tag: usize) NewArray;
    _ZnwmSt11align_val_t(len: usize, align: usize) New;
    _ZnamSt11align_val_t(len: usize, align: usize) NewArray;
    _ZnwmSt11align_val_tRKSt9nothrow_t(len: usize, align: usize, tag: usize) New;
    _ZnamSt11align_val_tRKSt9nothrow_t(len: usize, align: usize, tag: usize) NewArray;
    }
    delete {
    _ZdlPv(block) New;
    _ZdaPv(block) NewArray;
    _ZdlPvm(block, len: usize) New;
    _ZdaPvm(block, len: usize) NewArray;
    _ZdlPvRKSt9nothrow_t(block, tag: usize) New;
    _ZdaPvRKSt9nothrow_t(block, tag: usize) NewArray;
    _ZdlPvSt11align_val_t(block, align: usize) New;
    _ZdaPvSt11align_val_t(block, align: usize) NewArray;
    _ZdlPvmSt11align_val_t(block, len: usize, align: usize) New;
    _ZdaPvmSt11align_val_t(block, len: usize, align: usize) NewArray;
    _ZdlPvSt11align_val_tRKSt9nothrow_t(block, align: usize, tag: usize) New;
    _ZdaPvSt11align_val_tRKSt9nothrow_t(block, align: usize, tag: usize) NewArray;
    }
}
