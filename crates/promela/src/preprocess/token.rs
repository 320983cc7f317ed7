//! From a file to the tokens that a preprocessor knows.
//!
//! Lines that end in a backslash are joined before anything else is looked at, and comments are
//! space. A quote that is not closed makes a token of what is left of its line, and `1..N` is one
//! number, in which no macro is expanded: that is how the preprocessors of C see it, and models
//! rely on it.

use std::path::PathBuf;
use std::rc::Rc;

/// A place in a file, or in what `#line` says the file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// By its number among all names of files.
    pub(super) file: u32,
    /// From 1.
    pub(super) line: u32,
    /// In bytes, from 0.
    pub(super) column: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    /// A character in quotes.
    Character,
    /// A string in quotes.
    Text,
    Sign,
    /// Anything else, such as a quote that is not closed.
    Other,
    /// Nothing, between tokens of which one may come from a macro. If it stands for a name that was
    /// replaced: whether there was space before that.
    Border(Option<bool>),
    /// The end of a line.
    Newline,
    /// The end of everything that is to be looked at.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: Rc<str>,
    pub(super) place: Place,
    /// Whether there is space before it.
    pub(super) is_spaced: bool,
    /// Whether it is the first one of its line.
    pub(super) is_first: bool,
    /// Whether it is a name that has to stay as it is.
    pub(super) is_final: bool,
}

impl Token {
    /// A token that is in no file.
    pub(super) fn made(kind: Kind, text: &str, place: Place) -> Self {
        let (is_spaced, is_first, is_final) = (false, false, false);
        Self { kind, text: text.into(), place, is_spaced, is_first, is_final }
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && &*self.text == sign
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && &*self.text == name
    }
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Its text, with lines joined.
    text: String,
    at: usize,
    /// Where its lines begin in there.
    starts: Vec<usize>,
    /// The line at hand, from 0.
    line: usize,
    is_line_start: bool,
    /// What it is called: the file, by its number.
    pub(super) file: u32,
    /// What is to be added to the number of a line.
    pub(super) shift: i64,
    /// The folder that it is in.
    pub(super) folder: Option<PathBuf>,
    /// The file, if it is one.
    pub(super) path: Option<PathBuf>,
    /// The conditions that are open in it.
    pub(super) conditions: Vec<Condition>,
}

/// `#if`, up to its `#endif`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) place: Place,
    /// The last directive that belongs to it.
    pub(super) directive: &'static str,
    /// Whether its lines are left out.
    pub(super) is_skipped: bool,
    /// Whether no later part of it is taken.
    pub(super) is_decided: bool,
}

/// Signs of more than one character.
const LONG_SIGNS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "##",
];

/// What may stand before a quote as a part of what is quoted.
const PREFIXES: [&str; 4] = ["L", "u", "U", "u8"];

impl Buffer {
    pub(super) fn new(file: u32, folder: Option<PathBuf>, written: &str) -> Self {
        let (text, starts) = join_lines(written);
        Self {
            text,
            at: 0,
            starts,
            line: 0,
            is_line_start: true,
            file,
            shift: 0,
            folder,
            path: None,
            conditions: Vec::new(),
        }
    }

    /// Whether the lines at hand are left out.
    pub(super) fn is_skipping(&self) -> bool {
        self.conditions.last().is_some_and(|it| it.is_skipped)
    }

    /// The next token. [`Kind::Newline`] and [`Kind::End`] are tokens, too.
    pub(super) fn next(&mut self) -> Token {
        let is_spaced = self.skip_space();
        let place = self.place();
        let start = self.at;
        let kind = self.advance();
        let text = self.text[start..self.at].into();
        let is_first = std::mem::replace(&mut self.is_line_start, kind == Kind::Newline);
        Token { kind, text, place, is_spaced, is_first, is_final: false }
    }

    /// Lets the end of a line be the next token once more.
    pub(super) fn back_to_newline(&mut self) {
        self.at -= 1;
        self.is_line_start = false;
    }

