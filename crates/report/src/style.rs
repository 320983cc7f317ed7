//! How text looks: its width, its colours, its alphabet; and a page that keeps to them.

use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How text looks. By default 80 columns, no colour, and signs beyond ASCII.
///
/// Whether there is a terminal, what it can show and whether `NO_COLOR` is set, its user finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    width: usize,
    in_colour: bool,
    in_ascii: bool,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Colour {
    /// Green: it holds.
    Good,
    /// Red: it is violated.
    Bad,
    /// Yellow: it is not known.
    Open,
    /// Cyan: what is being done.
    Doing,
    /// Dim: what frames the rest.
    Aside,
}

impl Style {
    /// Narrower than this nothing is laid out.
    pub const MIN_WIDTH: usize = 40;

    /// The default.
    pub fn new() -> Self {
        Self { width: 80, in_colour: false, in_ascii: false }
    }

    /// With lines of at most `width` columns, or [`Style::MIN_WIDTH`] if that is more.
    pub fn width(mut self, width: usize) -> Self {
        self.width = width.max(Self::MIN_WIDTH);
        self
    }

    /// With colours or, as it is by default, without any escape code.
    pub fn colour(mut self, in_colour: bool) -> Self {
        self.in_colour = in_colour;
        self
    }

    /// With ASCII alone: names in other alphabets are escaped.
    pub fn ascii(mut self, in_ascii: bool) -> Self {
        self.in_ascii = in_ascii;
        self
    }

    pub(crate) fn columns(&self) -> usize {
        self.width
    }

    /// One of two signs, the second of which is ASCII.
    pub(crate) fn sign<'a>(&self, sign: &'a str, ascii: &'a str) -> &'a str {
        if self.in_ascii { ascii } else { sign }
    }

    /// A text in a colour, if there are colours.
    pub fn paint(&self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Good => "1;32",
            Colour::Bad => "1;31",
            Colour::Open => "1;33",
            Colour::Doing => "1;36",
            Colour::Aside => "2",
        };
        match self.in_colour && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A text that cannot move the cursor, change colours or the direction of reading, whatever
    /// the program that was checked has put into it. Line ends stay.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut cleaned = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\n' => cleaned.push('\n'),
                '\t' => cleaned.push(' '),
                '\r' => {}
                _ if c.is_control() || changes_direction(c) => cleaned.extend(c.escape_default()),
                _ if c.is_ascii() || !self.in_ascii => cleaned.push(c),
                '→' => cleaned.push_str("->"),
                '…' => cleaned.push_str("..."),
                '±' => cleaned.push_str("+-"),
                '✗' => cleaned.push('x'),
                _ => cleaned.extend(c.escape_default()),
            }
        }
        cleaned
    }

    /// [`Style::clean`], on one line.
    pub(crate) fn clean_line(&self, text: &str) -> String {
        self.clean(text).replace('\n', " ")
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::new()
    }
}

fn changes_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text in the making: words in the margin, text beside them, within the width of its style.
#[derive(Clone, Debug)]
pub struct Page {
    style: Style,
    text: String,
}

impl Page {
    /// Where the text beside the margin begins.
    const INDENT: usize = 12;
    /// Where the text of a paragraph begins.
    const PARAGRAPH: usize = 9;

    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// A word in the margin, a text, and at the right end of its last line an aside.
    pub fn headline(&mut self, colour: Colour, word: &str, text: &str, aside: &str) {
        let room = self.style.columns() - Self::INDENT;
        let mut lines = wrap(&self.style.clean(text), room);
        if !aside.is_empty() {
            let used = lines.last().map_or(0, |line| columns(line));
            let left = room.checked_sub(used).filter(|&left| left > columns(aside));
            match (left, lines.last_mut()) {
                (Some(left), Some(line)) => {
                    line.push_str(&" ".repeat(left - columns(aside)));
                    line.push_str(aside);
                }
                _ => lines.extend(
                    wrap(aside, room)
                        .iter()
                        .map(|line| format!("{}{line}", " ".repeat(room - columns(line)))),
                ),
            }
        }
        let word = self.style.clean_line(word);
        let word = fit(&word, Self::INDENT - 1, &self.style);
        let margin = format!("{}{word}", " ".repeat(Self::INDENT - 1 - columns(&word)));
        let margin = self.style.paint(colour, &margin);
        for (idx, line) in lines.iter().enumerate() {
            match idx {
                0 => self.line(&format!("{margin} {line}")),
                _ => self.line(&format!("{}{line}", " ".repeat(Self::INDENT))),
            }
        }
    }

    /// A text after a word, its further lines below its first one.
    pub fn paragraph(&mut self, word: &str, text: &str) {
        let lines = wrap(&self.style.clean(text), self.style.columns() - Self::PARAGRAPH);
        for (idx, line) in lines.iter().enumerate() {
            let word = if idx == 0 { word } else { "" };
            self.line(&format!("{word:>0$} {line}", Self::PARAGRAPH - 1));
        }
    }

    /// A line as it is. Blanks at its end are dropped.
    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}", line.trim_end());
    }

    /// Everything so far.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// How many columns of a terminal a text takes.
