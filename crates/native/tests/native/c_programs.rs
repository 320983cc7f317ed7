//! C programs, compiled with the system's compiler and explored: what is found, and what is proved.

use crate::program::{Answer, CLANG, GCC, Program, sources};
use mazurka_core::Verdict;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn check(name: &str) -> Answer {
    Program::build(name, &[]).explore(&json!({}))
}

fn check_with(name: &str, define: &str) -> Answer {
    Program::build(name, &[define]).explore(&json!({}))
}

#[test]
fn store_buffering_has_three_traces() {
    let answer = check("store_buffering").holds(3);
    assert_eq!(
        answer.message,
        "no assertion failure, crash, deadlock, data race or livelock in any execution"
    );
    let all = Program::build("store_buffering", &[]);
    for (reduction, executions) in [("dpor", 3), ("source", 3)] {
        all.explore(&json!({ "reduction": reduction })).holds(executions);
    }
}

#[test]
fn a_lost_update_is_found_and_told() {
    let message = "lost_update.c:20: assertion `counter == 2` failed in main";
    let answer = check("lost_update").violated("assertion", message);
    let Some(Verdict::Violated(found)) = answer.verdict else { unreachable!("it is violated") };
    let told: Vec<_> = found
        .story
        .iter()
        .filter(|step| step.object.as_deref() == Some("counter"))
        .map(|step| {
            let location = step.location.as_ref().expect("it has debug information");
            let value = step.value.as_deref().unwrap_or_default();
            let function = location.function.as_deref().unwrap_or_default();
            format!("{} {} {value} {function}:{}", step.thread, step.operation, location.line)
        })
        .collect();
    assert_eq!(
        told,
        [
            "main.1 load = 0 increment:9",
            "main.2 load = 0 increment:9",
            "main.1 store 0→1 increment:10",
            "main.2 store 1→1 increment:10",
        ]
    );
}

#[test]
fn a_schedule_is_replayed_with_its_output() {
    let program = Program::build("lost_update", &[]);
    let answer = program.explore(&json!({}));
    let Some(Verdict::Violated(found)) = answer.verdict else { panic!("it is violated") };
    let again = program.explore(&json!({ "replay": found.schedule.to_string() }));
    assert_eq!(again.message, "step 7: lost_update.c:20: assertion `counter == 2` failed in main");
    let program = Program::build("printing", &[]);
    let again = program.explore(&json!({ "replay": "mzk1:0x3.2.1" }));
    assert_eq!(again.message, "no violation in this execution", "{:?}", again.error);
    let printed = String::from_utf8_lossy(&again.output.stdout);
    assert_eq!(printed, "thread 2\nthread 1\nthe end\n");
    let wrong = program.explore(&json!({ "replay": "mzk1:7" }));
    assert_eq!(
        wrong.error.as_deref(),
        Some("step 1: the schedule wants thread 7, but only thread 0 exists by then")
    );
}

#[test]
fn a_counter_under_a_mutex_holds() {
    check("mutex_counter").holds(6);
}

#[test]
fn two_mutexes_in_opposite_orders_deadlock() {
    check("two_mutexes").violated(
        "deadlock",
        "2 threads wait for each other and 1 more for ever: main.1 holds left and waits for right, \
         held by main.2; main.2 holds right and waits for left, held by main.1; main waits to join \
         main.1",
    );
}

#[test]
fn a_lost_wakeup_is_found() {
    check("lost_wakeup").violated(
        "deadlock",
        "2 threads wait for ever: main.1 sleeps on condvar and no thread is left that could wake \
         it; main waits to join main.1",
    );
}

