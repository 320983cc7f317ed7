//! The lexer: from text to tokens.
//!
//! Within the body of a process, a newline separates statements: where a line ends in something
//! that a statement may end in, outside of parentheses, a `;` is put there.

use crate::fault::code;
use mazurka_source::{Fault, Span};

/// A token: what it is, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a word of the language.
    Name(String),
    Number(i32),
    /// A string with its quotes taken off, as it is written.
    Text(String),
    Sign(&'static str),
    /// A separator that stands for the end of a line.
    Newline,
    End,
}

/// Signs, longer ones first.
const SIGNS: [&str; 41] = [
    "<->", "->", "::", "..", "??", "!!", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++",
    "--", "(", ")", "[", "]", "{", "}", "!", "~", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^",
    "?", "@", ":", ".", ",", ";", "=",
];

/// The words before a `{` behind which lines end statements.
const BODIES: [&str; 8] =
    ["proctype", "D_proctype", "init", "never", "trace", "notrace", "typedef", "inline"];

/// The words that a statement may end in. No other word of the language may be its last.
const LAST_WORDS: [&str; 4] = ["od", "fi", "else", "break"];

/// The tokens of a text, and what in it is none. The last one is [`Kind::End`].
pub(crate) fn tokens(text: &str, text_idx: u32) -> (Vec<Token>, Vec<(Fault, Span)>) {
    let mut lexer = Lexer {
        text,
        text_idx,
        at: 0,
        tokens: Vec::new(),
        faults: Vec::new(),
        parentheses: 0,
        braces: 0,
        body_follows: false,
        in_body: false,
    };
    lexer.run();
    (lexer.tokens, lexer.faults)
}

