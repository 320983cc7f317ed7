//! `mazurka test` as a runner: which tests are run, in which order, what is said of those that are
//! not, and how a run ends. `rust_programs.rs` is about what is found in them.

use crate::support::schema::violations;
use crate::support::{Said, say};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

const LIBRARY: &str = "//! ```\n//! assert_eq!(alpha::one(), 1);\n//! ```\n
/// One.
pub fn one() -> u32 {
    let unused = 1;
    1
}

#[test]
fn smaller_here() {
    assert!(cfg!(mazurka));
}
";

/// No file of this project has the attribute that leaves a test out, so it is written another way
/// here.
const TESTS: &str = "
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

fn count() -> u32 {
    let n = Arc::new(AtomicU32::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    n.store(n.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    n.load(SeqCst)
}

#[test]
fn adds() {
    assert!([1, 2].contains(&count()));
}

#[test]
#[cfg_attr(all(), ignore)]
fn ignored() {
    assert_eq!(count(), 3);
}

#[test]
#[cfg_attr(all(), ignore = \"for later\")]
fn ignored_and_fine() {}

#[test]
fn loses() {
    assert_eq!(count(), 2);
}

#[test]
#[should_panic]
fn panics() {
    panic!(\"as it should\");
}

#[test]
#[should_panic(expected = \"left\")]
fn panics_at_times() {
    assert_eq!(count(), 2);
}

#[test]
#[should_panic(expected = \"other words\")]
fn panics_otherwise() {
    panic!(\"these words\");
}

#[cfg(feature = \"extra\")]
#[test]
fn with_a_feature() {}
";

const ENDLESS: &str = "
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static X: AtomicU32 = AtomicU32::new(0);

fn add(n: u32) {
    std::thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| (0..3).for_each(|_| X.store(X.load(SeqCst) + 1, SeqCst)));
        }
    });
}

#[test]
fn a_short() {
    add(1);
}

#[test]
fn b_endless() {
    add(3);
}

#[test]
fn c_never_begun() {}

#[test]
fn d_never_begun() {}
";

const OUTSIDE: &str = "
fn listen() {
    drop(std::net::TcpListener::bind(\"127.0.0.1:0\"));
}

#[test]
fn fine() {}

#[test]
fn opens_a_socket() {
    listen();
}
";

/// A workspace of two packages. Its place and its files stay as they are, so that it is built once.
static WORKSPACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("test-run");
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    let alpha = manifest(
        "alpha",
        "[features]\nextra = []\n[[test]]\nname = \"own\"\nharness = false\n\
         [[bench]]\nname = \"speed\"\nharness = false\n",
    );
    let beta = manifest("beta", "[features]\nextra = []\n");
    let files = [
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"alpha\", \"beta\"]\n"),
        ("alpha/Cargo.toml", &alpha),
        ("alpha/src/lib.rs", LIBRARY),
        ("alpha/tests/it.rs", TESTS),
        ("alpha/tests/own.rs", "fn main() {\n    std::process::exit(3);\n}\n"),
        ("alpha/benches/speed.rs", "compile_error!(\"a benchmark\");\n"),
        ("alpha/examples/shown.rs", "compile_error!(\"an example\");\n"),
        ("beta/Cargo.toml", &beta),
        ("beta/src/lib.rs", ""),
        ("beta/tests/it.rs", TESTS),
        ("beta/tests/endless.rs", ENDLESS),
        ("beta/tests/outside.rs", OUTSIDE),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text).expect("there is room");
        }
    }
    folder
});

fn prepared(mut command: Command) -> Command {
    command.current_dir(&*WORKSPACE).env("COLUMNS", "200").env("CARGO_NET_OFFLINE", "true");
    // Cargo's would come before the folder that the programs were linked with.
    command.env_remove("LD_LIBRARY_PATH").env_remove("CARGO_TARGET_DIR");
    command
}

fn mazurka(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.arg("test").args(words.split_whitespace());
    prepared(command)
}

fn test(words: &str) -> Said {
    say(&mut mazurka(words))
}

