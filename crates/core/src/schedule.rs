//! Schedules: the decisions of one execution, and their short printable form.
//!
//! `mzk1:0x2.1.2~1x3` reads: thread 0 twice, thread 1 once, thread 2 three times with its
//! alternative 1. Items are separated by dots; `~c` gives the alternative (left out when it is 0),
//! `xn` repeats. Threads are numbered by birth: first those that exist at the start, in their
//! order, then each thread as it is spawned *in this execution*. So the text does not depend on
//! what else the process explored before, and replays in a fresh one.

use crate::{Decision, ThreadId};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// The decisions of one execution, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schedule {
    decisions: Vec<Decision>,
}

/// Why a text is not a schedule, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed schedule at column {column}: expected {expected}, found {found}")]
pub struct ScheduleError {
    /// Where, counted from 1, in characters.
    pub column: usize,
    /// What could have stood there.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

impl Schedule {
    /// The first words of every printed schedule; the number is the version of the form.
    pub const PREFIX: &'static str = "mzk1:";

    /// The longest schedule that a text may describe: a typing error must not fill the memory.
    pub const MAX_LEN: usize = 1 << 26;

    /// A schedule without a decision.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its decisions.
    #[inline]
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// How many decisions there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// One decision more.
    #[inline]
    pub fn push(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// Forgets all decisions from `depth` on.
    #[inline]
    pub fn truncate(&mut self, depth: usize) {
        self.decisions.truncate(depth);
    }
}

impl FromIterator<Decision> for Schedule {
    fn from_iter<I: IntoIterator<Item = Decision>>(decisions: I) -> Self {
        Self { decisions: decisions.into_iter().collect() }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        for (idx, run) in self.decisions.chunk_by(|a, b| a == b).enumerate() {
            if idx > 0 {
                f.write_char('.')?;
            }
            let Decision { thread, choice } = run[0];
            write!(f, "{}", thread.index())?;
            if choice > 0 {
                write!(f, "~{choice}")?;
            }
            if run.len() > 1 {
                write!(f, "x{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut reader = Reader { text, at: 0 };
        if !text.starts_with(Self::PREFIX) {
            return Err(reader.expected("`mzk1:`"));
        }
        reader.at = Self::PREFIX.len();
        let mut schedule = Self::new();
        if reader.peek().is_none() {
            return Ok(schedule);
        }
        loop {
            let thread = reader.number("the number of a thread (0 to 1023)", ThreadId::MAX - 1)?;
            let choice = match reader.eat('~') {
                true => reader.number("the number of an alternative", u32::MAX as usize)?,
                false => 0,
            };
            let room = Self::MAX_LEN - schedule.len();
            let repeat = match reader.eat('x') {
                true => reader.number("how often, and not more steps than fit", room)?,
                false => 1,
            };
            let decision = Decision { thread: ThreadId::new(thread), choice: choice as u32 };
            schedule.decisions.extend(std::iter::repeat_n(decision, repeat));
            if reader.peek().is_none() {
                return Ok(schedule);
            }
            if !reader.eat('.') {
                return Err(reader.expected("`.`, `~`, `x` or the end"));
            }
        }
    }
}

/// A place in the text of a schedule.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn number(&mut self, expected: &'static str, max: usize) -> Result<usize, ScheduleError> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        match self.text[self.at..self.at + digits].parse() {
            Ok(number) if number <= max => {
                self.at += digits;
                Ok(number)
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn expected(&self, expected: &'static str) -> ScheduleError {
        let rest: String = self.text[self.at..].chars().take(12).collect();
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        ScheduleError { column: self.text[..self.at].chars().count() + 1, expected, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let shown = match text.parse::<Schedule>() {
            Ok(schedule) => format!("{} steps: {schedule}", schedule.len()),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn the_printed_form_is_read_back() {
        check("mzk1:0x2.1.2~1x3", expect!["6 steps: mzk1:0x2.1.2~1x3"]);
        check("mzk1:", expect!["0 steps: mzk1:"]);
        check("mzk1:0.0.0", expect!["3 steps: mzk1:0x3"]);
        check("mzk1:5x0.1", expect!["1 steps: mzk1:1"]);
    }

    #[test]
    fn what_is_malformed_is_said_with_its_place() {
        check("", expect!["malformed schedule at column 1: expected `mzk1:`, found the end"]);
        check(
            "mzk2:0",
            expect!["malformed schedule at column 1: expected `mzk1:`, found `mzk2:0`"],
        );
        check(
            "mzk1:0..1",
            expect![
                "malformed schedule at column 8: expected the number of a thread (0 to 1023), found `.1`"
            ],
        );
        check(
            "mzk1:0x",
            expect![
                "malformed schedule at column 8: expected how often, and not more steps than fit, found the end"
            ],
        );
        check(
            "mzk1:1024",
            expect![
                "malformed schedule at column 6: expected the number of a thread (0 to 1023), found `1024`"
            ],
        );
        check(
            "mzk1:0x999999999999999999999",
            expect![
                "malformed schedule at column 8: expected how often, and not more steps than fit, found `999999999999`"
            ],
        );
        check(
            "mzk1:0ö1",
            expect![
                "malformed schedule at column 7: expected `.`, `~`, `x` or the end, found `ö1`"
            ],
        );
        check(
            "mzk1:0x67108865",
            expect![
                "malformed schedule at column 8: expected how often, and not more steps than fit, found `67108865`"
            ],
        );
    }
}
