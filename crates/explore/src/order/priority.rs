//! Priorities: what makes an execution worth taking before others.
//!
//! Implements the priority functions of Coons' thesis, 3.5, and their hierarchy, 3.5.4.
//!
//! | thesis        | here                        |
//! |---------------|-----------------------------|
//! | *BF(Pb)*      | [`Priority::Preemptions`]   |
//! | *BF(Dpor)*    | [`Priority::Backtrack`]     |
//! | *BF(Ss)*      | [`Priority::Sleep`]         |
//! | *BF(Random)*  | [`Priority::Random`]        |
//! | *BF(Method)*  | [`Priority::Function`]      |
//! | *BF(Var)*     | [`Priority::Variable`]      |
//! | *BF(a, b)*    | [`Rank`], compared in order |
//!
//! Differs from the thesis: leaving a thread after it has yielded is no preemption. `random` is
//! drawn from a seed, so that a search can be repeated.

use crate::options::OptionError;
use crate::view::View;
use mazurka_core::fold::mix;
use mazurka_core::{ThreadId, ThreadSet};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;

/// What makes an execution come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Priority {
    /// Few switches away from a thread that could have gone on.
    Preemptions,
    /// Its new step was asked for by a race; for reductions that do not go by races.
    Backtrack,
    /// Its new step does not sleep; for searches without sleep sets.
    Sleep,
    /// Chance, from [`Options::seed`](crate::Options::seed).
    Random,
    /// Its new step stands in this function.
    Function(String),
    /// Its new step touches this object, or a part of it.
    Variable(String),
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preemptions => f.write_str("preemptions"),
            Self::Backtrack => f.write_str("backtrack"),
            Self::Sleep => f.write_str("sleep"),
            Self::Random => f.write_str("random"),
            Self::Function(name) => write!(f, "function={name}"),
            Self::Variable(name) => write!(f, "variable={name}"),
        }
    }
}

impl FromStr for Priority {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text.split_once('=') {
            None => [Self::Preemptions, Self::Backtrack, Self::Sleep, Self::Random]
                .into_iter()
                .find(|priority| priority.to_string() == text),
            Some((_, "")) => None,
            Some(("function", name)) => Some(Self::Function(name.to_owned())),
            Some(("variable", name)) => Some(Self::Variable(name.to_owned())),
            Some(_) => None,
        }
        .ok_or_else(|| OptionError::UnknownPriority(text.to_owned()))
    }
}

/// A place in the order of executions: the smallest comes first.
pub(crate) type Rank = SmallVec<[u32; 4]>;

/// A step that would begin a new execution, as far as priorities look at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) thread: ThreadId,
    /// The preemptions up to it, and its own.
    pub(crate) preemptions: u32,
    /// The threads that sleep in its state.
    pub(crate) asleep: ThreadSet,
    /// The threads that a race has asked for in its state.
    pub(crate) asked: ThreadSet,
    /// For each priority that looks at the program, the threads it favours in its state.
    pub(crate) favoured: &'a [ThreadSet],
}

/// Puts candidates in order.
#[derive(Debug)]
pub(crate) struct Ranking {
    priorities: Vec<Priority>,
    /// What the next random number is made of.
    pub(crate) seed: u64,
}

impl Ranking {
    pub(crate) fn new(priorities: &[Priority], seed: u64) -> Self {
        Self { priorities: priorities.to_vec(), seed }
    }

    /// Whether one of the priorities is `wanted`.
    pub(crate) fn has(&self, wanted: &Priority) -> bool {
        self.priorities.contains(wanted)
    }

    /// How many priorities look at the program.
    pub(crate) fn n_looks(&self) -> usize {
        self.looks().count()
    }

    fn looks(&self) -> impl Iterator<Item = &Priority> {
        let looks = |it: &&Priority| matches!(it, Priority::Function(_) | Priority::Variable(_));
        self.priorities.iter().filter(looks)
    }

    /// Which priorities that look at the program favour the next step of `thread`.
    pub(crate) fn favours(&self, view: &View<'_>, thread: ThreadId) -> impl Iterator<Item = bool> {
        self.looks().map(move |priority| match priority {
            Priority::Function(wanted) => view.system.location(thread).is_some_and(|location| {
                location.function.is_some_and(|function| is_function(&function, wanted))
            }),
            Priority::Variable(wanted) => {
                let object = view.operation(thread).and_then(|operation| operation.object());
                object.is_some_and(|object| is_part_of(&view.system.object_name(object), wanted))
            }
            _ => false,
        })
    }

    /// The place of a candidate.
    pub(crate) fn rank(&mut self, candidate: &Candidate<'_>) -> Rank {
        let mut favoured = candidate.favoured.iter();
        let seed = &mut self.seed;
        let last_if = u32::from;
        let rank = |priority: &Priority| match priority {
            Priority::Preemptions => candidate.preemptions,
            Priority::Backtrack => last_if(!candidate.asked.contains(candidate.thread)),
            Priority::Sleep => last_if(candidate.asleep.contains(candidate.thread)),
            Priority::Random => {
                *seed = mix(*seed, 1);
                (*seed >> 32) as u32
            }
            Priority::Function(_) | Priority::Variable(_) => {
                let set = favoured.next().expect("there is one for each");
                last_if(!set.contains(candidate.thread))
            }
        };
        self.priorities.iter().map(rank).collect()
    }
}

/// Whether the function is meant: by its whole name, or by the last part of its path.
fn is_function(function: &str, wanted: &str) -> bool {
    let rest = function.strip_suffix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

/// Whether the object is the one that is meant, or an element or a field of it.
fn is_part_of(object: &str, wanted: &str) -> bool {
    let rest = object.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole() {
        assert!(is_function("push", "push") && is_function("queue::push", "push"));
        assert!(!is_function("queue::unpush", "push") && !is_function("push_all", "push"));
        assert!(is_part_of("head", "head") && is_part_of("head[3]", "head"));
        assert!(is_part_of("queue.head", "queue") && !is_part_of("header", "head"));
    }

    #[test]
    fn the_same_seed_draws_the_same_numbers() {
        let draw = |seed| {
            let mut ranking = Ranking::new(&[Priority::Random], seed);
            let candidate = Candidate {
                thread: ThreadId::new(0),
                preemptions: 0,
                asleep: ThreadSet::EMPTY,
                asked: ThreadSet::EMPTY,
                favoured: &[],
            };
            [(); 4].map(|()| ranking.rank(&candidate))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
