//! `--memory`: what the language allows beyond interleavings, for C as a model and natively.

use crate::support::{Said, with_file};

const ENGINES: [&str; 2] = ["vm", "native"];

/// Message passing between two atomics; `ORDER` is that of the store which says that all is there.
const MESSAGE: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
void *writer(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, ORDER);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    if (atomic_load_explicit(&y, memory_order_acquire))
        assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);
    pthread_join(thread, 0);
    return 0;
}
";

/// A lock that threads spin for; `ORDER` is that of the store which gives it back.
const SPIN_LOCK: &str = "\
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
int data;
void *work(void *unused) {
    int expected = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &expected, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        expected = 0;
    data++;
    atomic_store_explicit(&lock, 0, ORDER);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

fn check(text: &str, order: &str, engine: &str, memory: &str) -> Said {
    let text = text.replace("ORDER", &format!("memory_order_{order}"));
    with_file("a.c", text, &["check", "a.c", "--engine", engine, "--memory", memory])
}

#[test]
fn a_relaxed_store_may_be_seen_first() {
    for engine in ENGINES {
        for memory in ["sc", "tso", "ra"] {
            check(MESSAGE, "relaxed", engine, memory).ends_with(0);
        }
        check(MESSAGE, "relaxed", engine, "rc11")
            .ends_with(1)
            .prints(&["(stale: 1 since step", "--memory rc11"]);
        check(MESSAGE, "release", engine, "rc11")
            .ends_with(0)
            .prints(&["in every execution that C11 allows", "(RC11: no load"]);
    }
}

#[test]
fn a_lock_that_is_given_back_without_release_is_none() {
    for engine in ENGINES {
        check(SPIN_LOCK, "relaxed", engine, "rc11").ends_with(1).prints(&["data race"]);
        check(SPIN_LOCK, "release", engine, "rc11").ends_with(0);
    }
}

#[test]
fn engines_that_cannot_say_so() {
    for engine in ["statespace", "bmc"] {
        let said = check(MESSAGE, "relaxed", engine, "rc11").ends_with(2);
        assert!(said.stderr.contains("--memory rc11"), "{}", said.stderr);
        assert!(said.stderr.contains("native") && said.stderr.contains("vm"), "{}", said.stderr);
    }
}
