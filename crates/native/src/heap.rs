//! The program's heap: one arena per thread, at the same addresses in every execution.
//!
//! A thread allocates from its own arena and what it frees it may get again, whoever allocated
//! it. So the addresses that a thread sees depend on what that thread did, never on how threads
//! were interleaved. Blocks from before `main` are the C library's and stay allocated.
//!
//! A block that was freed is not given out again for a while ([`QUARANTINED`]), and until then
//! every access to it is an error: [`is_freed`].

use crate::allocator;
use crate::coroutine;
use crate::library;
use crate::machine;
use crate::memory::{self, Part, Saved};
use crate::names;
use crate::sites;
use crate::spin;
use crate::watch::WATCHED_OF_A_BLOCK;
use mazurka_core::{ThreadId, ViolationKind};
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The address space of one arena. Nothing is used before it is touched.
pub(crate) const ARENA_LEN: usize = 256 << 20;
const WISH: usize = 0x2000_0000_0000;
const ALL_LEN: usize = ARENA_LEN * ThreadId::MAX;
const HEADER_LEN: usize = size_of::<Header>();
const N_CLASSES: usize = 128;
/// How many bytes a thread frees before the first of them are given out again. Little, since what
/// is used of an arena has to be put back.
const QUARANTINED: usize = 64 << 10;
/// Memory is freed in units of this many bytes, and each has a bit that says so. A large block
/// has bits for its pages, and those of the grains only at its edges.
const GRAIN: usize = 16;
const PAGE: usize = 4096;
const WORD_BITS: usize = u64::BITS as usize;

static BASE: AtomicUsize = AtomicUsize::new(0);
static GRAINS: Bits<GRAIN> = Bits { address: AtomicUsize::new(0) };
static PAGES: Bits<PAGE> = Bits { address: AtomicUsize::new(0) };

/// Which units of `LEN` bytes are freed, of all arenas.
struct Bits<const LEN: usize> {
    address: AtomicUsize,
}

/// All arenas.
#[derive(Default)]
pub(crate) struct Heap {
    arenas: Vec<Arena>,
    /// What was done to the tables since the first checkpoint, if there is one.
    journal: Vec<Change>,
    is_journaled: bool,
}

struct Arena {
    /// What is used of it.
    part: Part,
    /// Blocks to give out again by class, the newest last.
    free: Vec<Vec<usize>>,
    /// Blocks that were freed and are not to be given out yet, the oldest first.
    quarantine: VecDeque<Block>,
    n_quarantined: usize,
}

/// A block that was freed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    start: usize,
    class: usize,
}

/// Something that was done to the tables of an arena.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A block was given out again.
    Reused { arena: u32, block: Block },
    /// A block was freed, and is in quarantine.
    Freed { arena: u32 },
    /// The oldest block in quarantine left it.
    Released { arena: u32, class: usize },
}

/// The tables and the contents of all arenas at some time.
#[derive(Default)]
pub(crate) struct SavedHeap {
    n_changes: usize,
    parts: Vec<Saved>,
    n_parts: usize,
}

impl SavedHeap {
    /// How much memory it takes, images not counted.
    pub(crate) fn cost(&self) -> usize {
        self.parts[..self.n_parts].iter().map(Saved::cost).sum()
    }

    /// Whether the contents are the same, as far as they are not in images.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.parts[..self.n_parts], &other.parts[..other.n_parts]);
        // An arena that nobody has used yet may be missing.
        mine.iter().zip(theirs).all(|(mine, theirs)| mine.same(theirs) != Some(false))
    }
}

/// What stands before every block.
#[repr(C, align(16))]
struct Header {
    /// How many bytes there is room for.
    len: u32,
    class: u32,
    /// How far the block is from its beginning, for the sake of its alignment.
    offset: u32,
    /// [`check`] of where it stands: whatever has another one is no header.
    check: u32,
}

impl Heap {
    /// Reserves the address space.
    pub(crate) fn new() -> Option<Self> {
        let base = memory::reserve(WISH, ALL_LEN)?;
        GRAINS.reserve()?;
        PAGES.reserve()?;
        BASE.store(base, Ordering::Relaxed);
        Some(Self::default())
    }

    /// Everything is free and zero again, and nothing was saved.
    pub(crate) fn reset(&mut self) {
        for arena in &mut self.arenas {
            if arena.part.len > 0 {
                // Blocks of all lengths were freed there, with bits of both kinds.
                let (start, end) =
                    (arena.part.start - base(), arena.part.start - base() + arena.part.len);
                GRAINS.set(start, end, false);
                PAGES.set(start, end, false);
                arena.part.restore(&Saved::default());
            }
            if arena.n_quarantined > 0 || arena.free.iter().any(|blocks| !blocks.is_empty()) {
                arena.free.iter_mut().for_each(Vec::clear);
                arena.quarantine.clear();
                arena.n_quarantined = 0;
            }
        }
        self.journal.clear();
        self.is_journaled = false;
    }

