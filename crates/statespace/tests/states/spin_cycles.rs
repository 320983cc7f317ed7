//! Every model that is installed with SPIN and says something of executions that never end: the same
//! verdicts, with every search, with and without reduction, under no fairness and under weak fairness.
//!
//! SPIN runs without its reduction, which can miss violations.

use mazurka_core::Verdict;
use mazurka_ltl::{Pool, Stuttering, parts, stuttering, translate};
use mazurka_model::Expr;
use mazurka_promela::{self as promela, Model, translate as read};
use mazurka_statespace::{
    Construction, CycleSearch, Cycles, Fairness, Machine, Options, Property, Reduction, claim,
    search_cycles,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Our own models.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");

/// Lines that are replaced, by how they begin, where a model as it is has too many states.
const SMALLER: [(&str, &str, &str); 6] = [
    ("leader.pml", "#define N", "#define N 3"),
    ("leader.pml", "#define I", "#define I 2"),
    ("leader_pre.pml", "#define N", "#define N 3"),
    ("leader_pre.pml", "#define I", "#define I 2"),
    ("petersonN.pml", "#define N", "#define N 3"),
    ("ex_6.pml", "#define MaxSeq", "#define MaxSeq 1"),
];

/// Where SPIN's verdict under weak fairness is not ours, and why SPIN's is wrong.
const SPIN_IS_WRONG: [(&str, &str); 0] = [];

#[test]
fn verdicts_are_those_of_spin() {
    let mut models = Vec::new();
    find(Path::new(EXAMPLES), &mut models);
    find(Path::new(CORPUS), &mut models);
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
    rows.sort();
    let table = rows.join("\n");
    assert!(!table.contains("DIFFERENT"), "SPIN's verdict, and ours:\n{table}");
    let n_violated = rows.iter().filter(|row| row.contains("violated")).count();
    assert!(rows.len() > 40 && n_violated > 8, "only:\n{table}");
}

/// All models below a folder that have a property.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("SPIN and its examples are installed");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let says = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
            if says("ltl ") || says("ltl{") || says("never") {
                found.push(path);
            }
        }
    }
    found.sort();
}

/// The rows of the table for one model.
fn compare(path: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().expect("there is room for a verifier");
    let copy = folder.path().join(path.file_name().expect("a file has a name"));
    let text = std::fs::read_to_string(path).expect("a model is a text");
    let smaller = |line: &str| {
        let mut lines = SMALLER.iter().filter(|(name, _, _)| path.ends_with(name));
        let found = lines.find(|(_, beginning, _)| line.starts_with(beginning));
        found.map_or_else(|| line.to_owned(), |(_, _, replacement)| (*replacement).to_owned())
    };
    let text: String = text.lines().map(|line| smaller(line) + "\n").collect();
    std::fs::write(&copy, text).expect("there is room for a model");
    if !make_verifier(&copy) {
        return Vec::new();
    }
    let model = read(&copy, &promela::Options::default()).expect("SPIN accepts it");
    let mut rows = Vec::new();
    let name = copy.file_name().expect("a file has a name").to_string_lossy().into_owned();
    for property in Checked::all(&model) {
        for fairness in [Fairness::None, Fairness::Weak] {
            let theirs = run_verifier(folder.path(), &property.name, fairness);
            let wrong = property.disagreements(&model, fairness, theirs);
            let key = format!("{name} {}", property.name);
            let is_known = fairness == Fairness::Weak && SPIN_IS_WRONG.iter().any(|it| it.0 == key);
            let verdict = if theirs { "violated" } else { "holds" };
            let state = match (wrong.is_empty(), is_known) {
                (true, false) => "equal".to_owned(),
                (false, true) => "SPIN is wrong".to_owned(),
                _ => format!("DIFFERENT: {}", wrong.join("; ")),
            };
            rows.push(format!("{key:<32} {:<6} {verdict:<8} {state}", fairness.name()));
        }
    }
    rows
}

/// A property of a model, by what violates it.
struct Checked {
    name: String,
    automaton: mazurka_ltl::Automaton,
    stuttering: Stuttering,
    parts: Vec<u64>,
    propositions: Vec<Expr>,
    is_claim: bool,
}

