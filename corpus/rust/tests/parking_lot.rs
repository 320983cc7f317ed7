//! parking_lot: of each pair, the first test holds and the second goes wrong.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread;

#[test]
fn mutex_holds() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let thread = thread::spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

/// Two locks, taken in opposite orders.
#[test]
fn mutex_violated() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = locks.clone();
    let thread = thread::spawn(move || *other.0.lock() += *other.1.lock());
    *locks.1.lock() += *locks.0.lock();
    thread.join().unwrap();
}

#[test]
fn condvar_holds() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let thread = thread::spawn(move || {
        *other.0.lock() = true;
        other.1.notify_one();
    });
    let mut ready = pair.0.lock();
    pair.1.wait_while(&mut ready, |ready| !*ready);
    drop(ready);
    thread.join().unwrap();
}
