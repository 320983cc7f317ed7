//! C with threads, as [`Program`]s: control-flow graphs of guarded actions.
//!
//! [`translate`] takes files to a program, or to everything that is wrong with them. The way there:
//! the compiler looks at the files and expands their macros (`preprocess`), what the grammar does
//! not have is rewritten (`tokens`), it is parsed (by the crate `lang-c`), names and types are
//! resolved (`check`, into the `tree`), and graphs are written (`lower`). The library that programs
//! call is written in C (`library/library.c`), in terms of what the machine has.
//!
//! ```
//! use mazurka_c::{Options, translate};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let file = folder.path().join("x.c");
//! std::fs::write(&file, "int x; int main(void) { x = 1; return x - 1; }").unwrap();
//! let program = translate(&[file.clone()], &Options::default()).unwrap();
//! assert_eq!(program.processes.len(), 1);
//!
//! // All mistakes are told at once, each with its place.
//! std::fs::write(&file, "int main(void) { return y + z; }").unwrap();
//! let faults = translate(&[file], &Options::default()).unwrap_err();
//! assert_eq!(faults.iter().count(), 2);
//! ```
//! # What is fixed here that C leaves open
//!
//! - Sizes and representations are those of x86-64 Linux.
//! - Operands, arguments and the two sides of an assignment are evaluated from left to right.
//! - Memory that was not initialised is 0.
//! - A pointer is a number, see [`Pointer`](mazurka_model::Pointer): conversions to integers and
//!   back keep it, every object begins at a multiple of 4096, and the lower 32 bits of a pointer
//!   are 0 for null alone.
//! - `exit` ends the process. The thread that calls it is never seen to end, and what the others
//!   still do they could have done before.
//!
//! # Names with a meaning, after the rules of SV-COMP
//!
//! A function whose name begins with `__VERIFIER_atomic_` is one step. A call of `reach_error` or
//! `__VERIFIER_error` is a failed assertion. Both hold whatever their bodies do.
//!
//! # What is shared
//!
//! A local variable whose address is never taken is a register of its function. All other
//! variables, and what `malloc` returns, are memory, and each access to them is an action of its
//! own: atomic for `_Atomic` and `volatile` ones, plain for the rest.

mod check;
mod fault;
mod lower;
mod preprocess;
mod tokens;
mod tree;
mod types;

pub use check::Extern;
pub use mazurka_source::{Fault, Faults};

use check::{Externs, Unit};
use fault as code;
use lang_c::driver::{Config, Flavor, SyntaxError, parse_preprocessed};
use mazurka_model::Program;
use mazurka_source::{Sources, Span, Text};
use preprocess::Compiler;
use std::path::PathBuf;

/// The functions that programs call.
const LIBRARY: &str = include_str!("library/library.c");

/// Those of `math.h`, for a type that is still open: see [`library`].
const MATH: &str = include_str!("library/math.c");

/// The parser and the checks go as deep as the program is nested.
const STACK_BYTES: usize = 512 << 20;

/// How to read C.
#[derive(Clone, Debug)]
pub struct Options {
    /// The compiler: a command and its first arguments.
    pub compiler: Vec<String>,
    /// More for the compiler: `-DN=3`, `-Iinclude`.
    pub flags: Vec<String>,
    /// What functions without a body do.
    pub externs: Vec<(String, Extern)>,
    /// Whether a wait on a condition variable may end for no reason.
    pub spurious_wakeups: bool,
    /// Whether signed overflow is wrong.
    pub overflow: bool,
    /// What `__VERIFIER_nondet_int` and its like may return; all values of the type if nothing is
    /// said.
    pub nondet: Option<(i64, i64)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compiler: vec!["gcc".to_owned()],
            flags: Vec::new(),
            externs: Vec::new(),
            spurious_wakeups: false,
            overflow: true,
            nondet: None,
        }
    }
}