impl Checked {
    fn all(model: &Model) -> Vec<Self> {
        let mut all = Vec::new();
        for formula in &model.formulas {
            let mut pool = Pool::new();
            let normal = pool.add(&formula.formula);
            let negation = pool.not(normal);
            let automaton = translate(&mut pool, negation, &formula.atoms).expect("it is small");
            let stuttering = match pool.is_next_free(normal) {
                true => Stuttering::Invariant,
                false => stuttering(&automaton),
            };
            all.push(Self {
                name: formula.name.clone(),
                automaton,
                stuttering,
                parts: parts(&formula.formula),
                propositions: formula.propositions.clone(),
                is_claim: false,
            });
        }
        if let Some(claim) = claim(&model.program) {
            let claim = claim.expect("the claim is one of guards");
            all.push(Self {
                name: "never".to_owned(),
                stuttering: stuttering(&claim.automaton),
                automaton: claim.automaton,
                parts: vec![u64::MAX],
                propositions: claim.propositions,
                is_claim: true,
            });
        }
        all
    }

    /// The searches whose verdict is not this.
    fn disagreements(&self, model: &Model, fairness: Fairness, theirs: bool) -> Vec<String> {
        let machine = Machine::watching(&model.program, &self.propositions);
        let machine = machine.expect("the machine can run all of Promela").trusting();
        let property = Property::new(&self.name, &self.automaton, &self.stuttering);
        let property = property.parts(&self.parts);
        let property = if self.is_claim { property.with_labels() } else { property };
        let mut wrong = Vec::new();
        for (cycle_search, construction, reduction) in [
            (CycleSearch::Components, Construction::OnTheFly, Reduction::None),
            (CycleSearch::Components, Construction::OnTheFly, Reduction::default()),
            (CycleSearch::Components, Construction::OffLine, Reduction::default()),
            (CycleSearch::Nested, Construction::OnTheFly, Reduction::default()),
        ] {
            if cycle_search == CycleSearch::Nested && fairness != Fairness::None {
                continue;
            }
            let mut options = Options::default();
            options.fairness = fairness;
            options.cycle_search = cycle_search;
            options.construction = construction;
            options.reduction = reduction;
            let outcome = search_cycles(&machine, Cycles::Accepted(property), &options);
            let ours = match outcome.expect("the options go together").verdict {
                Verdict::Violated(_) => true,
                Verdict::Holds(_) => false,
                other => panic!("{other:?}"),
            };
            if ours != theirs {
                let (search, reduction) = (cycle_search.name(), reduction.name());
                wrong.push(format!("{search}, {}, {reduction}", construction.name()));
            }
        }
        wrong
    }
}

/// Makes SPIN's verifier; false if SPIN does not accept the model.
fn make_verifier(model: &Path) -> bool {
    let folder = model.parent().expect("a model is in a folder");
    let name = model.file_name().expect("a file has a name").to_string_lossy();
    let made = run(folder, "spin", &["-o1", "-o2", "-o3", "-a", &name]);
    if !made.status.success() {
        return false;
    }
    let flags = ["-w", "-DNOREDUCE", "-DNFAIR=4", "-DVECTORSZ=8192", "-DMEMLIM=2048", "-o", "pan"];
    let compiled = run(folder, "gcc", &[&flags[..], &["pan.c"]].concat());
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    true
}

/// Whether SPIN's verifier finds an error.
fn run_verifier(folder: &Path, property: &str, fairness: Fairness) -> bool {
    let pan = folder.join("pan");
    let pan = pan.to_str().expect("the folder has a plain name");
    let mut arguments = vec!["-a", "-m2000000", "-w20"];
    if property != "never" {
        arguments.extend(["-N", property]);
    }
    if fairness == Fairness::Weak {
        arguments.push("-f");
    }
    let said = run(folder, pan, &arguments);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(!said.contains("max search depth too small"), "{property}:\n{said}");
    let errors = said.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
    errors.unwrap_or_else(|| panic!("{property}: it does not say how many errors:\n{said}")) != "0"
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(std::process::Stdio::null());
    command.output().unwrap_or_else(|error| panic!("{program}: {error}"))
}
