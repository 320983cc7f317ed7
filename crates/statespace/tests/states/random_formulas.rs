//! Random formulae on random models: every reduction, search and construction says what the full
//! search says, under every fairness.

use crate::kit::{Random, formula};
use mazurka_core::{Verdict, ViolationKind};
use mazurka_effort::{is_full, seeds, share};
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Construction, CycleSearch, Cycles, Fairness, Machine, Optimisations, Options, Property,
    Reduction, Tier, search_cycles,
};

/// Larger products take too long here.
const MOST: usize = 6_000;

/// What may be said of a model, for all that a process can change.
const PROPOSITIONS: [&str; 14] = [
    "g == 1",
    "h == 0",
    "k < 2",
    "a[0] == 1",
    "a[1] != 0",
    "len(c) > 0",
    "nempty(d)",
    "c?[1]",
    "P0@L0",
    "P0@L1",
    "P1@L1",
    "P0:y == 1",
    "_nr_pr > 2",
    "P1:z != 0",
];

pub(crate) fn proposition(random: &mut Random) -> String {
    let text = PROPOSITIONS[random.below(PROPOSITIONS.len())];
    if random.one_in(2) { format!("({text})") } else { format!("!({text})") }
}

#[test]
fn every_search_says_what_the_full_one_says() {
    let (mut n_checked, mut n_violated, mut n_reduced) = (0, 0, 0);
    let mut n_fair = 0;
    for seed in seeds(0..500) {
        let formula = formula(&mut Random::new(seed), 2, &proposition);
        let text = format!("{}ltl f {{ {formula} }}\n", crate::generate::model(seed));
        let model = translate_text("random.pml", &text);
        let model = model.unwrap_or_else(|faults| panic!("seed {seed}: {faults}\n{text}"));
        let named = &model.formulas[0];
        let property = Property::formula("f", &named.formula, &named.atoms);
        let property = property.expect("it is small");
        let machine = Machine::watching(&model.program, &named.propositions);
        let machine = machine.expect("the machine can run all of Promela");
        let search = |options: &Options| {
            let outcome = search_cycles(&machine, Cycles::Accepted(&property), options);
            let outcome = outcome.expect("the options go together");
            let is_violated = match outcome.verdict {
                Verdict::Violated(_) => Some(true),
                Verdict::Holds(_) => Some(false),
                _ => None,
            };
            (is_violated, outcome.statistics.states)
        };
        let mut verdicts = Vec::new();
        for fairness in Fairness::ALL {
            let mut options = plain();
            options.fairness = fairness;
            let (Some(full), n_full) = search(&options) else { break };
            verdicts.push(full);
            for options in others(fairness) {
                let (verdict, n_states) = search(&options);
                assert_eq!(verdict, Some(full), "seed {seed}, {formula}\n{options:?}\n{text}");
                n_checked += 1;
                n_violated += usize::from(full);
                n_reduced += usize::from(!full && n_states < n_full);
            }
        }
        n_fair += usize::from(verdicts.first() == Some(&true) && verdicts.contains(&false));
    }
    // Some models are too large here, and break off before all of their 24 searches are made.
    assert!(n_checked > share(5_000), "{n_checked}");
    // A third of the searches have no reduction, and those that find a violation stop there.
    assert!(
        n_violated > share(1000) && n_reduced > share(500),
        "{n_violated} violated, {n_reduced} reduced"
    );
    // Few of these models go on for ever, and only then fairness matters; `cycles.rs` has many that
    // do.
    assert!(n_fair > 0 || !is_full(), "{n_fair} hold by fairness alone");
}

