//! The program's heap: one arena per thread, at the same addresses in every execution.
//!
//! A thread allocates from its own arena and what it frees it may get again, whichever thread
//! allocated it. So the addresses that a thread sees depend on what that thread did, never on how
//! threads were interleaved. Blocks from before `main` are the C library's and stay allocated.
//!
//! Only the bytes that were asked for are valid (`shadow`). Before each block are its header and
//! behind it a redzone ([`redzone`]), which grow with the block: an access there is an error, and
//! so is one to what was never allocated. An access that goes so far beyond its block that it comes
//! to another one cannot be told from an access to that. A block that was freed is not given out
//! again for a while ([`QUARANTINED`]), and until then every access to it is an error. What such
//! errors are called is in `invalid`.

use crate::allocator;
use crate::constructors;
use crate::coroutine;
use crate::invalid;
use crate::io;
use crate::library;
use crate::machine;
use crate::memory::{self, Part, Saved};
use crate::names;
use crate::plain_values;
use crate::shadow;
use crate::sites;
use crate::spin;
use mazurka_core::ThreadId;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The address space of one arena. Nothing is used before it is touched.
const ARENA_LEN: usize = 4 << 30;
/// No system has as much as this for a block, so that is what a program is told.
const ABSURD: usize = 1 << 47;
const WISH: usize = 0x2000_0000_0000;
const ALL_LEN: usize = ARENA_LEN * ThreadId::MAX;
const HEADER_LEN: usize = size_of::<Header>();
/// What `valloc` aligns to.
const PAGE: usize = 4096;
/// Blocks begin at multiples of this.
const GRAIN: usize = 16;
/// Up to here there is a class for each multiple of [`GRAIN`]; beyond it, [`STEPS`] for each
/// doubling.
const FINE: usize = 1024;
const N_FINE: usize = FINE / GRAIN;
const STEPS: usize = 32;
const N_CLASSES: usize =
    1 + N_FINE + STEPS * (ARENA_LEN.trailing_zeros() - FINE.trailing_zeros()) as usize;
/// How many bytes a thread frees before the first of them are given out again. Little, since what
/// is used of an arena has to be put back.
const QUARANTINED: usize = 128 << 10;
/// The redzone behind a block, at least and at most.
const REDZONE: std::ops::RangeInclusive<usize> = 16..=2048;

static BASE: AtomicUsize = AtomicUsize::new(0);

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
    /// How many blocks are in [`Arena::free`].
    n_free: usize,
}

/// Where a block is: its header first, then perhaps room for the sake of its alignment, then what
/// was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    start: usize,
    class: u32,
    offset: u32,
    len: u32,
}

/// Something that was done to the tables of an arena.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A block was given out again.
    Reused { arena: u32, block: Block },
    /// A block was freed, and is in quarantine.
    Freed { arena: u32, block: Block },
    /// The oldest block in quarantine left it.
    Released { arena: u32, block: Block },
    /// A range, from where the heap begins, became valid or invalid within its block.
    Protected { place: usize, len: usize, is_valid: bool },
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
        // An arena that was not used yet may be missing.
        mine.iter().zip(theirs).all(|(mine, theirs)| mine.same(theirs) != Some(false))
    }
}

/// What stands where a block begins; and again just before what was asked for, if its alignment
/// keeps the two apart.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Header {
    /// How many bytes were asked for.
    len: u32,
    /// How far they are from the end of the first header, for the sake of their alignment.
    offset: u32,
    /// [`check`] of where they are: whatever has another one is no header.
    check: u32,
    class: u16,
    /// By what function it was allocated: an [`Origin`].
    origin: u8,
    is_freed: u8,
    allocated_by: u16,
    freed_by: u16,
}

/// By what kind of function a block was allocated, which says by which it is to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Origin {
    /// `malloc` and its like.
    Malloc,
    /// `new` of C++.
    New,
    /// `new[]` of C++.
    NewArray,
    /// `mmap`.
    Mapping,
    /// Whatever frees it is right: that was looked at before.
    Any,
}

/// Added to the number of an [`Origin`]: the operator was given an alignment, so that the one that
/// frees the block is to be given one, too.
const ALIGNED: u8 = 0x80;

impl Origin {
    fn of(number: u8) -> Self {
        let all = [Self::Malloc, Self::New, Self::NewArray, Self::Mapping];
        all.into_iter().find(|&it| it as u8 == number & !ALIGNED).unwrap_or(Self::Any)
    }
}

