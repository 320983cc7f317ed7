//! A search on paper: what is left to do, so that it can go on later or elsewhere, in one piece or
//! in [parts].

pub(crate) mod parts;

use crate::bound::{Bound, BoundKind, Exceeded, Waits};
use crate::coverage::Seen;
use crate::options::{BporOpt, Options, Reduction};
use crate::order::Order;
use crate::order::best_first::TreeUnit;
use crate::peers::without_operations;
use crate::reduction::graphs::GraphUnit;
use crate::reduction::stack::{Node, StackUnit};
use crate::search::Found;
use crate::unit::{OptimalUnit, Unit};
use crate::visited::Visited;
use mazurka_core::{Decision, MemoryModel, Statistics};
use parts::SplitPart;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A search that was stopped, with everything that is left to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    reduction: Reduction,
    memory: Option<MemoryModel>,
    sleep: bool,
    stateful: bool,
    bounds: Vec<Bound>,
    bpor_opt: Option<Vec<BporOpt>>,
    order: Order,
    seed: u64,
    /// What was looked for: what was not cannot be claimed later.
    properties: Properties,
    /// A hash of one execution of the program: another program is told apart by it.
    pub(crate) program: u64,
    pub(crate) statistics: Statistics,
    /// Some execution was cut at the depth limit.
    pub(crate) cut: bool,
    /// Which bound was met.
    pub(crate) exceeded: Exceeded,
    /// How much of the whole was explored, as far as one could guess.
    pub(crate) explored: f64,
    /// The first violation, if there was one already.
    pub(crate) found: Option<Found>,
    /// What the system has to know before the search goes on, in a form of its own.
    system: Vec<u8>,
    /// Which part it is of a search that was split, if it is one.
    part: Option<SplitPart>,
    units: Vec<SavedUnit>,
    nodes: Vec<Node>,
    pub(crate) visited: Option<Visited>,
    /// The loops that were known to wait.
    pub(crate) waits: Waits,
    has_coverage: bool,
    /// The states that were counted, if they were.
    pub(crate) coverage: Option<Seen>,
}

/// What a search looks for, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Properties {
    deadlock: bool,
    race: bool,
    livelock: bool,
    max_depth: usize,
}

impl Properties {
    fn of(options: &crate::Options) -> Self {
        let &crate::Options { deadlock, race, livelock, max_depth, .. } = options;
        Self { deadlock, race, livelock, max_depth }
    }

    fn show(self) -> String {
        let named = [(self.deadlock, "deadlock"), (self.race, "race"), (self.livelock, "livelock")];
        let names: Vec<_> =
            named.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| *name).collect();
        format!(" --property {} and a depth of {}", names.join(","), self.max_depth)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum SavedUnit {
    Root,
    Optimal(OptimalUnit),
    Graph(GraphUnit),
    Tree(Box<TreeUnit>),
    Stack { nodes: Vec<u32>, stored: Vec<Option<u128>>, prefix: Vec<Decision> },
}

/// Why bytes are not a saved search that can go on here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// Something else.
    #[error("not a saved search")]
    NotSaved,
    /// Made by another version.
    #[error("the search was saved by another version of Mazurka")]
    OtherVersion,
    /// A file that cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Cut off or changed.
    #[error("the saved search is damaged: {0}")]
    Damaged(String),
    /// Made with other options.
    #[error("the search was saved with {saved}, and cannot go on with {asked}")]
    OtherOptions {
        /// The options then.
        saved: String,
        /// The options now.
        asked: String,
    },
    /// The search of a part has learnt what the other parts do not know.
    #[error(
        "the program does something in this part of the search that was not known when it was \
         split, and that changes what the other parts have to explore: split the search again, \
         after more executions"
    )]
    Void,
    /// Made of another program.
    #[error("the saved search belongs to another program, or another version of this one")]
    OtherProgram,
}

impl Saved {
    /// The first bytes; the number is the version of the form.
    const MAGIC: &'static str = "mzk-search-6\n";
    /// What all versions begin with.
    const FAMILY: &'static str = "mzk-search-";

