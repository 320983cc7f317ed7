//! `mazurka cc` and `mazurka c++` where a build system expects a compiler: CMake, and the questions
//! that a `configure` asks.

use mazurka_effort::has_tool;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A library in C and a program in C++ that uses it.
const FILES: [(&str, &str); 3] = [
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\n\
         project(tally C CXX)\n\
         find_package(Threads REQUIRED)\n\
         add_library(tally STATIC tally.c)\n\
         add_executable(count count.cc)\n\
         target_link_libraries(count tally Threads::Threads)\n",
    ),
    (
        "tally.c",
        "#include <stdatomic.h>\n\
         static atomic_int count;\n\
         void tally(void) { atomic_store(&count, atomic_load(&count) + 1); }\n\
         int tallied(void) { return atomic_load(&count); }\n",
    ),
    (
        "count.cc",
        "#include <cassert>\n\
         #include <thread>\n\
         extern \"C\" { void tally(); int tallied(); }\n\
         int main() {\n\
             std::thread other(tally);\n\
             tally();\n\
             other.join();\n\
             assert(tallied() == 2);\n\
         }\n",
    ),
];

fn project() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

/// A command in a folder, with nothing in the environment that would lead elsewhere.
fn command(program: &str, arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in
        ["CC", "CXX", "CFLAGS", "CXXFLAGS", "MAKEFLAGS", "MAZURKA_NATIVE", "LD_LIBRARY_PATH"]
    {
        command.env_remove(name);
    }
    command
}

#[track_caller]
fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

const MAZURKA: &str = env!("CARGO_BIN_EXE_mazurka");

#[test]
fn cmake_builds_for_the_search() {
    if !has_tool("cmake") {
        return;
    }
    let project = project();
    let mut configure = command("cmake", &["-B", "build", "."], project.path());
    configure.env("CC", format!("{MAZURKA} cc")).env("CXX", format!("{MAZURKA} c++"));
    done(&mut configure);
    done(&mut command("cmake", &["--build", "build"], project.path()));
    let said = command(MAZURKA, &["run", "--", "build/count"], project.path()).output();
    let said = said.expect("the command can be started");
    let text = String::from_utf8_lossy(&said.stdout);
    assert_eq!(said.status.code(), Some(1), "{text}");
    for words in ["Assertion failed: `tallied() == 2`", "load count = 0", "3 │ void tally(void)"]
    {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
}

#[test]
fn questions_are_answered_as_the_compiler_does() {
    let project = project();
    let questions = [
        "-v",
        "--version",
        "-dumpmachine",
        "-dumpversion",
        "-print-search-dirs",
        "-print-prog-name=ld",
    ];
    for question in questions {
        let compiler = done(&mut command("gcc", &[question], project.path()));
        let wrapper = done(&mut command(MAZURKA, &["cc", question], project.path()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&compiler.stdout), text(&wrapper.stdout), "{question}");
        assert_eq!(text(&compiler.stderr), text(&wrapper.stderr), "{question}");
    }
}

#[test]
fn a_configure_can_try_what_it_likes() {
    let project = project();
    let cc = |arguments: &[&str]| command(MAZURKA, &[&["cc"], arguments].concat(), project.path());
    let run = |program: &str| done(&mut command(program, &[], project.path()));
    let exists = |name: &str| project.path().join(name).exists();

    let fed = |arguments: &[&str], text: &str| {
        let mut command = cc(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("it has one");
        stdin.write_all(text.as_bytes()).expect("it reads");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    };
    assert!(fed(&["-x", "c", "-", "-o", "fed"], "int main(void) { return 0; }").status.success());
    run("./fed");
    let expanded = fed(&["-E", "-"], "int line = __LINE__;\n");
    assert!(String::from_utf8_lossy(&expanded.stdout).contains("int line = 1;"));

    std::fs::write(project.path().join("words"), "-c tally.c\n-o \"a b.o\"\n")
        .expect("it is written");
    done(&mut cc(&["@words"]));
    assert!(exists("a b.o"));

    done(&mut cc(&["-MMD", "-MF", "tally.d", "-c", "tally.c", "-o", "tally.o"]));
    let depends = std::fs::read_to_string(project.path().join("tally.d")).expect("it is there");
    assert!(depends.starts_with("tally.o: tally.c"), "{depends}");
    let object = std::fs::read(project.path().join("tally.o")).expect("it is there");
    let name: &[u8] = b"__tsan_atomic32_load";
    assert!(object.windows(name.len()).any(|part| part == name), "it is instrumented");

    done(&mut cc(&["-shared", "-fPIC", "tally.c", "-o", "libtally.so"]));
    let failed = cc(&["-c", "no_such_file.c"]).output().expect("it starts");
    assert_eq!(failed.status.code(), Some(1));
    assert!(!exists("no_such_file.o"));
}
