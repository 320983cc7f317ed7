//! `printf` and its like: a call with a format that is known becomes one call of the library for
//! each part of it.
//!
//! All arguments are evaluated first. What is written with `%f`, `%e`, `%g`, `%a`, `%p` and `%n` is
//! not worked out: `sprintf` and `snprintf` refuse it, and whatever prints to a file is then taken
//! to return 0, which the verdict tells.

use super::expression::{Operand, number};
use super::{Checked, Checker, Name, all, pointer};
use crate::tree::{Base, Call, Callee, Expression, Kind, Place};
use crate::types::{Int, Qualified, Type};
use lang_c::ast;
use lang_c::span::Node;
use mazurka_model::Assumption;
use mazurka_source::Span;

/// More characters than a program writes.
const NO_LIMIT: i64 = i64::MAX;

/// Where a function prints to.
#[derive(Clone, Copy, PartialEq)]
enum To {
    /// A file; so many arguments name it.
    File(usize),
    /// Memory that is large enough.
    Memory,
    /// Memory, and how many bytes it has.
    Room,
}

impl To {
    fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("__builtin_").unwrap_or(name) {
            "printf" => Self::File(0),
            "fprintf" | "dprintf" => Self::File(1),
            "sprintf" => Self::Memory,
            "snprintf" => Self::Room,
            _ => return None,
        })
    }

    /// How many arguments are before the format.
    fn n_first(self) -> usize {
        match self {
            Self::File(n) => n,
            Self::Memory => 1,
            Self::Room => 2,
        }
    }
}

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// Text: where it begins, and how long it is.
    Text(usize, usize),
    Conversion(Conversion),
}

/// `%-8.3ld`.
#[derive(Clone, Debug, PartialEq)]
struct Conversion {
    flags: i64,
    width: Amount,
    precision: Amount,
    length: Length,
    letter: u8,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    None,
    Known(i64),
    Argument,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Char,
    Short,
    Int,
    Long,
}

/// Where a part is printed: the variables that all calls of the library have in common.
struct Printing {
    to: Place,
    room: Place,
    at: Place,
    span: Span,
}

impl<'a> Checker<'a> {
    /// The call of a function that prints, unless the program has its own.
    pub(super) fn print_call(
        &mut self,
        name: &str,
        arguments: &'a [Node<ast::Expression>],
        span: Span,
    ) -> Option<Checked<Expression>> {
        let to = To::named(name).filter(|_| !self.is_users(name))?;
        let parts = arguments.get(to.n_first()).and_then(|format| self.format_of(format));
        match parts {
            Some(Ok(parts)) => Some(self.print(to, &parts, arguments, span)),
            _ if matches!(to, To::File(_)) => None,
            Some(Err(letter)) => {
                Some(Err(self.unsupported(span, format_args!("`%{letter}` in `{name}`"))))
            }
            None => {
                Some(Err(self.unsupported(span, format_args!("`{name}` of a computed format"))))
            }
        }
    }

    /// Whether a function is one of the program, and not of the library.
    fn is_users(&self, name: &str) -> bool {
        match self.lookup(name) {
            Some(Name::Function(id)) => {
                self.definitions[id.0].is_some_and(|it| !self.units[it.unit_idx].is_library)
            }
            Some(_) => true,
            None => false,
        }
    }

    /// The parts of a format that is written where it is used, or a conversion that it should not
    /// have.
    fn format_of(&mut self, it: &'a Node<ast::Expression>) -> Option<Result<Vec<Part>, char>> {
        let ast::Expression::StringLiteral(literal) = &it.node else { return None };
        let span = self.span(it.span);
        match self.string_bytes(&literal.node, span) {
            Ok((bytes, Int::Char)) => Some(parts_of(&bytes)),
            _ => None,
        }
    }

