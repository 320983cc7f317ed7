//! Memory that the standard library copies and compares for the program, in functions of its own
//! that come compiled.

use std::cell::UnsafeCell;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// A text that promises to be accessed by one thread at a time.
struct Shared(UnsafeCell<String>);

// SAFETY: none; whether the promise is kept is what these tests are about.
unsafe impl Sync for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared(UnsafeCell::new("a text of some length".to_owned())))
}

impl Shared {
    fn copy(&self) -> String {
        // SAFETY: as promised.
        unsafe { (*self.0.get()).clone() }
    }

    fn change(&self) {
        // SAFETY: as promised, and a letter is replaced by another one.
        unsafe { (&mut *self.0.get()).as_bytes_mut()[3] = b'T' };
    }
}

/// The copy is made by compiled code.
#[test]
fn copy_beside_a_change_violated() {
    let text = shared();
    let other = text.clone();
    let thread = thread::spawn(move || other.change());
    assert_eq!(text.copy().len(), 21);
    thread.join().unwrap();
}

#[test]
fn copy_after_a_change_holds() {
    let text = shared();
    let other = text.clone();
    thread::spawn(move || other.change()).join().unwrap();
    assert_eq!(text.copy(), "a tTxt of some length");
}

#[test]
fn copies_beside_each_other_holds() {
    let text = shared();
    let other = text.clone();
    let thread = thread::spawn(move || other.copy());
    assert_eq!(text.copy(), thread.join().unwrap());
}

/// What is printed goes through buffers that all threads share, under locks of the library.
#[test]
fn output_of_two_threads_holds() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let thread = thread::spawn(move || {
        println!("one of {}", *other.lock().unwrap());
        *other.lock().unwrap() += 1;
    });
    println!("another one of {}", *count.lock().unwrap());
    eprintln!("and one more");
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(format!("{}", *count.lock().unwrap()), "2");
}

/// A thread that is never joined, whose handle is dropped before it ends or after.
#[test]
fn dropped_handle_holds() {
    let (mutex, condition) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
    let (other, notified) = (mutex.clone(), condition.clone());
    let lock = mutex.lock().unwrap();
    let _thread = thread::spawn(move || {
        let _lock = other.lock().unwrap();
        notified.notify_one();
    });
    let _lock = condition.wait(lock).unwrap();
}
