//! Cargo: how the tests of a Rust project are built so that the library can run them.
//!
//! The stable compiler can be told to run the passes of its thread sanitizer without the rest of
//! it. The flags go to the project and its dependencies; since a target is named, build scripts and
//! macros that run in the compiler are left alone. All of it goes into a folder of its own beside
//! what cargo builds otherwise. Rust's standard library comes compiled and stays as it is.
//!
//! The condition `mazurka` is set, so that a test may be smaller here: `if cfg!(mazurka) { 2 } else
//! { 1000 }`.

use crate::manifest::{Manifests, Project, Target};
use crate::{Event, Listener, Selection};
use mazurka_check::Fault;
use mazurka_check::native::{Toolchain, compiler, os};
use mazurka_core::Limit;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The compilers with which all of this was tried.
const KNOWN: &str = "1.95";
const HOST: &str = "x86_64-unknown-linux-gnu";
const TIP: &str =
    "take a toolchain that is known to work, for instance by `rustup override set 1.95`";
/// Between the flags in the variable that cargo reads.
const SEPARATOR: &str = "\x1f";

/// The passes of the sanitizer, for every function. Before them, variables move into registers as
/// far as they can: without optimisation every result is stored first, and the library could not
/// tell whether anybody looks at it. Functions keep their entries in an optimised build, too: the
/// library tells calls of the standard library by them.
const INSTRUMENT: [&str; 2] = [
    "-Cpasses=forceattrs,function(sroa),tsan-module,function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread -tsan-instrument-func-entry-exit=0 \
     -tsan-distinguish-volatile=1 -tsan-instrument-read-before-write=1 -force-attribute=noinline",
];

/// A program with tests of the project.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// What its user calls it: the target, and its kind if that is not the library. With the
    /// package if there are several.
    pub name: String,
    /// The package.
    pub package: String,
    /// The flags that select its target alone.
    pub target: Vec<String>,
    /// The file.
    pub program: PathBuf,
    /// The folder of the package, where its tests run.
    pub folder: PathBuf,
}

/// A test.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) is_ignored: bool,
}

/// What `cargo test` would run and this command does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A target with `harness = false`.
    OwnHarness(String),
    /// Examples in the documentation of a package.
    Documentation(String),
}

impl LeftOut {
    /// What it is.
    pub fn name(&self) -> String {
        match self {
            Self::OwnHarness(name) => name.clone(),
            Self::Documentation(package) => format!("examples in the documentation of {package}"),
        }
    }

    /// Why it is not run.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::OwnHarness(_) => "it has a harness of its own (`harness = false`)",
            Self::Documentation(_) => {
                "they are programs of their own; `cargo test --doc` runs them"
            }
        }
    }
}

/// What was built.
#[derive(Debug)]
pub struct Built {
    /// The programs with tests, in the order in which `cargo test` runs them.
    pub programs: Vec<TestProgram>,
    /// What is not run.
    pub left_out: Vec<LeftOut>,
    /// Whether there are several packages, so that names need theirs.
    pub has_packages: bool,
    /// Where everything is that was built.
    pub folder: PathBuf,
}

/// A build of the tests of a project.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Which tests.
    pub selection: &'a Selection,
    /// Where the runtime library is found that they are linked with.
    pub toolchain: &'a Toolchain,
    /// Makes it stop, once true.
    pub stop: Option<&'static AtomicBool>,
    /// Whether cargo and the compiler tell nothing but errors.
    pub is_quiet: bool,
    /// Whether what the compiler says has colours.
    pub is_coloured: bool,
}

