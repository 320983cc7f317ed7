//! Propositions about the objects of a program, in the words of its source: `turn == 1 &&
//! slots[2].n > 0`.
//!
//! An expression of C over variables that are there from the beginning, with constant indices.
//! Numbers are computed in 64 bits, with a sign. What is a thread's own has the name of a function
//! in front, and the number of the thread in brackets if it is not the first one that runs the
//! function: `worker:n`, `worker[2]:n` for a local, `worker[2]@wait` for whether the thread stands
//! at a label.

use crate::{
    Binary, Compare, Expr, Layout, LayoutId, LocationId, ObjectIdx, Place, Program, Query,
    RegisterId, RoutineId, Storage, Type, Unary,
};
use std::ops::Range;

/// Why a text is no proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropositionError {
    /// Where in the text, in bytes.
    pub place: Range<usize>,
    /// What is wrong there.
    pub message: String,
}

/// What a proposition means: a [`Type::BOOL`] that no thread computes.
pub fn proposition(program: &Program, text: &str) -> Result<Expr, PropositionError> {
    let mut parser = Parser { program, text, at: 0 };
    let value = parser.binary(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator"));
    }
    Ok(value.is_true())
}

const VALUE: Type = Type::I64;

/// What an operator with two operands does.
#[derive(Clone, Copy, Debug)]
enum Operator {
    Or,
    And,
    Compute(Binary),
    Compare(Compare),
}

/// The operators, longer ones first, with how tightly they bind.
const OPERATORS: [(&str, u8, Operator); 18] = [
    ("||", 0, Operator::Or),
    ("&&", 1, Operator::And),
    ("==", 5, Operator::Compare(Compare::Equal)),
    ("!=", 5, Operator::Compare(Compare::NotEqual)),
    ("<=", 6, Operator::Compare(Compare::LessOrEqual)),
    (">=", 6, Operator::Compare(Compare::GreaterOrEqual)),
    ("<<", 7, Operator::Compute(Binary::ShiftLeft)),
    (">>", 7, Operator::Compute(Binary::ShiftRight)),
    ("<", 6, Operator::Compare(Compare::Less)),
    (">", 6, Operator::Compare(Compare::Greater)),
    ("|", 2, Operator::Compute(Binary::Or)),
    ("^", 3, Operator::Compute(Binary::Xor)),
    ("&", 4, Operator::Compute(Binary::And)),
    ("+", 8, Operator::Compute(Binary::Add)),
    ("-", 8, Operator::Compute(Binary::Subtract)),
    ("*", 9, Operator::Compute(Binary::Multiply)),
    ("/", 9, Operator::Compute(Binary::Divide)),
    ("%", 9, Operator::Compute(Binary::Remainder)),
];

/// Where a local is.
enum Local {
    Register(RegisterId, Type),
    /// The number of the object of the frame.
    Memory(u32, LayoutId),
}

struct Parser<'a> {
    program: &'a Program,
    text: &'a str,
    at: usize,
}

type Parsed = Result<Expr, PropositionError>;

impl<'a> Parser<'a> {
    fn binary(&mut self, lowest: u8) -> Parsed {
        let mut left = self.unary()?;
        loop {
            self.skip_space();
            let rest = &self.text[self.at..];
            let known = OPERATORS.iter().find(|(sign, _, _)| rest.starts_with(sign));
            let Some((sign, level, operator)) = known.filter(|(_, level, _)| *level >= lowest)
            else {
                return Ok(left);
            };
            self.at += sign.len();
            let right = self.binary(level + 1)?;
            left = match *operator {
                Operator::Or => {
                    Expr::choose(left.is_true(), Expr::bool(true), right.is_true()).convert(VALUE)
                }
                Operator::And => {
                    Expr::choose(left.is_true(), right.is_true(), Expr::bool(false)).convert(VALUE)
                }
                Operator::Compute(operator) => Expr::binary(operator, left, right),
                Operator::Compare(compare) => Expr::compare(compare, left, right).convert(VALUE),
            };
        }
    }

