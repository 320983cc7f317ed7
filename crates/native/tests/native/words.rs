//! Names and places as people read them.

#[path = "../../src/source.rs"]
mod subject;

use subject::{Origin, bound_name, origin, short_name};

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

#[test]
fn a_value_is_named_by_what_it_is_bound_to() {
    let text = "let counter = Arc::new(0);\nlet mut queue: Arc<Queue> =\n    Arc::new(Queue::new());\n\
                n: Arc::new(1),\nArc::new(2);\nlet _ = Arc::new(3);\nfoo(Arc::new(4));\n";
    let check = |line: usize, name: Option<&str>| {
        assert_eq!(bound_name(text, line).as_deref(), name, "line {line}");
    };
    check(1, Some("counter"));
    check(3, Some("queue"));
    check(4, Some("n"));
    check(5, None);
    check(6, None);
    check(7, None);
    check(0, None);
    check(99, None);
}
