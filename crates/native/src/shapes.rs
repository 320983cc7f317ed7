//! Which element of an array, or which field, an address is in, as the debug information tells.
//!
//! Types are looked into as far as the author of the program has declared them: it is not useful to
//! know which field of an atomic, a mutex or a vector it is.

use crate::scalars::Scalar;
use crate::source::{Origin, origin};
use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, Operation,
    Unit, UnitOffset,
};
use object::{Object as _, ObjectSection as _};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
pub(crate) type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// How deep types are nested before we give up.
const MAX_DEPTH: usize = 16;
/// The namespaces of Rust's library.
const LIBRARY: [&[u8]; 3] = [b"core", b"alloc", b"std"];

/// What the static variables of the program's own source consist of, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Statics(BTreeMap<u64, Shape>);

/// What something consists of.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// So many bytes, and what they are as a number.
    Plain(u64, Scalar),
    /// So many in each dimension.
    Array { counts: Vec<u64>, element: Box<Shape> },
    /// So many bytes, with fields in them.
    Fields { len: u64, fields: Vec<Field> },
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Nothing for what is taken over from a base class, and for what has no name.
    name: Option<String>,
    start: u64,
    shape: Shape,
}

impl Field {
    /// Where it ends, as far as that is known.
    fn end(&self) -> u64 {
        self.shape.len().map_or(u64::MAX, |len| self.start.saturating_add(len))
    }

    fn contains(&self, offset: u64) -> bool {
        let within = offset.checked_sub(self.start);
        within.is_some_and(|within| self.shape.len().is_some_and(|len| within < len))
    }
}

/// The types of a unit.
pub(crate) struct Types<'a, 'd> {
    pub(crate) dwarf: &'a Dwarf<Slice<'d>>,
    pub(crate) unit: &'a Unit<Slice<'d>>,
    /// Those of Rust's library.
    library: OnceCell<FxHashSet<UnitOffset>>,
}

impl Statics {
    /// Those of a program.
    pub(crate) fn read(file: &object::File<'_>) -> Result<Self, gimli::Error> {
        let dwarf = debug_information(file)?;
        let mut statics = Self::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            if unit.name.is_some_and(|name| origin(&name.to_string_lossy()) == Origin::Own) {
                statics.add(&Types::new(&dwarf, &unit))?;
            }
        }
        Ok(statics)
    }

    fn add(&mut self, types: &Types<'_, '_>) -> Result<(), gimli::Error> {
        let mut entries = types.unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() == gimli::DW_TAG_variable
                && let Some(address) = types.address(entry)
                && let Some(shape) = type_of(types.unit, entry).and_then(|of| types.shape(of))
            {
                self.0.insert(address, shape);
            }
        }
        Ok(())
    }

    /// What follows the name of the variable that begins at `start`, so many bytes behind that: see
    /// [`Shape::part`].
    pub(crate) fn part(&self, start: u64, offset: u64) -> String {
        self.0.get(&start).map_or_else(|| rest(offset), |shape| shape.part(offset))
    }

    /// What so many bytes are, so far behind the beginning of a variable.
    pub(crate) fn scalar(&self, start: u64, offset: u64, len: u64) -> Scalar {
        self.0.get(&start).map_or_else(Scalar::default, |shape| shape.scalar(offset, len))
    }

    /// The same for an address that is held: see [`Shape::pointed`].
    pub(crate) fn pointed(&self, start: u64, offset: u64) -> String {
        self.0.get(&start).map_or_else(|| rest(offset), |shape| shape.pointed(offset))
    }
}

