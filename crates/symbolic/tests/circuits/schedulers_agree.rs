//! Random programs: a circuit under every scheduler and with every engine finds what a search
//! through all states of the machine finds.

use crate::{kit, translate};
use mazurka_core::{Decision, Next, System as _, ThreadId, Verdict};
use mazurka_effort::{is_full, seeds};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_model::{Program, Races, Vm};
use mazurka_script::{Script, Shape, generate};
use mazurka_symbolic::{
    Answer, Bounds, Encode, Encoding, Engine, Limits, Meaning, Property, Schedule, encode,
};
use std::collections::BTreeSet;

/// What goes wrong: the kind, and what an assertion says.
type Errors = BTreeSet<String>;

/// Everything that goes wrong in some execution, as the machine has it.
fn errors_of_machine(program: &Program) -> Errors {
    let vm = Vm::new(program.clone(), Races::Allow).expect("scripts are simple");
    let mut errors = Errors::new();
    let mut seen = BTreeSet::from([vm.fingerprint()]);
    let mut to_visit = vec![vm];
    while let Some(vm) = to_visit.pop() {
        let nexts: Vec<Next> =
            (0..vm.n_threads()).map(|thread| vm.next(ThreadId::new(thread))).collect();
        let is_over = !nexts.iter().any(|next| matches!(next, Next::Enabled { .. }));
        if is_over && nexts.iter().any(|next| matches!(next, Next::Blocked(_))) {
            errors.insert("deadlock".to_owned());
        }
        for (thread, next) in nexts.into_iter().enumerate() {
            let Next::Enabled { choices, .. } = next else { continue };
            for choice in 0..choices {
                let mut after = vm.clone();
                match after.step(Decision { thread: ThreadId::new(thread), choice }) {
                    Err(failure) => {
                        let violation = failure.violation;
                        errors.insert(error(violation.kind.name(), &violation.message));
                    }
                    Ok(_) if seen.insert(after.fingerprint()) => to_visit.push(after),
                    Ok(_) => {}
                }
            }
        }
    }
    errors
}

fn error(kind: &str, message: &str) -> String {
    match message.starts_with("assertion `") {
        true => message.to_owned(),
        false => kind.to_owned(),
    }
}

fn error_of(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Violation(fault) => error(fault.kind, &fault.message),
        Meaning::Deadlock => "deadlock".to_owned(),
        Meaning::Race => "race".to_owned(),
        other => panic!("{other:?}, and nobody asked"),
    }
}

fn encoded(program: &Program, schedule: Schedule, races: bool) -> Encoding {
    let bounds = Bounds { threads: 4, ..Bounds::default() };
    let options = Encode { races, plain_steps: !races, bounds, ..Encode::default() };
    encode(program, &options, schedule.scheduler()).expect("scripts are simple")
}

/// What the states of a circuit say, each of them confirmed by the machine.
fn errors_of_circuit(program: &Program, encoding: &Encoding) -> Errors {
    let found = kit::search(&encoding.circuit, 100_000);
    assert!(!found.is_cut, "the program has too many states");
    let mut errors = Errors::new();
    for (idx, witness) in found.witnesses.iter().enumerate() {
        let Some(witness) = witness else { continue };
        errors.insert(error_of(&encoding.meanings[idx]));
        let mut vm = Vm::new(program.clone(), Races::Allow).expect("scripts are simple");
        let lifted = encoding.lift(witness, &mut vm).expect("a witness is one");
        assert!(lifted.is_whole, "{:?}", lifted.schedule);
        let again = mazurka_explore::replay(&mut vm, &lifted.schedule).expect("it can be followed");
        let violation = again.violation.clone().map(|(_, violation)| violation);
        let violation = violation.or_else(|| again.deadlock(&vm)).expect("something is wrong");
        assert_eq!(error(violation.kind.name(), &violation.message), error_of(&lifted.meaning));
    }
    errors
}

/// The programs of a shape whose circuits have few enough inputs to try them all.
fn programs(shape: &Shape, seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Script, Program)> {
    seeds.map(move |seed| {
        let script = generate(seed, shape);
        let program = translate::translate(&script).program;
        (script, program)
    })
}

fn everything() -> Shape {
    Shape { channels: false, max_total: 8, n_threads: 2..=3, ..Shape::everything() }
}

#[test]
fn every_schedule_finds_what_the_machine_finds() {
    let mut n_wrong = 0;
    for (script, program) in programs(&everything(), seeds(0..400)) {
        let expected = errors_of_machine(&program);
        n_wrong += usize::from(!expected.is_empty());
        for schedule in Schedule::ALL {
            let encoding = encoded(&program, schedule, false);
            let errors = errors_of_circuit(&program, &encoding);
            assert_eq!(errors, expected, "{} of {script}", schedule.name());
        }
    }
    let is_known = n_wrong == 128 || !is_full();
    assert!(is_known, "{n_wrong} programs with something to find");
}

#[test]
fn races_of_neighbours_are_races_of_happens_before() {
    let shape = Shape {
        plain: true,
        assertions: false,
        condvars: false,
        awaits: false,
        barriers: false,
        ..everything()
    };
    let mut n_races = 0;
    for (script, program) in programs(&shape, 0..300) {
        let vm = Vm::new(program.clone(), Races::Error).expect("scripts are simple");
        let mut options = Options::new();
        options.reduction = Reduction::Optimal;
        options.deadlock = false;
        options.livelock = false;
        let outcome = Explorer::new(options).run(|| vm.clone()).expect("scripts repeat");
        let has_race = match outcome.verdict {
            Verdict::Violated(found) => found.violation.kind.name() == "race",
            _ => false,
        };
        n_races += usize::from(has_race);
        for schedule in Schedule::ALL {
            let encoding = encoded(&program, schedule, true);
            let found = kit::search(&encoding.circuit, 100_000);
            let race = encoding.meanings.iter().position(|it| *it == Meaning::Race);
            let is_found = race.is_some_and(|race| found.witnesses[race].is_some());
            assert_eq!(is_found, has_race, "{} of {script}", schedule.name());
        }
    }
    assert_eq!(n_races, 16, "programs with a race");
}

