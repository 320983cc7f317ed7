//! `persistent` and `transactions` see what exhaustive search sees, on programs whose arrays are
//! guarded by arrays of locks, almost guarded, or not at all; and they really use the guards.

use crate::random::Random;
use mazurka_core::Verdict;
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_model::{
    Access, Action, Compare, Expr, Layout, Place, Program, Races, RegisterId, RoutineBuilder, Sync,
    Type, Vm,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

const INT: Type = Type::I32;
const N: u32 = 2;

/// Arrays `a` and `b`, of which `a` is meant to be guarded by `locks`, and one lock more.
struct Shared {
    a: Place,
    b: Place,
    locks: Place,
    lock: Place,
}

impl Shared {
    fn new(program: &mut Program) -> Self {
        let numbers = program.array(INT, N);
        let (a, b) = (program.object("a", numbers), program.object("b", numbers));
        let element = program.sync(Sync::Mutex);
        let layout = program.layout(Layout::Array { element, count: N });
        let locks = program.object("locks", layout);
        let lock = program.object("lock", element);
        let [a, b, locks, lock] = [a, b, locks, lock].map(Place::object);
        Self { a, b, locks, lock }
    }
}

/// One use of `a` or `b`, which of them depending on `place`.
fn access(thread: &mut RoutineBuilder, random: &mut Random, place: Place, seen: RegisterId) {
    match random.below(3) {
        0 => thread.load(seen, place, Access::Plain),
        1 => thread.store(place, Expr::int(INT, random.below(3) as i64 + 1), Access::Plain),
        _ => thread.store(place, thread.get(seen), Access::Plain),
    }
}

/// A part of a thread: some of them keep to the locks, some forget them.
fn fragment(thread: &mut RoutineBuilder, random: &mut Random, shared: &Shared, i: RegisterId) {
    let seen = thread.register("seen", INT);
    let index = thread.get(i);
    let mutex = shared.locks.clone().element(index.clone(), 4);
    let a = shared.a.clone().element(index.clone(), 4);
    match random.below(12) {
        0..=5 => {
            thread.then(Action::Lock { mutex: mutex.clone(), to: None });
            access(thread, random, a.clone(), seen);
            if random.below(2) == 0 {
                access(thread, random, a, seen);
            }
            thread.then(Action::Unlock { mutex, to: None });
        }
        6..=7 => {
            thread.then(Action::Lock { mutex: shared.lock.clone(), to: None });
            access(thread, random, shared.b.clone(), seen);
            thread.then(Action::Unlock { mutex: shared.lock.clone(), to: None });
        }
        8 => access(thread, random, shared.b.clone().element(index, 4), seen),
        9 => {
            // The index moves on, the lock does not.
            thread.then(Action::Lock { mutex: mutex.clone(), to: None });
            access(thread, random, a, seen);
            thread.then(Action::Unlock { mutex, to: None });
            thread.assign(i, Expr::int(INT, random.below(u64::from(N)) as i64));
        }
        10 => {
            let condition = Expr::compare(Compare::Equal, thread.get(seen), Expr::int(INT, 1));
            let otherwise = thread.branch(condition);
            thread.then(Action::Yield);
            let end = thread.here();
            thread.go_on_from(otherwise);
            thread.jump(end);
            thread.go_on_from(end);
        }
        _ if random.below(3) == 0 => access(thread, random, a, seen),
        _ => thread.then(Action::Yield),
    }
}

fn generate(seed: u64) -> Program {
    let mut random = Random(seed);
    let mut program = Program::new("random");
    let shared = Shared::new(&mut program);
    for number in 0..2 + random.below(2) {
        let mut thread = RoutineBuilder::new("thread");
        let i = thread.parameter("i", INT);
        for _ in 0..1 + random.below(2) {
            fragment(&mut thread, &mut random, &shared, i);
        }
        let routine = program.add_routine(thread.finish());
        let index = random.below(u64::from(N));
        program.process(&format!("T{number}"), routine, vec![index]);
    }
    program
}

/// What a search finds, and what it costs.
struct Found {
    traces: BTreeSet<u64>,
    values: BTreeSet<Vec<u64>>,
    transitions: u64,
}

/// The traces and final values that a search finds; none if they are too many for a test.
fn search(vm: &Vm, reduction: Reduction, sleep: bool) -> Option<Found> {
    let seen = Mutex::new((BTreeSet::new(), BTreeSet::new()));
    let watch = |ended: mazurka_explore::Ended<'_, Vm>| {
        let values = [0, 1].into_iter().flat_map(|object| {
            (0..N).map(move |idx| ended.system.peek(mazurka_model::ObjectIdx(object), 4 * idx, INT))
        });
        let mut seen = seen.lock().expect("the lock is not poisoned");
        seen.0.insert(ended.order.trace_hash());
        seen.1.insert(values.collect());
    };
    let mut options = Options::new().reduction(reduction);
    options.sleep = sleep;
    options.max_executions = Some(2_000);
    let outcome = Explorer::new(options).observe(&watch).run(|| vm.clone()).expect("it runs");
    let Verdict::Holds(_) = outcome.verdict else {
        assert!(outcome.saved.is_some(), "{:?}", outcome.verdict);
        return None;
    };
    let (traces, values) = seen.into_inner().expect("the lock is not poisoned");
    Some(Found { traces, values, transitions: outcome.statistics.transitions })
}

