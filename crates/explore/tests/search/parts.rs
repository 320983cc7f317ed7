//! A search that is split, whose parts are explored apart and stopped now and then, comes to what
//! it would have come to in one go.

use crate::support::programs::nwriters;
use crate::support::{Judge, Watcher, differs, explore, for_random_programs};
use mazurka_core::{Bound, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_explore::{
    Ended, Explorer, MergeError, Merged, Options, Outcome, Reduction, Saved, SavedError,
};
use mazurka_script::{Script, Shape};

/// A search with a limit of executions, from where another one was stopped.
fn stretch(script: &Script, saved: Option<Saved>, n: u64, watcher: &Watcher) -> Outcome {
    let watch = |ended: Ended<'_, Script>| watcher.see(&ended);
    let mut options = Options::new().stop_at_first(false);
    options.max_executions = Some(n);
    let mut explorer = Explorer::new(options).observe(&watch);
    if let Some(saved) = saved {
        let bytes = saved.to_bytes();
        explorer = explorer.resume(Saved::from_bytes(&bytes).expect("it was written so"));
    }
    explorer.run(|| script.clone()).expect("it can go on")
}

/// Explores a part to its end, so many executions at a time.
fn to_its_end(script: &Script, part: Saved, length: u64, watcher: &Watcher) -> Saved {
    let number = part.part().expect("it is one").number;
    let mut left = part;
    loop {
        let n = left.statistics().executions + length;
        let outcome = stretch(script, Some(left), n, watcher);
        if let Verdict::Holds(coverage) = &outcome.verdict {
            let is_said =
                |bound: &Bound| matches!(bound, Bound::Part { number: n, .. } if *n == number);
            assert!(coverage.bounds().iter().any(is_said), "more is claimed: {coverage}");
        }
        left = outcome.saved.expect("a part is kept to its end");
        if left.n_units() == 0 {
            return left;
        }
    }
}

/// What differs if a search is split after so many executions, if anything.
fn wrong(script: &Script, judge: &Judge, first: u64, n_parts: u32) -> Option<String> {
    let options = Options::new();
    let (whole, outcome) = explore(script, options.clone());
    let watcher = Watcher::default();
    let begun = stretch(script, None, first, &watcher);
    let mut left = begun.saved?;
    // Units are opened before they are dealt out.
    if let Some((idx, _)) = left.heaviest() {
        let unit = left.take_unit(idx);
        let opened = stretch(script, Some(unit), 1, &watcher);
        left.put_back(opened.saved.expect("a part is kept to its end"));
    }
    let parts = left.split(n_parts, 17, &[]);
    assert_eq!(parts.len(), n_parts as usize);
    let done: Vec<Saved> =
        parts.into_iter().map(|part| to_its_end(script, part, 2, &watcher)).collect();
    let Merged { whole: merged, missing, open, .. } = Saved::merge(done).expect("they fit");
    let merged = merged.expect("there are parts");
    assert_eq!((merged.n_units(), missing.len(), open.len()), (0, 0, 0));
    let told = stretch(script, Some(merged), u64::MAX, &Watcher::default());
    let visits = watcher.visits();
    if let Some(what) = differs(judge, &visits, &options) {
        return Some(what);
    }
    if !visits.is_like(&whole) {
        return Some("other executions than in one go".to_owned());
    }
    let counted = [&outcome, &told].map(|it| {
        let numbers = it.statistics;
        (numbers.executions, numbers.blocked_executions, numbers.max_depth, it.verdict.name())
    });
    (counted[0] != counted[1]).then(|| format!("{:?} became {:?}", counted[0], counted[1]))
}

#[test]
fn parts_of_random_programs_are_the_whole() {
    for shape in [Shape::variables(), Shape::locks(), Shape::everything()] {
        let n = for_random_programs(&shape, seeds(0..1500), 150, |script, judge| {
            [(1, 1), (1, 3), (2, 7)].into_iter().find_map(|(first, n_parts)| {
                let what = wrong(script, judge, first, n_parts)?;
                Some(format!("{n_parts} parts after {first}: {what}"))
            })
        });
        assert!(n > share(400), "only {n} programs were small enough");
    }
}

/// What is left of a search with six writers after ten executions.
fn begun(reduction: Reduction) -> Saved {
    let script = nwriters(6);
    let mut options = Options::new().reduction(reduction);
    options.ladder = false;
    options.max_executions = Some(10);
    let outcome = Explorer::new(options).run(|| script.clone());
    outcome.expect("it can be searched").saved.expect("much is left")
}

#[test]
fn parts_that_do_not_belong_together_are_told_apart() {
    let whole = begun(Reduction::Optimal);
    let [parts, others] = [1, 2].map(|search| whole.clone().split(3, search, &[]));
    let files = vec![parts[0].clone(), others[1].clone(), whole.clone(), parts[0].clone()];
    let errors = Saved::merge(files).expect_err("they do not fit");
    let expected = [
        MergeError::OtherSearch(1),
        MergeError::NoPart(2),
        MergeError::Twice { idx: 3, number: 1 },
    ];
    assert_eq!(errors, expected);
    let merged = Saved::merge(parts[1..].to_vec()).expect("they fit");
    assert_eq!((merged.missing, merged.open), (vec![1], vec![0, 1]));
    let none = Saved::merge(Vec::new()).expect("nothing is wrong with them");
    assert!(none.whole.is_none());
}

#[test]
fn only_what_shares_nothing_can_be_split() {
    assert!(begun(Reduction::Optimal).can_be_split());
    assert!(!begun(Reduction::Dpor).can_be_split());
}

#[test]
fn a_part_of_another_program_is_refused() {
    let part = begun(Reduction::Optimal).split(1, 5, &[]).remove(0);
    let other = nwriters(5);
    let outcome = Explorer::new(Options::new()).resume(part).run(|| other.clone());
    let error = outcome.expect_err("it is another program").to_string();
    assert_eq!(error, SavedError::OtherProgram.to_string());
}
