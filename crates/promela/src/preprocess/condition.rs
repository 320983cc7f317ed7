//! What `#if` asks: an expression over numbers of 64 bits, with a sign or without.

use super::token::{Kind, Token};
use super::{Preprocessor, Stop};

/// How deep expressions may be nested.
const DEEPEST: u32 = 2_000;

/// A number, and whether it has no sign.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: i64,
    is_unsigned: bool,
}

impl Value {
    fn truth(is_true: bool) -> Self {
        Self { bits: i64::from(is_true), is_unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Whether the rest of the line is an expression that holds.
pub(super) fn holds(preprocessor: &mut Preprocessor, directive: &Token) -> Result<bool, Stop> {
    let mut tokens = Vec::new();
    loop {
        let token = preprocessor.token()?;
        if token.kind == Kind::End {
            break;
        }
        let token = match token.kind {
            Kind::Name if &*token.text == "defined" => asked(preprocessor, &token, directive)?,
            Kind::Name if &*token.text == "__has_include" => {
                has_include(preprocessor, &token, directive)?
            }
            _ => token,
        };
        tokens.push(token);
    }
    let name = directive.text.clone();
    if tokens.is_empty() {
        let text = format!("#{name} with no expression");
        return Err(preprocessor.wrong(directive.place, directive.text.len(), &text));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, name: &name };
    let found = parser.all();
    found.map(Value::is_true).map_err(|(idx, text)| {
        let token = tokens.get(idx).or(tokens.last()).expect("there is one");
        preprocessor.wrong(token.place, token.text.len(), &text)
    })
}

/// A number in place of a question.
fn answer(token: &Token, is_so: bool) -> Token {
    Token::made(Kind::Number, if is_so { "1" } else { "0" }, token.place)
}

/// `defined X` or `defined (X)`.
fn asked(preprocessor: &mut Preprocessor, token: &Token, directive: &Token) -> Result<Token, Stop> {
    preprocessor.n_plain += 1;
    let mut name = preprocessor.token()?;
    let is_nested = name.is_sign("(");
    if is_nested {
        name = preprocessor.token()?;
    }
    let (place, len) = (token.place, token.text.len());
    if name.kind != Kind::Name {
        let text = "operator \"defined\" requires an identifier";
        return Err(preprocessor.wrong(place, len, text));
    }
    if is_nested && !preprocessor.token()?.is_sign(")") {
        let text = format!("missing ')' after \"defined\" in #{}", directive.text);
        return Err(preprocessor.wrong(place, len, &text));
    }
    preprocessor.n_plain -= 1;
    let is_known = preprocessor.macros.contains_key(&name.text);
    Ok(answer(token, is_known || &*name.text == "__has_include"))
}

/// `__has_include("file")`.
fn has_include(
    preprocessor: &mut Preprocessor,
    token: &Token,
    directive: &Token,
) -> Result<Token, Stop> {
    let wrong = |preprocessor: &mut Preprocessor| {
        let text =
            format!("#{}: __has_include wants (\"FILENAME\") or (<FILENAME>)", directive.text);
        Err(preprocessor.wrong(token.place, token.text.len(), &text))
    };
    if !preprocessor.token()?.is_sign("(") {
        return wrong(preprocessor);
    }
    let (name, is_angled) = match preprocessor.buffer().angled() {
        Some(name) => (name, true),
        None => {
            let name = preprocessor.token()?;
            if name.kind != Kind::Text {
                return wrong(preprocessor);
            }
            (name.text.trim_matches('"').to_owned(), false)
        }
    };
    if !preprocessor.token()?.is_sign(")") {
        return wrong(preprocessor);
    }
    let is_there = preprocessor.find_file(&name, is_angled).is_some();
    Ok(answer(token, is_there))
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    /// The directive.
    name: &'a str,
}

/// A token, by its number, and what is wrong there.
type Wrong = (usize, String);

/// How tightly a sign binds its two operands.
fn strength(sign: &str) -> Option<u32> {
    Some(match sign {
        "," => 1,
        "?" => 2,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => 9,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        _ => return None,
    })
}

impl Parser<'_> {
    fn all(&mut self) -> Result<Value, Wrong> {
        let value = self.operators(1, true)?;
        let Some(token) = self.tokens.get(self.at) else { return Ok(value) };
        let text = match (&*token.text, token.kind) {
            (")", _) => format!("missing '(' in expression of #{}", self.name),
            (":", _) => format!("':' without preceding '?' in #{}", self.name),
            (other, Kind::Sign) => {
                format!("token \"{other}\" is not valid in preprocessor expressions")
            }
            (other, _) => format!("missing binary operator before token \"{other}\""),
        };
        Err((self.at, text))
    }

    fn sign(&self) -> &str {
        match self.tokens.get(self.at) {
            Some(token) if token.kind == Kind::Sign => &token.text,
            _ => "",
        }
    }

    /// Operands with operators that bind at least so tightly. What is not `wanted` cannot go wrong.
    fn operators(&mut self, least: u32, wanted: bool) -> Result<Value, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at, format!("the expression of #{} is nested too deep", self.name)));
        }
        let mut left = self.operand(wanted)?;
        while let Some(tightness) = strength(self.sign()).filter(|&it| it >= least) {
            let (at, sign) = (self.at, self.sign().to_owned());
            self.at += 1;
            left = match &*sign {
                "?" => {
                    let is_true = left.is_true();
                    let yes = self.operators(1, wanted && is_true)?;
                    if self.sign() != ":" {
                        return Err((at, "'?' without following ':'".to_owned()));
                    }
                    self.at += 1;
                    let no = self.operators(tightness, wanted && !is_true)?;
                    let is_unsigned = yes.is_unsigned || no.is_unsigned;
                    Value { is_unsigned, ..if is_true { yes } else { no } }
                }
                "||" => {
                    let right = self.operators(tightness + 1, wanted && !left.is_true())?;
                    Value::truth(left.is_true() || right.is_true())
                }
                "&&" => {
                    let right = self.operators(tightness + 1, wanted && left.is_true())?;
                    Value::truth(left.is_true() && right.is_true())
                }
                _ => {
                    let right = self.operators(tightness + 1, wanted)?;
                    match compute(&sign, left, right) {
                        Some(value) => value,
                        None if wanted => {
                            return Err((at, format!("division by zero in #{}", self.name)));
                        }
                        None => left,
                    }
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self, wanted: bool) -> Result<Value, Wrong> {
        let at = self.at;
        let Some(token) = self.tokens.get(at) else {
            let last = &self.tokens[at - 1];
            let text = match last.is_sign("(") {
                true => format!("missing ')' in expression of #{}", self.name),
                false => format!("operator '{}' has no right operand", last.text),
            };
            return Err((at - 1, text));
        };
        self.at += 1;
        match token.kind {
            Kind::Number => return number(&token.text).map_err(|text| (at, text)),
            Kind::Character => return character(&token.text).map_err(|text| (at, text)),
            // A name that is no macro.
            Kind::Name => return Ok(Value::truth(false)),
            _ => {}
        }
        match &*token.text {
            "(" => {
                let value = self.operators(1, wanted)?;
                if self.sign() != ")" {
                    return Err((at, "missing ')' in expression".to_owned()));
                }
                self.at += 1;
                Ok(value)
            }
            sign @ ("!" | "~" | "-" | "+") => {
                // Tighter than any operator with two operands.
                let value = self.operators(13, wanted)?;
                Ok(match sign {
                    "!" => Value::truth(!value.is_true()),
                    "~" => Value { bits: !value.bits, ..value },
                    "-" => Value { bits: value.bits.wrapping_neg(), ..value },
                    _ => value,
                })
            }
            sign if strength(sign).is_some() => {
                Err((at, format!("operator '{sign}' has no left operand")))
            }
            other => {
                Err((at, format!("token \"{other}\" is not valid in preprocessor expressions")))
            }
        }
    }
}

/// What an operator computes; nothing if it divides by zero.
fn compute(sign: &str, left: Value, right: Value) -> Option<Value> {
    let (a, b) = (left.bits, right.bits);
    let is_unsigned = left.is_unsigned || right.is_unsigned;
    let value = |bits: i64| Some(Value { bits, is_unsigned });
    let order = match is_unsigned {
        true => (a as u64).cmp(&(b as u64)),
        false => a.cmp(&b),
    };
    match sign {
        "," => Some(right),
        "|" => value(a | b),
        "^" => value(a ^ b),
        "&" => value(a & b),
        "+" => value(a.wrapping_add(b)),
        "-" => value(a.wrapping_sub(b)),
        "*" => value(a.wrapping_mul(b)),
        "/" | "%" if b == 0 => None,
        "/" if is_unsigned => value((a as u64 / b as u64) as i64),
        "/" => value(a.wrapping_div(b)),
        "%" if is_unsigned => value((a as u64 % b as u64) as i64),
        "%" => value(a.wrapping_rem(b)),
        "<<" | ">>" => {
            let is_left = (sign == "<<") != (!right.is_unsigned && b < 0);
            let by = if right.is_unsigned { b as u64 } else { b.unsigned_abs() };
            let bits = match (is_left, by < 64) {
                (true, true) => a << by,
                (true, false) => 0,
                (false, true) if left.is_unsigned => (a as u64 >> by) as i64,
                (false, true) => a >> by,
                (false, false) if left.is_unsigned || a >= 0 => 0,
                (false, false) => -1,
            };
            Some(Value { bits, is_unsigned: left.is_unsigned })
        }
        "==" => Some(Value::truth(a == b)),
        "!=" => Some(Value::truth(a != b)),
        "<" => Some(Value::truth(order.is_lt())),
        ">" => Some(Value::truth(order.is_gt())),
        "<=" => Some(Value::truth(order.is_le())),
        ">=" => Some(Value::truth(order.is_ge())),
        _ => unreachable!("all operators are listed"),
    }
}

/// The value of a number.
fn number(text: &str) -> Result<Value, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if suffix.starts_with('.') || radix == 10 && suffix.starts_with('e') {
        return Err("floating constant in preprocessor expression".to_owned());
    }
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return Err(format!("invalid suffix \"{suffix}\" on integer constant"));
    }
    let zero = if digits.is_empty() && radix == 8 { "0" } else { digits };
    let bits = u64::from_str_radix(zero, radix)
        .map_err(|_| "integer constant is too large for its type".to_owned())?;
    let is_unsigned = suffix.contains('u') || bits > i64::MAX as u64;
    Ok(Value { bits: bits as i64, is_unsigned })
}

