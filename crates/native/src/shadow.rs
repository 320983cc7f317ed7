//! Shadow memory: which bytes of the heap a program may access, to the byte.
//!
//! Implements Serebryany et al., *AddressSanitizer: A Fast Address Sanity Checker* (USENIX ATC
//! 2012), section 3.1.
//!
//! | paper                                     | here                                    |
//! |-------------------------------------------|-----------------------------------------|
//! | the shadow byte of 8 bytes: 0, *k* or < 0 | [`Table::byte`]: how many of the 8 are valid |
//! | poison                                    | [`clear`]                               |
//! | unpoison                                  | [`allow`]                               |
//! | a slow check of ranges                    | [`first_invalid`]                       |
//!
//! Differs: 0 means that no byte is valid, so memory that was never allocated needs no poison, and
//! only the heap has a shadow. The pages within a large block have one byte each ([`PAGES`]), and
//! their granules none, so that a large block costs little to allocate and to free.

use crate::memory;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes of memory have one byte of shadow. Blocks begin at multiples of it.
const GRANULE: usize = 8;
const PAGE: usize = 4096;
/// From this length on, the pages of a block are marked in place of their granules.
const LARGE: usize = 8 * PAGE;
/// From this length on, shadow is given back to the system in place of being written over.
const VAST: usize = 1 << 20;

static GRANULES: Table = Table { address: AtomicUsize::new(0) };
/// 1 for a page that is valid as a whole, whatever its granules say.
static PAGES: Table = Table { address: AtomicUsize::new(0) };

/// Bytes that stand for units of the heap.
struct Table {
    address: AtomicUsize,
}

impl Table {
    fn reserve(&self, len: usize) -> Option<()> {
        self.address.store(memory::reserve(0, len)?, Ordering::Relaxed);
        Some(())
    }

    #[inline]
    fn at(&self, idx: usize) -> *mut u8 {
        (self.address.load(Ordering::Relaxed) + idx) as *mut u8
    }

    #[inline]
    fn byte(&self, idx: usize) -> usize {
        // SAFETY: every unit of the heap has its byte.
        usize::from(unsafe { *self.at(idx) })
    }

    fn fill(&self, start: usize, end: usize, value: u8) {
        if start < end {
            // SAFETY: every unit of the heap has its byte, and one OS thread uses them.
            unsafe { std::ptr::write_bytes(self.at(start), value, end - start) };
        }
    }
}

/// Makes a shadow for a heap of this length, of which nothing is valid.
pub(crate) fn reserve(heap_len: usize) -> Option<()> {
    GRANULES.reserve(heap_len / GRANULE)?;
    PAGES.reserve(heap_len / PAGE)
}

/// Whether all of a range may be accessed. It begins so far into the heap.
#[inline]
pub(crate) fn is_valid(offset: usize, len: usize) -> bool {
    let end = offset % GRANULE + len;
    if end <= GRANULE && GRANULES.byte(offset / GRANULE) >= end {
        return true;
    }
    first_invalid(offset, len).is_none()
}

/// The first byte of a range that may not be accessed, from where the heap begins.
pub(crate) fn first_invalid(offset: usize, len: usize) -> Option<usize> {
    let end = offset + len;
    let mut at = offset;
    while at < end {
        if PAGES.byte(at / PAGE) != 0 {
            at = at - at % PAGE + PAGE;
            continue;
        }
        let granule = at - at % GRANULE;
        let valid_until = granule + GRANULES.byte(at / GRANULE);
        if valid_until < end.min(granule + GRANULE) {
            return Some(at.max(valid_until));
        }
        at = granule + GRANULE;
    }
    None
}

/// A block is allocated: its bytes, and no others of its granules, become valid.
pub(crate) fn allow(offset: usize, len: usize) {
    let end = offset + len;
    if let Some((first, last)) = whole_pages(offset, len) {
        PAGES.fill(first / PAGE, last / PAGE, 1);
        allow_granules(offset, first);
        allow_granules(last, end);
    } else {
        allow_granules(offset, end);
    }
}

fn allow_granules(start: usize, end: usize) {
    GRANULES.fill(start / GRANULE, end / GRANULE, GRANULE as u8);
    if !end.is_multiple_of(GRANULE) {
        GRANULES.fill(end / GRANULE, end / GRANULE + 1, (end % GRANULE) as u8);
    }
}

/// A block is freed: what was valid is so no more.
pub(crate) fn forbid(offset: usize, len: usize) {
    let end = (offset + len).next_multiple_of(GRANULE);
    if let Some((first, last)) = whole_pages(offset, len) {
        PAGES.fill(first / PAGE, last / PAGE, 0);
        GRANULES.fill(offset / GRANULE, first / GRANULE, 0);
        GRANULES.fill(last / GRANULE, end / GRANULE, 0);
    } else {
        GRANULES.fill(offset / GRANULE, end / GRANULE, 0);
        if len >= PAGE {
            // One of them may have been marked by itself: see `set`.
            PAGES.fill(offset.div_ceil(PAGE), end / PAGE, 0);
        }
    }
}

/// A page within a block becomes valid or invalid, or what there is of the last one.
pub(crate) fn set(offset: usize, len: usize, is_valid: bool) {
    let is_whole = offset.is_multiple_of(PAGE) && len == PAGE;
    if is_whole {
        PAGES.fill(offset / PAGE, offset / PAGE + 1, u8::from(is_valid));
    }
    if !is_valid {
        GRANULES.fill(offset / GRANULE, (offset + len).div_ceil(GRANULE), 0);
    } else if !is_whole {
        allow_granules(offset, offset + len);
    }
}

/// Nothing in a range of the heap is valid any more. No block is on both sides of its edges.
pub(crate) fn clear(offset: usize, end: usize) {
    let (first, last) = (offset / GRANULE, end.div_ceil(GRANULE));
    match last.saturating_sub(first) {
        ..VAST => GRANULES.fill(first, last, 0),
        _ => {
            let first_page = first.next_multiple_of(PAGE);
            let last_page = last - last % PAGE;
            GRANULES.fill(first, first_page, 0);
            let (start, len) = (GRANULES.at(first_page), last_page - first_page);
            // SAFETY: these pages are the shadow's, and zero is what they are to become.
            unsafe { libc::madvise(start.cast(), len, libc::MADV_DONTNEED) };
            GRANULES.fill(last_page, last, 0);
        }
    }
    PAGES.fill(offset.div_ceil(PAGE), end.div_ceil(PAGE), 0);
}

/// The pages within a block that is so large that they are marked.
fn whole_pages(offset: usize, len: usize) -> Option<(usize, usize)> {
    let end = offset + len;
    (len >= LARGE).then(|| (offset.next_multiple_of(PAGE), end - end % PAGE))
}
