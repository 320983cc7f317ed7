//! Hints about memory: what is going to be read soon, and what is read all over.
#![cfg_attr(
    any(target_arch = "x86_64", target_os = "linux"),
    expect(unsafe_code, reason = "there is no safe way to tell the machine, or the system")
)]

use std::mem::MaybeUninit;

/// Asks for the memory of something, and does not wait for it. No more than a hint.
#[inline]
pub(crate) fn prefetch<T>(of: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program could see, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(of).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = of;
}

/// Asks for large pages in memory that is not used yet, so that a look at any place of it does not
/// begin with a look for its page. No more than a hint.
pub(crate) fn huge_pages<T>(unused: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let start = unused.as_mut_ptr() as usize;
        let end = (start + size_of_val(unused)) / HUGE * HUGE;
        let start = start.next_multiple_of(HUGE);
        if start < end {
            // SAFETY: the pages are ours, and how large they are changes nothing that is in them.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = unused;
}
