//! The text that is parsed, and where each part of it came from.
//!
//! The preprocessor leaves line markers (`# 12 "file.c"`). It keeps lines, and columns as long as
//! no macro was expanded before them; where one was, the word itself is looked for in the line.

use crate::Fault;
use std::collections::BTreeMap;
use std::fs;

/// A part of one of the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text, by its place in [`Sources::texts`].
    pub text_idx: u32,
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
}

impl Span {
    /// From the beginning of this to the end of `other`, in the same text.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

/// A place in a file of the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Its name, as the preprocessor has it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
    /// How many bytes are meant.
    pub len: u32,
}

/// A preprocessed text.
#[derive(Debug)]
pub struct Text {
    /// All of it, line markers too.
    pub text: String,
    /// Where each line begins, which file it is of and which number it has there.
    lines: Vec<Line>,
    files: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: u32,
    file_idx: u32,
    number: u32,
}

impl Text {
    /// `name` is the file as long as no marker says something else.
    pub fn new(name: &str, text: String) -> Self {
        let mut files = vec![name.to_owned()];
        let mut lines = Vec::new();
        let (mut file_idx, mut number, mut start) = (0, 1, 0);
        for line in text.split_inclusive('\n') {
            match marker(line) {
                Some((marked, file)) => {
                    file_idx = files.iter().position(|known| *known == file).unwrap_or_else(|| {
                        files.push(file);
                        files.len() - 1
                    });
                    number = marked;
                }
                None => {
                    lines.push(Line { start, file_idx: file_idx as u32, number });
                    number += 1;
                }
            }
            start += line.len() as u32;
        }
        Self { text, lines, files }
    }

    fn line_at(&self, offset: u32) -> Option<Line> {
        let after = self.lines.partition_point(|line| line.start <= offset);
        self.lines.get(after.checked_sub(1)?).copied()
    }
}

/// All texts of a program.
#[derive(Debug, Default)]
pub struct Sources {
    /// They, in the order in which they were added.
    pub texts: Vec<Text>,
    /// The files of the user, read when something is shown of them.
    read: std::cell::RefCell<BTreeMap<String, Option<Vec<String>>>>,
}

impl Sources {
    /// Adds a text that is in no file; what is shown of it is `written`, before its macros were
    /// expanded. Returns its number.
    pub fn add(&mut self, name: &str, written: &str, text: String) -> u32 {
        let lines = written.lines().map(str::to_owned).collect();
        self.read.get_mut().insert(name.to_owned(), Some(lines));
        self.texts.push(Text::new(name, text));
        self.texts.len() as u32 - 1
    }

    /// Puts a fault where a part of a text came from.
    pub fn place(&self, fault: Fault, span: Span) -> Fault {
        let spot = self.spot(span);
        let line = self.line(&spot.file, spot.line);
        Fault { spot: Some(spot), line, ..fault }
    }

    /// Where in the files of the user a part is.
    pub fn spot(&self, span: Span) -> Spot {
        let text = &self.texts[span.text_idx as usize];
        let Some(line) = text.line_at(span.start) else {
            return Spot { file: text.files[0].clone(), line: 1, column: 0, len: 0 };
        };
        let file = text.files[line.file_idx as usize].clone();
        let rest = text.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let part = rest.lines().next().unwrap_or_default().trim_end();
        let column = (span.start - line.start) as usize;
        let (column, len) = self.find(&file, line.number, column, part);
        Spot { file, line: line.number, column, len }
    }

    /// A line of a file of the user.
    pub fn line(&self, file: &str, number: u32) -> Option<String> {
        let mut read = self.read.borrow_mut();
        let lines = read.entry(file.to_owned()).or_insert_with(|| {
            let bytes = fs::read(file).ok()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get((number as usize).checked_sub(1)?).cloned()
    }

    /// The column, from 1, of `part` in a line, and how much of it is there.
    fn find(&self, file: &str, number: u32, column: usize, part: &str) -> (u32, u32) {
        let Some(line) = self.line(file, number) else {
            return (column as u32 + 1, part.len() as u32);
        };
        if !part.is_empty() && line.get(column..).is_some_and(|rest| rest.starts_with(part)) {
            return (column as u32 + 1, part.len() as u32);
        }
        if part.is_empty() && column >= line.trim_end().len() {
            return (line.trim_end().len() as u32 + 1, 1);
        }
        // A macro stands there: what of its expansion does the line have?
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words = part.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        for wanted in std::iter::once(part).filter(|part| !part.is_empty()).chain(words) {
            let nearest =
                line.match_indices(wanted).min_by_key(|(start, _)| start.abs_diff(column));
            if let Some((start, _)) = nearest {
                return (start as u32 + 1, wanted.len() as u32);
            }
        }
        (0, 0)
    }
}

/// The line number and the file of a line marker.
fn marker(line: &str) -> Option<(u32, String)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start().strip_prefix('"')?;
    let end = name.rfind('"')?;
    Some((number, name[..end].replace("\\\\", "\\").replace("\\\"", "\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_say_where_a_line_is_from() {
        let text =
            "# 1 \"a.c\"\nint x;\n# 7 \"b.h\" 1 3 4\nint y;\nint z;\n# 3 \"a.c\" 2\n  f();\n";
        let at = |what: &str| text.find(what).expect("it is there") as u32;
        let sources =
            Sources { texts: vec![Text::new("?", text.to_owned())], ..Sources::default() };
        let spot = |what: &str| {
            let start = at(what);
            let spot = sources.spot(Span { text_idx: 0, start, end: start + what.len() as u32 });
            (spot.file, spot.line, spot.column)
        };
        assert_eq!(spot("x;"), ("a.c".to_owned(), 1, 5));
        assert_eq!(spot("z;"), ("b.h".to_owned(), 8, 5));
        assert_eq!(spot("f()"), ("a.c".to_owned(), 3, 3));
    }
}
