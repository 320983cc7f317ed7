//! On the formulae that the literature measures with, automata are no larger than SPIN's.

use mazurka_effort::{has_tool, seeds};
use mazurka_ltl::{Automaton, Formula, Pool, common_word, translate};
use std::fmt::Write as _;
use std::process::Command;

const FORMULAE: &str = include_str!("formulae.txt");

fn formulae() -> impl Iterator<Item = (&'static str, Formula, Vec<String>)> {
    FORMULAE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let mut atoms = Vec::new();
        let formula =
            Formula::parse(line, &mut atoms).unwrap_or_else(|error| panic!("{line}: {error}"));
        (line, formula, atoms)
    })
}

fn automata(formula: &Formula, atoms: &[String]) -> [Automaton; 2] {
    let mut pool = Pool::new();
    let normal = pool.add(formula);
    let negation = pool.not(normal);
    [normal, negation].map(|it| translate(&mut pool, it, atoms).expect("it is small"))
}

/// The number of states of SPIN's never claim for a formula.
fn spin(formula: &str) -> usize {
    let output = Command::new("spin").args(["-f", formula]).output();
    let output = output.expect("SPIN is installed: Debian's package is called spin");
    let claim = String::from_utf8(output.stdout).expect("SPIN prints ASCII");
    assert!(claim.starts_with("never"), "{formula}: {claim}");
    claim.lines().filter(|line| line.ends_with(':')).count()
}

#[test]
fn automata_are_no_larger_than_spins() {
    if !has_tool("spin") {
        return;
    }
    let mut table = String::new();
    let mut n_worse = 0;
    // SPIN as Debian builds it does not know `X`.
    for (line, formula, atoms) in formulae().filter(|(line, ..)| !line.contains('X')) {
        let [automaton, _] = automata(&formula, &atoms);
        let (ours, spins) = (automaton.states.len(), spin(&formula.display(&atoms).to_string()));
        n_worse += usize::from(ours > spins);
        let mark = if ours > spins { "!" } else { " " };
        let _ = writeln!(table, "{mark} {ours:3} {spins:3}  {line}");
    }
    assert_eq!(n_worse, 0, "{table}");
}

/// Formulae that are not written by hand: there, too.
#[test]
fn automata_of_random_formulae_are_no_larger_than_spins() {
    if !has_tool("spin") {
        return;
    }
    let mut table = String::new();
    let (mut n_worse, mut n_all, mut sums) = (0, 0, [0, 0]);
    for seed in seeds(0..300) {
        let text = random(&mut Random(seed), 3);
        let mut atoms = Vec::new();
        let formula = Formula::parse(&text, &mut atoms).expect("it is a formula");
        let [automaton, _] = automata(&formula, &atoms);
        let (ours, spins) = (automaton.states.len(), spin(&formula.display(&atoms).to_string()));
        n_all += 1;
        sums = [sums[0] + ours, sums[1] + spins];
        if ours > spins {
            n_worse += 1;
            let _ = writeln!(table, "{ours:3} {spins:3}  {text}");
        }
    }
    assert_eq!(n_worse, 0, "of {n_all}, {sums:?} states:\n{table}");
    assert!(3 * sums[0] < 2 * sums[1], "{sums:?} states");
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn random(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let atom = ["p", "q", "r"][random.below(3) as usize];
        return if random.below(3) == 0 { format!("!{atom}") } else { atom.to_owned() };
    }
    let left = self::random(random, depth - 1);
    let right = self::random(random, depth - 1);
    match random.below(9) {
        0 | 1 => format!("[] ({left})"),
        2 | 3 => format!("<> ({left})"),
        4 => format!("(({left}) U ({right}))"),
        5 => format!("(({left}) V ({right}))"),
        6 => format!("(({left}) && ({right}))"),
        7 => format!("(({left}) || ({right}))"),
        _ => format!("(({left}) -> ({right}))"),
    }
}

#[test]
fn a_formula_and_its_negation_have_no_word_in_common() {
    for (line, formula, atoms) in formulae() {
        let [automaton, negation] = automata(&formula, &atoms);
        assert_eq!(common_word(&automaton, &negation), None, "{line}");
    }
}
