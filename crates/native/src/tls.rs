//! Thread-local storage: OS threads that sleep lend theirs to the coroutines.
//!
//! A coroutine runs with the thread pointer of its lender, so `_Thread_local`, `errno`,
//! `pthread_self` and the C library's own per-thread data are those of a genuine thread.

use crate::coroutine;
use crate::memory::{self, Tls};
use crate::names;
use crate::real;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// A real thread that only lends its storage.
pub(crate) struct Lender {
    pub(crate) thread_pointer: usize,
    /// What the program sees as the thread's name.
    pub(crate) handle: libc::pthread_t,
    blocks: Vec<Tls>,
    /// What the blocks held at first, one after the other.
    first: Vec<u8>,
    ready: AtomicBool,
}

impl Lender {
    /// The process's first thread, which is also the host.
    pub(crate) fn main() -> Self {
        let mut lender = Self::unready();
        // SAFETY: asks for nothing but a number.
        lender.handle = unsafe { libc::pthread_self() };
        lender.describe();
        lender
    }

    fn unready() -> Self {
        Self {
            thread_pointer: 0,
            handle: 0,
            blocks: Vec::new(),
            first: Vec::new(),
            ready: AtomicBool::new(false),
        }
    }

    /// Says where the storage of the calling thread is, and what it holds.
    fn describe(&mut self) {
        self.thread_pointer = coroutine::thread_pointer();
        self.blocks = memory::thread_locals();
        let len = self.blocks.iter().map(|block| block.len).sum();
        let mut first = Vec::with_capacity(len);
        self.save(&mut first);
        self.first = first;
    }

    /// A new thread; `None` if the system has no more.
    pub(crate) fn new() -> Option<Box<Self>> {
        let mut lender = Box::new(Self::unready());
        let pointer: *mut Self = &raw mut *lender;
        let mut handle = 0;
        // SAFETY: the thread gets all signals blocked, and a pointer that is never freed while it
        // is not ready; then it never looks again.
        let error = unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            let error = real::pthread_create(&mut handle, lend, pointer.cast());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            error
        };
        if error != 0 {
            return None;
        }
        while !lender.ready.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        lender.handle = handle;
        Some(lender)
    }

    /// What people call the thread-local variable at an address, if it is one of this thread.
    pub(crate) fn name_of(&self, address: usize) -> Option<String> {
        let has_it = |it: &&Tls| (it.address..it.address + it.len).contains(&address);
        let block = self.blocks.iter().find(has_it)?;
        // Those of the program are next to the thread pointer.
        let is_program = self.blocks.iter().all(|other| other.address <= block.address);
        let offset = address - block.address;
        let name = is_program.then(|| names::local_symbol(offset)).flatten();
        Some(name.unwrap_or_else(|| format!("thread-local {offset:#x}")))
    }

    /// Gives all thread-local variables their first values.
    pub(crate) fn reset(&self) {
        self.restore(&self.first);
    }

    /// Adds what the thread-local variables hold to `bytes`.
    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        for block in &self.blocks {
            // SAFETY: the block is the lender's, who sleeps or is who asks.
            bytes.extend_from_slice(unsafe {
                std::slice::from_raw_parts(block.address as *const u8, block.len)
            });
        }
    }

    /// Puts back what was saved, from the beginning of `bytes`; the rest of them.
    pub(crate) fn restore<'a>(&self, mut bytes: &'a [u8]) -> &'a [u8] {
        for block in &self.blocks {
            let (mine, rest) = bytes.split_at(block.len);
            // SAFETY: the block is the lender's, who sleeps or is who asks, and `mine` is as long.
            unsafe {
                std::ptr::copy_nonoverlapping(mine.as_ptr(), block.address as *mut u8, block.len);
            }
            bytes = rest;
        }
        bytes
    }
}

/// What a lender does: tells where its storage is, and sleeps for ever.
extern "C" fn lend(lender: *mut c_void) -> *mut c_void {
    // SAFETY: `Lender::new` waits for us and touches nothing but `ready` meanwhile.
    unsafe {
        let lender = lender.cast::<Lender>();
        (*lender).describe();
        (*lender).ready.store(true, Ordering::Release);
    }
    loop {
        // SAFETY: waits for a signal, and all are blocked.
        unsafe { libc::syscall(libc::SYS_pause) };
    }
}
