//! Searches that are split into parts, one file each, for machines that share nothing but files;
//! and one verdict of all of them.
//!
//! A search is begun, stopped and saved; then the heaviest of its units is opened, again and again,
//! until so many parts of about the same weight can be made of what is left. Every unit is explored
//! once, wherever that is, so the totals are those of one search.

use crate::engine::{Engine, Feature, Listener};
use crate::{Fault, FaultKind, Faults, Outcome, Task};
use mazurka_core::{Limit, Statistics, Verdict};
use mazurka_explore::Saved;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// So many executions are explored before anything is split, to learn what the program does.
const FIRST: u64 = 1_000;
/// If more is learnt while units are opened, the search begins again, with so many times as many.
const MORE: u64 = 10;
/// How often it begins again.
const ATTEMPTS: u32 = 4;
/// At most so many units are opened for each part.
const OPENED: u32 = 8;

/// What came of splitting a search.
#[derive(Debug)]
pub enum Split {
    /// Nothing is left to split: the search has come to a verdict.
    Decided(Box<Outcome>),
    /// The files of the parts, in their order.
    Parts(Vec<PathBuf>),
}

/// Begins a search, and splits what is left into so many files in a folder.
pub fn split(
    task: &Task,
    engine: &'static dyn Engine,
    n_parts: u32,
    folder: &Path,
    listener: &dyn Listener,
) -> Result<Split, Faults> {
    if !engine.supports().features.contains(&Feature::Executions) {
        let text =
            format!("`--engine {}` explores no executions that could be split", engine.name());
        return Err(Fault::input(text).help("`native` and `vm` do").into());
    }
    if let Some(what) = task.why_not_saved(engine) {
        return Err(Fault::input(format!("a search is not split with {what}")).into());
    }
    let scratch = tempfile::TempDir::new()
        .map_err(|error| Fault::input(format!("there is no folder for what is split: {error}")))?;
    let opening = Opening { task, engine, listener, path: scratch.path().join("part.mzs") };
    let mut n_first = FIRST;
    for attempt in 1.. {
        match opening.balanced(n_first, n_parts) {
            Err(faults) if is_void(&faults) && attempt < ATTEMPTS => n_first *= MORE,
            Err(faults) => return Err(faults),
            Ok(Opened::Decided(outcome)) => return Ok(Split::Decided(outcome)),
            Ok(Opened::Left(saved)) => {
                let words = task.resume_words(engine, Path::new(""));
                return write(*saved, n_parts, &words, folder).map(Split::Parts);
            }
        }
    }
    unreachable!("the last attempt has returned")
}

fn is_void(faults: &Faults) -> bool {
    faults.iter().any(|fault| fault.kind == FaultKind::Void)
}

/// What is left of a search, or what has come of it.
enum Opened {
    Decided(Box<Outcome>),
    Left(Box<Saved>),
}

/// How units of a search are opened: by the engine, through a file.
struct Opening<'a> {
    task: &'a Task,
    engine: &'static dyn Engine,
    listener: &'a dyn Listener,
    path: PathBuf,
}

impl Opening<'_> {
    /// Explores so many executions, then opens units until they can be dealt out evenly.
    fn balanced(&self, n_first: u64, n_parts: u32) -> Result<Opened, Faults> {
        let mut left = match self.explore(None, n_first)? {
            Opened::Left(left) => left,
            decided => return Ok(decided),
        };
        if !left.can_be_split() {
            let text = "this search cannot be split: its states belong together";
            return Err(Fault::input(text).help("`--reduction optimal` can").into());
        }
        let even = 1.0 / (2.0 * f64::from(n_parts));
        for _ in 0..n_parts.saturating_mul(OPENED) {
            let Some((idx, share)) = left.heaviest() else { break };
            if share <= even && left.n_units() >= n_parts as usize {
                break;
            }
            let unit = left.take_unit(idx);
            match self.explore(Some(&unit), 1)? {
                Opened::Left(rest) => left.put_back(*rest),
                decided => return Ok(decided),
            }
        }
        if left.n_units() > 0 {
            return Ok(Opened::Left(left));
        }
        // Everything was opened: the engine has only to tell what came of it.
        self.explore(Some(&left), u64::MAX)
    }

    /// Explores so many executions more, of a unit or from the start.
    fn explore(&self, saved: Option<&Saved>, n_executions: u64) -> Result<Opened, Faults> {
        let cannot = |error: &dyn std::fmt::Display| Fault::input(format!("{error}"));
        let mut task = self.task.clone();
        task.options.max_executions = Some(n_executions);
        task.options.ladder = false;
        task.options.save = Some(self.path.clone());
        task.options.resume = None;
        if let Some(saved) = saved {
            saved.write(&self.path).map_err(|error| cannot(&error))?;
            task.options.resume = Some(self.path.clone());
        }
        let outcome = self.engine.check(&task, self.listener)?;
        let is_unit = saved.is_some_and(|it| it.part().is_some());
        match &outcome.verdict {
            Verdict::Holds(_) if is_unit => {}
            Verdict::Inconclusive(Limit::Executions(_)) => {}
            _ => return Ok(Opened::Decided(Box::new(outcome))),
        }
        let saved = Saved::read(&self.path).map_err(|error| cannot(&error))?;
        Ok(Opened::Left(Box::new(saved)))
    }
}

