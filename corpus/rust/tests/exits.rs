//! Threads that end the process: no join of them returns.

use std::process::exit;
use std::thread::{JoinHandle, spawn};

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
