//! The variables of the program, as far as its symbols tell where they begin and end.
//!
//! An access that begins in one of them and ends beyond it is invalid, and so is one to the bytes
//! between two of them that are there for the alignment of the second, or behind the last of all:
//! nothing of the program is there up to the end of the page. An access that misses its
//! variable and comes to another one cannot be told from an access to that: nothing is put between
//! variables. Those of libraries are not looked at, nor those of a program without symbols.

use crate::image;
use crate::names;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is between two variables for the sake of alignment is shorter.
const MAX_PADDING: usize = 64;
/// Memory is mapped in pages.
const PAGE: usize = 4096;
const WORD_BITS: usize = u64::BITS as usize;

/// Where the variables are. Without symbols, nowhere.
static START: AtomicUsize = AtomicUsize::new(0);
static LEN: AtomicUsize = AtomicUsize::new(0);
/// Where the last of them ends.
static LAST_END: AtomicUsize = AtomicUsize::new(0);
static EDGES: OnceLock<Edges> = OnceLock::new();

/// A bit for each byte of the variables.
struct Edges {
    /// Whether a variable, or what is between two, begins with the byte.
    begins: Vec<u64>,
    /// Whether the byte is between two variables.
    is_padding: Vec<u64>,
}

/// Reads where the variables are. `main` is where that function of the program is.
pub(crate) fn read(main: usize) {
    // A program that cannot be read has no symbols.
    let _ = read_symbols(main);
}

fn read_symbols(main: usize) -> Option<()> {
    let file = object::File::parse(image::file().ok()?).ok()?;
    let is_main = |symbol: &object::Symbol<'_, '_>| symbol.name() == Ok("main");
    let named_main = file.symbols().find(is_main)?;
    let base = main.checked_sub(named_main.address() as usize)?;
    let is_data =
        |kind: SectionKind| matches!(kind, SectionKind::Data | SectionKind::UninitializedData);
    let sections: Vec<Range<usize>> = file
        .sections()
        .filter(|section| is_data(section.kind()))
        .map(|section| {
            let start = base + section.address() as usize;
            start..start + section.size() as usize
        })
        .collect();
    let is_writable = |place: &Range<usize>| sections.iter().any(|it| it.contains(&place.start));
    let mut places: Vec<Range<usize>> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0)
        .map(|symbol| {
            let start = base + symbol.address() as usize;
            start..start + symbol.size() as usize
        })
        .filter(is_writable)
        .collect();
    // Of several names for the same, the longest counts; what overlaps is taken as one.
    places.sort_unstable_by_key(|place| place.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for place in places {
        match merged.last_mut().filter(|last| place.start < last.end) {
            Some(last) => last.end = last.end.max(place.end),
            None => merged.push(place),
        }
    }
    let (start, last_end) = (merged.first()?.start, merged.last()?.end);
    let behind_all = sections.iter().map(|it| it.end).max()?.max(last_end);
    let end = behind_all.next_multiple_of(PAGE);
    let n_words = (end - start).div_ceil(WORD_BITS) + 1;
    let mut edges = Edges { begins: vec![0; n_words], is_padding: vec![0; n_words] };
    for place in &merged {
        set(&mut edges.begins, place.start - start);
        set(&mut edges.begins, place.end - start);
    }
    let are_neighbours = |one: &Range<usize>, next: &Range<usize>| {
        let len = next.start - one.end;
        let is_aligned = next.start.is_multiple_of(len.next_power_of_two());
        let is_one_section =
            sections.iter().any(|it| it.contains(&one.start) && it.contains(&next.start));
        len < MAX_PADDING && is_aligned && is_one_section
    };
    for pair in merged.windows(2).filter(|pair| are_neighbours(&pair[0], &pair[1])) {
        (pair[0].end..pair[1].start).for_each(|at| set(&mut edges.is_padding, at - start));
    }
    // A section is as long as a multiple of its alignment.
    let is_short = behind_all - last_end < MAX_PADDING;
    let first = if is_short { last_end } else { behind_all };
    (first..end).for_each(|at| set(&mut edges.is_padding, at - start));
    EDGES.set(edges).ok()?;
    LAST_END.store(last_end, Ordering::Relaxed);
    LEN.store(end - start, Ordering::Relaxed);
    START.store(start, Ordering::Relaxed);
    Some(())
}

fn set(bits: &mut [u64], idx: usize) {
    bits[idx / WORD_BITS] |= 1 << (idx % WORD_BITS);
}

fn get(bits: &[u64], idx: usize) -> bool {
    bits[idx / WORD_BITS] >> (idx % WORD_BITS) & 1 == 1
}

/// Whether a range is valid, as far as it begins among the variables; nothing if it does not.
#[inline]
pub(crate) fn is_valid(address: usize, len: usize) -> Option<bool> {
    let offset = address.wrapping_sub(START.load(Ordering::Relaxed));
    if offset >= LEN.load(Ordering::Relaxed) {
        return None;
    }
    Some(first_invalid(offset, len).is_none())
}

/// The first byte of a range that is beyond the variable that the range begins in.
#[inline]
fn first_invalid(offset: usize, len: usize) -> Option<usize> {
    let edges = EDGES.get()?;
    if get(&edges.is_padding, offset) {
        return Some(offset);
    }
    let (word, bit) = (offset / WORD_BITS, offset % WORD_BITS);
    if bit + len <= WORD_BITS {
        // Most often, and one look is enough.
        let inner = edges.begins[word] >> bit >> 1;
        let mask = (1 << (len - 1)) - 1;
        if inner & mask == 0 {
            return None;
        }
    }
    let end = (offset + len).min(edges.begins.len() * WORD_BITS);
    (offset + 1..end).find(|&at| get(&edges.begins, at))
}

/// What is said of an access that is not valid: before and behind its place in the source.
pub(crate) fn describe(address: usize, len: usize, verb: &str) -> (String, String) {
    let start = START.load(Ordering::Relaxed);
    let at = first_invalid(address - start, len).map_or(address, |offset| start + offset);
    // What is between variables is short, and a variable is before it.
    let is_last = at >= LAST_END.load(Ordering::Relaxed);
    let mut before = (start..=at).rev().take(if is_last { PAGE } else { MAX_PADDING });
    let named = before.find_map(|byte| names::symbol(byte).map(|name| (byte, name)));
    match named {
        Some((_, name)) if at > address => {
            let name = names::symbol(address).unwrap_or(name);
            let own = at - address;
            let what = format!("`{name}` is {verb} beyond its end");
            (what, format!(", {len} bytes where it has {own}"))
        }
        Some((byte, name)) => {
            let what = format!("`{name}` is {verb} beyond its end");
            let next = if is_last { "" } else { " and before the next variable" };
            (what, format!(", {} bytes behind it{next}", at - byte))
        }
        None => (format!("`{at:#x}` is {verb} and is no variable"), String::new()),
    }
}
