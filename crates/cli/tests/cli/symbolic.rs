//! `--engine bmc`, `induction`, `ic3`, `bdd` and `portfolio`: each kind of verdict of each, proofs,
//! limits, and what a circuit has not got.

use crate::support::{Said, run, with_file};
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
    check(deadlock, "bmc", &[]).ends_with(1).prints(&["Deadlock: 2 threads"]);
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
fn no_engine_outlasts_its_time() {
    // Products of numbers are no function that a diagram can hold.
    let text = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern unsigned int __VERIFIER_nondet_uint(void);
static atomic_uint s;
static void *work(void *p) {
    for (;;) {
        unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint();
        s = s * x + x * y;
    }
    return p;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    for (;;) {
        unsigned z = s;
        s = z * z + 7;
        assert(s != 12345677 || z != 991);
    }
}
";
    let start = std::time::Instant::now();
    check(text, "bdd", &["--time-limit", "1"]).ends_with(3).prints(&["time limit"]);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "it was to stop after one");
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

/// Once steps are joined, the second thread has more stations than its program counter had bits
/// for.
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
    check(text, "bmc", &[]).ends_with(1).prints(&["Violated Deadlock"]);
}

/// Two threads that take turns, for ever; and one that waits for a lock that others take again and
/// again.
const TURNS: &str = "#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int got;
static atomic_int turn;
static void *work(void *unused) {
    int n = 0;
    for (;;) {
        while (turn != 1);
        n = 1 - n;
        turn = 0;
    }
    return unused;
}
static void *wait(void *unused) {
    pthread_mutex_lock(&lock);
    got = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
#ifdef LOCKS
    pthread_create(&thread, 0, wait, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
#else
    pthread_create(&thread, 0, work, 0);
    for (;;)
        if (turn == 0) turn = 1;
#endif
}
";

#[test]
fn every_engine_decides_what_never_ends() {
    for engine in ENGINES {
        let ltl = ["--ltl", "[] <> (turn == 1)"];
        check(TURNS, engine, &ltl).ends_with(1).prints(&[
            "ltl `[] <> (turn == 1)` fails: this goes on for ever",
            "no fairness is assumed",
            "could always move there and never does",
            "it needs fairness: it holds with `--fairness weak`",
            "back to step",
        ]);
        let depth = match engine {
            "bmc" => "--depth=8",
            // It would go through all paths without a loop.
            "induction" => continue,
            _ => "--recursion=0",
        };
        let said = check(TURNS, engine, &[&ltl[..], &["--fairness", "weak", depth]].concat());
        said.ends_with(0).prints(&[
            "no assertion failure, crash",
            "violation of ltl `[] <> (turn == 1)` in any execution",
            "weakly",
            "fair to every process",
        ]);
    }
}

#[test]
fn fairness_is_that_of_the_search_of_states() {
    let ltl = ["-DLOCKS", "--ltl", "<> (got == 1)"];
    for engine in ["statespace", "ic3"] {
        check(TURNS, engine, &[&ltl[..], &["--fairness", "weak"]].concat())
            .ends_with(1)
            .prints(&["could move there again and again and never does"]);
        check(TURNS, engine, &[&ltl[..], &["--fairness", "strong"]].concat())
            .ends_with(0)
            .prints(&["strongly", "fair to every process"]);
    }
}

#[test]
fn a_loop_of_a_circuit_is_replayed_by_the_machine() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), TURNS).expect("there is room");
    // The last one is about an execution that stays where it is.
    let ended = "int x; int main(void) { x = 1; return 0; }\n";
    std::fs::write(folder.path().join("y.c"), ended).expect("there is room");
    for (file, formula, how) in [
        ("x.c", "<> [] (turn == 0)", "this goes on for ever"),
        ("x.c", "[] (work:n == 0)", "however it goes on from here"),
        ("x.c", "[] <> (work[1]:n == 1)", "for ever"),
        ("y.c", "[] <> (x == 0)", "it stops there for ever"),
    ] {
        let said = run(folder.path(), &["check", file, "--engine", "bmc", "--ltl", formula]);
        let said = said.ends_with(1).prints(&[how]);
        let at = said.stdout.find("mazurka replay").expect("it can be replayed");
        let words = shlex::split(said.stdout[at..].lines().next().expect("there is a line"));
        let words = words.expect("it is what a shell reads");
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let how = if how.ends_with("for ever") { "for ever" } else { how };
        run(folder.path(), &words).ends_with(1).prints(&["fails", how]);
    }
}

#[test]
fn formulae_that_a_circuit_does_not_take_are_refused() {
    let check = |more: &[&str]| check(TURNS, "ic3", more);
    check(&["--ltl", "[] (turn < 2)", "--cycles", "nested"]).refuses("`--engine statespace`");
    check(&["--fairness", "weak"]).refuses("`--ltl FORMULA` is one");
    check(&["--ltl", "[] (gone == 1)"]).refuses("there is no global variable `gone`");
}

#[test]
fn a_step_is_what_it_is_to_the_search_of_states() {
    let text = "int x, y; int main(void) { x = 1; y = 1; return 0; }\n";
    // The thread begins, then come two writes, and nothing changes any more.
    let formulae = [
        ("X X (x == 1)", 0),
        ("X (x == 0) && X X (y == 0) && X X X [] (y == 1)", 0),
        ("X (x == 1)", 1),
        ("X X (y == 1)", 1),
        ("X X X X X (y == 0)", 1),
    ];
    for (formula, status) in formulae {
        for engine in ["statespace", "induction", "ic3", "bdd", "portfolio"] {
            check(text, engine, &["--ltl", formula]).ends_with(status);
        }
    }
    let said = check(text, "bmc", &["--ltl", "X (x == 1)"]).ends_with(1);
    said.prints(&["ltl `X (x == 1)` fails: however it goes on from here"]);
    // Pieces of a choice would be steps.
    let wide = "unsigned long __VERIFIER_nondet_ulong(void); unsigned long x;
int main(void) { x = __VERIFIER_nondet_ulong(); return 0; }\n";
    check(wide, "ic3", &["--ltl", "X X (x == 0)"]).refuses("`--nondet LOW..HIGH`");
    check(wide, "ic3", &["--ltl", "X X (x == 0)", "--nondet", "0..0"]).ends_with(0);
}

