//! The models that are installed with SPIN, and our own: every order, storage and number of workers
//! counts the same states, and a reduction changes no verdict.

use crate::installed;
use mazurka_core::Verdict;
use mazurka_promela::translate;
use mazurka_statespace::{
    Machine, Optimisations, Options, Order, Outcome, Reduction, Storage, search,
};

/// Larger ones take too long here.
const MOST: usize = 20_000;

fn run(machine: &Machine, set: impl Fn(&mut Options)) -> Outcome {
    let mut options = Options::default();
    options.all_violations = true;
    options.states = Some(MOST);
    set(&mut options);
    search(machine, &options).expect("the options go together")
}

#[test]
fn searches_agree_on_models() {
    let (mut n_models, mut n_reduced, mut n_wrong, mut n_optimised) = (0, 0, 0, 0);
    let (mut n_left, mut n_left_alone) = (0, 0);
    for path in installed::models() {
        let Ok(model) = translate(&path, &mazurka_promela::Options::default()) else { continue };
        let machine = Machine::new(&model.program).expect("the machine runs all of Promela");
        let full = run(&machine, |options| options.reduction = Reduction::None);
        let plain = run(&machine, |options| {
            (options.reduction, options.optimisations) = (Reduction::None, Optimisations::NONE);
        });
        if !matches!(plain.verdict, Verdict::Inconclusive(_)) {
            assert_eq!(plain.verdict.name(), full.verdict.name(), "{}", path.display());
            assert!(full.statistics.states <= plain.statistics.states, "{}", path.display());
            n_optimised += usize::from(full.statistics.states < plain.statistics.states);
        }
        if matches!(full.verdict, Verdict::Inconclusive(_)) || full.statistics.states > MOST as u64
        {
            continue;
        }
        n_models += 1;
        n_wrong += usize::from(full.violations > 0);
        let counts = |outcome: &Outcome| {
            let counted = outcome.statistics;
            (counted.states, counted.states_matched, outcome.violations)
        };
        let alone = run(&machine, |options| options.reduction = Reduction::Stubborn);
        for (order, storage, jobs) in [
            (Order::DepthFirst, Storage::Exact, 1),
            (Order::BreadthFirst, Storage::Tree, 1),
            (Order::DepthFirst, Storage::Tree, 2),
            (Order::BreadthFirst, Storage::Compact, 2),
        ] {
            let set = |options: &mut Options, reduction| {
                options.reduction = reduction;
                (options.order, options.storage, options.jobs) = (order, storage, jobs);
            };
            let other = run(&machine, |options| set(options, Reduction::None));
            assert_eq!(counts(&other), counts(&full), "{}", path.display());
            let reduced = run(&machine, |options| set(options, Reduction::Stubborn));
            assert_eq!(reduced.verdict.name(), full.verdict.name(), "{}", path.display());
            assert!(reduced.statistics.states <= full.statistics.states, "{}", path.display());
            n_reduced += usize::from(reduced.statistics.states < full.statistics.states);
            // Where it is known which state is which, any order leaves about as many.
            if storage.is_exact() {
                n_left += reduced.statistics.states;
                n_left_alone += alone.statistics.states;
            }
        }
    }
    assert!(n_models > 60 && n_reduced > 40 && n_wrong > 10, "{n_models} {n_reduced} {n_wrong}");
    assert!(n_optimised > 30, "{n_optimised}");
    assert!(
        5 * n_left <= 6 * n_left_alone,
        "{n_left} states are left, {n_left_alone} by one worker"
    );
}
