//! Preprocessing: what is read, what the compiler says to it, and macros expanded.
//!
//! The compiler looks at every file first. What it refuses is reported in its words, so that all
//! behind this may take the text for C.

use crate::fault as code;
use mazurka_source::{Fault, Language, diagnostics, plain_name, read, run};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the files are.
const LANGUAGE: Language =
    Language { name: "C", code: code::FILE, smallest: "a program starts at `int main(void)`" };

/// Headers of our own, in front of those of the system.
const HEADERS: [(&str, &str); 3] = [
    ("assert.h", include_str!("include/assert.h")),
    ("pthread.h", include_str!("include/pthread.h")),
    ("stdatomic.h", include_str!("include/stdatomic.h")),
];

/// The compiler and what it is always given.
#[derive(Debug)]
pub(crate) struct Compiler<'a> {
    /// The command and its first arguments.
    pub(crate) command: &'a [String],
    /// What the user adds.
    pub(crate) flags: &'a [String],
    folder: tempfile::TempDir,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(command: &'a [String], flags: &'a [String]) -> Result<Self, Vec<Fault>> {
        let cannot = |error| vec![Fault::new(code::FILE, format!("no temporary folder: {error}"))];
        // By this name it goes away, too, if this command is killed: with the next one that makes
        // such a folder.
        let prefix = format!("mazurka-run-{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(cannot)?;
        for (name, text) in HEADERS {
            fs::write(folder.path().join(name), text).map_err(cannot)?;
        }
        Ok(Self { command, flags, folder })
    }

    /// The text of a file with its macros expanded.
    pub(crate) fn preprocess(&self, file: &Path) -> Result<String, Vec<Fault>> {
        let text = read(file, LANGUAGE).map_err(|fault| vec![*fault])?;
        self.examine(file)?;
        if file.extension().is_some_and(|it| it == "i") {
            return Ok(text);
        }
        let mut command = self.command(file)?;
        command.arg("-E");
        let (status, stdout, stderr) =
            run(&mut command, code::FILE).map_err(|fault| vec![*fault])?;
        if !status {
            let text = format!("the compiler cannot preprocess `{}`: {stderr}", file.display());
            return Err(vec![Fault::new(code::INVALID, text.trim_end())]);
        }
        Ok(stdout)
    }

    /// Lets the compiler look at a file, and tells what it finds.
    fn examine(&self, file: &Path) -> Result<(), Vec<Fault>> {
        let mut command = self.command(file)?;
        command.args(["-fsyntax-only", "-w", "-fdiagnostics-format=json"]);
        let (status, _, stderr) = run(&mut command, code::FILE).map_err(|fault| vec![*fault])?;
        if status {
            return Ok(());
        }
        let mut faults: Vec<Fault> = diagnostics(&stderr, code::INVALID);
        if faults.is_empty() {
            let text = format!("the compiler does not accept `{}`: {stderr}", file.display());
            faults.push(Fault::new(code::INVALID, text.trim_end()));
        }
        Err(faults)
    }

    fn command(&self, file: &Path) -> Result<Command, Vec<Fault>> {
        let Some((program, first)) = self.command.split_first() else {
            return Err(vec![Fault::new(code::FILE, "there is no compiler to ask")]);
        };
        let mut command = Command::new(program);
        command.args(first).args(["-pthread", "-U_FORTIFY_SOURCE"]).args(self.flags);
        command.arg("-isystem").arg(self.folder.path()).arg(plain_name(file));
        command.env("LC_ALL", "C").stdin(Stdio::null());
        Ok(command)
    }
}
