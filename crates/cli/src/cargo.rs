//! Cargo: how the tests of a Rust project are built so that the library can run them.
//!
//! The stable compiler can be told to run the passes of its thread sanitizer without the rest of it.
//! The flags go to the project and its dependencies; since a target is named, build scripts and
//! macros that run in the compiler are left alone. All of it goes into a folder of its own beside what
//! cargo builds otherwise. Rust's standard library comes compiled and stays as it is.

use crate::arguments::Selection;
use crate::{Failure, runtime};
use serde::Deserialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compilers with which all of this was tried.
const KNOWN: &str = "1.95";
const HOST: &str = "x86_64-unknown-linux-gnu";
const TIP: &str =
    "take a toolchain that is known to work, for instance by `rustup override set 1.95`";
/// Between the flags in the variable that cargo reads.
const SEPARATOR: &str = "\x1f";

/// The passes of the sanitizer, for every function. Before them, variables move into registers as far
/// as they can: without optimisation every result is stored first, and the library could not tell
/// whether anybody looks at it. Functions keep their entries in an optimised build, too: the library tells
/// calls of the standard library by them.
const INSTRUMENT: [&str; 2] = [
    "-Cpasses=forceattrs,function(sroa),tsan-module,function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread -tsan-instrument-func-entry-exit=0 \
     -tsan-distinguish-volatile=1 -tsan-instrument-read-before-write=1 -force-attribute=noinline",
];

/// Functions of the project that were compiled into one program.
#[derive(Debug)]
pub(crate) struct TestProgram {
    /// What its user calls it: the package, and the target if that is not its library.
    pub(crate) name: String,
    /// The flags that select it alone; none for an example.
    pub(crate) target: Vec<String>,
    pub(crate) program: PathBuf,
    /// The folder of the package, where its tests run.
    pub(crate) folder: PathBuf,
}

/// A test.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) is_ignored: bool,
}

/// Builds the tests of a selection.
pub(crate) fn build(selection: &Selection) -> Result<Vec<TestProgram>, Failure> {
    probe()?;
    let mut command = cargo();
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    command.args(["--target", HOST, "--target-dir"]).arg(target_folder(selection)?);
    command.args(selection.words()).stderr(Stdio::inherit());
    command.env("CARGO_ENCODED_RUSTFLAGS", flags()?.join(SEPARATOR));
    // An optimised build tells its lines, too.
    command.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
    // Otherwise the compiler inlines functions of the standard library before LLVM is asked not to.
    command.env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    if !output.status.success() {
        return Err(Failure::input("the tests cannot be built"));
    }
    Ok(programs_of(&output.stdout))
}

/// The programs that cargo says it has built: as they are ready, in any order.
fn programs_of(messages: &[u8]) -> Vec<TestProgram> {
    let lines = messages.split(|&byte| byte == b'\n');
    let messages = lines.filter_map(|line| serde_json::from_slice(line).ok());
    let mut programs: Vec<TestProgram> = messages.filter_map(program_of).collect();
    programs.sort_by(|one, other| one.order().cmp(&other.order()));
    programs
}

impl TestProgram {
    /// The order in which `cargo test` runs them.
    fn order(&self) -> (&Path, usize, &str) {
        let kinds = ["--lib", "--bin", "--example", "--test"];
        let kind = self.target.first().map_or("--example", String::as_str);
        let rank = kinds.iter().position(|&it| it == kind);
        (&self.folder, rank.unwrap_or(kinds.len()), &self.name)
    }
}

/// The tests that a program has.
pub(crate) fn list(program: &TestProgram) -> Result<Vec<Test>, Failure> {
    let all = names(program, &[])?;
    let ignored = names(program, &["--ignored"])?;
    let test = |name: String| Test { is_ignored: ignored.contains(&name), name };
    Ok(all.into_iter().map(test).collect())
}

