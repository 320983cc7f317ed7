//! The command on small C programs: what it prints, and how it ends.

use crate::support::{Said, say};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Two increments that load and store separately, or at once.
const COUNTER: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int counter;
static void *increment(void *unused) {
#ifdef LOST
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + LOST);
#else
    atomic_fetch_add(&counter, 1);
#endif
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, increment, 0);
    pthread_create(&two, 0, increment, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("counted to %d\n", counter);
    assert(counter == 2);
    return 0;
}
"#;

/// Two mutexes, taken in opposite orders.
const DEADLOCK: &str = r#"#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static void *there(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}
int main(void) {
    pthread_t one;
    pthread_create(&one, 0, there, 0);
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return pthread_join(one, 0);
}
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("counter.c"), COUNTER).expect("a file can be written");
    std::fs::write(folder.path().join("deadlock.c"), DEADLOCK).expect("a file can be written");
    folder
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(arguments).current_dir(folder.path());
    for name in ["CC", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG", "MAZURKA_NATIVE"] {
        command.env_remove(name);
    }
    // Cargo's would come before the folder that a program was linked with.
    command.env_remove("LD_LIBRARY_PATH");
    command
}

fn mazurka(folder: &TempDir, arguments: &[&str]) -> Said {
    say(&mut command(folder, arguments))
}

#[test]
fn it_holds_and_how_far() {
    let folder = folder();
    let said = mazurka(&folder, &["check", "counter.c"]).ends_with(0);
    let said = said.prints(&["Checking counter.c", "Holds in every interleaving", "Covered: "]);
    assert!(!said.stdout.contains('\x1b') && said.stderr.is_empty(), "{}", said.stderr);
    let quiet = mazurka(&folder, &["check", "counter.c", "--quiet"]).ends_with(0);
    assert_eq!(quiet.stdout.lines().count(), 1, "{}", quiet.stdout);
}

#[test]
fn a_bound_is_part_of_the_verdict() {
    let folder = folder();
    let check = |more: &[&str]| mazurka(&folder, &[&["check", "counter.c"], more].concat());
    let lost = ["-D", "LOST=1"];
    let bounded = [&lost[..], &["--bound", "preemption=0"]].concat();
    check(&bounded).ends_with(0).prints(&[
        "Holds within the bound",
        "with at most 0 preemptions",
        "Tip: `--bound preemption=1` sees more",
    ]);
    let raised = [&bounded[..], &["--iterate"]].concat();
    let proved = "Proved no assertion failure, crash, deadlock, data race or livelock in any";
    check(&raised)
        .ends_with(1)
        .prints(&[proved, "Assertion failed: `counter == 2` in main at counter.c:22"]);
    let stopped = [&raised[..], &["--max-executions", "3"]].concat();
    check(&stopped).ends_with(3).prints(&[
        "Stop execution limit, 3",
        proved,
        "Unverified the rest",
    ]);
    let local = ["--bound", "local-context=0", "--iterate"];
    check(&local).ends_with(0).prints(&["Holds in every interleaving"]);
    let said = check(&["--bound", "fair=1"]).ends_with(0);
    assert!(said.stderr.contains("warning: `--bound fair=1` cuts nothing"), "{}", said.stderr);
    let said = check(&["--bound", "context=1", "--bound", "fair=2", "--json", "-"]).ends_with(0);
    let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("one object");
    assert_eq!(object["options"]["bounds"], serde_json::json!({"context": 1, "fair": 2}));
    assert_eq!(object["stats"]["bound_exceeded"], true);
}

#[test]
fn wrong_bounds_are_refused_before_anything_is_compiled() {
    let folder = folder();
    let check = |more: &[&str]| mazurka(&folder, &[&["check", "no-such.c"], more].concat());
    check(&["--bound", "preemption=-1"]).refuses("write `preemption=` and a number");
    check(&["--bound", "delay=1"]).refuses("unknown bound `delay`: there are depth, context");
    check(&["--bound", "depth"]).refuses("`depth` needs a limit: write for example `depth=2`");
    check(&["--bound", "delta=1", "--bound", "delta=2"]).refuses("`delta` is bounded twice");
    check(&["--bound", "delta=1", "--bound", "depth=2"]).refuses("cannot be combined");
    check(&["--bound", "delta=1", "--reduction", "optimal"]).refuses("use `dpor`");
    check(&["--bound", "preemption=1", "--bpor-opt", "release"]).refuses("loses an execution");
    check(&["--bound", "preemption=1", "--bpor-opt", "magic"]).refuses("unknown optimisation");
    check(&["--bpor-opt", "bound"]).refuses("leave it out");
    check(&["--iterate"]).refuses("raises a bound");
}

