//! Which lines of the program's own source any execution has reached.
//!
//! A trap stands at every instruction with which a line begins, as the line table of the debug
//! information says, until an execution comes there: then the instruction is put back, and the line
//! was reached. So a line costs one signal in each process, whatever the number of executions, and
//! nothing where it is not asked for; the program is compiled as always. (kcov does the same from
//! outside of a process.) Copies of the process that share the search have code of their own, and
//! note what they reach in memory that all of them see.
//!
//! Who looks at code reads it from the file ([`image`]), and does not see the traps.
//!
//! What is known are the lines that the compiler has made code for, and recommends for breakpoints.
//! Several of them may begin at one instruction.

use crate::image;
use crate::precompiled;
use crate::shapes::{self, Slice};
use crate::source::{Origin, origin};
use addr2line::gimli::{self, Dwarf, LineRow, Unit};
use mazurka_core::LineCoverage;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

/// An instruction of one byte, and a signal.
const TRAP: u8 = 0xcc;
const PAGE_LEN: usize = 4096;

/// The lines, and the traps for them.
struct Lines {
    /// File and line, from 1.
    lines: Vec<(String, u32)>,
    /// Sorted by address.
    traps: Vec<Trap>,
    /// Whether a line was reached, by its place: memory that all copies of the process share.
    reached: AtomicPtr<AtomicU8>,
}

struct Trap {
    address: usize,
    /// What belongs there.
    byte: u8,
    /// The lines that begin there, by their places.
    lines: Vec<usize>,
    /// Whether it stands.
    is_set: AtomicBool,
}

static LINES: OnceLock<Lines> = OnceLock::new();

/// Sets a trap at every line of the program. `main` is where that function is. To be called before
/// the program runs, and once its code is otherwise as it stays.
pub(crate) fn begin(main: usize) -> Result<(), String> {
    let image = image::of(main).ok_or("the file of the program cannot be read")?;
    let rows = rows(image).map_err(|error| format!("the line table cannot be read: {error}"))?;
    let mut numbers: BTreeMap<(String, u32), usize> = BTreeMap::new();
    let mut traps = Vec::new();
    for (address, begun) in rows {
        let Some(address) = image.loaded(address) else { continue };
        // It is run elsewhere.
        if precompiled::is_moved(address) {
            continue;
        }
        let mut number = |line: (String, u32)| {
            let n_lines = numbers.len();
            *numbers.entry(line).or_insert(n_lines)
        };
        let lines = begun.into_iter().map(&mut number).collect();
        // SAFETY: a function of the program is there, which is loaded.
        let byte = unsafe { *(address as *const u8) };
        traps.push(Trap { address, byte, lines, is_set: AtomicBool::new(false) });
    }
    let mut lines = vec![(String::new(), 0); numbers.len()];
    numbers.into_iter().for_each(|(line, number)| lines[number] = line);
    let reached = AtomicPtr::new(shared(lines.len()).ok_or("there is no memory for lines")?);
    let lines = LINES.get_or_init(|| Lines { lines, traps, reached });
    lines.set_all()
}

/// Memory that copies of this process share, so many zeros.
fn shared(len: usize) -> Option<*mut AtomicU8> {
    // SAFETY: asks for memory of its own.
    let mapping = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), len.max(1), protection, flags, -1, 0)
    };
    (mapping != libc::MAP_FAILED).then_some(mapping.cast())
}

impl Lines {
    fn set_all(&self) -> Result<(), String> {
        let mut pages: Vec<usize> =
            self.traps.iter().map(|it| it.address & !(PAGE_LEN - 1)).collect();
        pages.dedup();
        for page in pages {
            let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
            // SAFETY: it is code of the program, which may be changed from now on.
            if unsafe { libc::mprotect(page as *mut c_void, PAGE_LEN, protection) } != 0 {
                let error = std::io::Error::last_os_error();
                return Err(format!("the code of the program cannot be changed: {error}"));
            }
        }
        for trap in &self.traps {
            trap.is_set.store(true, Ordering::Relaxed);
            // SAFETY: an instruction begins there, nothing of the program runs yet.
            unsafe { (trap.address as *mut u8).write_volatile(TRAP) };
        }
        Ok(())
    }
}

/// Puts the instruction back that a trap of ours stood for, and notes its line. Whether there was
/// one. Called by the handler of signals: it takes no lock and no memory.
pub(crate) fn pass(address: usize) -> bool {
    let Some(lines) = LINES.get() else { return false };
    let Ok(idx) = lines.traps.binary_search_by_key(&address, |trap| trap.address) else {
        return false;
    };
    let trap = &lines.traps[idx];
    if !trap.is_set.swap(false, Ordering::Relaxed) {
        return false;
    }
    // SAFETY: the page was made writable, and the memory has a byte for each line.
    unsafe {
        (address as *mut u8).write_volatile(trap.byte);
        for &line in &trap.lines {
            (*lines.reached.load(Ordering::Relaxed).add(line)).store(1, Ordering::Relaxed);
        }
    }
    true
}

/// What was reached, in all processes; nothing if that was not asked for.
pub(crate) fn reached() -> Option<LineCoverage> {
    let lines = LINES.get()?;
    let reached = lines.reached.load(Ordering::Relaxed);
    let mut coverage = LineCoverage::default();
    for (idx, (file, line)) in lines.lines.iter().enumerate() {
        // SAFETY: the memory has a byte for each line.
        let is_reached = unsafe { (*reached.add(idx)).load(Ordering::Relaxed) } != 0;
        coverage.add(file, *line, is_reached);
    }
    Some(coverage)
}

/// The lines of the program's own source, by the address in the file at which they begin.
fn rows(image: &image::Image) -> Result<Rows, gimli::Error> {
    let mut rows = Rows::new();
    let Some(file) = image::file().ok().and_then(|data| object::File::parse(data).ok()) else {
        return Ok(rows);
    };
    let dwarf = shapes::debug_information(&file)?;
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else { continue };
        let mut names: BTreeMap<u64, Option<String>> = BTreeMap::new();
        let mut all = program.rows();
        // The lines that begin at the last address, if there is code for them.
        let (mut last, mut begun): (u64, Vec<(String, u32)>) = (0, Vec::new());
        while let Some((header, row)) = all.next_row()? {
            if row.address() != last || row.end_sequence() {
                let is_code = row.address() > last && image.function(last).is_some();
                if is_code && !begun.is_empty() {
                    rows.entry(last).or_default().append(&mut begun);
                }
                begun.clear();
                last = row.address();
            }
            if row.end_sequence() || !row.is_stmt() {
                continue;
            }
            let name = names
                .entry(row.file_index())
                .or_insert_with(|| own_file(&dwarf, &unit, header, row));
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            begun.extend(name.clone().zip(line));
        }
    }
    Ok(rows)
}

/// Files and lines.
type Rows = BTreeMap<u64, Vec<(String, u32)>>;

type Header<'a> = gimli::LineProgramHeader<Slice<'a>>;

/// The path of a row's file, if that is of the program's own source.
fn own_file<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    header: &Header<'a>,
    row: &LineRow,
) -> Option<String> {
    let file = row.file(header)?;
    let text = |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned());
    let mut path = std::path::PathBuf::new();
    if let Some(folder) = &unit.comp_dir {
        path.push(&*folder.to_string_lossy());
    }
    if let Some(folder) = file.directory(header).and_then(text) {
        path.push(folder);
    }
    path.push(text(file.path_name())?);
    let path = path.to_string_lossy().into_owned();
    (origin(&path) == Origin::Own).then_some(path)
}
