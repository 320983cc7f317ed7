//! Claims: what a search has established, of which executions, and what it took for granted.
//!
//! A [`Coverage`] is made of [`Property`], [`Bound`] and [`Assumption`], and its sentence is
//! written here and nowhere else. What the program causes (an access that is not sequentially
//! consistent, a call of `malloc`), its front end adds, so that no engine can forget it; what a
//! search causes (a bound, hashes in the place of states), the search adds.

use crate::{Location, MemoryModel, MemoryOrder, WeakAccess};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that was looked for and not found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Property {
    /// An assertion that fails.
    Assertion,
    /// A panic, an abort or a signal.
    Crash,
    /// An invalid access to memory.
    Memory,
    /// A signed overflow.
    Overflow,
    /// A value that does not fit where it is assigned.
    Truncation,
    /// Memory that is never freed.
    Leak,
    /// Threads that wait for ever.
    Deadlock,
    /// A process that stops where it should not.
    InvalidEnd,
    /// Two conflicting accesses, one of them plain, that happens-before does not order.
    Race,
    /// An execution that never ends.
    Livelock,
    /// A cycle without progress.
    Progress,
    /// A cycle through an acceptance state.
    Acceptance,
    /// A formula of linear temporal logic, or a never claim, of this name.
    Temporal(String),
}

impl Property {
    /// Where it comes in a sentence: as the list above has it, formulae as they come.
    fn rank(&self) -> u8 {
        match self {
            Self::Assertion => 0,
            Self::Crash => 1,
            Self::Memory => 2,
            Self::Overflow => 3,
            Self::Truncation => 4,
            Self::Leak => 5,
            Self::Deadlock => 6,
            Self::InvalidEnd => 7,
            Self::Race => 8,
            Self::Livelock => 9,
            Self::Progress => 10,
            Self::Acceptance => 11,
            Self::Temporal(_) => 12,
        }
    }

    /// The word in the JSON output: that of the violation, where there is one.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Temporal(_) => "ltl",
            Self::Progress => "non-progress",
            Self::Acceptance => "acceptance",
            Self::Assertion => "assertion",
            Self::Crash => "panic",
            Self::Memory => "memory",
            Self::Overflow => "overflow",
            Self::Truncation => "truncation",
            Self::Leak => "leak",
            Self::Deadlock => "deadlock",
            Self::InvalidEnd => "invalid-end",
            Self::Race => "race",
            Self::Livelock => "livelock",
        }
    }
}

/// What is excluded, as in "no … in any execution".
impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Temporal(name) => return write!(f, "violation of {name}"),
            Self::Progress => "non-progress cycle",
            Self::Acceptance => "acceptance cycle",
            Self::Assertion => "assertion failure",
            Self::Crash => "crash",
            Self::Memory => "memory error",
            Self::Overflow => "overflow",
            Self::Truncation => "truncated value",
            Self::Leak => "leak",
            Self::Deadlock => "deadlock",
            Self::InvalidEnd => "invalid end state",
            Self::Race => "data race",
            Self::Livelock => "livelock",
        })
    }
}

/// Executions beyond which nothing is claimed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Bound {
    /// So many steps.
    Depth(u32),
    /// So many context switches.
    Context(u32),
    /// So many preemptions.
    Preemption(u32),
    /// So many deviations from round-robin scheduling.
    Delta(u32),
    /// A thread is so many yields ahead of another one.
    Fair(u32),
    /// A loop that waits goes round so often in a row without seeing anything new.
    Rounds(u32),
    /// So many steps in the causal past of each step.
    LocalDepth(u32),
    /// So many context switches in the causal past of each step.
    LocalContext(u32),
    /// So many frames of a circuit, each of them a step.
    Frames(usize),
    /// Calls of a function by itself.
    Recursion,
    /// So many threads that one thread starts.
    Threads(u32),
    /// So many blocks that are allocated in one place.
    Blocks(u32),
    /// So many bytes of a block.
    BlockBytes(u32),
    /// One part of a search that was split.
    Part {
        /// Which one, from 1.
        number: u32,
        /// How many there are.
        of: u32,
    },
}