fn names(program: &TestProgram, more: &[&str]) -> Result<Vec<String>, Failure> {
    let mut command = Command::new(&program.program);
    command.args(["--list", "--format", "terse"]).args(more).current_dir(&program.folder);
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    if !output.status.success() {
        let text =
            format!("`{}` does not list its tests: it has a harness of its own", program.name);
        return Err(Failure::input(text).help("leave it out, for instance by `--lib` or `--test`"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Where everything goes: beside what cargo builds otherwise.
fn target_folder(selection: &Selection) -> Result<PathBuf, Failure> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let mut command = cargo();
    command
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .args(selection.manifest_words());
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    let metadata: Option<Metadata> = serde_json::from_slice(&output.stdout).ok();
    match metadata {
        Some(metadata) => Ok(metadata.target_directory.join("mazurka")),
        None => Err(Failure::input("there is no cargo project here")
            .help("go to one, or name its `Cargo.toml` by `--manifest-path`")),
    }
}

/// The flags of every crate: those of the user, and ours.
fn flags() -> Result<Vec<String>, Failure> {
    let encoded = std::env::var("CARGO_ENCODED_RUSTFLAGS").ok();
    let plain = || std::env::var("RUSTFLAGS").ok();
    let mut flags: Vec<String> = match encoded {
        Some(text) => text.split(SEPARATOR).map(str::to_owned).collect(),
        None => plain().unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
    };
    flags.retain(|flag| !flag.is_empty());
    let library = runtime::library()?;
    let folder = library.parent().unwrap_or(Path::new(".")).display().to_string();
    flags.extend(INSTRUMENT.map(str::to_owned));
    flags.extend([
        "-ldylib=mazurka_native".to_owned(),
        format!("-Lnative={folder}"),
        // Addresses are bound at the start, so that no execution binds one.
        "-Clink-arg=-Wl,-z,relro,-z,now".to_owned(),
    ]);
    // Before the folders of `LD_LIBRARY_PATH`, and commas are fine, as in `compiler::link_with`.
    for word in ["--disable-new-dtags", "-rpath", &folder] {
        flags.extend(["-Clink-arg=-Xlinker".to_owned(), format!("-Clink-arg={word}")]);
    }
    Ok(flags)
}

/// Whether the compiler instruments as we ask it to.
fn probe() -> Result<(), Failure> {
    let folder = mazurka_check::native::folder()?;
    let source = folder.path().join("probe.rs");
    let object = folder.path().join("probe.o");
    let text = "#![no_std]\npub fn probe(x: &core::sync::atomic::AtomicU32, y: &mut u32) {\n    \
                *y = x.load(core::sync::atomic::Ordering::SeqCst);\n}\n";
    std::fs::write(&source, text).map_err(|error| Failure::input(error.to_string()))?;
    let version = version()?;
    let mut command = rustc();
    command.args(["--crate-type=lib", "--emit=obj", "--edition=2021", "-o"]).arg(&object);
    command.args(INSTRUMENT).arg(&source);
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    let wanted = [b"__tsan_atomic32_load".as_slice(), b"__tsan_write4".as_slice()];
    let made = std::fs::read(&object).unwrap_or_default();
    let has = |name: &[u8]| made.windows(name.len()).any(|part| part == name);
    if output.status.success() && wanted.into_iter().all(has) {
        return Ok(());
    }
    let text = format!("rustc {version} does not instrument as it should; {KNOWN} is known to");
    Err(Failure::input(text).help(TIP))
}

/// The version of the compiler, which must be for this kind of machine.
fn version() -> Result<String, Failure> {
    let mut command = rustc();
    command.arg("-vV");
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    match field("host:").as_str() {
        HOST => Ok(field("release:")),
        other => {
            Err(Failure::input(format!("not supported here yet: `{other}`, only `{HOST}` is")))
        }
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    let program: &OsStr = command.get_program();
    let text = format!("`{}` cannot be started: {error}", program.display());
    Failure::input(text).help("install Rust by https://rustup.rs")
}

/// What cargo says of something that it has built.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

fn program_of(message: Message) -> Option<TestProgram> {
    let Message { executable, manifest_path, profile, target } = message;
    let (program, target) = (executable?, target?);
    if !profile?.test || target.kind.iter().any(|kind| kind == "bench") {
        return None;
    }
    let folder = manifest_path?.parent()?.to_owned();
    let kind = target.kind.first().map_or("lib", String::as_str);
    let (name, target) = match kind {
        "test" | "bin" => {
            (format!("{kind} {}", target.name), vec![format!("--{kind}"), target.name])
        }
        "example" => (format!("{kind} {}", target.name), Vec::new()),
        _ => (target.name, vec!["--lib".to_owned()]),
    };
    Some(TestProgram { name, target, program, folder })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_are_in_the_order_of_cargo_test() {
        let message = |package: &str, kind: &str, name: &str| {
            let message = json!({
                "executable": "program", "manifest_path": format!("{package}/Cargo.toml"),
                "profile": {"test": true}, "target": {"name": name, "kind": [kind]},
            });
            format!("{message}\n")
        };
        let built = [
            message("a", "test", "z"),
            message("b", "lib", "b"),
            message("a", "test", "y"),
            message("a", "bench", "x"),
            message("a", "lib", "a"),
            message("a", "bin", "a"),
        ];
        let programs = programs_of(built.concat().as_bytes());
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["a", "bin a", "test y", "test z", "b"]);
        let targets: Vec<String> =
            programs.iter().map(|program| program.target.join(" ")).collect();
        assert_eq!(targets, ["--lib", "--bin a", "--test y", "--test z", "--lib"]);
    }
}
