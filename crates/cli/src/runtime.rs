//! The runtime library of native programs: it is inside this command, and is unpacked where
//! programs can load it (`mazurka_check::native::unpack`).

use crate::Failure;
use mazurka_check::native::{LIBRARY, Packed, unpack};
use std::path::PathBuf;

/// Names another library than the one in this command: a file, or the folder that it is in.
pub(crate) const VARIABLE: &str = "MAZURKA_NATIVE";

/// What the variable says where this is to behave as on a system without native programs.
const NONE: &str = "none";

/// Where programs can be run natively.
pub(crate) const NOWHERE_ELSE: &str = "only on x86-64 Linux, so far";

/// The library: its hash, its size, its bytes. Nothing if this command was built for a system
/// without one.
const EMBEDDED: Option<(&str, usize, &[u8])> = mazurka_embed::library!(mazurka_native);

/// Where the library is, as a file with the name [`LIBRARY`].
pub(crate) fn library() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty() && is_here()) {
        return named(path.into());
    }
    if let Some((hash, size, deflated)) = EMBEDDED.filter(|_| is_here()) {
        return unpack(Packed { hash, size, deflated });
    }
    let text = format!("programs cannot be run natively here: {NOWHERE_ELSE}");
    Err(Failure::input(text).help("`--engine vm` explores C files as models"))
}

/// Whether programs can be run natively: there is a library for this system.
pub(crate) fn is_here() -> bool {
    EMBEDDED.is_some() && std::env::var_os(VARIABLE).is_none_or(|named| named != NONE)
}

/// The library that the user has named.
fn named(mut path: PathBuf) -> Result<PathBuf, Failure> {
    if path.is_dir() {
        path.push(LIBRARY);
    }
    if path.is_file() && path.ends_with(LIBRARY) {
        return path.canonicalize().map_err(|error| Failure::input(error.to_string()));
    }
    Err(Failure::input(format!("`{VARIABLE}` names no `{LIBRARY}`: {}", path.display())))
}
