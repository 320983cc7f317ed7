//! A place in the source as a row of a table shows it: its line with the text that stands there.
//!
//! `12 │ counter.store(seen + 1)` where the text is known and there is room for it, else `12:9`. Two
//! kinds of rows have no text: those that name a function of a library, which stands there instead,
//! and those that are in the words of the source already, as the statements of a model are.

use crate::style::{beginning, columns};
use crate::{Sources, Style};
use mazurka_core::Location;

/// A place, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, which stands over the first of several rows.
    pub(crate) file: String,
    /// The line.
    line: String,
    /// What follows the line where there is no text: the column, the function of a library.
    rest: String,
    code: Option<Code>,
}

/// The text of a line: what comes before the column of the place, and what begins there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Code {
    before: String,
    behind: String,
}

impl Place {
    /// Where a row with this text is.
    pub(crate) fn new(at: &Location, row: &str, sources: Option<&Sources>, style: &Style) -> Self {
        let own = Location { file: String::new(), ..at.clone() }.to_string();
        let own = own.trim_start_matches(':');
        let (line, rest) = own.split_at(at.line.to_string().len());
        let code = sources.filter(|_| at.within.is_none()).and_then(|it| it.line(at));
        // What a statement of a model changes stands behind it, in brackets.
        let statement = row.split(" (").next().unwrap_or_default();
        let is_told = |(before, behind): &(String, String)| {
            !statement.is_empty() && format!("{before}{behind}").contains(statement)
        };
        Self {
            file: style.clean_line(&at.file),
            line: line.to_owned(),
            rest: style.clean_line(rest),
            code: code
                .filter(|it| !is_told(it))
                .map(|(before, behind)| Code::new(&before, &behind, style)),
        }
    }

    /// How many columns the number of the line takes.
    pub(crate) fn line_width(&self) -> usize {
        self.line.len()
    }

    /// How many columns the text takes, if there is one.
    pub(crate) fn code_width(&self) -> Option<usize> {
        self.code.as_ref().map(Code::width)
    }

    /// How many columns it takes without the text, with numbers that are so wide.
    pub(crate) fn width(&self, line_width: usize) -> usize {
        line_width + columns(&self.rest)
    }

    /// The line and, if there are columns for it behind the line, its text.
    pub(crate) fn shown(&self, line_width: usize, code: Option<usize>, style: &Style) -> String {
        let line = format!("{:>line_width$}", self.line);
        match (&self.code, code) {
            (Some(text), Some(room)) => {
                let bar = style.sign("│", "|");
                format!("{line} {bar} {}", text.excerpt(room, style))
            }
            _ => format!("{line}{}", self.rest),
        }
    }
}

impl Code {
    /// So much of what begins at the place is to be seen, if there is so much.
    const ENOUGH: usize = 8;
    /// With less than this behind it, a place is the end of something on its line.
    const LEAST: usize = 4;

    /// The text of a line. The place of a call is that of its name in some languages: what it is
    /// called on belongs to it.
    fn new(before: &str, behind: &str, style: &Style) -> Self {
        let clean = |text: &str| style.clean_line(text);
        if columns(behind) < Self::LEAST {
            return Self { before: String::new(), behind: clean(&format!("{before}{behind}")) };
        }
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | ':');
        let mut start = before;
        loop {
            let shorter = start.trim_end_matches(is_part);
            let shorter = shorter.strip_suffix("()").unwrap_or(shorter);
            if shorter.len() == start.len() {
                break;
            }
            start = shorter;
        }
        Self { before: clean(start), behind: clean(&format!("{}{behind}", &before[start.len()..])) }
    }

    fn width(&self) -> usize {
        columns(&self.before) + columns(&self.behind)
    }

    /// As much as fits: from the beginning of the line if that leaves enough of what the place is
    /// about, else from there on.
    fn excerpt(&self, room: usize, style: &Style) -> String {
        let whole = format!("{}{}", self.before, self.behind);
        if self.width() <= room {
            return whole;
        }
        let dots = style.sign("…", "...");
        let cut = |text: &str, room: usize| match columns(text) <= room {
            true => text.to_owned(),
            false => {
                let head = beginning(text, room.saturating_sub(columns(dots)));
                format!("{}{dots}", head.trim_end())
            }
        };
        let needed = columns(&self.behind).min(Self::ENOUGH);
        match columns(&self.before) + needed + columns(dots) <= room {
            true => cut(&whole, room),
            false => format!("{dots}{}", cut(&self.behind, room.saturating_sub(columns(dots)))),
        }
    }
}