impl Bound {
    /// The word in the JSON output: that of the option, where there is one.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Depth(_) => "depth",
            Self::Context(_) => "context",
            Self::Preemption(_) => "preemption",
            Self::Delta(_) => "delta",
            Self::Fair(_) => "fair",
            Self::Rounds(_) => "rounds",
            Self::LocalDepth(_) => "local-depth",
            Self::LocalContext(_) => "local-context",
            Self::Frames(_) => "steps",
            Self::Recursion => "recursion",
            Self::Threads(_) => "threads",
            Self::Blocks(_) => "blocks",
            Self::BlockBytes(_) => "block-bytes",
            Self::Part { .. } => "part",
        }
    }

    /// The number in it, if there is one.
    pub fn limit(&self) -> Option<u64> {
        match *self {
            Self::Depth(n)
            | Self::Context(n)
            | Self::Preemption(n)
            | Self::Delta(n)
            | Self::Fair(n)
            | Self::Rounds(n)
            | Self::LocalDepth(n)
            | Self::LocalContext(n)
            | Self::Threads(n)
            | Self::Blocks(n)
            | Self::BlockBytes(n) => Some(n.into()),
            Self::Frames(n) => Some(n as u64),
            Self::Part { number, .. } => Some(number.into()),
            Self::Recursion => None,
        }
    }
}

/// Which executions are within it, as in "in any execution …".
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: u32, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let steps = |n| counted(n, "step", "steps");
        let switches = |n| counted(n, "context switch", "context switches");
        match *self {
            Self::Depth(n) => write!(f, "with at most {}", steps(n)),
            Self::Context(n) => write!(f, "with at most {}", switches(n)),
            Self::Preemption(n) => {
                write!(f, "with at most {}", counted(n, "preemption", "preemptions"))
            }
            Self::Delta(n) => {
                let deviations = counted(n, "deviation", "deviations");
                write!(f, "with at most {deviations} from round-robin scheduling")
            }
            Self::Fair(n) => {
                let yields = counted(n, "yield", "yields");
                write!(f, "in which no thread moves that is over {yields} ahead of one that could")
            }
            Self::Rounds(n) => {
                let rounds = counted(n, "round", "rounds");
                write!(f, "in which a loop that waits lets others move after {rounds} in vain")
            }
            Self::LocalDepth(n) => write!(f, "whose steps each know of at most {}", steps(n)),
            Self::LocalContext(n) => write!(f, "whose steps each know of at most {}", switches(n)),
            Self::Frames(n) => write!(f, "of up to {n} steps"),
            Self::Recursion => write!(f, "until a function calls itself more often than the bound"),
            Self::Threads(n) => write!(f, "until a thread starts more than {n} others"),
            Self::Blocks(n) => write!(f, "until more than {n} blocks are allocated in one place"),
            Self::BlockBytes(n) => write!(f, "until a block has more than {n} bytes"),
            Self::Part { number, of } => write!(f, "of part {number} of {of}"),
        }
    }
}

/// Which executions a temporal property is about, of those that never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fairness {
    /// A process that can always move does.
    Weak,
    /// A process that can move again and again does.
    Strong,
    /// A step that nothing depends on is not left out for ever.
    Trace,
}