#[test]
fn a_queue_with_condition_variables_holds() {
    check("queue").holds(32);
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_has_permits() {
    check("semaphore").holds(24);
    check_with("semaphore", "-DPERMITS=3")
        .violated("assertion", "semaphore.c:17: assertion `others < 2` failed in work");
}

#[test]
fn a_race_on_a_plain_variable_is_found() {
    check("plain_race").violated(
        "race",
        "data race on `shared`: main.1 writes it at step 2 and main.2 reads it at step 3, and \
         nothing orders the two",
    );
    let program = Program::build("plain_race", &[]);
    program.explore(&json!({ "race": false })).holds(1);
}

#[test]
fn a_race_on_a_local_variable_is_told_by_its_name() {
    let told = [
        ("-DWHAT=0", "counter (local of main)"),
        ("-DWHAT=1", "counters[2] (local of main)"),
        ("-DWHAT=2", "pair.second (local of main)"),
        ("-DWHAT=3", "mine (local of share in main.1)"),
        ("-DWHAT=5", "inner (local of main)"),
    ];
    for (what, name) in told {
        for by in [GCC, CLANG] {
            for level in ["-O0", "-O2"] {
                let program = Program::build_by(by, "locals", &[what, level]);
                let message = program.explore(&json!({})).message;
                let start = format!("data race on `{name}`: ");
                assert!(message.starts_with(&start), "{level} {message}");
            }
        }
    }
    // Of two variables, one for each thread, none is shared.
    check_with("locals", "-DWHAT=4").holds(1);
}

#[test]
fn a_race_is_told_with_both_stacks() {
    let message = "data race on `counters[2]`: main writes it at step 2 and main.1 reads it at \
                   step 2, and nothing orders the two";
    let answer = check("race_stacks").violated("race", message);
    let Some(Verdict::Violated(found)) = answer.verdict else { unreachable!("it is violated") };
    let told: Vec<String> = found
        .accesses
        .iter()
        .map(|access| {
            let places = access.stack.iter().map(|place| {
                format!("{}:{}", place.function.as_deref().unwrap_or_default(), place.line)
            });
            let what = if access.write { "writes" } else { "reads" };
            let places: Vec<String> = places.collect();
            format!("{} {what} at step {}: {}", access.thread, access.step, places.join(" "))
        })
        .collect();
    let expected = [
        "main writes at step 2: raise_it:7 work:11 main:18",
        "main.1 reads at step 2: raise_it:7 work:11",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_thread_begins_in_the_step_that_starts_it() {
    let build = |how: u32| Program::build("newborn", &[&format!("-DHOW={how}")]);
    for (how, message) in
        [(1, "assertion `how != 1` failed"), (2, "a null pointer is followed, 0x8 bytes behind it")]
    {
        let program = build(how);
        let failed = program.explore(&json!({}));
        let Some(Verdict::Violated(found)) = &failed.verdict else { panic!("{how} fails") };
        assert!(found.violation.message.contains(message), "{}", found.violation.message);
        assert_eq!(found.schedule.to_string(), "mzk1:0x2", "begin, spawn");
        let further = program.explore(&json!({ "replay": "mzk1:0x3" })).message;
        let expected = format!("step 2: {}", found.violation.message);
        assert_eq!(further, expected, "main can still exchange");
    }
    // One that ends without an operation, one that has one, two whose parent ends at once.
    for (how, executions, depth) in [(3, 1, 3), (0, 2, 4), (4, 2, 5)] {
        let answer = build(how).explore(&json!({})).holds(executions);
        assert_eq!(answer.statistics.max_depth, depth, "{how}: no step for the beginning");
    }
}

#[test]
fn atomics_that_overlap_are_one_object() {
    // The word is seen first, its bytes are seen first, and a word that connects two halves.
    for (how, message) in [
        (0, "overlapping.c:29: assertion `word() == 0` failed in word_and_byte"),
        (1, "overlapping.c:33: assertion `last() == 0` failed in byte_and_word"),
        (2, "overlapping.c:38: assertion `high() == 0 || low() == 0` failed in word_and_halves"),
    ] {
        let program = Program::build("overlapping", &[&format!("-DHOW={how}")]);
        for reduction in ["none", "dpor", "source", "optimal"] {
            let answer = program.explore(&json!({ "reduction": reduction }));
            answer.violated("assertion", message);
        }
    }
    // What lies side by side is independent.
    check_with("overlapping", "-DHOW=3").holds(1);
}

#[test]
fn what_is_synchronised_does_not_race() {
    check("message_passing").holds(2);
}

#[test]
fn races_are_told_apart_to_the_byte() {
    check_with("divided", "-DRACE=0").holds(1);
    let message = "data race on `shared+0x2`: main writes it at step 2 and main.1 writes it at \
                   step 2, and nothing orders the two";
    check_with("divided", "-DRACE=1").violated("race", message);
}

#[test]
fn functions_that_copy_are_watched() {
    let message = "data race on `shared.numbers[0]`: main writes it at step 2 and main.1 reads it at step 2, \
                   and nothing orders the two";
    check("copying").violated("race", message);
}

#[test]
fn a_thread_without_operations_is_a_livelock() {
    let answer = check("endless");
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("{} {:?}", answer.message, answer.error);
    };
    assert_eq!(found.violation.kind.name(), "livelock");
    let message = &found.violation.message;
    let begin = "a thread goes on for ever without a visible operation at ";
    assert!(message.starts_with(begin) && message.contains("endless.c:"), "{message}");
}

#[test]
fn threads_allocate_and_free() {
    check("heap").holds(2);
}

#[test]
fn what_was_freed_is_neither_used_nor_freed_again() {
    for (how, line, message) in [
        (0, 25, "`heap(use_after_free.c:31)` is used after it was freed at "),
        (1, 37, "`heap(use_after_free.c:31)` is used after it was freed at "),
        (2, 40, "`heap(use_after_free.c:31)` is freed twice at "),
        (3, 43, "`heap(use_after_free.c:31)+0x4` is freed and was not allocated at "),
        (4, 46, "`variable` is freed and was not allocated at "),
        (5, 49, "`heap(use_after_free.c:31)` is used after it was freed at "),
        (7, 52, "`heap(use_after_free.c:31)` is used after it was freed at "),
        (8, 55, "`heap(use_after_free.c:31)` is used after it was freed at "),
    ] {
        let answer = check_with("use_after_free", &format!("-DHOW={how}"));
        let Some(Verdict::Violated(found)) = &answer.verdict else {
            panic!("{how} is not violated: {:?}", answer.error);
        };
        let told = &found.violation.message;
        assert_eq!(found.violation.kind.name(), "memory", "{told}");
        assert!(told.starts_with(message), "{told}");
        assert!(told.contains(&format!("use_after_free.c:{line}:")), "{told}");
    }
    check_with("use_after_free", "-DHOW=6").holds(1);
}

/// All programs but `endless`, `stuck`, `stuck_elsewhere` and `long`, which take seconds each time,
/// `many_threads`, which is refused, and `unlike`, in which they do; in a form that lets the search
/// go on.
#[test]
fn checkpoints_change_nothing() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut n_programs = 0;
    for entry in std::fs::read_dir(sources).expect("the programs are there") {
        let file = entry.expect("and can be listed").file_name().into_string().expect("by name");
        let others = ["endless", "long", "many_threads", "stuck", "stuck_elsewhere", "unlike"];
        let Some(name) = file.strip_suffix(".c").filter(|name| !others.contains(name)) else {
            continue;
        };
        let defines = [
            "-DN=3",
            "-DHOW=6",
            "-DRACE=0",
            "-DWRONG=2",
            "-DLOCK=MCS",
            "-DWAIT=NESTED",
            "-DALL=0",
            "-DWAKE=3",
        ];
        let program = Program::build(name, &defines);
        let explore = |options: Value| {
            let answer = program.explore(&options);
            let numbers = answer.statistics;
            // Addresses are others in each process.
            let verdict = answer.verdict.map(|verdict| match verdict {
                Verdict::Violated(mut found) => {
                    let reversed = found.decisive.iter_mut().flat_map(|pair| &mut pair.story);
                    for told in found.story.iter_mut().chain(reversed) {
                        (told.value, told.raw) = (None, None);
                    }
                    Verdict::Violated(found)
                }
                other => other,
            });
            (answer.error, numbers.executions, numbers.transitions, answer.message, verdict)
        };
        let repeated = explore(json!({ "checkpoints": false }));
        assert_eq!(explore(json!({})), repeated, "{name}");
        assert_eq!(explore(json!({ "check_checkpoints": true })), repeated, "{name}");
        n_programs += 1;
    }
    assert!(n_programs > 20, "the folder has more of them");
}

/// The program has something in each part of its state that is not the same in two executions, and
/// that only the comparison sees.
#[test]
fn a_checkpoint_that_leads_elsewhere_is_noticed() {
    for (how, what) in [
        (0, "of the variables differs"),
        (1, "the heap differs"),
        (2, "thread-local variables differs"),
        (3, "a thread differs"),
    ] {
        let program = Program::build("unlike", &[&format!("-DHOW={how}")]);
        let error = program.explore(&json!({ "check_checkpoints": true })).error;
        assert!(error.as_ref().is_some_and(|it| it.contains(what)), "{how}: {error:?}");
        program.explore(&json!({})).holds(20);
    }
}

#[test]
fn thread_local_variables_are_a_thread_s_own() {
    check("thread_local").holds(12);
}

#[test]
fn static_variables_begin_anew() {
    check("statics").holds(2);
}

#[test]
fn explored_executions_print_nothing() {
    let program = Program::build("printing", &[]);
    let answer = program.explore(&json!({})).holds(2);
    assert!(answer.output.stdout.is_empty() && answer.output.stderr.is_empty());
    let output = program.command().output().expect("the program can be started");
    assert!(output.status.success(), "without a report the program runs as ever");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("the end\n"));
}

