//! The C compiler: how programs are made that the library can run.

use crate::Failure;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

const LIBRARY: &str = "libmazurka_native.so";

/// The thread sanitizer's instrumentation, and nothing the compiler would do behind its back.
const INSTRUMENT: [&str; 7] = [
    "-g",
    "-fsanitize=thread",
    "--param",
    "tsan-distinguish-volatile=1",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "-fno-builtin",
];

/// What goes before the library. Addresses are bound at the start, so that no execution binds one.
const LINK: [&str; 3] =
    ["-Wl,-z,relro,-z,now", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset", "-pthread"];

/// What the compiler would link with by itself, without the sanitizer's own runtime.
const DEFAULT_LIBRARIES: [&str; 4] = ["-nodefaultlibs", "-lc", "-lgcc", "-lgcc_s"];

/// Flags with which nothing is linked.
const NO_LINK: [&str; 7] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"];

/// Flags that may have their value in the next argument.
const WITH_VALUE: [&str; 25] = [
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
    "--param",
    "-T",
    "-u",
    "-z",
    "-e",
];

/// Compiles files and links them into `folder`.
pub(crate) fn build(
    files: &[PathBuf],
    flags: &[String],
    folder: &Path,
) -> Result<PathBuf, Vec<Failure>> {
    let wrong: Vec<Failure> = files.iter().filter_map(|file| look(file)).collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let one = |failure| vec![failure];
    let library = library().map_err(one)?;
    let mut objects = Vec::new();
    let mut failures = Vec::new();
    for (idx, file) in files.iter().enumerate() {
        let object = folder.join(format!("{idx}.o"));
        let mut command = compiler().map_err(one)?;
        command.arg("-O2").args(INSTRUMENT).args(flags).arg("-c");
        // A name may begin like a flag.
        let is_like_flag = file.as_os_str().as_encoded_bytes().starts_with(b"-");
        let named = if is_like_flag { Path::new(".").join(file) } else { file.clone() };
        command.arg(named).arg("-o").arg(&object);
        match finish(&mut command).map_err(one)? {
            status if status.success() => objects.push(object),
            status => failures.push(Failure::input(format!(
                "`{}` does not compile{}",
                file.display(),
                by_signal(status)
            ))),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let program = folder.join("program");
    let mut command = compiler().map_err(one)?;
    command.args(objects).args(LINK).args(link_with(&library)).args(flags);
    command.arg("-o").arg(&program);
    match finish(&mut command).map_err(one)? {
        status if status.success() => Ok(program),
        status => {
            let text = format!("the program cannot be linked{}", by_signal(status));
            Err(one(Failure::input(text)))
        }
    }
}

/// Becomes the compiler, as `mazurka cc`.
pub(crate) fn become_wrapper(arguments: &[OsString]) -> Failure {
    let mut command = match compiler() {
        Ok(command) => command,
        Err(failure) => return failure,
    };
    if has_input(arguments) {
        command.args(INSTRUMENT);
    }
    command.args(arguments);
    if links(arguments) {
        match library() {
            Ok(library) => {
                command.args(LINK).args(link_with(&library)).args(DEFAULT_LIBRARIES);
            }
            Err(failure) => return failure,
        }
    }
    let error = command.exec();
    cannot_start(command.get_program(), &error)
}

/// Whether the program names the library.
pub(crate) fn is_linked(program: &Path) -> bool {
    let name = LIBRARY.as_bytes();
    std::fs::read(program).is_ok_and(|text| text.windows(name.len()).any(|part| part == name))
}

fn links(arguments: &[OsString]) -> bool {
    has_input(arguments) && !arguments.iter().any(|arg| NO_LINK.iter().any(|flag| arg == flag))
}

/// Whether there is something to compile or to link: `--version` alone is a question.
fn has_input(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(arg) = arguments.next() {
        if WITH_VALUE.iter().any(|flag| arg == flag) {
            arguments.next();
        } else if arg == "-" || !arg.as_encoded_bytes().starts_with(b"-") {
            return true;
        }
    }
    false
}

/// What is wrong with a file before it is compiled.
fn look(file: &Path) -> Option<Failure> {
    let name = file.display();
    let text = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("`{name}` does not exist")
        }
        Err(error) => format!("`{name}` cannot be read: {error}"),
        Ok(data) if data.is_dir() => {
            format!("`{name}` is a directory; name the C files in it")
        }
        Ok(_) if !matches!(file.extension().and_then(OsStr::to_str), Some("c" | "i")) => {
            format!("`{name}` is not a C file: its name ends neither in `.c` nor in `.i`")
        }
        Ok(_) => return None,
    };
    Some(Failure::input(text))
}

/// `CC`, which may have arguments, or `gcc`.
fn compiler() -> Result<Command, Failure> {
    let text = std::env::var("CC").unwrap_or_default();
    let words = shlex::split(&text)
        .ok_or_else(|| Failure::input(format!("a quote is not closed in `CC`: {text}")))?;
    // Whoever exports `CC="mazurka cc"` for a build means the compiler behind it.
    let is_ours = words.iter().any(|word| Path::new(word).ends_with("mazurka"));
    match words.split_first() {
        Some((program, arguments)) if !is_ours => {
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
        _ => Ok(Command::new("gcc")),
    }
}

/// Runs the compiler; what it says goes to standard error.
fn finish(command: &mut Command) -> Result<ExitStatus, Failure> {
    let status = command.stdout(std::io::stderr()).status();
    status.map_err(|error| cannot_start(command.get_program(), &error))
}

fn cannot_start(program: &OsStr, error: &std::io::Error) -> Failure {
    let text = format!("the compiler `{}` cannot be started: {error}", program.display());
    Failure::input(text).help("install gcc, or name another compiler by the variable `CC`")
}

fn by_signal(status: ExitStatus) -> String {
    status.signal().map_or(String::new(), |signal| format!(": signal {signal} ended the compiler"))
}

fn link_with(library: &Path) -> [OsString; 4] {
    let folder = library.parent().unwrap_or(Path::new("."));
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(folder);
    ["-L".into(), folder.into(), "-lmazurka_native".into(), rpath]
}

/// Where the library is: `MAZURKA_NATIVE`, or with this command. Cargo leaves the one of a
/// dependency in `deps`, and what lies beside the command may be older.
pub(crate) fn library() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("MAZURKA_NATIVE").filter(|path| !path.is_empty()) {
        let mut path = PathBuf::from(path);
        if path.is_dir() {
            path.push(LIBRARY);
        }
        if path.is_file() && path.ends_with(LIBRARY) {
            return path.canonicalize().map_err(|error| Failure::input(error.to_string()));
        }
        let text = format!("`MAZURKA_NATIVE` names no `{LIBRARY}`: {}", path.display());
        return Err(Failure::input(text));
    }
    let here = std::env::current_exe().and_then(|path| path.canonicalize());
    let folder = here.ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let places = [folder.join("deps").join(LIBRARY), folder.join(LIBRARY)];
    places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let text = format!("`{LIBRARY}` is not beside this command in {}", folder.display());
        Failure::input(text).help(
            "build it by `cargo build -p mazurka-native` and copy it there, or name it by the \
             variable `MAZURKA_NATIVE`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_makes_a_program_is_linked() {
        let check = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            (has_input(&words), links(&words))
        };
        assert_eq!(check("a.c -o a"), (true, true));
        assert_eq!(check("-O2 a.o b.o -lm"), (true, true));
        assert_eq!(check("-MMD -MF a.d a.c"), (true, true));
        assert_eq!(check("-x c -"), (true, true));
        assert_eq!(check("-c a.c"), (true, false));
        assert_eq!(check("-E a.c"), (true, false));
        assert_eq!(check("--version"), (false, false));
        assert_eq!(check("-v -o a"), (false, false));
    }
}