/// The name of a file, its end if it is too wide: folders are left out from the left.
pub(crate) fn file_within(file: &str, room: usize, style: &Style) -> String {
    let dots = style.sign("…", "...");
    let mut rest = file;
    let mut prefix = String::new();
    while columns(&prefix) + columns(rest) > room {
        prefix = dots.to_owned();
        let next = rest.trim_start_matches('/').find('/');
        match next {
            Some(at) => rest = &rest.trim_start_matches('/')[at..],
            None => {
                let mut letters = rest.chars();
                if letters.next().is_none() {
                    break;
                }
                rest = letters.as_str();
            }
        }
    }
    format!("{prefix}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: &'static str, column: u32, row: &str) -> Place {
        let sources = Sources::new(move |_| Some(format!("\n{line}\n")));
        let file = "src/a.rs".to_owned();
        let at =
            Location { file, line: 2, column, function: None, within: None, is_library: false };
        Place::new(&at, row, Some(&sources), &Style::new())
    }

    #[test]
    fn a_text_that_is_too_long_keeps_what_the_place_is_about() {
        let line = "    if (!atomic_compare_exchange_strong(&top, &old, word(old, next)))";
        let top = place(line, 10, "read-modify-write top 2→1");
        let shown = |place: &Place, room: usize| place.shown(3, Some(room), &Style::new());
        assert_eq!(
            shown(&top, 80),
            "  2 │ if (!atomic_compare_exchange_strong(&top, &old, word(old, next)))"
        );
        assert_eq!(shown(&top, 30), "  2 │ if (!atomic_compare_exchange_…");
        assert_eq!(shown(&top, 13), "  2 │ …atomic_comp…");
        // A call with what it is called on.
        let last = place("let seen = self.counter.load(SeqCst) + 1;", 25, "load counter = 0");
        assert_eq!(shown(&last, 28), "  2 │ let seen = self.counter.loa…");
        assert_eq!(shown(&last, 18), "  2 │ …self.counter.loa…");
        let chain = place("let all: Vec<u32> = rx.iter().sum();", 31, "Iterator::sum");
        assert_eq!(shown(&chain, 18), "  2 │ …rx.iter().sum();");
        // The end of something.
        let end = place("let is_enough = *balance.read().unwrap() >= amount;", 51, "drop");
        assert_eq!(shown(&end, 18), "  2 │ let is_enough = *…");
        assert_eq!(top.shown(1, None, &Style::new()), "2:10", "no room");
        let ascii = top.shown(1, Some(14), &Style::new().ascii(true));
        assert_eq!(ascii, "2 | ...atomic_c...");
    }

    #[test]
    fn what_the_row_says_is_not_said_again() {
        let line = "  :: !asked[_pid] -> asked[_pid] = true";
        let row = "asked[_pid] = true (asked[0] 0→1)";
        assert_eq!(place(line, 22, row).code_width(), None);
        assert!(place(line, 22, "store asked 0→1").code_width().is_some());
    }

    #[test]
    fn folders_are_left_out_from_the_left() {
        let within = |room| file_within("crates/a/long/path/counter.rs", room, &Style::new());
        assert_eq!(within(29), "crates/a/long/path/counter.rs");
        assert_eq!(within(28), "…/a/long/path/counter.rs");
        assert_eq!(within(16), "…/counter.rs");
        assert_eq!(within(8), "…nter.rs");
        assert_eq!(file_within("/usr/include/x.h", 8, &Style::new()), "…/x.h");
        assert_eq!(within(0), "…");
    }
}
