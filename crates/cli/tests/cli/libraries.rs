//! What a program calls of libraries without the instrumentation: named, trusted, or not accepted.

use crate::support::{Said, run};
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = r#"#include <pthread.h>
int helper(int);
int other_helper(int);
static void *call(void *unused) {
    helper(1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, call, 0);
    other_helper(2);
    return pthread_join(thread, 0);
}
"#;

const HELPER: &str = r#"static int counter;
int helper(int n) { return counter += n; }
int other_helper(int n) { return counter += n; }
"#;

const LOADING: &str = r#"#include <dlfcn.h>
#include <pthread.h>
static void *load(void *unused) {
    dlopen("libmazurka_no_such_library.so", RTLD_NOW);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, load, 0);
    return pthread_join(thread, 0);
}
"#;

/// A folder with the program and a library that it needs, compiled by the words of `compiler`.
fn folder(compiler: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("there is room");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    };
    write("program.c", PROGRAM);
    write("helper.c", HELPER);
    write("loading.c", LOADING);
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(["-shared", "-fPIC", "-o", "libhelper.so", "helper.c"]);
    let status = command.current_dir(folder.path()).status();
    assert!(status.expect("a compiler is there").success());
    folder
}

fn check(folder: &TempDir, more: &[&str]) -> Said {
    let here = folder.path().display();
    let flags = format!("-L{here} -lhelper -Wl,-rpath,{here}");
    let arguments = [&["check", "program.c", "--cflags", &flags, "--quiet"], more].concat();
    run(folder.path(), &arguments)
}

#[test]
fn functions_of_other_libraries_are_named() {
    let folder = folder(&["gcc"]);
    let words =
        "assuming that `helper` and `other_helper` (libhelper) touch nothing that threads share";
    check(&folder, &[]).ends_with(0).prints(&[words]);
    let one = "assuming that `other_helper` (libhelper) touches nothing that threads share";
    check(&folder, &["--trust", "helper"]).ends_with(0).prints(&[one]);
}

#[test]
fn they_have_a_code_in_the_json_output() {
    let said = check(&folder(&["gcc"]), &["--json", "-"]).ends_with(0);
    said.prints(&[r#""code":"uninstrumented-call""#, r#""trust":[]"#, r#""strict":false"#]);
}

#[test]
fn those_that_are_trusted_are_not() {
    let folder = folder(&["gcc"]);
    let trusted: [&[&str]; 4] = [
        &["--trust", "libhelper"],
        &["--trust", "helper", "--trust", "other_helper"],
        &["--trust", "helper,other_helper", "--strict"],
        &["--trust", "libhelper.so", "--strict"],
    ];
    for more in trusted {
        let said = check(&folder, more).ends_with(0);
        assert!(!said.stdout.contains("assuming"), "{more:?}: {}", said.stdout);
    }
}

#[test]
fn strictly_none_is_accepted() {
    let folder = folder(&["gcc"]);
    let words = "it is not known what these do to memory that threads share: `helper` \
                 (libhelper), `other_helper` (libhelper)";
    check(&folder, &["--strict"]).refuses(words);
}

#[test]
fn a_library_with_the_instrumentation_is_a_part_of_the_program() {
    let folder = folder(&[env!("CARGO_BIN_EXE_mazurka"), "cc"]);
    check(&folder, &[]).ends_with(1).prints(&["Data race"]);
}

#[test]
fn libraries_that_are_loaded_are_named() {
    let folder = folder(&["gcc"]);
    let said = run(folder.path(), &["check", "loading.c", "--quiet"]).ends_with(0);
    said.prints(&["that libraries which `dlopen` loads touch nothing that threads share"]);
    run(folder.path(), &["check", "loading.c", "--strict"]).refuses("`dlopen`");
}

#[test]
fn they_are_for_native_programs() {
    let folder = folder(&["gcc"]);
    let said = run(folder.path(), &["check", "program.c", "--engine", "vm", "--strict"]);
    said.refuses("`--strict` is for `--engine native`");
}
