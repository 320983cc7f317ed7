//! Other programs: how they are started here, and what is told of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of something, or why nothing did.
pub(crate) type Done<T = ()> = Result<T, String>;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().unwrap_or(folder)
}

/// The folder of what is built.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that runs this.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    // Tests start cargo for projects of their own, and these are not of this package.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

/// Says what begins.
pub(crate) fn heading(text: &str) {
    println!("\n==> {text}");
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Done {
    let status = command.status().map_err(|error| format!("{}: {error}", shown(command)))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{}` ended with {status}", shown(command))),
    }
}

/// What a command prints.
pub(crate) fn output(command: &mut Command) -> Done<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", shown(command)))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("`{}` ended with {}", shown(command), output.status)),
    }
}

/// Whether a command ends well; what it says does not matter.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
