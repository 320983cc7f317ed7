//! Memory that the program maps for itself: a block of its heap, so that it is at the same address
//! in every execution and is put back with all the rest.
//!
//! A file that is mapped and not written to is read into such a block. A program that unmaps a part
//! of a mapping keeps it; a mapping that is unmapped as a whole is freed, and using it is an error.
//! Of what protects memory, only what allows reading and writing, or neither, can be had.

use crate::heap::{self, Origin};
use crate::library;
use crate::process_barrier;
use std::ffi::{c_int, c_void};

/// Mappings consist of whole ones.
const PAGE: usize = 4096;

/// A program that maps more than this wants addresses, not memory.
const MOST: usize = 64 << 20;

/// What `mmap` is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) address: usize,
    pub(crate) len: usize,
    pub(crate) protection: c_int,
    pub(crate) flags: c_int,
}

impl Wish {
    /// Whether it can be had from the heap.
    pub(crate) fn can_be_had(self) -> bool {
        let has = |flag: c_int| self.flags & flag != 0;
        if has(libc::MAP_FIXED) {
            return has(libc::MAP_ANONYMOUS) && is_mapped(self.address);
        }
        // Memory of zeros that cannot be written to is of no use, but to see who writes to it.
        let kinds = libc::PROT_READ | libc::PROT_WRITE;
        if has(libc::MAP_ANONYMOUS) && self.protection & kinds == libc::PROT_READ {
            return false;
        }
        let is_own = has(libc::MAP_ANONYMOUS) || has(libc::MAP_PRIVATE);
        self.len <= MOST && (is_own || self.protection & libc::PROT_WRITE == 0)
    }
}

/// Whether an address is in memory that the program has got from here, or from its heap.
pub(crate) fn is_mapped(address: usize) -> bool {
    heap::place(address).is_some()
}

/// Stands for `mmap`.
pub(crate) extern "C-unwind" fn map(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    if flags & libc::MAP_FIXED != 0 {
        for (start, len) in accessible(address as usize, rounded(len)) {
            library::touched!(mmap, start, len, true);
        }
        clear(address as usize, len);
        return address;
    }
    let block = if len == 0 { Err(libc::EINVAL) } else { allocate(len) };
    match block {
        Ok(block) => {
            if flags & libc::MAP_ANONYMOUS == 0
                && let Err(error) = read(file, offset, block, len)
            {
                heap::release(block as *mut c_void, Origin::Mapping);
                return fail(error);
            }
            if protection == libc::PROT_NONE {
                heap::protect(block, rounded(len), false);
            }
            block as *mut c_void
        }
        Err(error) => fail(error),
    }
}

/// Stands for `munmap`.
pub(crate) extern "C-unwind" fn unmap(address: *mut c_void, len: usize) -> c_int {
    if is_whole(address as usize, len) {
        heap::release(address, Origin::Mapping);
    }
    0
}

/// Stands for `mremap`.
pub(crate) extern "C-unwind" fn remap(
    old: *mut c_void,
    old_len: usize,
    len: usize,
    flags: c_int,
) -> *mut c_void {
    if !is_whole(old as usize, old_len) || len == 0 {
        return fail(libc::EINVAL);
    }
    if rounded(len) == rounded(old_len) {
        return old;
    }
    if flags & libc::MREMAP_MAYMOVE == 0 {
        return fail(libc::ENOMEM);
    }
    match allocate(len) {
        Ok(new) => {
            let both = rounded(old_len).min(rounded(len));
            // SAFETY: both mappings are at least that long, and they are two.
            unsafe { std::ptr::copy_nonoverlapping(old.cast::<u8>(), new as *mut u8, both) };
            heap::release(old, Origin::Mapping);
            new as *mut c_void
        }
        Err(error) => fail(error),
    }
}

/// Stands for `mprotect`, which allows everything or nothing.
pub(crate) extern "C-unwind" fn protect(
    address: *mut c_void,
    len: usize,
    protection: c_int,
) -> c_int {
    process_barrier::take();
    heap::protect(address as usize, rounded(len), protection != libc::PROT_NONE);
    0
}

/// Stands for `madvise`: the only advice that can be seen is that the contents are not needed. That
/// writes zeros, at once or whenever the system likes.
pub(crate) extern "C-unwind" fn advise(address: *mut c_void, len: usize, advice: c_int) -> c_int {
    if [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE].contains(&advice) {
        for (start, len) in accessible(address as usize, rounded(len)) {
            library::touched!(madvise, start, len, true);
        }
        clear(address as usize, len);
    }
    0
}

/// Pages of zeros.
fn allocate(len: usize) -> Result<usize, c_int> {
    let len = rounded(len);
    let block = heap::allocate(len, PAGE, Origin::Mapping) as usize;
    if block == 0 {
        return Err(libc::ENOMEM);
    }
    // SAFETY: the block is that long.
    unsafe { std::ptr::write_bytes(block as *mut u8, 0, len) };
    Ok(block)
}

/// Whether a range is all of a mapping, and not unmapped yet.
fn is_whole(address: usize, len: usize) -> bool {
    heap::block_len_of(address, Origin::Mapping) == Some(rounded(len))
}

fn rounded(len: usize) -> usize {
    len.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX - PAGE + 1)
}

/// Those pages of a range that the program may access.
fn accessible(address: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let is_one = |page: &usize| heap::is_valid(*page, PAGE) != Some(false);
    (address..address + len).step_by(PAGE).filter(is_one).map(|page| (page, PAGE))
}

fn clear(address: usize, len: usize) {
    // SAFETY: the program says that it is done with these pages, which are its own.
    unsafe { std::ptr::write_bytes(address as *mut u8, 0, rounded(len)) };
}

/// Reads a part of a file; behind its end are zeros.
fn read(file: c_int, offset: i64, block: usize, len: usize) -> Result<(), c_int> {
    let mut done = 0;
    while done < len {
        let (to, at) = ((block + done) as *mut c_void, offset + done as i64);
        // SAFETY: the block is that long.
        match unsafe { libc::pread(file, to, len - done, at) } {
            0 => break,
            // SAFETY: every thread has one.
            ..0 => return Err(unsafe { *libc::__errno_location() }),
            more => done += more as usize,
        }
    }
    Ok(())
}

fn fail(error: c_int) -> *mut c_void {
    // SAFETY: every thread has one.
    unsafe { *libc::__errno_location() = error };
    libc::MAP_FAILED
}