struct Lexer<'a> {
    text: &'a str,
    text_idx: u32,
    at: usize,
    tokens: Vec<Token>,
    faults: Vec<(Fault, Span)>,
    parentheses: u32,
    braces: u32,
    /// Whether the next `{` begins a body.
    body_follows: bool,
    in_body: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            match c {
                '\n' => self.newline(),
                '#' if self.is_line_start() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len())
                }
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '"' => self.text_literal(),
                '\'' => self.character(),
                c if c.is_ascii_digit() => self.number(),
                c if c.is_alphabetic() || c == '_' => self.name(),
                _ => self.sign(c),
            }
            debug_assert!(self.at > start, "every token has a length");
        }
        self.push(Kind::End, self.at);
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn is_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    fn span(&self, start: usize) -> Span {
        Span { text_idx: self.text_idx, start: start as u32, end: self.at as u32 }
    }

    /// Adds a token that ends here.
    fn push(&mut self, kind: Kind, start: usize) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    fn newline(&mut self) {
        let start = self.at;
        self.at += 1;
        let ends_statement = self.in_body && self.parentheses == 0 && self.may_end_statement();
        if ends_statement {
            self.push(Kind::Newline, start);
        }
    }

    /// Whether a statement may end in the last token.
    fn may_end_statement(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            Some(Kind::Sign("}")) => !self.rest().trim_start().starts_with("unless"),
            Some(Kind::Sign(sign)) => matches!(*sign, ")" | "]" | "++" | "--"),
            Some(Kind::Number(_)) => true,
            Some(Kind::Name(name)) => {
                LAST_WORDS.contains(&name.as_str()) || !crate::parse::is_word(name)
            }
            _ => false,
        }
    }

    fn text_literal(&mut self) {
        let start = self.at;
        let mut is_escaped = false;
        let mut close = None;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => {
                    close = Some(offset);
                    break;
                }
                '\n' => break,
                _ => {}
            }
        }
        match close {
            Some(close) => {
                let text = self.rest()[1..close].to_owned();
                self.at += close + 1;
                self.push(Kind::Text(text), start);
            }
            None => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                let fault = Fault::new(code::SYNTAX, "string not terminated");
                self.faults.push((fault, self.span(start)));
            }
        }
    }

    fn character(&mut self) {
        let start = self.at;
        let mut chars = self.rest().chars().skip(1);
        let (value, len) = match chars.next() {
            Some('\\') => {
                let value = match chars.next() {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some('f') => '\u{c}',
                    Some(other) => other,
                    None => '\0',
                };
                (value, 2)
            }
            Some(c) => (c, c.len_utf8()),
            None => ('\0', 0),
        };
        if chars.next() == Some('\'') {
            self.at += len + 2;
            self.push(Kind::Number(value as i32), start);
        } else {
            self.at += 1;
            let fault = Fault::new(code::SYNTAX, "character quote missing");
            self.faults.push((fault, self.span(start)));
        }
    }

    fn number(&mut self) {
        let start = self.at;
        self.at += self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let value = match self.text[start..self.at].parse::<i64>() {
            Ok(value) if i32::try_from(value).is_ok() => value as i32,
            // The sign is taken from it later, and it stays what it is.
            Ok(value) if value == -i64::from(i32::MIN) && self.is_negative() => i32::MIN,
            _ => {
                let fault = Fault::new(code::SYNTAX, "value out of range")
                    .label("numbers have 32 bits and a sign");
                self.faults.push((fault, self.span(start)));
                0
            }
        };
        self.push(Kind::Number(value), start);
    }

    /// Whether a minus sign stands in front that is no subtraction.
    fn is_negative(&self) -> bool {
        let [.., before, minus] = &self.tokens[..] else {
            return matches!(&self.tokens[..], [Token { kind: Kind::Sign("-"), .. }]);
        };
        let is_operand = match &before.kind {
            Kind::Name(name) => !crate::parse::is_word(name),
            Kind::Number(_) | Kind::Text(_) => true,
            Kind::Sign(sign) => matches!(*sign, ")" | "]"),
            Kind::Newline | Kind::End => false,
        };
        minus.kind == Kind::Sign("-") && !is_operand
    }

    fn name(&mut self) {
        let start = self.at;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.at += self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let name = self.text[start..self.at].to_owned();
        self.body_follows |= self.braces == 0 && BODIES.contains(&name.as_str());
        self.push(Kind::Name(name), start);
    }

    fn sign(&mut self, c: char) {
        let start = self.at;
        let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) else {
            self.at += c.len_utf8();
            let fault =
                Fault::new(code::SYNTAX, format!("`{}` means nothing here", c.escape_debug()));
            self.faults.push((fault, self.span(start)));
            return;
        };
        self.at += sign.len();
        self.push(Kind::Sign(sign), start);
        match *sign {
            "(" => self.parentheses += 1,
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            "{" => {
                if self.braces == 0 {
                    self.in_body = std::mem::take(&mut self.body_follows);
                }
                self.braces += 1;
            }
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                self.in_body &= self.braces > 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let (tokens, faults) = tokens(text, 0);
        let show = |token: &Token| match &token.kind {
            Kind::Name(name) => name.clone(),
            Kind::Number(value) => value.to_string(),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Sign(sign) => (*sign).to_owned(),
            Kind::Newline => "NL".to_owned(),
            Kind::End => "END".to_owned(),
        };
        let tokens: Vec<_> = tokens.iter().map(show).collect();
        format!("{}{}", tokens.join(" "), " FAULT".repeat(faults.len()))
    }

    #[test]
    fn lines_end_statements_within_bodies() {
        assert_eq!(
            shown("byte x\ninit {\nx = 1\nx++\n}\n"),
            "byte x init { x = 1 NL x ++ NL } END"
        );
        assert_eq!(shown("init {\ndo\n:: x ->\n y\nod\n}"), "init { do :: x -> y NL od NL } END");
        assert_eq!(shown("init { (a\n&& b)\n}"), "init { ( a && b ) NL } END");
    }

    #[test]
    fn an_escape_may_stand_on_its_own_line() {
        assert_eq!(shown("init { { a }\n unless b }"), "init { { a } unless b } END");
    }

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(shown("1..3 'a' '\\n'"), "1 .. 3 97 10 END");
        assert_eq!(shown("99999999999 \"x"), "0 END FAULT FAULT");
    }
}
