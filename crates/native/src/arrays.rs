//! Which element of an array an address is in, as the debug information tells.

use crate::source::{Origin, origin};
use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, Operation,
    Unit, UnitOffset,
};
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
pub(crate) type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// How deep types are nested before we give up.
const MAX_DEPTH: usize = 16;

/// The arrays among the static variables of the program's own source, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Arrays(BTreeMap<u64, Shape>);

/// How long an element is, and how many of them there are in each dimension.
#[derive(Debug)]
struct Shape {
    element: u64,
    counts: Vec<u64>,
}

impl Arrays {
    /// Those of a program.
    pub(crate) fn read(file: &object::File<'_>) -> Result<Self, gimli::Error> {
        let dwarf = debug_information(file)?;
        let mut arrays = Self::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            if unit.name.is_some_and(|name| origin(&name.to_string_lossy()) == Origin::Own) {
                arrays.add(&unit)?;
            }
        }
        Ok(arrays)
    }

    fn add(&mut self, unit: &Unit<Slice<'_>>) -> Result<(), gimli::Error> {
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() == gimli::DW_TAG_variable
                && let Some(address) = address(unit, entry)
                && let Some(shape) = type_of(unit, entry).and_then(|it| shape(unit, it))
            {
                self.0.insert(address, shape);
            }
        }
        Ok(())
    }

    /// What follows the name of the array that begins at `start`, so many bytes behind that:
    /// `[3]`, `[1][2]+0x4`.
    pub(crate) fn element(&self, start: u64, offset: u64) -> Option<String> {
        self.0.get(&start)?.element(offset)
    }
}

impl Shape {
    fn element(&self, offset: u64) -> Option<String> {
        let mut len = self.counts.iter().try_fold(self.element, |len, n| len.checked_mul(*n))?;
        let mut rest = offset;
        let mut text = String::new();
        for count in &self.counts {
            len = len.checked_div(*count)?;
            let idx = rest.checked_div(len)?;
            rest %= len;
            write!(text, "[{idx}]").ok()?;
        }
        if rest > 0 {
            write!(text, "+{rest:#x}").ok()?;
        }
        Some(text)
    }
}

/// The debug information of a program.
pub(crate) fn debug_information<'a>(
    file: &object::File<'a>,
) -> Result<Dwarf<Slice<'a>>, gimli::Error> {
    Dwarf::load(|id| {
        let section = file.section_by_name(id.name());
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    })
}

/// How long something of a type is.
pub(crate) fn len(unit: &Unit<Slice<'_>>, of: UnitOffset) -> Option<u64> {
    if let Some(Shape { element, counts }) = shape(unit, of) {
        return counts.iter().try_fold(element, |len, n| len.checked_mul(*n));
    }
    plain(unit, of)?.attr(gimli::DW_AT_byte_size)?.udata_value()
}

/// What follows the name of something of a type, so many bytes into it, if it is an array: see
/// [`Arrays::element`].
pub(crate) fn element(unit: &Unit<Slice<'_>>, of: UnitOffset, offset: u64) -> Option<String> {
    shape(unit, of)?.element(offset)
}

/// Where a static variable is.
fn address(unit: &Unit<Slice<'_>>, entry: &Entry<'_>) -> Option<u64> {
    let location = entry.attr(gimli::DW_AT_location)?.exprloc_value()?;
    match location.operations(unit.encoding()).next() {
        Ok(Some(Operation::Address { address })) => Some(address),
        _ => None,
    }
}

/// The type of a variable, which may have been declared before.
pub(crate) fn type_of(unit: &Unit<Slice<'_>>, entry: &Entry<'_>) -> Option<UnitOffset> {
    reference(entry, gimli::DW_AT_type).or_else(|| {
        let declared = unit.entry(reference(entry, gimli::DW_AT_specification)?).ok()?;
        reference(&declared, gimli::DW_AT_type)
    })
}

pub(crate) fn reference(entry: &Entry<'_>, name: gimli::DwAt) -> Option<UnitOffset> {
    match entry.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// What a type is by other names, or with qualifiers.
fn plain<'a>(unit: &Unit<Slice<'a>>, mut of: UnitOffset) -> Option<Entry<'a>> {
    for _ in 0..MAX_DEPTH {
        let entry = unit.entry(of).ok()?;
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => of = reference(&entry, gimli::DW_AT_type)?,
            _ => return Some(entry),
        }
    }
    None
}

/// The shape of an array's type; nothing for any other.
fn shape(unit: &Unit<Slice<'_>>, of: UnitOffset) -> Option<Shape> {
    let entry = plain(unit, of).filter(|entry| entry.tag() == gimli::DW_TAG_array_type)?;
    let element = plain(unit, reference(&entry, gimli::DW_AT_type)?)?;
    let element = element.attr(gimli::DW_AT_byte_size)?.udata_value()?;
    let mut counts = Vec::new();
    let mut tree = unit.entries_tree(Some(entry.offset())).ok()?;
    let mut dimensions = tree.root().ok()?.children();
    while let Ok(Some(dimension)) = dimensions.next() {
        let number = |name| dimension.entry().attr(name)?.udata_value();
        let last = || number(gimli::DW_AT_upper_bound)?.checked_add(1);
        counts.push(number(gimli::DW_AT_count).or_else(last)?);
    }
    Some(Shape { element, counts }).filter(|shape| !shape.counts.is_empty())
}
