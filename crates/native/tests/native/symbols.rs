//! Every function of the C library is accounted for: it has a row in the table of what it does to
//! memory, it is replaced or refused, or a list says why it need not be. None that synchronises is
//! called unseen.

use crate::program::library;
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How the names of such functions begin, underscores aside.
const ABOUT_THREADS: [&str; 34] = [
    "pthread_",
    "sem_",
    "thrd_",
    "mtx_",
    "cnd_",
    "tss_",
    "call_once",
    "sched_yield",
    "sigwait",
    "sigsuspend",
    "sigpause",
    "sigtimedwait",
    "sigqueue",
    "pause",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "fork",
    "vfork",
    "clone",
    "semget",
    "semop",
    "semtimedop",
    "msgget",
    "msgsnd",
    "msgrcv",
    "mq_open",
    "aio_read",
    "aio_write",
    "lio_listio",
    "flockfile",
    "ftrylockfile",
    "funlockfile",
];

/// Those that may be called as they are, and why.
const HARMLESS: [(&str, &[&str]); 4] = [
    (
        "only keep or tell what the program asks for, in memory of the program",
        &[
            "pthread_attr_",
            "pthread_mutexattr_",
            "pthread_condattr_",
            "pthread_rwlockattr_",
            "pthread_barrierattr_",
            "pthread_mutex_getprioceiling",
            "pthread_getattr_default_np",
            "pthread_setattr_default_np",
            "pthread_equal",
            "pthread_self",
            "thrd_current",
            "thrd_equal",
            "pthread_get_minstack",
        ],
    ),
    (
        "are about who runs when, which the explorer decides",
        &[
            "pthread_getaffinity_np",
            "pthread_setaffinity_np",
            "pthread_getschedparam",
            "pthread_setschedparam",
            "pthread_setschedprio",
            "pthread_getconcurrency",
            "pthread_setconcurrency",
            "pthread_getcpuclockid",
        ],
    ),
    (
        "are called by code that compilers make of `pthread_cleanup_push` without exceptions, and touch \
      the own thread alone",
        &[
            "pthread_register_cancel",
            "pthread_register_cancel_defer",
            "pthread_unregister_cancel",
            "pthread_unregister_cancel_restore",
            "pthread_unwind_next",
            "pthread_cleanup_routine",
            "pthread_cleanup_push",
            "pthread_cleanup_push_defer",
            "pthread_cleanup_pop",
            "pthread_cleanup_pop_restore",
        ],
    ),
    ("is a variable, or does nothing", &["pthread_keys", "pthread_kill_other_threads_np"]),
];

/// The C library that this test runs with.
fn c_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a process has mappings");
    let path = maps.lines().find_map(|line| {
        let path = line.split_whitespace().nth(5)?;
        Path::new(path).file_name()?.to_str()?.starts_with("libc.so").then(|| path.into())
    });
    path.expect("this test is linked with the C library")
}

fn functions(path: &Path) -> BTreeSet<String> {
    let data = std::fs::read(path).expect("the library can be read");
    let file = object::File::parse(&*data).expect("a library is an object file");
    let defined = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

fn is_harmless(name: &str) -> bool {
    let is_it = |known: &&str| name == *known || known.ends_with('_') && name.starts_with(*known);
    HARMLESS.iter().any(|(_, names)| names.iter().any(&is_it))
}

#[test]
fn no_function_that_synchronises_is_called_unseen() {
    let ours = functions(&library().join("libmazurka_native.so"));
    let theirs = functions(&c_library());
    let about_threads: Vec<&String> = theirs
        .iter()
        .filter(|name| {
            let name = name.trim_start_matches('_');
            ABOUT_THREADS.iter().any(|start| name.starts_with(start))
        })
        .collect();
    assert!(about_threads.len() > 150, "{about_threads:?}");
    let unseen: Vec<&&String> = about_threads
        .iter()
        .filter(|name| !ours.contains(**name) && !is_harmless(name.trim_start_matches('_')))
        .collect();
    assert!(unseen.is_empty(), "neither replaced nor refused: {unseen:?}");
}

/// The list of functions without a row, each with its kind: one is for those that verdicts name.
const KNOWN: &str = include_str!("../../src/library/known.txt");

/// Names and patterns, in which `*` is anything.
fn known() -> Vec<&'static str> {
    let names = KNOWN.lines().filter_map(|line| line.strip_prefix("  "));
    names.flat_map(|line| line.split(' ')).collect()
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

/// The functions of a library, without its variables.
fn code(path: &Path) -> BTreeSet<String> {
    let data = std::fs::read(path).expect("the library can be read");
    let file = object::File::parse(&*data).expect("a library is an object file");
    // Some are chosen by the loader, and have a kind of their own.
    let is_code = |symbol: &object::Symbol<'_, '_>| {
        symbol.is_definition() && !matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Tls)
    };
    let symbols = file.dynamic_symbols().filter(is_code);
    symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// What stands in front of functions of the C library: also under the names that the linker gives
/// them.
fn ours() -> BTreeSet<String> {
    let ours = functions(&library().join("libmazurka_native.so"));
    ours.iter().map(|name| name.strip_prefix("__wrap_").unwrap_or(name).to_owned()).collect()
}

#[test]
fn every_function_of_the_c_library_is_accounted_for() {
    let (ours, known) = (ours(), known());
    let theirs = code(&c_library());
    assert!(theirs.len() > 2000, "{}", theirs.len());
    let is_known = |name: &str| known.iter().any(|pattern| matches(pattern, name));
    // Versions of the library have names of their own.
    let is_version = |name: &str| name.starts_with("GLIBC_");
    let left: Vec<&String> = theirs
        .iter()
        .filter(|name| !ours.contains(*name) && !is_known(name) && !is_version(name))
        .collect();
    assert!(left.is_empty(), "neither a row nor a reason: {left:?}");
}

#[test]
fn names_in_the_list_are_of_the_library_and_have_no_row() {
    let (ours, theirs) = (ours(), functions(&c_library()));
    for name in known().into_iter().filter(|name| !name.contains('*')) {
        assert!(!ours.contains(name), "{name} has a row, too");
        assert!(theirs.contains(name), "{name} is not in the library");
    }
}

/// Functions for mathematics have rows if they take pointers; all others are known not to.
#[test]
fn functions_for_mathematics_with_pointers_have_rows() {
    let ours = ours();
    // As their manual pages have them, each for every type of fractions.
    let pointers = [
        "frexp",
        "modf",
        "remquo",
        "sincos",
        "lgamma",
        "nan",
        "canonicalize",
        "totalorder",
        "totalordermag",
        "getpayload",
        "setpayload",
        "setpayloadsig",
    ];
    for name in pointers {
        for suffix in ["", "f", "l"] {
            assert!(ours.contains(&format!("{name}{suffix}")), "{name}{suffix}");
        }
    }
    for name in ["lgamma_r", "lgammaf_r", "lgammal_r", "fegetenv", "fesetenv", "feholdexcept"] {
        assert!(ours.contains(name), "{name}");
    }
}
