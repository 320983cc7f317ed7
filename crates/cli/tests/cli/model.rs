//! `--engine vm` and `mazurka model`: what is refused and how, schedules, options.

use crate::support::{Said, run, with_file};
use std::path::Path;
use tempfile::TempDir;

/// What the command says in a folder with one file `x.c`.
fn mazurka(text: &[u8], arguments: &[&str]) -> Said {
    with_file("x.c", text, arguments)
}

const CHECK: [&str; 4] = ["check", "x.c", "--engine", "vm"];

/// The command refuses the text, and says all of this.
fn refuses(text: &[u8], parts: &[&str]) {
    let said = mazurka(text, &CHECK);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    for part in parts {
        assert!(said.stderr.contains(part), "`{part}` is not in:\n{}", said.stderr);
    }
}

#[test]
fn everything_that_is_not_supported_is_told_at_once() {
    let text = b"#include <stdarg.h>
int next_ticket(void);
int main(int argc, char **argv) {
    int a[argc];
    long double x = 1;
    __asm__ volatile(\"mfence\" : : : \"memory\");
    return a[0] + next_ticket();
}
";
    refuses(
        text,
        &[
            "error[C010]: an array of variable length is not supported",
            "x.c:4:10",
            "error[C010]: `long double` is not supported",
            "x.c:5:17",
            "error[C010]: inline assembly is not supported",
            "x.c:6:5",
            "error[C014]: `next_ticket` has no definition and no model",
            "x.c:7:19",
            "--extern next_ticket=nondet|skip",
        ],
    );
}

#[test]
fn all_of_an_expression_is_looked_at() {
    let text = b"int first(int), second(void), third(void), fourth(int, ...);
int main(void) {
    int a = first(1.0L) + second();
    int b = a ? third() : fourth(a, 2.0L, (int)3.0L);
    return a == (int)4.0L || b == (int)5.0L;
}
";
    refuses(
        text,
        &["x.c:3:19", "x.c:3:27", "x.c:4:17", "x.c:4:37", "x.c:4:48", "x.c:5:22", "x.c:5:40"],
    );
}

#[test]
fn what_is_no_c_is_refused() {
    refuses(b"", &["`x.c` is empty"]);
    refuses(b" \n\t\n", &["`x.c` is empty"]);
    refuses(b"\x7fELF\0\0\0", &["`x.c` is a binary file"]);
    refuses(b"int x;", &["there is no function `main`"]);
    refuses(b"#include \"nowhere.h\"\n", &["error[C002]: nowhere.h: No such file", "x.c:1:10"]);
    refuses(
        b"int main(void) { return a + ; }\nint f(void) { return b; }\n",
        &["x.c:1:29", "expected expression before", "x.c:2:22", "`b` undeclared"],
    );
    let huge = TempDir::new().expect("there is room");
    let file = std::fs::File::create(huge.path().join("x.c")).expect("there is room");
    // It has a hole instead of bytes.
    file.set_len(1 << 33).expect("files may have holes");
    let said = run(huge.path(), &CHECK);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("`x.c` has 8192 MiB, more than"), "{}", said.stderr);
    let folder = TempDir::new().expect("there is room");
    std::fs::create_dir(folder.path().join("x.c")).expect("there is room");
    let said = run(folder.path(), &CHECK);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("`x.c` is a directory"), "{}", said.stderr);
    // It never ends, and a pipe would have to be read twice.
    let device = TempDir::new().expect("there is room");
    std::os::unix::fs::symlink("/dev/zero", device.path().join("x.c")).expect("links are there");
    let said = run(device.path(), &CHECK);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("`x.c` is no regular file"), "{}", said.stderr);
    let missing = run(Path::new("."), &["check", "nowhere.c", "--engine", "vm"]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.stderr.contains("`nowhere.c` does not exist"), "{}", missing.stderr);
}

#[test]
fn what_the_grammar_lacks_is_named() {
    refuses(b"int main(void) { unsigned __int128 x = 1; return x; }\n", &["`__int128` is not"]);
}

