//! Files of the user, and the commands that look at them.

use crate::Fault;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    if !data.is_file() {
        // A pipe can be read once, and a device may never end.
        let pipe = fault(format!("`{name}` is no regular file"));
        return Err(Box::new(pipe.help(format!("write the {} into a file first", language.name))));
    }
    if data.len() > MOST_BYTES {
        let text = format!("`{name}` has {} MiB, more than {}", data.len() >> 20, MOST_BYTES >> 20);
        return Err(fault(text));
    }
    let bytes = fs::File::open(file)
        .and_then(read_at_most)
        .map_err(|error| fault(format!("`{name}` cannot be read: {error}")))?;
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
    let program = command.get_program().to_string_lossy().into_owned();
    let fault = |text: String| Box::new(Fault::new(code, text));
    let cannot = |error: io::Error| fault(format!("`{program}` cannot be started: {error}"));
    let fails = |error: io::Error| fault(format!("`{program}` says too much: {error}"));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (said, complained) = std::thread::scope(|scope| {
        let complains = scope.spawn(|| stderr.map_or(Ok(Vec::new()), read_at_most));
        let said = stdout.map_or(Ok(Vec::new()), read_at_most);
        if said.is_err() {
            // There is no listener any more. If it has ended by itself, so much the better.
            let _ = child.kill();
        }
        (said, complains.join().expect("reading does not panic"))
    });
    let status = child.wait().map_err(cannot)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((status.success(), text(said.map_err(fails)?), text(complained.map_err(fails)?)))
}

/// All that can be read, if that is not more than anybody would look at.
fn read_at_most(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!("more than {} MiB", MOST_BYTES >> 20))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_never_stops_talking_is_stopped() {
        let fault = run(&mut Command::new("yes"), "C001").expect_err("it talks for ever");
        assert!(fault.to_string().contains("`yes` says too much: more than 32 MiB"), "{fault}");
        let (is_done, said, _) = run(Command::new("echo").arg("x"), "C001").expect("it runs");
        assert!(is_done && said == "x\n");
    }
}
