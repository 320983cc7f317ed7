//! The lists of trusted functions by the names that users give them, and which row a symbol has.
//!
//! To add a list: a variant of [`Library`], a file with its rows, and a [`List`] here. What a list
//! needs to be right is in `parking_lot.rs`: a call is one operation if it is linearizable, if no
//! code of the user runs inside but where a row opens it, and if every other access to the same
//! words is noticed.

use super::{Library, Row, crossbeam_channel, flume, parking_lot, std};
use ::std::ffi::CString;
use ::std::sync::atomic::{AtomicU32, Ordering};

/// The functions of a library.
struct List {
    /// As users name it.
    name: &'static str,
    library: Library,
    /// What is in the symbols of its functions, as compilers write them.
    parts: &'static [&'static str],
    rows: &'static [Row],
}

static LISTS: [List; 4] = [
    List { name: "std", library: Library::Std, parts: &["3std", "std.."], rows: std::ROWS },
    List {
        name: "parking_lot",
        library: Library::ParkingLot,
        parts: &["parking_lot"],
        rows: parking_lot::ROWS,
    },
    List {
        name: "crossbeam-channel",
        library: Library::CrossbeamChannel,
        parts: &["crossbeam_channel"],
        rows: crossbeam_channel::ROWS,
    },
    List { name: "flume", library: Library::Flume, parts: &["flume"], rows: flume::ROWS },
];

/// Libraries for which there is no list, and why.
const REFUSED: [(&str, &str); 1] = [(
    "tokio",
    "a call of `tokio::sync` is a poll of a future: where it would have to wait, it returns and \
     leaves a waker, and who ends the wait runs that waker, which is code of the executor or of the \
     user; so no call waits, and none is a single operation; they are explored",
)];

/// What is said to explore the inside of every call.
const NONE: &str = "none";

/// The lists that are trusted, a bit each.
static TRUSTED: AtomicU32 = AtomicU32::new(0);

/// Trusts the lists that the user names among libraries, if any `may_be_on`. Without one, or with
/// `none`, the inside of every call is explored.
pub(crate) fn trust(names: &[String], may_be_on: bool) -> Result<(), String> {
    let wanted = wanted(names)?;
    TRUSTED.store(if may_be_on { wanted } else { 0 }, Ordering::Relaxed);
    Ok(())
}

fn wanted(names: &[String]) -> Result<u32, String> {
    let has = |it: &str| names.iter().any(|name| name == it);
    let named: Vec<&List> = LISTS.iter().filter(|list| has(list.name)).collect();
    let unknown: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|&name| name != NONE && !named.iter().any(|list| list.name == name))
        .filter(|name| refused(name).is_none() && !is_library_or_function(name))
        .map(|name| name.trim())
        .collect();
    let mut errors: Vec<String> = names
        .iter()
        .filter_map(|name| Some(format!("`--trust {name}` is not possible: {}", refused(name)?)))
        .collect();
    if !unknown.is_empty() {
        let known: Vec<&str> = LISTS.iter().map(|list| list.name).collect();
        errors.push(format!(
            "`--trust {}`: there is no list of trusted calls, no library and no function of that name; the \
             lists are `{}` and `{NONE}`",
            unknown.join(","),
            known.join("`, `"),
        ));
    }
    if let Some(list) = named.first().filter(|_| has(NONE)) {
        errors.push(format!("`--trust {NONE}` and `--trust {}` contradict each other", list.name));
    }
    if !errors.is_empty() {
        return Err(errors.join("; "));
    }
    // What the other lists wait by is the standard library's.
    let std = named.first().map(|_| Library::Std);
    let libraries = named.iter().map(|list| list.library).chain(std);
    Ok(libraries.fold(0, |bits, library| bits | 1 << library as u32))
}

/// Why there is no list of this name, if it was asked for one often.
fn refused(name: &str) -> Option<&'static str> {
    // As people may write a part of it.
    let library = name.split("::").next().unwrap_or(name);
    REFUSED.iter().find(|(it, _)| *it == library).map(|(_, reason)| *reason)
}

/// Whether a name is that of a library, or of a function that the program could call.
fn is_library_or_function(name: &str) -> bool {
    let Ok(symbol) = CString::new(name) else { return false };
    // SAFETY: a string.
    let is_symbol = !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null();
    // A function of C++ is named with its arguments.
    is_symbol || name.starts_with("lib") || name.contains('(')
}

/// The name of a library's list.
pub(super) fn name(library: Library) -> &'static str {
    LISTS.iter().find(|list| list.library == library).map_or("", |list| list.name)
}

/// The row of a function, by its symbol.
pub(crate) fn row_of(symbol: &str) -> Option<&'static Row> {
    let trusted = TRUSTED.load(Ordering::Relaxed);
    let mut path = None;
    LISTS
        .iter()
        .filter(|list| trusted & 1 << list.library as u32 != 0)
        .filter(|list| list.parts.iter().any(|part| symbol.contains(part)))
        .find_map(|list| {
            let path = path.get_or_insert_with(|| addr2line::demangle_auto(symbol.into(), None));
            list.rows.iter().find(|row| is_like(path, row.path))
        })
}

/// Whether a path is as a pattern says, in which a star is anything.
fn is_like(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((start, end)) => {
            path.len() >= start.len() + end.len() && path.starts_with(start) && path.ends_with(end)
        }
    }
}
