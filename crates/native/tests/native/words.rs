//! Names and places as people read them.

#[path = "../../src/source.rs"]
mod subject;

use subject::{Allocated, Origin, allocated, bound_name, origin, short_name, short_type};

#[test]
fn types_lose_their_modules() {
    let check = |name: &str, short: &str| assert_eq!(short_type(name), short);
    check("Counter", "Counter");
    check("std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>", "Mutex<Vec<u8>>");
    check("(core::sync::atomic::AtomicBool, alloc::string::String)", "(AtomicBool, String)");
}

#[test]
fn values_are_bound_to_names() {
    let check = |line: &str, name: Option<&str>| {
        assert_eq!(bound_name(&format!("first\n{line}\n"), 2).as_deref(), name, "{line}");
    };
    check("    let counter = Arc::new(Counter::default());", Some("counter"));
    check("let mut log: Arc<Mutex<u8>> = Arc::new(Mutex::new(1));", Some("log"));
    check("    inner: Arc::new(Inner::new()),", Some("inner"));
    check("    self.inner = Arc::new(Inner::new());", None);
    check("    let (a, b) = (Arc::new(1), Arc::new(2));", None);
    check("    let _ = Box::new(1);", None);
    check("    Arc::new(Inner::new())", None);
    assert_eq!(bound_name("let x =\n    Arc::new(1);\n", 2).as_deref(), Some("x"));
    assert_eq!(bound_name("one line", 7), None);
    assert_eq!(bound_name("one line", 0), None);
}

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
    assert_eq!(origin("/rust/deps/hashbrown-0.16.1/src/raw/mod.rs"), Origin::System);
}

#[test]
fn the_struct_that_an_allocation_is_for() {
    let named = |line: &str| match allocated(&format!("first\n{line}\n"), 2).into_iter().next() {
        Some(Allocated::Type(name)) => format!("type {name}"),
        Some(Allocated::Pointee(name)) => format!("pointee of {name}"),
        None => "nothing".to_owned(),
    };
    for (line, found) in [
        ("struct node *n = malloc(sizeof(struct node));", "type node"),
        ("node_t *n = (node_t *)malloc(sizeof (node_t));", "type node_t"),
        ("struct node *n = malloc(sizeof *n);", "pointee of n"),
        ("n = calloc(1, sizeof(*n));", "pointee of n"),
        ("list->first = malloc(sizeof(struct node));", "type node"),
        ("auto *n = new Node{1, nullptr};", "type Node"),
        ("auto *n = new list::Node(1);", "type Node"),
        ("head = make(24);", "pointee of head"),
        ("list->first = make(24);", "nothing"),
        ("return malloc(24);", "nothing"),
        ("", "nothing"),
    ] {
        assert_eq!(named(line), found, "{line}");
    }
    let next = allocated("n =\n    malloc(24);\n", 2);
    assert_eq!(next, [Allocated::Pointee("n".to_owned())]);
    assert_eq!(allocated("one line", 0), []);
    assert_eq!(allocated("one line", 7), []);
}