#[test]
fn a_mutex_made_of_a_futex_holds() {
    check("futex").holds(12);
}

#[test]
fn who_sleeps_on_a_futex_for_ever_is_found() {
    check_with("futex", "-DLOST=1").violated(
        "deadlock",
        "2 threads wait for ever: main.2 sleeps on word and no thread is left that could wake it; \
         main waits to join main.2",
    );
    check_with("futex", "-DSLEEPERS=1").violated(
        "deadlock",
        "2 threads wait for ever: main.2 sleeps on word and no thread is left that could wake it; \
         main waits to join main.2",
    );
    let all = Program::build("futex", &["-DSLEEPERS=1", "-DWAKE=INT_MAX"]);
    for reduction in ["optimal", "source", "dpor"] {
        all.explore(&json!({ "reduction": reduction })).holds(9);
    }
}

/// Arrivals commute where all threads take part in each round and none looks who was the last.
#[test]
fn arrivals_at_a_barrier_commute() {
    for level in ["-O0", "-O2"] {
        for reduction in ["optimal", "source", "dpor"] {
            let program = Program::build("barrier_rounds", &[level]);
            program.explore(&json!({ "reduction": reduction })).holds(1);
        }
        let program = Program::build("barrier_rounds", &["-DTHREADS=5", "-DROUNDS=4", level]);
        program.explore(&json!({})).holds(1);
        // Two that meet twice, in each order.
        let program = Program::build("barrier_rounds", &["-DTHREADS=2", "-DSERIAL", level]);
        program.explore(&json!({})).holds(4);
        // Of four, any two make a round: the first pair of six, and then who of a pair is last.
        let flags = ["-DPARTIES=2", "-DROUNDS=1", level];
        let ordered = Program::build("barrier_rounds", &flags).explore(&json!({}));
        assert!(ordered.statistics.executions > 6, "{}", ordered.message);
        let missing = Program::build("barrier_rounds", &["-DRACE", level]).explore(&json!({}));
        assert!(missing.message.contains("wait for ever"), "{}", missing.message);
    }
}