    fn print(
        &mut self,
        to: To,
        parts: &[Part],
        arguments: &'a [Node<ast::Expression>],
        span: Span,
    ) -> Checked<Expression> {
        let text = pointer(&Qualified::plain(Type::Int(Int::Char)));
        let mut done = Vec::new();
        let mut kept = Vec::new();
        for value in all(arguments.iter().map(|it| self.expression(it)))? {
            kept.push(self.kept(value, span, &mut done)?);
        }
        let nowhere = number(0, text.clone(), span);
        let (target, room) = match to {
            To::File(_) => (nowhere, number(0, Type::SIZE, span)),
            To::Memory => (self.read(&kept[0])?, number(NO_LIMIT, Type::SIZE, span)),
            To::Room => (self.read(&kept[0])?, self.read(&kept[1])?),
        };
        let (target, room) =
            (self.convert(target, &text, span)?, self.convert(room, &Type::SIZE, span)?);
        let printing = Printing {
            to: self.kept(target, span, &mut done)?,
            room: self.kept(room, span, &mut done)?,
            at: self.kept(number(0, Type::SIZE, span), span, &mut done)?,
            span,
        };
        let format = kept[to.n_first()].clone();
        let mut rest = kept.into_iter().skip(to.n_first() + 1);
        for part in parts {
            let (name, more) = match part {
                Part::Text(start, len) => {
                    let (start, len) = (*start as i64, *len as i64);
                    let start = number(start, Type::Int(Int::Long), span);
                    let kind = Kind::Advance(Box::new(self.read(&format)?), Box::new(start), 1);
                    let piece = Expression { kind, ty: text.clone(), span };
                    let int = |value| number(value, Type::INT, span);
                    ("text", vec![piece, int(0), int(0), int(len)])
                }
                Part::Conversion(it) => self.conversion(it, &mut rest, span)?,
            };
            let printed = self.print_part(&printing, name, more)?;
            done.push(self.assign(printing.at.clone(), printed, span)?);
        }
        if matches!(to, To::File(_)) {
            self.assume(Assumption::Printing);
        }
        let end = self.print_part(&printing, "end", Vec::new())?;
        done.push(self.convert(end, &Type::INT, span)?);
        Ok(Expression { kind: Kind::Comma(done), ty: Type::INT, span })
    }

    /// The function of the library that prints a conversion, and what it is given.
    fn conversion(
        &mut self,
        it: &Conversion,
        rest: &mut impl Iterator<Item = Place>,
        span: Span,
    ) -> Checked<(&'static str, Vec<Expression>)> {
        let width = self.amount(it.width, 0, rest, span)?;
        let precision = self.amount(it.precision, -1, rest, span)?;
        let Some(argument) = rest.next() else {
            return Err(self.invalid(span, "the format has more conversions than arguments"));
        };
        let value = self.read(&argument)?;
        let (narrow, wide, name) = match (it.letter, it.length) {
            (b's', _) => {
                let text = pointer(&Qualified::plain(Type::Int(Int::Char)));
                (text.clone(), text, "text")
            }
            (b'c', _) => (Type::Int(Int::UnsignedChar), Type::INT, "character"),
            (b'd' | b'i', length) => {
                let narrow = [Int::SignedChar, Int::Short, Int::Int, Int::Long][length as usize];
                (Type::Int(narrow), Type::Int(Int::Long), "signed")
            }
            (letter, length) => {
                let narrow =
                    [Int::UnsignedChar, Int::UnsignedShort, Int::UnsignedInt, Int::UnsignedLong];
                let name = match letter {
                    b'o' => "octal",
                    b'x' | b'X' => "hexadecimal",
                    _ => "unsigned",
                };
                (Type::Int(narrow[length as usize]), Type::SIZE, name)
            }
        };
        let value = self.convert(value, &narrow, span)?;
        let value = self.convert(value, &wide, span)?;
        let flags = number(it.flags, Type::INT, span);
        Ok((name, vec![value, flags, width, precision]))
    }

    fn amount(
        &mut self,
        it: Amount,
        usual: i64,
        rest: &mut impl Iterator<Item = Place>,
        span: Span,
    ) -> Checked<Expression> {
        match it {
            Amount::None => Ok(number(usual, Type::INT, span)),
            Amount::Known(value) => Ok(number(value, Type::INT, span)),
            Amount::Argument => match rest.next() {
                Some(place) => {
                    let value = self.read(&place)?;
                    self.convert(value, &Type::INT, span)
                }
                None => Err(self.invalid(span, "the format has more conversions than arguments")),
            },
        }
    }

