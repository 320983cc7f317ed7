//! Additions that are not kept in order: what a search finds without their order is what all
//! interleavings together find, and it finds it in fewer executions.

use crate::support::random::Random;
use expect_test::expect;
use mazurka_core::{AddId, Discipline, System, ThreadId, ViolationKind};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_script::Script;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// All that a search comes to.
struct Found {
    outcomes: BTreeSet<Vec<i64>>,
    executions: u64,
    /// How often the search began again.
    restarts: usize,
    /// The program, with what was learnt about it.
    script: Script,
}

fn search(text: &str, reduction: Reduction) -> Found {
    search_on(Script::parse(text).expect("a script"), reduction)
}

/// Searches until nothing more is learnt.
fn search_on(mut script: Script, reduction: Reduction) -> Found {
    for restarts in 0.. {
        let mut options = Options::new();
        options.reduction = reduction;
        options.stop_at_first = false;
        options.deadlock = false;
        let outcomes = Mutex::new(BTreeSet::new());
        let note = |ended: mazurka_explore::Ended<'_, Script>| {
            outcomes.lock().expect("the lock is not poisoned").insert(ended.system.outcome());
        };
        let explorer = Explorer::new(options).observe(&note);
        let outcome = explorer.run(|| script.clone());
        match script.relearnt() {
            // A search that is void may come to anything, also to a contradiction.
            Some(stricter) => script = stricter,
            None => {
                let outcome = outcome.expect("nothing is in the way");
                let outcomes = outcomes.into_inner().expect("the lock is not poisoned");
                let executions = outcome.statistics.executions;
                return Found { outcomes, executions, restarts, script };
            }
        }
    }
    unreachable!("there is a strictest discipline")
}

/// Compares every reduction with the search of all interleavings.
fn agree(text: &str) -> Found {
    let all = search(text, Reduction::None);
    for reduction in Reduction::ALL {
        assert_eq!(search(text, reduction).outcomes, all.outcomes, "{reduction:?}: {text}");
    }
    let optimal = search(text, Reduction::Optimal);
    // In another order, other additions may be found to have to be in order.
    let monotonic = search_on(optimal.script.clone(), Reduction::Monotonic);
    assert_eq!(monotonic.restarts, 0, "all has been learnt: {text}");
    assert_eq!(monotonic.executions, optimal.executions, "one execution of each trace: {text}");
    optimal
}

fn check(text: &str, expected: expect_test::Expect) {
    let Found { outcomes, executions, restarts, .. } = agree(text);
    let found =
        format!("{} outcomes, {executions} executions, {restarts} restarts", outcomes.len());
    expected.assert_eq(&found);
}

#[test]
fn additions_that_nobody_looks_at_are_one_trace() {
    check(
        "add(x,1) | add(x,2) | add(x,3) | add(x,4)",
        expect!["1 outcomes, 1 executions, 0 restarts"],
    );
}

#[test]
fn whoever_reads_sees_how_many_there_were() {
    check("add(x,1) | add(x,1) | r=x", expect!["3 outcomes, 4 executions, 0 restarts"]);
}

/// Three references are dropped, and one is left.
#[test]
fn drops_that_are_not_the_last_are_one_trace() {
    let drop = "r=count(x,0-1,1)";
    check(
        &format!("x=4 || {drop} | {drop} | {drop}"),
        expect!["1 outcomes, 1 executions, 0 restarts"],
    );
}

/// Who is the last one matters, so drops are in order.
#[test]
fn each_may_be_the_last_one() {
    let drop = "r=count(x,0-1,1)";
    check(
        &format!("x=3 || {drop} | {drop} | {drop}"),
        expect!["3 outcomes, 6 executions, 1 restarts"],
    );
}

/// The last one is known: it waits for all others.
#[test]
fn the_last_one_has_waited_for_the_others() {
    let drop = "r=count(x,0-1,1)";
    let text = format!("x=3 || spawn(1); spawn(2); join(1); join(2); {drop} | {drop} | {drop}");
    check(&text, expect!["1 outcomes, 1 executions, 0 restarts"]);
}

/// A thread with a reference makes another one, and gives it to another that drops it.
#[test]
fn references_that_are_made_on_the_way() {
    let (drop, clone) = ("r=count(x,0-1,1)", "add(x,1)");
    let text = format!(
        "x=1 || {clone}; spawn(1); {clone}; spawn(2); {clone}; spawn(3); \
         join(1); join(2); join(3); {drop} | {drop} | {drop} | {drop}"
    );
    check(&text, expect!["1 outcomes, 1 executions, 0 restarts"]);
}

/// Two drops are in order since either may be the last, a new reference does not meddle with them.
#[test]
fn new_references_do_not_meet_drops() {
    let (drop, clone) = ("r=count(x,0-1,1)", "add(x,1)");
    check(
        &format!("x=2 || {clone}; r=count(x,0-1,1); {drop} | {drop}"),
        expect!["2 outcomes, 2 executions, 1 restarts"],
    );
}

/// Two threads clone and drop until they drop their own reference: only these two drops are in
/// order.
#[test]
fn only_the_last_drops_of_threads_meet() {
    let (drop, clone) = ("r=count(x,0-1,1)", "add(x,1)");
    let thread = [clone, drop, clone, clone, drop, drop, drop].join("; ");
    check(&format!("x=2 || {thread} | {thread}"), expect!["2 outcomes, 2 executions, 1 restarts"]);
}