/// Without a look at data races, nothing is said of programs that have some.
#[test]
fn that_there_is_no_data_race_is_found_or_assumed() {
    let text = b"#include <assert.h>
#include <pthread.h>
static int flag;
static void *set(void *unused) { flag = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    assert(!flag);
    pthread_join(thread, 0);
    return 0;
}
";
    let check = |more: &[&str]| mazurka(text, &[&CHECK[..], more].concat());
    let said = check(&[]);
    assert_eq!(said.status, Some(1), "{}", said.stderr);
    for part in ["ata race on `flag`", "reads it at x.c:8", "writes it at x.c:4"] {
        assert!(said.stdout.contains(part), "`{part}` is not in:\n{}", said.stdout);
    }
    let said = check(&["--property", "assert"]);
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("assuming no data race"), "{}", said.stdout);
    let said = check(&["--property", "assert", "--races", "allow"]);
    assert_eq!(said.status, Some(1), "{}", said.stderr);
    assert!(said.stdout.contains("8 │ assert(!flag);"), "{}", said.stdout);
    assert!(said.stdout.contains("Assertion failed: `!flag`"), "{}", said.stdout);
}

/// A loop that no thread can end says where it is, and what it looks at.
#[test]
fn loops_that_wait_for_ever_are_named() {
    let spin =
        b"static int flag;\nint main(void) {\n    while (!flag)\n        ;\n    return 0;\n}\n";
    for more in [&[][..], &["--races", "allow"]] {
        let said = mazurka(spin, &[&CHECK[..], more].concat());
        assert_eq!(said.status, Some(1), "{}", said.stderr);
        assert!(said.stdout.contains("main spins at x.c:3"), "{}", said.stdout);
        assert!(said.stdout.contains("until flag changes"), "{}", said.stdout);
    }
    let endless = b"int main(void) {\n    for (;;)\n        ;\n}\n";
    let said = mazurka(endless, &CHECK);
    assert_eq!(said.status, Some(1), "{}", said.stderr);
    assert!(said.stdout.contains("Violated Livelock: x.c:"), "{}", said.stdout);
    assert!(said.stdout.contains("a loop goes round for ever"), "{}", said.stdout);
}

#[test]
fn the_coverage_repeats_what_was_assumed() {
    let text = b"int ticket(void);
int main(void) {
    int *p = __builtin_malloc(4);
    *p = ticket();
    __builtin_free(p);
    return 0;
}
";
    let said = mazurka(text, &[&CHECK[..], &["--extern", "ticket=skip"]].concat());
    assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    let told = words.join(" ");
    assert!(told.contains("`ticket` returns 0 and does nothing else"), "{told}");
    assert!(told.contains("assuming `malloc` succeeds"), "{told}");
}

#[test]
fn choices_are_tried_and_their_range_is_told() {
    let text = b"#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    assert(__VERIFIER_nondet_int() != 3);
    return 0;
}
";
    let all = mazurka(text, &CHECK);
    assert_eq!(all.status, Some(2), "{}", all.stdout);
    assert!(all.stderr.contains("--nondet LOW..HIGH"), "{}", all.stderr);
    let few = mazurka(text, &[&CHECK[..], &["--nondet", "-2..2"]].concat());
    assert_eq!(few.status, Some(0), "{}", few.stderr);
    assert!(few.stdout.contains("from -2 to 2"), "{}", few.stdout);
    let more = mazurka(text, &[&CHECK[..], &["--nondet", "-2..3"]].concat());
    assert_eq!(more.status, Some(1), "{}", more.stderr);
}

/// What `rand` returns is not negative, and what cannot be enumerated is refused by its name.
#[test]
fn what_is_random_is_a_choice_if_asked() {
    let text = b"#include <assert.h>
#include <stdlib.h>
int main(void) {
    srand(1);
    int value = rand();
    assert(value >= 0 && value != 2);
    return 0;
}
";
    let check = |more: &[&str]| mazurka(text, &[&CHECK[..], more].concat());
    let unknown = check(&[]);
    assert_eq!(unknown.status, Some(2), "{}", unknown.stdout);
    assert!(unknown.stderr.contains("--extern rand=nondet|skip"), "{}", unknown.stderr);
    let few = check(&["--extern", "rand=nondet", "--nondet", "-5..1"]);
    assert_eq!(few.status, Some(0), "{}{}", few.stdout, few.stderr);
    assert!(few.stdout.contains("`rand` returns any value"), "{}", few.stdout);
    let more = check(&["--extern", "rand=nondet", "--nondet", "-5..2"]);
    assert_eq!(more.status, Some(1), "{}{}", more.stdout, more.stderr);
    refuses(
        b"float __VERIFIER_nondet_float(void);\nvoid *__VERIFIER_nondet_pointer(void);\n\
          int main(void) {\n    void *p = __VERIFIER_nondet_pointer();\n\
          \x20   return p && __VERIFIER_nondet_float() > 0;\n}\n",
        &[
            "`__VERIFIER_nondet_float`, any floating-point number, is not supported",
            "`__VERIFIER_nondet_pointer`, any pointer, is not supported",
        ],
    );
}

