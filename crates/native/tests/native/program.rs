//! Compiles the programs of these tests, explores them, and asks what came of it.

use mazurka_core::{Statistics, Verdict};
use mazurka_explore::Reduction;
use mazurka_protocol::{Action, REPORT, REQUEST, Reply, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
        // What is computed of loops is compared to what threads do.
        command.env("MAZURKA_CHECK_LOOPS", "1");
        command
    }

    /// Explores with the options that an object names, see [`request`], or follows its `replay`.
    pub(crate) fn explore(&self, options: &Value) -> Answer {
        self.explore_with(&[], options)
    }

    pub(crate) fn explore_with(&self, arguments: &[&str], options: &Value) -> Answer {
        self.ask_with(arguments, &request(options))
    }

    /// Runs the program with a request.
    pub(crate) fn ask_typed(&self, request: &Request) -> Answer {
        self.ask_with(&[], request)
    }

    fn ask_with(&self, arguments: &[&str], request: &Request) -> Answer {
        let path = self.folder.join("request.json");
        mazurka_protocol::write(&path, request).expect("a request can be written");
        self.ask(arguments, &path)
    }

    /// Runs the program with a request that is there.
    pub(crate) fn ask(&self, arguments: &[&str], request: &Path) -> Answer {
        let path = self.folder.join("report.json");
        // That of another request says nothing of this one.
        let _ = std::fs::remove_file(&path);
        let mut command = self.command();
        command.args(arguments);
        command.env(REPORT, &path).env(REQUEST, request);
        let output = command.output().expect("the program can be started");
        let reply = mazurka_protocol::read(&path)
            .unwrap_or_else(|error| panic!("no report: {error}; {output:?}"));
        let mut answer = Answer {
            verdict: None,
            statistics: Statistics::default(),
            message: String::new(),
            error: None,
            time_s: 0.0,
            output,
        };
        match reply {
            Reply::Explored(report) => {
                answer.message = match &report.verdict {
                    Verdict::Holds(coverage) => coverage.to_string(),
                    Verdict::Violated(found) => found.violation.message.clone(),
                    Verdict::Inconclusive(limit) => limit.to_string(),
                    other => panic!("{other:?}"),
                };
                answer.verdict = Some(report.verdict);
                answer.statistics = report.statistics;
                answer.time_s = report.time.as_secs_f64();
            }
            Reply::Replayed(replayed) => {
                answer.message = match replayed.violation {
                    Some((step, violation)) => format!("step {step}: {}", violation.message),
                    None => "no violation in this execution".to_owned(),
                };
            }
            Reply::Failed(failed) => answer.error = Some(failed.to_string()),
        }
        answer
    }

    /// Where files of a test may be.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The request that an object names, with options as on the command line.
pub(crate) fn request(wishes: &Value) -> Request {
    let mut request = Request::default();
    let Request { action, options, run, .. } = &mut request;
    let is_on = |value: &Value| value.as_bool().expect("on or off");
    let number = |value: &Value| value.as_u64().expect("a number");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().expect("a list").iter().map(text).collect()
    };
    let wishes = wishes.as_object().expect("options have names");
    for (name, value) in wishes {
        match name.as_str() {
            "reduction" => options.reduction = text(value).parse().expect("there is such a one"),
            "sleep" => options.sleep = is_on(value),
            "bounds" => {
                let bounds = texts(value);
                options.bounds = bounds.iter().map(|it| it.parse().expect("a bound")).collect();
                if !wishes.contains_key("reduction") {
                    options.reduction = Reduction::default_within(&options.bounds);
                }
            }
            "max_executions" => options.max_executions = Some(number(value)),
            "time_limit_ms" => options.time_limit = Some(Duration::from_millis(number(value))),
            "deadlock" => options.deadlock = is_on(value),
            "race" => options.race = is_on(value),
            "shorten" => options.shorten = is_on(value),
            "livelock" => options.livelock = is_on(value),
            "jobs" => options.jobs = number(value) as usize,
            "alone" => run.alone = number(value),
            "checkpoints" => run.checkpoints = is_on(value),
            "check_checkpoints" => run.check_checkpoints = is_on(value),
            "leak" => run.leak = is_on(value),
            "allow" => run.allow = texts(value),
            "trust" => run.trust = texts(value),
            "strict" => run.strict = is_on(value),
            "retries" => run.retries = Some(number(value) as u32),
            "test" => run.is_test = is_on(value),
            "replay" => *action = Action::Replay(text(value).parse().expect("a schedule")),
            _ => panic!("there is no option `{name}`"),
        }
    }
    request
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
