//! `mazurka test` on the tests of `corpus/rust`: the last word of each name is what is to be found.

#[expect(unreachable_pub, reason = "the tests of the corpus share it")]
#[path = "../../../../corpus/rust/src/mutexes.rs"]
mod mutexes;

use expect_test::expect;
use mutexes::{Deed, Program, changed, outcome, program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn mazurka(arguments: &[&str]) -> Output {
    mazurka_with(arguments, &[])
}

/// The same with more in the environment.
fn mazurka_with(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/rust");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.arg("test").args(arguments).arg("--locked").current_dir(project);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus-rust"));
    // Cargo's would come before the folder that the programs were linked with.
    command.env_remove("LD_LIBRARY_PATH").env("COLUMNS", "100");
    command.envs(environment.iter().copied());
    command.output().expect("the command can be started")
}

/// Runs these tests of one file, and compares what is found to their names.
fn check(file: &str, names: &[&str]) {
    check_with(&[], file, names);
}

/// What is said of each test, by name.
fn verdicts(output: &Output) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let verdict = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        let word = |name: &str| value[name].as_str().expect("a word").to_owned();
        (word("file"), word("verdict"))
    };
    let mut found: Vec<(String, String)> = text.lines().map(verdict).collect();
    found.sort();
    found
}

/// The same with more options.
fn check_with(options: &[&str], file: &str, names: &[&str]) {
    let mut arguments = vec!["--test", file, "--exact", "--json", "-", "--time-limit", "5m"];
    arguments.extend(options);
    arguments.extend(names);
    let output = mazurka(&arguments);
    let found = verdicts(&output);
    let mut expected: Vec<(String, String)> = names
        .iter()
        .map(|name| {
            let (_, verdict) = name.rsplit_once('_').expect("a name ends with a verdict");
            (format!("test {file} {name}"), verdict.to_owned())
        })
        .collect();
    expected.sort();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(&output.stderr));
    let is_violated = names.iter().any(|name| name.ends_with("violated"));
    assert_eq!(output.status.code(), Some(i32::from(is_violated)));
}

#[test]
fn the_standard_library() {
    check(
        "std",
        &[
            "mutex_holds",
            "mutex_violated",
            "condvar_holds",
            "condvar_violated",
            "condvar_timeout_holds",
            "condvar_timeout_while_holds",
            "condvar_timeout_while_violated",
            "sleeps_of_one_length_violated",
            "sleeps_of_one_length_either_way_violated",
            "condvar_no_time_violated",
            "sync_channel_alone_violated",
            "barrier_alone_violated",
            "condvar_both_violated",
            "rwlock_holds",
            "rwlock_violated",
            "barrier_holds",
            "barrier_violated",
            "mpsc_holds",
            "mpsc_violated",
            "sync_channel_holds",
            "sync_channel_violated",
            "receive_in_time_holds",
            "receive_in_time_bounded_holds",
            "receive_in_time_rendezvous_holds",
            "receive_from_sleeper_holds",
            "receive_at_the_end_violated",
            "once_lock_holds",
            "once_lock_violated",
            "scope_holds",
            "scope_violated",
            "park_holds",
            "park_violated",
            "arc_holds",
            "arc_violated",
            "unsafe_violated",
            "should_panic_holds",
            "result_violated",
        ],
    );
    // Only a thread that is slower than a timeout waits for goes wrong there.
    check_with(&["--time", "any"], "std", &["condvar_timeout_violated"]);
}

/// What calls of the standard library order is what they promise, and no more; the search of their
/// inside says the same.
#[test]
fn orders_of_calls() {
    let names = [
        "unpark_before_unpark_violated",
        "unpark_before_unpark_before_park_holds",
        "park_before_unpark_violated",
        "park_that_expires_before_unpark_violated",
        "unpark_before_park_in_time_holds",
        "end_of_channel_violated",
        "end_of_channel_after_message_violated",
        "end_of_bounded_channel_violated",
        "receive_before_send_with_room_violated",
        "receive_before_send_without_room_holds",
        "messages_of_bounded_channel_holds",
        "later_message_of_bounded_channel_violated",
        "message_sent_alone_violated",
        "messages_sent_alone_holds",
        "step_behind_message_sent_alone_violated",
        "for_ever_parked_violated",
    ];
    check("order_of_calls", &names);
    // The other searches of the inside of channels that hold are long.
    let is_short = |name: &&str| name.ends_with("violated") || name.contains("park");
    let names: Vec<&str> = names.into_iter().filter(is_short).collect();
    check_with(&["--trust", "none"], "order_of_calls", &names);
}

