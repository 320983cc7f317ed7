//! What calls of the standard library order, and what they do not: shared cells without a lock,
//! beside calls whose documentation promises an order in one direction or none.
//!
//! A sleep makes one call come before another where nothing orders what is around them.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// A number that promises to be accessed by one thread at a time.
struct Shared(UnsafeCell<u32>);

// SAFETY: none; whether the promise is kept is what these tests are about.
unsafe impl Sync for Shared {}

impl Shared {
    const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn get(&self) -> u32 {
        // SAFETY: see above.
        unsafe { *self.0.get() }
    }

    fn set(&self, value: u32) {
        // SAFETY: see above.
        unsafe { *self.0.get() = value };
    }
}

fn sleep(seconds: u64) {
    thread::sleep(Duration::from_secs(seconds));
}

/// A receiver that does not go: its end would order something.
fn kept<T>(receiver: Receiver<T>) -> ManuallyDrop<Receiver<T>> {
    ManuallyDrop::new(receiver)
}

#[test]
fn unpark_before_unpark_violated() {
    static X: Shared = Shared::new();
    let parked = thread::spawn(|| {
        sleep(10);
        thread::park();
    });
    let token = parked.thread().clone();
    let other = thread::spawn(move || {
        X.set(1);
        token.unpark();
        sleep(5);
    });
    sleep(1);
    parked.thread().unpark();
    X.get();
    parked.join().unwrap();
    other.join().unwrap();
}

#[test]
fn unpark_before_unpark_before_park_holds() {
    static X: Shared = Shared::new();
    static Y: Shared = Shared::new();
    let parked = thread::spawn(|| {
        sleep(10);
        thread::park();
        X.get() + Y.get()
    });
    let (one, two) = (parked.thread().clone(), parked.thread().clone());
    let one = thread::spawn(move || {
        X.set(1);
        one.unpark();
    });
    let two = thread::spawn(move || {
        Y.set(1);
        two.unpark();
    });
    parked.join().unwrap();
    one.join().unwrap();
    two.join().unwrap();
}

#[test]
fn park_before_unpark_violated() {
    static X: Shared = Shared::new();
    let parked = thread::spawn(|| {
        X.set(1);
        thread::park();
        sleep(10);
    });
    parked.thread().unpark();
    sleep(1);
    parked.thread().unpark();
    X.get();
    parked.join().unwrap();
}

#[test]
fn park_that_expires_before_unpark_violated() {
    static X: Shared = Shared::new();
    let parked = thread::spawn(|| {
        X.set(1);
        thread::park_timeout(Duration::from_secs(1));
        sleep(10);
    });
    sleep(2);
    parked.thread().unpark();
    X.get();
    parked.join().unwrap();
}

#[test]
fn unpark_before_park_in_time_holds() {
    static X: Shared = Shared::new();
    let parked = thread::spawn(|| {
        thread::park_timeout(Duration::from_secs(9));
        X.get()
    });
    X.set(1);
    parked.thread().unpark();
    parked.join().unwrap();
}

#[test]
fn end_of_channel_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = channel::<u32>();
    let other = thread::spawn(move || {
        X.set(1);
        drop(sender);
    });
    for _ in receiver.iter() {}
    X.get();
    other.join().unwrap();
}

#[test]
fn end_of_channel_after_message_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = channel();
    let other = thread::spawn(move || {
        sender.send(1).unwrap();
        X.set(1);
        drop(sender);
    });
    for _ in receiver.iter() {}
    X.get();
    other.join().unwrap();
}

#[test]
fn end_of_bounded_channel_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = sync_channel::<u32>(4);
    let receiver = kept(receiver);
    let other = thread::spawn(move || {
        X.set(1);
        drop(sender);
    });
    for _ in receiver.iter() {}
    X.get();
    other.join().unwrap();
}

#[test]
fn receive_before_send_with_room_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = sync_channel(4);
    let receiver = kept(receiver);
    let other = thread::spawn(move || {
        X.set(1);
        receiver.recv().unwrap();
        sleep(5);
    });
    sender.send(1).unwrap();
    sleep(1);
    sender.send(2).unwrap();
    X.get();
    other.join().unwrap();
}

#[test]
fn receive_before_send_without_room_holds() {
    static X: Shared = Shared::new();
    let (sender, receiver) = sync_channel(1);
    let receiver = kept(receiver);
    let other = thread::spawn(move || {
        X.set(1);
        receiver.recv().unwrap();
        sleep(5);
    });
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    X.get();
    other.join().unwrap();
}

#[test]
fn messages_of_bounded_channel_holds() {
    static X: Shared = Shared::new();
    let (sender, receiver) = sync_channel(2);
    let receiver = kept(receiver);
    sender.send(0).unwrap();
    let other = thread::spawn(move || {
        sender.send(1).unwrap();
        X.set(1);
        sender.send(2).unwrap();
    });
    for _ in 0..3 {
        receiver.recv().unwrap();
    }
    X.get();
    other.join().unwrap();
}

#[test]
fn later_message_of_bounded_channel_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = sync_channel(4);
    let receiver = kept(receiver);
    let other = thread::spawn(move || {
        sender.send(1).unwrap();
        X.set(1);
        sender.send(2).unwrap();
        sleep(5);
    });
    sleep(1);
    receiver.recv().unwrap();
    X.get();
    other.join().unwrap();
}

#[test]
fn message_sent_alone_violated() {
    static X: Shared = Shared::new();
    let (sender, receiver) = channel();
    let receiver = kept(receiver);
    sender.send(1).unwrap();
    let other = thread::spawn(move || {
        sleep(1);
        receiver.recv().unwrap();
        X.get();
    });
    X.set(1);
    sender.send(2).unwrap();
    other.join().unwrap();
}

#[test]
fn messages_sent_alone_holds() {
    static X: Shared = Shared::new();
    let (sender, receiver) = channel();
    let receiver = kept(receiver);
    sender.send(1).unwrap();
    let other = thread::spawn(move || {
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        X.get();
    });
    X.set(1);
    sender.send(2).unwrap();
    other.join().unwrap();
}

/// Nothing goes wrong unless the first message, which was sent before there was a second thread, is
/// received before the second one is sent.
#[test]
fn step_behind_message_sent_alone_violated() {
    static Y: AtomicU32 = AtomicU32::new(0);
    let (sender, receiver) = channel();
    let receiver = kept(receiver);
    sender.send(1).unwrap();
    let other = thread::spawn(move || {
        receiver.recv().unwrap();
        Y.store(1, Ordering::SeqCst);
    });
    let seen = Y.load(Ordering::SeqCst);
    sender.send(2).unwrap();
    assert_eq!(seen, 0);
    other.join().unwrap();
}

/// Execution graphs have no clock.
#[test]
fn relaxed_before_unpark_holds() {
    static X: AtomicU32 = AtomicU32::new(0);
    let parked = thread::spawn(|| {
        thread::park_timeout(Duration::from_secs(9));
        assert_eq!(X.load(Ordering::Relaxed), 1);
    });
    X.store(1, Ordering::Relaxed);
    parked.thread().unpark();
    parked.join().unwrap();
}

#[test]
fn for_ever_parked_violated() {
    thread::spawn(thread::park).join().unwrap();
}