#[test]
fn what_is_asked_of_traces_rules_out_no_execution_of_threads() {
    let ltl = ["--ltl", "[] <> (turn == 1)", "--fairness", "trace"];
    for engine in ["statespace", "ic3"] {
        check(TURNS, engine, &ltl).ends_with(1).prints(&[
            "what goes on for ever leaves no step out that nothing depends on",
            "it needs fairness: it holds with `--fairness weak`",
        ]);
    }
    let holds = check(TURNS, "ic3", &["--ltl", "[] (turn < 2)", "--fairness", "trace"]);
    holds.ends_with(0).prints(&["no step out that nothing depends on"]);
}

/// Waits for `flag`, which another thread sets or forgets to set.
const WAITS: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *work(void *unused) {
#ifndef FORGETS
    flag = 1;
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!flag) {}
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn executions_without_end_are_found_or_there_are_none() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), WAITS).expect("there is room");
    for engine in ["ic3", "bdd", "portfolio"] {
        let said = check(WAITS, engine, &["--property", "livelock,race"]).ends_with(0);
        let said = said.prints(&["livelock", "strongly fair"]);
        assert!(!said.stdout.contains("spins for ever"), "{}", said.stdout);
        check(WAITS, engine, &["--property", "race"]).prints(&["no thread spins for ever"]);
    }
    // It looks ever further, for this and for everything else.
    check(WAITS, "bmc", &["--property", "livelock", "--time-limit", "2s"])
        .ends_with(3)
        .prints(&["2 s"]);
    check(WAITS, "bmc", &["--property", "livelock", "--depth", "6"])
        .ends_with(0)
        .prints(&["of up to 6 steps"]);
    for engine in ENGINES {
        let asked = ["check", "x.c", "-DFORGETS", "--engine", engine, "--property", "livelock"];
        let said = run(folder.path(), &asked).ends_with(1);
        let said =
            said.prints(&["livelock", "main goes round for ever, and no other thread can move"]);
        let at = said.stdout.find("mazurka replay").expect("it can be replayed");
        let words = shlex::split(said.stdout[at..].lines().next().expect("there is a line"));
        let words = words.expect("it is what a shell reads");
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        run(folder.path(), &words).ends_with(1).prints(&["livelock: this goes on for ever"]);
    }
}

#[test]
fn whoever_goes_on_when_the_program_has_exited_is_no_livelock() {
    let text = "#include <pthread.h>\n#include <stdatomic.h>
static atomic_int x;
static void *work(void *unused) { for (;;) x = 0; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return 0;
}
";
    for engine in ["vm", "ic3", "bdd"] {
        check(text, engine, &["--property", "livelock"]).ends_with(0);
    }
}

#[test]
fn what_goes_wrong_beside_a_temporal_property_is_found() {
    let text = "#include <assert.h>\n#include <pthread.h>
static int n;
static void *work(void *unused) { n++; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#ifdef RACE
    n++;
#endif
    pthread_join(thread, 0);
    assert(n == 0);
    return 0;
}
";
    let ltl = ["--ltl", "[] (n >= 0)"];
    check(text, "bmc", &ltl).ends_with(1).prints(&["n == 0", "mazurka replay"]);
    check(text, "bmc", &[&ltl[..], &["-DRACE"]].concat()).ends_with(1).prints(&["access n"]);
    // A loop that no thread can end is wrong, too.
    let endless = "int x; int main(void) { x = 1; for (;;); }\n";
    for engine in ["statespace", "bmc", "ic3"] {
        check(endless, engine, &["--ltl", "<> (x == 1)"])
            .ends_with(1)
            .prints(&["a loop goes round for ever"]);
    }
}

#[test]
fn a_circuit_with_a_temporal_property_is_written() {
    let circuit = |format: &str| {
        let more = ["circuit", "x.c", "--ltl", "[] <> (turn == 1)", "--fairness", "weak"];
        with_file("x.c", TURNS, &[&more[..], &["--format", format]].concat()).ends_with(0)
    };
    let header = circuit("aag").stdout;
    let header: Vec<&str> = header.lines().next().expect("it has one").split(' ').collect();
    // What is behind the latches, the outputs and the gates: bad states, constraints and justice.
    assert_eq!(header[8], "1", "{header:?}");
    circuit("btor2").prints(&["justice 3 "]);
}

#[test]
fn a_number_of_64_bits_is_found_and_replayed() {
    let text = "#include <assert.h>
extern unsigned long __VERIFIER_nondet_ulong(void);
extern int __VERIFIER_nondet_int(void);
int main(void) {
    unsigned long a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong();
    int c = __VERIFIER_nondet_int();
    assert(!(a == 0x123456789abcdef0 && b == ~0ul && c == -7));
    return 0;
}
";
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), text).expect("there is room");
    let said = run(folder.path(), &["check", "x.c", "--engine", "bmc"]).ends_with(1);
    let at = said.stdout.find("mazurka replay").expect("it can be replayed");
    let words = shlex::split(said.stdout[at..].lines().next().expect("there is a line"));
    let words = words.expect("it is what a shell reads");
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    run(folder.path(), &words).ends_with(1).prints(&["c == -7"]);
}
