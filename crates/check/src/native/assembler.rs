//! Between the compiler and the assembler: marks where a program has instructions that no callback
//! of the instrumentation goes with.
//!
//! These are those of inline assembly, which both compilers put between `#APP` and `#NO_APP`, and
//! those of functions without a single callback: the source has said `no_sanitize`, or is assembly
//! itself. Each is marked by a record in the section `mazurka_asm` of the object file, which the
//! library reads before the program begins: where it begins, from the record; how long it is; and
//! what it is.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The first argument of this command when a compiler is to call it in place of its parts.
pub(super) const STEP: &str = "--compiler-step";
/// The name of this command when a compiler takes it for the assembler.
const NAME: &str = "as";
/// What a record is about, as the library knows it.
const ASSEMBLY: u32 = 1;
const FUNCTION: u32 = 2;

/// The part of a compiler that this command is called as: the program and its arguments.
pub fn step() -> Option<Vec<OsString>> {
    let mut words = std::env::args_os();
    let own = words.next()?;
    if Path::new(&own).file_name() == Some(OsStr::new(NAME)) {
        return Some([NAME.into()].into_iter().chain(words).collect());
    }
    (words.next()?.as_os_str() == STEP).then(|| words.collect())
}

/// Runs a part of a compiler. The assembler gets marks with what it is to read.
#[expect(clippy::print_stderr, reason = "it stands for a command")]
pub fn run_step(words: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    let done = match Path::new(program).file_name() == Some(OsStr::new(NAME)) {
        true => assemble(program, arguments),
        false => Command::new(program).args(arguments).status(),
    };
    match done {
        Ok(status) => exit_code(status),
        Err(error) => {
            eprintln!("error: `{}` cannot be started: {error}", program.to_string_lossy());
            ExitCode::from(1)
        }
    }
}

/// What a compiler or a part of it has ended with. A signal is no status of ours.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|it| it.try_into().ok()).unwrap_or(1))
}

/// Runs the assembler on what it would have read, and marks.
fn assemble(program: &OsStr, arguments: &[OsString]) -> std::io::Result<ExitStatus> {
    let is_source = |word: &OsString| {
        let end = Path::new(word).extension();
        end == Some(OsStr::new("s")) && Path::new(word).is_file()
    };
    let sources: Vec<&OsString> = arguments.iter().filter(|word| is_source(word)).collect();
    let mut text = Vec::new();
    match sources[..] {
        [] => {
            std::io::stdin().read_to_end(&mut text)?;
        }
        [source] => text = std::fs::read(source)?,
        // More than one is nothing that a compiler does.
        _ => return Command::new(program).args(arguments).status(),
    }
    // What is no text has no marks.
    let text = match String::from_utf8(text) {
        Ok(text) => mark(&text).into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let rest = arguments.iter().filter(|word| !is_source(word));
    let mut child = Command::new(program).args(rest).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // An assembler that does not read on says why.
        let _ = input.write_all(&text);
    }
    child.wait()
}

/// A function while it is read.
#[derive(Default)]
struct Function<'a> {
    name: &'a str,
    number: usize,
    has_callbacks: bool,
}

/// Adds marks to the text of an assembler.
fn mark(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + text.len() / 8);
    let mut declared: BTreeSet<&str> = BTreeSet::new();
    let mut function: Option<Function<'_>> = None;
    let mut assembly: Option<usize> = None;
    let mut n_labels = 0;
    for line in text.lines() {
        let word = line.trim();
        if let Some(name) = function_type(word) {
            declared.insert(name);
        }
        // What is not within a function cannot be executed there.
        if word == "#APP" && function.is_some() && assembly.is_none() {
            n_labels += 1;
            label(&mut marked, n_labels);
            assembly = Some(n_labels);
        }
        if let Some(function) = &mut function {
            function.has_callbacks |= word.contains("__tsan_");
        }
        let ended = word.strip_prefix(".size").and_then(|rest| rest.trim().split(',').next());
        if let Some(it) = function.take_if(|it| ended == Some(it.name))
            && !it.has_callbacks
        {
            n_labels += 1;
            label(&mut marked, n_labels);
            record(&mut marked, it.number, n_labels, FUNCTION);
        }
        marked.push_str(line);
        marked.push('\n');
        if word == "#NO_APP"
            && let Some(first) = assembly.take()
        {
            n_labels += 1;
            label(&mut marked, n_labels);
            record(&mut marked, first, n_labels, ASSEMBLY);
        }
        let begun = line.split_once(':').map(|(name, _)| name);
        if let Some(name) = begun.filter(|name| declared.contains(name)) {
            n_labels += 1;
            label(&mut marked, n_labels);
            function = Some(Function { name, number: n_labels, has_callbacks: false });
        }
    }
    marked
}

/// The function whose type a line tells.
fn function_type(line: &str) -> Option<&str> {
    let (name, what) = line.strip_prefix(".type")?.trim().split_once(',')?;
    ["@function", "%function", "STT_FUNC"].contains(&what.trim()).then(|| name.trim())
}

fn label(text: &mut String, number: usize) {
    // Writing to a text does not fail.
    let _ = writeln!(text, ".Lmazurka_{number}:");
}

fn record(text: &mut String, first: usize, end: usize, kind: u32) {
    // The section goes with that of the code, and is kept although nothing refers to it.
    let _ = write!(
        text,
        "\t.pushsection mazurka_asm,\"a?R\",@progbits\n\
         \t.long .Lmazurka_{first}-.\n\
         \t.long .Lmazurka_{end}-.Lmazurka_{first}\n\
         \t.long {kind}\n\
         \t.popsection\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_and_functions_without_callbacks_are_marked() {
        let text = "\t.type\tf, @function\nf:\n\tcall\t__tsan_read4\n#APP\n\tmovl x, %eax\n#NO_APP\n\
                    \tret\n\t.size\tf, .-f\n\t.type\tg,@function\ng:\n\tmovl x, %eax\n\tret\n\
                    .Lend:\n\t.size\tg, .Lend-g\n";
        let marked = mark(text);
        let records: Vec<&str> =
            marked.lines().filter(|line| line.starts_with("\t.long")).map(str::trim).collect();
        assert_eq!(
            records,
            [
                ".long .Lmazurka_2-.",
                ".long .Lmazurka_3-.Lmazurka_2",
                ".long 1",
                ".long .Lmazurka_4-.",
                ".long .Lmazurka_5-.Lmazurka_4",
                ".long 2",
            ],
            "{marked}"
        );
        let lines: Vec<&str> = marked.lines().collect();
        let at = |wanted: &str| lines.iter().position(|line| *line == wanted).expect("it is there");
        assert!(at(".Lmazurka_2:") < at("#APP") && at("#NO_APP") < at(".Lmazurka_3:"));
        assert!(at("g:") < at(".Lmazurka_4:") && at(".Lend:") < at(".Lmazurka_5:"));
    }

    #[test]
    fn what_is_outside_of_functions_is_left_alone() {
        let text = "#APP\n\t.globl x\n#NO_APP\n\t.data\nx:\n\t.size x, 4\n";
        assert_eq!(mark(text), text);
    }
}
