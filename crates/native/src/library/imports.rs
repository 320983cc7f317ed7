//! What a program imports of libraries that were compiled without the instrumentation.
//!
//! The loader's tables say which functions the program wants, and which library has each. Those
//! that have a row in `table`, or one in `known.txt`, are accounted for. So is a library that was
//! compiled with the instrumentation: it is a part of the program, and its own imports are asked
//! for in turn. All others may touch memory that threads share, unseen: the
//! verdict names them, unless the user trusts them.
//!
//! So may a function that is linked into the program from an object file or an archive that the
//! command has not compiled.
//!
//! Of the library of C++, functions without a row are known by parts of their names: see [`CXX`].

use crate::assembly;
use crate::names;
use mazurka_core::Assumption;
use object::{Object, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The names of the C library's functions that have no row, and why: also read by a test.
const KNOWN: &str = include_str!("known.txt");
/// The kind whose functions are named.
const NAMED: &str = "named";

/// Parts of the C library, and of what compilers call.
const C_LIBRARIES: [&str; 4] = ["libc", "libpthread", "librt", "libdl"];
/// Names of functions of the library that unwinds stacks and computes what processors do not.
const OF_COMPILERS: [&str; 3] = ["_Unwind_", "__atomic_", "__gcc_"];

/// What is in the names of the C++ library's functions that touch no memory of the program but
/// objects of one thread, or that synchronise by functions which are seen: exceptions and what
/// throws them, type information, guards of static variables, `new` and `delete`, threads, clocks,
/// the sizes of hash tables. Strings, trees, lists and streams have rows.
const CXX: [&str; 41] = [
    "__cxa_",
    "__gxx_",
    "__dynamic_cast",
    "_Znw",
    "_Zna",
    "_Zdl",
    "_Zda",
    "__throw_",
    "_ZSt9terminate",
    "_ZSt10unexpected",
    "_ZSt13set_terminate",
    "_ZSt13get_terminate",
    "_ZSt17rethrow_exception",
    "_ZSt17current_exception",
    "_ZSt18uncaught_exception",
    "_ZSt19uncaught_exceptions",
    "__exception_ptr",
    "_ZNSt9exception",
    "_ZNKSt9exception",
    "_ZNSt9bad_alloc",
    "_error",
    "_category",
    "_errorC",
    "_ZNSt12out_of_range",
    "_ZNSt16invalid_argument",
    "_ZNSt6thread",
    "condition_variable",
    "_ZNSt6chrono",
    "__future_base",
    "_Prime_rehash_policy",
    "_ZNSt8ios_base4Init",
    "__once_proxy",
    "_ZSt11__once_call",
    "6sentry",
    "_ZNSaI",
    "_Alloc_hider",
    "_ZNSt8ios_baseC",
    "_ZNSt8ios_baseD",
    "_ZNSt6locale",
    "_ZNKSt6locale",
    "_ZNKSt5ctypeI",
];

/// What a verdict calls the place where functions are that were linked in and not compiled by the
/// command.
const OTHER_OBJECTS: &str = "an object compiled elsewhere";
/// What the linker adds to every program.
const OF_EVERY_PROGRAM: [&str; 11] = [
    "_start",
    "_init",
    "_fini",
    "_dl_relocate_static_pie",
    "__libc_csu_init",
    "__libc_csu_fini",
    "atexit",
    "at_quick_exit",
    "pthread_atfork",
    "__stack_chk_fail_local",
    "__morestack",
];

/// Functions that load libraries.
const LOADING: [&str; 2] = ["dlopen", "dlmopen"];

static FOUND: OnceLock<Vec<Assumption>> = OnceLock::new();

/// Looks what the program imports. `trusted` are libraries or functions that the user vouches for.
pub(crate) fn look(trusted: &[String]) {
    FOUND.get_or_init(|| assumptions_of(unaccounted(), trusted));
}

/// What a verdict takes for granted of them.
pub(crate) fn assumptions() -> impl Iterator<Item = Assumption> {
    FOUND.get().into_iter().flatten().cloned()
}

/// An error that lists them, if there are any.
pub(crate) fn refuse_any() -> Result<(), String> {
    let all: Vec<String> = assumptions()
        .flat_map(|assumption| match assumption {
            Assumption::UninstrumentedCalls { library, functions } => {
                let told = |function| format!("`{function}` ({library})");
                functions.into_iter().map(told).collect()
            }
            other => vec![other.to_string()],
        })
        .collect();
    match all.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "`--strict`: it is not known what these do to memory that threads share: {}; \
             `--trust NAME` says of a library or a function that it does no harm",
            all.join(", ")
        )),
    }
}

type Calls = BTreeMap<String, Vec<String>>;

fn assumptions_of(calls: Calls, trusted: &[String]) -> Vec<Assumption> {
    let is_trusted = |name: &str| trusted.iter().any(|it| it == name || is_library(name, it));
    let mut assumptions = Vec::new();
    for (library, mut functions) in calls {
        functions.retain(|function| !is_trusted(function));
        let is_loading = |function: &mut String| LOADING.contains(&function.as_str());
        let loading = functions.extract_if(.., is_loading);
        assumptions.extend(loading.map(Assumption::LoadedLibraries));
        if !functions.is_empty() && !is_trusted(&library) {
            assumptions.push(Assumption::UninstrumentedCalls { library, functions });
        }
    }
    assumptions
}