    /// Keeps what there is now. From here on, changes are noted.
    pub(crate) fn save(&mut self, saved: &mut SavedHeap) {
        self.is_journaled = true;
        saved.n_changes = self.journal.len();
        saved.n_parts = self.arenas.len();
        while saved.parts.len() < self.arenas.len() {
            saved.parts.push(Saved::default());
        }
        for (arena, saved) in self.arenas.iter_mut().zip(&mut saved.parts) {
            arena.part.save(saved);
        }
    }

    /// Back to what was kept, from somewhere after it.
    pub(crate) fn restore(&mut self, saved: &SavedHeap) {
        while self.journal.len() > saved.n_changes
            && let Some(change) = self.journal.pop()
        {
            self.undo(change);
        }
        for (idx, arena) in self.arenas.iter_mut().enumerate() {
            match saved.parts[..saved.n_parts].get(idx) {
                Some(saved) => arena.part.restore(saved),
                None => arena.part.restore(&Saved::default()),
            }
        }
    }

    fn undo(&mut self, change: Change) {
        let (Change::Reused { arena, .. }
        | Change::Freed { arena }
        | Change::Released { arena, .. }) = change;
        let arena = &mut self.arenas[arena as usize];
        match change {
            Change::Reused { block, .. } => {
                arena.free[block.class].push(block.start);
                mark(block.start, block.len(), true);
            }
            Change::Freed { .. } => {
                let block = arena.quarantine.pop_back().expect("it was freed");
                arena.n_quarantined -= block.len();
                mark(block.start, block.len(), false);
            }
            Change::Released { class, .. } => {
                let start = arena.free[class].pop().expect("it was released");
                let block = Block { start, class };
                arena.n_quarantined += block.len();
                arena.quarantine.push_front(block);
            }
        }
    }

    fn note(&mut self, change: Change) {
        if self.is_journaled {
            self.journal.push(change);
        }
    }

    fn arena(&mut self, thread_idx: usize) -> &mut Arena {
        while self.arenas.len() <= thread_idx {
            self.arenas.push(Arena {
                part: Part::new(base() + self.arenas.len() * ARENA_LEN, 0),
                free: vec![Vec::new(); N_CLASSES],
                quarantine: VecDeque::new(),
                n_quarantined: 0,
            });
        }
        &mut self.arenas[thread_idx]
    }

    /// A block for a thread, or null.
    fn allocate(&mut self, thread_idx: usize, len: usize, align: usize) -> usize {
        let slack = if align > HEADER_LEN { align } else { 0 };
        let Some(class) = len.checked_add(slack).and_then(class) else { return 0 };
        let arena = self.arena(thread_idx);
        let room = room(class);
        let start = match arena.free[class].pop() {
            Some(start) => {
                let block = Block { start, class };
                mark(start, block.len(), false);
                self.note(Change::Reused { arena: thread_idx as u32, block });
                start
            }
            None => {
                if room + HEADER_LEN > ARENA_LEN - arena.part.len {
                    return 0;
                }
                let start = arena.part.start + arena.part.len;
                arena.part.len += room + HEADER_LEN;
                start
            }
        };
        let first = start + HEADER_LEN;
        let block = first.next_multiple_of(align.max(1));
        let offset = block - first;
        let header = Header {
            len: (room - offset) as u32,
            class: class as u32,
            offset: offset as u32,
            check: check(block),
        };
        // SAFETY: the block lies in the arena, with room for the header before it.
        unsafe { std::ptr::write((block - HEADER_LEN) as *mut Header, header) };
        block
    }

    /// Takes a block back.
    fn free(&mut self, thread_idx: usize, block: usize) {
        let header = header(block);
        let start = block - HEADER_LEN - header.offset as usize;
        let block = Block { start, class: header.class as usize };
        mark(block.start, block.len(), true);
        let idx = thread_idx as u32;
        self.note(Change::Freed { arena: idx });
        let arena = self.arena(thread_idx);
        arena.quarantine.push_back(block);
        arena.n_quarantined += block.len();
        while let arena = self.arena(thread_idx)
            && arena.n_quarantined > QUARANTINED
            && let Some(oldest) = arena.quarantine.pop_front()
        {
            arena.n_quarantined -= oldest.len();
            arena.free[oldest.class].push(oldest.start);
            self.note(Change::Released { arena: idx, class: oldest.class });
        }
    }
}

impl Block {
    /// With its header.
    fn len(self) -> usize {
        HEADER_LEN + room(self.class)
    }
}

/// Says of a range whether it is freed.
fn mark(start: usize, len: usize, is_freed: bool) {
    let (start, end) = (start - base(), start - base() + len);
    let (first_page, last_page) = (start.next_multiple_of(PAGE), end - end % PAGE);
    if first_page < last_page {
        GRAINS.set(start, first_page, is_freed);
        PAGES.set(first_page, last_page, is_freed);
        GRAINS.set(last_page, end, is_freed);
    } else {
        GRAINS.set(start, end, is_freed);
    }
}

/// Whether an address is in a block that was freed and not given out again.
#[inline]
pub(crate) fn is_freed(address: usize) -> bool {
    let offset = address.wrapping_sub(base());
    offset < ALL_LEN && (GRAINS.get(offset) || PAGES.get(offset))
}