    fn unary(&mut self) -> Parsed {
        if self.takes("!") {
            return Ok(self.unary()?.is_true().negated().convert(VALUE));
        }
        if self.takes("-") {
            return Ok(Expr::unary(Unary::Negate, self.unary()?));
        }
        if self.takes("~") {
            return Ok(Expr::unary(Unary::Not, self.unary()?));
        }
        if self.takes("(") {
            let inner = self.binary(0)?;
            return match self.takes(")") {
                true => Ok(inner),
                false => Err(self.unexpected("`)`")),
            };
        }
        let start = self.next_start();
        let word = self.word();
        match word.chars().next() {
            None => Err(self.unexpected("a variable or a number")),
            Some(first) if first.is_ascii_digit() => {
                Ok(Expr::int(VALUE, self.number(word, start)?))
            }
            Some(_) => self.variable(word, start),
        }
    }

    fn number(&self, word: &str, start: usize) -> Result<i64, PropositionError> {
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let number = match hexadecimal {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let place = start..start + word.len();
        number.map_err(|_| PropositionError { place, message: format!("`{word}` is no number") })
    }

    /// A variable, an element of it, or a field; or something of a thread.
    fn variable(&mut self, name: &str, start: usize) -> Parsed {
        let is_it = |object: &crate::Object| object.name == name;
        let Some(idx) = self.program.objects.iter().position(is_it) else {
            let routine = self.program.routines.iter().position(|it| it.name == name);
            let Some(routine) = routine else {
                let message = format!("there is no global variable `{name}`");
                return Err(PropositionError { place: start..self.at, message });
            };
            return self.of_thread(RoutineId(routine as u32));
        };
        let object = &self.program.objects[idx];
        if object.storage == Storage::PerThread {
            let message = format!("every thread has its own `{name}`");
            return Err(PropositionError { place: start..self.at, message });
        }
        let (place, ty) = self.part(Place::object(ObjectIdx(idx as u32)), object.layout, start)?;
        Ok(Expr::read(place, ty).convert(VALUE))
    }

    /// A local or a label of a thread that runs a routine, whose name was read.
    fn of_thread(&mut self, routine: RoutineId) -> Parsed {
        let process = match self.takes("[") {
            true => Some(Expr::int(Type::I32, self.thread()?)),
            false => None,
        };
        if self.takes("@") {
            let location = self.label(routine)?;
            let at = Query::At { process, routine, location };
            return Ok(Expr::Query(Box::new(at)).convert(VALUE));
        }
        if !self.takes(":") {
            return Err(self.unexpected("`:` and a local, or `@` and a label"));
        }
        let start = self.next_start();
        let query = match self.local(routine)? {
            Local::Register(register, ty) => Query::Register { process, routine, register, ty },
            Local::Memory(number, layout) => {
                let place = Place::frame(number);
                let (from, ty) = self.part(place, layout, start)?;
                Query::Frame { process, routine, from, ty }
            }
        };
        Ok(Expr::Query(Box::new(query)).convert(VALUE))
    }

    /// The number of a thread, behind its bracket.
    fn thread(&mut self) -> Result<i64, PropositionError> {
        let start = self.next_start();
        let word = self.word();
        let number = self.number(word, start)?;
        match self.takes("]") {
            true => Ok(number),
            false => Err(self.unexpected("`]`, behind the number of a thread")),
        }
    }

    /// A label of a routine.
    fn label(&mut self, routine: RoutineId) -> Result<LocationId, PropositionError> {
        let start = self.next_start();
        let name = self.word();
        let routine = self.program.routine(routine);
        let is_it = |location: &crate::Location| location.name.as_deref() == Some(name);
        let found = routine.locations.iter().position(is_it);
        let message = format!("`{}` has no label `{name}` that it can come to", routine.name);
        let place = start..self.at;
        found.map(|idx| LocationId(idx as u32)).ok_or(PropositionError { place, message })
    }

    /// A local of a routine.
    fn local(&mut self, routine: RoutineId) -> Result<Local, PropositionError> {
        let start = self.next_start();
        let name = self.word();
        let routine = self.program.routine(routine);
        let registers = routine.registers.iter().enumerate().filter(|(_, it)| it.name == name);
        let registers = registers.map(|(idx, it)| Local::Register(RegisterId(idx as u32), it.ty));
        let objects = routine.objects.iter().enumerate().filter(|(_, it)| it.name == name);
        let objects = objects.map(|(idx, it)| Local::Memory(idx as u32, it.layout));
        let mut found: Vec<Local> = registers.chain(objects).collect();
        let wrong = |message| Err(PropositionError { place: start..self.at, message });
        match (found.pop(), found.len() + 1) {
            (None, _) => wrong(format!("`{}` has no local `{name}`", routine.name)),
            (Some(Local::Register(_, ty)), 1) if !ty.is_int() => {
                wrong(format!("`{name}` is no number"))
            }
            (Some(local), 1) => Ok(local),
            (_, n) => wrong(format!("`{}` has {n} locals `{name}`", routine.name)),
        }
    }

    /// The part of an object that brackets and dots say, with its type. What is read begins at
    /// `start`.
    fn part(
        &mut self,
        whole: Place,
        mut layout: LayoutId,
        start: usize,
    ) -> Result<(Place, Type), PropositionError> {
        let mut offset = 0;
        loop {
            let begin = self.next_start();
            if self.takes("[") {
                let (element, more) = self.element(layout, begin)?;
                (layout, offset) = (element, offset + more);
            } else if self.takes(".") {
                let (field, more) = self.field(layout, begin)?;
                (layout, offset) = (field, offset + more);
            } else {
                break;
            }
        }
        match self.program.layouts[layout.0 as usize] {
            Layout::Scalar(ty) if ty.is_int() => {
                Ok((whole.plus(Expr::int(Type::I64, i64::from(offset))), ty))
            }
            _ => {
                let text = self.text[start..self.at].trim_end();
                let message = format!("`{text}` is no number");
                Err(PropositionError { place: start..start + text.len(), message })
            }
        }
    }

    /// An element of an array: what it is, and how many bytes into it.
    fn element(
        &mut self,
        layout: LayoutId,
        begin: usize,
    ) -> Result<(LayoutId, u32), PropositionError> {
        let start = self.next_start();
        let word = self.word();
        let index = self.number(word, start)?;
        if !self.takes("]") {
            return Err(self.unexpected("`]`, behind a constant index"));
        }
        let place = begin..self.at;
        let wrong = |message: String| Err(PropositionError { place, message });
        match self.program.layouts[layout.0 as usize] {
            Layout::Array { element, count } => match u32::try_from(index) {
                Ok(index) if index < count => Ok((element, index * self.program.size_of(element))),
                _ => wrong(format!("there are {count} elements, from 0 on")),
            },
            _ => wrong("this is no array".to_owned()),
        }
    }

    /// A field of a struct or union: what it is, and how many bytes into it.
    fn field(
        &mut self,
        layout: LayoutId,
        begin: usize,
    ) -> Result<(LayoutId, u32), PropositionError> {
        let name = self.word();
        let place = begin..self.at;
        let fields = match &self.program.layouts[layout.0 as usize] {
            Layout::Struct { fields, .. } | Layout::Union { fields, .. } => fields.as_slice(),
            _ => &[],
        };
        let found = fields.iter().find(|field| field.name == name);
        let message = format!("there is no field `{name}` here");
        found.map(|field| (field.layout, field.offset)).ok_or(PropositionError { place, message })
    }

    fn skip_space(&mut self) {
        self.at = self.next_start();
    }

    /// Where the next word or sign begins.
    fn next_start(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.len() - rest.trim_start().len()
    }

    fn takes(&mut self, sign: &str) -> bool {
        let start = self.next_start();
        // `!` is not the beginning of `!=`.
        let is_here = self.text[start..].starts_with(sign)
            && !(sign == "!" && self.text[start..].starts_with("!="));
        if is_here {
            self.at = start + sign.len();
        }
        is_here
    }

    /// The name or number that comes next; empty if something else does.
    fn word(&mut self) -> &'a str {
        let start = self.next_start();
        let rest = &self.text[start..];
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at = start + len;
        &rest[..len]
    }

