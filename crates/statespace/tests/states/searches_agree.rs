//! Every order, storage, reduction and number of workers against a plain search, on random
//! programs.

use crate::kit::{Log, Random, Table, spins_inside};
use mazurka_core::Verdict;
use mazurka_effort::{seeds, share};
use mazurka_statespace::{
    Moves, Options, Order, Outcome, Reduction, Storage, Successor, Transitions, search,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a plain search of everything comes to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plain {
    /// The states, with how many stored states each is away from the initial one.
    states: BTreeMap<Vec<u8>, usize>,
    /// Moves to stored states.
    arrivals: usize,
    log: Log,
    n_wrong_ends: usize,
    /// The least number of stored states on the way to something wrong, itself included.
    nearest: Option<usize>,
}

/// Searches everything, level by level.
fn plain(table: &Table) -> Plain {
    let mut table = Table { log: Arc::default(), ..table.clone() };
    let mut found = Plain::default();
    let mut level = BTreeSet::new();
    let mut state = Vec::new();
    table.initial(&mut state);
    level.insert(state);
    let mut depth = 0;
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for state in &level {
            found.states.insert(state.clone(), depth);
        }
        for state in &level {
            let mut todo = vec![state.clone()];
            let mut transient = BTreeSet::new();
            while let Some(from) = todo.pop() {
                let mut moves = Moves::new();
                table.expand(&from, &mut moves);
                if moves.is_empty() && !table.is_valid_end(&from) {
                    found.n_wrong_ends += 1;
                    found.nearest = Some(found.nearest.map_or(depth, |it| it.min(depth)));
                }
                for idx in 0..moves.len() {
                    let made = moves[idx];
                    if let Some(fault) = made.fault {
                        table.violation(&from, made.step, fault);
                        found.nearest =
                            Some(found.nearest.map_or(depth + 1, |it| it.min(depth + 1)));
                    }
                    let to = moves.state(idx).to_vec();
                    match made.successor {
                        Successor::None => {}
                        Successor::Transient => {
                            if transient.insert(to.clone()) {
                                todo.push(to);
                            }
                        }
                        Successor::Stored => {
                            found.arrivals += 1;
                            if !found.states.contains_key(&to) {
                                next.insert(to);
                            }
                        }
                    }
                }
            }
        }
        level = next;
        depth += 1;
    }
    found.log = table.log.lock().expect("the lock is not poisoned").clone();
    found
}

/// All combinations that go together; bit tables are kept small.
fn combinations() -> Vec<Options> {
    let mut all = Vec::new();
    for order in Order::ALL {
        for reduction in Reduction::ALL {
            for storage in Storage::ALL {
                for jobs in [1, 3] {
                    let mut options = Options::default();
                    options.order = order;
                    options.reduction = reduction;
                    options.jobs = jobs;
                    options.storage = match storage {
                        Storage::Bitstate(_) => Storage::Bitstate(20),
                        other => other,
                    };
                    all.push(options);
                }
            }
        }
    }
    all
}

fn run(table: &Table, options: &Options) -> (Outcome, Log) {
    let table = Table { log: Arc::default(), ..table.clone() };
    let outcome = search(&table, options).expect("they go together");
    let log = table.log.lock().expect("the lock is not poisoned").clone();
    (outcome, log)
}

fn programs(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Table, Plain)> {
    let program = |seed| {
        let table = Table::random(&mut Random::new(seed));
        (!spins_inside(&table)).then(|| (seed, plain(&table), table))
    };
    seeds.filter_map(program).map(|(seed, found, table)| (seed, table, found))
}

/// A path that dies takes with it what others would have done after it, and with a reduction
/// they may not have done it before.
fn nobody_dies(table: &Table) -> bool {
    let mut edges = table.processes.iter().flatten().flat_map(|place| &place.edges);
    !edges.any(|edge| matches!(edge.act, crate::kit::Act::Die(..)))
}

#[test]
fn every_search_finds_what_there_is() {
    let (mut n_reduced, mut n_wrong, mut n_states) = (0, 0, 0);
    for (seed, table, full) in programs(seeds(0..3000)) {
        for mut options in combinations() {
            // Most combinations on some programs, the usual ones on all.
            let is_usual = options.storage == Storage::Tree && options.jobs == 1;
            if !is_usual && seed % 16 != 0 {
                continue;
            }
            options.all_violations = true;
            let (outcome, log) = run(&table, &options);
            options.all_violations = false;
            let (first, _) = run(&table, &options);
            let context = || format!("seed {seed}, {options:?}\n{table:#?}");
            let counted = outcome.statistics;
            let is_wrong = full.nearest.is_some();
            assert_eq!(matches!(outcome.verdict, Verdict::Violated(_)), is_wrong, "{}", context());
            assert_eq!(matches!(outcome.verdict, Verdict::Holds(_)), !is_wrong, "{}", context());
            if nobody_dies(&table) {
                assert_eq!(log, full.log, "{}", context());
            }
            // Two workers may both set a bit of a state.
            let may_count_twice =
                options.jobs > 1 && matches!(options.storage, Storage::Bitstate(_));
            if options.reduction == Reduction::None {
                assert!(counted.states >= full.states.len() as u64, "{}", context());
                let arrivals = counted.states + counted.states_matched - 1;
                assert!(arrivals >= full.arrivals as u64, "{}", context());
            }
            let is_at_most_all = counted.states <= full.states.len() as u64;
            assert!(is_at_most_all || may_count_twice, "{}", context());
            n_reduced += u64::from(counted.states < full.states.len() as u64);

            assert_eq!(first.verdict.name(), outcome.verdict.name(), "{}", context());
            n_wrong += u64::from(is_wrong);
            n_states += counted.states;
        }
    }
    // The programs are worth the while.
    assert!(n_reduced > share(1000), "{n_reduced} searches were reduced");
    assert!(n_wrong > share(1000), "{n_wrong} programs went wrong");
    assert!(n_states > share(100_000), "{n_states} states were stored");
}

#[test]
fn breadth_first_finds_a_nearest_violation() {
    let mut n_wrong = 0;
    for (seed, table, full) in programs(seeds(5000..6500)) {
        for jobs in [1, 2] {
            let mut options = Options::default();
            options.order = Order::BreadthFirst;
            options.reduction = Reduction::None;
            options.jobs = jobs;
            let (outcome, _) = run(&table, &options);
            let Verdict::Violated(found) = outcome.verdict else { continue };
            n_wrong += 1;
            let is_atomic = table.processes.iter().flatten().any(|place| place.atomic);
            if !is_atomic {
                assert_eq!(Some(found.story.len()), full.nearest, "seed {seed}, {table:#?}");
            }
        }
    }
    assert!(n_wrong > share(500), "{n_wrong}");
}

#[test]
fn shortening_makes_it_no_longer() {
    let (mut n_shorter, mut n_wrong) = (0, 0);
    for (seed, table, full) in programs(seeds(9000..10_000)) {
        let mut options = Options::default();
        let (long, _) = run(&table, &options);
        options.shorten = true;
        let (short, _) = run(&table, &options);
        let (Verdict::Violated(long), Verdict::Violated(short)) = (long.verdict, short.verdict)
        else {
            assert!(full.nearest.is_none(), "seed {seed}");
            continue;
        };
        n_wrong += 1;
        assert!(short.story.len() <= long.story.len(), "seed {seed}");
        assert!(short.story.len() >= full.nearest.unwrap(), "seed {seed}");
        n_shorter += usize::from(short.story.len() < long.story.len());
    }
    assert!(n_shorter > share(30) && n_wrong > share(200), "{n_shorter} of {n_wrong}");
}
