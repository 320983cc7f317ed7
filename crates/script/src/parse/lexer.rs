//! Cuts a text into words, numbers and signs.

use super::{Errors, ScriptError};

/// A token and where it begins, counted from 1 in characters.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) column: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word(String),
    Number(u64),
    Sign(&'static str),
    End,
}

/// The longer ones first, so that `==` is not two `=`.
const SIGNS: [&str; 24] = [
    "||", "==", "!=", "<=", ">=", "|", "=", "<", ">", "+", "-", "*", "%", "(", ")", "[", "]", "{",
    "}", ";", ",", ":", "!", ".",
];

/// The tokens of `text`; the last one is [`Kind::End`], and no other is.
pub(super) fn tokens(text: &str, errors: &mut Errors) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let len;
        if first.is_whitespace() {
            len = first.len_utf8();
        } else if first.is_ascii_digit() {
            len = length(rest, |c| c.is_ascii_digit());
            let number = rest[..len].parse().unwrap_or_else(|_| {
                errors.push(ScriptError::new(column, "this number is too large"));
                0
            });
            tokens.push(Token { kind: Kind::Number(number), column });
        } else if is_word(first) {
            len = length(rest, |c| is_word(c) || c.is_ascii_digit());
            tokens.push(Token { kind: Kind::Word(rest[..len].to_owned()), column });
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            len = sign.len();
            tokens.push(Token { kind: Kind::Sign(sign), column });
        } else {
            errors.push(ScriptError::new(column, format!("`{first}` means nothing here")));
            len = first.len_utf8();
        }
        column += rest[..len].chars().count();
        rest = &rest[len..];
    }
    tokens.push(Token { kind: Kind::End, column });
    tokens
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn length(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}
