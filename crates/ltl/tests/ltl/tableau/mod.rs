//! The textbook's construction: states are all consistent sets of subformulae.
//!
//! Written apart from the translation under test: no normal form, no rewriting, no alternation.

use mazurka_ltl::{Automaton, Binary, Cube, Edge, Formula, State, Unary};

/// An automaton for a formula, exponential in its length.
pub(crate) fn automaton(formula: &Formula, atoms: &[String]) -> Automaton {
    let mut parts = Vec::new();
    collect(formula, &mut parts);
    // Free are the atoms and what the next position decides; the rest follows.
    let sets: Vec<Vec<bool>> = (0..1u64 << parts.len())
        .map(|code| (0..parts.len()).map(|idx| code >> idx & 1 == 1).collect())
        .filter(|set: &Vec<bool>| is_consistent(&parts, set))
        .collect();
    let promises: Vec<usize> = (0..parts.len()).filter(|&idx| is_promise(parts[idx])).collect();
    // A copy for each promise that is waited for, and one where all have been kept.
    let n_copies = promises.len() + 1;
    let number = |set: usize, copy: usize| 1 + set * n_copies + copy;
    let edges_to = |from: Option<&Vec<bool>>, copy: usize| {
        let allowed = |set: &Vec<bool>| match from {
            None => value(&parts, set, formula),
            Some(from) => follows(&parts, from, set),
        };
        let targets = sets.iter().enumerate().filter(|(_, set)| allowed(set));
        targets
            .map(|(idx, set)| {
                let mut next = if copy == promises.len() { 0 } else { copy };
                while next < promises.len() && is_kept(&parts, set, promises[next]) {
                    next += 1;
                }
                Edge { guard: letter(&parts, set, atoms.len()), target: number(idx, next) }
            })
            .collect::<Vec<_>>()
    };
    let mut states = vec![State { is_accepting: false, edges: edges_to(None, 0) }];
    for set in &sets {
        for copy in 0..n_copies {
            let is_accepting = copy == promises.len();
            states.push(State { is_accepting, edges: edges_to(Some(set), copy) });
        }
    }
    Automaton { atoms: atoms.to_vec(), states }
}

fn collect<'a>(formula: &'a Formula, parts: &mut Vec<&'a Formula>) {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => {}
        Formula::Unary(_, operand) => collect(operand, parts),
        Formula::Binary(_, left, right) => {
            collect(left, parts);
            collect(right, parts);
        }
    }
    if !parts.contains(&formula) {
        parts.push(formula);
    }
}

fn index(parts: &[&Formula], formula: &Formula) -> usize {
    parts.iter().position(|part| *part == formula).expect("it is a part")
}

fn value(parts: &[&Formula], set: &[bool], formula: &Formula) -> bool {
    set[index(parts, formula)]
}

/// Whether the formula, or its negation, says that something happens at last.
fn is_promise(formula: &Formula) -> bool {
    matches!(
        formula,
        Formula::Unary(Unary::Always | Unary::Eventually, _)
            | Formula::Binary(Binary::Until | Binary::WeakUntil | Binary::Release, ..)
    )
}

/// Whether nothing is promised by this formula here, or what is promised happens here.
fn is_kept(parts: &[&Formula], set: &[bool], idx: usize) -> bool {
    let holds = set[idx];
    let value = |formula: &Formula| value(parts, set, formula);
    match parts[idx] {
        Formula::Unary(Unary::Eventually, operand) => !holds || value(operand),
        Formula::Unary(Unary::Always, operand) => holds || !value(operand),
        Formula::Binary(Binary::Until, _, right) => !holds || value(right),
        Formula::Binary(Binary::WeakUntil, left, right) => holds || !value(left) && !value(right),
        Formula::Binary(Binary::Release, _, right) => holds || !value(right),
        _ => true,
    }
}

/// Whether the connectives without time are respected, and what time forces at once.
fn is_consistent(parts: &[&Formula], set: &[bool]) -> bool {
    let value = |formula: &Formula| value(parts, set, formula);
    parts.iter().zip(set).all(|(part, &holds)| match part {
        Formula::Constant(it) => holds == *it,
        Formula::Atom(_) | Formula::Unary(Unary::Next, _) => true,
        Formula::Unary(Unary::Not, operand) => holds != value(operand),
        Formula::Unary(Unary::Always, operand) => !holds || value(operand),
        Formula::Unary(Unary::Eventually, operand) => holds || !value(operand),
        Formula::Binary(operator, left, right) => {
            let (left, right) = (value(left), value(right));
            match operator {
                Binary::And => holds == (left && right),
                Binary::Or => holds == (left || right),
                Binary::Implies => holds == (!left || right),
                Binary::Equivalent => holds == (left == right),
                Binary::Until | Binary::WeakUntil => (!right || holds) && (!holds || left || right),
                Binary::Release => (!holds || right) && (holds || !(left && right)),
            }
        }
    })
}

/// Whether `next` can be the set of the position after that of `now`.
fn follows(parts: &[&Formula], now: &[bool], next: &[bool]) -> bool {
    parts.iter().enumerate().all(|(idx, part)| {
        let value = |formula: &Formula| value(parts, now, formula);
        let later = next[idx];
        match part {
            Formula::Unary(Unary::Next, operand) => now[idx] == next[index(parts, operand)],
            Formula::Unary(Unary::Always, operand) => now[idx] == (value(operand) && later),
            Formula::Unary(Unary::Eventually, operand) => now[idx] == (value(operand) || later),
            Formula::Binary(Binary::Until | Binary::WeakUntil, left, right) => {
                now[idx] == (value(right) || value(left) && later)
            }
            Formula::Binary(Binary::Release, left, right) => {
                now[idx] == (value(right) && (value(left) || later))
            }
            _ => true,
        }
    })
}

fn letter(parts: &[&Formula], set: &[bool], n_atoms: usize) -> Cube {
    let mut cube = Cube::TRUE;
    for atom in 0..n_atoms {
        if let Some(idx) = parts.iter().position(|part| **part == Formula::Atom(atom)) {
            cube = cube.and(Cube::literal(atom, set[idx])).expect("each atom comes once");
        }
    }
    cube
}
