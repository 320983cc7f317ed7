//! The program's code as the compiler wrote it: where functions begin and end, and where they go on
//! after an exception.
//!
//! It is read from the file, since [`precompiled`](crate::precompiled) changes what is in memory.

use crate::names;
use addr2line::gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, LittleEndian, Pointer, RegisterRule,
    UnwindContext, UnwindSection, X86_64,
};
use object::{Object, ObjectSection, ObjectSegment};
use std::sync::OnceLock;

/// A function, or a part of one that the compiler has put elsewhere. Addresses are those of the
/// file.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The table of its exceptions.
    exceptions: Option<u64>,
}

/// Where the frame of a function is while it is at some instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its upper end is so far above the stack pointer; or, `is_rbp`, above rbp.
    pub(crate) offset: i64,
    pub(crate) is_rbp: bool,
    /// Where its caller's rbp is, from the upper end on, if it is not in the register.
    pub(crate) saved_rbp: Option<i64>,
}

impl Row {
    /// Whether the function has no frame: it is about to begin or to end.
    pub(crate) fn is_entry(&self) -> bool {
        !self.is_rbp && self.offset == size_of::<usize>() as i64
    }
}

/// The file of the program.
pub(crate) struct Image {
    file: object::File<'static>,
    /// Sorted.
    functions: Vec<Function>,
    /// What to add to an address of the file.
    base: usize,
}

static FILE: OnceLock<Vec<u8>> = OnceLock::new();
static IMAGE: OnceLock<Option<Image>> = OnceLock::new();

/// The bytes of the program's file. To be asked for before the program runs, which may not read it.
pub(crate) fn file() -> Result<&'static [u8], String> {
    if FILE.get().is_none() {
        let data = std::fs::read("/proc/self/exe").map_err(|error| error.to_string())?;
        return Ok(FILE.get_or_init(|| data));
    }
    Ok(FILE.get().map_or(&[], Vec::as_slice))
}

/// The image of the program, if this is an address of its code and its file can be read.
pub(crate) fn of(address: usize) -> Option<&'static Image> {
    let module = names::module_of(address).filter(|module| module.is_main)?;
    IMAGE.get_or_init(|| Image::read(module.base)).as_ref()
}

impl Image {
    fn read(base: usize) -> Option<Self> {
        let file = object::File::parse(file().ok()?).ok()?;
        let functions = functions(&file)?;
        Some(Self { file, functions, base })
    }

    /// Where the program is.
    pub(crate) fn span(&self) -> std::ops::Range<usize> {
        let segments = self.file.segments().map(|it| (it.address(), it.address() + it.size()));
        let (start, end) =
            segments.fold((u64::MAX, 0), |(start, end), (from, to)| (start.min(from), end.max(to)));
        if start >= end { 0..0 } else { self.base + start as usize..self.base + end as usize }
    }

    /// An address of the running program as one of the file.
    pub(crate) fn address(&self, loaded: usize) -> Option<u64> {
        loaded.checked_sub(self.base).map(|address| address as u64)
    }

    /// An address of the file as one of the running program, if it is within.
    pub(crate) fn loaded(&self, address: u64) -> Option<usize> {
        let loaded = self.base + address as usize;
        self.span().contains(&loaded).then_some(loaded)
    }

    /// The function that an address is in.
    pub(crate) fn function(&self, address: u64) -> Option<&Function> {
        let idx = self.functions.partition_point(|it| it.start <= address).checked_sub(1)?;
        self.functions.get(idx).filter(|it| address < it.end)
    }

    /// The code from an address to the end of its function.
    pub(crate) fn code(&self, from: u64) -> Option<&'static [u8]> {
        let end = self.function(from)?.end;
        self.bytes(from, (end - from) as usize)
    }

    fn bytes(&self, from: u64, len: usize) -> Option<&'static [u8]> {
        self.file.segments().find_map(|segment| {
            let start = from.checked_sub(segment.address())? as usize;
            segment.data().ok()?.get(start..start + len)
        })
    }

    /// Where its frame is, from which instruction on; nothing if that cannot be told.
    pub(crate) fn rows(&self, function: &Function) -> Option<Vec<(u64, Row)>> {
        let (frames, bases) = frames(&self.file)?;
        let fde = frames.fde_for_address(&bases, function.start, EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let mut table = fde.rows(&frames, &bases, &mut context).ok()?;
        let mut rows = Vec::new();
        while let Some(row) = table.next_row().ok()? {
            let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
            if register != X86_64::RSP && register != X86_64::RBP {
                return None;
            }
            let saved_rbp = match row.register(X86_64::RBP) {
                Some(RegisterRule::Offset(offset)) => Some(offset),
                None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => None,
                Some(_) => return None,
            };
            let is_rbp = register == X86_64::RBP;
            rows.push((row.start_address(), Row { offset, is_rbp, saved_rbp }));
        }
        Some(rows)
    }

    /// Where a function goes on after an exception; nothing if that cannot be told.
    pub(crate) fn landing_pads(&self, function: &Function) -> Option<Vec<u64>> {
        const OMITTED: u8 = 0xff;
        const ULEB: u8 = 1;
        let Some(table) = function.exceptions else { return Some(Vec::new()) };
        let section = self.file.section_by_name(".gcc_except_table")?;
        let start = table.checked_sub(section.address())? as usize;
        let mut bytes = section.data().ok()?.get(start..)?.iter().copied();
        if bytes.next()? != OMITTED {
            return None;
        }
        if bytes.next()? != OMITTED {
            read_uleb(&mut bytes)?;
        }
        if bytes.next()? != ULEB {
            return None;
        }
        let len = read_uleb(&mut bytes)? as usize;
        let mut sites = bytes.take(len).peekable();
        let mut pads = Vec::new();
        while sites.peek().is_some() {
            let [_start, _len, pad, _action] = std::array::from_fn(|_| read_uleb(&mut sites));
            match pad? {
                0 => {}
                pad => pads.push(function.start + pad),
            }
        }
        pads.sort_unstable();
        pads.dedup();
        Some(pads)
    }
}

fn read_uleb(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

type Frames = EhFrame<EndianSlice<'static, LittleEndian>>;

/// The tables for unwinding.
fn frames(file: &object::File<'static>) -> Option<(Frames, BaseAddresses)> {
    let address = |name: &str| file.section_by_name(name).map_or(0, |it| it.address());
    let section = file.section_by_name(".eh_frame")?;
    let frames = EhFrame::new(section.data().ok()?, LittleEndian);
    let bases = BaseAddresses::default()
        .set_eh_frame(section.address())
        .set_text(address(".text"))
        .set_got(address(".got"));
    Some((frames, bases))
}

/// All functions that can be unwound.
fn functions(file: &object::File<'static>) -> Option<Vec<Function>> {
    let (frames, bases) = frames(file)?;
    let mut entries = frames.entries(&bases);
    let mut functions = Vec::new();
    while let Some(entry) = entries.next().ok()? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let fde = partial.parse(EhFrame::cie_from_offset).ok()?;
        let exceptions = match fde.lsda() {
            None => None,
            Some(Pointer::Direct(table)) => Some(table),
            Some(Pointer::Indirect(_)) => return None,
        };
        let start = fde.initial_address();
        functions.push(Function { start, end: start + fde.len(), exceptions });
    }
    functions.sort_unstable_by_key(|function| function.start);
    Some(functions)
}
