//! Data races of generated C programs: what ThreadSanitizer sees in many runs, Mazurka finds.
//!
//! ThreadSanitizer (gcc's own runtime) finds races by the same happens-before, but only in the runs
//! that the scheduler gives, and it forgets accesses. So the comparison has one side: where Mazurka
//! says that there is no race, ThreadSanitizer must see none. Its edges are those of C11 and more
//! (a relaxed store does not end a release sequence); fences it does not know at all, so there are
//! none here.
//!
//! All programs are functions of one file, and the number of one is an argument: this file is
//! compiled twice.

use crate::support::{Random, run};
use mazurka_effort::seeds;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The programs that are made.
const SEEDS: Range<u64> = 0..40;
/// How often ThreadSanitizer runs each.
const N_ROUNDS: u64 = 300;
const N_THREADS: usize = 3;

// Strong ones more often, so that about half of the programs have no race.
const ORDERS: [&str; 8] =
    ["relaxed", "acquire", "release", "acq_rel", "acq_rel", "acq_rel", "seq_cst", "seq_cst"];
const OF_LOADS: [&str; 6] = ["relaxed", "acquire", "acquire", "acquire", "seq_cst", "seq_cst"];
/// Of a compare-and-swap that succeeds, and of one that fails.
const OF_SWAPS: [&str; 12] = [
    "relaxed, relaxed",
    "acquire, relaxed",
    "acquire, acquire",
    "release, relaxed",
    "release, acquire",
    "acq_rel, relaxed",
    "acq_rel, acquire",
    "acq_rel, acquire",
    "seq_cst, relaxed",
    "seq_cst, acquire",
    "seq_cst, acquire",
    "seq_cst, seq_cst",
];
const OF_STORES: [&str; 6] = ["relaxed", "release", "release", "release", "seq_cst", "seq_cst"];

/// Below the functions: runs the program of a number, once or so many times.
const MAIN: &str = r"
static void (*const programs[][3])(void) = { TABLE };
static pthread_barrier_t start, end;
static unsigned n_rounds;
static void *run_once(void *body) { ((void (*)(void))body)(); return 0; }

struct worker { void (*body)(void); unsigned seed; };
static void *run_often(void *argument) {
    struct worker *worker = argument;
    for (unsigned round = 0; round < n_rounds; ++round) {
        pthread_barrier_wait(&start);
        worker->seed = worker->seed * 1103515245 + 12345;
        for (volatile unsigned spin = worker->seed >> 16 & 63; spin > 0; --spin) { }
        worker->body();
        pthread_barrier_wait(&end);
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[3];
    struct worker workers[3];
    int which = atoi(argv[1]);
    n_rounds = argc > 2 ? atoi(argv[2]) : 0;
    if (n_rounds > 0) {
        pthread_barrier_init(&start, 0, 4);
        pthread_barrier_init(&end, 0, 4);
    }
    for (int i = 0; i < 3; ++i) {
        workers[i] = (struct worker) { programs[which][i], 7919u * (which + 1) + i };
        void *argument = n_rounds ? (void *)&workers[i] : (void *)programs[which][i];
        pthread_create(&threads[i], 0, n_rounds ? run_often : run_once, argument);
    }
    for (unsigned round = 0; round < n_rounds; ++round) {
        a = b = c = l = 0;
        x = y = 0;
        pthread_barrier_wait(&start);
        pthread_barrier_wait(&end);
    }
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
    return 0;
}
";

/// What one thread does, statement by statement.
type Body = Vec<String>;

/// An access that writes 1 to a flag that is 0, as a whole statement.
fn write_flag(random: &mut Random, flag: &str) -> String {
    let any = random.pick(&ORDERS);
    match random.below(5) {
        0 | 1 => format!("STORE({flag}, 1, {});", random.pick(&OF_STORES)),
        2 => format!("EXCHANGE({flag}, 1, {any});"),
        3 => format!("ADD({flag}, 1, {any});"),
        _ => format!("CAS({flag}, 0, 1, {});", random.pick(&OF_SWAPS)),
    }
}

/// A condition that holds when a flag has this value, 1 or more.
fn read_flag(random: &mut Random, flag: &str, value: u64) -> String {
    let (any, swap) = (random.pick(&ORDERS), random.pick(&OF_SWAPS));
    match random.below(5) {
        0 | 1 => format!("LOAD({flag}, {}) == {value}", random.pick(&OF_LOADS)),
        2 => format!("ADD({flag}, 0, {any}) == {value}"),
        3 => format!("CAS({flag}, {value}, 9, {swap}) == {value}"),
        _ => format!("CAS({flag}, 0, 0, {swap}) == {value}"),
    }
}

/// Something that threads do to a plain variable, and what is to keep them apart: orders decide
/// whether it does.
fn add_topic(random: &mut Random, bodies: &mut [Body; N_THREADS]) {
    let mut threads = [0, 1, 2];
    for idx in 0..N_THREADS {
        threads.swap(idx, random.below(N_THREADS as u64) as usize);
    }
    let [first, second, third] = threads;
    let plain = random.pick(&["x", "y"]);
    let flag = random.pick(&["a", "b"]);
    let mut say = |thread: usize, text: String| bodies[thread].push(text);
    match random.below(6) {
        // Message passing.
        0 | 1 => {
            say(first, format!("{plain} = 1; {}", write_flag(random, flag)));
            say(second, format!("if ({}) sum += {plain};", read_flag(random, flag, 1)));
        }
        // With a third thread that changes the flag on the way: a release sequence, or its end.
        2 => {
            say(first, format!("{plain} = 1; {}", write_flag(random, flag)));
            let any = random.pick(&ORDERS);
            say(
                third,
                match random.below(3) {
                    0 => format!("STORE({flag}, 2, {});", random.pick(&OF_STORES)),
                    1 => format!("CAS({flag}, 1, 2, {});", random.pick(&OF_SWAPS)),
                    _ => format!("ADD({flag}, 1, {any});"),
                },
            );
            say(second, format!("if ({}) sum += {plain};", read_flag(random, flag, 2)));
        }
        // Through two flags.
        3 => {
            say(first, format!("{plain} = 1; {}", write_flag(random, "a")));
            let seen = read_flag(random, "a", 1);
            say(third, format!("if ({seen}) {{ {} }}", write_flag(random, "c")));
            say(second, format!("if ({}) {plain} += 1;", read_flag(random, "c", 1)));
        }
        // A lock that is tried for.
        4 => {
            for thread in [first, second] {
                let (any, store) = (random.pick(&ORDERS), random.pick(&OF_STORES));
                let tried = format!("EXCHANGE(l, 1, {any}) == 0");
                say(thread, format!("if ({tried}) {{ {plain}++; STORE(l, 0, {store}); }}"));
            }
        }
        // A mutex.
        _ => {
            for thread in [first, second, third] {
                let is_locked = random.below(16) > 0;
                let section = format!("{plain}++;");
                say(
                    thread,
                    match is_locked {
                        true => format!("LOCK; {section} UNLOCK;"),
                        false => format!("LOCK; UNLOCK; {}", random.pick(&[&section, "sum++;"])),
                    },
                );
            }
        }
    }
}

/// The bodies of a program's threads.
fn program(seed: u64) -> [Body; N_THREADS] {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed);
    let mut bodies = [const { Body::new() }; N_THREADS];
    for _ in 0..1 + random.below(2) {
        add_topic(&mut random, &mut bodies);
    }
    bodies
}

