//! `mazurka doctor`: what can be checked here, and what is missing.

use crate::support::{Said, say};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What the doctor says where only these commands are on the path.
fn doctor(path: &Path, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    for name in ["CC", "CXX", "CARGO", "RUSTC"] {
        command.env_remove(name);
    }
    say(command.arg("doctor").args(arguments).env("PATH", path).current_dir(path))
}

/// A folder with links to some commands of this machine, and commands that say something.
fn path_with(links: &[&str], fakes: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("there is room");
    let here = std::env::var_os("PATH").expect("there is a path");
    for name in links {
        let found = std::env::split_paths(&here).map(|it| it.join(name)).find(|it| it.is_file());
        let found = found.unwrap_or_else(|| panic!("this test needs `{name}`"));
        std::os::unix::fs::symlink(found, folder.path().join(name)).expect("there is room");
    }
    for (name, says) in fakes {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{says}\n")).expect("there is room");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it is ours");
    }
    folder
}

fn find<'a>(json: &'a Value, kind: &str, name: &str) -> &'a Value {
    let all = json[kind].as_array().expect("it is a list");
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {json}"))
}

#[test]
fn what_is_here_is_tried_and_told() {
    let here = std::env::var_os("PATH").expect("there is a path");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["doctor", "--json", "-"]).env("PATH", here);
    for name in ["CC", "CXX"] {
        command.env_remove(name);
    }
    let said = say(&mut command).ends_with(0);
    let json: Value = serde_json::from_str(&said.stdout).expect("it is an object");
    assert_eq!(json["is_ready"], true);
    for name in ["C", "C++", "Rust", "models of C", "Promela"] {
        assert_eq!(find(&json, "doors", name)["status"], "ok", "{json}");
    }
    for name in ["gcc", "g++", "clang", "clang++", "rustc", "cargo"] {
        let tool = find(&json, "tools", name);
        assert_eq!(tool["status"], "ok", "{tool}");
        let version = tool["version"].as_str().expect("it has a version");
        assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{tool}");
    }
    let library = find(&json, "tools", "runtime");
    assert!(Path::new(library["detail"].as_str().expect("a path")).is_file(), "{library}");
}

#[test]
fn what_is_missing_is_told_with_the_line_that_installs_it() {
    // A package manager, and nothing else: Promela alone can be checked.
    let path = path_with(&[], &[("apt-get", "exit 0")]);
    let said = doctor(path.path(), &[]).ends_with(1);
    for words in ["missing C ", "apt-get install gcc\n", "apt-get install g++\n", "rustup.rs"] {
        assert!(said.stdout.contains(words), "no `{words}` in:\n{}", said.stdout);
    }
    assert!(said.stdout.contains("ok Promela"), "{}", said.stdout);
    assert!(said.stdout.contains("Not ready"), "{}", said.stdout);
    let path = path_with(&[], &[("dnf", "exit 0")]);
    doctor(path.path(), &[]).ends_with(1).prints(&["dnf install gcc-c++\n"]);
    let quiet = doctor(path.path(), &["--quiet"]).ends_with(1);
    assert_eq!(quiet.stdout, "not ready: C, C++, Rust, models of C\n");
}

#[test]
fn a_compiler_that_is_there_and_does_not_do_is_told_with_the_reason() {
    let old = "echo 'gcc (GCC) 4.8.5'; echo 'Copyright (C) Free Software Foundation, Inc.'";
    let path = path_with(&["clang", "ld", "as"], &[("gcc", old), ("g++", "exit 3")]);
    let said = doctor(path.path(), &["--json", "-"]).ends_with(1);
    let json: Value = serde_json::from_str(&said.stdout).expect("it is an object");
    let gcc = find(&json, "tools", "gcc");
    assert_eq!((&gcc["status"], &gcc["version"]), (&"unusable".into(), &"4.8.5".into()));
    let detail = gcc["detail"].as_str().expect("there is a reason");
    assert!(detail.contains("11 is the oldest known to work"), "{detail}");
    // Another compiler that does is the remedy.
    assert_eq!(find(&json, "tools", "clang")["status"], "ok", "{json}");
    assert_eq!(find(&json, "doors", "C")["remedy"], "export CC=clang", "{json}");
}
