//! From a file to text with its macros expanded.

use crate::fault::code;
use mazurka_source::{Fault, Language, diagnostics, plain_name, read, run};
use std::io::Write as _;
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
    let mut command = command(preprocessor, flags)?;
    command.arg(plain_name(file)).stdin(Stdio::null());
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

/// The text of a file as it is.
pub(crate) fn written(file: &Path) -> Result<String, Vec<Fault>> {
    read(file, LANGUAGE).map_err(|fault| vec![*fault])
}

/// Texts from elsewhere, with the macros of a file that the preprocessor accepts expanded in them.
pub(crate) fn expand(
    file: &Path,
    preprocessor: &[String],
    flags: &[String],
    texts: &[String],
) -> Result<Vec<String>, Vec<Fault>> {
    const MARK: &str = "mazurka: a text from elsewhere";
    let failed = |error: std::io::Error| {
        vec![Fault::new(code::FILE, format!("the preprocessor cannot be asked: {error}"))]
    };
    let mut command = command(preprocessor, flags)?;
    command.arg("-include").arg(plain_name(file)).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let mut input = child.stdin.take().expect("it is a pipe");
    let marked: String = texts.iter().map(|text| format!("# 1 \"{MARK}\"\n{text}\n")).collect();
    // Whoever closes the pipe says so by its status.
    let _ = input.write_all(marked.as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mark = format!("# 1 \"{MARK}\"\n");
    let parts: Vec<String> = said.split(&mark).skip(1).map(str::to_owned).collect();
    if !output.status.success() || parts.len() != texts.len() {
        let message = "the preprocessor does not accept a property beside the model";
        return Err(vec![Fault::new(code::PREPROCESSOR, message)]);
    }
    Ok(parts)
}

/// The preprocessor, to be told what to read.
fn command(preprocessor: &[String], flags: &[String]) -> Result<Command, Vec<Fault>> {
    let Some((program, first)) = preprocessor.split_first() else {
        return Err(vec![Fault::new(code::FILE, "there is no preprocessor to ask")]);
    };
    let mut command = Command::new(program);
    command.args(first).args(["-E", "-x", "c", "-w", "-fdiagnostics-format=json"]).args(flags);
    command.env("LC_ALL", "C");
    Ok(command)
}
