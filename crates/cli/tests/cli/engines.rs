//! One program, every engine: random C programs with threads are run natively, as models and as
//! circuits, and every engine says of them what an exhaustive search of the model says.
//!
//! A program is made from a seed, for one kind of violation that it may have: assertions fail;
//! locks, semaphores and condition variables wait for ever; or plain variables are written without
//! a lock. So there is one answer, whichever violation an engine meets first. Programs of one more
//! kind are never run natively: they call what only models have, and compute with pointers as
//! numbers.

use crate::support::{Random, with_file};
use mazurka_effort::seeds;
use std::fmt::Write as _;
use std::ops::Range;

/// The programs that are made of each kind.
const SEEDS: Range<u64> = 0..12;

/// The engines, by the arguments that choose them. The first one is the judge.
const ENGINES: [&[&str]; 6] = [
    &["--engine", "vm", "--reduction", "none"],
    &["--engine", "native"],
    &["--engine", "vm"],
    &["--engine", "vm", "--reduction", "transactions"],
    &["--engine", "statespace"],
    &["--engine", "portfolio"],
];

const DECLARATIONS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
atomic_int a, b;
int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
sem_t s;
";

/// What programs for models alone have, too.
const MODEL_DECLARATIONS: &str = "\
#include <stdint.h>
#include <stdlib.h>
extern void __VERIFIER_assume(int);
_Atomic(int *) p;
int z;
void __VERIFIER_atomic_add(int v) {
    int before = z;
    z = before + v;
    if (v == 1)
        return;
    z += 1;
}
int __VERIFIER_atomic_take(int v) {
    __VERIFIER_atomic_add(v);
    __VERIFIER_assume(z < 5);
    return z;
}
";

/// What may go wrong in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Assertion,
    Deadlock,
    Race,
    /// Assertions, in programs that are models alone.
    Model,
}

impl Kind {
    /// As `--property` has it, and as a violation is called in JSON.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Assertion | Self::Model => ["assert", "assertion"],
            Self::Deadlock => ["deadlock", "deadlock"],
            Self::Race => ["race", "race"],
        }
    }
}

/// The text of a program in the making.
struct Program {
    kind: Kind,
    random: Random,
}

impl Program {
    fn text(mut self) -> String {
        let n_threads = 2 + self.random.below(2);
        let n_statements =
            if n_threads == 2 { 2 + self.random.below(3) } else { 1 + self.random.below(2) };
        let mut text = DECLARATIONS.to_owned();
        if self.kind == Kind::Model {
            text += MODEL_DECLARATIONS;
        }
        for thread in 0..n_threads {
            _ = writeln!(text, "void *t{thread}(void *arg) {{\n    int r = 0, q = 1;");
            for _ in 0..n_statements {
                _ = writeln!(text, "    {}", self.statement(0));
            }
            text += "    (void)arg; (void)r; (void)q;\n    return 0;\n}\n";
        }
        let n_posts = self.random.below(2);
        _ = writeln!(
            text,
            "int main(void) {{\n    pthread_t t[3];\n    sem_init(&s, 0, {n_posts});"
        );
        for thread in 0..n_threads {
            _ = writeln!(text, "    pthread_create(&t[{thread}], 0, t{thread}, 0);");
        }
        for thread in 0..n_threads {
            _ = writeln!(text, "    pthread_join(t[{thread}], 0);");
        }
        if matches!(self.kind, Kind::Assertion | Kind::Model) {
            let (sum, most) =
                (self.random.pick(&["a + b", "x + a", "x + y"]), 2 + self.random.below(5));
            _ = writeln!(text, "    assert({sum} != {most});");
        }
        text + "    return 0;\n}\n"
    }

    fn statement(&mut self, depth: u32) -> String {
        match (self.random.below(10), depth) {
            (0, 0 | 1) => {
                let (local, value) = (self.local(), self.random.below(3));
                let [yes, no] = [self.statement(depth + 1), self.statement(depth + 1)];
                format!("if ({local} == {value}) {{ {yes} }} else {{ {no} }}")
            }
            (1, 0) => format!("for (int i = 0; i < 2; i++) {{ {} }}", self.atomic()),
            (2, _) => {
                let update = self.update("x");
                let local = self.local();
                format!(
                    "if (pthread_mutex_trylock(&m) == 0) {{ {update} pthread_mutex_unlock(&m); }} \
                     else {local} = 2;"
                )
            }
            (3..6, _) => self.special(),
            (6 | 7, _) => self.locked(),
            _ => self.atomic(),
        }
    }

    /// What may go wrong.
    fn special(&mut self) -> String {
        let (local, value) = (self.local(), self.random.below(4));
        match self.kind {
            Kind::Assertion => format!("assert({local} != {value});"),
            Kind::Model => match self.random.below(9) {
                0 => format!("__VERIFIER_atomic_add({local});"),
                1 => format!("{local} = __VERIFIER_atomic_take({value});"),
                2 => format!("__VERIFIER_assume({local} != {value});"),
                3 => format!("if ({local} == {value}) exit(0);"),
                4 => "p = &x;".to_owned(),
                5 => "p = (int *)((uintptr_t)&y | 1);".to_owned(),
                6 => format!("{local} = ((uintptr_t)p & 1) + !p;"),
                7 => format!("{{ int n = (int)(long)p; {local} = n ? 2 : 1; }}"),
                _ => format!("assert({local} != {value});"),
            },
            Kind::Race => {
                let update = format!("{} += 1;", self.random.pick(&["x", "y"]));
                match self.random.below(4) {
                    0 => format!("if (atomic_load(&a) == {value}) {{ {update} }}"),
                    1 => format!("__atomic_fetch_add(&y, {value}, __ATOMIC_SEQ_CST);"),
                    _ => update,
                }
            }
            Kind::Deadlock => self
                .random
                .pick(&[
                    "sem_wait(&s);",
                    "sem_post(&s);",
                    "pthread_mutex_lock(&m); while (x == 0) pthread_cond_wait(&c, &m); \
                     pthread_mutex_unlock(&m);",
                    "pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
                    "pthread_mutex_lock(&m); pthread_mutex_lock(&n); x++; pthread_mutex_unlock(&n); \
                     pthread_mutex_unlock(&m);",
                    "pthread_mutex_lock(&n); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); \
                     pthread_mutex_unlock(&n);",
                ])
                .to_owned(),
        }
    }