/// Writes the parts of a search, numbered from 1.
fn write(
    saved: Saved,
    n_parts: u32,
    words: &[String],
    folder: &Path,
) -> Result<Vec<PathBuf>, Faults> {
    let search = RandomState::new().hash_one(std::process::id());
    let width = n_parts.to_string().len().max(2);
    let mut files = Vec::new();
    for (idx, part) in saved.split(n_parts, search, words).into_iter().enumerate() {
        let path = folder.join(format!("{:0width$}.mzs", idx + 1));
        part.write(&path).map_err(|error| {
            Fault::input(format!("`{}` cannot be written: {error}", path.display()))
        })?;
        files.push(path);
    }
    Ok(files)
}

/// What is known of a search that others explore, when a limit is reached.
pub fn stopped(
    task: &Task,
    engine: &'static dyn Engine,
    limit: Limit,
    statistics: Statistics,
    begun: Instant,
) -> Outcome {
    let mut outcome = Outcome::new(engine, Verdict::Inconclusive(limit), statistics, begun);
    outcome.add_tips(task);
    outcome
}

/// What parts of a search have come to, together.
#[derive(Debug)]
#[non_exhaustive]
pub struct Together {
    /// The search as a whole, to be concluded by its engine: if something goes wrong, or nothing
    /// is left.
    pub whole: Option<Saved>,
    /// The words of the command of the search; its file is not among them.
    pub words: Vec<String>,
    /// What was counted in all parts.
    pub statistics: Statistics,
    /// The numbers of the parts that are not there.
    pub missing: Vec<u32>,
    /// The files of the parts that are not at their end.
    pub open: Vec<PathBuf>,
    /// How many parts there are.
    pub n_parts: u32,
}

/// Puts the parts of one search together.
pub fn merge(files: &[PathBuf]) -> Result<Together, Faults> {
    let (mut parts, mut faults) = (Vec::new(), Faults::new());
    let wrong = |file: &Path, what: &dyn std::fmt::Display| {
        Fault::input(format!("`{}`: {what}", file.display()))
    };
    for file in files {
        match Saved::read(file) {
            Ok(saved) => parts.push(saved),
            Err(error) => faults.push(wrong(file, &error)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let part = parts.first().and_then(Saved::part);
    let (n_parts, words) = part.map_or((0, Vec::new()), |part| (part.of, part.command.clone()));
    let merged = Saved::merge(parts);
    let merged = merged.map_err(|errors| {
        errors.iter().map(|error| wrong(&files[error.idx()], error)).collect::<Faults>()
    })?;
    let open: Vec<PathBuf> = merged.open.iter().map(|&idx| files[idx].clone()).collect();
    let statistics = merged.whole.as_ref().map(Saved::statistics).unwrap_or_default();
    let is_whole =
        |whole: &Saved| whole.has_violation() || open.is_empty() && merged.missing.is_empty();
    let whole = merged.whole.filter(is_whole);
    Ok(Together { whole, words, statistics, missing: merged.missing, open, n_parts })
}

impl Together {
    /// What is known as long as parts are open or missing; `task` is the search.
    pub fn unfinished(&self, task: &Task, engine: &'static dyn Engine) -> Outcome {
        let n_open = (self.open.len() + self.missing.len()) as u32;
        let limit = Limit::Parts { open: n_open, of: self.n_parts };
        let verdict = Verdict::Inconclusive(limit);
        let mut outcome = Outcome::new(engine, verdict, self.statistics, Instant::now());
        if !self.missing.is_empty() {
            let numbers: Vec<_> = self.missing.iter().map(u32::to_string).collect();
            outcome
                .notes
                .push(format!("the files of these parts are missing: {}", numbers.join(", ")));
        }
        let go_on = |file: &PathBuf| format!("`{}` goes on", task.resume_command(engine, file));
        outcome.tips.extend(self.open.iter().map(go_on));
        outcome
    }
}