#[test]
fn barriers_once_and_other_locks() {
    check("others").holds(8);
}

#[test]
fn c11_threads() {
    check("c11").holds(2);
}

#[test]
fn a_crash_is_a_violation_with_its_place() {
    for (how, kind, message) in [
        (0, "memory", "a null pointer is followed, 0x8 bytes behind it at "),
        (1, "memory", "stack overflow at "),
        (2, "panic", "the program aborted"),
        (3, "panic", "arithmetic exception at "),
    ] {
        let answer = check_with("crash", &format!("-DHOW={how}"));
        let Some(Verdict::Violated(found)) = &answer.verdict else {
            panic!("{how} is not violated: {:?}", answer.error);
        };
        assert_eq!(found.violation.kind.name(), kind);
        assert!(found.violation.message.starts_with(message), "{}", found.violation.message);
        assert_eq!(found.violation.message.contains("crash.c:"), message.ends_with("at "));
    }
}

#[test]
fn threads_go_on_while_the_program_exits_but_need_not_end() {
    for wrong in [0, 1] {
        let message = "early_exit.c:18: assertion `atomic_load(&x) != WRONG` failed in work";
        check_with("early_exit", &format!("-DWRONG={wrong}")).violated("assertion", message);
    }
    check_with("early_exit", "-DWRONG=2").holds(2);
}

#[test]
fn who_waits_when_the_program_exits_may_have_come_first() {
    let message = "exit_with_lock.c:10: assertion `x != WRONG` failed in work";
    let check =
        |wrong: &str| Program::build("exit_with_lock", &[wrong]).explore(&json!({ "leak": false }));
    check("-DWRONG=0").violated("assertion", message);
    let answer = check("-DWRONG=1").holds(2);
    assert!(answer.message.ends_with("livelock in any execution"));
}

/// The executions of a program that holds, and how many more ended with a thread held in a loop.
fn rounds(program: &str, defines: &[&str]) -> (u64, u64) {
    let answer = Program::build(program, defines).explore(&json!({}));
    let is_proved = matches!(answer.verdict, Some(Verdict::Holds(_)));
    assert!(is_proved, "{defines:?}: {} {:?}", answer.message, answer.error);
    (answer.statistics.executions, answer.statistics.blocked_executions)
}

/// What is found in a program with a mistake.
fn mistake(program: &str, defines: &[&str]) -> String {
    let answer = Program::build(program, defines).explore(&json!({}));
    let Some(Verdict::Violated(found)) = answer.verdict else {
        panic!("{defines:?}: {} {:?}", answer.message, answer.error);
    };
    let message = found.violation.message.replace(&format!("{}/", sources().display()), "");
    format!("{}: {message}", found.violation.kind.name())
}

#[test]
fn locks_that_spin_are_gone_round_once() {
    for (lock, two, three) in [
        ("TEST_AND_SET", (2, 0), Some((6, 0))),
        ("TEST_AND_TEST_AND_SET", (4, 2), Some((36, 27))),
        ("COMPARE_AND_SWAP", (2, 0), Some((6, 0))),
        ("TICKET", (2, 0), Some((6, 0))),
        ("PETERSON", (4, 6), None),
        ("DEKKER", (4, 6), None),
        ("MCS", (4, 2), Some((24, 24))),
        ("CLH", (2, 0), Some((6, 0))),
    ] {
        let lock = format!("-DLOCK={lock}");
        assert_eq!(rounds("spin_locks", &[&lock]), two, "{lock}, 2 threads");
        if let Some(three) = three {
            assert_eq!(rounds("spin_locks", &[&lock, "-DTHREADS=3"]), three, "{lock}, 3 threads");
        }
        // Without optimisation a frame has more bytes that are not written yet.
        rounds("spin_locks", &[&lock, "-O0"]);
    }
}

