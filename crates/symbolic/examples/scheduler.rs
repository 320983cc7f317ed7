//! A partial-order reduction of one's own, as a constraint on a circuit: of two steps that follow
//! each other and touch nothing in common, the smaller thread's comes first.
//!
//! It is the peephole reduction of Wang, Yang, Kahlon and Gupta (TACAS 2008), written with what the
//! crate offers to everybody. Each engine finds the same with it and without.
//!
//! `cargo run -p mazurka-symbolic --example scheduler`

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_model::{Access, Action, Expr, Place, Program, RegisterId, RoutineBuilder, Type};
use mazurka_model::{Compare, ViolationKind};
use mazurka_symbolic::{
    Answer, Encode, Encoding, Engine, Limits, Lit, Move, Schedule, Scheduler, encode,
};

/// The reduction.
struct SmallerFirst;

impl Scheduler for SmallerFirst {
    fn name(&self) -> &'static str {
        "smaller-first"
    }

    fn constrain(&self, encoding: &mut Encoding) {
        let moves = Move::of_threads(encoding);
        let circuit = &mut encoding.circuit;
        // Which thread took the step before, and which cells it has read and written.
        let last: Vec<Lit> = (0..moves.len())
            .map(|thread| circuit.latch(format!("last.{thread}"), Some(false)))
            .collect();
        for (&was, it) in last.iter().zip(&moves) {
            circuit.set_next(was, it.executes);
        }
        let n_cells = moves.iter().flat_map(|it| &it.touches).map(|it| it.cell + 1).max();
        let mut cells = Vec::new();
        for cell in 0..n_cells.unwrap_or(0) {
            let [read, written] = [false, true].map(|is_write| {
                let mut now = Vec::new();
                for it in &moves {
                    let touches = it.touches.iter().filter(|touch| touch.cell == cell);
                    let same = touches.filter(|touch| touch.is_write == is_write);
                    let touched = circuit.aig.any(same.map(|touch| touch.when).collect::<Vec<_>>());
                    now.push(circuit.aig.and(it.executes, touched));
                }
                let now = circuit.aig.any(now);
                let was = circuit.latch(format!("cell.{cell}.{is_write}"), Some(false));
                circuit.set_next(was, now);
                was
            });
            cells.push((read, written));
        }
        for (thread, it) in moves.iter().enumerate() {
            let mut conflicts = Vec::new();
            for touch in &it.touches {
                let (read, written) = cells[touch.cell];
                let either = circuit.aig.or(read, written);
                let before = if touch.is_write { either } else { written };
                conflicts.push(circuit.aig.and(touch.when, before));
            }
            let conflicts = circuit.aig.any(conflicts);
            let was_greater = circuit.aig.any(last[thread + 1..].to_vec());
            let is_early = circuit.aig.and(was_greater, !conflicts);
            let is_wrong = circuit.aig.and(it.executes, is_early);
            circuit.constrain(!is_wrong);
        }
    }
}

/// Three processes that each increase a counter of their own twice, and then a common one.
fn program() -> Program {
    const INT: Type = Type::I32;
    let mut program = Program::new("counters");
    let int = program.scalar(INT);
    let common = Place::object(program.object("common", int));
    for number in 0..3 {
        let own = Place::object(program.object(&format!("own{number}"), int));
        let mut process = RoutineBuilder::new("process");
        let seen = process.register("seen", INT);
        for place in [&own, &own, &common] {
            increase(&mut process, place, seen);
        }
        // No more than three have been there: nothing goes wrong.
        let condition = Expr::compare(Compare::Less, process.get(seen), Expr::int(INT, 3));
        let message = "there are more than three".to_owned();
        process.then(Action::Check { condition, kind: ViolationKind::Assertion, message });
        let id = program.add_routine(process.finish());
        program.process(&format!("p{number}"), id, Vec::new());
    }
    program
}

fn increase(process: &mut RoutineBuilder, place: &Place, seen: RegisterId) {
    process.load(seen, place.clone(), Access::ATOMIC);
    let more = mazurka_model::Binary::Add;
    let more = Expr::binary(more, process.get(seen), Expr::int(Type::I32, 1));
    process.store(place.clone(), more, Access::ATOMIC);
}

fn main() {
    let program = program();
    let all: [&dyn Scheduler; 4] = [
        Schedule::Interleaving.scheduler(),
        &SmallerFirst,
        Schedule::Ppor.scheduler(),
        Schedule::Mpor.scheduler(),
    ];
    for scheduler in all {
        let encoding = encode(&program, &Encode::default(), scheduler).expect("it is small");
        let outcome = Engine::Bounded.decide(&encoding.circuit, &Limits::default(), &mut |_| {});
        let answer = match outcome.answer {
            Answer::Safe(_) => "nothing bad in any execution".to_owned(),
            Answer::SafeTo { depth } => format!("nothing bad in {depth} steps"),
            Answer::Unsafe(witness) => format!("bad after {} steps", witness.depth()),
            Answer::Unknown { why, .. } => why.to_string(),
        };
        println!("{}: {answer}, {} conflicts", scheduler.name(), outcome.statistics.conflicts);
    }
}