    /// What is left of a search: these units.
    pub(crate) fn new(options: &crate::Options, program: u64, units: &[Unit]) -> Self {
        let mut saved = Self {
            reduction: options.reduction,
            memory: options.memory,
            sleep: options.sleep,
            stateful: options.stateful,
            bounds: options.bounds.clone(),
            bpor_opt: options.bpor_opt.clone(),
            order: options.order.clone(),
            seed: options.seed,
            properties: Properties::of(options),
            program,
            statistics: Statistics::default(),
            cut: false,
            exceeded: Exceeded::default(),
            explored: 0.0,
            found: None,
            system: Vec::new(),
            part: None,
            units: Vec::new(),
            nodes: Vec::new(),
            visited: None,
            waits: Waits::default(),
            has_coverage: options.coverage,
            coverage: None,
        };
        let mut known = BTreeMap::new();
        for unit in units {
            let unit = match unit {
                Unit::Root => SavedUnit::Root,
                Unit::Samples(_) => unreachable!("what is drawn at random is not saved"),
                Unit::Optimal(unit) => SavedUnit::Optimal(without_operations(unit)),
                Unit::Graph(unit) => SavedUnit::Graph(unit.clone()),
                Unit::Tree(unit) => SavedUnit::Tree(unit.clone()),
                Unit::Stack(unit) => {
                    let mut idxs = Vec::new();
                    for (name, node) in unit.nodes() {
                        idxs.push(*known.entry(name).or_insert_with(|| {
                            saved.nodes.push(node);
                            saved.nodes.len() as u32 - 1
                        }));
                    }
                    let stored = unit.stored().to_vec();
                    SavedUnit::Stack { nodes: idxs, stored, prefix: unit.prefix.clone() }
                }
            };
            saved.units.push(unit);
        }
        saved
    }

    /// The bounds that it was searched within.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// The bound it was searched within, beside a fair one.
    pub(crate) fn main_bound(&self) -> Option<Bound> {
        self.bounds.iter().copied().find(|bound| bound.kind != BoundKind::Fair)
    }

    /// How many units of work are left.
    pub fn n_units(&self) -> usize {
        self.units.len()
    }

