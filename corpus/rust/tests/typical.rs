//! Mistakes that people make, each as small as it can be; `crates/cli/tests/traces` has what is
//! shown of them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

struct Counter {
    n: AtomicUsize,
}

impl Counter {
    fn add(&self) {
        let seen = self.n.load(SeqCst);
        self.n.store(seen + 1, SeqCst);
    }
}

/// An update is lost.
#[test]
fn counter_counts_violated() {
    let counter = Arc::new(Counter { n: AtomicUsize::new(0) });
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || counter.add())
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.n.load(SeqCst), 2);
}

/// Two locks are taken in two orders.
#[test]
fn two_locks_violated() {
    let accounts = Arc::new(Mutex::new(1));
    let log = Arc::new(Mutex::new(2));
    let (a, l) = (accounts.clone(), log.clone());
    let thread = thread::spawn(move || {
        let account = a.lock().unwrap();
        let mut log = l.lock().unwrap();
        *log += *account;
    });
    {
        let mut log = log.lock().unwrap();
        let account = accounts.lock().unwrap();
        *log += *account;
    }
    thread.join().unwrap();
}

/// The receiver waits for a sender that it holds itself.
#[test]
fn channel_hangs_violated() {
    let (sender, receiver) = channel::<u32>();
    let other = sender.clone();
    let thread = thread::spawn(move || other.send(1).unwrap());
    let sum: u32 = receiver.iter().sum();
    thread.join().unwrap();
    assert_eq!(sum, 1);
    drop(sender);
}

/// The flag is looked at outside of the lock, so the notification comes before the wait.
#[test]
fn lost_wakeup_violated() {
    let pair = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let other = pair.clone();
    let thread = thread::spawn(move || {
        other.2.store(true, SeqCst);
        other.1.notify_one();
    });
    let (lock, ready, flag) = &*pair;
    if !flag.load(SeqCst) {
        let guard = lock.lock().unwrap();
        drop(ready.wait(guard).unwrap());
    }
    thread.join().unwrap();
}

/// A value is read under one lock and written under another.
#[test]
fn read_then_write_violated() {
    let balance = Arc::new(RwLock::new(10));
    let threads = [4, 8].map(|amount| {
        let balance = balance.clone();
        thread::spawn(move || {
            let has_enough = *balance.read().unwrap() >= amount;
            if has_enough {
                *balance.write().unwrap() -= amount;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(*balance.read().unwrap() >= 0, "overdrawn");
}

/// The thread asserts, and the joining thread only says so.
#[test]
fn child_asserts_violated() {
    let ready = Arc::new(AtomicBool::new(false));
    let other = ready.clone();
    let thread = thread::spawn(move || assert!(other.load(SeqCst), "not ready"));
    ready.store(true, SeqCst);
    thread.join().unwrap();
}
