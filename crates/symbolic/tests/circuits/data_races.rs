//! Data races by the happens-before of C11, in programs whose atomic accesses order little: every
//! engine and every scheduler says what a search of the machine says, which has vector clocks.
//!
//! The random programs are made from a seed.

use mazurka_core::Verdict;
use mazurka_effort::seeds;
use mazurka_explore::{Explorer, Options, Reduction, replay};
use mazurka_model::{Program, Races, Vm};
use mazurka_symbolic::{Encode, Engine, Finding, Limits, Question, Schedule, check};
use std::fmt::Write as _;
use std::time::Duration;

const ENGINES: [Engine; 4] = [Engine::Bounded, Engine::Induction, Engine::Ic3, Engine::Bdd];

const DECLARATIONS: &str = "\
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#define relaxed memory_order_relaxed
#define acquire memory_order_acquire
#define release memory_order_release
#define acq_rel memory_order_acq_rel
#define seq_cst memory_order_seq_cst
#define load(a, o) atomic_load_explicit(&a, o)
#define store(a, v, o) atomic_store_explicit(&a, v, o)
#define add(a, o) atomic_fetch_add_explicit(&a, 1, o)
#define swap(a, v, o) atomic_exchange_explicit(&a, v, o)
#define fence(o) atomic_thread_fence(o)
#define lock(m) pthread_mutex_lock(&m)
#define unlock(m) pthread_mutex_unlock(&m)
atomic_int a, b;
int x, y, *_Atomic p;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t w;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
sem_t s;
";

/// A program of threads that `main` starts, and joins before it does the last.
fn text_of(threads: &[String], last: &str) -> String {
    let mut text = DECLARATIONS.to_owned();
    for (number, body) in threads.iter().enumerate() {
        _ = writeln!(
            text,
            "void *t{number}(void *arg) {{ int r = 0, q = 1; {body} (void)r; (void)q; return arg; }}"
        );
    }
    text += "int main(void) { int r = 0; pthread_t t[4]; sem_init(&s, 0, 0); ";
    text += "pthread_barrier_init(&w, 0, 2); ";
    for number in 0..threads.len() {
        _ = write!(text, "pthread_create(&t[{number}], 0, t{number}, 0); ");
    }
    for number in 0..threads.len() {
        _ = write!(text, "pthread_join(t[{number}], 0); ");
    }
    _ = writeln!(text, "{last} (void)r; return 0; }}");
    text
}