/// What is known of a block that an address is in or near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Where what was asked for begins, and how much that is.
    pub(crate) address: usize,
    pub(crate) len: usize,
    pub(crate) allocated_by: ThreadId,
    /// The thread that has freed it, if one has.
    pub(crate) freed_by: Option<ThreadId>,
}

impl Heap {
    /// Reserves the address space.
    pub(crate) fn new() -> Option<Self> {
        let base = memory::reserve(WISH, ALL_LEN)?;
        shadow::reserve(ALL_LEN)?;
        BASE.store(base, Ordering::Relaxed);
        Some(Self::default())
    }

    /// Everything is free and zero again, and nothing was saved.
    pub(crate) fn reset(&mut self) {
        for arena in &mut self.arenas {
            if arena.part.len > 0 {
                let start = arena.part.start - base();
                shadow::clear(start, start + arena.part.len);
                arena.part.restore(&Saved::default());
            }
            if arena.n_free > 0 {
                arena.free.iter_mut().for_each(Vec::clear);
                arena.n_free = 0;
            }
            arena.quarantine.clear();
            arena.n_quarantined = 0;
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
            let len = arena.part.len;
            match saved.parts[..saved.n_parts].get(idx) {
                Some(saved) => arena.part.restore(saved),
                None => arena.part.restore(&Saved::default()),
            }
            // What was allocated since for the first time.
            if arena.part.len < len {
                let start = arena.part.start - base();
                shadow::clear(start + arena.part.len, start + len);
            }
        }
    }

    fn undo(&mut self, change: Change) {
        let (arena, block) = match change {
            Change::Reused { arena, block }
            | Change::Freed { arena, block }
            | Change::Released { arena, block } => (arena, block),
            Change::Protected { place, len, is_valid } => {
                return shadow::set(place, len, !is_valid);
            }
        };
        let arena = &mut self.arenas[arena as usize];
        match change {
            Change::Reused { .. } => {
                arena.free[block.class as usize].push(block.start);
                arena.n_free += 1;
                block.forbid();
            }
            Change::Freed { .. } => {
                arena.quarantine.pop_back();
                arena.n_quarantined -= block.full_len();
                block.allow();
            }
            Change::Released { .. } => {
                arena.free[block.class as usize].pop();
                arena.n_free -= 1;
                arena.n_quarantined += block.full_len();
                arena.quarantine.push_front(block);
            }
            Change::Protected { .. } => {}
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
                n_free: 0,
            });
        }
        &mut self.arenas[thread_idx]
    }

    /// A block for a thread, if there is room for it.
    fn allocate(
        &mut self,
        thread_idx: usize,
        len: usize,
        align: usize,
        origin: Origin,
    ) -> Option<usize> {
        let slack = if align > GRAIN { align } else { 0 };
        let wanted = len.checked_add(slack).and_then(|it| it.checked_add(redzone(len)));
        let class = wanted.and_then(class)?;
        let arena = self.arena(thread_idx);
        let room = room(class);
        let reused = arena.free[class].pop();
        let start = match reused {
            Some(start) => {
                arena.n_free -= 1;
                start
            }
            None => {
                if room + HEADER_LEN > ARENA_LEN - arena.part.len {
                    return None;
                }
                let start = arena.part.start + arena.part.len;
                arena.part.len += room + HEADER_LEN;
                start
            }
        };
        let first = start + HEADER_LEN;
        let address = first.next_multiple_of(align.max(1));
        let offset = (address - first) as u32;
        let block = Block { start, class: class as u32, offset, len: len as u32 };
        block.allow();
        if reused.is_some() {
            self.note(Change::Reused { arena: thread_idx as u32, block });
        }
        let header = Header {
            len: len as u32,
            offset,
            check: check(address),
            class: class as u16,
            origin: origin as u8,
            is_freed: 0,
            allocated_by: thread_idx as u16,
            freed_by: 0,
        };
        // SAFETY: the block lies in the arena, with room for the headers in it.
        unsafe {
            std::ptr::write((address - HEADER_LEN) as *mut Header, header);
            if offset > 0 {
                std::ptr::write(start as *mut Header, header);
            }
        }
        Some(address)
    }

    /// Takes a block back.
    fn free(&mut self, thread_idx: usize, address: usize) {
        let header = header(address).expect("it was looked for before");
        header.is_freed = 1;
        header.freed_by = thread_idx as u16;
        let block = Block::of(address, header);
        block.forbid();
        let idx = thread_idx as u32;
        self.note(Change::Freed { arena: idx, block });
        let arena = self.arena(thread_idx);
        arena.quarantine.push_back(block);
        arena.n_quarantined += block.full_len();
        while let arena = self.arena(thread_idx)
            && arena.n_quarantined > QUARANTINED
            && let Some(oldest) = arena.quarantine.pop_front()
        {
            arena.n_quarantined -= oldest.full_len();
            arena.free[oldest.class as usize].push(oldest.start);
            arena.n_free += 1;
            self.note(Change::Released { arena: idx, block: oldest });
        }
    }

    /// The blocks of an arena, from its beginning to the first that an address comes before: the
    /// last two of them, the nearer one first.
    pub(crate) fn near(&self, address: usize) -> [Option<Known>; 2] {
        let mut near = [None; 2];
        let arena = place(address).and_then(|(idx, _)| self.arenas.get(idx));
        let Some(arena) = arena else { return near };
        let (mut at, end) = (arena.part.start, arena.part.start + arena.part.len);
        while at < end {
            // SAFETY: a block begins here, with its header.
            let header = unsafe { *(at as *const Header) };
            let known = at + HEADER_LEN + header.offset as usize;
            if header.check != check(known) || known > address.saturating_add(HEADER_LEN) {
                break;
            }
            near = [Some(header.known(known)), near[0]];
            at += HEADER_LEN + room(usize::from(header.class));
        }
        near
    }
}