/// Something that a verdict takes for granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Assumption {
    /// Memory is sequentially consistent, although the language promises less for these accesses.
    SequentialConsistency(Vec<WeakAccess>),
    /// Memory is sequentially consistent, although races are allowed.
    RacesAllowed,
    /// There is no data race: none was looked for.
    NoRace,
    /// Nothing is freed or destroyed while another thread may use it: that was not looked for.
    NoEarlyEnd,
    /// The compiled standard library's atomics are as strong as their machine code.
    CompiledAtomics,
    /// Accesses to these atomics are in one order, and each comes after the one before it, although
    /// the memory model promises less: some of them are made by compiled code.
    OrderedAtomics(Vec<String>),
    /// Accesses in assembly, of which this is the first, are sequentially consistent.
    Assembly(Option<Location>),
    /// Assembly that is not seen touches nothing that threads share; the first is here.
    UnseenAssembly(Location),
    /// Only fair executions count.
    Fair(Fairness),
    /// No thread goes round a loop for ever: that was not looked for.
    NoSpinning,
    /// Two states with one hash were not met, which goes wrong with these odds.
    HashCollision {
        /// How many bits a hash has.
        bits: u32,
        /// The odds that any two of the states have one.
        odds: f64,
    },
    /// A state was not taken for another one by its bits in a table, which goes wrong with these
    /// odds.
    Bitstate {
        /// How many bits stand for a state.
        bits: u32,
        /// The odds, for each state.
        odds: f64,
    },
    /// Waiting for a condition variable ends with a notification or in time.
    NoSpuriousWakeups(Option<Location>),
    /// A weak compare-and-swap fails only where the value differs.
    NoSpuriousFailure,
    /// No execution gets past this assumption of the program, so nothing behind it was checked.
    NothingSurvives(Option<Location>),
    /// Every execution ends at a failed assumption of the program, such as this one.
    NothingEnds(Option<Location>),
    /// Variables without an initial value are written before they are read.
    Uninitialised(Option<Location>),
    /// A function that allocates succeeds.
    Allocation {
        /// Its name.
        function: String,
        /// Whether its memory has no value before it is written.
        is_uninitialised: bool,
        /// Whether it may move a block, and need not.
        moves: bool,
    },
    /// What prints does not fail.
    Printing,
    /// What prints by a computed format, fractions or pointers returns 0.
    PrintingReturnsZero,
    /// Clocks stand still.
    ClocksStandStill,
    /// A function without a body does nothing, and returns any value or 0.
    Extern {
        /// Its name.
        function: String,
        /// Whether it returns any value.
        is_nondeterministic: bool,
    },
    /// Values from outside are in this range.
    NondetRange {
        /// The smallest.
        low: i64,
        /// The greatest.
        high: i64,
    },
    /// No semaphore is destroyed while a thread waits for it.
    SemaphoresOutliveWaits,
    /// Waits with a time limit do not expire, or no thread has one expire more often than this.
    TimedWaits(u32),
    /// Threads are cancelled where they wait, sleep or test for it.
    DeferredCancellation,
    /// Calls of trusted libraries, of these names, do what they promise, each at one point in time.
    TrustedCalls(Vec<String>),
    /// Time passes only when no thread can move: nothing takes longer than a timeout waits for.
    VirtualTime,
    /// A loop that went round so many times in vain never ends by itself.
    EndlessLoop(u32),
    /// The rounds of a loop that waits do not matter.
    RoundsOfWaits,
    /// A call that cannot be repeated does the same each time.
    RepeatedCall(String),
    /// A call that cannot be repeated fails.
    FailingCall(String),
    /// Functions of a library that was compiled without the instrumentation touch nothing that
    /// threads share.
    UninstrumentedCalls {
        /// Its name, without folder and version.
        library: String,
        /// Those that the program imports.
        functions: Vec<String>,
    },
    /// Of an access to more bytes than these, such as by `memcpy`, no more were looked at for data
    /// races.
    LongAccesses(u64),
    /// Libraries that the program loads as it runs, by this function, touch nothing that threads
    /// share.
    LoadedLibraries(String),
}

impl Assumption {
    /// That so many states have hashes of their own, of this many bits.
    pub fn of_hashes(bits: u32, n_states: u64) -> Self {
        // The number of pairs, times the odds that the two are alike.
        let pairs = n_states as f64 * n_states as f64 / 2.0;
        Self::HashCollision { bits, odds: (pairs / 2f64.powi(bits as i32)).min(1.0) }
    }

