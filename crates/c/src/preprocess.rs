//! From files to text: what is read, what the compiler says to it, and macros expanded.
//!
//! The compiler looks at every file first. What it refuses is reported in its words, so that all
//! behind this may take the text for C.

use crate::fault::{Fault, code};
use crate::source::Spot;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// More than any program that a person writes, and than the parser should be asked to read.
const MOST_BYTES: u64 = 32 << 20;

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
        let folder = tempfile::Builder::new().prefix("mazurka-").tempdir().map_err(cannot)?;
        for (name, text) in HEADERS {
            fs::write(folder.path().join(name), text).map_err(cannot)?;
        }
        Ok(Self { command, flags, folder })
    }

    /// The text of a file with its macros expanded.
    pub(crate) fn preprocess(&self, file: &Path) -> Result<String, Vec<Fault>> {
        let text = read(file).map_err(|fault| vec![*fault])?;
        self.examine(file)?;
        if file.extension().is_some_and(|it| it == "i") {
            return Ok(text);
        }
        let mut command = self.command(file)?;
        command.arg("-E");
        let (status, stdout, stderr) = run(&mut command)?;
        if !status {
            return Err(vec![Fault::new(code::INVALID, stderr)]);
        }
        Ok(stdout)
    }

    /// Lets the compiler look at a file, and tells what it finds.
    fn examine(&self, file: &Path) -> Result<(), Vec<Fault>> {
        let mut command = self.command(file)?;
        command.args(["-fsyntax-only", "-w", "-fdiagnostics-format=json"]);
        let (status, _, stderr) = run(&mut command)?;
        if status {
            return Ok(());
        }
        let mut faults: Vec<Fault> = diagnostics(&stderr).iter().filter_map(fault_of).collect();
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

/// A name that does not look like a flag.
fn plain_name(file: &Path) -> PathBuf {
    let is_like_flag = file.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_like_flag { Path::new(".").join(file) } else { file.to_owned() }
}

/// The text of a file, if it is one.
fn read(file: &Path) -> Result<String, Box<Fault>> {
    let name = file.display();
    let fault = |text: String| Box::new(Fault::new(code::FILE, text));
    let data = fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fault(format!("`{name}` does not exist")),
        _ => fault(format!("`{name}` cannot be read: {error}")),
    })?;
    if data.is_dir() {
        return Err(Box::new(
            fault(format!("`{name}` is a directory")).help("name the C files in it"),
        ));
    }
    if data.len() > MOST_BYTES {
        let text = format!("`{name}` has {} MiB, more than {}", data.len() >> 20, MOST_BYTES >> 20);
        return Err(fault(text));
    }
    let bytes =
        fs::read(file).map_err(|error| fault(format!("`{name}` cannot be read: {error}")))?;
    if bytes.contains(&0) {
        return Err(fault(format!("`{name}` is a binary file, not C")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| fault(format!("`{name}` is not in UTF-8, so it cannot be shown")))?;
    if text.trim().is_empty() {
        let empty = fault(format!("`{name}` is empty"));
        return Err(Box::new(empty.help("a program starts at `int main(void)`")));
    }
    Ok(text)
}

/// Whether a command succeeds, and what it says.
fn run(command: &mut Command) -> Result<(bool, String, String), Vec<Fault>> {
    let output = command.output().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        vec![Fault::new(code::FILE, format!("`{program}` cannot be started: {error}"))]
    })?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.success(), text(output.stdout), text(output.stderr)))
}

/// What the compiler says, one at a time.
#[derive(Debug, Deserialize)]
struct Diagnostic {
    kind: String,
    message: String,
    locations: Vec<Range>,
}

#[derive(Debug, Deserialize)]
struct Range {
    caret: Point,
    finish: Option<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    file: String,
    line: u32,
    #[serde(rename = "byte-column")]
    column: u32,
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    // One array a line; other lines may be from the driver.
    let arrays = text.lines().filter(|line| line.starts_with('['));
    arrays
        .flat_map(|line| serde_json::from_str::<Vec<Diagnostic>>(line).unwrap_or_default())
        .collect()
}

fn fault_of(it: &Diagnostic) -> Option<Fault> {
    if !matches!(it.kind.as_str(), "error" | "fatal error") {
        return None;
    }
    let mut fault = Fault::new(code::INVALID, it.message.replace('\'', "`"));
    if let Some(Range { caret, finish }) = it.locations.first() {
        let is_one_line = finish.as_ref().is_some_and(|finish| finish.line == caret.line);
        let end = finish.as_ref().filter(|_| is_one_line).map_or(caret.column, |it| it.column);
        let len = (end + 1).saturating_sub(caret.column);
        let Point { file, line, column } = caret;
        fault.spot = Some(Spot { file: file.clone(), line: *line, column: *column, len });
        let text = fs::read_to_string(file).unwrap_or_default();
        fault.line = text.lines().nth(*line as usize - 1).map(str::to_owned);
    }
    Some(fault)
}
