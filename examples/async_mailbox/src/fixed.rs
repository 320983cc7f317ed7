//! The same mailbox, whose receiver says whom to wake before it looks for a message.

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
        *self.receiver.lock().unwrap() = Some(context.waker().clone());
        match self.messages.lock().unwrap().pop_front() {
            Some(message) => Poll::Ready(message),
            None => Poll::Pending,
        }
    }
}
