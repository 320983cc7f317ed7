//! Between the compiler and the assembler: marks where a program has instructions that no callback
//! of the instrumentation goes with.
//!
//! These are those of inline assembly, which both compilers put between `#APP` and `#NO_APP`, and
//! those of functions without a single callback: the source has said `no_sanitize`, or is assembly
//! itself. A function that the source has as assembly outside of all functions may lack what says
//! that it is one and where it ends: then that is added. Each is marked by a record in the section `mazurka_asm` of the object file, which the
//! library reads before the program begins: where it begins, from the record; how long it is; and
//! what it is. Some instructions have no callback wherever they are, since only a function of the
//! compiler's own makes them ([`is_unseen`]).
//!
//! Functions with callbacks are recorded, too: whatever a program has beside all of these comes from
//! objects that were compiled elsewhere, and the verdict names it.

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
const WITH_CALLBACKS: u32 = 3;

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
    // A function and perhaps its cold part, which begins before the end of the function is told.
    let mut functions: Vec<Function<'_>> = Vec::new();
    let mut assembly: Option<usize> = None;
    let mut file_scope: Option<FileScope> = None;
    let mut n_labels = 0;
    let mut is_code = true;
    for line in text.lines() {
        let word = line.trim();
        if functions.is_empty() && BEGINNINGS.contains(&word) {
            file_scope = Some(FileScope::new(text));
        }
        if let Some(mut it) = file_scope.take() {
            if ENDS.contains(&word) {
                it.close(&mut marked, &mut n_labels);
            } else {
                it.line(&mut marked, line, &mut n_labels, &mut is_code);
                file_scope = Some(it);
                continue;
            }
        }
        is_code = section(word).unwrap_or(is_code);
        if let Some(name) = function_type(word) {
            declared.insert(name);
        }
        // What is not within a function cannot be executed there.
        if word == "#APP" && !functions.is_empty() && assembly.is_none() {
            n_labels += 1;
            label(&mut marked, n_labels);
            assembly = Some(n_labels);
        }
        if word.contains("__tsan_") {
            functions.iter_mut().for_each(|function| function.has_callbacks = true);
        }
        if !functions.is_empty() && assembly.is_none() && is_unseen(word) {
            let first = n_labels + 1;
            n_labels += 2;
            label(&mut marked, first);
            marked.push_str(line);
            marked.push('\n');
            label(&mut marked, n_labels);
            record(&mut marked, first, n_labels, ASSEMBLY);
            continue;
        }
        let ended = word.strip_prefix(".size").and_then(|rest| rest.trim().split(',').next());
        if let Some(idx) = functions.iter().position(|it| ended == Some(it.name)) {
            let it = functions.remove(idx);
            n_labels += 1;
            label(&mut marked, n_labels);
            let kind = if it.has_callbacks { WITH_CALLBACKS } else { FUNCTION };
            record(&mut marked, it.number, n_labels, kind);
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
            if !name.contains(".cold") {
                functions.clear();
            }
            let has_callbacks = functions.iter().any(|it| it.has_callbacks);
            functions.push(Function { name, number: n_labels, has_callbacks });
        }
    }
    marked
}

/// Whether an instruction accesses memory, and is one that the instrumentation does not know: a
/// gather or a scatter, one with a mask, or one that goes round the caches.
fn is_unseen(line: &str) -> bool {
    const NAMES: [&str; 14] = [
        "vpgather",
        "vgather",
        "vpscatter",
        "vscatter",
        "vpcompress",
        "vcompress",
        "vpexpand",
        "vexpand",
        "vpmaskmov",
        "vmaskmov",
        "maskmov",
        "movnt",
        "vmovnt",
        "movdir",
    ];
    let name = line.split([' ', '\t']).next().unwrap_or(line);
    let has_memory = line.contains(['(', '[']);
    // These have their address in a register that they do not name.
    let is_implicit = name.starts_with("maskmov") || name.starts_with("vmaskmovdqu");
    NAMES.iter().any(|start| name.starts_with(start)) && (has_memory || is_implicit)
}

/// What is around assembly outside of functions: gcc's words and clang's.
const BEGINNINGS: [&str; 2] = ["#APP", "# Start of file scope inline assembly"];
const ENDS: [&str; 2] = ["#NO_APP", "# End of file scope inline assembly"];

/// Assembly outside of functions while it is read.
struct FileScope<'a> {
    /// The whole text.
    text: &'a str,
    /// The function that was begun last: its name, and the number of its label.
    function: Option<(String, usize)>,
}

impl<'a> FileScope<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, function: None }
    }

    /// Reads a line of it, which may have several statements.
    fn line(&mut self, marked: &mut String, line: &str, n_labels: &mut usize, is_code: &mut bool) {
        let is_plain = !line.contains(['"', '\'', '#', '/']);
        for statement in if is_plain { line.split(';').collect() } else { vec![line] } {
            let word = statement.trim();
            let is_in_code = section(word).unwrap_or(*is_code);
            if section(word).is_some() {
                self.close(marked, n_labels);
            }
            let named = statement.split_once(':').map(|(name, rest)| (name.trim(), rest));
            let named = named.filter(|(name, _)| *is_code && is_name(name));
            *is_code = is_in_code;
            let Some((name, rest)) = named else {
                let _ = writeln!(marked, "{statement}");
                continue;
            };
            self.close(marked, n_labels);
            *n_labels += 1;
            let _ = writeln!(marked, "\t.type {name}, @function\n{name}:");
            label(marked, *n_labels);
            let _ = writeln!(marked, "{rest}");
            self.function = Some((name.to_owned(), *n_labels));
        }
    }

    /// The function that was begun ends here.
    fn close(&mut self, marked: &mut String, n_labels: &mut usize) {
        let Some((name, first)) = self.function.take() else { return };
        *n_labels += 1;
        label(marked, *n_labels);
        record(marked, first, *n_labels, FUNCTION);
        let has_size = |line: &str| {
            let told = line.trim().strip_prefix(".size").and_then(|it| it.split(',').next());
            told.is_some_and(|it| it.trim() == name)
        };
        if !self.text.split(['\n', ';']).any(has_size) {
            let _ = writeln!(marked, "\t.size {name}, .-{name}");
        }
    }
}