#[test]
fn a_violation_is_told_and_replayed() {
    let folder = folder();
    let said = mazurka(&folder, &["check", "counter.c", "-D", "LOST=1"]).ends_with(1).prints(&[
        "Violated Assertion failed: `counter == 2` in main at counter.c:22",
        "load counter = 0",
        "8 │ int seen = atomic_load(",
        "Replay: mazurka replay counter.c ",
    ]);
    let line = said.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words = shlex::split(line.expect("it was printed")).expect("a shell can read it");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let violated = ["Replaying counter.c", "counted to 1\n", "counter.c:22: assertion"];
    mazurka(&folder, &words).ends_with(1).prints(&violated);
    words.retain(|&word| word != "--schedule");
    mazurka(&folder, &words).ends_with(1).prints(&violated);
    mazurka(&folder, &["replay", "counter.c", "mzk1:0"]).ends_with(0);
    mazurka(&folder, &["replay", "counter.c", "mzk1:7"]).refuses("step 1: the schedule wants");
}

#[test]
fn a_deadlock_names_the_circle() {
    let folder = folder();
    mazurka(&folder, &["check", "deadlock.c"])
        .ends_with(1)
        .prints(&["Deadlock: 2 threads wait for each other", "holds left and waits for right"]);
    let said = mazurka(&folder, &["check", "deadlock.c", "--property", "assert,race"]);
    assert!(!said.ends_with(0).stdout.contains("deadlock or"), "it is not looked for");
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let folder = folder();
    let arguments = ["check", "counter.c", "-DLOST=1", "--reduction", "source", "--json"];
    let said = mazurka(&folder, &[&arguments[..], &["-"]].concat()).ends_with(1);
    let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!(object["engine"], "native");
    assert_eq!(object["verdict"], "violated");
    assert_eq!(object["options"]["reduction"], "source");
    assert_eq!(object["violation"]["kind"], "assertion");
    assert!(object["violation"]["schedule"].as_str().is_some_and(|it| it.starts_with("mzk1:")));
    mazurka(&folder, &[&arguments[..], &["out.json"]].concat()).ends_with(1).prints(&["Violated"]);
    let text = std::fs::read(folder.path().join("out.json")).expect("it was written");
    let object: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
    assert_eq!(object["file"], "counter.c");
}

/// Two threads with more interleavings than anybody can explore.
const ENDLESS: &str = r#"#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *count(void *unused) {
    for (int i = 0; i < 100; ++i) atomic_exchange(&counter, i);
    return unused;
}
int main(void) {
    pthread_t one;
    pthread_create(&one, 0, count, 0);
    count(0);
    return pthread_join(one, 0);
}
"#;

#[test]
fn a_limit_is_never_green() {
    let folder = folder();
    std::fs::write(folder.path().join("endless.c"), ENDLESS).expect("it can be written");
    mazurka(&folder, &["check", "endless.c", "--max-executions", "1"])
        .ends_with(3)
        .prints(&["Unverified", "`--max-executions`"]);
    mazurka(&folder, &["check", "endless.c", "--max-depth", "3"])
        .ends_with(3)
        .prints(&["Unverified", "`--max-depth`"]);
}

#[test]
fn an_interrupt_ends_the_search_and_tells_what_was_covered() {
    let folder = folder();
    std::fs::write(folder.path().join("endless.c"), ENDLESS).expect("it can be written");
    let mut mazurka = command(&folder, &["check", "endless.c", "--json", "result.json"]);
    let mut child = mazurka.stdout(Stdio::piped()).spawn().expect("the command starts");
    // It says what it checks once that is compiled.
    let mut first_line = String::new();
    let stdout = child.stdout.as_mut().expect("it is piped");
    BufReader::new(stdout).read_line(&mut first_line).expect("it prints");
    assert!(first_line.contains("Checking"), "{first_line}");
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let result = std::fs::read_to_string(folder.path().join("result.json")).expect("it is written");
    assert!(result.contains(r#""verdict":"inconclusive""#), "{result}");
}

#[test]
fn wrong_input_is_named() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    };
    write("wrong.c", "int main(void) { return nothing; }\n");
    write("half.c", "int other(void) { return 0; }\n");
    write("text.txt", "");
    let check = |file: &str| mazurka(&folder, &["check", file]);
    check("none.c").refuses("error: `none.c` does not exist");
    check(".").refuses("error: `.` is a directory");
    check("text.txt").refuses("error: `text.txt` is no source file");
    check("wrong.c").refuses("wrong.c:1:25: error: ");
    check("wrong.c").refuses("\nerror: `wrong.c` does not compile");
    check("half.c").refuses("error: the program cannot be linked");
    mazurka(&folder, &["check"]).refuses("<FILE>");
    for (option, value, message) in [
        ("--reduction", "fast", "unknown reduction `fast`"),
        ("--property", "beauty", "`--property beauty`: there is assert, deadlock, race"),
        ("--sleep", "perhaps", "`--sleep perhaps`: it is on or off"),
        ("--time-limit", "soon", "a time is a number"),
        ("--max-depth", "0", "a number above 0 is expected"),
        ("--cflags", "'", "a quote is not closed"),
    ] {
        mazurka(&folder, &["check", "counter.c", option, value]).refuses(message);
    }
    let with =
        |name: &str, value: &str| say(command(&folder, &["check", "counter.c"]).env(name, value));
    with("CC", "no-such-compiler").refuses("the compiler `no-such-compiler` cannot be started");
    with("CC", "sh -c 'kill -9 $$'").refuses("signal 9 ended the compiler");
    with("MAZURKA_NATIVE", "nowhere").refuses("`MAZURKA_NATIVE` names no");
    mazurka(&folder, &["replay", "counter.c"]).refuses("there is no schedule");
    mazurka(&folder, &["replay", "--schedule", "mzk1:0"]).refuses("there is no program");
    mazurka(&folder, &["replay", "counter.c", "--schedule", "0"]).refuses("expected");
}

