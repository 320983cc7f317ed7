//! `doctor`: what can be checked on this machine, by which compilers, and what is missing.
//!
//! Nothing is guessed from version numbers alone: a program of two threads is built and explored by
//! this very command with every compiler that is there, and a cargo project with one test. So
//! whatever a door needs (the instrumentation of the compiler, the runtime library in its cache,
//! memory that may be mapped and executed) was there a moment ago, or the message is that of the
//! part that failed.

use mazurka_check::Fault;
use mazurka_check::native::{Toolchain, os};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is tried: two threads, whose only two orders of steps that differ are both explored.
const PROGRAM: &str = "#include <pthread.h>\n\
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static int n;\n\
    static void *add(void *x) {\n    \
    pthread_mutex_lock(&mutex); n = n + 1; pthread_mutex_unlock(&mutex); return x;\n}\n\
    int main(void) {\n    pthread_t t;\n    if (pthread_create(&t, 0, add, 0)) return 1;\n    \
    add(0); pthread_join(t, 0); return n != 2;\n}\n";
const MANIFEST: &str = "[package]\nname = \"probe\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
    [lib]\npath = \"lib.rs\"\n\n[workspace]\n";
const TEST: &str = "#[test]\nfn threads() {\n    let n = std::sync::Mutex::new(0);\n    \
    std::thread::scope(|s| { s.spawn(|| *n.lock().unwrap() += 1); *n.lock().unwrap() += 1; });\n    \
    assert_eq!(*n.lock().unwrap(), 2);\n}\n";
const MODEL: &str = "byte n;\nactive [2] proctype p() { n++; assert(n <= 2) }\n";

/// Whether something can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was used a moment ago.
    Ok,
    /// It is not there.
    Missing,
    /// It is there, and does not do.
    Unusable,
}

/// Something that a check needs or may use.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// What it is called.
    pub name: String,
    /// Whether it can be used.
    pub status: Status,
    /// Its version, if it is there.
    pub version: Option<String>,
    /// What is wrong with it, or where it is.
    pub detail: Option<String>,
    /// What makes it usable: a line for a shell.
    pub remedy: Option<String>,
}

/// A kind of programs that can be checked.
#[derive(Clone, Debug, Serialize)]
pub struct Door {
    /// What they are written in.
    pub name: &'static str,
    /// The command that checks them, behind `mazurka`.
    pub command: &'static str,
    /// Whether they can be checked.
    pub status: Status,
    /// What does it, or why it cannot be done.
    pub detail: String,
    /// What makes it usable: a line for a shell.
    pub remedy: Option<String>,
}

/// All that was found out.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// The version of Mazurka.
    pub mazurka: &'static str,
    /// The operating system and the processor.
    pub system: String,
    /// Whether all doors can be used.
    pub is_ready: bool,
    /// The kinds of programs.
    pub doors: Vec<Door>,
    /// What was found, and what was not.
    pub tools: Vec<Tool>,
}

impl Findings {
    /// Tries everything. The command of the toolchain is what small programs are checked by.
    pub fn gather(toolchain: &Toolchain) -> Result<Self, Fault> {
        let made = mazurka_check::native::folder()?;
        let trial = &Trial { folder: made.path(), command: toolchain.command()? };
        let write = |name: &str, text: &str| {
            std::fs::write(trial.folder.join(name), text)
                .map_err(|error| Fault::input(format!("no file can be written: {error}")))
        };
        for (name, text) in [
            ("probe.c", PROGRAM),
            ("probe.cc", PROGRAM),
            ("probe.pml", MODEL),
            ("Cargo.toml", MANIFEST),
            ("lib.rs", TEST),
        ] {
            write(name, text)?;
        }
        let library = library(toolchain);
        let [c, cxx] = [("CC", "gcc", "clang"), ("CXX", "g++", "clang++")]
            .map(|(variable, first, second)| compilers(trial, variable, [first, second]));
        let rust = rust(trial);
        let doors = vec![
            Door::of_compilers("C", "check FILE.c", "CC", &c),
            Door::of_compilers("C++", "check FILE.cc", "CXX", &cxx),
            Door::of_rust(&rust),
            Door::of_models(trial, &c),
            Door::of_promela(trial),
        ];
        let is_ready = doors.iter().all(|door| door.status == Status::Ok);
        let tools = [vec![library], c, cxx, rust, vec![debugger()]].concat();
        let system = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
        Ok(Self { mazurka: env!("CARGO_PKG_VERSION"), system, is_ready, doors, tools })
    }

