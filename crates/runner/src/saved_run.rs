//! A run of tests that is saved: the outcomes of tests that are over, and the searches of those
//! that are not.
//!
//! The file has a line of JSON for what the run was asked, then one for each test that was begun
//! and one for its outcome, added as they come. A command that is killed loses at most the line
//! that it was writing, and of a search what was explored since it was saved last, within a minute.
//! The searches are in a folder beside it, one file for each test, as a single program saves its
//! own.
//!
//! What was found of a test counts as long as its program is the same, byte by byte; otherwise it
//! is explored again. Outcomes that are conclusive are kept. A test that a limit has stopped goes
//! on where its search is saved, else from its beginning.

use mazurka_check::{Fault, Outcome, Task};
use mazurka_core::Verdict;
use mazurka_protocol::Saving;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The version of the form of these files.
const VERSION: u32 = 1;

/// What the names of searches end with.
const SEARCH: &str = ".mzk";

/// Searches of runs that are not to be saved are saved when they are stopped, and not before.
const NEVER: Duration = Duration::from_secs(1 << 30);

/// The first line: what the run was asked.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// The version of the form.
    run: u32,
    mazurka: String,
    /// Options that change what a verdict means.
    options: Vec<String>,
}

/// A line: a test was begun or, with its outcome, is over.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    name: String,
    /// The hash of its program.
    program: String,
    outcome: Option<Box<Outcome>>,
}

/// A run that is saved.
pub(crate) struct SavedRun {
    path: PathBuf,
    /// Where lines go: to the file, if the user has named it; else they wait for the end.
    to: Mutex<To>,
    is_asked: bool,
    /// What was there at the beginning: the last line of each test.
    records: BTreeMap<String, Record>,
}

struct To {
    file: Option<File>,
    lines: String,
    failure: Option<std::io::Error>,
}

/// The options that a saved run has to have in common with the one that goes on with it.
fn common_options(task: &Task) -> Vec<String> {
    const OTHERS: [&str; 6] =
        ["time-limit", "memory-limit", "max-executions", "jobs", "save", "resume"];
    task.options.words(|row| !OTHERS.contains(&row.name))
}

impl SavedRun {
    /// What a task says: a run that is saved from its beginning, one that goes on, or, if it says
    /// nothing, one that is saved `by_default` if it is interrupted. Nothing if there is no place.
    pub(crate) fn of(task: &Task, by_default: Option<&Path>) -> Result<Option<Self>, Fault> {
        let header = Header {
            run: VERSION,
            mazurka: env!("CARGO_PKG_VERSION").to_owned(),
            options: common_options(task),
        };
        match (&task.options.save, &task.options.resume) {
            (Some(_), Some(_)) => {
                let text =
                    "a run of tests that goes on is saved where it was: take `--resume` alone";
                Err(Fault::input(text))
            }
            (Some(path), None) => Self::begin(path.clone(), &header, true).map(Some),
            (None, Some(path)) => Self::resume(path.clone(), &header).map(Some),
            (None, None) => match by_default {
                Some(path) => Ok(Self::begin(path.to_owned(), &header, false).ok()),
                None => Ok(None),
            },
        }
    }

    fn begin(path: PathBuf, header: &Header, is_asked: bool) -> Result<Self, Fault> {
        let lines = line(header);
        let cannot = |error| cannot_write(&path, &error);
        let folder = searches(&path);
        std::fs::create_dir_all(&folder).map_err(cannot)?;
        remove_searches(&folder).map_err(cannot)?;
        let mut to = To { file: None, lines, failure: None };
        if is_asked {
            let mut file = File::create(&path).map_err(cannot)?;
            file.write_all(to.lines.as_bytes()).map_err(cannot)?;
            to.file = Some(file);
        }
        Ok(Self { path, to: Mutex::new(to), is_asked, records: BTreeMap::new() })
    }