    /// The word in the JSON output.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SequentialConsistency(_) | Self::RacesAllowed => "sequential-consistency",
            Self::NoRace => "no-data-race",
            Self::NoEarlyEnd => "no-early-end",
            Self::CompiledAtomics => "compiled-atomics",
            Self::OrderedAtomics(_) => "ordered-atomics",
            Self::Assembly(_) => "assembly",
            Self::UnseenAssembly(_) => "unseen-assembly",
            Self::Fair(_) => "fairness",
            Self::NoSpinning => "no-spinning",
            Self::HashCollision { .. } => "hash-collision",
            Self::Bitstate { .. } => "bitstate",
            Self::NoSpuriousWakeups(_) => "no-spurious-wake-ups",
            Self::NoSpuriousFailure => "no-spurious-failure",
            Self::NothingSurvives(_) | Self::NothingEnds(_) => "nothing-survives",
            Self::Uninitialised(_) => "uninitialised",
            Self::Allocation { .. } => "allocation",
            Self::Printing | Self::PrintingReturnsZero => "printing",
            Self::ClocksStandStill => "clocks",
            Self::Extern { .. } => "extern",
            Self::NondetRange { .. } => "nondet-range",
            Self::SemaphoresOutliveWaits => "semaphores-outlive-waits",
            Self::TimedWaits(_) => "timed-waits",
            Self::DeferredCancellation => "deferred-cancellation",
            Self::TrustedCalls(_) => "trusted-calls",
            Self::VirtualTime => "virtual-time",
            Self::EndlessLoop(_) => "endless-loop",
            Self::RoundsOfWaits => "rounds-of-waits",
            Self::RepeatedCall(_) | Self::FailingCall(_) => "unrepeatable-call",
            Self::LongAccesses(_) => "long-accesses",
            Self::UninstrumentedCalls { .. } | Self::LoadedLibraries(_) => "uninstrumented-call",
        }
    }

    /// Where in the program it comes from, as far as that is known.
    pub fn places(&self) -> Vec<Location> {
        match self {
            Self::SequentialConsistency(accesses) => {
                accesses.iter().filter_map(|access| access.location.clone()).collect()
            }
            Self::NoSpuriousWakeups(place)
            | Self::NothingSurvives(place)
            | Self::NothingEnds(place)
            | Self::Uninitialised(place) => place.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the program causes it, whatever engine looks at it; else, the engine or the model
    /// does.
    pub fn is_of_program(&self) -> bool {
        matches!(
            self,
            Self::SequentialConsistency(_)
                | Self::NoSpuriousWakeups(_)
                | Self::NoSpuriousFailure
                | Self::Uninitialised(_)
                | Self::Allocation { .. }
                | Self::Printing
        )
    }

    /// The odds that it is wrong by chance, where that is what is assumed.
    pub fn odds(&self) -> Option<f64> {
        match *self {
            Self::HashCollision { odds, .. } | Self::Bitstate { odds, .. } => Some(odds),
            _ => None,
        }
    }
}

/// The assumption as the end of a sentence: "assuming …".
impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |place: &Option<Location>| match place {
            Some(place) => format!(" at {}:{}", place.file, place.line),
            None => String::new(),
        };
        match self {
            Self::SequentialConsistency(accesses) => {
                write!(f, "sequentially consistent memory")?;
                match accesses.split_at_checked(MAX_TOLD) {
                    None if accesses.is_empty() => Ok(()),
                    None => write!(f, " ({})", listed(accesses)),
                    Some((first, [])) => write!(f, " ({})", listed(first)),
                    Some((first, more)) => {
                        write!(f, " ({}; and {} more)", listed(first), more.len())
                    }
                }
            }
            Self::RacesAllowed => {
                write!(f, "sequentially consistent memory (data races are allowed)")
            }
            Self::NoRace => write!(f, "no data race"),
            Self::NoEarlyEnd => write!(f, "nothing ends while another thread may use it"),
            Self::CompiledAtomics => {
                write!(f, "atomics of the compiled standard library as strong as its machine code")
            }
            Self::OrderedAtomics(names) => write!(
                f,
                "sequentially consistent accesses to {}, which compiled code or volatile accesses \
                 share",
                enumerated(names)
            ),
            Self::Assembly(place) => {
                write!(f, "sequentially consistent accesses in assembly")?;
                place.iter().try_for_each(|place| write!(f, " (the first at {place})"))
            }
            Self::UnseenAssembly(place) => write!(
                f,
                "that assembly touches nothing that threads share, but by locked instructions (the \
                 first at {place})"
            ),
            Self::Fair(Fairness::Weak) => write!(f, "that it is weakly fair to every process"),
            Self::Fair(Fairness::Strong) => write!(f, "that it is strongly fair to every process"),
            Self::Fair(Fairness::Trace) => {
                write!(f, "that it leaves no step out that nothing depends on")
            }
            Self::NoSpinning => write!(f, "no thread spins for ever"),
            Self::HashCollision { bits, odds } => write!(
                f,
                "no two states have the same hash of {bits} bits (they do with a probability of \
                 {odds:.1e})"
            ),
            Self::Bitstate { bits, odds } => write!(
                f,
                "no state was taken for another one by its {bits} bits (each may have been, with a \
                 probability of up to {odds:.1e})"
            ),
            Self::NoSpuriousWakeups(place) => write!(f, "no spurious wake-ups{}", at(place)),
            Self::NoSpuriousFailure => {
                write!(f, "a weak compare-and-swap fails only for a reason")
            }
            Self::NothingSurvives(place) => {
                write!(f, "no execution gets past the assumption{}", at(place))
            }
            Self::NothingEnds(place) => {
                write!(f, "every execution ends at a failed assumption, such as that{}", at(place))
            }
            Self::Uninitialised(place) => {
                write!(f, "no variable is read before it has a value (one has none{})", at(place))
            }
            Self::Allocation { function, is_uninitialised, moves } => {
                write!(f, "`{function}` succeeds")?;
                if *moves {
                    write!(f, ", whether or not it moves the block makes no difference")?;
                }
                match is_uninitialised {
                    true => write!(f, ", and its memory is not read before it is written"),
                    false => Ok(()),
                }
            }
            Self::Printing => write!(f, "what prints succeeds"),
            Self::PrintingReturnsZero => write!(
                f,
                "what prints by a computed format, floating-point numbers or pointers returns 0"
            ),
            Self::ClocksStandStill => write!(f, "clocks stand still"),
            Self::Extern { function, is_nondeterministic: true } => {
                write!(f, "`{function}` returns any value and does nothing else")
            }
            Self::Extern { function, is_nondeterministic: false } => {
                write!(f, "`{function}` returns 0 and does nothing else")
            }
            Self::NondetRange { low, high } => {
                write!(f, "nondeterministic values are from {low} to {high}")
            }
            Self::SemaphoresOutliveWaits => {
                write!(f, "no semaphore is destroyed while it is waited for")
            }
            Self::TimedWaits(0) => write!(
                f,
                "that timed waits do not time out and locks that are tried for are waited for"
            ),
            Self::TimedWaits(n) => write!(
                f,
                "that no thread has timed out or tried for a lock in vain more than {n} times"
            ),
            Self::TrustedCalls(names) => write!(
                f,
                "that threads, locks, once cells, channels and barriers of {} do what they promise \
                 and wake no thread without a reason",
                enumerated(names)
            ),
            Self::VirtualTime => {
                write!(f, "that nothing takes longer than a sleep or a timeout waits for")
            }
            Self::DeferredCancellation => write!(
                f,
                "that threads are cancelled where they wait, sleep or test for it, and nowhere else"
            ),
            Self::EndlessLoop(n) => {
                write!(
                    f,
                    "that a loop which once went round {n} times in vain never ends by itself"
                )
            }
            Self::RoundsOfWaits => {
                write!(f, "that it does not matter how often a loop that waits goes round")
            }
            Self::RepeatedCall(name) => write!(f, "that `{name}` does the same each time"),
            Self::FailingCall(name) => write!(f, "that `{name}` fails"),
            Self::UninstrumentedCalls { library, functions } => {
                let verb = if functions.len() == 1 { "touches" } else { "touch" };
                let functions = enumerated(functions);
                write!(f, "that {functions} ({library}) {verb} nothing that threads share")
            }
            Self::LongAccesses(n) => {
                write!(f, "that no race is beyond the first {n} bytes of an access by one call")
            }
            Self::LoadedLibraries(function) => write!(
                f,
                "that libraries which `{function}` loads touch nothing that threads share"
            ),
        }
    }
}

