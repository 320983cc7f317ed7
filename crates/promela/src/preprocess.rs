//! From a file to text with its macros expanded.

use crate::fault::code;
use mazurka_source::{Fault, Language, diagnostics, plain_name, read, run};
use std::path::Path;
use std::process::{Command, Stdio};

const LANGUAGE: Language = Language {
    name: "Promela",
    code: code::FILE,
    smallest: "the smallest model is `init { skip }`",
};

/// The text of a file with its macros expanded, with line markers.
pub(crate) fn preprocess(
    file: &Path,
    preprocessor: &[String],
    flags: &[String],
) -> Result<String, Vec<Fault>> {
    read(file, LANGUAGE).map_err(|fault| vec![*fault])?;
    let Some((program, first)) = preprocessor.split_first() else {
        return Err(vec![Fault::new(code::FILE, "there is no preprocessor to ask")]);
    };
    let mut command = Command::new(program);
    command.args(first).args(["-E", "-x", "c", "-w", "-fdiagnostics-format=json"]).args(flags);
    command.arg(plain_name(file)).env("LC_ALL", "C").stdin(Stdio::null());
    let (is_fine, text, said) = run(&mut command, code::FILE).map_err(|fault| vec![*fault])?;
    if is_fine {
        return Ok(text);
    }
    let mut faults = diagnostics(&said, code::PREPROCESSOR);
    if faults.is_empty() {
        let message = format!("the preprocessor does not accept `{}`: {said}", file.display());
        faults.push(Fault::new(code::PREPROCESSOR, message.trim_end()));
    }
    Err(faults)
}