/// Whether a symbol is no label within a function.
fn is_name(text: &str) -> bool {
    let is_first = |it: char| it.is_ascii_alphabetic() || it == '_';
    text.starts_with(is_first)
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '$' | '@'))
}

/// Whether a directive leads to a section of code, if it leads to one.
fn section(line: &str) -> Option<bool> {
    let mut words = line.split([' ', '\t', ',']).filter(|it| !it.is_empty());
    match words.next()? {
        ".text" => Some(true),
        ".data" | ".bss" => Some(false),
        ".section" | ".pushsection" => {
            let name = words.next()?.trim_matches('"');
            Some(name.starts_with(".text") || name == ".init" || name == ".fini")
        }
        // What was before is not kept: code is the rule.
        ".popsection" | ".previous" => Some(true),
        _ => None,
    }
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
                ".long .Lmazurka_1-.",
                ".long .Lmazurka_4-.Lmazurka_1",
                ".long 3",
                ".long .Lmazurka_5-.",
                ".long .Lmazurka_6-.Lmazurka_5",
                ".long 2",
            ],
            "{marked}"
        );
        let lines: Vec<&str> = marked.lines().collect();
        let at = |wanted: &str| lines.iter().position(|line| *line == wanted).expect("it is there");
        assert!(at(".Lmazurka_2:") < at("#APP") && at("#NO_APP") < at(".Lmazurka_3:"));
        assert!(at("g:") < at(".Lmazurka_5:") && at(".Lend:") < at(".Lmazurka_6:"));
    }

    #[test]
    fn a_function_has_an_end_behind_the_beginning_of_its_cold_part() {
        let text = "\t.text\n\t.type\tf, @function\nf:\n\tcall\t__tsan_read4\n\
                    \t.section\t.text.unlikely\n\t.type\tf.cold, @function\nf.cold:\n\tret\n\
                    \t.text\n\t.size\tf, .-f\n\t.section\t.text.unlikely\n\
                    \t.size\tf.cold, .-f.cold\n";
        let marked = mark(text);
        assert_eq!(marked.matches("\t.long 3\n").count(), 2, "{marked}");
        assert!(marked.contains(".long .Lmazurka_3-.Lmazurka_1"), "{marked}");
        assert!(marked.contains(".long .Lmazurka_4-.Lmazurka_2"), "{marked}");
    }

    #[test]
    fn what_the_instrumentation_does_not_know_is_marked() {
        let text = "\t.type\tf, @function\nf:\n\tcall\t__tsan_read4\n\
                    \tvpgatherdd\t%ymm1, (%rdi,%ymm0,4), %ymm2\n\tvpcompressd\t%ymm0, %ymm1\n\
                    \tmaskmovdqu\t%xmm1, %xmm0\n\tret\n\t.size\tf, .-f\n";
        let marked = mark(text);
        assert_eq!(marked.matches("\t.long 1\n").count(), 2, "{marked}");
        let lines: Vec<&str> = marked.lines().collect();
        let at = |wanted: &str| lines.iter().position(|line| line.contains(wanted));
        assert!(at(".Lmazurka_2:") < at("vpgather") && at("vpgather") < at(".Lmazurka_3:"));
    }

    #[test]
    fn what_is_no_code_outside_of_functions_is_left_alone() {
        let text = "#APP\n\t.globl x\n#NO_APP\n\t.data\nx:\n\t.size x, 4\n";
        assert_eq!(mark(text), text);
        let text = "#APP\n\t.data\nx:\t.long 4\n#NO_APP\n\t.text\n";
        assert_eq!(mark(text), text);
    }

    #[test]
    fn functions_in_assembly_outside_of_functions_are_marked() {
        for (begin, end) in BEGINNINGS.iter().zip(ENDS) {
            let text = format!(
                "\t.bss\n{begin}\n.text\n.globl f\nf: incl x(%rip); ret\n.Lx:\n1:\ng:\n\
                 \tret\n\t.size g, .-g\n{end}\n"
            );
            let marked = mark(&text);
            let wanted = "\t.type f, @function\nf:\n.Lmazurka_1:\n incl x(%rip)\n ret\n.Lx:\n1:\n\
                          .Lmazurka_2:\n";
            assert!(marked.contains(wanted), "{marked}");
            assert!(marked.contains("\t.size f, .-f\n"), "{marked}");
            assert_eq!(marked.matches(".size g").count(), 1, "{marked}");
            assert_eq!(marked.matches("\t.long 2\n").count(), 2, "{marked}");
        }
    }
}
