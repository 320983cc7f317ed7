//! `cargo mazurka …`: what cargo starts for it. It becomes the command `mazurka`, which is
//! installed beside it; else the one that `PATH` has.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The exit status that says that something is wrong with the installation: the user's input.
const WRONG_INPUT: u8 = 2;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo puts the name of its subcommand first.
    if words.first().is_some_and(|word| word == "mazurka") {
        words.remove(0);
    }
    let program = beside().unwrap_or_else(|| PathBuf::from("mazurka"));
    let error = start(Command::new(&program).args(words));
    // Where nobody can read it, that is no reason to fail in another way.
    let _ = writeln!(
        std::io::stderr(),
        "error: `{}` cannot be started: {error}\n\
         help: `cargo install mazurka-cli` installs both `mazurka` and `cargo-mazurka`",
        program.display()
    );
    ExitCode::from(WRONG_INPUT)
}

/// The command in the folder of this one.
fn beside() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let name = format!("mazurka{}", std::env::consts::EXE_SUFFIX);
    Some(this.with_file_name(name)).filter(|path| path.is_file())
}

/// Becomes another program, or does as if; returns only if that fails.
#[cfg(unix)]
fn start(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(101)),
        Err(error) => error,
    }
}
