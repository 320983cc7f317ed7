//! Every model that is installed with SPIN: the same states, the same transitions, the same errors.
//!
//! SPIN runs without its reductions and optimisations, which leaves plain Promela. What is counted is
//! what its verifier counts: states that were stored, and how often one was looked up. Then both leave out
//! what they can, as they do if nobody says otherwise, and who stores fewer states is a line of a table: the
//! file `spin.csv` in the folder for temporary files of tests.

use mazurka_promela::{self as promela, translate};
use mazurka_statespace::{Machine, Moves, Options, Reduction, Successor, Transitions, search};
use rustc_hash::FxHashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Our own models, written to have every word of the language in them.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");

/// Models that are left out, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("wordcount.pml", "reads standard input"),
    (
        "Book_1991/App.F.pftp.pml",
        "has more than 2 million states; `LTL/pftp.pml` is the same protocol",
    ),
];

/// Lines that are replaced, by how they begin, where a model as it is has more than 2 million states.
const SMALLER: [(&str, &str, &str); 16] = [
    ("LTL/leader.pml", "#define N", "#define N 3"),
    ("LTL/leader.pml", "#define I", "#define I 2"),
    ("LTL/leader_pre.pml", "#define N", "#define N 3"),
    ("LTL/leader_pre.pml", "#define I", "#define I 2"),
    ("leader0.pml", "#define N", "#define N 3"),
    ("leader0.pml", "#define I", "#define I 2"),
    ("leader_trace.pml", "#define N", "#define N 3"),
    ("leader_trace.pml", "#define I", "#define I 2"),
    ("LTL/petersonN.pml", "#define N", "#define N 3"),
    ("LTL/ltl_gen.pml", "#define DEPTH_LIMIT", "#define DEPTH_LIMIT 2"),
    ("Exercises/ex_6.pml", "#define MaxSeq", "#define MaxSeq 1"),
    ("life.pml", "#define MAX", "#define MAX 3"),
    ("Book_1991/p108.pml", "\trun ack(3, 3, ch)", "\trun ack(2, 0, ch)"),
    ("priorities.pml", "\t:: printf", "\t:: a[_pid] < 3 -> a[_pid]++"),
    ("sort.pml", "#define N", "#define N 5"),
    ("eratosthenes.pml", "#define MAX", "#define MAX 10"),
];

/// What a search tells of a model.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Counts {
    states: u64,
    transitions: u64,
    errors: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, errors } = self;
        write!(f, "{states:>8} {transitions:>8} {errors:>6}")
    }
}

/// What all searches tell of one model.
#[derive(Debug, Default)]
struct Row {
    name: String,
    theirs: Counts,
    plain: Counts,
    ours: Counts,
    /// SPIN's and ours, each with its reductions.
    theirs_reduced: Counts,
    ours_reduced: Counts,
}

impl Row {
    /// The same states, the same transitions, the same errors; and errors if and only if there are any in
    /// what the reductions leave.
    fn is_equal(&self) -> bool {
        let has_errors = self.ours.errors > 0;
        self.plain == self.theirs
            && self.ours == self.plain
            && (self.ours_reduced.errors > 0) == has_errors
    }

    /// Whether our reduction leaves no more states than SPIN's.
    fn is_small(&self) -> bool {
        self.ours_reduced.states <= self.theirs_reduced.states
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, theirs, plain, ours, theirs_reduced, ours_reduced } = self;
        let verdict = if self.is_equal() { "equal" } else { "DIFFERENT" };
        let reduced = format!("{theirs_reduced} {ours_reduced}");
        write!(f, "{name:<24} {theirs} {plain} {ours} reduced: {reduced} {verdict}")
    }
}

#[test]
fn counts_are_those_of_spin() {
    let mut models = Vec::new();
    find(Path::new(EXAMPLES), &mut models);
    find(Path::new(CORPUS), &mut models);
    let is_left_out = |model: &&PathBuf| LEFT_OUT.iter().any(|(name, _)| model.ends_with(name));
    let models: Vec<PathBuf> = models.iter().filter(|it| !is_left_out(it)).cloned().collect();
    assert!(models.len() > 80, "only {} models are there", models.len());
    let rows = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                    rows.lock().expect("nobody panics with it").extend(compare(model));
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("nobody panics with it");
    rows.sort_by(|left, right| left.name.cmp(&right.name));
    write_table(&rows);
    let table = rows.iter().map(Row::to_string).collect::<Vec<_>>().join("\n");
    assert!(
        rows.iter().all(Row::is_equal),
        "states, transitions, errors, of SPIN, a plain search and ours:\n{table}"
    );
    assert!(rows.len() > 80, "SPIN accepts only:\n{table}");
    let n_small = rows.iter().filter(|row| row.is_small()).count();
    assert!(10 * n_small >= 9 * rows.len(), "{n_small} of {}:\n{table}", rows.len());
}

