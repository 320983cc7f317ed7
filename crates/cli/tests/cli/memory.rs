//! `--memory`: what the language allows beyond interleavings, for C as a model and natively.

use crate::support::{Said, run, with_file};
use std::path::Path;

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
        check(SPIN_LOCK, "relaxed", engine, "rc11").ends_with(1).prints(&["Data race"]);
        check(SPIN_LOCK, "release", engine, "rc11").ends_with(0);
    }
}

/// Nothing is said: what the program asks for decides.
#[test]
fn weak_atomics_are_explored_by_default() {
    for engine in ENGINES {
        check(MESSAGE, "release", engine, "auto")
            .ends_with(0)
            .prints(&["in every execution that C11 allows", "(RC11: no load"]);
        check(MESSAGE, "relaxed", engine, "auto").ends_with(1).prints(&[
            "does not happen under sequential consistency",
            "Fix: make the store at a.c:7 release",
            "--memory rc11",
        ]);
        // Neither of the two is enough by itself.
        let both = MESSAGE.replace("memory_order_acquire", "memory_order_relaxed");
        check(&both, "relaxed", engine, "auto")
            .ends_with(1)
            .prints(&["Fix: make the store at a.c:7 release and the load at a.c:13"]);
        // A data race is found in an interleaving, and a stronger order forbids it.
        check(SPIN_LOCK, "relaxed", engine, "auto")
            .ends_with(1)
            .prints(&["Data race", "Fix: make the store at a.c:11 release"]);
        check(SPIN_LOCK, "release", engine, "auto").ends_with(0);
        let strong = MESSAGE.replace("memory_order_relaxed", "memory_order_seq_cst");
        let strong = strong.replace("memory_order_acquire", "memory_order_seq_cst");
        check(&strong, "seq_cst", engine, "auto").ends_with(0).prints(&["in every interleaving"]);
    }
}

/// What the model does not know is explored in interleavings, and the verdict says so.
#[test]
fn what_cannot_be_decided_is_assumed() {
    let text = MESSAGE.replace("int main(void) {", TIMED);
    check(&text, "release", "native", "auto").ends_with(0).prints(&[
        "assuming sequentially consistent memory",
        "`--memory rc11`, what C11 allows, was not decided",
    ]);
    let said = check(&text, "release", "native", "rc11").ends_with(2);
    assert!(said.stderr.contains("weak memory model"), "{}", said.stderr);
}

/// A wait with a time limit, which no weak memory model has so far.
const TIMED: &str = "\
#include <time.h>
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
void *waiter(void *unused) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &limit);
    pthread_mutex_unlock(&mutex);
    return 0;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, waiter, 0);
    pthread_join(other, 0);
";

/// A word that a thread sleeps on; `ORDER` is that of the store which says that all is there.
const FUTEX: &str = "\
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
atomic_int word;
int data;
void *waiter(void *unused) {
    while (!atomic_load_explicit(&word, memory_order_acquire))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, (void *)0, (void *)0, 0);
    assert(data == 1);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    data = 1;
    atomic_store_explicit(&word, 1, ORDER);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn threads_that_sleep_on_a_word() {
    check(FUTEX, "release", "native", "rc11").ends_with(0).prints(&["(RC11: no load", "`word`"]);
    check(FUTEX, "relaxed", "native", "rc11").ends_with(1).prints(&["Data race on `data`"]);
    let wake = "    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);\n";
    let lost = FUTEX.replace(wake, "");
    check(&lost, "release", "native", "rc11").ends_with(1).prints(&["Violated Deadlock"]);
}

/// A lock that one thread takes in one way and two take in another, and a barrier behind which a
/// thread reads what others have written before it.
const LOCKS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t barrier;
atomic_int hint;
int data, late;
void *reader(void *unused) {
    pthread_rwlock_rdlock(&lock);
    int seen = atomic_load_explicit(&hint, memory_order_relaxed);
    assert(data >= 0 && seen >= 0);
    pthread_rwlock_unlock(&lock);
    pthread_barrier_wait(&barrier);
    assert(late == 1);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, reader, 0);
    pthread_rwlock_WRITING(&lock);
    data++;
    atomic_store_explicit(&hint, 1, memory_order_relaxed);
    pthread_rwlock_unlock(&lock);
    late = 1;
    MEETING;
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn locks_for_readers_and_barriers() {
    let with = |writing: &str, meeting: &str| {
        let text = LOCKS.replace("WRITING", writing).replace("MEETING", meeting);
        check(&text, "", "native", "rc11")
    };
    with("wrlock", "pthread_barrier_wait(&barrier)").ends_with(0).prints(&["(RC11: no load"]);
    with("rdlock", "pthread_barrier_wait(&barrier)").ends_with(1).prints(&["Data race on `data`"]);
    with("wrlock", "pthread_barrier_wait(&barrier); late++").ends_with(1).prints(&["Data race on"]);
}

