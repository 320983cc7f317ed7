//! Which files a search may be saved in: new ones, empty ones, and those that have a saved search.
//!
//! A search that is saved is written over what is there, and one that has come to its end removes
//! its file. So a file of another kind, behind `--save` by mistake, is refused before anything is
//! searched.

use crate::Fault;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// What files begin with that have a saved search: of executions or of states, and a run of tests.
const BEGINNINGS: [&[u8]; 2] = [b"mzk-", b"{\"run\":"];

/// What is to be said of a place for a saved search, if it is none.
pub(crate) fn refusal(path: &Path) -> Option<Fault> {
    let name = path.display();
    let help = "name another file behind `--save`";
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(Fault::input(format!("`{name}` cannot be written: {error}"))),
    };
    if !found.is_file() {
        let what = if found.is_dir() { "a directory" } else { "no file that can be replaced" };
        return Some(Fault::input(format!("`{name}` is {what}")).help(help));
    }
    match is_saved_search(path) {
        Ok(true) => None,
        Ok(false) => {
            let text = format!("`{name}` is there, and is no saved search: it is not replaced");
            Some(Fault::input(text).help(help))
        }
        Err(error) => Some(Fault::input(format!("`{name}` cannot be read: {error}"))),
    }
}

/// Whether a file is empty or begins as a saved search does.
fn is_saved_search(path: &Path) -> std::io::Result<bool> {
    let longest = BEGINNINGS.iter().map(|it| it.len()).max().unwrap_or_default();
    let mut beginning = Vec::new();
    File::open(path)?.take(longest as u64).read_to_end(&mut beginning)?;
    Ok(beginning.is_empty() || BEGINNINGS.iter().any(|it| beginning.starts_with(it)))
}
