//! How soon planted bugs are found: `cargo run --release -p mazurka-lab --bin thesis`, after
//! `cargo build --release -p mazurka-cli`.
//!
//! Prints, as comma-separated values, what each search says of each program in `corpus/c/thesis`:
//! Coons' thesis, Fig. 3.4 and table 8.2. With arguments, only programs whose names contain one of
//! them. A search takes at most [`MOST`] executions; `MAZURKA` may name another command to measure.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const MOST: &str = "20000";

/// What is compared, by its name in the table.
const SEARCHES: [(&str, &[&str]); 7] = [
    ("dpor", &["--reduction", "dpor"]),
    ("source", &["--reduction", "source"]),
    ("optimal", &["--reduction", "optimal"]),
    ("dpor preemptions", &["--reduction", "dpor", "--order", "best-first:preemptions"]),
    ("source preemptions", &["--reduction", "source", "--order", "best-first:preemptions"]),
    ("dpor random", &["--reduction", "dpor", "--order", "best-first:random", "--seed", "1"]),
    (
        "none backtrack,preemptions",
        &["--reduction", "none", "--order", "best-first:backtrack,preemptions"],
    ),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match table(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(wanted: &[String]) -> Result<(), String> {
    let mazurka = command()?;
    println!("program,search,verdict,kind,executions,given up,steps,local states,seconds");
    for path in programs()? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        for (search, options) in SEARCHES {
            let said = check(&mazurka, &path, options)?;
            let kind = said["violation"]["kind"].as_str().unwrap_or("");
            let stats = &said["stats"];
            println!(
                "{name},\"{search}\",{},{kind},{},{},{},{},{}",
                said["verdict"].as_str().unwrap_or(""),
                stats["executions"],
                stats["blocked_executions"],
                stats["transitions"],
                stats["unique_local_states"],
                stats["time_s"],
            );
        }
    }
    Ok(())
}

/// The command that is measured: beside this one, unless the user says otherwise.
fn command() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("MAZURKA") {
        return Ok(path.into());
    }
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = here.with_file_name("mazurka");
    let is_there = path.exists();
    is_there.then_some(path).ok_or_else(|| "build `mazurka-cli` in the same profile first".into())
}

fn programs() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/thesis");
    let files = std::fs::read_dir(&folder).map_err(|it| format!("{}: {it}", folder.display()))?;
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    Ok(paths)
}

/// The object that a search of a program prints.
fn check(mazurka: &Path, path: &Path, options: &[&str]) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let own = text.lines().find_map(|line| line.strip_prefix("// options:")).unwrap_or_default();
    let mut command = Command::new(mazurka);
    command.arg("check").arg(path).args(own.split_whitespace()).args(options);
    command.args(["--json", "-", "--coverage", "--max-executions", MOST]);
    let output = command.output().map_err(|error| format!("{}: {error}", mazurka.display()))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{} {options:?}: {error}\n{stderr}", path.display())
    })
}
