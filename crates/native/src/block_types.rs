//! What a block of the heap holds, as the debug information tells: of Rust the type that
//! `Arc::new`, `Rc::new` or `Box::new` was called with, of C and C++ the struct that `sizeof` or
//! `new` names in the source, or that the variable points to which the allocation is assigned to.

use crate::coroutine;
use crate::image;
use crate::names;
use crate::scalars::Scalar;
use crate::shapes::{self, Entry, Shape, Slice, Types};
use crate::source::{Allocated, Origin, allocated, bound_name, origin, short_type};
use addr2line::gimli::{self, EntriesTreeNode, UnitOffset};
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
    /// Whether there may be several, one behind the other.
    is_repeated: bool,
    /// Where it begins.
    start: u64,
    shape: Shape,
}

impl Content {
    /// What people call a place so many bytes into a block of this length.
    pub(crate) fn part(&self, block: &str, offset: u64, len: u64) -> String {
        match self.within(offset, len) {
            Some((element, within)) => format!("{block}{element}{}", self.shape.part(within)),
            None if self.is_counted && offset < COUNTERS => format!("the references to {block}"),
            None => format!("{block}-{:#x}", self.start - offset),
        }
    }

    /// The same for an address that is held: that of the block is that of what it holds.
    pub(crate) fn pointed(&self, block: &str, offset: u64, len: u64) -> String {
        match self.within(offset, len) {
            _ if offset == 0 => block.to_owned(),
            Some((element, within)) => format!("{block}{element}{}", self.shape.pointed(within)),
            None => format!("{block}-{:#x}", self.start - offset),
        }
    }

    /// What so many bytes are, so far into a block of this length.
    pub(crate) fn scalar(&self, offset: u64, block: u64, len: u64) -> Scalar {
        let within = self.within(offset, block);
        within.map_or_else(Scalar::default, |(_, within)| self.shape.scalar(within, len))
    }

    /// Which of several it is, and how far into that.
    fn within(&self, offset: u64, len: u64) -> Option<(String, u64)> {
        let within = offset.checked_sub(self.start)?;
        match self.shape.len() {
            Some(each @ 1..) if self.is_repeated && len >= 2 * each => {
                Some((format!("[{}]", within / each), within % each))
            }
            _ => Some((String::new(), within)),
        }
    }

    /// What people call the how many-th block of its kind, if the variable that holds it has this
    /// name.
    pub(crate) fn called(&self, variable: Option<&str>, number: usize) -> String {
        let name = self.group(variable);
        if number > 1 { format!("{name}#{number}") } else { name.to_owned() }
    }

    /// What decides which blocks are numbered together.
    pub(crate) fn group<'a>(&'a self, variable: Option<&'a str>) -> &'a str {
        variable.filter(|_| !self.is_own).unwrap_or(&self.name)
    }
}

/// The content of a block of so many bytes that was allocated with this stack, at this place of the
/// program's own source.
pub(crate) fn content(stack: &[usize], place: &Location, len: u64) -> Option<Content> {
    if !place.file.ends_with(".rs") {
        return struct_at(stack, place, len);
    }
    let inner = stack.iter().take(MAX_CALLS).take_while(|&&address| !names::is_own(address));
    let inner: Vec<usize> = inner.copied().collect();
    let mut found = None;
    // The outermost of the library's functions is what the program has called.
    coroutine::as_host(|| found = inner.iter().rev().find_map(|&address| look_up(address)));
    found
}

/// The struct of C or C++ that a block is allocated for.
fn struct_at(stack: &[usize], place: &Location, len: u64) -> Option<Content> {
    let address = *stack.iter().find(|&&address| names::is_own(address))?;
    let mut found = None;
    coroutine::as_host(|| {
        let text = std::fs::read_to_string(&place.file).ok();
        let wanted = text.map(|text| allocated(&text, place.line as usize)).unwrap_or_default();
        found = in_unit_of(address, |types, at| {
            wanted.iter().find_map(|it| named_struct(types, it, at))
        });
    });
    found.filter(|it| it.shape.len().is_some_and(|each| each > 0 && each <= len))
}

