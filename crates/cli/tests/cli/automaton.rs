//! `mazurka automaton`, to the letter.

use expect_test::{Expect, expect};
use std::process::Command;

fn check(arguments: &[&str], status: i32, expected: Expect) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    let output = command.arg("automaton").args(arguments).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(status));
    let text = if status == 0 { output.stdout } else { output.stderr };
    expected.assert_eq(&String::from_utf8(text).expect("it prints UTF-8"));
}

#[test]
fn a_formula_in_three_formats() {
    check(
        &["[] (p -> <> q)", "--negate", "--format", "never"],
        0,
        expect![[r#"
        never { /* !([] (p -> <> q)) */
        T0_init:
            do
            :: (true) -> goto T0_init
            :: (p && !q) -> goto accept_S1
            od;
        accept_S1:
            do
            :: (!q) -> goto accept_S1
            od;
        }
    "#]],
    );
    check(
        &["<> (x == 1)", "--format", "hoa"],
        0,
        expect![[r#"
        HOA: v1
        name: "<> (x == 1)"
        States: 2
        Start: 0
        AP: 1 "x == 1"
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels state-acc
        --BODY--
        State: 0
        [t] 0
        [0] 1
        State: 1 {0}
        [t] 1
        --END--
    "#]],
    );
    check(
        &["p U q"],
        0,
        expect![[r#"
        digraph automaton {
            rankdir=LR;
            label="p U q";
            node [shape=circle];
            start [shape=point];
            start -> 0;
            0 -> 0 [label="p"];
            0 -> 1 [label="q"];
            1 [shape=doublecircle];
            1 -> 1 [label="true"];
        }
    "#]],
    );
}

#[test]
fn a_mistake_is_marked() {
    check(
        &["[] (p -> <> q"],
        2,
        expect![[r#"
        error: expected an operator or `)`, found the end
          | [] (p -> <> q
          |              ^
    "#]],
    );
    check(
        &["p && ) q"],
        2,
        expect![[r#"
        error: expected a formula, found `)`
          | p && ) q
          |      ^
    "#]],
    );
}
