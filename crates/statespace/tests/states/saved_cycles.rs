//! Searches for infinite executions that are stopped again and again, saved, and go on, against
//! those that are not stopped: the same totals, the same verdict, the same counterexample.

use crate::generate::{self, Random};
use crate::kit;
use crate::random_formulas::proposition;
use mazurka_core::{Limit, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Construction, CycleSearch, Cycles, Fairness, Machine, Optimisations, Options, Outcome,
    Property, Reduction, SavedError, Saving, SearchError, Tier, search_cycles,
    search_cycles_saving,
};
use std::path::Path;
use std::time::Duration;

/// A model and what is asked of it.
struct Asked {
    text: String,
    machine: Machine,
    property: Option<Property>,
}

impl Asked {
    /// About a formula or, without one, about progress.
    fn new(text: &str, formula: Option<&str>) -> Self {
        let text = match formula {
            Some(formula) => format!("{text}ltl f {{ {formula} }}\n"),
            None => text.to_owned(),
        };
        let model = translate_text("model.pml", &text);
        let model = model.unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        let (property, propositions) = match model.formulas.first() {
            Some(named) => {
                let property = Property::formula("f", &named.formula, &named.atoms);
                (Some(property.expect("it is small")), &named.propositions[..])
            }
            None => (None, &[][..]),
        };
        let machine = Machine::watching(&model.program, propositions);
        let machine = machine.expect("the machine can run all of Promela");
        Self { text, machine, property }
    }

    fn cycles(&self) -> Cycles<'_> {
        self.property.as_ref().map_or(Cycles::NonProgress, Cycles::Accepted)
    }

    fn whole(&self, options: &Options) -> Outcome {
        search_cycles(&self.machine, self.cycles(), options).expect("they go together")
    }

    fn saving(&self, options: &Options, saving: &Saving) -> Result<Outcome, SearchError> {
        search_cycles_saving(&self.machine, self.cycles(), options, saving)
    }

    /// Stops a search as soon as it can be stopped, and goes on, until it comes to its end. How
    /// often it was stopped.
    fn in_slices(&self, options: &Options, folder: &Path) -> (Outcome, u64) {
        let file = folder.join("slices.mzk");
        let mut slice = options.clone();
        slice.time = Some(Duration::ZERO);
        let mut n_stops = 0;
        loop {
            let mut saving = Saving::default();
            saving.path = Some(file.clone());
            saving.resume = (n_stops > 0).then(|| file.clone());
            let outcome = self.saving(&slice, &saving).expect("it goes on");
            if !outcome.is_saved {
                let is_stopped = matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_)));
                assert!(!is_stopped, "it is stopped and not saved: {options:?}\n{}", self.text);
                return (outcome, n_stops);
            }
            n_stops += 1;
            assert!(n_stops < 100_000, "it does not come to an end");
        }
    }

    /// Searches in slices, and with pauses, as without. How often it was stopped.
    fn agrees(&self, options: &Options, folder: &Path) -> u64 {
        let whole = self.whole(options);
        let (sliced, n_stops) = self.in_slices(options, folder);
        // There is no time to look for a shorter counterexample.
        assert_eq!(counted(&sliced), counted(&whole), "{options:?}\n{}", self.text);
        let file = folder.join("pauses.mzk");
        let mut saving = Saving::default();
        (saving.path, saving.every) = (Some(file.clone()), Some(Duration::ZERO));
        let paused = self.saving(options, &saving).expect("it is written");
        assert_eq!(told(&paused), told(&whole), "{options:?}\n{}", self.text);
        if file.exists() {
            // What was written last goes on from there.
            let mut saving = Saving::default();
            saving.resume = Some(file.clone());
            let resumed = self.saving(options, &saving).expect("it is whole");
            assert_eq!(told(&resumed), told(&whole), "{options:?}\n{}", self.text);
            std::fs::remove_file(&file).expect("it is there");
        }
        n_stops
    }
}

/// All that is the same if a search has all the time it needs.
fn told(outcome: &Outcome) -> String {
    let Outcome { verdict, loop_start, notes, .. } = outcome;
    format!("{verdict:?}\n{}\n{loop_start:?} {notes:?}", counted(outcome))
}

/// All that is the same for every search.
fn counted(outcome: &Outcome) -> String {
    let Outcome { verdict, statistics, violations, is_packed, .. } = outcome;
    let violation = match verdict {
        Verdict::Violated(found) => Some(&found.violation),
        _ => None,
    };
    format!("{} {violation:?} {statistics:?} {violations} {is_packed}", verdict.name())
}