#[test]
fn a_program_is_built_by_the_wrapper_and_run() {
    let folder = folder();
    mazurka(&folder, &["cc", "-O1", "-DLOST=1", "-c", "counter.c", "-o", "counter.o"]).ends_with(0);
    mazurka(&folder, &["cc", "counter.o", "-o", "counter"]).ends_with(0);
    let said = mazurka(&folder, &["run", "--", "./counter", "two words"]).ends_with(1).prints(&[
        "Checking ./counter",
        "Assertion failed: `counter == 2` in main at counter.c:22",
        "Replay: mazurka replay -- ./counter 'two words' mzk1:",
    ]);
    let line = said.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words = shlex::split(line.expect("it was printed")).expect("a shell can read it");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    mazurka(&folder, &words).ends_with(1).prints(&["counted to 1\n"]);
    mazurka(&folder, &["cc", "counter.c", "-o", "at_once"]).ends_with(0);
    mazurka(&folder, &["run", "--quiet", "--", "./at_once"]).ends_with(0);
    assert!(Path::exists(&folder.path().join("at_once")), "it is where it was wanted");
    mazurka(&folder, &["cc", "--version"]).ends_with(0);
    mazurka(&folder, &["run", "--", "true"]).refuses("`true` was not built by `mazurka cc`");
    mazurka(&folder, &["run", "--", "./nothing"]).refuses("`./nothing` cannot be started");
}

/// Something that cannot be repeated.
const REACHING_OUT: &str = r#"#include <assert.h>
#include <sys/socket.h>
static int connect_to(void) {
    return socket(AF_INET, SOCK_STREAM, 0);
}
int main(void) {
    int number = connect_to();
    assert(number != WRONG);
    return 0;
}
"#;

#[test]
fn what_cannot_be_repeated_is_refused_and_can_be_allowed() {
    let folder = folder();
    std::fs::write(folder.path().join("net.c"), REACHING_OUT).expect("it can be written");
    let check =
        |more: &[&str]| mazurka(&folder, &[&["check", "net.c", "--cflags", "-O0"], more].concat());
    check(&["-DWRONG=7"]).refuses("error: `socket` at net.c:4:");
    check(&["-DWRONG=7"]).refuses("in connect_to, cannot be repeated in every execution; `--allow");
    check(&["-DWRONG=7", "--allow", "skip=socket"])
        .ends_with(0)
        .prints(&["assuming that `socket` fails"]);
    check(&["-DWRONG=7", "--allow", "real=dance"]).refuses("`dance` is none of what is refused");
    check(&["-DWRONG=7", "--allow", "dance"]).refuses("write `skip=` or `real=`");
    let said = check(&["-DWRONG=-1", "--allow", "skip=socket"]).ends_with(1);
    let line = said.stdout.lines().find_map(|line| line.strip_prefix("mazurka "));
    let words = shlex::split(line.expect("it was printed")).expect("a shell can read it");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(words.contains(&"skip=socket"), "{words:?}");
    mazurka(&folder, &words).ends_with(1).prints(&["net.c:8: assertion"]);
}

