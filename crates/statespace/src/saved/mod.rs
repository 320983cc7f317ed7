//! Searches that are written to a file when they are stopped, and go on from there.
//!
//! A file has the states that are stored, what is left to do, and what was counted and found. A
//! search that goes on takes the same moves in the same order as one that was never stopped, and
//! comes to the same totals. What follows from the program is not in it: moves that are remembered
//! and machine code are made again.
//!
//! States of a program of threads have the numbers of its threads, which are given out as a search
//! meets them: these are in the file, too ([`Transitions::learnt`](crate::Transitions)).
//!
//! A store of another program would make a wrong verdict. So a file has a hash of the whole
//! compiled program, and the options on which states and moves depend.

mod form;

pub(crate) use form::{Form, Reader, Writer, fingerprint};

use crate::options::{Options, Order};
use form::Check;
use mazurka_core::Limit;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Where and when a search is saved, and what it goes on from.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Saving {
    /// The file that it is written to when it comes to a limit; none if it is not.
    pub path: Option<PathBuf>,
    /// Whether it is an error if the file cannot be written.
    pub is_required: bool,
    /// A search that is stopped sooner is not worth it.
    pub after: Duration,
    /// How often a search that goes on is written; never if there is nothing here. Where writing
    /// takes long, it is less often: a twentieth of the time at the most.
    pub every: Option<Duration>,
    /// Nothing is written if the states take more memory than this, in bytes.
    pub most: Option<u64>,
    /// True while a file is being written.
    pub is_writing: Option<&'static AtomicBool>,
    /// A file to go on from.
    pub resume: Option<PathBuf>,
    /// What the caller keeps in the file beside the search, such as what came of searches before
    /// it: [`saved_log`] reads it.
    pub log: Vec<u8>,
    /// A search that is stopped by this limit of states is not saved: the caller does it again.
    pub round: Option<usize>,
}

/// How many times as long as it takes to write a search, it goes on before it is written again.
const SELDOM: u32 = 20;

/// Why a search cannot be saved, or cannot go on from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// A program whose states mean something only in the process that has met them.
    #[error("the states of this program cannot be saved")]
    NotSavable,
    /// A graph that is built before it is searched.
    #[error("a graph that is built first cannot be saved: `--construction on-the-fly` can")]
    BuiltFirst,
    /// A file that cannot be written.
    #[error("it cannot be written: {0}")]
    Unwritable(String),
    /// A file that cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Something else.
    #[error("not a saved search of stored states")]
    NotSaved,
    /// Made by another version.
    #[error("the search was saved by another version of Mazurka")]
    OtherVersion,
    /// Cut off or changed.
    #[error("the saved search is damaged")]
    Damaged,
    /// Made of another program.
    #[error("the saved search belongs to another program, or another version of this one")]
    OtherProgram,
    /// Made with other options.
    #[error("the search was saved with `{saved}`, and cannot go on with `{asked}`")]
    OtherOptions {
        /// The options then.
        saved: String,
        /// The options now.
        asked: String,
    },
}

/// What a file is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Which program.
    pub(crate) program: u128,
    /// The options on which states and moves depend.
    pub(crate) options: String,
    /// Whether states are packed.
    pub(crate) is_packed: bool,
    /// What the caller keeps there.
    pub(crate) log: Vec<u8>,
}

impl Form for Header {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.bytes(&self.program.to_le_bytes())?;
        out.text(self.options.as_bytes())?;
        out.flag(self.is_packed)?;
        out.text(&self.log)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let mut program = [0; 16];
        from.bytes(&mut program)?;
        let options = String::from_utf8_lossy(&from.text()?).into_owned();
        let (is_packed, log) = (from.flag()?, from.text()?);
        Ok(Self { program: u128::from_le_bytes(program), options, is_packed, log })
    }
}

/// Writes what states mean beyond the program: the first part behind the header.
pub(crate) fn save_learnt(words: &[u32], out: &mut Writer) -> io::Result<()> {
    out.all(words, |word, out| out.bytes(&word.to_le_bytes()))
}

/// Reads it.
pub(crate) fn load_learnt(from: &mut Reader) -> io::Result<Vec<u32>> {
    let mut words = Vec::new();
    for _ in 0..from.len()? {
        let mut word = [0; 4];
        from.bytes(&mut word)?;
        words.push(u32::from_le_bytes(word));
    }
    Ok(words)
}

