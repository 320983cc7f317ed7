//! A copy of `examples/` for commands that a reader of the documentation types.

use super::{Said, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder with `examples/` in it, as in a fresh checkout.
pub(crate) struct Checkout(TempDir);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Checkout {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        copy(&root().join("examples"), &folder.path().join("examples"));
        // What a shell finds as `mazurka` is the command of this build.
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).expect("a folder can be made");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mazurka"), programs.join("mazurka"))
            .expect("a link can be made");
        Self(folder)
    }

    /// Writes a file of a document.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("it can be written");
    }

    /// What a line in a shell prints. Both ways to call the command mean the one of this build.
    pub(crate) fn shell(&self, line: &str) -> Said {
        self.shell_with(line, &[])
    }

    /// The same with more in the environment.
    pub(crate) fn shell_with(&self, line: &str, environment: &[(&str, &str)]) -> Said {
        let is_by_cargo = line.starts_with("cargo run --release --");
        let line = line.replace("cargo run --release --", "mazurka");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = [self.0.path().join("bin")];
        let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&path)));
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("PATH", path.expect("no part of it has a colon")).env("COLUMNS", "80");
        // Kept between runs, and apart from the one that this test is built in.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
        command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
        let others =
            ["CC", "CXX", "CFLAGS", "CXXFLAGS", "MAKEFLAGS", "RUSTFLAGS", "LD_LIBRARY_PATH"];
        let ours = ["MAZURKA_NATIVE", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG"];
        for name in others.iter().chain(&ours) {
            command.env_remove(name);
        }
        // By this the command knows that cargo has started it.
        match is_by_cargo {
            true => command.env("CARGO_PKG_NAME", env!("CARGO_PKG_NAME")),
            false => command.env_remove("CARGO_PKG_NAME"),
        };
        say(command.envs(environment.iter().copied()))
    }
}

/// Copies a folder without what was built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder") {
        let entry = entry.expect("it can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true if entry.file_name() == "target" || entry.file_name() == "build" => {}
            true => copy(&from, &to),
            false => drop(fs::copy(&from, &to).expect("a file can be copied")),
        }
    }
}
