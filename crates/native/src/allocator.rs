//! The allocator of this library itself, whose memory is no part of the program's heap.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(pointer: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_free(pointer: *mut c_void);
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

/// The C library's allocator under the names that are not replaced.
pub(crate) struct LibcAllocator;

#[global_allocator]
static ALLOCATOR: LibcAllocator = LibcAllocator;

// SAFETY: these are the functions that `malloc` and its family are made of.
unsafe impl GlobalAlloc for LibcAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        memalign(layout.align(), layout.size()).cast()
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        // SAFETY: the caller has it from this allocator.
        unsafe { free(pointer.cast()) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= 16 {
            // SAFETY: the caller has it from this allocator.
            return unsafe { realloc(pointer.cast(), size).cast() };
        }
        let new: *mut u8 = memalign(layout.align(), size).cast();
        if !new.is_null() {
            // SAFETY: both are at least as long as the smaller of the two sizes.
            unsafe {
                std::ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
                free(pointer.cast());
            }
        }
        new
    }
}

pub(crate) fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size will do.
    unsafe { __libc_malloc(size) }
}

pub(crate) fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: any size will do.
    unsafe { __libc_calloc(count, size) }
}

pub(crate) fn memalign(align: usize, size: usize) -> *mut c_void {
    if align <= 16 {
        return malloc(size);
    }
    // SAFETY: any size will do, and a wrong alignment is refused.
    unsafe { __libc_memalign(align, size) }
}

/// # Safety
///
/// The pointer is from the C library's allocator, or null.
pub(crate) unsafe fn realloc(pointer: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe { __libc_realloc(pointer, size) }
}

/// # Safety
///
/// The pointer is from the C library's allocator, or null.
pub(crate) unsafe fn free(pointer: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { __libc_free(pointer) }
}