    fn unexpected(&self, expected: &str) -> PropositionError {
        let start = self.next_start();
        let found = match self.text[start..].chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".to_owned(),
        };
        let end = (start + 1).min(self.text.len()).max(start);
        PropositionError {
            place: start..end,
            message: format!("expected {expected}, found {found}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Init, InitValue, Races, Vm};

    /// `struct { i32 n; u8 flags[2]; } slots[3]`, with `slots[1].n` -5 and `slots[2].flags[1]` 200;
    /// and a float.
    fn program() -> Program {
        let mut program = Program::new("test");
        let (number, flags) = (program.scalar(Type::I32), program.array(Type::U8, 2));
        let field = |name: &str, offset, layout| Field { name: name.to_owned(), offset, layout };
        let fields = vec![field("n", 0, number), field("flags", 4, flags)];
        let slot = program.layout(Layout::Struct { name: "slot".to_owned(), fields, size: 8 });
        let slots = program.layout(Layout::Array { element: slot, count: 3 });
        let object = program.object("slots", slots);
        program.objects[object.0 as usize].init = vec![
            Init { offset: 8, value: InitValue::Bits(Type::I32, -5_i64 as u64) },
            Init { offset: 21, value: InitValue::Bits(Type::U8, 200) },
        ];
        let float = program.scalar(Type::Float32);
        program.object("share", float);
        program
    }

    #[test]
    fn values_are_those_of_c() {
        let program = program();
        let vm = Vm::new(program.clone(), Races::Allow).expect("it has nothing to run");
        let holds = [
            "slots[1].n == -5",
            "slots[1].n < 0 && !(slots[0].n)",
            "slots[2].flags[1] == 0xC8",
            "slots[2].flags[1] > 199 || slots[0].n",
            "slots[1].n * 2 + 1 == -9 && -7 % 4 == -3 && 1 << 3 == 8",
            "1 + 2 * 3 == 7 && (1 | 6 & 4) == 5 && ~0 == -1 && 3 != 4",
            " ( slots [ 1 ] . n ) + 5 == 0UL ",
        ];
        for text in holds {
            let meaning = proposition(&program, text).unwrap_or_else(|it| panic!("{text}: {it:?}"));
            assert_eq!(vm.value_of(&meaning), 1, "{text}");
            let negation = proposition(&program, &format!("!({text})")).expect("it is one, too");
            assert_eq!(vm.value_of(&negation), 0, "!({text})");
        }
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        let program = program();
        let check = |text: &str, part: &str, message: &str| {
            let error = proposition(&program, text).expect_err(text);
            assert_eq!((&text[error.place.clone()], error.message.as_str()), (part, message));
        };
        check("slots[0].n + gone", "gone", "there is no global variable `gone`");
        check("slots[3].n", "[3]", "there are 3 elements, from 0 on");
        check("slots[x].n", "x", "`x` is no number");
        check("slots[0].m == 1", ".m", "there is no field `m` here");
        check("slots[0] == 1", "slots[0]", "`slots[0]` is no number");
        check("share > 1", "share", "`share` is no number");
        check("slots[0].n[1]", "[1]", "this is no array");
        check("(slots[0].n == 1", "", "expected `)`, found the end");
        check("1 +", "", "expected a variable or a number, found the end");
        check("1 2", "2", "expected an operator, found `2`");
        check("3x", "3x", "`3x` is no number");
    }
}
