//! Expressions and references to variables.

use super::{DEEPEST, Parsed, Parser};
use crate::fault::code;
use crate::lexer::Kind;
use crate::tree::{Binary, Expression, ExpressionKind, Name, Pattern, Probe, Reference, Unary};
use mazurka_source::{Fault, Span};

/// How tightly the loosest operator binds.
const LOOSEST: u8 = 0;

impl Expression {
    pub(super) fn number(value: i32, span: Span) -> Self {
        Self { kind: ExpressionKind::Number(value), span }
    }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.expression_with(Self::primary)
    }

    /// An expression whose operands are read by `primary`.
    pub(super) fn expression_with(
        &mut self,
        primary: fn(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        let start = self.span();
        // What stands beside it, as another index or argument, counts too.
        let beside = std::mem::take(&mut self.height);
        let expression = self.binary(LOOSEST, primary)?;
        self.height = beside.max(self.height + 1);
        match self.height > DEEPEST {
            true => self.too_deep("expressions", DEEPEST, start),
            false => Ok(expression),
        }
    }

    fn binary(
        &mut self,
        loosest: u8,
        primary: fn(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        let mut left = self.unary_with(primary)?;
        let mut height = self.height;
        while let Some((operator, level)) = self.operator()
            && level >= loosest
        {
            let sign = self.span();
            self.advance();
            let right = self.binary(level + 1, primary)?;
            height = height.max(self.height) + 1;
            if height > DEEPEST {
                return self.too_deep("expressions", DEEPEST, sign);
            }
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(operator, Box::new([left, right]));
            left = Expression { kind, span };
        }
        self.height = height;
        Ok(left)
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        let Kind::Sign(sign) = self.peek() else { return None };
        Some(match *sign {
            "||" => (Binary::Or, 0),
            "&&" => (Binary::And, 1),
            "|" => (Binary::BitOr, 2),
            "^" => (Binary::BitXor, 3),
            "&" => (Binary::BitAnd, 4),
            "==" => (Binary::Equal, 5),
            "!=" => (Binary::NotEqual, 5),
            ">" => (Binary::Greater, 6),
            "<" => (Binary::Less, 6),
            ">=" => (Binary::GreaterOrEqual, 6),
            "<=" => (Binary::LessOrEqual, 6),
            "<<" => (Binary::ShiftLeft, 7),
            ">>" => (Binary::ShiftRight, 7),
            "+" => (Binary::Add, 8),
            "-" => (Binary::Subtract, 8),
            "*" => (Binary::Multiply, 9),
            "/" => (Binary::Divide, 9),
            "%" => (Binary::Remainder, 9),
            _ => return None,
        })
    }

    pub(super) fn unary_with(
        &mut self,
        primary: fn(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        self.deeper(|parser| parser.prefixed(primary))
    }

    /// Reads something that may have expressions in it.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return self.too_deep("expressions", DEEPEST, self.span());
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    fn prefixed(&mut self, primary: fn(&mut Self) -> Parsed<Expression>) -> Parsed<Expression> {
        let start = self.span();
        let operator = match self.peek() {
            Kind::Sign("-") => Unary::Minus,
            Kind::Sign("~") => Unary::Complement,
            Kind::Sign("!") => Unary::Not,
            _ => return primary(self),
        };
        self.advance();
        let operand = self.unary_with(primary)?;
        self.height += 1;
        let span = start.to(operand.span);
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        self.height = 0;
        let kind = match self.peek().clone() {
            Kind::Number(value) => {
                self.advance();
                ExpressionKind::Number(value)
            }
            Kind::Sign("(") => return self.parenthesised(),
            Kind::Name(name) => match self.word(&name)? {
                Some(kind) => kind,
                None => self.named()?,
            },
            _ => return self.unexpected("an expression"),
        };
        Ok(Expression { kind, span: start.to(self.last_span()) })
    }

    /// `(a)` or `(a -> b : c)`
    fn parenthesised(&mut self) -> Parsed<Expression> {
        let start = self.span();
        self.expect("(")?;
        let condition = self.expression()?;
        if self.accept("->") {
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            self.expect(")")?;
            let kind = ExpressionKind::If(Box::new([condition, then, otherwise]));
            return Ok(Expression { kind, span: start.to(self.last_span()) });
        }
        self.expect(")")?;
        Ok(condition)
    }

    /// What a word of the language means, if it begins an expression.
    fn word(&mut self, word: &str) -> Parsed<Option<ExpressionKind>> {
        let probe = match word {
            "len" => Some(Probe::Length),
            "full" => Some(Probe::Full),
            "empty" => Some(Probe::Empty),
            "nfull" => Some(Probe::NotFull),
            "nempty" => Some(Probe::NotEmpty),
            _ => None,
        };
        if let Some(probe) = probe {
            self.advance();
            self.expect("(")?;
            let channel = self.reference()?;
            self.expect(")")?;
            return Ok(Some(ExpressionKind::Probe(probe, channel)));
        }
        let kind = match word {
            "true" | "skip" => ExpressionKind::Number(1),
            "false" => ExpressionKind::Number(0),
            "timeout" => ExpressionKind::Timeout,
            "np_" => ExpressionKind::NonProgress,
            "run" => return self.run().map(Some),
            "enabled" => return self.about_process(ExpressionKind::Enabled).map(Some),
            "pc_value" => return self.about_process(ExpressionKind::Location).map(Some),
            "get_priority" => return self.about_process(ExpressionKind::Priority).map(Some),
            "c_expr" => return self.c_expr().map(Some),
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(kind))
    }

    fn about_process(
        &mut self,
        kind: impl Fn(Box<Expression>) -> ExpressionKind,
    ) -> Parsed<ExpressionKind> {
        self.advance();
        self.expect("(")?;
        let process = self.expression()?;
        self.expect(")")?;
        Ok(kind(Box::new(process)))
    }

    fn run(&mut self) -> Parsed<ExpressionKind> {
        self.advance();
        let name = self.name("a process type")?;
        self.expect("(")?;
        let arguments = self.arguments()?;
        let priority = self.priority()?;
        Ok(ExpressionKind::Run { name, arguments, priority })
    }

    /// Expressions with commas between them, and the parenthesis behind them.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expression()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    /// A variable, a message that is looked for, or what another process has.
    fn named(&mut self) -> Parsed<ExpressionKind> {
        if let Kind::Name(name) = self.peek()
            && self.proctypes.contains(name)
            && (self.is_next("[") || self.is_next("@") || self.is_next(":"))
        {
            return self.remote();
        }
        let reference = self.reference()?;
        let is_poll = (self.is("?") || self.is("??")) && self.is_next("[");
        if !is_poll {
            return Ok(ExpressionKind::Variable(reference));
        }
        let anywhere = self.is("??");
        self.advance();
        self.expect("[")?;
        let fields = self.patterns()?;
        self.expect("]")?;
        Ok(ExpressionKind::Poll { channel: reference, fields, anywhere })
    }

    fn remote(&mut self) -> Parsed<ExpressionKind> {
        let proctype = self.name("a process type")?;
        let process = match self.accept("[") {
            true => {
                let process = self.expression()?;
                self.expect("]")?;
                Some(Box::new(process))
            }
            false => None,
        };
        if self.accept("@") {
            let label = self.name("a label")?;
            return Ok(ExpressionKind::AtLabel { proctype, process, label });
        }
        self.expect(":")?;
        let variable = self.reference()?;
        Ok(ExpressionKind::Remote { proctype, process, variable })
    }

    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        self.deeper(Self::reference_within)
    }

    fn reference_within(&mut self) -> Parsed<Reference> {
        let name = self.name("a variable")?;
        let start = name.span;
        let index = match self.accept("[") {
            true => {
                let index = self.expression()?;
                self.expect("]")?;
                Some(Box::new(index))
            }
            false => None,
        };
        let field = match self.accept(".") {
            true => Some(Box::new(self.reference()?)),
            false => None,
        };
        Ok(Reference { name, index, field, span: start.to(self.last_span()) })
    }

    /// What a message is to look like: `a, b, c`, `a(b, c)` or `(a, b, c)`.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        self.deeper(Self::patterns_within)
    }

    fn patterns_within(&mut self) -> Parsed<Vec<Pattern>> {
        let mut patterns = Vec::new();
        loop {
            if !self.is("(") {
                patterns.push(self.pattern()?);
            }
            if self.accept("(") {
                patterns.extend(self.patterns()?);
                self.expect(")")?;
                return Ok(patterns);
            }
            if !self.accept(",") {
                return Ok(patterns);
            }
        }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        let start = self.span();
        if self.accept_word("eval") {
            self.expect("(")?;
            let value = self.expression()?;
            self.expect(")")?;
            return Ok(Pattern::Value(value));
        }
        let minus = self.accept("-");
        match self.peek().clone() {
            Kind::Number(value) => {
                self.advance();
                let value = if minus { value.wrapping_neg() } else { value };
                Ok(Pattern::Value(Expression::number(value, start.to(self.last_span()))))
            }
            Kind::Name(word) if !minus && matches!(word.as_str(), "true" | "skip" | "false") => {
                self.advance();
                Ok(Pattern::Value(Expression::number(i32::from(word != "false"), start)))
            }
            Kind::Name(_) if !minus => Ok(Pattern::Variable(self.reference()?)),
            _ => self.unexpected("a variable, a constant or `eval`"),
        }
    }

    /// Refuses a name that is used as something else.
    pub(super) fn misused<T>(&mut self, name: &Name, message: String) -> Parsed<T> {
        let fault = Fault::new(code::SYNTAX, message);
        self.fault(fault, name.span)
    }
}