#[test]
fn broken_locks_that_spin_are_found() {
    for (lock, found) in [
        ("TEST_AND_SET", "deadlock: 2 threads wait for ever: main.1 spins at spin_locks.c:29:12 "),
        ("TEST_AND_TEST_AND_SET", "race: data race on `inside`"),
        ("COMPARE_AND_SWAP", "race: data race on `inside`"),
        ("TICKET", "deadlock: 2 threads wait for ever: main.2 spins at spin_locks.c:65:12 "),
        ("PETERSON", "race: data race on `inside`"),
        ("DEKKER", "deadlock: 3 threads wait for ever: main.1 spins at spin_locks.c:83:13 until "),
        ("MCS", "deadlock: 2 threads wait for ever: main.2 spins at spin_locks.c:109:12 until "),
        ("CLH", "race: data race on `inside`"),
    ] {
        let mistake = mistake("spin_locks", &[&format!("-DLOCK={lock}"), "-DBROKEN"]);
        assert!(mistake.starts_with(found), "{lock}: {mistake}");
    }
}

#[test]
fn loops_that_wait_are_gone_round_once() {
    let lost = "deadlock: 1 thread waits for ever: main spins at spin_waits.c";
    for (wait, expected, found) in [
        ("FLAG", (1, 0), format!("{lost}:47:13 until flag changes from 0")),
        ("SLEEPING", (2, 1), format!("{lost}:47:13 until flag changes from 0")),
        ("VOLATILE", (1, 1), format!("{lost}:68:17 until flag changes from 2")),
        (
            "ON_STACK",
            (2, 0),
            format!("{lost}:86:13 until shared.done (local of main) changes from 0"),
        ),
        ("SEQLOCK", (3, 12), "assertion: spin_waits.c:112: assertion `l == r` failed".to_owned()),
        ("SENSE_BARRIER", (12, 0), "deadlock: 2 threads wait for ever: main spins at ".to_owned()),
        ("BOUNDED", (4, 0), "assertion: spin_waits.c:159: assertion `tries != ".to_owned()),
        ("NESTED", (2, 4), format!("{lost}:174:12 until y changes from 0 or x changes from 0")),
    ] {
        let wait = format!("-DWAIT={wait}");
        assert_eq!(rounds("spin_waits", &[&wait]), expected, "{wait}");
        rounds("spin_waits", &[&wait, "-O0"]);
        let mistake = mistake("spin_waits", &[&wait, "-DBROKEN"]);
        assert!(mistake.starts_with(&found), "{wait}: {mistake}");
    }
}

#[test]
fn loops_that_count_are_held_once_it_is_known_that_they_do_not_end() {
    const ASSUMED: &str =
        "that a loop which once went round 100000 times in vain never ends by itself";
    for (wait, executions, is_assumed, found) in [
        ("BOUNDED", 4, false, "assertion: spin_waits.c:159: assertion `tries != "),
        ("RETRIES", 41, false, "assertion: spin_waits.c:211: assertion `tries != "),
        ("BACK_OFF", 3, true, "deadlock: 1 thread waits for ever: main spins at spin_waits.c:"),
        ("BACK_OFF_LOCK", 32, true, "race: data race on `inside`"),
    ] {
        let wait = format!("-DWAIT={wait}");
        for level in ["-O2", "-O0"] {
            let answer = Program::build("spin_waits", &[&wait, level]).explore(&json!({}));
            let is_proved = matches!(answer.verdict, Some(Verdict::Holds(_)));
            assert!(is_proved, "{wait} {level}: {} {:?}", answer.message, answer.error);
            assert_eq!(
                answer.message.contains(ASSUMED),
                is_assumed,
                "{wait} {level}: {}",
                answer.message
            );
            assert_eq!(answer.statistics.executions, executions, "{wait} {level}");
            let mistake = mistake("spin_waits", &[&wait, level, "-DBROKEN"]);
            assert!(mistake.starts_with(found), "{wait} {level}: {mistake}");
        }
    }
}

const ROUNDS_ASSUMED: &str = "that it does not matter how often a loop that waits goes round";

#[test]
fn a_loop_that_waits_and_gives_up_does_so_at_once() {
    // Optimised, the counter is beside a variable whose address is taken, and may be read by it.
    for (level, executions) in [("-O2", 11), ("-O0", 3)] {
        let answer = Program::build("spin_waits", &["-DWAIT=GIVE_UP", level]).explore(&json!({}));
        let answer = answer.holds(executions);
        assert!(!answer.message.contains(ROUNDS_ASSUMED), "{}", answer.message);
        let mistake = mistake("spin_waits", &["-DWAIT=GIVE_UP", level, "-DBROKEN"]);
        assert!(mistake.contains("assertion `is_there` failed"), "{mistake}");
    }
}

