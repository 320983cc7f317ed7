//! The programs of `corpus/c`: every reduction, and the program itself, say what their first lines
//! expect.
//!
//! A line `// expect -DFLAG: violated race` is a verdict for the program compiled with that flag,
//! and `// expect --property=leak: …` one for a search that looks for leaks. A line `// vm: …` says
//! why the program is not run natively.

use mazurka_c::translate;
use mazurka_core::{Decision, Next, System, ThreadId, Verdict};
use mazurka_effort::{sample, share};
use mazurka_explore::{Explorer, Options, Order, Priority, Reduction};
use mazurka_model::{Program, Races, Vm};
use mazurka_statespace::Threads;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one program, compiled in one way, is expected to do.
struct Case {
    file: PathBuf,
    flags: Vec<String>,
    verdict: String,
    /// Whether the program itself is run, too.
    is_native: bool,
    max_depth: Option<usize>,
}

impl Case {
    fn name(&self) -> String {
        let file = self.file.file_name().expect("it is a file").to_string_lossy().into_owned();
        format!("{file} {}", self.flags.join(" "))
    }

    fn is_about_leaks(&self) -> bool {
        self.flags.iter().any(|flag| flag == "--property=leak")
    }

    fn program(&self) -> Program {
        let flags = self.flags.iter().filter(|flag| *flag != "--property=leak").cloned().collect();
        let options = mazurka_c::Options { flags, ..Default::default() };
        translate(std::slice::from_ref(&self.file), &options)
            .unwrap_or_else(|faults| panic!("{}:\n{faults}", self.name()))
    }

    fn machine(&self, races: Races) -> Vm {
        let vm = Vm::new(self.program(), races)
            .unwrap_or_else(|errors| panic!("{}: {errors:?}", self.name()))
            .holding_spins();
        if self.is_about_leaks() { vm.finding_leaks() } else { vm }
    }

    fn threads(&self) -> Threads {
        let threads = Threads::new(self.program(), Races::Error).expect("the machine runs it");
        if self.is_about_leaks() { threads.finding_leaks() } else { threads }
    }
}

/// The corpus, or some of it, as much as is tried.
fn corpus() -> Vec<Case> {
    let cases = cases_in("");
    assert!(cases.len() >= 60, "where is the corpus?");
    sample(cases)
}

fn cases_in(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .collect();
    files.sort();
    files.into_iter().flat_map(cases_of).collect()
}

fn cases_of(file: PathBuf) -> Vec<Case> {
    let text = std::fs::read_to_string(&file).expect("a program can be read");
    let is_native = !text.lines().any(|line| line.starts_with("// vm:"));
    let options = text.lines().find_map(|line| line.strip_prefix("// options: --max-depth "));
    let max_depth = options.and_then(|it| it.split(' ').next()).and_then(|it| it.parse().ok());
    let expectations = text.lines().filter_map(|line| line.strip_prefix("// expect"));
    let cases = expectations.map(|line| {
        let (flags, verdict) = line.split_once(':').expect("flags and a verdict");
        Case {
            file: file.clone(),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
            verdict: verdict.trim().to_owned(),
            is_native,
            max_depth,
        }
    });
    let cases: Vec<Case> = cases.collect();
    assert!(!cases.is_empty(), "{} expects nothing", file.display());
    cases
}

/// The verdict in the words of an expectation; `None` if a limit came first.
fn explore(vm: &Vm, options: Options) -> Option<String> {
    let outcome = Explorer::new(options).run(|| vm.clone()).expect("the options are fine");
    match outcome.verdict {
        Verdict::Holds(_) => Some("holds".to_owned()),
        Verdict::Violated(found) => Some(format!("violated {}", found.violation.kind.name())),
        _ => None,
    }
}

