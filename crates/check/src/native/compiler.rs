//! The compilers of C and C++: how programs are made that the library can run.

use super::command_line::CommandLine;
use super::{LIBRARY, Toolchain, assembler, os};
use crate::{Fault, Faults};
use object::{Object as _, ObjectSymbol};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use tempfile::TempDir;

/// The thread sanitizer's instrumentation; exceptions also in C, so that the end of a thread
/// unwinds its stack. Without calls in the place of a return: who called a function of the C
/// library would look like one of ours, where a thread's own function ends in that call; and stacks
/// in reports would miss a line.
const INSTRUMENT: [&str; 4] =
    ["-g", "-fsanitize=thread", "-fexceptions", "-fno-optimize-sibling-calls"];

/// With this, gcc calls the assembler behind our back. All it does is to save files.
const PIPE: &str = "-pipe";

/// Functions that the library itself calls all the time have another name for the program.
pub const WRAPPED: [&str; 2] = [
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset",
    "-Wl,--wrap=strlen,--wrap=memcmp,--wrap=bcmp",
];

/// What goes with the library. Addresses are bound at the start, so that no execution binds one.
const LINK: [&str; 4] = ["-Wl,-z,relro,-z,now", WRAPPED[0], WRAPPED[1], "-pthread"];

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
}

impl Language {
    /// By the end of a file's name, as compilers have it.
    fn of(file: &Path) -> Option<Self> {
        match crate::language_of(file)? {
            crate::Language::C => Some(Self::C),
            crate::Language::Cxx => Some(Self::Cxx),
            crate::Language::Promela | crate::Language::Program => None,
        }
    }

    /// The variable that names the compiler.
    fn variable(self) -> &'static str {
        match self {
            Self::C => "CC",
            Self::Cxx => "CXX",
        }
    }

    /// What the sanitizer's own runtime would be linked beside.
    fn default_libraries(self) -> &'static [&'static str] {
        match self {
            Self::C => &["-nodefaultlibs", "-lc", "-lgcc", "-lgcc_s"],
            Self::Cxx => &["-nodefaultlibs", "-lstdc++", "-lm", "-lc", "-lgcc", "-lgcc_s"],
        }
    }
}

/// Whose compiler it is: their flags differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Gcc,
    Clang,
}

impl Family {
    /// The first version with all the flags.
    fn oldest(self) -> u32 {
        match self {
            Self::Gcc => 11,
            Self::Clang => 12,
        }
    }

    /// Nothing the compiler would do behind the instrumentation's back.
    fn instrument(self) -> &'static [&'static str] {
        match self {
            Self::Gcc => &[
                "--param",
                "tsan-distinguish-volatile=1",
                "--param",
                "tsan-instrument-func-entry-exit=0",
                "-fno-builtin",
                // Nor what it writes in the place of `__builtin_memcpy`.
                "-mmemcpy-strategy=libcall:-1:noalign",
                "-mmemset-strategy=libcall:-1:noalign",
                // The sanitizer's own runtime does not know fences, we do.
                "-Wno-tsan",
            ],
            Self::Clang => &[
                "-mllvm",
                "-tsan-instrument-read-before-write=1",
                "-mllvm",
                "-tsan-distinguish-volatile=1",
                "-mllvm",
                "-tsan-instrument-func-entry-exit=0",
                "-fno-builtin",
            ],
        }
    }

    /// Flags for linking at once with compiling, without the sanitizer's own runtime.
    fn without_runtime(self, language: Language) -> &'static [&'static str] {
        match self {
            Self::Gcc => language.default_libraries(),
            Self::Clang => &["-fno-sanitize-link-runtime"],
        }
    }
}

/// A compiler that is there and young enough.
struct Compiler {
    words: Vec<String>,
    family: Family,
}