#[test]
fn a_loop_that_waits_is_unrolled_where_the_number_of_its_rounds_matters() {
    for (level, tries) in [("-O0", 10), ("-O2", 10), ("-O0", 60), ("-O2", 60)] {
        let tries = format!("-DTRIES={tries}");
        let flags = ["-DWAIT=COUNT_TRIES", level, &tries];
        let answer = Program::build("spin_waits", &flags).explore(&json!({}));
        let is_proved = matches!(answer.verdict, Some(Verdict::Holds(_)));
        assert!(is_proved, "{level} {tries}: {} {:?}", answer.message, answer.error);
        let mistake = mistake("spin_waits", &[&flags[..], &["-DBROKEN"]].concat());
        assert!(mistake.contains("assertion"), "{level} {tries}: {mistake}");
    }
}

#[test]
fn where_the_number_of_rounds_may_matter_the_claim_says_so() {
    for level in ["-O0", "-O2"] {
        let flags = ["-DWAIT=GIVE_UP_LATE", level];
        let answer = Program::build("spin_waits", &flags).explore(&json!({}));
        let answer = answer.holds(3);
        assert!(answer.message.contains(ROUNDS_ASSUMED), "{}", answer.message);
    }
}

#[test]
fn a_loop_that_never_ends_is_replayed() {
    for wait in ["ON_STACK", "BACK_OFF", "RETRIES"] {
        let program = Program::build("spin_waits", &[&format!("-DWAIT={wait}"), "-DBROKEN"]);
        let answer = program.explore(&json!({}));
        let Some(Verdict::Violated(found)) = answer.verdict else { panic!("{}", answer.message) };
        let again = program.explore(&json!({ "replay": found.schedule.to_string() }));
        let end = format!(": {}", found.violation.message);
        assert!(again.message.ends_with(&end), "{wait}: {} {:?}", again.message, again.error);
    }
}

/// What a program of the corpus is said to be in its first lines, for each way to build it:
/// `// expect -DN=3 -DFIXED: holds`.
fn expectations(source: &Path) -> Vec<(Vec<String>, String)> {
    let text = std::fs::read_to_string(source).expect("a source can be read");
    let lines = text.lines().filter_map(|line| line.strip_prefix("// expect"));
    let parts = lines.map(|line| line.split_once(':').expect("a verdict follows a colon"));
    parts
        .map(|(flags, verdict)| {
            (flags.split_whitespace().map(str::to_owned).collect(), verdict.trim().to_owned())
        })
        .collect()
}

#[test]
fn every_bug_of_the_small_programs_is_found() {
    const LIMIT_MS: u64 = 10_000;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/sct");
    let entries = std::fs::read_dir(&folder).expect("the corpus is there");
    let mut sources: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    sources.sort();
    assert!(sources.len() >= 30, "{} programs", sources.len());
    for source in sources {
        let name = source.file_stem().expect("a file has a name").to_string_lossy();
        let expectations = expectations(&source);
        let is_broken = |(_, verdict): &(_, String)| verdict.starts_with("violated");
        assert!(expectations.iter().any(is_broken), "{name} has no bug");
        for (flags, expected) in expectations {
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let program = Program::build_in(&folder, GCC, &name, &flags);
            let answer = program.explore(&json!({ "time_limit_ms": LIMIT_MS }));
            let verdict = answer.verdict.as_ref().map_or("error", Verdict::name);
            let found = match &answer.verdict {
                Some(Verdict::Violated(it)) => format!("{verdict} {}", it.violation.kind.name()),
                _ => verdict.to_owned(),
            };
            let Answer { message, error, .. } = &answer;
            assert_eq!(found, expected, "{name} {flags:?}: {message} {error:?}");
        }
    }
}

#[test]
fn clang_s_programs_are_explored_alike() {
    let check = |name: &str| Program::build_by(CLANG, name, &[]).explore(&json!({}));
    check("store_buffering").holds(3);
    check("mutex_counter").holds(6);
    check("queue").holds(32);
    check("thread_local").holds(6);
    check("others").holds(8);
    check("c11").holds(2);
    check("message_passing").holds(2);
    let message = "lost_update.c:20: assertion `counter == 2` failed in int main(void)";
    check("lost_update").violated("assertion", message);
    let message = "data race on `shared.numbers[0]`: main writes it at step 2 and main.1 reads it at step 2, \
                   and nothing orders the two";
    check("copying").violated("race", message);
}

