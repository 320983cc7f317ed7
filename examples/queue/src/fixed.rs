//! The same queue, closed under its lock: no thread is then between its last look and its wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

pub struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    changed: Condvar,
    capacity: usize,
    is_closed: AtomicBool,
}

impl<T> Queue<T> {
    pub fn new(capacity: usize) -> Self {
        Self {
            items: Mutex::default(),
            changed: Condvar::new(),
            capacity,
            is_closed: AtomicBool::new(false),
        }
    }

    pub fn push(&self, item: T) {
        let mut items = self.items.lock().unwrap();
        while items.len() == self.capacity {
            items = self.changed.wait(items).unwrap();
        }
        items.push_back(item);
        self.changed.notify_all();
    }

    /// The oldest item, or `None` once the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() && !self.is_closed.load(Ordering::SeqCst) {
            items = self.changed.wait(items).unwrap();
        }
        self.changed.notify_all();
        items.pop_front()
    }

    /// Ends the queue: no more items will be pushed.
    pub fn close(&self) {
        let _items = self.items.lock().unwrap();
        self.is_closed.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}
