//! Every consistent graph is found, exactly once, on random programs.

use crate::oracle;
use crate::program::{Op, Program};
use crate::random::{Feature, crowd, program};
use crate::search::{options, search};
use mazurka_core::MemoryOrder;
use mazurka_explore::MemoryModel;
use std::collections::BTreeSet;

/// Partial graphs of a program, at the most: what has more is left out.
const LIMIT: usize = 4_000;

/// Compares the search with the enumeration; how many graphs there are, if not too many.
pub(crate) fn check(program: &Program, model: MemoryModel) -> Option<usize> {
    check_up_to(LIMIT, program, model)
}

fn check_up_to(limit: usize, program: &Program, model: MemoryModel) -> Option<usize> {
    let expected = oracle::ends(program, model, limit)?;
    let found = search(program, options(model));
    let all: BTreeSet<_> = found.graphs.iter().cloned().collect();
    let what = || format!("{model}: {}", program.script());
    assert_eq!(found.graphs.len(), all.len(), "twice: {}", what());
    let missed = expected.difference(&all).next();
    assert!(missed.is_none(), "missed, of {}: {}\n{missed:?}", expected.len(), what());
    let wrong = all.difference(&expected).next();
    assert!(wrong.is_none(), "wrong: {}\n{wrong:?}", what());
    assert_eq!(found.outcome.statistics.executions as usize, expected.len(), "{}", what());
    Some(expected.len())
}

fn check_all(feature: Feature, n_programs: u64, size: usize) {
    let (mut n_checked, mut n_graphs) = (0u64, 0);
    let seeds = mazurka_effort::seeds(0..n_programs);
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        for model in MemoryModel::ALL {
            if let Some(n) = check(&program(seed, feature, size), model) {
                n_checked += 1;
                n_graphs += n;
            }
        }
    }
    assert!(n_graphs as u64 > 2 * n_checked, "most have several: {n_graphs} of {feature:?}");
    assert!(n_checked * 10 >= n_seeds * 4 * 8, "most programs are small enough: {n_checked}");
}

#[test]
fn accesses_to_memory() {
    check_all(Feature::Memory, 10_000, 3);
}

#[test]
fn accesses_in_one_order() {
    check_all(Feature::Strong, 2_000, 3);
}

#[test]
fn mutexes() {
    check_all(Feature::Locks, 3_000, 3);
}

#[test]
fn semaphores() {
    check_all(Feature::Semaphores, 1_500, 3);
}

#[test]
fn condition_variables() {
    check_all(Feature::Condvars, 1_000, 2);
}

#[test]
fn futexes() {
    check_all(Feature::Futexes, 2_000, 3);
}

#[test]
fn condition_variables_with_timeouts() {
    check_all(Feature::TimedCondvars, 1_000, 2);
}

#[test]
fn futexes_with_timeouts() {
    check_all(Feature::TimedFutexes, 2_000, 3);
}

#[test]
fn reader_writer_locks() {
    check_all(Feature::RwLocks, 1_500, 2);
}

#[test]
fn barriers() {
    check_all(Feature::Barriers, 1_500, 3);
}

#[test]
fn threads() {
    check_all(Feature::Threads, 1_500, 3);
}

/// With four threads and more, a step that has been revisited makes revisits itself.
#[test]
fn crowds() {
    const FEATURES: [Feature; 9] = [
        Feature::Memory,
        Feature::Memory,
        Feature::Memory,
        Feature::Locks,
        Feature::Semaphores,
        Feature::Strong,
        Feature::Futexes,
        Feature::RwLocks,
        Feature::Barriers,
    ];
    let mut n_checked = 0;
    for seed in mazurka_effort::seeds(0..500) {
        let feature = FEATURES[seed as usize % FEATURES.len()];
        for model in MemoryModel::ALL {
            n_checked += u64::from(check_up_to(10_000, &crowd(seed, feature), model).is_some());
        }
    }
    assert!(n_checked > mazurka_effort::share(1_000), "most are small enough: {n_checked}");
}

/// One operation of each thread on one variable: as many graphs as there are orders, or fewer if
/// nothing reads the difference.
#[test]
fn exchanges_have_every_order() {
    let add = Op::Add(0, MemoryOrder::SequentiallyConsistent);
    let store = Op::Write(0, 1, MemoryOrder::SequentiallyConsistent);
    for n_threads in 2..=6 {
        for n_stores in 0..n_threads {
            let ops = (0..n_threads).map(|idx| if idx < n_stores { store } else { add });
            let threads = ops.map(|op| vec![op.into()]).collect();
            let program = Program { threads, strong: None };
            let orders: usize = (1..=n_threads).product();
            for model in MemoryModel::ALL {
                let found = search(&program, options(model));
                assert_eq!(found.graphs.len(), orders, "{model}: {}", program.script());
            }
        }
    }
}