impl Block {
    /// The one with this header before what was asked for.
    fn of(address: usize, header: &Header) -> Self {
        let start = address - HEADER_LEN - header.offset as usize;
        let (class, offset, len) = (header.class.into(), header.offset, header.len);
        Self { start, class, offset, len }
    }

    /// With its header and redzone.
    fn full_len(self) -> usize {
        HEADER_LEN + room(self.class as usize)
    }

    /// From where the heap begins to what was asked for.
    fn place(self) -> usize {
        self.start + HEADER_LEN + self.offset as usize - base()
    }

    fn allow(self) {
        shadow::allow(self.place(), self.len as usize);
    }

    fn forbid(self) {
        shadow::forbid(self.place(), self.len as usize);
    }
}

impl Header {
    fn known(self, address: usize) -> Known {
        Known {
            address,
            len: self.len as usize,
            allocated_by: ThreadId::new(self.allocated_by.into()),
            freed_by: (self.is_freed != 0).then(|| ThreadId::new(self.freed_by.into())),
        }
    }
}

/// How many bytes behind a block of this length belong to no block, at least.
fn redzone(len: usize) -> usize {
    (len / 4).clamp(*REDZONE.start(), *REDZONE.end())
}

/// Whether a range is valid, as far as it begins in the heap; nothing if it does not.
#[inline]
pub(crate) fn is_valid(address: usize, len: usize) -> Option<bool> {
    let offset = address.wrapping_sub(base());
    (offset < ALL_LEN).then(|| shadow::is_valid(offset, len))
}

/// The first byte of a range of the heap that is not valid.
pub(crate) fn first_invalid(address: usize, len: usize) -> Option<usize> {
    shadow::first_invalid(address - base(), len).map(|offset| base() + offset)
}

/// Whose arena an address is in, and where in it.
pub(crate) fn place(address: usize) -> Option<(usize, usize)> {
    let offset = address.wrapping_sub(base());
    (offset < ALL_LEN).then_some((offset / ARENA_LEN, offset % ARENA_LEN))
}

#[inline]
fn base() -> usize {
    BASE.load(Ordering::Relaxed)
}

fn is_ours(pointer: *mut c_void) -> bool {
    base() != 0 && place(pointer as usize).is_some()
}

/// The header of the block whose bytes begin at an address, if there is one.
fn header(address: usize) -> Option<&'static mut Header> {
    let is_possible =
        address.is_multiple_of(GRAIN) && place(address).is_some_and(|(_, at)| at >= HEADER_LEN);
    if !is_possible {
        return None;
    }
    // SAFETY: all of the heap can be read, anything will do for a header, and no two are used at
    // once.
    let before = unsafe { &mut *((address - HEADER_LEN) as *mut Header) };
    if before.check != check(address) {
        return None;
    }
    match before.offset as usize {
        0 => Some(before),
        // SAFETY: so far before it is the first header of the same block.
        offset => Some(unsafe { &mut *((address - HEADER_LEN - offset) as *mut Header) }),
    }
}

