//! A counterexample as a graph in the language of Graphviz: `dot -Tsvg` draws it.
//!
//! A column is a thread, an arrow within it the order of the thread. An arrow between two columns
//! is one of the transitive reduction of happens-before: solid where one step synchronises with the
//! other, dashed where two accesses race.

use crate::Report;
use crate::diagram::Diagram;
use std::fmt::Write as _;

/// The graph; empty if nothing goes wrong.
pub fn render(report: &Report<'_>) -> String {
    let Some(diagram) = Diagram::shown(report) else { return String::new() };
    let mut text = "digraph execution {\n".to_owned();
    text += "    node [shape=box, fontname=\"monospace\"];\n";
    text += "    edge [fontname=\"monospace\"];\n";
    for (thread, name) in diagram.threads.iter().enumerate() {
        let _ = writeln!(text, "    subgraph cluster_t{thread} {{");
        let _ = writeln!(text, "        label={};", quoted(name));
        let mut before: Option<String> = None;
        let mut add = |node: String, attributes: String, text: &mut String| {
            let _ = writeln!(text, "        {node} [{attributes}];");
            if let Some(before) = before.replace(node.clone()) {
                let _ = writeln!(text, "        {before} -> {node} [weight=8];");
            }
        };
        let rows = diagram.rows.iter().enumerate().filter(|(_, row)| row.thread == thread);
        for (idx, row) in rows {
            let number = row.number.map_or(String::new(), |number| format!("{number}. "));
            let place = row.location.as_ref().map_or(String::new(), |place| format!("\n{place}"));
            let label = quoted(&format!("{number}{}{place}", row.text));
            let is_preempted = if row.is_preempted { ", penwidth=2" } else { "" };
            add(format!("s{idx}"), format!("label={label}{is_preempted}"), &mut text);
        }
        let ends = diagram.ends.iter().enumerate().filter(|(_, (of, _))| *of == thread);
        for (idx, (_, what)) in ends {
            let label = quoted(&format!("✗ {what}"));
            add(format!("e{idx}"), format!("label={label}, color=red"), &mut text);
        }
        text += "    }\n";
    }
    for (idx, row) in diagram.rows.iter().enumerate() {
        for edge in &row.follows {
            let style = if edge.is_race { " [style=dashed, label=\"race\"]" } else { "" };
            let _ = writeln!(text, "    s{} -> s{idx}{style};", edge.from);
        }
    }
    if let (Some(start), Some(last)) = (diagram.loop_start, diagram.rows.len().checked_sub(1)) {
        let _ = writeln!(text, "    s{last} -> s{start} [label=\"for ever\", constraint=false];");
    }
    text += "}\n";
    text
}

/// A text in the quotes of the language, whose lines begin at the left.
fn quoted(text: &str) -> String {
    let mut safe = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' => safe += "\\\"",
            '\\' => safe += "\\\\",
            '\n' => safe += "\\l",
            character if character.is_control() => safe.push(' '),
            character => safe.push(character),
        }
    }
    if text.contains('\n') {
        safe += "\\l";
    }
    safe + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use expect_test::expect;

    #[test]
    fn each_thread_is_a_column_and_races_are_dashed() {
        expect![[r#"
            digraph execution {
                node [shape=box, fontname="monospace"];
                edge [fontname="monospace"];
                subgraph cluster_t0 {
                    label="main";
                    s0 [label="1. spawn worker-1\ltests/counter.rs:21:9\l"];
                    s1 [label="2. spawn worker-2\ltests/counter.rs:22:9\l"];
                    s0 -> s1 [weight=8];
                    s6 [label="7. join worker-1\ltests/counter.rs:24:9\l"];
                    s1 -> s6 [weight=8];
                    s7 [label="8. join worker-2\ltests/counter.rs:24:9\l"];
                    s6 -> s7 [weight=8];
                    s8 [label="9. load counter = 1\ltests/counter.rs:25:9\l"];
                    s7 -> s8 [weight=8];
                    e0 [label="✗ assertion fails", color=red];
                    s8 -> e0 [weight=8];
                }
                subgraph cluster_t1 {
                    label="worker-1";
                    s2 [label="3. load counter = 0\ltests/counter.rs:11:9\l"];
                    s5 [label="6. store counter 1→1\ltests/counter.rs:12:9\l"];
                    s2 -> s5 [weight=8];
                }
                subgraph cluster_t2 {
                    label="worker-2";
                    s3 [label="4. load counter = 0\ltests/counter.rs:11:9\l", penwidth=2];
                    s4 [label="5. store counter 0→1\ltests/counter.rs:12:9\l"];
                    s3 -> s4 [weight=8];
                }
                s1 -> s3;
                s2 -> s4 [style=dashed, label="race"];
                s4 -> s5 [style=dashed, label="race"];
                s5 -> s6;
            }
        "#]]
        .assert_eq(&render(&samples::lost_update().report()));
    }

    #[test]
    fn what_each_thread_waits_for_is_its_end() {
        let text = render(&samples::deadlock().report());
        assert!(text.contains("e0 [label=\"✗ acquire log\", color=red];"), "{text}");
        assert!(text.contains("s0 -> e0 [weight=8];"), "{text}");
    }

    #[test]
    fn texts_stay_in_their_quotes() {
        assert_eq!(quoted("a \"b\" \\ \u{7}\nc"), r#""a \"b\" \\  \lc\l""#);
    }
}
