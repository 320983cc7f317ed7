//! What `--help` offers is in the manual, and what the manual offers is in `--help`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The commands that have flags.
const COMMANDS: [&str; 8] =
    ["check", "test", "run", "replay", "model", "simulate", "automaton", "circuit"];

/// The long flags at the beginnings of lines in what `--help` prints.
fn offered(command: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_mazurka")).args(["help", command]).output();
    let output = output.expect("the command can be started");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| flag_of(line.trim_start())).collect()
}

fn flag_of(line: &str) -> Option<String> {
    let at = if line.starts_with("--") { 0 } else { line.find(", --")? + 2 };
    let is_first = at == 0 || line.starts_with('-') && at <= 4;
    let name = line[at + 2..].split(|it: char| it != '-' && !it.is_ascii_lowercase()).next()?;
    (is_first && !name.is_empty() && name != "help").then(|| format!("--{name}"))
}

/// The flags that the manual describes, each in a row of a table.
fn described() -> Vec<String> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/command_line.md");
    let text = std::fs::read_to_string(manual).expect("the manual is there");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `--"));
    rows.map(|row| {
        let name = row.split(|it: char| it != '-' && !it.is_ascii_lowercase()).next();
        format!("--{}", name.expect("there is a first part"))
    })
    .collect()
}

#[test]
fn every_flag_is_described_once() {
    let offered: BTreeSet<String> = COMMANDS.iter().flat_map(|command| offered(command)).collect();
    let described = described();
    let names: BTreeSet<String> = described.iter().cloned().collect();
    assert_eq!(names.len(), described.len(), "none is described twice");
    assert_eq!(offered, names);
    assert!(offered.len() > 20, "{offered:?}");
}
