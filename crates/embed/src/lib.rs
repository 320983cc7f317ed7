//! Puts the shared library that cargo has built of a dependency into a program.
//!
//! Cargo has no stable way to say "the `cdylib` of this dependency is a file that I include":
//! artifact dependencies are unstable, and a build script runs before its dependencies are there.
//! But cargo builds all forms of a library at once, before the program that depends on it, and
//! tells the compiler of the program where the `rlib` is: `--extern NAME=…/libNAME.rlib`. A
//! procedural macro runs inside that compiler. It reads the compiler's arguments and includes the
//! file beside the `rlib`.
//!
//! Works with `cargo build`, `test`, `run` and `install`, from a folder and from a registry, where
//! names have a hash in them. `cargo check`, clippy and rustdoc build no library: there is none to
//! include.

use proc_macro::{Delimiter, Group, Literal, TokenStream, TokenTree};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

/// The shared library of a dependency, by the dependency's name in code: `library!(mazurka_native)`
/// is an `Option<(&'static str, usize, &'static [u8])>`: the hash of the library, its size, and its
/// bytes, compressed (DEFLATE, RFC 1951). `None` where the dependency is only checked, and where its
/// target has no shared libraries that end in `.so`.
#[proc_macro]
pub fn library(name: TokenStream) -> TokenStream {
    let name = name.to_string();
    let library = external(&arguments(), &name).filter(|path| path.is_file());
    match library {
        None => parsed("::core::option::Option::None::<(&'static str, usize, &'static [u8])>"),
        Some(path) => match fs::read(&path) {
            Ok(bytes) => embedded(&path, &bytes),
            Err(error) => {
                parsed(&format!("compile_error!({:?})", format!("{}: {error}", path.display())))
            }
        },
    }
}

/// The library as an expression.
fn embedded(path: &Path, bytes: &[u8]) -> TokenStream {
    // A build for tests, with lines for debuggers, is five times as large.
    let level = if bytes.len() > (16 << 20) { 1 } else { 9 };
    let deflated = miniz_oxide::deflate::compress_to_vec(bytes, level);
    let (hash, size) = (hash(bytes), bytes.len());
    // The file is named so that the compiler knows when to look again.
    let fields = parsed(&format!(
        "{{ const _: &[u8] = include_bytes!({path:?}); {hash:?} }}, {size}usize, "
    ));
    let literal = TokenTree::Literal(Literal::byte_string(&deflated));
    let tuple = fields.into_iter().chain([literal]);
    let some = parsed("::core::option::Option::Some");
    let tuple = TokenTree::Group(Group::new(Delimiter::Parenthesis, tuple.collect()));
    let argument = TokenTree::Group(Group::new(Delimiter::Parenthesis, tuple.into()));
    some.into_iter().chain([argument]).collect()
}

fn parsed(text: &str) -> TokenStream {
    text.parse().expect("what is written in this file are tokens")
}

/// The arguments of the compiler that this runs in, also those that cargo has put into a file since
/// they were too long for a command line.
fn arguments() -> Vec<String> {
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy().into_owned();
        match argument.strip_prefix('@').map(fs::read_to_string) {
            Some(Ok(text)) => arguments.extend(text.lines().map(str::to_owned)),
            _ => arguments.push(argument),
        }
    }
    arguments
}

/// The shared library beside the `rlib` of an external crate.
///
/// Only beside an `rlib`: metadata alone, `.rmeta`, means that nothing was built now, and a library
/// that happens to be there is an old one.
fn external(arguments: &[String], name: &str) -> Option<PathBuf> {
    let following = arguments.iter().zip(arguments.iter().skip(1));
    let following = following.filter(|(flag, _)| *flag == "--extern").map(|(_, value)| &**value);
    let joined = arguments.iter().filter_map(|word| word.strip_prefix("--extern="));
    // `--extern OPTIONS:NAME=PATH`
    let paths = following.chain(joined).filter_map(|value| value.split_once('='));
    let mut paths = paths.filter(|(named, _)| named.rsplit(':').next() == Some(name));
    let path = paths.find_map(|(_, path)| {
        let path = Path::new(path);
        (path.extension() == Some(OsStr::new("rlib"))).then(|| path.with_extension("so"))
    })?;
    // `include_bytes!` takes relative paths from the file that it is in, not from here.
    std::path::absolute(path).ok()
}

/// What tells two libraries apart, in hexadecimal digits: 128 bits, two hashes of 64.
fn hash(bytes: &[u8]) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(bytes);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> Option<PathBuf> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        external(&words, "native")
    }

    #[test]
    fn the_library_is_beside_the_rlib_however_it_is_named() {
        let so = Some(PathBuf::from("/d/libnative-12.so"));
        assert_eq!(found(&["--extern", "native=/d/libnative-12.rlib"]), so);
        assert_eq!(found(&["--extern=native=/d/libnative-12.rlib", "-O"]), so);
        assert_eq!(found(&["--extern", "noprelude,priv:native=/d/libnative-12.rlib"]), so);
        let both = ["--extern", "core=/d/libcore.rlib", "--extern", "native=/d/libnative-12.rlib"];
        assert_eq!(found(&both), so);
    }

    #[test]
    fn what_was_only_checked_or_is_called_otherwise_has_none() {
        assert_eq!(found(&["--extern", "native=/d/libnative-12.rmeta"]), None);
        assert_eq!(found(&["--extern", "alternative=/d/libalternative.rlib"]), None);
        assert_eq!(found(&["--extern", "native"]), None);
        assert_eq!(found(&["-L", "dependency=/d", "native=/d/libnative.rlib"]), None);
    }

    #[test]
    fn other_bytes_have_another_hash() {
        assert_eq!(hash(b"one"), hash(b"one"));
        assert_ne!(hash(b"one"), hash(b"two"));
        assert_eq!(hash(b"").len(), 32);
    }
}
