//! Programs that run themselves: how they are compiled, run under the runtime library, and watched.

pub mod assembler;
mod command_line;
pub mod compiler;
mod debugger;
pub mod os;
mod process;
#[cfg(target_os = "linux")]
mod unpack;

pub use command_line::WITH_VALUE;
pub use debugger::debugger_command;
pub use process::{folder, lasting_folder, out_of_memory};
#[cfg(target_os = "linux")]
pub use unpack::unpack;

pub(crate) use process::{Process, interrupted, remove_left_behind};

use crate::task::Input;
use crate::{Fault, Faults, Task};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the library's file.
pub const LIBRARY: &str = "libmazurka_native.so";

/// The library as a command carries it (`mazurka-embed`).
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    /// The hash of its content.
    pub hash: &'a str,
    /// How many bytes it has.
    pub size: usize,
    /// These bytes, compressed (DEFLATE, RFC 1951).
    pub deflated: &'a [u8],
}

/// What programs are built with to be run natively.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Finds the runtime library, a file with the name [`LIBRARY`].
    pub library: fn() -> Result<PathBuf, Fault>,
    /// The command that stands between the compiler and the assembler, if it is not this program:
    /// one that calls [`assembler::step`] first.
    pub command: Option<PathBuf>,
}

impl Toolchain {
    /// The command that stands between the compiler and the assembler.
    pub fn command(&self) -> Result<PathBuf, Fault> {
        match &self.command {
            Some(command) => Ok(command.clone()),
            None => std::env::current_exe()
                .map_err(|error| Fault::defect(format!("where am I? {error}"))),
        }
    }
}

/// The words that run the program of a task. If it is one of files, it is built into the folder.
pub fn build(task: &Task, folder: &Path) -> Result<Vec<OsString>, Faults> {
    match &task.input {
        Input::Program { words, .. } => Ok(words.clone()),
        Input::Files { files, arguments } => {
            let Some(toolchain) = &task.toolchain else {
                return Err(Fault::input("nothing is there to build a native program with").into());
            };
            let flags = task.options.compiler_flags();
            let program = compiler::build(files, &flags, folder, toolchain)?;
            Ok([program.into_os_string()].into_iter().chain(arguments.iter().cloned()).collect())
        }
    }
}

/// Elsewhere no program runs natively, and no command has a library.
#[cfg(not(target_os = "linux"))]
pub fn unpack(_: Packed<'_>) -> Result<PathBuf, Fault> {
    Err(Fault::input("programs cannot be run natively here"))
}
