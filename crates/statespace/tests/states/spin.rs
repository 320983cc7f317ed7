//! Every model that is installed with SPIN: the same states, the same transitions, the same errors.
//!
//! SPIN runs without its reductions and optimisations, which leaves plain Promela. What is counted
//! is what its verifier counts: states that were stored, and how often one was looked up. Then both
//! leave out what they can, by their optimisations and by their reductions, as they do by
//! default: we store no more states than SPIN. It is a table, too: the file `spin.csv` in
//! the folder for temporary files of tests.

use crate::installed::{self, Copied};
use mazurka_effort::{has_tool, sample, seeds, share};
use mazurka_statespace::{
    Machine, Moves, Optimisations, Options, Reduction, Successor, Transitions, search,
};
use rustc_hash::FxHashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Models that are left out, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("wordcount.pml", "reads standard input"),
    (
        "Book_1991/App.F.pftp.pml",
        "has more than 2 million states; `LTL/pftp.pml` is the same protocol",
    ),
];

/// Models of which SPIN stores fewer states, and why.
const LARGER: [(&str, &str); 2] = [
    ("calculator.pml", "who dies takes its channel with it, and SPIN does not mind who dies when"),
    ("rtos1.pml", "with priorities, no steps are merged, and SPIN merges two"),
];

/// What a search tells of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Counts {
    states: u64,
    transitions: u64,
    errors: u64,
    /// Whether it has met an error that it does not go on from, or that it counts again when it
    /// tries a timeout.
    is_vague: bool,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, errors, .. } = self;
        write!(f, "{states:>8} {transitions:>8} {errors:>6}")
    }
}

/// What all searches tell of one model.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Row {
    name: String,
    theirs: Counts,
    plain: Counts,
    ours: Counts,
    /// SPIN's and ours, each with its optimisations.
    theirs_optimised: Counts,
    ours_optimised: Counts,
    /// SPIN's and ours, each with its reductions, too.
    theirs_reduced: Counts,
    ours_reduced: Counts,
}

impl Row {
    /// The same states, the same transitions, the same errors; and errors if and only if there are
    /// any in what the reductions leave.
    fn is_equal(&self) -> bool {
        let has_errors = self.ours.errors > 0;
        self.plain == self.theirs
            && self.ours == self.plain
            && (self.ours_optimised.errors > 0) == has_errors
            && (self.ours_reduced.errors > 0) == has_errors
    }

    /// Whether no more states are stored than by SPIN, with the optimisations of both and with
    /// their reductions.
    fn is_small(&self) -> bool {
        self.ours_reduced.states <= self.theirs_reduced.states
            && self.ours_optimised.states <= self.theirs_optimised.states
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, theirs, plain, ours, .. } = self;
        let (theirs_optimised, ours_optimised) = (&self.theirs_optimised, &self.ours_optimised);
        let (theirs_reduced, ours_reduced) = (&self.theirs_reduced, &self.ours_reduced);
        let verdict = if self.is_equal() { "equal" } else { "DIFFERENT" };
        let optimised = format!("{theirs_optimised} {ours_optimised}");
        let reduced = format!("{theirs_reduced} {ours_reduced}");
        write!(
            f,
            "{name:<24} {theirs} {plain} {ours} optimised: {optimised} reduced: {reduced} {verdict}"
        )
    }
}

