//! Temporal properties, SPIN and we in one run: `cargo run --profile dist -p mazurka-lab --bin ltl
//! -- FOLDER`.
//!
//! Two tables. Fig. 8 of Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking*
//! (CAV 1994): that a label is visited infinitely often, on all states, with the full and the
//! reduced search. As in the paper, a variable that nothing else looks at is set and reset in front
//! of the label. And every formula and claim of the models that are installed with SPIN, and of our
//! own, or else their labels that accept, up to the first violation. Writes `ltl.csv`. A word
//! behind the folder leaves all out but programs that have it in their names.

#![expect(clippy::print_stderr, reason = "it is a command")]

use mazurka_lab::ltl::{Checked, How, Numbers, Verifier};
use mazurka_statespace::{CycleSearch, Fairness, Reduction};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");

/// A program of Fig. 8.
struct Program {
    /// As the paper calls it.
    name: &'static str,
    /// Whether it is one that is installed with SPIN.
    is_example: bool,
    file: &'static str,
    /// What stands above the model, such as its size.
    above: &'static str,
    /// A piece of a process, and the same with what tells that it was visited.
    visit: [&'static str; 2],
    /// States of the paper, full and reduced.
    paper: [f64; 2],
}

#[rustfmt::skip]
const FIGURE_8: [Program; 7] = [
    Program { name: "sieve", is_example: false, file: "sieve.pml", above: "#define MAX 40\n", paper: [670_399.0, 995.0],
        visit: ["n >= MAX -> root!eof,0;", "n >= MAX -> mark = 1; mark = 0; root!eof,0;"] },
    Program { name: "urp", is_example: false, file: "urp.pml", above: "", paper: [2_165.0, 575.0],
        visit: ["there!data,next;", "there!data,next; mark = 1; mark = 0;"] },
    Program { name: "abp", is_example: true, file: "abp.pml", above: "", paper: [378.0, 378.0],
        visit: ["sender!cur_ack;", "mark = 1; mark = 0; sender!cur_ack;"] },
    Program { name: "snoopy", is_example: true, file: "snoopy.pml", above: "", paper: [367_867.0, 131_702.0],
        visit: ["tocpu0?done", "mark = 1; mark = 0; tocpu0?done"] },
    Program { name: "pftp", is_example: true, file: "LTL/pftp.pml", above: "", paper: [893_575.0, 210_919.0],
        visit: [":: s2f!white,0", ":: s2f!white,0 -> mark = 1; mark = 0"] },
    Program { name: "dtp", is_example: true, file: "dtp.pml", above: "", paper: [754_225.0, 233_191.0],
        visit: ["out!queryt,offset;", "mark = 1; mark = 0; out!queryt,offset;"] },
    Program { name: "accounting", is_example: false, file: "accounting.pml", above: "", paper: [71_053.0, 10_634.0],
        visit: ["assert(total ==", "mark = 1; mark = 0; assert(total =="] },
];

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: ltl FOLDER [WORD]");
        return ExitCode::from(2);
    };
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    let mut csv = String::from(
        "table,model,property,fairness,reduction,tool,states,transitions,bytes,seconds,verdict\n",
    );
    let word = std::env::args().nth(2).unwrap_or_default();
    let is_wanted = |program: &&Program| program.name.contains(&word);
    FIGURE_8.iter().filter(is_wanted).for_each(|program| figure_8(program, &mut csv));
    conformance(&mut csv, &word);
    if let Err(error) = std::fs::write(folder.join("ltl.csv"), csv) {
        eprintln!("ltl.csv: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

const FULL: How = How {
    fairness: Fairness::None,
    reduction: Reduction::None,
    cycle_search: CycleSearch::Components,
    goes_on: true,
};

/// One program of the figure: full and reduced, ours and SPIN's.
fn figure_8(program: &Program, csv: &mut String) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = Path::new(if program.is_example { EXAMPLES } else { CORPUS }).join(program.file);
    let text = std::fs::read_to_string(&path).expect("the model is there");
    let [at, visit] = program.visit;
    assert!(text.contains(at), "{} has changed", program.file);
    let body = text.replacen(at, visit, 1);
    let text = format!("{}bit mark;\n{body}ltl visited {{ [] <> (mark == 1) }}\n", program.above);
    let model = folder.path().join("model.pml");
    std::fs::write(&model, text).expect("there is room");
    let checked = Checked::all(&model).expect("it is a model");
    let visited = checked.iter().find(|it| it.name == "visited").expect("it was added");
    let mut n_states = Vec::new();
    for reduction in [Reduction::None, Reduction::default()] {
        let how = How { reduction, ..FULL };
        let ours = visited.search(how);
        n_states.push(ours.states as f64);
        let theirs = Verifier::new(folder.path(), "model.pml", how);
        let theirs = theirs.and_then(|verifier| verifier.run("visited", how));
        let row = [("mazurka", Some(ours)), ("spin", theirs)];
        for (tool, numbers) in row {
            let numbers = numbers.unwrap_or_default();
            tell(csv, ["fig8", program.name, "visited", tool], how, numbers);
        }
    }
    let ratio = |states: &[f64]| states[1] / states[0];
    let (ours, paper) = (ratio(&n_states), ratio(&program.paper));
    let verdict = if ours <= paper { "met" } else { "MISSED" };
    eprintln!("{}: reduced to {ours:.4}, in the paper to {paper:.4}: {verdict}", program.name);
}

/// Every property of the models that have a word in their names, up to the first violation.
fn conformance(csv: &mut String, word: &str) {
    let mut models = Vec::new();
    find(Path::new(EXAMPLES), &mut models);
    find(Path::new(CORPUS), &mut models);
    for model in models {
        let name = model.file_name().expect("a file has a name").to_string_lossy().into_owned();
        if !name.contains(word) {
            continue;
        }
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::copy(&model, folder.path().join(&name)).expect("there is room");
        let properties = match Checked::all(&model) {
            Ok(properties) => properties,
            Err(faults) => {
                eprintln!("{name} is left out: {faults}");
                continue;
            }
        };
        if properties.is_empty() {
            continue;
        }
        for (reduction, fairness) in [
            (Reduction::default(), Fairness::None),
            (Reduction::default(), Fairness::Weak),
            (Reduction::None, Fairness::None),
        ] {
            let how = How { fairness, reduction, goes_on: false, ..FULL };
            let Some(verifier) = Verifier::new(folder.path(), &name, how) else { continue };
            for checked in &properties {
                let ours = checked.search(how);
                let theirs = verifier.run(&checked.name, how).unwrap_or_default();
                for (tool, numbers) in [("mazurka", ours), ("spin", theirs)] {
                    tell(csv, ["models", &name, &checked.name, tool], how, numbers);
                }
            }
            if how.reduction != Reduction::None && how.fairness == Fairness::None {
                let _ = writeln!(csv, "making,{name},,,,spin,,,,{:.3},", verifier.making);
            }
        }
    }
}

fn tell(csv: &mut String, [table, model, property, tool]: [&str; 4], how: How, numbers: Numbers) {
    let Numbers { states, transitions, bytes, seconds, is_violated } = numbers;
    let (fairness, reduction) = (how.fairness.name(), how.reduction.name());
    let verdict = match is_violated {
        Some(true) => "violated",
        Some(false) => "holds",
        None => "unknown",
    };
    let row = format!(
        "{table},{model},{property},{fairness},{reduction},{tool},{states},{transitions},{bytes},\
         {seconds:.3},{verdict}"
    );
    eprintln!("{row}");
    let _ = writeln!(csv, "{row}");
}

/// All models below a folder that may have a formula, a claim or a label that accepts.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("SPIN's examples are installed") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if ["ltl", "never", "accept"].iter().any(|word| text.contains(word)) {
                found.push(path);
            }
        }
    }
    found.sort();
}