    /// The doors that can be used, or those that cannot.
    pub fn summary(&self) -> String {
        let doors = self.doors.iter().filter(|it| self.is_ready || it.status != Status::Ok);
        doors.map(|door| door.name).collect::<Vec<_>>().join(", ")
    }
}

/// A folder with small programs, and the command that checks them.
struct Trial<'a> {
    folder: &'a Path,
    command: PathBuf,
}

impl Trial<'_> {
    /// Runs the command as its user would; says what went wrong.
    fn check(&self, words: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
        let mut command = Command::new(&self.command);
        command.args(words).args(["--json", "-", "--time-limit", "60s"]).current_dir(self.folder);
        let output = command.envs(variables.iter().copied()).stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        let mut lines = output.stdout.split(|&byte| byte == b'\n');
        let verdict = lines.find_map(|line| serde_json::from_slice::<Value>(line).ok());
        if output.status.success() && verdict.is_some_and(|it| it["verdict"] == "holds") {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let error = lines().find(|line| line.contains("error: ")).or_else(|| lines().next());
        let error = error.map(|line| line.split("error: ").last().unwrap_or(line));
        Err(error.map_or_else(|| format!("the trial ended with {}", output.status), str::to_owned))
    }
}

impl Door {
    /// By the compiler that is taken unless a variable names another.
    fn of_compilers(
        name: &'static str,
        command: &'static str,
        variable: &str,
        compilers: &[Tool],
    ) -> Self {
        let first = compilers.first().expect("one is always tried");
        let other = compilers.iter().find(|it| it.status == Status::Ok);
        let remedy = match (first.status, other) {
            (Status::Ok, _) => None,
            (_, Some(other)) => Some(format!("export {variable}={}", other.name)),
            (_, None) => first.remedy.clone(),
        };
        Self { name, command, status: first.status, detail: first.shown(), remedy }
    }

    fn of_rust(tools: &[Tool]) -> Self {
        let wrong = tools.iter().find(|it| it.status != Status::Ok);
        let shown: Vec<_> = tools.iter().map(Tool::shown).collect();
        Self {
            name: "Rust",
            command: "test",
            status: wrong.map_or(Status::Ok, |it| it.status),
            detail: wrong.map_or_else(|| shown.join(", "), Tool::shown),
            remedy: wrong.and_then(|it| it.remedy.clone()),
        }
    }

    /// Models of C files: the compiler expands macros.
    fn of_models(trial: &Trial<'_>, compilers: &[Tool]) -> Self {
        let tried = trial.check(&["check", "probe.c", "--engine", "vm"], &[]);
        let first = compilers.first().expect("one is always tried");
        let is_there = first.status != Status::Missing;
        Self {
            name: "models of C",
            command: "check --engine vm FILE.c",
            status: match &tried {
                Ok(()) => Status::Ok,
                Err(_) if is_there => Status::Unusable,
                Err(_) => Status::Missing,
            },
            detail: tried.map_or_else(|error| error, |()| first.named()),
            remedy: (!is_there).then(|| first.remedy.clone()).flatten(),
        }
    }