#[test]
fn counts_are_those_of_spin() {
    if !has_tool("spin") {
        return;
    }
    let is_left_out = |model: &PathBuf| LEFT_OUT.iter().any(|(name, _)| model.ends_with(name));
    let mut models = installed::models();
    models.retain(|model| !is_left_out(model));
    assert!(models.len() > 80, "only {} models are there", models.len());
    let models = sample(models);
    let rows = installed::ask_all(&models, |model| {
        compare(&Copied::small(model), installed::name(model)).into_iter().collect()
    });
    write_table(&rows);
    let table = rows.iter().map(Row::to_string).collect::<Vec<_>>().join("\n");
    assert!(
        rows.iter().all(Row::is_equal),
        "states, transitions, errors, of SPIN, a plain search and ours:\n{table}"
    );
    assert!(rows.len() > share(80), "SPIN accepts only:\n{table}");
    let is_large = |name: &str| LARGER.iter().any(|(larger, _)| *larger == name);
    let larger: Vec<String> = rows
        .iter()
        .filter(|row| !row.is_small() && !is_large(&row.name))
        .map(Row::to_string)
        .collect();
    assert!(larger.is_empty(), "SPIN stores fewer states:\n{}", larger.join("\n"));
}

/// SPIN finds as many states of each model, and the same errors.
#[track_caller]
fn hold_against_spin(models: &[(&str, &str)]) {
    let rows = installed::ask_all(models, |(name, text)| {
        let row = compare(&Copied::of(text), (*name).to_owned());
        vec![row.unwrap_or_else(|| panic!("SPIN does not accept {name}"))]
    });
    let different = rows.iter().filter(|row| !row.is_equal());
    let different: Vec<String> = different.map(Row::to_string).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Small models, each about something that the language has.
const FEATURES: &str = include_str!("features.txt");

#[test]
fn every_feature_means_what_it_means_to_spin() {
    if !has_tool("spin") {
        return;
    }
    let models: Vec<(&str, &str)> =
        FEATURES.split("=== ").filter_map(|part| part.split_once('\n')).collect();
    assert!(models.len() > 55, "only {} models are there", models.len());
    let models = sample(models);
    hold_against_spin(&models);
}

/// Models with C in them.
const EMBEDDED: &str = include_str!("embedded.txt");

#[test]
fn embedded_c_means_what_it_means_to_spin() {
    if !has_tool("spin") {
        return;
    }
    let models: Vec<(&str, &str)> =
        EMBEDDED.split("=== ").filter_map(|part| part.split_once('\n')).collect();
    assert!(models.len() > 6, "only {} models are there", models.len());
    hold_against_spin(&models);
    // SPIN does not go on behind a condition that fails, so that other states follow.
    let fails = Copied::of("byte x; active [2] proctype p() { c_code [now.x < 1] { now.x++; } }");
    let theirs = spin(&fails, &[], &[]).expect("SPIN accepts it");
    let ours = searched(&fails.machine(), Reduction::default(), Optimisations::default());
    assert!(theirs.errors > 0 && ours.errors > 0, "{theirs} {ours}");
}

/// Models that are generated.
///
/// SPIN 6.5 is no judge of a trace beside a rendezvous: while its verifier tries the moves of the
/// trace, which do not fit, it forgets that a process has to receive. And it does not survive a
/// division by zero.
#[test]
fn random_models_have_the_states_of_spin() {
    if !has_tool("spin") {
        return;
    }
    let seeds: Vec<u64> = seeds(0..30).collect();
    let rows = installed::ask_all(&seeds, |&seed| {
        let text = crate::generate::model(seed);
        let is_left_out = text.contains("trace {") && text.contains("chan r = [0]");
        let is_judged = !(is_left_out || text.contains("6 / "));
        let judged = is_judged.then(|| compare(&Copied::of(&text), format!("seed {seed}")));
        judged.flatten().into_iter().collect()
    });
    assert!(4 * rows.len() >= 3 * seeds.len(), "SPIN judges only {}", rows.len());
    let is_equal = |row: &Row| match row.theirs.is_vague {
        true => row.plain == row.ours && row.ours.errors > 0 && row.ours_reduced.errors > 0,
        false => row.is_equal(),
    };
    let different = rows.iter().filter(|row| !is_equal(row));
    let different: Vec<String> = different.map(Row::to_string).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Writes down how many states are left, to be looked at.
fn write_table(rows: &[Row]) {
    let mut table =
        "model,states,spin_optimised,mazurka_optimised,spin_reduced,mazurka_reduced,smaller\n"
            .to_owned();
    for row in rows {
        let (spin, ours) = (row.theirs_reduced.states, row.ours_reduced.states);
        let smaller = match spin.cmp(&ours) {
            std::cmp::Ordering::Less => "spin",
            std::cmp::Ordering::Equal => "none",
            std::cmp::Ordering::Greater => "mazurka",
        };
        let (name, states) = (&row.name, row.ours.states);
        let optimised = format!("{},{}", row.theirs_optimised.states, row.ours_optimised.states);
        table += &format!("{name},{states},{optimised},{spin},{ours},{smaller}\n");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin.csv");
    std::fs::write(file, table).expect("there is room for a table");
}

/// What there is to tell of a model; nothing if SPIN does not accept it.
fn compare(copied: &Copied, name: String) -> Option<Row> {
    let theirs = spin(copied, &["-o1", "-o2", "-o3"], &["-DNOREDUCE"])?;
    // SPIN checks promises about channels only where it makes use of them.
    let machine = copied.machine().trusting();
    Some(Row {
        name,
        theirs,
        plain: plain_search(machine.clone()),
        ours: searched(&machine, Reduction::None, Optimisations::NONE),
        theirs_optimised: spin(copied, &[], &["-DNOREDUCE"])?,
        ours_optimised: searched(&machine, Reduction::None, Optimisations::default()),
        theirs_reduced: spin(copied, &[], &[])?,
        ours_reduced: searched(&machine, Reduction::default(), Optimisations::default()),
    })
}

/// What SPIN's verifier counts; nothing if SPIN does not accept the model.
fn spin(copied: &Copied, options: &[&str], flags: &[&str]) -> Option<Counts> {
    if !copied.make_verifier(options, &[flags, &["-DSAFETY", "-DNOCLAIM"]].concat()) {
        return None;
    }
    let said = copied.verify(&["-c0", "-m1000000", "-w20"]);
    Some(Counts {
        states: said.number("states, stored"),
        transitions: said.number("transitions (= stored+matched)"),
        errors: said.errors(),
        is_vague: ["uninitialized chan name", "polling rv chan"]
            .iter()
            .any(|it| said.0.contains(it)),
    })
}

/// What the search of this crate counts.
fn searched(machine: &Machine, reduction: Reduction, optimisations: Optimisations) -> Counts {
    let mut options = Options::default();
    (options.reduction, options.optimisations) = (reduction, optimisations);
    options.all_violations = true;
    let outcome = search(machine, &options).expect("these options go together");
    let statistics = outcome.statistics;
    Counts {
        states: statistics.states,
        transitions: statistics.states + statistics.states_matched,
        errors: outcome.violations,
        is_vague: false,
    }
}

/// What a plain search of all states counts.
fn plain_search(mut machine: Machine) -> Counts {
    let mut first = Vec::new();
    machine.initial(&mut first);
    let mut seen = FxHashSet::from_iter([first.clone()]);
    let mut to_do = vec![first];
    let mut counts = Counts { transitions: 1, ..Counts::default() };
    let mut moves = Moves::new();
    while let Some(state) = to_do.pop() {
        moves.clear();
        machine.expand(&state, &mut moves);
        if moves.is_empty() && !machine.is_valid_end(&state) {
            counts.errors += 1;
        }
        for idx in 0..moves.len() {
            counts.errors += u64::from(moves[idx].fault.is_some());
            let is_new = match moves[idx].successor {
                Successor::None => false,
                Successor::Transient => true,
                Successor::Stored => {
                    counts.transitions += 1;
                    seen.insert(moves.state(idx).to_vec())
                }
            };
            if is_new {
                to_do.push(moves.state(idx).to_vec());
            }
        }
    }
    counts.states = seen.len() as u64;
    counts
}
