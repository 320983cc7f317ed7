//! Threads whose results go through memory, beside calls of the standard library: those stay single
//! operations, however short the functions are that the compiler makes of these threads.

use std::sync::mpsc;
use std::thread;

#[test]
fn result_in_memory() {
    let thread = thread::spawn(|| vec![1, 2]);
    assert_eq!(thread.join().unwrap(), [1, 2]);
}

#[test]
fn two_senders() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let first = thread::spawn(move || sender.send(1).unwrap());
    let second = thread::spawn(move || other.send(2).unwrap());
    let mut got: Vec<i32> = receiver.iter().collect();
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn scope_of_four() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| ());
        }
    });
}
