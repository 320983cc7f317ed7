//! Memory orders: which of them keep a plain message from being a data race, with both compilers;
//! and which accesses with weak orders are told.

use crate::program::{CLANG, Compilers, GCC, Program};
use mazurka_core::{Assumption, MemoryOrder, Verdict, WeakAccess};
use serde_json::json;

const STORE: &str = "atomic_store_explicit(&flag, 1, memory_order_release)";
const LOAD: &str = "atomic_load_explicit(&flag, memory_order_acquire)";

fn build(by: Compilers, write: &str, read: &str) -> Program {
    let defines = [format!("-DWRITE={write}"), format!("-DREAD={read}")];
    Program::build_by(by, "orders", &[&defines[0], &defines[1], "-w", "-mcx16"])
}

/// What is found, in a word.
fn verdict(by: Compilers, write: &str, read: &str) -> String {
    let answer = build(by, write, read).explore(&json!({}));
    match answer.verdict {
        Some(Verdict::Holds(_)) => "holds".to_owned(),
        Some(Verdict::Violated(found)) => found.violation.kind.name().to_owned(),
        _ => panic!("{} {:?}", answer.message, answer.error),
    }
}

/// The pair of accesses is a race or not, and gcc and clang agree.
#[track_caller]
fn check(write: &str, read: &str, expected: &str) {
    for by in [GCC, CLANG] {
        assert_eq!(verdict(by, write, read), expected, "{write}; {read}");
    }
}

#[test]
fn a_store_releases_and_a_load_acquires() {
    check(STORE, LOAD, "holds");
    check(STORE, "atomic_load(&flag)", "holds");
    check(STORE, "atomic_load_explicit(&flag, memory_order_consume)", "holds");
    check(STORE, "atomic_load_explicit(&flag, memory_order_relaxed)", "race");
    check("atomic_store_explicit(&flag, 1, memory_order_relaxed)", LOAD, "race");
}

#[test]
fn read_modify_writes_have_their_orders() {
    check("atomic_exchange_explicit(&flag, 1, memory_order_release)", LOAD, "holds");
    check("atomic_exchange_explicit(&flag, 1, memory_order_acquire)", LOAD, "race");
    check("atomic_fetch_add_explicit(&flag, 1, memory_order_release)", LOAD, "holds");
    check("atomic_fetch_sub_explicit(&flag, 1, memory_order_acquire)", LOAD, "race");
    check(STORE, "atomic_fetch_or_explicit(&flag, 0, memory_order_acq_rel)", "holds");
    check(STORE, "atomic_fetch_and_explicit(&flag, 1, memory_order_release)", "race");
}

#[test]
fn a_compare_and_swap_that_fails_has_the_order_for_failure() {
    check(STORE, "finds_1(0, memory_order_relaxed, memory_order_acquire)", "holds");
    check(STORE, "finds_1(0, memory_order_acq_rel, memory_order_relaxed)", "race");
    check(STORE, "finds_1(1, memory_order_acquire, memory_order_relaxed)", "holds");
    check(STORE, "finds_1(1, memory_order_release, memory_order_acquire)", "race");
}

#[test]
fn fences_order_relaxed_accesses() {
    const WRITE: &str = "atomic_store_explicit(&flag, 1, memory_order_relaxed)";
    const READ: &str = "atomic_load_explicit(&flag, memory_order_relaxed)";
    let before = |order: &str| format!("fence({order}); {WRITE}");
    let behind = |order: &str| format!("{READ} && fence({order})");
    check(&before("memory_order_release"), &behind("memory_order_acquire"), "holds");
    check(&before("memory_order_seq_cst"), LOAD, "holds");
    check(STORE, &behind("memory_order_acq_rel"), "holds");
    check("__sync_synchronize(); flag = 1", "flag && (__sync_synchronize(), 1)", "holds");
    check(&before("memory_order_acquire"), &behind("memory_order_acquire"), "race");
    check(&before("memory_order_relaxed"), &behind("memory_order_acquire"), "race");
    check(WRITE, &behind("memory_order_seq_cst"), "race");
    check(&before("memory_order_release"), READ, "race");
    // What is written again behind the fence is not covered by it.
    check(&format!("fence(memory_order_release); message = 43; {WRITE}"), LOAD, "race");
    let signal = format!("atomic_signal_fence(memory_order_seq_cst); {WRITE}");
    check(&signal, LOAD, "race");
}

#[test]
fn orders_that_are_no_constants_are_told() {
    let store = |order: &str| format!("atomic_store_explicit(&flag, 1, {order})");
    let load = |order: &str| format!("atomic_load_explicit(&flag, {order})");
    check(&store("order_of_write"), &load("order_of_read"), "holds");
    check(&store("relaxed"), &load("order_of_read"), "race");
    check(&store("order_of_write"), &load("relaxed"), "race");
    check("fence(relaxed); flag = 1", &load("order_of_read"), "holds");
}

