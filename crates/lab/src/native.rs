//! C programs of known size: how many traces each has, and what exploring them natively takes.

use mazurka_core::Verdict;
use mazurka_protocol::{REPORT, REQUEST, Reply, Request};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of the folder `programs`, in some size.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of its file.
    pub name: &'static str,
    /// What its constant `N` is.
    pub size: u32,
    /// How many traces it has.
    pub traces: u64,
    /// The executions a second of GenMC 0.11, where they are known.
    pub genmc: Option<f64>,
}

/// What exploring a program took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The executions, all of them to the end of the program.
    pub executions: u64,
    /// The time of the processor, in the program and in the system.
    pub user_s: f64,
    /// The part of it that the kernel has used.
    pub system_s: f64,
    /// The largest resident set.
    pub peak_memory: u64,
}

impl Measured {
    /// Executions in a second of the processor.
    pub fn rate(self) -> f64 {
        self.executions as f64 / (self.user_s + self.system_s)
    }
}

/// Why there is no measurement.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const COMPILE: [&str; 8] = [
    "-O2",
    "-g",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
    "-fno-builtin",
    "-c",
    "-o",
];
const LINK: [&str; 3] =
    ["-Wl,-z,relro,-z,now", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset", "-pthread"];

impl Case {
    /// Compiles the program into a folder that is there, and explores it. It must hold.
    pub fn explore(self, folder: &Path) -> Result<Measured, Error> {
        self.explore_with(folder, &Request::default(), "holds")
    }

    /// The same for the first so many executions; it must have more.
    pub fn explore_first(self, folder: &Path, executions: u64) -> Result<Measured, Error> {
        let mut request = Request::default();
        request.options.max_executions = Some(executions);
        self.explore_with(folder, &request, "inconclusive")
    }

    fn explore_with(
        self,
        folder: &Path,
        request: &Request,
        verdict: &str,
    ) -> Result<Measured, Error> {
        let program = self.build(folder)?;
        let path = program.with_extension("json");
        let asked = program.with_extension("request.json");
        mazurka_protocol::write(&asked, request)
            .map_err(|error| self.error(format!("cannot be asked: {error}")))?;
        let status = Command::new(&program)
            .env(REPORT, &path)
            .env(REQUEST, &asked)
            .env_remove("LD_LIBRARY_PATH")
            .status();
        status.map_err(|error| self.error(format!("cannot be started: {error}")))?;
        let reply = mazurka_protocol::read(&path).map_err(|error| self.error(error.to_string()))?;
        let report = match reply {
            Reply::Explored(report) if Verdict::name(&report.verdict) == verdict => report,
            other => return Err(self.error(format!("is not `{verdict}`: {other:?}"))),
        };
        Ok(Measured {
            executions: report.statistics.executions,
            user_s: report.used.user.as_secs_f64(),
            system_s: report.used.system.as_secs_f64(),
            peak_memory: report.used.peak_memory.unwrap_or(0),
        })
    }

    fn build(self, folder: &Path) -> Result<PathBuf, Error> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(self.name);
        let program = folder.join(format!("{}{}", self.name, self.size));
        let object = program.with_extension("o");
        let library = library().ok_or_else(|| {
            Error(
                "libmazurka_native.so is not beside this program: build mazurka-native".to_owned(),
            )
        })?;
        let mut compile = Command::new("gcc");
        compile.args(COMPILE).arg(&object).arg(format!("-DN={}", self.size));
        self.run(compile.arg(source.with_extension("c")))?;
        let mut link = Command::new("gcc");
        link.arg(&object).args(LINK).arg("-L").arg(&library).arg("-lmazurka_native");
        link.arg(format!("-Wl,-rpath,{}", library.display())).arg("-o").arg(&program);
        self.run(&mut link)?;
        Ok(program)
    }

    fn run(self, command: &mut Command) -> Result<(), Error> {
        let output = command.output();
        let output = output.map_err(|error| self.error(format!("needs gcc: {error}")))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(self.error(String::from_utf8_lossy(&output.stderr).into_owned())),
        }
    }

    fn error(self, what: String) -> Error {
        Error(format!("{}({}) {what}", self.name, self.size))
    }
}

/// The folder of the library, which cargo builds beside what it builds of this crate.
fn library() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    // As a dependency it is in `deps` alone; what is elsewhere may be an older one.
    let mut folders = here.ancestors().skip(1).flat_map(|it| [it.join("deps"), it.to_owned()]);
    folders.find(|folder| folder.join("libmazurka_native.so").exists())
}