fn named_struct<'d>(types: &Types<'_, 'd>, wanted: &Allocated, at: u64) -> Option<Content> {
    let of = match wanted {
        Allocated::Type(name) => type_named(types, name)?,
        Allocated::Pointee(variable) => {
            let mut tree = types.unit.entries_tree(None).ok()?;
            let pointer = type_of_variable(tree.root().ok()?, types, variable, at)?;
            let pointer = shapes::plain(types.unit, pointer)?;
            let is_pointer = pointer.tag() == gimli::DW_TAG_pointer_type;
            shapes::reference(&pointer, gimli::DW_AT_type).filter(|_| is_pointer)?
        }
    };
    let held = shapes::plain(types.unit, of)?;
    let is_struct = [gimli::DW_TAG_structure_type, gimli::DW_TAG_class_type].contains(&held.tag());
    // One without a name has that of its `typedef`.
    let name = types.name(&held).or_else(|| types.name(&types.unit.entry(of).ok()?))?;
    (is_struct && types.is_own(&held)).then_some(())?;
    Some(Content {
        name: name.to_string_lossy().into_owned(),
        is_own: true,
        is_counted: false,
        is_repeated: true,
        start: 0,
        shape: types.shape(of)?,
    })
}

/// The type with a name, which is no mere declaration.
fn type_named(types: &Types<'_, '_>, name: &str) -> Option<UnitOffset> {
    let mut entries = types.unit.entries();
    while let Ok(Some(entry)) = entries.next_dfs() {
        let is_type = matches!(
            entry.tag(),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_typedef
        );
        if is_type
            && entry.attr(gimli::DW_AT_declaration).is_none()
            && types.name(entry).is_some_and(|it| it.slice() == name.as_bytes())
        {
            return Some(entry.offset());
        }
    }
    None
}

/// The type of the variable with a name: of the function that an address is in, else of the file.
fn type_of_variable<'d>(
    node: EntriesTreeNode<'_, '_, Slice<'d>>,
    types: &Types<'_, 'd>,
    name: &str,
    at: u64,
) -> Option<UnitOffset> {
    let mut children = node.children();
    let mut found = None;
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        match entry.tag() {
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                // Of a function that was inlined, the copy says where it was declared.
                let declared = shapes::reference(entry, gimli::DW_AT_abstract_origin)
                    .and_then(|of| types.unit.entry(of).ok());
                let entry = declared.as_ref().unwrap_or(entry);
                if types.name(entry).is_some_and(|it| it.slice() == name.as_bytes()) {
                    found = found.or_else(|| shapes::type_of(types.unit, entry));
                }
            }
            gimli::DW_TAG_subprogram
            | gimli::DW_TAG_inlined_subroutine
            | gimli::DW_TAG_lexical_block
                if shapes::contains(types, entry, at) =>
            {
                if let Some(inner) = type_of_variable(child, types, name, at) {
                    return Some(inner);
                }
            }
            gimli::DW_TAG_namespace => {
                if let Some(inner) = type_of_variable(child, types, name, at) {
                    return Some(inner);
                }
            }
            _ => {}
        }
    }
    found
}

/// The variable that the value of a call at a place is bound to.
pub(crate) fn variable_at(place: &Location) -> Option<String> {
    let mut text = None;
    coroutine::as_host(|| text = std::fs::read_to_string(&place.file).ok());
    place.file.ends_with(".rs").then(|| bound_name(&text?, place.line as usize))?
}

fn look_up(address: usize) -> Option<Content> {
    let function = names::function_at(address)?;
    is_counted(&function)?;
    in_unit_of(address, |types, at| {
        let mut tree = types.unit.entries_tree(None).ok()?;
        look_into(tree.root().ok()?, types, at)?
    })
}

/// What is found in the unit of the program's own source that a return address is in.
fn in_unit_of<R>(address: usize, find: impl Fn(&Types<'_, '_>, u64) -> Option<R>) -> Option<R> {
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
        let mut ranges = dwarf.unit_ranges(&unit).ok()?;
        let mut is_in = false;
        while let Some(range) = ranges.next().ok()? {
            is_in |= (range.begin..range.end).contains(&at);
        }
        if is_in {
            return find(&Types::new(&dwarf, &unit), at);
        }
    }
    None
}

/// Whether the function that a program has called counts the references to what it allocates;
/// nothing if it is none of the three.
fn is_counted(function: &str) -> Option<bool> {
    match function.split("::<").next()?.trim_start_matches('<') {
        name if name.ends_with("Box<T>::new") => Some(false),
        name if name.ends_with("Arc<T>::new") || name.ends_with("Rc<T>::new") => Some(true),
        _ => None,
    }
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
    let is_counted = is_counted(&symbol)?;
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
                is_repeated: false,
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