/// What is in the header of a block at an address, and hardly anywhere else.
fn check(block: usize) -> u32 {
    ((block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// The class of blocks with room for so many bytes.
const fn class(len: usize) -> Option<usize> {
    if len <= FINE {
        return Some(if len == 0 { 1 } else { len.div_ceil(GRAIN) });
    }
    // The room is `STEPS` and so many more steps, as long as this.
    let step = (len - 1).ilog2() - STEPS.ilog2();
    let more = ((len - 1) >> step) - STEPS + 1;
    let class = N_FINE + (step + STEPS.ilog2() - FINE.ilog2()) as usize * STEPS + more;
    if class < N_CLASSES { Some(class) } else { None }
}

/// How many bytes there really is room for in a block of a class.
const fn room(class: usize) -> usize {
    if class <= N_FINE {
        return class * GRAIN;
    }
    let (doublings, more) = ((class - N_FINE - 1) / STEPS, (class - N_FINE - 1) % STEPS + 1);
    (STEPS + more) << (FINE.ilog2() - STEPS.ilog2() + doublings as u32)
}

// Whatever fits into an arena has a class, and that is the first with enough room.
const _: () = {
    let mut class_idx = 1;
    while class_idx < N_CLASSES {
        let room = room(class_idx);
        assert!(matches!(class(room), Some(it) if it == class_idx));
        assert!(matches!(class(room + 1), Some(it) if it == class_idx + 1) || room == ARENA_LEN);
        class_idx += 1;
    }
    assert!(class(ARENA_LEN + 1).is_none() && class(usize::MAX).is_none());
};

/// A block for the running thread; null, if no system has as much.
pub(crate) fn allocate(len: usize, align: usize, origin: Origin) -> *mut c_void {
    let thread = coroutine::current().expect("a thread of the program asks");
    spin::spoil();
    let block = machine::with(|machine| machine.heap.allocate(thread, len, align, origin));
    let Some(block) = block else {
        if len.saturating_add(align) < ABSURD {
            let what = format!("an allocation of {} MB", len.div_ceil(1 << 20));
            io::refuse_always(&what, &format!("a thread has {} MB in all", ARENA_LEN >> 20));
        }
        // SAFETY: every thread has one.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return std::ptr::null_mut();
    };
    sites::note(block, len);
    machine::with(|machine| machine.note_block(thread, block));
    block as *mut c_void
}

/// Frees a block by what is for such blocks. Whoever uses it without being ordered before this,
/// races.
pub(crate) fn release(pointer: *mut c_void, by: Origin) {
    let Some(thread) = coroutine::current() else { return };
    spin::spoil();
    let address = pointer as usize;
    let Some(header) = header(address) else { invalid::freed_nothing(address) };
    if header.is_freed != 0 {
        invalid::freed_again(address, header.known(address));
    }
    let origin = Origin::of(header.origin);
    if by != Origin::Any && origin != Origin::Any && by != origin {
        invalid::freed_otherwise(address, origin, by);
    }
    let len = header.len as usize;
    sites::note_end(address);
    machine::with(|machine| {
        if machine.is_concurrent() {
            machine.watch.end(address, len);
        }
        machine.forget_words(address, len);
        machine.heap.free(thread, address);
    });
}

/// Lets the program access pages of a block, or not, where that is new.
pub(crate) fn protect(address: usize, len: usize, is_valid: bool) {
    machine::with(|machine| {
        let within = machine.heap.near(address).into_iter().flatten().find(|known| {
            known.freed_by.is_none()
                && (known.address..known.address + known.len).contains(&address)
        });
        let Some(known) = within else { return };
        let end = (address + len).min(known.address + known.len);
        for page in (address..end).step_by(PAGE) {
            let (place, len) = (page - base(), PAGE.min(end - page));
            if shadow::is_valid(place, len) != is_valid {
                shadow::set(place, len, is_valid);
                machine.heap.note(Change::Protected { place, len, is_valid });
            }
        }
    });
}

/// How long the block is that begins at an address and was not freed, if there is one.
pub(crate) fn block_len(address: usize) -> Option<usize> {
    header(address).filter(|header| header.is_freed == 0).map(|header| header.len as usize)
}

/// The same for a block that was allocated so.
pub(crate) fn block_len_of(address: usize, origin: Origin) -> Option<usize> {
    let len = block_len(address)?;
    (header(address)?.origin == origin as u8).then_some(len)
}

/// Says by what function a block was allocated, and whether that was given an alignment.
pub(crate) fn set_origin(address: usize, origin: Origin, is_aligned: bool) {
    if let Some(header) = header(address) {
        header.origin = origin as u8 | if is_aligned { ALIGNED } else { 0 };
    }
}

/// Whether the function was given an alignment.
pub(crate) fn is_aligned(address: usize) -> bool {
    header(address).is_some_and(|header| header.origin & ALIGNED != 0)
}

/// By what function a block was allocated that begins at an address and was not freed.
pub(crate) fn origin(address: usize) -> Option<Origin> {
    header(address).filter(|header| header.is_freed == 0).map(|header| Origin::of(header.origin))
}

/// Whether the program gives us the address of one of its variables or constants.
fn is_variable(address: usize) -> bool {
    coroutine::in_program()
        && (machine::with(|machine| machine.is_variable(address))
            || names::module_of(address).is_some())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn malloc(len: usize) -> *mut c_void {
    match coroutine::in_program() {
        true => allocate(len, GRAIN, Origin::Malloc),
        false => {
            constructors::note_allocation();
            allocator::malloc(len)
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, len: usize) -> *mut c_void {
    if !coroutine::in_program() {
        constructors::note_allocation();
        return allocator::calloc(count, len);
    }
    // What is too large to be a number is too large to be had.
    let len = count.saturating_mul(len);
    let block = allocate(len, GRAIN, Origin::Malloc);
    if !block.is_null() {
        // SAFETY: the block is that long.
        unsafe { std::ptr::write_bytes(block.cast::<u8>(), 0, len) };
    }
    block
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    let is_known = is_ours(pointer) || is_variable(pointer as usize);
    // Where there is no memory, there is no block.
    if is_known || coroutine::in_program() && !plain_values::is_mapped(pointer as usize) {
        release(pointer, Origin::Malloc);
    } else if !coroutine::in_program() {
        // SAFETY: it is not from an arena, so it is from the C library.
        unsafe { allocator::free(pointer) };
    }
    // What was allocated before `main` stays: the next execution needs it again.
}

/// Always moves the block, so that a use of where it was is found.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(pointer: *mut c_void, len: usize) -> *mut c_void {
    if !coroutine::in_program() && !is_ours(pointer) {
        constructors::note_allocation();
        // SAFETY: it is not from an arena, so it is from the C library.
        return unsafe { allocator::realloc(pointer, len) };
    }
    if pointer.is_null() {
        return malloc(len);
    }
    let old_len = match is_ours(pointer) || is_variable(pointer as usize) {
        true => block_len(pointer as usize).unwrap_or_else(|| invalid::moved(pointer as usize)),
        // SAFETY: it is from the C library's allocator.
        false => unsafe { malloc_usable_size(pointer) },
    };
    let new = if len == 0 { std::ptr::null_mut() } else { malloc(len) };
    // As the C library does it: what is to be 0 bytes long is freed, and what cannot be had changes
    // nothing.
    if !new.is_null() || len == 0 {
        // SAFETY: both blocks are at least that long.
        unsafe {
            if len > 0 {
                let (from, to) = (pointer.cast::<u8>(), new.cast::<u8>());
                std::ptr::copy_nonoverlapping(from, to, old_len.min(len));
            }
            free(pointer);
        }
    }
    new
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(pointer: *mut c_void, count: usize, len: usize) -> *mut c_void {
    match count.checked_mul(len) {
        // SAFETY: as the caller promises.
        Some(len) => unsafe { realloc(pointer, len) },
        None => {
            // SAFETY: every thread has one.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            std::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, len: usize) -> *mut c_void {
    match coroutine::in_program() {
        true => {
            let align = align.checked_next_power_of_two().unwrap_or(1).max(GRAIN);
            allocate(len, align, Origin::Malloc)
        }
        false => {
            constructors::note_allocation();
            allocator::memalign(align, len)
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn valloc(len: usize) -> *mut c_void {
    memalign(PAGE, len)
}

#[unsafe(no_mangle)]
extern "C" fn pvalloc(len: usize) -> *mut c_void {
    memalign(PAGE, len.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX))
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
    if coroutine::in_program() {
        library::wrote!(posix_memalign, to);
    }
    // SAFETY: the caller wants it there.
    unsafe { *to = block };
    0
}

/// As many bytes as were asked for: no others are the program's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn malloc_usable_size(pointer: *mut c_void) -> usize {
    if is_ours(pointer) {
        return block_len(pointer as usize).unwrap_or_else(|| invalid::measured(pointer as usize));
    }
    let real = crate::real::original!(malloc_usable_size(*mut c_void) -> usize);
    // SAFETY: it is not from an arena, so it is from the C library, or null.
    unsafe { real(pointer) }
}