impl Compiler {
    /// What `CC` or `CXX` names, which may have arguments, or gcc's.
    fn of(language: Language) -> Result<Self, Fault> {
        let words = words_of(language)?;
        let mut command = command(&words);
        let output = command.arg("--version").output();
        let output = output.map_err(|error| cannot_start(language, &words[0], &error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let name = words.join(" ");
        if is_interrupt(output.status) {
            return Err(super::interrupted(&name));
        }
        if let Some(signal) = os::signal_of(output.status) {
            return Err(Fault::input(format!("`{name}`: signal {signal} ended the compiler")));
        }
        let Some((family, version)) = identify(&text) else {
            let text = format!("`{name}` is neither gcc nor clang, as far as `--version` tells");
            return Err(Fault::input(text).help(HELP));
        };
        if version < family.oldest() {
            let oldest = family.oldest();
            let text = format!(
                "`{name}` is of version {version}, and {oldest} is the oldest known to work"
            );
            return Err(Fault::input(text).help(HELP));
        }
        Ok(Self { words, family })
    }

    fn command(&self) -> Command {
        command(&self.words)
    }

    /// A command that instruments what it compiles, and marks what it cannot (`assembler`). Where
    /// the compiler finds our assembler in a folder, that must not go away before it.
    fn instrumenting(&self, toolchain: &Toolchain) -> Result<(Command, Option<TempDir>), Fault> {
        let mut command = self.command();
        command.args(INSTRUMENT).args(self.family.instrument());
        let own = toolchain.command()?;
        // To gcc, a comma ends the name.
        let has_comma = own.as_os_str().as_encoded_bytes().contains(&b',');
        if self.family == Family::Gcc && !has_comma {
            let mut wrapper = own.into_os_string();
            wrapper.push(",");
            wrapper.push(assembler::STEP);
            command.arg("-wrapper").arg(wrapper);
            return Ok((command, None));
        }
        let error = |error: std::io::Error| {
            Fault::input(format!("a temporary folder cannot be made: {error}"))
        };
        let folder = tempfile::Builder::new().prefix("mazurka-").tempdir().map_err(error)?;
        os::link(&own, &folder.path().join("as")).map_err(error)?;
        if self.family == Family::Clang {
            command.arg("-fno-integrated-as");
        }
        command.arg("-B").arg(folder.path());
        Ok((command, Some(folder)))
    }
}

const HELP: &str = "install gcc or clang, or name a compiler by the variables `CC` and `CXX`";

/// Family and version, by the first line that a compiler prints of itself.
fn identify(text: &str) -> Option<(Family, u32)> {
    let family = if text.contains("clang version") {
        Family::Clang
    } else if text.contains("Free Software Foundation") {
        Family::Gcc
    } else {
        return None;
    };
    let line = text.lines().next()?;
    let version = match family {
        Family::Clang => line.split("clang version ").nth(1)?,
        // `gcc (what the distributor says) 12.2.0`
        Family::Gcc => line.rsplit(") ").next()?,
    };
    let major = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((family, major.parse().ok()?))
}

/// Compiles files and links them into `folder`.
pub(super) fn build(
    files: &[PathBuf],
    flags: &[String],
    folder: &Path,
    toolchain: &Toolchain,
) -> Result<PathBuf, Faults> {
    let one = |fault| vec![fault];
    let library = (toolchain.library)().map_err(one)?;
    let mut objects = Vec::new();
    let mut failures = Vec::new();
    for (idx, file) in files.iter().enumerate() {
        let object = folder.join(format!("{idx}.o"));
        let language = Language::of(file).expect("the task has files of C and C++");
        let compiler = Compiler::of(language).map_err(one)?;
        let (mut command, _assembler) = compiler.instrumenting(toolchain).map_err(one)?;
        command.arg("-O2").args(flags.iter().filter(|word| *word != PIPE)).arg("-c");
        // A name may begin like a flag.
        let is_like_flag = file.as_os_str().as_encoded_bytes().starts_with(b"-");
        let named = if is_like_flag { Path::new(".").join(file) } else { file.clone() };
        command.arg(named).arg("-o").arg(&object);
        match finish(&mut command).map_err(one)? {
            status if status.success() => objects.push(object),
            status if is_interrupt(status) => return Err(one(interrupted(file))),
            status => failures.push(Fault::input(format!(
                "`{}` does not compile{}",
                file.display(),
                by_signal(status)
            ))),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let is_cxx = files.iter().any(|file| Language::of(file) == Some(Language::Cxx));
    let language = if is_cxx { Language::Cxx } else { Language::C };
    let program = folder.join("program");
    let mut command = Compiler::of(language).map_err(one)?.command();
    command.args(LINK).args(link_with(&library)).args(&objects).args(flags);
    command.arg("-o").arg(&program);
    // Where a model answers in the place of the program, what the linker says is not shown.
    let output = command.output().map_err(|error| one(cannot_run(&command, &error)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        // Warnings, which are no reason to fail where standard error is closed.
        let _ = std::io::stderr().write_all(said.as_bytes());
        return Ok(program);
    }
    if is_interrupt(output.status) {
        return Err(one(interrupted(&files[0])));
    }
    let mut said = said.into_owned();
    for (idx, file) in files.iter().enumerate() {
        let object = folder.join(format!("{idx}.o"));
        said = said.replace(&*object.to_string_lossy(), &file.to_string_lossy());
    }
    let by = by_signal(output.status);
    let text = format!("the program cannot be linked{by}\n{}", said.trim_end());
    let is_model = objects.iter().any(|object| calls_what_models_have(object));
    Err(one(if is_model { Fault::unlinkable(text) } else { Fault::input(text) }))
}

/// Whether an object file calls functions that no library has, since models give them a meaning.
fn calls_what_models_have(object: &Path) -> bool {
    let Ok(data) = std::fs::read(object) else { return false };
    object::File::parse(&*data).is_ok_and(|file| {
        file.symbols().filter(ObjectSymbol::is_undefined).any(|symbol| {
            symbol.name().is_ok_and(|it| it.starts_with("__VERIFIER_") || it == "reach_error")
        })
    })
}

/// Becomes the compiler, as `mazurka cc` and `mazurka c++`; or runs it, where something is to be
/// removed behind it.
pub fn become_wrapper(
    language: Language,
    arguments: &[OsString],
    toolchain: &Toolchain,
) -> Result<ExitStatus, Fault> {
    let (mut command, assembler) = wrapper(language, arguments, toolchain)?;
    let error = match assembler {
        None => os::become_program(&mut command),
        Some(_folder) => match command.status() {
            Ok(status) => return Ok(status),
            Err(error) => error,
        },
    };
    let program = command.get_program().to_string_lossy();
    Err(cannot_start(language, &program, &error))
}

fn wrapper(
    language: Language,
    arguments: &[OsString],
    toolchain: &Toolchain,
) -> Result<(Command, Option<TempDir>), Fault> {
    let line = CommandLine::new(arguments);
    if !line.compiles() && !line.links() {
        let mut command = command(&words_of(language)?);
        command.args(arguments);
        return Ok((command, None));
    }
    let compiler = Compiler::of(language)?;
    let (mut command, assembler) = match line.compiles() {
        true => compiler.instrumenting(toolchain)?,
        false => (compiler.command(), None),
    };
    if line.links() {
        if let Some(flag) = line.static_flag() {
            let text = format!("a program that is linked with `{flag}` cannot be explored");
            return Err(Fault::input(text).help("leave the flag out of this build"));
        }
        command.args(LINK).args(link_with(&(toolchain.library)()?));
    }
    command.args(arguments.iter().filter(|word| word.as_os_str() != PIPE));
    if line.links() && line.compiles() {
        command.args(compiler.family.without_runtime(language));
    }
    Ok((command, assembler))
}

/// Whether the program names the library.
pub(super) fn is_linked(program: &Path) -> bool {
    let name = LIBRARY.as_bytes();
    std::fs::read(program).is_ok_and(|text| text.windows(name.len()).any(|part| part == name))
}

/// Whether a program has all that it needs in itself, so that nothing can be put in front of it.
pub(super) fn is_static(program: &Path) -> bool {
    ask(program, |file| file.section_by_name(".interp").is_none())
}

/// Whether the names of the variables and functions of a program are gone.
pub(crate) fn is_stripped(program: &Path) -> bool {
    ask(program, |file| file.symbol_table().is_none())
}

/// What is no program is none of these.
fn ask(program: &Path, question: impl FnOnce(&object::File<'_>) -> bool) -> bool {
    let data = std::fs::read(program).unwrap_or_default();
    object::File::parse(&*data).is_ok_and(|file| question(&file))
}

/// The compiler of a language and its arguments.
pub(crate) fn words_of(language: Language) -> Result<Vec<String>, Fault> {
    let variable = language.variable();
    let text = std::env::var(variable).unwrap_or_default();
    let words = shlex::split(&text)
        .ok_or_else(|| Fault::input(format!("a quote is not closed in `{variable}`: {text}")))?;
    // A build with `CC="mazurka cc"` means the compiler behind it.
    let is_ours = words.iter().any(|word| Path::new(word).ends_with("mazurka"));
    if !words.is_empty() && !is_ours {
        return Ok(words);
    }
    let default = match language {
        Language::C => "gcc",
        Language::Cxx => "g++",
    };
    Ok(vec![default.to_owned()])
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Runs the compiler; what it says goes to standard error.
fn finish(command: &mut Command) -> Result<ExitStatus, Fault> {
    let status = command.stdout(std::io::stderr()).status();
    status.map_err(|error| cannot_run(command, &error))
}

fn cannot_run(command: &Command, error: &std::io::Error) -> Fault {
    let program = command.get_program().to_string_lossy();
    Fault::input(format!("the compiler `{program}` cannot be started: {error}"))
}

fn cannot_start(language: Language, program: &str, error: &std::io::Error) -> Fault {
    let text = format!("the compiler `{program}` cannot be started: {error}");
    Fault::input(text).help(match language {
        Language::C => "install gcc or clang, or name another compiler by the variable `CC`",
        Language::Cxx => "install g++ or clang++, or name another compiler by the variable `CXX`",
    })
}

/// Whether the user has ended a compiler: an interrupt at a terminal is for all that runs there.
fn is_interrupt(status: ExitStatus) -> bool {
    os::signal_of(status).is_some_and(os::is_interrupt)
}

fn interrupted(file: &Path) -> Fault {
    super::interrupted(&file.to_string_lossy())
}

fn by_signal(status: ExitStatus) -> String {
    os::signal_of(status)
        .map_or(String::new(), |signal| format!(": signal {signal} ended the compiler"))
}

/// Before all other libraries, so that its functions stand in front of theirs, whether or not the
/// program seems to need it; and in a place that comes before those of `LD_LIBRARY_PATH`, where
/// cargo may have left an older one: `RPATH`, and not `RUNPATH`.
fn link_with(library: &Path) -> Vec<OsString> {
    let folder = library.parent().unwrap_or(Path::new("."));
    let mut words: Vec<OsString> = vec![
        "-L".into(),
        folder.into(),
        "-Wl,--push-state,--no-as-needed".into(),
        "-lmazurka_native".into(),
        "-Wl,--pop-state".into(),
    ];
    // A comma in the name would end it behind `-Wl`.
    for word in [OsStr::new("--disable-new-dtags"), OsStr::new("-rpath"), folder.as_os_str()] {
        words.extend(["-Xlinker".into(), word.to_owned()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_what_they_say() {
        let gcc = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software \
                   Foundation, Inc.\n";
        assert_eq!(identify(gcc), Some((Family::Gcc, 12)));
        assert_eq!(identify("Debian clang version 14.0.6\nTarget: …"), Some((Family::Clang, 14)));
        assert_eq!(identify("clang version 18.1.8 (https://…)\n"), Some((Family::Clang, 18)));
        assert_eq!(identify("tcc version 0.9.27\n"), None);
    }

    #[test]
    fn languages_are_known_by_the_ends_of_names() {
        let language = |name: &str| Language::of(Path::new(name));
        assert_eq!(language("a.c"), Some(Language::C));
        assert_eq!(language("dir.c/a.cpp"), Some(Language::Cxx));
        assert_eq!(language("a.C"), Some(Language::Cxx));
        assert_eq!(language("a.rs"), None);
        assert_eq!(language("c"), None);
    }
}
