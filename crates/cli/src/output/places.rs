//! The places of output files: each can be written, none is that of another one, and none is a file
//! that is read. All of it is told before anything is opened.

use crate::Failure;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file that is to be written.
pub(super) struct Place {
    /// The name of its flag.
    flag: &'static str,
    path: PathBuf,
}

impl Place {
    pub(super) fn new(flag: &'static str, path: PathBuf) -> Self {
        Self { flag, path }
    }

    /// The words that ask for it.
    fn words(&self) -> String {
        format!("--{} {}", self.flag, self.path.display())
    }
}

/// All that is wrong with places, beside files that are read, each with what people call it.
pub(super) fn faults(places: &[Place], read: &[(&str, &Path)]) -> Vec<Failure> {
    let mut faults: Vec<Failure> = places.iter().filter_map(unwritable).collect();
    let identities: Vec<Option<PathBuf>> = places.iter().map(|it| identity(&it.path)).collect();
    for (idx, place) in places.iter().enumerate() {
        let Some(this) = &identities[idx] else { continue };
        let is_read = read.iter().find(|(_, path)| identity(path).as_ref() == Some(this));
        if let Some((what, path)) = is_read {
            let text = format!("`{}` would overwrite {what}, `{}`", place.words(), path.display());
            faults.push(Failure::input(text).help("name another file"));
        }
        let before = identities[..idx].iter().position(|other| other.as_ref() == Some(this));
        if let Some(other) = before {
            let other = places[other].words();
            let text = format!("`{other}` and `{}` would write one file", place.words());
            faults.push(Failure::input(text).help("name another file"));
        }
    }
    faults
}

/// What tells a file from others, though it may have several names; nothing for what is no file,
/// such as `/dev/null`: all may write there.
fn identity(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => path.canonicalize().ok(),
        Ok(_) => None,
        Err(_) => Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Why a file cannot be written, if that can be told.
fn unwritable(place: &Place) -> Option<Failure> {
    let Place { flag, path } = place;
    if path.as_os_str().is_empty() {
        return Some(Failure::input(format!("`--{flag}` names no file")));
    }
    let name = path.display();
    let tried = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Some(Failure::input(format!("`--{flag}`: `{name}` is a directory")));
        }
        Ok(found) if found.is_file() => OpenOptions::new().write(true).open(path).map(drop),
        // A pipe would wait for its reader.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let made = OpenOptions::new().write(true).create_new(true).open(path);
            made.and_then(|_| fs::remove_file(path))
        }
        Err(error) => Err(error),
    };
    let error = tried.err()?;
    Some(Failure::input(format!("`--{flag}`: `{name}` cannot be written: {error}")))
}
