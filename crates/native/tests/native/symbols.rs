//! Every function of the C library that synchronises, waits or starts something is replaced or refused: none is
//! called unseen.

use crate::program::library;
use object::{Object, ObjectSymbol};
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
        "only keep or tell what somebody wants, in memory of the program",
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