#[test]
fn persistent_sets_lose_nothing() {
    let (mut n_programs, mut without, mut with) = (0, 0, 0);
    for seed in seeds(0..1_500) {
        let vm = Vm::new(generate(seed), Races::Allow).expect("it can be run");
        let Some(all) = search(&vm, Reduction::None, false) else { continue };
        n_programs += 1;
        without += all.transitions;
        let found = |reduction, sleep| {
            let found = search(&vm, reduction, sleep).expect("it takes no more");
            assert_eq!(found.traces, all.traces, "seed {seed}");
            assert_eq!(found.values, all.values, "seed {seed}");
            found.transitions
        };
        found(Reduction::Persistent, true);
        found(Reduction::Transactions, true);
        let by_locks = found(Reduction::Transactions, false);
        assert!(by_locks <= found(Reduction::Persistent, false), "seed {seed}");
        with += by_locks;
    }
    assert!(n_programs > share(500), "only {n_programs} programs were small enough");
    assert!(with * 3 < without * 2, "{with} of {without} transitions are not much of a reduction");
}

/// What is used under a lock in most places, and without it in one: while the lock is held, only
/// who is about to use it without the lock matters.
#[test]
fn who_needs_a_lock_first_does_not_matter_to_who_holds_it() {
    let mut program = Program::new("almost guarded");
    let shared = Shared::new(&mut program);
    let mut thread = RoutineBuilder::new("thread");
    thread.then(Action::Lock { mutex: shared.lock.clone(), to: None });
    for value in 1..5 {
        thread.store(shared.b.clone(), Expr::int(INT, value), Access::Plain);
    }
    thread.then(Action::Unlock { mutex: shared.lock.clone(), to: None });
    let thread = program.add_routine(thread.finish());
    // It ends with an access that no lock guards, so that nothing is guarded everywhere.
    let mut last = RoutineBuilder::new("last");
    last.then(Action::Lock { mutex: shared.lock.clone(), to: None });
    last.then(Action::Unlock { mutex: shared.lock, to: None });
    last.store(shared.b, Expr::int(INT, 5), Access::Plain);
    let last = program.add_routine(last.finish());
    program.process("first", thread, Vec::new());
    program.process("second", thread, Vec::new());
    program.process("last", last, Vec::new());
    let vm = Vm::new(program, Races::Allow).expect("it can be run");
    let all = search(&vm, Reduction::Source, true).expect("it is small");
    let found = search(&vm, Reduction::Transactions, true).expect("it is small");
    assert_eq!((&found.traces, &found.values), (&all.traces, &all.values));
    expect_test::expect!["232"].assert_eq(&found.transitions.to_string());
}

#[test]
fn what_a_lock_guards_is_no_reason_to_switch() {
    let mut program = Program::new("guarded");
    let shared = Shared::new(&mut program);
    let mut thread = RoutineBuilder::new("thread");
    let i = thread.parameter("i", INT);
    let mutex = shared.locks.element(thread.get(i), 4);
    thread.then(Action::Lock { mutex: mutex.clone(), to: None });
    for value in 1..5 {
        let place = shared.a.clone().element(thread.get(i), 4);
        thread.store(place, Expr::int(INT, value), Access::Plain);
    }
    thread.then(Action::Unlock { mutex, to: None });
    let thread = program.add_routine(thread.finish());
    program.process("first", thread, vec![0]);
    program.process("second", thread, vec![1]);
    let vm = Vm::new(program, Races::Allow).expect("it can be run");
    let all = search(&vm, Reduction::None, false).expect("it is small");
    let found = search(&vm, Reduction::Persistent, false).expect("it is smaller");
    assert_eq!((found.traces.len(), all.traces.len()), (1, 1));
    // The locks may be the same, as far as one can tell beforehand; what is under them is not.
    assert!(
        found.transitions * 4 < all.transitions,
        "{} of {}",
        found.transitions,
        all.transitions
    );
}
