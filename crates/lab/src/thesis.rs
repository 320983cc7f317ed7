//! The programs of Coons' thesis, in `corpus/c/thesis`, and what `mazurka check` says of them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, and the command that is asked about it.
pub struct Program {
    /// What people call it.
    pub name: String,
    path: PathBuf,
    /// What its head asks for.
    options: Vec<String>,
    /// Whether it can be compiled without its bug.
    pub can_be_fixed: bool,
    mazurka: PathBuf,
}

impl Program {
    /// The object that a search with these options prints; `flags` are for the compiler. A search
    /// takes at most `most` executions.
    pub fn check(&self, flags: &str, options: &[&str], most: u64) -> Result<Value, String> {
        let mut command = Command::new(&self.mazurka);
        command.arg("check").arg(&self.path).args(&self.options).args(options);
        command.args(["--json", "-", "--coverage", "--max-executions", &most.to_string()]);
        if !flags.is_empty() {
            command.arg(format!("--cflags={flags}"));
        }
        let output = command.output().map_err(|it| format!("{}: {it}", self.mazurka.display()))?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("{} {options:?}: {error}\n{stderr}", self.path.display())
        })
    }
}

/// The programs whose names contain one of `wanted`, or all if nothing is wanted, in the order of
/// their names.
///
/// What is asked is the command `mazurka` beside the one that runs, unless `MAZURKA` names another.
pub fn programs(wanted: &[String]) -> Result<Vec<Program>, String> {
    let mazurka = command()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/thesis");
    let files = std::fs::read_dir(&folder).map_err(|it| format!("{}: {it}", folder.display()))?;
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    let mut programs = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let options = text.lines().find_map(|line| line.strip_prefix("// options:"));
        programs.push(Program {
            name,
            path,
            options: options.unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            can_be_fixed: text.contains("// expect -DFIXED: holds"),
            mazurka: mazurka.clone(),
        });
    }
    Ok(programs)
}

fn command() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("MAZURKA") {
        return Ok(path.into());
    }
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = here.with_file_name("mazurka");
    let is_there = path.exists();
    is_there.then_some(path).ok_or_else(|| "build `mazurka-cli` in the same profile first".into())
}
