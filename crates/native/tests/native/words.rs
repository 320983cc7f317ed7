//! Names and places as people read them.

#[path = "../../src/source.rs"]
mod subject;

use subject::{Origin, origin, short_name};

#[test]
fn names_are_short() {
    let check = |name: &str, short: &str| assert_eq!(short_name(name).as_deref(), Some(short));
    check("<std::sync::poison::mutex::Mutex<i32>>::lock", "Mutex::lock");
    check("std::sync::poison::mutex::Mutex<T>::lock", "Mutex::lock");
    check("<alloc::sync::Arc<u8> as core::ops::drop::Drop>::drop", "Arc::drop");
    check("std::thread::spawn::<std::f::{closure#0}, ()>", "thread::spawn");
    check("<Runtime>::block_on::<fn(u8) -> Vec<u8>>", "Runtime::block_on");
    check("std::thread::scope::{closure#1}", "thread::scope");
    check("std::mutex::lock()", "mutex::lock");
    check("main", "main");
    assert_eq!(short_name("<unbalanced"), None);
}

#[test]
fn the_own_source_is_told_from_what_it_uses() {
    assert_eq!(origin("/home/me/queue/src/lib.rs"), Origin::Own);
    assert_eq!(
        origin("/home/me/.cargo/registry/src/index-1/tokio-1.0.0/src/lib.rs"),
        Origin::Dependency
    );
    assert_eq!(origin("/rustc/0123/library/std/src/thread/mod.rs"), Origin::System);
    assert_eq!(origin("/rustc/0123/library/core/src/sync/atomic.rs"), Origin::Core);
    assert_eq!(origin("/usr/include/c++/12/bits/std_mutex.h"), Origin::System);
}