    /// What was counted before the search was stopped.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub(crate) fn units(&self) -> Result<Vec<Unit>, SavedError> {
        let nodes: Vec<_> = self.nodes.iter().map(|&node| Arc::new(Mutex::new(node))).collect();
        let revive = |unit: &SavedUnit| match unit {
            SavedUnit::Root => Ok(Unit::Root),
            SavedUnit::Optimal(unit) => Ok(Unit::Optimal(unit.clone())),
            SavedUnit::Graph(unit) => Ok(Unit::Graph(unit.clone())),
            SavedUnit::Tree(unit) => Ok(Unit::Tree(unit.clone())),
            SavedUnit::Stack { nodes: idxs, stored, prefix } => {
                let own: Option<Vec<_>> =
                    idxs.iter().map(|&idx| nodes.get(idx as usize).cloned()).collect();
                let fits = prefix.len() + 1 == idxs.len() && stored.len() == idxs.len();
                match own.filter(|_| fits) {
                    Some(own) => {
                        Ok(Unit::Stack(StackUnit::new(own, stored.clone(), prefix.clone())))
                    }
                    None => Err(SavedError::Damaged("a unit has states that are not there".into())),
                }
            }
        };
        self.units.iter().map(revive).collect()
    }

    /// Whether it can go on with these options.
    pub fn fits(&self, options: &crate::Options) -> Result<(), SavedError> {
        let then = Options {
            reduction: self.reduction,
            memory: self.memory,
            sleep: self.sleep,
            stateful: self.stateful,
            bounds: self.bounds.clone(),
            bpor_opt: self.bpor_opt.clone(),
            order: self.order.clone(),
            seed: self.seed,
            coverage: self.has_coverage,
            ..Options::default()
        };
        let saved = shown(&then, self.properties);
        let asked = shown(options, Properties::of(options));
        if saved == asked { Ok(()) } else { Err(SavedError::OtherOptions { saved, asked }) }
    }

    /// Adds what the system has to know before the search goes on.
    pub fn set_system(&mut self, system: Vec<u8>) {
        self.system = system;
    }

    /// What the system has to know before the search goes on.
    pub fn system(&self) -> &[u8] {
        &self.system
    }

    /// Writes it to a file: all of it, or nothing, so that what was there before stays until then.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut part = path.as_os_str().to_owned();
        part.push(PART);
        remove_left_behind(Path::new(&part));
        // Two commands may write the same file.
        part.push(std::process::id().to_string());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let written =
            std::fs::write(&part, self.to_bytes()).and_then(|()| std::fs::rename(&part, path));
        if written.is_err() {
            // A part of a file is of no use to anybody.
            let _ = std::fs::remove_file(&part);
        }
        written
    }

    /// Reads it from a file.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let bytes =
            std::fs::read(path).map_err(|error| SavedError::Unreadable(error.to_string()))?;
        Self::from_bytes(&bytes)
    }

    /// Whether another process can go on with it. Trees of executions have the numbers of one
    /// process in them.
    pub fn may_travel(&self) -> bool {
        !self.units.iter().any(|unit| matches!(unit, SavedUnit::Tree(_) | SavedUnit::Graph(_)))
            && self.visited.is_none()
            && !self.has_coverage
    }

    /// Its compact binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(self).expect("everything in it can be written");
        let mut hash = rustc_hash::FxHasher::default();
        std::hash::Hasher::write(&mut hash, &body);
        let check = std::hash::Hasher::finish(&hash).to_le_bytes();
        [Self::MAGIC.as_bytes(), &check, &body].concat()
    }

    /// Reads the compact binary form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedError> {
        let Some(rest) = bytes.strip_prefix(Self::MAGIC.as_bytes()) else {
            let is_other = bytes.starts_with(Self::FAMILY.as_bytes());
            return Err(if is_other { SavedError::OtherVersion } else { SavedError::NotSaved });
        };
        let Some((check, body)) = rest.split_first_chunk::<8>() else {
            return Err(SavedError::Damaged("it ends too early".into()));
        };
        let mut hash = rustc_hash::FxHasher::default();
        std::hash::Hasher::write(&mut hash, body);
        if std::hash::Hasher::finish(&hash).to_le_bytes() != *check {
            return Err(SavedError::Damaged("its contents do not match their checksum".into()));
        }
        postcard::from_bytes(body).map_err(|error| SavedError::Damaged(error.to_string()))
    }
}

/// What comes behind the name of a file that is being written, before the number of the process.
const PART: &str = ".part-";

/// Removes what commands that were killed have left of files that they were writing: `part` is what
/// their names begin with. Where it is not known which processes there are, all of it stays.
fn remove_left_behind(part: &Path) {
    let folder = part.parent().filter(|folder| !folder.as_os_str().is_empty());
    let processes = Path::new("/proc");
    let begins = part.file_name().and_then(|it| it.to_str());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let (Some(begins), Ok(entries)) = (begins, entries) else { return };
    if !processes.join(std::process::id().to_string()).exists() {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(begins)?.parse::<u32>().ok());
        if number.is_some_and(|it| !processes.join(it.to_string()).exists()) {
            // Another command may be faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// All that has to be the same when a search goes on.
fn shown(options: &Options, properties: Properties) -> String {
    let Options { reduction, stateful, bounds, bpor_opt, order, seed, .. } = options;
    let sleep = if options.sleep { "on" } else { "off" };
    let stateful = if *stateful { " --stateful" } else { "" };
    let bounds: String = bounds.iter().map(|bound| format!(" --bound {bound}")).collect();
    let names = |opts: &Vec<BporOpt>| opts.iter().map(|opt| opt.name()).collect::<Vec<_>>();
    let opts = bpor_opt.as_ref().map(|opts| format!(" --bpor-opt {}", names(opts).join(",")));
    let opts = opts.unwrap_or_default();
    let order = match order {
        Order::DepthFirst => String::new(),
        order => format!(" --order {order} --seed {seed}"),
    };
    let memory = options.memory.map_or(String::new(), |memory| format!(" --memory {memory}"));
    let coverage = if options.coverage { " --coverage" } else { "" };
    format!(
        "--reduction {reduction} --sleep {sleep}{stateful}{memory}{bounds}{opts}{order}{coverage}{}",
        properties.show(),
    )
}