/// Whether the user means a library: `libz`, `libz.so` or `libz.so.1`.
fn is_library(library: &str, wanted: &str) -> bool {
    wanted.split(".so").next() == Some(library)
}

/// The functions without a row or a reason, by their library.
fn unaccounted() -> Calls {
    let mut calls = Calls::new();
    let mut seen = FxHashSet::default();
    let mut left = vec![PathBuf::from("/proc/self/exe")];
    while let Some(path) = left.pop() {
        let others = of_other_objects(&path);
        if !others.is_empty() {
            calls.entry(OTHER_OBJECTS.to_owned()).or_default().extend(others);
        }
        for name in imports(&path) {
            let Some(library) = library_with(&name) else { continue };
            if is_instrumented(&library) {
                if seen.insert(library.clone()) {
                    left.push(library);
                }
                continue;
            }
            let library = short(&library);
            if !is_accounted_for(&name, &library) {
                let functions = calls.entry(library).or_default();
                let name = names::readable(&name).into_owned();
                if !functions.contains(&name) {
                    functions.push(name);
                }
            }
        }
    }
    calls.values_mut().for_each(|functions| functions.sort());
    calls
}

/// The functions of a file that others may call, and that are from objects which the command has
/// not compiled. Nothing is known of a file without symbols, or of one in which it has compiled
/// nothing, or Rust.
fn of_other_objects(path: &Path) -> Vec<String> {
    let data = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let compiled = assembly::compiled(&file);
    let is_rust = |name: &str| name.starts_with("rust_") || name.starts_with("__rust_");
    let mut all_names = file.symbols().filter_map(|symbol| symbol.name().ok());
    if compiled.is_empty() || all_names.any(is_rust) {
        return Vec::new();
    }
    let is_compiled = |address: usize| {
        let before = compiled.partition_point(|range| range.start <= address);
        before > 0 && compiled[before - 1].contains(&address)
    };
    let code = file.symbols().filter(|symbol| {
        symbol.kind() == SymbolKind::Text
            && symbol.is_definition()
            && symbol.is_global()
            && symbol.size() > 0
            && !is_compiled(symbol.address() as usize)
    });
    let names = code.filter_map(|symbol| symbol.name().ok());
    let others = names.filter(|name| !OF_EVERY_PROGRAM.contains(name));
    others.map(|name| names::readable(name).into_owned()).collect()
}

/// The functions that a file wants from others.
fn imports(path: &Path) -> Vec<String> {
    let data = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let wanted = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    wanted.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// The library that has a function; nothing if it is this one, or a variable, or if there is none.
fn library_with(name: &str) -> Option<PathBuf> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is a string, and the answer is looked at only if there is one.
    let (address, path) = unsafe {
        let address = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let mut found: libc::Dl_info = std::mem::zeroed();
        if address.is_null() || libc::dladdr(address, &raw mut found) == 0 {
            return None;
        }
        let path = CStr::from_ptr(found.dli_fname).to_string_lossy().into_owned();
        (address, path)
    };
    names::is_code(address as usize).then_some(())?;
    names::library_of(address as usize).filter(|library| !library.is_empty())?;
    Some(PathBuf::from(path))
}

/// Whether a library was compiled with the instrumentation.
fn is_instrumented(path: &Path) -> bool {
    imports(path).iter().any(|name| name.starts_with("__tsan_"))
}

/// The name of a library without its folder and version.
fn short(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = file.split(".so").next().unwrap_or_default();
    // The loader has names with a version before the ending, too: `ld-linux-x86-64.so.2`,
    // `libc-2.31.so`.
    name.split("-2.").next().unwrap_or(name).to_owned()
}

fn is_accounted_for(name: &str, library: &str) -> bool {
    if library.starts_with("ld-linux") || OF_COMPILERS.iter().any(|it| name.starts_with(it)) {
        return true;
    }
    match library {
        "libstdc++" | "libc++" | "libc++abi" => CXX.iter().any(|it| name.contains(it)),
        "libgcc_s" | "libatomic" => true,
        // All of its functions with pointers have rows: a test goes through them.
        "libm" => true,
        _ if C_LIBRARIES.contains(&library) => kind_of(name).is_some_and(|kind| kind != NAMED),
        _ => false,
    }
}

/// The kind of a function of the C library without a row.
fn kind_of(name: &str) -> Option<&'static str> {
    let mut kind = None;
    let mut last = None;
    for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => kind = line.split_once(':').map(|(kind, _)| kind),
            Some(names) => {
                if let Some(pattern) = names.split(' ').find(|pattern| matches(pattern, name)) {
                    // A name as such says more than a pattern.
                    if pattern == name {
                        return kind;
                    }
                    last = kind;
                }
            }
        }
    }
    last
}

/// Whether a name is as a pattern says, in which `*` is anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            let fits = name.len() >= start.len() + end.len();
            fits && name.starts_with(start) && name.ends_with(end)
        }
    }
}
