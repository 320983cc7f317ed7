//! Threads that end the process: no join of them returns.

use std::process::exit;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

fn leave() -> JoinHandle<()> {
    spawn(|| exit(0))
}

#[test]
fn one_exit_holds() {
    let _ = leave().join();
    panic!("nobody comes here");
}

/// The second one waits until the process is gone.
#[test]
fn two_exits_holds() {
    let threads = [leave(), leave()];
    threads.into_iter().for_each(|thread| _ = thread.join());
    panic!("nobody comes here");
}

#[test]
fn exit_with_an_error_violated() {
    let _ = spawn(|| exit(1)).join();
}

/// Adds one again and again, as long as there is a process.
fn tick(count: &'static AtomicU32) {
    spawn(|| {
        loop {
            count.fetch_add(1, SeqCst);
            sleep(Duration::from_millis(10));
        }
    });
}

#[test]
fn left_behind_holds() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    tick(&COUNT);
    assert!(COUNT.load(SeqCst) < 2);
}

#[test]
fn left_behind_after_a_while_holds() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    tick(&COUNT);
    sleep(Duration::from_millis(25));
    assert_eq!(COUNT.load(SeqCst), 3);
}

/// It may not have begun.
#[test]
fn left_behind_violated() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    tick(&COUNT);
    assert_eq!(COUNT.load(SeqCst), 1);
}