    /// What stands between `<` and `>`, if that is what comes next: the name of a file.
    pub(super) fn angled(&mut self) -> Option<String> {
        self.skip_space();
        let rest = self.text[self.at..].strip_prefix('<')?;
        let len = rest.find(['>', '\n']).filter(|&len| rest[len..].starts_with('>'))?;
        let name = rest[..len].to_owned();
        self.at += len + 2;
        Some(name)
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Where the next token is.
    pub(super) fn place(&mut self) -> Place {
        while self.starts.get(self.line + 1).is_some_and(|&start| start <= self.at) {
            self.line += 1;
        }
        let column = (self.at - self.starts[self.line]) as u32;
        Place { file: self.file, line: (self.line as i64 + 1 + self.shift) as u32, column }
    }

    /// Goes over space and comments; whether there was any.
    fn skip_space(&mut self) -> bool {
        let start = self.at;
        loop {
            let rest = self.rest();
            match rest {
                [b' ' | b'\t' | b'\r' | 0xb | 0xc, ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', inside @ ..] => match inside.windows(2).position(|two| two == b"*/") {
                    Some(len) => self.at += len + 4,
                    // It is not closed: nothing follows it. The caller finds out by
                    // `open_comment`.
                    None => return self.at > start,
                },
                _ => return self.at > start,
            }
        }
    }

    /// Goes over one token.
    fn advance(&mut self) -> Kind {
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Kind::End };
        let (kind, len) = match first {
            b'\n' => (Kind::Newline, 1),
            b'/' if rest.get(1) == Some(&b'*') => (Kind::Other, rest.len()),
            b'"' | b'\'' => quoted(rest, 0),
            b'0'..=b'9' => (Kind::Number, number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(rest)),
            _ if is_name_part(first) => {
                let len = rest.iter().take_while(|&&b| is_name_part(b)).count();
                let is_prefix = PREFIXES.iter().any(|it| it.as_bytes() == &rest[..len]);
                match rest.get(len) {
                    Some(b'"' | b'\'') if is_prefix => quoted(rest, len),
                    _ => (Kind::Name, len),
                }
            }
            _ => {
                let long = LONG_SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
                let is_sign = first.is_ascii_punctuation() && !matches!(first, b'@' | b'`' | b'\\');
                let kind = if is_sign { Kind::Sign } else { Kind::Other };
                (kind, long.map_or(1, |sign| sign.len()))
            }
        };
        self.at += len;
        kind
    }
}

/// Whether a token is a comment that is not closed.
pub(super) fn is_open_comment(token: &Token) -> bool {
    token.kind == Kind::Other && token.text.starts_with("/*")
}

fn is_name_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// How long a number is: everything that could belong to one.
fn number(rest: &[u8]) -> usize {
    let mut len = 1;
    while let Some(&byte) = rest.get(len) {
        let is_sign =
            matches!(byte, b'+' | b'-') && matches!(rest[len - 1], b'e' | b'E' | b'p' | b'P');
        if !is_name_part(byte) && byte != b'.' && !is_sign {
            break;
        }
        len += 1;
    }
    len
}

/// How long something in quotes is that may have a prefix.
fn quoted(rest: &[u8], prefix: usize) -> (Kind, usize) {
    let quote = rest[prefix];
    let mut len = prefix + 1;
    loop {
        match rest.get(len) {
            None | Some(b'\n') => return (Kind::Other, len),
            Some(b'\\') if rest.get(len + 1).is_some_and(|&byte| byte != b'\n') => len += 2,
            Some(&byte) if byte == quote => break,
            Some(_) => len += 1,
        }
    }
    (if quote == b'"' { Kind::Text } else { Kind::Character }, len + 1)
}

/// The token that a text is, if it is exactly one.
pub(super) fn single(text: &str) -> Option<Kind> {
    let mut buffer = Buffer::new(0, None, text);
    let token = buffer.next();
    let is_one = &*token.text == text && buffer.next().kind == Kind::End;
    let is_token = !matches!(token.kind, Kind::Newline | Kind::End | Kind::Other);
    (is_one && is_token).then_some(token.kind)
}

/// A text without the ends of lines behind a backslash, and where lines begin in it.
fn join_lines(written: &str) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::with_capacity(written.len() + 1), vec![0]);
    for line in written.split_inclusive('\n') {
        let is_ended = line.ends_with('\n');
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}');
        match line.trim_end_matches(space).strip_suffix('\\') {
            Some(joined) if is_ended => text.push_str(joined),
            _ => {
                text.push_str(line);
                if is_ended {
                    text.push('\n');
                }
            }
        }
        if is_ended {
            starts.push(text.len());
        }
    }
    (text, starts)
}