#[test]
fn older_built_in_functions_have_the_orders_of_their_manual() {
    check("__sync_fetch_and_add(&plain_flag, 1)", "__sync_fetch_and_or(&plain_flag, 0)", "holds");
    let swaps = "__sync_bool_compare_and_swap(&plain_flag, 1, 2)";
    check("__sync_val_compare_and_swap(&plain_flag, 0, 1)", swaps, "holds");
    // gcc takes this as an acquire, as its manual says; clang makes it the strongest.
    let takes = "__sync_lock_test_and_set(&plain_flag, 1)";
    assert_eq!(verdict(GCC, takes, swaps), "race");
    assert_eq!(verdict(CLANG, takes, swaps), "holds");
    check("__sync_fetch_and_add(&plain_flag, 1)", &format!("{takes} == 1"), "holds");
}

#[test]
fn wide_atomics_have_their_orders() {
    let store = |order: &str| format!("__atomic_store_n(&wide_flag, 1, {order})");
    let load = |order: &str| format!("__atomic_load_n(&wide_flag, {order})");
    check(&store("__ATOMIC_RELEASE"), &load("__ATOMIC_ACQUIRE"), "holds");
    check(&store("__ATOMIC_RELAXED"), &load("__ATOMIC_ACQUIRE"), "race");
    check(&store("__ATOMIC_RELEASE"), &load("__ATOMIC_RELAXED"), "race");
    let store = |order: &str| format!("__atomic_store(&large_flag, &one, {order})");
    check(&store("__ATOMIC_RELEASE"), "load_large(__ATOMIC_ACQUIRE)", "holds");
    check(&store("__ATOMIC_RELAXED"), "load_large(__ATOMIC_ACQUIRE)", "race");
    check(&store("__ATOMIC_RELEASE"), "load_large(__ATOMIC_RELAXED)", "race");
}

/// Who is woken has learnt nothing by that.
#[test]
fn a_futex_orders_nothing() {
    let write = |order: &str| format!("atomic_store_explicit(&flag, 1, {order}); wake()");
    check(&write("memory_order_release"), "wait_for_flag(memory_order_acquire)", "holds");
    check(&write("memory_order_release"), "wait_for_flag(memory_order_relaxed)", "race");
    check(&write("memory_order_relaxed"), "wait_for_flag(memory_order_acquire)", "race");
}

/// The atomics that are accessed with weak orders, and in which lines.
#[track_caller]
fn check_weak(program: &Program, expected: &[&str]) {
    let answer = program.explore(&json!({}));
    let Some(Verdict::Holds(coverage)) = &answer.verdict else { panic!("{}", answer.message) };
    let weak = coverage.assumptions().iter().find_map(|it| match it {
        Assumption::SequentialConsistency(accesses) => Some(accesses.as_slice()),
        _ => None,
    });
    let line = |it: &WeakAccess| it.location.as_ref().map_or(0, |place| place.line);
    let order = |it: &WeakAccess| it.order.map_or("volatile", MemoryOrder::name);
    let told = weak.unwrap_or_default().iter();
    let told: Vec<String> =
        told.map(|it| format!("{} {} {}", it.object, order(it), line(it))).collect();
    assert_eq!(told, expected);
}

/// The C++ compilers say where they are; no other engine reads C++.
#[test]
fn volatile_variables_that_threads_share_are_told() {
    for by in [GCC, CLANG] {
        for optimisation in ["-O0", "-O2"] {
            let program = Program::build_by(by, "volatile.cc", &[optimisation]);
            let answer = program.explore(&json!({}));
            let Some(Verdict::Holds(coverage)) = &answer.verdict else {
                panic!("{}", answer.message)
            };
            let told = coverage.assumptions().iter().find_map(|it| match it {
                Assumption::SequentialConsistency(accesses) => Some(accesses.as_slice()),
                _ => None,
            });
            let told = told.unwrap_or_default();
            assert!(told.iter().all(|it| it.order.is_none()), "{told:?}");
            let names: Vec<&str> = told.iter().map(|it| it.object.as_str()).collect();
            assert_eq!(names.len(), 2, "{names:?}");
            assert!(names.contains(&"x") && names.contains(&"y"), "{names:?}");
        }
    }
}

#[test]
fn accesses_with_weak_orders_are_told_with_their_places() {
    for by in [GCC, CLANG] {
        check_weak(&build(by, "atomic_store(&flag, 1)", "atomic_load(&flag)"), &[]);
        check_weak(&build(by, STORE, LOAD), &["flag release 54", "flag acquire 59"]);
        let adds =
            "for (int i = 0; i < 3; i++) atomic_fetch_add_explicit(&flag, i, memory_order_acq_rel)";
        let swaps = "finds_1(7, memory_order_seq_cst, memory_order_relaxed) && 0";
        check_weak(&build(by, adds, swaps), &["flag relaxed 33", "flag acquire-release 54"]);
        let store = "__atomic_store_n(&wide_flag, 1, __ATOMIC_RELEASE)";
        let load = "__atomic_load_n(&wide_flag, __ATOMIC_SEQ_CST)";
        check_weak(&build(by, store, load), &["wide_flag release 54"]);
        for optimisation in ["-O0", "-O2"] {
            let expected = [
                "done (local of main) relaxed 9",
                "done (local of main) relaxed 10",
                "done (local of main) release 19",
                "total acquire-release 20",
                "main.heap+0x20 acquire 25",
            ];
            check_weak(&Program::build_by(by, "weak.cc", &[optimisation]), &expected);
        }
    }
}
