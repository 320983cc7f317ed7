//! Renaming threads changes no count: no reduction prefers a program to its mirror image.

use crate::support::programs::{fib, lastzero};
use crate::support::{explore, for_random_programs, script};
use mazurka_core::System;
use mazurka_effort::{seeds, share};
use mazurka_explore::{Options, Reduction};
use mazurka_script::{Script, Shape};

/// Traces and terminal states that each dynamic reduction finds, and executions of `optimal`.
fn counts(script: &Script) -> [usize; 7] {
    let (optimal, outcome) = explore(script, Options::new());
    let (source, _) = explore(script, Options::new().reduction(Reduction::Source));
    let (dpor, _) = explore(script, Options::new().reduction(Reduction::Dpor));
    [
        outcome.statistics.executions as usize,
        optimal.traces.len(),
        source.traces.len(),
        dpor.traces.len(),
        optimal.terminal_states().len(),
        source.terminal_states().len(),
        dpor.terminal_states().len(),
    ]
}

/// All permutations of up to three, and of more the reversal, a rotation and a swap.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let identity: Vec<usize> = (0..n).collect();
    if n <= 3 {
        return all_permutations(&identity);
    }
    let reversed = identity.iter().rev().copied().collect();
    let rotated = identity.iter().map(|idx| (idx + 1) % n).collect();
    let mut swapped = identity;
    swapped.swap(0, 2);
    vec![reversed, rotated, swapped]
}

fn all_permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((&last, rest)) = items.split_last() else { return vec![Vec::new()] };
    let insert = |shorter: Vec<usize>| {
        (0..=shorter.len()).map(move |at| {
            let mut longer = shorter.clone();
            longer.insert(at, last);
            longer
        })
    };
    all_permutations(rest).into_iter().flat_map(insert).collect()
}

fn check(script: &Script) -> Option<String> {
    let before = counts(script);
    permutations(script.n_threads()).into_iter().find_map(|permutation| {
        let renamed = script.rename_threads(&permutation);
        let after = counts(&renamed);
        (after != before)
            .then(|| format!("{before:?} became {after:?} as {permutation:?}: {renamed}"))
    })
}

fn check_shape(shape: &Shape) {
    let n = for_random_programs(shape, seeds(0..600), 600, |script, _| check(script));
    assert!(n > share(200), "only {n} programs were small enough");
}

#[test]
fn on_variables() {
    check_shape(&Shape::variables());
}

#[test]
fn on_locks() {
    check_shape(&Shape::locks());
}

#[test]
fn on_everything() {
    check_shape(&Shape::everything());
}

#[test]
fn on_larger_programs() {
    let philosophers = script(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(2); rel(2); rel(1) \
         | acq(2); acq(3); rel(3); rel(2) | acq(3); acq(0); rel(0); rel(3)",
    );
    for program in [lastzero(5), fib(3), philosophers] {
        assert_eq!(check(&program), None);
    }
}
