//! tokio without input and output: of each pair, the first test holds and the second goes wrong.

use std::sync::Arc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, oneshot};

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

#[test]
fn multi_thread_holds() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let task = runtime.spawn(async { 1 });
    assert_eq!(runtime.block_on(task).unwrap(), 1);
}

/// The lock is given back between reading and writing.
#[test]
fn multi_thread_violated() {
    async fn add(count: Arc<Mutex<i32>>) {
        let seen = *count.lock().await;
        *count.lock().await = seen + 1;
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let count = Arc::new(Mutex::new(0));
    let task = runtime.spawn(add(count.clone()));
    runtime.block_on(add(count.clone()));
    runtime.block_on(task).unwrap();
    assert_eq!(runtime.block_on(async { *count.lock().await }), 2);
}
