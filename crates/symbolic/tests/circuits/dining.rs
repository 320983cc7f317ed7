//! Dining philosophers: what they can do in how many steps, under each scheduler, and what the
//! order of steps is worth.

use crate::philosophers::{Question, Table, depth, table};
use mazurka_symbolic::{Answer, Circuit, Engine, Limits, Move, Outcome, peephole, quasi_monotonic};

/// Constraints on who may move.
type Constrain = fn(&mut Circuit, &[Move]);

fn decide(n: usize, question: Question, constrain: Constrain, in_order: bool) -> Outcome {
    let Table { mut circuit, moves } = table(n, question);
    constrain(&mut circuit, &moves);
    let limits = Limits { depth: Some(depth(n)), in_order, ..Limits::default() };
    Engine::Bounded.decide(&circuit, &limits, &mut |_| {})
}

#[test]
fn all_orders_find_the_same_and_some_are_cheaper() {
    for n in 2..=4 {
        for question in Question::ALL {
            let all: [Constrain; 3] = [|_, _| {}, peephole, quasi_monotonic];
            let [none, ppor, mpor] = all.map(|constrain| decide(n, question, constrain, true));
            for outcome in [&none, &ppor, &mpor] {
                match (question, &outcome.answer) {
                    (Question::AllEat, Answer::SafeTo { depth: last }) => {
                        assert_eq!(*last, depth(n));
                    }
                    // Each takes two chop-sticks, begins and ends, and of each chop-stick the first
                    // to have it puts it back.
                    (Question::AllHaveEaten, Answer::Unsafe(witness)) => {
                        assert_eq!(witness.depth(), 5 * n);
                    }
                    (_, answer) => panic!("{n} philosophers: {answer:?}"),
                }
            }
            let [none, mpor] = [none, mpor].map(|outcome| outcome.statistics);
            assert!(2 * mpor.clauses <= 5 * none.clauses, "{n}: {mpor:?}, {none:?}");
            match question {
                Question::AllHaveEaten => assert!(mpor.conflicts < none.conflicts, "{n}"),
                // Conflicts with constraints cost more.
                Question::AllEat => assert!(mpor.conflicts < none.conflicts * 3 / 2, "{n}"),
            }
        }
    }
}

#[test]
fn what_takes_many_steps_is_seen_ahead() {
    let outcome = decide(7, Question::AllHaveEaten, quasi_monotonic, false);
    let Answer::Unsafe(witness) = outcome.answer else { panic!("{:?}", outcome.answer) };
    assert!((35..=50).contains(&witness.depth()), "{}", witness.depth());
}