/// Writes down how many states are left, for whoever wants to know.
fn write_table(rows: &[Row]) {
    let mut table = "model,states,spin_reduced,mazurka_reduced,smaller\n".to_owned();
    for row in rows {
        let (spin, ours) = (row.theirs_reduced.states, row.ours_reduced.states);
        let smaller = match spin.cmp(&ours) {
            std::cmp::Ordering::Less => "spin",
            std::cmp::Ordering::Equal => "none",
            std::cmp::Ordering::Greater => "mazurka",
        };
        table += &format!("{},{},{spin},{ours},{smaller}\n", row.name, row.ours.states);
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin.csv");
    std::fs::write(file, table).expect("there is room for a table");
}

/// What there is to tell of a model; nothing if SPIN does not accept it.
fn compare(model: &Path) -> Option<Row> {
    let folder = tempfile::tempdir().expect("there is room for a verifier");
    let copy = copy(model, folder.path());
    let theirs = spin(&copy, &["-o1", "-o2", "-o3"], &["-DNOREDUCE"])?;
    let machine = machine(&copy);
    let base = if model.starts_with(EXAMPLES) { EXAMPLES } else { CORPUS };
    let name = model.strip_prefix(base).expect("it was found there").to_string_lossy();
    Some(Row {
        name: name.into_owned(),
        theirs,
        plain: plain_search(machine.clone()),
        ours: searched(&machine, Reduction::None),
        theirs_reduced: spin(&copy, &[], &[])?,
        ours_reduced: searched(&machine, Reduction::default()),
    })
}

/// A copy of a model that is small enough, with what lies beside it.
fn copy(model: &Path, folder: &Path) -> PathBuf {
    for entry in model.parent().expect("a model is in a folder").read_dir().expect("it is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, folder.join(name)).expect("there is room for a model");
        }
    }
    let copy = folder.join(model.file_name().expect("a file has a name"));
    let text = std::fs::read_to_string(model).expect("a model is a text");
    let is_example = model.starts_with(EXAMPLES);
    let lines = text.lines().map(|line| {
        let mut smaller = SMALLER.iter().filter(|(name, _, _)| is_example && model.ends_with(name));
        let found = smaller.find(|(_, beginning, _)| line.starts_with(beginning));
        found.map_or(line, |(_, _, replacement)| replacement)
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    std::fs::write(&copy, text + "\n").expect("there is room for a model");
    copy
}

/// All models below a folder.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("SPIN and its examples are installed");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            found.push(path);
        }
    }
    found.sort();
}

/// What SPIN's verifier counts; nothing if SPIN does not accept the model.
fn spin(model: &Path, options: &[&str], more: &[&str]) -> Option<Counts> {
    let folder = model.parent().expect("a model is in a folder");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(std::process::Stdio::null());
        command.output().unwrap_or_else(|error| panic!("{program}: {error}"))
    };
    let name = model.file_name().expect("a file has a name").to_string_lossy();
    let made = run("spin", &[options, &["-a", &name]].concat());
    if !made.status.success() {
        return None;
    }
    let flags = ["-w", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=8192", "-DMEMLIM=2048"];
    let compiled = run("gcc", &[more, &flags, &["-o", "pan", "pan.c"]].concat());
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let pan = folder.join("pan");
    let said =
        run(pan.to_str().expect("the folder has a plain name"), &["-c0", "-m1000000", "-w20"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let number = |what: &str| -> u64 {
        let line = said.lines().find(|line| line.contains(what));
        let word = line.and_then(|line| line.split_whitespace().next());
        let number = word.and_then(|word| word.parse::<f64>().ok());
        number.unwrap_or_else(|| panic!("{name}: no line `{what}` in\n{said}")) as u64
    };
    let errors = said.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
    Some(Counts {
        states: number("states, stored"),
        transitions: number("transitions (= stored+matched)"),
        errors: errors.and_then(|word| word.parse().ok()).expect("it says how many errors"),
    })
}

/// The machine that runs a model.
fn machine(model: &Path) -> Machine {
    let model = translate(model, &promela::Options::default()).expect("SPIN accepts it");
    // SPIN checks promises about channels only where it makes use of them.
    let machine = Machine::new(&model.program).expect("the machine can run all of Promela");
    machine.trusting()
}

/// What the search of this crate counts.
fn searched(machine: &Machine, reduction: Reduction) -> Counts {
    let mut options = Options::default();
    options.reduction = reduction;
    options.all_violations = true;
    let outcome = search(machine, &options).expect("these options go together");
    let statistics = outcome.statistics;
    Counts {
        states: statistics.states,
        transitions: statistics.states + statistics.states_matched,
        errors: outcome.violations,
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