/// The shortest lasso is looked for on packed states, and on bytes where they cannot be packed.
#[test]
fn the_shortest_lasso_is_as_long_on_packed_states() {
    let mut n_compared = 0;
    for seed in seeds(0..600) {
        let formula = formula(&mut Random::new(90_000 + seed), 2, &proposition);
        let text = format!("{}ltl f {{ {formula} }}\n", crate::generate::model(seed));
        // A sequence is one step, and several that are told.
        if text.contains("atomic") || text.contains("d_step") {
            continue;
        }
        let model = translate_text("random.pml", &text);
        let model = model.unwrap_or_else(|faults| panic!("seed {seed}: {faults}\n{text}"));
        let named = &model.formulas[0];
        let property = Property::formula("f", &named.formula, &named.atoms);
        let property = property.expect("it is small");
        let machine = Machine::watching(&model.program, &named.propositions);
        let machine = machine.expect("the machine can run all of Promela");
        for fairness in [Fairness::None, Fairness::Weak] {
            let mut options = plain();
            options.fairness = fairness;
            let length = |machine: Machine| {
                let outcome = search_cycles(&machine, Cycles::Accepted(&property), &options);
                let outcome = outcome.expect("the options go together");
                match outcome.verdict {
                    // Where it stops for ever, that is a step, too.
                    Verdict::Violated(found) => {
                        Some(found.schedule.len() + usize::from(outcome.loop_start.is_none()))
                    }
                    _ => None,
                }
            };
            let packed = length(machine.clone());
            let bytes = length(machine.clone().with_tier(Tier::Interpreted));
            assert_eq!(packed, bytes, "seed {seed}, {fairness:?}, {formula}\n{text}");
            n_compared += usize::from(packed.is_some());
        }
    }
    assert!(n_compared > share(50), "{n_compared} were compared");
}

/// A lasso that is found after some hundreds of nodes says how far the search has to go.
#[test]
fn a_long_loop_is_given_up_for_a_short_one() {
    let text = "byte x, y, z;
        active proctype P() { do :: y = (y + 1) % 16 od }
        active proctype Q() { do :: z = (z + 1) % 18 od }
        active proctype R() { do :: x++ od }
        ltl f { <> (x == 200 && y == 7 && z == 7) }";
    let model = translate_text("loops.pml", text).expect("it is a model");
    let named = &model.formulas[0];
    let property = Property::formula("f", &named.formula, &named.atoms).expect("it is small");
    let machine = Machine::watching(&model.program, &named.propositions).expect("it runs");
    for tier in [Tier::Auto, Tier::Interpreted] {
        let machine = machine.clone().with_tier(tier);
        let outcome = search_cycles(&machine, Cycles::Accepted(&property), &plain());
        let outcome = outcome.expect("the options go together");
        assert!(matches!(outcome.verdict, Verdict::Violated(_)), "{:?}", outcome.verdict);
        let says = outcome.notes.iter().find(|note| note.starts_with("shortest: "));
        let expected = "shortest: 0 steps to the loop and 16 steps around it; none that goes on \
                        has fewer";
        assert_eq!(says.map(String::as_str), Some(expected), "{tier:?}");
    }
}

/// A full search. What goes wrong in a step is left alone.
fn plain() -> Options {
    let mut options = Options::default();
    (options.reduction, options.optimisations) = (Reduction::None, Optimisations::NONE);
    options.states = Some(MOST);
    options.ignored = vec![
        ViolationKind::Assertion,
        ViolationKind::Memory,
        ViolationKind::Overflow,
        ViolationKind::InvalidEnd,
    ];
    options
}

/// All other ways to search.
fn others(fairness: Fairness) -> Vec<Options> {
    let mut all = Vec::new();
    for cycle_search in CycleSearch::ALL {
        if cycle_search == CycleSearch::Nested && fairness != Fairness::None {
            continue;
        }
        for construction in Construction::ALL {
            for reduction in Reduction::ALL {
                let mut options = plain();
                options.states = None;
                options.fairness = fairness;
                options.cycle_search = cycle_search;
                options.construction = construction;
                options.reduction = reduction;
                options.optimisations = Optimisations::default();
                options.all_steps = cycle_search == CycleSearch::Nested;
                all.push(options);
            }
        }
    }
    all
}