/// The options on which states and moves depend, as people write them.
pub(crate) fn words(options: &Options) -> String {
    let Options { order, storage, reduction, optimisations, ends, ignored, .. } = options;
    let mut words = format!(
        "--order {} --storage {} --reduction {}",
        order.name(),
        storage.name(),
        reduction.name()
    );
    if let crate::Storage::Bitstate(bits) = storage {
        words.push_str(&format!(":{bits}"));
    }
    if *order == Order::DepthFirst {
        // Several workers share what is left to do, however many there are; one alone has a path.
        words.push_str(if options.jobs == 1 { " --jobs 1" } else { " --jobs (several)" });
    }
    for (is_on, name) in
        [(!optimisations.dead_variables, "dead variables"), (!optimisations.merging, "merging")]
    {
        if is_on {
            words.push_str(&format!(" without {name}"));
        }
    }
    if options.shorten {
        words.push_str(" --shorten");
    }
    if options.all_violations {
        words.push_str(" for all violations");
    }
    if let Some(depth) = options.depth {
        words.push_str(&format!(" --max-depth {depth}"));
    }
    if !ends {
        words.push_str(" without ends");
    }
    if !ignored.is_empty() {
        words.push_str(&format!(" ignoring {ignored:?}"));
    }
    words
}

/// What the caller has kept in a file beside the search.
pub fn saved_log(path: &Path) -> Result<Vec<u8>, SavedError> {
    open_any(path).map(|(header, _)| header.log)
}

/// A file that a search goes on from, up to its header, if it is of this program and was searched
/// in this way.
pub(crate) fn open(
    path: &Path,
    program: u128,
    asked: &str,
) -> Result<(Header, Reader), SavedError> {
    let (header, from) = open_any(path)?;
    if header.program != program {
        return Err(SavedError::OtherProgram);
    }
    if header.options != asked {
        return Err(SavedError::OtherOptions { saved: header.options, asked: asked.to_owned() });
    }
    Ok((header, from))
}

/// A file with any search, up to its header.
fn open_any(path: &Path) -> Result<(Header, Reader), SavedError> {
    let unreadable = |error: io::Error| SavedError::Unreadable(error.to_string());
    let file = File::open(path).map_err(unreadable)?;
    match form::check(&file).map_err(unreadable)? {
        Check::Whole => {}
        Check::OtherVersion => return Err(SavedError::OtherVersion),
        Check::NotSaved => return Err(SavedError::NotSaved),
        Check::Damaged => return Err(SavedError::Damaged),
    }
    let mut from = Reader::new(File::open(path).map_err(unreadable)?).map_err(unreadable)?;
    let header = Header::load(&mut from).map_err(unreadable)?;
    Ok((header, from))
}

/// What writes a search, now and then and in the end.
pub(crate) struct Checkpoints<'a> {
    saving: &'a Saving,
    program: Option<u128>,
    options: String,
    begun: Instant,
    /// When the next file is due.
    next: Option<Instant>,
    pub(crate) error: Option<SavedError>,
    /// Whether what is left is in the file.
    pub(crate) is_saved: bool,
}

impl<'a> Checkpoints<'a> {
    /// For a search of a program with these [`words`] about how it is done.
    pub(crate) fn new(saving: &'a Saving, program: Option<u128>, options: String) -> Self {
        let begun = Instant::now();
        let is_on = saving.path.is_some() && program.is_some();
        let next = saving.every.filter(|_| is_on).map(|every| begun + every);
        Self { saving, program, options, begun, next, error: None, is_saved: false }
    }

    /// When the search is to pause for it.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Writes a search that pauses, or that a limit has stopped for good.
    pub(crate) fn write(
        &mut self,
        limit: Option<&Limit>,
        is_packed: bool,
        bytes: u64,
        save: impl FnOnce(&mut Writer) -> io::Result<()>,
    ) {
        let (Some(path), Some(program)) = (&self.saving.path, self.program) else { return };
        if matches!(limit, Some(Limit::States(n)) if Some(*n) == self.saving.round) {
            return;
        }
        let (begun, is_over) = (Instant::now(), limit.is_some());
        let is_short = is_over && self.begun.elapsed() < self.saving.after;
        if self.error.is_none() && !is_short && self.saving.most.is_none_or(|most| bytes <= most) {
            let (options, log) = (self.options.clone(), self.saving.log.clone());
            let header = Header { program, options, is_packed, log };
            let set = |is_on| {
                self.saving.is_writing.iter().for_each(|it| it.store(is_on, Ordering::Relaxed));
            };
            set(true);
            let written = write(path, &header, save);
            set(false);
            self.is_saved = is_over && written.is_ok();
            self.error = written.err().map(|error| SavedError::Unwritable(error.to_string()));
        }
        let pause = begun.elapsed() * SELDOM;
        self.next = self.saving.every.map(|every| Instant::now() + every.max(pause));
    }
}

/// Writes a file: all of it or nothing, so that what was there before stays until then.
fn write(
    path: &Path,
    header: &Header,
    save: impl FnOnce(&mut Writer) -> io::Result<()>,
) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    // Two commands may write the same file.
    part.push(format!(".part-{}", std::process::id()));
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let written = (|| {
        let mut out = Writer::new(File::create(&part)?)?;
        header.save(&mut out)?;
        save(&mut out)?;
        out.finish()?;
        std::fs::rename(&part, path)
    })();
    if written.is_err() {
        // A part of a file is of no use to anybody.
        let _ = std::fs::remove_file(&part);
    }
    written
}
