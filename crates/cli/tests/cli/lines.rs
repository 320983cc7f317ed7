//! `--show lines` and `--lcov`: lines that no execution reaches.

use crate::support::{Random, Said, run, say, schema, with_file};
use mazurka_effort::{has_tool, seeds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// In a comment behind a line: whether some execution comes there.
const NEVER: &str = "// never";
const ONCE: &str = "// reached";

const MAILBOX: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int full, letter, lost;
static void spoil(void) {
    lost = 1; // never
}
static void *sender(void *unused) {
    letter = 7; // reached
    full = 1; // reached
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0); // reached
    int found = 0;
    if (full) {
        found = letter; // reached
        if (found != 7) {
            spoil(); // never
        }
    } else if (letter) {
        lost = 2; // reached
    }
    pthread_join(thread, 0); // reached
    if (lost > 2) {
        full = 3; // never
    }
    return 0;
}
";

const ENGINES: [&[&str]; 3] = [&[], &["--engine", "vm"], &["--engine", "statespace"]];

/// The lines of a trace file, by file, each with whether it was reached. Holds it to its form.
fn parsed(text: &str) -> BTreeMap<String, BTreeMap<u32, bool>> {
    let mut files = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        assert_eq!(line, "TN:", "a record begins with the name of a test");
        let file = lines.next().and_then(|line| line.strip_prefix("SF:")).expect("a file");
        let mut reached: BTreeMap<u32, bool> = BTreeMap::new();
        let mut last = 0;
        let rest = loop {
            let line = lines.next().expect("the record goes on");
            let Some(data) = line.strip_prefix("DA:") else { break line };
            let (number, count) = data.split_once(',').expect("a line and a count");
            let number: u32 = number.parse().expect("a line is a number");
            assert!(number > last, "lines are in order: {text}");
            last = number;
            reached.insert(number, count.parse::<u64>().expect("a count is a number") > 0);
        };
        assert_eq!(rest, format!("LF:{}", reached.len()));
        let n_reached = reached.values().filter(|it| **it).count();
        assert_eq!(lines.next(), Some(&*format!("LH:{n_reached}")));
        assert_eq!(lines.next(), Some("end_of_record"));
        assert!(files.insert(file.to_owned(), reached).is_none(), "{file} is there twice");
    }
    files
}

/// What was reached of a file in a folder, by a command that writes it to `lines.info`.
fn reached(folder: &Path, file: &str, words: &[&str]) -> BTreeMap<u32, bool> {
    let all = [words, &["--lcov", "lines.info"]].concat();
    run(folder, &all).ends_with(0);
    let text = std::fs::read_to_string(folder.join("lines.info")).expect("it was written");
    let mut files = parsed(&text);
    let lines = files.remove(file).unwrap_or_else(|| panic!("no {file} in {text}"));
    assert!(files.is_empty(), "only the program's own files: {files:?}");
    lines
}

/// Holds lines to the comments behind them.
fn check_marks(source: &str, reached: &BTreeMap<u32, bool>, what: &str) {
    for (idx, line) in source.lines().enumerate() {
        let number = idx as u32 + 1;
        let expected =
            if line.ends_with(NEVER) { Some(false) } else { line.ends_with(ONCE).then_some(true) };
        if let Some(expected) = expected {
            assert_eq!(reached.get(&number), Some(&expected), "{what}: {number}: {line}");
        }
    }
}

#[test]
fn lines_of_c_in_all_engines() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("m.c"), MAILBOX).expect("there is room");
    for engine in ENGINES {
        let words = [&["check", "m.c", "--show", "lines"], engine].concat();
        let lines = reached(folder.path(), "m.c", &words);
        check_marks(MAILBOX, &lines, &format!("{engine:?}"));
        let said = run(folder.path(), &words).ends_with(0);
        let n_reached = lines.values().filter(|it| **it).count();
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence =
            format!("Reached: {n_reached} of {} lines; no execution reached m.c:", lines.len());
        assert!(text.contains(&sentence), "no `{sentence}` in:\n{}", said.stdout);
    }
}

