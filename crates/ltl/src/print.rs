//! Automata for people and for other tools: graphs and never claims.

use crate::formula::shown_atom;
use crate::{Automaton, Cube};
use std::fmt::Write as _;

/// A guard in the syntax of C and Promela.
pub fn guard(cube: Cube, atoms: &[String]) -> String {
    let literals: Vec<String> = literals(cube, atoms, "!").collect();
    match literals.len() {
        0 => "true".to_owned(),
        _ => literals.join(" && "),
    }
}

fn literals<'a>(
    cube: Cube,
    atoms: &'a [String],
    not: &'a str,
) -> impl Iterator<Item = String> + 'a {
    atoms.iter().enumerate().filter_map(move |(idx, atom)| {
        let has = |bits: u64| bits >> idx & 1 == 1;
        let sign = if has(cube.holds) { "" } else { not };
        (has(cube.holds) || has(cube.fails)).then(|| format!("{sign}{}", shown_atom(atom)))
    })
}

/// A graph in the language of Graphviz.
pub fn dot(automaton: &Automaton, title: &str) -> String {
    let mut text = String::from("digraph automaton {\n    rankdir=LR;\n");
    let _ = writeln!(text, "    label=\"{}\";", escaped(title));
    let _ = writeln!(text, "    node [shape=circle];\n    start [shape=point];\n    start -> 0;");
    for (idx, state) in automaton.states.iter().enumerate() {
        if state.is_accepting {
            let _ = writeln!(text, "    {idx} [shape=doublecircle];");
        }
        for edge in &state.edges {
            let label = guard(edge.guard, &automaton.atoms);
            let _ = writeln!(text, "    {idx} -> {} [label=\"{}\"];", edge.target, escaped(&label));
        }
    }
    text.push_str("}\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A never claim of Promela.
pub fn never(automaton: &Automaton, title: &str) -> String {
    let label = |idx: usize| {
        let state = &automaton.states[idx];
        match (state.is_accepting, idx) {
            (true, 0) => "accept_init".to_owned(),
            (false, 0) => "T0_init".to_owned(),
            (true, _) => format!("accept_S{idx}"),
            (false, _) => format!("T{idx}_S{idx}"),
        }
    };
    // Nothing in the title may end the comment.
    let mut text = format!("never {{ /* {} */\n", title.replace("*/", "* /"));
    for (idx, state) in automaton.states.iter().enumerate() {
        let _ = writeln!(text, "{}:", label(idx));
        if state.edges.is_empty() {
            text.push_str("    false;\n");
            continue;
        }
        text.push_str("    do\n");
        for edge in &state.edges {
            let guard = guard(edge.guard, &automaton.atoms);
            let _ = writeln!(text, "    :: ({guard}) -> goto {}", label(edge.target));
        }
        text.push_str("    od;\n");
    }
    text.push_str("}\n");
    text
}
