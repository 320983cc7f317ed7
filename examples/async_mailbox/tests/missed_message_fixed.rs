use async_mailbox::executor::block_on;
use async_mailbox::fixed::Mailbox;
use std::sync::Arc;
use std::thread;

#[test]
fn the_message_is_received() {
    let mailbox = Arc::new(Mailbox::default());
    let sender = thread::spawn({
        let mailbox = Arc::clone(&mailbox);
        move || mailbox.send("hello")
    });
    assert_eq!(block_on(mailbox.recv()), "hello");
    sender.join().unwrap();
}
