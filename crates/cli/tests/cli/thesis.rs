//! The programs of Coons' thesis, tables 3.1 and 8.1, as C programs with planted bugs: each search
//! comes to what the head of the file says, and best-first and bounded search come to it early.
//! Without their bugs they hold, and bounds cost and cover what the thesis says.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A program, and what its head says.
struct Program {
    name: String,
    source: PathBuf,
    /// What `mazurka cc` has made of it.
    built: PathBuf,
    /// The same without its bug, and small.
    fixed: Option<PathBuf>,
    /// `holds`, or `violated` and of which kind.
    expect: Vec<String>,
    options: Vec<String>,
}

impl Program {
    /// What a search with these options says.
    fn check(&self, options: &[&str]) -> Value {
        self.run(&self.built, options)
    }

    /// What a search with these options says of the program without its bug.
    fn check_fixed(&self, options: &[&str]) -> Value {
        self.run(self.fixed.as_ref().expect("it can be fixed"), options)
    }

    fn run(&self, built: &Path, options: &[&str]) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["run", "--json", "-"]).args(&self.options).args(options);
        command.arg("--").arg(built);
        self.said(&mut command, options)
    }

    /// What a search of the model says. There a join is a step, as in the thesis.
    fn check_model(&self, options: &[&str]) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "--engine", "vm", "--json", "-"]).args(&self.options).args(options);
        command.arg(&self.source);
        self.said(&mut command, options)
    }

    fn said(&self, command: &mut Command, options: &[&str]) -> Value {
        let output = command.output().expect("the command can be started");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            panic!("{} {options:?}: {error}\n{stderr}", self.name)
        })
    }

    #[track_caller]
    fn holds_to_its_word(&self, said: &Value, options: &[&str]) {
        let words: Vec<_> = self.expect.iter().map(String::as_str).collect();
        let found = match said["verdict"].as_str() {
            Some("violated") => vec!["violated", said["violation"]["kind"].as_str().unwrap_or("")],
            Some(verdict) => vec![verdict],
            None => vec![],
        };
        assert_eq!(found, words, "{} {options:?}: {said}", self.name);
    }
}

fn executions(said: &Value) -> u64 {
    said["stats"]["executions"].as_u64().expect("they are counted")
}

/// The programs, in the order of their names, each built once.
fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(build)
}

fn build() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/thesis");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<_> = files.map(|file| file.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    let program = |path: PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let words = |key: &str| -> Vec<String> {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
        };
        let can_be_fixed = words("// expect -DFIXED:") == ["holds"];
        Program {
            built: compile(&path, &name, &[]),
            fixed: can_be_fixed
                .then(|| compile(&path, &format!("{name}-fixed"), &["-DFIXED", "-DROUNDS=1"])),
            name,
            expect: words("// expect:"),
            options: words("// options:"),
            source: path,
        }
    };
    paths.into_iter().map(program).collect()
}

fn compile(path: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("thesis-{name}"));
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    compiler.args(["cc", "-O2", "-g", "-pthread"]).args(flags).arg(path).arg("-o").arg(&built);
    let status = compiler.status().expect("the command can be started");
    assert!(status.success(), "{name} cannot be compiled");
    built
}

/// Those that can be fixed.
fn fixable() -> impl Iterator<Item = &'static Program> {
    programs().iter().filter(|program| program.fixed.is_some())
}

fn named(name: &str) -> &'static Program {
    let program = programs().iter().find(|program| program.name == name);
    program.unwrap_or_else(|| panic!("there is no {name}"))
}

fn check_all(options: &[&str]) {
    let programs = programs();
    assert!(programs.len() >= 19, "only {} programs", programs.len());
    for program in programs {
        program.holds_to_its_word(&program.check(options), options);
    }
}

#[test]
fn optimal() {
    check_all(&["--reduction", "optimal"]);
}

#[test]
fn dpor() {
    check_all(&["--reduction", "dpor"]);
}

#[test]
fn source() {
    check_all(&["--reduction", "source"]);
}

#[test]
fn best_first_by_preemptions() {
    check_all(&["--order", "best-first:preemptions", "--reduction", "dpor"]);
}

#[test]
fn best_first_at_random() {
    check_all(&["--order", "best-first:random", "--seed", "1"]);
}

#[test]
fn a_loop_for_ever_is_a_livelock_if_nothing_else_is_looked_for() {
    let said = named("nqueens_livelock").check(&["--property", "livelock"]);
    assert_eq!(said["verdict"], "violated", "{said}");
    assert_eq!(said["violation"]["kind"], "livelock", "{said}");
}

