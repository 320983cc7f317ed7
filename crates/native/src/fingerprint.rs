//! What tells a program from all others: a hash of everything in its file that is loaded and that
//! matters to what it does; and the same of the libraries that are instrumented, as it is.
//!
//! A search that is saved goes on in another process, maybe on another machine, with a program that
//! was built there. So what depends on the folder of a build does not count: what debuggers read,
//! the number that linkers make of all bytes, the place of our own library.

use crate::image;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, elf};
use rustc_hash::FxHasher;
use std::ffi::{CStr, c_int, c_void};
use std::hash::Hasher as _;
use std::sync::OnceLock;

/// The hash of the program that runs. If its file cannot be read, it is like no other one.
pub(crate) fn of_program() -> Result<u64, String> {
    static HASH: OnceLock<Result<u64, String>> = OnceLock::new();
    HASH.get_or_init(|| {
        let mut hash = FxHasher::default();
        add(image::file()?, &mut hash);
        for library in libraries() {
            // What cannot be read is no file of the user: the kernel's own library, for one.
            let Ok(bytes) = std::fs::read(library) else { continue };
            if is_instrumented(&bytes) {
                add(&bytes, &mut hash);
            }
        }
        Ok(hash.finish())
    })
    .clone()
}

/// Adds what a file has that matters. A file without sections matters as a whole.
fn add(bytes: &[u8], hash: &mut FxHasher) {
    let Ok(file) = object::File::parse(bytes) else { return hash.write(bytes) };
    let mut n_sections = 0_usize;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if sh_flags.0 & elf::SHF_ALLOC.0 == 0 || is_of_build(section.name().ok()) {
            continue;
        }
        n_sections += 1;
        hash.write(section.name().unwrap_or_default().as_bytes());
        hash.write_u64(section.size());
        hash.write(section.data().unwrap_or_default());
    }
    if n_sections == 0 {
        return hash.write(bytes);
    }
    // Calls of other files are by number, and here are the names.
    for symbol in file.dynamic_symbols() {
        hash.write(symbol.name_bytes().unwrap_or_default());
        hash.write_u64(symbol.address());
    }
}

/// Whether a section differs by where a program was built: names are looked at one by one.
fn is_of_build(section: Option<&str>) -> bool {
    const OF_BUILD: [&str; 5] = [".note.gnu.build-id", ".dynsym", ".dynstr", ".dynamic", ".gnu."];
    section.is_none_or(|name| OF_BUILD.iter().any(|it| name.starts_with(it)))
}

fn is_instrumented(bytes: &[u8]) -> bool {
    let Ok(file) = object::File::parse(bytes) else { return false };
    let mut wanted = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    wanted.any(|symbol| symbol.name_bytes().is_ok_and(|name| name.starts_with(b"__tsan_")))
}

/// The files of the libraries that were loaded, in their order.
fn libraries() -> Vec<std::path::PathBuf> {
    let mut names: Vec<std::path::PathBuf> = Vec::new();
    // SAFETY: `visit` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut names).cast()) };
    names
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
    use std::os::unix::ffi::OsStrExt as _;
    // SAFETY: both come from `libraries`, through the loader, whose names are strings.
    let (name, names) = unsafe {
        let name = CStr::from_ptr((*info).dlpi_name).to_bytes();
        (name, &mut *names.cast::<Vec<std::path::PathBuf>>())
    };
    // The program itself has no name.
    if !name.is_empty() {
        names.push(std::ffi::OsStr::from_bytes(name).into());
    }
    0
}
