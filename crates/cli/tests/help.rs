//! What `--help` offers is in the manual, and what the manual offers is in `--help`.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::{run, with_file};

/// The commands that have flags.
const COMMANDS: [&str; 9] =
    ["check", "test", "run", "replay", "model", "simulate", "automaton", "circuit", "doctor"];

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

#[test]
fn shells_and_man_are_told_of_every_command() {
    let help = Command::new(env!("CARGO_BIN_EXE_mazurka")).arg("--help").output();
    let help = String::from_utf8(help.expect("it can be started").stdout).expect("it is text");
    let (_, commands) = help.split_once("Commands:\n").expect("there are commands");
    let commands: Vec<&str> = commands
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"check") && commands.contains(&"doctor"), "{commands:?}");
    let folder = tempfile::TempDir::new().expect("there is room");
    run(folder.path(), &["man", "pages"]).ends_with(0);
    for shell in ["bash", "zsh", "fish"] {
        run(folder.path(), &["completions", shell]).ends_with(0).prints(&commands);
    }
    for command in commands.iter().filter(|&&it| it != "help") {
        let page = folder.path().join(format!("pages/mazurka-{command}.1"));
        let text = std::fs::read_to_string(&page).expect("there is a page for every command");
        assert!(text.contains(".TH mazurka"), "{text}");
    }
    run(Path::new("/proc"), &["man", "pages"]).refuses("`pages` cannot be written to");
}

/// Whoever gives an option believes that it is followed.
#[test]
fn what_an_engine_does_not_heed_is_refused() {
    let refused = |name: &str, arguments: &str, messages: &[&str]| {
        let all = ["check", name].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>();
        let said = with_file(name, "int main(void) { return 0; }\n", &all).ends_with(2);
        let lines = said.stderr.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(lines.collect::<Vec<_>>(), messages, "{arguments}");
    };
    let models = "`--engine vm`, `--engine statespace` and engines that decide a circuit";
    refused(
        "x.c",
        "--spurious-wakeups --nondet 0..1 --property overflow,race",
        &[
            &format!("error: `--spurious-wakeups` is for {models}"),
            &format!("error: `--nondet` is for {models}"),
            "error: `--property overflow` is for `--engine vm`, `--engine statespace`, Promela models and \
             engines that decide a circuit",
        ],
    );
    refused(
        "x.c",
        "--engine vm --proof p --trail t",
        &[
            "error: `--trail` is for Promela models alone",
            "error: `--proof` is for engines that decide a circuit alone",
        ],
    );
    refused(
        "x.c",
        "--engine bmc --bound preemption=1 --max-depth 9 --property leak",
        &[
            "error: `--bound` is for `--engine native` and `--engine vm`",
            "error: `--max-depth` is for `--engine native`, `--engine vm`, `--engine statespace` and Promela models",
            "error: `--property leak` is for `--engine native`, `--engine vm` and `--engine statespace`",
        ],
    );
    refused(
        "x.pml",
        "--engine bmc --depth 5",
        &[
            "error: `--engine bmc` is for C programs",
            "error: `--depth` is for engines that decide a circuit alone",
        ],
    );
}
