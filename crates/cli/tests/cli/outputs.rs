//! Files that are written: none is lost by it, all that is wrong with them is told before anything
//! is searched, and what has no verdict is told in them, too.

use crate::support::{Said, run, say};
use serde_json::Value;
use std::fs::File;
use std::process::Command;
use tempfile::TempDir;

const FINE: &str = "int main(void) { return 0; }\n";
const FAILS: &str = "#include <assert.h>\nint main(void) { assert(0); }\n";

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join(name), text).expect("there is room");
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("it is there")
}

#[track_caller]
fn complains(said: &Said, words: &[&str]) {
    for word in words {
        assert!(said.stderr.contains(word), "no `{word}` in:\n{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn no_output_overwrites_what_is_read() {
    let folder = folder_with("a.c", FINE);
    std::os::unix::fs::symlink("a.c", folder.path().join("link")).expect("there is room");
    for flag in ["--json", "--html", "--junit", "--events", "--sarif"] {
        for name in ["a.c", "./a.c", "link"] {
            let said = run(folder.path(), &["check", "a.c", "--engine", "vm", flag, name]);
            said.refuses("would overwrite the program, `a.c`");
            assert_eq!(read(&folder, "a.c"), FINE, "{flag} {name}");
        }
    }
    let words = ["check", "a.c", "--engine", "bmc", "--depth", "2", "--proof", "a.c"];
    run(folder.path(), &words).refuses("would overwrite the program");
    assert_eq!(read(&folder, "a.c"), FINE);
    // All of it is told at once.
    let words = [
        "check", "a.c", "--json", "a.c", "--html", "x", "--junit", "x", "--sarif", "no/x", "--lcov",
    ];
    let said = run(folder.path(), &[&words[..], &["."]].concat()).ends_with(2);
    complains(
        &said,
        &["`--json a.c` would overwrite", "would write one file", "`no/x`", "is a directory"],
    );
    assert!(!folder.path().join("x").exists(), "nothing was opened");
    run(folder.path(), &["check", "a.c", "--json", ""]).refuses("`--json` names no file");
    // Everybody may write there.
    let both = ["check", "a.c", "--engine", "vm", "--json", "/dev/null", "--html", "/dev/null"];
    run(folder.path(), &both).ends_with(0);
}

#[test]
fn what_cannot_be_written_hides_nothing_else() {
    let folder = folder_with("a.c", FAILS);
    let words = ["check", "a.c", "--engine", "vm", "--html", "/dev/full", "--json", "a.json"];
    let said = run(folder.path(), &[&words[..], &["--events", "/dev/full"]].concat());
    let said = said.ends_with(2).prints(&["Violated", "Replay:"]);
    assert_eq!(said.stderr.matches("`/dev/full` cannot be written").count(), 2, "{}", said.stderr);
    let object: Value = serde_json::from_str(&read(&folder, "a.json")).expect("it is JSON");
    assert_eq!(object["verdict"], "violated");
}

#[test]
fn a_proof_that_is_not_written_is_no_proof() {
    let folder = folder_with("a.c", FINE);
    let words = ["check", "a.c", "--engine", "ic3", "--proof"];
    // Its formula is beside it.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full")).expect("there is room");
    let said = run(folder.path(), &[&words[..], &["full"]].concat());
    let said = said.ends_with(2).prints(&["Holds"]);
    complains(&said, &["the proof cannot be written"]);
    assert!(!said.stdout.contains("refutes"), "{}", said.stdout);
    run(folder.path(), &[&words[..], &["p"]].concat()).ends_with(0).prints(&["p refutes p.cnf"]);
}

#[test]
fn a_trail_that_cannot_be_written_hides_no_verdict() {
    let folder = folder_with("a.pml", "active proctype P() { assert(false) }\n");
    let said = run(folder.path(), &["check", "a.pml", "--trail", "/dev/full"]);
    let said = said.ends_with(2).prints(&["Violated", "Replay:"]);
    complains(&said, &["`/dev/full` cannot be written"]);
}

#[test]
fn what_has_no_verdict_is_in_the_files() {
    let folder = folder_with("a.c", "int main(void) { return x; }\n");
    let words = ["check", "a.c", "--engine", "vm", "--json", "-", "--junit", "a.xml"];
    let said = run(folder.path(), &[&words[..], &["--events", "a.ev"]].concat()).ends_with(2);
    let object: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!((&object["verdict"], &object["file"]), (&"error".into(), &"a.c".into()));
    assert!(read(&folder, "a.xml").contains("<error"), "{}", read(&folder, "a.xml"));
    let events = read(&folder, "a.ev");
    let last = events.lines().last().expect("there is one");
    assert!(last.contains(r#""event":"error","file":"a.c""#), "{last}");
    // A limit that was reached before anything could be told.
    let words = ["check", "a.c", "--engine", "vm", "--json", "-", "--memory-limit", "5M"];
    std::fs::write(folder.path().join("a.c"), FINE).expect("there is room");
    let said = run(folder.path(), &words);
    if said.status == Some(3) {
        let object: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
        assert_eq!(object["verdict"], "inconclusive");
    }
}

#[test]
fn nobody_has_to_read_what_is_wrong() {
    let folder = folder_with("a.c", FINE);
    for words in [&["check", "no.c"][..], &["check", "a.c", "--engine", "no"]] {
        let full = File::create("/dev/full").expect("there is one");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        say(command.args(words).current_dir(folder.path()).stderr(full)).ends_with(2);
        let (reader, writer) = std::io::pipe().expect("there is one");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        say(command.args(words).current_dir(folder.path()).stderr(writer)).ends_with(2);
    }
}

#[test]
fn commands_of_one_language_say_so() {
    let folder = folder_with("a.c", FINE);
    std::fs::write(folder.path().join("a.pml"), "init { skip }\n").expect("there is room");
    std::fs::write(folder.path().join("a.cpp"), FINE).expect("there is room");
    run(folder.path(), &["simulate", "a.c"]).refuses("`mazurka simulate` is for Promela models");
    run(folder.path(), &["circuit", "a.pml"]).refuses("`mazurka circuit` is for C programs");
    run(folder.path(), &["circuit", "a.cpp"]).refuses("`mazurka circuit` is for C programs");
    run(folder.path(), &["orders", "a.pml"]).refuses("`mazurka orders` is for C and C++ programs");
}

/// The time for a list is as long as the list.
#[test]
fn long_initialisers_are_no_matter() {
    let list = "1,".repeat(100_000);
    let text = format!("int all[] = {{{list}}};\nint main(void) {{ return all[7] - 1; }}\n");
    let folder = folder_with("a.c", &text);
    run(folder.path(), &["check", "a.c", "--engine", "vm"]).ends_with(0);
}