#[test]
fn whatever_the_compiler_and_the_number_of_processes() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("m.c"), MAILBOX).expect("there is room");
    for compiler in ["gcc", "clang"].into_iter().filter(|it| has_tool(it)) {
        for flag in ["-O0", "-O1", "-O2"] {
            for jobs in ["1", "2"] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
                command.args(["check", "m.c", flag, "--jobs", jobs, "--lcov", "lines.info"]);
                let said = say(command.current_dir(folder.path()).env("CC", compiler));
                said.ends_with(0);
                let text = std::fs::read_to_string(folder.path().join("lines.info"));
                let files = parsed(&text.expect("it was written"));
                let lines = &files["m.c"];
                let what = format!("{compiler} {flag} --jobs {jobs}");
                if flag == "-O0" {
                    check_marks(MAILBOX, lines, &what);
                    continue;
                }
                // The compiler may have no code for a line, or the same for two.
                for (idx, line) in MAILBOX.lines().enumerate() {
                    let is_reached = lines.get(&(idx as u32 + 1)).copied().unwrap_or_default();
                    assert!(!(is_reached && line.ends_with(NEVER)), "{what}: {line}");
                }
            }
        }
    }
}

/// Copies of the process that share a search tell what they reach: one line is reached in a single
/// execution of many.
#[test]
fn processes_that_share_a_search() {
    const MANY: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, seen;
static void *add(void *unused) {
    for (int i = 0; i < 2; i++) {
        x = x + 1;
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    if (x == 6) seen = 6;
    if (x == 2)
        seen = 2; // reached
    if (x == 7)
        seen = 7; // never
    return 0;
}
";
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("m.c"), MANY).expect("there is room");
    let alone = reached(folder.path(), "m.c", &["check", "m.c", "--jobs", "1"]);
    check_marks(MANY, &alone, "--jobs 1");
    assert_eq!(reached(folder.path(), "m.c", &["check", "m.c", "--jobs", "3"]), alone);
}

/// Rounds of loops that wait or try again are cut short by searches, and their lines are reached all
/// the same.
#[test]
fn loops_that_wait_or_try_again() {
    const LOOPS: &str = "\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int ready, other, x;
static void *add(void *unused) {
    int old = atomic_load(&x);
    while (!atomic_compare_exchange_strong(&x, &old, old + 1)) {
        sched_yield(); // reached
        old = atomic_load(&x); // reached
    }
    ready = 1;
    other = 1;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    int local = 0;
    pthread_create(&threads[0], 0, add, 0);
    pthread_create(&threads[1], 0, add, 0);
    while (!ready) {
        local = 3; // reached
    }
    while (!atomic_load_explicit(&other, memory_order_acquire)) {
        sched_yield(); // reached
    }
    while (!ready) {
        local = 4; // never
    }
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return local < 0;
}
";
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("m.c"), LOOPS).expect("there is room");
    for engine in ENGINES {
        let words = [&["check", "m.c", "--memory", "sc"], engine].concat();
        check_marks(LOOPS, &reached(folder.path(), "m.c", &words), &format!("{engine:?}"));
    }
}

/// A random program: threads of assignments and conditions, one a line, and each line can be made to
/// fail. Line `n` fails with `-DFAIL=n`.
fn random_program(seed: u64) -> (String, Vec<u32>) {
    let mut random = Random(seed);
    let mut text = "\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifndef FAIL
#define FAIL 0
#endif
#define AT(n) if (FAIL == n) abort();
static atomic_int x, y;
"
    .to_owned();
    let mut failing = Vec::new();
    let n_threads = 2;
    for thread in 0..n_threads {
        let _ = writeln!(text, "static void *run{thread}(void *unused) {{");
        for _ in 0..3 {
            let mut statement = |random: &mut Random, text: &mut String, indent: &str| {
                let line = text.lines().count() as u32 + 1;
                let (to, value) = (random.pick(&["x", "y"]), random.below(3));
                let _ = writeln!(text, "{indent}AT({line}) {to} = {value};");
                failing.push(line);
            };
            match random.below(2) {
                0 => statement(&mut random, &mut text, "    "),
                _ => {
                    let (of, value) = (random.pick(&["x", "y"]), random.below(4));
                    let _ = writeln!(text, "    if ({of} == {value}) {{");
                    statement(&mut random, &mut text, "        ");
                    let _ = writeln!(text, "    }}");
                }
            }
        }
        let _ = writeln!(text, "    return unused;\n}}");
    }
    text += "int main(void) {\n    pthread_t threads[2];\n";
    for thread in 0..n_threads {
        let _ = writeln!(text, "    pthread_create(&threads[{thread}], 0, run{thread}, 0);");
    }
    text +=
        "    pthread_join(threads[0], 0);\n    pthread_join(threads[1], 0);\n    return 0;\n}\n";
    (text, failing)
}

