//! parking_lot: of each pair, the first test holds and the second goes wrong.

use parking_lot::Mutex;
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