    fn of_promela(trial: &Trial<'_>) -> Self {
        let tried = trial.check(&["check", "probe.pml"], &[]);
        Self {
            name: "Promela",
            command: "check FILE.pml",
            status: if tried.is_ok() { Status::Ok } else { Status::Unusable },
            detail: tried.map_or_else(|error| error, |()| "needs nothing else".to_owned()),
            remedy: None,
        }
    }
}

impl Tool {
    /// Name and version.
    fn named(&self) -> String {
        let version = self.version.iter().map(|version| format!(" {version}"));
        format!("{}{}", self.name, version.collect::<String>())
    }

    /// Name, version, and what is wrong.
    fn shown(&self) -> String {
        match (self.status, &self.detail) {
            (Status::Ok, _) | (_, None) => self.named(),
            (_, Some(detail)) => format!("{}: {detail}", self.named()),
        }
    }
}

/// The runtime library: inside this command, and where programs can load it.
fn library(toolchain: &Toolchain) -> Tool {
    let found = (toolchain.library)();
    Tool {
        name: "runtime".to_owned(),
        status: if found.is_ok() { Status::Ok } else { Status::Unusable },
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        remedy: found.as_ref().err().and_then(|it| it.help.clone()),
        detail: Some(match found {
            Ok(path) => path.display().to_string(),
            Err(failure) => failure.message,
        }),
    }
}

/// The compilers of a language, the one that is taken by default first.
fn compilers(trial: &Trial<'_>, variable: &str, known: [&str; 2]) -> Vec<Tool> {
    let named = std::env::var(variable).unwrap_or_default();
    // What stands for this command itself means the compiler behind it, as in `compiler`.
    let is_ours = |text: &str| text.split(' ').any(|word| Path::new(word).ends_with("mazurka"));
    let named = (!named.trim().is_empty() && !is_ours(&named)).then_some(named);
    let mut names: Vec<&str> = named.iter().map(String::as_str).collect();
    names.extend(known.iter().filter(|&&it| Some(it) != named.as_deref()));
    let file = if variable == "CC" { "probe.c" } else { "probe.cc" };
    names.into_iter().map(|name| compiler(trial, file, variable, name)).collect()
}

fn compiler(trial: &Trial<'_>, file: &str, variable: &str, name: &str) -> Tool {
    let mut words = shlex::split(name).unwrap_or_default().into_iter();
    let program = words.next().unwrap_or_else(|| name.to_owned());
    let version = version(Command::new(&program).args(words).arg("--version"));
    let Some(version) = version else { return missing(name, install(&program)) };
    let tried = trial.check(&["check", file, "--engine", "native"], &[(variable, name)]);
    Tool {
        name: name.to_owned(),
        status: if tried.is_ok() { Status::Ok } else { Status::Unusable },
        version: Some(version),
        detail: tried.err(),
        remedy: None,
    }
}

/// Cargo and the compiler of Rust.
fn rust(trial: &Trial<'_>) -> Vec<Tool> {
    const INSTALL: &str = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";
    let tool = |name: &str, variable: &str| {
        let program = std::env::var_os(variable).unwrap_or_else(|| name.into());
        match version(Command::new(program).arg("--version")) {
            None => missing(name, Some(INSTALL.to_owned())),
            version => Tool {
                name: name.to_owned(),
                status: Status::Ok,
                version,
                detail: None,
                remedy: None,
            },
        }
    };
    let mut tools = vec![tool("rustc", "RUSTC"), tool("cargo", "CARGO")];
    let is_there = tools.iter().all(|it| it.status == Status::Ok);
    let target = trial.folder.join("target").display().to_string();
    if is_there
        && let Err(error) = trial.check(&["test", "--offline"], &[("CARGO_TARGET_DIR", &target)])
    {
        tools[0].status = Status::Unusable;
        tools[0].remedy = Some("rustup override set 1.95".to_owned());
        tools[0].detail = Some(error);
    }
    tools
}