#[test]
fn every_engine_says_what_the_machine_finds() {
    for (script, program) in programs(&everything(), 1000..1010) {
        let expected = errors_of_machine(&program);
        for schedule in Schedule::ALL {
            let encoding = encoded(&program, schedule, false);
            for engine in [Engine::Bounded, Engine::Ic3] {
                let outcome = engine.decide(&encoding.circuit, &Limits::default(), &mut |_| {});
                let name = format!("{} with {} of {script}", engine.name(), schedule.name());
                match outcome.answer {
                    Answer::Safe(_) => assert!(expected.is_empty(), "{name}"),
                    Answer::Unsafe(witness) => {
                        let Property::Bad(idx) = witness.property else { panic!("{name}") };
                        let error = error_of(&encoding.meanings[idx]);
                        assert!(expected.contains(&error), "{name}: {error}");
                    }
                    other => panic!("{name}: {other:?}, without limits"),
                }
            }
        }
    }
}

/// The threads that may take the next step once these have taken theirs, in this order.
fn allowed(text: &str, schedule: Schedule, steps: &[usize]) -> Vec<usize> {
    let script = Script::parse(text).expect("the test has a script");
    let program = translate::translate(&script).program;
    let encoding = encoded(&program, schedule, false);
    let circuit = &encoding.circuit;
    let mut latches: Vec<bool> =
        circuit.latches.iter().map(|latch| latch.init.expect("programs begin somewhere")).collect();
    for &thread in steps {
        let frame = kit::frame(circuit, &latches, thread);
        latches = circuit.latches.iter().map(|latch| frame.value(latch.next())).collect();
    }
    let is_allowed = |&thread: &usize| {
        let frame = kit::frame(circuit, &latches, thread);
        circuit.constraints.iter().all(|&constraint| frame.value(constraint))
    };
    (0..2).filter(is_allowed).collect()
}

const FIGURE_1: &str = "r=0; acq(0); x=1; rel(0); r=4 | z=5; acq(0); x=2; rel(0); x=6";

#[test]
fn figure_1_no_switch_before_3a_while_the_other_thread_needs_the_lock() {
    // T1 is at 3a, T2 has not begun.
    assert_eq!(allowed(FIGURE_1, Schedule::Transactions, &[0, 0]), [0]);
    // The first step of a thread leads to its first operation: T1 is at 3a, T2 at 1b.
    let at_3a = [0, 0, 1];
    assert_eq!(allowed(FIGURE_1, Schedule::Interleaving, &at_3a), [0, 1]);
    assert_ne!(allowed(FIGURE_1, Schedule::Stubborn, &at_3a), [0]);
    assert_eq!(allowed(FIGURE_1, Schedule::Transactions, &at_3a), [0]);
    // T2 is at 5b, outside of the lock: the two accesses to `x` interfere. Its first step has led
    // to the lock, since no other thread uses `z`, and its second one through all that is done
    // under the lock.
    let at_5b = [1, 1, 0, 0];
    assert_eq!(allowed(FIGURE_1, Schedule::Transactions, &at_5b), [0, 1]);
}

const FIGURE_2: &str =
    "acq(1); acq(2); y=1; rel(2); x=0; rel(1) | b=0; acq(2); acq(1); z=2; rel(1); x=1; rel(2)";

#[test]
fn figure_2_no_switch_before_6a_while_the_other_thread_has_to_take_a_lock_on_its_way() {
    // T1 is at 6a and holds lock 1, T2 at 1b.
    let at_6a = [0, 0, 0, 0, 0, 1];
    assert_eq!(allowed(FIGURE_2, Schedule::Interleaving, &at_6a), [0, 1]);
    assert_ne!(allowed(FIGURE_2, Schedule::Stubborn, &at_6a), [0]);
    // From 3a to 6a is one step where what no other thread could disturb is a part of the step
    // before.
    assert_eq!(allowed(FIGURE_2, Schedule::Transactions, &[0, 0, 0]), [0]);
    assert_eq!(allowed(FIGURE_2, Schedule::Transactions, &[0, 0, 0, 1]), [0]);
}

#[test]
fn a_set_without_a_thread_that_can_move_is_no_choice() {
    // The smallest closure over all threads is that of the one that waits for itself.
    let text = "await(x==1); x=1 | x=2; y=2";
    let program = translate::translate(&Script::parse(text).expect("it is one")).program;
    let expected = errors_of_machine(&program);
    for schedule in Schedule::ALL {
        let encoding = encoded(&program, schedule, false);
        assert_eq!(errors_of_circuit(&program, &encoding), expected, "{}", schedule.name());
    }
}

#[test]
fn a_loop_does_not_put_off_others_for_ever() {
    // The first thread can go round without touching what the second one looks at.
    let text = "while y==0 {z=1} | x=1; r=x; assert(r==0); y=1";
    let program = translate::translate(&Script::parse(text).expect("it is one")).program;
    for schedule in Schedule::ALL {
        let encoding = encoded(&program, schedule, false);
        let errors = errors_of_circuit(&program, &encoding);
        assert!(errors.iter().any(|it| it.contains("assertion")), "{}", schedule.name());
    }
}