impl Build<'_> {
    /// Builds the tests; what cargo says on the way goes to the listener.
    pub fn run(&self, listener: &dyn Listener) -> Result<Built, Fault> {
        probe()?;
        let &Self { selection, is_quiet, .. } = self;
        let project = project(selection, listener)?;
        let folder = project.target_directory.join("mazurka");
        let mut command = cargo();
        let format = if self.is_coloured { "json-diagnostic-rendered-ansi" } else { "json" };
        command.args(["test", "--no-run", &format!("--message-format={format}")]);
        command.args(["--target", HOST, "--target-dir"]).arg(&folder);
        command.args(selection.words()).stdout(Stdio::piped());
        if is_quiet {
            command.arg("--quiet");
        }
        let library = (self.toolchain.library)()?;
        command.env("CARGO_ENCODED_RUSTFLAGS", flags(&library).join(SEPARATOR));
        // An optimised build tells its lines, too.
        command.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
        // Otherwise the compiler inlines functions of the standard library before LLVM is asked
        // not to.
        command.env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
        let mut child = command.spawn().map_err(|error| cannot_start(&command, &error))?;
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut diagnostics = Diagnostics::new(is_quiet, listener);
        let mut artifacts = Vec::new();
        for line in output.lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
            diagnostics.hear(&message);
            artifacts.extend(Artifact::of(message));
        }
        let status = child.wait().map_err(|error| cannot_start(&command, &error))?;
        if self.is_stopped() {
            let text = "interrupted while the tests were built";
            return Err(Fault::limit(Limit::Interrupted, text));
        }
        if !status.success() {
            diagnostics.tell_rest();
            return Err(Fault::input("the tests cannot be built"));
        }
        let mut built = Built::of(artifacts, &project, folder)?;
        if !selection.names_targets() {
            built.tell_of_documentation(&project);
        }
        Ok(built)
    }

    /// Whether it is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Built {
    /// The programs that cargo says it has built: as they are ready, in any order.
    fn of(artifacts: Vec<Artifact>, project: &Project, folder: PathBuf) -> Result<Self, Fault> {
        let package =
            |manifest: &Path| project.package_name(manifest).unwrap_or_default().to_owned();
        let packages: BTreeSet<&Path> = artifacts.iter().map(|it| it.manifest.as_path()).collect();
        let has_packages = packages.len() > 1;
        let mut manifests = Manifests::default();
        let mut all = Vec::new();
        for artifact in artifacts {
            let own = manifests.own_harness(&artifact.manifest)?.has(&artifact.target);
            all.push((artifact.program(package, has_packages), own));
        }
        all.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
        let (own, programs): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, own)| *own);
        let left_out = own.into_iter().map(|(program, _)| LeftOut::OwnHarness(program.name));
        let programs = programs.into_iter().map(|(program, _)| program).collect();
        Ok(Self { programs, left_out: left_out.collect(), has_packages, folder })
    }

    /// Adds the packages with examples in their documentation.
    fn tell_of_documentation(&mut self, project: &Project) {
        let packages: BTreeMap<&str, &Path> =
            self.programs.iter().map(|it| (it.package.as_str(), it.folder.as_path())).collect();
        let documented =
            packages.iter().filter(|(_, folder)| project.has_doc_tests(&folder.join("Cargo.toml")));
        let documented = documented.map(|(name, _)| LeftOut::Documentation((*name).to_owned()));
        let documented: Vec<LeftOut> = documented.collect();
        self.left_out.extend(documented);
    }

    /// Gives the programs second names in a folder of this run, so that another run which builds
    /// them anew does not change them under this one. They go away with the value.
    pub fn keep(&mut self) -> Result<tempfile::TempDir, Fault> {
        let cannot = |error| Fault::input(format!("no folder for this run can be made: {error}"));
        remove_left_behind(&self.folder);
        let prefix = format!("{RUN}{}-", std::process::id());
        let kept = tempfile::Builder::new().prefix(&prefix).tempdir_in(&self.folder);
        let kept = kept.map_err(cannot)?;
        for (idx, program) in self.programs.iter_mut().enumerate() {
            let folder = kept.path().join(idx.to_string());
            std::fs::create_dir(&folder).map_err(cannot)?;
            let name = folder.join(program.program.file_name().unwrap_or(OsStr::new("program")));
            std::fs::hard_link(&program.program, &name)
                .or_else(|_| std::fs::copy(&program.program, &name).map(drop))
                .map_err(cannot)?;
            program.program = name;
        }
        Ok(kept)
    }
}

/// What the name of the folder of a run begins with.
const RUN: &str = "run-";

