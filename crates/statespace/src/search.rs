//! A search from options to a verdict.

use crate::confirm::confirm;
use crate::depth_first::DepthFirst;
use crate::frontier::{Frontier, Searched};
use crate::machine::{ByParts, Lost};
use crate::options::{Options, OptionsError, Order};
use crate::saved::{self, Checkpoints, Reader, SavedError, Saving, Writer};
use crate::search_limits::{Ended, Watch};
use crate::store::{Bitstate, Compact, Exact, Label, Packed, Storage, Store, Tree};
use crate::transitions::{Described, Transitions};
use mazurka_core::{Assumption, Coverage, Limit, LineCoverage, Statistics, Told, Verdict};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::AtomicU32;

/// What a search came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// What was found, or exactly what was proved.
    pub verdict: Verdict,
    /// What was counted. `transitions` has all moves; those that led to a state which is stored are
    /// `states + states_matched - 1`.
    pub statistics: Statistics,
    /// Who stands where at the end of the counterexample, if it ends where it should not.
    pub stuck: Vec<Told>,
    /// How many violations were met; more than one only if all of them were asked for.
    pub violations: u64,
    /// The edges that no move took. Of a search that has not seen everything, those it has not
    /// seen.
    pub unreached: Vec<Described>,
    /// The lines of all edges that tell theirs, and whether any move took them.
    pub lines: LineCoverage,
    /// The memory that the states took.
    pub store_bytes: u64,
    /// Whether each of them was one word, the numbers of its parts, and moves were found by part.
    pub is_packed: bool,
    /// Of a violation that goes on for ever: the entry of its story, from 1, that follows the last
    /// one again.
    pub loop_start: Option<usize>,
    /// What there is to say about how it was done.
    pub notes: Vec<String>,
    /// Whether what is left to do was saved.
    pub is_saved: bool,
}

/// Searches all states of a program for moves that go wrong and wrong ends.
pub fn search<T: Transitions>(
    program: &T,
    options: &Options,
) -> Result<Outcome, Vec<OptionsError>> {
    search_saving(program, options, &Saving::default()).map_err(|error| match error {
        SearchError::Options(errors) => errors,
        SearchError::Saved(error) => unreachable!("nothing is saved: {error}"),
    })
}

/// The fingerprint of a program whose search is saved, or goes on from a file.
pub(crate) fn fingerprint<T: Transitions>(
    program: &T,
    saving: &Saving,
) -> Result<Option<u128>, SavedError> {
    if saving.path.is_none() && saving.resume.is_none() {
        return Ok(None);
    }
    program.fingerprint().map(Some).ok_or(SavedError::NotSavable)
}

/// Why a search that may be saved was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// Options that do not go together.
    Options(Vec<OptionsError>),
    /// A file that cannot be written, or that the search cannot go on from.
    Saved(SavedError),
}

impl From<SavedError> for SearchError {
    fn from(error: SavedError) -> Self {
        Self::Saved(error)
    }
}

/// The same, with a file that it is written to when it comes to a limit, and one that it goes on
/// from. A search that goes on counts and finds what it would have if it had not been stopped; its
/// time limit begins anew.
pub fn search_saving<T: Transitions>(
    program: &T,
    options: &Options,
    saving: &Saving,
) -> Result<Outcome, SearchError> {
    let errors = options.errors();
    if !errors.is_empty() {
        return Err(SearchError::Options(errors));
    }
    let fingerprint = fingerprint(program, saving)?;
    let file = match (&saving.resume, fingerprint) {
        (Some(path), Some(program)) => Some(saved::open(path, program, &saved::words(options))?),
        _ => None,
    };
    let (header, mut file) = file.unzip();
    if let Some(file) = &mut file {
        let learnt = saved::load_learnt(file).map_err(unreadable)?;
        if !program.learn(&learnt) {
            return Err(SavedError::OtherProgram.into());
        }
    }
    let is_packed = header.is_some_and(|header| header.is_packed);
    let mut search = Search {
        options,
        checkpoints: Checkpoints::new(saving, fingerprint, saved::words(options)),
        is_packed: file.as_ref().map(|_| is_packed),
    };
    let outcome = match options.storage {
        Storage::Exact => {
            let store = file.as_mut().map_or_else(|| Ok(Exact::new()), Exact::load);
            search.in_store(program, store, file)
        }
        Storage::Tree if options.needs_numbers() => {
            search.compressed::<T, AtomicU32>(program, file)
        }
        Storage::Tree => search.compressed::<T, ()>(program, file),
        Storage::Compact => {
            let store = file.as_mut().map_or_else(|| Ok(Compact::new()), Compact::load);
            search.in_store(program, store, file)
        }
        Storage::Bitstate(bits) => {
            let load = |file| Bitstate::load(bits, file);
            let store = file.as_mut().map_or_else(|| Ok(Bitstate::new(bits)), load);
            search.in_store(program, store, file)
        }
    };
    let mut outcome = outcome.map_err(unreadable)?;
    if let Some(error) = search.checkpoints.error.filter(|_| saving.is_required) {
        return Err(error.into());
    }
    outcome.is_saved = search.checkpoints.is_saved;
    Ok(outcome)
}