#[test]
fn best_first_finds_what_dpor_does_not_find_in_ten_times_as_many_executions() {
    let programs = programs();
    let violated: Vec<_> = programs.iter().filter(|it| it.expect[0] == "violated").collect();
    let mut early = Vec::new();
    for program in &violated {
        let options = ["--reduction", "dpor", "--order", "best-first:preemptions"];
        let best_first = program.check(&options);
        program.holds_to_its_word(&best_first, &options);
        // It may find it in as many as that, and not in one less.
        let most = (10 * executions(&best_first) - 1).to_string();
        let depth_first = program.check(&["--reduction", "dpor", "--max-executions", &most]);
        if depth_first["verdict"] == "inconclusive" {
            early.push(&program.name);
        }
    }
    assert!(
        3 * early.len() >= 2 * violated.len(),
        "{} of {}: {early:?}",
        early.len(),
        violated.len()
    );
}

#[test]
fn without_their_bugs_they_hold() {
    assert!(fixable().count() >= 15, "{}", fixable().count());
    for program in fixable() {
        for reduction in ["optimal", "dpor"] {
            let said = program.check_fixed(&["--reduction", reduction]);
            assert_eq!(said["verdict"], "holds", "{} {reduction}: {said}", program.name);
        }
    }
}

const BOUNDED: [&str; 2] = ["--reduction", "dpor"];
/// Without any reduction: sleep sets are one.
const PLAIN: [&str; 4] = ["--reduction", "none", "--sleep", "off"];

/// The preemption bound is raised one by one.
const RAISING: [&str; 3] = ["--bound", "preemption=0", "--iterate"];

#[test]
fn bounded_reduction_finds_the_deadlock_of_the_event_in_half_of_what_dpor_takes() {
    let event = named("manual_reset_event");
    let dpor = executions(&event.check(&["--reduction", "dpor"]));
    let options = [&BOUNDED[..], &RAISING].concat();
    let said = event.check(&options);
    event.holds_to_its_word(&said, &options);
    let bounded = executions(&said);
    assert!(2 * bounded <= dpor, "{bounded} of {dpor}");
}

#[test]
fn bounded_reduction_takes_a_quarter_of_bounded_search_on_message_passing() {
    let names = ["causality", "gather_post1", "gather_post2", "iterator", "scatter_gather"];
    // To the bug, as in table 8.2.
    let to_the_bug = |reduction: &[&str]| -> u64 {
        let options = [reduction, &RAISING].concat();
        let found = |name: &&str| {
            let said = named(name).check_model(&options);
            named(name).holds_to_its_word(&said, &options);
            executions(&said)
        };
        names.iter().map(found).sum()
    };
    let (bounded, plain) = (to_the_bug(&BOUNDED), to_the_bug(&PLAIN));
    assert!(4 * bounded <= plain, "{bounded} of {plain}");
    // To the end, where nothing is left to luck.
    for name in names {
        let to_the_end = |reduction: &[&str]| {
            let fixed = ["-D", "FIXED", "-D", "ROUNDS=1", "--bound", "preemption=2"];
            let said = named(name).check_model(&[reduction, &fixed].concat());
            assert_eq!(said["verdict"], "holds", "{name} {reduction:?}: {said}");
            executions(&said)
        };
        let (bounded, plain) = (to_the_end(&BOUNDED), to_the_end(&PLAIN));
        assert!(4 * bounded <= plain, "{name}: {bounded} of {plain}");
    }
}

#[test]
fn a_bound_that_cuts_nothing_costs_what_dpor_costs() {
    for program in fixable() {
        let dpor = executions(&program.check_fixed(&["--reduction", "dpor"]));
        for bound in ["preemption=1000", "delta=1000", "context=1000"] {
            let said = program.check_fixed(&["--reduction", "dpor", "--bound", bound]);
            assert_eq!(said["stats"]["bound_exceeded"], false, "{}: {said}", program.name);
            let bounded = executions(&said);
            assert!(10 * bounded <= 11 * dpor, "{} {bound}: {bounded}, {dpor}", program.name);
        }
    }
}

/// Figs. 8.5 and 8.6: nothing is asked for because of a local bound, so that none visits more than
/// `dpor` does, and what is visited twice does not become more.
#[test]
fn local_bounds_visit_no_more_than_dpor_at_any_limit() {
    for name in ["manual_reset_event", "gather_post1", "region_ownership", "scatter_gather"] {
        let program = named(name);
        let dpor = program.check_fixed(&["--reduction", "dpor", "--coverage"]);
        for kind in ["local-depth", "local-context"] {
            for limit in 0.. {
                let bound = format!("{kind}={limit}");
                let said =
                    program.check_fixed(&["--reduction", "dpor", "--coverage", "--bound", &bound]);
                let all = |said: &Value| {
                    executions(said) + said["stats"]["blocked_executions"].as_u64().unwrap_or(0)
                };
                assert!(all(&said) <= all(&dpor), "{name} {bound}: {said}");
                assert!(again(&said) <= 2.0 * again(&dpor), "{name} {bound}: {said}");
                if said["stats"]["bound_exceeded"] == false {
                    break;
                }
            }
        }
    }
}

/// How often a local state was visited.
fn again(said: &Value) -> f64 {
    let stats = &said["stats"];
    let count = |key: &str| stats[key].as_f64().expect("they are counted");
    count("visited_local_states") / count("unique_local_states").max(1.0)
}