/// How many accesses the sentence names; JSON has them all.
const MAX_TOLD: usize = 3;

/// "`deflate`, `inflate` and 3 more".
fn enumerated(names: &[String]) -> String {
    let (told, more) = names.split_at(names.len().min(MAX_TOLD));
    let mut told: Vec<String> = told.iter().map(|name| format!("`{name}`")).collect();
    if !more.is_empty() {
        told.push(format!("{} more", more.len()));
    }
    match told.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// "`ready` is accessed with relaxed order at x.c:7; …".
fn listed(accesses: &[WeakAccess]) -> String {
    accesses.iter().map(WeakAccess::to_string).collect::<Vec<_>>().join("; ")
}

impl WeakAccess {
    /// Whether the same line has another access to the same object in the same way.
    fn is_told_as(&self, other: &Self) -> bool {
        let told = |it: &Self| {
            let line = it.location.as_ref().map(|place| (place.file.clone(), place.line));
            (it.object.clone(), it.order, line)
        };
        told(self) == told(other)
    }
}

impl fmt::Display for WeakAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            // Of accesses that are not atomic, only volatile ones are told.
            None => write!(f, "`{}` is volatile", self.object)?,
            Some(MemoryOrder::SequentiallyConsistent) => write!(f, "`{}` is atomic", self.object)?,
            Some(order) => write!(f, "`{}` is accessed with {order} order", self.object)?,
        }
        match &self.location {
            Some(place) => write!(f, " at {}:{}", place.file, place.line),
            None => Ok(()),
        }
    }
}

