//! Bounds on executions. One file each.
//!
//! A bound gives every execution a value, and a search within the bound takes no step that would
//! lift the value over a limit. What it then proves is true of every execution within it:
//! "no failure is reachable with at most 2 preemptions".
//!
//! Three properties decide what a reduction has to do for a bound (Coons, *Fast Error Detection
//! with Coverage Guarantees for Concurrent Software*, PhD thesis, Definitions 2.6, 4.4 and 4.5);
//! the tests hold each bound to those it claims:
//!
//! - **monotonic**: no step lowers the value. All of them are.
//! - **stable**: executions of one trace have the same value.
//! - **extensible**: a step that is independent of what follows adds nothing to it: the value of
//!   both is the larger one.

mod context;
mod delta;
mod depth;
mod fair;
mod local_context;
mod local_depth;
mod preemption;
mod rounds;

pub(crate) use delta::ahead_of;
pub(crate) use rounds::Waits;

use crate::options::OptionError;
use mazurka_core::Bound as Claim;
use mazurka_core::{HappensBefore, Next, Operation, ThreadId, ThreadSet};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BoundKind {
    /// Steps.
    Depth,
    /// Switches from one thread to another.
    Context,
    /// Switches away from a thread that could have gone on.
    Preemption,
    /// Deviations from a round-robin scheduler.
    Delta,
    /// How often a thread may yield more than one that could have moved instead.
    Fair,
    /// Steps that one step can know of.
    LocalDepth,
    /// Switches that one step can know of.
    LocalContext,
}

impl BoundKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Depth,
        Self::Context,
        Self::Preemption,
        Self::Delta,
        Self::Fair,
        Self::LocalDepth,
        Self::LocalContext,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Context => "context",
            Self::Preemption => "preemption",
            Self::Delta => "delta",
            Self::Fair => "fair",
            Self::LocalDepth => "local-depth",
            Self::LocalContext => "local-context",
        }
    }

    /// Whether it depends on the trace alone, and independent steps do not add up: stable and
    /// extensible, in the words of the thesis.
    pub fn is_local(self) -> bool {
        matches!(self, Self::LocalDepth | Self::LocalContext)
    }

    fn measure(self) -> Box<dyn Measure> {
        match self {
            Self::Depth => Box::new(depth::Depth),
            Self::Context => Box::new(context::Context),
            Self::Preemption => Box::new(preemption::Preemption),
            Self::Delta => Box::new(delta::Delta),
            Self::Fair => Box::new(fair::Fair::default()),
            Self::LocalDepth => Box::new(local_depth::LocalDepth),
            Self::LocalContext => Box::new(local_context::LocalContext::default()),
        }
    }
}

impl fmt::Display for BoundKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BoundKind {
    type Err = OptionError;

    fn from_str(name: &str) -> Result<Self, OptionError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| OptionError::UnknownBound(name.to_owned()))
    }
}

/// A bound and its limit: `preemption=2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// What is counted.
    pub kind: BoundKind,
    /// How much of it there may be.
    pub limit: u32,
}

impl Bound {
    /// At most `limit` of what `kind` counts.
    pub fn new(kind: BoundKind, limit: u32) -> Self {
        Self { kind, limit }
    }

    /// Which executions are within it.
    pub fn claim(self) -> Claim {
        let limit = self.limit;
        match self.kind {
            BoundKind::Depth => Claim::Depth(limit),
            BoundKind::Context => Claim::Context(limit),
            BoundKind::Preemption => Claim::Preemption(limit),
            BoundKind::Delta => Claim::Delta(limit),
            BoundKind::Fair => Claim::Fair(limit),
            BoundKind::LocalDepth => Claim::LocalDepth(limit),
            BoundKind::LocalContext => Claim::LocalContext(limit),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind, self.limit)
    }
}

impl FromStr for Bound {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let Some((kind, limit)) = text.split_once('=') else {
            return match text.parse::<BoundKind>() {
                Ok(kind) => Err(OptionError::NoLimit(kind)),
                Err(error) => Err(error),
            };
        };
        let kind: BoundKind = kind.trim().parse()?;
        let limit = limit.trim();
        let wrong = || OptionError::WrongLimit { kind, limit: limit.to_owned() };
        let is_number = !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit());
        let limit =
            if is_number { limit.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
        Ok(Self { kind, limit })
    }
}

/// The state that a step is about to be taken in.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    /// The steps so far.
    pub(crate) order: &'a HappensBefore,
    /// What each thread would do next.
    pub(crate) next: &'a [Next],
    /// The threads that can move; beside a fair bound, those that it lets move.
    pub(crate) enabled: ThreadSet,
}

impl Before<'_> {
    /// Who moved last.
    fn last(&self) -> Option<ThreadId> {
        let len = self.order.len();
        (len > 0).then(|| self.order.thread(len as u32))
    }

    /// What `thread` would do next.
    fn operation(&self, thread: ThreadId) -> Operation {
        self.next[thread.index()].operation().expect("an enabled thread has a next step")
    }
}

