//! Memory that is going to be read soon.
#![expect(unsafe_code, reason = "there is no safe way to ask for memory without waiting for it")]

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
