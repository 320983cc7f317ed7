//! Tokens as text again, with line markers.
//!
//! In a model the end of a line may be the end of a statement, so that it matters which tokens are
//! on a line together: it is as the preprocessor of GNU C has it. A line begins where one does in
//! the file, and also where tokens with space or the border of an expansion between them are from
//! different lines.

use super::token::{Kind, Place, Token};
use std::fmt::Write as _;

/// How many empty lines are written before a marker is shorter.
const NEAR: u32 = 8;

/// How many lines a text may have that is to be without markers.
const ALL: u32 = u32::MAX;

/// The text that is written.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) text: String,
    /// Where the line that is being written is from.
    file: u32,
    line: u32,
    /// Where it begins in the text.
    start: usize,
    /// How many empty lines are written before there is a marker.
    near: u32,
    /// The token before, if it is on the same line.
    before: Option<Token>,
    /// Whether there is a border before the next token, and whether there was space at the name
    /// that it stands for.
    is_border: bool,
    source: Option<bool>,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            text: String::new(),
            file: u32::MAX,
            line: 0,
            start: 0,
            near: NEAR,
            before: None,
            is_border: false,
            source: None,
        }
    }
}

impl Writer {
    /// For a text that is all of one file, and needs no marker to say so.
    pub(super) fn of(file: u32) -> Self {
        Self { file, line: 1, near: ALL, ..Self::default() }
    }

    /// Writes a token that is to be shown at some place, of a file itself or of an expansion.
    pub(super) fn write(&mut self, token: &Token, place: Place, is_own: bool, files: &[String]) {
        if let Kind::Border(source) = token.kind {
            self.is_border = true;
            if self.source.is_none() || self.source == Some(false) && source.is_none() {
                self.source = source;
            }
            return;
        }
        let (is_border, source) = (std::mem::take(&mut self.is_border), self.source.take());
        let is_elsewhere = (place.file, place.line) != (self.file, self.line);
        if token.is_first && is_own || is_elsewhere && (is_border || token.is_spaced) {
            self.line_of(place, files);
            self.indent(place.column);
        } else {
            let joins = || self.before.as_ref().is_some_and(|it| would_join(it, token));
            let is_spaced = match is_border {
                true => source.unwrap_or(token.is_spaced) || joins(),
                false => token.is_spaced,
            };
            if is_spaced {
                self.text.push(' ');
                if is_own {
                    self.indent(place.column);
                }
            }
        }
        self.text.push_str(&token.text);
        self.before = Some(token.clone());
    }

    /// Ends the text.
    pub(super) fn end(&mut self) {
        if self.text.len() > self.start {
            self.text.push('\n');
        }
    }

    /// Begins a line that is from some place.
    fn line_of(&mut self, place: Place, files: &[String]) {
        if self.text.len() > self.start {
            self.text.push('\n');
            self.line += 1;
        }
        let is_near = place.file == self.file
            && (self.line..self.line.saturating_add(self.near)).contains(&place.line);
        if is_near {
            for _ in self.line..place.line {
                self.text.push('\n');
            }
        } else {
            let name = files.get(place.file as usize).map_or("", String::as_str);
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(self.text, "# {} \"{name}\"", place.line);
        }
        (self.file, self.line, self.start) = (place.file, place.line, self.text.len());
        self.before = None;
    }

    /// Goes to a column, if that is still to come.
    fn indent(&mut self, column: u32) {
        let at = self.text.len() - self.start;
        self.text.extend(std::iter::repeat_n(' ', (column as usize).saturating_sub(at)));
    }
}

/// Whether two tokens with nothing between them could be read as others.
fn would_join(left: &Token, right: &Token) -> bool {
    let first = match right.kind {
        Kind::Sign => right.text.chars().next().unwrap_or_default(),
        _ => ' ',
    };
    let makes_equal = ["=", "!", ">", "<", "+", "-", "*", "/", "%", "&", "|", "^", ">>", "<<"];
    match left.kind {
        Kind::Sign => {
            first == '=' && makes_equal.contains(&&*left.text)
                || match &*left.text {
                    ">" => first == '>',
                    "<" => matches!(first, '<' | '%' | ':'),
                    "+" => first == '+',
                    "-" => matches!(first, '-' | '>'),
                    "/" => matches!(first, '/' | '*'),
                    "%" => matches!(first, ':' | '%'),
                    "&" => first == '&',
                    "|" => first == '|',
                    ":" => matches!(first, ':' | '>'),
                    "->" => first == '*',
                    "." => matches!(first, '.' | '%') || right.kind == Kind::Number,
                    "#" => matches!(first, '#' | '%'),
                    _ => false,
                }
        }
        Kind::Name => {
            let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
            match right.kind {
                Kind::Number => is_word(&right.text),
                Kind::Name | Kind::Character | Kind::Text => true,
                _ => false,
            }
        }
        Kind::Number => {
            matches!(right.kind, Kind::Number | Kind::Name | Kind::Character)
                || matches!(first, '.' | '+' | '-')
        }
        _ => false,
    }
}
