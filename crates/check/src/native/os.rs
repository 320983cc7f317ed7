//! Portability: signals, process groups, becoming another program.
//!
//! Native programs run on Linux alone. Elsewhere these functions are there so that everything else
//! is, too: models of C, circuits and Promela.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// What a program can be told.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// To end its search, and tell what it has covered.
    Interrupt,
    /// To end at once.
    Kill,
}

/// Sends a signal to a program, which may have ended just now.
pub fn send(process: u32, signal: Signal) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal as Known, kill_process};
        let signal = match signal {
            Signal::Interrupt => Known::INT,
            Signal::Kill => Known::KILL,
        };
        if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }
    #[cfg(not(unix))]
    let _ = (process, signal);
}

/// The signal that has ended a program, if one has.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// Whether a signal is that of an interrupt at the terminal.
pub fn is_interrupt(signal: i32) -> bool {
    #[cfg(unix)]
    return signal == rustix::process::Signal::INT.as_raw();
    #[cfg(not(unix))]
    {
        let _ = signal;
        false
    }
}

/// An interrupt at the terminal will not be for this program.
pub fn in_own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Becomes another program, or does as if; returns only if that fails.
pub fn become_program(command: &mut Command) -> io::Error {
    #[cfg(unix)]
    return std::os::unix::process::CommandExt::exec(command);
    #[cfg(not(unix))]
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(101)),
        Err(error) => error,
    }
}

/// Makes a folder with mode 0700.
pub fn make_private(builder: &mut tempfile::Builder<'_, '_>) -> io::Result<tempfile::TempDir> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// Makes another name for a file.
pub fn link(file: &Path, name: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(file, name);
    #[cfg(not(unix))]
    std::fs::copy(file, name).map(drop)
}

/// Whether a file belongs to the user.
pub fn is_mine(file: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(file) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

/// Whether it is known that no process has this number any more.
pub fn has_ended(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        false
    }
}

/// Whether the user may install what everybody uses.
pub fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}