/// A line was reached exactly if the program fails where that line does.
#[test]
fn a_line_is_reached_if_a_failure_on_it_is_found() {
    let folder = TempDir::new().expect("there is room");
    let (mut n_reached, mut n_unreached) = (0, 0);
    for seed in seeds(0..6) {
        let (text, failing) = random_program(seed);
        std::fs::write(folder.path().join("p.c"), &text).expect("there is room");
        let found: BTreeSet<u32> = failing
            .iter()
            .copied()
            .filter(|line| {
                let flag = format!("-DFAIL={line}");
                let words = ["check", "p.c", &flag, "--engine", "vm", "--reduction", "none"];
                let said: Said = run(folder.path(), &words);
                assert!(matches!(said.status, Some(0 | 1)), "{}{}", said.stdout, said.stderr);
                said.status == Some(1)
            })
            .collect();
        for engine in ENGINES {
            let lines = reached(folder.path(), "p.c", &[&["check", "p.c"], engine].concat());
            for &line in &failing {
                let is_reached = lines.get(&line) == Some(&true);
                assert_eq!(is_reached, found.contains(&line), "{engine:?}: {line} of\n{text}");
            }
        }
        n_reached += found.len();
        n_unreached += failing.len() - found.len();
    }
    assert!(n_reached > 0 && n_unreached > 0, "{n_reached} and {n_unreached}");
}

#[test]
fn statements_of_a_model() {
    const MODEL: &str = "\
byte x;
active [2] proctype add() {
    byte old;
    old = x; // reached
    x = old + 1; // reached
    if
    :: x == 3 ->
       x = 0 // never
    :: else
    fi
}
";
    let source = MODEL.replace("// never", "/* never */").replace("// reached", "/* reached */");
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("m.pml"), source).expect("there is room");
    let lines = reached(folder.path(), "m.pml", &["check", "m.pml", "--show", "lines"]);
    check_marks(MODEL, &lines, "Promela");
}

#[test]
fn lines_in_json() {
    let words = ["check", "m.c", "--show", "lines", "--json", "-"];
    let said = with_file("m.c", MAILBOX, &words).ends_with(0);
    let object: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!(schema::violations(&object), Vec::<String>::new());
    let lines = &object["lines"];
    assert!(lines["reached"].as_u64() < lines["total"].as_u64(), "{lines}");
    let first = &lines["unreached"][0];
    assert_eq!(first["file"], "m.c");
    assert!(first["first"].as_u64() <= first["last"].as_u64());
}

#[test]
fn a_search_that_is_bounded_says_so() {
    let words = ["check", "m.c", "--show", "lines", "--bound", "preemption=0"];
    let said = with_file("m.c", MAILBOX, &words).ends_with(0);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("no execution that was explored reached m.c:"), "{}", said.stdout);
}

#[test]
fn what_cannot_be_told_is_refused() {
    let refuse = |words: &[&str], why: &str| {
        with_file("m.c", MAILBOX, &[&["check", "m.c"], words].concat()).refuses(why);
    };
    refuse(&["--show", "lines", "--engine", "ic3"], "--show");
    refuse(&["--lcov", "x.info", "--engine", "bmc"], "--show");
    refuse(&["--show", "lines", "--resume", "x.mzk"], "does not go with `--resume`");
    let ltl = ["--show", "lines", "--ltl", "[] true", "--engine", "statespace"];
    refuse(&ltl, "does not go with `--ltl`");
}
