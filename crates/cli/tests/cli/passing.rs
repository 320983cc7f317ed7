//! What passing checks tell: `--show executions=N`.

use crate::support::{Said, run, schema, with_file};
use serde_json::Value;
use tempfile::TempDir;

const MESSAGE: &str = "\
#include <pthread.h>
#include <stdatomic.h>
atomic_int data, flag;
static void *writer(void *unused) {
    data = 42;
    flag = 1;
    return unused;
}
static void *reader(void *unused) {
    if (flag) {
        return data == 42 ? unused : (void *)1;
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

const ENGINES: [&[&str]; 2] = [&[], &["--engine", "vm"]];

fn check(arguments: &[&str], engine: &[&str]) -> Said {
    let all = [&["check", "mp.c"], engine, arguments].concat();
    with_file("mp.c", MESSAGE, &all)
}

fn executions(said: &Said) -> Vec<Value> {
    let object: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!(schema::violations(&object), Vec::<String>::new());
    object["executions"].as_array().cloned().unwrap_or_default()
}

#[test]
fn racing_pairs_and_values_distinguish_executions() {
    for engine in ENGINES {
        let said = check(&["--show", "executions=3"], engine).ends_with(0);
        let said = said.prints(&["Executions: all 2, and what distinguishes them"]);
        let lines: Vec<&str> = said.stdout.lines().map(str::trim).collect();
        let text = lines.join(" ");
        for before in ["store flag", "load flag = 0"] {
            assert!(text.contains(before), "no `{before}` in:\n{}", said.stdout);
        }
        // Each pair in both orders, and the two are not shown where they are the same.
        let after = |first: &str, second: &str| {
            text.split(" before ")
                .collect::<Vec<_>>()
                .windows(2)
                .any(|two| two[0].ends_with(first) && two[1].contains(second))
        };
        assert!(after("load flag = 0", "store flag"), "{}", said.stdout);
        assert!(after("store flag 0→1", "load flag = 1"), "{}", said.stdout);
        assert!(!text.contains("store data"), "{}", said.stdout);
        assert_eq!(text.matches("Replay: mazurka replay mp.c").count(), 2, "{}", said.stdout);
    }
}

#[test]
fn every_execution_that_is_shown_can_be_replayed() {
    for engine in ENGINES {
        let folder = TempDir::new().expect("there is room");
        std::fs::write(folder.path().join("mp.c"), MESSAGE).expect("there is room");
        let ask = [&["check", "mp.c", "--show", "executions=9", "--json", "-"], engine].concat();
        let all = executions(&run(folder.path(), &ask).ends_with(0));
        assert_eq!(all.len(), 2, "as many as there are");
        for execution in &all {
            let schedule = execution["schedule"].as_str().expect("it has one");
            let words = [&["replay", "mp.c", "--schedule", schedule], engine].concat();
            run(folder.path(), &words).ends_with(0);
            let steps = execution["steps"].as_array().expect("it has steps");
            for pair in execution["pairs"].as_array().expect("it has pairs") {
                let [first, second] = ["first", "second"].map(|it| pair[it].as_u64().expect(it));
                assert!(first < second && second as usize <= steps.len(), "{pair}");
            }
        }
    }
}

/// The number of workers, a search that was saved, and the ladder change nothing.
#[test]
fn executions_are_the_same_for_any_number_of_workers() {
    for engine in ENGINES {
        let shown = |more: &[&str]| {
            let all = [&["--show", "executions=2", "--json", "-"], more].concat();
            executions(&check(&all, engine).ends_with(0))
        };
        let alone = shown(&["--jobs", "1"]);
        assert_eq!(alone.len(), 2);
        assert_eq!(shown(&["--jobs", "2"]), alone);
        assert_eq!(shown(&["--ladder", "off"]), alone);
        assert_eq!(shown(&["--reduction", "dpor", "--jobs", "1"]), alone);
    }
}

#[test]
fn a_bound_says_which_executions_there_are() {
    let shown = ["--show", "executions=9", "--bound", "preemption=0"];
    check(&shown, &[]).ends_with(0).prints(&["Executions: the first", "each of another trace"]);
}

#[test]
fn one_execution_and_one_of_several() {
    let alone = "int main(void) { return 0; }\n";
    let said = with_file("a.c", alone, &["check", "a.c", "--show", "executions=2"]).ends_with(0);
    said.prints(&["Executions: there is one, up to the order of independent steps"]);
    let said = check(&["--show", "executions=1"], &[]).ends_with(0);
    said.prints(&["Executions: the first, with all pairs of steps that race in it", " before "]);
}

#[test]
fn a_violation_shows_no_more_than_without() {
    let wrong = MESSAGE
        .replace("#include <pthread.h>", "#include <assert.h>\n#include <pthread.h>")
        .replace("return data == 42 ? unused : (void *)1;", "assert(data != 42);");
    for engine in ENGINES {
        let ask = |more: &[&str]| {
            let all = [&["check", "mp.c"], engine, more].concat();
            let said = with_file("mp.c", &wrong, &all).ends_with(1);
            said.stdout.lines().filter(|it| !it.contains(" s")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(ask(&["--show", "executions=3"]), ask(&[]));
    }
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let refuse = |value: &str, why: &str| {
        check(&["--show", value], &[]).refuses(why);
    };
    refuse("executions=0", "1 is the least");
    refuse("executions", "a number is expected: `executions=3`");
    refuse("executions=few", "a number is expected: `executions=3`");
    refuse("steps", "there is executions=N");
    check(&["--show", "executions=3"], &["--engine", "ic3"]).refuses("--show");
    check(&["--show", "executions=3"], &["--engine", "statespace"]).refuses("--show");
}

/// Under a weak memory model reads say which write they have read.
#[test]
fn reads_of_a_memory_model() {
    let relaxed = MESSAGE
        .replace("flag = 1;", "atomic_store_explicit(&flag, 1, memory_order_relaxed);")
        .replace("if (flag)", "if (atomic_load_explicit(&flag, memory_order_relaxed))")
        .replace("return data == 42 ? unused : (void *)1;", "return unused;");
    for engine in ENGINES {
        let ask =
            [&["check", "mp.c", "--show", "executions=4", "--memory", "rc11"], engine].concat();
        let said = with_file("mp.c", &relaxed, &ask).ends_with(0);
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the initial value read by"), "{}", said.stdout);
        assert!(text.contains("read by"), "{}", said.stdout);
        assert!(text.contains("--memory rc11"), "{}", said.stdout);
    }
}