/// The program that some files make.
pub fn translate(files: &[PathBuf], options: &Options) -> Result<Program, Faults> {
    let work = || translate_here(files, options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work).map(|it| it.join()) {
            Ok(Ok(done)) => done.map_err(Faults),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(Faults(vec![Fault::new(
                code::FILE,
                format!("no thread can be started: {error}"),
            )])),
        }
    })
}

fn translate_here(files: &[PathBuf], options: &Options) -> Result<Program, Vec<Fault>> {
    let compiler = Compiler::new(&options.compiler, &options.flags)?;
    let mut sources = Sources::default();
    let mut units = Vec::new();
    let mut faults = Vec::new();
    for file in files {
        let name = file.to_string_lossy();
        match compiler.preprocess(file) {
            Err(more) => faults.extend(more),
            Ok(text) => match parse(&mut sources, &name, &text, false) {
                Ok(unit) => units.push(unit),
                Err(fault) => faults.push(*fault),
            },
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let library = parse(&mut sources, "<library>", &library(), true);
    units.push(library.unwrap_or_else(|fault| panic!("our own library is no C:\n{fault}")));
    let externs: Externs = options.externs.iter().cloned().collect();
    let checked = check::check(&sources, &units, &["main", "__mazurka_start"], &externs)?;
    let name = files.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(lower::lower(&name, &sources, checked, options, &externs))
}

/// All functions that programs call.
fn library() -> String {
    let math = |real: &str, end: &str| MATH.replace("real", real).replace('@', end);
    [LIBRARY, &math("double", ""), &math("float", "f")].concat()
}

fn parse(
    sources: &mut Sources,
    name: &str,
    text: &str,
    is_library: bool,
) -> Result<Unit, Box<Fault>> {
    let config =
        Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    let text = tokens::rewrite(text);
    let text_idx = sources.texts.len() as u32;
    if let Some((start, len)) = tokens::too_deep(&text) {
        sources.texts.push(Text::new(name, text));
        let most = tokens::DEEPEST;
        let fault = Fault::new(code::SYNTAX, format!("nested more than {most} deep"))
            .label("this is one too many");
        let span = Span { text_idx, start: start as u32, end: (start + len) as u32 };
        return Err(Box::new(sources.place(fault, span)));
    }
    match parse_preprocessed(&config, text) {
        Ok(parsed) => {
            sources.texts.push(Text::new(name, parsed.source));
            Ok(Unit { ast: parsed.unit, text_idx, is_library })
        }
        Err(error) => Err(Box::new(syntax_fault(sources, name, error))),
    }
}

/// C that the compiler accepts and the grammar does not have.
fn syntax_fault(sources: &mut Sources, name: &str, error: SyntaxError) -> Fault {
    let text_idx = sources.texts.len() as u32;
    let rest = error.source.get(error.offset..).unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let len = rest.chars().take_while(|c| is_word(*c)).count().max(1);
    let start = error.offset as u32;
    sources.texts.push(Text::new(name, error.source));
    let text = match foreign_word(&sources.texts[text_idx as usize].text, error.offset) {
        Some(word) => format!("`{word}` is not supported"),
        None => "this syntax is not supported".to_owned(),
    };
    let fault = Fault::new(code::SYNTAX, text).label("not understood here");
    sources.place(fault, Span { text_idx, start, end: start + len as u32 })
}

/// The word at a place, or the one before it, that is C of the compiler and not of our grammar.
fn foreign_word(text: &str, offset: usize) -> Option<&str> {
    const FOREIGN: [&str; 6] =
        ["__int128", "__int128_t", "__uint128_t", "__float128", "_Decimal64", "_Decimal128"];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (before, after) = text.split_at_checked(offset)?;
    let here = after.split(|c| !is_word(c)).next().unwrap_or_default();
    let last = before.split(|c| !is_word(c)).rfind(|word| !word.is_empty()).unwrap_or_default();
    [here, last].into_iter().find(|word| FOREIGN.contains(word))
}