/// What a search without a violation has established.
///
/// Its sentence names the properties, the bound and the assumptions. There is no way to make
/// one that says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    properties: Vec<Property>,
    bounds: Vec<Bound>,
    assumptions: Vec<Assumption>,
    /// The memory model, if it is not sequential consistency.
    #[serde(default)]
    memory: Option<MemoryModel>,
}

impl Coverage {
    /// None of these `properties` is violated in any execution.
    ///
    /// # Panics
    ///
    /// If no property is named: a coverage without one would be an empty claim.
    pub fn of(properties: impl IntoIterator<Item = Property>) -> Self {
        let mut properties: Vec<Property> = properties.into_iter().collect();
        properties.sort_by_key(Property::rank);
        properties.dedup();
        assert!(!properties.is_empty(), "a coverage names what was checked");
        Self { properties, bounds: Vec::new(), assumptions: Vec::new(), memory: None }
    }

    /// About the executions of a memory model: nothing is assumed then of accesses that are weaker
    /// than sequentially consistent. Those that are volatile and not atomic have no meaning in it.
    pub fn under(mut self, model: MemoryModel) -> Self {
        self.memory = Some(model).filter(|&model| model != MemoryModel::Sc);
        let assumptions = std::mem::take(&mut self.assumptions);
        self.assuming_all(assumptions)
    }

    /// The memory model that it is about.
    pub fn memory(&self) -> MemoryModel {
        self.memory.unwrap_or(MemoryModel::Sc)
    }

    /// Restricts it to executions that meet a bound.
    pub fn within(mut self, bound: Bound) -> Self {
        self.bounds.push(bound);
        self
    }

    /// Adds something that was taken for granted. Accesses that are named already are not named
    /// again.
    pub fn assuming(mut self, mut assumption: Assumption) -> Self {
        if let (Some(_), Assumption::SequentialConsistency(accesses)) =
            (self.memory, &mut assumption)
        {
            accesses.retain(|access| access.order.is_none());
            if accesses.is_empty() {
                return self;
            }
        }
        if let Assumption::SequentialConsistency(more) = &assumption {
            for known in &mut self.assumptions {
                if let Assumption::SequentialConsistency(named) = known {
                    // Compilers do not agree on columns.
                    let is_new = |it: &&WeakAccess| !named.iter().any(|known| known.is_told_as(it));
                    let new: Vec<WeakAccess> = more.iter().filter(is_new).cloned().collect();
                    named.extend(new);
                    return self;
                }
            }
        }
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
        self
    }

    /// Adds all that was taken for granted.
    pub fn assuming_all(self, assumptions: impl IntoIterator<Item = Assumption>) -> Self {
        assumptions.into_iter().fold(self, Self::assuming)
    }