    fn atomic(&mut self) -> String {
        let (object, local, value) =
            (self.random.pick(&["a", "b"]), self.local(), self.random.below(3));
        match self.random.below(6) {
            0 => format!("atomic_store(&{object}, {value});"),
            1 => format!("{local} = atomic_load(&{object});"),
            2 => format!("{local} = atomic_fetch_add(&{object}, 1);"),
            3 => format!("{local} = atomic_exchange(&{object}, {value});"),
            4 => format!("{object} += {local} + 1;"),
            _ => format!(
                "{{ int e = {value}; {local} = atomic_compare_exchange_strong(&{object}, &e, 3); }}"
            ),
        }
    }

    fn locked(&mut self) -> String {
        let (lock, variable) = [("m", "x"), ("n", "y")][self.random.below(2) as usize];
        let update = self.update(variable);
        format!("pthread_mutex_lock(&{lock}); {update} pthread_mutex_unlock(&{lock});")
    }

    fn update(&mut self, variable: &str) -> String {
        let (local, value) = (self.local(), self.random.below(3));
        match self.random.below(4) {
            // What is read for nothing is no access of a program that a compiler has made.
            1 if self.kind != Kind::Race => format!("{local} = {variable};"),
            2 => format!("{variable} = {local};"),
            // Never what it is already: gcc would see that it need not look.
            3 => format!("if ({variable} == {value}) {variable} = 3;"),
            _ => format!("{variable} = {variable} + 1;"),
        }
    }

    fn local(&mut self) -> &'static str {
        self.random.pick(&["r", "q"])
    }
}

/// What an engine says: `holds`, or the kind of violation.
fn verdict(text: &str, kind: Kind, engine: &[&str]) -> String {
    let [property, _] = kind.names();
    let arguments = ["check", "x.c", "--property", property, "--json", "-"];
    let said = with_file("x.c", text, &[&arguments, engine].concat());
    let json: serde_json::Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("{engine:?}: {}{}\n{text}", said.stdout, said.stderr));
    match json["verdict"].as_str() {
        Some("violated") => json["violation"]["kind"].as_str().expect("it has a kind").to_owned(),
        verdict => verdict.expect("there is one").to_owned(),
    }
}

/// Holds every engine to the judge, on programs that may have this kind of violation.
fn agree_on(kind: Kind) {
    let seeds = seeds(SEEDS);
    let n_programs = seeds.end - seeds.start;
    let mut n_violated = 0;
    for seed in seeds {
        let text = Program { kind, random: Random(1000 * seed + 17) }.text();
        let [judge, others @ ..] = ENGINES;
        let others = others.iter().filter(|it| kind != Kind::Model || !it.contains(&"native"));
        let expected = verdict(&text, kind, judge);
        assert!(["holds", kind.names()[1]].contains(&expected.as_str()), "{expected}\n{text}");
        for engine in others {
            assert_eq!(verdict(&text, kind, engine), expected, "seed {seed}, {engine:?}\n{text}");
        }
        n_violated += u64::from(expected != "holds");
    }
    // Neither answer is always right.
    let share = n_programs / 6..=n_programs - n_programs / 6;
    assert!(share.contains(&n_violated), "{n_violated} of {n_programs} are violated");
}

#[test]
fn engines_agree_on_assertions() {
    agree_on(Kind::Assertion);
}

#[test]
fn engines_agree_on_deadlocks() {
    agree_on(Kind::Deadlock);
}

#[test]
fn engines_agree_on_models() {
    agree_on(Kind::Model);
}

#[test]
fn engines_agree_on_data_races() {
    agree_on(Kind::Race);
}

/// An atomic operation is no excuse for the plain access that it meets, and orders those behind it.
#[test]
fn atomic_operations_race_with_plain_accesses() {
    let program = |before: &str, after: &str| {
        format!(
            "#include <pthread.h>
int x;
void *stores(void *arg) {{
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
    return arg;
}}
int main(void) {{
    pthread_t thread;
    x = 0;
    pthread_create(&thread, 0, stores, 0);
    {before}
    pthread_join(thread, 0);
    {after}
    return 0;
}}
"
        )
    };
    let cases = [
        ("x++;", "", "race"),
        ("x++; __atomic_fetch_add(&x, 2, __ATOMIC_SEQ_CST);", "", "race"),
        ("while (!__atomic_load_n(&x, __ATOMIC_SEQ_CST)) ; x++;", "", "holds"),
        ("", "x++;", "holds"),
    ];
    for (before, after, expected) in cases {
        for engine in ENGINES {
            let found = verdict(&program(before, after), Kind::Race, engine);
            assert_eq!(found, expected, "{before} {after} {engine:?}");
        }
    }
}