    /// A call of `__mazurka_print_…` of the library: what was printed before, and `more`.
    fn print_part(
        &mut self,
        printing: &Printing,
        name: &str,
        more: Vec<Expression>,
    ) -> Checked<Expression> {
        let name = format!("__mazurka_print_{name}");
        let Some(Name::Function(id)) = self.external.get(&name).cloned() else {
            unreachable!("`{name}` is in the library");
        };
        self.need(id, None);
        let ty = self.tree.functions[id.0].signature.result.clone();
        let first = [&printing.to, &printing.room, &printing.at];
        let mut arguments = Vec::new();
        for place in first {
            arguments.push(self.read(place)?);
        }
        arguments.extend(more);
        let callee = Callee::Function(id);
        let kind = Kind::Call(Box::new(Call { callee, arguments, result: None }));
        Ok(Expression { kind, ty, span: printing.span })
    }

    /// Keeps a value in a variable of its own; `done` gets the assignment.
    fn kept(
        &mut self,
        value: Expression,
        span: Span,
        done: &mut Vec<Expression>,
    ) -> Checked<Place> {
        let ty = Qualified::plain(value.ty.clone());
        let base = Base::Local(self.local("", ty.clone(), span));
        let place = Place { base, offset: 0, ty, bits: None, span };
        done.push(self.assign(place.clone(), value, span)?);
        Ok(place)
    }

    fn read(&mut self, place: &Place) -> Checked<Expression> {
        self.value(Operand::Place(place.clone()))
    }
}

/// The parts of a format, or a conversion that is not worked out.
fn parts_of(format: &[u8]) -> Result<Vec<Part>, char> {
    let end = format.iter().position(|&byte| byte == 0).unwrap_or(format.len());
    let mut rest = Reader { bytes: &format[..end], at: 0 };
    let mut parts = Vec::new();
    while rest.at < end {
        let start = rest.at;
        if !rest.takes(b'%') {
            let len = rest.bytes[start..].iter().position(|&byte| byte == b'%');
            rest.at = len.map_or(end, |len| start + len);
            parts.push(Part::Text(start, rest.at - start));
        } else if rest.takes(b'%') {
            parts.push(Part::Text(start, 1));
        } else {
            parts.push(Part::Conversion(rest.conversion()?));
        }
    }
    Ok(parts)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn conversion(&mut self) -> Result<Conversion, char> {
        /// As the library has them: 1, 2, 4, 8 and 16.
        const FLAGS: &[u8] = b"-0+ #";
        let mut flags = 0;
        while let Some(flag) = FLAGS.iter().position(|&flag| self.takes(flag)) {
            flags |= 1 << flag;
        }
        let width = self.amount();
        let precision = match self.takes(b'.') {
            true => match self.amount() {
                Amount::None => Amount::Known(0),
                amount => amount,
            },
            false => Amount::None,
        };
        let length = self.length();
        let letter = self.bytes.get(self.at).copied().unwrap_or(b'%');
        self.at += 1;
        let is_wide_text = matches!(letter, b's' | b'c') && length != Length::Int;
        if !b"diuoxXcs".contains(&letter) || is_wide_text {
            return Err(char::from(letter));
        }
        // The library's flag for capital letters.
        flags |= i64::from(letter == b'X') << FLAGS.len();
        Ok(Conversion { flags, width, precision, length, letter })
    }

    fn amount(&mut self) -> Amount {
        if self.takes(b'*') {
            return Amount::Argument;
        }
        let digits = self.bytes[self.at..].iter().take_while(|it| it.is_ascii_digit()).count();
        let text = &self.bytes[self.at..self.at + digits];
        self.at += digits;
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        number.map_or(Amount::None, Amount::Known)
    }

    fn length(&mut self) -> Length {
        if self.takes(b'h') {
            return if self.takes(b'h') { Length::Char } else { Length::Short };
        }
        if self.takes(b'l') {
            self.takes(b'l');
            return Length::Long;
        }
        match b"zjt".iter().any(|&byte| self.takes(byte)) {
            true => Length::Long,
            false => Length::Int,
        }
    }
}