/// Ends the running thread if it uses a block that was freed.
#[inline]
pub(crate) fn refuse_freed(address: usize) {
    if is_freed(address) {
        misuse("is used after it was freed", address);
    }
}

impl<const LEN: usize> Bits<LEN> {
    fn reserve(&self) -> Option<()> {
        let address = memory::reserve(0, ALL_LEN / LEN / 8)?;
        self.address.store(address, Ordering::Relaxed);
        Some(())
    }

    /// The bit of an offset into the arenas: its word, and where in it.
    #[inline]
    fn bit(&self, offset: usize) -> (*mut u64, usize) {
        let words = self.address.load(Ordering::Relaxed) as *mut u64;
        let unit = offset / LEN;
        (words.wrapping_add(unit / WORD_BITS), unit % WORD_BITS)
    }

    #[inline]
    fn get(&self, offset: usize) -> bool {
        let (word, bit) = self.bit(offset);
        // SAFETY: every unit of every arena has its bit.
        unsafe { *word >> bit & 1 == 1 }
    }

    fn set(&self, start: usize, end: usize, is_freed: bool) {
        let mut at = start;
        while at < end {
            let (word, first) = self.bit(at);
            let count = (end - at).div_ceil(LEN).min(WORD_BITS - first);
            let mask = (!0 >> (WORD_BITS - count)) << first;
            // SAFETY: every unit of every arena has its bit, and one OS thread uses them.
            unsafe { *word = if is_freed { *word | mask } else { *word & !mask } };
            at += count * LEN;
        }
    }
}

/// Whose arena an address is in, and where in it.
pub(crate) fn place(address: usize) -> Option<(usize, usize)> {
    let offset = address.wrapping_sub(base());
    (offset < ALL_LEN).then_some((offset / ARENA_LEN, offset % ARENA_LEN))
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

/// What is in the header of a block at an address, and hardly anywhere else.
fn check(block: usize) -> u32 {
    ((block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// The class of blocks with room for so many bytes.
fn class(len: usize) -> Option<usize> {
    match len {
        0..=1024 => Some(len.div_ceil(16).max(1)),
        _ => {
            let room = len.checked_next_power_of_two().filter(|&room| room < ARENA_LEN)?;
            Some(54 + room.trailing_zeros() as usize)
        }
    }
}

/// How many bytes there really is room for in a block of a class.
fn room(class: usize) -> usize {
    if class <= 64 { class * 16 } else { 1 << (class - 54) }
}

/// A block for the running thread, or null.
pub(crate) fn allocate(len: usize, align: usize) -> *mut c_void {
    let thread = coroutine::current().expect("a thread of the program asks");
    spin::spoil();
    let block = machine::with(|machine| machine.heap.allocate(thread, len, align));
    if block == 0 {
        // SAFETY: every thread has one.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    } else {
        sites::note(block, len);
    }
    block as *mut c_void
}

/// Frees a block. Whoever uses it without being ordered before this, races.
pub(crate) fn release(pointer: *mut c_void) {
    let Some(thread) = coroutine::current() else { return };
    spin::spoil();
    let address = pointer as usize;
    if place(address).is_none_or(|(_, at)| at < HEADER_LEN)
        || !address.is_multiple_of(GRAIN)
        || header(address).check != check(address)
    {
        misuse("is freed and was not allocated", address);
    }
    if is_freed(address) {
        misuse("is freed twice", address);
    }
    machine::with(|machine| {
        if machine.is_concurrent() {
            let len = (header(address).len as usize).min(WATCHED_OF_A_BLOCK);
            machine.watch.access(address, len, true);
        }
        machine.heap.free(thread, address);
    });
}

/// Whether the program gives us the address of one of its variables.
fn is_variable(address: usize) -> bool {
    coroutine::in_program() && machine::with(|machine| machine.is_variable(address))
}

/// Ends the running thread because of what it does to the heap.
#[cold]
pub(crate) fn misuse(what: &str, address: usize) -> ! {
    let (stack, function) = (names::backtrace(), library::inside());
    let mut message = String::new();
    coroutine::as_host(|| {
        message = format!("`{}` {what}", machine::name_of(address));
        if let Some(mut location) = names::location_of(&stack) {
            location.within = function.and_then(names::short).or(location.within);
            message.push_str(&format!(" at {location}"));
        }
    });
    machine::fail(ViolationKind::Memory, message)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn malloc(len: usize) -> *mut c_void {
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
pub(crate) unsafe extern "C" fn free(pointer: *mut c_void) {
    if is_ours(pointer) || is_variable(pointer as usize) {
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
    if is_freed(pointer as usize) {
        misuse("is used after it was freed", pointer as usize);
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
        return header(pointer as usize).len as usize;
    }
    let real = crate::real::original!(malloc_usable_size(*mut c_void) -> usize);
    // SAFETY: it is not from an arena, so it is from the C library, or null.
    unsafe { real(pointer) }
}
