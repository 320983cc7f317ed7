//! The program's heap: one arena per thread, at the same addresses in every execution.
//!
//! A thread allocates from its own arena and what it frees it may get again, whoever allocated
//! it. So the addresses that a thread sees depend on what that thread did, never on how threads
//! were interleaved. Blocks from before `main` are the C library's and stay allocated.

use crate::allocator;
use crate::coroutine;
use crate::machine;
use crate::memory;
use crate::watch::WATCHED_OF_A_BLOCK;
use mazurka_core::ThreadId;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The address space of one arena. Nothing is used before it is touched.
pub(crate) const ARENA_LEN: usize = 256 << 20;
const WISH: usize = 0x2000_0000_0000;
const HEADER_LEN: usize = size_of::<Header>();
const N_CLASSES: usize = 128;
/// Up to here a used arena is zeroed, beyond its pages are given back.
const ZEROED: usize = 256 << 10;

static BASE: AtomicUsize = AtomicUsize::new(0);

/// All arenas.
#[derive(Default)]
pub(crate) struct Heap {
    arenas: Vec<Arena>,
}

#[derive(Default)]
struct Arena {
    used: usize,
    /// Freed blocks by class, the newest last.
    free: Vec<Vec<usize>>,
    has_free: bool,
}

/// What stands before every block.
#[repr(C, align(16))]
struct Header {
    /// How many bytes there is room for.
    len: usize,
    class: u32,
    /// How far the block is from its beginning, for the sake of its alignment.
    offset: u32,
}

impl Heap {
    /// Reserves the address space.
    pub(crate) fn new() -> Option<Self> {
        let base = memory::reserve(WISH, ARENA_LEN * ThreadId::MAX)?;
        BASE.store(base, Ordering::Relaxed);
        Some(Self::default())
    }

    /// Everything is free and zero again.
    pub(crate) fn reset(&mut self) {
        for (idx, arena) in self.arenas.iter_mut().enumerate() {
            let start = (base() + idx * ARENA_LEN) as *mut c_void;
            match arena.used {
                0 => continue,
                // SAFETY: this part of the arena is mapped, and no thread of the program runs.
                1..=ZEROED => unsafe { std::ptr::write_bytes(start.cast::<u8>(), 0, arena.used) },
                // SAFETY: as above.
                _ => unsafe {
                    libc::madvise(start, (arena.used + 4095) & !4095, libc::MADV_DONTNEED);
                },
            }
            arena.used = 0;
            if std::mem::take(&mut arena.has_free) {
                arena.free.iter_mut().for_each(Vec::clear);
            }
        }
    }

    /// A block for a thread, or null.
    fn allocate(&mut self, thread_idx: usize, len: usize, align: usize) -> usize {
        let slack = if align > HEADER_LEN { align } else { 0 };
        let Some((class, room)) = len.checked_add(slack).and_then(class) else { return 0 };
        while self.arenas.len() <= thread_idx {
            self.arenas.push(Arena { free: vec![Vec::new(); N_CLASSES], ..Arena::default() });
        }
        let arena = &mut self.arenas[thread_idx];
        let start = match arena.free[class].pop() {
            Some(start) => start,
            None => {
                if room + HEADER_LEN > ARENA_LEN - arena.used {
                    return 0;
                }
                let start = base() + thread_idx * ARENA_LEN + arena.used;
                arena.used += room + HEADER_LEN;
                start
            }
        };
        let first = start + HEADER_LEN;
        let block = first.next_multiple_of(align.max(1));
        let offset = block - first;
        let header = Header { len: room - offset, class: class as u32, offset: offset as u32 };
        // SAFETY: the block lies in the arena, with room for the header before it.
        unsafe { std::ptr::write((block - HEADER_LEN) as *mut Header, header) };
        block
    }

    /// Takes a block back.
    fn free(&mut self, thread_idx: usize, block: usize) {
        let header = header(block);
        let start = block - HEADER_LEN - header.offset as usize;
        let class = (header.class as usize).min(N_CLASSES - 1);
        while self.arenas.len() <= thread_idx {
            self.arenas.push(Arena { free: vec![Vec::new(); N_CLASSES], ..Arena::default() });
        }
        self.arenas[thread_idx].free[class].push(start);
        self.arenas[thread_idx].has_free = true;
    }
}

