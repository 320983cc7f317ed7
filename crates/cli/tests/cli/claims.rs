//! One file, one claim: of every program of `corpus/c` that holds, all engines name the same
//! properties and the same assumptions, but for those that an engine itself is the reason of.

use crate::support::{Said, run, with_file};
use mazurka_effort::sample;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The engines, by the arguments that choose them, with what they do not look for and what they
/// assume beside the program's own.
struct Engine {
    arguments: &'static [&'static str],
    not_looked_for: &'static [&'static str],
    own: &'static [&'static str],
}

const ENGINES: [Engine; 4] = [
    Engine {
        arguments: &["--engine", "vm"],
        not_looked_for: &[],
        own: &["clocks", "extern", "nondet-range", "printing"],
    },
    // A thread that goes round for ever moves: to a search of states that is no end.
    Engine {
        arguments: &["--engine", "statespace"],
        not_looked_for: &["livelock"],
        own: &["clocks", "extern", "nondet-range", "no-spinning", "printing"],
    },
    Engine {
        arguments: &["--engine", "bmc", "--depth", "4"],
        not_looked_for: &["livelock"],
        own: &[
            "clocks",
            "extern",
            "nondet-range",
            "no-spinning",
            "printing",
            "semaphores-outlive-waits",
        ],
    },
    // Only what the compiler's instrumentation shows is looked for.
    Engine {
        arguments: &["--engine", "native"],
        not_looked_for: &["memory", "overflow"],
        own: &[
            "compiled-atomics",
            "deferred-cancellation",
            "endless-loop",
            "printing",
            "rounds-of-waits",
            "timed-waits",
            "virtual-time",
            "unrepeatable-call",
        ],
    },
];

/// The programs that hold as they are, with whether they are run natively.
fn programs() -> Vec<(PathBuf, bool)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c");
    let mut files: Vec<(PathBuf, bool)> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .filter_map(|path| {
            let text = std::fs::read_to_string(&path).expect("a program can be read");
            let holds = text.lines().any(|line| line == "// expect: holds");
            let is_native = !text.lines().any(|line| line.starts_with("// vm:"));
            holds.then_some((path, is_native))
        })
        .collect();
    files.sort();
    files
}

/// The words of a list in an answer.
fn words(list: &Value, key: &str) -> BTreeSet<String> {
    let word = |it: &Value| match key {
        "" => it.as_str().unwrap_or_default().to_owned(),
        key => it[key].as_str().unwrap_or_default().to_owned(),
    };
    list.as_array().map(|all| all.iter().map(word).collect()).unwrap_or_default()
}