    /// Changes the places in what was taken for granted: how files are called.
    pub fn for_each_place(&mut self, mut change: impl FnMut(&mut Location)) {
        for assumption in &mut self.assumptions {
            match assumption {
                Assumption::SequentialConsistency(accesses) => {
                    accesses.iter_mut().filter_map(|it| it.location.as_mut()).for_each(&mut change);
                }
                Assumption::NoSpuriousWakeups(place)
                | Assumption::Assembly(place)
                | Assumption::NothingSurvives(place)
                | Assumption::NothingEnds(place)
                | Assumption::Uninitialised(place) => place.iter_mut().for_each(&mut change),
                Assumption::UnseenAssembly(place) => change(place),
                _ => {}
            }
        }
    }

    /// The same under these assumptions, and no others.
    pub fn assuming_only(self, assumptions: Vec<Assumption>) -> Self {
        Self { assumptions: Vec::new(), ..self }.assuming_all(assumptions)
    }

    /// What both establish, of the executions that both are about.
    pub fn and(mut self, other: Self) -> Self {
        self.properties.extend(other.properties);
        self.properties.sort_by_key(Property::rank);
        self.properties.dedup();
        let new: Vec<Bound> =
            other.bounds.into_iter().filter(|bound| !self.bounds.contains(bound)).collect();
        self.bounds.extend(new);
        self.memory = self.memory.or(other.memory);
        self.assuming_all(other.assumptions)
    }