/// What one thread has counted up does not come down to the number that is asked for.
#[test]
fn only_those_are_in_order_that_can_meet_the_number() {
    let up = ["r=count(x,1,1)"; 20].join("; ");
    let down = ["r=count(x,0-1,1)"; 3].join("; ");
    check(&format!("x=0 || {up} | {down}"), expect!["2 outcomes, 84 executions, 1 restarts"]);
}

/// If there are too many to tell apart, all that look are in order.
#[test]
fn many_that_look_are_in_order() {
    let [few, many] =
        [2, 40].map(|n| (0..n).map(|index| AddId { thread: ThreadId::new(0), index }));
    let one = Discipline::Free.stricter(&few.collect::<Vec<_>>());
    assert!(matches!(one, Discipline::Named(ref turns) if turns.len() == 2));
    assert_eq!(one.stricter(&many.collect::<Vec<_>>()), Discipline::Tested);
    // What was in order before and is not enough is no progress.
    let again = AddId { thread: ThreadId::new(0), index: 1 };
    assert_eq!(one.stricter(&[again]), Discipline::Tested);
}

/// A thread makes a reference without having one, so a drop may have been the last before.
#[test]
fn references_out_of_nowhere_are_in_order() {
    check(
        "x=2 || r=count(x,0-1,1) | r=count(x,0-1,1) | add(x,1)",
        expect!["3 outcomes, 6 executions, 1 restarts"],
    );
}

/// What is counted down to the last and then counted up again.
#[test]
fn numbers_below_zero_are_in_order() {
    check(
        "x=0 || r=count(x,0-1,1) | r=count(x,2,1) | r=count(x,0-1,1)",
        expect!["3 outcomes, 6 executions, 1 restarts"],
    );
}

/// Against all interleavings, on random programs with every mixture of additions and other
/// accesses.
#[test]
fn random_programs_have_all_their_outcomes() {
    let mut n_restarted = 0;
    for seed in seeds(0..2000) {
        let found = agree(&program(&mut Random(seed)));
        n_restarted += usize::from(found.restarts > 0);
    }
    let is_likely = n_restarted >= share(1000) && n_restarted <= 1700;
    assert!(is_likely, "{n_restarted} had to begin again");
}

/// A program of two or three threads about one or two counters.
fn program(random: &mut Random) -> String {
    let n_threads = 2 + random.below(2);
    let mut budget = 7;
    let threads: Vec<String> = (0..n_threads)
        .map(|_| {
            let n_statements = (1 + random.below(4)).min(budget);
            budget -= n_statements.min(budget - 1);
            let statements: Vec<String> =
                (0..n_statements).map(|idx| statement(random, idx)).collect();
            statements.join("; ")
        })
        .collect();
    format!("x={}, z={} || {}", random.below(4), random.below(3), threads.join(" | "))
}

fn statement(random: &mut Random, idx: usize) -> String {
    let counter = if random.below(4) == 0 { "z" } else { "x" };
    let value = ["1", "0-1", "0-1", "2"][random.below(4)];
    match random.below(12) {
        0..6 => {
            let count = format!("r{idx}=count({counter},{value},{})", 1 + random.below(2));
            match random.below(3) {
                0 => format!("{count}; if r{idx}==1 {{y={}}}", 1 + random.below(3)),
                _ => count,
            }
        }
        6..8 => format!("add({counter},{value})"),
        8 => format!("r{idx}={counter}"),
        9 => format!("{counter}={}", random.below(4)),
        10 => format!("r{idx}=cas({counter},{},{})", random.below(3), random.below(3)),
        _ => format!("r{idx}=y"),
    }
}

/// The thread that drops the last reference frees what it refers to, after all accesses to it.
/// One that drops another reference is after none of them.
#[test]
fn only_the_last_one_knows_of_the_others() {
    let race_in = |text: &str| {
        let mut script = Script::parse(text).expect("a script");
        loop {
            let outcome = Explorer::new(Options::new()).run(|| script.clone());
            match script.relearnt() {
                Some(stricter) => script = stricter,
                None => break outcome.expect("nothing is in the way").verdict,
            }
        }
    };
    let is_race = |text: &str| match race_in(text) {
        mazurka_core::Verdict::Violated(found) => {
            assert_eq!(found.violation.kind, ViolationKind::Race, "{text}");
            true
        }
        _ => false,
    };
    let user = "r=y; plain(p)=1; r=count(x,0-1,1); if r==1 {plain(p)=2}";
    assert!(!is_race(&format!("x=2 || {user} | r=y; r=count(x,0-1,1); if r==1 {{plain(p)=2}}")));
    assert!(is_race(&format!("x=3 || {user} | r=y; r=count(x,0-1,1); plain(p)=2")));
    assert!(is_race("x=9 || r=y; plain(p)=1; add(x,1) | add(x,1); plain(p)=2"));
    assert!(!is_race("x=9 || r=y; plain(p)=1; add(x,1) | r=x; if r==10 {plain(p)=2}"));
}

/// The search tells the system, which tells it when it is asked.
#[test]
fn a_search_without_tests_learns_nothing() {
    let script = Script::parse("add(x,1) | add(x,1); r=x").expect("a script");
    Explorer::new(Options::new()).run(|| script.clone()).expect("nothing is in the way");
    assert!(script.relearnt().is_none());
    assert_eq!(script.n_threads(), 2);
}
