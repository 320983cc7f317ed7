//! Temporal properties of Promela models, checked by SPIN and by us in the same run.
//!
//! SPIN's time is the user time of its verifier alone, compiled with `-O2`; what it takes to make
//! and compile the verifier is told apart. Ours is the time that the search takes of the processor,
//! in the system too.

use mazurka_core::Verdict;
use mazurka_model::Expr;
use mazurka_promela::{self as promela, NamedFormula};
use mazurka_statespace::{
    Claim, CycleSearch, Cycles, Fairness, Machine, Optimisations, Options, Property, Reduction,
    claim, search_cycles,
};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long a search may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A property of a model, and the model as it is looked at for that.
pub struct Checked {
    /// What the model calls it.
    pub name: String,
    machine: Machine,
    /// None if it is about the labels that accept.
    property: Option<Property>,
}

/// The name of a property that is a claim.
const CLAIM: &str = "never";
/// The name of what labels say.
const LABELS: &str = "accept";

/// What a search tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Nodes of the product.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// Bytes, all in all.
    pub bytes: u64,
    /// Of processor time.
    pub seconds: f64,
    /// Whether the property is violated, if there was time to find out.
    pub is_violated: Option<bool>,
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Which executions count.
    pub fairness: Fairness,
    /// What is left out.
    pub reduction: Reduction,
    /// How cycles are looked for.
    pub cycle_search: CycleSearch,
    /// Whether to go on after a violation.
    pub goes_on: bool,
}

impl Checked {
    /// All formulae and the never claim of a model; if it has neither, its labels that accept.
    pub fn all(file: &Path) -> Result<Vec<Self>, promela::Faults> {
        let model = promela::translate(file, &promela::Options::default())?;
        let checked = |name: &str, propositions: &[Expr], property: Option<Property>| {
            let machine = Machine::watching(&model.program, propositions);
            let machine = machine.expect("the machine can run all of Promela").trusting();
            Self { name: name.to_owned(), machine, property }
        };
        let mut all = Vec::new();
        for NamedFormula { name, formula, atoms, propositions } in &model.formulas {
            let property = Property::formula(name, formula, atoms).expect("it is small");
            all.push(checked(name, propositions, Some(property)));
        }
        if let Some(Ok(Claim { automaton, propositions, .. })) = claim(&model.program) {
            let property = Property::new(CLAIM, automaton).with_labels();
            all.push(checked(CLAIM, &propositions, Some(property)));
        }
        let mut places = model.program.routines.iter().flat_map(|routine| &routine.locations);
        if all.is_empty() && places.any(|place| place.labels.accept) {
            all.push(checked(LABELS, &[], None));
        }
        Ok(all)
    }

    /// What our search tells.
    ///
    /// # Panics
    ///
    /// If the options do not go together.
    pub fn search(&self, how: How) -> Numbers {
        let mut options = Options::default();
        options.fairness = how.fairness;
        options.reduction = how.reduction;
        if how.reduction == Reduction::None {
            options.optimisations = Optimisations::NONE;
        }
        options.cycle_search = how.cycle_search;
        options.all_violations = how.goes_on;
        // SPIN looks for failed assertions only as long as its claim goes on, too.
        options.all_steps = false;
        options.time = Some(PATIENCE);
        let cycles = self.property.as_ref().map_or(Cycles::Acceptance, Cycles::Accepted);
        let before = processor_time();
        let outcome = search_cycles(&self.machine, cycles, &options);
        let seconds = processor_time() - before;
        let outcome = outcome.expect("the options go together");
        Numbers {
            states: outcome.statistics.states,
            transitions: outcome.statistics.transitions,
            bytes: outcome.store_bytes,
            seconds,
            is_violated: match outcome.verdict {
                Verdict::Violated(_) => Some(true),
                Verdict::Holds(_) => Some(false),
                _ => None,
            },
        }
    }
}

/// The time that this process has taken of the processor.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// SPIN's verifier of a model.
pub struct Verifier<'a> {
    folder: &'a Path,
    /// User time that it took to make and to compile it.
    pub making: f64,
}

impl<'a> Verifier<'a> {
    /// Makes it in the folder of the model; nothing if SPIN does not accept the model. Without a
    /// reduction, it has no optimisations either: all states of the model are searched, as by us.
    pub fn new(folder: &'a Path, model: &str, how: How) -> Option<Self> {
        let (options, flags) = match (how.reduction, how.fairness) {
            (Reduction::None, _) => ("-o1 -o2 -o3", "-DNOREDUCE"),
            (_, Fairness::None) => ("", ""),
            _ => ("", "-DNFAIR=4"),
        };
        let command = format!(
            "spin {options} -a {model} && gcc -w -O2 -DVECTORSZ=8192 -DMEMLIM=6000 {flags} -o pan pan.c"
        );
        let (_, making) = user_time(folder, &command)?;
        folder.join("pan").exists().then_some(Self { folder, making })
    }

    /// What it tells.
    pub fn run(&self, property: &str, how: How) -> Option<Numbers> {
        let is_named = property != CLAIM && property != LABELS;
        let name = if is_named { format!(" -N {property}") } else { String::new() };
        let fair = if how.fairness == Fairness::Weak { " -f" } else { "" };
        let errors = if how.goes_on { " -c0" } else { "" };
        let limit = PATIENCE.as_secs();
        let command = format!("timeout {limit} ./pan -a -m2000000{errors}{fair}{name} | cat");
        let (said, seconds) = user_time(self.folder, &command)?;
        let number = |what: &str| -> Option<f64> {
            let line = said.lines().find(|line| line.contains(what))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let errors = said.split("errors: ").nth(1)?.split_whitespace().next()?;
        Some(Numbers {
            states: number("states, stored")? as u64,
            transitions: number("transitions (= ")? as u64,
            bytes: (number("total actual memory usage").or(number("actual memory usage"))? * 1e6)
                as u64,
            seconds,
            is_violated: Some(errors != "0"),
        })
    }
}

/// What a command of the shell says, and how much user time it took.
fn user_time(folder: &Path, command: &str) -> Option<(String, f64)> {
    let script = format!("TIMEFORMAT=%U; {{ time {{ {command}; }} 2>/dev/null; }} 2>user_time");
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder).output().ok()?;
    let time = std::fs::read_to_string(folder.join("user_time")).ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((said, time.trim().lines().last()?.parse().ok()?))
}
