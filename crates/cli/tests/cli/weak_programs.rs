//! Small C programs with known answers under each memory model, in both engines: accesses with all
//! orders, fences, locks, condition variables, loops that wait, plain accesses that race under weak
//! memory alone.
//!
//! `weak_programs.txt` has them: after a name, the answers under `sc`, `tso`, `ra` and `rc11`, a
//! letter each ([`answer`]), then the program in the short words of [`WORDS`].

use crate::support::{Said, with_file};
use mazurka_effort::sample;

const PROGRAMS: &str = include_str!("weak_programs.txt");
const MODELS: [&str; 4] = ["sc", "tso", "ra", "rc11"];
const ENGINES: [&str; 2] = ["vm", "native"];

/// `R` and `W` are a load and a store, `XC` an exchange, `FA` an addition, `F` a fence; `T` begins a
/// thread, `E` ends it, `M` is `main`, and `GO3` starts three threads and joins them.
const WORDS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define memory_order_rlx memory_order_relaxed
#define R(x, o) atomic_load_explicit(&x, memory_order_##o)
#define W(x, v, o) atomic_store_explicit(&x, v, memory_order_##o)
#define FA(x, v, o) atomic_fetch_add_explicit(&x, v, memory_order_##o)
#define XC(x, v, o) atomic_exchange_explicit(&x, v, memory_order_##o)
#define F(o) atomic_thread_fence(memory_order_##o)
#define T(name) void *name(void *unused)
#define E return 0
#define M int main(void)
#define GO(t, f) pthread_t t; pthread_create(&t, 0, f, 0);
#define GO2(a, b) GO(ta, a) GO(tb, b) END(ta) END(tb)
#define GO3(a, b, c) GO(ta, a) GO(tb, b) GO(tc, c) END(ta) END(tb) END(tc)
#define GO4(a, b, c, d) GO(ta, a) GO(tb, b) GO(tc, c) GO(td, d) END(ta) END(tb) END(tc) END(td)
#define END(t) pthread_join(t, 0);
atomic_int x, y, z, f;
int data, r0, r1, r2, r3;
";

/// What was said: `h`olds, or violated by a failed `a`ssertion, a `r`ace, a `d`eadlock or a
/// `m`emory error.
fn answer(said: &Said) -> char {
    let answer: serde_json::Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("no answer: {}{}", said.stdout, said.stderr));
    let kind = answer["violation"]["kind"].as_str();
    match (answer["verdict"].as_str(), kind) {
        (Some("holds"), _) => 'h',
        (_, Some("assertion")) => 'a',
        (_, Some("race")) => 'r',
        (_, Some("deadlock" | "livelock")) => 'd',
        (_, Some("memory")) => 'm',
        other => panic!("neither holds nor violated: {other:?}"),
    }
}

/// Half of the runs, so that two cores share them.
fn hold_to_answers(half: usize) {
    let programs: Vec<_> = PROGRAMS.split("== ").skip(1).collect();
    assert!(programs.len() > 100, "where are the programs?");
    let mut runs = Vec::new();
    // What is weakest first: a share of the runs has all engines and models in it.
    for (idx, program) in programs.into_iter().enumerate() {
        for shift in 0..ENGINES.len() * MODELS.len() {
            let which = (idx + shift) % (ENGINES.len() * MODELS.len());
            runs.push((program, ENGINES[which % 2], 3 - which / 2));
        }
    }
    for (program, engine, model) in sample(runs).into_iter().skip(half).step_by(2) {
        let (title, text) = program.split_once('\n').expect("a title and a program");
        let (name, answers) = title.split_once(' ').expect("a name and answers");
        let expected = answers.chars().nth(model).expect("one for each model");
        let arguments =
            ["check", "a.c", "--engine", engine, "--memory", MODELS[model], "--json", "-"];
        let said = with_file("a.c", format!("{WORDS}{text}"), &arguments);
        assert_eq!(answer(&said), expected, "{name} {engine} {}", MODELS[model]);
    }
}

#[test]
fn known_answers() {
    hold_to_answers(0);
}

#[test]
fn known_answers_of_others() {
    hold_to_answers(1);
}
