//! Inline assembly, functions that are not instrumented, and system calls without a function: what
//! is seen of them, by both compilers' code.

use crate::support::say;
use std::path::Path;
use std::process::Command;

/// What comes of the program, for each `HOW` of it, and a part of what is said.
const WANTED: [(u32, i32, &str); 24] = [
    (0, 1, "Assertion failed: `x == 2`"),
    (1, 1, "Assertion failed: `x == 2`"),
    (2, 0, "Holds in every interleaving"),
    (3, 0, "Holds in every interleaving"),
    (4, 0, "Holds in every interleaving"),
    (5, 0, "Holds in every interleaving"),
    (6, 1, "ata race on `x`"),
    (7, 0, "Holds in every interleaving"),
    (8, 0, "Holds in every interleaving"),
    (9, 0, "Holds in every interleaving"),
    (10, 1, "Assertion failed: `x == 2`"),
    (11, 1, "Assertion failed: `x == 2`"),
    (12, 0, "Holds in every interleaving"),
    (13, 0, "Holds in every interleaving"),
    (14, 1, "spins at assembly.c:20:5 until lock changes from 0"),
    (15, 0, "Holds in every interleaving"),
    (16, 2, "the instruction `movsb` at assembly.c:166:5, in work, is not supported"),
    (17, 0, "Holds in every interleaving"),
    (18, 0, "Holds in every interleaving"),
    (19, 1, "sleeps on lock and no thread is left that could wake it"),
    (20, 2, "system call 34 at assembly.c:61:5, in system_call, cannot be repeated"),
    (21, 1, "ata race on `x`"),
    (22, 0, "Holds in every interleaving"),
    (23, 1, "Assertion failed: `x == 2`"),
];

fn check(compiler: &str, level: &str, which: impl Fn(u32) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for (how, status, wanted) in WANTED.into_iter().filter(|(how, ..)| which(*how)) {
        let flags = format!("{level} -w -DHOW={how}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "assembly.c", "--engine", "native", "--cflags", &flags]);
        let said = say(command.current_dir(&folder).env("CC", compiler));
        let text = format!("{}{}", said.stdout, said.stderr);
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = text.join(" ").replace(&format!("{}/", folder.display()), "");
        assert_eq!(said.status, Some(status), "{how} {compiler} {level}: {text}");
        assert!(text.contains(wanted), "{how} {compiler} {level}: {text}");
    }
}

#[test]
fn assembly_is_seen_in_what_gcc_makes() {
    check("gcc", "-O2", |_| true);
    check("gcc", "-O0", |how| how % 2 == 0);
}

#[test]
fn assembly_is_seen_in_what_clang_makes() {
    check("clang", "-O0", |_| true);
    check("clang", "-O2", |how| how % 2 == 1);
}

#[test]
fn accesses_in_assembly_are_assumed_to_be_sequentially_consistent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let said = say(Command::new(env!("CARGO_BIN_EXE_mazurka"))
        .args(["check", "assembly.c", "--engine", "native", "--json", "-"])
        .args(["--cflags", "-w -DHOW=12"])
        .current_dir(&folder));
    assert!(said.stdout.contains(r#""code":"assembly""#), "{}", said.stdout);
}

/// The wrapper of the compilers marks what it compiles, also from a pipe and from an assembler's
/// file.
#[test]
fn the_wrapper_marks_what_it_compiles() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/assembly.c");
    for (compiler, flags) in [("gcc", "-pipe"), ("gcc", "-save-temps"), ("clang", "-O1")] {
        let build = say(Command::new(env!("CARGO_BIN_EXE_mazurka"))
            .args(["cc", "-w", "-DHOW=0", flags])
            .arg(&source)
            .args(["-o", "program"])
            .env("CC", compiler)
            .current_dir(folder.path()));
        assert_eq!(build.status, Some(0), "{}", build.stderr);
        let said = say(Command::new(env!("CARGO_BIN_EXE_mazurka"))
            .args(["run", "--", "./program"])
            .current_dir(folder.path()));
        assert_eq!(said.status, Some(1), "{compiler} {flags}: {}{}", said.stdout, said.stderr);
    }
}
