//! Cells that threads share, and atomics with the orders that keep them apart, or do not.
//!
//! The patterns are those for which loom reports causality violations (`tests/unsafe_cell.rs` and
//! `tests/fence.rs` there), written with the types of the standard library.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::thread;

/// A number that promises to be accessed by one thread at a time.
#[derive(Default)]
struct Shared(UnsafeCell<usize>);

// SAFETY: none; whether the promise is kept is what these tests are about.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> usize {
        // SAFETY: as promised.
        unsafe { *self.0.get() }
    }

    fn set(&self, value: usize) {
        // SAFETY: as promised.
        unsafe { *self.0.get() = value };
    }

    fn increment(&self) {
        self.set(self.get() + 1);
    }
}

/// A number and a flag that says that it is there.
#[derive(Default)]
struct Letter {
    number: Shared,
    is_sent: AtomicUsize,
}

impl Letter {
    fn send(&self, order: Ordering) {
        self.number.set(7);
        self.is_sent.store(1, order);
    }

    fn open(&self, order: Ordering) {
        if self.is_sent.load(order) == 1 {
            assert_eq!(self.number.get(), 7);
        }
    }
}

/// One thread sends with an order, this one opens with another, and once more behind the join.
fn post(store: Ordering, load: Ordering) {
    let letter = Arc::new(Letter::default());
    let theirs = Arc::clone(&letter);
    let sender = thread::spawn(move || theirs.send(store));
    letter.open(load);
    sender.join().unwrap();
    letter.open(Relaxed);
}

#[test]
fn release_and_acquire_holds() {
    post(Release, Acquire);
}

#[test]
fn relaxed_load_violated() {
    post(Release, Relaxed);
}

#[test]
fn relaxed_store_violated() {
    post(Relaxed, Acquire);
}

/// The flag is set in the right order, but no thread reads it.
#[test]
fn unlooked_violated() {
    let letter = Arc::new(Letter::default());
    let theirs = Arc::clone(&letter);
    let sender = thread::spawn(move || theirs.send(Release));
    std::hint::black_box(letter.number.get());
    sender.join().unwrap();
}

/// What comes behind the release is not released.
#[test]
fn written_behind_the_release_violated() {
    let letter = Arc::new(Letter::default());
    let theirs = Arc::clone(&letter);
    let sender = thread::spawn(move || {
        theirs.is_sent.store(1, Release);
        theirs.number.set(1);
    });
    if letter.is_sent.load(Acquire) == 1 {
        letter.number.set(2);
    }
    sender.join().unwrap();
}

/// A read-modify-write hands on what was released before it, whatever its own order is.
#[test]
fn release_sequence_holds() {
    handed_on(|flag| {
        flag.fetch_add(1, Relaxed);
    });
}

/// A store does not.
#[test]
fn broken_release_sequence_violated() {
    handed_on(|flag| {
        if flag.load(Relaxed) == 1 {
            flag.store(2, Relaxed);
        }
    });
}

fn handed_on(forward: fn(&AtomicUsize)) {
    let letter = Arc::new(Letter::default());
    let [first, second] = [(); 2].map(|()| Arc::clone(&letter));
    let sender = thread::spawn(move || first.send(Release));
    let middle = thread::spawn(move || forward(&second.is_sent));
    if letter.is_sent.load(Acquire) == 2 {
        assert_eq!(letter.number.get(), 7);
    }
    sender.join().unwrap();
    middle.join().unwrap();
}

/// The fences that stand around relaxed accesses to the flag, if any.
fn post_with_fences(before_store: Option<Ordering>, behind_load: Option<Ordering>) {
    let letter = Arc::new(Letter::default());
    let theirs = Arc::clone(&letter);
    let sender = thread::spawn(move || {
        theirs.number.set(7);
        before_store.into_iter().for_each(fence);
        theirs.is_sent.store(1, Relaxed);
    });
    if letter.is_sent.load(Relaxed) == 1 {
        behind_load.into_iter().for_each(fence);
        assert_eq!(letter.number.get(), 7);
    }
    sender.join().unwrap();
}

#[test]
fn two_fences_holds() {
    post_with_fences(Some(Release), Some(Acquire));
}

#[test]
fn fence_of_the_reader_alone_violated() {
    post_with_fences(None, Some(Acquire));
}

#[test]
fn fence_of_the_writer_alone_violated() {
    post_with_fences(Some(Release), None);
}

#[test]
fn fence_the_wrong_way_violated() {
    post_with_fences(Some(Acquire), Some(Release));
}

/// Threads that each do something to one number, and then all are joined.
fn beside(deeds: &'static [fn(&Shared)]) {
    let shared = Arc::new(Shared::default());
    let start = |deed: &'static fn(&Shared)| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || deed(&shared))
    };
    let threads: Vec<_> = deeds.iter().map(start).collect();
    threads.into_iter().for_each(|it| it.join().unwrap());
    shared.increment();
}

fn look(shared: &Shared) {
    std::hint::black_box(shared.get());
}

#[test]
fn two_writers_violated() {
    beside(&[Shared::increment, Shared::increment]);
}

#[test]
fn writer_and_reader_violated() {
    beside(&[Shared::increment, look]);
}

#[test]
fn reader_and_writer_violated() {
    beside(&[look, |shared| {
        look(shared);
        shared.set(2);
    }]);
}

#[test]
fn two_readers_holds() {
    beside(&[look, look]);
}

/// Each comes after the one before, by starting and joining.
#[test]
fn one_after_the_other_holds() {
    let shared = Arc::new(Shared::default());
    shared.increment();
    let theirs = Arc::clone(&shared);
    let child = thread::spawn(move || {
        theirs.increment();
        let reader = Arc::clone(&theirs);
        let grandchild = thread::spawn(move || look(&reader));
        look(&theirs);
        grandchild.join().unwrap();
    });
    child.join().unwrap();
    shared.increment();
    assert_eq!(shared.get(), 3);
}

/// An atomic that is read as if it were none.
#[test]
fn atomic_without_atomicity_violated() {
    let number = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&number);
    let writer = thread::spawn(move || theirs.store(1, Release));
    // SAFETY: none.
    std::hint::black_box(unsafe { *number.as_ptr() });
    writer.join().unwrap();
}

/// A lock that is tried for, with the orders of taking it and of giving it back.
fn count_under(take: Ordering, give: Ordering) {
    let state = Arc::new((AtomicBool::new(false), Shared::default()));
    let theirs = Arc::clone(&state);
    let count = move |(lock, number): &(AtomicBool, Shared)| {
        if !lock.swap(true, take) {
            number.increment();
            lock.store(false, give);
        }
    };
    let other = thread::spawn(move || count(&theirs));
    count(&state);
    other.join().unwrap();
}

#[test]
fn lock_holds() {
    count_under(Acquire, Release);
}

#[test]
fn lock_that_does_not_acquire_violated() {
    count_under(Relaxed, Release);
}

#[test]
fn lock_that_does_not_release_violated() {
    count_under(AcqRel, Relaxed);
}