/// The names of tests that are listed.
fn listed(words: &str) -> Vec<String> {
    let said = test(&format!("--list {words}")).ends_with(0);
    said.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn tests_are_listed_and_filtered_as_libtest_does() {
    assert_eq!(
        listed("--workspace --test it --exact loses ignored --skip adds"),
        [
            "alpha test it loses",
            "alpha test it ignored (ignored)",
            "beta test it loses",
            "beta test it ignored (ignored)"
        ]
    );
    assert_eq!(listed("-p alpha -- --ignored"), ["test it ignored", "test it ignored_and_fine"]);
    assert_eq!(listed("-p alpha panics --skip=otherwise --skip times"), ["test it panics"]);
    assert_eq!(listed("-p alpha --lib"), ["alpha smaller_here"]);
    assert_eq!(listed("-p alpha --features extra with"), ["test it with_a_feature"]);
    let said = test("-p alpha -- --list --exact ignored adds").ends_with(0);
    assert_eq!(said.stdout, "test it adds\ntest it ignored (ignored)\n");
    for words in ["1 test, 1 ignored", "not run: test own: it has a harness of its own"] {
        assert!(said.stderr.contains(words), "{}", said.stderr);
    }
    let said = test("-p beta --manifest-path alpha/Cargo.toml --list --json - lo ignored_and");
    let listed: Value = serde_json::from_str(&said.ends_with(0).stdout).expect("an object");
    let test = |idx: usize| {
        let test = &listed["tests"][idx];
        ["name", "package", "program", "test", "ignored", "run"].map(|key| test[key].to_string())
    };
    assert_eq!(
        [test(0), test(1)].map(|it| it.join(" ")),
        [
            r#""test it loses" "beta" "test it" "loses" false true"#,
            r#""test it ignored_and_fine" "beta" "test it" "ignored_and_fine" true false"#
        ]
    );
    test_refuses("--list --junit x --html y", "`--html` does not go with `--list`");
}

fn test_refuses(words: &str, message: &str) {
    test(words).refuses(message);
}

#[test]
fn nothing_to_run_is_wrong_input() {
    test_refuses("no_such_test", "no test was run: none of ");
    test_refuses("-p beta --lib", "no test was run: there are none");
    test_refuses("-p gamma", "the tests cannot be built");
    test_refuses("-- --nocapture", "`--nocapture` is not supported behind `--`");
    test_refuses("--total-time never", "--total-time");
    let said = test("-p alpha adds no_such_test").ends_with(0);
    assert!(
        said.stderr.contains("warning: no test has the name `no_such_test`"),
        "{}",
        said.stderr
    );
    let folder = tempfile::TempDir::new().expect("there is room");
    let manifest = folder.path().join("Cargo.toml");
    let words = format!("--manifest-path {}", manifest.display());
    test_refuses(&words, "there is no cargo project here");
    fs::write(&manifest, "[package]\nname = \"empty\"\nversion = \"0.1.0\"\n")
        .expect("there is room");
    test_refuses(&words, "cargo cannot read the project");
    test("-p alpha --exact ignored").ends_with(0).prints(&["Summary 0 tests: 1 ignored"]);
}

/// Marks of tests count, whatever is not run is named, and the final list has commands that work.
#[test]
fn a_run_ends_with_what_failed_and_how_to_replay_it() {
    let said = test("-p alpha --include-ignored --quiet --jobs 2").ends_with(1);
    assert_eq!(said.stderr, "", "a quiet run has no words of cargo");
    let said = said.prints(&[
        "Holds alpha smaller_here",
        "Holds test it adds",
        "Violated test it ignored ",
        "Holds test it ignored_and_fine",
        "Violated test it loses",
        "Holds test it panics",
        "Summary 8 tests: 4 hold, 4 violated",
        "Failed test it panics_at_times: test did not panic as expected at alpha/tests/it.rs:",
        "these words; then panic did not contain expected string",
        "Not run test own: it has a harness of its own (`harness = false`)",
        "Not run examples in the documentation of alpha",
    ]);
    let (_, end) = said.stdout.split_once("Summary").expect("there is a summary");
    let commands = end.lines().filter_map(|line| line.trim().strip_prefix("mazurka test "));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 4, "{}", said.stdout);
    for command in commands {
        test(command).ends_with(1).prints(&["Violated"]);
    }
}

#[test]
fn several_packages_are_told_apart() {
    let said = test("--workspace --test it --exact loses adds --quiet").ends_with(1).prints(&[
        "Holds alpha test it adds",
        "Violated beta test it loses",
        "Summary 4 tests: 2 hold, 2 violated",
        "mazurka test --package alpha --test it --exact loses --replay mzk1:",
    ]);
    let command = said.stdout.lines().find_map(|line| {
        line.trim().strip_prefix("mazurka test ").filter(|line| line.contains("beta"))
    });
    test(command.expect("there is one")).ends_with(1).prints(&["Violated"]);
}