fn random_options(random: &mut Random) -> Options {
    let mut options = Options::default();
    options.cycle_search = random.pick(&CycleSearch::ALL);
    options.fairness = match random.one_in(2) {
        true => Fairness::None,
        false => random.pick(&Fairness::ALL),
    };
    options.reduction = random.pick(&Reduction::ALL);
    if random.one_in(3) {
        options.optimisations = Optimisations::NONE;
    }
    options.all_steps = random.one_in(2);
    options
}

#[test]
fn random_formulae_on_random_models() {
    let folder = tempfile::tempdir().expect("there is room");
    let (mut n_stops, mut n_violated, mut n_held) = (0, 0, 0);
    for seed in seeds(0..60) {
        let mut random = Random::new(40_000 + seed);
        let formula = kit::formula(&mut kit::Random::new(40_000 + seed), 2, &proposition);
        let formula = (!random.one_in(5)).then_some(&*formula);
        let mut asked = Asked::new(&generate::model(seed), formula);
        if random.one_in(3) {
            asked.machine = asked.machine.with_tier(Tier::Interpreted);
        }
        let options = random_options(&mut random);
        let mut small = options.clone();
        small.states = Some(3_000);
        match asked.whole(&small).verdict {
            Verdict::Holds(_) => n_held += 1,
            Verdict::Violated(_) => n_violated += 1,
            _ => continue,
        }
        n_stops += asked.agrees(&options, folder.path());
    }
    assert!(n_violated > share(10) && n_held > share(5), "{n_violated} and {n_held}");
    // Most of these are small: the next test has many stops.
    assert!(n_stops >= share(2), "only {n_stops} stops");
}

const COUNTERS: &str = "byte x, y, z; \
    active proctype a() { do :: x < 4 -> x++ :: x > 2 -> x = x - 2 :: x == 4 -> x = 0 od } \
    active proctype b() { do :: y < 4 -> y++ :: y == 4 -> y = 0 od } \
    active proctype c() { do :: z < 4 -> z++ :: z > 2 -> z = z - 3 od }\n";

/// One property that cycles violate, one that a prefix does, and some that hold, in every way.
#[test]
fn every_search_and_fairness() {
    let folder = tempfile::tempdir().expect("there is room");
    for formula in ["[] (x < 9)", "[] (y < 4)", "[] <> (y == 4)", "[] (x <= 4 || <> (z == 9))"] {
        let asked = Asked::new(COUNTERS, Some(formula));
        for cycle_search in CycleSearch::ALL {
            for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
                let mut options = Options::default();
                (options.cycle_search, options.fairness) = (cycle_search, fairness);
                options.reduction = Reduction::None;
                let n_stops = asked.agrees(&options, folder.path());
                let is_long = matches!(asked.whole(&options).verdict, Verdict::Holds(_));
                assert!(n_stops > 5 || !is_long, "{n_stops} stops: {formula}, {options:?}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("search.mzk");
    let [asked, other] = ["[] (x < 9)", "[] (x < 8)"].map(|it| Asked::new(COUNTERS, Some(it)));
    let mut options = Options::default();
    options.time = Some(Duration::ZERO);
    let mut saving = Saving::default();
    (saving.path, saving.log) = (Some(file.clone()), b"before".to_vec());
    assert!(asked.saving(&options, &saving).expect("it is written").is_saved);
    assert_eq!(mazurka_statespace::saved_log(&file).expect("it is whole"), b"before");
    let mut saving = Saving::default();
    saving.resume = Some(file);
    let refused = |asked: &Asked, options: &Options| match asked.saving(options, &saving) {
        Err(SearchError::Saved(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&other, &options), SavedError::OtherProgram);
    let mut fair = options.clone();
    fair.fairness = Fairness::Weak;
    assert!(matches!(refused(&asked, &fair), SavedError::OtherOptions { .. }));
    let mut built = options.clone();
    built.construction = Construction::OffLine;
    assert_eq!(refused(&asked, &built), SavedError::BuiltFirst);
    // The same propositions in another formula.
    let negated = Asked::new(COUNTERS, Some("<> (x < 9)"));
    assert!(matches!(refused(&negated, &options), SavedError::OtherOptions { .. }));
    // A search of states does not go on with one of executions.
    let states = mazurka_statespace::search_saving(&asked.machine, &options, &saving);
    let is_refused = matches!(states, Err(SearchError::Saved(SavedError::OtherOptions { .. })));
    assert!(is_refused, "{states:?}");
}