    /// What was looked for.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Beyond what nothing is claimed; nothing if it is about every execution.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// What was taken for granted.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// Whether it covers every execution.
    pub fn is_unbounded(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The odds that it is wrong because a state was taken for another one; `None` if that cannot
    /// be.
    pub fn odds(&self) -> Option<f64> {
        self.assumptions
            .iter()
            .filter_map(Assumption::odds)
            .reduce(|one, other| (one + other).min(1.0))
    }

    /// How far it goes, for a headline: "in every interleaving".
    pub fn scope(&self) -> String {
        if let [part @ Bound::Part { .. }] = &*self.bounds {
            return format!("in every execution {part}");
        }
        let executions = match (self.bounds.is_empty(), self.fairness().is_some()) {
            (true, false) => match self.memory() {
                MemoryModel::Sc => "in every interleaving",
                MemoryModel::Tso => "in every execution that x86 allows",
                MemoryModel::Ra => "in every execution under release and acquire",
                MemoryModel::Rc11 => "in every execution that C11 allows",
            },
            (true, true) => "in every fair execution",
            (false, _) => "within the bound",
        };
        match self.odds() {
            Some(odds) => format!("probably, {executions} (wrong with odds of {odds:.1e})"),
            None => executions.to_owned(),
        }
    }

    /// Which executions count, if not all do.
    pub fn fairness(&self) -> Option<Fairness> {
        self.assumptions.iter().find_map(|assumption| match assumption {
            Assumption::Fair(fairness) => Some(*fairness),
            _ => None,
        })
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, first) = self.properties.split_last().expect("there is a property");
        write!(f, "no ")?;
        for (idx, property) in first.iter().enumerate() {
            write!(f, "{property}{}", if idx + 1 < first.len() { ", " } else { " or " })?;
        }
        write!(f, "{last} in {}", self.memory().executions())?;
        for (idx, bound) in self.bounds.iter().enumerate() {
            let is_until = matches!(
                bound,
                Bound::Recursion | Bound::Threads(_) | Bound::Blocks(_) | Bound::BlockBytes(_)
            );
            write!(f, " {}{bound}", if idx == 0 || is_until { "" } else { "and " })?;
        }
        for (idx, assumption) in self.assumptions.iter().enumerate() {
            write!(f, "{} {assumption}", if idx == 0 { ", assuming" } else { " and" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_coverage_is_a_sentence() {
        let all = Coverage::of([Property::Assertion, Property::Deadlock, Property::Race]);
        expect!["no assertion failure, deadlock or data race in any execution"]
            .assert_eq(&all.to_string());
        let bounded = Coverage::of([Property::Deadlock])
            .within(Bound::Preemption(2))
            .assuming(Assumption::ClocksStandStill);
        expect![
            "no deadlock in any execution with at most 2 preemptions, assuming clocks stand still"
        ]
        .assert_eq(&bounded.to_string());
        assert!(all.is_unbounded() && !bounded.is_unbounded());
        let both = all.and(bounded).within(Bound::Fair(1)).within(Bound::Threads(4));
        expect!["no assertion failure, deadlock or data race in any execution with at most 2 preemptions and in which no thread moves that is over 1 yield ahead of one that could until a thread starts more than 4 others, assuming clocks stand still"]
            .assert_eq(&both.to_string());
    }

    #[test]
    fn a_memory_model_says_which_executions() {
        let access = |order| WeakAccess { object: "x".to_owned(), order, location: None };
        let relaxed = access(Some(MemoryOrder::Relaxed));
        let assumption = Assumption::SequentialConsistency(vec![relaxed, access(None)]);
        let before = Coverage::of([Property::Race]).assuming(assumption.clone());
        let weak = before.under(MemoryModel::Rc11);
        expect!["no data race in any execution that C11 allows (RC11: no load buffering), assuming sequentially consistent memory (`x` is volatile)"]
            .assert_eq(&weak.to_string());
        expect!["in every execution that C11 allows"].assert_eq(&weak.scope());
        let after = Coverage::of([Property::Race]).under(MemoryModel::Rc11).assuming(assumption);
        assert_eq!(weak, after);
    }

    #[test]
    fn weak_accesses_are_named_with_their_places() {
        let place = |line| Location {
            file: "x.c".to_owned(),
            line,
            column: 3,
            function: None,
            within: None,
            is_library: false,
        };
        let access = |object: &str, order, line| WeakAccess {
            object: object.to_owned(),
            order,
            location: Some(place(line)),
        };
        let mut accesses = vec![
            access("ready", Some(MemoryOrder::Relaxed), 7),
            access("done", None, 9),
            access("head", Some(MemoryOrder::Release), 12),
        ];
        let told = |accesses: &[WeakAccess]| {
            Assumption::SequentialConsistency(accesses.to_vec()).to_string()
        };
        expect!["sequentially consistent memory (`ready` is accessed with relaxed order at x.c:7; `done` is volatile at x.c:9; `head` is accessed with release order at x.c:12)"]
            .assert_eq(&told(&accesses));
        accesses.push(access("tail", Some(MemoryOrder::Acquire), 13));
        expect!["sequentially consistent memory (`ready` is accessed with relaxed order at x.c:7; `done` is volatile at x.c:9; `head` is accessed with release order at x.c:12; and 1 more)"]
            .assert_eq(&told(&accesses));
        expect!["sequentially consistent memory"].assert_eq(&told(&[]));
    }

    #[test]
    fn functions_of_other_libraries_are_named() {
        let of = |names: &[&str]| {
            let functions = names.iter().map(|&name| name.to_owned()).collect();
            Assumption::UninstrumentedCalls { library: "libz".to_owned(), functions }
        };
        expect!["that `deflate` (libz) touches nothing that threads share"]
            .assert_eq(&of(&["deflate"]).to_string());
        expect!["that `a`, `b` and `c` (libz) touch nothing that threads share"]
            .assert_eq(&of(&["a", "b", "c"]).to_string());
        expect!["that `a`, `b`, `c` and 2 more (libz) touch nothing that threads share"]
            .assert_eq(&of(&["a", "b", "c", "d", "e"]).to_string());
        assert_eq!(of(&["a"]).code(), Assumption::LoadedLibraries("dlopen".to_owned()).code());
    }

    #[test]
    fn what_rests_on_hashes_is_probable() {
        let exact = Coverage::of([Property::Deadlock]);
        assert_eq!((exact.scope().as_str(), exact.odds()), ("in every interleaving", None));
        let hashed = exact.clone().assuming(Assumption::HashCollision { bits: 64, odds: 1e-9 });
        expect!["probably, in every interleaving (wrong with odds of 1.0e-9)"]
            .assert_eq(&hashed.scope());
        let fair = exact.assuming(Assumption::Fair(Fairness::Weak));
        expect!["in every fair execution"].assert_eq(&fair.scope());
    }
}
