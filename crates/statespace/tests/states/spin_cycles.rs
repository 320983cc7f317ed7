//! Every model that is installed with SPIN and says something of executions that never end: the
//! same verdicts, with every search, with and without reduction, under no fairness and under weak
//! fairness.
//!
//! SPIN runs without its reduction, which can miss violations.

use crate::installed::{self, Copied};
use mazurka_core::Verdict;
use mazurka_effort::{has_tool, sample, share};
use mazurka_model::Expr;
use mazurka_promela::{Model, NamedFormula};
use mazurka_statespace::{
    Claim, Construction, CycleSearch, Cycles, Fairness, Machine, Optimisations, Options, Property,
    Reduction, claim, search_cycles,
};
use std::path::{Path, PathBuf};

#[test]
fn verdicts_are_those_of_spin() {
    if !has_tool("spin") {
        return;
    }
    let mut models = installed::models();
    models.retain(has_property);
    let models = sample(models);
    let rows = installed::ask_all(&models, |model| compare(model));
    let table = rows.join("\n");
    assert!(!table.contains("DIFFERENT"), "SPIN's verdict, and ours:\n{table}");
    let n_violated = rows.iter().filter(|row| row.contains("violated")).count();
    assert!(rows.len() > share(40) && n_violated > share(8), "only:\n{table}");
}

/// Whether a model says something of executions that never end.
fn has_property(model: &PathBuf) -> bool {
    let text = std::fs::read_to_string(model).unwrap_or_default();
    let says = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    says("ltl ") || says("ltl{") || says("never")
}

/// The rows of the table for one model; none if SPIN does not accept it.
fn compare(path: &Path) -> Vec<String> {
    let copied = Copied::small(path);
    if !copied.make_verifier(&["-o1", "-o2", "-o3"], &["-DNOREDUCE", "-DNFAIR=4"]) {
        return Vec::new();
    }
    let model = copied.model();
    let mut rows = Vec::new();
    for property in Checked::all(&model) {
        for fairness in [Fairness::None, Fairness::Weak] {
            let theirs = is_violated(&copied, &property.name, fairness);
            let wrong = property.disagreements(&model, fairness, theirs);
            let key = format!("{} {}", copied.name, property.name);
            let verdict = if theirs { "violated" } else { "holds" };
            let state = match wrong.is_empty() {
                true => "equal".to_owned(),
                false => format!("DIFFERENT: {}", wrong.join("; ")),
            };
            rows.push(format!("{key:<32} {:<6} {verdict:<8} {state}", fairness.name()));
        }
    }
    rows
}

/// A property of a model, and what its propositions mean.
struct Checked {
    name: String,
    property: Property,
    propositions: Vec<Expr>,
}

impl Checked {
    fn all(model: &Model) -> Vec<Self> {
        let mut all = Vec::new();
        for NamedFormula { name, formula, atoms, propositions } in model.formulas.clone() {
            let property = Property::formula(&name, &formula, &atoms).expect("it is small");
            all.push(Self { name, property, propositions });
        }
        if let Some(claim) = claim(&model.program) {
            let Claim { automaton, propositions, .. } = claim.expect("the claim is one of guards");
            let property = Property::new("never", automaton).with_labels();
            all.push(Self { name: "never".to_owned(), property, propositions });
        }
        all
    }

    /// The searches whose verdict is not this.
    fn disagreements(&self, model: &Model, fairness: Fairness, theirs: bool) -> Vec<String> {
        let machine = Machine::watching(&model.program, &self.propositions);
        let machine = machine.expect("the machine can run all of Promela").trusting();
        let mut wrong = Vec::new();
        let (none, all) = (Optimisations::NONE, Optimisations::default());
        for (cycle_search, construction, reduction, optimisations) in [
            (CycleSearch::Components, Construction::OnTheFly, Reduction::None, none),
            (CycleSearch::Components, Construction::OnTheFly, Reduction::None, all),
            (CycleSearch::Components, Construction::OnTheFly, Reduction::default(), all),
            (CycleSearch::Components, Construction::OffLine, Reduction::default(), all),
            (CycleSearch::Nested, Construction::OnTheFly, Reduction::default(), all),
        ] {
            if cycle_search == CycleSearch::Nested && fairness != Fairness::None {
                continue;
            }
            let mut options = Options::default();
            options.fairness = fairness;
            options.cycle_search = cycle_search;
            options.construction = construction;
            options.reduction = reduction;
            options.optimisations = optimisations;
            let outcome = search_cycles(&machine, Cycles::Accepted(&self.property), &options);
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

/// Whether SPIN's verifier finds an error.
fn is_violated(copied: &Copied, property: &str, fairness: Fairness) -> bool {
    let mut options = vec!["-a", "-m2000000", "-w20"];
    if property != "never" {
        options.extend(["-N", property]);
    }
    if fairness == Fairness::Weak {
        options.push("-f");
    }
    let said = copied.verify(&options);
    assert!(!said.0.contains("max search depth too small"), "{property}:\n{}", said.0);
    said.errors() > 0
}
