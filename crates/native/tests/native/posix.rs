//! What POSIX has beyond mutexes and condition variables: cancellation, named semaphores, joins
//! that are tried, robust mutexes; and futexes whose sleepers are moved. By both compilers.

use crate::program::{Answer, CLANG, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

fn check_by_both(name: &str, flags: &[&str], check: impl Fn(Answer)) {
    for by in [GCC, CLANG] {
        check(Program::build_by(by, name, flags).explore(&json!({})));
    }
}

/// An assertion fails. The compilers do not call functions the same there.
fn fails(answer: &Answer, message: &str) {
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("not violated: {} {:?}", answer.message, answer.error);
    };
    assert!(found.violation.message.starts_with(message), "{}", found.violation.message);
}

/// It holds, and other reductions find the same traces.
fn holds_in_any_search(name: &str, flags: &[&str], executions: u64) {
    check_by_both(name, flags, |answer| drop(answer.holds(executions)));
    let program = Program::build(name, flags);
    for reduction in ["dpor", "source"] {
        program.explore(&json!({ "reduction": reduction })).holds(executions);
    }
}

#[test]
fn sleepers_are_moved_from_one_futex_to_another() {
    holds_in_any_search("requeue", &["-DSLEEPERS=1"], 16);
    check_by_both("requeue", &["-DSLEEPERS=2"], |answer| drop(answer.holds(6242)));
    check_by_both("requeue", &["-DSLEEPERS=2", "-DCOMPARES=0"], |answer| drop(answer.holds(6242)));
    let message = "2 threads wait for ever: main.2 sleeps on mutex or sequence and no \
                   thread is left that could wake it; main waits to join main.2";
    check_by_both("requeue", &["-DSLEEPERS=2", "-DLOST=1"], |answer| {
        drop(answer.violated("deadlock", message));
    });
}

#[test]
fn a_word_is_changed_while_sleepers_of_two_futexes_are_woken() {
    holds_in_any_search("wake_op", &[], 12);
    let message = "2 threads wait for ever: main.2 sleeps on lock or event and no \
                   thread is left that could wake it; main waits to join main.2";
    check_by_both("wake_op", &["-DEARLY=1"], |answer| {
        drop(answer.violated("deadlock", message));
    });
}

#[test]
fn signals_that_a_thread_blocks_are_told() {
    check_by_both("signal_mask", &[], |answer| drop(answer.holds(1)));
}

#[test]
fn a_thread_is_cancelled_where_it_waits() {
    let traces =
        [("condition variable", 5), ("semaphore", 2), ("join", 2), ("sleep", 2), ("test", 2)];
    for (place, (name, executions)) in traces.into_iter().enumerate() {
        check_by_both("cancel", &[&format!("-DWHERE={place}")], |answer| {
            assert_eq!(answer.statistics.executions, executions, "{name}");
            let told = "threads are cancelled where they wait, sleep or test for it";
            assert!(answer.message.contains(told), "{}", answer.message);
            answer.holds(executions);
        });
    }
    check_by_both("cancel", &["-DWHERE=5"], |answer| drop(answer.holds(1)));
    check_by_both("cancel", &["-DFORGETS=1"], |answer| {
        drop(answer.violated("invalid-end", "main.1 ends while it holds `mutex`"));
    });
}

#[test]
fn who_may_end_anywhere_is_refused() {
    let answer = Program::build("cancel", &["-DWHERE=6"]).explore(&json!({}));
    let error = answer.error.expect("it is refused");
    assert!(error.contains("`PTHREAD_CANCEL_ASYNCHRONOUS` at "), "{error}");
    assert!(error.contains("cancel.c:81:9, in work,"), "{error}");
    assert!(error.contains("is not supported"), "{error}");
}

#[test]
fn a_lock_that_prefers_writers_is_refused() {
    for flags in [&[][..], &["-DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NP"]] {
        holds_in_any_search("rwlock_kinds", flags, 2);
    }
    let refused = [
        ("-DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP", "rwlock_kinds.c:41:5, in main,"),
        ("-DSTATIC=1", "rwlock_kinds.c:20:5, in read_twice,"),
    ];
    for (flag, place) in refused {
        let answer = Program::build("rwlock_kinds", &[flag]).explore(&json!({}));
        let error = answer.error.expect("it is refused");
        let told = "`PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` at ";
        assert!(error.contains(told) && error.contains(place), "{error}");
        assert!(error.contains("is not supported"), "{error}");
    }
}

#[test]
fn semaphores_have_names() {
    holds_in_any_search("named_semaphore", &[], 10);
    check_by_both("named_semaphore", &["-DEXCLUSIVE=1"], |answer| {
        let message = answer.message.clone();
        assert!(message.contains("a null pointer is followed"), "{message}");
    });
}

#[test]
fn whether_a_thread_has_ended_can_be_asked() {
    for flags in [&[][..], &["-DTIMED=1"]] {
        holds_in_any_search("try_join", flags, 4);
    }
    check_by_both("try_join", &["-DSURE=1"], |answer| {
        fails(&answer, "try_join.c:35: assertion `error == 0` failed in ");
    });
}

#[test]
fn a_robust_mutex_outlives_who_holds_it() {
    holds_in_any_search("robust", &[], 2);
    check_by_both("robust", &["-DBLIND=1"], |answer| {
        fails(&answer, "robust.c:47: assertion `error == (half ? EOWNERDEAD : 0)` failed in ");
    });
}

#[test]
fn what_was_not_initialised_or_was_destroyed_is_not_used() {
    const NEVER: &str = "is used and was never initialised";
    const AFTER: &str = "is used after it was destroyed";
    let wanted = |how: i32| match how {
        0..=6 => NEVER,
        7..=15 | 22 | 23 => AFTER,
        _ => "destroyed",
    };
    for (by, level) in [(GCC, "-O0"), (CLANG, "-O2")] {
        let program = Program::build_by(by, "lifecycle", &[level, "-w"]);
        for how in 0..=23 {
            let answer = program.explore_with(&[&how.to_string()], &json!({}));
            let Some(Verdict::Violated(found)) = &answer.verdict else {
                panic!("{how} is not violated: {} {:?}", answer.message, answer.error);
            };
            let told = &found.violation.message;
            assert!(told.contains(wanted(how)), "{how}: {told}");
        }
        let answer = program.explore(&json!({}));
        let holds = matches!(answer.verdict, Some(Verdict::Holds(_)));
        assert!(holds, "{level}: {} {:?}", answer.message, answer.error);
    }
}

#[test]
fn barriers_for_all_threads_are_steps() {
    for flags in [&[][..], &["-DBY_PAGE"]] {
        check_by_both("process_barrier", flags, |answer| {
            answer.holds(3);
        });
    }
}