/// For `--debugger`; nothing is decided by it.
fn debugger() -> Tool {
    match version(Command::new("gdb").arg("--version")) {
        None => missing("gdb", install("gdb")),
        version => Tool {
            name: "gdb".to_owned(),
            status: Status::Ok,
            version,
            detail: Some("for `replay --debugger`".to_owned()),
            remedy: None,
        },
    }
}

fn missing(name: &str, remedy: Option<String>) -> Tool {
    let detail = Some("not found".to_owned());
    Tool { name: name.to_owned(), status: Status::Missing, version: None, detail, remedy }
}

/// The number in the first line that a command says of its version, if it can be started.
fn version(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(number_in(text.lines().next().unwrap_or_default()).unwrap_or("unknown").to_owned())
}

/// The version in a line such as `gcc (Debian 12.2.0-14) 12.2.0` or `rustc 1.95.0 (abc
/// 2026-04-14)`: the last word that is one, outside of parentheses.
fn number_in(line: &str) -> Option<&str> {
    let mut depth = 0;
    let outside = line.split(' ').filter(|word| {
        let was_outside = depth == 0;
        depth += word.matches('(').count();
        depth -= word.matches(')').count().min(depth);
        was_outside && !word.contains('(')
    });
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let word = outside.filter(is_version).last()?;
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    Some(word[..end].trim_end_matches('.'))
}

/// The line that installs what a program is in, by the package manager that is here.
fn install(program: &str) -> Option<String> {
    const MANAGERS: [(&str, &str); 5] = [
        ("apt-get", "apt-get install"),
        ("dnf", "dnf install"),
        ("pacman", "pacman -S"),
        ("zypper", "zypper install"),
        ("apk", "apk add"),
    ];
    let (manager, line) = MANAGERS.into_iter().find(|(name, _)| is_on_path(name))?;
    let package = match (manager, program) {
        ("apt-get", "g++") => "g++",
        ("dnf" | "zypper", "g++") => "gcc-c++",
        ("apk", "g++") => "g++ musl-dev",
        (_, "gcc" | "g++") => "gcc",
        (_, "clang" | "clang++") => "clang",
        (_, "gdb") => "gdb",
        _ => return None,
    };
    let sudo = if os::is_root() { "" } else { "sudo " };
    Some(format!("{sudo}{line} {package}"))
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_commands_say() {
        for (line, version) in [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
            ("g++ (GCC) 13.2.1 20240316 (Red Hat 13.2.1-7)", "13.2.1"),
            ("Debian clang version 14.0.6", "14.0.6"),
            ("Ubuntu clang version 18.1.3 (1ubuntu1)", "18.1.3"),
            ("rustc 1.95.0 (59807616e 2026-04-14)", "1.95.0"),
            ("cargo 1.97.0-nightly (2026-05-01)", "1.97.0"),
            ("GNU gdb (Debian 13.1-3) 13.1", "13.1"),
        ] {
            assert_eq!(number_in(line), Some(version), "{line}");
        }
        assert_eq!(number_in("some compiler"), None);
    }

    #[test]
    fn another_compiler_is_the_remedy_for_one_that_is_not_there() {
        let usable = Tool {
            name: "clang".to_owned(),
            status: Status::Ok,
            version: Some("14.0.6".to_owned()),
            detail: None,
            remedy: None,
        };
        let gcc = missing("gcc", Some("apt-get install gcc".to_owned()));
        let door = Door::of_compilers("C", "check FILE.c", "CC", &[gcc.clone(), usable.clone()]);
        assert_eq!(
            (door.status, door.remedy.as_deref()),
            (Status::Missing, Some("export CC=clang"))
        );
        let door = Door::of_compilers("C", "check FILE.c", "CC", &[gcc]);
        assert_eq!(door.remedy.as_deref(), Some("apt-get install gcc"));
        let door = Door::of_compilers("C", "check FILE.c", "CC", &[usable]);
        assert_eq!((door.status, door.detail.as_str()), (Status::Ok, "clang 14.0.6"));
    }
}
