//! Reads formulae in SPIN's syntax.
//!
//! From the tightest: the operators of C on what a proposition is made of; `!`, `X`, `[]`, `<>`;
//! `U`, `V`, `W`; `&&`; `||`; `->` and `<->`. Those with two operands associate to the left, also
//! `->`, as in SPIN. Every temporal operator has a word, too: `always`, `eventually`, `next`,
//! `until`, `release`, `weakuntil`, `implies`, `equivalent`.
//!
//! What is between logical operators is an atom, taken as it is written: `x + 1 == y`,
//! `worker[2]@critical`, `len(q)`. Its parts are not looked at beyond brackets that match.

use crate::{Atoms, Binary, Formula, MAX_ATOMS, Unary};
use std::ops::Range;

/// Why a text is no formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}, in column {}", self.offset + 1)]
pub struct ParseError {
    /// Where in the text, in bytes.
    pub offset: usize,
    /// How long what was found is, in bytes.
    pub len: usize,
    /// What could have been there.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// What to write instead, if that is known.
    pub help: Option<String>,
}

/// How deep formulae may be nested, and how many operators one may stand under.
const DEEPEST: u32 = 400;

impl Formula {
    /// Reads a formula. New atoms are added to `atoms`; one that has the text of an old one is it.
    pub fn parse(text: &str, atoms: &mut Atoms) -> Result<Self, ParseError> {
        Self::parse_placed(text, atoms, &mut Vec::new())
    }

    /// The same. For every new atom, where it first stands in the text is added to `places`.
    pub fn parse_placed(
        text: &str,
        atoms: &mut Atoms,
        places: &mut Vec<Range<usize>>,
    ) -> Result<Self, ParseError> {
        let tokens = tokens(text)?;
        let mut parser = Parser { text, tokens, at: 0, spans: Vec::new(), depth: 0, height: 0 };
        let operand = parser.binary(LOWEST)?;
        if parser.at < parser.tokens.len() {
            return Err(parser.error("an operator or the end of the formula"));
        }
        let mut formula = parser.formula(operand);
        parser.number(&mut formula, atoms, places)?;
        Ok(formula)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Name,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Signs, longer ones first.
const SIGNS: [&str; 38] = [
    "<->", "[]", "<>", "->", "&&", "||", "/\\", "\\/", "==", "!=", "<=", ">=", "<<", ">>", "??",
    "(", ")", "[", "]", "{", "}", "!", "~", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "?",
    "@", ":", ".", ",",
];

fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(c) = text[start..].chars().next() {
        if c.is_whitespace() {
            start += c.len_utf8();
            continue;
        }
        let rest = &text[start..];
        // As in SPIN, a formula may end like a statement.
        if c == ';' && rest.chars().all(|c| c == ';' || c.is_whitespace()) {
            break;
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if is_part(c) {
            let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            (if c.is_ascii_digit() { Kind::Number } else { Kind::Name }, len)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign, sign.len())
        } else {
            return Err(ParseError {
                offset: start,
                len: c.len_utf8(),
                expected: "a formula".to_owned(),
                found: format!("`{}`", c.escape_debug()),
                help: None,
            });
        };
        tokens.push(Token { kind, start, end: start + len });
        start += len;
    }
    Ok(tokens)
}

/// What was read of an operand.
enum Operand {
    /// A text that can still become a part of a larger atom. If it does not, it is `formula`, or
    /// the atom of the tokens `inner`, which are without the parentheses around it.
    Text { formula: Option<Formula>, start: usize, end: usize, inner: (usize, usize) },
    /// A formula with temporal operators.
    Temporal { formula: Formula, start: usize, end: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Logic(Binary),
    /// One of C's, within atoms.
    Inside,
}

/// The operators in front of an operand that make a temporal formula of it, or stand in front of
/// such.
const PREFIXES: [&str; 7] = ["!", "[]", "<>", "X", "always", "eventually", "next"];

/// How tightly the operators with two operands bind.
const LOWEST: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const UNTIL: u8 = 3;
const INSIDE: u8 = 4;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// The tokens of what may be atoms. Until all is read, an atom is known by its place here.
    spans: Vec<(usize, usize)>,
    /// How many operands are open.
    depth: u32,
    /// How many operators stand above each other in what was read last.
    height: u32,
}

impl Parser<'_> {
    fn binary(&mut self, lowest: u8) -> Result<Operand, ParseError> {
        let mut left = self.unary()?;
        let mut height = self.height;
        while let Some((operator, level)) = self.operator()
            && level >= lowest
        {
            let sign = self.at;
            self.at += 1;
            let right = self.binary(level + 1)?;
            height = height.max(self.height) + 1;
            if height > DEEPEST {
                self.at = sign;
                return Err(self.too_deep());
            }
            left = self.combine(left, operator, sign, right)?;
        }
        self.height = height;
        Ok(left)
    }

