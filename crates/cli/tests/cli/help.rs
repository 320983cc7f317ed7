//! What `--help` offers is in the manual, and what the manual offers is in `--help`.

use crate::support::{run, with_file};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The commands that have flags.
const COMMANDS: [&str; 10] = [
    "check",
    "test",
    "run",
    "orders",
    "replay",
    "model",
    "simulate",
    "automaton",
    "circuit",
    "doctor",
];

/// The long flags at the beginnings of lines in what `--help` prints.
fn offered(command: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_mazurka")).args([command, "--help-all"]).output();
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

/// A user who gives an option expects it to be followed. `crates/check/tests/support.rs` has more.
#[test]
fn what_an_engine_does_not_use_is_refused() {
    let refused = |name: &str, arguments: &str, messages: &[&str]| {
        let all = ["check", name].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>();
        let said = with_file(name, "int main(void) { return 0; }\n", &all).ends_with(2);
        let lines = said.stderr.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(lines.collect::<Vec<_>>(), messages, "{arguments}");
    };
    refused(
        "x.c",
        "--engine vm --proof p --trail t",
        &[
            "error: `--trail` is for Promela models",
            "error: `--proof` is for `--engine` `bmc`, `induction`, `ic3`, `bdd` and `portfolio`",
        ],
    );
    refused(
        "x.c",
        "--engine bmc --bound preemption=1 --max-depth 9 --property leak",
        &[
            "error: `--bound` is for `--engine` `native` and `vm`",
            "error: `--max-depth` is for `--engine` `native`, `vm` and `statespace`",
            "error: `--property leak` is for `--engine` `native`, `vm` and `statespace`",
        ],
    );
}

/// `--help` begins with what most people need, and has no more than that.
#[test]
fn help_is_short_and_help_all_is_not() {
    let flags = |words: &[&str]| {
        let help = Command::new(env!("CARGO_BIN_EXE_mazurka")).args(words).output();
        let help = String::from_utf8(help.expect("it can be started").stdout).expect("it is text");
        help.lines().filter_map(|line| flag_of(line.trim_start())).collect::<Vec<String>>()
    };
    let (short, long) = (flags(&["check", "--help"]), flags(&["check", "--help-all"]));
    assert!(short.len() <= 12, "{short:?}");
    assert!(
        ["--engine", "--bound", "--time-limit", "--json"]
            .iter()
            .all(|it| short.contains(&(*it).to_owned()))
    );
    assert!(long.len() > 30 && short.iter().all(|it| long.contains(it)), "{long:?}");
}

/// Flags of the compiler need nothing in front of them, and the program gets what is behind `--`.
#[test]
fn arguments_are_as_people_type_them() {
    let text = "#include <assert.h>\n#include <string.h>\n#include <math.h>\n\
                int main(int n, char **words) {\n    \
                assert(n == 3 && N == 4 && !strcmp(words[1], \"a\") && !strcmp(words[2], \"-b\"));\n    \
                return (int)floor(0.5 * n) - 1;\n}\n";
    let words =
        ["check", "x.c", "-DN=4", "-lm", "-O1", "-pthread", "-I", "include", "--", "a", "-b"];
    with_file("x.c", text, &words).ends_with(0).prints(&["Holds"]);
    with_file("x.c", text, &["check", "x.c", "-D", "N=5", "-lm", "--", "a", "-b"])
        .ends_with(1)
        .prints(&["mazurka replay x.c -D 'N=5' -lm -- a -b mzk1:"]);
    let models = "error: `-- ARGUMENTS` is for `--engine native`";
    with_file("x.c", text, &["check", "x.c", "--engine", "vm", "-DN=4", "--", "a"]).refuses(models);
}