/// One file with all programs.
fn text_of(programs: &[[Body; N_THREADS]]) -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         static atomic_int a, b, c, l;\nstatic int x, y;\n\
         static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
         #define LOAD(v, o) atomic_load_explicit(&v, memory_order_##o)\n\
         #define STORE(v, n, o) atomic_store_explicit(&v, n, memory_order_##o)\n\
         #define EXCHANGE(v, n, o) atomic_exchange_explicit(&v, n, memory_order_##o)\n\
         #define ADD(v, n, o) atomic_fetch_add_explicit(&v, n, memory_order_##o)\n\
         #define CAS(v, e, n, o, f) ({ int was = e; atomic_compare_exchange_strong_explicit( \\\n\
         &v, &was, n, memory_order_##o, memory_order_##f); was; })\n\
         #define LOCK pthread_mutex_lock(&mutex)\n#define UNLOCK pthread_mutex_unlock(&mutex)\n\
         static __attribute__((noinline)) void keep(int value) { __asm__ volatile(\"\" :: \"r\"(value)); }\n",
    );
    let mut table = String::new();
    for (number, bodies) in programs.iter().enumerate() {
        table.push_str("{ ");
        for (thread, body) in bodies.iter().enumerate() {
            let name = format!("p{number}_{thread}");
            let body = body.join(" ");
            writeln!(text, "static void {name}(void) {{ int sum = 0; {body} keep(sum); }}")
                .expect("a string takes all");
            write!(table, "{name}, ").expect("a string takes all");
        }
        table.push_str("}, ");
    }
    text + &MAIN.replace("TABLE", &table)
}

/// Whether ThreadSanitizer sees a race in one of many runs.
fn is_reported(folder: &Path, number: usize, rounds: u64) -> bool {
    let arguments = [number.to_string(), rounds.to_string()];
    let status = Command::new(folder.join("sanitized"))
        .args(arguments)
        .env("TSAN_OPTIONS", "exitcode=66 report_bugs=1")
        .output()
        .expect("the program can be started")
        .status;
    match status.code() {
        Some(0) => false,
        Some(66) => true,
        other => panic!("program {number} ended with {other:?}"),
    }
}

#[test]
fn what_the_sanitizer_reports_is_found() {
    let seeds = seeds(SEEDS);
    let n_programs = seeds.end - seeds.start;
    let programs: Vec<_> = seeds.map(program).collect();
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("all.c"), text_of(&programs)).expect("there is room");
    let compiled = Command::new("gcc")
        .args(["-O1", "-g", "-fsanitize=thread", "all.c", "-o", "sanitized"])
        .current_dir(folder.path())
        .status();
    assert!(compiled.expect("there is a compiler").success());
    run(folder.path(), &["cc", "-O1", "all.c", "-o", "checked"]).ends_with(0);
    let (mut n_found, mut n_both) = (0, 0);
    for (number, bodies) in programs.iter().enumerate() {
        let said = run(folder.path(), &["run", "--", "./checked", &number.to_string()]);
        let is_found = match said.status {
            Some(0) => false,
            Some(1) => said.stdout.contains("Data race"),
            other => panic!("program {number}: {other:?}\n{}{}", said.stdout, said.stderr),
        };
        let is_seen = is_reported(folder.path(), number, N_ROUNDS);
        assert!(is_found || !is_seen, "program {number}, {bodies:#?}\n{}", said.stdout);
        n_found += u64::from(is_found);
        n_both += u64::from(is_found && is_seen);
    }
    let told = format!("{n_programs} programs, {n_found} with a race, {n_both} of them seen");
    assert!(n_found > n_programs / 4 && n_found < n_programs, "{told}");
    assert!(n_both > n_found / 2, "{told}");
}