pub(crate) fn unreadable(error: io::Error) -> SavedError {
    SavedError::Unreadable(error.to_string())
}

/// Writes what the states of a program mean, where that is not the same in every process.
pub(crate) type Save<T> = fn(&T, &mut Writer) -> io::Result<()>;

/// A search, with what it is saved by.
struct Search<'a> {
    options: &'a Options,
    checkpoints: Checkpoints<'a>,
    /// If it goes on from a file: whether states are packed there.
    is_packed: Option<bool>,
}

impl<'a> Search<'a> {
    /// Searches packed states for as long as that is of use, and otherwise those that a tree
    /// compresses.
    fn compressed<T: Transitions, L: Label>(
        &mut self,
        program: &T,
        mut file: Option<Reader>,
    ) -> io::Result<Outcome> {
        let options = self.options;
        let mut watch = Watch::new(options);
        let program = &reduced(program, options);
        if let Some(mut packed) = program.by_parts().filter(|_| self.is_packed != Some(false)) {
            loop {
                // A file is read once: what is lost later begins from the beginning.
                let mut file = file.take();
                match &mut file {
                    Some(file) => packed.load(file)?,
                    None if !options.is_one_path() => packed = warmed_up(packed, options),
                    None => {}
                }
                if packed.lost().is_none() {
                    let store = match &mut file {
                        Some(file) => Packed::<L>::load(packed.memory(), file)?,
                        None => Packed::<L>::new(packed.memory()),
                    };
                    let searched = match options.is_one_path() {
                        true => {
                            let mut search = DepthFirst::new(packed, options, &store);
                            let save: Option<Save<ByParts>> = Some(ByParts::save);
                            let ended =
                                self.along_path(&mut search, &store, &mut watch, file, save)?;
                            // What it remembers is of use if it has to begin again.
                            let (program, counted, found) = search.into_parts();
                            packed = program;
                            Searched { counted, found, ended }
                        }
                        false => {
                            let save: Save<ByParts> = ByParts::save;
                            self.by_workers(&packed, &store, watch, file, Some(save))?
                        }
                    };
                    if packed.lost().is_none() {
                        let outcome = outcome(program, options, &store, searched);
                        return Ok(Outcome { is_packed: true, ..outcome });
                    }
                }
                if packed.lost() != Some(Lost::Full) || !packed.try_again() {
                    break;
                }
            }
        }
        let store = file.as_mut().map_or_else(|| Ok(Tree::<L>::new()), Tree::load)?;
        let searched = self.run(program, &store, watch, file)?;
        Ok(outcome(program, options, &store, searched))
    }

    fn in_store<T: Transitions, S: Store>(
        &mut self,
        program: &T,
        store: io::Result<S>,
        file: Option<Reader>,
    ) -> io::Result<Outcome> {
        let store = store?;
        let program = &reduced(program, self.options);
        let searched = self.run(program, &store, Watch::new(self.options), file)?;
        Ok(outcome(program, self.options, &store, searched))
    }

    fn run<T: Transitions, S: Store>(
        &mut self,
        program: &T,
        store: &S,
        mut watch: Watch<'a>,
        file: Option<Reader>,
    ) -> io::Result<Searched> {
        if !self.options.is_one_path() {
            return self.by_workers(program, store, watch, file, None);
        }
        let mut search = DepthFirst::new(program.clone(), self.options, store);
        let ended = self.along_path(&mut search, store, &mut watch, file, None)?;
        Ok(Searched { counted: search.counted, found: search.found, ended })
    }

