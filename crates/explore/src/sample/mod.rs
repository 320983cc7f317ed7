//! Sampling: executions drawn at random instead of a search of all, seeded and replayable. One
//! file for each method.
//!
//! A sampler is a [`Reduce`] without memory of what it has explored: at each state it picks a
//! thread, and at the end of an execution it goes back to the beginning. Nothing is proved, so the
//! verdict stays inconclusive; [`Sample`] says what the executions are worth.

mod pct;
mod pos;
mod surw;
mod walk;

use crate::bound::Exceeded;
use crate::options::OptionError;
use crate::reduction::{Choice, End, Reduce};
use crate::unit::Unit;
use crate::view::View;
use fastrand::Rng;
use mazurka_core::fold::mix;
use mazurka_core::{Decision, Guarantee, Sample, SampleMethod, Schedule, ThreadId};
use pct::Pct;
use pos::Pos;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use surw::Surw;
use walk::Walk;

/// Which executions to draw, as on the command line: `pct`, `pct:3`, `pos`, `surw`, `walk`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sampling {
    /// How they are drawn.
    pub method: SampleMethod,
    /// The depth of bugs that [`SampleMethod::Pct`] is after; the others do not ask.
    pub depth: u32,
}

impl Sampling {
    /// The depth of bugs that is looked for if no other is asked for: two ordering constraints
    /// suffice for most published ones.
    pub const DEPTH: u32 = 2;
    /// More constraints than this have no probability worth a sentence.
    const MAX_DEPTH: u32 = 100;

    /// This method, with the usual depth.
    pub fn by(method: SampleMethod) -> Self {
        Self { method, depth: Self::DEPTH }
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            SampleMethod::Pct => write!(f, "pct:{}", self.depth),
            method => write!(f, "{method}"),
        }
    }
}

impl FromStr for Sampling {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let unknown = || OptionError::UnknownSampling(text.to_owned());
        let (name, depth) = match text.split_once(':') {
            None => (text, Self::DEPTH),
            Some(("pct", depth)) => {
                let depth =
                    depth.parse().ok().filter(|depth| (1..=Self::MAX_DEPTH).contains(depth));
                ("pct", depth.ok_or_else(unknown)?)
            }
            Some(_) => return Err(unknown()),
        };
        let method = SampleMethod::ALL.into_iter().find(|method| method.name() == name);
        Ok(Self { method: method.ok_or_else(unknown)?, depth })
    }
}

/// Picks threads, in one execution after the other.
pub(crate) trait Pick: Send {
    /// A new execution begins.
    fn begin(&mut self, rng: &mut Rng);

    /// The thread to run, one of those that are enabled.
    fn pick(&mut self, view: &View<'_>, rng: &mut Rng) -> ThreadId;

    /// The execution has ended here.
    fn end(&mut self, _view: &View<'_>) {}

    /// With which probability a bug is missed, if a theorem says so.
    fn guarantee(&self) -> Option<Guarantee> {
        None
    }
}

/// Draws executions until the search is stopped.
pub(crate) struct Sampler {
    pick: Box<dyn Pick>,
    method: SampleMethod,
    rng: Rng,
    /// What further streams of random numbers are made of.
    stream: u64,
    executions: u64,
    has_begun: bool,
}

impl Sampler {
    pub(crate) fn new(sampling: Sampling, seed: u64) -> Self {
        let pick: Box<dyn Pick> = match sampling.method {
            SampleMethod::Pct => Box::new(Pct::new(sampling.depth)),
            SampleMethod::Pos => Box::new(Pos::default()),
            SampleMethod::Surw => Box::new(Surw::default()),
            _ => Box::new(Walk),
        };
        let rng = Rng::with_seed(seed);
        let method = sampling.method;
        Self { pick, method, rng, stream: seed, executions: 0, has_begun: false }
    }
}

impl Reduce for Sampler {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        if !self.has_begun {
            self.has_begun = true;
            self.pick.begin(&mut self.rng);
        }
        let thread = self.pick.pick(view, &mut self.rng);
        debug_assert!(view.enabled.contains(thread), "{thread} cannot move");
        let choices = view.choices(thread);
        // Alternatives of one step are drawn alike by every method.
        let choice = if choices > 1 { self.rng.u32(..choices) } else { 0 };
        Choice::Step(Decision { thread, choice })
    }

    fn finish(&mut self, view: &View<'_>, _end: End) {
        self.executions += 1;
        self.pick.end(view);
    }

    fn backtrack(&mut self) -> Option<usize> {
        self.has_begun = false;
        Some(0)
    }

    fn frontier(&self) -> u64 {
        0
    }

    fn explored(&self) -> f64 {
        0.0
    }

    fn share(&mut self, _schedule: &Schedule) -> Option<Unit> {
        self.stream = mix(self.stream, 1);
        Some(Unit::Samples(self.stream))
    }

    fn adopt(&mut self, unit: Unit) {
        if let Unit::Samples(stream) = unit {
            self.rng = Rng::with_seed(stream);
            self.stream = mix(stream, 2);
        }
        self.has_begun = false;
    }

    fn dissolve(&mut self, _schedule: &Schedule) -> Vec<Unit> {
        self.stream = mix(self.stream, 1);
        vec![Unit::Samples(self.stream)]
    }

    fn exceeded(&self) -> Exceeded {
        Exceeded::default()
    }

    fn sample(&self) -> Option<Sample> {
        let guarantee = self.pick.guarantee();
        Some(Sample { method: self.method, executions: self.executions, guarantee })
    }
}

/// What several workers have drawn together.
///
/// A worker's guarantee is for executions of at most its own number of steps. If another one has
/// met a longer execution, or more threads, the theorem does not apply to what it drew, so only
/// those with the largest numbers count.
pub(crate) fn together(samples: impl Iterator<Item = Sample>) -> Option<Sample> {
    let all = samples.reduce(|one, other| {
        let executions = one.executions + other.executions;
        let guarantee = match (one.guarantee, other.guarantee) {
            (Some(one), Some(other)) => Some(both(one, other)),
            // What made the theorem inapplicable for one worker does so for all.
            _ => None,
        };
        Sample { method: one.method, executions, guarantee }
    })?;
    Some(Sample { guarantee: all.guarantee.filter(|it| it.executions > 0), ..all })
}

fn both(one: Guarantee, other: Guarantee) -> Guarantee {
    let (steps, threads) = (one.steps.max(other.steps), one.threads.max(other.threads));
    let counted = |it: Guarantee| match (it.steps, it.threads) == (steps, threads) {
        true => it.executions,
        false => 0,
    };
    Guarantee { depth: one.depth, threads, steps, executions: counted(one) + counted(other) }
}
