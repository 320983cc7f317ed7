//! What people are told of the steps of a model: names of values, and values that are cut off.

use mazurka_core::{Verdict, ViolationKind};
use mazurka_promela::translate_text;
use mazurka_statespace::{Machine, Moves, Options, Successor, Transitions, search};

fn machine(text: &str) -> Machine {
    let model = translate_text("told.pml", text).unwrap_or_else(|faults| panic!("{faults}"));
    Machine::new(&model.program).expect("the machine runs all of Promela")
}

/// The values and the faults of the first steps of a model, as long as there is a first one.
fn told(mut machine: Machine) -> Vec<String> {
    let (mut state, mut moves, mut told) = (Vec::new(), Moves::new(), Vec::new());
    machine.initial(&mut state);
    loop {
        moves.clear();
        machine.expand(&state, &mut moves);
        let Some(made) = moves.iter().next().copied() else { return told };
        told.extend(machine.describe(&state, made.step).into_iter().filter_map(|it| it.value));
        let fault = made.fault.map(|fault| machine.violation(&state, made.step, fault));
        told.extend(fault.map(|violation| violation.message));
        if made.successor == Successor::None {
            return told;
        }
        state = moves.state(0).to_vec();
    }
}

#[test]
fn values_have_the_names_of_their_set() {
    let text = "mtype = { ping, pong };\nmtype:fruit = { apple, pear };\ntypedef T { mtype:fruit f };\n\
                chan c = [1] of { mtype, mtype:fruit, byte };\nchan d = [1] of { T };\n\
                init { mtype m = ping; mtype:fruit f = apple; byte n; T t;\n\
                c!m,f,1; c?m,f,n; t.f = pear; d!t; printf(\"%e %e %e %e %e\\n\", m, f, pear, n, t.f) }\n";
    let wanted = ["(ping, apple, 1)", "(ping, apple, 1)", "(pear)", "ping apple pear pong pear\n"];
    assert_eq!(told(machine(text)), wanted);
}

#[test]
fn values_that_are_cut_off_are_found_if_asked() {
    let text = "byte x; unsigned u : 3; chan c = [1] of { byte }; chan d = [0] of { bit };\n\
                active proctype q() { d?_ }\nproctype p(bit y) { skip }\n\
                init { x = 300; u = 9; c!257; c?x; run p(2); d_step { x = 0; x-- }; d!259 }\n";
    let cut = |told: Vec<String>| -> Vec<String> {
        told.into_iter().filter(|it| it.contains("truncated")).collect()
    };
    assert!(cut(told(machine(text))).is_empty());
    let found = cut(told(machine(text).finding_truncation()));
    let wanted = ["300->44 (8)", "9->1 (3)", "257->1 (8)", "2->0 (1)", "-1->255 (8)", "259->3 (8)"];
    assert_eq!(found, wanted.map(|cut| format!("value ({cut}) truncated in assignment")));
    let verdict = |machine: &Machine| {
        let outcome = search(machine, &Options::default()).expect("the options go together");
        outcome.verdict
    };
    assert!(matches!(verdict(&machine(text)), Verdict::Holds(_)));
    let Verdict::Violated(found) = verdict(&machine(text).finding_truncation()) else {
        panic!("300 is more than a byte holds")
    };
    assert_eq!(found.violation.kind, ViolationKind::Overflow);
}
