//! Samples: executions drawn at random, and the probability that they miss a bug.
//!
//! A sample proves nothing. It is what a search that cannot finish has to say beside its limit:
//! it stands beside a [`Limit`](crate::Limit) and never in a [`Coverage`](crate::Coverage).

use serde::{Deserialize, Serialize};
use std::fmt;

/// How executions are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SampleMethod {
    /// Probabilistic concurrency testing: random priorities, lowered at random steps.
    Pct,
    /// Partial order sampling: a random priority for each step, drawn anew after a race.
    Pos,
    /// Selectively uniform random walk: all orders of the steps on one object alike.
    Surw,
    /// Random walk: any thread that can move, all alike.
    Walk,
}

impl SampleMethod {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pct, Self::Pos, Self::Surw, Self::Walk];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pct => "pct",
            Self::Pos => "pos",
            Self::Surw => "surw",
            Self::Walk => "walk",
        }
    }
}

impl fmt::Display for SampleMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The executions that were drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// How.
    pub method: SampleMethod,
    /// How many, those included that a held thread made redundant.
    pub executions: u64,
    /// With which probability they miss a bug, where the method's theorem applies.
    pub guarantee: Option<Guarantee>,
}

/// The theorem of probabilistic concurrency testing, with its numbers: one execution finds a bug of
/// depth d, one that d ordering constraints between steps suffice for, with probability at least
/// 1/(n·k^(d−1)), if there are at most n threads and k steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarantee {
    /// The depth d.
    pub depth: u32,
    /// The threads n.
    pub threads: u32,
    /// The steps k.
    pub steps: u32,
    /// The executions that were drawn with these numbers.
    pub executions: u64,
}

impl Guarantee {
    /// The probability that one execution finds a given bug of this depth, at the least.
    pub fn hit(&self) -> f64 {
        let steps = f64::from(self.steps).powi(self.depth as i32 - 1);
        1.0 / (f64::from(self.threads) * steps).max(1.0)
    }

    /// The probability that all executions miss a given bug of this depth, at the most.
    pub fn miss(&self) -> f64 {
        // ln_1p, since a hit may be rarer than what 1.0 - hit can tell from 1.0.
        (self.executions as f64 * (-self.hit()).ln_1p()).exp()
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, threads, steps, .. } = *self;
        // Rounded up: a sentence may promise less than is known, never more.
        let miss = match self.miss() {
            miss if miss < 1e-9 => "1e-9".to_owned(),
            miss if miss < 0.001 => {
                let exponent = miss.log10().ceil() as i32;
                format!("1e{exponent}")
            }
            miss => format!("{:.3}", (miss * 1000.0).ceil() / 1000.0),
        };
        write!(
            f,
            "a bug of depth {depth} is missed with probability at most {miss}, \
             if executions have at most {steps} steps and {threads} threads"
        )
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, executions, guarantee } = self;
        write!(f, "{executions} random executions ({method})")?;
        guarantee.iter().try_for_each(|guarantee| write!(f, ": {guarantee}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_never_promises_more_than_the_theorem() {
        let of = |executions| Guarantee { depth: 2, threads: 3, steps: 16, executions };
        assert_eq!(of(0).miss(), 1.0);
        assert!((of(1).miss() - 47.0 / 48.0).abs() < 1e-12);
        let sample =
            Sample { method: SampleMethod::Pct, executions: 200, guarantee: Some(of(170)) };
        assert_eq!(
            sample.to_string(),
            "200 random executions (pct): a bug of depth 2 is missed with probability at most \
             0.028, if executions have at most 16 steps and 3 threads"
        );
        assert!(of(1_000_000).to_string().contains("at most 1e-9,"));
    }
}