/// How long the folder of a run is left alone at least.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes folders of runs that were killed.
fn remove_left_behind(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|it| it.strip_prefix(RUN)?.split_once('-'));
        let process = number.and_then(|(number, _)| number.parse().ok());
        // In another container the number may mean another process.
        let age =
            entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
        let is_old = age.is_some_and(|age| age >= KEPT_FOR);
        if is_old && process.is_some_and(os::has_ended) {
            // Another run may be faster.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl TestProgram {
    /// The order in which `cargo test` runs them.
    fn order(&self) -> (&Path, usize, &str) {
        let kinds = ["--lib", "--bin", "--example", "--test", "--bench"];
        let kind = self.target.first().map_or("--example", String::as_str);
        let rank = kinds.iter().position(|&it| it == kind);
        (&self.folder, rank.unwrap_or(kinds.len()), &self.name)
    }
}

/// The tests that a program of a build has.
pub(crate) fn list(build: &Build<'_>, program: &TestProgram) -> Result<Vec<Test>, Fault> {
    let all = names(build, program, &[])?;
    let ignored: BTreeSet<String> = names(build, program, &["--ignored"])?.into_iter().collect();
    let test = |name: String| Test { is_ignored: ignored.contains(&name), name };
    Ok(all.into_iter().map(test).collect())
}

