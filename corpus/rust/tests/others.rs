//! dashmap, arc-swap, flume and rayon: of each pair, the first test holds and the second goes wrong.

use arc_swap::ArcSwap;
use dashmap::DashMap;
use parking_lot::{Condvar, Mutex};
use rayon::ThreadPoolBuilder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Its locks are parking_lot's, whose table of those who wait is there before the second thread.
#[test]
fn dashmap_holds() {
    Condvar::new().wait_for(&mut Mutex::new(()).lock(), Duration::ZERO);
    let map = Arc::new(DashMap::with_shard_amount(2));
    let other = map.clone();
    let thread = thread::spawn(move || other.insert(1, 1));
    assert!(map.get(&1).is_none_or(|found| *found == 1));
    thread.join().unwrap();
    assert_eq!(map.len(), 1);
}

/// Looked up, and inserted later.
#[test]
fn dashmap_violated() {
    let map = Arc::new(DashMap::with_shard_amount(2));
    map.insert(1, 0);
    let other = map.clone();
    let add = |map: &DashMap<i32, i32>| {
        let seen = *map.get(&1).unwrap();
        map.insert(1, seen + 1);
    };
    let thread = thread::spawn(move || add(&other));
    add(&map);
    thread.join().unwrap();
    assert_eq!(*map.get(&1).unwrap(), 2);
}

#[test]
fn arc_swap_holds() {
    let shared = Arc::new(ArcSwap::from_pointee(1));
    let other = shared.clone();
    let thread = thread::spawn(move || other.store(Arc::new(2)));
    assert!([1, 2].contains(&**shared.load()));
    thread.join().unwrap();
}

/// Either of the two may have been last.
#[test]
fn arc_swap_violated() {
    let shared = Arc::new(ArcSwap::from_pointee(0));
    let other = shared.clone();
    let thread = thread::spawn(move || other.store(Arc::new(1)));
    shared.store(Arc::new(2));
    thread.join().unwrap();
    assert_eq!(**shared.load(), 2);
}

#[test]
fn flume_holds() {
    let (sender, receiver) = flume::bounded(1);
    let thread = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

/// The message need not be there yet.
#[test]
fn flume_violated() {
    let (sender, receiver) = flume::bounded(1);
    let thread = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.try_recv(), Ok(1));
    thread.join().unwrap();
}

/// Its threads end with the scope. They look for work in rounds over many variables, so this is proved
/// within a bound on preemptions.
#[test]
fn rayon_holds() {
    let sum = ThreadPoolBuilder::new()
        .num_threads(1)
        .build_scoped(|thread| thread.run(), |pool| pool.install(|| rayon::join(|| 1, || 2)));
    assert_eq!(sum.unwrap(), (1, 2));
}

/// Both sides read before either writes.
#[test]
fn rayon_violated() {
    let count = AtomicU32::new(0);
    let add = || count.store(count.load(SeqCst) + 1, SeqCst);
    let pool = ThreadPoolBuilder::new().num_threads(2);
    pool.build_scoped(|thread| thread.run(), |pool| pool.install(|| rayon::join(add, add)))
        .unwrap();
    assert_eq!(count.into_inner(), 2);
}
