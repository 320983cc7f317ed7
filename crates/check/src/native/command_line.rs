//! What the arguments of a compiler ask for: to compile, to link, or neither.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Flags with which nothing is linked.
const NO_LINK: [&str; 7] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"];

/// Flags that make a program which cannot be explored: nothing can be put in front of what is part
/// of it.
const STATIC: [&str; 4] = ["-static", "-static-pie", "-static-libstdc++", "-static-libgcc"];

/// Flags that may have their value in the next argument.
pub const WITH_VALUE: [&str; 28] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-target",
    "--param",
    "-T",
    "-u",
    "-z",
    "-e",
];

/// Files that are linked as they are.
const LINKED: [&str; 6] = ["o", "lo", "obj", "a", "so", "lds"];

/// Files of responses may name others, but not without end.
const MAX_NESTED: usize = 8;

/// A command line of a compiler, with what its files of responses say.
#[derive(Debug)]
pub(super) struct CommandLine {
    words: Vec<OsString>,
}

impl CommandLine {
    pub(super) fn new(arguments: &[OsString]) -> Self {
        let mut words = Vec::new();
        expand(arguments, 0, &mut words);
        Self { words }
    }

    /// Whether there is something to compile.
    pub(super) fn compiles(&self) -> bool {
        self.inputs().any(|input| !is_linked_as_it_is(input))
    }

    /// Whether a program or a library is made. `--version` alone is a question.
    pub(super) fn links(&self) -> bool {
        self.inputs().next().is_some() && !self.has_any(&NO_LINK)
    }

    /// A flag that asks for a program which cannot be explored.
    pub(super) fn static_flag(&self) -> Option<&'static str> {
        STATIC.into_iter().find(|flag| self.has_any(&[flag]))
    }

    fn has_any(&self, flags: &[&str]) -> bool {
        self.words.iter().any(|word| flags.iter().any(|flag| word == flag))
    }

    fn inputs(&self) -> impl Iterator<Item = &OsStr> {
        let mut is_value = false;
        self.words.iter().map(OsString::as_os_str).filter(move |word| {
            if std::mem::take(&mut is_value) {
                return false;
            }
            is_value = WITH_VALUE.iter().any(|flag| word == flag);
            !is_value && (*word == "-" || !word.as_encoded_bytes().starts_with(b"-"))
        })
    }
}

/// Replaces `@file` by the words in the file, as compilers do.
fn expand(arguments: &[OsString], depth: usize, words: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.to_str().and_then(|word| word.strip_prefix('@'));
        let inside = file.filter(|_| depth < MAX_NESTED).and_then(|file| {
            let text = std::fs::read_to_string(file).ok()?;
            shlex::split(&text)
        });
        match inside {
            Some(inside) => {
                let inside: Vec<OsString> = inside.into_iter().map(OsString::from).collect();
                expand(&inside, depth + 1, words);
            }
            None => words.push(argument.clone()),
        }
    }
}

fn is_linked_as_it_is(file: &OsStr) -> bool {
    let name = file.to_string_lossy();
    let extension = Path::new(file).extension().and_then(OsStr::to_str).unwrap_or_default();
    LINKED.contains(&extension) || name.contains(".so.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CommandLine {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        CommandLine::new(&words)
    }

    #[test]
    fn only_what_makes_a_program_is_linked() {
        let check = |text: &str| (line(text).compiles(), line(text).links());
        assert_eq!(check("a.c -o a"), (true, true));
        assert_eq!(check("-O2 a.o b.o -lm"), (false, true));
        assert_eq!(check("-shared a.o libx.so.1 -o liba.so"), (false, true));
        assert_eq!(check("-MMD -MF a.d a.c"), (true, true));
        assert_eq!(check("-mllvm -x a.o"), (false, true));
        assert_eq!(check("-x c -"), (true, true));
        assert_eq!(check("-c a.c"), (true, false));
        assert_eq!(check("-E a.c"), (true, false));
        assert_eq!(check("--version"), (false, false));
        assert_eq!(check("-v -o a"), (false, false));
    }

    #[test]
    fn files_of_responses_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("words");
        std::fs::write(&path, "-c 'a b.c'\n-static").expect("a file can be written");
        let line = line(&format!("@{}", path.display()));
        assert!(line.compiles() && !line.links());
        assert_eq!(line.static_flag(), Some("-static"));
        assert!(CommandLine::new(&["@nothing".into()]).compiles(), "the compiler will complain");
    }
}
