//! A counterexample as a sequence diagram in Mermaid's language, which GitHub and GitLab draw in
//! comments and pages.

use crate::Report;
use crate::diagram::Diagram;
use std::fmt::Write as _;

/// The diagram; empty if nothing goes wrong.
pub fn render(report: &Report<'_>) -> String {
    let Some(diagram) = Diagram::shown(report) else { return String::new() };
    let mut text = "sequenceDiagram\n".to_owned();
    for (idx, name) in diagram.threads.iter().enumerate() {
        let _ = writeln!(text, "    participant t{idx} as {}", escaped(name));
    }
    for (idx, row) in diagram.rows.iter().enumerate() {
        if diagram.loop_start == Some(idx) {
            text += "    loop for ever\n";
        }
        if row.is_preempted {
            let before = diagram.rows[idx.saturating_sub(1)].thread;
            let _ = writeln!(text, "    Note over t{before}: preempted");
        }
        for edge in row.follows.iter().filter(|edge| !edge.is_race) {
            let from = diagram.rows[edge.from].thread;
            let _ = writeln!(text, "    t{from}-->>t{}: {}", row.thread, escaped("happens before"));
        }
        let _ = writeln!(
            text,
            "    t{}->>t{}: {}{}",
            row.thread,
            row.thread,
            row.number.map_or(String::new(), |number| format!("{number}. ")),
            escaped(&row.text)
        );
    }
    if diagram.loop_start.is_some() {
        text += "    end\n";
    }
    for (thread, what) in &diagram.ends {
        let _ = writeln!(text, "    Note over t{thread}: ✗ {}", escaped(what));
    }
    text
}

/// Without the characters that mean something in a line of the language.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '#' => safe += "#35;",
            ';' => safe += "#59;",
            '<' => safe += "#lt;",
            '>' => safe += "#gt;",
            char if char.is_control() => safe.push(' '),
            char => safe.push(char),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use expect_test::expect;

    #[test]
    fn a_deadlock_is_drawn_with_what_each_thread_waits_for() {
        expect![[r#"
            sequenceDiagram
                participant t0 as alice
                participant t1 as bob
                t0->>t0: 1. acquire accounts
                Note over t0: preempted
                t1->>t1: 2. acquire log
                Note over t0: ✗ acquire log
                Note over t1: ✗ acquire accounts
        "#]]
        .assert_eq(&render(&samples::deadlock().report()));
    }

    #[test]
    fn names_cannot_end_a_line_or_begin_a_tag() {
        assert_eq!(escaped("a;b\n#<c>"), "a#59;b #35;#lt;c#gt;");
    }
}
