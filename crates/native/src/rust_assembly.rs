//! Assembly in Rust that is not seen: named in the verdict.
//!
//! What `asm!` becomes is not marked in the machine code, so only its locked instructions, system
//! calls and looks at the clock are seen (`precompiled`). Whether the program has any is told by
//! its sources: those that its debug information names, but for the standard library's. They are
//! read once, when a verdict is written.

use crate::image;
use crate::shapes;
use crate::source::{Origin, origin};
use mazurka_core::{Assumption, Location};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The assumption about the first assembly that the sources of the program have, if they have any.
pub(crate) fn assumption() -> Option<Assumption> {
    static FIRST: OnceLock<Option<Location>> = OnceLock::new();
    let first = FIRST.get_or_init(|| sources().iter().find_map(|file| first_in(file)));
    first.clone().map(Assumption::UnseenAssembly)
}

/// The first assembly of a file.
fn first_in(file: &Path) -> Option<Location> {
    let text = std::fs::read_to_string(file).ok()?;
    let (line, column) = find(&text)?;
    let file = file.display().to_string();
    Some(Location { file, line, column, function: None, within: None, is_library: false })
}

/// Where assembly begins in a text: line and column.
fn find(text: &str) -> Option<(u32, u32)> {
    const MACROS: [&str; 3] = ["asm!(", "asm! (", "asm!{"];
    text.lines().enumerate().find_map(|(idx, line)| {
        let code = line.split("//").next().unwrap_or_default();
        let column = MACROS.iter().filter_map(|name| code.find(name)).min()?;
        Some((idx as u32 + 1, column as u32 + 1))
    })
}

/// The sources of all Rust code of the program but the standard library, in one order.
fn sources() -> Vec<PathBuf> {
    let mut found = FxHashSet::default();
    // Where there is no debug information, nothing can be named.
    let _ = collect(&mut found);
    let mut found: Vec<PathBuf> = found.into_iter().collect();
    found.sort_unstable_by_key(|file| (origin(&file.to_string_lossy()), file.clone()));
    found
}

fn collect(found: &mut FxHashSet<PathBuf>) -> Option<()> {
    let file = object::File::parse(image::file().ok()?).ok()?;
    let dwarf = shapes::debug_information(&file).ok()?;
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        let Some(program) = &unit.line_program else { continue };
        let folder = unit.comp_dir.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let text = |value| {
            let text = dwarf.attr_string(&unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        };
        for file in program.header().file_names() {
            let directory = file.directory(program.header()).and_then(text).unwrap_or_default();
            let name = text(file.path_name()).unwrap_or_default();
            let path = Path::new(&folder).join(directory).join(name);
            let is_own = origin(&path.to_string_lossy()) <= Origin::Dependency;
            if is_own && path.extension().is_some_and(|it| it == "rs") {
                found.insert(path);
            }
        }
    }
    Some(())
}
