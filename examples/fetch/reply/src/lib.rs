//! A channel for one message, in one allocation and without locks.

use std::cell::UnsafeCell;
use std::hint;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::task::{Context, Poll, Waker};

/// Nothing was sent, and the receiver does not wait.
const EMPTY: u8 = 0;
/// The receiver waits: its waker is in the slot.
const WAITING: u8 = 1;
/// The sender takes the waker out of the slot.
const WAKING: u8 = 2;
/// The sender is done, and the receiver frees the slot.
const SENT: u8 = 3;
/// The receiver is gone, and the sender frees the slot.
const CLOSED: u8 = 4;

struct Slot<T> {
    state: AtomicU8,
    message: UnsafeCell<Option<T>>,
    waker: UnsafeCell<Option<Waker>>,
}

pub struct Sender<T>(NonNull<Slot<T>>);

pub struct Receiver<T>(NonNull<Slot<T>>);

// SAFETY: the state says which side may access the message and the waker.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Receiver<T> {}

pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = NonNull::from(Box::leak(Box::new(Slot {
        state: AtomicU8::new(EMPTY),
        message: UnsafeCell::new(None),
        waker: UnsafeCell::new(None),
    })));
    (Sender(slot), Receiver(slot))
}

impl<T> Sender<T> {
    pub fn send(self, message: T) {
        // SAFETY: the receiver does not look at the message before the state is `SENT`.
        unsafe { *self.0.as_ref().message.get() = Some(message) };
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // SAFETY: the slot is freed by whichever side comes last.
        let slot = unsafe { self.0.as_ref() };
        loop {
            match slot.state.load(Acquire) {
                WAITING => {
                    if slot.state.compare_exchange(WAITING, WAKING, AcqRel, Acquire).is_ok() {
                        // SAFETY: the receiver leaves the waker alone while the state is `WAKING`.
                        let waker = unsafe { (*slot.waker.get()).take() };
                        slot.state.store(SENT, Release);
                        return waker.into_iter().for_each(Waker::wake);
                    }
                }
                EMPTY => {
                    if slot.state.compare_exchange(EMPTY, SENT, AcqRel, Acquire).is_ok() {
                        return;
                    }
                }
                // SAFETY: the receiver is gone.
                _ => return unsafe { drop(Box::from_raw(self.0.as_ptr())) },
            }
        }
    }
}

impl<T> Future for Receiver<T> {
    /// `None` if the sender was dropped without sending.
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        // SAFETY: the slot is freed by whichever side comes last.
        let slot = unsafe { self.0.as_ref() };
        loop {
            match slot.state.load(Acquire) {
                EMPTY => {
                    // SAFETY: the sender leaves the waker alone unless the state is `WAKING`.
                    unsafe { *slot.waker.get() = Some(context.waker().clone()) };
                    if slot.state.compare_exchange(EMPTY, WAITING, AcqRel, Acquire).is_ok() {
                        return Poll::Pending;
                    }
                }
                WAITING => {
                    let _ = slot.state.compare_exchange(WAITING, EMPTY, AcqRel, Acquire);
                }
                WAKING => hint::spin_loop(),
                // SAFETY: the sender is done with the slot.
                _ => return Poll::Ready(unsafe { (*slot.message.get()).take() }),
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // SAFETY: the slot is freed by whichever side comes last.
        let slot = unsafe { self.0.as_ref() };
        match slot.state.swap(CLOSED, AcqRel) {
            EMPTY | WAITING => return,
            // The sender has the waker, and is done in a moment.
            WAKING => {
                while slot.state.load(Acquire) == WAKING {
                    hint::spin_loop();
                }
            }
            _ => {}
        }
        // SAFETY: the sender is done with the slot.
        unsafe { drop(Box::from_raw(self.0.as_ptr())) }
    }
}
