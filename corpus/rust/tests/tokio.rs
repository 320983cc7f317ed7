//! tokio without input and output: of each pair, the first test holds and the second goes wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

#[test]
fn current_thread_holds() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sender, receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(runtime.block_on(receiver), Ok(1));
    thread.join().unwrap();
}

/// The message need not be there yet.
#[test]
fn current_thread_violated() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sender, mut receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(1).unwrap());
    runtime.block_on(async { assert_eq!(receiver.try_recv(), Ok(1)) });
    thread.join().unwrap();
}

/// A worker comes, looks for work, sleeps and is told to go.
#[test]
fn multi_thread_holds() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(runtime.block_on(async { 1 }), 1);
}

/// A task that is given to the worker and awaited has more schedules than a minute has room for: it
/// is proved within a bound on preemptions.
#[test]
fn multi_thread_task_holds() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let one = runtime.block_on(async { tokio::spawn(async { 1 }).await.unwrap() });
    assert_eq!(one, 1);
}

/// The task is not awaited.
#[test]
fn multi_thread_violated() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let other = done.clone();
    runtime.spawn(async move { other.store(true, SeqCst) });
    assert!(runtime.block_on(async { done.load(SeqCst) }));
}