#[test]
fn what_the_failing_execution_prints_is_shown_once() {
    let folder = folder();
    let said = mazurka(&folder, &["check", "counter.c", "-DLOST=1"]).ends_with(1);
    assert_eq!(said.stdout.matches("counted to ").count(), 1, "{}", said.stdout);
    said.prints(&["\nWhat it prints:\ncounted to 1\n"]);
    let said = mazurka(&folder, &["check", "counter.c"]).ends_with(0);
    assert!(!said.stdout.contains("counted to"), "{}", said.stdout);
    let said = mazurka(&folder, &["check", "counter.c", "-DLOST=1", "--quiet"]).ends_with(1);
    assert!(!said.stdout.contains("counted to"), "{}", said.stdout);
}

#[test]
fn a_debugger_stops_at_the_violation() {
    let folder = folder();
    mazurka(&folder, &["cc", "-DLOST=1", "counter.c", "-o", "counter"]).ends_with(0);
    let said = mazurka(&folder, &["run", "--", "./counter"]).ends_with(1);
    let line = said.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka replay "));
    let words = shlex::split(line.expect("it was printed")).expect("a shell can read it");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.splice(0..0, ["replay", "--debugger"]);
    let said = mazurka(&folder, &words).ends_with(0);
    let command_line = said.stdout.trim_end();
    assert_eq!(command_line.lines().count(), 1, "{command_line}");
    if !mazurka_effort::has_tool("gdb") {
        return;
    }
    let batch = command_line.replacen(" gdb ", " gdb -batch -nx ", 1);
    let batch = batch.replacen(" --args", " -ex backtrace --args", 1);
    let mut shell = Command::new("sh");
    shell.args(["-c", &batch]).current_dir(folder.path()).env_remove("LD_LIBRARY_PATH");
    let said = say(&mut shell);
    let said = said.prints(&["mazurka_violation", "__assert_fail", " main ("]);
    drop(said);
}

#[test]
fn locks_that_are_left_held_are_a_property() {
    let folder = folder();
    let text = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
                int main(void) { return pthread_mutex_lock(&m); }\n";
    std::fs::write(folder.path().join("held.c"), text).expect("it can be written");
    let check = |more: &[&str]| mazurka(&folder, &[&["check", "held.c"], more].concat());
    check(&[]).ends_with(1).prints(&["main ends while it holds `m`"]);
    check(&["--property", "leak"]).ends_with(1);
    check(&["--property", "assert,deadlock", "--retries", "1"]).ends_with(0);
    check(&["--retries", "many"]).refuses("`--retries many`: a number is");
}

#[test]
fn programs_that_cannot_be_explored_are_named() {
    let folder = folder();
    let run = |program: &str| mazurka(&folder, &["run", "--", program]);
    let gcc = |arguments: &[&str]| {
        let status = Command::new("gcc").args(arguments).current_dir(folder.path()).status();
        assert!(status.expect("gcc can be started").success(), "{arguments:?}");
    };
    gcc(&["counter.c", "-o", "plain"]);
    run("./plain").refuses("`./plain` was not built by `mazurka cc`");
    gcc(&["-static", "counter.c", "-o", "static"]);
    run("./static").refuses("`./static` is statically linked");
    mazurka(&folder, &["cc", "-static", "counter.c", "-o", "none"])
        .refuses("linked with `-static` cannot be explored");
    mazurka(&folder, &["cc", "-s", "-DLOST=1", "counter.c", "-o", "stripped"]).ends_with(0);
    let said = run("./stripped").ends_with(1);
    let note = "warning: `./stripped` is stripped, so variables and places have no names";
    assert!(said.stderr.contains(note), "{}", said.stderr);
    say(command(&folder, &["cc", "counter.c"]).env("CC", "no-such-compiler"))
        .refuses("the compiler `no-such-compiler` cannot be started");
}

#[test]
fn a_makefile_builds_for_the_search() {
    if !mazurka_effort::has_tool("make") {
        return;
    }
    let folder = folder();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    };
    write("Makefile", "counter: counter.o more.o\n\t$(CXX) -o $@ $^\n");
    write("more.cc", "int more() { return 0; }\n");
    let mazurka_is = env!("CARGO_BIN_EXE_mazurka");
    let mut make = Command::new("make");
    make.arg(format!("CC={mazurka_is} cc")).arg(format!("CXX={mazurka_is} c++"));
    make.args(["CFLAGS=-O1 -DLOST=1", "counter"]).current_dir(folder.path());
    for name in ["CC", "CXX", "MAKEFLAGS", "MAZURKA_NATIVE", "LD_LIBRARY_PATH"] {
        make.env_remove(name);
    }
    say(&mut make).ends_with(0);
    mazurka(&folder, &["run", "--", "./counter"])
        .ends_with(1)
        .prints(&["Assertion failed: `counter == 2` in main"]);
}