/// How a bound counts. It follows the execution in progress, which grows and shrinks at its end;
/// nothing is ever counted again from the start.
pub(crate) trait Measure: Send {
    /// The value of the execution once `thread`, which is enabled, has taken its next step;
    /// `so_far` is the value before.
    fn after(&mut self, before: &Before<'_>, so_far: u32, thread: ThreadId) -> u32;

    /// `thread` takes its next step: for measures that have more to remember than the value.
    fn push(&mut self, _before: &Before<'_>, _thread: ThreadId) {}

    /// Takes the last step back.
    fn pop(&mut self) {}
}

/// The bounds of one search, with their values along the execution in progress.
pub(crate) struct Bounds {
    fair: Option<Part>,
    main: Option<Part>,
    /// How often loops go round that wait.
    rounds: Option<Part>,
    len: usize,
    /// Some step of some execution was a yield, and not the first one of its thread.
    has_yields: bool,
}

struct Part {
    limit: u32,
    measure: Box<dyn Measure>,
    /// After each step.
    values: Vec<u32>,
}

/// The enabled threads whose next step would exceed a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Over {
    /// The fair bound, or that of loops that wait.
    pub(crate) fair: ThreadSet,
    /// The other one, and not the fair bound.
    pub(crate) main: ThreadSet,
    /// Beside a fair bound: the enabled threads that have yielded least.
    pub(crate) fairest: ThreadSet,
}

impl Over {
    /// One of both.
    pub(crate) fn any(self) -> ThreadSet {
        self.fair | self.main
    }
}

/// Which bounds a search has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exceeded {
    pub(crate) fair: bool,
    pub(crate) main: bool,
}

impl Exceeded {
    pub(crate) fn any(self) -> bool {
        self.fair || self.main
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.fair |= other.fair;
        self.main |= other.main;
    }

    /// What is met where these threads are to be explored.
    pub(crate) fn by(threads: ThreadSet, over: Over) -> Self {
        let meets = |over: ThreadSet| !(threads & over).is_empty();
        Self { fair: meets(over.fair), main: meets(over.main) }
    }
}

impl Part {
    fn of(bound: &Bound) -> Self {
        Self { limit: bound.limit, measure: bound.kind.measure(), values: Vec::new() }
    }

    fn over(&mut self, before: &Before<'_>, among: ThreadSet) -> ThreadSet {
        let so_far = self.values.last().copied().unwrap_or(0);
        among
            .iter()
            .filter(|&thread| self.measure.after(before, so_far, thread) > self.limit)
            .collect()
    }

    /// The enabled threads whose own step is over the limit, whatever the execution is.
    fn over_itself(&mut self, before: &Before<'_>) -> ThreadSet {
        let is_over = |&thread: &ThreadId| self.measure.after(before, 0, thread) > self.limit;
        before.enabled.iter().filter(is_over).collect()
    }

    /// The enabled threads whose own step is of the smallest value.
    fn cheapest(&mut self, before: &Before<'_>) -> ThreadSet {
        let mut price = |thread: ThreadId| self.measure.after(before, 0, thread);
        let least = before.enabled.iter().map(&mut price).min();
        before.enabled.iter().filter(|&thread| Some(price(thread)) == least).collect()
    }

    fn push(&mut self, before: &Before<'_>, thread: ThreadId) {
        let so_far = self.values.last().copied().unwrap_or(0);
        let value = self.measure.after(before, so_far, thread);
        debug_assert!(value >= so_far, "a bound is monotonic");
        self.values.push(value);
        self.measure.push(before, thread);
    }

    fn pop(&mut self) {
        self.values.pop();
        self.measure.pop();
    }
}

impl Bounds {
    /// These bounds, of the empty execution; `None` if there are none.
    pub(crate) fn of(bounds: &[Bound], waits: &Waits) -> Option<Self> {
        let part = |is_fair: bool| {
            bounds.iter().find(|bound| (bound.kind == BoundKind::Fair) == is_fair).map(Part::of)
        };
        (!bounds.is_empty() || !waits.is_empty()).then(|| Self {
            fair: part(true),
            main: part(false),
            rounds: (!waits.is_empty()).then(|| Part {
                limit: waits.limit,
                measure: Box::new(rounds::Rounds(waits.clone())),
                values: Vec::new(),
            }),
            len: 0,
            has_yields: false,
        })
    }

    /// Which of the enabled threads would exceed them.
    pub(crate) fn over(&mut self, before: &Before<'_>) -> Over {
        let fair = self.unfair(before);
        let fairly = Before { enabled: before.enabled - fair, ..*before };
        let main =
            self.main.as_mut().map_or(ThreadSet::EMPTY, |part| part.over(&fairly, fairly.enabled));
        let fairest = self.fair.as_mut().map_or(ThreadSet::EMPTY, |part| part.cheapest(before));
        Over { fair, main, fairest }
    }

    /// `thread` takes its next step.
    pub(crate) fn push(&mut self, before: &Before<'_>, thread: ThreadId) {
        let fair = self.unfair(before);
        if let Some(part) = &mut self.fair {
            part.push(before, thread);
        }
        if let Some(part) = &mut self.main {
            let enabled = before.enabled - fair;
            part.push(&Before { enabled, ..*before }, thread);
        }
        if let Some(part) = &mut self.rounds {
            part.push(before, thread);
        }
        self.len += 1;
        // What a thread begins with says nothing about loops.
        self.has_yields |= before.operation(thread) == Operation::Yield
            && !before.order.steps_of(thread).is_empty();
    }

    /// Whether a thread has yielded after its first step, in this execution or an earlier one.
    pub(crate) fn has_yields(&self) -> bool {
        self.has_yields
    }

    /// Keeps only the first `depth` steps.
    pub(crate) fn truncate(&mut self, depth: usize) {
        while self.len > depth {
            let parts = self.fair.iter_mut().chain(&mut self.main).chain(&mut self.rounds);
            parts.for_each(Part::pop);
            self.len -= 1;
        }
    }

    fn unfair(&mut self, before: &Before<'_>) -> ThreadSet {
        let fair = self.fair.as_mut();
        let fair = fair.map_or(ThreadSet::EMPTY, |part| part.over(before, before.enabled));
        fair | self.rounds.as_mut().map_or(ThreadSet::EMPTY, |part| part.over_itself(before))
    }
}