impl Shape {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Self::Plain(len, _) | Self::Fields { len, .. } => Some(*len),
            Self::Array { counts, element } => {
                counts.iter().try_fold(element.len()?, |len, n| len.checked_mul(*n))
            }
        }
    }

    /// What follows the name of something, so many bytes into it: `.sum`, `[3]`, `[1][2].next+0x4`.
    pub(crate) fn part(&self, offset: u64) -> String {
        let mut text = String::new();
        self.tell(offset, false, &mut text);
        text
    }

    /// The same for an address that is held: where a struct begins, it is that of the struct
    /// and not of its first field.
    pub(crate) fn pointed(&self, offset: u64) -> String {
        let mut text = String::new();
        self.tell(offset, true, &mut text);
        text
    }

    fn tell(&self, offset: u64, is_pointed: bool, text: &mut String) {
        match self {
            Self::Fields { .. } if is_pointed && offset == 0 => {}
            Self::Plain(..) => text.push_str(&rest(offset)),
            Self::Array { counts, element } => {
                let Some((place, within)) = self.place(counts, offset) else {
                    return text.push_str(&rest(offset));
                };
                text.push_str(&place);
                element.tell(within, is_pointed, text);
            }
            Self::Fields { fields, .. } => {
                let mut those = fields.iter().filter(|field| field.contains(offset));
                // Bits share bytes, and what is between two fields is in none.
                let (Some(field), None) = (those.next(), those.next()) else {
                    return text.push_str(&rest(offset));
                };
                match (&field.name, &field.shape) {
                    (Some(name), _) => {
                        text.push('.');
                        text.push_str(name);
                    }
                    // A union without a name.
                    (None, Self::Plain(..)) => return text.push_str(&rest(offset)),
                    (None, _) => {}
                }
                field.shape.tell(offset - field.start, is_pointed, text);
            }
        }
    }

    /// What so many bytes are, so far into it: a number, if they are one as a whole.
    pub(crate) fn scalar(&self, offset: u64, len: u64) -> Scalar {
        match self {
            Self::Plain(all, scalar) if offset == 0 && *all == len => *scalar,
            Self::Plain(..) => Scalar::default(),
            Self::Array { counts, element } => {
                let place = self.place(counts, offset);
                place.map_or_else(Scalar::default, |(_, within)| element.scalar(within, len))
            }
            Self::Fields { fields, .. } => {
                let mut those = fields.iter().filter(|field| field.contains(offset));
                match (those.next(), those.next()) {
                    (Some(field), None) if offset + len <= field.end() => {
                        field.shape.scalar(offset - field.start, len)
                    }
                    (None, _) => Scalar::default(),
                    _ => Scalar::Several,
                }
            }
        }
    }

    /// Which element of an array it is, and how far it is into that.
    fn place(&self, counts: &[u64], offset: u64) -> Option<(String, u64)> {
        let mut len = self.len()?;
        let mut within = offset;
        let mut text = String::new();
        for count in counts {
            len = len.checked_div(*count)?;
            let idx = within.checked_div(len)?;
            within %= len;
            write!(text, "[{idx}]").ok()?;
        }
        Some((text, within))
    }
}

/// What is left of the way to an address.
fn rest(offset: u64) -> String {
    if offset > 0 { format!("+{offset:#x}") } else { String::new() }
}

impl<'a, 'd> Types<'a, 'd> {
    pub(crate) fn new(dwarf: &'a Dwarf<Slice<'d>>, unit: &'a Unit<Slice<'d>>) -> Self {
        Self { dwarf, unit, library: OnceCell::new() }
    }

    /// Where a static variable is.
    fn address(&self, entry: &Entry<'d>) -> Option<u64> {
        let location = entry.attr(gimli::DW_AT_location)?.exprloc_value()?;
        let mut operations = location.operations(self.unit.encoding());
        let address = match operations.next() {
            Ok(Some(Operation::Address { address })) => Some(address),
            Ok(Some(Operation::AddressIndex { index })) => {
                self.dwarf.address(self.unit, index).ok()
            }
            _ => None,
        };
        // What follows makes another place of it, or a value: that of a pointer to a variable.
        address.filter(|_| matches!(operations.next(), Ok(None)))
    }

    /// What something of a type consists of.
    pub(crate) fn shape(&self, of: UnitOffset) -> Option<Shape> {
        self.shape_within(of, MAX_DEPTH)
    }

    fn shape_within(&self, of: UnitOffset, depth: usize) -> Option<Shape> {
        let depth = depth.checked_sub(1)?;
        let entry = plain(self.unit, of)?;
        match entry.tag() {
            gimli::DW_TAG_array_type => self.array(&entry, depth),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type if self.is_own(&entry) => {
                self.fields(&entry, depth)
            }
            gimli::DW_TAG_pointer_type => {
                Some(Shape::Plain(size_of::<usize>() as u64, Scalar::Pointer))
            }
            _ => self
                .protected(&entry, depth)
                .or_else(|| Some(Shape::Plain(size(&entry)?, self.scalar(&entry, depth)))),
        }
    }

