//! Searches that are stopped again and again, saved, and go on, against those that are not stopped:
//! the same totals, the same verdict, the same counterexample.

use crate::compiled::wrong_model;
use crate::generate::{self, Random};
use mazurka_core::{Limit, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Machine, Optimisations, Options, Order, Outcome, Reduction, SavedError, Saving, SearchError,
    Storage, Tier, search, search_saving,
};
use std::path::Path;
use std::time::Duration;

fn machine(text: &str) -> Machine {
    let model = translate_text("model.pml", text);
    let model = model.unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    Machine::new(&model.program).expect("the machine can run all of Promela")
}

fn saving(to: &Path, resume: Option<&Path>) -> Saving {
    let mut saving = Saving::default();
    (saving.path, saving.resume) = (Some(to.to_owned()), resume.map(Path::to_owned));
    saving
}

/// Stops a search as soon as it can be stopped, and goes on, until it comes to its end. How often
/// it was stopped.
fn in_slices(machine: &Machine, options: &Options, folder: &Path) -> (Outcome, u64) {
    let file = folder.join("search.mzk");
    let mut slice = options.clone();
    slice.time = Some(Duration::ZERO);
    let mut n_stops = 0;
    loop {
        let saving = saving(&file, (n_stops > 0).then_some(&file));
        let outcome = search_saving(machine, &slice, &saving).expect("it goes on");
        if !outcome.is_saved {
            let is_stopped = matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_)));
            assert!(!is_stopped, "it is stopped and not saved");
            return (outcome, n_stops);
        }
        n_stops += 1;
        assert!(n_stops < 100_000, "it does not come to an end");
    }
}

/// All that is the same if a search is deterministic.
fn told(outcome: &Outcome) -> String {
    let Outcome { verdict, statistics, violations, unreached, is_packed, stuck, .. } = outcome;
    format!("{verdict:?}\n{statistics:?}\n{violations} {unreached:?} {is_packed} {stuck:?}")
}

fn random_options(random: &mut Random) -> Options {
    let mut options = Options::default();
    options.order = random.pick(&Order::ALL);
    options.storage = random.pick(&[
        Storage::Tree,
        Storage::Tree,
        Storage::Exact,
        Storage::Compact,
        Storage::Bitstate(20),
    ]);
    options.reduction = random.pick(&Reduction::ALL);
    if random.one_in(3) {
        options.optimisations = Optimisations::NONE;
    }
    options.all_violations = random.one_in(2);
    if options.order == Order::DepthFirst && options.storage.is_exact() {
        options.shorten = random.one_in(3);
        options.depth = random.one_in(4).then_some(30);
    }
    options
}

fn agrees(text: &str, random: &mut Random, folder: &Path) -> u64 {
    let machine = machine(text);
    let machine = if random.one_in(3) { machine.with_tier(Tier::Interpreted) } else { machine };
    let options = random_options(random);
    let whole = search(&machine, &options).expect("they go together");
    let (sliced, n_stops) = in_slices(&machine, &options, folder);
    assert_eq!(told(&sliced), told(&whole), "{options:?}\n{text}");
    // With several workers the order is another one each time; without a reduction, the totals are
    // the same.
    if options.depth.is_none() && !options.shorten {
        let mut several = options.clone();
        several.jobs = 2;
        let (sliced, _) = in_slices(&machine, &several, folder);
        assert_eq!(
            std::mem::discriminant(&sliced.verdict),
            std::mem::discriminant(&whole.verdict),
            "{several:?}\n{text}"
        );
        let is_whole = matches!(whole.verdict, Verdict::Holds(_)) || options.all_violations;
        let is_same = options.storage.is_exact() && options.reduction == Reduction::None;
        if is_whole && is_same {
            let count = |it: &Outcome| (it.statistics.states, it.statistics.transitions);
            assert_eq!(count(&sliced), count(&whole), "{several:?}\n{text}");
        }
    }
    n_stops
}

#[test]
fn random_models() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut n_stops = 0;
    for seed in seeds(0..40) {
        let mut random = Random::new(seed);
        let text = match random.one_in(2) {
            true => generate::model(seed),
            false => wrong_model(&mut Random::new(seed)),
        };
        n_stops += agrees(&text, &mut random, folder.path());
    }
    assert!(n_stops > share(40), "only {n_stops} stops");
}

