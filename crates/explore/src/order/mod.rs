//! Orders of search: which of the executions that are left comes next.

pub(crate) mod best_first;
pub(crate) mod fringe;
pub(crate) mod priority;
pub(crate) mod tree;

use crate::options::OptionError;
pub use priority::Priority;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
pub use tree::TreeSize;

/// Which execution comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Order {
    /// The one that parts from the last execution as late as possible.
    #[default]
    DepthFirst,
    /// The one that comes first by these priorities, the first of them first; of those that are
    /// equal by all, the one that was found last.
    BestFirst(Vec<Priority>),
}

impl Order {
    /// The name of depth-first search on the command line.
    pub const DEPTH_FIRST: &'static str = "dfs";
    /// What the name of a best-first search begins with.
    pub const BEST_FIRST: &'static str = "best-first";

    /// Best-first by a single priority.
    pub fn best_first(priority: Priority) -> Self {
        Self::BestFirst(vec![priority])
    }

    /// Its priorities, if it has any.
    pub fn priorities(&self) -> &[Priority] {
        match self {
            Self::DepthFirst => &[],
            Self::BestFirst(priorities) => priorities,
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DepthFirst => f.write_str(Self::DEPTH_FIRST),
            Self::BestFirst(priorities) => {
                f.write_str(Self::BEST_FIRST)?;
                for (idx, priority) in priorities.iter().enumerate() {
                    write!(f, "{}{priority}", if idx == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Order {
    type Err = OptionError;

    /// `dfs`, `best-first` (by preemptions) or `best-first:function=push,preemptions`.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let (name, priorities) = match text.split_once(':') {
            Some((name, priorities)) => (name, Some(priorities)),
            None => (text, None),
        };
        match (name, priorities) {
            (Self::DEPTH_FIRST, None) => Ok(Self::DepthFirst),
            (Self::BEST_FIRST, None) => Ok(Self::best_first(Priority::Preemptions)),
            (Self::BEST_FIRST, Some(names)) => {
                let mut priorities = Vec::new();
                for name in names.split(',') {
                    let priority: Priority = name.parse()?;
                    if priorities.contains(&priority) {
                        return Err(OptionError::PriorityTwice(priority.to_string()));
                    }
                    priorities.push(priority);
                }
                Ok(Self::BestFirst(priorities))
            }
            _ => Err(OptionError::UnknownOrder(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let shown = match text.parse::<Order>() {
            Ok(order) => order.to_string(),
            Err(error) => format!("error: {error}"),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn what_is_read_is_printed_again() {
        check("dfs", expect!["dfs"]);
        check("best-first", expect!["best-first:preemptions"]);
        check(
            "best-first:function=push,preemptions",
            expect!["best-first:function=push,preemptions"],
        );
        check("best-first:variable=q.head,random", expect!["best-first:variable=q.head,random"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(
            "bfs",
            expect![
                "error: unknown order `bfs`: there are dfs and best-first, the latter with priorities: `best-first:function=push,preemptions`"
            ],
        );
        check(
            "dfs:random",
            expect![
                "error: unknown order `dfs:random`: there are dfs and best-first, the latter with priorities: `best-first:function=push,preemptions`"
            ],
        );
        check(
            "best-first:",
            expect![
                "error: unknown priority ``: there are preemptions, backtrack, sleep, random, function=NAME and variable=NAME"
            ],
        );
        check(
            "best-first:preemption",
            expect![
                "error: unknown priority `preemption`: there are preemptions, backtrack, sleep, random, function=NAME and variable=NAME"
            ],
        );
        check(
            "best-first:function=",
            expect![
                "error: unknown priority `function=`: there are preemptions, backtrack, sleep, random, function=NAME and variable=NAME"
            ],
        );
        check(
            "best-first:random,sleep,random",
            expect!["error: the priority `random` is there twice"],
        );
    }
}