    fn resume(path: PathBuf, expected: &Header) -> Result<Self, Fault> {
        let name = path.display();
        let unreadable =
            |error: std::io::Error| Fault::input(format!("`{name}` cannot be read: {error}"));
        let mut file = File::options().read(true).write(true).open(&path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        // What comes behind the last line was not written to its end.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..end].split_inclusive(|&byte| byte == b'\n');
        let header = lines.next().and_then(|it| serde_json::from_slice::<Header>(it).ok());
        let Some(header) = header else {
            let failure = Fault::input(format!("`{name}` is no saved run of tests"));
            return Err(failure.help("`mazurka check … --resume` goes on with a single program"));
        };
        if (header.run, &header.mazurka) != (expected.run, &expected.mazurka) {
            let text = format!("`{name}` was saved by another version: {}", header.mazurka);
            return Err(Fault::input(text));
        }
        if header.options != expected.options {
            let options = match header.options.is_empty() {
                true => "no options".to_owned(),
                false => format!("`{}`", header.options.join(" ")),
            };
            let text = format!("`{name}` was saved by a run with other options: {options}");
            return Err(Fault::input(text).help("limits and `--jobs` may be others"));
        }
        let mut records = BTreeMap::new();
        for line in lines {
            let record: Record = serde_json::from_slice(line)
                .map_err(|error| Fault::input(format!("`{name}` is not understood: {error}")))?;
            records.insert(record.name.clone(), record);
        }
        let cannot = |error| cannot_write(&path, &error);
        file.set_len(end as u64).map_err(cannot)?;
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        std::fs::create_dir_all(searches(&path)).map_err(cannot)?;
        let to = To { file: Some(file), lines: String::new(), failure: None };
        Ok(Self { path, to: Mutex::new(to), is_asked: true, records })
    }

    /// The outcome of a test that needs no more exploring.
    pub(crate) fn kept(&self, name: &str, program: &str) -> Option<Outcome> {
        let record = self.records.get(name).filter(|record| record.program == program)?;
        let outcome = record.outcome.as_deref().filter(|outcome| is_conclusive(outcome));
        outcome.cloned()
    }

    /// Whether a test was begun with another program.
    pub(crate) fn has_changed(&self, name: &str, program: &str) -> bool {
        self.records.get(name).is_some_and(|record| record.program != program)
    }

    /// Says that a test is begun, has it saved, and has it go on where it was.
    pub(crate) fn begin_test(&self, task: &mut Task, name: &str, program: &str) {
        let path = self.search(name);
        let is_same = self.records.get(name).is_some_and(|record| record.program == program);
        if !is_same {
            // A search of another program, or of none.
            let _ = std::fs::remove_file(&path);
        }
        task.options.resume = path.exists().then(|| path.clone());
        task.options.save = None;
        let (after, every) = match self.is_asked {
            true => (Duration::ZERO, Saving::EVERY),
            false => (Saving::AFTER, NEVER),
        };
        task.saving = Some(Saving { path, after, every, is_asked: self.is_asked });
        self.add(&Record { name: name.to_owned(), program: program.to_owned(), outcome: None });
    }

    /// Says what came of a test.
    pub(crate) fn end_test(&self, name: &str, program: &str, outcome: &Outcome) {
        if is_conclusive(outcome) {
            // Nothing is there if it was short.
            let _ = std::fs::remove_file(self.search(name));
        }
        let outcome = Some(Box::new(outcome.clone()));
        self.add(&Record { name: name.to_owned(), program: program.to_owned(), outcome });
    }

    fn search(&self, name: &str) -> PathBuf {
        searches(&self.path).join(format!("{:016x}{SEARCH}", hash([name.as_bytes()])))
    }

    fn add(&self, record: &Record) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line(record);
        match &mut to.file {
            // One write, so that a kill leaves whole lines and at most a part of the last one.
            Some(file) => {
                if let Err(error) = file.write_all(line.as_bytes()) {
                    to.failure.get_or_insert(error);
                }
            }
            None => to.lines.push_str(&line),
        }
    }

    /// The run is over. If all of it is done, nothing is left; else the file is where it goes on
    /// from. One that the user has not named is left if the run `was_interrupted`.
    pub(crate) fn finish(
        self,
        is_done: bool,
        was_interrupted: bool,
    ) -> Result<Option<PathBuf>, Fault> {
        let Self { path, to, is_asked, .. } = self;
        let To { file, lines, failure } = to.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failure {
            return Err(cannot_write(&path, &error));
        }
        if is_done || !is_asked && !was_interrupted {
            if file.is_some() {
                let _ = std::fs::remove_file(&path);
            }
            let folder = searches(&path);
            let _ = remove_searches(&folder);
            // It stays if something else is in it.
            let _ = std::fs::remove_dir(&folder);
            return Ok(None);
        }
        if file.is_none() && std::fs::write(&path, lines).is_err() {
            // It was not asked for.
            return Ok(None);
        }
        Ok(Some(path))
    }
}

/// Where the searches of a run are.
fn searches(path: &Path) -> PathBuf {
    let mut folder = path.as_os_str().to_owned();
    folder.push(".searches");
    folder.into()
}

/// Removes the searches from their folder, and nothing else that may be there.
fn remove_searches(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        // What stands behind the name is of a search that was being written.
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains(SEARCH)) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("everything in it can be written");
    line.push('\n');
    line
}

fn is_conclusive(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Holds(_) | Verdict::Violated(_))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Fault {
    Fault::input(format!("the run cannot be saved in `{}`: {error}", path.display()))
}

fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    parts.into_iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

/// What tells a program from others: the hash of all its bytes, and how many there are.
pub(crate) fn fingerprint(program: &Path) -> Result<String, Fault> {
    let bytes = std::fs::read(program).map_err(|error| {
        Fault::input(format!("`{}` cannot be read: {error}", program.display()))
    })?;
    Ok(format!("{:016x}-{}", hash([&bytes[..]]), bytes.len()))
}