/// Examples and benchmarks of the workspace cannot be compiled.
#[test]
fn examples_and_benchmarks_are_built_if_they_are_asked_for() {
    test("-p alpha --lib --tests --exact adds").ends_with(0);
    for (words, message) in
        [("--examples", "an example"), ("--bench speed", "a benchmark"), ("--all-targets", "an")]
    {
        let said = test(&format!("-p alpha {words}")).ends_with(2);
        let told = [message, "error: the tests cannot be built"];
        assert!(told.iter().all(|it| said.stderr.contains(it)), "{}", said.stderr);
    }
}

#[test]
fn warnings_of_what_is_built_already_are_not_repeated() {
    test("-p alpha --lib").ends_with(0);
    let said = test("-p alpha --lib").ends_with(0);
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
}

#[test]
fn the_first_failure_can_be_the_last() {
    let words = "-p alpha --test it --jobs 1";
    test(&format!("{words} --no-fail-fast --fail-fast")).ends_with(1).prints(&[
        "Holds test it adds",
        "Violated test it loses",
        "Summary 2 tests: 1 hold, 1 violated, 2 ignored, 3 not run: `--fail-fast`",
    ]);
    test(words).ends_with(1).prints(&["Summary 5 tests: 2 hold, 3 violated, 2 ignored"]);
}

#[test]
fn a_run_can_have_a_limit_and_slow_tests_are_marked() {
    test("-p alpha --test it --total-time 1ms")
        .ends_with(3)
        .prints(&["Summary 0 tests: 2 ignored, 5 not run: `--total-time` is over"]);
    let said = test("-p alpha --test it --total-time 1ms --json -").ends_with(3);
    let lines: Vec<Value> =
        said.stdout.lines().map(|it| serde_json::from_str(it).expect("it is JSON")).collect();
    assert_eq!(lines.len(), 5, "{}", said.stdout);
    for line in &lines {
        assert_eq!(violations(line), [""; 0], "{line}");
        assert_eq!(line["verdict"], "not-run", "{line}");
    }
    test("-p alpha --test it adds --slow-after 1ms")
        .ends_with(0)
        .prints(&["4 executions, slow: ", "Summary 1 test: 1 hold, 1 slow"]);
    let said = test("-p beta --test endless short endless --total-time 20s --jobs 1").ends_with(3);
    said.prints(&["Holds test endless a_short", "Tip: a longer `--total-time` sees more"]);
}

/// Waits for a line that begins so, then interrupts the command.
fn interrupted(words: &str, line: &str) -> Said {
    let mut command = mazurka(words);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut stdout = String::new();
    while !stdout.contains(line) {
        assert_ne!(output.read_line(&mut stdout).expect("it is text"), 0, "{stdout}");
    }
    let process = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &process]).status();
    assert!(killed.expect("it can be started").success());
    output.read_to_string(&mut stdout).expect("it is text");
    let mut stderr = String::new();
    let errors = child.stderr.as_mut().expect("it is a pipe");
    errors.read_to_string(&mut stderr).expect("it is text");
    let status = child.wait().expect("it ends").code();
    Said { status, stdout, stderr }
}

#[test]
fn an_interrupt_leaves_what_was_learnt() {
    interrupted("-p beta --test endless --jobs 1 --slow-after 1s", "Slow test endless b_endless")
        .ends_with(3)
        .prints(&[
            "Holds test endless a_short",
            "Unverified test endless b_endless",
            "Stop interrupted",
        ])
        .prints(&["2 not run: interrupted"]);
}

