//! Files that hold one value each, with the version of the protocol.

use crate::VERSION;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    content: T,
}

/// Why a file is not what the other side should have written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// It cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The other side has another version of Mazurka.
    #[error(
        "the command and the library in the program are of different versions of Mazurka: \
         the other side speaks version {theirs} of their protocol, this one version {VERSION}",
        theirs = version_name(*.0)
    )]
    OtherVersion(Option<u32>),
    /// It has the right version, and is not understood.
    #[error("`{}` is not understood: {error}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
}

/// Versions before the first one had no number.
fn version_name(version: Option<u32>) -> String {
    version.map_or_else(|| "0".to_owned(), |version| version.to_string())
}

/// Reads what the other side has written to a file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, ProtocolError> {
    let bytes = std::fs::read(path)
        .map_err(|error| ProtocolError::Unreadable { path: path.to_owned(), error })?;
    let malformed = |error| ProtocolError::Malformed { path: path.to_owned(), error };
    // The version first: what is behind it may be anything.
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<u32>,
        #[serde(rename = "content")]
        _content: Option<IgnoredAny>,
    }
    let Versioned { version, .. } = serde_json::from_slice(&bytes).map_err(malformed)?;
    if version != Some(VERSION) {
        return Err(ProtocolError::OtherVersion(version));
    }
    let envelope: Envelope<T> = serde_json::from_slice(&bytes).map_err(malformed)?;
    Ok(envelope.content)
}

/// Writes a value for the other side: all of it, or nothing.
pub fn write<T: Serialize>(path: &Path, content: &T) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // An execution of many steps is many small pieces.
    let mut file = BufWriter::new(std::fs::File::create(&part)?);
    serde_json::to_writer(&mut file, &Envelope { version: VERSION, content })?;
    file.flush()?;
    drop(file);
    std::fs::rename(&part, path)
}

/// Where a program whose reply goes to `report` says how far it is.
pub fn progress_path(report: &Path) -> PathBuf {
    let mut path = report.as_os_str().to_owned();
    path.push(".progress");
    path.into()
}