/// Why weak memory was not explored is told of a test that holds, to people and to programs.
#[test]
fn what_was_not_decided_is_told() {
    let arguments = ["--test", "order_of_calls", "--exact", "relaxed_before_unpark_holds"];
    let words = "`--memory rc11`, what C11 allows, was not decided";
    let said = mazurka(&arguments);
    let said = String::from_utf8_lossy(&said.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(words), "no `{words}` in {said}");
    let output = mazurka(&[&arguments[..], &["--json", "-"]].concat());
    let value: Value = serde_json::from_slice(&output.stdout).expect("a line is an object");
    let note = value["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains(words), "{value}");
}

/// Who is parked for ever is told so, with the name of its token.
#[test]
fn a_thread_that_nobody_unparks() {
    let output = mazurka(&["--test", "order_of_calls", "--exact", "for_ever_parked_violated"]);
    let said = String::from_utf8_lossy(&output.stdout);
    for words in ["main.1 is parked, and no thread is left that could unpark it", "the token of"] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
}

/// What loom calls a causality violation is a data race, and the repaired versions have none.
/// What goes wrong by the rules of the language, and in no interleaving or by a race alone.
#[test]
fn orders_that_are_missing() {
    check(
        "weak",
        &[
            "last_owner_holds",
            "last_owner_without_acquire_violated",
            "last_owner_without_release_violated",
            "spin_lock_holds",
            "spin_lock_with_relaxed_unlock_violated",
            "double_checked_holds",
            "double_checked_without_acquire_violated",
            "sequence_lock_holds",
            "sequence_lock_without_fences_violated",
            "publish_holds",
            "publish_relaxed_violated",
            "store_buffering_acquire_release_violated",
            "store_buffering_sequentially_consistent_holds",
            "store_buffering_with_fences_holds",
            "store_buffering_with_weak_fences_violated",
        ],
    );
}

#[test]
fn threads_that_end_the_process() {
    let names = [
        "one_exit_holds",
        "two_exits_holds",
        "exit_with_an_error_violated",
        "left_behind_holds",
        "left_behind_after_a_while_holds",
        "left_behind_violated",
    ];
    check("exits", &names);
}

/// What a thread has seen before may be a byte on its stack.
#[test]
fn loops_that_look_twice() {
    let names =
        ["closed_holds", "closed_behind_a_message_holds", "closed_before_a_message_violated"];
    check("rounds", &names);
}

/// The locks of input, output and panics are steps where the program can tell.
#[test]
fn locks_that_the_standard_library_has_for_itself() {
    let of_each = [
        "kept_apart_holds",
        "first_is_last_violated",
        "second_is_last_violated",
        "plain_violated",
        "opposite_orders_violated",
        "beside_output_holds",
    ];
    let locks = ["output", "errors", "input"];
    let names = locks.into_iter().flat_map(|lock| of_each.map(|name| format!("{lock}::{name}")));
    let others = [
        "printed_under_a_lock_violated",
        "printed_by_a_third_violated",
        "printed_by_two_holds",
        "any_hook_holds",
        "first_hook_violated",
        "second_hook_violated",
        "panic_beside_hook_violated",
    ];
    let names: Vec<String> = names.chain(others.map(str::to_owned)).collect();
    check("output", &names.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Nothing has to be assumed of the functions of the C library that the standard library calls.
#[test]
fn what_the_standard_library_copies() {
    let names = [
        "copy_beside_a_change_violated",
        "copy_after_a_change_holds",
        "copies_beside_each_other_holds",
        "output_of_two_threads_holds",
        "dropped_handle_holds",
    ];
    check_with(&["--strict"], "copies", &names);
}

#[test]
fn cells_that_orders_keep_apart() {
    check(
        "causality",
        &[
            "release_and_acquire_holds",
            "relaxed_load_violated",
            "relaxed_store_violated",
            "unlooked_violated",
            "written_behind_the_release_violated",
            "release_sequence_holds",
            "broken_release_sequence_violated",
            "two_fences_holds",
            "fence_of_the_reader_alone_violated",
            "fence_of_the_writer_alone_violated",
            "fence_the_wrong_way_violated",
            "two_writers_violated",
            "writer_and_reader_violated",
            "reader_and_writer_violated",
            "two_readers_holds",
            "one_after_the_other_holds",
            "atomic_without_atomicity_violated",
            "lock_holds",
            "lock_that_does_not_acquire_violated",
            "lock_that_does_not_release_violated",
        ],
    );
}

#[test]
fn crates_that_many_stand_on() {
    let names = ["mutex_holds", "mutex_violated", "condvar_holds", "condvar_violated"];
    check("parking_lot", &names);
    check(
        "crossbeam",
        &[
            "channel_holds",
            "channel_violated",
            "deque_holds",
            "deque_violated",
            "epoch_holds",
            "epoch_violated",
            "queue_holds",
            "queue_violated",
        ],
    );
    check(
        "others",
        &[
            "arc_swap_holds",
            "arc_swap_violated",
            "dashmap_holds",
            "dashmap_violated",
            "flume_holds",
            "flume_violated",
        ],
    );
    check("tokio", &["current_thread_holds", "current_thread_violated"]);
    check("tokio", &["multi_thread_holds", "multi_thread_violated"]);
}

/// Three threads count and drop references: in a build without optimisation, too, it is seen that
/// the results are not used.
#[test]
fn what_nobody_can_tell_is_one_execution() {
    let output = mazurka(&["--test", "std", "--exact", "--json", "-", "arc_holds"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(value["stats"]["executions"], 1, "{value}");
}

/// How many executions there are of each test that holds, by name.
fn executions(arguments: &[&str]) -> String {
    // Of interleavings: what a memory model adds is counted elsewhere.
    let output = mazurka(&[arguments, &["--json", "-", "--memory", "sc"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        format!("{} {} {}\n", value["file"], value["verdict"], value["stats"]["executions"])
    };
    text.lines().map(line).collect()
}

/// Every thread that the standard library starts asks for its destructors to be run, and the first
/// one creates a key for all. A load of that key was not looked at: what the threads did next
/// depended on something that the search did not know of, and it said that the program is not
/// deterministic.
#[test]
fn what_threads_begin_with_is_no_race() {
    expect![[r#"
        "test notified once_2_holds" "holds" 156
        "test notified once_3_holds" "holds" 24594
        "test notified tokens_2_holds" "holds" 168
        "test notified tokens_3_holds" "holds" 36522
    "#]]
    .assert_eq(&executions(&["--test", "notified"]));
    expect![[r#"
        "test notified once_2_holds" "holds" 156
        "test notified tokens_2_holds" "holds" 168
    "#]]
    .assert_eq(&executions(&["--test", "notified", "--reduction", "dpor", "_2_"]));
}

/// What has more schedules than a test has time for is proved as far as that.
/// What the compiler makes of a thread that gives a vector back begins with three short
/// instructions.
#[test]
fn results_in_memory_leave_calls_single_operations() {
    expect![[r#"
        "test results result_in_memory" "holds" 1
        "test results scope_of_four" "holds" 1
        "test results two_senders" "holds" 4
    "#]]
    .assert_eq(&executions(&["--test", "results"]));
}

#[test]
fn crates_with_workers_within_a_bound() {
    let within = |limit: u32| ["--bound".to_owned(), format!("preemption={limit}")];
    let check = |limit: u32, file: &str, name: &str| {
        let [flag, bound] = within(limit);
        check_with(&[&flag, &bound], file, &[name]);
    };
    check(3, "tokio", "multi_thread_task_holds");
    check(2, "others", "rayon_holds");
    check(1, "others", "rayon_violated");
    check(1, "parking_lot", "two_locks_violated");
}

/// What is proved is said of each test, also on the way, and within which bound.
#[test]
fn what_is_proved_is_told() {
    let words = ["--test", "std", "--exact", "condvar_holds", "scope_holds"];
    let output = mazurka(&[&words[..], &["--bound", "preemption=0", "--iterate"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for words in [
        "Proved test std condvar_holds: no assertion failure",
        "with at most 0 preemptions",
        "with at most 1 preemption,",
        "Covered: no assertion failure, crash, deadlock, data race or livelock in any execution",
        "Summary 2 tests: 2 hold",
    ] {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
}

/// Steps are told in the words of the test's own source.
#[test]
fn a_story_is_about_the_source() {
    let output = mazurka(&["--test", "std", "--exact", "unsafe_violated", "rwlock_violated"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in [
        "ata race on `",
        "main.1 reads it at tests/std.rs:",
        "in std::unsafe_violated",
        "RwLock::read count",
        "RwLock::write count",
    ] {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
    for words in ["/rustc/", "/registry/", "main.heap+", "_R"] {
        assert!(!text.contains(words), "`{words}` in:\n{text}");
    }
}

/// A part of a variable is told as the source would call it, and no farther than that declares it.
#[test]
fn parts_of_variables_have_names() {
    let output = mazurka(&["--test", "names", "--exact", "--json", "-", "fields_violated"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let steps = value["violation"]["steps"].as_array().expect("steps");
    let objects: BTreeSet<&str> = steps.iter().filter_map(|it| it["object"].as_str()).collect();
    for name in [
        "SHAPES[1].n_points",
        "SHAPES[1].points[1].at.1",
        "SHAPES[1].name",
        "local.points[0].is_set",
    ] {
        assert!(objects.contains(name), "no `{name}` in {objects:#?}");
    }
}

#[test]
fn tests_of_the_kinds_in_the_thesis() {
    let names = [
        "bag_that_is_never_empty",
        "bag_that_is_stolen_from",
        "barrier_that_counts",
        "barrier_with_late_reset",
        "blocking_collection",
        "causality",
        "exception",
        "fairness",
        "gather_of_two_kinds",
        "gather_post",
        "iterator",
        "manual_reset_event",
        "matrix_on_futures",
        "parallel_fft",
        "queens_on_futures",
        "queens_that_ask_each_other",
        "region_ownership",
        "scatter_gather",
        "semaphore",
    ];
    let pairs = names.map(|name| [format!("{name}_holds"), format!("{name}_violated")]);
    check("thesis", &pairs.as_flattened().iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_violation_is_told_and_can_be_replayed() {
    let output = mazurka(&["--test", "std", "scope_violated"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Violated Assertion failed: `"), "{text}");
    assert!(text.contains("tests/std.rs:"), "{text}");
    assert!(text.contains("Summary 1 test: 1 violated"), "{text}");
    let schedule = text.split("--replay ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let schedule = schedule.expect("it says how to replay it");
    let again = mazurka(&["--test", "std", "--exact", "scope_violated", "--replay", schedule]);
    let text = String::from_utf8_lossy(&again.stdout);
    assert_eq!(again.status.code(), Some(1), "{text}");
    assert!(text.contains("Violated") && text.contains("the test failed"), "{text}");

    let follow = ["--test", "std", "--exact", "scope_violated", "--replay", schedule, "--debugger"];
    let told = mazurka(&follow);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let command_line = String::from_utf8_lossy(&told.stdout);
    let batch = command_line.trim_end().replacen(" gdb ", " gdb -batch -nx ", 1);
    let batch = batch.replacen(" --args", " -ex backtrace --args", 1);
    let mut shell = Command::new("sh");
    let debugged = shell.args(["-c", &batch]).env_remove("LD_LIBRARY_PATH").output();
    let text =
        String::from_utf8_lossy(&debugged.expect("a shell can be started").stdout).into_owned();
    assert!(text.contains("mazurka_violation"), "{text}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let output = mazurka(&["--test", "std", "no_such_test"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: no test was run"));
    let output = mazurka(&["--test", "std", "ignored"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = mazurka(&["--manifest-path", "nowhere/Cargo.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no cargo project here"));
}

/// A step of a thread that is made of its deeds.
#[derive(Clone, Copy)]
enum Step {
    Lock(usize),
    /// If the mutex is taken, notes that and goes on behind the next two.
    TryLock(usize),
    Unlock(usize),
    Change(usize, u32),
    Look(usize),
    Store(u32),
    Note,
}

fn steps(deed: Deed) -> Vec<Step> {
    use Step::{Change, Lock, Look, Note, Store, TryLock, Unlock};
    match deed {
        Deed::Section(it) => vec![Lock(it), Change(it, 3), Unlock(it)],
        Deed::Nested(outer, inner) => vec![
            Lock(outer),
            Lock(inner),
            Change(outer, 3),
            Change(inner, 5),
            Unlock(inner),
            Unlock(outer),
        ],
        Deed::Attempt(it) => vec![TryLock(it), Change(it, 7), Unlock(it)],
        Deed::Look(it) => vec![Lock(it), Look(it), Unlock(it)],
        Deed::Store(value) => vec![Store(value)],
        Deed::Note => vec![Note],
    }
}

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<usize>,
    notes: Vec<u32>,
    guarded: [u32; 2],
    is_taken: [bool; 2],
    atomic: u32,
}

/// What a program can come to in any order of its steps: outcomes, and nothing where no thread can
/// move.
fn all_ends(program: &Program) -> BTreeSet<Option<u32>> {
    let threads: Vec<Vec<Step>> =
        program.iter().map(|deeds| deeds.iter().copied().flat_map(steps).collect()).collect();
    let (at, notes) = (vec![0; threads.len()], vec![0; threads.len()]);
    let mut open = vec![State { at, notes, ..State::default() }];
    let (mut seen, mut ends) = (BTreeSet::new(), BTreeSet::new());
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let next = |thread: usize| threads[thread].get(state.at[thread]).copied();
        let successors: Vec<State> =
            (0..threads.len()).filter_map(|thread| after(&state, thread, next(thread)?)).collect();
        let is_over = (0..threads.len()).all(|thread| next(thread).is_none());
        if is_over {
            ends.insert(Some(outcome(state.guarded, state.atomic, &state.notes)));
        } else if successors.is_empty() {
            ends.insert(None);
        }
        open.extend(successors);
    }
    ends
}

/// The state after a step of a thread, if that can be taken.
fn after(state: &State, thread: usize, step: Step) -> Option<State> {
    let mut state = state.clone();
    state.at[thread] += 1;
    match step {
        Step::Lock(it) if state.is_taken[it] => return None,
        Step::TryLock(it) if state.is_taken[it] => {
            state.at[thread] += 2;
            state.notes[thread] = changed(state.notes[thread], 2, thread);
        }
        Step::Lock(it) | Step::TryLock(it) => state.is_taken[it] = true,
        Step::Unlock(it) => state.is_taken[it] = false,
        Step::Change(it, factor) => state.guarded[it] = changed(state.guarded[it], factor, thread),
        Step::Look(it) => state.guarded[it] = changed(state.guarded[it], 3, state.atomic as usize),
        Step::Store(value) => state.atomic = value,
        Step::Note => {
            state.notes[thread] = changed(state.notes[thread], 11, state.atomic as usize);
        }
    }
    Some(state)
}

/// Mutexes of the standard library are taken for what they are, not for the futexes that they are
/// made of. What random programs come to is what an enumeration of all orders comes to.
#[test]
fn mutexes_are_those_of_an_enumeration() {
    const N_SEEDS: u64 = 30;
    let (mut n_holds, mut n_wrong, mut n_deadlocks) = (0, 0, 0);
    for wrong in 0..4 {
        let mut expected: Vec<(String, String)> = (0..N_SEEDS)
            .map(|seed| {
                let ends = all_ends(&program(seed));
                let holds = ends.iter().all(|end| end.is_some_and(|it| it % 24 != wrong));
                let is_deadlock = ends.contains(&None);
                n_holds += u32::from(holds);
                n_deadlocks += u32::from(is_deadlock);
                n_wrong += u32::from(!holds && !is_deadlock);
                let verdict = if holds { "holds" } else { "violated" };
                (format!("test mutexes seed_{seed}"), verdict.to_owned())
            })
            .collect();
        expected.sort();
        let arguments = ["--test", "mutexes", "--json", "-"];
        let output = mazurka_with(&arguments, &[("MAZURKA_OUTCOME", &wrong.to_string())]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(verdicts(&output), expected, "{wrong}: {said}");
    }
    let counts = (n_holds, n_wrong, n_deadlocks);
    assert!(n_holds > 20 && n_wrong > 20 && n_deadlocks > 10, "{counts:?}");
}