    /// What a lock of Rust's library consists of, as far as it is the program's: what it protects.
    fn protected(&self, entry: &Entry<'d>, depth: usize) -> Option<Shape> {
        let name = self.name(entry)?.to_string_lossy().into_owned();
        let depth = depth.checked_sub(1)?;
        let field = |wanted: &str| {
            let mut tree = self.unit.entries_tree(Some(entry.offset())).ok()?;
            let mut members = tree.root().ok()?.children();
            while let Ok(Some(member)) = members.next() {
                let member = member.entry();
                let is_it = self.name(member).is_some_and(|it| it.slice() == wanted.as_bytes());
                if member.tag() == gimli::DW_TAG_member && is_it {
                    let start = member.attr(gimli::DW_AT_data_member_location)?.udata_value()?;
                    let of = reference(member, gimli::DW_AT_type)?;
                    return Some((start, self.shape_within(of, depth)?));
                }
            }
            None
        };
        match name.split('<').next()? {
            "UnsafeCell" if name.contains('<') => field("value").map(|(_, shape)| shape),
            "Mutex" | "RwLock" if name.contains('<') => {
                let (start, shape) = field("data")?;
                let fields = vec![Field { name: Some("data".to_owned()), start, shape }];
                Some(Shape::Fields { len: size(entry)?, fields })
            }
            _ => None,
        }
    }