const COUNTERS: &str = "byte x, y, z; \
    active proctype a() { do :: x < 7 -> x++ :: x > 4 -> x = x - 2 :: x == 7 -> break od } \
    active proctype b() { do :: y < 7 -> y++ :: y == 7 -> break od; assert(x < 21) } \
    active proctype c() { do :: z < 7 -> z++ :: z > 3 -> z = z - 3 od }";

#[test]
fn every_order_and_storage() {
    let folder = tempfile::tempdir().expect("there is room");
    let machine = machine(COUNTERS);
    for order in Order::ALL {
        for storage in [Storage::Exact, Storage::Tree, Storage::Compact, Storage::Bitstate(20)] {
            let mut options = Options::default();
            (options.order, options.storage) = (order, storage);
            options.reduction = Reduction::None;
            let whole = search(&machine, &options).expect("they go together");
            let (sliced, n_stops) = in_slices(&machine, &options, folder.path());
            assert_eq!(told(&sliced), told(&whole), "{options:?}");
            assert!(n_stops > 5, "{n_stops} stops, {options:?}");
        }
    }
}

/// A search that is written now and then goes on as if nothing had been.
#[test]
fn pauses_change_nothing() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("deep/search.mzk");
    let machine = machine(COUNTERS);
    for order in Order::ALL {
        let mut options = Options::default();
        options.order = order;
        let whole = search(&machine, &options).expect("they go together");
        let mut saving = saving(&file, None);
        saving.every = Some(Duration::ZERO);
        let paused = search_saving(&machine, &options, &saving).expect("it is written");
        assert_eq!(told(&paused), told(&whole));
        // What was written last goes on from there.
        let mut saving = Saving::default();
        saving.resume = Some(file.clone());
        let resumed = search_saving(&machine, &options, &saving).expect("it is whole");
        assert_eq!(told(&resumed), told(&whole));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("search.mzk");
    let (first, other) = (machine(COUNTERS), machine(&COUNTERS.replace("x < 21", "x < 22")));
    let mut options = Options::default();
    options.time = Some(Duration::ZERO);
    let outcome = search_saving(&first, &options, &saving(&file, None)).expect("it is written");
    assert!(outcome.is_saved);
    let resume = |machine: &Machine, options: &Options| {
        let mut saving = Saving::default();
        saving.resume = Some(file.clone());
        search_saving(machine, options, &saving)
    };
    let refused = |it: Result<Outcome, SearchError>| match it {
        Err(SearchError::Saved(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(resume(&other, &options)), SavedError::OtherProgram);
    let mut several = options.clone();
    several.jobs = 2;
    let error = refused(resume(&first, &several)).to_string();
    let (then, now) = ("--jobs 1", "--jobs (several)");
    assert!(error.contains(then) && error.contains(now), "{error}");
    let mut reduced = options.clone();
    reduced.reduction = Reduction::None;
    assert!(matches!(refused(resume(&first, &reduced)), SavedError::OtherOptions { .. }));

    let bytes = std::fs::read(&file).expect("it is there");
    for at in [20, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        std::fs::write(&file, &damaged).expect("there is room");
        assert_eq!(refused(resume(&first, &options)), SavedError::Damaged);
        std::fs::write(&file, &bytes[..at]).expect("there is room");
        assert_eq!(refused(resume(&first, &options)), SavedError::Damaged);
    }
    std::fs::write(&file, b"mzk-states-9999\n").expect("there is room");
    assert_eq!(refused(resume(&first, &options)), SavedError::OtherVersion);
    std::fs::write(&file, b"something else").expect("there is room");
    assert_eq!(refused(resume(&first, &options)), SavedError::NotSaved);
    std::fs::remove_file(&file).expect("it is there");
    assert!(matches!(refused(resume(&first, &options)), SavedError::Unreadable(_)));
    let mut nowhere = saving(&folder.path().join("search.mzk/below/it"), None);
    std::fs::write(&file, b"in the way").expect("there is room");
    let outcome = search_saving(&first, &options, &nowhere).expect("nobody insists");
    assert!(!outcome.is_saved);
    nowhere.is_required = true;
    let error = refused(search_saving(&first, &options, &nowhere));
    assert!(matches!(error, SavedError::Unwritable(_)), "{error}");
}