#[test]
fn requests_that_are_not_understood_are_refused() {
    let program = Program::build("statics", &[]);
    let path = program.folder().join("wrong.json");
    let check = |text: &str, wrong: &str| {
        std::fs::write(&path, text).expect("a file can be written");
        let answer = program.ask(&[], &path);
        let error = answer.error.expect("it is not understood");
        assert!(error.contains(wrong), "{error}");
        assert_eq!(answer.output.status.code(), Some(2));
    };
    let other = "the other side speaks version 999 of their protocol";
    check(r#"{"version": 999, "content": {"speed": 3}}"#, other);
    check(r#"{"speed": 3}"#, "the other side speaks version 0 of their protocol");
    let version = mazurka_protocol::VERSION;
    check(
        &format!(r#"{{"version": {version}, "content": {{"speed": 3}}}}"#),
        "unknown field `speed`",
    );
    check("", "is not understood: EOF");
    let answer = program.ask(&[], &program.folder().join("nothing.json"));
    assert!(answer.error.expect("it is not there").contains("cannot be read"));
    let answer = program.explore(&json!({ "max_executions": 1 }));
    assert_eq!(answer.message, "execution limit, 1");
}

#[test]
#[expect(clippy::print_stdout, reason = "a rate is not asserted, only shown")]
fn three_threads_of_five_increments() {
    let answer = check("increments").holds(756_756);
    let rate = answer.statistics.executions as f64 / answer.time_s;
    println!("{rate:.0} executions a second, this library built as the tests are");
}

/// The line of `unrepeatable.c` with what cannot be repeated.
const PLACE: &str = "unrepeatable.c:32:";

#[test]
fn what_cannot_be_repeated_is_refused_at_the_call() {
    let calls = [
        ("socket", "socket(AF_INET, SOCK_STREAM, 0)"),
        ("fork", "fork()"),
        ("execl", "execl(\"/bin/true\", \"true\", (char *)0)"),
        ("system", "system(\"true\")"),
        ("signal", "signal(SIGUSR1, SIG_IGN)"),
        ("kill", "kill(getpid(), 0)"),
        ("sigwait", "sigwait((void *)0, (void *)0)"),
        ("pause", "pause()"),
        ("flock", "flock(0, LOCK_EX)"),
        ("poll", "poll((void *)0, 0, -1)"),
        ("select", "select(1, (void *)0, (void *)0, (void *)0, (void *)0)"),
        ("semget", "semget(1, 1, 0)"),
        ("alarm", "alarm(1)"),
        ("open", "open(\"made\", O_CREAT | O_WRONLY, 0600)"),
        ("fopen", "fopen(\"made\", \"w\")"),
        ("mkdir", "mkdir(\"made\", 0700)"),
        ("epoll_create1", "epoll_create1(0)"),
        ("mmap", "mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0)"),
    ];
    for (name, call) in calls {
        let answer = check_with("unrepeatable", &format!("-DCALL={call}"));
        let error = answer.error.expect("there is no verdict");
        assert!(answer.verdict.is_none(), "{name}");
        assert_eq!(answer.output.status.code(), Some(2), "{error}");
        assert!(error.starts_with(&format!("`{name}` at ")) && error.contains(PLACE), "{error}");
        assert!(error.contains("in reach_out, cannot be repeated in every execution"), "{error}");
        assert!(error.contains(&format!("`--allow skip={name}`")), "{error}");
    }
}

#[test]
fn a_wake_of_a_futex_wakes_those_with_its_bits() {
    for all in [0, 1] {
        let build = |wake: u32| {
            Program::build("futex_bits", &[&format!("-DALL={all}"), &format!("-DWAKE={wake}")])
        };
        let answer = build(3).explore(&json!({}));
        assert!(matches!(answer.verdict, Some(Verdict::Holds(_))), "{}", answer.message);
        let none = build(3).explore(&json!({ "reduction": "none" }));
        assert!(matches!(none.verdict, Some(Verdict::Holds(_))), "{}", none.message);
    }
    // The first thread is forgotten, if it sleeps by then.
    let program = Program::build("futex_bits", &["-DALL=0", "-DWAKE=2"]);
    let answer = program.explore(&json!({}));
    let Some(Verdict::Violated(found)) = &answer.verdict else { panic!("it sleeps for ever") };
    assert_eq!(found.violation.kind.name(), "deadlock", "{}", found.violation.message);
}

#[test]
fn what_can_be_repeated_is_not_refused() {
    for call in [
        "sigaction(SIGTERM, 0, &(struct sigaction){})",
        "signal(SIGPIPE, SIG_IGN)",
        "open(\"/dev/null\", O_WRONLY)",
        "mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)",
        "sched_getaffinity(0, sizeof(cpu_set_t), &(cpu_set_t){})",
        "syscall(SYS_sched_getaffinity, syscall(SYS_gettid), sizeof(cpu_set_t), &(cpu_set_t){})",
    ] {
        check_with("unrepeatable", &format!("-DCALL={call}")).holds(2);
    }
}

/// Operations do not race with each other, but with plain accesses.
#[test]
fn plain_accesses_race_with_operations() {
    let explore = |defines: &[&str]| Program::build("mixed", defines).explore(&json!({}));
    for how in ["-DSTORED", "-DLOADED", "-DADDED"] {
        for plain in ["-DREAD", "-DWRITTEN", "-DFREED"] {
            explore(&[how, plain, "-DJOINED"]).holds(1);
            let answer = explore(&[how, plain]);
            if (how, plain) == ("-DLOADED", "-DREAD") {
                answer.holds(1);
                continue;
            }
            let Some(Verdict::Violated(found)) = &answer.verdict else { panic!("{how} {plain}") };
            let is_told = matches!(found.violation.kind.name(), "race" | "memory");
            assert!(is_told, "{how} {plain}: {}", found.violation.message);
        }
    }
}

/// It is the same in every execution, wherever it is.
#[test]
fn memory_that_is_mapped_is_put_back() {
    for define in ["-DSTATIC", "-DANONYMOUS", "-DFROM_FILE", "-DMOVED", "-DIN_PART", "-DSHOWN"] {
        check_with("mapped", define).holds(4);
    }
    let answer = check_with("mapped", "-DUNMAPPED");
    let Some(Verdict::Violated(found)) = &answer.verdict else { panic!("{}", answer.message) };
    assert!(found.violation.message.contains("after it was freed"), "{}", found.violation.message);
    let answer = check_with("mapped", "-DHIDDEN");
    let Some(Verdict::Violated(found)) = &answer.verdict else { panic!("{}", answer.message) };
    assert!(found.violation.message.contains("is protected"), "{}", found.violation.message);
    for (define, name) in [("-DREAD_ONLY", "mprotect"), ("-DHUGE", "mmap")] {
        let error = check_with("mapped", define).error.expect("there is no verdict");
        assert!(error.starts_with(&format!("`{name}` at ")), "{error}");
    }
}

#[test]
fn what_is_allowed_is_part_of_the_verdict() {
    let skipped = Program::build("unrepeatable", &["-DEXPECTED=result == -1"]);
    let answer = skipped.explore(&json!({ "allow": ["skip=fork,socket"] })).holds(2);
    assert!(answer.message.ends_with("assuming that `socket` fails"), "{}", answer.message);
    let call = "-DCALL=(kill(getpid(), 0) == 0 && fork() == -1 ? 7 : 8)";
    let real = Program::build("unrepeatable", &[call, "-DEXPECTED=result == 7"]);
    let answer = real.explore(&json!({ "allow": ["real=kill", "skip=fork"] })).holds(2);
    assert!(answer.message.contains("that `kill` does the same each time"), "{}", answer.message);
    let wrong = real.explore(&json!({ "allow": ["real=dance"] }));
    let error = wrong.error.expect("there is no verdict");
    assert!(error.starts_with("`--allow`: `dance` is none of what is refused: "), "{error}");
    let wrong = real.explore(&json!({ "allow": ["perhaps=kill"] }));
    assert!(wrong.error.is_some_and(|error| error.contains("write `skip=NAME`")));
}

#[test]
fn refused_functions_work_outside_of_the_search() {
    let call = "-DCALL=(vfork() == 0 ? execl(\"/bin/true\", \"true\", (char *)0) : 5)";
    let program = Program::build("unrepeatable", &[call, "-DEXPECTED=result == 5"]);
    let status = program.command().status().expect("the program can be started");
    assert!(status.success(), "without a report the program runs as ever");
}

#[test]
fn files_are_read_in_every_execution() {
    let file = std::env::temp_dir().join(format!("mazurka-reading-{}", std::process::id()));
    std::fs::write(&file, "abcdefgh\n").expect("a file can be written");
    let path = file.to_str().expect("its name is plain");
    for define in ["-DLEFT=0", "-DLEFT=1"] {
        let program = Program::build("reading", &[define]);
        let answer = program.explore_with(&[path], &json!({ "max_executions": 12_000 }));
        assert_eq!(answer.error, None);
        assert!(!matches!(answer.verdict, Some(Verdict::Violated(_))), "{}", answer.message);
        assert!(answer.statistics.executions > 1000, "{}", answer.statistics.executions);
    }
    let folders = Program::build("reading", &["-DFOLDER=1"]);
    let folder = std::env::temp_dir();
    let path_of_folder = folder.to_str().expect("its name is plain");
    folders.explore_with(&[path_of_folder], &json!({})).holds(120);
    let shared = Program::build("reading", &["-DSHARED=1"]);
    let answer = shared.explore_with(&[path], &json!({}));
    let _ = std::fs::remove_file(&file);
    let message = "reading.c:67: assertion `seen[0] == 'a' && seen[1] == 'b'` failed in main";
    answer.violated("assertion", message);
}
