//! parking_lot: of each pair, the first test holds and the second goes wrong.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[test]
fn mutex_holds() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let thread = thread::spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

/// The lock is given back between reading and writing.
#[test]
fn mutex_violated() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let add = |count: &Mutex<i32>| {
        let seen = *count.lock();
        *count.lock() = seen + 1;
    };
    let thread = thread::spawn(move || add(&other));
    add(&count);
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

/// The table of those who wait is there before the second thread: who makes it would be another
/// question, with many more schedules.
#[test]
fn condvar_holds() {
    static READY: Mutex<bool> = Mutex::new(false);
    static CHANGED: Condvar = Condvar::new();
    CHANGED.wait_for(&mut READY.lock(), Duration::ZERO);
    let thread = thread::spawn(|| {
        *READY.lock() = true;
        CHANGED.notify_one();
    });
    CHANGED.wait_while(&mut READY.lock(), |ready| !*ready);
    thread.join().unwrap();
}

/// The waiter does not check whether the notification was there before.
#[test]
fn condvar_violated() {
    let pair = Arc::new((Mutex::new(()), Condvar::new()));
    let other = pair.clone();
    let thread = thread::spawn(move || other.1.notify_one());
    pair.1.wait(&mut pair.0.lock());
    thread.join().unwrap();
}

/// Two locks, taken in both orders.
#[test]
fn two_locks_violated() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = locks.clone();
    let thread = thread::spawn(move || {
        let _second = other.1.lock();
        let _first = other.0.lock();
    });
    let first = locks.0.lock();
    drop(locks.1.lock());
    drop(first);
    thread.join().unwrap();
}
