//! Loops whose rounds differ in a byte on the stack: a thread that has looked twice goes on.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::spawn;

struct Queue {
    tail: AtomicU32,
    is_closed: AtomicBool,
}

#[derive(Debug, PartialEq)]
enum Received {
    Message,
    Closed,
    Nothing,
}

impl Queue {
    const fn new() -> Self {
        Self { tail: AtomicU32::new(0), is_closed: AtomicBool::new(false) }
    }

    /// Where it is closed, another look tells whether there was a message before.
    fn receive(&self) -> Received {
        let mut was_closed = false;
        loop {
            if self.tail.load(SeqCst) != 0 {
                return Received::Message;
            }
            if !self.is_closed.load(SeqCst) {
                return Received::Nothing;
            }
            if was_closed {
                return Received::Closed;
            }
            was_closed = true;
        }
    }
}

#[test]
fn closed_holds() {
    static QUEUE: Queue = Queue::new();
    let thread = spawn(|| QUEUE.is_closed.load(SeqCst));
    QUEUE.is_closed.store(true, SeqCst);
    assert_eq!(QUEUE.receive(), Received::Closed);
    thread.join().unwrap();
}

#[test]
fn closed_behind_a_message_holds() {
    static QUEUE: Queue = Queue::new();
    let thread = spawn(|| {
        QUEUE.tail.store(1, SeqCst);
        QUEUE.is_closed.store(true, SeqCst);
    });
    assert_ne!(QUEUE.receive(), Received::Closed);
    thread.join().unwrap();
}

#[test]
fn closed_before_a_message_violated() {
    static QUEUE: Queue = Queue::new();
    let thread = spawn(|| {
        QUEUE.is_closed.store(true, SeqCst);
        QUEUE.tail.store(1, SeqCst);
    });
    assert_ne!(QUEUE.receive(), Received::Closed);
    thread.join().unwrap();
}