#[test]
fn formats_that_are_not_worked_out_are_refused_where_it_matters() {
    refuses(
        b"#include <stdio.h>\nint main(void) { char to[9]; return sprintf(to, \"%f\", 1.0); }\n",
        &["`%f` in `sprintf` is not supported", "x.c:2:37"],
    );
    let text = b"#include <stdio.h>\nint main(void) { printf(\"%f %d\", 1.0, 1); return 0; }\n";
    let told = mazurka(text, &CHECK);
    assert_eq!(told.status, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("floating-point"), "{}", told.stdout);
}

#[test]
fn the_verdict_names_what_was_looked_for() {
    let text = b"#include <stdlib.h>
int main(void) { return malloc(4) == 0; }
";
    let check = |more: &[&str]| {
        let said = mazurka(text, &[&CHECK[..], more].concat());
        let words: Vec<&str> = said.stdout.split_whitespace().collect();
        (said.status, words.join(" "))
    };
    let (status, told) = check(&[]);
    assert_eq!(status, Some(0), "{told}");
    let all =
        "no assertion failure, crash, memory error, overflow, deadlock, data race or livelock";
    assert!(told.contains(all), "{told}");
    let (status, told) = check(&["--property", "memory,race"]);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("no assertion failure, crash, memory error or data race"), "{told}");
    let (status, told) = check(&["--property", "leak"]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("Violated Memory leak: `heap(x.c:"), "{told}");
    assert!(told.contains("--engine vm --property leak --schedule"), "{told}");
}

