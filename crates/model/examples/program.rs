//! A `Program` built by hand and searched: two processes that pass a flag, with the memory order
//! that makes it right and the one that does not.
//!
//! `cargo run -p mazurka-model --example program`

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_core::{MemoryOrder, Verdict};
use mazurka_explore::{Explorer, Options};
use mazurka_model::{
    Access, Action, Compare, Expr, Place, Program, Races, RoutineBuilder, Type, ViolationKind, Vm,
    text,
};

const INT: Type = Type::I32;

/// `data = 7; flag = 1` beside `if (flag == 1) assert(data == 7)`; the flag is stored with `order`.
fn message(order: MemoryOrder) -> Program {
    let mut program = Program::new("message");
    let int = program.scalar(INT);
    let [data, flag] = ["data", "flag"].map(|name| Place::object(program.object(name, int)));

    let mut sender = RoutineBuilder::new("sender");
    sender.store(data.clone(), Expr::int(INT, 7), Access::Plain);
    sender.store(flag.clone(), Expr::int(INT, 1), Access::Atomic(order));

    let mut receiver = RoutineBuilder::new("receiver");
    let (seen, value) = (receiver.register("seen", INT), receiver.register("value", INT));
    receiver.load(seen, flag, Access::Atomic(MemoryOrder::Acquire));
    let is_sent = Expr::compare(Compare::Equal, receiver.get(seen), Expr::int(INT, 1));
    let not_sent = receiver.branch(is_sent);
    receiver.load(value, data, Access::Plain);
    let condition = Expr::compare(Compare::Equal, receiver.get(value), Expr::int(INT, 7));
    let message = "the data is not there".to_owned();
    receiver.then(Action::Check { condition, kind: ViolationKind::Assertion, message });
    receiver.jump(not_sent);
    receiver.go_on_from(not_sent);

    for routine in [sender, receiver] {
        let routine = routine.finish();
        let name = routine.name.clone();
        let id = program.add_routine(routine);
        program.process(&name, id, Vec::new());
    }
    program
}

fn main() {
    println!("{}", text(&message(MemoryOrder::Release)));
    for order in [MemoryOrder::Release, MemoryOrder::Relaxed] {
        let vm = Vm::new(message(order), Races::Error).expect("the machine runs all of it");
        let outcome = Explorer::new(Options::new()).run(|| vm.clone()).expect("the options agree");
        let told = match &outcome.verdict {
            Verdict::Holds(coverage) => coverage.to_string(),
            Verdict::Violated(found) => found.violation.message.clone(),
            other => format!("{other:?}"),
        };
        println!("{order}: {told}; {} executions", outcome.statistics.executions);
    }
}