pub(crate) fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text with blanks behind it, up to so many columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// A text, or its beginning and end if it is too wide.
fn fit(text: &str, width: usize, style: &Style) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let gap = style.sign("…", "..");
    let room = width - columns(gap);
    let head = beginning(text, room.div_ceil(2));
    let mut tail = text;
    while columns(tail) > room / 2 {
        let mut rest = tail.chars();
        rest.next();
        tail = rest.as_str();
    }
    format!("{head}{gap}{tail}")
}

/// As much of a text as fits.
pub(crate) fn beginning(text: &str, width: usize) -> &str {
    let mut end = 0;
    let mut taken = 0;
    for (idx, c) in text.char_indices() {
        let after = idx + c.len_utf8();
        taken += c.width().unwrap_or(0);
        // A sign can make the one before it wider, and only the whole text tells.
        if taken > width || columns(&text[..after]) > width {
            break;
        }
        end = after;
    }
    &text[..end]
}

/// As much of the beginning of a word as ends in a sign between two parts of it, if that is not
/// too little.
fn breakable(part: &str) -> &str {
    // The sign of a number belongs to its digits.
    let is_hyphen = |at: usize| part[..at].ends_with(|it: char| it.is_alphanumeric());
    let mut places = part.rmatch_indices(['-', '_', '/', '.', ':', '}', '→']);
    let last = places.find(|&(at, sign)| sign != "-" || is_hyphen(at));
    match last {
        Some((at, sign)) if at + sign.len() > part.len() / 2 => &part[..at + sign.len()],
        _ => part,
    }
}

/// The words of a text in lines of at most `width` columns; what is longer is broken anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    // What is indented stays so, and what follows of it is one step further in.
    let indent = |line: &str| match line.len() - line.trim_start_matches(' ').len() {
        0 => 0,
        blanks => (blanks + 2).min(width / 2),
    };
    text.split('\n').flat_map(|line| wrap_hanging(line, width, indent(line))).collect()
}

/// Like [`wrap`], of one line, with all lines but the first indented.
pub(crate) fn wrap_hanging(text: &str, width: usize, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut is_begun = false;
    for mut word in text.split(' ') {
        // A sign alone, such as a cross, is no line of its own.
        let is_sign = lines.is_empty() && columns(&line) == 1;
        if is_begun && (columns(&line) + 1 + columns(word) <= width || is_sign && width > 2) {
            line.push(' ');
        } else if is_begun {
            lines.push(std::mem::replace(&mut line, margin.clone()));
        }
        while columns(&line) + columns(word) > width {
            let part = breakable(beginning(word, width.saturating_sub(columns(&line))));
            // At least one sign a line, or there would be no end.
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (part, rest) = word.split_at(part.len().max(first));
            line.push_str(part);
            word = rest;
            if word.is_empty() {
                break;
            }
            lines.push(std::mem::replace(&mut line, margin.clone()));
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check_wrap(text: &str, width: usize, expect: Expect) {
        let lines = wrap(text, width);
        assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
        expect.assert_eq(&lines.join("|"));
    }

    #[test]
    fn lines_are_broken_between_words_and_else_anywhere() {
        check_wrap("", 10, expect![""]);
        check_wrap("no deadlock at all", 11, expect!["no deadlock|at all"]);
        check_wrap("a very-long-word-indeed b", 8, expect!["a very-|long-|word-|indeed b"]);
        check_wrap("one\ntwo three", 80, expect!["one|two three"]);
        check_wrap("2147483647→-2147483648", 20, expect!["2147483647→|-2147483648"]);
        check_wrap("✗ lock_guard alice.lock", 12, expect!["✗ lock_guard|alice.lock"]);
        check_wrap("✗ a_very_long_word", 12, expect!["✗ a_very_|long_word"]);
        check_wrap("  took a lock", 10, expect!["  took a|    lock"]);
        check_wrap("数据竞争发生在这里", 7, expect!["数据竞|争发生|在这里"]);
        check_wrap("❤️❤️❤️", 3, expect!["❤️❤|️❤️"]);
    }

    #[test]
    fn what_a_program_says_cannot_paint_the_screen() {
        let evil = "a\x1b[31mb\u{202e}c\u{7}\td";
        expect![r"a\u{1b}[31mb\u{202e}c\u{7} d"].assert_eq(&Style::new().clean(evil));
        let ascii = Style::new().ascii(true);
        expect![r"0->1 \u{e9} \u{6570}"].assert_eq(&ascii.clean("0→1 é 数"));
    }

    #[test]
    fn a_headline_keeps_its_aside_at_the_right() {
        let mut page = Page::new(Style::new().width(44));
        page.line("44 columns:");
        page.headline(Colour::Good, "Holds", "everywhere", "3 traces");
        page.headline(Colour::Bad, "Violated", "some long message that is wrapped", "trace 1");
        page.headline(Colour::Open, "a-very-long-word", "exactly as long as the line is..", "1 s");
        page.paragraph("Tip:", "something that is so long that it needs two lines");
        expect![[r#"
            44 columns:
                  Holds everywhere              3 traces
               Violated some long message that is
                        wrapped                  trace 1
            a-ver…-word exactly as long as the line is..
                                                     1 s
                Tip: something that is so long that it
                     needs two lines
        "#]]
        .assert_eq(&page.into_text());
    }

    #[test]
    fn colours_can_be_off() {
        assert_eq!(Style::new().paint(Colour::Bad, "x"), "x");
        assert_eq!(Style::new().colour(true).paint(Colour::Bad, "x"), "\x1b[1;31mx\x1b[0m");
    }
}