/// Whose arena an address is in, and where in it.
pub(crate) fn place(address: usize) -> Option<(usize, usize)> {
    let offset = address.wrapping_sub(base());
    (offset < ARENA_LEN * ThreadId::MAX).then_some((offset / ARENA_LEN, offset % ARENA_LEN))
}

fn base() -> usize {
    BASE.load(Ordering::Relaxed)
}

fn is_ours(pointer: *mut c_void) -> bool {
    base() != 0 && place(pointer as usize).is_some()
}

fn header(block: usize) -> &'static Header {
    // SAFETY: there is one before every block of an arena.
    unsafe { &*((block - HEADER_LEN) as *const Header) }
}

/// The class of blocks with room for so many bytes, and how many there is really room for.
fn class(len: usize) -> Option<(usize, usize)> {
    match len {
        0..=16 => Some((1, 16)),
        17..=1024 => Some((len.div_ceil(16), len.next_multiple_of(16))),
        _ => {
            let room = len.checked_next_power_of_two()?;
            Some((54 + room.trailing_zeros() as usize, room)).filter(|_| room < ARENA_LEN)
        }
    }
}

fn allocate(len: usize, align: usize) -> *mut c_void {
    let thread = coroutine::current().expect("a thread of the program asks");
    let block = machine::with(|machine| machine.heap.allocate(thread, len, align));
    if block == 0 {
        // SAFETY: every thread has one.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    block as *mut c_void
}

/// Frees a block. Whoever uses it without being ordered before this, races.
fn release(pointer: *mut c_void) {
    let Some(thread) = coroutine::current() else { return };
    machine::with(|machine| {
        let len = header(pointer as usize).len.min(WATCHED_OF_A_BLOCK);
        machine.watch.access(pointer as usize, len, true);
        machine.heap.free(thread, pointer as usize);
    });
}

#[unsafe(no_mangle)]
extern "C" fn malloc(len: usize) -> *mut c_void {
    match coroutine::in_program() {
        true => allocate(len, 16),
        false => allocator::malloc(len),
    }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, len: usize) -> *mut c_void {
    if !coroutine::in_program() {
        return allocator::calloc(count, len);
    }
    let Some(len) = count.checked_mul(len) else { return std::ptr::null_mut() };
    let block = allocate(len, 16);
    if !block.is_null() {
        // SAFETY: the block is that long.
        unsafe { std::ptr::write_bytes(block.cast::<u8>(), 0, len) };
    }
    block
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(pointer: *mut c_void) {
    if is_ours(pointer) {
        release(pointer);
    } else if !coroutine::in_program() {
        // SAFETY: it is not from an arena, so it is from the C library.
        unsafe { allocator::free(pointer) };
    }
    // What was allocated before `main` stays: the next execution needs it again.
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(pointer: *mut c_void, len: usize) -> *mut c_void {
    if !coroutine::in_program() && !is_ours(pointer) {
        // SAFETY: it is not from an arena, so it is from the C library.
        return unsafe { allocator::realloc(pointer, len) };
    }
    if pointer.is_null() {
        return malloc(len);
    }
    // SAFETY: the pointer is from the program's allocator, one way or the other.
    let old_len = unsafe { malloc_usable_size(pointer) };
    if is_ours(pointer) && len <= old_len && len > old_len / 2 {
        return pointer;
    }
    let new = malloc(len);
    if !new.is_null() {
        // SAFETY: both blocks are at least that long.
        unsafe {
            std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), new.cast::<u8>(), old_len.min(len));
            free(pointer);
        }
    }
    new
}

#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, len: usize) -> *mut c_void {
    match coroutine::in_program() {
        true => allocate(len, align.max(16)),
        false => allocator::memalign(align, len),
    }
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, len: usize) -> *mut c_void {
    memalign(align, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, len: usize) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let block = memalign(align, len);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller wants it there.
    unsafe { *to = block };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(pointer: *mut c_void) -> usize {
    if is_ours(pointer) {
        return header(pointer as usize).len;
    }
    let real = crate::real::original!(malloc_usable_size(*mut c_void) -> usize);
    // SAFETY: it is not from an arena, so it is from the C library, or null.
    unsafe { real(pointer) }
}
