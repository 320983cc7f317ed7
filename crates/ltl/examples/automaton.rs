//! From a formula to a Büchi automaton: `automaton '[] (request -> <> answer)'`.
//!
//! `cargo run -p mazurka-ltl --example automaton`

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_ltl::{Atoms, Formula, Lasso, accepts, hoa, negated, print};

fn main() {
    let text = std::env::args().nth(1).unwrap_or_else(|| "[] (request -> <> answer)".to_owned());
    let mut atoms = Atoms::new();
    let formula = Formula::parse(&text, &mut atoms).unwrap_or_else(|error| panic!("{error}"));

    // Executions that violate the formula are those that the automaton of its negation accepts.
    let (automaton, stuttering) =
        negated(&formula, &atoms).unwrap_or_else(|error| panic!("{error}"));
    println!("{} states, {} edges, {stuttering:?}", automaton.states.len(), automaton.n_edges());
    println!("{}", print::never(&automaton, &text));
    println!("{}", hoa::write(&automaton, &text));

    // A letter has a bit for each atom. Here nothing holds but the first atom, once.
    let word = Lasso { letters: vec![1, 0], loop_start: 1 };
    let is_violated = accepts(&automaton, &word);
    assert_eq!(
        is_violated,
        !formula.holds_on(&word.letters, 1),
        "both are definitions of the same"
    );
    println!(
        "`{}` once, and then nothing: {}",
        atoms[0],
        if is_violated { "violated" } else { "holds" }
    );
}
