use stack::fixed::Stack;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn no_slot_has_two_owners() {
    let free = Stack::<2>::full();
    let is_taken = [const { AtomicBool::new(false) }; 2];
    let take = || {
        let slot = free.pop()?;
        assert!(!is_taken[slot].swap(true, Ordering::Relaxed), "slot {slot} has two owners");
        Some(slot)
    };
    let give_back = |slot: usize| {
        is_taken[slot].store(false, Ordering::Relaxed);
        free.push(slot);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let first = take();
            take();
            if let Some(slot) = first {
                give_back(slot);
            }
        });
        take();
        take();
    });
}
