//! `--engine bmc`, `induction`, `ic3`, `bdd` and `portfolio`: each kind of verdict of each, proofs, limits,
//! and what a circuit has not got.

mod support;

use support::{Said, run, with_file};
use tempfile::TempDir;

const ENGINES: [&str; 5] = ["bmc", "induction", "ic3", "bdd", "portfolio"];

/// What an engine says of a file `x.c`.
fn check(text: &str, engine: &str, more: &[&str]) -> Said {
    let arguments: Vec<&str> =
        ["check", "x.c", "--engine", engine].iter().chain(more).copied().collect();
    with_file("x.c", text, &arguments)
}

/// Two threads that count, under a lock or without.
const COUNTER: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int count;
static void *work(void *unused) {
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    int seen = count;
    count = seen + 1;
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(count == 2);
    return 0;
}
";

#[test]
fn every_engine_finds_a_violation_and_shows_how_to_replay_it() {
    for engine in ENGINES {
        let said = check(COUNTER, engine, &[]).ends_with(1);
        said.prints(&["count == 2", "mazurka replay", "mzk1:"]);
    }
}

#[test]
fn every_engine_says_what_holds_in_every_execution() {
    for engine in ENGINES {
        let said = check(COUNTER, engine, &["-DLOCKED"]).ends_with(0);
        assert!(!said.stdout.contains("of up to"), "{engine}:\n{}", said.stdout);
        said.prints(&["assertion failure", "deadlock or data", "in any execution"]);
    }
}

#[test]
fn a_depth_is_part_of_the_verdict() {
    let said = check(COUNTER, "bmc", &["--depth", "3"]).ends_with(0);
    said.prints(&["of up to 3 steps", "a larger `--depth` sees more"]);
}

#[test]
fn a_deadlock_and_a_race_are_found() {
    let deadlock = "#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void *one(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
#ifdef RACE
    shared++;
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
#ifdef RACE
    shared++;
#else
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
#endif
    pthread_join(thread, 0);
    return 0;
}
";
    check(deadlock, "bmc", &[]).ends_with(1).prints(&["deadlock"]);
    check(deadlock, "ic3", &["-DRACE"]).ends_with(1).prints(&["race", "shared"]);
}

#[test]
fn what_a_circuit_has_not_got_is_named_at_its_place() {
    let float = "int main(void) {\n    volatile double x = 1;\n    return x * 2 > 3;\n}\n";
    check(float, "bmc", &[]).refuses("x.c:3:");
    check(float, "bmc", &[]).refuses("floating-point numbers is nothing that a circuit has");
    check(float, "bmc", &[]).refuses("`--engine vm` takes it");
    let recursion = "static int f(int n) { return n ? f(n - 1) : 0; }
int main(void) { return f(3); }
";
    check(recursion, "ic3", &[]).refuses("`f`, which calls itself, without a bound on recursion");
    check(recursion, "bmc", &["--recursion", "4"]).ends_with(0);
}

#[test]
fn a_limit_stops_every_engine() {
    for engine in ENGINES {
        let said = check(COUNTER, engine, &["-DLOCKED", "--memory-limit", "1M"]).ends_with(3);
        said.prints(&["memory limit"]);
    }
}

#[test]
fn a_proof_is_written_with_its_formula() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), COUNTER).expect("there is room");
    let arguments = ["check", "x.c", "-DLOCKED", "--engine", "ic3", "--proof", "x.lrat"];
    let said = run(folder.path(), &arguments).ends_with(0);
    said.prints(&["x.lrat refutes x.lrat.cnf"]);
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    assert!(read("x.lrat.cnf").starts_with("p cnf "));
    // The last line that derives something derives the empty clause.
    let proof = read("x.lrat");
    let is_empty = |line: &str| line.split_whitespace().nth(1) == Some("0");
    assert!(proof.lines().any(is_empty), "{proof}");
    let said = run(folder.path(), &["circuit", "x.c", "--proof", "x.lrat"]);
    said.refuses("`--proof` goes with `mazurka check` alone");
}

/// Once steps are joined, the second thread has more stations than its program counter had bits for.
#[test]
fn a_program_counter_grows_when_steps_are_joined() {
    let text = "#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int x;
void *waits(void *arg) {
    pthread_mutex_lock(&m);
    while (x < 1) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}
void *counts_and_waits(void *arg) {
    pthread_mutex_lock(&n);
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    pthread_mutex_lock(&m);
    while (x < 1) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, waits, 0);
    pthread_create(&two, 0, counts_and_waits, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
}
";
    check(text, "bmc", &[]).ends_with(1).prints(&["Violated no-deadlock"]);
}
