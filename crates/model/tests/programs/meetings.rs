//! Arrivals at barriers that commute: against all states of random programs, every way to end and
//! every deadlock is found; where arrivals do not commute, that is noticed.

use crate::random::Random;
use crate::spins::{Graph, Shared, explored, int};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_model::{
    Access, Action, Init, InitValue, MemoryOrder, ObjectIdx, Place, Program, Races, RoutineBuilder,
    Sync, Type, Update, Vm,
};
use std::sync::atomic::Ordering;

const INT: Type = Type::I32;

/// The reductions that know them.
const REDUCTIONS: [Reduction; 5] =
    [Reduction::None, Reduction::Dpor, Reduction::Source, Reduction::Optimal, Reduction::Monotonic];

fn barrier(program: &mut Program, name: &str, parties: u64) -> ObjectIdx {
    let layout = program.sync(Sync::Barrier);
    let object = program.object(name, layout);
    let value = InitValue::Bits(Type::U32, parties);
    program.objects[object.0 as usize].init.push(Init { offset: 0, value });
    object
}

/// What threads do between their waits.
fn access(thread: &mut RoutineBuilder, random: &mut Random, shared: &Shared) {
    let place = shared.variable(random);
    let seen = thread.register("seen", INT);
    match random.below(3) {
        0 => thread.store(place, int(1 + random.below(2)), Access::ATOMIC),
        1 => {
            thread.load(seen, place, Access::ATOMIC);
            let to = shared.variable(random);
            thread.store(to, thread.get(seen), Access::ATOMIC);
        }
        _ => thread.then(Action::Modify {
            old: Some(seen),
            on: place,
            update: Update::Add,
            value: int(1),
            order: MemoryOrder::SequentiallyConsistent,
        }),
    }
}

/// A wait, seldom with a look at who was the last.
fn wait(
    thread: &mut RoutineBuilder,
    random: &mut Random,
    shared: &Shared,
    barrier: ObjectIdx,
    looks: bool,
) {
    let is_last = thread.register("is_last", Type::BOOL);
    thread.then(Action::BarrierWait(Place::object(barrier), Some(is_last)));
    if looks {
        let place = shared.variable(random);
        thread.store(place, thread.get(is_last).convert(INT), Access::ATOMIC);
    } else if random.below(2) == 0 {
        // What is computed from it is dead, too.
        let copy = thread.register("copy", INT);
        thread.assign(copy, thread.get(is_last).convert(INT));
    }
}

fn program(seed: u64) -> (Program, Shared) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut program = Program::new("meetings");
    let numbers = program.array(INT, 4);
    let mutex = program.sync(Sync::Mutex);
    let shared = Shared {
        variables: program.object("x", numbers),
        results: program.object("results", numbers),
        mutex: program.object("mutex", mutex),
        own: numbers,
    };
    let n_threads = 2 + random.below(2);
    let parties = if random.below(4) > 0 { n_threads } else { 2 };
    let barriers: Vec<ObjectIdx> =
        (0..1 + random.below(3) / 2).map(|_| barrier(&mut program, "barrier", parties)).collect();
    let looks = random.below(8) == 0;
    // Most often, all threads come to the same barriers.
    let n_rounds = 1 + random.below(2);
    let rounds: Vec<usize> =
        (0..n_rounds).map(|_| random.below(barriers.len() as u64) as usize).collect();
    for number in 0..n_threads {
        let mut thread = RoutineBuilder::new("thread");
        for &round in &rounds {
            if random.below(2) == 0 {
                access(&mut thread, &mut random, &shared);
            }
            if random.below(16) > 0 {
                wait(&mut thread, &mut random, &shared, barriers[round], looks);
            }
        }
        if random.below(2) == 0 {
            access(&mut thread, &mut random, &shared);
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

#[test]
fn nothing_is_lost_where_arrivals_commute() {
    let (mut n_stuck, mut n_free, mut n_ordered, mut n_alike) = (0, 0, 0, 0);
    for seed in seeds(0..500) {
        let (program, shared) = program(seed);
        let vm = Vm::new(program, Races::Error).expect("it can be run");
        let Some(graph) = Graph::of(vm.clone(), &shared, 4_000) else { continue };
        let is_stuck = graph.may_be_stuck();
        for reduction in REDUCTIONS {
            let vm = vm.clone().holding_spins().commuting_arrivals();
            let sleeps: &[bool] =
                if reduction == Reduction::None { &[true] } else { &[true, false] };
            for &sleep in sleeps {
                let mut found = explored(&vm, &shared, reduction, sleep);
                let flag = vm.arrivals_must_be_ordered();
                if flag.is_some_and(|it| it.load(Ordering::Relaxed)) {
                    n_ordered += usize::from(reduction == Reduction::Optimal);
                    found = explored(&vm.clone().ordering_arrivals(), &shared, reduction, sleep);
                } else if flag.is_some() && reduction == Reduction::Optimal {
                    n_alike += 1;
                    *(if is_stuck { &mut n_stuck } else { &mut n_free }) += 1;
                }
                let expected = (graph.memory_at_ends.clone(), is_stuck);
                assert_eq!(found, expected, "seed {seed}, {reduction}, sleep {sleep}");
            }
        }
    }
    let counts = [n_stuck, n_free, n_ordered, n_alike];
    assert!(counts.into_iter().all(|n| n > share(30)), "{counts:?}");
}

/// Threads that wait at a barrier so many times, and how many executions that has.
fn rounds(n_threads: u64, parties: u64, n_rounds: u64, looks: bool) -> u64 {
    let mut program = Program::new("rounds");
    let number = program.scalar(INT);
    let seen = program.object("seen", number);
    let barrier = barrier(&mut program, "barrier", parties);
    for number in 0..n_threads {
        let mut thread = RoutineBuilder::new("thread");
        for _ in 0..n_rounds {
            let is_last = thread.register("last", Type::BOOL);
            thread.then(Action::BarrierWait(Place::object(barrier), Some(is_last)));
            if looks {
                let way_out = thread.branch(thread.get(is_last));
                thread.store(Place::object(seen), int(1), Access::Plain);
                let end = thread.location();
                thread.jump(end);
                thread.go_on_from(way_out);
                thread.jump(end);
                thread.go_on_from(end);
            }
        }
        let routine = program.add_routine(thread.finish());
        program.process(&format!("T{number}"), routine, Vec::new());
    }
    let mut vm = Vm::new(program, Races::Error).expect("it can be run").commuting_arrivals();
    let explore = |vm: &Vm| {
        let outcome = Explorer::new(Options::new()).run(|| vm.clone());
        outcome.expect("the options are fine").statistics.executions
    };
    let n_executions = explore(&vm);
    match vm.arrivals_must_be_ordered().is_some_and(|it| it.load(Ordering::Relaxed)) {
        true => {
            vm = vm.ordering_arrivals();
            explore(&vm)
        }
        false => n_executions,
    }
}

#[test]
fn rounds_of_all_threads_are_one_execution() {
    assert_eq!(rounds(4, 4, 2, false), 1);
    assert_eq!(rounds(5, 5, 4, false), 1);
    // Two that meet twice, in each order.
    assert_eq!(rounds(2, 2, 2, true), 4);
    // Of four, any two make a round, and then who of a pair is last.
    assert_eq!(rounds(4, 2, 1, false), 24);
}
