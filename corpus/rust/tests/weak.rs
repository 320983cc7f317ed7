//! Mistakes that need weak memory, or an order that is missing, in small form, with repaired twins.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use std::thread;

/// Data that is shared by hand.
struct Shared(UnsafeCell<usize>);

// SAFETY: it is not, where a test is about that.
unsafe impl Sync for Shared {}

impl Shared {
    const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn add(&self) {
        // SAFETY: nobody else has it, where a test is right.
        unsafe { *self.0.get() += 1 }
    }
}

/// The last of two owners writes what both have used.
fn last_owner(give: Ordering, take: Option<Ordering>) {
    let (owners, data) = (AtomicUsize::new(2), [Shared::new(), Shared::new()]);
    let drop = |mine: usize| {
        data[mine].add();
        if owners.fetch_sub(1, give) == 1 {
            take.into_iter().for_each(fence);
            data.iter().for_each(Shared::add);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| drop(1));
        drop(0);
    });
}

#[test]
fn last_owner_holds() {
    last_owner(Release, Some(Acquire));
}

#[test]
fn last_owner_without_acquire_violated() {
    last_owner(Release, None);
}

#[test]
fn last_owner_without_release_violated() {
    last_owner(Relaxed, Some(Acquire));
}

fn spin_lock(lock: Ordering, unlock: Ordering) {
    let (is_held, data) = (AtomicBool::new(false), Shared::new());
    let work = || {
        while is_held.swap(true, lock) {
            std::hint::spin_loop();
        }
        data.add();
        is_held.store(false, unlock);
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}

#[test]
fn spin_lock_holds() {
    spin_lock(Acquire, Release);
}

#[test]
fn spin_lock_with_relaxed_unlock_violated() {
    spin_lock(Acquire, Relaxed);
}

/// A record that the first caller makes, looked at without the mutex.
fn double_checked(load: Ordering, store: Ordering) {
    let (made, data, mutex) = (AtomicBool::new(false), Shared::new(), Mutex::new(()));
    let get = || {
        if !made.load(load) {
            let _held = mutex.lock().expect("nobody panics");
            if !made.load(Relaxed) {
                data.add();
                made.store(true, store);
            }
        }
        // SAFETY: it is written once, before.
        assert_eq!(unsafe { *data.0.get() }, 1);
    };
    thread::scope(|scope| {
        scope.spawn(get);
        get();
    });
}

#[test]
fn double_checked_holds() {
    double_checked(Acquire, Release);
}

#[test]
fn double_checked_without_acquire_violated() {
    double_checked(Relaxed, Release);
}

/// Two words behind a number that is odd while they are written.
fn sequence_lock(with_fences: bool) {
    let [number, left, right] = [0; 3].map(AtomicUsize::new);
    thread::scope(|scope| {
        scope.spawn(|| {
            number.store(1, Relaxed);
            if with_fences {
                fence(Release);
            }
            left.store(1, Relaxed);
            right.store(1, Relaxed);
            number.store(2, Release);
        });
        let before = number.load(Acquire);
        let seen = (left.load(Relaxed), right.load(Relaxed));
        if with_fences {
            fence(Acquire);
        }
        if before % 2 == 0 && number.load(Relaxed) == before {
            assert_eq!(seen.0, seen.1);
        }
    });
}

#[test]
fn sequence_lock_holds() {
    sequence_lock(true);
}

#[test]
fn sequence_lock_without_fences_violated() {
    sequence_lock(false);
}

/// A record is published by its address, as read-copy-update does.
fn publish(order: Ordering) {
    static DATA: Shared = Shared::new();
    static CURRENT: AtomicPtr<Shared> = AtomicPtr::new(null_mut());
    thread::scope(|scope| {
        scope.spawn(|| {
            DATA.add();
            CURRENT.store((&raw const DATA).cast_mut(), order);
        });
        // SAFETY: it is null or leads to what lives for ever.
        if let Some(data) = unsafe { CURRENT.load(Acquire).as_ref() } {
            // SAFETY: it is written before.
            assert_eq!(unsafe { *data.0.get() }, 1);
        }
    });
}

#[test]
fn publish_holds() {
    publish(Release);
}

#[test]
fn publish_relaxed_violated() {
    publish(Relaxed);
}

/// Store buffering, with the order of the accesses and of a fence between them.
fn store_buffering(store: Ordering, load: Ordering, between: Option<Ordering>) {
    let [x, y] = [0; 2].map(AtomicUsize::new);
    let go = |mine: &AtomicUsize, other: &AtomicUsize| {
        mine.store(1, store);
        between.into_iter().for_each(fence);
        other.load(load)
    };
    let (one, other) = thread::scope(|scope| {
        let there = scope.spawn(|| go(&x, &y));
        (go(&y, &x), there.join().expect("it does not panic"))
    });
    assert!(one + other > 0);
}

#[test]
fn store_buffering_acquire_release_violated() {
    store_buffering(Release, Acquire, None);
}

#[test]
fn store_buffering_sequentially_consistent_holds() {
    store_buffering(SeqCst, SeqCst, None);
}

#[test]
fn store_buffering_with_fences_holds() {
    store_buffering(Relaxed, Relaxed, Some(SeqCst));
}

#[test]
fn store_buffering_with_weak_fences_violated() {
    store_buffering(Relaxed, Relaxed, Some(AcqRel));
}