fn orders(text: &str, order: &str, engine: &str, more: &[&str]) -> Said {
    let text = text.replace("ORDER", &format!("memory_order_{order}"));
    with_file("a.c", text, &[&["orders", "a.c", "--engine", engine], more].concat())
}

#[test]
fn orders_that_are_needed() {
    for engine in ENGINES {
        orders(MESSAGE, "release", engine, &[]).ends_with(0).prints(&[
            "release store: needed; if it is relaxed, a.c fails: a.c:14: assertion",
            "acquire load: needed; if it is relaxed",
            "4 atomic accesses: 0 could be weaker, 2 needed, 0 not decided",
        ]);
        orders(MESSAGE, "seq_cst", engine, &[]).ends_with(0).prints(&[
            "sequentially consistent store: could be release: no test fails; if it is relaxed, a.c",
        ]);
        let said = orders(MESSAGE, "seq_cst", engine, &["--diff"]).ends_with(0);
        assert!(
            said.stdout.contains("-    atomic_store_explicit(&y, 1, memory_order_seq_cst);\n+    ")
                && said.stdout.contains("+    atomic_store_explicit(&y, 1, memory_order_release);"),
            "{}",
            said.stdout
        );
        let said = orders(SPIN_LOCK, "release", engine, &["--json"]).ends_with(0);
        let answer: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is JSON");
        let verdicts: Vec<_> =
            answer["sites"].as_array().expect("there are sites").iter().collect();
        assert!(verdicts.iter().all(|site| site["verdict"] == "needed"), "{answer}");
        assert_eq!(verdicts.len(), 2, "{answer}");
    }
    // Nothing can be said of a program that is wrong as it is.
    let said = orders(MESSAGE, "relaxed", "vm", &[]).ends_with(2);
    assert!(said.stderr.contains("nothing holds under `--memory rc11`"), "{}", said.stderr);
}

#[test]
fn engines_that_cannot_say_so() {
    for engine in ["statespace", "bmc"] {
        let said = check(MESSAGE, "relaxed", engine, "rc11").ends_with(2);
        assert!(said.stderr.contains("--memory rc11"), "{}", said.stderr);
        assert!(said.stderr.contains("native") && said.stderr.contains("vm"), "{}", said.stderr);
    }
}

/// Known mistakes in small form, and their repaired twins, as their first lines say: `// expect
/// -DFLAG: violated race`.
#[test]
fn known_mistakes_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/weak");
    let files = std::fs::read_dir(&folder).expect("the corpus is there");
    let mut files: Vec<_> = files.map(|it| it.expect("it can be read").path()).collect();
    files.sort();
    assert!(files.len() >= 9, "where is the corpus?");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a program can be read");
        let name = file.file_name().expect("it is a file").to_string_lossy().into_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("// expect")) {
            let (flags, expected) = line.split_once(':').expect("flags and a verdict");
            for engine in ENGINES {
                let mut arguments = vec!["check", &name, "--engine", engine, "--json", "-"];
                arguments.extend(flags.split_whitespace());
                let said = run(&folder, &arguments);
                let answer: serde_json::Value =
                    serde_json::from_str(&said.stdout).expect("it is JSON");
                let verdict = answer["verdict"].as_str().expect("there is one");
                let kind = answer["violation"]["kind"].as_str().unwrap_or_default();
                let found = format!("{verdict} {kind}");
                assert_eq!(found.trim(), expected.trim(), "{name} {flags} {engine}");
                // What holds was proved for weak memory, or needs no such proof.
                let codes = answer["assumptions"].as_array().into_iter().flatten();
                let mut codes = codes.map(|it| it["code"].as_str().unwrap_or_default());
                assert!(!codes.any(|code| code == "sequential-consistency"), "{name} {engine}");
            }
        }
    }
}

/// The programs that are measured in the lab, in small sizes: the counts are those of GenMC 0.11.
#[test]
fn measured_programs_have_known_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/programs/weak");
    let counts = [
        ("buffers", 4, 16),
        ("fences", 4, 15),
        ("increments", 3, 36),
        ("writers", 4, 24),
        ("readers", 4, 16),
        ("fib", 2, 20),
        ("lastzero", 4, 28),
        ("swaps", 3, 66),
        ("mailboxes", 4, 16),
        ("tickets", 3, 6),
    ];
    for (name, size, n_graphs) in counts {
        let (file, size) = (format!("{name}.c"), format!("-DN={size}"));
        let arguments =
            ["check", &file, &size, "--engine", "native", "--memory", "rc11", "--json", "-"];
        let said = run(&folder, &arguments).ends_with(0);
        let answer: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is JSON");
        assert_eq!(answer["stats"]["executions"], n_graphs, "{name}");
    }
}