    /// What kind of number a type is, or holds and nothing else, as an atomic does.
    fn scalar(&self, entry: &Entry<'d>, depth: usize) -> Scalar {
        match entry.tag() {
            gimli::DW_TAG_pointer_type => Scalar::Pointer,
            gimli::DW_TAG_base_type => match entry.attr_value(gimli::DW_AT_encoding) {
                Some(AttributeValue::Encoding(
                    gimli::DW_ATE_signed | gimli::DW_ATE_signed_char,
                )) => Scalar::Signed,
                Some(AttributeValue::Encoding(gimli::DW_ATE_boolean)) => Scalar::Bool,
                Some(AttributeValue::Encoding(gimli::DW_ATE_float)) => Scalar::Float,
                _ => Scalar::Unsigned,
            },
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                let name = self.name(entry).map(|name| name.to_string_lossy().into_owned());
                // Rust's holds a byte.
                match name.as_deref() {
                    Some("AtomicBool" | "Atomic<bool>") => Scalar::Bool,
                    _ => self.only_field(entry, depth).unwrap_or_default(),
                }
            }
            _ => Scalar::Unsigned,
        }
    }

    /// What kind of number the field is that takes all of a type.
    fn only_field(&self, entry: &Entry<'d>, depth: usize) -> Option<Scalar> {
        let depth = depth.checked_sub(1)?;
        let len = size(entry)?;
        let mut found = None;
        let mut tree = self.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut members = tree.root().ok()?.children();
        while let Ok(Some(member)) = members.next() {
            let member = member.entry();
            let is_part = matches!(member.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
            let is_static = member.attr(gimli::DW_AT_external).is_some();
            let of = reference(member, gimli::DW_AT_type).filter(|_| is_part && !is_static);
            let Some(held) = of.and_then(|of| plain(self.unit, of)) else { continue };
            let is_pointer = held.tag() == gimli::DW_TAG_pointer_type;
            let word = is_pointer.then_some(size_of::<usize>() as u64);
            if size(&held).or(word) == Some(len) {
                found = Some(self.scalar(&held, depth));
            }
        }
        found
    }

    fn array(&self, entry: &Entry<'d>, depth: usize) -> Option<Shape> {
        let element = self.shape_within(reference(entry, gimli::DW_AT_type)?, depth)?;
        let mut counts = Vec::new();
        let mut tree = self.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut dimensions = tree.root().ok()?.children();
        while let Ok(Some(dimension)) = dimensions.next() {
            let number = |name| dimension.entry().attr(name)?.udata_value();
            let last = || number(gimli::DW_AT_upper_bound)?.checked_add(1);
            counts.push(number(gimli::DW_AT_count).or_else(last)?);
        }
        (!counts.is_empty()).then(|| Shape::Array { counts, element: Box::new(element) })
    }

    fn fields(&self, entry: &Entry<'d>, depth: usize) -> Option<Shape> {
        let len = size(entry)?;
        let mut fields = Vec::new();
        let mut tree = self.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut members = tree.root().ok()?.children();
        while let Ok(Some(member)) = members.next() {
            let member = member.entry();
            let start = || member.attr(gimli::DW_AT_data_member_location)?.udata_value();
            let bits = || member.attr(gimli::DW_AT_data_bit_offset)?.udata_value();
            let is_part = matches!(member.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
            if is_part
                && let Some(start) = start().or_else(|| bits().map(|bits| bits / 8))
                && let Some(of) = reference(member, gimli::DW_AT_type)
                && let Some(shape) = self.shape_within(of, depth)
            {
                fields.push(Field { name: self.field_name(member), start, shape });
            }
        }
        Some(if fields.is_empty() {
            Shape::Plain(len, Scalar::default())
        } else {
            Shape::Fields { len, fields }
        })
    }

    /// What is written in the source.
    pub(crate) fn name(&self, entry: &Entry<'d>) -> Option<Slice<'d>> {
        self.dwarf.attr_string(self.unit, entry.attr_value(gimli::DW_AT_name)?).ok()
    }

    /// The name of a field, if it has one: a base class is none.
    fn field_name(&self, entry: &Entry<'d>) -> Option<String> {
        if entry.tag() == gimli::DW_TAG_inheritance {
            return None;
        }
        let name = self.name(entry)?.to_string_lossy();
        // So Rust calls the fields of tuples.
        let number = name.strip_prefix("__").filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
        Some(number.unwrap_or(&name).to_owned())
    }

    /// Whether the author of the program has declared a type.
    pub(crate) fn is_own(&self, entry: &Entry<'d>) -> bool {
        match self.file_of(entry) {
            Some(file) => origin(&file) == Origin::Own,
            // Rust does not say where.
            None => !self.library.get_or_init(|| self.of_library()).contains(&entry.offset()),
        }
    }

    /// The file that something is declared in.
    fn file_of(&self, entry: &Entry<'d>) -> Option<String> {
        let AttributeValue::FileIndex(number) = entry.attr_value(gimli::DW_AT_decl_file)? else {
            return None;
        };
        let header = self.unit.line_program.as_ref()?.header();
        let file = header.file(number)?;
        let text = |value| Some(self.dwarf.attr_string(self.unit, value).ok()?.to_string_lossy());
        let name = text(file.path_name())?;
        let directory = file.directory(header).and_then(text).unwrap_or_default();
        Some(match name.starts_with('/') {
            true => name.into_owned(),
            false => format!("{directory}/{name}"),
        })
    }

    /// The types of Rust's library: all in its namespaces.
    fn of_library(&self) -> FxHashSet<UnitOffset> {
        let mut found = FxHashSet::default();
        let mut entries = self.unit.entries();
        // How deep the namespace is that we are in.
        let mut within: Option<isize> = None;
        while let Ok(Some(entry)) = entries.next_dfs() {
            let depth = entry.depth();
            within = within.filter(|&outer| depth > outer);
            if within.is_some() {
                found.insert(entry.offset());
            } else if entry.tag() == gimli::DW_TAG_namespace
                && let Some(name) = self.name(entry)
                && LIBRARY.contains(&name.slice())
            {
                within = Some(depth);
            }
        }
        found
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

/// Whether an address is in a part of a function.
pub(crate) fn contains<'d>(types: &Types<'_, 'd>, entry: &Entry<'d>, at: u64) -> bool {
    let Ok(mut ranges) = types.dwarf.die_ranges(types.unit, entry) else { return false };
    while let Ok(Some(range)) = ranges.next() {
        if (range.begin..range.end).contains(&at) {
            return true;
        }
    }
    false
}

fn size(entry: &Entry<'_>) -> Option<u64> {
    entry.attr(gimli::DW_AT_byte_size)?.udata_value()
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
pub(crate) fn plain<'a>(unit: &Unit<Slice<'a>>, mut of: UnitOffset) -> Option<Entry<'a>> {
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
