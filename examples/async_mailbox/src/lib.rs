//! An asynchronous mailbox: `recv` waits for the next message without blocking its thread.

pub mod executor;
pub mod fixed;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

pub struct Mailbox<T> {
    messages: Mutex<VecDeque<T>>,
    receiver: Mutex<Option<Waker>>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self { messages: Mutex::default(), receiver: Mutex::default() }
    }
}

impl<T> Mailbox<T> {
    pub fn send(&self, message: T) {
        self.messages.lock().unwrap().push_back(message);
        if let Some(receiver) = self.receiver.lock().unwrap().take() {
            receiver.wake();
        }
    }

    pub async fn recv(&self) -> T {
        poll_fn(|context| self.poll_recv(context)).await
    }

    fn poll_recv(&self, context: &mut Context<'_>) -> Poll<T> {
        if let Some(message) = self.messages.lock().unwrap().pop_front() {
            return Poll::Ready(message);
        }
        *self.receiver.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    }
}