/// The value of a character.
fn character(text: &str) -> Result<Value, String> {
    let inside = text.trim_start_matches(['L', 'u', 'U', '8']);
    let inside = inside.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).unwrap_or("");
    let mut bytes = inside.bytes().peekable();
    let mut value: i32 = 0;
    let mut n = 0;
    while let Some(byte) = bytes.next() {
        let read = match (byte, bytes.peek().copied()) {
            (b'\\', Some(escaped)) => {
                bytes.next();
                match escaped {
                    b'n' => 10,
                    b't' => 9,
                    b'r' => 13,
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'v' => 11,
                    b'e' | b'E' => 27,
                    b'x' => {
                        let mut code = 0u32;
                        while let Some(digit) =
                            bytes.peek().and_then(|&it| char::from(it).to_digit(16))
                        {
                            code = code << 4 | digit;
                            bytes.next();
                        }
                        code as u8
                    }
                    b'0'..=b'7' => {
                        let mut code = u32::from(escaped - b'0');
                        for _ in 0..2 {
                            let Some(digit) =
                                bytes.peek().and_then(|&it| char::from(it).to_digit(8))
                            else {
                                break;
                            };
                            code = code << 3 | digit;
                            bytes.next();
                        }
                        code as u8
                    }
                    other => other,
                }
            }
            _ => byte,
        };
        n += 1;
        value = value << 8 | i32::from(read);
    }
    if n == 0 {
        return Err("empty character constant".to_owned());
    }
    // A single character has a sign.
    let bits = if n == 1 { i64::from(value as i8) } else { i64::from(value) };
    Ok(Value { bits, is_unsigned: false })
}