    fn too_deep(&self) -> ParseError {
        self.error(&format!("a formula that is nested at most {DEEPEST} deep"))
    }

    fn combine(
        &mut self,
        left: Operand,
        operator: Operator,
        sign: usize,
        right: Operand,
    ) -> Result<Operand, ParseError> {
        let (start, end) = (left.start(), right.end());
        let is_temporal = left.is_temporal() || right.is_temporal();
        match operator {
            Operator::Inside if is_temporal => {
                let help = match right.is_temporal() {
                    true => None,
                    false => self.parenthesised(&left),
                };
                self.at = sign;
                let error =
                    self.error("a logical operator, since an operand is a temporal formula");
                Err(ParseError { help, ..error })
            }
            Operator::Inside => Ok(Operand::text(start, end)),
            Operator::Logic(operator) => {
                let (left, right) = (self.formula(left), self.formula(right));
                let formula = Formula::binary(operator, left, right);
                let is_temporal = is_temporal
                    || matches!(operator, Binary::Until | Binary::WeakUntil | Binary::Release);
                Ok(Operand::new(formula, is_temporal, start, end))
            }
        }
    }

    /// What was meant if temporal operators in front of a formula should have been about more of
    /// it: `[] x == 1` was read up to here, and `[] (x == 1)` is it.
    fn parenthesised(&mut self, left: &Operand) -> Option<String> {
        let is_prefix = |it: &usize| PREFIXES.contains(&self.word(*it));
        let first = (left.start()..left.end()).find(|it| !is_prefix(it))?;
        // The rest of what belongs together.
        while let Some((Operator::Inside, _)) = self.operator() {
            self.at += 1;
            self.binary(INSIDE).ok()?;
        }
        let operators = self.written(left.start(), first);
        Some(format!("{operators} ({})", self.written(first, self.at)))
    }

