//! Searches of the states of C programs that are stopped as often as they can be, and go on each
//! time in a machine that knows nothing of the one before, as in another process: the same totals,
//! the same verdict, the same counterexample as a search that is not stopped.

use crate::happens_before::{Script, name, program, text, ways};
use crate::support::Random;
use mazurka_core::{Limit, Verdict};
use mazurka_effort::{seeds, share};
use mazurka_model::{Program, Races};
use mazurka_statespace::{
    Options, Outcome, SavedError, Saving, SearchError, Threads, Transitions as _, search,
    search_saving,
};
use std::path::Path;
use std::time::Duration;

fn threads(program: &Program) -> Threads {
    Threads::new(program.clone(), Races::Error).expect("it can be run")
}

/// Goes on with a search, if there is a file, and stops as soon as it can be stopped.
fn slice(program: &Program, options: &Options, file: &Path) -> Result<Outcome, SearchError> {
    let mut options = options.clone();
    options.time = Some(Duration::ZERO);
    let mut saving = Saving::default();
    saving.path = Some(file.to_owned());
    saving.resume = file.exists().then(|| file.to_owned());
    search_saving(&threads(program), &options, &saving)
}

/// The whole search in slices, and how many there were.
fn in_slices(program: &Program, options: &Options, folder: &Path) -> (Outcome, u64) {
    let file = folder.join("search.mzk");
    let mut n_stops = 0;
    loop {
        let outcome = slice(program, options, &file).expect("it goes on");
        if !outcome.is_saved {
            let is_stopped = matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_)));
            assert!(!is_stopped, "it is stopped and not saved");
            let _ = std::fs::remove_file(&file);
            return (outcome, n_stops);
        }
        n_stops += 1;
        assert!(n_stops < 100_000, "it does not come to an end");
    }
}

/// How often a search was stopped that has come to the same as one that was not.
fn agrees(text: &str, options: &Options, folder: &Path) -> u64 {
    let program = program(text);
    let whole = search(&threads(&program), options).expect("they go together");
    let (sliced, n_stops) = in_slices(&program, options, folder);
    let told = |it: &Outcome| match options.jobs {
        1 => format!("{:?}\n{:?}\n{:?}", it.verdict, it.statistics, it.stuck),
        // Several workers take another order each time.
        _ => name(&it.verdict),
    };
    assert_eq!(told(&sliced), told(&whole), "{options:?}\n{text}");
    n_stops
}

/// A random program in which two threads start another one each: which of the two has the smaller
/// number depends on who is searched first.
fn random_program(seed: u64) -> String {
    let mut script = Script { random: Random(7000 * seed + 5), features: seed % 128 };
    let mut children = String::new();
    let bodies: Vec<String> = (0..2)
        .map(|idx| {
            let (early, child) = (script.statement(1), script.statement(1));
            children += &format!(
                "void *c{idx}(void *arg) {{ int r = 0, x = 1; {child} (void)r; (void)x; \
                 return arg; }}\n"
            );
            format!("pthread_t u; {early} pthread_create(&u, 0, c{idx}, 0); pthread_join(u, 0);")
        })
        .collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let whole = text(&bodies, "", "");
    let at = whole.find("void *t0").expect("it is there");
    format!("{}{children}{}", &whole[..at], &whole[at..])
}

#[test]
fn random_programs_go_on_in_other_processes() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut n_stops = 0;
    for seed in seeds(0..16) {
        let all = ways();
        let mut options = all[(seed % all.len() as u64) as usize].clone();
        options.ends = seed % 3 > 0;
        options.all_violations = seed % 5 == 0;
        n_stops += agrees(&random_program(seed), &options, folder.path());
    }
    assert!(n_stops > share(16), "only {n_stops} stops");
}

/// What became of assumptions in one slice is known in the last one.
#[test]
fn assumptions_that_ended_executions_are_remembered() {
    let folder = tempfile::tempdir().expect("there is room");
    let check = |condition: &str, code: &str| {
        let body = format!("r = load(&f, SC); __VERIFIER_assume({condition}); store(&g, 1, SC);");
        let other = "store(&f, 1, SC); store(&f, 2, SC); store(&f, 3, SC); store(&f, 4, SC);";
        let text = text(&[&body, other, other], "", "");
        let text =
            text.replacen("atomic_int f", "extern void __VERIFIER_assume(int);\natomic_int f", 1);
        let program = program(&text);
        let options = Options::default();
        assert!(agrees(&text, &options, folder.path()) > 0, "it is never stopped");
        let (outcome, _) = in_slices(&program, &options, folder.path());
        let Verdict::Holds(coverage) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
        let codes: Vec<&str> = coverage.assumptions().iter().map(|it| it.code()).collect();
        let has_it = codes.iter().any(|it| it.starts_with("nothing-"));
        assert_eq!(has_it, !code.is_empty(), "{condition}: {codes:?}");
    };
    check("r == 7", "nothing-survives");
    check("r == 1", "");
}

/// Headers of ours are in another folder each time that a program is translated: that is no other
/// program.
#[test]
fn a_program_that_is_translated_again_is_the_same() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("x.c");
    std::fs::write(&file, text(&["store(&f, 1, SC);"], "", "")).expect("there is room");
    let translated = || {
        let program =
            mazurka_c::translate(std::slice::from_ref(&file), &mazurka_c::Options::default());
        threads(&program.expect("it is a program")).fingerprint()
    };
    let (one, other) = (translated(), translated());
    assert!(one.is_some() && one == other);
}

/// Another program, or the same with races allowed, has other states.
#[test]
fn states_of_another_program_are_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("search.mzk");
    let first = "store(&f, 1, SC); r = load(&g, SC);";
    let [one, other] = ["store(&g, 1, SC);", "store(&g, 2, SC);"].map(|second| {
        let second = second.repeat(4);
        program(&text(&[first, &second, first], "", ""))
    });
    let options = Options::default();
    assert!(slice(&one, &options, &file).expect("it is stopped").is_saved);
    let refused = |result: Result<Outcome, SearchError>| match result {
        Err(SearchError::Saved(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(slice(&other, &options, &file)), SavedError::OtherProgram);
    let mut saving = Saving::default();
    saving.resume = Some(file.clone());
    let allowed = Threads::new(one.clone(), Races::Allow).expect("it can be run");
    let result = search_saving(&allowed, &options, &saving);
    assert_eq!(refused(result), SavedError::OtherProgram);
    slice(&one, &options, &file).expect("it goes on");
}
