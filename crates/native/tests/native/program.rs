//! Compiles the programs of these tests, explores them, and asks what came of it.

use mazurka_core::{Statistics, Verdict};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The compilers of C and C++ of one maker, and the flags of its own.
#[derive(Clone, Copy)]
pub(crate) struct Compilers {
    c: &'static str,
    cxx: &'static str,
    flags: &'static [&'static str],
}

pub(crate) const GCC: Compilers = Compilers {
    c: "gcc",
    cxx: "g++",
    flags: &[
        "--param",
        "tsan-distinguish-volatile=1",
        "--param",
        "tsan-instrument-func-entry-exit=0",
        "-fno-builtin",
    ],
};

pub(crate) const CLANG: Compilers = Compilers {
    c: "clang",
    cxx: "clang++",
    flags: &[
        "-mllvm",
        "-tsan-instrument-read-before-write=1",
        "-mllvm",
        "-tsan-distinguish-volatile=1",
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
        "-fno-builtin",
    ],
};

const COMPILE: [&str; 5] = ["-O2", "-g", "-fsanitize=thread", "-fexceptions", "-c"];
const WRAP: &str =
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=strlen,--wrap=memcmp,--wrap=bcmp";

/// What a program was found to be.
pub(crate) struct Answer {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) statistics: Statistics,
    pub(crate) message: String,
    pub(crate) error: Option<String>,
    pub(crate) time_s: f64,
    pub(crate) output: Output,
}

impl Answer {
    /// The program holds, with this many executions.
    #[track_caller]
    pub(crate) fn holds(self, executions: u64) -> Self {
        assert!(
            matches!(self.verdict, Some(Verdict::Holds(_))),
            "{} {:?}",
            self.message,
            self.error
        );
        assert_eq!(self.statistics.executions, executions, "executions");
        self
    }

    /// The program is violated: of this kind, with this message.
    #[track_caller]
    pub(crate) fn violated(self, kind: &str, message: &str) -> Self {
        let Some(Verdict::Violated(found)) = &self.verdict else {
            panic!("not violated: {} {:?}", self.message, self.error);
        };
        assert_eq!(found.violation.kind.name(), kind, "{}", found.violation.message);
        assert_eq!(found.violation.message, message);
        self
    }
}

/// A program that was built, in a folder that goes away with it.
pub(crate) struct Program {
    folder: PathBuf,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Program {
    /// `name` is that of a C file, or with its end that of a C++ file.
    pub(crate) fn build(name: &str, defines: &[&str]) -> Self {
        Self::build_by(GCC, name, defines)
    }

    pub(crate) fn build_by(by: Compilers, name: &str, flags: &[&str]) -> Self {
        Self::build_in(&sources(), by, name, flags)
    }

    pub(crate) fn build_in(sources: &Path, by: Compilers, name: &str, flags: &[&str]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("mazurka-native-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        let program = Self { folder };
        let library = library();
        let (compiler, file) = match name.ends_with(".cc") {
            true => (by.cxx, name.to_owned()),
            false => (by.c, format!("{name}.c")),
        };
        run(Command::new(compiler)
            .args(COMPILE)
            .args(by.flags)
            .args(flags)
            .arg(file)
            .arg("-o")
            .arg(program.folder.join("program.o"))
            .current_dir(sources));
        run(Command::new(compiler)
            .arg(program.folder.join("program.o"))
            .args(["-Wl,-z,relro,-z,now", WRAP, "-pthread", "-L"])
            .arg(&library)
            .args(["-lmazurka_native", "-lm"])
            .arg(format!("-Wl,-rpath,{}", library.display()))
            .arg("-o")
            .arg(program.folder.join("program")));
        program
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.folder.join("program"));
        // Cargo's would come before the folder that the program was linked with.
        command.env_remove("LD_LIBRARY_PATH");
        command
    }

    pub(crate) fn explore(&self, options: &Value) -> Answer {
        self.explore_with(&[], options)
    }

    pub(crate) fn explore_with(&self, arguments: &[&str], options: &Value) -> Answer {
        let path = self.folder.join("report.json");
        let mut command = self.command();
        command.args(arguments);
        command.env("MAZURKA_REPORT", &path).env("MAZURKA_OPTIONS", options.to_string());
        let output = command.output().expect("the program can be started");
        let text = std::fs::read(&path)
            .unwrap_or_else(|error| panic!("no report: {error}; {:?}", output.status));
        let report: Value = serde_json::from_slice(&text).expect("a report is JSON");
        let get = |name: &str| report[name].clone();
        Answer {
            verdict: serde_json::from_value(get("verdict")).expect("a verdict can be read"),
            statistics: serde_json::from_value(get("statistics")).expect("and its numbers"),
            message: report["message"].as_str().unwrap_or_default().to_owned(),
            error: report["error"].as_str().map(str::to_owned),
            time_s: report["time_s"].as_f64().expect("a time is a number"),
            output,
        }
    }
}

/// The folder of the programs.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The folder of the library under test, which cargo has built beside this test.
pub(crate) fn library() -> PathBuf {
    let here = std::env::current_exe().expect("a test knows where it is");
    let mut folders = here.ancestors().skip(1);
    let found = folders.find(|folder| folder.join("libmazurka_native.so").exists());
    found.expect("cargo builds the library before its tests").to_owned()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| {
        let compiler = command.get_program().to_string_lossy();
        panic!("these tests need a compiler, and `{compiler}` cannot be started: {error}")
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
