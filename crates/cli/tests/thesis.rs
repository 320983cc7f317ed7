//! The programs of Coons' thesis, tables 3.1 and 8.1, as C programs with planted bugs: each search
//! comes to what the head of the file says, and best-first search comes to it early.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A program, and what its head says.
struct Program {
    name: String,
    /// What `mazurka cc` has made of it.
    built: PathBuf,
    /// `holds`, or `violated` and of which kind.
    expect: Vec<String>,
    options: Vec<String>,
}

impl Program {
    /// What a search with these options says.
    fn check(&self, options: &[&str]) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["run", "--json", "-"]).args(&self.options).args(options);
        command.arg("--").arg(&self.built);
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
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("thesis-{name}"));
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        compiler.args(["cc", "-O2", "-g", "-pthread"]).arg(&path).arg("-o").arg(&built);
        let status = compiler.status().expect("the command can be started");
        assert!(status.success(), "{name} cannot be compiled");
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let words = |key: &str| -> Vec<String> {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
        };
        Program { name, built, expect: words("// expect:"), options: words("// options:") }
    };
    paths.into_iter().map(program).collect()
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
    let program = programs().iter().find(|it| it.name == "nqueens_livelock");
    let said = program.expect("it is there").check(&["--property", "livelock"]);
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
