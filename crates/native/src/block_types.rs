//! What a block of the heap holds: the type that `Arc::new`, `Rc::new` or `Box::new` was called
//! with, as the debug information of the call tells, or the variable that it was bound to, as the
//! source says.

use crate::coroutine;
use crate::image;
use crate::names;
use crate::shapes::{self, Entry, Shape, Slice, Types};
use crate::source::{Origin, bound_name, origin, short_type};
use addr2line::gimli::{self, EntriesTreeNode};
use mazurka_core::Location;

/// How many calls above an allocation are looked at.
const MAX_CALLS: usize = 16;
/// The two counters of a block that `Arc` or `Rc` has allocated.
const COUNTERS: u64 = 2 * size_of::<usize>() as u64;

/// What a block holds.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// The type, as it is called where it is declared.
    name: String,
    /// Whether it is declared in the program's own source.
    is_own: bool,
    /// Whether counters of references stand before it.
    is_counted: bool,
    /// Where it begins.
    start: u64,
    shape: Shape,
}

impl Content {
    /// What people call a place so many bytes into the block, if the variable that holds the block
    /// has this name.
    pub(crate) fn part(&self, variable: Option<&str>, number: usize, offset: u64) -> String {
        let name = match variable {
            Some(variable) if !self.is_own => variable,
            _ => &self.name,
        };
        let name = if number > 1 { format!("{name}#{number}") } else { name.to_owned() };
        match offset.checked_sub(self.start) {
            Some(within) => format!("{name}{}", self.shape.part(within)),
            None if self.is_counted && offset < COUNTERS => format!("the references to {name}"),
            None => format!("{name}-{:#x}", self.start - offset),
        }
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    /// What decides which blocks are numbered together.
    pub(crate) fn group<'a>(&'a self, variable: Option<&'a str>) -> &'a str {
        variable.filter(|_| !self.is_own).unwrap_or(&self.name)
    }
}

/// The content of a block that was allocated with this stack.
pub(crate) fn content(stack: &[usize]) -> Option<Content> {
    let inner = stack.iter().take(MAX_CALLS).take_while(|&&address| !names::is_own(address));
    let inner: Vec<usize> = inner.copied().collect();
    let mut found = None;
    // The outermost of the library's functions is what the program has called.
    coroutine::as_host(|| found = inner.iter().rev().find_map(|&address| look_up(address)));
    found
}

/// The variable that the value of a call at a place is bound to.
pub(crate) fn variable_at(place: &Location) -> Option<String> {
    let mut text = None;
    coroutine::as_host(|| text = std::fs::read_to_string(&place.file).ok());
    place.file.ends_with(".rs").then(|| bound_name(&text?, place.line as usize))?
}

fn look_up(address: usize) -> Option<Content> {
    // A return address is behind the call.
    let call = address.checked_sub(1)?;
    let module = names::module_of(call).filter(|module| module.is_main)?;
    let at = (call - module.base) as u64;
    let file = object::File::parse(image::file().ok()?).ok()?;
    let dwarf = shapes::debug_information(&file).ok()?;
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        if unit.name.is_none_or(|name| origin(&name.to_string_lossy()) != Origin::Own) {
            continue;
        }
        let types = Types::new(&dwarf, &unit);
        let mut tree = unit.entries_tree(None).ok()?;
        if let Some(found) = look_into(tree.root().ok()?, &types, at) {
            return found;
        }
    }
    None
}

/// Looks for the function that an address is in. Nothing if it is in none of these; and if it is,
/// the content that it allocates, if it is one of the three.
fn look_into<'d>(
    node: EntriesTreeNode<'_, '_, Slice<'d>>,
    types: &Types<'_, 'd>,
    at: u64,
) -> Option<Option<Content>> {
    let mut children = node.children();
    while let Ok(Some(child)) = children.next() {
        let found = match child.entry().tag() {
            gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type => look_into(child, types, at),
            gimli::DW_TAG_subprogram if shapes::contains(types, child.entry(), at) => {
                Some(allocated_by(child, types))
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn allocated_by<'d>(
    function: EntriesTreeNode<'_, '_, Slice<'d>>,
    types: &Types<'_, 'd>,
) -> Option<Content> {
    let symbol = linkage_name(types, function.entry())?;
    let symbol = names::readable(&symbol);
    let is_counted = match symbol.split("::<").next()?.trim_start_matches('<') {
        name if name.ends_with("Box<T>::new") => false,
        name if name.ends_with("Arc<T>::new") || name.ends_with("Rc<T>::new") => true,
        _ => return None,
    };
    let mut children = function.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        if entry.tag() == gimli::DW_TAG_template_type_parameter {
            let of = shapes::reference(entry, gimli::DW_AT_type)?;
            let held = types.unit.entry(of).ok()?;
            let align = held.attr(gimli::DW_AT_alignment).and_then(|it| it.udata_value());
            let start = COUNTERS.next_multiple_of(align.unwrap_or(1).max(1));
            let name = types.name(&held)?.to_string_lossy().into_owned();
            // Tuples and closures have no names that anybody has given them.
            let has_name = name.starts_with(|it: char| it.is_alphabetic() || it == '_');
            let is_struct = held.tag() == gimli::DW_TAG_structure_type;
            return Some(Content {
                name: short_type(&name),
                is_own: has_name && is_struct && types.is_own(&held),
                is_counted,
                start: if is_counted { start } else { 0 },
                shape: types.shape(of)?,
            });
        }
    }
    None
}

fn linkage_name<'d>(types: &Types<'_, 'd>, entry: &Entry<'d>) -> Option<String> {
    let name = |entry: &Entry<'d>| {
        let value = entry.attr_value(gimli::DW_AT_linkage_name)?;
        let name = types.dwarf.attr_string(types.unit, value).ok()?;
        Some(name.to_string_lossy().into_owned())
    };
    name(entry).or_else(|| {
        let declared = shapes::reference(entry, gimli::DW_AT_specification)?;
        name(&types.unit.entry(declared).ok()?)
    })
}
