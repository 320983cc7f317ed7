//! `mazurka split` and `mazurka merge`: parts that are explored in any order, stopped and gone on
//! with, or by processes at the same time, come to the verdict and the numbers of one search.

use crate::support::{Said, run};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// Seven threads that write: 5,040 traces.
const WRITERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x;\n\
    static void *work(void *who) { atomic_store(&x, (int)(long)who); return 0; }\n\
    int main(void) {\n    pthread_t all[7];\n    for (long i = 0; i < 7; i++) \
    pthread_create(&all[i], 0, work, (void *)(i + 1));\n    for (int i = 0; i < 7; i++) \
    pthread_join(all[i], 0);\n#ifdef BUG\n    assert(x != 1);\n#endif\n    return 0;\n}\n";

/// A folder with the program.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("w.c"), WRITERS).expect("there is room");
    folder
}

fn json(said: &Said) -> Value {
    let parsed = serde_json::from_str(&said.stdout);
    parsed.unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr))
}

fn split(folder: &Path, how: &[&str]) -> Said {
    run(folder, &[&["split", "w.c", "--into", "4", "--out", "parts"], how].concat())
}

fn go_on(folder: &Path, number: usize, how: &[&str]) -> Said {
    let file = format!("parts/{number:02}.mzs");
    run(folder, &[&["check", "w.c", "--resume", &file], how].concat())
}

fn merge(folder: &Path, numbers: std::ops::RangeInclusive<usize>) -> Said {
    let files: Vec<String> = numbers.map(|number| format!("parts/{number:02}.mzs")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(folder, &[&["merge", "--json", "-"], &files[..]].concat())
}

#[test]
fn parts_are_the_whole() {
    for engine in ["native", "vm"] {
        let folder = folder();
        let how = ["--engine", engine];
        let whole = run(folder.path(), &[&["check", "w.c", "--json", "-"], &how[..]].concat());
        let whole = json(&whole.ends_with(0));
        assert_eq!(whole["stats"]["traces"], 5040);
        split(folder.path(), &how)
            .ends_with(0)
            .prints(&["Split w.c into 4 parts", "mazurka merge"]);

        // Nothing is explored yet, and one part is lost.
        let open = merge(folder.path(), 2..=4);
        let answer = json(&open.ends_with(3));
        assert_eq!(answer["verdict"], "inconclusive");
        assert_eq!(answer["coverage"], "nothing proved: 4 of 4 parts are not at their end");

        // One is stopped, and goes on where it was.
        let few = [&how[..], &["--max-executions", "50"]].concat();
        go_on(folder.path(), 2, &few).ends_with(3);
        std::thread::scope(|scope| {
            for number in [3, 2, 4, 1] {
                let (folder, how) = (folder.path(), &how);
                scope.spawn(move || {
                    let said = go_on(folder, number, how).ends_with(0);
                    said.prints(&[&format!("Holds in every execution of part {number} of 4")]);
                });
            }
        });
        let merged = json(&merge(folder.path(), 1..=4).ends_with(0));
        for key in ["verdict", "coverage", "assumptions"] {
            assert_eq!(merged[key], whole[key], "{engine}");
        }
        for key in ["executions", "traces", "blocked_executions", "max_depth"] {
            assert_eq!(merged["stats"][key], whole["stats"][key], "{engine}: {key}");
        }
        // A part that is at its end stays there.
        go_on(folder.path(), 1, &how).ends_with(0);
        assert_eq!(json(&merge(folder.path(), 1..=4))["stats"]["traces"], 5040);
    }
}

#[test]
fn a_violation_in_one_part_is_that_of_the_whole() {
    let folder = folder();
    // With `--reduction optimal` the first executions end with the last thread's number.
    let how = ["--engine", "vm", "-DBUG"];
    let said = split(folder.path(), &how);
    if said.status == Some(1) {
        // It was found before anything was split.
        return;
    }
    said.ends_with(0);
    let found = (1..=4).filter(|&number| go_on(folder.path(), number, &how).status == Some(1));
    assert!(found.count() > 0, "no part has it");
    let merged = json(&merge(folder.path(), 1..=4).ends_with(1));
    assert_eq!(merged["violation"]["kind"], "assertion");
    let schedule = merged["violation"]["schedule"].as_str().expect("it has one").to_owned();
    let words = ["replay", "w.c", "-DBUG", "--engine", "vm", "--schedule", &schedule];
    run(folder.path(), &words).ends_with(1);
}

#[test]
fn a_small_search_is_decided_at_once() {
    let folder = folder();
    std::fs::write(folder.path().join("w.c"), "int main(void) { return 0; }")
        .expect("there is room");
    split(folder.path(), &[]).ends_with(0).prints(&["Holds in every interleaving"]);
    assert!(!folder.path().join("parts").exists(), "there is nothing to go on with");
}

#[test]
fn what_cannot_be_split_or_merged_is_said() {
    let folder = folder();
    let at = folder.path();
    split(at, &["--engine", "statespace"]).refuses("explores no executions that could be split");
    split(at, &["--engine", "vm", "--reduction", "dpor"]).refuses("cannot be split");
    split(at, &["--engine", "vm", "--resume", "x"]).refuses("begins a search of its own");
    split(at, &["--engine", "vm"]).ends_with(0);
    split(at, &["--engine", "vm"]).refuses("there are parts of a search in `parts` already");
    run(at, &["merge", "parts/01.mzs", "parts/01.mzs"]).refuses("which another file is, too");
    run(at, &["merge", "w.c", "no.mzs"]).refuses("`w.c`: not a saved search");
    // Another program, and another version of the options.
    std::fs::write(at.join("w.c"), WRITERS.replace('7', "6")).expect("there is room");
    go_on(at, 1, &["--engine", "vm"]).refuses("belongs to another program");
    go_on(at, 1, &["--engine", "vm", "--races", "allow"]).refuses("the model was made with");
}
