//! The exit status: what a shell, a build or a script learns of a check.

use mazurka_core::Verdict;
use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ExitStatus {
    /// 0: no violation, within the coverage that was printed.
    Holds = 0,
    /// 1: an execution goes wrong.
    Violated = 1,
    /// 2: the input or the arguments are wrong, so nothing was checked.
    WrongInput = 2,
    /// 3: a limit stopped the search short of the coverage that was asked for. Never green.
    Inconclusive = 3,
    /// 101: a defect of Mazurka itself, and the status of a Rust program that panics.
    Defect = 101,
}

impl ExitStatus {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::Violated, Self::WrongInput, Self::Inconclusive, Self::Defect];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What it means, for `--help`.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Holds => "it holds, and how far is printed",
            Self::Violated => "it is violated",
            Self::WrongInput => "the input or the arguments are wrong",
            Self::Inconclusive => "inconclusive: a limit was reached",
            Self::Defect => "a defect of Mazurka",
        }
    }
}

impl From<&Verdict> for ExitStatus {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Holds(_) => Self::Holds,
            Verdict::Violated(_) => Self::Violated,
            // What is neither a proof nor a violation must not pass for one of them.
            _ => Self::Inconclusive,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use expect_test::expect;
    use mazurka_core::{Coverage, Limit, Property};

    #[test]
    fn the_numbers_are_those_of_the_manual() {
        let lines: Vec<String> =
            ExitStatus::ALL.iter().map(|s| format!("{:>3} {}", s.code(), s.meaning())).collect();
        expect![[r#"
              0 it holds, and how far is printed
              1 it is violated
              2 the input or the arguments are wrong
              3 inconclusive: a limit was reached
            101 a defect of Mazurka"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_verdict_has_a_status() {
        let holds = Verdict::Holds(Coverage::of([Property::Deadlock]));
        assert_eq!(ExitStatus::from(&holds), ExitStatus::Holds);
        assert_eq!(ExitStatus::from(&samples::lost_update().verdict), ExitStatus::Violated);
        let stopped = Verdict::Inconclusive(Limit::Interrupted);
        assert_eq!(ExitStatus::from(&stopped), ExitStatus::Inconclusive);
    }
}
