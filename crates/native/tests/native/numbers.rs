//! Many threads: numbers of those that were joined are used again, and more than a thousand may
//! live.

use crate::program::{Answer, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

/// The program, after so many threads were joined that the numbers of all that it starts, and of
/// those that these start, were used before.
pub(crate) fn used_before(source: &str) -> String {
    const BEFORE: &str = "static void *nothing(void *unused) { return unused; }
        static void use_numbers(void) {
            pthread_t all[100];
            for (int i = 0; i < 100; i++) pthread_create(all + i, 0, nothing, 0);
            for (int i = 0; i < 100; i++) pthread_join(all[i], 0);
        }
        int main(void) {
            use_numbers();
        ";
    assert!(source.contains("int main(void) {\n"), "{source}");
    source.replace("int main(void) {\n", BEFORE)
}

/// Explores a program that begins with these lines.
fn explore(body: &str, flags: &[&str]) -> Answer {
    let source = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <time.h>\n{body}"
    );
    let folder = tempfile::TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("many.c"), source).expect("there is room");
    Program::build_in(folder.path(), GCC, "many", flags).explore(&json!({}))
}

/// The program is violated: of this kind, and these words are in the message.
#[track_caller]
fn is_violated(answer: &Answer, kind: &str, words: &[&str]) {
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("not violated: {} {:?}", answer.message, answer.error);
    };
    let message = &found.violation.message;
    assert_eq!(found.violation.kind.name(), kind, "{message}");
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}

/// One after the other, with plain data that only the joins order.
#[test]
fn threads_one_after_the_other() {
    let body = "int n;
        void *f(void *x) { n++; return x; }
        int main(void) {
            for (int i = 0; i < 2000; i++) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }
            assert(n == 2000);
            return 0;
        }";
    explore(body, &["-O1"]).holds(1);
}

/// Each of them starts others, one after the other.
#[test]
fn trees_of_threads_one_after_the_other() {
    let body = "atomic_int n;
        void *leaf(void *x) { n++; return x; }
        void *branch(void *x) {
            for (int i = 0; i < 30; i++) { pthread_t t; pthread_create(&t, 0, leaf, 0); pthread_join(t, 0); }
            return x;
        }
        int main(void) {
            for (int i = 0; i < 100; i++) { pthread_t t; pthread_create(&t, 0, branch, 0); pthread_join(t, 0); }
            assert(n == 3000);
            return 0;
        }";
    explore(body, &["-O1"]).holds(1);
}

/// Two threads whose numbers were used before race as others do, and have the names of their
/// births.
#[test]
fn races_of_threads_whose_numbers_were_used_before() {
    let body = "int n;
        void *f(void *x) { n++; return x; }
        int main(void) {
            pthread_t t, u;
            for (int i = 0; i < 40; i++) { pthread_create(&t, 0, f, 0); pthread_join(t, 0); }
            pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
            pthread_join(t, 0); pthread_join(u, 0);
            return 0;
        }";
    is_violated(&explore(body, &["-O1"]), "race", &["`n`", "main.41", "main.42"]);
}

/// A handle of a thread that was joined a little before is known to be none.
#[test]
fn joining_twice_is_found_among_many() {
    let body = "void *f(void *x) { return x; }
        int main(void) {
            pthread_t t, old;
            for (int i = 0; i < 40; i++) { pthread_create(&t, 0, f, 0); pthread_join(t, 0); if (i == 30) old = t; }
            pthread_create(&t, 0, f, 0);
            pthread_join(old, 0);
            return 0;
        }";
    let answer = explore(body, &["-O1", "-w"]);
    is_violated(&answer, "assertion", &["is joined after it was joined"]);
}

/// As many as there may be, beside `main`; the last two have a bug.
#[test]
fn more_than_a_thousand_threads_live() {
    let body = "enum { N = 1023 };
        atomic_int x; int last;
        void *f(void *a) {
            if ((long)a == N - 1) x = 1; else if ((long)a == N - 2) last = x;
            return 0;
        }
        int main(void) {
            static pthread_t t[N];
            for (long i = 0; i < N; i++) pthread_create(t + i, 0, f, (void *)i);
            for (int i = 0; i < N; i++) pthread_join(t[i], 0);
            assert(last == 0 || FAILS == 0);
            return 0;
        }";
    explore(body, &["-O1", "-DFAILS=0"]).holds(2);
    is_violated(&explore(body, &["-O1", "-DFAILS=1"]), "assertion", &["last == 0"]);
}

/// One more is refused.
#[test]
fn too_many_threads_are_refused() {
    let body = "void *f(void *a) { return a; }
        int main(void) {
            pthread_t t;
            for (long i = 0; i < 1100; i++) pthread_create(&t, 0, f, (void *)i);
            return 0;
        }";
    let answer = explore(body, &["-O1"]);
    let error = answer.error.unwrap_or_default();
    assert!(error.contains("at most 1024 threads that were not joined"), "{error}");
}

/// A thread that learns of what another did sees no earlier time.
#[test]
fn time_does_not_go_back_between_threads_that_synchronise() {
    let body =
        "struct timespec before; atomic_int is_told; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static int later(struct timespec a, struct timespec b) {
            return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec >= b.tv_nsec);
        }
        void *teller(void *x) {
            for (int i = 0; i < 5; i++) clock_gettime(CLOCK_MONOTONIC, &before);
            LOCK; is_told = 1; UNLOCK;
            return x;
        }
        int main(void) {
            pthread_t t; struct timespec now;
            pthread_create(&t, 0, teller, 0);
            LOCK; int knows = is_told; UNLOCK;
            clock_gettime(CLOCK_MONOTONIC, &now);
            assert(!knows || later(now, before));
            pthread_join(t, 0);
            clock_gettime(CLOCK_MONOTONIC, &now);
            assert(later(now, before));
            return 0;
        }";
    explore(body, &["-O1", "-DLOCK=", "-DUNLOCK="]).holds(2);
    explore(body, &["-O1", "-DLOCK=pthread_mutex_lock(&m)", "-DUNLOCK=pthread_mutex_unlock(&m)"])
        .holds(2);
}
