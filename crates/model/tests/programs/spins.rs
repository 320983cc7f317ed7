//! Threads that the machine holds in loops which change nothing: against all states of the same
//! programs with loops that really go round, every way to end is found, and whether a thread may be
//! stuck.

use crate::random::Random;
use mazurka_core::{Decision, Next, System as _, ThreadId};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Ended, Explorer, Options, Reduction};
use mazurka_model::{
    Access, Action, Binary, Compare, Expr, LayoutId, MemoryOrder, ObjectIdx, Place, Program, Races,
    RoutineBuilder, Sync, Type, Update, Vm,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const INT: Type = Type::I32;
const N_VARIABLES: u64 = 3;
const SEEDS: std::ops::Range<u64> = 0..1200;

pub(crate) fn int(value: u64) -> Expr {
    Expr::int(INT, value as i64)
}

/// Variables, the results of the threads, and a mutex.
pub(crate) struct Shared {
    pub(crate) variables: ObjectIdx,
    pub(crate) results: ObjectIdx,
    pub(crate) mutex: ObjectIdx,
    /// What a variable of a thread's own is like.
    pub(crate) own: LayoutId,
}

impl Shared {
    pub(crate) fn variable(&self, random: &mut Random) -> Place {
        Place::object(self.variables).element(int(random.below(N_VARIABLES)), 4)
    }
}

/// A statement: an access, or a loop that waits in one of several ways.
fn statement(thread: &mut RoutineBuilder, random: &mut Random, shared: &Shared) {
    let seen = thread.register("seen", INT);
    let done = thread.register("done", Type::BOOL);
    let (place, value) = (shared.variable(random), int(random.below(3)));
    match random.below(19) {
        0 | 1 => thread.store(place, value, Access::ATOMIC),
        2 => {
            let update = Update::Add;
            thread.then(Action::Modify {
                old: Some(seen),
                on: place,
                update,
                value,
                order: MemoryOrder::SequentiallyConsistent,
            });
        }
        // One variable, or two in turn.
        kind @ 3..=5 => {
            let start = thread.here();
            let mut ways_out = Vec::new();
            for _ in 0..1 + kind % 2 {
                thread.load(seen, shared.variable(random), Access::ATOMIC);
                let goes_on = Expr::compare(Compare::NotEqual, thread.get(seen), value.clone());
                ways_out.push(thread.branch(goes_on));
                if kind == 5 {
                    thread.then(Action::Yield);
                }
            }
            thread.jump(start);
            let end = thread.location();
            for way in ways_out {
                thread.go_on_from(way);
                thread.jump(end);
            }
            thread.go_on_from(end);
        }
        // An exchange: what it writes may be what was there, and others may see it.
        6 => {
            let start = thread.here();
            let update = Update::Exchange;
            let wanted = int(random.below(3));
            thread.then(Action::Modify {
                old: Some(seen),
                on: place,
                update,
                value,
                order: MemoryOrder::SequentiallyConsistent,
            });
            let goes_on = Expr::compare(Compare::NotEqual, thread.get(seen), wanted);
            let way_out = thread.branch(goes_on);
            thread.jump(start);
            thread.go_on_from(way_out);
        }
        // A variable that is looked at again and again, each time with the lock.
        kind @ (7 | 8) => {
            let mutex = Place::object(shared.mutex);
            let start = thread.here();
            thread.then(Action::Lock { mutex: mutex.clone(), to: None });
            thread.load(seen, place, Access::ATOMIC);
            if kind == 8 {
                thread.load(seen, shared.variable(random), Access::ATOMIC);
            }
            thread.then(Action::Unlock { mutex, to: None });
            let goes_on = Expr::compare(Compare::NotEqual, thread.get(seen), value);
            let way_out = thread.branch(goes_on);
            thread.jump(start);
            thread.go_on_from(way_out);
        }
        // A change with the lock, or what an attempt to take it comes to.
        9 => {
            let mutex = Place::object(shared.mutex);
            thread.then(Action::Lock { mutex: mutex.clone(), to: None });
            thread.store(place, value, Access::ATOMIC);
            thread.then(Action::Unlock { mutex, to: None });
        }
        10 => {
            let mutex = Place::object(shared.mutex);
            thread.then(Action::TryLock { mutex: mutex.clone(), to: Some(done) });
            let failed = thread.branch(thread.get(done));
            thread.then(Action::Unlock { mutex, to: None });
            let end = thread.location();
            thread.jump(end);
            thread.go_on_from(failed);
            let update = Update::Add;
            thread.then(Action::Modify {
                old: None,
                on: place,
                update,
                value: int(1),
                order: MemoryOrder::SequentiallyConsistent,
            });
            thread.jump(end);
            thread.go_on_from(end);
        }
        // A value that is computed from what was read, and kept or not.
        12 => {
            let computed = thread.register("computed", INT);
            let start = thread.here();
            thread.load(seen, place, Access::ATOMIC);
            let sum = Expr::binary(Binary::Add, thread.get(seen), int(random.below(2)));
            thread.assign(computed, sum);
            let goes_on = Expr::compare(Compare::Less, thread.get(computed), value);
            let way_out = thread.branch(goes_on);
            thread.jump(start);
            thread.go_on_from(way_out);
            if random.below(2) == 0 {
                let place = shared.variable(random);
                thread.store(place, thread.get(computed), Access::ATOMIC);
            }
        }
        // A compare-and-swap that is tried again with what was found, or waits or yields before
        // that.
        kind @ 13..=15 => {
            thread.load(seen, place.clone(), Access::ATOMIC);
            let start = thread.here();
            if kind == 14 {
                let other = thread.register("other", INT);
                let again = thread.here();
                thread.load(other, shared.variable(random), Access::ATOMIC);
                let goes_on = Expr::compare(Compare::Greater, thread.get(other), int(1));
                let way_out = thread.branch(goes_on);
                thread.jump(again);
                thread.go_on_from(way_out);
            }
            let new = Expr::binary(Binary::Xor, thread.get(seen), int(1 + random.below(2)));
            thread.then(Action::CompareExchange {
                success: Some(done),
                old: Some(seen),
                on: place,
                expected: thread.get(seen),
                new,
                order: MemoryOrder::SequentiallyConsistent,
                failure: MemoryOrder::SequentiallyConsistent,
            });
            let way_out = thread.branch(thread.get(done).negated());
            if kind == 15 {
                thread.then(Action::Yield);
            }
            thread.jump(start);
            thread.go_on_from(way_out);
        }
        // The same as C has it: what is expected is in memory of the thread's own, and so is what it
        // had expected before, or a copy that is half as long.
        kind @ 16..=18 => {
            let own = thread.frame_object("expected", shared.own);
            let part = |number: i64| own.clone().element(int(number as u64), 4);
            thread.load(seen, place.clone(), Access::ATOMIC);
            thread.store(part(0), thread.get(seen), Access::Plain);
            let start = thread.here();
            let expected = thread.register("expected", INT);
            thread.load(expected, part(0), Access::Plain);
            let new = Expr::binary(Binary::Xor, thread.get(expected), int(1 + random.below(2)));
            match kind {
                16 => {}
                17 => thread.store(part(1), thread.get(expected), Access::Plain),
                // Each round adds to what the one before has left.
                _ => {
                    let sum = thread.register("sum", INT);
                    thread.load(sum, part(1), Access::Plain);
                    let more = Expr::binary(Binary::Or, thread.get(sum), thread.get(expected));
                    thread.store(part(1), more, Access::Plain);
                }
            }
            thread.then(Action::CompareExchange {
                success: Some(done),
                old: Some(seen),
                on: place,
                expected: thread.get(expected),
                new,
                order: MemoryOrder::SequentiallyConsistent,
                failure: MemoryOrder::SequentiallyConsistent,
            });
            let way_out = thread.branch(thread.get(done).negated());
            thread.store(part(0), thread.get(seen), Access::Plain);
            thread.jump(start);
            thread.go_on_from(way_out);
            if kind > 16 {
                thread.load(seen, part(1), Access::Plain);
                let place = shared.variable(random);
                thread.store(place, thread.get(seen), Access::ATOMIC);
            }
        }
        // A lock that is tried for, and given back or not.
        _ => {
            let mutex = Place::object(shared.mutex);
            let start = thread.here();
            thread.then(Action::TryLock { mutex: mutex.clone(), to: Some(done) });
            let way_out = thread.branch(thread.get(done).negated());
            thread.jump(start);
            thread.go_on_from(way_out);
            if random.below(3) > 0 {
                thread.then(Action::Unlock { mutex, to: None });
            }
        }
    }
}

fn program(seed: u64) -> (Program, Shared) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut program = Program::new("spins");
    let numbers = program.array(INT, 4);
    let mutex = program.sync(Sync::Mutex);
    let shared = Shared {
        variables: program.object("x", numbers),
        results: program.object("results", numbers),
        mutex: program.object("mutex", mutex),
        own: numbers,
    };
    for number in 0..2 + random.below(2) {
        let mut thread = RoutineBuilder::new("thread");
        for _ in 0..1 + random.below(3) {
            statement(&mut thread, &mut random, &shared);
        }
        let last = thread.register("last", INT);
        thread.load(last, shared.variable(&mut random), Access::ATOMIC);
        let result = Place::object(shared.results).element(int(number), 4);
        thread.store(result, thread.get(last), Access::Plain);
        let routine = program.add_routine(thread.finish());
        program.process(&format!("T{number}"), routine, Vec::new());
    }
    (program, shared)
}