    /// Searches depth first, and writes how far it is now and then; `save` writes what packed
    /// states mean.
    fn along_path<T: Transitions, S: Store>(
        &mut self,
        search: &mut DepthFirst<'_, T, S>,
        store: &S,
        watch: &mut Watch<'_>,
        file: Option<Reader>,
        save: Option<Save<T>>,
    ) -> io::Result<Ended> {
        if let Some(mut file) = file {
            search.load(&mut file)?;
        }
        loop {
            watch.pause_at(self.checkpoints.next());
            let ended = search.run(watch);
            let limit = match &ended {
                Ended::Limit(limit) if !search.program().is_lost() => Some(limit),
                Ended::Paused => None,
                _ => return Ok(ended),
            };
            search.settle();
            self.checkpoints.write(limit, save.is_some(), store.bytes(), |out| {
                saved::save_learnt(&search.program().learnt(), out)?;
                save.map_or(Ok(()), |save| save(search.program(), out))?;
                store.save(out)?;
                search.save(out)
            });
            if limit.is_some() {
                return Ok(ended);
            }
        }
    }

    /// Searches with any number of workers, and writes how far they are now and then; `save` writes
    /// what packed states mean.
    fn by_workers<T: Transitions, S: Store>(
        &mut self,
        program: &T,
        store: &S,
        watch: Watch<'_>,
        file: Option<Reader>,
        save: Option<Save<T>>,
    ) -> io::Result<Searched> {
        let mut frontier = Frontier::new(self.options, store, watch);
        if let Some(mut file) = file {
            frontier.load(&mut file)?;
        }
        loop {
            frontier.watch().pause_at(self.checkpoints.next());
            let ended = frontier.run(program);
            let limit = match &ended {
                Ended::Limit(limit) if !program.is_lost() => Some(limit),
                Ended::Paused if !program.is_lost() => None,
                _ => return Ok(frontier.into_searched(program, ended)),
            };
            self.checkpoints.write(limit, save.is_some(), store.bytes(), |out| {
                saved::save_learnt(&program.learnt(), out)?;
                save.map_or(Ok(()), |save| save(program, out))?;
                store.save(out)?;
                frontier.save(out)
            });
            if limit.is_some() {
                return Ok(frontier.into_searched(program, ended));
            }
        }
    }
}

/// How many states one worker looks at before several do.
const WARM: usize = 1 << 12;

/// Has one worker go ahead, depth first: it meets many values soon, and what it remembers is of use
/// to all.
fn warmed_up(packed: ByParts, options: &Options) -> ByParts {
    let mut options = options.clone();
    (options.jobs, options.order, options.all_violations) = (1, Order::DepthFirst, true);
    options.states = Some(WARM);
    let store = Packed::<()>::new(packed.memory());
    let mut search = DepthFirst::new(packed, &options, &store);
    search.run(&Watch::new(&options));
    search.into_program()
}

fn reduced<T: Transitions>(program: &T, options: &Options) -> T {
    let mut program = program.clone();
    program.reduce(options.reduction, options.optimisations);
    program
}

fn outcome<T: Transitions, S: Store>(
    program: &T,
    options: &Options,
    store: &S,
    Searched { counted, found, ended }: Searched,
) -> Outcome {
    let confirmed = found.map(|path| confirm(program.clone(), &path));
    let (verdict, stuck) = match (confirmed, ended) {
        (Some(found), _) => (Verdict::Violated(Box::new(found.counterexample)), found.stuck),
        (None, Ended::Limit(limit)) => (Verdict::Inconclusive(limit), Vec::new()),
        (None, Ended::Paused) => unreachable!("a search that pauses goes on"),
        (None, Ended::Cut(depth)) => (Verdict::Inconclusive(Limit::Depth(depth)), Vec::new()),
        (None, Ended::Done) => {
            let assumption = store.assumption(counted.states);
            (Verdict::Holds(coverage(program, options, assumption)), Vec::new())
        }
    };
    let unreached = counted.unreached().filter_map(|edge| program.edge(edge));
    let mut lines = LineCoverage::default();
    for (edge, is_reached) in counted.edges() {
        if let Some(place) = program.edge(edge).and_then(|it| it.location) {
            lines.add(&place.file, place.line, is_reached);
        }
    }
    Outcome {
        verdict,
        statistics: counted.statistics(),
        stuck,
        violations: counted.violations,
        unreached: unreached.collect(),
        lines,
        store_bytes: store.bytes(),
        is_packed: false,
        loop_start: None,
        notes: Vec::new(),
        is_saved: false,
    }
}

/// What a search that has seen everything has shown.
fn coverage(
    program: &impl Transitions,
    options: &Options,
    assumption: Option<Assumption>,
) -> Coverage {
    let ends = options.ends.then(|| program.wrong_end());
    let coverage = Coverage::of(program.faults().into_iter().chain(ends));
    coverage.assuming_all(program.assumptions().into_iter().chain(assumption))
}
