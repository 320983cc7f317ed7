use queue::Queue;
use std::thread;

#[test]
fn everything_arrives() {
    let queue = Queue::new(1);
    let total = thread::scope(|scope| {
        let consumer = scope.spawn(|| {
            let mut total = 0;
            while let Some(item) = queue.pop() {
                total += item;
            }
            total
        });
        queue.push(1);
        queue.push(2);
        queue.close();
        consumer.join().unwrap()
    });
    assert_eq!(total, 3);
}
