//! Files of the user, and the commands that look at them.

use crate::Fault;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// More than any program that a person writes, and than a parser should be asked to read.
const MOST_BYTES: u64 = 32 << 20;

/// What a file is expected to contain.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// What people call it.
    pub name: &'static str,
    /// The code of faults that are about files.
    pub code: &'static str,
    /// What an empty file lacks.
    pub smallest: &'static str,
}

/// A name that does not look like a flag.
pub fn plain_name(file: &Path) -> PathBuf {
    let is_like_flag = file.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_like_flag { Path::new(".").join(file) } else { file.to_owned() }
}

/// The text of a file, if it is one.
pub fn read(file: &Path, language: Language) -> Result<String, Box<Fault>> {
    let name = file.display();
    let fault = |text: String| Box::new(Fault::new(language.code, text));
    let data = fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fault(format!("`{name}` does not exist")),
        _ => fault(format!("`{name}` cannot be read: {error}")),
    })?;
    if data.is_dir() {
        return Err(Box::new(
            fault(format!("`{name}` is a directory"))
                .help(format!("name the {} files in it", language.name)),
        ));
    }
    if data.len() > MOST_BYTES {
        let text = format!("`{name}` has {} MiB, more than {}", data.len() >> 20, MOST_BYTES >> 20);
        return Err(fault(text));
    }
    let bytes =
        fs::read(file).map_err(|error| fault(format!("`{name}` cannot be read: {error}")))?;
    if bytes.contains(&0) {
        return Err(fault(format!("`{name}` is a binary file, not {}", language.name)));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| fault(format!("`{name}` is not in UTF-8, so it cannot be shown")))?;
    if text.trim().is_empty() {
        let empty = fault(format!("`{name}` is empty"));
        return Err(Box::new(empty.help(language.smallest)));
    }
    Ok(text)
}

/// Whether a command succeeds, and what it says.
pub fn run(
    command: &mut Command,
    code: &'static str,
) -> Result<(bool, String, String), Box<Fault>> {
    let output = command.output().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        Box::new(Fault::new(code, format!("`{program}` cannot be started: {error}")))
    })?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.success(), text(output.stdout), text(output.stderr)))
}
