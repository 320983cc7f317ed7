//! Literals: numbers, characters and strings as they are written.

use super::{Checked, Checker};
use crate::tree::{Constant, Expression, Global, GlobalId, Initial, Kind};
use crate::types::{Int, Qualified, Type};
use lang_c::ast;
use lang_c::span::Node;
use mazurka_source::Span;
use std::rc::Rc;

impl Checker<'_> {
    /// The `double` or `float` that a constant is made which was written as a `long double`, as
    /// those of `float.h` are.
    pub(super) fn shortened(
        &mut self,
        it: &Node<ast::Expression>,
        ty: &Type,
    ) -> Option<Expression> {
        let ast::Expression::Constant(constant) = &it.node else { return None };
        let ast::Constant::Float(number) = &constant.node else { return None };
        let is_long = number.suffix.format == ast::FloatFormat::LongDouble;
        if !is_long || !matches!(ty, Type::Double | Type::Float) {
            return None;
        }
        let value = float(number)?;
        let value = if *ty == Type::Float { f64::from(value as f32) } else { value };
        Some(Expression { kind: Kind::Float(value), ty: ty.clone(), span: self.span(it.span) })
    }

    pub(super) fn literal(&mut self, it: &ast::Constant, span: Span) -> Checked<Expression> {
        let (kind, ty) = match it {
            ast::Constant::Integer(number) => {
                let Some((value, int)) = integer(number) else {
                    return Err(self.invalid(span, "a number of more than 64 bits"));
                };
                (Kind::Int(value), Type::Int(int))
            }
            ast::Constant::Float(number) => {
                let Some(value) = float(number) else {
                    return Err(self.unsupported(span, "this form of a floating-point number"));
                };
                match number.suffix.format {
                    ast::FloatFormat::Float => (Kind::Float(f64::from(value as f32)), Type::Float),
                    ast::FloatFormat::Double => (Kind::Float(value), Type::Double),
                    _ => return Err(self.unsupported(span, "`long double`")),
                }
            }
            ast::Constant::Character(text) => match characters(text) {
                Some((units, width)) => {
                    // Several characters in one: each shifts those before it.
                    let value = units.iter().fold(0i64, |all, unit| all << 8 | i64::from(*unit));
                    let value = match units.len() {
                        1 if width == 1 => i64::from(units[0] as u8 as i8),
                        1 => i64::from(units[0] as i32),
                        _ => i64::from(value as i32),
                    };
                    (Kind::Int(value), Type::INT)
                }
                None => return Err(self.unsupported(span, "this form of a character")),
            },
        };
        Ok(Expression { kind, ty, span })
    }

    /// The bytes of a string with the zero at its end, and the type of its elements.
    pub(super) fn string_bytes(&mut self, parts: &[String], span: Span) -> Checked<(Vec<u8>, Int)> {
        let mut bytes = Vec::new();
        let mut element = Int::Char;
        for part in parts {
            let Some((units, width)) = characters(part) else {
                return Err(self.unsupported(span, "this form of a string"));
            };
            if width == 4 {
                element = Int::Int;
            }
            for unit in units {
                match element {
                    Int::Int => bytes.extend(unit.to_le_bytes()),
                    _ => bytes.push(unit as u8),
                }
            }
        }
        bytes.extend(std::iter::repeat_n(0, usize::from(element.bits()) / 8));
        Ok((bytes, element))
    }

    /// A string in memory; equal strings are one.
    pub(super) fn string(&mut self, bytes: Vec<u8>, element: Int, span: Span) -> GlobalId {
        if let Some(&id) = self.strings.get(&bytes) {
            return id;
        }
        let size = u64::from(element.bits()) / 8;
        let length = bytes.len() as u64 / size;
        let ty = Type::Array(Rc::new(Qualified::plain(Type::Int(element))), Some(length));
        let shown = String::from_utf8_lossy(&bytes[..bytes.len() - size as usize]);
        let name = format!("\"{}\"", shown.escape_default());
        let initial = string_initial(&bytes, 0);
        let ty = Qualified::plain(ty);
        let id = self.global(Global {
            name,
            ty,
            is_thread_local: false,
            is_defined: true,
            initial,
            span,
        });
        self.strings.insert(bytes, id);
        id
    }
}