#[test]
fn a_schedule_is_found_and_followed() {
    let folder = TempDir::new().expect("there is room");
    let text = "#include <assert.h>
#include <pthread.h>
static volatile int counter;
static void *add(void *unused) {
    counter++;
    return unused;
}
int main(void) {
    pthread_t one;
    pthread_create(&one, 0, add, 0);
    add(0);
    pthread_join(one, 0);
    assert(counter == 2);
    return 0;
}
";
    std::fs::write(folder.path().join("x.c"), text).expect("there is room");
    let found = run(folder.path(), &CHECK);
    assert_eq!(found.status, Some(1), "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("Assertion failed: `counter == 2`"), "{}", found.stdout);
    assert!(found.stdout.contains("5 │ counter++;"), "{}", found.stdout);
    let command = found.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words: Vec<&str> = command.expect("there is a command").split(' ').collect();
    let again = run(folder.path(), &words);
    assert_eq!(again.status, Some(1), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("assertion `counter == 2` failed"), "{}", again.stdout);
}

/// Eight threads that write: too many orders to end soon.
const WRITERS: &[u8] = b"#include <pthread.h>
#include <stdatomic.h>
#ifndef N
#define N 8
#endif
static atomic_int x;
static void *write(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    atomic_store(&x, 3);
    return unused;
}
int main(void) {
    pthread_t id[N];
    for (int i = 0; i < N; i++)
        pthread_create(&id[i], 0, write, 0);
    for (int i = 0; i < N; i++)
        pthread_join(id[i], 0);
    return 0;
}
";

/// Either engine stops at the limit, and tells how far it got.
#[test]
fn a_search_stops_when_its_memory_is_full() {
    for engine in ["vm", "native"] {
        let limit = ["check", "x.c", "--engine", engine, "--memory-limit"];
        let full = mazurka(WRITERS, &[&limit[..], &["1M"]].concat());
        assert_eq!(full.status, Some(3), "{}{}", full.stdout, full.stderr);
        // One that is over the limit from the start is not always waited for.
        let told = format!("{}{}", full.stdout, full.stderr);
        assert!(told.contains("memory limit"), "{told}");
        let ends = ["--max-executions", "1000", "8G"];
        let fine = [&limit[..], &ends[2..], &ends[..2]].concat();
        let fine = mazurka(WRITERS, &fine);
        assert!(fine.stdout.contains("execution limit"), "{}{}", fine.stdout, fine.stderr);
        let wrong = mazurka(WRITERS, &[&limit[..], &["much"]].concat());
        assert_eq!(wrong.status, Some(2), "{}", wrong.stdout);
        assert!(wrong.stderr.contains("500M, 8G"), "{}", wrong.stderr);
    }
}

#[test]
fn what_a_round_proves_is_told() {
    let rounds = ["-DN=3", "--bound", "preemption=0", "--iterate", "--max-executions", "100"];
    let said = mazurka(WRITERS, &[&CHECK[..], &rounds].concat());
    assert_eq!(said.status, Some(3), "{}{}", said.stdout, said.stderr);
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    let told = words.join(" ");
    assert!(told.contains("Proved no assertion failure"), "{told}");
    assert!(told.contains("Stop execution limit"), "{told}");
}

#[test]
fn a_model_is_shown_as_text_and_as_a_picture() {
    let text = b"static int x;\nint main(void) { x = 1; return 0; }\n";
    let shown = mazurka(text, &["model", "x.c"]);
    assert_eq!(shown.status, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("store i32 x = 1"), "{}", shown.stdout);
    let dot = mazurka(text, &["model", "x.c", "--format", "dot"]);
    assert!(dot.stdout.starts_with("digraph"), "{}", dot.stdout);
}

#[test]
fn preprocessed_files_and_several_files_are_read() {
    let folder = TempDir::new().expect("there is room");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    };
    write(
        "one.i",
        "# 1 \"one.c\"\nextern int shared;\nint twice(int);\nmain() { shared = twice(2); return 0; }\n",
    );
    write("two.c", "int shared;\nint twice(int n) { return 2 * n; }\n");
    let said = run(folder.path(), &["check", "one.i", "two.c", "--engine", "vm"]);
    assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    let alone = run(folder.path(), &["check", "one.i", "--engine", "vm"]);
    assert_eq!(alone.status, Some(2));
    assert!(
        alone.stderr.contains("`shared` is declared, and no file defines it"),
        "{}",
        alone.stderr
    );
}

/// What compilers and C libraries have in their headers is understood, as far as it is not used.
#[test]
fn headers_of_the_system_are_read_from_preprocessed_files() {
    let headers = "assert ctype errno fcntl float inttypes limits locale math pthread sched semaphore \
                   setjmp signal stdarg stdatomic stdbool stddef stdint stdio stdlib string sys/mman \
                   sys/stat sys/time sys/types sys/wait threads time unistd wchar";
    let includes = headers.split(' ').map(|name| format!("#include <{name}.h>\n"));
    let mut text: String = "#define _GNU_SOURCE\n".to_owned();
    text.extend(includes);
    text.push_str(
        "static atomic_int counter;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int add(void *unused) {
    while (atomic_flag_test_and_set(&flag))
        thrd_yield();
    int seen = atomic_load(&counter);
    atomic_store_explicit(&counter, seen + 1, memory_order_release);
    atomic_flag_clear(&flag);
    while (!atomic_compare_exchange_weak(&counter, &seen, seen + 2))
        ;
    return atomic_exchange(&counter, atomic_fetch_add(&counter, 0));
}
int main(void) {
    thrd_t thread;
    assert(thrd_create(&thread, add, NULL) == thrd_success);
    thrd_join(thread, NULL);
    printf(\"%d\\n\", counter);
    assert(counter == 3);
    return EXIT_SUCCESS;
}
",
    );
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), text).expect("there is room");
    for (flags, name) in [(&["-E"][..], "marked.i"), (&["-E", "-P"], "plain.i")] {
        let mut gcc = std::process::Command::new("gcc");
        gcc.current_dir(folder.path()).args(flags).args(["x.c", "-o", name]);
        assert!(gcc.status().expect("gcc runs").success());
        let said = run(folder.path(), &["check", name, "--engine", "vm"]);
        assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    }
}
