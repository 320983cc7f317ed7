//! What `text` and `dot` show of a small program.

use expect_test::expect;
use mazurka_core::ViolationKind;
use mazurka_model::{
    Access, Action, Binary, Compare, Expr, Place, Program, RoutineBuilder, Span, Sync, Type, dot,
    text,
};

/// Counts up to three under a lock.
fn counter() -> Program {
    let mut program = Program::new("counter");
    let file = program.file("counter.c");
    let layout = program.scalar(Type::I32);
    let count = Place::object(program.object("count", layout));
    let layout = program.sync(Sync::Mutex);
    let lock = Place::object(program.object("lock", layout));
    let mut worker = RoutineBuilder::new("worker");
    worker.at(Span { file, line: 3, column: 1 });
    let value = worker.register("value", Type::I32);
    let start = worker.here();
    worker.then(Action::Lock { mutex: lock.clone(), to: None });
    worker.load(value, count.clone(), Access::Plain);
    let three = Expr::int(Type::I32, 3);
    let less = Expr::compare(Compare::Less, worker.get(value), three);
    let otherwise = worker.branch(less);
    let sum = Expr::binary(Binary::Add, worker.get(value), Expr::int(Type::I32, 1));
    worker.store(count, sum, Access::Plain);
    worker.then(Action::Unlock { mutex: lock, to: None });
    worker.jump(start);
    worker.go_on_from(otherwise);
    worker.then(Action::Check {
        condition: Expr::bool(false),
        kind: ViolationKind::Assertion,
        message: "it is three".to_owned(),
    });
    let worker = program.add_routine(worker.finish());
    program.process("first", worker, Vec::new());
    program
}

#[test]
fn a_program_as_text() {
    expect![[r#"
        program counter
        object count: i32
        object lock: mutex
        process first = worker()

        routine worker() with (value%0: i32)  // counter.c:3:1
          0 [start]
            lock lock -> 2  // counter.c:3:1
          1 [end]
          2
            value%0 = load i32 count -> 3  // counter.c:3:1
          3
            [(value%0 < 3)] -> 4  // counter.c:3:1
            skip -> 5  // counter.c:3:1
          4
            store i32 count = (value%0 + 1) -> 6  // counter.c:3:1
          5
            check assertion false: it is three -> 8  // counter.c:3:1
          6
            unlock lock -> 7  // counter.c:3:1
          7
            skip -> 0  // counter.c:3:1
          8
            return -> 1  // counter.c:3:1
    "#]]
    .assert_eq(&text(&counter()));
}

#[test]
fn a_program_as_graphs() {
    expect![[r#"
        digraph "counter" {
          node [shape=circle, fontsize=10]; edge [fontsize=10];
          subgraph cluster_0 {
            label="worker";
            r0_0 [label="0", style=bold];
            r0_1 [label="1", shape=doublecircle];
            r0_2 [label="2"];
            r0_3 [label="3"];
            r0_4 [label="4"];
            r0_5 [label="5"];
            r0_6 [label="6"];
            r0_7 [label="7"];
            r0_8 [label="8"];
            r0_0 -> r0_2 [label="lock lock"];
            r0_2 -> r0_3 [label="value%0 = load i32 count"];
            r0_3 -> r0_4 [label="[(value%0 < 3)]"];
            r0_3 -> r0_5 [label="skip"];
            r0_4 -> r0_6 [label="store i32 count = (value%0 + 1)"];
            r0_5 -> r0_8 [label="check assertion false: it is three"];
            r0_6 -> r0_7 [label="unlock lock"];
            r0_7 -> r0_0 [label="skip"];
            r0_8 -> r0_1 [label="return"];
          }
        }
    "#]]
    .assert_eq(&dot(&counter()));
}