/// What is in memory.
fn memory(vm: &Vm, shared: &Shared) -> Vec<u64> {
    let words = |object| (0..4).map(move |idx| vm.peek(object, idx * 4, INT));
    words(shared.variables).chain(words(shared.results)).collect()
}

fn all_ended(vm: &Vm) -> bool {
    (0..vm.n_threads()).all(|idx| vm.has_ended(ThreadId::new(idx)))
}

/// All states, by their fingerprints.
#[derive(Default)]
pub(crate) struct Graph {
    successors: BTreeMap<u128, Vec<u128>>,
    ends: BTreeSet<u128>,
    pub(crate) memory_at_ends: BTreeSet<Vec<u64>>,
}

/// Too many states to look at.
const MANY: usize = 400;

impl Graph {
    pub(crate) fn of(vm: Vm, shared: &Shared, max_states: usize) -> Option<Self> {
        let mut graph = Self::default();
        let mut to_visit = vec![vm];
        while let Some(vm) = to_visit.pop() {
            let here = vm.fingerprint().expect("a machine knows its state");
            if graph.successors.contains_key(&here) {
                continue;
            }
            if graph.successors.len() > max_states {
                return None;
            }
            if all_ended(&vm) {
                graph.ends.insert(here);
                graph.memory_at_ends.insert(memory(&vm, shared));
            }
            let mut successors = Vec::new();
            for thread in (0..vm.n_threads()).map(ThreadId::new) {
                if matches!(vm.next(thread), Next::Enabled { .. }) {
                    let mut next = vm.clone();
                    next.step(Decision::of(thread)).expect("nothing goes wrong");
                    successors.push(next.fingerprint().expect("as above"));
                    to_visit.push(next);
                }
            }
            graph.successors.insert(here, successors);
        }
        Some(graph)
    }