fn translated(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("x.c");
    std::fs::write(&file, text).expect("there is room");
    mazurka_c::translate(&[file], &mazurka_c::Options::default())
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// Whether a search of the machine finds a race.
fn has_race(program: &Program, text: &str) -> bool {
    let vm = Vm::new(program.clone(), Races::Error).expect("the machine runs it");
    let mut options = Options::new().reduction(Reduction::Optimal);
    options.deadlock = false;
    options.livelock = false;
    match Explorer::new(options).run(|| vm.clone()).expect("it repeats").verdict {
        Verdict::Violated(found) => {
            assert_eq!(found.violation.kind.name(), "race", "{text}");
            true
        }
        Verdict::Holds(_) => false,
        other => panic!("{other:?}\n{text}"),
    }
}

/// Whether an engine finds a race, and the machine then, too; `None` if it needs too long.
fn finds_race(program: &Program, text: &str, engine: Engine, schedule: Schedule) -> Option<bool> {
    let encode = Encode { deadlock: false, ..Encode::default() };
    let limits = Limits { time: Some(Duration::from_secs(120)), ..Limits::default() };
    let question = Question { encode, schedule, engine, limits };
    let reply = check(program, &question).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    match &reply.finding {
        Finding::Safe => Some(false),
        Finding::Unsafe(witness) => {
            let machine = Vm::new(program.clone(), Races::Error).expect("the machine runs it");
            let lifted = reply.encoding.lift_by(witness, || machine.clone());
            let (lifted, mut vm) = lifted.expect("a witness is one");
            let again = replay(&mut vm, &lifted.schedule).expect("it can be followed");
            let (_, violation) = again.violation.unwrap_or_else(|| panic!("nothing\n{text}"));
            assert_eq!(violation.kind.name(), "race", "{text}");
            Some(true)
        }
        _ => None,
    }
}

/// Holds all engines, and bounded search with all schedulers, to the machine.
#[track_caller]
fn agree(text: &str) -> bool {
    let program = translated(text);
    let expected = has_race(&program, text);
    for engine in ENGINES {
        // Decision diagrams grow too large with the counters of a barrier, without weak accesses,
        // too.
        if engine == Engine::Bdd && text.contains("barrier_wait") {
            continue;
        }
        let found = finds_race(&program, text, engine, Schedule::Interleaving);
        assert_eq!(found, Some(expected), "{}\n{text}", engine.name());
    }
    for schedule in &Schedule::ALL[1..] {
        let found = finds_race(&program, text, Engine::Bounded, *schedule);
        assert_eq!(found, Some(expected), "{}\n{text}", schedule.name());
    }
    expected
}

const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

fn acquires(order: &str) -> bool {
    ["acquire", "acq_rel", "seq_cst"].contains(&order)
}

fn releases(order: &str) -> bool {
    ["release", "acq_rel", "seq_cst"].contains(&order)
}

/// A message that is passed by read-modify-writes, which may have every order.
#[test]
fn a_message_is_ordered_by_a_release_and_an_acquire() {
    for to in ORDERS {
        for from in ORDERS {
            let text = text_of(
                &[format!("x = 1; swap(a, 1, {to});"), format!("if (add(a, {from})) r = x;")],
                "",
            );
            assert_eq!(agree(&text), !(releases(to) && acquires(from)), "{to} {from}");
        }
    }
}

#[test]
fn engines_know_what_orders_two_accesses() {
    let writes = "x = 1; store(a, 1, release);";
    let reads = "if (load(a, acquire) == 2) r = x;";
    let cases: &[(&[&str], &str, bool)] = &[
        // Stores and loads.
        (&["x = 1; store(a, 1, relaxed);", "if (load(a, relaxed)) r = x;"], "", true),
        (&["x = 1; store(a, 1, relaxed);", "if (load(a, acquire)) r = x;"], "", true),
        (&["x = 1; store(a, 1, release);", "if (load(a, relaxed)) r = x;"], "", true),
        (&["x = 1; store(a, 1, release);", "if (load(a, acquire)) r = x;"], "", false),
        // What is known is passed on, but not by what is relaxed.
        (
            &[
                "x = 1; store(a, 1, release);",
                "if (load(a, acquire)) store(b, 1, release);",
                "if (load(b, acquire)) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; store(a, 1, release);",
                "if (load(a, acquire)) store(b, 1, relaxed);",
                "if (load(b, acquire)) r = x;",
            ],
            "",
            true,
        ),
        // Release sequences: a read-modify-write goes on, a store does not.
        (&[writes, "if (load(a, relaxed)) add(a, relaxed);", reads], "", false),
        (&[writes, "if (load(a, relaxed)) store(a, 2, relaxed);", reads], "", true),
        (&["x = 1; store(a, 1, release); store(a, 2, relaxed);", reads], "", true),
        // Fences on either side, and in the wrong place.
        (
            &[
                "x = 1; fence(release); store(a, 1, relaxed);",
                "if (load(a, relaxed)) { fence(acquire); r = x; }",
            ],
            "",
            false,
        ),
        (
            &["x = 1; fence(release); store(a, 1, relaxed);", "if (load(a, acquire)) r = x;"],
            "",
            false,
        ),
        (
            &["fence(release); x = 1; store(a, 1, relaxed);", "if (load(a, acquire)) r = x;"],
            "",
            true,
        ),
        (
            &["x = 1; fence(acquire); store(a, 1, relaxed);", "if (load(a, acquire)) r = x;"],
            "",
            true,
        ),
        (
            &["x = 1; store(a, 1, release);", "fence(acquire); if (load(a, relaxed)) r = x;"],
            "",
            true,
        ),
        // A compare-and-swap that fails is a load, of an order of its own.
        (
            &[
                "x = 1; store(a, 1, release);",
                "int e = 0; if (!atomic_compare_exchange_strong_explicit(&a, &e, 2, acq_rel, relaxed)) r = x;",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; store(a, 1, release);",
                "int e = 0; if (!atomic_compare_exchange_strong_explicit(&a, &e, 2, relaxed, acquire)) r = x;",
            ],
            "",
            false,
        ),
        // One that fails releases nothing.
        (
            &[
                "x = 1; int e = 1; atomic_compare_exchange_strong_explicit(&a, &e, 2, acq_rel, relaxed);",
                "store(a, 1, relaxed); if (load(a, acquire) == 2) r = x;",
            ],
            "",
            false,
        ),
        // Locks order, whatever is beside them; so do semaphores, barriers and joins.
        (
            &[
                "lock(m); x = 1; unlock(m); store(a, 1, relaxed);",
                "if (load(a, relaxed)) { lock(m); r = x; unlock(m); }",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; lock(m); store(a, 1, relaxed); unlock(m);",
                "lock(m); q = load(a, relaxed); unlock(m); if (q) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; store(a, 1, relaxed);",
                "q = load(a, relaxed); lock(m); unlock(m); if (q) r = x;",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; pthread_rwlock_rdlock(&l); store(a, 1, relaxed); pthread_rwlock_unlock(&l);",
                "pthread_rwlock_rdlock(&l); q = load(a, relaxed); pthread_rwlock_unlock(&l); if (q) r = x;",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; pthread_rwlock_rdlock(&l); store(a, 1, relaxed); pthread_rwlock_unlock(&l);",
                "pthread_rwlock_wrlock(&l); q = load(a, relaxed); pthread_rwlock_unlock(&l); if (q) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; store(a, 1, relaxed); sem_post(&s);",
                "sem_wait(&s); if (load(a, relaxed)) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; store(a, 1, relaxed); sem_post(&s);",
                "q = load(a, relaxed); if (q) r = x; sem_wait(&s);",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; store(a, 1, relaxed); pthread_barrier_wait(&w);",
                "pthread_barrier_wait(&w); if (load(a, relaxed)) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "pthread_barrier_wait(&w); x = 1; store(a, 1, relaxed);",
                "pthread_barrier_wait(&w); if (load(a, relaxed)) r = x;",
            ],
            "",
            true,
        ),
        (
            &["x = 1; store(a, 1, relaxed);", "add(a, relaxed);"],
            "if (load(a, relaxed)) r = x;",
            false,
        ),
        // Atomic and plain accesses to one variable.
        (
            &[
                "__atomic_store_n(&x, 1, __ATOMIC_RELAXED); store(a, 1, relaxed);",
                "if (load(a, relaxed)) r = x;",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; store(a, 1, relaxed);",
                "if (load(a, relaxed)) r = __atomic_load_n(&x, __ATOMIC_ACQUIRE);",
            ],
            "",
            true,
        ),
        (
            &[
                "__atomic_store_n(&x, 1, __ATOMIC_RELAXED); store(a, 1, relaxed);",
                "if (load(a, relaxed)) r = __atomic_load_n(&x, __ATOMIC_RELAXED);",
            ],
            "",
            false,
        ),
        // A load that acquires comes after what it reads from.
        (
            &[
                "x = 1; __atomic_store_n(&x, 2, __ATOMIC_RELEASE); store(a, 1, relaxed);",
                "if (load(a, relaxed)) if (__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 2) r = x;",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; __atomic_store_n(&x, 2, __ATOMIC_RELEASE); store(a, 1, relaxed);",
                "if (load(a, relaxed)) if (__atomic_load_n(&x, __ATOMIC_RELAXED) == 2) r = x;",
            ],
            "",
            true,
        ),
        // What a pointer leads to.
        (
            &["y = 1; x = 2; store(p, &y, relaxed);", "int *i = load(p, relaxed); if (i) r = *i;"],
            "",
            true,
        ),
        (
            &[
                "y = 1; x = 2; store(p, &y, release);",
                "int *i = load(p, acquire); if (i) r = *i; add(a, relaxed);",
            ],
            "",
            false,
        ),
        (
            &[
                "int *i = malloc(sizeof *i); *i = 1; store(p, i, relaxed);",
                "int *i = load(p, acquire); if (i) r = *i;",
            ],
            "",
            true,
        ),
        (
            &[
                "int *i = malloc(sizeof *i); *i = 1; store(p, i, release); add(a, relaxed);",
                "int *i = load(p, acquire); if (i) r = *i;",
            ],
            "",
            false,
        ),
        // What is freed is written, as far as others are concerned.
        (
            &[
                "int *i = malloc(sizeof *i); *i = 1; store(p, i, release); if (load(a, relaxed)) free(i);",
                "int *i = load(p, acquire); if (i) r = *i; store(a, 1, relaxed);",
            ],
            "",
            true,
        ),
        (
            &[
                "int *i = malloc(sizeof *i); *i = 1; store(p, i, release); if (load(a, relaxed)) { fence(acquire); free(i); }",
                "int *i = load(p, acquire); if (i) r = *i; store(a, 1, release);",
            ],
            "",
            false,
        ),
        // Operations that tell and order nothing: a lock that is not got, the value of a
        // semaphore, a signal without the mutex.
        (&["x = 1; lock(m);", "if (pthread_mutex_trylock(&m)) r = x; else unlock(m);"], "", true),
        (
            &[
                "x = 1; pthread_rwlock_wrlock(&l);",
                "if (pthread_rwlock_tryrdlock(&l)) r = x; else pthread_rwlock_unlock(&l);",
            ],
            "",
            true,
        ),
        (
            &[
                "x = 1; pthread_rwlock_rdlock(&l);",
                "if (pthread_rwlock_trywrlock(&l)) r = x; else pthread_rwlock_unlock(&l);",
            ],
            "",
            true,
        ),
        (&["x = 1; sem_post(&s);", "sem_getvalue(&s, &q); if (q) r = x;"], "", true),
        (
            &["x = 1; sem_post(&s);", "sem_getvalue(&s, &q); if (q) { sem_wait(&s); r = x; }"],
            "",
            false,
        ),
        (&["x = 1; sem_post(&s);", "if (sem_trywait(&s) == 0) r = x;"], "", false),
        (
            &[
                "x = 1; pthread_cond_signal(&c);",
                "lock(m); pthread_cond_wait(&c, &m); r = x; unlock(m);",
            ],
            "",
            true,
        ),
        (
            &[
                "lock(m); x = 1; pthread_cond_signal(&c); unlock(m);",
                "lock(m); pthread_cond_wait(&c, &m); r = x; unlock(m);",
            ],
            "",
            false,
        ),
        (
            &[
                "x = 1; lock(m); pthread_cond_broadcast(&c); unlock(m);",
                "lock(m); pthread_cond_wait(&c, &m); r = x; unlock(m);",
            ],
            "",
            false,
        ),
    ];
    for (threads, last, expected) in cases {
        let threads: Vec<String> = threads.iter().map(|&it| it.to_owned()).collect();
        let text = text_of(&threads, last);
        assert_eq!(agree(&text), *expected, "{text}");
    }
}

/// Numbers that only look random: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len() as u64) as usize]
    }

    fn order(&mut self, strong: &[&'static str]) -> &'static str {
        if self.below(2) == 0 { "relaxed" } else { self.pick(strong) }
    }

    fn plain(&mut self) -> String {
        let (variable, value) = (self.pick(&["x", "x", "y"]), self.below(3));
        match self.below(4) {
            0 => format!("{variable} = {value};"),
            1 => format!("{variable}++;"),
            2 => format!("if ({variable} == r) q = 2;"),
            _ => format!("r += {variable};"),
        }
    }

    /// An atomic access with a value.
    fn atomic(&mut self) -> String {
        let (at, value) = (self.pick(&["a", "b"]), 1 + self.below(2));
        match self.below(5) {
            0 => format!("add({at}, {})", self.order(&ORDERS)),
            1 => format!("swap({at}, {value}, {})", self.order(&ORDERS)),
            _ => format!("load({at}, {})", self.order(&["acquire", "seq_cst"])),
        }
    }

    fn block(&mut self, depth: u32) -> String {
        (0..=self.below(2)).map(|_| self.statement(depth + 1)).collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, depth: u32) -> String {
        let (at, value) = (self.pick(&["a", "b"]), self.below(3));
        match (self.below(20), depth) {
            (0..4, _) => self.plain(),
            (4..6, _) => {
                format!("store({at}, {value}, {});", self.order(&["release", "seq_cst"]))
            }
            (6, _) => format!("fence({});", self.pick(&ORDERS[1..])),
            (7, 0 | 1) => {
                let [success, failure] = [self.order(&ORDERS), self.order(&["acquire", "seq_cst"])];
                let [yes, no] = [self.plain(), self.plain()];
                format!(
                    "{{ int e = {value}; if (atomic_compare_exchange_strong_explicit(&{at}, &e, 2, \
                     {success}, {failure})) {{ {yes} }} else {{ {no} }} }}"
                )
            }
            (8, 0 | 1) => format!("lock(m); {} unlock(m);", self.block(2)),
            (9, 0 | 1) => format!("if (sem_trywait(&s) == 0) {{ {} }}", self.block(2)),
            (10, _) => "sem_post(&s);".to_owned(),
            (11..16, 0 | 1) => {
                let (test, body) = (self.atomic(), self.block(depth));
                format!("if ({test} == {value}) {{ {body} }}")
            }
            (16, 0 | 1) => {
                let [yes, no] = [self.plain(), self.plain()];
                format!("if (pthread_mutex_trylock(&m)) {{ {no} }} else {{ {yes} unlock(m); }}")
            }
            (17, _) => format!("sem_getvalue(&s, &q); if (q) {{ {} }}", self.plain()),
            (18, _) => "pthread_cond_signal(&c);".to_owned(),
            (19, 0 | 1) => {
                format!("lock(m); pthread_cond_wait(&c, &m); {} unlock(m);", self.plain())
            }
            _ => format!("r = {};", self.atomic()),
        }
    }
}

/// The text of a random program.
fn random(seed: u64) -> String {
    let mut random = Random(1000 * seed + 7);
    let n_threads = 2 + usize::from(random.below(3) == 0);
    let threads: Vec<String> = (0..n_threads)
        .map(|_| {
            let n_statements =
                if n_threads == 2 { 2 + random.below(3) } else { 1 + random.below(2) };
            (0..n_statements).map(|_| random.statement(0)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    text_of(&threads, "")
}

#[test]
fn engines_find_the_races_of_random_programs() {
    let seeds = seeds(0..24);
    let n_seeds = seeds.end - seeds.start;
    let mut n_races = 0;
    for seed in seeds {
        let text = random(seed);
        let program = translated(&text);
        let expected = has_race(&program, &text);
        n_races += u64::from(expected);
        let schedule = Schedule::ALL[seed as usize % Schedule::ALL.len()];
        let pairs = [
            (Engine::Portfolio, Schedule::Interleaving),
            (Engine::Portfolio, schedule),
            (Engine::Bounded, schedule),
            (Engine::Ic3, Schedule::Interleaving),
        ];
        for (engine, schedule) in pairs {
            let found = finds_race(&program, &text, engine, schedule);
            let name = format!("seed {seed}, {} with {}", engine.name(), schedule.name());
            assert_eq!(found, Some(expected), "{name}\n{text}");
        }
    }
    // Neither answer is always right, where there are enough of them to tell.
    let share = n_seeds / 6..=n_seeds - n_seeds / 6;
    assert!(n_seeds < 24 || share.contains(&n_races), "{n_races} of {n_seeds} have a race");
}
