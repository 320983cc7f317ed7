//! States that are packed, and moves that are found by part, against the interpreter.
//!
//! What is remembered of a process is held against the machine by the program itself, state by
//! state, in a build with debug assertions, as this one is. Here it is about what comes out of it,
//! and that all ways through it are taken.

use crate::compiled::wrong_model;
use crate::generate::Random;
use crate::installed;
use crate::kit::{Random as Dice, formula};
use mazurka_effort::seeds;
use mazurka_promela::{self as promela, translate, translate_text};
use mazurka_statespace::{
    CycleSearch, Cycles, Fairness, Machine, Optimisations, Options, Outcome, Property, Reduction,
    Tier, search, search_cycles,
};

/// How many states of a model are looked at.
const STATES: usize = 5_000;

#[test]
fn installed_models_and_our_own() {
    let (mut n_models, mut n_packed) = (0, 0);
    for path in installed::models() {
        let Ok(model) = translate(&path, &promela::Options::default()) else { continue };
        let machine = Machine::new(&model.program).expect("the machine can run all of Promela");
        for machine in [machine.clone(), machine.trusting()] {
            let packed = compare(&machine);
            n_packed += packed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            n_models += 1;
        }
    }
    assert!(n_models > 160, "only {n_models} models are there");
    // Twice with, and four times without reduction, but for those with priorities, a trace, or too
    // many parts.
    assert!(2 * n_packed > 9 * n_models, "only {n_packed} of {n_models} models were packed");
}

#[test]
fn random_models() {
    let n_packed = compare_all(120, crate::generate::model);
    assert!(n_packed > 450, "only {n_packed}");
}

#[test]
fn random_models_that_go_wrong() {
    let n_packed = compare_all(120, |seed| wrong_model(&mut Random::new(seed)));
    assert!(n_packed > 450, "only {n_packed}");
}

/// A process that comes after it has run for a while, and values that could not be foreseen.
#[test]
fn bits_are_given_anew() {
    let text = "byte x, y; active proctype a() { do :: x < 100 -> x = x + 7 :: x > 3 -> x = x - 3 \
                :: y == 40 -> run b(x); break :: y < 40 -> y++ od } \
                proctype b(byte n) { int i = n * 1000; do :: i < n * 1000 + 50 -> i++ :: else -> break od }";
    assert_eq!(compare_text(text), Ok(6));
}

/// Twenty times eight bits are more than a word has.
#[test]
fn too_many_values_are_not_packed() {
    let text = "byte x[20], n; active proctype p() { byte i; do :: n < 255 -> d_step { n++; i = 0; \
                do :: i < 20 -> x[i] = n; i++ :: else -> break od } :: else -> break od; assert(x[n % 20] >= 0) }";
    assert_eq!(compare_text(text), Ok(0));
}

/// A sender asks the others, and what goes wrong there is told, whatever channel they wait
/// for.
#[test]
fn what_goes_wrong_beside_a_rendezvous_is_told() {
    let text = |waits: &str| {
        format!(
            "chan c = [0] of {{ byte }}; chan d = [0] of {{ byte }}; byte a[2], i = 5;
             active proctype s() {{ c!1 }} active proctype t() {{ c?_ }} active proctype r() {waits}"
        )
    };
    for waits in [
        "provided (a[i] == 0) { d?_ }",
        "{ d_step { a[i] == 0 -> d?_ } }",
        "{ d_step { d?_; a[i] = 0 } }",
        "{ do :: a[i] == 0 -> d?_ :: d?_ od unless { a[i] == 1 } }",
        "{ d?eval(a[i]) }",
    ] {
        assert_eq!(compare_text(&text(waits)), Ok(6), "{waits}");
    }
}

/// A process that comes again, with another channel of which it has promised something: what it may
/// come to do is not what the first one might have done.
#[test]
fn what_is_to_come_depends_on_the_channels_of_a_process() {
    let text = "chan a = [2] of { byte }; chan b = [2] of { byte }; byte r;
                proctype p(chan c) { xs c; do :: r < 3 -> r++ :: break od; c!1 }
                active proctype q() { b!2; assert(r < 5) }
                init { run p(a); (_nr_pr == 2) -> r = 0; run p(b) }";
    assert_eq!(compare_text(text), Ok(6));
}

/// Products with an automaton have the same nodes, and steps between them, whether states are
/// packed or compressed by a tree.
#[test]
fn temporal_properties() {
    let proposition = |random: &mut Dice| {
        let all = ["(g == 1)", "!(h == 0)", "(len(c) > 0)", "(P0@L1)", "!(P1@L1)", "(_nr_pr > 2)"];
        all[random.below(all.len())].to_owned()
    };
    let n_packed = seeds(0..60).map(|seed| {
        let formula = formula(&mut Dice::new(seed), 2, &proposition);
        let text = format!("{}ltl f {{ {formula} }}\n", crate::generate::model(seed));
        compare_cycles(&text)
    });
    let [n_packed, n_searches] =
        n_packed.fold([0; 2], |sum, more| [sum[0] + more[0], sum[1] + more[1]]);
    assert!(4 * n_packed > 3 * n_searches, "only {n_packed} of {n_searches} were packed");
}