    fn word(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.text[token.start..token.end])
    }

    fn unary(&mut self) -> Result<Operand, ParseError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.too_deep());
        }
        let operand = self.prefixed();
        self.depth -= 1;
        operand
    }

    fn prefixed(&mut self) -> Result<Operand, ParseError> {
        let start = self.at;
        let operator = match self.peek() {
            Some("!") => Unary::Not,
            Some("X" | "next") => Unary::Next,
            Some("[]" | "always") => Unary::Always,
            Some("<>" | "eventually") => Unary::Eventually,
            Some("-" | "~") => {
                self.at += 1;
                let operand = self.unary()?;
                self.height += 1;
                let end = operand.end();
                if operand.is_temporal() {
                    self.at = start;
                    return Err(self.error("a formula"));
                }
                return Ok(Operand::text(start, end));
            }
            _ => return self.primary(),
        };
        self.at += 1;
        let operand = self.unary()?;
        self.height += 1;
        let end = operand.end();
        let is_temporal = operator != Unary::Not || operand.is_temporal();
        let formula = Formula::unary(operator, self.formula(operand));
        Ok(Operand::new(formula, is_temporal, start, end))
    }

    fn primary(&mut self) -> Result<Operand, ParseError> {
        let start = self.at;
        let Some(&token) = self.tokens.get(start) else { return Err(self.error("a formula")) };
        if self.peek() == Some("(") {
            self.at += 1;
            let inner = self.binary(LOWEST)?;
            if self.peek() != Some(")") {
                return Err(self.error("an operator or `)`"));
            }
            self.at += 1;
            let end = self.at;
            return Ok(match inner {
                Operand::Temporal { formula, .. } => Operand::Temporal { formula, start, end },
                Operand::Text { formula, inner, .. } => {
                    Operand::Text { formula, start, end, inner }
                }
            });
        }
        if token.kind == Kind::Sign || self.operator().is_some() {
            return Err(self.error("a formula"));
        }
        self.at += 1;
        let word = &self.text[token.start..token.end];
        let formula = match word {
            "true" | "1" => Some(Formula::Constant(true)),
            "false" | "0" => Some(Formula::Constant(false)),
            _ => None,
        };
        let end = self.at;
        self.height = 0;
        self.postfix(Operand::Text { formula, start, end, inner: (start, end) })
    }

    /// Indices, arguments, fields, labels: whatever belongs to a name.
    fn postfix(&mut self, operand: Operand) -> Result<Operand, ParseError> {
        let start = operand.start();
        let before = self.at;
        loop {
            match self.peek() {
                Some("[" | "(") => self.brackets()?,
                Some("." | "@" | ":") => {
                    self.at += 1;
                    if self.tokens.get(self.at).is_none_or(|token| token.kind == Kind::Sign) {
                        return Err(self.error("a name"));
                    }
                    self.at += 1;
                }
                Some("?" | "??") => {
                    self.at += 1;
                    if self.peek() != Some("[") {
                        return Err(self.error("`[`"));
                    }
                    self.brackets()?;
                }
                _ if self.at == before => return Ok(operand),
                _ => return Ok(Operand::text(start, self.at)),
            }
        }
    }

    /// Skips what is in brackets.
    fn brackets(&mut self) -> Result<(), ParseError> {
        let mut open = Vec::new();
        loop {
            match (self.peek(), open.last()) {
                (Some("["), _) => open.push("]"),
                (Some("("), _) => open.push(")"),
                (Some(sign), Some(close)) if sign == *close => {
                    open.pop();
                }
                (None | Some("]" | ")"), Some(close)) => {
                    return Err(self.error(&format!("`{close}`")));
                }
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// The operator with two operands that comes next, if one does, and how tightly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        let logic = |operator, level| Some((Operator::Logic(operator), level));
        let inside = |level| Some((Operator::Inside, INSIDE + level));
        match self.peek()? {
            "->" | "implies" => logic(Binary::Implies, LOWEST),
            "<->" | "equivalent" => logic(Binary::Equivalent, LOWEST),
            "||" | "\\/" => logic(Binary::Or, OR),
            "&&" | "/\\" => logic(Binary::And, AND),
            "U" | "until" | "stronguntil" => logic(Binary::Until, UNTIL),
            "W" | "weakuntil" => logic(Binary::WeakUntil, UNTIL),
            "V" | "release" => logic(Binary::Release, UNTIL),
            "|" => inside(0),
            "^" => inside(1),
            "&" => inside(2),
            "==" | "!=" => inside(3),
            "<" | "<=" | ">" | ">=" => inside(4),
            "<<" | ">>" => inside(5),
            "+" | "-" => inside(6),
            "*" | "/" | "%" => inside(7),
            _ => None,
        }
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(|token| &self.text[token.start..token.end])
    }

    fn formula(&mut self, operand: Operand) -> Formula {
        match operand {
            Operand::Temporal { formula, .. } | Operand::Text { formula: Some(formula), .. } => {
                formula
            }
            Operand::Text { formula: None, inner, .. } => {
                self.spans.push(inner);
                Formula::Atom(self.spans.len() - 1)
            }
        }
    }

    /// Gives atoms their numbers, from left to right.
    fn number(
        &mut self,
        formula: &mut Formula,
        atoms: &mut Atoms,
        places: &mut Vec<Range<usize>>,
    ) -> Result<(), ParseError> {
        match formula {
            Formula::Constant(_) => {}
            Formula::Unary(_, operand) => self.number(operand, atoms, places)?,
            Formula::Binary(_, left, right) => {
                self.number(left, atoms, places)?;
                self.number(right, atoms, places)?;
            }
            Formula::Atom(atom) => {
                let (start, end) = self.spans[*atom];
                let text = self.written(start, end);
                let known = atoms.iter().position(|known| *known == text);
                if known.is_none() && atoms.len() == MAX_ATOMS {
                    self.at = start;
                    return Err(self.error(&format!("at most {MAX_ATOMS} different propositions")));
                }
                *atom = known.unwrap_or_else(|| {
                    atoms.push(text);
                    places.push(self.tokens[start].start..self.tokens[end - 1].end);
                    atoms.len() - 1
                });
            }
        }
        Ok(())
    }

    /// What is written with these tokens, one space between what was apart.
    fn written(&self, start: usize, end: usize) -> String {
        let mut text = String::new();
        let mut last_end = self.tokens[start].start;
        for token in &self.tokens[start..end] {
            if token.start > last_end {
                text.push(' ');
            }
            text.push_str(&self.text[token.start..token.end]);
            last_end = token.end;
        }
        text
    }

    fn error(&self, expected: &str) -> ParseError {
        let (offset, len) = match self.tokens.get(self.at) {
            Some(token) => (token.start, token.end - token.start),
            None => (self.text.trim_end().len(), 1),
        };
        let found = self.peek().map_or("the end".to_owned(), |text| format!("`{text}`"));
        ParseError { offset, len, expected: expected.to_owned(), found, help: None }
    }
}

impl Operand {
    fn new(formula: Formula, is_temporal: bool, start: usize, end: usize) -> Self {
        match is_temporal {
            true => Self::Temporal { formula, start, end },
            false => Self::Text { formula: Some(formula), start, end, inner: (start, end) },
        }
    }

    /// What is an atom as it stands, or a part of one.
    fn text(start: usize, end: usize) -> Self {
        Self::Text { formula: None, start, end, inner: (start, end) }
    }

    fn is_temporal(&self) -> bool {
        matches!(self, Self::Temporal { .. })
    }

    fn start(&self) -> usize {
        match *self {
            Self::Text { start, .. } | Self::Temporal { start, .. } => start,
        }
    }

    fn end(&self) -> usize {
        match *self {
            Self::Text { end, .. } | Self::Temporal { end, .. } => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let mut atoms = Atoms::new();
        let shown = match Formula::parse(text, &mut atoms) {
            Ok(formula) => format!("{}   {atoms:?}", formula.display(&atoms)),
            Err(error) => format!("{error}\n{text}\n{}^", " ".repeat(error.offset)),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn operators_bind_as_in_spin() {
        check(
            "[] p -> q U r && s || t",
            expect![[r#"([] p -> (((q U r) && s) || t))   ["p", "q", "r", "s", "t"]"#]],
        );
        check("a -> b -> c", expect![[r#"((a -> b) -> c)   ["a", "b", "c"]"#]]);
        check("a U b U c", expect![[r#"((a U b) U c)   ["a", "b", "c"]"#]]);
        check("! a U X b", expect![[r#"(!a U X b)   ["a", "b"]"#]]);
        check(
            "always (request implies eventually granted)",
            expect![[r#"[] (request -> <> granted)   ["request", "granted"]"#]],
        );
    }

    #[test]
    fn atoms_are_expressions() {
        check(
            "[] (x + 1 == y && worker[i - 1]@critical)",
            expect![[
                r#"[] ((x + 1 == y) && (worker[i - 1]@critical))   ["x + 1 == y", "worker[i - 1]@critical"]"#
            ]],
        );
        check("!x == 3", expect![[r#"(!x == 3)   ["!x == 3"]"#]]);
        check(
            "(x + 1) * 2 > len(q)",
            expect![[r#"((x + 1) * 2 > len(q))   ["(x + 1) * 2 > len(q)"]"#]],
        );
        check(
            "<> (q?[ack] || p:x == 2)",
            expect![[r#"<> ((q?[ack]) || (p:x == 2))   ["q?[ack]", "p:x == 2"]"#]],
        );
        check("true U (a)", expect![[r#"(true U a)   ["a"]"#]]);
    }

    #[test]
    fn mistakes_have_a_place() {
        check(
            "[] (p -> q",
            expect![[r#"
            expected an operator or `)`, found the end, in column 11
            [] (p -> q
                      ^"#]],
        );
        check(
            "p U",
            expect![[r#"
            expected a formula, found the end, in column 4
            p U
               ^"#]],
        );
        check(
            "p q",
            expect![[r#"
            expected an operator or the end of the formula, found `q`, in column 3
            p q
              ^"#]],
        );
        check(
            "([] p) + 1",
            expect![[r#"
            expected a logical operator, since an operand is a temporal formula, found `+`, in column 8
            ([] p) + 1
                   ^"#]],
        );
        check(
            "p && $",
            expect![[r#"
            expected a formula, found `$`, in column 6
            p && $
                 ^"#]],
        );
        check(
            "",
            expect![[r#"
            expected a formula, found the end, in column 1

            ^"#]],
        );
        check(
            "a[1)",
            expect![[r#"
            expected `]`, found `)`, in column 4
            a[1)
               ^"#]],
        );
    }
}
