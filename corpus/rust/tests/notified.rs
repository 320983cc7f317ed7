//! Threads that add one under a mutex and notify, and `main`, which waits for what they add: two or
//! three threads that the standard library starts, which is where its own lazy initialisation is
//! met.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

type Shared = Arc<(Mutex<usize>, Condvar)>;

fn start(n_threads: usize, shared: &Shared) -> Vec<JoinHandle<()>> {
    let start = |_| {
        let shared = shared.clone();
        thread::spawn(move || {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
        })
    };
    (0..n_threads).map(start).collect()
}

/// Takes what was added one by one.
fn tokens(n_threads: usize) {
    let shared = Shared::default();
    let threads = start(n_threads, &shared);
    for _ in 0..n_threads {
        let mut guard = shared.0.lock().unwrap();
        while *guard == 0 {
            guard = shared.1.wait(guard).unwrap();
        }
        *guard -= 1;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Waits for all of it.
fn once(n_threads: usize) {
    let shared = Shared::default();
    let threads = start(n_threads, &shared);
    let mut guard = shared.0.lock().unwrap();
    while *guard < n_threads {
        guard = shared.1.wait(guard).unwrap();
    }
    drop(guard);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn tokens_2_holds() {
    tokens(2);
}

#[test]
fn tokens_3_holds() {
    tokens(3);
}

#[test]
fn once_2_holds() {
    once(2);
}

#[test]
fn once_3_holds() {
    once(3);
}
