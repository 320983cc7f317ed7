//! What the standard library locks for input, output and panics: programs that have such a lock
//! over code of their own, in which the order counts.

use std::fmt::{self, Display, Formatter};
use std::io::{stderr, stdin, stdout};
use std::panic::{catch_unwind, set_hook};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::spawn;

/// Two threads do something under a lock.
fn two(under_lock: fn(u32)) {
    let threads = [spawn(move || under_lock(1)), spawn(move || under_lock(2))];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Either thread may be the last.
macro_rules! lock {
    ($name:ident, $lock:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn kept_apart_holds() {
                static COUNT: AtomicU32 = AtomicU32::new(0);
                two(|_| {
                    let _lock = $lock;
                    COUNT.store(COUNT.load(SeqCst) + 1, SeqCst);
                });
                assert_eq!(COUNT.load(SeqCst), 2);
            }

            #[test]
            fn first_is_last_violated() {
                static LAST: AtomicU32 = AtomicU32::new(0);
                two(|me| {
                    let _lock = $lock;
                    LAST.store(me, SeqCst);
                });
                assert_eq!(LAST.load(SeqCst), 2);
            }

            #[test]
            fn second_is_last_violated() {
                static LAST: AtomicU32 = AtomicU32::new(0);
                two(|me| {
                    let _lock = $lock;
                    LAST.store(me, SeqCst);
                });
                assert_eq!(LAST.load(SeqCst), 1);
            }

            /// The lock orders the two.
            #[test]
            fn plain_violated() {
                static mut LAST: u32 = 0;
                two(|me| {
                    let _lock = $lock;
                    unsafe { LAST = me }
                });
                assert_eq!(unsafe { LAST }, 2);
            }

            #[test]
            fn opposite_orders_violated() {
                static OTHER: Mutex<()> = Mutex::new(());
                let thread = spawn(|| {
                    let _lock = $lock;
                    drop(OTHER.lock());
                });
                let other = OTHER.lock().unwrap();
                drop($lock);
                drop(other);
                thread.join().unwrap();
            }

            /// While the library itself prints.
            #[test]
            fn beside_output_holds() {
                static COUNT: AtomicU32 = AtomicU32::new(0);
                let thread = spawn(|| {
                    let _lock = $lock;
                    COUNT.store(COUNT.load(SeqCst) + 1, SeqCst);
                });
                println!("a line");
                eprintln!("a line");
                thread.join().unwrap();
                assert_eq!(COUNT.load(SeqCst), 1);
            }
        }
    };
}

lock!(output, stdout().lock());
lock!(errors, stderr().lock());
lock!(input, stdin().lock());

/// Shows as text only under a lock.
struct Locked<'a>(&'a Mutex<()>);

impl Display for Locked<'_> {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let _lock = self.0.lock();
        formatter.write_str("text")
    }
}

/// One thread prints what takes the lock, the other one prints under it.
#[test]
fn printed_under_a_lock_violated() {
    static LOCK: Mutex<()> = Mutex::new(());
    let thread = spawn(|| println!("{}", Locked(&LOCK)));
    let lock = LOCK.lock().unwrap();
    println!("a line");
    drop(lock);
    thread.join().unwrap();
}

/// The thread that has the lock waits for one that prints.
#[test]
fn printed_by_a_third_violated() {
    static LOCK: Mutex<()> = Mutex::new(());
    let first = spawn(|| println!("{}", Locked(&LOCK)));
    let lock = LOCK.lock().unwrap();
    spawn(|| println!("a line")).join().unwrap();
    drop(lock);
    first.join().unwrap();
}

#[test]
fn printed_by_two_holds() {
    static LOCK: Mutex<()> = Mutex::new(());
    let thread = spawn(|| println!("{}", Locked(&LOCK)));
    println!("{}", Locked(&LOCK));
    thread.join().unwrap();
}

static HOOK: AtomicU32 = AtomicU32::new(0);

/// Two threads set the hook, and a panic calls the last one.
fn hooks() {
    let thread = spawn(|| set_hook(Box::new(|_| HOOK.store(1, SeqCst))));
    set_hook(Box::new(|_| HOOK.store(2, SeqCst)));
    thread.join().unwrap();
    assert!(catch_unwind(|| panic!()).is_err());
}

#[test]
fn any_hook_holds() {
    hooks();
    assert!([1, 2].contains(&HOOK.load(SeqCst)));
}

/// What is not asserted, for the hook would be called again.
fn expect_hook(expected: u32) {
    if HOOK.load(SeqCst) != expected {
        std::process::exit(1);
    }
}

#[test]
fn first_hook_violated() {
    hooks();
    expect_hook(1);
}

#[test]
fn second_hook_violated() {
    hooks();
    expect_hook(2);
}

/// Panics beside the change find either.
#[test]
fn panic_beside_hook_violated() {
    set_hook(Box::new(|_| ()));
    let thread = spawn(|| set_hook(Box::new(|_| HOOK.store(1, SeqCst))));
    assert!(catch_unwind(|| panic!()).is_err());
    thread.join().unwrap();
    expect_hook(0);
}