#[test]
fn every_engine_makes_the_same_claim() {
    let programs = programs();
    assert!(programs.len() >= 25, "where is the corpus?");
    let programs = sample(programs);
    let mut wrong = Vec::new();
    let mut n_compared = 0;
    for (file, is_native) in &programs {
        let (folder, name) = (file.parent().expect("it is in a folder"), file.file_name());
        let name = name.expect("it is a file").to_string_lossy();
        let mut claims = Vec::new();
        for engine in &ENGINES {
            if engine.arguments[1] == "native" && !is_native {
                continue;
            }
            let arguments =
                ["check", &*name, "--json", "-", "--time-limit", "60s", "--memory", "sc"];
            let said = run(folder, &[&arguments, engine.arguments].concat());
            let answer: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
            if answer["verdict"] == "error" {
                // Not every program is one for circuits.
                assert_eq!(said.status, Some(2), "{name} {:?}: {}", engine.arguments, said.stderr);
                continue;
            }
            if answer["verdict"] != "holds" {
                wrong.push(format!("{name} {:?}: {}", engine.arguments, answer["verdict"]));
                continue;
            }
            let own: BTreeSet<String> = engine.own.iter().map(|it| (*it).to_owned()).collect();
            let assumptions: BTreeSet<String> =
                words(&answer["assumptions"], "code").difference(&own).cloned().collect();
            claims.push((engine, words(&answer["properties"], ""), assumptions));
            n_compared += 1;
        }
        let Some((_, all, assumed)) = claims.first().cloned() else { continue };
        for (engine, properties, assumptions) in claims {
            let missing: BTreeSet<String> =
                engine.not_looked_for.iter().map(|it| (*it).to_owned()).collect();
            let expected: BTreeSet<String> = all.difference(&missing).cloned().collect();
            if properties != expected || assumptions != assumed {
                wrong.push(format!(
                    "{name} {:?}: {properties:?}, not {expected:?}; {assumptions:?}, not {assumed:?}",
                    engine.arguments
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(n_compared >= 3 * programs.len(), "{n_compared} claims about {}", programs.len());
}

const RELAXED: &str = "\
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
volatile int stop;
void *sets(void *arg) {
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    stop = 1;
    return arg;
}
int main(void) {
    pthread_t thread = 0;
    pthread_create(&thread, 0, sets, 0);
    int seen = atomic_load_explicit(&ready, memory_order_acquire);
    pthread_join(thread, 0);
    return seen - seen;
}
";

/// The places, too, and by every engine.
#[test]
fn accesses_that_are_weaker_are_named_with_their_places() {
    for engine in ["native", "vm", "statespace", "bmc", "induction", "ic3", "bdd", "portfolio"] {
        let said = with_sc(engine, &["--json", "-"]);
        let answer: Value = serde_json::from_str(&said.ends_with(0).stdout).expect("it is JSON");
        let assumptions = answer["assumptions"].as_array().expect("it holds");
        let memory = assumptions.iter().find(|it| it["code"] == "sequential-consistency");
        let memory = memory.unwrap_or_else(|| panic!("{engine}: {assumptions:?}"));
        assert_eq!(
            memory["text"],
            "sequentially consistent memory (`ready` is accessed with relaxed order at x.c:6; `stop` \
             is volatile at x.c:7; `ready` is accessed with acquire order at x.c:13)",
            "{engine}"
        );
        assert_eq!(memory["places"], serde_json::json!(["x.c:6", "x.c:7", "x.c:13"]), "{engine}");
        let said = with_sc(engine, &["--quiet"]);
        said.ends_with(0).prints(&["assuming sequentially consistent memory (`ready` is accessed"]);
    }
}

/// The program with relaxed accesses, in all interleavings.
fn with_sc(engine: &str, more: &[&str]) -> Said {
    let arguments = ["check", "x.c", "--engine", engine, "--memory", "sc"];
    with_file("x.c", RELAXED, &[&arguments, more].concat())
}

/// What is sequentially consistent by the language needs no assumption.
#[test]
fn strong_atomics_need_no_assumption() {
    let text = RELAXED
        .replace("memory_order_relaxed", "memory_order_seq_cst")
        .replace("memory_order_acquire", "memory_order_seq_cst")
        .replace("volatile int stop", "atomic_int stop");
    for engine in ["native", "vm", "statespace", "portfolio"] {
        let said = with_file("x.c", &text, &["check", "x.c", "--engine", engine, "--json", "-"]);
        let answer: Value = serde_json::from_str(&said.ends_with(0).stdout).expect("it is JSON");
        let codes = words(&answer["assumptions"], "code");
        assert!(!codes.contains("sequential-consistency"), "{engine}: {codes:?}");
    }
}

/// Neither claims every interleaving: a state may have been taken for another one.
#[test]
fn hashes_in_the_place_of_states_are_probable() {
    let model = "active [2] proctype p() { byte x; do :: x < 5 -> x++ :: else -> break od }\n";
    for storage in ["bitstate", "compact"] {
        let said = with_file("x.pml", model, &["check", "x.pml", "--storage", storage]);
        let said = said.ends_with(0).prints(&["Holds probably, in every interleaving (wrong with"]);
        assert!(!said.stdout.contains("Holds in every"), "{}", said.stdout);
        let said =
            with_file("x.pml", model, &["check", "x.pml", "--storage", storage, "--json", "-"]);
        let answer: Value = serde_json::from_str(&said.ends_with(0).stdout).expect("it is JSON");
        assert_eq!(answer["scope"]["kind"], "probable");
        assert!(answer["scope"]["odds"].as_f64().is_some_and(|odds| odds < 1e-3), "{answer}");
    }
}

/// All memory is one object then, and what is released there would be learnt elsewhere.
#[test]
fn atomic_blocks_beside_relaxed_atomics_are_refused() {
    let text = "\
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int d, e, f, g;
void *work(void *arg) {
    d = 1;
    __atomic_store_n(&g, 1, __ATOMIC_RELEASE);
    return arg;
}
int main(void) {
    pthread_t thread = 0;
    __VERIFIER_atomic_begin();
    e = 1;
    __VERIFIER_atomic_end();
    pthread_create(&thread, 0, work, 0);
    int seen = 0;
    if (__atomic_load_n(&g, __ATOMIC_RELAXED)) {
        seen = __atomic_load_n(&f, __ATOMIC_ACQUIRE) + d;
    }
    pthread_join(thread, 0);
    return seen - seen;
}
";
    for engine in ["vm", "statespace"] {
        with_file("x.c", text, &["check", "x.c", "--engine", engine])
            .refuses("an atomic block beside atomics that do not acquire and release");
    }
    // With the relaxed load strengthened, there is no race, and with races allowed none is looked
    // for.
    let repaired = text.replace("__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE");
    with_file("x.c", &repaired, &["check", "x.c", "--engine", "vm"]).ends_with(0);
    with_file("x.c", text, &["check", "x.c", "--engine", "vm", "--races", "allow"]).ends_with(0);
}
