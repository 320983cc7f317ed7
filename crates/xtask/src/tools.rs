//! Programs of others that tests need: which are missing, and installing them where that is
//! allowed.

use crate::command::{Done, heading, run, succeeds};
use std::path::Path;
use std::process::Command;

/// A program, the package of Debian that has it, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    package: &'static str,
    pub(crate) use_for: &'static str,
    /// Whether tests fail without it; others are left out, and that is told at the end.
    pub(crate) is_needed: bool,
}

const fn tool(
    name: &'static str,
    package: &'static str,
    use_for: &'static str,
    is_needed: bool,
) -> Tool {
    Tool { name, package, use_for, is_needed }
}

/// All of them.
const TOOLS: [Tool; 12] = [
    tool("gcc", "gcc", "programs under test", true),
    tool("g++", "g++", "programs under test, and the solver", true),
    tool("clang++", "clang", "programs under test, once more", true),
    tool("spin", "spin", "the judge of Promela models and automata", false),
    tool("berkeley-abc", "berkeley-abc", "the judge of circuits", false),
    tool("gdb", "gdb", "following schedules", false),
    tool("make", "make", "projects with a Makefile", false),
    tool("cmake", "cmake", "projects with CMake", false),
    tool("valgrind", "valgrind", "counting the instructions of a step", false),
    tool("nats-server", "nats-server", "searches over many machines", false),
    tool("openssl", "openssl", "certificates of a broker", false),
    tool("chromium", "chromium", "looking at pages", false),
];

/// Those that are not here.
pub(crate) fn missing() -> Vec<Tool> {
    TOOLS.into_iter().filter(|tool| !is_here(tool.name)).collect()
}

/// Installs what is missing, where that is allowed: as root, or by `sudo` without a password. Says
/// so, and returns what is still missing.
pub(crate) fn install(may_install: bool) -> Done<Vec<Tool>> {
    let all = missing();
    if all.is_empty() || !may_install || !is_here("apt-get") {
        return Ok(all);
    }
    let sudo: &[&str] = match is_root() {
        true => &[],
        false if succeeds(Command::new("sudo").args(["-n", "true"])) => &["sudo", "-n"],
        false => return Ok(all),
    };
    let packages: Vec<&str> = all.iter().map(|tool| tool.package).collect();
    heading(&format!("installing what is missing: {}", packages.join(" ")));
    let apt_get = |words: &[&str]| {
        let mut words = sudo.iter().chain(&["apt-get"]).chain(words).copied();
        let mut command = Command::new(words.next().expect("there is a first word"));
        run(command.args(words))
    };
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes"], &packages[..]].concat())?;
    Ok(missing())
}

/// Adds a component of the toolchain, if its command is missing.
pub(crate) fn component(cargo: &mut Command, command: &str, component: &str) -> Done {
    if succeeds(cargo.args([command, "--version"])) {
        return Ok(());
    }
    heading(&format!("installing what is missing: {component}"));
    run(Command::new("rustup").args(["component", "add", component]))
}

fn is_here(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn is_root() -> bool {
    // A process owns its own entry there.
    use std::os::unix::fs::MetadataExt as _;
    Path::new("/proc/self").metadata().is_ok_and(|it| it.uid() == 0)
}