fn names(build: &Build<'_>, program: &TestProgram, more: &[&str]) -> Result<Vec<String>, Fault> {
    let mut command = Command::new(&program.program);
    command.args(["--list", "--format", "terse"]).args(more).current_dir(&program.folder);
    command.stdin(Stdio::null());
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    if build.is_stopped() {
        let text = "interrupted while the tests were listed";
        return Err(Fault::limit(Limit::Interrupted, text));
    }
    if !output.status.success() {
        let status = output.status;
        let text = format!("`{}` does not list its tests: it ends with {status}", program.name);
        return Err(Fault::input(text).help(
            "leave it out, for instance by `--lib` or `--test`, if it has a harness of its own",
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// What cargo knows of the project.
fn project(selection: &Selection, listener: &dyn Listener) -> Result<Project, Fault> {
    let mut command = cargo();
    command
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .args(selection.manifest_words());
    // Its warnings come again with the build.
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    let mut project = Project::of(&output.stdout).ok_or_else(|| {
        tell_cargo(&String::from_utf8_lossy(&output.stderr), listener);
        match selection.has_manifest() {
            true => Fault::input("cargo cannot read the project"),
            false => Fault::input("there is no cargo project here")
                .help("go to one, or name its `Cargo.toml` by `--manifest-path`"),
        }
    })?;
    if let Some(folder) = selection.target_folder() {
        project.target_directory = std::path::absolute(folder)
            .map_err(|error| Fault::input(format!("`{}`: {error}", folder.display())))?;
    }
    Ok(project)
}

/// Says what cargo says.
fn tell_cargo(text: &str, listener: &dyn Listener) {
    if !text.is_empty() {
        listener.event(&Event::Cargo(text.trim_end()));
    }
}

/// Warnings and errors of the compiler: each is told once, and warnings only when something is
/// compiled, though cargo repeats them with every build.
struct Diagnostics<'a> {
    is_quiet: bool,
    listener: &'a dyn Listener,
    told: BTreeSet<String>,
    /// Warnings of targets of which it is not known yet whether they are compiled.
    open: Vec<(String, String)>,
}

impl<'a> Diagnostics<'a> {
    fn new(is_quiet: bool, listener: &'a dyn Listener) -> Self {
        Self { is_quiet, listener, told: BTreeSet::new(), open: Vec::new() }
    }

    fn hear(&mut self, message: &Message) {
        let target = message.target.as_ref().map(|it| format!("{} {}", it.kind(), it.name));
        let unit = format!("{:?} {target:?}", message.package_id);
        match (&message.message, message.fresh) {
            (Some(found), _) if found.level.starts_with("error") => self.tell(&found.rendered),
            (Some(found), _) => self.open.push((unit, found.rendered.clone())),
            (None, Some(is_fresh)) => {
                let (of_unit, open) = self.open.drain(..).partition(|(it, _)| *it == unit);
                self.open = open;
                if !is_fresh {
                    let all: Vec<(String, String)> = of_unit;
                    all.iter().for_each(|(_, rendered)| self.warn(rendered));
                }
            }
            (None, None) => {}
        }
    }

    /// Tells what is left of a build that has failed.
    fn tell_rest(&mut self) {
        let open = std::mem::take(&mut self.open);
        open.iter().for_each(|(_, rendered)| self.warn(rendered));
    }

    fn warn(&mut self, rendered: &str) {
        if !self.is_quiet {
            self.tell(rendered);
        }
    }

    fn tell(&mut self, rendered: &str) {
        if self.told.insert(rendered.to_owned()) {
            self.listener.event(&Event::Diagnostic(rendered.trim_end()));
        }
    }
}

/// The flags of every crate: those of the user, and ours, which link it with the library.
fn flags(library: &Path) -> Vec<String> {
    let encoded = std::env::var("CARGO_ENCODED_RUSTFLAGS").ok();
    let plain = || std::env::var("RUSTFLAGS").ok();
    let mut flags: Vec<String> = match encoded {
        Some(text) => text.split(SEPARATOR).map(str::to_owned).collect(),
        None => plain().unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
    };
    flags.retain(|flag| !flag.is_empty());
    let folder = library.parent().unwrap_or(Path::new(".")).display().to_string();
    flags.extend(INSTRUMENT.map(str::to_owned));
    flags.extend(["--cfg=mazurka", "--check-cfg=cfg(mazurka)"].map(str::to_owned));
    flags.extend([
        "-ldylib=mazurka_native".to_owned(),
        format!("-Lnative={folder}"),
        // Addresses are bound at the start, so that no execution binds one.
        "-Clink-arg=-Wl,-z,relro,-z,now".to_owned(),
    ]);
    // What comes compiled, such as the standard library, calls these directly.
    flags.extend(compiler::WRAPPED.map(|it| format!("-Clink-arg={it}")));
    // Before the folders of `LD_LIBRARY_PATH`, and commas are fine, as in `compiler::link_with`.
    for word in ["--disable-new-dtags", "-rpath", &folder] {
        flags.extend(["-Clink-arg=-Xlinker".to_owned(), format!("-Clink-arg={word}")]);
    }
    flags
}

/// Whether the compiler instruments as we ask it to.
fn probe() -> Result<(), Fault> {
    let folder = mazurka_check::native::folder()?;
    let source = folder.path().join("probe.rs");
    let object = folder.path().join("probe.o");
    let text = "#![no_std]\npub fn probe(x: &core::sync::atomic::AtomicU32, y: &mut u32) {\n    \
                *y = x.load(core::sync::atomic::Ordering::SeqCst);\n}\n";
    std::fs::write(&source, text).map_err(|error| Fault::input(error.to_string()))?;
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
    Err(Fault::input(text).help(TIP))
}

/// The version of the compiler, which must be for this kind of machine.
fn version() -> Result<String, Fault> {
    let mut command = rustc();
    command.arg("-vV");
    let output = command.output().map_err(|error| cannot_start(&command, &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    match field("host:").as_str() {
        HOST => Ok(field("release:")),
        other => Err(Fault::input(format!("not supported here yet: `{other}`, only `{HOST}` is"))),
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Fault {
    let program: &OsStr = command.get_program();
    let text = format!("`{}` cannot be started: {error}", program.display());
    Fault::input(text).help("install Rust by https://rustup.rs")
}

/// What cargo says of something that it builds.
#[derive(Deserialize)]
struct Message {
    package_id: Option<String>,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
    /// Whether it was built before.
    fresh: Option<bool>,
    /// What the compiler says.
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    #[serde(default)]
    rendered: String,
}

/// A program that was built to test a target.
struct Artifact {
    program: PathBuf,
    manifest: PathBuf,
    target: Target,
}

impl Artifact {
    fn of(message: Message) -> Option<Self> {
        let Message { executable, manifest_path, profile, target, .. } = message;
        let (program, manifest, target) = (executable?, manifest_path?, target?);
        profile?.test.then_some(Self { program, manifest, target })
    }

    fn program(&self, package: impl Fn(&Path) -> String, has_packages: bool) -> TestProgram {
        let folder = self.manifest.parent().unwrap_or(Path::new(".")).to_owned();
        let (package, target) = (package(&self.manifest), &self.target);
        let (name, flags) = match target.kind() {
            "lib" => (target.name.clone(), vec!["--lib".to_owned()]),
            kind => {
                let flags = vec![format!("--{kind}"), target.name.clone()];
                let name = format!("{kind} {}", target.name);
                (if has_packages { format!("{package} {name}") } else { name }, flags)
            }
        };
        TestProgram { name, package, target: flags, program: self.program.clone(), folder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn built(messages: &[(&str, &str, &str)]) -> Built {
        let folder = tempfile::tempdir().expect("there is room");
        let manifest = |package: &str| folder.path().join(package).join("Cargo.toml");
        for package in ["a", "b"] {
            std::fs::create_dir(folder.path().join(package)).expect("there is room");
            let text = "[[test]]\nname = \"own\"\nharness = false\n";
            std::fs::write(manifest(package), text).expect("there is room");
        }
        let packages = ["a", "b"]
            .map(|name| json!({"name": name, "manifest_path": manifest(name), "targets": []}));
        let metadata = json!({"target_directory": "target", "packages": packages}).to_string();
        let project = Project::of(metadata.as_bytes()).expect("it is metadata");
        let artifacts = messages.iter().filter_map(|(package, kind, name)| {
            let message = json!({
                "executable": "program", "manifest_path": manifest(package),
                "profile": {"test": true}, "target": {"name": name, "kind": [kind]},
            });
            Artifact::of(serde_json::from_value(message).expect("it is a message"))
        });
        Built::of(artifacts.collect(), &project, PathBuf::new()).expect("all can be read")
    }

    fn names(built: &Built) -> Vec<&str> {
        built.programs.iter().map(|program| program.name.as_str()).collect()
    }

    #[test]
    fn programs_are_in_the_order_of_cargo_test() {
        let all = [("a", "test", "z"), ("a", "test", "y"), ("a", "rlib", "a"), ("a", "bin", "a")];
        let built = built(&all);
        assert_eq!(names(&built), ["a", "bin a", "test y", "test z"]);
        let targets: Vec<String> =
            built.programs.iter().map(|program| program.target.join(" ")).collect();
        assert_eq!(targets, ["--lib", "--bin a", "--test y", "--test z"]);
    }

    #[test]
    fn several_packages_are_named_and_own_harnesses_are_left_out() {
        let all =
            [("b", "test", "it"), ("a", "test", "own"), ("b", "lib", "b"), ("a", "test", "it")];
        let built = built(&all);
        assert_eq!(names(&built), ["a test it", "b", "b test it"]);
        assert_eq!(built.left_out, [LeftOut::OwnHarness("a test own".to_owned())]);
    }

    /// Cargo repeats the warnings of what it has built before.
    #[test]
    fn warnings_are_told_once() {
        let message = |name: &str, more: serde_json::Value| {
            let mut message = json!({"package_id": "a", "target": {"name": name, "kind": ["lib"]}});
            message
                .as_object_mut()
                .expect("an object")
                .extend(more.as_object().expect("an object").clone());
            serde_json::from_value::<Message>(message).expect("it is a message")
        };
        let warning = |text: &str| json!({"message": {"level": "warning", "rendered": text}});
        let mut diagnostics = Diagnostics::new(false, &());
        diagnostics.hear(&message("old", warning("unused")));
        diagnostics.hear(&message("new", warning("dead")));
        diagnostics.hear(&message("old", json!({"fresh": true})));
        assert!(diagnostics.told.is_empty(), "it was told when it was compiled");
        diagnostics.hear(&message("new", json!({"fresh": false})));
        assert_eq!(diagnostics.told.iter().collect::<Vec<_>>(), ["dead"]);
        assert!(diagnostics.open.is_empty());
        let mut quiet = Diagnostics::new(true, &());
        quiet.hear(&message("new", warning("dead")));
        quiet.hear(&message("new", json!({"fresh": false})));
        quiet.hear(&message("new", json!({"message": {"level": "error", "rendered": "no"}})));
        assert_eq!(quiet.told.iter().collect::<Vec<_>>(), ["no"]);
    }
}
