//! How much a reader, or a search, has to do: the cost of an execution, what is known of cheaper
//! ones, and what was proved within few preemptions.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What an execution costs its reader: fewer preemptions come first, then fewer context switches,
/// then fewer steps.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cost {
    /// How often a thread was left that could have gone on.
    pub preemptions: u32,
    /// How often another thread went on.
    pub switches: u32,
    /// How many steps it has.
    pub steps: u32,
}

/// How short a counterexample is, and what is known of shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortest {
    /// What its execution costs.
    pub cost: Cost,
    /// No execution with fewer preemptions goes wrong in this way.
    pub has_fewest_preemptions: bool,
    /// None that has as few preemptions has fewer context switches.
    pub has_fewest_switches: bool,
    /// None that has as few of both has fewer steps.
    pub has_fewest_steps: bool,
}

/// As in "1 preemption, and no execution with fewer goes wrong; 5 context switches, 11 steps".
impl fmt::Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: u32, one: &str, many: &str| match n {
            0 => format!("no {many}"),
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let Cost { preemptions, switches, steps } = self.cost;
        write!(f, "{}", counted(preemptions, "preemption", "preemptions"))?;
        if preemptions > 0 && self.has_fewest_preemptions {
            write!(f, "; no execution with fewer goes wrong")?;
        }
        let least = |is_least: bool| if is_least { ", the fewest" } else { "" };
        write!(
            f,
            "; {}{}; {}{}",
            counted(switches, "context switch", "context switches"),
            least(switches > 0 && self.has_fewest_switches),
            counted(steps, "step", "steps"),
            least(self.has_fewest_steps),
        )
    }
}

/// A bounded search that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// Within so many preemptions nothing goes wrong.
    pub preemptions: u32,
    /// How many executions that took.
    pub executions: u64,
    /// How long it took.
    pub time: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_was_established_and_no_more() {
        let cost = Cost { preemptions: 1, switches: 4, steps: 11 };
        let known = |preemptions, switches, steps| Shortest {
            cost,
            has_fewest_preemptions: preemptions,
            has_fewest_switches: switches,
            has_fewest_steps: steps,
        };
        assert_eq!(
            known(true, true, true).to_string(),
            "1 preemption; no execution with fewer goes wrong; 4 context switches, the fewest; \
             11 steps, the fewest"
        );
        assert_eq!(
            known(false, false, false).to_string(),
            "1 preemption; 4 context switches; 11 steps"
        );
        let none = Shortest { cost: Cost { preemptions: 0, ..cost }, ..known(true, false, false) };
        assert_eq!(none.to_string(), "no preemptions; 4 context switches; 11 steps");
    }
}