    /// Whether there is a state from which no way leads to the end of all threads.
    pub(crate) fn may_be_stuck(&self) -> bool {
        let mut can_end = self.ends.clone();
        loop {
            let leads_there =
                |(_, all): &(&u128, &Vec<u128>)| all.iter().any(|it| can_end.contains(it));
            let more: Vec<u128> =
                self.successors.iter().filter(leads_there).map(|it| *it.0).collect();
            let before = can_end.len();
            can_end.extend(more);
            if can_end.len() == before {
                return can_end.len() < self.successors.len();
            }
        }
    }
}

/// Whether some loop changes memory for ever, so that no thread is held there.
fn is_endless(vm: &Vm) -> bool {
    const LONG: usize = 200;
    let is_found = AtomicBool::new(false);
    let observe = |ended: Ended<'_, Vm>| {
        is_found.fetch_or(ended.schedule.decisions().len() >= LONG, Ordering::Relaxed);
    };
    let mut options = Options::new();
    options.max_depth = LONG;
    options.stop_at_first = false;
    options.fair = false;
    let explorer = Explorer::new(options).observe(&observe).stop_when(&is_found);
    explorer.run(|| vm.clone()).expect("the options are fine");
    is_found.into_inner()
}

/// What a search sees: memory where all have ended, and whether a thread was stuck.
pub(crate) fn explored(
    vm: &Vm,
    shared: &Shared,
    reduction: Reduction,
    sleep: bool,
) -> (BTreeSet<Vec<u64>>, bool) {
    let seen = Mutex::new((BTreeSet::new(), false));
    let observe = |ended: Ended<'_, Vm>| {
        let mut seen = seen.lock().expect("the lock is not poisoned");
        match all_ended(ended.system) {
            true => drop(seen.0.insert(memory(ended.system, shared))),
            false => seen.1 |= ended.violation.is_some(),
        }
    };
    let mut options = Options::new().reduction(reduction);
    options.sleep = sleep;
    options.stop_at_first = false;
    let explorer = Explorer::new(options).observe(&observe);
    explorer.run(|| vm.clone()).expect("the options are fine");
    seen.into_inner().expect("the lock is not poisoned")
}

#[test]
fn nothing_is_lost_where_threads_are_held() {
    let (mut n_stuck, mut n_free, mut n_ends) = (0, 0, 0);
    for seed in seeds(SEEDS) {
        let (program, shared) = program(seed);
        let vm = Vm::new(program, Races::Error).expect("it can be run");
        let Some(graph) = Graph::of(vm.clone(), &shared, MANY) else { continue };
        let held = vm.holding_spins();
        if is_endless(&held) {
            continue;
        }
        let is_stuck = graph.may_be_stuck();
        *(if is_stuck { &mut n_stuck } else { &mut n_free }) += 1;
        n_ends += graph.memory_at_ends.len();
        for reduction in Reduction::ALL {
            let sleeps: &[bool] =
                if reduction == Reduction::None { &[true] } else { &[true, false] };
            for &sleep in sleeps {
                let (ends, found) = explored(&held, &shared, reduction, sleep);
                assert_eq!(ends, graph.memory_at_ends, "seed {seed}, {reduction}, sleep {sleep}");
                assert_eq!(found, is_stuck, "seed {seed}, {reduction}, sleep {sleep}");
            }
        }
    }
    assert!(
        n_stuck > share(100) && n_free > share(100) && n_ends > share(300),
        "{n_stuck} {n_free} {n_ends}"
    );
}
