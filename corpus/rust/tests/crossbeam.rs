//! crossbeam: of each pair, the first test holds and the second goes wrong.

use crossbeam_deque::{Steal, Worker};
use crossbeam_epoch::{self as epoch, Atomic, Owned};
use crossbeam_queue::ArrayQueue;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

#[test]
fn channel_holds() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let thread = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

/// The message need not be there yet.
#[test]
fn channel_violated() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let thread = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.try_recv(), Ok(1));
    thread.join().unwrap();
}

#[test]
fn deque_holds() {
    let worker = Worker::new_lifo();
    worker.push(1);
    let stealer = worker.stealer();
    let thread = thread::spawn(move || matches!(stealer.steal(), Steal::Success(_)));
    let mine = worker.pop().is_some();
    assert!(!(mine && thread.join().unwrap()), "nobody gets it twice");
}

/// A thief may come too late, or be told to try again.
#[test]
fn deque_violated() {
    let worker = Worker::new_lifo();
    worker.push(1);
    let stealer = worker.stealer();
    let thread = thread::spawn(move || stealer.steal() == Steal::Success(1));
    worker.pop();
    assert!(thread.join().unwrap());
}

#[test]
fn epoch_holds() {
    let shared = Arc::new(Atomic::new(1));
    let other = shared.clone();
    let guard = epoch::pin();
    let thread = thread::spawn(move || {
        let guard = epoch::pin();
        let old = other.swap(Owned::new(2), SeqCst, &guard);
        unsafe { guard.defer_destroy(old) };
    });
    let seen = unsafe { *shared.load(SeqCst, &guard).deref() };
    assert!([1, 2].contains(&seen));
    thread.join().unwrap();
}

/// Freed at once, with a reader that may still look at it.
#[test]
fn epoch_violated() {
    let shared = Arc::new(Atomic::new(1));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        let guard = epoch::pin();
        unsafe { *other.load(SeqCst, &guard).deref() }
    });
    let guard = epoch::pin();
    let old = shared.swap(Owned::new(2), SeqCst, &guard);
    drop(unsafe { old.into_owned() });
    thread.join().unwrap();
}

#[test]
fn queue_holds() {
    let queue = Arc::new(ArrayQueue::new(1));
    let other = queue.clone();
    let thread = thread::spawn(move || other.push(1).is_ok());
    let mine = queue.push(2).is_ok();
    assert!(thread.join().unwrap() != mine, "there is room for one");
}

/// Either of the two may have been first.
#[test]
fn queue_violated() {
    let queue = Arc::new(ArrayQueue::new(2));
    let other = queue.clone();
    let thread = thread::spawn(move || other.push(1).unwrap());
    queue.push(2).unwrap();
    thread.join().unwrap();
    assert_eq!(queue.pop(), Some(1));
}