/// The bytes of a string as parts of an initial state.
pub(super) fn string_initial(bytes: &[u8], offset: u64) -> Vec<Initial> {
    let part = |(idx, byte): (usize, &u8)| Initial {
        offset: offset + idx as u64,
        size: 1,
        value: Constant::Int(i64::from(*byte)),
    };
    bytes.iter().enumerate().filter(|(_, byte)| **byte != 0).map(part).collect()
}

/// The value of an integer and the first type of C11 6.4.4.1, 5 that has it.
fn integer(number: &ast::Integer) -> Option<(i64, Int)> {
    let radix = match number.base {
        ast::IntegerBase::Decimal => 10,
        ast::IntegerBase::Octal => 8,
        ast::IntegerBase::Hexadecimal => 16,
        ast::IntegerBase::Binary => 2,
    };
    let digits = if number.number.is_empty() { "0" } else { &*number.number };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let all = [
        (Int::Int, ast::IntegerSize::Int),
        (Int::UnsignedInt, ast::IntegerSize::Int),
        (Int::Long, ast::IntegerSize::Long),
        (Int::UnsignedLong, ast::IntegerSize::Long),
        (Int::LongLong, ast::IntegerSize::LongLong),
        (Int::UnsignedLongLong, ast::IntegerSize::LongLong),
    ];
    let is_decimal = radix == 10;
    let fits = |(int, size): &&(Int, ast::IntegerSize)| {
        *size >= number.suffix.size
            && !(number.suffix.unsigned && int.is_signed())
            && !(is_decimal && !number.suffix.unsigned && !int.is_signed())
            && int.number(int.wrap(i128::from(value))) == i128::from(value)
    };
    all.iter().find(fits).map(|(int, _)| (value as i64, *int))
}

fn float(number: &ast::Float) -> Option<f64> {
    if number.suffix.imaginary {
        return None;
    }
    match number.base {
        ast::FloatBase::Decimal => number.number.parse().ok(),
        ast::FloatBase::Hexadecimal => {
            let text = number.number.to_ascii_lowercase();
            let (mantissa, exponent) = text.split_once('p')?;
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits = format!("{whole}{fraction}");
            // More digits than a double has are rounded in ways that are not worth having.
            let value = u64::from_str_radix(&digits, 16).ok().filter(|it| *it < 1 << 53)?;
            let exponent = exponent.parse::<i32>().ok()? - 4 * fraction.len() as i32;
            Some(value as f64 * 2f64.powi(exponent))
        }
    }
}

/// The characters between quotes and the bytes that each has; `None` if that is not known here.
fn characters(text: &str) -> Option<(Vec<u32>, usize)> {
    let start = text.find(['"', '\''])?;
    let width = match &text[..start] {
        "" | "u8" => 1,
        "L" | "U" => 4,
        _ => return None,
    };
    let inner = text.get(start + 1..text.len() - 1)?;
    let mut units = Vec::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match (c, width) {
            ('\\', _) => units.push(escape(&mut rest)?),
            (_, 1) => units.extend(c.encode_utf8(&mut [0; 4]).bytes().map(u32::from)),
            _ => units.push(c as u32),
        }
    }
    Some((units, width))
}

/// The character that an escape sequence stands for; the backslash was taken.
fn escape(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits = |rest: &mut std::str::Chars<'_>, radix: u32, most: usize| {
        let text = rest.as_str();
        let is_digit = |c: &char| c.is_digit(radix);
        let n_digits = text.chars().take(most).take_while(is_digit).count();
        *rest = text[n_digits..].chars();
        u32::from_str_radix(&text[..n_digits], radix).ok()
    };
    if rest.clone().next()?.is_digit(8) {
        return digits(rest, 8, 3);
    }
    Some(match rest.next()? {
        'n' => 10,
        't' => 9,
        'r' => 13,
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        'e' => 27,
        'x' => digits(rest, 16, 8)?,
        'u' => digits(rest, 16, 4)?,
        'U' => digits(rest, 16, 8)?,
        other => other as u32,
    })
}
