//! Random formulae on random models: every reduction, search and construction says what the full search
//! says, under every fairness.

use mazurka_core::fold::mix;
use mazurka_core::{Verdict, ViolationKind};
use mazurka_ltl::{negated, parts};
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Construction, CycleSearch, Cycles, Fairness, Machine, Options, Property, Reduction,
    search_cycles,
};

/// Larger products take too long here.
const MOST: usize = 6_000;

/// What may be said of a model, for all that a process can change.
const PROPOSITIONS: [&str; 12] = [
    "g == 1",
    "h == 0",
    "k < 2",
    "a[0] == 1",
    "a[1] != 0",
    "len(c) > 0",
    "nempty(d)",
    "c?[1]",
    "P0@L0",
    "P0:y == 1",
    "_nr_pr > 2",
    "P1:z != 0",
];

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = mix(self.0, 0x0bad_cafe);
        (self.0 >> 20) as usize % bound
    }
}

fn formula(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let text = PROPOSITIONS[random.below(PROPOSITIONS.len())];
        return if random.below(2) == 0 { format!("({text})") } else { format!("!({text})") };
    }
    let (left, right) = (formula(random, depth - 1), formula(random, depth - 1));
    match random.below(9) {
        0 => format!("([] {left})"),
        1 => format!("(<> {left})"),
        2 => format!("({left} U {right})"),
        3 => format!("({left} W {right})"),
        4 => format!("({left} && {right})"),
        5 => format!("({left} -> {right})"),
        6 => format!("([] <> {left})"),
        7 => format!("([] ({left} -> <> {right}))"),
        _ => format!("(<> [] {left})"),
    }
}

#[test]
fn every_search_says_what_the_full_one_says() {
    let (mut n_checked, mut n_violated, mut n_reduced) = (0, 0, 0);
    let mut n_fair = 0;
    for seed in 0..500 {
        let mut random = Random(mix(0x00fe_edfa, seed));
        let formula = formula(&mut random, 2);
        let text = format!("{}ltl f {{ {formula} }}\n", crate::generate::model(seed));
        let model = translate_text("random.pml", &text);
        let model = model.unwrap_or_else(|faults| panic!("seed {seed}: {faults}\n{text}"));
        let named = &model.formulas[0];
        let violated = negated(&named.formula, &named.atoms);
        let (automaton, stutters) = violated.expect("it is small");
        let parts = parts(&named.formula);
        let property = Property::new("f", &automaton, &stutters).parts(&parts);
        let machine = Machine::watching(&model.program, &named.propositions);
        let machine = machine.expect("the machine can run all of Promela");
        let search = |options: &Options| {
            let outcome = search_cycles(&machine, Cycles::Accepted(property), options);
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
    assert!(n_checked > 5_000, "{n_checked}");
    // A third of the searches have no reduction, and those that find a violation stop there.
    assert!(n_violated > 1000 && n_reduced > 500, "{n_violated} violated, {n_reduced} reduced");
    // Few of these models go on for ever, and only then fairness matters; `cycles.rs` has many that do.
    assert!(n_fair > 0, "{n_fair} hold by fairness alone");
}

/// A full search. What goes wrong in a step is left alone.
fn plain() -> Options {
    let mut options = Options::default();
    options.reduction = Reduction::None;
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
                all.push(options);
            }
        }
    }
    all
}