fn complain(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_reduction_says_what_is_expected() {
    let mut wrong = Vec::new();
    let mut n_exhaustive = 0;
    for case in corpus() {
        let vm = case.machine(Races::Error);
        for reduction in Reduction::ALL {
            for sleep in [true, false] {
                let mut options = Options::new();
                options.reduction = reduction;
                options.sleep = sleep;
                // Where all interleavings are too many, those that fit are looked at.
                options.max_executions = (reduction == Reduction::None).then_some(20_000);
                match explore(&vm, options) {
                    Some(verdict) if verdict != case.verdict => wrong.push(format!(
                        "{}: {reduction}, sleep {sleep}: {verdict}, not {}",
                        case.name(),
                        case.verdict
                    )),
                    Some(_) if reduction == Reduction::None && !sleep => n_exhaustive += 1,
                    _ => {}
                }
            }
        }
    }
    complain(&wrong);
    assert!(n_exhaustive > share(79), "only {n_exhaustive} were small enough");
}

/// The programs with planted bugs that the tests beside this one check natively.
#[test]
fn planted_bugs_are_found_in_models_too() {
    let mut wrong = Vec::new();
    let cases: Vec<Case> = ["sct", "thesis"].into_iter().flat_map(cases_in).collect();
    assert!(cases.len() >= 90, "{}", cases.len());
    for case in cases {
        let vm = case.machine(Races::Error);
        let best_first = Order::BestFirst(vec![Priority::Preemptions]);
        for (reduction, order) in
            [(Reduction::Optimal, Order::DepthFirst), (Reduction::Dpor, best_first)]
        {
            let mut options = Options::new().reduction(reduction);
            // Depth-first, some are found late.
            options.max_executions = Some(5_000);
            options.max_depth = case.max_depth.unwrap_or(options.max_depth);
            let is_best_first = order != Order::DepthFirst;
            options.order = order;
            match explore(&vm, options) {
                Some(verdict) if verdict == case.verdict => {}
                // What holds may be too much to see all of it.
                None if !is_best_first || case.verdict == "holds" => {}
                other => wrong.push(format!("{}: {reduction}: {other:?}", case.name())),
            }
        }
    }
    complain(&wrong);
}

#[test]
fn without_data_races_it_does_not_matter_whether_accesses_are_steps() {
    let mut wrong = Vec::new();
    for case in corpus() {
        if case.verdict == "violated race" {
            continue;
        }
        let vm = case.machine(Races::Allow);
        let mut options = Options::new();
        options.max_executions = Some(20_000);
        match explore(&vm, options) {
            Some(verdict) if verdict != case.verdict => {
                wrong.push(format!("{}: {verdict}, not {}", case.name(), case.verdict));
            }
            _ => {}
        }
    }
    complain(&wrong);
}

#[test]
fn a_search_that_stores_states_says_what_is_expected() {
    let mut wrong = Vec::new();
    for case in corpus() {
        for order in mazurka_statespace::Order::ALL {
            let mut options = mazurka_statespace::Options::default();
            options.order = order;
            let outcome = mazurka_statespace::search(&case.threads(), &options);
            let verdict = match outcome.expect("the options are fine").verdict {
                Verdict::Violated(found) => format!("violated {}", found.violation.kind.name()),
                other => other.name().to_owned(),
            };
            // A thread that spins for ever moves for ever. The verdict says that it is assumed
            // away.
            let expected = match case.name().starts_with("spin_until.c -DFORGET") {
                true => "holds",
                false => &case.verdict,
            };
            if verdict != expected {
                let order = order.name();
                wrong.push(format!("{}, {order}: {verdict}, not {expected}", case.name()));
            }
        }
    }
    complain(&wrong);
}

#[test]
fn a_state_that_was_saved_is_the_same_again() {
    let mut n_steps = 0;
    for case in corpus() {
        let mut vm = case.threads().vm();
        let mut other = vm.clone();
        for walk in 0..20usize {
            vm.reset();
            for step in 0..200 {
                let threads = (0..vm.n_threads()).map(ThreadId::new);
                let enabled: Vec<_> = threads
                    .filter(|&thread| matches!(vm.next(thread), Next::Enabled { .. }))
                    .collect();
                let Some(&thread) = enabled.get((walk * 7 + step * walk) % enabled.len().max(1))
                else {
                    break;
                };
                if vm.step(Decision::of(thread)).is_err() {
                    break;
                }
                let (mut saved, mut again) = (Vec::new(), Vec::new());
                vm.save(&mut saved);
                other.restore(&saved);
                other.save(&mut again);
                assert_eq!(saved, again, "{}", case.name());
                assert_eq!(vm.fingerprint(), other.fingerprint(), "{}", case.name());
                for thread in (0..vm.n_threads()).map(ThreadId::new) {
                    assert_eq!(vm.next(thread), other.next(thread), "{}", case.name());
                }
                n_steps += 1;
            }
        }
    }
    assert!(n_steps > share(10_000), "{n_steps}");
}

#[test]
fn the_programs_themselves_agree() {
    let mut wrong = Vec::new();
    for case in corpus().into_iter().filter(|case| case.is_native) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.arg("check").arg(&case.file).args(&case.flags);
        command.args(["--engine", "native", "--json", "-"]);
        let output = command.output().expect("the command runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let kind = report["violation"]["kind"].as_str().map(|kind| format!(" {kind}"));
        let verdict = report["verdict"].as_str().unwrap_or("none");
        let verdict = format!("{verdict}{}", kind.unwrap_or_default());
        if verdict != case.verdict {
            let stderr = String::from_utf8_lossy(&output.stderr);
            wrong.push(format!("{}: {verdict}, not {}; {stderr}", case.name(), case.verdict));
        }
    }
    complain(&wrong);
}