/// What a run says of each test, without times and whether it was kept: verdict, name, executions.
fn verdicts(stdout: &str) -> Vec<String> {
    let words = ["Holds", "Violated", "Unverified"];
    let lines = stdout.lines().map(str::trim).filter(|line| line.contains(" execution"));
    let lines = lines.filter(|line| words.iter().any(|word| line.starts_with(word)));
    let upto = |line: &str| {
        let end = line.find(" execution").expect("it is there");
        line[..end].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    lines.map(upto).collect()
}

/// The words of the command that goes on with a run.
fn resume_words(stdout: &str) -> &str {
    let last = stdout.lines().last().unwrap_or_default();
    let words = last.trim().strip_prefix("Resume: mazurka test ");
    words.unwrap_or_else(|| panic!("{stdout}"))
}

/// Stopped at any moment, a run comes to what it comes to in one go: tests that are over are kept,
/// and the others go on where they were.
#[test]
fn a_run_that_is_saved_goes_on_where_it_was() {
    let words = "-p beta --test it --test endless --skip b_endless --jobs 1";
    let whole = verdicts(&test(&format!("{words} --quiet")).ends_with(1).stdout);
    assert_eq!(whole.len(), 8, "{whole:?}");
    let file = WORKSPACE.join("saved.mzr");
    let name = file.display().to_string();
    let mut command = format!("{words} --save {name} --max-executions 1");
    let mut n_stopped = 0;
    let last = loop {
        let said = test(&format!("{command} --quiet"));
        if said.status == Some(1) && !said.stdout.contains("Resume: ") {
            break said;
        }
        let said = said.ends_with(1);
        n_stopped += 1;
        assert!(n_stopped < 30, "{}", said.stdout);
        command = resume_words(&said.stdout).to_owned();
        assert!(command.contains("--max-executions 1"), "{command}");
    };
    assert!(n_stopped >= 2, "{}", last.stdout);
    assert_eq!(verdicts(&last.stdout), whole);
    assert!(last.stdout.contains(", kept"), "{}", last.stdout);
    assert!(!file.exists() && !WORKSPACE.join("saved.mzr.searches").exists(), "nothing is left");
}

/// An interrupt, or worse, leaves the file; a part of a line at its end is no harm.
#[test]
fn a_saved_run_survives_an_interrupt() {
    let file = WORKSPACE.join("interrupted.mzr");
    let name = file.display().to_string();
    let words = format!("-p beta --test endless --jobs 1 --slow-after 1s --save {name}");
    let said = interrupted(&words, "Slow test endless b_endless").ends_with(3);
    let again = resume_words(&said.stdout).to_owned();
    let mut text = fs::read_to_string(&file).expect("it is saved");
    text.push_str("{\"name\": \"test end");
    fs::write(&file, text).expect("there is room");
    // On a busy machine a program may be ended before it could save its search: then it begins
    // anew.
    let said = test(&format!("{again} --max-executions 1 --time-limit 20s --quiet")).ends_with(3);
    said.prints(&[
        "Holds test endless a_short",
        "s, kept",
        "Unverified test endless b_endless",
        "Holds test endless d_never_begun",
        "Summary 4 tests: 3 hold, 1 unverified",
    ]);
    fs::remove_file(&file).expect("it is there");
    fs::remove_dir_all(WORKSPACE.join("interrupted.mzr.searches")).expect("it is there");
}

#[test]
fn what_was_saved_of_another_run_is_refused() {
    let file = WORKSPACE.join("other.mzr");
    let name = file.display().to_string();
    let words = "-p beta --test it --jobs 1 adds";
    test(&format!("{words} --max-executions 2 --save {name}")).ends_with(3);
    let options = "was saved by a run with other options: no options";
    test_refuses(&format!("{words} --max-depth 99 --resume {name}"), options);
    test_refuses(&format!("{words} --resume {name} --save {name}"), "take `--resume` alone");
    test_refuses(&format!("{words} --resume nowhere"), "nowhere` cannot be read");
    // Another program: the verdict of an older one says nothing.
    let text = fs::read_to_string(&file).expect("it is saved");
    let program = text.split("\"program\":\"").nth(1).and_then(|it| it.split('"').next());
    let text = text.replace(program.expect("a program is named"), "0000-1");
    fs::write(&file, text).expect("there is room");
    let said = test(&format!("{words} --resume {name}")).ends_with(0).prints(&["4 executions"]);
    assert!(said.stderr.contains("note: 1 test explored anew"), "{}", said.stderr);
    fs::write(&file, "mazurka\n").expect("there is room");
    test_refuses(&format!("{words} --resume {name}"), "is no saved run of tests");
    fs::remove_file(&file).expect("it is there");
}

#[test]
fn what_needs_the_world_outside_is_told_with_its_place() {
    test("-p beta --test outside").ends_with(2).prints(&[
        "Holds test outside fine",
        "Error test outside opens_a_socket",
        "error: `socket` at beta/tests/outside.rs:3:10 in TcpListener::bind, in outside::listen, cannot be",
        "`--allow skip=socket` lets it fail",
        "Summary 2 tests: 1 hold, 1 could not be explored",
    ]);
    test("-p beta --test outside --allow skip=socket").ends_with(0);
}

/// What has no verdict is in the files for machines, too, and the pages are where the programs are.
#[test]
fn files_have_all_tests() {
    let folder = tempfile::TempDir::new().expect("there is room");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (json, junit, target) = (file("json"), file("junit"), file("target"));
    let words = "-p beta --test outside --test it --exact loses adds fine opens_a_socket";
    test(&format!("{words} --json {json} --junit {junit} --target-dir {target}")).ends_with(1);
    let text = fs::read_to_string(json).expect("it is written");
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        assert_eq!(violations(&value), [""; 0], "{line}");
        format!("{} {}", value["file"], value["verdict"])
    };
    assert_eq!(
        text.lines().map(line).collect::<Vec<_>>(),
        [
            r#""test it adds" "holds""#,
            r#""test it loses" "violated""#,
            r#""test outside fine" "holds""#,
            r#""test outside opens_a_socket" "error""#
        ]
    );
    let text = fs::read_to_string(junit).expect("it is written");
    let counts = "tests=\"4\" skipped=\"0\" errors=\"1\" failures=\"1\"";
    assert!(text.contains(counts) && text.contains("<error message=\"`socket` at "), "{text}");
    let pages = Path::new(&target).join("mazurka");
    let index = fs::read_to_string(pages.join("index.html")).expect("it is written");
    let link = "pages/test_it_loses.html";
    for words in ["4 tests: 2 hold, 1 violated, 1 could not be explored", link, "opens_a_socket"] {
        assert!(index.contains(words), "no `{words}` in:\n{index}");
    }
    let page = fs::read_to_string(pages.join(link)).expect("it is written");
    let replay = format!("--target-dir {target} --test it --exact loses --replay mzk1:");
    assert!(page.contains(&replay), "no `{replay}` in:\n{page}");
}

