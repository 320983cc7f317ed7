use async_channel::Channel;
use async_channel::executor::block_on;
use std::sync::Arc;
use std::thread;

#[test]
fn the_message_is_received() {
    let channel = Arc::new(Channel::new());
    let sender = thread::spawn({
        let channel = Arc::clone(&channel);
        move || channel.send("hello")
    });
    assert_eq!(block_on(channel.recv()), "hello");
    sender.join().unwrap();
}