/// Bits are given anew in the middle of a search for cycles, too.
#[test]
fn temporal_properties_with_values_that_nobody_could_foresee() {
    let text = |formula: &str| {
        format!(
            "byte x, y; active proctype a() {{ do :: x < 100 -> x = x + 7 :: x > 3 -> x = x - 3 \
             :: y == 40 -> run b(x); break :: y < 40 -> y++ od }} \
             proctype b(byte n) {{ int i = n * 1000; \
             do :: i < n * 1000 + 50 -> i++ :: else -> break od }} ltl f {{ {formula} }}"
        )
    };
    for formula in ["[]<>(y == 7) || []<>(x > 0) || <>[](x == 0)", "<>[](x > 90 && y < 50)"] {
        let [n_packed, n_searches] = compare_cycles(&text(formula));
        assert_eq!(n_packed, n_searches, "{formula}");
    }
}

/// Compares searches for cycles; returns how many had packed states, and how many there were.
fn compare_cycles(text: &str) -> [usize; 2] {
    let model = translate_text("cycles.pml", text).expect("it is a model");
    let named = &model.formulas[0];
    let property = Property::formula("f", &named.formula, &named.atoms).expect("it is small");
    let machine = Machine::watching(&model.program, &named.propositions);
    let machine = machine.expect("the machine can run all of Promela");
    let mut counts = [0; 2];
    for (reduction, fairness, cycle_search) in [
        (Reduction::None, Fairness::None, CycleSearch::Components),
        (Reduction::Stubborn, Fairness::None, CycleSearch::Nested),
        (Reduction::Stubborn, Fairness::Weak, CycleSearch::Components),
    ] {
        let mut options = Options::default();
        (options.reduction, options.fairness) = (reduction, fairness);
        (options.cycle_search, options.states) = (cycle_search, Some(STATES));
        let [packed, plain] = [Tier::Auto, Tier::Interpreted].map(|tier| {
            let machine = machine.clone().with_tier(tier);
            let outcome = search_cycles(&machine, Cycles::Accepted(&property), &options);
            outcome.expect("the options go together")
        });
        assert!(!plain.is_packed);
        assert_eq!(told(&packed), told(&plain), "{options:?}\n{text}");
        assert_eq!(packed.loop_start, plain.loop_start, "{options:?}\n{text}");
        counts = [counts[0] + usize::from(packed.is_packed), counts[1] + 1];
    }
    counts
}

/// One process that touches all there is: nothing that it does is ever the same.
#[test]
fn what_is_never_the_same_is_not_remembered() {
    let text = "int n; active proctype p() { do :: n < 60000 -> n++ :: n < 60000 -> n = n + 2 od }";
    let model = translate_text("never.pml", text).expect("it is a model");
    let machine = Machine::new(&model.program).expect("the machine runs it");
    let mut options = Options::default();
    (options.reduction, options.optimisations) = (Reduction::None, Optimisations::NONE);
    let [outcome, plain] = [Tier::Auto, Tier::Interpreted].map(|tier| {
        search(&machine.clone().with_tier(tier), &options).expect("the options go together")
    });
    assert!(!outcome.is_packed && outcome.statistics.states > 60_000);
    assert_eq!(told(&outcome), told(&plain));
}

/// Compares on the models of so many seeds; returns how many searches had packed states.
fn compare_all(n_seeds: u64, model: impl Fn(u64) -> String) -> usize {
    let compare = |seed| {
        let text = model(seed);
        compare_text(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
    };
    (0..n_seeds).map(compare).sum()
}

fn compare_text(text: &str) -> Result<usize, String> {
    let model = translate_text("model.pml", text).map_err(|errors| format!("{errors:?}"))?;
    let Ok(machine) = Machine::new(&model.program) else { return Ok(0) };
    compare(&machine)
}

/// Compares without reduction and with it, by one worker and by two; returns how many searches had
/// packed states.
fn compare(machine: &Machine) -> Result<usize, String> {
    let mut n_packed = 0;
    for (reduction, optimisations) in [
        (Reduction::None, Optimisations::NONE),
        (Reduction::None, Optimisations::default()),
        (Reduction::Stubborn, Optimisations::default()),
    ] {
        for jobs in [1, 2] {
            let mut options = Options::default();
            (options.reduction, options.jobs) = (reduction, jobs);
            options.optimisations = optimisations;
            options.states = Some(STATES);
            options.all_violations = true;
            let by_parts = search(machine, &options).expect("the options go together");
            n_packed += usize::from(by_parts.is_packed);
            // Two workers reduce as they come along, and stop at a limit when they see it.
            let is_whole = by_parts.statistics.states < STATES as u64 / 2;
            if is_whole && (jobs == 1 || reduction == Reduction::None) {
                let machine = machine.clone().with_tier(Tier::Interpreted);
                let plain = search(&machine, &options).expect("the options go together");
                assert!(!plain.is_packed);
                if told(&plain) != told(&by_parts) {
                    return Err(format!("{reduction:?}: {plain:?}\nis not\n{by_parts:?}"));
                }
            }
        }
    }
    Ok(n_packed)
}

/// What a search came to, without what it took, and by which of many ways something that is wrong
/// was reached.
fn told(outcome: &Outcome) -> (&'static str, [u64; 5], usize) {
    let counted = &outcome.statistics;
    let counts = [
        counted.states,
        counted.states_matched,
        counted.transitions,
        counted.executions,
        outcome.violations,
    ];
    (outcome.verdict.name(), counts, outcome.unreached.len())
}