/// Builds with other features go on beside each other.
#[test]
fn two_runs_do_not_disturb_each_other() {
    let start = |words: &str| {
        mazurka(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let runs = ["-p beta --test it", "-p beta --test it --features extra"].map(start);
    let ends = runs.map(|run| run.wait_with_output().expect("it ends"));
    let summaries = ends.map(|end| {
        let text = String::from_utf8(end.stdout).expect("it is text");
        let line = text.lines().find(|line| line.trim().starts_with("Summary"));
        line.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
    });
    assert!(summaries[0].starts_with("Summary 5 tests: 2 hold, 3 violated"), "{summaries:?}");
    assert!(summaries[1].starts_with("Summary 6 tests: 3 hold, 3 violated"), "{summaries:?}");
    let left = fs::read_dir(WORKSPACE.join("target/mazurka")).expect("it was built there");
    let left = left.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ended: Vec<String> = left.filter(|it| it.starts_with("run-")).collect();
    // Tests of this file run beside this one, in this process's children.
    assert!(ended.len() < 20, "folders of runs go away: {ended:?}");
}

#[test]
fn cargo_has_a_subcommand() {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-mazurka"));
    let mut command = prepared(Command::new(program));
    command.args(["mazurka", "test", "-p", "alpha", "--list", "adds"]);
    assert_eq!(say(&mut command).ends_with(0).stdout, "test it adds\n");
    let folder = program.parent().expect("it is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)));
    let cargo = |words: &[&str]| {
        let mut command = prepared(Command::new(env!("CARGO")));
        say(command.args(words).env("PATH", path.as_ref().expect("no part of it has a colon")))
    };
    let said = cargo(&["mazurka", "test", "-p", "alpha", "--test", "it", "--quiet", "loses"]);
    let said = said.ends_with(1).prints(&["Violated test it loses"]);
    let replay = said.stdout.lines().find_map(|line| line.trim().strip_prefix("mazurka "));
    let words: Vec<&str> = replay.expect("there is a command").split_whitespace().collect();
    cargo(&[&["mazurka"], &words[..]].concat()).ends_with(1).prints(&["Violated"]);
    assert!(cargo(&["mazurka", "replay", "--help"]).ends_with(0).stdout.contains("--schedule"));
}

/// The executions of a test that holds, and the lines that tests have reached, all together.
#[test]
fn passing_tests_tell_executions_and_lines() {
    let file = WORKSPACE.join("lines.info");
    let words = "-p beta --test it --exact adds panics --show executions=2 --show lines --lcov";
    let said = test(&format!("{words} {}", file.display())).ends_with(0);
    let said = said.prints(&["Executions: the first 2 of ", " before ", "Reached: "]);
    assert!(said.stdout.matches(" --replay mzk1:").count() >= 2, "{}", said.stdout);
    let lines = fs::read_to_string(&file).expect("it was written");
    assert!(lines.contains("SF:beta/tests/it.rs\n"), "{lines}");
    assert_eq!(lines.matches("SF:").count(), 1, "no file of a library: {lines}");
    let is_reached = |text: &str| {
        let line = TESTS.lines().position(|line| line.contains(text)).expect("it is there") + 1;
        lines.contains(&format!("\nDA:{line},1\n"))
    };
    for reached in ["let other = n.clone()", "other.store(other.load", "panic!(\"as it should\")"] {
        assert!(is_reached(reached), "{reached}: {lines}");
    }
    assert!(!is_reached("panic!(\"these words\")"), "{lines}");
}
